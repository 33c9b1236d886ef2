"""The bound that holds at every look: by hand, by its published counts, and its exact error over all looks."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.stats.non_inferiority import STAKES, betting_wealth, is_above_margin, lower_bound_anytime
from scripts.simulations import cell_measures, read
from scripts.simulations.early import GRID, by_anytime_bound
from scripts.simulations.verdicts import Cell, question_sums


@pytest.mark.parametrize(
    ("means", "bound"),
    [
        # One won question: wealth 1 + g / 2 with g = (1 - m) / (1 + m), which is 10 at g = 18.
        ([1.0], -17 / 19),
        # One tied question: g = -m / (1 + m) = 18.
        ([0.0], -18 / 19),
        # Two won questions: 1 + g + 7/24 g^2 = 10.
        ([1.0, 1.0], None),
        # A lost question first leaves 3/4, 1/2 and 1/4: then (3/4 (1 + g/4) + 1/2 (1 + g/2) + 1/4 (1 + 3g/4)) / 3 = 10.
        ([-1.0, 1.0], None),
        ([-1.0, -1.0, -1.0], -1.0),
    ],
)
def test_by_hand(means: list[float], bound: float | None) -> None:
    if bound is None:
        g = (-1 + np.sqrt(1 + 4 * 7 / 24 * 9)) / (2 * 7 / 24) if means[0] == 1 else (30 - 1.5) / (10 / 16)
        bound = (1 - g) / (1 + g)
    assert lower_bound_anytime(means)[-1] == pytest.approx(bound, abs=1e-9)


@pytest.mark.parametrize(
    ("stakes", "n"), [((1.0,), 22), ((0.75,), 29), ((0.5,), 43), (STAKES, 38), ((0.25,), 85)]
)
def test_tied_questions_until_the_margin_is_excluded(stakes: tuple[float, ...], n: int) -> None:
    """With one stake s: the smallest n with (1 + s / 9)^n of at least 10."""
    bounds = lower_bound_anytime(np.zeros(n), stakes=stakes)
    assert [is_above_margin(bound, 0.1) for bound in bounds[-2:]] == [False, True]
    if len(stakes) == 1:
        assert n == int(np.ceil(np.log(10) / np.log1p(stakes[0] / 9)))


def test_an_all_in_bet_is_ruined_by_one_lost_question() -> None:
    means = [-1.0, *[1.0] * 50]
    assert lower_bound_anytime(means, stakes=(1.0,))[-1] == -1
    assert lower_bound_anytime(means)[-1] > 0.75


def _running(means: list[float], mean: float, level: float) -> bool:
    """Independently: whether a player whose bet on each question comes from the earlier ones has ever reached 1 / alpha."""
    wealth, own, ever = 1.0, [1 / 3] * 3, False
    for x in means:
        bet = sum(share * stake for share, stake in zip(own, STAKES, strict=True)) / sum(own)
        wealth *= 1 + bet * (x - mean) / (1 + mean)
        own = [
            share * (1 + stake * (x - mean) / (1 + mean)) for share, stake in zip(own, STAKES, strict=True)
        ]
        ever |= wealth >= 1 / (1 - level)
    return ever


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=25), st.floats(-0.9, 0.9))
def test_it_is_the_smallest_mean_that_was_never_excluded(means: list[float], mean: float) -> None:
    bound = lower_bound_anytime(means, 0.8)[-1]
    if abs(bound - mean) > 1e-6:
        assert _running(means, mean, 0.8) == (mean < bound)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=25))
def test_it_never_falls_and_a_look_changes_nothing(means: list[float]) -> None:
    bounds = lower_bound_anytime(means)
    assert (np.diff(bounds) >= 0).all()
    assert (bounds >= -1).all()
    assert lower_bound_anytime(means[:-1]).tolist() == bounds[:-1].tolist()


def _distributions(mean: float) -> list[np.ndarray]:
    """Distributions on -1, 0 and 1 with this mean, in steps of a twentieth of what is not tied."""
    made = [np.array([(d - mean) / 2, 1 - d, (d + mean) / 2]) for d in np.linspace(0, 1, 21)]
    return [shares for shares in made if (shares >= -1e-12).all()]


@pytest.mark.parametrize("level", [0.6, 0.9])
def test_exactly_over_every_study_of_five_questions(level: float) -> None:
    """Ville: over all 243 orders of five questions, the bound is ever above the true mean with a chance of at most alpha."""
    studies = np.array(list(product((-1.0, 0.0, 1.0), repeat=5)))
    highest = np.array([lower_bound_anytime(study, level)[-1] for study in studies])
    worst = 0.0
    for mean in (-0.9, -0.5, -0.1, 0.0, 0.3):
        above = highest > mean + 1e-9
        for shares in _distributions(mean):
            error = np.prod(shares[(studies + 1).astype(int)], axis=1)[above].sum()
            assert error <= 1 - level + 1e-12
            worst = max(worst, error)
    assert worst > (1 - level) / 2, "not merely because nothing is ever excluded"


def test_exactly_over_every_look_up_to_sixty_questions() -> None:
    """By counts, because wealth does not depend on the order: a study stops at the first wealth of 10 against its mean."""
    n, mean = 60, -0.1
    counts = np.arange(n + 1)
    growth = [1 + stake * (np.array([-1.0, 0.0, 1.0]) - mean) / (1 + mean) for stake in STAKES]
    wealth = np.mean([g[0] ** counts[:, None] * g[2] ** counts[None, :] for g in growth], axis=0)
    assert wealth[1, 1] == pytest.approx(betting_wealth([-1.0, 1.0], mean)[-1])
    errors = []
    for shares in _distributions(mean):
        going, error = np.zeros((n + 1, n + 1)), 0.0  # chance of (lost, won) so far without stopping
        going[0, 0] = 1
        for k in range(1, n + 1):
            step = shares[1] * going
            step[1:] += shares[0] * going[:-1]
            step[:, 1:] += shares[2] * going[:, :-1]
            lost, won = np.meshgrid(counts, counts, indexing="ij")
            tied = np.clip(k - lost - won, 0, None)
            money = np.mean(
                [g[0] ** lost.astype(float) * g[1] ** tied * g[2] ** won.astype(float) for g in growth],
                axis=0,
            )
            stopped = money >= 10
            error += step[stopped].sum()
            going = np.where(stopped, 0, step)
        errors.append(error)
    assert max(errors) <= 0.1
    assert max(errors) > 0.05


@pytest.mark.parametrize("means", [[[0.0]], [float("nan")], [1.5]])
def test_what_is_not_a_mean_is_refused(means: list[float]) -> None:
    with pytest.raises(ValueError, match="means_in_order"):
        lower_bound_anytime(means)


def test_wrong_levels_and_stakes_are_refused() -> None:
    with pytest.raises(ValueError, match="stakes"):
        lower_bound_anytime([0.0], stakes=(1.5,))
    with pytest.raises(ValueError, match="confidence_level"):
        lower_bound_anytime([0.0], 1.0)
    assert lower_bound_anytime([]).shape == (0,)


AT_THE_MARGIN = [cell for cell in GRID.cells if cell[1] - cell[0] == pytest.approx(-0.1)]


def test_the_simulated_total_error_is_nominal_where_repeated_verdicts_are_not() -> None:
    stored = read(GRID)
    assert len(AT_THE_MARGIN) == 12
    assert max(stored[cell]["always_valid"] for cell in AT_THE_MARGIN) <= 0.1
    assert min(stored[cell]["repeated_verdicts"] for cell in AT_THE_MARGIN if cell[1] > 0) > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("cell", [GRID.cells[8], GRID.cells[14]])
def test_the_simulated_table(cell: tuple) -> None:
    """Three standard errors of a share in 200 replicates."""
    stored, again = read(GRID)[cell], cell_measures(GRID, cell, 200)
    for measure in ("always_valid", "repeated_verdicts", "verdict_at_the_end"):
        share = stored[measure]
        assert again[measure] == pytest.approx(share, abs=3 * np.sqrt(max(share * (1 - share), 0.01) / 200))


def test_the_simulation_decides_as_the_bound_does() -> None:
    sums = question_sums(Cell(0.1, 0.2, 4, 0.3, 60), 10, 1)
    by_bound = [[is_above_margin(bound, 0.1) for bound in lower_bound_anytime(means)] for means in sums / 4]
    assert by_anytime_bound(sums / 4).tolist() == by_bound
