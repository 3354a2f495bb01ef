"""The same steps in the model and in every place, compared after each."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import reliableq
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.stateful.model import (
    Bound,
    Gap,
    Message,
    Model,
    Nack,
    Options,
    Pop,
    Producer,
    Ref,
    Refusal,
    Settings,
    part,
    window,
)
from tests.stateful.places import FileClientPlace, Letter, ModulePlace, OwnFilePlace, Place, Row
from tests.support.client import CommandError
from tests.support.server import Server

KEYS = ["a", "b"]
PLAIN = Options()
PRODUCERS = ["one", "two"]
CONSUMERS = ["x", "y"]
TOKENS = [b"1", b"2", b"\xff"]
NEVER = 3_600_000
"""Milliseconds after which no message of a test was delivered."""
MANY = (1 << 31) - 1

keys = st.sampled_from(KEYS)
producers = st.sampled_from(PRODUCERS)
consumers = st.sampled_from(CONSUMERS)
bodies = st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b"", b"z" * 5000])), min_size=1, max_size=12)
counts = st.one_of(st.integers(1, 8), st.sampled_from([100, MANY]))
headers = st.sampled_from([(), ((b"a", b"1"),), ((b"a", b"1"), (b"a", b""), (b"\xff", b"\0"))])
options = st.builds(
    Options,
    front=st.booleans(),
    delayed=st.sampled_from([False, False, True]),
    priority=st.sampled_from([0, 0, 1, 255]),
    retries=st.sampled_from([None, None, 0, 2]),
    headers=headers,
)
pops = st.builds(
    Pop,
    count=counts,
    consumer=st.none() | consumers,
    prefetch=st.booleans(),
    max_bytes=st.sampled_from([None, None, 1, 50]),
)
nacks = st.builds(
    Nack,
    delay=st.sampled_from([None, None, 0, 1]),
    reason=st.sampled_from([None, "no paper"]),
    silent=st.booleans(),
) | st.builds(Nack, dead=st.just(True), reason=st.sampled_from([None, "é"]), silent=st.booleans())
settings = st.builds(
    Settings,
    deliveries=st.sampled_from([0, 1, 3]),
    backoff=st.booleans(),
    maxlen=st.sampled_from([0, 0, 5, 12]),
    drop=st.booleans(),
    inflight=st.sampled_from([0, 0, 3]),
    lease=st.booleans(),
)
pauses = st.sampled_from(["pop", "push", "all"])


def both(what: str) -> frozenset[str]:
    return frozenset(["pop", "push"] if what == "all" else [what])


def refused(call: Callable[[], object]) -> str:
    """The name of the error that a call raises."""
    try:
        call()
    except CommandError as error:
        names = {"DUPLICATE": "Duplicate", "CAPPED": "Capped", "PAUSED": "Paused", "NOTHELD": "NotHeld", "GAP": "Gap"}
        return names.get(error.code, error.line)
    except reliableq.Error as error:
        return type(error).__name__
    raise AssertionError("it was not refused")


class Side:
    """A place, and how it names the model's messages."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.ids: dict[int, str] = {}
        self._last = dict.fromkeys(KEYS, (0, 0))

    def name(self, key: str, messages: list[Message], ids: list[str]) -> None:
        """Learns the IDs of new messages. They grow for ever, also over the end of a queue."""
        assert len(ids) == len(messages)
        for message, id in zip(messages, ids, strict=True):
            milliseconds, _, sequence = id.partition("-")
            order = int(milliseconds), int(sequence)
            assert order > self._last[key], f"{id} does not follow {self._last[key]}"
            assert f"{order[0]}-{order[1]}" == id and order[1] >= 1
            self._last[key] = order
            self.ids[message.number] = id

    def named(self, numbers: list[int]) -> list[str]:
        return [self.ids[number] for number in numbers]

    def refs(self, refs: list[Ref]) -> list[str]:
        return [self.ids[ref.number] + (f"@{ref.delivery}" if ref.delivery else "") for ref in refs]

    def bound(self, bound: Bound) -> str | None:
        """An end of a range, in the IDs of this place."""
        return None if bound.number is None else "(" * bound.out + self.ids[bound.number]

    def shown(self, messages: list[Message]) -> list[tuple[str, bytes]]:
        return [(self.ids[message.number], message.body) for message in messages]

    def row(self, message: Message, state: str) -> Row:
        given = message.options
        return Row(
            self.ids[message.number],
            message.body,
            state,
            message.deliveries,
            message.failures,
            given.priority,
            given.token,
            given.headers,
            message.consumer if state in {"delivered", "dead"} else None,
        )

    def letter(self, message: Message) -> Letter:
        counted = message.deliveries, message.failures
        return Letter(self.ids[message.number], message.body, *counted, message.reason, message.consumer)


