"""What the figures of judges draw is what was computed; names of a user are no HTML."""

from dataclasses import replace

import numpy as np
import pytest

from core.analyses import costs
from core.plots import judges as plots
from core.plots.drawn import draw
from core.results.judges.agreement import Disagreement
from core.results.judges.bias import bias_audit
from core.results.judges.costs import JudgeCost
from core.schema.runs import StepCost
from core.schema.scores import ScoredRow
from scripts.simulations.bias import rows_of_twins, scored

HOSTILE = '<a href="http://outside.invalid">x</a>'


def text(level: str | None, first: float, second: float) -> Disagreement:
    return Disagreement(ScoredRow("1", "s", level), first, second, 0.5, 0.5)


def test_texts_in_one_place_are_one_larger_point_of_their_level() -> None:
    figure = plots.two_judges(
        [text("0", 0.5, 4.0), text("0", 0.5, 4.0), text("1", 0.25, 2.0)], (HOSTILE, "b"), (100.0, 1.0)
    )
    first, second = figure.data
    assert (list(first.x), list(first.y), list(first.text)) == ([50.0], [4.0], ["2 texts"])
    assert (list(second.x), list(second.y), list(second.text)) == ([25.0], [2.0], ["1 text"])
    assert first.marker.size[0] > second.marker.size[0]
    assert first.marker.symbol != second.marker.symbol, "colour alone tells nobody"
    assert "<a" not in figure.layout.xaxis.title.text


def test_levels_stand_in_their_natural_order_in_the_legend() -> None:
    levels = ["10", "2", None, "A1", "0"]
    figure = plots.two_judges([text(level, 0.5, 4.0) for level in levels], ("a", "b"), (1.0, 1.0))
    assert [one.name for one in figure.data] == ["no level", "level 0", "level 2", "level 10", "level A1"]


def test_a_bar_is_the_tokens_of_one_text_step_by_step() -> None:
    def step(name: str, tokens_in: int | None, tokens_out: int | None) -> StepCost:
        return StepCost(name, 2, 0, 0, tokens_in, tokens_out, 1.0)

    first = JudgeCost(HOSTILE, (step("rubric", 300, 100),), 2, 4)
    second = JudgeCost("b", (step("questions", 80, 20), step("answers", None, None)), 2, 2)
    answer = costs.ANALYSIS.answer(costs.CostsOptions(), [first, second])
    figure = draw(answer.figures["judge-costs"], answer.tables)
    bars = {bar.name: (list(bar.y), list(bar.x)) for bar in figure.data}
    assert bars == {"rubric": ([0], [100.0]), "questions": ([1], [50.0]), "answers": ([1], [0])}
    assert "<a" not in "".join(figure.layout.yaxis.ticktext)
    assert costs.ANALYSIS.answer(costs.CostsOptions(), [first]).figures == {}


def test_bias_effects_by_verdict_with_what_is_too_small_to_be_found() -> None:
    rng = np.random.default_rng(5)
    found = bias_audit(scored(rows_of_twins(40), "rubric", rng, noise=0.3, planted={"padding": 1.0}))
    figure = plots.bias_effects(found.effects)
    assert figure is not None
    reach, biased, *others = figure.data
    assert biased.name == "biased"
    assert list(biased.x) == [found.effects[0].change.estimate]
    assert list(reach.x) == pytest.approx([2 * (one.detectable or 0) for one in found.effects])
    assert list(reach.base) == pytest.approx([-(one.detectable or 0) for one in found.effects])
    assert sum(len(one.x) for one in others) == len(found.effects) - 1
    nothing = bias_audit(
        replace(scored(rows_of_twins(4), "rubric", rng, noise=0), values=np.full((48, 1), 3.0))
    )
    assert plots.bias_effects(nothing.effects) is None
