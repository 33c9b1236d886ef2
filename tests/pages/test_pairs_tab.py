"""Tab Pairs of a judge that compares pairs: before and after the study is unblinded, and the ways to it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.pages import study_visit
from helpers.pages.generate_visit import html_of
from helpers.pages.judges_visit import visit
from helpers.pages.tables_taken import as_csv, tables_taken
from helpers.processes.scripted_server import Body
from helpers.texts import factories
from helpers.texts.judge_runs import judging_server, run_to_the_end, settings
from streamlit.testing.v1 import AppTest

import assay
from core.analyses.made_levels import ANALYSIS as MADE_LEVELS
from core.cli import main
from core.errors import InputError
from core.results.judges.made_levels import Made, scored_levels, unfit_for_levels
from core.runs import path
from core.runs.judging.levels import made_of_run
from core.runs.scoring import score_table
from core.schema.runs import Run
from core.schema.scores import EDIT, ScoreTable
from core.sources.texts import pairs_of_study
from core.store import Store
from pages.widgets.chosen_judge import PAIRS_TAB

pytestmark = pytest.mark.usefixtures("cookies")


def compares(body: Body, _: int) -> str:
    """Prefers the first system, but the first place in one question."""
    asked = next(one["content"] for one in body["messages"] if "<first>\n" in one["content"])
    alpha = asked.index("Alpha text") < asked.index("Beta text")
    verdict = "first" if alpha or re.search("text of q03", asked) else "second"
    return json.dumps({"feedback": "Alpha is clearer.", "verdict": verdict})


def judged(store: Store) -> tuple[factories.StudyAtHand, Run]:
    """An open study with the votes of three raters, and a judge of its pairs."""
    at_hand = factories.study_in(
        store, factories.dataset(4), name="s", raters=("R1", "R2", "R3"), state="open"
    )
    for number, token in enumerate(at_hand.tokens.values()):
        factories.vote(store, token, factories.prefers(0) if number else factories.always("both_good"))
    data, name = pairs_of_study(store, at_hand.study)
    with judging_server(compares) as server:
        return at_hand, run_to_the_end(store, settings("pairwise", server.url), data, name=name).run


def shown(at: AppTest) -> str:
    assert not at.exception
    return " ".join([*(one.value for one in at.markdown), *(one.value for one in at.info), *html_of(at)])


def test_an_open_study_shows_orders_and_nothing_by_system(store: Store) -> None:
    _, run = judged(store)
    at = visit(("run", run.run_id), PAIRS_TAB)
    said = shown(at)
    assert "same verdict in both orders on 75 %" in said
    assert not re.search(r"\b(ai|human)\b", said)
    headings = [one.value for one in at.header]
    assert "Both orders" in headings
    assert "Alt-test" not in headings


def test_an_unblinded_study_shows_agreement_and_the_pairs_behind_it(store: Store) -> None:
    at_hand, run = judged(store)
    factories.ended(store, at_hand.study_id)
    at = study_visit.visit(at_hand.study_id, "judges", judges="orders", run=f"run-{run.run_id}", pair="2")
    headings = [one.value for one in at.header]
    assert {"Beside raters", "Alt-test", "Both orders", "Win rates", "Where people and judge differ"} <= set(
        headings
    )
    said = shown(at)
    assert "gives a rater's answer in" in said
    assert "ai (candidate)" in said
    assert "Alpha is clearer." in said
    assert at.query_params["pair"] == "2"
    at.button(key="study_orders_check").click().run()
    assert not at.exception
    assert at.query_params["judges"] == "trust"
    assert at.button(key=f"check_pairs_{run.run_id}").label


def test_page_command_and_function_agree(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_hand, run = judged(store)
    factories.ended(store, at_hand.study_id)
    found = assay.pairs(f"run:{run.run_id}", "s", db=store.path)
    taken = tables_taken(monkeypatch)
    study_visit.visit(at_hand.study_id, "judges", judges="orders", run=f"run-{run.run_id}")
    by_page, out = as_csv(taken), tmp_path / "out.csv"
    assert set(by_page) == set(found.names)
    for name, table in by_page.items():
        where = ("--study", "s", "--table", name, "--out", str(out), "--db", str(store.path))
        assert main(["report", "pairs", f"run:{run.run_id}", *where]) == 0
        assert out.read_bytes() == table, name
        found[name].write(tmp_path / "function.csv")
        assert (tmp_path / "function.csv").read_bytes() == table, name


def test_the_page_judges_leads_to_the_votes(store: Store) -> None:
    at_hand, run = judged(store)
    assert not [one for one in visit(("run", run.run_id), PAIRS_TAB).button if "votes" in one.label]
    factories.ended(store, at_hand.study_id)
    at = visit(("run", run.run_id), PAIRS_TAB)
    headings = [one.value for one in at.header]
    assert {"Both orders", "Win rates"} <= set(headings)
    assert "Alt-test" not in headings
    assert at.button(key=f"judges_pairs_{at_hand.study_id}").label


def test_without_a_judge_of_its_pairs_a_study_leads_to_the_form(store: Store) -> None:
    at_hand = factories.study_in(store, factories.dataset(4), name="s", raters=("R1",), state="open")
    for unblinded in (False, True):
        if unblinded:
            factories.ended(store, at_hand.study_id)
        at = study_visit.visit(at_hand.study_id, "judges", judges="orders")
        assert not at.header
        assert at.button(key="study_orders_new").label


def made_of_two(store: Store, **given: object) -> Run:
    """A judge of two systems' texts at two levels. given: further settings."""
    rows = (
        {"item_id": f"q{n:02d}", "question": "What?", "system": system, "level": level, "text": f"{word} text of q{n:02d}, {level}."}
        for n in range(4)
        for level in ("A0", "A1")
        for system, word in (("ai", "Alpha"), ("human", "Beta"))
    )  # fmt: skip
    data = "\n".join(map(json.dumps, rows)).encode()
    with judging_server(lambda body, _: json.dumps({"feedback": "So.", "verdict": "first"})) as server:
        return run_to_the_end(store, settings("pairwise", server.url, **given), data, name="two.jsonl").run


def test_a_judge_within_levels_says_nothing_of_levels(store: Store) -> None:
    run = made_of_two(store)
    at = visit(("run", run.run_id), "Scores")
    assert "Scores of different levels are not compared" in shown(at)
    assert "Levels" not in [one.value for one in at.header]
    assert unfit_for_levels(*_levels_of(store, run)) in shown(visit(("run", run.run_id), "Levels"))
    with pytest.raises(InputError, match=r"two\.jsonl: this judge only compared texts of one level"):
        MADE_LEVELS.answer(MADE_LEVELS.Options(), scored_levels(*_levels_of(store, run)))
    between = made_of_two(store, between="levels")
    assert unfit_for_levels(*_levels_of(store, between)) == ""
    assert "Levels" in [one.value for one in visit(("run", between.run_id), "Scores").header]


def _levels_of(store: Store, run: Run) -> tuple[ScoreTable, Made]:
    at = path.saved_run(store, run)
    return score_table(at), made_of_run(at)


def test_twins_are_no_levels_to_check(store: Store) -> None:
    table, made = _levels_of(store, made_of_two(store, between="levels"))
    rows = tuple(replace(row, labels={EDIT: "padding"}) for row in table.rows)
    assert "edited twins repeat the levels" in unfit_for_levels(replace(table, rows=rows), made)
