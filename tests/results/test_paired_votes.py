"""Scores and votes of a study of pairs as rows of pairs, computed by hand and with SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.texts import factories
from helpers.texts.factories import dataset
from helpers.texts.score_factories import metric, table
from scipy import stats

from core.analyses.acc23 import ANALYSIS, Acc23Options, accuracies
from core.analyses.correlate import ANALYSIS as CORRELATE
from core.analyses.correlate import correlations
from core.errors import InputError, NotAllowed
from core.joining.choices import TableChoice
from core.results.correlations.paired import merged_beside, pair_with_people, paired_with_votes
from core.results.correlations.ranking import rank_metrics
from core.results.correlations.table import correlate_dimensions, correlate_scores
from core.results.correlations.votes import NO_ROW, preferences_of
from core.results.meta_correlation import LiveSide, chosen_side, meta_correlate, side_values
from core.results.study.counted import Filters, count
from core.schema.analysis import Answer, UseOfRatings
from core.schema.correlating import CorrelateOptions, RankOptions
from core.schema.scores import Metric, ScoredRow
from core.schema.study import NO_LEVEL
from core.study.masking import masks_of
from core.tables.columns import ONLY_SYSTEM

PLAIN = dataset(6, (NO_LEVEL,))
FAST = CorrelateOptions(n_resamples=0)
LEAD = (3.0, -1.0, 2.0, 0.5, -2.0, 0.0)
"""How far the metric has the candidate's answer to each question ahead."""
VOTES = {
    "R1": ("candidate", "comparator", "candidate", "both_good", "comparator", "candidate"),
    "R2": ("candidate", "both_bad", "comparator", "candidate", "comparator", "comparator"),
}
MEANS = [1.0, -0.5, 0.0, 0.5, -1.0, 0.0]
ITEMS = factories.item_ids(6)


def record_of(votes=VOTES, data=PLAIN, state="unblinded", **design):
    given = {
        rater: dict(zip([(item, NO_LEVEL) for item in ITEMS], own, strict=False))
        for rater, own in votes.items()
    }
    record = factories.record_of(given, data, **{"flagged": "leave_out", **design})
    return replace(record, study=replace(record.study, state=state))


def scores(leads=LEAD, *, turned=1.0, **fields):
    rows = []
    for item, lead in zip(ITEMS, leads, strict=True):
        rows.append((ScoredRow(item, "ai"), None if lead is None else turned * (10.0 + lead)))
        rows.append((ScoredRow(item, "human"), turned * 10.0))
    return table(rows, **fields)


def test_a_row_is_a_pair_with_its_margin_and_each_vote():
    paired, ratings = paired_with_votes(record_of(), scores())
    assert [(row.item_id, row.system, row.level, row.language) for row in paired.rows] == [
        (item, ONLY_SYSTEM, None, "en") for item in ITEMS
    ]
    assert paired.values[:, 0].tolist() == list(LEAD)
    by_rater = {rater: [one.score for one in ratings.ratings if one.rater == rater] for rater in ("R1", "R2")}
    assert by_rater == {"R1": [1, -1, 1, 0, -1, 1], "R2": [1, 0, -1, 1, -1, -1]}
    assert {(one.system, one.level, one.dimension) for one in ratings.ratings} == {(None, None, "vote")}


def test_correlations_are_those_of_margins_and_mean_votes():
    paired, ratings = paired_with_votes(record_of(), scores())
    (row,) = correlate_scores(paired, ratings, options=FAST.but(n_resamples=50)).rows
    assert (row.n, row.left_out, row.against) == (6, {}, "human")
    for method, expected in (
        ("pearson", stats.pearsonr(LEAD, MEANS)),
        ("spearman", stats.spearmanr(LEAD, MEANS)),
        ("kendall", stats.kendalltau(LEAD, MEANS)),
    ):
        found = row.pooled[method].over_items
        assert found.estimate == pytest.approx(expected.statistic)
        assert found.n_clusters == 6, "questions are resampled"
    assert row.per_system["pearson"].estimate is None
    assert "two systems" in row.per_system["pearson"].reason


def test_every_vote_can_be_a_row():
    paired, ratings = paired_with_votes(record_of(), scores())
    (row,) = correlate_scores(paired, ratings, options=FAST, use=UseOfRatings(raters="kept")).rows
    votes = [
        (lead, one.score)
        for lead, item in zip(LEAD, ITEMS, strict=True)
        for one in ratings.ratings
        if one.item_id == item
    ]
    assert row.n == 12
    expected = stats.pearsonr(*zip(*votes, strict=True)).statistic
    assert row.pooled["pearson"].over_rows.estimate == pytest.approx(expected)


