"""Tie calibration and the permutation test of pairwise accuracy, compared with mt-metrics-eval.

Uses the segment scores and MQM scores of an mt-metrics-eval folder, without references. Three comparisons:

1. Tie calibration (`KendallWithTiesOpt`, all pairs) of every metric: accuracy and epsilon.
2. The test that swaps results of pairs (`PairwisePermutationSigDiff`, without early stopping) for the two best metrics: the
   difference, and its p-value for the same swaps. They are equal except for swaps exactly as large as the difference, which
   rounding decides in mt-metrics-eval.
3. The test that swaps scores and calibrates again (`PermutationSigDiff`), on a few swaps: every accuracy.

The exit status is 1 if a value differs, or if Assay is less than 30 times as fast in any comparison. Times are processor
seconds on one thread; calibration is the best of three on both sides. Without both folders it prints a message and exits.

    .venv/bin/python benchmarks/meta_eval.py --tool FOLDER_OF_MT_METRICS_EVAL --data FOLDER_OF_A_TEST_SET [--swaps 100]
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from core.stats.correlation.systems import accuracy_test, calibrate_ties, pair_results, pairwise_accuracy

AT_LEAST = 30.0
EQUAL = 1e-12
SCORE_SWAPS = 3
RUNS = 3
REFERENCES = ("ref", "synthetic_ref")
T = TypeVar("T")


def main() -> int:
    """Run all three comparisons; return 1 if the target is missed."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument(
        "--tool", type=Path, help="folder of a local copy of mt-metrics-eval, which contains its package"
    )
    options.add_argument("--data", type=Path, help="test set in mt-metrics-eval's format, with MQM scores")
    options.add_argument("--swaps", type=int, default=100, help="swaps of pairs (default %(default)s)")
    chosen = options.parse_args()
    if not chosen.tool or not (chosen.tool / "mt_metrics_eval").is_dir():
        print(
            "skipped: --tool must name a local copy of mt-metrics-eval (the folder that contains mt_metrics_eval/)"
        )
        return 0
    if not chosen.data or not list(chosen.data.glob("human-scores/*.mqm.seg.score")):
        print("skipped: --data must name a test set of mt-metrics-eval (with human-scores/*.mqm.seg.score)")
        return 0
    sys.path.insert(0, str(chosen.tool))
    human, metrics = read_test_set(chosen.data)
    print(
        f"{len(metrics)} metrics, {human.shape[0]} rated segments, {human.shape[1]} systems; processor seconds"
    )
    best = sorted(metrics, key=lambda name: -(calibrate_ties(human, metrics[name]).accuracy or 0))[:2]
    ratios = [
        calibration(human, metrics),
        pairs_swapped(human, *(metrics[name] for name in best), n_swaps=chosen.swaps),
        scores_swapped(human, *(metrics[name] for name in best)),
    ]
    kept = min(ratios) >= AT_LEAST
    print(
        f"smallest ratio {min(ratios):.0f} (target {AT_LEAST:.0f}), equal values: {'kept' if kept else 'NOT kept'}"
    )
    return 0 if kept else 1


def read_test_set(folder: Path) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return human scores, shape (rated segments, systems), and those of each metric."""
    path = min(folder.glob("human-scores/*.mqm.seg.score"))
    human = read_scores(path)
    systems = [name for name in human if not name.startswith(REFERENCES)]
    target = np.column_stack([human[name] for name in systems])
    rated = ~np.isnan(target).all(axis=1)
    metrics = {}
    for each in sorted((folder / "metric-scores" / path.name.split(".")[0]).glob("*.seg.score")):
        scores = read_scores(each)
        metrics[each.name.removesuffix(".seg.score")] = np.column_stack([scores[name] for name in systems])[
            rated
        ]
    return target[rated], metrics


def read_scores(path: Path) -> dict[str, list[float]]:
    """Return system -> one score for each segment, NaN if missing."""
    scores: dict[str, list[float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        system, value = line.split("\t")
        scores.setdefault(system, []).append(float("nan") if value == "None" else float(value))
    return scores


def packed(scores: np.ndarray) -> list[float | None]:
    """Return scores in mt-metrics-eval's order: system by system, None if missing."""
    return [None if np.isnan(value) else float(value) for value in scores.T.ravel()]


def calibration(human: np.ndarray, metrics: dict[str, np.ndarray]) -> float:
    """Calibrate every metric with both; return how many times as fast Assay is."""
    from mt_metrics_eval.stats import KendallWithTiesOpt

    theirs, ours = 0.0, 0.0
    for name, scores in metrics.items():
        given = packed(human), packed(scores)
        (accuracy, epsilon, _), seconds = timed(
            lambda given=given: KendallWithTiesOpt(
                *given, num_sys=human.shape[1], average_by="item", sample_rate=1.0
            ),
            runs=RUNS,
        )
        theirs += seconds
        found, seconds = timed(lambda scores=scores: calibrate_ties(human, scores), runs=RUNS)
        ours += seconds
        check(f"{name}: accuracy", found.accuracy, accuracy)
        # Rounding decides between equally good epsilons in mt-metrics-eval. Its choice must not be better than ours.
        at_theirs = pairwise_accuracy(human, scores, float(epsilon)).accuracy
        check(f"{name}: accuracy at the other's epsilon", found.accuracy, at_theirs)
        same = (
            "the same epsilon"
            if epsilon == found.epsilon
            else f"epsilon {found.epsilon:g}, mt-metrics-eval {epsilon:g}"
        )
        print(f"  {name:28} {found.accuracy:.4f}, {same}")
    return told(f"tie calibration of {len(metrics)} metrics", theirs, ours)


