"""From bytes to checked texts, JSON values and cells: what every reader of a file needs, whatever its format."""

import hashlib
import json
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeVar

import regex
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from core.errors import InputError, Problems

MOST_NAME = 200
"""Characters that an id, level or source may have."""
LONGEST_NAME = 60
"""Characters of an id, level or source that a message repeats; a file may hold anything there."""

REPLACEMENT = "\ufffd"
"""What is shown for a character that cannot be."""

_CONTROL = regex.compile(r"[\p{Cc}--\n\t\r]", regex.V1)
_FORBIDDEN = regex.compile(r"[\p{Cc}\p{Cs}--\n\t\r]", regex.V1)


class JsonObject(dict[str, object]):
    """A JSON object that remembers which keys the file gave more than once."""

    duplicates: tuple[str, ...] = ()


def sha256_of(data: bytes) -> str:
    """The fingerprint of the file as it was uploaded."""
    return hashlib.sha256(data).hexdigest()


def reject(file_name: str, problems: Iterable[str]) -> NoReturn:
    """Refuse the file, with the problems found."""
    found = Problems(problems)
    raise InputError(f"{shown(file_name)} cannot be imported: {found.counted}", found)


def decode(data: bytes, file_name: str) -> str:
    """The file's text, without a byte order mark; names the line of every byte that is not UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        reject(file_name, ["line 1: the file is UTF-16; save the file as UTF-8"])
    if data.startswith(b"PK\x03\x04"):
        reject(file_name, ["line 1: the file is a zip archive or a workbook; save the table as CSV, UTF-8"])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        reject(file_name, [_bad_bytes(data)])
    if not text.strip():
        reject(file_name, ["line 1: the file is empty"])
    return text


def _bad_bytes(data: bytes) -> str:
    """One sentence for the whole file: a wrong encoding shows on every line that has an accent."""
    # A line break is never part of a longer UTF-8 sequence, so lines can be decoded one by one.
    wrong: list[tuple[int, int]] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            wrong.append((number, line[error.start]))
    number, byte = wrong[0]
    more = "" if len(wrong) == 1 else f" (and {len(wrong) - 1} more lines)"
    return f"line {number}: byte 0x{byte:02x} is not UTF-8{more}; save the file as UTF-8 (Excel: CSV UTF-8)"


def shown(name: str) -> str:
    """A name from a file, fit for a message: short, and nothing invisible or unprintable in it."""
    short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in short)


def type_name(value: object) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    names: dict[type, str] = {bool: "a truth value", int: "a number", float: "a decimal number"}
    names |= {str: "a text", list: "a list"}
    return names.get(type(value), "an object")


def printable_text(text: str) -> str:
    """The text with U+FFFD for what no page and no database can hold; all else as it was written.

    That is null and the other control characters but tab and line breaks, and halves of surrogate pairs
    (which a file may not hold at all: raw_text_problem). Stored texts and comments have gone through here.
    """
    return str(_FORBIDDEN.sub(REPLACEMENT, text))


def control_count(text: str) -> int:
    """How many control characters printable_text replaces."""
    return len(_CONTROL.findall(text))


def clean_text(text: str) -> str:
    """The text with line breaks as line feeds and no blanks around it or at a line's end; nothing else changes.

    Nobody sees such blanks, but they would travel to a rater's browser and could tell one source by them.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip(" \t") for line in lines).strip()


def is_blank(text: str) -> bool:
    """Whether a reader would see nothing: only spaces, controls and invisible marks."""
    return all(unicodedata.category(char) in ("Zs", "Zl", "Zp", "Cc", "Cf") for char in text)


def text_problem(value: object) -> str | None:
    """What no stored text and no name is, as the end of "text ..."; None: nothing.

    For a text as a file has it, before printable_text, ask raw_text_problem.
    """
    if not isinstance(value, str):
        return f"is {type_name(value)}, expected a text"
    if found := _FORBIDDEN.search(value):
        code = f"U+{ord(found.group()):04X} (character {found.start() + 1})"
        if unicodedata.category(found.group()) == "Cs":
            return f"holds half a surrogate pair, {code}"
        return f"holds the control character {code}"
    if value == "":
        return "is empty"
    return "is blank" if is_blank(value) else None


