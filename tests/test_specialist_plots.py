"""What figures of marked errors draw is what the results say; a user's names are no HTML."""

import pytest
from helpers.texts.span_makers import marked, rating_set, span

from core.plots import judges as plots
from core.plots.dressing import heat_map
from core.results.judges.spans import (
    CurvePoint,
    DrawSummary,
    ExampleCurve,
    JudgeSpans,
    SpanOptions,
    rater_matrix,
    span_agreement,
)
from core.schema.scores import Rating

HOSTILE = "<b>x</b>"
OPTIONS = SpanOptions(n_resamples=50)


def agreement():
    gold = rating_set(*(marked(f"q{k}", s, (0, 4, "major")) for k in range(4) for s in ("A", HOSTILE)))
    predicted = rating_set(
        *(marked(f"q{k}", "A", (0, 4, "major")) for k in range(4)),
        *(Rating(f"q{k}", 0.0, HOSTILE, spans=(span(2, 6),)) for k in range(4)),
    )
    return span_agreement(gold, predicted, options=OPTIONS)


def test_each_system_has_a_point_and_its_interval():
    figure = plots.spans_by_system({"judge": agreement().by_system, HOSTILE: agreement().by_system})
    first, second = figure.data
    assert list(first.x) == [0.5, 1.0]  # names in order: "<" stands before "A"
    assert list(first.error_x.array) == [0.0, 0.0]
    assert "<b>x" not in "".join(figure.layout.yaxis.ticktext) + second.name + "".join(first.text)


def test_an_undefined_value_has_no_point():
    nothing = span_agreement(rating_set(marked("q", "A")), rating_set(marked("q", "A")), options=OPTIONS)
    (trace,) = plots.spans_by_system({"judge": nothing.by_system}).data
    assert len(trace.x) == 0


def test_the_heat_map_says_why_a_cell_is_empty():
    gold = rating_set(
        marked("q1", "A", (0, 4, "major"), rater="ann"), marked("q1", "A", (2, 8, "major"), rater=HOSTILE)
    )
    (heat,) = plots.rater_heat(rater_matrix(gold, options=OPTIONS)).data
    assert heat.z[0][0] is None
    assert heat.z[0][1] == pytest.approx(0.4)
    said = [cell for line in heat.customdata for cell in line]
    assert any("undefined: a rater against themself" in one for one in said)
    assert not any("<b>x" in one for one in said)


def point(name, mean_shown, draws):
    overall = agreement().overall
    return CurvePoint(
        name, "specialist", None, mean_shown, JudgeSpans(name, overall, draws.n, draws, draws, draws, {})
    )


def test_the_curve_shows_intervals_of_one_draw_and_spread_of_several():
    one, ten = (
        point("one", 1.0, DrawSummary(0.75, None, 1, 0)),
        point("all", 9.5, DrawSummary(0.8, 0.02, 10, 0)),
    )
    figure = plots.example_curve(ExampleCurve("gold", (), (), 8, 4, OPTIONS, (), (one, ten)))
    (line,) = figure.data
    assert list(line.x) == [1.0, 9.5]
    assert list(line.y) == pytest.approx([one.judge.overall.f1.estimate, 0.8])
    assert list(line.error_y.array) == pytest.approx([0.0, 0.02])


def test_a_title_above_the_columns_has_room_of_its_own() -> None:
    plain, titled = (heat_map([[0.5]], ["a"], ["b"], [["said"]], x=title) for title in (None, "gold"))
    assert titled.layout.margin.t > plain.layout.margin.t
    assert titled.layout.height > plain.layout.height
