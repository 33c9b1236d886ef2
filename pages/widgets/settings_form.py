"""The form of a new run, made from the fields of its settings: rubric or task file, backend and model, prompts."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.judges.kind import JudgeKind
from core.llm.call_settings import CallSettings
from core.llm.prompts import STEPS, Prompt, find_prompt, parse_prompt, shipped_prompts, unusable_prompts
from core.runs.asked import BACKENDS, OPENAI_KEY, OPENAI_URL, Asked, Backend, ModelSettings, Running, ask
from core.runs.working.environments import missing_for
from core.schema.runs import Attachment, Kind, PromptSlot
from core.schema.settings import (
    LARGEST_SEED,
    SettingField,
    Settings,
    fields_of,
    named_values,
    page_word,
    typed_number,
    worded,
)
from core.tables.containers import decode_utf8
from pages.widgets import address
from pages.widgets.messages import capital, code_markdown, mistakes_shown, plain
from pages.widgets.parts import places


def given(key: str, default: object) -> str:
    """Return the key of a widget that begins with `default` unless the session has a value for the key.

    Streamlit warns when a widget has both a default of its own and a value from elsewhere.
    """
    st.session_state.setdefault(key, default)
    return key


_NONE: Mapping[str, Any] = {}
_NOT_DRAWN = frozenset({"key_variable", "engine", "address"})
"""Fields of Running with a widget of their own, or only an option: a cluster is named where its command is typed."""
_AWAY = "_away"
"""Suffix of the key of a menu: the choice that is no longer offered, and its replacement."""


@dataclass(frozen=True)
class Link:
    """How the address of a page holds a field."""

    name: str
    """Of its parameter."""
    code: Callable[[Any], str] | None = None
    """What the address says for a word; None: the word, or its place among words of the data. Several words need one."""


def render(
    model: type[Settings],
    key_prefix: str,
    *,
    columns: int = 2,
    without: Collection[str] = (),
    beside: Mapping[str, Any] = _NONE,
    offered: Mapping[str, Sequence[str]] = _NONE,
    used: Mapping[str, object] = _NONE,
    begins: Mapping[str, Any] = _NONE,
    in_address: bool = False,
    links: Mapping[str, Link] = _NONE,
    at: Mapping[str, DeltaGenerator] = _NONE,
    backend: str = "",
    disabled: bool = False,
) -> dict[str, Any]:
    """Draw the fields in order and return their values for `model.checked`, a list as the text that was typed.

    Fields without effect for the backend and the values above them are neither drawn nor returned. A widget's bounds always
    include their ends; `checked` refuses an end that is out of bounds.

    backend: of the model that a run uses; empty for settings without one, such as those of an analysis.
    without: fields that the page requests elsewhere or not at all. beside: values of such fields, on which others depend.
    offered: field -> possible values here: names from a file, or fewer choices than the backend has; of a field that maps names
    to numbers, the names. begins: field -> value with which it begins here, in place of its default. in_address: whether the
    page's address holds what is chosen, apart from what is typed as words. links: field -> how the address holds it, if not as the
    others. at: field -> where it is drawn, if not here. disabled: whether nothing can be changed.
    used: field -> what is used while it is empty, which its widget then shows; None: nothing.
    """
    fields = fields_of(model)
    offered = {**model.offered(backend), **offered}
    chosen: dict[str, Any] = {}
    place = places(columns)
    for name, one in fields.items():
        nothing_to_choose = (
            name in offered
            and not offered[name]
            and (one.shape in ("choice", "text", "texts", "list") or isinstance(one.default, Mapping))
        )
        if name in without or name in beside or nothing_to_choose:
            continue
        known = {**beside, **chosen}
        if name in model.model_construct(**known).idle(backend):
            continue
        usual = {**model.usual(known, backend), **begins}
        key, among = f"{key_prefix}_{name}", offered.get(name)
        one = replace(_show_used(one, used), default=usual.get(name, one.default))
        if in_address or name in links:
            _keep_in_address(one, key, among, links.get(name, Link(name)))
        if isinstance(one.default, Mapping) and among is not None:
            chosen[name] = _numbers(place, one, key, _help(one, fields), among)
        else:
            there = at.get(name) or next(place)
            chosen[name] = _widget(there, one, key, _help(one, fields), among, disabled=disabled)
    return chosen


def _show_used(one: SettingField, used: Mapping[str, object]) -> SettingField:
    """The field with what is used while it is empty as its word for no value."""
    if one.name not in used:
        return one
    value = used[one.name]
    said = "none" if value is None else one.word(one.typed(value))
    return replace(one, about=replace(one.about, words={**one.about.words, "": said}))


def typed(model: type[Settings], key_prefix: str) -> dict[str, Any]:
    """Field -> what its widget holds, of those that hold something. A list is the text that was typed, and nothing is checked."""
    held = {name: st.session_state.get(f"{key_prefix}_{name}") for name in fields_of(model)}
    return {name: value for name, value in held.items() if value not in (None, "")}


def put(settings: Settings, key_prefix: str, *, without: Collection[str] = ()) -> None:
    """Fill the widgets with these settings before they are drawn. without: fields that stay unchanged."""
    fields = fields_of(type(settings))
    for name in fields.keys() - set(without):
        value, key = getattr(settings, name), f"{key_prefix}_{name}"
        if value is not None and (fields[name].shape == "list" or _exceeds_numbers(fields[name])):
            value = fields[name].typed(value)
        elif isinstance(value, Mapping):
            value = "\n".join(named_values(value))
        st.session_state[key] = list(value) if isinstance(value, tuple) else value
        st.session_state.pop(f"{key}{_AWAY}", None)


def _help(one: SettingField, fields: Mapping[str, SettingField]) -> str | None:
    text = worded(one.about.help, fields, page_word)
    return code_markdown(f"{capital(text)}.") if text else None


def _keep_in_address(one: SettingField, key: str, offered: Sequence[str] | None, link: Link) -> None:
    """Let the address hold a field. Of words of the data it holds the place; what visitors type as words stays out of it."""
    if one.shape == "switch":
        address.one(link.name, key, (False, True), one.default, lambda on: str(int(on)))
    elif one.shape in ("number", "whole"):
        kind = int if one.shape == "whole" else float

        def read(text: str) -> Any:
            number = typed_number(text, kind)
            return number if not isinstance(number, str) and isfinite(number) else one.default

        address.typed(link.name, key, one.default, read, one.typed)
    elif one.shape == "choice" or (one.shape == "text" and offered is not None):
        options = list(one.choices if offered is None else offered)
        code = link.code or (str if one.shape == "choice" else address.place_among(options))
        address.one(link.name, key, options, _first_of(one, options), code)
    elif one.shape == "list" and offered is not None and link.code is not None:
        address.several(link.name, key, offered, one.default or (), link.code)


def _first_of(one: SettingField, options: Sequence[str]) -> Any:
    """The option with which a menu begins."""
    return one.default if one.optional or one.default in options else options[0]


def _numbers(
    place: Iterator[DeltaGenerator], one: SettingField, key: str, said: str | None, names: Sequence[str]
) -> dict[str, float]:
    """Draw a number for each name, and return those that are given."""
    found = {}
    for name in names:
        field = replace(one, shape="number", default=one.default.get(name), optional=True)
        common = {"key": f"{key}_{name}", "help": said, "persist_state": "session"}
        found[name] = _number(next(place), field, f"{one.about.label}, {plain(name)}", common)
    return {name: value for name, value in found.items() if value is not None}


def _widget(
    place: DeltaGenerator,
    one: SettingField,
    key: str,
    said: str | None,
    offered: Sequence[str] | None,
    *,
    disabled: bool = False,
) -> Any:
    """Draw a field and return its value for the settings."""
    label = f"{one.about.label} ({one.about.unit})" if one.about.unit else one.about.label
    common: dict[str, Any] = {"key": key, "help": said, "persist_state": "session", "disabled": disabled}
    if one.shape == "switch":
        _begin(key, one.default, lambda kept: isinstance(kept, bool))
        return place.checkbox(label, **common)
    if _exceeds_numbers(one):
        _begin(key, None, lambda kept: kept is None or isinstance(kept, str))
        typed_text = place.text_input(label, value=None, placeholder=one.about.words.get(""), **common)
        return typed_number(typed_text.strip(), int) if typed_text and typed_text.strip() else None
    if one.shape in ("number", "whole"):
        return _number(place, one, label, common)
    of_names = one.shape == "list" and offered is not None
    if one.shape == "texts" or of_names or (one.shape == "other" and isinstance(one.default, tuple)):
        return _several(place, one, label, common, one.default if one.shape == "other" else offered)
    if one.shape == "choice" or (one.shape == "text" and offered is not None):
        return _menu(place, one, label, common, list(one.choices if offered is None else offered))
    if one.shape in ("text", "list"):
        default = None if one.default is None else one.typed(one.default)
        _begin(key, default, lambda kept: isinstance(kept, str) or (one.optional and kept is None))
        typed = place.text_input(
            label, value=None if one.optional else "", placeholder=one.about.words.get(""), **common
        )
        return (typed or "").strip() or (None if one.optional else "")
    if isinstance(one.default, Mapping):
        _begin(key, "", lambda kept: isinstance(kept, str))
        # Taller than the others, so in a row of its own; such fields come last.
        return st.text_area(label, placeholder=one.about.metavar, height=68, **common)
    raise TypeError(f"{one.name} is of a type that no widget holds: name it in `without`")


def _exceeds_numbers(one: SettingField) -> bool:
    """Whether a field holds whole numbers that a browser would round; it is a text, which may be empty."""
    return one.shape == "whole" and one.optional and (one.highest or 0) > LARGEST_SEED


def _number(place: DeltaGenerator, one: SettingField, label: str, common: dict[str, Any]) -> Any:
    def fits(kept: Any) -> bool:
        if kept is None:
            return one.optional
        return (one.lowest is None or one.lowest <= kept) and (one.highest is None or kept <= one.highest)

    kind = int if one.shape == "whole" else float
    default, lowest, highest = (
        None if number is None else kind(number) for number in (one.default, one.lowest, one.highest)
    )
    _begin(common["key"], default, fits)
    # The settings' own bounds: others would change values that a command's run fills in.
    bounds: dict[str, Any] = {"min_value": lowest, "max_value": highest, "step": kind(one.about.step)}
    return place.number_input(
        label,
        value=None if one.optional else "min",
        format="%d" if kind is int else "%g",
        placeholder=one.about.words.get(""),
        **bounds,
        **common,
    )


def _menu(
    place: DeltaGenerator, one: SettingField, label: str, common: dict[str, Any], options: list[str]
) -> Any:
    usual = _first_of(one, options)
    _come_back(common["key"], options, usual)
    _begin(common["key"], usual, lambda kept: kept in options or (one.optional and kept is None))
    return place.selectbox(
        label,
        options,
        index=None if one.optional else 0,
        format_func=one.word,
        placeholder=one.about.words.get("") if one.optional else None,
        **common,
    )


def _several(
    place: DeltaGenerator,
    one: SettingField,
    label: str,
    common: dict[str, Any],
    offered: Sequence[Any] | None,
) -> tuple[Any, ...]:
    """Choose several of the offered values, or type any names where nothing is offered."""
    key = given(common["key"], list(one.default or ()))
    options = list(st.session_state[key] if offered is None else offered)  # Streamlit drops all others
    return tuple(
        place.multiselect(
            label,
            options,
            accept_new_options=offered is None,
            placeholder=one.about.words.get(""),
            wrap=True,
            **common,
        )
    )


def _come_back(key: str, options: Sequence[str], usual: Any) -> None:
    """Restore a choice that a backend or file did not offer for a while, unless another choice was made since.

    Otherwise switching the backend back and forth would silently change the choice.
    """
    kept = st.session_state.get(key)
    if kept is not None and kept not in options:
        st.session_state.setdefault(f"{key}{_AWAY}", (kept, usual))
        return
    before, instead = st.session_state.get(f"{key}{_AWAY}", (None, None))
    if kept != instead:
        st.session_state.pop(f"{key}{_AWAY}", None)
    elif before in options:
        st.session_state[key] = before
        del st.session_state[f"{key}{_AWAY}"]


def _begin(key: str, default: Any, fits: Callable[[Any], bool]) -> None:
    """Begin with the default, unless the session has a value that the widget can show."""
    if key in st.session_state and not fits(st.session_state[key]):
        del st.session_state[key]
    given(key, default)


_KEPT = " kept"
"""Stands for a file from an earlier run or a study; no shipped file has this name."""


def choose(prefix: str, kind: Kind) -> str:
    """Return the text of the chosen file; empty where the kind has none, or where the user's file is unusable."""
    one = kind.attachment
    if one is None:
        return ""
    for line in one.unusable():
        st.warning(code_markdown(line))
    texts = {found.name: (found.title, one.dump(found)) for found in _shipped(kind, one)}
    kept: str | None = st.session_state.get(f"{prefix}_{one.name}_kept")
    if kept is not None:
        texts[_KEPT] = (one.read(kept, f"{one.option}.yaml").title, kept)
    key = f"{prefix}_{one.name}"
    if st.session_state.get(key) not in texts:
        st.session_state.pop(key, None)
    left, right = st.columns(2)
    name = left.selectbox(
        one.label,
        list(texts),
        format_func=lambda name: f"{texts[name][0]} ({'yours' if name == _KEPT else name})",
        key=given(key, one.usual if one.usual in texts else next(iter(texts))),
        persist_state="session",
    )
    upload = right.file_uploader(
        f"Or your own {one.label.lower()} (YAML)", type=["yaml", "yml"], key=f"{key}_file"
    )
    title, text = texts[name]
    if upload is not None:
        title = text = ""
        with mistakes_shown():  # beside the file; the rest of the form stays
            own = one.read(decode_utf8(upload.getvalue(), upload.name), upload.name)
            title, text = own.title, one.dump(own)
    if text:
        with st.expander(f"{capital(one.help)}: {plain(title)}"):
            st.code(text, language=None, wrap_lines=True, height=260)
    return text


