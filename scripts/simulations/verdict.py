"""Planted judges: how often the check trusts a judge that is known to be bad, and a rater's copy, by its rules now and before.

python -m scripts.simulations.verdict      store the verdicts of this code as those before, in verdict_before.csv
"""

import argparse
import csv
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from core.results.check.rules import Verdict
from core.results.check.verdict import check_panel
from core.schema.panel import Panel
from core.schema.scale import TO_GUESS, Scale, scale_of_range
from core.schema.scores import ScoredRow
from core.schema.uses import DEFAULT_OPTIONS, CheckOptions, Use
from core.stats.agreement import cohen_kappa
from core.stats.correlation.panels import panel_correlation
from core.stats.in_place import class_errors, classes_in_place, quadratic_kappa
from core.stats.resampling import Floats
from core.tables.columns import ONLY_SYSTEM
from scripts.simulations import ROOT, Cell, Grid, Measures, cell_measures

MARGIN, SHARE = 0.1, 0.75
"""The true gap above which a judge is bad, and the share of people's own value below which it is."""
ITEM_SHARE = 0.7
"""Share of the variance of quality that texts of one item have in common."""
GOOD_RIGHT = 0.99
"""How often a judge that misses fails passes a good text: it is seldom constant."""
NOISE = 0.7
"""Standard deviation of a rater's noise, in units of the quality's; Spearman's correlation with two others is then .7."""
STEP = 1.1
"""Classes of an ordered scale for one standard deviation of quality."""
NO_VALUE = 0.005
"""Raters' own covariance or correlation below which they have nothing that a judge could keep."""
FAMILIES_OF_SYSTEMS = 8
TEN = 10
LARGE = {"two": 1_000_000, "unordered": 400_000, "ordered": 200_000, "scores": 200_000}
"""Texts of the file that a judge's true gaps are read from, by kind of scale."""
FILES_FACTOR = {"two": 1.0, "unordered": 0.5, "ordered": 0.5, "scores": 0.5}
"""Files of a cell, as a share of the grid's replicates, by kind of scale: ordered scales take longer."""
BEFORE = Path(__file__).with_name("verdict_before.csv")

Index = NDArray[np.int64]


# --- files -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class File:
    """Texts with their ratings, and what a planted judge may know."""

    data: str
    """Name of the population."""
    truth: Floats
    """Shape (n,): the true class, or the quality."""
    ratings: Floats
    """Shape (n, raters); NaN for none."""
    again: Floats
    """Shape (n, raters): the same raters, asked again. A copy of a rater is a column."""
    items: Index
    systems: Index
    """Number of the text's system; all 0 where texts have none."""


def _quality(n: int, rows: int, rng: np.random.Generator) -> tuple[Floats, Index]:
    """Quality of n texts, `rows` of each item, with standard deviation 1; and the item of each text."""
    items = np.arange(n) // rows
    own = rng.normal(size=n)
    if rows == 1:
        return own, items
    of_item = rng.normal(size=int(items[-1]) + 1)[items]
    return np.sqrt(ITEM_SHARE) * of_item + np.sqrt(1 - ITEM_SHARE) * own, items


@dataclass(frozen=True)
class TwoClasses:
    """Texts that are good (1) or bad (0), and raters who are right with one probability, or who fail different shares."""

    good: tuple[float, ...] = (0.8,)
    """Share of good texts, for each system."""
    accuracy: float = 0.92
    together: float = 0.0
    """Share of texts on which one draw decides whether all raters are right."""
    rows: int = 1
    rated: float = 1.0
    """Share of its texts that each rater rated; every text has one rating at least."""
    fails: tuple[float, ...] = ()
    """Share of texts that each rater fails, where severity differs. Replaces `accuracy`."""
    constant: tuple[int, ...] = ()
    """Raters who pass every text."""
    labelled: tuple[float, float] = (1.0, 1.0)
    """Share of the judge's fails, and of its passes, that raters rated."""
    adjudicated: bool = False
    """Whether the third rater rated only texts on which the first two differ."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the check, as far as it has them."""
    kind: str = "two"
    scale: Scale = TO_GUESS

    def draw(self, data: str, n: int, raters: int, rng: np.random.Generator) -> File:
        """Draw a file."""
        quality, items = _quality(n, self.rows, rng)
        systems = np.arange(n) % len(self.good)
        truth = (quality > ndtri(1 - np.array(self.good))[systems]).astype(np.float64)
        if self.fails:
            truth = (quality > ndtri(np.mean(self.fails))).astype(np.float64)
        shared, shared_right = rng.random(n) < self.together, rng.random(n) < self.accuracy

        def rate() -> Floats:
            if self.fails:
                seen = quality[:, None] + 0.6 * rng.normal(size=(n, raters))
                given = (seen > np.sqrt(1 + 0.6**2) * ndtri(np.array(self.fails))).astype(np.float64)
            else:
                right = np.where(
                    shared[:, None], shared_right[:, None], rng.random((n, raters)) < self.accuracy
                )
                given = np.where(right, truth[:, None], 1 - truth[:, None])
            given[:, list(self.constant)] = 1.0
            return given

        ratings, again = rate(), rate()
        if self.rated < 1:
            kept = rng.random(ratings.shape) < self.rated
            kept[np.arange(n), rng.integers(0, raters, n)] |= ~kept.any(axis=1)
            ratings[~kept] = np.nan
        return File(data, truth, ratings, again, items, systems)


