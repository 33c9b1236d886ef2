"""Run a judge or an audit of judges, each with its folder of results."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from core.cli.shared.giving import (
    counted,
    print_said,
)
from core.cli.shared.options import (
    add_columns_option,
    add_pair_option,
    existing_store,
    print_notes,
    print_result,
    run_number,
)
from core.cli.shared.run_options import add_run_options, requested_run, run_it, settings_given
from core.cli.shared.running import finish_in_folder
from core.cli.shared.sources import JUDGE_NAMES as JUDGES
from core.cli.shared.sources import (
    MEANING,
    NAMES,
    STUDY,
    TEXTS_FILE,
    check_given,
    check_no_run,
    find_given_study,
    judges_given,
    read_given,
)
from core.errors import InputError
from core.formats.mt_metrics_eval import read_folder
from core.formats.registry import read_ratings
from core.judges.answers import check_together, question_sets_of
from core.judges.kind import JudgeKind
from core.results.cells import plain
from core.results.judges.cross_examination import (
    alignment_table,
    caught_table,
    marked_texts,
)
from core.runs.jobs import RunAtHand
from core.runs.judging import pieces_done
from core.runs.judging.in_one_file import (
    differences,
)
from core.runs.records import write_pieces
from core.runs.texts import rated_of_study
from core.schema.runs import Kind, Reads
from core.schema.scores import OutputSet, RatingSet
from core.schema.settings import fields_of
from core.store import Store
from core.tables.files import read_file

_RATED_MEANING = (
    "texts, with or without ratings: rated JSONL, CSV, JSONL or JSON, an mt-metrics-eval folder, the output of run N, or an "
    "unblinded study"
)


@dataclass(frozen=True)
class Given:
    """The input and output of all commands whose kinds read the same thing."""

    add: Callable[[argparse.ArgumentParser, Any], None]
    """Registers the arguments, given (command, kind)."""
    read: Callable[[Store, argparse.Namespace, Any], tuple[bytes, str]]
    """Returns the file for the run and its name, given (store, options, kind)."""
    same: str
    """The input that --resume matches, in words."""
    write: Callable[[RunAtHand, Path], Any] = finish_in_folder
    show: Callable[[argparse.Namespace, Any], None] = lambda *_: None
    """Prints the return value of `write`."""


def add_run(command: argparse.ArgumentParser, kind: Kind, given: Given, *, several: bool = False) -> None:
    """Register the arguments of one kind of run. several: see `add_run_options`."""
    given.add(command, kind)
    settings = add_run_options(command, kind, same=given.same, several=several)
    if (file := kind.attachment) is not None:
        of_study = ": the raters' own task in a study if it suits the judge, else" if _of_raters(kind) else ""
        settings.add_argument(
            f"--{file.option}", metavar="NAME|FILE", help=f"{file.help} (default{of_study} {file.usual})"
        )
    if kind.work == "judging" and not several:
        settings.add_argument(
            "--name", help="prefix of the judge's columns (default: its kind, mode and model)"
        )
    command.set_defaults(run=partial(run_judge, kind=kind, given=given), json=False, name="", judge_file=None)


def run_judge(options: argparse.Namespace, kind: Kind, given: Given) -> None:
    """Carry out the command of one kind: create or resume the run, work it off, write its folder and print its result."""
    wanted, running = requested_run(options, kind, name=options.name, attached=attached_file(options, kind))
    if options.judge_file is not None and (changed := differences(options.judge_file, wanted)):
        of_file = " The limits and maps of the file belong to the judge without these changes."
        measured = options.judge_file.limits is not None or options.judge_file.maps
        print_notes([f"changed from the file: {', '.join(changed)}.{of_file if measured else ''}"])
    for one in options.inputs:
        check_given(one, options.db)
    with contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext():
        found = run_it(
            options, wanted, running, lambda store: given.read(store, options, kind), write=given.write
        )
    given.show(options, found)


def _of_raters(kind: Kind) -> bool:
    """Whether the kind reads human ratings, and with them the task of a study's raters."""
    return kind.reads == "rated texts"


def attached_file(options: argparse.Namespace, kind: Kind) -> str:
    """Return the content of the file for the settings: the named one, else the task of the study's raters if it suits the
    judge, else the usual one. Raises InputError, and NotFound for an unknown study.
    """
    if kind.attachment is None:
        return ""
    named: str | None = getattr(options, kind.attachment.option)
    if named is None and options.judge_file is not None:
        return ""  # that of the judge's file
    (texts,) = options.inputs
    if named is None and _of_raters(kind) and texts.startswith(STUDY):
        with existing_store(options.db) as store:
            study = find_given_study(store, texts)
        own = None if study is None else study.task
        usual = {name: one.default for name, one in fields_of(kind.Settings).items()}
        chosen = usual | settings_given(options, kind.Settings)
        if own is not None and isinstance(kind, JudgeKind) and kind.suits(own, chosen):
            return kind.attachment.dump(own)
    return kind.attachment.find(named or kind.attachment.usual)


def _add_texts(command: argparse.ArgumentParser, _: Kind) -> None:
    command.add_argument("inputs", nargs=1, metavar=NAMES, help=MEANING)
    add_pair_option(command)
    add_columns_option(command)


