"""Figures of a check: each judge's number beside ceiling and limit; agreement by threshold where a judge may be kept."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.plots.dressing import (
    BLUE,
    DARK,
    GRID,
    OCHRE,
    PALE,
    dressed,
    ends_of,
    interval_said,
    label,
    name_rows,
    row_name,
    shortened,
    whiskers,
)
from core.results.check.escalation import Escalation
from core.results.check.rules import compared_numbers
from core.results.check.sentences import MEASURES
from core.results.check.verdict import Check, JudgeCheck
from core.stats.resampling import Estimate

_TITLES = {
    "rank": "accuracy over pairs of systems",
    "monitor": "bias, share of the scale",
    "certify": "share of good answers",
}
"""Use -> the number that its rule compares with a limit."""
_NAME = 30
"""Letters of a judge's name."""
_MOST_TICKS = 7
"""Names of thresholds that fit side by side on a phone."""
_ROW, _AROUND = 44, 96
"""Pixels of a row, and of title, axis and legend."""


@dataclass(frozen=True)
class _Row:
    """A row of the figure: a judge, or people."""

    name: str
    found: Estimate
    limits: tuple[float, ...]
    is_rater: bool = False


def judges_and_ceiling(check: Check) -> go.Figure | None:
    """Draw the numbers that decide, each of the judge beside people's on the same texts, with the limit in the judge's row.

    Gate and replace: the rules that compare a number with people's, of one judge all of them, of several the first that
    decided. Rank and monitor: the rule of the use. Certify: each system. None if no judge has such a number.
    """
    rows = [row for one in check.judges for row in _rows(check, one)]
    if not rows:
        return None
    figure = go.Figure()
    _estimates(figure, rows, of_raters=False)
    _estimates(figure, rows, of_raters=True)
    _limits(figure, rows)
    names = [row_name(shortened(row.name, _NAME)) for row in rows]
    name_rows(figure, names, None)
    title = _TITLES.get(check.use, "share, or coefficient")
    # A certificate has the level that its number of tests demands.
    level = f"{100 * rows[0].found.confidence_level:.3g} %"
    break_ = "<br>" if check.use == "monitor" else " "  # else the line would end between number and sign
    figure.update_xaxes(title=f"{title},{break_}{level} intervals", nticks=6, range=_range(rows))
    if check.use == "monitor":
        figure.add_vline(x=0, line={"color": GRID, "width": 1})
    return dressed(figure, height=_AROUND + _ROW * max(len(rows), 2), top=34, legend=True)


def _rows(check: Check, one: JudgeCheck) -> list[_Row]:
    """The rows of one judge, and of people beside it."""
    several = len(check.judges) > 1
    if check.use in {"rank", "monitor"}:
        rule = one.rule("accuracy" if check.use == "rank" else "bias")
        if rule is None or rule.estimate is None or rule.estimate.estimate is None or rule.limit is None:
            return []
        both = (-rule.limit, rule.limit) if check.use == "monitor" else (rule.limit,)
        return [_Row(one.name, rule.estimate, both)]
    if one.systems:
        return [
            _Row(
                " ".join(
                    name for name in (one.name if several or not system.system else "", system.system) if name
                ),
                system.estimate,
                (check.options.target,),
            )
            for system in one.systems
            if system.estimate.estimate is not None
        ]
    compared = [(rule, compared_numbers(rule)) for rule in (*one.deciding, *one.rules)]
    found: dict[str, list[_Row]] = {}
    for rule, numbers in compared:
        if numbers is None or numbers[0].estimate is None:
            continue
        judge, people, limit = numbers
        measure = MEASURES.get(rule.code.replace("-", "_"), rule.code.replace("-", " "))
        what = one.name if several else measure
        rows = [_Row(what, judge, () if limit is None else (limit,))]
        if people.estimate is not None:
            rows.append(_Row(f"{what}: people", people, (), is_rater=True))
        found.setdefault(rule.code, rows)
    if several:
        return next(iter(found.values()), [])
    order = [rule.code for rule in one.rules]
    return [row for code in sorted(found, key=order.index) for row in found[code]]


def _range(rows: Sequence[_Row]) -> list[float]:
    """Ends of the axis, with room around the outermost mark, which may be a limit."""
    known = [value for row in rows for value in (*ends_of(row.found), *row.limits) if value is not None]
    room = max(max(known) - min(known), 0.02) * 0.08
    return [min(known) - room, max(known) + room]


