"""Which prompts a judge sends to its model: those that are shipped, or files of the user's own; all to be read."""

import streamlit as st
from core.runs.judge_plan import choose_judge_prompts, default_judge_prompts

from core.judges.kind import JudgeSettings
from core.llm.prompts import Prompt, find_prompt, parse_prompt, shipped_prompts
from pages.components import generate_prompts
from pages.components.generate_prompts import PromptForm

_NEW = "new"


def choose(settings: JudgeSettings, slot: str = _NEW) -> dict[str, str]:
    """Purpose -> the whole text of its prompt. Raises InputError for a file that is no prompt or does not fit."""
    defaults = default_judge_prompts(settings)
    if not defaults:
        return {}
    return choose_judge_prompts(settings, generate_prompts.chosen(_form(slot), defaults))


def put(run_id: int, settings: JudgeSettings, slot: str = _NEW) -> None:
    """Choose the shipped prompts that a run sent; those of the user's own are kept aside for the form."""
    form, own = _form(slot), []
    sent = {
        _step(purpose): parse_prompt(text, f"{purpose}.yaml") for purpose, text in settings.prompts.items()
    }
    for purpose, name in default_judge_prompts(settings).items():
        prompt = sent.get(_step(purpose))
        if prompt is None:
            continue
        if any((one.name, one.sha256) == (prompt.name, prompt.sha256) for one in _fitting(name)):
            st.session_state[form.key(purpose, name)] = prompt.name
        else:
            own.append(prompt)
    generate_prompts.keep(run_id, own, form.name)


def _form(slot: str) -> PromptForm:
    return PromptForm(
        f"judges_{slot}",
        "and their hashes are part of the judge's signature.",
        _step,
        lambda _, name: _fitting(name),
        lambda purpose, name: f"judges_prompt_{slot}_{purpose}_{name}",
    )


def _fitting(default: str) -> list[Prompt]:
    """Shipped prompts that can stand in the place of the default."""
    first = find_prompt(default)
    return [
        prompt
        for prompt in shipped_prompts()
        if _step(prompt.purpose) == _step(first.purpose) and prompt.task == first.task
    ]


def _step(purpose: str) -> str:
    """The rubric judge is asked in one of two forms: a file for one takes the place of the other."""
    return "rubric" if purpose == "rubric-text" else purpose
