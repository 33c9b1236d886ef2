"""Human ratings in whatever form a file has them, and out as one JSON object a line."""

from pathlib import PurePath
from typing import Any

from core.datasets.mqm import holds_mqm, read_mqm
from core.datasets.open_tables import LABEL_PAIR
from core.datasets.ratings import COLUMNS, SCORES, UNUSED, read_ratings
from core.datasets.reading import shown
from core.datasets.rows import jsonl_bytes
from core.datasets.score_columns import label_column
from core.errors import InputError
from core.schema.scores import Rating, RatingSet

_TAKEN = frozenset(
    {*COLUMNS, *(name for names in COLUMNS.values() for name in names), *UNUSED, *SCORES} - {LABEL_PAIR}
)
"""Names of columns that mean something else than a label to the reader."""


def read_rating_file(data: bytes, file_name: str, *, lower_is_better: bool = False) -> RatingSet:
    """Ratings of a table, of one JSON object a line, or of errors in MQM's TSV. Raises InputError.

    lower_is_better: of a table or JSONL; MQM's weights have their direction, so it is refused there.
    """
    if PurePath(file_name).suffix.lower() == ".tsv" and holds_mqm(data):
        if lower_is_better:
            raise InputError(
                f"{shown(file_name)} holds marked errors (MQM), whose weights already count against a text: leave out "
                "that lower is better (--lower-is-better)."
            )
        return read_mqm(data, file_name)
    return read_ratings(data, file_name, lower_is_better=lower_is_better)


def write_ratings_jsonl(ratings: RatingSet) -> bytes:
    """One rating a line, as read_ratings reads it. Marked errors are in their score, and are not written."""
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
    }
    return {name: value for name, value in row.items() if value is not None}
