"""The address of a server, and a key that never appears in anything that is written.

Separate from the client, whose package takes half a second to load.
"""

import os
import re
from urllib.parse import parse_qsl, urlsplit

from core.errors import InputError


def normal_url(base_url: str) -> str:
    """The base URL in a canonical form, so that one server has one name. Raises InputError if it is invalid.

    Rejects a user and password, a query (both may contain secrets), and a fragment.
    """
    what = "Invalid base URL of the server"
    hint = "expected something like http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InputError(what, [f"it is not a URL; {hint}"]) from None
    problems = []
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", base_url.strip()):
        problems.append(f"it is not an http or https URL; {hint}")
    if "@" in parts.netloc:
        problems.append("it contains a user or password; name the key's environment variable instead")
    if "?" in base_url or "#" in base_url:
        problems.append("it contains a query or fragment; leave that part out")
    path = parts.path.rstrip("/")
    if path.endswith(("/chat/completions", "/completions", "/models")):
        problems.append("it names a function of the server; leave out everything after /v1")
    if problems or host is None:
        raise InputError(what, problems)
    shown = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{shown}{f':{port}' if port not in (None, usual) else ''}{path}"


def split_version(base_url: str) -> tuple[str, str | None]:
    """Split a base URL from the API version in its query, as shown by Azure: `...?api-version=2024-10-21`.

    Other queries stay in the URL, and normal_url rejects them.
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


HIDDEN = "[key]"
NO_KEY = "none"
"""Sent if no key is needed; servers without keys ignore it."""

_SHARED = 6
"""Consecutive characters in common with the key from which a word reveals a part of it."""
_LONG = 8
"""Length from which keys are secrets; shorter ones are placeholders, whose letters occur in any text."""
_MASK = re.compile(r"\*+|•+|…+|\.{2,}|[xX]{4,}|#{2,}|_{4,}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Key:
    """A key that is not shown in repr; hide() removes it from servers' messages."""

    __slots__ = ("_value", "variable")

    def __init__(self, variable: str | None, header: str = "") -> None:
        """Read the key. Raises InputError if the variable has none. variable None: no key is needed.

        header: the header that the value is for, which may contain spaces; empty: the server's key.
        """
        self.variable = variable
        self._value = NO_KEY if variable is None else _read(variable, header)

    def __repr__(self) -> str:
        return f"Key({self.variable!r})"

    def reveal(self) -> str:
        """The key itself, only for the connection."""
        return self._value

    def hide(self, text: str) -> str:
        """The text without the key, and without words that contain a part of it or a masked form."""
        if self.variable is None:
            return text
        text = self.hide_whole(text)
        return "".join(HIDDEN if self._betrays(word) else word for word in re.split(r"(\s+)", text))

    def hide_whole(self, text: str) -> str:
        """The text without the key but otherwise unchanged, for a model's answer."""
        if self.variable is None:
            return text
        if len(self._value) < _LONG:
            # An answer may contain such a word; remove it only after "Bearer".
            return re.sub(rf"(?<=Bearer ){re.escape(self._value)}(?!\w)", HIDDEN, text)
        return text.replace(self._value, HIDDEN)

    def _betrays(self, word: str) -> bool:
        key, word = self._value.lower(), word.lower()
        if len(key) < _LONG:
            return word.strip("\"'`.,:;()[]{}<>") == key
        if any(key[at : at + _SHARED] in word for at in range(len(key) - _SHARED + 1)):
            return True
        if _MASK.search(word) is None:
            return False
        pieces = [piece for piece in re.split(r"[^\w-]+", _MASK.sub(" ", word)) if len(piece) >= 2]
        return any(key.startswith(piece) or key.endswith(piece) for piece in pieces)


def _read(variable: str, header: str) -> str:
    what, short = (f"header {header}", "header") if header else ("key for the server", "key")
    if _VARIABLE.fullmatch(variable) is None:
        # It may be the key itself, given in the wrong place, so do not repeat it.
        example = f"{header}=env:NAME" if header else "OPENAI_API_KEY"
        raise InputError(
            f"Invalid name of the environment variable for the {what}",
            [f"enter the variable's name, such as {example}, never the {short} itself"],
        )
    value = os.environ.get(variable, "").strip()
    if not value:
        raise InputError(
            f"There is no {what}.",
            [f"the environment variable {variable} is not set or is empty; set it and start again"],
        )
    blanks = any(char.isspace() for char in value) and not header
    if blanks or not value.isascii() or not value.isprintable():
        raise InputError(
            f"The {what} cannot be sent.",
            [
                f"the environment variable {variable} contains characters that are not allowed in a {short}, such as "
                + ("line breaks" if header else "spaces or quotes")
            ],
        )
    return value
