"""Agreement against published numbers, other tools and hand calculations. Simulated coverage: test_coverage.py."""

import warnings
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ttest_rel
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from core.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    intraclass_correlation,
    krippendorff_alpha,
    raw_agreement,
    severities,
)

COEFFICIENTS = [raw_agreement, cohen_kappa, gwet_ac1, fleiss_kappa, krippendorff_alpha]
MANY_RATERS = [raw_agreement, gwet_ac1, fleiss_kappa, krippendorff_alpha]

# Fleiss (1971), Psychological Bulletin 76:378, table 1: psychiatric diagnoses of 30 patients by 6 raters each, as
# counts of (depression, personality disorder, schizophrenia, neurosis, other). Published: kappa .430.
FLEISS_1971 = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
                 00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""

# The worked example of 10 subjects, 14 raters and 5 categories (en.wikipedia.org/wiki/Fleiss%27_kappa); kappa 0.210
# there, to four places 0.2099.
TEN_SUBJECTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: 4 observers, 12 units, 5 categories, "." is
# missing. Published: nominal alpha .743. The same ratings are cac.raw4raters of R irrCAC 1.0 (Gwet), whose
# vignette prints the numbers in IRRCAC.
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
IRRCAC = {"raw_agreement": 0.8181818, "gwet_ac1": 0.77544, "krippendorff_alpha": 0.74342}

# Krippendorff (2011), section B: two observers, 12 units, 5 categories. Published: alpha .692.
BEN, GERRY = "aabbdcccedda", "babbbccceddd"


def from_counts(rows):
    """One unit a row of category counts -> votes (n_units, n_raters)."""
    return np.array([np.repeat(np.arange(len(row)), row) for row in rows])


def from_letters(*raters, alphabet):
    return np.array(
        [[alphabet.index(letter) if letter in alphabet else -1 for letter in rater] for rater in raters]
    ).T


def from_table(table):
    """A cross table of two raters -> votes (n_units, 2)."""
    return np.array([cell for cell in np.ndindex(*np.shape(table)) for _ in range(np.asarray(table)[cell])])


def value(coefficient, votes, n_categories, **options):
    return coefficient(votes, n_categories=n_categories, n_resamples=0, **options).estimate


class TestPublished:
    def test_fleiss_1971(self):
        votes = from_counts([[int(digit) for digit in row] for row in FLEISS_1971.split()])
        assert votes.shape == (30, 6)
        assert value(fleiss_kappa, votes, 5) == pytest.approx(0.430, abs=5e-4)

    def test_ten_subjects_fourteen_raters(self):
        assert value(fleiss_kappa, from_counts(TEN_SUBJECTS), 5) == pytest.approx(0.2099, abs=5e-5)

    @pytest.mark.parametrize("name", IRRCAC)
    def test_four_observers_with_missing_ratings(self, name):
        votes = from_letters(*OBSERVERS, alphabet="12345")
        coefficient = next(c for c in COEFFICIENTS if c.__name__ == name)
        found = coefficient(votes, n_categories=5, n_resamples=0)
        assert found.estimate == pytest.approx(IRRCAC[name], abs=6e-6)
        assert (found.n, found.n_left_out) == (11, 1)  # the last unit was rated once

    def test_krippendorff_two_observers(self):
        votes = from_letters(BEN, GERRY, alphabet="abcde")
        assert value(krippendorff_alpha, votes, 5) == pytest.approx(0.692, abs=5e-4)

    def test_two_abstractors(self):
        """R irrCAC 1.0, cont3x3abstractors: kappa 0.7964094, Scott's pi 0.7962397, AC1 0.8493305, alpha 0.7972585."""
        votes = from_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
        assert value(raw_agreement, votes, 3) == pytest.approx(0.89)
        assert value(cohen_kappa, votes, 3) == pytest.approx(0.7964094, abs=5e-8)
        assert value(fleiss_kappa, votes, 3) == pytest.approx(0.7962397, abs=5e-8)
        assert value(gwet_ac1, votes, 3) == pytest.approx(0.8493305, abs=5e-8)
        assert value(krippendorff_alpha, votes, 3) == pytest.approx(0.7972585, abs=5e-8)


