"""Which of the human scores of an mt-metrics-eval folder are taken."""

from collections.abc import Mapping
from dataclasses import replace

from core.datasets.reading import shown
from core.errors import InputError
from core.schema.scores import RatingSet

USUAL_RATINGS = "mqm"
"""Of a folder that holds several."""
BY_RATER = "raters"
"""Ends the name of the ratings that a folder has in a file a rater, such as mqm.raters."""


def usual_ratings(there: Mapping[str, RatingSet], *, by_rater: bool = False) -> list[str]:
    """The name of the ratings that are taken of a folder unless others are named; empty where it has none.

    by_rater: those that tell raters apart, where there are any.
    """
    named = [name for name in there if name.endswith(f".{BY_RATER}")]
    if by_rater and named:
        return named[:1]
    return [USUAL_RATINGS] if USUAL_RATINGS in there else list(there)[:1]


def ratings_among(
    there: Mapping[str, RatingSet], name: str | None, asked: str | None, *, by_rater: bool = False
) -> RatingSet:
    """The ratings of that name; without one the usual ones, with a note on the others. Raises InputError.

    asked: the option that names ratings, for messages; None: there is none. by_rater: as in `usual_ratings`.
    """
    if not there and name is None:
        raise InputError(
            "The folder holds no ratings."
            if asked is None
            else f"There are no ratings: {asked} names a file of them, or a folder."
        )
    chosen = usual_ratings(there, by_rater=by_rater)[0] if name is None else name
    if chosen not in there:
        named = ", ".join(map(shown, there)) or "none"
        raise InputError(
            f"{asked}: {shown(chosen)} is neither a file nor among the folder's ratings ({named})."
        )
    others = [other for other in there if other != chosen]
    if name is not None or not others:
        return there[chosen]
    hint = f" ({asked} names others)" if asked else ""
    note = f"the folder's ratings {shown(chosen)}; also there: {', '.join(map(shown, others))}{hint}"
    return replace(there[chosen], notes=(note, *there[chosen].notes))
