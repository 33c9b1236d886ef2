"""Does a judge say the same when it is asked again, and when it reads the two texts in the other order? Does it stand by its questions, and how many does it need?"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.judges import direct, quality, rubric
from core.judges.cross_examination import judge as cross_examination
from core.judges.cross_examination.record import (
    CEF_COMPONENTS,
    CefRecord,
    CrossQuestion,
    Side,
    examined_scores,
    scores_of,
)
from core.judges.cross_examination.verdicts import VERDICTS, Verdict
from core.judges.rubric import ORDERS, Order, RubricRecord
from core.results.calibration.repeats import classes_by_repeat
from core.results.cells import counted_share, interval, resampled
from core.results.choices import items_of
from core.results.judges.reliability import ALL_SIDES, SIDES
from core.schema.judging import JudgedText, JudgeOutput
from core.schema.result_table import Column, ResultTable
from core.stats.degeneracy import Constant, constant, constants_said
from core.stats.resampling import Estimate, Floats, mean_estimates, resampled_estimate
from core.stats.shares import Share, wilson_share
from core.tables.reading import shown


def values_by_repeat(texts: Sequence[JudgedText], components: Sequence[str]) -> Floats:
    """Shape (texts, repeats, components), NaN where undefined: each examination scored as if it were the only one.

    components: of CEF_COMPONENTS. Examinations stand at the number of their repeat, so a text that lacks one is NaN
    there and at no other; repeats go up to the highest that any text has. A text without examinations is NaN
    throughout. Conciseness asks nothing and is the same in all repeats of a text; words are counted where it is wanted.
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


ONE_REPEAT = "asked once a text: repeats cannot be compared"
ONE_ORDER = "asked in one order: orders cannot be compared"
NOT_ASKED = "the judge was not asked"
REPEAT_MISSING, ORDER_MISSING = "a repeat has no value", "an order has no verdict"
NO_REPEATS, NO_ORDERS = "no text has a value in every repeat", "no text has a verdict in both orders"
VERDICT = "verdict"
AT_TEMPERATURE_0 = "asked at temperature 0: equal repeats are expected and are no evidence of consistency"
DIFFERS_AT_TEMPERATURE_0 = (
    "asked at temperature 0, but some repeats differ: the server answers one request in several ways, or repeats were shown "
    "different examples"
)
_SAME = 1e-9
"""Values that differ by less are equal: means of equal verdicts differ in their last digits."""


@dataclass(frozen=True)
class RepeatConsistency:
    """One of a judge's values over its repeats. Intervals resample items."""

    component: str
    """`verdict`, one of CEF_COMPONENTS but conciseness, which asks no model, or a dimension of quality."""
    agreeing: Estimate
    """Share of texts whose repeats are all equal, 0 to 1."""
    spread: Estimate
    """Standard deviation of a text's repeats (n - 1 below), averaged over texts; in units of the score."""
    left_out: Mapping[str, int]
    """Reason -> texts that are in neither."""
    constant: Constant | None = None
    """What covers all or nearly all verdicts, whose repeats are equal by that alone; None: verdicts vary."""


@dataclass(frozen=True)
class OrderConsistency:
    """A judge's verdicts with the reference first and with the response first. Intervals resample items."""

    equal: Estimate
    """Share of texts whose mean verdicts of the two orders are equal, 0 to 1."""
    difference: Estimate
    """Mean over texts of the verdict with the response first minus that with the reference first: position bias.
    Above 0 the judge is milder where it reads the response first."""
    distance: Estimate
    """Mean over texts of the absolute difference: how much the order matters, whatever its direction."""
    left_out: Mapping[str, int]
    """Reason -> texts that are in none of the three."""


@dataclass(frozen=True)
class Consistency:
    """How far one judge agrees with itself."""

    judge: str
    """Its name."""
    n_texts: int
    n_repeats: int
    """The most that a text was asked in one order; 0: no text was."""
    orders: tuple[Order, ...]
    """In which the rubric judge was asked; empty for cross-examinations."""
    repeats: tuple[RepeatConsistency, ...]
    """One a component."""
    order: OrderConsistency | None
    """None: the judge reads its texts in one way only."""
    confidence_level: float
    notes: tuple[str, ...] = ()

    @property
    def constants(self) -> tuple[str, ...]:
        """A sentence for each component in which the judge says nearly the same of everything."""
        named = ((f"{shown(self.judge)}, {shown(one.component)}", one.constant) for one in self.repeats)
        return constants_said(named, "verdicts")

    @property
    def compares_nothing(self) -> str | None:
        """Why there is nothing in it: asked once, in one order, or never; None where there is something."""
        if self.n_repeats > 1 or len(self.orders) > 1:
            return None
        return ONE_REPEAT if self.n_repeats else NOT_ASKED


