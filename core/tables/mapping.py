"""Rename a file's columns to the names that Assay reads, and turn words into classes, as the file's owner chooses.

Every door renames columns before it reads the file, so that readers need to know nothing about it.
"""

import contextlib
import csv
import io
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from core.errors import InputError, Problems, nearest_names
from core.schema.scale import DeclaredScale
from core.tables.columns import (
    VOCABULARY,
    CsvReader,
    Record,
    csv_lines,
    delimiter_of,
    filled_rows,
    is_json,
    is_jsonl,
    named_columns,
    objects_in,
    refuse_data_as_names,
)
from core.tables.containers import changed, decode, opened
from core.tables.parquet import is_parquet, parquet_file, parquet_rows, parquet_table, pyarrow_for
from core.tables.problems import FileFindings, listed
from core.tables.reading import (
    JsonObject,
    is_nothing,
    is_undefined,
    looks_like_number,
    parse_json,
    shown,
    whole_input,
)

FIRST_ROWS = 5
"""Rows of a file that a page previews."""
ASIDE = "{column} of the file"
"""New name of a column whose name was given to another column."""


@dataclass(frozen=True)
class FirstRows:
    """The columns and first rows of a file."""

    columns: tuple[str, ...]
    """Columns as the file writes them."""
    rows: tuple[tuple[str, ...], ...]
    """The first rows, as texts."""
    read_as: Mapping[str, str]
    """Column of the file -> Assay's name, for columns whose name Assay knows."""


def parse_columns(text: str | None) -> dict[str, str]:
    """`text=output,item_id=ID` as Assay's name -> the file's column. InputError names every wrong part."""
    parts = (part.partition("=") for part in text.split(",")) if text else ()
    return checked_columns((ours, theirs) for ours, _, theirs in parts)


NOT_USED = "-"
"""Stands for a name in an owner's choice of columns: these have no role, whatever they are called."""
UNUSED = "unused"
"""How an owner writes NOT_USED."""


def parse_answer_columns(text: str | None) -> dict[str, tuple[str, ...]]:
    """`text=Answer A,text=Answer B,question=Asked` as Assay's name -> columns; `text` and `unused` may be given several times.

    InputError names every wrong part.
    """
    parts = [part.partition("=") for part in text.split(",")] if text else []
    unused = tuple(theirs.strip() for ours, _, theirs in parts if ours.strip() == UNUSED)
    parts = [part for part in parts if part[0].strip() != UNUSED]
    texts = [theirs.strip() for ours, _, theirs in parts if ours.strip() == "text"]
    others = checked_columns((ours, theirs) for ours, _, theirs in parts if ours.strip() != "text")
    if both := {*texts} & {*others.values()}:
        raise InputError(
            "Invalid list of columns", [f"column {shown(min(both))} is used twice; give it one name"]
        )
    if "source" in others and "system" not in others:
        others["system"] = others.pop("source")
    found = {name: (column,) for name, column in others.items()} | ({"text": tuple(texts)} if texts else {})
    return found | ({NOT_USED: unused} if unused else {})


