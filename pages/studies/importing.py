"""Import by page: pairs of two sources, or texts to be rated; and what is declared before the first vote."""

from collections.abc import Collection, Sequence

import streamlit as st

from core.errors import InputError
from core.formats.rated import outputs_of
from core.formats.registry import read_rated, read_texts
from core.formats.study_files import read_dataset, verbatim_note
from core.formats.study_tables import FORMATS
from core.formats.tasks import parse_task, shipped_tasks
from core.runs.generation import texts_of_run
from core.runs.path import at_hand, runs_that
from core.schema.scores import OutputSet
from core.schema.study import Dataset, Design, RatingTask, StudyKind, StudyRecord
from core.store import Store
from core.store.studies import studies_of_file
from core.study import lifecycle
from core.study.analysis_set import margin_note
from core.study.audit import audit_note, audit_study
from core.study.bundle import is_bundle, read_bundle
from core.study.lifecycle import import_rating_study
from core.tables.reading import decode
from pages.studies import designing
from pages.widgets import rating_scales
from pages.widgets.menus import TABLES, given_file, name_of
from pages.widgets.messages import file_read, keep, mistakes_shown, plain
from pages.widgets.parts import counted_as

_FILE, _OWN = 0, ""


_KINDS: dict[StudyKind, str] = {
    "pairs": "Pairs: two blind answers side by side",
    "ratings": "Ratings: one blind text after the other, scored or with its errors marked",
}


def form(store: Store) -> int | None:
    """The number of a study that was imported in this run, or None."""
    kind: StudyKind = st.radio(
        "What raters do", list(_KINDS), format_func=_KINDS.__getitem__, key="import_kind"
    )
    with mistakes_shown():
        return _pairs(store) if kind == "pairs" else _ratings(store)
    return None  # type: ignore[unreachable]  # what is wrong is on the page


def _again(known: Collection[str]) -> bool:
    """Whether a file is to be imported that is in these studies already."""
    return bool(known) and st.checkbox(
        f"Import it once more: this very file was imported as {plain(', '.join(known))}"
    )


def _say_read(what: str, notes: Sequence[str]) -> None:
    file_read(what, remarks=bool(notes))
    if notes:
        st.code("\n".join(notes), language=None, wrap_lines=True)


def _ratings(store: Store) -> int | None:
    outputs, task = _texts(store), _task()
    return None if outputs is None or task is None else _declared(store, outputs, task)


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
    given = given_file("ratings_file", ["csv", "tsv", "jsonl", "ndjson"])
    if given is None:
        return None
    if given[1].endswith((".jsonl", ".ndjson")):
        return outputs_of(read_rated(*given))  # ratings that it has already are not shown to anybody
    return read_texts(*given)


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
        task = parse_task(decode(upload.getvalue(), upload.name), upload.name)
    with st.expander("What raters read of it"):
        rating_scales.explained(task)
    return task


def _declared(store: Store, outputs: OutputSet, task: RatingTask) -> int | None:
    systems = dict.fromkeys(one.system for one in outputs.outputs)
    items = {one.item_id for one in outputs.outputs}
    _say_read(
        f"{counted_as(len(outputs.outputs), 'text')} of {counted_as(len(items), 'source')} by "
        f"{counted_as(len(systems), 'system')}",
        outputs.notes,
    )
    known = studies_of_file(store, outputs.sha256, "ratings")
    fields = designing.Fields(Design("", "", repeat_share=0.0, blinding_pairs=0))
    with st.form("import_ratings"):
        name = st.text_input("Name of the study", outputs.file_name.rsplit(".", 1)[0])
        left, middle, right = st.columns(3)
        fields.ratings(
            left,
            middle,
            "One rater rates all texts of a source: they stand side by side in the rater's list.",
        )
        fields.seed(right, new=True)
        again = _again(known)
        if not st.form_submit_button("Import as a draft", type="primary"):
            return None
    study, notes = import_rating_study(store, name, outputs, task, fields.declared(), again=again)
    keep(f"{study.name} is imported." + (f" Note: {'; '.join(notes)}." if notes else ""))
    return study.study_id


def _pairs(store: Store) -> int | None:
    st.write(
        f"Accepted: {FORMATS}, or a study bundle (.zip). "
        "Columns of a table: item_id, question, reference, level, source, text, language."
    )
    given = given_file("import_file", [*TABLES, "zip"])
    if given is None:
        return None
    data, name = given
    return (
        _bundle(store, read_bundle(data, name))
        if is_bundle(data)
        else _dataset(store, read_dataset(data, name), name)
    )


def _bundle(store: Store, record: StudyRecord) -> int | None:
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
    _say_read(
        f"{len(dataset.items)} questions at levels {plain(', '.join(dataset.levels))} "
        f"from the sources {plain(' and '.join(dataset.sources))}",
        notes,
    )
    papers = set(dataset.sources) == set(lifecycle.PAPER_SOURCES)
    usual = list(lifecycle.PAPER_SOURCES if papers else dataset.sources)
    known = studies_of_file(store, dataset.sha256, "pairs")
    design = Design("", "")  # its defaults
    fields = designing.Fields(design)
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
        fields.margin(left, middle, "Non-inferiority margin", "On the scale of the score, -1 to 1.")
        fields.seed(right, new=True)
        st.markdown(f":small[{margin_note(design.margin)}]")
        fields.analysis(dataset.levels)
        again = _again(known)
        if not st.form_submit_button("Import as a draft", type="primary"):
            return None
    if candidate is None:
        raise InputError("Say which source is the candidate.")
    candidate, comparator = lifecycle.roles(dataset, candidate, None)
    design = fields.declared(candidate=candidate, comparator=comparator)
    study = lifecycle.import_study(store, name, dataset, design, again=again)
    if note := audit_note(audit_study(store, study)):
        keep(f"{study.name} is imported. {note}")
    return study.study_id
