"""Inputs of commands: texts, scores, ratings, marked errors or judges, from a file, folder, run, study or paper."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    in_options,
    name_list,
    print_notes,
    read_one_of,
    read_table,
    run_number,
)
from core.errors import AssayError, InputError, NotAllowed, Problems
from core.formats.correlations import PREFIX, published_side, read_correlations
from core.formats.mt_metrics_eval import ratings_among, read_folder
from core.formats.panel import read_panel
from core.formats.panel.columns import names_people
from core.formats.panel.judge_files import judge_scores
from core.formats.panel.repeats import Repeated, check_in_table
from core.formats.rated import outputs_of
from core.formats.registry import (
    format_of,
    read_evaluators,
    read_ratings,
    read_scores,
    read_spans,
    read_with_texts,
)
from core.formats.scores import check_no_ratings
from core.joining.choices import TableChoice, dimensions_of, interval_problems
from core.joining.panel import named_people, on_scale, panel_of
from core.joining.tables import CorrelationOptions, SystemScores, check_join
from core.judges.answers import KIND as ANSWERS
from core.judges.answers import AnswerSet
from core.results.check.facts import facts_of_tables
from core.results.check.verdict import JudgeFacts
from core.results.correlations.table import dimension_of
from core.results.correlations.votes import votes_panel
from core.results.judges.costs import JudgeCost
from core.results.judges.spans import SpanOptions, draws_of_judge
from core.results.meta_correlation import LiveSide, Side
from core.runs.costs import cost_of_folder, cost_of_run, facts_of_folder, facts_of_run
from core.runs.jobs import RunAtHand
from core.runs.judging import answered, judge_output, judge_output_if_any
from core.runs.path import IDENTITY, at_hand, identity_of
from core.runs.records import judge_in_folder, read_audit_folder, read_judge_folder, read_report
from core.runs.scoring import score_table
from core.schema.analysis import PanelChoice, PeopleChoice
from core.schema.panel import Panel, of_rows
from core.schema.roles import Roles
from core.schema.runs import RUN_FILE
from core.schema.scale import NOT_DECLARED, DeclaredScale, declared_scale
from core.schema.scores import (
    Direction,
    JudgeOutput,
    OutputSet,
    RatedSet,
    RatingSet,
    ScorableOutput,
    ScoreTable,
)
from core.schema.settings import Settings, fields_of
from core.schema.study import RatingTask, Study, StudyRecord
from core.schema.unit import ROW
from core.store import Store
from core.store.runs import run_data
from core.store.studies import find_study
from core.study.analysis_set import released_record
from core.study.ratings import rated_texts_of, rating_set_of, task_of
from core.tables.files import read_file
from core.tables.mapping import parse_columns
from core.tables.reading import shown
from core.tables.roles import Undecided
from core.tables.scales import NoClass

if TYPE_CHECKING:
    from core.runs.texts import Texts


NAMES = "FILE|FOLDER|run:N|study:NAME"
"""Accepted inputs, for the help of a command."""
MEANING = "texts: CSV, JSONL or JSON, an mt-metrics-eval folder, the output of run N, or an unblinded study"
TEXTS_FILE, SCORES_FILE = "outputs.csv", "scores.csv"
"""Files in the folders of runs: generated texts, and scores of a judge."""
STUDY = "study:"


def check_no_run(folder: Path, wanted: str) -> None:
    """Raise InputError if the folder is that of a run, where the user must name one of its files.

    wanted: name of that file.
    """
    if not (folder / RUN_FILE).is_file():
        return
    if (folder / wanted).is_file():
        raise InputError(f"{folder} is the folder of a run. Name its file {folder / wanted}.")
    raise InputError(
        f"{folder} is the folder of a run without {wanted}. Name the folder of another run, or a file."
    )


def check_given(given: str, database: str | None) -> None:
    """Raise InputError if a run or study is named but the database does not exist."""
    if run_number(given) is not None or given.startswith(STUDY):
        existing_database(database)


def is_file(given: str) -> bool:
    """Whether the text names a file, and no run, study or folder."""
    return run_number(given) is None and not given.startswith(STUDY) and not Path(given).is_dir()


def read_given(
    store: Store,
    given: str,
    language_pair: str | None = None,
    columns: str | None = None,
    *,
    of_study: Callable[[Store, Study], Texts] | None = None,
) -> Texts:
    """Return the texts as a file with its name, and print notes on a folder. Raises InputError.

    language_pair: for a folder only. columns: the value of `--columns`, for a file only. of_study: reads a study; None for the
    texts of an unblinded one.
    """
    path = Path(given)
    if is_file(given):
        if language_pair is not None:
            raise InputError(f"--language-pair: only for a folder, and {given} is none; leave it out.")
        return read_table(path, columns), path.name
    if columns is not None:
        raise InputError(f"--columns: only for a table, and {given} is none; leave it out.")
    # Imported lazily: studies and scipy take a second to load.
    from core.runs.generation import texts_of_run
    from core.runs.path import at_hand
    from core.runs.texts import texts_of_folder, texts_of_study

    if (number := run_number(given)) is not None:
        return texts_of_run(at_hand(store, number))
    if (study := find_given_study(store, given)) is not None:
        return (of_study or texts_of_study)(store, study)
    check_no_run(path, TEXTS_FILE)
    texts, notes = texts_of_folder(path, language_pair)
    print_notes(notes)
    return texts


def find_given_study(store: Store, given: str) -> Study | None:
    """Return the study named by `study:NAME`, or None for other text. Raises NotFound for an unknown study."""
    return find_study(store, given.removeprefix(STUDY)) if given.startswith(STUDY) else None


HUMAN_NAMES = "CSV, JSONL, MQM TSV, rated texts (JSONL), METAL's JSON, a folder, or study:NAME"


def add_human_options(command: argparse.ArgumentParser) -> None:
    """Register the options for reading human ratings."""
    command.add_argument(
        "--lower-is-better", action="store_true", help="low ratings are better, e.g. counts of errors"
    )
    command.add_argument("--flip", metavar="D,...", help="for METAL's JSON: dimensions in which 1 means bad")
    add_pair_option(command)
    add_database_option(command)


def human_ratings(given: str, options: argparse.Namespace) -> tuple[RatingSet, RatingTask | None]:
    """Return the ratings, and the task if they come from a study. Raises InputError, and NotAllowed for a blinded study."""
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
    """Return the usual ratings of an mt-metrics-eval folder. Raises InputError if it has none."""
    if options.lower_is_better:
        raise InputError(
            "--lower-is-better: not for a folder, which defines the direction of its ratings; leave it out."
        )
    return ratings_among(read_folder(path, language_pair=options.language_pair).ratings, None, None)


def metal_scores(given: str, options: argparse.Namespace) -> ScoreTable | None:
    """Return the evaluators' scores in METAL's JSON, or None for other files. Raises InputError if it has none."""
    path = Path(given)
    if not path.is_file() or path.suffix.lower() != ".json":
        return None
    return read_evaluators(read_file(path), path.name, flip=name_list(options.flip) or ())


@dataclass(frozen=True)
class Scores:
    """Scores, and the ratings from the same input."""

    table: ScoreTable
    ratings: Mapping[str, RatingSet] = field(default_factory=dict)
    """Rating sets of a folder, by name; empty for other inputs."""


def add_rating_options(command: argparse.ArgumentParser) -> None:
    """Register the options for reading and using ratings, the same for every command."""
    command.add_argument(
        "--human",
        metavar="PATH",
        help="ratings: CSV, JSONL, MQM TSV, or a folder; with a folder of scores also the name of one of its rating sets",
    )
    command.add_argument(
        "--dimension",
        metavar="D,...",
        help="which dimensions of the ratings to use (default: the only one); several are used one by one and as a mean for each text",
    )
    command.add_argument(
        "--raters",
        choices=["averaged", "kept"],
        default="averaged",
        help="use one mean rating for each text, or every rating (default %(default)s)",
    )
    command.add_argument(
        "--z-normalise",
        action="store_true",
        help="standardise each rater's ratings: subtract the rater's mean, divide by the SD",
    )
    command.add_argument(
        "--lower-is-better", action="store_true", help="low ratings are better, e.g. counts of errors"
    )
    add_pair_option(command)
    add_columns_option(command, several=True)
    command.add_argument(
        "--leave-out",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="leave texts out, e.g. system=Human, item=q7, language=de or a label; may be repeated",
    )
    command.add_argument(
        "--direction",
        action="append",
        default=[],
        metavar="METRIC=lower|higher",
        help="whether low or high scores of a metric are better, e.g. BaryScore-W=lower for a distance; may be repeated",
    )
    add_database_option(command)


def add_system_scores(command: argparse.ArgumentParser) -> None:
    """Register `--system-scores`: the texts over which a metric's system score is the mean."""
    command.add_argument(
        "--system-scores",
        choices=get_args(SystemScores),
        default="all",
        help="texts over which a metric's system score is the mean (default %(default)s, as in WMT's metrics task); human "
        "scores are always means over rated texts",
    )


