"""Edit a prompt: a form beside its problems, a preview on three texts beside the unedited prompt, and a file at the end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from core.errors import InputError, counted
from core.judges.kind import JudgeKind, JudgeSettings
from core.llm.prompts import (
    LADDER,
    STEPS,
    Prompt,
    cautions,
    edited_text,
    other_fields,
    parse_prompt,
)
from core.runs.calls import ItemCall
from core.runs.judging.previewing import (
    N_TEXTS,
    Preview,
    PreviewedText,
    preview_file,
    previewed,
    save_previewed,
)
from core.runs.judging.several import create_together, variants
from core.runs.path import saved_run
from core.runs.progress import progress_of
from core.schema.runs import PromptSlot
from core.schema.scores import RatedSet
from core.sources.texts import Texts
from core.store import Store
from core.yaml_fields import LONGEST_TITLE
from pages.widgets import messages, run_panel, settings_form, visitor
from pages.widgets.messages import mistakes_shown, plain, show_mistake
from pages.widgets.parts import nothing, number, part
from pages.widgets.settings_form import Wanted, given

_PREFIX = "prompt_edit"
_SHOWN = f"{_PREFIX}_shown"
"""Where the session stores the two runs of the last preview."""
_TICK = 1.0


def render(
    store: Store,
    kind: JudgeKind,
    wanted: Wanted,
    texts: Texts,
    contents: RatedSet,
    slots: Sequence[PromptSlot],
) -> None:
    """Show the editor of a prompt of this judge. texts, contents: those chosen in the form, read."""
    slots = [slot for slot in slots if settings_form.fitting(slot)]
    if not slots or wanted.model.by_rules:
        return
    part(
        "Edit a prompt",
        f"Change a prompt and preview it on {N_TEXTS} of these texts beside the unedited one. Then save it as a file in `prompts/`, "
        "where every menu finds it.",
        "pairs#prompts-compared",
    )
    if not st.toggle("Edit a prompt", key=f"{_PREFIX}_open", persist_state="session"):
        return
    with mistakes_shown():
        _editor(store, kind, wanted, texts, contents, slots)


@dataclass(frozen=True)
class _Draft:
    """The edited prompt as the form has it."""

    base: Prompt
    slot: PromptSlot
    text: str
    """The whole file."""
    prompt: Prompt | None
    """None: the text has problems."""
    described: bool
    """Whether it is said what was changed."""


def _editor(
    store: Store,
    kind: JudgeKind,
    wanted: Wanted,
    texts: Texts,
    contents: RatedSet,
    slots: Sequence[PromptSlot],
) -> None:
    draft = _draft(slots)
    if draft.prompt is not None:
        for line in cautions(draft.prompt):
            st.warning(f"Think about it: {plain(line)}.")
    changed = draft.prompt is not None and draft.prompt.sha256 != draft.base.sha256
    if draft.prompt is not None and not changed:
        st.markdown("Nothing is changed yet.")
    price = "" if wanted.model.missing is None else f" {plain(wanted.model.missing)}"
    if st.button(
        f"Preview on {N_TEXTS} texts",
        type="primary",
        key=f"{_PREFIX}_preview",
        disabled=not changed or wanted.model.missing is not None,
        help=f"Asks the model for {N_TEXTS} texts with this prompt and with the unedited one.{price}",
    ):
        assert draft.prompt is not None
        _start(store, kind, wanted, texts, contents, draft)
    runs: tuple[int, int] | None = st.session_state.get(_SHOWN)
    if runs is not None:
        moving = any(run_panel.is_moving(progress_of(store, one)) for one in runs)
        st.fragment(_live, run_every=_TICK if moving else None)(runs, moving)
    _save(store, draft, runs, changed=changed)


def _draft(slots: Sequence[PromptSlot]) -> _Draft:
    offered = {prompt.name: (prompt, slot) for slot in slots for prompt in settings_form.fitting(slot)}
    key = f"{_PREFIX}_base"
    if st.session_state.get(key) not in offered:
        st.session_state.pop(key, None)
    name = st.selectbox(
        "Begin with",
        list(offered),
        format_func=lambda name: f"{STEPS[offered[name][0].purpose]}: {offered[name][0].title} ({name})",
        key=key,
        persist_state="session",
    )
    base, slot = offered[name]
    own = f"{_PREFIX}_{name}_{base.sha256[:12]}"
    system = _area("System", base.system or "", f"{own}_system", "The same for every text.")
    user = _area("User", base.user, f"{own}_user", f"Variables: {_variables(base)}")
    with st.expander("Other fields (YAML): examples, ladder and more"):
        other = _area("Other fields", other_fields(base), f"{own}_other", "See `prompts/README.md`, Fields.")
    left, right = st.columns(2)
    called = left.text_input(
        "Name",
        key=given(f"{own}_name", f"{name}-edited"),
        persist_state="session",
        help="Small letters, digits and hyphens.",
    )
    title = right.text_input(
        "Title for menus",
        key=given(f"{own}_title", f"{base.title}, edited"[:LONGEST_TITLE]),
        persist_state="session",
    )
    said = st.text_input(
        "What did you change, and why?",
        key=f"{own}_changed",
        persist_state="session",
        help="Stored in the file, for colleagues.",
    )
    text = edited_text(
        base, name=called, title=title, changed=said or "not described", system=system, user=user, other=other
    )
    prompt = None
    try:
        prompt = parse_prompt(text, f"{called}.yaml")
    except InputError as wrong:
        show_mistake(wrong.what, [*wrong.problems, wrong.more])
    with st.expander("The file, with the numbers of its lines"):
        st.code(text, language="yaml", line_numbers=True, wrap_lines=True, height=320)
    return _Draft(base, slot, text, prompt, bool(said.strip()))


def _area(label: str, text: str, key: str, help_text: str) -> str:
    return st.text_area(label, key=given(key, text), height=260, persist_state="session", help=help_text)


def _variables(base: Prompt) -> str:
    names = [*base.variables, *([LADDER] if base.use.ladder else [])]
    return ", ".join(f"`${name}`" for name in names)


def _start(
    store: Store, kind: JudgeKind, wanted: Wanted, texts: Texts, contents: RatedSet, draft: _Draft
) -> None:
    """Create both runs, find those that were previewed before, and start what is not done."""
    chosen = kind.Settings.checked(wanted.values)
    assert isinstance(chosen, JudgeSettings)
    data, name, limit = preview_file(kind, contents, chosen, *texts)
    assert draft.prompt is not None
    pair = []
    for prompt in (draft.prompt, draft.base):
        of_run = prompt.name if prompt is draft.prompt else draft.base.name
        own = replace(wanted, prompts=[prompt], name=f"preview-{of_run}"[:80])
        pair.append(own.request())
    made = create_together(store, data, name, variants(pair), limit, with_people=True)
    run_panel.start_together([one.run.run for one in made if not one.is_whole])
    st.session_state[_SHOWN] = (made[0].run.run.run_id, made[1].run.run.run_id)
    st.rerun()


def _live(runs: tuple[int, int], before: bool) -> None:
    with visitor.admin_store() as store:
        progress = [progress_of(store, one) for one in runs]
        moving = any(map(run_panel.is_moving, progress))
        if moving != before:
            st.rerun()
        if moving:
            done = sum(one.n_finished for one in progress)
            wanted = sum(one.run.n_wanted for one in progress)
            st.progress(done / wanted if wanted else 0.0, text=f"Previewing: {done:,} of {wanted:,} items")
            return
        for one in progress:
            if one.run.message and one.state != "done":
                st.warning(plain(f"Run {one.run.run_id}: {one.run.message}"))
        edited, unedited = (previewed(saved_run(store, one)) for one in runs)
        _side_by_side(edited, unedited)


def _side_by_side(edited: Preview, unedited: Preview) -> None:
    for at, text in enumerate(edited.texts):
        row = text.row
        named = ", ".join(filter(None, [row.item_id, row.system, row.level and f"level {row.level}"]))
        st.markdown(f"**Text {at + 1}: {plain(named)}**")
        st.code(text.text, language=None, wrap_lines=True)
        left, right = st.columns(2)
        with left:
            _one("Edited", text)
        with right:
            _one("Unedited", unedited.texts[at] if at < len(unedited.texts) else None)
    left, right = st.columns(2)
    for place, title, one in ((left, "Edited", edited), (right, "Unedited", unedited)):
        place.markdown(f":small[{title}, {counted(len(one.texts), 'text')}: {_cost(one)}]")


def _cost(one: Preview) -> str:
    cost = one.cost
    tokens = (
        "tokens not counted by the server"
        if cost.input_tokens is None or cost.output_tokens is None
        else f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out"
    )
    money = "money unknown" if one.price is None else f"money {one.price:,.6f}"
    return f"{counted(cost.calls, 'call')}, {tokens}, {money}, {cost.seconds:.1f} s."


def _one(title: str, text: PreviewedText | None) -> None:
    st.markdown(f"**{title}**")
    if text is None or not text.calls:
        nothing("no answer yet")
        return
    for column, value in text.scores.items():
        why = f": {plain(text.reasons[column])}" if column in text.reasons else ""
        st.markdown(f"{plain(column)}: **{number(value)}**{why}")
    for call in text.calls:
        st.markdown(f":small[{plain(call.title)}: {plain(call.became)}. {plain(call.cost)}]")
        st.code(call.reply or "(no reply)", language=None, wrap_lines=True)
        with st.expander("Prompt as sent"):
            st.code(_sent(call), language=None, wrap_lines=True, height=260)


def _sent(call: ItemCall) -> str:
    return "\n\n".join(f"{one.role.upper()}\n{one.content}" for one in call.messages or ())


def _save(store: Store, draft: _Draft, runs: tuple[int, int] | None, *, changed: bool) -> None:
    covered = False
    if runs is not None and draft.prompt is not None and changed:
        found = previewed(saved_run(store, runs[0]))
        covered = found.is_whole and draft.prompt.sha256 in found.sent
    if not covered:
        st.markdown("Saving needs a preview of exactly this text.")
    elif not draft.described:
        st.markdown("Say what you changed; then it can be saved.")
    if st.button("Save as a file", key=f"{_PREFIX}_save", disabled=not covered or not draft.described):
        assert runs is not None
        with mistakes_shown():
            saved = save_previewed(store, runs[0], draft.text)
            added = f"judges_prompts_{_kind_of(store, runs[0])}_several_{draft.slot.shipped}_add"
            st.session_state[added] = (saved.name,)
            messages.tell(f"Saved as prompts/{saved.name}.yaml. It is chosen in the form.")


def _kind_of(store: Store, number: int) -> str:
    return saved_run(store, number).kind.name
