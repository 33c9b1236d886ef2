"""The cross-examiner (001): questions made from each of two texts are answered from the other."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.errors import InputError
from core.judges.cef_scores import ANSWERED_FROM, MADE_FROM, TRANSLATE_BACK, count_words, scores_of
from core.judges.judge import Judged, lacking
from core.judges.question_asking import ROOM, Answerer, QuestionMaker
from core.judges.settings import CefSettings
from core.judges.specs import CEF_COMPONENTS
from core.llm.asking import Answer, Model
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import read_text
from core.llm.prompts import Prompt
from core.schema.judges import CefRecord, CrossQuestion, Examination, Side
from core.schema.scores import Score
from core.scoring.metrics.scorer import ScoringPair

ASKED_AGAIN = "asked again"
_TOKENS_A_WORD = 3
"""Of a back-translation, for a word of the text, or a character of a script without spaces."""
_LONGEST_TRANSLATION = 8_192
"""Tokens; a longer text has to come in parts."""


class CrossExaminer:
    """Examines a text against its source (reference-free), its reference, or its source after it was translated back.

    prompts, by purpose: `questions`; `answer` (each) or `answers` (batch); `translate` for round-trip.
    """

    def __init__(self, model: Model, prompts: Mapping[str, Prompt], settings: CefSettings) -> None:
        wanted = ["questions", "answer" if settings.answers == "each" else "answers"]
        wanted += ["translate"] if settings.mode == "round-trip" else []
        if missing := [f"there is no prompt for {purpose}" for purpose in wanted if purpose not in prompts]:
            raise InputError("The cross-examiner cannot work with these prompts", missing)
        self._model, self._prompts, self._settings = model, dict(prompts), settings
        self._maker = QuestionMaker(model, prompts["questions"], settings)
        self._answerer = Answerer(model, prompts, settings.answers, settings.temperature)

    async def judge(self, pair: ScoringPair) -> Judged:
        """Examine one text. Never raises for a bad text: its scores have reasons."""
        document = pair.reference if self._settings.examines == "reference" else pair.source
        if (why := lacking(pair, self._settings.examines)) is not None or document is None:
            return Judged(tuple(Score(None, why) for _ in CEF_COMPONENTS), None)
        back = await self._translated_back(pair.text) if self._settings.mode == "round-trip" else None
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
