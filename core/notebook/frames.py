"""What users of `import assay` pass as data: frames and names of sources, as the house's types and back."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from core.errors import InputError
from core.formats.correlations import read_correlations
from core.formats.panel.beside import columns_in, numbers_beside, read_texts_of, texts_beside
from core.formats.panel.judge_files import judge_scores
from core.formats.ratings import write_ratings_jsonl
from core.formats.scorable import write_outputs
from core.formats.scores import LABELS, Shape, write_scores_jsonl
from core.formats.tasks import find_task
from core.joining.choices import TableChoice, chosen_table
from core.joining.choices import check_choice as check_table_choice
from core.joining.quality import OfFile, Quality
from core.joining.tables import merge_tables
from core.judges.alignment import MarkedText
from core.judges.answers import AnswerSet
from core.notebook.result import Result
from core.results.check.dossier import Dossier, Texts
from core.results.check.escalation import first_labels
from core.results.check.facts import facts_of_tables
from core.results.check.next_labels import add_labels, check_same_texts
from core.results.check.sureness import (
    COLUMN,
    JUDGES,
    Sureness,
    SurePanel,
    Way,
    confidence_column,
    sureness,
    ways_had,
)
from core.results.check.verdict import JudgeFacts
from core.results.correlations.paired import People, pair_with_people
from core.results.judges.costs import JudgeCost
from core.results.judges.made_levels import Made, ScoredLevels, scored_levels
from core.results.judges.prompts import RunsTried
from core.results.meta_correlation import LiveSide, Side, Sides, chosen_side
from core.results.study.counted import Filters, StudyPart
from core.results.study.early import EarlyLook
from core.results.study.planning import Basis, Standing
from core.runs.judging.levels import made_of_outputs
from core.schema.analysis import (
    REFUSE,
    PanelChoice,
    RatersUsed,
    RepeatedRatings,
    TriedChoice,
    UseOfRatings,
)
from core.schema.marks import Marks, TaughtJudges
from core.schema.panel import JudgedTables, Panel, TextBeside
from core.schema.rated import Rated, Scored
from core.schema.scale import NOT_DECLARED, DeclaredScale, declared_scale
from core.schema.scores import (
    Direction,
    JudgeOutput,
    MarkingJudges,
    OutputSet,
    RatingSet,
    ScoreTable,
    WithTexts,
)
from core.schema.settings import SettingsError, parameter_word
from core.schema.study import RatingTask, StudyRecord, StudyTexts
from core.sources.judges import (
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
from core.sources.named import FileSource, parse_source, short_name
from core.sources.named import Source as StoredSource
from core.sources.panel import Judge, judged_tables, panel_of_source, texts_beside_panel
from core.sources.people import people_of as source_people
from core.sources.people import ratings_and_task
from core.sources.people import ratings_of as source_ratings
from core.sources.prompts import runs_tried
from core.sources.reading import SourceReader
from core.sources.scores import Scores
from core.sources.scores import scores_of as source_scores
from core.sources.sides import side_of
from core.sources.spans import Marked, marks_of, spans_of
from core.sources.studies import look_at, part_of, pilot_if_any, standing_if_any, study_or_bundle, texts_named
from core.sources.texts import made_texts_of
from core.sources.texts import texts_of as source_texts
from core.store import Store, database_path, open_store
from core.tables.files import read_file
from core.tables.mapping import checked_columns
from core.tables.reading import Places, places_named, shown
from core.tables.roles import Undecided

if TYPE_CHECKING:
    import pandas as pd

    from core.results.big_tables.scored import BigTable


Source: TypeAlias = "pd.DataFrame | str | os.PathLike[str]"
"""A data frame, a path, `run:3` or `study:NAME`."""
Kind = Literal["texts", "scores", "ratings"]
Names = Sequence[str] | str
"""Several names, or one."""
LeaveOut = Mapping[str, Names]
"""Column -> values of the texts to leave out."""
Directions = Mapping[str, Direction]
"""Metric -> whether lower or higher scores are better."""
Sources: TypeAlias = "Source | Sequence[Source] | Mapping[str, Source]"
LEVEL = "level"
Target: TypeAlias = "Source | Literal['level']"
"""What scores are correlated with: the level, or ratings."""
Contents: TypeAlias = OutputSet | ScoreTable | RatingSet
FRAME = "The data frame"
"""What messages call a data frame; it begins them."""


def read(
    source: Source,
    kind: Kind = "texts",
    *,
    columns: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    ratings: str | None = None,
    lower_is_better: bool = False,
    flip: Names = (),
    shape: Shape = "long",
    db: str | os.PathLike[str] | None = None,
) -> pd.DataFrame:
    """Read texts, scores or ratings from anything that the commands read.

    Parameters
    ----------
    source
        A file (CSV, JSONL, JSON, Parquet, MQM TSV, ``.seg.score``, METAL's JSON ...), an mt-metrics-eval folder,
        ``"run:3"``, ``"study:NAME"`` (unblinded), or a data frame whose columns have other names.
    kind
        ``"texts"``, ``"scores"`` (of metrics or judges) or ``"ratings"`` (by people).
    columns
        Columns with other names than expected, as ``{"text": "output"}``: Assay's name, then the file's.
    language_pair
        Which pair to read when a folder has several, e.g. ``"en-de"``.
    ratings
        Which rating set to read when a folder has several, e.g. ``"mqm"``.
    lower_is_better
        For ratings in a table: low ratings are better. Their signs are reversed.
    flip
        For METAL's JSON: dimensions in which 1 means bad.
    shape
        For scores: ``"long"`` has a row for each text and metric, ``"wide"`` a column for each metric, without reasons
        for undefined scores.
    db
        Database of ``run:`` and ``study:``. Default: ``$ASSAY_DB``, else the app's.

    Returns
    -------
    DataFrame
        Texts: ``item_id``, ``system``, ``level``, ``language``, labels, ``text``, ``reference``, ``source``.
        Scores (long): ``item``, ``system``, ``level``, ``language``, labels, ``metric``, ``score``, ``reason``,
        ``family``, ``direction``, ``signature``.
        Ratings: ``item_id``, ``system``, ``level``, ``rater``, ``score`` (higher is better), ``dimension``, ``language``.
        ``attrs`` has ``notes``, ``left_out`` (reason -> number of rows) and ``name``.

    Raises
    ------
    InputError
        With every problem of the file and its place.

    Notes
    -----
    Misleads: rows without a text or a rating are left out. ``attrs["left_out"]`` counts them. pandas drops ``attrs``
    when frames are merged.

    Examples
    --------
    >>> import assay
    >>> texts = assay.read("data/demo/answers.csv")
    >>> len(texts), sorted(texts["level"].unique())
    (140, ['A0', 'A1', 'A2', 'A3', 'A4'])
    """
    check_choice("kind", kind, get_args(Kind))
    check_choice("shape", shape, get_args(Shape))
    if kind != "ratings" and (lower_is_better or flip or ratings):
        check_parameters(["lower_is_better, flip, ratings: only for kind='ratings'"])
    reading = replace(
        reading_of(db),
        columns=_checked(columns),
        language_pair=language_pair,
        ratings=ratings,
        ratings_called="ratings",
        lower_is_better=lower_is_better,
        flip=tuple(names_of(flip)),
    )
    return frame_from(contents(source, kind, reading), shape)


def reading_of(
    db: str | os.PathLike[str] | None = None, declared: DeclaredScale = NOT_DECLARED
) -> SourceReader:
    """Return how sources are read. db: the database; None: `$ASSAY_DB`, else the app's. declared: see `SourceReader`."""
    return SourceReader(opened=lambda: existing_store(db), declared=declared)


def named_source(source: Source) -> StoredSource:
    """Return the source that a path or name means. Raises InputError."""
    return parse_source(os.fspath(source))  # type: ignore[arg-type]  # a frame was asked for before


@contextmanager
def naming_parameters() -> Iterator[None]:
    """While this is open, problems with what a user chose name parameters of functions."""
    try:
        yield
    except SettingsError as problem:
        raise problem.in_words(parameter_word) from problem


def contents(source: Source, kind: Kind, reading: SourceReader | None = None) -> Any:
    """Read a source as the house's type. reading: None for the usual one. Raises InputError, and NotAllowed for a blinded study."""
    reading = reading or reading_of()
    with naming_parameters():
        if (frame := frame_in(source)) is not None:
            reading.check_applies(FileSource(FRAME, b""))
            return _read_frame(frame, kind, reading)
        found = named_source(source)
        reading.check_applies(found)
        return _READERS[kind](found, reading)


_READERS: Mapping[Kind, Callable[[StoredSource, SourceReader], Contents]] = {
    "texts": source_texts,
    "scores": source_scores,
    "ratings": source_ratings,
}


def texts_of(source: Source) -> OutputSet:
    """Return the texts of a source. Raises InputError."""
    found: OutputSet = contents(source, "texts")
    return found


def scores_of(source: Source, declared: DeclaredScale = NOT_DECLARED) -> ScoreTable:
    """Return the scores of a source. Raises InputError."""
    found: ScoreTable = contents(source, "scores", reading_of(declared=declared))
    return found


def ratings_of(source: Source, declared: DeclaredScale = NOT_DECLARED) -> RatingSet:
    """Return the ratings of a source. Raises InputError."""
    found: RatingSet = contents(source, "ratings", reading_of(declared=declared))
    return found


def people_of(source: Source) -> People:
    """Return the ratings of a source, or the record of a study of pairs. Raises InputError, and NotAllowed for a blinded study."""
    if frame_in(source) is not None:
        return ratings_of(source)
    with naming_parameters():
        return source_people(named_source(source), reading_of())


def study_from(study: Source) -> StudyRecord:
    """Return the record of a study by name or of a bundle. Raises InputError, and NotAllowed before it is unblinded."""
    check_type("study", study, PATH, '"study:NAME", or the path of a bundle')
    return study_or_bundle(os.fspath(study), reading_of(), seen=True)[0]  # type: ignore[arg-type]  # checked above


def voted_from(study: str | os.PathLike[str] | None, db: str | os.PathLike[str] | None) -> StudyRecord | None:
    """Return the record of a study, if one is named. Raises InputError, and NotAllowed before it is unblinded."""
    check_type("study", study, PATH, "the name of a study or the path of a bundle", optional=True)
    return None if study is None else study_or_bundle(os.fspath(study), reading_of(db), seen=True)[0]


def pilot_from(pilot: str | os.PathLike[str] | None, db: str | os.PathLike[str] | None) -> Basis | None:
    """Return the components of a pilot. Raises InputError, and NotAllowed before it is unblinded."""
    check_type("pilot", pilot, PATH, "study:NAME or the path of a CSV file", optional=True)
    return pilot_if_any(None if pilot is None else os.fspath(pilot), reading_of(db))


def standing_from(study: str | None, db: str | os.PathLike[str] | None) -> Standing | None:
    """Return how far a study of pairs has come. Raises InputError and NotFound."""
    check_type("study", study, str, "the name of a study", optional=True)
    return standing_if_any(study, reading_of(db))


def study_texts_from(study: str, db: str | os.PathLike[str] | None) -> StudyTexts:
    """Return the texts of a study, whatever its state. Raises InputError and NotFound."""
    check_type("study", study, str, "the name of a study")
    return texts_named(study, reading_of(db))


def look_from(study: str, db: str | os.PathLike[str] | None) -> EarlyLook:
    """Look at a running study, which is logged. Raises InputError, NotFound, and NotAllowed unless its design declares looks."""
    check_type("study", study, str, "the name of a study")
    return look_at(study, reading_of(db), by="notebook")


def big_table_from(run: str | int, db: str | os.PathLike[str] | None = None) -> BigTable:
    """Return the table of a run. db: None for the usual database. Raises InputError."""
    # Imported lazily: runs load slowly.
    from core.sources.big_tables import big_table_of_source, run_named

    check_type("run", run, (str, int), "a run, such as 3 or 'run:3'")
    return big_table_of_source(run_named(str(run)), SourceReader(opened=partial(existing_store, db)))


def part_from(
    study: str | os.PathLike[str], db: str | os.PathLike[str] | None, **names: Names | None
) -> StudyPart:
    """Return a study with what filters select of it. Raises InputError, NotFound, and NotAllowed before it is unblinded."""
    check_type("study", study, PATH, "the name of a study or the path of a bundle; studies() lists the names")
    filters = Filters(**{name: None if one is None else names_of(one) for name, one in names.items()})
    return part_of(os.fspath(study), reading_of(db), filters)


def tables_from(scores: Source | Sequence[Source]) -> list[ScoreTable]:
    """Return the scores of each source. Raises InputError."""
    return [scores_of(one) for one in each_of(scores)]


def marks_from(gold: Source, predicted: Source | Sequence[Source] = (), *, by_rater: bool = False) -> Marks:
    """Return the marked errors of people and judges. by_rater: see `marks_of`. Raises InputError."""
    judges = list(each_of(predicted))
    names = [
        str(frame.attrs.get("name", f"judge {place}"))
        if (frame := frame_in(one)) is not None
        else os.fspath(one)  # type: ignore[arg-type]  # no frame
        for place, one in enumerate(judges, start=1)
    ]
    with naming_parameters():
        sides = [
            _marked(one, name, by_rater=by_rater)
            for one, name in zip((gold, *judges), ("people", *names), strict=True)
        ]
        return marks_of(sides[0], sides[1:], names, by_rater=by_rater)


def _marked(source: Source, name: str, *, by_rater: bool) -> Marked:
    frame, reading = frame_in(source), replace(reading_of(), by_rater=by_rater)
    if frame is None:
        return spans_of(named_source(source), reading)
    with rows_of(frame):
        found = spans_of(FileSource(FRAME, jsonl_of(frame)), reading)
    draws = tuple(replace(one, file_name=name) for one in found.draws)
    return replace(found, name=name, draws=draws)


def table_from(
    scores: Source | Sequence[Source], leave_out: LeaveOut | None, direction: Directions | None
) -> ScoreTable:
    """Return the chosen texts and metrics of the scores; several sources are merged. Raises InputError."""
    table, choice = merge_tables(tables_from(scores)), choice_of(leave_out, direction)
    check_table_choice(choice, table)
    return chosen_table(table, choice)


def quality_from(
    scores: Sources,
    with_: Target,
    dimension: Names | None,
    raters: RatersUsed,
    z_normalise: bool,
    leave_out: LeaveOut | None,
    direction: Directions | None,
) -> Quality:
    """Return the chosen scores of each source beside the ratings, or beside their levels. Raises InputError."""
    choice, level = choice_of(leave_out, direction), isinstance(with_, str) and with_ == LEVEL
    if isinstance(with_, str | None) and not level and not _is_there(with_):
        check_parameters(
            [
                f'with_: {with_!r} is neither "{LEVEL}" nor a file. For ratings by people, pass a data frame, the path '
                'of a file or folder, or "study:NAME"'
            ]
        )
    people = None if level else people_of(with_)
    use = ratings_used(people, dimension, raters, z_normalise)
    files = []
    for name, one in _each_named(scores).items():
        table = scores_of(one)
        check_table_choice(choice, table)
        if people is None:
            files.append(OfFile(name, chosen_table(table, choice)))
        else:
            files.append(OfFile(name, *pair_with_people(table, people, choice)))
    return Quality(tuple(files), use, choice)


def ratings_used(
    people: People | None, dimension: Names | None, raters: RatersUsed, z_normalise: bool
) -> UseOfRatings:
    """Return how ratings are used. Raises InputError."""
    check_choice("raters", raters, get_args(RatersUsed))
    if people is None and (dimension is not None or raters != "averaged" or z_normalise):
        check_parameters(["dimension, raters, z_normalise: only with human ratings"])
    use = {"raters": raters, "z_normalise": z_normalise, "dimension": tuple(names_of(dimension))}
    with naming_parameters():
        return UseOfRatings.checked(use, "Invalid parameters")


def _is_there(given: str | None) -> bool:
    """Return whether a text may be a source: one of the database or of a paper, or a path that exists."""
    if given is None:
        return False
    source = parse_source(given)
    return not isinstance(source, FileSource) or source.path.exists()


def _each_named(scores: Sources) -> dict[str, Source]:
    """Return the sources by name; a file is named by its name, a frame by its number. What is no list is one source."""
    if isinstance(scores, Mapping):
        return {str(name): one for name, one in scores.items()}
    if not isinstance(scores, list | tuple) or any(
        not isinstance(one, str | os.PathLike) and not hasattr(one, "attrs") for one in scores
    ):
        return {"": scores}  # type: ignore[dict-item]  # what is neither is refused where it is read
    called = [
        str(getattr(one, "attrs", {}).get("name") or f"scores {number}")
        if not isinstance(one, str | os.PathLike)
        else short_name(named_source(one))
        for number, one in enumerate(scores, start=1)
    ]
    apart = [
        name if called.count(name) == 1 else f"{name} ({number})"
        for number, name in enumerate(called, start=1)
    ]
    return dict(zip(apart, scores, strict=True))


def choice_of(leave_out: LeaveOut | None, direction: Directions | None) -> TableChoice:
    """Return which texts and metrics count. Raises InputError for what is no such choice."""
    wanted = 'a dictionary from columns to values, such as {"system": ["refA"]}'
    check_type("leave_out", leave_out, Mapping, wanted, optional=True)
    wanted = 'a dictionary from metrics to "higher" or "lower", such as {"my-distance": "lower"}'
    check_type("direction", direction, Mapping, wanted, optional=True)
    for metric, better in (direction or {}).items():
        check_choice(f"direction of {metric}", better, get_args(Direction))
    gone = [(column, value) for column, values in (leave_out or {}).items() for value in names_of(values)]
    return TableChoice(tuple(dict.fromkeys(gone)), tuple((direction or {}).items()))


def sides_from(
    human: Result | Source,
    synthetic: Result | Source,
    ratings: Source | None,
    *,
    dimension: Names | None,
    raters: RatersUsed,
    z_normalise: bool,
    leave_out: LeaveOut | None,
    direction: Directions | None,
) -> Sides:
    """Return both sides of a meta-correlation with the chosen texts and metrics. Raises InputError."""
    people = None if ratings is None else people_of(ratings)
    used = ratings_used(people, dimension, raters, z_normalise)
    choice = choice_of(leave_out, direction)
    sides = [_side(human, people, used, human=True), _side(synthetic, None, used, human=False)]
    check_table_choice(choice, *(side.table if isinstance(side, LiveSide) else side for side in sides))
    first, second = (chosen_side(side, choice) for side in sides)
    return Sides({"": first}, second)


def _side(given: Result | Source, people: People | None, used: UseOfRatings, *, human: bool) -> Side:
    if isinstance(given, Result):
        if given.tables[0].name != "correlations":
            raise InputError(
                f"A side is a result of correlate. This one has the table {given.tables[0].name}."
            )
        return read_correlations(json.dumps(given.json).encode(), "correlations", synthetic=not human)

    def rated(scores: Scores) -> tuple[People, UseOfRatings]:
        if people is None:
            name = shown(scores.table.file_name or "scores")
            raise InputError(
                f"The human side {name} is a table of scores. Give the ratings of its texts with ratings=."
            )
        return people, used

    if frame_in(given) is None:
        with naming_parameters():
            return side_of(
                named_source(given), reading_of(), human=human, rated=people is not None, ratings=rated
            )
    table = scores_of(given)
    name = table.file_name or "scores"
    return LiveSide(name, table, *rated(Scores(table))) if human else LiveSide(name, table)


def rated_from(
    ratings: Source,
    scores: Source | Sequence[Source],
    *,
    task: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    shuffled: Source | None = None,
) -> Rated:
    """Return ratings and the scores of evaluators, as the command reads them. Raises InputError."""
    check_type("task", task, PATH, "the name of a task or the path of a YAML file", optional=True)
    declared = scale_from(scale, classes, missing)
    people, of_study = _ratings_and_task(ratings, declared)
    own_task = of_study if task is None else find_task(os.fspath(task))
    scored = [_scored(one, declared) for one in each_of(scores)]
    with naming_parameters():
        twin = None if shuffled is None else named_source(shuffled)
        return rated(people, own_task, scored, declared, twin, reading_of())


def _ratings_and_task(source: Source, declared: DeclaredScale) -> tuple[RatingSet, RatingTask | None]:
    if frame_in(source) is not None:
        return ratings_of(source, declared), None
    with naming_parameters():
        return ratings_and_task(named_source(source), reading_of(declared=declared))


def _scored(source: Source, declared: DeclaredScale) -> Scored:
    table = scores_of(source, declared)
    return (
        Scored(table)
        if frame_in(source) is not None
        else scored_by(named_source(source), table, reading_of())
    )


def judged_from(
    scores: Source | Sequence[Source], texts: Source | None = None, db: str | os.PathLike[str] | None = None
) -> JudgedTables:
    """Return the scores of each source with what it knows beside. texts: the texts behind them. Raises InputError."""
    reading, sources = reading_of(db), [*each_of(scores)]
    return judged_tables(
        [contents(one, "scores", reading) for one in sources],
        [named_source(one) if frame_in(one) is None else None for one in sources],
        reading,
        () if texts is None else contents(texts, "texts", reading).outputs,
    )


def sure_from(
    ratings: Source,
    scores: Sequence[Source] = (),
    labels: Sequence[Source] = (),
    *,
    confidence: str | None = None,
    cut: float | None = None,
    **read_as: Any,
) -> SurePanel:
    """Return raters beside a judge whose confidence is known.

    labels: labels that came back. confidence, cut: see `SureChoice`. read_as: see `panel_from`. Raises InputError, also for labels of
    other texts.
    """
    check_type("confidence", confidence, str, "the name of a column", optional=True)
    check_type("cut", cut, Real, "a number", optional=True)
    panel = before = panel_from(ratings, scores, find=True, **read_as)
    panel = add_source_labels(panel, ratings, labels, **read_as)
    panel, new = first_labels(before, panel)
    sure = _sureness(panel, [ratings, *scores], confidence, cut)
    return SurePanel(panel, sure, new if labels else None)


def _sureness(panel: Panel, sources: Sequence[Source], confidence: str | None, cut: float | None) -> Sureness:
    has: dict[Way, Callable[[], bool]] = {JUDGES: lambda: len(panel.judges) > 1, COLUMN: lambda: True}
    way = confidence or next(ways_had(has))
    if cut is not None or way == JUDGES:
        return sureness(panel, way, cut=cut)
    columns = [
        (name, one, table)
        for one in sources
        if (table := table_in(one)) is not None
        for name in columns_in(*table)
    ]
    named = confidence or confidence_column([name for name, _, _ in columns]) or ""
    at = next(
        ((one, table) for name, one, table in columns if name.strip().casefold() == named.strip().casefold()),
        None,
    )
    if at is None:
        what = (
            f"no column {shown(named)}"
            if named
            else "none was found; name a column, several judges, or a cut"
        )
        raise InputError("No confidence", [f"confidence: {what}"])
    source, table = at
    with naming_rows(source):
        return sureness(panel, named, numbers=lambda column: numbers_beside(*table, panel, column))


def levels_from(
    scores: Source,
    texts: Source | None = None,
    db: str | os.PathLike[str] | None = None,
    *,
    metric: str | None = None,
) -> ScoredLevels:
    """Return scores of texts at levels with what is known about the texts. Raises InputError."""
    check_type("metric", metric, str, "the name of a column of scores", optional=True)
    reading = reading_of(db)
    further = None
    if texts is not None:
        further = (
            made_of_outputs(contents(texts, "texts").outputs)
            if frame_in(texts) is not None
            else made_texts_of(named_source(texts), reading)
        )
    made = Made() if frame_in(scores) is not None else made_of(named_source(scores), reading)
    return scored_levels(contents(scores, "scores", reading), made, further, metric)


def panel_from(
    source: Source,
    scores: Sequence[Source] = (),
    *,
    human: Names | None = None,
    judge: Names | None = None,
    dimension: str | None = None,
    scale: str | None = None,
    classes: Names | None = None,
    missing: Names | None = None,
    system_column: str | None = None,
    item: str | None = None,
    repeated: RepeatedRatings = REFUSE,
    find: bool = False,
    people_alone: bool = False,
) -> Panel:
    """Return raters and judges side by side, as the commands read them: a table, wide or long, or ratings and scores.

    scale, classes, missing: what the user declares; see `declared_scale`. find: find the columns, also of judges' own tables,
    and refuse what is ambiguous; see `read_panel`. people_alone: read the raters without any judge, with `find`. Raises InputError,
    and NotAllowed for a blinded study.
    """
    check_type("dimension", dimension, str, "the name of a dimension", optional=True)
    scale_from(scale, classes, missing)  # reports every problem by the names of the parameters
    find = find or people_alone
    names = {"human": human, "judge": judge, "classes": classes, "missing": missing}
    choice = PanelChoice(
        **{name: None if one is None else tuple(names_of(one)) for name, one in names.items()},
        dimension=dimension,
        scale=scale,
        system_column=system_column,
        item=item,
        repeated=repeated,
    )
    reading, frame = reading_of(), frame_in(source)
    judges: list[Judge] = [
        # The places in a frame have names of its own, so it is read by itself; so is what stands beside a frame.
        _judge_scores(one, choice, find=find)
        if frame is not None or frame_in(one) is not None
        else named_source(one)
        for one in scores
    ]
    first = named_source(source) if frame is None else FileSource(FRAME, jsonl_of(frame))
    with naming_parameters(), naming_rows(source):
        return panel_of_source(first, judges, choice, reading, find=find, people_alone=people_alone)


def dossier_from(
    source: Source, scores: Sequence[Source] = (), labels: Sequence[Source] = (), **read_as: Any
) -> Dossier:
    """Return raters and judges side by side with all that is known about them, as `check` reads them.

    labels: further labels of the same texts. read_as: see `panel_from`. Raises InputError, and NotAllowed for a blinded study.
    """
    judge, dimension = read_as.pop("judge"), read_as["dimension"]
    named = judge is not None or bool(scores) or bool(labels)
    candidates: tuple[str, ...] = ()
    found: Panel | InputError
    try:
        opened = panel_from(source, scores, judge=judge, find=True, **read_as)
        lacks = not opened.judges and len(opened.raters) > 1
        found = add_source_labels(opened, source, labels, **read_as)
    except Undecided as problem:
        if named or not problem.roles.lacks_judge_alone:
            raise
        lacks, found, candidates = True, problem, problem.roles.candidates

    def texts(panel: Panel) -> Texts:
        table = table_in(source)
        if table is None:
            return Texts([None] * len(panel.rows))
        try:
            with naming_rows(source):
                return Texts(read_texts_of(*table, panel))
        except InputError as problem:
            return Texts([None] * len(panel.rows), problem)

    return Dossier(
        found,
        lambda panel: facts_from([source, *scores], panel, dimension),
        lambda panel: sources_beside(source, scores, panel),
        texts,
        people=(lambda: panel_from(source, people_alone=True, **read_as)) if lacks and not named else None,
        may_be_judges=candidates,
    )


def add_source_labels(panel: Panel, source: Source, labels: Sequence[Source], **read_as: Any) -> Panel:
    """Return the panel with further labels of its texts. Raises InputError, also for labels of other texts."""
    if not labels:
        return panel
    scale: dict[str, Any] = {name: read_as.get(name) for name in ("scale", "classes", "missing")}
    for one in labels:
        given = panel_from(one, **scale)
        own, back = table_in(source), table_in(one)
        if own is not None and back is not None:
            check_same_texts(
                panel, given, texts_beside(panel, panel, *own), texts_beside(panel, given, *back)
            )
        panel = add_labels(panel, given)
    return panel


def earlier_from(against: str | None) -> dict[str, Any] | None:
    """Return the JSON of an earlier result; None without one. Raises InputError."""
    from core.analyses.check.drift import read_earlier

    if against is None:
        return None
    path = Path(against)
    return read_earlier(read_file(path), path.name)


def scale_from(scale: str | None, classes: Names | None, missing: Names | None) -> DeclaredScale:
    """Return what a user declares about the scale of ratings. Raises InputError."""
    check_type("scale", scale, str, "a kind such as ordered, or a range such as 1-5", optional=True)
    names = (None if one is None else [str(name) for name in names_of(one)] for one in (classes, missing))
    return declared_scale(scale, *names)


def _judge_scores(source: Source, choice: PanelChoice, *, find: bool) -> ScoreTable:
    """Return the scores of a judge's own table, in which the columns are found, or of any other source."""
    table = table_in(source) if find else None
    if table is None:
        return scores_of(source)
    with naming_rows(source):
        return judge_scores(*table, choice.judge, choice.human)


def judge_output_from(judge: Source, db: str | os.PathLike[str] | None) -> JudgeOutput:
    """Return all that a judge's run recorded. Raises InputError."""
    return judge_of(parse_source(_a_run("judge", judge)), reading_of(db))


def judge_outputs_from(judges: Source | Sequence[Source]) -> list[JudgeOutput]:
    """Return all that judges' runs recorded. Raises InputError with the problems of all."""
    return judges_of([_a_run("judges", one) for one in each_of(judges)], reading_of())


def answer_sets_from(answers: Source | Sequence[Source]) -> list[AnswerSet]:
    """Return models' answers to questions. Raises InputError with the problems of all."""
    return answer_sets_of([_a_run("answers", one) for one in each_of(answers)], reading_of())


def aligned_from(audit: Source, db: str | os.PathLike[str] | None) -> tuple[MarkedText, ...]:
    """Return marked errors beside mismatches. Raises InputError."""
    return aligned_of(parse_source(_a_run("audit", audit)), reading_of(db))


def marking_from(judges: Source | Sequence[Source], rated: str | None) -> MarkingJudges:
    """Return what judges marked, and the rated texts that they read. Raises InputError with the problems of all."""
    return marking_judges([_a_run("judges", one) for one in each_of(judges)], rated, reading_of())


def taught_from(gold: Source, judges: Source | Sequence[Source]) -> TaughtJudges:
    """Return the errors that people marked, and runs of judges. Raises InputError."""
    with naming_parameters():
        side = _marked(gold, "people", by_rater=False)
    return taught_judges(side, [_a_run("judges", one) for one in each_of(judges)], reading_of())


def costs_from(judges: Source | Sequence[Source]) -> list[JudgeCost]:
    """Return what the runs of judges cost. Raises InputError with the problems of all."""
    return costs_of([_a_run("judges", one) for one in each_of(judges)], reading_of())


def two_scores_from(first: Source, second: Source) -> tuple[WithTexts, WithTexts]:
    """Return the scores of both sources, with their texts where a run knows them. Raises InputError."""

    def read_one(source: Source) -> WithTexts:
        if frame_in(source) is not None:
            return WithTexts(scores_of(source), list)
        return scores_with_texts(named_source(source), reading_of())

    with naming_parameters():
        return read_one(first), read_one(second)


def tried_from(runs: Sequence[str], ratings: Source | None, **choice: Any) -> RunsTried:
    """Return runs of a judge with ratings or votes of people beside them. choice: of TriedChoice. Raises InputError."""
    if ratings is not None:
        check_type("ratings", ratings, PATH, 'a file of ratings, "study:NAME" or "run:N"')
    wanted = {name: value for name, value in choice.items() if value is not None}
    human = None if ratings is None else os.fspath(ratings)  # type: ignore[arg-type]  # checked above
    with naming_parameters():
        return runs_tried(
            names_of(runs), human, TriedChoice.checked(wanted, "Invalid parameters"), reading_of()
        )


def _a_run(name: str, source: Source) -> str:
    check_type(name, source, PATH, '"run:N", or the folder of a judge\'s run')
    return os.fspath(source)  # type: ignore[arg-type]  # checked above


def facts_from(sources: Sequence[Source], panel: Panel, dimension: str | None) -> dict[str, JudgeFacts]:
    """Return judge -> consistency, price, time and model, from columns of the panel and from the runs among its sources."""
    named = [named_source(one) for one in sources if frame_in(one) is None]
    return facts_of_tables(panel, facts_of(named, reading_of(), dimension))


def sources_beside(source: Source, scores: Iterable[Source], panel: Panel) -> tuple[TextBeside, ...]:
    """Return the questions, texts and judges' reasons that a source of ratings and those of scores have."""
    first, *judges = (
        named_source(one) if (frame := frame_in(one)) is None else FileSource(FRAME, jsonl_of(frame))
        for one in (source, *scores)
    )
    with naming_rows(source):
        return tuple(texts_beside_panel(first, judges, reading_of(), panel.roles))


def naming_rows(source: Source) -> AbstractContextManager[None]:
    """While it is open, places in a data frame are its rows; a file keeps its own."""
    frame = frame_in(source)
    return nullcontext() if frame is None else rows_of(frame)


def table_in(source: Source) -> tuple[bytes, str] | None:
    """Return a source as a table and its name; None for a folder, a study or a run."""
    if (frame := frame_in(source)) is not None:
        return jsonl_of(frame), FRAME
    found = named_source(source)
    return (read_file(found.path), found.name) if isinstance(found, FileSource) else None


def existing_store(db: str | os.PathLike[str] | None) -> Store:
    """Open a database. Raises InputError if it does not exist, so that a mistyped path creates none."""
    check_type("db", db, PATH, "the path of a database", optional=True)
    path = database_path(db)
    if not path.exists():
        raise InputError(f"There is no database {path}. Name another with db=, or start the app once.")
    return open_store(path)


def _read_frame(frame: pd.DataFrame, kind: Kind, reading: SourceReader) -> Contents:
    """Read a frame as its own JSONL file; problems and notes name its rows by their index."""
    with rows_of(frame):
        found = _READERS[kind](FileSource(FRAME, jsonl_of(frame)), reading)
    notes = [*frame.attrs.get("notes", ()), *map(_frame_message, found.notes)]
    if isinstance(found, ScoreTable):
        notes += _words_among(found, frame)
    notes = [*dict.fromkeys(notes)]
    found = replace(found, file_name=str(frame.attrs.get("name", kind)), notes=tuple(notes))
    if isinstance(found, ScoreTable):
        return found
    return replace(found, left_out={**frame.attrs.get("left_out", {}), **found.left_out})


@contextmanager
def rows_of(frame: pd.DataFrame, file_name: str = FRAME) -> Iterator[None]:
    """While this is open, messages of readers are about the frame. file_name: what the readers are told."""
    labels, unique = frame.index.tolist(), frame.index.is_unique

    def row(line: int) -> str:
        if line > len(labels):
            return f"line {line}"
        label = labels[line - 1]
        name = "/".join(map(str, label)) if isinstance(label, tuple) else str(label)
        return f"row {shown(name)}" if unique else f"row {shown(name)} (iloc {line - 1})"

    try:
        with places_named(Places("data frame", row)):
            yield
    except InputError as problem:
        what = problem.what.replace(shown(file_name), FRAME, 1)
        found = problem.found.each(_frame_message)
        if isinstance(problem, Undecided):
            raise Undecided(what, [*found], problem.roles) from None
        raise InputError(what, found) from None


def _frame_message(said: str) -> str:
    """Return a problem or note of a reader with the words for a frame at its beginning."""
    for of_file, of_frame in (("file: ", "data frame: "), ("the file names ", "the data frame names ")):
        if said.startswith(of_file):
            return of_frame + said.removeprefix(of_file)
    return said


def _words_among(table: ScoreTable, frame: pd.DataFrame) -> list[str]:
    """Return a note on each column of words in a wide frame that may be meant as a metric.

    In a long frame only one column has scores. A frame from `read` had its notes there.
    """
    if "metric" in frame.columns or "name" in frame.attrs:
        return []
    labels = dict.fromkeys(name for row in table.rows for name in row.labels)
    return [
        f"column {shown(name)} contains no number: read as a label, not as a metric"
        for name in labels
        if name in frame.columns and name.lower() not in LABELS
    ]


def jsonl_of(frame: pd.DataFrame) -> bytes:
    """Return a frame as JSONL, one row a line. A named index counts as a column; missing values become null."""
    import pandas as pd  # loads slowly

    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    if frame.empty:
        raise InputError(f"{FRAME} is empty: it has {len(frame)} rows and {len(frame.columns)} columns.")
    names = [str(name) for name in frame.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{FRAME} has several columns named {', '.join(twice)}. Keep one of each.")
    columns = [[_cell(value, pd.isna) for value in frame.iloc[:, at].tolist()] for at in range(len(names))]
    rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows).encode(
        "utf-8", "surrogatepass"
    )


def _cell(value: Any, is_missing: Callable[[Any], Any]) -> Any:
    if isinstance(value, str | bool | list | dict):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else str(value) if math.isinf(value) else value
    return None if is_missing(value) is True else value


def frame_in(source: Source) -> pd.DataFrame | None:
    """Return the source if it is a data frame, else None. Raises InputError for anything but a frame, text or path."""
    if isinstance(source, str | os.PathLike):
        return None
    import pandas as pd  # loads slowly

    if isinstance(source, Result):
        raise InputError(
            "A Result is neither a data frame nor the path of a file. Its main table is result.frame. Pass that if it "
            "holds texts, scores or ratings."
        )
    if not isinstance(source, pd.DataFrame):
        raise InputError(f"{type(source).__name__} is neither a data frame nor the path of a file.")
    return source


def frame_from(content: Contents, shape: Shape = "long") -> pd.DataFrame:
    """Return contents as a data frame; `attrs` has name, notes and what was left out."""
    import pandas as pd  # loads slowly

    if isinstance(content, OutputSet):
        data = write_outputs(content.outputs)
    elif isinstance(content, RatingSet):
        data = write_ratings_jsonl(content)
    else:
        data = write_scores_jsonl(content, shape)
    # Not pandas' reader, which would turn an item "007" into 7 and a text "NA" into nothing.
    frame = pd.DataFrame([json.loads(line) for line in data.splitlines()])
    left_out = {} if isinstance(content, ScoreTable) else dict(content.left_out)
    frame.attrs = {"name": content.file_name, "notes": list(content.notes), "left_out": left_out}
    return frame


def _checked(columns: Mapping[str, str] | None) -> dict[str, str]:
    wanted = 'a dictionary from Assay\'s names to yours, such as {"text": "output"}'
    check_type("columns", columns, Mapping, wanted, optional=True)
    return checked_columns((columns or {}).items())


def check_parameters(problems: Sequence[str]) -> None:
    """Raise InputError if there are problems."""
    if problems:
        raise InputError("Invalid parameters", problems)


def check_choice(name: str, value: object, offered: Collection[str | None]) -> None:
    """Raise InputError if a parameter's value is none of those offered."""
    if value not in offered:
        check_parameters([f"{name}: {value!r} is not one of {', '.join(map(str, offered))}"])


def check_type(
    name: str, value: object, wanted: type | tuple[type, ...], what: str, *, optional: bool = False
) -> None:
    """Raise InputError if a parameter's value has another type. what: the end of "... is not"."""
    check_parameters(type_problems(name, value, wanted, what, optional=optional))


def type_problems(
    name: str, value: object, wanted: type | tuple[type, ...], what: str, *, optional: bool = False
) -> list[str]:
    """Return the problem of a parameter's value of another type. True and False are no numbers."""
    fits = isinstance(value, wanted) and not isinstance(value, bool)
    return [] if fits or (optional and value is None) else [f"{name}: {value!r} is not {what}"]


PATH: tuple[type, ...] = (str, os.PathLike)
"""Types of a path or name."""


def names_of(names: Names | int | float | None) -> list[str]:
    """Return names as a list of texts; one name may be given alone."""
    if names is None:
        return []
    return [str(one) for one in ([names] if isinstance(names, str | int | float) else names)]


def each_of(scores: Source | Sequence[Source]) -> Iterable[Source]:
    """One source or several, as several."""
    return scores if isinstance(scores, list | tuple) else [scores]  # type: ignore[list-item]  # a path is a text here, not a sequence
