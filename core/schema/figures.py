"""Figures of a result as data: which columns of which of its tables are drawn, and how. `core.plots` draws them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, floor

from core.schema.result_table import Interval


@dataclass(frozen=True)
class Axis:
    """An axis of a figure."""

    title: str
    low: float | None = None
    """Its ends; None: as the numbers are."""
    high: float | None = None
    percent: bool = False
    """Whether its ticks are percentages."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What every figure says."""

    table: str
    """The table that it draws, by its name."""
    alt: str
    """Describes it for people who cannot see it."""
    instead: bool = False
    """Whether it says all that the table says, so that a page folds the table."""


@dataclass(frozen=True, kw_only=True)
class Lines(Figure):
    """A line for each name in a column; an undefined number interrupts it."""

    x: str
    """Columns: of the numbers on both axes, and of the names of the lines."""
    y: str
    by: str
    x_axis: Axis
    y_axis: Axis
    steps: bool = False
    """Whether a value holds up to the next x."""
    across: float | None = None
    """Where on y a dotted line marks a limit."""
    down: float | None = None
    """Where on x a line marks what is in use."""
    marked: Mapping[str, float] = field(default_factory=dict)
    """Name of a line -> x of a mark on it."""
    mark: str = ""
    """What the marks mean, before the x: `passes from`."""
    panel: str = ""
    """Column of which each value has a panel; a name has one look in all of them. Marks are for a figure without panels."""


@dataclass(frozen=True, kw_only=True)
class Shares(Figure):
    """A bar for each row, cut into the shares of several counts."""

    parts: tuple[str, ...]
    """Columns of the counts, from left to right."""
    names: tuple[str, ...]
    """Columns that name a row. One that is the same in all rows is left out if there are several."""
    joint: str = ""
    """Word before the last name where a row has several names: `against`."""
    of: str = "rows"
    """What is counted, a plural."""


@dataclass(frozen=True, kw_only=True)
class Intervals(Figure):
    """One number or several with their intervals for each row, one above the other; a row without any is left out."""

    sides: tuple[str, ...]
    """Columns of the numbers, the plainest first: the last is the one to look at."""
    names: tuple[str, ...]
    """Columns that name a row. One that is the same in all rows is left out if there are several."""
    joint: str = ""
    """Word before the last name where a row has several names."""
    axis: Axis
    across: float | None = None
    """Where a line stands that numbers are compared with, such as 0."""
    panel: str = ""
    """Column of which each value has a panel with an axis of its own, as of numbers on several scales; only with one side."""
    by: str = ""
    """With panels: column of which each value has a colour and a symbol; empty: the first that names a row."""
    values: tuple[str, ...] = ()
    """Its values in the order of the colours; empty: that of the table."""
    around: str = ""
    """With panels: column that says how far from 0 chance may lead; a grey bar reaches so far on both sides."""


@dataclass(frozen=True, kw_only=True)
class Dots(Figure):
    """A dot for each row with two numbers, and thin bars for the intervals that they have; a row without both is left out."""

    x: str
    """Columns of the numbers on both axes."""
    y: str
    names: tuple[str, ...]
    """Columns that name a row. One that is the same in all rows is left out if there are several."""
    by: str
    """Column of which each value has a colour and a symbol."""
    x_axis: Axis
    y_axis: Axis
    title: str = ""
    """What the dots show together."""
    lines: tuple[str, ...] = ()
    """What stands below the title, such as intervals."""
    across: float | None = None
    """Where on y a dotted line marks a limit."""
    down: float | None = None
    """Where on x."""
    marked: int | None = None
    """Place of a row in the table whose dot has a ring; None: none has."""


@dataclass(frozen=True, kw_only=True)
class Heat(Figure):
    """A coloured cell for each row of the table, with a number from -1 to 1; an undefined number is a dash."""

    value: str
    """Column of the numbers."""
    row: str
    """Column that names the line of a cell."""
    columns: tuple[str, ...]
    """Columns that name, together, its column; none: there is one."""
    row_title: str
    column_title: str
    also: Mapping[str, str] = field(default_factory=dict)
    """Further columns of numbers, one of which a page draws in place of `value` if its reader wants -> what then describes it."""


@dataclass(frozen=True, kw_only=True)
class Stacked(Figure):
    """A bar for each name in a column, cut into a part for each row with that name."""

    numbers: tuple[str, ...]
    """Columns whose sum is the length of a part; an undefined number counts as 0."""
    bars: str
    """Columns: of the names of the bars, and of those of their parts."""
    parts: str
    without: str = ""
    """Name of a part that is not drawn, because it is the sum of the others."""
    axis: Axis
    of: str
    """What the numbers count, a plural."""


_STEP, _EDGE = 0.25, 0.02


def steady_axis(title: str, numbers: Iterable[Interval], least: float) -> Axis:
    """An axis from one multiple of a quarter to another, so that it rarely moves while scores come in.

    It holds every number and interval, at most 1. least: the smallest value that a number can have.
    """
    ends = [end for one in numbers for end in (one.value, one.low, one.high) if end is not None]
    low = max(floor((min(ends, default=least) - _EDGE) / _STEP) * _STEP, least)
    high = min(ceil((max(ends, default=1.0) + _EDGE) / _STEP) * _STEP, 1.0)
    return Axis(title, low - _EDGE, high + _EDGE)


AnyFigure = Lines | Shares | Intervals | Dots | Stacked | Heat
