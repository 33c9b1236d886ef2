"""The chat API's JSON: a request's body, the parts that a server refuses, and the server's replies.

"Compatible" servers may omit fields, send null or another type, or answer with an HTML page, so everything is checked.
Parts of a request are named by the body's fields. `response_format` is weakened step by step before it is dropped:
without the schema keywords that the server objects to, such as `response_format.maxLength`; without
`response_format.strict`; without `response_format.json_schema`, which leaves JSON of any shape.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import cast

from core.llm import thinking
from core.llm.client import Reason, Reply, Request

ANSWERED = "The server answered {}"
"""Beginning of the detail of an error status."""
BATCH_URL = "/v1/chat/completions"
"""Address, at the server, of the requests in a batch."""
MOST_BYTES = 16_000_000
"""Largest answer body, unpacked, in bytes; more than any model writes."""
LONGEST_QUOTE = 300
"""Characters of a server's message that a detail quotes."""

_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|maximum (model|context|prompt|input|sequence) length"
    r"|max_model_len|(prompt|input|request|messages?) (is|are) too (long|large)|too many (input )?tokens",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content[ _-]?(filter|policy|management)|\bmoderation\b", re.IGNORECASE)
_ACCOUNT = re.compile(
    r"\b(credits?|billing|quota|balance|subscription|payment)\b|api[ _-]?key", re.IGNORECASE
)
"""Words in a 400 error about the account instead of the request."""
_NO_CREDIT = re.compile(r"insufficient_quota|billing|insufficient_(funds|balance|credits?)|credit_balance")
"""Code or type of a 429 error about the account; others are temporary limits."""
_CUT_OFF = re.compile(r"max_tokens or model output limit was reached", re.IGNORECASE)
"""Message of a reasoning model's server when thinking used up a small limit."""
_THOUGHT = ("thinking", "reasoning")
"""Types of message parts that are not answers."""


def read_completion(data: bytes) -> Reply:
    """The reply in the body of a successful response."""
    try:
        whole: object = json.loads(data)
    except (ValueError, RecursionError):
        return Reply(None, "server error", f"The server's answer is not JSON; it begins {_beginning(data)}.")
    return completion_in(whole)


