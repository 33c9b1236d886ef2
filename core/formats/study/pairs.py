"""A study's texts while they are collected: every question with its two systems' answers, and all that is wrong with them."""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from typing import Literal, NamedTuple

import regex

from core.errors import Problems, counted, nearest_names
from core.schema.scores import Turn
from core.schema.study import NO_ANSWER, NO_LEVEL, Dataset, Item, Output
from core.tables.columns import Record
from core.tables.layouts import Layout
from core.tables.problems import FileFindings, place
from core.tables.reading import (
    clean_text,
    is_blank,
    is_language_tag,
    printable_text,
    reject,
    same_name,
    shown,
)


class Key(NamedTuple):
    """Question, level and system of a text."""

    question: int
    """Number of the question in the file."""
    level: str
    source: str


Part = Literal["question", "level", "source"]
_WORDS: Mapping[Part, str] = {"question": "question", "level": "level", "source": "system"}
MOST_LISTED = 5
"""Most lines and names that a message lists; the others are counted."""
_RARER = 4
"""A name this many times rarer than the most frequent one counts as misspelt."""
_MOST_PAIRED = 50
"""Most names that are compared pairwise; no study has as many levels."""


def slips(places: Mapping[str, Collection[object]]) -> set[str]:
    """Find misspelt names: rare ones, and those that fill exactly the gaps of another name.

    places: name -> the places where it occurs.
    """
    top = max(map(len, places.values()), default=0)
    found = {name for name, own in places.items() if len(own) * _RARER <= top}
    left = [name for name in places if name not in found]
    if len(left) > _MOST_PAIRED:
        return found
    every = frozenset().union(*(places[name] for name in left))
    for at, name in enumerate(left):
        own = places[name]
        # The smaller half is misspelt; of equal halves, the later one.
        larger = [n for n, other in enumerate(left) if (len(places[other]), -n) > (len(own), -at)]
        halves = (places[left[n]] for n in larger if len(places[left[n]]) + len(own) == len(every))
        if any(every == {*own, *half} for half in halves):
            found.add(name)
    return found


def explain(gaps: set[Key], misplaced: Sequence[Key], wrong: Collection[Part]) -> dict[Key, Key]:
    """Remove from `gaps` those that misplaced texts explain, at most as many as there are such texts.

    wrong: parts of a misplaced text's key that are unreliable. Returns text -> its gap, if the match is unique.
    """

    def relied_on(key: Key) -> tuple[object, ...]:
        return tuple(getattr(key, part) for part in Key._fields if part not in wrong)

    texts = Counter(map(relied_on, misplaced))
    left: dict[tuple[object, ...], list[Key]] = {known: [] for known in texts}
    for gap in gaps:
        if relied_on(gap) in left:
            left[relied_on(gap)].append(gap)
    explained = {known: own for known, own in left.items() if own and len(own) <= texts[known]}
    gaps.difference_update(gap for own in explained.values() for gap in own)
    return {
        key: explained[relied_on(key)][0]
        for key in misplaced
        if relied_on(key) in explained and texts[relied_on(key)] == 1
    }


def lines_named(lines: Collection[int]) -> str:
    """'line 8', 'lines 8 and 9', 'lines 2 to 21', 'lines 2, 5, 8, 11, 14 and 6 more'."""
    ordered = sorted(lines)
    if len(ordered) > 2 and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"lines {ordered[0]} to {ordered[-1]}"
    return f"line{'s' if len(ordered) > 1 else ''} {enumerated([str(line) for line in ordered])}"


def enumerated(names: Sequence[str]) -> str:
    """'a', 'a and b' or 'a, b, c, d, e and 7 more', for a message."""
    return _joined([shown(name) for name in names])


def _joined(parts: Sequence[str]) -> str:
    if len(parts) > MOST_LISTED + 1:
        return f"{', '.join(parts[:MOST_LISTED])} and {len(parts) - MOST_LISTED} more"
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def slip_sentence(name: str, count: int, others: Sequence[str], meant: str | None) -> str:
    """Report a misspelt name: how often it occurs, the other texts' names, and the likely correct one."""
    near = meant or next(iter(nearest_names(name, others)), None)
    times = "occurs once" if count == 1 else f"occurs in {count} texts"
    hint = f"; did you mean {shown(near)}?" if near else ""
    return f"{shown(name)} {times}, but the other texts have {enumerated(others)}{hint}"


