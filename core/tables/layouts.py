"""The layouts in which tables hold answers: a row for each, answers side by side, chosen and rejected, conversations.

`layout_of` finds what each column means, by names alone where names suffice, and `Layout.rows` turns every layout into a row for
each answer. What was found is said in one line a role and can be changed: the owner's choice of a column always counts.
"""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import regex

from core.budget import json_values
from core.errors import counted
from core.schema.scores import Turn, TurnRole
from core.tables.columns import Record, Table, named_columns, source_as_system
from core.tables.mapping import NOT_USED
from core.tables.problems import FileFindings, same_wording
from core.tables.reading import is_nothing, label_of, numbers_as_json, parse_json, shown
from core.tables.roles import holds_texts, is_about, rates, who_in, words_in


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TEXTS = (
    "response",
    "answer",
    "output",
    "completion",
    "generation",
    "translation",
    "summary",
    "hypothesis",
    "hyp",
    "mt",
    "reply",
    "text",
    "candidate",
    "antwort",
    "réponse",
    "messages",
    "conversation",
)
"""Words for an answer; where a table has columns of several, the first counts."""
_SYSTEMS = _set("model system generator assistant agent llm")
_OTHER_TEXTS = _set(
    "reference ref gold golden correct expected ideal target ground best question prompt instruction query input "
    "source src context system user feedback rationale comment comments explanation reason critique edited edit revised "
    "justification solution referenz musterlösung kommentar anmerkung follow"
)
"""Words that make a text something else than an answer: `correct_answer`, `question_text`."""
_LONG = "a row for each answer"
_SERIES = (
    tuple("abcdefgh"),
    tuple("123456789"),
    ("left", "right"),
    ("first", "second", "third"),
    ("one", "two", "three"),
    tuple("xyz"),
)
"""Words that tell columns side by side apart, in their order."""
_ASKED = (
    *("source", "src", "context", "document", "article", "passage", "source_text", "source_sentence", "text"),
    *("messages", "conversation", "dialogue"),
)
"""Names of columns that stand in for a question, where nothing else is one."""
_ROLES: Mapping[str, TurnRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "chatgpt": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}
_SPEAKER = regex.compile(r"\n\n(Human|Assistant|H|A): ?")
_NUMBERED = regex.compile(r"(\p{L}+)(\d)")
_WORDS_OF_ANSWER = 3
_MOST_COLUMNS = 500
"""Columns beyond which a table does not hold answers side by side, and is not searched for them."""
_MOST_LOOKED_AT = 50
"""Rows whose cells decide what a column holds."""
_MOST_LITERALS = 20_000
"""Values of a list as Python writes it; parsing takes kilobytes for each."""
_TURN = "turn"
"""The column with the number of the question whose answers were judged, as MT-Bench has it."""
PARTED = "parted"
"""The cell of a row, in the tables that `Layout.rows` makes, whose text is all that follows a question, as parts_of says."""
TURNS = "turns"
"""The column of a row's earlier turns, in the tables that `Layout.rows` makes."""


class Answer(NamedTuple):
    """The columns of one answer in a row that holds several."""

    column: str
    side: str = ""
    """What the names of columns call this side, such as `a` or `left`; empty if columns are named by system."""
    system_column: str | None = None
    """The column with the name of its system; None: the column of the answer names it."""


