"""Whether raters and judges use one scale, where they write words, numbers or both."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from numpy.typing import ArrayLike

from core.errors import InputError, Problems, counted
from core.schema.scale import NOT_DECLARED, SCORES, DeclaredScale, Kind, Origin, Scale, scale_of_numbers
from core.tables.mapping import (
    KnownScale,
    classes_of,
    declared_numbers,
    majority_scale,
    plain_word,
    scale_of,
)
from core.tables.reading import label_of, looks_like_number, number_in, shown

MOST_CLASSES = 100
"""Most different words that count as labels; more are texts."""
_LISTED = 5
_MOST_ODD = 10
"""Most different cells of one rater or judge that a message lists."""
_FEW_ODD = 3
"""Most different words that may stand beside those of a known scale for a message to name them."""

OddCells = Mapping[tuple[str, str], Counter[str]]
"""Column and what is wrong with its cells -> cell as written -> how often it is there."""


@dataclass(frozen=True)
class Words:
    """Words that count as labels."""

    numbers: Mapping[str, float]
    """Word, as `plain_word` writes it, -> number."""
    scale: Scale
    """All classes on offer, whether the file has them or not."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Word of the file, as `plain_word` writes it, -> as the file writes it first."""

    @property
    def said(self) -> str:
        """The number of each word, as a note: `read words as classes, fail and no = 0, pass and yes = 1`."""
        by_number: dict[float, list[str]] = {}
        for plain, word in self.written.items():
            by_number.setdefault(self.numbers[plain], []).append(shown(word))
        named = [f"{' and '.join(words)} = {number:g}" for number, words in sorted(by_number.items())]
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        kind = "classes" if self.scale.ordered else "labels without an order"
        return f"read words as {kind}, {', '.join(named[:_LISTED])}{more}"


@dataclass(frozen=True)
class Side:
    """The filled cells of one rater or judge."""

    name: str
    cells: Mapping[object, int]
    """Different cell -> how often it is there."""
    column: str = ""
    """The column with the cells, if it has another name."""

    @property
    def numbers(self) -> bool:
        """Whether all cells are numbers."""
        return all(map(looks_like_number, self.cells))

    @property
    def words(self) -> bool:
        """Whether all cells are words."""
        return all(map(is_word, self.cells))

    @property
    def said(self) -> str:
        """What the cells are, for a message: `the numbers 1 to 5`, or their words."""
        if self.numbers:
            known = [number for cell in self.cells if (number := number_in(cell)) is not None]
            return f"{shown(self.name)} has the numbers {min(known):g} to {max(known):g}" if known else ""
        written = sorted({label_of(cell) or "" for cell in self.cells})
        more = f" and {len(written) - _LISTED} more" if len(written) > _LISTED else ""
        return f"{shown(self.name)} has the words {', '.join(map(shown, written[:_LISTED]))}{more}"


class NoClass(InputError):
    """Cells that are no class of the scale. `words` has them as the file writes them."""

    def __init__(self, what: str, problems: Problems, words: Sequence[str]) -> None:
        super().__init__(what, problems)
        self.words = tuple(words)


def is_word(cell: object) -> bool:
    """Whether a cell is a word, and no number."""
    return isinstance(cell, str | bool) and not looks_like_number(cell)


