"""Two judges on the same texts, by hand and by simulation."""

import math

import numpy as np
import pytest
from helpers.texts.score_factories import table

from core.errors import InputError
from core.joining.tables import not_scored_in
from core.judges.claims import ClaimsSettings
from core.judges.cross_examination import CEF_COMPONENTS, CefSettings
from core.judges.rubric import RubricSettings
from core.results.judges.agreement import RANKS, SHARES, agreement, component_of, same_components
from core.runs.kinds import KINDS
from core.schema.scores import Metric, ScoredRow

FEW = {"n_resamples": 50}
RUBRIC = Metric("rubric-a", "Rubric|score:verdict|model:a|rubric:factual-0123456789ab|repeats:1", "Rubric")
OTHER_RUBRIC = Metric(
    "rubric-b", "Rubric|score:verdict|model:b|rubric:factual-0123456789ab|repeats:3", "Rubric"
)
THIRD_RUBRIC = Metric(
    "rubric-c", "Rubric|score:verdict|model:b|rubric:factual-ba9876543210|repeats:3", "Rubric"
)


def column(values, metric="m", file_name="a.csv", rows=None, **fields):
    rows = rows or [ScoredRow(str(k), "s") for k in range(len(values))]
    return table(zip(rows, values, strict=True), [metric], file_name=file_name, **fields)


def test_four_texts_by_hand():
    """Ranks 1 3 2 4 against 1 2 3 4: one of six pairs is the other way round; differences 0, 1, -1, 0."""
    found = agreement(
        column([1, 2, 3, 4], RUBRIC), "rubric-a", column([1, 3, 2, 4], OTHER_RUBRIC), "rubric-b", **FEW
    )
    assert {m: e.estimate for m, e in found.pooled.items()} == pytest.approx(
        {"pearson": 0.8, "spearman": 0.8, "kendall": 4 / 6}
    )
    assert (found.n, found.left_out, found.scale) == (4, {}, "rubric factual")
    assert found.mean_difference.estimate == 0
    assert found.sd_difference.estimate == pytest.approx(math.sqrt(2 / 3))
    assert (found.mean_difference.low, found.mean_difference.high) != (0, 0)
    first, second, *alike = found.disagreements
    assert (first.row.item_id, first.score_a, first.score_b) == ("1", 2, 3)
    assert (first.percentile_a, first.percentile_b, first.difference) == (0.375, 0.625, 0.25)
    assert (second.row.item_id, second.difference) == ("2", -0.25)
    assert [one.difference for one in alike] == [0, 0]


def test_within_items_and_between_systems_by_hand():
    """Item 1 in one order, item 2 with one of three pairs turned: tau 1 and 1/3. Means of systems: 1 2 3 and 1.5 1 3."""
    rows = [ScoredRow(item, system) for item in "12" for system in "abc"]
    first = column([1, 2, 3, 1, 2, 3], rows=rows)
    second = column([1, 2, 3, 2, 0, 3], "n", "b.csv", rows=rows)
    found = agreement(first, "m", second, "n", **FEW)
    assert found.per_item.estimate == pytest.approx((1 + 1 / 3) / 2)
    assert found.per_item.n_clusters == 2
    assert found.per_system["pearson"].estimate == pytest.approx(
        np.corrcoef([1, 2, 3], [1.5, 1, 3])[0, 1], abs=1e-12
    )
    assert found.per_system["kendall"].estimate == pytest.approx(1 / 3)
    assert found.per_system["kendall"].n == 3
    assert agreement(column([1, 2]), "m", column([1, 2], "n"), "n", **FEW).per_system["pearson"].reason == (
        "fewer than two systems"
    )


