"""The dots of a cell give the cell: its coefficient, its n and what it leaves out, computed again from the dots alone."""

from dataclasses import replace
from functools import partial as partial_of

import numpy as np
import pytest
from helpers.texts.score_factories import metric, ratings, table
from scipy import stats

from core.errors import InputError
from core.joining.choices import TableChoice, chosen_people, chosen_table
from core.joining.tables import AS_USUAL
from core.results.correlations.points import NO_MEAN, NOTHING_TO_ORDER, points, text_key
from core.results.correlations.table import DIMENSION, correlate_dimensions
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CorrelateOptions
from core.schema.scores import METHODS, Rating, ScoredRow
from core.stats.correlation.groups import mean_within, partial

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
VIEWS = ("pooled", "per_item", "per_system", "given_system")


def scored(seed=1, n_items=7, unscored=0.1):
    """Seven items by four systems at two levels of two generators; item 0 has one score throughout, some have none."""
    drawn = np.random.default_rng(seed)
    rows = [
        (
            ScoredRow(str(item), f"s{system}", str(level), labels={"generator": "xy"[item % 2]}),
            [
                7.0 if item == 0 else round(drawn.normal() + system - level, 1),
                None if drawn.random() < unscored else round(-drawn.normal() - system, 1),
            ],
        )
        for item in range(n_items)
        for system in range(4)
        for level in range(2)
    ]
    return table(rows, [metric("good"), metric("ter", direction="lower")])


def rated(scores, seed=2, dimensions=("overall",), raters=("a", "b"), unrated=0.15):
    drawn = np.random.default_rng(seed)
    return ratings(
        *(
            Rating(
                row.item_id,
                float(np.round(drawn.normal() + int(row.system[1]), 1)),
                row.system,
                row.level,
                rater=rater,
                dimension=dimension,
            )
            for row in scores.rows
            if drawn.random() > unrated
            for dimension in dimensions
            for rater in raters
        )
    )


def cells(row, view):
    whole = {
        "pooled": {name: one.over_items for name, one in row.pooled.items()},
        "per_item": row.per_item,
        "per_system": row.per_system,
        "given_system": row.partial,
    }
    return whole[view]


def again(found, method):
    """The cell's coefficient from nothing but the dots."""
    sign = -1 if found.metric.direction == "lower" else 1
    if found.view == "per_item":
        values = [
            SCIPY[method](found.x[found.items == item], found.y[found.items == item]).statistic
            for item in np.unique(found.items)
        ]
        assert np.mean(values) == pytest.approx(
            mean_within(found.x, found.y, found.items, method, n_resamples=0).estimate
        )
        return sign * np.mean(values)
    if found.view == "given_system":
        # The sign of x matters to no rank but the middle one's, so it is turned before.
        return partial(sign * found.x, found.y, found.system, method, n_resamples=0).estimate
    return sign * SCIPY[method](found.x, found.y).statistic


def check(scores, people, group=(), views=VIEWS, use=AS_USUAL, *, raw=False, system_scores="all"):
    options = CorrelateOptions(n_resamples=0, group=group, raw_level=raw, system_scores=system_scores)
    report = correlate_dimensions(scores, people, options=options, use=use)
    dots = partial_of(points, scores, people, use=use, raw=raw, system_scores=system_scores)
    n_checked = 0
    for row in report.rows:
        for view in views:
            for method in METHODS:
                cell = cells(row, view)[method]
                if cell.estimate is None:
                    continue
                found = dots(metric=row.metric.name, group=row.group, view=view)
                assert again(found, method) == pytest.approx(cell.estimate, abs=1e-9)
                assert found.n == cell.n
                assert found.metric == row.metric
                n_checked += 1
            if view in ("pooled", "given_system"):
                found = dots(metric=row.metric.name, group=row.group, view=view)
                assert (found.n, found.left_out) == (row.n, row.left_out)
                assert found.n + sum(found.left_out.values()) == row.n + row.n_left_out
            if view == "per_item":
                lost = sum(found.left_out.values()) - row.n_left_out
                assert lost == row.n - found.n
    return n_checked


def test_the_dots_give_every_cell_against_ratings():
    scores = scored()
    assert check(scores, rated(scores)) == 24


def test_the_dots_give_every_cell_against_levels():
    views = ("pooled", "per_item", "given_system")
    assert check(scored(), None, (), views) == 18
    assert check(scored(), None, (), views, raw=True) == 18


def test_the_dots_give_every_cell_of_every_group():
    scores = scored()
    people = rated(scores)
    assert check(scores, people, ("generator",)) == 48
    assert check(scores, people, ("level", "generator")) > 80
    assert check(scores, people, ("system",), ("pooled",)) == 24


