"""What figures of marked errors draw is what the results say; a user's names are no HTML."""

import pytest
from helpers.texts.span_makers import marked, rating_set

from core.analyses import raters
from core.plots.drawn import draw
from core.plots.dressing import heat_map
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


def test_a_title_above_the_columns_has_room_of_its_own() -> None:
    plain, titled = (heat_map([[0.5]], ["a"], ["b"], [["said"]], x=title) for title in (None, "gold"))
    assert titled.layout.margin.t > plain.layout.margin.t
    assert titled.layout.height > plain.layout.height
