"""Closed questions: a model makes them from one text and answers them from another with YES, NO or IDK."""

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
from core.judges.kind import MOST_TOKENS, MostComplete, numbered, place_of, single_line
from core.judges.sentences import Content, Premise, sentences_of
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import LOOPING, TURN_MARK, form, read_object, visible
from core.llm.prompts import Prompt, checked_prompt
from core.llm.thinking import apart, loops
from core.schema.runs import PromptSlot
from core.schema.settings import setting

Verdict = Literal["YES", "NO", "IDK"]
VERDICTS: tuple[Verdict, ...] = ("YES", "NO", "IDK")
UNPARSED = "unparsed"
"""Kind of every answer that is not one of the three."""
LONGEST_SAID = 200
"""Characters of an unparsed answer that are stored."""
LONGEST_READ = 4_000
"""Most characters of an answer to one question; a longer one is not a verdict."""

_SPELLED_OUT = re.compile(r"\bi +(?:do +not|don['’]t) +know\b", re.IGNORECASE | re.ASCII)
_ECHO = re.compile(
    r"<(text|document|questions?)>.*?</\1>|^[ \t]*>.*?$", re.IGNORECASE | re.DOTALL | re.MULTILINE
)
_WRAPPER = re.compile(r"</?(?:answer|final_answer|verdict)>", re.IGNORECASE)
_ORNAMENT = str.maketrans("", "", "*_`#\"“”„«»「」『』‘'")
_PUNCTUATION = str.maketrans("，、،；؛：。．।۔！？؟／（）", ",,,;;:....!??/()")
"""Marks of other scripts -> equivalent ASCII marks."""
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
"""Text after which `No` means "number"."""
_PARTS = re.compile(r"[.,;:!?/|()–—]|\s-\s")
_AND_SO = re.compile(
    r"(?:(?:and|but|or|so|then|thus|hence|therefore|also|actually|maybe|perhaps|probably|possibly|likely|most|rather"
    r"|because|since|as|i|would|say|think|guess)\s+)+",
    re.IGNORECASE,
)
"""Words that can precede a verdict in mid-line; such a verdict contradicts another one."""
_KEYS = ("answer", "verdict")


@dataclass(frozen=True)
class Given:
    """The answer to one question in a batched answer."""

    answer: Verdict | None
    text: str = ""
    """The text given instead of a verdict, shortened."""
    problem: str = ""
    """Why there is no verdict; sent to the model."""


def read_verdict(text: str) -> Verdict:
    """The verdict in an answer. Raises Unusable (kind `unparsed`) if there is none, or if there are two.

    Case and decoration (`**Yes.**`, quotes, a label such as `Answer:`) do not matter, and `I do not know` counts as IDK.
    A verdict begins a line, after an optional number (`1.`). An explanation may follow on the same line, after a
    punctuation mark of any script, a dash between spaces, or `because` (for IDK also `whether`): `YES - because no
    other ...` is YES. `No evidence ...` and `No. VII ...` are not verdicts. The verdict can also be the `answer` of a
    JSON object, in prose or in a code fence. Invisible characters, tokens that end a turn, and a surrounding `<answer>`
    are removed.

    Reasoning, quoted lines (`> ...`) and echoes of the prompt's fields (`<text>...</text>`) are removed first, because
    words of a judged text are not verdicts. Other echoes count like the model's own words, so an echoed verdict and
    another one make two.

    Two equal verdicts count as one. Two different verdicts are rejected: `NO` and, below it, `YES`; `YES/NO`; `YES, but
    NO`; `IDK, probably YES`. An IDK is contradicted by any yes, a NO in capitals, or a no that ends a clause in its
    explanation. Also rejected: `unknown`, `N/A`, `eyes`, `No answer`, `true`, yes and no in other languages, truncated
    JSON, and a verdict in mid-sentence.
    """
    plain = apart(text)[0].strip()
    if not plain:
        raise Unusable("It holds no answer: say YES, NO or IDK.", UNPARSED)
    if len(plain) > LONGEST_READ:
        raise Unusable("It is far too long for a verdict: say YES, NO or IDK and nothing else.", UNPARSED)
    outside, objects = _split_objects(_ECHO.sub("\n", plain))
    lines = TURN_MARK.sub("\n", _WRAPPER.sub("\n", outside)).splitlines()
    told = [_object_verdicts(value) for value in objects] + [_line_verdicts(line) for line in lines]
    return _only([one for given, _ in told for one in given], [one for _, against in told for one in against])


