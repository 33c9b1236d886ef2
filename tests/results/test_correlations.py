"""Scores beside ratings and levels: what is joined, turned, grouped and left out, against numbers made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.texts.score_factories import ladder, metric, ratings, table
from scipy import stats

from core.errors import InputError
from core.results.correlations import table as correlations
from core.results.correlations.ranking import rank_metrics
from core.results.correlations.table import correlate_scores, correlate_step_by_step
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CorrelateOptions, RankOptions
from core.schema.scores import METHODS, Rating, ScoredRow
from core.stats.resampling import NO_RESAMPLES

FAST = CorrelateOptions(n_resamples=50)
RANKED = RankOptions(n_resamples=50)
FIVE = {"a": [5, 4, 3, 2, 1], "b": [5, 3, 4, 2, 1], "c": [1, 2, 3, 4, 5]}
"""Kendall's tau with minus the level, by counting pairs: 1, (9 - 1) / 10 = 0.8 and -1."""


def one(report):
    (row,) = report.rows
    return row


def test_kendall_per_item_is_the_mean_over_items():
    """The form of Factual's Table 2: five levels a question, tau-b per question, then averaged."""
    row = one(correlate_scores(table(ladder(FIVE)), options=FAST))
    assert (row.against, row.n, row.n_left_out) == ("-level", 15, 0)
    assert row.per_item["kendall"].estimate == pytest.approx((1 + 0.8 - 1) / 3)
    assert (row.per_item["kendall"].n_clusters, row.per_item["kendall"].n) == (3, 15)


def test_pooled_coefficients_are_those_of_scipy():
    rows = ladder(FIVE)
    row = one(correlate_scores(table(rows), options=FAST))
    scores = [score for _, score in rows]
    levels = [-float(scored.level) for scored, _ in rows]
    for method, function in zip(METHODS, (stats.pearsonr, stats.spearmanr, stats.kendalltau), strict=True):
        assert row.pooled[method].over_rows.estimate == pytest.approx(function(scores, levels).statistic)
        assert row.pooled[method].over_rows.estimate == row.pooled[method].over_items.estimate
    assert (row.pooled["pearson"].over_rows.n_clusters, row.pooled["pearson"].over_items.n_clusters) == (
        15,
        3,
    )
    interval = stats.pearsonr(scores, levels).confidence_interval(0.95)
    assert row.pooled["pearson"].fisher == pytest.approx((interval.low, interval.high))
    assert row.pooled["kendall"].fisher is None


def test_the_raw_level_turns_every_sign():
    minus = one(correlate_scores(table(ladder(FIVE)), options=FAST))
    raw = one(correlate_scores(table(ladder(FIVE)), options=FAST.but(raw_level=True)))
    assert raw.against == "level"
    for method in METHODS:
        assert raw.pooled[method].over_rows.estimate == -minus.pooled[method].over_rows.estimate
        assert raw.per_item[method].estimate == -minus.per_item[method].estimate


def test_a_metric_whose_lower_end_is_better_is_turned():
    upright = table(ladder(FIVE))
    turned = replace(upright, metrics=(metric("ter", direction="lower"),), values=-upright.values)
    pairs = zip(
        correlate_scores(upright, options=FAST).rows, correlate_scores(turned, options=FAST).rows, strict=True
    )
    for row, other in pairs:
        assert (row.pooled, row.per_item) == (other.pooled, other.per_item)


def test_rows_are_grouped_by_columns_and_labels():
    rows = ladder(FIVE, generator="x") + ladder({"a": [1, 2, 3]}, generator="y") + ladder({"z": [2, 1]})
    report = correlate_scores(table(rows), options=FAST.but(group=["generator", "metric"]))
    found = [(row.group["generator"], row.n, row.per_item["kendall"].estimate) for row in report.rows]
    assert found == [
        ("x", 15, pytest.approx(0.8 / 3)),
        ("y", 3, pytest.approx(-1)),
        ("(none)", 2, pytest.approx(1)),
    ]
    assert set(report.rows[0].group) == {"generator", "metric"}


def test_what_is_left_out_is_counted_by_reason():
    rows = [
        *ladder({"a": [3, 2, 1], "b": [None, None, 1]}),
        (ScoredRow("c", "s"), 4.0),
        (ScoredRow("d", "s", "best"), 5.0),
    ]
    row = one(correlate_scores(table(rows, reasons={(3, 0): "no reference"}), options=FAST))
    assert (row.n, row.n_left_out) == (4, 4)
    assert row.left_out == {
        "no reference": 1,
        "no score": 1,
        "no level": 1,
        "level is not a number (best)": 1,
    }


def test_a_constant_metric_is_undefined_with_its_reason():
    row = one(correlate_scores(table(ladder({"a": [2, 2, 2]})), options=FAST))
    for method in METHODS:
        estimate = row.pooled[method].over_rows
        assert (estimate.estimate, estimate.reason) == (None, "all scores are equal")
        assert row.per_item[method].estimate is None


