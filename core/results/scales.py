"""Whether raters and judges use one scale, where they write words, numbers or both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from core.schema.scale import Kind, Scale
from core.tables.mapping import plain_word, scale_of
from core.tables.reading import label_of, looks_like_number, number_in, shown

MOST_CLASSES = 100
"""Most different words that count as labels; more are texts."""
_LISTED = 5


@dataclass(frozen=True)
class Words:
    """Words that count as labels."""

    numbers: Mapping[str, float]
    """Word, as `plain_word` writes it, -> number."""
    classes: Mapping[float, str]
    ordered: bool
    written: Mapping[str, str] = field(default_factory=dict)
    """Word of the file, as `plain_word` writes it, -> as the file writes it first."""

    @property
    def scale(self) -> Scale:
        """The scale of the words."""
        classes = tuple(sorted(self.classes))
        kind: Kind = "unordered" if not self.ordered else "two" if len(classes) == 2 else "ordered"
        return Scale(
            kind, classes, self.classes, (classes[0], classes[-1]) if self.ordered and classes else None
        )

    @property
    def said(self) -> str:
        """The number of each word, as a note: `read words as classes, fail and no = 0, pass and yes = 1`."""
        by_number: dict[float, list[str]] = {}
        for plain, word in self.written.items():
            by_number.setdefault(self.numbers[plain], []).append(shown(word))
        named = [f"{' and '.join(words)} = {number:g}" for number, words in sorted(by_number.items())]
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        kind = "classes" if self.ordered else "labels without an order"
        return f"read words as {kind}, {', '.join(named[:_LISTED])}{more}"


@dataclass(frozen=True)
class Side:
    """The different filled cells of one rater or judge."""

    name: str
    cells: tuple[object, ...]

    @property
    def numbers(self) -> bool:
        """Whether all cells are numbers."""
        return all(map(looks_like_number, self.cells))

    @property
    def words(self) -> bool:
        """Whether all cells are words."""
        return all(isinstance(cell, str | bool) and not looks_like_number(cell) for cell in self.cells)

    @property
    def said(self) -> str:
        """What the cells are, for a message: `the numbers 1 to 5`, or their words."""
        if self.numbers:
            known = [number for cell in self.cells if (number := number_in(cell)) is not None]
            return f"{shown(self.name)} has the numbers {min(known):g} to {max(known):g}" if known else ""
        written = sorted({label_of(cell) or "" for cell in self.cells})
        more = f" and {len(written) - _LISTED} more" if len(written) > _LISTED else ""
        return f"{shown(self.name)} has the words {', '.join(map(shown, written[:_LISTED]))}{more}"


def common_scale(people: Sequence[Side], judges: Sequence[Side]) -> tuple[bool, Words | None]:
    """Whether raters and judges use one scale, and the numbers of its words.

    Words of one scale are its classes. Of two scales with two classes each, the better words are the same class: pass, yes
    and correct. Words and numbers are matched only where the words are of a known scale and all numbers are its classes.
    Other words are labels, of which a judge must share one with the raters. Cells that mix words and numbers are not
    matched: the reader of numbers names them.

    Misleads where a word means the opposite: `yes` is the better class, also to the question whether a text is wrong.
    """
    sides = [*people, *judges]
    in_words = [side for side in sides if not side.numbers]
    if not in_words or not all(side.words for side in in_words):
        return True, None  # numbers; of a mixture the reader names the first cells
    cells = [cell for side in in_words for cell in side.cells]
    written: dict[str, str] = {}
    for cell in cells:
        written.setdefault(plain_word(cast(str, cell)), label_of(cell) or "")
    if len(written) > MOST_CLASSES:
        return True, None
    scale, own = scale_of(cells), [scale_of(side.cells) for side in in_words]
    if scale is None and all(one is not None and one[1] == range(2) for one in own):
        scale = {word: code for one in own if one for word, code in one[0].items()}, range(2)
    numbers = {number_in(cell) for side in sides if side.numbers for cell in side.cells}
    if scale is not None:
        codes, classes = scale
        by_word = {plain_word(word): float(code) for word, code in codes.items()}
        named: dict[float, str] = {}
        for word in written:
            named.setdefault(by_word[word], written[word])
        found = Words(by_word, dict(sorted(named.items())), True, written)
        return numbers <= {float(code) for code in classes}, found
    if all(own):  # known scales, but different ones
        return False, None
    theirs = {plain_word(cast(str, cell)) for side in people for cell in side.cells if not side.numbers}
    shared = all({plain_word(cast(str, cell)) for cell in side.cells} & theirs for side in judges)
    by_word = {word: float(number) for number, word in enumerate(sorted(written))}
    classes_named = {number: written[word] for word, number in by_word.items()}
    return not numbers and shared, Words(by_word, classes_named, False, written)