def _only(verdicts: list[Verdict], against: list[Verdict]) -> Verdict:
    """The single verdict. Verdicts in mid-line (`against`) can only contradict it."""
    different = sorted({*verdicts, *against}, key=VERDICTS.index)
    if not verdicts:
        raise Unusable("It holds no verdict in its place: say YES, NO or IDK and nothing else.", UNPARSED)
    if len(different) > 1:
        raise Unusable(f"It gives two verdicts or more ({', '.join(different)}): say one of them.", UNPARSED)
    return different[0]


def _verdict(word: str) -> Verdict | None:
    """The verdict that a word is. Non-ASCII letters with the same capitals, such as a dotless i, do not count."""
    return next((one for one in VERDICTS if word.isascii() and word.upper() == one), None)


def _line_verdicts(line: str) -> tuple[list[Verdict], list[Verdict]]:
    """The verdicts at the start of one line of prose, and those in mid-line, which can only contradict them."""
    plain = _bare_line(line)
    words = _LETTERS.findall(plain)
    alone = [_verdict(word) for word in words if word.lower() not in _CONNECTORS]
    if alone and None not in alone:
        return [verdict for verdict in alone if verdict is not None], []
    opening = _OPENING.match(plain)
    first = _verdict(opening[1]) if opening else None
    if opening is None or first is None:
        return [], _clause_verdicts(plain, after_some_word=True)
    rest = plain[opening.end(1) :]
    explains = opening[2] is not None or (first == "IDK" and _WHETHER.match(rest) is not None)
    if not explains or (first == "NO" and _NUMERO.match(rest)):
        return [], []
    return [first], _clause_verdicts(rest) + (_idk_contradictions(rest) if first == "IDK" else [])


def _bare_line(line: str) -> str:
    """The line without decoration, invisible characters, number and label."""
    seen = "".join(char for char in line if unicodedata.category(char) != "Cf")
    plain = _SPELLED_OUT.sub("IDK", seen).translate(_ORNAMENT).translate(_PUNCTUATION).strip(" \t-•")
    numbered = _NUMBERED.match(plain)
    return _drop_label(plain[numbered.end() :] if numbered else plain)


def _clause_verdicts(text: str, *, after_some_word: bool = False) -> list[Verdict]:
    """Verdicts that form a whole clause (`..., but no`). after_some_word: only those after a word such as `but`."""
    found: list[Verdict | None] = []
    for part in _PARTS.split(text):
        clause = part.strip()
        bare = _AND_SO.sub("", clause, count=1)
        if bare != clause or not after_some_word:
            found.append(_verdict(_drop_label(bare)))
    return [verdict for verdict in found if verdict is not None]


def _idk_contradictions(text: str) -> list[Verdict]:
    """Verdicts that the explanation of an IDK suggests; an ordinary `no` (`there is no ...`) does not count."""
    found: list[Verdict] = []
    for part in _PARTS.split(text):
        words = _LETTERS.findall(part)
        if any(word.lower() == "yes" for word in words):
            found.append("YES")
        if words and (words[-1].lower() == "no" or ("NO" in words and not text.isupper())):
            found.append("NO")
    return found


def _drop_label(text: str) -> str:
    found = _LABEL.match(text)
    return text[found.end() :] if found else text


def _split_objects(text: str) -> tuple[str, list[dict[str, object]]]:
    """The prose without its JSON objects, and the objects. Raises Unusable if one is truncated or broken."""
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


def _object_verdicts(value: dict[str, object]) -> tuple[list[Verdict], list[Verdict]]:
    """The verdicts in a JSON object, as for a line; objects without an answer key are ignored."""
    said = [inner for key, inner in value.items() if key.casefold() in _KEYS]
    told = [_line_verdicts(one) for one in said if isinstance(one, str)]
    return [one for given, _ in told for one in given], [one for _, against in told for one in against]


