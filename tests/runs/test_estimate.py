"""What a whole run will take, told from its first items: scaled by hand, ranges, and not told where nothing is known."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Body, Said
from helpers.texts.judge_runs import judging_server, settings, texts, worked

from core.generation import factual
from core.llm.vllm import VllmEngine
from core.runs.asked import Asked, Running, ask, kept
from core.runs.costs import Estimate, Seen, estimate, estimate_all
from core.runs.jobs import RunAtHand, width_of
from core.runs.path import PATHS, create, resume
from core.runs.progress import Progress, progress_of, spoken_range, wall_seconds
from core.schema.runs import Run, StepCost
from core.store import Store

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
    return at, Progress(run, "done", done, failed, 0, {}, list(costs), None)


def side_by_side(n: int, seconds: float) -> list[tuple[float, float]]:
    """So many items, all begun together."""
    return [(0.0, seconds)] * n


def one_by_one(n: int, seconds: float) -> list[tuple[float, float]]:
    """So many items, one after the other."""
    return [(at * seconds, (at + 1) * seconds) for at in range(n)]


def requests(n_items: int, each: int, seconds: float, tokens: float = 100) -> list[tuple[int, float, float]]:
    """Requests alike, as many an item."""
    return [(item, seconds, tokens) for item in range(n_items) for _ in range(each)]


UNKNOWN = Seen(())


def test_calls_tokens_and_money_are_scaled_to_all_items() -> None:
    costs = (StepCost("rank", 5, 0, 0, 500, 50, 1.0), StepCost("edit", 20, 0, 2, 4_000, 400, 8.0))
    assert estimate(*progress(*costs), UNKNOWN) == Estimate(
        n_seen=5,
        n_items=100,
        calls=500,
        input_tokens=90_000,
        output_tokens=9_000,
        money=pytest.approx(0.198),
        seconds=None,
    )


def test_answers_from_the_cache_are_counted_as_if_they_had_to_be_paid() -> None:
    seen = Seen(side_by_side(5, 4.0))
    whole = estimate(*progress(StepCost("rank", 5, 0, 0, 500, 50, 1.0)), seen)
    half = estimate(*progress(StepCost("rank", 2, 3, 0, 200, 20, 0.4)), seen)
    assert (half.calls, half.input_tokens, half.money) == (whole.calls, whole.input_tokens, whole.money)
    assert whole.seconds is not None
    assert half.seconds == pytest.approx(2.5 * whole.seconds), "two of five took the time"


def test_nothing_is_told_where_nothing_is_known() -> None:
    cached = estimate(*progress(StepCost("rank", 0, 5, 0, None, None, 0.0)), Seen(side_by_side(5, 0.1)))
    assert (cached.calls, cached.input_tokens, cached.money, cached.time) == (None, None, None, None), (
        "the cache says nothing of the time either"
    )
    none = estimate(*progress(done=0, failed=0), UNKNOWN)
    assert (none.calls, none.seconds) == (None, None)
    uncounted = estimate(*progress(StepCost("rank", 5, 0, 0, None, None, 1.0)), UNKNOWN)
    assert (uncounted.calls, uncounted.output_tokens, uncounted.money) == (100, None, None)
    unpriced = estimate(*progress(StepCost("rank", 5, 0, 0, 500, 50, 1.0), prices=None), UNKNOWN)
    assert (unpriced.output_tokens, unpriced.money) == (1_000, None)


def test_rules_work_one_item_at_a_time_and_ask_nobody() -> None:
    found = estimate(*progress(backend="rules"), Seen(one_by_one(5, 0.5)))
    assert found.calls == 0
    assert bounds(found) == pytest.approx((47.5 / 1.25, 47.5 * 1.25)), "95 items of half a second are left"
    assert found.seconds == pytest.approx(47.5)


def bounds(found: Estimate) -> tuple[float, float]:
    assert found.seconds_low is not None
    assert found.seconds_high is not None
    return found.seconds_low, found.seconds_high


def test_all_never_take_less_than_the_first_and_another_start() -> None:
    at, standing = progress(StepCost("rank", 5, 0, 0, 500, 50, 1.0), n_items=6)
    run = replace(at.run, worked_seconds=150.0, start_seconds=100.0)
    found = estimate(at, replace(standing, run=run), Seen(one_by_one(5, 10.0), requests(5, 1, 10.0)))
    low, high = bounds(found)
    assert 250 < low < high
    assert high == pytest.approx(250 + 10 * 1.25)
    whole = replace(run, n_items=5)
    assert bounds(estimate(at, replace(standing, run=whole), Seen(one_by_one(5, 10.0)))) == (150.0, 150.0)


def test_the_range_has_one_end_without_and_one_with_more_requests_at_once() -> None:
    costs = StepCost("rank", 5, 0, 0, 500, 50, 20.0)
    low, high = bounds(estimate(*progress(costs), Seen(side_by_side(5, 4.0), requests(5, 1, 4.0))))
    left = 4.0 / 5 * 95
    assert (low, high) == pytest.approx((left / 2 / 1.25, left * 1.25)), "five were open, ten can be"
    low, high = bounds(
        estimate(*progress(costs, **VLLM, n_items=10_000), Seen(side_by_side(5, 4.0), requests(5, 1, 4.0)))
    )
    left = 4.0 / 5 * 9_995
    at_most = (VllmEngine.concurrency / 5) ** 0.5
    assert (low, high) == pytest.approx((left / at_most / 1.25, left * 1.25)), "one processor for all"


def test_items_that_differ_widen_the_range_and_one_alone_says_little() -> None:
    costs = StepCost("rank", 5, 0, 0, 500, 50, 1.0)
    alike = estimate(*progress(costs), Seen(side_by_side(5, 4.0), requests(5, 2, 1.0)))
    uneven = [(item, seconds, 100.0 * seconds) for item, seconds in enumerate((0.2, 0.5, 1.0, 1.5, 6.8))]
    varied = estimate(*progress(costs), Seen(side_by_side(5, 4.0), uneven))
    assert (alike.spread, bounds(alike)[1] < bounds(varied)[1]) == (0.0, True)
    # t(4) at 95 % is 2.132; the five have a mean of 2.0 and a standard deviation of 2.7286.
    assert varied.spread == pytest.approx(2.132 * 2.7286 * (1 / 5 + 1 / 95) ** 0.5 / 2.0, rel=1e-3)
    one = estimate(*progress(costs, done=1, failed=0), Seen(side_by_side(1, 4.0), requests(1, 2, 4.0)))
    assert one.spread is None
    assert bounds(one)[1] == pytest.approx(3 * 4.0 * 99)


def test_ranges_are_said_in_one_unit() -> None:
    for low, high, said in (
        (2_400, 4_500, "40 to 75 min"),
        (20, 300, "20 s to 5 min"),
        (3.2, 41, "3.2 to 41 s"),
        (0.01, 0.2, "about 1 s"),
        (5_000, 30_000, "1.4 to 8.3 h"),
        (90, 114, "90 to 110 s"),
        (600, 602, "about 10 min"),
    ):
        assert spoken_range(low, high) == said


BY_RULES = settings("claims", "", backend="rules", verifier="rules")
BY_NLI = settings("claims", "", backend="rules", verifier="nli")
AT_SERVER, IN_PROCESS = settings("rubric", OPENAI["base_url"]), settings("rubric", "", **VLLM)


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


@pytest.mark.parametrize("server_at_once", [4, 1_000])
def test_a_preview_tells_the_time_of_the_whole(server_at_once: int, store: Store) -> None:
    """8 of 48 items on a server that answers four requests at once, 50 ms each, and on one that answers all at once."""
    free = [0.0] * server_at_once

    def script(body: Body, n: int) -> Said:
        at = min(range(server_at_once), key=free.__getitem__)
        now = time.monotonic()
        free[at] = max(now, free[at]) + 0.05
        return Said(answer(body), delay=free[at] - now)

    with judging_server(script) as server:
        asked = settings("rubric", server.url)
        run, _ = create(store, texts(48), "t.jsonl", asked, Running(concurrency=16, retries=0), limit=8)
        worked(run)
        told = estimate_all(run, progress_of(store, run.run.run_id))
        resume(run, None, None)
        worked(run)
    truth = wall_seconds(run.now().run)
    assert truth is not None
    low, high = bounds(told)
    assert low / 2 <= truth <= high * 2
    assert told.seconds is not None
    assert told.seconds / 2 <= truth <= told.seconds * 2
    assert run.run.start_seconds is not None
    assert run.run.start_seconds < truth
