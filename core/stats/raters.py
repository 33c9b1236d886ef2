"""Raters as a sample: how much of a mean vote is due to these raters, these questions, and chance."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import Floats, Indices, numbered


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of a single vote (-1 comparator, 0 tie, +1 candidate), each at least 0.

    vote = mean + rater + question + rater x question + pair (a level of a question) + residual. The mean vote of J
    raters on n questions of L pairs, with k of the raters a pair (whole questions are dealt), has the variance
    rater / J + question / n + rater_question / (n k) + pair / (n L) + residual / (n L k).
    """

    rater: float
    question: float
    rater_question: float
    pair: float
    residual: float


COMPONENTS: tuple[str, ...] = tuple(field.name for field in fields(Components))
"""Names of the components, in their order."""


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance components estimated from a study's votes."""

    components: Components | None
    """None if they are undefined, for `reason`."""
    mean: float | None
    """Mean of all votes."""
    variance_of_mean: Components | None
    """Each component's part in the variance of the mean of these votes, as they were dealt."""
    n_raters: int
    n_questions: int
    n_pairs: int
    n_votes: int
    set_to_zero: dict[str, float]
    """Component -> its negative estimate, which became 0."""
    merged: dict[str, str]
    """Component that these votes cannot separate -> the one that contains it. Its own value is 0."""
    method: str
    reason: str | None


METHOD_OF_COMPONENTS = "analysis of variance (Henderson's method 1)"
NO_VOTE, ONE_RATER, ONE_QUESTION = (
    "no votes",
    "components need two raters with votes",
    "components need two questions with votes",
)
NOT_SEPARABLE = "the votes cannot separate the components"


class _Votes(NamedTuple):
    """The votes that were given, one after the other; equal numbers mean one rater, question or pair."""

    values: Floats
    rater: Indices
    question: Indices
    pair: Indices


def variance_components(votes: ArrayLike, questions: ArrayLike) -> VarianceComponents:
    """Estimate the variance components of a single vote by analysis of variance.

    votes: shape (n_pairs, n_raters), each -1, 0 or +1 (or any finite number), NaN for missing. questions: shape (n_pairs,),
    the question of each pair.

    Henderson's method 1 (Henderson 1953, Biometrics 9:226; Searle, Casella and McCulloch 1992, Variance Components, sec. 5.3):
    for each grouping f of the votes, T_f is the sum over its groups of (sum of votes)^2 / votes. Each T_f minus T of
    one group of all votes has an expectation that is linear in the five components, with known coefficients: five equations,
    solved for the components. For balanced data these are the usual estimates from mean squares. They are unbiased for
    any pattern of missing votes, as long as it does not depend on the votes. Negative estimates are set to 0 and listed in
    `set_to_zero`, after which the estimates are no longer unbiased.

    If two components cannot be separated, their sum counts as the one that further levels or votes reduce less: with one
    pair a question, the pair counts in the question and the residual in rater x question; with one vote a pair, rater x
    question counts in the question and the residual in the pair.

    Undefined for fewer than two raters or two questions. Misleads with few raters: from 5 raters, the rater's component has
    a relative standard error of at least 70 %. Votes have three values, so components depend on the mean: they shrink
    where nearly all votes are equal. Raises ValueError for other shapes and infinite votes.
    """
    given = _given(votes, questions)
    counts = [int(np.unique(each).size) for each in given[1:]]
    values = given.values

    def undefined(reason: str) -> VarianceComponents:
        mean = float(values.mean()) if values.size else None
        return VarianceComponents(
            None, mean, None, *counts, values.size, {}, {}, METHOD_OF_COMPONENTS, reason
        )

    if not values.size:
        return undefined(NO_VOTE)
    if counts[0] < 2 or counts[1] < 2:
        return undefined(ONE_RATER if counts[0] < 2 else ONE_QUESTION)
    groups = _groups(given)
    merged = _merged(groups)
    separate = [name for name in COMPONENTS if name not in merged]
    everything = np.zeros(values.size, dtype=np.intp)
    overall = _sum_of_squares(values, everything)
    total = [_sum_of_squares(values, groups[name]) - overall for name in separate]
    expected = np.array(
        [
            [
                _coefficient(groups[of], groups[name]) - _coefficient(everything, groups[name])
                for name in separate
            ]
            for of in separate
        ]
    )
    if np.linalg.matrix_rank(expected) < len(separate):
        return undefined(NOT_SEPARABLE)
    solved = dict(zip(separate, np.linalg.solve(expected, total).tolist(), strict=True))
    rounding = _ROUNDING * max(1.0, float((values**2).mean()))
    found = {name: _clean(solved.get(name, 0.0), rounding) for name in COMPONENTS}
    kept = {name: max(0.0, value) for name, value in found.items()}
    of_mean = {name: kept[name] * _coefficient(everything, groups[name]) / values.size for name in COMPONENTS}
    return VarianceComponents(
        Components(**kept),
        float(values.mean()),
        Components(**of_mean),
        *counts,
        values.size,
        {name: value for name, value in found.items() if value < 0},
        merged,
        METHOD_OF_COMPONENTS,
        None,
    )


