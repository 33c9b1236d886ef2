"""Two sides of correlations: how they meet, what is dropped, and numbers by hand and as published."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.texts.score_factories import ladder, ratings, table
from scipy import stats

from core.analyses.meta_correlate import (
    ANALYSIS,
    MetaCorrelateOptions,
    meta_row,
    result_of_matrix,
    result_of_pair,
)
from core.analyses.redundancy import ANALYSIS as REDUNDANCY
from core.errors import InputError
from core.formats.correlations import published_side
from core.joining.choices import rows_at
from core.results.correlations.table import correlate_scores
from core.results.meta_correlation import (
    LiveSide,
    meta_correlate,
    meta_matrix,
    side_values,
    split_by_dataset,
)
from core.schema.analysis import Answer
from core.schema.correlating import CorrelateOptions
from core.schema.rows import json_of
from core.schema.scores import METHODS, CorrelationSet, Rating, ScoredRow
from core.stats.correlation.intervals import Live, corrected_over_items


def as_json(found):
    return json_of(meta_row(found))


NAMES = ("m1", "m2", "m3", "m4", "m5")
HUMAN = (0.1, 0.5, 0.3, 0.9, 0.7)
SYNTHETIC = (0.2, 0.3, 0.4, 0.8, 0.9)
"""Ranks 1 3 2 5 4 and 1 2 3 4 5: rho = 1 - 6 * 4 / 120 = 0.8, tau = (8 - 2) / 10 = 0.6."""


def side(values, method="spearman", name="side", **fields):
    names = fields.pop("names", NAMES)
    return CorrelationSet(
        name, {key: {method: value} for key, value in zip(names, values, strict=True)}, **fields
    )


@pytest.mark.parametrize(("method", "expected"), [("spearman", 0.8), ("kendall", 0.6)])
def test_by_hand(method, expected):
    found = meta_correlate(side(HUMAN, method), side(SYNTHETIC, method), method=method)
    assert found.over_metrics.estimate == pytest.approx(expected)
    assert (found.n_metrics, found.dropped, found.over_items) == (5, {}, None)
    assert found.over_metrics.low <= expected <= found.over_metrics.high


def test_p_values_are_scipys():
    found = meta_correlate(side(HUMAN, "pearson"), side(SYNTHETIC, "pearson"), method="pearson")
    assert found.over_metrics.estimate == pytest.approx(stats.pearsonr(HUMAN, SYNTHETIC).statistic)
    assert found.p_two_sided == pytest.approx(stats.pearsonr(HUMAN, SYNTHETIC).pvalue)
    assert found.p_one_sided == pytest.approx(stats.pearsonr(HUMAN, SYNTHETIC, alternative="greater").pvalue)


def test_a_cell_of_the_published_table():
    """000, Table 1: CUS-QA Czech, Qwen 3, zero-shot. The columns behind it are rounded to three places."""
    found = meta_correlate(
        published_side("published:cus-qa-cs"), published_side("published:cus-qa-cs:qwen-3-30b:zero")
    )
    assert found.over_metrics.estimate == pytest.approx(0.956, abs=0.025)
    assert found.n_metrics == 28
    assert set(found.without_family) == {"BLEU", "chrF", "ROUGE", "METEOR", "BERTScore", "COMET", "BLEURT"}
    assert all(estimate.n == 24 for estimate in found.without_family.values())
    assert (found.families.n_families, found.families.n_permutations, found.families.is_exact) == (
        7,
        1000,
        False,
    )
    assert found.p_two_sided < 0.001 < found.families.p_two_sided < 0.02
    assert as_json(found)["families"]["p_one_sided"] == found.families.p_one_sided
    assert found.over_items_corrected is None, "no side is live"


def test_what_a_side_leaves_undefined_is_dropped_and_named():
    uk = meta_correlate(
        published_side("published:cus-qa-uk"), published_side("published:cus-qa-uk:qwen-3-30b:few")
    )
    assert (uk.n_metrics, list(uk.dropped)) == (27, ["rouge-4"])
    assert "Cyrillic" in uk.dropped["rouge-4"]


def test_a_metric_of_one_side_is_dropped_and_named():
    human = side((*HUMAN, None), names=(*NAMES, "m6"), reasons={"m6": "all scores are equal"}, name="people")
    synthetic = side((0.5, *SYNTHETIC, 0.1), names=("other", *NAMES, "m6"), name="damage")
    found = meta_correlate(human, synthetic)
    assert found.over_metrics.estimate == pytest.approx(0.8)
    assert found.dropped == {
        "m6": "undefined in people: all scores are equal",
        "other": "not in people",
    }


def test_names_meet_through_the_registry_and_without_regard_to_case():
    names = ("BLEU Order 1", "ROUGE-2", "My Metric")
    human = side(HUMAN[:3], names=names)
    synthetic = side(SYNTHETIC[:3], names=("bleu-1", "rouge-2", "my metric"), families={"my metric": "LLM"})
    found = meta_correlate(human, synthetic)
    assert [(p.metric, p.family) for p in found.points] == [
        ("bleu-1", "BLEU"),
        ("rouge-2", "ROUGE"),
        ("My Metric", "LLM"),
    ]


def test_a_metric_under_two_names_is_refused():
    with pytest.raises(InputError, match="BLEU Order 1, bleu-1 all mean bleu-1"):
        meta_correlate(side(HUMAN[:2], names=("BLEU Order 1", "bleu-1")), side(SYNTHETIC))


def test_sides_without_a_common_metric_show_what_they_hold():
    with pytest.raises(InputError) as refused:
        meta_correlate(side(HUMAN, name="people"), side((0.1,), names=("x",), name="damage"))
    assert refused.value.problems == ("people has m1, m2, m3, m4, m5", "damage has x")


def test_a_first_order_that_a_side_lacks_is_refused_unless_named():
    human = published_side("published:cus-qa-cs")
    synthetic = published_side("published:cus-qa-cs:qwen-3-30b:zero")
    with pytest.raises(
        InputError, match="published:cus-qa-cs contains only spearman correlations, not kendall"
    ):
        meta_correlate(human, synthetic, method="kendall")
    mixed = meta_correlate(human, synthetic, method="kendall", first_order="spearman")
    values = [(p.human, p.synthetic) for p in mixed.points]
    assert mixed.over_metrics.estimate == pytest.approx(
        stats.kendalltau(*zip(*values, strict=True)).statistic
    )
    assert mixed.notes[-1] == "spearman correlations of each metric, kendall between the two sides"


@pytest.mark.parametrize("names", [("m1",), ("m1", "other")])
def test_one_metric_is_no_ranking(names):
    found = meta_correlate(side(HUMAN), side(SYNTHETIC[: len(names)], names=names))
    assert (found.n_metrics, found.over_metrics.estimate, found.p_one_sided) == (1, None, None)
    assert found.over_metrics.reason == "fewer than two metrics"


def test_equal_correlations_have_no_ranking():
    found = meta_correlate(side((0.5,) * 5), side(SYNTHETIC))
    assert found.over_metrics.estimate is None
    assert found.over_metrics.reason.startswith("all human")


def live(seed=0, n_items=40, noise=(0.5, 1, 2, 4, 8)):
    """Metrics that follow the level less and less; the human side rates the same texts by their level."""
    rng = np.random.default_rng(seed)
    rows, given = [], []
    for item in range(n_items):
        for level in range(6):
            rows.append(
                (ScoredRow(str(item), "s", str(level)), tuple(-level + rng.normal(0, sd) for sd in noise))
            )
            given.append(Rating(str(item), -level + rng.normal(), "s", str(level)))
    return table(rows, NAMES), ratings(*given)


def pooled(report):
    """The pooled coefficients of a report as a fixed side."""
    values = {
        row.metric.name: {method: one.over_rows.estimate for method, one in row.pooled.items()}
        for row in report.rows
    }
    return CorrelationSet("x", values, families={row.metric.name: row.metric.family for row in report.rows})


def test_live_sides_are_the_correlations_that_correlate_scores_gives():
    scores, given = live()
    options = CorrelateOptions(n_resamples=0)
    fixed = [pooled(correlate_scores(scores, part, options=options)) for part in (given, None)]
    for method in METHODS:
        one = meta_correlate(LiveSide("people", scores, given), LiveSide("damage", scores), method=method)
        other = meta_correlate(*fixed, method=method)
        columns = [np.array([(p.human, p.synthetic) for p in found.points]) for found in (one, other)]
        np.testing.assert_allclose(*columns, rtol=1e-12)
        assert one.over_metrics.estimate == pytest.approx(other.over_metrics.estimate)
        assert one.over_items.estimate == one.over_metrics.estimate
        assert one.over_items.n_clusters == 80


def test_live_sides_have_a_noise_corrected_value():
    scores, _ = live(n_items=12)
    found = meta_correlate(side(HUMAN), LiveSide("damage", scores), n_resamples=50, confidence_level=0.8)
    one = found.over_items_corrected
    assert one == corrected_over_items(
        [point.human for point in found.points],
        Live(*sides_of(scores)),
        "spearman",
        confidence_level=0.8,
    )
    points = np.array([(point.human, point.synthetic) for point in found.points])
    assert one.naive == pytest.approx(stats.pearsonr(*points.T).statistic)
    options = MetaCorrelateOptions()
    made = Answer(ANALYSIS, options, result_of_pair(found, options)).tables["without-family"]
    row = dict(zip([c.name for c in made.columns], made.rows[0], strict=True))
    assert row["over_items_corrected"].value == one.estimate
    assert row["over_items_corrected_naive"] == one.naive
    assert as_json(found)["over_items_corrected"]["undefined_share"] == one.undefined_share
    assert found.families.reason is not None, "one family"
    assert row["p_families_one_sided"] is None
    none = meta_correlate(side(HUMAN), LiveSide("damage", scores), n_resamples=0)
    assert none.over_items_corrected is None


def sides_of(scores):
    target = [-float(row.level) for row in scores.rows]
    items = np.array([int(row.item_id) for row in scores.rows])
    return scores.values, np.array(target), items


def test_more_items_narrow_the_interval_over_items_alone():
    wide, narrow = (
        meta_correlate(side(HUMAN, "pearson"), LiveSide("damage", live(1, n)[0]), method="pearson")
        for n in (10, 160)
    )
    assert narrow.over_items.high - narrow.over_items.low < (wide.over_items.high - wide.over_items.low) / 2
    assert (wide.over_items.n_clusters, narrow.over_items.n_clusters) == (10, 160)


def test_sides_with_the_same_items_are_noted():
    scores, given = live()
    found = meta_correlate(LiveSide("people", scores, given), LiveSide("damage", scores), n_resamples=0)
    assert "both sides contain the same items" in found.notes[-1]


def several():
    parts = []
    for dataset in ("x", "y"):
        for prompt, sds in (("one", (1, 2, 4, 8, 16)), ("two", (16, 8, 4, 2, 1))):
            rng = np.random.default_rng(len(parts))
            for item in range(30):
                for level in range(6):
                    row = ScoredRow(str(item), "s", str(level), labels={"dataset": dataset, "prompt": prompt})
                    parts.append((row, tuple(-level + rng.normal(0, sd) for sd in sds)))
    return table(parts, NAMES)


def test_a_matrix_has_a_cell_for_each_combination_and_a_spread_over_variants():
    """Prompt one ranks the metrics as the human side does, prompt two the other way round: 1 and -1."""
    falling = side((0.9, 0.7, 0.5, 0.3, 0.1))
    matrix = meta_matrix({"": falling}, several(), by=["dataset"], over="prompt", n_resamples=0)
    assert [(dict(cell.by), cell.result.over_metrics.estimate) for cell in matrix.cells] == [
        ({"dataset": d, "prompt": p}, pytest.approx(value))
        for d in "xy"
        for p, value in (("one", 1), ("two", -1))
    ]
    assert [(dict(one.by), one.mean, one.sd, one.n) for one in matrix.summaries] == [
        ({"dataset": d}, pytest.approx(0), pytest.approx(np.sqrt(2)), 2) for d in "xy"
    ]


def test_each_data_set_has_its_human_side_or_a_reason():
    sides = {"x": side((0.9, 0.7, 0.5, 0.3, 0.1))}
    matrix = meta_matrix(sides, several(), by=["dataset", "prompt"], n_resamples=0)
    assert [cell.reason for cell in matrix.cells] == [None, None, *["no human side for the data set y"] * 2]
    one = meta_matrix(sides, several(), by=["dataset"], over="prompt", n_resamples=0).summaries
    assert [(summary.n, summary.n_left_out, summary.sd is None) for summary in one] == [
        (2, 0, False),
        (0, 2, True),
    ]


def test_a_live_side_is_split_by_its_data_sets():
    parts = split_by_dataset(LiveSide("mine", several()))
    assert {name: (part.name, len(part.table.rows)) for name, part in parts.items()} == {
        "x": ("mine, x", 360),
        "y": ("mine, y", 360),
    }
    assert {row.labels["dataset"] for row in parts["y"].table.rows} == {"y"}


def test_human_sides_of_data_sets_need_their_column():
    with pytest.raises(InputError, match="Add dataset to the columns"):
        meta_matrix({"x": side(HUMAN)}, several(), by=["prompt"])
    with pytest.raises(InputError, match="'promt' is unknown; did you mean prompt"):
        meta_matrix({"": side(HUMAN)}, several(), by=["promt"])


def test_a_cell_that_cannot_be_computed_does_not_end_the_others():
    scores = several()
    rows = tuple(replace(row, level=None) if row.labels["dataset"] == "x" else row for row in scores.rows)
    matrix = meta_matrix({"": side(HUMAN)}, replace(scores, rows=rows), by=["dataset"], n_resamples=0)
    assert "no damage levels" in matrix.cells[0].reason
    assert matrix.cells[1].result is not None


def test_cells_of_a_matrix_have_the_same_keys_whether_defined_or_not():
    sides = {"x": side((0.9, 0.7, 0.5, 0.3, 0.1))}
    matrix = meta_matrix(sides, several(), by=["dataset"], n_resamples=0)
    cells = json_of(result_of_matrix(matrix, sides, "s", MetaCorrelateOptions()))["cells"]
    assert [cell["estimate"] is None for cell in cells] == [False, True]
    assert set(cells[0]) == set(cells[1]) == {"by", *as_json(meta_correlate(side(HUMAN), side(SYNTHETIC)))}
    why = {"no human side for the data set y"}
    assert {cells[1][key] for key in ("reason", "interval_reason", "p_reason")} == why


def test_a_human_side_is_made_once_for_all_cells(monkeypatch):
    scores, given = live(n_items=5)
    people, made = LiveSide("people", scores, given), []

    def told(one, first_order):
        made.append(one.name)
        return side_values(one, first_order)

    monkeypatch.setattr("core.results.meta_correlation.side_values", told)
    matrix = meta_matrix({"": people}, several(), by=["dataset", "prompt"], n_resamples=5)
    assert (len(matrix.cells), made.count("people")) == (4, 1)
    alone = LiveSide(matrix.cells[0].result.synthetic, rows_at(several(), range(180)))
    assert matrix.cells[0].result == meta_correlate(people, alone, n_resamples=5)


def test_redundancy_is_the_coefficient_over_shared_texts():
    rows = ladder({"a": [(1.0, 3.0), (2.0, 2.0), (4.0, None)], "b": [(3.0, 1.0), (0.0, 9.0), (5.0, None)]})
    found = REDUNDANCY.answer(REDUNDANCY.Options(), table(rows, ("m", "other"))).result
    rho = stats.spearmanr([1, 2, 3, 0], [3, 2, 1, 9]).statistic
    assert found.values[0] == (1, pytest.approx(rho))
    assert found.values[1] == (pytest.approx(rho), 1)
    assert found.n == ((6, 4), (4, 4))
