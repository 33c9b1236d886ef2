"""What a damaged text has to keep, whoever made it: form, script and language, length, difference.

Whether it is damaged as much as its level says is not checked: that is what raters and judges are for. 000
asks for a difference in translation only and for a length in summaries only; a text that equals the reference
is refused at levels 1 to 5 of every task, because it would be as good as level 0.
"""

import json
from dataclasses import dataclass

import regex

from core.generation.language import count_words, known_language, language_change, same_script, script_of
from core.generation.numbers import NUMBER_CHANGED, number_change
from core.generation.scheme import Task
from core.schema.study import Material
from core.tables.problems import same_wording
from core.tables.reading import is_blank, text_problem

LENGTH_TOLERANCE = 0.1
"""Of the reference's words, for summaries (000, section 3); one word is always allowed."""
SHORT_ANSWER = 3
"""Words up to which an answer can be a mere name, in whatever script its question is or is not."""

Problem = tuple[str, str]
"""The few words it is counted under, and one sentence that a model can act on."""

_LABELS = (
    "output|answer|result|response|rewritten (?:text|answer|summary|translation)|synthetic (?:text|hypothesis)|"
    "(?:damaged|modified|corrupted|changed|new|final) (?:text|answer|version|summary|translation|output)|"
    "paraphrase|translation|summary|text|assistant|explanation|note|hypothesis|"
    "ausgabe|antwort|réponse|respuesta|resposta|risposta|odpověď|odpowiedź|відповідь|ответ|вывод|"
    "输出|回答|答案|出力|答え|답변|출력|उत्तर|الإجابة|الجواب|תשובה|פלט"
)
_LABEL = regex.compile(
    rf"[\s*_#>`\-]*(?:{_LABELS}|(?:damage[ _-]?)?level[ _-]?[0-5](?:\s*\([^)\n]*\))?)[\s*_`]*[:：]",
    regex.IGNORECASE,
)
_LEVEL_LINE = regex.compile(
    r"(?m)^[\s*_#>`\-\[(]*(?:damage[ _-]?)?level[ _:=-]*[0-5]\b[^\n\p{L}]*(?:$|[:：–—-])", regex.IGNORECASE
)
_PREAMBLE = regex.compile(
    r"(?:(?:sure|certainly|of course|okay|ok)\b[^\n]*:\s*\n"
    r"|here(?: is|['’]s) (?:the|a|an|your|my)\b[^\n:]*\b(?:text|answer|version|paraphrase|summary|translation|"
    r"output|result)\b[^\n:]*:)",
    regex.IGNORECASE,
)
_FIELD = regex.compile(
    r"damage[_-]level|input[_-]answer|reference[_-](?:summary|translation|answer)|source[_-](?:text|sentence)"
    r"|(?m:^[\s*_#>`\-]*(?:question|passage|reference|damage level|source text|source sentence)[*_`]*\s*[:：])",
    regex.IGNORECASE,
)
_MACHINE = regex.compile(
    r"<\|[a-z_]+\|>|\[/?INST\]|</?s>|```|~~~|</?(?:text|answer|output|reference)>", regex.IGNORECASE
)
_REFUSAL = regex.compile(
    r"(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e)\b[^\n.]{0,40}\bi(?: can|['’]m (?:not|un)able| am (?:not|un)able| won)"
    r"|i (?:cannot|can['’]t|can not|won['’]t|am unable to|am not able to) (?:help|assist|comply|provide|generate|create|fulfil|do that|write|rewrite)"
    r"|as an ai\b",
    regex.IGNORECASE,
)


def check_damage(material: Material, level: int, text: str, task: Task) -> Problem | None:
    """What is wrong with a text as the damaged reference: its kind and a sentence; None: nothing.

    Another language of the same script is noticed by its stop words, in texts of eight words and more.
    """
    return (
        _storable(text)
        or _wrapped(material, text)
        or _leaked(material, text)
        or _same(material, level, text)
        or _other_script(material, text, task)
        or _changed_language(material, text)
        or (_other_length(material, text) if task == "summary" else None)
    )


