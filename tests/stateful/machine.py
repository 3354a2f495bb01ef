"""The same steps in the model and in every place, compared after each."""

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.stateful.model import Bound, Gap, Message, Model, Producer, part, window
from tests.stateful.places import Described, FileClientPlace, ModulePlace, OwnFilePlace, Place, Taken
from tests.support.client import CommandError
from tests.support.server import Server

KEYS = ["a", "b"]
PRODUCERS = ["one", "two"]
NEVER = 3_600_000
"""Milliseconds after which no message of a test was delivered."""

keys = st.sampled_from(KEYS)
producers = st.sampled_from(PRODUCERS)
bodies = st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b"", b"z" * 5000])), min_size=1, max_size=12)
counts = st.one_of(st.integers(1, 8), st.sampled_from([100, (1 << 31) - 1]))


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

    def bound(self, bound: Bound) -> str | None:
        """An end of a range, in the IDs of this place."""
        return None if bound.number is None else "(" * bound.out + self.ids[bound.number]

    def rows(self, key: str, messages: list[Message]) -> list[Taken]:
        return [(key, self.ids[message.number], message.body) for message in messages]


class Machine(RuleBasedStateMachine):
    """Steps of a queue's life."""

    def __init__(self, places: list[Place]) -> None:
        super().__init__()
        self.models = {key: Model() for key in KEYS}
        self.given: dict[str, list[int]] = {key: [] for key in KEYS}
        self.sides = [Side(place) for place in places]
        self.pushed = 0

    @rule(key=keys, contents=bodies)
    def push(self, key: str, contents: list[bytes]) -> None:
        messages = self._new_messages(key, contents)
        self.models[key].push(messages)
        for side in self.sides:
            side.name(key, messages, side.place.push(key, contents))

    def _new_messages(self, key: str, contents: list[bytes]) -> list[Message]:
        messages = [Message(self.pushed + place, body) for place, body in enumerate(contents)]
        self.pushed += len(messages)
        self.given[key] += [message.number for message in messages]
        return messages

    @rule(key=keys, count=counts)
    def pop(self, key: str, count: int) -> None:
        taken = self.models[key].pop(count)
        for side in self.sides:
            assert side.place.pop([key], count) == side.rows(key, taken)

    @rule(order=st.permutations(KEYS), count=counts)
    def pop_from_both(self, order: list[str], count: int) -> None:
        first = self.models[order[0]].pop(count)
        second = self.models[order[1]].pop(count - len(first))
        for side in self.sides:
            expected = side.rows(order[0], first) + side.rows(order[1], second)
            assert side.place.pop(order, count) == expected

    @rule(key=keys, data=st.data())
    def ack(self, key: str, data: Any) -> None:
        """Acknowledges messages that may be waiting, delivered or long gone."""
        if not self.given[key]:
            return
        numbers = data.draw(st.lists(st.sampled_from(self.given[key]), min_size=1, max_size=30))
        self._ack(key, numbers)

    @rule(key=keys)
    def ack_all_delivered(self, key: str) -> None:
        numbers = [message.number for message in self.models[key].delivered]
        if numbers:
            self._ack(key, numbers)

    @rule(key=keys)
    def use_up(self, key: str) -> None:
        """Leaves no message: the queue ceases to exist, unless it remembers a producer."""
        self.pop(key, (1 << 31) - 1)
        self.ack_all_delivered(key)

    def _ack(self, key: str, numbers: list[int]) -> None:
        done = self.models[key].ack(numbers)
        for side in self.sides:
            assert side.place.ack(key, side.named(numbers)) == side.named(done)

    @rule(key=keys, count=counts)
    def recover(self, key: str, count: int) -> None:
        taken = self.models[key].recover(count)
        for side in self.sides:
            assert side.place.recover(key, count, 0) == side.rows(key, taken)

    @rule(key=keys, count=counts)
    def recover_nothing(self, key: str, count: int) -> None:
        for side in self.sides:
            assert side.place.recover(key, count, NEVER) == []

    @rule(key=keys, start=st.integers(-15, 15), count=counts)
    def inspect(self, key: str, start: int, count: int) -> None:
        model = self.models[key]
        waiting, delivered = window(model.waiting, start, count), window(model.delivered, start, count)
        for side in self.sides:
            assert side.place.waiting(key, start, count) == [row[1:] for row in side.rows(key, waiting)]
            expected = [(side.ids[message.number], message.body, message.deliveries) for message in delivered]
            assert side.place.pending(key, start, count) == expected

    @rule(key=keys, backwards=st.booleans(), count=counts, data=st.data())
    def look(self, key: str, backwards: bool, count: int, data: Any) -> None:
        """Shows messages in the order of their IDs."""
        low, high = self._bounds(key, data)
        shown = part(self.models[key].held, low, high, backwards, count)
        for side in self.sides:
            seen = side.place.look(key, side.bound(low), side.bound(high), backwards, count)
            assert seen == [(side.ids[message.number], message.body, message.deliveries) for message in shown]

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

    @rule(key=keys)
    def dump_and_restore(self, key: str) -> None:
        """Changes nothing, as the next comparisons show."""
        for side in self.sides:
            side.place.dump_and_restore(key)

    @rule(key=keys, back=st.booleans(), data=st.data())
    def look_at_single_ones(self, key: str, back: bool, data: Any) -> None:
        """The next message, and messages by their IDs, which may be long gone."""
        model = self.models[key]
        waiting, held = model.waiting[-1 if back else 0 :][:1], {message.number: message for message in model.held}
        numbers = (
            data.draw(st.lists(st.sampled_from(self.given[key]), min_size=1, max_size=8)) if self.given[key] else []
        )
        for side in self.sides:
            shown = [row[1:] for row in side.rows(key, waiting)]
            assert side.place.peek(key, back) == (shown[0] if shown else None)
            if numbers:
                rows = [(side.ids[n], held[n].body) if n in held else None for n in numbers]
                assert side.place.get(key, side.named(numbers)) == rows

    @rule(key=keys)
    def delete(self, key: str) -> None:
        self.models[key].clear()
        for side in self.sides:
            side.place.delete(key)

    @invariant()
    def lengths_and_counters_agree(self) -> None:
        for key, model in self.models.items():
            for side in self.sides:
                assert side.place.length(key) == len(model.held)
                assert side.place.counters(key) == model.counters(side.place.memory)

    @invariant()
    def names_are_those_of_queues_with_messages(self) -> None:
        names = [key for key, model in self.models.items() if model.held]
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
        try:
            stored = self.models[key].stored(name, sequence, len(contents))
        except Gap:
            self._unchanged(lambda: self._refused_for_a_gap(key, name, sequence, contents))
            return
        fresh = contents[len(stored) :]
        ids = self.module.produce(key, name, sequence, contents)
        assert ids[: len(stored)] == [None if number is None else self.side.ids[number] for number in stored]
        if fresh:
            messages = self._new_messages(key, fresh)
            self.models[key].produce(name, sequence + len(contents) - 1, messages)
            self.side.name(key, messages, [str(id) for id in ids[len(stored) :]])
            for other in self.sides[1:]:
                other.name(key, messages, other.place.push(key, fresh))
        else:
            assert len(ids) == len(stored)

    def _refused_for_a_gap(self, key: str, name: str, sequence: int, contents: list[bytes]) -> None:
        try:
            self.module.produce(key, name, sequence, contents)
        except CommandError as error:
            assert error.code == "GAP"
        else:
            raise AssertionError("a gap was accepted")

    @rule(key=keys, backwards=st.booleans(), count=st.none() | counts, data=st.data())
    def range(self, key: str, backwards: bool, count: int | None, data: Any) -> None:
        low, high = self._bounds(key, data)
        shown = part(self.models[key].held, low, high, backwards, count or 1000)
        words = (self.side.bound(low) or "-", self.side.bound(high) or "+", *["REV"] * backwards)
        options = () if count is None else ("COUNT", count)
        rows = [(self.side.ids[message.number], message.body) for message in shown]
        assert self.module.range(key, *words, *options) == rows
        assert self.module.described(key, *words, *options) == self._described(key, shown)

    def _described(self, key: str, messages: list[Message]) -> list[Described]:
        times = {row[0].decode(): row[2] for row in self.module.client.pending(key, 0, 1 << 40)}
        rows: list[Described] = []
        for message in messages:
            id = self.side.ids[message.number]
            meta: dict[bytes, bytes | int] = {
                b"state": b"delivered" if message.deliveries else b"waiting",
                b"deliveries": message.deliveries,
                b"enqueued": int(id.partition("-")[0]),
                b"last-delivery": times.get(id, 0),
            }
            rows.append((id, message.body, meta))
        return rows

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