def add_interval_options(
    command: argparse.ArgumentParser, n_resamples: int, *, until_settled: bool = False
) -> None:
    """Register the options of intervals, the same for every command.

    until_settled: whether resampling stops by default when the intervals settle; n_resamples is then the maximum.
    """
    default = f"until every interval settles, at most {n_resamples:,}" if until_settled else f"{n_resamples}"
    command.add_argument(
        "--resamples",
        type=int,
        default=None if until_settled else n_resamples,
        help=f"number of bootstrap resamples (default {default})",
    )
    command.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of intervals (default %(default)s)"
    )
    command.add_argument("--seed", type=int, default=0, help="seed of all resampling (default %(default)s)")


def intervals(options: argparse.Namespace, also_wrong: Sequence[str] = ()) -> dict[str, Any]:
    """Return the options of `add_interval_options` as keyword arguments of an analysis.

    Raises InputError with all problems, including those of other options in also_wrong.
    """
    problems = interval_problems(options.resamples, options.confidence, options.seed)
    check_options([*(f"--{problem}" for problem in problems), *also_wrong])
    return {"n_resamples": options.resamples, "confidence_level": options.confidence, "rng": options.seed}


def open_scores(given: str, options: argparse.Namespace) -> Scores:
    """Read scores from a run (`run:3`), an mt-metrics-eval folder, or a file. Raises InputError."""
    if (number := run_number(given)) is not None:
        with existing_store(options.db) as store:
            return Scores(score_table(at_hand(store, number)))
    path = Path(given)
    if path.is_dir():
        check_no_run(path, SCORES_FILE)
        found = read_folder(path, language_pair=options.language_pair)
        return Scores(found.scores, found.ratings)
    table = read_scores(read_one_of(path, options), path.name)
    check_no_ratings(table)
    return Scores(table)


