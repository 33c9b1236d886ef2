"""Trust or escalate: is the promise of agreement kept, and does the interval of the total cover?"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from core.stats.calibration import SAME, fewest_to_trust, fixed_thresholds, trust_threshold
from core.stats.prediction_powered import Scored, kept_and_sent
from scripts.simulations import Cell, Grid, Measures

Floats = NDArray[np.float64]

WANTED, DELTA = 0.9, 0.1
TEXTS = 2_000
"""Texts with a score; the labels for the threshold are of some of them."""
_ALIKE = 0.6
"""Correlation of the difficulty of two texts of one item."""
_LARGE = 1_000_000
"""Texts from which the true agreement is computed."""
PASSES = 0.7
_FEWEST = 50
"""Runs with a threshold below which coverage is not shown."""


@dataclass(frozen=True)
class Judge:
    """How often one answer of the judge is that of people: the normal distribution function of centre + spread z."""

    centre: float
    spread: float
    informative: bool
    """Whether repeats differ where the judge errs. Else its answers agree at one rate, whatever its confidence."""


def _flat(agreement: float) -> Judge:
    return Judge(float(ndtri(agreement)), 0.0, False)


JUDGES = {
    "sure where right": Judge(1.6, 1.3, True),
    "weak": Judge(0.6, 0.5, True),
    "just below": _flat(0.895),
    "good": _flat(0.95),
}


@dataclass(frozen=True)
class Texts:
    """Texts with people's labels (0 or 1), the judge's verdicts, its confidence and their items."""

    label: Floats
    verdict: Floats
    sure: Floats
    item: NDArray[np.int64]


def made(judge: Judge, repeats: int, n: int, per_item: int, biased: bool, rng: np.random.Generator) -> Texts:
    """Make texts. repeats: answers for each text; 0: the confidence is a probability. biased: errors are passes only."""
    n_items = -(-n // per_item)
    item = np.repeat(np.arange(n_items), per_item)[:n]
    alike = _ALIKE if per_item > 1 else 0.0

    def shared() -> Floats:
        own: Floats = rng.standard_normal(n)
        return np.sqrt(alike) * rng.standard_normal(n_items)[item] + np.sqrt(1 - alike) * own

    label = (ndtr(shared()) < PASSES).astype(float)
    difficulty = shared()
    right = ndtr(judge.centre + judge.spread * difficulty)
    if judge.informative and repeats:
        same = rng.binomial(repeats, right)
        agrees = 2 * same + rng.integers(0, 2, n) > repeats  # a tie is decided by a coin
        sure = np.maximum(same, repeats - same) / repeats
    elif judge.informative:
        agrees, sure = rng.random(n) < right, np.maximum(right, 1 - right)
    else:
        agrees = difficulty < judge.centre
        sure = rng.random(n) if not repeats else np.maximum(0.5, rng.integers(0, repeats + 1, n) / repeats)
    wrong = ~agrees
    if biased:  # wrong where people say fail, so often that as many verdicts are wrong
        label = np.where(wrong, 0.0, label)
    return Texts(label, np.where(wrong, 1 - label, label), sure, item)


@cache
def truth(name: str, repeats: int, biased: bool) -> Texts:
    """A population, surest first."""
    found = made(JUDGES[name], repeats, _LARGE, 1, biased, np.random.default_rng(0))
    order = np.argsort(-found.sure)
    return Texts(found.label[order], found.verdict[order], found.sure[order], found.item)


def true_agreement(population: Texts, threshold: float) -> float:
    """Agreement in the population from a confidence."""
    n = int(np.searchsorted(-population.sure, SAME - threshold, side="right"))
    return float((population.label[:n] == population.verdict[:n]).mean())


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    name, repeats, labels = str(cell[0]), int(cell[1]), int(cell[2])
    per_item, errors, back, start, audit = (
        int(cell[3]),
        str(cell[4]),
        float(cell[5]),
        int(cell[6]),
        int(cell[7]),
    )
    judge, biased = JUDGES[name], errors == "passes"
    population = truth(name, repeats, biased)
    true_mean = float(population.label.mean())
    wrong, kept_share, widths, covered = 0, [], [], []
    for _ in range(replicates):
        texts = made(judge, repeats, TEXTS, per_item, biased, rng)
        labelled = np.isin(texts.item, rng.permutation(texts.item.max() + 1)[: labels // per_item])
        agrees = (texts.label == texts.verdict).astype(float)
        found = trust_threshold(
            texts.sure[labelled],
            agrees[labelled],
            thresholds=fixed_thresholds(texts.sure),
            agreement=WANTED,
            delta=DELTA,
            fewest=start,
            clusters=texts.item[labelled],
        )
        if found.threshold is None:
            continue
        at = found.threshold.threshold
        wrong += true_agreement(population, at) < WANTED
        kept = texts.sure >= at - SAME
        kept_share.append(kept.mean())
        sent = np.flatnonzero(~kept & ~labelled)
        answered = labelled & ~(kept & (audit > 0))
        answered[rng.permutation(sent)[: round(back * sent.size)]] = True
        answered[rng.permutation(np.flatnonzero(kept & ~labelled))[:audit]] = True
        total = kept_and_sent(
            Scored(texts.verdict, np.where(answered, texts.label, np.nan), texts.item), kept, pass_rate=True
        ).total
        assert total.low is not None
        assert total.high is not None
        covered.append(total.low <= true_mean <= total.high)
        widths.append(total.high - total.low)
    shown = len(covered) >= _FEWEST
    return {
        "broken": wrong / replicates,
        "found": len(covered) / replicates,
        "kept": float(np.mean(kept_share)) if kept_share else None,
        "coverage": float(np.mean(covered)) if shown else None,
        "width": float(np.mean(widths)) if shown else None,
    }


_LABELS = (50, 100, 200, 500, 1000)
GRID = Grid(
    name="escalation",
    title="Trust or escalate",
    about=f"""
{TEXTS:,} texts have a verdict of the judge and its confidence, and some of them a label by a person. The lowest confidence with an agreement
of {WANTED} with probability {1 - DELTA} is chosen by fixed-sequence testing. All or half of the unlabelled texts below it go to people, and the
pass rate of all texts is estimated from the judge's verdicts above it, corrected, and people's labels below it.

