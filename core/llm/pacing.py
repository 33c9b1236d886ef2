"""Pacing of requests: as fast as a server accepts them, learned from its limits, retry times and refusals."""

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 600.0
"""Longest wait, in seconds, that a server may request; longer limits, such as daily ones, are not waited out."""
EASE = 0.9
"""Share of a rate that was too high at which requests continue."""
RISE = 0.1
"""Share of the rate that is added after each stretch without a refusal."""
MOST_CUTS = 3
"""Consecutive refusals, without a rise in between, that lower the rate. If refusals continue, the rate was not their
cause; otherwise random refusals, as on a shared account, would slow a run down without end."""
FIRST_STRETCH = 50
"""Requests of the first such stretch; each refusal doubles it, so that refusals become rarer."""
PATIENCE = 120.0
"""Seconds since the last answer within which a refusal without a retry time is blamed on the pace: most limits cover a minute."""
SLOW_REFUSAL = 5.0
"""Seconds after which a request that is still open counts as accepted."""
LOOK = 0.05
"""Seconds between two checks whether the next request may leave."""
_MARGIN = 0.01
"""Seconds added to a server's retry time, because clocks differ."""
_LIMIT = re.compile(r"(?:x-|anthropic-)?ratelimit-(.+)")
_PARTS = ("limit", "remaining", "reset")
_PIECE = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_SAID = re.compile(
    r"(?:try again|retry)\s+(?:in|after)\s+(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|seconds?|m|minutes?|h|hours?)\b",
    re.IGNORECASE,
)


@dataclass(eq=False)
class Turn:
    """One request in progress."""

    sent: float
    costs: dict[str, float]
    """Unit -> amount that it uses of a limit in this unit."""
    done_before: dict[str, float]
    """Unit -> amount that all finished requests had used when it left."""


@dataclass(frozen=True)
class Refusal:
    """The wait of a refused request."""

    seconds: float
    named: bool
    """Whether the server gave the seconds."""


@dataclass
class _Budget:
    """What a server accepts until a certain time, in requests or tokens."""

    unit: str
    limit: float
    left: float
    reset: float | None
    """None: the time has passed, and no answer has given the next one."""
    told: float
    """When the request was sent whose answer gave this limit."""


