"""Run a judge or an audit of judges, each with its folder of results."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from core.analyses.caught_errors import ANALYSIS as ALIGNMENT
from core.cli.shared.giving import (
    print_said,
)
from core.cli.shared.options import (
    add_columns_option,
    add_pair_option,
    existing_store,
    name_list,
    print_notes,
    print_result,
)
from core.cli.shared.run_options import add_run_options, requested_run, run_it
from core.cli.shared.running import finish_in_folder
from core.cli.shared.setting_options import settings_given
from core.cli.shared.sources import MEANING, check_database, reading_of, texts_given
from core.errors import InputError
from core.formats.mt_metrics_eval import read_folder
from core.formats.registry import read_ratings, read_texts
from core.generation.twins import BY_RULES, OWN_STYLE, PROBES
from core.judges.answers import check_together, question_sets_of
from core.judges.kind import JudgeKind
from core.judges.twins import plan_twins
from core.results.cells import plain
from core.results.judges.cross_examination import (
    marked_texts,
)
from core.results.judges.twins import twins_made, twins_table
from core.runs.jobs import RunAtHand
from core.runs.judging import pieces_done
from core.runs.judging.in_one_file import (
    differences,
)
from core.runs.records import write_pieces
from core.schema.runs import RULES, Kind, Reads
from core.schema.scores import RatingSet
from core.schema.settings import fields_of
from core.schema.study import Study
from core.sources.judges import JUDGE_NAMES as JUDGES
from core.sources.judges import judge_of
from core.sources.named import NAMES, FileSource, FolderSource, StudySource, parse_source
from core.sources.reading import read_each
from core.sources.texts import guidelines_of_study, pairs_of_study, rated_file
from core.store import Store
from core.store.runs import list_runs
from core.store.studies import find_study
from core.tables.files import read_file
from core.tables.reading import sha256_of

_RATED_MEANING = (
    "texts, with or without ratings: rated JSONL, CSV, JSONL or JSON, an mt-metrics-eval folder, the output of run N, or an "
    "unblinded study"
)
_PAIRS_MEANING = f"{MEANING}; a study of pairs that is still blind gives its texts under masks"


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
    usual: str | None = None
    """Backend if the command names none; None: it has to name one."""


def add_run(command: argparse.ArgumentParser, kind: Kind, reading: Given, *, several: bool = False) -> None:
    """Register the arguments of one kind of run. several: see `add_run_options`."""
    reading.add(command, kind)
    settings = add_run_options(command, kind, usual=reading.usual, same=reading.same, several=several)
    if (file := kind.attachment) is not None:
        settings.add_argument(
            f"--{file.option}",
            metavar="NAME|FILE",
            help=f"{file.help} (default{_OF_STUDY.get(kind.reads, '')} {file.usual})",
        )
    if kind.work == "judging" and not several:
        settings.add_argument(
            "--name", help="prefix of the judge's columns (default: its kind, mode and model)"
        )
    command.set_defaults(
        run=partial(run_judge, kind=kind, reading=reading), json=False, name="", judge_file=None
    )


def run_judge(options: argparse.Namespace, kind: Kind, reading: Given) -> None:
    """Carry out the command of one kind: create or resume the run, work it off, write its folder and print its result."""
    wanted, running = requested_run(options, kind, name=options.name, attached=attached_file(options, kind))
    if options.judge_file is not None and (changed := differences(options.judge_file, wanted)):
        of_file = " The limits and maps of the file belong to the judge without these changes."
        measured = options.judge_file.limits is not None or options.judge_file.maps
        print_notes([f"changed from the file: {', '.join(changed)}.{of_file if measured else ''}"])
    for one in options.inputs:
        check_database(one, options.db)
    with contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext():
        found = run_it(
            options, wanted, running, lambda store: reading.read(store, options, kind), write=reading.write
        )
    reading.show(options, found)


_OF_STUDY: Mapping[Reads, str] = {
    "rated texts": ": the raters' own task in a study if it suits the judge, else",
    "pairs": ": the raters' own guidelines in a study of pairs, else",
}
"""What a study's raters read or did, which a judge gets with its texts."""


def attached_file(options: argparse.Namespace, kind: Kind) -> str:
    """Return the content of the file for the settings: the named one, else what the study's raters read if it suits the judge,
    else the usual one. Raises InputError, and NotFound for an unknown study.
    """
    if kind.attachment is None:
        return ""
    named: str | None = getattr(options, kind.attachment.option)
    if named is None and options.judge_file is not None:
        return ""  # that of the judge's file
    (texts,) = options.inputs
    source = parse_source(texts)
    if named is None and kind.reads in _OF_STUDY and isinstance(source, StudySource):
        with existing_store(options.db) as store:
            study = find_study(store, source.name)
            if kind.reads == "pairs" and study.kind == "pairs":
                return kind.attachment.dump(guidelines_of_study(store, study))
        usual = {name: one.default for name, one in fields_of(kind.Settings).items()}
        chosen = usual | settings_given(options, kind.Settings)
        own = None if kind.reads == "pairs" else study.task
        if own is not None and isinstance(kind, JudgeKind) and kind.suits(own, chosen):
            return kind.attachment.dump(own)
    return kind.attachment.find(named or kind.attachment.usual)


