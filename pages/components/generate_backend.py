"""Who does the work of a run: rules, a server that speaks OpenAI's API, or vLLM in a process of its own."""

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.llm.call_settings import CallSettings
from core.runs.asked import BACKENDS, OPENAI_KEY, OPENAI_URL, Backend, ModelSettings, Running
from core.runs.environments import missing_for
from core.runs.jobs import RunAtHand
from core.schema.settings import fields_of
from pages.components import setting_form
from pages.components.generate_state import given
from pages.components.messages import plain

_BACKEND = fields_of(ModelSettings)["backend"]
_ATTEMPTS = {"attempts"}
_OWN_WAY = {"backend"}
_CALLS = fields_of(CallSettings).keys()
_FIRST = fields_of(ModelSettings).keys() - _ATTEMPTS - _CALLS - {"engine"}
"""Who is asked; the rest is rarely changed."""


@dataclass(frozen=True)
class Chosen:
    """What was chosen, as `core.runs.asked.ask` takes it."""

    backend: Backend
    model: dict[str, Any]
    """Fields of ModelSettings."""
    running: dict[str, object] = field(default_factory=dict)
    """Fields of Running."""
    missing: str | None = None
    """What the backend still needs on this machine; None: nothing."""


def choose(prefix: str, rules: str | None, own: Collection[str] = ()) -> Chosen:
    """The backend and what it needs to know.

    prefix: of the widgets' keys, one a form. rules: what they do, as a sentence; None: they are no choice here. own: names
    of the kind's settings: what it asks for itself is not asked for again.
    """
    offered = [backend for backend in BACKENDS if rules is not None or backend != "rules"]
    key = f"{prefix}_backend"
    if key in st.session_state and st.session_state[key] not in offered:
        st.session_state[key] = offered[0]  # without a value the radio would show none as chosen
    backend: Backend = st.radio(
        _BACKEND.about.label,
        offered,
        format_func=_BACKEND.word,
        horizontal=True,
        key=key,
        persist_state="session",
    )
    missing = missing_for(backend) if backend == "vllm" else None
    if missing:
        st.warning(lacking(missing))
    if backend == "rules":
        st.markdown(rules or "")
        return Chosen(backend, {"backend": backend}, missing=missing)
    fields = fields_of(ModelSettings).keys()
    model = setting_form.render(ModelSettings, prefix, without=fields - _FIRST | _OWN_WAY, backend=backend)
    running: dict[str, object] = {}
    server = backend == "openai"
    if server:
        variable, problem = _key(prefix, str(model["base_url"]))
        missing, running = missing or problem, {"key_variable": variable or None}
    with st.expander("Speed, attempts and prices" if server else "Attempts"):
        model |= setting_form.render(ModelSettings, prefix, without=fields - _ATTEMPTS, backend=backend)
        running |= setting_form.render(Running, prefix, without=("key_variable",), backend=backend)
    with st.expander("Every call of the model: limits, thinking, further fields"):
        without = fields - _CALLS - {"engine"} | set(own)
        model |= setting_form.render(ModelSettings, prefix, without=without, backend=backend)
    return Chosen(backend, {"backend": backend, **model}, running, missing)


def put(prefix: str, run: RunAtHand) -> None:
    """Fill the form of this prefix as it was filled for the run."""
    model, running = run.asked.model, run.running
    st.session_state[f"{prefix}_backend"] = model.backend
    setting_form.put(model, prefix, without=_OWN_WAY | model.idle(model.backend))
    setting_form.put(running, prefix, without={"key_variable"} | running.idle(model.backend))
    if model.backend == "openai":
        st.session_state[_key_of(prefix, model.base_url)] = running.key_variable or ""


def lacking(missing: str) -> str:
    """What a machine lacks, for a warning: commands stand in it as they are typed."""
    return plain(missing.replace("`", ""))


def _key(prefix: str, address: str) -> tuple[str, str | None]:
    """The name of the variable that holds the server's key, and why no key can be read."""
    left, right = st.columns(2)
    variable = left.text_input(
        fields_of(Running)["key_variable"].about.label,
        key=given(_key_of(prefix, address), OPENAI_KEY if address == OPENAI_URL else ""),
        persist_state="session",
        help="Its name, never the key itself: the run reads the key and stores it nowhere. Empty: the server needs "
        "none.",
    ).strip()
    problem = _key_problem(variable)
    if problem:
        st.warning(problem)
    else:
        right.markdown(f":small[{'The key is set.' if variable else 'No key is sent.'}]")
    return variable, problem


def _key_of(prefix: str, address: str) -> str:
    """Of the widget: OpenAI's own server has a usual variable, and another server is not sent its key."""
    return f"{prefix}_key_{address == OPENAI_URL}"


def _key_problem(variable: str) -> str | None:
    """Why no key can be read; never repeats what was typed, which may be the key itself."""
    if not variable or os.environ.get(variable, "").strip():
        return None
    return (
        "No environment variable of that name is set where this app runs. Stop the app, set it (`export NAME=...`), "
        "start the app again. Give the name, never the key itself."
    )
