"""Inputs of commands: options that say how sources are read, and sources opened as these options say."""

import argparse
import shlex
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from core.cli.shared.options import (
    Options,
    add_columns_option,
    add_database_option,
    add_pair_option,
    add_reading_option,
    check_columns,
    check_options,
    existing_database,
    existing_store,
    levels_named,
    name_list,
    option_error,
    print_notes,
)
from core.cli.shared.setting_options import add_settings, settings_given
from core.errors import InputError
from core.formats.mt_metrics_eval import ratings_among
from core.formats.panel.repeats import Repeated
from core.formats.tasks import find_task
from core.joining.choices import (
    TableChoice,
    check_choice,
    chosen_table,
    dimensions_of,
)
from core.joining.quality import OfFile, Quality
from core.judges.alignment import MarkedText
from core.judges.answers import AnswerSet
from core.results.check.facts import facts_of_tables
from core.results.check.verdict import JudgeFacts
from core.results.correlations.paired import People, pair_with_people
from core.results.judges.costs import JudgeCost
from core.results.judges.made_levels import ScoredLevels, scored_levels
from core.results.judges.prompts import RunsTried
from core.results.meta_correlation import LiveSide, Side, Sides, chosen_side
from core.results.study.counted import Filters, StudyPart
from core.results.study.early import EarlyLook
from core.results.study.planning import Basis, Standing
from core.schema.analysis import (
    CHOICES,
    LevelsChoice,
    MarkingChoice,
    PanelChoice,
    PeopleChoice,
    QualityChoice,
    RatedChoice,
    TriedChoice,
    UseOfRatings,
)
from core.schema.marks import Marks, TaughtJudges
from core.schema.panel import JudgedTables, Panel
from core.schema.rated import Rated
from core.schema.roles import Roles
from core.schema.scale import NOT_DECLARED, DeclaredScale, declared_scale
from core.schema.scores import Direction, JudgeOutput, MarkingJudges, RatingSet, ScoreTable, WithTexts
from core.schema.settings import SettingField, Settings, fields_of
from core.schema.study import Study, StudyRecord, StudyTexts
from core.sources.judges import (
    JUDGE_NAMES,
    aligned_of,
    answer_sets_of,
    costs_of,
    facts_of,
    judge_of,
    judges_of,
    made_of,
    rated,
    scored_by,
    scores_with_texts,
)
from core.sources.marking import marking_judges, taught_judges
from core.sources.named import (
    NAMES,
    STORED,
    FileSource,
    names_apart,
    parse_source,
    parse_sources,
    short_name,
)
from core.sources.panel import judged_tables, panel_of_source
from core.sources.people import people_of, ratings_and_task
from core.sources.prompts import runs_tried
from core.sources.reading import SourceReader, read_each
from core.sources.scores import Scores, scores_and_ratings, scores_of
from core.sources.sides import holds_correlations, side_of
from core.sources.spans import SPAN_MEANING, SPAN_NAMES, Marked, marks_of, spans_of
from core.sources.studies import look_at, part_of, pilot_if_any, standing_if_any, study_or_bundle, texts_named
from core.sources.texts import Texts, made_texts_of, texts_file, texts_of
from core.store import Store
from core.tables.mapping import parse_columns
from core.tables.reading import shown
from core.tables.roles import Undecided
from core.tables.scales import NoClass

if TYPE_CHECKING:
    from core.results.big_tables.scored import BigTable

_TARGET = "with_"
"""The choice that says whether people or levels state the quality of texts."""
MEANING = "texts: CSV, JSONL or JSON, an mt-metrics-eval folder, the output of run N, or an unblinded study"


