"""The jackknife interval by hand, where it is undefined, and what it leaves alone."""

from dataclasses import asdict, fields

import numpy as np
import pytest
from scipy import stats

from core.stats.agreement import cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha, raw_agreement
from core.stats.resampling import Estimate

COEFFICIENTS = [cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha, raw_agreement]


def votes_of(n_questions, seed=0, n_pairs=4):
    rng = np.random.default_rng(seed)
    votes = rng.integers(0, 4, (n_questions * n_pairs, 2))
    same = rng.random(len(votes)) < 0.5
    votes[same, 1] = votes[same, 0]
    return votes, np.repeat(np.arange(n_questions), n_pairs)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_every_question_left_out_once(coefficient):
    """From the definition: the coefficient computed anew without each question."""
    votes, questions = votes_of(8)
    found = coefficient(votes, clusters=questions, n_resamples=100)
    left_out = np.array(
        [coefficient(votes[questions != q], n_resamples=0).estimate for q in np.unique(questions)]
    )
    error = np.sqrt(7 / 8 * ((left_out - left_out.mean()) ** 2).sum())
    reach = stats.t(7).ppf(0.975) * error
    assert found.low_t == pytest.approx(found.estimate - reach)
    assert found.high_t == pytest.approx(min(1, found.estimate + reach))
    assert found.interval_t_reason is None


def test_a_mean_has_the_t_interval_of_its_questions():
    """Equally many pairs a question: raw agreement is the mean of question means, and the jackknife its t interval."""
    votes, questions = votes_of(12)
    means = (votes[:, 0] == votes[:, 1]).reshape(12, 4).mean(axis=1)
    expected = stats.t.interval(0.95, 11, means.mean(), stats.sem(means))
    found = raw_agreement(votes, clusters=questions, n_resamples=0)
    assert (found.low_t, found.high_t) == pytest.approx(expected)


def test_the_interval_is_cut_to_the_scale():
    agreeing = np.array([[0, 0], [1, 1], [2, 2], [3, 2]])
    assert raw_agreement(agreeing).high_t == 1
    assert gwet_ac1([[0, 1], [1, 0], [2, 2]]).low_t == pytest.approx(-1 / 3)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_an_interval_without_width_is_never_given_without_a_word(coefficient):
    """Two questions with the same votes: a percentile interval [x, x], and no jackknife interval."""
    found = coefficient([[0, 1], [1, 1], [0, 1], [1, 1]], clusters=["a", "a", "b", "b"])
    assert found.low == found.high == found.estimate
    assert "no width" in found.interval_reason
    assert (found.low_t, found.high_t) == (None, None)
    assert "nothing varies" in found.interval_t_reason


@pytest.mark.parametrize(
    ("votes", "clusters", "reason"),
    [
        ([[0, 1], [1, 1]], ["a", "a"], "fewer than two clusters"),
        ([[0, 0], [0, 0], [1, 0]], ["a", "a", "b"], "undefined without one"),
        ([[0, 0], [0, 0]], ["a", "b"], "estimate is undefined"),
    ],
)
def test_why_there_is_none(votes, clusters, reason):
    found = krippendorff_alpha(votes, clusters=clusters)
    assert found.low_t is None
    assert reason in found.interval_t_reason


def test_other_estimates_have_no_new_keys():
    added = {"low_t", "high_t", "interval_t_reason"}
    votes, questions = votes_of(5)
    assert set(asdict(raw_agreement(votes, clusters=questions))) == {f.name for f in fields(Estimate)} | added
    assert not added & {f.name for f in fields(Estimate)}
