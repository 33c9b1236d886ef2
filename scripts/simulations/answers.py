"""False answers of a study of pairs, by the rule of today and by Gaffke's bounds, and how often a line warns of them.

Most cells have questions with one of three scores. Their counts are enumerated, so these cells have no simulation error. The
ordinary bound is exact too, as in scripts/simulations/verdicts.py. tests/stats/test_conclusion.py compares these decisions with
`core.stats.conclusion.conclude`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import multinomial

from core.stats.conclusion import CLAIMS, answer_value, mean_bounds, unanswered_at_worst
from core.stats.non_inferiority import FEWEST_QUESTIONS, WON_TO_LOST, chance_not_above
from core.stats.resampling import cluster_sums
from scripts.simulations import Grid, Measures
from scripts.simulations.verdicts import share_not_above

MARGIN, LEVEL, SIDE = 0.1, 0.90, 0.95
"""Margin, one-sided level of "not worse", and of "better" and "worse" each."""
STEPS = 200
"""Scores are multiples of 1 / STEPS."""
PAIRS, VOTES = 4, 12
"""Of a question, in the kinds `unanswered` and `votes`."""
AT_ONCE = 400


class Cell(NamedTuple):
    """Kind; shares or scores that `questions_of` explains; number of questions; true mean."""

    kind: str
    lost: float
    loss: float
    win: float
    questions: int
    mean: float


@dataclass(frozen=True)
class Decisions:
    """What each study (row) shows, each of shape (n,)."""

    above_margin: np.ndarray
    positive: np.ndarray
    negative: np.ndarray

    def same(self, other: "Decisions") -> np.ndarray:
        """Where both give the same answer, as far as they claim something."""
        return (
            (self.above_margin == other.above_margin)
            & (self.positive == other.positive)
            & (self.negative == other.negative)
        )


def questions_of(cell: Cell, replicates: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Sums of scores of each question, shape (studies, questions), each study's weight, and the steps of a score.

    even: a share `lost` of questions is lost outright; the others score -loss or +win, as often as the mean requires. All counts
    are enumerated. votes: a share `lost` is lost by every vote; of the votes of the others a share `win` is won, and as many are
    lost as the mean requires.
    """
    n = cell.questions
    if cell.kind == "votes":
        losses = cell.win - (cell.mean + cell.lost) / (1 - cell.lost)
        draws = rng.random((replicates, n, VOTES))
        scores = (draws < cell.win).astype(int) - (draws > 1 - losses)
        scores[rng.random((replicates, n)) < cell.lost] = -1
        return scores.sum(axis=2), np.full(replicates, 1 / replicates), VOTES
    shares = even_shares(cell)
    counts = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
    weights = multinomial.pmf(counts, n, shares)
    kept = weights > 1e-9
    values = np.round(np.array([-1, cell.win, -cell.loss]) * STEPS).astype(int)
    sums = np.array([np.repeat(values, row) for row in counts[kept]])
    return sums, weights[kept] / weights[kept].sum(), STEPS


def even_shares(cell: Cell) -> np.ndarray:
    """Shares of questions lost outright, won by `win` and lost by `loss`, for the cell's mean."""
    won = (cell.mean + cell.lost + (1 - cell.lost) * cell.loss) / (cell.loss + cell.win)
    return np.array([cell.lost, won, 1 - cell.lost - won])


def _not_above(sums: np.ndarray, steps: int, margin: float) -> np.ndarray:
    parts = [share_not_above(sums[at : at + AT_ONCE], steps, margin) for at in range(0, len(sums), AT_ONCE)]
    return np.concatenate(parts)


def _gaffke(sums: np.ndarray, steps: int, threshold: float) -> np.ndarray:
    ordered, which = np.unique(np.sort(sums, axis=1), axis=0, return_inverse=True)
    values = np.unique(ordered)
    counts = (ordered[:, :, None] == values).sum(axis=1)
    return chance_not_above(values / steps, counts, threshold)[which.ravel()]


def _may_decide(sums: np.ndarray) -> np.ndarray:
    worst, won = -sums.min(axis=1), np.maximum(sums, 0).sum(axis=1)
    enough = sums.shape[1] >= FEWEST_QUESTIONS
    return enough & (worst > 0) & (won > 0) & (won >= WON_TO_LOST * worst)


