"""Which prompts a judge sends to its model: those that are shipped, or files of the user's own; all to be read."""

import streamlit as st

from core.datasets.reading import decode
from core.llm.prompts import Prompt, find_prompt, parse_prompt, shipped_prompts
from core.runs.judge_plan import choose_judge_prompts, default_judge_prompts
from core.runs.judge_settings import JudgeSettings
from pages.components import generate_prompts


def choose(settings: JudgeSettings, slot: str = "new") -> dict[str, str]:
    """Purpose -> the whole text of its prompt. Raises InputError for a file that is no prompt or does not fit."""
    defaults = default_judge_prompts(settings)
    if not defaults:
        return {}
    with st.expander("Prompts"):
        st.markdown(
            "Each step sends one prompt. The texts are kept with the run; their hashes are part of the judge's "
            "signature. `prompts/README.md` says how a file of your own looks."
        )
        uploads = st.file_uploader(
            "Prompt files of your own (YAML)",
            type=["yaml", "yml"],
            accept_multiple_files=True,
            key=f"judges_prompt_files_{slot}",
        )
        own = [parse_prompt(decode(file.getvalue(), file.name), file.name) for file in uploads]
        taken = {_slot(prompt.purpose) for prompt in own}
        chosen = [
            generate_prompts.one_of(_fitting(name), purpose, name, f"judges_prompt_{slot}_{purpose}_{name}")
            for purpose, name in defaults.items()
            if _slot(purpose) not in taken
        ]
        for prompt in own:
            generate_prompts.said(prompt, " (yours)")
    return choose_judge_prompts(settings, [*own, *chosen])


def _fitting(default: str) -> list[Prompt]:
    """Shipped prompts that can stand in the place of the default."""
    first = find_prompt(default)
    return [
        prompt
        for prompt in shipped_prompts()
        if _slot(prompt.purpose) == _slot(first.purpose) and prompt.task == first.task
    ]


def _slot(purpose: str) -> str:
    """The rubric judge is asked in one of two forms: a file for one takes the place of the other."""
    return "rubric" if purpose == "rubric-text" else purpose