def missing_sentences(gaps: Collection[Key], names: Sequence[str], levels: Sequence[str]) -> list[str]:
    """One sentence for each group of questions that lack the same texts.

    names: name of each question in a message. levels: all levels of the study.
    """
    same: dict[tuple[tuple[str, str], ...], list[int]] = {}
    order = {level: at for at, level in enumerate(levels)}
    for question, keys in groupby(
        sorted(gaps, key=lambda g: (g.question, order[g.level], g.source)), lambda g: g.question
    ):
        same.setdefault(tuple((level, source) for _, level, source in keys), []).append(question)
    sentences = []
    for lacking, questions in same.items():
        whose = f"question{'s' if len(questions) > 1 else ''} {_joined([names[q] for q in questions])}"
        sentences.append(whose + _lack(lacking, len(levels)))
    return sentences


def _lack(lacking: Sequence[tuple[str, str]], n_levels: int) -> str:
    sources = dict.fromkeys(source for _, source in lacking)
    of_level = {level: [source for at, source in lacking if at == level] for level, _ in lacking}
    (level, whose), *more = of_level.items()
    if level == NO_LEVEL:
        return f", system {enumerated(whose)}: text is missing"
    if not more and len(whose) == 1:
        return f", level {shown(level)}, system {shown(whose[0])}: text is missing"
    if not more:
        return f", level {shown(level)}: texts of both systems are missing"
    if len(sources) == 1 and len(lacking) == n_levels:
        return f": all texts of system {enumerated(list(sources))} are missing"
    each = [
        f"{shown(at)} (system {shown(own[0])})" if len(own) == 1 else shown(at)
        for at, own in of_level.items()
    ]
    return f": texts are missing at levels {_joined(each)}"


MOST_EMPTY = 20
"""Most expected places per text; above that, a column has the wrong names."""

_INVISIBLE = regex.compile(r"[\p{Cf}\u00A0\u2000-\u200A\u202F\u3164]")


def natural_order(name: str) -> tuple[tuple[tuple[int, str], ...], str]:
    """Sort key under which A2 comes before A10."""
    # Numbers are compared by length and then as text: int() refuses more than 4,300 digits.
    pieces = [piece.lstrip("0") if piece.isdecimal() else piece for piece in re.split(r"(\d+)", name)]
    return tuple((len(piece) if at % 2 else 0, piece) for at, piece in enumerate(pieces)), name


def kept_text(value: object) -> object:
    """A cell's content for comparisons; None if the cell is empty."""
    if isinstance(value, str):
        return None if is_blank(value) else clean_text(printable_text(value))
    return value if isinstance(value, Hashable) else repr(value)


LANGUAGES: Mapping[str, str] = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt", "dutch": "nl",
    "polish": "pl", "czech": "cs", "swedish": "sv", "norwegian": "no", "danish": "da", "finnish": "fi", "hungarian": "hu",
    "romanian": "ro", "greek": "el", "turkish": "tr", "russian": "ru", "ukrainian": "uk", "arabic": "ar", "hebrew": "he",
    "persian": "fa", "hindi": "hi", "bengali": "bn", "urdu": "ur", "indonesian": "id", "vietnamese": "vi", "thai": "th",
    "korean": "ko", "japanese": "ja", "chinese": "zh", "catalan": "ca", "bulgarian": "bg", "deutsch": "de", "français": "fr",
}  # fmt: skip
"""Name of a language in lower case -> its tag, as arena files have it."""
_UNKNOWN: Mapping[str, int] = {}
_OF_FILE = ("file:", "systems:", "levels:")
"""Beginnings of problems that are not those of rows."""


