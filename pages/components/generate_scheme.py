"""What is made of each reference: factual levels A0-A4, or damage levels 0-5."""

from typing import Any, get_args

import streamlit as st

from core.generation.damage_steps import DAMAGE_LEVELS, DamageSettings
from core.generation.factual.steps import MOST_LEVELS, FactualSettings
from core.generation.records import EditCalls, FilterOrder, QuestionFilter, Task
from core.schema import GenerationKind
from core.study.lifecycle import parse_seed
from pages.components.generate_state import given

_SCHEMES: dict[GenerationKind, str] = {
    "factual": "Factual levels: A0 is right, and each next level has more wrong facts",
    "damage": "Damage levels: 0 is as good as the reference, 5 is wrong throughout",
}
TASKS: dict[Task, str] = {
    "qa": "questions and answers",
    "qa-passage": "questions on a passage",
    "summary": "summaries",
    "translation": "translations",
}
_ORDERS: dict[FilterOrder, str] = {
    "paper": "drop what the question names, then keep a share (as the paper says)",
    "trutheval": "keep a share, then drop what the question names (as its code does)",
}
_FILTERS: dict[QuestionFilter, str] = {
    "words": "words, without case and punctuation",
    "trutheval": "as the paper's code compares them, quirks included",
}
_CALLS: dict[EditCalls, str] = {
    "each": "one call a level, each from the level before (as the paper)",
    "shared": "one call for all levels (cheaper)",
}
_FACTUAL = FactualSettings()


def choose(backend: str) -> tuple[GenerationKind, FactualSettings, DamageSettings]:
    """The kind of run and its settings. Raises InputError for a seed that is none."""
    kind: GenerationKind = st.radio(
        "Scheme",
        list(_SCHEMES),
        format_func=_SCHEMES.__getitem__,
        key="generate_kind",
        persist_state="session",
    )
    if kind == "factual":
        return kind, _factual(backend), DamageSettings()
    return kind, FactualSettings(), _damage()


def _factual(backend: str) -> FactualSettings:
    left, right = st.columns(2)
    n_levels = left.number_input(
        "Levels beyond A0",
        1,
        MOST_LEVELS,
        key=given("generate_levels", _FACTUAL.n_levels),
        persist_state="session",
    )
    keep = right.number_input(
        "Share of facts that may be changed (k)",
        0.05,
        1.0,
        step=0.05,
        key=given("generate_keep", _FACTUAL.keep),
        persist_state="session",
        help="Facts are ranked by importance; the first k of them, rounded up, are spread over the levels. "
        "The others stay as they are at every level.",
    )
    with st.expander("Advanced"):
        seed = _seed()
        order: FilterOrder = _select("Order of the filters", FilterOrder, _ORDERS, "generate_order")
        question: QuestionFilter = _select(
            "A fact is in the question if it shares", QuestionFilter, _FILTERS, "generate_filter"
        )
        calls: EditCalls = "each"
        if backend != "rules":
            calls = _select("Calls for the edits", EditCalls, _CALLS, "generate_calls")
        parser = st.text_input(
            "Facts are found by",
            key=given("generate_parser", _FACTUAL.parser),
            persist_state="session",
            help="auto: an installed spaCy model of the item's language, else rules; rules; or the name of a "
            "spaCy model.",
        )
    return FactualSettings(
        n_levels, round(keep, 4), order, question, calls, parser.strip() or _FACTUAL.parser, parse_seed(seed)
    )


def _damage() -> DamageSettings:
    left, right = st.columns(2)
    task: Task = left.selectbox(
        "The texts are",
        get_args(Task),
        format_func=TASKS.__getitem__,
        key="generate_task",
        persist_state="session",
    )
    levels = right.multiselect(
        "Levels",
        DAMAGE_LEVELS,
        format_func=str,
        key=given("generate_damage_levels", list(DAMAGE_LEVELS)),
        persist_state="session",
    )
    with st.expander("Advanced"):
        seed = _seed()
    return DamageSettings(task, tuple(sorted(levels)), parse_seed(seed))


def _seed() -> str:
    # Never empty: parse_seed would draw a new one at every press of a widget.
    written = st.text_input(
        "Seed",
        key=given("generate_seed", "0"),
        persist_state="session",
        help="Of everything that is drawn: the same seed gives the same groups, and with rules the same answers.",
    )
    return written.strip() or "0"


def _select(label: str, names: Any, said: dict[Any, str], key: str) -> Any:
    return st.selectbox(
        label, get_args(names), format_func=said.__getitem__, key=key, persist_state="session"
    )
