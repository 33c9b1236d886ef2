"""Where a server is. Apart from the client, whose package takes half a second to load."""

import re
from urllib.parse import parse_qsl, urlsplit

from core.errors import InputError


def normal_url(base_url: str) -> str:
    """The base URL in one form, so that one server has one name; raises InputError where it is none.

    Refuses what belongs elsewhere: a user and password, a query (both may hold secrets), a fragment.
    """
    what = "The server's base URL cannot be used"
    hint = "expected something like http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InputError(what, [f"it is no URL; {hint}"]) from None
    problems = []
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", base_url.strip()):
        problems.append(f"it is no http or https URL; {hint}")
    if "@" in parts.netloc:
        problems.append("it holds a user or password; name the key's environment variable instead")
    if "?" in base_url or "#" in base_url:
        problems.append("it holds a query or fragment; give the part before it")
    path = parts.path.rstrip("/")
    if path.endswith(("/chat/completions", "/completions", "/models")):
        problems.append("it names one function of the server; leave out what follows /v1")
    if problems or host is None:
        raise InputError(what, problems)
    shown = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{shown}{f':{port}' if port not in (None, usual) else ''}{path}"


def split_version(base_url: str) -> tuple[str, str | None]:
    """The base URL and the API version in its query, as Azure shows it: `...?api-version=2024-10-21`.

    Any other query stays where it is, for normal_url to refuse.
    """
    before, _, query = base_url.strip().partition("?")
    match parse_qsl(query.partition("#")[0]):
        case [("api-version", version)] if "#" not in query:
            return before, version
    return base_url, None


def is_local(base_url: str) -> bool:
    """Whether the server is on this machine."""
    host = urlsplit(base_url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
