"""Accuracy of raters by Dawid and Skene's model: bias, coverage of intervals, and labels, with a rater who guesses."""

import gc

import numpy as np
from numpy.typing import NDArray

from core.stats.dawid_skene import dawid_skene
from core.stats.votes import category_counts
from scripts.simulations import Cell, Grid, Measures

STRONG, WEAK, EQUAL = 0.85, 0.7, 0.8
"""Accuracy of good raters: strong and weak ones alternate; in the panel `equal` all have the same."""
SHARES = np.array([0.4, 0.3, 0.1, 0.2])
"""Of the four classes."""
HARD, MISLED = 0.2, 0.6
"""Share of hard units, and how often a rater who does not guess gives a hard unit's tempting wrong class."""
N_CLASSES = len(SHARES)
GROUPS = ("strong", "weak", "guesser")

ABOUT = f"""
Four classes with the shares {", ".join(f"{share:g}" for share in SHARES)}. A good rater gives the unit's class with a probability of
{STRONG:g} (strong) or {WEAK:g} (weak), and each other class equally often. A guesser gives every class equally often, whatever the
unit. Every rater labels every unit.

- panel `guesser`: one rater guesses, the others are strong and weak in turn. `equal`: nobody guesses, and all have the accuracy
  {EQUAL:g} (columns `strong`). `hard units`: as `guesser`, but {HARD:.0%} of units are hard. Each hard unit has one tempting
  wrong class, and each good rater gives it with probability {MISLED:g}: the errors of good raters are then not independent.
- bias, coverage: mean estimated accuracy minus true accuracy, and share of 95 % intervals that contain the true accuracy.
- good_flagged, guesser_flagged: share of raters whose accuracy is below the others' (Holm over the study's raters, 0.05). In
  the panel `equal` every flag is an error, and `any_flagged` is the share of studies with at least one.
- right_model, right_majority: share of units whose most probable class, or whose most frequent label, is their class. Units
  with several such classes count in part.

With independent errors and five raters or more, the bias is small and intervals contain the truth about as often as they should.
Three raters of whom one guesses are too few: two informative raters remain, the model cannot tell which of them is better, and
more units do not help. On hard units it takes the common mistake for the truth. Estimated accuracies are then too high, and
more units or raters only make the intervals narrower around the wrong value.
"""


def run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """Simulate one cell."""
    gc.freeze()  # statsmodels' correction collects garbage at every call: 67 ms with all modules loaded
    n_units, n_raters, panel = int(cell[0]), int(cell[1]), str(cell[2])
    groups = np.arange(n_raters) % 2
    groups[-1] = 2
    accuracy = np.array([STRONG, WEAK, 1 / N_CLASSES])[groups]
    if panel == "equal":
        groups, accuracy = np.zeros(n_raters, dtype=int), np.full(n_raters, EQUAL)
    hard = HARD * MISLED if panel == "hard units" else 0.0
    true = np.where(groups == 2, accuracy, accuracy * (1 - hard))
    errors, covered, flagged = (np.full((replicates, n_raters), np.nan) for _ in range(3))
    right_model = right_majority = 0.0
    for each in range(replicates):
        classes, labels = draw(n_units, accuracy, groups == 2, panel == "hard units", rng)
        found = dawid_skene(labels, N_CLASSES, n_starts=0, rng=rng)
        ends = np.array([(one.estimate, one.low, one.high) for one in found.accuracy], dtype=float)
        errors[each] = ends[:, 0] - true
        known = ~np.isnan(ends).any(axis=1)
        covered[each, known] = ((ends[:, 1] <= true) & (true <= ends[:, 2]))[known]
        flagged[each] = found.below_others
        right_model += _right(found.posterior, classes)
        right_majority += _right(category_counts(labels, N_CLASSES), classes)
    measures: dict[str, float | None] = {}
    for number, name in enumerate(GROUPS):
        own = groups == number
        measures[f"{name}_bias"] = float(np.nanmean(errors[:, own])) if own.any() else None
        measures[f"{name}_coverage"] = float(np.nanmean(covered[:, own])) if own.any() else None
    return measures | {
        "good_flagged": float(flagged[:, groups < 2].mean()),
        "guesser_flagged": float(flagged[:, groups == 2].mean()) if (groups == 2).any() else None,
        "any_flagged": float(flagged.any(axis=1).mean()) if panel == "equal" else None,
        "right_model": right_model / replicates,
        "right_majority": right_majority / replicates,
    }


def draw(
    n_units: int,
    accuracy: NDArray[np.float64],
    guesses: NDArray[np.bool_],
    hard_units: bool,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw classes (n_units,) and labels (n_units, n_raters) of one study."""
    shape = (n_units, len(guesses))
    classes = rng.choice(N_CLASSES, size=n_units, p=SHARES)
    wrong = rng.integers(1, N_CLASSES, size=shape)
    labels = (classes[:, None] + np.where(rng.random(shape) < accuracy, 0, wrong)) % N_CLASSES
    if hard_units:
        tempting = (classes + rng.integers(1, N_CLASSES, size=n_units)) % N_CLASSES
        misled = (rng.random(n_units) < HARD)[:, None] & (rng.random(shape) < MISLED)
        labels = np.where(misled, tempting[:, None], labels)
    labels = np.where(guesses, rng.integers(0, N_CLASSES, size=shape), labels)
    return classes.astype(np.int64), labels.astype(np.int64)


def _right(scores: NDArray[np.float64], classes: NDArray[np.int64]) -> float:
    best = scores >= scores.max(axis=1, keepdims=True) - 1e-6
    return float((best / best.sum(axis=1, keepdims=True))[np.arange(len(classes)), classes].mean())


GRID = Grid(
    name="dawid-skene",
    title="Dawid-Skene: accuracy of raters",
    about=ABOUT,
    factors=("units", "raters", "panel"),
    measures=(
        *(f"{name}_{what}" for name in GROUPS for what in ("bias", "coverage")),
        *("good_flagged", "guesser_flagged", "any_flagged", "right_model", "right_majority"),
    ),
    cells=tuple(
        (units, raters, panel)
        for panel in ("equal", "guesser", "hard units")
        for units in (50, 200)
        for raters in (3, 5, 10)
    ),
    run=run,
    replicates=1_000,
)
