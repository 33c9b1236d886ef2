"""The Alt-test, compared with a plain loop over items, as the procedure is described and published.

Both compute closeness, wins, p-values and the corrected winning rate of one judge; Assay's time includes the interval of the
advantage. Prints seconds and the ratio for labels and for numbers. Exits with status 1 if a ratio is below 20 at full size.

    .venv/bin/python benchmarks/alt_test.py [--items 2000] [--raters 5]
"""

import argparse
import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import ttest_1samp

from core.stats.alt_test import Alignment, alt_test
from core.stats.multiplicity import corrected

EPSILON, TARGET, FULL = 0.15, 20, 1_000


def closeness(value: float, others: list[float], alignment: Alignment) -> float:
    """Closeness of one label or score to the others'."""
    if alignment == "accuracy":
        return float(np.mean([value == other for other in others]))
    return -float(np.sqrt(np.mean([(value - other) ** 2 for other in others])))


def loop(judge: list[float], ratings: list[list[float]], alignment: Alignment) -> tuple[float, float]:
    """Winning rate and advantage, item by item."""
    p, advantages = [], []
    for rater in range(len(ratings[0])):
        wins, differences = [], []
        for score, row in zip(judge, ratings, strict=True):
            others = [value for place, value in enumerate(row) if place != rater and not math.isnan(value)]
            if math.isnan(row[rater]) or not others:
                continue
            of_judge, of_rater = closeness(score, others, alignment), closeness(row[rater], others, alignment)
            wins.append(of_judge >= of_rater)
            differences.append(int(of_rater >= of_judge) - int(of_judge >= of_rater))
        p.append(float(ttest_1samp(differences, EPSILON, alternative="less").pvalue))
        advantages.append(np.mean(wins))
    rejected = [one is not None and one <= 0.05 for one in corrected(p, "benjamini-yekutieli")]
    return float(np.mean(rejected)), float(np.mean(advantages))


def main() -> None:
    """Time both on the same table with a tenth of the ratings missing."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--items", type=int, default=2_000, help="items (default %(default)s)")
    options.add_argument("--raters", type=int, default=5, help="raters (default %(default)s)")
    given = options.parse_args()
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, given.items)
    drawn = rng.integers(1, 6, (given.items, given.raters + 1))
    table = np.where(rng.random(drawn.shape) < 0.3, drawn, truth[:, None]).astype(float)
    table[:, 1:][rng.random((given.items, given.raters)) < 0.1] = np.nan
    judge, ratings = table[:, 0], table[:, 1:]
    worst = math.inf
    alignments: tuple[Alignment, ...] = ("accuracy", "rmse")
    for alignment in alignments:
        slow, wanted = timed(partial(loop, judge.tolist(), ratings.tolist(), alignment), 1)

        def ours(alignment: Alignment = alignment) -> tuple[float | None, float | None]:
            found = alt_test(judge, ratings, epsilon=EPSILON, alignment=alignment)
            return found.winning_rate, found.advantage.estimate

        fast, found = timed(ours, 5)
        assert np.allclose(np.array(found, dtype=float), np.array(wanted, dtype=float)), (found, wanted)
        worst = min(worst, slow / fast)
        print(f"{alignment:9} loop {slow:8.4f} s, assay {fast:8.4f} s, ratio {slow / fast:.0f}")
    print(f"lowest ratio {worst:.0f} (target: {TARGET})")
    if given.items >= FULL and worst < TARGET:
        sys.exit(1)


def timed(
    work: Callable[[], tuple[float | None, float | None]], times: int
) -> tuple[float, tuple[float | None, float | None]]:
    """Return the best of several times after one to warm up, and the result."""
    found = work()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), found


if __name__ == "__main__":
    main()
