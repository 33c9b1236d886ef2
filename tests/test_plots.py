"""What a figure draws is what the result says, and nothing a user named is read as HTML."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from helpers.texts.factories import LEVELS, dataset, item_ids, record_of

from core.diff import WordsKept
from core.plots import metrics
from core.plots import study as plots
from core.results.confusion import confusions
from core.results.study.early import EarlyResult
from core.results.study.results import StudyResults, first_interval, study_results
from core.results.study.tables import AGREEMENT, preference_names
from core.schema.study import PREFERENCES, Preference, Rater
from core.stats.dawid_skene import dawid_skene

HOSTILE = '<a href="http://outside.invalid">x</a> & $y$'
N_ITEMS = 6


def given(shift: int) -> dict[tuple[str, str], Preference]:
    """Answers that differ from rater to rater and use all four."""
    pairs = product(item_ids(N_ITEMS), LEVELS)
    return {pair: PREFERENCES[(number * (shift + 1) + shift) % 4] for number, pair in enumerate(pairs)}


def results_of(*raters: str, **design: Any) -> StudyResults:
    votes = {rater: given(shift) for shift, rater in enumerate(raters)}
    return study_results(record_of(votes, dataset(N_ITEMS), **design), n_resamples=200)


@pytest.fixture(scope="module")
def two() -> StudyResults:
    return results_of("R1", "R2")


def names(results: StudyResults) -> dict[str, str]:
    return preference_names(results.candidate, results.comparator)


def test_verdict_draws_both_bounds_the_mean_the_margin_and_zero(two: StudyResults) -> None:
    bound = two.non_inferiority
    figure = plots.verdict(bound)
    assert {trace.name: tuple(trace.x) for trace in figure.data} == {
        "questions": (bound.bound_questions, bound.mean),
        "pairs": (bound.bound_pairs, bound.mean),
    }
    assert [shape.x0 for shape in figure.layout.shapes] == [-bound.margin, 0.0]
    low, high = figure.layout.xaxis.range
    assert all(low < x < high for trace in figure.data for x in trace.x)


def test_verdict_writes_no_minus_before_a_zero(two: StudyResults) -> None:
    figure = plots.verdict(replace(two.non_inferiority, mean=-0.0001, bound_questions=-0.0004))
    assert list(figure.data[0].text) == ["0.000", "0.000"]


def test_verdict_draws_the_bound_of_gaffke_where_it_decides(two: StudyResults) -> None:
    figure = plots.verdict(two.non_inferiority, two.verdict.bound, score="net preference")
    assert two.verdict.method == "gaffke"
    assert tuple(figure.data[-1].x) == (two.verdict.bound, two.non_inferiority.mean)
    assert "net preference" in figure.layout.xaxis.title.text
    low, _ = figure.layout.xaxis.range
    assert low < figure.data[-1].x[0]


def test_verdict_leaves_out_what_is_undefined(two: StudyResults) -> None:
    figure = plots.verdict(replace(two.non_inferiority, bound_questions=None))
    assert [trace.name for trace in figure.data] == ["pairs"]


@pytest.mark.parametrize("raters", [("R1",), ("R1", "R2"), ("R1", "R2", "R3")])
def test_choices_have_one_panel_a_rater_with_the_counts_of_the_result(raters: tuple[str, ...]) -> None:
    results = results_of(*raters)
    figure = plots.choices(results.per_level, results.raters, names(results))
    assert len(figure.data) == 4 * len(raters)
    for index, trace in enumerate(figure.data):
        rater, preference = raters[index // 4], PREFERENCES[index % 4]
        expected = [block.choices[rater][preference] for block in results.per_level.values()]
        assert list(trace.x) == expected
        assert list(trace.text) == [str(n) if n else "" for n in expected]
        assert trace.name == names(results)[preference]
    assert sum(trace.showlegend for trace in figure.data) == 4
    assert list(figure.layout.yaxis.ticktext) == list(results.levels) == list(LEVELS[1:])
    assert figure.data[0].customdata[0][1] == N_ITEMS


def test_agreement_draws_every_estimate_with_the_interval_that_the_table_shows(two: StudyResults) -> None:
    """Six questions: the jackknife's, which is not the percentile interval."""
    blocks = {"all levels": two.overall, **two.per_level}
    figure = plots.agreement(blocks)
    assert [trace.name for trace in figure.data] == list(AGREEMENT.values())
    for trace, field in zip(figure.data, AGREEMENT, strict=True):
        found = [getattr(block, field) for block in blocks.values()]
        found = [one for one in found if one.estimate is not None]
        assert list(trace.x) == [one.estimate for one in found]
        high = [x + up for x, up in zip(trace.x, trace.error_x.array, strict=True)]
        low = [x - down for x, down in zip(trace.x, trace.error_x.arrayminus, strict=True)]
        # Where there is no interval, the point has no bar.
        shown = [first_interval(one) or (one.estimate, one.estimate) for one in found]
        assert list(zip(low, high, strict=True)) == [pytest.approx(one) for one in shown]
        assert any(one.high_t and first_interval(one) != (one.low, one.high) for one in found)


