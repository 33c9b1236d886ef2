"""The mean vote over raters and questions: formulas by hand, the ANOVA identity, dealt questions, and refusals."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student

from core.stats.raters import FEWEST_RATERS, NOTHING_VARIES, mrmc
from scripts.simulations import cell_measures, read
from scripts.simulations.raters import CROSSED, GRID, TIED

Votes = NDArray[np.float64]


def drawn(rng: np.random.Generator, raters: int, n: int, levels: int) -> tuple[Votes, NDArray[np.intp]]:
    latent = (
        rng.normal(0, 0.4, (1, 1, raters))
        + rng.normal(0, 0.5, (n, 1, 1))
        + rng.normal(0, 1, (n, levels, raters))
    )
    votes = (latent > 0.5) * 1.0 - (latent < -0.5)
    return votes.reshape(-1, raters), np.repeat(np.arange(n), levels)


def test_crossed_votes_follow_the_published_formulas() -> None:
    n, raters = 20, 6
    votes, questions = drawn(np.random.default_rng(1), raters, n, 4)
    found = mrmc(votes, questions)
    means = votes.reshape(n, 4, raters).mean(1)
    theta = means.mean(0)
    ms = ((theta - theta.mean()) ** 2).sum() / (raters - 1)
    without = (means.sum(0) - means) / (n - 1)
    away = without - without.mean(0)
    matrix = (n - 1) / n * away.T @ away
    covariance = (matrix.sum() - np.trace(matrix)) / (raters * (raters - 1))
    top = ms + raters * max(covariance, 0)
    variance, df = top / raters, top**2 / (ms**2 / (raters - 1))
    assert found.method == "crossed"
    assert (found.ms_raters, found.covariance) == (pytest.approx(ms), pytest.approx(covariance))
    assert (found.variance, found.df) == (pytest.approx(variance), pytest.approx(df))
    reach = student.ppf([0.9, 0.975], df) * math.sqrt(variance)
    assert found.bound == pytest.approx(votes.mean() - reach[0])
    assert (found.low, found.high) == (
        pytest.approx(votes.mean() - reach[1]),
        pytest.approx(votes.mean() + reach[1]),
    )
    errors = np.sqrt(np.diag(matrix))
    for one, mean, error in zip(found.raters, theta, errors, strict=True):
        assert one.mean == pytest.approx(mean)
        assert one.high == pytest.approx(mean + student.ppf(0.975, n - 1) * error)


def test_the_covariance_is_that_of_two_way_analysis_of_variance() -> None:
    """Balanced data: Cov = (MS of questions - MS of rater x question) / (J n)."""
    n, raters = 15, 5
    votes, questions = drawn(np.random.default_rng(2), raters, n, 1)
    rest = votes - votes.mean(0) - votes.mean(1, keepdims=True) + votes.mean()
    ms_questions = raters * ((votes.mean(1) - votes.mean()) ** 2).sum() / (n - 1)
    ms_rest = (rest**2).sum() / ((n - 1) * (raters - 1))
    assert mrmc(votes, questions).covariance == pytest.approx((ms_questions - ms_rest) / (raters * n))


def test_the_example_of_the_documents() -> None:
    """2 raters, 3 questions: theta 2/3 and 0, MS 2/9, Cov 1/6, Var 5/18, df 25/4."""
    found = mrmc([[1, 1], [1, 0], [0, -1]], ["a", "b", "c"])
    assert [one.mean for one in found.raters] == pytest.approx([2 / 3, 0])
    assert (found.ms_raters, found.covariance) == (pytest.approx(2 / 9), pytest.approx(1 / 6))
    assert (found.variance, found.df) == (pytest.approx(5 / 18), pytest.approx(25 / 4))
    assert (found.bound, found.low, found.high) == (None, None, None)


def test_dealt_questions_reduce_to_the_variance_between_raters_without_shared_ones() -> None:
    votes, questions = drawn(np.random.default_rng(3), 5, 50, 2)
    votes[np.arange(5) != (questions % 5)[:, None]] = np.nan
    found = mrmc(votes, questions)
    means = np.nanmean(votes, axis=0)
    assert found.method == "dealt"
    assert found.covariance == pytest.approx(0, abs=1e-4)
    assert found.ms_raters == pytest.approx(means.var(ddof=1))
    assert found.mean == pytest.approx(means.mean())


def test_a_single_missing_vote_hardly_changes_the_result() -> None:
    votes, questions = drawn(np.random.default_rng(4), 7, 60, 2)
    whole = mrmc(votes, questions)
    votes[3, 2] = np.nan
    part = mrmc(votes, questions)
    assert (whole.method, part.method) == ("crossed", "dealt")
    assert part.bound == pytest.approx(whole.bound, abs=0.005)
    assert part.df == pytest.approx(whole.df, rel=0.05)


def test_the_mean_is_the_net_preference_where_pairs_have_unequal_votes() -> None:
    rng = np.random.default_rng(5)
    votes, questions = drawn(rng, 6, 30, 2)
    votes[rng.random(votes.shape) < 0.3] = np.nan
    found = mrmc(votes, questions)
    assert found.mean == pytest.approx(np.nanmean(np.nanmean(votes, axis=1)))
    assert sum(one.weight for one in found.raters) == pytest.approx(1)
    assert found.mean == pytest.approx(sum(one.weight * (one.mean or 0) for one in found.raters))


def test_order_and_empty_columns_do_not_matter() -> None:
    votes, questions = drawn(np.random.default_rng(6), 6, 25, 2)
    found = mrmc(votes, questions)
    order = np.random.default_rng(7).permutation(len(votes))
    turned = mrmc(votes[order][:, ::-1], questions[order])
    assert turned.bound == pytest.approx(found.bound)
    more = mrmc(np.column_stack([votes, np.full(len(votes), np.nan)]), questions)
    assert (more.bound, more.n_raters, more.method) == (found.bound, 6, "crossed")
    assert more.raters[-1].mean is None


@pytest.mark.parametrize("raters", [1, 2, FEWEST_RATERS - 1])
def test_few_raters_give_no_interval_over_raters(raters: int) -> None:
    votes, questions = drawn(np.random.default_rng(8), raters, 30, 2)
    found = mrmc(votes, questions)
    assert (found.bound, found.low, found.high) == (None, None, None)
    assert found.reason == f"fewer than 5 raters: {raters}"
    assert found.low_questions is not None


def test_raters_with_hardly_a_vote_do_not_make_a_sample() -> None:
    votes, questions = drawn(np.random.default_rng(9), 5, 30, 2)
    votes[2:, 4] = np.nan
    found = mrmc(votes, questions)
    assert found.bound is None
    assert found.effective_raters is not None
    assert found.effective_raters < 4.5


@pytest.mark.parametrize(
    ("votes", "reason"),
    [
        (np.zeros((30, 6)), NOTHING_VARIES),
        (np.where(np.arange(180).reshape(30, 6) % 7 == 0, -1.0, 0.0), "no question was won"),
        (np.sign(np.sin(np.arange(60).reshape(10, 6))), "fewer than 15 questions: 10"),
    ],
)
def test_votes_that_support_no_t_interval_give_no_bound(votes: Votes, reason: str) -> None:
    assert mrmc(votes, np.arange(len(votes))).reason == reason


def test_no_votes() -> None:
    found = mrmc(np.empty((0, 3)), [])
    assert (found.mean, found.bound, found.n_raters, found.n_pairs) == (None, None, 0, 0)
    assert found.reason == "fewer than 5 raters: 0"


def test_invalid_input_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        mrmc(np.zeros(4), [0] * 4)
    with pytest.raises(ValueError, match="confidence_level"):
        mrmc(np.zeros((4, 2)), [0, 0, 1, 1], confidence_level=1.0)


def test_the_stored_simulation_keeps_its_promise() -> None:
    stored = read(GRID)
    assert stored.keys() == set(GRID.cells)
    assert all((found["type_i"] or 1) <= (0.13 if cell in TIED else 0.12) for cell, found in stored.items())
    assert all(0.93 <= (cell["coverage"] or 0) <= 0.97 for cell in stored.values())
    for cell in CROSSED:
        alone = stored[cell]["questions_alone_type_i"]
        assert alone is not None
        assert alone > 0.11


@pytest.mark.slow
@pytest.mark.parametrize("cell", [CROSSED[1], CROSSED[-1], TIED[2]])
def test_cells_rerun_agree_with_the_stored_table(cell: tuple[int | float, ...]) -> None:
    stored, replicates = read(GRID)[cell], 250
    again = cell_measures(GRID, cell, replicates)
    for name, share in stored.items():
        assert share is not None
        assert again[name] == pytest.approx(
            share, abs=4 * math.sqrt(max(share * (1 - share), 0.005) / replicates)
        )
