"""Judges that are asked twice, in both orders, or once: every number worked out by hand."""

from dataclasses import replace
from math import sqrt

import pytest

from core.errors import InputError
from core.judges.cross_examination import CefRecord, Examination
from core.judges.questions import CrossQuestion, Verdict
from core.judges.rubric import Order, RubricRecord, RubricTrial
from core.results.judges.consistency import (
    AT_TEMPERATURE_0,
    DIFFERS_AT_TEMPERATURE_0,
    NOT_ASKED,
    ONE_ORDER,
    ONE_REPEAT,
    REPEAT_MISSING,
    consistency,
    nothing_compared,
)
from core.schema.scores import JudgedText, JudgeOutput, ScoredRow

FIRST: Order = "reference-first"
SWAPPED: Order = "response-first"


def output(
    *records: RubricRecord | CefRecord | None, kind: str = "rubric", texts_an_item: int = 1
) -> JudgeOutput:
    texts = tuple(
        JudgedText(
            ScoredRow(f"item {n // texts_an_item}", "s", level=str(n % texts_an_item)),
            "a text of five words",
            "a document",
            None,
            {},
            {} if record else {"m": "no reference"},
            record,
        )
        for n, record in enumerate(records)
    )
    return JudgeOutput("judge", kind, "model", {}, (), texts)


def rubric(reference_first: list[int | None], response_first: list[int | None] | None = None) -> RubricRecord:
    orders = {FIRST: reference_first, SWAPPED: response_first or []}
    return RubricRecord(
        tuple(
            RubricTrial(order=order, repeat=repeat, verdict=verdict, reason=None if verdict else "cut off")
            for order, verdicts in orders.items()
            for repeat, verdict in enumerate(verdicts)
        )
    )


def test_repeats_of_the_rubric_judge() -> None:
    """4 4 4 agree; 2 4 3 have the standard deviation 1, 5 5 2 the square root of 3; two texts are left out."""
    given = output(rubric([4, 4, 4]), rubric([2, 4, 3]), rubric([5, 5, 2]), rubric([3, None, 3]), None)
    found = consistency(given, n_resamples=200)
    assert (found.n_texts, found.n_repeats, found.orders) == (5, 3, (FIRST,))
    (repeats,) = found.repeats
    assert repeats.component == "verdict"
    assert repeats.agreeing.estimate == pytest.approx(1 / 3)
    assert repeats.spread.estimate == pytest.approx((0 + 1 + sqrt(3)) / 3)
    assert (repeats.spread.n, repeats.spread.n_left_out) == (3, 2)
    assert repeats.left_out == {"a repeat has no value": 1, "no reference": 1}
    assert repeats.spread.low == 0
    assert repeats.spread.high == pytest.approx(sqrt(3))
    assert found.order is not None
    assert (found.order.equal.estimate, found.order.equal.reason) == (None, ONE_ORDER)
    assert found.order.difference.n_left_out == 5


def test_both_orders_of_the_rubric_judge() -> None:
    """Differences of the means: 1, -1, 0 (of 2 4 and 3 3), 2; the last text has no verdict in one order."""
    given = output(
        rubric([3, 3], [4, 4]),
        rubric([3, 5], [4, 2]),
        rubric([2, 4], [3, 3]),
        rubric([1, None], [3, 3]),
        rubric([5, 5], [None, None]),
    )
    found = consistency(given, n_resamples=200)
    assert found.orders == (FIRST, SWAPPED)
    assert found.order is not None
    assert found.order.equal.estimate == 1 / 4
    assert found.order.difference.estimate == (1 - 1 + 0 + 2) / 4
    assert found.order.distance.estimate == (1 + 1 + 0 + 2) / 4
    assert (found.order.difference.n, found.order.difference.n_left_out) == (4, 1)
    assert found.order.left_out == {"an order has no verdict": 1}
    (repeats,) = found.repeats
    assert (repeats.agreeing.estimate, repeats.agreeing.n) == (1 / 3, 3)
    # A standard deviation of two values is their distance over the square root of 2; two orders are averaged.
    assert repeats.spread.estimate == pytest.approx((0 + (2 + 2) / 2 + (2 + 0) / 2) / sqrt(2) / 3)


def test_means_that_are_equal_but_for_rounding_are_equal() -> None:
    found = consistency(output(rubric([1, 1, 2], [2, 1, 1])), n_resamples=0)
    assert found.order is not None
    assert (found.order.equal.estimate, found.order.distance.estimate) == (1, 0)


def test_intervals_resample_items_not_texts() -> None:
    """Two items of four alike texts each: the difference is 0 or 1 by item, so that every end is 0, 0.5 or 1."""
    records = [rubric([3], [3])] * 4 + [rubric([3], [4])] * 4
    found = consistency(output(*records, texts_an_item=4))
    assert found.order is not None
    difference = found.order.difference
    assert (difference.estimate, difference.n, difference.n_clusters) == (0.5, 8, 2)
    assert (difference.low, difference.high) == (0, 1)


