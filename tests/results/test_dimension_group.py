"""Several dimensions: each, and the mean of a text's ratings over them."""

import numpy as np
import pytest
from helpers.texts.score_factories import ratings, table
from scipy import stats

from core.errors import InputError
from core.joining.choices import NOT_ALL_RATED, chosen_ratings
from core.results.correlations.ranking import rank_metrics
from core.results.correlations.table import DIMENSION, correlate_dimensions
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CorrelateOptions, RankOptions
from core.schema.scores import Rating, ScoredRow

RNG = np.random.default_rng(3)
N = 20
SCORES = RNG.normal(size=N)
GIVEN = {
    (dimension, rater): np.round(SCORES * (1 + place) + RNG.normal(size=N), 2)
    for place, dimension in enumerate(("fluency", "coherence"))
    for rater in "ab"
}
BOTH = ("fluency", "coherence")


def scored():
    return table([(ScoredRow(str(i), "s"), [SCORES[i]]) for i in range(N)])


def rated(scale=1.0, without=(), named=True):
    return ratings(
        *(
            Rating(
                str(i),
                float(values[i]) * (scale if dimension == "coherence" else 1),
                rater=rater if named else None,
                dimension=dimension,
                labels={"time": f"{dimension}{rater}{i}"},
            )
            for (dimension, rater), values in GIVEN.items()
            for i in range(N)
            if (dimension, i) not in without
        )
    )


def found(people, **options):
    use = UseOfRatings.checked({"dimension": BOTH} | options)
    report = correlate_dimensions(scored(), people, options=CorrelateOptions(n_resamples=0), use=use)
    return {row.group[DIMENSION]: row for row in report.rows}, report.notes


def pearson(row):
    return row.pooled["pearson"].over_rows.estimate


def mean_of(dimension):
    return (GIVEN[dimension, "a"] + GIVEN[dimension, "b"]) / 2


@pytest.mark.parametrize("named", [True, False])
def test_each_dimension_and_the_mean_of_a_texts_ratings(named):
    rows, notes = found(rated(named=named))
    assert list(rows) == ["fluency", "coherence", "mean of 2 dimensions"]
    for dimension in BOTH:
        assert pearson(rows[dimension]) == pytest.approx(stats.pearsonr(SCORES, mean_of(dimension)).statistic)
    mean = (mean_of("fluency") + mean_of("coherence")) / 2
    assert pearson(rows["mean of 2 dimensions"]) == pytest.approx(stats.pearsonr(SCORES, mean).statistic)
    assert rows["mean of 2 dimensions"].n == N
    assert not any("scale" in note for note in notes)


def test_kept_raters_have_a_mean_each():
    rows, _ = found(rated(), raters="kept")
    means = [(GIVEN["fluency", rater] + GIVEN["coherence", rater]) / 2 for rater in "ab"]
    expected = stats.pearsonr(np.tile(SCORES, 2), np.concatenate(means)).statistic
    assert pearson(rows["mean of 2 dimensions"]) == pytest.approx(expected)
    assert rows["mean of 2 dimensions"].n == 2 * N
    with pytest.raises(InputError, match="Name the raters"):
        found(rated(named=False), raters="kept")


def test_dimensions_of_other_scales_are_standardised_with_a_note():
    rows, notes = found(rated(scale=20))
    standard = [
        (one - one.mean()) / one.std() for one in (np.array([GIVEN[d, r] for r in "ab"]) for d in BOTH)
    ]
    expected = stats.pearsonr(SCORES, (standard[0] + standard[1]).mean(axis=0)).statistic
    assert pearson(rows["mean of 2 dimensions"]) == pytest.approx(expected)
    assert any("dimensions have different scales (fluency" in note for note in notes)
    normal, quiet = found(rated(scale=20), z_normalise=True)
    assert pearson(normal["mean of 2 dimensions"]) == pytest.approx(
        pearson(found(rated(), z_normalise=True)[0]["mean of 2 dimensions"])
    )
    assert not any("scale" in note for note in quiet)


def test_a_text_without_a_dimension_is_left_out_of_the_mean_alone():
    rows, _ = found(rated(without={("coherence", 3)}))
    assert [row.n for row in rows.values()] == [N, N - 1, N - 1]
    assert rows["mean of 2 dimensions"].left_out == {NOT_ALL_RATED: 1}


def test_the_mean_is_what_ranks_and_names_are_checked():
    ranking = rank_metrics(scored(), rated(), RankOptions(n_resamples=20), use=UseOfRatings(dimension=BOTH))
    rows, _ = found(rated())
    assert ranking.coefficients["m"] == pytest.approx(pearson(rows["mean of 2 dimensions"]))
    with pytest.raises(InputError) as caught:
        chosen_ratings(rated(), ("fluency", "coherance"), z_normalise=False)
    assert caught.value.problems == ("'coherance' is unknown; did you mean coherence?",)
