"""Asking until the answer can be used: cache, check, and a stated number of further attempts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from core.llm.client import TRANSPORT, Cache, Call, Client, Message, NoCache, Reply, Request, request_key

T = TypeVar("T")

DEFAULT_ATTEMPTS = 3
LONGEST_ECHO = 2_000
"""Characters of a wrong answer that go back to the model."""


class Unusable(Exception):
    """What a reader of answers raises: one sentence about what is wrong, said to the model too."""

    def __init__(self, detail: str, kind: str = "invalid") -> None:
        self.detail = detail
        self.kind = kind
        """A few words under which failures are counted, such as `protected span changed`."""
        super().__init__(detail)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What a step gave: a value, or None and why."""

    value: T | None
    reason: str | None = None
    """A Reason of the client's or an Unusable's kind; of the last attempt."""
    detail: str = ""
    attempts: int = 1
    """Replies it took, cached ones too."""

    @property
    def temporary(self) -> bool:
        """Whether another run may well succeed: the failure was the server's or the line's."""
        return self.reason in TRANSPORT


class Model:
    """A client with its cache and account: what a generator or a judge is given."""

    def __init__(self, client: Client, cache: Cache | None = None, attempts: int = DEFAULT_ATTEMPTS) -> None:
        self.client = client
        self.attempts = attempts
        self._cache: Cache = cache or NoCache()

    async def ask(self, request: Request, read: Callable[[str], T]) -> Answer[T]:
        """The answer as `read` understands it.

        read: takes the text, returns the value or raises Unusable. A reply that cannot be used is asked again,
        `attempts` times in all, at the same temperature: the model sees its answer and what was wrong with it.
        """
        reason, detail, tries = "invalid", "", 0
        for tries in range(1, self.attempts + 1):
            reply = await self._reply(request)
            if reply.reason is None and reply.text is not None:
                try:
                    return Answer(read(reply.text), attempts=tries)
                except Unusable as wrong:
                    reason, detail = wrong.kind, wrong.detail
            else:
                reason, detail = reply.reason or "empty", reply.detail
                if reply.reason in TRANSPORT or reply.reason in ("too long", "rejected"):
                    break
            request = _again(request, reply, detail or reason)
        return Answer(None, reason, detail, tries)

    async def _reply(self, request: Request) -> Reply:
        key = request_key(self.client, request)
        known = self._cache.find(key)
        reply = known or await self.client.complete(request)
        self._cache.record(Call(key, request.step, reply, cached=known is not None))
        return reply


def _again(request: Request, reply: Reply, wrong: str) -> Request:
    """The same request with what came back and what was wrong with it; the first turns stay as they were."""
    said = (reply.text or "").strip()[:LONGEST_ECHO] or "(nothing)"
    note = f"That answer cannot be used: {wrong} Answer again, exactly in the form asked for."
    return replace(
        request, messages=(*request.messages, Message("assistant", said), Message("user", note))
    )
