"""Coverage of corrected numbers: grades with most labels at one end, pass rates, however labels were chosen, silent judges, differences."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.stats.corrected import Asked, Texts, corrected, corrected_gap
from core.stats.prediction_powered import Corrected, Scored, corrected_difference, corrected_mean
from core.stats.resampling import Estimate
from scripts.simulations import Cell, Grid, Measures

Floats = NDArray[np.float64]

N = 600
"""Texts of a data set."""
ROWS_AN_ITEM = 3
WITHIN = 0.5
"""Correlation of two rows of an item, of what people and the judge see."""


@dataclass(frozen=True)
class Judge:
    """How a judge sees what people see: its score is that times `follows`, plus noise and a constant."""

    follows: float
    noise: float
    constant: float = 0.0


JUDGES = {"strong": Judge(1, 0.35), "weak": Judge(0.15, 1), "biased": Judge(0.8, 0.7, 1)}
ALIKE = 0.7
"""Correlation of two systems' texts of one item."""
SHIFT = 0.2
"""How much better the first of two systems is."""
BY_JUDGE = {
    f"judge {fails:.0%}/{passes:.0%}".replace("%", ""): (fails, passes)
    for fails, passes in ((0.5, 0.08), (0.4, 0.15), (0.35, 0.2), (0.3, 0.25), (0.25, 0.25), (0.1, 0.4))
}
"""Shares of the judge's fails and of its passes that have a label."""
BY_TRUTH = {"truth 50/8": (0.5, 0.08), "truth 35/20": (0.35, 0.2)}
"""Shares of people's fails and of their passes that have a label."""
SILENT = {"silent 5": 0.05, "silent 20": 0.2, "silent 50": 0.5}
"""Shares of people's fails that the judge does not score."""
USUAL_BEFORE = 0.01
"""p of the test by which Rogan-Gladen took over before."""
DECLARED = {"-": None, "at-random": "at-random", "by-truth": "by-truth"}


@dataclass(frozen=True)
class Drawn:
    """One data set of one system, before labels are chosen."""

    judge: Floats
    human: Floats
    clusters: NDArray[np.int64]


def _shape(what: str, level: float) -> Floats:
    """Shares of the values on offer, lowest first: `level` at the highest."""
    rest = 1 - level
    if what == "grades":
        return np.array([*(np.array([0.1, 0.15, 0.25, 0.5]) * rest), level])
    if what == "grades, rest low":
        return np.array([*(np.array([0.7, 0.1, 0.1, 0.1]) * rest), level])
    return np.array([rest, level])


def _values(what: str) -> Floats:
    return {"rate": np.array([0.0, 1.0]), "rate coded 1/5": np.array([1.0, 5.0])}.get(
        what, np.arange(1.0, 6.0)
    )