def test_two_noisy_readings_of_one_truth():
    """Truth of SD 1, noise of SD .5 and a bias of .3 of the second: r = 1 / 1.25, differences of mean .3 and SD .5 sqrt 2."""
    generator = np.random.default_rng(3)
    truth = np.repeat(generator.normal(size=1_000), 4)
    rows = [ScoredRow(str(k // 4), f"s{k % 4}") for k in range(truth.size)]
    first, second = (truth + generator.normal(size=truth.size) * 0.5 + bias for bias in (0, 0.3))
    found = agreement(
        column(first.tolist(), RUBRIC, rows=rows),
        "rubric-a",
        column(second.tolist(), OTHER_RUBRIC, "b.csv", rows=rows),
        "rubric-b",
        n_resamples=400,
    )
    for estimate, expected in (
        (found.pooled["pearson"], 0.8),
        (found.mean_difference, 0.3),
        (found.sd_difference, 0.5 * math.sqrt(2)),
    ):
        assert estimate.low < expected < estimate.high
        assert estimate.estimate == pytest.approx(expected, abs=0.03)
        assert estimate.n_clusters == 1_000
    # Noise alone is left within an item, so the two do not agree there.
    assert abs(found.per_item.estimate) < 0.05


def test_texts_that_one_judge_did_not_score_are_counted_by_reason():
    first = column([1, None, 3, None], reasons={(1, 0): "cut off", (3, 0): "refused"})
    rows = [ScoredRow(str(k), "s") for k in (0, 1, 2, 9)]
    second = column([1, None, None, 4], "n", "b.csv", rows=rows, reasons={(1, 0): "empty"})
    found = agreement(first, "m", second, "n", **FEW)
    assert found.n == 1
    assert found.left_out == {
        "m: cut off": 1,
        "n: no score": 1,
        "m: refused": 1,
        not_scored_in("a.csv"): 1,
    }
    assert found.pooled["pearson"].reason == "fewer than two rows"
    assert found.sd_difference.reason == "fewer than two texts"
    assert found.mean_difference.estimate is None or found.mean_difference.interval_reason


def test_no_text_scored_by_both_is_undefined_not_zero():
    found = agreement(column([1, None]), "m", column([None, 1], "n"), "n", **FEW)
    assert (found.n, found.disagreements) == (0, ())
    for estimate in (*found.pooled.values(), found.per_item, found.mean_difference, found.sd_difference):
        assert estimate.estimate is None
        assert estimate.reason


def test_a_judge_that_says_one_thing_throughout_has_no_correlation():
    found = agreement(column([0.5] * 3), "m", column([0.1, 0.4, 0.4], "n"), "n", **FEW)
    assert found.pooled["kendall"].estimate is None
    assert found.pooled["kendall"].reason == "all scores of m are equal"
    assert found.mean_difference.estimate == pytest.approx(-0.2)


def test_where_lower_is_better_differences_are_second_minus_first_all_the_same():
    """Error shares .1 .2 .6 and .2 .4 .6: the second says .1 more; it puts the worst text last, as the first does."""
    metrics = [Metric(name, "", "other", "lower") for name in ("first", "second")]
    found = agreement(
        column([0.1, 0.2, 0.6], metrics[0]),
        "first",
        column([0.2, 0.4, 0.6], metrics[1], "b.csv"),
        "second",
        **FEW,
    )
    assert (found.scale, found.pooled["kendall"].estimate) == (SHARES, 1)
    assert found.mean_difference.estimate == pytest.approx(0.1)
    assert found.sd_difference.estimate == pytest.approx(0.1)
    assert [one.percentile_a for one in found.disagreements] == pytest.approx([5 / 6, 3 / 6, 1 / 6])


def test_scales_that_are_not_shared_are_compared_by_ranks():
    found = agreement(column([1, 3, 5], RUBRIC), "rubric-a", column([0.1, 0.9, 0.5], "f1"), "f1", **FEW)
    assert found.scale == RANKS
    assert found.mean_difference.estimate is None
    assert found.mean_difference.reason == "percentiles of the same texts have the same mean"
    assert found.sd_difference.estimate == pytest.approx(1 / 3)  # of 0, 1/3, -1/3


@pytest.mark.parametrize(
    ("first", "second", "values", "scale"),
    [
        (RUBRIC, THIRD_RUBRIC, [1, 2], RANKS),
        (RUBRIC, Metric("result", "", "other"), [1, 2], RANKS),
        (RUBRIC, Metric("result", "", "other"), [0, 1], RANKS),
        (Metric("x", "", "other"), Metric("y", "", "other"), [0, 1], SHARES),
        (Metric("x", "", "other"), Metric("y", "", "other"), [0, 1.5], RANKS),
        (Metric("cef-conciseness", "", "CEF"), Metric("claims-f1", "", "Claims"), [-0.5, 1], SHARES),
        (Metric("x", "made elsewhere", "other", "lower"), Metric("y", "", "other"), [0, 1], RANKS),
    ],
)
def test_which_scales_are_shared(first, second, values, scale):
    found = agreement(column(values, first), first.name, column(values, second), second.name, **FEW)
    assert found.scale == scale


def test_a_lower_end_that_is_better_is_turned_and_shown_as_it_is():
    errors = Metric("errors", "made elsewhere", "other", "lower")
    found = agreement(column([9, 5, 1], errors), "errors", column([1, 2, 3], "n"), "n", **FEW)
    assert found.pooled["pearson"].estimate == 1
    assert found.disagreements[0].score_a == 9
    assert found.disagreements[0].percentile_a == found.disagreements[0].percentile_b


def test_two_columns_of_one_table_and_the_nearest_name():
    both = table([(ScoredRow(str(k), "s"), [k, -k]) for k in range(3)], ["precision", "recall"])
    found = agreement(both, "precision", both, "recall", **FEW)
    assert (found.metric_a, found.metric_b, found.pooled["spearman"].estimate) == ("precision", "recall", -1)
    with pytest.raises(InputError, match="'recal' is unknown; did you mean recall"):
        agreement(both, "precision", both, "recal", **FEW)


def test_the_same_numbers_every_time():
    first, second = column([1, 2, 3, 4]), column([2, 1, 4, 3], "n")
    assert agreement(first, "m", second, "n", **FEW) == agreement(first, "m", second, "n", **FEW)


def of_judge(kind, name, settings):
    metrics = KINDS[kind].metrics(name, settings, {"model": name})
    return table([(ScoredRow("1", "s"), [0.5] * len(metrics))], metrics, file_name=f"{name}.csv")


def test_components_of_two_modes_are_paired():
    free, with_reference = (
        of_judge("cef", name, CefSettings(mode=mode))
        for name, mode in (("cef-coverage-x", "reference-free"), ("cef-y", "reference"))
    )
    assert same_components(free, with_reference) == tuple(
        (f"cef-coverage-x-{part}", f"cef-y-{part}") for part in CEF_COMPONENTS
    )


def test_components_of_imported_columns_are_told_by_their_names():
    made_here = of_judge("claims", "claims-x", ClaimsSettings())
    elsewhere = table(
        [(ScoredRow("1", "s"), [0.5] * 4)],
        [Metric(name, "", "other") for name in ("ragas-recall", "Precision", "bleu-4", "f1")],
    )
    assert same_components(made_here, elsewhere) == (
        ("claims-x-f1", "f1"),
        ("claims-x-precision", "Precision"),
        ("claims-x-recall", "ragas-recall"),
    )
    rubrics = [of_judge("rubric", name, RubricSettings()) for name in ("rubric-x", "mine")]
    assert same_components(*rubrics) == (("rubric-x", "mine"),)


@pytest.mark.parametrize(
    ("name", "component"),
    [
        ("cef-consistency-code", "consistency-code"),
        ("cef-consistency", "consistency"),
        ("claims-f0.5-ragas", "f0.5-ragas"),
        ("claims-f1", "f1"),
        ("overall", "overall"),
        ("noverall", None),
        ("bertscore-en", None),
    ],
)
def test_the_longest_ending_is_the_component(name, component):
    assert component_of(Metric(name, "", "other")) == component
