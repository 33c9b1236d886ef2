"""Several judges on the same texts: false claims that one is better, coverage of differences, and judges used in error."""

from functools import lru_cache

import numpy as np

from core.results.check.choosing import Choice, which_judge
from core.schema.panel import Panel
from core.schema.scale import TO_GUESS, Scale
from core.schema.scores import ScoredRow
from core.stats.resampling import Floats
from scripts.simulations import Cell, Grid, Measures

_CLASSES = 4
_RATERS = 3
_TEXTS_AN_ITEM = 2
_RATER, _WORSE, _BETTER = 0.2, 0.35, 0.15
"""Share of random labels of raters, of equal judges, and of the one better judge."""
_NOISE, _LESS = 1.0, 0.6
"""Noise of equal judges and of the one better judge, where quality is a number."""
_LARGE = 200_000


def _panel(cell: Cell, texts: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Ratings and scores. The texts of an item share their difficulty, and half of the judges' noise is common to all."""
    measure, judges, _, truth = cell
    better = np.zeros(int(judges), dtype=bool)
    better[0] = truth == "one better"
    item = np.arange(texts) // _TEXTS_AN_ITEM
    if measure == "agreement":
        hard = rng.uniform(0.4, 1.6, item[-1] + 1)[item]
        label = rng.integers(0, _CLASSES, texts)

        def given(errors: Floats) -> Floats:
            drawn = rng.integers(0, _CLASSES, (texts, errors.size))
            wrong = rng.random((texts, errors.size)) < hard[:, None] * errors
            return np.where(wrong, drawn, label[:, None]).astype(np.float64)

        return given(np.full(_RATERS, _RATER)), given(np.where(better, _BETTER, _WORSE))
    quality = rng.normal(size=texts) + rng.normal(size=item[-1] + 1)[item]
    ratings = np.round(1.5 * quality[:, None] + rng.normal(size=(texts, _RATERS)))
    common = rng.normal(size=texts)[:, None]
    noise = (common + rng.normal(size=(texts, better.size))) / np.sqrt(2)
    return ratings, quality[:, None] + np.where(better, _LESS, _NOISE) * noise


@lru_cache(maxsize=64)
def _true(cell: Cell) -> Floats:
    """The quality of each judge in a large sample; that of equal judges is their mean."""
    from core.stats.correlation.coefficients import coefficient

    ratings, scores = _panel(cell, _LARGE, np.random.default_rng(0))
    if cell[0] == "agreement":
        found = (ratings[:, :, None] == scores[:, None, :]).mean(axis=(0, 1))
    else:
        target = ratings.mean(axis=1)
        found = np.array([coefficient(one, target, "spearman") for one in scores.T])
    first = 1 if cell[3] == "one better" else 0
    found[first:] = found[first:].mean()
    return np.asarray(found, dtype=np.float64)


def choice_of(cell: Cell, rng: np.random.Generator) -> Choice:
    """One simulated file and its choice. Judges are named by their number."""
    texts = int(cell[2])
    ratings, scores = _panel(cell, texts, rng)
    items = np.arange(texts) // _TEXTS_AN_ITEM
    rows = tuple(ScoredRow(str(item), "system") for item in items.tolist())
    panel = Panel(
        rows,
        items,
        np.full(texts, "system"),
        tuple(f"rater-{at}" for at in range(_RATERS)),
        ratings,
        tuple(str(at) for at in range(scores.shape[1])),
        scores,
        Scale("unordered", tuple(map(float, range(_CLASSES)))) if cell[0] == "agreement" else TO_GUESS,
    )
    return which_judge(panel, n_resamples=300)


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    true = _true(cell)
    any_false, covered, found_better, settled, used_far = 0, [], 0, 0, 0
    for _ in range(replicates):
        choice = choice_of(cell, rng)
        false = better = False
        for pair in choice.pairs:
            first, second = int(pair.first), int(pair.second)
            apart = true[first] - true[second]
            if pair.better is not None:
                false = false or apart == 0 or (apart > 0) != (int(pair.better) == first)
                better = better or (int(pair.better) == 0 and apart != 0)
            low, high = pair.difference.low, pair.difference.high
            if low is not None and high is not None:
                covered.append(low <= apart <= high)
        any_false += false
        found_better += better
        settled += choice.settled
        used_far += choice.settled and true.max() - true[int(choice.use or 0)] > choice.margin
    return {
        "any_false": any_false / replicates,
        "covered": float(np.mean(covered)),
        "found_better": found_better / replicates if cell[3] == "one better" else None,
        "settled": settled / replicates,
        "used_far": used_far / replicates,
    }


GRID = Grid(
    name="choosing",
    title="Which of several judges?",
    about=f"""
{_RATERS} raters and several judges on the same texts, {_TEXTS_AN_ITEM} texts an item that are equally hard. `agreement`: labels of
{_CLASSES} classes, and the share of raters whose label a judge gives. `spearman`: scores that are no classes, and Spearman's
correlation with the raters' mean; half of the noise is common to all judges. `equal`: all judges are equally good. `one
better`: the first is better than the others by .14 in agreement or .13 in correlation.

- `any_false`: files in which a judge is said to be better that is not (Holm's p below .05). At most .05 is promised.
- `covered`: share of the 90 % intervals of differences that contain the true one.
- `found_better`: files in which the better judge is shown to be better than at least one other.
- `settled`: files with a settled choice.
- `used_far`: files with a settled choice of a judge that is worse than the best one by more than the margin of .05.
""",
    factors=("measure", "judges", "texts", "truth"),
    measures=("any_false", "covered", "found_better", "settled", "used_far"),
    cells=tuple(
        (measure, judges, texts, truth)
        for measure, several in (("agreement", (2, 4, 8)), ("spearman", (2, 4)))
        for judges in several
        for texts in (40, 200)
        for truth in ("equal", "one better")
    ),
    run=_run,
    replicates=200,
)
