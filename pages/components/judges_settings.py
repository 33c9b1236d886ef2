"""The settings of each judge, as widgets."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TypeVar

import streamlit as st
from core.judges.settings import Mode, Orders
from core.schema.judges import SETTING_BOUNDS

from core.datasets.reading import decode
from core.judges.claims.settings import ClaimsSettings, Detail, Verifier
from core.judges.cross_examination.judge import CefSettings
from core.judges.cross_examination.questions import Questions
from core.judges.kind import JudgeKind, JudgeSettings
from core.judges.rubric import RubricSettings
from core.judges.rubric_files import Rubric, parse_rubric, shipped_rubrics
from core.runs.asked import Backend
from core.schema import CheckKind
from pages.components.generate_backend import Chosen
from pages.components.generate_state import given
from pages.components.judges_names import ANSWERS
from pages.components.messages import mistakes_shown, plain

_ORDERS: dict[Orders, str] = {
    "reference-first": "the reference",
    "response-first": "the response",
    "both": "both: asked once in each order",
}
_ATOMICITY: dict[Detail, str] = {"low": "may hold several facts (low)", "high": "one fact a claim (high)"}
_COVERAGE: dict[Detail, str] = {"low": "the main statements (low)", "high": "everything that is said (high)"}
_VERIFIERS: dict[Verifier, str] = {
    "llm": "the model",
    "nli": "an entailment model (NLI)",
    "rules": "rules: numbers, names and words",
}
_OFFERED: dict[Backend, tuple[Verifier, ...]] = {
    "rules": ("rules", "nli"),
    "openai": ("llm", "nli", "rules"),
    "vllm": ("llm", "rules"),
}
"""Backend -> what can verify beside it, the usual one first."""
_MODES: dict[Mode, str] = {
    "reference-free": "its source: no reference is needed",
    "reference": "its reference",
    "round-trip": "its source, after the text was translated back",
}
_QUESTIONS: dict[Questions, str] = {
    "yes": "all answered YES by their own text",
    "mixed": "YES, NO and IDK alike",
}
_RUBRIC = "factual"
"""Of those that are shipped, 003's."""
_KEPT = "judges_rubric_kept"
"""Stands for a rubric that an earlier run brought along."""
_SAMPLING = {"temperature": "judges_temperature", "seed": "judges_seed"}
_KEYS: Mapping[str, Mapping[str, str]] = {
    "rubric": {"order": "judges_order", "repeats": "judges_repeats", **_SAMPLING},
    "claims": {
        "atomicity": "judges_atomicity",
        "coverage": "judges_coverage",
        "verifier": "judges_verifier_{backend}",
        "nli_model": "judges_nli",
        "device": "judges_device",
        "beta": "judges_beta",
        **_SAMPLING,
    },
    "cef": {
        "mode": "judges_mode",
        "answers": "judges_answers",
        "n_questions": "judges_questions",
        "questions": "judges_questions_kind",
        "reask": "judges_reask",
        "repeats": "judges_repeats",
        "source_language": "judges_language",
        **_SAMPLING,
    },
}
"""Kind of judge -> setting -> key of its widget."""
_DEVICES = ("auto", "cpu", "cuda")
Word = TypeVar("Word", bound=str)


def asked(kind: JudgeKind | CheckKind, chosen: Chosen, name: str = "") -> JudgeSettings:
    """A judge, or a look at judges, by the model that was chosen; all else is as usual."""
    return JudgeSettings(
        kind=kind,
        name=name,
        backend=chosen.backend,
        model=chosen.model,
        base_url=chosen.base_url,
        attempts=chosen.attempts,
        max_model_len=chosen.max_model_len,
    )


def put(settings: JudgeSettings) -> None:
    """Fill the widgets with these settings."""
    own = asdict(settings.of_kind)
    for name, key in _KEYS[settings.kind].items():
        st.session_state[key.format(backend=settings.backend)] = own[name]
    if settings.kind == "rubric":
        given_rubric = parse_rubric(settings.rubric_text, "rubric.yaml")
        shipped = any(one.sha256 == given_rubric.sha256 for one in shipped_rubrics())
        st.session_state["judges_rubric"] = given_rubric.name if shipped else _KEPT
        st.session_state[_KEPT] = None if shipped else given_rubric


def rubric() -> tuple[RubricSettings, str, bool]:
    """The rubric judge's settings, the whole file of the rubric, and whether a file of the user's own is no rubric."""
    chosen, broken = _rubric()
    left, right = st.columns(2)
    order = _menu(left, "Read first", _ORDERS, "order")
    repeats = _repeats(right, "Repeats in each order; the score is the mean of the verdicts")
    temperature, seed = _sampling()
    return RubricSettings(order, repeats, temperature, seed), chosen.dump(), broken


