"""Figures of a study's results."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import plotly.graph_objects as go

from core.errors import InputError
from core.plots.dressing import (
    BLUE,
    CLEAR,
    DARK,
    GRID,
    LINE,
    OCHRE,
    PALE,
    VIOLET,
    dressed,
    ends_said,
    label,
    metric_label,
    name_rows,
    panels,
    shortened,
    value_said,
    whiskers,
    written,
)
from core.results.cells import decimal
from core.results.confusion import RaterConfusion
from core.results.study.early import EarlyResult
from core.results.study.raters import (
    RatersAsSample,
    component_names,
    component_shares,
    mean_rows,
)
from core.results.study.results import Block, Contingency, first_interval
from core.results.study.tables import AGREEMENT
from core.schema.study import PREFERENCES
from core.stats.conclusion import Conclusion
from core.stats.non_inferiority import NonInferiority, lowest_mean
from core.stats.raters import VarianceComponents
from core.stats.resampling import AgreementEstimate
from core.stats.votes import PositionBias

_MARKS = dict(
    zip(
        AGREEMENT,
        [(DARK, "square"), (BLUE, "circle"), (OCHRE, "diamond"), (VIOLET, "triangle-up"), (PALE, "x")],
        strict=True,
    )
)
_BARS: dict[str, str] = dict(zip(PREFERENCES, [BLUE, PALE, DARK, OCHRE], strict=True))
_INK: dict[str, str] = dict(zip(PREFERENCES, ["white", "black", "white", "black"], strict=True))

_RATER, _ROW = 40, 24
"""Letters of a rater's name."""
_END = 18
"""Letters of a system's name at an end of a scale: two of them stand below half a page."""
MOST_PANELS = 12
"""Raters whose confusion matrices are drawn; with more, only the table shows them."""
_UPRIGHT = 4
"""Letters of the longest class that fit side by side."""
_CLASS = 18
"""Letters of a class beside a small heat map."""
_CELL = 48
"""Pixels of a cell that can be pressed."""
_SHARES = [[0, "#eef3f9"], [1, "#6ea3e0"]]
"""Colours from 0 to 1."""
_HATCH = {"shape": "/", "fillmode": "overlay", "fgcolor": "rgba(255, 255, 255, 0.35)", "size": 6}


_ROLES = ("candidate", "comparator")


def _scale_ends(systems: tuple[str, str]) -> str:
    """What the ends of the scale of votes mean."""
    candidate, comparator = (label(shortened(name, _END), longest=_RATER) for name in systems)
    return f"-1 {comparator}, +1 {candidate}"


_LETTERS = 7
"""Letters of a number beside its mark, with a blank on each side."""


def verdict(
    bound: NonInferiority,
    gaffke: float | None = None,
    *,
    score: str = "composite score",
    systems: tuple[str, str] = _ROLES,
) -> go.Figure:
    """Draw the mean and its lower bounds against the margin and zero; undefined bounds are left out.

    gaffke: Gaffke's bound. score: name of the score. systems: candidate and comparator.
    """
    bounds = {"questions": bound.bound_questions, "pairs": bound.bound_pairs}
    numbers = {"questions": bound.n_questions, "pairs": bound.n_pairs}
    if gaffke is not None:  # last, so that it is on top
        bounds["questions, Gaffke"], numbers["questions, Gaffke"] = gaffke, bound.n_questions
    marked = [x for x in (lowest_mean(bound.margin), 0.0) if x is not None]
    known = [x for x in (bound.mean, *bounds.values(), *marked) if x is not None]
    ends = _roomy_range(known)
    figure = go.Figure()
    for row, (unit, low) in enumerate(bounds.items()):
        if low is None or bound.mean is None:
            continue
        color = (BLUE, DARK, OCHRE)[row]
        figure.add_scatter(
            x=[low, bound.mean],
            y=[row, row],
            mode="lines+markers+text",
            line={"color": color, "width": 4},
            marker={
                "symbol": ["line-ns", "circle"],
                "size": [22, 13],
                "color": color,
                "line": {"width": [4, 0], "color": color},
            },
            text=[decimal(low), decimal(bound.mean)],
            textposition=_number_places(low, bound.mean, marked, ends),
            customdata=["lower bound", "mean"],
            hovertemplate=f"%{{customdata}} %{{x:.3f}}<br>over {numbers[unit]} {unit}<extra></extra>",
            name=unit,
        )
    _margin_lines(figure, bound.margin)
    figure.update_xaxes(
        title=f"mean {score} (dot)<br>and lower bound (bar)<br>{_scale_ends(systems)}", range=ends
    )
    name_rows(figure, [f"over {unit}<br>(n {numbers[unit]})" for unit in bounds], None)
    return dressed(figure, height=150 + 60 * len(bounds), top=40)


