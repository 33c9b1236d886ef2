"""Errors shown to users, as a tree.

AssayError                 anything a user can fix; the message names the thing, the place and what to do
├── InputError             an invalid file or argument; lists the first problems and counts all
├── NotFound               an unknown study, rater or link
├── NotAllowed             an action that the study's state or the visitor's role forbids
│   └── StillMissing       a text with missing answers; the given answers are saved
└── StorageError           the database cannot be read or written; acknowledged data is not lost
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

MOST_PROBLEMS = 100
"""Maximum number of problems listed for one input; further ones are only counted."""
MOST_SAME = 5
"""Maximum number of rows with the same problem that are listed separately."""
LONGEST_PROBLEM = 5_000
"""Maximum length of a problem in characters; a name in it may be a megabyte."""
_ROW = re.compile(r"(?:line|row|record|item|question|level|source|system|rating|error) ")
"""Matches the parts of a place that identify a row, as in `line 7, level A2, text: `."""


class AssayError(Exception):
    """Base of all errors shown to a user as one sentence, never as a traceback."""

    status = 2
    """Exit status of a command that it ends."""


class NothingUsable(AssayError):
    """A run that a model answered, and none of whose answers could be used."""

    status = 4


@dataclass(frozen=True)
class _Problem:
    """A stored problem."""

    kind: str
    said: str
    n: int = 1
    """Number of problems that it stands for."""
    place: str = ""
    """The row with the problem; empty if it concerns no row."""
    same: tuple[str, str] = ("", "")
    """Kind, and the text without the row; equal for the same problem in several rows."""


class Problems:
    """Problems in the order found: all are counted, the first MOST_PROBLEMS stored.

    Readers continue after a problem, and a small file may contain millions. A problem in more than MOST_SAME rows is
    listed once, with the number of rows and the first places.
    """

    def __init__(self, problems: Iterable[str] = ()) -> None:
        self._kept: list[_Problem] = []
        self._counts: Counter[str] = Counter()
        self._room: Counter[str] = Counter()
        """Kind -> number of stored problems."""
        self._same: Counter[tuple[str, str]] = Counter()
        self += problems

    @property
    def n(self) -> int:
        """Number of problems, including those not stored."""
        return self._counts.total() if self._kept else 0

    @property
    def n_listed(self) -> int:
        """Number of problems covered by the listed ones."""
        return sum(one.n for one in self._listed())

    @property
    def counted(self) -> str:
        """The number with its noun, e.g. "1 problem"."""
        return counted(self.n, "problem")

    def append(self, problem: str, kind: str = "") -> None:
        """Add a problem. kind: key for `join`; the limit MOST_PROBLEMS applies to each kind."""
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
        """Replace all problems of a kind by a single one."""
        first = next(at for at, one in enumerate(self._kept) if one.kind == kind)
        after = [one for one in self._kept[first:] if one.kind != kind]
        self._kept[first:] = [_Problem(kind, problem), *after]
        self._counts[kind] = self._room[kind] = 1

    def each(self, change: Callable[[str], str]) -> "Problems":
        """Return the problems with each text changed."""
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
        """Iterate over the first problems, at most MOST_PROBLEMS."""
        return iter([one.said for one in self._listed()])

    def _listed(self) -> list[_Problem]:
        """Return the listed problems, merging one that occurs in more than MOST_SAME rows."""
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
    """Invalid input. `problems` has the first MOST_PROBLEMS, each with its place; `n_problems` counts all."""

    def __init__(self, what: str, problems: Iterable[str] = ()) -> None:
        self.what = what
        self.found = Problems(problems)
        self.problems = tuple(self.found)
        self.n_problems = self.found.n
        more = self.n_problems - self.found.n_listed
        self.more = f"... and {more:,} more {'problem' if more == 1 else 'problems'}" if more else ""
        """Line about the problems not listed; empty if all are."""
        listed = [f"  - {problem}" for problem in self.problems]
        super().__init__("\n".join([what, *listed, *([f"  {self.more}"] if more else [])]))

    def under(self, place: str) -> Problems:
        """Return the problems, or the message if there are none, each prefixed with a place."""
        return (self.found or Problems([self.what])).each(lambda problem: f"{place}: {problem}")


class NotFound(AssayError):
    """The named study, rater or link does not exist."""


class NotAllowed(AssayError):
    """The study's state or the visitor's role forbids this."""


class StillMissing(NotAllowed):
    """A text cannot be completed because answers are missing. The given answers are saved."""


class StorageError(AssayError):
    """The database cannot be read or written."""


MOST_NAMED = 3
_ALIKE_ENOUGH = 60
"""Minimum similarity of a suggestion on rapidfuzz's scale of 0 to 100; lower ones would confuse."""


def counted(n: int, noun: str, several: str = "") -> str:
    """A count with its noun, e.g. `1 text`, `2,000 texts`. several: the plural, if it is not `noun` with an s."""
    return f"{n:,} {noun if n == 1 else several or f'{noun}s'}"


def nearest_names(name: str, names: Collection[str]) -> list[str]:
    """Return the known names most similar to a mistyped one, best first, ignoring case."""
    from rapidfuzz import process  # imported lazily: needed only for a wrong name

    found = process.extract(name.casefold(), {key: key.casefold() for key in names}, limit=MOST_NAMED)
    return [key for _, alike, key in found if alike >= _ALIKE_ENOUGH]
