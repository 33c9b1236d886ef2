"""What came of a run, in lines: items, what is missing and why, what it cost."""

from collections.abc import Iterable, Mapping

from core.analysis.score_summary import score_summary
from core.cli.aligned import counted
from core.datasets.reading import shown
from core.runs.at_hand import RunAtHand
from core.runs.costs import Estimate, estimate_all
from core.runs.judging import degeneracy_of
from core.runs.progress import Progress, money_of, not_sent_said, worked_said
from core.runs.scoring import score_table, undefined_scores
from core.schema import StepCost
from core.schema.kinds import Work
from core.schema.scores import ScoreTable
from core.stats.constant import constants_said
from core.store.replies import parts_not_sent

MOST_LISTED = 40
"""Metrics and reasons for undefined scores that are listed."""
_MISSING: Mapping[Work, str] = {
    "generation": "not all levels; what was made of them is in outputs.csv",
    "audit": "no answer to a question; the others are there",
}
SCORED = "texts on which a metric broke; the other texts have their scores"
JUDGED = "texts for which a step of the judge failed; what came of the others counts"


def summary(run: RunAtHand, progress: Progress, table: ScoreTable | None = None) -> list[str]:
    """The lines of `runs show`, and the last ones of every command that works on a run. table: if it was read already."""
    wanted = progress.run.n_wanted
    lines = [f"Run {progress.run.run_id} ({progress.state}): {progress.n_done} of {wanted} items complete."]
    if (missing := _MISSING.get(run.kind.work)) is not None:
        return lines + _incomplete(progress, missing) + _asked(run, progress)
    table = table or score_table(run)
    signs: Iterable[str] = (
        (one.sentence for one in degeneracy_of(run))
        if run.kind.work == "judging"
        else constants_said((shown(one.metric), one.constant) for one in score_summary(table))
    )
    return lines + _scored(run, progress, table, signs)


def told_of_all(at: RunAtHand, progress: Progress) -> list[str]:
    """After the first items of a run that may ask a model: what all of them will take. Nothing where these are all."""
    run = progress.run
    if at.kind.work == "scores" or progress.state != "done" or run.n_wanted >= run.n_items:
        return []
    told = estimate_all(at, progress)
    time = "time not known" if told.time is None else f"time {told.time}"
    if at.asked.by_rules:
        parts = [time]
    elif told.calls is None:
        parts = ["calls not known, as these items found answers in the cache or were not finished", time]
    else:
        known = [f"about {counted(told.calls, 'call')}", _tokens(told)]
        known += [] if told.money is None else [f"money {told.money:,.4f}"]
        known[-1] += "" if (told.spread or 0) < 0.01 else f" (give or take {told.spread:.0%})"
        parts = [*known, *(["money not known"] if told.money is None else []), time]
    items = counted(told.n_seen, "item")
    rough = "; one item says little, preview more to narrow this down" if told.n_seen == 1 else ""
    return [f"All {run.n_items:,} items, told from {items}, those included: {', '.join(parts)}{rough}."]


def _asked(run: RunAtHand, progress: Progress) -> list[str]:
    """What the calls to a model went without, and what they cost."""
    missing = parts_not_sent(run.store, progress.run.run_id)
    lines = [f"{not_sent_said(missing)}."] if missing else []
    for cost in progress.costs:
        tokens = _tokens(cost) if cost.calls else "nothing asked"
        unusable = f", {cost.unusable} not usable" if cost.unusable else ""
        waited = (
            f"; requests were open for {cost.seconds:,.1f} s, summed (they overlap)" if cost.calls else ""
        )
        lines.append(
            f"Cost of {cost.step}: {counted(cost.calls, 'call')} ({cost.cached:,} more from the cache{unusable}), {tokens}{waited}."
        )
    if (money := money_of(progress)) is not None:
        lines.append(f"Money: {money:,.4f}.")
    return [*lines, *filter(None, [worked_said(progress.run)])]


def _tokens(cost: StepCost | Estimate) -> str:
    if cost.input_tokens is None or cost.output_tokens is None:
        return "tokens not counted by the server"
    return f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out"


def _scored(run: RunAtHand, progress: Progress, table: ScoreTable, signs: Iterable[str]) -> list[str]:
    """signs: that the scores measure little, a sentence each; they stand before any number."""
    lines = [f"{counted(len(table.rows), 'text')}, {counted(len(table.metrics), 'metric')}."]
    judged = run.kind.work == "judging"
    lines += signs
    lines += _incomplete(progress, JUDGED if judged else SCORED)
    undefined = undefined_scores(table)
    if undefined:
        lines.append("Undefined scores, left out of every correlation:")
    listed = list(undefined.items())[:MOST_LISTED]
    lines += [f"  {count:>7,}  {metric}: {reason}" for (metric, reason), count in listed]
    if len(undefined) > MOST_LISTED:
        lines.append(f"  ... and {len(undefined) - MOST_LISTED} more metrics and reasons")
    if judged:
        return lines + _asked(run, progress)
    return (
        lines
        + [_scoring_cost(cost) for cost in progress.costs]
        + [*filter(None, [worked_said(progress.run)])]
    )


def _scoring_cost(cost: StepCost) -> str:
    computed = f"; computing: {cost.seconds:,.1f} s over all processes" if cost.calls else ""
    return (
        f"Cost of {cost.step} metrics: {cost.calls:,} different texts scored ({cost.cached:,} more from the cache)"
        f"{computed}."
    )


def _incomplete(progress: Progress, what: str) -> list[str]:
    count = progress.n_failed + progress.n_again
    lines = []
    if count:
        lines.append(f"{'1 item has' if count == 1 else f'{count} items have'} {what}. Why:")
    return lines + [f"  {count:>5}  {step}: {reason}" for (step, reason), count in progress.failures.items()]