def reading_of(
    options: argparse.Namespace,
    *,
    store: Store | None = None,
    ratings: str | None = None,
    ratings_called: str | None = None,
    several: bool = True,
) -> SourceReader:
    """Return how the options say that sources are read.

    store: the open database; None: that of `--db`. ratings: the chosen rating set of a folder. ratings_called: the option that
    chooses it; None: the command has none. several: whether `--columns` is for several files; see check_columns.
    """
    return SourceReader(
        opened=partial(existing_store, options.db) if store is None else lambda: nullcontext(store),
        columns=parse_columns(getattr(options, "columns", None)),
        of_several=several,
        declared=getattr(options, "declared", None) or NOT_DECLARED,
        language_pair=getattr(options, "language_pair", None),
        ratings=ratings,
        ratings_called=ratings_called,
        by_rater=getattr(options, "by_rater", False),
        lower_is_better=getattr(options, "lower_is_better", False),
        flip=tuple(name_list(getattr(options, "flip", None)) or ()),
    )


def check_database(written: str, database: str | None) -> None:
    """Raise InputError if a run or study is named but the database does not exist."""
    if isinstance(parse_source(written), STORED):
        existing_database(database)


def texts_given(
    store: Store,
    written: str,
    options: argparse.Namespace,
    *,
    of_study: Callable[[Store, Study], Texts] | None = None,
) -> Texts:
    """Return the texts as a file with its name, and print notes on a folder. Raises InputError.

    of_study: see `texts_file`.
    """
    source, reading = parse_source(written), reading_of(options, store=store, several=False)
    reading.check_applies(source)
    texts, notes = texts_file(source, reading, of_study=of_study)
    print_notes(notes)
    return texts


HUMAN_NAMES = "CSV, JSONL, MQM TSV, rated texts (JSONL), METAL's JSON, a folder, run:N or study:NAME"


def add_human_options(command: argparse.ArgumentParser) -> None:
    """Register the options for reading human ratings."""
    command.add_argument(
        "--lower-is-better", action="store_true", help="low ratings are better, e.g. counts of errors"
    )
    add_reading_option(command, "flip")
    add_pair_option(command)
    add_database_option(command)


def add_rating_options(command: argparse.ArgumentParser) -> None:
    """Register the options for reading and using ratings, the same for every command."""
    command.add_argument(
        "--human",
        metavar="PATH",
        help="ratings: CSV, JSONL, MQM TSV, a folder, run:N, or study:NAME (unblinded; of a study of pairs, each row is a pair "
        "with its mean vote); with a folder of scores also the name of one of its rating sets",
    )
    for one in fields_of(QualityChoice).values():
        if one.name != _TARGET:
            _add_choice(command, one)
    command.add_argument(
        "--lower-is-better", action="store_true", help="low ratings are better, e.g. counts of errors"
    )
    add_pair_option(command)
    add_columns_option(command, several=True)
    add_database_option(command)


def add_quality_input(command: argparse.ArgumentParser) -> None:
    """Register scores, and what states the quality of their texts; see `open_quality`."""
    command.add_argument(
        "scores",
        nargs="+",
        metavar="FILE",
        help="table of scores (CSV, JSONL, Parquet), JSONL with id, level and result, run:N, or a folder; several are "
        "correlated one by one, and listed by technique, model and size",
    )
    target = fields_of(QualityChoice)[_TARGET]
    command.add_argument(
        target.option, dest="target", choices=target.choices, required=True, help=target.about.help
    )
    add_rating_options(command)


def quality_problems(options: argparse.Namespace) -> list[str]:
    """What of the command line needs ratings."""
    given = {"--human": options.human is not None, "--lower-is-better": options.lower_is_better}
    human = options.target == "human"
    return [
        f"{option}: only with --with human" for option, is_given in given.items() if is_given and not human
    ]


def open_quality(options: argparse.Namespace) -> Quality:
    """Return the scores of each file beside the ratings, or beside their levels. Raises InputError."""
    human = options.target == "human"
    check_columns(options, [*options.scores, options.human])
    choice, opened = table_choice(options), open_each(options.scores, options)
    check_choice(choice, *(one.table for one in opened))
    names = names_apart(map(short_name, parse_sources(options.scores)), options.scores, "file")
    files = [
        OfFile(name, *pair_with_people(scores.table, open_people_beside(scores, options), choice))
        if human
        else OfFile(name, chosen_table(scores.table, choice))
        for name, scores in zip(names, opened, strict=True)
    ]
    same = not human or options.human is not None
    return Quality(tuple(files), use_of_ratings(options, files[0].ratings), choice, same)


