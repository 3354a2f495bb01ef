"""How the parts tell what happens, and how they end when it does not."""

import sys
import textwrap

WIDTH = 72


class Steps:
    """Tells one numbered step after the other."""

    def __init__(self) -> None:
        self._steps = 0

    def tell(self, text: str) -> None:
        """Tells the next step."""
        self._steps += 1
        heading = f"{self._steps}. "
        print("\n" + fill(text, heading), flush=True)


def fill(text: str, heading: str = "") -> str:
    """A text in lines, which begin below its own beginning. Paths and options stay whole."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=heading,
        subsequent_indent=" " * len(heading),
        break_on_hyphens=False,
        break_long_words=False,
    )


def expect(truth: bool, what: str) -> None:
    """Ends the process when what happened is not as told."""
    if not truth:
        sys.exit(f"reliableq.demo: this is not as told: {what}")
