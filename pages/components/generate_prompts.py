"""Which prompts a run sends to its model: those that are shipped, or files of the user's own; all to be read."""

import streamlit as st

from core.datasets.reading import decode
from core.generation.records import EditCalls, Task
from core.llm.prompts import Prompt, parse_prompt, shipped_prompts
from core.runs.plan import choose_prompts, default_prompts
from core.schema import RunKind
from pages.components.messages import plain

_PURPOSES = {
    "paraphrase": "Writing A0",
    "rank": "Ranking the facts",
    "edit": "Changing the facts of a level",
    "edit-shared": "Changing the facts of all levels",
    "edit-text": "Changing the facts in the whole text",
    "damage": "Writing a damage level",
}


def choose(kind: RunKind, task: Task, calls: EditCalls) -> dict[str, str]:
    """Purpose -> the whole text of its prompt. Raises InputError for a file that is no prompt or does not fit."""
    with st.expander("Prompts"):
        st.markdown(
            "Each step sends one prompt. The texts are kept with the run, and every record names the hash of what "
            "was sent. `prompts/README.md` says how a file of your own looks."
        )
        uploads = st.file_uploader(
            "Prompt files of your own (YAML)",
            type=["yaml", "yml"],
            accept_multiple_files=True,
            key="generate_prompt_files",
        )
        own = [parse_prompt(decode(file.getvalue(), file.name), file.name) for file in uploads]
        taken = {_slot(prompt.purpose) for prompt in own}
        chosen = [
            _one(purpose, task if kind == "damage" else None, name)
            for purpose, name in default_prompts(kind, task, calls).items()
            if _slot(purpose) not in taken
        ]
        for prompt in own:
            st.markdown(
                f"{_PURPOSES.get(prompt.purpose, plain(prompt.purpose))}: {plain(prompt.title)} (yours)"
            )
            _text(prompt)
    return choose_prompts(kind, task, calls, [*own, *chosen])


def texts(prompts: dict[str, str]) -> None:
    """The prompts that a run keeps, to be read."""
    for purpose, text in prompts.items():
        prompt = parse_prompt(text, f"{purpose}.yaml")
        st.markdown(f"{_PURPOSES.get(purpose, plain(purpose))}: {plain(prompt.title)}")
        _text(prompt)


def _one(purpose: str, task: Task | None, default: str) -> Prompt:
    offered = {prompt.name: prompt for prompt in shipped_prompts(purpose, task)}
    names = list(offered)
    name = st.selectbox(
        _PURPOSES.get(purpose, purpose),
        names,
        names.index(default),
        format_func=lambda name: f"{offered[name].title} ({name})",
        key=f"generate_prompt_{purpose}_{task}",
        persist_state="session",
    )
    _text(offered[name])
    return offered[name]


def _text(prompt: Prompt) -> None:
    st.code(prompt.dump(), language="yaml", wrap_lines=True, height=180)
    st.markdown(
        f":small[After {plain(prompt.paper)}, {plain(prompt.section)}; different here: {plain(prompt.differences)} "
        f"Hash {prompt.sha256[:16]}.]"
    )


def _slot(purpose: str) -> str:
    """A run asks for edits in one form: a file for another takes the place of the shipped one."""
    return "edit" if purpose.startswith("edit") else purpose
