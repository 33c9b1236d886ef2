"""From the readers' findings to a Dataset: the checks that no format can do without, in one place.

A reader hands over items and texts as it meets them. What is there but unusable is remembered as well, so
that, where its place is known, one mistake is reported once and not again as something missing.
"""

import re
from collections import Counter
from dataclasses import dataclass

import regex

from core.datasets.findings import MOST_REPLACED_NOTES, FileFindings, place
from core.datasets.misplaced import (
    MOST_LISTED,
    Key,
    Part,
    enumerated,
    explain,
    lines_named,
    missing_sentences,
    slip_sentence,
    slips,
)
from core.datasets.reading import clean_text, printable_text, reject, same_name, shown
from core.schema import Dataset, Item, Output

__all__ = ["MOST_REPLACED_NOTES", "DatasetBuilder", "ItemFields", "natural_order", "place"]

MOST_EMPTY = 20
"""Places a text; a file that would need more has the wrong names in a column."""

_INVISIBLE = regex.compile(r"[\p{Cf}\u00A0\u2000-\u200A\u202F\u3164]")


def natural_order(name: str) -> tuple[tuple[tuple[int, str], ...], str]:
    """Sort key under which A2 comes before A10."""
    # Numbers are compared by length and then as text: int() refuses more than 4,300 digits.
    pieces = [piece.lstrip("0") if piece.isdecimal() else piece for piece in re.split(r"(\d+)", name)]
    return tuple((len(piece) if at % 2 else 0, piece) for at, piece in enumerate(pieces)), name


@dataclass(frozen=True)
class ItemFields:
    """What a file says about one question, not yet checked. Lines are for messages only."""

    item_id: str
    question: object
    reference: object
    language: object = "und"
    reference_name: str = "reference"
    """The field's name in this format."""
    question_line: int | None = None
    reference_line: int | None = None
    language_line: int | None = None