def changed_numbers(material: Material, level: int, text: str) -> Problem | None:
    """What a model's level 0 changed among the numbers: another number makes it as bad as a damaged level.

    Not for a paraphrase that the file holds: whoever wrote it knows which numbers the answer needs.
    """
    if level > 0:
        return None
    item = material.item
    language = known_language(item.language, item.reference)
    wrong = number_change(language, item.reference, text, item.question)
    return None if wrong is None else (NUMBER_CHANGED, wrong)


def _storable(text: str) -> Problem | None:
    if is_blank(text):
        return "empty", "It holds no text."
    if problem := text_problem(text):
        return "control character", f"It {problem}."
    return None


def _wrapped(material: Material, text: str) -> Problem | None:
    """Whatever stands around a text although only the text was asked for."""
    reference = material.item.reference.strip()
    plain = text.strip()
    if (found := _LABEL.match(plain)) and not _LABEL.match(reference):
        return "label", f"It begins with {_quoted(found.group())}: write the text alone, without a label."
    if (found := _LEVEL_LINE.search(plain)) and not _LEVEL_LINE.search(reference):
        return "label", f"It names its level ({_quoted(found.group())}): write the text alone."
    if (found := _PREAMBLE.match(plain)) and not _PREAMBLE.match(reference):
        return "label", "It begins with words about the answer: write the text alone."
    if _REFUSAL.match(plain) and not _REFUSAL.match(reference):
        return "refused", "It declines instead of writing the text."
    if _is_json(plain) and not _is_json(reference):
        return "form", "It is JSON: write the text alone, without braces or keys."
    if (found := _MACHINE.search(plain)) and found.group().lower() not in reference.lower():
        return "form", f"It holds the mark {_quoted(found.group())}: write the text alone."
    return None


def _leaked(material: Material, text: str) -> Problem | None:
    """Parts of the request that came back in the answer."""
    item = material.item
    given = "\n".join((item.reference, item.question, material.context or ""))
    if (found := _FIELD.search(text)) and found.group().strip().lower() not in given.lower():
        return "prompt field", f"It repeats the field {_quoted(found.group())}: write the text alone."
    reference_lines = {same_wording(line) for line in item.reference.splitlines()}
    lines = {same_wording(line) for line in text.splitlines()} - reference_lines
    for name, value in (("question", item.question), ("context", material.context or "")):
        wanted = same_wording(value)
        if (
            wanted
            and wanted != same_wording(item.reference)
            and (wanted in lines or wanted == same_wording(text))
        ):
            return "prompt field", f"It repeats the {name}: write the text alone."
    return None


def _same(material: Material, level: int, text: str) -> Problem | None:
    if level >= 1 and same_wording(text) == same_wording(material.item.reference):
        return "same as the reference", f"It equals the reference: level {level} has to differ from it."
    return None


def _other_script(material: Material, text: str, task: Task) -> Problem | None:
    reference = material.item.reference
    if same_script(reference, text):
        return None
    # The reference may be a name or an acronym in another script than its language, such as IBM in Russian.
    short = task in ("qa", "qa-passage") and count_words(reference) <= SHORT_ANSWER
    if short and same_script(material.item.question, text):
        return None
    there, here = script_of(reference), script_of(text)
    return (
        "script",
        f"It is written in {here} letters, the reference in {there}: keep its language and script.",
    )


def _changed_language(material: Material, text: str) -> Problem | None:
    language = known_language(material.item.language, material.item.reference)
    other = language_change(language, material.item.reference, text)
    if other is None:
        return None
    return (
        "language changed",
        f"It seems to be in another language ({other}) than the reference ({language}): keep its language.",
    )


def _other_length(material: Material, text: str) -> Problem | None:
    wanted, found = count_words(material.item.reference), count_words(text)
    slack = max(1, int(LENGTH_TOLERANCE * wanted + 1e-9))
    if abs(found - wanted) <= slack:
        return None
    return (
        "length",
        f"It has {found} words, the reference {wanted}: write {wanted - slack} to {wanted + slack}.",
    )


def _is_json(text: str) -> bool:
    if text[:1] not in ("{", "["):
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _quoted(text: str) -> str:
    return json.dumps(text.strip()[:40], ensure_ascii=False)


@dataclass(frozen=True)
class Damaged:
    """One text at one level, and how it was made."""

    text: str
    how: str
    """`llm`, `paraphrase`, `verbatim`, or the rules that made it, joined by ` + `."""
