"""Type I error and coverage over raters and questions: MRMC, the verdict over questions alone, and the crossed bootstrap."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from core.stats.non_inferiority import lower_bound_gaffke, lower_bound_questions, why_not_ordinary
from core.stats.raters import mrmc
from core.stats.resampling import quantile, ratio
from core.stats.votes import net_preferences
from scripts.simulations import Cell, Grid, Measures

MARGIN = 0.1
"""The true mean vote is -MARGIN, so every "non-inferior" is an error."""
QUESTION, PAIR, RATER_QUESTION, RESIDUAL, TIE = 0.5, 0.5, 0.3, 1.0, 0.5
"""Standard deviations on the latent scale; a vote is a tie if the latent value is within TIE of 0."""
_RESAMPLES = 400

Votes = NDArray[np.float64]


def latent_mean(rater_sd: float) -> float:
    """The latent mean at which the expected vote over raters and questions is -MARGIN."""
    spread = float(np.sqrt(rater_sd**2 + QUESTION**2 + PAIR**2 + RATER_QUESTION**2 + RESIDUAL**2))
    return float(
        brentq(
            lambda m: ndtr((m - TIE) / spread) - ndtr((-TIE - m) / spread) + MARGIN, -4 * spread, 4 * spread
        )
    )


def draw(
    rng: np.random.Generator, raters: int, questions: int, levels: int, rater_sd: float, votes_per_pair: int
) -> tuple[Votes, NDArray[np.intp]]:
    """Votes (pairs, raters) of new raters on new questions, and the question of each pair. Whole questions are dealt."""
    latent = (
        latent_mean(rater_sd)
        + rng.normal(0, rater_sd, (1, 1, raters))
        + rng.normal(0, QUESTION, (questions, 1, 1))
        + rng.normal(0, RATER_QUESTION, (questions, 1, raters))
        + rng.normal(0, PAIR, (questions, levels, 1))
        + rng.normal(0, RESIDUAL, (questions, levels, raters))
    )
    votes = ((latent > TIE) * 1.0 - (latent < -TIE)).reshape(questions * levels, raters)
    labels = np.repeat(np.arange(questions), levels)
    if votes_per_pair < raters:
        votes[~_dealt(rng, questions, raters, votes_per_pair)[labels]] = np.nan
    return votes, labels


def _dealt(rng: np.random.Generator, questions: int, raters: int, each: int) -> NDArray[np.bool_]:
    """Which rater gets which question: each question goes to the raters who have fewest so far."""
    held, load = np.zeros((questions, raters), dtype=bool), np.zeros(raters)
    for question in range(questions):
        chosen = np.lexsort((rng.random(raters), load))[:each]
        held[question, chosen] = True
        load[chosen] += 1
    return held


def questions_alone(votes: Votes, labels: NDArray[np.intp], seed: int) -> float:
    """Bound that decides the verdict over questions, for the net preference."""
    scores = net_preferences(votes)
    means = np.bincount(labels, scores) / np.bincount(labels)
    if why_not_ordinary(means) is None:
        return lower_bound_questions(scores, labels, 0.90, _RESAMPLES, seed)
    return lower_bound_gaffke(means, 0.90)


def crossed_bootstrap(
    votes: Votes, labels: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    """The mean vote in resamples of raters and, independently, of questions (Owen 2007)."""
    known = ~np.isnan(votes)
    n, raters = int(labels.max()) + 1, votes.shape[1]
    sums, counts = np.zeros((n, raters)), np.zeros((n, raters))
    np.add.at(sums, labels, np.where(known, votes, 0.0))
    np.add.at(counts, labels, known)
    by_question = rng.multinomial(n, np.full(n, 1 / n), _RESAMPLES).astype(np.float64)
    by_rater = rng.multinomial(raters, np.full(raters, 1 / raters), _RESAMPLES)
    drawn = ratio(
        ((by_question @ sums) * by_rater).sum(axis=1), ((by_question @ counts) * by_rater).sum(axis=1)
    )
    return np.asarray(drawn[~np.isnan(drawn)], dtype=np.float64)


def run_cell(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    """Share of studies that find non-inferiority by mistake, and coverage of the two-sided interval."""
    raters, questions, levels, votes_per_pair = (int(cell[i]) for i in (0, 1, 2, 4))
    rater_sd = float(cell[3])
    wrong = covered = defined = alone = resampled = resampled_covers = 0
    for replicate in range(replicates):
        votes, labels = draw(rng, raters, questions, levels, rater_sd, votes_per_pair)
        found = mrmc(votes, labels)
        if found.bound is not None and found.low is not None and found.high is not None:
            defined += 1
            wrong += found.bound > -MARGIN
            covered += found.low <= -MARGIN <= found.high
        alone += questions_alone(votes, labels, replicate) > -MARGIN
        drawn = crossed_bootstrap(votes, labels, rng)
        resampled += quantile(drawn, 0.10) > -MARGIN
        resampled_covers += quantile(drawn, 0.025) <= -MARGIN <= quantile(drawn, 0.975)
    return {
        "type_i": wrong / replicates,
        "coverage": covered / defined if defined else None,
        "undefined": 1 - defined / replicates,
        "questions_alone_type_i": alone / replicates,
        "bootstrap_type_i": resampled / replicates,
        "bootstrap_coverage": resampled_covers / replicates,
    }


CROSSED: tuple[Cell, ...] = tuple(
    (raters, questions, levels, rater_sd, raters)
    for raters in (5, 10)
    for questions in (20, 100)
    for levels in (1, 4)
    for rater_sd in (0.2, 0.4)
)
"""Every rater votes on every pair."""
DEALT: tuple[Cell, ...] = tuple(
    (10, questions, levels, rater_sd, 3)
    for questions in (20, 100)
    for levels in (1, 4)
    for rater_sd in (0.2, 0.4)
)
"""Three votes a pair by 10 raters."""

GRID = Grid(
    name="raters",
    title="Raters as a sample: type I error and coverage",
    about="""\
New raters judge new questions. The expected vote over all raters and questions is -0.1, the margin, so every
"non-inferior" is an error; nominal 0.10. A vote is -1, 0 or +1: the sign of a latent value, or 0 within 0.5 of zero. The latent value
is a mean plus a rater (standard deviation `rater_sd`), a question (0.5), rater x question (0.3), a pair (0.5) and a residual (1).
`levels` is the number of pairs of a question, which share the question's draws. With fewer `votes_a_pair` than raters, whole questions are dealt.

- `type_i`: share of studies whose 90 % bound over raters and questions (`core.stats.raters.mrmc`) is above -0.1.
- `coverage`: share of two-sided 95 % intervals with the true mean, among studies that have one.
- `undefined`: share of studies without a bound over raters.
- `questions_alone_type_i`: the same error of the verdict over questions, which takes these raters as given.
- `bootstrap_type_i`, `bootstrap_coverage`: the crossed bootstrap of raters and questions (Owen 2007), percentile, which Assay does not use.""",
    factors=("raters", "questions", "levels", "rater_sd", "votes_a_pair"),
    measures=(
        *(
            "type_i",
            "coverage",
            "undefined",
            "questions_alone_type_i",
            "bootstrap_type_i",
            "bootstrap_coverage",
        ),
    ),
    cells=CROSSED + DEALT,
    run=run_cell,
    replicates=4_000,
)