def open_each(given: Sequence[str], options: argparse.Namespace) -> list[Scores]:
    """Read several inputs with `open_scores`. Raises InputError with the problems of all of them."""
    return _each(given, lambda one: open_scores(one, options))


def open_ratings(scores: Scores, options: argparse.Namespace, option: str = "--human") -> RatingSet:
    """Return the ratings of `options.human`, else those that came with the scores. Raises InputError.

    option: the name of the option, for messages.
    """
    given = options.human
    path = Path(given or "")
    if given is not None and given not in scores.ratings and path.exists() and not path.is_dir():
        return read_ratings(read_one_of(path, options), path.name, lower_is_better=options.lower_is_better)
    found = scores.ratings
    if given is not None and given not in found and path.is_dir():
        found, given = read_folder(path, language_pair=options.language_pair).ratings, None
    if given is not None and not found:
        read_file(path)  # reports why it cannot be read
    chosen = ratings_among(found, given, option)
    _no_direction(options, "a folder defines the direction of its ratings")
    return chosen


def _no_direction(options: argparse.Namespace, why: str) -> None:
    if options.lower_is_better:
        raise InputError(
            f"--lower-is-better: only for a file of ratings given with --human, and {why}; leave it out."
        )


def open_side(given: str, options: argparse.Namespace, *, human: bool) -> Side:
    """Open one side of a meta-correlation. Raises InputError.

    given: `published:NAME`, a JSON file of correlations (of scores, if --human names their ratings), or scores (a run,
    folder or file). Scores are correlated with ratings on the human side, with the negative level on the synthetic side.
    """
    if given.startswith(PREFIX):
        side = published_side(given)
        if human and options.human is not None:
            raise InputError(
                f"--human: only for a table of scores, and HUMAN ({shown(given)}) contains correlations; leave it out."
            )
        if human:
            _no_direction(options, f"{shown(given)} contains correlations")
        return side
    path = Path(given)
    is_table = human and options.human is not None
    if path.suffix.lower() == ".json" and not path.is_dir() and not is_table:
        if human:
            _no_direction(options, f"{shown(given)} contains correlations")
        return read_correlations(read_file(path), path.name, synthetic=not human)
    scores = open_scores(given, options)
    if not human:
        return LiveSide(given, scores.table)
    if options.human is None and not scores.ratings:
        raise InputError(
            f"The human side {shown(given)} is a table of scores. Name the ratings of its texts with --human."
        )
    ratings = open_ratings(scores, options)
    return LiveSide(given, scores.table, ratings, correlation_options(options, ratings))


