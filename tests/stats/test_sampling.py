"""Draws with known probabilities: by hand, against counts of many draws, and the simulated bias and coverage."""

import numpy as np
import pytest

from core.stats.planning import LEAST_CHANCE, draw, narrowing, sampling_probabilities, weights_of
from core.stats.resampling import agresti_min_mean, mean_share
from scripts.simulations import cell_measures, read
from scripts.simulations.next_labels import GRID


class TestProbabilities:
    def test_the_example_by_hand(self) -> None:
        found = sampling_probabilities([0.1, 0.1, 0.2, 0.4], 2, least=0.2)
        np.testing.assert_allclose(found, [0.3, 0.3, 0.5, 0.9])

    def test_what_is_certain_leaves_the_rest_to_the_others(self) -> None:
        found = sampling_probabilities([0.0, 0.0, 1.0, 9.0], 2, least=0.5)
        # Relative 0, 0, .4, 3.6; mixed .5, .5, .7, 2.3; of 2 the last is drawn, and 1 is left for .5, .5, .7.
        np.testing.assert_allclose(found, [0.5 / 1.7, 0.5 / 1.7, 0.7 / 1.7, 1.0])

    @pytest.mark.parametrize("n", [0, 1, 7, 40])
    def test_they_sum_to_the_size_and_keep_a_floor(self, n: int) -> None:
        found = sampling_probabilities(np.random.default_rng(0).exponential(size=40), n)
        assert found.sum() == pytest.approx(n)
        assert found.min() >= LEAST_CHANCE * n / 40 - 1e-12
        assert found.max() <= 1

    def test_nothing_known_is_a_simple_random_sample(self) -> None:
        for nothing in ([np.nan] * 4, [0.0] * 4, [3.0] * 4):
            np.testing.assert_allclose(sampling_probabilities(nothing, 2), 0.5)
        np.testing.assert_allclose(sampling_probabilities([1, 2, 9, 0], 1, least=1), 0.25)

    def test_unknown_uncertainty_is_the_mean(self) -> None:
        one = sampling_probabilities([1, 3, np.nan], 1)
        np.testing.assert_allclose(one, sampling_probabilities([1, 3, 2], 1))

    @pytest.mark.parametrize(
        ("uncertainty", "n", "least"),
        [([-1.0, 1], 1, 0.2), ([1, 1], 3, 0.2), ([1, 1], 1, 0), ([1, np.inf], 1, 0.2), ([[1.0]], 1, 0.2)],
    )
    def test_impossible_arguments_are_refused(self, uncertainty: list[float], n: int, least: float) -> None:
        with pytest.raises(ValueError, match="must"):
            sampling_probabilities(uncertainty, n, least=least)


class TestDraw:
    def test_every_unit_is_drawn_as_often_as_its_probability_says(self) -> None:
        chances = sampling_probabilities(np.random.default_rng(1).exponential(size=12), 5)
        rng = np.random.default_rng(2)
        counts = np.zeros(12)
        n_draws = 8_000
        for _ in range(n_draws):
            drawn = draw(chances, rng)
            assert drawn.size == len(set(drawn.tolist())) == 5
            counts[drawn] += 1
        error = np.sqrt(chances * (1 - chances) / n_draws)
        assert (np.abs(counts / n_draws - chances) <= 4.5 * error + 1e-12).all()

    def test_the_same_seed_draws_the_same(self) -> None:
        np.testing.assert_array_equal(draw([0.5] * 8, 7), draw([0.5] * 8, 7))
        assert draw([0.0, 1.0, 1.0, 0.0], 0).tolist() == [1, 2]
        assert draw([0.0], 0).size == 0

    @pytest.mark.parametrize("chances", [[0.5, 0.4], [1.5, 0.5], [-0.5, 0.5], [np.nan, 1]])
    def test_impossible_probabilities_are_refused(self, chances: list[float]) -> None:
        with pytest.raises(ValueError, match="probabilities"):
            draw(chances, 0)


