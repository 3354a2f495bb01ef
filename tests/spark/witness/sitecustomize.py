"""Imported at its start by each Python that has this folder on its path: notes from which file it loads the package's
extension, so that a test sees from outside what Spark's processes used."""

import os
import sys
from typing import Any


def note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "import" and arguments[0] == "reliableq._native" and arguments[1]:
        with open(os.path.join(os.environ["RELIABLEQ_WITNESS"], str(os.getpid())), "a") as notes:
            notes.write(os.path.abspath(arguments[1]) + "\n")


sys.addaudithook(note)
