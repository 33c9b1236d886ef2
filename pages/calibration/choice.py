"""What is compared: human ratings, judges' scores, and the options of the comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.formats.tasks import parse_task, shipped_tasks
from core.judges.quality import Majority
from core.results.calibration.cells import GROUP_BY, Evaluator, evaluators_of
from core.results.calibration.results import Calibration, CalibrationOptions, calibrate, columns_to_group_by
from core.runs.asked import Asked, asked_of
from core.runs.kinds import kinds_with
from core.schema.scores import RatingSet
from core.schema.study import RatingTask, Study
from core.sources.named import StudySource
from core.sources.people import ratings_and_task
from core.sources.reading import reading_in
from core.store import Store
from core.store.studies import list_studies
from pages.widgets import chosen_judge, chosen_scores, menus
from pages.widgets.chosen_scores import Chosen, Key, Scores
from pages.widgets.menus import menu
from pages.widgets.messages import mistakes_shown

_FILE = 0
"""The menu entry for ratings from a file, among the numbers of studies."""
_JUDGES, _NEW, _TAKEN = "calibration_judges", "calibration_new", "calibration_taken"
"""Where the session stores the chosen judges, a file to choose at the next rerun, and the last file chosen that way."""
_AVERAGED = {"macro": "Each group counts once", "pooled": "Each text counts once"}
_RESAMPLES = (200, 2_000, 10_000)
_SPLIT: dict[Majority, str] = {
    "drop": "Leave the text out of the agreement with the majority",
    "median": "Use the median vote, unless the two middle votes differ",
    "middle": "Use the middle class of the scale, if a rater gave it",
}
_AS_GIVEN = "Guessed from the ratings"


@dataclass(frozen=True)
class Ratings:
    """Human ratings, and the raters' task."""

    found: RatingSet
    key: Key
    task: RatingTask | None


@dataclass(frozen=True)
class How:
    """Options of the comparison."""

    options: CalibrationOptions
    by: tuple[str, ...] | None
    """Columns that make groups; None: those of language, task and dimension that exist."""
    averaged: str


@dataclass(frozen=True)
class Judged:
    """One evaluator against people."""

    scores: Scores
    evaluator: Evaluator
    key: Key
    found: Calibration


def ratings(store: Store, below: DeltaGenerator) -> Ratings | None:
    """Choose ratings from a file or an unblinded rating study; None before a choice.

    below: the place of a button that deletes the chosen file.
    """
    studies = {study.study_id: study for study in list_studies(store) if _holds_ratings(study)}
    chosen = _FILE
    if studies:
        chosen = menu(
            "Ratings from",
            [_FILE, *studies],
            "calibration_ratings_from",
            lambda number: f"Study {studies[number].name}" if number else "A file",
        )
    if chosen != _FILE:
        found, task = ratings_and_task(StudySource(studies[chosen].name), reading_in(store))
        chosen_scores.read_notes(found.notes, found.left_out)
        return Ratings(
            found,
            ("study", chosen, found.sha256, chosen_scores.hash_of(found)),
            task,
        )
    file = chosen_scores.choose_kept(store, "ratings", "calibration", "Human ratings")
    if file is None:
        return None
    found = chosen_scores.ratings_of(store, file)
    chosen_scores.read_notes(found.notes, found.left_out)
    with below:
        chosen_scores.forget_button(store, file, "calibration")
    return Ratings(found, chosen_scores.key_of(file), None)


def _holds_ratings(study: Study) -> bool:
    return study.kind == "ratings" and study.state == "unblinded"


def judges(store: Store, given: Ratings) -> tuple[Scores, ...]:
    """Choose runs and tables of scores: several for a temperature sweep, or to show one after another."""
    names = chosen_scores.named(store)
    if (new := st.session_state.pop(_NEW, None)) in names:
        before = st.session_state.get(_JUDGES, [])
        st.session_state[_JUDGES] = before if new in before else [*before, new]
    elif _JUDGES not in st.session_state:
        st.session_state[_JUDGES] = _newest_evaluator(store, given)
    chosen: list[Chosen] = st.multiselect(
        "Judges",
        list(names),
        format_func=names.__getitem__,
        key=_JUDGES,
        placeholder="Choose runs of judges or tables of scores",
        help="Runs of the pages Judges, Specialist and Metrics, and uploaded tables of scores. At first: the newest "
        "run that rated these items.",
    )
    return tuple(chosen_scores.open_scores(store, one) for one in chosen if one in names)


