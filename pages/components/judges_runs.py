"""Which judge is looked at: one of its runs, scores of a judge from elsewhere, or one that is still to be asked."""

import streamlit as st

from core.judges.kind import JudgeKind
from core.runs.judging import judge_output
from core.runs.kinds import kinds_that
from core.runs.path import at_hand
from core.schema.judging import JudgeOutput
from core.schema.kinds import Kind, Reads
from core.schema.runs import Run
from core.store import Store
from core.store.kept_files import kept_files
from core.store.runs import item_counts, list_runs
from pages.components import metrics_kept, run_choice
from pages.components.metrics_computed import Key
from pages.components.metrics_scores import FILE, NEW, RUN, UPLOAD, Chosen

_NOTHING_YET: dict[Chosen, str] = {
    (NEW, 0): "Ask a judge ...",
    (UPLOAD, 0): "Give a judge's output ...",
}
_CHOSEN = "judges_chosen"


def remember(chosen: Chosen) -> None:
    """Make this what the page shows."""
    st.session_state[_CHOSEN] = chosen


def choose(store: Store) -> Chosen:
    """What is looked at; without any judge's run yet, the form that makes one."""
    runs: dict[Chosen, str] = {
        (RUN, run.run_id): run_choice.name_of(run)
        for run in list_runs(store, tuple(kind.name for kind in (*judges_of("texts"), *kinds_that("audit"))))
    }
    files: dict[Chosen, str] = {
        (FILE, file.file_id): metrics_kept.name_of(file) for file in kept_files(store, "scores")
    }
    names = {**runs, **_NOTHING_YET, **files}
    return run_choice.one_of("Judge", names, _CHOSEN, ", and tables of scores from elsewhere")


def judges_of(reads: Reads) -> tuple[JudgeKind, ...]:
    """The judges whose files hold this."""
    return tuple(
        kind for kind in kinds_that("judging") if isinstance(kind, JudgeKind) and kind.reads == reads
    )


def with_results(store: Store, *kinds: Kind) -> dict[int, Run]:
    """Runs of these kinds that have finished an item, newest first."""
    return {
        run.run_id: run
        for run in list_runs(store, tuple(kind.name for kind in kinds))
        if any(item_counts(store, run.run_id)[0].values())
    }


def output_of(store: Store, run: Run) -> JudgeOutput:
    """All that a judge said so far, read once."""
    return _output(run_choice.key_of(store, run), store, run)


# A resource: thousands of records would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=12)
def _output(key: Key, _store: Store, _run: Run) -> JudgeOutput:
    return judge_output(at_hand(_store, _run))