_Options: TypeAlias = dict[str, Any]
"""How intervals are made, by the names of the arguments."""


def consistency(
    output: JudgeOutput,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Consistency:
    """How far a rubric judge, a cross-examination or an evaluator of quality agrees with itself, from its run's records.

    Repeats are compared within an order, and a text counts where every repeat has a value: one with fewer would agree
    more often by that alone. Orders are compared by the means of their verdicts. What was not asked for (one repeat,
    one order) is undefined with a reason. With both orders a text's spread is the mean of its two standard deviations.

    Misleads where repeats are not different requests: at temperature 0, or with a server that ignores seeds, a judge
    mostly agrees with itself because it repeats itself. Agreement says nothing about being right, and a judge that always
    gives one score agrees perfectly. A difference near 0 hides texts that change in both directions: see `distance`.
    Standard deviations of few repeats are a little too small on average (by a fifth for two, by a tenth for three).

    Raises InputError for a judge of another kind, which asks nothing twice.
    """
    options: _Options = {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}
    values_of = _ASKED_AGAIN.get(output.kind)
    if values_of is None:
        raise InputError(
            f"{output.name} is a judge of the kind {output.kind}, which has neither repeats nor orders: its "
            "consistency cannot be told."
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
                _over_repeats(component, values[..., k], output.texts, options),
                constant=constant(values[..., k]),
            )
            for k, component in enumerate(components)
        ),
        order=None if orders is None else _over_orders(values[..., 0], output.texts, orders, options),
        confidence_level=confidence_level,
        notes=(note,) if (note := temperature_note(output, values, axis=2)) else (),
    )


def temperature_note(output: JudgeOutput, values: Floats, axis: int) -> str | None:
    """What repeats at temperature 0 show; None at another or an unknown one, and for a judge that was asked once.

    values: the judge's, NaN where there is none; axis: along which the repeats lie.
    """
    if values.shape[axis] < 2 or output.temperature != 0:
        return None
    ranges = np.fmax.reduce(values, axis=axis) - np.fmin.reduce(values, axis=axis)
    return DIFFERS_AT_TEMPERATURE_0 if (ranges > _SAME).any() else AT_TEMPERATURE_0


_Values = tuple[Floats, tuple[Order, ...] | None, tuple[str, ...]]
"""Shape (texts, orders, repeats, components); in which orders it was asked, None: it has none; the components' names."""
_EXAMINED = tuple(component for component in CEF_COMPONENTS if component != "conciseness")


def _examined_values(texts: Sequence[JudgedText]) -> _Values:
    return values_by_repeat(texts, _EXAMINED)[:, None], None, _EXAMINED


def _class_values(texts: Sequence[JudgedText]) -> _Values:
    classes, dimensions = classes_by_repeat(texts)
    return classes[:, None], None, dimensions


def _rubric_values(texts: Sequence[JudgedText]) -> _Values:
    """NaN where there is no verdict; the orders that anybody was asked in."""
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


_ASKED_AGAIN: Mapping[str, Callable[[Sequence[JudgedText]], _Values]] = {
    rubric.KIND.name: _rubric_values,
    cross_examination.KIND.name: _examined_values,
    direct.KIND.name: _class_values,
    quality.KIND.name: _class_values,
}


def _over_repeats(
    component: str, values: Floats, texts: Sequence[JudgedText], options: _Options
) -> RepeatConsistency:
    """values: shape (texts, orders, repeats)."""
    whole = np.asarray(~np.isnan(values).any(axis=(1, 2)), dtype=np.bool_)
    if values.shape[2] < 2:
        agreeing, spread = _undefined(2, len(texts), ONE_REPEAT if values.shape[2] else NOT_ASKED, options)
        return RepeatConsistency(component, agreeing, spread, {})
    ranges = values.max(axis=2) - values.min(axis=2)
    columns = np.column_stack([np.all(ranges < _SAME, axis=1), values.std(axis=2, ddof=1).mean(axis=1)])
    agreeing, spread = _estimates(columns, whole, texts, NO_REPEATS, options)
    return RepeatConsistency(component, agreeing, spread, _left_out(whole, texts, REPEAT_MISSING))