def test_one_level_is_a_constant_target():
    rows = [(ScoredRow(item, "s", "3"), score) for item, score in (("a", 1.0), ("b", 2.0))]
    assert (
        one(correlate_scores(table(rows), options=FAST)).pooled["pearson"].over_rows.reason
        == "all levels are equal"
    )


def test_a_metric_without_any_score_has_a_reason():
    row = one(correlate_scores(table(ladder({"a": [None, None]})), options=FAST))
    assert (row.n, row.left_out) == (0, {"no score": 2})
    assert row.pooled["kendall"].over_rows.reason == "fewer than two rows"


def test_no_levels_say_what_to_do():
    with pytest.raises(InputError, match=r"no damage levels to correlate with.*human ratings"):
        correlate_scores(table([(ScoredRow("a", "s"), 1.0)]))


def test_a_table_without_rows_is_said():
    with pytest.raises(InputError, match="no scores yet"):
        correlate_scores(table([]))


def test_unknown_columns_get_suggestions():
    with pytest.raises(InputError, match=r"'genrator' is unknown; did you mean generator"):
        correlate_scores(table(ladder(FIVE, generator="x")), options=FAST.but(group=("genrator",)))


def test_only_the_methods_asked_for_are_computed():
    row = one(correlate_scores(table(ladder(FIVE)), options=FAST.but(methods=("kendall",))))
    assert set(row.pooled) == set(row.per_item) == {"kendall"}


def test_controlling_for_system_removes_what_systems_differ_in():
    """Within each of two systems the score rises by one with the rating; between them it falls."""
    rows = [(ScoredRow(str(k), s), base + k) for s, base in (("low", 100), ("high", 0)) for k in range(4)]
    given = [Rating(str(k), base + k, s) for s, base in (("low", 0), ("high", 10)) for k in range(4)]
    row = one(correlate_scores(table(rows), ratings(*given), options=FAST))
    assert row.pooled["pearson"].over_rows.estimate < -0.9
    assert row.partial["pearson"].estimate == pytest.approx(1)
    assert row.per_system["pearson"].estimate == pytest.approx(-1)
    assert (row.system_accuracy.estimate, row.system_accuracy.n) == (0, 1)


@pytest.mark.parametrize("raters", ["averaged", "kept"])
def test_a_metrics_mean_of_a_system_is_over_all_its_texts_in_the_group(raters):
    """Of language x: people 1, 2, 3; the metric over all texts 1, 2, 4. What texts of y have belongs to y."""
    values = {"A": (1, 1, 1), "B": (3, 3, 0), "C": (2, 2, 8)}
    scores = table(
        [
            (
                ScoredRow(f"{language}{n}", system, language=language),
                own[n] if language == "x" else 9 - own[n],
            )
            for language in ("x", "y")
            for system, own in values.items()
            for n in range(3)
        ]
    )
    people = ratings(
        *(
            Rating(f"{language}{n}", float(k), system, rater=f"r{who}", language=language)
            for language in ("x", "y")
            for k, system in enumerate("ABC")
            for n in range(2)
            for who in range(1 + (n == 0))
        )
    )
    for system_scores, expected in (("all", np.corrcoef([1, 2, 3], [1, 2, 4])[0, 1]), ("rated", 0.5)):
        options = FAST.but(system_scores=system_scores, group=("language",))
        x, y = correlate_scores(scores, people, options=options, use=UseOfRatings(raters=raters)).rows
        assert x.per_system["pearson"].estimate == pytest.approx(expected)
        assert y.per_system["pearson"].estimate == pytest.approx(-expected)
        assert (x.per_system["pearson"].n, x.n) == (3, 9 if raters == "kept" else 6)


@pytest.mark.parametrize(("rated", "said"), [(True, "ratings"), (False, "levels")])
def test_what_is_equal_within_each_system_is_named_for_what_it_is(rated, said):
    rows = [
        (ScoredRow(str(k), s, level), base + k)
        for s, level, base in (("a", "1", 0), ("b", "2", 9))
        for k in range(3)
    ]
    given = ratings(*(Rating(str(k), base, s) for s, base in (("a", 1), ("b", 2)) for k in range(3)))
    row = one(correlate_scores(table(rows), given if rated else None, options=FAST))
    assert {m: row.partial[m].reason for m in METHODS} == dict.fromkeys(
        METHODS, f"all {said} are equal within each group"
    )


def test_a_ranking_without_resamples_has_differences_and_says_why_no_p():
    rows = [(row, (score, -score)) for row, score in ladder(FIVE)]
    (found,) = rank_metrics(table(rows, ("m", "other")), options=RANKED.but(n_resamples=0)).comparisons
    assert (found.p, found.reason) == (None, NO_RESAMPLES)
    assert found.difference > 0


