"""Choose scores: a run of metrics or of a judge, a table, a folder. Uploaded files are stored, analyses computed once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic, sleep, thread_time
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import InputError, NotFound, counted
from core.formats.correlations import read_correlations
from core.formats.metal import SCALES
from core.formats.mt_metrics_eval import MtFolder, read_folder
from core.formats.rated import outputs_of
from core.formats.ratings import write_ratings_jsonl
from core.formats.registry import format_of, read_scored_texts, read_with_texts
from core.formats.scores import write_scores_jsonl
from core.joining.choices import AS_GIVEN, TableChoice
from core.joining.tables import AS_USUAL
from core.results.correlations.paired import People
from core.results.correlations.table import CorrelationReport, correlate_scores, correlate_step_by_step
from core.results.correlations.texts import Texts, texts_of
from core.runs.judging import judged_among
from core.runs.path import runs_that, saved_run
from core.runs.progress import is_worked_on
from core.runs.scoring import ScoresSoFar, reading_notes
from core.schema.analysis import UseOfRatings
from core.schema.correlating import CorrelateOptions
from core.schema.runs import Run, Work
from core.schema.scale import NOT_DECLARED, DeclaredScale
from core.schema.scores import CorrelationSet, OutputSet, RatedSet, RatingSet, ScoreTable
from core.schema.settings import Settings
from core.schema.study import StudyRecord
from core.sources.named import FileSource
from core.sources.people import ratings_of as source_ratings
from core.sources.reading import SourceReader
from core.sources.scores import scores_of as source_scores
from core.store import Store
from core.store.kept import KeptFile, KeptKind, delete_file, file_data, get_file, keep_file, kept_files
from core.store.runs import get_run
from core.tables.reading import sha256_of, shown
from pages.widgets import address, menus, visitor
from pages.widgets.menus import given_file, menu
from pages.widgets.messages import mistakes_shown, moment, plain

Key = tuple[object, ...]
Result = TypeVar("Result")
_MOST = 128
"""Answers that are kept."""
_FEW = 50_000
"""Scores up to which a page waits for the correlations."""
_LOOK, _PATIENCE = 1.0, 15.0
"""Seconds between two checks of an analysis, and until one that nobody waits for ends."""
_HEAD_START = 1.5
"""Seconds in which a page shows the estimates of many scores before their intervals take processor and memory."""
_STARTING = Lock()


def correlated(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    options: CorrelateOptions,
    use: UseOfRatings = AS_USUAL,
) -> CorrelationReport:
    """Per-metric correlations, all of them."""
    if not options.most_resamples:
        return _estimates(key, table, ratings, options, use)
    work = _work_on(key, table, ratings, options, use)
    while not work.complete.wait(_LOOK):
        work.wanted_at = monotonic()
    return _report_of(work)


def correlated_so_far(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    options: CorrelateOptions,
    use: UseOfRatings = AS_USUAL,
) -> tuple[CorrelationReport, str]:
    """What is known of the per-metric correlations, estimates at least, and what is being computed.

    Few scores are waited for. The work goes on beside the page, so that the page stays usable; nobody asking for a while
    ends it, and the next one who asks goes on where it ended. Estimates alone, without resamples, are computed at once.
    """
    if not options.most_resamples:
        return _estimates(key, table, ratings, options, use), ""
    work = _work_on(key, table, ratings, options, use)
    enough = work.complete if table.values.size <= _FEW else work.begun
    while not enough.wait(_LOOK):
        work.wanted_at = monotonic()
    return _report_of(work), work.doing


def _estimates(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    options: CorrelateOptions,
    use: UseOfRatings = AS_USUAL,
) -> CorrelationReport:
    """Per-metric correlations without resampled intervals, for scores that are others at the next look."""
    return once(
        ("estimates", key, _said(options, use)),
        lambda: correlate_scores(table, ratings, options=options, use=use),
    )


def _said(*options: Settings) -> Key:
    """Options as part of a question."""
    return tuple(one.model_dump_json() for one in options)


@dataclass
class _Work:
    """An answer in the making."""

    wanted_at: float
    """When somebody last asked."""
    report: CorrelationReport | None = None
    doing: str = ""
    error: Exception | None = None
    begun: Event = field(default_factory=Event)
    """There is a report, or an error."""
    complete: Event = field(default_factory=Event)


class _Unwanted(Exception):
    """Nobody waits for the answer any more."""


def _work_on(
    key: Key,
    table: ScoreTable,
    ratings: RatingSet | None,
    options: CorrelateOptions,
    use: UseOfRatings = AS_USUAL,
) -> _Work:
    """The work on a question, begun or taken up again where it is not being worked on."""
    question, works = ("correlated", key, _said(options, use)), _works()
    with _STARTING:
        found = works.get(question)
        if found is not None and found.error is None:
            found.wanted_at = monotonic()
            return found
        so_far = found.report if found is not None and isinstance(found.error, _Unwanted) else None
        work = works[question] = _Work(monotonic(), so_far)
        for oldest in list(works)[:-_MOST]:
            del works[oldest]
    steps = partial(correlate_step_by_step, table, ratings, options=options, use=use, so_far=so_far)
    Thread(target=_do, args=(work, steps, table.values.size > _FEW), daemon=True).start()
    return work


def _do(work: _Work, steps: Callable[..., Iterator[CorrelationReport]], many: bool) -> None:
    def tell(doing: str) -> None:
        work.doing = doing
        if monotonic() - work.wanted_at > _PATIENCE:
            raise _Unwanted

    try:
        for report in steps(tell=tell):
            first, work.report = not work.begun.is_set(), report
            work.begun.set()
            if first and many:
                sleep(_HEAD_START)
    except Exception as error:  # whoever asks is told
        work.error = error
    work.begun.set()
    work.complete.set()


def _report_of(work: _Work) -> CorrelationReport:
    if work.report is None or (work.error is not None and not isinstance(work.error, _Unwanted)):
        raise work.error or RuntimeError("no report")
    return work.report


@st.cache_resource(show_spinner=False)
def _works() -> dict[Key, _Work]:
    """Question -> what is known of its answer."""
    return {}


def once(question: Key, compute: Callable[[], Result]) -> Result:
    """The answer to a question that says all that it depends on."""
    answer: Result = _kept(question, compute)
    return answer


@st.cache_data(show_spinner=False, max_entries=_MOST)
def _kept(question: Key, _compute: Callable[[], Result]) -> Result:
    return _compute()


_REST = 50
"""A slow answer about a run at work is kept for this multiple of its own time, times the number of such answers."""


def now_and_then(grows: Key | None, question: Key, kind: Key, compute: Callable[[], Result]) -> Result:
    """As `once`; but where scores grow, a slow answer about them is that of an earlier look for a while.

    grows: what identifies scores that grow, whatever their state (`Scores.grows`); None: they stand still. kind: the
    question without their state.
    """
    if grows is None:
        return once(question, compute)
    answers = _answers()
    known = answers.get((grows, kind))
    if known is None or (known.question != question and monotonic() >= known.until):
        begun = thread_time()
        answer = compute()
        several = len({(grows, kind), *(one for one in list(answers) if one[0] == grows)})
        known = _Answer(question, monotonic() + _REST * several * (thread_time() - begun), answer)
        answers[grows, kind] = known
        for oldest in list(answers)[:-_MOST]:
            del answers[oldest]
    kept: Result = known.answer
    return kept


@dataclass(frozen=True)
class _Answer:
    """An answer, the question that it answers, and until when it will do for later states of the same scores."""

    question: Key
    until: float
    answer: Any


@st.cache_resource(show_spinner=False)
def _answers() -> dict[tuple[Key, Key], _Answer]:
    """Scores and question -> answer."""
    return {}


Flip = tuple[str, ...]

_FLIP, _EVALUATORS = "flip", "evaluators"


def asked(holding: KeptKind, slot: str) -> dict[str, object]:
    """What must be known of such a file before it is read, as options to keep with it."""
    options: dict[str, object] = {}
    if holding == "scores":
        options[_EVALUATORS] = st.checkbox(
            "This is METAL JSON: read its evaluators' scores", key=f"metrics_evaluators_{slot}"
        )
        if not options[_EVALUATORS]:
            return {}
    turned = st.multiselect(
        "In METAL JSON, dimensions in which 1 is bad",
        list(SCALES),
        key=f"metrics_flip_{slot}",
        placeholder="None: higher is better throughout",
        help="METAL's own files code a hallucination (H) and problematic content (PC) as 1. These dimensions are reversed, so "
        "that higher is better. Choose the same dimensions for human ratings and for an evaluator's scores.",
    )
    return {**options, _FLIP: turned}


def read_people(
    data: bytes,
    file_name: str,
    flip: Flip,
    *,
    lower_is_better: bool,
    declared: DeclaredScale = NOT_DECLARED,
) -> RatingSet:
    """The ratings of a file. declared: its classes and missing cells. Raises InputError."""
    reading = SourceReader(lower_is_better=lower_is_better, flip=flip, declared=declared)
    try:
        return source_ratings(FileSource(file_name, data), reading)
    except InputError as problem:
        if flip and format_of("ratings", data, file_name).name != "metal":
            raise InputError(
                f"{shown(file_name)} is not METAL JSON: choose no dimension in which 1 is bad."
            ) from problem
        raise


def read_judge(
    data: bytes, file_name: str, flip: Flip, *, evaluators: bool, declared: DeclaredScale = NOT_DECLARED
) -> ScoreTable:
    """The scores of a file. declared: as of `read_people`. Raises InputError."""
    if evaluators and format_of("ratings", data, file_name).name != "metal":
        raise InputError(f"{shown(file_name)} is not METAL JSON.")
    return source_scores(FileSource(file_name, data), SourceReader(flip=flip, declared=declared))


_WITH_METAL = ("calibration",)
"""The places where a file may be METAL's JSON with dimensions to turn."""
MAIN = "main"
"""The place of the page's own scores and ratings, as against the sides of a comparison."""
UPLOAD = 0
"""Stands for a file that is still to be given."""
_Key = tuple[KeptKind, str, str, bool, Flip]
"""Kind, hash and name of a file, and how it is read: lower ratings are better, scores are those of METAL's
evaluators, or correlations are synthetic; and the dimensions of METAL's JSON in which 1 is bad."""
_ACCEPTED: dict[KeptKind, str] = {
    "ratings": "Accepted: CSV, TSV, XLSX, Parquet or JSONL with the columns item, score and optionally system, level, rater, dimension, "
    "language; one column of numbers per dimension; JSONL with nested ratings; rated texts (JSONL); an MQM table (TSV).",
    "scores": "Accepted: files written by `score` or this page; CSV, TSV, XLSX, JSONL or Parquet with the columns item, system, "
    "level and one column per metric; JSONL with id, level and result; RAGAS rows; answers of a cross-examination server.",
    "correlations": "Accepted: output of `correlate --json`, or Meta-Judge's `{metric: {pearson, spearman, kendall}}`.",
}


