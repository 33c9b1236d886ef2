"""A new run by page: what to make, from which questions, who makes it, and a preview before all is paid for."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.generation.factual.parse import Parsers
from core.generation.scheme import GenerationSettings, Scheme
from core.runs.asked import ask
from core.runs.environments import missing_for
from core.runs.kinds import kinds_that
from core.schema.kinds import Kind
from core.schema.settings import fields_of
from core.schema.study import Material
from core.store import Store
from pages.widgets import asked_model, run_panel, settings_form
from pages.widgets.messages import capital, mistakes_shown, plain
from pages.widgets.parts import explained
from pages.widgets.run_panel import FORM, PREVIEW_WORD

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
        chosen = asked_model.choose_backend(FORM, _RULES)
    with scheme:
        st.subheader("What to make", anchor=False)
        kind, chosen_settings = _scheme(chosen.backend)
        settings = kind.Settings.model_construct(**chosen_settings)  # checked as a button is pressed
        assert isinstance(settings, GenerationSettings)
    file = materials = None
    with questions, mistakes_shown():  # beside the file, not at the end of the form
        st.subheader("Questions and references", anchor=False)
        file = run_panel.choose()
        if file is not None:
            materials = run_panel.read(file, settings.asked_for)
            run_panel.summary(materials, chosen.backend, settings.first_level)
    with last:
        if file is None or materials is None:
            st.markdown(
                "Give a file above to start a run."
                if file is None
                else "Mend the file, then upload it again. Its problems are listed above."
            )
            return None
        by_rules = chosen.backend == "rules"
        notes = _notes(kind, settings, materials.materials)
        for note in notes:
            st.warning(plain(note.replace("`", "")))
        prompts = asked_model.choose_prompts(FORM, settings.prompts(by_rules=by_rules))
        name = st.text_input(
            "Name of these answers in files and studies (empty: the model's name, or rules)",
            key=f"{FORM}_source",
            persist_state="session",
        ).strip()
        return run_panel.start_buttons(
            store,
            FORM,
            lambda: ask(kind, chosen_settings, chosen.model, chosen.running, name=name, prompts=prompts),
            *file,
            len(materials.materials),
            disabled=chosen.missing is not None,
            does="Run",
            told=(*materials.notes, *notes),
            free=by_rules,
        )


def _notes(kind: Kind, settings: GenerationSettings, materials: Sequence[Material]) -> tuple[str, ...]:
    """What to know before the run starts, as far as it costs nothing to find out; the rest is said as it starts."""
    assert isinstance(kind, Scheme)
    return kind.notes(settings, materials, Parsers()) if missing_for("spacy") else ()


def _scheme(backend: str) -> tuple[Kind, dict[str, Any]]:
    """The kind of run, and its settings."""
    kinds = {kind.name: kind for kind in kinds_that("generation")}
    kind = kinds[
        st.radio(
            "Scheme",
            list(kinds),
            format_func=lambda name: kinds[name].title,
            key=f"{FORM}_kind",
            persist_state="session",
        )
    ]
    explained(f"{capital(kind.summary)}.", kind.section)
    fields = list(fields_of(kind.Settings))
    seen, folded = fields[:_ALWAYS_SEEN], fields[_ALWAYS_SEEN:]
    settings = settings_form.render(kind.Settings, FORM, without=folded, backend=backend)
    with st.expander("Advanced"):
        return kind, settings | settings_form.render(kind.Settings, FORM, without=seen, backend=backend)