def raw_text_problem(value: object) -> str | None:
    """What keeps a file's value from becoming a stored text: as text_problem, but control characters may be.

    Nobody may lose a file for a stray null, but half a surrogate pair says that a text was cut or decoded
    wrongly: what it was cannot be told, so its owner has to mend it.
    """
    if not isinstance(value, str) or value == "":
        return text_problem(value)
    return "is blank" if is_blank(value) else text_problem(_CONTROL.sub(REPLACEMENT, value))


def is_language_tag(text: str) -> bool:
    """Whether a text looks like a BCP 47 tag."""
    return regex.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", text) is not None


def same_name(name: str) -> str:
    """A key under which names are equal that a reader could not tell apart: case, form, invisible marks."""
    return str(regex.sub(r"\p{Cf}", "", unicodedata.normalize("NFKC", name))).strip().casefold()


def name_of(value: object) -> str | None:
    """An id, level or source as a name, without the spaces around it; None: no such name."""
    if isinstance(value, int) and not isinstance(value, bool):
        # An integer too long for Python to write in decimal was already refused by parse_json.
        return str(value)
    if isinstance(value, str) and value.isprintable() and 0 < len(name := value.strip()) <= MOST_NAME:
        return name  # of most names: nothing else has to be looked for
    if text_problem(value) is None:
        assert isinstance(value, str)
        return value.strip() if _too_long_or_broken(value) is None else None
    return None


def _too_long_or_broken(name: str) -> str | None:
    if len(name.strip()) > MOST_NAME:
        return f"has more than {MOST_NAME} characters"
    return "holds a line break or a tab" if regex.search(r"[\n\r\t]", name.strip()) else None


def name_problem(value: object) -> str:
    """Why name_of found no name, as the end of "id ..."."""
    if isinstance(value, str):
        return text_problem(value) or _too_long_or_broken(value) or "cannot be used"
    return f"is {type_name(value)}, expected a text or a whole number"


def parse_json(text: str, line: int = 0) -> tuple[object, str | None]:
    """The JSON value, or None and the problem with its place.

    line: the file's line that `text` is, for formats with one value a line; 0: the text is the whole file.
    """
    place = f"line {line}" if line else "file"
    try:
        return json.loads(text, object_pairs_hook=_json_object, parse_constant=_no_constant), None
    except json.JSONDecodeError as error:
        hint = "; a file with one object a line is JSONL, name it .jsonl" if error.msg == "Extra data" else ""
        at = f"line {line or error.lineno}, column {error.colno}"
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
    raise ValueError(f"{name} is no JSON value")


def duplicate_problems(place: str, value: JsonObject) -> list[str]:
    """One problem a key that the object holds more than once."""
    return [f"{place}: key {shown(key)} appears more than once" for key in value.duplicates]


T = TypeVar("T")


def checked(adapter: TypeAdapter[T], value: object, place: str, problems: Problems) -> T | None:
    """The value as the adapter understands it; None, with its problems added, where it does not.

    A number in quotes is no number, and neither is a truth value.
    """
    try:
        return adapter.validate_json(json.dumps(value, ensure_ascii=False), strict=True)
    except ValidationError as wrong:
        problems += [_sentence(place, error) for error in wrong.errors(include_url=False)]
    except RecursionError:
        problems.append(f"{place}: is nested too deeply")
    return None


