"""Does a judge give the same verdict when asked again, and when it reads the two texts in the other order?"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import items_of
from core.judges import cross_examination, direct, pairwise, quality, rubric
from core.judges.cross_examination import CEF_COMPONENTS, CefRecord, examined_scores, scores_of
from core.judges.pairwise import PairwiseRecord
from core.judges.rubric import ORDERS, RubricRecord
from core.results.calibration.repeats import classes_by_repeat
from core.schema.scores import JudgedText, JudgeOutput
from core.stats.degeneracy import Constant, constant, constants_said
from core.stats.resampling import Estimate, Floats, mean_estimates, resampled_estimate
from core.tables.reading import shown


def values_by_repeat(texts: Sequence[JudgedText], components: Sequence[str]) -> Floats:
    """Score each examination by itself: shape (texts, repeats, components), NaN if undefined.

    components: from CEF_COMPONENTS. The second axis is the number of the repeat, up to the highest of any text; a text
    that lacks a repeat is NaN only there, and a text without examinations is NaN throughout. Conciseness needs no questions
    and is the same in all repeats of a text; words are counted only if it is requested.
    """
    records = [text.record if isinstance(text.record, CefRecord) else CefRecord(()) for text in texts]
    n_repeats = max((one.repeat + 1 for record in records for one in record.examinations), default=0)
    values = np.full((len(texts), n_repeats, len(components)), np.nan)
    for row, (text, record) in enumerate(zip(texts, records, strict=True)):
        constant = {}
        if record.examinations and "conciseness" in components:
            whole = scores_of(record, text.document or "", text.text)
            constant["conciseness"] = whole[CEF_COMPONENTS.index("conciseness")]
        for one in record.examinations:
            alone = examined_scores((one,)) | constant
            given = [alone[component].value for component in components]
            values[row, one.repeat] = [np.nan if value is None else value for value in given]
    return values


ONE_REPEAT = "each text was judged only once"
ONE_ORDER = "texts were judged in only one order"
NOT_ASKED = "the judge was not asked"
REPEAT_MISSING, ORDER_MISSING = "a repeat has no value", "an order has no verdict"
NO_REPEATS, NO_ORDERS = "no text has a value in every repeat", "no text has a verdict in both orders"
VERDICT = "verdict"
DRAWN = "drawn"
"""Order of a pairwise judge that reads each pair once, in an order drawn for the pair."""
_OWN_FIRST = {"response-first", "own-first"}
"""Orders in which the judged text comes first."""
AT_TEMPERATURE_0 = "temperature 0: equal repeats are expected and are no evidence of consistency"
DIFFERS_AT_TEMPERATURE_0 = (
    "temperature 0, but some repeats differ: the server answers the same request in different ways, or repeats used "
    "different examples"
)
_SAME = 1e-9
"""Tolerance for equal values: means of equal verdicts differ in their last digits."""


@dataclass(frozen=True)
class RepeatConsistency:
    """Consistency of one of a judge's values over its repeats. Intervals resample items."""

    component: str
    """`verdict`, a dimension of quality, or one of CEF_COMPONENTS except conciseness, which needs no model."""
    agreeing: Estimate
    """Share of texts whose repeats are all equal, 0 to 1."""
    spread: Estimate
    """Standard deviation of a text's repeats (ddof 1), averaged over texts; in units of the score."""
    left_out: Mapping[str, int]
    """Reason -> texts left out of both."""
    constant: Constant | None = None
    """The value of all or nearly all verdicts, which alone makes repeats equal; None: verdicts vary."""


@dataclass(frozen=True)
class OrderConsistency:
    """Verdicts with the judged text first compared with the other text first. Intervals resample items.

    The other text is the reference of the rubric judge, the opponent of the pairwise judge.
    """

    equal: Estimate
    """Share of texts with equal mean verdicts in both orders, 0 to 1."""
    difference: Estimate
    """Position bias: mean over texts of the verdict with the judged text first minus that with the other text first.
    Above 0, the judge is more lenient towards a text that it reads first."""
    distance: Estimate
    """Mean over texts of the absolute difference: how much the order matters, in either direction."""
    left_out: Mapping[str, int]
    """Reason -> texts left out of all three."""


@dataclass(frozen=True)
class Consistency:
    """How far a judge agrees with itself."""

    judge: str
    """The judge's name."""
    n_texts: int
    n_repeats: int
    """The largest number of repeats of a text in one order; 0: no text was judged."""
    orders: tuple[str, ...]
    """Orders used by the rubric judge and the pairwise judge (DRAWN for one drawn order); empty for other kinds."""
    repeats: tuple[RepeatConsistency, ...]
    """One entry for each component."""
    order: OrderConsistency | None
    """None: the judge has only one order."""
    confidence_level: float
    notes: tuple[str, ...] = ()

    @property
    def constants(self) -> tuple[str, ...]:
        """A sentence for each component in which the judge is (nearly) constant."""
        named = ((f"{shown(self.judge)}, {shown(one.component)}", one.constant) for one in self.repeats)
        return constants_said(named, "verdicts")


