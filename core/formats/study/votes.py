"""Votes that stand in a table beside the answers: a column a rater, or a row a vote."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import regex

from core.errors import InputError, Problems, counted, nearest_names
from core.formats.study.pairs import DatasetBuilder, PairRow
from core.schema.study import Preference
from core.tables.columns import known_at
from core.tables.mapping import plain_word
from core.tables.problems import listed
from core.tables.reading import is_undefined, label_of, shown
from core.tables.roles import is_about, who_in, words_in

Outcome = Literal["first", "second", "both_good", "both_bad", "skip"]
"""What a vote says: an answer by its place in the row, neither, or nothing."""
Repeated = Literal["refuse", "first", "last"]
"""Which of a rater's different votes on a pair counts."""
VOTES = "votes:"
"""How a line on a column of votes begins."""
NOT_IMPORTED = "; not imported"
"""How such a line ends where nobody asked for the votes."""
SIDES_UNKNOWN = "the file does not say which answer a rater saw on which side"
_MOST_WORDS = 12
_OUTCOMES: Mapping[str, Outcome] = {
    "first": "first",
    "second": "second",
    "tie": "both_good",
    "both_good": "both_good",
    "both_bad": "both_bad",
    "skip": "skip",
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
        *(
            "a tie",
            "it s a tie",
            "its a tie",
            "equally good",
            "about the same",
            "gleich gut",
            "gleich",
            "unentschieden",
            "égal",
            "egalité",
        ),
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
_COMPARED = regex.compile(r"(?P<left>[^<>=~]+?)\s*(?P<mark>>+|<+|=|~)\s*(?P<right>[^<>=~]+)")
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
    "skip": "no vote",
}


def vote_columns(builder: DatasetBuilder) -> list[VoteColumn]:
    """The columns that may hold votes: those with a name for a choice or a person, whose every word is understood."""
    rows = builder.rows
    keys = dict.fromkeys(key for row in rows for key in row.record.cells)
    used = {*builder.layout.used, _rater_column([*keys], builder, [])}
    found = []
    for key in keys:
        words = {*words_in(key)}
        if (
            key in used
            or who_in(key) == "judge"
            or not (words & _CHOICES or who_in(key) in ("person", "plain", "settled"))
            or (is_about(key) and not words & _CHOICES)
        ):
            continue
        counts = _counts(rows, key)
        meanings = {word: _checked(_meaning(word, rows), builder) for word in counts}
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
    wanted: Sequence[tuple[str, Mapping[str, str]]],
    items: Mapping[str, object],
    repeated: Repeated = "refuse",
) -> TableVotes:
    """The votes in columns of a table. Raises InputError with every word that is not understood, one line a kind.

    systems: the two that the study compares. wanted: column and word -> meaning; words without one are understood as far as they
    name a side, a system or a tie. items: ids of the study's questions; votes on others are left out. repeated: which of a rater's
    different votes on a pair counts. A column `rater` names who voted; without one the column of votes does.
    """
    rows = [row for row in builder.rows if row.item_id in items and _holds(row, systems)]
    keys = list(dict.fromkeys(key for row in builder.rows for key in row.record.cells))
    problems = Problems()
    found: dict[str, dict[tuple[str, str], str]] = {}
    spelled: dict[str, str] = {}
    counts_of: Counter[str] = Counter()
    read_as, columns = [], []
    rater_column = _rater_column(keys, builder, [column for column, _ in wanted])
    for name, words in wanted:
        column = next((key for key in keys if key.strip().casefold() == name.casefold()), None)
        if column is None:
            problems.append(f"there is no column {shown(name)}; the file has: {listed(keys, [name])}")
            continue
        columns.append(column)
        names = _names_of_systems(rows)
        counts = _counts(rows, column)
        meanings = {
            word: words.get(word) or words.get(plain_word(word)) or _meaning(word, builder.rows)
            for word in counts
        }
        meanings = {word: _checked(meaning, builder) for word, meaning in meanings.items()}
        problems += [
            f"column {shown(column)}: {shown(word)} ({counted(counts[word], 'row')}) {_unclear(word, column, builder.rows)}"
            for word, meaning in meanings.items()
            if meaning is None
        ]
        known = {word: meaning for word, meaning in meanings.items() if meaning is not None}
        read_as.append(VoteColumn(column, known, counts).said)
        for row in rows:
            word = _word(row.record.cells.get(column), names)
            vote = None if word is None or word not in known else _vote(known[word], row, systems)
            if vote is None or vote == "skip":
                continue
            if vote not in (*systems, "both_good", "both_bad"):
                counts_of["other"] += 1
                continue
            rater = column if rater_column is None else label_of(row.record.cells.get(rater_column))
            rater = (rater or column).strip()
            rater = spelled.setdefault(rater.casefold(), rater)
            if len(wanted) > 1 and rater_column is not None:
                rater = f"{rater}, {column}"
            own = found.setdefault(rater, {})
            before = own.get((row.item_id, row.level))
            if before is not None and rater_column is None and len(row.systems) > 1:
                counts_of["unnamed"] += 1
            elif before is not None and before != vote:
                counts_of["repeated"] += 1
                if repeated == "refuse":
                    problems.append(
                        f"{row.record.where}: rater {shown(rater)} voted otherwise on question {shown(row.item_id)} in an earlier "
                        "row; say which vote counts, the first or the last"
                    )
            if before is None or repeated == "last":
                own[row.item_id, row.level] = vote
    if n := counts_of["unnamed"]:
        problems.append(
            f"file: {counted(n, 'row')} of votes on a pair that an earlier row votes on, and no column names who voted; name it as the "
            "column rater"
        )
    if problems:
        raise InputError(f"{shown(builder.file_name)}: the votes cannot be read", problems)
    raters = f"raters: column {shown(rater_column)}" if rater_column else f"raters: {listed(list(found))}"
    used = [column for column in (*columns, rater_column) if column is not None]
    return TableVotes(
        found,
        tuple(used),
        (*read_as, raters, f"sides: unknown, because {SIDES_UNKNOWN}"),
        _votes_said(found, counts_of, repeated),
    )