def _newest_evaluator(store: Store, given: Ratings) -> list[Chosen]:
    """The newest run of a judge for calibration that has scored a rated item, if there is one."""
    rated = {one.item_id for one in given.found.ratings}
    runs = chosen_judge.with_results(store, *kinds_with("calibration"))
    newest = chosen_scores.newest_on(store, [(chosen_scores.RUN, run_id) for run_id in runs], rated)
    return [] if newest is None else [newest]


def upload(store: Store, *, open_at_first: bool) -> None:
    """Show a folded form that stores a judge's scores and chooses them."""
    with st.expander("Upload a judge's scores", expanded=open_at_first), mistakes_shown():
        given = chosen_scores.choose_new(store, "scores", "calibration")
        if given is not None and st.session_state.get(_TAKEN) != given.file_id:
            st.session_state[_TAKEN] = given.file_id  # The file stays in the upload box: choose it only once.
            st.session_state[_NEW] = (chosen_scores.FILE, given.file_id)
            st.rerun()


def how(given: Ratings, scores: Sequence[Scores]) -> How:
    """Choose the options in a folded part. Classes are the study's, else the judge's own, unless a task is chosen."""
    own = given.task or next((task for one in scores if (task := _task_of(one)) is not None), None)
    with st.expander("Options of the comparison"):
        left, right = st.columns(2)
        majority = left.selectbox(
            "If no class has most votes",
            list(_SPLIT),
            format_func=_SPLIT.__getitem__,
            key="calibration_majority",
            help="With three raters and three classes, Multilingual uses the middle class.",
        )
        averaged = right.selectbox(
            "Means over groups",
            list(_AVERAGED),
            format_func=_AVERAGED.__getitem__,
            key="calibration_averaged",
        )
        columns = columns_to_group_by(given.found, scores[0].table)
        by = left.multiselect(
            "Group by",
            columns,
            default=[name for name in GROUP_BY if name in columns],
            key="calibration_by",
        )
        tasks = {one.name: one for one in shipped_tasks() if any(each.classes for each in one.dimensions)}
        named = right.selectbox(
            "Classes that raters could give",
            [None, *tasks],
            format_func=lambda name: _as_asked(own) if name is None else tasks[name].title,
            key="calibration_task",
        )
        paper = left.checkbox(
            "Count an undefined kappa as 0 in means (as in Multilingual)", key="calibration_paper"
        )
        n_resamples = right.selectbox(
            "Resamples for intervals",
            _RESAMPLES,
            index=1,
            format_func=lambda n: f"{n:,}",
            key="calibration_resamples",
        )
    task = own if named is None else tasks[named]
    options = CalibrationOptions(
        majority=majority,
        paper_kappa=paper,
        dimensions=task.dimensions if task else (),
        n_resamples=n_resamples,
    )
    return How(options, None if tuple(by) == GROUP_BY else tuple(by), averaged)


def _as_asked(task: RatingTask | None) -> str:
    return _AS_GIVEN if task is None else f"From the task: {task.title}"


def _task_of(scores: Scores) -> RatingTask | None:
    """The task of a judge's run."""
    asked = _asked(scores)
    return None if asked is None or not asked.attached else parse_task(asked.attached, scores.name)


def _asked(scores: Scores) -> Asked | None:
    """The request of a run of a judge that rates texts; None for other scores."""
    asked = None if scores.run is None else asked_of(scores.run)
    return asked if asked is not None and asked.kind.reads == "rated texts" else None


def judged(given: Ratings, scores: Scores, wanted: How) -> tuple[Judged, ...]:
    """Every evaluator in a table of scores, each computed once. Raises InputError."""
    found, asked = [], _asked(scores)
    said = None if asked is None else asked.chosen.dimension_scored
    for evaluator in evaluators_of(scores.table, given.found, said=said):
        key: Key = (
            "calibration",
            given.key,
            scores.key,
            tuple(evaluator.columns.items()),
            wanted.options,
            wanted.by,
        )
        compute = partial(
            calibrate, given.found, scores.table, evaluator, group_by=wanted.by, options=wanted.options
        )
        result = chosen_scores.once(key, compute)
        found.append(Judged(scores, evaluator, key, result))
    return tuple(found)


def one_of(everyone: Sequence[Judged]) -> Judged:
    """Choose the evaluator to show, if there are several."""
    if len(everyone) == 1:
        return everyone[0]
    return menus.one_of(
        None,
        "Evaluator",
        everyone,
        lambda one: f"{one.evaluator.name} ({one.scores.name})",
        "calibration_one",
    )
