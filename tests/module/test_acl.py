"""Who may do what: categories, and permissions for each key of each form of each command."""

from collections.abc import Iterator

import pytest

from tests.support.client import Argument, Client, CommandError
from tests.support.server import Server

pytestmark = pytest.mark.essential

READING = {
    *("rq.len", "rq.info", "rq.inspect", "rq.range", "rq.split", "rq.status", "rq.peek", "rq.get"),
    *("rq.register", "rq.notify"),
}
WRITING = {
    *("rq.push", "rq.pop", "rq.ack", "rq.recover", "rq.pushex", "rq.nack", "rq.extend", "rq.claim", "rq.forward"),
    *("rq.delete", "rq.redrive", "rq.flush", "rq.pause", "rq.resume", "rq.setup", "rq.consumer"),
}

COMMANDS: dict[str, tuple[Argument, ...]] = {
    "rq.push": ("RQ.PUSH", "{}", "x"),
    "rq.pop": ("RQ.POP", "KEYS", 1, "{}"),
    "rq.ack": ("RQ.ACK", "{}", "1-1"),
    "rq.recover": ("RQ.RECOVER", "{}", 1, 0),
    "rq.inspect": ("RQ.INSPECT", "{}", 0, 1),
    "rq.pushex": ("RQ.PUSHEX", "{}", "ELEMENTS", 1, "x"),
    "rq.range": ("RQ.RANGE", "{}", "-", "+"),
    "rq.split": ("RQ.SPLIT", "{}", 2),
    "rq.len": ("RQ.LEN", "{}"),
    "rq.info": ("RQ.INFO", "{}"),
    "rq.status": ("RQ.STATUS", "{}"),
    "rq.peek": ("RQ.PEEK", "{}"),
    "rq.get": ("RQ.GET", "{}", "IDS", 1, "1-1"),
    "rq.nack": ("RQ.NACK", "{}", "IDS", 1, "1-1"),
    "rq.extend": ("RQ.EXTEND", "{}", 1, "IDS", 1, "1-1"),
    "rq.claim": ("RQ.CLAIM", "{}", "c", 0, "IDS", 1, "1-1"),
    "rq.forward": ("RQ.FORWARD", "{}", "{}", "IDS", 1, "1-1", "ELEMENTS", 1, "x"),
    "rq.delete": ("RQ.DELETE", "{}", "IDS", 1, "1-1"),
    "rq.redrive": ("RQ.REDRIVE", "{}"),
    "rq.flush": ("RQ.FLUSH", "{}"),
    "rq.pause": ("RQ.PAUSE", "{}"),
    "rq.resume": ("RQ.RESUME", "{}"),
    "rq.setup": ("RQ.SETUP", "{}"),
    "rq.consumer": ("RQ.CONSUMER", "LIST", "{}"),
    "rq.register": ("RQ.REGISTER", "{}"),
    "rq.notify": ("RQ.NOTIFY", 1),
    "rq.apply": ("RQ.APPLY", "{}", "x"),
}


def in_category(client: Client, category: str) -> set[str]:
    return {name.decode().lower() for name in client.call("ACL", "CAT", category)} & COMMANDS.keys()


@pytest.fixture
def _categories(client: Client) -> None:
    """Needs a server where a module's commands can have categories."""
    if client.info("server")["redis_version"].startswith("7.0."):
        pytest.skip("Redis 7.0 has no categories for the commands of modules")


@pytest.mark.usefixtures("_categories")
def test_categories(client: Client) -> None:
    assert in_category(client, "read") == READING
    assert in_category(client, "write") == WRITING | {"rq.apply"}
    assert in_category(client, "dangerous") == {"rq.apply"}
    assert in_category(client, "admin") == {"rq.apply"}
    assert "rq.len" in in_category(client, "fast")
    assert in_category(client, "blocking") == {"rq.pop", "rq.notify"}