def test_ranking_puts_better_metrics_first_and_names_the_dropped():
    """A copy of the target with little noise, one with much, one without relation, one constant."""
    rng = np.random.default_rng(0)
    rows = []
    for item in range(60):
        for level in range(6):
            scores = (-level + rng.normal(0, 0.1), -level + rng.normal(0, 3), rng.normal(), 1.0, None)
            rows.append((ScoredRow(str(item), "s", str(level)), scores))
    scores = table(rows, ("clear", "noisy", "blind", "flat", "empty"))
    for test in ("permutation", "williams"):
        ranking = rank_metrics(scores, options=RANKED.but(test=test, n_resamples=200))
        assert ranking.order == ("clear", "noisy", "blind")
        assert ranking.cluster == {"clear": 1, "noisy": 2, "blind": 3}
        assert ranking.dropped == {"flat": "all scores are equal", "empty": "no scores"}
        assert [(one.first, one.second, one.n) for one in ranking.comparisons] == [
            ("clear", "noisy", 360),
            ("clear", "blind", 360),
            ("noisy", "blind", 360),
        ]
        values = [
            correlate_scores(scores, options=FAST).rows[k].pooled["pearson"].over_rows.estimate
            for k in (0, 1)
        ]
        assert ranking.comparisons[0].difference == pytest.approx(values[0] - values[1])


def test_equal_metrics_share_a_cluster():
    rows = [(row, (score, score + 0.0)) for row, score in ladder(FIVE)]
    ranking = rank_metrics(table(rows, ("m", "copy")), options=RANKED)
    assert ranking.cluster == {"m": 1, "copy": 1}
    assert (ranking.comparisons[0].difference, ranking.comparisons[0].p) == (0, 1)
    williams = rank_metrics(table(rows, ("m", "copy")), options=RANKED.but(test="williams")).comparisons[0]
    assert williams.p is None
    assert "rank all texts alike" in williams.reason


def test_williams_is_refused_for_kendall():
    with pytest.raises(InputError, match="Williams"):
        rank_metrics(table(ladder(FIVE)), None, RankOptions(method="kendall", test="williams"))


def test_step_by_step_shows_estimates_first_and_all_at_last():
    rows = [
        (ScoredRow(f"q{n}", "st"[n % 2], str(n % 3)), [n % 7 + 1.0, n % 5 - n % 3, -1.0 * n])
        for n in range(60)
    ]
    scores = table(rows, metrics=("m", "n", "k"))
    whole = correlate_scores(scores, options=FAST.but(group=["system"]))
    first, *between, last = correlate_step_by_step(scores, options=FAST.but(group=["system"]))
    assert last == whole
    assert whole.is_complete
    assert not any(row.is_complete for row in first.rows)
    for now, then in zip(first.rows, whole.rows, strict=True):
        assert (now.group, now.n, now.constant) == (then.group, then.n, then.constant)
        for method in METHODS:
            assert now.pooled[method].over_items.estimate == then.pooled[method].over_items.estimate
            assert now.pooled[method].over_items.low is None
            assert now.pooled[method].fisher == then.pooled[method].fisher
    assert [row.is_complete for row in between[-1].rows] == [True] * 3 + [False] * 3
    told = []
    resumed = list(
        correlate_step_by_step(
            scores, options=FAST.but(group=["system"]), so_far=between[-1], tell=told.append
        )
    )
    assert resumed == [between[-1], whole]
    assert told[0] == "group 2 of 2, metrics 1 to 3 of 3"
    assert list(correlate_step_by_step(scores, options=FAST.but(group=["system"]), so_far=whole)) == [whole]


def test_first_estimates_do_not_ask_whose_texts_rows_are(monkeypatch):
    people = ratings(*(Rating(item, 5.0 - level, "s", str(level)) for item in FIVE for level in range(5)))
    looked = []
    for name in ("items_of", "names_of", "system_rows"):
        real = getattr(correlations, name)
        monkeypatch.setattr(
            correlations, name, lambda *given, real=real, name=name: looked.append(name) or real(*given)
        )
    steps = correlate_step_by_step(table(ladder(FIVE)), people, options=FAST)
    next(steps)
    assert not looked
    list(steps)
    assert sorted(looked) == ["items_of", "names_of", "system_rows"]


def test_items_with_a_row_each_are_resampled_once():
    """Rows and items are then the same, and so are their intervals, numbers and all."""
    rows = [(ScoredRow(f"q{n:02}", "s", str(n % 4)), [n % 7 + 1.0]) for n in range(30)]
    told = []
    pooled = one(correlate_scores(table(rows), options=FAST, tell=told.append)).pooled["kendall"]
    assert pooled.over_rows == pooled.over_items
    assert not any("over items" in said for said in told)
