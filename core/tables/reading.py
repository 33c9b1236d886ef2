"""Bytes to checked texts, JSON values and cells: the tools that readers of all formats share."""

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NoReturn, TypeVar

import regex
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from core.budget import Drawing, budget_problem, current_budget, json_values
from core.errors import InputError, Problems

MOST_NAME = 200
"""Most characters of an id, level or source."""
LONGEST_NAME = 60
"""Most characters of a name that a message repeats; a file may contain anything there."""

REPLACEMENT = "\ufffd"
"""Shown in place of a character that cannot be shown."""

_CONTROL = regex.compile(r"[\p{Cc}--\n\t\r]", regex.V1)
_FORBIDDEN = regex.compile(r"[\p{Cc}\p{Cs}--\n\t\r]", regex.V1)


@dataclass(frozen=True)
class Places:
    """What messages call an input and its lines. A reader sees bytes alone; whoever made them knows what they were."""

    whole: str = "file"
    line: Callable[[int], str] = "line {}".format
    """Number of a line, from 1 -> its name."""


_OF_FILES = Places()
_PLACES: ContextVar[Places] = ContextVar("places", default=_OF_FILES)


@contextmanager
def places_named(places: Places) -> Iterator[None]:
    """While this is open, readers of JSON lines name the input and its lines like this."""
    before = _PLACES.set(places)
    try:
        yield
    finally:
        _PLACES.reset(before)


def line_place(number: int) -> str:
    """The name of a line of the input, from 1: `line 7`, or the row of a data frame."""
    return _PLACES.get().line(number)


def whole_input() -> str:
    """What the input is: `file`, or `data frame`."""
    return _PLACES.get().whole


class JsonObject(dict[str, object]):
    """A JSON object with a list of the keys that the file repeats."""

    duplicates: tuple[str, ...] = ()


def sha256_of(data: bytes) -> str:
    """The SHA-256 of the file as it was uploaded, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def suffix_of(file_name: str) -> str:
    """The ending of a file's name in lower case, such as `.csv`; of a gzip file that of the file inside."""
    path = PurePath(file_name.lower())
    return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


JOINER = "\u2060"
"""Invisible and without width. It keeps an address what it is: Markdown undoes a backslash and an entity before it looks for
addresses (https, www, mail) to make links of."""
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=[wW]{3})(?=\.)|(?<=@)(?=[\w-])")


def unlinked(text: str) -> str:
    """Return user text of which no Markdown makes a link by itself."""
    return _ADDRESS.sub(JOINER, text)


def reject(file_name: str, problems: Iterable[str]) -> NoReturn:
    """Raise InputError for the file, with its problems."""
    found = Problems(problems)
    raise InputError(f"{shown(file_name)} cannot be imported: {found.counted}", found)


def drawing_for(file_name: str) -> Drawing:
    """A new drawing on the budget for the reading of a file."""
    return Drawing(shown(file_name))


def bad_bytes(lines: Iterable[bytes]) -> str:
    """One problem for a whole file that is not UTF-8: a wrong encoding affects every line with an accent."""
    # A line break is never part of a longer UTF-8 sequence, so each line can be decoded alone.
    n_wrong, number, byte = 0, 0, 0
    for at, line in enumerate(lines, start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            n_wrong += 1
            if n_wrong == 1:
                number, byte = at, line[error.start]
    more = "" if n_wrong == 1 else f" (and {n_wrong - 1} more lines)"
    return f"line {number}: byte 0x{byte:02x} is not UTF-8{more}; save the file as UTF-8 (Excel: CSV UTF-8)"


def shown(name: str) -> str:
    """A name from a file for a message: shortened, with unprintable characters escaped."""
    short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in short)


def type_name(value: object) -> str:
    """The type of a JSON value, in words."""
    if value is None:
        return "null"
    names: dict[type, str] = {bool: "true or false", int: "a number", float: "a decimal number"}
    names |= {str: "text", list: "a list"}
    return names.get(type(value), "an object")


def printable_text(text: str) -> str:
    """The text with U+FFFD for every character that pages and databases cannot hold; the rest is unchanged.

    Replaces control characters except tab and line breaks, and halves of surrogate pairs (files with the latter
    are refused: see raw_text_problem). Every stored text and comment passes through this function.
    """
    return str(_FORBIDDEN.sub(REPLACEMENT, text))


def text_in(cell: object) -> str:
    """A cell as a printable text; empty if it holds nothing."""
    if cell is None or is_nothing(cell):
        return ""
    return printable_text(cell if isinstance(cell, str) else str(cell))


def control_count(text: str) -> int:
    """The number of control characters that printable_text replaces."""
    return len(_CONTROL.findall(text))


