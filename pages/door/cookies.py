"""The two cookies: a rater's link and the admin's session. No script can read them, no other site can use them."""

from collections.abc import Mapping
from typing import Literal

from starlette.requests import HTTPConnection
from starlette.responses import Response

from core.store import Store
from core.store.raters import cookie_suffix

Holder = Literal["rater", "admin"]
_DAYS: dict[Holder, int] = {"rater": 180, "admin": 7}
_LONGEST = 200
"""Characters of a cookie that are looked at; ours are shorter."""


def token_in(cookies: Mapping[str, str], store: Store, holder: Holder) -> str | None:
    """The token that a browser carries, not yet proven."""
    token = cookies.get(cookie_name(store, holder))
    return token if isinstance(token, str) and 0 < len(token) <= _LONGEST else None


def set_cookie(response: Response, request: HTTPConnection, store: Store, holder: Holder, token: str) -> None:
    """Have the browser carry a token from now on."""
    response.set_cookie(
        cookie_name(store, holder),
        token,
        max_age=_DAYS[holder] * 86_400,
        httponly=True,
        samesite="strict",
        secure=_encrypted(request),
    )


def drop_cookie(response: Response, request: HTTPConnection, store: Store, holder: Holder) -> None:
    """Have the browser forget a token."""
    response.delete_cookie(
        cookie_name(store, holder), httponly=True, samesite="strict", secure=_encrypted(request)
    )


def cookie_name(store: Store, holder: Holder) -> str:
    """The name under which this database's cookie travels."""
    return f"assay_{holder}_{cookie_suffix(store)}"


def _encrypted(request: HTTPConnection) -> bool:
    """Whether the browser speaks TLS, with the app or with a proxy before it."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "").split(",")[0].strip())
