"""Visitors without a browser: HTTP requests and Streamlit's websocket, byte by byte.

Light enough for a hundred in one process, and free to send what no browser would.
"""

import http.client
import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qs, urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State
from websockets.sync.client import ClientConnection, connect

DOUBLE_PRESS_SECONDS = 0.4
"""A little longer than the time in which the app takes a press for the second half of a double one."""
_PATIENCE = 20.0
"""Seconds for one answer of a server that may be busy with other tests."""
_LARGEST_READ = 64 * 1024 * 1024
_OVERTAKEN = ForwardMsg.FINISHED_EARLY_FOR_RERUN
DRAWN = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
"""How a run ends that was drawn to its end: not those that a newer one overtook."""


@dataclass(frozen=True)
class Reply:
    """The answer to one HTTP request; redirections are not followed."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: tuple[str, ...]
    """Whole Set-Cookie lines."""


def ask(
    base: str,
    path: str,
    *,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] = {},
    address: str = "127.0.0.1",
) -> Reply:
    """One HTTP request on a connection of its own, from an address of this machine (127.0.0.x)."""
    connection = http.client.HTTPConnection(
        urlsplit(base).netloc, timeout=_PATIENCE, source_address=(address, 0)
    )
    try:
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        content = answer.read()
        named = {name.lower(): value for name, value in answer.getheaders()}
        cookies = tuple(value for name, value in answer.getheaders() if name.lower() == "set-cookie")
        return Reply(answer.status, named, content, cookies)
    finally:
        connection.close()


def post(base: str, path: str, address: str = "127.0.0.1", cookie: str = "", **fields: str) -> Reply:
    """Send a form, as a browser does from our own page."""
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": base}
    if cookie:
        headers["Cookie"] = cookie
    body = urlencode(fields).encode()
    return ask(base, path, method="POST", body=body, headers=headers, address=address)


def cookie_of(link: str, address: str = "127.0.0.1") -> str:
    """What a browser sends after it opened a personal link: `name=value`, and with a proxy its cookie after it."""
    return _opened(link, address)[0]


def _opened(link: str, address: str = "127.0.0.1") -> tuple[str, str]:
    """(cookie, query of the address) of a browser that opened a personal link."""
    base, token = link.rsplit("/r/", 1)
    reply = ask(base, f"/r/{token}", address=address)
    assert reply.status == 303, f"the link opened nothing: {reply.status}"
    cookie = "; ".join(cookie.split(";")[0] for cookie in reply.cookies)
    return cookie, urlsplit(reply.headers["location"]).query


class Gone(Exception):
    """The server closed the connection, or died."""


@dataclass
class RawVisitor:
    """One websocket connection: what came, what is drawn now, where the address stands."""

    base: str
    cookie: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    protocols: Sequence[str] = ("streamlit",)
    address: str = "127.0.0.1"
    """Where on this machine the connection comes from."""
    keep: bool = True
    """Whether to keep every frame for a search; a benchmark does not."""
    rater_id: str = ""
    """The own pseudonym, which a rater may read."""

    def __post_init__(self) -> None:
        self.received: list[bytes] = []
        self.sent: list[bytes] = []
        self.query = ""
        self.page = ""
        self.session_id = ""
        self.elements: dict[tuple[int, ...], Element] = {}
        self.drawn_at = 0.0
        self._fragments: dict[str, str] = {}
        self._drawing: dict[tuple[int, ...], Element] = {}
        self._socket: ClientConnection | None = None
        self.connect()

    def connect(self) -> None:
        """Open the connection (again); what was on the screen stays, as in a tab."""
        headers = {**({"Cookie": self.cookie} if self.cookie else {}), **self.headers}
        self._socket = connect(
            f"ws://{urlsplit(self.base).netloc}/_stcore/stream",
            subprotocols=list(self.protocols),  # type: ignore[arg-type]  # plain texts
            additional_headers=headers,
            max_size=_LARGEST_READ,
            open_timeout=_PATIENCE,
            close_timeout=2,
            compression=None,
            proxy=None,
            source_address=(self.address, 0),
        )

    def close(self) -> None:
        """Hang up."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    @property
    def is_gone(self) -> bool:
        """Whether the connection is closed or broken, as a browser notices by itself."""
        return self._socket is None or self._socket.state is not State.OPEN

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, frame: bytes | str) -> None:
        """Send a frame, whatever it is."""
        assert self._socket is not None
        if self.keep and isinstance(frame, bytes):
            self.sent.append(frame)
        try:
            self._socket.send(frame)
        except (ConnectionClosed, OSError) as gone:
            raise Gone(str(gone)) from gone

    def go(self, query: str | None = None, widgets: Sequence[WidgetState] = (), **state: object) -> Self:
        """Ask for a run, at another place if `query` says so, and read until it is drawn."""
        self.send(self.rerun(query, widgets, **state))
        return self.until_drawn()

    def rerun(self, query: str | None = None, widgets: Sequence[WidgetState] = (), **state: object) -> bytes:
        """The frame with which a browser asks for a run; `state` sets further fields of ClientState."""
        if query is not None:
            self.query = query
        page = "" if "page_name" in state else self.page
        asked = ClientState(**{"query_string": self.query, "page_script_hash": page, **state})
        asked.widget_states.widgets.extend(widgets)
        return BackMsg(rerun_script=asked).SerializeToString()

    def until_drawn(self) -> Self:
        """Read until a run has ended by itself, not because a newer one began. Raises Gone."""
        while True:
            message = self.read()
            if message.WhichOneof("type") == "script_finished" and message.script_finished != _OVERTAKEN:
                return self

    def read(self, patience: float = _PATIENCE) -> ForwardMsg:
        """The next frame. Raises Gone when there is none to come, TimeoutError when none came in time."""
        assert self._socket is not None
        try:
            data = self._socket.recv(timeout=patience, decode=False)
        except (ConnectionClosed, OSError) as gone:
            if isinstance(gone, TimeoutError):
                raise
            raise Gone(str(gone)) from gone
        if self.keep:
            self.received.append(data)
        message = ForwardMsg.FromString(data)
        self._take(message)
        return message

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.page = message.new_session.page_script_hash
            self.session_id = message.new_session.initialize.session_id or self.session_id
            self._drawing = {}
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            self._drawing[tuple(message.metadata.delta_path)] = element
            widget = getattr(getattr(element, element.WhichOneof("type") or "", None), "id", "")
            self._fragments[widget] = message.delta.fragment_id
        elif kind == "script_finished" and message.script_finished in DRAWN:
            self.elements, self.drawn_at = self._drawing, time.monotonic()

    @property
    def place(self) -> str:
        """Where a rater is on their way, as the address says."""
        return parse_qs(self.query).get("at", [""])[0]

    def on_screen(self) -> str:
        """The texts that are drawn, top to bottom as they came."""
        return "\n".join(text for element in self.elements.values() if (text := _text(element)))

    def buttons(self) -> dict[str, str]:
        """Label -> widget id, for every button that is drawn."""
        return {e.button.label: e.button.id for e in self.elements.values() if e.HasField("button")}

    def widget(self, kind: str) -> str:
        """The id of the first widget of that kind (text_area, checkbox ...) that is drawn."""
        return next(getattr(e, kind).id for e in self.elements.values() if e.HasField(kind))  # type: ignore[arg-type]

    def component(self, name: str) -> BidiComponent:
        """The first component of our own of that name that is drawn."""
        drawn = (e.bidi_component for e in self.elements.values() if e.HasField("bidi_component"))
        return next(one for one in drawn if one.component_name.endswith(f".{name}"))

    def comment(self, text: str) -> WidgetState:
        """What a browser holds after a comment was typed into the box that is drawn."""
        return told(self.component("text_box"), typed={"number": 1, "text": text})

    def press(self, label: str, widgets: Sequence[WidgetState] = ()) -> Self:
        """Press the button of that label."""
        self.send(self.change([*widgets, pressed(self.buttons()[label])]))
        return self.until_drawn()

    def change(self, widgets: Sequence[WidgetState]) -> bytes:
        """The frame with which a browser tells what was done to the last of these widgets: its fragment is run."""
        return self.rerun(None, widgets, fragment_id=self._fragments.get(widgets[-1].id, ""))

    def until_quiet(self, seconds: float = 0.7) -> Self:
        """Read until nothing has come for a while: whatever was sent at once has been answered."""
        with suppress(TimeoutError):
            while True:
                self.read(seconds)
        return self

    def everything(self) -> bytes:
        """All that came, as one haystack."""
        return b"\n".join(self.received)


