"""Which rating meets which score, and what is said of those that meet none."""

import numpy as np
import pytest
from helpers.texts.score_factories import ratings, table

from core.errors import InputError
from core.joining.choices import items_of
from core.joining.tables import join_ratings
from core.results.correlations.table import correlate_scores
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CorrelateOptions
from core.schema.scores import Rating, ScoredRow
from core.stats.resampling import NO_RESAMPLES

SCORES = table([(ScoredRow("1", "a"), 1.0), (ScoredRow("1", "b"), 2.0), (ScoredRow("2", "a"), 3.0)])


def join(scores, given, **options):
    return join_ratings(scores, given, **{"dimension": None, "z_normalise": False, "kept": False, **options})


def met(joined):
    return dict(zip(joined.rows.tolist(), joined.target.tolist(), strict=True))


def test_ratings_of_a_text_are_averaged_or_kept():
    given = ratings(
        Rating("1", 4, "a", rater="x"), Rating("1", 7, "a", rater="y"), Rating("2", 5, "a", rater="x")
    )
    averaged, kept = join(SCORES, given), join(SCORES, given, kept=True)
    assert met(averaged) == {0: 5.5, 2: 5}
    assert (kept.rows.tolist(), kept.target.tolist()) == ([0, 0, 2], [4, 7, 5])
    assert averaged.missing == kept.missing == {1: "no rating"}


def test_ratings_that_meet_no_score_are_counted_by_reason():
    given = ratings(Rating("1", 4, "a"), Rating("1", 4, "c"), Rating("9", 4, "a"), Rating("8", 4, "a"))
    assert join(SCORES, given).notes == (
        "1 of 4 ratings matched no score: the item has scores only for other systems or levels",
        "2 of 4 ratings matched no score: no score for this item",
    )


def test_levels_meet_under_any_of_their_names():
    scores = table([(ScoredRow("1", "a", "A0"), 1.0), (ScoredRow("1", "a", "A1"), 2.0)])
    assert met(join(scores, ratings(Rating("1", 3, "a", "1"), Rating("1", 5, "a", "L0")))) == {0: 5, 1: 3}


def test_a_column_that_one_side_lacks_takes_no_part():
    scores = table([(ScoredRow("1", "output"), 1.0), (ScoredRow("2", "output"), 2.0)])
    assert met(join(scores, ratings(Rating("1", 3, "gpt"), Rating("2", 4, "gpt")))) == {0: 3, 1: 4}
    assert met(join(scores, ratings(Rating("2", 4, level="3")))) == {1: 4}


def test_labels_and_language_take_part_where_they_tell_texts_apart():
    scores = table(
        [
            (ScoredRow("1", "a", language=tag, labels={"dataset": d}), 1.0)
            for tag in ("cs", "sk")
            for d in ("x", "y")
        ]
    )
    given = ratings(*(Rating("1", k, "a", language="sk", labels={"dataset": d}) for k, d in enumerate("xy")))
    assert met(join(scores, given)) == {2: 0, 3: 1}


def test_ids_that_repeat_among_the_ratings_alone_do_not_cross_data_sets():
    scores = table([(ScoredRow("1", "a", labels={"dataset": "x"}), 1.0)])
    given = ratings(*(Rating("1", score, "a", labels={"dataset": d}) for d, score in (("x", 3), ("y", 9))))
    assert met(join(scores, given)) == {0: 3}


def test_a_rating_of_several_scores_is_refused_with_what_tells_them_apart():
    scores = table([(ScoredRow("1", "a", labels={"prompt": p}), 1.0) for p in ("one", "two")])
    with pytest.raises(InputError) as refused:
        join(scores, ratings(Rating("1", 3, "a")))
    assert "item 1 has 2 rows of scores that differ in prompt: add prompt to the ratings" in str(
        refused.value
    )


def test_a_text_listed_twice_is_refused():
    scores = table([(ScoredRow("1", "a"), 1.0), (ScoredRow("1", "a"), 2.0)])
    with pytest.raises(InputError, match=r"listed twice\): leave one of them out"):
        join(scores, ratings(Rating("1", 3, "a")))


def test_nothing_in_common_shows_an_id_of_each_side():
    with pytest.raises(InputError) as refused:
        join(SCORES, ratings(Rating("q1", 3, "b")))
    assert refused.value.problems == (
        "first score: item 1, system a",
        "first rating: item q1, system b",
    )


def test_no_scores_and_no_ratings_are_said():
    with pytest.raises(InputError, match=r"ratings\.csv contains no ratings"):
        join(SCORES, ratings())
    with pytest.raises(InputError, match="no scores"):
        join(table([]), ratings(Rating("1", 3)))


def test_one_of_several_dimensions_is_chosen():
    given = ratings(Rating("1", 4, "a", dimension="fluency"), Rating("1", 2, "a", dimension="adequacy"))
    assert met(join(SCORES, given, dimension="adequacy")) == {0: 2}
    with pytest.raises(InputError, match=r"several dimensions \(fluency, adequacy\): choose one"):
        join(SCORES, given)
    with pytest.raises(InputError, match="'fluence' is unknown; did you mean fluency"):
        join(SCORES, given, dimension="fluence")


def test_ratings_are_normalised_per_rater_before_they_are_averaged():
    """Rater x gives 1 and 3: mean 2, SD sqrt(2); y gives 10 and 10, so has no scale; z rated once."""
    given = ratings(
        *(Rating(item, score, "a", rater="x") for item, score in (("1", 1), ("2", 3))),
        *(Rating(item, 10, "a", rater="y") for item in ("1", "2")),
        Rating("1", 5, "b", rater="z"),
    )
    joined = join(SCORES, given, z_normalise=True)
    assert met(joined) == pytest.approx({0: -1 / np.sqrt(2), 2: 1 / np.sqrt(2)})
    assert joined.missing == {
        1: "rating not normalised: its rater is unknown, rated only once or gave every text the same score"
    }
    assert joined.notes == (
        "rater y not normalised: all scores are equal",
        "rater z not normalised: fewer than two scores",
    )


def test_ratings_without_raters_cannot_be_normalised():
    with pytest.raises(InputError, match="names no raters"):
        join(SCORES, ratings(Rating("1", 3, "a")), z_normalise=True)


def test_kept_ratings_are_rows_of_the_correlation():
    given = ratings(
        *(
            Rating(i, score, s, rater=r)
            for i, s, score, r in (("1", "a", 1, "x"), ("1", "a", 2, "y"), ("2", "a", 3, "x"))
        )
    )
    options = CorrelateOptions(n_resamples=0)
    (averaged,) = correlate_scores(SCORES, given, options=options).rows
    (kept,) = correlate_scores(SCORES, given, options=options, use=UseOfRatings(raters="kept")).rows
    assert (averaged.n, kept.n, averaged.left_out) == (2, 3, {"no rating": 1})
    assert kept.pooled["pearson"].over_rows.estimate == pytest.approx(np.corrcoef([1, 1, 3], [1, 2, 3])[0, 1])
    assert kept.pooled["pearson"].over_rows.interval_reason == NO_RESAMPLES


def test_an_item_is_its_id_within_data_set_and_language():
    rows = [
        ScoredRow("1", "a", "0", "en", {"dataset": "x"}),
        ScoredRow("1", "b", "1", "en", {"dataset": "x", "prompt": "p"}),
        ScoredRow("1", "a", "0", "cs", {"dataset": "x"}),
        ScoredRow("1", "a", "0", "en", {"dataset": "y"}),
    ]
    assert items_of(rows).tolist() == [0, 0, 1, 2]
