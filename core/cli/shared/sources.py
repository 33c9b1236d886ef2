"""What a command is given: texts, scores, ratings, marked errors, judges; from a file, a folder, a run, a study or a paper."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from core.cli.shared.options import (
    add_columns_option,
    add_database_option,
    add_pair_option,
    check_columns,
    check_options,
    existing_database,
    existing_store,
    name_list,
    print_notes,
    read_file,
    read_one_of,
    read_table,
    run_number,
)
from core.errors import AssayError, InputError, Problems
from core.formats.correlations import PREFIX, published_side, read_correlations
from core.formats.mt_metrics_eval import ratings_among, read_folder
from core.formats.rated import outputs_of
from core.formats.registry import read_evaluators, read_ratings, read_scores, read_spans, read_with_texts
from core.judges.answers import KIND as ANSWERS
from core.judges.answers import AnswerSet
from core.results.choices import TableChoice, dimensions_of
from core.results.correlations.table import dimension_of
from core.results.joining import CorrelationOptions, SystemScores
from core.results.judges.costs import JudgeCost
from core.results.judges.spans import SpanOptions, draws_of_judge
from core.results.meta_correlation import LiveSide, Side
from core.runs.costs import cost_of_folder, cost_of_run
from core.runs.jobs import RunAtHand
from core.runs.judging import answered, judge_output
from core.runs.path import IDENTITY, at_hand, identity_of
from core.runs.records import read_audit_folder, read_judge_folder, read_report
from core.runs.scoring import score_table
from core.schema.runs import RUN_FILE
from core.schema.scores import (
    Direction,
    JudgeOutput,
    OutputSet,
    RatedSet,
    RatingSet,
    ScorableOutput,
    ScoreTable,
)
from core.schema.study import RatingTask, Study
from core.store import Store
from core.store.studies import find_study
from core.study.analysis_set import released_record
from core.study.ratings import rated_texts_of, rating_set_of, task_of
from core.tables.columns import VOCABULARY
from core.tables.reading import shown

if TYPE_CHECKING:
    from core.runs.texts import Texts


NAMES = "FILE|FOLDER|run:N|study:NAME"
"""What may be given, for the help of a command."""
MEANING = "texts: CSV, JSONL or JSON, an mt-metrics-eval folder, what run N generated, an unblinded study"
TEXTS_FILE, SCORES_FILE = "outputs.csv", "scores.csv"
"""In the folder of a run that made texts, and of one in which a judge scored them."""
STUDY = "study:"


def check_no_run(folder: Path, wanted: str) -> None:
    """Raise InputError where the folder is what a run wrote: of its files, the one to be read is named.

    wanted: name of that file.
    """
    if not (folder / RUN_FILE).is_file():
        return
    if (folder / wanted).is_file():
        raise InputError(f"{folder} is the folder of a run: name its {wanted}, {folder / wanted}.")
    raise InputError(
        f"{folder} is the folder of a run that wrote no {wanted}: name a run's that did, or a file."
    )


def check_given(given: str, database: str | None) -> None:
    """Raise InputError where a run or a study is asked for and there is no database that could hold it."""
    if run_number(given) is not None or given.startswith(STUDY):
        existing_database(database)


def read_given(
    store: Store, given: str, language_pair: str | None = None, columns: str | None = None
) -> Texts:
    """The texts as a file with its name; what a folder's reader notes is printed. Raises InputError.

    language_pair: of a folder that has several; anything else has none to choose. columns: `--columns`, of a file alone.
    """
    path = Path(given)
    if run_number(given) is None and not given.startswith(STUDY) and not path.is_dir():
        if language_pair is not None:
            raise InputError(f"--language-pair: {given} is no folder; leave it out.")
        return read_table(path, columns), path.name
    if columns is not None:
        raise InputError(f"--columns: {given} is no table; leave it out.")
    # Imported late: all that a study is made of, and scipy with it, takes a second to load.
    from core.runs.generation import texts_of_run
    from core.runs.path import at_hand
    from core.runs.texts import texts_of_folder, texts_of_study

    if (number := run_number(given)) is not None:
        return texts_of_run(at_hand(store, number))
    if (study := find_given_study(store, given)) is not None:
        return texts_of_study(store, study)
    check_no_run(path, TEXTS_FILE)
    texts, notes = texts_of_folder(path, language_pair)
    print_notes(notes)
    return texts


def find_given_study(store: Store, given: str) -> Study | None:
    """The study that is named; None where none is. Raises NotFound for one that is not there."""
    return find_study(store, given.removeprefix(STUDY)) if given.startswith(STUDY) else None


HUMAN_NAMES = "CSV, JSONL, MQM TSV, rated texts (JSONL), METAL's JSON, a folder, or study:NAME"


def add_human_options(command: argparse.ArgumentParser) -> None:
    """How the file is read."""
    command.add_argument("--lower-is-better", action="store_true", help="ratings count what is wrong")
    command.add_argument(
        "--flip", metavar="D,...", help="of METAL's JSON: dimensions in which 1 is bad there"
    )
    add_pair_option(command)
    add_database_option(command)


def human_ratings(given: str, options: argparse.Namespace) -> tuple[RatingSet, RatingTask | None]:
    """The ratings, and of a study what it asked. Raises InputError, and NotAllowed for one that is not unblinded yet."""
    if given.startswith(STUDY):
        with existing_store(options.db) as store:
            record = released_record(store, find_study(store, given.removeprefix(STUDY)))
        return rating_set_of(record), task_of(record)
    path = Path(given)
    if path.is_dir():
        return _of_folder(path, options), None
    found = read_ratings(
        read_one_of(path, options),
        path.name,
        lower_is_better=options.lower_is_better,
        flip=name_list(options.flip) or (),
    )
    return found, None


def _of_folder(path: Path, options: argparse.Namespace) -> RatingSet:
    """The usual ratings of a folder in the form of mt-metrics-eval. Raises InputError where it holds none."""
    if options.lower_is_better:
        raise InputError("--lower-is-better: the ratings of a folder have their direction; leave it out.")
    return ratings_among(read_folder(path, language_pair=options.language_pair).ratings, None, None)


def metal_scores(given: str, options: argparse.Namespace) -> ScoreTable | None:
    """What evaluators said in METAL's JSON; None: the name is something else. Raises InputError where none did."""
    path = Path(given)
    if not path.is_file() or path.suffix.lower() != ".json":
        return None
    return read_evaluators(read_file(path), path.name, flip=name_list(options.flip) or ())


