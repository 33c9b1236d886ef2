"""Texts for a new scoring run: what a generation run made, a file, an unblinded study, or a folder of translations."""

from collections.abc import Callable

import streamlit as st

from core.formats.scorable import read_outputs
from core.runs.generation import has_texts, texts_of_run
from core.runs.path import at_hand, runs_that
from core.runs.texts import Texts as Texts
from core.runs.texts import texts_of_folder, texts_of_study
from core.schema.runs import Run
from core.schema.scores import OutputSet
from core.store import Store
from core.tables.reading import sha256_of
from pages.components import metrics_folder, metrics_kept, run_choice, study_choice
from pages.components.kept_once import given_file, once
from pages.components.messages import plain

FROM, RUN = "metrics_texts_from", "metrics_texts_run"
"""Keys under which another page says what to score."""
_FILE, _MADE, _READ = "metrics_texts_file", "metrics_texts_made", "metrics_texts_read"
_FROM = {
    "run": "A generation run",
    "file": "A file of mine",
    "study": "An unblinded study",
    "folder": "A folder of translations",
}


def take_run(run_id: int) -> None:
    """Fill the form with the texts of this generation run."""
    st.session_state[FROM] = "run"
    st.session_state[RUN] = run_id


def take_file(data: bytes, name: str) -> None:
    """Fill the form with these texts, as if they had been given as a file."""
    st.session_state[FROM] = "file"
    st.session_state[_FILE] = (data, name)


def choose(store: Store) -> Texts | None:
    """The texts as a file, after saying what is in it; None: nothing is chosen yet."""
    came = st.radio(
        "From", list(_FROM), format_func=_FROM.__getitem__, horizontal=True, key=FROM, persist_state="session"
    )
    ways: dict[str, Callable[[Store], Texts | None]] = {
        "run": _of_run,
        "file": lambda _: _of_file(),
        "study": _of_study,
        "folder": lambda _: _of_folder(),
    }
    texts = ways[came](store)
    if texts is not None:
        _summary(read(texts))
    return texts


def _of_run(store: Store) -> Texts | None:
    runs = {run.run_id: run for run in runs_that(store, "generation") if _has_texts(store, run)}
    if not runs:
        st.markdown("No run has made a text yet: make some on the page Generate, or give a file.")
        return None
    if st.session_state.get(RUN) not in runs:
        st.session_state.pop(RUN, None)
    chosen = st.selectbox(
        "Run of generation",
        list(runs),
        format_func=lambda number: run_choice.name_of(runs[number]),
        key=RUN,
        persist_state="session",
    )
    run = at_hand(store, chosen)
    return once(_MADE, run_choice.key_of(store, run.run), lambda: texts_of_run(run))


def _has_texts(store: Store, run: Run) -> bool:
    return _found_texts(run_choice.key_of(store, run), store, run)


@st.cache_data(show_spinner=False, max_entries=1_000)
def _found_texts(key: tuple[object, ...], _store: Store, _run: Run) -> bool:
    return has_texts(at_hand(_store, _run))


def _of_file() -> Texts | None:
    st.markdown(
        "Accepted: what a generation run writes, the papers' JSON, or CSV, TSV and JSONL with the columns item, text "
        "and, where there are, system, reference, source, level, language. All other columns can be grouped by."
    )
    return given_file(_FILE, "metrics_texts_upload", ["json", "csv", "tsv", "jsonl", "ndjson"])


def _of_study(store: Store) -> Texts | None:
    study = study_choice.unblinded(store, "metrics_texts_study")
    if study is None:
        st.markdown(
            "No study is unblinded yet. Its texts stay hidden until then, because scores would show which source wrote which."
        )
        return None
    return texts_of_study(store, study)


def _of_folder() -> Texts | None:
    given = metrics_folder.fields("texts")
    if given is None:
        return None
    path, pair = given
    key = (path, pair, metrics_folder.stamp(path))
    texts, notes = once(_MADE, key, lambda: texts_of_folder(path, pair))
    metrics_kept.read_notes(notes)
    return texts


def read(texts: Texts) -> OutputSet:
    """What is in the file, read once a file and not at every press of a widget."""
    return once(_READ, (sha256_of(texts[0]), texts[1]), lambda: read_outputs(*texts))


def _summary(found: OutputSet) -> None:
    texts = found.outputs
    items = len({one.item_id for one in texts})
    systems = sorted({one.system for one in texts})
    levels = sorted({one.level for one in texts if one.level is not None})
    whose = f"by {plain(systems[0])}" if len(systems) == 1 else f"by {len(systems)} systems"
    known = (
        f", levels {plain(', '.join(levels))}"
        if levels
        else ", no levels: correlate with human ratings or votes"
    )
    st.success(
        f"{len(texts):,} {'text' if len(texts) == 1 else 'texts'} on {items:,} "
        f"{'item' if items == 1 else 'items'} {whose}{known}."
    )
    metrics_kept.read_notes(found.notes, found.left_out)