def pairs_swapped(human: np.ndarray, first: np.ndarray, second: np.ndarray, *, n_swaps: int) -> float:
    """Run the test over pairs with both; return how many times as fast Assay is."""
    from mt_metrics_eval.stats import Correlation, PairwisePermutationSigDiff, PermutationSigDiffParams

    n_systems = human.shape[1]
    sides = [Correlation(n_systems, packed(human), packed(scores)) for scores in (second, first)]
    epsilons = calibrate_ties(human, first).epsilon or 0.0, calibrate_ties(human, second).epsilon or 0.0
    np.random.seed(0)
    (p, difference, _, *_), theirs = timed(
        lambda: PairwisePermutationSigDiff(
            *sides,
            average_by="item",
            k=n_swaps,
            params=PermutationSigDiffParams(block_size=n_swaps + 1),
            epsilon1=epsilons[1],
            epsilon2=epsilons[0],
        )
    )
    found, ours = timed(
        lambda: accuracy_test(
            human,
            first,
            second,
            swap="pairs",
            epsilons=epsilons,
            n_resamples=n_swaps,
            alternative="greater",
        )
    )
    check("difference", found.difference, difference)
    larger, as_large = same_swaps(human, (first, second), epsilons, n_swaps)
    if not larger <= round(p * n_swaps) <= as_large:
        raise SystemExit(
            f"p for the same swaps differs: mt-metrics-eval {p}, Assay {larger} to {as_large} of {n_swaps}"
        )
    print(
        f"  difference {difference:.5f}; of the same {n_swaps} swaps mt-metrics-eval finds {round(p * n_swaps)} as large, Assay {as_large}; "
        f"p {found.p:.3f} with Assay's own swaps"
    )
    return told(f"{n_swaps} swaps of pairs", theirs, ours)


def same_swaps(
    human: np.ndarray, scores: tuple[np.ndarray, np.ndarray], epsilons: tuple[float, float], n_swaps: int
) -> tuple[int, int]:
    """Return how many of mt-metrics-eval's swaps have a larger difference, and how many one at least as large."""
    results = [pair_results(human, each, epsilon) for each, epsilon in zip(scores, epsilons, strict=True)]
    gaps = results[0] - results[1]
    known = ~np.isnan(human)
    upper = np.triu_indices(human.shape[1], 1)
    observed = np.nanmean(gaps, axis=1).mean()
    np.random.seed(0)
    larger = as_large = 0
    for _ in range(n_swaps):
        signs = np.zeros_like(gaps)
        for item, own in enumerate(known):
            drawn = np.zeros((own.size, own.size))
            # The second metric of mt-metrics-eval is our first: 1 means no swap.
            drawn[np.ix_(own, own)] = np.triu(np.random.binomial(1, 0.5, (own.sum(), own.sum())))
            signs[item] = 2 * drawn[upper] - 1
        difference = np.nanmean(signs * gaps, axis=1).mean()
        larger += bool(difference > observed + EQUAL)
        as_large += bool(difference >= observed - EQUAL)
    return larger, as_large


def scores_swapped(human: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Run the test over scores with both; return how many times as fast Assay is."""
    from mt_metrics_eval.stats import Correlation, KendallWithTiesOpt, PermutationSigDiff
    from scipy.stats import zscore

    n_systems = human.shape[1]
    sides = [Correlation(n_systems, packed(human), packed(scores)) for scores in (second, first)]
    np.random.seed(0)
    (_, _, _, accuracies), theirs = timed(
        lambda: PermutationSigDiff(
            *sides, KendallWithTiesOpt, average_by="item", k=SCORE_SWAPS, sample_rate=1.0
        )
    )
    _, ours = timed(lambda: accuracy_test(human, first, second, swap="scores", n_resamples=SCORE_SWAPS))
    np.random.seed(0)
    one, other = (zscore(scores.T.ravel()) for scores in (second, first))
    for pair in accuracies:
        stays = np.random.binomial(1, 0.5, one.size)
        mixed = stays * other + (1 - stays) * one, stays * one + (1 - stays) * other
        for theirs_of, scores in zip(pair, mixed, strict=True):
            found = calibrate_ties(human, scores.reshape(n_systems, -1).T)
            check("accuracy of a swap", found.accuracy, theirs_of)
    print(f"  {2 * SCORE_SWAPS} accuracies of the same swaps are equal")
    return told(f"{SCORE_SWAPS} swaps of scores", theirs, ours)


def timed(work: Callable[[], T], *, runs: int = 1) -> tuple[T, float]:
    """Return the result, and the processor seconds of the best of several runs."""
    seconds = []
    for _ in range(runs):
        begun = time.process_time()
        found = work()
        seconds.append(time.process_time() - begun)
    return found, min(seconds)


def check(name: str, ours: float | None, theirs: float | None) -> None:
    """Exit if two values differ."""
    if ours is None or theirs is None or abs(ours - theirs) > EQUAL:
        raise SystemExit(f"{name} differs: Assay {ours}, mt-metrics-eval {theirs}")


def told(name: str, theirs: float, ours: float) -> float:
    """Print both times and return their ratio."""
    print(
        f"{name}: mt-metrics-eval {theirs:.2f} s, assay {ours:.4f} s: {theirs / ours:.0f} times as fast",
        flush=True,
    )
    return theirs / ours


if __name__ == "__main__":
    sys.exit(main())