def _add_rated(command: argparse.ArgumentParser, kind: JudgeKind) -> None:
    command.add_argument("inputs", nargs=1, metavar=NAMES, help=_RATED_MEANING)
    add_pair_option(command)
    add_columns_option(command)
    command.add_argument(
        "--ratings",
        action="append",
        default=[],
        metavar="PATH|NAME",
        help="ratings of the texts, if they are in another file: a file of errors or scores, or the name of a rating set in the "
        "folder (e.g. mqm); may be repeated",
    )
    command.set_defaults(flip="")
    if not kind.marks_errors:  # the direction of errors is known
        command.add_argument(
            "--flip",
            metavar="D,D",
            help="for ratings in METAL's JSON: dimensions in which 1 means bad, e.g. H,PC",
        )


def _add_questions(command: argparse.ArgumentParser, _: Kind) -> None:
    command.add_argument(
        "inputs", nargs="+", metavar=JUDGES, help="cross-examinations whose questions the model answers"
    )


def _add_marked(command: argparse.ArgumentParser, _: Kind) -> None:
    command.add_argument("inputs", nargs=1, metavar=JUDGES, help="the cross-examination")
    command.add_argument(
        "--ratings",
        type=Path,
        required=True,
        metavar="PATH",
        help="ratings with marked errors: MQM TSV, or a folder",
    )
    add_pair_option(command)
    command.add_argument(
        "--json", action="store_true", help="print JSON; everything else goes to standard error"
    )


def _texts(store: Store, options: argparse.Namespace, _: Kind) -> tuple[bytes, str]:
    return read_given(store, options.inputs[0], options.language_pair, options.columns)


def _rated(store: Store, options: argparse.Namespace, kind: JudgeKind) -> tuple[bytes, str]:
    """Return the rated texts as a file with its name, and print notes on them. Raises InputError."""
    # Imported lazily: studies and scipy take a second to load.
    from core.runs.texts import rated_of_folder, rated_of_texts, ratings_of_folder, read_apart

    (given,), pair = options.inputs, options.language_pair
    flip = tuple(name.strip() for name in options.flip.split(",") if name.strip())
    paths = [Path(name) for name in options.ratings if Path(name).exists()]
    if flip and not paths:
        raise InputError("--flip: only for a file named by --ratings; leave it out.")

    def apart(texts: OutputSet) -> list[RatingSet]:
        return [
            ratings_of_folder(path, pair)
            if path.is_dir()
            else read_apart(kind, read_file(path), path.name, texts, flip)
            for path in paths
        ]

    if run_number(given) is None and Path(given).is_dir():
        check_no_run(Path(given), TEXTS_FILE)
        names = [name for name in options.ratings if not Path(name).exists()]
        return _noted(*rated_of_folder(Path(given), pair, names, apart if paths else None))
    for name in options.ratings:
        if not Path(name).exists():
            read_file(Path(name))  # reports why it cannot be read
    study = find_given_study(store, given)
    texts = read_given(store, given, pair, options.columns) if study is None else rated_of_study(store, study)
    return _noted(*rated_of_texts(*texts, apart)) if paths else texts


def _noted(texts: tuple[bytes, str], notes: tuple[str, ...]) -> tuple[bytes, str]:
    print_notes(notes)
    return texts


def _questions(_: Store, options: argparse.Namespace, kind: Kind) -> tuple[bytes, str]:
    outputs = judges_given(options.inputs, options.db)
    print_notes(check_together(options.inputs, outputs))
    sets = [one for output in outputs for one in question_sets_of(output)]
    names = [output.name for output in outputs]
    return write_pieces(sets), f"questions-{names[0] if len(names) == 1 else f'{len(names)}-judges'}.jsonl"


def _marked(_: Store, options: argparse.Namespace, kind: Kind) -> tuple[bytes, str]:
    (output,) = judges_given(options.inputs, options.db)
    texts, notes = marked_texts(output, _marks(options))
    print_notes(notes)
    return write_pieces(texts), f"marked-{output.name}.jsonl"


def _marks(options: argparse.Namespace) -> RatingSet:
    """Read the ratings of a file, or a folder's ratings with marked errors."""
    path: Path = options.ratings
    if not path.is_dir():
        if options.language_pair is not None:
            raise InputError(f"--language-pair: only for a folder, and {path} is none; leave it out.")
        return read_ratings(read_file(path), path.name)
    found = read_folder(path, language_pair=options.language_pair).ratings
    marked = [one for one in found.values() if any(rating.spans is not None for rating in one.ratings)]
    if not marked:
        raise InputError(f"--ratings: {path} has no ratings with marked errors.")
    return marked[0]


def _with_pieces(run: RunAtHand, folder: Path) -> Any:
    finish_in_folder(run, folder)
    return pieces_done(run)


def _show_alignment(options: argparse.Namespace, texts: Any) -> None:
    found = alignment_table(texts)
    said = f"Marked errors found by a mismatching question, in {counted(found.n_texts, 'text')}:"
    print_result(options, plain(found), print_said, [said, caught_table(found)])


GIVEN: Mapping[Reads, Given] = {
    "texts": Given(_add_texts, _texts, "these texts"),
    "rated texts": Given(_add_rated, _rated, "these texts and ratings"),
    "questions asked": Given(_add_questions, _questions, "these questions"),
    "marked texts": Given(_add_marked, _marked, "these texts", _with_pieces, _show_alignment),
}