_ROUNDING = 1e-12
"""Relative to the mean square of a vote: a component this close to 0 is 0."""


def _clean(value: float, rounding: float) -> float:
    return 0.0 if abs(value) <= rounding else value


def _given(votes: ArrayLike, questions: ArrayLike) -> _Votes:
    table, labels = np.asarray(votes, dtype=np.float64), np.asarray(questions)
    if table.ndim != 2 or labels.shape != table.shape[:1]:
        raise ValueError(
            f"votes must have shape (n_pairs, n_raters) and questions (n_pairs,), got {table.shape} and {labels.shape}"
        )
    if np.isinf(table).any():
        raise ValueError("votes contain infinity; a missing vote is NaN")
    pair, rater = np.nonzero(~np.isnan(table))
    question = numbered(labels)[pair] if labels.size else pair
    return _Votes(table[pair, rater], rater, question, pair)


def _groups(given: _Votes) -> dict[str, Indices]:
    """Component -> the number of the group of each vote: votes of one group share the component's draw."""
    both = numbered(given.question * (int(given.rater.max()) + 1) + given.rater)
    return {
        "rater": numbered(given.rater),
        "question": numbered(given.question),
        "rater_question": both,
        "pair": numbered(given.pair),
        "residual": np.arange(given.values.size, dtype=np.intp),
    }


# Component -> those that may contain it, the one first that further levels or votes reduce least.
_CONTAINED: dict[str, tuple[str, ...]] = {
    "rater_question": ("rater", "question"),
    "pair": ("question",),
    "residual": ("rater_question", "pair"),
}


def _merged(groups: dict[str, Indices]) -> dict[str, str]:
    """Component with the same groups as a larger one -> that one. A finer grouping with as many groups is the same."""
    sizes = {name: int(own.max()) + 1 for name, own in groups.items()}
    found: dict[str, str] = {}
    for name, larger in _CONTAINED.items():
        for other in larger:
            if sizes[other] == sizes[name]:
                found[name] = found.get(other, other)
                break
    return found


def _sum_of_squares(values: Floats, group: Indices) -> float:
    return float((np.bincount(group, values) ** 2 / np.bincount(group)).sum())


def _coefficient(of: Indices, component: Indices) -> float:
    """Coefficient of a component's variance in the expected sum of squares of a grouping: sum of n_gh^2 / n_g."""
    sizes = np.bincount(of)
    cells = numbered(of * (int(component.max()) + 1) + component)
    shared = np.bincount(cells)
    first = np.zeros(shared.size, dtype=np.intp)
    first[cells] = of
    return float((shared.astype(np.float64) ** 2 / sizes[first]).sum())
