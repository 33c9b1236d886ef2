"""Error rates whose file does not say that lower is better."""

import numpy as np
import pytest
from helpers.texts.score_factories import ladder, metric, table

from core.formats.registry import read_scores
from core.joining.choices import directions
from core.results.correlations.levels import compare_levels
from core.results.correlations.table import correlate_scores
from core.results.meta_correlation import side_values
from core.schema.correlating import CorrelateOptions
from core.schema.scores import CorrelationSet, Metric

FAST = CorrelateOptions(n_resamples=0)
ERRORS = {"i": [0.1, 0.4, 0.9], "j": [0.2, 0.5, 0.7]}


def test_a_wide_table_of_ter_is_turned_with_a_note():
    report = correlate_scores(read_scores(b"item,level,TER\ni,0,.1\ni,1,.4\ni,2,.9\n", "t.csv"), options=FAST)
    assert report.rows[0].metric.direction == "lower"
    assert report.rows[0].pooled["spearman"].over_rows.estimate == pytest.approx(1)
    assert any("Assumed: lower is better" in note for note in report.notes)


def test_a_stated_direction_is_kept():
    stated = table(ladder(ERRORS), metrics=[metric("ter")])
    assert directions(stated).tolist() == [1.0]


def test_scores_below_zero_were_turned_already():
    report = correlate_scores(
        table(ladder({"i": [-0.1, -0.4], "j": [-0.2, -0.5]}), metrics=[Metric("ter", "", "TER")]),
        options=FAST,
    )
    assert report.rows[0].pooled["pearson"].over_rows.estimate > 0
    assert any("flipped already" in note for note in report.notes)


def test_scores_out_of_a_folder_say_no_direction_either():
    shipped = table(ladder(ERRORS), metrics=[Metric("TER", "TER-refA|from:wmt", "TER")])
    (found,) = compare_levels(shipped)
    assert (found.monotonic.estimate, found.prefers_damaged["all"].estimate) == (1, 0)


@pytest.mark.parametrize(("turned", "expected"), [(False, 0.8), (True, -0.8)])
def test_correlations_made_elsewhere_follow_raw_scores(turned, expected):
    side = CorrelationSet(
        "h.json", {"TER": {"pearson": -0.8}, "bleu-4": {"pearson": 0.5}}, scores_turned=turned
    )
    found = side_values(side, "pearson")
    assert found.values["ter"] == expected
    assert found.values["bleu-4"] == 0.5
    assert any("the sign of TER was flipped" in note for note in found.notes) is not turned


def test_undefined_scores_say_nothing_of_a_direction():
    empty = table(ladder({"i": [None, None]}), metrics=[Metric("ter", "", "TER")])
    assert directions(empty).tolist() == [-1.0]
    assert np.isnan(empty.values).all()
