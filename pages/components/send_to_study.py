"""A run's answers and another source's, side by side as a new study in draft."""

from pathlib import PurePath
from typing import get_args

import streamlit as st

from core.datasets.beside import SourceAnswers, place_beside, read_answers, verbatim_note
from core.datasets.reading import same_name, sha256_of
from core.errors import InputError
from core.runs.sources import renamed, run_answers
from core.schema import Dataset, Design, Run, RunKind
from core.store import Store
from core.store.runs import item_counts, list_runs
from core.store.studies import studies_of_file
from core.study import lifecycle
from core.study.audit import audit_note, audit_study
from pages.components import study_choice
from pages.components.figures import part
from pages.components.messages import mistakes_shown, plain, tell
from pages.components.run_choice import name_of

_PLACED = "send_to_study_placed"
_FILE = 0
"""Stands for a file among the runs to choose from."""


def form(store: Store, run: Run) -> None:
    """Choose the other source, see what would become of it, and make the study."""
    part(
        "Send to a study",
        "Blind raters compare these answers with another source's answers to the same questions, level by level: "
        "another run's, or those in a file.",
    )
    with mistakes_shown():
        other = _other(store, run)
        if other is None:
            return
        dataset = _placed(store, run, *other)
        st.success(
            f"{len(dataset.items)} questions at levels {plain(', '.join(dataset.levels))} from "
            f"{plain(' and '.join(dataset.sources))}."
        )
        if dataset.notes:
            st.code("\n".join(dataset.notes), language=None, wrap_lines=True)
        if note := verbatim_note(dataset):
            st.warning(
                f"{plain(note)}. Raters see the reference beside the answers: such a text is no answer of a source, "
                "and can be told at once."
            )
        _make(store, dataset, run.data_file)


def _other(store: Store, run: Run) -> tuple[str, SourceAnswers] | None:
    """A key that changes with them, and the other source's answers; None: nothing is chosen yet."""
    others = {one.run_id: one for one in list_runs(store, get_args(RunKind)) if _fits(store, one, run)}
    same = [one.run_id for one in others.values() if one.data_sha256 == run.data_sha256]
    names = {run_id: name_of(one) for run_id, one in others.items()} | {_FILE: "A file with answers ..."}
    # What has the same questions for certain comes first.
    options = [*same, _FILE, *(run_id for run_id in others if run_id not in same)]
    chosen = st.selectbox("The other source", options, format_func=names.__getitem__, key="study_other")
    if chosen != _FILE:
        answers = run_answers(store, others[chosen])
        return f"{chosen} {len(answers.outputs)}", answers
    st.markdown(
        "Accepted: the paper's JSON, or CSV, TSV and JSONL with the columns item_id, question, reference, level, source, "
        "text, language. It has the same questions and the same names of levels."
    )
    upload = st.file_uploader("Answers", type=["json", "csv", "tsv", "jsonl", "ndjson"], key="study_file")
    named = st.text_input("Its source, if the file holds two", key="study_file_source").strip()
    if upload is None:
        return None
    data = upload.getvalue()
    return f"{sha256_of(data)} {named}", read_answers(data, upload.name, named or None)


def _fits(store: Store, other: Run, run: Run) -> bool:
    """Whether it is another run with the same kind of levels that has made something."""
    return other.run_id != run.run_id and other.kind == run.kind and bool(item_counts(store, other.run_id)[0])


def _placed(store: Store, run: Run, key: str, other: SourceAnswers) -> Dataset:
    """Both side by side, made again only when something changed."""
    own = run_answers(store, run)
    clash = same_name(own.source) == same_name(other.source)
    left, right = st.columns(2)
    mine = left.text_input("Name of these answers", own.source, key=f"study_mine_{run.run_id}")
    theirs = right.text_input(
        "Name of the other source",
        f"{other.source} ({other.where})" if clash else other.source,
        key=f"study_theirs_{sha256_of(key.encode())[:8]}",
    )
    shared_only = st.checkbox("Leave out questions that only one of the two has", key="study_shared")
    if not mine.strip() or not theirs.strip():
        raise InputError("Both sources need a name.")
    whole = (run.run_id, len(own.outputs), key, mine, theirs, shared_only)
    known = st.session_state.get(_PLACED)
    if known is None or known[0] != whole:
        dataset = place_beside(
            renamed(own, mine.strip()), renamed(other, theirs.strip()), shared_only=shared_only
        )
        st.session_state[_PLACED] = known = (whole, dataset)
    placed: Dataset = known[1]
    return placed


def _make(store: Store, dataset: Dataset, file_name: str) -> None:
    known = studies_of_file(store, dataset.sha256)
    with st.form("send_to_study"):
        name = st.text_input("Name of the study", PurePath(file_name).stem)
        candidate = st.radio(
            "Candidate: the source you ask about",
            dataset.sources,
            index=None,
            format_func=plain,
            horizontal=True,
            help="The other source is the comparator. Margin, seed and all else can be set on the page Studies until "
            "the first vote.",
        )
        again = bool(known) and st.checkbox(
            f"Make it once more: these very answers are in {plain(', '.join(known))}"
        )
        if not st.form_submit_button("Make a study in draft", type="primary"):
            return
    if candidate is None:
        raise InputError("Say which source is the candidate.")
    candidate, comparator = lifecycle.roles(dataset, candidate, None)
    design = Design(candidate=candidate, comparator=comparator, seed=lifecycle.new_seed())
    study = lifecycle.import_study(store, name, dataset, design, again=again)
    study_choice.remember(study.study_id)
    notes = [audit_note(audit_study(store, study)), verbatim_note(dataset)]
    tell(
        " ".join(
            [
                f"{study.name} is a draft. Go on under Studies: look at its leakage audit, add raters, then open it.",
                *(note for note in notes if note),
            ]
        )
    )
