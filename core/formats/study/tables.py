"""Read a study's texts from a table with one row per text; also the checks that every format needs."""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal, NamedTuple

import regex

from core.errors import nearest_names
from core.schema.study import NO_LEVEL, Dataset, Item, Output
from core.tables.columns import (
    CSV_SUFFIXES,
    DELIMITERS,
    JSONL_SUFFIXES,
    SUGGESTED,
    Record,
    Rows,
    file_columns,
    is_json,
    known_at,
    needed_at,
    note_ignored,
    read_rows,
    require,
)
from core.tables.containers import decode, findings_of, table_rows
from core.tables.problems import FileFindings, place
from core.tables.reading import (
    clean_text,
    is_blank,
    name_of,
    name_problem,
    printable_text,
    reject,
    same_name,
    shown,
    suffix_of,
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


_UNKNOWN: Mapping[str, int] = {}


class DatasetBuilder(FileFindings):
    """Collects items, texts and problems of one file; `finish` returns the data set or raises all problems.

    Items are identified by their number in the file, because two items may have the same id.
    """

    def __init__(self, file_name: str, sha256: str) -> None:
        super().__init__(file_name, sha256)
        self.plain = False
        """Whether the file has no levels: plain pairs, whose references may be empty."""
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
    ) -> int:
        """Check and add a question; return the number for adding its texts.

        reference_name: the reference's field in this format. lines: field -> its line, for messages.
        """
        question = self.text(place(lines.get("question"), item_id), "question", question)
        where = place(lines.get("reference"), item_id)
        none = self.plain and _kept_text(reference) is None
        reference = "" if none else self.text(where, reference_name, reference)
        language = self.language(place(lines.get("language"), item_id), language)
        self._items.append(Item(item_id, question, reference, language))
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
        """Check and add one system's text at one level of an item.

        reported: the row has a reported problem, so a duplicate text is not a second problem.
        """
        key = Key(item, level, source)
        where = self._place(line, key)
        if key not in self._texts:
            self._lines[key] = line
            self._texts[key] = self.text(where, "text", text)
        elif not reported:
            same = isinstance(text, str) and clean_text(printable_text(text)) == self._texts[key]
            self._again.append((key, line, same))

    def _place(self, line: int | None, key: Key) -> str:
        """The place of a text, for messages."""
        level = None if key.level == NO_LEVEL else key.level
        return place(line, self._items[key.question].item_id, level, key.source)

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

    def mark_unusable(self, item: int, level: str = "") -> None:
        """Note that an item (or one level of it) has a reported problem, so that none of its texts counts as missing."""
        self._unusable.add((item, level))

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
        self._check_places(levels, sources)
        self.refuse()
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
        outputs = tuple(
            Output(self._items[number].item_id, level, source, text)
            for (number, level, source), text in self._texts.items()
        )
        return tuple(self._items), outputs

    def _note_invisible(self) -> None:
        """Add a note on invisible characters: they reveal the system to anyone who inspects the page's text."""
        for source in dict.fromkeys(source for _, _, source in self._texts):
            texts = [text for (_, _, own), text in self._texts.items() if own == source]
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
        if len(places) > 2:
            # The two most frequent systems are assumed to be correct.
            meant = sorted(places, key=lambda source: -len(places[source]))[:2]
            misspelt = slips({source: own for source, own in places.items() if source != meant[0]})
            if len(places) - len(misspelt) == 2:
                return [source for source in places if source not in misspelt]
        if not fewest <= len(places) <= 2 and (places or not self.problems):
            needed = "exactly two" if fewest == 2 else "one or two"
            which = "; name a candidate and a comparator to compare two of them" if len(places) > 2 else ""
            self.problems.append(f"systems: found {len(places)} ({names}), expected {needed}{which}")
        return list(places)

    def _check_places(self, levels: tuple[str, ...], sources: list[str]) -> None:
        """Report misplaced texts, and missing texts that no other problem explains."""
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
            if (number, "") not in self._unusable
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
            for level in levels:
                if self._texts[Key(number, level, first)] == self._texts[Key(number, level, second)]:
                    where = place(None, item.item_id, level or None)
                    self.notes.append(f"{where}: both systems have the same text")