def checked_columns(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Pairs of Assay's name and the file's column as a mapping. InputError names every wrong pair."""
    problems, found = Problems(), dict[str, str]()
    for ours, theirs in ((ours.strip(), theirs.strip()) for ours, theirs in pairs):
        if not (ours and theirs):
            problems.append(f"{shown(f'{ours}={theirs}'.strip('='))} is not a pair such as text=output")
        elif ours in found:
            problems.append(f"{ours} is given twice")
        elif ours not in VOCABULARY:
            near = nearest_names(ours, list(VOCABULARY))
            hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(VOCABULARY)}"
            problems.append(f"Assay has no column {shown(ours)}; {hint}")
        else:
            found[ours] = theirs
    for theirs in {one for one in found.values() if list(found.values()).count(one) > 1}:
        problems.append(f"column {shown(theirs)} is used twice; give it one name")
    if problems:
        raise InputError("Invalid list of columns", problems)
    return found


def first_rows(data: bytes, file_name: str) -> FirstRows:
    """The columns and first rows of a table, JSONL or a JSON list. InputError if the file is none of these."""
    if keys := tuple(_parquet_keys(data, file_name)):
        return FirstRows(keys, _first_parquet_rows(data, file_name), named_columns(keys, VOCABULARY))
    text = decode(data, file_name)
    if is_json(text, file_name) or is_jsonl(text, file_name):
        found = list(islice(_objects(text, file_name), FIRST_ROWS))
        keys = tuple(dict.fromkeys(key for one in found for key in one))
        rows = tuple(tuple(_cell_text(one.get(key)) for key in keys) for one in found)
    else:
        refuse_data_as_names(text, file_name)
        filled = _filled(text, file_name)
        keys = tuple(cell.strip() for cell in next(filled, ()))
        rows = tuple(map(tuple, islice(filled, FIRST_ROWS)))
    return FirstRows(keys, rows, named_columns(keys, VOCABULARY))


def _first_parquet_rows(data: bytes, file_name: str) -> tuple[tuple[str, ...], ...]:
    rows = list(islice(parquet_rows(opened(data, file_name), file_name), FIRST_ROWS))
    return tuple(tuple(_cell_text(cell) for cell in row.values()) for row in rows)


def columns_there(data: bytes, file_name: str, columns: Mapping[str, str]) -> dict[str, str]:
    """The given columns (Assay's name -> the file's) that the file has; none if it is not a table."""
    if not columns:
        return {}
    with contextlib.suppress(InputError):  # the file's reader reports what is wrong
        keys = _columns_of(data, file_name)
        has = {key.strip().casefold() for key in keys}
        return {ours: theirs for ours, theirs in columns.items() if theirs.strip().casefold() in has}
    return {}


def rename_columns(data: bytes, file_name: str, columns: Mapping[str, str]) -> bytes:
    """The file with columns renamed to the names that Assay reads.

    columns: Assay's name -> the file's. If another column of the file already has such a name, it gets the name ASIDE.
    InputError names the columns that the file lacks.
    """
    if not columns:
        return data
    return rename_keys(data, file_name, new_names(_columns_of(data, file_name), file_name, columns))


def new_names(keys: Sequence[str], file_name: str, columns: Mapping[str, str]) -> dict[str, str]:
    """The file's column -> its new name, for `rename_columns`. keys: the file's columns."""
    check_named(keys, file_name, columns.values())
    by_name = {key.strip().casefold(): key for key in keys}
    chosen = {by_name[theirs.strip().casefold()]: ours for ours, theirs in columns.items()}
    left = [key for key in keys if key not in chosen]
    taken = named_columns(left, {name: VOCABULARY[name] for name in columns})
    return {key: ASIDE.format(column=key) for key in taken} | chosen


def check_named(keys: Sequence[str], file_name: str, columns: Iterable[str]) -> None:
    """Raise InputError with the columns that a user names and the file lacks. keys: the file's columns."""
    there = {key.strip().casefold() for key in keys}
    if missing := [name for name in columns if name.strip().casefold() not in there]:
        raise InputError(
            f"{shown(file_name)} lacks columns that you named",
            [
                f"there is no column {shown(name)}; the {whole_input()} has: {listed(keys, [name])}"
                for name in missing
            ],
        )


def rename_keys(data: bytes, file_name: str, names: Mapping[str, str]) -> bytes:
    """The file with renamed columns; everything else stays on its line.

    names: the file's column -> its new name.
    """
    if keys := _parquet_keys(data, file_name):
        _, parquet = pyarrow_for(file_name)
        buffer = io.BytesIO()
        table = parquet_table(opened(data, file_name), file_name)
        parquet.write_table(table.rename_columns([names.get(key, key) for key in keys]), buffer)
        return buffer.getvalue()
    data = opened(data, file_name)
    text = decode(data, file_name)
    renamed = _changed(text, file_name, lambda one: _renamed(one, names))
    return changed(_renamed_header(text, file_name, names).encode() if renamed is None else renamed, data)


def class_words(data: bytes, file_name: str) -> dict[str, dict[str, int]]:
    """Column -> word -> class, for scores or ratings in words of one scale. Empty if the file has number scores."""
    records: list[Record] = []
    for row in _rows(data, file_name):
        named = named_columns(list(row), VOCABULARY)
        own = [key for key, ours in named.items() if ours == "score"] or [
            key for key in row if key not in named
        ]
        if any(looks_like_number(row[key]) for key in own):
            return {}
        records.append(Record("", {key: row[key] for key in own}))
    return class_columns(records, list(dict.fromkeys(key for record in records for key in record.cells)))


def number_declared(data: bytes, file_name: str, declared: DeclaredScale) -> bytes:
    """The file with numbers in place of declared classes that are words, and no cell in place of those that are missing.

    Only in columns that hold nothing but these and numbers: other words are no ratings there.
    """
    wanted: dict[str, float | None] = dict.fromkeys(map(plain_word, declared.missing))
    if declared.classes and not declared.numbers:
        wanted |= declared_numbers(declared.classes, ordered=declared.kind != "unordered")
    columns: dict[str, dict[str, None]] = {}
    for row in _rows(data, file_name) if wanted else ():
        for key, cell in row.items():
            if not is_nothing(cell):
                columns.setdefault(key, {})[str(cell)] = None
    cells = {
        key: {cell: wanted[plain_word(cell)] for cell in held if plain_word(cell) in wanted}
        for key, held in columns.items()
        if all(plain_word(cell) in wanted or looks_like_number(cell) or is_undefined(cell) for cell in held)
    }
    return number_words(data, file_name, cells) if any(cells.values()) else data


def number_words(data: bytes, file_name: str, numbers: Mapping[str, Mapping[str, float | None]]) -> bytes:
    """The file with numbers in place of words; everything else stays on its line.

    numbers: column -> word as the file writes it -> number; None for an empty cell.
    """

    def with_number(one: Mapping[str, object]) -> dict[str, object]:
        return {key: numbers.get(key, {}).get(str(value), value) for key, value in one.items()}

    data = opened(data, file_name)
    if is_parquet(data, file_name):
        return _changed_parquet(data, file_name, with_number)
    text = decode(data, file_name)
    if (counted := _changed(text, file_name, with_number)) is not None:
        return changed(counted, data)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter_of(text), lineterminator="\n")
    places: dict[int, Mapping[str, float | None]] = {}
    for cells in CsvReader(csv_lines(text), delimiter_of(text), file_name):
        if not places:
            places = {at: numbers[cell.strip()] for at, cell in enumerate(cells) if cell.strip() in numbers}
        writer.writerow(
            [
                _written(places[at][cell]) if cell in places.get(at, ()) else cell
                for at, cell in enumerate(cells)
            ]
        )
    return changed(buffer.getvalue().encode(), data)


