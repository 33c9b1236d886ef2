"""Requests, replies, and the protocols of backends and caches."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from core.llm.call_settings import AS_USUAL, CallSettings

Role = Literal["system", "user", "assistant"]

Reason = Literal[
    "cut off",  # the model reached max_tokens
    "refused",  # the model, or a filter in front of it, declined
    "empty",  # only white space came back
    "invalid",  # not as requested: no JSON, another schema, a forbidden edit
    "too long",  # the prompt does not fit the model
    "rejected",  # the server rejected the request itself
    "not allowed",  # the server refused the key
    "timeout",
    "unreachable",
    "server error",
    "busy",  # too many requests
    "waiting",  # collected, to be asked together with others in the next round
]
"""Why there is no usable answer."""
REASONS: tuple[Reason, ...] = get_args(Reason)
TRANSPORT: frozenset[Reason] = frozenset(
    {"not allowed", "timeout", "unreachable", "server error", "busy", "waiting"}
)
"""Reasons unrelated to the request: never cached, and another run may succeed."""
NOT_KEPT: frozenset[Reason] = TRANSPORT | {"rejected", "too long"}
"""Reasons that depend on the server's state and settings, which are not part of the key; such requests are repeated."""

MOST_IN_A_ROW = 20
"""Consecutive failures in TRANSPORT after which a model is given up, for now."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True)
class Request:
    """One request to a model. All fields except `step` determine the answer."""

    step: str
    """Purpose of the request, such as `rank`, by which calls, tokens and failures are counted."""
    messages: tuple[Message, ...]
    max_tokens: int = 400
    """Limit of the answer without thinking, see CallSettings."""
    temperature: float | None = 0.0
    """None: the server's default."""
    seed: int | None = None
    schema: Mapping[str, object] | None = None
    """JSON Schema of the answer; None: free text."""
    how: CallSettings = AS_USUAL
    """The user's settings for every call. Its temperature and limit are already applied above."""


@dataclass(frozen=True)
class Reply:
    """The reply to one request."""

    text: str | None
    """The model's text without thinking; partial if there is a reason."""
    reason: Reason | None = None
    """None: the model finished its answer."""
    detail: str = ""
    """One sentence about the reason. Never contains a key."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    """As counted by the backend; None: not counted."""
    seconds: float = 0.0
    thinking: str | None = None
    """The model's thinking before the answer, if the server returns it."""
    thinking_tokens: int | None = None
    """Tokens of thinking among `output_tokens`; None: unknown."""
    not_sent: tuple[str, ...] = ()
    """Names of body fields that were not sent because the server refuses them."""


@dataclass(frozen=True)
class Call:
    """One reply as an account records it."""

    key: str
    step: str
    reply: Reply
    cached: bool
    """Whether it was answered from the cache, at no cost."""
    request: Request


class Client(Protocol):
    """A model that answers requests. Failures of model or server are replies with a reason, never exceptions."""

    @property
    def backend(self) -> str:
        """`openai` or `vllm`."""

    @property
    def model(self) -> str:
        """The model as the user named it."""

    @property
    def identity(self) -> Mapping[str, object]:
        """Everything apart from the request that determines answers: address or weights, and settings; never the device."""

    @property
    def concurrency(self) -> int:
        """Useful number of simultaneous requests."""

    async def start(self) -> None:
        """Get ready. Raises InputError if it cannot work at all: no such model, no key, no server."""

    async def complete(self, request: Request) -> Reply:
        """Answer one request; many calls may run concurrently."""

    async def close(self) -> None:
        """Close connections and free memory."""


class Cache(Protocol):
    """Storage of replies and their cost. The store implements it; runs connect the two."""

    def find(self, key: str) -> Reply | None:
        """The reply stored under this key; None: there is none."""

    def record(self, call: Call) -> None:
        """Record a call, and store its reply unless it was cached or its reason is in NOT_KEPT.

        The record is on disk when this returns.
        """

    def reject(self, key: str, step: str, why: str) -> None:
        """Record that the last reply under this key was unusable, with one sentence about the reason."""

    def of(self, text: int) -> "Cache":
        """The same cache for one of an item's texts, whose number is recorded with the calls."""


class NoCache:
    """A cache that stores nothing, for tests and single requests."""

    def find(self, key: str) -> Reply | None:
        """Return None."""
        return None

    def record(self, call: Call) -> None:
        """Do nothing."""

    def reject(self, key: str, step: str, why: str) -> None:
        """Do nothing."""

    def of(self, text: int) -> "NoCache":
        """Return the same cache."""
        return self


def asked_as_json(request: Request) -> dict[str, object]:
    """The request as JSON values: everything that determines the answer apart from the model."""
    return {
        "messages": [[message.role, message.content] for message in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "schema": request.schema,
        # Unset values are left out, so that replies from versions without these settings are still found.
        **request.how.in_request,
    }


def request_key(client: Client, request: Request) -> str:
    """SHA-256 of everything that determines the answer, in a canonical form."""
    who = {"backend": client.backend, "model": client.model, "identity": client.identity}
    whole = {**who, **asked_as_json(request)}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