def test_agreement_leaves_undefined_estimates_out() -> None:
    three = results_of("R1", "R2", "R3")
    figure = plots.agreement({"all levels": three.overall})
    assert "Cohen's kappa" not in [trace.name for trace in figure.data]
    assert not plots.agreement({"all levels": results_of("R1").overall}).data


def test_contingency_shows_every_count(two: StudyResults) -> None:
    table = two.overall.contingency.table
    assert table is not None
    figure = plots.contingency(two.overall.contingency, names(two))
    assert [list(row) for row in figure.data[0].z] == table
    assert figure.data[0].texttemplate == "%{z}"
    assert figure.layout.xaxis.title.text == "R2"
    assert figure.layout.yaxis.title.text == "R1"


def test_position_draws_the_share_of_left_of_those_who_chose_a_side(two: StudyResults) -> None:
    found = {**two.position_per_rater, "silent": replace(two.position_overall, n=0, share_left=None)}
    (trace,) = plots.position(found).data
    assert list(trace.x) == [found[rater].share_left for rater in two.raters]
    assert list(trace.y) == [0, 1]


def all_figures(results: StudyResults) -> list[go.Figure]:
    called = names(results)
    return [
        plots.verdict(results.non_inferiority),
        plots.choices(results.per_level, results.raters, called),
        plots.agreement({"all levels": results.overall, **results.per_level}),
        plots.contingency(results.overall.contingency, called),
        plots.position(results.position_per_rater),
    ]


def test_no_name_is_read_as_html() -> None:
    data = dataset(N_ITEMS, ("A0", "<b>"), (HOSTILE, "human"))
    raters = {"<i>": given(0), "R&2": given(1)}
    votes = {
        rater: {(item, level): vote for (item, old), vote in all_of.items() for level in data.levels}
        for rater, all_of in raters.items()
        if all_of
    }
    results = study_results(record_of(votes, data, raters=[Rater(name) for name in raters]), n_resamples=50)
    for figure in all_figures(results):
        text = figure.to_json().replace("\\u003c", "<")
        for tag in ("<a", "<b>", "<i>"):
            assert tag not in text


def test_figures_fit_a_light_and_a_dark_page(two: StudyResults) -> None:
    for figure in all_figures(two):
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0, 0, 0, 0)"
        assert figure.layout.title.text is None
        assert figure.layout.font.color is None
        assert figure.layout.xaxis.title.text or figure.layout.xaxis2.title.text


def test_words_kept_draws_each_level_with_its_range_and_leaves_out_what_is_undefined() -> None:
    levels = (WordsKept("A0", 3, 0.75, 0.5, 1.0), WordsKept(HOSTILE, 0, None, None, None))
    (trace,) = metrics.words_kept(levels).data
    assert (list(trace.x), list(trace.y)) == ([0.75], [0])
    assert (list(trace.error_x.array), list(trace.error_x.arrayminus)) == ([0.25], [0.25])
    assert "A0: 0.75 (n 3)" in trace.text
    assert "<a href" not in metrics.words_kept(levels).to_json()


def test_early_draws_the_bound_after_each_question_and_the_margin() -> None:
    found = EarlyResult("s", "continue", -0.5, 0.1, 0.9, 3, 3, None, 1, None, 0, bounds=(None, -0.9, -0.5))
    figure = plots.early(found)
    assert (tuple(figure.data[0].x), tuple(figure.data[0].y)) == ((1, 2, 3), (None, -0.9, -0.5))
    assert [shape.y0 for shape in figure.layout.shapes] == [-0.1]


def test_confusions_draw_the_probabilities_of_each_rater() -> None:
    labels = np.random.default_rng(0).integers(0, 4, (60, 3))
    found = confusions(dawid_skene(labels, 4), ("R1", "R2", HOSTILE), tuple("abcd"), units="texts")
    figure = plots.confusions(found.raters, ["good & well", HOSTILE, "c", "d"])
    assert [[list(line) for line in trace.z] for trace in figure.data] == [
        [list(line) for line in one.matrix] for one in found.raters
    ]
    assert [note.text.startswith("R") or "&lt;" in note.text for note in figure.layout.annotations] == [
        True
    ] * 3
    assert "<a" not in figure.to_json()
    assert figure.layout.xaxis2.showticklabels  # nothing stands below the second panel