@dataclass(frozen=True)
class Layout:
    """What the columns of a table mean for texts."""

    named: Mapping[str, str] = field(default_factory=dict)
    """Assay's name -> the table's column: item_id, question, reference, language, level, system, text and others."""
    answers: tuple[Answer, ...] = ()
    """The answers of a row, at least two; none in a table with a row for each answer."""
    conversations: frozenset[str] = frozenset()
    """Columns whose cells are lists of turns."""
    kind: str = _LONG
    asked_below: str | None = None
    """A column whose texts belong below the question, as `input` below `instruction`."""
    others: tuple[str, ...] = ()
    """Columns without a role."""

    @property
    def wide(self) -> bool:
        """Whether a row holds several answers."""
        return bool(self.answers)

    @property
    def used(self) -> tuple[str, ...]:
        """The columns with a role."""
        answers = [
            column for one in self.answers for column in (one.column, one.system_column) if column is not None
        ]
        below = [self.asked_below] if self.asked_below else []
        return tuple(dict.fromkeys([*self.named.values(), *below, *answers]))

    @property
    def roles(self) -> dict[str, str]:
        """Column -> Assay's name, for the columns with a role."""
        found = {column: name for name, column in self.named.items()}
        found |= {one.column: "text" for one in self.answers}
        return found | {one.system_column: "system" for one in self.answers if one.system_column}

    def said(self, item: str = "") -> list[str]:
        """What was understood, one line a role. item: the line on what an item is, if there is one."""
        lines = [f"layout: {self.kind}"]
        for name, word in (("question", "question"), ("reference", "reference"), ("system", "system")):
            if column := self.named.get(name):
                below = (
                    f", with {_column(self.asked_below)} below"
                    if name == "question" and self.asked_below
                    else ""
                )
                lines.append(f"{word}: {_column(column)}{below}")
        if self.wide:
            answers = [
                _column(one.column)
                + (f" (system: {_column(one.system_column)})" if one.system_column else "")
                for one in self.answers
            ]
            lines.append(f"answers: {', '.join(answers)}")
        elif column := self.named.get("text"):
            lines.append(f"answer: {_column(column)}")
        lines += [item] if item else []
        for name in ("level", "language"):
            if column := self.named.get(name):
                lines.append(f"{name}: {_column(column)}")
        return lines

    def say_parted(self, rows: Sequence[Record]) -> list[str]:
        """A note on conversations that part before their last answers; none without them. rows: of `rows`."""
        n = sum(PARTED in row.cells for row in rows) // max(1, len(self.answers))
        if not n:
            return []
        return [
            f"{counted(n, 'row')} with conversations that differ before the last answers: all that follows the last question "
            "they share is compared as one text"
        ]

    def rows(self, records: Sequence[Record]) -> Iterator[Record]:
        """A row for each answer, with Assay's names; columns without a role keep their own."""
        for record in records:
            about = {
                name: record.cells[column]
                for name, column in self.named.items()
                if name != "text" and column in record.cells
            }
            about |= {key: record.cells[key] for key in self.others if key in record.cells}
            if TURNS in about:
                about[TURNS] = turns_in(about[TURNS]) or ()
            cells = self._judged(record.cells)
            about |= _question_cells(about.get("question"))
            below = record.cells.get(self.asked_below) if self.asked_below else None
            if not is_nothing(below) and isinstance(below, str):
                above = about.get("question")
                about["question"] = below if is_nothing(above) else f"{above}\n\n{below}"
            if not self.wide:
                yield replace(record, cells=about | _answer(cells, self.named.get("text"), about))
            parted = parts_of([turns_in(cells.get(one.column)) for one in self.answers])
            for at, one in enumerate(self.answers):
                system = one.column if one.system_column is None else record.cells.get(one.system_column)
                if parted is None:
                    answer = _answer(cells, one.column, about)
                else:
                    asked = {TURNS: ()} | _asked_in(parted.shared, about.get("question"))
                    answer = {"text": parted.rest[at], PARTED: True} | asked
                yield replace(
                    record,
                    where=f"{record.where}, column {shown(one.column)}",
                    cells=about | {"system": system} | answer,
                )

    def _judged(self, cells: Mapping[str, object]) -> Mapping[str, object]:
        """The cells of a row, whose conversations end with the answers that were judged, where a column says which."""
        number = label_of(cells.get(self.named[_TURN])) if _TURN in self.named else None
        if number is None or not number.isdecimal():
            return cells
        ended = {
            one.column: _cut_after(turns, int(number))
            for one in self.answers
            if (turns := turns_in(cells.get(one.column)))
        }
        return {**cells, **ended}


class Parted(NamedTuple):
    """Conversations that are the same up to a question, and differ before their last answers."""

    shared: tuple[Turn, ...]
    """The turns up to the last question that all share."""
    rest: tuple[str, ...]
    """All that follows it in each of them, as one text."""


def parts_of(sides: Sequence[Sequence[Turn] | None]) -> Parted | None:
    """Where conversations side by side part before their last answers; None where they do not, or share no question."""
    whole = [turns for turns in sides if turns is not None]
    if len(whole) < len(sides) or len(whole) < 2:
        return None
    before = [
        [(turn.role, same_wording(turn.text)) for turn in turns[: _answer_at(turns)]] for turns in whole
    ]
    if all(one == before[0] for one in before):
        return None
    alike = 0
    while all(alike < len(one) and one[alike] == before[0][alike] for one in before):
        alike += 1
    shared = tuple(whole[0][:alike])
    while shared and shared[-1].role != "user":
        shared = shared[:-1]
    if not shared:
        return None
    return Parted(shared, tuple(transcript(turns[len(shared) :]) for turns in whole))


