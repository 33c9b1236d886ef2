"""Compare two judges on the same texts: agreement in order, size of differences, and texts that they disagree on."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.joining.choices import check_names, directions, items_of, names_of
from core.joining.tables import NO_SCORE, merge_tables, not_scored_in
from core.judges.claims import KIND as CLAIMS
from core.judges.cross_examination import CEF_COMPONENTS
from core.judges.cross_examination import KIND as CROSS_EXAMINATION
from core.schema.scores import METHODS, Method, Metric, ScoredRow, ScoreTable
from core.stats.correlation import groups, intervals
from core.stats.correlation.systems import system_correlation
from core.stats.degeneracy import tied
from core.stats.resampling import Estimate, Floats, cluster_bootstrap, mean_of_sums, ratio

SHARES = "0 to 1"
"""Scale of shares of claims, questions or words."""
RANKS = "percentiles"
"""Replaces the scale if two judges share none."""
SAME_BY_RANKS = "percentiles of the same texts have the same mean"
_OF_SHARES = (CROSS_EXAMINATION.family, CLAIMS.family)
_COMPONENT = re.compile(r"(?P<family>[^|]+)\|score:([^|]+)")
"""First words of judges' signatures."""
_RUBRIC = re.compile(r"\|rubric:(([^|]+?)(?:-[0-9a-f]{12})?)(?=\||$)")
"""Rubric name with the hash of its file; rubric name alone."""
_ENDING = re.compile(
    rf"(?:.*-)?({'|'.join(sorted(CEF_COMPONENTS, key=len, reverse=True))}|precision|recall|f[\d.]+(?:-ragas)?)"
)


@dataclass(frozen=True)
class Disagreement:
    """A text that both judges scored."""

    row: ScoredRow
    score_a: float
    """Score on the judge's own scale."""
    score_b: float
    percentile_a: float
    """(mid-rank - 1/2) / n among the texts that both scored, in (0, 1); higher is better on any scale."""
    percentile_b: float

    @property
    def difference(self) -> float:
        """Second judge's percentile minus the first's, -1 to 1."""
        return self.percentile_b - self.percentile_a


@dataclass(frozen=True)
class Agreement:
    """Agreement of two columns of scores over the texts that both have."""

    metric_a: str
    """Name in the merged table, with `#2` if both columns have the same name."""
    metric_b: str
    n: int
    """Texts that both scored."""
    left_out: Mapping[str, int]
    """Reason -> texts not scored by at least one of the two."""
    pooled: Mapping[Method, Estimate]
    """Coefficient over all texts; the interval resamples items."""
    per_item: Estimate
    """Kendall's tau-b within each item, averaged over items."""
    per_system: Mapping[Method, Estimate]
    """Coefficient between systems' means, as CEF's Figure 1 compares modes. `n`: systems."""
    scale: str
    """Scale of the differences: one that both share, or `percentiles` of their ranks."""
    mean_difference: Estimate
    """Mean over texts of second minus first, without flipped signs; undefined for percentiles."""
    sd_difference: Estimate
    """Standard deviation (ddof 1) of the differences."""
    disagreements: tuple[Disagreement, ...]
    """All texts that both scored, largest difference of percentiles first, then in the order of the table."""
    notes: tuple[str, ...] = ()


