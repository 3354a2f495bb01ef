"""A queue: the calls of producers and consumers, the same for every backend."""

from collections.abc import Iterable
from itertools import islice
from operator import is_
from typing import NoReturn, Unpack, cast, overload

from reliableq import protocol, settings, settling
from reliableq._native import Handle as NativeHandle
from reliableq._native import Message
from reliableq._native import Queue as Plain
from reliableq.arguments import (
    Duration,
    HeadersGiven,
    Moment,
    check_bodies,
    check_choice,
    check_consumer,
    check_count,
    check_flag,
    check_id,
    check_messages,
    check_name,
    check_parts,
    check_start,
    check_word,
    milliseconds,
)
from reliableq.backends.base import Handle, look_up
from reliableq.consuming import Consumption
from reliableq.errors import InvalidArgument, InvalidType
from reliableq.options import (
    read_bounds,
    read_consumer,
    read_delivery,
    read_filter,
    read_pop,
    read_time,
    read_timeout,
)
from reliableq.presets import DEFAULT, Preset
from reliableq.protocol import Delivery
from reliableq.types import Body, Consumer, Info, Settings, Status

CHUNK = 1000
"""So many bodies push_many() sends at a time."""

PUSH_DEFAULTS = (None, None, None, None, False, 0, None)
"""Options of push_many() when none is given."""

POP_DEFAULTS = (None, None, False, False, None)
"""Those of pop_many()."""

PAUSABLE = ("pop", "push", "all")