def correlation_options(options: argparse.Namespace, ratings: RatingSet | None) -> CorrelationOptions:
    """Return the options for using ratings. The name of a dimension may contain a comma."""
    named = options.dimension
    known = dimensions_of(ratings) if ratings is not None else ()
    dimension = named if named in known else dimension_of(name_list(named) or [])
    return CorrelationOptions(raters=options.raters, z_normalise=options.z_normalise, dimension=dimension)


def table_choice(options: argparse.Namespace) -> TableChoice:
    """Parse `--leave-out` and `--direction`. Raises InputError for values not of the form COLUMN=VALUE or METRIC=lower."""
    problems = []
    leave_out: list[tuple[str, str]] = []
    directions: dict[str, Direction] = {}
    for written in options.leave_out:
        column, equals, value = written.partition("=")
        leave_out.append((column.strip(), value.strip()))
        if not (column.strip() and equals and value.strip()):
            problems.append(f"--leave-out: {shown(written)!r} is not COLUMN=VALUE, e.g. system=Human")
    for written in options.direction:
        # Split at the last sign, because a name may contain one: COMET(model=x)=lower.
        metric, _, direction = written.rpartition("=")
        if not metric.strip() or direction.strip() not in get_args(Direction):
            problems.append(f"--direction: {shown(written)!r} is not METRIC=lower or METRIC=higher")
        elif directions.setdefault(metric.strip(), cast(Direction, direction.strip())) != direction.strip():
            problems.append(f"--direction: {shown(metric.strip())} is given as both lower and higher")
    check_options(problems)
    return TableChoice(tuple(dict.fromkeys(leave_out)), tuple(directions.items()))


JUDGE_NAMES = "DIR|run:N"
"""Accepted inputs, for the help of a command."""
Found = TypeVar("Found")


def judges_given(given: Sequence[str], database: str | None) -> list[JudgeOutput]:
    """Read judges' results from folders of `judge rubric|claims|cef` or from runs. Raises InputError with all problems."""
    return _each(given, lambda one: _from_either(one, database, read_judge_folder, judge_output))


def judge_among(given: str, database: str | None) -> JudgeOutput | None:
    """Read a judge's results from its folder or run; None for any other source of scores."""
    return _from_either(given, database, judge_in_folder, judge_output_if_any)


def answers_given(given: Sequence[str], database: str | None) -> list[AnswerSet]:
    """Read models' answers from folders of `judge answers` or from runs. Raises InputError with all problems."""
    return _each(given, lambda one: _from_either(one, database, _answers_of_folder, _answers_of_run))


def _answers_of_folder(folder: Path) -> AnswerSet:
    return AnswerSet(*read_audit_folder(folder, ANSWERS))


def _answers_of_run(run: RunAtHand) -> AnswerSet:
    return AnswerSet(*answered(run, ANSWERS))


def costs_given(given: Sequence[str], database: str | None) -> list[JudgeCost]:
    """Read the cost of runs, in the given order. Raises InputError with all problems, also for a run given twice."""
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
            "Each run may be named only once",
            [f"{' and '.join(same)} are the same run" for same in twice],
        )
    return [cost for _, cost in found]


def _run_of_folder(folder: Path) -> dict[str, object]:
    """Return the identity of the run that wrote the folder, or the folder's path if its report has none."""
    report = read_report(folder)
    identity = {name: report.get(name) for name in IDENTITY}
    return {"folder": folder.resolve()} if None in identity.values() else identity


def scores_given(given: Sequence[str], options: argparse.Namespace) -> list[ScoreTable]:
    """Read tables of scores from judges' folders, runs or files. Raises InputError with all problems."""
    return _each(given, lambda one: _scores(one, options))


