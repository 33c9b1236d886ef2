"""Figures of a calibration: classes by how raters agree, reliability."""

from collections.abc import Sequence

import plotly.graph_objects as go

from core.plots.dressing import BLUE, DARK, GRID, LINE, OCHRE, dressed, ends_of, name_rows, panels, whiskers
from core.results.calibration.cells import Distribution
from core.results.cells import decimal
from core.stats.calibration import CalibrationMap

_WORST, _BEST = (217, 152, 43), (61, 127, 208)


def calibration_classes(distributions: Sequence[Distribution]) -> go.Figure:
    """Draw class shares of majority and evaluator, for texts on which raters agree fully, partly or not at all."""
    shown = [one for one in distributions if sum(one.majority)]
    rows = [(one, who, getattr(one, who)) for one in shown for who in ("majority", "evaluator")]
    figure = go.Figure()
    classes = shown[0].classes if shown else ()
    for place, value in enumerate(classes):
        color, ink = _shade(place, len(classes))
        shares = [counts[place] / (sum(counts) or 1) for _, _, counts in rows]
        figure.add_bar(
            orientation="h",
            x=shares,
            y=list(range(len(rows))),
            name=f"class {value:g}",
            marker={"color": color, "line": {"color": "white", "width": 1}},
            text=[decimal(100 * share, 0) if share >= 0.04 else "" for share in shares],
            textfont={"color": ink},
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            customdata=[counts[place] for _, _, counts in rows],
            hovertemplate="%{customdata} texts, %{x:.1%}<extra>" + f"class {value:g}" + "</extra>",
        )
    name_rows(figure, [f"{_KINDS[one.kind]}<br>{who} (n {sum(counts)})" for one, who, counts in rows], None)
    figure.update_xaxes(title="share of texts", tickformat=".0%", range=[0, 1])
    figure.update_layout(barmode="stack")
    dressed(figure, height=120 + 48 * max(len(rows), 2), top=40, legend=True)
    return figure.update_layout(legend={"traceorder": "normal"})


_KINDS = {
    "full": "raters agree",
    "partial": "some agree",
    "none": "no two agree",
    "one rating": "one rating",
}


def _shade(place: int, n: int) -> tuple[str, str]:
    """Return a colour from ochre (worst class) to blue (best), and a readable colour for text on it."""
    share = place / max(n - 1, 1)
    pale = 4 * share * (1 - share)  # nearly white in the middle, where the two colours would mix to mud
    mixed = [
        round((a + (b - a) * share) * (1 - 0.75 * pale) + 235 * 0.75 * pale)
        for a, b in zip(_WORST, _BEST, strict=True)
    ]
    return f"rgb({mixed[0]}, {mixed[1]}, {mixed[2]})", "white" if share > 0.85 else "black"


def reliability(fitted: CalibrationMap) -> go.Figure:
    """Draw the mean rating per bin of scores: original scores on the left, mapped out of fold on the right."""
    titles = ("original scores", "mapped scores, unseen items")
    figure, height, top = panels(titles, columns=2, room=310, between=50, top=70, horizontal_spacing=0.12)
    for column, bins in enumerate((fitted.before, fitted.after), start=1):
        color, symbol = ((OCHRE, "square"), (BLUE, "circle"))[column - 1]
        figure.add_scatter(
            row=1,
            col=column,
            x=[one.mean_score for one in bins],
            y=[one.human.estimate for one in bins],
            mode="lines+markers",
            name=titles[column - 1],
            line={"color": color, "width": 1},
            marker={"color": color, "symbol": symbol, "size": 9},
            error_y={**whiskers([ends_of(one.human) for one in bins]), "color": color},
            text=[f"n {one.human.n}" for one in bins],
            hovertemplate="%{text}<br>score %{x:.3f}, rating %{y:.3f}<extra></extra>",
        )
        reach = [value for one in bins for value in (one.mean_score, one.human.estimate) if value is not None]
        if reach:
            figure.add_scatter(
                row=1,
                col=column,
                x=[min(reach), max(reach)],
                y=[min(reach), max(reach)],
                mode="lines",
                line={"color": LINE, "width": 2, "dash": "dot"},
                hoverinfo="skip",
                showlegend=False,
            )
    if fitted.knots:
        figure.add_scatter(
            row=1,
            col=1,
            x=[x for x, _ in fitted.knots],
            y=[y for _, y in fitted.knots],
            mode="lines",
            name="the map",
            line={"color": DARK, "width": 2},
            hovertemplate="score %{x:.3f} maps to %{y:.3f}<extra>the map</extra>",
        )
    figure.update_xaxes(title="score of the evaluator", gridcolor=GRID)
    figure.update_yaxes(title="mean rating", gridcolor=GRID)
    return dressed(figure, height=height, top=top, legend=True)
