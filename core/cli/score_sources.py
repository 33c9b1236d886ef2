"""Where scores, ratings and sides of a meta-correlation come from: a file, a folder, a run, a published table."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from core.analysis.correlations import CorrelationOptions
from core.analysis.dimension_group import dimension_of
from core.analysis.joining import SystemScores
from core.analysis.meta_correlation import LiveSide, Side
from core.analysis.rating_choice import dimensions_of
from core.analysis.table_choice import TableChoice
from core.cli.options import (
    add_database_option,
    add_pair_option,
    check_options,
    existing_store,
    name_list,
    read_file,
    run_number,
)
from core.cli.texts_given import SCORES_FILE, check_no_run
from core.datasets.correlation_files import read_correlations
from core.datasets.folder_ratings import ratings_among
from core.datasets.mt_metrics_eval import read_folder
from core.datasets.published import PREFIX, published_side
from core.datasets.rating_files import read_rating_file
from core.datasets.ratings import COLUMNS as OF_RATINGS
from core.datasets.reading import shown
from core.datasets.score_tables import read_scores
from core.errors import InputError
from core.runs.path import at_hand
from core.runs.scoring import score_table
from core.schema.scores import Direction, RatingSet, ScoreTable

RATER_NAMES, RATING_NAMES = OF_RATINGS["rater"], OF_RATINGS["score"]


@dataclass(frozen=True)
class Scores:
    """Scores, and the ratings that came with them."""

    table: ScoreTable
    ratings: Mapping[str, RatingSet] = field(default_factory=dict)
    """Of a folder, by name."""


def add_rating_options(command: argparse.ArgumentParser) -> None:
    """What says how ratings are read and used, the same for every command."""
    command.add_argument(
        "--human",
        metavar="PATH",
        help="ratings: CSV, JSONL, MQM TSV, or a folder; of a folder of scores: the name of its ratings",
    )
    command.add_argument(
        "--dimension",
        metavar="D,...",
        help="of the ratings (default: the only one); of several, each and the mean of a text's ratings",
    )
    command.add_argument(
        "--raters", choices=["averaged", "kept"], default="averaged", help="one mean rating a text, or each"
    )
    command.add_argument(
        "--z-normalise", action="store_true", help="ratings on each rater's own scale: minus mean, over SD"
    )
    command.add_argument("--lower-is-better", action="store_true", help="ratings count what is wrong")
    add_pair_option(command)
    command.add_argument(
        "--leave-out",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="texts that take no part, such as system=Human, item=q7, language=de or a label; may be repeated",
    )
    command.add_argument(
        "--direction",
        action="append",
        default=[],
        metavar="METRIC=lower|higher",
        help="which end of a metric is better, such as BaryScore-W=lower for a distance; may be repeated",
    )
    add_database_option(command)


def add_system_scores(command: argparse.ArgumentParser) -> None:
    """Over which texts a metric's score of a system is the mean."""
    command.add_argument(
        "--system-scores",
        choices=get_args(SystemScores),
        default="all",
        help="texts over which a metric's score of a system is the mean; people's is over rated texts (default "
        "%(default)s, as in WMT's metrics task)",
    )


def add_interval_options(
    command: argparse.ArgumentParser, n_resamples: int, *, until_settled: bool = False
) -> None:
    """How intervals are made, the same for every command.

    until_settled: without the option resampling stops by itself, and n_resamples are the most.
    """
    default = (
        f"until each interval is settled, at most {n_resamples:,}" if until_settled else f"{n_resamples}"
    )
    command.add_argument(
        "--resamples",
        type=int,
        default=None if until_settled else n_resamples,
        help=f"bootstrap resamples (default {default})",
    )
    command.add_argument("--confidence", type=float, default=0.95, help="of intervals (default %(default)s)")
    command.add_argument("--seed", type=int, default=0, help="of every resampling (default %(default)s)")


def intervals(options: argparse.Namespace, also_wrong: Sequence[str] = ()) -> dict[str, Any]:
    """How `add_interval_options` says that intervals are made, as every analysis takes it.

    Raises InputError with all problems, those of other options too.
    """
    problems = []
    if options.resamples is not None and options.resamples < 0:
        problems.append(f"--resamples: {options.resamples} is negative; 0 asks for no intervals")
    if not 0 < options.confidence < 1:
        problems.append(f"--confidence: {options.confidence} does not lie between 0 and 1")
    if options.seed < 0:
        problems.append(f"--seed: {options.seed} is negative")
    check_options([*problems, *also_wrong])
    return {"n_resamples": options.resamples, "confidence_level": options.confidence, "rng": options.seed}


