"""A reader's findings about one file: problems, notes, and texts cleaned for storage."""

import hashlib
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
"""Texts with control characters that get a note each; a file in a wrong encoding has them everywhere."""


def place(
    line: int | None = None, question: str | None = None, level: str | None = None, source: str | None = None
) -> str:
    """A place in a file, as far as known: 'line 7, question 3, level A2, system ai'."""
    parts = [] if line is None else [f"line {line}"]
    for noun, name in (("question", question), ("level", level), ("system", source)):
        if name is not None:
            parts.append(f"{noun} {shown(name)}")
    return ", ".join(parts)


def same_wording(text: str) -> str:
    """A key that is equal for texts that differ only in Unicode form, line breaks or spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


_LONGEST_ID = 80


def question_id(question: str, *more: object) -> str:
    """The id of an item whose key is its question: its wording, shortened, so that the same question has it in every file.

    more: what else tells questions apart, such as the turns before them.
    """
    wording = "".join(char if char.isprintable() else "\ufffd" for char in same_wording(question))
    whole = repr((wording, *more)) if more else wording
    if not more and len(wording) <= _LONGEST_ID:
        return wording
    return f"{wording[: _LONGEST_ID - 10].strip()}… {hashlib.sha256(whole.encode()).hexdigest()[:8]}"


class FileFindings:
    """Problems and notes of one file, collected while it is read. The reader raises or returns them at the end."""

    def __init__(self, file_name: str, sha256: str) -> None:
        self.file_name = file_name
        self.sha256 = sha256
        self.problems = Problems()
        self.notes: list[str] = []
        self._replaced: list[tuple[str, int]] = []
        """The first places with replaced characters, and the number there."""
        self._n_replaced = Counter[str]()
        """Number of such texts and characters; a large file may have millions."""

    def text(self, where: str, field: str, value: object) -> str:
        """The value as a text to store and show. If it is no text: adds a problem and returns ""."""
        if isinstance(value, str) and value.isprintable() and (plain := value.strip()):
            return plain  # fast path for most texts: one pass over the characters instead of a dozen
        problem = raw_text_problem(value)
        if problem or not isinstance(value, str):
            self.problems.append(f"{where}: {field} {problem}")
            return ""
        if count := control_count(value):
            self._n_replaced.update(texts=1, characters=count)
            if len(self._replaced) < MOST_REPLACED_NOTES:
                self._replaced.append((where if field == "text" else f"{where}, {field}", count))
        # Replace first: str.strip would drop some control characters uncounted.
        return clean_text(printable_text(value))

    def language(self, where: str, value: object) -> str:
        """The value as a language tag. If it is none: adds a problem and returns `und`."""
        problem = text_problem(value)
        if isinstance(value, str) and not problem and is_language_tag(value.strip()):
            return value.strip()
        written = shown(value) if isinstance(value, str) else problem
        self.problems.append(f"{where}: language is not a tag such as en, pt-BR or und ({written})")
        return "und"

    def refuse(self) -> None:
        """Raise InputError if there are problems."""
        if self.problems:
            reject(self.file_name, self.problems)

    def settled(self) -> tuple[str, str, tuple[str, ...]]:
        """Fingerprint, name and notes of a file that was read to its end. Raises InputError if it has problems."""
        self.refuse()
        self.note_replaced()
        return self.sha256, printable_text(self.file_name), tuple(self.notes)

    def note_replaced(self) -> None:
        """Note where a character of the file was replaced."""
        self.notes += [f"{where}: {_controls(count)} replaced by U+FFFD" for where, count in self._replaced]
        if (n_texts := self._n_replaced["texts"]) > len(self._replaced):
            self.notes.append(
                f"{_controls(self._n_replaced['characters'])} replaced by U+FFFD in {n_texts} texts in all; "
                f"the first {MOST_REPLACED_NOTES} are listed"
            )


class Lacking:
    """Missing parts of questions: one problem each, or a single one if all questions lack the same."""

    def __init__(self, findings: FileFindings) -> None:
        self._findings = findings
        self._missing: Counter[tuple[str, str]] = Counter()

    def add(self, where: str, what: str, why: str = "") -> None:
        """Add the problem that `what` is missing at a place. `why` continues the sentence."""
        self._findings.problems.append(f"{where}: {what} is missing{why}", what + why)
        self._missing[what, why] += 1

    def join(self, n_questions: int) -> None:
        """Replace problems that every question has by one problem for the file."""
        for (what, why), n in self._missing.items():
            if n == n_questions > 1:
                problem = f"file: {what} is missing in all {n_questions} questions{why}"
                self._findings.problems.join(what + why, problem)


def _controls(count: int) -> str:
    return "1 control character" if count == 1 else f"{count} control characters"


MOST_LISTED = 30
"""Names that a message lists in full; of a longer list it shows the likely ones."""


def listed(names: Sequence[str], wanted: Iterable[str] = ()) -> str:
    """The names for a message. Of a long list: how many, and those most like a wanted one, else the first."""
    if len(names) <= MOST_LISTED:
        return ", ".join(map(_written, names))
    likely = dict.fromkeys(near for name in wanted for near in nearest_names(name, names))
    return f"{len(names):,}, among them {', '.join(map(_written, list(likely)[:MOST_LISTED] or names[:MOST_NAMED]))}"


def _written(name: str) -> str:
    return shown(name) or "(no name)"


def likely_columns(
    missing: Sequence[str], others: Sequence[str], usual: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """For each missing column, the file's other columns that may be meant; empty if none is similar.

    usual: column -> the names that other programs use. A column with such a name is suggested for nothing else.
    """
    written = {other: re.sub(r"[\s.-]+", "_", other.strip().casefold()) for other in others}
    found = {column: [o for o in others if written[o] in usual.get(column, ())] for column in missing}
    taken = {name for names in found.values() for name in names}
    left = [other for other in others if other not in taken]
    return {column: names or nearest_names(column, left) for column, names in found.items()}


def rename(likely: Sequence[str], column: str) -> str:
    """The end of a message on a missing column: which column to rename; empty if there is no likely one."""
    return f"; is it {' or '.join(map(shown, likely))}? Rename that column to {column}" if likely else ""