def answers_schema(n: int) -> dict[str, object]:
    """JSON schema of all answers in one call: one of the three verdicts for each question 1 to n."""
    entry = form(
        question={"type": "integer", "enum": list(range(1, n + 1))},
        answer={"type": "string", "enum": list(VERDICTS)},
    )
    return form(answers={"type": "array", "items": entry, "minItems": n, "maxItems": n})


def read_answers(text: str, n: int) -> tuple[Given, ...]:
    """The answers to n questions in a batched answer. Raises Unusable if the form is wrong.

    An entry counts if its number is 1 to n and `read_verdict` accepts its answer. Two equal answers to a question
    count as one; two different ones are rejected. A number outside 1 to n makes the whole answer unusable.
    """
    # Entries are checked one by one, so that a bad entry does not invalidate good ones.
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


def missing_of(answers: tuple[Given, ...]) -> str:
    """The problem with a batched answer, in one sentence; empty: none."""
    wrong = [
        f"question {number} {one.problem}"
        for number, one in enumerate(answers, start=1)
        if one.answer is None
    ]
    if not wrong:
        return ""
    more = f", and {len(wrong) - 5} more" if len(wrong) > 5 else ""
    return f"Every question needs one answer, YES, NO or IDK: {', '.join(wrong[:5])}{more}."


def shortened(text: str) -> str:
    """An unparsed answer in its stored form: on one line, without unprintable characters."""
    kept = text[: 10 * LONGEST_SAID]
    plain = "".join(char if char.isprintable() or char.isspace() else "\ufffd" for char in kept)
    plain = " ".join(plain.split())
    return plain if len(plain) <= LONGEST_SAID else plain[: LONGEST_SAID - 1] + "…"


Side = Literal["source", "text"]
"""The text a question was made from: the document (D in the CEF paper) or the judged text (T)."""
SIDES: tuple[Side, ...] = ("source", "text")


@dataclass(frozen=True)
class CrossQuestion:
    """A question made from one of the two texts, answered from the other."""

    text: str
    expected: Verdict = "YES"
    """The answer according to the text it was made from."""
    answer: Verdict | None = None
    """The answer from the other text; None: not one of the three."""
    reason: str | None = None
    """Reason for a missing answer: `unparsed`, or a failure."""
    said: str = ""
    """The unparsed answer, shortened."""
    again: Verdict | None = None
    """The answer from its own text on a second request; None: not asked, or not parsed."""
    again_reason: str | None = None
    """Reason for a missing second answer; None if it was not requested."""


ENOUGH = 0.5
"""Share of the wanted questions that must be usable. Wanted is the requested number, or the text's number of sentences if
that is smaller: a short text cannot yield ten questions."""
LONGEST_QUESTION = 200
"""Characters. Keeps a model that cannot stop from spending all its tokens on one question. Longer entries, from a server
that ignores the schema, are dropped."""
FEWEST_WORDS = 2
"""Fewest words of a question with a question mark; one more without. Some languages ask in two words."""
SAME_FROM = 97.0
"""Similarity (rapidfuzz's ratio) from which two questions with the same numbers and names count as the same."""
TOO_LONG, NO_SENTENCE, NOT_ABOUT, REPEATED = "too long", "no sentence", "not about the text", "repeated"

_MARK = regex.compile(r"""[?？؟⸮՞፧;]["'”’»」』)\]*_\s]*$""")
_END = regex.compile(r"""[\p{L}\p{N}\p{M}\p{Pe}\p{Pf}\p{STerm}"'”’»%°…]$""")
_GREEK = regex.compile(r"\p{Greek}\s?;$")
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def needed_of(text: str, n: int) -> int:
    """Number of usable questions that a text needs if n are requested: ENOUGH of n or of its sentences, at least one.

    A heading or list item shorter than the shortest question does not count as a sentence.
    """
    sentences = sum(count_words(one) > FEWEST_WORDS for one in sentences_of(text))
    return max(1, math.ceil(ENOUGH * min(n, sentences)))


