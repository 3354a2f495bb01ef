"""What a queue is, said as plainly as possible: lists of messages, one for each state, and what it remembers.

Messages are numbered in the order of their arrival; how a place names them (its IDs) is its own. Time stands still:
what is scheduled stays so, and no lease ends. A queue that holds and remembers nothing is as if it had never been."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True)
class Options:
    """Those of a push."""

    front: bool = False
    delayed: bool = False
    priority: int = 0
    retries: int | None = None
    headers: Headers = ()
    token: bytes | None = None
    unique: bool = False


class Class(Enum):
    """Among those that wait with the same priority, who comes first."""

    RETURNED = 0
    FRONT = 1
    IN_ORDER = 2


@dataclass(eq=False)
class Message:
    number: int
    body: bytes
    options: Options = Options()
    deliveries: int = 0
    failures: int = 0
    consumer: str | None = None
    """Who holds it, or held it last."""
    begun: bool = True
    reason: str = ""
    kind: Class = Class.IN_ORDER
    turn: int = 0
    """Its place among those of its kind."""

    @property
    def order(self) -> tuple[int, int, int]:
        """By which those that wait are sorted."""
        return -self.options.priority, self.kind.value, self.turn

    @property
    def dropped(self) -> tuple[int, int, int]:
        """By which a full queue lets go of them: the oldest first, and of those in front the last one."""
        turn = -self.turn if self.kind is Class.FRONT else self.turn
        return self.options.priority, -self.kind.value, turn

    @property
    def bytes(self) -> int:
        return len(self.body) + sum(len(name) + len(value) for name, value in self.options.headers)


@dataclass(frozen=True)
class Ref:
    """A message, as a caller names it: by ID, or by the receipt of a delivery."""

    number: int
    delivery: int | None = None


@dataclass
class Producer:
    highest: int = 0
    latest: list[int] = field(default_factory=list)
    """The messages of its latest push that stored any: they end with its highest number."""


class Gap(Exception):
    """A push that leaves numbers out."""


class Refusal(Exception):
    """What a queue refuses; it has the name of the error."""


class Memory(Enum):
    """What a place remembers of a queue whose messages are gone. While it remembers anything, the queue goes on to
    count; else it ceases to exist, and counts anew."""

    NOTHING = auto()
    PRODUCERS = auto()
    """Those that were named, by the steps that do."""
    PUSHES = auto()
    """Each push, since each has a producer."""


@dataclass(frozen=True)
class Settings:
    deliveries: int = 0
    backoff: bool = False
    """Of an hour."""
    maxlen: int = 0
    drop: bool = False
    inflight: int = 0
    lease: bool = False
    """Of an hour."""


@dataclass(frozen=True)
class Pop:
    count: int
    consumer: str | None = None
    no_ack: bool = False
    prefetch: bool = False
    max_bytes: int | None = None


@dataclass(frozen=True)
class Nack:
    delay: int | None = None
    """In hours."""
    dead: bool = False
    reason: str | None = None
    silent: bool = False


COUNTERS = (
    "sent",
    "received",
    "returned_lease",
    "returned_nack",
    "returned_recover",
    "dead",
    "deleted",
    "cancelled",
    "expired",
    "duplicates",
)


class Model:
    """One queue."""

    def __init__(self) -> None:
        self.lined_up: list[Message] = []
        self.delivered: list[Message] = []  # the longest delivered first
        self.scheduled: list[Message] = []
        self.dead: list[Message] = []  # the first died first
        self.tokens: dict[bytes, int] = {}
        self.producers: dict[str, Producer] = {}
        self.settings = Settings()
        self.paused: frozenset[str] = frozenset()
        self._numbered = False
        self._turns = 0
        self._counted: Counter[str] = Counter()
        self._repeated: Counter[str] = Counter()
        self._forgotten: dict[Memory, Counter[str]] = {memory: Counter() for memory in Memory}

    # Looking.

    @property
    def waiting(self) -> list[Message]:
        """In the order of delivery."""
        return sorted(self.lined_up, key=lambda message: message.order)

    @property
    def counted(self) -> list[Message]:
        """All that count as held."""
        return self.lined_up + self.delivered + self.scheduled

    @property
    def held(self) -> list[Message]:
        """All messages, dead ones too, in the order of their arrival."""
        return sorted(self.counted + self.dead, key=lambda message: message.number)

    def state(self, message: Message) -> str:
        places = {"waiting": self.lined_up, "delivered": self.delivered, "scheduled": self.scheduled}
        return next((name for name, messages in places.items() if message in messages), "dead")

    def counters(self, memory: Memory) -> dict[str, int | str] | None:
        """What a place tells of the queue."""
        if not self.held and not self._is_remembered(memory):
            return None
        counted = self._of(memory)
        counted.subtract(self._forgotten[memory])
        return {
            "waiting": len(self.lined_up),
            "delivered": len(self.delivered),
            "scheduled": len(self.scheduled),
            "dead_letters": len(self.dead),
            "consumers": len({message.consumer for message in self.delivered} - {None}),
            "bytes": sum(message.bytes for message in self.counted),
            "paused": "all" if len(self.paused) == 2 else next(iter(self.paused), "none"),
            **{name: counted[name] for name in COUNTERS},
        }

    def _of(self, memory: Memory) -> Counter[str]:
        """What was counted. Numbers that are pushed again come to places that are given them."""
        return self._counted + self._repeated if memory is Memory.PRODUCERS else Counter(self._counted)

    # Producing.

    def push(self, messages: list[Message], numbered: bool = True) -> list[int]:
        """Stores new messages; returns their numbers, or that of the message which has the token."""
        self._check_push()
        if not messages:
            return []
        options = messages[0].options
        if options.token is not None and options.token in self.tokens:
            if options.unique:
                raise Refusal("Duplicate")
            self._counted["duplicates"] += 1
            return [self.tokens[options.token]]
        self._make_room(len(messages))
        for message in messages:
            self._turns += 1
            message.turn = self._turns
            if options.delayed:
                self.scheduled.append(message)
            else:
                self.lined_up.append(message)
            if options.token is not None:
                self.tokens[options.token] = message.number
        if options.front and not options.delayed:
            for place, message in enumerate(messages):
                message.kind, message.turn = Class.FRONT, -self._turns + place
        self._counted["sent"] += len(messages)
        self._numbered = self._numbered or numbered
        return [message.number for message in messages]

    def _check_push(self) -> None:
        if "push" in self.paused:
            raise Refusal("Paused")

    def _make_room(self, count: int) -> None:
        over = len(self.counted) + count - self.settings.maxlen if self.settings.maxlen else 0
        if over <= 0:
            return
        if not self.settings.drop or over > len(self.lined_up):
            raise Refusal("Capped")
        for message in sorted(self.lined_up, key=lambda message: message.dropped)[:over]:
            self.lined_up.remove(message)
        self._counted["expired"] += over

    def stored(self, name: str, sequence: int, count: int) -> list[int | None]:
        """The leading ones of `count` elements from number `sequence` on that a producer has pushed
        before: the message that each became, if it was of the latest push."""
        self._check_push()
        producer = self.producers.get(name)
        if producer is None:
            return []
        if sequence > producer.highest + 1:
            raise Gap
        first = producer.highest + 1 - len(producer.latest)
        numbers = range(sequence, min(sequence + count, producer.highest + 1))
        return [producer.latest[number - first] if number >= first else None for number in numbers]

    def produce(self, name: str, highest: int, messages: list[Message], repeated: int) -> None:
        """Stores new messages of a producer; the last of them has its number `highest`."""
        self.push(messages)
        self._repeated["duplicates"] += repeated
        if messages:
            self.producers[name] = Producer(highest, [message.number for message in messages])

    # Consuming.

    def pop(self, pop: Pop) -> list[Message]:
        count = 0 if "pop" in self.paused else pop.count
        if self.settings.inflight and not pop.no_ack:
            mine = [message for message in self.delivered if message.consumer == pop.consumer]
            count = min(count, max(0, self.settings.inflight - len(mine)))
        taken: list[Message] = []
        for message in self.waiting[:count]:
            if pop.max_bytes and taken and sum(len(m.body) for m in [*taken, message]) > pop.max_bytes:
                break
            taken.append(message)
        for message in taken:
            self.lined_up.remove(message)
        self._deliver(taken, pop.consumer, begun=not pop.prefetch)
        if pop.no_ack:
            self._counted["deleted"] += len(taken)
            self.delivered = [message for message in self.delivered if message not in taken]
        self._forget_if_empty()
        return taken

    def recover(self, count: int, consumer: str | None, source: str | None) -> list[Message]:
        """Delivers again the first `count` of those delivered, all of them being due."""
        due = [message for message in self.delivered if source is None or message.consumer == source][:count]
        again: list[Message] = []
        for message in due:
            self._counted["returned_recover"] += 1
            message.failures += message.begun
            self.delivered.remove(message)
            if message.begun and self._is_last(message):
                self._bury(message, "recover")
            else:
                again.append(message)
        self._deliver(again, consumer)
        return again

    def claim(self, refs: list[Ref], consumer: str) -> list[Message]:
        taken = self._meant(refs)
        self.delivered = [message for message in self.delivered if message not in taken]
        self._deliver(taken, consumer)
        return taken

    def _deliver(self, messages: list[Message], consumer: str | None, begun: bool = True) -> None:
        for message in messages:
            message.deliveries += 1
            message.consumer, message.begun = consumer, begun
        self.delivered += messages
        self._counted["received"] += len(messages)

    # Settling.

    def _meant(self, refs: Iterable[Ref]) -> list[Message]:
        """Those that are held, under the delivery that was named, each once."""
        held = {message.number: message for message in self.delivered}
        found: dict[int, Message] = {}
        for ref in refs:
            message = held.get(ref.number)
            if message is not None and ref.delivery in {None, message.deliveries}:
                found[ref.number] = message
        return list(found.values())

    def ack(self, refs: list[Ref]) -> list[int]:
        """Forgets the messages that are delivered; returns their numbers."""
        done = self._meant(refs)
        self.delivered = [message for message in self.delivered if message not in done]
        self._counted["deleted"] += len(done)
        self._forget_if_empty()
        return [message.number for message in done]

    def ack_tokens(self, tokens: list[bytes]) -> list[bytes]:
        return [token for token in tokens if token in self.tokens and self.ack([Ref(self.tokens[token])])]

    def nack(self, refs: list[Ref], nack: Nack) -> list[int]:
        done = self._meant(refs)
        for message in done:
            self.delivered.remove(message)
            self._counted["returned_nack"] += 1
            counts = message.begun and not nack.silent
            message.failures += counts
            if nack.dead or (counts and self._is_last(message)):
                self._bury(message, nack.reason or "nack")
            elif nack.delay or (nack.delay is None and counts and self.settings.backoff):
                self.scheduled.append(message)
            else:
                self._return(message)
        return [message.number for message in done]

    def _return(self, message: Message) -> None:
        message.kind, message.turn = Class.RETURNED, message.number
        self.lined_up.append(message)

    def _is_last(self, message: Message) -> bool:
        if message.options.retries is not None:
            return message.failures > message.options.retries
        return 0 < self.settings.deliveries <= message.failures

    def _bury(self, message: Message, reason: str) -> None:
        message.reason = reason
        self.dead.append(message)
        self._counted["dead"] += 1

    def extend(self, refs: list[Ref], start: bool) -> list[int]:
        done = self._meant(refs)
        for message in done:
            message.begun = message.begun or start
        return [message.number for message in done]

    def forward(self, refs: list[Ref], to: "Model", messages: list[Message]) -> None:
        if len(self._meant(refs)) < len(refs):
            raise Refusal("NotHeld")
        to.push(messages, numbered=False)
        self.ack(refs)

    # Managing.

    def delete(self, numbers: list[int]) -> list[int]:
        held = {message.number for message in self.held}
        done = [number for number in dict.fromkeys(numbers) if number in held]
        self._remove(done)
        return done

    def flush(self, dead: bool) -> int:
        gone = self.dead if dead else self.held
        self._remove([message.number for message in gone])
        return len(gone)

    def _remove(self, numbers: list[int]) -> None:
        for name in ("lined_up", "delivered", "scheduled", "dead"):
            kept = [message for message in getattr(self, name) if message.number not in numbers]
            self._counted["cancelled"] += len(getattr(self, name)) - len(kept)
            setattr(self, name, kept)
        self._forget_if_empty()

    def redrive(self, numbers: list[int] | None, count: int | None) -> list[int]:
        letters = {message.number: message for message in self.dead}
        chosen = list(letters)[:count] if numbers is None else [n for n in dict.fromkeys(numbers) if n in letters]
        for message in (letters[number] for number in chosen):
            self.dead.remove(message)
            self._turns += 1
            message.kind, message.turn, message.failures = Class.IN_ORDER, self._turns, 0
            self.lined_up.append(message)
        return chosen

    def delete_consumer(self, name: str) -> int:
        mine = [message for message in self.delivered if message.consumer == name]
        for message in mine:
            self.delivered.remove(message)
            self._counted["returned_nack"] += 1
            self._return(message)
        return len(mine)

    def pause(self, what: frozenset[str]) -> None:
        self.paused |= what

    def resume(self, what: frozenset[str]) -> None:
        self.paused -= what
        self._forget_if_empty()

    def setup(self, settings: Settings) -> None:
        self.settings = settings
        self._forget_if_empty()

    # Ending.

    def _is_remembered(self, memory: Memory) -> bool:
        if self.tokens or self.paused or self.settings != Settings():
            return True
        return {Memory.NOTHING: False, Memory.PRODUCERS: bool(self.producers), Memory.PUSHES: self._numbered}[memory]

    def _forget_if_empty(self) -> None:
        for memory in Memory:
            if not self.held and not self._is_remembered(memory):
                self._forgotten[memory] = self._of(memory)


def window(messages: list[Message], start: int, count: int) -> list[Message]:
    """The part of a list that RQ.INSPECT shows: a negative start counts from the end."""
    first = start if start >= 0 else max(0, len(messages) + start)
    return messages[first : first + count]


@dataclass
class Bound:
    """An end of a range: a message, or beyond all of them."""

    number: int | None
    out: bool = False
    """Whether the message itself is left out."""


def part(messages: list[Message], low: Bound, high: Bound, backwards: bool, count: int) -> list[Message]:
    """The part of a list in the order of arrival that RQ.RANGE shows."""
    above = [message for message in messages if low.number is None or message.number >= low.number + low.out]
    shown = [message for message in above if high.number is None or message.number <= high.number - high.out]
    return (shown[::-1] if backwards else shown)[:count]
