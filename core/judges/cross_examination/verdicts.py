"""YES, NO or IDK in what a model wrote: strictly, because the CEF paper's own code reads answers by substring.

There "I do not know" is a NO and "eyes" a YES. Here an answer holds one verdict in a place where a verdict stands,
or it is unparsed: asked for again, and in the end left out and counted. Pure functions.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from core.judges.numbered import place_of
from core.llm.asking import Unusable
from core.llm.parsing import TURN_MARK, form, read_object
from core.llm.thinking import apart

Verdict = Literal["YES", "NO", "IDK"]
VERDICTS: tuple[Verdict, ...] = ("YES", "NO", "IDK")
UNPARSED = "unparsed"
"""The kind of every answer that is none of the three."""
LONGEST_SAID = 200
"""Characters of an unparsed answer that are kept."""
LONGEST_READ = 4_000
"""Characters of an answer about one question; what is longer is no verdict."""

_SPELLED_OUT = re.compile(r"\bi +(?:do +not|don['’]t) +know\b", re.IGNORECASE | re.ASCII)
_ECHO = re.compile(
    r"<(text|document|questions?)>.*?</\1>|^[ \t]*>.*?$", re.IGNORECASE | re.DOTALL | re.MULTILINE
)
_WRAPPER = re.compile(r"</?(?:answer|final_answer|verdict)>", re.IGNORECASE)
_ORNAMENT = str.maketrans("", "", "*_`#\"“”„«»「」『』‘'")
_PUNCTUATION = str.maketrans("，、،；؛：。．।۔！？؟／（）", ",,,;;:....!??/()")
"""Marks of other scripts -> those of ASCII that do the same."""
_NUMBERED = re.compile(r"\(?(?:q|question)? *\d{1,3} ?[:.)] *", re.IGNORECASE)
_LABEL = re.compile(r"(?:the +)?(?:final +)?(?:answer|verdict)\b(?: +is\b)? *[:=–—-]? *", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_CONNECTORS = frozenset({"or", "and", "but"})
_OPENING = re.compile(r"([^\W_]+)(\s*(?:$|[.,;:!?/|(–—]|\s-\s)|\s+(?:because|since|as)\b)?")
_WHETHER = re.compile(r"\s+(?:whether|if)\b", re.IGNORECASE)
_NUMERO = re.compile(
    r"\s*\.\s*(?:\d|(?:[IVXLCDM]{2,}|[VXLCDM])\b|I(?=\s*(?:$|[.,;:)]|of\b))|(?i:zero|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand)\b)"
)
"""After `No`: it then stands for number."""
_PARTS = re.compile(r"[.,;:!?/|()–—]|\s-\s")
_AND_SO = re.compile(
    r"(?:(?:and|but|or|so|then|thus|hence|therefore|also|actually|maybe|perhaps|probably|possibly|likely|most|rather"
    r"|because|since|as|i|would|say|think|guess)\s+)+",
    re.IGNORECASE,
)
"""Words that may stand before a verdict in the midst of a line: it then speaks against another one."""
_KEYS = ("answer", "verdict")


@dataclass(frozen=True)
class Given:
    """What a batched answer says to one question."""

    answer: Verdict | None
    said: str = ""
    """What stood in the place of a verdict, shortened."""
    problem: str = ""
    """Why there is no verdict, for the model to read."""


def read_verdict(text: str) -> Verdict:
    """The one verdict of an answer; raises Unusable (kind `unparsed`) where there is none, or where there are two.

    Case and ornament (`**Yes.**`, quotes, a label such as `Answer:`) do not matter, and `I do not know` is IDK, being
    what the abbreviation stands for. A verdict stands at the beginning of a line, behind a number (`1.`) or not. On
    that line an explanation may follow it, after a punctuation mark of any script, a dash between blanks, or
    `because` (IDK: also `whether`): `YES - because no other ...` is YES; `No evidence ...` begins with another word
    `no`, and `No. VII ...` with a number, and neither is a verdict. Or it is the `answer` of a JSON object, which may
    stand in prose or in a code fence. Invisible characters, tokens that end a turn and `<answer>` around it go.

    Reasoning goes first, as do quoted lines (`> ...`) and echoes of the prompt's fields (`<text>...</text>`): what a
    judged text says about verdicts is none. Whatever else is echoed counts like the model's own words, so an echoed
    verdict beside another one makes two.

    Two equal verdicts are one. Two different ones are none: `NO` and, below it, `YES`; `YES/NO`; `YES, but NO`;
    `IDK, probably YES`: in the explanation of an IDK any yes, a NO in capitals and a no that ends a clause speak
    against it.
    None either: `unknown`, `N/A`, `eyes`, `No answer`, `true`, yes and no of other languages, JSON that is cut off,
    a verdict in the midst of a sentence.
    """
    plain = apart(text)[0].strip()
    if not plain:
        raise Unusable("It holds no answer: say YES, NO or IDK.", UNPARSED)
    if len(plain) > LONGEST_READ:
        raise Unusable("It is far too long for a verdict: say YES, NO or IDK and nothing else.", UNPARSED)
    outside, objects = _without_objects(_ECHO.sub("\n", plain))
    lines = TURN_MARK.sub("\n", _WRAPPER.sub("\n", outside)).splitlines()
    told = [_of_object(value) for value in objects] + [_of_line(line) for line in lines]
    return _only([one for given, _ in told for one in given], [one for _, against in told for one in against])


def _only(verdicts: list[Verdict], against: list[Verdict]) -> Verdict:
    """The one verdict; those that stand in the midst of a line are never it, but can contradict it."""
    different = sorted({*verdicts, *against}, key=VERDICTS.index)
    if not verdicts:
        raise Unusable("It holds no verdict in its place: say YES, NO or IDK and nothing else.", UNPARSED)
    if len(different) > 1:
        raise Unusable(f"It gives two verdicts or more ({', '.join(different)}): say one of them.", UNPARSED)
    return different[0]


def _verdict(word: str) -> Verdict | None:
    """Other letters that become these in capitals, such as a dotless i, do not count."""
    return next((one for one in VERDICTS if word.isascii() and word.upper() == one), None)


def _of_line(line: str) -> tuple[list[Verdict], list[Verdict]]:
    """The verdicts that one line of prose gives, and those in the midst of it, which can only speak against them."""
    plain = _plain(line)
    words = _WORD.findall(plain)
    alone = [_verdict(word) for word in words if word.lower() not in _CONNECTORS]
    if alone and None not in alone:
        return [verdict for verdict in alone if verdict is not None], []
    opening = _OPENING.match(plain)
    first = _verdict(opening[1]) if opening else None
    if opening is None or first is None:
        return [], _among(plain, after_some_word=True)
    rest = plain[opening.end(1) :]
    explains = opening[2] is not None or (first == "IDK" and _WHETHER.match(rest) is not None)
    if not explains or (first == "NO" and _NUMERO.match(rest)):
        return [], []
    return [first], _among(rest) + (_against_idk(rest) if first == "IDK" else [])


def _plain(line: str) -> str:
    """The line without ornament, invisible characters, number and label."""
    seen = "".join(char for char in line if unicodedata.category(char) != "Cf")
    plain = _SPELLED_OUT.sub("IDK", seen).translate(_ORNAMENT).translate(_PUNCTUATION).strip(" \t-•")
    numbered = _NUMBERED.match(plain)
    return _without_label(plain[numbered.end() :] if numbered else plain)


def _among(text: str, *, after_some_word: bool = False) -> list[Verdict]:
    """Verdicts that are a clause by themselves (`..., but no`); after_some_word: only behind such a `but`."""
    found: list[Verdict | None] = []
    for part in _PARTS.split(text):
        clause = part.strip()
        bare = _AND_SO.sub("", clause, count=1)
        if bare != clause or not after_some_word:
            found.append(_verdict(_without_label(bare)))
    return [verdict for verdict in found if verdict is not None]


def _against_idk(text: str) -> list[Verdict]:
    """What an explanation of an IDK says for YES or NO; an ordinary `no` in it (`there is no ...`) says nothing."""
    found: list[Verdict] = []
    for part in _PARTS.split(text):
        words = _WORD.findall(part)
        if any(word.lower() == "yes" for word in words):
            found.append("YES")
        if words and (words[-1].lower() == "no" or ("NO" in words and not text.isupper())):
            found.append("NO")
    return found


def _without_label(text: str) -> str:
    found = _LABEL.match(text)
    return text[found.end() :] if found else text


def _without_objects(text: str) -> tuple[str, list[dict[str, object]]]:
    """The prose without the JSON objects in it, and the objects; raises Unusable where one is cut off or broken."""
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    objects: list[dict[str, object]] = []
    kept: list[str] = []
    at = 0
    while (start := text.find("{", at)) >= 0:
        kept.append(text[at:start])
        try:
            value, at = decoder.raw_decode(text, start)
            objects.append(value)
            kept.append("\n")
        except (ValueError, RecursionError):
            if re.match(r'\{\s*["\'}]|\{\s*$', text[start:]):
                raise Unusable("Its JSON is cut off or cannot be read.", UNPARSED) from None
            at = start + 1
    return "".join([*kept, text[at:]]), objects


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise Unusable("Its JSON has a key more than once.", UNPARSED)
    return dict(pairs)


def _of_object(value: dict[str, object]) -> tuple[list[Verdict], list[Verdict]]:
    """What a JSON object answers; one that has no such key is none of our business."""
    said = [inner for key, inner in value.items() if key.casefold() in _KEYS]
    told = [_of_line(one) for one in said if isinstance(one, str)]
    return [one for given, _ in told for one in given], [one for _, against in told for one in against]


def answers_schema(n: int) -> dict[str, object]:
    """The form of all answers in one call: each of the questions 1 to n with one of the three verdicts."""
    entry = form(
        question={"type": "integer", "enum": list(range(1, n + 1))},
        answer={"type": "string", "enum": list(VERDICTS)},
    )
    return form(answers={"type": "array", "items": entry, "minItems": n, "maxItems": n})


def read_answers(text: str, n: int) -> tuple[Given, ...]:
    """What a batched answer says to each of n questions; raises Unusable where it is no such answer at all.

    An entry counts if its number is one of 1 to n and its answer is one verdict as `read_verdict` reads it; the same
    answer twice is one, two different ones are none. A number outside of 1 to n makes the whole answer unusable.
    """
    # Its entries are checked one by one, so that a bad one costs no good one.
    value = read_object(text, answers={"type": "array", "items": {"type": "object"}})
    found: list[Given | None] = [None] * n
    for entry in value["answers"]:
        place = place_of(entry.get("question"), n, "questions", UNPARSED)
        if place is None:
            continue
        before, now = found[place], _given(entry)
        if before is not None and before.answer != now.answer:
            now = replace(before, answer=None, problem="answered twice")
        found[place] = now
    return tuple(one or Given(None, problem="has no answer") for one in found)


def _given(entry: dict[str, object]) -> Given:
    said = entry.get("answer")
    try:
        return Given(read_verdict(said if isinstance(said, str) else ""))
    except Unusable:
        return Given(None, shortened(said if isinstance(said, str) else json.dumps(said)), "has no verdict")


def missing_of(given: tuple[Given, ...]) -> str:
    """What is wrong with a batched answer, in one sentence; empty: nothing."""
    wrong = [
        f"question {number} {one.problem}" for number, one in enumerate(given, start=1) if one.answer is None
    ]
    if not wrong:
        return ""
    more = f", and {len(wrong) - 5} more" if len(wrong) > 5 else ""
    return f"Every question needs one answer, YES, NO or IDK: {', '.join(wrong[:5])}{more}."


def shortened(text: str) -> str:
    """An answer as it is kept where it could not be parsed: on one line, without what nobody can show."""
    plain = " ".join("".join(_shown(text)).split())
    return plain if len(plain) <= LONGEST_SAID else plain[: LONGEST_SAID - 1] + "…"


def _shown(text: str) -> Iterator[str]:
    return (char if char.isprintable() or char.isspace() else "\ufffd" for char in text[: 10 * LONGEST_SAID])
