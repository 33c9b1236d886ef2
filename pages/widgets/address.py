"""Keep a page's choices in its address, so that a link opens the same view in another browser.

Streamlit's own binding writes the labels of options. Here they contain file names and the states of runs, which change. An
address holds a short code for each option instead, and only for choices that differ from the default.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.widgets.messages import code_markdown, plain

Option = TypeVar("Option")
_READ, _OWNED, _GONE = "address_read", "address_owned", "address_gone"
"""Where the session stores what is still to be taken from the address, which names each block wrote there, and which
choices of the address did not exist."""
_WRITTEN = "address_written"
"""Where the session stores the address that it last wrote."""
_FOLLOWED = "address_followed"
"""Where the session stores that it goes to an address of its own, which is then read like that of a visit."""
_NONE = ""
"""The address's value for no choice at all where some are chosen by default."""
MOST_CHARACTERS = 2_000
"""Length of an address's parameters: longer links break in mail programs."""


@dataclass(frozen=True)
class _Choice:
    """A choice that the address holds."""

    place: str
    """Where the session stores it: a widget's key."""
    code: Callable[[Any], str]
    default: object
    many: bool = False

    def written(self) -> list[str]:
        """Return the values for the address; none for the default."""
        value = st.session_state.get(self.place, self.default)
        if value is None or value == self.default:
            return []
        if self.many:
            return [self.code(one) for one in value] or [_NONE]
        return [said] if (said := self.code(value)) else []


@dataclass
class _Block:
    name: str
    choices: dict[str, _Choice] = field(default_factory=dict)


@dataclass
class _Address:
    """What a visit's address says, until the choices it names are on the page."""

    values: dict[str, list[str]]
    complete: bool
    """Whether choices that the address does not name return to their default, as after the browser's Back."""
    fresh: bool = True
    """Whether it was read in this run of the page."""


_OPEN: ContextVar[tuple[_Block, ...]] = ContextVar("open", default=())


def go(page: StreamlitPage, choices: Mapping[str, str | Sequence[str]]) -> NoReturn:
    """Lead to a view of a page, by the parameters of its address; what they do not name returns to its default."""
    st.session_state[_FOLLOWED] = True
    st.switch_page(page, query_params=dict(choices))


@contextmanager
def kept(name: str) -> Iterator[None]:
    """Write the choices made in this block to the address when it ends.

    name: of the block. A part of the page that is run by itself (a fragment) has its own block, inside the page's.
    """
    around = _OPEN.get()
    if not around:
        _read()
    block = _Block(name)
    token = _OPEN.set((*around, block))
    try:
        yield
    finally:
        _OPEN.reset(token)
    owned: dict[str, set[str]] = st.session_state.setdefault(_OWNED, {})
    before = owned.get(name, set())
    owned[name] = set(block.choices)
    if not around:
        _write(block, before)


def one(
    name: str,
    place: str,
    options: Sequence[Option],
    default: Option | None = None,
    code: Callable[[Option], str] = str,
    *,
    gone: str = "",
) -> str:
    """Let the address hold one choice among options, and return `place`, the key of its widget. Call it before the widget.

    name: of the parameter. code: what the address says for an option; nothing where it is empty, as for an option that another
    parameter names. default: chosen at first, and left out of the address;
    give the widget no other. gone: a warning for an address with an option that does not exist, until
    another is chosen.
    """
    if st.session_state.get(place) is not None and st.session_state[place] not in options:
        del st.session_state[place]  # such as the name of a rater who withdrew: `code` knows options alone
    said = _said(name, _Choice(place, code, default))
    found = [option for option in options if code(option) in (said or ())[:1]]
    if found:
        st.session_state[place] = found[0]
    elif said and gone:
        st.session_state.setdefault(_GONE, {})[place] = None
        st.session_state.pop(_READ, None)  # the other choices are about something that does not exist
    elif said == [] and place in st.session_state:
        st.session_state[place] = default
    elif default is not None:
        st.session_state.setdefault(place, default)
    if gone:
        _warn(place, gone)
    return place


def _warn(place: str, gone: str) -> None:
    """Show the warning until another option is chosen: the page may run again at once, and the warning must stay."""
    warned: dict[str, object] = st.session_state.get(_GONE, {})
    if place not in warned:
        return
    now = st.session_state.get(place)
    if warned[place] not in (None, now):
        del warned[place]
        return
    warned[place] = now
    st.warning(code_markdown(gone))


