"""Votes that stand in a table beside the answers: a column a rater, or a row a vote."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import regex

from core.errors import InputError, Problems, counted, nearest_names
from core.formats.study.pairs import DatasetBuilder, PairRow
from core.schema.study import Preference
from core.tables.columns import known_at
from core.tables.layouts import side_at
from core.tables.mapping import plain_word
from core.tables.problems import listed
from core.tables.reading import is_nothing, label_of, number_in, shown
from core.tables.roles import is_about, who_in, words_in

Outcome = Literal["first", "second", "both_good", "both_bad"]
"""What a vote says: an answer by its place in the row, or neither."""
Repeated = Literal["refuse", "first", "last"]
"""Which of a rater's different votes on a pair counts."""
VOTES = "votes:"
"""How a line on a column of votes begins."""
SIDES_UNKNOWN = "the file does not say which answer a rater saw on which side"
_MOST_WORDS = 12
_OUTCOMES: Mapping[str, Outcome] = {
    "first": "first",
    "second": "second",
    "tie": "both_good",
    "both_good": "both_good",
    "both_bad": "both_bad",
}
"""What an owner may write -> its meaning. A tie counts as both good: in every score of a pair both are nothing."""
_TIES = frozenset(
    {
        *(
            "tie",
            "tied",
            "draw",
            "equal",
            "same",
            "both",
            "no preference",
            "indifferent",
            "both good",
            "tie both good",
        ),
        *("equally good", "about the same", "gleich", "unentschieden", "égal", "egalité"),
    }
)
_BOTH_BAD = frozenset(
    {"both bad", "tie bothbad", "tie both bad", "bothbad", "neither", "none of them", "beide schlecht"}
)
_CHOICES = frozenset(
    [
        "winner",
        "preference",
        "preferred",
        "choice",
        "vote",
        "verdict",
        "chosen",
        "better",
        "best",
        "label",
        "judgment",
        "judgement",
    ]
)
_BRACKETS = regex.compile(r"\[\[(.+)\]\]")
_COMPARED = regex.compile(r"(?P<left>[^<>=]+?)\s*(?P<mark>>+|<+|=)\s*(?P<right>[^<>=]+)")
"""Two sides compared, as in `A>B`, `A>>B` and `A=B`."""


@dataclass(frozen=True)
class VoteColumn:
    """A column of votes and what its words mean."""

    column: str
    words: Mapping[str, str]
    """Word as the file writes it -> an Outcome, or the name of a system."""
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """The column with what was decoded: `winner: model_a is the first answer (6), tie is both good (2)`."""
        meant = ", ".join(
            f"{shown(word)} is {_IN_WORDS.get(meaning, f'the answer of {shown(meaning)}')} ({self.counts.get(word, 0):,})"
            for word, meaning in self.words.items()
        )
        return f"{VOTES} column {shown(self.column)}, in which {meant}"


_IN_WORDS: Mapping[str, str] = {
    "first": "the first answer",
    "second": "the second answer",
    "both_good": "both good",
    "both_bad": "both bad",
}


def vote_columns(builder: DatasetBuilder) -> list[VoteColumn]:
    """The columns that may hold votes: those with a name for a choice or a person, whose every word is understood."""
    rows = builder.rows
    keys = dict.fromkeys(key for row in rows[:1] for key in row.record.cells)
    used = {*builder.layout.used}
    found = []
    for key in keys:
        words = {*words_in(key)}
        if (
            key in used
            or not (words & _CHOICES or who_in(key) in ("person", "plain", "settled"))
            or (is_about(key) and not words & _CHOICES)
        ):
            continue
        counts = _counts(rows, key)
        meanings = {word: _meaning(word, rows) for word in counts}
        if counts and len(counts) <= _MOST_WORDS and all(meanings.values()):
            found.append(VoteColumn(key, {word: str(meaning) for word, meaning in meanings.items()}, counts))
    return found


def parse_vote(text: str) -> tuple[str, dict[str, str]]:
    """`label=first:0,second:1,tie:2` as the column and word -> meaning; a column alone has no meanings. Raises InputError."""
    column, _, parts = text.partition("=")
    problems = Problems()
    words: dict[str, str] = {}
    for part in filter(None, (one.strip() for one in parts.split(","))):
        meaning, mark, word = (piece.strip() for piece in part.partition(":"))
        if not (mark and word):
            problems.append(f"{shown(part)} is not a pair such as first:0")
        elif meaning not in _OUTCOMES:
            near = nearest_names(meaning, list(_OUTCOMES))
            hint = f"; did you mean {near[0]}?" if near else ""
            problems.append(f"{shown(meaning)} is not one of {', '.join(_OUTCOMES)}{hint}")
        elif word in words:
            problems.append(f"{shown(word)} is given twice")
        else:
            words[word] = _OUTCOMES[meaning]
    if not column.strip():
        problems.append("the column is missing, such as in winner=first:a,second:b,tie:tie")
    if problems:
        raise InputError("Invalid votes", problems)
    return column.strip(), words


