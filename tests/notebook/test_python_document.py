"""docs/python.md, README and the docstrings agree with the functions, and their examples run."""

import doctest
import inspect
import re
import shlex
from pathlib import Path

import pytest

import assay
from core.cli import Later, parser
from core.notebook import declared

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
RESULTS = (ROOT / "docs" / "results.md").read_text("utf-8")
DOCUMENT = (ROOT / "docs" / "python.md").read_text("utf-8")
FUNCTIONS = [name for name in assay.__all__ if inspect.isfunction(getattr(assay, name))]
TABLE = dict(re.findall(r"^\| `(\w+)\(.*?\)` \| (.+?) \|", DOCUMENT, flags=re.MULTILINE))
"""Function -> its command, as the document's table has them."""


def test_the_document_lists_every_function() -> None:
    assert list(TABLE) == sorted(TABLE, key=[*TABLE].index)
    assert set(TABLE) == set(FUNCTIONS) - set(declared.__all__)
    for name in declared.__all__:
        assert f"`assay.{name}(" in RESULTS
    for name in set(assay.__all__) - set(FUNCTIONS):
        assert f"assay.{name}" in DOCUMENT


@pytest.mark.parametrize("command", [one for one in TABLE.values() if one.startswith("`")])
def test_its_commands_exist(command: str) -> None:
    noun, *words = shlex.split(command.strip("`"))
    top = next(action for action in parser()._actions if isinstance(action, Later))
    top.load(noun)
    found = top.choices[noun]
    if words and not words[0].startswith("-"):
        verbs = next(action for action in found._actions if action.dest == "verb")
        if isinstance(verbs, Later):
            verbs.load(words[0])
        found = verbs.choices[words.pop(0)]  # type: ignore[index, call-overload]  # verbs by name
    options = {name for action in found._actions for name in action.option_strings}
    assert {word for word in words if word.startswith("--")} <= options


@pytest.mark.parametrize("name", [*FUNCTIONS, "Result"])
def test_the_example_of_a_docstring_runs(
    name: str, demo_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("ASSAY_DB", str(demo_database))
    documented = getattr(assay, name)
    found = doctest.DocTestFinder(recurse=False).find(
        documented, name, globs={"demo_database": demo_database}
    )
    assert sum(len(one.examples) for one in found) > 1, "it has an example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    failed = [one for one in found if runner.run(one).failed]
    assert not failed


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_has_all_sections_and_all_parameters(name: str) -> None:
    function = getattr(assay, name)
    text = inspect.getdoc(function) or ""
    sections = [
        one for one in ("Parameters", "Returns", "Raises", "Notes", "Examples") if f"\n{one}\n---" in text
    ]
    parameters = list(inspect.signature(function).parameters)
    if not parameters:
        assert sections == ["Returns", "Examples"]
        return
    assert {"Parameters", "Returns", "Raises", "Examples"} <= set(sections)
    assert "Notes" not in sections or "\nMisleads: " in text
    listed = text.partition("\nParameters\n")[2].partition("\nReturns\n")[0]
    named = [
        part for line in re.findall(r"^(\w.*)$", listed, flags=re.MULTILINE) for part in line.split(", ")
    ]
    assert [one for one in named if one.strip("-")] == parameters


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_readmes_lines_give_readmes_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    (lines,) = blocks(README, "python")
    assert lines in blocks(DOCUMENT, "python")
    assert len([line for line in lines.splitlines() if line]) == 5
    names: dict[str, object] = {}
    exec(lines, names)
    shown, _, meta = blocks(README.partition("\n## Which metric")[2].partition("\n## ")[0], "text")
    assert capsys.readouterr().out == meta
    printed = [line.split() for line in repr(names["followed"]).splitlines()]
    for line in shown.splitlines():
        assert line.split() in printed
