"""Import by page: pairs of two sources, or texts to be rated; and what is declared before the first vote."""

from dataclasses import replace

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.errors import InputError
from core.formats.rated import outputs_of
from core.formats.registry import read_rated, read_texts
from core.formats.study_files import read_dataset, verbatim_note
from core.formats.study_tables import FORMATS
from core.formats.tasks import parse_task, shipped_tasks
from core.runs.generation import texts_of_run
from core.runs.path import at_hand, runs_that
from core.schema.scores import OutputSet
from core.schema.study import Dataset, Design
from core.schema.tasks import RatingTask, StudyKind
from core.store import Store
from core.store.studies import studies_of_file
from core.study import lifecycle
from core.study.analysis_set import margin_note
from core.study.audit import audit_note, audit_study
from core.study.bundle import is_bundle, read_bundle
from core.study.design import LARGEST_SEED
from core.study.rated.importing import import_rating_study
from pages.studies import designing
from pages.widgets import rating_scales
from pages.widgets.menus import name_of, with_columns_chosen
from pages.widgets.messages import file_read, keep, mistakes_shown, plain
from pages.widgets.parts import counted_as

_FILE, _OWN = 0, ""


def ratings_form(store: Store) -> int | None:
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
        return read_texts(*texts_of_run(at_hand(store, chosen)))
    st.write(
        "Accepted: CSV, TSV and JSONL with a row a text. Columns: item_id, system, text; source (what was asked or "
        "translated), reference, level and language where there are any. Any number of systems and levels."
    )
    upload = st.file_uploader("File", type=["csv", "tsv", "jsonl", "ndjson"], key="ratings_file")
    if upload is None:
        return None
    data, _ = with_columns_chosen(upload.getvalue(), upload.name, "ratings_file")
    if upload.name.endswith((".jsonl", ".ndjson")):
        return outputs_of(
            read_rated(data, upload.name)
        )  # ratings that it has already are not shown to anybody
    return read_texts(data, upload.name)


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


_KINDS: dict[StudyKind, str] = {
    "pairs": "Pairs: two blind answers side by side",
    "ratings": "Ratings: one blind text after the other, scored or with its errors marked",
}


def form(store: Store) -> int | None:
    """The number of a study that was imported in this run, or None."""
    kind: StudyKind = st.radio(
        "What raters do", list(_KINDS), format_func=_KINDS.__getitem__, key="import_kind"
    )
    if kind == "ratings":
        return ratings_form(store)
    return _pairs(store)


def _pairs(store: Store) -> int | None:
    st.write(
        f"Accepted: {FORMATS}, or a study bundle (.zip). "
        "Columns of a table: item_id, question, reference, level, source, text, language."
    )
    upload = st.file_uploader(
        "File", type=["json", "csv", "tsv", "jsonl", "ndjson", "zip"], key="import_file"
    )
    if upload is None:
        return None
    imported = None
    with mistakes_shown():
        if is_bundle(upload.getvalue()):
            imported = _bundle(store, upload)
        else:
            data, name = with_columns_chosen(upload.getvalue(), upload.name, "import_file")
            imported = _dataset(store, read_dataset(data, name), name)
    return imported


def _bundle(store: Store, upload: UploadedFile) -> int | None:
    record = read_bundle(upload.getvalue(), upload.name)
    st.write(
        f"A bundle of the study {plain(record.study.name)}: {len(record.items)} questions, "
        f"{len(record.raters)} raters, {len(record.answers) + len(record.rating_answers)} answers. Links have to be issued again."
    )
    name = st.text_input("Name", record.study.name, key="import_bundle_name")
    if st.button("Restore this study", type="primary"):
        return lifecycle.restore_study(store, record, name=name).study_id
    return None


def _dataset(store: Store, dataset: Dataset, file_name: str) -> int | None:
    notes = [note for note in (*dataset.notes, verbatim_note(dataset)) if note]
    file_read(
        f"{len(dataset.items)} questions at levels {plain(', '.join(dataset.levels))} "
        f"from the sources {plain(' and '.join(dataset.sources))}",
        remarks=bool(notes),
    )
    if notes:
        st.code("\n".join(notes), language=None, wrap_lines=True)
    papers = set(dataset.sources) == set(lifecycle.PAPER_SOURCES)
    usual = list(lifecycle.PAPER_SOURCES if papers else dataset.sources)
    known = studies_of_file(store, dataset.sha256, "pairs")
    design = Design("", "")  # its defaults
    with st.form("import"):
        name = st.text_input("Name of the study", file_name.rsplit(".", 1)[0])
        candidate = st.radio(
            "Candidate: the source you ask about",
            usual,
            index=0 if papers else None,
            format_func=plain,
            horizontal=True,
            help="The other source is the comparator. Both are frozen with the margin at the first vote.",
        )
        left, middle, right = st.columns(3)
        margin = left.number_input(
            "Non-inferiority margin",
            0.01,
            1.99,
            design.margin,
            0.01,
            help="On the scale of the score, -1 to 1.",
        )
        confidence = middle.number_input(
            "Confidence level (one-sided)", 0.51, 0.99, design.confidence_level, 0.01
        )
        seed = right.text_input("Seed (empty: a new one)", "", help=f"A whole number up to {LARGEST_SEED}.")
        st.markdown(f":small[{margin_note(design.margin)}]")
        analysis = designing.analysis_fields(design, dataset.levels)
        again = bool(known) and st.checkbox(
            f"Import it once more: this very file was imported as {plain(', '.join(known))}"
        )
        if not st.form_submit_button("Import as a draft", type="primary"):
            return None
    if candidate is None:
        raise InputError("Say which source is the candidate.")
    candidate, comparator = lifecycle.roles(dataset, candidate, None)
    design = replace(
        design,
        candidate=candidate,
        comparator=comparator,
        margin=round(margin, 4),
        confidence_level=round(confidence, 4),
        seed=lifecycle.parse_seed(seed),
        **analysis,
    )
    study = lifecycle.import_study(store, name, dataset, design, again=again)
    if note := audit_note(audit_study(store, study)):
        keep(f"{study.name} is imported. {note}")
    return study.study_id