def test_the_dots_give_every_cell_of_each_dimension_and_of_their_mean():
    scores = scored()
    people = rated(scores, dimensions=("fluency", "adequacy"))
    use = UseOfRatings(dimension=("fluency", "adequacy"))
    assert check(scores, people, use=use) == 72
    assert check(scores, people, ("generator",), use=use) == 144
    found = points(scores, people, metric="good", group={DIMENSION: "fluency"}, use=use)
    assert found.labels == ("good", "mean rating, fluency")
    mean = points(scores, people, metric="good", use=use)
    assert mean.labels[1] == "mean rating over 2 dimensions"


def test_each_kept_rating_is_a_dot():
    scores = scored()
    people = rated(scores)
    use = UseOfRatings(raters="kept")
    assert check(scores, people, use=use) == 24
    kept = points(scores, people, metric="good", use=use)
    averaged = points(scores, people, metric="good")
    assert kept.n == 2 * averaged.n
    assert kept.labels[1] == "rating"
    assert check(scores, people, use=UseOfRatings(raters="kept", z_normalise=True)) == 24


def test_systems_means_over_rated_texts_only_on_request():
    scores = scored()
    people = rated(scores)
    assert check(scores, people, ("generator",), ("per_system",), system_scores="rated") == 12
    every = points(scores, people, metric="ter", view="per_system")
    only = points(scores, people, metric="ter", view="per_system", system_scores="rated")
    assert every.system.tolist() == only.system.tolist() == ["s0", "s1", "s2", "s3"]
    assert (every.n_scored > only.n_scored).any()
    assert (only.n_scored == only.n_rated).all()
    for found in (every, only):
        assert [found.texts[name].size for name in found.system] == found.n_scored.tolist()
        for name, mean in zip(found.system, found.x, strict=True):
            assert scores.values[found.texts[name], 1].mean() == pytest.approx(mean)
            assert {scores.rows[row].system for row in found.texts[name]} == {name}


def test_rows_left_out_on_request_are_no_dots_and_are_counted():
    whole = scored()
    choice = TableChoice((("system", "s1"), ("item", "3"), ("item", "5")))
    scores = chosen_table(whole, choice)
    people = chosen_people(rated(whole), choice, scores)
    assert check(scores, people) == 24
    assert check(scores, people, ("generator",)) == 48
    found = points(scores, people, metric="good")
    assert found.left_out["on request: system s1"] == 14
    assert not {"3", "5"} & set(found.item.tolist())


def test_a_dot_leads_to_its_row_and_scale():
    scores = scored()
    people = rated(scores)
    found = points(scores, people, metric="ter")
    assert found.metric.direction == "lower"
    assert found.labels[0] == "ter, lower is better"
    for dot, row in enumerate(found.rows):
        assert (scores.rows[row].item_id, scores.rows[row].system) == (found.item[dot], found.system[dot])
        assert scores.values[row, 1] == found.x[dot]


def test_texts_without_an_order_are_left_out_per_item():
    scores = scored()
    found = points(scores, None, metric="good", view="per_item")
    assert "0" not in found.item
    assert found.left_out == {NOTHING_TO_ORDER: 8}


def test_a_system_without_a_rating_is_no_dot():
    scores = scored()
    people = rated(scores)
    people = replace(people, ratings=tuple(one for one in people.ratings if one.system != "s2"))
    found = points(scores, people, metric="good", view="per_system")
    assert found.system.tolist() == ["s0", "s1", "s3"]
    assert found.left_out == {NO_MEAN: 1}


def test_the_best_other_text_of_an_item_is_the_least_damaged_or_best_rated():
    rows = [(ScoredRow("a", "s", level), score) for level, score in zip("210", (1.0, 2.0, 3.0), strict=True)]
    scores = table([*rows, (ScoredRow("b", "s", "0"), 9.0)])
    for raw in (False, True):
        found = points(scores, None, metric="m", raw=raw)
        assert [found.best_of(row) for row in range(4)] == [2, 2, None, None]
    people = ratings(*(Rating("a", score, level=level) for level, score in (("2", 5), ("1", 5), ("0", 1))))
    found = points(scores, people, metric="m")
    assert [found.best_of(row) for row in range(4)] == [None, None, 0, None]


def test_a_text_has_a_key_that_outlives_new_rows():
    scores = scored()
    fewer = replace(scores, rows=scores.rows[20:], values=scores.values[20:])
    keys = [text_key(row) for row in scores.rows]
    assert len(set(keys)) == len(keys)
    assert [text_key(row) for row in fewer.rows] == keys[20:]


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"metric": "godo"}, "good"),
        ({"metric": "good", "group": {"generator": "z"}}, "generator"),
        ({"metric": "good", "group": {"genrator": "x"}}, "generator"),
        ({"metric": "good", "view": "per_system"}, "human ratings"),
    ],
)
def test_what_does_not_exist_is_named(asked, named):
    with pytest.raises(InputError) as problem:
        points(scored(), None, **asked)
    assert named in str(problem.value)
