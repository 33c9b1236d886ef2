"""What besides quality sways a judge: edits that leave the facts as they are, and the place in which it reads a text."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import directions, items_of, level_key
from core.joining.tables import NO_SCORE
from core.judges.pairwise import PairwiseRecord
from core.judges.rubric import RubricRecord
from core.llm.families import alike_notes, model_of
from core.results.cells import (
    decimal,
)
from core.results.judges.consistency import NO_ORDERS, NOT_ASKED, ORDER_MISSING, place_means, rubric_values
from core.results.judges.pairwise import judged_pairs, orders_compared
from core.schema.scores import (
    BETTER,
    EDIT,
    NO_EDIT,
    PAIR,
    ROLE,
    WORSE,
    JudgeOutput,
    ScoredRow,
    ScoreTable,
    twin_series,
)
from core.stats.degeneracy import usual_range
from core.stats.multiplicity import corrected, smallest_shown
from core.stats.resampling import (
    Estimate,
    Floats,
    Statistic,
    cluster_sums,
    jackknife_ends,
    jackknife_error,
    leave_one_out,
    mean_of_sums,
    mean_share,
    ratio,
    resampled_estimate,
    sign_flip_p,
)
from core.stats.votes import NO_SIDE, leanings
from core.tables.columns import level_number
from core.tables.reading import shown

Verdict = Literal["biased", "no bias found", "underpowered", "undefined"]
Favours = Literal["edited", "unedited", "first", "second", ""]
"""What a bias favours: the text with the edit or without; the text that the judge reads first or second."""
POSITION = "position"
"""Name of the probe that needs no edit: the same texts in both orders."""
POWER, ALPHA = 0.8, 0.05
NO_UNEDITED = "no unedited text of the same item, system and level"
SEVERAL_UNEDITED = "several unedited texts match"
NO_OPPONENT = "its pair has no other text with a score"
CONSTANT = "the judge gives every text the same score"
NO_GAP = "the judge does not score the better texts higher, so there is nothing to compare with"
NO_PAIRS = "no unedited pair has two scores"
NOTHING = "no edited text and its unedited twin both have a score"
ONLY_TIES = "only ties"
ONE_ITEM = "fewer than two items"
_SAME = 1e-9
_FAVOURS: Mapping[bool, tuple[Favours, Favours]] = {False: ("edited", "unedited"), True: ("first", "second")}


@dataclass(frozen=True)
class _Asked:
    """How a bias is told from noise; see `bias_audit`."""

    limit: float
    alpha: float
    confidence_level: float
    rng: int


@dataclass(frozen=True)
class Effect:
    """What one probe does to one judge's scores. Intervals and tests are over items."""

    judge: str
    """Name of the column of scores."""
    probe: str
    verdict: Verdict
    favours: Favours
    """Empty unless the verdict is biased."""
    change: Estimate
    """Mean score of edited minus unedited text, higher is better, on the judge's scale. For a pairwise judge, whose scores are
    shares of comparisons won, the net share of verdicts moved. Position: share of decisions for the first text, each pair once, minus
    one half; of a rubric judge, the verdict with the text first minus that with it second."""
    of_gap: Estimate
    """Change as a share of the judge's own mean distance between better and worse unedited texts, so that scales compare. 1: the
    edit is worth as much as the made difference of quality. Where a pair's two scores come from one comparison, their distance
    changes by twice the change. Undefined for position, and where the judge does not tell better from worse."""
    flips: Estimate
    """Share of pairs whose order the edit turns; to or from a tie counts half. Position: share of pairs (rubric: texts) with
    another verdict in the other order, kinds of ties told apart."""
    p: float | None
    """Two-sided, by sign flips of items."""
    p_corrected: float | None
    """Benjamini-Hochberg, over this judge's probes."""
    n_moved: int
    """Items with any change."""
    error: float | None
    """Standard error of the change over items; None for fewer than two."""
    detectable: float | None
    """The smallest change that would have been found with a chance of 80 %, on the judge's scale; see `detectable_change`."""
    scale: float | None
    """Range of this judge's scores in the file (`usual_range`), to which the limit refers; position of a pairwise judge: 1."""
    left_out: Mapping[str, int]
    """Reason -> edited texts (position: pairs; of a rubric judge, texts) not used."""
    reason: str = ""
    """Why it is undefined or underpowered."""


