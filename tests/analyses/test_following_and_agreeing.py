"""The two columns of the analysis `votes` and their Spearman: against scipy, reasons, families, and while a run is at work."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.texts.factories import LEVELS, dataset, record_of
from helpers.texts.growing_study import voted_record
from helpers.texts.score_factories import metric, table
from scipy.stats import spearmanr

from core.analyses.votes import ANALYSIS, LATER, VotesOptions, so_far
from core.judges import pairwise
from core.plots.drawn import draw
from core.results.correlations.following import COMPARES, FEW_METRICS, NO_LEVELS, follow_levels
from core.results.correlations.table import correlate_scores
from core.results.study.counted import Filters, count
from core.schema.analysis import Answer
from core.schema.correlating import CorrelateOptions
from core.schema.figures import Dots, steady_axis
from core.schema.result_table import Interval
from core.schema.scores import ScoredRow, ScoreTable
from core.schema.study import NO_LEVEL, StudyRecord
from core.study.masking import masks_of

N_ITEMS, METRICS = 12, ("bleu-1", "chrf-6-2", "rouge-1", "own", "flat")
FAST = VotesOptions(n_resamples=200)


def released(record: StudyRecord) -> StudyRecord:
    return replace(record, study=replace(record.study, state="unblinded"))


@pytest.fixture(scope="module")
def record() -> StudyRecord:
    return released(voted_record(N_ITEMS))


@pytest.fixture(scope="module")
def scores(record: StudyRecord) -> ScoreTable:
    return scores_of(record)


def scores_of(record: StudyRecord, names: tuple[str, ...] = METRICS, seed: int = 3) -> ScoreTable:
    """Each metric falls with the level, the later ones less; the last is constant. Lower is better for `own`."""
    rng = np.random.default_rng(seed)
    rows = []
    for one in record.outputs:
        level = LEVELS.index(one.level) if one.level else 0
        values = [10 - (len(names) - at) * 0.5 * level + rng.normal(0, 2) for at in range(len(names) - 1)]
        rows.append((ScoredRow(one.item_id, one.source, one.level or None), [*values, 1.0]))
    metrics = [replace(metric(name), direction="lower" if name == "own" else "higher") for name in names]
    return table(rows, metrics=metrics, file_name="scores.csv")


def answer_of(record: StudyRecord, *tables: ScoreTable, options: VotesOptions = FAST) -> Answer:
    return ANALYSIS.answer(options, record, list(tables))


def by_hand(record: StudyRecord, scores: ScoreTable) -> pd.DataFrame:
    turned = scores.values * np.array([-1.0 if one.direction == "lower" else 1.0 for one in scores.metrics])
    levels = np.array([LEVELS.index(row.level or "") for row in scores.rows])
    follows = [spearmanr(column, -levels).statistic if np.ptp(column) else np.nan for column in turned.T]
    return pd.DataFrame({"metric": [one.name for one in scores.metrics], "follows": follows})


def test_each_metric_follows_the_level_as_scipy_says(record: StudyRecord, scores: ScoreTable) -> None:
    found = answer_of(record, scores).result.metrics
    for one, own in zip(found, by_hand(record, scores)["follows"], strict=True):
        assert one.follows.value == (None if np.isnan(own) else pytest.approx(own, abs=1e-12))
    assert found[-1].follows.reason
    assert found[3].follows.value < 0, "lower is better, but it falls with the level as the others do"


def test_they_are_the_numbers_of_correlate_with_its_interval_over_items(
    record: StudyRecord, scores: ScoreTable
) -> None:
    report = correlate_scores(scores, options=CorrelateOptions(n_resamples=200, methods=("spearman",)))
    for row, one in zip(report.rows, answer_of(record, scores).result.metrics, strict=True):
        own = row.pooled["spearman"].over_items
        assert (one.follows.value, one.follows.low, one.follows.high) == (own.estimate, own.low, own.high)


def test_the_meta_correlation_is_the_spearman_of_the_two_columns(
    record: StudyRecord, scores: ScoreTable
) -> None:
    found = answer_of(record, scores).result
    both = [
        (one.follows.value, one.agreement.value) for one in found.metrics if one.follows.value is not None
    ]
    assert len(both) == found.meta.n_metrics == 4
    assert found.meta.spearman.value == pytest.approx(
        spearmanr(*zip(*both, strict=True)).statistic, abs=1e-12
    )
    assert found.meta.spearman.low is not None
    assert found.meta.n_families == 3, "BLEU with the unknown one, chrF, ROUGE"
    assert list(found.meta.dropped) == ["flat"]
    assert found.meta.caution


def test_other_texts_do_not_count(record: StudyRecord, scores: ScoreTable) -> None:
    more = replace(
        scores,
        rows=(*scores.rows, ScoredRow("elsewhere", "ai", "A0"), ScoredRow("elsewhere", "ai", "A4")),
        values=np.vstack([scores.values, np.zeros((2, len(METRICS)))]),
    )
    assert [one.estimate for one in follow_levels(record.outputs, more, n_resamples=0)] == [
        one.estimate for one in follow_levels(record.outputs, scores, n_resamples=0)
    ]


def test_masked_texts_follow_the_level_as_the_same_texts_do(record: StudyRecord, scores: ScoreTable) -> None:
    masks = masks_of(record.outputs)
    masked = replace(
        scores,
        rows=tuple(
            replace(row, system=masks[row.item_id, row.level or "", row.system]) for row in scores.rows
        ),
    )
    for one, own in zip(
        follow_levels(record.outputs, masked, n_resamples=50),
        follow_levels(record.outputs, scores, n_resamples=50),
        strict=True,
    ):
        assert (one.estimate, one.low, one.high) == (own.estimate, own.low, own.high)


@pytest.mark.parametrize("names", [("bleu-1", "flat"), ("bleu-1", "rouge-1", "flat")])
def test_below_three_metrics_there_is_none(record: StudyRecord, names: tuple[str, ...]) -> None:
    found = answer_of(record, scores_of(record, names))
    assert (found.result.meta.spearman.value, found.result.meta.spearman.reason) == (None, FEW_METRICS)
    assert found.json["meta"]["spearman"]["estimate"] is None
    assert "votes-families" not in found.tables


def test_plain_pairs_have_no_levels_and_keep_the_figure_of_agreement() -> None:
    plain = dataset(N_ITEMS, (NO_LEVEL,))
    votes: Any = {
        rater: {
            (item.item_id, NO_LEVEL): ("candidate", "comparator")[at % 2]
            for at, item in enumerate(plain.items)
        }
        for rater in ("R1", "R2")
    }
    record = released(record_of(votes, plain))
    found = answer_of(record, scores_of(record))
    assert {one.follows.reason for one in found.result.metrics} == {NO_LEVELS}
    assert found.result.meta.spearman.reason == NO_LEVELS
    assert [type(one).__name__ for one in found.figures.values()] == ["Intervals"]


def test_a_judge_of_pairs_scores_no_single_text(record: StudyRecord, scores: ScoreTable) -> None:
    judge = replace(scores.metrics[0], name="judge", family=pairwise.KIND.family)
    found = answer_of(record, replace(scores, metrics=(judge, *scores.metrics[1:])))
    assert found.result.metrics[0].follows.reason == COMPARES
    assert found.result.metrics[0].agreement.value is not None


def test_one_metric_under_two_names_is_no_second_metric(record: StudyRecord, scores: ScoreTable) -> None:
    twice = replace(
        scores, metrics=(*scores.metrics[:3], replace(scores.metrics[3], name="BLEU-1"), scores.metrics[4])
    )
    found = answer_of(record, twice).result
    assert found.meta.spearman.value is None
    assert "bleu-1" in found.meta.spearman.reason


def test_the_figure_has_a_dot_for_each_metric_with_both_numbers(
    record: StudyRecord, scores: ScoreTable
) -> None:
    found = answer_of(record, scores)
    figure = found.figures["votes"]
    assert isinstance(figure, Dots)
    drawn = draw(replace(figure, marked=2), found.tables)
    *dots, ring = drawn.data
    places = {int(place) for trace in dots for (place,) in trace.customdata}
    assert places == {0, 1, 2, 3}
    assert (ring.x[0], ring.y[0]) == (
        found.result.metrics[2].follows.value,
        found.result.metrics[2].agreement.value,
    )
    assert figure.title
    assert drawn.layout.title.text.strip("</b>") == figure.title
    for axis, own in ((figure.x_axis, drawn.layout.xaxis), (figure.y_axis, drawn.layout.yaxis)):
        assert tuple(own.range) == (axis.low, axis.high)


def test_an_axis_moves_in_quarters_and_no_further_than_a_number_can() -> None:
    inner = steady_axis("", [Interval(0.4, 0.3, 0.6)], -1.0)
    assert (inner.low, inner.high) == pytest.approx((0.23, 0.77))
    assert steady_axis("", [Interval(0.45, 0.31, 0.62)], -1.0) == inner
    outer = steady_axis("", [Interval(0.99, 0.0, 1.0)], 0.0)
    assert (outer.low, outer.high) == pytest.approx((-0.02, 1.02))


def test_estimates_so_far_are_those_of_the_whole_analysis(record: StudyRecord, scores: ScoreTable) -> None:
    whole = answer_of(record, scores, options=VotesOptions(n_resamples=0)).result
    found = so_far(record, [scores], count(record, Filters()))
    assert [(one.metric, one.pairs, one.differ) for one in found.metrics] == [
        (one.metric, one.pairs, one.differ) for one in whole.metrics
    ]
    for one, own in zip(found.metrics, whole.metrics, strict=True):
        assert one.agreement.value == (
            None if own.agreement.value is None else pytest.approx(own.agreement.value)
        )
        assert one.follows.value == own.follows.value
        assert (one.tau.value, one.tau.reason) == (None, LATER)
    assert found.meta.spearman.value == pytest.approx(whole.meta.spearman.value)


def test_pairs_that_differ_are_those_of_the_other_answer(record: StudyRecord, scores: ScoreTable) -> None:
    for one in answer_of(record, scores).result.metrics[:4]:
        assert one.differ == pytest.approx((1 - one.agreement.value) * one.pairs), "no metric ties here"
