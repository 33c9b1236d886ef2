"""Labels drawn by uncertainty: is the weighted estimate unbiased, does its interval cover, and how much narrower is it?"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.results.check.next_labels import next_labels
from core.schema.panel import Panel
from core.schema.scores import ScoredRow
from core.stats.planning import weights_of
from core.stats.resampling import agresti_min_mean, mean_share
from scripts.simulations import Cell, Grid, Measures

Floats = NDArray[np.float64]

TEXTS = 1_000
FIRST = 50
"""Labels drawn at random before."""
_LARGE = 2_000_000
"""Texts from which the true value is computed."""


@dataclass(frozen=True)
class Kind:
    """How texts, people and judges are."""

    make: Callable[[int, np.random.Generator], tuple[Floats, Floats]]
    """Ratings of one rater (n,), and scores of judges (n, judges)."""
    bias: bool
    """Whether the bias of the first judge is estimated, else its agreement."""


def _judges_differ(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Three judges of passes: of one text in four nobody is sure, and judges and people differ there in four of ten."""
    hard = rng.random(n) < 0.25
    human = rng.random(n) < 0.6
    wrong = rng.random((n, 3)) < np.where(hard, 0.4, 0.03)[:, None]
    return human.astype(float), np.where(wrong, ~human[:, None], human[:, None]).astype(float)


def _judges_differ_for_nothing(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The same share of differences, but where judges differ the first is no more often wrong."""
    hard = rng.random(n) < 0.25
    human = rng.random(n) < 0.6
    first = np.where(rng.random(n) < 0.1225, ~human, human)
    others = np.where(
        rng.random((n, 2)) < np.where(hard, 0.4, 0.03)[:, None], ~first[:, None], first[:, None]
    )
    return human.astype(float), np.column_stack([first, others]).astype(float)


def _middle_classes(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Classes 1 to 5; people differ from the judge by one class, rarely at the ends and often in the middle."""
    judge = rng.integers(1, 6, size=n)
    often = np.array([0.05, 0.3, 0.6, 0.3, 0.05])[judge - 1]
    step = np.where(rng.random(n) < 0.6, 1, -1)
    human = np.clip(np.where(rng.random(n) < often, judge + step, judge), 1, 5)
    return human.astype(float), judge[:, None].astype(float)


def _calibrated(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The judge gives a probability of a pass, .03 too high; it is sure of most texts."""
    chance = rng.beta(0.2, 0.2, size=n)
    human = (rng.random(n) < chance).astype(float)
    return human, np.clip(chance + 0.03, 0, 1)[:, None]


KINDS = {
    "agreement, judges differ": Kind(_judges_differ, False),
    "agreement, differ for nothing": Kind(_judges_differ_for_nothing, False),
    "agreement, middle classes": Kind(_middle_classes, False),
    "bias, middle classes": Kind(_middle_classes, True),
    "bias, near the border": Kind(_calibrated, True),
}


def _values(kind: Kind, human: Floats, scores: Floats) -> Floats:
    judge = scores[:, 0]
    if not kind.bias:
        return (human == judge).astype(float)
    scale = 4.0 if judge.max() > 1 else 1.0
    return (judge - human) / scale


@cache
def truth(name: str) -> float:
    """The true agreement or bias."""
    kind = KINDS[name]
    return float(_values(kind, *kind.make(_LARGE, np.random.default_rng(0))).mean())


_ROWS = tuple(ScoredRow(str(at), "a") for at in range(TEXTS))


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    name, n = str(cell[0]), int(cell[1])
    kind, true = KINDS[name], truth(name)
    found, random, unweighted = [], [], []
    for _ in range(replicates):
        human, scores = kind.make(TEXTS, rng)
        values = _values(kind, human, scores)
        ratings = np.full((TEXTS, 1), np.nan)
        ratings[:FIRST, 0] = human[:FIRST]
        panel = Panel(
            _ROWS,
            np.arange(TEXTS),
            np.full(TEXTS, "a"),
            ("R",),
            ratings,
            tuple("xyz"[: scores.shape[1]]),
            scores,
        )
        chosen = next_labels(panel, n, rng=int(rng.integers(2**31)))
        used = np.array([*range(FIRST), *chosen.rows])
        chances = np.array([*[np.nan] * FIRST, *chosen.probability])
        estimate = agresti_min_mean if kind.bias else mean_share
        found.append(estimate(values[used], weights=weights_of(chances), confidence_level=0.95))
        random.append(estimate(values[: FIRST + n], confidence_level=0.95))
        unweighted.append(float(values[used].mean()) - true)
    errors = np.array([one.estimate or 0.0 for one in found]) - true
    width = _width(found)
    return {
        "bias": float(errors.mean()),
        "its error": float(errors.std(ddof=1) / np.sqrt(replicates)),
        "without weights": float(np.mean(unweighted)),
        "coverage": float(np.mean([(one.low or 0) <= true <= (one.high or 0) for one in found])),
        "at random": float(np.mean([(one.low or 0) <= true <= (one.high or 0) for one in random])),
        "width": width,
        "to random": width / _width(random),
    }


def _width(found: list) -> float:  # type: ignore[type-arg]
    return float(np.mean([one.high - one.low for one in found]))


GRID = Grid(
    name="next-labels",
    title="Labels drawn by uncertainty",
    about=f"""
Of {TEXTS:,} texts with scores, {FIRST} have a label, drawn at random. `check --next` draws further ones with known probabilities, and
all labels together give the weighted agreement or bias of the first judge, with its 95 % interval.

Judges differ: of three judges; on one text in four, judges and people differ often. Differ for nothing: the judges differ as often,
but the first is not wrong more often there. Middle classes: one judge with classes 1 to 5, from which people differ rarely at the ends
and often in the middle. Near the border: one judge with probabilities of a pass, .03 too high.

Columns: mean error of the weighted estimate and its Monte Carlo error; mean error of the same labels without their weights; coverage
of the weighted interval, and of as many labels drawn at random; mean width, and its ratio to that of labels drawn at random.
""",
    factors=("what", "labels"),
    measures=("bias", "its error", "without weights", "coverage", "at random", "width", "to random"),
    cells=tuple((name, n) for name in KINDS for n in (50, 100, 200)),
    run=_run,
    replicates=2_000,
)