def _estimates(figure: go.Figure, rows: Sequence[_Row], *, of_raters: bool) -> None:
    own = [(at, row.name, row.found) for at, row in enumerate(rows) if row.is_rater is of_raters]
    if not own:
        return
    color, symbol = (DARK, "square") if of_raters else (BLUE, "circle")
    figure.add_scatter(
        x=[found.estimate for _, _, found in own],
        y=[at for at, _, _ in own],
        mode="markers",
        name="people" if of_raters else "judge",
        marker={"color": color, "symbol": symbol, "size": 11},
        error_x={**whiskers([ends_of(found) for _, _, found in own]), "color": color, "thickness": 3},
        text=[label(f"{name}: {interval_said(found)}", longest=120) for _, name, found in own],
        hovertemplate="%{text}<extra></extra>",
    )


def _limits(figure: go.Figure, rows: Sequence[_Row]) -> None:
    """One short upright line for each limit, over the height of its row."""
    x: list[float | None] = []
    y: list[float | None] = []
    for at, row in enumerate(rows):
        for limit in row.limits:
            x += [limit, limit, None]
            y += [at - 0.42, at + 0.42, None]
    if x:
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            name="limit",
            line={"color": OCHRE, "width": 3, "dash": "dot"},
            hovertemplate="limit %{x:.3f}<extra></extra>",
        )


def trust_thresholds(escalation: Escalation) -> go.Figure:
    """Draw, by threshold, the agreement of the kept labelled texts with its lower bound, the promise, and the share kept below.

    A threshold is a place in a row: confidences may be few and far apart, and of any unit. Bounds that were not tested are pale.
    """
    steps = [step for step in escalation.trust.steps if step.agreement is not None]
    places = list(range(len(steps)))
    names = [f"{step.threshold:.3g}" for step in steps]
    said = [
        f"confidence from {name}: {step.agreement or 0:.3f} of {step.n:,} labelled texts, lower bound {step.low:.3f}"
        for name, step in zip(names, steps, strict=True)
    ]
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.64, 0.36], vertical_spacing=0.09)
    figure.add_scatter(
        x=places,
        y=[step.agreement for step in steps],
        mode="markers+lines",
        name="agreement",
        marker={"color": BLUE, "size": 9},
        line={"color": BLUE, "width": 1},
        text=said,
        hovertemplate="%{text}<extra></extra>",
        row=1,
        col=1,
    )
    figure.add_scatter(
        x=places,
        y=[step.low for step in steps],
        mode="markers",
        name="lower bound",
        marker={
            "color": [DARK if step.tested else PALE for step in steps],
            "symbol": "triangle-up",
            "size": 10,
        },
        text=said,
        hovertemplate="%{text}<extra></extra>",
        row=1,
        col=1,
    )
    ends = [-0.5, len(steps) - 0.5]
    figure.add_scatter(
        x=ends,
        y=[escalation.promise.agreement] * 2,
        mode="lines",
        name="promise",
        line={"color": OCHRE, "width": 3, "dash": "dot"},
        hovertemplate="promise %{y:.3f}<extra></extra>",
        row=1,
        col=1,
    )
    figure.add_bar(
        x=places,
        y=[step.share for step in steps],
        name="kept of labelled",
        width=0.5,
        marker={"color": [BLUE if step == escalation.chosen else PALE for step in steps]},
        hovertemplate="%{y:.1%} kept<extra></extra>",
        showlegend=False,
        row=2,
        col=1,
    )
    every = -(-len(steps) // _MOST_TICKS) or 1
    figure.update_xaxes(range=ends, tickvals=places[::every], ticktext=names[::every], tickangle=0)
    figure.update_xaxes(title="kept from this confidence", row=2, col=1)
    lowest = min([escalation.promise.agreement, *(step.low for step in steps)])
    figure.update_yaxes(title="agreement", range=[max(lowest - 0.05, 0), 1.02], nticks=5, row=1, col=1)
    figure.update_yaxes(title="kept", range=[0, 1.05], tickformat=".0%", nticks=3, row=2, col=1)
    return dressed(figure, height=400, top=34, legend=True)
