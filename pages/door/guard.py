"""Limit what a browser may request and send: security headers, closed paths and messages, values that no widget accepts."""

import hashlib
import os
import sys
from pathlib import Path

import streamlit as st
from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import SessionState, Value, WStates
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from core.access import NO_ENTRY, PROXIES, is_admin, knocked
from core.errors import StorageError
from core.installation import START
from core.store import database_path, open_store
from pages.door.origin import address, comes_from_own_page, proxy_is_unnamed, tell_operator
from pages.widgets.visitor import token_in

APP_POLICY = (
    # Streamlit needs styles made by script, WebAssembly for none of our pages, and images it draws itself.
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": APP_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_CLOSED = ("/_stcore/metrics", "/_stcore/script-health-check", "/_stcore/agent/", "/app/static/")
"""Server metrics and interfaces that nobody here uses."""
_ADMIN_ONLY = ("/media/", "/_stcore/upload_file/")
"""Downloads and uploads, for which Streamlit checks no cookie."""
_FROM_EVERYBODY = {"rerun_script", "stop_script", "app_heartbeat"}
_FROM_THE_ADMIN = {*_FROM_EVERYBODY, "file_urls_request", "backend_operation_request"}
"""Messages that a browser may send; the others (clear caches, report the app's path) are for developers."""
LARGEST_FRAME = 256 * 1024
"""Bytes in one message of anybody but the admin; a rater's comment has at most 5,000 characters."""
_TOO_BIG, _NOT_HERE = 1009, 1008
_OWNER = b"x-assay-owner"
"""Named in .streamlit/config.toml."""
_UNKNOWN_HOST = PlainTextResponse(
    f"The app does not answer to this host name. Its operator can allow the name: {START} --host NAME", 400
)
"""For a foreign host name pointed at this machine: its pages would count as the app's own."""
_SCRIPT = Path(__file__).resolve().parents[2] / "app.py"
_FOLDER = str(_SCRIPT.parent).encode()


def believe_no_header_unasked() -> None:
    """Restart this process where no trusted proxies were configured.

    uvicorn has read its settings by now, and would believe any address that a program on this machine forwards.
    """
    if PROXIES not in os.environ:
        os.environ[PROXIES] = ""
        os.closerange(3, 1024)  # the port among them, which the new start takes
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


class Guard:
    """Middleware around the whole app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, refuse it, or filter a connection."""
        if scope["type"] == "websocket":
            await self._watched(scope, receive, send)
        elif scope["type"] == "http":
            await self._answered(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        path = scope["path"]
        if not is_host_allowed(HTTPConnection(scope).headers.get("host")):
            await _UNKNOWN_HOST(scope, receive, with_headers)
        elif path.startswith(_CLOSED):
            await PlainTextResponse("Not found", 404)(scope, receive, with_headers)
        elif path.startswith(_ADMIN_ONLY) and not comes_from_own_page(HTTPConnection(scope)):
            await PlainTextResponse("Not accepted", 403)(scope, receive, with_headers)
        elif path.startswith(_ADMIN_ONLY) and not await to_thread.run_sync(admin_asks, HTTPConnection(scope)):
            await PlainTextResponse("Sign in first", 403)(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)

    async def _watched(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not is_host_allowed(HTTPConnection(scope).headers.get("host")):
            await _UNKNOWN_HOST(scope, receive, send)
            return
        if not comes_from_own_page(HTTPConnection(scope)):  # Streamlit lets every port of this machine in
            if proxy_is_unnamed(HTTPConnection(scope)):
                tell_operator()
            await send({"type": "websocket.close", "code": _NOT_HERE})
            return
        admin = await to_thread.run_sync(admin_asks, HTTPConnection(scope), False)
        allowed = _FROM_THE_ADMIN if admin else _FROM_EVERYBODY

        begun = False

        async def checked() -> Message:
            nonlocal begun
            while True:
                message = await receive()
                data = message.get("bytes")
                if message["type"] != "websocket.receive" or data is None:
                    return message
                if len(data) > LARGEST_FRAME and not admin:
                    await send({"type": "websocket.close", "code": _TOO_BIG})
                    return {"type": "websocket.disconnect", "code": _TOO_BIG}
                sent = _parsed(data)
                if sent is None:  # Streamlit closes the connection
                    return message
                kind = sent.WhichOneof("type")
                if kind == "rerun_script" and not begun:
                    begun = True
                    message = {**message, "bytes": _whole_page_request(sent)}
                if kind in allowed:
                    return message

        async def without_path(message: Message) -> None:
            data = message.get("bytes")
            await send({**message, "bytes": _pathless(data)} if data and _FOLDER in data else message)

        await self._app(_mark_owner(scope), checked, without_path)


def admin_asks(request: HTTPConnection, count: bool = True) -> bool:
    """Whether a request carries the admin's cookie. count: whether to count a refusal."""
    try:
        with open_store(database_path()) as store:
            session = token_in(request.cookies, store, "admin")
            if session is not None and is_admin(store, session):
                return True
            if count:
                knocked(store, NO_ENTRY, address(request.scope))
    except StorageError:
        pass  # without a database nobody is the admin
    return False


def _mark_owner(scope: Scope) -> Scope:
    """Mark a connection with a hash of its cookies, replacing any mark that the browser sent.

    Streamlit lets anybody who names a session continue it, including undelivered pages. With this mark
    (server.trustedUserHeaders) only the browser that began the session can.
    """
    cookies = HTTPConnection(scope).cookies
    ours = sorted((name, value) for name, value in cookies.items() if name.startswith("assay_"))
    mark = hashlib.sha256(repr(ours).encode("utf-8", "surrogatepass")).hexdigest().encode()
    kept = [(name, value) for name, value in scope["headers"] if name.lower() != _OWNER]
    return {**scope, "headers": [*kept, (_OWNER, mark)]}


def _pathless(data: bytes) -> bytes:
    """Remove the app's folder from a message: each session begins by naming it."""
    message = ForwardMsg.FromString(data)
    if message.WhichOneof("type") == "new_session":
        message.new_session.main_script_path = _SCRIPT.name
    without: bytes = message.SerializeToString()
    return without


def _whole_page_request(sent: BackMsg) -> bytes:
    """Ask for a run of the whole page, not of a fragment.

    A tab that connects again may meet a session that has just begun. Such a session knows no fragment, and Streamlit drops
    an event of an unknown one in silence: what is pressed in that tab would do nothing until it is loaded again.
    """
    sent.rerun_script.fragment_id = ""
    whole: bytes = sent.SerializeToString()
    return whole


def _parsed(data: bytes) -> BackMsg | None:
    """A message of a browser; None for noise."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # whatever protobuf makes of noise
        return None
    return message


def forget_unusable(_problem: Exception) -> bool:
    """After a page failed, drop unusable widget values and tell the visitor; return whether there were any.

    For `st.App`. Streamlit stores a value that it cannot read, and would fail on it in every later run of the session.
    """
    context = get_script_run_ctx()
    if context is None:
        return False
    state: SessionState = context.session_state._state
    sent = state._new_widget_state
    unusable = [widget for widget in {*sent.states, *sent.widget_metadata} if not _is_usable(state, widget)]
    for widget in unusable:
        sent.states.pop(widget, None)
        state._old_state.pop(widget, None)
    if unusable:
        st.error(
            "Your browser sent a value that this page cannot use. The value was dropped. Reload the page."
        )
    return bool(unusable)


def _is_usable(state: SessionState, widget: str) -> bool:
    """Whether a widget's value can be read, and has the form in which the widget sends its values."""
    metadata = state._new_widget_state.widget_metadata.get(widget)
    if metadata is None:  # it belongs to no widget: Streamlit ignores it
        return True
    try:
        sent = widget in state._new_widget_state.states
        value = state._new_widget_state[widget] if sent else state._old_state.get(widget)
        if value is not None:
            WStates({widget: Value(value)}, {widget: metadata}).get_serialized(widget)
    except Exception:  # whatever the widget raises for an unknown value
        return False
    return True