@dataclass(frozen=True)
class ThreeClasses:
    """Texts that are fine (0), poor (1) or, 3 %, harmful (2), and raters who seldom call a text harmful that is not."""

    harmful: float = 0.03
    accuracy: float = 0.92
    options: Mapping[str, Any] = field(default_factory=dict)
    labelled: tuple[float, float] = (1.0, 1.0)
    kind: str = "unordered"
    scale: Scale = field(
        default=Scale(
            "unordered", (0.0, 1.0, 2.0), {0.0: "fine", 1.0: "poor", 2.0: "harmful"}, origin="declared"
        )
    )

    def draw(self, data: str, n: int, raters: int, rng: np.random.Generator) -> File:
        """Draw a file."""
        truth = np.where(rng.random(n) < self.harmful, 2.0, (rng.random(n) < 0.4).astype(np.float64))

        def rate() -> Floats:
            right = rng.random((n, raters)) < self.accuracy
            called_harmful = rng.random((n, raters)) < 0.05
            wrong = np.where(
                truth[:, None] == 2, 1.0, np.where(called_harmful, 2.0, 1 - np.minimum(truth, 1)[:, None])
            )
            return np.where(right, truth[:, None], wrong)

        return File(data, truth, rate(), rate(), np.arange(n), np.zeros(n, np.int64))


@dataclass(frozen=True)
class Graded:
    """Texts with a quality, and raters who see it with noise and give one of the classes 1 to 5, or a score from 0 to 100."""

    shifts: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    """What each rater adds, in classes."""
    centre: float = 3.0
    step: float = STEP
    rows: int = 1
    systems: int = 1
    spread: float = 0.0
    """Standard deviation of the systems' mean qualities, within a whole of 1."""
    kind: str = "ordered"
    scale: Scale = field(default=scale_of_range(1, 5))
    options: Mapping[str, Any] = field(default_factory=dict)
    labelled: tuple[float, float] = (1.0, 1.0)

    def draw(self, data: str, n: int, raters: int, rng: np.random.Generator) -> File:
        """Draw a file."""
        quality, items = _quality(n, self.rows, rng)
        systems = np.arange(n) % self.systems
        if self.systems > 1:
            quality = np.sqrt(1 - self.spread**2) * quality + self.of_systems()[systems]
        shifts = np.array(self.shifts[:raters])
        ratings, again = (
            self.grade(quality[:, None] + NOISE * rng.normal(size=(n, raters)), shifts) for _ in range(2)
        )
        return File(data, quality, ratings, again, items, systems)

    def of_systems(self) -> Floats:
        """Mean quality of each system, evenly spaced."""
        even = np.linspace(-1, 1, self.systems)
        return np.asarray(self.spread * even / even.std())

    def grade(self, seen: Floats, shifts: Floats | float = 0.0) -> Floats:
        """What a rater gives who sees this quality."""
        if self.kind == "scores":
            return np.asarray(np.clip(np.round(50 + 22 * seen, 1), 0, 100))
        return np.asarray(np.clip(np.round(self.centre + self.step * seen + shifts), 1, 5))


Population = TwoClasses | ThreeClasses | Graded
_LIMITS = {"most_false_passes": 0.1, "most_false_fails": 0.1}
_SEVERE_AND_LENIENT = (-1.0, 0.0, 1.0)

DATA: Mapping[str, Population] = {
    **{f"{good} % good": TwoClasses((good / 100,)) for good in (55, 80, 90, 95, 98)},
    "raters right .66": TwoClasses(accuracy=0.66),
    "raters right .7": TwoClasses(accuracy=0.7),
    "third rater if two differ": TwoClasses(adjudicated=True),
    "raters fail 5, 10, 20 %": TwoClasses(fails=(0.05, 0.1, 0.2)),
    "items of 10 rows": TwoClasses(rows=10),
    "items of 40 rows": TwoClasses(rows=40),
    "each text by .6 of raters": TwoClasses(rated=0.6),
    "raters err together in .5": TwoClasses(together=0.5),
    "stated limits": TwoClasses((0.55,), accuracy=0.98, options=_LIMITS),
    **{
        f"labels of .{a:02} fails, .{b:02} passes": TwoClasses((0.9,), labelled=(a / 100, b / 100))
        for a, b in ((50, 8), (35, 20), (25, 25))
    },
    "one of 4 systems bad": TwoClasses((0.4, 0.95, 0.95, 0.95)),
    "all raters pass all": TwoClasses(constant=(0, 1, 2)),
    "one rater passes all": TwoClasses(constant=(2,)),
    "raters always right": TwoClasses((0.8,), accuracy=1.0),
    "raters always right, 95 %": TwoClasses((0.95,), accuracy=1.0),
    "3 % harmful": ThreeClasses(),
    "3 % harmful, critical": ThreeClasses(options={"critical": ("harmful",)}),
    "1 to 5": Graded(),
    "1 to 5, severity": Graded(_SEVERE_AND_LENIENT),
    "1 to 5, mostly 4 and 5": Graded(centre=4.7, step=0.7),
    "1 to 5, items of 10 rows": Graded(rows=10),
    "1 to 5, 8 systems": Graded(systems=FAMILIES_OF_SYSTEMS, spread=0.6),
    "0 to 100": Graded(kind="scores", scale=Scale("scores", ends=(0, 100), origin="declared")),
}


