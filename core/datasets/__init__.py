"""Files in and out, one module a format; `read_dataset` finds out which one a file has."""

from pathlib import PurePath

from core.datasets.building import DatasetBuilder
from core.datasets.reading import JsonObject, decode, parse_json, reject
from core.datasets.tabular import CSV_SUFFIXES, DELIMITERS, JSONL_SUFFIXES, collect_tabular, read_tabular
from core.datasets.trutheval import collect_trutheval, read_trutheval
from core.datasets.votes import read_votes, write_votes
from core.schema import Dataset

__all__ = [
    "FORMATS",
    "collect_dataset",
    "read_dataset",
    "read_tabular",
    "read_trutheval",
    "read_votes",
    "write_votes",
]

FORMATS = "the paper's JSON (.json), a long table (.csv, .tsv) or one JSON object a line (.jsonl, .ndjson)"
"""What read_dataset accepts, for messages and labels."""


def read_dataset(data: bytes, file_name: str) -> Dataset:
    """Read a data set in any format Assay knows; InputError holds every problem of the file."""
    return collect_dataset(data, file_name).finish()


def collect_dataset(data: bytes, file_name: str) -> DatasetBuilder:
    """What a file in any format holds, before it is asked whether that is a whole data set."""
    suffix = PurePath(file_name).suffix.lower()
    if suffix == ".json":
        return collect_trutheval(data, file_name)
    if suffix in CSV_SUFFIXES or suffix in JSONL_SUFFIXES:
        return collect_tabular(data, file_name)
    text = decode(data, file_name).lstrip()
    first_line = text.split("\n", 1)[0]
    if text.startswith(("{", "[")):
        value, problem = parse_json(first_line)
        one_row = problem is None and isinstance(value, JsonObject) and "questions" not in value
        return collect_tabular(data, file_name) if one_row else collect_trutheval(data, file_name)
    if any(delimiter in first_line for delimiter in DELIMITERS):
        return collect_tabular(data, file_name)
    return reject(file_name, [f"file: the format is not known; accepted are {FORMATS}"])
