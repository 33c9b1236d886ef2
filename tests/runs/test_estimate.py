"""What a whole run will cost, told from its first items: scaled by hand, and not told where nothing is known."""

from collections.abc import Sequence
from typing import Any
from unittest.mock import Mock

import pytest
from helpers.texts.judge_runs import settings

from core.generation.factual import scheme as factual
from core.runs.asked import Asked, Running, ask, kept
from core.runs.at_hand import RunAtHand
from core.runs.costs import Estimate, estimate
from core.runs.jobs import width_of
from core.runs.path import PATHS
from core.runs.progress import Progress
from core.schema import Run, StepCost

OPENAI: dict[str, Any] = {"backend": "openai", "model": "tiny", "base_url": "http://127.0.0.1:1/v1"}
VLLM: dict[str, Any] = {"backend": "vllm", "model": "tiny"}


def progress(
    *costs: StepCost,
    done: int = 4,
    failed: int = 1,
    n_items: int = 100,
    prices: float | None = 2.0,
    **model: Any,
) -> tuple[RunAtHand, Progress]:
    """Of a run that makes texts with 10 requests open at once, as far as its user can say."""
    asked, _ = ask(factual.KIND, {}, model or OPENAI, {})
    running = Running(concurrency=10, input_price=prices, output_price=prices)
    return of(asked, running, done, failed, n_items, costs)


def of(
    asked: Asked, running: Running, done: int, failed: int, n_items: int, costs: Sequence[StepCost]
) -> tuple[RunAtHand, Progress]:
    run = Run(
        1,
        asked.kind.name,
        "done",
        kept(asked),
        running.model_dump(mode="json"),
        "q.csv",
        "00",
        n_items,
        5,
        "",
        "0",
    )
    at = RunAtHand(Mock(), run, PATHS[asked.kind.work])
    return at, Progress(run, "done", done, failed, 0, {}, list(costs), None, None)


def test_calls_tokens_money_and_time_are_scaled_to_all_items() -> None:
    costs = (StepCost("rank", 5, 0, 0, 500, 50, 1.0), StepCost("edit", 20, 0, 2, 4_000, 400, 8.0))
    assert estimate(*progress(*costs), 3.0) == Estimate(
        n_seen=5,
        n_items=100,
        calls=500,
        input_tokens=90_000,
        output_tokens=9_000,
        money=pytest.approx(0.198),
        seconds=30.0,  # 100 items of 3 s, ten side by side
    )


def test_answers_from_the_cache_are_counted_as_if_they_had_to_be_paid() -> None:
    whole = estimate(*progress(StepCost("rank", 5, 0, 0, 500, 50, 1.0)), 1.0)
    half = estimate(*progress(StepCost("rank", 2, 3, 0, 200, 20, 0.4)), 1.0)
    assert whole == half


def test_nothing_is_told_where_nothing_is_known() -> None:
    cached = estimate(*progress(StepCost("rank", 0, 5, 0, None, None, 0.0)), 1.0)
    assert (cached.calls, cached.input_tokens, cached.money, cached.seconds) == (None, None, None, 10.0)
    none = estimate(*progress(done=0, failed=0), None)
    assert (none.calls, none.seconds) == (None, None)
    uncounted = estimate(*progress(StepCost("rank", 5, 0, 0, None, None, 1.0)), None)
    assert (uncounted.calls, uncounted.output_tokens, uncounted.money) == (100, None, None)
    unpriced = estimate(*progress(StepCost("rank", 5, 0, 0, 500, 50, 1.0), prices=None), None)
    assert (unpriced.output_tokens, unpriced.money) == (1_000, None)


def test_rules_work_one_item_at_a_time_and_ask_nobody() -> None:
    found = estimate(*progress(backend="rules"), 0.5)
    assert (found.calls, found.seconds) == (0, 50.0)


BY_RULES = settings("claims", "", backend="rules", verifier="rules")
BY_NLI = settings("claims", "", backend="rules", verifier="nli")
AT_SERVER, IN_PROCESS = settings("rubric", OPENAI["base_url"]), settings("rubric", "", **VLLM)


def judging(asked: Asked, *costs: StepCost, seen: int = 5, n_items: int = 100) -> tuple[RunAtHand, Progress]:
    return of(asked, Running(concurrency=10), seen, 0, n_items, costs)


def test_vllm_in_this_process_works_on_its_own_number_of_requests() -> None:
    made = progress(StepCost("rank", 5, 0, 0, 500, 50, 1.0), n_items=1_000, **VLLM)
    assert estimate(*made, 2.56).seconds == pytest.approx(10.0), "256 side by side, not 10"
    judged = judging(IN_PROCESS, StepCost("rubric", 5, 0, 0, 500, 50, 1.0), n_items=1_000)
    assert estimate(*judged, 2.56).seconds == pytest.approx(10.0)
    slow = judging(IN_PROCESS, StepCost("rubric", 5, 0, 0, 500, 50, 25.6), n_items=1_000)
    assert estimate(*slow, 2.56).seconds == pytest.approx(20.0), "5,120 s of requests, 256 at once"


def test_items_of_many_texts_fill_the_open_requests_sooner() -> None:
    judged = judging(AT_SERVER, StepCost("rubric", 25, 0, 0, 500, 50, 1.0))
    assert estimate(*judged, 0.4, 5.0).seconds == pytest.approx(10.0), "4 items, 20 texts for 10 requests"
    assert estimate(*judged, 0.4, 1.0).seconds == pytest.approx(4.0)
    busy = judging(AT_SERVER, StepCost("rubric", 25, 0, 0, 500, 50, 10.0))
    assert estimate(*busy, 0.4, 5.0).seconds == pytest.approx(20.0), "200 s of requests, 10 at once"


def test_rules_and_an_entailment_model_work_on_as_many_texts_as_fill_a_batch() -> None:
    assert estimate(*judging(BY_RULES), 1.0, 5.0).seconds == 100.0
    assert estimate(*judging(BY_NLI, seen=5), 1.0, 5.0).seconds == 20.0, "5 items seen, side by side"
    assert estimate(*judging(BY_NLI, seen=20), 1.0, 5.0).seconds == pytest.approx(100 / 7)


@pytest.mark.parametrize(
    ("chosen", "texts_per_item", "width"),
    [
        (BY_RULES, 5, 1),
        (BY_NLI, 5, 7),
        (BY_NLI, 1, 32),
        (BY_NLI, 100, 1),
        (AT_SERVER, 5, 4),
        (AT_SERVER, 1, 10),
        (IN_PROCESS, 5, 103),
    ],
)
def test_items_at_work_at_once(chosen: Asked, texts_per_item: float, width: int) -> None:
    assert width_of(chosen, Running(concurrency=10), texts_per_item) == width
