"""A new run by page: what to make, from which questions, who makes it, and a preview before all is paid for."""

from pathlib import Path
from typing import Any

import streamlit as st

from core.formats.registry import read_questions
from core.generation.parse import Parsers
from core.generation.scheme import GenerationSettings, Scheme
from core.runs.environments import missing_for
from core.runs.jobs import RunAtHand
from core.runs.kinds import kinds_that
from core.runs.texts import Texts
from core.schema.runs import Kind
from core.schema.settings import fields_of
from core.schema.study import MaterialSet
from core.store import Store
from core.store.runs import run_data
from core.tables.reading import sha256_of
from pages.widgets import menus, run_panel, settings_form
from pages.widgets.menus import TABLES, given_file, once
from pages.widgets.messages import capital, file_read, mistakes_shown, plain
from pages.widgets.parts import explained
from pages.widgets.run_panel import PREVIEW_WORD, small_notes
from pages.widgets.settings_form import Wanted

_FORM = "generate"
"""With which the keys of the form's widgets begin."""
_UNNAMED = "und"
"""Stands in place of a language that a file does not name."""
_DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "questions.jsonl"
_FILE, _READ = "generate_file_kept", "generate_file_read"
_RULES = (
    "Numbers, dates, names and the like are exchanged by fixed rules: good enough to try everything out, "
    "plainer than what a model writes. Records say `rules`."
)
_ALWAYS_SEEN = 2
"""Fields of a scheme; the others stand folded away."""


def form(store: Store) -> int | None:
    """The number of a run that was made and started in this run of the page, or None."""
    st.write(
        "From questions and references Assay makes answers of known quality: as good as the reference at the first "
        f"level, worse at each level after it. Preview {PREVIEW_WORD} items first to see what all of them will cost."
    )
    with mistakes_shown():
        if (started := _form(store)) is not None:
            return started
    return None


def _form(store: Store) -> int | None:
    # The file is read for a task, and the scheme offers what the backend can do: asked in another order than shown.
    questions, scheme, backend, last = (st.container() for _ in range(4))
    with backend:
        st.subheader("Who makes them", anchor=False)
        chosen = settings_form.choose_backend(_FORM, _RULES)
    with scheme:
        st.subheader("What to make", anchor=False)
        kind, chosen_settings = _scheme(chosen.backend)
        settings = kind.Settings.model_construct(**chosen_settings)  # checked as a button is pressed
        assert isinstance(settings, GenerationSettings)
    file = materials = None
    with questions, mistakes_shown():  # beside the file, not at the end of the form
        st.subheader("Questions and references", anchor=False)
        file, task = _choose(), settings.asked_for
        if file is not None:
            data, name = file
            materials = once(
                _READ, (sha256_of(data), name, task), lambda: read_questions(data, name, task=task)
            )
            _summary(materials, chosen.backend, settings.first_level)
    with last:
        if file is None or materials is None:
            st.markdown(
                "Give a file above to start a run."
                if file is None
                else "Mend the file, then upload it again. Its problems are listed above."
            )
            return None
        assert isinstance(kind, Scheme)
        # As far as it costs nothing to find out; the rest is said as the run starts.
        notes = kind.notes(settings, materials.materials, Parsers()) if missing_for("spacy") else ()
        for note in notes:
            st.warning(plain(note.replace("`", "")))
        prompts = settings_form.choose_prompts(_FORM, settings.prompts(by_rules=chosen.by_rules))
        name = st.text_input(
            "Name of these answers in files and studies (empty: the model's name, or rules)",
            key=f"{_FORM}_source",
            persist_state="session",
        ).strip()
        return run_panel.start_buttons(
            store,
            _FORM,
            Wanted(kind, chosen_settings, chosen, prompts, name=name),
            *file,
            len(materials.materials),
            does="Run",
            told=(*materials.notes, *notes),
            free=chosen.by_rules,
        )


def _scheme(backend: str) -> tuple[Kind, dict[str, Any]]:
    """The kind of run, and its settings."""
    kinds = {kind.name: kind for kind in kinds_that("generation")}
    kind = kinds[
        st.radio(
            "Scheme",
            list(kinds),
            format_func=lambda name: kinds[name].title,
            key=f"{_FORM}_kind",
            persist_state="session",
        )
    ]
    explained(f"{capital(kind.summary)}.", kind.section)
    fields = list(fields_of(kind.Settings))
    seen, folded = fields[:_ALWAYS_SEEN], fields[_ALWAYS_SEEN:]
    settings = settings_form.render(kind.Settings, _FORM, without=folded, backend=backend)
    with st.expander("Advanced"):
        return kind, settings | settings_form.render(kind.Settings, _FORM, without=seen, backend=backend)


def open_form(run: RunAtHand) -> None:
    """Open the form as it was filled for the run, with its file."""
    settings_form.put(run.asked.chosen, _FORM)
    settings_form.put_backend(_FORM, run)
    settings_form.put_prompts(_FORM, run)
    st.session_state[f"{_FORM}_kind"] = run.kind.name
    st.session_state[f"{_FORM}_source"] = run.asked.name
    data = run_data(run.store, run.run.run_id)
    demo = data == _DEMO.read_bytes()
    st.session_state["generate_from"] = "demo" if demo else "file"
    if not demo:
        st.session_state[_FILE] = (data, run.run.data_file)
    menus.remember_run(menus.NEW_RUN)
    st.rerun()


def _choose() -> Texts | None:
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
    return given_file("generate_file", TABLES, slot=_FILE)


def _summary(materials: MaterialSet, backend: str, first_level: str | None) -> None:
    """What was found in the file, and what the first level will lack for want of a paraphrase; None: it is not made."""
    found = materials.materials
    tags = {material.item.language for material in found}
    named = ", ".join(sorted(tags - {_UNNAMED}))
    rest = f", some with no language named (`{_UNNAMED}`)" if _UNNAMED in tags else ""
    languages = (
        f"in {plain(named)}{rest}" if named else f"in a language that the file does not name (`{_UNNAMED}`)"
    )
    count = "1 question" if len(found) == 1 else f"{len(found)} questions"
    bare = sum(one.paraphrase is None for one in found) if backend == "rules" and first_level else 0
    file_read(f"{count} {languages}", remarks=bare > 0)
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