def open_each(written: Sequence[str], options: argparse.Namespace) -> list[Scores]:
    """Read scores, and the ratings in folders, from several inputs. Raises InputError with the problems of all of them."""
    return read_each(written, lambda source: scores_and_ratings(source, reading_of(options)))


def open_people_beside(scores: Scores, options: argparse.Namespace, option: str = "--human") -> People:
    """Return the ratings of `options.human` or the votes of its study of pairs, else the ratings that came with the scores.

    option: the name of the option, for messages. Raises InputError, and NotAllowed for a blinded study.
    """
    written: str | None = options.human
    if written is not None and written not in scores.ratings:
        source = parse_source(written)
        missing = isinstance(source, FileSource) and not source.path.exists()
        if not (missing and scores.ratings):
            return people_of(source, replace(reading_of(options), ratings_called=option))
    chosen = ratings_among(scores.ratings, written, option)
    _no_direction(options, "a folder defines the direction of its ratings")
    return chosen


def _no_direction(options: argparse.Namespace, why: str) -> None:
    if options.lower_is_better:
        raise InputError(
            f"--lower-is-better: only for a file of ratings given with --human, and {why}; leave it out."
        )


def open_side(written: str, options: argparse.Namespace, *, human: bool) -> Side:
    """Open one side of a meta-correlation. Raises InputError.

    written: `published:NAME`, a JSON file of correlations (of scores, if --human names their ratings), or scores (a run,
    folder or file). Scores are correlated with ratings on the human side, with the negative level on the synthetic side.
    """
    source, rated = parse_source(written), human and options.human is not None
    if human and holds_correlations(source, rated=rated):
        if rated:
            raise InputError(
                f"--human: only for a table of scores, and HUMAN ({shown(written)}) contains correlations; leave it out."
            )
        _no_direction(options, f"{shown(written)} contains correlations")

    def rated_by(scores: Scores) -> tuple[People, UseOfRatings]:
        if options.human is None and not scores.ratings:
            raise InputError(
                f"The human side {shown(written)} is a table of scores. Name the ratings of its texts with --human."
            )
        people = open_people_beside(scores, options)
        return people, use_of_ratings(options, people if isinstance(people, RatingSet) else None)

    return side_of(source, reading_of(options), human=human, rated=rated, ratings=rated_by)


_SIDE = "a JSON file of correlations, published:NAME, a table of scores, run:N, or a folder"


def add_sides_input(command: argparse.ArgumentParser) -> None:
    """Register both sides of a meta-correlation, and how their scores and ratings are used; see `open_sides`."""
    command.add_argument(
        "human_side",
        metavar="HUMAN",
        help=f"{_SIDE}; with --by dataset also NAME=SIDE,..., one for each data set",
    )
    command.add_argument(
        "synthetic_side", metavar="SYNTHETIC", help=f"{_SIDE}; scores are correlated with the negative level"
    )
    add_rating_options(command)


def files_of_sides(options: argparse.Namespace) -> list[str | Path | None]:
    """Return all that may be an input file of `add_sides_input`."""
    named = [part.partition("=")[2].strip() for part in options.human_side.split(",")]
    return [options.human_side, *filter(None, named), options.synthetic_side, options.human]


def open_sides(options: argparse.Namespace) -> Sides:
    """Return both sides with the chosen texts and metrics. Raises InputError."""
    check_columns(options, files_of_sides(options))
    choice, written = table_choice(options), options.human_side
    synthetic = open_side(options.synthetic_side, options, human=False)
    humans: dict[str, Side] = {}
    if "=" not in written or Path(written).exists():
        humans[""] = open_side(written, options, human=True)
    else:
        for part in written.split(","):
            name, _, side = part.partition("=")
            if not name.strip() or not side.strip() or name.strip() in humans:
                raise InputError(f"HUMAN: {shown(part)!r} is not NAME=SIDE with each data set named once.")
            humans[name.strip()] = open_side(side.strip(), options, human=True)
    each = (synthetic, *humans.values())
    check_choice(choice, *(side.table if isinstance(side, LiveSide) else side for side in each))
    return Sides(
        {name: chosen_side(side, choice) for name, side in humans.items()}, chosen_side(synthetic, choice)
    )


