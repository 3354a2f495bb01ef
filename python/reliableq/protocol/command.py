"""A command: words, and what becomes of it when no reply comes."""

from collections.abc import Callable
from typing import Any, NamedTuple

Words = tuple[bytes | int, ...]

NOTHING_SENT = "nothing was sent, so try again"
READ_AGAIN = "it changed nothing, so call it again"
CALL_AGAIN = "whether it was done is not known, so call it again"
LOOK = "whether it was done is not known, so look"
PUSH_DOUBT = "whether it was stored is not known; when pushed again, it may be there twice"
TAKE_DOUBT = "what it may have taken comes back by its lease, or recover() brings it back"
RESTORE_DOUBT = "whether it was stored is not known, so look"
ACK_DOUBT = "whether it was acknowledged is not known, so do it again"

SEE_WHETHER_IT_RUNS = "see whether it runs and can be reached; "


class Command(NamedTuple):
    """What to send to the server."""

    name: str
    """The queue that it is about."""
    words: Words
    resend: bool
    """Whether it does no harm to send it again when no reply came."""
    doubt: str
    """What to think, and to do, when no reply came at all."""
    pushes: int = 0
    """So many messages it stores. A place whose replies can be lost numbers them, and so stores them once."""
    resent: Callable[[Any], Any] | None = None
    """What its reply means when it was sent before and got none: the first may have done it."""

    @property
    def takes(self) -> bool:
        """Whether it delivers messages. Those of a lost reply return by their lease."""
        return self.doubt == TAKE_DOUBT

    def meant(self, reply: Any, resent: bool) -> Any:
        """What a reply means, given whether the command was sent more than once."""
        return self.resent(reply) if resent and self.resent is not None else reply
