"""Which of several judges: quality against price and time on the same texts, paired tests, a front, and a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.results.cells import (
    corrected_column,
    corrected_note,
    decimal,
    ends,
    interval,
    left_out_lines,
)
from core.results.judges.costs import ALL_STEPS, NO_MODEL, JudgeCost, costs_side_by_side
from core.results.panel import Panel
from core.schema.result_table import Column, ResultTable
from core.stats.correlation.differences import difference
from core.stats.correlation.intervals import correlate_columns, n_reached
from core.stats.correlation.systems import signs_flipped
from core.stats.degeneracy import constant
from core.stats.multiplicity import Correction, corrected
from core.stats.resampling import (
    Estimate,
    Floats,
    cluster_sums,
    jackknife_ends,
    mean_of_sums,
    without_each,
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
PER_TEXTS = 1_000
"""Texts to which a price belongs."""
SAME_PRICE = 1.25
"""Two prices with a smaller ratio count as about the same in a sentence."""
WHICH_TABLES = ("judges", "judge-comparisons")
"""Names of both tables, the main one first."""
UNKNOWN_PRICE = "no price was given"
UNKNOWN_TIME = "no time is known"
PAID_BY_OTHERS = "some answers came from the cache, paid for by other runs"


@dataclass(frozen=True)
class Price:
    """What a judge costs; a reason stands for every None."""

    money: float | None = None
    """For PER_TEXTS texts, in the user's currency."""
    seconds: float | None = None
    """For one text: summed waiting time of its calls, as if they followed each other."""
    model: str = ""
    reason: str = UNKNOWN_PRICE
    """Why money is None."""
    time_reason: str = UNKNOWN_TIME


UNKNOWN = Price()


def price_of(cost: JudgeCost, model: str = "") -> Price:
    """The price of a judge from what its run cost.

    Undefined for an unfinished run, without counted tokens or prices of tokens, and if some answers came from the cache,
    paid for by other runs: the run's own cost is then too low. A judge by rules costs nothing.
    """
    row = next(one for one in costs_side_by_side([cost]) if one.step == ALL_STEPS)
    if row.n_found:
        return Price(model=model, reason=PAID_BY_OTHERS, time_reason=PAID_BY_OTHERS)
    money, seconds = row.each("money", "text"), row.each("seconds", "text")
    by_rules = not cost.costs and row.n_texts > 0 and row.is_finished
    why = row.why("money_per_text") or UNKNOWN_PRICE
    return Price(
        0.0 if by_rules else None if money is None else PER_TEXTS * money,
        None if by_rules else seconds,
        model,
        reason=why,
        time_reason=NO_MODEL if by_rules else row.why("seconds_per_text") or UNKNOWN_TIME,
    )


_MODEL = re.compile(r"\|model:([^|]+)")
"""The model in the signature of a judge's metric."""


def model_of(signature: str) -> str:
    """The model in a metric's signature; empty if it names none."""
    found = _MODEL.search(signature)
    return found[1] if found else ""


def prices_of(panel: Panel, costs: Mapping[str, JudgeCost]) -> dict[str, Price]:
    """The price of every judge of the panel. costs: name of a table of scores -> what the run behind it cost.

    All judges of one table, such as the precision and the recall of one claim judge, have the price of the whole run.
    """
    found = {}
    for name, (table, signature) in zip(panel.judges, panel.sources, strict=False):
        model = model_of(signature)
        found[name] = price_of(costs[table], model) if table in costs else Price(model=model)
    return found