def use_of_ratings(options: argparse.Namespace, ratings: RatingSet | None) -> UseOfRatings:
    """Return how ratings are used. The name of a dimension may contain a comma."""
    named = options.dimension
    known = dimensions_of(ratings) if ratings is not None else ()
    dimension = (named,) if named in known else tuple(name_list(named) or ())
    return UseOfRatings(raters=options.raters, z_normalise=options.z_normalise, dimension=dimension or None)


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


def scores_given(written: Sequence[str], options: argparse.Namespace) -> list[ScoreTable]:
    """Read tables of scores from judges' folders, runs or files. Raises InputError with all problems."""
    return read_each(written, lambda source: scores_of(source, reading_of(options)))


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


def add_study_input(command: argparse.ArgumentParser) -> None:
    """Register an unblinded study; see `open_study`."""
    command.add_argument(
        "study", metavar="STUDY", help="study:NAME or NAME (unblinded), or the path of its bundle"
    )


def open_study(options: argparse.Namespace) -> StudyRecord:
    """Return the record of the study. Raises InputError, and NotAllowed before it is unblinded."""
    return study_or_bundle(options.study, reading_of(options), seen=True)[0]


def add_pilot_option(command: argparse.ArgumentParser) -> None:
    """Register the pilot of a plan; see `open_pilot`."""
    _add_choices(command, CHOICES["pilot"])


def open_pilot(options: argparse.Namespace) -> Basis | None:
    """Return the components of the pilot, if one is named. Raises InputError, and NotAllowed before it is unblinded."""
    return pilot_if_any(options.pilot, reading_of(options))


def add_standing_option(command: argparse.ArgumentParser) -> None:
    """Register the study that a plan is about; see `open_standing`."""
    _add_choices(command, CHOICES["standing"])


def open_standing(options: argparse.Namespace) -> Standing | None:
    """Return how far the study has come, if one is named. Raises InputError and NotFound."""
    return standing_if_any(options.study, reading_of(options))


def add_voted_option(command: argparse.ArgumentParser) -> None:
    """Register the study whose votes stand beside a judge; see `open_voted`."""
    _add_choices(command, CHOICES["voted"])


def open_voted(options: argparse.Namespace) -> StudyRecord | None:
    """Return the record of the study, if one is named. Raises InputError, and NotAllowed before it is unblinded."""
    return None if options.study is None else open_study(options)


def add_study_texts_input(command: argparse.ArgumentParser) -> None:
    """Register a study in any state; see `open_study_texts`."""
    command.add_argument("name", metavar="NAME", help="name of the study")


def open_study_texts(options: argparse.Namespace) -> StudyTexts:
    """Return the texts of the study. Raises NotFound."""
    return texts_named(options.name, reading_of(options))


def add_look_input(command: argparse.ArgumentParser) -> None:
    """Register a running study; see `open_look`."""
    command.add_argument("name", metavar="NAME", help="name of the study")


def open_look(options: argparse.Namespace) -> EarlyLook:
    """Look at the study, which is logged. Raises NotFound, and NotAllowed unless its design declares looks."""
    return look_at(options.name, reading_of(options), by="command")


def add_big_table_input(command: argparse.ArgumentParser) -> None:
    """Register a run over a big table; see `open_big_table`."""
    command.add_argument("run_named", metavar="RUN", help="number of the run, or run:N")


def open_big_table(options: argparse.Namespace) -> "BigTable":
    """Return the table of the run. Raises InputError."""
    # Imported lazily: runs load slowly.
    from core.sources.big_tables import big_table_of_source, run_named

    return big_table_of_source(run_named(options.run_named), reading_of(options))


def add_part_input(command: argparse.ArgumentParser) -> None:
    """Register an unblinded study with its filters; see `open_part`."""
    command.add_argument("study", metavar="NAME|BUNDLE", help="name of a study, or a bundle (.zip)")
    _add_choices(command, CHOICES["part"])