def agreement(
    table_a: ScoreTable,
    metric_a: str,
    table_b: ScoreTable,
    metric_b: str,
    *,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Agreement:
    """Measure how similarly two judges (or metrics) score the texts that both scored; intervals resample items.

    Both tables may be the same. The sign of a column is flipped if lower is better, so that agreement is positive; scores
    of texts are shown unchanged. Texts match as in `merge_tables`. Raises InputError for an unknown metric, with the
    nearest known ones, and if no text is in both.

    Misleads if texts of very different quality are pooled: any two judges that notice damage at all then agree, so read
    the tau within items. Agreement does not show that either judge is right. A mean difference near 0 can hide differences
    in both directions: read the standard deviation, too. Its interval is too narrow below about 100 items: for normal
    differences, a 95 % interval contained the true value in 86 % of simulations with 20 items, 90 % with 40 and 92 % with
    100, because resampled items vary less than new ones would.
    """
    merged, notes = _two_columns(table_a, metric_a, table_b, metric_b)
    scores = tied(merged.values.T).T
    known = np.asarray(~np.isnan(scores).any(axis=1), dtype=np.bool_)
    turned = scores * directions(merged)
    x, y = turned[known].T
    rows = [row for row, both in zip(merged.rows, known.tolist(), strict=True) if both]
    items, systems = items_of(rows), names_of(rows, "system")
    options: dict[str, Any] = {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}
    first, second = merged.metrics
    names = (f"scores of {first.name}", f"scores of {second.name}")
    pooled = intervals.correlate_columns(x[:, None], y, METHODS, clusters=items, names=names, **options)[0]
    of_means = (f"mean {names[0]}", f"mean {names[1]}")
    percentiles = _percentiles(x), _percentiles(y)
    scale = shared_scale(first, second, scores[known])
    # Differences are on the original scale, so x and y are swapped if lower is better.
    apart = np.diff(scores[known], axis=1)[:, 0] if scale else percentiles[1] - percentiles[0]
    mean, sd = _differences(apart, items, **options)
    said = np.column_stack([scores[known], *percentiles]).tolist()
    apart_by_text = [Disagreement(row, *numbers) for row, numbers in zip(rows, said, strict=True)]
    return Agreement(
        metric_a=first.name,
        metric_b=second.name,
        n=len(rows),
        left_out=_left_out(merged, known),
        pooled=pooled,
        per_item=groups.mean_within(x, y, items, "kendall", **options),
        per_system={
            method: system_correlation(x, y, systems, method, items=items, names=of_means, **options)
            for method in METHODS
        },
        scale=scale or RANKS,
        mean_difference=mean
        if scale
        else replace(mean, estimate=None, low=None, high=None, reason=SAME_BY_RANKS),
        sd_difference=sd,
        disagreements=tuple(sorted(apart_by_text, key=lambda one: -abs(one.difference))),
        notes=notes,
    )


def same_components(table_a: ScoreTable, table_b: ScoreTable) -> tuple[tuple[str, str], ...]:
    """Columns of two judges for the same component: (name in the first table, name in the second).

    For example, the coverage of a reference-free and of a with-reference cross-examination (CEF, Figure 1), or the
    precision of two claim judges. Recognised by the signature, else by the end of the name; in the first table's order.
    Whole rubric verdicts are paired with each other.
    """
    theirs = [(component_of(metric), metric.name) for metric in table_b.metrics]
    return tuple(
        (metric.name, name)
        for metric in table_a.metrics
        for component, name in theirs
        if component is not None and component == component_of(metric)
    )


def component_of(metric: Metric) -> str | None:
    """The judge's component in a column: `coverage`, `precision`, `verdict`; None: not a component of a judge."""
    if (said := _COMPONENT.match(metric.signature)) and said["family"] == metric.family:
        return said[2]
    found = _ENDING.fullmatch(metric.name.lower())
    return found[1] if found else None


def shared_scale(first: Metric, second: Metric, scores: Floats) -> str | None:
    """Name the scale that both columns of scores (n, 2) share; None if they share none.

    Two rubric judges share a scale if their signatures name the same rubric. Components of claim and cross-examination
    judges always share one (shares). All others share one if every score is between 0 and 1. This misleads: .5 may have
    different meanings for two metrics between 0 and 1.
    """
    if first.direction != second.direction:
        return None
    rubrics = [_RUBRIC.search(metric.signature) for metric in (first, second)]
    if any(rubrics):
        one, other = rubrics
        return f"rubric {one[2]}" if one and other and one[1] == other[1] else None
    if first.family in _OF_SHARES and second.family in _OF_SHARES:
        return SHARES
    within = bool(scores.size) and bool(((scores >= 0) & (scores <= 1)).all())
    return SHARES if within else None


def _two_columns(
    table_a: ScoreTable, metric_a: str, table_b: ScoreTable, metric_b: str
) -> tuple[ScoreTable, tuple[str, ...]]:
    """Merge both columns into one table."""
    parts = []
    for table, metric in ((table_a, metric_a), (table_b, metric_b)):
        names = [one.name for one in table.metrics]
        check_names("metric", [metric], names)
        number = names.index(metric)
        parts.append(
            replace(
                table,
                metrics=(table.metrics[number],),
                values=table.values[:, [number]],
                reasons={(row, 0): why for (row, k), why in table.reasons.items() if k == number},
            )
        )
    if table_a is table_b:
        both = replace(
            table_a,
            metrics=tuple(part.metrics[0] for part in parts),
            values=np.hstack([part.values for part in parts]),
            reasons={(row, k): why for k, part in enumerate(parts) for (row, _), why in part.reasons.items()},
        )
        return both, both.notes
    merged = merge_tables(parts)
    return merged, merged.notes


def _left_out(merged: ScoreTable, known: NDArray[np.bool_]) -> dict[str, int]:
    """Reason -> number of texts; a text counts once, for the first judge that lacks it."""
    counts: Counter[str] = Counter()
    for row in np.flatnonzero(~known).tolist():
        metric = int(np.isnan(merged.values[row]).argmax())
        reason = merged.reasons.get((row, metric), NO_SCORE)
        absent = reason.startswith(not_scored_in(""))  # such a reason names its table already
        counts[reason if absent else f"{merged.metrics[metric].name}: {reason}"] += 1
    return dict(counts)


def _percentiles(turned: Floats) -> Floats:
    if not turned.size:
        return turned
    from scipy.stats import rankdata  # imported lazily: loads slowly

    return np.asarray((rankdata(turned) - 0.5) / turned.size, dtype=np.float64)


def _differences(apart: Floats, items: NDArray[np.int64], **options: Any) -> tuple[Estimate, Estimate]:
    """Mean and standard deviation of the differences (n,), with intervals over items."""
    centre = float(apart.mean()) if apart.size else 0.0
    ones = np.ones(apart.size)
    mean = cluster_bootstrap(np.column_stack([apart, ones]), items, mean_of_sums, **options)
    # Squares after subtracting the mean: sums of squares of far larger numbers would lose all digits.
    centred = apart - centre
    sd = cluster_bootstrap(np.column_stack([centred**2, centred, ones]), items, _sd_of_sums, **options)
    if apart.size == 1:
        sd = replace(sd, reason="fewer than two texts")
    if not apart.size:
        mean, sd = (replace(one, reason="no text was scored by both") for one in (mean, sd))
    return mean, sd


def _sd_of_sums(sums: Floats) -> Floats:
    squares, total, n = sums[..., 0], sums[..., 1], sums[..., 2]
    variance = ratio(squares - ratio(total**2, n), np.maximum(n - 1, 0.0))
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)), dtype=np.float64)
