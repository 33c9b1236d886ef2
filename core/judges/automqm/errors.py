"""Errors that a judge names in a text: its record, and its score, which weighs them as people's errors are weighed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.datasets.checked_json import written
from core.datasets.mqm_weights import weight_of
from core.judges.automqm.quotes import Located
from core.judges.examples import ExampleUsed
from core.judges.rated import example_problems
from core.judges.record_checks import trial_problems
from core.schema.scores import Score

NO_TRIAL = "no trial gave a list of errors"
ERROR_COLUMNS = (
    "what",
    "repeat",
    "quote",
    "severity",
    "category",
    "start",
    "end",
    "located",
    "examples",
    "why",
    "reason",
)
"""Of details.csv. what: error, no error, or trial where no usable answer came; start, end: in code points of the text,
end exclusive; examples: texts that the judge was shown."""
FOUND_SHARE = 0.5
"""Of the errors that quote words, the share whose words have to stand in the text: below it the answer has no use."""
_DECIMALS = 9  # as the sums of people's errors are rounded


@dataclass(frozen=True)
class FoundError:
    """An error that a judge names, and where it stands in the text."""

    quote: str
    """As the judge wrote it; empty: it names nothing that stands there, such as an omission."""
    severity: str
    category: str
    start: int | None = None
    """In code points of the text; None: it was not found there."""
    end: int | None = None
    """Exclusive."""
    located: Located = "exact"
    """How the quote was found."""
    offered: bool = True
    """Whether the category is one of the task's or of the examples'; runs of before did not look."""


@dataclass(frozen=True)
class ErrorTrial:
    """The error-marking judge asked once."""

    repeat: int
    """From 0; each draws its examples anew where they are drawn at random."""
    errors: tuple[FoundError, ...] | None
    """None: no usable answer came; empty: it found none."""
    examples: tuple[ExampleUsed, ...] = ()
    reason: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class AutoMqmRecord:
    """All that the error-marking judge said of one text."""

    trials: tuple[ErrorTrial, ...]


def weight_in_text(error: FoundError) -> float | None:
    """What the error takes off the score: nothing where its words are not in the text; None: its severity has no weight."""
    weight = weight_of(error.category, error.severity)
    return 0.0 if weight is not None and error.located == "not found" else weight


def found_share(errors: Sequence[FoundError]) -> float:
    """Of the errors that quote words, the share whose words are in the text; 1 where none quotes any."""
    quoting = [one for one in errors if one.located != "nothing quoted"]
    return sum(one.located != "not found" for one in quoting) / len(quoting) if quoting else 1.0


def score_of_errors(errors: Sequence[FoundError]) -> Score:
    """Minus the weights (`core.datasets.mqm_weights`) of the errors, 0 for none; higher is better, without a lower end.

    An error counts wherever its words stand, and where it quotes none; one whose words are not in the text does not.
    Without a value, and with the reason, where a severity has no weight.
    """
    weights = [weight_in_text(one) for one in errors]
    if None in weights:
        severity = errors[weights.index(None)].severity
        return Score(None, f"an error of severity {severity} has no MQM weight")
    return Score(0.0 - round(math.fsum(weight for weight in weights if weight is not None), _DECIMALS))


def mean_of(trials: Sequence[ErrorTrial]) -> Score:
    """The mean score of the trials that gave errors; those without are left out of it."""
    scores = [score_of_errors(trial.errors) for trial in trials if trial.errors is not None]
    values = [score.value for score in scores if score.value is not None]
    if values:
        return Score(math.fsum(values) / len(values))
    reasons = [score.reason for score in scores] + [trial.reason for trial in trials]
    return Score(None, next((reason for reason in reasons if reason), NO_TRIAL))


def error_rows(record: AutoMqmRecord) -> Iterator[dict[str, Any]]:
    """Rows of details.csv: one an error, and one a trial without any."""
    for trial in record.trials:
        about = {"repeat": trial.repeat, "examples": len(trial.examples)}
        if trial.errors is None:
            yield about | {"what": "trial", "why": trial.detail, "reason": trial.reason}
        elif not trial.errors:
            yield about | {"what": "no error"}
        for error in trial.errors or ():
            yield about | {
                "what": "error",
                "quote": error.quote,
                "severity": error.severity,
                "category": error.category,
                "start": error.start,
                "end": error.end,
                "located": error.located,
            }


def error_problems(record: AutoMqmRecord, text: str | None) -> Iterator[str]:
    """What no record can hold; see JudgeKind.record_problems."""
    yield from trial_problems("trials", record.trials, "repeat")
    for n, trial in enumerate(record.trials, start=1):
        yield from example_problems(f"trials, {n}, examples", trial.examples)
        for at, error in enumerate(trial.errors or (), start=1):
            if problem := _place_problem(error, text):
                yield f"trials, {n}, errors, {at}: {problem}"


def _place_problem(error: FoundError, text: str | None) -> str | None:
    """Why an error stands nowhere that it could; None: it does."""
    found = error.located in ("exact", "nearest")
    if error.start is None or error.end is None:
        if error.start is not None or error.end is not None:
            return "start and end are only there together"
        return "start is missing, of an error that was found" if found else None
    if not found:
        return f"start is {written(error.start)}, of an error that was not found"
    if not 0 <= error.start <= error.end:
        return f"start and end ({written(error.start)}, {written(error.end)}) are not two places in order"
    if text is not None and error.end > len(text):
        return f"end is {written(error.end)}, and the text has {len(text)} characters"
    return None
