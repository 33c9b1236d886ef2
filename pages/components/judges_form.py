"""A new judge's run by page: which texts, which judge, which model, and a preview before all is paid for."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from core.runs.judge_plan import check_documents, judging_notes
from core.runs.model_settings import RunningSettings

from core.errors import InputError
from core.judges.kind import JudgeKind, JudgeSettings
from core.runs.environments import missing_for
from core.runs.scoring import by_item
from core.schema import COMPARING_KINDS
from core.store import Store
from pages.components import (
    generate_backend,
    judge_start,
    judges_names,
    judges_prompts,
    judges_settings,
    metrics_texts,
)
from pages.components.generate_mistakes import as_on_page, said_on_page
from pages.components.generate_state import given
from pages.components.messages import mistakes_shown, plain
from pages.components.parts import explained

_KIND = "judges_kind"
_SAID: dict[JudgeKind, str] = {
    "rubric": "One call a text: the model reads reference and text and gives a score of the rubric's scale, with "
    "its reasons. Needs a reference.",
    "claims": "Both texts are taken apart into claims, and each claim is verified against the other text: precision, "
    "recall, F. Needs a reference.",
    "cef": "Questions made from one text are answered from the other, both ways round: coverage, conformity, "
    "consistency. Needs a source, or a reference.",
}
_RULES = (
    "A stand-in to try the page without a model: claims are sentences, and one is supported where its numbers, names "
    "and enough of its words stand in the other text. It reads no meaning; records say `rules`."
)


_RULES_BESIDE_NLI = "Rules take the texts apart: claims are sentences. The entailment model verifies them."
_BROKEN = "The rubric cannot be read."


class _Wanted(NamedTuple):
    texts: metrics_texts.Texts
    settings: JudgeSettings
    running: RunningSettings
    missing: str | None
    """What this machine lacks for it."""


def form(store: Store) -> int | None:
    """The number of a run that was made and started in this run of the page, or None."""
    explained(
        "A judge is a language model that scores texts, and says why. Judge texts whose quality is known first: then "
        "the scores show whether the judge can be believed. A preview of five items comes first, and says what all "
        "will cost.",
        "judges",
    )
    started = None
    with mistakes_shown():
        wanted = _wanted(store)
        if wanted is not None:
            started = _start(store, wanted)
    return started


def _wanted(store: Store) -> _Wanted | None:
    """What the widgets say; None: there are no texts yet."""
    st.subheader("Texts", anchor=False)
    texts = None
    with mistakes_shown():  # beside the texts, not at the end of the form
        texts = metrics_texts.choose(store)
    settings, chosen, broken = _judge()
    missing = chosen.missing or broken
    if settings.needs_nli:
        neural = missing_for("neural")
        if neural:
            st.warning(generate_backend.lacking(neural))
        missing = missing or neural
    settings = replace(settings, prompts=judges_prompts.choose(settings))
    if texts is None:
        st.markdown("Choose texts above; the buttons that start the run then stand here.")
        return None
    outputs = metrics_texts.read(texts)
    try:
        check_documents(settings, outputs)
    except InputError as problem:  # said once, before anything can be pressed
        raise as_on_page(problem) from None
    for note in judging_notes(settings, outputs):
        st.warning(plain(said_on_page(note)))
    return _Wanted(texts, settings, chosen.running, missing)


def _judge() -> tuple[JudgeSettings, generate_backend.Chosen, str | None]:
    """What the widgets say of the judge and its model, and what keeps it from being asked."""
    # A judge's settings depend on what the backend can do: asked in another order than shown.
    what, who = st.container(), st.container()
    with what:
        st.subheader("Judge", anchor=False)
        kind: JudgeKind = st.radio(
            "Kind",
            COMPARING_KINDS,  # those that stand on ratings are asked on a page of their own
            format_func=judges_names.KINDS.__getitem__,
            horizontal=True,
            key=given(_KIND, COMPARING_KINDS[0]),
            persist_state="session",
        )
        explained(_SAID[kind], judges_names.ANCHORS[kind])
    with who:
        st.subheader("Model", anchor=False)
        chosen = generate_backend.choose("judges", _rules() if kind == "claims" else None)
        name = st.text_input(
            "Name of the judge in tables (empty: kind, mode and model)",
            key="judges_name",
            persist_state="session",
        ).strip()
    settings = judges_settings.asked(kind, chosen, name)
    with what:
        if kind == "rubric":
            rubric, text, broken = judges_settings.rubric()
            return (
                replace(settings, rubric=rubric, rubric_text=text),
                chosen,
                _BROKEN if broken else None,
            )
        if kind == "claims":
            return replace(settings, claims=judges_settings.claims(chosen.backend)), chosen, None
        return replace(settings, cef=judges_settings.cef()), chosen, None


def _rules() -> str:
    """What rules do; an entailment model may verify in their place."""
    verified_by_nli = st.session_state.get("judges_verifier_rules") == "nli"
    return _RULES_BESIDE_NLI if verified_by_nli else _RULES


def _start(store: Store, wanted: _Wanted) -> int | None:
    """Make the run and start it, once a button is pressed."""
    texts, settings, running, missing = wanted
    n_items = len(by_item(metrics_texts.read(texts).outputs))
    return judge_start.start(store, "judges", texts, n_items, settings, running, disabled=missing is not None)
