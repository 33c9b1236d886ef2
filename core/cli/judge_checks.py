"""`judge answers|align`: a model answers judges' questions, or says which marked errors a judge has found."""

import argparse
import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from core.analysis.alignment import alignment_table, marked_texts
from core.cli.as_json import plain
from core.cli.judge_printed import print_alignment
from core.cli.judge_run import add_sampling, found_again, with_prompts
from core.cli.judges_given import NAMES, judges_given
from core.cli.model_options import add_how, add_who, model_given
from core.cli.options import Commands, json_text, read_file
from core.cli.run_here import check_folder, finish_in_folder, go_where_it_runs, work_or_forget
from core.datasets.judge_records import marked_file, question_file
from core.datasets.mt_metrics_eval import read_folder
from core.datasets.rating_files import read_rating_file
from core.datasets.reading import shown
from core.errors import InputError
from core.judges.question_sets import check_together, question_sets_of
from core.judges.settings import AlignmentSettings, Answering, AnswersSettings
from core.runs.judge_plan import create_check, find_same_judging
from core.runs.judge_results import marked_texts_of
from core.runs.judge_settings import JudgeSettings
from core.schema import Run
from core.schema.scores import RatingSet
from core.store import Store, database_path, open_store
from core.store.runs import get_run

_ANSWERS = AnswersSettings()
Texts = tuple[bytes, str]
"""A file for a run to work on, and its name."""


def add_answers(verbs: Commands) -> None:
    """Register `judge answers`."""
    command = verbs.add_parser(
        "answers", help="answer the questions of cross-examinations, for the reliability of their judges"
    )
    command.add_argument(
        "judges", nargs="+", metavar=NAMES, help="cross-examinations whose questions are answered"
    )
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the answers")
    add_who(command, "answers")
    command.add_argument(
        "--answers",
        choices=get_args(Answering),
        default=_ANSWERS.answers,
        help="each: one call a question; batch: all questions of a text in one (%(default)s)",
    )
    add_sampling(command, "of the answers")
    add_how(command, same="these questions")
    command.set_defaults(run=_answers)


def add_align(verbs: Commands) -> None:
    """Register `judge align`."""
    command = verbs.add_parser(
        "align", help="which errors that people marked a cross-examination's mismatching questions point to"
    )
    command.add_argument("judge", metavar=NAMES, help="the cross-examination")
    command.add_argument(
        "--ratings",
        type=Path,
        required=True,
        metavar="PATH",
        help="ratings with marked errors: MQM TSV, or a folder",
    )
    command.add_argument("--language-pair", metavar="PAIR", help="of a folder with several, such as en-de")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    add_who(command, "decides; rules: by the words that question and error share, a stand-in")
    add_sampling(command, "of the answers")
    command.add_argument("--json", action="store_true", help="print JSON; all else is said on standard error")
    add_how(command, same="these texts")
    command.set_defaults(run=_align)


def _answers(options: argparse.Namespace) -> None:
    answers = AnswersSettings(options.answers, options.temperature, options.seed)
    settings = JudgeSettings(kind="answers", answers=answers, **model_given(options))

    def questions() -> Texts:
        outputs = judges_given(options.judges, options.db)
        if other := [one for one in outputs if one.kind != "cef"]:
            raise InputError(
                "Only cross-examinations ask questions",
                [f"{shown(one.name)} is a judge of the kind {one.kind}" for one in other],
            )
        for note in check_together(options.judges, outputs):
            print(f"Note: {note}")
        sets = [one for output in outputs for one in question_sets_of(output)]
        return question_file(sets), f"questions-{_several([output.name for output in outputs])}.jsonl"

    with open_store(database_path(options.db)) as store:
        _work(store, options, settings, questions)


def _align(options: argparse.Namespace) -> None:
    alignment = AlignmentSettings(options.temperature, options.seed)
    settings = JudgeSettings(kind="alignment", alignment=alignment, **model_given(options))

    def marked() -> Texts:
        (output,) = judges_given([options.judge], options.db)
        texts, notes = marked_texts(output, _ratings(options))
        for note in notes:
            print(f"Note: {note}")
        return marked_file(texts), f"marked-{output.name}.jsonl"

    with open_store(database_path(options.db)) as store:
        with contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext():
            run = _work(store, options, settings, marked)
        table = alignment_table(marked_texts_of(store, run))
    if options.json:
        print(json_text(plain(table)))
    else:
        print_alignment(table)


def _ratings(options: argparse.Namespace) -> RatingSet:
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


def _work(
    store: Store, options: argparse.Namespace, settings: JudgeSettings, texts: Callable[[], Texts]
) -> Run:
    """Work on these texts here, and write what came of it. texts: read where the run's libraries are."""
    settings, running = with_prompts(options, settings)
    go_where_it_runs(settings.backend)
    data, file_name = texts()
    if options.resume:
        run = found_again(store, options, find_same_judging(store, data, settings))
    else:
        check_folder(options.out, None, lambda: find_same_judging(store, data, settings))
        run, _ = create_check(store, data, file_name, settings, running, options.limit)
    work_or_forget(store, run)
    finish_in_folder(store, run.run_id, options.out)
    return get_run(store, run.run_id)


def _several(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)}-judges"
