"""An option of an analysis is registered by `add_settings` alone, and a page shows its form and tables by pages/widgets/analysis."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.schema.designs import PairDesign, RatingDesign
from core.schema.settings import fields_of

ROOT = Path(__file__).resolve().parents[1]
CLI, PAGES = ROOT / "core" / "cli", ROOT / "pages"

OUTPUTS = {"--json", "--out", "--table", "--excel", "--db", "--list"}
READING = {
    *(
        "--columns",
        "--data",
        "--direction",
        "--flip",
        "--human",
        "--judge",
        "--language-pair",
        "--leave-out",
        "--ratings",
    ),
    *("--labels", "--lower-is-better", "--references", "--texts"),
}
"""Options that say which data are read, and how."""
NO_ANALYSIS = {
    *(
        "__init__.py",
        "convert.py",
        "generate.py",
        "published.py",
        "score.py",
        "serve/__init__.py",
    ),
    *(
        "judge/in_one_file.py",
        "judge/running.py",
        "shared/run_options.py",
        "shared/setting_options.py",
        "study/__init__.py",
        "study/exports.py",
    ),
    *(
        "runs/batch.py",
        "runs/big_tables.py",
        "runs/calls.py",
        "runs/disk.py",
        "runs/processing.py",
    ),
}
"""Modules of core/cli whose commands ask nothing of numbers: they make, run, keep or convert. core/cli/outputs has options of what is
written beside a result."""
BY_HAND: Mapping[str, set[str]] = {}
"""Module of core/cli -> options of analyses that it registers itself, until these are declared. The list only shrinks."""
OF_SETTINGS = {
    *("shared/dossier.py", "shared/options.py", "shared/sources.py", "shared/sure.py", "shared/switches.py")
}
"""Modules that register a field of settings as it describes itself; `add_settings` is in shared/setting_options.py."""
NO_RESULT = {
    *("operation/disk.py", "operation/spending.py", "operation/working.py", "judges/twins.py"),
    *("metrics/one_text.py", "metrics/scored_texts.py", "metrics/published.py"),
}
"""Modules of pages/ whose tables are no result of an analysis: what runs cost and keep, what an audit made, the scores and ratings
of texts as they are stored, and tables as papers printed them."""
OF_RUNS = {"generate/form.py", "metrics/form.py", "tabs/new_run.py"}
"""Modules of pages/ with the form of a new run."""
OF_STUDIES = {"studies/designing.py", "studies/importing.py"}
"""Modules of pages/ with the form of a study's design."""


def registered(code: ast.AST) -> Iterator[str]:
    """The options that a module registers by `add_argument`, without outputs and what says how data are read."""
    for node in ast.walk(code):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "add_argument"
            and node.args
        ):
            first = node.args[0]
            name = first.value if isinstance(first, ast.Constant) else ast.unparse(first)
            if str(name).startswith("--") or not isinstance(first, ast.Constant):
                yield str(name)


def by_hand() -> dict[str, set[str]]:
    """Module of core/cli -> options of analyses that it registers itself."""
    found: dict[str, set[str]] = {}
    for path in sorted(CLI.rglob("*.py")):
        name = path.relative_to(CLI).as_posix()
        own = set(registered(ast.parse(path.read_text("utf-8")))) - OUTPUTS - READING
        if name in OF_SETTINGS:
            own = {one for one in own if not one.endswith(".option")}
        if own and name not in NO_ANALYSIS and path.parent.name != "outputs":
            found[name] = own
    return found


def calls(code: ast.AST) -> set[str]:
    """What a module calls or hands on, with functions that it imports by the names of their modules: `result_table.show`."""
    names = {
        alias.asname or alias.name: f"{(node.module or '').rpartition('.')[2]}.{alias.name}"
        for node in ast.walk(code)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if not alias.name[:1].isupper()
    }
    called = {
        ast.unparse(one)
        for node in ast.walk(code)
        if isinstance(node, ast.Call)
        for one in (node.func, *node.args, *(keyword.value for keyword in node.keywords))
        if isinstance(one, ast.Name | ast.Attribute)
    }
    return {name if "." in name else names.get(name, name) for name in called}


def pages_that_call(name: str) -> set[str]:
    """The modules of pages/ that call a function, without pages/widgets."""
    found = {path.relative_to(PAGES).as_posix(): path for path in PAGES.rglob("*.py")}
    return {
        module
        for module, path in found.items()
        if not module.startswith("widgets/") and name in calls(ast.parse(path.read_text("utf-8")))
    }


def test_options_of_analyses_are_registered_by_add_settings() -> None:
    """An option that is registered by hand has bounds, a default and a help of its own at every other door."""
    found = by_hand()
    new = {name: sorted(own - BY_HAND.get(name, set())) for name, own in found.items()}
    assert {name: own for name, own in new.items() if own} == {}, "declare them as fields of settings"
    gone = {name: sorted(own - found.get(name, set())) for name, own in BY_HAND.items()}
    assert {name: own for name, own in gone.items() if own} == {}, (
        "take them out of the list: it only shrinks"
    )


def test_options_of_a_design_are_registered_by_add_settings() -> None:
    options = {one.option for model in (PairDesign, RatingDesign) for one in fields_of(model).values()}
    assert len(options) > 15
    for path in (CLI / "study").rglob("*.py"):
        assert options & set(registered(ast.parse(path.read_text("utf-8")))) == set(), path


def test_modules_without_an_analysis_are_there() -> None:
    registering = {
        path.relative_to(CLI).as_posix()
        for path in CLI.rglob("*.py")
        if any(registered(ast.parse(path.read_text("utf-8"))))
    }
    assert NO_ANALYSIS - registering == set()


def test_pages_show_tables_of_analyses_by_the_widget() -> None:
    found = pages_that_call("result_table.show")
    assert sorted(found - NO_RESULT) == [], "show the answer by pages/widgets/analysis"
    assert sorted(NO_RESULT - found) == [], "take them out of the list: it only shrinks"


def test_pages_show_forms_of_analyses_by_the_widget() -> None:
    assert pages_that_call("settings_form.render") == OF_RUNS | OF_STUDIES


def test_what_is_done_by_hand_is_seen() -> None:
    code = ast.parse(
        "from pages.widgets.result_table import show as shown\n"
        "command.add_argument('file')\ncommand.add_argument('--margin', type=float)\n"
        "shown(table)\nst.write(x)\n"
    )
    assert list(registered(code)) == ["--margin"]
    assert "result_table.show" in calls(code)
    handed_on = ast.parse(
        "from pages.widgets import result_table\n_show = partial(result_table.show, titled=False)\n"
    )
    assert "result_table.show" in calls(handed_on)
