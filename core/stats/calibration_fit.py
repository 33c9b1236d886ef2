"""Two maps from a judge's score to the mean human score: isotonic, and ordinal (for `calibration_map`)."""

import warnings
from collections.abc import Callable

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit

from core.stats.resampling import Floats

Predict = Callable[[Floats], Floats]
"""Judge's scores (n,) -> what they read as on the human scale (n,)."""
MOST_CLASSES = 20
"""Different human scores that an ordinal map takes."""


class NoFit(Exception):
    """The ordinal model cannot be fitted; says why."""


def isotonic_knots(judge: Floats, human: Floats) -> tuple[Floats, Floats]:
    """The never falling step function nearest to the human scores in squares, as knots (k,), (k,); n >= 1, no NaN.

    Between knots it is taken as linear, beyond them as constant. Equal judge's scores get one value. A judge whose scores
    run against people's gets a flat map. Source: Barlow et al. (1972), Statistical Inference under Order Restrictions;
    for calibration Zadrozny and Elkan (2002, KDD).
    """
    scores, place, counts = np.unique(judge, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=human) / counts
    values = np.asarray(isotonic_regression(means, weights=counts.astype(float)).x, dtype=np.float64)
    changes = np.diff(values) != 0
    kept = np.concatenate([[True], changes]) | np.concatenate([changes, [True]])
    return scores[kept], values[kept]


def through(knots: tuple[Floats, Floats]) -> Predict:
    """Linear between knots, constant beyond."""
    return lambda scores: np.interp(scores, *knots)


def ordinal_map(judge: Floats, human: Floats) -> Predict:
    """Mean of the human classes under a proportional odds model of the judge's score. Raises NoFit.

    Human scores are taken as ordered classes; the mean over them uses their values. Source: McCullagh (1980, Journal of the
    Royal Statistical Society B 42:109), fitted by statsmodels' OrderedModel. Needs two to twenty classes, and scores that
    do not separate them perfectly. May fall where the judge's scores run against people's.
    """
    classes, codes = np.unique(human, return_inverse=True)
    spread = float(judge.std())
    if spread == 0:
        raise NoFit("the judge gives every text the same score")
    if not 2 <= classes.size <= MOST_CLASSES:
        raise NoFit(f"there are {classes.size} different human scores, and it takes 2 to {MOST_CLASSES}")
    centre = float(judge.mean())
    slope, thresholds = _proportional_odds((judge - centre) / spread, codes)

    def predict(scores: Floats) -> Floats:
        above = expit(slope * ((scores - centre) / spread)[:, None] - thresholds)
        return np.asarray(classes[0] + above @ np.diff(classes), dtype=np.float64)

    return predict


def _proportional_odds(scores: Floats, codes: np.ndarray) -> tuple[float, Floats]:
    """Slope and ascending thresholds."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel  # takes a second to import

    model = OrderedModel(codes, scores[:, None], distr="logit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = model.fit(method="bfgs", disp=0, maxiter=500, skip_hessian=True)
        except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
            raise NoFit("its fit failed") from error
    slope = float(found.params[0])
    thresholds = np.asarray(model.transform_threshold_params(found.params), dtype=np.float64)[1:-1]
    if not found.mle_retvals["converged"] or not np.isfinite([slope, *thresholds]).all():
        raise NoFit("its fit did not converge")
    return slope, thresholds
