"""How a model is asked, whatever it is asked for: one group of settings for every call of every kind of run."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.schema.settings import Remark, Settings, fields_of, setting

LARGEST_LIMIT = 16_384
"""Tokens of thinking and answer up to which a cut-off reply is asked for again, unless a user says otherwise."""
FROM_ENVIRONMENT = "env:"
"""Begins a header's value that stands in an environment variable."""
_SECRET = re.compile(r"(^|[_-])(token|api[_-]?key|key|password|secret|authorization|cookie)$", re.IGNORECASE)
_NO_SECRET = re.compile(
    r"(.+_)?(cache|extra|routing|idempotency)_key"
    r"|(.+_)?(bos|eos|pad|unk|cls|sep|mask|stop|start|begin|end|special|words?|image|audio|video|tool|think|thinking|max|min)_token",
    re.IGNORECASE,
)
"""Fields of a body or arguments of a template that end like a secret and are none, such as `prompt_cache_key`, `eos_token`.

Headers have no such names: there every key is a secret.
"""
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_PARTS = frozenset(
    (
        *("model", "messages", "stream", "n", "response_format", "temperature", "top_p", "max_tokens"),
        *("seed", "stop", "max_completion_tokens", "reasoning_effort", "thinking_token_budget"),
        "chat_template_kwargs",
    )
)
"""Of a request's body, what other settings or the kind of run decide."""


class CallSettings(Settings):
    """Every field is optional: what is not chosen is what a step needs, or what the server does by itself.

    Seeds are the kinds' own settings, and so is the temperature of judges.
    """

    temperature: float | None = setting(
        None,
        "Temperature",
        "how freely the model answers, 0 its likeliest answer",
        words={"": "each step's own"},
        within=(0.0, 2.0),
        step=0.1,
    )
    top_p: float | None = setting(
        None,
        "Likeliest tokens (top_p)",
        "draw each token from the likeliest ones that have this probability together",
        words={"": "the server's own"},
        within=(0.0001, 1.0),
        step=0.05,
    )
    max_tokens: int | None = setting(
        None,
        "Longest answer",
        "most tokens of an answer, thinking not counted",
        words={"": "each step's own"},
        within=(1, 10**7),
        unit="tokens",
    )
    largest_limit: int = setting(
        LARGEST_LIMIT,
        "Largest limit for an answer that was cut off",
        "an answer that was cut off is asked for again with a larger limit, up to this, thinking counted",
        within=(1, 10**7),
        unit="tokens",
    )
    reasoning_effort: str = setting(
        "",
        "Reasoning effort",
        "how much a reasoning model thinks, such as none, low, medium or high",
        words={"": "the model's own"},
    )
    reasoning_budget: int | None = setting(
        None,
        "Room for thinking",
        "most tokens of thinking before an answer; an answer's limit is raised by them",
        words={"": "learned from the replies"},
        within=(0, 10**7),
        unit="tokens",
    )
    api_version: str = setting(
        "", "API version", "sent as api-version with every request, as Azure wants it", metavar="DATE"
    )
    stop: tuple[str, ...] = setting((), "Stop at", "end an answer before this text")
    extra_body: dict[str, Any] = setting(
        {},
        "Further fields of a request",
        "a field of the request's body that the server knows, such as repetition_penalty=1.1",
        metavar="NAME=VALUE",
    )
    chat_template: dict[str, Any] = setting(
        {},
        "Arguments of the chat template",
        "an argument of the model's chat template, such as enable_thinking=false",
        metavar="NAME=VALUE",
    )
    headers: dict[str, str] = setting(
        {},
        "Headers",
        "a header of every request; env:NAME as its value sends what stands in that environment variable",
        option="header",
        metavar="NAME=VALUE",
        scored=False,
    )

    @property
    def in_request(self) -> dict[str, object]:
        """What of it, beside a step's own settings, reaches the model: it determines the answer. Nothing by default."""
        names = ("top_p", "reasoning_effort", "reasoning_budget", "stop", "extra_body", "chat_template")
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "", (), {})}

    @property
    def chosen(self) -> dict[str, object]:
        """What of it changes answers and is not as usual: for a signature."""
        return {
            name: value
            for name, one in fields_of(CallSettings).items()
            if one.about.scored and (value := getattr(self, name)) != one.default
        }

    def call_problems(self) -> Iterator[Remark]:
        """What is wrong with it, whatever is asked."""
        for name in sorted(_PARTS & self.extra_body.keys()):
            yield Remark("extra_body", "{part} is set elsewhere; leave it out", {"part": name})
        for name, value in self.headers.items():
            if not _HEADER.fullmatch(name) or not value.isprintable():
                yield Remark("headers", "{header} is no header", {"header": repr(name)})
            elif _SECRET.search(name) and not value.startswith(FROM_ENVIRONMENT):
                text = "{header} is a secret; set an environment variable to it and give {header}=env:NAME"
                yield Remark("headers", text, {"header": name})


AS_USUAL = CallSettings()


def secret_names(value: object) -> Iterator[str]:
    """Names of secrets in a setting's value, at any depth: settings are kept with the run, so no secret may be in them."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if _SECRET.search(str(name)) and not _NO_SECRET.fullmatch(str(name)):
                yield str(name)
            yield from secret_names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from secret_names(inner)
