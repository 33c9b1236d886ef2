"""Every byte that reaches a rater's browser, with the ids that Streamlit draws at random masked."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from google.protobuf.message import Message
from helpers.processes.app_server import AppServer, settled
from helpers.processes.raw_rater import DRAWN
from playwright.sync_api import Page, Response, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_RANDOM_IDS = re.compile(r"(?<=stAppEmbeddingId-)\w+|(?<=react-aria)\d+|:r\w+:")

_BODY_WITH_SORTED_ATTRIBUTES = """() => {
  const body = document.body.cloneNode(true);
  for (const element of [body, ...body.querySelectorAll('*')]) {
    const sorted = [...element.attributes].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const attribute of sorted) {
      element.removeAttribute(attribute.name);
      element.setAttribute(attribute.name, attribute.value);
    }
  }
  return body.outerHTML;
}"""


OUTSIDE = "http://outside.invalid"
"""What hostile texts want a browser to ask."""


def watch(page: Page) -> list[str]:
    """Addresses a page asks for, and dialogs that a script would open."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (asked.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    return asked


def outside(asked: list[str], app: AppServer) -> list[str]:
    return [url for url in asked if not url.startswith((app.url, "data:", "blob:"))]


@dataclass
class Wire:
    """What went over the wire of one page."""

    received: list[bytes] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    documents: list[bytes] = field(default_factory=list)
    runs: int = 0

    def watch(self, page: Page) -> "Wire":
        page.on("websocket", self._websocket)
        page.on("response", self._response)
        return self

    def _websocket(self, websocket: WebSocket) -> None:
        self.urls.append(websocket.url)
        websocket.on("framereceived", self._frame)
        websocket.on("framesent", lambda frame: self.sent.append(_bytes(frame)))

    def _frame(self, frame: bytes | str) -> None:
        self.received.append(_bytes(frame))
        message = ForwardMsg.FromString(self.received[-1])
        if message.WhichOneof("type") == "script_finished" and message.script_finished in DRAWN:
            self.runs += 1

    def after(self, page: Page, action: Callable[[], object]) -> None:
        """Do something on the page and wait until the run of the script that it causes is drawn."""
        before = self.runs
        action()
        for _ in range(400):
            page.wait_for_timeout(50)
            if self.runs > before:
                settled(page)
                return
        raise AssertionError("nothing came of it")

    def _response(self, response: Response) -> None:
        self.urls.append(response.url)
        self.headers.append(str(sorted(response.headers.items())))

    def everything(self) -> bytes:
        """All of it as one haystack."""
        text = "\n".join([*self.urls, *self.headers]).encode()
        return b"\n".join([text, *self.received, *self.sent, *self.heads, *self.documents])

    def received_frames(self) -> list[bytes]:
        """The different frames that came, each once, sorted.

        How often and when a frame is repeated depends on timing: Streamlit drops frames of a run that a
        newer one overtakes before they are flushed. in_order() is the part whose order does not.
        """
        return sorted({_masked_forward(frame) for frame in self.received})

    def in_order(self, word: str) -> list[bytes]:
        """The different frames that hold `word`, in the order of their first appearance."""
        frames = [_masked_forward(frame) for frame in self.received]
        return list(dict.fromkeys(frame for frame in frames if word.encode() in frame))

    def sent_frames(self) -> list[bytes]:
        """Everything the browser sent, in order."""
        return [_without_default_mode(_without_time(frame)) for frame in self.sent]

    def add_document(self, page: Page) -> None:
        """Keep the page's DOM, with the ids masked that the browser draws at random or as its parts load.

        The whole document is searched for secrets; documents are compared without their head, where the
        order of the scripts follows the order in which they came.
        """
        self.heads.append(page.evaluate("document.head.outerHTML").encode())
        body = page.evaluate(_BODY_WITH_SORTED_ATTRIBUTES)
        self.documents.append(_RANDOM_IDS.sub("masked", body).encode())


def _without_default_mode(frame: bytes) -> bytes:
    """The states of the controls "Mark changes" and "Keys" travel with the first event after they were mounted, or the second.

    States stand in the order in which the browser loaded the parts that hold them: any order is the same.
    """
    message = BackMsg.FromString(frame)
    states = message.rerun_script.widget_states.widgets
    kept = sorted((one for one in states if not one.id.endswith(("-d", "-keyset"))), key=lambda one: one.id)
    del states[:]
    states.extend(kept)
    return message.SerializeToString(deterministic=True)


def _without_time(frame: bytes) -> bytes:
    """For how long a pair was visible depends on how fast a machine is."""
    message = BackMsg.FromString(frame)
    for state in message.rerun_script.widget_states.widgets:
        if state.id.endswith("-visible"):
            state.json_value = re.sub(r'"seconds":[\d.]+', '"seconds":0', state.json_value)
    return message.SerializeToString(deterministic=True)


def _bytes(frame: bytes | str) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()


def _masked_forward(frame: bytes) -> bytes:
    message = ForwardMsg.FromString(frame)
    if message.metadata.HasField("run"):
        message.metadata.run.script_run_id = "masked"
    if message.WhichOneof("type") == "new_session":
        session = message.new_session
        session.initialize.session_id = "masked"
        if session.initialize.HasField("user_info"):
            _blank(session.initialize.user_info)
    return message.SerializeToString(deterministic=True)


def _blank(message: Message) -> None:
    """Installation ids are drawn once per machine and say nothing about a study."""
    message.Clear()
