"""The verdict over raters beside the verdict for these raters: values, sentences, tables, figures, JSON, what counts."""

import json

import numpy as np
import pytest
from helpers.texts.factories import LEVELS, dataset, item_ids, record_of

from core.analyses.study_results.pair_rows import answer_of
from core.plots.study import rater_means, variance_shares
from core.report import csv_of
from core.results.cells import plain
from core.results.study.counted import Filters
from core.results.study.raters import NORMAL_SAMPLE, SAMPLED, THESE, component_shares
from core.results.study.results import StudyResults, headline, study_results
from core.schema.study import Rater
from core.stats.raters import mrmc, variance_components
from core.stats.votes import preferences

Given = dict[str, dict[tuple[str, str], str]]


def given(
    raters: int, n: int, *, each: int | None = None, rater_sd: float = 0.5, shift: float = 0.3
) -> Given:
    """Votes of raters who differ by `rater_sd`; each question goes to `each` raters (None: to all)."""
    rng = np.random.default_rng(3)
    own, of_question = rng.normal(0, rater_sd, raters), rng.normal(0, 0.5, n)
    votes: Given = {f"R{number}": {} for number in range(raters)}
    for question, item in enumerate(item_ids(n)):
        for rater in rng.permutation(raters)[:each]:
            for level in LEVELS[1:]:
                latent = shift + own[rater] + of_question[question] + rng.normal()
                side = "candidate" if latent > 0.5 else "comparator" if latent < -0.5 else "both_good"
                votes[f"R{rater}"][item, level] = side
    return votes


def results_of(votes: Given, n: int, filters: Filters | None = None, **design: object) -> StudyResults:
    return study_results(record_of(votes, dataset(n), **design), filters, n_resamples=100)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def wide() -> StudyResults:
    """Six raters who differ so much that the verdict does not generalise to others."""
    return results_of(given(6, 20), 20, margin=0.1)


def test_the_two_verdicts_stand_beside_each_other(wide: StudyResults) -> None:
    sample = wide.raters_as_sample
    assert (wide.verdict.value, sample.value) == ("non-inferior", "not shown")
    lines = headline(wide)
    (both,) = [line for line in lines if "over raters as a sample" in line]
    assert "not shown" in both.split(". ")[0]
    assert NORMAL_SAMPLE in both
    assert "composite" in both
    net = results_of(given(6, 20), 20, margin=0.1, score="net_preference")
    (both,) = [line for line in headline(net) if "over raters as a sample" in line]
    assert "composite" not in both
    assert net.raters_as_sample.mrmc == sample.mrmc


def test_numbers_are_those_of_the_votes_that_count(wide: StudyResults) -> None:
    from core.results.study.counted import count

    counted = count(record_of(given(6, 20), dataset(20)), Filters())
    votes = preferences(counted.codes)
    assert wide.raters_as_sample.mrmc == mrmc(votes, counted.questions)
    assert wide.raters_as_sample.components == variance_components(votes, counted.questions)
    assert wide.raters_as_sample.mrmc.mean == pytest.approx(wide.overall.net_preference)


def test_excluded_raters_and_dry_runs_do_not_count() -> None:
    votes = given(7, 20)
    raters = [
        *(Rater(f"R{number}") for number in range(5)),
        Rater("R5", excluded="slow"),
        Rater("R6", dry_run=True),
    ]
    found = study_results(record_of(votes, dataset(20), raters=raters), n_resamples=100).raters_as_sample
    assert found.names == ("R0", "R1", "R2", "R3", "R4")
    assert found.mrmc.n_raters == 5


def test_below_five_raters_the_verdict_is_for_these_raters() -> None:
    found = results_of(given(3, 20), 20)
    sample = found.raters_as_sample
    assert (sample.value, sample.mrmc.bound, sample.mrmc.reason) == (None, None, "fewer than 5 raters: 3")
    assert any(sample.mrmc.reason in line for line in headline(found))
    assert sample.components.components is not None