@pytest.mark.parametrize("of", [metric("ter", direction="lower"), Metric("ter", "", "TER")])
def test_a_margin_is_turned_once_where_lower_scores_are_better(of):
    """The second metric's file states no direction, and the registry knows it."""
    turned = scores(turned=-1.0) if of.signature else scores(metrics=[of])
    if of.signature:
        turned = replace(turned, metrics=(of,))
    paired, ratings = paired_with_votes(record_of(), turned)
    sign = 1.0 if of.signature else -1.0
    assert paired.values[:, 0].tolist() == [sign * lead for lead in LEAD]
    (row,) = correlate_scores(paired, ratings, options=FAST).rows
    assert row.pooled["pearson"].over_rows.estimate == pytest.approx(
        sign * stats.pearsonr(LEAD, MEANS).statistic
    )


def test_a_direction_is_declared_for_the_scores_and_not_for_the_margins():
    choice = TableChoice(directions=(("m", "lower"),))
    paired, _ = pair_with_people(scores(), record_of(), choice)
    assert paired.values[:, 0].tolist() == [-lead for lead in LEAD]
    assert paired.metrics[0].direction == "higher"


def test_what_is_left_out_on_request_leaves_its_pair_out():
    paired, ratings = pair_with_people(scores(), record_of(), TableChoice(leave_out=(("item", "q01"),)))
    assert [row.item_id for row in paired.rows] == [item for item in ITEMS if item != "q01"]
    assert {one.item_id for one in ratings.ratings} == {*ITEMS} - {"q01"}
    assert [(reason, row.item_id) for reason, row in paired.left_out] == [("on request: item q01", "q01")]
    with pytest.raises(InputError):
        pair_with_people(scores(), record_of(), TableChoice(leave_out=(("system", "human"),)))


def test_pairs_without_a_margin_and_pairs_without_votes_have_reasons():
    given = scores((3.0, None, *LEAD[2:]), reasons={(2, 0): "no reference"})
    short = replace(given, rows=given.rows[:-1], values=given.values[:-1])
    paired, ratings = paired_with_votes(record_of(votes_needed=2), short)
    (row,) = correlate_scores(paired, ratings, options=FAST).rows
    assert (row.n, row.left_out) == (4, {"no reference": 1, NO_ROW: 1})
    fewer = {"R1": VOTES["R1"], "R2": VOTES["R2"][:4]}
    _, ratings = paired_with_votes(record_of(fewer, votes_needed=2), scores())
    assert ratings.left_out == {"fewer votes than a pair needs": 2}
    assert len(ratings.ratings) == 8


def test_votes_on_levels_have_the_margins_of_their_meaning():
    """Rows of a study with levels have the level, so that correlations within levels exist."""
    data = dataset(8, ("A0", "A1", "A2"))
    draw = np.random.default_rng(5)
    keys = [(item.item_id, level) for item in data.items for level in data.levels]
    votes = {
        rater: {key: ("candidate", "comparator", "both_good")[draw.integers(3)] for key in keys}
        for rater in ("R1", "R2", "R3")
    }
    record = factories.record_of(votes, data, main_levels=("A1", "A2"))
    record = replace(record, study=replace(record.study, state="unblinded"))
    given = table([(ScoredRow(o.item_id, o.source, o.level), float(draw.normal())) for o in data.outputs])
    paired, ratings = paired_with_votes(record, given)
    counted = count(record, Filters())
    assert [(row.item_id, row.level) for row in paired.rows] == list(counted.keys)
    assert {row.level for row in paired.rows} == {"A1", "A2"}
    margins = preferences_of(record, given, counted).margins[:, 0]
    np.testing.assert_array_equal(paired.values[:, 0], margins)
    assert not np.isnan(margins).any()
    rows = correlate_scores(paired, ratings, options=FAST.but(group=["level"])).rows
    means = {}
    for one in ratings.ratings:
        means.setdefault((one.item_id, one.level), []).append(one.score)
    for row in rows:
        own = [
            (margin, np.mean(means[key]))
            for key, margin in zip(counted.keys, margins, strict=True)
            if key[1] == row.group["level"]
        ]
        assert row.pooled["pearson"].over_rows.estimate == pytest.approx(
            stats.pearsonr(*zip(*own, strict=True)).statistic
        )


def test_masked_scores_are_decoded_before_tables_are_merged():
    record, plain = record_of(), scores()
    masks = masks_of(record.outputs)
    masked = replace(
        plain,
        rows=tuple(replace(row, system=masks[row.item_id, NO_LEVEL, row.system]) for row in plain.rows),
        metrics=(metric("other"),),
        file_name="masked.csv",
    )
    merged, ratings = merged_beside([plain, masked], record)
    assert [one.name for one in merged.metrics] == ["m", "other"]
    assert merged.values.T.tolist() == [list(LEAD), list(LEAD)]
    assert len(ratings.ratings) == 12
    ranking = rank_metrics(merged, ratings, options=RankOptions(n_resamples=20))
    assert [*ranking.coefficients.values()] == pytest.approx([stats.pearsonr(LEAD, MEANS).statistic] * 2)