def parameter(name: str, slot: str) -> str:
    """Return the name of a place's choice in the address."""
    return name if slot == MAIN else f"{name}-{slot.replace('_', '-')}"


def choose_kept(
    store: Store, kind: KeptKind, slot: str, label: str, row: DeltaGenerator | None = None
) -> KeptFile | None:
    """Choose a stored file or upload one. slot: the place on the page that needs the file; row: where its menu is drawn."""
    files = {file.file_id: file for file in kept_files(store, kind)}
    place = f"metrics_kept_{slot}"
    gone = f"This link leads to {kind} that were deleted, or that are in another installation. Choose others."
    address.one(parameter(kind, slot), place, [*files, UPLOAD], gone=gone)
    with row or nullcontext():
        chosen = menu(
            label,
            [*files, UPLOAD],
            place,
            lambda number: name_of(files[number]) if number else "Upload a file ...",
        )
    if chosen != UPLOAD:
        return files[chosen]
    given = choose_new(store, kind, slot)
    if given is not None:
        st.session_state[place] = given.file_id
        st.rerun()
    return None


def name_of(file: KeptFile) -> str:
    """Name a stored file in a menu."""
    return f"{file.file_name}, {moment(file.created_utc)} UTC"


def forget_button(store: Store, file: KeptFile, slot: str) -> None:
    """Show a button that deletes the stored file and the results computed from it."""
    if st.button("Delete this file", key=f"metrics_forget_{slot}", type="tertiary"):
        delete_file(store, file.file_id)
        st.rerun()


