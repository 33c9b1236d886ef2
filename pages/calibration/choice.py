"""What is compared: human ratings, judges' scores, and the options of the comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses import analysis as analysis_named
from core.formats.tasks import find_task, shipped_tasks
from core.joining.choices import dimensions_of
from core.judges.quality import KIND as QUALITY
from core.results.calibration.cells import Evaluator, evaluators_of
from core.results.calibration.results import columns_to_group_by
from core.runs.asked import asked_of
from core.runs.kinds import kinds_with
from core.schema.analysis import RatedChoice
from core.schema.rated import Rated, Scored
from core.schema.scale import DeclaredScale, declared_scale
from core.schema.scores import RatingSet
from core.schema.settings import Settings
from core.schema.study import RatingTask, Study
from core.sources.judges import rated, scored_by
from core.sources.named import StudySource, parse_source
from core.sources.people import ratings_and_task
from core.sources.reading import reading_in
from core.store import Store
from core.store.kept import KeptFile, get_file
from core.store.studies import list_studies
from pages.widgets import analysis, chosen_judge, chosen_scores, menus
from pages.widgets.chosen_scores import Chosen, Key, Scores
from pages.widgets.menus import menu
from pages.widgets.messages import mistakes_shown

CALIBRATE = analysis_named("calibrate")
_FILE = 0
"""The menu entry for ratings from a file, among the numbers of studies."""
_JUDGES, _NEW, _TAKEN = "calibration_judges", "calibration_new", "calibration_taken"
"""Where the session stores the chosen judges, a file to choose at the next rerun, and the last file chosen that way."""


@dataclass(frozen=True)
class Ratings:
    """Human ratings, and the raters' task."""

    rating_set: RatingSet
    key: Key
    task: RatingTask | None
    file: KeptFile | None = None


@dataclass(frozen=True)
class Judge:
    """One evaluator among the chosen scores."""

    scores: Scores
    evaluator: Evaluator


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
    return Ratings(found, chosen_scores.key_of(file), None, file)


def _holds_ratings(study: Study) -> bool:
    return study.kind == "ratings" and study.state == "unblinded"


def judges(store: Store, human: Ratings) -> tuple[Scores, ...]:
    """Choose runs and tables of scores: several for a temperature sweep, or to show one after another."""
    names = chosen_scores.named(store)
    if (new := st.session_state.pop(_NEW, None)) in names:
        before = st.session_state.get(_JUDGES, [])
        st.session_state[_JUDGES] = before if new in before else [*before, new]
    elif _JUDGES not in st.session_state:
        st.session_state[_JUDGES] = _newest_evaluator(store, human)
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


def _newest_evaluator(store: Store, human: Ratings) -> list[Chosen]:
    """The newest run of a judge for calibration that has scored a rated item, if there is one."""
    rated = {one.item_id for one in human.rating_set.ratings}
    runs = chosen_judge.finished_runs(store, *kinds_with("calibration"))
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


def options(store: Store, human: Ratings, scores: Sequence[Scores]) -> tuple[RatedChoice, Settings]:
    """Choose in a folded part what raters could give, and the options of the comparison. Raises SettingsError."""
    with st.expander("Options of the comparison"):
        offered = {
            "task": [one.name for one in shipped_tasks() if any(each.classes for each in one.dimensions)],
            "shuffled": _shuffled_runs(store),
        }
        chosen = cast(RatedChoice, analysis.choice_form(CALIBRATE, "rated", "calibration", offered))
        named = {
            "dimension": list(dimensions_of(human.rating_set)),
            "by": list(
                dict.fromkeys(
                    name for each in scores for name in columns_to_group_by(human.rating_set, each.table)
                )
            ),
        }
        return chosen, analysis.form(CALIBRATE, named, folds=False)


def _shuffled_runs(store: Store) -> list[str]:
    """The runs on texts with shuffled words."""
    runs = chosen_judge.finished_runs(store, QUALITY)
    return [f"run:{number}" for number, run in runs.items() if asked_of(run).settings.shuffled_words]


def data(store: Store, human: Ratings, scores: Sequence[Scores], choice: RatedChoice) -> analysis.Data:
    """Ratings and scores as they are compared."""
    key = (human.key, *(each.key for each in scores), choice.model_dump_json())
    growing = tuple(each.grows for each in scores if each.grows is not None)
    grows = (human.key, *growing, choice.model_dump_json()) if growing else None
    return analysis.Data(key, partial(_rated, store, human, scores, choice), grows=grows)


def _rated(store: Store, human: Ratings, scores: Sequence[Scores], choice: RatedChoice) -> Rated:
    declared = declared_scale(choice.scale, choice.classes, choice.missing)
    people, reading = human.rating_set, reading_in(store)
    if human.file is not None and (declared.classes or declared.missing):
        people = chosen_scores.ratings_of(store, human.file, declared)
    task = human.task if choice.task is None else find_task(choice.task)
    twin = None if choice.shuffled is None else parse_source(choice.shuffled)
    return rated(people, task, [_scored(store, each, declared) for each in scores], declared, twin, reading)


def _scored(store: Store, scores: Scores, declared: DeclaredScale) -> Scored:
    kind, number = scores.origin
    if kind == chosen_scores.RUN:
        return scored_by(parse_source(f"run:{number}"), scores.table, reading_in(store))
    if not (declared.classes or declared.missing):
        return Scored(scores.table)
    return Scored(chosen_scores.scores_of(store, get_file(store, number), declared))


def judges_among(human: Ratings, scores: Sequence[Scores]) -> list[Judge]:
    """Every evaluator of the chosen scores. Raises InputError."""
    return [
        Judge(each, one)
        for each in scores
        for one in evaluators_of(each.table, human.rating_set, run_dimension=_dimension_scored(each))
    ]


def _dimension_scored(scores: Scores) -> str | None:
    """The only dimension that a run of a judge scored."""
    asked = None if scores.run is None else asked_of(scores.run)
    rates = asked is not None and asked.kind.reads == "rated texts"
    return asked.settings.dimension_scored if asked is not None and rates else None


def one_of(judges: Sequence[Judge]) -> Judge:
    """Choose the evaluator to show, if there are several."""
    if len(judges) == 1:
        return judges[0]
    return menus.one_of(
        None,
        "Evaluator",
        judges,
        lambda one: f"{one.evaluator.name} ({one.scores.name})",
        "calibration_one",
    )