def transcript(turns: Sequence[Turn]) -> str:
    """Turns as one text, as it is compared with another: each below its speaker; the first, an answer, needs none."""
    return "\n\n".join(
        turn.text if at == 0 and turn.role == "assistant" else f"{turn.role.capitalize()}:\n\n{turn.text}"
        for at, turn in enumerate(turns)
    )


def _cut_after(turns: Sequence[Turn], number: int) -> tuple[Turn, ...]:
    """A conversation through the answer to its question with this number, from 1; whole where it has fewer."""
    asked = [at for at, turn in enumerate(turns) if turn.role == "user"]
    return tuple(turns if number < 1 or len(asked) <= number else turns[: asked[number]])


def _answer_at(turns: Sequence[Turn]) -> int:
    """Where the last answer begins, which may come in several messages."""
    at = len(turns)
    while at and turns[at - 1].role == "assistant":
        at -= 1
    return at


def _answer(
    cells: Mapping[str, object], column: str | None, about: Mapping[str, object]
) -> dict[str, object]:
    """The text in a cell; of a conversation its last answer, with the question and the turns before it."""
    if column is None or column not in cells:
        return {}
    turns = turns_in(cells[column])
    if turns is None:
        return {"text": cells[column]}
    at = _answer_at(turns)
    before, text = turns[:at], "\n\n".join(turn.text for turn in turns[at:])
    if not any(one.role == "user" for one in before):
        return {"text": text}  # an answer alone, as a list of one message
    return {"text": text} | _asked_in(before, about.get("question"))


def _column(name: str) -> str:
    return f"column {shown(name)}"


def _question_cells(cell: object) -> dict[str, object]:
    """The question in a cell, with the turns before it if the cell is a conversation."""
    turns = turns_in(cell)
    if turns is None:
        return {}
    return _asked_in(turns, None)


def keep_last_question(record: Record) -> Record:
    """The row with the last question of a conversation in place of the conversation."""
    asked = _question_cells(record.cells.get("question"))
    return replace(record, cells={**record.cells, **asked}) if asked else record


def _asked_in(turns: Sequence[Turn], question: object) -> dict[str, object]:
    """The last question of a conversation; the turns only if there are others."""
    at = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=None)
    if at is None:
        return {}
    found: dict[str, object] = {"question": turns[at].text}
    if isinstance(question, str) and same_wording(question) == same_wording(turns[at].text):
        found = {}
    return found | ({TURNS: tuple(turns[: at + 1])} if at else {})


def turns_in(cell: object) -> tuple[Turn, ...] | None:
    """The turns of a cell that is a conversation, also written as text. None for every other cell.

    A conversation is a list of {role, content} or {from, value}, as JSON or as Python writes it, or a transcript that begins with
    `Human:`. Parts that are no text, such as an image, stand as their kind in brackets.
    """
    if isinstance(cell, tuple) and cell and all(isinstance(one, Turn) for one in cell):
        return cell
    if isinstance(cell, str):
        cell = _listed(cell)
    if not isinstance(cell, Sequence) or isinstance(cell, str | bytes) or not cell:
        return None
    turns = []
    for one in cell:
        if not isinstance(one, Mapping):
            return None
        role = _ROLES.get(_role_in(one))
        text = _content(one.get("content", one.get("value", one.get("text"))))
        if role is None or text is None:
            return None
        if (
            text or role == "user"
        ):  # an assistant that calls a tool says nothing, as does an empty instruction
            turns.append(Turn(role, text))
    return tuple(turns)


def _role_in(message: Mapping[str, object]) -> str:
    return str(message.get("role", message.get("from", message.get("speaker", "")))).strip().casefold()


def unknown_role(cell: object) -> str | None:
    """The first role of a conversation that Assay does not know; None for every other cell.

    Only a list in which other messages have a role that is known is a conversation.
    """
    if isinstance(cell, str):
        cell = _listed(cell)
    if not isinstance(cell, Sequence) or isinstance(cell, str | bytes):
        return None
    roles = [_role_in(one) for one in cell if isinstance(one, Mapping)]
    return next((role for role in roles if role not in _ROLES), None) if {*roles} & {*_ROLES} else None


KNOWN_ROLES = ", ".join(_ROLES)
"""Names of roles in a conversation, for messages."""