@dataclass(frozen=True)
class TableVotes:
    """The votes in a table, by rater."""

    by_rater: Mapping[str, Mapping[tuple[str, str], str]]
    """Rater -> (item, level) -> the system that is better, or `both_good` or `both_bad`."""
    columns: tuple[str, ...] = ()
    """The columns of votes, and that of raters."""
    read_as: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of votes."""
        return sum(map(len, self.by_rater.values()))

    def preferences(self, candidate: str, comparator: str) -> dict[str, dict[tuple[str, str], Preference]]:
        """The votes as a study stores them."""
        meant: dict[str, Preference] = {candidate: "candidate", comparator: "comparator"}
        meant |= {"both_good": "both_good", "both_bad": "both_bad"}
        return {
            rater: {pair: meant[vote] for pair, vote in votes.items() if vote in meant}
            for rater, votes in self.by_rater.items()
        }


def read_votes(
    builder: DatasetBuilder,
    systems: Sequence[str],
    asked: Sequence[tuple[str, Mapping[str, str]]],
    items: Mapping[str, object],
    repeated: Repeated = "refuse",
) -> TableVotes:
    """The votes in columns of a table. Raises InputError with every word that is not understood, one line a kind.

    systems: the two that the study compares. asked: column and word -> meaning; words without one are understood as far as they
    name a side, a system or a tie. items: ids of the study's questions; votes on others are left out. repeated: which of a rater's
    different votes on a pair counts. A column `rater` names who voted; without one the column of votes does.
    """
    rows = [row for row in builder.rows if {*systems} >= {*row.systems} and row.item_id in items]
    keys = list(dict.fromkeys(key for row in builder.rows[:1] for key in row.record.cells))
    problems = Problems()
    found: dict[str, dict[tuple[str, str], str]] = {}
    read_as, notes, columns = [], [], []
    rater_column = _rater_column(keys, builder.layout.used, [column for column, _ in asked])
    for name, words in asked:
        column = next((key for key in keys if key.strip().casefold() == name.casefold()), None)
        if column is None:
            problems.append(f"there is no column {shown(name)}; the file has: {listed(keys, [name])}")
            continue
        columns.append(column)
        counts = _counts(rows, column)
        meanings = {
            word: words.get(word) or words.get(plain_word(word)) or _meaning(word, rows) for word in counts
        }
        problems += [
            f"column {shown(column)}: {shown(word)} ({counted(counts[word], 'row')}) is neither a side, nor a system, nor a tie; "
            f"say what it means, as in {shown(column)}=first:a,second:b,tie:c"
            for word, meaning in meanings.items()
            if meaning is None
        ]
        known = {word: meaning for word, meaning in meanings.items() if meaning is not None}
        read_as.append(VoteColumn(column, known, counts).said)
        for row in rows:
            word = label_of(row.record.cells.get(column))
            if word is None or word not in known:
                continue
            vote = _vote(known[word], row, systems)
            rater = column if rater_column is None else label_of(row.record.cells.get(rater_column)) or column
            if len(asked) > 1 and rater_column is not None:
                rater = f"{rater}, {column}"
            own = found.setdefault(rater, {})
            before = own.get((row.item_id, row.level))
            if before is not None and before != vote:
                if repeated == "refuse":
                    problems.append(
                        f"{row.record.where}: rater {shown(rater)} voted otherwise on question {shown(row.item_id)} in an earlier "
                        "row; say which vote counts, the first or the last"
                    )
                notes.append(f"rater {shown(rater)}: two different votes on question {shown(row.item_id)}")
            if before is None or repeated == "last":
                own[row.item_id, row.level] = vote
    if problems:
        raise InputError(f"{shown(builder.file_name)}: the votes cannot be read", problems)
    if notes:
        notes = [f"{counted(len(notes), 'vote')} repeated with another answer: the {repeated} one counts"]
    raters = f"raters: column {shown(rater_column)}" if rater_column else f"raters: {listed(list(found))}"
    used = [column for column in (*columns, rater_column) if column is not None]
    return TableVotes(
        found, tuple(used), (*read_as, raters, f"sides: unknown, because {SIDES_UNKNOWN}"), tuple(notes)
    )


def _rater_column(keys: Sequence[str], used: Sequence[str], votes: Sequence[str]) -> str | None:
    """The column that names who voted in a row."""
    names = (*known_at("ratings")["rater"], "judge", "judge_id")
    plain = {"_".join(words_in(key)): key for key in keys if key not in used and key not in votes}
    return next((plain[name] for name in names if name in plain), None)


def _counts(rows: Sequence[PairRow], column: str) -> dict[str, int]:
    """Word -> number of rows, in the order of the file."""
    cells = (row.record.cells.get(column) for row in rows)
    return dict(
        Counter(word for cell in cells if not is_nothing(cell) and (word := label_of(cell)) is not None)
    )


def _meaning(word: str, rows: Sequence[PairRow]) -> str | None:
    """What a word says by itself: a system, a side, or a tie; None if it says nothing, or two things."""
    systems = {system for row in rows for system in row.systems}
    inner = found[1] if (found := _BRACKETS.fullmatch(word.strip())) else word
    if compared := _COMPARED.fullmatch(inner.strip()):
        sides = [compared["left"], compared["right"]]
        if not all(side_at(one) is not None or one in systems for one in sides):
            return None
        if compared["mark"] == "=":
            return "both_good"
        inner = sides[0 if compared["mark"].startswith(">") else 1]
    plain = " ".join(regex.sub(r"[\W_]+", " ", inner).split()).casefold()
    if plain in _BOTH_BAD:
        return "both_bad"
    if plain in _TIES or (found and plain == "c"):
        return "both_good"
    named = [system for system in systems if system.casefold() == inner.strip().casefold()]
    place = None if number_in(inner) is not None else side_at(inner)
    side: Outcome | None = None if place is None or place > 1 else get_args(Outcome)[place]
    if named and side and any(named[0] in row.systems and _named_by(side, row) != named[0] for row in rows):
        return None
    return named[0] if named else side


def _named_by(side: str, row: PairRow) -> str | None:
    at = 0 if side == "first" else 1
    return row.systems[at] if len(row.systems) > at else None


def _vote(meaning: str, row: PairRow, systems: Sequence[str]) -> str:
    """The better system of a row, or `both_good` or `both_bad`."""
    if meaning not in ("first", "second"):
        return meaning
    order = row.systems if len(row.systems) > 1 else tuple(systems)
    return order[0 if meaning == "first" else 1]
