"""Meta-correlations for a person at a terminal."""

from collections.abc import Iterable, Iterator

from core.analysis.meta_correlation import Matrix, MetaCorrelation
from core.cli.aligned import number, print_aligned, with_interval
from core.cli.options import print_notes
from core.datasets.reading import shown
from core.stats.resampling import Estimate


def print_meta(found: MetaCorrelation, alternative: str) -> None:
    """What limits the comparison, the points, the estimate with its intervals and p, and notes."""
    print(f"Human side: {shown(found.human)}; synthetic side: {shown(found.synthetic)}")
    if found.caution is not None:
        print(found.caution)
    if found.dropped:
        print(f"Metrics compared: {found.n_metrics} of {found.n_metrics + len(found.dropped)}")
    for line in _dropped([found]):
        print(line)
    print_aligned(
        ["metric", "family", "human", "synthetic"],
        [
            [point.metric, point.family, number(point.human), number(point.synthetic)]
            for point in found.points
        ],
    )
    estimate = found.over_metrics
    print(
        f"\nMeta-correlation ({found.method.capitalize()}, {found.n_metrics} metrics): {with_interval(estimate)}"
    )
    print(f"  interval over metrics: {_said(estimate)}")
    if found.over_items is not None:
        print(f"  interval over items:   {_said(found.over_items)}")
    p = found.p_one_sided if alternative == "greater" else found.p_two_sided
    side = "one-sided" if alternative == "greater" else "two-sided"
    print(f"  p {side}: {f'undefined: {found.p_reason}' if p is None else f'{p:.3g}'}")
    for family, without in found.without_family.items():
        print(f"  without {shown(family)}: {with_interval(without)} (n={without.n})")
    print_notes(found.notes)


def _dropped(results: Iterable[MetaCorrelation]) -> Iterator[str]:
    """One line a reason, whatever the number of metrics and cells."""
    reasons: dict[str, dict[str, None]] = {}
    for found in results:
        for metric, why in found.dropped.items():
            reasons.setdefault(why, {})[shown(metric)] = None
    for why, metrics in reasons.items():
        count = f"{len(metrics)} metrics ({', '.join(metrics)})" if len(metrics) > 1 else next(iter(metrics))
        yield f"Dropped: {count}: {why}"


def _said(estimate: Estimate) -> str:
    if estimate.low is None:
        return f"none: {estimate.interval_reason}"
    return f"[{number(estimate.low)}, {number(estimate.high)}] at {estimate.confidence_level:.0%}"


def print_matrix(matrix: Matrix) -> None:
    """A line a cell, what was dropped in any of them, and the summary over variants."""
    if matrix.caution is not None:
        print(matrix.caution)
    if matrix.cells:
        columns = list(matrix.cells[0].by)
        rows = [
            [
                *cell.by.values(),
                f"undefined: {cell.reason}"
                if cell.result is None
                else with_interval(cell.result.over_metrics),
                0 if cell.result is None else cell.result.n_metrics,
                "-" if cell.result is None else len(cell.result.dropped),
            ]
            for cell in matrix.cells
        ]
        print_aligned([*columns, "meta-correlation", "metrics", "dropped"], rows)
        for line in _dropped(cell.result for cell in matrix.cells if cell.result is not None):
            print(line)
    if matrix.summaries:
        print("\nMean and standard deviation (ddof 1):")
        rows = [
            [*one.by.values(), number(one.mean), number(one.sd), one.n, one.left_out]
            for one in matrix.summaries
        ]
        print_aligned([*matrix.summaries[0].by, "mean", "SD", "n", "left out"], rows)
    print_notes(matrix.notes)
