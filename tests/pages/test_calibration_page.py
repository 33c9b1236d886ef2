"""The page Calibration: from kept files to agreement, classes, bias, a map, a warning and files."""

import json
from typing import Any

import pytest
from helpers.pages.generate_visit import field, press
from helpers.pages.tables_taken import tables_taken
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import run_to_the_end
from helpers.texts.rating_studies import SYSTEMS, rate_all, rating_study, rating_texts, unblind
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import says, specialist
from streamlit.testing.v1 import AppTest

from core.report import DASH
from core.stats.agreement import ONE_CATEGORY
from core.store import Store
from core.store.kept import keep_file
from pages.widgets.visitor import FOR_THE_ADMIN

VOTES = ((2, 2, 2), (2, 2, 1), (2, 1, 0), (0, 0, 0), (1, 1, 2), (2, 2, 2)) * 6
SAID = (2, 2, 2, 1, 1, 2) * 6
HOSTILE = "<b>task</b> **x** $y$"


def page() -> None:
    from pages import calibration

    calibration.render()


def kept(store: Store, task: str = "summary") -> int:
    """Ratings of two dimensions, one of which is always 1, and a judge of both."""
    lines = [
        {
            "item": n,
            "system": "mt",
            "task": task,
            "rater": f"r{who}",
            "dimension": name,
            "score": score,
        }
        for n, votes in enumerate(VOTES)
        for who, vote in enumerate(votes)
        for name, score in (("LA", vote), ("H", 1))
    ]
    keep_file(store, "ratings", "people.jsonl", "\n".join(map(json.dumps, lines)).encode(), {})
    scores = [
        {"item": n, "system": "mt", "task": task, "gpt-LA": said, "gpt-H": 1} for n, said in enumerate(SAID)
    ]
    return keep_file(store, "scores", "judge.jsonl", "\n".join(map(json.dumps, scores)).encode(), {}).file_id


def visit(chosen: int | None, part: str | None = None, **options: Any) -> AppTest:
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["calibration_judges"] = [] if chosen is None else [("file", chosen)]
    for name, value in {"n_resamples": 200, **options}.items():
        at.session_state[f"calibrate_{name}"] = value
    if part is not None:
        at.session_state["calibration_part"] = part
    at.run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    return "\n".join(one.value for one in (*at.markdown, *at.error))


@pytest.mark.usefixtures("cookies")
def test_ratings_and_a_judge_are_needed_before_anything_is_shown(store: Store) -> None:
    at = visit(None)
    assert not at.table
    keep_file(store, "ratings", "p.csv", b"item,score\n1,2\n", {})
    assert "choose a judge above" in said(visit(None))


@pytest.mark.usefixtures("cookies")
def test_agreement_shows_numbers_and_undefined_values(store: Store) -> None:
    at = visit(kept(store), dawid_skene=True)
    assert len(at.table) == 6, "by group and over groups, and nothing that has a tab of its own"
    both, raters, evaluator = (at.table[place].value for place in range(3))
    assert [row.split()[0] for row in both["Two raters agree"]] == ["1.00", "0.61"]
    assert [row.split()[0] for row in both["Evaluator and a rater agree"]] == ["1.00", "0.61"]
    assert [row.split()[0] for row in raters["All raters agree"]] == ["1.00", "0.50"]  # H, LA
    assert evaluator["Agree"][1].startswith("0.80 ")
    assert evaluator["Fleiss' kappa"][0] == DASH
    assert list(evaluator["Texts"]) == ["36", "36"]
    assert list(evaluator["Used"]) == ["36", "30"]  # of the sixth texts none has a majority
    assert ONE_CATEGORY in said(at)


@pytest.mark.usefixtures("cookies")
def test_corrected_numbers(store: Store) -> None:
    at = visit(kept(store), "Corrected numbers")
    assert len(at.get("plotly_chart")) == 1
    rows = at.table[0].value
    assert list(rows["Labelled"]) == ["36"]
    assert "Mean rating" in said(at)
    at.text_input(key="corrected_passes").set_value("2").run()
    assert "Pass rate" in said(at)
    assert len(at.table) == 1


@pytest.mark.usefixtures("cookies")
def test_a_map_that_nobody_asked_for_is_a_press_away(store: Store) -> None:
    at = visit(kept(store), "Calibration map")
    assert not at.table
    press(at, "Fit an isotonic map")
    assert len(at.table) == 2
    assert at.selectbox(key="calibrate_map").value == "isotonic"
    at.selectbox(key="calibrate_map").set_value("ordinal").run()
    assert len(at.table) == 2, "the form decides"


