"""Figures of judges: quality against price, two judges on the same texts, judges of pairs, costs, marked errors."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

import plotly.graph_objects as go

from core.formats.study.pairs import natural_order
from core.plots.dressing import (
    BLUE,
    DARK,
    GRID,
    LINE,
    LOOKS,
    OCHRE,
    PALE,
    POINT_FONT,
    VIOLET,
    dressed,
    ends_of,
    label,
    log_ticks,
    metric_label,
    name_rows,
    point_names,
    stretched,
    value_said,
    whiskers,
)
from core.results.cells import decimal
from core.results.check.choosing import MEASURES, Choice, JudgeOnOffer
from core.results.check.facts import PER_TEXTS
from core.results.judges.agreement import Disagreement
from core.results.judges.pairwise import ALL as ALL_PAIRS
from core.results.judges.pairwise import BesideVotes, PairsReport
from core.results.study.results import first_interval

_NAME = 48
"""Letters of a judge's name."""
_ITEM, _MOST_ITEMS = 24, 3
"""Letters of an item's name on hover; items named there."""
_SMALLEST = 8
"""Pixels of a point for one text."""


Beside = Literal["price", "time"]
"""What quality is drawn against."""
_WIDTH = 330
"""Pixels between the axes on a phone."""
_HEIGHT = 400


def quality_against(choice: Choice, beside: Beside = "price", measured: str = "") -> go.Figure | None:
    """Draw each judge's quality with its interval against its price or time, and the front of these two.

    measured: the quality in words; empty: as measured against raters.

    A star marks the judge to use; grey points are dominated by another one in this figure. The axis is logarithmic from a
    factor of three between judges on, unless one costs nothing. None if fewer than two judges have a price or time; judges
    without one are left out.
    """
    places = {
        one.name: x
        for one in choice.judges
        if (x := one.facts.cost if beside == "price" else one.facts.seconds) is not None
        and one.quality.estimate is not None
    }
    if len(places) < 2:
        return None
    drawn = [one for one in choice.judges if one.name in places]
    front = _front(drawn, places)
    log = 0 < min(places.values()) <= max(places.values()) / _FACTOR_OF_LOG
    figure = go.Figure()
    line_x = [places[one.name] for one in front]
    line_y = [one.quality.estimate for one in front]
    figure.add_scatter(
        x=line_x,
        y=line_y,
        mode="lines",
        line={"color": LINE, "width": 2, "dash": "dot", "shape": "hv"},
        name="front",
        hoverinfo="skip",
    )
    across = [math.log10(x) if log else x for x in places.values()]
    ends = [end for one in drawn for end in ends_of(one.quality) if end is not None]
    (left, right), (low, high) = (stretched(values) for values in (across, ends))

    def within(x: float, y: float) -> tuple[float, float]:
        return ((math.log10(x) if log else x) - left) / (right - left), (y - low) / (high - low)

    points = [within(places[one.name], one.quality.estimate or 0.0) for one in drawn]
    steps = _step_places([within(places[one.name], one.quality.estimate or 0.0) for one in front])
    named = point_names(
        [*points, *steps],  # no name is written over the front
        [*(metric_label(one.name, _ON_POINT) for one in drawn), *("" for _ in steps)],
        (_WIDTH, _HEIGHT - 110),
        12,
    )[: len(points)]
    unit = f"{'price' if beside == 'price' else 'seconds'} per {PER_TEXTS:,} texts"
    for one, (name, place) in zip(drawn, named, strict=True):
        on_front = one in front
        figure.add_scatter(
            x=[places[one.name]],
            y=[one.quality.estimate],
            mode="markers+text",
            marker={
                "color": BLUE if on_front else DARK,
                "symbol": "star" if one.name == choice.use else "circle",
                "size": 15 if one.name == choice.use else 10,
            },
            error_y=whiskers([ends_of(one.quality)]),
            text=[name],
            textposition=place,
            textfont={"size": POINT_FONT},
            hovertemplate=f"{metric_label(one.name, _NAME)}<br>{value_said(one.quality)}"
            f"<br>%{{x:.3~g}} {unit}<extra></extra>",
            showlegend=False,
        )
    figure.update_xaxes(
        title=unit,
        type="log" if log else "linear",
        range=[left, right],
        **(log_ticks(left, right) if log else {}),
    )
    figure.update_yaxes(
        title=measured or MEASURES[choice.measure], range=[low, high], gridcolor=GRID, zeroline=False
    )
    return dressed(figure, height=_HEIGHT, top=20)


