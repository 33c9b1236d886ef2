"""What a model is asked, what came back, and the protocols that a backend and a cache keep."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from core.llm.call_settings import AS_USUAL, CallSettings

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
    """Of the answer; thinking does not count, see CallSettings."""
    temperature: float | None = 0.0
    """None: the server's own."""
    seed: int | None = None
    schema: Mapping[str, object] | None = None
    """JSON Schema the answer has to keep; None: free text."""
    how: CallSettings = AS_USUAL
    """What the user chose for every call. Its temperature and limit are in those above already."""


@dataclass(frozen=True)
class Reply:
    """What came back for one request."""

    text: str | None
    """What the model wrote, thinking not included; with a reason, as far as it came."""
    reason: Reason | None = None
    """None: the model finished."""
    detail: str = ""
    """One sentence about the reason. Never holds a key."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    """As the backend counts; None where it does not say."""
    seconds: float = 0.0
    thinking: str | None = None
    """What it wrote before the answer, where the server shows it."""
    thinking_tokens: int | None = None
    """Of `output_tokens` those that were thinking; None: nobody says."""
    not_sent: tuple[str, ...] = ()
    """Parts of the request that went without, because the server refuses them: names of its body's fields."""


@dataclass(frozen=True)
class Call:
    """One reply as an account keeps it."""

    key: str
    step: str
    reply: Reply
    cached: bool
    """Answered from the cache: it cost nothing now."""
    request: Request


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

    def reject(self, key: str, step: str, why: str) -> None:
        """Note on the account that the last reply under this key could not be used, with a sentence that says why."""

    def of(self, text: int) -> "Cache":
        """The same, for one of several texts that are asked about together: its number stands on the account."""


class NoCache:
    """Keeps nothing: for tests and single questions."""

    def find(self, key: str) -> Reply | None:
        """Nothing is ever there."""
        return None

    def record(self, call: Call) -> None:
        """Forget it."""

    def reject(self, key: str, step: str, why: str) -> None:
        """Forget it."""

    def of(self, text: int) -> "NoCache":
        """It forgets this too."""
        return self


def asked_as_json(request: Request) -> dict[str, object]:
    """All that is asked, as JSON values: what determines the answer besides who is asked."""
    return {
        "messages": [[message.role, message.content] for message in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "seed": request.seed,
        "schema": request.schema,
        # What is not chosen is not named, so that replies of runs before there was a choice are found.
        **request.how.in_request,
    }


def request_key(client: Client, request: Request) -> str:
    """SHA-256 over everything that determines the answer, in a canonical form."""
    who = {"backend": client.backend, "model": client.model, "identity": client.identity}
    whole = {**who, **asked_as_json(request)}
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
