"""Parsing of model answers into checked texts or JSON values; pure functions.

Servers may ignore the requested form, so everything is checked: an answer either fits the step, or Unusable gives
the reason in one sentence.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, TypeGuard

from jsonschema import Draft202012Validator

from core.llm.asking import Unusable
from core.llm.thinking import apart, loops

MOST_VALUES = 1_000
"""Most pieces of an answer that are tried as JSON; a longer answer is noise."""
MOST_PROBLEMS = 3
"""Most violations of a schema that one sentence names."""
LONGEST_PROBLEM = 160
"""Characters of one violation, because the validator repeats the value, which can be the whole answer."""

LOOPING = "loops"
"""Kind under which looping answers are counted."""

TURN_MARK = re.compile(r"</?s>|<\|[^<>|\n]{1,40}\|>|<(?:end_of_turn|bos|eos)>", re.IGNORECASE)
"""Tokens that begin or end a turn; some servers leave them in an answer."""
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "»": "«", "‘": "’", "「": "」", "『": "』"}


def read_text(text: str) -> str:
    """The answer as plain text. Raises Unusable if there is none.

    Removes reasoning, surrounding white space, and one code fence or pair of quotation marks around the whole answer,
    which models often add. Line breaks become line feeds.
    """
    plain = apart(text)[0].replace("\r\n", "\n").replace("\r", "\n").strip()
    plain = _unquoted(_unfenced(plain)).strip()
    if not visible(plain):
        raise Unusable("It holds no text.", "empty")
    _refuse_unstorable(plain)
    return plain


def visible(text: str) -> bool:
    """Whether the text contains visible characters, not just spaces, direction marks and the like."""
    return any(unicodedata.category(char) not in ("Zs", "Zl", "Zp", "Cf", "Cc") for char in text)


def refuse_loop(text: str, what: str = "It") -> None:
    """Raise Unusable if a model's text loops. what: subject of the sentence, such as `Its feedback`."""
    if loops(text):
        raise Unusable(f"{what} says the same over and over.", LOOPING)


def read_json(text: str, schema: Mapping[str, object]) -> object:
    """The JSON value in an answer that matches the schema (draft 2020-12). Raises Unusable if there is none.

    The answer may be the value alone, in a code fence, or prose around an object (or an array, if the schema requires
    one). If there are several, the last one that matches the schema counts. A number such as 2.0 counts as an integer
    in JSON Schema and stays a float.
    """
    plain = _unfenced(apart(text)[0].strip())
    if not plain:
        raise Unusable("It holds no JSON.", "empty")
    validator = Draft202012Validator(schema)
    try:
        # An answer that is only JSON is checked as a whole, never by a part of it.
        return _checked(_decoded(plain), validator)
    except json.JSONDecodeError:
        return _last_valid(plain, validator, "[" if schema.get("type") == "array" else "{")


def form(**fields: object) -> dict[str, object]:
    """The schema of an object with exactly these fields, each with its own schema."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def read_object(text: str, /, **fields: object) -> dict[str, Any]:
    """The JSON object in an answer that has these fields; see read_json.

    Looser than `form`: additional fields do not matter. If there are several objects, the last one with these fields
    counts, even if their values are wrong. fields: name -> minimal schema of its value, {} for any value.
    """
    found = read_json(text, {"type": "object", "properties": fields, "required": list(fields)})
    assert isinstance(found, dict)
    return found


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def clipped(text: str, most: int) -> str:
    """The beginning of a model's text, for quoting in a sentence."""
    return text if len(text) <= most else f"{text[:most]}…"


def _last_valid(text: str, validator: Draft202012Validator, opening: str) -> object:
    found: list[object] = []
    wrong: Unusable | None = None
    for number, piece in enumerate(_balanced(text, opening)):
        if number == MOST_VALUES:
            raise Unusable("It holds too many pieces that look like JSON.")
        try:
            found.append(_checked(_decoded(piece), validator))
        except json.JSONDecodeError as error:
            wrong = Unusable(f"Its JSON cannot be read: {error.msg} at character {error.pos + 1}.")
        except Unusable as problem:
            wrong = problem
    if found:
        return found[-1]
    raise wrong or Unusable("It holds no JSON.")


