"""Requests collected in rounds, for models that answer many at once and later: batch files, clusters.

In a round every item goes as far as the answers reach that have arrived; the requests it still needs are collected. Once
all items wait, whoever delivers gets them together. With the next answers the items start again from the cache.
"""

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import replace
from tempfile import SpooledTemporaryFile
from typing import IO, Protocol, cast

from core.llm.client import TRANSPORT, Cache, Call, Client, Reply, Request, request_key

_IN_MEMORY = 64_000_000
"""Bytes of open requests from which they are written to a temporary file."""


class OpenRequests:
    """The requests of one round that have no answer yet: each key once, in the order of the first item that asked."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._file = cast(IO[bytes], SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115  # closed by close()

    def add(self, key: str, request: Request) -> None:
        """Add a request, unless one with this key is there."""
        if key not in self._keys:
            self._keys.add(key)
            self._file.seek(0, 2)
            pickle.dump((key, request), self._file, pickle.HIGHEST_PROTOCOL)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[tuple[str, Request]]:
        """(key, request), read from the file one at a time. Only one iteration at a time, and no addition during it."""
        self._file.seek(0)
        for _ in range(len(self._keys)):
            yield pickle.load(self._file)

    def close(self) -> None:
        """Free memory and disk."""
        self._file.close()


class Deliverer(Protocol):
    """Gets the open requests of a round answered. Runs implement it: by files that people carry, or on a cluster."""

    @property
    def n_arrived(self) -> int:
        """Number of requests of the current round that are answered already."""

    def next_reply(self, key: str, request: Request) -> Reply | None:
        """The next delivered reply to this request that no call of the run has recorded; None: there is none.

        A failure on the way, with a reason in TRANSPORT, is given once; the request is then asked again.
        """

    def last_reply(self, key: str) -> Reply | None:
        """The reply that a call of the run has recorded and no cache stores, such as `rejected`; None: there is none."""

    async def deliver(self, waiting: OpenRequests) -> str | None:
        """Get answers to the open requests. None: some have arrived; otherwise a message that says what the user must do.

        Cancelled when the run is to stop; answers that have arrived by then must be saved already.
        """

    async def close(self) -> None:
        """Free what it holds."""


class Collecting:
    """A client that never waits: it returns delivered replies, and collects all other requests.

    client: the real client, whose identity the requests get, so that a reply is the same whoever delivered it. It is
    never started. The reply to a collected request has the reason `waiting`.
    """

    def __init__(self, client: Client, deliverer: Deliverer) -> None:
        self.client, self.deliverer = client, deliverer
        self.waiting = OpenRequests()
        self._recorded: set[str] = set()
        """Keys of delivered replies that a call has recorded, so that no other item pays for them."""
        self.n_usable = 0
        """Replies given in this round, without failures on the way."""

    @property
    def backend(self) -> str:
        """See Client."""
        return self.client.backend

    @property
    def model(self) -> str:
        """See Client."""
        return self.client.model

    @property
    def identity(self) -> Mapping[str, object]:
        """See Client."""
        return self.client.identity

    @property
    def concurrency(self) -> int:
        """See Client; nothing is gained by more, because no request waits."""
        return self.client.concurrency

    async def start(self) -> None:
        """Do nothing: the real client is not needed."""

    async def complete(self, request: Request) -> Reply:
        """The delivered reply, or one with the reason `waiting`."""
        key = request_key(self, request)
        reply = self.deliverer.next_reply(key, request)
        if reply is None and (reply := self.deliverer.last_reply(key)) is not None:
            self._recorded.add(key)
        if reply is None or reply.reason in TRANSPORT:
            self.waiting.add(key, request)
        else:
            self.n_usable += 1
        return Reply(None, "waiting") if reply is None else reply

    def recording(self, cache: Cache) -> Cache:
        """The cache, which then records neither collected requests nor a second call for one delivered reply."""
        return _Recording(cache, self._recorded)

    async def end_round(self) -> str | None:
        """Have the collected requests answered; see Deliverer.deliver. A new round begins."""
        waiting, self.waiting, self.n_usable = self.waiting, OpenRequests(), 0
        try:
            return await self.deliverer.deliver(waiting)
        finally:
            waiting.close()

    async def close(self) -> None:
        """Close the deliverer."""
        self.waiting.close()
        await self.deliverer.close()


class _Recording:
    """See Collecting.recording."""

    def __init__(self, cache: Cache, recorded: set[str]) -> None:
        self._cache, self._recorded = cache, recorded

    def find(self, key: str) -> Reply | None:
        return self._cache.find(key)

    def record(self, call: Call) -> None:
        reason = call.reply.reason
        if reason == "waiting":
            return
        if not call.cached and reason not in TRANSPORT:
            # Two items may have asked before either reply was recorded.
            call = replace(call, cached=call.key in self._recorded)
            self._recorded.add(call.key)
        self._cache.record(call)

    def reject(self, key: str, step: str, why: str) -> None:
        self._cache.reject(key, step, why)

    def of(self, text: int) -> Cache:
        return _Recording(self._cache.of(text), self._recorded)
