"""Results of a run: download them, send them to scoring, or compare them with another system in a new draft study."""

from pathlib import PurePath

import streamlit as st

from core.errors import InputError
from core.formats.registry import read_study
from core.formats.study.files import SourceAnswers, place_beside, read_answers, verbatim_note
from core.runs.generation import count_verbatim, run_answers, spans_found_by, spans_warning
from core.runs.jobs import RunAtHand
from core.runs.path import runs_that, saved_run, written
from core.schema.runs import Run
from core.schema.study import Dataset
from core.store import Store
from core.store.runs import item_counts, item_states
from core.study import lifecycle
from core.study.audit import audit_note, audit_study
from core.tables.reading import same_name, sha256_of
from pages.generate.one_item import load_materials
from pages.tabs import downloads, new_run
from pages.tabs.phrases import NO_ITEM
from pages.widgets import menus, open_study
from pages.widgets.menus import given_file, name_of, once
from pages.widgets.messages import capital, mistakes_shown, plain, showable
from pages.widgets.parts import nothing, part
from pages.widgets.run_panel import small_notes

_PLACED, _NAMES, _SENT = "send_to_study_placed", "send_to_study_names", "send_to_study_sent"
_FILE = 0
"""The menu entry for a file, among the numbers of runs."""


def form(run: RunAtHand) -> None:
    """Choose the other system, preview the study, and make it."""
    part(
        "Send to a study",
        "Blind raters compare these answers with another system's answers to the same questions, level by level. The "
        "other answers come from another run or a file.",
    )
    with mistakes_shown():
        other = _other(run.store, run.run)
        if other is None:
            return
        dataset = _placed(run, *other)
        count = "1 question" if len(dataset.items) == 1 else f"{len(dataset.items)} questions"
        st.info(
            f"{count} at levels {plain(', '.join(dataset.levels))} from "
            f"{plain(' and '.join(dataset.sources))}."
        )
        small_notes(dataset.notes)
        if note := verbatim_note(dataset):
            st.warning(
                f"{plain(note)}. Raters see the reference next to the answers and recognise such a text at once."
            )
        if st.session_state.get(_SENT, {}).get("file") == dataset.sha256:
            _sent()
        else:
            _make(run.store, dataset, run.run.data_file)


def _other(store: Store, run: Run) -> tuple[str, SourceAnswers] | None:
    """Choose the other system; return a key that changes with its answers, and the answers, or None before a choice."""
    # Runs with the same kind of levels that have made something.
    fitting = [
        one
        for one in runs_that(store, "generation")
        if one.run_id != run.run_id and one.kind == run.kind and _done(store, one)
    ]
    # Runs of the same questions come first, and whole runs before partial ones.
    fitting.sort(
        key=lambda one: (one.data_sha256 != run.data_sha256, _done(store, one) < one.n_items, -one.run_id)
    )
    others = {one.run_id: one for one in fitting}
    names = {_FILE: "A file with answers ..."} | {one.run_id: name_of(one) for one in fitting}
    chosen = st.selectbox(
        "Other system",
        list(names),
        index=None,
        format_func=names.__getitem__,
        placeholder="Choose the other system ...",
        key=f"study_other_{run.run_id}",
        help="Runs of the same file come first, complete runs before partial ones.",
    )
    if chosen is None:
        return None
    if chosen != _FILE:
        answers = run_answers(saved_run(store, others[chosen]))
        return f"{chosen} {len(answers.outputs)}", answers
    st.markdown(
        "Accepted: Factual's JSON, or CSV, TSV and JSONL with the columns item_id, question, reference, level, system, "
        "text, language. Questions and level names must match this run."
    )
    given = given_file("study_file", "Answers")
    if given is None:
        return None
    data, file_name = given
    sources = once(
        _NAMES,
        (sha256_of(data), file_name),
        lambda: list(dict.fromkeys(one.source for one in read_study(data, file_name).finish_outputs()[1])),
    )
    named: str | None = sources[0]
    if len(sources) > 1:
        named = st.selectbox(
            "System in this file",
            sources,
            index=None,
            format_func=showable,
            placeholder="Choose a system ...",
            key=f"study_file_source_{sha256_of(data)[:8]}",
        )
    return None if named is None else (f"{sha256_of(data)} {named}", read_answers(data, file_name, named))