def several(
    name: str,
    place: str,
    options: Sequence[Option],
    default: Sequence[Option] = (),
    code: Callable[[Option], str] = str,
    *,
    entered: bool = False,
) -> str:
    """As `one`, for a widget with several choices. entered: whether visitors may enter others than the options."""
    stored = st.session_state.get(place)
    if not entered and stored is not None and any(one not in options for one in stored):
        st.session_state[place] = [one for one in stored if one in options]
    said = _said(name, _Choice(place, code, list(default), many=True))
    if said is None:
        st.session_state.setdefault(place, list(default))
    else:
        found = [option for option in options if code(option) in said]
        st.session_state[place] = found if found or said == [_NONE] else list(default)
    return place


def leave_rest() -> None:
    """Forget what an earlier visit's address named and the page never offered: what is open now is something else."""
    address: _Address | None = st.session_state.get(_READ)
    if address is not None and not address.fresh:
        del st.session_state[_READ]


def typed(
    name: str, place: str, default: Option, read: Callable[[str], Option], code: Callable[[Any], str]
) -> str:
    """As `one`, for a value that visitors type. read: the value of a code, or the default for what is none."""
    said = _said(name, _Choice(place, code, default))
    if said is None:
        st.session_state.setdefault(place, default)
    else:
        st.session_state[place] = read(said[0]) if said else default
    return place


def place_among(options: Sequence[Option]) -> Callable[[Option], str]:
    """Return what an address says for one of the options: its place, from 1, where the options are words of the data."""
    return lambda option: str(options.index(option) + 1)


def text(name: str, place: str) -> str:
    """As `one`, for a field of text that is empty by default."""
    said = _said(name, _Choice(place, str, ""))
    if said is None:
        st.session_state.setdefault(place, "")
    else:
        st.session_state[place] = said[0] if said else ""
    return place


def switch(name: str, place: str) -> str:
    """As `one`, for a checkbox that is off by default."""
    return one(name, place, (False, True), False, lambda on: str(int(on)))


def slug(label: str) -> str:
    """Return a label as an address shows it: `Meta-correlation` as `meta-correlation`."""
    return label.lower().replace(" ", "-")


def _said(name: str, choice: _Choice) -> list[str] | None:
    """Note the choice; return what the address says about it, an empty list for the default, None for nothing new."""
    blocks = _OPEN.get()
    again = any(name in block.choices for block in blocks[:1])
    for block in blocks:
        block.choices[name] = choice
    address: _Address | None = st.session_state.get(_READ)
    if not blocks or address is None or again:
        return None
    if name in address.values:
        return address.values.pop(name)
    return [] if address.complete else None


def _read() -> None:
    """Take the address when a visit begins, when the visitor went back or forward, and where the app led here."""
    context = get_script_run_ctx()
    turned = context is not None and context.is_history_navigation
    turned = st.session_state.pop(_FOLLOWED, False) or turned
    if turned or _OWNED not in st.session_state:
        values = {name: st.query_params.get_all(name) for name in st.query_params}
        st.session_state[_READ] = _Address(values, turned)
    elif (address := st.session_state.get(_READ)) is not None:
        address.complete = address.fresh = False


def _write(block: _Block, before: set[str]) -> None:
    """Put the block's choices into the address, in one step: each step is one more for the browser's Back."""
    now = {name: st.query_params.get_all(name) for name in st.query_params}
    context = get_script_run_ctx()
    part = context is not None and bool(context.fragment_ids_this_run)
    after = {name: value for name, value in now.items() if part and name not in before | set(block.choices)}
    after |= {name: said for name, choice in block.choices.items() if (said := choice.written())}
    too_long = []
    while len(urlencode(after, doseq=True)) > MOST_CHARACTERS:
        longest = max(after, key=lambda name: len(urlencode({name: after[name]}, doseq=True)))
        too_long.append(longest)
        del after[longest]
    if too_long:
        st.markdown(f":small[Too long for a link, so the address leaves out: {plain(', '.join(too_long))}.]")
    # Or: a link to the page itself empties what the app is told, while the browser goes on showing the old address.
    if after != now or after != st.session_state.get(_WRITTEN, after):
        st.query_params.from_dict(after)
    st.session_state[_WRITTEN] = after
