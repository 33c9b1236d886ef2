"""Studies whose questions end a conversation."""

from dataclasses import replace

from core.schema.scores import Turn, TurnRole
from core.schema.study import Dataset, Item

ROLES: tuple[TurnRole, ...] = ("user", "assistant")


def spoken(what: str, n_turns: int) -> tuple[Turn, ...]:
    """Turns before a question, of the user and the assistant, the last by the assistant. what: what they speak of."""
    first = n_turns % 2
    return tuple(
        Turn(ROLES[(number + first) % 2], f"Turn {number + 1} of {what}.") for number in range(n_turns)
    )


def in_conversation(item: Item, n_turns: int) -> Item:
    """The item after this many turns, its question among them."""
    return replace(
        item, turns=(*spoken(item.question.rstrip("?").lower(), n_turns - 1), Turn("user", item.question))
    )


def conversations(data: Dataset, n_turns: int = 7) -> Dataset:
    """The data set whose questions each end a conversation of this many turns."""
    return replace(data, items=tuple(in_conversation(item, n_turns) for item in data.items))