def _seen(n: int, items: bool, rng: np.random.Generator) -> Floats:
    """Standard normal values; with items, the rows of an item are correlated."""
    if not items:
        return rng.standard_normal(n)
    shared = np.repeat(rng.standard_normal(-(-n // ROWS_AN_ITEM)), ROWS_AN_ITEM)[:n]
    return np.asarray(np.sqrt(WITHIN) * shared + np.sqrt(1 - WITHIN) * rng.standard_normal(n))


def _coded(seen: Floats, what: str, level: float) -> Floats:
    from scipy.special import ndtri

    cuts = ndtri(np.cumsum(_shape(what, level))[:-1])
    return np.asarray(_values(what)[np.searchsorted(cuts, seen)])


def _drawn(what: str, level: float, judge: Judge, kind: str, seen: Floats, rng: np.random.Generator) -> Drawn:
    items = kind == "items"
    noise = _seen(seen.size, items, rng)
    spread = float(np.hypot(judge.follows, judge.noise))
    scored = (judge.follows * seen + judge.noise * noise) / spread + judge.constant
    human, score = _coded(seen, what, level), _coded(scored, what, level)
    if kind in SILENT:
        score[(human == _values(what)[0]) & (rng.random(seen.size) < SILENT[kind])] = np.nan
    return Drawn(score, human, np.arange(seen.size) // (ROWS_AN_ITEM if items else 1))


def _labels(drawn: Drawn, labels: str | int, what: str, rng: np.random.Generator) -> Floats:
    """The labels of some texts: of the first ones, or with chances by the judge's or people's answer."""
    if not isinstance(labels, str):
        return np.where(np.arange(drawn.human.size) < labels, drawn.human, np.nan)
    shares, by = (BY_JUDGE[labels], drawn.judge) if labels in BY_JUDGE else (BY_TRUTH[labels], drawn.human)
    chances = np.where(by == _values(what)[-1], shares[1], shares[0])
    return np.where(rng.random(by.size) < chances, drawn.human, np.nan)


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    what, level, judge, labels, kind, declared = cell
    assert isinstance(level, float)
    difference = str(what).removeprefix("difference of ") if str(what).startswith("difference") else ""
    base = {"": str(what), "rates": "rate", "grades": "grades"}[difference]
    values = _values(base)
    asked = Asked(
        base == "rate",
        (float(values[0]), float(values[-1])) if base == "rate" else (1.0, 5.0),
        DECLARED[str(declared)],  # type: ignore[arg-type]  # one of the kinds
    )
    once = _gap if difference else _mean
    results = [
        once(base, level, JUDGES[str(judge)], labels, str(kind), asked, rng)  # type: ignore[arg-type]
        for _ in range(replicates)
    ]
    truth = _truth(base, level, bool(difference))
    now, before = [one for one, _ in results], [one for _, one in results]
    ends = [one.decided for one in now if one.decided.low is not None and one.decided.high is not None]
    return {
        "coverage": _share(_covers(one, truth) for one in ends),
        "above": _share(one.low is not None and one.low > truth for one in ends),
        "below": _share(one.high is not None and one.high < truth for one in ends),
        "width": float(np.nanmean([_width(one.decided) for one in now])) if ends else None,
        "no estimate": _share(one.decided.estimate is None for one in now),
        "labels alone": _share(_covers(one.labels_only, truth) for one in now),
        "of labels": float(np.nanmean([_width(one.labels_only) for one in now])),
        "saved": float(np.median([one.share_saved or 0.0 for one in now])),
        "before": _share(_covers(one.decided, truth) for one in before),
        "width before": float(np.nanmean([_width(one.decided) for one in before])),
    }


def _mean(
    what: str,
    level: float,
    judge: Judge,
    labels: str | int,
    kind: str,
    asked: Asked,
    rng: np.random.Generator,
) -> tuple[Corrected, Corrected]:
    """One data set, corrected by the rules now and before."""
    drawn = _drawn(what, level, judge, kind, _seen(N, kind == "items", rng), rng)
    human = _labels(drawn, labels, what, rng)
    texts = Texts(drawn.judge, human, drawn.clusters, answers=asked.pass_rate)
    return corrected(texts, asked), _before(drawn, human, asked.pass_rate, kind == "items")


def _before(drawn: Drawn, human: Floats, pass_rate: bool, items: bool) -> Corrected:
    """The rule before: texts without a score do not count; Rogan-Gladen decides where labelled texts look chosen, else PPI++."""
    scored = ~np.isnan(drawn.judge)
    rows = Scored(drawn.judge[scored], human[scored], drawn.clusters[scored] if items else None)
    found = corrected_mean(rows, pass_rate=pass_rate)
    p = found.labelled_shift_p
    if found.method == "ppi++" and pass_rate and p is not None and p < USUAL_BEFORE and not items:
        return corrected_mean(rows, pass_rate=True, method="rogan-gladen")
    return found


def _gap(
    what: str,
    level: float,
    judge: Judge,
    labels: str | int,
    kind: str,
    asked: Asked,
    rng: np.random.Generator,
) -> tuple[Corrected, Corrected]:
    """The difference of two systems with the same items, of which the first is better."""
    n = N // 2
    seen = _seen(n, False, rng)
    other = ALIKE * seen + (1 - ALIKE**2) ** 0.5 * _seen(n, False, rng) + SHIFT
    sides, old = [], []
    for one in (other, seen):
        drawn = _drawn(what, level, judge, "rows", one, rng)
        human = _labels(drawn, labels, what, rng)
        keys = np.arange(n)
        sides.append(Texts(drawn.judge, human, drawn.clusters, answers=asked.pass_rate, keys=keys))
        old.append(Scored(drawn.judge, human, None, keys))
    first, second = sides
    now = corrected_gap(first, second, corrected(first, asked), corrected(second, asked), asked)
    return now, corrected_difference(*old, pass_rate=asked.pass_rate)


def _truth(what: str, level: float, difference: bool) -> float:
    from scipy.special import ndtr, ndtri

    shares, values = _shape(what, level), _values(what)
    mean = float(shares @ values)
    if not difference:
        return mean
    shifted = np.diff(ndtr(np.array([-np.inf, *ndtri(np.cumsum(shares)[:-1]), np.inf]) - SHIFT))
    return float(shifted @ values) - mean


def _share(flags: Iterable[bool]) -> float:
    found = list(flags)
    return float(np.mean(found)) if found else 0.0


def _covers(found: Estimate, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def _width(found: Estimate) -> float:
    return np.nan if found.low is None or found.high is None else found.high - found.low


_EITHER = ("-", "at-random")
_CELLS: tuple[Cell, ...] = (
    *(
        (what, top, judge, n, "rows", declared)
        for what in ("grades", "grades, rest low")
        for top in (0.7, 0.85, 0.92)
        for judge in JUDGES
        for n in (30, 100, 200)
        for declared in _EITHER
    ),
    *(
        (what, rate, judge, n, "rows", declared)
        for what in ("rate", "rate coded 1/5")
        for rate in (0.5, 0.8, 0.9, 0.95)
        for judge in JUDGES
        for n in (30, 100, 300)
        for declared in _EITHER
    ),
    *(
        ("rate", rate, judge, labels, "rows", "-")
        for rate in (0.6, 0.9)
        for judge in JUDGES
        for labels in BY_JUDGE
    ),
    *(
        ("rate", rate, judge, labels, "rows", declared)
        for rate in (0.6, 0.9)
        for judge in JUDGES
        for labels in BY_TRUTH
        for declared in ("-", "by-truth")
    ),
    *(
        ("rate", rate, judge, 100, kind, declared)
        for rate in (0.8, 0.9)
        for judge in JUDGES
        for kind in SILENT
        for declared in _EITHER
    ),
    *(
        (what, level, judge, n, "items", declared)
        for what, level in (("grades", 0.7), ("grades", 0.92), ("rate", 0.8), ("rate", 0.95))
        for judge in JUDGES
        for n in (90, 300)
        for declared in _EITHER
    ),
    *(
        (what, level, judge, labels, "rows", declared)
        for what, level in (
            ("difference of grades", 0.5),
            ("difference of grades", 0.85),
            ("difference of rates", 0.8),
        )
        for judge in JUDGES
        for labels, declared in ((30, "-"), (100, "-"), (30, "at-random"), (100, "at-random"))
    ),
    *(
        ("difference of rates", 0.8, judge, labels, "rows", "-")
        for judge in JUDGES
        for labels in ("judge 50/8", "judge 25/25", "judge 10/40")
    ),
)
GRID = Grid(
    name="corrected",
    title="Coverage of corrected numbers",
    about="""
What 95 % intervals of corrected numbers cover, by the rules now and, on the same data, by those before. 600 texts (300 of each
system for a difference). People and the judge see the same latent quality. The strong judge adds little noise, the weak one mostly
noise, the biased one noise and a constant of one standard deviation, so that it is far too kind. A judge uses the scale of the labels.

What: grades from 1 to 5 with the share `level` at 5, and of the others half at 4, or ("rest low") .7 of them at 1; pass rates coded
0/1, and coded 1/5 on a scale from 1 to 5; differences of two systems with the same items, of which the first is .2 standard
deviations better. Labels: the first 30 to 300 texts; or `judge 50/8`: 50 % of the judge's fails and 8 % of its passes; or
`truth 50/8`: of people's fails and passes. Kind: rows; items of three rows with correlation .5; or judges silent on 5, 20, 50 % of
people's fails. Declared: how labels were said to be chosen; `-` is nothing, so that the judge's answers decide.

Columns: coverage of the decided interval, where there is one; how often it lies above and below the truth; mean width; share of data sets without a
single estimate (an answer of the judge has more than 5 % of the texts and no label); coverage and width of labels alone; the median
share of labels saved; coverage and mean width by the rules before, which left out texts without a score, used t for grades, and let
Rogan-Gladen decide about pass rates where labelled texts looked chosen.

Labels chosen by what people would say and not declared are covered by no method: those cells show what the assumption costs.
""",
    factors=("what", "level", "judge", "labels", "kind", "declared"),
    measures=(
        *("coverage", "above", "below", "width", "no estimate"),
        *("labels alone", "of labels", "saved", "before", "width before"),
    ),
    cells=_CELLS,
    run=_run,
    replicates=250,
)
