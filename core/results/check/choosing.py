"""Which of several judges: quality against price and time on the same texts, paired tests, a front, and a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.results.cells import (
    decimal,
)
from core.results.check.facts import PER_TEXTS, UNKNOWN
from core.results.check.rules import FEWEST_ITEMS
from core.results.check.texts import agreement_by_text, constant_scores, own_texts
from core.results.check.verdict import Check, JudgeFacts
from core.schema.panel import Panel
from core.schema.scale import BY_NAME
from core.schema.uses import USES
from core.stats.correlation.coefficients import coefficient, resample_columns
from core.stats.correlation.differences import differences_between
from core.stats.correlation.intervals import n_reached, permutation_test
from core.stats.correlation.panels import panel_correlation
from core.stats.correlation.systems import signs_flipped
from core.stats.degeneracy import tied
from core.stats.multiplicity import Correction, corrected
from core.stats.resampling import (
    Estimate,
    agresti_min_mean,
    cluster_sums,
    jackknife_ends,
    mean_share,
    numbered,
)
from core.tables.problems import listed
from core.tables.reading import shown

Measure = Literal["agreement", "spearman"]
MEASURES: Mapping[Measure, str] = {
    "agreement": "agreement with the raters",
    "spearman": "Spearman's correlation with the raters' mean",
}
"""Measures of quality, and their names for readers."""
Criterion = Literal["quality", "price", "time"]
CORRECTION: Correction = "holm"
ALPHA = 0.05
"""A judge is shown to be better where Holm's p is below it."""
SAME_PRICE = 1.25
"""Two prices with a smaller ratio count as about the same in a sentence."""
ONE_RATER = "only one rater, where other texts have two"


@dataclass(frozen=True)
class JudgeOnOffer:
    """One judge with its quality on the texts that all judges scored, and its price."""

    name: str
    quality: Estimate
    """In the measure of the choice. `n`: texts, `n_left_out`: rated texts that another judge did not score."""
    n_scored: int
    """Rated texts that this judge scored, compared or not."""
    facts: JudgeFacts
    """Model, price and time."""
    on_front: bool | None
    """Whether no other judge dominates it; None: no front, for lack of prices and times."""
    dominated_by: tuple[str, ...] = ()
    """Judges that are at least as good on every criterion of the front, and better on one."""
    unfit: str = ""
    """Why it cannot be recommended whatever its quality, such as constant scores; empty: it can."""
    doubt: str = ""
    """What its recommendation must not hide, such as an open verdict; empty: nothing."""


@dataclass(frozen=True)
class JudgePair:
    """Two judges on the same texts."""

    first: str
    second: str
    difference: Estimate
    """Quality of the first minus that of the second."""
    p: float | None
    """Two-sided, by swapping whole items."""
    p_reason: str | None = None
    p_holm: float | None = None
    """The same, corrected for every two judges."""

    def seen_from(self, name: str) -> JudgePair:
        """The comparison with this judge first."""
        if name == self.first:
            return self
        one = self.difference
        turned = replace(
            one,
            estimate=None if one.estimate is None else -one.estimate + 0.0,
            low=None if one.high is None else -one.high + 0.0,
            high=None if one.low is None else -one.low + 0.0,
        )
        return replace(self, first=self.second, second=self.first, difference=turned)

    @property
    def better(self) -> str | None:
        """The judge that is shown to be better; None: neither is."""
        apart = self.difference.estimate
        if self.p_holm is None or self.p_holm >= ALPHA or not apart:
            return None
        return self.first if apart > 0 else self.second


