"""`judge KIND`: a judge scores texts, or is examined; results and how they came about go into a folder."""

import argparse
import contextlib
import sys
from pathlib import Path

from core.analysis.alignment import alignment_table, marked_texts
from core.cli.as_json import plain
from core.cli.asking import add_asking, asked, run_it
from core.cli.judge_printed import print_alignment
from core.cli.judges_given import NAMES as JUDGES
from core.cli.judges_given import judges_given
from core.cli.options import Commands, json_text, read_file, run_number
from core.cli.setting_options import settings_given
from core.cli.texts_given import (
    MEANING,
    NAMES,
    STUDY,
    TEXTS_FILE,
    check_given,
    check_no_run,
    find_given_study,
    read_given,
)
from core.datasets.mt_metrics_eval import read_folder
from core.datasets.rating_files import read_rating_file
from core.errors import InputError
from core.judges.answers import check_together, question_sets_of
from core.judges.kind import AuditKind, JudgeKind
from core.runs.audits import pieces_done
from core.runs.kinds import kinds_that
from core.runs.records import write_pieces
from core.schema.scores import OutputSet, RatingSet
from core.schema.settings import fields_of
from core.store import Store, database_path, open_store

_RATED_MEANING = (
    "texts, with ratings or without: rated JSONL, CSV, JSONL or JSON, an mt-metrics-eval folder, what run N generated, an "
    "unblinded study"
)
_PAIR = "language pair to read from a folder with several, such as en-de"


def add_to(verbs: Commands) -> None:
    """Register a verb for every judge, and for every audit of judges."""
    for kind in kinds_that("judging", "audit"):
        verb = verbs.add_parser(kind.verb or kind.name, help=kind.summary)
        if isinstance(kind, JudgeKind):
            _add_judge(verb, kind)
        elif isinstance(kind, AuditKind):
            _add_audit(verb, kind)


def _add_judge(command: argparse.ArgumentParser, kind: JudgeKind) -> None:
    on_ratings = kind.reads == "rated texts"
    command.add_argument("texts", metavar=NAMES, help=_RATED_MEANING if on_ratings else MEANING)
    command.add_argument("--language-pair", metavar="PAIR", help=_PAIR)
    if on_ratings:
        _add_ratings(command, kind)
    settings = add_asking(command, kind, same="these texts and ratings" if on_ratings else "these texts")
    if kind.attachment is not None:
        what, usual = kind.attachment.help, kind.attachment.usual
        said = f": what the raters of a study were asked where it fits, else {usual}"
        said = said if on_ratings else f" {usual}"
        settings.add_argument(
            f"--{kind.attachment.option}", metavar="NAME|FILE", help=f"{what} (default{said})"
        )
    settings.add_argument(
        "--name", default="", help="what the judge's columns begin with (default: its kind, mode and model)"
    )
    command.set_defaults(run=lambda options: _judge(options, kind), flip="")


def _add_ratings(command: argparse.ArgumentParser, kind: JudgeKind) -> None:
    command.add_argument(
        "--ratings",
        action="append",
        default=[],
        metavar="PATH|NAME",
        help="ratings of the texts, where they stand apart: a file of errors or scores, or the name of a folder's (mqm); may "
        "be repeated",
    )
    if not kind.marks_errors:  # errors have their direction
        command.add_argument(
            "--flip",
            default="",
            metavar="D,D",
            help="dimensions in which 1 is bad, of ratings in METAL's JSON, such as H,PC",
        )


def _add_audit(command: argparse.ArgumentParser, kind: AuditKind) -> None:
    if kind.reads == "questions asked":
        command.add_argument(
            "judges", nargs="+", metavar=JUDGES, help="cross-examinations whose questions are answered"
        )
    else:
        command.add_argument("judges", nargs=1, metavar=JUDGES, help="the cross-examination")
        command.add_argument(
            "--ratings",
            type=Path,
            required=True,
            metavar="PATH",
            help="ratings with marked errors: MQM TSV, or a folder",
        )
        command.add_argument("--language-pair", metavar="PAIR", help=_PAIR)
        command.add_argument(
            "--json", action="store_true", help="print JSON; everything else goes to standard error"
        )
    add_asking(command, kind, same="these questions" if kind.reads == "questions asked" else "these texts")
    command.set_defaults(run=lambda options: _audit(options, kind))


