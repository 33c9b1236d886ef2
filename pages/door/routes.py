"""Addresses that set or delete a cookie, with their small pages: a rater's link, the admin's one-time link, sign-in and sign-out.

Reading an address never changes anything: mail programs and messengers open links before people do.
"""

import base64
import hashlib
from collections.abc import Callable
from html import escape
from typing import TypeAlias
from urllib.parse import parse_qs

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from core import access
from core.access import UNKNOWN_TOKEN, knocked
from core.errors import AssayError, InputError, NotAllowed, StorageError
from core.installation import COMMAND
from core.store import Store, database_path, open_store
from core.store.raters import rater_of_token, tab_handle
from pages.door.origin import UNNAMED_PROXY, address, comes_from_own_page, proxy_is_unnamed
from pages.widgets.visitor import BACK, HANDLE, PLACE, drop_cookie, set_cookie, token_in, way_back

_LARGEST_FORM = 16 * 1024
Fields: TypeAlias = dict[str, str]
Answer: TypeAlias = Callable[[Store, Request, Fields], Response]


def routes() -> list[Route]:
    """Return all routes for the app."""
    return [
        Route("/start", _start, methods=["GET"]),
        Route("/r/{token}", _door(_rater_link), methods=["GET"]),
        Route("/admin/{token}", _door(_choose_form), methods=["GET"]),
        Route("/admin/{token}", _door(_choose), methods=["POST"]),
        Route("/sign-in", _door(_sign_in_form), methods=["GET"]),
        Route("/sign-in", _door(_sign_in), methods=["POST"]),
        Route("/sign-out", _door(_sign_out_form), methods=["GET"]),
        Route("/sign-out", _door(_sign_out), methods=["POST"]),
    ]


def _door(answer: Answer) -> Callable[[Request], object]:
    """Return an endpoint that uses the store in a thread, not in the event loop that serves raters."""

    async def endpoint(request: Request) -> Response:
        fields = await _fields(request) if request.method == "POST" else {}
        if fields is None:
            said = "Open this page in your browser and send the form from there."
            unnamed = not comes_from_own_page(request) and proxy_is_unnamed(request)
            return _page("Not accepted", _sentence(UNNAMED_PROXY if unnamed else said), 400)
        return await to_thread.run_sync(_answered, answer, request, fields)

    return endpoint


def _answered(answer: Answer, request: Request, fields: Fields) -> Response:
    try:
        with open_store(database_path()) as store:
            return answer(store, request, fields)
    except StorageError:
        return _page("Not now", _sentence("The database cannot be reached. Try again in a moment."), 503)


async def _fields(request: Request) -> Fields | None:
    """Return the fields of a form on our own page; None for anything else."""
    if not comes_from_own_page(request):
        return None
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST_FORM:
            return None
    try:
        sent = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=10)
    except ValueError:
        return None
    return {name: values[-1] for name, values in sent.items()}


def _rater_link(store: Store, request: Request, _: Fields) -> Response:
    token = request.path_params["token"]
    found = rater_of_token(store, token)
    if found is None:
        many = knocked(store, UNKNOWN_TOKEN, address(request.scope))
        said = (
            "It may be incomplete, replaced or withdrawn. Ask the person who sent it for a new one."
            if not many
            else "Too many unknown links were tried from here. Wait a few minutes."
        )
        return _page("This link does not work", _sentence(said), 429 if many else 404)
    study_id, rater = found
    response = _go(f"../?{PLACE}=start&{HANDLE}={tab_handle(store, study_id, rater.rater_id)}")
    set_cookie(response, request, store, "rater", token)
    return response


def _choose_form(store: Store, request: Request, _: Fields, wrong: str = "", status: int = 200) -> Response:
    if not access.link_is_open(store, request.path_params["token"]):
        knocked(store, access.UNKNOWN_LINK, address(request.scope))
        return _page(
            "This link no longer works",
            _sentence(
                f"A link works once, within a day. To make a new one, run {COMMAND} admin link on the app's machine. "
                "If you have a passphrase, sign in with it."
            )
            + '<p><a href="../sign-in">Sign in</a></p>',
            404,
        )
    return _page(
        "Choose your passphrase",
        _sentence(
            f"At least {access.SHORTEST_PASSPHRASE} characters. A few words are easy to remember."
            + (" Everybody who is signed in now will be signed out." if access.has_passphrase(store) else "")
        )
        + _problem(wrong)
        + _form(
            "Save and sign in",
            _passphrase_field("passphrase", "Passphrase", "new-password", first=True),
            _passphrase_field("again", "Repeat the passphrase", "new-password"),
        ),
        status,
    )


