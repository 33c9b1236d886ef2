"""The verdict on the results page: what stands first, what limits it, and what a change afterwards leaves visible."""

import pandas as pd
import pytest
from helpers.texts.factories import StudyAtHand, always, dataset, ended, prefers, study_in, unblind, vote
from streamlit.testing.v1 import AppTest

from core.results.study.counted import Filters
from core.results.study.early import look
from core.results.study.planning import question_range, range_said, study_options
from core.results.study.results import headline, study_results
from core.store import Store
from core.store.studies import update_study
from core.study import lifecycle
from pages.widgets.messages import plain

pytestmark = pytest.mark.usefixtures("cookies")


def page() -> None:
    from pages import results

    results.render()


def visit() -> AppTest:
    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    return at


def voted(store: Store, n_questions: int, **design: object) -> StudyAtHand:
    """Two raters; the first always presses left, which is a warning from ten answers on."""
    study = study_in(store, dataset(n_questions), repeat_share=0.0, **design)
    vote(store, study.tokens["R1"], always("left"))
    vote(store, study.tokens["R2"], always("both_good"))
    ended(store, study.study_id)
    return study


def box(at: AppTest) -> list[str]:
    """The verdict and the lines that limit it: what stands between the question and everything else."""
    texts = [element.value for element in at.markdown]
    start = next(n for n, text in enumerate(texts) if text.startswith("**"))
    assert "methods#the-answer" in texts[start - 1]
    lines = texts[start + 1].split("\n") if texts[start + 1].startswith("- ") else []
    return [texts[start].replace("**", ""), *(line.removeprefix("- ") for line in lines)]


def as_shown(lines: list[str]) -> list[str]:
    return [plain(line) for line in lines]


def sensitivity(at: AppTest) -> pd.DataFrame:
    return next(table.value for table in at.table if "Counted" in table.value).set_index("Counted")


def test_the_page_says_what_the_command_says(store: Store) -> None:
    """Also of raters who are to be checked: their warnings stand beside the verdict."""
    study = voted(store, 16)
    results = study_results(study.record)
    assert list(results.rater_warnings) == ["R1", "R2"]
    assert {flag.split(":")[0] for flag in results.rater_warnings["R1"]} == {"fast", "one side"}
    lines = headline(results)
    assert box(visit()) == as_shown(lines)
    assert [line for line in lines if "R1" in line and "left in 80 of 80" in line]


def test_the_bound_that_decides_stands_before_the_bounds_of_all_votes(store: Store) -> None:
    study = study_in(store, dataset(16), repeat_share=0.0, early_looks=True)
    for token in study.tokens.values():
        vote(store, token, prefers(0))
    look(store, study.study, by="page")
    unblind(study)
    results = study_results(study.record)
    assert results.early is not None
    at = visit()
    assert box(at) == as_shown(headline(results))
    headings = [element.value for element in at.subheader]
    assert headings[:3] == ["Verdict", "Early looks", "Sensitivity"]
    assert "Question" in at.table[0].value, "the path of the always-valid bound"
    assert "Resampled" in at.table[1].value
    assert "**Declared analysis, for comparison**" in [element.value for element in at.markdown]


def test_two_questions_both_good_are_not_enough(store: Store) -> None:
    study = study_in(store, dataset(2), repeat_share=0.0)
    for token in study.tokens.values():
        vote(store, token, always("both_good"))
    ended(store, study.study_id)
    found = study_results(study.record).verdict
    assert (found.value, found.method) == ("not enough information", "gaffke")
    assert found.questions_missing is not None, "of the same votes, which is not what the page plans with"
    at = visit()
    first, planned, *_ = box(at)
    assert first.startswith("Not enough information.")
    assert range_said(question_range(study_options(store, study.study))) in planned
    assert set(sensitivity(at)["Verdict"]) == {"Not enough information"}


@pytest.mark.parametrize("which", ["level", "rater", "question"])
def test_any_filter_makes_the_verdict_exploratory(store: Store, which: str) -> None:
    study = voted(store, 4)
    at = visit()
    assert not box(at)[0].startswith("Exploratory")
    if which == "level":
        at.get("button_group")[0].set_value(["A3"])
    else:
        at.multiselect[0 if which == "rater" else 1].set_value(["R2" if which == "rater" else "q01"])
    chosen = {
        "level": Filters(levels=("A3",)),
        "rater": Filters(raters=("R2",)),
        "question": Filters(questions=("q01",)),
    }[which]
    found = box(at.run())
    results = study_results(study.record, chosen)
    assert results.verdict.exploratory
    assert found == as_shown(headline(results))
    assert found[0].startswith("Exploratory")


def test_the_declared_levels_are_no_filter(store: Store) -> None:
    study = voted(store, 4, main_levels=("A1", "A3"), score="net_preference")
    at = visit()
    assert at.get("button_group")[0].value == ["A1", "A3"]
    assert box(at) == as_shown(headline(study_results(study.record)))
    assert sensitivity(at).loc["as declared", "Pairs"] == "8"
    at.get("button_group")[0].set_value(["A0", "A1", "A2", "A3", "A4"])
    assert box(at.run())[0].startswith("Exploratory")


def test_a_study_without_a_declared_analysis_says_so(store: Store) -> None:
    study = voted(store, 4)
    declared = box(visit())
    update_study(store, study.study_id, declared=False)
    found = box(visit())
    assert not study_results(study.record).analysis_set.declared
    assert [line for line in found if line not in declared] == [
        plain(line) for line in headline(study_results(study.record)) if "was not declared" in line
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
    assert len(box(visit())) == len(headline(before))
    lifecycle.exclude_rater(store, study.study, "R1", "seen too much")
    results = study_results(study.record)
    after = results.after_unblinding
    assert after.excluded == ("R1",)
    assert after.verdict is not None
    assert after.verdict.bound == before.verdict.bound != results.verdict.bound
    found = box(visit())
    assert found == as_shown(headline(results))
    assert after.answer == before.answer.value
    assert any("excluded R1" in line for line in found)


def test_a_pair_that_each_rater_gets_by_design_is_complete(store: Store) -> None:
    """Three raters, two votes a pair: nobody can give a pair three votes, so that rule would leave out everything."""
    study = study_in(store, dataset(6), raters=("R1", "R2", "R3"), votes_per_pair=2)
    for token in study.tokens.values():
        vote(store, token, prefers(0))
    ended(store, study.study_id)
    assert sensitivity(visit()).loc["all raters complete", "Pairs"] == "24"
