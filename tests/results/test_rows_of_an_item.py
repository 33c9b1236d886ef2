"""Which rows belong to one item and to one ladder of levels, whatever else their columns hold."""

import pytest
from helpers.texts.score_factories import ladder, ratings, table

from core.errors import InputError
from core.formats.spans.mqm import read_mqm
from core.joining.choices import items_of
from core.joining.tables import join_ratings
from core.results.correlations.levels import compare_levels
from core.results.correlations.ranking import rank_metrics
from core.results.correlations.table import correlate_scores
from core.schema.correlating import CorrelateOptions, RankOptions
from core.schema.scores import Rating, ScoredRow

FAST = CorrelateOptions(n_resamples=20)


def test_a_remark_on_each_row_does_not_tear_levels_apart():
    rows = [
        (ScoredRow("i", "s", str(level), labels={"remark": f"words {level}", "topic": "x"}), 3.0 - level)
        for level in range(3)
    ]
    (found,) = compare_levels(table(rows))
    assert (found.monotonic.estimate, found.monotonic.n) == (1, 1)


def test_labels_with_levels_of_their_own_do():
    rows = [
        (ScoredRow("i", "s", str(level), labels={"generator": g, "remark": f"{g}{level}"}), score)
        for g, scores in (("a", [3, 2, 1]), ("b", [1, 2, 3]))
        for level, score in enumerate(scores)
    ]
    (found,) = compare_levels(table(rows))
    assert (found.monotonic.estimate, found.monotonic.n) == (0.5, 2)
    assert {worst.labels["generator"] for worst in found.worst} == {"b"}
    assert all("remark" not in worst.labels for worst in found.worst)


@pytest.mark.parametrize("analyse", [compare_levels, lambda scores: correlate_scores(scores, options=FAST)])
def test_one_level_in_two_spellings_is_refused_alike(analyse):
    rows = [(ScoredRow("q", "s", level), 1.0) for level in ("A0", "0", "A1")]
    with pytest.raises(InputError, match="system s: levels A0 and 0 are the same"):
        analyse(table(rows))


def test_a_blank_data_set_or_language_is_the_items_own():
    rows = [
        ScoredRow("i", "s", "0"),
        ScoredRow("i", "s", "1", "cs", {"dataset": "d"}),
        ScoredRow("i", "s", "2", "und", {"dataset": "d"}),
        ScoredRow("j", "s", "0", "cs", {"dataset": "e"}),
        ScoredRow("j", "s", "0", "sk", {"dataset": "e"}),
        ScoredRow("j", "s", "1", "und", {"dataset": "e"}),
    ]
    assert items_of(rows).tolist() == [0, 0, 0, 1, 2, 3]


def test_ratings_that_leave_a_language_blank_meet_their_item():
    scores = table(
        [(ScoredRow(i, "s", language=tag), 1.0) for i, tag in (("1", "cs"), ("2", "cs"), ("2", "sk"))]
    )
    given = ratings(
        Rating("1", 4, "s"), Rating("2", 5, "s", language="cs"), Rating("2", 6, "s", language="sk")
    )
    joined = join_ratings(scores, given, dimension=None, z_normalise=False, kept=False)
    assert joined.target.tolist() == [4, 5, 6]


def test_equal_mean_ratings_tie_whatever_the_order_of_raters():
    """.2, .2, .2, .5 against 1, 2, 3, 4: tau-b = 3 / sqrt(3 * 6)."""
    scores = table([(ScoredRow(str(i), "s"), float(i)) for i in range(4)])
    given = {0: [0.1, 0.2, 0.3], 1: [0.3, 0.2, 0.1], 2: [0.2, 0.3, 0.1], 3: [0.5, 0.5, 0.5]}
    rated = ratings(
        *(Rating(str(i), v, "s", rater=f"r{k}") for i, own in given.items() for k, v in enumerate(own))
    )
    pooled = correlate_scores(scores, rated, options=FAST).rows[0].pooled
    assert pooled["kendall"].over_rows.estimate == pytest.approx(3 / 18**0.5)
    assert pooled["spearman"].over_rows.estimate == pytest.approx(0.7745966692414834)
    equal = ratings(*(one for one in rated.ratings if one.item_id != "3"))
    row = correlate_scores(scores, equal, options=FAST).rows[0]
    assert row.pooled["pearson"].over_rows.reason == "all ratings are equal"


def test_ten_minor_punctuations_weigh_one_minor_error():
    head = "system\tdoc\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\n"
    row = "s\td\t{}\tr\tx\ty\t{}\tMinor\n"
    data = head + 10 * row.format(1, "Fluency/Punctuation") + row.format(2, "Accuracy/Omission")
    found = read_mqm(data.encode(), "m.tsv")
    assert [one.score for one in found.ratings] == [-1.0, -1.0]
    three = head + 3 * row.format(1, "Fluency/Punctuation")
    assert read_mqm(three.encode(), "m.tsv").ratings[0].score == -0.3


def test_a_ranking_names_the_metric_that_leaves_few_rows():
    rows = [
        (
            ScoredRow(f"q{i}", "s", str(level)),
            [5 - level + i, level * 2.0 - i, 3.0 if i + level == 0 else None],
        )
        for i in range(4)
        for level in range(3)
    ]
    found = rank_metrics(table(rows, metrics=("m", "n", "k")), options=RankOptions(n_resamples=20))
    assert (found.n, found.n_rows) == (1, 12)
    assert found.notes == (
        "k has scores for only 1 of 12 rows, so 1 row is compared. Rank without it to compare 12",
    )


def test_words_for_levels_are_one_reason_with_their_number():
    words = [
        (ScoredRow(str(n), "s", word), 1.0) for n, word in enumerate(("good", "fair", "poor", "bad", "worse"))
    ]
    report = correlate_scores(table([*ladder({"i": [2, 1]}), *words]), options=FAST)
    assert report.rows[0].left_out == {"level is not a number (good, fair, poor and 2 more)": 5}


def test_what_is_being_done_is_told():
    told: list[str] = []
    scores = table(ladder({"i": [2, 1], "j": [3, 1]}, generator="a") + ladder({"i": [2, 3]}, generator="b"))
    correlate_scores(scores, options=FAST.but(group=["generator"]), tell=told.append)
    assert told[0] == "group 1 of 2, metric 1 of 1"
    assert told[-1].startswith("group 2 of 2, ")
