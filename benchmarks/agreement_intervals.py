"""Bootstrap intervals of Cohen's kappa over questions, compared with scipy and scikit-learn.

The usual way is scipy.stats.bootstrap over question indices with scikit-learn's cohen_kappa_score in a loop.
Prints seconds and the ratio. There is no target.

    .venv/bin/python benchmarks/agreement_intervals.py [--resamples 2000]
"""

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import bootstrap
from sklearn.metrics import cohen_kappa_score

from core.stats.agreement import cohen_kappa

QUESTIONS, LEVELS = 20, 4


def main() -> None:
    """Time both on the same votes."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument(
        "--resamples", type=int, default=2_000, help="bootstrap resamples (default %(default)s)"
    )
    n_resamples: int = options.parse_args().resamples
    rng = np.random.default_rng(0)
    votes = rng.choice(4, size=(QUESTIONS * LEVELS, 2), p=[0.25, 0.5, 0.05, 0.2])
    questions = np.repeat(np.arange(QUESTIONS), LEVELS)
    rows = [np.flatnonzero(questions == question) for question in range(QUESTIONS)]

    def kappa_of(drawn: np.ndarray) -> float:
        chosen = np.concatenate([rows[question] for question in drawn])
        return float(cohen_kappa_score(votes[chosen, 0], votes[chosen, 1]))

    def usual() -> tuple[float, float]:
        found = bootstrap(
            (np.arange(QUESTIONS),),
            kappa_of,
            vectorized=False,
            n_resamples=n_resamples,
            method="percentile",
            rng=0,
        )
        return found.confidence_interval

    def ours() -> tuple[float | None, float | None]:
        found = cohen_kappa(votes, clusters=questions, n_resamples=n_resamples)
        return found.low, found.high

    slow, fast = timed("scipy bootstrap + scikit-learn", usual), timed("assay", ours)
    print(f"ratio {slow / fast:.0f}")


def timed(name: str, work: Callable[[], tuple[float | None, float | None]]) -> float:
    """Print the interval and the best of three times; return the seconds."""
    warnings.simplefilter("ignore")
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        low, high = work()
        seconds.append(time.perf_counter() - start)
    print(f"{name:32} {min(seconds):8.4f} s  [{low:.3f}, {high:.3f}]")
    return min(seconds)


if __name__ == "__main__":
    main()
