"""A judge by groups of texts, each tested against people's own figure on the same texts."""

from dataclasses import dataclass, replace

import numpy as np

from core.results.check.measures import agreements, bias_of
from core.results.check.texts import OwnTexts, shares_of
from core.schema.panel import Panel
from core.schema.scale import BY_NAME
from core.schema.scores import PROBABILITY
from core.schema.uses import CheckOptions, Use
from core.stats.correlation.panels import panel_correlation
from core.stats.multiplicity import corrected, interval_p
from core.stats.resampling import Estimate, agresti_min_mean
from core.tables.columns import ONLY_SYSTEM
from core.tables.roles import is_price_or_time

MOST_GROUPS = 12
"""Most values of a column that is shown by group."""
FEWEST_OF_A_GROUP = 10
"""Items below which a group is shown without a test."""
CHANCE = 0.05
"""Largest corrected p of a group that fails."""


@dataclass(frozen=True)
class Group:
    """The texts with one value of a column."""

    column: str
    value: str
    n_items: int
    estimate: Estimate
    """By `measure`."""
    measure: str
    """agreement or correlation; bias for monitor."""
    limit: float | None
    """People's own figure on these texts minus the margin, or for monitor the tolerance; None without two raters."""
    p: float | None
    """One-sided: the judge keeps the limit here."""
    p_holm: float | None
    fails: bool
    """Whether it is shown to miss the limit, corrected for the number of groups."""


def groups_of_texts(panel: Panel, texts: OwnTexts, use: Use, options: CheckOptions) -> tuple[Group, ...]:
    """The judge by the values of each column, tested against the limit in the group, with Holm's correction over all groups."""
    columns: dict[str, list[str]] = {}
    rows = [panel.rows[row] for row in texts.rows]
    if use != "rank":
        columns["system"] = ["" if row.system == ONLY_SYSTEM else row.system for row in rows]
    columns["language"] = [row.language or "" for row in rows]
    columns["level"] = [
        "" if row.level is None else f"{row.level:g}" if isinstance(row.level, float) else str(row.level)
        for row in rows
    ]
    for label in _grouping(panel):
        columns[label] = [str(row.labels.get(label) or "") for row in rows]
    for made, known in panel.made.items():
        columns[made] = [known[row] for row in texts.rows]
    found: list[Group] = []
    for column, values in columns.items():
        distinct = list(dict.fromkeys(value for value in values if value))
        if not 2 <= len(distinct) <= MOST_GROUPS:
            continue
        for value in sorted(distinct):
            part = texts.only(np.array([one == value for one in values]))
            found.append(_group(column, value, part, use, options))
    paid = corrected([one.p for one in found], "holm")
    return tuple(
        replace(one, p_holm=p, fails=p is not None and p <= CHANCE)
        for one, p in zip(found, paid, strict=True)
    )


def _group(column: str, value: str, texts: OwnTexts, use: Use, options: CheckOptions) -> Group:
    """Monitor is tested on its bias, all other uses on the judge's distance from the raters of the same texts."""
    n_items = int(np.unique(texts.items).size)
    bias = bias_of(texts, options) if use == "monitor" else None
    limit: float | None
    if bias is not None and bias.estimate is not None:
        measure, measured, tested, limit = "bias", bias, bias, options.tolerance
        null = limit if bias.estimate > 0 else -limit
        wrong = abs(bias.estimate) > limit
    else:
        measured, of_raters = group_measure(texts, options)
        measure = "agreement" if texts.kind in BY_NAME else "correlation"
        tested, null = _gap(texts, options), -options.margin
        limit = None if of_raters.estimate is None else of_raters.estimate - options.margin
        wrong = tested.estimate is not None and tested.estimate < null
    p = None
    if n_items >= FEWEST_OF_A_GROUP and limit is not None:
        level = options.confidence_level
        two = interval_p(tested.estimate, tested.low, tested.high, null=null, confidence_level=level)
        p = None if two is None else two / 2 if wrong else 1 - two / 2
    return Group(column, value, n_items, measured, measure, limit, p, None, False)


def group_measure(texts: OwnTexts, options: CheckOptions) -> tuple[Estimate, Estimate]:
    """Agreement of classes, else correlation, of the judge and of the raters among themselves, on the same texts."""
    if texts.kind in BY_NAME:
        return agreements(texts, options)
    found = panel_correlation(
        texts.scores,
        texts.ratings,
        clusters=texts.items,
        confidence_level=options.confidence_level,
        rng=options.rng,
    )
    return found.judge, found.raters


def _gap(texts: OwnTexts, options: CheckOptions) -> Estimate:
    """The judge's agreement or correlation minus the raters', on the texts that two raters rated."""
    if texts.kind not in BY_NAME:
        return panel_correlation(
            texts.scores,
            texts.ratings,
            clusters=texts.items,
            confidence_level=options.confidence_level,
            rng=options.rng,
        ).gap
    judge, raters = shares_of(texts)
    known = ~np.isnan(judge - raters)
    return agresti_min_mean(
        (judge - raters)[known],
        texts.items[known],
        weights=None if texts.weights is None else texts.weights[known],
        confidence_level=options.confidence_level,
    )


def _grouping(panel: Panel) -> list[str]:
    """Labels that describe texts. Prices and times describe the judge. A column that holds only classes of the raters is another label of quality: no group."""
    words = {word.casefold() for word in panel.scale.words.values()}
    words |= {f"{value:g}" for value in np.unique(panel.ratings[~np.isnan(panel.ratings)])}
    found: dict[str, set[str]] = {}
    for row in panel.rows:
        for name, value in row.labels.items():
            found.setdefault(name, set()).add(str(value or "").casefold())
    found.pop(PROBABILITY, None)
    return [
        name for name, values in found.items() if not values - {""} <= words and not is_price_or_time(name)
    ]