def _votes_said(raters: Collection[str], counts: Mapping[str, int], repeated: Repeated) -> tuple[str, ...]:
    """Notes on votes that do not count, and on raters who are perhaps no people."""
    notes = []
    if n := counts.get("repeated"):
        notes.append(f"{counted(n, 'vote')} repeated with another answer: the {repeated} one counts")
    if n := counts.get("other"):
        notes.append(f"{counted(n, 'vote')} for other systems left out")
    if judges := [rater for rater in raters if who_in(rater) == "judge"]:
        notes.append(f"{listed(judges)}: named like a judge, and counted as a person here")
    return tuple(notes)


def _holds(row: PairRow, systems: Sequence[str]) -> bool:
    """Whether a row is about the two systems: it holds both answers, or one in a table with a row for each answer."""
    return {*systems} <= {*row.systems} if len(row.systems) > 1 else {*row.systems} <= {*systems}


def _checked(meaning: str | None, builder: DatasetBuilder) -> str | None:
    """The meaning; None for a side in a table in which no answer is the first of a row."""
    return None if meaning in ("first", "second") and not builder.layout.wide else meaning


def _rater_column(keys: Sequence[str], builder: DatasetBuilder, votes: Sequence[str]) -> str | None:
    """The column that names who voted in a row: the owner's choice, or one with a usual name."""
    if column := builder.layout.named.get("rater"):
        return column
    names = (*known_at("ratings")["rater"], *_VOTERS)
    used = builder.layout.used
    plain = {"_".join(words_in(key)): key for key in keys if key not in used and key not in votes}
    return next((plain[name] for name in names if name in plain), None)


_VOTERS = (
    "judge",
    "judge_id",
    "voter",
    "participant",
    "participant_id",
    "prolific_id",
    "email",
    "e_mail",
    "email_address",
    "username",
)
"""Further names of the column of who voted."""


def _counts(rows: Sequence[PairRow], column: str) -> dict[str, int]:
    """Word -> number of rows, in the order of the file."""
    names = _names_of_systems(rows)
    words = (_word(row.record.cells.get(column), names) for row in rows)
    return dict(Counter(word for word in words if word is not None))


def _names_of_systems(rows: Sequence[PairRow]) -> dict[str, str]:
    """Name without case -> system, for all systems of the rows."""
    return {system.strip().casefold(): system for row in rows for system in row.systems}


def _word(cell: object, names: Collection[str]) -> str | None:
    """What a cell says; None for one without a vote. `None` is a word where a system is called so."""
    word = label_of(cell)
    if word is None or (is_undefined(cell) and not (isinstance(cell, str) and word.casefold() in names)):
        return None
    return word