def _choose(store: Store, request: Request, fields: Fields) -> Response:
    link = request.path_params["token"]
    try:
        session = access.choose_passphrase(store, link, fields.get("passphrase", ""), fields.get("again", ""))
    except InputError as problem:
        return _choose_form(store, request, {}, "\n".join(problem.problems), 422)
    except NotAllowed:
        return _choose_form(store, request, {})
    return _signed_in(store, request, "../", session)


def _sign_in_form(store: Store, request: Request, _: Fields, wrong: str = "", status: int = 200) -> Response:
    if not access.has_passphrase(store):
        said = (
            "Nobody has chosen a passphrase yet. Open the one-time link that the app printed when it started."
        )
        return _page("Sign in", _sentence(said))
    return _page(
        "Sign in",
        _sentence("For the admin of this study. Raters open their personal link instead.")
        + _problem(wrong)
        + _form("Sign in", _passphrase_field("passphrase", "Passphrase", "current-password", first=True)),
        status,
    )


def _sign_in(store: Store, request: Request, fields: Fields) -> Response:
    try:
        session = access.sign_in(store, fields.get("passphrase", ""), address(request.scope))
    except AssayError as problem:
        if isinstance(problem, StorageError):
            raise
        return _sign_in_form(store, request, {}, str(problem), 403)
    return _signed_in(store, request, way_back(request.query_params.get(BACK, "")), session)


def _signed_in(store: Store, request: Request, where: str, session: str) -> Response:
    response = _go(where)
    set_cookie(response, request, store, "admin", session)
    return response


def _sign_out_form(store: Store, request: Request, _: Fields) -> Response:
    return _page(
        "Sign out",
        _sentence("This browser will be signed out. Raters sign in again with their personal link.")
        + _form("Sign out"),
    )


def _sign_out(store: Store, request: Request, _: Fields) -> Response:
    session = token_in(request.cookies, store, "admin")
    if session is not None:
        access.sign_out(store, session)
    response = _go("./")
    for holder in ("rater", "admin"):
        drop_cookie(response, request, store, holder)
    return response


async def _start(request: Request) -> Response:
    """Streamlit's first page has no name of its own: lead everybody to their own first page."""
    return _go(f"./?{request.url.query}" if request.url.query else "./")


def _go(where: str) -> RedirectResponse:
    """Redirect without leaving the link in caches."""
    return RedirectResponse(where, 303, {"cache-control": "no-store"})


_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
html { background: light-dark(#fff, #171614); color: light-dark(#0e1117, #f4f4f5); }
body { max-width: 26rem; margin: 12vh auto 0; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .5rem .6rem; border-radius: .4rem;
  border: 1px solid light-dark(#6b7280, #9ca3af); background: Field; color: FieldText; }
button { margin-top: 1.25rem; font: inherit; font-weight: 600; padding: .5rem 1.1rem; border: 0; border-radius: .4rem;
  background: light-dark(#2f6690, #37759e); color: #fff; cursor: pointer; }
a { color: light-dark(#2f6690, #8ec5ea); }
.problem { border-inline-start: .25rem solid light-dark(#a33, #e99); padding-inline-start: .75rem; }
"""
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    + "'"
)


def _page(title: str, body: str, status: int = 200) -> HTMLResponse:
    """Return a small page; `body` is HTML, the title is text."""
    document = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} · Assay</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
    headers = {
        "content-security-policy": _POLICY,
        "cache-control": "no-store",
        "referrer-policy": "same-origin",  # with none at all a browser hides where a form comes from
    }
    return HTMLResponse(document, status, headers)


def _sentence(text: str) -> str:
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def _problem(text: str) -> str:
    """Return a paragraph with what went wrong, line by line."""
    return f'<p class="problem" role="alert">{escape(text).replace(chr(10), "<br>")}</p>' if text else ""


def _form(button: str, *fields: str) -> str:
    """Return a form that posts to its own address."""
    return f'<form method="post">{"".join(fields)}<button type="submit">{escape(button)}</button></form>'


def _passphrase_field(name: str, label: str, autocomplete: str, *, first: bool = False) -> str:
    """Return a field for a passphrase, which password managers can fill."""
    return (
        f'<label for="{name}">{escape(label)}</label><input id="{name}" name="{name}" type="password" required '
        f'autocomplete="{autocomplete}"{" autofocus" if first else ""}>'
    )
