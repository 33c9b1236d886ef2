"""What runs cost: judges' put side by side, and what a whole run will take, told from its first items."""

from dataclasses import dataclass, replace
from pathlib import Path

from core.analysis.judge_costs import JudgeCost
from core.datasets.reading import name_of, reject, shown
from core.datasets.run_costs import costs_of_report
from core.errors import InputError
from core.runs.at_hand import RunAtHand
from core.runs.jobs import open_at_once, width_of
from core.runs.kinds import KINDS
from core.runs.progress import Progress, progress_of
from core.runs.records import RECORDS_FILE, bytes_of, read_report
from core.schema import RULES, RUN_FILE
from core.store.replies import answers_of_others, step_costs
from core.store.runs import run_items
from core.store.scores import texts_come_to


def cost_of_run(at: RunAtHand) -> JudgeCost:
    """What the run cost so far. Raises InputError for a run that neither judges nor examines judges."""
    number = at.run.run_id
    if at.kind.work not in ("judging", "audit"):
        raise InputError(f"Run {number} is no judge's, it is of the kind {at.kind.name}.")
    n_texts, _ = texts_come_to(at.store, number)
    progress, running = progress_of(at.store, number), at.running
    return JudgeCost(
        _called(at.kind.name, at.path.maker(at.asked)),
        tuple(progress.costs),
        progress.n_done + progress.n_failed,
        n_texts,
        running.input_price,
        running.output_price,
        at.run.n_wanted,
        answers_of_others(at.store, number),
    )


def cost_of_folder(folder: Path) -> JudgeCost:
    """What the run cost that wrote the folder. Raises InputError where it holds none of a judge.

    Prices are those that its run.json names.
    """
    report = read_report(folder)
    kind, settings = report["kind"], report["settings"]
    if kind not in KINDS or KINDS[kind].work not in ("judging", "audit"):
        raise InputError(f"{folder} holds a run of the kind {shown(kind)}; a judge's run is needed.")
    found = costs_of_report(report, folder / RUN_FILE)
    name = settings.get("name") if KINDS[kind].work == "judging" else settings.get("model") or RULES
    if not isinstance(name, str) or name_of(name) is None:
        reject(str(folder / RUN_FILE), [f"settings: no name tells whose run of the kind {kind} it is"])
    n_texts = sum(1 for line in bytes_of(folder / RECORDS_FILE).splitlines() if line.strip())
    return JudgeCost(
        _called(kind, name),
        found.costs,
        found.n_done + found.n_failed,
        n_texts,
        found.input_price,
        found.output_price,
        found.n_items,
        found.n_found,
    )


def _called(kind: str, name: str) -> str:
    """An audit says what it is: its name is the model's."""
    return name if KINDS[kind].work == "judging" else f"{kind} of {name}"


@dataclass(frozen=True)
class Estimate:
    """For all items of a run, those that are done included."""

    n_seen: int
    """Items it is told from."""
    n_items: int
    calls: int | None
    """None: the items seen say nothing, because every answer came from the cache or a server failed."""
    input_tokens: int | None
    output_tokens: int | None
    money: float | None
    """None where a price or a count of tokens is missing."""
    seconds: float | None


def estimate_all(at: RunAtHand, progress: Progress) -> Estimate:
    """What all items of the run will take, told from those it has finished, not from those that got no answer."""
    progress = replace(progress, costs=step_costs(at.store, progress.run.run_id, finished=True))
    if at.kind.work == "scores":
        return estimate_scoring(at, progress)
    seconds = [item.seconds for item in run_items(at.store, progress.run.run_id) if item.state != "again"]
    item_seconds = sum(seconds) / len(seconds) if seconds else None
    n_texts, n_items = texts_come_to(at.store, progress.run.run_id)
    return estimate(at, progress, item_seconds, n_texts / n_items if n_items else 1.0)


def estimate_scoring(at: RunAtHand, progress: Progress) -> Estimate:
    """Texts and time of a whole scoring run. Scores from the cache count as if they had to be computed."""
    run = progress.run
    n_seen = progress.n_done + progress.n_failed
    if not n_seen or any(cost.calls == 0 for cost in progress.costs):
        return Estimate(n_seen, run.n_items, None, None, None, None, None)
    scale = run.n_items / n_seen
    calls = scale * max((cost.calls + cost.cached for cost in progress.costs), default=0)
    processes = at.running.processes(round(calls))
    seconds = sum(
        scale
        * cost.seconds
        * (cost.calls + cost.cached)
        / cost.calls
        / (processes if cost.step == "lexical" else 1)
        for cost in progress.costs
    )
    return Estimate(n_seen, run.n_items, round(calls), None, None, None, seconds)


def estimate(
    at: RunAtHand, progress: Progress, item_seconds: float | None, texts_per_item: float = 1.0
) -> Estimate:
    """Scale up what the finished items took.

    item_seconds: mean time of one item. texts_per_item: that are judged. Answers from the cache are counted as if they
    would have to be paid, at the mean of those that were: the items to come are not in the cache. Items side by side
    share the time; a judge's items, which have many requests open each, take at least what the requests need that can
    be open at once.
    """
    run, running = progress.run, at.running
    n_seen = progress.n_done + progress.n_failed
    scale = run.n_items / n_seen if n_seen else 0.0
    at_once = _items_at_once(at, n_seen, texts_per_item)
    seconds = None if not n_seen or item_seconds is None else item_seconds * run.n_items / at_once
    asked = [cost for cost in progress.costs if cost.calls + cost.cached]
    if not n_seen or any(cost.calls == 0 for cost in asked):
        return Estimate(n_seen, run.n_items, None, None, None, None, seconds)
    calls, tokens_in, tokens_out, open_seconds = 0.0, 0.0, 0.0, 0.0
    counted = all(cost.input_tokens is not None and cost.output_tokens is not None for cost in asked)
    for cost in asked:
        times = scale * (cost.calls + cost.cached) / cost.calls
        calls += times * cost.calls
        tokens_in += times * (cost.input_tokens or 0)
        tokens_out += times * (cost.output_tokens or 0)
        open_seconds += times * cost.seconds
    if seconds is not None and at.kind.work != "generation":
        seconds = max(seconds, open_seconds / open_at_once(at.asked.model, running))
    money = None
    if counted and running.input_price is not None and running.output_price is not None:
        money = (tokens_in * running.input_price + tokens_out * running.output_price) / 1e6
    return Estimate(
        n_seen,
        run.n_items,
        round(calls),
        round(tokens_in) if counted else None,
        round(tokens_out) if counted else None,
        money,
        seconds,
    )


def _items_at_once(at: RunAtHand, n_seen: int, texts_per_item: float) -> int:
    """Items whose time passes side by side."""
    width = width_of(at.asked, at.running, texts_per_item)
    # One helper works for all items: more of them side by side are no faster than those seen were.
    return max(1, min(width, n_seen if at.asked.chosen.needs == "neural" else at.run.n_items))