def _over_orders(
    values: Floats, texts: Sequence[JudgedText], orders: tuple[Order, ...], options: _Options
) -> OrderConsistency:
    """values: shape (texts, orders, repeats)."""
    if len(orders) < 2:
        reason = ONE_ORDER if orders else NOT_ASKED
        equal, difference, distance = _undefined(3, len(texts), reason, options)
        return OrderConsistency(equal, difference, distance, {})
    given = np.asarray(~np.isnan(values), dtype=np.bool_)
    whole = np.asarray(np.all(np.any(given, axis=2), axis=1), dtype=np.bool_)
    means = np.where(given, values, 0.0).sum(axis=2) / np.maximum(given.sum(axis=2), 1)
    apart = means[:, orders.index("response-first")] - means[:, orders.index("reference-first")]
    columns = np.column_stack([np.abs(apart) < _SAME, apart, np.abs(apart)])
    equal, difference, distance = _estimates(columns, whole, texts, NO_ORDERS, options)
    return OrderConsistency(equal, difference, distance, _left_out(whole, texts, ORDER_MISSING))


def _estimates(
    columns: Floats, whole: NDArray[np.bool_], texts: Sequence[JudgedText], reason: str, options: _Options
) -> list[Estimate]:
    """The mean of each column over the texts that are whole; reason: why it is undefined where none is."""
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


REPEATS, ORDERS_TABLE = "judge-repeats", "judge-orders"
"""Names of the tables."""


def repeats_table(found: Consistency) -> ResultTable:
    """A row a component: how often all repeats of a text are equal, and how far they spread."""
    shares = all(one.component in CEF_COMPONENTS for one in found.repeats)
    return ResultTable(
        REPEATS,
        (
            Column("component", "Score", names_row=True),
            Column("agreeing", "All equal", percent=True),
            Column("sd", "Mean SD", percent=shares),
            Column("n", "Texts"),
            Column("left_out", "Left out"),
        ),
        tuple(
            (one.component, interval(one.agreeing), interval(one.spread), one.agreeing.n, one.left_out)
            for one in found.repeats
        ),
        notes=(
            f"{found.n_repeats} repeats. Mean SD: of a text's repeats, averaged over texts.",
            resampled(found.confidence_level),
            *found.notes,
        ),
    )


def orders_table(found: OrderConsistency) -> ResultTable:
    """One row: verdicts with the response first against those with the reference first."""
    return ResultTable(
        ORDERS_TABLE,
        (
            Column("equal", "Texts with equal verdicts", percent=True),
            Column("difference", "Mean difference"),
            Column("distance", "Mean absolute difference"),
            Column("n", "Texts"),
            Column("left_out", "Left out"),
        ),
        (
            (
                interval(found.equal),
                interval(found.difference),
                interval(found.distance),
                found.equal.n,
                found.left_out,
            ),
        ),
        "Response first against reference first",
        ("A difference above 0: milder where the response is read first.",),
    )


NOT_ASKED_FOR = "no question with this expected answer was answered when asked again"


@dataclass(frozen=True)
class ReaskedRow:
    """Questions with one expected answer."""

    expected: Verdict
    counts: Mapping[Verdict, int]
    """What was answered when the question was asked again of the text it was made from."""
    without: Mapping[str, int]
    """Reason, such as `unparsed` -> questions without a second answer."""
    unchanged: Share
    """Share of the questions with a second answer that kept theirs."""


@dataclass(frozen=True)
class Reasked:
    """The confusion matrix of one judge: rows are expected answers, columns second ones."""

    judge: str
    by_side: Mapping[str, tuple[ReaskedRow, ...]]
    """`source`, `text`, `all` -> a row for YES, NO and IDK each."""
    n_not_asked: int
    """Questions that were not asked again."""


def confusion(output: JudgeOutput, *, confidence_level: float = 0.95) -> Reasked:
    """Count a cross-examination's questions by expected answer and by the answer to the same text, over all repeats.

    A question counts once for its item, document and repeat, as it was asked: all texts of an item share the questions
    made from the source. Questions without a second answer stand in no share and are counted with their reasons. Wilson intervals; they take
    questions of one text for independent, which they are not quite. Misleads at temperature 0 with a judge that
    repeats itself: to stand by an answer does not make it right. Raises InputError for other judges, and for runs that
    asked nothing again.
    """
    if output.kind != cross_examination.KIND.name:
        raise InputError(f"{shown(output.name)} asks no questions: it is a judge of the kind {output.kind}.")
    by_side = _distinct(output.texts)
    asked: dict[str, list[CrossQuestion]] = {
        side: [question for question in by_side[side] if _asked_again(question)] for side in SIDES
    }
    every = [question for questions in asked.values() for question in questions]
    if not every:
        raise InputError(
            f"{shown(output.name)} asked no question a second time: choose that questions are asked again (--reask)."
        )
    return Reasked(
        judge=output.name,
        by_side={
            side: tuple(_reasked_row(expected, questions, confidence_level) for expected in VERDICTS)
            for side, questions in (asked | {ALL_SIDES: every}).items()
        },
        n_not_asked=sum(len(questions) for questions in by_side.values()) - len(every),
    )