def clean_text(text: str) -> str:
    """The text with line feeds as line breaks, and without spaces around it or at line ends.

    These spaces are invisible, but they would reach a rater's browser and could give a system away.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip(" \t") for line in lines).strip()


def is_blank(text: str) -> bool:
    """Whether the text has only spaces, control characters and invisible marks."""
    return all(unicodedata.category(char) in ("Zs", "Zl", "Zp", "Cc", "Cf") for char in text)


def text_problem(value: object) -> str | None:
    """Why the value cannot be a stored text or a name, as the end of "text ..."; None if it can.

    For a text straight from a file, before printable_text, use raw_text_problem.
    """
    if not isinstance(value, str):
        return f"is {type_name(value)}, expected text"
    if found := _FORBIDDEN.search(value):
        code = f"U+{ord(found.group()):04X} (character {found.start() + 1})"
        if unicodedata.category(found.group()) == "Cs":
            return f"contains half a surrogate pair, {code}"
        return f"contains the control character {code}"
    if value == "":
        return "is empty"
    return "is blank" if is_blank(value) else None


def raw_text_problem(value: object) -> str | None:
    """Why a file's value cannot become a stored text: as text_problem, but control characters are allowed.

    A stray control character is replaced: it must not cost anyone a file. Half a surrogate pair means that the text
    was cut or decoded wrongly. Only its owner can repair it.
    """
    if not isinstance(value, str) or value == "":
        return text_problem(value)
    return "is blank" if is_blank(value) else text_problem(_CONTROL.sub(REPLACEMENT, value))


def is_language_tag(text: str) -> bool:
    """Whether the text looks like a BCP 47 language tag."""
    return regex.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", text) is not None


def same_name(name: str) -> str:
    """A key that is equal for names that look alike: case, Unicode form and invisible marks do not count."""
    return str(regex.sub(r"\p{Cf}", "", unicodedata.normalize("NFKC", name))).strip().casefold()


def name_of(value: object) -> str | None:
    """An id, level or source as a name, without the spaces around it; None if it cannot be one."""
    if isinstance(value, int) and not isinstance(value, bool):
        # parse_json has already refused integers that are too long for Python to write in decimal.
        return str(value)
    if isinstance(value, str) and value.isprintable() and 0 < len(name := value.strip()) <= MOST_NAME:
        return name  # fast path for most names: no further checks needed
    if text_problem(value) is None:
        assert isinstance(value, str)
        return value.strip() if _too_long_or_broken(value) is None else None
    return None


def _too_long_or_broken(name: str) -> str | None:
    if len(name.strip()) > MOST_NAME:
        return f"has more than {MOST_NAME} characters"
    return "contains a line break or a tab" if regex.search(r"[\n\r\t]", name.strip()) else None


def name_problem(value: object) -> str:
    """Why name_of returned None, as the end of "id ..."."""
    if isinstance(value, str):
        return text_problem(value) or _too_long_or_broken(value) or "cannot be used"
    return f"is {type_name(value)}, expected text or a whole number"


def parse_json(text: str, line: int = 0) -> tuple[object, str | None]:
    """The JSON value and None, or None and the problem with its place.

    line: the number of the line that `text` is, in formats with one value a line; 0 if it is the whole file.
    """
    place = line_place(line) if line else whole_input()
    if len(text) > (most := current_budget().values) and json_values(text, most) > most:
        return None, f"{place}: {budget_problem('values')}"
    try:
        return json.loads(text, object_pairs_hook=_json_object, parse_constant=_no_constant), None
    except json.JSONDecodeError as error:
        hint = "; if the file has one object a line, name it .jsonl" if error.msg == "Extra data" else ""
        at = f"{line_place(line or error.lineno)}, column {error.colno}"
        return None, f"{at}: not valid JSON ({error.msg}){'' if line else hint}"
    except RecursionError:
        return None, f"{place}: not readable as JSON (nested too deeply)"
    except ValueError as error:
        return None, f"{place}: not readable as JSON ({error})"


def _json_object(pairs: list[tuple[str, object]]) -> JsonObject:
    result = JsonObject(pairs)
    if len(result) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        result.duplicates = tuple(key for key, count in counts.items() if count > 1)
    return result


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def duplicate_problems(place: str, value: JsonObject) -> list[str]:
    """One problem for each key that occurs more than once in the object."""
    return [f"{place}: key {shown(key)} appears more than once" for key in value.duplicates]


T = TypeVar("T")


def checked(adapter: TypeAdapter[T], value: object, place: str, problems: Problems) -> T | None:
    """The value as the adapter reads it; if it cannot, None, with the problems added.

    Strict: a number in quotes and true or false do not count as numbers.
    """
    try:
        return adapter.validate_json(json.dumps(value, ensure_ascii=False), strict=True)
    except ValidationError as wrong:
        problems += [_sentence(place, error) for error in wrong.errors(include_url=False)]
    except RecursionError:
        problems.append(f"{place}: is nested too deeply")
    return None


def number_problem(value: Any, lowest: float, highest: float) -> str | None:
    """Why a value is not a number from `lowest` to `highest`, as the end of "repeat ..."; None if it is.

    If both bounds are whole, the value must be whole too.
    """
    whole = isinstance(lowest, int) and isinstance(highest, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        what = "whole number" if whole else "number"
        return f"is {written(value)}, expected a {what}"
    if not lowest <= value <= highest:  # refuses NaN too
        return f"is {written(value)}, which is not between {bound(lowest)} and {bound(highest)}"
    return None


def bound(number: float) -> str:
    """A bound of a range for a message; whole numbers show all their digits."""
    return str(number) if isinstance(number, int) else f"{number:g}"


def written(value: object) -> str:
    """A JSON value for a message; of a list or an object only its type."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return type_name(value) if not isinstance(value, bool) else str(value).lower()
    return shown(repr(value))