@dataclass(frozen=True)
class Choice:
    """Several judges compared, and the one to use."""

    measure: Measure
    judges: tuple[JudgeOnOffer, ...]
    """Best first."""
    pairs: tuple[JudgePair, ...]
    """Every two judges, the better one first."""
    use: str | None
    """The judge to use; None: no judge can be recommended."""
    settled: bool
    """Whether no other fit judge can be better than it by more than the margin, by the intervals."""
    criteria: tuple[Criterion, ...]
    """What the front compares; `quality` alone means that there is no front."""
    n: int
    """Texts compared: rated, and scored by every judge."""
    n_items: int
    n_left_out: int
    """Rated texts that at least one judge did not score."""
    margin: float
    confidence_level: float
    left_out: Mapping[str, int]
    """Reason -> rated texts left out."""
    notes: tuple[str, ...] = ()

    def judge(self, name: str) -> JudgeOnOffer:
        """The judge of this name."""
        return next(one for one in self.judges if one.name == name)

    def pair(self, first: str, second: str) -> JudgePair:
        """The comparison of two judges, first minus second."""
        return next(one for one in self.pairs if {one.first, one.second} == {first, second}).seen_from(first)


def which_judge(
    panel: Panel,
    facts: Mapping[str, JudgeFacts] | None = None,
    *,
    unfit: Mapping[str, str] | None = None,
    doubts: Mapping[str, str] | None = None,
    measure: Measure | None = None,
    margin: float = 0.05,
    n_resamples: int = 2_000,
    confidence_level: float = 0.9,
    rng: int = 0,
) -> Choice:
    """Compare every two judges of the panel on the texts that all of them scored, and recommend one.

    facts: judge -> price and time. unfit: judge -> why it must not be recommended, such as a verdict; judges with constant scores
    are always unfit. doubts: judge -> a sentence to add if it comes first. measure: None for the one that suits the scores. margin: a judge may be worse than the best one by
    less than this and still be used if it is cheaper.

    Quality is the share of a text's raters who gave the judge's class, averaged over texts, where all judges use the raters'
    two classes, or their classes without an order (`texts.OwnTexts.kind`), else Spearman's correlation with the raters' mean. Agreement: differences with a t interval
    over items, p by turning the signs of whole items' differences. Correlation: percentile bootstrap over items (fewer
    than FEWEST_ITEMS: jackknife with t), and `core.stats.correlation.intervals.permutation_test`. p is
    corrected by Holm for every two judges. The best judge is the fit one with the highest quality (the cheaper of two
    equal ones); the one to use is the cheapest among it and those whose difference to it has a lower bound of at least
    -margin. A judge is on the Pareto front unless another is at least as good, as cheap and as fast, and better in one of
    these; a criterion counts only if it is known for every judge.

    Raises InputError for fewer than two judges with scores, for no rater, and if no rated text has a score of every judge.

    Misleads: the best judge was found on the same texts, so its quality is a little too high. A front compares estimates,
    not intervals. Prices of runs with other prompts, or on texts of another length, are not comparable.
    """
    facts, unfit = facts or {}, dict(unfit or {})
    rated: NDArray[np.bool_] = np.asarray(~np.isnan(panel.ratings).all(axis=1))
    scored = ~np.isnan(panel.scores)
    silent = [name for at, name in enumerate(panel.judges) if not scored[rated, at].any()]
    names = [name for name in panel.judges if name not in silent]
    if not panel.raters or not rated.any():
        raise InputError("Judges are compared by ratings of people, and this file has none.")
    if len(names) < 2:
        raise InputError(
            f"At least two judges with scores of rated texts are needed, found {listed(names) or 'none'}."
        )
    own = [panel.judges.index(name) for name in names]
    shared: NDArray[np.bool_] = np.asarray(rated & scored[:, own].all(axis=1))
    left_out = _left_out(rated, scored[:, own], names)
    if not shared.any():
        raise InputError(
            "No rated text has a score of every judge, so they cannot be compared",
            [
                f"{shown(name)}: {int(scored[rated, at].sum()):,} of {int(rated.sum()):,} rated texts"
                for at, name in zip(own, names, strict=True)
            ],
        )
    only = replace(
        panel,
        rows=tuple(panel.rows[at] for at in np.flatnonzero(shared).tolist()),
        items=panel.items[shared],
        systems=panel.systems[shared],
        ratings=panel.ratings[shared],
        judges=tuple(names),
        scores=panel.scores[shared][:, own],
    )
    texts = _Texts(only, int(rated.sum() - shared.sum()), n_resamples, confidence_level, rng)
    if measure is None:
        of_classes = all(own_texts(only, at).kind in BY_NAME for at in range(len(names)))
        measure = "agreement" if of_classes else "spearman"
    quality, pairs = (_agreements if measure == "agreement" else _correlations)(texts)
    if (alone := quality[0].n_left_out - texts.n_left_out) > 0:
        left_out[ONE_RATER] = alone
    unfit |= {
        name: "its scores are constant"
        for name, scores in zip(names, only.scores.T, strict=True)
        if constant_scores(only, scores) is not None
    }
    criteria, notes = _criteria(names, facts)
    standing = {
        name: _standing(one, facts.get(name, UNKNOWN), criteria)
        for name, one in zip(names, quality, strict=True)
    }
    judges = [
        JudgeOnOffer(
            name,
            one,
            int(scored[rated, at].sum()),
            facts.get(name, UNKNOWN),
            None if len(criteria) == 1 else not (above := _dominating(name, standing)),
            () if len(criteria) == 1 else above,
            unfit.get(name, ""),
            (doubts or {}).get(name, ""),
        )
        for name, at, one in zip(names, own, quality, strict=True)
    ]
    judges.sort(key=lambda one: (_unknown_last(one.quality.estimate, best=-1), _unknown_last(one.facts.cost)))
    order = [one.name for one in judges]
    compared = [
        JudgePair(names[i], names[j], apart, p, why).seen_from(min(names[i], names[j], key=order.index))
        for (i, j), (apart, p, why) in pairs.items()
    ]
    compared.sort(key=lambda one: (order.index(one.first), order.index(one.second)))
    by_holm = corrected([one.p for one in compared], CORRECTION)
    found = Choice(
        measure,
        tuple(judges),
        tuple(replace(one, p_holm=p) for one, p in zip(compared, by_holm, strict=True)),
        None,
        False,
        criteria,
        quality[0].n,
        quality[0].n_clusters,
        quality[0].n_left_out,
        margin,
        confidence_level,
        left_out,
        (
            *(
                f"{shown(name)}: left out: {panel.silent.get(name, 'it scored no rated text')}."
                for name in silent
            ),
            *notes,
        ),
    )
    use = _judge_to_use(found)
    return replace(found, use=use, settled=use is not None and not _could_be_better(found, use))


