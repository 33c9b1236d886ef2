"""Requests flow through vLLM as they come: each is answered when it is finished, whoever else is still at work."""

import asyncio
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from core.llm.client import Reply, Request
from core.llm.vllm.exchange import Exchange, Sent, about_a_request, refused, unanswered


@dataclass(eq=False)
class _Asked:
    """A request and who waits for its reply."""

    request: Request
    answer: asyncio.Future[Reply]
    loop: asyncio.AbstractEventLoop
    shares_before: float = 0.0
    """See Flow._shares, when the engine took it."""

    def tell(self, reply: Reply) -> None:
        """Answer from the engine's thread; nobody listens any more where the loop is closed."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._tell, reply)

    def _tell(self, reply: Reply) -> None:
        if not self.answer.done():  # whoever asked may have been cancelled meanwhile
            self.answer.set_result(reply)


class Flow:
    """Takes requests between the engine's steps and answers those that a step finished.

    `run` belongs to the engine's thread, all else to others. Once a step failed, whatever the engine holds could come
    back as somebody else's answer: from then on nothing more is asked of it.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._waiting: SimpleQueue[_Asked | None] = SimpleQueue()
        self._open: dict[str, tuple[_Asked, Sent]] = {}
        self._shares = 0.0
        """Seconds that one request would have been charged that was open from the start: what the engine works is
        shared out evenly among those that are open."""
        self._seen = 0.0
        self._broken: Exception | None = None
        self._ending = threading.Event()
        self._over = False
        self._gate = threading.Lock()

    async def ask(self, request: Request) -> Reply:
        """The reply to one request. Cancelled, the request leaves the engine before its next step."""
        loop = asyncio.get_running_loop()
        asked = _Asked(request, loop.create_future(), loop)
        with self._gate:
            if self._over or self._ending.is_set():
                return unanswered(None)
            self._waiting.put(asked)
        return await asked.answer

    def end(self) -> None:
        """Let `run` return after the step at work; whoever still waits is told that the engine is gone."""
        self._ending.set()
        self._waiting.put(None)

    def run(self) -> None:
        """Work until `end`."""
        try:
            while not self._ending.is_set():
                try:
                    self._take()
                    if self._open:
                        self._step()
                except Exception as problem:
                    self._break(problem)
        finally:
            self._put_down()

    def _take(self) -> None:
        """All that wait now; without anything to do, wait for the next."""
        idle = not self._open
        while not self._ending.is_set():
            try:
                asked = self._waiting.get(block=idle)
            except Empty:
                return
            if idle:
                self._seen = time.perf_counter()
            idle = False
            if asked is not None and not asked.answer.cancelled():
                self._enter(asked)

    def _enter(self, asked: _Asked) -> None:
        """Hand a request over; one that vLLM does not take is refused alone."""
        if self._broken is not None:
            asked.tell(unanswered(self._broken))
            return
        try:
            sent = self._exchange.send(asked.request)
        except Exception as problem:
            asked.tell(refused(problem) if about_a_request(problem) else unanswered(problem))
            if not about_a_request(problem) or self._exchange.n_open != len(self._open):
                self._break(problem)
            return
        asked.shares_before = self._shares
        self._open[sent.number] = (asked, sent)

    def _step(self) -> None:
        """Let go of what nobody waits for, compute a step, and answer what it finished."""
        gone = [number for number, (asked, _) in self._open.items() if asked.answer.cancelled()]
        if gone:
            self._exchange.abort([self._open.pop(number)[1] for number in gone])
        finished = self._exchange.step() if self._open else []
        now = time.perf_counter()
        self._shares += (now - self._seen) / max(1, len(self._open))
        self._seen = now
        for output in finished:
            if (found := self._open.pop(output.request_id, None)) is not None:
                asked, sent = found
                try:
                    reply = self._exchange.read(output, sent)
                except Exception as problem:  # a parser of vLLM's may raise on what a model wrote
                    reply = unanswered(problem)
                asked.tell(replace(reply, seconds=self._shares - asked.shares_before))

    def _break(self, problem: Exception) -> None:
        self._broken = problem
        for asked, _ in self._open.values():
            asked.tell(unanswered(problem))
        self._open.clear()

    def _put_down(self) -> None:
        with self._gate:
            self._over = True
        left = [asked for asked, _ in self._open.values()]
        with suppress(Empty):
            while True:
                if (asked := self._waiting.get_nowait()) is not None:
                    left.append(asked)
        if self._open and self._broken is None:
            with suppress(Exception):  # the engine goes anyway
                self._exchange.abort([sent for _, sent in self._open.values()])
        self._open.clear()
        for asked in left:
            asked.tell(unanswered(None))