@pytest.mark.shared
class TestStudy003:
    def test_a1_to_a4(self, study_003):
        votes, questions = study_003.part("A1", "A2", "A3", "A4")
        kappa = cohen_kappa(votes, clusters=questions)
        assert kappa.estimate == pytest.approx(0.1134, abs=5e-5)
        assert (kappa.n, kappa.n_clusters) == (80, 20)
        assert kappa.low < 0 < kappa.high

    def test_all_pairs(self, study_003):
        assert value(cohen_kappa, study_003.votes, 4) == pytest.approx(0.1469, abs=5e-5)
        assert value(raw_agreement, study_003.votes, 4) == pytest.approx(0.58)
        assert value(gwet_ac1, study_003.votes, 4) == pytest.approx(0.499, abs=5e-4)

    def test_a0_the_first_paradox(self, study_003):
        votes, _ = study_003.part("A0")
        assert value(raw_agreement, votes, 4) == pytest.approx(0.85)
        assert value(cohen_kappa, votes, 4) == 0
        assert value(gwet_ac1, votes, 4) > 0.8


class TestOtherTools:
    """Random votes with uneven categories: scikit-learn 1.9.1, statsmodels 0.15.0, krippendorff 0.9.0."""

    @pytest.mark.parametrize("seed", range(10))
    def test_cohen(self, seed):
        votes = np.random.default_rng(seed).choice(4, (50, 2), p=[0.2, 0.6, 0.05, 0.15])
        expected = cohen_kappa_score(votes[:, 0], votes[:, 1])
        assert value(cohen_kappa, votes, 4) == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("seed", range(10))
    def test_fleiss(self, seed):
        counts = np.random.default_rng(seed).multinomial(5, [0.5, 0.3, 0.2], 40)
        assert value(fleiss_kappa, from_counts(counts), 3) == pytest.approx(
            statsmodels_fleiss(counts), abs=1e-12
        )

    @pytest.mark.parametrize("seed", range(10))
    def test_krippendorff(self, seed):
        rng = np.random.default_rng(seed)
        votes = rng.choice(4, (40, 4), p=[0.2, 0.6, 0.05, 0.15])
        votes[rng.random(votes.shape) < 0.4] = -1
        reliability = np.where(votes < 0, np.nan, votes).T
        expected = krippendorff.alpha(reliability, level_of_measurement="nominal", value_domain=range(4))
        assert value(krippendorff_alpha, votes, 4) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_raw_agreement_and_ac1_against_their_definitions(seed):
    """Pair by pair and category by category, as the formulas are written."""
    rng = np.random.default_rng(seed)
    votes = rng.integers(-1, 3, (25, 4))
    units = [[vote for vote in unit if vote >= 0] for unit in votes.tolist()]
    observed = np.mean([np.mean([a == b for a, b in combinations(u, 2)]) for u in units if len(u) > 1])
    pi = [np.mean([u.count(category) / len(u) for u in units if u]) for category in range(3)]
    chance = sum(p * (1 - p) for p in pi) / 2
    assert value(raw_agreement, votes, 3) == pytest.approx(observed)
    assert value(gwet_ac1, votes, 3) == pytest.approx((observed - chance) / (1 - chance))


def test_kappa_by_hand():
    """Table [[20, 5], [10, 15]]: po .7, pe .5 * .6 + .5 * .4 = .5, kappa .4."""
    assert value(cohen_kappa, from_table([[20, 5], [10, 15]]), 2) == pytest.approx(0.4)


def test_ac1_takes_the_categories_on_offer_used_or_not():
    votes = from_table([[20, 5], [10, 15]])
    chance = 2 * 0.55 * 0.45  # the two used categories have mean shares .55 and .45
    assert value(gwet_ac1, votes, 2) == pytest.approx((0.7 - chance) / (1 - chance))
    assert value(gwet_ac1, votes, 4) == pytest.approx((0.7 - chance / 3) / (1 - chance / 3))


def test_single_ratings_inform_only_the_chance_term_of_ac1():
    votes = [[0, 0], [1, 1], [0, -1], [0, -1]]
    found = gwet_ac1(votes, n_categories=2, n_resamples=0)
    chance = 2 * 0.75 * 0.25
    assert found.estimate == pytest.approx((1 - chance) / (1 - chance))
    assert (found.n, found.n_left_out) == (2, 2)


def test_units_with_another_number_of_ratings_are_left_out_of_fleiss_kappa():
    three = [[0, 0, 1], [1, 1, 1], [0, 0, 0]]
    two = [[0, 1, -1], [1, -1, 1]]
    found = fleiss_kappa(three + two, n_categories=2, n_resamples=0)
    assert found.estimate == value(fleiss_kappa, three, 2)
    assert (found.n, found.n_left_out) == (3, 2)
    assert value(fleiss_kappa, three + two, 2, n_ratings=2) == value(fleiss_kappa, [[0, 1], [1, 1]], 2)
    assert "exactly 5" in fleiss_kappa(three, n_ratings=5).reason