def _distinct(texts: Sequence[JudgedText]) -> dict[Side, list[CrossQuestion]]:
    """Each question once, by what it was made from."""
    found: dict[Side, dict[tuple[object, ...], CrossQuestion]] = {side: {} for side in SIDES}
    for text, item in zip(texts, items_of([text.row for text in texts]).tolist(), strict=True):
        for side, document, repeat, question in _asked(text):
            found[side].setdefault((item, document, repeat, question.text), question)
    return {side: list(questions.values()) for side, questions in found.items()}


def _asked(text: JudgedText) -> Iterator[tuple[Side, str | None, int, CrossQuestion]]:
    """Side, document and repeat of every question that the text was examined with."""
    record = text.record
    if not isinstance(record, CefRecord):
        return
    examined = text.text if record.back_translation is None else record.back_translation
    for one in record.examinations:
        for question in one.from_source or ():
            yield "source", text.document, one.repeat, question
        for question in one.from_text or ():
            yield "text", examined, one.repeat, question


def _asked_again(question: CrossQuestion) -> bool:
    return question.again is not None or question.again_reason is not None


def _reasked_row(
    expected: Verdict, questions: Sequence[CrossQuestion], confidence_level: float
) -> ReaskedRow:
    own = [question for question in questions if question.expected == expected]
    answered = Counter(question.again for question in own)
    without = Counter(question.again_reason or "" for question in own if question.again is None)
    counts = {verdict: answered[verdict] for verdict in VERDICTS}
    return ReaskedRow(
        expected,
        counts,
        dict(without),
        wilson_share(
            counts[expected], sum(counts.values()), confidence_level=confidence_level, reason=NOT_ASKED_FOR
        ),
    )


def reasked_table(found: Reasked) -> ResultTable:
    """A row a side and expected answer: what was answered when the question was asked again."""
    return ResultTable(
        "judge-reasked",
        (
            Column("side", "Questions", names_row=True),
            Column("expected", "Expected", names_row=True),
            *(Column(verdict) for verdict in VERDICTS),
            Column("no_answer", shown=False),
            Column("no_answer_reasons", "No answer"),
            Column("unchanged", "Unchanged", percent=True),
            Column("unchanged_count", shown=False),
        ),
        tuple(
            (
                side,
                row.expected,
                *(row.counts[verdict] for verdict in VERDICTS),
                sum(row.without.values()),
                row.without,
                counted_share(row.unchanged),
                row.unchanged.count,
            )
            for side, own in found.by_side.items()
            for row in own
        ),
        notes=(f"{found.n_not_asked:,} questions were not asked again",) if found.n_not_asked else (),
    )


ONE_EXAMINATION = "one examination a text: there is nothing to vary"
NO_TEXTS = "no text has a score in every repeat"
PERCENT_SQUARED = 100.0**2


@dataclass(frozen=True)
class AblationRow:
    """One component of one judge's scores over its repeats. Variances divide by one less than the repeats."""

    judge: str
    """Its name."""
    n_questions: int
    """Asked for from each of the two texts."""
    component: str
    """One of CEF_COMPONENTS."""
    mean: float | None
    """Over texts and repeats, from 0 to 1 (conciseness may be negative)."""
    variance_of_mean: float | None
    """Of the mean over texts, from repeat to repeat: how far the result of a whole run depends on chance. Falls with
    the number of texts."""
    variance_within: float | None
    """Of one text's score from repeat to repeat, averaged over texts: how far a text's score depends on chance."""
    n_texts: int
    """Texts with a score in every repeat."""
    n_repeats: int
    n_left_out: int
    """Texts that lack a score in a repeat: means over other texts could not be compared."""
    reason: str | None
    """Why there are no variances."""
    note: str | None = None
    """What repeats at temperature 0 show."""

    @property
    def percent_variance_of_mean(self) -> float | None:
        """In squared percent, as 001's Tables 2 and 11 print variances."""
        return None if self.variance_of_mean is None else self.variance_of_mean * PERCENT_SQUARED

    @property
    def percent_variance_within(self) -> float | None:
        """In squared percent."""
        return None if self.variance_within is None else self.variance_within * PERCENT_SQUARED