@dataclass(frozen=True)
class _Texts:
    """The rated texts that all judges scored, and how to compare the judges."""

    panel: Panel
    """Without other texts and judges."""
    n_left_out: int
    n_resamples: int
    confidence_level: float
    rng: int


_Pairs = Mapping[tuple[int, int], tuple[Estimate, float | None, str | None]]
"""Places of two judges -> difference, p, why there is none."""


def _agreements(texts: _Texts) -> tuple[list[Estimate], _Pairs]:
    values = np.column_stack([agreement_by_text(texts.panel, at) for at in range(len(texts.panel.judges))])
    used = ~np.isnan(values).any(axis=1)  # where some texts have two raters, those with one are left out
    values, items = values[used], texts.panel.items[used]
    level: dict[str, Any] = {"confidence_level": texts.confidence_level}
    left_out = texts.n_left_out + int((~used).sum())
    quality = [replace(mean_share(one, items, **level), n_left_out=left_out) for one in values.T]
    pairs: dict[tuple[int, int], tuple[Estimate, float | None, str | None]] = {}
    for i, j in combinations(range(values.shape[1]), 2):
        apart = values[:, i] - values[:, j]
        of_items = cluster_sums(apart[:, None], items)[:, 0]
        moved = of_items[of_items != 0]
        p = 1.0
        if moved.size:
            flipped = signs_flipped(moved, _N_SWAPS, np.random.default_rng(texts.rng))
            p = (1 + n_reached(flipped, float(moved.mean()), "two-sided")) / (1 + _N_SWAPS)
        pairs[i, j] = replace(agresti_min_mean(apart, items, **level), n_left_out=left_out), p, None
    return quality, pairs


