"""Where the command looks for queues, and what it says when it can't get there."""

import pytest
import reliableq

from tests.cli.program import Program
from tests.support.client import Client
from tests.support.server import free_port


@pytest.fixture
def nowhere() -> str:
    return f"redis://127.0.0.1:{free_port()}"


def test_url_before_or_after_the_subcommand(url: str, queue: reliableq.Queue) -> None:
    program = Program()
    assert program("--url", url, "push", "q", "before").code == 0
    assert program("push", "--url", url, "q", "after").code == 0
    assert [message.body for message in queue.inspect()] == [b"before", b"after"]


def test_the_option_goes_before_the_environment(url: str, nowhere: str) -> None:
    assert Program(nowhere)("push", "q", "a", "--url", url).code == 0
    assert Program(nowhere)("--url", url, "push", "q", "a").code == 0
    assert Program(url)("push", "q", "a").code == 0
    assert Program(url)("--url", nowhere, "push", "q", "a").code == 3


def test_the_option_of_the_subcommand_goes_before_that_of_the_group(url: str, nowhere: str) -> None:
    assert Program()("--url", nowhere, "push", "q", "a", "--url", url).code == 0
    assert Program()("--url", url, "push", "q", "a", "--url", nowhere).code == 3


def test_an_empty_variable_is_none(url: str) -> None:
    ended = Program("")("push", "q", "a")
    assert ended.code == 2 and "no URL" in ended.complaint


@pytest.mark.parametrize("arguments", [["push", "q", "a"], ["pop", "q"], ["status"], ["ack", "q", "1-1"]])
def test_a_place_that_can_not_be_reached_ends_with_3(nowhere: str, arguments: list[str]) -> None:
    ended = Program(nowhere)(*arguments)
    assert (ended.code, ended.output) == (3, b"")
    assert "no answer from the server" in ended.complaint


def test_json_is_whole_also_when_the_push_fails(nowhere: str) -> None:
    ended = Program(nowhere)("push", "q", "a", "--json")
    assert (ended.code, ended.json) == (3, [])


def test_a_key_of_another_type_ends_with_4(program: Program, client: Client) -> None:
    client.call("SET", "q", "text")
    for arguments in (["push", "q", "a"], ["pop", "q"], ["inspect", "q"]):
        ended = program(*arguments)
        assert (ended.code, ended.output) == (4, b"")
        assert ended.complaint


def test_no_password_is_shown() -> None:
    ended = Program()("--url", f"redis://user:secret@127.0.0.1:{free_port()}", "pop", "q")
    assert ended.code == 3 and "secret" not in ended.complaint
