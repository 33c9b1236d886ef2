"""What a model is asked, what came back, and the protocols that a backend and a cache keep."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

Role = Literal["system", "user", "assistant"]

Reason = Literal[
    "cut off",  # the model reached max_tokens
    "refused",  # the model or a filter in front of it declined
    "empty",  # nothing but blanks came back
    "invalid",  # not what was asked for: no JSON, another schema, an edit where none was allowed
    "too long",  # the prompt does not fit the model
    "rejected",  # the server says that the request itself is wrong
    "not allowed",  # the key was refused
    "timeout",
    "unreachable",
    "server error",
    "busy",  # too many requests
]
"""Why there is no usable answer."""
REASONS: tuple[Reason, ...] = get_args(Reason)
TRANSPORT: frozenset[Reason] = frozenset({"not allowed", "timeout", "unreachable", "server error", "busy"})
"""Reasons that say nothing about the request: never cached, and worth another run."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True)
class Request:
    """One question to a model. All fields but `step` determine the answer."""

    step: str
    """What it is for, such as `rank`: calls, tokens and failures are counted by it."""
    messages: tuple[Message, ...]
    max_tokens: int = 400
    temperature: float = 0.0
    seed: int | None = None
    schema: Mapping[str, object] | None = None
    """JSON Schema the answer has to keep; None: free text."""


@dataclass(frozen=True)
class Reply:
    """What came back for one request."""

    text: str | None
    """What the model wrote; with a reason, as far as it came."""
    reason: Reason | None = None
    """None: the model finished."""
    detail: str = ""
    """One sentence about the reason. Never holds a key."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    """As the backend counts; None where it does not say."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Call:
    """One reply as an account keeps it."""

    key: str
    step: str
    reply: Reply
    cached: bool
    """Answered from the cache: it cost nothing now."""


class Client(Protocol):
    """A model that answers. Failures of model or server are replies with a reason, never exceptions."""

    @property
    def backend(self) -> str:
        """`openai` or `vllm`."""

    @property
    def model(self) -> str:
        """As the user named it."""

    @property
    def identity(self) -> Mapping[str, object]:
        """What determines answers besides the request: address or weights, and settings; never the device."""

    @property
    def concurrency(self) -> int:
        """How many requests it is worth having open at once."""

    async def start(self) -> None:
        """Make ready. Raises InputError where it cannot work at all: no such model, no key, nobody listens."""

    async def complete(self, request: Request) -> Reply:
        """Answer one request; may be awaited many times at once."""

    async def close(self) -> None:
        """Let go of connections and memory."""


class Cache(Protocol):
    """Where replies are kept, and what they cost. The store implements it, runs put the two together."""

    def find(self, key: str) -> Reply | None:
        """The reply kept under this key."""

    def record(self, call: Call) -> None:
        """Put a call on the account; keep its reply unless it was cached or its reason is a transport's.

        It is on disk when this returns.
        """


class NoCache:
    """Keeps nothing: for tests and single questions."""

    def find(self, key: str) -> Reply | None:
        """Nothing is ever there."""
        return None

    def record(self, call: Call) -> None:
        """Forget it."""


def request_key(client: Client, request: Request) -> str:
    """SHA-256 over everything that determines the answer, in a canonical form."""
    whole = {
        "backend": client.backend,
        "model": client.model,
        "identity": client.identity,
        "messages": [[message.role, message.content] for message in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "schema": request.schema,
    }
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
