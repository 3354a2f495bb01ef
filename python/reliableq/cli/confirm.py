"""Asking before something is lost."""

import sys

import click

yes = click.option("--yes", "-y", is_flag=True, help="Don't ask.")


def confirmed(question: str, yes: bool) -> bool:
    """Whether it is to be done. Where nobody can be asked, --yes must say so."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Nobody can be asked here: give --yes")
    return click.confirm(question, err=True)
