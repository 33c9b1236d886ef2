"""From a judge's errors to its score: minus their MQM weights, as people's errors are scored."""

import math
from collections.abc import Sequence

from core.datasets.mqm_weights import weight_of
from core.schema.judges import ErrorTrial, FoundError
from core.schema.scores import Score

_DECIMALS = 9  # as the sums of people's errors are rounded

NO_TRIAL = "no trial gave a list of errors"


def score_of_errors(errors: Sequence[FoundError]) -> Score:
    """Minus the weights (`core.datasets.mqm_weights`) of the errors, 0 for none; higher is better, without a lower end.

    An error counts wherever its words stand, and where they were not found too. Without a value, and with the reason,
    where a severity has no weight.
    """
    weights = [weight_of(one.category, one.severity) for one in errors]
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
