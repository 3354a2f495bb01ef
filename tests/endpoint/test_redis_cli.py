"""The endpoint of a file, as redis-cli and redis-py see it."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
import reliableq

from tests.support.server import server_command
from tests.support.wait import DEADLINE

Cli = Callable[..., str]


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[reliableq.Connection]:
    """Owns the file, in this process."""
    with reliableq.connect(f"file:{tmp_path / 'jobs.rq'}") as connection:
        connection.queue("q").push(b"first")
        yield connection


@pytest.fixture
def socket(owner: reliableq.Connection, tmp_path: Path) -> Path:
    return tmp_path / "jobs.rq" / "socket"


@pytest.fixture
def cli(socket: Path) -> Cli:
    """Runs redis-cli on the socket, and returns what it prints."""
    program = Path(server_command()[0]).with_name("redis-cli")

    def run(*arguments: str, typed: str | None = None) -> str:
        command = [str(program), "-s", str(socket), *arguments]
        done = subprocess.run(command, input=typed, check=True, capture_output=True, text=True, timeout=DEADLINE)
        assert done.stderr == ""
        return done.stdout.strip()

    return run


@pytest.mark.parametrize("protocol", ["-2", "-3"])
def test_a_message_lives(cli: Cli, owner: reliableq.Connection, protocol: str) -> None:
    identifier = cli(protocol, "RQ.PUSH", "jobs", "hello")
    assert cli(protocol, "RQ.POP", "jobs").splitlines() == ["jobs", identifier, "hello"]
    assert cli(protocol, "RQ.LEN", "jobs") == "1"
    assert owner.queue("jobs").ack(identifier)
    assert cli(protocol, "RQ.POP", "BLOCK", "1", "jobs") == ""


def test_what_the_owner_pushed_is_there(cli: Cli) -> None:
    assert cli("RQ.POP", "q").splitlines()[2] == "first"


def test_lines_are_typed(cli: Cli) -> None:
    typed = "PING\nRQ.PUSH jobs \"two words\" 'three more words'\nRQ.POP 2 jobs\nSELECT 1\nnonsense a b\n"
    printed = cli(typed=typed)
    assert printed.startswith("PONG")
    assert "two words" in printed
    assert "three more words" in printed
    assert "ERR DB index is out of range" in printed
    assert "ERR unknown command 'nonsense', with args beginning with: 'a' 'b'" in printed


def test_help_and_hints_come_from_the_table(cli: Cli) -> None:
    printed = cli(typed="help rq.pushex\nhelp @reliableq\n")
    assert "[FRONT] [DELAY milliseconds|AT unix-milliseconds]" in printed
    assert "[PRODUCER name SEQ n]" in printed and "ELEMENTS count element [element ...]" in printed
    assert "Tells how many messages a queue holds" in printed


def test_a_queue_is_dumped_and_restored(cli: Cli, socket: Path) -> None:
    client = redis.Redis(unix_socket_path=str(socket))
    dump = client.dump("q")
    assert isinstance(dump, bytes)
    client.restore("copy", 0, dump)
    assert cli("RQ.POP", "copy").splitlines()[2] == "first"
    with pytest.raises(redis.ResponseError, match="Target key name already exists"):
        client.restore("copy", 0, dump)
    client.restore("copy", 0, dump, replace=True)


@pytest.mark.parametrize("protocol", [2, 3])
def test_redis_py_connects(socket: Path, protocol: int) -> None:
    client = redis.Redis(unix_socket_path=str(socket), protocol=protocol, client_name="me", decode_responses=True)
    assert client.ping()
    assert client.client_getname() == "me"
    assert client.execute_command("RQ.PUSH", "jobs", "a")
    (row,) = client.execute_command("RQ.POP", "jobs")
    assert row[2] == "a"
    assert client.execute_command("RQ.POP", "jobs") is None
    pipeline = client.pipeline(transaction=False)
    for number in range(100):
        pipeline.execute_command("RQ.PUSH", "jobs", number)
    assert len(pipeline.execute()) == 100
    with pytest.raises(redis.ResponseError, match="unknown command 'GET'"):
        client.get("jobs")
    assert "rq.len" in client.command()


def test_redis_py_is_told_what_is_no_database(socket: Path) -> None:
    client = redis.Redis(unix_socket_path=str(socket), db=1)
    with pytest.raises(redis.RedisError, match="DB index is out of range"):
        client.ping()
