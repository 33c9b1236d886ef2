"""What servers of the chat API send back, understood: completions, errors, lists of models.

Nothing is taken for granted: servers that call themselves compatible leave fields out, send them as null
or with another type, or answer with a page for people.
"""

import json
import re
from collections.abc import Mapping
from typing import cast

from core.llm.client import Reason, Reply

LONGEST_QUOTE = 300
"""Characters of a server's message that a detail repeats."""

_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|maximum (model|context|prompt|input|sequence) length"
    r"|max_model_len|(prompt|input|request|messages?) (is|are) too (long|large)|too many (input )?tokens",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[ _-]?(filter|policy|management)|\bmoderation\b", re.IGNORECASE)
_ACCOUNT = re.compile(
    r"\b(credits?|billing|quota|balance|subscription|payment)\b|api[ _-]?key", re.IGNORECASE
)
"""Of a 400 that is about the account and not about the request."""
_PARAMETERS: dict[str, re.Pattern[str]] = {
    "response_format": re.compile(
        r"response_format|json_schema|structured[ _]outputs?|guided[ _]|grammar", re.IGNORECASE
    ),
    "max_tokens": re.compile(r"max_completion_tokens|['\"`]max_tokens['\"`] is not supported"),
    "seed": re.compile(r"\bseed\b"),
}
"""What a request can do without, and how a server says that it does not know it."""


def read_completion(data: bytes) -> Reply:
    """The reply in a body that came with a success."""
    try:
        whole: object = json.loads(data)
    except (ValueError, RecursionError):
        return Reply(None, "server error", f"The server's answer is no JSON but begins {_beginning(data)}.")
    choices = _get(whole, "choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = _get(first, "message")
    if not isinstance(message, dict):
        said = message_of(data)
        return Reply(
            None, "server error", "The server's answer holds no choice" + (f": {said}" if said else ".")
        )
    usage = _get(whole, "usage")
    text = _content(message.get("content"))
    reason, detail = _ending(_get(first, "finish_reason"), message.get("refusal"), text)
    if text is not None and not _storable(text):
        text = text.encode("utf-8", "replace").decode()
        if reason is None:
            reason, detail = "invalid", "The answer holds half a surrogate pair."
    return Reply(text, reason, detail, _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _ending(finish: object, refusal: object, text: str | None) -> tuple[Reason | None, str]:
    if isinstance(refusal, str) and refusal.strip():
        return "refused", f"The model declined: {short(refusal)}"
    if finish == "content_filter":
        return "refused", "A filter in front of the model stopped the answer."
    if finish == "length":
        return "cut off", "The answer reached the largest number of tokens before it was finished."
    if finish in ("abort", "error"):
        return "server error", f"The server broke the answer off ({finish})."
    if text is None:
        return "empty", "The answer holds no text."
    return (None, "") if text.strip() else ("empty", "The answer holds nothing but blanks.")


def _content(value: object) -> str | None:
    """A message's text; some servers send it in parts."""
    if isinstance(value, list):
        parts = [_get(part, "text") for part in value if _get(part, "type") in ("text", "output_text")]
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) if texts else None
    return value if isinstance(value, str) else None


def _storable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _count(usage: object, name: str) -> int | None:
    value = _get(usage, name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def reason_of(status: int, message: str) -> Reason:
    """Why a request failed, from the status and what the server said."""
    if status in (400, 413, 422):
        if status == 413 or _TOO_LONG.search(message):
            return "too long"
        if _ACCOUNT.search(message):
            return "not allowed"
        return "refused" if _FILTERED.search(message) else "rejected"
    # Nothing of these is the request's fault: it is not kept, and asked again once the address,
    # the model or the account is mended.
    if status in (401, 402, 403, 407):
        return "not allowed"
    if status in (404, 405) or 300 <= status < 400:
        return "unreachable"
    if status == 408:
        return "timeout"
    if status in (409, 425, 429):
        return "busy"
    return "server error" if status >= 500 else "rejected"


def refused_parameter(status: int, data: bytes, sent: Mapping[str, object]) -> str | None:
    """The part of a request that an error is about and that can be left out; None: there is none."""
    message = message_of(data)
    if status not in (400, 422, 501) or reason_of(status, message) == "too long":
        return None
    named = (_param_of(data) or "").split(".")[0]
    if named in _PARAMETERS and named in sent:
        return named
    return next((name for name, words in _PARAMETERS.items() if name in sent and words.search(message)), None)


def message_of(data: bytes) -> str:
    """What a server said in the body of an error: one line, or nothing."""
    try:
        whole: object = json.loads(data)
    except (ValueError, RecursionError):
        return "" if data.lstrip()[:1] == b"<" else short(data.decode("utf-8", "replace"), LONGEST_QUOTE * 20)
    inner = _get(whole, "error", whole)
    if not isinstance(inner, str):
        inner = _get(inner, "message") or _get(inner, "detail") or _get(whole, "message") or ""
    said = inner if isinstance(inner, str) else json.dumps(inner)
    # Long enough still for a key to be found in it; whoever shows it shortens it.
    return short(said, LONGEST_QUOTE * 20)


def _param_of(data: bytes) -> str | None:
    """The parameter that an error is about, where the server says."""
    try:
        param = _get(_get(json.loads(data), "error"), "param")
    except (ValueError, RecursionError):
        return None
    return param if isinstance(param, str) else None


def models_of(data: bytes) -> list[str] | None:
    """The names in a list of models; None: it is no such list. Raises ValueError where it is no JSON."""
    try:
        whole: object = json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    listed = whole if isinstance(whole, list) else _get(whole, "data")
    if not isinstance(listed, list):
        return None
    names = [_get(entry, "id") for entry in listed]
    return [name for name in names if isinstance(name, str)]


def short(text: str, most: int = LONGEST_QUOTE) -> str:
    """Fit for a sentence: printable, on one line, not long."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _beginning(data: bytes) -> str:
    return repr(short(data[:200].decode("utf-8", "replace"), 40)) if data.strip() else "with nothing"


def _get(value: object, name: str, missing: object = None) -> object:
    """A field of a JSON object; `missing` where it is no object or has no such field."""
    if not isinstance(value, dict):
        return missing
    return cast(dict[str, object], value).get(name, missing)