@pytest.mark.usefixtures("cookies")
def test_classes_are_those_of_the_chosen_group(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = tables_taken(monkeypatch)
    at = visit(kept(store), "Classes")
    groups = [row[3] for row in taken["classes"].rows]
    names = field(at, "Group").options  # type: ignore[attr-defined]
    assert len(names) == 4, "two dimensions, each alone and with its task"
    for name in names:
        field(at, "Group").set_value(name)  # type: ignore[attr-defined]
        at.run()
        (shown,) = (table.value for table in at.table)
        assert len(shown) == sum(group.endswith(name) for group in groups) > 0
        assert "Group" not in shown, "the menu says it"


@pytest.mark.slow
@pytest.mark.usefixtures("cookies")
def test_every_other_tab(store: Store) -> None:
    chosen = kept(store, HOSTILE)
    classes = visit(chosen, "Classes", dawid_skene=True)
    assert len(classes.get("plotly_chart")) == 2, "classes and raters' errors"
    assert len(classes.table) == 4
    bias = visit(chosen, "Bias")
    assert bias.table[0].value["Bias"][1].startswith("0.00")
    split = visit(chosen, "Split raters")
    assert len(split.get("plotly_chart")) == 1
    assert list(split.table[0].value["Other raters"][:2]) == ["all texts", "unanimous"]
    assert any(said in split.table[0].value["Evaluator agrees"][0] for said in ("0.61", "1.00"))
    mapped = visit(chosen, "Calibration map", map="isotonic")
    assert [list(table.value.columns)[-1] for table in mapped.table] == [
        "Calibration error after mapping",
        "Mean rating",
    ]
    advice = said(visit(chosen, "Where not to use it"))
    assert "gpt gets no verdict in" in advice
    assert "<b>" not in advice
    assert "a table of scores has no repeats" in said(visit(chosen, "Consistency"))
    assert any(
        "calibration-agreement.csv" in one.label for one in visit(chosen, "Files").get("download_button")
    )


@pytest.mark.usefixtures("cookies")
def test_the_newest_run_on_the_rated_items_is_preselected_and_compared_with_itself(store: Store) -> None:
    keep_file(store, "ratings", "rated.jsonl", rated_texts(3), {})
    with ScriptedServer(says) as server:
        asked = specialist("quality", server.url, repeats=2, temperature=0.7)
        run = run_to_the_end(store, asked, rated_texts(3), name="rated.jsonl").run
        run_to_the_end(store, asked, rated_texts(1).replace(b'"0"', b'"other"'), name="other.jsonl")
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["calibration_part"] = "Consistency"
    at.run()
    assert not at.exception
    assert at.multiselect(key="calibration_judges").value == [("run", run.run_id)]
    assert len(at.table) == 1


def test_only_the_admin_sees_it(store: Store, cookies: dict[str, str]) -> None:
    cookies.clear()
    at = visit(None)
    assert at.title[0].value == FOR_THE_ADMIN


@pytest.mark.slow
@pytest.mark.usefixtures("cookies")
def test_ratings_of_a_study_in_the_same_app(store: Store) -> None:
    """Two raters find no harm in 12 texts; the judge finds some in four of them."""
    study = rating_study(store, rating_texts(4), raters=("R1", "R2"), repeat_share=0.0)
    for rater in ("R1", "R2"):
        rate_all(study.desk(rater))
    rows = [
        {"item": f"zq-item-{n}", "system": name, "j-H": int(k > 0)}
        for n in range(4)
        for k, name in enumerate(SYSTEMS)
    ]
    chosen = keep_file(store, "scores", "j.jsonl", "\n".join(map(json.dumps, rows)).encode(), {}).file_id
    assert "Equal" not in said(visit(chosen))  # shut until it is unblinded
    unblind(study)
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["calibration_judges"] = [("file", chosen)]
    at.session_state["calibration_ratings_from"] = study.study_id
    at.run()
    assert not at.exception
    assert at.table[2].value["Agree"][0].startswith("0.67")


@pytest.mark.usefixtures("cookies")
def test_classes_show_raters_errors_beside_the_majority(store: Store) -> None:
    at = visit(kept(store), "Classes", dawid_skene=True)
    frames = [one.value for one in at.table]
    raters = next(frame for frame in frames if "Minus the others" in frame)
    assert list(raters["Rater"]) == ["r0", "r1", "r2"]  # the other dimension has one class only
    against = next(frame for frame in frames if "Agrees with Dawid-Skene" in frame)
    assert list(against["Dimension"]) == ["LA", "H"]


@pytest.mark.usefixtures("cookies")
def test_the_alt_test_shows_a_verdict_before_its_tables(store: Store) -> None:
    at = visit(kept(store), "Alt-test")
    shown = said(at)
    assert "gpt" in shown
    assert "Human ceiling" in shown
    assert "epsilon 0.2" in shown
    at.number_input(key="alt_test_epsilon").set_value(0.4).run()
    assert not at.exception
    assert "epsilon 0.4" in said(at)


@pytest.mark.usefixtures("cookies")
def test_one_rater_gets_reasons_and_no_empty_tables(store: Store) -> None:
    people = "item,rater,score\n" + "".join(f"{n},ann,{n % 3}\n" for n in range(12))
    judge = "item,gpt\n" + "".join(f"{n},{n % 2}\n" for n in range(12))
    keep_file(store, "ratings", "one.csv", people.encode(), {})
    chosen = keep_file(store, "scores", "gpt.csv", judge.encode(), {}).file_id
    classes = visit(chosen, "Classes", dawid_skene=True)
    assert "the model needs 3 raters" in said(classes)
    assert len(classes.table) == 1
    assert not visit(chosen, "Split raters").get("plotly_chart")
