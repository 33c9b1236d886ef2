"""The Scorer, from the Specialist paper: a model gives a text one number after seeing people's scores of other texts.

Specialist, section 5.6 (direct assessment from 0 to 100; scores of stories) and appendix A. The task's dimension
defines the scale, so the same judge can rate translations, stories or answers.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from core.judges.kind import (
    ANY_SCORE,
    EMPTY_TEXT,
    FORMER_SCORE,
    NOTHING,
    TEMPERATURE,
    Bench,
    Judged,
    JudgeKind,
    Opened,
    Trial,
    asking,
    mean_of,
    trial_problems,
)
from core.judges.rated import (
    DRAWING_SEED,
    DRAWS,
    EXAMPLES,
    N_EXAMPLES,
    ONLY,
    RATER,
    SCORE_COLUMNS,
    ExamplePool,
    ExampleSettings,
    ExamplesFrom,
    ExampleUsed,
    ShownExample,
    Systems,
    check_examples,
    dimensions_in,
    example_problems,
    examples_in,
    given_in,
    languages_of,
    listed,
    nobody_rated,
    pool_problems,
    prompt_for,
    rated_instead,
    rated_signed,
    refuse_rated,
    score_digits,
    score_on,
    task_attachment,
    task_of,
    weighs_its_errors,
)
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import clipped, form, is_number, read_object, refuse_loop
from core.llm.prompts import Example, Prompt
from core.llm.thinking import apart
from core.schema.runs import PromptSlot
from core.schema.scores import RatedSet, RatedText, ScorableOutput
from core.schema.settings import Remark, setting
from core.schema.study import Dimension, RatingTask
from core.tables.reading import shown

PURPOSE = STEP = "direct"
NOT_ON_OFFER, NO_SCORE = "score not on offer", "no score"
SCORE_TOKENS = 200
"""Tokens for one number and the spaces around it."""
LONGEST_SHOWN = 20
"""Characters of a wrong score that a message repeats."""
_DECIMALS = 2
"""Decimals of the scores in examples, which are means."""
_NEARLY = 1e-9


class DirectSettings(ExampleSettings):
    """How the Scorer scores: on the scale of the task's dimension."""

    dimension: str = setting(
        "overall", "Dimension", "dimension to score, as named in the task and the ratings", metavar="NAME"
    )
    examples: ExamplesFrom = EXAMPLES
    n_examples: int = N_EXAMPLES
    rater: str = RATER
    only: Systems = ONLY
    repeats: int = DRAWS
    temperature: float | None = TEMPERATURE
    seed: int = DRAWING_SEED

    def pool(self, texts: Sequence[RatedText], task: RatingTask) -> ExamplePool:
        """The texts that people rated on the dimension."""
        return ExamplePool(texts, dimension=task.dimension(self.dimension))

    @property
    def dimension_scored(self) -> str:
        """See JudgeSettings."""
        return self.dimension

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One."""
        return (PromptSlot(PURPOSE, "direct"),)

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """See JudgeSettings."""
        first, *others = super().called(name, by_rules=by_rules)
        return (first, *self.unusual("dimension"), *others)


@dataclass(frozen=True, kw_only=True)
class DirectTrial(Trial):
    """One request to the Scorer."""

    verdict: Annotated[float | None, FORMER_SCORE]
    """The score; None: the answer had none on the scale."""
    examples: tuple[ExampleUsed, ...] = ()


@dataclass(frozen=True)
class DirectRecord:
    """Everything that the Scorer returned for one text."""

    trials: tuple[DirectTrial, ...]


class DirectJudge:
    """Asks a model for a number on the dimension's scale, once for each draw of examples."""

    def __init__(
        self, model: Model, prompt: Prompt, settings: DirectSettings, task: RatingTask, pool: ExamplePool
    ) -> None:
        """task: must have the settings' dimension. pool: scores on that dimension for the run's texts."""
        self._model, self._prompt, self._settings = model, prompt, settings
        self._task, self._dimension, self._pool = task, task.dimension(settings.dimension), pool

    async def judge(self, text: RatedText) -> Judged:
        """Score a text: the mean over the repeats, on the dimension's scale; higher is better.

        An empty text is not judged; a text without a source is judged alone.
        """
        if not text.output.text.strip():
            return Judged.without_asking(EMPTY_TEXT)
        asked = await asyncio.gather(*(self._trial(text, n) for n in range(self._settings.repeats)))
        trials = tuple(trial for trial, _ in asked)
        mean, temporary = mean_of(trial.verdict for trial in trials), any(passing for _, passing in asked)
        return Judged.in_trials(STEP, mean, DirectRecord(trials), temporary=temporary)

    async def _trial(self, text: RatedText, repeat: int) -> tuple[DirectTrial, bool]:
        """One draw of examples; also whether a failure was temporary."""
        chosen = self._settings
        examples = chosen.draw(self._pool, text, repeat)
        prompt = replace(self._prompt, examples=self._prompt.examples + tuple(map(self._turn, examples)))
        request = Request(
            STEP,
            prompt.messages(**self._variables(text.output)),
            max_tokens=SCORE_TOKENS,
            temperature=chosen.temperature,
            seed=chosen.seed + repeat,
            schema=score_schema(self._dimension),
        )
        answer: Answer[float] = await self._model.ask(request, self._read)
        used = tuple(one.used for one in examples)
        trial = DirectTrial(
            repeat=repeat, verdict=answer.value, examples=used, reason=answer.reason, detail=answer.detail
        )
        return trial, answer.temporary

    def _read(self, reply: str) -> float:
        return read_score(reply, self._dimension)

    def _turn(self, one: ShownExample) -> Example:
        assert one.score is not None
        return Example(
            tuple(self._variables(one.output).items()),
            f'{{"score": {score_digits(round(one.score, _DECIMALS))}}}',
        )

    def _variables(self, output: ScorableOutput) -> dict[str, str]:
        own = self._dimension
        return {
            "source": given_in(output, self._task, self._prompt),
            "text": defused(output.text, [self._prompt]),
            **languages_of(output, self._prompt),
            "dimension": own.title,
            "description": own.description,
            "scale": "\n".join(f"{score_digits(score)}: {words}" for score, words in own.anchors) or NOTHING,
            "lowest": score_digits(own.lowest),
            "highest": score_digits(own.highest),
        }