def _scores(given: str, options: argparse.Namespace) -> ScoreTable:
    folder = Path(given)
    if run_number(given) is None and (folder / RUN_FILE).is_file():
        if not (folder / SCORES_FILE).is_file():
            read_judge_folder(folder)  # reports the kind of the run
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
    """Read every input. Raises InputError with the problems of all of them."""
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
        raise InputError("Some inputs cannot be read", problems)
    return found


PANEL_NAMES = "FILE|FOLDER|run:N|study:NAME"


def add_people_options(command: argparse.ArgumentParser) -> None:
    """Register the inputs with raters alone; see `open_people`."""
    command.add_argument(
        "file",
        metavar="FILE",
        help=f"ratings by people: {HUMAN_NAMES}; a tool's log; or run:N of a judge that read rated texts",
    )
    _add_reading_options(command, PeopleChoice)


def add_panel_options(command: argparse.ArgumentParser) -> None:
    """Register the inputs with raters and judges side by side; see `open_panel`."""
    command.add_argument(
        "file",
        metavar="FILE",
        help=f"ratings, with the judges' scores if it has them: {HUMAN_NAMES}; a tool's log; or run:N of a judge that read "
        "rated texts",
    )
    command.add_argument(
        "scores",
        nargs="*",
        metavar="JUDGE",
        help=f"scores of further judges: {JUDGE_NAMES}, a table of scores (CSV, JSONL, Parquet), or a tool's log",
    )
    _add_reading_options(command, PanelChoice)


def _add_reading_options(command: argparse.ArgumentParser, choice: type[Settings]) -> None:
    """Register what says how the inputs are read."""
    for one in fields_of(choice).values():
        if one.choices:
            text = f"{one.about.help} (default {one.usual})"
            command.add_argument(one.option, choices=one.choices, default=one.default, help=text)
        else:
            command.add_argument(one.option, metavar=one.about.metavar, help=one.about.help)
    add_columns_option(command, several=True)
    command.add_argument("--flip", metavar="D,...", help="for METAL's JSON: dimensions in which 1 means bad")
    add_pair_option(command)
    add_database_option(command)


def open_people(options: argparse.Namespace) -> Panel:
    """Return the raters of the first input of `add_people_options` or `add_panel_options`, without any judge.

    Raises InputError, and NotAllowed for a blinded study and for one of pairs.
    """
    alone = {**vars(options), "scores": [], "judge": None}
    return open_panel(argparse.Namespace(**alone), find=True, people_alone=True)


def open_panel(
    options: argparse.Namespace,
    *,
    find: bool = False,
    system_column: str | None = None,
    item: str | None = None,
    people_alone: bool = False,
) -> Panel:
    """Return the raters and judges of the inputs of `add_panel_options`.

    find, system_column, item, people_alone: see `read_panel`; columns by default as in the options. Of a study of pairs each row is a
    pair (`votes_panel`). Raises InputError, and NotAllowed for a blinded study.
    """
    own = (system_column or options.system_column, item or options.item)
    try:
        found = _panel_given(options, find, *own, people_alone=people_alone)
    except Undecided as problem:
        advice = _options_for(problem.roles)
        problems = [*problem.problems, *([advice] if advice else [])]
        raise Undecided(problem.what, problems, problem.roles) from problem
    except Repeated as problem:
        advice = "write --system-column COLUMN, or --item COLUMN if each row is a text of its own"
        raise in_options(InputError(problem.what, [*problem.problems, advice]), ("repeated",)) from problem
    except NoClass as problem:
        advice = f"write --missing {shlex.quote(','.join(problem.words))}, or --classes with all classes from worst to best"
        raise InputError(problem.what, [*problem.problems, advice]) from problem
    except InputError as problem:
        raise in_options(problem, (*fields_of(PanelChoice), "columns")) from problem
    if found.roles is None or options.columns is None:
        return found
    # Show the names of the file, not those that --columns put in their place.
    return replace(found, roles=found.roles.renamed(parse_columns(options.columns)))


