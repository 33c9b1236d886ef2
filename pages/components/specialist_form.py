"""A new run of a judge that stands on ratings: texts with ratings, examples, model, and a preview before all."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from core.runs.judge_settings import judge_of
from core.runs.model_settings import RunningSettings
from core.runs.rated_plan import check_rated, check_task
from core.runs.rated_texts import judged_outputs

from core.errors import InputError
from core.judges.kind import JudgeSettings
from core.runs.asked import running_of
from core.runs.scoring import by_item
from core.schema import RATED_KINDS, RatedKind, Run
from core.schema.rated import RatedSet
from core.store import Store
from core.store.runs import run_data
from pages.components import (
    generate_again,
    generate_backend,
    judge_start,
    judges_prompts,
    metrics_computed,
    metrics_kept,
    specialist_runs,
    specialist_settings,
    specialist_texts,
)
from pages.components.generate_mistakes import as_on_page, said_on_page
from pages.components.generate_state import given
from pages.components.messages import mistakes_shown
from pages.components.parts import explained
from pages.components.run_words import PREVIEW_WORD

KINDS: dict[RatedKind, str] = {
    "automqm": "Marked errors (AutoMQM)",
    "direct": "Direct score (Scorer)",
    "quality": "Quality rating",
}
ANCHORS: dict[RatedKind, str] = {
    "automqm": "specialist-automqm",
    "direct": "scorer",
    "quality": "quality-rating",
}
"""Kind of judge -> the section that explains it."""
_SAID: dict[RatedKind, str] = {
    "automqm": "The judge marks errors in each text, with severity and category. Its examples are errors that people marked "
    "in other systems' texts; the judged system's own are held out.",
    "direct": "The judge gives each text one number, such as 0 to 100. Its examples are other systems' texts with the numbers "
    "that people gave them.",
    "quality": "The judge names a class on every dimension of a task, with a justification, in any language. It needs no "
    "ratings unless it is shown examples.",
}
_PARROT = (
    "The Parrot: no model, no cost. It marks the words of its examples' errors wherever they stand in the text, letter by "
    "letter. What it reaches by copying alone is what a specialist has to beat."
)


class _Wanted(NamedTuple):
    texts: specialist_texts.Texts
    rated: RatedSet
    settings: JudgeSettings
    running: RunningSettings
    missing: str | None


def form(store: Store) -> int | None:
    """The number of a run that was made and started in this run of the page, or None."""
    explained(
        "A specialist judges the texts of one test set, and is shown what people said of other systems' texts of the "
        "same source. Ratings that people gave here, on the page Studies, can be its examples. A preview of "
        f"{PREVIEW_WORD} items comes first, and says what all will cost.",
        "judges-that-stand-on-ratings",
    )
    started = None
    with mistakes_shown():
        wanted = _wanted(store)
        if wanted is not None:
            started = _start(store, wanted)
    return started


def _wanted(store: Store) -> _Wanted | None:
    """What the widgets say; None: there are no texts yet."""
    kind: RatedKind = st.radio(
        "Kind",
        RATED_KINDS,
        format_func=KINDS.__getitem__,
        horizontal=True,
        key=given("specialist_kind", RATED_KINDS[0]),
        persist_state="session",
    )
    explained(_SAID[kind], ANCHORS[kind])
    st.subheader("Texts and ratings", anchor=False)
    texts = rated = None
    with mistakes_shown():  # beside the texts, not at the end of the form
        texts = specialist_texts.choose(store, kind)
        rated = None if texts is None else specialist_texts.read(texts)
    if texts is not None and (own := specialist_texts.own_task(store)) is not None:
        specialist_settings.begin_with(kind, own)
    settings, chosen = _judge(kind, rated)
    settings = replace(settings, prompts=judges_prompts.choose(settings, f"specialist_{kind}"))
    if texts is None or rated is None:
        st.markdown("Choose texts above; the buttons that start the run then stand here.")
        return None
    for note in _notes(settings, rated):
        metrics_kept.read_notes((said_on_page(note),))
    return _Wanted(texts, rated, settings, chosen.running, chosen.missing)


def _judge(kind: RatedKind, rated: RatedSet | None) -> tuple[JudgeSettings, generate_backend.Chosen]:
    """What the widgets say of the judge and its model."""
    # A judge's settings depend on whether a model is asked at all: asked in another order than shown.
    what, who = st.container(), st.container()
    with who:
        st.subheader("Model", anchor=False)
        chosen = generate_backend.choose("specialist", _PARROT if kind == "automqm" else None)
        name = st.text_input(
            "Name of the judge in tables (empty: kind, examples and model)",
            key="specialist_name",
            persist_state="session",
        ).strip()
    settings = JudgeSettings(
        kind=kind,
        name=name,
        backend=chosen.backend,
        model=chosen.model,
        base_url=chosen.base_url,
        attempts=chosen.attempts,
        max_model_len=chosen.max_model_len,
    )
    with what:
        st.subheader("Judge", anchor=False)
        task = specialist_settings.task(kind)
        return specialist_settings.asked(settings, task, rated), chosen


def _notes(settings: JudgeSettings, rated: RatedSet) -> tuple[str, ...]:
    """What is to be known before anything is pressed. Raises InputError where the run could not start."""

    def found() -> tuple[str, ...]:
        check_task(settings)
        return check_rated(settings, rated)

    try:
        return metrics_computed.once(
            ("fits", rated.sha256, rated.file_name, settings.task_text, settings.of_kind, settings.backend),
            found,
        )
    except InputError as problem:
        raise as_on_page(problem) from None


def _start(store: Store, wanted: _Wanted) -> int | None:
    """Make the run and start it, once a button is pressed."""
    texts, rated, settings, running, missing = wanted
    n_items = len(by_item(judged_outputs(settings, rated).outputs))
    return judge_start.start(
        store, "specialist", texts, n_items, settings, running, disabled=missing is not None
    )


def again_button(store: Store, run: Run) -> None:
    """Open the form as it was filled for the run, with its texts and its task."""
    if not st.button(
        "Judge with other settings",
        key="specialist_again",
        help="Opens the form of a new run with this run's texts, ratings, judge and model.",
    ):
        return
    settings = judge_of(run)
    state = {
        "specialist_kind": settings.kind,
        "specialist_backend": settings.backend,
        "specialist_name": settings.name,
        "specialist_attempts": settings.attempts,
    }
    if settings.backend != "rules":
        state |= {"specialist_model": settings.model, "specialist_longest": settings.max_model_len or 0}
    state |= generate_again.fields_of_running("specialist", running_of(run), settings.base_url)
    for key, value in state.items():
        st.session_state[key] = value
    specialist_settings.put(settings)
    judges_prompts.put(run.run_id, settings, f"specialist_{settings.kind}")
    generate_again.warn_of_engine(settings)
    specialist_texts.take_file(run_data(store, run.run_id), run.data_file)
    specialist_runs.remember(specialist_runs.NEW)
    st.rerun()