def decided(sums: np.ndarray, steps: int, *, gaffke: bool = False) -> Decisions:
    """Decisions by the switch of today, or by Gaffke's bounds alone."""

    def shown(of: np.ndarray, margin: float, level: float) -> np.ndarray:
        by_gaffke = _gaffke(of, steps, -margin) < 1 - level - 1e-12
        if gaffke:
            return by_gaffke
        ordinary = _not_above(of, steps, margin) < 1 - level - 1e-12
        return np.where(_may_decide(of), ordinary, by_gaffke)

    return Decisions(shown(sums, MARGIN, LEVEL), shown(sums, 0, SIDE), shown(-sums, 0, SIDE))


def holds_with_one_more(sums: np.ndarray, steps: int, *, better: bool) -> np.ndarray:
    """Whether "better", or else "not worse", holds with one more question lost outright, by the method that decided."""
    margin, level = (0, SIDE) if better else (MARGIN, LEVEL)
    more = np.column_stack([sums, np.full(len(sums), -steps)])
    ordinary = _not_above(more, steps, margin) < 1 - level - 1e-12
    return np.where(_may_decide(sums), ordinary, _gaffke(more, steps, -margin) < 1 - level - 1e-12)


def measures(cell: tuple, replicates: int, rng: np.random.Generator) -> Measures:
    """Rates of false answers, and how many of them a line warns of."""
    of = Cell(*cell)
    if of.kind == "unanswered":
        return _unanswered(of, replicates // 10, rng)
    sums, weights, steps = questions_of(of, replicates, rng)
    today, gaffke = decided(sums, steps), decided(sums, steps, gaffke=True)
    better = today.above_margin & today.positive
    at_margin = of.mean == -MARGIN
    false = today.above_margin if at_margin else better
    differs = ~today.same(gaffke)
    fragile = ~np.where(
        better, holds_with_one_more(sums, steps, better=True), holds_with_one_more(sums, steps, better=False)
    )

    def rate(which: np.ndarray) -> float:
        return float(weights[which].sum())

    def among_false(which: np.ndarray) -> float | None:
        return rate(which & false) / rate(false) if rate(false) > 0 else None

    return {
        "not_worse": rate(today.above_margin),
        "not_worse_gaffke": rate(gaffke.above_margin),
        "better": rate(better),
        "better_gaffke": rate(gaffke.above_margin & gaffke.positive),
        "worse": rate(today.negative),
        "line_gaffke": among_false(differs),
        "line_one_more": among_false(fragile),
        "line_any": among_false(differs | fragile),
        "complete": None,
    }


def _unanswered(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """Independent pairs, four a question; half of the lost ones lack votes. `line_any` is the line on unanswered pairs."""
    questions = np.repeat(np.arange(cell.questions), PAIRS)
    false = complete = warned = 0
    options = {"margin": MARGIN, "confidence_level": LEVEL, "n_resamples": 2_000}
    for _ in range(replicates):
        draws = rng.random(questions.size)
        scores = (draws < cell.win).astype(float) - (draws > 1 - cell.loss)
        missing = (scores < 0) & (rng.random(questions.size) < cell.lost)
        complete += _claims(scores, questions)
        if _claims(scores[~missing], questions[~missing]):
            false += 1
            sums = cluster_sums(
                np.column_stack([scores, np.ones(scores.size)])[~missing], questions[~missing]
            )
            value = answer_value(mean_bounds(sums, LEVEL, n_resamples=2_000), MARGIN, len(sums))
            names = [str(one) for one in questions[missing]]
            found = unanswered_at_worst(
                scores[~missing], questions[~missing].astype(str), names, value, **options
            )
            warned += found.worst.tipping is not None
    return dict.fromkeys(GRID.measures) | {
        "not_worse": false / replicates,
        "line_any": warned / false if false else None,
        "complete": complete / replicates,
    }


def _claims(scores: np.ndarray, questions: np.ndarray) -> bool:
    sums = cluster_sums(np.column_stack([scores, np.ones(scores.size)]), questions)
    found = mean_bounds(sums, LEVEL, n_resamples=2_000)
    return answer_value(found, MARGIN, len(sums)) in CLAIMS - {"worse"}


def false_share(cell: Cell) -> float | None:
    """Share of false claims by the rule that decides, where the ordinary bound may; None if no mix of the kind `even` has the mean.

    `search` looks for the largest. Studies in which Gaffke's bound decides add at most its nominal error.
    """
    if (even_shares(cell) < 0).any():
        return None
    sums, weights, steps = questions_of(cell, 1, np.random.default_rng(0))
    margin, level = (MARGIN, LEVEL) if cell.mean < 0 else (0, SIDE)
    may = _may_decide(sums) & (weights > 1e-5)
    if not may.any():
        return 0.0
    return float(weights[may][_not_above(sums[may], steps, margin) < 1 - level - 1e-12].sum())


def search(mean: float, questions: int) -> list[tuple[float, Cell]]:
    """Mixes of the kind `even` with their false claims, the worst first. Takes minutes; not part of the grid."""
    losses = (
        (0.06, 0.08, 0.085, 0.09, 0.095, 0.1, 0.11, 0.12, 0.14) if mean < 0 else (0.005, 0.01, 0.02, 0.05)
    )
    cells = [
        Cell("even", lost, loss, win, questions, mean)
        for lost in (0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.07)
        for loss in losses
        for win in (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1)
    ]
    return sorted(((share, cell) for cell in cells if (share := false_share(cell)) is not None), reverse=True)


AT_THE_MARGIN = (
    Cell("even", 0.03, 0.12, 0.02, 20, -MARGIN),
    Cell("even", 0.05, 0.13, 0.02, 15, -MARGIN),
    Cell("even", 0.025, 0.095, 0.05, 15, -MARGIN),
    Cell("even", 0.03, 0.09, 0.05, 20, -MARGIN),
    Cell("even", 0.02, 0.1, 0.02, 30, -MARGIN),
    *(Cell("votes", 0.05, 0.0, 0.03, questions, -MARGIN) for questions in (15, 20, 30)),
    *(Cell("votes", 0.0, 0.0, win, 20, -MARGIN) for win in (0.05, 0.2)),
)
EQUAL = (
    Cell("even", 0.03, 0.05, 0.05, 20, 0.0),
    Cell("even", 0.02, 0.005, 0.03, 15, 0.0),
    Cell("even", 0.01, 0.005, 0.02, 20, 0.0),
    *(Cell("votes", 0.05, 0.0, 0.08, questions, 0.0) for questions in (15, 20, 30)),
    *(Cell("votes", 0.0, 0.0, win, questions, 0.0) for win in (0.05, 0.2) for questions in (15, 20, 30)),
)

GRID = Grid(
    name="answers",
    title="Simulated answers of a study",
    about=f"""
How often a study of pairs claims too much ([The answer](../statistics.md#the-answer)). Margin {MARGIN:g}, "not worse" at one-sided
{LEVEL:.2f}, "better" and "worse" at {SIDE:.2f} each. A true mean of -{MARGIN:g} makes every "not worse" false, with a nominal rate of
0.10. A true mean of 0 makes every "better" and "worse" false, with a nominal rate of 0.05 each.

- *even*: a share `lost` of the questions is lost outright. Each other question scores -`loss` or +`win`, as often as the mean
  requires. All counts are enumerated, so these rows have no simulation error.
- *votes*: a share `lost` of the questions is lost outright. Each other question has {VOTES} independent votes (three raters at four
  levels). A share `win` of them is for the candidate, and as many are for the comparator as the mean requires.
- *unanswered*: independent pairs, {PAIRS} a question; shares `loss` and `win` of them are lost and won. A share `lost` of the lost
  pairs has no votes.

`not_worse`, `better` and `worse` are rates by the rule that decides; `better` includes "not worse" first. A name with `_gaffke` is
the rate by Gaffke's bounds alone. `line_gaffke`: share of the false claims ("not worse" at -{MARGIN:g}, "better" at 0) for which
a line says that Gaffke's bounds give another answer. `line_one_more`: the same for one more question lost outright. `line_any`:
at least one of the two; for *unanswered*, the line on unanswered pairs. `complete`: rate of "not worse" if no vote were missing.
""",
    factors=Cell._fields,
    measures=(
        *("not_worse", "not_worse_gaffke", "better", "better_gaffke", "worse"),
        *("line_gaffke", "line_one_more", "line_any", "complete"),
    ),
    cells=(*AT_THE_MARGIN, *EQUAL, Cell("unanswered", 0.5, 0.25, 0.10, 20, -0.15)),
    run=measures,
    replicates=4_000,
)
