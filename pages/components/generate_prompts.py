"""Which prompts a run sends to its model: those that are shipped, or files of the user's own; all to be read."""

from collections.abc import Sequence

import streamlit as st

from core.datasets.reading import decode
from core.generation.records import EditCalls, Task
from core.llm.prompts import Prompt, parse_prompt, shipped_prompts
from core.runs.plan import choose_prompts, default_prompts
from core.schema import GenerationKind
from pages.components.generate_state import given
from pages.components.messages import plain

_PURPOSES = {
    "paraphrase": "Writing A0",
    "rank": "Ranking the facts",
    "edit": "Changing the facts of a level",
    "edit-shared": "Changing the facts of all levels",
    "edit-text": "Changing the facts in the whole text",
    "damage": "Writing a damage level",
    "rubric": "Judging by the rubric",
    "rubric-text": "Judging by the rubric",
    "decompose": "Finding the claims of a text",
    "verify": "Verifying claims",
    "questions": "Asking questions of a text",
    "answer": "Answering one question",
    "answers": "Answering all questions of a text",
    "translate": "Translating back",
    "align": "Comparing mismatches with a marked error",
}
_KEPT = "generate_prompts_kept"


def key_of(purpose: str, task: Task | None) -> str:
    """Key of the menu of one step's prompts."""
    return f"generate_prompt_{purpose}_{task}"


def keep(run_id: int, own: Sequence[Prompt]) -> None:
    """Offer the prompts of a run that are not shipped in the next form; none: offer nothing."""
    st.session_state[_KEPT] = (run_id, tuple(own)) if own else None


def choose(kind: GenerationKind, task: Task, calls: EditCalls) -> dict[str, str]:
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
        own = [parse_prompt(decode(file.getvalue(), file.name), file.name) for file in uploads] or _kept()
        taken = {_slot(prompt.purpose) for prompt in own}
        chosen = [
            _one(purpose, task if kind == "damage" else None, name)
            for purpose, name in default_prompts(kind, task, calls).items()
            if _slot(purpose) not in taken
        ]
        for prompt in own:
            said(prompt, " (yours)")
    return choose_prompts(kind, task, calls, [*own, *chosen])


def texts(prompts: dict[str, str]) -> None:
    """The prompts that a run keeps, to be read."""
    for purpose, text in prompts.items():
        said(parse_prompt(text, f"{purpose}.yaml"))


def said(prompt: Prompt, whose: str = "") -> None:
    """What a prompt is for, and all of it."""
    st.markdown(f"{_PURPOSES.get(prompt.purpose, plain(prompt.purpose))}: {plain(prompt.title)}{whose}")
    _text(prompt)


def one_of(prompts: Sequence[Prompt], purpose: str, default: str, key: str) -> Prompt:
    """The one that is chosen of the prompts for a purpose, at first the one named `default`; with its text."""
    offered = {prompt.name: prompt for prompt in prompts}
    name = st.selectbox(
        _PURPOSES.get(purpose, purpose),
        list(offered),
        format_func=lambda name: f"{offered[name].title} ({name})",
        key=given(key, default),
        persist_state="session",
    )
    _text(offered[name])
    return offered[name]


def _one(purpose: str, task: Task | None, default: str) -> Prompt:
    return one_of(shipped_prompts(purpose, task), purpose, default, key_of(purpose, task))


def _kept() -> list[Prompt]:
    kept: tuple[int, tuple[Prompt, ...]] | None = st.session_state.get(_KEPT)
    if kept is None or not st.checkbox(
        f"Use the prompts that run {kept[0]} brought along: {plain(', '.join(one.name for one in kept[1]))}",
        True,
    ):
        return []
    return list(kept[1])


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


def _slot(purpose: str) -> str:
    """A run asks for edits in one form: a file for another takes the place of the shipped one."""
    return "edit" if purpose.startswith("edit") else purpose