def _add_texts(command: argparse.ArgumentParser, _: Kind) -> None:
    command.add_argument("inputs", nargs=1, metavar=NAMES, help=MEANING)
    add_pair_option(command)
    add_columns_option(command)


def _add_pairs(command: argparse.ArgumentParser, _: Kind) -> None:
    command.add_argument("inputs", nargs=1, metavar=NAMES, help=_PAIRS_MEANING)
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


def _add_levels(command: argparse.ArgumentParser, _: Kind) -> None:
    command.add_argument("inputs", nargs=1, metavar=NAMES, help=MEANING)
    command.add_argument(
        "--probes",
        metavar="P,P",
        help=f"edits to make: {', '.join(PROBES)} (default: all, without a model all but {OWN_STYLE})",
    )
    command.add_argument(
        "--levels",
        metavar="BEST,WORSE",
        help="the pair's two levels (default: the best, and the one at three quarters of the way to the worst: of A0 to A4, "
        "A0 and A3)",
    )
    add_pair_option(command)
    add_columns_option(command)
    command.add_argument(
        "--json", action="store_true", help="print JSON; everything else goes to standard error"
    )


def _texts(store: Store, options: argparse.Namespace, _: Kind) -> tuple[bytes, str]:
    return texts_given(store, options.inputs[0], options)


def _pairs(store: Store, options: argparse.Namespace, kind: Kind) -> tuple[bytes, str]:
    """Return the texts to compare. A resumed run that began under the masks of a blind study keeps them."""

    def of_study(store: Store, study: Study) -> tuple[bytes, str]:
        texts = pairs_of_study(store, study)
        if options.resume and study.kind == "pairs":
            masked = pairs_of_study(store, study, masked=True)
            known = {run.data_sha256 for run in list_runs(store, (kind.name,))}
            return (
                masked
                if known & {sha256_of(one[0]) for one in (texts, masked)} == {sha256_of(masked[0])}
                else texts
            )
        return texts

    return texts_given(store, options.inputs[0], options, of_study=of_study)


def _rated(store: Store, options: argparse.Namespace, kind: JudgeKind) -> tuple[bytes, str]:
    """Return the rated texts as a file with its name, and print notes on them. Raises InputError."""
    source, reading = parse_source(options.inputs[0]), reading_of(options, store=store, several=False)
    replace(reading, flip=()).check_applies(source)
    is_folder = isinstance(source, FolderSource)
    named = {name: parse_source(name) for name in options.ratings}
    sets = [
        name
        for name, one in named.items()
        if is_folder and isinstance(one, FileSource) and not one.path.exists()
    ]
    apart = [one for name, one in named.items() if name not in sets]
    if reading.flip and not apart:
        raise InputError("--flip: only for a file named by --ratings; leave it out.")
    texts, notes = rated_file(source, reading, kind, apart, sets)
    print_notes(notes)
    return texts


def _questions(_: Store, options: argparse.Namespace, kind: Kind) -> tuple[bytes, str]:
    reading = reading_of(options)
    outputs = read_each(options.inputs, lambda source: judge_of(source, reading))
    print_notes(check_together(options.inputs, outputs))
    sets = [one for output in outputs for one in question_sets_of(output)]
    names = [output.name for output in outputs]
    return write_pieces(sets), f"questions-{names[0] if len(names) == 1 else f'{len(names)}-judges'}.jsonl"


def _marked(_: Store, options: argparse.Namespace, kind: Kind) -> tuple[bytes, str]:
    output = judge_of(parse_source(options.inputs[0]), reading_of(options))
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


def _pairs_of_levels(store: Store, options: argparse.Namespace, kind: Kind) -> tuple[bytes, str]:
    data, name = _texts(store, options, kind)
    usual = BY_RULES if (options.backend or options.usual_backend) == RULES else tuple(PROBES)
    plan = plan_twins(
        read_texts(data, name),
        probes=name_list(options.probes) or usual,
        levels=name_list(options.levels) or (),
    )
    print_notes(plan.notes)
    return write_pieces(plan.twins), f"twins-{Path(name).stem}.jsonl"


def _finish_with_pieces(run: RunAtHand, folder: Path) -> Any:
    finish_in_folder(run, folder)
    return pieces_done(run)


def _show_alignment(options: argparse.Namespace, texts: Any) -> None:
    answer = ALIGNMENT.answer(ALIGNMENT.Options(), texts)
    print_result(options, answer.json, print_said, [*answer.all_sentences, *answer.tables.values()])


def _show_twins(options: argparse.Namespace, twins: Any) -> None:
    found = twins_made(twins)
    print_result(options, plain(found), print_said, [twins_table(found)])


GIVEN: Mapping[Reads, Given] = {
    "texts": Given(_add_texts, _texts, "these texts"),
    "pairs": Given(_add_pairs, _pairs, "these texts"),
    "rated texts": Given(_add_rated, _rated, "these texts and ratings"),
    "questions asked": Given(_add_questions, _questions, "these questions"),
    "marked texts": Given(_add_marked, _marked, "these texts", _finish_with_pieces, _show_alignment),
    "pairs of levels": Given(
        _add_levels,
        _pairs_of_levels,
        "these texts, levels and probes",
        _finish_with_pieces,
        _show_twins,
        RULES,
    ),
}
