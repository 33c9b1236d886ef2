"""Does a planned study have the power that the planner promises? Votes -1, 0 and +1 from a latent model."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtri

from core.stats.non_inferiority import NON_INFERIOR, is_above_margin, verdict
from core.stats.planning import (
    SAMPLED,
    SCOPES,
    THESE,
    Scope,
    Size,
    covariance_of_votes,
    latent_components,
    power_of,
    stated_components,
    why_no_power,
)
from core.stats.raters import Components, mrmc
from core.stats.resampling import Floats
from core.stats.votes import composite_scores, net_preferences
from scripts.simulations import Cell, Grid, Measures
from scripts.simulations.raters import draw

MARGIN, LEVEL = 0.1, 0.90
_RESAMPLES = 500
LATENT: dict[str, Components] = {
    # Shares of a latent variance of 1, which two thresholds turn into votes.
    "alike": Components(0.01, 0.45, 0.10, 0.10, 0.34),
    "usual": Components(0.02, 0.25, 0.10, 0.10, 0.53),
    "chance": Components(0.00, 0.05, 0.05, 0.05, 0.85),
    "raters": Components(0.08, 0.25, 0.10, 0.10, 0.47),
    "default": latent_components(stated_components(), 0.0),
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
            dealt = ~np.isnan(draw(rng, raters, q, 1, 0.0, size.votes, 0.5)[0])
            votes = np.where(dealt[:, None, :], votes, np.nan)
        yield votes


def run_cell(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """The power that the planner promises, and the share of simulated studies whose bound is above -MARGIN."""
    scope, score, model = SCOPES[0 if cell[0] == "these" else 1], str(cell[1]), LATENT[str(cell[2])]
    decided, mean = float(cell[3]), float(cell[4])
    size = Size(questions=int(cell[7]), raters=int(cell[5]), votes=int(cell[6]), levels=int(cell[8]))
    components, labels = (
        components_of_votes(model, decided, mean),
        np.repeat(np.arange(size.questions), size.levels),
    )
    composite = score == "composite"
    passed = 0
    for seed, votes in enumerate(studies(model, size, decided, mean, replicates, rng, scope=scope)):
        table = votes.reshape(-1, size.raters)
        if scope == SAMPLED:
            bound = mrmc(table, labels, confidence_level=LEVEL).bound
            passed += bound is not None and is_above_margin(bound, MARGIN)
            continue
        scores = composite_scores(table) if composite else net_preferences(table)
        found = verdict(
            scores, labels, margin=MARGIN, confidence_level=LEVEL, n_resamples=_RESAMPLES, rng=seed
        )
        passed += found.value == NON_INFERIOR
    asked: dict[str, Any] = {"margin": MARGIN, "mean": mean, "confidence_level": LEVEL, "scope": scope}
    promised = power_of(components, size, composite=composite, **asked)
    offered = why_no_power(components, size, composite=composite, **asked) is None
    return {
        "promised": promised,
        "found": passed / replicates,
        "difference": passed / replicates - promised,
        "offered": float(offered),
    }


_NET: tuple[Cell, ...] = (
    # Sizes that `study plan` offers for a power of .8.
    ("default", 0.5, 0, 2, 2, 160, 1),
    ("default", 0.5, 0, 3, 3, 88, 4),
    ("usual", 0.5, 0, 5, 5, 20, 1),
    ("usual", 0.5, 0, 5, 5, 60, 1),
    ("usual", 0.5, 0, 2, 2, 150, 1),
    ("usual", 0.5, 0, 1, 1, 230, 1),
    ("usual", 0.5, 0, 3, 3, 40, 4),
    ("usual", 0.5, 0.05, 6, 2, 60, 4),
    ("usual", 0.5, -0.05, 5, 5, 200, 2),
    ("usual", 0.5, -0.1, 5, 5, 40, 2),
    ("usual", 0.9, 0, 5, 5, 15, 1),
    ("usual", 0.8, 0.2, 2, 2, 20, 1),
    ("usual", 0.2, 0.05, 1, 1, 40, 1),
    ("usual", 0.1, 0, 1, 1, 60, 1),
    ("raters", 0.5, 0, 6, 2, 100, 1),
    ("raters", 0.6, 0, 10, 10, 100, 2),
    ("alike", 0.4, 0, 8, 8, 50, 1),
    ("chance", 0.3, 0, 5, 5, 30, 1),
    ("chance", 0.15, 0, 2, 2, 40, 1),
    # Not offered: so few votes choose a side that the ordinary bound often does not apply.
    ("usual", 0.1, 0, 1, 1, 40, 1),
    ("usual", 0.05, 0, 2, 2, 30, 1),
)
_COMPOSITE: tuple[Cell, ...] = (
    ("default", 0.5, 0, 2, 2, 320, 1),
    ("usual", 0.5, 0, 5, 5, 60, 1),
    ("usual", 0.5, 0, 2, 2, 150, 1),
    ("usual", 0.5, 0, 3, 3, 40, 4),
    ("usual", 0.5, 0.05, 6, 2, 60, 4),
    ("usual", 0.5, -0.05, 5, 5, 200, 2),
    ("raters", 0.5, 0, 6, 2, 100, 1),
    ("raters", 0.6, 0, 10, 10, 100, 2),
    ("alike", 0.3, 0.05, 5, 5, 15, 4),
    ("chance", 0.15, 0, 2, 2, 40, 1),
)
_SAMPLED: tuple[Cell, ...] = (
    ("default", 0.5, 0, 12, 12, 167, 1),
    ("default", 0.5, 0, 12, 3, 147, 4),
    ("usual", 0.5, 0, 5, 5, 20, 1),
    ("usual", 0.5, 0, 5, 5, 60, 4),
    ("usual", 0.5, 0.05, 5, 5, 80, 1),
    ("usual", 0.5, -0.05, 5, 5, 200, 2),
    ("usual", 0.5, -0.1, 10, 10, 100, 1),
    ("usual", 0.9, 0, 5, 5, 15, 1),
    ("raters", 0.6, 0, 10, 10, 100, 2),
    ("raters", 0.5, 0.05, 20, 20, 100, 1),
    ("alike", 0.4, 0, 8, 8, 50, 1),
    ("chance", 0.2, 0, 6, 6, 20, 1),
    # Questions dealt to some of the raters.
    ("usual", 0.5, 0, 6, 2, 100, 1),
    ("usual", 0.5, 0.05, 8, 2, 60, 4),
    ("raters", 0.5, 0, 10, 3, 100, 1),
    ("chance", 0.3, 0, 8, 1, 60, 1),
)

GRID = Grid(
    name="planner",
    title="Planned and simulated power",
    about=f"""