def two_sided(conclusion: Conclusion, *, score: str, systems: tuple[str, str]) -> go.Figure:
    """Draw the mean with its interval against zero, for a study without a margin. Needs a mean.

    score: name of the score. systems: the two, the one whose votes count +1 first.
    """
    figure, mean, bounds = go.Figure(), conclusion.mean, conclusion.bounds
    if mean is None or bounds is None:
        raise InputError("Without a mean there is no figure of it.")
    ends = _roomy_range([bounds.low, bounds.high, 0.0])
    left, right = _number_places(bounds.low, bounds.high, [0.0], ends)
    figure.add_scatter(
        x=[bounds.low, mean, bounds.high],
        y=[0, 0, 0],
        mode="lines+markers+text",
        line={"color": BLUE, "width": 4},
        marker={
            "symbol": ["line-ns", "circle", "line-ns"],
            "size": [22, 13, 22],
            "color": BLUE,
            "line": {"width": [4, 0, 4], "color": BLUE},
        },
        text=[decimal(bounds.low), decimal(mean), decimal(bounds.high)],
        textposition=[left, "top right" if mean >= 0 else "top left", right],
        customdata=["lower end", "mean", "upper end"],
        hovertemplate="%{customdata} %{x:.3f}<extra></extra>",
    )
    _margin_lines(figure, None)
    figure.update_xaxes(
        title=f"mean {score}, {100 * conclusion.interval_level:g} % interval<br>{_scale_ends(systems)}",
        range=ends,
    )
    name_rows(figure, [f"over questions<br>(n {conclusion.n_questions})"], None)
    return dressed(figure, height=230, top=40)


def _roomy_range(known: Sequence[float]) -> list[float]:
    """The range of an axis with room for the numbers beside the marks."""
    room = 0.45 * (max(known) - min(known)) or 0.1
    return [min(known) - room, max(known) + room]


def _number_places(low: float, mean: float, marked: Sequence[float], ends: Sequence[float]) -> list[str]:
    """Where the numbers of a bound and of its mean stand, so that no line through a marked value crosses one."""
    wide = (ends[1] - ends[0]) * _LETTERS * 8 / 330  # pixels of a letter, and of the axis in half a page
    crossed = any(low - wide < x <= low for x in marked), any(mean <= x < mean + wide for x in marked)
    return ["top right" if crossed[0] else "middle left", "bottom left" if crossed[1] else "middle right"]


