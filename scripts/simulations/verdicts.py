"""Type I error and power of the ordinary bound alone and of the verdict on non-inferiority.

All replicates of a cell are decided together. The ordinary bound is computed exactly: with the same number of pairs in
every question, the sum over a resample has the n-th convolution power of the observed distribution of question sums
(by fast Fourier transform). tests/stats/test_margin_verdicts.py compares these decisions with `core.stats.non_inferiority.verdict`.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from core.stats.non_inferiority import FEWEST_QUESTIONS, WON_TO_LOST, chance_not_above
from scripts.simulations import Grid, Measures

MARGIN, LEVEL = 0.1, 0.90
RHOS = (0.0, 0.3, 0.6)
LEVELS = (1, 4)
AT_THE_MARGIN = ((0.10, 0.00), (0.15, 0.05), (0.35, 0.25))
"""Losses and wins, as shares of pairs; the true mean is -0.1."""
ABOVE = ((0.10, 0.10), (0.20, 0.20), (0.35, 0.35), (0.21, 0.34), (0.05, 0.05), (0.00, 0.10))
"""Losses and wins where the candidate is non-inferior."""
QUESTIONS = {AT_THE_MARGIN: (5, 10, 20, 50), ABOVE: (20, 50)}


class Cell(NamedTuple):
    """Shares of pairs lost and won, pairs a question, their latent correlation, and the number of questions."""

    losses: float
    wins: float
    levels: int
    rho: float
    questions: int


def pair_scores(cell: Cell, replicates: int, rng: np.random.Generator | int = 0) -> np.ndarray:
    """Draw scores of -1, 0 and 1, shape (replicates, questions, levels)."""
    rng = np.random.default_rng(rng)
    shared = rng.standard_normal((replicates, cell.questions, 1))
    own = rng.standard_normal((replicates, cell.questions, cell.levels))
    latent = np.sqrt(cell.rho) * shared + np.sqrt(1 - cell.rho) * own
    return (latent > norm.isf(cell.wins)).astype(int) - (latent < norm.ppf(cell.losses))


def question_sums(cell: Cell, replicates: int, rng: np.random.Generator | int = 0) -> np.ndarray:
    """Return the sum of scores of each question, shape (replicates, questions), integers from -levels to levels."""
    return pair_scores(cell, replicates, rng).sum(axis=2)


def share_not_above(sums: np.ndarray, levels: int, margin: float = MARGIN) -> np.ndarray:
    """Return the bootstrap probability that the resampled mean is at most -margin, shape (replicates,)."""
    n = sums.shape[1]
    values = np.arange(-levels, levels + 1)
    shares = (sums[:, :, None] == values).mean(axis=1)
    size = 2 * levels * n + 1
    powers = np.fft.irfft(np.fft.rfft(shares, size, axis=1) ** n, size, axis=1)
    not_above = np.arange(-levels * n, levels * n + 1) <= -margin * levels * n + 1e-9
    return powers[:, not_above].sum(axis=1)


def by_ordinary_bound(
    sums: np.ndarray, levels: int, margin: float = MARGIN, level: float = LEVEL
) -> np.ndarray:
    """Return whether the ordinary bound alone gives "non-inferior", shape (replicates,)."""
    return share_not_above(sums, levels, margin) < 1 - level - 1e-12


def by_verdict(sums: np.ndarray, levels: int, margin: float = MARGIN, level: float = LEVEL) -> np.ndarray:
    """Return whether the verdict is "non-inferior", shape (replicates,)."""
    worst, won = -sums.min(axis=1), np.maximum(sums, 0).sum(axis=1)
    may_decide = (sums.shape[1] >= FEWEST_QUESTIONS) & (worst > 0) & (won > 0) & (won >= WON_TO_LOST * worst)
    values = np.arange(-levels, levels + 1)
    counts = (sums[:, :, None] == values).sum(axis=1)
    different, which = np.unique(counts, axis=0, return_inverse=True)
    not_above = chance_not_above(values / levels, different, -margin)[which.ravel()]
    return np.where(may_decide, by_ordinary_bound(sums, levels, margin, level), not_above < 1 - level - 1e-12)


def shares(cell: tuple, replicates: int, rng: np.random.Generator) -> Measures:
    """Return the share of studies called non-inferior."""
    sums, levels = question_sums(Cell(*cell), replicates, rng), Cell(*cell).levels
    return {"ordinary": by_ordinary_bound(sums, levels).mean(), "verdict": by_verdict(sums, levels).mean()}


def _cells() -> Iterator[Cell]:
    for cases, numbers in QUESTIONS.items():
        for case in cases:
            for levels in LEVELS:
                for rho in RHOS:
                    yield from (Cell(*case, levels, rho, questions) for questions in numbers)


GRID = Grid(
    name="verdicts",
    title="Simulated verdicts on non-inferiority",
    about=f"""
A study has questions of 1 or 4 pairs (levels). Each pair has a latent normal value, and values of one question have the
correlation rho. The lowest values are losses, the highest are wins, so a row's losses and wins are shares of pairs. Margin
{MARGIN:g}, one-sided level {LEVEL:.2f}. Each entry is the share of studies called non-inferior: by the ordinary bound alone, and by
the verdict ([Non-inferiority](../statistics.md#non-inferiority)). Its standard error is at most 0.008.

Rows with a true mean (wins minus losses) of -0.1 show the type I error, of which 0.10 is nominal. The other rows show power. The
verdict loses power where few pairs are lost or few are won, because a study of some 20 questions then often has no lost or
no won question.
""",
    factors=Cell._fields,
    measures=("ordinary", "verdict"),
    cells=tuple(_cells()),
    run=shares,
    replicates=4_000,
)