def _unclear(word: str, column: str, rows: Sequence[PairRow]) -> str:
    """Why a word is no vote as it stands, and what to do."""
    if word.strip().casefold() not in _names_of_systems(rows):
        return (
            "is neither a side, nor a system, nor a tie; "
            f"say what it means, as in {shown(column)}=first:a,second:b,tie:c,skip:d"
        )
    orders = {row.systems for row in rows}
    two = "is the name of a system, and also a word for a side, a tie or no vote"
    if len(orders) == 1 and len(order := next(iter(orders))) > 1:
        return f"{two}; say what it means, as in {shown(column)}=first:{order[0]},second:{order[1]}"
    return f"{two}; rename the system in the file"


def _meaning(word: str, rows: Sequence[PairRow]) -> str | None:
    """What a word says by itself: a system, a side, or a tie; None if it says nothing, or two things.

    A side must be all that the word says, but for a noun (`Response A`) and by how much (`A is much better`): a letter inside
    another sentence would be a vote for whoever it names last.
    """
    inner = found[1] if (found := _BRACKETS.fullmatch(word.strip())) else word.strip()
    if compared := _COMPARED.fullmatch(inner):
        sides = [_side_or_system(part, rows) for part in (compared["left"], compared["right"])]
        if None in sides or sides[0] == sides[1]:
            return None
        return (
            "both_good" if compared["mark"] in "=~" else sides[0 if compared["mark"].startswith(">") else 1]
        )
    plain = " ".join(regex.sub(r"[\W_]+", " ", inner).split()).casefold()
    tie: Outcome | None = None
    if plain in _BOTH_BAD:
        tie = "both_bad"
    elif plain in _TIES or (found and plain == "c"):
        tie = "both_good"
    if tie is None and not is_undefined(inner):
        return _side_or_system(inner, rows)
    # A system called `tie` or `None` would lose its wins.
    return None if inner.casefold() in _names_of_systems(rows) else tie


def _side_or_system(word: str, rows: Sequence[PairRow]) -> str | None:
    """The system or the side that a word names; None if it names none, or one of each in different rows."""
    systems = list(dict.fromkeys(system for row in rows for system in row.systems))
    plain = word.strip().casefold()
    named = [system for system in systems if system.strip().casefold() == plain]
    named = named or [system for system in systems if _name_words(system) == _name_words(word) != ()]
    side = _side(word) if all(len(row.systems) > 1 for row in rows) else None
    if len(named) > 1:
        return None
    if named and side and any(named[0] in row.systems and _named_by(side, row) != named[0] for row in rows):
        return None
    return named[0] if named else side


def _name_words(name: str) -> tuple[str, ...]:
    """The words of a system or of the column of its answers, without the words for an answer: `GPT-4 response` is gpt, 4."""
    return tuple(word for word in words_in(name) if word not in _NOUNS)


def _side(word: str) -> Outcome | None:
    """The side that a word names, and nothing else; None for numbers, which may mean anything."""
    words = [part for one in words_in(word) for part in _APART.findall(one)]
    left = [one for one in words if one not in _NOUNS]
    if left[:1] in (["left"], ["right"]) or len(left) != 1:
        left = [one for one in left if one not in _BETTER]
    if len(left) != 1 or (left[0].isdecimal() and len(words) == 1):
        return None
    place = next((series.index(left[0]) for series in _SIDES if left[0] in series), None)
    return None if place is None else get_args(Outcome)[place]


_APART = regex.compile(r"\p{L}+|\p{N}+")
_SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("links", "rechts"))
_NOUNS = frozenset(
    [
        "response",
        "answer",
        "output",
        "model",
        "option",
        "assistant",
        "system",
        "text",
        "candidate",
        "completion",
        "translation",
        "summary",
        "the",
        "one",
        "antwort",
        "modell",
    ]
)
_BETTER = frozenset(
    [
        "is",
        "was",
        "are",
        "much",
        "slightly",
        "clearly",
        "significantly",
        "strongly",
        "better",
        "wins",
        "won",
        "preferred",
        "bit",
    ]
)


def _named_by(side: str, row: PairRow) -> str | None:
    at = 0 if side == "first" else 1
    return row.systems[at] if len(row.systems) > at else None


def _vote(meaning: str, row: PairRow, systems: Sequence[str]) -> str | None:
    """The better system of a row, `both_good` or `both_bad`; None for a side that the row does not have."""
    if meaning in ("first", "second"):
        at = 0 if meaning == "first" else 1
        return row.systems[at] if len(row.systems) > at else None
    return meaning
