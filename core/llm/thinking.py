"""What a reasoning model writes before its answer: told apart from it, given room of its own; and text that says the same over and over."""

from core.llm.client import Reply, Request

_NAMES = ("think", "thinking", "reasoning")
_ROOM_TO_SEEN = 1.5
"""Room for thinking, over the longest seen so far: the next question may take more."""


def apart(text: str) -> tuple[str, str]:
    """The text without what a reasoning model thought aloud, and that.

    Pairs of <think> and </think> go wherever they stand. A </think> that nothing opened ends reasoning that
    began in the prompt; a <think> at the start that nothing closes was cut off before any answer.
    """
    thoughts: list[str] = []
    for name in _NAMES:
        text = _without_block(text, f"<{name}>", f"</{name}>", thoughts)
    return text, "\n\n".join(thought for one in thoughts if (thought := one.strip()))


def _without_block(text: str, opening: str, closing: str, thoughts: list[str]) -> str:
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
    """Tokens that a client adds to the limit of an answer, so that thinking does not eat it: learned from replies."""

    def __init__(self) -> None:
        self._most = 0

    def limit_of(self, request: Request) -> int:
        """What to send as the limit of thinking and answer together."""
        chosen = request.how.reasoning_budget
        if chosen is not None:
            return request.max_tokens + chosen
        limit = request.max_tokens + round(self._most * _ROOM_TO_SEEN)
        return max(request.max_tokens, min(limit, request.how.largest_limit))

    def learn(self, reply: Reply) -> None:
        """Remember how much thinking a reply took."""
        self._most = max(self._most, thinking_tokens(reply))


def thinking_tokens(reply: Reply) -> int:
    """Tokens of thinking: as the server counts, or else their share of the reply's letters."""
    if reply.thinking_tokens is not None:
        return reply.thinking_tokens
    if not reply.thinking or not reply.output_tokens:
        return 0
    return round(reply.output_tokens * len(reply.thinking) / (len(reply.thinking) + len(reply.text or "")))


LOOP_TIMES, LOOP_LENGTH = 4, 60
"""A text loops where the same characters stand at least so many times in a row, and fill at least so many characters."""
_SEED = 8
"""Characters by which a repetition is noticed."""


def loops(text: str) -> bool:
    """Whether the text says the same over and over, as models do that cannot stop: anywhere in it.

    The same run of characters, with a letter or digit in it, LOOP_TIMES in a row and over LOOP_LENGTH characters or
    more; case and the amount of white space do not matter. A repetition may be broken off. Lines of dashes do not
    loop, nor does a refrain that is shorter. Misses loops that vary, such as by a number that counts up. Linear time.
    """
    plain = " ".join([*text.casefold().split(), ""])  # what ends the text repeats its blank too
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
