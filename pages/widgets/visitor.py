"""Identify a visitor by two cookies. Every page checks again here: a page must not trust that app.py has checked."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeVar
from urllib.parse import urlencode, urlsplit

import streamlit as st
from starlette.requests import HTTPConnection
from starlette.responses import Response

from core.access import NO_ENTRY, UNKNOWN_TOKEN, is_admin, knocked
from core.errors import AssayError, NotAllowed, StorageError
from core.installation import START
from core.store import Store, borrowed_store, database_path, open_store
from core.store.raters import cookie_suffix, token_sha256
from core.study.blinding import RaterDesk, RatingDesk, open_any_desk
from pages.widgets.messages import code_markdown

Holder = Literal["rater", "admin"]
_DAYS: dict[Holder, int] = {"rater": 180, "admin": 7}
_LONGEST = 200
"""Longest cookie that is read; ours are shorter."""
_Desk = TypeVar("_Desk", bound=RaterDesk | RatingDesk)
Who = Literal["rater", "admin", "nobody"]
FOR_THE_ADMIN = "This page is for the admin"
PLACE, HANDLE = "at", "as"
"""Query parameters of a rater's position in their list, and of whose tab it is."""
ANOTHER_RATER = "This browser was opened with another rater's link. Open your own link again."
_KNOCKED = "visitor_knocked"


def who() -> Who:
    """Decide whose pages to show. An admin who opened a preview has both cookies: the address decides."""
    try:
        with borrowed_store(database_path()) as store:
            admin = _is_admin(store)
            rater = _token(store, "rater")
    except StorageError:
        return "rater" if _is_of_a_rater() else "nobody"  # each page says what is wrong
    if rater and (_is_of_a_rater() or not admin):
        return "rater"
    return "admin" if admin else "nobody"


def _is_of_a_rater() -> bool:
    """Whether the address is one of a rater's tab."""
    return PLACE in st.query_params or HANDLE in st.query_params


LINKED = ("studies", "check", "metrics", "judges")
"""Paths of the pages whose addresses hold the visitor's choices: a link to a view leads through the sign-in back to it."""
_VIEW = re.compile(rf"(?:{'|'.join(LINKED)})\?[\w.~%&=+*-]{{1,4000}}", re.ASCII)
SIGN_IN = "sign-in"
"""Path of the sign-in page."""
BACK = "to"
"""Parameter of the sign-in page: where it leads afterwards."""


def sign_in_link() -> str:
    """Return the address of the sign-in page, which leads back to a link to a view."""
    url = st.context.url
    chosen = {name: st.query_params.get_all(name) for name in st.query_params}
    page = urlsplit(url).path.rpartition("/")[2] if isinstance(url, str) else ""
    view = f"{page}?{urlencode(chosen, doseq=True)}"
    return f"{SIGN_IN}?{urlencode({BACK: view})}" if _VIEW.fullmatch(view) else SIGN_IN


def way_back(address: str) -> str:
    """Return where the sign-in leads: to a view of a page that was asked for, else to the start page. Never elsewhere."""
    return f"./{address}" if _VIEW.fullmatch(address) else "./"


def said_to_rater(problem: AssayError) -> str:
    """Return what a rater may read about a problem, without the name of the database."""
    if isinstance(problem, StorageError):
        return (
            "The study's data cannot be reached right now. Answers marked as saved are safe. "
            "Try again in a moment. If this does not help, tell the person who sent you the link."
        )
    return str(problem)


def key_of(token: str, mark: str) -> str:
    """Return a widget key for one rater, so that a tab reused under another link does not keep what was typed."""
    return token_sha256(f"{token} {mark}")[:12]


def turn_away(problem: AssayError) -> None:
    """Tell a rater why nothing is shown, and count an unknown link."""
    st.error(said_to_rater(problem))
    if isinstance(problem, _UnknownLink):
        with suppress(StorageError), borrowed_store(database_path()) as store:
            note_refusal(store)


class _UnknownLink(NotAllowed):
    """The browser carries no link that opens a desk."""


@dataclass
class _Run:
    """Share one connection, one check of the link and one desk between the presses and the drawing of a run."""

    closing: ExitStack
    store: Store | None = None
    carried: str | None = None
    """The link in the cookie, once there is a store."""
    desk: RaterDesk | RatingDesk | None = None

    def desk_for(self, drawn_for: str | None) -> RaterDesk | RatingDesk:
        """Return the desk of this run; open it the first time, and again under another link."""
        if self.store is None:
            self.store = self.closing.enter_context(borrowed_store(database_path()))
            self.carried = _token(self.store, "rater")
        if drawn_for and self.carried and self.carried != drawn_for:
            raise NotAllowed(ANOTHER_RATER)
        token = drawn_for or self.carried
        if self.desk is None or self.desk.token != token:
            self.desk = _opened(open_any_desk(self.store, token) if token else None)
        if (whose := st.query_params.get(HANDLE)) and whose != self.desk.handle:
            raise NotAllowed(ANOTHER_RATER)
        return self.desk


_RUN: ContextVar[_Run | None] = ContextVar("run", default=None)


@contextmanager
def one_desk() -> Iterator[None]:
    """Until the outermost such block ends the desk is opened once, whoever asks for it; where something failed, once more."""
    if _RUN.get() is not None:
        yield
        return
    with ExitStack() as closing:
        before = _RUN.set(_Run(closing))
        try:
            yield
        finally:
            _RUN.reset(before)


