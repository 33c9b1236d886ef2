"""The errors that a judge marked, as ratings: what stands beside the errors that people marked."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.datasets.mqm_weights import score_of
from core.datasets.reading import shown
from core.errors import InputError
from core.judges.automqm import judge as automqm
from core.judges.automqm.errors import AutoMqmRecord, ErrorTrial, FoundError, weight_in_text
from core.judges.automqm.quotes import Located
from core.schema.judging import JudgedText, JudgeOutput
from core.schema.scores import ErrorSpan, Rating, RatingSet

DIMENSION = "mqm"
NOT_ASKED, FAILED, NO_DRAW = "not asked", "no usable answer", "not asked so often"


@dataclass(frozen=True)
class Locating:
    """How the errors that a judge named were found in its texts, over all texts and repeats."""

    n_texts: int
    """With at least one usable answer."""
    n_errors: int
    located: Mapping[Located, int]
    """How -> errors. `not found` and `nothing quoted` mark no character; `not found` is not in the MQM score either."""


def n_draws(output: JudgeOutput) -> int:
    """How often the judge was asked of a text, at most. Raises InputError for a judge of another kind."""
    return max((trial.repeat + 1 for _, trials in _trials(output) for trial in trials), default=0)


def ratings_of_judge(output: JudgeOutput, repeat: int | None = None) -> RatingSet:
    """One rating a text that the judge answered of: the judge is the rater, the score minus the MQM weights.

    repeat: from 0; None: every repeat a rating of its own, by raters NAME, NAME repeat 2 ... Errors that stand nowhere
    in the text have spans of no length. Texts without a usable answer are left out and counted. Raises InputError for a
    judge that marks no errors, and where nothing is left.
    """
    left_out: Counter[str] = Counter()
    ratings: list[Rating] = []
    for text, trials in _trials(output):
        wanted = [trial for trial in trials if repeat is None or trial.repeat == repeat]
        usable = [trial for trial in wanted if trial.errors is not None]
        ratings += [
            _rating(_rater(output.name, trial, apart=repeat is None), text, trial) for trial in usable
        ]
        if not usable:
            left_out[_why(text, trials, wanted)] += 1
    if not ratings:
        why = "; ".join(f"{reason}: {count:,}" for reason, count in left_out.items()) or "it has no texts"
        raise InputError(f"{shown(output.name)} marked errors in no text ({why}).")
    notes = _notes(output, ratings)
    return RatingSet(tuple(ratings), "", output.name, notes, dict(left_out))


def draws_of_judge(output: JudgeOutput) -> tuple[RatingSet, ...]:
    """A set of ratings a repeat, each by the judge's own name; repeats that failed on every text are left out.

    A note of the first set names them. Raises InputError as `ratings_of_judge` does, where no repeat has an answer.
    """
    usable = sorted(
        {trial.repeat for _, trials in _trials(output) for trial in trials if trial.errors is not None}
    )
    first, *further = [ratings_of_judge(output, repeat) for repeat in usable or [0]]
    failed = [repeat + 1 for repeat in range(n_draws(output)) if repeat not in usable]
    if failed:
        note = f"{shown(output.name)} gave no usable answer in repeat {', '.join(map(str, failed))}, which is left out"
        first = replace(first, notes=(*first.notes, note))
    return (first, *further)


def locating(output: JudgeOutput) -> Locating:
    """Counts of how the judge's quotes were found. Raises InputError for a judge that marks no errors."""
    usable = [
        [error for trial in trials for error in trial.errors or ()]
        for _, trials in _trials(output)
        if any(trial.errors is not None for trial in trials)
    ]
    found = Counter(error.located for errors in usable for error in errors)
    return Locating(len(usable), sum(found.values()), dict(found))


def span_of(error: FoundError) -> ErrorSpan:
    """The error as a span with its weight; of no length where it stands nowhere in the text. See weight_in_text."""
    start, end = (0, 0) if error.start is None or error.end is None else (error.start, error.end)
    return ErrorSpan(start, end, error.severity, error.category, weight_in_text(error))


def _trials(output: JudgeOutput) -> list[tuple[JudgedText, tuple[ErrorTrial, ...]]]:
    if output.kind != automqm.KIND.name:
        raise InputError(
            f"{shown(output.name)} is a judge of the kind {output.kind}, which marks no errors: name one of the kind "
            f"{automqm.KIND.name}."
        )
    return [
        (text, text.record.trials if isinstance(text.record, AutoMqmRecord) else ()) for text in output.texts
    ]


def _rater(judge: str, trial: ErrorTrial, *, apart: bool) -> str:
    """apart: whether repeats are raters of their own."""
    return f"{judge} repeat {trial.repeat + 1}" if apart and trial.repeat else judge


def _rating(rater: str, text: JudgedText, trial: ErrorTrial) -> Rating:
    spans = tuple(span_of(error) for error in trial.errors or ())
    row = text.row
    return Rating(
        row.item_id,
        score_of(spans),
        row.system,
        row.level,
        rater,
        DIMENSION,
        row.language,
        row.labels,
        spans,
    )


def _why(text: JudgedText, trials: tuple[ErrorTrial, ...], wanted: list[ErrorTrial]) -> str:
    """Why the text has no rating: of a failed trial its reason."""
    if wanted:
        return next((trial.reason for trial in wanted if trial.reason), FAILED)
    return NO_DRAW if trials else next(iter(text.reasons.values()), NOT_ASKED)


def _notes(output: JudgeOutput, ratings: list[Rating]) -> tuple[str, ...]:
    empty = sum(span.start == span.end for rating in ratings for span in rating.spans or ())
    if not empty:
        return ()
    return (f"{empty:,} errors of {shown(output.name)} stand nowhere in their text: they mark no character",)
