"""Requests with a cache, checked answers, and a limited number of attempts."""

import asyncio
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from core.errors import InputError
from core.llm.call_settings import AS_USUAL, CallSettings
from core.llm.client import TRANSPORT, Cache, Call, Client, Message, NoCache, Reply, Request, request_key
from core.llm.thinking import loops

T = TypeVar("T")

DEFAULT_ATTEMPTS = 3
LONGEST_ECHO = 2_000
"""Characters of a rejected answer that are sent back to the model."""
LIMIT_GROWS = 4
"""Factor by which the token limit grows after a reply was cut off."""
LONGEST_NOTE = 500
"""Characters of the reason for rejection that are sent back to the model."""


class Unusable(Exception):
    """Raised for an unusable answer, with one sentence about the problem, which is also sent to the model."""

    def __init__(self, detail: str, kind: str = "invalid") -> None:
        self.detail = detail
        self.kind = kind
        """Short name under which failures are counted, such as `protected span changed`."""
        super().__init__(detail)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """The result of a step: a value, or None with a reason."""

    value: T | None
    reason: str | None = None
    """The client's Reason or the kind of Unusable, from the last attempt."""
    detail: str = ""
    attempts: int = 1
    """Number of replies needed, including cached ones."""

    @property
    def temporary(self) -> bool:
        """Whether the server or the connection failed, so that another run may succeed."""
        return self.reason in TRANSPORT


class Model:
    """A client with a cache and an account of calls, used by generators and judges.

    Two equal requests at the same time cost one call: the second waits for the first one's reply and is recorded
    as cached.
    """

    def __init__(
        self,
        client: Client,
        cache: Cache | None = None,
        attempts: int = DEFAULT_ATTEMPTS,
        how: CallSettings = AS_USUAL,
    ) -> None:
        """how: the user's settings for every call."""
        if attempts < 1:
            raise InputError(f"attempts: {attempts} is not 1 or more.")
        self.client = client
        self.attempts = attempts
        self.how = how
        self._cache: Cache = cache if cache is not None else NoCache()
        self._open: dict[str, _Shared] = {}

    def of(self, text: int) -> "Model":
        """The same model for one of an item's texts. Equal requests for several texts are still sent once."""
        one = copy(self)
        one._cache = self._cache.of(text)
        return one

    async def ask(self, request: Request, read: Callable[[str], T]) -> Answer[T]:
        """Send a request and parse the answer with `read`.

        read: takes the text, returns the value or raises Unusable. After an unusable reply the request is repeated,
        up to `attempts` times in total at the same temperature; the model sees its last answer and the problem. A
        reply that was cut off is first requested with a larger limit, which does not count as an attempt.
        """
        reason, detail, tries = "invalid", "", 0
        first = asking = self._as_chosen(request)
        grows = True
        for tries in range(1, self.attempts + 1):
            asked, reply = await self._whole(asking) if grows else (asking, await self._reply(asking))
            if reply.reason is None and reply.text is not None:
                try:
                    return Answer(read(reply.text), attempts=tries)
                except Unusable as wrong:
                    reason, detail = wrong.kind, wrong.detail
                    self._cache.reject(request_key(self.client, asked), asked.step, detail or reason)
            elif reply.reason == "too long" and tries > 1:
                # The original request did fit, so report the original reason.
                return Answer(None, reason, f"{detail} There was no room to ask again.".strip(), tries)
            else:
                reason, detail = reply.reason or "empty", reply.detail
                if reply.reason in TRANSPORT or reply.reason in ("too long", "rejected"):
                    break
            if reply.reason == "cut off":
                grows = False  # the largest limit was too small: request another answer, not a longer one
            else:
                first = replace(first, max_tokens=asked.max_tokens)
            asking = _again(first, reply, tries, detail or reason)
        return Answer(None, reason, detail, tries)

    def _as_chosen(self, request: Request) -> Request:
        """The request with the user's settings for every call; unset ones keep the step's values."""
        how = self.how
        return replace(
            request,
            max_tokens=request.max_tokens if how.max_tokens is None else how.max_tokens,
            temperature=request.temperature if how.temperature is None else how.temperature,
            how=how,
        )

    async def _whole(self, request: Request) -> tuple[Request, Reply]:
        """The request that was answered, and the reply; the limit grows while replies are cut off."""
        reply = await self._reply(request)
        while reply.reason == "cut off" and (limit := _larger_limit(request, reply)) is not None:
            larger = replace(request, max_tokens=limit)
            longer = await self._reply(larger)
            if longer.reason in ("too long", "rejected"):  # the model has no room for a longer answer
                break
            request, reply = larger, longer
        return request, reply

    async def _reply(self, request: Request) -> Reply:
        key = request_key(self.client, request)
        known = self._cache.find(key)
        if known is not None:
            self._cache.record(Call(key, request.step, known, cached=True, request=request))
            return known
        shared = self._open.get(key)
        joined = shared is not None
        if shared is None:
            shared = self._open[key] = _Shared(asyncio.create_task(self._call(key, request)))
        reply = await self._wait(key, shared)
        if joined:
            self._cache.record(Call(key, request.step, reply, cached=True, request=request))
        return reply

    async def _call(self, key: str, request: Request) -> Reply:
        """Make one call, recorded before anybody sees its reply."""
        try:
            reply = await self.client.complete(request)
            self._cache.record(Call(key, request.step, reply, cached=False, request=request))
            return reply
        finally:
            if (shared := self._open.get(key)) is not None and shared.task is asyncio.current_task():
                del self._open[key]

    async def _wait(self, key: str, shared: "_Shared") -> Reply:
        """Wait for a shared reply. Cancelling one waiter does not affect others; cancelling the last one cancels the call."""
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.waiting and not shared.task.done():
                shared.task.cancel()
                if self._open.get(key) is shared:
                    del self._open[key]


@dataclass(eq=False)
class _Shared:
    """A call in progress and the number of waiters."""

    task: "asyncio.Task[Reply]"
    waiting: int = 0


def _larger_limit(request: Request, reply: Reply) -> int | None:
    """The larger limit after a reply was cut off; None: a larger limit would not help.

    A looping reply would never finish.
    """
    room = request.how.largest_limit - (request.how.reasoning_budget or 0)
    limit = min(request.max_tokens * LIMIT_GROWS, room)
    return None if limit <= request.max_tokens or loops(reply.text or reply.thinking or "") else limit


def _again(request: Request, reply: Reply, tries: int, wrong: str) -> Request:
    """The first request plus the last reply and its problem.

    Earlier rejected answers are left out, so that the prompt does not grow with each attempt. The number makes each
    request unique, even if a model repeats itself.
    """
    said = (reply.text or "").rpartition("</think>")[2].strip()[:LONGEST_ECHO] or "(nothing)"
    problem = wrong.strip()[:LONGEST_NOTE]
    note = f"Answer {tries} cannot be used: {problem} Answer again, exactly in the form asked for."
    return replace(request, messages=(*request.messages, Message("assistant", said), Message("user", note)))