MOST_NAMED = 20
"""Most left-out items that a note names."""
COLUMNS = tuple(known_at("study"))
_OPTIONAL_IF_PLAIN = ("level", "reference")
"""Columns that a table without levels may lack."""
FORMATS = "Factual's JSON (.json), a long table (.csv, .tsv) or one JSON object per line (.jsonl, .ndjson)"
"""Formats of a data set, for messages and labels."""
ITEM_COLUMNS = ("question", "reference", "language")
MOST_SHORT = 200
"""Most incomplete questions that are searched for the home of a row without a question."""


def read_tabular(data: bytes, file_name: str) -> Dataset:
    """Read long CSV or JSONL; the file name or the first character decides which."""
    return collect_tabular(data, file_name).finish()


def collect_tabular(
    data: bytes, file_name: str, *, rows: Rows = table_rows, made_alone: bool = False
) -> DatasetBuilder:
    """Collect the content of a long table, before checking that it is a whole data set.

    made_alone: leave out, with a note, items that have a row with a `reason` instead of a text.
    """
    builder = findings_of(data, file_name, DatasetBuilder)
    known = known_at("study") | ({"reason": ("reason",)} if made_alone else {})
    text = decode(data, file_name) if rows is table_rows else ""
    if rows is table_rows and not is_json(text, file_name):
        if suffix_of(file_name) not in (*CSV_SUFFIXES, *JSONL_SUFFIXES) and not (
            text.lstrip().startswith("{")
            or any(mark in text.lstrip().split("\n", 1)[0] for mark in DELIMITERS)
        ):
            reject(file_name, [f"file: unknown format; use {FORMATS}"])
        columns = file_columns(text, file_name, known, (), SUGGESTED)
        named = columns.named.values()
        # First pass, only to detect plain pairs; its problems are found again below.
        apart = list(read_rows(text, columns, FileFindings(file_name, ""))) if _may_be_plain(named) else []
        builder.plain = _is_plain(apart)
        columns = replace(columns, required=_required(named, plain=builder.plain))
        found = list(read_rows(text, columns, builder))
    else:
        table = rows(data, known, builder)
        named = table.columns.values()
        builder.plain = _may_be_plain(named) and _is_plain(table.records)
        required = _required(named, plain=builder.plain)
        needed = {name: names for name, names in needed_at("study").items() if name in required}
        require(named, needed, table.keys, file_name)
        note_ignored(builder, [key for key in table.keys if key not in table.columns])
        found = [
            Record("", {name: cell for name, cell in one.cells.items() if name in known}, number)
            for number, one in enumerate(table.records, start=1)
        ]
    _build(_made(found, builder) if made_alone else found, builder)
    return builder


def _required(named: Collection[str], *, plain: bool) -> tuple[str, ...]:
    """The columns that the file may not lack. named: those it has.

    A file without levels that lacks another column too may still be meant as plain pairs: first that column is reported.
    """
    unclear = "level" not in named and not _may_be_plain(named)
    needed = needed_at("study")
    return tuple(name for name in needed if not ((plain or unclear) and name in _OPTIONAL_IF_PLAIN))


def _may_be_plain(columns: Collection[str]) -> bool:
    """Whether a table has all columns that plain pairs need, and no levels."""
    needed = set(needed_at("study")) - set(_OPTIONAL_IF_PLAIN)
    return "level" not in columns and needed <= set(columns)


def _is_plain(rows: Sequence[Record]) -> bool:
    """Whether rows without a level are plain pairs rather than answers at several levels.

    If most systems have several answers to a question, the level column is missing or has another name.
    """
    texts = Counter((name_of(row.cells.get("item_id")), name_of(row.cells.get("source"))) for row in rows)
    return bool(texts) and 2 * sum(n > 1 for n in texts.values()) <= len(texts)