RATER_NAMES, RATING_NAMES = VOCABULARY["rater"], VOCABULARY["score"]


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
    add_columns_option(command, several=True)
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
    table = read_scores(read_one_of(path, options), path.name)
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
        return read_ratings(read_one_of(path, options), path.name, lower_is_better=options.lower_is_better)
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


JUDGE_NAMES = "DIR|run:N"
"""What may be given, for the help of a command."""
Found = TypeVar("Found")


def judges_given(given: Sequence[str], database: str | None) -> list[JudgeOutput]:
    """What judges said, of folders that `judge rubric|claims|cef` wrote or of their runs. Raises InputError for all."""
    return _each(given, lambda one: _from_either(one, database, read_judge_folder, judge_output))


def answers_given(given: Sequence[str], database: str | None) -> list[AnswerSet]:
    """What models answered, of folders that `judge answers` wrote or of its runs. Raises InputError for all."""
    return _each(given, lambda one: _from_either(one, database, _answers_of_folder, _answers_of_run))


def _answers_of_folder(folder: Path) -> AnswerSet:
    return AnswerSet(*read_audit_folder(folder, ANSWERS))


def _answers_of_run(run: RunAtHand) -> AnswerSet:
    return AnswerSet(*answered(run, ANSWERS))


def costs_given(given: Sequence[str], database: str | None) -> list[JudgeCost]:
    """What runs cost, in the order given. Raises InputError for all, and where two of them are one run."""
    found = _each(
        given,
        lambda one: _from_either(
            one,
            database,
            lambda folder: (_run_of_folder(folder), cost_of_folder(folder)),
            lambda run: (identity_of(run.run), cost_of_run(run)),
        ),
    )
    names: dict[str, list[str]] = {}
    for name, (identity, _) in zip(given, found, strict=True):
        names.setdefault(repr(identity), []).append(shown(name))
    if twice := [same for same in names.values() if len(same) > 1]:
        raise InputError(
            "A run beside itself tells nothing: name each once",
            [f"{' and '.join(same)} are the same run" for same in twice],
        )
    return [cost for _, cost in found]


