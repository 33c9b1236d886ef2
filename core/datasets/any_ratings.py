"""Human ratings of whatever form a file has: a table, MQM, rated texts, METAL's JSON."""

from collections.abc import Collection
from pathlib import PurePath

from core.datasets.metal import MetalFile, read_metal
from core.datasets.rated import RATINGS, ratings_of, read_rated
from core.datasets.rating_files import read_rating_file
from core.datasets.ratings import COLUMNS
from core.datasets.reading import JsonObject, decode, parse_json, shown
from core.datasets.rows import jsonl_objects
from core.errors import InputError
from core.schema.scores import RatingSet

_SCORES = frozenset(COLUMNS["score"])


def read_any_ratings(
    data: bytes, file_name: str, *, lower_is_better: bool = False, flip: Collection[str] = ()
) -> RatingSet:
    """The ratings of a file, told by its ending and its first row. Raises InputError.

    lower_is_better: of a table. flip: dimensions of METAL's JSON in which 1 is bad.
    """
    if holds_metal(data, file_name):
        _refuse(lower_is_better, file_name, "METAL's JSON; name the dimensions that are turned (--flip H,PC)")
        return read_metal(data, file_name, flip=flip).ratings
    if flip:
        raise InputError(
            f"--flip is for METAL's JSON; {shown(file_name)} holds a table of ratings: leave it out."
        )
    if holds_rated_texts(data, file_name):
        _refuse(lower_is_better, file_name, "rated texts, whose scores have their direction; leave it out")
        return ratings_of(read_rated(data, file_name))
    return read_rating_file(data, file_name, lower_is_better=lower_is_better)


def metal_file(data: bytes, file_name: str, flip: Collection[str]) -> MetalFile:
    """All that METAL's JSON holds, evaluators among it. Raises InputError."""
    return read_metal(data, file_name, flip=flip)


def holds_metal(data: bytes, file_name: str) -> bool:
    """Whether a file is METAL's JSON: one value that is no list of rows with a score of their own."""
    if PurePath(file_name).suffix.lower() != ".json":
        return False
    value, problem = parse_json(decode(data, file_name))
    if problem is not None:
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, JsonObject) and not _SCORES & {key.lower() for key in first}


def holds_rated_texts(data: bytes, file_name: str) -> bool:
    """Whether a file has a text a line, each with its ratings."""
    if PurePath(file_name).suffix.lower() not in (".jsonl", ".ndjson"):
        return False
    first = next(
        (line.value for line in jsonl_objects(decode(data, file_name)) if line.value is not None), None
    )
    return first is not None and RATINGS in first


def _refuse(lower_is_better: bool, file_name: str, what: str) -> None:
    if lower_is_better:
        raise InputError(f"--lower-is-better is for tables of ratings; {shown(file_name)} holds {what}.")