@dataclass(frozen=True)
class TextAskedAbout:
    """A text, prepared for many questions."""

    said: Premise
    language: str | None
    """Language by script or stop words; None: unclear."""

    @classmethod
    def of(cls, text: str) -> "TextAskedAbout":
        """Prepare a text."""
        return cls(Premise.of(text), guess_language(text))

    def problem(self, question: str, *, left_open: bool = False) -> str | None:
        """Why this line is not a question about the text; None: it is one.

        left_open: the question should ask what the text does not say, so it may share no word with it.
        """
        if not visible(question) or not _is_sentence(question):
            return NO_SENTENCE
        if len(question) > LONGEST_QUESTION:
            return TOO_LONG
        if loops(question):
            return LOOPING
        return None if left_open or self._is_named_in(question) else NOT_ABOUT

    def _is_named_in(self, question: str) -> bool:
        """Whether the question shares a number, name or content word with the text, or cannot be compared with it.

        They cannot be compared if the text's language is unknown or if the question's stop words indicate another
        language: questions are requested in English whatever the language of the text.
        """
        asked = Premise.of(question)
        if asked.numbers & self.said.numbers:
            return True
        if any(self.said.has(word) for word in asked.words if word not in _stop_words()):
            return True
        return self.language is None or not _may_be_in(question, self.language)


def is_repeated(question: str, others: Iterable[str]) -> bool:
    """Whether one of the others is the same apart from case, punctuation, or a letter or two in a long question."""
    plain, content = _plain(question), Content.of(question)
    return any(_plain(other) == plain or _nearly_same(plain, content, other) for other in others)


def shortage(n_listed: int, n_usable: int, needed: int, dropped: Sequence[str]) -> str:
    """The message to the model about a list with too few questions. dropped: reasons for rejected entries."""
    why = ", ".join(f"{dropped.count(reason)} {reason}" for reason in dict.fromkeys(dropped))
    found = f"Of its {n_listed} entries {n_usable} can be used as questions{f' ({why})' if why else ''}."
    wanted = "1 question is" if needed == 1 else f"{needed} different questions are"
    return (
        f"{found} At least {wanted} needed, each a whole sentence about the text, with its names and words."
    )


def _is_sentence(question: str) -> bool:
    """Whether it has enough words and ends, or could end, in a question mark."""
    marked = _MARK.search(question) is not None
    if not marked and _END.search(question) is None:
        return False
    if question.endswith(";") and _GREEK.search(question) is None:
        return False
    return count_words(question) >= FEWEST_WORDS + (not marked)


def _may_be_in(question: str, language: str) -> bool:
    """Whether the question may be in this language, by script or by the most frequent stop words."""
    if guess_language(question) == language:
        return True
    words = _WORD.findall(question.casefold())
    hits = {one: sum(word in words_of(one) for word in words) for one in languages()}
    return 0 < hits.get(language, 0) == max(hits.values())


@lru_cache(maxsize=1)
def _stop_words() -> frozenset[str]:
    """Stop words of all languages, because a question can be in any."""
    return frozenset(chain.from_iterable(words_of(one) for one in languages()))


def _plain(question: str) -> str:
    return " ".join(regex.findall(r"[\p{L}\p{M}\p{N}]+", question.casefold()))


def _nearly_same(plain: str, content: Content, other: str) -> bool:
    if fuzz.ratio(plain, _plain(other)) < SAME_FROM:
        return False
    theirs = Content.of(other)
    return set(content.numbers) == set(theirs.numbers) and set(content.names) == set(theirs.names)


Answering = Literal["each", "batch"]
"""One call per question, as in the CEF paper; or all questions of a text in one structured call."""
Questions = Literal["yes", "mixed"]
"""Questions whose own text answers YES; or YES, NO or IDK."""
TOO_FEW = "too few questions"
"""Kind of a list with too few questions."""
MOST_LISTED = 1_000
"""Entries of a list that are read; longer lists are noise."""
ROOM = 400
"""Extra tokens of an answer, because some models think aloud."""
_QUESTION_TOKENS, _ANSWER_TOKENS = 80, 20
ANSWERING: Any = setting(
    "batch",
    "Answers",
    "batch: one call answers all questions of a text; each: one call per question, as in the CEF paper",
    words={
        "each": "one call per question, as in the CEF paper",
        "batch": "all questions of a text in one call",
    },
)