@dataclass(frozen=True)
class Reading:
    """How to read a table of answers, where its owner decides."""

    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Assay's name -> the table's columns; several for `text` are answers side by side. The rest is found."""
    no_answer: Literal["show", "leave_out"] = "show"
    """What becomes of an empty answer: raters read that there is none, or its question is left out."""
    skip_broken: bool = False
    """Whether to leave out questions with a broken row, instead of refusing the file."""


@dataclass(frozen=True)
class PairRow:
    """A row of a table and the pair whose answers stand in it."""

    record: Record
    """Under the file's own column names."""
    item_id: str
    level: str
    systems: tuple[str, ...]
    """In the order of the columns; one in a table with a row for each answer."""


class DatasetBuilder(FileFindings):
    """Collects items, texts and problems of one file; `finish` returns the data set or raises all problems.

    Items are identified by their number in the file, because two items may have the same id.
    """

    def __init__(self, file_name: str, sha256: str) -> None:
        super().__init__(file_name, sha256)
        self.plain = False
        """Whether the file has no levels: plain pairs, whose references may be empty."""
        self.reading = Reading()
        self.of_table = False
        """Whether the file is a table, in which more is understood than in Factual's JSON."""
        self.read_as: list[str] = []
        """What was understood of a table, one line each."""
        self.rows: list[PairRow] = []
        """The rows of a table, each with its pair; for votes that stand beside the texts."""
        self.layout = Layout()
        """What the columns of a table mean."""
        self._unanswered = Counter[str]()
        self._unknown_languages = Counter[str]()
        self._left_out: set[int] = set()
        self._broken: set[int] = set()
        self._items: list[Item] = []
        self._texts: dict[Key, str] = {}
        self._lines: dict[Key, int | None] = {}
        self._again: list[tuple[Key, int | None, bool]] = []
        self._unusable: set[tuple[int, str]] = set()
        self._unplaced: list[Key] = []
        self._unread = False

    def add_item(
        self,
        item_id: str,
        question: object,
        reference: object,
        language: object = "und",
        *,
        reference_name: str = "reference",
        lines: Mapping[str, int] = _UNKNOWN,
        turns: tuple[Turn, ...] = (),
    ) -> int:
        """Check and add a question; return the number for adding its texts.

        reference_name: the reference's field in this format. lines: field -> its line, for messages. turns: the conversation
        that ends with the question.
        """
        question = self.text(place(lines.get("question"), item_id), "question", question)
        where = place(lines.get("reference"), item_id)
        none = self.plain and kept_text(reference) is None
        reference = "" if none else self.text(where, reference_name, reference)
        language = self._language(place(lines.get("language"), item_id), language)
        at = place(lines.get("question"), item_id)
        asked = [
            self.text(at, f"turn {number} ({turn.role})", turn.text)
            for number, turn in enumerate(turns[:-1], start=1)
        ]
        spoken = [*(replace(turn, text=text) for turn, text in zip(turns, asked, strict=False))]
        own = (*spoken, Turn("user", question)) if turns else ()
        self._items.append(Item(item_id, question, reference, language, own))
        return len(self._items) - 1

    def _language(self, where: str, value: object) -> str:
        """A tag as it is; in a table also the English name of a language, and another word as undetermined, with a note."""
        if not self.of_table or not isinstance(value, str) or is_language_tag(value.strip()):
            return self.language(where, value)
        if (tag := LANGUAGES.get(value.strip().casefold())) is None:
            self._unknown_languages[value.strip()] += 1
        return tag or "und"

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
        """Check and add one system's text at one level of an item.

        reported: the row has a reported problem, so a duplicate text is not a second problem.
        """
        key = Key(item, level, source)
        where = self._place(line, key)
        if key not in self._texts:
            self._lines[key] = line
            if isinstance(text, str | None) and kept_text(text) is None:
                self._unanswered[source] += 1
                self._texts[key] = NO_ANSWER
                if self.reading.no_answer == "leave_out":
                    self._left_out.add(item)
            else:
                self._texts[key] = self.text(where, "text", text)
        elif not reported:
            same = isinstance(text, str) and clean_text(printable_text(text)) == self._texts[key]
            self._again.append((key, line, same))

    def _place(self, line: int | None, key: Key) -> str:
        """The place of a text, for messages."""
        level = None if key.level == NO_LEVEL else key.level
        return place(line, self._items[key.question].item_id, level, key.source)

    @property
    def n_unanswered(self) -> dict[str, int]:
        """System -> its empty answers."""
        return dict(self._unanswered)

    def systems(self) -> list[str]:
        """Every system with a text in the file, in the file's order."""
        return list(dict.fromkeys(source for _, _, source in self._texts))

    def keep_systems(self, wanted: Collection[str]) -> None:
        """Leave out the texts of all other systems, with a note, if the file has all wanted systems and more."""
        there = self.systems()
        others = [system for system in there if system not in wanted]
        if not others or not set(wanted) <= set(there):
            return
        self._texts = {key: text for key, text in self._texts.items() if key.source in wanted}
        self._again = [one for one in self._again if one[0].source in wanted]
        self.notes.append(f"systems left out: {enumerated(others)}")
        answered: dict[int, set[str]] = {}
        for key in self._texts:
            answered.setdefault(key.question, set()).add(key.source)
        apart = {
            number for number in range(len(self._items)) if len(answered.get(number, ())) < len({*wanted})
        }
        if apart:
            self._left_out |= apart
            left = len(self._items) - len(apart)
            self.notes.append(
                f"questions left out because they do not have answers of both systems: {len(apart):,}; {left:,} remain"
            )

    def mark_unusable(self, item: int, level: str = "") -> None:
        """Note that an item (or one level of it) has a reported problem, so that none of its texts counts as missing."""
        self._unusable.add((item, level))

    def mark_broken(self, item: int) -> None:
        """Note that an item has a reported problem, so that it is left out if broken rows may be."""
        self._broken.add(item)

    def mark_unplaced(self, level: str, source: str) -> None:
        """Note a text whose unknown item was reported: some item lacks this text."""
        self._unplaced.append(Key(-1, level, source))

    def mark_unread(self) -> None:
        """Note that part of the file could not be read: missing texts may be there."""
        self._unread = True

    def finish(self) -> Dataset:
        """Return the data set. Raises InputError with every problem found."""
        self._check_ids()
        sources = self._sources()
        levels = tuple(sorted({level for _, level, _ in self._texts}, key=natural_order))
        meant = self._check_places(levels, sources)
        if self.reading.skip_broken and self.problems and len(sources) == 2:
            levels = meant
            self._leave_out_broken(levels, sources)
        for source in sources:
            texts = [text for (_, _, own), text in self._texts.items() if own == source]
            if len(texts) > 1 and not any(texts) and not self.problems:
                self.problems.append(f"system {shown(source)}: every answer is empty")
        self.refuse()
        self._note_unanswered()
        if self._unknown_languages:
            self.notes.append(
                f"languages that are no tag such as en: {enumerated(list(self._unknown_languages))}; read as undetermined"
            )
        if len(self._left_out) == len(self._items):
            reject(self.file_name, ["questions: none is left; every pair lacks an answer"])
        first, second = sources
        self._note_identical(levels, first, second)
        self._note_invisible()
        self.note_replaced()
        outputs = tuple(
            Output(item.item_id, level, source, self._texts[Key(number, level, source)])
            for number, item in enumerate(self._items)
            if number not in self._left_out
            for level in levels
            for source in sources
        )
        return Dataset(
            items=self._kept_items(),
            outputs=outputs,
            levels=levels,
            sources=(first, second),
            sha256=self.sha256,
            file_name=printable_text(self.file_name),
            notes=tuple(self.notes),
            read_as=tuple(self.read_as),
        )

    def _kept_items(self) -> tuple[Item, ...]:
        return tuple(item for number, item in enumerate(self._items) if number not in self._left_out)

    def _leave_out_broken(self, levels: Sequence[str], sources: Sequence[str]) -> None:
        """Leave out every question with a problem; problems of the whole file stay."""
        listed_problems = [*self.problems]
        if any(problem.startswith(_OF_FILE) for problem in listed_problems):
            return
        differing = {key.question for key, _, same in self._again if not same}
        broken = {
            number
            for number in range(len(self._items))
            if number in differing | self._broken | {item for item, _ in self._unusable}
            or any(Key(number, level, source) not in self._texts for level in levels for source in sources)
        } - self._left_out
        self._left_out |= broken
        self._again = []
        n = self.problems.n
        self.problems = Problems()
        self.notes.append(
            f"left out because of broken rows: {counted(len(broken), 'question')} of {len(self._items):,}; "
            f"{counted(n, 'problem')}"
        )
        self.notes += [f"broken: {problem}" for problem in listed_problems]

    def _note_unanswered(self) -> None:
        """Say which system gave no answer how often, and what becomes of it."""
        if not self._unanswered:
            return
        each = ", ".join(f"{shown(source)} {n:,}" for source, n in self._unanswered.items())
        what = (
            "raters read that there is no answer"
            if self.reading.no_answer == "show"
            else f"their {counted(len(self._left_out), 'question')} are left out, which favours a system that fails often"
        )
        self.notes.append(f"empty answers: {each}; {what}")

    def finish_outputs(self) -> tuple[tuple[Item, ...], tuple[Output, ...]]:
        """Return questions and texts of one or two systems, even with gaps. Raises InputError with every problem.

        For files to be paired with another file, which decides what texts are needed.
        """
        self._check_ids()
        sources = self._sources(fewest=1)
        whose = set(sources)
        self._report_slips([], [key for key in self._texts if key.source not in whose], [], sources, {})
        self._report_repeated({})
        self.refuse()
        self.note_replaced()
        self._note_unanswered()
        outputs = tuple(
            Output(self._items[number].item_id, level, source, text)
            for (number, level, source), text in self._texts.items()
            if number not in self._left_out
        )
        return self._kept_items(), outputs

    def _note_invisible(self) -> None:
        """Add a note on invisible characters: they reveal the system to anyone who inspects the page's text."""
        for source in dict.fromkeys(source for _, _, source in self._texts):
            texts = [
                text
                for (number, _, own), text in self._texts.items()
                if own == source and number not in self._left_out
            ]
            found = Counter(c for text in texts for c in set(_INVISIBLE.findall(text)))
            if found:
                named = ", ".join(f"U+{ord(c):04X} in {n}" for c, n in sorted(found.items()))
                self.notes.append(f"texts of system {shown(source)} contain invisible characters: {named}")

    def _check_ids(self) -> None:
        for item_id, count in Counter(item.item_id for item in self._items).items():
            if count > 1:
                self.problems.append(f"{place(question=item_id)}: {count} questions have this id")

    def _sources(self, fewest: int = 2) -> list[str]:
        """The file's two systems in its order, without misspelt names; adds a problem if there are more or fewer."""
        places: dict[str, set[tuple[int, str]]] = {}
        for item, level, source in self._texts:
            places.setdefault(source, set()).add((item, level))
        names = enumerated(list(places)) if places else "none"
        if len({same_name(source) for source in places}) < len(places) == 2:
            self.problems.append(f"systems: {names} look alike; give them clearly different names")
        if len(places) > 2 and not self.layout.wide:
            # The two most frequent systems are assumed to be correct.
            meant = sorted(places, key=lambda source: -len(places[source]))[:2]
            misspelt = slips({source: own for source, own in places.items() if source != meant[0]})
            if len(places) - len(misspelt) == 2:
                return [source for source in places if source not in misspelt]
        if not fewest <= len(places) <= 2 and (places or not self.problems):
            needed = "exactly two" if fewest == 2 else "one or two"
            which = f"; {self._of_pairs(places)}" if len(places) > 2 else ""
            self.problems.append(f"systems: found {len(places)} ({names}), expected {needed}{which}")
        return list(places)

    def _of_pairs(self, places: Mapping[str, Collection[tuple[int, str]]]) -> str:
        """What to do about more than two systems: which pairs have the most questions."""
        asked = {source: {item for item, _ in own} for source, own in places.items()}
        counts = {pair: n for pair in combinations(asked, 2) if (n := len(asked[pair[0]] & asked[pair[1]]))}
        most = sorted(counts, key=lambda pair: -counts[pair])[:MOST_LISTED]
        listed = "; ".join(f"{shown(one)} and {shown(other)} {counts[one, other]:,}" for one, other in most)
        questions = f". Questions that two of them share: {listed}" if most else ""
        return f"name the two systems to compare{questions}"

    def _check_places(self, levels: tuple[str, ...], sources: list[str]) -> tuple[str, ...]:
        """Report misplaced texts, and missing texts that no other problem explains; return the levels without slips."""
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
        return tuple(meant)

    def _gaps(self, levels: list[str], sources: list[str]) -> set[Key]:
        """The texts that the file lacks; none if one reported problem explains most of them."""
        needed = len(self._items) * len(levels) * len(sources)
        if needed > MOST_EMPTY * len(self._texts):
            self.problems.append(
                f"file: {len(self._texts)} texts for {len(self._items)} questions at {len(levels)} levels "
                f"({enumerated(levels)}), but every question needs two texts per level. Check the columns item_id and "
                "level"
            )
            return set()
        return {
            Key(number, level, source)
            for number in range(len(self._items))
            if (number, "") not in self._unusable and number not in self._left_out
            for level in levels
            if (number, level) not in self._unusable
            for source in sources
            if (number, level, source) not in self._texts
        }

    def _names_with_lines(self) -> list[str]:
        """Each question's name in a message: its id and lines."""
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
        """Add one problem for each misspelt level or system. found: text -> the gap that it leaves."""
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
                    f"{shown(name)} and level {shown(level)} occur only in this text; are they swapped?"
                )
            self.problems.append(f"{self._place_of(keys, part, lines)}: {sentence}")
        slipped = {*odd_levels, *odd_sources}
        self._again = [one for one in self._again if one[0] not in slipped]

    def _place_of(self, keys: list[Key], part: Part, lines: list[int | None]) -> str:
        """The place of texts with the same wrong part."""
        known = [line for line in lines if line is not None]
        questions = list(dict.fromkeys(self._items[key.question].item_id for key in keys))
        parts = [lines_named(known)] if known else []
        parts.append(f"question{'s' if len(questions) > 1 else ''} {enumerated(questions)}")
        if len(keys) == 1:
            only = keys[0]
            parts.append(f"system {shown(only.source)}" if part == "level" else f"level {shown(only.level)}")
        return ", ".join([*parts, f"column {part}" if known else _WORDS[part]])

    def _report_repeated(self, left: dict[Key, tuple[Part, Key]]) -> None:
        """Report duplicate texts, one by one or, if there are many, together.

        left: text -> the part that is wrong and the key of the missing text, if there is one.
        """
        for same in (True, False):
            own = [(key, line) for key, line, alike in self._again if alike == same]
            lines = [line for _, line in own if line is not None]
            if len(lines) > MOST_LISTED:
                what = "rows repeat earlier rows" if same else "texts occur more than once"
                first = self._lines[own[0][0]]
                self.problems.append(
                    f"{lines_named(lines)}: {what}, e.g. line {lines[0]} repeats line {first}"
                )
                continue
            for key, line in own:
                first = self._lines[key]
                before = "" if first is None else f" (first in line {first})"
                where = self._place(line, key)
                hint = ""
                if key in left:
                    part, gap = left[key]
                    name = self._items[gap.question].item_id if part == "question" else getattr(gap, part)
                    hint = f", but {_WORDS[part]} {shown(name)} has none"
                self.problems.append(f"{where}: text occurs more than once{before}{hint}")

    def _note_identical(self, levels: tuple[str, ...], first: str, second: str) -> None:
        for number, item in enumerate(self._items):
            for level in levels if number not in self._left_out else ():
                if self._texts[Key(number, level, first)] == self._texts[Key(number, level, second)]:
                    where = place(None, item.item_id, level or None)
                    self.notes.append(f"{where}: both systems have the same text")