Does a study have the power that the planner promises? Votes of -1, 0 and +1 come from a latent normal model. Its variance
components, as votes, are computed exactly and given to the planner. Every study is then decided by the product's own functions:
`non_inferiority.verdict` over questions (scope these), where raters are centred so that the true mean is that of the
panel, and the bound of `raters.mrmc` (scope sampled), with new raters in every study. Margin {MARGIN:g}, level {LEVEL:g};
a mean of -0.1 shows the type I error.

- model: share of the latent variance of rater, question, rater x question, pair. usual: .02, .25, .10, .10; raters: .08, .25, .10,
  .10; alike: .01, .45, .10, .10; chance: 0, .05, .05, .05; default: the assumptions of `study plan`.
- decided: share of votes that choose a side. mean: true mean vote. votes: votes a pair. levels: pairs a question.
- promised: power of the planner. found: share of simulated studies. offered: whether the planner offers this size (1) or
  leaves it out (0): the ordinary bound often does not apply, or there is nothing to show.

Among sizes that are offered, found and promised differ by at most .03. The
simulation error of a share is .011 at most.
""",
    factors=("scope", "score", "model", "decided", "mean", "raters", "votes", "questions", "levels"),
    measures=("promised", "found", "difference", "offered"),
    cells=(
        *(("these", "mean", *cell) for cell in _NET),
        *(("these", "composite", *cell) for cell in _COMPOSITE),
        *(("sampled", "mean", *cell) for cell in _SAMPLED),
    ),
    run=run_cell,
    replicates=2_000,
)
