"""Does a planned study have the power that the planner promises? Votes -1, 0 and +1 from a latent model."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri

from core.stats.planning import SAMPLED, THESE, Scope, Size, covariance_of_votes
from core.stats.raters import Components
from core.stats.resampling import Floats

MARGIN, LEVEL = 0.1, 0.90
LATENT: dict[str, Components] = {
    # Shares of a latent variance of 1, which two thresholds turn into votes.
    "alike": Components(0.01, 0.45, 0.10, 0.10, 0.34),
    "usual": Components(0.02, 0.25, 0.10, 0.10, 0.53),
    "chance": Components(0.00, 0.05, 0.05, 0.05, 0.85),
    "raters": Components(0.08, 0.25, 0.10, 0.10, 0.47),
}


def thresholds(decided: float, mean: float) -> tuple[float, float]:
    """Latent values below and above which a vote is -1 and +1."""
    return float(ndtri((decided - mean) / 2)), float(ndtri(1 - (decided + mean) / 2))


def components_of_votes(latent: Components, decided: float, mean: float) -> Components:
    """The components of a vote that a latent model implies: votes that share latent variance r have the covariance G(r)."""
    low, high = thresholds(decided, mean)

    def covariance(shared: float) -> float:
        return covariance_of_votes(shared, low, high)

    rater, question = covariance(latent.rater), covariance(latent.question)
    both = covariance(latent.rater + latent.question + latent.rater_question)
    pair = covariance(latent.question + latent.pair)
    interaction, of_pair = max(both - rater - question, 0.0), pair - question
    residual = decided - mean**2 - rater - question - interaction - of_pair
    return Components(rater, question, interaction, of_pair, residual)


def studies(
    latent: Components,
    size: Size,
    decided: float,
    mean: float,
    n: int,
    rng: np.random.Generator,
    *,
    scope: Scope = SAMPLED,
) -> Iterator[Floats]:
    """Votes of n studies, each of shape (questions, levels, raters); NaN where a question was dealt to other raters.

    These raters: their effects are centred, so that the true mean is that of the panel, and stretched to the stated variance.
    """
    low, high = thresholds(decided, mean)
    q, levels, raters = size.questions, size.levels, size.raters
    parts = (
        ((q, 1, 1), latent.question),
        ((q, 1, raters), latent.rater_question),
        ((q, levels, 1), latent.pair),
        ((q, levels, raters), latent.residual),
    )
    for _ in range(n):
        of_raters = rng.standard_normal(raters)
        if scope == THESE:
            of_raters = (of_raters - of_raters.mean()) * math.sqrt(raters / max(raters - 1, 1))
        value = math.sqrt(latent.rater) * of_raters + sum(
            math.sqrt(variance) * rng.standard_normal(shape) for shape, variance in parts
        )
        votes = np.where(value > high, 1.0, np.where(value < low, -1.0, 0.0))
        if size.votes < raters:
            votes = np.where(_dealt(size, rng)[:, None, :], votes, np.nan)
        yield votes


def _dealt(size: Size, rng: np.random.Generator) -> np.ndarray:
    """Which raters get a question: as many as it needs, with the fewest questions so far."""
    held = np.zeros(size.raters)
    dealt = np.zeros((size.questions, size.raters), dtype=bool)
    for row in dealt:
        chosen = np.lexsort((rng.random(size.raters), held))[: size.votes]
        row[chosen] = True
        held[chosen] += 1
    return dealt
