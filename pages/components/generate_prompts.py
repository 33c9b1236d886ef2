"""Which prompts a run sends to its model: those that are shipped, or files of the user's own; all to be read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from core.runs.plan import default_prompts

from core.datasets.reading import decode
from core.generation.records import EditCalls, Task
from core.llm.prompts import Prompt, parse_prompt, shipped_prompts
from core.runs.asked import choose_prompts
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
    "mark-errors": "Marking errors",
    "direct": "Giving a score",
    "quality": "Rating quality",
}
_FORM = "generate"


@dataclass(frozen=True)
class PromptForm:
    """Where a form's prompts come from, and under which keys its widgets stand."""

    name: str
    """With which the keys of its uploader and of what is kept for it begin."""
    sentence: str
    slot: Callable[[str], str]
    """Purpose -> the step it is for: prompts of one step stand in each other's place."""
    offered: Callable[[str, str], Sequence[Prompt]]
    """(purpose, name of the default) -> the shipped ones for that step."""
    key: Callable[[str, str], str]
    """(purpose, name of the default) -> key of the menu."""


def key_of(purpose: str, task: Task | None) -> str:
    """Key of the menu of one step's prompts."""
    return f"generate_prompt_{purpose}_{task}"


def keep(run_id: int, own: Sequence[Prompt], form: str = _FORM) -> None:
    """Offer the prompts of a run that are not shipped in the next form of that name; none: offer nothing."""
    st.session_state[_kept_under(form)] = (run_id, tuple(own)) if own else None


def choose(kind: GenerationKind, task: Task, calls: EditCalls) -> dict[str, str]:
    """Purpose -> the whole text of its prompt. Raises InputError for a file that is no prompt or does not fit."""
    of_task = task if kind == "damage" else None
    form = PromptForm(
        _FORM,
        "and every record names the hash of what was sent.",
        _slot,
        lambda purpose, _: shipped_prompts(purpose, of_task),
        lambda purpose, _: key_of(purpose, of_task),
    )
    return choose_prompts(kind, task, calls, chosen(form, default_prompts(kind, task, calls)))


def chosen(form: PromptForm, defaults: Mapping[str, str]) -> list[Prompt]:
    """The prompts of the user's own, then for each other step the one that is chosen of those shipped.

    defaults: purpose -> name. Raises InputError for a file that is no prompt.
    """
    with st.expander("Prompts"):
        st.markdown(
            f"Each step sends one prompt. The texts are kept with the run, {form.sentence} `prompts/README.md` says how "
            "a file of your own looks."
        )
        uploads = st.file_uploader(
            "Prompt files of your own (YAML)",
            type=["yaml", "yml"],
            accept_multiple_files=True,
            key=f"{form.name}_prompt_files",
        )
        own = [parse_prompt(decode(file.getvalue(), file.name), file.name) for file in uploads]
        own = own or _kept(form, defaults)
        taken = {form.slot(prompt.purpose) for prompt in own}
        shipped = [
            _one_of(form.offered(purpose, name), purpose, name, form.key(purpose, name))
            for purpose, name in defaults.items()
            if form.slot(purpose) not in taken
        ]
        for prompt in own:
            said(prompt, " (yours)")
    return [*own, *shipped]


def texts(prompts: dict[str, str]) -> None:
    """The prompts that a run keeps, to be read."""
    for purpose, text in prompts.items():
        said(parse_prompt(text, f"{purpose}.yaml"))


def said(prompt: Prompt, whose: str = "") -> None:
    """What a prompt is for, and all of it."""
    st.markdown(f"{_PURPOSES.get(prompt.purpose, plain(prompt.purpose))}: {plain(prompt.title)}{whose}")
    _text(prompt)


def _one_of(prompts: Sequence[Prompt], purpose: str, default: str, key: str) -> Prompt:
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


def _kept_under(form: str) -> str:
    return f"{form}_prompts_kept"


def _kept(form: PromptForm, defaults: Mapping[str, str]) -> list[Prompt]:
    """Those that an earlier run brought along, as far as the run that is asked for now has a use for them."""
    run_id, brought = st.session_state.get(_kept_under(form.name)) or (0, ())
    fitting = [prompt for prompt in brought if _fits(prompt, form, defaults)]
    if not fitting or not st.checkbox(
        f"Use the prompts that run {run_id} brought along: {plain(', '.join(one.name for one in fitting))}",
        True,
    ):
        return []
    return fitting


def _fits(prompt: Prompt, form: PromptForm, defaults: Mapping[str, str]) -> bool:
    return any(
        form.slot(purpose) == form.slot(prompt.purpose)
        and prompt.task in {one.task for one in form.offered(purpose, name)}
        for purpose, name in defaults.items()
    )


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