def common_scale(
    people: Sequence[Side], judges: Sequence[Side], declared: DeclaredScale = NOT_DECLARED
) -> tuple[bool, Words | None]:
    """Whether raters and judges use one scale, and the numbers of its words.

    Words of one scale are its classes. Of two scales with two classes each, the better words are the same class: pass, yes
    and correct. Words and numbers are matched only where the words are of a known scale and all numbers are its classes.
    Other words are labels, of which a judge must share one with the raters; those that raters wrote are on offer. Cells that
    mix words and numbers are not matched: `check_cells` names them, or the reader of numbers.

    declared: its classes decide alone; `check_cells` names the cells that are none of them.

    Misleads where a word means the opposite: `yes` is the better class, also to the question whether a text is wrong.
    """
    sides = [*people, *judges]
    if declared.classes:
        return True, None if declared.numbers else _declared_words(sides, declared)
    in_words = [side for side in sides if not side.numbers]
    if not in_words or not all(side.words for side in in_words):
        return True, None  # numbers; a mixture is refused cell by cell
    cells = [cell for side in in_words for cell in side.cells]
    written: dict[str, str] = {}
    for cell in cells:
        written.setdefault(plain_word(cast(str, cell)), label_of(cell) or "")
    if len(written) > MOST_CLASSES:
        return True, None
    unordered = declared.kind == "unordered"
    known = None if unordered else scale_of(cells)
    own = [None if unordered else scale_of(side.cells) for side in in_words]
    if known is None and all(one is not None and [*one.names] == [0, 1] for one in own):
        two = [one for one in own if one is not None]
        known = KnownScale({word: code for one in two for word, code in one.numbers.items()}, two[0].names)
    numbers = {number_in(cell) for side in sides if side.numbers for cell in side.cells}
    if known is not None:
        by_word = {plain_word(word): float(code) for word, code in known.numbers.items()}
        fits = numbers <= {float(code) for code in known.names}
        return fits, Words(by_word, _known_scale(known, by_word, written, declared), written)
    if all(own):  # known scales, but different ones
        return False, None
    theirs = {plain_word(cast(str, cell)) for side in people for cell in side.cells if not side.numbers}
    shared = all({plain_word(cast(str, cell)) for cell in side.cells} & theirs for side in judges)
    by_word = {word: float(number) for number, word in enumerate(sorted(written))}
    offered = tuple(by_word[word] for word in sorted(theirs or written))
    names = {number: written[word] for word, number in by_word.items()}
    origin: Origin = "declared" if unordered else "guessed"
    scale = Scale("unordered", offered, names, origin=origin, missing=declared.missing)
    return not numbers and shared, Words(by_word, scale, written)


def _known_scale(
    known: KnownScale, by_word: Mapping[str, float], written: Mapping[str, str], declared: DeclaredScale
) -> Scale:
    """All classes of a known scale, under the names that the file writes first, else their usual ones."""
    as_written: dict[float, str] = {}
    for plain, word in written.items():
        as_written.setdefault(by_word[plain], word)
    names = {float(number): as_written.get(number, word) for number, word in known.names.items()}
    classes = tuple(sorted(names))
    kind: Kind = "two" if len(classes) == 2 else "ordered"
    origin: Origin = "guessed" if declared.kind is None else "declared"
    return Scale(kind, classes, names, (classes[0], classes[-1]), origin, declared.missing)


def _declared_words(sides: Sequence[Side], declared: DeclaredScale) -> Words:
    """The declared classes: with the numbers of a known scale, if they are one, else counted from 0."""
    ordered = declared.kind != "unordered"
    numbers = declared_numbers(declared.classes, ordered=ordered)
    by_word = {word: float(number) for word, number in numbers.items()}
    names = {by_word[plain_word(name)]: name for name in declared.classes}
    known = scale_of(declared.classes) if ordered else None
    if known is not None and [*known.names] != [*numbers.values()]:
        known = None
    written: dict[str, str] = {}
    for cell in (cell for side in sides for cell in side.cells):
        word = plain_word(label_of(cell) or "")
        if known is not None and word not in by_word and is_word(cell):
            alike = classes_of([*declared.classes, cast(str, cell)])
            two = scale_of([cell])
            if alike is None and len(names) == 2 and two is not None and [*two.names] == [*names]:
                alike = {**two.numbers}
            if alike is not None and float(code := alike[str(cell)]) in names:
                by_word[word] = float(code)
        if word in by_word:
            written.setdefault(word, label_of(cell) or "")
    classes = tuple(names)
    kind = declared.kind_of(len(classes))
    ends = None if kind == "unordered" else (classes[0], classes[-1])
    return Words(by_word, Scale(kind, classes, names, ends, "declared", declared.missing), written)


def offered_scale(ratings: ArrayLike, declared: DeclaredScale) -> Scale:
    """The scale of ratings that are numbers, where declared classes were read as numbers (`number_declared`) before."""
    if declared.classes and not declared.numbers:
        return _declared_words((), declared).scale
    return scale_of_numbers(ratings, declared)


def check_cells(
    people: Sequence[Side],
    judges: Sequence[Side],
    words: Words | None,
    declared: DeclaredScale,
    file_name: str,
) -> None:
    """Raise InputError where cells do not fit the declared scale, or mix words and numbers.

    words: those that `common_scale` found. NoClass has a problem for each word that is no class, with the number of its cells.
    """
    if words is None or declared.classes:
        _check_each([*people, *judges], words, declared, file_name)
    elif declared.kind == SCORES or declared.ends is not None:
        wanted = (
            "scores" if declared.ends is None else f"{declared.ends[0]:g} to {declared.ends[1]:g} are numbers"
        )
        sides = [side for side in people if not side.numbers] or judges
        raise InputError(
            f"{shown(file_name)}: the declared scale has numbers, and the ratings are words",
            [f"scale: {wanted}, but {side.said}" for side in sides],
        )
    elif declared.kind in ("two", "ordered") and not words.scale.ordered:
        names = ", ".join(map(shown, words.scale.words.values()))
        raise InputError(
            f"{shown(file_name)}: the words do not show the declared scale",
            [f"scale: the order of {names} is not known; list all classes from worst to best"],
        )
    elif declared.kind == "two" and words.scale.kind != "two":
        raise InputError(
            f"{shown(file_name)}: the words do not show the declared scale",
            [f"scale: the words are of {words.scale.said}; list the two classes"],
        )


