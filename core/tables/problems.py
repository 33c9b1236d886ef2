"""What a reader notes about one file: every problem, every note, and texts made fit to be stored."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from core.errors import MOST_NAMED, Problems, nearest_names
from core.tables.reading import (
    clean_text,
    control_count,
    is_language_tag,
    printable_text,
    raw_text_problem,
    reject,
    shown,
    text_problem,
)

MOST_REPLACED_NOTES = 20
"""Texts with control characters that are noted one by one; a file in a wrong encoding has them everywhere."""


def place(
    line: int | None = None, question: str | None = None, level: str | None = None, source: str | None = None
) -> str:
    """Where in a file: 'line 7, question 3, level A2, source ai', as far as known."""
    parts = [] if line is None else [f"line {line}"]
    for noun, name in (("question", question), ("level", level), ("source", source)):
        if name is not None:
            parts.append(f"{noun} {shown(name)}")
    return ", ".join(parts)


def same_wording(text: str) -> str:
    """A key under which texts are equal whose letters are: Unicode form, line breaks and blanks aside."""
    return " ".join(unicodedata.normalize("NFC", text).split())


class FileFindings:
    """Problems and notes of one file, gathered while it is read; a reader raises or returns them at its end."""

    def __init__(self, file_name: str, sha256: str) -> None:
        self.file_name = file_name
        self.sha256 = sha256
        self.problems = Problems()
        self.notes: list[str] = []
        self._replaced: list[tuple[str, int]] = []

    def text(self, where: str, field: str, value: object) -> str:
        """The value as a text that can be stored and shown; a problem and "" where it is none."""
        if isinstance(value, str) and value.isprintable() and (plain := value.strip()):
            return plain  # of most texts: one look at each character, where all that follows takes a dozen
        problem = raw_text_problem(value)
        if problem or not isinstance(value, str):
            self.problems.append(f"{where}: {field} {problem}")
            return ""
        if count := control_count(value):
            self._replaced.append((where if field == "text" else f"{where}, {field}", count))
        # Replaced first: str.strip would drop some control characters uncounted.
        return clean_text(printable_text(value))

    def language(self, where: str, value: object) -> str:
        """The value as a language tag; a problem and `und` where it is none."""
        problem = text_problem(value)
        if isinstance(value, str) and not problem and is_language_tag(value.strip()):
            return value.strip()
        written = shown(value) if isinstance(value, str) else problem
        self.problems.append(f"{where}: language is no tag such as en, pt-BR or und ({written})")
        return "und"

    def refuse(self) -> None:
        """Raise InputError where there are problems."""
        if self.problems:
            reject(self.file_name, self.problems)

    def settled(self) -> tuple[str, str, tuple[str, ...]]:
        """Fingerprint, name and notes of the file, once all of it is read. Raises InputError as above."""
        self.refuse()
        self.note_replaced()
        return self.sha256, printable_text(self.file_name), tuple(self.notes)

    def note_replaced(self) -> None:
        """Note where a character of the file is not the one that is shown."""
        self.notes += [
            f"{where}: {_controls(count)} became U+FFFD"
            for where, count in self._replaced[:MOST_REPLACED_NOTES]
        ]
        if len(self._replaced) > MOST_REPLACED_NOTES:
            total = sum(count for _, count in self._replaced)
            self.notes.append(
                f"in all {_controls(total)} became U+FFFD, in {len(self._replaced)} texts; "
                f"the first {MOST_REPLACED_NOTES} are listed"
            )


class Lacking:
    """What questions lack: one problem each, but a single one for the file where all of them lack the same."""

    def __init__(self, findings: FileFindings) -> None:
        self._findings = findings
        self._said: Counter[tuple[str, str]] = Counter()

    def add(self, where: str, what: str, why: str = "") -> None:
        """A problem at a place: `what` is missing there; `why` goes on with the sentence."""
        self._findings.problems.append(f"{where}: {what} is missing{why}", what + why)
        self._said[what, why] += 1

    def join(self, n_questions: int) -> None:
        """Put one problem in the place of those that every one of several questions has."""
        for (what, why), n in self._said.items():
            if n == n_questions > 1:
                said = f"file: {what} is missing in all {n_questions} questions{why}"
                self._findings.problems.join(what + why, said)


def _controls(count: int) -> str:
    return "1 control character" if count == 1 else f"{count} control characters"


MOST_LISTED = 30
"""Names that a message lists; of more, the likely ones."""


def listed(names: Sequence[str], wanted: Iterable[str] = ()) -> str:
    """The names for a message; of many, their number and those most like a wanted one, else the first."""
    if len(names) <= MOST_LISTED:
        return ", ".join(map(_written, names))
    likely = dict.fromkeys(near for name in wanted for near in nearest_names(name, names))
    return f"{len(names):,}, among them {', '.join(map(_written, list(likely)[:MOST_LISTED] or names[:MOST_NAMED]))}"


def _written(name: str) -> str:
    return shown(name) or "(no name)"


def likely_columns(
    missing: Sequence[str], others: Sequence[str], usual: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Which of a file's other columns may be meant by each that is missing; empty where none is like it.

    usual: column -> the names that other programs give it. A column with such a name is suggested for nothing else.
    """
    written = {other: re.sub(r"[\s.-]+", "_", other.strip().casefold()) for other in others}
    found = {column: [o for o in others if written[o] in usual.get(column, ())] for column in missing}
    taken = {name for names in found.values() for name in names}
    left = [other for other in others if other not in taken]
    return {column: names or nearest_names(column, left) for column, names in found.items()}


def rename(likely: Sequence[str], column: str) -> str:
    """The end of a sentence about a missing column: what to do if it is one of these; empty without any."""
    return f"; is it {' or '.join(map(shown, likely))}? Rename that column to {column}" if likely else ""
