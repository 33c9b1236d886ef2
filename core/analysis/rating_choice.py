"""Which ratings count, on which scale: one dimension or the mean of several, as given or normalised per rater."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.analysis.choosing import check_names
from core.analysis.row_columns import Key, level_key
from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import Rating, RatingSet
from core.stats.correlation import z_normalise as z_normalised
from core.stats.resampling import Floats

Dimension = str | tuple[str, ...] | None
"""A dimension, several whose mean counts, or the only one there is."""
NOT_NORMALISED = "rating not normalised: its rater is unknown, rated once, or gave one score to all"
NOT_ALL_RATED = "not rated on every dimension"
WIDEST = 2.0
"""Dimensions share a scale where the range of scores in none is more than this many times that in another."""


@dataclass(frozen=True)
class ChosenRatings:
    """Ratings of one dimension, or means over several."""

    ratings: tuple[Rating, ...]
    values: Floats
    """One a rating; NaN where it could not be normalised, or lacks a dimension."""
    unusable_reason: str = ""
    """Why a value is NaN."""
    notes: tuple[str, ...] = ()
    standardised: bool = False
    """Values are differences from a mean: their rounding is that of larger numbers."""


def dimensions_of(ratings: RatingSet) -> tuple[str, ...]:
    """What was rated, in the order of the file."""
    return tuple(dict.fromkeys(rating.dimension for rating in ratings.ratings))


def mean_name(dimensions: Sequence[str]) -> str:
    """What the mean of several dimensions is called."""
    return f"mean of {len(dimensions)} dimensions"


def chosen_ratings(
    ratings: RatingSet, dimension: Dimension, *, z_normalise: bool, kept: bool = False
) -> ChosenRatings:
    """The ratings of one dimension, or the mean of several; minus the rater's mean over the rater's standard deviation if asked for.

    The mean is taken of a text: over the ratings of each dimension, then over dimensions; where raters are `kept`, of
    each rater's scores of a text. Dimensions on different scales (`WIDEST`) are standardised first, which a note says.
    Raises InputError for an unknown dimension, for none chosen of several, where no rating names its rater but they
    are to be normalised, and where kept raters of several dimensions cannot be told apart.
    """
    there = dimensions_of(ratings)
    if not there:
        raise InputError(f"{shown(ratings.file_name)} holds no ratings.")
    if dimension is None and len(there) > 1:
        raise InputError(
            f"{shown(ratings.file_name)} rates several dimensions ({', '.join(map(shown, there))}): "
            "choose one (--dimension)."
        )
    wanted = there if dimension is None else (dimension,) if isinstance(dimension, str) else dimension
    wanted = tuple(dict.fromkeys(wanted))
    check_names("dimension", wanted, there)
    parts = [_of_one(ratings, name, z_normalise) for name in wanted]
    return parts[0] if len(parts) == 1 else _mean(ratings, wanted, parts, z_normalise, kept)


def _of_one(ratings: RatingSet, dimension: str, z_normalise: bool) -> ChosenRatings:
    chosen = tuple(one for one in ratings.ratings if one.dimension == dimension)
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
    return ChosenRatings(tuple(chosen), normal, NOT_NORMALISED, tuple(lost), standardised=True)


def _mean(
    ratings: RatingSet,
    dimensions: Sequence[str],
    parts: Sequence[ChosenRatings],
    z_normalise: bool,
    kept: bool,
) -> ChosenRatings:
    """The mean of several dimensions: one value a text, or a text and rater where raters are kept."""
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    values = [part.values for part in parts]
    if unlike := None if z_normalise else _unlike(dimensions, values):
        values = [(one - one.mean()) / one.std() if np.ptp(one) else one - one.mean() for one in values]
        notes.append(
            f"dimensions differ in scale ({unlike}): each is standardised (minus its mean, over its standard deviation) "
            "before the mean"
        )
    labels = _labels_of_texts(part.ratings for part in parts)
    scores: dict[tuple[Key, str | None], list[list[float]]] = {}
    first: dict[Key, Rating] = {}
    for place, (part, own) in enumerate(zip(parts, values, strict=True)):
        for rating, value in zip(part.ratings, own.tolist(), strict=True):
            text = _text(rating, labels)
            first.setdefault(text, rating)
            key = (text, rating.rater if kept else None)
            scores.setdefault(key, [[] for _ in parts])[place].append(value)
    if kept and any(len(own) > 1 for by_dimension in scores.values() for own in by_dimension):
        raise InputError(
            f"{shown(ratings.file_name)} does not tell which scores on the dimensions are one rater's: name raters, or "
            "average them (--raters averaged)."
        )
    name = mean_name(dimensions)
    found = tuple(replace(first[text], dimension=name, spans=None, rater=rater) for text, rater in scores)
    means = np.array([_mean_of(by_dimension) for by_dimension in scores.values()], dtype=np.float64)
    reason = f"{NOT_ALL_RATED}, or {NOT_NORMALISED}" if z_normalise else NOT_ALL_RATED
    return ChosenRatings(found, means, reason, tuple(notes), standardised=z_normalise or unlike is not None)


def _mean_of(by_dimension: Sequence[Sequence[float]]) -> float:
    """Over dimensions; NaN where one of them has no usable score."""
    usable = [[value for value in own if not np.isnan(value)] for own in by_dimension]
    return float(np.mean([np.mean(own) for own in usable])) if all(usable) else np.nan


def _unlike(dimensions: Sequence[str], values: Sequence[Floats]) -> str | None:
    """The dimensions with their ranges where these are of different scales; None: they share one."""
    widths = [float(np.ptp(own)) for own in values]
    some = [width for width in widths if width > 0]
    if not some or max(some) <= WIDEST * min(some):
        return None
    return ", ".join(
        f"{shown(name)} {own.min():g} to {own.max():g}" for name, own in zip(dimensions, values, strict=True)
    )


def _text(rating: Rating, labels: Sequence[str]) -> Key:
    own = (rating.labels.get(name) for name in labels)
    return rating.item_id, rating.system, level_key(rating.level), rating.language, *own


def _labels_of_texts(parts: Iterable[Sequence[Rating]]) -> list[str]:
    """Labels with the same values in every dimension; others, such as the time of a rating, are of no text."""
    said: list[Mapping[str, set[str | None]]] = []
    for ratings in parts:
        names = dict.fromkeys(name for one in ratings for name in one.labels)
        said.append({name: {one.labels.get(name) for one in ratings} for name in names})
    return [name for name in said[0] if all(one.get(name) == said[0][name] for one in said)]