def choose_new(store: Store, kind: KeptKind, slot: str) -> KeptFile | None:
    """Upload a file; it is stored if it can be read."""
    with_metal = slot in _WITH_METAL
    st.markdown(f":small[{_ACCEPTED[kind]}{' Also METAL JSON.' if with_metal else ''}]")
    options: dict[str, object] = {}
    if kind == "ratings":
        options["lower_is_better"] = st.checkbox(
            "Lower is better in this file (such as MQM penalties)", key=f"metrics_lower_{slot}"
        )
    if with_metal:
        options |= asked(kind, slot)
    with mistakes_shown():
        given = given_file(f"metrics_file_{slot}", classes=True)
        if given is None:
            return None
        data, name = given
        found = _read(_key(kind, sha256_of(data), name, options), lambda: data, NOT_DECLARED)
        read_notes(found.notes)
        if not st.button("Keep this file", type="primary", key=f"metrics_keep_{slot}"):
            return None
        return keep_file(store, kind, name, data, options)
    return None  # type: ignore[unreachable]  # what is wrong with it is on the page


def read_notes(notes: tuple[str, ...], left_out: Mapping[str, int] | None = None) -> None:
    """Show remarks on a file in small print."""
    lines = [*notes, *(f"{n} left out: {reason}" for reason, n in (left_out or {}).items())]
    if lines:
        st.markdown("  \n".join(f":small[{plain(line)}]" for line in lines))


