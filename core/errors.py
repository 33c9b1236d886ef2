"""The errors a user can meet, as a tree.

AssayError                 anything a user can mend; its text names the thing, the place and what to do
├── InputError             a file or an argument that cannot be used; holds the first problems, counts all
├── NotFound               a study, rater or link that is not there
├── NotAllowed             an action the study's state or the visitor's role forbids
│   └── StillMissing       a text cannot be done yet; what was said of it is kept
└── StorageError           the database could not be read or written; nothing was lost that was acknowledged
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

MOST_PROBLEMS = 100
"""Problems of one input that are kept and listed; further ones are counted."""
MOST_SAME = 5
"""Rows with the same problem that are listed one by one."""
LONGEST_PROBLEM = 5_000
"""Characters of one that are kept: a name in it may be a megabyte."""
_ROW = re.compile(r"(?:line|row|record|item|question|level|source|system|rating|error) ")
"""How the parts of a place begin that say which of several rows a problem is of, as in `line 7, level A2, text: `."""


class AssayError(Exception):
    """Base of all errors shown to a user as one sentence, never as a traceback."""


@dataclass(frozen=True)
class _Problem:
    """One that is kept."""

    kind: str
    said: str
    n: int = 1
    """How many it tells of."""
    place: str = ""
    """The row that it is of; empty: it is of no row."""
    same: tuple[str, str] = ("", "")
    """Kind, and what is said of the row: equal for those that say the same of several rows."""


class Problems:
    """Problems in the order they are found: all are counted, the first MOST_PROBLEMS kept.

    Readers go on after a problem, and a small file may hold millions. What is wrong with more than MOST_SAME rows is
    told once, with their number and the first places.
    """

    def __init__(self, problems: Iterable[str] = ()) -> None:
        self._kept: list[_Problem] = []
        self._counts: Counter[str] = Counter()
        self._room: Counter[str] = Counter()
        """Kind -> those of it that are kept."""
        self._same: Counter[tuple[str, str]] = Counter()
        self += problems

    @property
    def n(self) -> int:
        """How many there are, those that were not kept included."""
        return self._counts.total() if self._kept else 0

    @property
    def n_listed(self) -> int:
        """How many those tell of that are listed."""
        return sum(one.n for one in self._listed())

    @property
    def counted(self) -> str:
        """Their number as a message says it: "1 problem"."""
        return "1 problem" if self.n == 1 else f"{self.n:,} problems"

    def append(self, problem: str, kind: str = "") -> None:
        """One more problem. kind: under which `join` finds it again; as many of each kind are kept."""
        said = problem[:LONGEST_PROBLEM]
        before, _, text = said.partition(": ")
        place = before.split(", ")
        if not (text and _ROW.match(place[0])):
            self._add(_Problem(kind, said))
            return
        rows = [part for part in place if _ROW.match(part)]
        of = ", ".join(part for part in place if not _ROW.match(part))
        self._add(_Problem(kind, said, place=", ".join(rows), same=(kind, f"{of}: {text}" if of else text)))

    def _add(self, one: _Problem) -> None:
        self._counts[one.kind] += one.n
        if one.place and (self._same[one.same] >= MOST_SAME or self._room[one.kind] < MOST_PROBLEMS):
            self._same[one.same] += 1
            if self._same[one.same] > MOST_SAME:
                return
        if self._room[one.kind] < MOST_PROBLEMS:
            self._room[one.kind] += 1
            self._kept.append(one)

    def join(self, kind: str, problem: str) -> None:
        """Put one problem in the place of all of a kind."""
        first = next(at for at, one in enumerate(self._kept) if one.kind == kind)
        after = [one for one in self._kept[first:] if one.kind != kind]
        self._kept[first:] = [_Problem(kind, problem), *after]
        self._counts[kind] = self._room[kind] = 1

    def each(self, change: Callable[[str], str]) -> "Problems":
        """The same problems in other words."""
        changed = Problems()
        for one in self._listed():
            changed._add(_Problem("", change(one.said)[:LONGEST_PROBLEM], one.n))
        changed._counts[""] = self.n
        return changed

    def __iadd__(self, problems: Iterable[str]) -> Self:
        if not isinstance(problems, Problems):
            for problem in problems:
                self.append(problem)
            return self
        listed = problems._listed()
        for one in listed:
            self._add(replace(one, kind="", same=("", one.same[1])))
        self._counts[""] += problems.n - sum(one.n for one in listed)
        return self

    def __iter__(self) -> Iterator[str]:
        """The first of them, at most MOST_PROBLEMS."""
        return iter([one.said for one in self._listed()])

    def _listed(self) -> list[_Problem]:
        """As they are told: what more rows have than MOST_SAME once, where the first of them stands."""
        places: dict[tuple[str, str], list[str]] = {}
        for one in self._kept:
            if one.place:
                places.setdefault(one.same, []).append(one.place)
        listed = []
        for one in self._kept:
            if not one.place or (n := self._same[one.same]) <= MOST_SAME:
                listed.append(one)
            elif first := places.pop(one.same, None):
                said = f"{'; '.join(first)} and {n - len(first):,} more: {one.same[1]}"
                listed.append(_Problem(one.kind, said, n))
        return listed[:MOST_PROBLEMS]

    def __bool__(self) -> bool:
        return bool(self._kept)


class InputError(AssayError):
    """Input that cannot be used. `problems` are the first MOST_PROBLEMS, each with its place; `n_problems` counts all."""

    def __init__(self, what: str, problems: Iterable[str] = ()) -> None:
        self.what = what
        self.found = Problems(problems)
        self.problems = tuple(self.found)
        self.n_problems = self.found.n
        more = self.n_problems - self.found.n_listed
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


MOST_NAMED = 3
_ALIKE_ENOUGH = 60
"""Of 100, on rapidfuzz's scale: below it a suggestion only puzzles."""


def nearest_names(name: str, known: Collection[str]) -> list[str]:
    """The known names most like the one that a user typed, best first; case does not matter."""
    from rapidfuzz import process  # only where a name is wrong

    found = process.extract(name.casefold(), {key: key.casefold() for key in known}, limit=MOST_NAMED)
    return [key for _, alike, key in found if alike >= _ALIKE_ENOUGH]