def _check_each(sides: Sequence[Side], words: Words | None, declared: DeclaredScale, file_name: str) -> None:
    odd: dict[tuple[str, str], Counter[str]] = {}
    for side in sides:
        cells, wrong = _odd_cells(side, words, declared)
        if len(cells) <= MOST_CLASSES:  # of texts the reader of numbers names the first
            odd.setdefault((side.column or side.name, wrong), Counter()).update(cells)
    _refuse_cells(odd, file_name)


def _refuse_cells(odd: OddCells, file_name: str) -> None:
    """Raise NoClass if there are any."""
    if lines := _lines(odd):
        raise NoClass(
            f"{shown(file_name)}: some cells are no class of the scale. Name them as missing, or list all classes",
            Problems(lines),
            [*dict.fromkeys(name for cells in odd.values() for name in cells)],
        )


def _lines(odd: OddCells) -> list[str]:
    """A line for each odd cell of a column, with their number."""
    lines = []
    for (column, wrong), cells in odd.items():
        lines += [
            f'column {shown(column)}: "{shown(name)}" ({counted(n, "cell")}) {wrong}'
            for name, n in cells.most_common(_MOST_ODD)
        ]
        if len(cells) > _MOST_ODD:
            lines.append(
                f"column {shown(column)}: {len(cells) - _MOST_ODD} further words, for the same reason"
            )
    return lines


def _odd_cells(side: Side, words: Words | None, declared: DeclaredScale) -> tuple[Counter[str], str]:
    """The cells that are no class, as written, and the end of the sentence on them."""
    if declared.classes:
        wanted = _no_class(declared.classes)
        if words is None:  # the classes are numbers
            return _counted(side, is_word), wanted
        known = words.scale.classes if scale_of(declared.classes) is not None else ()
        return (
            _counted(
                side,
                lambda cell: (
                    plain_word(label_of(cell) or "") not in words.numbers and number_in(cell) not in known
                ),
            ),
            wanted,
        )
    in_words = _counted(side, is_word)
    if not in_words or in_words.total() == sum(side.cells.values()):
        return Counter(), ""
    numbers = _counted(side, lambda cell: not is_word(cell))
    known_words = scale_of([cell for cell in side.cells if is_word(cell)])
    if known_words is not None and in_words.total() > numbers.total():
        return numbers, _no_class(known_words.names.values())
    return in_words, "is no number"


def _counted(side: Side, odd: Callable[[object], bool]) -> Counter[str]:
    found: Counter[str] = Counter()
    for cell, n in side.cells.items():
        if odd(cell):
            found[label_of(cell) or str(cell)] += n
    return found


def check_odd_words(people: Sequence[Side], file_name: str) -> None:
    """Raise NoClass if few cells keep the raters' other words from being a known scale."""
    _refuse_cells(_odd_words(people), file_name)


def odd_word_notes(people: Sequence[Side]) -> list[str]:
    """A note on each word that keeps the raters' other words from being a known scale, if they are few."""
    return [f"{line}; if it is no rating, name it as missing" for line in _lines(_odd_words(people))]


def _odd_words(people: Sequence[Side]) -> OddCells:
    written: Counter[str] = Counter()
    for side in people:
        written.update({cell: n for cell, n in side.cells.items() if isinstance(cell, str)})
    known = majority_scale(written, _FEW_ODD)
    if known is None:
        return {}
    classes, wrong = known.numbers, _no_class(known.names.values())
    odd: dict[tuple[str, str], Counter[str]] = {}
    for side in people:
        cells = _counted(side, lambda cell: plain_word(label_of(cell) or "") not in classes)
        odd.setdefault((side.column or side.name, wrong), Counter()).update(cells)
    return odd


def _no_class(names: Iterable[str]) -> str:
    return f"is no class of {', '.join(map(shown, names))}"