class DatasetBuilder(FileFindings):
    """Collects items, texts and problems of one file; `finish` returns the data set or raises them all.

    Items are known by their number in the file, because two of them may carry the same id.
    """

    def __init__(self, file_name: str, sha256: str) -> None:
        super().__init__(file_name, sha256)
        self._items: list[Item] = []
        self._texts: dict[Key, str] = {}
        self._lines: dict[Key, int | None] = {}
        self._again: list[tuple[Key, int | None, bool]] = []
        self._unusable: set[tuple[int, str]] = set()
        self._unplaced: list[Key] = []
        self._unread = False

    def add_item(self, fields: ItemFields) -> int:
        """Check and keep a question; returns the number under which its texts are added."""
        question = self.text(place(fields.question_line, fields.item_id), "question", fields.question)
        where = place(fields.reference_line, fields.item_id)
        reference = self.text(where, fields.reference_name, fields.reference)
        language = self.language(place(fields.language_line, fields.item_id), fields.language)
        self._items.append(Item(fields.item_id, question, reference, language))
        return len(self._items) - 1

    def add_output(
        self,
        item: int,
        level: str,
        source: str,
        text: object,
        line: int | None = None,
        *,
        reported: bool = False,
    ) -> None:
        """Check and keep one source's text at one level of an item.

        reported: something is wrong with the row, so that it is no second problem if it gives a text again.
        """
        key = Key(item, level, source)
        where = place(line, self._items[item].item_id, level, source)
        if key not in self._texts:
            self._lines[key] = line
            self._texts[key] = self.text(where, "text", text)
        elif not reported:
            same = isinstance(text, str) and clean_text(printable_text(text)) == self._texts[key]
            self._again.append((key, line, same))

    def mark_unusable(self, item: int, level: str = "") -> None:
        """Remember that an item (or one level of it) is broken and reported: nothing in it is missing."""
        self._unusable.add((item, level))

    def mark_unplaced(self, level: str, source: str) -> None:
        """Remember a text whose item is not known and reported: some item lacks it."""
        self._unplaced.append(Key(-1, level, source))

    def mark_unread(self) -> None:
        """Remember that part of the file could not be read and was reported: what is missing may stand there."""
        self._unread = True

    def finish(self) -> Dataset:
        """The data set if the file holds one; else InputError with every problem found."""
        self._check_ids()
        sources = self._sources()
        levels = tuple(sorted({level for _, level, _ in self._texts}, key=natural_order))
        self._check_places(levels, sources)
        if self.problems:
            reject(self.file_name, self.problems)
        first, second = sources
        self._note_identical(levels, first, second)
        self._note_invisible()
        self.note_replaced()
        outputs = tuple(
            Output(item.item_id, level, source, self._texts[Key(number, level, source)])
            for number, item in enumerate(self._items)
            for level in levels
            for source in sources
        )
        return Dataset(
            items=tuple(self._items),
            outputs=outputs,
            levels=levels,
            sources=(first, second),
            sha256=self.sha256,
            file_name=printable_text(self.file_name),
            notes=tuple(self.notes),
        )

    def finish_outputs(self) -> tuple[tuple[Item, ...], tuple[Output, ...]]:
        """The questions and what one or two sources have to them, gaps and all; else InputError.

        For files that are to be put beside another: which texts are needed shows only then.
        """
        self._check_ids()
        sources = self._sources(fewest=1)
        whose = set(sources)
        self._report_slips([], [key for key in self._texts if key.source not in whose], [], sources, {})
        self._report_repeated({})
        if self.problems:
            reject(self.file_name, self.problems)
        self.note_replaced()
        outputs = tuple(
            Output(self._items[number].item_id, level, source, text)
            for (number, level, source), text in self._texts.items()
        )
        return tuple(self._items), outputs

    def _note_invisible(self) -> None:
        """Characters nobody sees can tell the sources apart to whoever looks at the page's text."""
        for source in dict.fromkeys(source for _, _, source in self._texts):
            texts = [text for (_, _, own), text in self._texts.items() if own == source]
            found = Counter(c for text in texts for c in set(_INVISIBLE.findall(text)))
            if found:
                named = ", ".join(f"U+{ord(c):04X} in {n}" for c, n in sorted(found.items()))
                self.notes.append(f"texts of source {shown(source)} hold characters nobody sees: {named}")

    def _check_ids(self) -> None:
        for item_id, count in Counter(item.item_id for item in self._items).items():
            if count > 1:
                self.problems.append(f"{place(question=item_id)}: id is used by {count} questions")

    def _sources(self, fewest: int = 2) -> list[str]:
        """The file's two sources in its order, and none that is misspelt; a problem where there are more or fewer."""
        places: dict[str, set[tuple[int, str]]] = {}
        for item, level, source in self._texts:
            places.setdefault(source, set()).add((item, level))
        names = enumerated(list(places)) if places else "none"
        if len({same_name(source) for source in places}) < len(places) == 2:
            self.problems.append(f"sources: {names} look alike; give them names a reader can tell apart")
        if len(places) > 2:
            # The two that occur most often are meant.
            meant = sorted(places, key=lambda source: -len(places[source]))[:2]
            misspelt = slips({source: own for source, own in places.items() if source != meant[0]})
            if len(places) - len(misspelt) == 2:
                return [source for source in places if source not in misspelt]
        if not fewest <= len(places) <= 2 and (places or not self.problems):
            needed = "exactly two" if fewest == 2 else "one or two"
            self.problems.append(f"sources: {len(places)} found ({names}); {needed} are needed")
        return list(places)

    def _check_places(self, levels: tuple[str, ...], sources: list[str]) -> None:
        """Report the texts that are misplaced, and those that are missing for no reason reported otherwise."""
        gaps: set[Key] = set()
        whose = set(sources)
        odd_sources = [key for key in self._texts if key.source not in whose]
        places: dict[str, set[tuple[int, str]]] = {level: set() for level in levels}
        for item, level, source in self._texts:
            if source in whose:
                places[level].add((item, source))
        misspelt = slips({level: own for level, own in places.items() if own})
        meant = [level for level in levels if places[level] and level not in misspelt]
        odd_levels = [key for key in self._texts if key.level in misspelt and key.source in whose]
        if len(sources) == 2 and not self._unread:
            gaps = self._gaps(meant, sources)
        found = explain(gaps, odd_levels, {"level"}) | explain(gaps, odd_sources, {"source"})
        explain(gaps, odd_sources, {"level", "source"})
        explain(gaps, self._unplaced, {"question"})
        self._report_slips(odd_levels, odd_sources, meant, sources, found)
        again = [key for key, _, same in self._again if not same]
        left: dict[Key, tuple[Part, Key]] = {}
        parts: tuple[Part, ...] = ("level", "source", "question")
        for part in parts:
            of_part = explain(gaps, [key for key in again if key not in left], {part})
            left |= {key: (part, gap) for key, gap in of_part.items()}
        self._report_repeated(left)
        self.problems += missing_sentences(gaps, self._names_with_lines(), meant)

    def _gaps(self, levels: list[str], sources: list[str]) -> set[Key]:
        """The texts that the file lacks; none after a problem that says why most of them are missing."""
        needed = len(self._items) * len(levels) * len(sources)
        if needed > MOST_EMPTY * len(self._texts):
            self.problems.append(
                f"file: {len(self._texts)} texts of {len(self._items)} questions at {len(levels)} levels "
                f"({enumerated(levels)}); every question needs two at each level. Check the columns item_id and level"
            )
            return set()
        return {
            Key(number, level, source)
            for number in range(len(self._items))
            if (number, "") not in self._unusable
            for level in levels
            if (number, level) not in self._unusable
            for source in sources
            if (number, level, source) not in self._texts
        }

    def _names_with_lines(self) -> list[str]:
        """What a sentence calls each question: its id, with the lines on which it stands."""
        lines: dict[int, set[int]] = {}
        for key, line in self._lines.items():
            if line is not None:
                lines.setdefault(key.question, set()).add(line)
        return [
            shown(item.item_id) + (f" ({lines_named(lines[number])})" if number in lines else "")
            for number, item in enumerate(self._items)
        ]

    def _report_slips(
        self,
        odd_levels: list[Key],
        odd_sources: list[Key],
        levels: list[str],
        sources: list[str],
        found: dict[Key, Key],
    ) -> None:
        """One problem for each level and source that is misspelt, wherever it stands; `found`: what they left out."""
        again: dict[Key, list[int | None]] = {}
        for key, line, _ in self._again:
            again.setdefault(key, []).append(line)
        named: dict[tuple[Part, str], list[Key]] = {}
        for key in odd_levels:
            named.setdefault(("level", key.level), []).append(key)
        for key in odd_sources:
            named.setdefault(("source", key.source), []).append(key)
        for (part, name), keys in named.items():
            lines = [line for key in keys for line in (self._lines[key], *again.get(key, ()))]
            gap = found.get(keys[0])
            meant = levels if part == "level" else sources
            sentence = slip_sentence(name, len(lines), meant, getattr(gap, part) if gap else None)
            level = keys[0].level
            if part == "source" and levels and len(keys) == 1 and level not in levels:
                sentence = (
                    f"{shown(name)} and level {shown(level)} occur in this text alone; are they swapped?"
                )
            self.problems.append(f"{self._place_of(keys, part, lines)}: {sentence}")
        slipped = {*odd_levels, *odd_sources}
        self._again = [one for one in self._again if one[0] not in slipped]

    def _place_of(self, keys: list[Key], part: Part, lines: list[int | None]) -> str:
        """Where texts with the same wrong part stand."""
        known = [line for line in lines if line is not None]
        questions = list(dict.fromkeys(self._items[key.question].item_id for key in keys))
        parts = [lines_named(known)] if known else []
        parts.append(f"question{'s' if len(questions) > 1 else ''} {enumerated(questions)}")
        if len(keys) == 1:
            only = keys[0]
            parts.append(f"source {shown(only.source)}" if part == "level" else f"level {shown(only.level)}")
        return ", ".join([*parts, f"column {part}" if known else part])

    def _report_repeated(self, left: dict[Key, tuple[Part, Key]]) -> None:
        """Texts that are given again: each, or all at once where many rows are there twice.

        left: text -> the part of it that is wrong, if another text is missing, and where that one is.
        """
        for same in (True, False):
            own = [(key, line) for key, line, alike in self._again if alike == same]
            lines = [line for _, line in own if line is not None]
            if len(lines) > MOST_LISTED:
                what = "the rows repeat earlier ones" if same else "texts are given more than once"
                first = self._lines[own[0][0]]
                self.problems.append(f"{lines_named(lines)}: {what}, line {lines[0]} that of line {first}")
                continue
            for key, line in own:
                first = self._lines[key]
                before = "" if first is None else f" (first in line {first})"
                where = place(line, self._items[key.question].item_id, key.level, key.source)
                hint = ""
                if key in left:
                    part, gap = left[key]
                    name = self._items[gap.question].item_id if part == "question" else getattr(gap, part)
                    hint = f", but none for {part} {shown(name)}"
                self.problems.append(f"{where}: text is given more than once{before}{hint}")

    def _note_identical(self, levels: tuple[str, ...], first: str, second: str) -> None:
        for number, item in enumerate(self._items):
            for level in levels:
                if self._texts[Key(number, level, first)] == self._texts[Key(number, level, second)]:
                    where = place(None, item.item_id, level)
                    self.notes.append(f"{where}: both sources have the same text")
