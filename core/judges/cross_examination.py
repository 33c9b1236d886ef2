"""The cross-examiner (CEF): it makes questions from each of two texts and answers them from the other."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar, Literal

from core.errors import InputError
from core.generation.language import count_words, is_unspaced
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
    compared_with,
    lacking,
    mean_of,
    pair_of,
    repeats_setting,
    trial_problems,
)
from core.judges.questions import (
    ANSWERING,
    ENOUGH,
    ROOM,
    SIDES,
    Answerer,
    Answering,
    CrossQuestion,
    QuestionMaker,
    Questions,
    Side,
    answer_prompt,
)
from core.llm.asking import Answer, Model
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import read_text
from core.llm.prompts import Prompt
from core.schema.runs import PromptSlot
from core.schema.scores import RatedText, Score
from core.schema.settings import Remark, seed_setting, setting
from core.stats.degeneracy import Degeneracy
from core.tables.reading import is_blank


@dataclass(frozen=True)
class Examination:
    """One cross-examination of a text; each repeat is one."""

    repeat: int
    from_source: tuple[CrossQuestion, ...] | None
    """Questions made from the source (or the reference), answered from the text; None: none could be made."""
    from_text: tuple[CrossQuestion, ...] | None
    """Questions made from the text, answered from the source (or the reference)."""
    reasons: tuple[tuple[str, str], ...] = ()
    """(step, reason) of each step that failed."""


@dataclass(frozen=True)
class CefRecord:
    """All cross-examinations of one text."""

    examinations: tuple[Examination, ...]
    back_translation: str | None = None
    """Round-trip mode: the translation that was examined instead of the text."""


def questions_of(examination: Examination, side: Side) -> tuple[CrossQuestion, ...] | None:
    """The questions made from this side; None: none could be made."""
    return examination.from_source if side == "source" else examination.from_text


def details(record: CefRecord) -> Iterator[dict[str, Any]]:
    """Rows of details.csv: one for each question, and one for each failed step."""
    for examination in record.examinations:
        repeat = {"repeat": examination.repeat}
        for side in SIDES:
            for question in questions_of(examination, side) or ():
                yield {
                    "what": "question",
                    "side": side,
                    **repeat,
                    "text": question.text,
                    "expected": question.expected,
                    "verdict": question.answer,
                    "again": question.again,
                    "why": question.said,
                    "reason": question.reason or question.again_reason,
                }
        for step, reason in examination.reasons:
            yield {"what": f"step: {step}", "reason": reason, **repeat}


CEF_COMPONENTS = ("coverage", "conformity", "consistency", "consistency-code", "conciseness", "overall")
"""In the order of the columns. `consistency` is the CEF paper's formula; `consistency-code` follows its code and its
appendix A.6."""
LOWEST_CONCISENESS = -1e9
"""Lower bound of conciseness, far below the value of any text."""
NO_QUESTIONS = "no questions"
NONE_ANSWERED = "no answer could be used"
NONE_CLOSED = "no question expects YES or NO"
TRANSLATE_BACK = "translate back"
MADE_FROM: dict[Side, str] = {"source": "questions from source", "text": "questions from text"}
"""Side -> step that makes questions from it."""
ANSWERED_FROM: dict[Side, str] = {"source": "answers from text", "text": "answers from source"}
"""Side -> step that answers the questions made from it."""


def scores_of(record: CefRecord, document: str, text: str) -> tuple[Score, ...]:
    """One score for each of CEF_COMPONENTS.

    document: D, the source or reference. text: the judged text T; if the record has a back-translation, that was examined
    instead and its words are counted.

    - coverage = 1 - share of IDK among the answers to Q_D: how much of D is in the text.
    - conformity = 1 - share of answers to Q_D that contradict the expected answer: YES for NO, NO for YES.
    - consistency = 1 - share of IDK among the answers to Q_T: how much of the text is in D. The formula of the CEF paper;
      contradictions do not lower it.
    - consistency-code = share of answers to Q_T that are as expected: the code of the CEF experiments, and the example in
      appendix A.6 (0.3 where the formula gives 0.6).
    - conciseness = 1 - words of the text / words of D: at most 1, below 0 if the text is longer.
    - overall = mean of coverage, conformity and consistency; undefined unless all three are defined.

    With several examinations (repeats), every component is averaged over those in which it is defined; overall is the
    mean of these means. Two effects mislead: an empty answer contradicts nothing (conformity 1 at coverage 0), and
    with ten questions a share moves in steps of 0.1.
    """
    scores = examined_scores(record.examinations)
    scores["conciseness"] = conciseness(
        document, text if record.back_translation is None else record.back_translation
    )
    if any(step == TRANSLATE_BACK for one in record.examinations for step, _ in one.reasons):
        # The back-translation is missing, and the text itself is in another language.
        scores["conciseness"] = Score(None, scores["coverage"].reason)
    return tuple(scores[name] for name in CEF_COMPONENTS)


def examined_scores(examinations: Sequence[Examination]) -> dict[str, Score]:
    """Component -> score, for all components that come from questions: all but conciseness. See scores_of."""
    coverage = _mean(examinations, "source", _known)
    conformity = _mean(examinations, "source", lambda one: one.answer in ("IDK", one.expected))
    consistency = _mean(examinations, "text", _known)
    parts = {"coverage": coverage, "conformity": conformity, "consistency": consistency}
    values = [part.value for part in parts.values() if part.value is not None]
    lacking = [f"no {name} ({part.reason})" for name, part in parts.items() if part.value is None]
    return {
        **parts,
        "consistency-code": _mean(examinations, "text", lambda one: one.answer == one.expected),
        "overall": Score(None, lacking[0]) if lacking else Score(fmean(values)),
    }


def _known(question: CrossQuestion) -> bool:
    return question.answer != "IDK"


def _mean(examinations: Sequence[Examination], side: Side, counts: Callable[[CrossQuestion], bool]) -> Score:
    shares = [_share(one, side, counts) for one in examinations]
    mean = mean_of(share.value for share in shares)
    return mean or (shares[0] if shares else Score(None, NO_QUESTIONS))


def _share(examination: Examination, side: Side, counts: Callable[[CrossQuestion], bool]) -> Score:
    questions = questions_of(examination, side)
    used = used_of(questions or ())
    if used:
        return Score(sum(map(counts, used)) / len(used))
    for step, why in examination.reasons:
        if step in (TRANSLATE_BACK, MADE_FROM[side], ANSWERED_FROM[side]):
            return Score(None, f"{step}: {why}")
    if not questions:
        return Score(None, NO_QUESTIONS)
    closed = any(question.expected != "IDK" for question in questions)
    return Score(None, NONE_ANSWERED if closed else NONE_CLOSED)


def used_of(questions: Sequence[CrossQuestion]) -> tuple[CrossQuestion, ...]:
    """The questions that shares are computed over: YES or NO is expected, and there is an answer."""
    return tuple(one for one in questions if one.expected != "IDK" and one.answer is not None)


def conciseness(document: str, text: str) -> Score:
    """Conciseness: 1 - words of the text / words of the document; at most 1, below 0 if the text is longer.

    Punctuation does not count as words. In a script without spaces, every visible character counts as one. Undefined if
    only one of the two texts has such a script, because words and characters are not comparable. It means little if the
    texts are in different languages, as when a translation is examined directly. The CEF paper counts punctuation too, so
    its figures differ by a few hundredths; it reports percent.
    """
    words = count_words(document)
    if not words:
        return Score(None, "the document has no words")
    if is_unspaced(document) != is_unspaced(text):
        return Score(None, "one text is counted in words, the other in characters")
    return Score(1 - count_words(text) / words)


def shortfalls(records: Sequence[CefRecord], settings: Mapping[str, object]) -> Iterator[Degeneracy]:
    """Report sets with fewer than ENOUGH of the requested questions, because few answers decide their scores."""
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
            f"Too few questions: {len(small):,} of {len(sizes):,} sets have fewer than {ENOUGH:.0%} of the {requested} "
            f"requested questions, the smallest {min(small)}. Each answer then weighs heavily in the score."
        )
        yield Degeneracy("too few", len(small), len(sizes), sentence)


ASKED_AGAIN = "asked again"
MOST_QUESTIONS = 100
"""Most questions that can be requested from one text."""
_TOKENS_A_WORD = 3
"""Tokens of a back-translation per word of the text, or per character of a script without spaces."""
_LONGEST_TRANSLATION = 8_192
"""Tokens; a longer text must be split."""


class CefSettings(JudgeSettings):
    """How a text is cross-examined."""

    COMPARES_INSTEAD: ClassVar[str] = "{mode=reference}"

    mode: Literal["reference-free", "reference", "round-trip"] = setting(
        "reference-free",
        "Compared with",
        "what each text is compared with: its source (reference-free), its reference, or its source after translating "
        "the text back (round-trip)",
        words={
            "reference-free": "its source (needs no reference)",
            "reference": "its reference",
            "round-trip": "its source, after translating the text back",
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
        "yes: their own text answers all of them with YES; mixed: with YES, NO or IDK",
        option="kind-of-questions",
        words={"yes": "their own text answers YES", "mixed": "their own text answers YES, NO or IDK"},
    )
    reask: bool = setting(
        False,
        "Answer every question from its own text too",
        "also answer every question from its own text, to check the model's own questions; scores do not change, and "
        "answers cost twice as much",
        scored=False,
    )
    repeats: int = repeats_setting("number of complete examinations; the score is their mean")
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
            yield Remark("source_language", "is empty; enter the language to translate texts back into")

    def idle(self, backend: str) -> frozenset[str]:
        """See KindSettings."""
        return frozenset() if self.translates else frozenset({"source_language"})

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """See KindSettings."""
        return (name, *self.unusual("mode"))


class CrossExaminer:
    """Examines a text against its source (reference-free), its reference, or its source after translating the text back.

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
        """Examine one text. Never raises for a bad text; its scores then have reasons instead of values."""
        pair, document = pair_of(text), compared_with(self._settings, text.output)
        if (why := lacking(pair, self._settings.compares_with)) is not None:
            return Judged.without_asking(why, len(CEF_COMPONENTS))
        assert document is not None
        back = await self._translated_back(pair.text) if self._settings.translates else None
        if back is not None and back.value is None:
            failed = ((TRANSLATE_BACK, back.reason or "invalid"),)
            record = CefRecord((Examination(0, None, None, failed),))
            return Judged(scores_of(record, document, pair.text), record, failed, back.temporary)
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
        """Examine both sides in parallel; also return whether a failure was temporary. The seed identifies the repeat."""
        source, said = await asyncio.gather(
            self._side("source", document, text, repeat), self._side("text", text, document, repeat)
        )
        found = Examination(repeat, source[0], said[0], source[1] + said[1])
        return found, source[2] or said[2]

    async def _side(
        self, side: Side, own: str, other: str, repeat: int
    ) -> tuple[tuple[CrossQuestion, ...] | None, tuple[tuple[str, str], ...], bool]:
        """Make questions from one text and answer them from the other, and again from their own text if requested.

        Returns the questions, the failures, and whether they were temporary.
        """
        seed = self._settings.seed + repeat
        made = await self._maker.make(own, self._settings.n_questions, MADE_FROM[side], seed)
        if made.value is None:
            return None, ((MADE_FROM[side], made.reason or "invalid"),), made.temporary
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
        return questions, failures, any(one.temporary for one in (answered, *again))


