"""Closed questions made from a text and answered from a text with YES, NO or IDK, asked of a model."""

import asyncio
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

import regex
from rapidfuzz import fuzz

from core.errors import InputError
from core.generation.language import count_words, guess_language, languages, words_of
from core.judges.kind import MOST_TOKENS, MostComplete, in_a_line, numbered, place_of
from core.judges.sentences import Content, Premise, sentences_of
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import LOOPING, TURN_MARK, form, read_object, visible
from core.llm.prompts import Prompt, for_use
from core.llm.thinking import apart, loops
from core.schema.runs import PromptSlot
from core.schema.settings import setting

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
_LETTERS = re.compile(r"[^\W_]+")
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
    plain = _bare_line(line)
    words = _LETTERS.findall(plain)
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


def _bare_line(line: str) -> str:
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
        words = _LETTERS.findall(part)
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
    kept = text[: 10 * LONGEST_SAID]
    plain = "".join(char if char.isprintable() or char.isspace() else "\ufffd" for char in kept)
    plain = " ".join(plain.split())
    return plain if len(plain) <= LONGEST_SAID else plain[: LONGEST_SAID - 1] + "…"


Side = Literal["source", "text"]
"""Which of the two texts a question was made from: what should be said (D in the CEF paper), or what was said (T)."""
SIDES: tuple[Side, ...] = ("source", "text")


@dataclass(frozen=True)
class CrossQuestion:
    """A question made from one of the two texts, answered from the other."""

    text: str
    expected: Verdict = "YES"
    """What it should be by its own text."""
    answer: Verdict | None = None
    """From the other text; None: what came back is none of the three."""
    reason: str | None = None
    """Why there is no answer: `unparsed`, or the reason why none came."""
    said: str = ""
    """What could not be parsed, shortened."""
    again: Verdict | None = None
    """Asked once more of its own text; None: not asked, or not parsed."""
    again_reason: str | None = None
    """Why there is no second answer; None where it was not asked for."""


ENOUGH = 0.5
"""Share of the questions wanted that have to be usable. Wanted are as many as are requested, and no more than the text
has sentences: a short text does not bear ten."""
LONGEST_QUESTION = 200
"""Characters: a bound keeps a model that cannot stop from using up all its tokens on one question. Longer ones, from
a server that ignores the form, are none."""
FEWEST_WORDS = 2
"""Of a question that ends in its mark; of one without a mark one more. Some languages ask in two words."""
SAME_FROM = 97.0
"""Likeness (rapidfuzz's ratio) from which two questions with the same numbers and names are one."""
TOO_LONG, NO_SENTENCE, NOT_ABOUT, REPEATED = "too long", "no sentence", "not about the text", "repeated"

_MARK = regex.compile(r"""[?？؟⸮՞፧;]["'”’»」』)\]*_\s]*$""")
_END = regex.compile(r"""[\p{L}\p{N}\p{M}\p{Pe}\p{Pf}\p{STerm}"'”’»%°…]$""")
_GREEK = regex.compile(r"\p{Greek}\s?;$")
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def needed_of(text: str, n: int) -> int:
    """How many usable questions a text needs where n are requested: ENOUGH of n, or of its sentences; at least one.

    A heading or a line of a list with fewer words than a question has is no sentence.
    """
    sentences = sum(count_words(one) > FEWEST_WORDS for one in sentences_of(text))
    return max(1, math.ceil(ENOUGH * min(n, sentences)))


