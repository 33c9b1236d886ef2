"""The cross-examiner (CEF): questions made from each of two texts are answered from the other."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from core.errors import InputError
from core.judges.cross_examination.questions import (
    ANSWERING,
    ROOM,
    Answerer,
    Answering,
    QuestionMaker,
    Questions,
    answer_prompt,
    shortfalls,
)
from core.judges.cross_examination.record import (
    ANSWERED_FROM,
    CEF_COMPONENTS,
    MADE_FROM,
    TRANSLATE_BACK,
    CefRecord,
    CrossQuestion,
    Examination,
    Side,
    count_words,
    details,
    questions_from_text,
    record_problems,
    score_bounds,
    scores_of,
)
from core.judges.kind import (
    COMPARING_COLUMNS,
    TEMPERATURE,
    Bench,
    Compared,
    Judged,
    JudgeKind,
    JudgeSettings,
    Opened,
    asking,
    check_compared,
    compared_with,
    lacking,
    pair_of,
    repeats_setting,
)
from core.llm.asking import Answer, Model
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import read_text
from core.llm.prompts import Prompt
from core.schema.judging import RatedText
from core.schema.kinds import PromptSlot
from core.schema.settings import Remark, seed_setting, setting
from core.tables.reading import is_blank

ASKED_AGAIN = "asked again"
MOST_QUESTIONS = 100
"""That may be requested from one text."""
_TOKENS_A_WORD = 3
"""Of a back-translation, for a word of the text, or a character of a script without spaces."""
_LONGEST_TRANSLATION = 8_192
"""Tokens; a longer text has to come in parts."""


class CefSettings(JudgeSettings):
    """How a text is cross-examined."""

    COMPARES_INSTEAD: ClassVar[str] = "{mode=reference}"

    mode: Literal["reference-free", "reference", "round-trip"] = setting(
        "reference-free",
        "Compared with",
        "what each text is compared with: its source (reference-free), its reference, or its source after the text was "
        "translated back (round-trip)",
        words={
            "reference-free": "its source: no reference is needed",
            "reference": "its reference",
            "round-trip": "its source, after the text was translated back",
        },
    )
    answers: Answering = ANSWERING
    n_questions: int = setting(
        10,
        "Questions from each text",
        "number of questions requested from each of the two texts",
        within=(1, MOST_QUESTIONS),
        option="questions",
        metavar="N",
    )
    questions: Questions = setting(
        "yes",
        "Kind of questions",
        "yes: their own text answers all with YES; mixed: with YES, NO or IDK",
        option="kind-of-questions",
        words={"yes": "all answered YES by their own text", "mixed": "YES, NO and IDK alike"},
    )
    reask: bool = setting(
        False,
        "Ask every question of its own text too",
        "also answer every question from its own text, which shows whether the model stands by its questions; scores stay "
        "the same, and answers cost twice as much",
        scored=False,
    )
    repeats: int = repeats_setting("number of whole examinations; the score is their mean")
    temperature: float | None = TEMPERATURE
    seed: int = seed_setting()
    source_language: str = setting(
        "English",
        "Language to translate back into",
        "language into which round-trip mode translates a text back",
        metavar="NAME",
    )

    @property
    def compares_with(self) -> Compared:
        """See JudgeSettings."""
        return "reference" if self.mode == "reference" else "source"

    @property
    def translates(self) -> bool:
        """Whether the text is translated back first."""
        return self.mode == "round-trip"

    def columns(self, dimensions: tuple[str, ...] = ()) -> tuple[str, ...]:
        """See JudgeSettings."""
        return CEF_COMPONENTS

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """See KindSettings."""
        asked = (
            PromptSlot("questions", f"questions-{self.questions}", self.questions),
            answer_prompt(self.answers),
        )
        return (*asked, PromptSlot("translate", "translate-back")) if self.translates else asked

    def problems(self, backend: str) -> Iterator[Remark]:
        """See KindSettings."""
        if self.translates and is_blank(self.source_language):
            yield Remark("source_language", "is empty; name the language that texts are translated back into")

    def idle(self, backend: str) -> frozenset[str]:
        """See KindSettings."""
        return frozenset() if self.translates else frozenset({"source_language"})

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """See KindSettings."""
        return (name, *self.unusual("mode"))


class CrossExaminer:
    """Examines a text against its source (reference-free), its reference, or its source after it was translated back.

    prompts, by purpose: `questions`; `answer` (each) or `answers` (batch); `translate` for round-trip.
    """

    def __init__(self, model: Model, prompts: Mapping[str, Prompt], settings: CefSettings) -> None:
        wanted = [slot.purpose for slot in settings.prompts(by_rules=False)]
        if missing := [f"there is no prompt for {purpose}" for purpose in wanted if purpose not in prompts]:
            raise InputError("The cross-examiner cannot work with these prompts", missing)
        self._model, self._prompts, self._settings = model, dict(prompts), settings
        self._maker = QuestionMaker(model, prompts["questions"], settings.questions, settings.temperature)
        self._answerer = Answerer(model, prompts, settings.answers, settings.temperature)

    async def judge(self, text: RatedText) -> Judged:
        """Examine one text. Never raises for a bad text: its scores have reasons."""
        pair, document = pair_of(text), compared_with(self._settings, text.output)
        if (why := lacking(pair, self._settings.compares_with)) is not None:
            return Judged.without_asking(why, len(CEF_COMPONENTS))
        assert document is not None
        back = await self._translated_back(pair.text) if self._settings.translates else None
        if back is not None and back.value is None:
            return _untranslated(back, document, pair.text)
        examined = pair.text if back is None or back.value is None else back.value
        found = await asyncio.gather(
            *(self._examine(document, examined, repeat) for repeat in range(self._settings.repeats))
        )
        record = CefRecord(tuple(one for one, _ in found), None if back is None else examined)
        failures = tuple(failure for one, _ in found for failure in one.reasons)
        temporary = any(passing for _, passing in found)
        return Judged(scores_of(record, document, pair.text), record, failures, temporary)

    async def _translated_back(self, text: str) -> Answer[str]:
        prompt = self._prompts["translate"]
        request = Request(
            TRANSLATE_BACK,
            prompt.messages(text=defused(text, [prompt]), language=self._settings.source_language),
            max_tokens=min(ROOM + _TOKENS_A_WORD * count_words(text), _LONGEST_TRANSLATION),
            temperature=self._settings.temperature,
            seed=self._settings.seed,
        )
        return await self._model.ask(request, read_text)

    async def _examine(self, document: str, text: str, repeat: int) -> tuple[Examination, bool]:
        """Both sides at once, and whether a failure was temporary; the seed says which repeat it is."""
        source, said = await asyncio.gather(
            self._side("source", document, text, repeat), self._side("text", text, document, repeat)
        )
        found = Examination(repeat, source.questions, said.questions, source.failures + said.failures)
        return found, source.temporary or said.temporary

    async def _side(self, side: Side, own: str, other: str, repeat: int) -> "_Side":
        """Questions made from one text, answered from the other and, where wanted, once more from their own."""
        seed = self._settings.seed + repeat
        made = await self._maker.make(own, self._settings.n_questions, MADE_FROM[side], seed)
        if made.value is None:
            return _Side(None, ((MADE_FROM[side], made.reason or "invalid"),), made.temporary)
        asking = [self._answerer.answer(other, made.value, ANSWERED_FROM[side], seed)]
        if self._settings.reask:
            asking.append(self._answerer.answer(own, made.value, ASKED_AGAIN, seed))
        answered, *again = await asyncio.gather(*asking)
        questions = answered.questions
        for second in again:
            questions = tuple(
                replace(one, again=other_one.answer, again_reason=other_one.reason)
                for one, other_one in zip(questions, second.questions, strict=True)
            )
        failures = tuple(failure for one in (answered, *again) for failure in one.failures)
        return _Side(questions, failures, any(one.temporary for one in (answered, *again)))


@dataclass(frozen=True)
class _Side:
    """The questions of one side, answered, and what failed on the way."""

    questions: tuple[CrossQuestion, ...] | None
    failures: tuple[tuple[str, str], ...]
    temporary: bool


def _untranslated(back: Answer[str], document: str, text: str) -> Judged:
    failed = ((TRANSLATE_BACK, back.reason or "invalid"),)
    record = CefRecord((Examination(0, None, None, failed),))
    return Judged(scores_of(record, document, text), record, failed, back.temporary)


def _open(settings: CefSettings, bench: Bench) -> Opened:
    return asking(lambda model: CrossExaminer(model, bench.prompts, settings))


KIND = JudgeKind(
    name="cef",
    title="Cross-examination",
    family="CEF",
    summary="questions made from each text are answered from the other; needs sources or references",
    section="cross-examination",
    Settings=CefSettings,
    Record=CefRecord,
    in_percent=True,
    reports=frozenset({"ablation", "align", "answers", "consistency", "reasked"}),
    open=_open,
    check=check_compared,
    details=details,
    detail_columns=COMPARING_COLUMNS,
    record_problems=record_problems,
    score_bounds=score_bounds,
    words=questions_from_text,
    words_called="questions",
    shortfalls=shortfalls,
)
