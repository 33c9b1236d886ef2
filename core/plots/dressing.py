"""Shared parts of figures: colours, labels, rows, names of points, estimates in words, heat maps, marks of metric families."""

import math
import re
from collections.abc import Iterable, Sequence
from html import escape, unescape
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.results.cells import decimal, fitted
from core.stats.resampling import Estimate

Ends = tuple[float | None, float | None, float | None]
"""Low, value, high; None where there is none."""

BLUE, OCHRE, PALE, DARK, VIOLET = "#3d7fd0", "#d9982b", "#b9bfc7", "#727b87", "#9467bd"
LINE = "rgba(128, 128, 128, 0.9)"
GRID = "rgba(128, 128, 128, 0.25)"
CLEAR = "rgba(0, 0, 0, 0)"
_LONGEST = 22
_PANEL, _PANEL_SIZE, _PANEL_LINE = 20, 13, 17
"""Title of a panel beside another on a phone: letters per line, font size, pixels per line."""


_AXIS = 28
"""Letters per line of an x axis' title, for half the width of a phone."""
_ROW_NAME = 24
"""Letters per line of a row's name."""


def label(text: str, *, longest: int = _LONGEST) -> str:
    """Escape and shorten user text for a plotly label."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return escape(short, quote=False)


def wrapped(text: str, *, letters: int) -> str:
    """Escape user text and break it into lines, at blanks and hyphens where possible."""
    lines = [""]
    for piece in re.findall(r"[^\s_-]+[\s_-]*|[\s_-]+", text):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > letters:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > letters:
            lines[-1:] = [lines[-1][:letters], lines[-1][letters:]]
    return "<br>".join(escape(line.rstrip(), quote=False) for line in lines)


def panels(
    titles: Sequence[str], *, columns: int, room: int, between: int, top: int, **shared: Any
) -> tuple[go.Figure, int, int]:
    """Return panels whose titles fit side by side on a phone, with height and top margin for `dressed`.

    titles: plain texts, wrapped here. room: pixels of one panel. between: pixels of axis and one-line title between two
    rows. top: pixels above the first row. shared: further arguments of make_subplots.
    """
    lines = [wrapped(title, letters=_PANEL) for title in titles]
    further = _PANEL_LINE * max((line.count("<br>") for line in lines), default=0)
    rows = max(1, -(-len(titles) // columns))
    height = rows * room + (rows - 1) * (between + further)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=lines,
        vertical_spacing=(between + further) / height if rows > 1 else 0,
        **shared,
    )
    figure.update_annotations(font={"size": _PANEL_SIZE})
    return figure, height + between + top + further, top + further


POINT_FONT = 11
"""Size of a point's name; a letter takes about half of it across."""
_NEXT_TO = {
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top center": (0, 1),
    "bottom center": (0, -1),
    "top right": (1, 1),
    "bottom right": (1, -1),
    "top left": (-1, 1),
    "bottom left": (-1, -1),
}
"""Where a name may stand beside its point -> the direction."""
_Box = tuple[float, float, float, float]
"""Left, bottom, right, top in pixels."""


