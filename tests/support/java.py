"""A Java that only says its version."""

from pathlib import Path


def make_home(folder: Path, version: str) -> Path:
    """Its home, in this folder."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    program.chmod(0o755)
    return folder
