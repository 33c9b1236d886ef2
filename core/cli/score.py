"""`score`: texts of known or unknown quality, scored by any number of metrics, as one table."""

import argparse
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from core.cli.options import (
    Commands,
    add_database_option,
    check_out,
    name_list,
    write_file,
)
from core.cli.run_here import check_done, go_where_it_runs, work_or_forget
from core.cli.run_summary import summary
from core.cli.texts_given import MEANING, NAMES, check_given, print_notes, read_given
from core.datasets.score_files import Shape, write_scores_csv, write_scores_jsonl, write_scores_parquet
from core.errors import InputError
from core.runs.environments import missing_for
from core.runs.progress import progress_of
from core.runs.score_plan import create_scoring, find_same_scoring, prepare_scoring
from core.runs.score_results import score_table
from core.runs.score_settings import (
    TEXTS_PER_WORKER,
    ScoringRunning,
    ScoringSettings,
    Synonyms,
    checked,
    choose_metrics,
    specs_of,
)
from core.schema import Run
from core.schema.scores import OutputSet, ScoreTable
from core.scoring.metrics.registry import all_metrics
from core.store import Store, database_path, open_store

_DEFAULTS = ScoringRunning()
_WRITERS: dict[str, Callable[[ScoreTable, Shape], bytes]] = {
    ".csv": write_scores_csv,
    ".jsonl": write_scores_jsonl,
    ".parquet": write_scores_parquet,
}


def add_to(nouns: Commands) -> None:
    """Register `score`."""
    command = nouns.add_parser("score", help="score texts with metrics")
    command.add_argument(
        "texts",
        nargs="?",
        metavar=NAMES,
        help=MEANING,
    )
    command.add_argument(
        "--metrics",
        default="lexical",
        metavar="lexical|neural|all|NAME,...",
        help="metrics or groups of them (%(default)s); --list names them",
    )
    command.add_argument("--list", action="store_true", help="name all metrics and stop")
    command.add_argument("--out", type=Path, metavar="FILE", help="table: .csv, .jsonl or .parquet")
    command.add_argument(
        "--shape",
        choices=get_args(Shape),
        default="long",
        help="long: a row a text and metric; wide: a row a text, a column a metric (%(default)s)",
    )
    command.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="model of a neural metric, a local path or another name; may be repeated",
    )
    command.add_argument("--device", default="auto", help="of neural metrics: auto, cpu, cuda (%(default)s)")
    command.add_argument(
        "--batch-size",
        type=int,
        default=_DEFAULTS.batch_size,
        help="texts that a neural metric sees at once (%(default)s)",
    )
    command.add_argument(
        "--workers",
        type=int,
        default=_DEFAULTS.workers,
        help=f"most processes for lexical metrics (default: one a core, here %(default)s); one for each "
        f"{TEXTS_PER_WORKER:,} texts is started, and takes some 75 MB",
    )
    command.add_argument(
        "--synonyms",
        choices=get_args(Synonyms),
        default="auto",
        help="METEOR: auto uses WordNet where nltk has its data (%(default)s)",
    )
    command.add_argument("--language-pair", metavar="PAIR", help="of a folder with several, such as en-de")
    command.add_argument(
        "--limit", type=int, metavar="N", help="only the first N items; more later with --resume"
    )
    command.add_argument(
        "--resume", action="store_true", help="go on with the last run of these texts and settings"
    )
    add_database_option(command)
    command.set_defaults(run=_score)


def _score(options: argparse.Namespace) -> None:
    if options.list:
        _list()
        return
    settings, running = _asked(options)
    database = database_path(options.db)
    _check_ending(options.out)
    check_out(options.out, database, [options.texts])
    if options.texts is None:
        raise InputError("Name what is to be scored: a file, a folder, run:N or study:NAME.")
    check_given(options.texts, options.db)
    go_where_it_runs("neural" if specs_of(settings, "neural") else "base")
    with open_store(database) as store:
        run, outputs = _run(store, options, settings, running)
        work_or_forget(store, run, outputs)
        _finish(store, run.run_id, options.out, options.shape)


def _asked(options: argparse.Namespace) -> tuple[ScoringSettings, ScoringRunning]:
    """What was asked for, checked as far as it can be without a look at the texts."""
    settings = choose_metrics(
        name_list(options.metrics) or [],
        models=_models(options.model),
        synonyms=options.synonyms,
        device=options.device,
    )
    running = ScoringRunning(options.batch_size, options.workers)
    return checked(settings, running), running


def _models(given: list[str]) -> dict[str, str]:
    models: dict[str, str] = {}
    problems = []
    for one in given:
        name, equals, model = one.partition("=")
        if not (name and equals and model):
            problems.append(f"{one!r} is not NAME=PATH, such as bertscore-en=models/my-bert")
        elif models.setdefault(name, model) != model:
            problems.append(f"{name} has two models: {models[name]} and {model}")
    if problems:
        raise InputError("--model cannot be used", problems)
    return models


def _check_ending(out: Path | None) -> None:
    """Raise InputError where the file's name does not say how the table is written."""
    if out is None:
        raise InputError("--out: name the file for the scores: .csv, .jsonl or .parquet.")
    if out.suffix.lower() not in _WRITERS:
        raise InputError(f"--out: {out} is none of {', '.join(_WRITERS)}: its ending says how it is written.")
    if out.suffix.lower() == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise InputError("--out: Parquet needs the library pyarrow, which is not installed here; write .csv.")


def _run(
    store: Store, options: argparse.Namespace, settings: ScoringSettings, running: ScoringRunning
) -> tuple[Run, OutputSet | None]:
    """A run of these texts, the one to go on with or a new one; of a new one also its texts."""
    data, file_name = read_given(store, options.texts, options.language_pair)
    if options.resume:
        same = find_same_scoring(store, data, settings)
        return prepare_scoring(store, same, running, options.limit), None
    run, outputs = create_scoring(store, data, file_name, settings, running, options.limit)
    print_notes(outputs)
    return run, outputs


def _finish(store: Store, run_id: int, out: Path, shape: Shape) -> None:
    """Write the table as far as it is, and say what came of it."""
    progress = progress_of(store, run_id)
    table = score_table(store, progress.run)
    write_file(out, _WRITERS[out.suffix.lower()](table, shape))
    print("\n".join(summary(store, progress, table)))
    for note in table.notes:
        print(f"Note: {note}")
    print(f"Written to {out} ({shape}).")
    check_done(progress)


def _list() -> None:
    missing = missing_for("neural")
    header = ["name", "family", "group", "better", "needs", "signature"]
    rows = [
        [
            spec.metric.name,
            spec.metric.family,
            spec.group,
            spec.metric.direction,
            " and ".join(sorted(spec.needs)) or "the text alone",
            spec.metric.signature,
        ]
        for spec in all_metrics()
    ]
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header) - 1)]
    for row in (header, *rows):  # a signature is never cut
        print(*(cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)), sep="  ")
    print(f"Neural metrics run in an environment of their own. {missing or 'It is set up here.'}")
