"""002's AutoMQM: a model marks the errors in a text, after it was shown how people marked others.

Source: 002, section 4.1 and appendix A. With examples of the text's own source it is the Specialist, with others one of
the paper's baselines, without any a plain error-marking judge. Its score is minus the MQM weights of its errors. Rules
are its Parrot, which repeats the errors of its examples.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from core.formats.spans.mqm import weight_of
from core.judges.automqm.errors import (
    ERROR_COLUMNS,
    FOUND_SHARE,
    NOT_IN_TEXT,
    AutoMqmRecord,
    ErrorReader,
    ErrorTrial,
    FoundError,
    NamedError,
    error_problems,
    error_rows,
    errors_schema,
    mean_of,
    occurrences,
    written_errors,
)
from core.judges.kind import (
    EMPTY_TEXT,
    FURTHEST_SCORE,
    MOST_TOKENS,
    TEMPERATURE,
    Bench,
    Judge,
    Judged,
    JudgeKind,
    Opened,
    tokens_in,
)
from core.judges.numbered import in_a_line
from core.judges.rated import (
    DRAWING_SEED,
    DRAWS,
    EXAMPLES,
    N_EXAMPLES,
    NOTHING,
    ONLY,
    RATER,
    ExamplePool,
    ExampleSettings,
    ExamplesFrom,
    ExampleUsed,
    ShownExample,
    Systems,
    check_examples,
    examples_in,
    given_in,
    languages_of,
    listed,
    nobody_rated,
    pool_problems,
    prompt_for,
    rated_signed,
    refuse_rated,
    task_attachment,
    task_of,
)
from core.llm.asking import Answer, Model
from core.llm.client import Request
from core.llm.defusing import defused
from core.llm.prompts import Example, Prompt
from core.schema.judging import RatedSet, RatedText
from core.schema.kinds import PromptSlot
from core.schema.runs import RULES
from core.schema.scores import ScorableOutput
from core.schema.settings import Remark, setting
from core.schema.tasks import RatingTask
from core.stats.degeneracy import Degeneracy
from core.study.rated.desk import SPAN_DIMENSION

PURPOSE = "mark-errors"
STEP = "mark errors"
PARROT = "parrot"
"""What the paper calls the baseline that repeats its examples' errors: the name of rules."""
AS_ABOVE = "(as above)"
NO_EXAMPLES = "no examples"
_NOBODY = nobody_rated("marked errors in a text")
_ROOM = 1_000
"""Tokens an answer may have besides those that quotes need."""


class AutoMqmSettings(ExampleSettings):
    """How AutoMQM marks errors."""

    MODEL_FREE: ClassVar[bool] = True

    examples: ExamplesFrom = EXAMPLES
    n_examples: int = N_EXAMPLES
    filtered: bool = setting(
        False,
        "Filter the examples",
        "leave out examples equal to the judged text, and errors on words that people marked in it, so that nothing "
        "can be copied that is right by itself",
    )
    rater: str = RATER
    only: Systems = ONLY
    occurrences: Literal["all", "first"] = setting(
        "all",
        "If a quoted phrase occurs more than once, mark",
        "what the Parrot marks where the words of an error occur more than once",
        words={"all": "every occurrence", "first": "the first occurrence"},
    )
    repeats: int = DRAWS
    temperature: float | None = TEMPERATURE
    seed: int = DRAWING_SEED

    @classmethod
    def offered(cls, backend: str) -> Mapping[str, tuple[str, ...]]:
        """The Parrot needs examples."""
        return {"examples": ("specialist", "shuffled", "fixed")} if backend == RULES else {}

    @property
    def dimension_scored(self) -> str:
        """See JudgeSettings."""
        return SPAN_DIMENSION

    def prompts(self, *, by_rules: bool) -> tuple[PromptSlot, ...]:
        """One, unless it is the Parrot."""
        return () if by_rules else (PromptSlot(PURPOSE, "mark-errors"),)

    def problems(self, backend: str) -> Iterator[Remark]:
        """See KindSettings."""
        if backend == RULES and not self.shows_examples:
            yield Remark("examples", "none leaves the Parrot nothing to repeat; choose others, or a model")
        yield from super().problems(backend)

    def called(self, name: str, *, by_rules: bool) -> tuple[str, ...]:
        """See JudgeSettings."""
        if not by_rules:
            return super().called(name, by_rules=by_rules)
        first, *others = super().called(PARROT, by_rules=by_rules)
        return (first, *self.unusual("occurrences"), *others)

    def named_whole(self, *, by_rules: bool) -> bool:
        """The Parrot has no model."""
        return by_rules

    def idle(self, backend: str) -> frozenset[str]:
        """What only the Parrot or only a model uses, and how examples are drawn where there are none, or all are shown."""
        by_rules = backend == RULES
        without = {"temperature" if by_rules else "occurrences"}
        if by_rules and self.examples == "specialist" and not self.n_examples:
            without |= {"seed", "repeats"}
        return super().idle(backend) | without

    def ignored(self, backend: str) -> frozenset[str]:
        """Repeats give as many equal answers, and a remark says so."""
        return self.idle(backend) - {"repeats"}


