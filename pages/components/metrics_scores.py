"""Which scores are looked at: a run of metrics or of a judge, at work or not, or a table that was given."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from core.errors import NotFound
from core.formats.rated import outputs_of
from core.results.choices import AS_GIVEN, TableChoice
from core.runs.judging import judged_among
from core.runs.path import at_hand, runs_that
from core.runs.progress import is_worked_on
from core.runs.scoring import score_table
from core.schema.judging import RatedSet
from core.schema.runs import Run
from core.schema.scores import OutputSet, ScoreTable
from core.store import Store
from core.store.kept_files import KeptFile, get_file, kept_files
from core.store.runs import get_run
from pages.components import metrics_folder, metrics_kept, run_choice, visitor
from pages.components.messages import mistakes_shown
from pages.components.metrics_computed import Key

RUN, FILE, NEW, UPLOAD, PUBLISHED = "run", "file", "new", "upload", "published"
Chosen = tuple[str, int]
"""One of the words above, and the number of the run or file; 0 for the others."""
NOTHING_YET: dict[Chosen, str] = {
    (NEW, 0): "Score texts ...",
    (UPLOAD, 0): "Give a table of scores ...",
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

    chosen: Chosen
    name: str
    key: Key
    """Another one as soon as there are more or other scores."""
    table: ScoreTable
    run: Run | None = None
    moving: bool = False
    """A run is at work on them."""
    choice: TableChoice = AS_GIVEN
    """What the user left out of the table, and the directions that were declared."""
    said: tuple[str, ...] = ()
    """What that changed; it is on the page already."""


def remember(chosen: Chosen) -> None:
    """Make this what the page shows."""
    st.session_state[_CHOSEN] = chosen


def choose(store: Store) -> Chosen:
    """What is looked at; without any scores yet, the form that makes some."""
    return run_choice.one_of("Scores", {**named(store), **NOTHING_YET}, _CHOSEN)


def named(store: Store) -> dict[Chosen, str]:
    """All scores there are, with their names in menus."""
    runs = {(RUN, run.run_id): run_choice.name_of(run) for run in runs_that(store, "scores", "judging")}
    files = {(FILE, file.file_id): metrics_kept.name_of(file) for file in kept_files(store, "scores")}
    return runs | files


def open_scores(store: Store, chosen: Chosen) -> Scores:
    """The scores as they are now. Raises NotFound for a file or run that has gone, InputError for a bad file."""
    kind, number = chosen
    if kind == FILE:
        file = get_file(store, number)
        return Scores(chosen, file.file_name, (file.sha256,), metrics_kept.scores_of(store, file))
    if kind != RUN:
        raise NotFound("No scores are chosen.")
    run = get_run(store, number)
    key = run_choice.key_of(store, run)
    return Scores(
        chosen,
        f"run {number} ({run.data_file})",
        key,
        _table(key, store, run),
        run,
        run.state == "waiting" or is_worked_on(run),
    )


# A resource: large tables would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=6)
def _table(key: Key, _store: Store, _run: Run) -> ScoreTable:
    return score_table(at_hand(_store, _run))


def outputs(store: Store, run: Run) -> OutputSet:
    """The texts that a run scores, read once for all who look at them."""
    return _outputs(run_choice.identity(run), store, run)


@st.cache_resource(show_spinner=False, max_entries=3)
def _outputs(key: Key, _store: Store, _run: Run) -> OutputSet:
    run = at_hand(_store, _run)
    if isinstance(run.contents, RatedSet):
        return outputs_of(replace(run.contents, texts=judged_among(run)))
    found: OutputSet = run.contents
    return found


def upload(store: Store) -> None:
    """Give a table of scores or a folder that holds some, and look at them."""
    came = st.radio(
        "From",
        ["file", "folder"],
        format_func={"file": "A file", "folder": "A folder in the form of mt-metrics-eval"}.__getitem__,
        horizontal=True,
        key="metrics_upload_from",
    )
    given: KeptFile | None = None
    with mistakes_shown():
        given = (
            metrics_kept.choose_new(store, "scores", "scores")
            if came == "file"
            else metrics_folder.take(store)
        )
    if given is not None:
        remember((FILE, given.file_id))
        st.rerun()


def resamples_for(*several: Scores) -> int:
    """How often items are resampled: less often while a run is at work, which is looked at again and again."""
    quick = any(one.moving or one.table.values.size > _MOST_FOR_ALL for one in several)
    return _FEWER if quick else _RESAMPLES


def live(store: Store, chosen: Chosen, body: Callable[[Store, Scores], None]) -> None:
    """Show `body(store, scores)`, which looks again by itself while a run is at work on the scores."""
    moving = open_scores(store, chosen).moving
    st.fragment(_again, run_every=TICK if moving else None)(chosen, moving, body)


def _again(chosen: Chosen, moving: bool, body: Callable[[Store, Scores], None]) -> None:
    with visitor.admin_store() as store, mistakes_shown():
        scores = open_scores(store, chosen)
        if scores.moving != moving:
            st.rerun()  # the clock starts or stops, and the menu above names the state too
        body(store, scores)
