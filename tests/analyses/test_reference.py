"""What is written from the declarations of analyses is what they say, and asking for help loads none of them."""

import importlib
import json
import subprocess
import sys
import typing
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from core.analyses import ANALYSES, analysis, commands_of
from core.analyses.alt_test import ALIGNMENTS, EPSILONS, MOST_ITEMS
from core.schema.analysis import Analysis, Answer, Verdict
from core.schema.rows import row_fields
from core.schema.settings import fields_of
from core.stats import alt_test as stats

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("analyses_reference")


def test_functions_and_document_are_those_of_the_declarations(script: ModuleType) -> None:
    """`python scripts/analyses_reference.py` would write the very files that are there."""
    written = "run python scripts/analyses_reference.py"
    assert script.FUNCTIONS.read_text("utf-8") == script.functions(), written
    assert script.RESULTS.read_text("utf-8") == script.results(), written


@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_is_whole(name: str) -> None:
    found = analysis(name)
    assert found.name == name
    assert len({table.name for table in found.tables}) == len(found.tables)
    assert all(each.about for table in found.tables for each in row_fields(table.row))
    assert not found.codes or "undefined" in found.codes
    assert found.question.endswith("?")
    named = [each.option for kind in found.problem_fields() for each in fields_of(kind).values()]
    assert len(set(named)) == len(named), "an option of the analysis has the name of one of its data"
    for section in {found.section, *(table.section for table in found.tables)} - {""}:
        document, _, heading = section.partition("#")
        headings = [
            line.strip("# ?").lower().replace(" ", "-").replace("'", "")
            for line in (ROOT / "docs" / f"{document}.md").read_text("utf-8").splitlines()
            if line.startswith("#")
        ]
        assert heading in headings, section


def test_an_analysis_takes_no_name_of_another_command_or_function() -> None:
    import assay
    from core.cli import _NOUNS

    assert not commands_of("").keys() & _NOUNS.keys()
    for noun in {one.noun for one in ANALYSES.values()}:
        commands = [one.verb or name for name, one in ANALYSES.items() if one.noun == noun]
        assert len(set(commands)) == len(commands)
    assert len(set(assay.__all__)) == len(assay.__all__)


def loaded(code: str) -> Iterator[str]:
    """The modules that a process of its own has loaded after this code."""
    told = f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", told], cwd=ROOT, check=True, capture_output=True, text=True)
    yield from json.loads(done.stdout.splitlines()[-1])


def test_help_loads_the_register_and_no_analysis() -> None:
    asked = "import contextlib, io\nfrom core.cli import main\nwith contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n    main(['--help'])"
    found = list(loaded(asked))
    ours = [name for name in found if name.partition(".")[0] == "core"]
    assert ours == ["core", "core.analyses", "core.cli", "core.errors", "core.installation"]
    assert not {"pydantic", "numpy", "pandas", "scipy"} & set(found)


def test_a_declaration_loads_the_schema_alone() -> None:
    found = list(loaded("\n".join(f"import {one.module}" for one in ANALYSES.values())))
    ours = {name for name in found if name.startswith("core.")}
    assert {name for name in ours if not name.startswith(("core.schema", "core.analyses"))} == {"core.errors"}
    assert not {"numpy", "pandas", "scipy"} & set(found)


def test_the_words_of_the_alt_test_are_those_of_its_statistics() -> None:
    """Its declaration loads no statistics, so it repeats what they offer."""
    fields = fields_of(analysis("alt-test").Options)
    assert fields["alignment"].choices == typing.get_args(stats.Alignment) == tuple(ALIGNMENTS)
    assert fields["epsilon"].default in EPSILONS.values()
    assert fields["items"].highest == MOST_ITEMS == stats.MOST_ITEMS


def test_a_toy_is_an_analysis_too() -> None:
    from helpers.toys.analysis import ANALYSIS

    assert isinstance(ANALYSIS, Analysis)
    assert ANALYSIS.problem_fields()[0] is ANALYSIS.Options


@pytest.mark.parametrize(("statuses", "status"), [((), 0), ((0, 0), 0), ((0, 4), 4), ((4, 3, 0), 3)])
def test_the_gravest_verdict_is_the_exit_status(statuses: tuple[int, ...], status: int) -> None:
    from helpers.toys.analysis import ANALYSIS, LeniencyOptions

    verdicts = tuple(Verdict("lenient", "", each) for each in statuses)
    toy = replace(ANALYSIS, verdicts=lambda _: verdicts)
    assert Answer(toy, LeniencyOptions(), None).status == status
