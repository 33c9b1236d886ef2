"""Two metrics compared in a table of scores: the rows that both scored, views, groups, dimensions and what is left out."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers.texts.score_factories import metric, ratings, table
from scipy import stats

from core.analyses.compare import ANALYSIS as COMPARE
from core.analyses.compare import compared
from core.analyses.rank import ranking_of
from core.errors import InputError
from core.joining.choices import TableChoice, chosen_people, chosen_table
from core.results.correlations.points import NO_MEAN, NOTHING_TO_ORDER
from core.results.correlations.ranking import (
    ALPHA,
    MOST_SWAPS,
    better_first,
    compare_in_groups,
    compare_metrics,
    compared_verdict,
    rank_metrics,
)
from core.results.correlations.table import DIMENSION, correlate_dimensions, correlate_scores
from core.schema.analysis import Answer, UseOfRatings
from core.schema.correlating import CompareOptions, CorrelateOptions, RankOptions
from core.schema.result_table import Interval
from core.schema.rows import result_json
from core.schema.scores import METHODS, Rating, ScoredRow
from core.stats.multiplicity import corrected
from core.stats.resampling import NO_RESAMPLES

OPTIONS = CompareOptions(first="good", second="ter", n_resamples=200, rng=3)
CORRELATED = CorrelateOptions(n_resamples=200, rng=3)
RANKED = RankOptions(n_resamples=200, rng=3)
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def scored(missing=0.0, n_items=10, seed=0):
    drawn = np.random.default_rng(seed)
    rows = []
    for item in range(n_items):
        for system in range(4):
            values = [system + drawn.normal(), -system - 3 * drawn.normal(), drawn.normal()]
            kept = [None if drawn.random() < missing else round(float(value), 1) for value in values]
            rows.append((ScoredRow(str(item), f"s{system}", labels={"domain": "xy"[item % 2]}), kept))
    return table(rows, [metric("good"), metric("ter", direction="lower"), metric("noise")])


def rated(scores, dimensions=("overall",), seed=1):
    drawn = np.random.default_rng(seed)
    return ratings(
        *(
            Rating(
                row.item_id, round(float(int(row.system[1]) + drawn.normal()), 1), row.system, dimension=one
            )
            for row in scores.rows
            for one in dimensions
        )
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("view", ["pooled", "per_item", "per_system", "given_system"])
def test_each_coefficient_is_the_table_s_where_both_scored_everything(view, method):
    scores = scored()
    people = rated(scores)
    found = compare_metrics(scores, people, OPTIONS.but(methods=(method,)), view=view)
    cells = {row.metric.name: row for row in correlate_scores(scores, people, options=CORRELATED).rows}
    for name, one in ((found.first, found.first_estimate), (found.second, found.second_estimate)):
        cell = cells[name].estimate(method, view)
        assert (one.estimate, one.low, one.high, one.n) == pytest.approx(
            (cell.estimate, cell.low, cell.high, cell.n)
        )
    assert found.difference.estimate == pytest.approx(
        found.first_estimate.estimate - found.second_estimate.estimate
    )
    assert found.n_swaps == 200
    assert found.left_out == {}


def test_only_rows_with_both_scores_are_compared_and_the_others_counted():
    scores = scored(missing=0.2)
    people = rated(scores)
    found = compare_metrics(scores, people, OPTIONS)
    shared = ~np.isnan(scores.values[:, :2]).any(axis=1)
    target = np.array([one.score for one in people.ratings])[shared]
    by_scipy = [
        SCIPY["pearson"](sign * scores.values[shared, at], target).statistic for at, sign in ((0, 1), (1, -1))
    ]
    assert found.difference.estimate == pytest.approx(by_scipy[0] - by_scipy[1])
    assert (found.n, found.left_out) == (shared.sum(), {"no score": (~shared).sum()})
    per_item = compare_metrics(scores, people, OPTIONS, view="per_item")
    assert per_item.n + sum(per_item.left_out.values()) == len(scores.rows)


def test_a_group_a_dimension_and_rows_left_out():
    whole = scored()
    choice = TableChoice((("system", "s1"),))
    scores = chosen_table(whole, choice)
    people = chosen_people(rated(whole, ("fluency", "adequacy")), choice, scores)
    use, options = UseOfRatings(dimension=("fluency", "adequacy")), OPTIONS.but(second="noise")
    group = {DIMENSION: "fluency", "domain": "x", "metric": "good"}
    found = compare_metrics(scores, people, options, group=group, use=use)
    assert (found.n, found.left_out) == (15, {"on request: system s1": 5})
    assert found.group == {DIMENSION: "fluency", "domain": "x"}
    alone = UseOfRatings(dimension=("fluency",))
    assert (
        found.difference
        == compare_metrics(scores, people, options, group={"domain": "x"}, use=alone).difference
    )


def test_all_groups_views_and_dimensions_are_those_compared_one_by_one():
    scores = scored()
    people = rated(scores, ("fluency", "adequacy"))
    use = UseOfRatings(dimension=("fluency", "adequacy"))
    options = OPTIONS.but(methods=("pearson", "kendall"), group=("domain",))
    found = compare_in_groups(scores, people, options, use=use)
    report = correlate_dimensions(
        scores, people, options=CorrelateOptions(n_resamples=0, group=("domain",)), use=use
    )
    groups = [
        {name: value for name, value in row.group.items() if name != "metric"}
        for row in report.rows
        if row.metric.name == "good"
    ]
    assert [(one.group, one.view, one.method) for one in found] == [
        (group, view, method)
        for group in groups
        for view in ("pooled", "per_item", "per_system", "given_system")
        for method in options.methods
    ]
    for one in found[::5]:
        by = options.but(methods=(one.method,))
        alone = compare_metrics(scores, people, by, group=one.group, view=one.view, use=use)
        assert alone == replace(one, p_holm=one.p, n_tests=1)
    for method in options.methods:
        own = [one for one in found if one.method == method]
        assert {one.n_tests for one in own} == {sum(one.p is not None for one in own)}
        assert [one.p_holm for one in own] == corrected([one.p for one in own])


def test_a_ranking_is_clustered_by_the_corrected_p():
    scores = scored()
    found = rank_metrics(scores, rated(scores), options=RANKED.but(test="williams"))
    assert [one.p_bh for one in found.comparisons] == corrected(
        [one.p for one in found.comparisons], "benjamini-hochberg"
    )
    paid = {(one.first, one.second): one.p_bh for one in found.comparisons}
    for first, second in pairwise(found.order):
        begins = found.cluster[second] > found.cluster[first]
        before = [name for name in found.order if found.cluster[name] == found.cluster[first]]
        before = before[: before.index(first) + 1]
        assert begins == all(paid[name, second] < found.alpha for name in before)


def test_levels_are_turned_so_that_the_better_metric_is_the_larger_one():
    rows = [(ScoredRow(str(i), "s", str(level)), [i - level, level]) for i in range(4) for level in range(3)]
    found = compare_metrics(table(rows, ["a", "b"]), None, OPTIONS.but(first="a", second="b"))
    assert found.difference.estimate > 0


def test_items_and_systems_without_a_coefficient_are_counted():
    scores = scored()
    values = scores.values.copy()
    values[:4, 0] = 1.0
    scores = replace(scores, values=values)
    people = rated(scores)
    found = compare_metrics(scores, people, OPTIONS, view="per_item")
    assert (found.n, found.left_out) == (36, {NOTHING_TO_ORDER: 4})
    fewer = replace(people, ratings=tuple(one for one in people.ratings if one.system != "s3"))
    found = compare_metrics(scores, fewer, OPTIONS, view="per_system")
    assert (found.n, found.left_out) == (3, {NO_MEAN: 1})


@pytest.mark.parametrize(
    ("first", "second", "view", "named"),
    [
        ("good", "good", "pooled", "itself"),
        ("good", "godo", "pooled", "good"),
        ("good", "ter", "per_system", "human ratings"),
    ],
)
def test_what_cannot_be_compared_is_named(first, second, view, named):
    rows = [(ScoredRow(str(i), "s", str(i)), [i, i]) for i in range(4)]
    with pytest.raises(InputError) as problem:
        compare_metrics(
            table(rows, ["good", "ter"]), None, OPTIONS.but(first=first, second=second), view=view
        )
    assert named in str(problem.value)


def test_table_and_json_hold_the_same_numbers():
    scores = scored(missing=0.1)
    people = rated(scores)
    found = [
        compare_metrics(scores, people, OPTIONS.but(methods=(method,)), view=view)
        for view in ("pooled", "per_system")
        for method in ("pearson", "kendall")
    ]
    result = compared(found)
    shown = Answer(COMPARE, COMPARE.Options(), result).tables["comparison"]
    names = [column.name for column in shown.columns]
    for row, line, one in zip(shown.rows, result_json(result), found, strict=True):
        cells = dict(zip(names, row, strict=True))
        assert (line["view"], line["method"]) == (one.view, one.method)
        assert (cells["view"].replace(" ", "_"), cells["method"]) == (one.view, one.method)
        assert isinstance(cells["difference"], Interval)
        assert (cells["difference"].low, cells["difference"].high) == (
            line["difference"]["low"],
            line["difference"]["high"],
        )
        assert cells["p_two_sided"] == line["p"] == one.p
        assert cells["first_coefficient"].value == line["first_coefficient"]["estimate"]
    seen = [column.heading for column in shown.columns if column.shown]
    assert seen == ["view", "coefficient", "good", "ter", "difference", "p", "n", "left out"]


def test_a_ranking_has_the_interval_of_each_difference():
    scores = scored(missing=0.1)
    people = rated(scores)
    found = rank_metrics(scores, people, options=RANKED.but(method="kendall"))
    assert len(found.comparisons) == 3
    whole = ~np.isnan(scores.values).any(axis=1)
    shared = replace(
        scores,
        rows=tuple(row for row, kept in zip(scores.rows, whole, strict=True) if kept),
        values=scores.values[whole],
    )
    for one in found.comparisons:
        two = compare_metrics(
            shared, people, OPTIONS.but(first=one.first, second=one.second, methods=("kendall",))
        )
        assert (one.low, one.high, one.n) == (two.difference.low, two.difference.high, two.n)
        assert one.difference == pytest.approx(two.difference.estimate)
        assert one.p == two.p
    cells = [one.difference for one in ranking_of(found).comparisons]
    assert [(one.value, one.low, one.high) for one in cells] == [
        (one.difference, one.low, one.high) for one in found.comparisons
    ]


def test_a_ranking_draws_few_resamples_and_none_on_request():
    scores = scored()
    people = rated(scores)
    many = rank_metrics(scores, people, options=RANKED.but(test="williams", n_resamples=2 * MOST_SWAPS))
    few = rank_metrics(scores, people, options=RANKED.but(test="williams", n_resamples=MOST_SWAPS))
    assert many.comparisons == few.comparisons
    none = rank_metrics(scores, people, options=RANKED.but(n_resamples=0))
    assert {(one.low, one.interval_reason) for one in none.comparisons} == {(None, NO_RESAMPLES)}


@pytest.mark.parametrize("first", ["good", "noise"])
def test_the_verdict_names_the_metric_with_the_larger_coefficient_where_the_test_shows_it(first):
    scores = scored(n_items=40)
    second = "noise" if first == "good" else "good"
    given = compare_metrics(scores, rated(scores), OPTIONS.but(first=first, second=second))
    turned = better_first(given)
    assert given.p < ALPHA
    assert (turned.first, turned.second) == ("good", "noise")
    assert turned.difference.estimate == abs(given.difference.estimate)
    assert turned.difference.low <= turned.difference.estimate <= turned.difference.high
    assert compared_verdict(given)[1].startswith("good ")
    assert compared_verdict(given) == compared_verdict(turned)
    apart, around = turned.difference, replace(turned.difference, low=-0.1)
    said = [
        compared_verdict(replace(turned, p=p, p_holm=p, difference=one))
        for p in (0.01, ALPHA)
        for one in (apart, around)
    ]
    assert said[0] == compared_verdict(given)
    assert said[1] == said[2], "p and the interval disagree"
    assert len(set(said)) == 3
    unbounded = replace(apart, low=None, high=None)
    assert compared_verdict(replace(turned, difference=unbounded)) == said[0]
    assert compared_verdict(replace(given, p=None, p_reason="undefined here"))[0] == "undefined"
    paid = replace(turned, p=0.01, p_holm=0.06, n_tests=6)
    assert compared_verdict(paid)[0] == "not-shown"
    assert "Holm" in compared_verdict(paid)[1]
    assert compared_verdict(replace(paid, p_holm=0.04)) == said[0]
