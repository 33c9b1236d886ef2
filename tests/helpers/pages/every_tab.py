"""Walk through the app as a visitor does who opens everything: every page, whatever its menu offers, every tab, every choice.

Nothing here names a page, a tab or a choice: pages are those that app.py registers, and the rest is what is on the screen.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import (
    Block,
    ButtonGroup,
    Expander,
    Multiselect,
    Node,
    Radio,
    Selectbox,
    Toggle,
)

APP = Path(__file__).resolve().parents[3] / "app.py"
_MOST_OPTIONS = 2
"""Options of one choice that are tried: the longer ones list items or texts, which are all of one kind."""
_FOLDED = ("tab", "expander", "popover", "dialog")


class _Log(logging.Handler):
    """Collects what is logged as an error, or together with an exception."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.ERROR or record.exc_info:
            why = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
            self.lines.append(f"{record.name}: {record.getMessage()} {why!r}")


@contextmanager
def errors_logged() -> Iterator[list[str]]:
    """The errors that are logged meanwhile. Streamlit's loggers pass nothing on to the root."""
    log, loggers = _Log(), [logging.getLogger(), logging.getLogger("streamlit")]
    for logger in loggers:
        logger.addHandler(log)
    try:
        yield log.lines
    finally:
        for logger in loggers:
            logger.removeHandler(log)


def pages_registered() -> dict[str, str]:
    """Address -> Streamlit's name for the page, of all pages that this visitor gets."""
    at = AppTest.from_file(str(APP), default_timeout=60).run()
    return {str(page["url_pathname"]): name for name, page in at._registered_pages.items()}


@cache
def _by_name(kind: type) -> type:
    """The kind of widget, in which options are chosen by the names that a visitor reads; AppTest wants the options."""
    return type(kind.__name__, (kind,), {"format_func": property(lambda _: str)})


