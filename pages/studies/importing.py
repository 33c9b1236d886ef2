"""A new study: its file, the systems to compare, a design with its consequences, a preview, and the draft."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st

from core.errors import counted
from core.formats.rated import outputs_of
from core.formats.registry import read_rated, read_texts
from core.formats.study.files import verbatim_note
from core.formats.study.tables import FORMATS
from core.formats.study.votes import NOT_IMPORTED
from core.formats.tasks import parse_task, shipped_tasks
from core.results.study.planning import (
    Aim,
    design_options,
    question_range,
    range_assumptions,
    range_said,
)
from core.runs.asked import asked_of
from core.runs.generation import texts_of_run
from core.runs.judging.levels import checks_of
from core.runs.path import runs_that, saved_run
from core.schema.designs import PairDesign, RatingDesign
from core.schema.rendering import Shown
from core.schema.scores import OutputSet
from core.schema.study import Asks, Dataset, Design, RatingTask, StudyKind, StudyRecord
from core.store import Store
from core.study import lifecycle
from core.study.analysis_set import main_levels, margin_note
from core.study.audit import audit_note, audit_study
from core.study.bundle import is_bundle, read_bundle
from core.study.design import Consequences, consequences
from core.study.lifecycle import import_rating_study
from core.tables.containers import decode_utf8
from core.tables.writer import excel_csv
from pages.studies import designing
from pages.studies.texts_file import StudyFile, said_read, study_file
from pages.widgets import (
    chosen_judge,
    chosen_scores,
    level_diff,
    rating_scales,
    rendered,
    settings_form,
)
from pages.widgets.menus import given_file, name_of
from pages.widgets.messages import capital, file_read, keep, mistakes_shown, plain
from pages.widgets.parts import HELP, other_page

_FILE, _OWN = 0, ""
_ON_RANGE = f":small[{range_assumptions()} [How it is computed]({HELP}#planner)]"
_TEMPLATES = Path(__file__).resolve().parents[2] / "data" / "templates"

_QUESTIONS: dict[Asks, tuple[str, str]] = {
    "preference": ("Which of two answers is better?", "Two systems, side by side, no levels"),
    "levels": (
        "Which of two answers fits a stated level better?",
        "Factual's design: levels such as A0 to A4",
    ),
    "ratings": ("How good is each text?", "Scores or marked errors, one text at a time"),
}
_COLUMNS: dict[Asks, str] = {
    "preference": "question, system, text; optional: item_id, reference, language",
    "levels": "item_id, question, reference, level, system, text; optional: language",
    "ratings": "item_id, system, text; optional: source (question or source text), reference, level, "
    "language",
}


def form(store: Store) -> int | None:
    """The number of a study that was created in this run, or None."""
    asks: Asks = st.radio(
        "What do you ask raters?",
        list(_QUESTIONS),
        format_func=lambda asked: _QUESTIONS[asked][0],
        captions=[caption for _, caption in _QUESTIONS.values()],
        key="import_kind",
    )
    with mistakes_shown():
        return _ratings(store) if asks == "ratings" else _pairs(store, asks)
    return None  # type: ignore[unreachable]  # what is wrong is on the page


def _file(asks: Asks, key: str, others: str, formats: str | None = None) -> tuple[bytes, str] | None:
    """The file, or None; a template to begin with. formats: of pairs, whose columns the visitor chooses in `study_file`."""
    st.markdown("**1. File**")
    st.markdown(f"Columns of a table: {_COLUMNS[asks]}. {others}")
    st.download_button(
        "Download a template (CSV)",
        excel_csv((_TEMPLATES / f"{asks}.csv").read_bytes()),
        f"assay-{asks}.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )
    if formats is None:
        return given_file(key)
    upload = st.file_uploader("File", key=key, help=formats)
    return None if upload is None else (upload.getvalue(), upload.name)


def _again(known: Collection[str]) -> bool:
    """Whether to import a file that these studies hold already."""
    return bool(known) and st.checkbox(
        f"Import it again: this file was already imported as {plain(', '.join(known))}"
    )


def _say_read(what: str, notes: Sequence[str]) -> None:
    file_read(what, remarks=bool(notes))
    if notes:
        st.code("\n".join(notes), language=None, wrap_lines=True)


def _ratings(store: Store) -> int | None:
    outputs, task = _texts(store), _task()
    return None if outputs is None or task is None else _ratings_draft(store, outputs, task)


def _texts(store: Store) -> OutputSet | None:
    runs = {run.run_id: run for run in runs_that(store, "generation")}
    chosen = _FILE
    if runs:
        names = {_FILE: "A file"} | {number: name_of(run) for number, run in runs.items()}
        chosen = st.selectbox("Texts", list(names), format_func=names.__getitem__, key="ratings_from")
    if chosen != _FILE:
        return read_texts(*texts_of_run(saved_run(store, chosen)))
    given = _file("ratings", "ratings_file", "CSV, TSV, XLSX or JSONL.")
    if given is None:
        return None
    if given[1].endswith((".jsonl", ".ndjson")):
        return outputs_of(read_rated(*given))  # raters see none of the ratings in it
    return read_texts(*given)


def _task() -> RatingTask | None:
    """A task that Assay ships, or an uploaded one; shown as raters will read it."""
    tasks = {task.name: task for task in shipped_tasks()}
    chosen = st.selectbox(
        "Task",
        [*tasks, _OWN],
        format_func=lambda name: f"{tasks[name].title} ({name})" if name else "A task file of your own ...",
        key="ratings_task",
        help="What raters answer about every text.",
    )
    task = tasks.get(chosen)
    if task is None:
        upload = st.file_uploader("Task (YAML)", type=["yaml", "yml"], key="ratings_task_file")
        if upload is None:
            return None
        task = parse_task(decode_utf8(upload.getvalue(), upload.name), upload.name)
    with st.expander("Preview: what raters read"):
        rating_scales.explained(task)
    return task


def _ratings_draft(store: Store, outputs: OutputSet, task: RatingTask) -> int | None:
    systems = dict.fromkeys(one.system for one in outputs.outputs)
    items = {one.item_id for one in outputs.outputs}
    _say_read(
        f"{counted(len(outputs.outputs), 'text')} of {counted(len(items), 'source')} by "
        f"{counted(len(systems), 'system')}",
        outputs.notes,
    )
    st.markdown("**2. Design**")
    name = _name("Name of the study", outputs.file_name.rsplit(".", 1)[0])
    n_raters = _expected()
    given = settings_form.render(RatingDesign, f"ratings_{outputs.sha256[:12]}")
    design = lifecycle.new_rating_design(RatingDesign.checked(given, "Invalid design"), outputs, task)
    _say_consequences(
        consequences(design, len(items), -(-len(outputs.outputs) // len(items)), n_raters, "ratings"),
        "ratings",
        seen=lifecycle.say_shown(design, (one.text for one in outputs.outputs)),
    )
    again = _again(lifecycle.studies_like(store, outputs))
    if not st.button("Create the draft", type="primary"):
        return None
    study, notes = import_rating_study(store, name, outputs, task, design, again=again)
    _created(study.name, notes)
    return study.study_id


def _pairs(store: Store, asks: Asks) -> int | None:
    given = _file(
        asks,
        "import_file",
        "Other names of columns, answers side by side, chosen and rejected, and conversations are understood too; below the file "
        "you see how each column is read.",
        f"{FORMATS}, or a study bundle (.zip)",
    )
    if given is None:
        return None
    data, name = given
    if is_bundle(data):
        return _bundle(store, read_bundle(data, name))
    given_texts = study_file(data, name)
    if given_texts is None:
        return None
    dataset = given_texts.dataset
    if dataset.plain != (asks == "preference"):
        st.info(
            "This table has no column for levels, so raters say which answer is better."
            if dataset.plain
            else "This table has levels, so raters say which answer fits each level better."
        )
    return _pairs_draft(store, given_texts, name)


def _bundle(store: Store, record: StudyRecord) -> int | None:
    st.write(
        f"A bundle of the study {plain(record.study.name)}: {len(record.items)} questions, "
        f"{len(record.raters)} raters, {len(record.answers) + len(record.rating_answers)} answers. "
        "Raters need new links."
    )
    name = _name("Name", record.study.name, key="import_bundle_name")
    if st.button("Restore this study", type="primary"):
        return lifecycle.restore_study(store, record, name=name).study_id
    return None


def _pairs_draft(store: Store, read: StudyFile, file_name: str) -> int | None:
    dataset = read.dataset
    with st.expander("Read as", expanded=bool(read.votes)):
        lines = (line for line in dataset.read_as if not line.endswith(NOT_IMPORTED))
        st.code("\n".join(lines), language=None, wrap_lines=True)
    notes = [note for note in (*dataset.notes, verbatim_note(dataset)) if note]
    _say_read(said_read(dataset), notes)
    say_checked(store, dataset)
    again = _again(lifecycle.studies_like(store, dataset, dataset.sources))
    st.markdown("**2. Design**: frozen at the first vote")
    name = _name("Name of the study", file_name.rsplit(".", 1)[0])
    usual = lifecycle.usual_design(dataset)
    fields = designing.Fields(f"import_{dataset.sha256[:12]}", dataset.sources, dataset.levels)
    n_raters = _expected()
    wanted = fields.wants_margin(usual)
    given = fields.first(usual, with_margin=wanted)
    candidate = given.get("candidate")
    complete = not wanted or candidate is not None or usual.margin is not None
    with st.expander("More settings: what counts, what raters get"):
        given |= fields.rest(lifecycle.usual_design(dataset, candidate))
    levels = fields.take_levels(given, usual)
    asked = PairDesign.checked(given, "Invalid design")
    # What a design means does not depend on which of the two is the candidate.
    assumed = asked if complete else asked.but(candidate=dataset.sources[0])
    design = replace(lifecycle.new_design(dataset, assumed, with_margin=wanted), main_levels=levels)
    _say_consequences(
        consequences(design, len(dataset.items), len(dataset.levels), n_raters, "pairs"),
        "pairs",
        design,
        design_options(design, main_levels(design, dataset.levels), n_raters),
        seen=lifecycle.say_shown(design, (one.text for one in dataset.outputs)),
    )
    with st.expander("Preview: the first question"):
        _preview(dataset, design.shown)
    if not complete:
        st.markdown(":small[Choose the candidate to create the draft.]")
    if not st.button("Create the draft", type="primary", disabled=not complete):
        return None
    if read.votes is not None:
        study = lifecycle.import_voted_study(store, name, dataset, design, read.votes, again=again)
        keep(f"{name} has its votes and is unblinded.")
        return study.study_id
    study = lifecycle.import_study(store, name, dataset, design, again=again)
    _created(study.name, [] if dataset.plain else filter(None, [audit_note(audit_study(store, study))]))
    return study.study_id


def say_checked(store: Store, dataset: Dataset) -> None:
    """Say whether a claims judge has checked the levels of the file, and link to it; nothing for plain pairs."""
    if dataset.plain:
        return
    run = next(iter(checks_of(store, dataset.sha256)), None)
    said = "No claims judge has checked the levels of this file: faulty levels waste votes."
    if run is not None:
        said = f"Run {run.run_id} ({plain(asked_of(run).called)}) checks the levels of this file."
    st.markdown(said)
    if st.button("Are the levels right?", key="import_levels", icon=":material/arrow_forward:"):
        chosen_judge.remember((chosen_scores.NEW, 0) if run is None else (chosen_scores.RUN, run.run_id))
        st.session_state["judges_part_judge"] = "Levels"
        st.switch_page(other_page("judges"))


def _name(label: str, usual: str, key: str | None = None) -> str:
    """The name of a study, no longer than it may be."""
    longest = lifecycle.LONGEST_NAME
    return st.text_input(label, usual[:longest], max_chars=longest, key=key)


def _expected() -> int:
    return st.number_input(
        "Raters you expect", 1, 1000, 2, help="For the estimate below. You add the raters later."
    )


def _say_consequences(
    found: Consequences,
    kind: StudyKind,
    design: Design | None = None,
    options: Aim | None = None,
    *,
    seen: str = "",
) -> None:
    """Votes, hours and what can be shown, before anything is fixed.

    options: of a study of pairs, for its plan. seen: how raters see the texts.
    """
    noun = "vote" if kind == "pairs" else "rating"
    lines = [
        f"{counted(found.votes, noun)} in all, about {_hours(found.hours)}. Each rater: up to "
        f"{counted(found.votes_each, noun)}, about {counted(found.minutes_each, 'minute')}."
    ]
    if found.short:
        lines.append(
            f"{counted(found.short, 'question')} will get fewer {noun}s than you requested. Expect more raters, or "
            f"request fewer {noun}s."
        )
    lines += [seen] if seen else []
    if options is not None:
        needed = range_said(question_range(options))
        if options.margin is None:
            lines.append(
                f"The 90 % interval of the mean has a half-width of {options.wanted_half_width:g} with {needed}. The file has "
                f"{found.questions:,}. {_ON_RANGE}"
            )
        else:
            lines.append(
                f"If both systems are equally good, showing non-inferiority with a power of {options.wanted_power:.0%} takes "
                f"{needed}. The file has {found.questions:,}. {_ON_RANGE}"
            )
    if design is not None and design.margin is not None and design.score == "composite":
        lines.append(f":small[{margin_note(design.margin)}]")
    with st.container(border=True):
        st.markdown("**What this design means**\n" + "\n".join(f"- {line}" for line in lines))


def _hours(hours: float) -> str:
    return counted(round(hours * 60) or 1, "minute") if hours < 2 else f"{hours:.1f} hours"


def _preview(dataset: Dataset, shown: Shown) -> None:
    """The first question with both answers of each level, as they are shown; raters see them without names, in a drawn order."""
    item = dataset.items[0]
    texts: Mapping[tuple[str, str], str] = {
        (one.level, one.source): one.text for one in dataset.outputs if one.item_id == item.item_id
    }
    rendered.set_formulas(shown)
    level_diff.item_turns(item, shown)
    level_diff.shown_card("Question", item.question, item.language, shown.question)
    if item.reference:
        level_diff.shown_card("Reference", item.reference, item.language, shown)
    for level in dataset.levels:
        for place, source in zip(st.columns(2), dataset.sources, strict=True):
            with place:
                level_diff.shown_card(
                    f"{source}{f', {level}' if level else ''}", texts[level, source], item.language, shown
                )
    st.markdown(":small[Raters see no names, and the sides are drawn for each pair.]")


def _created(name: str, notes: Iterable[str]) -> None:
    keep(
        f"{name} is a draft now. Next: add raters, then open the study.",
        *(f"{capital(note)}." if note[-1:] not in ".!?" else capital(note) for note in notes),
    )
