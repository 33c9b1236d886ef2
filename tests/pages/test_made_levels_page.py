"""Are the levels right? On a generation run before and after a judge has scored it, and on the judge's own page."""

import re
from pathlib import Path

import pytest
from helpers.pages import judges_visit
from helpers.pages.generate_visit import made, press, questions, said, visit
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.texts.judge_runs import worked

import assay
from core.cli import main
from core.runs.asked import ask
from core.runs.generation import texts_of_run
from core.runs.jobs import RunAtHand
from core.runs.judging.levels import scored_by
from core.runs.kinds import KINDS
from core.runs.path import create
from core.store import Store
from pages.widgets import run_panel

TAB = "Are the levels right?"

pytestmark = pytest.mark.usefixtures("cookies")


def judged(run: RunAtHand) -> RunAtHand:
    asked, running = ask(KINDS["claims"], {}, {"backend": "rules"}, {})
    return worked(create(run.store, *texts_of_run(run), asked, running)[0])


def test_one_press_starts_the_claims_judge_by_rules(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(store)
    started = []
    monkeypatch.setattr(run_panel, "start", lambda one: started.append(one.run_id))
    at = visit(run, TAB)
    assert "which items to remake" in said(at)
    press(at, "Check by rules")
    (judge,) = scored_by(store, run.run, texts_of_run(run)[0])
    assert started == [judge.run_id]
    assert (judge.kind, judge.n_items) == ("claims", 14)


def test_the_verdict_stands_first_and_names_what_to_remake(store: Store) -> None:
    run = made(store)
    judged(run)
    at = visit(run, TAB)
    text = said(at)
    assert re.search(r"9 of 14 items have levels as claimed\. Remake 3: item d03, level A3", text)
    assert "Core fact: from the run's stored steps" in text
    at.number_input(key="made_levels_longer").set_value(0.01)
    at.run()
    assert "9 of 14 items" not in said(at)


def test_a_clean_run_says_so(store: Store) -> None:
    row = {
        "item_id": "m",
        "question": "When was the mill built?",
        "reference": "The mill was built in 1543 near Delft. It burned down on 3 May 1711. About 240 people worked there. "
        "Jan Vermeer drew it in 1660.",
    }
    run = made(store, questions(row))
    judged(run)
    assert "1 of 1 items have levels as claimed." in said(visit(run, TAB))


def test_the_judge_s_page_has_the_same_verdict(store: Store) -> None:
    judge = judged(made(store))
    at = judges_visit.visit(("run", judge.run.run_id), "Levels")
    assert "9 of 14 items have levels as claimed." in said(at)


def test_page_command_and_function_have_the_same_tables(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    judge = judged(made(store))
    taken = tables_taken(monkeypatch)
    judges_visit.visit(("run", judge.run.run_id), "Levels")
    on_page = as_csv(taken)
    assert {"made-levels", "levels-made", "items-made"} <= on_page.keys()
    monkeypatch.setenv("ASSAY_DB", str(store.path))
    run, out = f"run:{judge.run.run_id}", tmp_path / "out.csv"
    found = assay.made_levels(run)
    for name in found.names:
        assert main(["report", "levels", run, "--table", name, "--out", str(out)]) == 0
        assert on_page[name] == out.read_bytes()
        found[name].write(out)
        assert on_page[name] == out.read_bytes()


def test_the_file_of_items_to_remake_is_a_file_for_generate(store: Store, tmp_path: Path) -> None:
    from core.analyses.made_levels import ANALYSIS, MadeOptions
    from core.formats.registry import read_questions
    from core.results.judges.made_levels import scored_levels
    from core.runs.judging.levels import made_of_run, questions_csv
    from core.runs.scoring import score_table

    judge = judged(made(store))
    known = made_of_run(judge)
    found = ANALYSIS.answer(MadeOptions(n_resamples=0), scored_levels(score_table(judge), known)).result
    again = read_questions(questions_csv(found.remake_items, known), "remake.csv")
    assert [one.item.item_id for one in again.materials] == ["d03", "d07", "d11"]
    assert all(one.paraphrase for one in again.materials)


def test_a_new_study_says_whether_its_levels_were_checked(store: Store) -> None:
    from streamlit.testing.v1 import AppTest

    def page() -> None:
        from pathlib import Path

        from core.formats.study.files import read_dataset
        from pages.studies.importing import say_checked
        from pages.widgets import visitor

        with visitor.admin_store() as store:
            demo = Path("data/demo/answers.csv")
            say_checked(store, read_dataset(demo.read_bytes(), demo.name))

    at = AppTest.from_function(page, default_timeout=30)
    assert "No claims judge has checked the levels of this file" in said(at.run())
    asked, running = ask(KINDS["claims"], {}, {"backend": "rules"}, {})
    demo = Path("data/demo/answers.csv")
    run, _ = create(store, demo.read_bytes(), demo.name, asked, running)
    assert f"Run {run.run.run_id} (claims-rules) checks the levels of this file." in said(at.run())
