"""Prompts compared by known levels: false claims that one is better, coverage of differences, and better prompts found."""

from functools import lru_cache

import numpy as np

from core.results.judges.prompts import PromptsCompared, Tried, compare_prompts, one_column
from core.schema.scores import Metric, ScoredRow, ScoreTable
from core.stats.resampling import Floats
from scripts.simulations import Cell, Grid, Measures

_LEVELS = 5
_NOISE = {"equal": 1.2, "slightly better": 0.9, "much better": 0.5}
"""Standard deviation of the first prompt's verdicts around a text's quality; that of the others is the first of these."""
_LARGE = 40_000


def _verdicts(cell: Cell, items: int, rng: np.random.Generator) -> Floats:
    """Shape (texts, prompts): whole verdicts from 1 to 5. Half of the noise is common to all prompts: some texts are hard."""
    prompts, _, truth = cell
    noise = np.full(int(prompts), _NOISE["equal"])
    noise[0] = _NOISE[str(truth)]
    quality = np.tile(5.0 - np.arange(_LEVELS), items)
    common = rng.normal(size=(quality.size, 1))
    drawn = (common + rng.normal(size=(quality.size, noise.size))) / np.sqrt(2)
    return np.clip(np.round(quality[:, None] + noise * drawn), 1, 5)


@lru_cache(maxsize=64)
def _true(cell: Cell) -> Floats:
    """Spearman's correlation of each prompt with minus the damage level in a large sample; that of equal prompts is their mean."""
    from core.stats.correlation.coefficients import coefficient

    verdicts = _verdicts(cell, _LARGE, np.random.default_rng(0))
    levels = np.tile(-np.arange(_LEVELS, dtype=np.float64), _LARGE)
    found = np.array([coefficient(one, levels, "spearman") for one in verdicts.T])
    first = 0 if cell[2] == "equal" else 1
    found[first:] = found[first:].mean()
    return np.asarray(found, dtype=np.float64)


def compared_of(cell: Cell, rng: np.random.Generator) -> PromptsCompared:
    """One simulated comparison. Prompts are named by their number."""
    verdicts = _verdicts(cell, int(cell[1]), rng)
    rows = tuple(
        ScoredRow(str(at // _LEVELS), "system", f"A{at % _LEVELS}") for at in range(verdicts.shape[0])
    )
    tried = []
    for at, column in enumerate(verdicts.T):
        table = ScoreTable(rows, (Metric("judge", "", "Rubric"),), column[:, None], file_name=str(at))
        tried.append(Tried(str(at), str(at), "model", one_column(table, "judge", str(at))))
    return compare_prompts(tried, n_resamples=300, rng=int(rng.integers(2**31)))


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    true = _true(cell)
    any_false, found_better, covered = 0, 0, []
    for _ in range(replicates):
        false = better = False
        for pair in compared_of(cell, rng).main.pairs:
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
    return {
        "any_false": any_false / replicates,
        "covered": float(np.mean(covered)),
        "found_better": None if cell[2] == "equal" else found_better / replicates,
    }


GRID = Grid(
    name="prompts",
    title="Prompts compared by known levels",
    about="""
Prompts judge the same items, each with a text at five levels, from 1 to 5. A verdict is the text's quality plus noise, rounded;
half of the noise is common to all prompts. `equal`: all prompts have noise of 1.2. `slightly better`: the first has 0.9. `much better`:
the first has 0.5. Quality is Spearman's correlation with minus the damage level.

- `any_false`: comparisons in which a prompt is said to be better that is not (Holm's p below .05). At most .05 is promised.
- `covered`: share of the 95 % intervals of differences that contain the true one.
- `found_better`: comparisons in which the better prompt is shown to be better than at least one other.
""",
    factors=("prompts", "items", "truth"),
    measures=("any_false", "covered", "found_better"),
    cells=tuple((prompts, items, truth) for prompts in (2, 4) for items in (10, 40) for truth in _NOISE),
    run=_run,
    replicates=100,
)
