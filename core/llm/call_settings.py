"""Settings of model calls, shared by all kinds of run."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.schema.settings import Remark, Settings, fields_of, setting

LARGEST_LIMIT = 16_384
"""Default largest limit, in tokens of thinking and answer, for repeating a reply that was cut off."""
FROM_ENVIRONMENT = "env:"
"""Prefix of a header's value that is read from an environment variable."""
_SECRET = re.compile(r"(^|[_-])(token|api[_-]?key|key|password|secret|authorization|cookie)$", re.IGNORECASE)
_NO_SECRET = re.compile(
    r"(.+_)?(cache|extra|routing|idempotency)_key"
    r"|(.+_)?(bos|eos|pad|unk|cls|sep|mask|stop|start|begin|end|special|words?|image|audio|video|tool|think|thinking|max|min)_token",
    re.IGNORECASE,
)
"""Body fields and template arguments whose names look like secrets but are not, such as `prompt_cache_key`, `eos_token`.

Headers have no such exceptions: every key in a header is a secret.
"""
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_PARTS = frozenset(
    (
        *("model", "messages", "stream", "n", "response_format", "temperature", "top_p", "max_tokens"),
        *("seed", "stop", "max_completion_tokens", "reasoning_effort", "thinking_token_budget"),
        "chat_template_kwargs",
    )
)
"""Body fields that other settings or the kind of run determine."""


class CallSettings(Settings):
    """Settings of every model call. An unset field uses the step's value or the server's default.

    Seeds, and the temperature of judges, are settings of the kinds.
    """

    temperature: float | None = setting(
        None,
        "Temperature",
        "randomness of the answers; 0: the likeliest answer",
        words={"": "set by each step"},
        within=(0.0, 2.0),
        step=0.1,
    )
    top_p: float | None = setting(
        None,
        "Likeliest tokens (top_p)",
        "draw each token from the likeliest ones that together have this probability",
        words={"": "default of the server"},
        within=(0.0001, 1.0),
        step=0.05,
    )
    max_tokens: int | None = setting(
        None,
        "Longest answer",
        "maximum number of tokens in an answer, not counting thinking",
        words={"": "set by each step"},
        within=(1, 10**7),
        unit="tokens",
    )
    largest_limit: int = setting(
        LARGEST_LIMIT,
        "Largest limit for an answer that was cut off",
        "an answer that was cut off is requested again with a larger limit, up to this one, including thinking",
        within=(1, 10**7),
        unit="tokens",
    )
    reasoning_effort: str = setting(
        "",
        "Reasoning effort",
        "how much a reasoning model thinks, such as none, low, medium or high",
        words={"": "default of the model"},
    )
    reasoning_budget: int | None = setting(
        None,
        "Room for thinking",
        "maximum number of tokens for thinking before an answer; they are added to the answer's limit",
        words={"": "learned from the replies"},
        within=(0, 10**7),
        unit="tokens",
    )
    api_version: str = setting(
        "", "API version", "sent as api-version with every request, as Azure requires", metavar="DATE"
    )
    stop: tuple[str, ...] = setting((), "Stop at", "end an answer before this text")
    extra_body: dict[str, Any] = setting(
        {},
        "Further fields of a request",
        "additional field of the request's body that the server supports, such as repetition_penalty=1.1",
        metavar="NAME=VALUE",
    )
    chat_template: dict[str, Any] = setting(
        {},
        "Arguments of the chat template",
        "argument of the model's chat template, such as enable_thinking=false",
        metavar="NAME=VALUE",
    )
    headers: dict[str, str] = setting(
        {},
        "Headers",
        "header of every request; the value env:NAME is read from that environment variable",
        option="header",
        metavar="NAME=VALUE",
        scored=False,
    )

    @property
    def in_request(self) -> dict[str, object]:
        """The settings that reach the model in addition to the step's own, and so determine answers. Empty by default."""
        names = ("top_p", "reasoning_effort", "reasoning_budget", "stop", "extra_body", "chat_template")
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "", (), {})}

    @property
    def chosen(self) -> dict[str, object]:
        """The settings that change answers and are not defaults, for a signature."""
        return {
            name: value
            for name, one in fields_of(CallSettings).items()
            if one.about.scored and (value := getattr(self, name)) != one.default
        }

    def call_problems(self) -> Iterator[Remark]:
        """Problems with these settings, independent of the request."""
        for name in sorted(_PARTS & self.extra_body.keys()):
            yield Remark("extra_body", "{part} is set elsewhere; leave it out", {"part": name})
        for name, value in self.headers.items():
            if not _HEADER.fullmatch(name) or not value.isprintable():
                yield Remark("headers", "{header} is not a valid header name", {"header": repr(name)})
            elif _SECRET.search(name) and not value.startswith(FROM_ENVIRONMENT):
                text = "{header} is a secret; put it in an environment variable and use {header}=env:NAME"
                yield Remark("headers", text, {"header": name})


AS_USUAL = CallSettings()


def secret_names(value: object) -> Iterator[str]:
    """Names of secrets in a setting's value, at any depth. Settings are stored with the run, so they must not contain secrets."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if _SECRET.search(str(name)) and not _NO_SECRET.fullmatch(str(name)):
                yield str(name)
            yield from secret_names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from secret_names(inner)