class AutoMqmJudge:
    """Asks a model for the errors of a text, once for every draw of examples."""

    def __init__(
        self, model: Model, prompt: Prompt, settings: AutoMqmSettings, task: RatingTask, pool: ExamplePool
    ) -> None:
        """task: one that asks for error spans. pool: of errors, over the run's texts."""
        assert task.spans is not None
        self._model, self._prompt, self._settings = model, prompt, settings
        self._asked, self._task, self._pool = task, task.spans, pool

    async def judge(self, text: RatedText) -> Judged:
        """The mean over the repeats of minus the MQM weights; a repeat without a usable answer is left out of it.

        An answer that quotes what is not in the text, or invents a category, is asked again; after the last attempt the best
        one counts without the errors that were not found, if at least FOUND_SHARE of its quotes were.

        A text with nothing to read is not judged; one without a source is judged by itself. Misleads where weights do:
        a long text can lose more than a short one.
        """
        if not text.output.text.strip():
            return Judged.without_asking(EMPTY_TEXT)
        asked = await asyncio.gather(*(self._trial(text, n) for n in range(self._settings.repeats)))
        trials = tuple(trial for trial, _ in asked)
        mean = None if all(trial.errors is None for trial in trials) else mean_of(trials)
        temporary = any(passing for _, passing in asked)
        return Judged.in_trials(STEP, mean, AutoMqmRecord(trials), temporary=temporary)

    async def _trial(self, text: RatedText, repeat: int) -> tuple[ErrorTrial, bool]:
        """One draw of examples, and whether a failure was temporary."""
        chosen = self._settings
        examples = chosen.draw(self._pool, text, repeat)
        shown, used = self._turns(examples)
        said = defused(text.output.text, [self._prompt])
        request = Request(
            STEP,
            replace(self._prompt, examples=self._prompt.examples + shown).messages(
                **self._variables(text.output, said)
            ),
            max_tokens=min(_ROOM + 2 * tokens_in(said), MOST_TOKENS),
            temperature=chosen.temperature,
            seed=chosen.seed + repeat,
            schema=errors_schema(self._task.severities, said),
        )
        offered = [*self._task.categories, *(span.category for one in examples for _, span in one.errors)]
        reader = ErrorReader(said, self._task.severities, offered)
        answer = await self._model.ask(request, reader.read)
        if answer.value is None and reader.best is not None and not answer.temporary:
            answer = Answer(reader.best, attempts=answer.attempts)
        return _trial(repeat, used, answer), answer.temporary

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
            "source": given_in(output, self._asked, self._prompt),
            "text": said,
            **languages_of(output, self._prompt),
            "severities": ("\n" if self._task.meanings else ", ").join(map(named, self._task.severities)),
            "categories": "\n".join(map(named, self._task.categories)) or NOTHING,
        }


def _trial(repeat: int, used: tuple[ExampleUsed, ...], answer: Answer[tuple[FoundError, ...]]) -> ErrorTrial:
    if answer.value is None:
        return ErrorTrial(repeat, None, used, answer.reason or "invalid", answer.detail)
    return ErrorTrial(repeat, answer.value, used)


class Parrot:
    """002's baseline that asks nobody and only repeats the errors of its examples.

    Source: 002, section 5.4.2. How far a specialist gets beyond it is what copying cannot explain. The paper leaves open
    what a matching span is; the rule here: for every distinct (words, severity, category) among the examples' errors,
    every occurrence of the words in the text is an error of that severity and category (or only the first, as the
    settings say). An occurrence is the same code points, in the same case, inside words too; occurrences of the same
    words do not overlap. Errors that mark no words are never repeated.
    """

    def __init__(self, settings: AutoMqmSettings, pool: ExamplePool) -> None:
        self._settings, self._pool = settings, pool

    async def judge(self, text: RatedText) -> Judged:
        """Minus the weights of the errors that are repeated, the mean of the draws of examples.

        A text without any example has no score: nothing to repeat is not the same as nothing wrong.
        """
        if not text.output.text.strip():
            return Judged.without_asking(EMPTY_TEXT)
        trials = tuple(self._trial(text, repeat) for repeat in range(self._settings.repeats))
        if all(trial.errors is None for trial in trials):
            return Judged.without_asking(NO_EXAMPLES)
        return Judged((mean_of(trials),), AutoMqmRecord(trials))

    def _trial(self, text: RatedText, repeat: int) -> ErrorTrial:
        examples = self._settings.draw(self._pool, text, repeat)
        if not examples:
            return ErrorTrial(repeat, None, reason=NO_EXAMPLES)
        shown = ((quote, span) for one in examples for quote, span in one.errors)
        distinct = dict.fromkeys((quote, span.severity, span.category) for quote, span in shown)
        found = []
        for quote, severity, category in distinct:
            places = occurrences(quote, text.output.text)
            places = places[:1] if self._settings.occurrences == "first" else places
            found += [FoundError(quote, severity, category, *place) for place in places]
        found.sort(key=lambda error: (error.start or 0, error.end or 0))
        return ErrorTrial(repeat, tuple(found), tuple(one.used for one in examples))