def _balanced(text: str, opening: str) -> Iterator[str]:
    """Every outermost range from an opening bracket to its closing one; nested ranges are not tried."""
    start, depth, quoted, skip = -1, 0, False, False
    brackets = {"{": 1, "[": 1, "}": -1, "]": -1}
    for at, char in enumerate(text):
        if depth == 0:
            if char == opening:
                start, depth = at, 1
        elif quoted:
            quoted, skip = skip or char != '"', not skip and char == "\\"
        elif char == '"':
            quoted = True
        else:
            depth += brackets.get(char, 0)
            if depth == 0:
                yield text[start : at + 1]
    if depth:
        # An earlier range may be a draft of the unfinished one.
        raise Unusable("Its JSON is cut off: a bracket or a quotation mark is never closed.", "cut off")


def _decoded(text: str) -> object:
    """The JSON value. Raises JSONDecodeError if it is not JSON, Unusable if the value is not accepted."""
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite_float
        )
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise Unusable("Its JSON is nested too deeply.") from None
    except ValueError:
        # Python refuses to parse integers with thousands of digits.
        raise Unusable("Its JSON holds a number that is too long.") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise Unusable(f"Its JSON has the key {_short(repr(twice))} more than once.")
    return result


def _no_constant(name: str) -> NoReturn:
    raise Unusable(f"Its JSON holds {name}, which is no number.")


def _finite_float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Unusable(f"Its JSON holds the number {_short(digits)}, which is too large.")
    return value


def _checked(value: object, validator: Draft202012Validator) -> object:
    for text in _texts(value):
        _refuse_unstorable(text)
    try:
        errors = sorted(validator.iter_errors(value), key=lambda error: error.json_path)
    except RecursionError:
        raise Unusable("Its JSON is nested too deeply.") from None
    if errors:
        shown = [f"at {_short(error.json_path)}: {_short(error.message)}" for error in errors[:MOST_PROBLEMS]]
        more = f"; and {len(errors) - MOST_PROBLEMS} more" if len(errors) > MOST_PROBLEMS else ""
        raise Unusable(f"Its JSON does not keep the schema: {'; '.join(shown)}{more}.")
    return value


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, including keys."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            left += one


def _refuse_unstorable(text: str) -> None:
    """Raise Unusable for control characters and halves of surrogate pairs, which databases and pages cannot represent."""
    for char in text:
        kind = unicodedata.category(char)
        if kind == "Cs":
            raise Unusable(f"It holds half a surrogate pair, U+{ord(char):04X}.")
        if kind == "Cc" and char not in "\n\t\r":
            raise Unusable(f"It holds the control character U+{ord(char):04X}.")


def _unfenced(text: str) -> str:
    """The content of a code fence around the whole text; otherwise the text."""
    mark = text[:1]
    fence = mark * (len(text) - len(text.lstrip(mark))) if mark in ("`", "~") else ""
    first, _, rest = text.partition("\n")
    if len(fence) < 3 or "`" in first[len(fence) :] or not rest.endswith(fence):
        return text
    inside = rest.removesuffix(fence)
    return text if fence in inside else inside.strip()


def _unquoted(text: str) -> str:
    """The text inside one pair of quotation marks, unless it contains others, which then belong to the text."""
    closing = _QUOTES.get(text[:1])
    inside = text[1:-1]
    if len(text) < 3 or closing is None or text[-1] != closing or text[0] in inside or closing in inside:
        return text
    return inside


def _short(text: str) -> str:
    """The text for use in a sentence: printable, on one line, shortened."""
    plain = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return plain if len(plain) <= LONGEST_PROBLEM else plain[: LONGEST_PROBLEM - 1] + "…"