@dataclass(frozen=True)
class JudgeOnOffer:
    """One judge with its quality on the texts that all judges scored, and its price."""

    name: str
    quality: Estimate
    """In the measure of the choice. `n`: texts, `n_left_out`: rated texts that another judge did not score."""
    n_scored: int
    """Rated texts that this judge scored, compared or not."""
    price: Price
    on_front: bool | None
    """Whether no other judge dominates it; None: no front, for lack of prices and times."""
    dominated_by: tuple[str, ...] = ()
    """Judges that are at least as good on every criterion of the front, and better on one."""
    unfit: str = ""
    """Why it cannot be recommended whatever its quality, such as constant scores; empty: it can."""


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
    prices: Mapping[str, Price] | None = None,
    *,
    unfit: Mapping[str, str] | None = None,
    margin: float = 0.05,
    n_resamples: int = 2_000,
    confidence_level: float = 0.9,
    rng: int = 0,
) -> Choice:
    """Compare every two judges of the panel on the texts that all of them scored, and recommend one.

    prices: judge -> price. unfit: judge -> why it must not be recommended, such as a verdict; judges with constant scores
    are always unfit. margin: a judge may be worse than the best one by less than this and still be used if it is cheaper.

    Quality is the share of raters whose label the judge gives, averaged over texts, where judges and raters use the same
    classes, else Spearman's correlation with the raters' mean. Agreement: differences with a cluster jackknife over items,
    p by turning the signs of whole items' differences. Correlation: `core.stats.correlation.differences.difference`. p is
    corrected by Holm for every two judges. The best judge is the fit one with the highest quality (the cheaper of two
    equal ones); the one to use is the cheapest among it and those whose difference to it has a lower bound of at least
    -margin. A judge is on the Pareto front unless another is at least as good, as cheap and as fast, and better in one of
    these; a criterion counts only if it is known for every judge.

    Raises InputError for fewer than two judges with scores, for no rater, and if no rated text has a score of every judge.

    Misleads: the best judge was found on the same texts, so its quality is a little too high. A front compares estimates,
    not intervals. Prices of runs with other prompts, or on texts of another length, are not comparable.
    """
    prices, unfit = prices or {}, dict(unfit or {})
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
    texts = _Texts(
        panel.ratings[shared],
        panel.scores[shared][:, own],
        panel.items[shared],
        int(rated.sum() - shared.sum()),
        n_resamples,
        confidence_level,
        rng,
    )
    measure: Measure = "agreement" if same_classes(panel, texts) else "spearman"
    quality, pairs = (_agreements if measure == "agreement" else _correlations)(texts)
    unfit |= {
        name: "its scores are constant"
        for name, scores in zip(names, texts.scores.T, strict=True)
        if (always := constant(scores)) is not None and not always.n_others
    }
    criteria, notes = _criteria(names, prices)
    standing = {
        name: _standing(one, prices.get(name, UNKNOWN), criteria)
        for name, one in zip(names, quality, strict=True)
    }
    judges = [
        JudgeOnOffer(
            name,
            one,
            int(scored[rated, at].sum()),
            prices.get(name, UNKNOWN),
            None if len(criteria) == 1 else not (above := _above(name, standing)),
            () if len(criteria) == 1 else above,
            unfit.get(name, ""),
        )
        for name, at, one in zip(names, own, quality, strict=True)
    ]
    judges.sort(
        key=lambda one: (_unknown_last(one.quality.estimate, best=-1), _unknown_last(one.price.money))
    )
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
        int(shared.sum()),
        len(np.unique(texts.items)),
        texts.n_left_out,
        margin,
        confidence_level,
        left_out,
        (*(f"{shown(name)}: left out, because it scored no rated text." for name in silent), *notes),
    )
    use = _to_use(found)
    return replace(found, use=use, settled=use is not None and not _could_be_better(found, use))


@dataclass(frozen=True)
class _Texts:
    """The rated texts that all judges scored."""

    ratings: Floats
    """(n, raters), NaN for none."""
    scores: Floats
    """(n, judges)."""
    items: NDArray[np.int64]
    n_left_out: int
    n_resamples: int
    confidence_level: float
    rng: int


_Pairs = Mapping[tuple[int, int], tuple[Estimate, float | None, str | None]]
"""Places of two judges -> difference, p, why there is none."""


def same_classes(panel: Panel, texts: _Texts) -> bool:
    """Whether raters and judges use the same classes."""
    if panel.classes:
        return True
    given = np.unique(texts.ratings[~np.isnan(texts.ratings)])
    return bool(np.isin(texts.scores, given).all()) and bool((given == np.round(given)).all())