def open_scores(given: str, options: argparse.Namespace) -> Scores:
    """Scores of a run (`run:3`), a folder in the form of mt-metrics-eval, or a file. Raises InputError."""
    if (number := run_number(given)) is not None:
        with existing_store(options.db) as store:
            return Scores(score_table(at_hand(store, number)))
    path = Path(given)
    if path.is_dir():
        check_no_run(path, SCORES_FILE)
        found = read_folder(path, language_pair=options.language_pair)
        return Scores(found.scores, found.ratings)
    table = read_scores(read_file(path), path.name)
    raters = any(label.lower() in RATER_NAMES for row in table.rows for label in row.labels)
    if raters and [metric.name.lower() in RATING_NAMES for metric in table.metrics] == [True]:
        raise InputError(
            f"{shown(path.name)} looks like ratings by people (it has raters and one score), not like scores of metrics: "
            "ratings are the human side."
        )
    return Scores(table)


def open_ratings(scores: Scores, options: argparse.Namespace, asked: str = "--human") -> RatingSet:
    """The ratings that `options.human` names, else those that came with the scores. Raises InputError.

    asked: the option as the user wrote it, for messages.
    """
    given = options.human
    path = Path(given or "")
    if given is not None and given not in scores.ratings and path.exists() and not path.is_dir():
        return read_rating_file(read_file(path), path.name, lower_is_better=options.lower_is_better)
    found = scores.ratings
    if given is not None and given not in found and path.is_dir():
        found, given = read_folder(path, language_pair=options.language_pair).ratings, None
    if given is not None and not found:
        read_file(path)  # says why it cannot be read
    chosen = ratings_among(found, given, asked)
    _no_direction(options, "the ratings of a folder have their direction")
    return chosen


def _no_direction(options: argparse.Namespace, why: str) -> None:
    if options.lower_is_better:
        raise InputError(
            f"--lower-is-better is for a file of ratings that --human names; {why}: leave it out."
        )


def open_side(given: str, options: argparse.Namespace, *, human: bool) -> Side:
    """One side of a meta-correlation. Raises InputError.

    `published:NAME`, a JSON file of correlations (of scores, where --human names their ratings), or scores (a run, a
    folder, a file), which are correlated with ratings on the human side and with minus the level on the other.
    """
    if given.startswith(PREFIX):
        side = published_side(given)
        if human and options.human is not None:
            raise InputError(
                f"--human names ratings of a table of scores, but HUMAN ({shown(given)}) holds correlations: leave it out."
            )
        if human:
            _no_direction(options, f"{shown(given)} holds correlations")
        return side
    path = Path(given)
    is_table = human and options.human is not None
    if path.suffix.lower() == ".json" and not path.is_dir() and not is_table:
        if human:
            _no_direction(options, f"{shown(given)} holds correlations")
        return read_correlations(read_file(path), path.name, synthetic=not human)
    scores = open_scores(given, options)
    if not human:
        return LiveSide(given, scores.table)
    if options.human is None and not scores.ratings:
        raise InputError(
            f"The human side {shown(given)} is a table of scores: --human names the ratings of the same texts."
        )
    ratings = open_ratings(scores, options)
    return LiveSide(given, scores.table, ratings, correlation_options(options, ratings))


def correlation_options(options: argparse.Namespace, ratings: RatingSet | None) -> CorrelationOptions:
    """How ratings are used, as the options of a command say. A dimension's name may hold a comma."""
    named = options.dimension
    known = dimensions_of(ratings) if ratings is not None else ()
    dimension = named if named in known else dimension_of(name_list(named) or [])
    return CorrelationOptions(raters=options.raters, z_normalise=options.z_normalise, dimension=dimension)


def table_choice(options: argparse.Namespace) -> TableChoice:
    """What `--leave-out` and `--direction` say. Raises InputError for what is no COLUMN=VALUE or METRIC=lower."""
    problems = []
    leave_out: list[tuple[str, str]] = []
    directions: dict[str, Direction] = {}
    for written in options.leave_out:
        column, equals, value = written.partition("=")
        leave_out.append((column.strip(), value.strip()))
        if not (column.strip() and equals and value.strip()):
            problems.append(f"--leave-out: {shown(written)!r} is not COLUMN=VALUE, such as system=Human")
    for written in options.direction:
        # The name comes first and may hold the sign itself: COMET(model=x)=lower.
        metric, _, direction = written.rpartition("=")
        if not metric.strip() or direction.strip() not in get_args(Direction):
            problems.append(f"--direction: {shown(written)!r} is not METRIC=lower or METRIC=higher")
        elif directions.setdefault(metric.strip(), cast(Direction, direction.strip())) != direction.strip():
            problems.append(f"--direction: {shown(metric.strip())} is declared both ways")
    check_options(problems)
    return TableChoice(tuple(dict.fromkeys(leave_out)), tuple(directions.items()))
