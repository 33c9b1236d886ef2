"""Three raters and a judge on a scale of 1 to 5: several hundred texts, drawn with a seed."""

from collections.abc import Sequence

import numpy as np
from helpers.texts.score_factories import ratings as rating_set
from helpers.texts.score_factories import table

from core.analyses.calibrate import CalibrateOptions
from core.results.calibration.cells import evaluators_of
from core.results.calibration.results import Calibration, calibrate
from core.schema.scale import NOT_DECLARED, DeclaredScale
from core.schema.scores import Rating, RatingSet, ScoredRow, ScoreTable
from core.schema.study import Dimension
from core.stats.resampling import Floats

N_TEXTS = 600
QUICK = CalibrateOptions(n_resamples=200)


def panel(
    n: int = N_TEXTS, *, shift: float = 0.0, noise: float = 0.5, seed: int = 39
) -> tuple[Floats, Floats]:
    """Ratings (n, 3) and the judge's scores (n,): rounded views of one quality, the judge's lower by `shift`."""
    draw = np.random.default_rng(seed)
    quality = draw.uniform(0.5, 5.5, n)

    def seen(spread: float, by: float = 0.0) -> Floats:
        return np.clip(np.round(quality + by + draw.normal(0, spread, n)), 1, 5)

    raters = np.column_stack([seen(1.2) for _ in range(3)])
    return raters, seen(noise, -shift)


def given(votes: Floats, said: Sequence[float] | Floats) -> tuple[RatingSet, ScoreTable]:
    """Ratings and scores; each text is an item of its own."""
    people = rating_set(
        *(
            Rating(f"i{n}", float(score), "s", None, f"r{who}", "LA")
            for n, scores in enumerate(votes)
            for who, score in enumerate(scores)
        )
    )
    made = table([(ScoredRow(f"i{n}", "s"), float(score)) for n, score in enumerate(said)], ["judge-LA"])
    return people, made


def compared(
    votes: Floats,
    said: Sequence[float] | Floats,
    options: CalibrateOptions = QUICK,
    *,
    dimensions: tuple[Dimension, ...] = (),
    scale: DeclaredScale = NOT_DECLARED,
) -> Calibration:
    """The judge against the raters."""
    people, made = given(votes, said)
    (evaluator,) = evaluators_of(made, people)
    return calibrate(people, made, evaluator, options, dimensions=dimensions, scale=scale)


def score_lines(votes: Floats, said: Floats) -> tuple[str, str]:
    """The same as two CSV files: of people, and of the judge."""
    people = "item,system,rater,dimension,score\n" + "".join(
        f"{n},s,r{who},LA,{score:g}\n" for n, scores in enumerate(votes) for who, score in enumerate(scores)
    )
    judge = "item,system,judge-LA\n" + "".join(f"{n},s,{score:g}\n" for n, score in enumerate(said))
    return people, judge
