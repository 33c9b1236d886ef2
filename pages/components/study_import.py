"""Import by page: pairs of two sources, or texts to be rated; and what is declared before the first vote."""

from dataclasses import replace

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from core.errors import InputError
from core.formats.study_files import FORMATS, read_dataset, verbatim_note
from core.schema.study import Dataset, Design
from core.schema.tasks import StudyKind
from core.store import Store
from core.store.studies import studies_of_file
from core.study import lifecycle
from core.study.analysis_set import margin_note
from core.study.audit import audit_note, audit_study
from core.study.bundle import is_bundle, read_bundle
from core.study.design import LARGEST_SEED
from pages.components import study_design, study_import_ratings
from pages.components.messages import file_read, keep, mistakes_shown, plain

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
        return study_import_ratings.form(store)
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
            imported = _dataset(store, read_dataset(upload.getvalue(), upload.name), upload.name)
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
        analysis = study_design.analysis_fields(design, dataset.levels)
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