def put_file(prefix: str, kind: Kind, text: str) -> None:
    """Choose this file, by name if it is shipped, otherwise as the user's own."""
    one = kind.attachment
    if one is not None:
        shipped = next((found.name for found in _shipped(kind, one) if one.dump(found) == text), None)
        st.session_state[f"{prefix}_{one.name}"] = shipped or _KEPT
        st.session_state[f"{prefix}_{one.name}_kept"] = None if shipped else text


def _shipped(kind: Kind, one: Attachment) -> list[Any]:
    """Return the shipped files that suit the kind."""
    return [found for found in one.shipped() if not isinstance(kind, JudgeKind) or kind.suits(found, {})]


_BACKEND = fields_of(ModelSettings)["backend"]
_ATTEMPTS = {"attempts"}
_OWN_WAY = {"backend"}
_CALLS = fields_of(CallSettings).keys()
_FIRST = fields_of(ModelSettings).keys() - _ATTEMPTS - _CALLS - {"engine"}
"""Fields of the model that are always shown; the rest is rarely changed."""


@dataclass(frozen=True)
class Chosen:
    """A backend and its settings, as `core.runs.asked.ask` takes them."""

    backend: Backend
    model: dict[str, Any]
    """Fields of ModelSettings."""
    running: dict[str, object] = field(default_factory=dict)
    """Fields of Running."""
    missing: str | None = None
    """Why the run cannot start, such as a missing installation; None if it can."""

    @property
    def by_rules(self) -> bool:
        """Whether rules do the work instead of a model."""
        return self.backend == "rules"


