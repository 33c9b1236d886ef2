"""Cost of runs: of judges for comparison, and estimates for a whole run from its first items."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import stdev

from core.errors import InputError
from core.results.check.facts import facts_of
from core.results.check.verdict import JudgeFacts
from core.results.judges.costs import JudgeCost, costs_of_report
from core.runs.jobs import RunAtHand, open_at_once, width_of
from core.runs.judging import judge_output
from core.runs.kinds import KINDS
from core.runs.progress import Progress, progress_of, spoken_range
from core.runs.records import RECORDS_FILE, bytes_of, read_judge_folder, read_report
from core.schema.runs import RULES, RUN_FILE, Run
from core.store.kept import answers_of_others, step_costs, texts_come_to
from core.store.runs import calls_of_items, item_times
from core.tables.reading import name_of, reject, shown


def cost_of_run(at: RunAtHand) -> JudgeCost:
    """The run's cost so far. Raises InputError for a run that neither judges nor examines judges."""
    if at.kind.work not in ("judging", "audit"):
        raise InputError(f"Run {at.run.run_id} is not a judge's run (kind: {at.kind.name}).")
    return _cost(at, _called(at.kind.name, at.path.maker(at.request)))


def cost_alone(at: RunAtHand) -> JudgeCost:
    """The run's cost as if it were the only run: answers that others paid for count with what they cost there."""
    alone = tuple(step_costs(at.store, at.run.run_id, alone=True))
    return replace(_cost(at, at.path.maker(at.request)), costs=alone, n_found=0)


def _cost(at: RunAtHand, name: str) -> JudgeCost:
    number, running = at.run.run_id, at.running
    n_texts, _ = texts_come_to(at.store, number)
    progress = progress_of(at.store, number)
    return JudgeCost(
        name,
        tuple(progress.costs),
        progress.n_done + progress.n_failed,
        n_texts,
        getattr(running, "input_price", None),
        getattr(running, "output_price", None),
        at.run.n_wanted,
        answers_of_others(at.store, number),
    )


def facts_of_run(at: RunAtHand, dimension: str | None = None) -> dict[str, JudgeFacts]:
    """Metric or judge of a scoring or judge's run -> its consistency, price, time and model; empty for other runs.

    The price of lexical metrics and of judges by rules is 0, because no model is asked.
    """
    if at.kind.work not in ("judging", "scores"):
        return {}
    cost = _cost(at, at.kind.name)
    is_judge = at.kind.work == "judging"
    return facts_of(
        [metric.name for metric in at.metrics],
        cost,
        judge_output(at) if is_judge else None,
        dimension=dimension,
        is_free=at.request.by_rules if is_judge else {one.step for one in cost.costs} == {"lexical"},
    )


def facts_of_folder(folder: Path, dimension: str | None = None) -> dict[str, JudgeFacts]:
    """The same from the folder of a judge's run; empty for folders of other runs."""
    if KINDS[read_report(folder)["kind"]].work != "judging":
        return {}
    output, cost = read_judge_folder(folder), cost_of_folder(folder)
    return facts_of(
        [metric.name for metric in output.metrics],
        cost,
        output,
        dimension=dimension,
        is_free=output.model == RULES,
    )


def cost_of_folder(folder: Path) -> JudgeCost:
    """The cost of the run that wrote the folder. Raises InputError unless it is a judge's run.

    Prices come from its run.json.
    """
    report = read_report(folder)
    kind, settings = report["kind"], report["settings"]
    if kind not in KINDS or KINDS[kind].work not in ("judging", "audit"):
        raise InputError(
            f"{folder} contains a run of the kind {shown(kind)}; choose the folder of a judge's run."
        )
    name = settings.get("name") if KINDS[kind].work == "judging" else settings.get("model") or RULES
    if not isinstance(name, str) or name_of(name) is None:
        reject(
            str(folder / RUN_FILE), [f"settings: the name of the judge or model is missing (kind: {kind})"]
        )
    n_texts = sum(1 for line in bytes_of(folder / RECORDS_FILE).splitlines() if line.strip())
    return costs_of_report(report, folder / RUN_FILE, _called(kind, name), n_texts)