class Machine(RuleBasedStateMachine):
    """Steps of a queue's life."""

    def __init__(self, places: list[Place]) -> None:
        super().__init__()
        self.models = {key: Model() for key in KEYS}
        self.given: dict[str, list[int]] = {key: [] for key in KEYS}
        self.sides = [Side(place) for place in places]
        self.pushed = 0

    @initialize(
        contents=bodies, more=bodies, given=options, chosen=st.just(Settings()) | settings, pop=st.none() | pops
    )
    def begin(
        self, contents: list[bytes], more: list[bytes], given: Options, chosen: Settings, pop: Pop | None
    ) -> None:
        """So that the steps find something to do."""
        if chosen != Settings():
            self.setup("a", chosen)
        self._push("a", contents, PLAIN)
        self._push("a", more, given)
        if pop is not None:
            self._pop("a", pop)

    # Producing.

    @rule(key=keys, contents=bodies)
    def push(self, key: str, contents: list[bytes]) -> None:
        self._push(key, contents, Options())

    @rule(key=keys, contents=bodies, given=options)
    def push_with_options(self, key: str, contents: list[bytes], given: Options) -> None:
        self._push(key, contents, given)

    @rule(key=keys, body=st.binary(max_size=40), token=st.sampled_from(TOKENS), unique=st.booleans(), given=options)
    def push_with_a_token(self, key: str, body: bytes, token: bytes, unique: bool, given: Options) -> None:
        fields = {name: getattr(given, name) for name in ("front", "delayed", "priority", "retries", "headers")}
        self._push(key, [body], Options(**fields, token=token, unique=unique))

    def _push(self, key: str, contents: list[bytes], given: Options) -> None:
        messages = self._new_messages(key, contents, given)
        try:
            numbers = self.models[key].push(messages)
        except Refusal as refusal:
            self._all_refuse(refusal, lambda side: side.place.push(key, contents, given))
            return
        stored = numbers == [message.number for message in messages]
        for side in self.sides:
            ids = side.place.push(key, contents, given)
            if stored:
                side.name(key, messages, ids)
            else:
                assert ids == side.named(numbers)
        if stored:
            self.given[key] += numbers

    def _new_messages(self, key: str, contents: list[bytes], given: Options = PLAIN) -> list[Message]:
        messages = [Message(self.pushed + place, body, given) for place, body in enumerate(contents)]
        self.pushed += len(messages)
        return messages

    def _all_refuse(self, refusal: Refusal, call: Callable[[Side], object]) -> None:
        for side in self.sides:
            assert refused(lambda side=side: call(side)) == str(refusal)  # type: ignore[misc]

    # Consuming.

    @rule(key=keys, count=counts)
    def pop(self, key: str, count: int) -> None:
        self._pop(key, Pop(count))

    @rule(key=keys, pop=pops)
    def pop_with_options(self, key: str, pop: Pop) -> None:
        self._pop(key, pop)

    @rule(key=keys, count=st.integers(1, 4), consumer=st.none() | consumers)
    def pop_without_acks(self, key: str, count: int, consumer: str | None) -> None:
        self._pop(key, Pop(count, consumer, no_ack=True))

    def _pop(self, key: str, pop: Pop) -> None:
        taken = self.models[key].pop(pop)
        for side in self.sides:
            assert side.place.pop(key, pop) == self._delivered(side, taken)

    @staticmethod
    def _delivered(side: Side, messages: list[Message]) -> list[Row]:
        return [side.row(message, "delivered") for message in messages]

    @rule(order=st.permutations(KEYS), count=counts)
    def pop_from_both(self, order: list[str], count: int) -> None:
        first = self.models[order[0]].pop(Pop(count))
        second = self.models[order[1]].pop(Pop(count - len(first))) if count > len(first) else []
        for side in self.sides:
            expected = [(order[0], row) for row in self._delivered(side, first)]
            expected += [(order[1], row) for row in self._delivered(side, second)]
            assert side.place.pop_from(order, count) == expected

    @rule(key=keys, count=counts, consumer=st.none() | consumers, source=st.none() | consumers)
    def recover(self, key: str, count: int, consumer: str | None, source: str | None) -> None:
        taken = self.models[key].recover(count, consumer, source)
        for side in self.sides:
            assert side.place.recover(key, count, 0, consumer, source) == self._delivered(side, taken)

    @rule(key=keys, count=counts)
    def recover_nothing(self, key: str, count: int) -> None:
        for side in self.sides:
            assert side.place.recover(key, count, NEVER, None, None) == []

    @rule(key=keys, consumer=consumers, data=st.data())
    def claim(self, key: str, consumer: str, data: Any) -> None:
        if refs := self._refs(key, data):
            taken = self.models[key].claim(refs, consumer)
            for side in self.sides:
                assert side.place.claim(key, side.refs(refs), consumer, NEVER) == []
                assert side.place.claim(key, side.refs(refs), consumer, 0) == self._delivered(side, taken)

    # Settling.

    def _refs(self, key: str, data: Any, most: int = 30) -> list[Ref]:
        """Messages that may be waiting, delivered, dead or long gone, by ID or by the receipt of some delivery."""
        if not self.given[key]:
            return []
        deliveries = {message.number: message.deliveries for message in self.models[key].held}
        held = [message.number for message in self.models[key].delivered]
        some = st.sampled_from(self.given[key])
        numbers = st.lists(st.sampled_from(held) | some if held else some, min_size=1, max_size=most, unique=True)

        def receipt(number: int) -> Ref:
            last = deliveries.get(number, 1)
            return Ref(number, data.draw(st.sampled_from([None, last or None, (last + 1) or None, max(last - 1, 1)])))

        return [receipt(number) for number in data.draw(numbers)]

    @rule(key=keys, data=st.data())
    def ack(self, key: str, data: Any) -> None:
        if refs := self._refs(key, data):
            self._ack(key, refs + refs[:1])

    @rule(key=keys)
    def ack_all_delivered(self, key: str) -> None:
        if refs := [Ref(message.number, message.deliveries) for message in self.models[key].delivered]:
            self._ack(key, refs)

    def _ack(self, key: str, refs: list[Ref]) -> None:
        done = self.models[key].ack(refs)
        for side in self.sides:
            assert side.place.ack(key, side.refs(refs)) == side.named(done)

    @rule(key=keys, tokens=st.lists(st.sampled_from(TOKENS), min_size=1, unique=True))
    def ack_tokens(self, key: str, tokens: list[bytes]) -> None:
        done = self.models[key].ack_tokens(tokens)
        for side in self.sides:
            assert side.place.ack_tokens(key, tokens) == done

    @rule(key=keys, nack=nacks, data=st.data())
    def nack(self, key: str, nack: Nack, data: Any) -> None:
        if refs := self._refs(key, data, most=8):
            self._nack(key, refs, nack)

    def _nack(self, key: str, refs: list[Ref], nack: Nack) -> None:
        done = self.models[key].nack(refs, nack)
        for side in self.sides:
            assert side.place.nack(key, side.refs(refs), nack) == side.named(done)

    @rule(key=keys, pop=pops, nack=nacks, start=st.booleans())
    def fail(self, key: str, pop: Pop, nack: Nack, start: bool) -> None:
        """Takes messages, perhaps begins with them, and gives all that are held back."""
        self._pop(key, pop)
        refs = [Ref(message.number, message.deliveries) for message in self.models[key].delivered]
        if refs and start:
            self._extend(key, refs, start)
        if refs:
            self._nack(key, refs, nack)

    @rule(key=keys, start=st.booleans(), data=st.data())
    def extend(self, key: str, start: bool, data: Any) -> None:
        if refs := self._refs(key, data):
            self._extend(key, refs, start)

    def _extend(self, key: str, refs: list[Ref], start: bool) -> None:
        done = self.models[key].extend(refs, start)
        for side in self.sides:
            assert side.place.extend(key, side.refs(refs), start) == side.named(done)

    @rule(order=st.permutations(KEYS), contents=bodies, data=st.data())
    def forward(self, order: list[str], contents: list[bytes], data: Any) -> None:
        """Between the two queues: those that are held, or some that may not be."""
        source, to = order
        held = self.models[source].delivered
        if held and data.draw(st.booleans()):
            refs = [Ref(message.number, message.deliveries) for message in held[: data.draw(st.integers(1, 5))]]
        else:
            refs = self._refs(source, data, most=3)
        if not refs:
            return
        messages = self._new_messages(to, contents)
        try:
            self.models[source].forward(refs, self.models[to], messages)
        except Refusal as refusal:
            self._all_refuse(refusal, lambda side: side.place.forward(source, side.refs(refs), to, contents))
            return
        self.given[to] += [message.number for message in messages]
        for side in self.sides:
            side.name(to, messages, side.place.forward(source, side.refs(refs), to, contents))

    @rule(key=keys)
    def use_up(self, key: str) -> None:
        """Leaves no message, unless something is scheduled or paused: the queue ceases to exist, unless it remembers
        anything."""
        self.pop(key, MANY)
        self.ack_all_delivered(key)

    # Managing.

    @rule(key=keys, data=st.data())
    def delete(self, key: str, data: Any) -> None:
        if not self.given[key]:
            return
        numbers = data.draw(st.lists(st.sampled_from(self.given[key]), min_size=1, max_size=5))
        done = self.models[key].delete(numbers)
        for side in self.sides:
            assert side.place.delete(key, side.named(numbers)) == side.named(done)

    @rule(key=keys, count=st.none() | st.integers(1, 4))
    def redrive(self, key: str, count: int | None) -> None:
        done = self.models[key].redrive(None, count)
        for side in self.sides:
            assert side.place.redrive(key, None, count) == side.named(done)

    @rule(key=keys, data=st.data())
    def redrive_some(self, key: str, data: Any) -> None:
        if not self.given[key]:
            return
        letters = [message.number for message in self.models[key].dead]
        some = st.sampled_from(letters or self.given[key])
        numbers = data.draw(st.lists(some | st.sampled_from(self.given[key]), min_size=1, max_size=5))
        done = self.models[key].redrive(numbers, None)
        for side in self.sides:
            assert side.place.redrive(key, side.named(numbers), None) == side.named(done)

    @rule(key=keys, dead=st.booleans())
    def flush(self, key: str, dead: bool) -> None:
        removed = self.models[key].flush(dead)
        for side in self.sides:
            assert side.place.flush(key, dead) == removed

    @rule(key=keys, what=pauses)
    def pause(self, key: str, what: str) -> None:
        self.models[key].pause(both(what))
        for side in self.sides:
            side.place.pause(key, what)

    @rule(key=keys, what=st.just("all") | pauses)
    def resume(self, key: str, what: str) -> None:
        self.models[key].resume(both(what))
        for side in self.sides:
            side.place.resume(key, what)

    @rule(key=keys, given=st.just(Settings()) | settings)
    def setup(self, key: str, given: Settings) -> None:
        self.models[key].setup(given)
        for side in self.sides:
            side.place.setup(key, given)

    @rule(key=keys, name=consumers)
    def delete_consumer(self, key: str, name: str) -> None:
        returned = self.models[key].delete_consumer(name)
        for side in self.sides:
            assert side.place.delete_consumer(key, name) == returned

    @rule(key=keys)
    def dump_and_restore(self, key: str) -> None:
        """Changes nothing, as the next comparisons show."""
        for side in self.sides:
            side.place.dump_and_restore(key)

    # Looking.

    @rule(key=keys, start=st.integers(-15, 15), count=counts, consumer=st.none() | consumers)
    def inspect(self, key: str, start: int, count: int, consumer: str | None) -> None:
        model = self.models[key]
        waiting, dead = window(model.waiting, start, count), window(model.dead, start, count)
        mine = [message for message in model.delivered if consumer is None or message.consumer == consumer]
        delivered = window(mine, start, count)
        for side in self.sides:
            assert side.place.waiting(key, start, count) == side.shown(waiting)
            expected = [(side.ids[message.number], message.body, message.deliveries) for message in delivered]
            assert side.place.pending(key, start, count, consumer) == expected
            assert side.place.dead(key, start, count) == [side.letter(message) for message in dead]
            assert sorted(side.place.scheduled(key)) == sorted(side.shown(model.scheduled))

    @rule(key=keys, backwards=st.booleans(), count=counts, data=st.data())
    def look(self, key: str, backwards: bool, count: int, data: Any) -> None:
        """Shows messages in the order of their IDs."""
        model, (low, high) = self.models[key], self._bounds(key, data)
        shown = part(model.held, low, high, backwards, count)
        for side in self.sides:
            seen = side.place.look(key, side.bound(low), side.bound(high), backwards, count)
            assert seen == [side.row(message, model.state(message)) for message in shown]

    def _bounds(self, key: str, data: Any) -> tuple[Bound, Bound]:
        number = st.sampled_from(self.given[key]) if self.given[key] else st.nothing()
        bounds = st.builds(Bound, st.none() | number, st.booleans())
        return data.draw(bounds), data.draw(bounds)

    @rule(key=keys, parts=st.integers(1, 12))
    def split(self, key: str, parts: int) -> None:
        for side in self.sides:
            ids = side.named([message.number for message in self.models[key].held])
            cuts = [ids.index(id) for id in side.place.split(key, parts)]
            if ids:
                sizes = [end - start for start, end in pairwise([0, *cuts, len(ids)])]
                assert len(sizes) == min(parts, len(ids))
                assert max(sizes) - min(sizes) <= 1, f"unequal parts: {sizes}"

    @rule(key=keys, back=st.booleans(), data=st.data())
    def look_at_single_ones(self, key: str, back: bool, data: Any) -> None:
        """The next message, and messages by their IDs, which may be long gone."""
        model = self.models[key]
        waiting, held = model.waiting[-1 if back else 0 :][:1], {message.number: message for message in model.held}
        numbers = (
            data.draw(st.lists(st.sampled_from(self.given[key]), min_size=1, max_size=8)) if self.given[key] else []
        )
        for side in self.sides:
            assert side.place.peek(key, back) == (side.row(waiting[0], "waiting") if waiting else None)
            if numbers:
                rows = [side.row(held[n], model.state(held[n])) if n in held else None for n in numbers]
                assert side.place.get(key, side.named(numbers)) == rows

    @invariant()
    def lengths_counters_and_consumers_agree(self) -> None:
        for key, model in self.models.items():
            holding = [message.consumer for message in model.delivered if message.consumer is not None]
            for side in self.sides:
                assert side.place.length(key) == len(model.counted)
                assert side.place.counters(key) == model.counters(side.place.memory)
                if holding:
                    assert side.place.consumers(key) == {name: holding.count(name) for name in holding}

    @invariant()
    def names_are_those_of_queues_with_messages(self) -> None:
        names = [key for key, model in self.models.items() if model.counted]
        for side in self.sides:
            assert side.place.names() == names

    def teardown(self) -> None:
        for side in self.sides:
            side.place.close()