def _agreements(texts: _Texts) -> tuple[list[Estimate], _Pairs]:
    equal = np.where(
        np.isnan(texts.ratings)[:, :, None],
        np.nan,
        texts.ratings[:, :, None] == texts.scores[:, None, :],
    )
    values = np.asarray(np.nanmean(equal, axis=1), dtype=np.float64)
    quality = [_mean(column, texts, (0.0, 1.0)) for column in values.T]
    pairs: dict[tuple[int, int], tuple[Estimate, float | None, str | None]] = {}
    for i, j in combinations(range(values.shape[1]), 2):
        apart = values[:, i] - values[:, j]
        of_items = cluster_sums(apart[:, None], texts.items)[:, 0]
        moved = of_items[of_items != 0]
        p = 1.0
        if moved.size:
            flipped = signs_flipped(moved, _N_SWAPS, np.random.default_rng(texts.rng))
            p = (1 + n_reached(flipped, float(moved.mean()), "two-sided")) / (1 + _N_SWAPS)
        pairs[i, j] = _mean(apart, texts, (-1.0, 1.0)), p, None
    return quality, pairs


_N_SWAPS = 10_000
"""Swaps of a test of agreements: enough for the smallest p of many judges to survive Holm's correction."""
_N_SWAPS_OF_RANKS = 1_000
"""Swaps of a test of correlations, which take longer."""


def _mean(values: Floats, texts: _Texts, scale: tuple[float, float]) -> Estimate:
    """The mean of a value of each text, with a cluster jackknife over items."""
    sums = cluster_sums(np.column_stack([values, np.ones(values.size)]), texts.items)
    estimate = float(values.mean())
    low = high = None
    reason: str | None = "fewer than two items"
    if len(sums) > 1:
        left = without_each(sums, mean_of_sums)
        low, high, _, reason = jackknife_ends(estimate, left, texts.confidence_level, scale)
    return Estimate(
        estimate + 0.0,
        low,
        high,
        values.size,
        None,
        0,
        0,
        texts.confidence_level,
        reason,
        len(sums),
        texts.n_left_out,
    )


def _correlations(texts: _Texts) -> tuple[list[Estimate], _Pairs]:
    target = np.asarray(np.nanmean(texts.ratings, axis=1), dtype=np.float64)
    drawing: dict[str, Any] = {
        "n_resamples": texts.n_resamples,
        "confidence_level": texts.confidence_level,
        "rng": texts.rng,
    }
    names = ("scores", "ratings")
    quality = [
        replace(one["spearman"], n_left_out=texts.n_left_out)
        for one in correlate_columns(
            texts.scores, target, ("spearman",), clusters=texts.items, names=names, **drawing
        )
    ]
    pairs: dict[tuple[int, int], tuple[Estimate, float | None, str | None]] = {}
    for i, j in combinations(range(texts.scores.shape[1]), 2):
        both = texts.scores[:, i], texts.scores[:, j]
        found = difference(
            *both, target, "spearman", items=texts.items, n_swaps=_N_SWAPS_OF_RANKS, names=names, **drawing
        )
        pairs[i, j] = found.difference, found.test.p, found.test.reason
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
    names: Sequence[str], prices: Mapping[str, Price]
) -> tuple[tuple[Criterion, ...], tuple[str, ...]]:
    """What the front compares, and why it does not compare more."""
    found: list[Criterion] = ["quality"]
    notes = []
    asked: tuple[tuple[Criterion, str, str], ...] = (
        ("price", "money", "reason"),
        ("time", "seconds", "time_reason"),
    )
    for criterion, field, why in asked:
        lacking: dict[str, list[str]] = {}
        for name in names:
            if getattr(prices.get(name, UNKNOWN), field) is None:
                lacking.setdefault(getattr(prices.get(name, UNKNOWN), why), []).append(name)
        if not lacking:
            found.append(criterion)
        else:
            whose = "; ".join(f"{listed(list(map(shown, own)))}: {reason}" for reason, own in lacking.items())
            notes.append(f"No front by {criterion}. The {criterion} is unknown of {whose}.")
    return tuple(found), tuple(notes)


def _standing(quality: Estimate, price: Price, criteria: Sequence[Criterion]) -> tuple[float, ...] | None:
    """The values of the criteria, larger is better; None without a quality."""
    if quality.estimate is None:
        return None
    own = {
        "quality": quality.estimate,
        "price": -(price.money or 0.0),
        "time": -(price.seconds or 0.0),
    }
    return tuple(own[one] for one in criteria)


def _above(name: str, standing: Mapping[str, tuple[float, ...] | None]) -> tuple[str, ...]:
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


