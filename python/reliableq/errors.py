"""What can go wrong. Every exception of the package is an Error, with a cause and a remedy. There is one warning."""


class Error(Exception):
    """Something was refused, or did not work."""

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        """What is wrong."""
        self.remedy = remedy
        """What to do about it."""

    def __str__(self) -> str:
        return f"{self.cause}; {self.remedy}"


class InvalidArgument(Error, ValueError):
    """A value that is out of range, or that belongs elsewhere. Nothing was changed.

    Remedy: the message says what was expected.
    """


class InvalidId(InvalidArgument):
    """A text that is no message ID. Nothing was changed.

    Remedy: use what push() returned, or the id of a Message.
    """


class InvalidType(Error, TypeError):
    """A value of a wrong type. Nothing was changed.

    Remedy: the message says which was expected.
    """


class InvalidBody(InvalidType):
    """A body that is neither bytes nor another buffer. Neither it nor what was to be pushed with it is stored.

    Remedy: turn it into bytes; for text, with text.encode().
    """


class InvalidDump(InvalidArgument):
    """Bytes that are no dump of a queue, or a damaged one. Nothing was changed.

    Remedy: give what dump() of a queue gave, or DUMP of its key.
    """


class UnsupportedURL(Error, ValueError):
    """A URL that names no place that queues can be in.

    Remedy: the message lists those that can.
    """


class Closed(Error):
    """A call on a connection after close(), or one that still waited when it was closed. It took nothing.

    Remedy: connect again.
    """


class Exhausted(Error):
    """A queue whose IDs are used up, because its last one has the largest sequence there is. Nothing was stored.

    Remedy: drain the queue and use another.
    """


class Damaged(Error):
    """Queues that an earlier call left halfway changed, because of a defect in this package.

    Remedy: report the failure of that call; its traceback came before this one.
    """


class Forked(Error):
    """A call in a forked child on a queue in memory, which is its parent's. Nothing was changed.

    Remedy: connect after forking, or use a place that processes can share.
    """


class Exists(Error):
    """A queue of this name is there already, and was not to be replaced. Nothing was changed.

    Remedy: use another name, or replace=True.
    """


class Missing(Error):
    """A file that is not there, and that this call does not make.

    Remedy: see whether the path is right.
    """


class Corrupt(Error):
    """A file that is damaged, and not because its last write was cut short. Nothing was changed.

    Remedy: restore a copy, or save what is whole with `reliableq repair`.
    """


class Full(Error):
    """No room on the disk. Nothing was changed.

    Remedy: make room, and call again.
    """


class Failed(Error):
    """A file that can't be used: missing rights, a disk that failed, something else in its place.

    Remedy: the message says what the system said.
    """


class Unavailable(Error):
    """A server, or the owner of a file, that can't be reached, did not answer in time, or can't answer yet.

    Remedy: the message says what became of the call, and what to do.
    """


class MissingModule(Error):
    """A server that has not loaded the module. Nothing was changed.

    Remedy: load it; `reliableq module-path` prints its path.
    """


class WrongType(Error):
    """A key of a server that holds something other than a queue. Nothing was changed.

    Remedy: use another name for the queue.
    """


class Refused(Error):
    """A server that refuses a call: by its rights, for want of memory, or as a replica.

    Remedy: the message says what the server demands.
    """


class Gap(Refused):
    """A place that knows less of this connection's pushes than it was told before: it was restored, or replaced.
    Nothing was stored.

    Remedy: push again.
    """


class Duplicate(Error):
    """A push with unique=True whose token the queue knows already. Nothing was stored.

    Remedy: the message that has it is the first one; give another token for another one.
    """


class Capped(Error):
    """A push that would exceed the queue's maxlen or maxbytes. Nothing was stored.

    Remedy: push again when messages were acknowledged, or raise the cap with setup().
    """


class Paused(Error):
    """A push into a queue whose pushes are paused. Nothing was stored.

    Remedy: resume("push").
    """


class NotHeld(Error):
    """A message to be forwarded that is not held, or not by this delivery any more. Nothing was changed.

    Remedy: leave it to whoever holds it now.
    """


class MissingPackage(Error, ImportError):
    """A Python package that is needed for this place, and that is not installed.

    Remedy: the message names what to install.
    """


class SettingsChanged(UserWarning):
    """Settings given to queue() that differed from the queue's, and were written to it.

    Remedy: give the same everywhere, or change them in one place, with setup().
    """