def _called(kind: str, name: str) -> str:
    """Name of the judge; an audit, named after its model, gets its kind in front."""
    return name if KINDS[kind].work == "judging" else f"{kind} of {name}"


@dataclass(frozen=True)
class Estimate:
    """Estimate for all items of a run, including finished ones."""

    n_seen: int
    """Number of items that the estimate is based on."""
    n_items: int
    calls: int | None
    """None: unknown, because every answer came from the cache or the server failed."""
    input_tokens: int | None
    output_tokens: int | None
    money: float | None
    """None if a price or a count of tokens is missing."""
    seconds: float | None
    """Total working time by the clock: so far, another start of the model, and the remaining items. The geometric
    middle of its range."""
    seconds_low: float | None = None
    seconds_high: float | None = None
    spread: float | None = None
    """Calls, tokens and money can differ by this share: half of a 90 % interval, from the spread between items. None:
    only one item."""

    @property
    def time(self) -> str | None:
        """The range of the time in words; None: unknown."""
        if self.seconds_low is None or self.seconds_high is None:
            return None
        return spoken_range(self.seconds_low, self.seconds_high)


@dataclass(frozen=True)
class Seen:
    """Times and tokens of finished items. Times are seconds of one clock."""

    items: Sequence[tuple[float, float]]
    """Start and end of the work on each item; they can overlap."""
    calls: Sequence[tuple[int, float, float]] = ()
    """Position of the item, seconds that the request was open, input and output tokens."""
    texts_per_item: float = 1.0


def estimate_all(at: RunAtHand, progress: Progress) -> Estimate:
    """Estimate a whole run from its finished items, without items that got no answer."""
    number = progress.run.run_id
    if at.kind.work == "tables":
        return estimate_scoring(at, progress)
    progress = replace(progress, costs=step_costs(at.store, number, finished=True))
    if at.kind.work == "scores":
        return estimate_scoring(at, progress)
    n_texts, n_items = texts_come_to(at.store, number)
    times = item_times(at.store, number)
    return estimate(
        at, progress, Seen(times, calls_of_items(at.store, number), n_texts / n_items if n_items else 1.0)
    )


def estimate_scoring(at: RunAtHand, progress: Progress) -> Estimate:
    """Estimate texts and time of a whole scoring run. Cached scores count as if they had to be computed.

    The range of the time reflects the gain from several processes.
    """
    run = progress.run
    n_seen = progress.n_done + progress.n_failed
    if not n_seen or any(cost.calls == 0 for cost in progress.costs):
        return Estimate(n_seen, run.n_items, None, None, None, None, None)
    n_left = max(0, run.n_items - n_seen)
    calls = run.n_items / n_seen * max((cost.calls + cost.cached for cost in progress.costs), default=0)
    processes = at.running.processes(round(calls))
    alone = {
        cost.step: n_left / n_seen * cost.seconds * (cost.calls + cost.cached) / cost.calls
        for cost in progress.costs
    }
    shared = sum(one / (processes if step == "lexical" else 1) for step, one in alone.items())
    # Items of a batch share one time, so their spread is unknown; assuming it equals the mean is a cautious guess.
    varied = max(_MACHINE, _relative([0.0, 2.0], n_left, n=n_seen))
    return _timed(
        Estimate(n_seen, run.n_items, round(calls), None, None, None, None),
        run,
        n_left,
        shared / (1 + varied),
        sum(alone.values()) * (1 + varied),
    )