def ablation(outputs: Sequence[JudgeOutput]) -> tuple[AblationRow, ...]:
    """A row for each output and component, fewest questions first: outputs of one judge that differ in N.

    001 does not say over what its variances are; both readings are here. Outputs with one repeat have none. Misleads
    where the repeats are not different requests (temperature 0 with a server that ignores seeds: every variance is 0),
    and with few repeats: of 10, the 95 % interval of a variance reaches from half to 3.3 times of what was found.
    Raises InputError for outputs that are no cross-examination, and for one that is given twice.
    """
    problems = [
        f"{shown(one.name)} is a judge of the kind {one.kind}"
        if one.kind != cross_examination.KIND.name
        else f"{shown(one.name)} does not say how many questions were asked for"
        for one in outputs
        if one.kind != cross_examination.KIND.name or not isinstance(one.settings.get("n_questions"), int)
    ]
    if problems:
        raise InputError(
            "How much scores vary with the number of questions can be seen for cross-examinations alone, run here.",
            problems,
        )
    if twice := [shown(one.name) for n, one in enumerate(outputs) if one in outputs[:n]]:
        raise InputError(
            f"{', '.join(dict.fromkeys(twice))}: two of these hold the same answers, so that one shows nothing beside the "
            "other. Name each run once."
        )
    return tuple(row for one in sorted(outputs, key=_n_questions) for row in _rows(one))


def _n_questions(output: JudgeOutput) -> int:
    number = output.settings["n_questions"]
    assert isinstance(number, int)
    return number


def _rows(output: JudgeOutput) -> list[AblationRow]:
    values = values_by_repeat(output.texts, CEF_COMPONENTS)
    note = temperature_note(output, values, axis=1)
    return [
        _ablation_row(output, component, values[:, :, place], note)
        for place, component in enumerate(CEF_COMPONENTS)
    ]


def _ablation_row(output: JudgeOutput, component: str, values: Floats, note: str | None) -> AblationRow:
    """values: shape (texts, repeats)."""
    n_repeats = values.shape[1]
    whole = values[~np.isnan(values).any(axis=1) & (n_repeats > 0)]
    reason = ONE_EXAMINATION if n_repeats == 1 else NO_TEXTS if not len(whole) else None
    return AblationRow(
        judge=output.name,
        n_questions=_n_questions(output),
        component=component,
        mean=float(whole.mean()) if whole.size else None,
        variance_of_mean=None if reason else float(whole.mean(axis=0).var(ddof=1)),
        variance_within=None if reason else float(whole.var(axis=1, ddof=1).mean()),
        n_texts=len(whole),
        n_repeats=n_repeats,
        n_left_out=len(output.texts) - len(whole),
        reason=reason,
        note=note,
    )


def ablation_table(rows: Sequence[AblationRow]) -> ResultTable:
    """A row a judge and component; readers see variances in squared percent, as 001 prints them."""
    return ResultTable(
        "judge-ablation",
        (
            Column("judge", "Judge", names_row=True),
            Column("n_questions", "N"),
            Column("component", "Score", names_row=True),
            Column("mean", "Mean", places=4, percent=True),
            Column("variance_of_mean", shown=False),
            Column("variance_within", shown=False),
            Column("percent_variance_of_mean", "Variance of the mean"),
            Column("percent_variance_within", "Variance of a text"),
            Column("n_repeats", "Repeats"),
            Column("n_texts", "Texts"),
            Column("n_left_out", "Left out"),
            Column("reason", "Undefined because", shown=any(row.reason for row in rows)),
        ),
        tuple(
            (
                row.judge,
                row.n_questions,
                row.component,
                row.mean,
                row.variance_of_mean,
                row.variance_within,
                row.percent_variance_of_mean,
                row.percent_variance_within,
                row.n_repeats,
                row.n_texts,
                row.n_left_out,
                row.reason or "",
            )
            for row in rows
        ),
        notes=(
            "Variance over repeats, in squared percent: of the mean over texts, and of one text's score.",
            *dict.fromkeys(f"{row.judge}: {row.note}" for row in rows if row.note),
        ),
    )
