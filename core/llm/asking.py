"""Asking until the answer can be used: cache, check, and a stated number of further attempts."""

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
"""Characters of a wrong answer that go back to the model."""
LIMIT_GROWS = 4
"""Times as large as the limit that cut a reply off is the next one."""
LONGEST_NOTE = 500
"""Characters of what was wrong with it."""


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
    """A client with its cache and account: what a generator or a judge is given.

    Two equal requests at the same time cost one call: the second waits for the first one's reply and stands
    on the account as cached.
    """

    def __init__(
        self,
        client: Client,
        cache: Cache | None = None,
        attempts: int = DEFAULT_ATTEMPTS,
        how: CallSettings = AS_USUAL,
    ) -> None:
        """how: what the user chose for every call."""
        if attempts < 1:
            raise InputError(f"A model cannot be asked {attempts} times: attempts has to be 1 or more.")
        self.client = client
        self.attempts = attempts
        self.how = how
        self._cache: Cache = cache if cache is not None else NoCache()
        self._open: dict[str, _Shared] = {}

    def of(self, text: int) -> "Model":
        """The same model for one of an item's texts. What several texts ask alike is still asked once."""
        one = copy(self)
        one._cache = self._cache.of(text)
        return one

    async def ask(self, request: Request, read: Callable[[str], T]) -> Answer[T]:
        """The answer as `read` understands it.

        read: takes the text, returns the value or raises Unusable. A reply that cannot be used is asked again,
        `attempts` times in all, at the same temperature: the model sees its last answer and what was wrong. One that was
        cut off is asked for with a larger limit first, which is no further attempt.
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
                # The request itself did fit: what it failed for is the first reason, not this.
                return Answer(None, reason, f"{detail} There was no room to ask again.".strip(), tries)
            else:
                reason, detail = reply.reason or "empty", reply.detail
                if reply.reason in TRANSPORT or reply.reason in ("too long", "rejected"):
                    break
            if reply.reason == "cut off":
                grows = False  # the largest limit was too small: another answer is wanted, not a longer one
            else:
                first = replace(first, max_tokens=asked.max_tokens)
            asking = _again(first, reply, tries, detail or reason)
        return Answer(None, reason, detail, tries)

    def _as_chosen(self, request: Request) -> Request:
        """The request as the user wants every one; what was not chosen is what the step needs."""
        how = self.how
        return replace(
            request,
            max_tokens=request.max_tokens if how.max_tokens is None else how.max_tokens,
            temperature=request.temperature if how.temperature is None else how.temperature,
            how=how,
        )

    async def _whole(self, request: Request) -> tuple[Request, Reply]:
        """The reply, with a larger limit where the one before was too small, and the request that it answers."""
        reply = await self._reply(request)
        while reply.reason == "cut off" and (limit := _larger_limit(request, reply)) is not None:
            larger = replace(request, max_tokens=limit)
            longer = await self._reply(larger)
            if longer.reason in ("too long", "rejected"):  # there is no room for more
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
        """One call, on the account before anybody sees its reply."""
        try:
            reply = await self.client.complete(request)
            self._cache.record(Call(key, request.step, reply, cached=False, request=request))
            return reply
        finally:
            if (shared := self._open.get(key)) is not None and shared.task is asyncio.current_task():
                del self._open[key]

    async def _wait(self, key: str, shared: "_Shared") -> Reply:
        """The shared reply. One that waits may be cancelled without the others; after the last, the call is."""
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
    """A call under way and how many wait for it."""

    task: "asyncio.Task[Reply]"
    waiting: int = 0


def _larger_limit(request: Request, reply: Reply) -> int | None:
    """The limit with which to ask for a reply again that was cut off; None: a larger one would not help.

    A reply that loops is never finished.
    """
    room = request.how.largest_limit - (request.how.reasoning_budget or 0)
    limit = min(request.max_tokens * LIMIT_GROWS, room)
    return None if limit <= request.max_tokens or loops(reply.text or reply.thinking or "") else limit


def _again(request: Request, reply: Reply, tries: int, wrong: str) -> Request:
    """The first request with the last reply and what was wrong with it.

    Earlier wrong answers are left out, so that the prompt stays bounded however often it is asked; the number
    makes each of these requests another one, even where a model repeats itself.
    """
    said = (reply.text or "").rpartition("</think>")[2].strip()[:LONGEST_ECHO] or "(nothing)"
    problem = wrong.strip()[:LONGEST_NOTE]
    note = f"Answer {tries} cannot be used: {problem} Answer again, exactly in the form asked for."
    return replace(request, messages=(*request.messages, Message("assistant", said), Message("user", note)))
