"""A new run by page: what to make, from which questions, who makes it, and a preview before all is paid for."""

import re
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from core.datasets.questions import read_questions
from core.datasets.reading import sha256_of
from core.errors import InputError
from core.generation.records import EditCalls, Task
from core.runs.plan import create_run
from core.runs.settings import GenerationSettings
from core.schema import MaterialSet, RunKind
from core.store import Store
from pages.components import generate_backend, generate_prompts, generate_scheme, run_panel
from pages.components.messages import mistakes_shown, plain

PREVIEW = 5
"""Items that show what a run will make, and what all of them will cost."""
_PREVIEW_WORD = "five"
_DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "questions.jsonl"
_FILE, _READ = "generate_file_kept", "generate_file_read"
_LABELS = {
    "--backend": "Who makes the answers",
    "--model": "Model",
    "--base-url": "Address",
    "--levels": "Levels",
    "--keep": "Share of facts",
    "--attempts": "Answers asked for one step",
    "--concurrency": "Requests open at once",
    "--timeout": "Seconds for one request",
    "--retries": "Further tries",
    "--input-price": "Price of a million input tokens",
    "--output-price": "Price of a million output tokens",
    "--key-variable": "Environment variable that holds the key",
    "--parser": "Facts are found by",
}


class _File(NamedTuple):
    name: str
    data: bytes


class _Wanted(NamedTuple):
    file: _File
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
        file = _questions()
        if file is not None:
            materials = _read(file, damage.task if kind == "damage" else None)
            _summary(materials, chosen.backend, "A0" if kind == "factual" else "level 0")
    if file is None or materials is None:
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


def _prompts(chosen: generate_backend.Chosen, kind: RunKind, task: Task, calls: EditCalls) -> dict[str, str]:
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
            f"Preview {_PREVIEW_WORD} items" if limit else everything,
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
        raise InputError(problem.what, [_as_on_page(line) for line in problem.problems]) from None
    run_panel.start(run)
    return run.run_id


def _questions() -> _File | None:
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
        return _File(_DEMO.name, _DEMO.read_bytes())
    st.markdown(
        "Accepted: the paper's JSON (`question`, `ground_truth`), or CSV, TSV and JSONL with the columns item_id, "
        "question, reference, paraphrase, context, language; all but question and reference may be missing."
    )
    upload = st.file_uploader(
        "File", type=["json", "csv", "tsv", "jsonl", "ndjson"], key="generate_file", max_upload_size=100
    )
    if upload is not None:
        st.session_state[_FILE] = _File(upload.name, upload.getvalue())
    kept: _File | None = st.session_state.get(_FILE)
    if kept is not None and upload is None:
        st.markdown(f"The file is still {plain(kept.name)}; choose another to replace it.")
    return kept


def _read(file: _File, task: Task | None) -> MaterialSet:
    """The questions, read once for a file and task and not at every press of a widget."""
    key = (sha256_of(file.data), file.name, task)
    known = st.session_state.get(_READ)
    if known is None or known[0] != key:
        st.session_state[_READ] = known = (key, read_questions(file.data, file.name, task))
    materials: MaterialSet = known[1]
    return materials


def _summary(materials: MaterialSet, backend: str, first_level: str) -> None:
    found = materials.materials
    languages = sorted({material.item.language for material in found})
    st.success(f"{len(found)} questions in {plain(', '.join(languages))}: no problem found.")
    if materials.notes:
        st.code("\n".join(materials.notes), language=None, wrap_lines=True)
    bare = sum(material.paraphrase is None for material in found)
    if bare and backend == "rules":
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


def _as_on_page(problem: str) -> str:
    """A problem under the name that the page gives to the command's option."""
    option = re.match(r"--[a-z-]+", problem)
    return problem if option is None else problem.replace(option[0], _LABELS.get(option[0], option[0]), 1)
