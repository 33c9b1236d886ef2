"""Layout of a big table: a run whose texts and scores lie as Parquet files in its folder beside the database.

The table's rows are scored in chunks, which are the run's items. TEXTS_FILE has all rows, in row groups of one chunk;
each finished chunk has a file of scores, named by `part_name`. A chunk counts as finished only if its item is saved: a
file without one is the rest of a killed process, and is written again.
"""

BIG_ROWS = 100_000
"""Most texts of an ordinary run. A file with more becomes a big table."""
CHUNK_ROWS = 5_000
"""Texts per chunk: one item of the run, and one row group of TEXTS_FILE. A killed process loses at most a few chunks."""
DEFAULT_BY = ("level", "system")
"""Columns that means of a table are grouped by, unless others are chosen."""
DEFAULT_RESAMPLES = 1_000
"""Resamples of its items, if intervals are wanted."""
TEXTS_FILE = "texts.parquet"
"""The texts in the order of the file; see TEXT_COLUMNS."""
ROW = "row"
"""Column with the number of a text, from 0, in the order of the file; rows without a text have none."""
ABOUT_COLUMNS = (ROW, "item_id", "system", "level", "language")
"""Columns that name a text, in both kinds of file: `row` is int64, the others are strings; level may be null."""
LABELS = "labels"
"""Column with a text's labels: a JSON object of strings, with its keys sorted, or null. In both kinds of file."""
TEXT_COLUMNS = (*ABOUT_COLUMNS, "text", "reference", "source", LABELS)
"""Columns of TEXTS_FILE; reference and source may be null."""
REASONS = "reasons"
"""Last column of a file of scores: a JSON object, metric -> why the text has no score on it; null if it has all."""
NOTES_KEY = b"assay"
"""Key of the metadata of TEXTS_FILE: a JSON object with `notes` and `left_out` of reading, and `labels`."""


def part_name(chunk: int) -> str:
    """The name of a chunk's file of scores: ABOUT_COLUMNS, LABELS, a float64 column for each metric, and REASONS."""
    return f"scores-{chunk:06d}.parquet"


def n_chunks(n_rows: int, chunk_rows: int = CHUNK_ROWS) -> int:
    """Number of chunks of so many texts."""
    return -(-n_rows // chunk_rows)