# --- judges ------------------------------------------------------------------------------------

Judge = Callable[[File, np.random.Generator], Floats]
"""Scores of shape (n,), or (n, judges)."""


def _graded(file: File) -> Graded:
    return cast(Graded, DATA[file.data])


def _copy(file: File, rng: np.random.Generator, rater: int = 0) -> Floats:
    return file.again[:, rater].copy()


def _finds(file: File, rng: np.random.Generator, share: float) -> Floats:
    """Fail this share of the bad texts, and 1 % of the good ones."""
    passing = np.where(file.truth == 1, GOOD_RIGHT, 1 - share)
    return (rng.random(file.truth.size) < passing).astype(np.float64)


def _right(file: File, rng: np.random.Generator, accuracy: float) -> Floats:
    """Err on its own, however raters err."""
    return np.where(rng.random(file.truth.size) < accuracy, file.truth, 1 - file.truth)


def _coin(file: File, rng: np.random.Generator, of_rate: bool = False) -> Floats:
    values = np.unique(file.again)
    return rng.permutation(file.again[:, 0]) if of_rate else rng.choice(values, file.truth.size)


def _silent(file: File, rng: np.random.Generator, share: float) -> Floats:
    """A copy without a score on this share of the bad texts, or of the worst fifth."""
    bad = file.truth == 0 if DATA[file.data].kind == "two" else file.truth < ndtri(0.2)
    return np.where(bad & (rng.random(file.truth.size) < share), np.nan, _copy(file, rng))


def _unsure(file: File, rng: np.random.Generator, share: float) -> Floats:
    """A copy that says .5, which no rater may, to this share of the bad texts."""
    return np.where((file.truth == 0) & (rng.random(file.truth.size) < share), 0.5, _copy(file, rng))


def _silent_if_disputed(file: File, rng: np.random.Generator) -> Floats:
    disputed = file.ratings.min(axis=1) != file.ratings.max(axis=1)
    return np.where(disputed, np.nan, _copy(file, rng))


def _on_one_system(file: File, rng: np.random.Generator) -> Floats:
    return np.where(file.systems == 0, _copy(file, rng), 1.0)


def _misses_harmful(file: File, rng: np.random.Generator, share: float) -> Floats:
    """A copy that calls this share of what it finds harmful poor."""
    scores = _copy(file, rng)
    return np.where((scores == 2) & (rng.random(scores.size) < share), 1.0, scores)


def _ranking(file: File, rng: np.random.Generator, correlation: float) -> Floats:
    """Grade with a stated correlation with quality, spread as raters are."""
    own = rng.normal(size=file.truth.size)
    seen = correlation * file.truth + np.sqrt(1 - correlation**2) * own
    return _graded(file).grade(seen * np.sqrt(1 + NOISE**2))


def _mostly(file: File, rng: np.random.Generator, value: float, share: float) -> Floats:
    """Give one value, and to the remaining share of texts a grade that has nothing to do with quality."""
    return np.where(rng.random(file.truth.size) < share, value, _coin(file, rng, of_rate=True))


def _of_system(file: File, rng: np.random.Generator, rounded: bool) -> Floats:
    data = _graded(file)
    means = data.centre + data.step * data.of_systems()[file.systems]
    return np.round(means) if rounded else means