def _listed(text: str) -> object:
    """The list of messages that a text is; the text itself if it is none."""
    start = text.lstrip()
    if start.startswith(("Human:", "H:")) and _SPEAKER.search(start):
        parts = _SPEAKER.split(f"\n\n{start}")
        return [
            {"role": "user" if name in ("Human", "H") else "assistant", "content": said.strip()}
            for name, said in zip(parts[1::2], parts[2::2], strict=True)
            if said.strip() or name in ("Human", "H")
        ]
    if not start.startswith("[{"):
        return text
    value, problem = parse_json(numbers_as_json(start))
    if problem is None:
        return value
    if json_values(start, _MOST_LITERALS) > _MOST_LITERALS:
        return text
    try:
        return ast.literal_eval(start)  # as pandas writes lists into CSV
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def turns_of(turns: Sequence[Turn]) -> dict[str, list[dict[str, str]]]:
    """The column of a row's turns, for a file; none for a question that stands alone."""
    return {TURNS: [{"role": turn.role, "content": turn.text} for turn in turns]} if turns else {}


def _content(value: object) -> str | None:
    """The text of a message; parts that are no text are left out."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, Sequence):
        return None
    parts = [
        part
        if isinstance(part, str)
        else str(part.get("text") or f"[{part.get('type', 'part')}]")
        if isinstance(part, Mapping)
        else ""
        for part in value
    ]
    return "\n".join(parts)


def layout_of(
    table: Table, aliases: Mapping[str, Sequence[str]], columns: Mapping[str, Sequence[str]] | None = None
) -> Layout:
    """The layout of a table with records under the file's own names.

    aliases: Assay's names and the names that a table may use, with `system` for the system. columns: what the owner chose,
    Assay's name -> columns; several for `text` are answers side by side, and those of NOT_USED have no role. The table must have
    the columns chosen.
    """
    chosen = {name: tuple(held) for name, held in (columns or {}).items() if held}
    ignored = chosen.pop(NOT_USED, ())
    texts = chosen.pop("text", ())
    named = {name: held[0] for name, held in chosen.items()}
    free = [key for key in table.keys if key.strip() and key not in {*named.values(), *texts, *ignored}]
    looked_at = table.records[:_MOST_LOOKED_AT]
    conversations = frozenset(key for key in table.keys[:_MOST_COLUMNS] if _holds_turns(looked_at, key))
    found = {name: key for name, key in _found(free, aliases).items() if name not in named}
    text = texts[0] if texts else found.pop("text", None)
    found.pop("text", None)
    if len(texts) > 1:
        answers, kind = tuple(map(Answer, texts)), "answers side by side"
        answers = _name_systems(answers, _families(free), looked_at)
    elif texts:
        answers, kind = (), _LONG
    else:
        answers, kind = _side_by_side(free, {**found, **named}, text, looked_at)
    if not answers and text is None:
        asked = {**found, **named}.get("question")
        text = next((key for key in free if key in conversations and key not in (asked, TURNS)), None)
    used = (
        {one.column for one in answers}
        | {one.system_column for one in answers}
        | ({text} if not answers else set())
    )
    named = {name: key for name, key in found.items() if key not in used} | named
    if answers:
        named.pop("system", None)
        if "reference" not in named and (
            key := _found(free, {"reference": ("answer", "target")}).get("reference")
        ):
            named |= {"reference": key} if key not in used else {}
    elif text is not None:
        named["text"] = text
    in_turns = bool({text, *(one.column for one in answers)} & conversations)
    if not in_turns:
        named = _add_question(named, free, used)
    if TURNS in conversations and "question" in named and TURNS not in named.values():
        named[TURNS] = TURNS
    if answers and in_turns and (key := _plain(free).get(_TURN)) is not None and key not in named.values():
        named[_TURN] = key
    plain, below = _plain(free), None
    if (
        "question" not in chosen
        and {"instruction", "input"} <= plain.keys()
        and named.get("question")
        in (
            plain["instruction"],
            plain["input"],
        )
    ):
        named["question"], below = plain["instruction"], plain["input"]
    kind = f"{kind}, as conversations" if in_turns else kind
    layout = Layout(named, answers, conversations, kind, below)
    return replace(layout, others=tuple(key for key in table.keys if key not in layout.used))


def split_answers(table: Table, aliases: Mapping[str, Sequence[str]], findings: FileFindings) -> Table:
    """The table with a row for each answer, where its rows hold several answers or conversations; else the table as it is.

    aliases: the columns that the reader knows, among them `text`.
    """
    names = {name: key for key, name in table.columns.items()}

    def written(records: Sequence[Record]) -> list[Record]:
        """Under the file's own names."""
        return [
            replace(record, cells={names.get(key, key): cell for key, cell in record.cells.items()})
            for record in records
        ]

    layout = layout_of(table._replace(records=written(table.records[:_MOST_LOOKED_AT])), aliases)
    asked = {layout.named.get("question"), layout.named.get("text"), layout.named.get(TURNS)}
    if not layout.wide and not asked & layout.conversations and layout.asked_below is None:
        return table
    if not layout.wide:  # as the reader of a table without conversations has it
        read_as = source_as_system({column: name for name, column in layout.named.items()})
        layout = replace(layout, named={name: column for column, name in read_as.items()})
    findings.notes += layout.said()
    rows = list(layout.rows(written(table.records)))
    findings.notes += layout.say_parted(rows)
    rows = [
        replace(row, cells={key: cell for key, cell in row.cells.items() if key != PARTED}) for row in rows
    ]
    there = dict.fromkeys(key for row in rows for key in row.cells)
    return Table([*there], {key: key for key in there if key in aliases}, rows, null=True)


