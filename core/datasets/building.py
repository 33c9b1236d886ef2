"""From the readers' findings to a Dataset: the checks that no format can do without, in one place.

A reader hands over items and texts as it meets them. What is there but unusable is remembered as well, so
that, where its place is known, one mistake is reported once and not again as something missing.
"""

import re
from collections import Counter
from dataclasses import dataclass

import regex

from core.datasets.findings import MOST_REPLACED_NOTES, FileFindings, place
from core.datasets.reading import printable_text, reject, same_name, shown
from core.schema import Dataset, Item, Output

__all__ = ["MOST_REPLACED_NOTES", "DatasetBuilder", "ItemFields", "natural_order", "place"]

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
        self._texts: dict[tuple[int, str, str], str] = {}
        self._lines: dict[tuple[int, str, str], int | None] = {}
        self._unusable: set[tuple[int, str]] = set()

    def add_item(self, fields: ItemFields) -> int:
        """Check and keep a question; returns the number under which its texts are added."""
        question = self.text(place(fields.question_line, fields.item_id), "question", fields.question)
        where = place(fields.reference_line, fields.item_id)
        reference = self.text(where, fields.reference_name, fields.reference)
        language = self.language(place(fields.language_line, fields.item_id), fields.language)
        self._items.append(Item(fields.item_id, question, reference, language))
        return len(self._items) - 1

    def add_output(self, item: int, level: str, source: str, text: object, line: int | None = None) -> None:
        """Check and keep one source's text at one level of an item."""
        key = (item, level, source)
        where = place(line, self._items[item].item_id, level, source)
        if key in self._texts:
            first = self._lines[key]
            before = "" if first is None else f" (first in line {first})"
            self.problems.append(f"{where}: text is given more than once{before}")
            return
        self._lines[key] = line
        self._texts[key] = self.text(where, "text", text)

    def mark_unusable(self, item: int, level: str = "") -> None:
        """Remember that an item (or one level of it) is broken and reported: nothing in it is missing."""
        self._unusable.add((item, level))

    def finish(self) -> Dataset:
        """The data set if the file holds one; else InputError with every problem found."""
        self._check_ids()
        sources = self._sources()
        levels = tuple(sorted({level for _, level, _ in self._texts}, key=natural_order))
        if len(sources) == 2:
            self._check_complete(levels, sources)
        if self.problems:
            reject(self.file_name, self.problems)
        first, second = sources
        self._note_identical(levels, first, second)
        self._note_invisible()
        self.note_replaced()
        outputs = tuple(
            Output(item.item_id, level, source, self._texts[number, level, source])
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
        self._sources(fewest=1)
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
        """The file's two sources in its order; a third and further ones are problems."""
        counts = Counter(source for _, _, source in self._texts)
        names = ", ".join(shown(source) for source in counts) or "none"
        if not fewest <= len(counts) <= 2 and (counts or not self.problems):
            needed = "exactly two" if fewest == 2 else "one or two"
            self.problems.append(f"sources: {len(counts)} found ({names}); {needed} are needed")
        if len({same_name(source) for source in counts}) < len(counts):
            self.problems.append(f"sources: {names} look alike; give them names a reader can tell apart")
        if len(counts) <= 2:
            return list(counts)
        # The two that occur most often are meant: a misspelt name occurs once or twice.
        meant = [source for source, _ in counts.most_common(2)]
        for item, level, source in self._texts:
            if source not in meant:
                where = place(self._lines[item, level, source], self._items[item].item_id, level, source)
                self.problems.append(
                    f"{where}: source is none of the two that occur most, {shown(meant[0])} and {shown(meant[1])}"
                )
        return [source for source in counts if source in meant]

    def _check_complete(self, levels: tuple[str, ...], sources: list[str]) -> None:
        for number, item in enumerate(self._items):
            if (number, "") in self._unusable:
                continue
            for level in levels:
                missing = [source for source in sources if (number, level, source) not in self._texts]
                if (number, level) in self._unusable or not missing:
                    continue
                if len(missing) == 2:
                    self.problems.append(
                        f"{place(None, item.item_id, level)}: texts of both sources are missing"
                    )
                else:
                    self.problems.append(f"{place(None, item.item_id, level, missing[0])}: text is missing")

    def _note_identical(self, levels: tuple[str, ...], first: str, second: str) -> None:
        for number, item in enumerate(self._items):
            for level in levels:
                if self._texts[number, level, first] == self._texts[number, level, second]:
                    where = place(None, item.item_id, level)
                    self.notes.append(f"{where}: both sources have the same text")
