"""The form of a new generation run: questions, scheme, model, and a preview before the whole run."""

from pathlib import Path
from typing import Any

import streamlit as st

from core.formats.registry import read_questions
from core.generation.parse import Parsers
from core.generation.scheme import GenerationSettings, Scheme
from core.runs.jobs import RunAtHand
from core.runs.kinds import kinds_that
from core.runs.working.environments import missing_for
from core.schema.runs import Kind
from core.schema.settings import fields_of
from core.schema.study import MaterialSet
from core.sources.texts import Texts
from core.store import Store
from core.store.runs import run_data
from core.tables.reading import sha256_of
from pages.widgets import menus, run_panel, settings_form
from pages.widgets.menus import given_file, once
from pages.widgets.messages import capital, file_read, mistakes_shown, plain
from pages.widgets.parts import explained
from pages.widgets.run_panel import PREVIEW_WORD, small_notes
from pages.widgets.settings_form import Wanted

_FORM = "generate"
"""Prefix of the keys of the form's widgets."""
_UNNAMED = "und"
"""Language tag of texts whose file names no language."""
_DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "questions.jsonl"
_FILE, _READ = "generate_file_kept", "generate_file_read"
_RULES = (
    "Fixed rules replace numbers, dates and names. Good enough to try everything out, but plainer than what a model "
    "writes. Records are marked `rules`."
)
_ALWAYS_SEEN = 2
"""Number of a scheme's fields outside the folded part."""


def form(store: Store) -> int | None:
    """Show the form; return the number of the run that its button started, or None."""
    st.write(
        "Answers of the first level are as good as the reference, and each later level is worse. Preview "
        f"{PREVIEW_WORD} items first to see what the whole run will cost."
    )
    with mistakes_shown():
        if (started := _form(store)) is not None:
            return started
    return None


def _form(store: Store) -> int | None:
    # The file is read for the scheme's task, and the scheme depends on the backend: drawn in another order than shown.
    questions, scheme, backend, last = (st.container() for _ in range(4))
    with backend:
        st.header("Who writes the answers", anchor=False)
        chosen = settings_form.choose_backend(_FORM, _RULES)
    with scheme:
        st.header("What to make", anchor=False)
        kind, chosen_settings = _scheme(chosen.backend)
        settings = kind.Settings.model_construct(**chosen_settings)  # Checked when a button is pressed.
        assert isinstance(settings, GenerationSettings)
    file = materials = None
    with questions, mistakes_shown():  # Problems appear next to the file, not at the end of the form.
        st.header("Questions and references", anchor=False)
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
                "Upload a file above to start a run."
                if file is None
                else "Correct the problems listed above, then upload the file again."
            )
            return None
        assert isinstance(kind, Scheme)
        # Only what is cheap to find out; the run reports the rest when it starts.
        notes = kind.notes(settings, materials.materials, Parsers()) if missing_for("spacy") else ()
        for note in notes:
            st.warning(plain(note.replace("`", "")))
        prompts = settings_form.choose_prompts(_FORM, settings.prompts(by_rules=chosen.by_rules))
        name = st.text_input(
            "Name of these answers in files and studies (default: the model's name, or rules)",
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
    """Choose the scheme and its settings."""
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
    """Open the form with the run's file and settings."""
    settings_form.put(run.request.settings, _FORM)
    settings_form.put_backend(_FORM, run.request.model, run.running)
    settings_form.put_prompts(_FORM, run.request, f"run {run.run.run_id}")
    st.session_state[f"{_FORM}_kind"] = run.kind.name
    st.session_state[f"{_FORM}_source"] = run.request.name
    data = run_data(run.store, run.run.run_id)
    demo = data == _DEMO.read_bytes()
    st.session_state["generate_from"] = "demo" if demo else "file"
    if not demo:
        st.session_state[_FILE] = (data, run.run.data_file)
    menus.remember_run(menus.NEW_RUN)
    st.rerun()


def _choose() -> Texts | None:
    """Choose the file; an uploaded one is kept while the session lasts."""
    which = st.radio(
        "From",
        ["demo", "file"],
        format_func={"demo": "Demo questions", "file": "A file of mine"}.__getitem__,
        horizontal=True,
        key="generate_from",
        persist_state="session",
    )
    if which == "demo":
        return _DEMO.read_bytes(), _DEMO.name
    st.markdown(
        "Accepted: Factual's JSON (`question`, `ground_truth`), or CSV, TSV and JSONL with the columns item_id, question, "
        "reference; optional: paraphrase, context, language."
    )
    return given_file("generate_file", slot=_FILE)


def _summary(materials: MaterialSet, backend: str, first_level: str | None) -> None:
    """Show what the file contains, and warn if rules lack a paraphrase for the first level; None: that level is not made."""
    found = materials.materials
    tags = {material.item.language for material in found}
    named = ", ".join(sorted(tags - {_UNNAMED}))
    rest = f", some without a language (`{_UNNAMED}`)" if _UNNAMED in tags else ""
    languages = f"in {plain(named)}{rest}" if named else f"without a language (`{_UNNAMED}`)"
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
            "records). Raters would see the reference twice, and every metric would score it as perfect. Add a column "
            "`paraphrase`, or let a model write the answers."
        )