class TestWeights:
    def test_labels_without_a_probability_count_by_their_number(self) -> None:
        found = weights_of([np.nan, np.nan, 0.5, 0.25])
        np.testing.assert_allclose(found, [1, 1, 2 / 3, 4 / 3])

    @pytest.mark.parametrize("wrong", [0.0, 1.1, -0.5])
    def test_impossible_probabilities_are_refused(self, wrong: float) -> None:
        with pytest.raises(ValueError, match="above 0"):
            weights_of([0.5, wrong])

    def test_tiny_probabilities_do_not_overflow(self) -> None:
        np.testing.assert_allclose(weights_of([5e-324, 1e-308, 1.0, 5e-324]), [2, 0, 0, 2], atol=1e-12)

    def test_the_weighted_mean_by_hand(self) -> None:
        # Weights 2 and 4 for values 1 and 0: 2 / 6.
        weights = weights_of([0.5, 0.25])
        assert mean_share([1, 0], weights=weights).estimate == pytest.approx(1 / 3)
        assert agresti_min_mean([1, 0], weights=weights).estimate == pytest.approx(1 / 3)

    def test_equal_weights_change_nothing_but_the_cap(self) -> None:
        values = np.random.default_rng(3).random(30)
        plain, weighted = mean_share(values), mean_share(values, weights=np.full(30, 2.0))
        assert weighted.estimate == pytest.approx(plain.estimate)
        both = [agresti_min_mean(values, weights=one) for one in (None, np.full(30, 2.0))]
        assert both[0].low == pytest.approx(both[1].low)

    def test_all_samples_together_give_the_true_mean(self) -> None:
        """The inverse-probability sum over every sample of 1, each as often as it is drawn, is the mean: no bias at all."""
        values, chances = np.array([1.0, 0.0, 0.5]), sampling_probabilities([1, 2, 6], 1)
        assert (chances * (values / chances)).sum() / 3 == pytest.approx(values.mean())

    @pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, np.inf]])
    def test_impossible_weights_are_refused(self, weights: list[float]) -> None:
        with pytest.raises(ValueError, match="weights"):
            mean_share([1, 0], weights=weights)


def test_narrowing_by_hand() -> None:
    # N = 2, n = 1: (1 / .25 + 9 / .75) / 2^2 = 4 against (1 + 9) / 2 = 5.
    assert narrowing([1, 3], [0.25, 0.75]) == pytest.approx(np.sqrt(16 / 20))
    assert narrowing([2, 2], [0.5, 0.5]) == pytest.approx(1)
    assert narrowing([np.nan, np.nan], [0.5, 0.5]) is None


def test_the_stored_table_shows_no_bias_and_coverage() -> None:
    """Of agreement .93 to .97; of bias at least that, because its interval is made wider for rare differences."""
    stored = read(GRID)
    for cell, found in stored.items():
        values = {name: value for name, value in found.items() if value is not None}
        assert abs(values["bias"]) <= max(4 * values["its error"], 0.0025), cell
        assert values["coverage"] >= 0.93, cell
        if str(cell[0]).startswith("agreement"):
            assert values["coverage"] <= 0.97, cell
    assert stored["agreement, judges differ", 200]["to random"] == pytest.approx(0.885, abs=0.02)
    assert abs(stored["agreement, judges differ", 200]["without weights"] or 0) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("cell", [("agreement, judges differ", 100), ("bias, near the border", 100)])
def test_a_few_cells_again(cell: tuple[str, int]) -> None:
    replicates = 300
    again, stored = cell_measures(GRID, cell, replicates), read(GRID)[cell]
    error = np.sqrt(0.05 * 0.95 / replicates)
    assert abs((again["coverage"] or 0) - (stored["coverage"] or 0)) < 4 * error
    assert abs(again["bias"] or 0) < 4 * (again["its error"] or 0)
    assert again["to random"] == pytest.approx(stored["to random"], abs=0.03)
