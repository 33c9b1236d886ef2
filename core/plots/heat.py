"""Numbers from -1 to 1 as colours: ochre below zero, white at it, blue above it, and the number always written.

Blue and ochre are told apart by people who do not see red or green; black letters are readable on every shade.
"""

from collections.abc import Sequence

import plotly.graph_objects as go

from core.analysis.decimals import decimal
from core.plots.dressing import BLUE, OCHRE, dressed, label, name_rows
from core.plots.families import metric_label

_WHITE = "#ffffff"
SCALE = [[0.0, OCHRE], [0.5, _WHITE], [1.0, BLUE]]
"""Plotly colour scale over -1 ... 1."""
_WIDE, _WIDEST = 8, 20
"""With more columns numbers have two decimals and no zero before the point; with still more they are small."""
_TITLE = 20
"""Pixels of the title above the columns."""
_LETTERS = 100
"""Of all columns' names side by side; with more they stand aslant."""
_ROW_NAME, _COLUMN_NAME = 36, 22
"""Letters of a row's name and of a column's: rows have more room."""


def heat_colour(value: float | None) -> str | None:
    """The colour of a number from -1 to 1, as #rrggbb; None where there is none."""
    if value is None or value != value:
        return None
    end = BLUE if value >= 0 else OCHRE
    share = min(abs(value), 1.0)
    mixed = (
        round(int(_WHITE[at : at + 2], 16) * (1 - share) + int(end[at : at + 2], 16) * share)
        for at in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def heat_map(
    values: Sequence[Sequence[float | None]],
    rows: Sequence[str],
    columns: Sequence[str],
    said: Sequence[Sequence[str]],
    *,
    y: str | None = None,
    x: str | None = None,
) -> go.Figure:
    """Cells of numbers from -1 to 1 with what is `said` of each on hover; undefined cells hold a dash.

    values, said: shape (rows, columns). Names and `said` are plain text and are escaped here; `said` may hold
    several lines.
    """
    short = len(columns) > _WIDE
    heads = [metric_label(name, _COLUMN_NAME) for name in columns]
    longest = max(map(len, heads), default=0)
    aslant = len(heads) * longest > _LETTERS
    figure = go.Figure(
        go.Heatmap(
            z=[list(line) for line in values],
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            zmin=-1,
            zmax=1,
            colorscale=SCALE,
            showscale=False,
            xgap=1,
            ygap=1,
            text=[[written(value, short=short) for value in line] for line in values],
            texttemplate="%{text}",
            textfont={"color": "black", "size": 9 if len(columns) > _WIDEST else 12},
            customdata=[["<br>".join(map(_whole, one.split("\n"))) for one in line] for line in said],
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=True,
        )
    )
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            if value is None:
                figure.add_annotation(x=column, y=row, text="–", showarrow=False)
    figure.update_xaxes(
        tickvals=list(range(len(columns))),
        ticktext=heads,
        title=x,
        side="top",
        showgrid=False,
        tickangle=-60 if aslant else 0,
    )
    name_rows(figure, [metric_label(name, _ROW_NAME) for name in rows], y)
    # A low figure has no room to move its title away from the names by itself.
    top = (30 + 6 * longest if aslant else 30) + (_TITLE if x else 0)
    dressed(figure, height=top + 40 + 26 * len(rows), top=top)
    # Names that stand aslant reach beyond the last column.
    return figure.update_layout(margin_r=20 + 3 * longest if aslant else 15)


def written(value: float | None, *, short: bool = False) -> str:
    """A number as a cell has it: three decimals, or two without the zero before the point."""
    if value is None:
        return ""
    if not short:
        return decimal(value)
    two = decimal(value, 2)
    return two.replace("0.", ".", 1) if abs(value) < 0.995 else two


def _whole(text: str) -> str:
    return label(text, longest=80)
