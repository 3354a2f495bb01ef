"""docs/python.md: its snippets print what it shows, and it leaves nothing out."""

import contextlib
import inspect
import io
import re
from typing import Any

import pytest
import reliableq

from tests.support.server import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text()
SNIPPETS = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_snippets_print_what_the_page_shows() -> None:
    """One after the other, as a reader would type them."""
    assert len(SNIPPETS) == PAGE.count("```python") == PAGE.count("```text") > 5
    names: dict[str, Any] = {"__name__": "page"}
    for program, shown in SNIPPETS:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(program, names)
        assert printed.getvalue() == shown, program


def test_every_error_has_a_line_with_its_families() -> None:
    errors = [kind for _, kind in inspect.getmembers(reliableq, inspect.isclass) if issubclass(kind, reliableq.Error)]
    assert len(errors) > 5
    for error in set(errors) - {reliableq.Error}:
        also = [f"`{base.__name__}` " for base in error.__bases__ if base is not reliableq.Error]
        assert f"| `{error.__name__}` | {''.join(also)}| " in PAGE, error


def test_every_field_of_info_is_told() -> None:
    for field in reliableq.Info.__annotations__:
        assert re.search(rf"^\|.*`{field}`.* \|", PAGE, re.MULTILINE), field


def public(kind: type) -> dict[str, Any]:
    return {name: member for name, member in vars(kind).items() if not name.startswith("_")}


@pytest.mark.parametrize("kind", [reliableq.Connection, reliableq.Queue, reliableq.Message])
def test_every_member_is_told(kind: type) -> None:
    for name in public(kind):
        assert re.search(rf"\b{name}(\(|`)", PAGE), name


def test_every_setting_is_told() -> None:
    for field in reliableq.Settings.__annotations__:
        assert re.search(rf"^\|.*`{field}`.* \|", PAGE, re.MULTILINE), field


def test_every_argument_is_told_with_its_default() -> None:
    """Those of push() and pop(), which are native, are those of what they pass options on to."""
    native = {"push": reliableq.Queue._push_with, "pop": reliableq.Queue._pop_with}
    for name, method in (public(reliableq.Queue) | native).items():
        if not inspect.isfunction(method):
            continue
        for parameter in list(inspect.signature(method).parameters.values())[1:]:
            told = parameter.name
            if parameter.default is not parameter.empty:
                told += f'="{parameter.default}"' if isinstance(parameter.default, str) else f"={parameter.default}"
            pattern = rf"^\| .*`{name}\([^`]*(?<!\w){re.escape(told)}(?!\w)"
            assert re.search(pattern, PAGE, re.MULTILINE), f"{name}({told})"