def answer_prompt(answering: Answering) -> PromptSlot:
    """The prompt that answers the questions."""
    name = "answer" if answering == "each" else "answers"
    return PromptSlot(name, name)


class QuestionMaker:
    """Makes closed questions from a text that answers YES to all (CEF, A.5), or YES, NO or IDK (CEF, 4.6).

    prompt: has the purpose `questions` and this kind as its task.
    """

    def __init__(
        self, model: Model, prompt: Prompt, kind: Questions, temperature: float | None = 0.0
    ) -> None:
        self._model, self._prompt = model, checked_prompt(prompt, "questions", kind)
        self._kind, self._temperature = kind, temperature

    async def make(self, text: str, n: int, step: str, seed: int) -> Answer[tuple[CrossQuestion, ...]]:
        """At most n questions with the text's own answers; see read_questions."""
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
    """JSON schema of at most n questions: texts if all expect YES, else texts with expected answers.

    Fewer than n are valid too, because a short text may not yield n questions.
    """
    words = {"type": "string", "minLength": 1, "maxLength": LONGEST_QUESTION}
    with_answer = form(question=words, answer={"type": "string", "enum": list(VERDICTS)})
    asked = words if kind == "yes" else with_answer
    return form(questions={"type": "array", "items": asked, "minItems": 1, "maxItems": n})


def read_questions(text: str, kind: Questions, n: int, source: str) -> tuple[CrossQuestion, ...]:
    """The first n questions in an answer. Raises Unusable if the form is wrong or there are too few.

    source: the text that they were made from. Entries that are not questions about it are dropped before counting (see
    TextAskedAbout.problem), and so are mixed questions without an answer YES, NO or IDK, and repeated questions. See
    needed_of for the required number.
    """
    listed = read_object(text, questions={"type": "array"})["questions"]
    about = TextAskedAbout.of(source)
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
    if len(found) < (needed := needed_of(source, n)):
        raise Unusable(shortage(len(listed), len(found), needed, dropped), TOO_FEW)
    return tuple(found)


def _question(entry: object, kind: Questions) -> CrossQuestion | None:
    """One entry of the list, on one line; None: wrong form."""
    expected: Verdict = "YES"
    if kind == "mixed":
        said = entry.get("answer") if isinstance(entry, dict) else None
        try:
            expected = read_verdict(said if isinstance(said, str) else "")
        except Unusable:
            return None
        assert isinstance(entry, dict)
        entry = entry.get("question")
    return CrossQuestion(single_line(entry), expected) if isinstance(entry, str) else None


@dataclass(frozen=True)
class Answered:
    """Questions with their answers."""

    questions: tuple[CrossQuestion, ...]
    """In order, with `answer`, `reason` and `said` filled in."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of failures of connection or server, or because no question has an answer. A single unparsed answer
    is not a failure: it is stored with its question and counted."""
    temporary: bool = False
    """Whether the server or the connection failed."""


class Answerer:
    """Answers questions from a text with YES, NO or IDK.

    prompts: `answer` for one call per question, as in the CEF paper; `answers` for all questions of a text in one call,
    which sends the text only once. The answers can differ, because the second shows the model all questions.
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
        """Answer every question from the document; without questions the model is not asked."""
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
        """One call for all questions. After the last attempt the valid entries of the most complete reply count."""
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
            replace(question, answer=one.answer, reason=None if one.answer else reason, said=one.text)
            for question, one in zip(questions, given, strict=True)
        )
        return _answered(filled, [] if answer.value else [answer], step)

    def _harmless(self, question: CrossQuestion) -> str:
        """The question on one line and defused."""
        return single_line(defused(question.text, [self._prompt]))


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