def _judge(options: argparse.Namespace, kind: JudgeKind) -> None:
    attached = "" if kind.attachment is None else _attached(options, kind)
    wanted, running = asked(options, kind, name=options.name, attached=attached)
    check_given(options.texts, options.db)

    def read(store: Store) -> tuple[bytes, str]:
        if kind.reads == "rated texts":
            return _rated(store, options, kind)
        return read_given(store, options.texts, options.language_pair)

    run_it(options, wanted, running, read)


def _attached(options: argparse.Namespace, kind: JudgeKind) -> str:
    """The file that the settings refer to: the one that is named, else what the raters of a study were asked where it
    suits this judge, else the usual one. Raises InputError, and NotFound for a study that is not there.
    """
    assert kind.attachment is not None
    named: str | None = getattr(options, kind.attachment.option)
    if named is None and options.texts.startswith(STUDY):
        check_given(options.texts, options.db)
        with open_store(database_path(options.db)) as store:
            study = find_given_study(store, options.texts)
        own = None if study is None else study.task
        usual = {name: one.default for name, one in fields_of(kind.Settings).items()}
        if own is not None and kind.suits(own, usual | settings_given(options, kind.Settings)):
            return kind.attachment.dump(own)
    return kind.attachment.find(named or kind.attachment.usual)


def _rated(store: Store, options: argparse.Namespace, kind: JudgeKind) -> tuple[bytes, str]:
    """The texts with their ratings as a file with its name; what is to be known of them is printed. Raises InputError."""
    # Imported late: all that a study is made of, and scipy with it, takes a second to load.
    from core.runs.texts import rated_of_folder, rated_of_study, rated_of_texts, ratings_of_folder, read_apart

    given, pair = options.texts, options.language_pair
    flip = tuple(name.strip() for name in options.flip.split(",") if name.strip())
    paths = [Path(name) for name in options.ratings if Path(name).exists()]
    if flip and not paths:
        raise InputError("--flip: turns dimensions of a file that --ratings names; leave it out.")

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
            read_file(Path(name))  # says why it cannot be read
    study = find_given_study(store, given)
    texts = read_given(store, given, pair) if study is None else rated_of_study(store, study)
    return _noted(*rated_of_texts(*texts, apart)) if paths else texts


def _noted(texts: tuple[bytes, str], notes: tuple[str, ...]) -> tuple[bytes, str]:
    for note in notes:
        print(f"Note: {note}")
    return texts


def _audit(options: argparse.Namespace, kind: AuditKind) -> None:
    wanted, running = asked(options, kind)
    if kind.reads == "questions asked":
        run_it(options, wanted, running, lambda _: _questions(options))
        return
    with contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext():
        texts = run_it(options, wanted, running, lambda _: _marked(options), finish=pieces_done)
    table = alignment_table(texts)
    if options.json:
        print(json_text(plain(table)))
    else:
        print_alignment(table)


def _questions(options: argparse.Namespace) -> tuple[bytes, str]:
    outputs = judges_given(options.judges, options.db)
    for note in check_together(options.judges, outputs):
        print(f"Note: {note}")
    sets = [one for output in outputs for one in question_sets_of(output)]
    names = [output.name for output in outputs]
    return write_pieces(sets), f"questions-{names[0] if len(names) == 1 else f'{len(names)}-judges'}.jsonl"


def _marked(options: argparse.Namespace) -> tuple[bytes, str]:
    (output,) = judges_given(options.judges, options.db)
    texts, notes = marked_texts(output, _marks(options))
    for note in notes:
        print(f"Note: {note}")
    return write_pieces(texts), f"marked-{output.name}.jsonl"


def _marks(options: argparse.Namespace) -> RatingSet:
    """Ratings of a file, or those of a folder in which errors are marked."""
    path: Path = options.ratings
    if not path.is_dir():
        if options.language_pair is not None:
            raise InputError(f"--language-pair: {path} is no folder; leave it out.")
        return read_rating_file(read_file(path), path.name)
    found = read_folder(path, language_pair=options.language_pair).ratings
    marked = [one for one in found.values() if any(rating.spans is not None for rating in one.ratings)]
    if not marked:
        raise InputError(f"--ratings: {path} has no ratings in which errors are marked.")
    return marked[0]