def hash_of(people: People) -> int:
    """A number that changes with the ratings or votes that count, such as after a rater is excluded."""
    if isinstance(people, StudyRecord):
        return hash((people.answers, people.raters, people.study))
    return hash(
        tuple(
            (one.rater, one.item_id, one.system, one.level, one.dimension, one.score)
            for one in people.ratings
        )
    )


def ratings_of(store: Store, file: KeptFile, declared: DeclaredScale = NOT_DECLARED) -> RatingSet:
    """Read the ratings of a stored file. declared: its classes and missing cells."""
    found: RatingSet = _read(key_of(file), _bytes(store, file), declared)
    return found


def scores_of(store: Store, file: KeptFile, declared: DeclaredScale = NOT_DECLARED) -> ScoreTable:
    """Read the scores of a stored file. declared: its classes and missing cells."""
    found: ScoreTable = _read(key_of(file), _bytes(store, file), declared)
    return found


def correlations_of(store: Store, file: KeptFile, *, synthetic: bool) -> CorrelationSet:
    """Read the correlations of a stored file. synthetic: for Meta-Judge's files, those with the raw level."""
    found: CorrelationSet = _read(
        (file.kind, file.sha256, file.file_name, synthetic, ()), _bytes(store, file), NOT_DECLARED
    )
    return found


def key_of(file: KeptFile) -> _Key:
    """Return the cache key of what is read from the file."""
    return _key(file.kind, file.sha256, file.file_name, file.options)


def _key(kind: KeptKind, sha256: str, file_name: str, options: Mapping[str, object]) -> _Key:
    option = bool(options.get("lower_is_better") or options.get(_EVALUATORS))
    turned = options.get(_FLIP)
    return kind, sha256, file_name, option, tuple(map(str, turned)) if isinstance(turned, list) else ()


