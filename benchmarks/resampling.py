"""Two bootstrap intervals compared with scipy: a bound of -1/0/+1 scores, and the meta-correlation.

1. One-sided bound of the mean of 80 scores: exact, compared with scipy.stats.bootstrap.
2. Meta-correlation (Spearman at both orders) with an interval from 1,000 resamples of 22,000 items, with 28 metrics and
   six levels per item (132,000 rows), compared with a loop over scipy.stats.spearmanr, timed on a few resamples and
   extrapolated. The estimate, and every resample of a small case, must be equal to 1e-12, and the ratio at least 20;
   otherwise the exit status is 1.

Both run on one thread. Times are processor seconds, which other work on the machine disturbs less.

    .venv/bin/python benchmarks/resampling.py [--items 22000] [--resamples 1000]
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import bootstrap, spearmanr

from core.stats.correlation.coefficients import prepare, resampled
from core.stats.correlation.intervals import Live, meta_correlation_over_items
from core.stats.non_inferiority import lower_bound_pairs
from core.stats.resampling import draw_counts

METRICS, LEVELS = 28, 6
LOOPED = 3
AT_LEAST = 20.0
EQUAL = 1e-12


def main() -> int:
    """Run both comparisons; return 1 if the target is missed."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument(
        "--items", type=int, default=22_000, help="items of the meta-correlation (default %(default)s)"
    )
    options.add_argument(
        "--resamples", type=int, default=1_000, help="resamples of the items (default %(default)s)"
    )
    chosen = options.parse_args()
    exact_bound()
    largest = largest_difference()
    print(f"meta-correlation of each resample, small case with ties: largest difference {largest:.1e}")
    ratio, difference = live_meta_correlation(chosen.items, chosen.resamples)
    kept = ratio >= AT_LEAST and max(largest, difference) <= EQUAL
    print(
        f"ratio {ratio:.0f} (target {AT_LEAST:.0f}), equal to {EQUAL:.0e}: {'kept' if kept else 'NOT kept'}"
    )
    return 0 if kept else 1


def exact_bound() -> None:
    """Compare the 90 % bound of 80 scores."""
    scores = np.random.default_rng(0).choice([-1, 0, 1], 80, p=[0.2, 0.5, 0.3])

    def usual() -> float:
        # The 10 % quantile is the lower end of the two-sided 80 % interval.
        found = bootstrap((scores,), np.mean, confidence_level=0.8, method="percentile", rng=0)
        return float(found.confidence_interval.low)

    print("bound of 80 scores of -1/0/+1 (scipy: 9,999 resamples)")
    slow, fast = (
        best_of("scipy.stats.bootstrap", usual),
        best_of("assay, exact", lambda: lower_bound_pairs(scores)),
    )
    print(f"ratio {slow / fast:.0f}")


def live_meta_correlation(n_items: int, n_resamples: int) -> tuple[float, float]:
    """Return the ratio of seconds, and the difference of the two estimates."""
    side, human = rows_of_metrics(n_items, METRICS)
    starts = np.arange(n_items) * LEVELS  # rows are ordered by item, so the loop need not search for them

    def usual(drawn: np.ndarray) -> float:
        rows = (starts[drawn][:, None] + np.arange(LEVELS)).ravel()
        synthetic = [spearmanr(scores[rows], side.target[rows]).statistic for scores in side.scores.T]
        return float(spearmanr(human, synthetic).statistic)

    generator = np.random.default_rng(0)
    begin = time.process_time()
    for _ in range(LOOPED):
        usual(generator.integers(0, n_items, n_items))
    loop = (time.process_time() - begin) / LOOPED * n_resamples
    begin = time.process_time()
    found = meta_correlation_over_items(human, side, "spearman", n_resamples=n_resamples)
    seconds = time.process_time() - begin
    print(
        f"meta-correlation, {METRICS} metrics x {n_items * LEVELS:,} rows, {n_resamples:,} resamples of items"
    )
    print(f"{'scipy loop (' + str(LOOPED) + ' resamples, extrapolated)':44} {loop:10.1f} s")
    print(
        f"{'assay, all resamples':44} {seconds:10.1f} s  {found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]"
    )
    return loop / seconds, abs(usual(np.arange(n_items)) - (found.estimate or 0.0))


def largest_difference() -> float:
    """Return the largest difference from scipy over metrics and resamples of 60 items with the same counts."""
    side, _ = rows_of_metrics(60, METRICS)
    items = np.asarray(side.items, dtype=np.intp)
    prepared = prepare(side.scores, side.target, items, 60, ("spearman",))
    largest = 0.0
    for counts in draw_counts(60, 20, 7, 1):
        ours = resampled(prepared, counts)["spearman"]
        for number, drawn in enumerate(counts.T):
            rows = np.repeat(np.arange(items.size), drawn[items].astype(int))
            for metric, scores in enumerate(side.scores.T):
                theirs = spearmanr(scores[rows], side.target[rows]).statistic
                largest = max(largest, abs(float(theirs) - ours[metric, number]))
    return largest


def rows_of_metrics(n_items: int, n_metrics: int) -> tuple[Live, np.ndarray]:
    """Return scores that fall with the level, more clearly for better metrics. A third is rounded to give ties."""
    generator = np.random.default_rng(2)
    items, target = np.repeat(np.arange(n_items), LEVELS), np.tile(-np.arange(LEVELS), n_items).astype(float)
    noise = np.linspace(1, 12, n_metrics)
    scores = target[:, None] + generator.normal(size=(target.size, n_metrics)) * noise
    scores += generator.normal(size=n_items)[items][:, None]
    scores[:, ::3] = np.round(scores[:, ::3], 1)
    return Live(scores, target, items), -noise + generator.normal(size=n_metrics) * 3


def best_of(name: str, work: Callable[[], float]) -> float:
    """Print the result and the best of three times; return the seconds."""
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        found = work()
        seconds.append(time.process_time() - begin)
    print(f"{name:44} {min(seconds) * 1000:10.2f} ms  {found:.4f}")
    return min(seconds)


if __name__ == "__main__":
    sys.exit(main())