_Options: TypeAlias = dict[str, Any]
"""Options of the intervals, by argument name."""


def consistency(
    output: JudgeOutput,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Consistency:
    """Measure how far a rubric, pairwise, cross-examination or quality judge agrees with itself, from its run's records.

    Repeats are compared within an order. A text counts only if every repeat has a value: fewer repeats would agree more
    often by chance. Orders are compared by their mean verdicts. Without several repeats, or without both orders, the
    result is undefined, with a reason. With both orders, a text's spread is the mean of its two standard deviations. A value
    of the pairwise judge is a text's mean over its opponents, so each comparison counts from both sides.

    Misleads if repeats are not independent requests: at temperature 0, or with a server that ignores seeds, a judge mostly
    repeats itself. Agreement does not show that the judge is right: one that always gives the same score agrees perfectly.
    A difference near 0 can hide texts that change in both directions: see `distance`. Standard deviations of few repeats
    are slightly too small on average (by a fifth for two, by a tenth for three).

    Raises InputError for other kinds of judges.
    """
    options: _Options = {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}
    values_of = _ASKED_AGAIN.get(output.kind)
    if values_of is None:
        raise InputError(
            f"{output.name} is a {output.kind} judge, which has neither repeats nor orders. Consistency needs "
            "a rubric, pairwise, cross-examination or quality judge."
        )
    values, orders, components = values_of(output.texts)
    n_repeats = values.shape[2]
    return Consistency(
        judge=output.name,
        n_texts=len(output.texts),
        n_repeats=n_repeats,
        orders=orders or (),
        repeats=tuple(
            replace(
                _repeat_consistency(component, values[..., k], output.texts, options),
                constant=constant(values[..., k]),
            )
            for k, component in enumerate(components)
        ),
        order=None if orders is None else _order_consistency(values[..., 0], output.texts, orders, options),
        confidence_level=confidence_level,
        notes=(note,) if (note := temperature_note(output, values, axis=2)) else (),
    )


def nothing_compared(output: JudgeOutput) -> str | None:
    """Why nothing of a judge can be compared: one repeat in one order, or no verdict; None if something can.

    None also for other kinds of judges, which `consistency` refuses.
    """
    values_of = _ASKED_AGAIN.get(output.kind)
    if values_of is None:
        return None
    values, orders, _ = values_of(output.texts)
    if values.shape[2] > 1 or len(orders or ()) > 1:
        return None
    return ONE_REPEAT if values.shape[2] else NOT_ASKED


def temperature_note(output: JudgeOutput, values: Floats, axis: int) -> str | None:
    """Warn about repeats at temperature 0; None at another or an unknown temperature, and for a single repeat.

    values: the judge's values, NaN if missing; axis: the axis of the repeats.
    """
    if values.shape[axis] < 2 or output.temperature != 0:
        return None
    ranges = np.fmax.reduce(values, axis=axis) - np.fmin.reduce(values, axis=axis)
    return DIFFERS_AT_TEMPERATURE_0 if (ranges > _SAME).any() else AT_TEMPERATURE_0


Values = tuple[Floats, tuple[str, ...] | None, tuple[str, ...]]
"""Values of shape (texts, orders, repeats, components); the orders used (None: not applicable); the components' names."""
_EXAMINED = tuple(component for component in CEF_COMPONENTS if component != "conciseness")


def _class_values(texts: Sequence[JudgedText]) -> Values:
    classes, dimensions = classes_by_repeat(texts)
    return classes[:, None], None, dimensions


def rubric_values(texts: Sequence[JudgedText]) -> Values:
    """Verdicts, NaN if missing, and the orders used."""
    trials = [
        (row, trial)
        for row, text in enumerate(texts)
        if isinstance(text.record, RubricRecord)
        for trial in text.record.trials
    ]
    orders = tuple(order for order in ORDERS if any(trial.order == order for _, trial in trials))
    n_repeats = max((trial.repeat + 1 for _, trial in trials), default=0)
    values = np.full((len(texts), len(orders), n_repeats, 1), np.nan)
    for row, trial in trials:
        if trial.verdict is not None:
            values[row, orders.index(trial.order), trial.repeat] = trial.verdict
    return values, orders, (VERDICT,)


def _pairwise_values(texts: Sequence[JudgedText]) -> Values:
    """Mean over a text's opponents of 1 (preferred), 1/2 (tie) and 0; NaN if a verdict is missing."""
    trials = [
        (row, trial)
        for row, text in enumerate(texts)
        if isinstance(text.record, PairwiseRecord)
        for trial in text.record.trials
    ]
    asked = {(row, trial.against, trial.order) for row, trial in trials}
    both = len(asked) > len({(row, against) for row, against, _ in asked})
    orders: tuple[str, ...] = pairwise.ORDERS if both else (DRAWN,) if trials else ()
    shape = (len(texts), len(orders), max((trial.repeat + 1 for _, trial in trials), default=0), 1)
    total, count = np.zeros(shape), np.zeros(shape)
    for row, trial in trials:
        at = row, orders.index(trial.order) if both else 0, trial.repeat
        total[at] += np.nan if trial.verdict is None else pairwise.VALUES[trial.verdict]
        count[at] += 1
    return np.where(count > 0, total / np.maximum(count, 1), np.nan), orders, (VERDICT,)


_ASKED_AGAIN: Mapping[str, Callable[[Sequence[JudgedText]], Values]] = {
    rubric.KIND.name: rubric_values,
    pairwise.KIND.name: _pairwise_values,
    cross_examination.KIND.name: lambda texts: (values_by_repeat(texts, _EXAMINED)[:, None], None, _EXAMINED),
    direct.KIND.name: _class_values,
    quality.KIND.name: _class_values,
}


def answers_again(output: JudgeOutput) -> tuple[Floats, tuple[str, ...]]:
    """Every answer of a judge to each text: shape (texts, orders times repeats, components), NaN if missing, and the components.

    Raises InputError for a judge whose answers are not repeated.
    """
    if output.kind not in _ASKED_AGAIN:
        raise InputError(f"{shown(output.name)}: judges of the kind {output.kind} have no repeats")
    values, _, components = _ASKED_AGAIN[output.kind](output.texts)
    return values.reshape(len(values), -1, len(components)), components


def _repeat_consistency(
    component: str, values: Floats, texts: Sequence[JudgedText], options: _Options
) -> RepeatConsistency:
    """Measures over repeats within each order. values: shape (texts, orders, repeats)."""
    whole = np.asarray(~np.isnan(values).any(axis=(1, 2)), dtype=np.bool_)
    if values.shape[2] < 2:
        agreeing, spread = _undefined(2, len(texts), ONE_REPEAT if values.shape[2] else NOT_ASKED, options)
        return RepeatConsistency(component, agreeing, spread, {})
    ranges = values.max(axis=2) - values.min(axis=2)
    columns = np.column_stack([np.all(ranges < _SAME, axis=1), values.std(axis=2, ddof=1).mean(axis=1)])
    agreeing, spread = _estimates(columns, whole, texts, NO_REPEATS, options)
    return RepeatConsistency(component, agreeing, spread, _left_out(whole, texts, REPEAT_MISSING))


def place_means(values: Floats, orders: Sequence[str]) -> Floats:
    """Mean over repeats with the judged text first, and with the other text first: shape (texts, 2), NaN without a verdict.

    values: shape (texts, 2, repeats), by these two orders.
    """
    given = ~np.isnan(values)
    n = given.sum(axis=2)
    means = np.where(n > 0, np.where(given, values, 0.0).sum(axis=2) / np.maximum(n, 1), np.nan)
    own = next(at for at, order in enumerate(orders) if order in _OWN_FIRST)
    return means[:, [own, 1 - own]]


def _order_consistency(
    values: Floats, texts: Sequence[JudgedText], orders: tuple[str, ...], options: _Options
) -> OrderConsistency:
    """Measures over the two orders. values: shape (texts, orders, repeats)."""
    if len(orders) < 2:
        reason = ONE_ORDER if orders else NOT_ASKED
        equal, difference, distance = _undefined(3, len(texts), reason, options)
        return OrderConsistency(equal, difference, distance, {})
    means = place_means(values, orders)
    apart = means[:, 0] - means[:, 1]
    whole = np.asarray(~np.isnan(apart), dtype=np.bool_)
    columns = np.column_stack([np.abs(apart) < _SAME, apart, np.abs(apart)])
    equal, difference, distance = _estimates(columns, whole, texts, NO_ORDERS, options)
    return OrderConsistency(equal, difference, distance, _left_out(whole, texts, ORDER_MISSING))


def _estimates(
    columns: Floats, whole: NDArray[np.bool_], texts: Sequence[JudgedText], reason: str, options: _Options
) -> list[Estimate]:
    """Mean of each column over complete texts; reason: why it is undefined if no text is complete."""
    found = mean_estimates(
        np.where(whole[:, None], columns, np.nan),
        items_of([text.row for text in texts]),
        **options,
    )
    return [one if one.estimate is not None else replace(one, reason=reason) for one in found]


def _undefined(count: int, n_texts: int, reason: str, options: _Options) -> list[Estimate]:
    nothing = resampled_estimate(
        np.nan,
        None,
        n=0,
        n_clusters=0,
        confidence_level=options["confidence_level"],
        reason=reason,
        interval_reason="the estimate is undefined",
        n_left_out=n_texts,
    )
    return [nothing] * count


def _left_out(whole: NDArray[np.bool_], texts: Sequence[JudgedText], missing: str) -> dict[str, int]:
    reasons = [
        next(iter(text.reasons.values()), NOT_ASKED) if text.record is None else missing
        for text, used in zip(texts, whole, strict=True)
        if not used
    ]
    return dict(Counter(reasons).most_common())
