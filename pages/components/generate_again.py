"""The form of a new run, filled with what another run was asked for: to change what kept that one from starting."""

from typing import Any

import streamlit as st
from core.runs.model_settings import RunningSettings
from core.runs.settings import settings_of

from core.generation.scheme import GenerationSettings
from core.llm.prompts import parse_prompt, shipped_prompts
from core.runs.asked import OPENAI_URL, ModelSettings, running_of
from core.schema import Run
from core.store import Store
from core.store.runs import run_data
from pages.components import generate_file, generate_prompts, messages, run_choice


def open_form(store: Store, run: Run) -> None:
    """Open the form as it was filled for the run, with its file."""
    settings = settings_of(run)
    running = fields_of_running("generate", running_of(run), settings.base_url)
    for key, value in {**_asked(settings), **running}.items():
        st.session_state[key] = value
    generate_file.put(run.data_file, run_data(store, run.run_id))
    _prompts(run.run_id, settings)
    warn_of_engine(settings)
    run_choice.remember(run_choice.NEW)
    st.rerun()


def warn_of_engine(settings: ModelSettings) -> None:
    """Say in the next run what the form cannot take over."""
    if settings.engine:
        messages.keep(
            f"The form is filled, but for options of the engine, which only a command takes: {', '.join(settings.engine)}."
        )


def _asked(settings: GenerationSettings) -> dict[str, Any]:
    """Key of a widget -> its value; the scheme that was not asked for keeps what its widgets had."""
    found: dict[str, Any] = {
        "generate_backend": settings.backend,
        "generate_kind": settings.kind,
        "generate_source": settings.source,
        "generate_attempts": settings.attempts,
    }
    if settings.backend != "rules":
        found |= {"generate_model": settings.model, "generate_longest": settings.max_model_len or 0}
    if settings.kind == "damage":
        damage = settings.damage
        return found | {
            "generate_task": damage.task,
            "generate_damage_levels": list(damage.levels),
            "generate_seed": str(damage.seed),
        }
    factual = settings.factual
    return found | {
        "generate_levels": factual.n_levels,
        "generate_keep": max(factual.keep, 0.05),
        "generate_seed": str(factual.seed),
        "generate_order": factual.filter_order,
        "generate_filter": factual.question_filter,
        "generate_calls": factual.edit_calls,
        "generate_parser": factual.parser,
    }


def fields_of_running(prefix: str, running: RunningSettings, address: str) -> dict[str, Any]:
    """Key of a widget -> its value, in the form whose keys begin with `prefix`."""
    if not address:  # no server was asked
        return {}
    return {
        f"{prefix}_url": address,
        f"{prefix}_key_{address == OPENAI_URL}": running.key_variable or "",
        # A command may have asked for more than the form offers; no answer changes by it.
        f"{prefix}_open": min(running.concurrency, 1024),
        f"{prefix}_timeout": min(max(running.timeout, 1.0), 3600.0),
        f"{prefix}_retries": min(running.retries, 20),
        f"{prefix}_price_input": running.input_price,
        f"{prefix}_price_output": running.output_price,
    }


def _prompts(run_id: int, settings: GenerationSettings) -> None:
    """Choose the shipped ones that were sent; those of the user's own are kept aside for the form."""
    task = settings.damage.task if settings.kind == "damage" else None
    own = []
    for purpose, text in settings.prompts.items():
        prompt = parse_prompt(text, f"{purpose}.yaml")
        names = {one.name for one in shipped_prompts(purpose, task) if one.sha256 == prompt.sha256}
        if prompt.name in names:
            st.session_state[generate_prompts.key_of(purpose, task)] = prompt.name
        else:
            own.append(prompt)
    generate_prompts.keep(run_id, own)
