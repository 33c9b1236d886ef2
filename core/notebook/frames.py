"""Data frames to the house's types and back, through the same readers as files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

from core.errors import InputError
from core.formats.mt_metrics_eval import ratings_among, read_folder, read_folder_outputs
from core.formats.panel import read_panel
from core.formats.panel.beside import texts_in
from core.formats.panel.judge_files import judge_scores
from core.formats.panel.repeats import check_in_table
from core.formats.ratings import write_ratings_jsonl
from core.formats.registry import read_evaluators, read_ratings, read_scores, read_texts
from core.formats.scorable import write_outputs
from core.formats.scores import LABELS, Shape, check_no_ratings, write_scores_jsonl
from core.joining.choices import interval_problems
from core.joining.panel import named_people, on_scale, panel_of
from core.joining.tables import check_join
from core.notebook.result import Result
from core.results.check.gaps import texts_of_judge
from core.schema.analysis import REFUSE
from core.schema.panel import Panel, TextBeside, of_rows
from core.schema.runs import RUN_FILE
from core.schema.scale import NOT_DECLARED, DeclaredScale, declared_scale
from core.schema.scores import JudgeOutput, OutputSet, RatingSet, ScoreTable
from core.schema.unit import ROW
from core.store import Store, database_path, open_store
from core.tables.files import read_file
from core.tables.mapping import checked_columns, with_columns, with_declared
from core.tables.reading import Places, places_named, shown
from core.tables.roles import Undecided

if TYPE_CHECKING:
    import pandas as pd

    from core.runs.jobs import RunAtHand


Source: TypeAlias = "pd.DataFrame | str | os.PathLike[str]"
"""A data frame, a path, `run:3` or `study:NAME`."""
Kind = Literal["texts", "scores", "ratings"]
Names = Sequence[str] | str
"""Several names, or one."""
Contents: TypeAlias = OutputSet | ScoreTable | RatingSet
Found = TypeVar("Found", OutputSet, ScoreTable, RatingSet)
_Found = TypeVar("_Found")
FRAME = "The data frame"
"""What messages call a data frame; it begins them."""
_STUDY, _RUN = "study:", "run:"
STORED = (_RUN, _STUDY)
"""How the names of stored sources begin."""


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
    asked: dict[str, Any] = (
        {"lower_is_better": lower_is_better, "flip": names_of(flip)} if kind == "ratings" else {}
    )
    if kind != "ratings" and (lower_is_better or flip or ratings):
        check_parameters(["lower_is_better, flip, ratings: only for kind='ratings'"])
    found = contents(
        source, kind, columns=columns, language_pair=language_pair, ratings=ratings, db=db, **asked
    )
    return frame_from(found, shape)


def contents(
    source: Source,
    kind: Kind,
    *,
    columns: Mapping[str, str] | None = None,
    language_pair: str | None = None,
    ratings: str | None = None,
    db: str | os.PathLike[str] | None = None,
    declared: DeclaredScale = NOT_DECLARED,
    **asked: Any,
) -> Any:
    """Read a source as the house's type. declared: its classes and missing cells; asked: keywords of the reader. Raises InputError."""
    if (frame := frame_in(source)) is not None:
        check_parameters(_only("a folder", language_pair=language_pair, ratings=ratings))
        return _of_frame(frame, kind, columns, asked, declared)
    given = os.fspath(source)  # type: ignore[arg-type]  # every other source is a path
    path = _in_run(Path(given), kind)
    stored = given.startswith(STORED)
    if stored or path.is_dir():
        lacking = _only("a table", columns=columns)
        lacking += _only("a table", lower_is_better=asked.get("lower_is_better"), flip=asked.get("flip"))
        lacking += _only("a folder", language_pair=language_pair, ratings=ratings) if stored else []
        check_parameters(lacking)
        return _of_store(given, kind, db) if stored else _of_folder(path, kind, language_pair, ratings)
    check_parameters(_only("a folder", language_pair=language_pair, ratings=ratings))
    data = with_columns(read_file(path), path.name, _checked(columns))
    return _READERS[kind](_with_declared(data, path.name, declared), path.name, **asked)