class Pace:
    """Decides when the next request may leave.

    If a server reports remaining capacity in headers, no more requests leave than it has room for. If it only
    refuses, with a time to retry, all requests wait and then leave evenly, at a rate learned from earlier
    acceptances; the rate rises slowly while nothing is refused. Without a time to retry, all requests wait for
    growing pauses; after each pause one request tests whether the server accepts it, and then the rate is learned.
    For use by a single event loop.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        """clock: seconds, for waiting; now: seconds since 1970, for times that servers give."""
        self._clock, self._sleep, self._now = clock, sleep, now
        self._gate = asyncio.Lock()
        self._open: set[Turn] = set()
        self._done = {"requests": 0.0, "tokens": 0.0}
        self._budgets: dict[str, _Budget] = {}
        self._hold = -math.inf
        self._next = -math.inf
        self._rate: float | None = None
        """Requests per second; None: unlimited."""
        self._since: float | None = None
        self._n_sent = self._n_refused = 0
        """Requests since then."""
        self._learning = self._risen = False
        self._cuts = 0
        self._stretch, self._calm = FIRST_STRETCH, 0
        self._n_pauses, self._pause = 0, 0.0
        """Consecutive pauses after refusals without a retry time; seconds of the last pause."""
        self._paused = self._last_taken = -math.inf

    @asynccontextmanager
    async def turn(self, tokens: float) -> AsyncIterator[Turn]:
        """Wait until a request of about this many tokens may leave; it is open inside the block."""
        costs = {"requests": 1.0, "tokens": max(tokens, 1.0)}
        async with self._gate:  # first come, first served; one waiter checks for all
            while (wait := self._wait(costs)) > 0:
                await self._sleep(min(wait, LOOK))
            now = self._clock()
            turn = Turn(now, costs, dict(self._done))
            one_at_a_time = self._n_pauses > 0 and self.lets_in
            self._open.add(turn)
            if self._since is None:
                self._since = now
            self._n_sent += 1
            if one_at_a_time:
                self._next = now + self._pause
            elif self._rate is not None:
                self._next = max(now, self._next) + 1 / self._rate
            for budget in self._budgets.values():
                budget.left -= costs[budget.unit]
        try:
            yield turn
        finally:
            self._open.discard(turn)
            for unit, cost in costs.items():
                self._done[unit] += cost

    def answered(self, turn: Turn, headers: Mapping[str, str]) -> None:
        """Record the limits that came with any answer."""
        for name, (limit, left, reset) in self._told(headers):
            unit = _unit(name)
            known = self._budgets.get(name)
            if known is not None and turn.sent < known.told:
                continue  # servers may count a request on arrival and answer much later
            # Everything that may have arrived after the count: open requests, and those that ended meanwhile.
            others = sum(one.costs[unit] for one in self._open if one is not turn)
            others += self._done[unit] - turn.done_before[unit]
            most = max(left + turn.costs[unit], known.limit if known else 0.0) if limit is None else limit
            moment = self._clock() + reset + _MARGIN
            self._budgets[name] = _Budget(unit, most, left - others, moment, turn.sent)

    @property
    def lets_in(self) -> bool:
        """Whether the server accepts requests, so that a refusal without a retry time means "too early"."""
        now = self._clock()
        return now - self._last_taken <= PATIENCE or any(now - one.sent >= SLOW_REFUSAL for one in self._open)

    def taken(self, turn: Turn) -> None:
        """Record that a request was accepted; after enough of them the rate rises."""
        self._last_taken = self._clock()
        if self._n_pauses and turn.sent > self._paused:
            self._learn(turn.sent)
            self._n_pauses = 0
        self._calm += 1
        if self._rate is not None and self._calm >= self._stretch:
            self._rate *= 1 + RISE
            self._calm, self._risen = 0, True

    def refused(
        self, turn: Turn, headers: Mapping[str, str], message: str, pause: Callable[[int], float]
    ) -> Refusal:
        """Record a refusal; returns how long to wait.

        pause: returns the seconds to wait after n consecutive pauses, for a server without a retry time. A wait longer
        than LONGEST_WAIT is not taken.
        """
        ours = self._since is not None and turn.sent >= self._since
        self._n_refused += ours
        spent = [reset for name, (_, left, reset) in self._told(headers) if left < turn.costs[_unit(name)]]
        wait = self._retry_after(headers, message) or max(spent, default=0.0)
        if not wait:
            if (
                ours and turn.sent > self._paused
            ):  # otherwise it left before the last pause began, which applies to it too
                self._paused, self._pause = self._clock(), pause(self._n_pauses)
                self._n_pauses += 1
                self._hold = max(self._hold, self._paused + self._pause + _MARGIN)
            return Refusal(self._pause, False)
        if wait <= LONGEST_WAIT:
            self._hold = max(self._hold, self._clock() + wait + _MARGIN)
            self._learning |= ours and not spent
        return Refusal(wait, True)

    def _wait(self, costs: Mapping[str, float]) -> float:
        """Seconds until a request may leave, as far as is known; 0 or less: now."""
        now = self._clock()
        if now < self._hold:
            return self._hold - now
        if self._learning:
            self._learn(self._hold)
        wait = self._next - now
        for budget in self._budgets.values():
            if budget.reset is not None and now >= budget.reset:
                budget.left = budget.limit - sum(one.costs[budget.unit] for one in self._open)
                budget.reset = None
            if budget.left >= min(costs[budget.unit], budget.limit):
                continue
            if budget.reset is None:
                wait = max(wait, LOOK if self._open else 0.0)  # an answer will show
            elif budget.reset - now <= LONGEST_WAIT:
                wait = max(wait, budget.reset - now)
        return wait

    def _learn(self, until: float) -> None:
        """Learn the rate from acceptances since the last time, up to the time at which the server accepts more."""
        assert self._since is not None
        passed = max(self._n_sent - self._n_refused, 1)
        rate = EASE * passed / max(until - self._since, _MARGIN)
        self._cuts = 0 if self._rate is None or self._risen else self._cuts + 1
        if self._cuts > MOST_CUTS:
            self._rate, self._cuts, self._stretch = None, 0, FIRST_STRETCH
        else:
            self._rate = rate if self._rate is None else min(rate, EASE * self._rate)
            self._stretch *= 2
        self._risen = False
        self._since = self._next = until
        self._n_sent = self._n_refused = self._calm = 0
        self._learning = False

    def _told(self, headers: Mapping[str, str]) -> Iterator[tuple[str, tuple[float | None, float, float]]]:
        """Name of a limit -> its size, the remainder, and the seconds until it resets."""
        found: dict[str, dict[str, str]] = {}
        for header, value in headers.items():
            match = _LIMIT.fullmatch(header.lower())
            words = match.group(1).split("-") if match else []
            part = next((word for word in words if word in _PARTS), None)
            if part is not None:
                found.setdefault("-".join(word for word in words if word != part), {})[part] = value
        for name, parts in found.items():
            left, reset = _number(parts.get("remaining", "")), self._seconds(parts.get("reset", ""))
            if left is not None and reset is not None:
                yield name, (_number(parts.get("limit", "")), left, reset)

    def _retry_after(self, headers: Mapping[str, str], message: str) -> float | None:
        milliseconds = _number(headers.get("retry-after-ms", ""))
        if milliseconds is not None:
            return milliseconds / 1000
        said = self._seconds(headers.get("retry-after", ""))
        if said is None and (match := _SAID.search(message)):
            unit = match.group(2).lower()
            said = float(match.group(1)) * _UNITS["ms" if unit.startswith(("ms", "milli")) else unit[0]]
        return said

    def _seconds(self, value: str) -> float | None:
        """Seconds from now for a number, a duration such as `6m0s`, or a time; None: none of these."""
        value = value.strip()
        number = _number(value)
        if number is not None:
            if number > 1e9:  # a time: seconds or milliseconds since 1970
                return max((number / 1000 if number > 1e12 else number) - self._now(), 0.0)
            return number
        pieces = _PIECE.findall(value)
        if pieces and not _PIECE.sub("", value).strip():
            return sum(float(amount) * _UNITS[unit] for amount, unit in pieces)
        for read in (datetime.fromisoformat, parsedate_to_datetime):
            try:
                moment = read(value)
            except ValueError:
                continue
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return max(moment.timestamp() - self._now(), 0.0)
        return None


def _unit(name: str) -> str:
    """Unit of a limit: requests or tokens."""
    return "tokens" if "token" in name else "requests"


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
