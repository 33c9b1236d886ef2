"""What a figure of scores draws is what the result says; colours say the sign, and a user's names are no HTML."""

from typing import Any

import plotly.graph_objects as go
import pytest

from core.plots import metrics as plots
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
from core.results.correlations.ranking import Ranking, Redundancy
from core.results.correlations.table import CorrelationReport, MetricCorrelation, Pooled
from core.results.correlations.votes import MetricVotes
from core.results.joining import CorrelationOptions
from core.results.meta_correlation import Matrix, MatrixCell, MetaCorrelation, Point, meta_title
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
    figure = plots.meta_scatter(meta())
    drawn = {
        (text, x, y)
        for trace in figure.data
        for text, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }
    assert {("bleu-1", 0.5, 0.4), ("bleu-2", 0.45, 0.3), ("chrf-6-2", 0.6, 0.7)} < drawn
    assert len(drawn) == 4
    looks = [(trace.marker.color, trace.marker.symbol) for trace in figure.data]
    assert len({color for color, _ in looks}) == len({symbol for _, symbol in looks}) == 3
    assert all("human %{x" in trace.hovertemplate for trace in figure.data)
    no_html_of_a_user(figure)


def test_points_close_together_do_not_fill_the_scatter() -> None:
    near = (Point("bleu-1", "BLEU", 0.5, 0.70), Point("bleu-2", "BLEU", 0.3, 0.71))
    figure = plots.meta_scatter(meta(points=near))
    low, high = figure.layout.yaxis.range
    assert high - low == pytest.approx(0.1)
    assert low < 0.70 < 0.71 < high
    low, high = figure.layout.xaxis.range
    assert low < 0.3 < 0.5 < high
    assert not figure.layout.shapes, "no line at zero where no point is near it"


def test_long_names_of_metrics_lose_their_middle() -> None:
    assert shortened("bleu-1", 10) == "bleu-1"
    long = [shortened("a/path/to/some/model-" + end, 16) for end in ("base", "large")]
    assert long == ["a/path/to/…-base", "a/path/to/…large"]


def test_the_title_says_the_estimate_with_both_intervals() -> None:
    title = plots.meta_scatter(meta(found(0.75, 0.05))).layout.title.text
    for part in ("0.80", "4 metrics", "[0.70, 0.90] over metrics", "[0.70, 0.80] over items"):
        assert part in title
    fixed = meta_title(meta())
    assert "over items" not in fixed, "no side is live"
    assert "no interval" in meta_title(meta(over_metrics=found(0.5, None)))
    undefined = meta_title(meta(over_metrics=found(None), points=()))
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
    result = Redundancy("spearman", ("a", HOSTILE), ((1.0, None), (None, 1.0)), ((9, 8), (8, 9)))
    figure = plots.redundancy(result)
    (cells,) = figure.data
    assert [list(line) for line in cells.text] == [["1.000", ""], ["", "1.000"]]
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
        CorrelationOptions(),
    )
    ranking = Ranking("pearson", (HOSTILE, "b"), {HOSTILE: 1, "b": 2}, (), {"c": "all scores are equal"})
    figure = plots.metric_ranking(report, ranking)
    (trace,) = figure.data
    assert (tuple(trace.x), tuple(trace.y)) == ((0.9, 0.3), (0, 1))
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


def test_votes_are_drawn_best_first_against_chance() -> None:
    results = [
        MetricVotes(name, "BLEU", found(value), found(0.1), {}, {})
        for name, value in (("low", 0.4), ("undefined", None), (HOSTILE, 0.8))
    ]
    figure = plots.metric_votes(results)
    (trace,) = figure.data
    assert (tuple(trace.x), tuple(trace.y)) == ((0.8, 0.4), (0, 1))
    assert [shape.x0 for shape in figure.layout.shapes] == [0.5]
    no_html_of_a_user(figure)


def test_the_matrix_has_a_cell_for_each_combination() -> None:
    cells = (
        MatrixCell({"dataset": "d1", "generator": "g1", "shots": "few"}, meta()),
        MatrixCell({"dataset": "d1", "generator": HOSTILE, "shots": "few"}, None, "no metric is left"),
        MatrixCell({"dataset": HOSTILE, "generator": "g1", "shots": "few"}, meta(over_metrics=found(None))),
    )
    figure = plots.meta_matrix(Matrix(cells))
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
    title = meta_title(meta(over_metrics=tiny, over_items=tiny))
    assert title.startswith("Meta-correlation 0.00 ")
    assert "-0.00" not in title
    assert "0.000" in plots.redundancy(Redundancy("pearson", ("a",), ((-0.0001,),))).data[0].customdata[0][0]
    assert "-0.000" not in str(
        plots.redundancy(Redundancy("pearson", ("a",), ((-0.0001,),))).data[0].customdata
    )


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
    figure = plots.metric_votes([MetricVotes(LONG, "x", found(0.5), found(0.1), {}, {})])
    (name,) = figure.layout.yaxis.ticktext
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
    figure = plots.meta_scatter(meta())
    assert {"bleu-1", "bleu-2", "chrf-6-2"} < {name for trace in figure.data for name in trace.text}
    assert figure.layout.meta["least_width"] > 390
