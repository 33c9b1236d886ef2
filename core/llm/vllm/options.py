"""Engine options by the names that vLLM's documentation gives them, checked before any weights are read."""

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from core.nearest import nearest_names

FOR_TEMPLATE = "chat_template_kwargs"
"""The one option that is no argument of vllm.LLM but of its chat: it goes with every request."""
_PLAIN = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
}
MOST_WORDS = 12
"""Words of a choice that a message lists."""


def problems(options: Mapping[str, Any], release: str | None) -> Iterator[str]:
    """What is wrong with names and types. Values of a type that vLLM makes up itself are left to vLLM."""
    known = _known()
    for name, value in options.items():
        if name == "model":
            yield "engine option model: the model has a setting of its own; name it there"
        elif name == FOR_TEMPLATE:
            if not isinstance(value, Mapping):
                yield f"engine option {name}: {value!r} is not an object"
        elif name not in known:
            near = nearest_names(name, known)
            meant = f"; is it {' or '.join(near)}?" if near else ""
            yield f"engine option {name}: vLLM {release} has none of that name{meant}"
        elif not any(_fits(value, hint) for hint in known[name]):
            wanted = " or ".join(dict.fromkeys(word for hint in known[name] for word in _words(hint)))
            yield f"engine option {name}: {value!r} is not {wanted}"


def _known() -> dict[str, list[Any]]:
    """Name -> the types that vllm.LLM and vLLM's EngineArgs declare for it; either may take it."""
    found: dict[str, list[Any]] = {
        field.name: [field.type]
        for field in dataclasses.fields(import_module("vllm.engine.arg_utils").EngineArgs)
        if not field.name.startswith("_")
    }
    for name, parameter in inspect.signature(import_module("vllm").LLM.__init__).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            found.setdefault(name, []).append(parameter.annotation)
    return found


def _fits(value: object, hint: Any) -> bool:
    """Whether a value is of a type; true where the type is none of JSON's."""
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in typing.get_args(hint))
    if origin is typing.Literal:
        return value in typing.get_args(hint)
    if origin is types.NoneType:
        return value is None
    if origin is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if origin in _PLAIN:
        return isinstance(value, origin) and isinstance(value, bool) == (origin is bool)
    return True


def _words(hint: Any) -> Iterator[str]:
    """A type in words, an alternative each."""
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        for one in typing.get_args(hint):
            yield from _words(one)
    elif origin is typing.Literal:
        words = [str(word) for word in typing.get_args(hint)]
        more = ["..."] if len(words) > MOST_WORDS else []
        yield f"one of {', '.join(words[:MOST_WORDS] + more)}"
    elif origin in _PLAIN:
        yield _PLAIN[origin]