@dataclass(frozen=True)
class TextAskedAbout:
    """A text, prepared for many questions."""

    said: Premise
    language: str | None
    """By its script or stop words; None: not clear."""

    @classmethod
    def of(cls, text: str) -> "TextAskedAbout":
        """Prepare a text."""
        return cls(Premise.of(text), guess_language(text))

    def problem(self, question: str, *, left_open: bool = False) -> str | None:
        """Why these words, on one line, are no question about the text; None: they are one.

        left_open: it is to ask what the text does not say, so that it may share no word with it.
        """
        if not visible(question) or not _is_sentence(question):
            return NO_SENTENCE
        if len(question) > LONGEST_QUESTION:
            return TOO_LONG
        if loops(question):
            return LOOPING
        return None if left_open or self._is_named_in(question) else NOT_ABOUT

    def _is_named_in(self, question: str) -> bool:
        """Whether the question shares a number, a name or a content word with the text, or cannot be compared with it.

        It cannot where the text's language is not known, or where the question's is not the same as far as its stop words
        tell: questions are requested in English, whatever the language of the text.
        """
        asked = Premise.of(question)
        if asked.numbers & self.said.numbers:
            return True
        if any(self.said.has(word) for word in asked.words if word not in _stop_words()):
            return True
        return self.language is None or not _may_be_in(question, self.language)


def is_repeated(question: str, others: Iterable[str]) -> bool:
    """Whether one of the others asks the same, but for case, punctuation, or a letter or two in a long question."""
    plain, content = _plain(question), Content.of(question)
    return any(_plain(other) == plain or _nearly_same(plain, content, other) for other in others)


def shortage(n_listed: int, n_usable: int, needed: int, dropped: Sequence[str]) -> str:
    """What is wrong with a list that holds too few questions, for the model to read. dropped: why others are none."""
    why = ", ".join(f"{dropped.count(reason)} {reason}" for reason in dict.fromkeys(dropped))
    found = f"Of its {n_listed} entries {n_usable} can be used as questions{f' ({why})' if why else ''}."
    wanted = "1 question is" if needed == 1 else f"{needed} different questions are"
    return (
        f"{found} At least {wanted} needed, each a whole sentence about the text, with its names and words."
    )


def _is_sentence(question: str) -> bool:
    """Whether it has enough words and ends as a question does, or could end in a question mark."""
    marked = _MARK.search(question) is not None
    if not marked and _END.search(question) is None:
        return False
    if question.endswith(";") and _GREEK.search(question) is None:
        return False
    return count_words(question) >= FEWEST_WORDS + (not marked)


def _may_be_in(question: str, language: str) -> bool:
    """Whether the question has stop words of the language, and of no other language more; or its script."""
    if guess_language(question) == language:
        return True
    words = _WORD.findall(question.casefold())
    hits = {one: sum(word in words_of(one) for word in words) for one in languages()}
    return 0 < hits.get(language, 0) == max(hits.values())


@lru_cache(maxsize=1)
def _stop_words() -> frozenset[str]:
    """Of all languages: a question may be in any."""
    return frozenset(chain.from_iterable(words_of(one) for one in languages()))


def _plain(question: str) -> str:
    return " ".join(regex.findall(r"[\p{L}\p{M}\p{N}]+", question.casefold()))


def _nearly_same(plain: str, content: Content, other: str) -> bool:
    if fuzz.ratio(plain, _plain(other)) < SAME_FROM:
        return False
    theirs = Content.of(other)
    return set(content.numbers) == set(theirs.numbers) and set(content.names) == set(theirs.names)


Answering = Literal["each", "batch"]
"""One call a question, as in the CEF paper; or all questions of a text in one structured call."""
Questions = Literal["yes", "mixed"]
"""All are answered YES by their own text; or YES, NO and IDK alike."""
TOO_FEW = "too few questions"
"""The kind of every list of questions that holds too few."""
MOST_LISTED = 1_000
"""Entries of a list that are read; a longer one is noise."""
ROOM = 400
"""Tokens an answer may have besides those that its form needs: some models think aloud."""
_QUESTION_TOKENS, _ANSWER_TOKENS = 80, 20
ANSWERING: Any = setting(
    "batch",
    "Answers",
    "batch: one call answers all questions of a text; each: one call a question, as in the CEF paper",
    words={
        "each": "one call a question, as in the CEF paper",
        "batch": "all questions of a text in one call",
    },
)


