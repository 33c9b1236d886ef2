"""The page Specialist has the numbers of the commands that compare marked errors and scores with people's, digit by digit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import run_to_the_end
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import parrot, says, specialist
from streamlit.testing.v1 import AppTest

from core.analyses import analysis
from core.cli import main
from core.schema.runs import Run
from core.schema.settings import fields_of
from core.store import Store

pytestmark = pytest.mark.usefixtures("cookies")
WIDGETS = ("number_input", "selectbox", "text_input", "checkbox", "multiselect")


@pytest.fixture
def runs(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Two judges that mark errors, and the file of their texts in this folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(store.path))
    Path("rated.jsonl").write_bytes(rated_texts(4))
    with ScriptedServer(says) as server:
        kinds = (specialist("automqm", server.url), parrot(rater="r3"))
        return [run_to_the_end(store, one, rated_texts(4), name="rated.jsonl").run for one in kinds]


def page() -> None:
    from pages import specialist

    specialist.render()


def looked_at(run: Run, part: str, **chosen: Any) -> AppTest:
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["specialist_chosen"] = run.run_id
    at.session_state["specialist_part_errors"] = part
    for name, value in chosen.items():
        at.session_state[name] = value
    at.run()
    assert not at.exception
    return at


def by_commands(*words: str, tables: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    for table in tables:
        assert main([*words, "--table", table, "--out", "out.csv"]) == 0
        yield table, Path("out.csv").read_bytes()


def test_accuracies_are_those_of_the_command(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    taken = tables_taken(monkeypatch)
    first, second = runs
    chosen = {"acc23_dimension": "overall", "acc23_test": True, "acc23_tie_rounding": True}
    looked_at(first, "Accuracy", **chosen, **{f"specialist_beside_accuracy_{first.run_id}": [second.run_id]})
    words = ("acc23", "rated.jsonl", f"run:{first.run_id}", f"run:{second.run_id}", "--dimension", "overall")
    tables = ("accuracy", "accuracy-tests")
    assert as_csv(taken) == dict(by_commands(*words, "--test", "--tie-rounding", tables=tables))


@pytest.mark.parametrize(
    ("name", "part"), [("acc23", "Accuracy"), ("spans", "Agreement"), ("raters", "Raters")]
)
def test_every_option_is_on_the_page_with_the_default_of_the_command(
    name: str, part: str, runs: list[Run]
) -> None:
    at = looked_at(runs[0], part, **({"acc23_dimension": "overall"} if name == "acc23" else {}))
    shown = {one.key: one.value for kind in WIDGETS for one in at.get(kind)}
    found = analysis(name)
    # The first dimension, and every grouping, is shown until another is chosen.
    asked = {*fields_of(found.Options)} - found.Options().idle("") - {"dimension", "by"}
    for field in asked:
        value, wanted = shown[f"{found.function}_{field}"], fields_of(found.Options)[field].default
        assert (tuple(value) if isinstance(value, list) else value) == wanted, field
