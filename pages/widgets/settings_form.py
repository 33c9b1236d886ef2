"""A form made from the fields of settings: one widget a field; and the file that a setting refers to."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.judges.kind import JudgeKind
from core.schema.kinds import Attachment, Kind
from core.schema.settings import SettingField, Settings, fields_of, named_values, on_page, worded
from core.tables.reading import decode
from pages.widgets.messages import capital, mistakes_shown, plain, with_code
from pages.widgets.parts import places


def given(key: str, default: object) -> str:
    """The key of a widget, which begins with `default` unless something stands under the key already.

    Streamlit warns of a widget that has a default of its own and a value from elsewhere as well.
    """
    st.session_state.setdefault(key, default)
    return key


_NONE: Mapping[str, Any] = {}
_AWAY = "_away"
"""After the key of a menu: what was chosen before it was not offered any more, and what stands in its place."""


def render(
    model: type[Settings],
    key_prefix: str,
    *,
    columns: int = 2,
    without: Collection[str] = (),
    beside: Mapping[str, Any] = _NONE,
    offered: Mapping[str, Sequence[str]] = _NONE,
    backend: str,
) -> dict[str, Any]:
    """Draw the fields in their order; returns their values, for `model.checked`.

    Fields that do nothing beside the backend and the values above them are neither drawn nor returned.

    without: fields that the page asks for in another way, or not at all. beside: values of such fields, on which others
    depend.
    offered: field -> the values that it can have here: names out of a file, or fewer choices than the backend has.
    """
    fields = fields_of(model)
    offered = {**model.offered(backend), **offered}
    chosen: dict[str, Any] = {}
    place = places(columns)
    for name, one in fields.items():
        nothing_to_choose = name in offered and not offered[name] and one.shape in ("choice", "text")
        if name in without or name in beside or nothing_to_choose:
            continue
        known = {**beside, **chosen}
        if name in model.model_construct(**known).idle(backend):
            continue
        usual = model.usual(known, backend)
        chosen[name] = _widget(
            next(place),
            replace(one, default=usual.get(name, one.default)),
            f"{key_prefix}_{name}",
            _help(one, fields),
            offered.get(name),
        )
    return chosen


def put(settings: Settings, key_prefix: str, *, without: Collection[str] = ()) -> None:
    """Fill the widgets with these settings; call it before they are drawn. without: fields that keep what they have."""
    for name in fields_of(type(settings)).keys() - set(without):
        value, key = getattr(settings, name), f"{key_prefix}_{name}"
        if isinstance(value, Mapping):
            value = "\n".join(named_values(value))
        st.session_state[key] = list(value) if isinstance(value, tuple) else value
        st.session_state.pop(f"{key}{_AWAY}", None)


def _help(one: SettingField, fields: Mapping[str, SettingField]) -> str | None:
    text = worded(one.about.help, fields, on_page)
    return with_code(f"{capital(text)}.") if text else None


def _widget(
    place: DeltaGenerator, one: SettingField, key: str, said: str | None, offered: Sequence[str] | None
) -> Any:
    """The field's value, as the settings take it."""
    label = f"{one.about.label} ({one.about.unit})" if one.about.unit else one.about.label
    common: dict[str, Any] = {"key": key, "help": said, "persist_state": "session"}
    if one.shape == "switch":
        _begin(key, one.default, lambda kept: isinstance(kept, bool))
        return place.checkbox(label, **common)
    if one.shape in ("number", "whole"):
        return _number(place, one, label, common)
    if one.shape == "texts" or (one.shape == "other" and isinstance(one.default, tuple)):
        return _several(place, one, label, common, one.default if one.shape == "other" else offered)
    if one.shape == "choice" or (one.shape == "text" and offered is not None):
        return _menu(place, one, label, common, list(one.choices if offered is None else offered))
    if one.shape == "text":
        _begin(key, one.default, lambda kept: isinstance(kept, str) or (one.optional and kept is None))
        typed = place.text_input(
            label, value=None if one.optional else "", placeholder=one.about.words.get(""), **common
        )
        return (typed or "").strip() or (None if one.optional else "")
    if isinstance(one.default, Mapping):
        _begin(key, "", lambda kept: isinstance(kept, str))
        # Higher than the others, so in a row of its own; such fields stand last.
        return st.text_area(label, placeholder=one.about.metavar, height=68, **common)
    raise TypeError(f"{one.name} is of a type that no widget holds: name it in `without`")


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
    # The settings' own bounds: a widget with others would change what the run of a command fills it with.
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
    usual = one.default if one.optional or one.default in options else options[0]
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
    """Several of what is offered; where nothing is known of what there could be, any names."""
    key = given(common["key"], list(one.default))
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
    """Choose again what was chosen before a backend or file did not offer it, unless something else was chosen since.

    Otherwise a look at another backend would leave its own usual value behind, unseen.
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
    """Begin with the default, unless something stands under the key that the widget can show."""
    if key in st.session_state and not fits(st.session_state[key]):
        del st.session_state[key]
    given(key, default)


_KEPT = " kept"
"""Stands for a file that an earlier run or a study brought along; no shipped file is called so."""


def choose(prefix: str, kind: Kind) -> str:
    """The whole text of the file; empty where the kind has none, or where the user's own cannot be used."""
    one = kind.attachment
    if one is None:
        return ""
    for line in one.unusable():
        st.warning(with_code(line))
    texts = {found.name: (found.title, one.dump(found)) for found in _shipped(kind, one)}
    kept: str | None = st.session_state.get(_kept_key(prefix, one))
    if kept is not None:
        texts[_KEPT] = (one.read(kept, f"{one.option}.yaml").title, kept)
    key = _key(prefix, one)
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
            own = one.read(decode(upload.getvalue(), upload.name), upload.name)
            title, text = own.title, one.dump(own)
    if text:
        with st.expander(f"{capital(one.help)}: {plain(title)}"):
            st.code(text, language=None, wrap_lines=True, height=260)
    return text


def put_file(prefix: str, kind: Kind, text: str) -> None:
    """Choose this file: by its name if it is shipped, else it is offered as the user's own."""
    one = kind.attachment
    if one is not None:
        shipped = next((found.name for found in _shipped(kind, one) if one.dump(found) == text), None)
        st.session_state[_key(prefix, one)] = shipped or _KEPT
        st.session_state[_kept_key(prefix, one)] = None if shipped else text


def _shipped(kind: Kind, one: Attachment) -> list[Any]:
    """Those that can be asked of the kind."""
    return [found for found in one.shipped() if not isinstance(kind, JudgeKind) or kind.suits(found, {})]


def _key(prefix: str, one: Attachment) -> str:
    return f"{prefix}_{one.name}"


def _kept_key(prefix: str, one: Attachment) -> str:
    return f"{_key(prefix, one)}_kept"
