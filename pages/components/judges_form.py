"""A new judge's run by page, of any kind: texts, judge and model, and a preview before all is paid for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from core.formats.rated import unrated
from core.judges.kind import Bench, JudgeKind, JudgeSettings
from core.runs.asked import Asked, ask
from core.runs.environments import missing_for
from core.runs.jobs import RunAtHand
from core.runs.path import at_hand
from core.runs.texts import Texts
from core.schema.judging import RatedSet
from core.schema.kinds import Kind, Reads
from core.schema.runs import Run
from core.schema.settings import Settings
from core.store import Store
from core.store.runs import run_data
from pages.components import (
    attachments,
    generate_backend,
    generate_prompts,
    metrics_computed,
    metrics_kept,
    metrics_texts,
    run_start,
    setting_form,
    specialist_texts,
)
from pages.components.generate_state import given
from pages.components.messages import capital, mistakes_shown, plain
from pages.components.parts import explained


class _Source(NamedTuple):
    """Where texts come from."""

    choose: Callable[[Store, JudgeKind], Texts | None]
    read: Callable[[Texts], RatedSet]
    take_file: Callable[[bytes, str], None]
    tell: Callable[[str], object]
    """Shows what is to be known of them."""


_SOURCES: Mapping[Reads, _Source] = {
    "texts": _Source(
        lambda store, _: metrics_texts.choose(store),
        lambda texts: unrated(metrics_texts.read(texts)),
        metrics_texts.take_file,
        lambda note: st.warning(plain(note)),
    ),
    "rated texts": _Source(
        specialist_texts.choose,
        specialist_texts.read,
        specialist_texts.take_file,
        lambda note: metrics_kept.read_notes((note,)),
    ),
}


class _Judge(NamedTuple):
    """What the widgets say of the judge and its model."""

    wanted: Callable[[], tuple[Asked, Settings]]
    chosen: JudgeSettings
    attached: str
    backend: str
    missing: str | None
    """What keeps it from being asked."""


def form(store: Store, prefix: str, kinds: Sequence[JudgeKind]) -> int | None:
    """The number of a run that was made and started in this run of the page, or None.

    prefix: of the widgets' keys. kinds: the judges that are offered.
    """
    with mistakes_shown():
        return _form(store, prefix, {kind.name: kind for kind in kinds})
    return None  # type: ignore[unreachable]  # what is wrong is on the page


def again_button(store: Store, run: Run, prefix: str, open_form: Callable[[], None]) -> None:
    """Open the form as it was filled for the run, with its texts, its file and its prompts.

    prefix: of the form's keys and the button's. open_form: makes it what the page shows.
    """
    if st.button(
        "Judge with other settings",
        key=f"{prefix}_again",
        help="Opens the form of a new run with this run's texts, judge and model.",
    ):
        _put(prefix, at_hand(store, run))
        open_form()
        st.rerun()


def _put(prefix: str, run: RunAtHand) -> None:
    kind, own = run.kind, _own(prefix, run.kind)
    st.session_state[f"{prefix}_kind"] = kind.name
    st.session_state[f"{prefix}_name"] = run.asked.name
    setting_form.put(run.asked.chosen, own)
    attachments.put(own, kind, run.asked.attached)
    generate_prompts.put(own, run)
    generate_backend.put(prefix, run)
    _SOURCES[kind.reads].take_file(run_data(run.store, run.run.run_id), run.run.data_file)


def _own(prefix: str, kind: Kind) -> str:
    """Of the keys of what only this kind is asked."""
    return f"{prefix}_{kind.name}"


def _form(store: Store, prefix: str, kinds: Mapping[str, JudgeKind]) -> int | None:
    name: str = st.radio(
        "Kind",
        list(kinds),
        format_func=lambda name: kinds[name].title,
        horizontal=True,
        key=given(f"{prefix}_kind", next(iter(kinds))),
        persist_state="session",
    )
    kind = kinds[name]
    explained(f"{capital(kind.summary)}.", kind.section)
    st.subheader("Texts and ratings" if kind.reads == "rated texts" else "Texts", anchor=False)
    source = _SOURCES[kind.reads]
    texts = contents = None
    with mistakes_shown():  # beside the texts, not at the end of the form
        texts = source.choose(store, kind)
        contents = None if texts is None else source.read(texts)
    if contents is not None:
        _begin_with_the_study(store, prefix, kind)
    judge = _judge(prefix, kind, contents)
    if texts is None or contents is None:
        st.markdown("Choose texts above to start a run.")
        return None
    told = _told(kind, judge, contents)
    for note in told:
        source.tell(note)
    items = {text.output.item_id for text in contents.texts if judge.chosen.judges(text)}
    return run_start.start(
        store,
        prefix,
        judge.wanted,
        *texts,
        len(items),
        disabled=judge.missing is not None,
        told=told,
        free=True if judge.backend == "rules" else None,
    )


def _judge(prefix: str, kind: JudgeKind, contents: RatedSet | None) -> _Judge:
    # A judge's settings depend on what the backend can do: asked in another order than shown.
    what, who = st.container(), st.container()
    own = _own(prefix, kind)
    with who:
        st.subheader("Model", anchor=False)
        model = generate_backend.choose(
            prefix, kind.rules if kind.Settings.MODEL_FREE else None, kind.Settings.model_fields.keys()
        )
        name = st.text_input(
            "Name of the judge in tables (empty: kind, unusual settings and model)",
            key=f"{prefix}_name",
            persist_state="session",
        ).strip()
    with what:
        st.subheader("Judge", anchor=False)
        attached = attachments.choose(own, kind)
        bench = Bench(attached=attached, texts=() if contents is None else contents.texts)
        unread = kind.attachment is not None and not attached
        values = setting_form.render(
            kind.Settings, own, offered={} if unread else kind.in_file(bench), backend=model.backend
        )
    chosen = kind.Settings.checked(values)
    assert isinstance(chosen, JudgeSettings)
    missing = missing_for(chosen.needs)
    if missing:
        st.warning(generate_backend.lacking(missing))
    prompts = generate_prompts.choose(own, chosen.prompts(by_rules=model.backend == "rules"))

    def wanted() -> tuple[Asked, Any]:
        return ask(kind, values, model.model, model.running, name=name, attached=attached, prompts=prompts)

    unusable = "The file cannot be read." if unread else None
    return _Judge(wanted, chosen, attached, model.backend, model.missing or missing or unusable)


def _told(kind: JudgeKind, judge: _Judge, contents: RatedSet) -> tuple[str, ...]:
    """What is to be known before anything is pressed. Raises InputError where the run could not start."""
    if kind.attachment is not None and not judge.attached:
        return ()

    def found() -> tuple[str, ...]:
        bench = Bench(attached=judge.attached, texts=contents.texts, ratings=contents.sha256)
        notes = kind.check(judge.chosen, bench, contents, judge.backend == "rules")
        return tuple(run_start.worded(kind, note) for note in notes)

    key = (
        kind.name,
        contents.sha256,
        contents.file_name,
        judge.attached,
        judge.chosen.model_dump_json(),
        judge.backend,
    )
    return metrics_computed.once(("fits", *key), found)


def _begin_with_the_study(store: Store, prefix: str, kind: JudgeKind) -> None:
    """Begin with what the raters of a study were asked, once a kind and task, where this judge can be asked it."""
    task = specialist_texts.own_task(store) if kind.reads == "rated texts" else None
    if task is None or kind.attachment is None or not kind.suits(task, {}):
        return
    text, key = kind.attachment.dump(task), f"{_own(prefix, kind)}_of_study"
    if st.session_state.get(key) != text:
        st.session_state[key] = text
        attachments.put(_own(prefix, kind), kind, text)