@dataclass(frozen=True)
class Wanted:
    """The contents of the form of a run."""

    kind: Kind
    values: dict[str, Any]
    """Fields of the kind's settings."""
    model: Chosen
    prompts: Sequence[Prompt] = ()
    attached: str = ""
    """The text of the file that a setting refers to."""
    name: str = ""

    def request(self) -> tuple[Asked, Settings]:
        """Return the run's settings, checked when a button is pressed. Raises InputError."""
        chosen = self.model
        return ask(
            self.kind,
            self.values,
            chosen.model,
            chosen.running,
            name=self.name,
            attached=self.attached,
            prompts=self.prompts,
        )

    @property
    def called(self) -> str:
        """The name of the model without its folder."""
        return ModelSettings.model_construct(**self.model.model).short_name


_EXPANDED: Mapping[str, str] = {"openai": "Speed, attempts and prices", "batch": "Attempts and prices"}
"""Backend -> heading of the settings of how a run is processed."""


def choose_backend(prefix: str, rules: str | None, kind_fields: Collection[str] = ()) -> Chosen:
    """Choose the backend and its settings.

    prefix: of the widgets' keys, one per form. rules: a sentence on what rules do; None where they cannot do the work.
    kind_fields: names of the kind's settings, which are not requested again.
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
    model = render(ModelSettings, prefix, without=fields - _FIRST | _OWN_WAY, backend=backend)
    running: dict[str, object] = {}
    server = backend == "openai"
    if server:
        variable, problem = _key_variable(prefix, str(model["base_url"]))
        missing, running = missing or problem, {"key_variable": variable or None}
    with st.expander(_EXPANDED.get(backend, "Attempts")):
        model |= render(ModelSettings, prefix, without=fields - _ATTEMPTS, backend=backend)
        running |= render(Running, prefix, without=_NOT_DRAWN, backend=backend)
    with st.expander("Model calls: limits, thinking, further fields"):
        without = fields - _CALLS - {"engine"} | set(kind_fields)
        model |= render(ModelSettings, prefix, without=without, backend=backend)
    return Chosen(backend, {"backend": backend, **model}, running, missing)


def put_backend(prefix: str, model: ModelSettings, running: Running) -> None:
    """Fill the form with a backend and its processing settings."""
    st.session_state[f"{prefix}_backend"] = model.backend
    put(model, prefix, without=_OWN_WAY | model.idle(model.backend))
    put(running, prefix, without=_NOT_DRAWN | running.idle(model.backend))
    if model.backend == "openai":
        st.session_state[_key_of(prefix, model.base_url)] = running.key_variable or ""


def lacking(missing: str) -> str:
    """Write what a machine lacks, for a warning."""
    return plain(missing.replace("`", ""))


def _key_variable(prefix: str, address: str) -> tuple[str, str | None]:
    """Choose the variable with the server's key; returns its name, and why no key can be read."""
    left, right = st.columns(2)
    variable = left.text_input(
        fields_of(Running)["key_variable"].about.label,
        key=given(_key_of(prefix, address), OPENAI_KEY if address == OPENAI_URL else ""),
        persist_state="session",
        help="Name of the variable, never the key itself. The run reads the key and never stores it. Leave empty if the "
        "server needs no key.",
    ).strip()
    if not variable or os.environ.get(variable, "").strip():
        right.markdown(f":small[{'The key is set.' if variable else 'No key is sent.'}]")
        return variable, None
    # The typed text is not repeated: it may be the key itself.
    problem = (
        "This app's environment has no variable of that name. Stop the app, set the variable (`export NAME=...`) and start "
        "the app again. Enter the name, never the key itself."
    )
    st.warning(problem)
    return variable, problem


