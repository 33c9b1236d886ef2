"""A request as the chat API's JSON, and which parts of it a server turns out to refuse.

Parts are named by the body's fields. Of `response_format`, weaker forms come before none: without keywords of the schema
that the server names, such as `response_format.maxLength`, without `response_format.strict`, and without
`response_format.json_schema`, which leaves JSON of any shape.
"""

import json
import re
from collections.abc import Iterator, Mapping

from core.llm.client import Request
from core.llm.openai.replies import message_of, reason_of

_FORM = "response_format."
_STRICT, _SCHEMA = f"{_FORM}strict", f"{_FORM}json_schema"
_FORM_WORDS = re.compile(
    r"response_(format|schema)|json_schema|json_object|structured[ _]outputs?|guided[ _]|grammar|\bschema\b",
    re.IGNORECASE,
)
_NEEDED = frozenset({"type", "properties", "items", "required", "enum", "title", "description"})
"""Keywords of a schema without which it would say nothing."""
_UNKNOWN = re.compile(
    r"not (supported|permitted|allowed|recogni[sz]ed)|un(supported|known|recogni[sz]ed|expected)|extra (input|field)",
    re.IGNORECASE,
)
_OF_LIMITS = re.compile(r"too (large|high|big|many)|at most|less than|exceed|maximum", re.IGNORECASE)
_PLAIN = ("temperature", "seed")
"""Fields that a message may name as a plain word; others need quotation marks, or an underscore in them."""
_WORDS = {
    "response_format": _FORM_WORDS,
    "stop": re.compile(r"['\"`]stop['\"`]|\bstop[ _-](sequences?|words?|strings?)\b", re.IGNORECASE),
    "reasoning_effort": re.compile(r"\breasoning[ _.]effort\b", re.IGNORECASE),
    "chat_template_kwargs": re.compile(r"\bchat_template"),
}


def body_of(model: str, request: Request, limit: int, left_out: frozenset[str]) -> dict[str, object]:
    """The request as JSON, without the parts named. limit: tokens of thinking and answer."""
    how = request.how
    fields = {
        "temperature": request.temperature,
        "top_p": how.top_p,
        # The newer name is understood by the servers that refuse the older one, and by few others.
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
    """Which parts of this request go without, because of those named."""
    whole, sent = body_of("", request, 1, frozenset()), body_of("", request, 1, left_out)
    gone = whole.keys() - sent.keys()
    if "max_completion_tokens" in sent:
        gone -= {"max_tokens"}  # it is sent under another name
    if sent.get("response_format", whole.get("response_format")) != whole.get("response_format"):
        known = {_STRICT, *(_FORM + name for name in _keywords(request.schema))}
        gone |= {_SCHEMA} if _SCHEMA in left_out else left_out & known
    return tuple(sorted(gone))


def refused_parts(status: int, data: bytes, body: Mapping[str, object]) -> frozenset[str]:
    """Parts of a body that an error is about, and that it can go without; none where the error is about something else."""
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
        named -= limits  # the name is known: it is the number that is wrong
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
    told = {"name": name, "strict": True, "schema": _without(dict(request.schema), missing)}
    if _STRICT in left_out:
        del told["strict"]
    return {"type": "json_schema", "json_schema": told}


def _weaker(form: Mapping[str, object], message: str) -> str:
    """What to leave out of a refused response_format first."""
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
    """Where a message names a field; None: nowhere."""
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
    """Where a message names a keyword of a schema; -1: nowhere. One that is an English word needs quotation marks."""
    pattern = rf"['\"`‘“]{name}['\"`’”]" if name.islower() else rf"(?<!\w){name}(?!\w)"
    found = re.search(pattern, message)
    return -1 if found is None else found.start()


def _without(schema: object, missing: set[str]) -> object:
    """The schema without these keywords, at any depth; names of properties are no keywords."""
    if isinstance(schema, list | tuple):
        return [_without(one, missing) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        keyword: {name: _without(one, missing) for name, one in inner.items()}
        if keyword == "properties" and isinstance(inner, Mapping)
        else _without(inner, missing)
        for keyword, inner in schema.items()
        if keyword not in missing
    }


def _keywords(schema: object) -> set[str]:
    """Keywords that a schema can go without."""
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
    """What an error is about, where it says so in fields of its own: `param`, or a `loc` for each mistake."""
    try:
        left: list[object] = [json.loads(data)]
    except (ValueError, RecursionError):
        return
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            left += [inner for name, inner in one.items() if name != "input"]  # the request itself, repeated
            if isinstance(param := one.get("param"), str):
                yield tuple(param.split("."))
            if isinstance(place := one.get("loc"), list):
                yield tuple(map(str, place))
