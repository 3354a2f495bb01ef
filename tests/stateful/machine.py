"""The same steps in the model and in every place, compared after each."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.stateful.model import Message, Model, window
from tests.stateful.places import ModulePlace, Place, Taken
from tests.support.server import Server

KEYS = ["a", "b"]
NEVER = 3_600_000
"""Milliseconds after which no message of a test was delivered."""

keys = st.sampled_from(KEYS)
bodies = st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b"", b"z" * 5000])), min_size=1, max_size=12)
counts = st.one_of(st.integers(1, 8), st.sampled_from([100, (1 << 31) - 1]))


class Side:
    """A place, and how it names the model's messages."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.ids: dict[int, str] = {}
        self._last = dict.fromkeys(KEYS, (0, 0))

    def name(self, key: str, numbers: list[int], ids: list[str]) -> None:
        """Learns the IDs of new messages. They grow for ever, also over the end of a queue."""
        assert len(ids) == len(numbers)
        for number, id in zip(numbers, ids, strict=True):
            milliseconds, _, sequence = id.partition("-")
            order = int(milliseconds), int(sequence)
            assert order > self._last[key], f"{id} does not follow {self._last[key]}"
            assert f"{order[0]}-{order[1]}" == id and order[1] >= 1
            self._last[key] = order
            self.ids[number] = id

    def named(self, numbers: list[int]) -> list[str]:
        return [self.ids[number] for number in numbers]

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
        messages = [Message(self.pushed + place, body) for place, body in enumerate(contents)]
        self.pushed += len(messages)
        numbers = [message.number for message in messages]
        self.models[key].push(messages)
        self.given[key] += numbers
        for side in self.sides:
            side.name(key, numbers, side.place.push(key, contents))

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

    @rule(key=keys)
    def delete(self, key: str) -> None:
        self.models[key].clear()
        for side in self.sides:
            side.place.delete(key)

    @invariant()
    def lengths_and_counters_agree(self) -> None:
        for key, model in self.models.items():
            held = len(model.waiting) + len(model.delivered)
            found = [side.place.counters(key) for side in self.sides]
            assert all(counters == found[0] for counters in found), f"the places differ: {found}"
            for side, counters in zip(self.sides, found, strict=True):
                assert side.place.length(key) == held
                assert (counters is None) == (held == 0)
            if found[0] is not None:
                expected = {
                    "waiting": len(model.waiting),
                    "delivered": len(model.delivered),
                    "sent": model.sent,
                    "received": model.received,
                    "deleted": model.deleted,
                    "dead": 0,
                }
                assert {name: found[0][name] for name in expected} == expected

    def teardown(self) -> None:
        for side in self.sides:
            side.place.close()


class ServerMachine(Machine):
    """The same, with what can happen to a server in between."""

    def __init__(self, places: list[Place], module: ModulePlace, replica: Server) -> None:
        super().__init__([module, *places])
        self.module = module
        self.replica = replica
        self.restarts = 0

    @rule()
    def save_and_reload(self) -> None:
        self._unchanged(lambda: self.module.client.call("DEBUG", "RELOAD"))

    @rule(key=keys)
    def dump_and_restore(self, key: str) -> None:
        client = self.module.client
        if client.exists(key):
            self._unchanged(lambda: client.call("RESTORE", key, 0, client.call("DUMP", key), "REPLACE"))

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