def _done(store: Store, run: Run) -> int:
    """Number of items with all levels: only these can be compared."""
    return item_counts(store, run.run_id)[0].get("done", 0)


def _placed(run: RunAtHand, key: str, other: SourceAnswers) -> Dataset:
    """Both systems side by side, made again only when something changed."""
    own = run_answers(run)
    clash = same_name(own.source) == same_name(other.source)
    left, right = st.columns(2)
    mine = left.text_input("Name of these answers", own.source, key=f"study_mine_{run.run.run_id}")
    theirs = right.text_input(
        "Name of the other system",
        f"{other.source} ({other.where})" if clash else other.source,
        key=f"study_theirs_{sha256_of(key.encode())[:8]}",
    )
    shared_only = st.checkbox("Leave out questions that only one system has", key="study_shared")
    if not mine.strip() or not theirs.strip():
        raise InputError("Name both systems.")
    return once(
        _PLACED,
        (run.run.run_id, len(own.outputs), key, mine, theirs, shared_only),
        lambda: place_beside(own.called(mine.strip()), other.called(theirs.strip()), shared_only=shared_only),
    )


def _make(store: Store, dataset: Dataset, file_name: str) -> None:
    known = lifecycle.studies_like(store, dataset, dataset.sources)
    with st.form("send_to_study"):
        name = st.text_input("Name of the study", PurePath(file_name).stem)
        st.markdown(
            ":small[Both systems are treated alike. On the page Studies, you can declare a candidate and a margin and change other "
            "settings until the first vote.]"
        )
        again = bool(known) and st.checkbox(
            f"Make it again: the same answers are already in {plain(', '.join(known))}"
        )
        if not st.form_submit_button("Make a draft study", type="primary"):
            return
    study = lifecycle.import_study(store, name, dataset, lifecycle.usual_design(dataset), again=again)
    st.session_state[_SENT] = {
        "file": dataset.sha256,
        "name": study.name,
        "study": study.study_id,
        "audit": audit_note(audit_study(store, study)),
    }
    st.rerun()


def _sent() -> None:
    """Show the study that was made, in place of the button."""
    sent = st.session_state[_SENT]
    st.success(f"{plain(sent['name'])} is a draft. Check its leakage audit, add raters, then open it.")
    if sent["audit"]:
        st.warning(plain(sent["audit"]))
    open_study.button(sent["study"], "design")


_MADE = "run_results_made"


def render(run: RunAtHand) -> None:
    """Show downloads, and buttons that send the answers to scoring or a study."""
    states = item_states(run.store, run.run.run_id)
    done = sum(state == "done" for state in states.values())
    if not states:
        nothing(NO_ITEM)
        return
    with mistakes_shown():
        _downloads(run, done, len(states))
    new_run.button(run.run)
    form(run)


def _downloads(run: RunAtHand, done: int, n_items: int) -> None:
    rest = " Reports and tables also contain partial results." if done < n_items else ""
    part("Downloads", f"{done:,} of {run.run.n_items:,} items are complete.{rest}")
    files, verbatim, found_by = once(
        _MADE,
        menus.key_of(run.store, run.run),
        lambda: (written(load_materials(run)), count_verbatim(run), spans_found_by(run)),
        "Making the files ...",
    )
    if (warning := spans_warning(found_by)) is not None:
        st.warning(plain(warning.replace("`", "")))
    if verbatim:
        first = run.request.settings.first_level
        st.warning(
            f"{capital(first)} is the reference word for word in {verbatim:,} of {n_items:,} items (`verbatim` in the records): "
            "every metric scores it as perfect, and raters of a study see the reference next to it."
        )
    downloads.buttons(files, f"assay-run-{run.run.run_id}.zip", "run")
