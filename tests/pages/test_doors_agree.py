"""Every analysis has the same numbers at every door: page, command, notebook and file, digit by digit."""

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.texts.panels import JUDGES, RATERS, labels, write_csv
from streamlit.testing.v1 import AppTest

from core.analyses import ANALYSES, Registered, analysis
from core.analyses.corrected import ALL_ROWS
from core.cli import main
from core.errors import InputError
from core.notebook.result import Result
from core.report import ENDINGS
from core.schema.analysis import Answer
from core.schema.settings import fields_of, parameter_word
from core.store import Store
from core.store.kept import keep_file

TOY = "leniency"
EACH = [*(name for name in ANALYSES if analysis(name).takes in (("panel",), ("people",))), TOY]
"""Those that read a file of ratings; tests/pages/test_votes_doors.py has what takes a study and scores."""
WIDGETS = ("number_input", "selectbox", "text_input", "checkbox")


def of_people(name: str) -> bool:
    """Whether an analysis takes raters alone."""
    return analysis(name).takes == ("people",)


def judges_of(name: str) -> tuple[str, ...]:
    """The judges that an analysis is asked about."""
    return () if of_people(name) else JUDGES[:1] if analysis(name).one_judge else JUDGES


def named(name: str) -> tuple[str, ...]:
    """The options of its command that say who is who."""
    judges = judges_of(name)
    return ("--human", ",".join(RATERS), *(("--judge", ",".join(judges)) if judges else ()))


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the toy as its author would: one line."""
    line = Registered("helpers.toys.analysis", "does a judge give more than people do?")
    monkeypatch.setitem(ANALYSES, TOY, line)


@pytest.fixture
def panel_file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "labels.csv", labels())


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The functions of all analyses, as the script writes them."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "scripts"))
    import analyses_reference

    module = ModuleType("declared")
    exec(analyses_reference.functions(), module.__dict__)
    return module


def in_a_function(functions: ModuleType, name: str, panel_file: Path) -> Result:
    judges = {} if of_people(name) else {"judge": judges_of(name)}
    found: Result = getattr(functions, analysis(name).function)(panel_file, human=RATERS, **judges)
    return found


def by_commands(name: str, panel_file: Path) -> Iterator[tuple[str, bytes]]:
    """The CSV of every table of the result, each by a command of its own."""
    out = panel_file.parent / "out.csv"
    for table in Answer(analysis(name), analysis(name).Options(), _result(name, panel_file)).tables:
        main([name, str(panel_file), *named(name), "--table", table, "--out", str(out)])
        yield table, out.read_bytes()


def page() -> None:
    import streamlit as st

    from core.analyses import analysis
    from core.formats.panel import read_panel
    from pages.widgets import messages
    from pages.widgets.analysis import Data, render

    path, name, who = st.session_state["asked"]
    with messages.mistakes_shown():
        render(
            analysis(name),
            lambda: [Data((str(path),), lambda: read_panel(path.read_bytes(), path.name, **who))],
        )


def who_is_who(name: str) -> dict[str, Any]:
    """Keywords of `read_panel`."""
    judges: dict[str, Any] = (
        {"people_alone": True, "find": True} if of_people(name) else {"judges": [*judges_of(name)]}
    )
    return {"human": [*RATERS], **judges}


def on_the_page(name: str, panel_file: Path) -> AppTest:
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["asked"] = (panel_file, name, who_is_who(name))
    at.run()
    assert not at.exception
    return at


@pytest.mark.parametrize("name", EACH)
@pytest.mark.usefixtures("store", "cookies")
def test_page_command_and_function_agree(
    name: str, panel_file: Path, functions: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    taken = tables_taken(monkeypatch)
    at = on_the_page(name, panel_file)
    commanded = dict(by_commands(name, panel_file))
    assert as_csv(taken) == commanded
    capfd.readouterr()
    main([name, str(panel_file), *named(name), "--json"])
    as_json = json.loads(capfd.readouterr().out)
    found = in_a_function(functions, name, panel_file)
    assert json.loads(json.dumps(found.json)) == as_json
    assert found.names == list(commanded)
    for table, wanted in commanded.items():
        out = panel_file.parent / "of-function.csv"
        found[table].write(out)
        assert out.read_bytes() == wanted
    shown = [one.value.replace("\\", "").strip("*") for one in at.markdown]
    assert [one for one in found.sentences if one not in shown] == []
    assert len(at.get("plotly_chart")) == len(analysis(name).figures(_result(name, panel_file)))


def _result(name: str, panel_file: Path) -> Any:
    from core.formats.panel import read_panel

    found = analysis(name)
    panel = read_panel(panel_file.read_bytes(), panel_file.name, **who_is_who(name))
    return found.answer(found.Options(), panel).result


@pytest.mark.parametrize("name", EACH)
def test_every_format_holds_the_verdict_or_the_numbers(
    name: str, panel_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status = main([name, str(panel_file), *named(name)])
    printed = capfd.readouterr().out.splitlines()
    found = analysis(name)
    answer = Answer(found, found.Options(), _result(name, panel_file))
    verdicts = answer.verdicts
    assert printed[: len(verdicts)] == [one.sentence for one in verdicts]
    assert status == answer.status
    assert {one.code for one in verdicts} <= found.codes.keys()
    written = {}
    for ending in ENDINGS:
        out = panel_file.parent / f"out{ending}"
        main([name, str(panel_file), *named(name), "--out", str(out)])
        written[ending] = out.read_text("utf-8")
    rows = [str(row[0]) for table in answer.printed for row in table.rows]
    assert {*rows} & {*JUDGES, *RATERS, "s0"}  # judges, raters or systems
    named_rows = {str(row[0]) for row in answer.tables[name].rows} - {
        ALL_ROWS
    }  # in JSON all rows are the object itself
    assert all(row in text for row in named_rows for text in written.values())
    assert "\\toprule" in written[".tex"]
    assert written[".md"].count("\n| ") >= len(found.tables)


@pytest.mark.parametrize("name", EACH)
def test_every_option_is_at_every_door(
    name: str, panel_file: Path, functions: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    found = analysis(name)
    with pytest.raises(SystemExit):
        main([name, "--help"])
    told = capsys.readouterr().out
    assert "docs/results.md" in told
    parameters = inspect.signature(getattr(functions, found.function)).parameters
    for field in fields_of(found.Options).values():
        assert f" {field.option} " in told
        assert parameters[parameter_word(field, None)].default == field.default


@pytest.mark.parametrize("name", EACH)
@pytest.mark.usefixtures("store", "cookies")
def test_every_option_is_on_the_page_with_the_default_of_the_command(name: str, panel_file: Path) -> None:
    at = on_the_page(name, panel_file)
    shown = {one.key: one.value for kind in WIDGETS for one in at.get(kind)}
    prefix = analysis(name).function
    for field in fields_of(analysis(name).Options).values():
        value = shown[f"{prefix}_{field.name}"]
        wanted = field.typed(field.default) if field.shape == "list" else field.default
        assert value == wanted, field.name


@pytest.mark.usefixtures("store", "cookies")
def test_a_mistake_is_named_as_each_door_names_it(
    panel_file: Path, functions: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([TOY, str(panel_file), *named(TOY), "--margin", "0", "--excluded", "1,x"]) == 2
    told = capsys.readouterr().err
    assert "--margin: 0 is not above 0 and at most 10" in told
    assert "--excluded: 'x'" in told
    with pytest.raises(InputError) as refused:
        functions.leniency(panel_file, human=RATERS, judge=JUDGES, margin=0, excluded=["x"])
    assert "margin: 0" in str(refused.value)
    assert "excluded: 'x'" in str(refused.value)
    at = on_the_page(TOY, panel_file)
    at.text_input(key="leniency_excluded").set_value("1, x").run()
    assert not at.exception
    assert [one.value.partition(":")[0] for one in at.code] == ["Excluded scores"]


@pytest.mark.usefixtures("cookies")
def test_the_page_of_judges_beside_people_has_a_tab_for_each(store: Store) -> None:
    rows = [
        {
            "item": one["item"],
            "system": one["system"],
            "rater": rater,
            "dimension": "good",
            "score": one[rater],
        }
        for one in labels()
        for rater in RATERS
        if one[rater] != ""
    ]
    keep_file(store, "ratings", "people.jsonl", "\n".join(map(json.dumps, rows)).encode(), {})
    scores = "item,system,gpt\n" + "".join(
        f"{one['item']},{one['system']},{one['gpt']}\n" for one in labels()
    )
    judge = keep_file(store, "scores", "judge.csv", scores.encode(), {}).file_id
    for name in EACH:
        at = AppTest.from_function(_calibration, default_timeout=60)
        at.session_state["calibration_judges"] = [("file", judge)]
        at.session_state["calibration_part"] = analysis(name).title
        at.run()
        assert not at.exception
        assert f"{analysis(name).function}_{next(iter(fields_of(analysis(name).Options)))}" in {one.key for kind in WIDGETS for one in at.get(kind)}  # fmt: skip


@pytest.mark.usefixtures("cookies")
def test_without_a_judge_the_page_asks_what_needs_none(store: Store) -> None:
    rows = [
        {"item": f"q{at}", "rater": rater, "dimension": "good", "score": (at + (at % 5 == place)) % 5}
        for at in range(30)
        for place, rater in enumerate((*RATERS, "gpt-4o"))
    ]
    keep_file(store, "ratings", "people.jsonl", "\n".join(map(json.dumps, rows)).encode(), {})
    at = AppTest.from_function(_calibration, default_timeout=60)
    at.session_state["calibration_judges"] = []
    at.run()
    assert not at.exception
    assert not at.tabs
    (table,) = [one.value for one in at.table if "share rated" in one.value.columns]
    assert table.iloc[:, 0].tolist() == [*RATERS], "gpt-4o is no rater"


def _calibration() -> None:
    from pages import calibration

    calibration.render()


def test_documents_describe_the_toy(functions: ModuleType) -> None:
    import analyses_reference

    text = analyses_reference.results().partition("\n## Leniency\n")[2]
    for needed in (
        "`--margin`",
        "assay.leniency",
        "`judges.*.difference`",
        "| `lenient` |",
        "- `not-lenient`",
    ):
        assert needed in text
    assert "leniency" in functions.__all__


def test_numbers_of_numpy_are_numbers(panel_file: Path, functions: ModuleType) -> None:
    import numpy as np

    found = functions.leniency(
        panel_file, human=RATERS, judge="gpt", margin=np.float64(2), excluded=np.array([9.0])
    )
    assert found.json["margin"] == 2
    assert isinstance(found.frame, pd.DataFrame)
