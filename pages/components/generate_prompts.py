"""Which prompts a run sends to its model: those that are shipped, or files of the user's own; all to be read."""

from collections.abc import Sequence

import streamlit as st

from core.llm.prompts import STEPS, Prompt, find_prompt, parse_prompt, shipped_prompts, unusable_prompts
from core.runs.jobs import RunAtHand
from core.schema.kinds import PromptSlot
from core.tables.reading import decode
from pages.components.messages import plain, with_code


def choose(prefix: str, slots: tuple[PromptSlot, ...]) -> list[Prompt]:
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


def put(prefix: str, run: RunAtHand) -> None:
    """Choose the shipped prompts that the run sent; those of the user's own are kept aside for the form."""
    sent, own = run.asked.prompts_read.values(), []
    for slot in run.asked.chosen.prompts(by_rules=run.asked.by_rules):
        for prompt in sent:
            if prompt.purpose not in slot.purposes:
                continue
            if any((one.name, one.sha256) == (prompt.name, prompt.sha256) for one in _fitting(slot)):
                st.session_state[_key(prefix, slot)] = prompt.name
            else:
                own.append(prompt)
    st.session_state[_kept_under(prefix)] = (run.run.run_id, tuple(own)) if own else None


def said(prompt: Prompt, whose: str = "") -> None:
    """What a prompt is for, and all of it."""
    st.markdown(f"{STEPS[prompt.purpose]}: {plain(prompt.title)}{whose}")
    _text(prompt)


def _one_of(prefix: str, slot: PromptSlot) -> Prompt:
    """The one that is chosen of the shipped prompts for a slot, at first the usual one; with its text."""
    offered, key = {prompt.name: prompt for prompt in _fitting(slot)}, _key(prefix, slot)
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


def _key(prefix: str, slot: PromptSlot) -> str:
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
