"""Runs over tables too big for memory, from what a user names."""

from core.errors import InputError
from core.results.big_tables.scored import BigTable
from core.runs.path import saved_run
from core.runs.tables.opened import big_table
from core.sources.named import RunSource, Source, parse_source
from core.sources.reading import SourceReader
from core.tables.reading import shown


def run_named(written: str) -> RunSource:
    """The run that a user names as `3` or `run:3`. Raises InputError for anything else."""
    number = written.strip()
    source: Source = RunSource(int(number)) if number.isascii() and number.isdigit() else parse_source(number)
    if not isinstance(source, RunSource):
        raise InputError(f"{shown(written)} is not a run, such as 3 or run:3.")
    return source


def big_table_of_source(source: RunSource, reading: SourceReader) -> BigTable:
    """The table of a run, as it stands now. Raises InputError for a run of another kind, and for a damaged folder."""
    with reading.opened() as store:
        return big_table(saved_run(store, source.number))