_FACTOR_OF_LOG = 3
"""A logarithmic axis below it would have one tick."""
_ON_POINT = 24
"""Letters of a judge's name beside its point."""


def _front(drawn: Sequence[JudgeOnOffer], places: Mapping[str, float]) -> list[JudgeOnOffer]:
    """The judges that no other dominates in quality and place, cheapest first."""
    found: list[JudgeOnOffer] = []
    for one in sorted(drawn, key=lambda each: (places[each.name], -(each.quality.estimate or 0.0))):
        value = (one.quality.estimate, places[one.name])
        best = found[-1].quality.estimate if found else None
        if best is None or (value[0] or 0.0) > best or value == (best, places[found[-1].name]):
            found.append(one)
    return found


def _step_places(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Places along the steps that lead to the right, then up, from each point to the next."""
    found = []
    for (x, y), (right, up) in pairwise(points):
        shares = [at / _PLACES for at in range(1, _PLACES + 1)]
        found += [(x + share * (right - x), y) for share in shares]
        found += [(right, y + share * (up - y)) for share in shares[:-1]]
    return found


_PLACES = 20


def two_judges(
    texts: Sequence[Disagreement], names: tuple[str, str], factors: tuple[float, float]
) -> go.Figure:
    """Draw the first judge's scores against the second's, one colour and symbol per level.

    A point grows with its number of texts; hovering names them. factors: of the two scores, 100 for percent.
    """
    figure = go.Figure()
    levels = sorted({one.row.level or "" for one in texts}, key=natural_order)
    for place, level in enumerate(levels):
        color, symbol = LOOKS[place % len(LOOKS)]
        own: dict[tuple[float, float], list[str]] = defaultdict(list)
        for one in texts:
            if (one.row.level or "") == level:
                own[factors[0] * one.score_a, factors[1] * one.score_b].append(one.row.item_id)
        said = f"level {level}" if level else "no level"
        figure.add_scatter(
            x=[x for x, _ in own],
            y=[y for _, y in own],
            mode="markers",
            name=label(said),
            marker={
                "color": color,
                "symbol": symbol,
                "size": [_SMALLEST * len(items) ** 0.4 for items in own.values()],
                "opacity": 0.7,
                "line": {"width": 1, "color": "white"},
            },
            text=["1 text" if len(items) == 1 else f"{len(items)} texts" for items in own.values()],
            customdata=[_items_said(items) for items in own.values()],
            hovertemplate="%{text}: %{customdata}<br>%{x:.3f}, %{y:.3f}<extra>" + label(said) + "</extra>",
        )
    figure.update_xaxes(title=metric_label(names[0], _NAME))
    figure.update_yaxes(title=metric_label(names[1], _NAME), gridcolor=GRID, zeroline=False)
    return dressed(figure, height=480, top=60, legend=True)


def _items_said(items: Sequence[str]) -> str:
    """Name the first items at a point."""
    names = ", ".join(label(item, longest=_ITEM) for item in items[:_MOST_ITEMS])
    return names if len(items) <= _MOST_ITEMS else f"{names} ..."


_SYSTEM = 44
"""Letters of the names of systems and judges."""
_OFFSET = 0.18
"""Distance between the points of two judges in one row."""

_ORDER_LOOKS = {
    "same verdict": (BLUE, "white"),
    "the first place twice": (OCHRE, "black"),
    "the second place twice": (VIOLET, "white"),
    "another change": (PALE, "black"),
}
"""What becomes of a verdict in the other order -> colour and ink."""


def pair_orders(report: PairsReport) -> go.Figure | None:
    """Draw how many verdicts of a judge of pairs stay in the other order, as a stacked bar for each level.

    None if no pair was read in both orders.
    """
    blocks = [
        one for one in report.blocks if one.same.estimate is not None and one.flips.estimate is not None
    ]
    if not blocks:
        return None
    figure = go.Figure()
    shares: dict[str, list[float]] = {name: [] for name in _ORDER_LOOKS}
    for one in blocks:
        same, flips = one.same.estimate or 0.0, one.flips.estimate or 0.0
        to_first = one.flips_first or 0.0
        for name, share in zip(shares, (same, to_first, flips - to_first, 1 - same - flips), strict=True):
            shares[name].append(max(share, 0.0))
    for name, values in shares.items():
        color, ink = _ORDER_LOOKS[name]
        figure.add_bar(
            orientation="h",
            y=list(range(len(blocks))),
            x=[100 * value for value in values],
            name=name,
            marker={"color": color},
            text=[f"{100 * value:.0f} %" if value >= _LEAST_NAMED else "" for value in values],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": ink},
            customdata=[label(one.level or ALL_PAIRS) for one in blocks],
            hovertemplate=f"%{{customdata}}: {name}<br>%{{x:.1f}} % of pairs<extra></extra>",
        )
    name_rows(figure, [f"{label(one.level or ALL_PAIRS)} (n {one.n_pairs})" for one in blocks], None)
    figure.update_xaxes(title="pairs, %", range=[0, 100])
    figure.update_layout(barmode="stack", bargap=0.3, legend_traceorder="normal")
    return dressed(figure, height=160 + 34 * len(blocks), top=75, legend=True)


_LEAST_NAMED = 0.08
"""Smallest share whose number fits into its bar."""


def judge_and_raters(votes: BesideVotes, answers: str) -> go.Figure:
    """Draw how often a judge gives a rater's answer beside how often another rater does, by level, with intervals.

    answers: four or three, as in `VotesBlock`.
    """
    blocks = [one for one in votes.blocks if one.answers == answers]
    figure = go.Figure()
    for number, (name, whose) in enumerate((("judge and a rater", "judge"), ("two raters", "raters"))):
        color, symbol = LOOKS[number]
        found = [(row, getattr(one.agreement, whose)) for row, one in enumerate(blocks)]
        drawn = [(row, one) for row, one in found if one.estimate is not None]
        ends = [(*(first_interval(one) or (None, None)), one.estimate) for _, one in drawn]
        figure.add_scatter(
            x=[one.estimate for _, one in drawn],
            y=[row + _OFFSET * (number - 0.5) for row, _ in drawn],
            mode="markers",
            name=name,
            marker={"color": color, "symbol": symbol, "size": 10},
            error_x=whiskers([(low, middle, high) for low, high, middle in ends]),
            text=[
                f"{label(blocks[row].level or ALL_PAIRS)}, {name}<br>{_ends(low, middle, high)}"
                for (row, _), (low, high, middle) in zip(drawn, ends, strict=True)
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    name_rows(figure, [f"{label(one.level or ALL_PAIRS)} (n {one.n_pairs})" for one in blocks], None)
    figure.update_xaxes(title="share of equal answers", range=[-0.02, 1.02])
    return dressed(figure, height=140 + 46 * len(blocks), top=60, legend=True)


def _ends(low: float | None, middle: float | None, high: float | None) -> str:
    if middle is None:
        return "undefined"
    return (
        decimal(middle)
        if low is None or high is None
        else f"{decimal(middle)} [{decimal(low)}, {decimal(high)}]"
    )
