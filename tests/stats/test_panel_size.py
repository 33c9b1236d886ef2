import numpy as np
import pytest

from core.stats.votes import composite_of_mean_vote


@pytest.mark.parametrize(("n_raters", "composite"), [(1, -0.110), (2, -0.143), (3, -0.162), (9, -0.199)])
def test_the_same_preferences_in_panels_of_several_sizes(n_raters, composite):
    assert composite_of_mean_vote(-0.11, n_raters) == pytest.approx(composite, abs=5e-4)


def test_two_independent_raters_by_hand():
    """Loss 0.4, tie 0.3, win 0.3: win^2 + 2 win tie - loss^2 - 2 loss tie."""
    expected = 0.09 + 0.18 - 0.16 - 0.24
    assert composite_of_mean_vote(-0.1, 2, decided=0.7, agreement=0) == pytest.approx(expected)


def test_against_simulated_votes():
    rng = np.random.default_rng(0)
    latent = np.sqrt(0.3) * rng.standard_normal((200_000, 1)) + np.sqrt(0.7) * rng.standard_normal(
        (200_000, 3)
    )
    low, high = np.quantile(latent, [0.35, 0.75])
    scores = np.sign((latent > high).sum(axis=1) - (latent < low).sum(axis=1))
    assert composite_of_mean_vote(-0.1, 3) == pytest.approx(scores.mean(), abs=0.006)


def test_the_limits():
    assert composite_of_mean_vote(0, 5) == pytest.approx(0)
    assert composite_of_mean_vote(1, 3, decided=1) == pytest.approx(1)
    assert composite_of_mean_vote(-0.11, 9, agreement=0.999) == pytest.approx(-0.11, abs=0.01)


@pytest.mark.parametrize(
    ("mean_vote", "options", "message"),
    [
        (-0.7, {}, "decided"),
        (-0.1, {"decided": 1.1}, "decided"),
        (-0.1, {"n_raters": 0}, "n_raters"),
        (-0.1, {"agreement": 1}, "agreement"),
    ],
)
def test_misuse_is_an_error(mean_vote, options, message):
    with pytest.raises(ValueError, match=message):
        composite_of_mean_vote(mean_vote, **({"n_raters": 2} | options))
