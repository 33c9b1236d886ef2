"""Import of texts that are rated one by one: a file or a run, what is asked of each text, and how the work is shared."""

import streamlit as st

from core.errors import InputError
from core.formats.rated import outputs_of, read_rated
from core.formats.scorable import read_outputs
from core.formats.tasks import parse_task, shipped_tasks
from core.runs.generation import texts_of_run
from core.runs.path import at_hand, runs_that
from core.schema.scores import OutputSet
from core.schema.study import Design
from core.schema.tasks import RatingTask
from core.store import Store
from core.store.studies import studies_of_file
from core.study import lifecycle
from core.study.design import LARGEST_SEED
from core.study.rated.importing import import_rating_study
from pages.components import rating_scales
from pages.components.messages import file_read, keep, mistakes_shown, plain
from pages.components.numbers import counted_as
from pages.components.run_choice import name_of

_FILE, _OWN = 0, ""


def form(store: Store) -> int | None:
    """The number of a rating study that was made in this run, or None."""
    made = None
    with mistakes_shown():
        outputs = _texts(store)
        task = _task()
        if outputs is not None and task is not None:
            made = _declared(store, outputs, task)
    return made


def _texts(store: Store) -> OutputSet | None:
    runs = {run.run_id: run for run in runs_that(store, "generation")}
    chosen = _FILE
    if runs:
        names = {_FILE: "A file"} | {number: name_of(run) for number, run in runs.items()}
        chosen = st.selectbox("Texts", list(names), format_func=names.__getitem__, key="ratings_from")
    if chosen != _FILE:
        return read_outputs(*texts_of_run(at_hand(store, chosen)))
    st.write(
        "Accepted: CSV, TSV and JSONL with a row a text. Columns: item_id, system, text; source (what was asked or "
        "translated), reference, level and language where there are any. Any number of systems and levels."
    )
    upload = st.file_uploader("File", type=["csv", "tsv", "jsonl", "ndjson"], key="ratings_file")
    if upload is None:
        return None
    data = upload.getvalue()
    if upload.name.endswith((".jsonl", ".ndjson")):
        return outputs_of(
            read_rated(data, upload.name)
        )  # ratings that it has already are not shown to anybody
    return read_outputs(data, upload.name)


def _task() -> RatingTask | None:
    """A task that Assay ships, or one that is uploaded; shown as raters will read it."""
    tasks = {task.name: task for task in shipped_tasks()}
    chosen = st.selectbox(
        "What is asked of every text",
        [*tasks, _OWN],
        format_func=lambda name: f"{tasks[name].title} ({name})" if name else "A task file of your own ...",
        key="ratings_task",
    )
    task = tasks.get(chosen)
    if task is None:
        upload = st.file_uploader("Task (YAML)", type=["yaml", "yml"], key="ratings_task_file")
        if upload is None:
            return None
        try:
            text = upload.getvalue().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{upload.name} is not UTF-8 text.") from None
        task = parse_task(text, upload.name)
    with st.expander("What raters read of it"):
        rating_scales.explained(task)
    return task


def _declared(store: Store, outputs: OutputSet, task: RatingTask) -> int | None:
    systems = dict.fromkeys(one.system for one in outputs.outputs)
    items = {one.item_id for one in outputs.outputs}
    file_read(
        f"{counted_as(len(outputs.outputs), 'text')} of {counted_as(len(items), 'source')} by "
        f"{counted_as(len(systems), 'system')}",
        remarks=bool(outputs.notes),
    )
    if outputs.notes:
        st.code("\n".join(outputs.notes), language=None, wrap_lines=True)
    known = studies_of_file(store, outputs.sha256, "ratings")
    with st.form("import_ratings"):
        name = st.text_input("Name of the study", outputs.file_name.rsplit(".", 1)[0])
        left, middle, right = st.columns(3)
        raters = left.number_input(
            "Raters per source (0: all)",
            0,
            1000,
            0,
            help="One rater rates all texts of a source: they stand side by side in the rater's list.",
        )
        repeats = middle.number_input("Hidden repeats (share)", 0.0, 0.5, 0.0, 0.01)
        seed = right.text_input("Seed (empty: a new one)", "", help=f"A whole number up to {LARGEST_SEED}.")
        again = bool(known) and st.checkbox(
            f"Import it once more: this very file was imported as {plain(', '.join(known))}"
        )
        if not st.form_submit_button("Import as a draft", type="primary"):
            return None
    design = Design(
        candidate="",
        comparator="",
        seed=lifecycle.parse_seed(seed),
        repeat_share=round(repeats, 4),
        votes_per_pair=raters or None,
        blinding_pairs=0,
    )
    study, notes = import_rating_study(store, name, outputs, task, design, again=again)
    keep(f"{study.name} is imported." + (f" Note: {'; '.join(notes)}." if notes else ""))
    return study.study_id
