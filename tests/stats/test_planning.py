"""Power and size of a study from variance components: identities, hand calculations, limits, simulated power."""

from dataclasses import astuple, replace
from math import inf, sqrt

import numpy as np
import pytest
from scipy.stats import nct, norm, t

from core.stats.non_inferiority import FEWEST_QUESTIONS
from core.stats.planning import (
    FEW_QUESTIONS,
    FEW_RATERS,
    NONE_LOST_OR_WON,
    NOT_ABOVE,
    OUT_OF_REACH,
    RATER_FLOOR,
    SAMPLED,
    THESE,
    Size,
    _power,
    check_components,
    covariance_of_votes,
    half_width,
    largest_power,
    latent_components,
    plans,
    power_non_inferiority,
    power_of,
    raters_needed,
    smallest_half_width,
    stated_components,
    variance_of_mean,
    why_no_power,
)
from core.stats.raters import Components, mrmc
from scripts.simulations import cell_measures, read
from scripts.simulations.planner import GRID, LATENT, components_of_votes

USUAL = Components(0.02, 0.10, 0.04, 0.04, 0.30)


@pytest.mark.parametrize(("m", "rho"), [(1, 0.3), (4, 0.0), (4, 0.5), (10, 0.25)])
def test_the_design_effect_is_a_special_case(m, rho):
    """One rater, m pairs a question, no variance of pairs: variance / (n m) times 1 + (m - 1) rho."""
    total, n = 0.5, 40
    of_votes = Components(0.0, rho * total, 0.0, 0.0, (1 - rho) * total)
    for scope in (THESE, SAMPLED):
        found = variance_of_mean(of_votes, Size(n, 1, 1, m), scope)
        assert found == pytest.approx(total / (n * m) * (1 + (m - 1) * rho), rel=1e-12)


def test_the_clustered_sample_size_is_a_special_case():
    """Pairs from the usual formula times 1 + (m - 1) rho, in questions of m pairs, up to the t test against a bootstrap."""
    m, rho, total = 4, 0.4, 0.5
    of_votes = Components(0.0, rho * total, 0.0, 0.0, (1 - rho) * total)
    usual = (norm.ppf(0.9) + norm.ppf(0.8)) ** 2 * total / 0.1**2
    (plan, _) = plans(of_votes, margin=0.1, power=0.8, raters=(1,), levels=m)
    assert plan.questions == pytest.approx(usual * (1 + (m - 1) * rho) / m, rel=0.04)
    (single, _) = plans(Components(0, 0, 0, 0, total), margin=0.1, power=0.8, raters=(1,))
    assert single.questions == pytest.approx(usual, rel=0.05)


def test_a_large_effect_has_a_power():
    """At 3 and 4.43 standard deviations SciPy's noncentral t has no value for the far tail."""
    scores = np.array([1.0] * 17 + [0.9])
    found = power_non_inferiority(scores, margin=0.1, alpha=0.05, alternative="two-sided")
    assert found.value == pytest.approx(1.0)
    assert not [
        effect for effect in np.arange(2.5, 6, 0.01) if not _power(effect, 18, 0.05, "two-sided") <= 1.0
    ]


def test_variance_of_the_mean_by_hand():
    """.02/5 + .10/50 + .04/(50 x 2) + .04/(50 x 4) + .30/(50 x 4 x 2)"""
    size = Size(50, 5, 2, 4)
    assert variance_of_mean(USUAL, size) == pytest.approx(0.004 + 0.002 + 0.0004 + 0.0002 + 0.00075)
    assert variance_of_mean(USUAL, size, THESE) == pytest.approx(0.00335)
    assert size.total_votes == 400


def test_half_width_by_hand():
    crossed = Size(100, 5, 5)
    of_question = 0.10 + 0.04 / 5 + 0.04 + 0.30 / 5
    assert half_width(USUAL, crossed, scope=THESE) == pytest.approx(
        norm.ppf(0.9) * sqrt(of_question * 0.99 / 100), rel=1e-9
    )
    ms, shared = 0.02 + 0.34 / 100, 5 * 0.14 / 100
    df = (ms + shared) ** 2 / (ms**2 / 4)
    assert half_width(USUAL, crossed, scope=SAMPLED) == pytest.approx(
        t.ppf(0.9, df) * sqrt((ms + shared) / 5), rel=1e-9
    )


