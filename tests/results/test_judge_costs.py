"""What judges cost, beside the figures that CEF prints."""

from dataclasses import replace

import pytest

from core.results.judges.costs import NO_COUNT, NOT_FINISHED, JudgeCost, cost_notes, costs_side_by_side
from core.schema.runs import StepCost


def cost(step, calls, tokens_in, tokens_out, cached=0, unusable=0, seconds=1.0):
    return StepCost(step, calls, cached, unusable, tokens_in, tokens_out, seconds)


TABLE_9 = (
    cost("questions from source", 875, 285_856, 673_375),
    cost("questions from text", 875, 352_802, 673_600),
    cost("answers from text", 8_750, 3_151_830, 26_235),
    cost("answers from source", 8_750, 2_297_145, 26_244),
)
"""CEF, Table 9: input and output tokens by step, of 875 samples; it does not print calls."""


def test_the_papers_steps_sum_to_its_totals_and_the_answers_take_most():
    """CEF, Tables 8 and 9: 6,087,633 input tokens, 1,399,454 output tokens, 6,957.29 and 1,599.38 a sample, $ 4.3208 in
    all at $ 0.25 and $ 2 a million.
    """
    *steps, whole = costs_side_by_side([JudgeCost("cef", TABLE_9, 875, 875, 0.25, 2.0)])
    assert (whole.step, whole.input_tokens, whole.output_tokens) == ("all steps", 6_087_633, 1_399_454)
    assert sum(row.input_share for row in steps[2:]) == pytest.approx(0.895, abs=5e-4)
    assert whole.each("input_tokens", "text") == pytest.approx(6_957.29, abs=0.01)
    assert whole.each("output_tokens", "text") == pytest.approx(1_599.38, abs=0.01)
    assert whole.money == pytest.approx(4.3208, abs=5e-5)
    assert sum(row.money for row in steps) == pytest.approx(whole.money)
    assert whole.input_share == 1
    assert whole.each("calls", "text") == 22


def test_a_step_without_counts_leaves_its_judge_without_totals_and_without_zeros():
    rows = costs_side_by_side(
        [JudgeCost("claims", (cost("verify", 5, 100, 20), cost("claims", 5, None, 7)), 1, 5, 1.0, 1.0)]
    )
    verify, claims, whole = rows
    assert (verify.input_tokens, verify.money, verify.input_share) == (100, 120 / 1e6, None)
    assert verify.why("input_share") == "the server counts no tokens"
    assert (claims.input_tokens, claims.output_tokens, claims.money) == (None, 7, None)
    assert claims.why("money_per_text") == claims.why("input_tokens_per_item") == NO_COUNT
    assert (whole.input_tokens, whole.output_tokens, whole.money, whole.calls) == (None, 27, None, 10)
    assert claims.why("output_tokens") is None


@pytest.mark.parametrize(
    ("input_price", "output_price", "reason"),
    [
        (None, None, "no price is given"),
        (1.0, None, "no output price is given"),
        (None, 1.0, "no input price is given"),
    ],
)
def test_money_needs_both_prices(input_price, output_price, reason):
    (*_, whole) = costs_side_by_side(
        [JudgeCost("rubric", (cost("rubric", 2, 10, 1),), 1, 2, input_price, output_price)]
    )
    assert (whole.money, whole.each("money", "item")) == (None, None)
    assert whole.why("money") == reason


def test_a_run_that_is_not_finished_tells_its_sums_and_no_cost_of_one_text():
    """1 of 4 items is finished: of the 10 calls nobody knows how many were for its 5 texts."""
    begun = JudgeCost("cef", (cost("answers", 10, 1_000, 10),), 1, 5, 2.0, 4.0, n_wanted=4)
    rows = costs_side_by_side([begun, replace(begun, name="whole", n_items=4, n_texts=20)])
    first, second = rows[1], rows[3]
    assert (first.calls, first.money, first.n_items, first.n_wanted) == (10, 2_040 / 1e6, 1, 4)
    for what in ("calls", "input_tokens", "output_tokens", "money"):
        for of in ("item", "text"):
            assert first.each(what, of) is None
            assert first.why(f"{what}_per_{of}") == NOT_FINISHED
            assert second.why(f"{what}_per_{of}") is None
    assert (second.each("calls", "item"), second.each("calls", "text")) == (2.5, 0.5)
    assert first.why("calls") is None
    assert cost_notes(rows) == (
        "cef: 1 of 4 items are finished. Costs per item or text are shown when all are",
    )


def test_a_judge_that_others_paid_for_is_named_once():
    found = JudgeCost("late", (cost("a", 1, 10, 1, cached=4), cost("b", 2, 10, 1)), 1, 1, n_found=3)
    shared = JudgeCost("first", (cost("a", 1, 10, 1, cached=4),), 1, 1)
    (note,) = cost_notes(costs_side_by_side([found, shared]))
    assert note.startswith("late: 3 answers came from the cache, paid for by other runs")


def test_answers_from_the_cache_cost_nothing():
    cached = cost("rubric", 0, None, None, cached=4, seconds=0.0)  # an account without calls sums to None
    step, whole = costs_side_by_side([JudgeCost("rubric", (cached,), 2, 4, 1.0, 1.0)])
    assert (step.calls, step.cached, step.input_tokens, step.money) == (0, 4, 0, 0.0)
    assert whole.input_share is None
    assert whole.why("input_share") == "no calls: every answer came from the cache"


def test_a_judge_without_a_model_and_a_run_without_texts():
    (rules,) = costs_side_by_side([JudgeCost("claims-rules", (), 0, 0)])
    assert (rules.step, rules.calls, rules.money, rules.each("money", "text")) == ("all steps", 0, None, None)
    assert rules.why("money") == "no model used"
    assert rules.why("calls_per_text") == "no text was processed"
    assert rules.why("calls_per_item") == "no item was processed"


def test_judges_stand_in_the_order_given_with_what_an_item_and_a_text_cost():
    rows = costs_side_by_side(
        [
            JudgeCost("each", (cost("answers", 20, 4_000, 40, unusable=1),), 1, 5, 2.0, 4.0),
            JudgeCost("batch", (cost("answers", 2, 500, 60),), 1, 5, 2.0, 4.0),
        ]
    )
    assert [(row.judge, row.step) for row in rows] == [
        ("each", "answers"),
        ("each", "all steps"),
        ("batch", "answers"),
        ("batch", "all steps"),
    ]
    first, _, second, _ = rows
    assert (first.each("calls", "item"), first.each("calls", "text"), first.unusable) == (20, 4, 1)
    assert (first.each("money", "item"), first.each("money", "text")) == pytest.approx(
        (8_160 / 1e6, 1_632 / 1e6)
    )
    assert first.input_tokens / second.input_tokens == 8
    assert (second.each("input_tokens", "text"), second.each("output_tokens", "item")) == (100, 60)
