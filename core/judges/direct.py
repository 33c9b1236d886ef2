"""002's Scorer: a model gives a text one number, after it was shown which numbers people gave to others.

Source: 002, section 5.6 (direct assessment from 0 to 100; scores of stories) and appendix A. The scale is that of the
task's dimension, so that the same judge rates whatever people rated: translations, stories, answers.
"""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace

from core.errors import InputError
from core.judges.automqm import NOTHING, example_problems, given_in, languages_of
from core.judges.examples import ExamplePool, ShownExample
from core.judges.judge import EMPTY_TEXT, Judged, RatedJudge
from core.judges.settings import DirectSettings
from core.llm.asking import Answer, Model, Unusable
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.parsing import read_json
from core.llm.prompts import Example, Prompt
from core.schema.judges import DirectRecord, DirectTrial
from core.schema.rated import RatedText
from core.schema.scores import ScorableOutput, Score
from core.schema.tasks import Dimension, RatingTask

PURPOSE = STEP = "direct"
NOT_ON_OFFER, NO_SCORE = "score not on offer", "no score"
SCORE_TOKENS = 200
"""Room for one number, and for blanks around it."""
LONGEST_SHOWN = 20
"""Characters of a wrong score that are repeated."""
_DECIMALS = 2
"""Of the scores in examples, which are means."""
_NEARLY = 1e-9
_ANY_SCORE: Mapping[str, object] = {"type": "object", "required": ["score"]}


class DirectJudge:
    """Implements RatedJudge: asks a model for a number on the dimension's scale, once for every draw of examples."""

    def __init__(
        self, model: Model, prompt: Prompt, settings: DirectSettings, task: RatingTask, pool: ExamplePool
    ) -> None:
        """task: one with the dimension that the settings name."""
        self._model, self._prompt, self._settings = model, prompt, settings
        self._task, self._dimension, self._pool = task, task.dimension(settings.dimension), pool

    async def judge_text(self, text: RatedText) -> Judged:
        """The mean of the scores given in the repeats, within the dimension's scale; higher is better.

        A text with nothing to read is not judged; one without a source is judged by itself.
        """
        if not text.output.text.strip():
            return Judged((Score(None, EMPTY_TEXT),), None)
        asked = await asyncio.gather(*(self._trial(text, n) for n in range(self._settings.repeats)))
        trials = tuple(trial for trial, _ in asked)
        scores = [trial.score for trial in trials if trial.score is not None]
        reasons = [trial.reason for trial in trials if trial.reason is not None]
        mean = Score(math.fsum(scores) / len(scores)) if scores else Score(None, f"{STEP}: {reasons[0]}")
        return Judged(
            (mean,),
            DirectRecord(trials),
            failures=tuple((STEP, reason) for reason in reasons),
            temporary=any(temporary for _, temporary in asked),
        )

    async def _trial(self, text: RatedText, repeat: int) -> tuple[DirectTrial, bool]:
        """One draw of examples, and whether a failure was temporary."""
        chosen = self._settings
        examples = self._pool.examples_for(
            text,
            variant=chosen.examples,
            n_examples=chosen.n_examples,
            rater=chosen.rater,
            seed=chosen.seed + repeat,
        )
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
        trial = DirectTrial(repeat, answer.value, used, answer.reason, answer.detail)
        return trial, answer.temporary

    def _read(self, reply: str) -> float:
        return read_score(reply, self._dimension)

    def _turn(self, one: ShownExample) -> Example:
        assert one.score is not None
        return Example(
            tuple(self._variables(one.output).items()), f'{{"score": {_number(round(one.score, _DECIMALS))}}}'
        )

    def _variables(self, output: ScorableOutput) -> dict[str, str]:
        own = self._dimension
        return {
            "source": given_in(output, self._task, self._prompt) or NOTHING,
            "text": defused(output.text, [self._prompt]),
            **languages_of(output, self._prompt),
            "dimension": own.title,
            "description": own.description,
            "scale": "\n".join(f"{_number(score)}: {words}" for score, words in own.anchors) or NOTHING,
            "lowest": _number(own.lowest),
            "highest": _number(own.highest),
        }


def score_schema(dimension: Dimension) -> dict[str, object]:
    """What the model may write: one of the scores on offer, or any number of the scale where all are."""
    numbers = [int(one) if one == int(one) else one for one in dimension.classes]
    score: dict[str, object] = (
        {"enum": numbers}
        if numbers
        else {"type": "number", "minimum": dimension.lowest, "maximum": dimension.highest}
    )
    return {
        "type": "object",
        "properties": {"score": score},
        "required": ["score"],
        "additionalProperties": False,
    }


def read_score(text: str, dimension: Dimension) -> float:
    """The number in an answer; raises Unusable unless it is on the dimension's scale and one of its steps.

    Of several objects with a score the last counts. `"4"`, true and null are no numbers; nothing is clipped or rounded.
    """
    found = read_json(text, _ANY_SCORE)
    assert isinstance(found, dict)
    score = found["score"]
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise Unusable("Its score is no number.", NO_SCORE)
    on_offer = dimension.lowest <= score <= dimension.highest  # a number of any length can be compared
    nearest = min(dimension.classes, key=lambda one: abs(one - score), default=None) if on_offer else None
    if not on_offer or (nearest is not None and abs(nearest - score) > _NEARLY):
        shown = str(score)
        shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
        raise Unusable(f"The score {shown} is not on offer: {_offer(dimension)}.", NOT_ON_OFFER)
    return float(score if nearest is None else nearest)


def open_direct(
    model: Model,
    prompts: Mapping[str, Prompt],
    settings: DirectSettings,
    task: RatingTask,
    pool: ExamplePool,
) -> RatedJudge:
    """The judge for these settings; cheap, as all that takes time lies in the pool.

    prompts: holds `direct`. pool: of scores on the settings' dimension, over the run's texts. Raises InputError with
    everything that is missing or does not fit.
    """
    names = [one.name for one in task.dimensions]
    what = f"scores of {settings.dimension} on its scale"
    problems = example_problems(pool, settings.examples, settings.rater, what)
    if settings.dimension not in names:
        listed = ", ".join(names) or "none"
        problems = [f"dimension: {task.name} has no dimension {settings.dimension}; there are: {listed}"]
    if PURPOSE not in prompts:
        problems.append(f"there is no prompt for {PURPOSE}")
    if problems:
        raise InputError("Texts cannot be scored", problems)
    dimension = task.dimension(settings.dimension)
    assert pool.dimension == dimension, "the examples' scores are of the dimension that is asked for"
    return DirectJudge(model, prompts[PURPOSE], settings, task, pool)


def _offer(dimension: Dimension) -> str:
    if not dimension.classes:
        return f"give a number from {_number(dimension.lowest)} to {_number(dimension.highest)}"
    if len(dimension.classes) > LONGEST_SHOWN:
        ends = f"{_number(dimension.lowest)} to {_number(dimension.highest)}"
        return f"give a number from {ends} in steps of {_number(dimension.step)}"
    return f"give one of {', '.join(map(_number, dimension.classes))}"


def _number(value: float) -> str:
    return f"{value:.10g}"
