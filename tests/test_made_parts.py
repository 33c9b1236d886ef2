"""A judge, a family of metrics, a format and an analysis, made as CONTRIBUTING.md says, break no test.

The toys of helpers/toys are put into a copy of the tree, and the tests that look at the registries run there. One that
knows the kinds, metrics or formats of today by heart fails here.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes.tree_copy import copy_of_the_tree

LINES = (
    ("core/runs/kinds.py", "    rubric,\n", "    toy,\n"),
    ("core/runs/kinds.py", "        twins.KIND,\n", "        toy.KIND,\n"),
    ("core/metrics/lexical/scorer.py", "meteor, rouge, ter", ", toy"),
    ("core/metrics/lexical/scorer.py", "ter.FAMILY", ", toy.FAMILY"),
    ("core/formats/scores.py", '    ("nli", "NLI"),\n', '    ("toy", "Toy"),\n'),
    ("core/formats/registry.py", "    scores,\n", "    toy,\n"),
    ("core/formats/registry.py", "        wmt_qe.FORMAT,\n", "        toy.FORMAT,\n"),
    (
        "core/analyses/__init__.py",
        "ANALYSES: dict[str, Registered] = {\n",
        '    "leniency": Registered("core.analyses.leniency", "does a judge give more than people do?"),\n',
    ),
)
"""File, what is there, and what is written after it."""
PARAGRAPHS = {
    "docs/judges.md": "The toy counts words that the reference has:\n\n```sh\npython -m core judge toy a.csv --out toy\n```\n",
    "docs/metrics.md": "`toy-variety-1` and `toy-variety-2` count different sequences of words.\n",
    "docs/formats.md": "A file of the toy has blocks of lines `KEY = VALUE`.\n",
}
TOYS = {
    "judge": "judges/toy.py",
    "family": "metrics/lexical/toy.py",
    "format": "formats/toy.py",
    "analysis": "analyses/leniency.py",
}
"""Toy -> where its maker would put it."""
LOOKING_AT_REGISTRIES = (
    "tests/analyses",
    "tests/pages/test_doors_agree.py",
    "tests/notebook/test_python_document.py",
    "tests/test_house.py::test_no_kind_is_spelled_out_outside_its_own_file",
    "tests/test_house.py::test_modules_that_share_a_first_word_have_a_folder",
    "tests/test_documents.py",
    "tests/test_settings_reference.py",
    "tests/metrics/test_registry.py",
    "tests/formats/test_logs.py",
    "tests/formats/test_mapping.py",
    "tests/cli/test_setting_options.py",
    "tests/runs/test_asked.py",
    "tests/runs/test_path.py",
    "tests/runs/test_records.py",
    "tests/runs/test_judge_in_one_file.py",
    "tests/pages/test_judges_page.py::test_without_any_run_the_page_shows_the_form",
)


def written_after(path: Path, there: str, new: str) -> None:
    """Add to a registry."""
    text = path.read_text("utf-8")
    assert text.count(there) == 1, f"{path} has {there!r} {text.count(there)} times"
    path.write_text(text.replace(there, there + new), "utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = copy_of_the_tree(tmp_path_factory.mktemp("made") / "assay")
    for toy, place in TOYS.items():
        text = (tree / "tests" / "helpers" / "toys" / f"{toy}.py").read_text("utf-8")
        (tree / "core" / place).write_text(text, "utf-8")
    for file, there, new in LINES:
        written_after(tree / file, there, new)
    for file, paragraph in PARAGRAPHS.items():
        with (tree / file).open("a", encoding="utf-8") as document:
            document.write(f"\n## Toy\n\n{paragraph}")
    ran(tree, "scripts/settings_reference.py")
    ran(tree, "scripts/analyses_reference.py")
    return tree


def ran(tree: Path, *words: str) -> str:
    """Run Python in the copy, and return what it printed."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "ASSAY_"))
    }
    done = subprocess.run(
        [sys.executable, *words], cwd=tree, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_the_tests_that_look_at_registries_pass(tree: Path) -> None:
    """In the copy alone: the package comes from its folder."""
    ran(
        tree,
        "-m",
        "pytest",
        *LOOKING_AT_REGISTRIES,
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    )


@pytest.mark.slow
def test_layers_and_lint_hold(tree: Path) -> None:
    ran(tree, "-m", "ruff", "check", "core")
    ran(tree, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache")


@pytest.mark.slow
def test_the_commands_offer_them(tree: Path) -> None:
    assert "toy-variety-2" in ran(tree, "-m", "core", "score", "--list")
    assert "--most-named" in ran(tree, "-m", "core", "judge", "toy", "--help")
    assert "leniency" in ran(tree, "-m", "core", "--help")
    assert "Does a judge give more" in ran(tree, "-c", "import assay; print(assay.leniency.__doc__)")
    (tree / "texts.toy").write_text("id = 1\noutput = a b\nref = a b c d\n", "utf-8")
    ran(
        tree,
        "-m",
        "core",
        "score",
        "texts.toy",
        "--metrics",
        "toy-variety-1",
        "--out",
        "scores.csv",
        "--db",
        "a.db",
    )
    assert ",0.5," in (tree / "scores.csv").read_text("utf-8")