def _to_use(found: Choice) -> str | None:
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
    if best.price.money is None:
        return best.name
    # `fit` is ordered by quality, so of two equal prices the better judge comes first.
    return min(
        (one for one in near if one.price.money is not None), key=lambda one: one.price.money or 0.0
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


def which_said(found: Choice) -> list[str]:
    """The sentence on the judge to use, and one on each of the others."""
    if found.use is None:
        whys = "; ".join(f"{shown(one.name)}: {one.unfit or one.quality.reason}" for one in found.judges)
        return [f"None of these judges can be recommended. {whys[:1].upper()}{whys[1:]}."]
    own = found.judge(found.use)
    value = decimal(own.quality.estimate or 0.0, 2)
    what = "agreement" if found.measure == "agreement" else "Spearman's correlation"
    money = "" if own.price.money is None else f", {_money(own.price.money)} per {PER_TEXTS:,} texts"
    name = shown(own.name)
    first = f"Use {name}: {what} {value}{money}."
    if not found.settled:
        open_to = _could_be_better(found, found.use)
        named = listed([shown(one.name) for one in open_to[:_MOST_SAID]])
        first = (
            f"{name} comes first so far: {what} {value}{money}. But {found.n:,} texts are too few to rule out that {named} "
            f"{'is' if len(open_to) == 1 else 'are'} better by more than {decimal(found.margin, 2)}."
        )
    others = [one for one in found.judges if one.name != found.use]
    said = [_other_said(found, own, one) for one in others[:_MOST_SAID]]
    more = len(others) - len(said)
    return [" ".join([first, *said, *([f"The table shows {more} more."] if more > 0 else [])])]


def _other_said(found: Choice, own: JudgeOnOffer, other: JudgeOnOffer) -> str:
    """One sentence on another judge: its price beside that of the judge to use, and its quality."""
    name = shown(other.name)
    if other.quality.estimate is None:
        return f"{name} cannot be compared: {other.quality.reason}."
    pair = found.pair(other.name, own.name)
    one = pair.difference
    apart = f"difference {decimal(one.estimate or 0.0, 2)}"
    if one.low is not None and one.high is not None:
        apart += f" [{decimal(one.low, 2)}, {decimal(one.high, 2)}]"
    if pair.better is None:
        cheaper = (
            other.price.money is not None
            and own.price.money is not None
            and other.price.money < own.price.money
        )
        if cheaper and one.low is not None and one.low < -found.margin:
            said = f"may be worse by up to {decimal(-one.low, 2)}"
        else:
            said = f"is not shown to be {'better' if (one.estimate or 0.0) >= 0 else 'worse'}"
    else:
        said = "is better" if pair.better == other.name else "is worse"
        apart += f", Holm p {_p(pair.p_holm)}"
    price = _beside(other.price.money, own.price.money)
    unfit = f", but {other.unfit}" if other.unfit else ""
    return f"{name} {f'{price} and ' if price else ''}{said} ({apart}){unfit}."


def _beside(money: float | None, own: float | None) -> str:
    """A price beside another one, in words; empty if one is unknown."""
    if money is None or own is None:
        return ""
    if own == 0 or money == 0:
        return f"costs {_money(money)} per {PER_TEXTS:,} texts" if money != own else "costs nothing either"
    times = money / own
    if 1 / SAME_PRICE < times < SAME_PRICE:
        return "costs about the same"
    if times > 1:
        return f"costs {_short(times)} times as much"
    return f"costs {_short(100 * times)} % as much"


def _short(value: float) -> str:
    """Two significant digits, without an exponent."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _money(value: float) -> str:
    """An amount with two decimals, or two significant digits if it is smaller than that."""
    return f"{value:,.2f}" if value >= 0.1 or value == 0 else f"{value:.2g}"


def _p(p: float | None) -> str:
    return "undefined" if p is None else "below .001" if p < 0.001 else decimal(p, 3)


def which_tables(found: Choice) -> dict[str, ResultTable]:
    """Both tables by name: the judges, best first, and every two of them."""
    return {one.name: one for one in (judges_table(found), pairs_table(found))}


def judges_table(found: Choice) -> ResultTable:
    """One row for each judge, best first."""
    fronted = len(found.criteria) > 1
    return ResultTable(
        WHICH_TABLES[0],
        (
            Column("judge", "Judge", names_row=True),
            Column("model", "Model", shown=any(one.price.model for one in found.judges)),
            Column("quality", "Agreement" if found.measure == "agreement" else "Spearman"),
            Column("measure", shown=False),
            Column(
                "price_per_1000",
                "Price per 1,000",
                places=2,
                shown=any(one.price.money is not None for one in found.judges),
            ),
            Column(
                "seconds_per_text",
                "Seconds per text",
                places=2,
                shown=any(one.price.seconds is not None for one in found.judges),
            ),
            Column("n", "n"),
            Column("n_scored", "Scored", shown=bool(found.n_left_out)),
            Column("use", "Use"),
            Column("on_front", "On the front", shown=fronted),
            Column("dominated_by", "Dominated by", shown=fronted),
            Column("unfit", "Not recommended because", shown=any(one.unfit for one in found.judges)),
        ),
        tuple(
            (
                one.name,
                one.price.model or None,
                interval(one.quality),
                found.measure,
                one.price.money,
                one.price.seconds,
                one.quality.n,
                one.n_scored,
                "yes" if one.name == found.use else "",
                None if one.on_front is None else "yes" if one.on_front else "no",
                ", ".join(one.dominated_by),
                one.unfit,
            )
            for one in found.judges
        ),
        title="Judges",
        notes=(
            f"Quality: {MEASURES[found.measure]}, on the {found.n:,} texts of {found.n_items:,} items that every judge scored.",
            f"Intervals: {found.confidence_level:.0%}, {_HOW[found.measure]}.",
            *(
                (
                    f"Front: no other judge is at least as good by {_and(found.criteria)} and better by one of them. It compares "
                    "estimates.",
                )
                if fronted
                else ()
            ),
            *left_out_lines(found.left_out),
            *found.notes,
        ),
    )


_HOW: Mapping[Measure, str] = {
    "agreement": "jackknife over items",
    "spearman": "percentile bootstrap over items",
}


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def pairs_table(found: Choice) -> ResultTable:
    """One row for every two judges, the better one first."""
    n_tests = sum(one.p is not None for one in found.pairs)
    return ResultTable(
        WHICH_TABLES[1],
        (
            Column("first", "First", names_row=True),
            Column("second", "Second", names_row=True),
            Column("difference", "Difference"),
            Column("p", "p", places=3, p_value=True),
            corrected_column(CORRECTION, n_tests),
            Column("better", "Shown to be better"),
            Column("n", "n"),
            Column("p_reason", shown=False),
        ),
        tuple(
            (
                one.first,
                one.second,
                interval(one.difference),
                one.p,
                one.p_holm,
                one.better or "neither",
                one.difference.n,
                one.p_reason,
            )
            for one in found.pairs
        ),
        title="Every two judges",
        notes=(
            f"Difference: {MEASURES[found.measure]}, first minus second, on the same texts.",
            f"Intervals: {found.confidence_level:.0%}, {_HOW[found.measure]}. p: two-sided, by swapping the judges item by item.",
            *corrected_note(CORRECTION, n_tests, "every two judges"),
            f"Shown to be better: corrected p below {ALPHA:g}. Neither does not mean that they are equal.",
        ),
    )


def which_json(found: Choice) -> dict[str, Any]:
    """The choice as JSON values."""
    return {
        "use": found.use,
        "settled": found.settled,
        "sentence": " ".join(which_said(found)),
        "measure": found.measure,
        "margin": found.margin,
        "confidence_level": found.confidence_level,
        "n": found.n,
        "n_items": found.n_items,
        "n_left_out": found.n_left_out,
        "front_by": list(found.criteria) if len(found.criteria) > 1 else [],
        "judges": [
            {
                "name": one.name,
                "model": one.price.model or None,
                "quality": ends(one.quality),
                "n": one.quality.n,
                "n_scored": one.n_scored,
                "price_per_1000": one.price.money,
                "price_reason": None if one.price.money is not None else one.price.reason,
                "seconds_per_text": one.price.seconds,
                "time_reason": None if one.price.seconds is not None else one.price.time_reason,
                "on_front": one.on_front,
                "dominated_by": list(one.dominated_by),
                "unfit": one.unfit or None,
            }
            for one in found.judges
        ],
        "comparisons": [
            {
                "first": one.first,
                "second": one.second,
                "difference": ends(one.difference),
                "p": one.p,
                "p_reason": one.p_reason,
                "p_holm": one.p_holm,
                "better": one.better,
                "n": one.difference.n,
            }
            for one in found.pairs
        ],
        "notes": [*left_out_lines(found.left_out), *found.notes],
    }
