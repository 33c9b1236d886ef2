"""The figures of a calibration: agreement by group, classes by how raters agree, bias, reliability, temperature."""

from collections.abc import Sequence

import plotly.graph_objects as go

from core.plots.dressing import (
    BLUE,
    DARK,
    GRID,
    LINE,
    LOOKS,
    OCHRE,
    Ends,
    dressed,
    ends_of,
    label,
    name_rows,
    panels,
    whiskers,
)
from core.plots.marks import marks
from core.results.calibration.cells import Cell, Distribution
from core.results.calibration.results import Summary, SweepPoint, called
from core.results.calibration.split import DEGREES, DimensionSplit
from core.results.cells import decimal
from core.stats.calibration import CalibrationMap

_NAME = 40
"""Letters of a group's name."""
_ROW = 36
"""Pixels of a group."""
_BAND = 0.6
"""Part of a row that its marks take."""
_SAME_MEASURE = ("raters_pairwise", "pairwise")
"""Both by pairs: an agreement with a majority would look better than one between people."""
_WORST, _BEST = (217, 152, 43), (61, 127, 208)


def calibration_agreement(cells: Sequence[Cell]) -> go.Figure:
    """Draw how often two raters agree, and the evaluator and a rater, with intervals, one row per group."""
    raters, evaluator = _SAME_MEASURE
    rows = [cell for cell in cells if cell.get(evaluator) is not None]
    ends = [(ends_of(cell.get(raters)), ends_of(cell.get(evaluator))) for cell in rows]
    return marks(
        [called(cell.group) for cell in rows], ends, "share of equal pairs, with intervals over items"
    )


def calibration_means(summaries: Sequence[Summary]) -> go.Figure:
    """Draw the same averaged over the cells of each language, task and dimension; whiskers are SDs over cells."""
    rows = [one for one in summaries if _SAME_MEASURE[1] in one.statistics]
    ends = [(_spread(one, _SAME_MEASURE[0]), _spread(one, _SAME_MEASURE[1])) for one in rows]
    return marks(
        [called(one.group) if one.group else "all groups" for one in rows],
        ends,
        "mean share of equal pairs, with SD over groups",
    )


def _spread(one: Summary, name: str) -> Ends:
    """Return a mean with one SD to both sides."""
    middle, sd = one.statistics[name].mean, one.statistics[name].sd
    return (None, middle, None) if middle is None or sd is None else (middle - sd, middle, middle + sd)


def calibration_split(found: Sequence[DimensionSplit]) -> go.Figure:
    """Draw how often a rater left out, and the evaluator, agree with the other raters, by how these split."""
    rows = [(one, degree) for one in found if one.found is not None for degree in one.found.degrees]
    several = len({one.dimension for one, _ in rows}) > 1
    ends = [(ends_of(degree.rater_agreement), ends_of(degree.judge_agreement)) for _, degree in rows]
    return marks(
        [
            f"{one.dimension}, {DEGREES[degree.kind]}" if several else DEGREES[degree.kind]
            for one, degree in rows
        ],
        ends,
        "probability of a random other rater's class,<br>with intervals over items",
        (("a rater left out", (DARK, "square")), ("evaluator", (BLUE, "circle"))),
    )


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


def calibration_bias(cells: Sequence[Cell]) -> go.Figure:
    """Draw the bias towards the top class by group, over all texts and where raters disagree."""
    rows = [cell for cell in cells if cell.get("bias") is not None]
    return marks(
        [called(cell.group) for cell in rows],
        [(ends_of(cell.get("bias")), ends_of(cell.get("bias_disagreed"))) for cell in rows],
        "share of the top class: evaluator minus majority",
        (("all texts", (BLUE, "circle")), ("where raters disagree", (OCHRE, "diamond"))),
        said="%{x:+.3f}",
    ).add_vline(x=0, line={"color": LINE, "width": 2, "dash": "dot"})


def reliability(found: CalibrationMap) -> go.Figure:
    """Draw the mean rating per bin of scores: original scores on the left, mapped out of fold on the right."""
    titles = ("original scores", "mapped scores, unseen items")
    figure, height, top = panels(titles, columns=2, room=310, between=50, top=70, horizontal_spacing=0.12)
    for column, bins in enumerate((found.before, found.after), start=1):
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
    if found.knots:
        figure.add_scatter(
            row=1,
            col=1,
            x=[x for x, _ in found.knots],
            y=[y for _, y in found.knots],
            mode="lines",
            name="the map",
            line={"color": DARK, "width": 2},
            hovertemplate="score %{x:.3f} maps to %{y:.3f}<extra>the map</extra>",
        )
    figure.update_xaxes(title="score of the evaluator", gridcolor=GRID)
    figure.update_yaxes(title="mean rating", gridcolor=GRID)
    return dressed(figure, height=height, top=top, legend=True)


def temperatures(points: Sequence[SweepPoint]) -> go.Figure:
    """Draw agreement with the majority against temperature, one line per dimension."""
    figure = go.Figure()
    for place, dimension in enumerate(dict.fromkeys(one.dimension for one in points)):
        own = [one for one in points if one.dimension == dimension and one.agreement is not None]
        color, symbol = LOOKS[place % len(LOOKS)]
        figure.add_scatter(
            x=[one.temperature for one in own],
            y=[one.agreement.estimate for one in own if one.agreement is not None],
            mode="lines+markers",
            name=label(dimension),
            line={"color": color},
            marker={"color": color, "symbol": symbol, "size": 9},
            error_y={**whiskers([ends_of(one.agreement) for one in own]), "color": color},
            hovertemplate="temperature %{x:g}: %{y:.3f}<extra>" + label(dimension) + "</extra>",
        )
    figure.update_xaxes(title="temperature")
    figure.update_yaxes(title="share equal to the majority")
    return dressed(figure, height=400, top=50, legend=True)