def test_what_was_not_asked_for_has_a_reason() -> None:
    found = consistency(output(rubric([3]), rubric([4])))
    (repeats,) = found.repeats
    assert (repeats.agreeing.estimate, repeats.agreeing.reason) == (None, ONE_REPEAT)
    assert (repeats.spread.n, repeats.spread.n_left_out, repeats.left_out) == (0, 2, {})
    nothing = consistency(output(None, None))
    assert (nothing.n_repeats, nothing.orders) == (0, ())
    assert nothing.repeats[0].agreeing.reason == NOT_ASKED
    assert nothing.order is not None
    assert nothing.order.equal.reason == NOT_ASKED
    assert consistency(output()).n_texts == 0
    unfinished = consistency(output(rubric([3, None], [None, None])))
    assert unfinished.repeats[0].spread.reason == "no text has a value in every repeat"
    assert unfinished.order is not None
    assert unfinished.order.equal.reason == "no text has a verdict in both orders"


@pytest.mark.parametrize(
    ("temperature", "verdicts", "told"),
    [
        (0.0, [3, 3], (AT_TEMPERATURE_0,)),
        (0.0, [3, None], (AT_TEMPERATURE_0,)),
        (0.0, [3, 4], (DIFFERS_AT_TEMPERATURE_0,)),
        (0.0, [3, 4, None], (DIFFERS_AT_TEMPERATURE_0,)),
        (None, [3, 3], ()),
        (0.7, [3, 3], ()),
        (0.7, [3, 4], ()),
        (0.0, [3], ()),
    ],
)
def test_repeats_at_temperature_0_are_explained_by_what_they_are(
    temperature: float | None, verdicts: list[int | None], told: tuple[str, ...]
) -> None:
    """Servers may differ at temperature 0: a note may not deny the figures above it."""
    given = replace(output(rubric([2, 2]), rubric(verdicts)), settings={"temperature": temperature})
    if len(verdicts) == 1:
        given = replace(given, texts=given.texts[1:])
    assert consistency(given, n_resamples=0).notes == told
    refused = replace(given, not_sent=frozenset({"seed", "temperature"}))
    assert consistency(refused, n_resamples=0).notes == ()
    assert consistency(replace(given, not_sent=frozenset({"seed"})), n_resamples=0).notes == told


def test_a_judge_that_says_the_same_of_everything_is_named() -> None:
    """It agrees with itself in every text, and by nothing else."""
    found = consistency(output(rubric([1, 1], [1, 1]), rubric([1, 1], [1, None])), n_resamples=0)
    (repeats,) = found.repeats
    assert repeats.agreeing.estimate == 1
    assert repeats.constant is not None
    assert (repeats.constant.value, repeats.constant.n) == (1, 7)
    assert len(found.constants) == 1
    assert consistency(output(rubric([1, 1]), rubric([2, 2])), n_resamples=0).constants == ()


def test_one_repeat_in_one_order_compares_nothing() -> None:
    assert nothing_compared(output(rubric([3]))) == ONE_REPEAT
    assert nothing_compared(output(None)) == NOT_ASKED
    for enough in (rubric([3, 4]), rubric([3], [4])):
        assert nothing_compared(output(enough)) is None


def asked(answers: list[Verdict | None]) -> tuple[CrossQuestion, ...]:
    return tuple(
        CrossQuestion(f"Question {n}?", answer=answer, reason=None if answer else "unparsed")
        for n, answer in enumerate(answers)
    )


def examined(*answers: tuple[list[Verdict | None], list[Verdict | None]]) -> CefRecord:
    return CefRecord(
        tuple(Examination(n, asked(source), asked(text)) for n, (source, text) in enumerate(answers))
    )


def test_repeats_of_a_cross_examination() -> None:
    """Coverage 0.5 and 1 in the first text, 1 and 1 in the second; consistency is 0.5 throughout."""
    half: list[Verdict | None] = ["YES", "IDK"]
    found = consistency(
        output(
            examined((half, half), (["YES", "YES"], half)),
            examined((["YES", "NO"], half), (["YES", "NO"], half)),
            examined((half, half), ([None, None], half)),
            kind="cef",
        ),
        n_resamples=0,
    )
    by_name = {one.component: one for one in found.repeats}
    assert list(by_name) == ["coverage", "conformity", "consistency", "consistency-code", "overall"]
    coverage, consistent = by_name["coverage"], by_name["consistency"]
    assert (coverage.agreeing.estimate, coverage.agreeing.n, coverage.agreeing.n_left_out) == (0.5, 2, 1)
    assert coverage.spread.estimate == pytest.approx(0.5 / sqrt(2) / 2)
    assert (consistent.agreeing.estimate, consistent.spread.estimate, consistent.spread.n) == (1, 0, 3)
    assert by_name["overall"].spread.estimate == pytest.approx(0.5 / sqrt(2) / 2 / 3)
    assert coverage.left_out == {REPEAT_MISSING: 1}
    assert (found.order, found.orders, found.n_repeats) == (None, (), 2)


def test_a_judge_that_asks_nothing_twice_is_refused() -> None:
    with pytest.raises(InputError, match="is a claims judge"):
        consistency(output(None, kind="claims"))