def open_part(options: argparse.Namespace) -> StudyPart:
    """Return the study with what the filters select of it. Raises InputError and NotAllowed as `part_of`."""
    filters = Filters(None, *map(name_list, (options.raters, options.questions, options.languages)))
    levels = None if options.levels is None else partial(levels_named, text=options.levels)
    return part_of(options.study, reading_of(options), filters, levels)


def add_scores_input(command: argparse.ArgumentParser) -> None:
    """Register tables of scores; see `open_tables`."""
    command.add_argument(
        "scores",
        nargs="+",
        metavar="SCORES",
        help=f"scores of metrics or judges: {JUDGE_NAMES}, or a table of scores (CSV, JSONL, Parquet)",
    )


def add_table_options(command: argparse.ArgumentParser) -> None:
    """Register the options for reading several tables."""
    add_columns_option(command, several=True)


def open_tables(options: argparse.Namespace) -> list[ScoreTable]:
    """Return the tables of scores. Raises InputError with the problems of all."""
    if len(set(options.scores)) < len(options.scores):
        check_options(["SCORES: the same one is given twice"])
    return scores_given(options.scores, options)


def add_judged_input(command: argparse.ArgumentParser) -> None:
    """Register tables of scores, and the texts behind them; see `open_judged`."""
    add_scores_input(command)
    command.add_argument(
        "--texts", metavar=NAMES, help="the scored texts, if a table of scores comes without them"
    )


def open_judged(options: argparse.Namespace) -> JudgedTables:
    """Return the tables of scores with what their sources know beside. Raises InputError with the problems of all."""
    tables, reading = open_tables(options), reading_of(options)
    texts = () if options.texts is None else texts_of(parse_source(options.texts), reading).outputs
    return judged_tables(tables, parse_sources(options.scores), reading, texts)


def add_levels_input(command: argparse.ArgumentParser) -> None:
    """Register scores of texts at levels; see `open_levels`."""
    command.add_argument(
        "scores",
        metavar="run:N|DIR|SCORES",
        help="a claims judge's run or folder, or any scores of the texts",
    )
    command.add_argument(
        "texts",
        nargs="?",
        metavar=NAMES,
        help="the texts, if the scores come without them; a generation run, or its folder, also says which facts it changed",
    )
    for one in fields_of(LevelsChoice).values():
        command.add_argument(one.option, metavar=one.about.metavar, help=one.about.help)


def open_levels(options: argparse.Namespace) -> ScoredLevels:
    """Return the scores with what is known about their texts. Raises InputError."""
    reading, scores = reading_of(options), parse_source(options.scores)
    texts = None if options.texts is None else made_texts_of(parse_source(options.texts), reading)
    return scored_levels(scores_of(scores, reading), made_of(scores, reading), texts, options.metric)


def open_judges(options: argparse.Namespace) -> list[JudgeOutput]:
    """Return what the runs of judges recorded. Raises InputError with the problems of all."""
    return judges_of(options.judges, reading_of(options))


def add_marking_input(command: argparse.ArgumentParser) -> None:
    """Register judges that mark errors, and the texts that they read; see `open_marking`."""
    command.add_argument(
        "judges",
        nargs="+",
        metavar=JUDGE_NAMES,
        help="judges that mark errors; the first is also compared with each other one",
    )
    for one in fields_of(MarkingChoice).values():
        command.add_argument(one.option, metavar=one.about.metavar, help=one.about.help)


def open_marking(options: argparse.Namespace) -> MarkingJudges:
    """Return what judges marked, and the rated texts that they read. Raises InputError with the problems of all."""
    return marking_judges(options.judges, options.rated, reading_of(options))


def add_answers_input(command: argparse.ArgumentParser) -> None:
    """Register models' answers to questions; see `open_answers`."""
    command.add_argument(
        "answers", nargs="+", metavar=JUDGE_NAMES, help="results of `judge answers`, one for each model"
    )


def open_answers(options: argparse.Namespace) -> list[AnswerSet]:
    """Return models' answers to questions. Raises InputError with the problems of all."""
    return answer_sets_of(options.answers, reading_of(options))


