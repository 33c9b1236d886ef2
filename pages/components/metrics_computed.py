"""Analyses of scores, each computed once for the same scores and options, whoever asks.

`key` names the scores: a run's identity with how many of its items are finished, or a file's hash; and their target.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import TypeVar

import streamlit as st

from core.results.correlations.table import CorrelationReport, correlate_step_by_step
from core.results.joining import CorrelationOptions
from core.schema.scores import RatingSet, ScoreTable

Key = tuple[object, ...]
Result = TypeVar("Result")
_MOST = 128
"""Answers that are kept."""
_FEW = 50_000
"""Scores whose correlations a page waits for."""
_LOOK, _PATIENCE = 1.0, 15.0
"""Seconds between two looks at work, and until work that nobody looks at ends."""
_HEAD_START = 1.5
"""Seconds in which a page shows the estimates of many scores before their intervals take processor and memory."""
_STARTING = Lock()


def correlated(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    group: tuple[str, ...],
    options: CorrelationOptions,
) -> CorrelationReport:
    """Per-metric correlations, all of them."""
    work = _work_on(key, table, ratings, group, options)
    while not work.complete.wait(_LOOK):
        work.wanted_at = monotonic()
    return _report_of(work)


def correlated_so_far(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    group: tuple[str, ...],
    options: CorrelationOptions,
) -> tuple[CorrelationReport, str]:
    """What is known of the per-metric correlations, estimates at least, and what is being computed.

    Few scores are waited for. The work goes on beside the page, so that the page stays usable; nobody asking for a while
    ends it, and the next one who asks goes on where it ended.
    """
    work = _work_on(key, table, ratings, group, options)
    enough = work.complete if table.values.size <= _FEW else work.begun
    while not enough.wait(_LOOK):
        work.wanted_at = monotonic()
    return _report_of(work), work.doing


@dataclass
class _Work:
    """An answer in the making."""

    wanted_at: float
    """When somebody last asked."""
    report: CorrelationReport | None = None
    doing: str = ""
    error: Exception | None = None
    begun: Event = field(default_factory=Event)
    """There is a report, or an error."""
    complete: Event = field(default_factory=Event)


class _Unwanted(Exception):
    """Nobody waits for the answer any more."""


def _work_on(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    group: tuple[str, ...],
    options: CorrelationOptions,
) -> _Work:
    """The work on a question, begun or taken up again where it is not being worked on."""
    question, works = ("correlated", key, group, options), _works()
    with _STARTING:
        found = works.get(question)
        if found is not None and found.error is None:
            found.wanted_at = monotonic()
            return found
        so_far = found.report if found is not None and isinstance(found.error, _Unwanted) else None
        work = works[question] = _Work(monotonic(), so_far)
        for oldest in list(works)[:-_MOST]:
            del works[oldest]
    steps = partial(correlate_step_by_step, table, ratings, group=group, options=options, so_far=so_far)
    Thread(target=_do, args=(work, steps, table.values.size > _FEW), daemon=True).start()
    return work


def _do(work: _Work, steps: Callable[..., Iterator[CorrelationReport]], many: bool) -> None:
    def tell(doing: str) -> None:
        work.doing = doing
        if monotonic() - work.wanted_at > _PATIENCE:
            raise _Unwanted

    try:
        for report in steps(tell=tell):
            first, work.report = not work.begun.is_set(), report
            work.begun.set()
            if first and many:
                sleep(_HEAD_START)
    except Exception as error:  # whoever asks is told
        work.error = error
    work.begun.set()
    work.complete.set()


def _report_of(work: _Work) -> CorrelationReport:
    if work.report is None or (work.error is not None and not isinstance(work.error, _Unwanted)):
        raise work.error or RuntimeError("no report")
    return work.report


@st.cache_resource(show_spinner=False)
def _works() -> dict[Key, _Work]:
    """Question -> what is known of its answer."""
    return {}


def once(question: Key, compute: Callable[[], Result]) -> Result:
    """The answer to a question that says all that it depends on."""
    answer: Result = _kept(question, compute)
    return answer


@st.cache_data(show_spinner=False, max_entries=_MOST)
def _kept(question: Key, _compute: Callable[[], Result]) -> Result:
    return _compute()