def _rubric() -> tuple[Rubric, bool]:
    """The rubric that is chosen, and whether the file given in its place cannot be read."""
    offered = {one.name: one for one in shipped_rubrics()}
    kept: Rubric | None = st.session_state.get(_KEPT)
    if kept is not None:
        offered[_KEPT] = kept
    if st.session_state.get("judges_rubric") not in offered:
        st.session_state.pop("judges_rubric", None)
    left, right = st.columns(2)
    name = left.selectbox(
        "Rubric",
        list(offered),
        format_func=lambda name: f"{offered[name].title} ({'yours' if name == _KEPT else name})",
        key=given("judges_rubric", _RUBRIC if _RUBRIC in offered else next(iter(offered))),
        persist_state="session",
    )
    upload = right.file_uploader(
        "Or a rubric of your own (YAML)", type=["yaml", "yml"], key="judges_rubric_file"
    )
    chosen, broken = offered[name], upload is not None
    if upload is not None:
        with mistakes_shown():  # beside the file; the rest of the form stays
            chosen = parse_rubric(decode(upload.getvalue(), upload.name), upload.name)
            broken = False
        if broken:
            return chosen, broken
    with st.expander(f"What the scores mean: {plain(chosen.title)}"):
        st.text(chosen.criterion)
        st.text(chosen.rendered)
    return chosen, broken


def claims(backend: Backend) -> ClaimsSettings:
    """The settings of claim factuality."""
    left, right = st.columns(2)
    atomicity: Detail = "low"
    coverage: Detail = "low"
    if backend != "rules":
        atomicity = _menu(left, "Size of a claim", _ATOMICITY, "atomicity")
        coverage = _menu(right, "Which claims", _COVERAGE, "coverage")
    verifier = _menu(
        left,
        "Claims are verified by",
        {one: _VERIFIERS[one] for one in _OFFERED[backend]},
        f"verifier_{backend}",
    )
    beta = right.number_input(
        "Weight of recall (beta)",
        *SETTING_BOUNDS["beta"],
        step=0.5,
        format="%g",
        key=given("judges_beta", 1.0),
        persist_state="session",
        help="1: precision and recall alike; above 1 recall weighs more.",
    )
    model, device = "", "auto"
    if verifier == "nli":
        model = left.text_input(
            "Entailment model",
            key="judges_nli",
            persist_state="session",
            placeholder="the factual-perturbation study's, fetched if missing",
            help="A folder on this machine, or a name on the hub. Empty: the paper's.",
        ).strip()
        device = right.selectbox("Device", _DEVICES, key="judges_device", persist_state="session")
    temperature, seed = (0.0, 0) if backend == "rules" else _sampling()
    return ClaimsSettings(atomicity, coverage, verifier, model, device, float(beta), temperature, seed)


def cef() -> CefSettings:
    """The settings of cross-examination."""
    left, right = st.columns(2)
    mode = _menu(left, "Compared with", _MODES, "mode")
    answers = _menu(right, "Answers", ANSWERS, "answers")
    n_questions = _whole(
        left, "Questions from each text", "n_questions", "questions", CefSettings().n_questions
    )
    questions = _menu(right, "Kind of questions", _QUESTIONS, "questions_kind")
    language = CefSettings().source_language
    if mode == "round-trip":
        language = left.text_input(
            "Language to translate back into", key=given("judges_language", language), persist_state="session"
        ).strip()
    repeats = _repeats(left, "Repeats: whole examinations; the score is their mean")
    reask = right.checkbox(
        "Ask every question of its own text too",
        key="judges_reask",
        persist_state="session",
        help="Tells whether the model stands by its own questions. Scores do not change; it costs the answers again.",
    )
    temperature, seed = _sampling()
    return CefSettings(mode, answers, n_questions, questions, reask, repeats, temperature, seed, language)


def _menu(
    place: "st.delta_generator.DeltaGenerator", label: str, words: Mapping[Word, str], key: str
) -> Word:
    chosen: Word = place.selectbox(
        label, list(words), format_func=words.__getitem__, key=f"judges_{key}", persist_state="session"
    )
    return chosen


def _repeats(place: "st.delta_generator.DeltaGenerator", said: str) -> int:
    return _whole(place, "Repeats", "repeats", "repeats", 1, said)


def _whole(
    place: "st.delta_generator.DeltaGenerator",
    label: str,
    setting: str,
    key: str,
    default: int,
    said: str | None = None,
) -> int:
    # The settings' own bounds: a widget with others would change what the run of a command fills it with.
    lowest, highest = (int(end) for end in SETTING_BOUNDS[setting])
    return int(
        place.number_input(
            label, lowest, highest, key=given(f"judges_{key}", default), persist_state="session", help=said
        )
    )


def _sampling() -> tuple[float, int]:
    """Temperature and seed."""
    left, right = st.columns(2)
    temperature = left.number_input(
        "Temperature",
        *SETTING_BOUNDS["temperature"],
        step=0.1,
        format="%g",
        key=given("judges_temperature", 0.0),
        persist_state="session",
        help="0: the likeliest answer. Repeats tell something only above 0, or on a server that varies by itself.",
    )
    return float(temperature), _whole(right, "Seed", "seed", "seed", 0)