def _bytes(store: Store, file: KeptFile) -> Callable[[], bytes]:
    return partial(file_data, store, file.file_id)


# Resources, not data: large tables would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=12)
def _read(key: _Key, _data: Callable[[], bytes], declared: DeclaredScale) -> Any:
    kind, _, name, option, flip = key
    return _READERS[kind](_data(), name, option, flip, declared)


_READERS: dict[KeptKind, Callable[[bytes, str, bool, Flip, DeclaredScale], object]] = {
    "ratings": lambda data, name, lower, flip, declared: read_people(
        data, name, flip, lower_is_better=lower, declared=declared
    ),
    "scores": lambda data, name, own, flip, declared: read_judge(
        data, name, flip, evaluators=own, declared=declared
    ),
    "correlations": lambda data, name, synthetic, _, __: read_correlations(data, name, synthetic=synthetic),
}


_PARTS = ("sources", "references", "documents", "system-outputs", "metric-scores", "human-scores")
"""What the form names; nothing else of the folder is read."""


def fields(slot: str) -> tuple[Path, str | None] | None:
    """Where the folder is and which language pair of it; None: nothing is named yet. Raises InputError."""
    st.markdown(
        "A folder on the machine that runs Assay, with sources, references, system-outputs and so on."
    )
    left, right = st.columns([3, 1])
    folder = left.text_input("Folder", key=f"metrics_folder_{slot}", persist_state="session").strip()
    pair = right.text_input("Language pair", key=f"metrics_pair_{slot}", persist_state="session").strip()
    if not folder:
        return None
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise InputError("The machine that runs Assay has no such folder. Enter the full path.")
    return path, pair or None


def stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Another one as soon as a file of the folder is another."""
    files = [file for name in _PARTS for file in (path / name).glob("**/*") if file.is_file()]
    stats = [(str(file), file.stat()) for file in sorted(files)]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


def take(store: Store) -> KeptFile | None:
    """Keep the folder's scores and all its ratings once a button is pressed; returns the scores."""
    given = fields("scores")
    if given is None or not st.button("Read scores and ratings", type="primary", key="metrics_folder_take"):
        return None
    path, pair = given
    with st.spinner("Reading ..."):
        found = read_folder(path, language_pair=pair)
    return keep(store, path.resolve().name, found)


def keep(store: Store, name: str, folder: MtFolder) -> KeptFile:
    """Keep what the folder holds, texts beside their scores. Raises InputError where it holds no metric's scores."""
    if not folder.scores.metrics:
        raise InputError(
            "This folder contains no metric scores. Score its texts: New run, texts from a folder of translations."
        )
    stem = f"{name}-{folder.language_pair}"
    for kind, ratings in folder.ratings.items():
        keep_file(store, "ratings", f"{stem}-{kind}.jsonl", write_ratings_jsonl(ratings))
    data = write_scores_jsonl(folder.scores, "long", texts=folder.outputs.outputs)
    return keep_file(store, "scores", f"{stem}-scores.jsonl", data)


RUN, FILE, NEW, UPLOAD_SCORES, PUBLISHED = "run", "file", "new", "upload", "published"
Chosen = tuple[str, int]
"""One of the words above, and the number of the run or file; 0 for the others."""
FURTHER: dict[Chosen, str] = {
    (UPLOAD_SCORES, 0): "Upload a table of scores ...",
    (PUBLISHED, 0): "Published tables",
}
TICK = 5.0
"""Seconds between two looks at a run that is worked on: a look costs an analysis."""
_CHOSEN = "metrics_scores_chosen"
_LONGEST = 40
_MOST_FOR_ALL, _RESAMPLES, _FEWER = 20_000, 10_000, 1_000
"""Scores up to which all resamples are drawn at once."""


