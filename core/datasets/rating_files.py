"""Human ratings in whatever form a file has them, and out as one JSON object a line."""

from pathlib import PurePath
from typing import Any

from core.datasets.mqm import holds_mqm, read_mqm
from core.datasets.open_tables import LABEL_PAIR
from core.datasets.rated import ratings_of, read_rated
from core.datasets.ratings import COLUMNS, SCORES, UNUSED, read_ratings
from core.datasets.reading import reject, shown
from core.datasets.rows import jsonl_bytes
from core.datasets.score_columns import label_column
from core.datasets.seg_scores import is_seg_score, read_seg_ratings
from core.datasets.span_cells import span_row
from core.datasets.span_files import RATING_ENDING, holds_rated, read_span_file
from core.errors import InputError
from core.schema.scores import Rating, RatingSet

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