def _options_for(roles: Roles) -> str:
    """The options to write where columns do not tell people from judges."""
    free = [name for name in roles.candidates if name not in (*roles.human, *roles.judges)]
    dimensions = [problem for problem in roles.problems if problem.startswith("dimension")]
    if roles.people_alone:
        if dimensions:
            return "write --dimension NAME, or name the columns of one dimension: --human A,B"
        return f"write --human {shlex.quote(','.join(free) or 'A,B')}, with the columns that are meant"
    if dimensions:
        return "write --dimension NAME, or name the columns: --human A,B --judge C"
    if not (free or roles.human):
        return ""  # nothing here to choose from
    if roles.human and not free:
        return f"add a file or run with the judge's scores after it, or write --human {shlex.quote(','.join(roles.human))} --judge C"
    people = ",".join(roles.human) or ",".join(free if roles.judges else free[:1]) or "A,B"
    judges = ",".join(roles.judges) or ",".join(free if roles.human else free[1:2]) or "C"
    return (
        f"write --human {shlex.quote(people)} --judge {shlex.quote(judges)}, with the columns that are meant"
    )


def _panel_given(
    options: argparse.Namespace,
    find: bool,
    system_column: str | None,
    item: str | None,
    *,
    people_alone: bool,
) -> Panel:
    check_columns(options, [options.file, *options.scores])
    if find and options.human is not None:
        _put_people_first(options)
    given, path = options.file, Path(options.file)
    number = run_number(given)
    is_file = number is None and not given.startswith(STUDY) and not path.is_dir()
    # A table of scores is read beside its ratings, so that words mean the same in both.
    apart = [one for one in options.scores if find and _is_table(one)]
    tables = judge_tables([one for one in options.scores if one not in apart], options)
    beside = [(read_one_of(Path(one), options), Path(one).name) for one in apart]
    chosen: dict[str, Any] = {
        "human": name_list(options.human),
        "judges": name_list(options.judge),
        "dimension": options.dimension,
    }
    declared = scale_given(options)
    if is_file:
        data, flip = read_one_of(path, options), name_list(options.flip) or ()
        return read_panel(
            data,
            path.name,
            tables,
            flip=flip,
            find=find,
            beside=beside,
            declared=declared,
            system_column=system_column,
            item=item,
            people_alone=people_alone,
            repeated=options.repeated,
            **chosen,
        )
    of_run = number is not None
    columns = (system_column, None if of_run or item == ROW else item)
    if wrong := [name for name in columns if name is not None]:
        raise InputError(
            f"{', '.join(map(shown, wrong))}: columns can only be chosen in a table, and {given} is none."
        )
    if number is not None:
        with existing_store(options.db) as store:
            run = at_hand(store, number)
            data, name = run_data(store, number), PurePath(run.run.data_file).name
            own_scores = [] if people_alone else [replace(score_table(run), file_name=given)]
            return read_panel(
                data,
                name,
                [*own_scores, *tables],
                item=item,
                find=find,
                beside=beside,
                declared=declared,
                people_alone=people_alone,
                repeated=options.repeated,
                **chosen,
            )
    check_in_table(options.repeated, given)
    tables = [*tables, *(judge_scores(*one, chosen["judges"], chosen["human"]) for one in beside)]
    chosen["raters"] = chosen.pop("human")
    if people_alone:
        return _people_given(given, options, chosen, declared, by_row=item == ROW)
    found = panel_beside(given, tables, options, check=find, declared=declared, **chosen)
    return of_rows(found) if item == ROW else found


def _people_given(
    given: str,
    options: argparse.Namespace,
    chosen: Mapping[str, Any],
    declared: DeclaredScale,
    *,
    by_row: bool,
) -> Panel:
    """Return the raters of a study or a folder. Raises InputError, and NotAllowed for a blinded study and for one of pairs."""
    ratings = read_people(given, options)
    if isinstance(ratings, StudyRecord):
        raise NotAllowed(
            f"Study {shown(ratings.study.name)} compares pairs. `study results` shows how far its raters agree."
        )
    raters = chosen["raters"]
    if raters is None and not given.startswith(STUDY):  # whoever rates in a study is a person
        raters = named_people(ratings)
    found = on_scale(panel_of(ratings, raters=raters, dimension=chosen["dimension"]), declared)
    return of_rows(found) if by_row else found