def _run_of_folder(folder: Path) -> dict[str, object]:
    """Which run wrote it, as identity_of says it; of a folder that does not say so, where it lies."""
    report = read_report(folder)
    identity = {name: report.get(name) for name in IDENTITY}
    return {"folder": folder.resolve()} if None in identity.values() else identity


def scores_given(given: Sequence[str], options: argparse.Namespace) -> list[ScoreTable]:
    """Tables of scores: of folders that judges wrote, of runs, or of files in any form. Raises InputError for all."""
    return _each(given, lambda one: _scores(one, options))


def _scores(given: str, options: argparse.Namespace) -> ScoreTable:
    folder = Path(given)
    if run_number(given) is None and (folder / RUN_FILE).is_file():
        if not (folder / SCORES_FILE).is_file():
            read_judge_folder(folder)  # says of which kind the run is
        table = read_scores(read_file(folder / SCORES_FILE), SCORES_FILE)
        return replace(table, file_name=given)
    table = open_scores(given, options).table
    return replace(table, file_name=given) if run_number(given) is not None else table


def _from_either(
    given: str, database: str | None, of_folder: Callable[[Path], Found], of_run: Callable[[RunAtHand], Found]
) -> Found:
    number = run_number(given)
    if number is None:
        return of_folder(Path(given))
    with existing_store(database) as store:
        return of_run(at_hand(store, number))


def _each(given: Sequence[str], read: Callable[[str], Found]) -> list[Found]:
    """All that is given, each read. Raises InputError with the problems of all of them."""
    found: list[Found] = []
    wrong: list[AssayError] = []
    for one in given:
        try:
            found.append(read(one))
        except AssayError as problem:
            wrong.append(problem)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        problems = Problems()
        for error in wrong:
            if isinstance(error, InputError) and error.problems:
                problems += error.under(error.what)
            else:
                problems.append(str(error))
        raise InputError("These cannot be read", problems)
    return found


SPAN_NAMES = "FILE|FOLDER|run:N|DIR|study:NAME"
"""What may be given, for the help of a command."""
SPAN_MEANING = (
    "marked errors: MQM TSV, .seg.rating, WMT-QE, CSV or JSONL of spans, rated JSONL; an mt-metrics-eval folder; a run or "
    "folder of `judge automqm`; an unblinded study of ratings"
)

N_RESAMPLES = 2_000
"""Of intervals of F1, unless another number is chosen."""


@dataclass(frozen=True)
class Marked:
    """Errors as one side of a comparison gives them."""

    name: str
    """As it was given, without its folders."""
    draws: tuple[RatingSet, ...]
    """One; of a judge with repeats, one a repeat."""
    texts: OutputSet | None = None
    """The texts that were marked, where they came along."""
    judge: str | None = None
    """What the judge is called, where it is one."""
    rater: str = ""
    """Of a judge: whose ratings alone were its examples; empty: all raters', or nobody's."""


def add_mark_options(command: argparse.ArgumentParser) -> None:
    """What says how marked errors are read, paired and compared, the same for every command; --db is added elsewhere."""
    command.add_argument(
        "--raters",
        choices=["kept", "merged"],
        default="kept",
        help="each rater's marks of a text by themselves, or all raters' together (default %(default)s)",
    )
    command.add_argument(
        "--references", action="store_true", help="keep refA, refB, synthetic_ref among the systems"
    )
    command.add_argument(
        "--ratings",
        metavar="NAME",
        help="which ones of a folder that holds several, such as mqm or mqm.raters",
    )
    add_pair_option(command)
    add_columns_option(command, several=True)
    add_interval_options(command, N_RESAMPLES)


