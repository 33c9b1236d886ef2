"""Thinking of reasoning models: separate it from the answer and leave room for it; also detection of looping text."""

from core.llm.client import Reply, Request

_NAMES = ("think", "thinking", "reasoning")
_ROOM_TO_SEEN = 1.5
"""Room for thinking, relative to the longest seen so far, because the next question may need more."""


def apart(text: str) -> tuple[str, str]:
    """The answer without the model's thinking, and the thinking.

    Pairs of <think> and </think> are removed anywhere. A </think> without an opening tag ends reasoning that began in
    the prompt. A <think> at the start without a closing tag was cut off before any answer.
    """
    thoughts: list[str] = []
    for name in _NAMES:
        text = _drop_block(text, f"<{name}>", f"</{name}>", thoughts)
    return text, "\n\n".join(thought for one in thoughts if (thought := one.strip()))


def _drop_block(text: str, opening: str, closing: str, thoughts: list[str]) -> str:
    if closing not in text:
        if text.lstrip().startswith(opening):
            thoughts.append(text.lstrip().removeprefix(opening))
            return ""
        return text
    first = text.find(closing)
    if opening not in text[:first]:
        thoughts.append(text[:first])
        text = text[first + len(closing) :]
    kept: list[str] = []
    at = 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept.append(text[at:start])
        thoughts.append(text[start + len(opening) : end])
        at = end + len(closing)
    rest = text[at:]
    if not "".join(kept).strip() and rest.lstrip().startswith(opening):
        thoughts.append(rest.lstrip().removeprefix(opening))
        rest = ""
    return "".join([*kept, rest])


class Room:
    """Tokens added to an answer's limit, so that thinking does not use it up; learned from replies."""

    def __init__(self) -> None:
        self._most = 0

    def limit_of(self, request: Request) -> int:
        """The limit to send, for thinking and answer together."""
        chosen = request.how.reasoning_budget
        if chosen is not None:
            return request.max_tokens + chosen
        limit = request.max_tokens + round(self._most * _ROOM_TO_SEEN)
        return max(request.max_tokens, min(limit, request.how.largest_limit))

    def learn(self, reply: Reply) -> None:
        """Record how much thinking a reply needed."""
        self._most = max(self._most, thinking_tokens(reply))


def thinking_tokens(reply: Reply) -> int:
    """Tokens of thinking, as counted by the server or estimated from the share of characters."""
    if reply.thinking_tokens is not None:
        return reply.thinking_tokens
    if not reply.thinking or not reply.output_tokens:
        return 0
    return round(reply.output_tokens * len(reply.thinking) / (len(reply.thinking) + len(reply.text or "")))


LOOP_TIMES, LOOP_LENGTH = 4, 60
"""A text loops if the same characters repeat at least LOOP_TIMES times in a row over at least LOOP_LENGTH characters."""
_SEED = 8
"""Characters that are compared to find a repetition."""


def loops(text: str) -> bool:
    """Whether any part of the text repeats itself over and over, as with models that cannot stop.

    A loop is the same run of characters, with a letter or digit, LOOP_TIMES in a row over at least LOOP_LENGTH
    characters; case and the amount of white space do not matter, and the last repetition may be incomplete. Lines of
    dashes and shorter refrains are not loops. Misses loops that vary, for example by a counter. Linear time.
    """
    plain = " ".join([*text.casefold().split(), ""])  # so that the last repetition ends in a space too
    last: dict[str, int] = {}
    period = since = 0
    said = -1
    for at in range(len(plain) - _SEED + 1):
        end = at + _SEED
        said = next((n for n in range(end - 1, max(said, end - _SEED - 1), -1) if plain[n].isalnum()), said)
        distance = at - last.get(plain[at:end], at)
        if distance != period:
            period, since = distance, at
        last[plain[at:end]] = at
        filled = end - since + period
        if period and said >= end - period and filled >= max(LOOP_LENGTH, LOOP_TIMES * period):
            return True
    return False