class Queue(Plain):
    """A queue of a connection, by its name. Its calls without options, push(body) and pop(), are native."""

    __slots__ = ("_connection", "_place", "_preset", "name")

    _handle: Handle

    def __init__(self, handle: Handle, connection: object, place: str, preset: Preset = DEFAULT) -> None:
        self._connection = connection
        self._place = place
        self._preset = preset
        self.name = handle.name

    # Producing.

    def push_many(
        self,
        bodies: Iterable[Body],
        *,
        delay: Duration | None = None,
        at: Moment | None = None,
        ttl: Duration | None = None,
        retries: int | None = None,
        front: bool = False,
        priority: int = 0,
        headers: HeadersGiven | None = None,
    ) -> list[str]:
        """Appends messages, all with the same options, and returns their IDs.

        They are sent in chunks of 1000, each stored whole or not at all: when a body is refused, or the iterable
        raises, the chunks before stay pushed.
        """
        options = (delay, at, ttl, retries, front, priority, headers)
        plain = _are_defaults(options, PUSH_DEFAULTS)
        if plain and type(bodies) is list and len(bodies) <= CHUNK:
            return self._handle.push_many(bodies)
        delivery = read_delivery(*options)
        rest = check_bodies(bodies)
        ids: list[str] = []
        while chunk := list(islice(rest, CHUNK)):
            ids += self._handle.push_many(chunk) if plain else self._push_chunk(chunk, delivery)
        return ids

    def forward(
        self, messages: Message | str | Iterable[Message | str], to: "Queue | str", bodies: Body | Iterable[Body]
    ) -> list[str]:
        """Lets go of delivered messages and pushes bodies into another queue of this connection, as one step.

        Returns the new IDs. Raises NotHeld, and changes nothing, unless all of the messages are still held.
        """
        receipts = self._receipts("forward", messages)
        given = [bodies] if isinstance(bodies, Body) else check_bodies(bodies, "forward")
        elements = [protocol.body_bytes(body) for body in given]
        name = self._beside(to)
        if not receipts or not elements:
            what = "messages" if not receipts else "bodies"
            raise InvalidArgument(f"forward() was given no {what}", "give at least one")
        protocol.check_ids(receipts)
        new = to._preset.new if isinstance(to, Queue) else self._preset.new
        return protocol.read_ids(self._handle.call(protocol.forward(self.name, receipts, name, new, elements)))

    # Consuming.

    def pop_many(
        self,
        count: int,
        timeout: Duration | None = 0,
        *,
        lease: Duration | None = None,
        consumer: str | None = None,
        no_ack: bool = False,
        prefetch: bool = False,
        max_bytes: int | None = None,
    ) -> list[Message]:
        """Takes up to `count` waiting messages, the next first. It waits for the first only, as pop() does.

        `max_bytes` ends it at so many bytes of bodies, but not before the first message. The others are as for pop().
        """
        if _are_defaults((lease, consumer, no_ack, prefetch, max_bytes), POP_DEFAULTS):
            return self._handle.pop_many(check_count(count), read_timeout(timeout))
        pop = read_pop(self.name, count, lease, consumer, no_ack, prefetch, max_bytes)
        return protocol.read_taken(self._handle, self._handle.take(pop, read_timeout(timeout)))

    def consume(
        self,
        idle_timeout: Duration | None = None,
        *,
        consumer: str | None = None,
        lease: Duration | None = None,
        count: int = 1,
        delay: Duration | None = None,
    ) -> Consumption:
        """Messages for a `for` loop, best as `with queue.consume() as messages`, which then is told what went wrong.

        Asking for the next acknowledges the one before; an exception returns it, `delay` later. The loop ends when none
        came for `idle_timeout`; None: never. `count` are fetched at a time, and begun one by one.
        """
        read_timeout(idle_timeout, "idle_timeout")
        read_time("delay", delay)
        read_pop(self.name, count, lease, consumer, no_ack=False, prefetch=False, max_bytes=None)
        return Consumption(self, self._turn, idle_timeout, consumer, lease, count, delay)

    @overload
    def ack(self, messages: Message | str) -> bool: ...  # type: ignore[overload-overlap]

    @overload
    def ack(self, messages: Iterable[Message | str]) -> list[str]: ...

    @overload
    def ack(self, *, tokens: Iterable[str | bytes]) -> list[str | bytes]: ...

    def ack(
        self,
        messages: Message | str | Iterable[Message | str] | None = None,
        *,
        tokens: Iterable[str | bytes] | None = None,
    ) -> bool | list[str] | list[str | bytes]:
        """Lets go of delivered messages, given as such, by ID or by receipt; or by the tokens they were pushed with.

        For one, returns whether this call let go of it; for many, the IDs of those that it let go, or their tokens. A
        Message or a receipt stands for its delivery: it does nothing when somebody else has the message by now.
        """
        if tokens is not None:
            return self._ack_tokens(messages, tokens)
        if isinstance(messages, Message | str):
            return bool(self._handle.acknowledge((self._receipt("ack", messages),)))
        if type(messages) is list and isinstance(self._handle, NativeHandle):
            done = self._handle.settle(messages)
            if done is not None:
                return done
        return self._handle.acknowledge(self._receipts("ack", cast(Iterable[Message | str], messages)))

    @overload
    def nack(  # type: ignore[overload-overlap]
        self,
        messages: Message | str,
        *,
        delay: Duration | None = ...,
        dead: bool = ...,
        reason: str | None = ...,
        silent: bool = ...,
    ) -> bool: ...

    @overload
    def nack(
        self,
        messages: Iterable[Message | str],
        *,
        delay: Duration | None = ...,
        dead: bool = ...,
        reason: str | None = ...,
        silent: bool = ...,
    ) -> list[str]: ...

    def nack(
        self,
        messages: Message | str | Iterable[Message | str],
        *,
        delay: Duration | None = None,
        dead: bool = False,
        reason: str | None = None,
        silent: bool = False,
    ) -> bool | list[str]:
        """Returns delivered messages to the queue: the work on them failed. Takes and returns what ack() does.

        They wait again after `delay`; None: after the queue's back-off. At the limit of deliveries, or with `dead`, a
        message becomes a dead letter, with this reason. `silent` counts no failure.
        """
        done = settling.nack(self._handle, self._receipts("nack", messages), delay, dead, reason, silent)
        return bool(done) if isinstance(messages, Message | str) else done

    @overload
    def extend(self, messages: Message | str, duration: Duration, *, start: bool = ...) -> bool: ...  # type: ignore[overload-overlap]

    @overload
    def extend(self, messages: Iterable[Message | str], duration: Duration, *, start: bool = ...) -> list[str]: ...

    def extend(
        self, messages: Message | str | Iterable[Message | str], duration: Duration, *, start: bool = False
    ) -> bool | list[str]:
        """Lets leases end `duration` from now; 0: never. Takes and returns what ack() does.

        `start` says that the work on messages that were fetched with `prefetch` begins.
        """
        done = settling.extend(self._handle, self._receipts("extend", messages), duration, start)
        return bool(done) if isinstance(messages, Message | str) else done

    def claim(
        self,
        messages: Message | str | Iterable[Message | str],
        consumer: str,
        *,
        idle: Duration = 0,
        lease: Duration | None = None,
    ) -> list[Message]:
        """Takes over delivered messages for a consumer, those delivered at least `idle` ago. No failure is counted."""
        receipts = self._receipts("claim", messages)
        owner, least, term = check_consumer("consumer", consumer), milliseconds("idle", idle), read_time("lease", lease)
        protocol.check_ids(receipts)
        found: list[Message] = []
        for part in protocol.parts(receipts):
            reply = self._handle.call(protocol.claim(self.name, part, owner, least, term))
            found += protocol.read_taken(self._handle, reply)
        return found

    def recover(
        self,
        count: int = 100,
        *,
        elapsed: Duration,
        lease: Duration | None = None,
        consumer: str | None = None,
        from_consumer: str | None = None,
    ) -> list[Message]:
        """Takes over up to `count` messages whose consumers have not settled them for at least `elapsed`.

        They are delivered again, to the caller, the longest delivered first; each counts a failure, and one at its
        limit becomes a dead letter instead, within `count`. `elapsed` is seconds or a timedelta. `consumer` is the new
        owner, and only what `from_consumer` holds is taken, if given.
        """
        command = protocol.recover(
            self.name,
            check_count(count),
            milliseconds("elapsed", elapsed),
            read_time("lease", lease),
            read_consumer("consumer", consumer),
            read_consumer("from_consumer", from_consumer),
        )
        return protocol.read_taken(self._handle, self._handle.call(command))

    # Looking.

    def inspect(
        self,
        start: int = 0,
        count: int = 10,
        *,
        state: str | None = None,
        pending: bool = False,
        idle: Duration | None = None,
        consumer: str | None = None,
        first: str | None = None,
        last: str | None = None,
    ) -> list[Message]:
        """Shows up to `count` messages of a state from a position on, and changes nothing.

        States: "waiting" (the default; the next to be popped first), "delivered" (the longest delivered first;
        `pending` means the same), "scheduled" (the first due first), "dead" (the first died first). A negative `start`
        counts from the end. Shown are only those delivered at least `idle` ago, those that `consumer` holds or held
        last, and those with IDs from `first` to `last`, as range() takes them, where these are given.
        """
        start, count = check_start(start), check_count(count)
        which = read_filter(state, pending, idle, consumer, first, last)
        reply = self._handle.call(protocol.inspect(self.name, start, count, which))
        return protocol.read_shown(self._handle, reply, which.state)

    def dead(self, start: int = 0, count: int = 10) -> list[Message]:
        """Shows dead letters, as inspect(state="dead")."""
        return self.inspect(start, count, state="dead")

    def scheduled(self, start: int = 0, count: int = 10) -> list[Message]:
        """Shows messages that are not due yet, as inspect(state="scheduled")."""
        return self.inspect(start, count, state="scheduled")

    def peek(self, *, back: bool = False) -> Message | None:
        """Shows the message that is delivered next, or with `back` the last of those that wait, and takes nothing."""
        reply = self._handle.call(protocol.peek(self.name, check_flag("back", back)))
        return protocol.read_held(self._handle, reply)

    @overload
    def get(self, messages: Message | str) -> Message | None: ...  # type: ignore[overload-overlap]

    @overload
    def get(self, messages: Iterable[Message | str]) -> list[Message | None]: ...

    def get(self, messages: Message | str | Iterable[Message | str]) -> Message | list[Message | None] | None:
        """Shows messages as they are now, whatever their state, given by ID; None for one that the queue does not hold.

        For many, a list with one entry for each.
        """
        ids = self._ids("get", messages)
        protocol.check_ids(ids)
        found = [protocol.read_held(self._handle, row) for row in look_up(self._handle, ids)]
        return found[0] if isinstance(messages, Message | str) else found

    def range(
        self, first: str | None = None, last: str | None = None, *, count: int = 1000, reverse: bool = False
    ) -> list[Message]:
        """Shows up to `count` messages in the order of their IDs, whatever their state, and changes nothing.

        From the ID `first` to the ID `last`, both included; `(` before an ID leaves it out, and None is the end of the
        queue. With `reverse`, from the highest ID down. What is acknowledged meanwhile may be missing.
        """
        low, high = read_bounds(first, last)
        count, reverse = check_count(count), check_flag("reverse", reverse)
        messages: list[Message] = []
        while len(messages) < count:
            command = protocol.range_of(self.name, low, high, count - len(messages), reverse)
            part = protocol.read_range(self._handle, self._handle.call(command))
            if not part:
                break
            messages += part
            low, high = (low, f"({part[-1].id}") if reverse else (f"({part[-1].id}", high)
        return messages

    def split(self, parts: int) -> list[str]:
        """Up to `parts` - 1 IDs that cut the queue into parts of nearly equal counts, for readers side by side.

        Each is the first of its part: the parts are range(last="(" + ids[0]), range(ids[0], "(" + ids[1]), and so on.
        """
        return protocol.read_ids(self._handle.call(protocol.split(self.name, check_parts(parts))))

    def __len__(self) -> int:
        """The number of messages held: scheduled, waiting and delivered."""
        return self._handle.length()

    def __bool__(self) -> bool:
        """True, also for a queue that holds nothing: `queue or other` must not depend on its messages."""
        return True

    def info(self) -> Info | None:
        """The queue in numbers; None where there is none.

        One without messages is there as long as it has settings, is paused, or remembers tokens or producers.
        """
        return protocol.read_info(self._handle.call(protocol.info(self.name)))

    def status(self) -> Status:
        """The queue in three numbers; zeros when there is none."""
        return protocol.read_status(self._handle.call(protocol.status(self.name)))[0]

    def consumers(self) -> list[Consumer]:
        """Those who hold messages under a name."""
        return protocol.read_consumers(self._handle.call(protocol.consumers(self.name)))

    def dump(self) -> bytes | None:
        """The whole queue as bytes, for restore() of any place and RESTORE of a server; None when it holds nothing."""
        return self._handle.dump()

    # Managing.

    @overload
    def delete(self, messages: Message | str) -> bool: ...  # type: ignore[overload-overlap]

    @overload
    def delete(self, messages: Iterable[Message | str]) -> list[str]: ...

    def delete(self, messages: Message | str | Iterable[Message | str]) -> bool | list[str]:
        """Removes messages, whatever their state, those that somebody holds too.

        For one, returns whether it was there; for many, the IDs of those that were.
        """
        done = settling.delete(self._handle, self._ids("delete", messages))
        return bool(done) if isinstance(messages, Message | str) else done

    def redrive(
        self, messages: Message | str | Iterable[Message | str] | None = None, *, count: int | None = None
    ) -> list[str]:
        """Lets dead letters wait again, behind all others and without their failures; returns their IDs.

        These ones, or `count` of them, the first died first; without either, all.
        """
        if messages is not None and count is not None:
            raise InvalidArgument("redrive() was given both messages and a count", "give one of them")
        if messages is None:
            most = None if count is None else check_count(count)
            return protocol.read_ids(self._handle.call(protocol.redrive(self.name, None, most)))
        ids = self._ids("redrive", messages)
        protocol.check_ids(ids)
        done: list[str] = []
        for part in protocol.parts(ids):
            done += protocol.read_ids(self._handle.call(protocol.redrive(self.name, part, None)))
        return done

    def flush(self, *, dead: bool = False) -> int:
        """Removes all messages, those that somebody holds too, or with `dead` the dead ones only; returns how many."""
        return int(self._handle.call(protocol.flush(self.name, check_flag("dead", dead))))

    def pause(self, what: str = "pop") -> None:
        """Stops pops, which then find nothing, pushes ("push"), which then raise Paused, or both ("all")."""
        self._handle.call(protocol.pause(self.name, check_choice("what", what, PAUSABLE)))

    def resume(self, what: str = "pop") -> None:
        """Lets pops, pushes ("push") or both ("all") go on."""
        self._handle.call(protocol.resume(self.name, check_choice("what", what, PAUSABLE)))

    def setup(self, **changes: Unpack[settings.Given]) -> Settings | None:
        """Changes settings, those of queue() of a connection, and returns all of them.

        0 clears one. Without arguments it only reads them; None then, when there is no queue.
        """
        values = settings.read_given(changes)
        if values:
            found = self._settings()
            made = values if found is not None else settings.with_preset(values, self._preset)
            self._handle.call(protocol.setup(self.name, settings.words(made)))
        return self._settings()

    def delete_consumer(self, name: str) -> int:
        """Returns what a consumer holds to the queue, no failure counted, and tells how many messages that were."""
        return int(self._handle.call(protocol.delete_consumer(self.name, check_consumer("name", name))))

    def __reduce__(self) -> NoReturn:
        raise InvalidType("a Queue belongs to its process, and can't be pickled", "connect in the child process")

    def __repr__(self) -> str:
        return f"<Queue {self.name!r} of {self._place!r}>"

    # What the native calls pass on.

    def _push_with(
        self,
        body: Body,
        *,
        delay: Duration | None = None,
        at: Moment | None = None,
        ttl: Duration | None = None,
        retries: int | None = None,
        front: bool = False,
        priority: int = 0,
        headers: HeadersGiven | None = None,
        token: str | bytes | None = None,
        unique: bool = False,
    ) -> str:
        """push() with options."""
        delivery = read_delivery(delay, at, ttl, retries, front, priority, headers)._replace(
            token=None if token is None else check_word("token", token), unique=check_flag("unique", unique)
        )
        if delivery.unique and token is None:
            raise InvalidArgument("unique was given without a token", "give the token that is to be unique")
        if delivery.token == b"":
            raise InvalidArgument("token is empty", "give one of at least a byte, or None")
        return self._push_chunk([body], delivery)[0]

    def _push_chunk(self, bodies: list[Body], delivery: Delivery) -> list[str]:
        ids: list[str] = []
        for part in protocol.chunks([protocol.body_bytes(body) for body in bodies]):
            ids += protocol.read_ids(self._handle.call(protocol.push(self.name, part, self._preset.new, delivery)))
        return ids

    def _pop_within(self, timeout: Duration | None) -> Message | None:
        """pop() with a time-out."""
        messages = self._handle.pop_many(1, read_timeout(timeout))
        return messages[0] if messages else None

    def _pop_with(
        self,
        timeout: Duration | None = 0,
        *,
        lease: Duration | None = None,
        consumer: str | None = None,
        no_ack: bool = False,
        prefetch: bool = False,
    ) -> Message | None:
        """pop() with options."""
        messages = self.pop_many(1, timeout, lease=lease, consumer=consumer, no_ack=no_ack, prefetch=prefetch)
        return messages[0] if messages else None

    def _turn(self, done: Message, following: Message, lease: float) -> bool:
        """Lets go of a message and begins with the one behind it, in one exchange where the place is elsewhere."""
        if isinstance(self._handle, NativeHandle):
            done.ack()
            return following.extend(lease, start=True)
        return settling.turn(self._handle, done.receipt, following.receipt, lease)

    def _settings(self) -> Settings | None:
        return protocol.read_settings(self._handle.call(protocol.settings(self.name)))

    # Who is meant.

    def _ack_tokens(self, messages: object, tokens: Iterable[str | bytes]) -> list[str | bytes]:
        if messages is not None:
            raise InvalidArgument("ack() was given both messages and tokens", "give one of them")
        if isinstance(tokens, str | Body):
            raise InvalidType(f"tokens is an iterable of tokens, not {type(tokens).__name__}", "give them in a list")
        given = list(check_messages("ack", tokens))
        done = settling.acknowledge_tokens(self._handle, [check_word("a token", token) for token in given])
        return [token for token, settled in zip(given, done, strict=True) if settled]

    def _beside(self, to: "Queue | str") -> str:
        """The name of another queue of this connection."""
        if not isinstance(to, Queue):
            return check_name(to)
        if to._connection is not self._connection:
            cause = f"messages can't be forwarded from {self._place!r} to {to._place!r} by another connection"
            raise InvalidArgument(
                cause, "give a queue of this connection, or its name; to another place push, then ack"
            )
        return to.name

    def _receipts(self, call: str, messages: Message | str | Iterable[Message | str]) -> list[str]:
        """One or many by receipt: what a message was when it was given."""
        if isinstance(messages, Message | str):
            return [self._receipt(call, messages)]
        return [self._receipt(call, message) for message in check_messages(call, messages)]

    def _ids(self, call: str, messages: Message | str | Iterable[Message | str]) -> list[str]:
        """One or many by ID, whatever became of them since they were given."""
        given = (messages,) if isinstance(messages, Message | str) else check_messages(call, messages)
        return [self._id(call, message) for message in given]

    def _id(self, call: str, message: Message | str) -> str:
        receipt = self._receipt(call, message)
        return message.id if isinstance(message, Message) else receipt

    def _receipt(self, call: str, message: Message | str) -> str:
        if not isinstance(message, Message):
            return check_id(call, message)
        if message.queue != self.name:
            cause = f"message {message.id} is of queue {message.queue!r}, not {self.name!r}"
            raise InvalidArgument(cause, "use its own queue")
        return message.receipt


# Errors about their arguments name the calls that users make.
Queue._push_with.__qualname__ = "Queue.push"
Queue._pop_with.__qualname__ = "Queue.pop"


def _are_defaults(given: tuple[object, ...], defaults: tuple[object, ...]) -> bool:
    """Whether no option was given. By identity: 0 is equal to False, and no flag."""
    return all(map(is_, given, defaults))
