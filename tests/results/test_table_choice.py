"""Rows left out and directions declared: as if the file had been written so."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.texts.score_factories import ratings, table

from core.analyses.redundancy import ANALYSIS as REDUNDANCY
from core.errors import InputError
from core.joining.choices import (
    TableChoice,
    check_choice,
    chosen_people,
    chosen_table,
    left_out_of,
    values_to_leave_out,
)
from core.results.correlations.ranking import rank_metrics
from core.results.correlations.table import correlate_dimensions, correlate_scores
from core.results.meta_correlation import LiveSide, chosen_side, side_values
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CorrelateOptions, RankOptions
from core.schema.scores import CorrelationSet, Metric, Rating, ScoredRow

FAST = CorrelateOptions(n_resamples=20)
SYSTEMS = ("Human", "GPT", "BERT")
RNG = np.random.default_rng(5)
QUALITY = {(i, s): RNG.normal() + 5 * (s == "Human") for i in range(12) for s in SYSTEMS}
METRICS = (Metric("BLEU", "", "BLEU"), Metric("BaryScore-W", "", "other"))


def scores(systems=SYSTEMS):
    rows = [
        (
            ScoredRow(f"q{i}", s, "A1" if i % 2 else "A2", "de" if i < 4 else "en", {"topic": str(i % 3)}),
            [q + 0.3 * i, -q],
        )
        for (i, s), q in QUALITY.items()
        if s in systems
    ]
    return table(rows, METRICS)


def people(systems=SYSTEMS):
    return ratings(
        *(
            Rating(f"q{i}", q + bias, s, rater=rater)
            for (i, s), q in QUALITY.items()
            if s in systems
            for rater, bias in (("a", 0.0), ("b", i % 2))
        )
    )


def pearsons(report):
    return [row.pooled["pearson"].over_rows.estimate for row in report.rows]


@pytest.mark.parametrize("z_normalise", [False, True])
def test_rows_left_out_are_as_if_they_had_never_been_there(z_normalise):
    asked = {"options": FAST, "use": UseOfRatings(z_normalise=z_normalise)}
    choice = TableChoice((("system", "Human"),))
    kept = chosen_table(scores(), choice)
    without = correlate_dimensions(kept, chosen_people(people(), choice, kept), **asked)
    never = correlate_scores(scores(SYSTEMS[1:]), people(SYSTEMS[1:]), **asked)
    assert pearsons(without) == pearsons(never)
    assert abs(pearsons(without)[0] - pearsons(correlate_scores(scores(), people(), **asked))[0]) > 0.01
    (row, _) = without.rows
    assert (row.n, row.left_out) == (24, {"on request: system Human": 12})
    assert not any("matched no score" in note for note in without.notes)
    assert any("12 of 36 texts were left out on request (system Human: 12)" in note for note in without.notes)


def test_items_languages_levels_and_labels_are_left_out_and_counted_by_group():
    choice = TableChoice((("item", "q11"), ("language", "de"), ("level", "2"), ("topic", "1")))
    kept = chosen_table(scores(), choice)
    assert {(row.item_id, row.level) for row in kept.rows} == {("q5", "A1"), ("q9", "A1")}
    assert left_out_of(kept) == {
        "on request: item q11": 3,
        "on request: language de": 12,
        "on request: level 2": 12,
        "on request: topic 1": 3,
    }
    assert kept.values.shape == (6, 2)
    found = correlate_dimensions(kept, people(), options=FAST.but(group=["system"]))
    assert [row.n_left_out for row in found.rows] == [10] * 6
    left = chosen_people(people(), choice, kept).ratings
    assert {one.item_id for one in left} == {"q5", "q9"}, "ratings that name no language go with their text"


def test_what_is_not_there_is_refused_with_the_nearest():
    for choice, near in (
        (TableChoice((("system", "human"),)), "Human"),
        (TableChoice((("sistem", "Human"),)), "system"),
        (TableChoice((), (("BaryScore", "lower"),)), "BaryScore-W"),
    ):
        with pytest.raises(InputError) as caught:
            check_choice(choice, scores())
        assert caught.value.problems[0].partition("did you mean ")[2].rstrip("?").split(" or ")[0] == near
    check_choice(TableChoice((("level", "1"), ("topic", "2"))), scores())
    check_choice(TableChoice((), (("x", "lower"),)), scores(), CorrelationSet("h", {"x": {}}))
    with pytest.raises(InputError, match="leaves out every text"):
        chosen_table(scores(), TableChoice(tuple(("system", one) for one in SYSTEMS)))
    assert values_to_leave_out(scores(), "system") == SYSTEMS


def test_a_declared_direction_turns_every_result():
    choice = TableChoice((), (("BaryScore-W", "lower"),))
    declared = chosen_table(scores(), choice)
    before, after = (
        correlate_dimensions(one, people(), options=FAST).rows[1] for one in (scores(), declared)
    )
    assert (before.metric.direction, after.metric.direction) == ("higher", "lower")
    turned = -before.pooled["spearman"].over_rows.estimate
    assert after.pooled["spearman"].over_rows.estimate == pytest.approx(turned)
    ranking = rank_metrics(declared, people(), options=RankOptions(n_resamples=20))
    assert (ranking.order[0], ranking.directions["BaryScore-W"]) == ("BaryScore-W", "lower")
    assert ranking.coefficients["BaryScore-W"] > 0.9
    alike, unlike = (REDUNDANCY.answer(REDUNDANCY.Options(), one).result for one in (declared, scores()))
    assert alike.values[0][1] == pytest.approx(-(unlike.values[0][1] or 0))
    assert alike.directions == ("higher", "lower")
    side = chosen_side(LiveSide("live", scores(), people()), choice)
    assert side_values(side, "pearson").values["baryscore-w"] > 0.9


def test_a_declaration_wins_over_what_the_registry_knows():
    ter = table(
        [(ScoredRow(f"q{i}", "s", str(i)), [float(-i)]) for i in range(5)], [Metric("TER", "", "TER")]
    )
    for direction, expected in (("higher", 1.0), ("lower", -1.0)):
        found = chosen_table(ter, TableChoice((), (("TER", direction),)))
        report = correlate_scores(found, options=FAST)
        assert pearsons(report) == [pytest.approx(expected)], direction
        assert report.rows[0].metric.direction == direction


def test_correlations_made_elsewhere_are_turned_too():
    side = CorrelationSet(
        "h.json", {"BaryScore-W": {"pearson": -0.8}, "TER": {"pearson": -0.5}}, scores_turned=False
    )
    for declared, expected in (("lower", 0.8), ("higher", -0.8)):
        found = chosen_side(side, TableChoice((), (("BaryScore-W", declared),)))
        assert side_values(found, "pearson").values == {"baryscore-w": expected, "ter": 0.5}
    ours = replace(side, scores_turned=True)
    assert chosen_side(ours, TableChoice((), (("TER", "lower"),))) == ours