def _open(settings: AutoMqmSettings, bench: Bench) -> Opened:
    task = task_of(bench)
    pool = settings.pool(bench.texts, task)
    refuse_rated([*_task_problems(task), *pool_problems(settings, pool, _NOBODY)], settings)

    def judge(model: Model | None) -> Judge:
        if model is None:
            refuse_rated(list(settings.problems(RULES)), settings)
            return Parrot(settings, pool)
        return AutoMqmJudge(model, prompt_for(bench, PURPOSE), settings, task, pool)

    return judge


def _check(settings: AutoMqmSettings, bench: Bench, rated: RatedSet, by_rules: bool) -> tuple[Remark, ...]:
    task = task_of(bench)
    pool = settings.pool(rated.texts, task)
    refuse_rated(_task_problems(task), settings)
    marked = pool.severities(settings.rater) if settings.shows_examples else {}
    unusable = _unusable(marked, task, by_rules=by_rules)
    wrong, remarks = [], []
    if unusable:
        what = (
            "have a severity without an MQM weight: a text in which the Parrot repeats one gets no score"
            if by_rules
            else "have a severity that the task lacks: no model is shown them"
        )
        values = {
            "severities": listed(list(unusable)),
            "n": f"{sum(unusable.values()):,}",
            "of": f"{sum(marked.values()):,}",
        }
        if unusable == marked:
            mend = "choose a task with these severities, or rename them in the file"
            wrong = [Remark("task", f"all errors marked in the file ({{severities}}) {what}; {mend}", values)]
        remarks = [
            Remark("", f"{{n}} of the {{of}} errors marked in examples ({{severities}}) {what}", values)
        ]
    return check_examples(settings, pool, rated, by_rules, _NOBODY, wrong, remarks)


def _task_problems(task: RatingTask) -> list[Remark]:
    text = "{name} marks no errors, which is what this judge does; choose mqm"
    return [] if task.spans is not None else [Remark("task", text, {"name": task.name})]


def _unusable(marked: Mapping[str, int], task: RatingTask, *, by_rules: bool) -> dict[str, int]:
    """Severity -> errors in examples that the Parrot cannot weigh, or that no model is shown, as the task lacks it."""
    if by_rules:
        return {one: n for one, n in marked.items() if weight_of("", one) is None}
    assert task.spans is not None
    offered = {one.casefold() for one in task.spans.severities}
    return {one: n for one, n in marked.items() if one.casefold() not in offered}


def _shortfalls(records: Sequence[AutoMqmRecord], _: Mapping[str, object]) -> Iterator[Degeneracy]:
    """Quotes that are not in the text, answers rejected for them, and categories that nobody offered."""
    trials = [trial for record in records for trial in record.trials]
    errors = [error for trial in trials for error in trial.errors or ()]
    quoting = [error for error in errors if error.located != "nothing quoted"]
    lost = sum(error.located == "not found" for error in quoting)
    if lost:
        sentence = (
            f"Quotes not found: {lost:,} of {len(quoting):,} are not in the text, and count in no score."
        )
        yield Degeneracy("not found", lost, len(quoting), sentence)
    rejected = sum(trial.reason == NOT_IN_TEXT for trial in trials)
    if rejected:
        sentence = (
            f"Quotes not found: {rejected:,} of {len(trials):,} answers were rejected, because fewer than "
            f"{FOUND_SHARE:.0%} of their quotes are in the text."
        )
        yield Degeneracy("not found", rejected, len(trials), sentence)
    invented = sum(not error.offered for error in errors)
    if invented:
        sentence = (
            f"Invented categories: {invented:,} of {len(errors):,} errors have one that nobody offered."
        )
        yield Degeneracy("invented", invented, len(errors), sentence)


KIND = JudgeKind(
    name="automqm",
    title="Marked errors (AutoMQM)",
    family="AutoMQM",
    summary="errors marked in each text, with severity and category; examples are other systems' rated texts",
    section="specialist-automqm",
    reads="rated texts",
    Settings=AutoMqmSettings,
    attachment=task_attachment("mqm", "severities and categories"),
    does="marks errors; rules: the Parrot, which repeats its examples' errors",
    Record=AutoMqmRecord,
    reports=frozenset({"accuracy", "agreement", "copying", "examples", "raters", "spans"}),
    open=_open,
    check=_check,
    also_signed=rated_signed,
    details=error_rows,
    detail_columns=ERROR_COLUMNS,
    record_problems=error_problems,
    score_bounds=lambda _: (-FURTHEST_SCORE, 0.0),
    shortfalls=_shortfalls,
    rules=(
        "The Parrot: no model, no cost. It marks the words of its examples' errors wherever they occur in the text, "
        "letter by letter. A specialist has to beat what copying alone reaches."
    ),
    suits=lambda task, _: task.spans is not None,
    in_file=examples_in,
    marks_errors=True,
)