_N_SWAPS = 10_000
"""Swaps of a test of agreements: enough for the smallest p of many judges to survive Holm's correction."""
N_SWAPS_OF_RANKS = 1_000
"""Swaps of a test of correlations, which take longer."""


def _correlations(texts: _Texts) -> tuple[list[Estimate], _Pairs]:
    panel = texts.panel
    target = tied(np.asarray(np.nanmean(panel.ratings, axis=1), dtype=np.float64))
    level: dict[str, Any] = {"confidence_level": texts.confidence_level, "rng": texts.rng}
    quality = [
        replace(
            panel_correlation(scores, target[:, None], clusters=panel.items, **level).judge,
            n_left_out=texts.n_left_out,
        )
        for scores in panel.scores.T
    ]
    values = [coefficient(scores, target, "spearman") for scores in panel.scores.T]
    items, n_items = numbered(panel.items), len(np.unique(panel.items))
    resampled = None
    if n_items > 1 and texts.n_resamples:  # each judge once, on the same resamples
        of_method = resample_columns(
            panel.scores,
            target,
            items,
            n_items,
            ("spearman",),
            n_resamples=texts.n_resamples,
            seed=texts.rng,
        )
        resampled = np.array(of_method["spearman"])
    apart = differences_between(
        np.array(values),
        resampled,
        n=target.size,
        n_clusters=n_items,
        confidence_level=texts.confidence_level,
    )
    without = None
    if 1 < n_items < FEWEST_ITEMS:  # percentiles lie too close together
        others = [items != item for item in range(n_items)]
        without = np.array(
            [
                [coefficient(scores[kept], target[kept], "spearman") for kept in others]
                for scores in panel.scores.T
            ]
        )
    pairs: dict[tuple[int, int], tuple[Estimate, float | None, str | None]] = {}
    for (i, j), between in apart.items():
        if without is not None and between.low is not None and between.estimate is not None:
            low, high, _, why = jackknife_ends(
                between.estimate, without[i] - without[j], texts.confidence_level, (-2, 2)
            )
            if why is None:
                between = replace(between, low=low, high=high, monte_carlo_error=None)
        found = permutation_test(
            panel.scores[:, i],
            panel.scores[:, j],
            target,
            "spearman",
            items=panel.items,
            n_resamples=N_SWAPS_OF_RANKS,
            rng=texts.rng,
            names=("scores", "ratings"),
        )
        if found.reason is not None:
            between = replace(between, estimate=None, low=None, high=None, reason=found.reason)
        pairs[i, j] = replace(between, n_left_out=texts.n_left_out), found.p, found.reason
    return quality, pairs


def _left_out(rated: NDArray[np.bool_], scored: NDArray[np.bool_], names: Sequence[str]) -> dict[str, int]:
    """Reason -> rated texts; a text counts once, for the first judge that lacks it."""
    found: dict[str, int] = {}
    left = rated.copy()
    for name, own in zip(names, scored.T, strict=True):
        if n := int((left & ~own).sum()):
            found[f"no score by {shown(name)}"] = n
        left &= own
    return found


def _criteria(
    names: Sequence[str], facts: Mapping[str, JudgeFacts]
) -> tuple[tuple[Criterion, ...], tuple[str, ...]]:
    """What the front compares, and why it does not compare more."""
    found: list[Criterion] = ["quality"]
    notes = []
    asked: tuple[tuple[Criterion, str, str], ...] = (
        ("price", "cost", "cost_reason"),
        ("time", "seconds", "seconds_reason"),
    )
    for criterion, field, why in asked:
        lacking: dict[str, list[str]] = {}
        for name in names:
            if getattr(facts.get(name, UNKNOWN), field) is None:
                lacking.setdefault(getattr(facts.get(name, UNKNOWN), why), []).append(name)
        if not lacking:
            found.append(criterion)
        elif criterion == "price" or sum(map(len, lacking.values())) < len(names):
            whose = "; ".join(f"{listed(list(map(shown, own)))}: {reason}" for reason, own in lacking.items())
            notes.append(f"No front by {criterion}. Unknown {criterion}: {whose}.")
    return tuple(found), tuple(notes)