def estimate(at: RunAtHand, progress: Progress, seen: Seen) -> Estimate:
    """Extrapolate from the finished items.

    Answers from the cache are priced at the mean of paid answers, because future items are not in the cache. Longest
    time: more open requests are answered no faster than those seen. Shortest time: the model keeps up with all
    requests that can be open at once.
    """
    run, running = progress.run, at.running
    n_seen = progress.n_done + progress.n_failed
    n_left = max(0, run.n_items - n_seen)
    scale = run.n_items / n_seen if n_seen else 0.0
    asked = [cost for cost in progress.costs if cost.calls + cost.cached]
    if not n_seen or any(cost.calls == 0 for cost in asked):
        return Estimate(n_seen, run.n_items, None, None, None, None, None)
    calls, tokens_in, tokens_out, paid = 0.0, 0.0, 0.0, 0
    counted = all(cost.input_tokens is not None and cost.output_tokens is not None for cost in asked)
    for cost in asked:
        times = scale * (cost.calls + cost.cached) / cost.calls
        paid += cost.calls
        calls += times * cost.calls
        tokens_in += times * (cost.input_tokens or 0)
        tokens_out += times * (cost.output_tokens or 0)
    money = None
    if counted and running.input_price is not None and running.output_price is not None:
        money = (tokens_in * running.input_price + tokens_out * running.output_price) / 1e6
    sizes = _item_sums(seen, 2 if counted else 1)
    found = Estimate(
        n_seen,
        run.n_items,
        round(calls),
        round(tokens_in) if counted else None,
        round(tokens_out) if counted else None,
        money,
        None,
        spread=_relative(sizes, n_left) if len(sizes) > 1 else None,
    )
    worked = covered(seen.items)
    if not worked or at.request.model.backend == "batch":  # whoever answers the files takes the time, unseen
        return found
    lasting = worked / n_seen * n_left * (calls / scale / paid if paid else 1.0)
    of_items = _item_sums(seen, 1) if seen.calls else [end - begin for begin, end in seen.items]
    varied = max(_MACHINE, _relative(of_items, n_left))
    return _timed(
        found, run, n_left, lasting / _gain(at, seen, worked, n_left) / (1 + varied), lasting * (1 + varied)
    )


_MACHINE = 0.25
"""Smallest relative uncertainty of a time, because machines, servers and connections vary."""
_WIDEST = 2.0
"""A time estimated from one item can be a third of it, or three times as much."""


def _timed(found: Estimate, run: Run, n_left: int, low: float, high: float) -> Estimate:
    """The estimate with its times: time so far, another start, and the remaining items."""
    before = run.worked_seconds + ((run.start_seconds or 0.0) if n_left else 0.0)
    low, high = before + low, before + high
    return replace(found, seconds=math.sqrt(low * high), seconds_low=low, seconds_high=high)


def _gain(at: RunAtHand, seen: Seen, worked: float, n_left: int) -> float:
    """Possible speed-up of the remaining items from more open requests; 1 or more.

    A server may have room for all of them. An engine in this process has one processor for all, so the gain is far
    smaller than the number of requests; the square root is an optimistic guess.
    """
    if at.request.by_rules or not seen.calls:
        return 1.0
    waited = sum(seconds for _, seconds, _ in seen.calls)
    n_open = waited / worked
    an_item = waited / max(sum(end - begin for begin, end in seen.items), 1e-9)
    items = min(width_of(at.request, at.running, seen.texts_per_item), n_left)
    then = min(open_at_once(at.request.model, at.running), an_item * items)
    more = max(1.0, then / n_open) if n_open else 1.0
    return math.sqrt(more) if at.request.model.backend == "vllm" else more


def covered(spans: Sequence[tuple[float, float]]) -> float:
    """Total length of all spans; overlaps count once.

    >>> covered([(0, 2), (1, 3), (5, 6)])
    4.0
    """
    total, until = 0.0, -math.inf
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def _item_sums(seen: Seen, what: int) -> list[float]:
    """The sum for each item with requests: of seconds (1) or tokens (2)."""
    sums: dict[int, float] = {}
    for call in seen.calls:
        sums[call[0]] = sums.get(call[0], 0.0) + call[what]
    return list(sums.values())


def _relative(sizes: Sequence[float], n_left: int, *, n: int | None = None) -> float:
    """Half of the 90 % interval for the mean of the remaining items, relative to the mean of those seen.

    n: number of items seen, if it differs from the number of sizes.
    """
    n, mean = n or len(sizes), sum(sizes) / max(len(sizes), 1)
    if n < 2 or mean <= 0:
        return _WIDEST
    # Imported lazily: it takes half a second to load.
    from scipy.special import stdtrit

    error = stdev(sizes) * math.sqrt(1 / n + 1 / max(n_left, 1))
    return min(_WIDEST, float(stdtrit(n - 1, 0.95)) * error / mean)