def _with_declared(data: bytes, file_name: str, declared: DeclaredScale) -> bytes:
    return with_declared(data, file_name, declared) if declared.classes or declared.missing else data


def _scores_in(data: bytes, file_name: str) -> ScoreTable:
    """Return the scores of a file; of METAL's JSON, those of its evaluators."""
    table = read_evaluators(data, file_name) or read_scores(data, file_name)
    check_no_ratings(table)
    return table


_READERS: Mapping[Kind, Callable[..., Any]] = {
    "texts": read_texts,
    "scores": _scores_in,
    "ratings": read_ratings,
}


def texts_of(source: Source) -> OutputSet:
    """Return the texts of a source. Raises InputError."""
    found: OutputSet = contents(source, "texts")
    return found


def scores_of(source: Source, declared: DeclaredScale = NOT_DECLARED) -> ScoreTable:
    """Return the scores of a source. Raises InputError."""
    found: ScoreTable = contents(source, "scores", declared=declared)
    return found


def ratings_of(source: Source, declared: DeclaredScale = NOT_DECLARED) -> RatingSet:
    """Return the ratings of a source. Raises InputError."""
    found: RatingSet = contents(source, "ratings", declared=declared)
    return found


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
    find: bool = False,
    people_alone: bool = False,
    **chosen: Any,
) -> Panel:
    """Return raters and judges side by side, as the commands read them: a table, wide or long, or ratings and scores.

    scale, classes, missing: what the user declares; see `declared_scale`.
    find: find the columns, also of judges' own tables, and refuse what is ambiguous; see `read_panel`. people_alone: read the
    raters without any judge, with `find`. chosen: further
    keywords of `read_panel`, such as system_column and item. Raises InputError.
    """
    check_type("dimension", dimension, str, "the name of a dimension", optional=True)
    declared = scale_from(scale, classes, missing)
    names = None if judge is None else names_of(judge)
    people = None if human is None else names_of(human)
    tables = [_judge_scores(one, names, people) if find else scores_of(one) for one in scores]
    find = find or people_alone
    chosen = {**chosen, "find": find, "people_alone": people_alone}
    raters, judges = (None if one is None else list(names_of(one)) for one in (human, judge))
    wanted: dict[str, Any] = {"judges": judges, "dimension": dimension}
    if (frame := frame_in(source)) is not None:
        with rows_of(frame):
            return read_panel(
                jsonl_of(frame), FRAME, tables, human=raters, declared=declared, **wanted, **chosen
            )
    path = Path(os.fspath(source))  # type: ignore[arg-type]  # every other source is a path
    if str(path).startswith(STORED) or path.is_dir():
        check_in_table(chosen.get("repeated", REFUSE), str(path))
        ratings = ratings_of(source)
        for table in tables if find else ():
            check_join(ratings, table)
        if people_alone and raters is None and not str(path).startswith(STORED):
            raters = named_people(ratings)  # whoever rates in a study is a person
        found = on_scale(panel_of(ratings, tables, raters=raters, **wanted), declared)
        return of_rows(found) if chosen.get("item") == ROW else found
    return read_panel(read_file(path), path.name, tables, human=raters, declared=declared, **wanted, **chosen)


def scale_from(scale: str | None, classes: Names | None, missing: Names | None) -> DeclaredScale:
    """Return what a user declares about the scale of ratings. Raises InputError."""
    check_type("scale", scale, str, "a kind such as ordered, or a range such as 1-5", optional=True)
    names = (None if one is None else [str(name) for name in names_of(one)] for one in (classes, missing))
    return declared_scale(scale, *names)


def _judge_scores(source: Source, judges: Sequence[str] | None, people: Sequence[str] | None) -> ScoreTable:
    """Return the scores of a judge's own table, in which the columns are found, or of any other source."""
    if (frame := frame_in(source)) is not None:
        with rows_of(frame):
            return judge_scores(jsonl_of(frame), FRAME, judges, people)
    path = Path(os.fspath(source))  # type: ignore[arg-type]  # every other source is a path
    if str(path).startswith(STORED) or not path.is_file():
        return scores_of(source)
    return judge_scores(read_file(path), path.name, judges, people)


