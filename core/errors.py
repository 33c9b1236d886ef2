"""The errors a user can meet, as a tree.

AssayError                 anything a user can mend; its text names the thing, the place and what to do
├── InputError             a file or an argument that cannot be used; holds the first problems, counts all
├── NotFound               a study, rater or link that is not there
├── NotAllowed             an action the study's state or the visitor's role forbids
│   └── StillMissing       a text cannot be done yet; what was said of it is kept
└── StorageError           the database could not be read or written; nothing was lost that was acknowledged
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Self

MOST_PROBLEMS = 100
"""Problems of one input that are kept and listed; further ones are counted."""
LONGEST_PROBLEM = 5_000
"""Characters of one that are kept: a name in it may be a megabyte."""


class AssayError(Exception):
    """Base of all errors shown to a user as one sentence, never as a traceback."""


class Problems:
    """Problems in the order they are found: all are counted, the first MOST_PROBLEMS kept.

    Readers go on after a problem, and a small file may hold millions.
    """

    def __init__(self, problems: Iterable[str] = ()) -> None:
        self._kept: list[tuple[str, str]] = []
        self._counts: Counter[str] = Counter()
        self += problems

    @property
    def n(self) -> int:
        """How many there are, those that were not kept included."""
        return self._counts.total() if self._kept else 0

    @property
    def counted(self) -> str:
        """Their number as a message says it: "1 problem"."""
        return "1 problem" if self.n == 1 else f"{self.n:,} problems"

    def append(self, problem: str, kind: str = "") -> None:
        """One more problem. kind: under which `join` finds it again; as many of each kind are kept."""
        self._counts[kind] += 1
        if self._counts[kind] <= MOST_PROBLEMS:
            self._kept.append((kind, problem[:LONGEST_PROBLEM]))

    def join(self, kind: str, problem: str) -> None:
        """Put one problem in the place of all of a kind."""
        first = next(at for at, (own, _) in enumerate(self._kept) if own == kind)
        after = [one for one in self._kept[first:] if one[0] != kind]
        self._kept[first:] = [(kind, problem), *after]
        self._counts[kind] = 1

    def each(self, change: Callable[[str], str]) -> "Problems":
        """The same problems in other words."""
        changed = Problems(map(change, self))
        changed._counts[""] = self.n
        return changed

    def __iadd__(self, problems: Iterable[str]) -> Self:
        before = self.n
        for problem in problems:
            self.append(problem)
        if isinstance(problems, Problems):
            self._counts[""] += problems.n - (self.n - before)
        return self

    def __iter__(self) -> Iterator[str]:
        """The first of them, at most MOST_PROBLEMS."""
        return iter([problem for _, problem in self._kept[:MOST_PROBLEMS]])

    def __bool__(self) -> bool:
        return bool(self._kept)


class InputError(AssayError):
    """Input that cannot be used. `problems` are the first MOST_PROBLEMS, each with its place; `n_problems` counts all."""

    def __init__(self, what: str, problems: Iterable[str] = ()) -> None:
        self.what = what
        self.found = Problems(problems)
        self.problems = tuple(self.found)
        self.n_problems = self.found.n
        more = self.n_problems - len(self.problems)
        self.more = f"... and {more:,} more {'problem' if more == 1 else 'problems'}" if more else ""
        """Of those that are not listed; empty where all are."""
        listed = [f"  - {problem}" for problem in self.problems]
        super().__init__("\n".join([what, *listed, *([f"  {self.more}"] if more else [])]))

    def under(self, place: str) -> Problems:
        """The problems, or the sentence where there is none, each after a place."""
        return (self.found or Problems([self.what])).each(lambda problem: f"{place}: {problem}")


class NotFound(AssayError):
    """The named study, rater or link does not exist."""


class NotAllowed(AssayError):
    """The study's state or the visitor's role forbids this."""


class StillMissing(NotAllowed):
    """A text cannot be done before all is said that is asked. What was said is kept."""


class StorageError(AssayError):
    """The database could not be read or written."""