def _key_of(prefix: str, address: str) -> str:
    """Return the key of the widget. OpenAI's own server has a usual variable; other servers must not get its key."""
    return f"{prefix}_key_{address == OPENAI_URL}"


def choose_prompts(prefix: str, slots: tuple[PromptSlot, ...]) -> list[Prompt]:
    """Return the prompts that replace the usual ones, for `core.runs.asked.ask`.

    prefix: of the widgets' keys, one per form. Raises InputError for a file that is not a prompt.
    """
    if not slots:
        return []
    with st.expander("Prompts"):
        st.markdown(
            "Each step sends one prompt. The run stores the texts and their hashes. `prompts/README.md` explains how to write "
            "your own file."
        )
        uploads = st.file_uploader(
            "Your own prompt files (YAML)",
            type=["yaml", "yml"],
            accept_multiple_files=True,
            key=f"{prefix}_prompt_files",
        )
        for line in unusable_prompts():
            st.warning(code_markdown(line))
        own = [parse_prompt(decode_utf8(file.getvalue(), file.name), file.name) for file in uploads]
        own = own or _prompts_kept(prefix, slots)
        shipped = [
            _one_of(prefix, slot)
            for slot in slots
            if not any(prompt.purpose in slot.purposes for prompt in own)
        ]
        for prompt in own:
            show_prompt(prompt, " (yours)")
    usual = {slot.shipped for slot in slots}
    return [*own, *(prompt for prompt in shipped if prompt.name not in usual)]


