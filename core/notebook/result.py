"""The result of every analysis: sentences, tables as data frames, and the documented JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.joining.choices import check_names
from core.report import ENDINGS, file_of, frame_of, headings, lines, notes, terminal_lines
from core.schema.result_table import ResultTable
from core.tables.files import write_file

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """The result of an analysis. A notebook displays its sentences, its main table and the notes below.

    The display rounds and shows the columns that readers need. `frame` has every column and every digit.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics="chrf-6-0")
    >>> found = assay.correlate(scores, with_="level")
    >>> found.names
    ['correlations']
    >>> found.frame[["metric", "n"]].to_dict("records")
    [{'metric': 'chrf-6-0', 'n': 140}]
    """

    sentences: tuple[str, ...]
    """What the command prints before its tables: what was compared, verdict, warnings."""
    tables: tuple[ResultTable, ...]
    """Every table, the main one first. `result[name]` is easier to use."""
    json: Any
    """What the command prints with `--json`, described in docs/results.md or docs/formats.md."""
    verdict: str = ""
    """The answer in one line, if the analysis gives one; it is among the sentences too."""

    @property
    def sentence(self) -> str:
        """The first sentence: of an analysis with a verdict, the verdict and why; empty without sentences."""
        return next(iter(self.sentences), "")

    @property
    def frame(self) -> pd.DataFrame:
        """The main table, as the command writes it to a CSV file: an interval is `name`, `name_low`, `name_high` ...

        `frame.attrs` holds the notes.
        """
        frame = frame_of(self.tables[0])
        frame.attrs = {"notes": list(self.notes)}
        return frame

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the main table: how intervals were made, what is undefined or left out, and why."""
        return tuple(notes(self.tables[0]))

    @property
    def names(self) -> list[str]:
        """The names of all tables, as for the command's `--table`."""
        return [table.name for table in self.tables]

    def __getitem__(self, name: str) -> Result:
        """Return the result with only the table of this name. Raises InputError for an unknown name."""
        check_names("table", [str(name)], self.names)
        table = self.tables[self.names.index(name)]
        return Result((), (table,), self.json)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a file as the command's ``--out`` does; its ending chooses the format. An existing file is replaced.

        Parameters
        ----------
        path
            ``.csv``: the main table with every digit. ``.md``, ``.tex`` (package booktabs): the sentences and all tables,
            rounded. ``.json``: what the command prints with ``--json``. ``result[name].write`` writes one table.

        Raises
        ------
        InputError
            For another ending, and if the file cannot be written.

        Examples
        --------
        >>> import assay
        >>> found = assay.meta_correlate("published:cus-qa-cs", "published:cus-qa-cs:qwen-3-30b:zero")
        >>> found["without-family"].write("table.tex")  # doctest: +SKIP
        """
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"path: {path!r} is not the path of a file.")
        out = Path(os.fspath(path))
        ending = out.suffix.lower()
        if ending not in ENDINGS:
            raise InputError(f"path: {out} does not end in one of {', '.join(ENDINGS)}.")
        write_file(out, file_of(ending, self.json, [*self.sentences, *self.tables]))

    def __repr__(self) -> str:
        """Return what the command prints, with the main table only."""
        return "\n".join([*self.sentences, *terminal_lines(self.tables[0]), *self._others()])

    def _repr_html_(self) -> str:
        """Return the display of a notebook."""
        said = "<br>".join(escape(one) for one in self.sentences if one)
        below = "<br>".join(escape(one) for one in [*self.notes, *self._others()])
        parts = [f"<p>{said}</p>" if said else "", _html(self.tables[0])]
        return "".join([*parts, f"<p><small>{below}</small></p>" if below else ""])

    def _others(self) -> list[str]:
        names = ", ".join(self.names[1:])
        return [f"Further tables: {names}. Show one with result[name]."] if names else []


def _html(table: ResultTable) -> str:
    """Return a table of what readers see, in the style of pandas. The ends of an interval stay on its line."""
    title = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    head = "".join(f"<th>{escape(one)}</th>" for one in headings(table))
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(_joined(cell))}</td>' for cell in row)}</tr>" for row in lines(table)
    )
    body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return (
        f'<table border="1" class="dataframe">{title}{body}</table>'
        if table.rows
        else f"<p>{escape(table.title)}</p>"
    )


def _joined(cell: str) -> str:
    return cell.replace(" ", "\u00a0") if cell.endswith("]") else cell


def result_of(
    parts: Sequence[str | ResultTable],
    as_json: Any,
    further: Sequence[ResultTable] = (),
    verdict: str = "",
) -> Result:
    """Build a result. parts: what the command prints; further: tables that it writes to files only."""
    sentences = tuple(one for one in parts if isinstance(one, str))
    tables = tuple(one for one in parts if not isinstance(one, str))
    return Result(sentences, (*tables, *further), as_json, verdict)


def plot(result: Result, column: str | None = None, against: str | None = None) -> go.Figure:
    """Draw the numbers of a result's main table with their intervals, one row of the table a row of the figure.

    Parameters
    ----------
    result
        Of any analysis, or one of its tables: ``plot(result["agreement"])``.
    column
        Column of numbers to draw, as the display or the frame calls it. Default: the first one with intervals, else the
        first one of numbers.
    against
        A second column of numbers, for the x axis, such as the size of models or a price. Default: none.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    InputError
        If the table has no such column, or no numbers.

    Notes
    -----
    Misleads: intervals that overlap do not show that two metrics are alike. ``rank`` tests the difference on the same
    texts.

    Examples
    --------
    >>> import assay
    >>> scores = assay.read("data/demo/answers.csv").pipe(assay.score, metrics="chrf-6-0")
    >>> figure = assay.plot(assay.correlate(scores, with_="level"), "spearman")
    >>> figure.layout.xaxis.title.text
    'Spearman'
    """
    if not isinstance(result, Result):
        raise InputError(
            f"result: {type(result).__name__} is not the result of an analysis. Pass what correlate, rank or another "
            "analysis returned, or one of its tables: result[name]."
        )
    if not isinstance(column, str | None):
        raise InputError(f"column: {column!r} is not the name of a column.")
    if not isinstance(against, str | None):
        raise InputError(f"against: {against!r} is not the name of a column.")
    from core.plots import tables  # loads plotly

    if against is not None:
        return tables.column_against(result.tables[0], column, against)
    return tables.dots(result.tables[0], column)
