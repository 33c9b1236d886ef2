"""Lists with numbers in a prompt, and answers with an entry for each number: of claims, and of questions.

Models number carelessly, and several attempts may each lack something: what is said here holds for both.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from core.llm.asking import Unusable
from core.llm.parsing import is_number

LONGEST_NUMBER = 6
"""Digits of a number that is written as a text."""
Entry = TypeVar("Entry")


def in_a_line(text: str) -> str:
    """An entry on one line: one that held a line break could pass for two."""
    return " ".join(text.split())


def numbered(entries: Iterable[str]) -> str:
    """The entries line by line, numbered from 1."""
    return "\n".join(f"{number}: {in_a_line(entry)}" for number, entry in enumerate(entries, start=1))


def place_of(value: object, n: int, what: str, kind: str) -> int | None:
    """The place, from 0, of the entry that an answer numbers with `value`; None: that is no number.

    Raises Unusable (of this kind) for a number outside of 1 to n, 0 above all: whoever counts otherwise has shifted all
    the others too. what: the entries' name in the plural.
    """
    number = whole_number(value)
    if number is not None and not 1 <= number <= n:
        raise Unusable(f"Its {what} are numbered otherwise: they go from 1 to {n}.", kind)
    return None if number is None else number - 1


def whole_number(value: object) -> int | None:
    """The number under which an entry stands; models write 1, 1.0 and "1"."""
    if isinstance(value, str):
        digits = value.strip()
        return (
            int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_NUMBER else None
        )
    return int(value) if is_number(value) and value == value // 1 else None


class MostComplete(Generic[Entry]):
    """Remembers of several replies the one in which most entries say something, of equal ones the later."""

    def __init__(self, says_something: Callable[[Entry], bool]) -> None:
        self._says_something = says_something
        self.reply: tuple[Entry, ...] | None = None
        """None: there was none yet."""

    def offer(self, reply: tuple[Entry, ...]) -> None:
        """One more reply, with an entry for each number."""
        if self._found(reply) >= self._found(self.reply or ()):
            self.reply = reply

    def _found(self, reply: tuple[Entry, ...]) -> int:
        return sum(map(self._says_something, reply))