def _margin_lines(figure: go.Figure, margin: float | None) -> None:
    """Draw and name vertical lines at zero and at minus the margin, if there is one."""
    at_top = {"y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
    if margin is not None:
        figure.add_vline(x=-margin, line={"color": LINE, "width": 2, "dash": "dash"})
        # Away from each other, however near the lines are.
        figure.add_annotation(x=-margin, xanchor="right", text=f"margin {-margin:g}", **at_top)
    figure.add_vline(x=0.0, line={"color": LINE, "width": 2, "dash": "dot"})
    figure.add_annotation(
        x=0.0, xanchor="center" if margin is None else "left", text="no difference", **at_top
    )


def early(looks: EarlyResult) -> go.Figure:
    """Draw the always-valid bound after each question against the margin."""
    figure = go.Figure()
    figure.add_scatter(
        x=list(range(1, len(looks.bounds) + 1)),
        y=looks.bounds,
        mode="lines+markers",
        line={"color": BLUE, "width": 2, "shape": "hv"},
        marker={"color": BLUE, "size": 6},
        hovertemplate="after %{x} questions<br>bound %{y:.3f}<extra></extra>",
    )
    figure.add_hline(y=-looks.margin, line={"color": LINE, "width": 2, "dash": "dash"})
    figure.add_annotation(
        x=1,
        xref="paper",
        xanchor="right",
        y=-looks.margin,
        yanchor="bottom",
        text=f"margin {-looks.margin:g}",
        showarrow=False,
    )
    figure.update_xaxes(title="questions in the order of entry", rangemode="tozero")
    figure.update_yaxes(title="lower bound", range=[-1.02, max([0.05, *filter(None, looks.bounds)]) + 0.05])
    return dressed(figure, height=280, top=20)


def choices(per_level: Mapping[str, Block], raters: Sequence[str], names: Mapping[str, str]) -> go.Figure:
    """Draw stacked bars of the four answers per level, one panel per rater."""
    columns = min(2, len(raters))
    figure, height, top = panels(
        [shortened(rater, _RATER) for rater in raters],
        columns=columns,
        room=45 + 24 * len(per_level),
        between=75,
        top=75,
        shared_yaxes=True,
        shared_xaxes="all",
        horizontal_spacing=0.04,
    )
    for index, rater in enumerate(raters):
        for preference, name in names.items():
            counts = [block.choices[rater][preference] for block in per_level.values()]
            figure.add_bar(
                row=index // columns + 1,
                col=index % columns + 1,
                x=counts,
                y=list(range(len(per_level))),
                orientation="h",
                name=label(name),
                legendgroup=preference,
                showlegend=index == 0,
                marker={"color": _BARS[preference], "pattern": _HATCH if preference == "both_bad" else None},
                text=[str(count) if count else "" for count in counts],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": _INK[preference]},
                customdata=[
                    [label(level), sum(block.choices[rater].values())] for level, block in per_level.items()
                ],
                hovertemplate=f"{label(rater)}, %{{customdata[0]}}: %{{x}} of %{{customdata[1]}} pairs"
                f"<extra>{label(name)}</extra>",
            )
    name_rows(figure, [label(level) for level in per_level], None)
    figure.update_xaxes(title="pairs", row=-(-len(raters) // columns))
    figure.update_xaxes(showticklabels=True)
    figure.update_layout(barmode="stack", bargap=0.25, legend_traceorder="normal")
    return dressed(figure, height=height, top=top, legend=True)


def agreement(blocks: Mapping[str, Block], fields: Sequence[str] = tuple(AGREEMENT)) -> go.Figure:
    """Draw coefficients with their intervals, grouped by `blocks` (all levels, then each); undefined ones are left out.

    fields: of a Block, all of them or some.
    """
    figure = go.Figure()
    step = min(0.3, 0.75 / len(fields))  # of a row's height
    for index, field in enumerate(fields):
        name = AGREEMENT[field]
        estimates: list[AgreementEstimate] = [getattr(block, field) for block in blocks.values()]
        drawn = [(row, found) for row, found in enumerate(estimates) if found.estimate is not None]
        if not drawn:
            continue
        color, symbol = _MARKS[field]
        labels = list(blocks)
        figure.add_scatter(
            x=[found.estimate for _, found in drawn],
            y=[row + step * (index - (len(fields) - 1) / 2) for row, _ in drawn],
            mode="markers",
            name=name,
            marker={"color": color, "symbol": symbol, "size": 9},
            error_x=whiskers([_ends(found) for _, found in drawn]),
            text=[_said(labels[row], found) for row, found in drawn],
            hovertemplate="%{text}<extra>" + name + "</extra>",
        )
    figure.add_vline(x=0, line={"color": LINE, "width": 1})
    for row in range(1, len(blocks)):
        figure.add_hline(y=row - 0.5, line={"color": GRID, "width": 1})
    name_rows(figure, [f"{label(level)} (n {block.n_pairs})" for level, block in blocks.items()], None)
    but = ",<br>except raw agreement" if "raw_agreement" in fields else ""
    figure.update_xaxes(title=f"agreement<br>(1: perfect; 0: chance{but})")
    return dressed(figure, height=130 + (16 + 13 * len(fields)) * len(blocks), top=70, legend=True)


def contingency(result: Contingency, names: Mapping[str, str]) -> go.Figure:
    """Draw the counts of one rater's answers (rows) against another's (columns). Needs a table."""
    table = result.table or []
    labels = [label(names[preference]) for preference in result.order]
    first, second = (label(rater) for rater in result.raters)
    places = list(range(len(labels)))
    total = sum(map(sum, table))
    figure = go.Figure(
        go.Heatmap(
            z=table,
            x=places,
            y=places,
            hoverinfo="skip",
            texttemplate="%{z}",
            textfont={"size": 15, "color": "black"},
            colorscale=_SHARES,
            showscale=False,
            xgap=2,
            ygap=2,
        )
    )
    # A heat map tells no press. Its cells are points too, row by row, which take what the pointer does.
    figure.add_scatter(
        x=[column for _ in places for column in places],
        y=[row for row in places for _ in places],
        mode="markers",
        marker={"symbol": "square", "size": _CELL, "color": CLEAR},
        customdata=[
            [row, column, n]
            for row, line in zip(labels, table, strict=False)
            for column, n in zip(labels, line, strict=True)
        ],
        hovertemplate=f"{first}: %{{customdata[0]}}<br>{second}: %{{customdata[1]}}<br>"
        f"%{{customdata[2]}} of {total} pairs<extra></extra>",
        showlegend=False,
    )
    figure.update_layout(hoverdistance=_CELL)  # a cell is wider than its point
    figure.update_xaxes(tickvals=places, ticktext=labels, title=second, side="top", showgrid=False)
    name_rows(figure, labels, first)
    return dressed(figure, height=330, top=70)


def confusions(raters: Sequence[RaterConfusion], names: Sequence[str]) -> go.Figure:
    """Draw each rater's confusion matrix: estimated classes as rows, answers as columns; a panel for each rater.

    names: of the classes. Rows with too few answers have a dash.
    """
    columns = min(2, len(raters))
    places = list(range(len(names)))
    longest = max(map(len, names), default=0)
    slanted = 6 * min(longest, _CLASS)  # pixels below the last row
    figure, height, top = panels(
        [shortened(one.rater, _RATER) for one in raters],
        columns=columns,
        room=30 + 26 * len(names),
        between=30,
        top=30,
        shared_yaxes=True,
        shared_xaxes=True,
        horizontal_spacing=0.04,
    )
    for index, one in enumerate(raters):
        at = {"row": index // columns + 1, "col": index % columns + 1}
        figure.add_trace(
            go.Heatmap(
                z=[list(line) for line in one.matrix],
                x=places,
                y=places,
                zmin=0,
                zmax=1,
                colorscale=_SHARES,
                showscale=False,
                xgap=1,
                ygap=1,
                text=[
                    ["–" if value is None else written(value, short=True) for value in line]
                    for line in one.matrix
                ],
                texttemplate="%{text}",
                textfont={"color": "black", "size": 11},
                customdata=[
                    [
                        f"{label(one.rater)}: {label(answer)}<br>where the class is {label(said)}"
                        f"<br>{'–' if value is None else decimal(value, 2)}, {decimal(n or 0.0, 1)} answers expected"
                        for answer, value in zip(names, line, strict=True)
                    ]
                    for said, line, n in zip(names, one.matrix, one.expected, strict=True)
                ],
                hovertemplate="%{customdata}<extra></extra>",
                hoverongaps=True,
            ),
            **at,
        )
    said = [label(shortened(name, _CLASS)) for name in names]
    bare = {"tickvals": places, "ticktext": said, "ticks": "", "showgrid": False}
    figure.update_yaxes(range=[len(names) - 0.5, -0.5], **bare)
    figure.update_xaxes(tickangle=-90 if longest > _UPRIGHT else 0, **bare)
    if (
        len(raters) > columns and len(raters) % columns
    ):  # nothing is below the last panel of the second column
        figure.update_xaxes(showticklabels=True, row=len(raters) // columns, col=columns)
    return dressed(figure, height=height + slanted, top=top)


def position(results: Mapping[str, PositionBias]) -> go.Figure:
    """Draw the share of left among choices of a side, with its interval, against one half."""
    figure = go.Figure()
    drawn = [(row, name, found) for row, (name, found) in enumerate(results.items()) if found.n]
    figure.add_scatter(
        x=[found.share_left for _, _, found in drawn],
        y=[row for row, _, _ in drawn],
        mode="markers",
        marker={"color": BLUE, "size": 10},
        error_x=whiskers([(found.low, found.share_left, found.high) for _, _, found in drawn]),
        text=[f"{label(name)}: {found.left} left, {found.right} right" for _, name, found in drawn],
        hovertemplate="%{text}<br>share %{x:.3f}<extra></extra>",
    )
    figure.add_vline(x=0.5, line={"color": LINE, "width": 2, "dash": "dot"})
    figure.update_xaxes(title="share of left<br>(0.5: no preference)", range=[-0.02, 1.02])
    name_rows(figure, [f"{label(name)} (n {found.n})" for name, found in results.items()], None)
    return dressed(figure, height=110 + 40 * len(results), top=15)


def rater_means(sample: RatersAsSample, systems: tuple[str, str] = _ROLES) -> go.Figure:
    """Draw each rater's mean vote with its interval, then the mean of all with both intervals, against margin and zero.

    systems: candidate and comparator.
    """
    figure = go.Figure()
    rows = {name: one for name, one in mean_rows(sample).items() if one.value is not None}
    of_all = len(rows) - 2
    for first, last, color, symbol, size in (
        (0, of_all, BLUE, "circle", 9),
        (of_all, of_all + 1, DARK, "diamond", 12),
        (of_all + 1, of_all + 2, OCHRE, "diamond", 12),
    ):
        drawn = list(rows.items())[first:last]
        figure.add_scatter(
            x=[one.value for _, one in drawn],
            y=list(range(first, last)),
            mode="markers",
            marker={"color": color, "symbol": symbol, "size": size},
            error_x=whiskers([(one.low, one.value, one.high) for _, one in drawn]) | {"color": color},
            text=[
                f"{label(name, longest=_RATER)}<br>{ends_said(one.low, one.value or 0.0, one.high, one.n)}"
                for name, one in drawn
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    _margin_lines(figure, sample.margin)
    if of_all:
        figure.add_hline(y=of_all - 0.5, line={"color": GRID, "width": 1})
    figure.update_xaxes(title=f"mean vote<br>{_scale_ends(systems)}")
    name_rows(figure, [metric_label(name, _ROW) for name in rows], None)
    return dressed(figure, height=110 + 34 * len(rows), top=30)


_SHARE_COLORS = (OCHRE, BLUE, VIOLET, DARK, PALE)


def variance_shares(components: VarianceComponents) -> go.Figure:
    """Draw the shares of the components in the variance of one vote and of the mean vote, as two stacked bars."""
    figure = go.Figure()
    shares, names = component_shares(components), component_names(components)
    of_what = (
        "one vote",
        f"the mean of {components.n_raters} raters<br>and {components.n_questions} questions",
    )
    for (name, both), color in zip(shares.items(), _SHARE_COLORS, strict=True):
        if name not in names:
            continue
        figure.add_bar(
            x=[None if share is None else 100 * share for share in both],
            y=[0, 1],
            orientation="h",
            name=names[name],
            marker={"color": color},
            text=["" if share is None or share < _LEAST_NAMED else f"{100 * share:.0f} %" for share in both],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": "white" if color in (BLUE, VIOLET, DARK) else "black"},
            hovertemplate=f"{names[name]}: %{{x:.1f}} %<extra></extra>",
        )
    name_rows(figure, list(of_what), None)
    figure.update_xaxes(title="share of the variance, %", range=[0, 100])
    figure.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    return dressed(figure, height=270, top=95, legend=True)


_LEAST_NAMED = 0.06
"""Smallest share whose number fits into its bar."""


def _ends(estimate: AgreementEstimate) -> tuple[float | None, float | None, float | None]:
    low, high = first_interval(estimate) or (None, None)
    return low, estimate.estimate, high


def _said(level: str, estimate: AgreementEstimate) -> str:
    low, _, high = _ends(estimate)
    return f"{label(level)}: {value_said(replace(estimate, low=low, high=high))}<br>n {estimate.n}"