def _made(rows: list[Record], builder: DatasetBuilder) -> list[Record]:
    """The rows of items for which every text was generated."""
    unmade = [
        r for r in rows if _kept_text(r.cells.get("text")) is None and _kept_text(r.cells.get("reason"))
    ]
    gone = list(
        dict.fromkeys(name for row in unmade if (name := name_of(row.cells.get("item_id"))) is not None)
    )
    if gone:
        more = "" if len(gone) <= MOST_NAMED else f" and {len(gone) - MOST_NAMED} more"
        listed = ", ".join(map(shown, gone[:MOST_NAMED]))
        builder.notes.insert(
            0, f"{shown(builder.file_name)}: items left out because a level is missing: {listed}{more}"
        )
    return [row for row in rows if name_of(row.cells.get("item_id")) not in gone]


def _build(rows: list[Record], builder: DatasetBuilder) -> None:
    if builder.problems:
        builder.mark_unread()
    if not rows and not builder.problems:
        builder.problems.append("file: there are no rows below the header; at least one question is needed")
    asked = [column for column in COLUMNS[:-1] if not (builder.plain and column in _OPTIONAL_IF_PLAIN)]
    if empty := [column for column in asked if len(rows) > 1 and _is_empty(column, rows)]:
        # Every other problem would only follow from the empty column.
        builder.problems += [f"file: column {column} is empty in all {len(rows)} rows" for column in empty]
        reject(builder.file_name, builder.problems)
    ids = [row.cells.get("item_id") for row in rows]
    if 2 < len(rows) == len(set(map(repr, ids))):
        builder.problems.append(
            "file: every row has a different item_id, but all texts of a question need the same item_id"
        )
        reject(builder.file_name, builder.problems)
    rows_of: dict[str, list[Record]] = {}
    for row in rows:
        item_id = _name(row, "item_id", place(row.line), builder)
        if item_id is not None:
            rows_of.setdefault(item_id, []).append(row)
        elif (at := _cell(row, builder)) is not None:
            builder.mark_unplaced(*at)
    _move_misnamed(rows_of, builder)
    for item_id, item_rows in rows_of.items():
        given, lines, differing = _item_fields(item_id, item_rows, builder)
        texts = (given[column] for column in ITEM_COLUMNS)
        number = builder.add_item(item_id, *texts, lines=lines)
        # Rows that agree with the majority come first, so that duplicates are reported for the others.
        for row in sorted(item_rows, key=lambda row: row.line in differing):
            _add_output(number, item_id, row, builder, reported=row.line in differing)


def _is_empty(column: str, rows: list[Record]) -> bool:
    return all(_kept_text(row.cells.get(column)) is None and column in row.cells for row in rows)


def _kept_text(value: object) -> object:
    """A cell's content for comparisons; None if the cell is empty."""
    if isinstance(value, str):
        return None if is_blank(value) else clean_text(printable_text(value))
    return value if isinstance(value, Hashable) else repr(value)


def _cell(row: Record, builder: DatasetBuilder) -> tuple[str, str] | None:
    """(level, system) of a row, or None if one is missing."""
    level, source = (name_of(row.cells.get(column)) for column in ("level", "source"))
    level = NO_LEVEL if builder.plain else level
    return None if level is None or source is None else (level, source)


