"""Sending requests as fast as a server lets them in, learned from what it says: limits, moments, refusals."""

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
"""Seconds that a server may ask for; a limit that lasts longer, such as a daily one, is not waited out."""
EASE = 0.9
"""Share of a rate that was too high at which requests go on."""
RISE = 0.1
"""Of the rate, added after each stretch without a refusal."""
MOST_CUTS = 3
"""Refusals in a row, without a rise between them, that lower the rate. If the next one comes all the same, the rate was
not what they came from: refusals by chance, as on a shared account, would else slow a run down without end."""
FIRST_STRETCH = 50
"""Requests of the first such stretch; each refusal doubles it, so that there are ever fewer refusals."""
PATIENCE = 120.0
"""Seconds since the last answer for which a refusal that names no moment is a matter of pace: most limits are for a minute."""
SLOW_REFUSAL = 5.0
"""Seconds after which a request that is still open was let in."""
LOOK = 0.05
"""Seconds between two looks of the next request at whether it may go."""
_MARGIN = 0.01
"""Seconds after the moment that a server names: clocks differ."""
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
    """One request on its way."""

    sent: float
    costs: dict[str, float]
    """Unit -> how much of a limit in this unit it takes."""
    done_before: dict[str, float]
    """Unit -> what all finished requests had taken when it left."""


@dataclass(frozen=True)
class Refusal:
    """How long a request that was refused waits."""

    seconds: float
    named: bool
    """Whether the server named them."""


@dataclass
class _Budget:
    """What a server lets in until a moment, in requests or tokens."""

    unit: str
    limit: float
    left: float
    reset: float | None
    """None: the moment has passed, and no answer has named the next one."""
    told: float
    """When the request was sent whose answer told it."""


class Pace:
    """When the next request may leave.

    Where a server counts down in headers, no more requests leave than it has room for. Where it only refuses and says
    how long to wait, all requests wait, then leave evenly, at a rate learned from how many it took in before; the rate
    rises slowly while nothing is refused. Where it does not say how long, all wait for growing pauses, after each of
    which one request finds out whether the server lets it in; then the rate is learned. One event loop alone may use it.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        """clock: seconds, for waiting; now: seconds since 1970, for moments that servers name."""
        self._clock, self._sleep, self._now = clock, sleep, now
        self._gate = asyncio.Lock()
        self._open: set[Turn] = set()
        self._done = {"requests": 0.0, "tokens": 0.0}
        self._budgets: dict[str, _Budget] = {}
        self._hold = -math.inf
        self._next = -math.inf
        self._rate: float | None = None
        """Requests a second; None: as fast as they come."""
        self._since: float | None = None
        self._n_sent = self._n_refused = 0
        """Since then."""
        self._learning = self._risen = False
        self._cuts = 0
        self._stretch, self._calm = FIRST_STRETCH, 0
        self._n_pauses, self._pause = 0, 0.0
        """In a row, because of refusals that named no moment; seconds of the last one."""
        self._paused = self._last_taken = -math.inf

    @asynccontextmanager
    async def turn(self, tokens: float) -> AsyncIterator[Turn]:
        """Wait until a request of about so many tokens may leave; it is open inside the block."""
        costs = {"requests": 1.0, "tokens": max(tokens, 1.0)}
        async with self._gate:  # in the order in which they came, and one looks for all
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
        """Take note of the limits that came with an answer, whatever it was."""
        for name, (limit, left, reset) in self._told(headers):
            unit = _unit(name)
            known = self._budgets.get(name)
            if known is not None and turn.sent < known.told:
                continue  # servers may count when a request comes in, and answer much later
            # All that may have come in after it was counted: what is open, and what ended while it was.
            others = sum(one.costs[unit] for one in self._open if one is not turn)
            others += self._done[unit] - turn.done_before[unit]
            most = max(left + turn.costs[unit], known.limit if known else 0.0) if limit is None else limit
            moment = self._clock() + reset + _MARGIN
            self._budgets[name] = _Budget(unit, most, left - others, moment, turn.sent)

    @property
    def lets_in(self) -> bool:
        """Whether the server takes requests, so that one which it refuses without naming a moment came too early."""
        now = self._clock()
        return now - self._last_taken <= PATIENCE or any(now - one.sent >= SLOW_REFUSAL for one in self._open)

    def taken(self, turn: Turn) -> None:
        """Take note that a request was not refused: after enough of them the rate rises."""
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
        """Take note of a refusal; returns for how long the server is left alone.

        pause: seconds after so many pauses in a row, for a server that names none. If it names more than LONGEST_WAIT,
        nobody waits for it.
        """
        ours = self._since is not None and turn.sent >= self._since
        self._n_refused += ours
        spent = [reset for name, (_, left, reset) in self._told(headers) if left < turn.costs[_unit(name)]]
        wait = self._retry_after(headers, message) or max(spent, default=0.0)
        if not wait:
            if (
                ours and turn.sent > self._paused
            ):  # else it left before the last pause began, which is for it too
                self._paused, self._pause = self._clock(), pause(self._n_pauses)
                self._n_pauses += 1
                self._hold = max(self._hold, self._paused + self._pause + _MARGIN)
            return Refusal(self._pause, False)
        if wait <= LONGEST_WAIT:
            self._hold = max(self._hold, self._clock() + wait + _MARGIN)
            self._learning |= ours and not spent
        return Refusal(wait, True)

    def _wait(self, costs: Mapping[str, float]) -> float:
        """Seconds until a request may leave, as far as is known now; 0 or less: at once."""
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
                wait = max(wait, LOOK if self._open else 0.0)  # an answer will tell
            elif budget.reset - now <= LONGEST_WAIT:
                wait = max(wait, budget.reset - now)
        return wait

    def _learn(self, until: float) -> None:
        """The rate, from what was let in since the last time, up to the moment at which the server lets in more."""
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
        """Name of a limit -> how much it is, how much of it is left, seconds until it begins anew."""
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
        """From now on: of a number, a duration such as `6m0s`, or a moment; None: it is none of these."""
        value = value.strip()
        number = _number(value)
        if number is not None:
            if number > 1e9:  # a moment: seconds since 1970, or thousandths of them
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
    """Of a limit: servers have some in requests and some in tokens."""
    return "tokens" if "token" in name else "requests"


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