def _standing(
    quality: Estimate, facts: JudgeFacts, criteria: Sequence[Criterion]
) -> tuple[float, ...] | None:
    """The values of the criteria, larger is better; None without a quality."""
    if quality.estimate is None:
        return None
    own = {
        "quality": quality.estimate,
        "price": -(facts.cost or 0.0),
        "time": -(facts.seconds or 0.0),
    }
    return tuple(own[one] for one in criteria)


def _dominating(name: str, standing: Mapping[str, tuple[float, ...] | None]) -> tuple[str, ...]:
    """The judges that dominate this one. A judge without a quality is dominated by all that have one."""
    own = standing[name]
    return tuple(
        other
        for other, theirs in standing.items()
        if theirs is not None
        and (own is None or (theirs != own and all(a >= b for a, b in zip(theirs, own, strict=True))))
    )


def _unknown_last(value: float | None, best: int = 1) -> tuple[bool, float]:
    return value is None, best * (value or 0.0)


def which_of(check: Check) -> Choice:
    """Compare the judges of a check with its margin, level and seed. A judge that is NOT TRUSTED is not recommended.

    Raises InputError as `which_judge`.
    """
    options = check.options
    return which_judge(
        check.panel,
        {one.name: one.facts for one in check.judges},
        unfit={
            one.name: f"it is NOT TRUSTED to {USES[check.use]}"
            for one in check.judges
            if one.verdict == "NOT TRUSTED"
        },
        doubts={
            one.name: f"Whether it can be trusted to {USES[check.use]} is {one.verdict}."
            for one in check.judges
            if one.verdict == "INCONCLUSIVE"
        },
        margin=options.margin,
        n_resamples=options.n_resamples,
        confidence_level=options.confidence_level,
        rng=options.rng,
    )


def _judge_to_use(found: Choice) -> str | None:
    """The cheapest among the best fit judge and those that are not worse than it by the margin."""
    fit = [one for one in found.judges if not one.unfit and one.quality.estimate is not None]
    if not fit:
        return None
    best = fit[0]
    near = [best]
    for one in fit[1:]:
        low = found.pair(one.name, best.name).difference.low
        if low is not None and low >= -found.margin:
            near.append(one)
    if best.facts.cost is None:
        return best.name
    # `fit` is ordered by quality, so of two equal prices the better judge comes first.
    return min(
        (one for one in near if one.facts.cost is not None), key=lambda one: one.facts.cost or 0.0
    ).name


def _could_be_better(found: Choice, use: str) -> list[JudgeOnOffer]:
    """The fit judges that may be better than the one to use by more than the margin."""
    return [
        one
        for one in found.judges
        if one.name != use
        and not one.unfit
        and ((high := found.pair(one.name, use).difference.high) is None or high > found.margin)
    ]


_MOST_SAID = 4
"""Other judges in the sentences; the table has all."""


def which_said(choice: Choice) -> list[str]:
    """A line on the judge to use, then one on each of the others."""
    what = "agreement" if choice.measure == "agreement" else "Spearman's correlation"
    if choice.use is None:
        whys: dict[str, list[str]] = {}
        for one in choice.judges:
            whys.setdefault(one.unfit or one.quality.reason or "", []).append(shown(one.name))
        listed_whys = "; ".join(f"{', '.join(names)}: {why}" for why, names in whys.items())
        best = choice.judges[0]
        highest = (
            ""
            if best.quality.estimate is None
            else f" The highest {what} is {decimal(best.quality.estimate, 2)}, of {shown(best.name)}."
        )
        return [f"None of these judges can be recommended ({listed_whys}).{highest}"]
    own = choice.judge(choice.use)
    value = decimal(own.quality.estimate or 0.0, 2)
    money = "" if own.facts.cost is None else f", {_money(own.facts)} per {PER_TEXTS:,} texts"
    name = shown(own.name)
    first = f"Use {name}: {what} {value}{money}."
    if not choice.settled:
        open_to = _could_be_better(choice, choice.use)
        named = listed([shown(one.name) for one in open_to[:_MOST_SAID]])
        first = (
            f"{name} comes first so far: {what} {value}{money}. But {choice.n:,} texts are too few to rule out that {named} "
            f"{'is' if len(open_to) == 1 else 'are'} better by more than {decimal(choice.margin, 2)}."
        )
    if own.doubt:
        first = f"{first.replace(f'Use {name}:', f'{name} comes first:', 1)} {own.doubt}"
    others = [one for one in choice.judges if one.name != choice.use]
    said = [_other_said(choice, own, one) for one in others[:_MOST_SAID]]
    more = len(others) - len(said)
    return [first, *said, *([f"The table shows {more} more."] if more > 0 else [])]


