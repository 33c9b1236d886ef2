"""Figures that a result declares are drawn from its tables."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from core.analyses.alt_test import ANALYSIS, AltTestOptions, AltTests
from core.plots.drawn import draw
from core.schema.analysis import Answer
from core.schema.figures import Axis, Intervals, Lines, Shares
from core.schema.panel import Panel
from core.schema.result_table import Column, Interval, ResultTable
from core.schema.scores import ScoredRow

HOSTILE = "<b>x</b>"


@pytest.fixture(scope="module")
def answer() -> Answer:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 60)
    given = np.where(
        rng.random((60, 5)) < (0.2, 0.2, 0.3, 0.1, 1), rng.integers(0, 3, (60, 5)), truth[:, None]
    )
    rows = tuple(ScoredRow(f"q{place}", "output") for place in range(60))
    values = given.astype(float)
    panel = Panel(
        rows,
        np.arange(60),
        np.full(60, "output"),
        ("a", "b", "c"),
        values[:, :3],
        (HOSTILE, "y"),
        values[:, 3:],
    )
    return ANALYSIS.answer(AltTestOptions(n_resamples=50), panel)


def drawn(answer: Answer, table: str) -> go.Figure:
    return draw(answer.figures[table], answer.tables)


def test_winning_rates_by_epsilon_and_where_a_judge_passes(answer: Answer) -> None:
    figure, found = drawn(answer, "alt-test-epsilons"), answer.result
    assert isinstance(found, AltTests)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    rates = [tuple(each.winning_rate for each in one.epsilons) for one in found.judges]
    assert [tuple(line.customdata) for line in lines] == rates
    stars = [trace.x[0] for trace in figure.data if trace.mode == "markers"]
    assert stars == [one.passes_from for one in found.judges if one.passes_from is not None]
    assert [shape.x0 for shape in figure.layout.shapes][1] == found.epsilon
    assert "<b>" not in str(lines[0].name)


def test_shares_of_closer_texts(answer: Answer) -> None:
    figure = drawn(answer, "alt-test-raters")
    counts = np.array([trace.customdata for trace in figure.data]).T
    rows = [row for judge in answer.result.judges for row in judge.per_rater]
    assert counts.tolist() == [[one.n_better, one.n_equal, one.n_worse] for one in rows]
    assert np.array([trace.x for trace in figure.data]).sum(axis=0) == pytest.approx(1)


def test_a_long_name_of_a_judge_leaves_the_rater_in_sight(answer: Answer) -> None:
    long = "a-judge-with-a-version-and-a-rubric-v3"
    table = answer.tables["alt-test-raters"]
    named = replace(table, rows=tuple((long if row[0] == "y" else HOSTILE, *row[1:]) for row in table.rows))
    names = draw(answer.figures[table.name], {table.name: named}).layout.yaxis.ticktext
    assert [name.split("<br>")[1] for name in names] == ["against a", "against b", "against c"] * 2
    assert all(len(line) <= 24 for name in names for line in name.split("<br>") if "&lt;" not in line)


def test_one_judge_is_not_named_in_each_row(answer: Answer) -> None:
    table = answer.tables["alt-test-raters"]
    alone = replace(table, rows=tuple(row for row in table.rows if row[0] == "y"))
    assert list(draw(answer.figures[table.name], {table.name: alone}).layout.yaxis.ticktext) == [
        "a",
        "b",
        "c",
    ]


def test_a_figure_of_a_column_that_is_not_there_is_refused(answer: Answer) -> None:
    figure = answer.figures["alt-test-raters"]
    with pytest.raises(KeyError, match="alt-test-raters"):
        draw(replace(figure, parts=("nobody",)), answer.tables)  # type: ignore[call-arg]  # it is one of shares


LINES = Lines(
    table="t", alt="", x="x", y="y", by="name", x_axis=Axis("x"), y_axis=Axis("y"), marked={"a": 1.5}
)


def line_table(*points: tuple[float, float | None]) -> dict[str, ResultTable]:
    columns = (Column("name"), Column("x"), Column("y"))
    return {"t": ResultTable("t", columns, tuple(("a", *point) for point in points))}


@pytest.mark.parametrize(
    ("points", "steps", "height"),
    [
        (((1, 2.0), (2, 4.0)), False, 3),
        (((2, 4.0), (1, 2.0)), False, 3),
        (((1, 2.0), (2, 4.0)), True, 2),
        (((1, None), (2, 4.0)), False, None),
        (((1, 2.0), (2, None)), False, None),
        (((2, 4.0), (3, 4.0)), False, None),
    ],
)
def test_a_mark_between_two_points_is_on_the_line(
    points: tuple[tuple[float, float | None], ...], steps: bool, height: float | None
) -> None:
    figure = draw(replace(LINES, steps=steps), line_table(*points))
    assert figure.data[1].y == (height,)


def test_a_line_with_an_x_twice_keeps_all_its_points() -> None:
    line = draw(LINES, line_table((1, 2.0), (1, 3.0), (2, 4.0))).data[0]
    assert (line.x, line.y, line.customdata) == ((1, 1, 2), (2, 3, 4), (2, 3, 4))


def test_every_panel_has_the_limits() -> None:
    columns = (Column("name"), Column("x"), Column("y"), Column("scope"))
    rows = tuple(("a", x, x * 2.0, scope) for scope in ("these", "all") for x in (1, 2))
    limits = replace(LINES, marked={}, panel="scope", across=3.0, down=1.5)
    shapes = draw(limits, {"t": ResultTable("t", columns, rows)}).layout.shapes
    assert [one.y0 for one in shapes if one.y0 == one.y1] == [3.0, 3.0]
    assert [one.x0 for one in shapes if one.x0 == one.x1] == [1.5, 1.5]


def test_bars_of_one_part_and_of_rows_without_a_count() -> None:
    columns = (Column("name"), Column("n"))
    table = ResultTable("t", columns, (("a", 3), ("b", None), ("c", 0), ("d", 1)))
    figure = draw(Shares(table="t", alt="", parts=("n",), names=("name",)), {"t": table})
    assert [bar.customdata for bar in figure.data] == [(3, 1)]
    assert list(figure.layout.yaxis.ticktext) == ["a", "d"]


def test_intervals_of_one_number_and_rows_without_a_number_are_left_out() -> None:
    cells = (Interval(1.0, 0.5, 2.0), Interval(None, reason="none"), Interval(-1.0))
    rows = tuple((name, cell) for name, cell in zip(("a", "b", HOSTILE), cells, strict=True))
    table = ResultTable("t", (Column("name"), Column("gap")), rows)
    figure = draw(
        Intervals(table="t", alt="", sides=("gap",), names=("name",), axis=Axis("gap"), across=0.0),
        {"t": table},
    )
    (points,) = figure.data
    assert points.x == (1.0, -1.0)
    assert (points.error_x.array, points.error_x.arrayminus) == ((1.0, 0.0), (0.5, 0.0))
    first, second = figure.layout.yaxis.ticktext
    assert (first, "<b>" in second) == ("a", False)
    assert figure.layout.shapes[0].x0 == 0.0


def test_an_axis_may_have_one_end() -> None:
    figure = draw(replace(LINES, y_axis=Axis("y", low=0)), line_table((1, 2.0), (2, 4.0)))
    assert figure.layout.yaxis.range == (0, None)


@pytest.mark.parametrize("tables", [("alt-test", "alt-test"), ("nowhere",)])
def test_a_figure_that_no_door_would_show_is_refused(answer: Answer, tables: tuple[str, ...]) -> None:
    figures = tuple(replace(LINES, table=table) for table in tables)
    toy = replace(answer.analysis, figures=lambda _: figures)
    with pytest.raises(ValueError, match=tables[0]):
        _ = replace(answer, analysis=toy).figures
