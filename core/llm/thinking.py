"""What a reasoning model writes before its answer: told apart from it, and given room of its own."""

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