def test_expected_variance_is_what_mrmc_estimates_on_average():
    """Also where questions are dealt: 8 raters, 3 votes a pair, 2 levels."""
    rng, found = np.random.default_rng(0), []
    size = Size(24, 8, 3, 2)
    dealt = (np.arange(24)[:, None] * 3 + np.arange(3)) % 8  # 9 questions a rater
    for _ in range(400):
        order = rng.permutation(8)
        votes = sum(
            sqrt(variance) * rng.standard_normal(shape)
            for variance, shape in zip(
                (0.02, 0.10, 0.04, 0.04, 0.30),
                ((1, 1, 8), (24, 1, 1), (24, 1, 8), (24, 2, 1), (24, 2, 8)),
                strict=True,
            )
        )
        kept = np.full(votes.shape, np.nan)
        for q in range(24):
            kept[q][:, order[dealt[q]]] = votes[q][:, order[dealt[q]]]
        one = mrmc(kept.reshape(48, 8), np.repeat(np.arange(24), 2))
        found.append(one.ms_raters / 8 + one.covariance)
    error = np.std(found) / sqrt(len(found))
    assert np.mean(found) == pytest.approx(variance_of_mean(USUAL, size), abs=4 * error)


def test_only_raters_vary_is_a_t_test_of_their_means():
    """Without any other variance, the bound over raters as a sample is a one-sample t bound: noncentral t."""
    of_raters = Components(0.04, 0, 0, 0, 0)
    exact = 1 - nct.cdf(t.ppf(0.9, 7), 7, 0.1 / sqrt(0.04 / 8))
    assert largest_power(of_raters, 8, margin=0.1) == pytest.approx(exact, abs=0.002)
    assert smallest_half_width(of_raters, 8, confidence_level=0.9) == pytest.approx(
        t.ppf(0.9, 7) * sqrt(0.04 / 8)
    )


def test_many_questions_and_raters_have_the_power_of_the_normal_distribution():
    size = Size(2_000, 1, 1)
    exact = norm.cdf((0.1 - 0.07) / sqrt(0.48 / 2_000) - norm.ppf(0.9))
    found = power_of(Components(0, 0, 0, 0, 0.48), size, margin=0.1, mean=-0.07)
    assert found == pytest.approx(exact, abs=0.006)  # the continuity correction moves the margin by 1 / 4,000


@pytest.mark.parametrize("rater", [0.0, 0.01, 0.05])
def test_power_over_raters_never_exceeds_what_infinitely_many_questions_reach(rater):
    components = replace(USUAL, rater=rater)
    limit = largest_power(components, 6, margin=0.1)
    found = [
        power_of(components, Size(n, 6, 6), margin=0.1, scope=SAMPLED) for n in (15, 40, 150, 1_000, 10_000)
    ]
    assert found == sorted(found)
    assert found[-1] <= limit + 0.002


def test_least_power_never_falls_with_questions():
    found = [power_of(USUAL, Size(n, 2, 2), margin=0.1, least=True) for n in range(15, 120)]
    assert found == sorted(found)
    exact = [power_of(USUAL, Size(n, 2, 2), margin=0.1) for n in range(15, 120)]
    assert all(low <= high + 1e-12 for low, high in zip(found, exact, strict=True))


class TestPlans:
    def test_the_fewest_questions(self):
        for plan in plans(replace(USUAL, rater=0.005), margin=0.1, power=0.8, raters=(8, 12)):
            size = Size(plan.questions, plan.raters, plan.votes)
            assert plan.power >= 0.8
            assert plan.total_votes == plan.questions * plan.raters
            fewer = replace(size, questions=plan.questions - 1)
            assert (
                power_of(replace(USUAL, rater=0.005), fewer, margin=0.1, scope=plan.scope, least=True) < 0.8
            )

    def test_a_half_width(self):
        plan = plans(USUAL, margin=0.1, half_width=0.05, raters=(5,))[0]
        assert half_width(USUAL, Size(plan.questions, 5, 5)) <= 0.05
        assert half_width(USUAL, Size(plan.questions - 1, 5, 5)) > 0.05

    def test_too_few_raters_for_any_number_of_questions(self):
        wanted = {"margin": 0.1, "power": 0.8}
        sampled = {
            plan.raters: plan for plan in plans(USUAL, **wanted, raters=(2, 5, 20)) if plan.scope == SAMPLED
        }
        assert (sampled[2].questions, sampled[2].reason) == (None, FEW_RATERS)
        assert (sampled[5].questions, sampled[5].reason) == (None, RATER_FLOOR)
        assert sampled[20].power >= 0.8
        enough = raters_needed(USUAL, **wanted)
        assert largest_power(USUAL, enough, margin=0.1) > 0.8 >= largest_power(USUAL, enough - 1, margin=0.1)
        assert raters_needed(replace(USUAL, rater=0.5), **wanted, mean=-0.09) is None

    def test_a_number_of_questions_shows_what_it_reaches(self):
        plan = plans(USUAL, margin=0.1, questions=60, raters=(5,), levels=2)[0]
        assert plan.power == power_of(USUAL, Size(60, 5, 5, 2), margin=0.1)
        assert plan.total_votes == 600

    def test_one_question_has_no_half_width(self):
        found = plans(USUAL, margin=0.1, questions=1, raters=(2, 5))
        assert [one.half_width for one in found] == [None] * 4
        with pytest.raises(ValueError, match="2 questions"):
            half_width(USUAL, Size(1, 5, 5))

    def test_what_cannot_be_reached(self):
        assert {one.reason for one in plans(USUAL, margin=0.1, power=0.8, mean=-0.1, raters=(5,))} == {
            NOT_ABOVE
        }
        assert plans(USUAL, margin=0.001, power=0.8, raters=(1,))[0].reason == OUT_OF_REACH

    def test_more_questions_are_needed_for_the_composite(self):
        net, composite = (
            plans(USUAL, margin=0.1, power=0.8, raters=(5,), composite=one)[0].questions
            for one in (False, True)
        )
        assert composite > 2 * net
        assert (
            len({plans(USUAL, margin=0.1, power=0.8, raters=(1,), composite=c)[0] for c in (False, True)})
            == 1
        )

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"power": 1.0},
            {"half_width": 0.0},
            {"power": 0.8, "margin": 0.0},
            {"power": 0.8, "votes": 9},
            {"power": 0.8, "confidence_level": 1.0},
            {"power": 0.8, "mean": 0.8},
        ],
    )
    def test_invalid_numbers(self, options):
        with pytest.raises(ValueError):
            plans(USUAL, **{"margin": 0.1, "raters": (5,), **options})