@dataclass(frozen=True)
class Scores:
    """Scores as they stand now."""

    origin: Chosen
    name: str
    key: Key
    """Another one as soon as there are more or other scores."""
    table: ScoreTable
    run: Run | None = None
    moving: bool = False
    """A run is at work on them."""
    choice: TableChoice = AS_GIVEN
    """What the user left out of the table, and the directions that were declared."""
    change_notes: tuple[str, ...] = ()
    """What that changed; it is on the page already."""

    @property
    def grows(self) -> Key | None:
        """What identifies them whatever their state; None: they stand still."""
        return (*menus.identity(self.run), self.choice) if self.moving and self.run is not None else None


def remember(choice: Chosen) -> None:
    """Make this what the page shows."""
    st.session_state[_CHOSEN] = choice


def choose(store: Store) -> Chosen:
    """Choose scores, big tables among them, or open the form that makes some; without any scores yet, the form."""
    names = named(store, "scores", "tables", "judging")
    gone = "This link leads to scores that were deleted, or that are in another installation. Choose others."
    address.one("scores", _CHOSEN, [*names, (NEW, 0), *FURTHER], code=code, gone=gone)
    return menus.run_or_new("Scores", names, _CHOSEN, (NEW, 0), further=FURTHER)


def code(choice: Chosen) -> str:
    """Return what an address says for scores, such as `run-3`."""
    kind, number = choice
    return f"{kind}-{number}" if number else kind


def named(store: Store, *works: Work) -> dict[Chosen, str]:
    """All scores there are, with their names in menus. works: of runs; by default those whose scores fit into memory."""
    there = runs_that(store, *(works or ("scores", "judging")))
    runs = {(RUN, run.run_id): menus.name_of(run) for run in there}
    files = {(FILE, file.file_id): name_of(file) for file in kept_files(store, "scores")}
    return runs | files


def newest_on(
    store: Store, judges: Iterable[Chosen], rated: Collection[str], most: int = 10
) -> Chosen | None:
    """Return the first of the judges that scored a rated item; None without one.

    rated: items. most: judges that are tried, newest first.
    """
    for chosen in islice(judges, most):
        if any(row.item_id in rated for row in open_scores(store, chosen).table.rows):
            return chosen
    return None


def open_scores(store: Store, choice: Chosen) -> Scores:
    """The scores as they are now. Raises NotFound for a file or run that has gone, InputError for a bad file."""
    kind, number = choice
    if kind == FILE:
        file = get_file(store, number)
        return Scores(choice, file.file_name, (file.sha256,), scores_of(store, file))
    if kind != RUN:
        raise NotFound("No scores are chosen.")
    run = get_run(store, number)
    key = menus.key_of(store, run)
    return Scores(
        choice,
        f"run {number} ({run.data_file})",
        key,
        _table(key, store, run),
        run,
        run.state == "waiting" or is_worked_on(run),
    )


# A resource: large tables would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=6)
def _table(key: Key, _store: Store, _run: Run) -> ScoreTable:
    return _so_far(menus.identity(_run)).table(saved_run(_store, _run))


@st.cache_resource(show_spinner=False, max_entries=6)
def _so_far(key: Key) -> ScoresSoFar:
    """What has been read of a run's scores: while it is at work, the next look reads only what came meanwhile."""
    return ScoresSoFar()


def outputs(store: Store, run: Run) -> OutputSet:
    """The texts that a run scores, read once for all who look at them."""
    return _outputs(menus.identity(run), store, run)


@st.cache_resource(show_spinner=False, max_entries=3)
def _outputs(key: Key, _store: Store, _run: Run) -> OutputSet:
    run = saved_run(_store, _run)
    if isinstance(run.contents, RatedSet):
        return outputs_of(replace(run.contents, texts=judged_among(run)))
    found: OutputSet = run.contents
    return found


def unread(store: Store, run: Run) -> tuple[str, ...]:
    """Which metrics cannot read some of a run's texts; nothing for a judge's run."""

    def found() -> tuple[str, ...]:
        here = saved_run(store, run)
        specs = here.request.settings.specs() if here.kind.work == "scores" else ()
        return tuple(reading_notes(specs, outputs(store, run).outputs)) if specs else ()

    return once(("reading", menus.identity(run)), found)