def span_options(options: argparse.Namespace, also_wrong: Sequence[str] = ()) -> SpanOptions:
    """What they say of the comparison. Raises InputError with all problems, those of other options too."""
    return SpanOptions(raters=options.raters, references=options.references, **intervals(options, also_wrong))


def marked_given(given: Sequence[str], options: argparse.Namespace) -> list[Marked]:
    """What each argument names, in the order given. Raises InputError at the first that cannot be read."""
    check_columns(options, given)
    return [marked(one, options) for one in given]


def single(side: Marked, why: str = "it can be no gold") -> RatingSet:
    """The marks of a side that may have no repeats. Raises InputError, which says why, where it has several."""
    if len(side.draws) > 1:
        raise InputError(
            f"{shown(side.name)} has {len(side.draws)} repeats, so {why}: judge without --repeats."
        )
    return side.draws[0]


def texts_among(sides: Sequence[Marked]) -> OutputSet | None:
    """The texts that the first side brings along that has any."""
    return next((side.texts for side in sides if side.texts is not None), None)


def names_apart(sides: Sequence[Marked], given: Sequence[str]) -> list[str]:
    """What to call each side: its short name, or as it was given where two share one. Raises InputError for twice."""
    if len(set(given)) < len(given):
        twice = sorted({one for one in given if list(given).count(one) > 1})
        raise InputError(
            f"{', '.join(map(shown, twice))} is named twice: a judge beside itself tells nothing."
        )
    names = [side.name for side in sides]
    return [name if names.count(name) == 1 else whole for name, whole in zip(names, given, strict=True)]


def marked(given: str, options: argparse.Namespace) -> Marked:
    """What one argument names. Raises InputError where it cannot be read.

    options: with db, ratings and language_pair, which say where it is and what of a folder is meant; by_rater: of a folder
    the ratings that tell raters apart, unless others are named.
    """
    path = Path(given)
    if given.startswith(STUDY):
        return _of_study(given, options)
    if run_number(given) is not None or (path / RUN_FILE).is_file():
        (output,) = judges_given([given], options.db)
        rater = str(output.settings.get("rater") or "")
        return Marked(short_name(given), draws_of_judge(output), _texts_of(output), output.name, rater)
    if path.is_dir():
        return _spans_of_folder(path, options)
    data = read_one_of(path, options)
    rated = read_with_texts("spans", data, path.name)
    return Marked(short_name(given), (read_spans(data, path.name),), outputs_of(rated) if rated else None)


def _of_study(given: str, options: argparse.Namespace) -> Marked:
    with existing_store(options.db) as store:
        study = find_given_study(store, given)
        assert study is not None, "it begins as a study does"
        if study.kind != "ratings":
            raise InputError(f"Study {shown(study.name)} compares pairs: in it nobody marked errors.")
        record = released_record(store, study)
    texts = RatedSet(rated_texts_of(record), "", study.name)
    return Marked(given, (rating_set_of(record),), outputs_of(texts))


def _spans_of_folder(path: Path, options: argparse.Namespace) -> Marked:
    folder = read_folder(path, language_pair=options.language_pair)
    by_rater = getattr(options, "by_rater", False)
    chosen = ratings_among(folder.ratings, options.ratings, "--ratings", by_rater=by_rater)
    return Marked(path.name, (chosen,), folder.outputs)


def _texts_of(output: JudgeOutput) -> OutputSet:
    outputs = tuple(
        ScorableOutput(
            text.row.item_id,
            text.row.system,
            text.text,
            level=text.row.level,
            language=text.row.language,
            labels=text.row.labels,
        )
        for text in output.texts
    )
    return OutputSet(outputs, "", output.name)


def short_name(given: str) -> str:
    """As it was given, without its folders."""
    return given if run_number(given) is not None else PurePath(given).name or given