def add_scale_options(command: argparse.ArgumentParser) -> None:
    """Register `--scale`, `--classes` and `--missing`; see `scale_given`."""
    known = fields_of(PanelChoice)
    for one in (known["scale"], known["classes"], known["missing"]):
        command.add_argument(one.option, metavar=one.about.metavar, help=one.about.help)


def scale_given(options: argparse.Namespace) -> DeclaredScale:
    """Return what `--scale`, `--classes` and `--missing` say. Raises InputError."""
    return declared_scale(options.scale, name_list(options.classes), name_list(options.missing))


def _put_people_first(options: argparse.Namespace) -> None:
    """Make FILE the first table that has the names of `--human`, if FILE is another table or a run without them."""
    number, names = run_number(options.file), name_list(options.human) or ()
    if number is not None:
        with existing_store(options.db) as store:
            first = run_data(store, number), PurePath(at_hand(store, number).run.data_file).name
    elif _is_table(options.file):
        first = read_one_of(Path(options.file), options), Path(options.file).name
    else:
        return
    if names_people(*first, names):
        return
    for at, given in enumerate(options.scores):
        if _is_table(given) and names_people(read_one_of(Path(given), options), Path(given).name, names):
            options.scores = [options.file, *options.scores[:at], *options.scores[at + 1 :]]
            options.file = given
            return


def panel_beside(
    given: str,
    tables: Sequence[ScoreTable],
    options: argparse.Namespace,
    *,
    check: bool = False,
    declared: DeclaredScale = NOT_DECLARED,
    **chosen: Any,
) -> Panel:
    """Return ratings, or the votes of a study of pairs, beside these scores.

    given: as `human_ratings` takes it. check: whether to refuse tables without a rated text. declared: the ratings' scale, not
    for votes. chosen: raters, judges and dimension, as `panel_of` takes them. Raises InputError, and NotAllowed for a blinded
    study.
    """
    found = read_people(given, options)
    if isinstance(found, StudyRecord):
        if declared != NOT_DECLARED:
            raise InputError(
                f"--scale, --classes, --missing: study {shown(found.study.name)} compares pairs, whose scale is known; leave them out."
            )
        return _votes_given(found, tables, chosen)
    for table in tables if check else ():
        check_join(found, table)
    return on_scale(panel_of(found, tables, **chosen), declared)


def read_people(given: str, options: argparse.Namespace) -> RatingSet | StudyRecord:
    """Return ratings, or the record of a study of pairs. Raises InputError, and NotAllowed for a blinded study."""
    if given.startswith(STUDY):
        with existing_store(options.db) as store:
            study = find_study(store, given.removeprefix(STUDY))
            if study.kind == "pairs":
                return released_record(store, study)
    return human_ratings(given, argparse.Namespace(**{**vars(options), "lower_is_better": False}))[0]


def _votes_given(record: StudyRecord, tables: Sequence[ScoreTable], chosen: Mapping[str, Any]) -> Panel:
    """Return the votes of a study of pairs beside judges' scores of its answers."""
    name = record.study.name
    if chosen.get("dimension") is not None:
        raise InputError(
            f"--dimension: study {shown(name)} compares pairs, which have no dimensions; leave it out."
        )
    if not tables:
        raise InputError(
            f"Study {shown(name)} compares pairs, and no judge votes on pairs. Add a judge's scores of its answers, e.g. "
            f"{shlex.quote(STUDY + name)} run:N: the judge then prefers the answer that it scored higher."
        )
    return votes_panel(record, tables, raters=chosen.get("raters"), judges=chosen["judges"])


def _is_table(given: str) -> bool:
    """Whether an input is a file without evaluators, which METAL's JSON has."""
    path = Path(given)
    if run_number(given) is not None or not path.is_file():
        return False
    return (
        path.suffix.lower() != ".json"
        or "evaluators" not in format_of("ratings", read_file(path), path.name).read
    )


def facts_given(options: argparse.Namespace, panel: Panel) -> dict[str, JudgeFacts]:
    """Judge -> consistency, price, time and model, from columns of the panel and from the runs among its inputs."""
    runs = {}
    for given in (options.file, *options.scores):
        if run_number(given) is not None or (Path(given) / RUN_FILE).is_file():
            runs[given] = _from_either(
                given,
                options.db,
                lambda folder: facts_of_folder(folder, options.dimension),
                lambda run: facts_of_run(run, options.dimension),
            )
    return facts_of_tables(panel, runs)


