"""`score`: score texts with any number of metrics, as one table."""

import argparse
import importlib.util
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import get_args

from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_excel_option,
    add_pair_option,
    check_out,
    name_list,
    print_notes,
)
from core.cli.shared.run_options import add_resume_options, run_it
from core.cli.shared.running import check_done, summary, telling
from core.cli.shared.setting_options import add_settings, settings_given
from core.cli.shared.sources import MEANING, check_database, texts_given
from core.errors import InputError
from core.formats.scores import Shape, write_scores_csv, write_scores_jsonl, write_scores_parquet
from core.metrics.kind import KIND, ScoringRunning
from core.metrics.registry import all_metrics
from core.report import aligned
from core.runs.asked import ask
from core.runs.jobs import RunAtHand
from core.runs.progress import progress_of
from core.runs.scoring import score_table
from core.runs.tables import big_table
from core.runs.tables.scored import write_table
from core.runs.working.environments import missing_for
from core.schema.scores import ScoreTable
from core.sources.named import NAMES, FileSource, parse_source
from core.store import Store, database_path
from core.tables.files import write_file
from core.tables.streaming import TableFile
from core.tables.writer import excel_csv

_WRITERS: dict[str, Callable[[ScoreTable, Shape], bytes]] = {
    ".csv": write_scores_csv,
    ".jsonl": write_scores_jsonl,
    ".parquet": write_scores_parquet,
}


def add_to(nouns: Commands) -> None:
    """Register `score`."""
    command = nouns.add_parser("score")
    command.add_argument("texts", nargs="?", metavar=NAMES, help=MEANING)
    command.add_argument("--list", action="store_true", help="list all metrics and exit")
    command.add_argument("--out", type=Path, metavar="FILE", help="table to write: .csv, .jsonl or .parquet")
    add_excel_option(command)
    command.add_argument(
        "--shape",
        choices=get_args(Shape),
        default="long",
        help="long: one row for each text and metric; wide: one row for each text, one column for each metric (default %(default)s)",
    )
    add_settings(command, KIND.Settings)
    add_settings(command, ScoringRunning)
    add_pair_option(command)
    add_columns_option(command)
    add_resume_options(command, "these texts")
    command.set_defaults(run=_score)


def _score(options: argparse.Namespace) -> None:
    if options.list:
        _list()
        return
    chosen = settings_given(options, KIND.Settings)
    metrics = name_list(",".join(chosen.get("metrics", ["lexical"])))
    chosen |= {"metrics": metrics, "models": _models(chosen.get("models", ()))}
    wanted, running = ask(KIND, chosen, {}, settings_given(options, ScoringRunning))
    _check_ending(options.out, excel=options.excel)
    check_out(options.out, database_path(options.db), [options.texts])
    if options.texts is None:
        raise InputError("Name the texts to score: a file, a folder, run:N or study:NAME.")
    check_database(options.texts, options.db)
    run_it(
        options,
        wanted,
        running,
        lambda store: _texts(store, options),
        check=lambda *_: None,
        write=partial(_finish, shape=options.shape, excel=options.excel),
    )


def _texts(store: Store, options: argparse.Namespace) -> tuple[bytes | TableFile, str]:
    """Return the texts; of a file with very many rows, the file as a big table."""
    source = parse_source(options.texts)
    if (
        isinstance(source, FileSource)
        and options.language_pair is None
        and (table := big_table(source.path, options.columns))
    ):
        return table, source.name
    return texts_given(store, options.texts, options)


def _models(given: Iterable[str]) -> dict[str, str]:
    models: dict[str, str] = {}
    problems = []
    for one in given:
        name, equals, model = one.partition("=")
        if not (name and equals and model):
            problems.append(f"{one!r} is not NAME=PATH, e.g. bertscore-en=models/my-bert")
        elif models.setdefault(name, model) != model:
            problems.append(f"{name} has two models: {models[name]} and {model}")
    if problems:
        raise InputError("--model is invalid", problems)
    return models


def _check_ending(out: Path | None, *, excel: bool) -> None:
    """Raise InputError unless the file's ending names a format, CSV for Excel."""
    if out is None:
        raise InputError("--out is missing: name a .csv, .jsonl or .parquet file for the scores.")
    if out.suffix.lower() not in _WRITERS:
        raise InputError(
            f"--out: {out} does not end in one of {', '.join(_WRITERS)}, which choose the format."
        )
    if excel and out.suffix.lower() != ".csv":
        raise InputError("--excel: needs an --out file that ends in .csv.")
    if out.suffix.lower() == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise InputError(
            "--out: .parquet needs the library pyarrow, which is not installed. Write a .csv file instead."
        )


def _finish(run: RunAtHand, out: Path, shape: Shape, *, excel: bool) -> None:
    """Write the table, complete or not, and print a summary."""
    progress = progress_of(run.now().store, run.run.run_id)
    if run.kind.work == "tables":
        with telling(f"writing {out.name}") as tell:
            write_table(run, out, shape, lambda n: tell(f"writing {out.name}: {n:,} texts"), excel=excel)
        print("\n".join(summary(run, progress)))
    else:
        table = score_table(run)
        data = _WRITERS[out.suffix.lower()](table, shape)
        write_file(out, excel_csv(data) if excel else data)
        print("\n".join(summary(run, progress, table)))
        print_notes(table.notes)
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
    print("\n".join(aligned(header, rows, cut=False)))
    print(f"Neural metrics run in a separate environment. {missing or 'It is set up.'}")