def beside_judge(output: JudgeOutput) -> tuple[TextBeside, ...]:
    """Return the texts of a judge's run with its reasons."""
    from core.judges.kind import JudgeKind  # imported lazily: runs load slowly
    from core.runs.kinds import KINDS

    kind = KINDS[output.kind]
    assert isinstance(kind, JudgeKind)
    return texts_of_judge(output, kind)


def run_number(given: str) -> int | None:
    """Return the N of `run:N`; None for any other source. Raises InputError if no number follows."""
    if not given.startswith(_RUN):
        return None
    name = given.removeprefix(_RUN)
    if not (name.isascii() and name.isdigit()):
        raise InputError(f"{given!r} is not run:N, e.g. run:3.")
    return int(name)


def from_run_or_folder(
    source: str | os.PathLike[str],
    db: str | os.PathLike[str] | None,
    of_folder: Callable[[Path], _Found],
    of_run: Callable[[RunAtHand], _Found],
) -> _Found:
    """Read a run of the database, `run:3`, or else the folder at a path."""
    from core.runs.path import at_hand  # imported lazily: runs load slowly

    given = os.fspath(source)
    if (number := run_number(given)) is None:
        return of_folder(Path(given))
    with existing_store(db) as store:
        return of_run(at_hand(store, number))


def judge_from(source: Source, db: str | os.PathLike[str] | None = None) -> JudgeOutput | None:
    """Return a judge's records from its run or the folder of its run; None for any other source. Raises InputError."""
    if frame_in(source) is not None:
        return None
    # Imported lazily: runs load slowly.
    from core.runs.judging import judge_output_if_any
    from core.runs.records import judge_in_folder

    return from_run_or_folder(source, db, judge_in_folder, judge_output_if_any)  # type: ignore[arg-type]  # every other source is a path


def beside_from(source: Source, panel: Panel) -> tuple[TextBeside, ...]:
    """Return the texts and judges' reasons in a table of ratings; nothing for a folder, a study or a run."""
    table = table_in(source)
    if table is None:
        return ()
    with in_rows(source):
        return texts_in(*table, panel.roles)


def in_rows(source: Source) -> AbstractContextManager[None]:
    """While it is open, places in a data frame are its rows; a file keeps its own."""
    frame = frame_in(source)
    return nullcontext() if frame is None else rows_of(frame)


def table_in(source: Source) -> tuple[bytes, str] | None:
    """Return a source as a table and its name; None for a folder, a study or a run."""
    if (frame := frame_in(source)) is not None:
        return jsonl_of(frame), FRAME
    path = Path(os.fspath(source))  # type: ignore[arg-type]  # every other source is a path
    return None if str(path).startswith(STORED) or path.is_dir() else (read_file(path), path.name)


def _in_run(path: Path, kind: Kind) -> Path:
    """Return the file in the folder of a run that has such contents; any other path unchanged."""
    if not (path / RUN_FILE).is_file():
        return path
    file = path / _OF_RUNS.get(kind, "")
    if not file.is_file():
        raise InputError(f"{path} is the folder of a run without {kind}.")
    return file


_OF_RUNS: Mapping[Kind, str] = {"texts": "outputs.csv", "scores": "scores.csv"}


def _of_folder(path: Path, kind: Kind, pair: str | None, ratings: str | None) -> Contents:
    if kind == "texts":
        return read_folder_outputs(path, language_pair=pair)
    found = read_folder(path, language_pair=pair)
    return ratings_among(found.ratings, ratings, None) if kind == "ratings" else found.scores


