"""Total error and power of looks after every question: the always-valid bound, beside repeated ordinary verdicts."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from core.stats.non_inferiority import betting_wealth, why_not_ordinary
from scripts.simulations import Grid, Measures, verdicts

LOOKS = 100
"""Questions of a study; somebody looks after every one."""
PAIRS = ((1, 0.0), (4, 0.0), (4, 0.3), (4, 0.6))
"""Levels and correlation within a question; a question of one level has none."""
CASES = (*verdicts.AT_THE_MARGIN, (0.10, 0.10), (0.20, 0.20), (0.35, 0.35), (0.21, 0.34), (0.00, 0.10))


class Cell(NamedTuple):
    """Shares of pairs lost and won, pairs a question, and their latent correlation."""

    losses: float
    wins: float
    levels: int
    rho: float


def by_anytime_bound(means: np.ndarray) -> np.ndarray:
    """Return whether the always-valid bound is above the margin at each look, shape (replicates, questions)."""
    needed = 1 / (1 - verdicts.LEVEL)
    excluded = betting_wealth(means, -verdicts.MARGIN) >= needed * (1 - 1e-12)
    return np.logical_or.accumulate(excluded, axis=1)


def ever_by_verdict(sums: np.ndarray, levels: int) -> np.ndarray:
    """Return whether the ordinary verdict is "non-inferior" at any look, shape (replicates,)."""
    ever = np.zeros(len(sums), dtype=bool)
    for n in range(1, sums.shape[1] + 1):
        going = np.flatnonzero(~ever)
        seen = sums[going, :n]
        may_decide = np.array([why_not_ordinary(one) is None for one in seen / levels], dtype=bool)
        # Gaffke's bound is slow, and the verdict of these studies does not use it.
        ever[going[may_decide]] = verdicts.by_ordinary_bound(seen[may_decide], levels)
        ever[going[~may_decide]] = verdicts.by_verdict(seen[~may_decide], levels)
    return ever


def looked(cell: tuple, replicates: int, rng: np.random.Generator) -> Measures:
    """Return shares of studies called non-inferior, and the number of questions after which half of them are."""
    losses, wins, levels, rho = Cell(*cell)
    sums = verdicts.question_sums(verdicts.Cell(losses, wins, levels, rho, LOOKS), replicates, rng)
    passed = by_anytime_bound(sums / levels)
    after = np.where(passed.any(axis=1), passed.argmax(axis=1) + 1, np.inf)
    median = float(np.median(after))
    return {
        "always_valid": passed[:, -1].mean(),
        "repeated_verdicts": ever_by_verdict(sums, levels).mean(),
        "verdict_at_the_end": verdicts.by_verdict(sums, levels).mean(),
        "median_questions": median if np.isfinite(median) else None,
    }


def _cells() -> Iterator[Cell]:
    yield from (Cell(*case, *pairs) for case in CASES for pairs in PAIRS)


GRID = Grid(
    name="early",
    title="Simulated early looks",
    about=f"""
A study has {LOOKS} questions of 1 or 4 pairs (levels), drawn as in [the simulated verdicts](verdicts.md): losses and wins are shares
of pairs, rho is the latent correlation of pairs of one question. Somebody looks after every question and stops the study
at the first "non-inferior". Margin {verdicts.MARGIN:g}, one-sided level {verdicts.LEVEL:.2f}. Each entry is the share of studies called
non-inferior: at any look by the [always-valid bound](../inference.md#looking-early), at any look by the
[ordinary verdict](../statistics.md#non-inferiority) as if each look were the only one, and by the ordinary verdict once, after the
last question. `median_questions` is the number of questions after which the always-valid bound has called half the studies
non-inferior; undefined where it never does.

Rows with a true mean (wins minus losses) of -0.1 show the total error over all looks, of which 0.10 is nominal. The
other rows show power.
""",
    factors=Cell._fields,
    measures=("always_valid", "repeated_verdicts", "verdict_at_the_end", "median_questions"),
    cells=tuple(_cells()),
    run=looked,
    replicates=2_000,
)