@contextmanager
def any_desk(drawn_for: str | None = None) -> Iterator[RaterDesk | RatingDesk]:
    """The desk that this browser's link opens, whatever is rated there. Raises NotAllowed when it opens none, and in a tab of
    another rater.

    `drawn_for` is the token under which a pair was drawn: where the connection carries another by now, nothing
    is opened, so that a press is never saved for somebody else. A connection that has just gone carries none;
    what it sent before was its own.
    """
    run = _RUN.get()
    if run is None:
        with one_desk(), any_desk(drawn_for) as desk:
            yield desk
        return
    try:
        yield run.desk_for(drawn_for)
    except AssayError:
        run.desk = None  # the link, the study or the list may be another by now
        raise


@contextmanager
def rater_desk(drawn_for: str | None = None) -> Iterator[RaterDesk]:
    """The desk of a study of pairs that this browser's link opens; as any_desk."""
    with any_desk(drawn_for) as desk:
        yield _opened(desk if isinstance(desk, RaterDesk) else None)


@contextmanager
def rating_desk(drawn_for: str | None = None) -> Iterator[RatingDesk]:
    """The desk of a rating study that this browser's link opens; as any_desk."""
    with any_desk(drawn_for) as desk:
        yield _opened(desk if isinstance(desk, RatingDesk) else None)


def _opened(desk: _Desk | None) -> _Desk:
    if desk is None:
        raise _UnknownLink(
            "This link does not work. It may be incomplete, replaced or withdrawn. "
            "Ask the person who sent it for a new one."
        )
    return desk


@contextmanager
def admin_store() -> Iterator[Store]:
    """Open the store for the admin. Stop the page for everybody else, and when the database cannot be used."""
    try:
        with open_store(database_path()) as store:
            if not _is_admin(store):
                note_refusal(store, NO_ENTRY)
                st.title(FOR_THE_ADMIN)
                st.markdown(
                    f"[Sign in]({sign_in_link()}), or open the one-time link that `{START}` prints at the first start."
                )
                st.stop()
            yield store
    except StorageError as problem:
        st.error(code_markdown(str(problem)))
        st.stop()


def admin_again() -> Callable[[], AbstractContextManager[Store]]:
    """Return a way to open the store for a later download; the role is checked again then."""
    with open_store(database_path()) as store:
        session = _token(store, "admin")

    @contextmanager
    def again() -> Iterator[Store]:
        with open_store(database_path()) as store:
            if session is None or not is_admin(store, session):
                raise NotAllowed("Sign in again: this download is for the admin.")
            yield store

    return again


_BEFORE_FILES: ContextVar[Callable[[Store], None] | None] = ContextVar("checking_files", default=None)


@contextmanager
def checking_files(check: Callable[[Store], None]) -> Iterator[None]:
    """For the downloads of this block: what is checked when a button is pressed. check: raises AssayError to refuse the file."""
    token = _BEFORE_FILES.set(check)
    try:
        yield
    finally:
        _BEFORE_FILES.reset(token)


def admin_making() -> Callable[[Callable[[], bytes]], bytes]:
    """Return a way to make a download when its button is pressed, if the visitor is still the admin, and `checking_files` allows it."""
    again, check = admin_again(), _BEFORE_FILES.get()

    def checked(make: Callable[[], bytes]) -> bytes:
        with again() as store:
            if check is not None:
                check(store)
            return make()

    return checked


def note_refusal(store: Store, kind: str = UNKNOWN_TOKEN) -> None:
    """Count a refused visitor, once per visit and kind."""
    seen = st.session_state.setdefault(_KNOCKED, set())
    if kind not in seen:
        seen.add(kind)
        knocked(store, kind, st.context.ip_address or "")


def _token(store: Store, holder: Holder) -> str | None:
    return token_in(st.context.cookies, store, holder)


def _is_admin(store: Store) -> bool:
    session = _token(store, "admin")
    return session is not None and is_admin(store, session)


def token_in(cookies: Mapping[str, str], store: Store, holder: Holder) -> str | None:
    """Return the token in a browser's cookie, not yet checked."""
    token = cookies.get(cookie_name(store, holder))
    return token if isinstance(token, str) and 0 < len(token) <= _LONGEST else None


def set_cookie(response: Response, request: HTTPConnection, store: Store, holder: Holder, token: str) -> None:
    """Set the cookie with a token."""
    response.set_cookie(
        cookie_name(store, holder),
        token,
        max_age=_DAYS[holder] * 86_400,
        httponly=True,
        samesite="strict",
        secure=_encrypted(request),
    )


def drop_cookie(response: Response, request: HTTPConnection, store: Store, holder: Holder) -> None:
    """Delete the cookie with a token."""
    response.delete_cookie(
        cookie_name(store, holder), httponly=True, samesite="strict", secure=_encrypted(request)
    )


def cookie_name(store: Store, holder: Holder) -> str:
    """Return the name of this database's cookie."""
    return f"assay_{holder}_{cookie_suffix(store)}"


def _encrypted(request: HTTPConnection) -> bool:
    """Whether the browser uses TLS, with the app or with a named proxy in front of it."""
    return request.url.scheme == "https"