def point_names(
    points: Sequence[tuple[float, float]], names: Sequence[str], room: tuple[float, float], size: float
) -> list[tuple[str, str]]:
    """Return a name and a plotly text position for each point, so that no name covers another name or a point.

    A point in a crowd has no free place: its name is empty, and hovering shows it. points: x and y from 0 to 1 within the
    axes. room: width and height of the axes in pixels, at least. size: of a point in pixels.
    """
    half = size / 2
    middles = [(x * room[0], y * room[1]) for x, y in points]
    taken: list[_Box] = [(x - half, y - half, x + half, y + half) for x, y in middles]
    found = []
    for (x, y), name in zip(middles, names, strict=True):
        wide, high = 0.56 * POINT_FONT * len(unescape(name)), 1.1 * POINT_FONT
        for place, (right, up) in _NEXT_TO.items():
            left = x + right * (half + 2) - wide * (1 - right) / 2
            bottom = y + up * (half + 1) - high * (1 - up) / 2
            box = (left, bottom, left + wide, bottom + high)
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= room[0] and box[3] <= room[1]
            own = (x - half, y - half, x + half, y + half)
            if inside and not any(_overlap(box, other) for other in taken if other != own):
                taken.append(box)
                found.append((name, place))
                break
        else:
            found.append(("", "middle right"))
    return found


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def stretched(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of the values with room for points and their names; 0 to 1 without values."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.12 * (high - low) or 0.1
    return low - room, high + room


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """Return ticks at 1, 2 and 5 times powers of ten for a logarithmic axis from 10**low to 10**high, written plainly.

    Over more than three powers only these themselves.
    """
    steps = (1, 2, 5) if high - low <= 3 else (1,)
    marks = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    seen = [mark for mark in marks if 10**low <= mark <= 10**high]
    return {"tickvals": seen, "ticktext": [f"{mark:,.10g}" for mark in seen]}


def whiskers(ends: Sequence[Ends]) -> dict[str, Any]:
    """Return the distances from each value to the ends of its interval, 0 without an interval."""
    reach = [
        (0.0, 0.0) if low is None or value is None or high is None else (value - low, high - value)
        for low, value, high in ends
    ]
    return {
        "type": "data",
        "symmetric": False,
        "array": [up for _, up in reach],
        "arrayminus": [down for down, _ in reach],
        "thickness": 2,
        "width": 5,
    }


def ends_of(estimate: Estimate | None) -> Ends:
    """Return the (low, value, high) of an estimate, for `whiskers`."""
    return (None, None, None) if estimate is None else (estimate.low, estimate.estimate, estimate.high)


def interval_said(estimate: Estimate) -> str:
    """Write an estimate with its interval and n, for a hover text."""
    return value_said(estimate) if estimate.estimate is None else f"{value_said(estimate)}, n {estimate.n}"


def value_said(estimate: Estimate) -> str:
    """Write an estimate with its interval, or why it is undefined."""
    if estimate.estimate is None:
        return f"undefined: {estimate.reason}"
    return ends_said(estimate.low, estimate.estimate, estimate.high, estimate.n)


def ends_said(low: float | None, value: float, high: float | None, n: int | None) -> str:
    """Write a number with its interval, with the decimals that both support."""
    places = fitted(value, low, high, n, 3)
    ends = (
        "no interval" if low is None or high is None else f"[{decimal(low, places)}, {decimal(high, places)}]"
    )
    return f"{decimal(value, places)} {ends}"


def row_name(text: str) -> str:
    """Break a row's name into lines that leave half the width of a phone for the figure."""
    return wrapped(text, letters=_ROW_NAME)


def name_rows(figure: go.Figure, labels: Sequence[str], title: str | None) -> None:
    """Name the rows 0, 1, ... from the top."""
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        range=[len(labels) - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
        title=title,
    )


def dressed(figure: go.Figure, *, height: int, top: int, legend: bool = False) -> go.Figure:
    """Give a figure a clear background, a height, and room above for a legend."""
    for axis in figure.select_xaxes(lambda one: one.title.text and "<br>" not in one.title.text):
        axis.title.text = wrapped(unescape(axis.title.text), letters=_AXIS)
    figure.update_xaxes(gridcolor=GRID, zeroline=False, automargin=True)
    figure.update_yaxes(automargin=True)
    return figure.update_layout(
        height=height,
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        margin={"l": 10, "r": 15, "t": top, "b": 10},
        showlegend=legend,
        legend={
            "orientation": "h",
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "xref": "container",
            "x": 0,
            "title": "",
        },
        dragmode=False,
        hovermode="closest",
    )


Mark = tuple[str, str]
"""Colour and plotly symbol."""

LOOKS: tuple[Mark, ...] = (
    (BLUE, "circle"),
    (OCHRE, "square"),
    ("#009e73", "diamond"),
    ("#cc79a7", "triangle-up"),
    (VIOLET, "cross"),
    ("#56b4e9", "triangle-down"),
    ("#d55e00", "star"),
    (DARK, "x"),
)
"""Okabe and Ito's colours and our own, distinct for people who do not see red or green."""
_FAMILIES = ("BLEU", "chrF", "ROUGE", "METEOR", "BERTScore", "COMET", "BLEURT", "NLI")
_MARKS: dict[str, Mark] = dict(zip(_FAMILIES, LOOKS, strict=True))
_FURTHER: tuple[Mark, ...] = (
    (DARK, "hexagon"),
    (BLUE, "star-diamond"),
    (OCHRE, "pentagon"),
    (VIOLET, "bowtie"),
    ("#009e73", "hourglass"),
    ("#d55e00", "hexagram"),
)
"""For other families of metrics, in order of appearance."""


def shortened(name: str, longest: int) -> str:
    """Shorten a long name in its middle, because both ends distinguish it from others."""
    if len(name) <= longest:
        return name
    tail = longest // 3
    return f"{name[: longest - tail - 1]}…{name[-tail:]}"


def metric_label(name: str, longest: int) -> str:
    """Escape and shorten a metric's name for a plotly label."""
    return label(shortened(name, longest), longest=longest)


def marks(families: Iterable[str]) -> dict[str, Mark]:
    """Return a mark for each family: always the same for those of Meta-Judge, in order of appearance for others."""
    found: dict[str, Mark] = {}
    for family in dict.fromkeys(families):
        others = sum(name not in _MARKS for name in found)
        found[family] = _MARKS.get(family, _FURTHER[others % len(_FURTHER)])
    return found


_WHITE = "#ffffff"
SCALE = [[0.0, OCHRE], [0.5, _WHITE], [1.0, BLUE]]
"""Plotly colour scale over -1 ... 1."""
_WIDE, _WIDEST = 8, 20
"""With more columns, numbers have two decimals and no leading zero; with still more, small letters."""
_TITLE = 20
"""Pixels of the title above the columns."""
_LETTERS = 34
"""Letters of all column names together that fit beside each other on a phone; more are slanted."""
_HEAT_ROW_NAME, _COLUMN_NAME, _SAID = 36, 22, 80
"""Letters of a row's name, a column's name, and a line on hover."""


def faint(colour: str) -> str:
    """A colour as `#rrggbb`, half as strong, for what stands behind dots and names."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.4)"


_HEAT = (OCHRE, _WHITE, BLUE, "#000000"), ("#7d5510", "#0e1117", "#1f5596", "#ffffff")
"""Colours of -1, 0 and 1 and of the letters on them, on a light page and on a dark one."""


def heat_letters(*, dark: bool = False) -> str:
    """Return the colour of letters on `heat_colour`, as #rrggbb."""
    return _HEAT[dark][3]


def heat_colour(value: float | None, *, dark: bool = False) -> str | None:
    """Return the colour of a number from -1 to 1 as #rrggbb; None for an undefined one."""
    if value is None or value != value:
        return None
    low, middle, high, _ = _HEAT[dark]
    end = high if value >= 0 else low
    share = min(abs(value), 1.0)
    mixed = (
        round(int(middle[at : at + 2], 16) * (1 - share) + int(end[at : at + 2], 16) * share)
        for at in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)


def heat_map(
    values: Sequence[Sequence[float | None]],
    rows: Sequence[str],
    columns: Sequence[str],
    hover_texts: Sequence[Sequence[str]],
    *,
    y: str | None = None,
    x: str | None = None,
) -> go.Figure:
    """Draw numbers from -1 to 1 as a heat map with a text per cell on hover; undefined cells have a dash.

    values, said (the hover texts): shape (rows, columns). Names and texts are escaped here; texts may have several lines.
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
            customdata=[
                ["<br>".join(label(part, longest=_SAID) for part in one.split("\n")) for one in line]
                for line in hover_texts
            ],
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
    name_rows(figure, [metric_label(name, _HEAT_ROW_NAME) for name in rows], y)
    # A low figure has no room to move its title away from the names.
    top = (30 + 6 * longest if aslant else 30) + (_TITLE if x else 0)
    dressed(figure, height=top + 40 + 26 * len(rows), top=top)
    # Slanted names reach beyond the last column.
    return figure.update_layout(margin_r=20 + 3 * longest if aslant else 15)


def written(value: float | None, *, short: bool = False) -> str:
    """Write the number of a cell: three decimals, or two without the leading zero."""
    if value is None:
        return ""
    if not short:
        return decimal(value)
    two = decimal(value, 2)
    return two.replace("0.", ".", 1) if abs(value) < 0.995 else two
