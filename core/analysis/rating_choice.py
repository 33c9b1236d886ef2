"""Which ratings count, on which scale: one dimension, as given or normalised per rater."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.choosing import check_names
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import Rating, RatingSet
from core.stats.correlation import z_normalise as z_normalised
from core.stats.resampling import Floats

NOT_NORMALISED = "rating not normalised: its rater is unknown, rated once, or gave one score to all"


@dataclass(frozen=True)
class ChosenRatings:
    """Ratings of one dimension."""

    ratings: tuple[Rating, ...]
    values: Floats
    """One a rating; NaN where it could not be normalised."""
    unusable_reason: str = ""
    """Why a value is NaN."""
    notes: tuple[str, ...] = ()


def dimensions_of(ratings: RatingSet) -> tuple[str, ...]:
    """What was rated, in the order of the file."""
    return tuple(dict.fromkeys(rating.dimension for rating in ratings.ratings))


def chosen_ratings(ratings: RatingSet, dimension: str | None, *, z_normalise: bool) -> ChosenRatings:
    """The ratings of one dimension, minus the rater's mean over the rater's standard deviation if asked for.

    Raises InputError for an unknown dimension, for none chosen of several, and where no rating names its rater but
    they are to be normalised.
    """
    there = dimensions_of(ratings)
    if not there:
        raise InputError(f"{shown(ratings.file_name)} holds no ratings.")
    if dimension is None and len(there) > 1:
        raise InputError(
            f"{shown(ratings.file_name)} rates several dimensions ({', '.join(map(shown, there))}): "
            "choose one (--dimension)."
        )
    if dimension is not None:
        check_names("dimension", [dimension], there)
    chosen = tuple(one for one in ratings.ratings if dimension in (None, one.dimension))
    values = np.array([one.score for one in chosen], dtype=np.float64)
    return _normalised(ratings, chosen, values) if z_normalise else ChosenRatings(chosen, values)


def _normalised(ratings: RatingSet, chosen: Sequence[Rating], values: Floats) -> ChosenRatings:
    named = np.array([one.rater is not None for one in chosen])
    if not named.any():
        raise InputError(
            f"{shown(ratings.file_name)} does not say who rated what, so ratings cannot be normalised per rater."
        )
    raters = np.array([one.rater or "" for one in chosen], dtype=str)
    normal = np.full(values.shape, np.nan)
    normal[named], reasons = z_normalised(values[named], raters[named])
    lost = [f"rater {shown(rater)} not normalised: {why}" for rater, why in reasons.items()]
    if not named.all():
        lost.append(f"{int((~named).sum())} ratings not normalised: they name no rater")
    return ChosenRatings(tuple(chosen), normal, NOT_NORMALISED, tuple(lost))