def add_aligned_input(command: argparse.ArgumentParser) -> None:
    """Register marked errors beside mismatches; see `open_aligned`."""
    command.add_argument("audit", metavar=JUDGE_NAMES, help="results of `judge align`")


def open_aligned(options: argparse.Namespace) -> tuple[MarkedText, ...]:
    """Return marked errors beside mismatches. Raises InputError."""
    return aligned_of(parse_source(options.audit), reading_of(options))


def add_ratings_input(command: argparse.ArgumentParser) -> None:
    """Register ratings of single texts, or votes on pairs; see `open_ratings`."""
    command.add_argument(
        "human",
        metavar="HUMAN",
        help=f"ratings by people: {HUMAN_NAMES} (unblinded; of a study of pairs, the pairs of a question at its levels are "
        "compared by their votes)",
    )
    command.add_argument(
        "--ratings",
        dest="rating_set",
        metavar="NAME",
        help="which rating set to read when the folder has several, e.g. mqm",
    )


def open_ratings(options: argparse.Namespace) -> People:
    """Return the ratings or votes of `add_ratings_input`. Raises InputError, and NotAllowed for a blinded study."""
    reading = reading_of(options, ratings=options.rating_set, ratings_called="--ratings")
    return people_of(parse_source(options.human), reading)


def _add_choice(command: argparse.ArgumentParser, one: SettingField) -> None:
    """Register the option of a choice of how inputs are read."""
    about = one.about
    if one.choices:
        text = f"{about.help} (default {one.usual})"
        command.add_argument(one.option, choices=one.choices, default=one.default, help=text)
    elif one.shape == "switch":
        command.add_argument(one.option, action="store_true", help=about.help)
    elif one.shape == "texts":
        text = f"{about.help}; may be repeated"
        command.add_argument(one.option, action="append", default=[], metavar=about.metavar, help=text)
    else:
        command.add_argument(one.option, metavar=about.metavar, help=about.help)


def add_rated_input(command: argparse.ArgumentParser) -> None:
    """Register ratings, the scores of evaluators, and what raters could choose from; see `open_rated`."""
    command.add_argument("human", metavar="HUMAN", help=f"ratings: {HUMAN_NAMES}")
    command.add_argument(
        "judges",
        nargs="+",
        metavar="JUDGE",
        help=f"{JUDGE_NAMES}, a table of scores (CSV, JSONL, Parquet), or METAL's JSON",
    )
    add_human_options(command)
    _add_choices(command, RatedChoice)


def open_rated(options: argparse.Namespace) -> Rated:
    """Return ratings and scores. Raises InputError, and NotAllowed for a blinded study."""
    # Here --columns says which column of scores belongs to which dimension: no column of a file has another name.
    options = argparse.Namespace(**{**vars(options), "columns": None})
    scale = scale_given(options)
    options.declared = scale if scale.classes or scale.missing else None
    task = None if options.task is None else find_task(options.task)
    reading = reading_of(options, several=False)
    ratings, of_study = ratings_and_task(parse_source(options.human), reading)
    sources = parse_sources(options.judges)
    tables = scores_given(options.judges, options)
    scored = [scored_by(one, table, reading) for one, table in zip(sources, tables, strict=True)]
    twin = None if options.shuffled is None else parse_source(options.shuffled)
    return rated(ratings, task or of_study, scored, scale, twin, reading)


def add_judge_input(command: argparse.ArgumentParser) -> None:
    """Register the results of a judge; see `open_judge`."""
    command.add_argument("judge", metavar=JUDGE_NAMES, help="a judge's run, or the folder that it wrote")


def open_judge(options: argparse.Namespace) -> JudgeOutput:
    """Return what a judge's run recorded. Raises InputError."""
    return judge_of(parse_source(options.judge), reading_of(options))


def add_tried_input(command: argparse.ArgumentParser) -> None:
    """Register runs whose prompts or models are compared; see `open_tried`."""
    command.add_argument("runs", nargs="+", metavar="run:N", help="runs of one kind of judge")
    add_tried_options(command)