Judge: *sure where right* errs where its answers differ; *weak* agrees with people in less than {WANTED} of the texts even where it is
surest; *just below* agrees in .895 at every confidence, and *good* in .95. Repeats: answers of which the confidence is the share of the more
frequent one; 0 for a confidence with any value. Labels: for the threshold. Texts: of an item; the difficulty of two texts of an
item correlates by {_ALIKE}. Errors: in either direction, or all of them passes. Back: share of the texts sent that come back with a label.
Start: labelled items that the first threshold tested keeps at least; {fewest_to_trust(WANTED, DELTA)} are the fewest that can pass.
Audit: kept texts drawn at random and labelled with the others; they alone then correct the kept ones.

Columns: share of runs in which the true agreement of the kept texts is below {WANTED}, promised to be at most {DELTA}; share of runs with a
threshold; mean share of texts kept, and coverage and mean width of the 95 % interval of the pass rate, in the runs with a threshold
(shown from {_FEWEST} of them). Without an audit, the labels that chose the threshold also correct the total. Where few of them do and all
errors are passes, it covers too seldom: such a threshold is found in the runs with few errors. An audit prevents that.
""",
    factors=("judge", "repeats", "labels", "texts", "errors", "back", "start", "audit"),
    measures=("broken", "found", "kept", "coverage", "width"),
    cells=(
        *(
            (name, repeats, n, 1, "both", 1.0, 22, 0)
            for name in JUDGES
            for repeats in (0, 5)
            for n in _LABELS
        ),
        *((name, repeats, 200, 1, "both", 1.0, 22, 0) for name in JUDGES for repeats in (3, 10)),
        *((name, 5, n, 4, "both", 1.0, 22, 0) for name in JUDGES for n in (200, 1000)),
        *(
            (name, 5, n, 1, errors, back, 22, 0)
            for name in ("sure where right", "good")
            for n in (100, 200, 500)
            for errors, back in (("passes", 1.0), ("both", 0.5), ("passes", 0.5))
        ),
        *(
            (name, repeats, n, 1, "both", 1.0, 100, 0)
            for name in JUDGES
            for repeats in (0, 5)
            for n in (200, 500)
        ),
        *(
            (name, 5, n, 1, "passes", 1.0, 22, 50)
            for name in ("sure where right", "good")
            for n in (50, 100, 200)
        ),
    ),
    run=_run,
    replicates=1_000,
)
