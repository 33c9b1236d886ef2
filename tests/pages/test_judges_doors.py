"""Reports on judges have the same numbers at every door: page, command and notebook, digit by digit."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.pages.judges_visit import by_model, page, rubric, visit
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.processes.scripted_server import Body
from helpers.texts.prompts_tried import texts, verdict
from streamlit.testing.v1 import AppTest

import assay
from core.analyses import analysis, command_of
from core.cli import main
from core.notebook.result import Result
from core.schema.settings import fields_of, parameter_word
from core.store import Store
from pages.judges import prompts as page_of_prompts

pytestmark = pytest.mark.usefixtures("cookies")

ASKED: dict[str, tuple[tuple[str, ...], Callable[[], Result]]] = {
    "consistency": (("run:1",), lambda: assay.consistency("run:1")),
    "costs": (("run:1",), lambda: assay.costs("run:1")),
    "judge-agreement": (("run:1", "run:2"), lambda: assay.judge_agreement("run:1", "run:2")),
    "prompts": (("run:1", "run:2"), lambda: assay.prompts(["run:1", "run:2"])),
}
TABS = {"consistency": "Reliability", "costs": "Cost", "judge-agreement": "Judges"}


@pytest.fixture
def runs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models' rubric judges with repeats in both orders, on the same texts of known levels."""
    monkeypatch.setenv("ASSAY_DB", str(store.path))

    def answered(body: Body, n: int = 0) -> Any:
        if "<response>" not in str(body["messages"][-1]["content"]):
            return "yes"
        return verdict(body | {"messages": [{"content": body["model"]}, *body["messages"]]}, n)

    judges = (rubric(model=model, order="both", repeats=2) for model in ("SHARP", "DULL"))
    by_model(store, (texts(6), "t.jsonl"), *judges, script=answered)


def visited(name: str) -> AppTest:
    if name in TABS:
        return visit(("run", 1), TABS[name])
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["judges_chosen"] = ("compare", 0)
    at.session_state[page_of_prompts._RUNS] = [1, 2]
    return at.run()


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.usefixtures("runs")
def test_page_command_and_function_agree(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    named, function = ASKED[name]
    found = function()
    taken = tables_taken(monkeypatch)
    at = visited(name)
    assert not at.exception
    on_page = as_csv(taken)
    command = [*command_of(name).split(), *named]
    for table in found.names:
        out = tmp_path / "out.csv"
        assert main([*command, "--table", table, "--out", str(out)]) == 0
        found[table].write(tmp_path / "function.csv")
        assert on_page[table] == out.read_bytes() == (tmp_path / "function.csv").read_bytes(), table
    capfd.readouterr()
    main([*command, "--json"])
    assert json.loads(json.dumps(found.json)) == json.loads(capfd.readouterr().out)
    parameters = inspect.signature(getattr(assay, analysis(name).function)).parameters
    shown = {one.key: one.value for kind in ("number_input", "text_input") for one in at.get(kind)}
    settled = {"metrics"}  # by the menus of columns above
    for field in fields_of(analysis(name).Options).values():
        assert parameters[parameter_word(field, None)].default == field.default
        if field.name not in settled:
            assert shown[f"{analysis(name).function}_{field.name}"] == field.default