def add_tried_options(command: Options) -> None:
    """Register the people beside prompts, and what is compared; see `tried_choice`."""
    command.add_argument(
        "--human",
        metavar="FILE|study:NAME",
        help=f"ratings or votes of people on these texts: {HUMAN_NAMES} (default: those in the runs' own file, else known levels "
        "alone)",
    )
    add_settings(command, TriedChoice)


def tried_choice(options: argparse.Namespace) -> TriedChoice:
    """Return what `add_tried_options` registers. Raises SettingsError."""
    return TriedChoice.checked(settings_given(options, TriedChoice), "Invalid options")


def open_tried(options: argparse.Namespace) -> RunsTried:
    """Return the runs with the people beside them. Raises InputError."""
    return runs_tried(options.runs, options.human, tried_choice(options), reading_of(options))


def add_two_scores_input(command: argparse.ArgumentParser) -> None:
    """Register two judges or metrics; see `open_two_scores`."""
    command.add_argument("first", metavar="A", help=f"{JUDGE_NAMES}, or a table of scores")
    command.add_argument("second", metavar="B", help="the second one")


def open_two_scores(options: argparse.Namespace) -> tuple[WithTexts, WithTexts]:
    """Return the scores of both, with their texts where a run knows them. Raises InputError with all problems."""
    reading = reading_of(options)
    first, second = read_each(
        [options.first, options.second], lambda source: scores_with_texts(source, reading)
    )
    return first, second


def add_costs_input(command: argparse.ArgumentParser) -> None:
    """Register the results of judges; see `open_costs`."""
    command.add_argument("judges", nargs="+", metavar=JUDGE_NAMES, help="results of judges")


def open_costs(options: argparse.Namespace) -> list[JudgeCost]:
    """Return what the runs of judges cost. Raises InputError with the problems of all."""
    return costs_of(options.judges, reading_of(options))


def _add_choices(command: argparse.ArgumentParser, choice: type[Settings]) -> None:
    """Register the options of all choices of how inputs are read."""
    for one in fields_of(choice).values():
        _add_choice(command, one)


def _add_reading_options(command: argparse.ArgumentParser, choice: type[Settings]) -> None:
    """Register what says how the inputs are read."""
    _add_choices(command, choice)
    add_columns_option(command, several=True)
    add_reading_option(command, "flip")
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
    check_columns(options, [options.file, *options.scores])
    choice = panel_choice(
        options, system_column=system_column or options.system_column, item=item or options.item
    )
    try:
        found = panel_of_source(
            parse_source(options.file),
            parse_sources(options.scores),
            choice,
            reading_of(options),
            find=find,
            people_alone=people_alone,
        )
    except Undecided as problem:
        advice = _options_for(problem.roles)
        problems = [*problem.problems, *([advice] if advice else [])]
        raise Undecided(problem.what, problems, problem.roles) from problem
    except Repeated as problem:
        advice = "write --system-column COLUMN, or --item COLUMN if each row is a text of its own"
        raise option_error(InputError(problem.what, [*problem.problems, advice]), ("repeated",)) from problem
    except NoClass as problem:
        advice = f"write --missing {shlex.quote(','.join(problem.words))}, or --classes with all classes from worst to best"
        raise InputError(problem.what, [*problem.problems, advice]) from problem
    except InputError as problem:
        raise option_error(problem, (*fields_of(PanelChoice), "columns")) from problem
    if found.roles is None or options.columns is None:
        return found
    # Show the names of the file, not those that --columns put in their place.
    return replace(found, roles=found.roles.renamed(parse_columns(options.columns)))


def _options_for(roles: Roles) -> str:
    """The options to write where columns do not tell people from judges."""
    free = [name for name in roles.candidates if name not in (*roles.human, *roles.judges)]
    dimensions = [problem for problem in roles.problems if problem.startswith("dimension")]
    if roles.judges_alone:
        return f"write --judge {shlex.quote(','.join(free) or 'C')}, with the columns that are meant"
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