def answer_prompt(answering: Answering) -> PromptSlot:
    """What the questions are answered with."""
    name = "answer" if answering == "each" else "answers"
    return PromptSlot(name, name)


class QuestionMaker:
    """Makes closed questions from a text: all answered YES by it (CEF, A.5), or YES, NO and IDK alike (CEF, 4.6).

    prompt: of the purpose `questions`, with this kind as its task.
    """

    def __init__(
        self, model: Model, prompt: Prompt, kind: Questions, temperature: float | None = 0.0
    ) -> None:
        self._model, self._prompt = model, for_use(prompt, "questions", kind)
        self._kind, self._temperature = kind, temperature

    async def make(self, text: str, n: int, step: str, seed: int) -> Answer[tuple[CrossQuestion, ...]]:
        """At most n questions with the answer that the text gives them; see read_questions."""
        request = Request(
            step,
            self._prompt.messages(text=defused(text, [self._prompt]), n=n),
            max_tokens=min(ROOM + _QUESTION_TOKENS * n, MOST_TOKENS),
            temperature=self._temperature,
            seed=seed,
            schema=questions_schema(self._kind, n),
        )
        return await self._model.ask(request, lambda reply: read_questions(reply, self._kind, n, text))


def questions_schema(kind: Questions, n: int) -> dict[str, object]:
    """The form of at most n questions: texts where all expect YES, else texts with what they expect.

    A short text may not bear n questions, so fewer keep the form too.
    """
    words = {"type": "string", "minLength": 1, "maxLength": LONGEST_QUESTION}
    with_answer = form(question=words, answer={"type": "string", "enum": list(VERDICTS)})
    asked = words if kind == "yes" else with_answer
    return form(questions={"type": "array", "items": asked, "minItems": 1, "maxItems": n})


def read_questions(text: str, kind: Questions, n: int, own: str) -> tuple[CrossQuestion, ...]:
    """The questions of an answer, at most the first n; raises Unusable where it has not the form, or holds too few.

    own: the text that they were made from. What is no question about it is dropped before n are taken: see
    TextAskedAbout.problem; of mixed ones also what has no answer YES, NO or IDK. Of questions that ask the same the
    first stays. How many are too few: see needed_of.
    """
    listed = read_object(text, questions={"type": "array"})["questions"]
    about = TextAskedAbout.of(own)
    found: list[CrossQuestion] = []
    dropped: list[str] = []
    for entry in listed[:MOST_LISTED]:
        if len(found) == n:
            break
        asked = _question(entry, kind)
        problem = (
            NO_SENTENCE if asked is None else about.problem(asked.text, left_open=asked.expected == "IDK")
        )
        if asked is not None and problem is None and is_repeated(asked.text, (one.text for one in found)):
            problem = REPEATED
        if asked is None or problem is not None:
            dropped.append(problem or NO_SENTENCE)
        else:
            found.append(asked)
    if len(found) < (needed := needed_of(own, n)):
        raise Unusable(shortage(len(listed), len(found), needed, dropped), TOO_FEW)
    return tuple(found)


def _question(entry: object, kind: Questions) -> CrossQuestion | None:
    """One entry of the list, on one line; None: it has not the form."""
    expected: Verdict = "YES"
    if kind == "mixed":
        said = entry.get("answer") if isinstance(entry, dict) else None
        try:
            expected = read_verdict(said if isinstance(said, str) else "")
        except Unusable:
            return None
        assert isinstance(entry, dict)
        entry = entry.get("question")
    return CrossQuestion(in_a_line(entry), expected) if isinstance(entry, str) else None


@dataclass(frozen=True)
class Answered:
    """Questions with what was said to them."""

    questions: tuple[CrossQuestion, ...]
    """In their order, `answer`, `reason` and `said` filled."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason): of the line or the server, or because no question of all has an answer. Single answers that
    cannot be parsed are none: they stand with their questions and are counted."""
    temporary: bool = False
    """Whether a failure was the server's or the line's."""


