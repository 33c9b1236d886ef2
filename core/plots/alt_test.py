"""The figures of the Alt-test: winning rate by epsilon, and who is closer to the other raters."""

import plotly.graph_objects as go

from core.plots.dressing import (
    BLUE,
    DARK,
    GRID,
    LINE,
    LOOKS,
    OCHRE,
    PALE,
    dressed,
    label,
    metric_label,
    name_rows,
)
from core.results.alt_test import AltTests
from core.results.cells import decimal
from core.stats.alt_test import MOST_EPSILON, PASS_AT

_NAME, _BESIDE = 24, 16
"""Letters of a row's name, and of a name behind `against`."""
_ROW, _TWO_LINES = 30, 38
"""Pixels of a row."""
_APART = 0.006
"""Share of the height between the lines of two judges that would hide each other."""


def winning_by_epsilon(found: AltTests) -> go.Figure:
    """Draw each judge's winning rate for every epsilon, with the pass mark and the chosen epsilon.

    A star marks the epsilon from which a judge passes. Lines of several judges are moved apart a little.
    """
    figure = go.Figure()
    figure.add_hline(y=PASS_AT, line={"color": LINE, "width": 2, "dash": "dot"})
    figure.add_vline(x=found.options.epsilon, line={"color": DARK, "width": 1})
    for place, one in enumerate(found.judges):
        color, symbol = LOOKS[place % len(LOOKS)]
        shift = _APART * (place - (len(found.judges) - 1) / 2)
        rates = one.sweep.winning_rates
        figure.add_scatter(
            x=list(one.sweep.epsilons),
            y=[None if rate is None else rate + shift for rate in rates],
            customdata=list(rates),
            mode="lines",
            line={"color": color, "width": 2, "shape": "hv"},
            name=label(one.judge),
            hovertemplate="epsilon %{x:.2f}: wins against %{customdata:.0%}<extra>"
            + label(one.judge)
            + "</extra>",
        )
        at = one.sweep.passes_from
        if at is not None:
            rate = rates[one.sweep.epsilons.index(at)]
            figure.add_scatter(
                x=[at],
                y=[None if rate is None else rate + shift],
                mode="markers",
                marker={"color": color, "symbol": symbol, "size": 11},
                showlegend=False,
                hovertemplate=f"passes from epsilon {at:.2f}<extra>" + label(one.judge) + "</extra>",
            )
    figure.update_xaxes(
        title="epsilon, the price of a rater", range=[-0.01, MOST_EPSILON + 0.01], gridcolor=GRID
    )
    figure.update_yaxes(title="winning rate", tickformat=".0%", range=[-0.04, 1.04], gridcolor=GRID)
    return dressed(figure, height=380, top=50, legend=True)


def closer(found: AltTests) -> go.Figure:
    """Draw for each judge and rater the shares of items: judge closer to the others, equal, rater closer."""
    rows = [
        (one.judge, name, rater)
        for one in found.judges
        for name, rater in zip(found.panel.raters, one.test.raters, strict=True)
        if rater.n
    ]
    figure = go.Figure()
    parts = (
        ("judge closer", "n_better", BLUE),
        ("equal", "n_equal", PALE),
        ("rater closer", "n_worse", OCHRE),
    )
    for title, field, color in parts:
        counts = [getattr(rater, field) for _, _, rater in rows]
        shares = [count / rater.n for count, (_, _, rater) in zip(counts, rows, strict=True)]
        figure.add_bar(
            orientation="h",
            x=shares,
            y=list(range(len(rows))),
            name=title,
            marker={"color": color, "line": {"color": "white", "width": 1}},
            text=[decimal(100 * share, 0) if share >= 0.06 else "" for share in shares],
            textfont={"color": "black" if color == PALE else "white"},
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            customdata=counts,
            hovertemplate="%{customdata} texts, %{x:.1%}<extra>" + title + "</extra>",
        )
    several = len(found.judges) > 1
    names = [
        f"{metric_label(judge, _NAME)}<br>against {metric_label(rater, _BESIDE)}"
        if several
        else metric_label(rater, _NAME)
        for judge, rater, _ in rows
    ]
    name_rows(figure, names, None)
    figure.update_xaxes(title="share of texts", tickformat=".0%", range=[0, 1])
    figure.update_layout(barmode="stack")
    dressed(figure, height=120 + (_TWO_LINES if several else _ROW) * max(len(rows), 3), top=40, legend=True)
    return figure.update_layout(legend={"traceorder": "normal"})