def panel_choice(options: argparse.Namespace, **others: Any) -> PanelChoice:
    """Return who is who and the scale, as the options say. others: fields in place of the options'."""
    chosen = {name: getattr(options, name, None) for name in PanelChoice.model_fields} | others
    listed = {name: chosen[name] for name in ("human", "judge", "classes", "missing")}
    names = {
        name: tuple(name_list(value) or ()) if isinstance(value, str) else value
        for name, value in listed.items()
    }
    return PanelChoice(**chosen | names)


def scale_given(options: argparse.Namespace) -> DeclaredScale:
    """Return what `--scale`, `--classes` and `--missing` say. Raises InputError."""
    return declared_scale(options.scale, name_list(options.classes), name_list(options.missing))


def facts_given(options: argparse.Namespace, panel: Panel) -> dict[str, JudgeFacts]:
    """Judge -> consistency, price, time and model, from columns of the panel and from the runs among its inputs."""
    sources = parse_sources([options.file, *options.scores])
    return facts_of_tables(panel, facts_of(sources, reading_of(options), options.dimension))


def add_marks_input(command: argparse.ArgumentParser) -> None:
    """Register marked errors of people and judges; see `open_marks`."""
    _add_marks(command, f"errors marked by people: {SPAN_NAMES} ({SPAN_MEANING})", "+")


def add_marks_by_rater_input(command: argparse.ArgumentParser) -> None:
    """Register marked errors of raters, and perhaps of judges; see `open_marks_by_rater`."""
    _add_marks(command, f"ratings that name raters: {SPAN_NAMES} ({SPAN_MEANING})", "*")


def _add_marks(command: argparse.ArgumentParser, gold: str, several: str) -> None:
    command.add_argument("gold", metavar="GOLD", help=gold)
    alone = "" if several == "+" else " (default: the raters with each other)"
    command.add_argument(
        "predicted",
        metavar="PRED",
        nargs=several,
        help=f"errors marked by a judge; several are compared side by side{alone}",
    )
    _add_rating_set(command)


def add_taught_input(command: argparse.ArgumentParser) -> None:
    """Register marked errors of people, and runs of judges with examples; see `open_taught`."""
    command.add_argument(
        "gold", metavar="GOLD", help=f"errors marked by people: {SPAN_NAMES} ({SPAN_MEANING})"
    )
    command.add_argument(
        "judges",
        nargs="+",
        metavar=JUDGE_NAMES,
        help="runs of one judge with increasing numbers of examples",
    )
    _add_rating_set(command)


def _add_rating_set(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--ratings",
        dest="rating_set",
        metavar="NAME",
        help="which rating set to read when the folder has several, e.g. mqm or mqm.raters",
    )


def open_marks(options: argparse.Namespace) -> Marks:
    """Return the marked errors of `add_marks_input`. Raises InputError."""
    return _marks_of(options, by_rater=False)


def open_taught(options: argparse.Namespace) -> TaughtJudges:
    """Return the marked errors and the runs of `add_taught_input`. Raises InputError."""
    reading = reading_of(options, ratings=options.rating_set, ratings_called="--ratings")
    gold = spans_of(parse_source(options.gold), reading)
    return taught_judges(gold, options.judges, reading)


def open_marks_by_rater(options: argparse.Namespace) -> Marks:
    """Return the marked errors of `add_marks_by_rater_input`; a folder gives its files of single raters. Raises InputError."""
    return _marks_of(options, by_rater=True)


def _marks_of(options: argparse.Namespace, *, by_rater: bool) -> Marks:
    reading = reading_of(options, ratings=options.rating_set, ratings_called="--ratings")
    reading = replace(reading, by_rater=by_rater)
    gold, *judges = (spans_of(one, reading) for one in parse_sources([options.gold, *options.predicted]))
    return marks_of(gold, judges, options.predicted, by_rater=by_rater)


N_RESAMPLES = 2_000
"""Default number of resamples for intervals of F1."""


def single(side: Marked, why: str = "it cannot be GOLD") -> RatingSet:
    """Return the marks of a side that must not have repeats. Raises InputError with the reason if it has."""
    if len(side.draws) > 1:
        raise InputError(
            f"{shown(side.name)} has {len(side.draws)} repeats, so {why}. Run the judge without --repeats."
        )
    return side.draws[0]
