"""What servers of the chat API send back, understood: completions, errors, lists of models.

Nothing is taken for granted: servers that call themselves compatible leave fields out, send them as null
or with another type, or answer with a page for people.
"""

import json
import re
from collections.abc import Mapping
from typing import cast

from core.llm import thinking
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
_NO_CREDIT = re.compile(r"insufficient_quota|billing|insufficient_(funds|balance|credits?)|credit_balance")
"""Of a 429's code or type: the account's fault, where others are a limit that passes."""
_CUT_OFF = re.compile(r"max_tokens or model output limit was reached", re.IGNORECASE)
"""How a reasoning model's server says that thinking took all of a small limit."""
_THOUGHT = ("thinking", "reasoning")
"""Types of a message's parts that are no answer."""


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
    text, thought = _apart(message)
    reason, detail = _ending(_get(first, "finish_reason"), message.get("refusal"), text)
    if text is not None and not _storable(text):
        text = text.encode("utf-8", "replace").decode()
        if reason is None:
            reason, detail = "invalid", "The answer holds half a surrogate pair."
    return Reply(
        text,
        reason,
        detail,
        _count(usage, "prompt_tokens"),
        _count(usage, "completion_tokens"),
        thinking=thought.encode("utf-8", "replace").decode() or None,
        thinking_tokens=_count(_get(usage, "completion_tokens_details"), "reasoning_tokens"),
    )


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


def _apart(message: Mapping[str, object]) -> tuple[str | None, str]:
    """A message's answer, None where it has none, and what the model thought before, wherever the server puts it."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [_get(part, "text") for part in parts if _get(part, "type") in ("text", "output_text")]
    said = [text for text in texts if isinstance(text, str)]
    thoughts = [_words_in(part) for part in parts if _get(part, "type") in _THOUGHT]
    thoughts += [_words_in(message.get("reasoning_content")) or _words_in(message.get("reasoning"))]
    text, aloud = thinking.apart("".join(said))
    thought = "\n\n".join(one for part in [*thoughts, aloud] if (one := part.strip()))
    return (text.lstrip() if aloud else text) if said else None, thought


def _words_in(part: object) -> str:
    """What a part of a message holds, in whatever field and however nested."""
    if isinstance(part, list):
        return "".join(map(_words_in, part))
    if isinstance(part, dict):
        return "".join(_words_in(part.get(name)) for name in ("text", *_THOUGHT))
    return part if isinstance(part, str) else ""


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
        if _CUT_OFF.search(message):
            return "cut off"
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


def message_of(data: bytes) -> str:
    """What a server said in the body of an error: one line, or nothing."""
    try:
        whole: object = json.loads(data)
    except (ValueError, RecursionError):
        return "" if data.lstrip()[:1] == b"<" else short(data.decode("utf-8", "replace"), LONGEST_QUOTE * 20)
    inner = _error_in(whole)
    if not isinstance(inner, str):
        inner = _get(inner, "message") or _get(inner, "detail") or _get(whole, "message") or ""
    said = inner if isinstance(inner, str) else json.dumps(inner)
    # Long enough still for a key to be found in it; whoever shows it shortens it.
    return short(said, LONGEST_QUOTE * 20)


def has_no_credit(data: bytes) -> bool:
    """Whether a 429 says that the account is spent: waiting does not help."""
    try:
        inner = _error_in(json.loads(data))
    except (ValueError, RecursionError):
        return False
    return any(_NO_CREDIT.search(str(_get(inner, name))) for name in ("code", "type"))


def _error_in(whole: object) -> object:
    """What a body says of an error: some servers put it into a list."""
    whole = whole[0] if isinstance(whole, list) and whole else whole
    return _get(whole, "error", whole)


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