def _of_family(file: File, rng: np.random.Generator) -> Floats:
    return np.where(file.systems < FAMILIES_OF_SYSTEMS // 2, 3.0, 4.0)


def _shifted(file: File, rng: np.random.Generator, by: float) -> Floats:
    """See as a rater does, and move what it gives by so many classes."""
    return _graded(file).grade(file.truth + NOISE * rng.normal(size=file.truth.size), by)


def _off_by_one(file: File, rng: np.random.Generator) -> Floats:
    return np.minimum(_copy(file, rng) + 1, 5)


def _outside(file: File, rng: np.random.Generator) -> Floats:
    """A copy that writes 100 in place of 3 % of its scores."""
    return np.where(rng.random(file.truth.size) < 0.03, 100.0, _copy(file, rng))


def _turned(file: File, rng: np.random.Generator) -> Floats:
    scale = DATA[file.data].scale
    low, high = scale.ends or (0.0, 1.0)
    return low + high - _copy(file, rng)


def _never_worst(file: File, rng: np.random.Generator) -> Floats:
    """A copy that gives texts of class 1 the middle."""
    scores = _copy(file, rng)
    return np.where(scores == 1, 3.0, scores)


def _ends(file: File, rng: np.random.Generator) -> Floats:
    """A copy that knows the ends of the scale only."""
    return np.where(_copy(file, rng) > 3, 5.0, 1.0)


# A judge at the limit: a copy (where a limit is stated, the truth), moved in as many texts as brings it to the limit.

Move = Callable[[File, np.random.Generator, float], Floats]


def _best(file: File, rng: np.random.Generator) -> Floats:
    return file.truth.copy() if _limits_are_stated(file.data) else _copy(file, rng)


def _pass_fails(file: File, rng: np.random.Generator, share: float) -> Floats:
    moved = rng.random(file.truth.size) < share
    return np.where(moved & (file.truth == 0), 1.0, _best(file, rng))


def _fail_passes(file: File, rng: np.random.Generator, share: float) -> Floats:
    moved = rng.random(file.truth.size) < share
    return np.where(moved & (file.truth == 1), 0.0, _best(file, rng))


def _pass_items(file: File, rng: np.random.Generator, share: float) -> Floats:
    moved = (rng.random(int(file.items[-1]) + 1) < share)[file.items]
    return np.where(moved & (file.truth == 0), 1.0, _best(file, rng))


def _shuffle(file: File, rng: np.random.Generator, share: float) -> Floats:
    moved, scores = rng.random(file.truth.size) < share, _copy(file, rng)
    scores[moved] = rng.permutation(scores[moved])
    return scores


MOVES: Mapping[str, Move] = {
    "limit": _pass_fails,
    "limit, false fails": _fail_passes,
    "limit, by item": _pass_items,
    "limit, shuffled": _shuffle,
}


def _limit(file: File, rng: np.random.Generator, move: str) -> Floats:
    return MOVES[move](file, rng, share_at_limit(file.data, file.ratings.shape[1], move))


def _ten(file: File, rng: np.random.Generator, move: str) -> Floats:
    return np.column_stack([_limit(file, rng, move) for _ in range(TEN)])


JUDGES: Mapping[str, Judge] = {
    "copy": _copy,
    **{f"copy of rater {at + 1}": partial(_copy, rater=at) for at in range(3)},
    **{f"finds {share:g}": partial(_finds, share=share) for share in (0, 0.25, 0.5)},
    "always pass": lambda file, rng: np.ones(file.truth.size),
    "true class": lambda file, rng: file.truth.copy(),
    "right .92 alone": partial(_right, accuracy=0.92),
    "coin": _coin,
    "coin of rate": partial(_coin, of_rate=True),
    "turned": _turned,
    **{f"silent on {share:g}": partial(_silent, share=share) for share in (0.05, 0.2, 0.5, 1)},
    "silent where disputed": _silent_if_disputed,
    "says .5 to .3 of fails": partial(_unsure, share=0.3),
    "right on one system": _on_one_system,
    **{f"misses {share:g} of harmful": partial(_misses_harmful, share=share) for share in (0.5, 1)},
    **{f"ranks {share:g}": partial(_ranking, correlation=share) for share in (0, 0.2, 0.3, 0.4, 0.6)},
    "always 3": lambda file, rng: np.full(file.truth.size, 3.0),
    "3 in .97": partial(_mostly, value=3.0, share=0.97),
    "5 in .97": partial(_mostly, value=5.0, share=0.97),
    "always 50": lambda file, rng: np.full(file.truth.size, 50.0),
    "mean of system": partial(_of_system, rounded=False),
    "class of system": partial(_of_system, rounded=True),
    "family of system": _of_family,
    "off by one": _off_by_one,
    **{f"harsh by {by:g}": partial(_shifted, by=-by) for by in (0.4, 0.8)},
    **{f"shuffled {share:g}": partial(_shuffle, share=share) for share in (0.15, 0.5, 0.7)},
    "100 in .03": _outside,
    "never 1": _never_worst,
    "1 or 5": _ends,
    **{move: partial(_limit, move=move) for move in MOVES},
    "ten at limit": partial(_ten, move="limit"),
    "ten at limit, shuffled": partial(_ten, move="limit, shuffled"),
}


# --- what is true of a judge ---------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """A judge in the place of a rater, over a whole population. None where a measure is of no use on its scale."""

    false_passes: float | None = None
    """How much more often the judge passes what other raters fail; on three classes the most that it misses a class."""
    false_fails: float | None = None
    kappa: float | None = None
    """The raters' kappa (quadratic on ordered classes) minus the judge's."""
    rank: float | None = None
    """The raters' rank correlation minus the judge's."""
    share: float | None = None
    """The judge's covariance or rank correlation with raters over the raters' own; None if they have none."""

    @property
    def gaps(self) -> tuple[float, ...]:
        """All gaps: a judge is bad if one exceeds the margin."""
        each = (self.false_passes, self.false_fails, self.kappa, self.rank)
        return tuple(gap for gap in each if gap is not None)


def _limits_are_stated(data: str) -> bool:
    return bool(set(_LIMITS) & set(DATA[data].options))


@lru_cache(maxsize=500)
def truth_of(data: str, raters: int, judge: str) -> Truth:
    """What is true of a judge. One rater has nobody to be compared with: the gaps are those beside three like it."""
    return _truth(data, raters, JUDGES[judge])


def _truth(data: str, raters: int, judge: Judge) -> Truth:
    population, stated = DATA[data], _limits_are_stated(data)
    rng = np.random.default_rng(1)
    file = population.draw(data, LARGE[population.kind], raters if raters > 1 or stated else 3, rng)
    scores = judge(file, rng)
    scores = scores if scores.ndim == 1 else scores[:, 0]
    if stated:
        rater = file.ratings[:, 0]
        return Truth(float(scores[rater == 0].mean()), 1 - float(scores[rater == 1].mean()), share=1.0)
    groups = file.items % 50  # The interval is not read, so few clusters save time.
    if population.kind in {"two", "unordered"}:
        return _truth_of_classes(file, scores, groups)
    if population.kind == "ordered":
        low, high, means = 1, 5, np.nanmean(file.ratings, axis=1)
        scores = np.where(np.isnan(scores), np.where(means - low > high - means, low, high), scores)
    kappa = quadratic_kappa(scores, file.ratings, kept_share=SHARE, clusters=groups).gap.estimate
    ranks = panel_correlation(scores, file.ratings, clusters=groups)
    people = cast(float, ranks.raters.estimate) if ranks.raters.estimate is not None else _own_rank(file)
    of_judge = ranks.judge.estimate or 0.0  # A constant judge ranks nothing.
    return Truth(
        kappa=None if kappa is None or population.kind == "scores" else -kappa,
        rank=people - of_judge,
        share=of_judge / people,
    )


def _own_rank(file: File) -> float:
    """The raters' own rank correlation, beside a judge that is constant."""
    found = panel_correlation(file.again[:, 0], file.ratings, clusters=file.items % 50).raters.estimate
    return cast(float, found)


def _truth_of_classes(file: File, scores: Floats, groups: Index) -> Truth:
    n_classes = 2 if DATA[file.data].kind == "two" else 3
    scores = np.where(np.isin(scores, np.arange(n_classes)), scores, np.nan)

    def missed(of_class: int) -> float | None:
        judged = np.where(np.isnan(scores), np.nan, scores == of_class)
        votes = np.where(np.isnan(file.ratings), np.nan, file.ratings == of_class)
        return class_errors(judged, votes, margin=MARGIN, clusters=groups).difference.estimate

    kept, _ = classes_in_place(scores, file.ratings, n_classes, kept_share=SHARE, clusters=groups)
    assert kept.judge.estimate is not None
    assert kept.people.estimate is not None
    share = kept.judge.estimate / kept.people.estimate if kept.people.estimate > NO_VALUE else None
    gaps = [missed(each) for each in range(n_classes)]
    if n_classes == 2:
        return Truth(gaps[0], gaps[1], share=share)
    return Truth(max(gap for gap in gaps if gap is not None), kappa=_kappa_gap(file, scores), share=share)


def _kappa_gap(file: File, scores: Floats) -> float:
    """The raters' mean Cohen's kappa over pairs minus the judge's."""

    def kappa(one: Floats, other: Floats) -> float:
        found = cohen_kappa(np.column_stack([one, other]).astype(np.int64), n_categories=3, n_resamples=0)
        return cast(float, found.estimate)

    raters = file.ratings.T
    people = np.mean([kappa(one, other) for one, other in permutations(raters, 2)])
    return float(people - np.mean([kappa(scores, one) for one in raters]))


@lru_cache(maxsize=100)
def share_at_limit(data: str, raters: int, move: str) -> float:
    """Share of moved texts at which the first rule is at its limit: every measure is linear in it."""
    still, moved = (_truth(data, raters, partial(MOVES[move], share=share)) for share in (0.0, 1.0))
    found = [
        (MARGIN - before) / (after - before)
        for before, after in zip(still.gaps, moved.gaps, strict=True)
        if after > MARGIN
    ]
    if still.share is not None and moved.share is not None and moved.share < SHARE:
        found.append((still.share - SHARE) / (still.share - moved.share))
    return min(found)


def is_bad(cell: Cell) -> bool:
    """Whether a judge must not be trusted: a gap beyond the margin, too little of people's value kept, or none to keep."""
    data, _, raters, _, judge = _parts(cell)
    truth = truth_of(data, raters, judge)
    at_limit = "limit" in judge
    return at_limit or truth.share is None or truth.share < SHARE or max(truth.gaps) > MARGIN


# --- verdicts ------------------------------------------------------------------------------------


def _parts(cell: Cell) -> tuple[str, str, int, int, str]:
    data, use, raters, n, judge = cell
    return str(data), str(use), int(raters), int(n), str(judge)


@lru_cache(maxsize=8)
def _rows(n: int, rows: int, systems: int) -> tuple[ScoredRow, ...]:
    return tuple(
        ScoredRow(str(at // rows), f"s{at % systems}" if systems > 1 else ONLY_SYSTEM, None, "", {})
        for at in range(n)
    )


def panel_for(cell: Cell, rng: np.random.Generator) -> Panel:
    """Draw a file of the cell. Texts that raters did not rate keep the judge's score."""
    data, _, raters, n, judge = _parts(cell)
    population = DATA[data]
    file = population.draw(data, n, raters, rng)
    scores = JUDGES[judge](file, rng)
    scores = scores[:, None] if scores.ndim == 1 else scores
    ratings = file.ratings
    of_fails, of_passes = population.labelled
    if of_fails < 1:
        labelled = rng.random(n) < np.where(scores[:, 0] == 0, of_fails, of_passes)
        ratings = np.where(labelled[:, None], ratings, np.nan)
    if isinstance(population, TwoClasses) and population.adjudicated:
        ratings[ratings[:, 0] == ratings[:, 1], 2] = np.nan
    systems = (
        len(population.good) if isinstance(population, TwoClasses) else getattr(population, "systems", 1)
    )
    rows = _rows(n, getattr(population, "rows", 1), systems)
    return Panel(
        rows,
        file.items,
        np.array([row.system for row in rows]),
        tuple(f"rater {at + 1}" for at in range(raters)),
        ratings,
        tuple(f"judge {at + 1}" for at in range(scores.shape[1])),
        scores,
        population.scale,
    )


def verdicts(cell: Cell, files: int, rng: np.random.Generator) -> list[Verdict]:
    """The best verdict of each file: of ten judges, TRUSTED if one is."""
    data, use, *_ = _parts(cell)
    asked = {name: value for name, value in DATA[data].options.items() if hasattr(DEFAULT_OPTIONS, name)}
    options = CheckOptions(use=cast(Use, use), **asked)
    order: tuple[Verdict, ...] = ("TRUSTED", "INCONCLUSIVE", "NOT TRUSTED")
    return [
        min((one.verdict for one in check_panel(panel_for(cell, rng), options).judges), key=order.index)
        for _ in range(files)
    ]


def files_of(cell: Cell, replicates: int) -> int:
    """Files of a cell."""
    return max(round(replicates * FILES_FACTOR[DATA[str(cell[0])].kind]), 1)


_VERDICTS = ("trusted", "not_trusted", "open")


def _shares(cell: Cell, replicates: int, rng: np.random.Generator) -> dict[str, float]:
    """Share of files with each verdict."""
    found = verdicts(cell, files_of(cell, replicates), rng)
    each: tuple[Verdict, ...] = ("TRUSTED", "NOT TRUSTED", "INCONCLUSIVE")
    return {name: found.count(verdict) / len(found) for name, verdict in zip(_VERDICTS, each, strict=True)}


def run_cell(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """What is true of the judge, and the share of files with each verdict."""
    data, _, raters, _, judge = _parts(cell)
    shares, truth = _shares(cell, replicates, rng), truth_of(data, raters, judge)
    trusted = shares["trusted"]
    return {
        "false_passes": truth.false_passes,
        "false_fails": truth.false_fails,
        "kappa": truth.kappa,
        "rank": truth.rank,
        "share": truth.share,
        "bad": float(is_bad(cell)),
        **shares,
        "error": (max(trusted * (1 - trusted), 0.05 * 0.95) / files_of(cell, replicates)) ** 0.5,
        "before": trusted_before().get(tuple(map(str, cell))),
    }


# --- cells -----------------------------------------------------------------------------------------

BOTH, GATE = ("gate", "replace"), ("gate",)


def _cells(
    data: str,
    judges: tuple[str, ...],
    sizes: tuple[int, ...],
    uses: tuple[str, ...] = BOTH,
    raters: int = 3,
) -> tuple[Cell, ...]:
    """Cells of one population: each judge at each size; for `replace`, which adds a rule, at the largest alone."""
    return tuple(
        (data, use, raters, n, judge)
        for judge in judges
        for use in uses
        for n in (sizes if use == "gate" else sizes[-1:])
    )


MISSING_FAILS = ("finds 0", "finds 0.25", "finds 0.5")
ABOUT_100_FAILS = {55: 290, 80: 500, 90: 950, 95: 1750}
"""Texts of which about 100 are failed by two raters, by share of good texts."""

RARE = tuple(cell for good in (90, 95, 98) for cell in _cells(f"{good} % good", MISSING_FAILS, (400, 1000)))
AT_MARGIN = (
    *(
        cell
        for good in (55, 80, 95)
        for cell in _cells(f"{good} % good", ("limit", "limit, false fails"), (100, 400, 1600))
    ),
    *_cells("98 % good", ("limit",), (1000,)),
)
COPIES = tuple(
    cell
    for good, n in ABOUT_100_FAILS.items()
    for size in (n // 2, n)
    for cell in _cells(f"{good} % good", ("copy",), (size,))
)
RATERS = (
    *_cells("raters right .66", ("copy", "coin", "coin of rate"), (200, 1000)),
    *_cells("raters fail 5, 10, 20 %", tuple(f"copy of rater {at}" for at in (1, 2, 3)), (500, 1000)),
    *_cells("raters fail 5, 10, 20 %", ("finds 0.5",), (1000,)),
    *_cells("each text by .6 of raters", ("copy", "limit", "finds 0.5"), (500, 1000), raters=4),
    *_cells("raters err together in .5", ("copy", "right .92 alone", "limit", "finds 0.5"), (500,)),
    *_cells("80 % good", ("copy", "limit", "finds 0.5"), (500,), GATE, 2),
)
SILENT = (
    *_cells("80 % good", ("silent on 0.05", "silent on 0.2", "silent on 0.5"), (500, 1000)),
    *_cells("80 % good", ("silent where disputed",), (500,)),
)
CLUSTERED = (
    *_cells("items of 10 rows", ("limit", "limit, by item", "copy"), (150, 400)),
    *_cells("items of 40 rows", ("limit", "limit, by item", "copy"), (200,)),
)
ONE_RATER = (
    *_cells("90 % good", ("copy", "finds 0.25", "finds 0.5"), (400, 1000), GATE, 1),
    *_cells(
        "stated limits",
        ("true class", "limit", "limit, false fails", "finds 0.5"),
        (200, 800),
        GATE,
        1,
    ),
)
TEN_AT_ONCE = (
    *_cells("80 % good", ("ten at limit",), (500,)),
    *_cells("1 to 5", ("ten at limit, shuffled",), (200,), GATE),
)
CHOSEN = tuple(
    cell
    for data, population in DATA.items()
    if population.labelled != (1.0, 1.0)
    for uses, raters in ((BOTH, 3), (GATE, 1))
    for cell in _cells(data, ("finds 0.5", "copy"), (2000,), uses, raters)
)
THREE = tuple(
    cell
    for data in ("3 % harmful", "3 % harmful, critical")
    for cell in _cells(data, ("copy", "misses 0.5 of harmful", "misses 1 of harmful"), (400, 1500))
)
WORSE = (
    *_cells("90 % good", ("always pass", "turned"), (400,)),
    *_cells("80 % good", ("says .5 to .3 of fails",), (500,)),
    *_cells("one of 4 systems bad", ("right on one system", "copy"), (400, 1000)),
    *_cells("all raters pass all", ("always pass", "finds 0.5"), (400,)),
    *_cells("one rater passes all", ("always pass", "finds 0.5", "copy"), (400,)),
    *_cells("raters right .7", ("copy", "limit", "coin of rate"), (200,), raters=10),
    *_cells("third rater if two differ", ("copy", "limit", "finds 0.5"), (500, 1000)),
    *_cells("raters always right", ("true class", "limit", "finds 0.5"), (20, 30)),
    *_cells("raters always right, 95 %", ("true class", "always pass", "finds 0", "finds 0.5"), (20, 30)),
)
ORDERED = (
    *_cells("1 to 5, severity", tuple(f"ranks {at:g}" for at in (0, 0.2, 0.4, 0.6)), (100, 400)),
    *_cells("1 to 5, severity", ("copy of rater 1", "copy of rater 2", "shuffled 0.5"), (400,)),
    *_cells("1 to 5", ("copy", "limit, shuffled"), (30, 60, 100, 400)),
    *_cells("1 to 5", ("always 3", "3 in .97"), (100, 400)),
    *_cells("1 to 5", ("off by one", "harsh by 0.4", "harsh by 0.8"), (100, 400)),
    *_cells("1 to 5", ("shuffled 0.15", "shuffled 0.5", "shuffled 0.7"), (100, 400)),
    *_cells("1 to 5", ("silent on 0.2", "silent on 1"), (100, 400)),
    *_cells("1 to 5", ("100 in .03", "turned", "never 1", "1 or 5"), (200,)),
    *_cells("1 to 5", ("copy", "always 3", "limit, shuffled"), (200,), GATE, 2),
    *_cells("1 to 5, 8 systems", ("mean of system", "class of system", "family of system"), (200,)),
    *_cells("1 to 5, items of 10 rows", ("copy", "limit, shuffled"), (150, 400)),
    *_cells("1 to 5, mostly 4 and 5", ("copy", "limit, shuffled", "5 in .97"), (100, 400)),
)
SCORES = _cells("0 to 100", ("copy", "coin", "ranks 0.3", "always 50", "limit, shuffled"), (60, 200))

GROUPS: Mapping[str, tuple[Cell, ...]] = {
    "rare fails": RARE,
    "at the margin": AT_MARGIN,
    "copies": COPIES,
    "raters who differ": RATERS,
    "silent": SILENT,
    "items of many rows": CLUSTERED,
    "one rater": ONE_RATER,
    "ten judges": TEN_AT_ONCE,
    "chosen labels": CHOSEN,
    "three classes": THREE,
    "worse": WORSE,
    "ordered": ORDERED,
    "scores": SCORES,
}


def held_back(cell: Cell) -> bool:
    """Whether no test may use a cell, so that rules are not fitted to it: about half of them."""
    return sha256(repr(cell).encode()).digest()[0] % 2 == 1


# --- the verdicts before -----------------------------------------------------------------------------


@lru_cache(maxsize=1)
def trusted_before() -> dict[tuple[str, ...], float]:
    """Share of files TRUSTED by the code of the stored commit, by the written cell; empty before it is stored."""
    return {cell: float(row["trusted"]) for cell, row in _stored().items()}


def _stored() -> dict[tuple[str, ...], dict[str, str]]:
    if not BEFORE.exists():
        return {}
    with BEFORE.open(encoding="utf-8", newline="") as file:
        return {tuple(row[name] for name in GRID.factors): row for row in csv.DictReader(file)}


def store_before(workers: int, replicates: int) -> None:
    """Store the share of files with each verdict by this code, for cells that are not stored yet.

    Each has the commit that last changed `core`: use it on a checkout of the code to compare with.
    """
    if _git("status", "--porcelain", "core"):
        raise SystemExit("core has changes that are not committed: no commit names this code")
    commit, rows = _git("log", "-1", "--format=%h", "--", "core"), _stored()
    cells = [cell for cell in GRID.cells if tuple(map(str, cell)) not in rows]
    grid = replace(GRID, run=_shares, measures=_VERDICTS)
    with ProcessPoolExecutor(workers) as pool:
        found = pool.map(partial(cell_measures, grid, replicates=replicates), cells)
        for cell, shares in zip(cells, found, strict=True):
            written = tuple(map(str, cell))
            rows[written] = {
                **dict(zip(GRID.factors, written, strict=True)),
                **{name: f"{shares[name]:.4f}" for name in _VERDICTS},
                "files": str(files_of(cell, replicates)),
                "commit": commit,
            }
    with BEFORE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*GRID.factors, *_VERDICTS, "files", "commit"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[key] for cell in GRID.cells if (key := tuple(map(str, cell))) in rows)


def _git(*arguments: str) -> str:
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return found.stdout.strip()


GRID = Grid(
    name="verdict",
    title="Planted judges: who is trusted, by the rules now and before",
    about="""\
Each file contains the ratings of a panel and the scores of a judge whose faults are known. `check` decides with its defaults.
A judge is *bad* if its true gap to a rater in the same place exceeds 0.10, or if it keeps less than 0.75 of the raters' own
value. A bad judge may be TRUSTED in at most 5 % of files, and a copy of a rater NOT TRUSTED in at most 5 %.

*data*. Raters of two classes are right in 92 % of 80 % good texts, unless the name says otherwise.

- `raters fail 5, 10, 20 %`: raters see the same quality with noise, and each has another threshold.
- `items of K rows`: K texts an item, which share 70 % of the variance of their quality.
- `raters err together in .5`: in half of the texts all raters are right together or wrong together.
- `third rater if two differ`: the third rater rated no other texts. The true values are those of three ratings of every text.
- `labels of .A fails, .B passes`: raters rated only these shares of the judge's fails and passes. The judge scored all texts.
- `stated limits`: one rater, right in 98 % of texts, 55 % of them good; at most 10 % false passes and false fails are stated.
- `3 % harmful`: the classes fine, poor and harmful, without an order. `critical`: harmful is declared critical.
- `1 to 5`: ordered classes. A rater's rank correlation with two others is 0.7. `severity`: raters add -1, 0 and +1 classes.
  `8 systems`: their means have a standard deviation of 0.6, in units of the quality's. `0 to 100`: the same as scores.

*judge*. `copy` is a rater who was held out of the panel. All others have a fault:

- `finds S`: fails a share S of the bad texts, and 1 % of the good ones. `right .92 alone`: errs as often as raters, but not with them.
- `silent on S`: a copy without a score on a share S of the bad texts (on `1 to 5`: of the worst fifth).
- `limit`: a copy that passes further bad texts, until its first gap is exactly 0.10 or its share 0.75. `false fails`: it fails further good ones.
  `by item`: it passes all bad texts of some items. `shuffled`: some of its scores are exchanged between texts. With `stated
  limits` it is the true class in place of a copy. `ten at limit`: TRUSTED if one of ten such judges is.
- `ranks R`: grades with correlation R with the quality, in the middle of the raters. `S in .97`: the same score for 97 % of texts.
- `mean of system`, `class of system`: the true mean of the text's system, or its nearest class. `family of system`: 3 for the worse four
  systems, 4 for the better four. `never 1`: says 3 where a rater would say 1. `1 or 5`: knows no other class.
- `100 in .03`: writes 100 in place of 3 % of its scores. `right on one system`: passes all texts of the other three.

Columns, with the true values from one large file (1,000,000 texts for two classes, 400,000 for three, 200,000 otherwise):

- `false_passes`, `false_fails`: how much more often than a rater in its place the judge passes what the other raters fail, and the
  reverse. On three classes `false_passes` is the most by which it misses one class more often. With `stated limits`: the judge's own rates.
- `kappa`, `rank`: the raters' kappa (quadratic on ordered classes) and rank correlation, minus the judge's.
- `share`: the judge's covariance (rank correlation on ordered classes and scores) with raters over that of raters with each other.
- `bad`: 1 for a bad judge. Judges at the limit count as bad, and so does a judge of raters who agree on nothing.
- `trusted`, `not_trusted`, `open`: share of files that are TRUSTED, NOT TRUSTED, INCONCLUSIVE. `error`: the standard error of `trusted`.
- `before`: share of the same files that were TRUSTED by the rules before, which compared agreement with a ceiling. They are
  stored in scripts/simulations/verdict_before.csv with their commit.

With other scales than two classes, half as many files. With one rater and no stated limits, the true values are those beside three raters.
Where raters err together, the other raters are wrong with them: a judge that errs alone then looks worse than it is.""",
    factors=("data", "use", "raters", "texts", "judge"),
    measures=(
        *("false_passes", "false_fails", "kappa", "rank", "share", "bad"),
        *(*_VERDICTS, "error", "before"),
    ),
    cells=tuple(dict.fromkeys(cell for group in GROUPS.values() for cell in group)),
    run=run_cell,
    replicates=400,
)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, default=1, help="processes (default %(default)s)")
    parser.add_argument(
        "--replicates",
        type=int,
        default=GRID.replicates,
        help="files of a two-class cell (default %(default)s)",
    )
    given = parser.parse_args()
    store_before(given.workers, given.replicates)
