"""What a well-behaved model says to Assay's prompts, so that whole runs can be driven over HTTP without one.

The answers are worked out from the request alone, so the same request always gets the same answer.
"""

import json
import re
from statistics import fmean
from typing import Any

Body = dict[str, Any]
_MARK = re.compile(r"⟦(\d+): (.*?)⟧", re.DOTALL)


def answer(body: Body, n: int = 0) -> str:
    """The text of a fitting answer to one chat request."""
    asked = str(body["messages"][-1]["content"])
    if len(body["messages"]) > 2 and "cannot be used" in asked:
        asked = str(body["messages"][-3]["content"])
    names = _schema_names(body)
    if (judged := judge_answer(asked, _schema_of(body))) is not None:
        return judged
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


def judge_answer(asked: str, schema: Body) -> str | None:
    """What is said to a judge's prompt; None: it is none of theirs.

    A text is known by the words in it: a claim is supported, and a question answered YES, by a text that has all words
    of the sentence it was made from; answered NO by one that has at least half of them, and else IDK.
    """
    names = schema.get("properties", {})
    if "<first>" in asked:
        there = [
            fmean(
                _shared(sentence, _field(asked, "reference")) for sentence in _sentences(_field(asked, tag))
            )
            for tag in ("first", "second")
        ]
        verdict = "both good" if there[0] == there[1] else ("first", "second")[there[1] > there[0]]
        return json.dumps({"feedback": f"{there[0]:.2f} against {there[1]:.2f}.", "verdict": verdict})
    if "feedback" in names or "<criterion>" in asked:
        reference, said = _field(asked, "reference"), _sentences(_field(asked, "response"))
        share = sum(_shared(sentence, reference) == 1 for sentence in said) / len(said)
        offered = names["verdict"]["enum"] if names else [1, 2, 3, 4, 5]
        verdict = offered[min(int(share * len(offered)), len(offered) - 1)]
        feedback = f"{share:.2f} of the sentences are the reference's."
        return (
            json.dumps({"feedback": feedback, "verdict": verdict})
            if names
            else f"{feedback} [RESULT] {verdict}"
        )
    if "claims" in names:
        return json.dumps({"claims": _sentences(_field(asked, "text"))}, ensure_ascii=False)
    if "verdicts" in names:
        premise = _field(asked, "premise")
        verdicts = [
            {"claim": n, "why": "Word by word.", "supported": _shared(claim, premise) == 1}
            for n, claim in _numbered(_field(asked, "claims"))
        ]
        return json.dumps({"verdicts": verdicts})
    if "questions" in names:
        return json.dumps(
            {"questions": _questions(_field(asked, "text"), names["questions"])}, ensure_ascii=False
        )
    if "answers" in names:
        text = _field(asked, "text")
        answers = [
            {"question": n, "answer": _verdict(question, text)}
            for n, question in _numbered(_field(asked, "questions"))
        ]
        return json.dumps({"answers": answers})
    if {"why", "verdict"} == set(names):
        found = _shared(_field(asked, "error"), _field(asked, "questions")) > 0
        return json.dumps({"why": "Its words.", "verdict": "YES" if found else "NO"})
    if "<question>" in asked and "<text>" in asked:
        return f"{_verdict(_field(asked, 'question'), _field(asked, 'text'))}."
    return None


def _questions(text: str, listed: Body) -> list[Any]:
    """One a sentence, no more than are asked for; where the form has answers, every second expects NO."""
    asked = [f"Is it said that {sentence.rstrip('.')}?" for sentence in _sentences(text)][
        : listed["maxItems"]
    ]
    if listed["items"]["type"] == "string":
        return asked
    return [{"question": one, "answer": "NO" if n % 2 else "YES"} for n, one in enumerate(asked)]


def _verdict(question: str, text: str) -> str:
    share = _shared(question.partition("that ")[2] or question, text)
    return "YES" if share == 1 else "NO" if share >= 0.5 else "IDK"


def _shared(text: str, other: str) -> float:
    """Share of a text's different words that the other has."""
    words = set(_words(text.casefold()))
    return len(words & set(_words(other.casefold()))) / len(words)


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?。؟])\s*", text) if part] or [text]


def _numbered(listed: str) -> list[tuple[int, str]]:
    return [(int(number), said) for number, said in re.findall(r"^(\d+)[.:] (.*)$", listed, re.MULTILINE)]


def another(text: str) -> str:
    """Another text of the same script, digits for digits and letters for letters, of the same length."""
    changed = "".join(_next(char) for char in text)
    return changed if changed.casefold() != text.casefold() else f"{text} {text}"


def reworded(text: str) -> str:
    """The same sentences in another order, or the same words where there is one sentence."""
    parts = re.split(r"(?<=[.!?。؟])(?!\d)\s*", text)
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
    return set(_schema_of(body).get("properties", {}))


def _schema_of(body: Body) -> Body:
    schema: Body = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
    return schema