def _of_store(given: str, kind: Kind, db: str | os.PathLike[str] | None) -> Contents:
    # Imported lazily: runs and studies load slowly.
    from core.runs.generation import texts_of_run
    from core.runs.path import at_hand
    from core.runs.scoring import score_table
    from core.runs.texts import texts_of_study
    from core.store.studies import find_study
    from core.study.analysis_set import released_record
    from core.study.ratings import rating_set_of

    _, _, name = given.partition(":")
    number = run_number(given)
    of_run = number is not None
    lacking = "ratings" if of_run else "scores"
    if kind == lacking:
        raise InputError(f"{given} has no {kind}. {'A run' if of_run else 'A study'} is no source of them.")
    with existing_store(db) as store:
        if kind == "texts":
            found = (
                texts_of_run(at_hand(store, number))
                if number is not None
                else texts_of_study(store, find_study(store, name))
            )
            return read_texts(*found)
        if number is not None:
            return score_table(at_hand(store, number))
        return rating_set_of(released_record(store, find_study(store, name)))


def existing_store(db: str | os.PathLike[str] | None) -> Store:
    """Open a database. Raises InputError if it does not exist, so that a mistyped path creates none."""
    check_type("db", db, PATH, "the path of a database", optional=True)
    path = database_path(db)
    if not path.exists():
        raise InputError(f"There is no database {path}. Name another with db=, or start the app once.")
    return open_store(path)


def _of_frame(
    frame: pd.DataFrame,
    kind: Kind,
    columns: Mapping[str, str] | None,
    asked: Mapping[str, Any],
    declared: DeclaredScale,
) -> Contents:
    """Read a frame as its own JSONL file; problems and notes name its rows by their index."""
    with rows_of(frame):
        data = with_columns(jsonl_of(frame), FRAME, _checked(columns))
        data = _with_declared(data, FRAME, declared)
        found: Contents = _READERS[kind](data, FRAME, **asked)
    notes = [*frame.attrs.get("notes", ()), *map(_in_a_frame, found.notes)]
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
        found = problem.found.each(_in_a_frame)
        if isinstance(problem, Undecided):
            raise Undecided(what, [*found], problem.roles) from None
        raise InputError(what, found) from None


def _in_a_frame(said: str) -> str:
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


def frame_from(found: Contents, shape: Shape = "long") -> pd.DataFrame:
    """Return contents as a data frame; `attrs` has name, notes and what was left out."""
    import pandas as pd  # loads slowly

    if isinstance(found, OutputSet):
        data = write_outputs(found.outputs)
    elif isinstance(found, RatingSet):
        data = write_ratings_jsonl(found)
    else:
        data = write_scores_jsonl(found, shape)
    # Not pandas' reader, which would turn an item "007" into 7 and a text "NA" into nothing.
    frame = pd.DataFrame([json.loads(line) for line in data.splitlines()])
    left_out = {} if isinstance(found, ScoreTable) else dict(found.left_out)
    frame.attrs = {"name": found.file_name, "notes": list(found.notes), "left_out": left_out}
    return frame


def _checked(columns: Mapping[str, str] | None) -> dict[str, str]:
    wanted = 'a dictionary from Assay\'s names to yours, such as {"text": "output"}'
    check_type("columns", columns, Mapping, wanted, optional=True)
    return checked_columns((columns or {}).items())


def _only(where: str, **given: object) -> list[str]:
    return [f"{name}: only for {where}; leave it out" for name, value in given.items() if value]


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


def names_of(given: Names | int | float | None) -> list[str]:
    """Return names as a list of texts; one name may be given alone."""
    if given is None:
        return []
    return [str(one) for one in ([given] if isinstance(given, str | int | float) else given)]


def each_of(scores: Source | Sequence[Source]) -> Iterable[Source]:
    """One source or several, as several."""
    return scores if isinstance(scores, list | tuple) else [scores]  # type: ignore[list-item]  # a path is a text here, not a sequence


def interval_options(
    resamples: int, confidence: float, seed: int, also_wrong: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the options of intervals as keywords of an analysis. Raises InputError with all problems."""
    unlike = [
        *type_problems("resamples", resamples, Integral, "a whole number of at least 0"),
        *type_problems("confidence", confidence, Real, "a number between 0 and 1"),
        *type_problems("seed", seed, Integral, "a whole number of at least 0"),
    ]
    if unlike:
        check_parameters([*unlike, *also_wrong])
    check_parameters([*interval_problems(resamples, confidence, seed), *also_wrong])
    return {"n_resamples": resamples, "confidence_level": confidence, "rng": seed}
