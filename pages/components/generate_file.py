"""The questions and references of a new run: the demo's, or a file that is kept while the session lasts."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from core.formats.generation import read_questions
from core.generation.records import Task
from core.runs.texts import Texts
from core.schema.study import MaterialSet
from core.tables.reading import sha256_of
from pages.components.kept_once import given_file, once
from pages.components.messages import file_read, plain

UNNAMED = "und"
"""Stands in place of a language that a file does not name."""
_DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "questions.jsonl"
_MOST_NOTES = 5
"""More are folded away: the buttons below stay in sight."""
_FILE, _READ = "generate_file_kept", "generate_file_read"


def put(name: str, data: bytes) -> None:
    """Take this file as the one that was given."""
    if data == _DEMO.read_bytes():
        st.session_state["generate_from"] = "demo"
        return
    st.session_state["generate_from"] = "file"
    st.session_state[_FILE] = (data, name)


def choose() -> Texts | None:
    """The file to work on; one that was uploaded is kept while the session lasts."""
    which = st.radio(
        "From",
        ["demo", "file"],
        format_func={"demo": "The demo's questions", "file": "A file of mine"}.__getitem__,
        horizontal=True,
        key="generate_from",
        persist_state="session",
    )
    if which == "demo":
        return _DEMO.read_bytes(), _DEMO.name
    st.markdown(
        "Accepted: the paper's JSON (`question`, `ground_truth`), or CSV, TSV and JSONL with the columns item_id, "
        "question, reference and, where there are, paraphrase, context, language."
    )
    return given_file(_FILE, "generate_file", ["json", "csv", "tsv", "jsonl", "ndjson"])


def read(file: Texts, task: Task | None) -> MaterialSet:
    """The questions, read once for a file and task and not at every press of a widget."""
    return once(_READ, (sha256_of(file[0]), file[1], task), lambda: read_questions(*file, task))


def summary(materials: MaterialSet, backend: str, first_level: str | None) -> None:
    """What was found in the file, and what the first level will lack for want of a paraphrase; None: it is not made."""
    found = materials.materials
    languages = sorted({material.item.language for material in found})
    count = "1 question" if len(found) == 1 else f"{len(found)} questions"
    bare = sum(one.paraphrase is None for one in found) if backend == "rules" and first_level else 0
    file_read(f"{count} {_languages(languages)}", remarks=bare > 0)
    small_notes(materials.notes)
    if bare:
        who = (
            "No question has a paraphrase"
            if bare == len(found)
            else f"{bare} of {len(found)} questions have no paraphrase"
        )
        st.warning(
            f"{who}. Rules cannot write one, so {first_level} will be the reference word for word (`verbatim` in the "
            "records): in a study its raters would see the reference twice, and every metric would call it perfect. "
            "Add a column `paraphrase`, or let a model make the answers."
        )


def small_notes(notes: Sequence[str]) -> None:
    """Remarks on a file, a line each; nothing that has to be mended."""
    if not notes:
        return
    listed = "  \n".join(f":small[{plain(note)}]" for note in notes)
    if len(notes) > _MOST_NOTES:
        with st.expander(f"{len(notes)} remarks"):
            st.markdown(listed)
    else:
        st.markdown(listed)


def _languages(tags: Sequence[str]) -> str:
    named = [tag for tag in tags if tag != UNNAMED]
    if not named:
        return f"in a language that the file does not name (`{UNNAMED}`)"
    rest = "" if len(named) == len(tags) else f", some with no language named (`{UNNAMED}`)"
    return f"in {plain(', '.join(named))}{rest}"
