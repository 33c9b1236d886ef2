"""Figure of a plan: power against questions."""

import plotly.graph_objects as go

from core.plots.dressing import LINE, LOOKS, dressed
from core.results.study.planning import StudyPlan, power_table
from core.stats.planning import Scope

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def power(plan: StudyPlan, scope: Scope) -> go.Figure | None:
    """Draw power against questions, one line for each number of raters. None if the scope has none.

    A dotted line marks the wanted power, dots the planned sizes.
    """
    curves: dict[int, list[tuple[int, float]]] = {}
    for row_scope, raters, _, questions, reached in power_table(plan).rows:
        if row_scope == scope:
            curves.setdefault(int(raters), []).append((int(questions), float(reached)))  # type: ignore[arg-type]
    if not curves:
        return None
    figure = go.Figure()
    planned = {one.raters: one for one in plan.plans if one.scope == scope and one.power is not None}
    compared = list(dict.fromkeys(one.raters for one in plan.plans))  # one look in the figures of both scopes
    for raters, points in curves.items():
        at = compared.index(raters)
        colour, name = LOOKS[at % len(LOOKS)][0], f"{raters} raters" if raters > 1 else "1 rater"
        figure.add_scatter(
            x=[n for n, _ in points],
            y=[reached for _, reached in points],
            mode="lines",
            name=name,
            legendgroup=name,
            line={"color": colour, "width": 3, "dash": _DASHES[at % len(_DASHES)]},
            hovertemplate=f"{name}<br>%{{x}} questions: power %{{y:.2f}}<extra></extra>",
        )
        if (one := planned.get(raters)) is not None:
            figure.add_scatter(
                x=[one.questions],
                y=[one.power],
                mode="markers",
                legendgroup=name,
                showlegend=False,
                marker={"color": colour, "size": 10},
                hovertemplate=f"{name}<br>%{{x}} questions, {one.total_votes:,} votes: power %{{y:.2f}}<extra></extra>",
            )
    if plan.options.wanted_power is not None:
        figure.add_hline(y=plan.options.wanted_power, line={"color": LINE, "width": 2, "dash": "dot"})
    figure.update_xaxes(title="questions")
    figure.update_yaxes(title="power", range=[0, 1.02])
    return dressed(figure, height=380, top=70, legend=True)