class TestUndefined:
    """None with one sentence, never NaN and never 0."""

    @pytest.mark.parametrize(
        ("coefficient", "reason"),
        [
            (
                cohen_kappa,
                "both raters used the same category for every pair, so chance agreement is 1",
            ),
            (fleiss_kappa, "all ratings are in the same category, so chance agreement is 1"),
            (
                krippendorff_alpha,
                "all ratings are in the same category, so disagreement was impossible",
            ),
        ],
    )
    def test_one_category_throughout(self, coefficient, reason):
        found = coefficient(np.ones((6, 2), dtype=int))
        assert (found.estimate, found.low, found.high, found.n) == (None, None, None, 6)
        assert found.reason == reason

    @pytest.mark.parametrize("coefficient", [raw_agreement, gwet_ac1])
    def test_one_category_throughout_is_full_agreement_for(self, coefficient):
        found = coefficient(np.ones((6, 2), dtype=int))
        assert (found.estimate, found.low, found.high) == (1, 1, 1)

    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    @pytest.mark.parametrize(
        ("votes", "reason"),
        [
            (np.empty((0, 2), dtype=int), "no pairs"),
            ([[0], [1]], "fewer than two raters"),
            ([[0, -1], [1, -1]], "fewer than two raters"),
            ([[0, -1], [-1, 1]], "no pair was rated by two raters"),
        ],
    )
    def test_nothing_to_compare(self, coefficient, votes, reason):
        found = coefficient(votes)
        assert (found.estimate, found.reason, found.n) == (None, reason, 0)
        assert found.n_left_out == len(votes)

    def test_kappa_is_zero_in_every_resample_where_one_rater_never_varies(self):
        found = cohen_kappa([[1, 1]] * 17 + [[0, 1]] * 3)
        assert (found.estimate, found.low, found.high) == (0, 0, 0)
        assert found.n_undefined > 0

    @pytest.mark.filterwarnings("error")
    def test_no_warning_reaches_the_user(self):
        for coefficient in COEFFICIENTS:
            coefficient([[1, 1], [1, 1], [0, 1]], n_resamples=200)


class TestMisuse:
    def test_kappa_of_three_raters(self):
        with pytest.raises(ValueError, match="two raters, got 3"):
            cohen_kappa([[0, 1, 2]])

    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    def test_clusters_of_another_length(self, coefficient):
        with pytest.raises(ValueError, match="one label a unit"):
            coefficient([[0, 1], [1, 1]], clusters=[1])

    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    def test_a_code_that_is_not_on_offer(self, coefficient):
        with pytest.raises(ValueError, match="codes run from 0 to 2"):
            coefficient([[0, 3]], n_categories=3)

    def test_fleiss_of_single_ratings(self):
        with pytest.raises(ValueError, match="n_ratings"):
            fleiss_kappa([[0, 1]], n_ratings=1)


def votes_of(n_raters):
    shape = st.tuples(st.integers(1, 12), n_raters)
    return arrays(np.int64, shape, elements=st.integers(-1, 3))