def score_schema(dimension: Dimension) -> dict[str, object]:
    """JSON schema of an answer: one of the offered scores, or any number on a continuous scale."""
    return form(score=score_on(dimension))


def read_score(text: str, dimension: Dimension) -> float:
    """The number in an answer. Raises Unusable unless it is on the dimension's scale and one of its steps.

    If several objects have a score, the last one counts. `"4"`, true and null are not numbers; nothing is clipped or
    rounded. Looping text around the number makes the whole answer unusable.
    """
    score = read_object(text, score={})["score"]
    if not is_number(score):
        raise Unusable("Its score is no number.", NO_SCORE)
    on_offer = dimension.lowest <= score <= dimension.highest  # comparison works for a number of any length
    nearest = min(dimension.classes, key=lambda one: abs(one - score), default=None) if on_offer else None
    if not on_offer or (nearest is not None and abs(nearest - score) > _NEARLY):
        said = clipped(str(score), LONGEST_SHOWN)
        raise Unusable(f"The score {said} is not on offer: {_offer(dimension)}.", NOT_ON_OFFER)
    refuse_loop(apart(text)[0])
    return float(score if nearest is None else nearest)


def _offer(dimension: Dimension) -> str:
    if not dimension.classes:
        return f"give a number from {score_digits(dimension.lowest)} to {score_digits(dimension.highest)}"
    if len(dimension.classes) > LONGEST_SHOWN:
        ends = f"{score_digits(dimension.lowest)} to {score_digits(dimension.highest)}"
        return f"give a number from {ends} in steps of {score_digits(dimension.step)}"
    return f"give one of {', '.join(map(score_digits, dimension.classes))}"