def _written(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _changed_parquet(
    data: bytes, file_name: str, change: Callable[[Mapping[str, object]], dict[str, object]]
) -> bytes:
    """The Parquet file with every row changed, and its own metadata."""
    arrow, parquet = pyarrow_for(file_name)
    table = parquet_table(data, file_name)
    rows = [change(row) for row in table.to_pylist()]
    made = arrow.table({name: [row[name] for row in rows] for name in table.column_names})
    buffer = io.BytesIO()
    parquet.write_table(made.replace_schema_metadata(table.schema.metadata), buffer)
    return buffer.getvalue()


def _rows(data: bytes, file_name: str) -> Iterator[Mapping[str, object]]:
    """The rows of a table in any container."""
    if _parquet_keys(data, file_name):
        yield from parquet_table(opened(data, file_name), file_name).to_pylist()
        return
    text = decode(data, file_name)
    if is_json(text, file_name) or is_jsonl(text, file_name):
        yield from _objects(text, file_name)
        return
    filled = _filled(text, file_name)
    header = [cell.strip() for cell in next(filled, [])]
    yield from (dict(zip(header, cells, strict=False)) for cells in filled)


def _parquet_keys(data: bytes, file_name: str) -> list[str]:
    """The columns of a Parquet file; none of another file. Raises InputError if it is not readable."""
    data = opened(data, file_name)
    if not is_parquet(data, file_name):
        return []
    with parquet_file(data, file_name) as file:
        return [str(name) for name in file.schema_arrow.names]


def _columns_of(data: bytes, file_name: str) -> list[str]:
    """The names of a file's columns. InputError if it has none."""
    if keys := _parquet_keys(data, file_name):
        return keys
    text = decode(data, file_name)
    if is_json(text, file_name) or is_jsonl(text, file_name):
        keys = list(dict.fromkeys(key for one in _objects(text, file_name) for key in one))
    else:
        refuse_data_as_names(text, file_name)
        keys = [cell.strip() for cell in next(_filled(text, file_name), [])]
    if not keys:
        raise InputError(
            f"{shown(file_name)} has no columns to name: expected a table, JSONL or a JSON list of objects"
        )
    return keys


def _filled(text: str, file_name: str) -> Iterator[list[str]]:
    return filled_rows(text, delimiter_of(text), file_name)


def _changed(text: str, file_name: str, change: Callable[[JsonObject], dict[str, object]]) -> bytes | None:
    """The JSON or JSONL file with every object changed; None for a table."""
    if is_json(text, file_name):
        value, _ = parse_json(text)
        there = value if isinstance(value, list) else []
        objects = [change(one) if isinstance(one, JsonObject) else one for one in there]
        return json.dumps(objects, ensure_ascii=False).encode()
    if is_jsonl(text, file_name):
        return "".join(_changed_line(line, change) for line in io.StringIO(text, newline="")).encode()
    return None


def _renamed(one: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    return {names.get(key, key): value for key, value in one.items()}


def _changed_line(line: str, change: Callable[[JsonObject], dict[str, object]]) -> str:
    value, problem = parse_json(line)
    if problem or not isinstance(value, JsonObject) or value.duplicates:
        return line  # the file's reader reports what is wrong
    return json.dumps(change(value), ensure_ascii=False) + line[len(line.rstrip("\r\n")) :]


def _renamed_header(text: str, file_name: str, names: Mapping[str, str]) -> str:
    delimiter = delimiter_of(text)
    lines = list(csv_lines(text))
    reader = CsvReader(iter(lines), delimiter, file_name)
    begins = 0
    for header in reader:
        if any(map(str.strip, header)):
            break
        begins = reader.line_num
    else:
        header = []
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, lineterminator="").writerow(
        [names.get(cell.strip(), cell) for cell in header]
    )
    last = lines[reader.line_num - 1]
    end = last[len(last.rstrip("\r\n")) :]
    # A header that took several lines takes fewer now; blank lines keep the numbers of the lines below.
    more = (reader.line_num - begins - 1 - len(buffer.getvalue().splitlines()[1:])) * "\n"
    return "".join([*lines[:begins], buffer.getvalue(), end, more, *lines[reader.line_num :]])


def _objects(text: str, file_name: str) -> Iterator[JsonObject]:
    """The objects of JSONL or of a JSON list."""
    one_value = is_json(text, file_name) and not text.lstrip().startswith("[")
    return iter(()) if one_value else objects_in(text, file_name)


def _cell_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


SCALES: tuple[tuple[int, tuple[tuple[str, ...], ...]], ...] = (
    # English
    (0, (("fail", "failed"), ("pass", "passed"))),
    (0, (("no",), ("yes",))),
    (0, (("false",), ("true",))),
    (0, (("incorrect", "wrong"), ("correct", "right"))),
    (0, (("unsupported", "not supported"), ("supported",))),
    (0, (("unfaithful",), ("faithful",))),
    (0, (("bad",), ("good",))),
    (0, (("not ok", "not okay"), ("ok", "okay"))),
    (0, (("unsafe",), ("safe",))),
    (0, (("harmful",), ("harmless",))),
    (0, (("toxic",), ("not toxic", "non toxic", "nontoxic"))),
    (0, (("unhelpful", "not helpful"), ("helpful",))),
    (0, (("irrelevant", "not relevant"), ("relevant",))),
    (0, (("unacceptable", "not acceptable"), ("acceptable",))),
    (0, (("invalid",), ("valid",))),
    (0, (("reject", "rejected"), ("accept", "accepted"))),
    (0, (("fail", "failed"), ("partial", "partially", "partial pass", "mixed"), ("pass", "passed"))),
    (0, (("no",), ("partly", "partially", "partial", "somewhat", "to some extent"), ("yes",))),
    (0, (("incorrect", "wrong"), ("partially correct", "partly correct", "partial"), ("correct", "right"))),
    (
        0,
        (
            ("unsupported", "not supported"),
            ("partially supported", "partly supported", "partial"),
            ("supported",),
        ),
    ),
    (
        0,
        (
            ("irrelevant", "not relevant"),
            ("partially relevant", "partly relevant", "somewhat relevant"),
            ("relevant",),
        ),
    ),
    (
        0,
        (
            ("irrelevant", "not relevant"),
            ("partially relevant", "partly relevant", "somewhat relevant"),
            ("relevant",),
            ("highly relevant", "very relevant", "perfectly relevant"),
        ),
    ),
    (0, (("bad",), ("ok", "okay", "average", "mediocre"), ("good",))),
    (0, (("f",), ("d",), ("c",), ("b",), ("a",))),
    (0, (("f",), ("e",), ("d",), ("c",), ("b",), ("a",))),
    (-1, (("worse",), ("same", "the same", "about the same", "equal"), ("better",))),
    (
        -2,
        (
            ("much worse",),
            ("worse", "slightly worse"),
            ("same", "the same", "about the same", "equal"),
            ("better", "slightly better"),
            ("much better",),
        ),
    ),
    # Numbers of severities are below 0: a column of numbers beside them may count in either direction.
    (-3, (("critical",), ("major",), ("minor",))),
    (-3, (("critical",), ("major",), ("minor",), ("no error", "no issue", "neutral"))),
    (-3, (("severe",), ("moderate",), ("mild",))),
    (1, (("low",), ("medium", "moderate"), ("high",))),
    (1, (("very low",), ("low",), ("medium", "moderate"), ("high",), ("very high",))),
    (1, (("poor",), ("fair",), ("good",), ("excellent",))),
    (1, (("poor",), ("fair", "average"), ("good",), ("very good",), ("excellent",))),
    (1, (("very poor",), ("poor",), ("fair", "average"), ("good",), ("very good",))),
    (1, (("very bad",), ("bad",), ("neutral", "average"), ("good",), ("very good",))),
    (1, (("never",), ("rarely",), ("sometimes",), ("often",), ("always",))),
    (1, (("not at all",), ("slightly", "a little"), ("moderately",), ("very",), ("extremely",))),
    (
        1,
        (
            ("strongly disagree",),
            ("disagree",),
            ("neutral", "neither agree nor disagree", "undecided"),
            ("agree",),
            ("strongly agree",),
        ),
    ),
    (
        1,
        (
            ("strongly disagree",),
            ("disagree",),
            ("somewhat disagree", "slightly disagree"),
            ("neutral", "neither agree nor disagree", "undecided"),
            ("somewhat agree", "slightly agree"),
            ("agree",),
            ("strongly agree",),
        ),
    ),
    (
        1,
        (
            ("very dissatisfied",),
            ("dissatisfied",),
            ("neutral", "neither satisfied nor dissatisfied"),
            ("satisfied",),
            ("very satisfied",),
        ),
    ),
    # German
    (0, (("nicht bestanden", "durchgefallen"), ("bestanden",))),
    (0, (("nein",), ("ja",))),
    (0, (("nein",), ("teilweise", "teils", "zum teil"), ("ja",))),
    (0, (("falsch", "inkorrekt", "unwahr"), ("richtig", "korrekt", "wahr"))),
    (
        0,
        (
            ("falsch", "inkorrekt"),
            ("teilweise richtig", "teilweise korrekt", "teilweise", "zum teil"),
            ("richtig", "korrekt"),
        ),
    ),
    (0, (("nicht relevant", "irrelevant"), ("relevant",))),
    (0, (("inakzeptabel", "nicht akzeptabel"), ("akzeptabel",))),
    (0, (("ungültig",), ("gültig",))),
    (0, (("schlecht",), ("gut",))),
    (0, (("schlecht",), ("mittel", "mittelmässig", "ok", "okay"), ("gut",))),
    (1, (("niedrig", "gering"), ("mittel",), ("hoch",))),
    (1, (("sehr schlecht",), ("schlecht",), ("mittel", "mittelmässig"), ("gut",), ("sehr gut",))),
    (
        -6,
        (("ungenügend",), ("mangelhaft",), ("ausreichend",), ("befriedigend",), ("gut",), ("sehr gut",)),
    ),
    (1, (("nie", "niemals"), ("selten",), ("manchmal",), ("oft", "häufig"), ("immer",))),
    (-1, (("schlechter",), ("gleich", "gleich gut"), ("besser",))),
    (-3, (("kritisch",), ("schwerwiegend",), ("geringfügig",), ("kein fehler",))),
    (
        1,
        (
            ("stimme überhaupt nicht zu", "stimme gar nicht zu"),
            ("stimme nicht zu",),
            ("neutral", "teils teils", "teils/teils", "weder noch"),
            ("stimme zu",),
            ("stimme voll zu", "stimme voll und ganz zu", "stimme völlig zu"),
        ),
    ),
    (
        1,
        (
            ("stimme nicht zu",),
            ("stimme eher nicht zu",),
            ("neutral", "teils teils", "teils/teils", "weder noch"),
            ("stimme eher zu",),
            ("stimme zu",),
        ),
    ),
    (
        1,
        (
            ("stimme überhaupt nicht zu", "stimme gar nicht zu"),
            ("stimme eher nicht zu",),
            ("neutral", "teils teils", "teils/teils", "weder noch"),
            ("stimme eher zu",),
            ("stimme voll zu", "stimme voll und ganz zu", "stimme völlig zu"),
        ),
    ),
    (
        1,
        (
            ("trifft nicht zu",),
            ("trifft eher nicht zu",),
            ("neutral", "teils teils", "teils/teils"),
            ("trifft eher zu",),
            ("trifft zu",),
        ),
    ),
    (
        1,
        (
            ("sehr unzufrieden",),
            ("unzufrieden",),
            ("neutral", "weder noch"),
            ("zufrieden",),
            ("sehr zufrieden",),
        ),
    ),
    # French
    (0, (("échoué", "échec"), ("réussi", "réussite"))),
    (0, (("non",), ("oui",))),
    (0, (("non",), ("en partie", "partiellement"), ("oui",))),
    (0, (("faux", "fausse", "incorrecte"), ("vrai", "vraie", "correcte"))),
    (0, (("incorrect", "faux"), ("correct", "vrai"))),
    (
        0,
        (
            ("incorrect", "faux"),
            ("partiellement correct", "partiellement vrai", "en partie vrai", "partiellement"),
            ("correct", "vrai"),
        ),
    ),
    (0, (("non pertinent", "non pertinente"), ("pertinent", "pertinente"))),
    (0, (("inacceptable",), ("acceptable",))),
    (0, (("mauvais", "mauvaise"), ("bon", "bonne"))),
    (0, (("mauvais", "mauvaise"), ("moyen", "moyenne"), ("bon", "bonne"))),
    (1, (("faible",), ("moyen", "moyenne"), ("élevé", "élevée"))),
    (
        1,
        (
            ("très mauvais", "très mauvaise"),
            ("mauvais", "mauvaise"),
            ("moyen", "moyenne"),
            ("bon", "bonne"),
            ("très bon", "très bonne"),
        ),
    ),
    (1, (("insuffisant",), ("passable",), ("assez bien",), ("bien",), ("très bien",))),
    (1, (("jamais",), ("rarement",), ("parfois",), ("souvent",), ("toujours",))),
    (-1, (("pire", "moins bon"), ("identique", "pareil"), ("meilleur", "mieux"))),
    (-3, (("critique",), ("majeur", "majeure"), ("mineur", "mineure"), ("aucune erreur",))),
    (
        1,
        (
            ("pas du tout d'accord",),
            ("pas d'accord",),
            ("neutre", "ni d'accord ni pas d'accord"),
            ("d'accord",),
            ("tout à fait d'accord",),
        ),
    ),
    (
        1,
        (
            ("pas d'accord",),
            ("plutôt pas d'accord",),
            ("neutre", "ni d'accord ni pas d'accord"),
            ("plutôt d'accord",),
            ("d'accord",),
        ),
    ),
    (
        1,
        (
            ("pas du tout d'accord",),
            ("plutôt pas d'accord",),
            ("neutre", "ni d'accord ni pas d'accord"),
            ("plutôt d'accord",),
            ("tout à fait d'accord",),
        ),
    ),
    (
        1,
        (
            ("très insatisfait", "très insatisfaite"),
            ("insatisfait", "insatisfaite"),
            ("neutre",),
            ("satisfait", "satisfaite"),
            ("très satisfait", "très satisfaite"),
        ),
    ),
)
"""Common ordered words: for each scale the number of its worst class, and its classes from worst to best, each with its
possible words, as `plain_word` writes them. A smaller scale comes before a larger one with the same words."""


_WORST_GRADE = "f"
"""A to D may also name the answers to choose from, or A and B the two sides of a pair; with an F they are grades."""


def classes_of(words: Iterable[object]) -> dict[str, int] | None:
    """Word as written -> number, if all words are classes of one scale; otherwise None."""
    found = scale_of(words)
    return None if found is None else dict(found.numbers)


@dataclass(frozen=True)
class KnownScale:
    """A scale of `SCALES` that holds the words of a file."""

    numbers: Mapping[str, int]
    """Word as written -> number."""
    names: Mapping[int, str]
    """Number of each class on offer, written or not, from worst to best -> its usual word."""


def scale_of(words: Iterable[object]) -> KnownScale | None:
    """The first scale of which all words are classes; None without one, and without words."""
    plain: dict[object, str] = {}
    for word in words:
        if not isinstance(word, str | bool):
            return None
        plain[word] = plain_word(word)
    if not plain:
        return None
    for first, classes in SCALES:
        number = {word: first + at for at, names in enumerate(classes) for word in names}
        if _WORST_GRADE in number and _WORST_GRADE not in plain.values():
            continue
        if all(word in number for word in plain.values()):
            return KnownScale(
                {str(word): number[name] for word, name in plain.items()},
                dict(enumerate((names[0] for names in classes), first)),
            )
    return None


def declared_numbers(classes: Sequence[str], *, ordered: bool = True) -> dict[str, int]:
    """Class, as `plain_word` writes it, -> number: those of a known scale that has just these classes, else from 0.

    classes: from worst to best, if they are ordered.
    """
    known = scale_of(classes) if ordered else None
    if known is not None and [known.numbers[name] for name in classes] == [*known.names]:
        return {plain_word(name): known.numbers[name] for name in classes}
    return {plain_word(name): at for at, name in enumerate(classes)}


def majority_scale(words: Mapping[str, int], most: int) -> KnownScale | None:
    """The scale of all but a few words that make up less than half of the cells; None without one.

    words: word as written -> number of its cells. most: different words that may be no class. `numbers` has the classes of
    the scale as `plain_word` writes them. Of several scales the one with the most cells, then the first.
    """
    cells: Counter[str] = Counter()
    for word, n in words.items():
        cells[plain_word(word)] += n
    best, inside_best = None, cells.total() // 2
    for first, classes in SCALES:
        number = {word: first + at for at, names in enumerate(classes) for word in names}
        odd = [word for word in cells if word not in number]
        used = {number[word] for word in cells if word in number}
        if _WORST_GRADE in number and _WORST_GRADE not in cells:
            continue
        inside = cells.total() - sum(cells[word] for word in odd)
        if 0 < len(odd) <= most and len(used) > 1 and inside > inside_best:
            best, inside_best = KnownScale(number, dict(enumerate((n[0] for n in classes), first))), inside
    return best


def class_columns(records: Sequence[Record], keys: Collection[str]) -> dict[str, dict[str, int]]:
    """The columns among `keys` whose cells are all classes of one scale or empty, with their classes."""
    found = {}
    for key in keys:
        cells = (record.cells.get(key) for record in records)
        classes = classes_of(value for value in cells if not is_undefined(value))
        if classes is not None:
            found[key] = classes
    return found


def number_classes(
    records: Sequence[Record], columns: Mapping[str, Mapping[str, int]], findings: FileFindings
) -> list[Record]:
    """The records with class numbers in place of words; a note lists which number each word gets."""
    for key, classes in columns.items():
        pairs = sorted(
            {plain_word(word): number for word, number in classes.items()}.items(), key=lambda one: one[1]
        )
        findings.notes.append(
            f"column {shown(key)}: read words as classes, {', '.join(f'{word} = {n}' for word, n in pairs)}"
        )
    return [
        replace(
            record,
            cells={
                key: columns[key].get(str(value), value)
                if key in columns and not is_undefined(value)
                else value
                for key, value in record.cells.items()
            },
        )
        for record in records
    ]


def plain_word(word: str | bool) -> str:
    """A word without case and separators, as `SCALES` writes it."""
    plain = unicodedata.normalize("NFC", str(word)).casefold().replace("\u2019", "'")
    return " ".join(plain.replace("_", " ").replace("-", " ").split())
