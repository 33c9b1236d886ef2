"""Files in and out, one module a format; `read_dataset` finds out which one a file has."""

from pathlib import PurePath

from core.datasets.reading import JsonObject, decode, parse_json, reject
from core.datasets.tabular import CSV_SUFFIXES, DELIMITERS, JSONL_SUFFIXES, read_tabular
from core.datasets.trutheval import read_trutheval
from core.datasets.votes import read_votes, write_votes
from core.schema import Dataset

__all__ = ["FORMATS", "read_dataset", "read_tabular", "read_trutheval", "read_votes", "write_votes"]

FORMATS = "the paper's JSON (.json), a long table (.csv, .tsv) or one JSON object a line (.jsonl, .ndjson)"
"""What read_dataset accepts, for messages and labels."""


def read_dataset(data: bytes, file_name: str) -> Dataset:
    """Read a data set in any format Assay knows; InputError holds every problem of the file."""
    suffix = PurePath(file_name).suffix.lower()
    if suffix == ".json":
        return read_trutheval(data, file_name)
    if suffix in CSV_SUFFIXES or suffix in JSONL_SUFFIXES:
        return read_tabular(data, file_name)
    text = decode(data, file_name).lstrip()
    first_line = text.split("\n", 1)[0]
    if text.startswith(("{", "[")):
        value, problem = parse_json(first_line)
        one_row = problem is None and isinstance(value, JsonObject) and "questions" not in value
        return read_tabular(data, file_name) if one_row else read_trutheval(data, file_name)
    if any(delimiter in first_line for delimiter in DELIMITERS):
        return read_tabular(data, file_name)
    return reject(file_name, [f"file: the format is not known; accepted are {FORMATS}"])
