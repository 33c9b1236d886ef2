"""Questions about a text and answers from a text, asked of a model: by the cross-examiner and by judges that answer each other."""

import asyncio
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

import regex
from rapidfuzz import fuzz

from core.errors import InputError
from core.generation.language import guess_language, languages, words_of
from core.judges.claims.rules import Content, Premise, sentences_of
from core.judges.cross_examination.record import SIDES, CefRecord, CrossQuestion, count_words, questions_of
from core.judges.cross_examination.verdicts import (
    UNPARSED,
    VERDICTS,
    Given,
    Verdict,
    answers_schema,
    missing_of,
    read_answers,
    read_verdict,
    shortened,
)
from core.judges.kind import MOST_TOKENS
from core.judges.numbered import MostComplete, in_a_line, numbered
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Message, Request
from core.llm.defusing import defused
from core.llm.parsing import LOOPING, form, read_object, visible
from core.llm.prompts import Prompt, for_use
from core.llm.thinking import loops
from core.schema.kinds import PromptSlot
from core.schema.settings import setting
from core.stats.degeneracy import Degeneracy

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


def shortfalls(records: Sequence[CefRecord], settings: Mapping[str, object]) -> Iterator[Degeneracy]:
    """Sets of questions smaller than ENOUGH of what was requested: few answers decide their scores."""
    requested = settings["n_questions"]
    assert isinstance(requested, int)
    sizes = [
        len(questions)
        for record in records
        for examination in record.examinations
        for side in SIDES
        if (questions := questions_of(examination, side)) is not None
    ]
    small = [size for size in sizes if size < ENOUGH * requested]
    if small:
        sentence = (
            f"Too few questions: {len(small):,} of {len(sizes):,} sets hold fewer than {ENOUGH:.0%} of the {requested} "
            f"requested, the smallest {min(small)}. A single answer decides much of such a score."
        )
        yield Degeneracy("too few", len(small), len(sizes), sentence)


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
        answer = await self._model.ask(self._request(step, asked, ROOM, None, seed), read)
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
        answer = await self._model.ask(self._request(step, asked, room, answers_schema(n), seed), read)
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

    def _request(
        self, step: str, messages: tuple[Message, ...], room: int, schema: dict[str, object] | None, seed: int
    ) -> Request:
        return Request(
            step, messages, max_tokens=room, temperature=self._temperature, seed=seed, schema=schema
        )


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