def test_few_questions_are_not_enough_information() -> None:
    found = results_of(given(5, 8), 8).raters_as_sample
    assert (found.value, found.mrmc.bound) == ("not enough information", None)
    assert found.mrmc.reason == "fewer than 15 questions: 8"


def test_dealt_questions_are_named() -> None:
    found = results_of(given(8, 24, each=3), 24, margin=0.3)
    assert found.raters_as_sample.mrmc.method == "dealt"
    assert found.raters_as_sample.value == "non-inferior"
    assert any("Not every rater" in note for note in answer_of(found).tables["rater-means"].notes)


def test_a_filter_of_raters_applies(wide: StudyResults) -> None:
    found = results_of(given(6, 20), 20, Filters(raters=("R0", "R1")))
    assert found.raters_as_sample.names == ("R0", "R1")
    assert found.verdict.exploratory


def test_tables_show_each_rater_and_both_means(wide: StudyResults) -> None:
    tables, found = answer_of(wide).tables, wide.raters_as_sample.mrmc
    means = tables["rater-means"]
    rows = {row[0]: row for row in means.rows}
    assert list(rows) == [*wide.raters, THESE, SAMPLED]
    assert (rows[THESE][1].low, rows[SAMPLED][1].low) == (found.low_questions, found.low)  # type: ignore[union-attr]
    assert [row[2] for row in means.rows] == [None] * (len(rows) - 1) + [found.bound]
    assert any("one-sided at 90 %" in note for note in means.notes)
    assert sum(row[5] for row in means.rows[:-2]) == pytest.approx(1)  # type: ignore[misc]
    components = tables["variance-components"]
    for column in (3, 5):
        assert sum(row[column].value for row in components.rows) == pytest.approx(1)  # type: ignore[union-attr]
    assert b"variance_of_mean" in csv_of(components)


def test_inseparable_components_share_a_row() -> None:
    votes = {
        rater: {key: side for key, side in own.items() if key[1] == "A1"}
        for rater, own in given(4, 20).items()
    }
    found = study_results(record_of(votes, dataset(20)), Filters(levels=("A1",)), n_resamples=100)
    rows = [row[0] for row in answer_of(found).tables["variance-components"].rows]
    assert rows == ["Rater", "Question (with pair)", "Rater x question (with residual)"]


@pytest.mark.parametrize("raters", [1, 2, 6])
def test_figures_show_what_the_tables_show(raters: int) -> None:
    sample = results_of(given(raters, 20), 20).raters_as_sample
    drawn = [x for trace in rater_means(sample).data for x in trace.x]
    assert drawn == pytest.approx([*(one.mean for one in sample.mrmc.raters), *[sample.mrmc.mean] * 2])
    shares = component_shares(sample.components)
    if raters == 1:
        assert (shares, sample.components.components) == ({}, None)
        return
    bars = variance_shares(sample.components).data
    for bar, share in zip(bars, shares.values(), strict=True):
        assert list(bar.x) == [None if one is None else pytest.approx(100 * one) for one in share]


def test_json_has_added_keys_without_infinity() -> None:
    for votes in ({}, given(1, 3), given(6, 20), {"A": dict.fromkeys(given(1, 20)["R0"], "both_good")}):
        record = record_of(votes, dataset(20), raters=[Rater("A")] if not votes else None)
        written = answer_of(study_results(record, n_resamples=100)).json
        json.dumps(plain(written), allow_nan=False)
        assert {"raters_as_sample", "variance_components"} <= set(written)


def test_no_votes_say_nothing_of_raters() -> None:
    found = study_results(record_of({}, raters=[Rater("A")]), n_resamples=100)
    assert found.raters_as_sample.mrmc.mean is None
    assert not any("raters" in line for line in headline(found))
    assert "variance-components" not in answer_of(found).tables