def _task(settings: DirectSettings, bench: Bench) -> RatingTask:
    """The run's task. Raises SettingsError if it lacks the settings' dimension."""
    task = task_of(bench)
    names = [one.name for one in task.dimensions]
    values = {"name": task.name, "dimension": shown(settings.dimension), "there": listed(names)}
    if not names:
        refuse_rated([Remark("task", "{name} has no dimension to score; choose direct", values)], settings)
    if settings.dimension not in names:
        refuse_rated(
            [
                Remark(
                    "dimension",
                    "{dimension} is not a dimension of the task {name}; choose from {there}",
                    values,
                )
            ],
            settings,
        )
    return task


def _nobody(settings: DirectSettings, task: RatingTask, texts: Sequence[RatedText]) -> Remark:
    dimension = task.dimension(settings.dimension)
    what = f"{shown(dimension.name)} on the task's scale from {dimension.lowest:g} to {dimension.highest:g}"
    return nobody_rated("rated {what}{instead}", {"what": what, "instead": _found(dimension, texts)})


def _found(dimension: Dimension, texts: Sequence[RatedText]) -> str:
    """Description of what people rated instead, if nobody rated the dimension on its scale."""
    own = [one for text in texts for one in text.ratings if one.dimension == dimension.name]
    if not own:
        return rated_instead(dimensions_in(texts))
    scores = [one.score for one in own]
    ends = f"{min(scores):g} to {max(scores):g}"
    weighed = all(map(weighs_its_errors, own))
    are = " and are MQM scores, minus the weights of marked errors" if weighed else ""
    return f" (the file's {len(own):,} ratings of {shown(dimension.name)} go from {ends}{are})"


class DirectKind(JudgeKind):
    """Gives each text one number, such as 0 to 100; examples are other systems' rated texts."""

    name = "direct"
    title = "Direct score (Scorer)"
    family = "Direct"
    summary = "gives each text one number, such as 0 to 100; examples are other systems' rated texts"
    section = "scorer"
    reads = "rated texts"
    Settings = DirectSettings
    attachment = task_attachment("direct", "dimension and its scale")
    Record = DirectRecord
    reports = frozenset({"accuracy", "calibration", "consistency"})
    detail_columns = SCORE_COLUMNS

    def open(self, settings: DirectSettings, bench: Bench) -> Opened:
        """See JudgeKind."""
        task = _task(settings, bench)
        pool = settings.pool(bench.texts, task)
        refuse_rated(pool_problems(settings, pool, _nobody(settings, task, bench.texts)), settings)
        prompt = prompt_for(bench, PURPOSE)
        return asking(lambda model: DirectJudge(model, prompt, settings, task, pool))

    def check(
        self, settings: DirectSettings, bench: Bench, rated: RatedSet, by_rules: bool
    ) -> tuple[Remark, ...]:
        """See JudgeKind."""
        task = _task(settings, bench)
        nobody = _nobody(settings, task, rated.texts)
        return check_examples(settings, settings.pool(rated.texts, task), rated, by_rules, nobody)

    also_signed = staticmethod(rated_signed)

    def details(self, record: DirectRecord) -> Iterator[dict[str, Any]]:
        """See JudgeKind."""
        for trial in record.trials:
            yield {
                "what": "score",
                "repeat": trial.repeat,
                "score": trial.verdict,
                "examples": len(trial.examples),
                "why": trial.detail,
                "reason": trial.reason,
            }

    def record_problems(self, record: DirectRecord, _: str | None) -> Iterator[str]:
        """See JudgeKind."""
        yield from trial_problems("trials", record.trials, "repeat", verdict=ANY_SCORE)
        for n, trial in enumerate(record.trials, start=1):
            yield from example_problems(f"trials, {n}, examples", trial.examples)

    def score_bounds(self, _: str) -> tuple[float, float]:
        """See JudgeKind."""
        return ANY_SCORE

    def suits(self, task: RatingTask, values: Mapping[str, object]) -> bool:
        """See JudgeKind."""
        return any(values.get("dimension", one.name) == one.name for one in task.dimensions)

    def in_file(self, bench: Bench) -> Mapping[str, tuple[str, ...]]:
        """See JudgeKind."""
        return {
            "dimension": tuple(one.name for one in task_of(bench).dimensions),
            **examples_in(bench),
        }


KIND = DirectKind()