@pytest.mark.parametrize(
    ("size", "components", "scope", "reason"),
    [
        (Size(FEWEST_QUESTIONS - 1, 2, 2), USUAL, THESE, FEW_QUESTIONS),
        (Size(50, 4, 4), USUAL, SAMPLED, FEW_RATERS),
        (Size(40, 1, 1), Components(0, 0, 0, 0, 0.05), THESE, NONE_LOST_OR_WON),
        (Size(40, 1, 1), Components(0, 0, 0, 0, 0.2), THESE, None),
        (Size(50, 5, 2), USUAL, SAMPLED, None),
    ],
)
def test_sizes_without_a_promise(size, components, scope, reason):
    assert why_no_power(components, size, margin=0.1, scope=scope) == reason


def test_no_question_is_lost_or_won_by_hand():
    """A share .2 decided, 20 questions of one vote: none is won in .9^20 = .12 of studies; of 40, in .015."""
    components = Components(0, 0, 0, 0, 0.2)
    assert why_no_power(components, Size(20, 1, 1), margin=0.1) == NONE_LOST_OR_WON
    assert why_no_power(components, Size(40, 1, 1), margin=0.1) is None


class TestComponents:
    def test_stated_in_plain_words(self):
        found = stated_components(
            decided=0.6, question_correlation=0.2, agreement=0.5, own_view=0.1, rater_sd=0.1, mean=0.2
        )
        total = 0.6 - 0.04
        assert astuple(found) == pytest.approx(
            (0.01, 0.2 * total, 0.1 * total, 0.3 * total, 0.4 * total - 0.01), rel=1e-12
        )

    @pytest.mark.parametrize(
        "given",
        [
            {"decided": 0.0},
            {"decided": 1.1},
            {"mean": 0.6},
            {"agreement": 0.2},
            {"rater_sd": 0.9},
            {"own_view": -0.1},
            {"agreement": 0.99, "own_view": 0.05},
        ],
    )
    def test_impossible_ones(self, given):
        with pytest.raises(ValueError):
            stated_components(**given)
        with pytest.raises(ValueError):
            check_components(Components(0.5, 0.5, 0.1, 0, 0))

    def test_covariance_of_two_thresholded_normals(self):
        """Thresholds at 0: signs of normals that correlate at r have the covariance 2 asin(r) / pi."""
        for r in (0.0, 0.3, 0.8):
            assert covariance_of_votes(r, 0.0, 0.0) == pytest.approx(2 * np.arcsin(r) / np.pi, abs=2e-4)
        assert covariance_of_votes(1.0, 0.0, 0.0) == pytest.approx(1.0)
        assert covariance_of_votes(1.0, -inf, inf) == 0.0

    def test_latent_components_give_the_votes_back(self):
        latent = LATENT["usual"]
        found = latent_components(components_of_votes(latent, 0.5, 0.05), 0.05)
        for name in ("rater", "question", "rater_question", "pair", "residual"):
            assert getattr(found, name) == pytest.approx(getattr(latent, name), abs=2e-3)


def test_stored_simulation_keeps_the_promise():
    """Power within .03 of the promise wherever the planner makes one."""
    for cell, measures in read(GRID).items():
        if measures["offered"] == 1:
            assert abs(measures["difference"]) <= 0.03, cell


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [GRID.cells[at] for at in (0, 5, 21, 31, 45)],
    ids=lambda cell: "-".join(map(str, cell)),
)
def test_simulated_power_again(cell):
    again = cell_measures(GRID, cell, replicates=500)
    assert again["promised"] == pytest.approx(read(GRID)[cell]["promised"], abs=0.002)
    assert again["found"] == pytest.approx(again["promised"], abs=0.03 + 4 * sqrt(0.25 / 500) * 0.7)