class FileMachine(Machine):
    """The same, with what can happen to a file in between. It changes nothing, as the next comparisons show."""

    def __init__(self, others: list[Place], own: OwnFilePlace, client: FileClientPlace) -> None:
        super().__init__([own, client, *others])
        self.own = own
        self.client = client
        self.kills = 0

    @rule()
    def reopen(self) -> None:
        self.own.reopen()

    @rule()
    def leave_it_as_it_is(self) -> None:
        self.own.crash()

    @rule()
    def change_the_owner(self) -> None:
        self.client.change_owner()

    @precondition(lambda self: self.kills < 1)
    @rule()
    def kill_the_owner(self) -> None:
        self.kills += 1
        self.client.kill_owner()


class ServerMachine(Machine):
    """The same, with what only the module can do, and what can happen to a server in between.

    The other places get what a producer pushes as a plain push of what is new."""

    def __init__(self, places: list[Place], module: ModulePlace, replica: Server) -> None:
        super().__init__([module, *places])
        self.module = module
        self.side = self.sides[0]
        self.replica = replica
        self.restarts = 0

    @rule(key=keys, name=producers, start=st.sampled_from([1, 2, 1000, 1 << 62]), contents=bodies)
    def produce(self, key: str, name: str, start: int, contents: list[bytes]) -> None:
        """Pushes what follows; a producer that is not known starts with any number."""
        known = self.models[key].producers.get(name)
        self._produce(key, name, known.highest + 1 if known else start, contents)

    @rule(key=keys, name=producers, back=st.integers(1, 15), contents=bodies)
    def produce_again(self, key: str, name: str, back: int, contents: list[bytes]) -> None:
        """Pushes from an earlier number on, perhaps to beyond the highest."""
        self._produce(key, name, max(1, self._producer(key, name).highest + 1 - back), contents)

    @rule(key=keys, name=producers, contents=bodies)
    def send_the_latest_again(self, key: str, name: str, contents: list[bytes]) -> None:
        """A client that got no answer. The bodies don't matter: nothing is stored."""
        known = self._producer(key, name)
        count = len(known.latest)
        if count:
            self._produce(key, name, known.highest + 1 - count, (contents * count)[:count])

    @rule(key=keys, name=producers, ahead=st.sampled_from([1, 2, 1 << 40]), contents=bodies)
    def leave_a_gap(self, key: str, name: str, ahead: int, contents: list[bytes]) -> None:
        if name in self.models[key].producers:
            self._produce(key, name, self._producer(key, name).highest + 1 + ahead, contents)

    def _producer(self, key: str, name: str) -> Producer:
        return self.models[key].producers.get(name, Producer())

    def _produce(self, key: str, name: str, sequence: int, contents: list[bytes]) -> None:
        model = self.models[key]
        try:
            stored = model.stored(name, sequence, len(contents))
            messages = self._new_messages(key, contents[len(stored) :])
            model.produce(name, sequence + len(contents) - 1, messages, len(stored))
        except (Gap, Refusal) as refusal:
            told = "Gap" if isinstance(refusal, Gap) else str(refusal)
            self._unchanged(lambda: self._refused(told, key, name, sequence, contents))
            return
        ids = self.module.produce(key, name, sequence, contents)
        assert ids[: len(stored)] == [None if number is None else self.side.ids[number] for number in stored]
        assert len(ids) == len(contents)
        if messages:
            self.given[key] += [message.number for message in messages]
            self.side.name(key, messages, [str(id) for id in ids[len(stored) :]])
            for other in self.sides[1:]:
                other.name(key, messages, other.place.push(key, contents[len(stored) :], Options()))

    def _refused(self, told: str, key: str, name: str, sequence: int, contents: list[bytes]) -> None:
        assert refused(lambda: self.module.produce(key, name, sequence, contents)) == told

    @rule(key=keys, backwards=st.booleans(), count=st.none() | counts, data=st.data())
    def range(self, key: str, backwards: bool, count: int | None, data: Any) -> None:
        model, (low, high) = self.models[key], self._bounds(key, data)
        shown = part(model.held, low, high, backwards, count or 1000)
        words = (self.side.bound(low) or "-", self.side.bound(high) or "+", *["REV"] * backwards)
        options = () if count is None else ("COUNT", count)
        assert self.module.range(key, *words, *options) == self.side.shown(shown)
        rows = [self.side.row(message, model.state(message)) for message in shown]
        assert self.module.described(key, *words, *options) == rows

    @rule()
    def save_and_reload(self) -> None:
        self._unchanged(lambda: self.module.client.call("DEBUG", "RELOAD"))

    @rule(key=keys)
    def dump_and_restore_the_same(self, key: str) -> None:
        self._unchanged(lambda: self.module.dump_and_restore(key))

    @precondition(lambda self: self.restarts < 1)
    @rule(rewrite=st.booleans())
    def restart(self, rewrite: bool) -> None:
        self.restarts += 1

        def again() -> None:
            if rewrite:
                self.module.server.rewrite_aof()
            self.module.server.restart(kill=True)
            self.module.reconnect()
            self.replica.follow(self.module.server)

        self._unchanged(again)

    def _unchanged(self, step: Any) -> None:
        before = self._digests(self.module.server)
        step()
        assert self._digests(self.module.server) == before

    @rule()
    def compare_with_the_replica(self) -> None:
        self.replica.catch_up(self.module.server)
        assert self._digests(self.replica) == self._digests(self.module.server)

    @staticmethod
    def _digests(server: Server) -> list[bytes]:
        with server.client() as client:
            return [client.dataset_digest(), *(client.digest(key) for key in KEYS)]