class CrossExaminationKind(JudgeKind):
    """Makes questions from each text and answers them from the other; needs sources or references."""

    name = "cef"
    title = "Cross-examination"
    family = "CEF"
    summary = "makes questions from each text and answers them from the other; needs sources or references"
    section = "cross-examination"
    Settings = CefSettings
    Record = CefRecord
    in_percent = True
    reports = frozenset({"ablation", "align", "answers", "consistency", "reasked"})
    detail_columns = COMPARING_COLUMNS
    words_called = "questions"

    def open(self, settings: CefSettings, bench: Bench) -> Opened:
        """See JudgeKind."""
        return asking(lambda model: CrossExaminer(model, bench.prompts, settings))

    details = staticmethod(details)

    def record_problems(self, record: CefRecord, text: str | None) -> Iterator[str]:
        """See JudgeKind: impossible or duplicate repeats."""
        return trial_problems("examinations", record.examinations, "repeat")

    def score_bounds(self, name: str) -> tuple[float, float]:
        """See JudgeKind."""
        return ((LOWEST_CONCISENESS if name.endswith("conciseness") else 0.0), 1.0)

    # Questions from the source are the same for all texts of an item.
    def words(self, record: CefRecord) -> tuple[str, ...]:
        """See JudgeKind."""
        return tuple(one.text for each in record.examinations for one in each.from_text or ())

    shortfalls = staticmethod(shortfalls)


KIND = CrossExaminationKind()
