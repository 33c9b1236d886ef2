"""What figures of marked errors draw is what the results say; a user's names are no HTML."""

import pytest
from helpers.texts.span_makers import marked, rating_set

from core.analyses import raters
from core.plots import judges as plots
from core.plots.drawn import draw
from core.plots.dressing import heat_map
from core.results.judges.spans import (
    CurvePoint,
    DrawSummary,
    ExampleCurve,
    JudgeSpans,
    compare_spans,
)
from core.schema.analysis import Answer
from core.schema.marks import Marks, SpanOptions

HOSTILE = "<b>x</b>"
OPTIONS = SpanOptions(n_resamples=50)


def test_the_heat_map_says_why_a_cell_is_empty():
    gold = rating_set(
        marked("q1", "A", (0, 4, "major"), rater="ann"), marked("q1", "A", (2, 8, "major"), rater=HOSTILE)
    )
    answer = Answer(raters.ANALYSIS, OPTIONS, raters.compute(OPTIONS, Marks(gold, {}), tell=lambda _: None))
    (heat,) = draw(answer.figures["raters"], answer.tables).data
    assert heat.z[0][0] is None
    assert heat.z[0][1] == pytest.approx(0.4)
    said = [cell for line in heat.customdata for cell in line]
    assert any("undefined: a rater against themself" in one for one in said)
    assert not any("<b>x" in one for one in said)


def point(name, mean_shown, draws):
    marks = rating_set(*(marked(f"q{k}", "A", (0, 4, "major")) for k in range(4)))
    overall = compare_spans(marks, {"judge": marks}, options=OPTIONS).judges[0].overall
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
    assert list(line.y) == pytest.approx([1.0, 0.8])
    assert list(line.error_y.array) == pytest.approx([0.0, 0.02])


def test_a_title_above_the_columns_has_room_of_its_own() -> None:
    plain, titled = (heat_map([[0.5]], ["a"], ["b"], [["said"]], x=title) for title in (None, "gold"))
    assert titled.layout.margin.t > plain.layout.margin.t
    assert titled.layout.height > plain.layout.height
