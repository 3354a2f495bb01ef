"""How the command ends: its exit codes, and the line that says what went wrong."""

import errno
import os
import sys
import traceback
from typing import TypeGuard

import click

from reliableq.errors import (
    Duplicate,
    Error,
    InvalidArgument,
    InvalidDump,
    InvalidType,
    Missing,
    NotHeld,
    Unavailable,
    UnsupportedURL,
)

DONE = 0
NOTHING = 1
"""Nothing was found, or not all was done; no error."""
USAGE = 2
UNREACHABLE = 3
FAILED = 4
DEFECT = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
"""What a shell shows for a program that SIGPIPE ended."""

HELP = """\b
Exit codes:
  0    done
  1    nothing found, or nothing done: no message to pop, none acknowledged,
       a --unique token that is taken, something lost in a repair
  2    wrong usage
  3    the place that the URL names can't be reached,
       or its file does not exist
  4    it refused, or something else failed; the message says what
  70   a defect of this program
  130  interrupted with Ctrl-C
  141  whoever reads the output has ended
"""

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

WORDS = (
    ('resume("push")', "`reliableq resume QUEUE push`"),
    ("without unique=True, push() returns", "without --unique, push prints"),
    ("recover()", "`reliableq recover`"),
    ('"memory:" for queues of this connection alone, "memory:name" for queues shared in this process, ', ""),
    (", or None for the end of the queue", ""),
    ("setup()", "`reliableq setup QUEUE`"),
)
"""What remedies say to programs, and what they say here."""

DEBUG = "RELIABLEQ_DEBUG"
"""The environment variable that asks for tracebacks."""


class Failure(click.ClickException):
    """What a subcommand could not do, for a reason outside of the package."""

    exit_code = FAILED


def report(error: BaseException) -> int:
    """Tells of an error on standard error, in one line, and returns the exit code."""
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):
        _forget_output()
        return BROKEN_PIPE
    if _is_of_output(error):
        _forget_output()
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return INTERRUPTED
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
    else:
        tell(_line(error))
    return _code(error)


def tell(line: str) -> None:
    """Writes a line to standard error, where people look and pipes don't."""
    click.echo(f"reliableq: {' '.join(line.split())}", err=True)


def _line(error: BaseException) -> str:
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "reliableq"
        return f"{error.format_message().rstrip('.?')}; see `{path} --help`"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, Error):
        return _said_here(str(error))
    if _is_of_output(error):
        return f"could not write to standard output: {error.strerror}"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return f"a defect, {type(error).__name__}: {error}; set {DEBUG}=1 to see where, and report it"


def _said_here(text: str) -> str:
    for of_python, here in WORDS:
        text = text.replace(of_python, here)
    return text


def _code(error: BaseException) -> int:
    if isinstance(error, click.ClickException):
        return error.exit_code
    if isinstance(error, Duplicate | NotHeld):
        return NOTHING
    if isinstance(error, Unavailable | Missing):
        return UNREACHABLE
    if isinstance(error, InvalidArgument | InvalidType | UnsupportedURL) and not isinstance(error, InvalidDump):
        return USAGE
    return FAILED if isinstance(error, Error | OSError) else DEFECT


def _is_of_output(error: BaseException) -> TypeGuard[OSError]:
    """Whether there is no room for what is printed. Where a file has none, the error names it."""
    return isinstance(error, OSError) and error.errno in NO_ROOM and not error.filename


def _forget_output() -> None:
    """Lets the interpreter flush what is left to nowhere when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
