"""What the pages Judges and Specialist offer as CSV is byte for byte what the command writes."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from helpers.models.model_answers import answer
from helpers.pages.judges_visit import answered, by_model, cef, rubric, visit
from helpers.pages.metrics_visit import lines
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.texts.judge_runs import run_to_the_end
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import parrot
from streamlit.testing.v1 import AppTest

from core.analyses.spans import GROUPINGS
from core.cli import main
from core.report import csv_of
from core.runs.judging import judge_output
from core.runs.path import saved_run
from core.store import Store

pytestmark = pytest.mark.usefixtures("cookies")
Written = Callable[..., bytes]
GOOD = "The tower was built in 1889. It is 330 metres tall."
WORSE = "The tower was built in 1889. Nobody knows more."


@pytest.fixture
def written(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """What a command writes as CSV."""
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))

    def run(*words: str, table: str = "") -> bytes:
        out = tmp_path / "out.csv"
        assert main([*words, "--out", str(out), *(["--table", table] if table else [])]) == 0
        return out.read_bytes()

    return run


def given() -> tuple[bytes, str]:
    rows = [
        {"item": item, "system": "s", "level": level, "reference": GOOD, "source": GOOD, "text": text}
        for item in ("1", "2")
        for level, text in (("0", GOOD), ("1", WORSE))
    ]
    return lines(*rows), "texts.jsonl"


def test_judges_compared_with_each_other_and_themselves(
    store: Store, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = by_model(
        store, given(), cef("org/one", reask=True, repeats=2), rubric(order="both", repeats=2)
    )
    taken = tables_taken(monkeypatch)
    visit(("run", one.run_id), "Judges")
    first, second = f"run:{one.run_id}", f"run:{two.run_id}"
    row = dict(
        zip((column.name for column in taken["agreement"].columns), taken["agreement"].rows[0], strict=True)
    )
    names = ("--metrics", f"{row['first']},{row['second']}")
    compare = ("report", "compare", first, second, *names, "--texts", "99")
    visit(("run", one.run_id), "Reliability")
    found = as_csv(taken)
    for table in ("agreement", "two-judges"):
        assert found[table] == written(*compare, table=table), table
    assert found["judge-repeats"] == written("report", "consistency", first)
    assert found["judge-reasked"] == written("reproduce", "cef", "reasked", first)
    assert found["judge-ablation"] == written("reproduce", "cef", "ablation", first)
    visit(("run", two.run_id), "Reliability")
    for table in ("judge-repeats", "judge-orders"):
        assert csv_of(taken[table]) == written("report", "consistency", second, table=table), table
    visit(("run", one.run_id), "Cost")
    assert csv_of(taken["judge-costs"]) == written("report", "costs", first)


def test_models_that_answer_each_others_questions(
    store: Store, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = by_model(store, given(), cef("org/one"), cef("org/two"))
    both = [
        answered(store, runs, "org/one"),
        answered(store, runs, "org/two", lambda body, n: answer(body, n).replace("YES", "NO")),
    ]
    taken = tables_taken(monkeypatch)
    visit(("run", both[0].run_id), "Result", "check")
    names = [f"run:{run.run_id}" for run in reversed(both)]
    assert as_csv(taken)["judge-reliability"] == written("reproduce", "cef", "reliability", *names)


def specialist() -> None:
    from pages import specialist

    specialist.render()


def test_marked_errors(
    store: Store, written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, gold = rated_texts(3), str(tmp_path / "rated.jsonl")
    Path(gold).write_bytes(data)
    one, two = (run_to_the_end(store, parrot(n_examples=n), data, name="rated.jsonl").run for n in (1, 3))
    first, second = f"run:{one.run_id}", f"run:{two.run_id}"
    taken = tables_taken(monkeypatch)
    names = {run.run_id: judge_output(saved_run(store, run)).name for run in (one, two)}
    called = "{run}"  # as the command calls the run
    monkeypatch.setattr(
        "pages.widgets.chosen_judge.short_name",
        lambda run: called.format(run=f"run:{run.run_id}", name=names[run.run_id]),
    )

    def same(tab: str, slot: str, tables: Sequence[str], *words: str) -> None:
        """tables: names on the page."""
        at = AppTest.from_function(specialist, default_timeout=60)
        at.session_state["specialist_chosen"] = one.run_id
        at.session_state["specialist_part_errors"] = tab
        at.session_state[f"specialist_beside_{slot}_{one.run_id}"] = [two.run_id]
        at.run()
        assert not at.exception
        assert not at.error, at.error[0].value
        for table in tables:
            assert csv_of(taken[table]) == written(*words, table=table), table

    many = ("--resamples", "1000")
    grouped = [word for by in GROUPINGS for word in ("--by", by)]
    same("Agreement", "nothing", ["span-agreement"], "spans", gold, first, *grouped)
    several = ["spans-side-by-side", "spans-tests"]
    same("Agreement", "agreement", several, "spans", gold, first, second)
    same("Raters", "raters", ["raters"], "report", "raters", gold)
    called = "{name}"
    same(
        "Copying",
        "copying",
        ["copied-errors", "marked-alone"],
        "reproduce",
        "specialist",
        "copying",
        first,
        second,
    )
    curve = ["examples-curve", "examples-curve-tests"]
    same("Examples", "curve", curve, "reproduce", "specialist", "examples-curve", gold, first, second, *many)