@dataclass
class Walk:
    """What was opened on one page, and what failed there."""

    at: AppTest
    page: str
    log: list[str]
    choices: bool = True
    """Whether the choices in each tab are tried too, which takes as long again."""
    offered: set[str] = field(default_factory=set)
    """Tabs."""
    opened: set[str] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)
    n_screens: int = 0
    _tried: set[tuple[object, ...]] = field(default_factory=set)

    @classmethod
    def on(
        cls, page: str, name: str, log: list[str], session: Mapping[str, object], *, choices: bool = True
    ) -> Self:
        """A visit to a page, not drawn yet. name: Streamlit's; session: what the visit begins with; choices: see Walk."""
        at = AppTest.from_file(str(APP), default_timeout=60)
        at._page_hash = name  # AppTest.switch_page knows files alone
        for key, value in session.items():
            at.session_state[key] = value
        return cls(at, page, log, choices)

    def draw(self, *place: str) -> None:
        """Run the page, and note what failed. place: what is open, for the reader of a failure."""
        del self.log[:]
        self.at.run()
        self.n_screens += 1
        where = " / ".join([f"page {self.page or 'start'}", *place])
        found = [f"{one.value} {one.message}" for one in self.at.exception]
        self.failed += [f"{where}: {problem}" for problem in [*found, *self.log]]

    def all(self) -> None:
        """Open everything that the page offers: first as it is, then each kind of thing in its menu, a new one, each row of a list."""
        self.draw()
        self._everything()
        known = set()
        for name in getattr(self._menu(), "options", ()):
            if not _choose(self._menu(), name):
                continue
            self.draw(name)
            # Runs of one kind and state are alike, except where their texts open further tabs. A name ends with the file's.
            alike = (re.sub(r"\d+|,[^,]*$", "", name), *(tab.label for tab in self.at.tabs))
            if alike not in known:
                known.add(alike)
                self._everything(name)
        rows = [(one.proto.label, one.proto.query_string) for one in self.at.get("page_link")]
        for button in [one for one in self.at.button if (one.key or "").endswith("_new")]:
            button.click()
            self.draw(button.label)
            self._everything(button.label)
        for name, address in rows:
            if address:
                self.at.query_params.clear()
                self.at.query_params.update(dict(parse_qsl(address)))
                self.draw(name)
                self._everything(name)

    def _menu(self) -> Selectbox[Any] | None:
        """What the page is about: the first menu that is not inside of something."""
        return next(
            (
                node
                for node, inside in _nodes(self.at.main)
                if isinstance(node, Selectbox) and not any(one.type in _FOLDED for one in inside)
            ),
            None,
        )

    def _everything(self, *place: str) -> None:
        self._choices(place)
        self._tabs(place, frozenset())

    def _tabs(self, place: tuple[str, ...], above: frozenset[str]) -> None:
        """Open every tab, and the tabs in it. above: keys of the tabs that this place is in."""
        for box in [node for node, _ in _nodes(self.at.main) if node.type == "tab_container"]:
            labels = [tab.label for tab in box.children.values()]
            self.offered |= set(labels)
            key = _key_of(box.proto.tab_container.id)
            if not key:  # all are drawn at once
                self.opened |= set(labels)
            elif key not in above:
                is_open = box.proto.tab_container.default_tab_index
                for label in [labels[is_open], *labels[:is_open], *labels[is_open + 1 :]]:
                    if label != labels[is_open]:
                        self.at.session_state[key] = label
                        self.draw(*place, label)
                    self.opened.add(label)
                    self._choices((*place, label))
                    self._tabs((*place, label), above | {key})

    def _choices(self, place: tuple[str, ...]) -> None:
        """Try every choice on the screen once in each tab, whatever the page is about, and unfold what draws itself then."""
        for drawn, _ in list(_nodes(self.at.main)):
            parts = isinstance(drawn, ButtonGroup) and drawn.label == "Part"  # as good as tabs
            if not parts and not (self.choices and isinstance(drawn, _CHOICES)):
                continue
            mark = (*place[1:], type(drawn), drawn.label)
            node = self._again(drawn)
            if node is None or node is self._menu() or mark in self._tried:
                continue
            self._tried.add(mark)
            if isinstance(node, Expander):
                if key := _key_of(node.proto.id):
                    self.at.session_state[key] = True
                    self.draw(*place, node.label)
            elif not node.proto.form_id and not node.disabled:  # a form draws nothing before it is sent
                self._try(node, place)

    def _try(self, node: Any, place: tuple[str, ...]) -> None:
        """Choose each other option, then again what was chosen before."""
        before = _chosen(node)
        others = [True, False] if isinstance(node, Toggle) else list(node.options)
        if isinstance(node, Selectbox | Multiselect):
            others = others[:_MOST_OPTIONS]
        for name in [one for one in others if one not in before]:
            if not _choose(self._again(node), name):
                return
            self.draw(*place, node.label, str(name))
        for name in before[:1]:
            _choose(self._again(node), name)

    def _again(self, node: Any) -> Any:
        """The widget as it was last drawn."""
        same = (one for one, _ in _nodes(self.at.main) if one.type == node.type)
        return next((one for one in same if one.label == node.label), None)


_CHOICES = (Selectbox, Multiselect, Radio, ButtonGroup, Toggle, Expander)


def _chosen(node: Any) -> list[Any]:
    """Names of the chosen options."""
    if isinstance(node, Toggle):
        return [node.value]
    if isinstance(node, ButtonGroup):
        return list(node.formatted_values)
    if isinstance(node, Multiselect):
        return list(node.values)
    return [] if node.index is None else [node.options[node.index]]


def _choose(node: Any, name: Any) -> bool:
    """Choose an option before the next run; return whether it is on offer."""
    if isinstance(node, Toggle):
        node.set_value(name)
        return True
    if node is None or name not in node.options:
        return False
    node.__class__ = _by_name(type(node))
    several = isinstance(node, Multiselect) or (isinstance(node, ButtonGroup) and not node._is_single_select)
    node.set_value([name] if several else name)
    return True


def _nodes(node: Node, inside: tuple[Node, ...] = ()) -> Iterator[tuple[Any, tuple[Node, ...]]]:
    yield node, inside
    if isinstance(node, Block):
        for child in node.children.values():
            yield from _nodes(child, (*inside, node))


def _key_of(element_id: str) -> str:
    """The key that a page gave a stateful block: Streamlit's number for it ends with the key."""
    return element_id.split("-", 2)[2] if element_id else ""