def put_prompts(prefix: str, request: Asked, whose: str) -> None:
    """Choose the shipped prompts of a request; the form offers the user's own separately. whose: such as `run 3`."""
    sent, own = request.prompts_read.values(), []
    for slot in request.settings.prompts(by_rules=request.by_rules):
        for prompt in sent:
            if prompt.purpose not in slot.purposes:
                continue
            if any((one.name, one.sha256) == (prompt.name, prompt.sha256) for one in fitting(slot)):
                st.session_state[f"{prefix}_prompt_{slot.shipped}"] = prompt.name
            else:
                own.append(prompt)
    st.session_state[f"{prefix}_prompts_kept"] = (whose, tuple(own)) if own else None


def show_prompt(prompt: Prompt, whose: str = "") -> None:
    """Show what a prompt is for, and its text."""
    st.markdown(f"{STEPS[prompt.purpose]}: {plain(prompt.title)}{whose}")
    prompt_text(prompt)


def _one_of(prefix: str, slot: PromptSlot) -> Prompt:
    """Choose one of the shipped prompts for a slot and show its text; the usual one comes first."""
    offered, key = {prompt.name: prompt for prompt in fitting(slot)}, f"{prefix}_prompt_{slot.shipped}"
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
    prompt_text(chosen)
    return chosen


