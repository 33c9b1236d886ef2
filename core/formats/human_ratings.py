"""Human ratings of whatever form a file or a folder has: a table, MQM, rated texts, METAL's JSON; and out as one JSON object a line."""

from collections.abc import Collection, Sequence
from pathlib import PurePath
from typing import Any

from core.errors import InputError
from core.formats.metal import is_known, read_metal
from core.formats.mt_metrics_eval import is_seg_score, read_seg_ratings
from core.formats.rated import RATINGS, ratings_of, read_rated
from core.formats.ratings import COLUMNS, SCORES, UNUSED, read_ratings
from core.formats.scores import label_column
from core.formats.spans.cells import span_row
from core.formats.spans.files import RATING_ENDING, holds_rated, read_span_file
from core.formats.spans.mqm import holds_mqm, read_mqm
from core.schema.scores import Rating, RatingSet
from core.tables.columns import LABEL_PAIR
from core.tables.reading import JsonObject, decode, parse_json, reject, shown
from core.tables.rows import jsonl_bytes

_TAKEN = frozenset(
    {*COLUMNS, *(name for names in COLUMNS.values() for name in names), *UNUSED, *SCORES} - {LABEL_PAIR}
)
"""Names of columns that mean something else than a label to the reader."""
_AGAINST = ", whose weights already count against a text"
_HIGHER = ", of which higher is better already"


def read_rating_file(data: bytes, file_name: str, *, lower_is_better: bool = False) -> RatingSet:
    """Ratings of a table, of JSONL, of rated texts, of MQM's TSV, or of a file of mt-metrics-eval. Raises InputError.

    lower_is_better: of a table or JSONL; marked errors and rated texts have their direction, so it is refused there.
    """
    name = PurePath(file_name).name.lower()
    if name.endswith(".tsv") and holds_mqm(data):
        what, read = f"marked errors (MQM){_AGAINST}", read_mqm
    elif name.endswith(RATING_ENDING):
        what, read = f"marked errors (mt-metrics-eval){_AGAINST}", read_span_file
    elif is_seg_score(name):
        what, read = f"scores of mt-metrics-eval{_HIGHER}", read_seg_ratings
    elif holds_rated(data, file_name):
        what, read = f"rated texts{_HIGHER}", _of_rated
    else:
        return read_ratings(data, file_name, lower_is_better=lower_is_better)
    if lower_is_better:
        raise InputError(
            f"{shown(file_name)} holds {what}: leave out that lower is better (--lower-is-better)."
        )
    return read(data, file_name)


def _of_rated(data: bytes, file_name: str) -> RatingSet:
    found = ratings_of(read_rated(data, file_name))
    if not found.ratings:
        reject(file_name, ["file: no text in it is rated; at least one is needed"])
    return found


def write_ratings_jsonl(ratings: RatingSet) -> bytes:
    """One rating a line, with the errors where any could be marked; read_ratings reads it to equal ratings."""
    return jsonl_bytes(map(_row, ratings.ratings))


def _row(one: Rating) -> dict[str, Any]:
    row = {
        **{label_column(key, (), _TAKEN, wide=False): value for key, value in one.labels.items()},
        "item_id": one.item_id,
        "system": one.system,
        "level": one.level,
        "rater": one.rater,
        "score": one.score,
        "dimension": one.dimension,
        "language": one.language,
        "spans": None if one.spans is None else [span_row(span) for span in one.spans],
    }
    return {name: value for name, value in row.items() if value is not None}


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
