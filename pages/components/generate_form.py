"""A new run by page: what to make, from which questions, who makes it, and a preview before all is paid for."""

from typing import NamedTuple

import streamlit as st
from core.runs.plan import create_run

from core.errors import InputError
from core.generation.records import EditCalls, Task
from core.generation.scheme import GenerationSettings
from core.schema import GenerationKind
from core.store import Store
from pages.components import generate_backend, generate_file, generate_prompts, generate_scheme, run_panel
from pages.components.generate_mistakes import as_on_page
from pages.components.messages import mistakes_shown
from pages.components.run_words import PREVIEW, PREVIEW_WORD


class _Wanted(NamedTuple):
    file: generate_file.GivenFile
    settings: GenerationSettings
    chosen: generate_backend.Chosen
    n_items: int


def form(store: Store) -> int | None:
    """The number of a run that was made and started in this run of the page, or None."""
    st.write(
        "Assay makes answers whose quality is known from questions and references: as good as the reference at the "
        "first level, worse at each that follows. A preview of five items comes first, and says what all will cost."
    )
    started = None
    with mistakes_shown():
        wanted = _wanted()
        if wanted is not None:
            started = _start(store, wanted)
    return started


def _wanted() -> _Wanted | None:
    """What the widgets say; None: there is no file yet."""
    # The file is read for a task, and the scheme offers what the backend can do: asked in another order than shown.
    questions, scheme, backend, last = (st.container() for _ in range(4))
    with backend:
        st.subheader("Who makes them", anchor=False)
        chosen = generate_backend.choose()
    with scheme:
        st.subheader("What to make", anchor=False)
        kind, factual, damage = generate_scheme.choose(chosen.backend)
    file = materials = None
    with questions, mistakes_shown():  # beside the file, not at the end of the form
        st.subheader("Questions and references", anchor=False)
        file = generate_file.choose()
        if file is not None:
            materials = generate_file.read(file, damage.task if kind == "damage" else None)
            generate_file.summary(materials, chosen.backend, "A0" if kind == "factual" else "level 0")
    if file is None or materials is None:
        with last:
            st.markdown(
                "Give a file above; the button that starts the run then stands here."
                if file is None
                else "Mend the file, then upload it again. What is wrong with it is said above."
            )
        return None
    with last:
        prompts = _prompts(chosen, kind, damage.task, factual.edit_calls)
        source = st.text_input(
            "Name of these answers in files and studies (empty: the model's name, or rules)",
            key="generate_source",
            persist_state="session",
        )
    settings = GenerationSettings(
        kind=kind,
        backend=chosen.backend,
        model=chosen.model,
        base_url=chosen.base_url,
        source=source.strip(),
        attempts=chosen.attempts,
        prompts=prompts,
        factual=factual,
        damage=damage,
        max_model_len=chosen.max_model_len,
    )
    return _Wanted(file, settings, chosen, len(materials.materials))


def _prompts(
    chosen: generate_backend.Chosen, kind: GenerationKind, task: Task, calls: EditCalls
) -> dict[str, str]:
    if chosen.backend == "rules":
        return {}
    return generate_prompts.choose(kind, task if kind == "damage" else "qa", calls)


def _start(store: Store, wanted: _Wanted) -> int | None:
    """Make the run and start it, once a button is pressed."""
    file, settings, chosen, n_items = wanted
    limit = None if n_items <= PREVIEW else PREVIEW
    everything = f"Run all {n_items} items" if n_items != 1 else "Run the one item"
    with st.container(horizontal=True):
        preview = st.button(
            f"Preview {PREVIEW_WORD} items" if limit else everything,
            type="primary",
            disabled=chosen.missing is not None,
            key="generate_preview",
        )
        at_once = (
            limit is not None
            and settings.backend == "rules"
            and st.button(everything, key="generate_all", help="Rules cost nothing.")
        )
    if not preview and not at_once:
        return None
    try:
        run, _ = create_run(store, file.data, file.name, settings, chosen.running, None if at_once else limit)
    except InputError as problem:
        raise as_on_page(problem) from None
    run_panel.start(run)
    return run.run_id