def test_a_side_of_a_meta_correlation_can_be_votes():
    record = record_of()
    draw = np.random.default_rng(1)
    names = [f"m{place}" for place in range(4)]
    rows = [
        (ScoredRow(item, system), list(draw.normal(size=4))) for item in ITEMS for system in ("ai", "human")
    ]
    human = LiveSide("people", table(rows, metrics=names), record)
    margins = np.array([np.subtract(rows[2 * at][1], rows[2 * at + 1][1]) for at in range(6)])
    expected = {
        name: stats.pearsonr(own, MEANS).statistic for name, own in zip(names, margins.T, strict=True)
    }
    for side in (human, chosen_side(human, TableChoice())):
        assert dict(side_values(side, "pearson").values) == pytest.approx(expected)
    made = LiveSide(
        "damage",
        table(
            [
                (ScoredRow(item, "s", str(level)), list(-level * draw.random(4)))
                for item in ITEMS
                for level in range(3)
            ],
            metrics=names,
        ),
    )
    found = meta_correlate(human, made, method="pearson", n_resamples=0)
    assert {point.metric: point.human for point in found.points} == pytest.approx(expected)
    assert found.origins.human.systems == ("ai", "human"), (
        "the systems of the study, not of the rows of pairs"
    )
    assert record.study.name in found.human


def test_levels_of_a_question_are_no_systems():
    data = dataset(8, ("A1", "A2"))
    keys = [(item.item_id, level) for item in data.items for level in data.levels]
    votes = {"R1": {key: ("candidate", "comparator")[at % 3 == 0] for at, key in enumerate(keys)}}
    record = factories.record_of(votes, data, main_levels=("A1", "A2"))
    record = replace(record, study=replace(record.study, state="unblinded"))
    draw = np.random.default_rng(5)
    given = table([(ScoredRow(o.item_id, o.source, o.level), float(draw.normal())) for o in data.outputs])
    paired, ratings = paired_with_votes(record, given)
    options = Acc23Options(n_resamples=50)
    found = Answer(ANALYSIS, options, accuracies(ratings, paired, options))
    (one,) = found.result.metrics
    assert one.n_pairs == 8
    assert (one.soft.accuracy, one.soft.n_pairs) == (None, 0)
    assert one.soft.reason == one.system.reason
    assert found.json["n_systems"] is None
    made = found.tables["accuracy"]
    assert made.rows[0][[column.name for column in made.columns].index("n_systems")] is None
    assert not any("system pairs (" in note for note in made.notes)


def test_one_pair_a_question_has_no_order_within_questions():
    paired, ratings = paired_with_votes(record_of(), scores())
    (one,) = accuracies(ratings, paired, Acc23Options(n_resamples=0)).metrics
    assert (one.acc23, one.system.value, one.soft.accuracy) == (None, None, None)
    assert one.segment.value == pytest.approx(stats.pearsonr(LEAD, MEANS).statistic)


def test_what_has_no_votes_or_no_scores_is_refused():
    with pytest.raises(NotAllowed):
        paired_with_votes(record_of(state="open"), scores())
    with pytest.raises(InputError):
        paired_with_votes(record_of({}, raters=[]), scores())
    with pytest.raises(InputError):
        paired_with_votes(record_of(), table([(ScoredRow("q99", "ai"), 1.0)]))


def test_labels_that_both_answers_share_can_group_pairs():
    given = scores()
    genres = ("news", "news", "news", "talk", "talk", "talk")
    rows = [
        replace(row, labels={"genre": genres[at // 2], "prompt": str(at % 2)})
        for at, row in enumerate(given.rows)
    ]
    paired, ratings = paired_with_votes(record_of(), replace(given, rows=tuple(rows)))
    assert [dict(row.labels) for row in paired.rows] == [{"genre": genre} for genre in genres]
    found = correlate_scores(paired, ratings, options=FAST.but(group=["genre"])).rows
    assert [(row.group["genre"], row.n) for row in found] == [("news", 3), ("talk", 3)]
    assert found[0].pooled["pearson"].over_rows.estimate == pytest.approx(
        stats.pearsonr(LEAD[:3], MEANS[:3]).statistic
    )


def test_pairs_have_no_system_to_group_by_and_no_notes_on_systems():
    paired, ratings = paired_with_votes(record_of(), scores())
    with pytest.raises(InputError):
        correlate_dimensions(paired, ratings, options=FAST.but(group=["system"]))
    report = correlate_dimensions(paired, ratings, options=FAST)
    assert {row.texts.systems for row in report.rows} == {("ai", "human")}
    assert not any(
        "er system" in note and "undefined" not in note
        for note in Answer(CORRELATE, CORRELATE.Options(), correlations(report, "items"))
        .tables["correlations"]
        .notes
    )