def _sentence(place: str, error: ErrorDetails) -> str:
    where = [
        str(part + 1) if isinstance(part, int) else shown(part) for part in error["loc"] if part != "row"
    ]
    reason = error["msg"][0].lower() + error["msg"][1:]
    what = "is missing" if error["type"] == "missing" else f"is {written(error['input'])}: {reason}"
    return f"{', '.join([place, *where])}: {what}"


UNDEFINED = frozenset({"", "nan", "none", "null", "na", "n/a", "-"})
"""Cells, in lower case, that mark a missing number."""

_NUMBER = regex.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DECIMAL_COMMA = regex.compile(r"\s*[-+]?[0-9]+,[0-9]+\s*")
_PERCENT = regex.compile(r"\s*[-+]?[0-9]+([.,][0-9]+)?\s*%\s*")
_NO_JSON = regex.compile(r'"(?:[^"\\\n]|\\.)*+"|(?P<nan>\bNaN\b)|(?P<infinite>-?\bInfinity\b)')


def numbers_as_json(text: str) -> str:
    """The text with NaN as null and infinity as a string: other programs write both, JSON allows neither."""
    if "NaN" not in text and "Infinity" not in text:
        return text

    def replaced(found: regex.Match[str]) -> str:
        if found["nan"]:
            return "null"
        return f'"{found.group()}"' if found["infinite"] else found.group()

    # Line by line, because nothing to replace crosses a line and a single text with the word NaN would slow all others.
    return "\n".join(
        str(_NO_JSON.sub(replaced, line)) if "NaN" in line or "Infinity" in line else line
        for line in text.split("\n")
    )


def is_nothing(value: object) -> bool:
    """Whether a cell is empty or null."""
    return value is None or (isinstance(value, str) and not value.strip())


def number_in(value: object) -> float | None:
    """A cell's number, or None. Infinite numbers are returned as infinite."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        return -math.inf if text.startswith("-") else math.inf
    # float() alone would accept digits of any script, and underscores.
    return float(text) if text.isascii() and "_" not in text and _NUMBER.fullmatch(text) else None


def numbers_in(cells: Sequence[str]) -> list[float] | None:
    """The numbers in cells, NaN for cells that mark a missing number; None if any cell contains something else."""
    try:
        numbers = list(map(float, cells))
    except ValueError:
        numbers = [math.nan]
    # float() differs from number_in in three things: digits of any script, underscores and a NaN with a sign.
    together = "".join(cells)
    if "_" in together or not together.isascii() or any(map(math.isnan, numbers)):
        found = [math.nan if is_undefined(cell) else number_in(cell) for cell in cells]
        return None if None in found else [number for number in found if number is not None]
    return numbers


def is_undefined(value: object) -> bool:
    """Whether a cell marks a missing number."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and value.strip().lower() in UNDEFINED)


def label_of(value: object) -> str | None:
    """A cell as a name to group by, or None if it cannot be one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    return name_of(value)


def labels_of(cells: Iterable[object]) -> list[str | None]:
    """`label_of` each cell of a column; each different text is looked at once."""
    known: dict[str, str | None] = {}
    found = []
    for cell in cells:
        if isinstance(cell, str):
            if cell not in known:
                known[cell] = label_of(cell)
            found.append(known[cell])
        else:
            found.append(None if cell is None else label_of(cell))
    return found


def filled(cells: Iterable[object]) -> list[object]:
    """The cells of a column that do not mark a missing number."""
    missing: dict[str, bool] = {}
    found: list[object] = []
    for cell in cells:
        if isinstance(cell, str):
            if cell not in missing:
                missing[cell] = is_undefined(cell)
            if not missing[cell]:
                found.append(cell)
        elif not is_undefined(cell):
            found.append(cell)
    return found


def n_like_numbers(cells: Iterable[object]) -> int:
    """How many cells are numbers, or are meant to be."""
    return sum(map(looks_like_number, cells))


def looks_like_number(value: object) -> bool:
    """Whether a cell is a number, or is meant to be one: with a decimal comma or a percent sign."""
    return number_in(value) is not None or (isinstance(value, str) and _meant(value) is not None)


def _meant(text: str) -> str | None:
    """How to write the number that a text is meant to be, as the end of "expected ..."; None if unclear."""
    if _DECIMAL_COMMA.fullmatch(text):
        return "a number with a decimal point"
    return "a number without a percent sign" if _PERCENT.fullmatch(text) else None


def no_number(value: object) -> str:
    """Why number_in returned None, as the end of "score ..."."""
    if not isinstance(value, str):
        return f"is {type_name(value)}, expected a number"
    return f'is "{shown(value)}", expected {_meant(value) or "a number"}'
