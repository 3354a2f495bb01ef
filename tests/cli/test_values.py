"""Times, headers and back-offs as people type them."""

from datetime import datetime

import click
import pytest
from reliableq.cli.values import DURATION, POSITIVE, TIMEOUT, Backoff, Header, Moment, Number, shortest


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("1.5", 1.5), ("500ms", 0.5), ("10s", 10), ("5m", 300), ("2h", 7200), ("1d", 86_400), ("0.5h", 1800)],
)
def test_durations(text: str, seconds: float) -> None:
    assert DURATION.convert(text, None, None) == seconds


@pytest.mark.parametrize(
    "text", ["", "s", "-1", "-1s", "nan", "inf", "infd", "1w", "1 week", "1h30m", "forever", "9" * 30]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(click.BadParameter, match="such as 500ms"):
        DURATION.convert(text, None, None)


def test_durations_of_some_options() -> None:
    assert TIMEOUT.convert("forever", None, None) is None
    with pytest.raises(click.BadParameter):
        POSITIVE.convert("0", None, None)


@pytest.mark.parametrize("seconds", [0, 0.001, 0.5, 1, 30, 90, 600, 5400, 86_400, 90_000, 604_800, 1.5])
def test_the_shortest_form_is_read_again(seconds: float) -> None:
    assert DURATION.convert(shortest(seconds), None, None) == seconds
    assert (shortest(90), shortest(600), shortest(0.25), shortest(86_400)) == ("90s", "10m", "250ms", "1d")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1763458200", 1763458200),
        ("1763458200.5", 1763458200.5),
        ("2025-11-18T09:30:00Z", 1763458200),
        ("2025-11-18T10:30+01:00", 1763458200),
        ("2025-11-18 09:30", datetime(2025, 11, 18, 9, 30).timestamp()),
        ("2025-11-18", datetime(2025, 11, 18).timestamp()),
    ],
)
def test_moments(text: str, seconds: float) -> None:
    assert Moment().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1", "inf", "2025-13-01", "0001-01-01", "1e20"])
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Moment().convert(text, None, None)


def test_numbers() -> None:
    assert [Number().convert(text, None, None) for text in ("0", "007", "+5")] == [0, 7, 5]
    assert Number(-5).convert("-5", None, None) == -5
    for text in ("", "x", "1.5", "-1", "1e3", "9223372036854775808", "1_0", "\u0661", "9" * 5000):
        with pytest.raises(click.BadParameter, match="expected a whole number from 0 to 9223372036854775807, not"):
            Number().convert(text, None, None)
    with pytest.raises(click.BadParameter, match="from 1 to 5, not '6'"):
        Number(1, 5).convert("6", None, None)


def test_headers() -> None:
    assert Header().convert("a=b=c", None, None) == (b"a", b"b=c")
    assert Header().convert("a=", None, None) == (b"a", b"")
    for text in ("a", "=b", ""):
        with pytest.raises(click.BadParameter):
            Header().convert(text, None, None)


def test_back_offs() -> None:
    assert Backoff().convert("10s", None, None) == (10, 1, 0)
    assert Backoff().convert("500ms,2,5m", None, None) == (0.5, 2, 300)
    for text in ("", "1,2", "1,2,3,4", "1,x,3", "x", "1,2,"):
        with pytest.raises(click.BadParameter):
            Backoff().convert(text, None, None)