def judge_tables(given: Sequence[str], options: argparse.Namespace) -> list[ScoreTable]:
    """Return the scores of every judge in the given order. METAL's JSON may contain evaluators as well as raters."""
    own = {name: found for name in given if (found := metal_scores(name, options)) is not None}
    others = [name for name in given if name not in own]
    read = own | dict(zip(others, scores_given(others, options), strict=True))
    return [read[name] for name in given]


SPAN_NAMES = "FILE|FOLDER|run:N|DIR|study:NAME"
"""Accepted inputs, for the help of a command."""
SPAN_MEANING = (
    "marked errors: MQM TSV, .seg.rating, WMT-QE, CSV or JSONL of spans, rated JSONL, an mt-metrics-eval folder, a run or "
    "folder of `judge automqm`, or an unblinded rating study"
)

N_RESAMPLES = 2_000
"""Default number of resamples for intervals of F1."""


@dataclass(frozen=True)
class Marked:
    """Marked errors of one side of a comparison."""

    name: str
    """The input as given, without parent folders."""
    draws: tuple[RatingSet, ...]
    """One set of marks; for a judge with repeats, one for each repeat."""
    texts: OutputSet | None = None
    """The marked texts, if the input contains them."""
    judge: str | None = None
    """Name of the judge; None for ratings by people."""
    rater: str = ""
    """For a judge: the only rater among its examples; empty: several raters, or none."""


def add_mark_options(command: argparse.ArgumentParser) -> None:
    """Register the options for reading, pairing and comparing marked errors, except --db."""
    command.add_argument(
        "--raters",
        choices=["kept", "merged"],
        default="kept",
        help="compare each rater's marks separately, or merge all raters' marks (default %(default)s)",
    )
    command.add_argument(
        "--references",
        action="store_true",
        help="include the references refA, refB, synthetic_ref as systems",
    )
    command.add_argument(
        "--ratings",
        metavar="NAME",
        help="which rating set to read when the folder has several, e.g. mqm or mqm.raters",
    )
    add_pair_option(command)
    add_columns_option(command, several=True)
    add_interval_options(command, N_RESAMPLES)


def span_options(options: argparse.Namespace, also_wrong: Sequence[str] = ()) -> SpanOptions:
    """Return the options of `add_mark_options`. Raises InputError with all problems, including also_wrong."""
    return SpanOptions(raters=options.raters, references=options.references, **intervals(options, also_wrong))


def marked_given(given: Sequence[str], options: argparse.Namespace) -> list[Marked]:
    """Read marked errors from every argument, in order. Raises InputError at the first that cannot be read."""
    check_columns(options, given)
    return [marked(one, options) for one in given]


def single(side: Marked, why: str = "it cannot be GOLD") -> RatingSet:
    """Return the marks of a side that must not have repeats. Raises InputError with the reason if it has."""
    if len(side.draws) > 1:
        raise InputError(
            f"{shown(side.name)} has {len(side.draws)} repeats, so {why}. Run the judge without --repeats."
        )
    return side.draws[0]


def texts_among(sides: Sequence[Marked]) -> OutputSet | None:
    """Return the texts of the first side that has any, else None."""
    return next((side.texts for side in sides if side.texts is not None), None)


def names_apart(short: Iterable[str], given: Sequence[str], what: str = "judge") -> list[str]:
    """Name each input by its short name, or as given if two share one. Raises InputError for a repeated input."""
    if len(set(given)) < len(given):
        twice = sorted({one for one in given if list(given).count(one) > 1})
        raise InputError(f"{', '.join(map(shown, twice))} is given twice. Name each {what} once.")
    names = list(short)
    return [name if names.count(name) == 1 else whole for name, whole in zip(names, given, strict=True)]


def marked(given: str, options: argparse.Namespace) -> Marked:
    """Read marked errors from one argument. Raises InputError if it cannot be read.

    options: db, ratings and language_pair select the database and the rating set of a folder. by_rater: whether a folder's
    default is the rating set that names raters.
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
        assert study is not None, "it begins with study:"
        if study.kind != "ratings":
            raise InputError(f"Study {shown(study.name)} compares pairs, so it has no marked errors.")
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
    """Return the input as given, without parent folders."""
    return given if run_number(given) is not None else PurePath(given).name or given