def _move_misnamed(rows_of: dict[str, list[Record]], builder: DatasetBuilder) -> None:
    """Move rows with a wrong item_id to the question that lacks them, and report the id.

    A row's own question shows where it belongs. A row without a question belongs where only its text is missing.
    """
    cells = {item: {_cell(row, builder) for row in rows} for item, rows in rows_of.items()}
    every = len(set().union(*cells.values()))
    short = [item for item in rows_of if len(cells[item]) < every]
    asked = {item: _most_common([_asked(row) for row in rows]) for item, rows in rows_of.items()}
    items_of: dict[object, list[str]] = {}
    for item, question in asked.items():
        items_of.setdefault(question, []).append(item)
    for item in list(rows_of):
        by_question: dict[object, list[Record]] = {}
        for row in rows_of[item]:
            by_question.setdefault(_asked(row), []).append(row)
        for question, rows in by_question.items():
            if question == asked[item] and (len(by_question) > 1 or len(cells[item]) == every):
                continue
            if question is None and len(by_question) > 1:
                continue
            own = {_cell(row, builder) for row in rows}
            near = short if question is None else items_of.get(question, [])
            homes = [
                other
                for other in near[:MOST_SHORT]
                if not own & cells[other] and len(cells[other]) > len(own)
            ]
            if len(homes) != 1 or len(near) > MOST_SHORT or None in own:
                continue
            (home,) = homes
            why = "which lacks" if question is None else "which has the same question and lacks"
            texts = "this text" if len(rows) == 1 else "these texts"
            builder.problems.append(
                f"{lines_named([row.line for row in rows])}, column item_id: {shown(item)}; "
                f"did you mean {shown(home)}, {why} {texts}?"
            )
            lines = {row.line for row in rows}
            rows_of[home] = sorted([*rows_of[home], *rows], key=lambda row: row.line)
            rows_of[item] = [row for row in rows_of[item] if row.line not in lines]
            cells[home] |= own
            cells[item] = {_cell(row, builder) for row in rows_of[item]}
        if not rows_of[item]:
            del rows_of[item]


def _asked(row: Record) -> object:
    return _kept_text(row.cells.get("question"))


def _most_common(values: list[object]) -> object:
    """The most common value, or the first of equally common ones; None if all are None."""
    counts = Counter(value for value in values if value is not None)
    return counts.most_common(1)[0][0] if counts else None


def _name(row: Record, column: str, where: str, builder: DatasetBuilder) -> str | None:
    """A required name in the row; None after reporting a problem."""
    if column not in row.cells:
        builder.problems.append(f"{where}: {column} is missing")
        return None
    name = name_of(row.cells[column])
    if name is None:
        builder.problems.append(f"{where}: {column} {name_problem(row.cells[column])}")
    return name


def _item_fields(
    item_id: str, rows: list[Record], builder: DatasetBuilder
) -> tuple[dict[str, object], dict[str, int], set[int]]:
    """(most common values of an item, their lines, lines that differ); reports the lines that differ."""
    given: dict[str, object] = {"question": "", "reference": "", "language": "und"}
    line_of = dict.fromkeys(given, rows[0].line)
    differing: dict[int, list[str]] = {}
    for column in ITEM_COLUMNS:
        said = [(row, value) for row in rows if (value := _kept_text(row.cells.get(column))) is not None]
        if not said:
            continue
        meant = _most_common([value for _, value in said])
        first = next(row for row, value in said if value == meant)
        given[column], line_of[column] = first.cells[column], first.line
        for row, value in said:
            if value != meant:
                differing.setdefault(row.line, []).append(column)
    same: dict[tuple[str, ...], list[int]] = {}
    for line, columns in differing.items():
        same.setdefault(tuple(columns), []).append(line)
    for named, apart in same.items():
        others = enumerated([str(n) for n in dict.fromkeys(line_of[column] for column in named)])
        differ = "differs from the one" if len(named) == 1 else "differ from those"
        builder.problems.append(
            f"{lines_named(apart)}, {place(question=item_id)}: {enumerated(named)} {differ} in line {others}"
        )
    # A row without a question continues the row above it.
    told, lines = False, set(differing)
    for row in rows:
        if row.line in differing or _asked(row) is not None:
            told = "question" in differing.get(row.line, ())
        if told:
            lines.add(row.line)
    return given, line_of, lines


def _add_output(number: int, item_id: str, row: Record, builder: DatasetBuilder, *, reported: bool) -> None:
    where = place(row.line, item_id)
    level = NO_LEVEL if builder.plain else _name(row, "level", where, builder)
    source = _name(row, "source", place(row.line, item_id, level or None), builder)
    if level is None:
        # The level is unknown, so none of the item's texts is reported as missing.
        builder.mark_unusable(number)
    elif source is None:
        builder.mark_unusable(number, level)
    elif "text" not in row.cells:
        builder.problems.append(f"{place(row.line, item_id, level or None, source)}: text is missing")
        builder.mark_unusable(number, level)
    else:
        builder.add_output(number, level, source, row.cells["text"], row.line, reported=reported)
