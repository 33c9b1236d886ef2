"""Who does the work of a run: rules, a server that speaks OpenAI's API, or vLLM in a process of its own."""

import os
from dataclasses import dataclass

import streamlit as st
from core.runs.model_settings import RunningSettings

from core.llm.asking import DEFAULT_ATTEMPTS
from core.runs.asked import BACKENDS, OPENAI_KEY, OPENAI_URL, Backend
from core.runs.environments import missing_for
from pages.components.generate_state import given
from pages.components.messages import plain

_NAMES: dict[Backend, str] = {
    "rules": "Rules: no model, no cost",
    "openai": "A server (OpenAI-compatible)",
    "vllm": "vLLM on this machine",
}
_DEFAULTS = RunningSettings()
RULES = (
    "Numbers, dates, names and the like are exchanged by fixed rules: good enough to try everything out, "
    "plainer than what a model writes. Records say `rules`."
)
"""What rules do where answers are made."""


@dataclass(frozen=True)
class Chosen:
    """What was chosen, as the run's settings take it."""

    backend: Backend
    running: RunningSettings
    model: str = ""
    base_url: str = ""
    attempts: int = DEFAULT_ATTEMPTS
    max_model_len: int | None = None
    missing: str | None = None
    """What the backend still needs on this machine; None: nothing."""


def choose(prefix: str = "generate", rules: str | None = RULES) -> Chosen:
    """The backend and what it needs to know.

    prefix: of the widgets' keys, one a form. rules: what they do, as a sentence; None: they are no choice here.
    """
    offered = [backend for backend in BACKENDS if rules is not None or backend != "rules"]
    key = f"{prefix}_backend"
    if key in st.session_state and st.session_state[key] not in offered:
        st.session_state[key] = offered[0]  # without a value the radio would show none as chosen
    backend: Backend = st.radio(
        "Backend", offered, format_func=_NAMES.__getitem__, horizontal=True, key=key, persist_state="session"
    )
    missing = missing_for(backend)
    if missing:
        st.warning(lacking(missing))
    if backend == "rules":
        st.markdown(rules or "")
        return Chosen(backend, _DEFAULTS, missing=missing)
    return _server(prefix, missing) if backend == "openai" else _vllm(prefix, missing)


def lacking(missing: str) -> str:
    """What a machine lacks, for a warning: commands stand in it as they are typed."""
    return plain(missing.replace("`", ""))


def _server(prefix: str, missing: str | None) -> Chosen:
    left, right = st.columns(2)
    address = left.text_input(
        "Address", key=given(f"{prefix}_url", OPENAI_URL), persist_state="session"
    ).strip()
    model = _model(right, prefix, "As the server names it.")
    theirs = address == OPENAI_URL
    variable = left.text_input(
        "Environment variable that holds the key",
        key=given(f"{prefix}_key_{theirs}", OPENAI_KEY if theirs else ""),
        persist_state="session",
        help="Its name, never the key itself: the key is read by the run and stored nowhere. Empty: the server "
        "needs none.",
    ).strip()
    problem = _key_problem(variable)
    if problem:
        st.warning(problem)
    else:
        right.markdown(f":small[{'The key is set.' if variable else 'No key is sent.'}]")
    with st.expander("Speed, attempts and prices"):
        running, attempts = _speed(prefix, variable)
    return Chosen("openai", running, model, address, attempts, missing=missing or problem)


def _speed(prefix: str, variable: str) -> tuple[RunningSettings, int]:
    one, two = st.columns(2)
    concurrency = one.number_input(
        "Requests open at once",
        1,
        1024,
        key=given(f"{prefix}_open", _DEFAULTS.concurrency),
        persist_state="session",
    )
    timeout = two.number_input(
        "Seconds for one request",
        1.0,
        3600.0,
        step=10.0,
        key=given(f"{prefix}_timeout", _DEFAULTS.timeout),
        persist_state="session",
    )
    attempts = _attempts(one, prefix)
    retries = two.number_input(
        "Further tries when the line or the server fails",
        0,
        20,
        key=given(f"{prefix}_retries", _DEFAULTS.retries),
        persist_state="session",
    )
    running = RunningSettings(
        int(concurrency),
        float(timeout),
        int(retries),
        variable or None,
        _price(one, prefix, "input"),
        _price(two, prefix, "output"),
    )
    return running, attempts


def _vllm(prefix: str, missing: str | None) -> Chosen:
    left, right = st.columns(2)
    model = _model(left, prefix, "Name or folder of the weights.")
    longest = right.number_input(
        "Most tokens of prompt and answer (0: the model's own)",
        0,
        1_000_000,
        key=f"{prefix}_longest",
        persist_state="session",
    )
    with st.expander("Attempts"):
        attempts = _attempts(st.container(), prefix)
    return Chosen(
        "vllm",
        _DEFAULTS,
        model,
        attempts=attempts,
        max_model_len=int(longest) or None,
        missing=missing,
    )


def _model(place: "st.delta_generator.DeltaGenerator", prefix: str, said: str) -> str:
    return place.text_input("Model", key=f"{prefix}_model", persist_state="session", help=said).strip()


def _attempts(place: "st.delta_generator.DeltaGenerator", prefix: str) -> int:
    return int(
        place.number_input(
            "Answers asked for one step before it counts as failed",
            1,
            key=given(f"{prefix}_attempts", DEFAULT_ATTEMPTS),
            persist_state="session",
        )
    )


def _price(place: "st.delta_generator.DeltaGenerator", prefix: str, what: str) -> float | None:
    price: float | None = place.number_input(
        f"Price of a million {what} tokens",
        0.0,
        None,
        None,
        key=f"{prefix}_price_{what}",
        persist_state="session",
        placeholder="not known",
        help="In whatever money; with both prices the run says what it costs.",
    )
    return price


def _key_problem(variable: str) -> str | None:
    """Why no key can be read; never repeats what was typed, which may be the key itself."""
    if not variable or os.environ.get(variable, "").strip():
        return None
    return (
        "No environment variable of that name is set where this app runs. Stop the app, set it (`export NAME=...`), "
        "start the app again. Give the name, never the key itself."
    )
