"""Analyses of scores, each computed once for the same scores and options, whoever asks.

`key` names the scores: a run's identity with how many of its items are finished, or a file's hash; and their target.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeVar

import streamlit as st

from core.analysis.correlations import (
    CorrelationOptions,
    CorrelationReport,
    Ranking,
    correlate_step_by_step,
    rank_metrics,
)
from core.analysis.levels import MetricByLevel, by_level
from core.analysis.meta_correlation import (
    Matrix,
    MetaCorrelation,
    Side,
    meta_correlate,
    meta_matrix,
)
from core.analysis.metric_votes import MetricVotes, metrics_against_votes
from core.analysis.redundancy import Redundancy, redundancy
from core.schema import StudyRecord
from core.schema.scores import Method, RatingSet, ScoreTable

Key = tuple[object, ...]
Test = Literal["permutation", "williams"]
Result = TypeVar("Result")
_MOST = 128
"""Answers that are kept."""


def correlated(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    group: tuple[str, ...],
    options: CorrelationOptions,
) -> CorrelationReport:
    """Per-metric correlations."""
    *_, report = correlated_step_by_step(key, table, ratings, group, options)
    return report


def correlated_step_by_step(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    group: tuple[str, ...],
    options: CorrelationOptions,
    tell: Callable[[str], None] | None = None,
) -> Iterator[CorrelationReport]:
    """Per-metric correlations, first estimates alone; goes on where an earlier look was broken off."""
    question = ("correlated", key, group, options)
    latest = _latest()
    for report in correlate_step_by_step(
        table, ratings, group=group, options=options, tell=tell, so_far=latest.get(question)
    ):
        latest[question] = report
        for oldest in list(latest)[:-_MOST]:
            latest.pop(oldest, None)
        yield report


@st.cache_resource(show_spinner=False)
def _latest() -> dict[Key, CorrelationReport]:
    """Question -> what is known of its answer."""
    return {}


def ranked(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    method: Method,
    test: Test,
    options: CorrelationOptions,
) -> Ranking:
    """Metrics in order, in clusters."""
    return once(
        ("ranked", key, method, test, options),
        lambda: rank_metrics(table, ratings, method=method, test=test, options=options),
    )


def redundant(key: Key, table: ScoreTable, method: Method) -> Redundancy:
    """How alike metrics score."""
    return once(("redundant", key, method), lambda: redundancy(table, method=method))


def levelled(key: Key, table: ScoreTable) -> tuple[MetricByLevel, ...]:
    """Scores by level."""
    return once(("levelled", key), lambda: by_level(table))


def meta_correlated(
    key: Key, human: Side, synthetic: Side, method: Method, first_order: Method, n_resamples: int
) -> MetaCorrelation:
    """One meta-correlation."""
    return once(
        ("meta", key, method, first_order, n_resamples),
        lambda: meta_correlate(
            human, synthetic, method=method, first_order=first_order, n_resamples=n_resamples
        ),
    )


def matrix(
    key: Key,
    humans: Mapping[str, Side],
    synthetic: ScoreTable,
    by: tuple[str, ...],
    over: str | None,
    method: Method,
    first_order: Method,
    n_resamples: int,
) -> Matrix:
    """Meta-correlations by columns of the scores."""
    return once(
        ("matrix", key, by, over, method, first_order, n_resamples),
        lambda: meta_matrix(
            humans,
            synthetic,
            by=by,
            over=over,
            method=method,
            first_order=first_order,
            n_resamples=n_resamples,
        ),
    )


def against_votes(key: Key, record: StudyRecord, table: ScoreTable) -> tuple[MetricVotes, ...]:
    """Metrics beside the votes of a study."""
    return once(("votes", key), lambda: metrics_against_votes(record, table))


def once(question: Key, compute: Callable[[], Result]) -> Result:
    """The answer to a question that says all that it depends on."""
    answer: Result = _kept(question, compute)
    return answer


@st.cache_data(show_spinner=False, max_entries=_MOST)
def _kept(question: Key, _compute: Callable[[], Result]) -> Result:
    return _compute()