def _found(keys: Sequence[str], aliases: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Assay's name -> the column with one of its names, in any case and with any separator."""
    plain = _plain(keys)
    return {name: plain[key] for key, name in named_columns(list(plain), aliases).items()}


def _plain(keys: Sequence[str]) -> dict[str, str]:
    """The words of each column's name, joined as in Assay's names -> the column; the first of equal ones."""
    found: dict[str, str] = {}
    for key in keys:
        found.setdefault("_".join(words_in(key)) or key, key)
    return found


def _holds_turns(records: Sequence[Record], key: str) -> bool:
    cells = [cell for record in records if not is_nothing(cell := record.cells.get(key))]
    return any(turns_in(cell) is not None for cell in cells)


class _Place(NamedTuple):
    """A column's place in a family of columns side by side."""

    stem: tuple[str, ...]
    series: int
    side: str


def _place_of(key: str) -> _Place | None:
    """The stem and side in a column's name: `Response A` has the stem response and the side a."""
    words: list[str] = []
    for word in words_in(key):
        split = _NUMBERED.fullmatch(word)
        words += [split[1], split[2]] if split else [word]
    for at in range(len(words) - 1, -1, -1):
        for number, series in enumerate(_SERIES):
            if words[at] in series:
                return _Place((*words[:at], *words[at + 1 :]), number, words[at])
    return None


def _families(keys: Sequence[str]) -> dict[tuple[tuple[str, ...], int], dict[str, str]]:
    """(stem, series) -> side -> column, of the columns that stand side by side."""
    found: dict[tuple[tuple[str, ...], int], dict[str, str]] = {}
    for key in keys:
        if (place := _place_of(key)) is not None and place.stem:
            found.setdefault((place.stem, place.series), {}).setdefault(place.side, key)
    return {
        (stem, series): dict(sorted(sides.items(), key=lambda one: _SERIES[series].index(one[0])))
        for (stem, series), sides in found.items()
        if len(sides) > 1
    }


def _noun(words: Sequence[str]) -> str | None:
    """The word for an answer with which a name ends, or begins before a system; None for references and questions."""
    if not words or _OTHER_TEXTS & {*words}:
        return None
    last, first = _singular(words[-1]), _singular(words[0])
    if last in _TEXTS:
        return last
    return first if first in _TEXTS and not is_about("_".join(words[1:])) else None


def _singular(word: str) -> str:
    return word.removesuffix("s") if word.removesuffix("s") in _TEXTS else word


def _side_by_side(
    keys: Sequence[str], found: Mapping[str, str], text: str | None, records: Sequence[Record]
) -> tuple[tuple[Answer, ...], str]:
    """The answers of a row, and how they stand there; none if the table has a row for each answer.

    found: Assay's name -> column. text: the column that has a name for an answer.
    """
    if len(keys) > _MOST_COLUMNS:
        return (), _LONG
    plain = _plain(keys)
    families = _families(keys)
    if "chosen" in plain and "rejected" in plain and not _name_others(records, plain["chosen"], families):
        return (Answer(plain["chosen"]), Answer(plain["rejected"])), "chosen and rejected, side by side"
    by_noun: dict[str, Mapping[str, str]] = {}
    # `answer 1` is the answer, and `edited answer 1` something made of it: the shortest name counts.
    for (stem, _), sides in sorted(families.items(), key=lambda one: len(one[0][0])):
        rated = any(rates(records, key) for key in sides.values())
        if (noun := _noun(stem)) and (len(stem) == 1 or not rated):
            by_noun.setdefault(noun, sides)
    if not by_noun:  # columns `model_a` and `model_b` may hold the answers themselves
        for (stem, _), sides in families.items():
            if _SYSTEMS & {*stem[-1:]} and all(_holds_answers(records, key) for key in sides.values()):
                by_noun.setdefault(_TEXTS[0], sides)
    if by_noun:
        noun = min(by_noun, key=_TEXTS.index)
        answers = tuple(Answer(column, side) for side, column in by_noun[noun].items())
        return _name_systems(answers, families, records), "answers side by side"
    if "system" in found and text is not None:
        return (), _LONG
    roles = {*found.values()}
    free = [key for key in keys if key not in roles and not rates(records, key)]
    nouns: dict[str, list[str]] = {}
    for key in free:
        if key != text and (noun := _noun(words_in(key))) is not None:
            nouns.setdefault(noun, []).append(key)
    if text is not None and len(words_in(text)) > 1 and (noun := _noun(words_in(text))) is not None:
        nouns.setdefault(noun, []).append(text)
    columns = next((nouns[noun] for noun in _TEXTS if len(nouns.get(noun, ())) > 1), [])
    if not columns and text is None:
        columns = [key for key in free if _may_be_system(key) and _holds_answers(records, key)]
    if len(columns) < 2:
        return (), _LONG
    return tuple(map(Answer, columns)), "answers side by side, a column for each system"


def _name_others(
    records: Sequence[Record], key: str, families: Mapping[tuple[tuple[str, ...], int], object]
) -> bool:
    """Whether the cells of a column `chosen` only name a side or a system, beside columns of answers."""
    cells = [str(cell) for record in records if not is_nothing(cell := record.cells.get(key))]
    beside = any(_noun(stem) or _SYSTEMS & {*stem[-1:]} for stem, _ in families)
    return beside and all(len(cell.split()) < _WORDS_OF_ANSWER for cell in cells)


def _may_be_system(key: str) -> bool:
    """Whether a column's name may be a system's: not one that describes something, is a reference or asks."""
    words = words_in(key)
    return not (
        _OTHER_TEXTS & {*words} or "_".join(words) in _ASKED or (is_about(key) and who_in(key) != "judge")
    )


def _holds_answers(records: Sequence[Record], key: str) -> bool:
    """Whether a column holds texts; few short answers look like labels, but each differs and most have several words."""
    if holds_texts(records, key):
        return True
    cells = [str(cell) for record in records if not is_nothing(cell := record.cells.get(key))]
    worded = sum(len(cell.split()) >= _WORDS_OF_ANSWER for cell in cells)
    return len({*cells}) == len(cells) and 2 * worded > len(cells) and not rates(records, key)


def _name_systems(
    answers: Sequence[Answer],
    families: Mapping[tuple[tuple[str, ...], int], Mapping[str, str]],
    records: Sequence[Record],
) -> tuple[Answer, ...]:
    """The answers with the columns that name their systems, if there are such columns for all of them."""
    own = {one.column for one in answers}
    sides = [one.side or (place.side if (place := _place_of(one.column)) else "") for one in answers]
    for (stem, _), columns in families.items():
        is_system = bool(_SYSTEMS & {*stem}) and stem[-1] in {*_SYSTEMS, "name", "id"}
        if not is_system or own & {*columns.values()} or not {*sides} <= {*columns}:
            continue
        if all(any(label_of(record.cells.get(columns[side])) for record in records) for side in sides):
            return tuple(
                one._replace(side=side, system_column=columns[side])
                for one, side in zip(answers, sides, strict=True)
            )
    return tuple(answers)


def _add_question(
    named: Mapping[str, str], keys: Sequence[str], used: Collection[str | None]
) -> dict[str, str]:
    """The roles, with a column that stands in for a question where no column is one."""
    if "question" in named:
        return dict(named)
    taken = {*used, *(column for name, column in named.items() if name != "context")}
    column = _found([key for key in keys if key not in taken], {"question": _ASKED}).get("question")
    return {**named, "question": column} if column else dict(named)
