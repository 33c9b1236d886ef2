"""Choices that look random and are not: every one is a hash of the seed and of what is chosen for."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A place in the tree of choices: the same parts always choose the same, whatever else was drawn before."""

    def __init__(self, *parts: object) -> None:
        # Each part with its length: ("a", "b") and ("ab",) must not meet.
        whole = "".join(f"{len(str(part))}:{part}" for part in parts)
        self._key = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()

    def child(self, *parts: object) -> "Draw":
        """The choices below this one, such as those of one span."""
        return Draw(self._key, *parts)

    def below(self, limit: int, label: object = "") -> int:
        """A number from 0 to limit - 1."""
        digest = hashlib.sha256(f"{self._key}/{label}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % limit

    def choose(self, options: Sequence[T], label: object = "") -> T:
        """One of the options; which one does not change when others are removed that it would not have chosen."""
        # The option of the smallest hash: taking names out of a pool leaves all other items' choices alone.
        best = min(range(len(options)), key=lambda at: (self.below(1 << 62, f"{label}|{options[at]}"), at))
        return options[best]

    def shuffled(self, options: Sequence[T], label: object = "") -> list[T]:
        """The options in a drawn order."""
        return sorted(options, key=lambda option: self.below(1 << 62, f"{label}|{option}"))
