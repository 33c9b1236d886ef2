"""Options and small things that several commands share."""

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from core.errors import InputError
from core.store import Store, database_path, open_store

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

Options: TypeAlias = "argparse._ActionsContainer"
"""A command, or a group of its options."""

_RUN = "run:"
ALL = "all"


def add_database_option(command: Options) -> None:
    """`--db`, the same for every command."""
    command.add_argument("--db", metavar="PATH", help="database (default: ASSAY_DB, else var/assay.db)")


def existing_database(given: str | None) -> Path:
    """The database a command reads. Raises InputError when there is none: a mistyped path makes no new one."""
    path = database_path(given)
    if not path.exists():
        raise InputError(
            f"There is no database {path}. `python -m core study import FILE` or ./run makes one; --db names another."
        )
    return path


def existing_store(given: str | None) -> Store:
    """The same database, open."""
    return open_store(existing_database(given))


def add_json_option(command: Options) -> None:
    """`--json`, the same for every command."""
    command.add_argument("--json", action="store_true", help="print JSON as docs/formats.md describes it")


def add_reading_verb(
    verbs: Commands, name: str, text: str, run: Callable[[argparse.Namespace], None]
) -> argparse.ArgumentParser:
    """A verb that prints what the database or a file holds, as JSON too."""
    command = verbs.add_parser(name, help=text)
    add_json_option(command)
    add_database_option(command)
    command.set_defaults(run=run)
    return command


def add_pair_option(command: Options) -> None:
    """`--language-pair`, the same for every command."""
    command.add_argument(
        "--language-pair", metavar="PAIR", help="which one of a folder that holds several, such as en-de"
    )


def add_columns_option(command: Options, *, several: bool = False) -> None:
    """`--columns`, the same for every command that reads a table; several: where it may read more than one."""
    whose, more = ("files'", "; no file needs to have all") if several else ("file's", "")
    command.add_argument(
        "--columns",
        metavar="NAME=COLUMN,...",
        help=f"what the {whose} own columns are, where their names do not say it, such as text=output,item_id=key{more}",
    )


def read_table(path: Path, columns: str | None) -> bytes:
    """The file's bytes, with columns renamed as `--columns` says."""
    from core.tables.mapping import parse_columns, with_columns  # loads numpy, which not every command needs

    data = read_file(path)
    return with_columns(data, path.name, parse_columns(columns)) if columns is not None else data


def read_one_of(path: Path, options: argparse.Namespace) -> bytes:
    """The file's bytes, with those columns renamed that `--columns` names and it has; see check_columns."""
    if (columns := getattr(options, "columns", None)) is None:
        return read_file(path)
    from core.tables.mapping import columns_there, parse_columns, with_columns

    data = read_file(path)
    return with_columns(data, path.name, columns_there(data, path.name, parse_columns(columns)))


def check_columns(options: argparse.Namespace, given: Iterable[str | Path | None]) -> None:
    """Raise InputError where `--columns` names what no file among those given has."""
    if options.columns is None:
        return
    from core.tables.mapping import columns_there, parse_columns
    from core.tables.reading import shown

    named = parse_columns(options.columns)
    files = [path for path in (Path(one) for one in given if one is not None) if path.is_file()]
    there = {ours for path in files for ours in columns_there(read_file(path), path.name, named)}
    where = ", ".join(shown(path.name) for path in files) or "what was given"
    missing = [theirs for ours, theirs in named.items() if ours not in there]
    check_options([f"--columns: {where} has no column {shown(theirs)}" for theirs in missing])


def check_options(problems: Sequence[str]) -> None:
    """Raise InputError where there are problems."""
    if problems:
        raise InputError("The options cannot be used.", problems)


def read_file(path: Path) -> bytes:
    """The file's bytes. Raises InputError, naming the file, when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as problem:
        raise InputError(f"{path} cannot be read: {problem.strerror or problem}.") from problem


def write_file(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all. Raises InputError when it cannot be written."""
    draft: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".assay-", delete=False) as file:
            draft = Path(file.name)
            file.write(data)
        draft.chmod(0o666 & ~_umask())
        draft.replace(path)
    except (OSError, ValueError) as problem:
        if draft is not None:
            draft.unlink(missing_ok=True)
        raise InputError(
            f"{path} cannot be written: {getattr(problem, 'strerror', None) or problem}."
        ) from problem


def check_not_the_database(out: Path, database: Path) -> None:
    """Raise InputError where a file that is written would replace the database or its key."""
    own = {database.with_name(database.name + end).resolve() for end in ("", "-wal", "-shm", ".key")}
    if out.resolve() in own:
        raise InputError(f"{out} belongs to the database itself: name another file.")


def check_out(out: Path, database: Path, inputs: Iterable[str | Path | None]) -> None:
    """Raise InputError where `--out` could not be written, or would replace what is read: before hours of work."""
    check_not_the_database(out, database)
    _check_not_an_input(out, inputs)
    if out.is_dir():
        raise InputError(f"--out: {out} is a folder; name a file in it.")
    make_folder(out.parent)
    try:
        tempfile.TemporaryFile(dir=out.parent).close()
    except OSError as problem:
        raise InputError(f"--out: {out} cannot be written: {problem.strerror or problem}.") from problem


def _check_not_an_input(out: Path, inputs: Iterable[str | Path | None]) -> None:
    for given in inputs:
        if given is None:
            continue
        path = Path(given)
        if path.resolve() == out.resolve() or (path.exists() and out.exists() and path.samefile(out)):
            raise InputError(
                f"--out: {out} is read by this command and would be replaced: name another file."
            )


def make_folder(path: Path) -> None:
    """Make a folder unless it is there. Raises InputError when it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror or problem}.") from problem


def run_number(given: str) -> int | None:
    """The number in `run:3`; None for what does not begin with `run:`. Raises InputError where no number follows."""
    if not given.startswith(_RUN):
        return None
    number = given.removeprefix(_RUN)
    if not (number.isascii() and number.isdigit()):
        raise InputError(f"{given!r} is not run:N, such as run:3. `python -m core runs list` names them.")
    return int(number)


def json_text(value: Any) -> str:
    """JSON as commands print and write it; a number that is none would be a mistake of ours."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def print_result(
    options: argparse.Namespace, as_json: Any, printer: Callable[..., None], *printed: Any
) -> None:
    """The result as JSON where `--json` asks for it, else as the printer prints it."""
    if options.json:
        print(json_text(as_json))
    else:
        printer(*printed)


def print_notes(notes: Iterable[str]) -> None:
    """A line each."""
    for note in notes:
        print(f"Note: {note}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def level_list(levels: tuple[str, ...], text: str | None, option: str = "--levels") -> list[str] | None:
    """Levels named as `A1-A4`, `A1,A3` or `all`, in the study's order; None where none is named. Raises InputError."""
    if text is None:
        return None
    if text.strip() == ALL and ALL not in levels:
        return list(levels)
    chosen: set[str] = set()
    for part in name_list(text) or []:
        first, dash, last = part.partition("-")
        ends = [first.strip(), last.strip()] if dash and part not in levels else [part]
        unknown = [end for end in ends if end not in levels]
        if unknown:
            raise InputError(
                f"{option}: there is no level {unknown[0]!r}; the levels are {', '.join(levels)}."
            )
        chosen.update(levels[levels.index(ends[0]) : levels.index(ends[-1]) + 1])
    if not chosen:
        raise InputError(f"{option}: {text!r} names no level; the levels are {', '.join(levels)}.")
    return [level for level in levels if level in chosen]


def name_list(text: str | None) -> list[str] | None:
    """Names separated by commas; None for all."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