class RawRater(RawVisitor):
    """A rater who opened a personal link."""

    @classmethod
    def of_link(cls, link: str, *, keep: bool = True) -> "RawRater":
        """Open a link, connect, and draw the first screen."""
        cookie, query = _opened(link)
        rater = cls(link.rsplit("/r/", 1)[0], cookie, keep=keep)
        rater.go(query)
        return rater

    def through_onboarding(self) -> "RawRater":
        """Guidelines and the three practice pairs."""
        self.press("Start with three practice pairs")
        for last in (False, False, True):
            self.press(self.choices()[2])
            self.press("Start the study" if last else "Next practice pair")
        return self

    def choices(self) -> list[str]:
        """The labels of the choice buttons: those with the keys 1, 2 ..."""
        found = [e.button for e in self.elements.values() if e.HasField("button") and e.button.shortcut]
        return [b.label for b in sorted(found, key=lambda b: b.shortcut)]

    def choose(self, which: int) -> bool:
        """Press the choice of that number, from 0, once it can be no double press; whether it was acknowledged.

        Acknowledged means that the page says so: "Pair N saved".
        """
        number = self.number()
        self.choose_again(which)
        return f"Pair {number} saved" in self.on_screen()

    def choose_again(self, which: int) -> None:
        """The same where nothing says that it was saved: after the answers are locked."""
        time.sleep(max(0.0, self.drawn_at + DOUBLE_PRESS_SECONDS - time.monotonic()))
        self.press(self.choices()[which])

    def number(self) -> int:
        """The number of the pair that is on the screen."""
        return int(self.on_screen().split(">Pair ", 1)[1].split(" ", 1)[0])


def pressed(widget_id: str) -> WidgetState:
    """A press on the button of that id."""
    return WidgetState(id=widget_id, trigger_value=True)


def told(component: BidiComponent, **events: object) -> WidgetState:
    """What a browser holds after a component sent something."""
    return WidgetState(id=component.id, json_value=json.dumps(events))


def _text(element: Element) -> str:
    kind = element.WhichOneof("type")
    part = getattr(element, kind) if kind else None
    for name in ("body", "label", "text"):
        if isinstance(found := getattr(part, name, None), str):
            return re.sub(r"</?bdi[^>]*>", "", found)
    return ""