def _other_said(found: Choice, own: JudgeOnOffer, other: JudgeOnOffer) -> str:
    """One sentence on another judge: its price beside that of the judge to use, and its quality."""
    name = shown(other.name)
    if other.quality.estimate is None:
        return f"{name} cannot be compared: {other.unfit or other.quality.reason}."
    pair = found.pair(other.name, own.name)
    one = pair.difference
    apart = f"difference {decimal(one.estimate or 0.0, 2)}"
    if one.low is not None and one.high is not None:
        apart += f" [{decimal(one.low, 2)}, {decimal(one.high, 2)}]"
    if pair.better is None:
        cheaper = (
            other.facts.cost is not None and own.facts.cost is not None and other.facts.cost < own.facts.cost
        )
        if cheaper and one.low is not None and one.low < -found.margin:
            said = f"may be worse by up to {decimal(-one.low, 2)}"
        else:
            said = f"is not shown to be {'better' if (one.estimate or 0.0) >= 0 else 'worse'}"
            if one.low is not None and one.high is not None and (one.low > 0 or one.high < 0):
                apart += f", Holm p {_p(pair.p_holm)}"  # why the interval alone does not show it
    else:
        said = "is better" if pair.better == other.name else "is worse"
        apart += f", Holm p {_p(pair.p_holm)}"
    price = _price_comparison(other.facts, own.facts)
    unfit = f"; {other.unfit}" if other.unfit else ""
    return f"{name} {f'{price} and ' if price else ''}{said} ({apart}){unfit}."


def _price_comparison(other: JudgeFacts, own: JudgeFacts) -> str:
    """A price beside that of the judge to use, in words; empty if one is unknown."""
    if other.cost is None or own.cost is None:
        return ""
    if own.cost == 0 or other.cost == 0:
        return (
            f"costs {_money(other)} per {PER_TEXTS:,} texts"
            if other.cost != own.cost
            else "costs nothing either"
        )
    times = other.cost / own.cost
    if 1 / SAME_PRICE < times < SAME_PRICE:
        return "costs about the same"
    return f"costs {_short(times)} times as much" if times > 1 else f"costs {_short(100 * times)} % as much"


def _short(value: float) -> str:
    """Two significant digits, without an exponent."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _money(facts: JudgeFacts) -> str:
    """A price with two decimals, or two significant digits if it is smaller than that, and its currency."""
    cost = facts.cost or 0.0
    amount = f"{cost:,.2f}" if cost >= 0.1 or cost == 0 else f"{cost:.2g}"
    return f"{amount} {facts.currency}".rstrip()


def _p(p: float | None) -> str:
    return "undefined" if p is None else "below .001" if p < 0.001 else decimal(p, 3)


INTERVALS: Mapping[Measure, tuple[str, str]] = {
    "agreement": ("Wilson's over items", "Student's t over items"),
    "spearman": ("jackknife over items", "percentile bootstrap over items"),
}
"""Interval of a quality, and of a difference."""


def interval_of_difference(choice: Choice) -> str:
    """How the interval of a difference was made, in words."""
    few = choice.measure == "spearman" and choice.n_items < FEWEST_ITEMS
    return INTERVALS[choice.measure][0 if few else 1]


def listed_by_and(words: Sequence[str]) -> str:
    """Words with `and` before the last."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