def texts_behind(store: Store, scores: Scores) -> Texts:
    """The texts behind the rows of the table: of the run's data file, or of the file of scores if it has texts."""
    if scores.run is not None:
        return texts_of(scores.table, outputs(store, scores.run))
    file = get_file(store, scores.origin[1])
    return texts_of(scores.table, *_texts_beside(key_of(file), _bytes(store, file)))


@st.cache_resource(show_spinner=False, max_entries=3)
def _texts_beside(key: _Key, _data: Callable[[], bytes]) -> tuple[OutputSet | None, str]:
    """The texts in a file of scores; None with the reason."""
    _, _, name, evaluators, flip = key
    try:
        if not evaluators:
            return read_scored_texts(_data(), name), ""
        rated = read_with_texts("evaluators", _data(), name, flip=flip)
        return None if rated is None else outputs_of(rated), ""
    except InputError as problem:
        return None, f"the texts in the file cannot be read: {next(iter(problem.problems), problem)}"


def upload(store: Store) -> None:
    """Give a table of scores or a folder that holds some, and look at them."""
    came = st.radio(
        "From",
        ["file", "folder"],
        format_func={"file": "A file", "folder": "A folder in mt-metrics-eval format"}.__getitem__,
        horizontal=True,
        key="metrics_upload_from",
    )
    given: KeptFile | None = None
    with mistakes_shown():
        given = choose_new(store, "scores", "scores") if came == "file" else take(store)
    if given is not None:
        remember((FILE, given.file_id))
        st.rerun()


def resamples_for(*several: Scores) -> int:
    """How often items are resampled: as their number allows, and never while a run is at work, which is looked at again and again."""
    if any(one.moving for one in several):
        return 0
    return _FEWER if any(one.table.values.size > _MOST_FOR_ALL for one in several) else _RESAMPLES


def live(
    store: Store, choice: Chosen, body: Callable[[Store, Scores], None], *, may_hold: bool = True
) -> None:
    """Show `body(store, scores)`, which looks again by itself while a run is at work on the scores.

    may_hold: whether the visitor may have the page stand still meanwhile, with every interval.
    """
    moving = open_scores(store, choice).moving
    st.fragment(_again, run_every=TICK if moving else None)(choice, moving, body, may_hold)


def _again(choice: Chosen, moving: bool, body: Callable[[Store, Scores], None], may_hold: bool) -> None:
    with visitor.admin_store() as store, mistakes_shown():
        scores = open_scores(store, choice)
        if scores.moving != moving:
            st.rerun()  # the clock starts or stops, and the menu above names the state too
        if moving and may_hold:
            scores = _followed(scores)
        body(store, scores)


_HELD = "scores_held"
"""Where the session stores the scores at which a page stands still."""


def _followed(scores: Scores) -> Scores:
    """The scores as they are now, or as they were when the visitor stopped following the run."""
    with st.container(horizontal=True, vertical_alignment="center"):
        follow = st.toggle(
            "Follow the run",
            True,
            key=f"scores_follow_{scores.origin[1]}",
            help="Off: the page stands still at the scores so far, and computes their intervals and tests.",
        )
        held: Scores | None = st.session_state.get(_HELD)
        if follow or held is None or held.origin != scores.origin:
            held = None if follow else replace(scores, moving=False)
            st.session_state[_HELD] = held
        shown = held or scores
        st.markdown(
            f":small[{counted(len(shown.table.rows), 'text')} so far. {_HELD_SAID if held else _FOLLOWED_SAID}]"
        )
        if held is None:
            never_pale()
    return shown


def never_pale() -> None:
    """Keep the page's colours at each refresh: on a busy machine Streamlit would pale all of it."""
    st.html(_NEVER_PALE)


_NEVER_PALE = '<style>[data-stale="true"] { opacity: 1 !important; transition: none !important; }</style>'
_FOLLOWED_SAID = "Estimates follow the run; resampled intervals and tests are computed when it stops."
_HELD_SAID = "The page stands still; the run goes on."
