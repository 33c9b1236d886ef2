"""What a well-behaved model says to Assay's prompts, so that whole runs can be driven over HTTP without one.

The answers are worked out from the request alone, so the same request always gets the same answer.
"""

import json
import re
from typing import Any

Body = dict[str, Any]
_MARK = re.compile(r"⟦(\d+): (.*?)⟧", re.DOTALL)


def answer(body: Body, n: int = 0) -> str:
    """The text of a fitting answer to one chat request."""
    asked = str(body["messages"][-1]["content"])
    if len(body["messages"]) > 2 and "cannot be used" in asked:
        asked = str(body["messages"][-3]["content"])
    names = _schema_names(body)
    if "ranking" in names:
        numbers = [int(number) for number, _ in _MARK.findall(_field(asked, "answer"))]
        return json.dumps({"ranking": sorted(numbers, key=lambda number: (number * 7919) % 101)})
    if "replacements" in names:
        found = _MARK.findall(_field(asked, "answer"))
        return json.dumps(
            {"replacements": [{"span": int(number), "text": another(old)} for number, old in found]},
            ensure_ascii=False,
        )
    if "<level>" in asked:
        return damaged(_field(asked, "reference"), int(_field(asked, "level")))
    return reworded(_field(asked, "reference"))


def another(text: str) -> str:
    """Another text of the same script, digits for digits and letters for letters, of the same length."""
    changed = "".join(_next(char) for char in text)
    return changed if changed.casefold() != text.casefold() else f"{text} {text}"


def reworded(text: str) -> str:
    """The same sentences in another order, or the same words where there is one sentence."""
    parts = re.split(r"(?<=[.!?。؟])\s*", text)
    parts = [part for part in parts if part]
    joined = " ".join([*parts[1:], parts[0]]) if len(parts) > 1 else text
    return joined if joined != text else f"{text} {_words(text)[0]}"


def damaged(text: str, level: int) -> str:
    """The text with a growing share of its words replaced; level 0 only says it in another order."""
    if level == 0:
        return reworded(text)
    if not re.search(r"\s", text):
        return "".join(_next(char) if place % 5 < level else char for place, char in enumerate(text))
    words = re.split(r"(\s+)", text)
    return "".join(another(word) if place % 10 < 2 * level else word for place, word in enumerate(words))


def _next(char: str) -> str:
    if char.isdigit() and char.isascii():
        return str((int(char) + 1) % 10)
    if not char.isalpha():
        return char
    following = chr(ord(char) + 1)
    fits = following.isalpha() and following.isupper() == char.isupper()
    return following if fits else chr(ord(char) - 1)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text) or ["x"]


def _field(asked: str, name: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", asked, re.DOTALL)
    return found.group(1).strip() if found else asked


def _schema_names(body: Body) -> set[str]:
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
    return set(schema.get("properties", {}))
