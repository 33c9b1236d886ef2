"""004's evaluator: a model gives a text a class on every dimension, each with its justification, in any language.

Source: 004, section 3. `single`: one call a dimension; `compound`: one call for all; `detailed`: one call a dimension
with longer instructions. With shots, examples of each class stand before the text (`class_examples`). How far its
classes agree with people's, and where it should not be used, is told by `core.analysis.calibration`.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.judges.automqm import NOTHING, given_in
from core.judges.class_examples import HeldOut
from core.judges.judge import EMPTY_TEXT, Judged
from core.judges.settings import QualitySettings
from core.judges.word_shuffle import shuffled_words
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import read_json
from core.llm.prompts import Example, Prompt
from core.schema.judges import ExampleUsed, QualityRecord, QualityTrial
from core.schema.rated import RatedText
from core.schema.scores import Score
from core.schema.tasks import Dimension, RatingTask

STEP = "quality"
HELD_OUT = "held out for examples"
NOT_ON_OFFER, NO_SCORE = "score not on offer", "no score"
LONGEST_JUSTIFICATION = 400
"""Characters that a model under guided decoding may write, so that it comes to its score."""
SCORE_TOKENS = 700
"""Room for such a justification in any script, and for its score."""


@dataclass(frozen=True)
class GivenScore:
    """One answer on one dimension."""

    score: float
    justification: str


class QualityJudge:
    """Asks a model for a class on every dimension of the task; a text whose item is held out is not judged.

    prompts: holds `quality`. texts: all of the run, rated or not: those held out give the examples; or what hold_out
    made of them, once for many judges.
    """

    def __init__(
        self,
        model: Model,
        prompts: Mapping[str, Prompt],
        settings: QualitySettings,
        task: RatingTask,
        texts: Sequence[RatedText] | HeldOut,
    ) -> None:
        self._model, self._prompt, self._settings = model, prompts["quality"], settings
        self._task, self._dimensions = task, task.dimensions
        self._together = settings.prompting == "compound"
        self._held_out = texts if isinstance(texts, HeldOut) else hold_out(settings, task, texts)

    async def judge_text(self, text: RatedText) -> Judged:
        """The mean of the classes given in the repeats, a score a dimension in the task's order.

        Misleads where people themselves do not agree: a class is given all the same (004, section 5).
        """
        output = text.output
        why = HELD_OUT if output.item_id in self._held_out.items else None
        why = why or (None if output.text.strip() else EMPTY_TEXT)
        if why is not None:
            return Judged((Score(None, why),) * len(self._dimensions), None)
        read = shuffled_words(output.text, self._settings.shuffled_words, self._settings.seed)
        shown = replace(text, output=replace(output, text=read))
        asked = [(repeat, group) for repeat in range(self._settings.repeats) for group in self._groups()]
        answers = await asyncio.gather(*(self._ask(shown, group, repeat) for repeat, group in asked))
        trials = [
            trial
            for (repeat, group), answer in zip(asked, answers, strict=True)
            for trial in _trials(repeat, group, answer)
        ]
        failed = [
            (_step(group), answer.reason or "")
            for (_, group), answer in zip(asked, answers, strict=True)
            if answer.value is None
        ]
        examples = dict.fromkeys(
            ExampleUsed(one.output.item_id, one.output.system, None)
            for group in self._groups()
            for one in self._examples(shown, group)
        )
        return Judged(
            tuple(_mean(trials, dimension) for dimension in self._dimensions),
            QualityRecord(tuple(trials), tuple(examples), None if read == output.text else read),
            failures=tuple(failed),
            temporary=any(answer.temporary for answer in answers),
        )

    def _groups(self) -> list[tuple[Dimension, ...]]:
        """The dimensions that are asked for together."""
        if self._together:
            return [tuple(self._dimensions)]
        return [(dimension,) for dimension in self._dimensions]

    async def _ask(
        self, text: RatedText, group: tuple[Dimension, ...], repeat: int
    ) -> Answer[dict[str, GivenScore]]:
        shown = tuple(self._example(one, group) for one in self._examples(text, group))
        prompt = replace(self._prompt, examples=self._prompt.examples + shown)
        request = Request(
            _step(group),
            prompt.messages(**self._variables(text, group)),
            max_tokens=SCORE_TOKENS * len(group),
            temperature=self._settings.temperature,
            seed=self._settings.seed + repeat,
            schema=answer_schema(group, together=self._together),
        )
        return await self._model.ask(request, lambda said: read_scores(said, group, together=self._together))

    def _examples(self, text: RatedText, group: tuple[Dimension, ...]) -> tuple[RatedText, ...]:
        """Those of each dimension, each once; where dimensions are asked together, only texts with a class on all."""
        found = [example for dimension in group for example in self._held_out.shown(text, dimension)]
        once = {id(example): example for example in found}.values()
        return tuple(
            one for one in once if all(self._held_out.label(one, each)[0] is not None for each in group)
        )

    def _example(self, example: RatedText, group: tuple[Dimension, ...]) -> Example:
        given = {}
        for dimension in group:
            label, _ = self._held_out.label(example, dimension)
            assert label is not None
            why = self._held_out.wording(example, dimension)
            given[dimension.name] = {"justification": why, "score": _number(label)}
        answer = {"scores": given} if self._together else given[group[0].name]
        return Example(tuple(self._variables(example, group).items()), json.dumps(answer, ensure_ascii=False))

    def _variables(self, text: RatedText, group: tuple[Dimension, ...]) -> dict[str, str]:
        output = text.output
        values = {
            "source": given_in(output, self._task, self._prompt) or NOTHING,
            "text": self._harmless(output.text),
            "language": self._settings.language or output.language,
        }
        if self._together:
            return values | {"dimensions": "\n\n".join(map(_block, group))}
        (dimension,) = group
        detailed = self._settings.prompting == "detailed"
        return values | {
            "dimension": dimension.title,
            "description": (dimension.detailed if detailed else "") or dimension.description,
            "scale": scale_of(dimension),
        }

    def _harmless(self, text: str) -> str:
        return defused(text, [self._prompt])


def hold_out(settings: QualitySettings, task: RatingTask, texts: Sequence[RatedText]) -> HeldOut:
    """The items that give examples and are not judged; takes its time where texts are many."""
    return HeldOut(
        texts,
        task.dimensions,
        shots=settings.shots,
        share=settings.held_out,
        majority=settings.majority,
        seed=settings.seed,
    )


def open_quality(
    model: Model | None,
    prompts: Mapping[str, Prompt],
    settings: QualitySettings,
    task: RatingTask,
    texts: Sequence[RatedText] | HeldOut,
) -> QualityJudge:
    """The evaluator of these settings. Rules cannot be one: model None is a defect of the caller."""
    assert model is not None, "rules cannot rate quality"
    return QualityJudge(model, prompts, settings, task, texts)


def scale_of(dimension: Dimension) -> str:
    """The scale as an evaluator reads it: each class with its meaning, or the ends and what is said between them."""
    meaning = dict(dimension.anchors)
    if not dimension.classes:
        ends = f"Any number from {_short(dimension.lowest)} to {_short(dimension.highest)}; higher is better."
        return "\n".join([ends, *(f"{_short(value)}: {words}" for value, words in dimension.anchors)])
    lines = [(value, meaning.get(value)) for value in dimension.classes]
    return "\n".join(
        _short(value) if words is None else f"{_short(value)}: {words}" for value, words in lines
    )


def answer_schema(group: Sequence[Dimension], *, together: bool) -> dict[str, object]:
    """What the model may write: of each dimension its justification first, then a score on offer."""
    if not together:
        return _one_schema(group[0])
    return _object({"scores": _object({one.name: _one_schema(one) for one in group})})


def read_scores(text: str, group: Sequence[Dimension], *, together: bool) -> dict[str, GivenScore]:
    """Dimension -> the score in an answer; raises Unusable where one is missing or not on offer.

    2 and 2.0 are one score; "2", true and a number between two classes are none.
    """
    found = read_json(text, _TOGETHER if together else _ALONE)
    assert isinstance(found, dict)
    given = found["scores"] if together else {group[0].name: found}
    return {dimension.name: _given(given.get(dimension.name), dimension) for dimension in group}


_ALONE: Mapping[str, object] = {"type": "object", "required": ["score"]}
_TOGETHER: Mapping[str, object] = {
    "type": "object",
    "required": ["scores"],
    "properties": {"scores": {"type": "object"}},
}
"""Looser than what is asked for: of several objects the last that names scores is meant, even if they are wrong."""


def _given(said: object, dimension: Dimension) -> GivenScore:
    of = f"for {dimension.name}"
    if not isinstance(said, dict) or "score" not in said:
        raise Unusable(f"It has no score {of}.", NO_SCORE)
    score, why = said["score"], said.get("justification")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise Unusable(f"Its score {of} is no number.", NO_SCORE)
    if not isinstance(why, str):
        raise Unusable(f"It has no justification {of}.")
    if dimension.classes and score not in dimension.classes:
        offered = ", ".join(map(_short, dimension.classes))
        raise Unusable(f"Its score {of} is not on offer: give one of {offered}.", NOT_ON_OFFER)
    if not dimension.lowest <= score <= dimension.highest:
        ends = f"{_short(dimension.lowest)} to {_short(dimension.highest)}"
        raise Unusable(f"Its score {of} is outside {ends}.", NOT_ON_OFFER)
    return GivenScore(float(score), why.strip())


def _one_schema(dimension: Dimension) -> dict[str, object]:
    classes = [_number(value) for value in dimension.classes]
    score: dict[str, object] = (
        {"enum": classes}
        if classes
        else {"type": "number", "minimum": dimension.lowest, "maximum": dimension.highest}
    )
    return _object({"justification": {"type": "string", "maxLength": LONGEST_JUSTIFICATION}, "score": score})


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _block(dimension: Dimension) -> str:
    """One of several dimensions as a compound prompt shows it."""
    return f"{dimension.name}: {dimension.title}\n{dimension.description}\n{scale_of(dimension)}"


def _step(group: Sequence[Dimension]) -> str:
    return f"{STEP}: {group[0].name}" if len(group) == 1 else STEP


def _trials(
    repeat: int, group: Sequence[Dimension], answer: Answer[dict[str, GivenScore]]
) -> list[QualityTrial]:
    if answer.value is None:
        return [
            QualityTrial(one.name, repeat, None, reason=answer.reason, detail=answer.detail) for one in group
        ]
    given = answer.value
    return [
        QualityTrial(one.name, repeat, given[one.name].score, given[one.name].justification) for one in group
    ]


def _mean(trials: Sequence[QualityTrial], dimension: Dimension) -> Score:
    own = [trial for trial in trials if trial.dimension == dimension.name]
    scores = [trial.score for trial in own if trial.score is not None]
    if scores:
        return Score(sum(scores) / len(scores))
    return Score(None, f"{STEP}: {next((trial.reason for trial in own if trial.reason), 'no answer')}")


def _number(value: float) -> float:
    """Whole where it is whole, as JSON shows it."""
    return int(value) if value == int(value) else value


def _short(value: float) -> str:
    return f"{value:.10g}"
