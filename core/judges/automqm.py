"""002's AutoMQM: a model marks the errors in a text, after it was shown how people marked others.

Source: 002, section 4.1 and appendix A. With examples of the text's own source it is the Specialist, with others one of
the paper's baselines, without any a plain error-marking judge. Its score is minus the MQM weights of its errors.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from core.datasets.open_tables import LABEL_PAIR
from core.errors import InputError
from core.judges.error_answers import NamedError, errors_schema, read_errors, written_errors
from core.judges.error_scores import mean_of
from core.judges.examples import ExamplePool, ShownExample
from core.judges.judge import EMPTY_TEXT, MOST_TOKENS, Judged, RatedJudge
from core.judges.numbered import in_a_line
from core.judges.parrot import Parrot
from core.judges.quotes import Locator
from core.judges.settings import AutoMqmSettings
from core.llm.asking import Answer, Model
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.prompts import Example, Prompt
from core.schema.judges import AutoMqmRecord, ErrorTrial, ExampleUsed, FoundError
from core.schema.rated import RatedText
from core.schema.scores import ScorableOutput, Score
from core.schema.tasks import RatingTask

PURPOSE = "mark-errors"
STEP = "mark errors"
NOTHING = "(none)"
"""Stands for a source, or a language, that is not known."""
AS_ABOVE = "(as above)"
_ROOM = 1_000
"""Tokens an answer may have besides those that quotes need."""
_BYTES_A_TOKEN = 3
"""Of UTF-8, on the safe side for every script."""


class AutoMqmJudge:
    """Implements RatedJudge: asks a model for the errors of a text, once for every draw of examples."""

    def __init__(
        self, model: Model, prompt: Prompt, settings: AutoMqmSettings, task: RatingTask, pool: ExamplePool
    ) -> None:
        """task: one that asks for error spans."""
        assert task.spans is not None
        self._model, self._prompt, self._settings = model, prompt, settings
        self._asked, self._task, self._pool = task, task.spans, pool

    async def judge_text(self, text: RatedText) -> Judged:
        """The mean over the repeats of minus the MQM weights; a repeat without a usable answer is left out of it.

        A text with nothing to read is not judged; one without a source is judged by itself. Misleads where weights do:
        a long text can lose more than a short one.
        """
        if not text.output.text.strip():
            return Judged((Score(None, EMPTY_TEXT),), None)
        asked = await asyncio.gather(*(self._trial(text, n) for n in range(self._settings.repeats)))
        trials = tuple(trial for trial, _ in asked)
        reasons = [trial.reason for trial in trials if trial.reason is not None]
        score = mean_of(trials)
        if len(reasons) == len(trials):
            score = Score(None, f"{STEP}: {reasons[0]}")
        return Judged(
            (score,),
            AutoMqmRecord(trials),
            failures=tuple((STEP, reason) for reason in reasons),
            temporary=any(temporary for _, temporary in asked),
        )

    async def _trial(self, text: RatedText, repeat: int) -> tuple[ErrorTrial, bool]:
        """One draw of examples, and whether a failure was temporary."""
        chosen = self._settings
        examples = self._pool.examples_for(
            text,
            variant=chosen.examples,
            n_examples=chosen.n_examples,
            filtered=chosen.filtered,
            rater=chosen.rater,
            seed=chosen.seed + repeat,
        )
        shown, used = self._turns(examples)
        said = defused(text.output.text, [self._prompt])
        size = len(said.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN
        request = Request(
            STEP,
            replace(self._prompt, examples=self._prompt.examples + shown).messages(
                **self._variables(text.output, said)
            ),
            max_tokens=min(_ROOM + 2 * size, MOST_TOKENS),
            temperature=chosen.temperature,
            seed=chosen.seed + repeat,
            schema=errors_schema(self._task.severities, said),
        )
        answer = await self._model.ask(request, lambda reply: read_errors(reply, self._task.severities))
        return _trial(repeat, said, used, answer), answer.temporary

    def _turns(
        self, examples: tuple[ShownExample, ...]
    ) -> tuple[tuple[Example, ...], tuple[ExampleUsed, ...]]:
        """Each example as a question and its answer, and what of it was shown.

        Severities and categories are listed in the first turn, and again in the text's own.
        """
        turns, used = [], []
        offered = {severity.casefold(): severity for severity in self._task.severities}
        for number, one in enumerate(examples):
            said = defused(one.output.text, [self._prompt])
            named = [
                NamedError(
                    said[span.start : span.end],
                    offered[span.severity.casefold()],
                    in_a_line(defused(span.category, [self._prompt])),
                )
                for _, span in one.errors
                if span.severity.casefold() in offered
            ]
            variables = self._variables(one.output, said)
            if number or self._prompt.examples:
                variables |= {"severities": AS_ABOVE, "categories": AS_ABOVE}
            turns.append(Example(tuple(variables.items()), written_errors(named)))
            used.append(replace(one.used, n_errors=len(named)))
        return tuple(turns), tuple(used)

    def _variables(self, output: ScorableOutput, said: str) -> dict[str, str]:
        named = self._task.in_words
        return {
            "source": given_in(output, self._asked, self._prompt) or NOTHING,
            "text": said,
            **languages_of(output, self._prompt),
            "severities": ("\n" if self._task.meanings else ", ").join(map(named, self._task.severities)),
            "categories": "\n".join(map(named, self._task.categories)) or NOTHING,
        }


def given_in(output: ScorableOutput, task: RatingTask, prompt: Prompt) -> str:
    """What a prompt names as the source: what was asked, and the reference where the task shows it to raters."""
    source = defused(output.source or "", [prompt]).strip()
    reference = defused(output.reference or "", [prompt]).strip() if task.show_reference else ""
    if not reference:
        return source
    return f"{source or NOTHING}\n\n{task.labels.headings.reference}:\n{reference}"


def languages_of(output: ScorableOutput, prompt: Prompt) -> dict[str, str]:
    """The languages of source and text as prompts name them: their tags, as far as the file says them."""
    source, _, _ = output.labels.get(LABEL_PAIR, "").partition("-")
    named = {"source_language": source, "language": "" if output.language == "und" else output.language}
    return {name: in_a_line(defused(tag, [prompt])) or NOTHING for name, tag in named.items()}


def open_automqm(
    model: Model | None,
    prompts: Mapping[str, Prompt],
    settings: AutoMqmSettings,
    task: RatingTask,
    pool: ExamplePool,
) -> RatedJudge:
    """The judge for these settings; cheap, as all that takes time lies in the pool.

    model: who is asked; None: the Parrot. prompts: holds `mark-errors` unless it is the Parrot. pool: of errors, over the
    run's texts. Raises InputError with everything that is missing or does not fit.
    """
    problems = example_problems(pool, settings.examples, settings.rater, "marked errors")
    if task.spans is None:
        problems.append(
            f"task: {task.name} asks for no error spans; choose one with severities and categories"
        )
    if model is None and settings.examples == "none":
        problems.append("examples: none leaves the Parrot nothing to repeat; choose others, or a model")
    if model is not None and PURPOSE not in prompts:
        problems.append(f"there is no prompt for {PURPOSE}")
    if problems:
        raise InputError("Errors cannot be marked", problems)
    if model is None:
        return Parrot(settings, pool)
    return AutoMqmJudge(model, prompts[PURPOSE], settings, task, pool)


def example_problems(pool: ExamplePool, variant: str, rater: str, what: str) -> list[str]:
    """Why a judge with these settings would be shown no examples; nothing where it is to have none."""
    if variant == "none" or pool.n_texts(rater):
        return []
    if rater and pool.raters:
        return [f"rater: nobody called {rater} gave {what}; there are {', '.join(pool.raters)}"]
    if rater and pool.n_texts():
        return ["rater: the ratings carry no rater; leave it out, and all ratings are shown"]
    return [f"examples: no text of the file has {what}; give a file with ratings, or choose none"]


def _trial(
    repeat: int, text: str, used: tuple[ExampleUsed, ...], answer: Answer[tuple[NamedError, ...]]
) -> ErrorTrial:
    if answer.value is None:
        return ErrorTrial(repeat, None, used, answer.reason or "invalid", answer.detail)
    locator = Locator(text)
    found = []
    for one in answer.value:
        place = locator.find(one.quote)
        found.append(FoundError(one.quote, one.severity, one.category, place.start, place.end, place.located))
    return ErrorTrial(repeat, tuple(found), used)
