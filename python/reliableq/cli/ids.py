"""IDs of messages, as arguments or from standard input, and what became of those that they name."""

from collections.abc import Callable, Iterable, Iterator

import click

from reliableq.cli import exits, lines, show

argument = click.argument("ids", metavar="[ID]...", nargs=-1)


def batches(ids: tuple[str, ...]) -> Iterator[list[str]]:
    """The IDs that were given, or those that lines of standard input begin with, as they come."""
    if ids:
        yield list(ids)
        return
    for batch in lines.batches():
        found = [line.split(None, 1)[0].decode(errors="surrogateescape") for line in batch if line.strip()]
        if found:
            yield found


def do(ids: tuple[str, ...], call: Callable[[list[str]], list[str]], done: str, otherwise: str, as_json: bool) -> int:
    """Does something to messages, and prints the IDs of those for which it was done.

    `done` is the word for that, `otherwise` the reason where it was not.
    """
    report = Report(done, otherwise, as_json)
    try:
        for batch in batches(ids):
            report.add(batch, call(batch))
    finally:
        report.end_json()  # also when an error ends it: those before it are done
    return report.end()


class Report:
    """Tells which were done, and which not."""

    def __init__(self, word: str, otherwise: str, as_json: bool) -> None:
        self._word = word
        self._otherwise = otherwise
        self._as_json = as_json
        self._done: list[str] = []
        self._missing: list[str] = []

    def add(self, given: Iterable[str], done: list[str]) -> None:
        """Of those that were given, these were done. A receipt is done when its ID is."""
        self._done += done
        self._missing += missing(given, done)
        if not self._as_json:
            show.write("".join(f"{show.word(id)}\n" for id in done).encode())

    def end_json(self) -> None:
        """Prints the document, if one was asked for."""
        if self._as_json:
            show.document({self._word: self._done, "missing": self._missing})

    def end(self) -> int:
        """Tells of those that were not done, and gives the exit code."""
        if not self._as_json:
            tell_missing(self._word, self._otherwise, self._missing)
        return exits.DONE if self._done else exits.NOTHING


def missing(given: Iterable[str], found: Iterable[str]) -> list[str]:
    """Those that were given and are not among the IDs found; a receipt is, when its ID is."""
    there = set(found)
    return [id for id in dict.fromkeys(given) if not {id, id.partition("@")[0]} & there]


def tell_missing(word: str, otherwise: str, ids: list[str]) -> None:
    """Says on standard error for which something was not done."""
    if ids:
        exits.tell(f"not {word}, since {otherwise}: {_listed(ids)}")


def _listed(ids: list[str], most: int = 5) -> str:
    return ", ".join(ids[:most]) + (f" and {len(ids) - most:,} more" if len(ids) > most else "")
