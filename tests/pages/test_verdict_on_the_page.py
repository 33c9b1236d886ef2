"""The verdict on the results page: what stands first, what limits it, and what a change afterwards leaves visible."""

import json

import pandas as pd
import pytest
from helpers.pages.study_visit import as_read, card_of, numbers_of, visit
from helpers.texts.factories import StudyAtHand, always, dataset, ended, prefers, study_in, unblind, vote
from streamlit.testing.v1 import AppTest

from core.results.study.counted import Filters
from core.results.study.early import look
from core.results.study.planning import question_range, range_said
from core.results.study.results import StudyResults, headline, study_results, verdict_of, verdict_reasons
from core.sources.studies import standing_of
from core.store import Store
from core.store.studies import update_study
from core.study import lifecycle

pytestmark = pytest.mark.usefixtures("cookies")


def voted(store: Store, n_questions: int, **design: object) -> StudyAtHand:
    """Two raters; the first always presses left, which is a warning from ten answers on."""
    study = study_in(store, dataset(n_questions), repeat_share=0.0, **design)
    vote(store, study.tokens["R1"], always("left"))
    vote(store, study.tokens["R2"], always("both_good"))
    ended(store, study.study_id)
    return study


def said(at: AppTest) -> list[str]:
    """The card's sentences, the limits below it, and what is folded behind them, as they are read."""
    word, why, *others = card_of(at)
    limits = [text.value for text in at.markdown if text.value.startswith("- :small[")]
    listed = [line.removeprefix("- :small[").removesuffix("]") for line in "\n".join(limits).split("\n")]
    (folded,) = [one for one in at.expander if "What was counted" in one.label]
    words = [text.value for text in folded.markdown][:-2]  # the last two are what was counted
    return [f"{word}. {why}", *others, *(as_read(line) for line in (*listed, *words) if line)]


def same(at: AppTest, results: StudyResults) -> bool:
    """Whether the page says what the command says: the answer first, there with its subject, and no other line."""
    lines, found = headline(results), said(at)
    lines[0] = f"{verdict_of(results)}. {verdict_reasons(results)[0]}"
    return found[0] == lines[0] and sorted(found) == sorted(lines)


def sensitivity() -> pd.DataFrame:
    at = visit(part="robustness")
    return next(table.value for table in at.table if "Counted" in table.value).set_index("Counted")


def test_the_page_says_what_the_command_says(store: Store) -> None:
    """Also of raters who are to be checked: their warnings stand beside the verdict."""
    study = voted(store, 16)
    results = study_results(study.record)
    assert list(results.rater_warnings) == ["R1", "R2"]
    assert {flag.split(":")[0] for flag in results.rater_warnings["R1"]} == {"fast", "one side"}
    lines = headline(results)
    assert same(visit(), results)
    assert [line for line in lines if "R1" in line and "left in 80 of 80" in line]


def test_the_bound_that_decides_stands_before_the_bounds_of_all_votes(store: Store) -> None:
    study = study_in(store, dataset(16), repeat_share=0.0, early_looks=True)
    for token in study.tokens.values():
        vote(store, token, prefers(0))
    look(store, study.study, by="page")
    unblind(study)
    results = study_results(study.record)
    assert results.early is not None
    at = visit(part="robustness")
    assert same(at, results)
    assert float(numbers_of(at)["Lower bound"]) == round(results.early.bound or 0, 3)
    first = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert len(first["data"][0]["y"]), "the path of the always-valid bound"
    there = [column for table in at.table for column in table.value.columns[:1]]
    assert there.index("Question") < there.index("Resampled")


def test_two_questions_both_good_are_not_enough(store: Store) -> None:
    study = study_in(store, dataset(2), repeat_share=0.0)
    for token in study.tokens.values():
        vote(store, token, always("both_good"))
    ended(store, study.study_id)
    found = study_results(study.record).verdict
    assert (found.value, found.method) == ("not enough information", "gaffke")
    assert found.questions_missing is not None, "of the same votes, which is not what the page plans with"
    first, planned, *_ = said(visit())
    assert first.startswith("Not enough information.")
    assert range_said(question_range(standing_of(store, study.study).aim)) in planned
    assert set(sensitivity()["Verdict"]) == {"Not enough information"}


@pytest.mark.parametrize("which", ["level", "rater", "question"])
def test_any_filter_makes_the_verdict_exploratory(store: Store, which: str) -> None:
    study = voted(store, 4)
    at = visit()
    assert not said(at)[0].startswith("Exploratory")
    if which == "level":
        at.get("button_group")[0].set_value(["A3"])
    else:
        at.multiselect[0 if which == "rater" else 1].set_value(["R2" if which == "rater" else "q01"])
    chosen = {
        "level": Filters(levels=("A3",)),
        "rater": Filters(raters=("R2",)),
        "question": Filters(questions=("q01",)),
    }[which]
    results = study_results(study.record, chosen)
    assert results.verdict.exploratory
    assert same(at.run(), results)
    assert said(at)[0].startswith("Exploratory")
    again = visit(**{name: at.query_params[name] for name in at.query_params if name not in ("study", "tab")})
    assert same(again, results), "a link opens the same part"
    shown = " ".join(value for name in at.query_params for value in at.query_params[name])
    assert not {"A3", "R2", "q01"} & {*shown.split()}, "an address names no text of the study"


def test_the_declared_levels_are_no_filter(store: Store) -> None:
    study = voted(store, 4, main_levels=("A1", "A3"), score="net_preference")
    at = visit()
    assert at.get("button_group")[0].value == ["A1", "A3"]
    assert same(at, study_results(study.record))
    assert sensitivity().loc["as declared", "Pairs"] == "8"
    at.get("button_group")[0].set_value(["A0", "A1", "A2", "A3", "A4"])
    assert said(at.run())[0].startswith("Exploratory")


def test_a_study_without_a_declared_analysis_says_so(store: Store) -> None:
    study = voted(store, 4)
    declared = said(visit())
    update_study(store, study.study_id, declared=False)
    found = said(visit())
    assert not study_results(study.record).analysis_set.declared
    assert [line for line in found if line not in declared] == [
        line for line in headline(study_results(study.record)) if "was not declared" in line
    ]
    assert len(found) == len(declared) + 1


def test_what_changes_after_unblinding_leaves_the_verdict_of_then(store: Store) -> None:
    study = study_in(store, dataset(16), raters=("R1", "R2", "R3"), state="open")
    for rater, which in (("R1", 0), ("R2", 0), ("R3", 1)):
        vote(store, study.tokens[rater], prefers(which))
    unblind(study)
    before = study_results(study.record)
    assert before.after_unblinding.since is not None
    assert not before.after_unblinding.any
    assert same(visit(), before)
    lifecycle.exclude_rater(store, study.study, "R1", "seen too much")
    results = study_results(study.record)
    after = results.after_unblinding
    assert after.excluded == ("R1",)
    assert after.verdict is not None
    assert after.verdict.bound == before.verdict.bound != results.verdict.bound
    at = visit()
    assert same(at, results)
    assert after.answer == before.answer.value
    assert any("excluded R1" in line for line in said(at))


def test_a_pair_that_each_rater_gets_by_design_is_complete(store: Store) -> None:
    """Three raters, two votes a pair: nobody can give a pair three votes, so that rule would leave out everything."""
    study = study_in(store, dataset(6), raters=("R1", "R2", "R3"), votes_per_pair=2)
    for token in study.tokens.values():
        vote(store, token, prefers(0))
    ended(store, study.study_id)
    assert sensitivity().loc["all raters complete", "Pairs"] == "24"