@dataclass(frozen=True)
class Change:
    """An edited text beside its unedited twin."""

    judge: str
    probe: str
    row: ScoredRow
    """Of the edited text."""
    twin: ScoredRow
    before: float
    """Score of the unedited text, as the judge gives it."""
    after: float
    change: float
    """After minus before, turned where lower is better."""
    share: float
    """Absolute change as a share of the judge's scale; 0 where the judge has none."""
    flips: float | None
    """1: the pair's order turned; 0.5: to or from a tie; None: no other text with a score."""


@dataclass(frozen=True)
class BiasAudit:
    """The effects of all probes on the judges of one table of scores."""

    name: str
    effects: tuple[Effect, ...]
    changes: tuple[Change, ...]
    """Of all judges and probes, without texts whose score did not move; largest absolute change as a share of the judge's scale first."""
    notes: tuple[str, ...] = ()


def bias_audit(
    table: ScoreTable,
    output: JudgeOutput | None = None,
    *,
    limit: float = 0.1,
    alpha: float = ALPHA,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> BiasAudit:
    """Measure what edits of a text, and its place, do to scores, against the unedited twins in the same table.

    table: scores of a file of edited twins, told by the labels `pair` and `edit` (`role`, `better` or `worse`, else the level
    tells which text of a pair is better). output: the records behind the scores; with both orders of a pairwise or rubric judge
    the probe `position` is measured too, also without twins.

    Test: sign flips of items (`sign_flip_p`), so valid for verdicts, scores on few levels and few items. Corrected by
    Benjamini-Hochberg over a judge's probes. Verdicts: `biased` where the corrected p is at most alpha; `no bias found` where
    not, and the smallest detectable change is at most limit x scale; else `underpowered`, which is not clean. A judge that
    gives all texts one score is undefined.

    Misleads where an edit rightly changes a score: overlap with a reference falls when a text grows, and a longer text of the
    same facts is not as good under a criterion of conciseness. And where an edit changed a fact: read the largest changes.
    Raises InputError if there is neither an edited text nor a judge's record in both orders.
    """
    asked = _Asked(limit, alpha, confidence_level, rng)
    if not may_audit(table, output):
        raise InputError(
            f"{shown(table.file_name or 'The table')} has no edited text and no verdicts in both orders",
            [
                f"a file of twins, as `judge twins` makes it, names the edit of each text in the column {EDIT} ({NO_EDIT}: "
                f"unedited) and its pair in the column {PAIR}; judge such a file, or run a pairwise or rubric judge in both orders"
            ],
        )
    turned, scaled, twins = table.values * directions(table), _scales(table), _twins(table)
    found: list[Effect] = []
    changes: list[Change] = []
    for column, metric in enumerate(table.metrics):
        probes = [
            _edit_effect(table, turned[:, column], column, probe, own, scaled[column], asked, changes)
            for probe, own in twins.items()
        ]
        if output is not None and metric.name == output.metrics[0].name:
            probes += _positions(metric.name, output, asked)
        found += _decided(probes, asked)
    models = (
        [output.model] if output is not None else [model_of(metric.signature) for metric in table.metrics]
    )
    return BiasAudit(
        table.file_name,
        tuple(found),
        tuple(sorted(changes, key=lambda one: -one.share)),
        alike_notes(models, table.rows),
    )


def may_audit(table: ScoreTable, output: JudgeOutput | None = None) -> bool:
    """Whether there is an edited text, or a judge's record in both orders."""
    return any(_edit(row) != NO_EDIT for row in table.rows) or _has_orders(output)


def _edit(row: ScoredRow) -> str:
    return row.labels.get(EDIT) or NO_EDIT


def _scales(table: ScoreTable) -> list[float]:
    """Range of each metric's scores, see `usual_range`; 0 where all are equal or none is there."""
    found = [usual_range(column) for column in table.values.T]
    return [0.0 if scale <= _SAME else scale for scale in found]


@dataclass(frozen=True)
class _Twin:
    """Places of the texts of a probe in the table; None where there is none, or several."""

    edited: int
    unedited: int | None
    why: str
    """Why there is no unedited text."""
    opponent: int | None
    unedited_opponent: int | None


def _twins(table: ScoreTable) -> dict[str, list[_Twin]]:
    """Probe -> its edited texts with their unedited twins and both opponents, in the order of the file."""
    unedited: dict[tuple[object, ...], list[int]] = {}
    for at, row in enumerate(table.rows):
        if _edit(row) == NO_EDIT:
            unedited.setdefault((*twin_series(row), row.labels.get(PAIR) or NO_EDIT), []).append(at)
    found: dict[str, list[_Twin]] = {}
    for at, row in enumerate(table.rows):
        if _edit(row) == NO_EDIT:
            continue
        series = twin_series(row)
        level, as_made = level_key(row.level), unedited.get((*series, NO_EDIT), [])
        beside = unedited.get((*series, row.labels.get(PAIR) or NO_EDIT), [])
        levels = [level_key(table.rows[other].level) for other in as_made]
        twin = _only(as_made, [other == level for other in levels])
        found.setdefault(_edit(row), []).append(
            _Twin(
                at,
                twin,
                "" if twin is not None else SEVERAL_UNEDITED if level in levels else NO_UNEDITED,
                _only(beside, [level_key(table.rows[other].level) != level for other in beside]),
                _only(as_made, [other != level for other in levels]),
            )
        )
    return found


def _only(places: Sequence[int], fitting: Sequence[bool]) -> int | None:
    found = [at for at, fits in zip(places, fitting, strict=True) if fits]
    return found[0] if len(found) == 1 else None


def _edit_effect(
    table: ScoreTable,
    turned: Floats,
    column: int,
    probe: str,
    twins: Sequence[_Twin],
    scale: float,
    asked: _Asked,
    changes: list[Change],
) -> Effect:
    judge = table.metrics[column].name
    out: Counter[str] = Counter()
    used = []
    for one in twins:
        if one.unedited is None:
            out[one.why] += 1
        elif np.isnan(turned[one.edited]):
            out[f"edited text: {table.reasons.get((one.edited, column), NO_SCORE)}"] += 1
        elif np.isnan(turned[one.unedited]):
            out[f"unedited text: {table.reasons.get((one.unedited, column), NO_SCORE)}"] += 1
        else:
            used.append(one)
    items = items_of([table.rows[one.edited] for one in used])
    after, before = (
        np.array([turned[at] for at in places], dtype=np.float64)
        for places in ([one.edited for one in used], [one.unedited for one in used])
    )
    rival_after, rival_before = (
        np.array([np.nan if at is None else turned[at] for at in places], dtype=np.float64)
        for places in ([one.opponent for one in used], [one.unedited_opponent for one in used])
    )
    # Without a pair of its own, an edited text meets the same opponent as its twin.
    rival_after = np.where(np.isnan(rival_after), rival_before, rival_after)
    change = after - before
    change[np.abs(change) <= _SAME * max(scale, 1.0)] = 0.0
    flips = np.abs(_sign(after - rival_after) - _sign(before - rival_before)) / 2
    for one, moved, flip in zip(used, change.tolist(), flips.tolist(), strict=True):
        if not moved:
            continue
        assert one.unedited is not None
        changes.append(
            Change(
                judge,
                probe,
                table.rows[one.edited],
                table.rows[one.unedited],
                before=float(table.values[one.unedited, column]),
                after=float(table.values[one.edited, column]),
                change=moved,
                share=abs(moved) / scale if scale else 0.0,
                flips=None if np.isnan(flip) else flip,
            )
        )
    return _effect(
        judge,
        probe,
        change,
        items,
        scale,
        out,
        asked,
        of_gap=_gap_change(
            table, turned, used, change * _sides(before, rival_before, after, rival_after), asked
        ),
        flips=_share(flips, items, NO_OPPONENT, asked),
    )


def _sign(values: Floats) -> Floats:
    return np.where(np.abs(values) <= _SAME, 0.0, np.sign(values))


def _sides(before: Floats, rival_before: Floats, after: Floats, rival_after: Floats) -> int:
    """How much the distance between two texts grows by a change of one: 2 where a pair's scores share one comparison."""
    sums = np.concatenate([before + rival_before, after + rival_after])
    there = sums[~np.isnan(sums)]
    return 2 if there.size and bool((np.abs(there - 1) <= _SAME).all()) else 1


def _gap_change(
    table: ScoreTable, turned: Floats, used: Sequence[_Twin], moved: Floats, asked: _Asked
) -> Estimate:
    """Mean change of a pair's distance, over the mean distance of better and worse unedited texts."""
    pairs: dict[tuple[int, int], float] = {}
    for one in used:
        if one.unedited is None or one.unedited_opponent is None:
            continue
        first, second = sorted((one.unedited, one.unedited_opponent))
        sign = _better(table.rows[first], table.rows[second])
        apart = sign * (turned[first] - turned[second])
        if sign and not np.isnan(apart):
            pairs[first, second] = float(apart)
    if not pairs:
        return _undefined(NO_PAIRS, asked, len(used))
    places = [*(one.edited for one in used), *(first for first, _ in pairs)]
    n, items = len(used), items_of([table.rows[at] for at in places])
    sums = np.zeros((len(places), 4))
    sums[:n, 0], sums[:n, 1] = moved, 1
    sums[n:, 2], sums[n:, 3] = [*pairs.values()], 1
    gap = _add_ends(mean_of_sums, cluster_sums(sums[n:, 2:], items[n:]), len(pairs), asked)
    if (gap.estimate or 0.0) <= 0 or (gap.low is not None and gap.low <= 0):
        return _undefined(NO_GAP, asked, n)

    def share(given: Floats) -> Floats:
        return ratio(mean_of_sums(given[..., :2]), mean_of_sums(given[..., 2:]))

    return _add_ends(share, cluster_sums(sums, items), n, asked)


def _better(first: ScoredRow, second: ScoredRow) -> int:
    """1: the first text is the better one; -1: the second; 0: neither label nor level tells."""
    for one, other, sign in ((first, second, 1), (second, first, -1)):
        if one.labels.get(ROLE) == BETTER or other.labels.get(ROLE) == WORSE:
            return sign
    levels = level_number(first.level), level_number(second.level)
    if levels[0] is None or levels[1] is None:
        return 0
    return int(np.sign(levels[1] - levels[0]))


def _effect(
    judge: str,
    probe: str,
    change: Floats,
    items: NDArray[np.int64],
    scale: float,
    left_out: Mapping[str, int],
    asked: _Asked,
    *,
    of_gap: Estimate,
    flips: Estimate,
    nothing: str = NOTHING,
) -> Effect:
    """One probe without a verdict, which depends on the judge's other probes."""
    n_out = sum(left_out.values())
    why = nothing if not change.size else CONSTANT if not scale else ""
    sums = cluster_sums(np.column_stack([change, np.ones(change.size)]), items)
    found = _undefined(why, asked, n_out) if why else _add_ends(mean_of_sums, sums, change.size, asked)
    return Effect(
        judge=judge,
        probe=probe,
        verdict="undefined",
        favours="",
        change=replace(found, n_left_out=n_out),
        of_gap=replace(of_gap, reason=why, estimate=None, low=None, high=None) if why else of_gap,
        flips=flips,
        p=None if why else sign_flip_p(change, items, rng=asked.rng),
        p_corrected=None,
        n_moved=int((np.abs(sums[:, 0]) > _SAME * (scale or 1.0)).sum()),
        error=None if why or len(sums) < 2 else jackknife_error(leave_one_out(sums, mean_of_sums)),
        detectable=None,
        scale=scale or None,
        left_out=dict(Counter(left_out).most_common()),
        reason=why,
    )


def _add_ends(statistic: Statistic, sums: Floats, n: int, asked: _Asked) -> Estimate:
    """The statistic of sums (items, k) with the jackknife interval over items."""
    value = float(statistic(sums.sum(axis=0)))
    found = resampled_estimate(
        value,
        None,
        n=n,
        n_clusters=len(sums),
        confidence_level=asked.confidence_level,
        interval_reason=ONE_ITEM,
    )
    if found.estimate is None or len(sums) < 2:
        return found
    low, high, _, why = jackknife_ends(
        value, leave_one_out(sums, statistic), asked.confidence_level, (-np.inf, np.inf)
    )
    return replace(found, low=low, high=high, interval_reason=why)


def _share(values: Floats, items: NDArray[np.int64], nothing: str, asked: _Asked) -> Estimate:
    found = mean_share(values, items, confidence_level=asked.confidence_level)
    return found if found.estimate is not None else replace(found, reason=nothing)


def _undefined(why: str, asked: _Asked, n_left_out: int) -> Estimate:
    return resampled_estimate(
        np.nan,
        None,
        n=0,
        n_clusters=0,
        confidence_level=asked.confidence_level,
        reason=why,
        interval_reason=why,
        n_left_out=n_left_out,
    )


def detectable_change(
    error: float,
    n_items: int,
    scale: float,
    *,
    n_moved: int | None = None,
    n_tests: int = 1,
    alpha: float = ALPHA,
    power: float = POWER,
) -> float:
    """The smallest mean change that a test of n_items >= 2 items finds with this power, on the scale of the scores.

    `smallest_shown`, with n_items - 1 degrees of freedom. error: standard error of the mean change over items, from the observed
    spread. n_tests: probes of the judge; Benjamini and Hochberg's correction divides alpha by them for a bias that is the only one.

    n_moved: items with any change; default all. Where at most half have one, or all have the same, the spread says little: then at
    least (1 - alpha^(1 / n_items)) x scale. An edit that moves a larger share of items over the whole scale would have moved at
    least one of n_items with a probability of 1 - alpha (the bound of Clopper and Pearson 1934 for none).

    >>> round(detectable_change(0.1, 1_000_000, 4.0), 3), round(detectable_change(0.0, 20, 1.0, n_moved=0), 3)
    (0.28, 0.139)

    Misleads where few items differ much: the spread is itself uncertain.
    """
    if n_items < 2:
        raise ValueError(f"n_items must be at least 2, got {n_items}")
    few = error <= _SAME * scale or (n_moved is not None and 2 * n_moved <= n_items)
    by_test = smallest_shown(error, n_items - 1, n_tests=n_tests, alpha=alpha, power=power)
    return max(by_test, (1.0 - float(alpha ** (1 / n_items))) * scale if few else 0.0)


def _decided(probes: Sequence[Effect], asked: _Asked) -> list[Effect]:
    """The probes of one judge with corrected p, smallest detectable effect and verdict."""
    paid = corrected([one.p for one in probes], "benjamini-hochberg")
    n_tests = sum(one.p is not None for one in probes)
    found = []
    for one, p in zip(probes, paid, strict=True):
        if one.p is None or one.scale is None or p is None:
            found.append(one)
            continue
        n_items, error, allowed = one.change.n_clusters, one.error, asked.limit * one.scale
        least = (
            None
            if error is None
            else detectable_change(
                error, n_items, one.scale, n_moved=one.n_moved, n_tests=n_tests, alpha=asked.alpha
            )
        )
        one = replace(one, p_corrected=p, detectable=least)
        if p <= asked.alpha:
            sides = _FAVOURS[one.probe == POSITION]
            one = replace(one, verdict="biased", favours=sides[(one.change.estimate or 0.0) < 0])
        elif least is not None and least <= allowed + _SAME:
            one = replace(one, verdict="no bias found")
        else:
            why = (
                ONE_ITEM
                if least is None
                else f"{decimal(least, 2)} is more than the limit {decimal(allowed, 2)}"
            )
            one = replace(one, verdict="underpowered", reason=why)
        found.append(one)
    return found


# --- position ----------------------------------------------------------------------------------


def _has_orders(output: JudgeOutput | None) -> bool:
    return output is not None and any(_has_both_orders(text.record) for text in output.texts)


def _has_both_orders(record: Any) -> bool:
    return (
        isinstance(record, PairwiseRecord | RubricRecord)
        and len({trial.order for trial in record.trials}) > 1
    )


def _positions(judge: str, output: JudgeOutput, asked: _Asked) -> Iterator[Effect]:
    """The probe `position`, if the judge has verdicts in both orders."""
    if not _has_orders(output):
        return
    paired = any(isinstance(text.record, PairwiseRecord) for text in output.texts)
    yield (_place_effect if paired else _reading_order_effect)(judge, output, asked)


def _place_effect(judge: str, output: JudgeOutput, asked: _Asked) -> Effect:
    """A pairwise judge: half of how far each pair leans to the place read first, so that the share of `first_place` is 1/2 + change."""
    pairs = judged_pairs(output)
    places = [Counter(trial.place for trial in pair.trials) for pair in pairs]
    lean = leanings([one["first"] for one in places], [one["second"] for one in places])
    out: Counter[str] = Counter()
    for pair, leaning in zip(pairs, lean.tolist(), strict=True):
        if np.isnan(leaning):
            failed = (trial.reason for trial in pair.trials if trial.reason)
            out[ONLY_TIES if any(trial.verdict for trial in pair.trials) else next(failed, NOT_ASKED)] += 1
    items = items_of([pair.judged.row for pair in pairs])
    decided = ~np.isnan(lean)
    same = np.array([orders_compared(pair)[0] for pair in pairs])
    return _effect(
        judge,
        POSITION,
        lean[decided] / 2,
        items[decided],
        1.0,
        out,
        asked,
        of_gap=_undefined("position is no edit", asked, 0),
        flips=_share(1 - same, items, NO_ORDERS, asked),
        nothing=NO_SIDE,
    )


def _reading_order_effect(judge: str, output: JudgeOutput, asked: _Asked) -> Effect:
    """A rubric judge: the verdict with the text read first minus that with the reference first."""
    values, orders, _ = rubric_values(output.texts)
    assert orders is not None
    means = place_means(values[..., 0], orders)
    apart = means[:, 0] - means[:, 1]
    known = ~np.isnan(apart)
    out = {ORDER_MISSING: int((~known).sum())} if not known.all() else {}
    items = items_of([text.row for text, use in zip(output.texts, known.tolist(), strict=True) if use])
    change = np.where(np.abs(apart[known]) <= _SAME, 0.0, apart[known])
    return _effect(
        judge,
        POSITION,
        change,
        items,
        usual_range(means),
        out,
        asked,
        of_gap=_undefined("position is no edit", asked, 0),
        flips=_share((change != 0).astype(np.float64), items, NO_ORDERS, asked),
        nothing=NO_ORDERS,
    )