def number_problem(value: Any, lowest: float, highest: float) -> str | None:
    """Why a value is no number from `lowest` to `highest`, as the end of "repeat ..."; None: it is one.

    Whole numbers alone where both bounds are whole.
    """
    whole = isinstance(lowest, int) and isinstance(highest, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        what = "whole number" if whole else "number"
        return f"is {written(value)}, expected a {what}"
    if not lowest <= value <= highest:  # NaN neither
        return f"is {written(value)}, which is not between {bound(lowest)} and {bound(highest)}"
    return None


def bound(number: float) -> str:
    """The end of a range, for a message: whole numbers with all their digits."""
    return str(number) if isinstance(number, int) else f"{number:g}"


def written(value: object) -> str:
    """A JSON value, fit for a message; of what holds others, what it is."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return type_name(value) if not isinstance(value, bool) else str(value).lower()
    return shown(repr(value))


def _sentence(place: str, error: ErrorDetails) -> str:
    where = [
        str(part + 1) if isinstance(part, int) else shown(part) for part in error["loc"] if part != "row"
    ]
    said = error["msg"][0].lower() + error["msg"][1:]
    what = "is missing" if error["type"] == "missing" else f"is {written(error['input'])}: {said}"
    return f"{', '.join([place, *where])}: {what}"


UNDEFINED = frozenset({"", "nan", "none", "null", "na", "n/a", "-"})
"""What stands in a cell, in lower case, that holds no number on purpose."""

_NUMBER = regex.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DECIMAL_COMMA = regex.compile(r"\s*[-+]?[0-9]+,[0-9]+\s*")
_PERCENT = regex.compile(r"\s*[-+]?[0-9]+([.,][0-9]+)?\s*%\s*")
_NO_JSON = regex.compile(r'"(?:[^"\\\n]|\\.)*+"|(?P<nan>\bNaN\b)|(?P<infinite>-?\bInfinity\b)')


def numbers_as_json(text: str) -> str:
    """NaN as null and infinity as a text: other programs write both, JSON knows neither."""
    if "NaN" not in text and "Infinity" not in text:
        return text

    def replaced(found: regex.Match[str]) -> str:
        if found["nan"]:
            return "null"
        return f'"{found.group()}"' if found["infinite"] else found.group()

    return str(_NO_JSON.sub(replaced, text))


def is_nothing(value: object) -> bool:
    """Whether a cell is empty or null."""
    return value is None or (isinstance(value, str) and not value.strip())


def number_in(value: object) -> float | None:
    """A cell's number; None: it holds none. Infinite ones come back as they are."""
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
    # float() alone would take digits of any script, and underscores.
    return float(text) if text.isascii() and "_" not in text and _NUMBER.fullmatch(text) else None


def numbers_in(cells: Sequence[str]) -> list[float] | None:
    """The numbers of cells, NaN where one says that there is none; None where one holds anything else."""
    try:
        numbers = list(map(float, cells))
    except ValueError:
        numbers = [math.nan]
    # float() alone takes what number_in does but for digits of any script, underscores and a NaN with a sign.
    together = "".join(cells)
    if "_" in together or not together.isascii() or any(map(math.isnan, numbers)):
        found = [math.nan if is_undefined(cell) else number_in(cell) for cell in cells]
        return None if None in found else [number for number in found if number is not None]
    return numbers


def is_undefined(value: object) -> bool:
    """Whether a cell says that there is no number."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and value.strip().lower() in UNDEFINED)


def label_of(value: object) -> str | None:
    """A cell as a name to group by; None: it cannot be one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    return name_of(value)


def looks_like_number(value: object) -> bool:
    """Whether a cell holds a number, or was meant to: with a decimal comma or a percent sign."""
    return number_in(value) is not None or (isinstance(value, str) and _meant(value) is not None)


def _meant(text: str) -> str | None:
    """What number a text was meant to be, as the end of "expected ..."; None: none that is known."""
    if _DECIMAL_COMMA.fullmatch(text):
        return "a number with a decimal point"
    return "a number without a percent sign" if _PERCENT.fullmatch(text) else None


def no_number(value: object) -> str:
    """Why number_in found no number, as the end of "score ..."."""
    if not isinstance(value, str):
        return f"is {type_name(value)}, expected a number"
    return f'is "{shown(value)}", expected {_meant(value) or "a number"}'
