"""Options and helpers shared by several commands."""

import argparse
import csv
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from core.disk import why_not_written
from core.errors import InputError
from core.installation import COMMAND, IN_FOLDER, INSTALLED, START, default_database
from core.schema.settings import fields_of
from core.sources.named import FileSource
from core.sources.reading import ReadingChoice, SourceReader
from core.store import Store, database_path, open_store
from core.tables.files import json_text, read_file

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

Options: TypeAlias = "argparse._ActionsContainer"
"""A command, or a group of its options."""

ALL = "all"
if INSTALLED:
    _DEFAULT = "assay.db in your data folder"
else:
    _DEFAULT = "var/assay.db" if IN_FOLDER else str(default_database()).replace("%", "%%")


def add_database_option(command: Options) -> None:
    """Register `--db`, the same for every command."""
    command.add_argument("--db", metavar="PATH", help=f"database (default: $ASSAY_DB, else {_DEFAULT})")


def existing_database(database: str | None) -> Path:
    """Return the path of the database. Raises InputError if it does not exist, so that a mistyped path creates none."""
    path = database_path(database)
    if not path.exists():
        raise InputError(
            f"There is no database {path}. Create one with `{COMMAND} study import FILE` or {START}, or name another with --db."
        )
    return path


def existing_store(database: str | None) -> Store:
    """Open the database of `--db`. Raises InputError if it does not exist."""
    return open_store(existing_database(database))


def add_excel_option(command: argparse.ArgumentParser) -> None:
    """Register `--excel`."""
    command.add_argument(
        "--excel",
        action="store_true",
        help="write CSV with a byte order mark, without which Excel shows accents and other scripts wrongly",
    )


def add_json_option(command: Options, document: str = "docs/formats.md") -> None:
    """Register `--json`, the same for every command. document: where its JSON is described."""
    command.add_argument("--json", action="store_true", help=f"print JSON, described in {document}")


def add_reading_verb(
    verbs: Commands, name: str, text: str, run: Callable[[argparse.Namespace], None]
) -> argparse.ArgumentParser:
    """Register a verb that prints content of the database or of a file, optionally as JSON."""
    command = verbs.add_parser(name, help=text)
    add_json_option(command)
    add_database_option(command)
    command.set_defaults(run=run)
    return command


def add_pair_option(command: Options) -> None:
    """Register `--language-pair`, the same for every command."""
    add_reading_option(command, "language_pair")


def add_reading_option(command: Options, name: str) -> None:
    """Register the option of a field of ReadingChoice, the same for every command."""
    one = fields_of(ReadingChoice)[name]
    command.add_argument(one.option, metavar=one.about.metavar, help=one.about.help)


def add_columns_option(command: Options, *, several: bool = False) -> None:
    """Register `--columns`, the same for every command that reads a table. several: whether it may read more than one."""
    whose, more = ("files", "; no file needs all of them") if several else ("file", "")
    command.add_argument(
        "--columns",
        metavar="NAME=COLUMN,...",
        help=f"columns of the {whose} that have other names than expected, e.g. text=output,item_id=key{more}",
    )


def read_table(path: Path, columns: str | None) -> bytes:
    """Return the file's bytes, with columns renamed as in `--columns`."""
    from core.tables.mapping import parse_columns  # imported lazily: loads numpy

    return SourceReader(columns=parse_columns(columns)).table(FileSource(str(path)))


def check_columns(options: argparse.Namespace, inputs: Iterable[str | Path | None]) -> None:
    """Raise InputError if `--columns` names a column that none of the files has."""
    if options.columns is None:
        return
    from core.tables.mapping import columns_there, parse_columns
    from core.tables.reading import shown

    named = parse_columns(options.columns)
    files = [path for path in (Path(one) for one in inputs if one is not None) if path.is_file()]
    there = {ours for path in files for ours in columns_there(read_file(path), path.name, named)}
    where = ", ".join(shown(path.name) for path in files) or "the input"
    missing = [theirs for ours, theirs in named.items() if ours not in there]
    check_options([f"--columns: {where} has no column {shown(theirs)}" for theirs in missing])


