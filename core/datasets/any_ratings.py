"""Human ratings of whatever form a file has: a table, MQM, rated texts, METAL's JSON."""

from collections.abc import Collection, Sequence
from pathlib import PurePath

from core.datasets.metal import read_metal
from core.datasets.metal_forms import is_known
from core.datasets.rated import RATINGS
from core.datasets.rating_files import read_rating_file
from core.datasets.ratings import COLUMNS
from core.datasets.reading import JsonObject, decode, parse_json, reject, shown
from core.errors import InputError
from core.schema.scores import RatingSet

_SCORES = frozenset(COLUMNS["score"])


def read_any_ratings(
    data: bytes, file_name: str, *, lower_is_better: bool = False, flip: Collection[str] = ()
) -> RatingSet:
    """The ratings of a file, told by its ending and its records. Raises InputError.

    lower_is_better: of a table. flip: dimensions of METAL's JSON in which 1 is bad.
    """
    if holds_metal(data, file_name):
        if lower_is_better:
            raise InputError(
                f"--lower-is-better is for tables of ratings; {shown(file_name)} holds METAL's JSON: name the dimensions "
                "that are turned (--flip H,PC)."
            )
        found = read_metal(data, file_name, flip=flip).ratings
        if not found.ratings:
            reject(file_name, ["file: no record holds a rating; at least one is needed"])
        return found
    if flip:
        raise InputError(f"--flip is for METAL's JSON; {shown(file_name)} does not hold that: leave it out.")
    return read_rating_file(data, file_name, lower_is_better=lower_is_better)


def holds_metal(data: bytes, file_name: str) -> bool:
    """Whether a file is METAL's JSON: one value that is no list of ratings, and none of rated texts."""
    if PurePath(file_name).suffix.lower() != ".json":
        return False
    value, problem = parse_json(decode(data, file_name))
    if problem is not None:
        return False
    rows = value if isinstance(value, list) and value else [value]
    if not isinstance(rows[0], JsonObject) or _SCORES & {key.lower() for key in rows[0]}:
        return False
    return not _are_rated_texts(rows)


def _are_rated_texts(rows: Sequence[object]) -> bool:
    """Whether records have lists `ratings`, and no entry of them is METAL's: a rater's scores by dimension."""
    lists = [own for row in rows if isinstance(row, JsonObject) and isinstance(own := row.get(RATINGS), list)]
    entries = (one for own in lists for one in own if isinstance(one, JsonObject))
    return bool(lists) and not any("scores" in one or any(map(is_known, one)) for one in entries)