def completion_in(whole: object) -> Reply:
    """The reply in a successful response that is already parsed."""
    choices = _get(whole, "choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = _get(first, "message")
    if not isinstance(message, dict):
        said = _message_in(whole)
        return Reply(
            None, "server error", "The server's answer has no choices" + (f": {said}" if said else ".")
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
        return "server error", f"The server stopped the answer early ({finish})."
    if text is None:
        return "empty", "The answer holds no text."
    return (None, "") if text.strip() else ("empty", "The answer holds nothing but blanks.")


def _apart(message: Mapping[str, object]) -> tuple[str | None, str]:
    """A message's answer (None: none) and the model's thinking, wherever the server puts it."""
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
    """The text of a part of a message, in any field and at any depth."""
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


def read_failure(status: int, data: bytes, hide: Callable[[str], str] = lambda text: text) -> Reply:
    """The failure in the body of a response with an error status. hide: removes secrets from the server's message."""
    said = message_of(data)
    spent = status == 429 and has_no_credit(data)
    reason: Reason = "not allowed" if spent else reason_of(status, said)
    said = short(hide(said))
    return Reply(None, reason, short(ANSWERED.format(status) + (f": {said}" if said else "")))


def reason_of(status: int, message: str) -> Reason:
    """The reason for a failed request, from the status and the server's message."""
    if status in (400, 413, 422):
        if status == 413 or _TOO_LONG.search(message):
            return "too long"
        if _CUT_OFF.search(message):
            return "cut off"
        if _ACCOUNT.search(message):
            return "not allowed"
        return "refused" if _FILTERED.search(message) else "rejected"
    # The request is not at fault: the reply is not stored, and the request is repeated once the
    # address, the model or the account is corrected.
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
    """The message in the body of an error, on one line; may be empty."""
    try:
        whole: object = json.loads(data)
    except (ValueError, RecursionError):
        return "" if data.lstrip()[:1] == b"<" else short(data.decode("utf-8", "replace"), LONGEST_QUOTE * 20)
    return _message_in(whole)


def _message_in(whole: object) -> str:
    inner = _error_in(whole)
    if not isinstance(inner, str):
        inner = _get(inner, "message") or _get(inner, "detail") or _get(whole, "message") or ""
    said = inner if isinstance(inner, str) else json.dumps(inner)
    # Long enough to find a key in it; callers shorten it for display.
    return short(said, LONGEST_QUOTE * 20)


def has_no_credit(data: bytes) -> bool:
    """Whether a 429 error means that the account has no credit, so that waiting does not help."""
    try:
        inner = _error_in(json.loads(data))
    except (ValueError, RecursionError):
        return False
    return any(_NO_CREDIT.search(str(_get(inner, name))) for name in ("code", "type"))


def _error_in(whole: object) -> object:
    """The error in a body; some servers wrap it in a list."""
    whole = whole[0] if isinstance(whole, list) and whole else whole
    return _get(whole, "error", whole)


def models_of(data: bytes) -> list[str] | None:
    """The names in a list of models; None: not such a list. Raises ValueError if it is not JSON."""
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
    """The text for use in a sentence: printable, on one line, shortened."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _beginning(data: bytes) -> str:
    return repr(short(data[:200].decode("utf-8", "replace"), 40)) if data.strip() else "with nothing"


def _get(value: object, name: str, missing: object = None) -> object:
    """A field of a JSON object; `missing` if there is no object or no such field."""
    if not isinstance(value, dict):
        return missing
    return cast(dict[str, object], value).get(name, missing)


_FORM = "response_format."
_STRICT, _SCHEMA = f"{_FORM}strict", f"{_FORM}json_schema"
_FORM_WORDS = re.compile(
    r"response_(format|schema)|json_schema|json_object|structured[ _]outputs?|guided[ _]|grammar|\bschema\b",
    re.IGNORECASE,
)
_NEEDED = frozenset({"type", "properties", "items", "required", "enum", "title", "description"})
"""Essential keywords of a schema."""
_UNKNOWN = re.compile(
    r"not (supported|permitted|allowed|recogni[sz]ed)|un(supported|known|recogni[sz]ed|expected)|extra (input|field)",
    re.IGNORECASE,
)
_OF_LIMITS = re.compile(r"too (large|high|big|many)|at most|less than|exceed|maximum", re.IGNORECASE)
_PLAIN = ("temperature", "seed")
"""Fields that a message may name as a plain word; others must be quoted or contain an underscore."""
_WORDS = {
    "response_format": _FORM_WORDS,
    "stop": re.compile(r"['\"`]stop['\"`]|\bstop[ _-](sequences?|words?|strings?)\b", re.IGNORECASE),
    "reasoning_effort": re.compile(r"\breasoning[ _.]effort\b", re.IGNORECASE),
    "chat_template_kwargs": re.compile(r"\bchat_template"),
}


def body_of(model: str, request: Request, limit: int, left_out: frozenset[str]) -> dict[str, object]:
    """The request as JSON, without the parts in `left_out`. limit: tokens of thinking and answer."""
    how = request.how
    fields = {
        "temperature": request.temperature,
        "top_p": how.top_p,
        # Servers that refuse the older name understand the newer one, but few others do.
        "max_completion_tokens" if "max_tokens" in left_out else "max_tokens": limit,
        "seed": request.seed,
        "stop": list(how.stop) or None,
        "reasoning_effort": how.reasoning_effort or None,
        "thinking_token_budget": how.reasoning_budget,
        "chat_template_kwargs": how.chat_template or None,
        "response_format": _form(request, left_out),
        **how.extra_body,
    }
    sent = {name: value for name, value in fields.items() if value is not None and name not in left_out}
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    return {"model": model, "messages": messages, **sent}


def parts_missing(request: Request, left_out: frozenset[str]) -> tuple[str, ...]:
    """The parts of this request that are not sent because of `left_out`."""
    whole, sent = body_of("", request, 1, frozenset()), body_of("", request, 1, left_out)
    gone = whole.keys() - sent.keys()
    if "max_completion_tokens" in sent:
        gone -= {"max_tokens"}  # sent under another name
    if sent.get("response_format", whole.get("response_format")) != whole.get("response_format"):
        known = {_STRICT, *(_FORM + name for name in _keywords(request.schema))}
        gone |= {_SCHEMA} if _SCHEMA in left_out else left_out & known
    return tuple(sorted(gone))


def refused_parts(status: int, data: bytes, body: Mapping[str, object]) -> frozenset[str]:
    """Optional parts of a body that an error refers to; empty if the error concerns something else."""
    message = message_of(data)
    if status not in (400, 422, 501) or reason_of(status, message) in ("too long", "cut off"):
        return frozenset()
    fields = body.keys() - {"model", "messages"}
    named = {name for path in _paths(data) for name in fields & set(path)}
    if not named:
        places = {name: _place(name, body[name], message) for name in fields}
        found = [(at, name) for name, at in places.items() if at is not None]
        named = {min(found)[1]} if found else set()
    limits = {"max_tokens", "max_completion_tokens"}
    if _OF_LIMITS.search(message) and not _UNKNOWN.search(message):
        named -= limits  # the server knows the field; the number is wrong
    form = body.get("response_format")
    if "response_format" in named and isinstance(form, dict):
        named = named - {"response_format"} | {_weaker(form, message)}
    return frozenset(named)


def _form(request: Request, left_out: frozenset[str]) -> dict[str, object] | None:
    if request.schema is None:
        return None
    if _SCHEMA in left_out:
        return {"type": "json_object"}
    missing = {name.removeprefix(_FORM) for name in left_out if name.startswith(_FORM)}
    name = re.sub(r"[^A-Za-z0-9_-]", "_", request.step)[:64] or "answer"
    told = {"name": name, "strict": True, "schema": _drop_keywords(dict(request.schema), missing)}
    if _STRICT in left_out:
        del told["strict"]
    return {"type": "json_schema", "json_schema": told}


def _weaker(form: Mapping[str, object], message: str) -> str:
    """The next part to leave out of a refused response_format."""
    told = form.get("json_schema")
    if not isinstance(told, dict):
        return "response_format"
    named = [(at, name) for name in _keywords(told["schema"]) if (at := _keyword_place(name, message)) >= 0]
    if named:
        return _FORM + min(named)[1]
    if "strict" in told and re.search(r"\bstrict\b", message):
        return _STRICT
    if re.search(r"unknown name|extra (input|field)", message, re.IGNORECASE):
        return "response_format"
    if re.search(r"json_schema|response_format[ .]type", message) or _UNKNOWN.search(message):
        return _SCHEMA
    return _STRICT if "strict" in told else _SCHEMA


def _place(name: str, value: object, message: str) -> int | None:
    """Position at which a message names a field; None: nowhere."""
    if name in _WORDS:
        found = _WORDS[name].search(message)
    elif "_" in name or name in _PLAIN:
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message)
    else:
        found = re.search(rf"['\"`‘“]{re.escape(name)}['\"`’”]|: {re.escape(name)}\.?$", message)
    if found is None and name == "response_format" and isinstance(value, dict):
        told = value.get("json_schema")
        places = [_keyword_place(one, message) for one in _keywords(told["schema"])] if told else []
        return min((at for at in places if at >= 0), default=None)
    return None if found is None else found.start()


def _keyword_place(name: str, message: str) -> int:
    """Position at which a message names a schema keyword; -1: nowhere. Keywords that are English words must be quoted."""
    pattern = rf"['\"`‘“]{name}['\"`’”]" if name.islower() else rf"(?<!\w){name}(?!\w)"
    found = re.search(pattern, message)
    return -1 if found is None else found.start()


def _drop_keywords(schema: object, missing: set[str]) -> object:
    """The schema without these keywords, at any depth; names of properties are kept."""
    if isinstance(schema, list | tuple):
        return [_drop_keywords(one, missing) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        keyword: {name: _drop_keywords(one, missing) for name, one in inner.items()}
        if keyword == "properties" and isinstance(inner, Mapping)
        else _drop_keywords(inner, missing)
        for keyword, inner in schema.items()
        if keyword not in missing
    }


def _keywords(schema: object) -> set[str]:
    """Optional keywords of a schema."""
    if isinstance(schema, list | tuple):
        return set().union(*map(_keywords, schema))
    if not isinstance(schema, Mapping):
        return set()
    found = schema.keys() - _NEEDED
    for keyword, inner in schema.items():
        whole = keyword == "properties" and isinstance(inner, Mapping)
        found |= _keywords(list(inner.values()) if whole else inner)
    return found


def _paths(data: bytes) -> Iterator[tuple[str, ...]]:
    """The fields that an error names explicitly, in `param` or in a `loc` for each problem."""
    try:
        left: list[object] = [json.loads(data)]
    except (ValueError, RecursionError):
        return
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            left += [
                inner for name, inner in one.items() if name != "input"
            ]  # `input` repeats the request itself
            if isinstance(param := one.get("param"), str):
                yield tuple(param.split("."))
            if isinstance(place := one.get("loc"), list):
                yield tuple(map(str, place))