def check_options(problems: Sequence[str]) -> None:
    """Raise InputError if there are problems."""
    if problems:
        raise InputError("Invalid options", problems)


def option_error(problem: InputError, names: Collection[str]) -> InputError:
    """Return the problem with names of parameters written as options: `rater_sd: ...` becomes `--rater-sd: ...`."""

    def called(found: re.Match[str]) -> str:
        return f"--{found[0].replace('_', '-')}" if found[0] in names else found[0]

    # A single word is a parameter only where a problem begins with it: "judge: ..." names one, "a judge" does not.
    given = [str(one) for one in problem.problems]
    written = [re.sub(r"^\w+(?=:)|[a-z]+_\w+", called, one) for one in given]
    return problem if written == given else InputError(problem.what, written)


def check_not_the_database(out: Path, database: Path) -> None:
    """Raise InputError if the output file would replace the database or its key."""
    own = {database.with_name(database.name + end).resolve() for end in ("", "-wal", "-shm", ".key")}
    if out.resolve() in own:
        raise InputError(f"{out} belongs to the database. Name another file.")


def check_out(out: Path, database: Path, inputs: Iterable[str | Path | None], option: str = "--out") -> None:
    """Raise InputError if the option's file cannot be written or would replace an input, before hours of work."""
    check_not_the_database(out, database)
    _check_not_an_input(out, inputs, option)
    if out.is_dir():
        raise InputError(f"{option}: {out} is a folder. Name a file in it.")
    make_folder(out.parent)
    try:
        tempfile.TemporaryFile(dir=out.parent).close()
    except OSError as problem:
        raise InputError(f"{option}: {out} cannot be written: {why_not_written(problem, out)}.") from problem


def _check_not_an_input(out: Path, inputs: Iterable[str | Path | None], option: str) -> None:
    for given in inputs:
        if given is None:
            continue
        path = Path(given)
        if path.resolve() == out.resolve() or (path.exists() and out.exists() and path.samefile(out)):
            raise InputError(
                f"{option}: {out} is an input of this command and would be replaced. Name another file."
            )


def make_folder(path: Path) -> None:
    """Create a folder if it does not exist. Raises InputError if it cannot be created."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {why_not_written(problem, path)}.") from problem


def print_result(
    options: argparse.Namespace, as_json: Any, printer: Callable[..., None], *printed: Any
) -> None:
    """Print the result as JSON with `--json`, else with the printer."""
    if options.json:
        print(json_text(as_json))
    else:
        printer(*printed)


def print_notes(notes: Iterable[str]) -> None:
    """Print each note on a line."""
    for note in notes:
        print(f"Note: {note}")


def level_list(levels: tuple[str, ...], text: str | None, option: str = "--levels") -> list[str] | None:
    """Parse levels as `levels_named`; None for None."""
    return None if text is None else levels_named(levels, text, option)


def levels_named(levels: tuple[str, ...], text: str, option: str = "--levels") -> list[str]:
    """Parse levels such as `A1-A4`, `A1,A3` or `all` into the study's order. Raises InputError."""
    if text.strip() == ALL and ALL not in levels:
        return list(levels)
    if not any(levels):
        raise InputError(f"{option}: these pairs have no levels. Leave it out.")
    chosen: set[str] = set()
    for part in name_list(text) or []:
        first, dash, last = part.partition("-")
        ends = [first.strip(), last.strip()] if dash and part not in levels else [part]
        unknown = [end for end in ends if end not in levels]
        if unknown:
            raise InputError(f"{option}: unknown level {unknown[0]!r}. The levels are {', '.join(levels)}.")
        chosen.update(levels[levels.index(ends[0]) : levels.index(ends[-1]) + 1])
    if not chosen:
        raise InputError(f"{option}: {text!r} names no level. The levels are {', '.join(levels)}.")
    return [level for level in levels if level in chosen]


def name_list(text: str | None) -> list[str] | None:
    """Split names at commas; None for None. A name with a comma is quoted as in a CSV file: `"a,b",c`."""
    if text is None:
        return None
    try:
        parts = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line break outside quotes, which belongs to a name
        parts = text.split(",")
    return [part.strip() for part in parts if part.strip()]