def same(a, b):
    return a == b if a is None or b is None else a == pytest.approx(b, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(votes_of(st.integers(2, 4)), st.permutations(range(4)), st.randoms())
def test_names_of_categories_and_order_of_raters_and_units_do_not_matter(votes, names, random):
    relabelled = np.where(votes < 0, -1, np.array(names)[votes])
    raters, units = list(range(votes.shape[1])), list(range(len(votes)))
    random.shuffle(raters)
    random.shuffle(units)
    for coefficient in COEFFICIENTS if votes.shape[1] == 2 else MANY_RATERS:
        assert same(value(coefficient, votes, 4), value(coefficient, relabelled[units][:, raters], 4))


@settings(max_examples=60, deadline=None)
@given(votes_of(st.just(2)))
def test_coefficients_stay_in_their_range_and_1_means_full_agreement(votes):
    full = value(raw_agreement, votes, 4) == 1
    for coefficient in COEFFICIENTS:
        found = value(coefficient, votes, 4)
        if found is not None:
            assert -1 - 1e-9 <= found <= 1 + 1e-9
            assert (abs(found - 1) < 1e-9) == full


@settings(max_examples=30, deadline=None)
@given(votes_of(st.just(2)))
def test_every_number_missing_has_a_reason_and_every_interval_lies_in_order(votes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for coefficient in COEFFICIENTS:
            found = coefficient(votes, n_resamples=100)
            assert (found.estimate is None) == (found.reason is not None)
            assert (found.low is None or found.low == found.high) == (found.interval_reason is not None)
            assert (found.low_t is None) == (found.high_t is None) == (found.interval_t_reason is not None)
            assert found.n + found.n_left_out == len(votes)
            if found.low is not None:
                assert found.low <= found.high


SHROUT_AND_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
"""Six targets, four judges: Shrout and Fleiss (1979), Table 2."""


class TestIntraclassCorrelation:
    def test_shrout_and_fleiss(self):
        """Their Table 4: ICC(2, 1) = .29; with more digits in McGraw and Wong's ICC(A,1) of the same table."""
        found = intraclass_correlation(SHROUT_AND_FLEISS)
        assert found.estimate == pytest.approx(0.2898, abs=5e-5)
        assert (found.n, found.n_clusters, found.n_left_out) == (6, 6, 0)
        assert found.low < found.estimate < found.high
        assert found.low_t < found.estimate < found.high_t

    def test_by_its_mean_squares(self):
        """R = 11.24, C = 32.49, E = 1.02 in the same table."""
        units, raters, rest = 56.208333333333336 / 5, 97.458333333333333 / 3, 15.291666666666666 / 15
        wanted = (units - rest) / (units + 3 * rest + 4 * (raters - rest) / 6)
        assert intraclass_correlation(SHROUT_AND_FLEISS, n_resamples=0).estimate == pytest.approx(wanted)

    @pytest.mark.parametrize(("scale", "shift"), [(1, 1e6), (1e-9, 0), (1e9, -5)])
    def test_another_unit_of_measurement_changes_nothing(self, scale, shift):
        found = intraclass_correlation(np.array(SHROUT_AND_FLEISS) * scale + shift, n_resamples=0)
        assert found.estimate == pytest.approx(0.2898, abs=5e-5)

    def test_texts_that_not_all_rated_are_left_out(self):
        with_more = [*SHROUT_AND_FLEISS, [1, np.nan, 9, 9], [np.nan] * 4]
        found = intraclass_correlation(with_more)
        assert (found.n, found.n_left_out) == (6, 2)
        assert found.estimate == pytest.approx(0.2898, abs=5e-5)

    def test_equal_raters_and_shifted_raters(self):
        texts = np.arange(10.0)
        assert intraclass_correlation(np.column_stack([texts] * 3), n_resamples=0).estimate == pytest.approx(
            1
        )
        shifted = intraclass_correlation(np.column_stack([texts, texts + 3]), n_resamples=0)
        variance = texts.var(ddof=1)
        assert shifted.estimate == pytest.approx(variance / (variance + 3**2 / 2)), "no error: E = 0"

    @pytest.mark.parametrize(
        "ratings",
        [np.full((5, 3), 2.0), [[1, 2]], [[1], [2], [3]], [[1, np.nan], [np.nan, 2]], np.empty((0, 2))],
    )
    def test_undefined_with_a_reason(self, ratings):
        found = intraclass_correlation(ratings)
        assert found.estimate is None
        assert found.reason


class TestSeverities:
    def test_by_hand(self):
        """Rater 0 minus the mean of the others: 1 - 1.5, 2 - 2, 3 - 4; the fourth text has no other rater."""
        first, second, third = severities(
            [[1, 1, 2], [2, 2, np.nan], [3, 4, np.nan], [5, np.nan, np.nan]], clusters=[0, 1, 2, 3]
        )
        assert first.difference.estimate == pytest.approx(-0.5)
        assert (first.difference.n, first.difference.n_left_out) == (3, 1)
        assert (first.mean, first.mean_of_others) == (pytest.approx(2), pytest.approx(2.5))
        assert second.difference.estimate == pytest.approx((-0.5 + 0 + 1) / 3)
        assert third.difference.estimate == pytest.approx(1)
        # The signs of two texts: both as seen, and both turned, are half of all four.
        assert first.p == pytest.approx(0.5)

    def test_the_interval_is_that_of_a_mean(self):
        """Each text an item: estimate +- t of a paired t-test (scipy)."""
        rng = np.random.default_rng(0)
        given = rng.normal(size=(30, 2))
        found = severities(given)[0].difference
        wanted = ttest_rel(*given.T).confidence_interval(0.95)
        assert (found.low, found.high) == (pytest.approx(wanted.low), pytest.approx(wanted.high))

    def test_items_of_several_rows_make_it_wider(self):
        rng = np.random.default_rng(1)
        items = np.repeat(np.arange(20), 5)
        truth = rng.normal(size=100)
        given = np.column_stack([truth + np.repeat(rng.normal(size=20), 5), truth])
        rows, whole = (severities(given, clusters=one)[0].difference for one in (None, items))
        assert whole.estimate == rows.estimate
        assert whole.high - whole.low > 1.5 * (rows.high - rows.low)

    def test_a_rater_without_others_has_none(self):
        found = severities([[1, np.nan], [np.nan, 2]])[0]
        assert found.difference.estimate is found.p is found.mean is None
        assert found.difference.reason
