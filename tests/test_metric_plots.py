"""What a figure of scores draws is what the result says; colours say the sign, and a user's names are no HTML."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from core.analyses.meta_correlate import (
    ANALYSIS,
    MetaCorrelateOptions,
    MetaCorrelations,
    meta_title,
    result_of_matrix,
    result_of_pair,
)
from core.plots import metrics as plots
from core.plots.drawn import draw
from core.plots.dressing import (
    dressed,
    heat_colour,
    interval_said,
    marks,
    point_names,
    shortened,
    wrapped,
    written,
)
from core.results.correlations.levels import MetricByLevel
from core.results.correlations.points import Points
from core.results.correlations.ranking import Ranking
from core.results.correlations.table import (
    ALL_TEXTS,
    CorrelationReport,
    MetricCorrelation,
    Pooled,
    View,
    grid,
    group_table,
)
from core.results.meta_correlation import Matrix, MatrixCell, MetaCorrelation, Point
from core.schema.analysis import Answer
from core.schema.correlating import CorrelateOptions
from core.schema.scores import Metric
from core.stats.resampling import Estimate

HOSTILE = '<a href="http://outside.invalid">x</a> & $y$'


def found(value: float | None, reach: float | None = 0.1, n: int = 28) -> Estimate:
    low, high = (None, None) if value is None or reach is None else (value - reach, value + reach)
    return Estimate(value, low, high, n, None if value is not None else "all scores are equal", 0, 1000, 0.95)


def meta(over_items: Estimate | None = None, **changed: Any) -> MetaCorrelation:
    points = (
        Point("bleu-1", "BLEU", 0.5, 0.4),
        Point("bleu-2", "BLEU", 0.45, 0.3),
        Point("chrf-6-2", "chrF", 0.6, 0.7),
        Point(HOSTILE, HOSTILE, -0.2, 0.1),
    )
    values: dict[str, Any] = {
        "method": "spearman",
        "over_metrics": found(0.8),
        "over_items": over_items,
        "p_one_sided": 0.1,
        "p_two_sided": 0.2,
        "points": points,
        "dropped": {},
        "without_family": {},
        "human": HOSTILE,
        "synthetic": "run 1",
    }
    return MetaCorrelation(**(values | changed))


OPTIONS = MetaCorrelateOptions()


def drawn_of(result: MetaCorrelations, table: str) -> go.Figure:
    answer = Answer(ANALYSIS, OPTIONS, result)
    return draw(answer.figures[table], answer.tables)


def scatter_of(found: MetaCorrelation) -> go.Figure:
    return drawn_of(result_of_pair(found, OPTIONS), "meta-correlation")


def title_of(found: MetaCorrelation) -> str:
    return "\n".join(meta_title(found))


def texts_of(figure: go.Figure) -> list[str]:
    """All that plotly would read as HTML."""
    texts = [str(figure.layout.title.text or "")]
    texts += [str(axis.title.text or "") for axis in (figure.layout.xaxis, figure.layout.yaxis)]
    texts += [
        str(tick) for axis in (figure.layout.xaxis, figure.layout.yaxis) for tick in axis.ticktext or ()
    ]
    texts += [annotation.text for annotation in figure.layout.annotations]
    for trace in figure.data:
        texts += [str(trace.name or ""), str(trace.hovertemplate or "")]
        for part in (trace.text, trace.customdata, trace.x):
            texts += [str(part)] if part is not None else []
    return texts


def no_html_of_a_user(figure: go.Figure) -> None:
    assert not [text for text in texts_of(figure) if "<a" in text]


def test_the_scatter_has_a_point_a_metric_at_its_two_correlations() -> None:
    figure = scatter_of(meta())
    drawn = {
        (text, x, y)
        for trace in figure.data
        for text, x, y in zip(trace.hovertext, trace.x, trace.y, strict=True)
    }
    assert {("bleu-1", 0.5, 0.4), ("bleu-2", 0.45, 0.3), ("chrf-6-2", 0.6, 0.7)} < drawn
    assert len(drawn) == 4
    looks = [(trace.marker.color, trace.marker.symbol) for trace in figure.data]
    assert len({color for color, _ in looks}) == len({symbol for _, symbol in looks}) == 3
    assert all("human %{x" in trace.hovertemplate for trace in figure.data)
    no_html_of_a_user(figure)


def test_points_close_together_do_not_fill_the_scatter() -> None:
    near = (Point("bleu-1", "BLEU", 0.5, 0.70), Point("bleu-2", "BLEU", 0.3, 0.71))
    figure = scatter_of(meta(points=near))
    low, high = figure.layout.yaxis.range
    assert high - low < 1
    assert low < 0.70 < 0.71 < high
    low, high = figure.layout.xaxis.range
    assert low < 0.3 < 0.5 < high
    assert not figure.layout.shapes, "no line at zero where no point is near it"


def test_long_names_of_metrics_lose_their_middle() -> None:
    assert shortened("bleu-1", 10) == "bleu-1"
    long = [shortened("a/path/to/some/model-" + end, 16) for end in ("base", "large")]
    assert long == ["a/path/to/…-base", "a/path/to/…large"]


def test_the_title_says_the_estimate_with_both_intervals() -> None:
    title = title_of(meta(found(0.75, 0.05)))
    assert title.startswith("Meta-correlation 0.80 (Spearman, 4 metrics)")
    for part in ("0.80", "4 metrics", "[0.70, 0.90] over metrics", "[0.70, 0.80] over items"):
        assert part in title
    fixed = title_of(meta())
    assert "over items" not in fixed, "no side is live"
    assert "no interval" in title_of(meta(over_metrics=found(0.5, None)))
    undefined = title_of(meta(over_metrics=found(None), points=()))
    assert undefined == "Meta-correlation undefined: all scores are equal"


def test_known_families_always_look_the_same() -> None:
    known = ("BLEU", "chrF", "ROUGE", "METEOR", "BERTScore", "COMET", "BLEURT", "NLI")
    alone = [marks([family])[family] for family in known]
    assert list(marks(reversed(known)).values())[::-1] == alone
    assert len({color for color, _ in alone}) == len({symbol for _, symbol in alone}) == len(known)
    assert len(set(marks(["mine", "yours", "theirs"]).values())) == 3


@pytest.mark.parametrize(
    ("value", "colour"),
    [(0.0, "#ffffff"), (1.0, "#3d7fd0"), (-1.0, "#d9982b"), (0.5, "#9ebfe8"), (2.0, "#3d7fd0"), (None, None)],
)
def test_heat_is_white_at_zero_blue_above_and_ochre_below(value: float | None, colour: str | None) -> None:
    assert heat_colour(value) == colour
    assert heat_colour(float("nan")) is None


def test_black_letters_are_readable_on_every_shade() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for step in range(-20, 21):
        colour = heat_colour(step / 20)
        assert colour is not None
        assert (luminance(colour) + 0.05) / 0.05 >= 4.5, "WCAG AA for small letters"


@pytest.mark.parametrize(
    ("value", "long", "short"),
    [
        (0.1234, "0.123", ".12"),
        (-0.0001, "0.000", ".00"),
        (1.0, "1.000", "1.00"),
        (-0.456, "-0.456", "-.46"),
        (0.999, "0.999", "1.00"),
    ],
)
def test_numbers_in_cells(value: float, long: str, short: str) -> None:
    assert (written(value), written(value, short=True)) == (long, short)
    assert written(None) == ""


def test_redundancy_writes_every_number_and_a_dash_where_there_is_none() -> None:
    figure = plots.redundancy(("a", HOSTILE), ((1.0, None), (None, 1.0)), ((9, 8), (8, 9)))
    cells, marks = figure.data
    assert [list(line) for line in cells.text] == [["1.000", ""], ["", "1.000"]]
    assert [tuple(one) for one in marks.customdata] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert list(zip(marks.y, marks.x, strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [(note.x, note.y, note.text) for note in figure.layout.annotations] == [(1, 0, "–"), (0, 1, "–")]
    assert "n 8" in cells.customdata[0][1]
    assert "undefined" in cells.customdata[0][1]
    no_html_of_a_user(figure)


def correlation(name: str, value: float | None) -> MetricCorrelation:
    one = found(value)
    return MetricCorrelation(
        {"metric": name},
        Metric(name, "", "BLEU"),
        "-level",
        10,
        {},
        {"pearson": Pooled(one, one, None)},
        {},
        {},
        None,
        {},
    )


def test_the_ranking_draws_metrics_in_order_and_tells_clusters_apart() -> None:
    report = CorrelationReport(
        (correlation("b", 0.3), correlation(HOSTILE, 0.9), correlation("c", None)),
        "-level",
        CorrelateOptions(),
    )
    ranking = Ranking("pearson", (HOSTILE, "b"), {HOSTILE: 1, "b": 2}, (), {"c": "all scores are equal"})
    figure = plots.metric_ranking(report, ranking)
    (trace,) = figure.data
    assert (tuple(trace.x), tuple(trace.y), tuple(trace.customdata)) == ((0.9, 0.3), (0, 1), (0, 1))
    assert tuple(trace.error_x.array) == pytest.approx((0.1, 0.1))
    bands = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert [(band.y0, band.y1) for band in bands] == [(0.5, 1.5)], "behind the second cluster"
    assert figure.layout.yaxis.ticktext[1] == "2  b"
    no_html_of_a_user(figure)


def by_level(name: str) -> MetricByLevel:
    means = {"0": found(0.9), "1": found(None), HOSTILE: found(0.4)}
    return MetricByLevel(name, "BLEU", means, found(0.5), found(0.4), {}, ())


def test_levels_have_a_panel_a_metric_and_leave_out_what_is_undefined() -> None:
    figure = plots.scores_by_level([by_level("bleu-1"), by_level(HOSTILE)])
    assert len(figure.data) == 2
    for trace in figure.data:
        assert tuple(trace.y) == (0.9, 0.4)
        assert trace.x[0] == "0"
    assert list(figure.layout.xaxis.categoryarray)[:2] == ["0", "1"], "an undefined level keeps its place"
    no_html_of_a_user(figure)


def test_the_matrix_has_a_cell_for_each_combination() -> None:
    cells = (
        MatrixCell({"dataset": "d1", "generator": "g1", "shots": "few"}, meta()),
        MatrixCell({"dataset": "d1", "generator": HOSTILE, "shots": "few"}, None, "no metric is left"),
        MatrixCell({"dataset": HOSTILE, "generator": "g1", "shots": "few"}, meta(over_metrics=found(None))),
    )
    figure = drawn_of(result_of_matrix(Matrix(cells), {}, "s", OPTIONS), "meta-matrix")
    (heat,) = figure.data
    assert [list(line) for line in heat.z] == [[0.8, None], [None, None]]
    assert "no metric is left" in heat.customdata[0][1]
    assert "no data" in heat.customdata[1][1]
    no_html_of_a_user(figure)


def test_a_published_table_says_interval_and_error_on_hover() -> None:
    rows = [
        {"model": "m", "pearson": -0.6, "pearson_low": -0.7, "pearson_high": -0.5, "error": None},
        {"model": "n", "pearson": None, "pearson_low": None, "pearson_high": None, "error": "printed twice"},
    ]
    (heat,) = plots.published_heat(rows, ("model",), ("pearson",)).data
    assert [list(line) for line in heat.z] == [[-0.6], [None]]
    assert heat.customdata[0][0] == "m<br>pearson -0.6<br>low -0.7<br>high -0.5"
    assert "printed twice" in heat.customdata[1][0]


def test_no_figure_writes_a_minus_before_a_zero() -> None:
    tiny = Estimate(-0.0001, -0.0004, 0.2, 9, None, 0, 1000, 0.95)
    assert interval_said(tiny) == "0.00 [0.00, 0.20], n 9"
    title = title_of(meta(over_metrics=tiny, over_items=tiny))
    assert title.startswith("Meta-correlation 0.00 ")
    assert "-0.00" not in title
    assert "0.000" in plots.redundancy(("a",), ((-0.0001,),)).data[0].customdata[0][0]
    assert "-0.000" not in str(plots.redundancy(("a",), ((-0.0001,),)).data[0].customdata)


LONG = "cross-examination-SmolLM2-135M-precision"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("bleu-4", ["bleu-4"]),
        (LONG, ["cross-examination-", "SmolLM2-135M-", "precision"]),
        ("scores mapped, on unseen items", ["scores mapped, on", "unseen items"]),
        ("x" * 45, ["x" * 20, "x" * 20, "x" * 5]),
        ("a&b <i> " + "y" * 18, ["a&amp;b &lt;i&gt;", "y" * 18]),
        ("", [""]),
    ],
)
def test_titles_are_broken_where_names_have_a_joint(text: str, lines: list[str]) -> None:
    assert wrapped(text, letters=20).split("<br>") == lines


@pytest.mark.parametrize("n", [2, 3, 6])
def test_titles_of_panels_fit_beside_and_above_each_other_on_a_phone(n: int) -> None:
    """Of 358 pixels, which a figure has in a window of 390, and 17 for a line of a title."""
    figure = plots.scores_by_level([by_level(f"{LONG}{k}") for k in range(n)])
    layout = figure.layout
    area = layout.height - layout.margin.t - layout.margin.b
    tops = sorted({axis.domain[1] for axis in figure.select_yaxes()}, reverse=True)
    bottoms = sorted({axis.domain[0] for axis in figure.select_yaxes()}, reverse=True)
    left, right = sorted({axis.domain for axis in figure.select_xaxes()})
    centres = (sum(right) - sum(left)) / 2
    for title in layout.annotations:
        lines = title.text.split("<br>")
        assert max(map(len, lines)) * 0.6 * title.font.size <= centres * 358, (
            "0.6 of its size is a letter's width"
        )
        assert 17 * len(lines) <= layout.margin.t
        for above, below in zip(bottoms, tops[1:], strict=False):
            assert (above - below) * area >= 17 * len(lines) + 25, "labels of the axis above are there too"


def test_titles_of_axes_and_names_of_rows_are_broken_too() -> None:
    report = CorrelationReport((correlation(LONG, 0.5),), "-level", CorrelateOptions())
    (name,) = plots.metric_ranking(report, Ranking("pearson", (LONG,), {}, ())).layout.yaxis.ticktext
    assert name.split("<br>") == ["cross-examination-", "SmolLM2-135M-precision"]
    plain = dressed(go.Figure(), height=100, top=10)
    plain.update_xaxes(title="share of the top class: evaluator minus majority")
    dressed(plain, height=100, top=10)
    assert plain.layout.xaxis.title.text.split("<br>") == [
        "share of the top class:",
        "evaluator minus majority",
    ]


def test_names_of_points_cover_neither_each_other_nor_a_point() -> None:
    places = [(0.1, 0.5), (0.12, 0.5), (0.5, 0.5), (0.98, 0.02), *[(0.8, 0.8)] * 12]
    names = [f"metric-{n}" for n in range(len(places))]
    placed = point_names(places, names, (620.0, 330.0), 11)
    assert [name for name, _ in placed[:4]] == names[:4]
    assert placed[0][1] != "middle right", "its neighbour is there"
    assert placed[3][1] in ("middle left", "top center", "top left"), "within the axes"
    crowd = [name for name, _ in placed[4:] if name]
    assert 0 < len(crowd) < 12, "a crowd keeps the names for which there is room"


def test_the_scatter_names_its_points_in_the_figure() -> None:
    figure = scatter_of(meta())
    assert {"bleu-1", "bleu-2", "chrf-6-2"} < {name for trace in figure.data for name in trace.text}


def dots(view: View = "pooled", n: int = 6, **changed: Any) -> Points:
    """Items of two texts each, by systems a and b; the second half of the scores is better."""
    place = np.arange(n)
    fields: dict[str, Any] = {
        "metric": Metric(HOSTILE, "", "BLEU"),
        "group": {"system": HOSTILE},
        "view": view,
        "against": "human",
        "x": place / 10.0,
        "y": (place * 7 % 5) + place / 100.0,
        "rows": place + 100,
        "item": np.array([f"<b>{number // 2}</b>" for number in place]),
        "items": place // 2,
        "system": np.array(["ab"[number % 2] for number in place]),
        "n_scored": np.ones(n, dtype=int),
        "n_rated": np.ones(n, dtype=int),
        "left_out": {},
        "labels": (HOSTILE, "mean rating"),
    }
    return Points(**(fields | changed))


@pytest.mark.parametrize("view", ["pooled", "per_item", "per_system"])
def test_dots_stand_at_their_values_and_lead_to_their_rows(view: View) -> None:
    found = dots(view)
    figure = plots.scatter(found, 103)
    drawn, _, _, marked = figure.data
    assert drawn.x.tolist() == found.x.tolist()
    assert drawn.y.tolist() == found.y.tolist()
    assert [one[0] for one in drawn.customdata] == found.rows.tolist()
    assert [tuple(one[3:5]) for one in drawn.customdata] == list(zip(found.x, found.y, strict=True))
    assert (marked.x.tolist(), marked.customdata[0][0]) == ([found.x[3]], 103)
    assert not [text for text in texts_of(figure) if "<a" in text or "<b>0" in text]
    assert drawn.customdata[0][1] == "&lt;b&gt;0&lt;/b&gt;"


def test_a_refresh_changes_neither_traces_nor_colours_nor_zoom() -> None:
    few, many = dots(n=6), dots(n=9)
    before, after, marked = plots.scatter(few), plots.scatter(many), plots.scatter(many, 104)
    for one in (after, marked):
        assert [trace.name for trace in one.data] == [trace.name for trace in before.data]
        assert one.data[0].marker.color == before.data[0].marker.color
        assert one.layout.uirevision == before.layout.uirevision
    assert plots.scatter(dots(group={"system": "b"})).layout.uirevision != before.layout.uirevision
    assert plots.scatter(dots("per_item")).layout.uirevision != before.layout.uirevision


def test_of_very_many_dots_some_are_drawn_the_marked_one_among_them() -> None:
    few = plots.scatter(dots(n=10_000))
    assert (len(few.data[0].x), "are drawn" in few.layout.yaxis.title.text) == (10_000, False)
    found = dots(n=12_000)
    drawn = {one[0] for one in plots.scatter(found).data[0].customdata}
    hidden = next(row for row in found.rows.tolist() if row not in drawn)
    figure = plots.scatter(found, hidden)
    assert {type(trace).__name__ for trace in figure.data} == {"Scatter"}, "the app's policy forbids WebGL"
    assert {one[0] for one in figure.data[0].customdata} == drawn | {hidden}
    assert "10,001 of 12,000 dots are drawn" in figure.layout.yaxis.title.text
    followed = plots.scatter(found, most=plots.MOST_FOLLOWED)
    assert {one[0] for one in followed.data[0].customdata} < drawn
    assert len(followed.data[0].x) == plots.MOST_FOLLOWED


def test_dots_at_few_levels_are_shifted_and_the_axis_says_so() -> None:
    levels = -(np.arange(60) % 5).astype(float)
    found = dots(n=60, y=levels, against="-level", labels=("m", "minus the damage level"))
    figure = plots.scatter(found)
    moved = figure.data[0].y - levels
    assert 0 < np.abs(moved).max() <= 0.25
    assert figure.layout.yaxis.title.text.endswith(f"<br><sup>{plots.SHIFTED}</sup>")
    assert [one[4] for one in figure.data[0].customdata] == levels.tolist()
    again = plots.scatter(replace(found, x=found.x + 1))
    assert (again.data[0].y == figure.data[0].y).all()
    medians = figure.data[2]
    assert medians.name == "median score"
    assert medians.y.tolist() == [-4, -3, -2, -1, 0]
    assert medians.x[0] == np.median(found.x[levels == -4])
    assert plots.SHIFTED not in plots.scatter(dots()).layout.yaxis.title.text


def test_the_line_is_the_least_squares_line_and_absent_per_item() -> None:
    found = dots(n=9)
    line = plots.scatter(found).data[2]
    slope, start = np.polyfit(found.x, found.y, 1)
    assert line.y == pytest.approx(start + slope * np.asarray(line.x))
    assert len(plots.scatter(dots("per_item", n=9)).data[2].x) == 0
    assert len(plots.scatter(dots(n=9, x=np.ones(9))).data[2].x) == 0


def test_given_the_system_dots_are_differences_from_its_mean() -> None:
    found = dots("given_system")
    figure = plots.scatter(found)
    for own in ("a", "b"):
        mine = found.system == own
        assert figure.data[0].x[mine] == pytest.approx(found.x[mine] - found.x[mine].mean())
        assert figure.data[0].y[mine] == pytest.approx(found.y[mine] - found.y[mine].mean())
    assert "minus the system's mean" in figure.layout.xaxis.title.text.replace("<br>", " ")


def test_a_metric_whose_lower_scores_are_better_runs_to_the_left() -> None:
    found = dots(metric=Metric("ter", "", "TER", "lower"))
    across = plots.scatter(found).layout.xaxis.range
    assert across[0] > found.x.max() > found.x.min() > across[1]
    upright = plots.scatter(dots()).layout.xaxis.range
    assert upright[0] < 0 < 0.5 < upright[1]


def test_texts_of_a_marked_item_are_linked_from_the_worst_up() -> None:
    found = dots("per_item")
    links = plots.scatter(found, 103).data[1]
    order = sorted((2, 3), key=lambda place: found.y[place])
    assert list(links.x) == [*found.x[order], None]
    assert len(plots.scatter(found).data[1].x) == 9
    assert len(plots.scatter(dots("per_item", n=82)).data[1].x) == 0


def test_systems_are_named_beside_their_dots() -> None:
    figure = plots.scatter(dots("per_system"))
    assert {"a", "b"} >= set(figure.data[0].text)
    assert figure.data[0].mode == "markers+text"


def test_nothing_to_draw_is_an_empty_figure() -> None:
    nothing = {name: np.array([], dtype=float) for name in ("x", "y")}
    counts = {name: np.array([], dtype=int) for name in ("rows", "items", "n_scored", "n_rated")}
    names = {name: np.array([], dtype=str) for name in ("item", "system")}
    for view in ("pooled", "per_item", "per_system", "given_system"):
        figure = plots.scatter(dots(view, **nothing, **counts, **names))
        assert len(figure.data[0].x) == 0


def grouped(metric: str, domain: str, value: float | None) -> MetricCorrelation:
    one = found(value)
    return MetricCorrelation(
        {"domain": domain, "metric": metric},
        Metric(metric, "", "BLEU"),
        "human",
        9,
        {},
        {"pearson": Pooled(one, one, None)},
        {"kendall": found(0.25)},
    )


def test_groups_stand_beside_metrics_and_a_click_finds_its_cell() -> None:
    rows = (grouped("a", "news", 0.5), grouped("a", HOSTILE, None), grouped("b", HOSTILE, -0.5))
    report = CorrelationReport(rows, "human", CorrelateOptions())
    figure = plots.coefficients_by_group(report, "pearson", "pooled")
    heat, cells = figure.data
    assert [list(line) for line in heat.z] == [[0.5, None], [None, -0.5]]
    assert [one.text for one in figure.layout.annotations] == ["–", "–"]
    at = grid(report)
    assert (at.metrics, at.groups) == (("a", "b"), ("news", HOSTILE))
    for place, (row, column) in zip(range(4), cells.customdata, strict=True):
        assert (cells.x[place], cells.y[place]) == (column, row)
        cell = at.cells[row][column]
        if cell is not None:
            assert (cell.metric.name, cell.group["domain"]) == (at.metrics[row], at.groups[column])
    assert at.cells[1][0] is None
    assert "[0.40, 0.60]" in cells.text[0]
    assert "undefined: all scores are equal" in cells.text[1]
    assert not [text for text in cells.text if "<a" in text]
    values = group_table(report, "pearson", "pooled").rows
    assert [[cell.value for cell in row[1:]] for row in values] == [[0.5, None], [None, -0.5]]
    of_items = plots.coefficients_by_group(report, "kendall", "per_item").data[0].z
    assert [list(line) for line in of_items] == [[0.25, 0.25], [None, 0.25]]


def test_without_groups_all_texts_are_one() -> None:
    one = found(0.5)
    row = MetricCorrelation(
        {"metric": "a"}, Metric("a", "", "BLEU"), "human", 9, {}, {"pearson": Pooled(one, one, None)}
    )
    assert grid(CorrelationReport((row,), "human", CorrelateOptions())).groups == (ALL_TEXTS,)
