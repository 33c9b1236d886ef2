"""Who does the work of a run, and with which prompts: rules, a server that speaks OpenAI's API, or vLLM; prompts shipped or the user's own."""

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.llm.call_settings import CallSettings
from core.llm.prompts import STEPS, Prompt, find_prompt, parse_prompt, shipped_prompts, unusable_prompts
from core.runs.asked import BACKENDS, OPENAI_KEY, OPENAI_URL, Backend, ModelSettings, Running
from core.runs.environments import missing_for
from core.runs.jobs import RunAtHand
from core.schema.kinds import PromptSlot
from core.schema.settings import fields_of
from core.tables.reading import decode
from pages.widgets import settings_form
from pages.widgets.messages import plain, with_code
from pages.widgets.settings_form import given

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


def choose_backend(prefix: str, rules: str | None, own: Collection[str] = ()) -> Chosen:
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
    model = settings_form.render(ModelSettings, prefix, without=fields - _FIRST | _OWN_WAY, backend=backend)
    running: dict[str, object] = {}
    server = backend == "openai"
    if server:
        variable, problem = _key(prefix, str(model["base_url"]))
        missing, running = missing or problem, {"key_variable": variable or None}
    with st.expander("Speed, attempts and prices" if server else "Attempts"):
        model |= settings_form.render(ModelSettings, prefix, without=fields - _ATTEMPTS, backend=backend)
        running |= settings_form.render(Running, prefix, without=("key_variable",), backend=backend)
    with st.expander("Every call of the model: limits, thinking, further fields"):
        without = fields - _CALLS - {"engine"} | set(own)
        model |= settings_form.render(ModelSettings, prefix, without=without, backend=backend)
    return Chosen(backend, {"backend": backend, **model}, running, missing)


def put_backend(prefix: str, run: RunAtHand) -> None:
    """Fill the form of this prefix as it was filled for the run."""
    model, running = run.asked.model, run.running
    st.session_state[f"{prefix}_backend"] = model.backend
    settings_form.put(model, prefix, without=_OWN_WAY | model.idle(model.backend))
    settings_form.put(running, prefix, without={"key_variable"} | running.idle(model.backend))
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


def choose_prompts(prefix: str, slots: tuple[PromptSlot, ...]) -> list[Prompt]:
    """The prompts that were chosen in the place of those shipped, for `core.runs.asked.ask`.

    prefix: of the widgets' keys, one a form. Raises InputError for a file that is no prompt.
    """
    if not slots:
        return []
    with st.expander("Prompts"):
        st.markdown(
            "Each step sends one prompt. The texts are kept with the run and named by their hashes. `prompts/README.md` "
            "describes a file of your own."
        )
        uploads = st.file_uploader(
            "Prompt files of your own (YAML)",
            type=["yaml", "yml"],
            accept_multiple_files=True,
            key=f"{prefix}_prompt_files",
        )
        for line in unusable_prompts():
            st.warning(with_code(line))
        own = [parse_prompt(decode(file.getvalue(), file.name), file.name) for file in uploads]
        own = own or _kept(prefix, slots)
        shipped = [
            _one_of(prefix, slot)
            for slot in slots
            if not any(prompt.purpose in slot.purposes for prompt in own)
        ]
        for prompt in own:
            said(prompt, " (yours)")
    usual = {slot.shipped for slot in slots}
    return [*own, *(prompt for prompt in shipped if prompt.name not in usual)]


def put_prompts(prefix: str, run: RunAtHand) -> None:
    """Choose the shipped prompts that the run sent; those of the user's own are kept aside for the form."""
    sent, own = run.asked.prompts_read.values(), []
    for slot in run.asked.chosen.prompts(by_rules=run.asked.by_rules):
        for prompt in sent:
            if prompt.purpose not in slot.purposes:
                continue
            if any((one.name, one.sha256) == (prompt.name, prompt.sha256) for one in _fitting(slot)):
                st.session_state[_prompt_key(prefix, slot)] = prompt.name
            else:
                own.append(prompt)
    st.session_state[_kept_under(prefix)] = (run.run.run_id, tuple(own)) if own else None


def said(prompt: Prompt, whose: str = "") -> None:
    """What a prompt is for, and all of it."""
    st.markdown(f"{STEPS[prompt.purpose]}: {plain(prompt.title)}{whose}")
    _text(prompt)


def _one_of(prefix: str, slot: PromptSlot) -> Prompt:
    """The one that is chosen of the shipped prompts for a slot, at first the usual one; with its text."""
    offered, key = {prompt.name: prompt for prompt in _fitting(slot)}, _prompt_key(prefix, slot)
    usual = (
        slot.shipped if slot.shipped in offered else None
    )  # of a broken file: another one is nobody's choice
    if st.session_state.get(key) not in offered:
        st.session_state[key] = usual
    name = st.selectbox(
        STEPS[slot.purpose],
        list(offered),
        index=None if usual is None else 0,
        format_func=lambda name: f"{offered[name].title} ({name})",
        key=key,
        persist_state="session",
    )
    chosen = find_prompt(slot.shipped, slot.purpose, slot.task) if name is None else offered[name]
    _text(chosen)
    return chosen


def _fitting(slot: PromptSlot) -> list[Prompt]:
    """Shipped prompts that can be sent."""
    return [
        prompt
        for purpose in slot.purposes
        for prompt in shipped_prompts(purpose)
        if slot.fits(prompt.purpose, prompt.task)
    ]


def _prompt_key(prefix: str, slot: PromptSlot) -> str:
    """Of the menu of one step's prompts."""
    return f"{prefix}_prompt_{slot.shipped}"


def _kept_under(prefix: str) -> str:
    return f"{prefix}_prompts_kept"


def _kept(prefix: str, slots: Sequence[PromptSlot]) -> list[Prompt]:
    """Those that an earlier run brought along, as far as the run that is asked for now has a use for them."""
    run_id, brought = st.session_state.get(_kept_under(prefix)) or (0, ())
    fitting = [prompt for prompt in brought if any(slot.fits(prompt.purpose, prompt.task) for slot in slots)]
    if not fitting or not st.checkbox(
        f"Use the prompts that run {run_id} brought along: {plain(', '.join(one.name for one in fitting))}",
        True,
    ):
        return []
    return fitting


def _text(prompt: Prompt) -> None:
    st.code(wording(prompt), language=None, wrap_lines=True, height=300)
    st.markdown(
        f":small[{plain(prompt.name)}, after {plain(prompt.paper)}, {plain(prompt.section)}; different here: "
        f"{plain(prompt.differences)} Hash {prompt.sha256[:16]}.]"
    )


def wording(prompt: Prompt) -> str:
    """What the model reads, part by part; `$name` stands for what an item puts there."""
    parts = [] if prompt.system is None else [("System", prompt.system)]
    parts.append(("User", prompt.user))
    if prompt.ladder:
        parts.append(("What the levels mean ($ladder)", prompt.rendered_ladder))
    for number, example in enumerate(prompt.examples, start=1):
        asked = "\n".join(f"{name}: {value}" for name, value in example.variables)
        parts.append((f"Worked example {number}", f"{asked}\nAnswer: {example.answer}"))
    return "\n\n".join(f"{title.upper()}\n{text.strip()}" for title, text in parts)