class Answerer:
    """Answers questions from a text with YES, NO or IDK.

    prompts: `answer` for one call a question, as in the CEF paper; `answers` for all questions of a text in one call, which
    sends the text once. The two may give different answers: the model sees the other questions in the second.
    """

    def __init__(
        self,
        model: Model,
        prompts: Mapping[str, Prompt],
        answering: Answering,
        temperature: float | None = 0.0,
    ) -> None:
        purpose = answer_prompt(answering).purpose
        if purpose not in prompts:
            raise InputError(
                "Questions cannot be answered with these prompts", [f"there is no prompt for {purpose}"]
            )
        self._model, self._prompt = model, prompts[purpose]
        self._answering, self._temperature = answering, temperature

    async def answer(
        self, document: str, questions: Sequence[CrossQuestion], step: str, seed: int
    ) -> Answered:
        """Every question answered from the document; nobody is asked about none."""
        if not questions:
            return Answered(())
        text = defused(document, [self._prompt])
        if self._answering == "batch":
            return await self._batch(text, questions, step, seed)
        replies = await asyncio.gather(*(self._one(text, question, step, seed) for question in questions))
        failed = [answer for answer, _ in replies if answer.value is None]
        filled = tuple(
            replace(question, answer=answer.value, reason=answer.reason, said=said)
            for question, (answer, said) in zip(questions, replies, strict=True)
        )
        return _answered(filled, failed, step)

    async def _one(
        self, text: str, question: CrossQuestion, step: str, seed: int
    ) -> tuple[Answer[Verdict], str]:
        said = ""

        def read(reply: str) -> Verdict:
            nonlocal said
            said = reply
            return read_verdict(reply)

        asked = self._prompt.messages(text=text, question=self._harmless(question))
        answer = await self._model.ask(Request(step, asked, ROOM, self._temperature, seed), read)
        return answer, shortened(said) if answer.reason == UNPARSED else ""

    async def _batch(self, text: str, questions: Sequence[CrossQuestion], step: str, seed: int) -> Answered:
        """One call for all. After the last attempt the valid entries of the most complete reply count."""
        n = len(questions)
        most = MostComplete[Given](lambda one: one.answer is not None)

        def read(reply: str) -> tuple[Given, ...]:
            given = read_answers(reply, n)
            most.offer(given)
            if wrong := missing_of(given):
                raise Unusable(wrong, UNPARSED)
            return given

        asked = self._prompt.messages(text=text, questions=numbered(map(self._harmless, questions)))
        room = min(ROOM + _ANSWER_TOKENS * n, MOST_TOKENS)
        answer = await self._model.ask(
            Request(step, asked, room, self._temperature, seed, answers_schema(n)), read
        )
        given = answer.value or most.reply or (Given(None),) * n
        reason = UNPARSED if most.reply else answer.reason
        filled = tuple(
            replace(question, answer=one.answer, reason=None if one.answer else reason, said=one.said)
            for question, one in zip(questions, given, strict=True)
        )
        return _answered(filled, [] if answer.value else [answer], step)

    def _harmless(self, question: CrossQuestion) -> str:
        """On one line, whoever wrote it."""
        return in_a_line(defused(question.text, [self._prompt]))


def _answered(
    questions: tuple[CrossQuestion, ...],
    failed: Sequence[Answer[Verdict] | Answer[tuple[Given, ...]]],
    step: str,
) -> Answered:
    temporary = any(answer.temporary for answer in failed)
    counted = [
        answer for answer in failed if answer.temporary or all(one.answer is None for one in questions)
    ]
    reasons = dict.fromkeys(answer.reason or UNPARSED for answer in counted)
    return Answered(questions, tuple((step, reason) for reason in reasons), temporary)