def fitting(slot: PromptSlot) -> list[Prompt]:
    """Return the shipped prompts that fit a slot."""
    return [
        prompt
        for purpose in slot.purposes
        for prompt in shipped_prompts(purpose)
        if slot.fits(prompt.purpose, prompt.task)
    ]


def _prompts_kept(prefix: str, slots: Sequence[PromptSlot]) -> list[Prompt]:
    """Return an earlier run's own prompts that fit the new run, if the visitor wants them."""
    whose, brought = st.session_state.get(f"{prefix}_prompts_kept") or ("", ())
    fitting = [prompt for prompt in brought if any(slot.fits(prompt.purpose, prompt.task) for slot in slots)]
    if not fitting or not st.checkbox(
        f"Use the prompts of {plain(whose)}: {plain(', '.join(one.name for one in fitting))}",
        True,
    ):
        return []
    return fitting


def prompt_text(prompt: Prompt) -> None:
    """Show what the model reads, part by part; `$name` is replaced for each item."""
    parts = [] if prompt.system is None else [("System", prompt.system)]
    parts.append(("User", prompt.user))
    if prompt.ladder:
        parts.append(("What the levels mean ($ladder)", prompt.rendered_ladder))
    for number, example in enumerate(prompt.examples, start=1):
        asked = "\n".join(f"{name}: {value}" for name, value in example.variables)
        parts.append((f"Worked example {number}", f"{asked}\nAnswer: {example.answer}"))
    whole = "\n\n".join(f"{title.upper()}\n{text.strip()}" for title, text in parts)
    st.code(whole, language=None, wrap_lines=True, height=300)
    st.markdown(
        f":small[{plain(prompt.name)}, after {plain(prompt.paper)}, {plain(prompt.section)}. Differences: "
        f"{plain(prompt.differences)} Hash {prompt.sha256[:16]}.]"
    )
