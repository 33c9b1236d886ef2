"""From votes to one score a pair: who of the two sources do the raters prefer together?

Source: the blind study of 003 (one score a pair, the sign of the sum of its votes): +1 for the candidate (in 003 the
pipeline), -1 for the comparator (the expert), 0 for both good, both bad and for votes that cancel out.
"""

import numpy as np
from numpy.typing import ArrayLike

from core.stats.resampling import Floats
from core.stats.votes import CANDIDATE, COMPARATOR, MISSING, check_votes


def preferences(votes: ArrayLike) -> Floats:
    """Votes (n_units, n_raters) of the four choices as +1 candidate, -1 comparator, 0 tie, NaN missing."""
    codes = check_votes(votes)
    signs = np.where(codes == CANDIDATE, 1.0, np.where(codes == COMPARATOR, -1.0, 0.0))
    return np.where(codes == MISSING, np.nan, signs)


def composite_scores(preferences: ArrayLike) -> Floats:
    """Sign of the sum of a unit's preferences: shape (n_units,), values -1, 0, +1, NaN where nobody voted.

    `preferences` has shape (n_units, n_raters) with values +1, -1, 0, and NaN for missing. A higher score favours the
    candidate. Misleads in two ways: "both bad" scores 0 like "both good", so a mean near 0 does not say that
    either source is good; and the sign forgets how many raters agreed.
    """
    signs = np.asarray(preferences, dtype=np.float64)
    if signs.ndim != 2:
        raise ValueError(f"preferences must have shape (n_units, n_raters), got {signs.shape}")
    missing = np.isnan(signs)
    if not np.isin(signs[~missing], (-1.0, 0.0, 1.0)).all():
        raise ValueError("preferences must be -1, 0 or +1, or NaN for missing")
    nobody = missing.all(axis=1)
    return np.where(nobody, np.nan, np.sign(np.nansum(signs, axis=1)))


def net_preferences(preferences: ArrayLike) -> Floats:
    """Mean of a unit's preferences: shape (n_units,), values in [-1, 1], NaN where nobody voted.

    `preferences` as in `composite_scores`. Above 0 favours the candidate. The same preferences give a smaller mean than the
    composite score does, and the same one whatever the number of raters.
    """
    signs = np.asarray(preferences, dtype=np.float64)
    known = ~np.isnan(signs)
    given = known.sum(axis=1)
    return np.where(given == 0, np.nan, np.nansum(signs, axis=1) / np.maximum(given, 1))