@pytest.mark.usefixtures("_categories")
def test_a_category_of_its_own_for_what_clients_need(client: Client) -> None:
    if client.info("server")["redis_version"].startswith("7.2.") and "valkey_version" not in client.info("server"):
        pytest.skip("Redis 7.2 lets modules make no categories")
    assert in_category(client, "reliableq") == COMMANDS.keys() - {"rq.apply"}


@pytest.fixture
def allowed(client: Client) -> Iterator["Allowed"]:
    client.call("SET", "unrelated", "x")
    yield Allowed(client)
    client.call("ACL", "DELUSER", "someone")


class Allowed:
    """Asks what a user with given rules may do."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def rules(self, *rules: str) -> None:
        self._client.call("ACL", "SETUSER", "someone", "reset", "on", ">secret", *rules)

    def __call__(self, *command: Argument) -> bool:
        return bool(self._client.call("ACL", "DRYRUN", "someone", *command) == b"OK")


def on(name: str, key: str) -> list[Argument]:
    return [key if word == "{}" else word for word in COMMANDS[name]]


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_by_name(allowed: Allowed, name: str) -> None:
    allowed.rules("allkeys", f"+{name}")
    for other in COMMANDS:
        assert allowed(*on(other, "q")) == (other == name)


@pytest.mark.usefixtures("_categories")
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_by_category(allowed: Allowed, name: str) -> None:
    command = on(name, "q")
    allowed.rules("allkeys", "+@read")
    assert allowed(*command) == (name in READING)
    allowed.rules("allkeys", "+@write", "-@dangerous")
    assert allowed(*command) == (name in WRITING)
    allowed.rules("allkeys", "+@all", "-@dangerous")
    assert allowed(*command) == (name != "rq.apply")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "rq.notify"])
def test_keys_by_pattern(allowed: Allowed, name: str) -> None:
    allowed.rules("+@all", "~mine:*")
    assert allowed(*on(name, "mine:q"))
    assert not allowed(*on(name, "yours:q"))


@pytest.mark.parametrize(
    ("name", "reading", "writing"),
    [
        ("rq.pushex", False, True),
        ("rq.range", True, False),
        ("rq.split", True, False),
        ("rq.push", False, True),
        ("rq.pop", False, False),
        ("rq.ack", False, True),
        ("rq.recover", False, False),
        ("rq.inspect", True, False),
        ("rq.info", True, False),
        ("rq.status", True, False),
        ("rq.peek", True, False),
        ("rq.get", True, False),
        ("rq.register", True, False),
        ("rq.claim", False, False),
        ("rq.delete", False, True),
        ("rq.setup", False, False),
        ("rq.consumer", False, False),
    ],
)
def test_reading_and_writing_are_apart(allowed: Allowed, name: str, reading: bool, writing: bool) -> None:
    """Which of the two permissions is enough alone. Both are needed by what shows and takes, or may do either."""
    allowed.rules("+@all", "%R~q")
    assert allowed(*on(name, "q")) == reading
    allowed.rules("+@all", "%W~q")
    assert allowed(*on(name, "q")) == writing
    allowed.rules("+@all", "%RW~q")
    assert allowed(*on(name, "q"))


@pytest.mark.parametrize("keys", [["{}"], ["{}", "mine"], ["mine", "{}"], ["mine", "{}", "mine"]], ids=" ".join)
def test_every_key_of_status_is_asked_for(allowed: Allowed, keys: list[str]) -> None:
    allowed.rules("+@all", "~mine")
    assert allowed("RQ.STATUS", *(key.format("mine") for key in keys))
    assert not allowed("RQ.STATUS", *(key.format("yours") for key in keys))


@pytest.mark.parametrize(("source", "destination"), [("yours", "mine"), ("mine", "yours"), ("yours", "yours")])
def test_both_keys_of_forward_are_asked_for(allowed: Allowed, source: str, destination: str) -> None:
    allowed.rules("+@all", "~mine")
    words = ("IDS", 1, "1-1", "ELEMENTS", 1, "x")
    assert allowed("RQ.FORWARD", "mine", "mine", *words)
    assert not allowed("RQ.FORWARD", source, destination, *words)


@pytest.mark.parametrize("words", [("LIST", "{}"), ("DELETE", "{}", "ann"), ("DELETE", "{}", "mine")])
def test_the_key_of_consumer_is_its_second_word(allowed: Allowed, words: tuple[str, ...]) -> None:
    allowed.rules("+@all", "~mine")
    assert allowed("RQ.CONSUMER", *(word.format("mine") for word in words))
    assert not allowed("RQ.CONSUMER", *(word.format("yours") for word in words))


@pytest.mark.parametrize("keys", [["yours"], ["mine", "yours"]])
def test_every_key_of_register_is_asked_for(allowed: Allowed, keys: list[str]) -> None:
    allowed.rules("+@all", "~mine")
    assert allowed("RQ.REGISTER", "mine") and allowed("RQ.REGISTER") and allowed("RQ.NOTIFY", 1)
    assert not allowed("RQ.REGISTER", *keys)


def test_status_without_keys_needs_none(allowed: Allowed) -> None:
    allowed.rules("+rq.status")
    assert allowed("RQ.STATUS")


@pytest.mark.parametrize(
    "words",
    [
        ("{}",),
        ("{}", "mine"),
        ("mine", "{}"),
        ("COUNT", 5, "{}"),
        ("COUNT", 5, "mine", "{}"),
        ("COUNT", 5, "BLOCK", 0, "mine", "{}"),
        ("BLOCK", 0, "mine", "{}"),
        ("count", 5, "block", 0, "mine", "{}"),
        (5, "{}"),
        (5, "mine", "{}", "mine"),
        ("KEYS", 1, "{}"),
        ("KEYS", 2, "mine", "{}"),
        ("COUNT", 5, "KEYS", 2, "{}", "mine"),
        ("COUNT", 5, "BLOCK", 0, "KEYS", 3, "mine", "mine", "{}"),
    ],
    ids=lambda words: " ".join(str(word) for word in words),
)
def test_every_key_of_every_form_of_pop_is_asked_for(allowed: Allowed, words: tuple[Argument, ...]) -> None:
    allowed.rules("+@all", "~mine")

    def with_key(key: str) -> list[Argument]:
        return ["RQ.POP", *(key if word == "{}" else word for word in words)]

    assert allowed(*with_key("mine"))
    assert not allowed(*with_key("yours"))


@pytest.mark.parametrize("key", ["COUNT", "BLOCK", "KEYS", "5"])
def test_a_key_that_looks_like_a_word_is_a_key(allowed: Allowed, key: str) -> None:
    allowed.rules("+@all", "~mine")
    assert not allowed("RQ.POP", "KEYS", 1, key)
    assert not allowed("RQ.POP", "KEYS", 2, "mine", key)
    allowed.rules("+@all", f"~{key}")
    assert allowed("RQ.POP", "KEYS", 1, key)


def test_what_a_real_user_meets(server: Server, client: Client) -> None:
    client.call("ACL", "SETUSER", "someone", "reset", "on", ">secret", "~mine:*", "+@all", "-rq.apply")
    client.push("yours:q", "hidden")
    with server.client(user="someone") as user:
        user.push("mine:q", "a")
        assert user.length("mine:q") == 1
        for command in (("RQ.POP", "mine:q", "yours:q"), ("RQ.POP", 1, "yours:q"), ("RQ.APPLY", "mine:q", "x")):
            with pytest.raises(CommandError) as error:
                user.call(*command)
            assert error.value.code == "NOPERM"
    assert client.waiting("yours:q") != [] and client.waiting("mine:q") != []
    client.call("ACL", "DELUSER", "someone")
