"""What an MQM error takes off a segment's score.

Freitag et al. 2021, "Experts, Errors, and Context", as 002 uses it: major 5, minor 1, minor punctuation 0.1,
non-translation 25, neutral 0. As in the published scores of WMT23, issues of the source and creative reinterpretations
weigh nothing, whatever their severity; what is called a source error in 2021 weighs as other errors do, as in the
published scores of that year. Critical, which none of these ratings has, weighs 25 as in GEMBA-MQM.
"""

import math
from collections.abc import Iterable

import regex

from core.schema.scores import ErrorSpan

WEIGHTS = {"critical": 25.0, "major": 5.0, "minor": 1.0, "neutral": 0.0}
MINOR_PUNCTUATION = 0.1
NON_TRANSLATION_WEIGHT = 25.0

_NON_TRANSLATION = "non-translation"
_DECIMALS = 9  # of a sum of weights: more than any weight has, fewer than rounding spoils
_PUNCTUATION = regex.compile(r"(fluency/)?punctuation")
_WEIGHTLESS = regex.compile(r"source issue|(accuracy/)?creative reinterpretation")
_NO_ERROR = regex.compile(r"no[ -]?error")


def is_no_error(category: str, severity: str) -> bool:
    """Whether a row says that there is no error."""
    return any(_NO_ERROR.fullmatch(word.lower()) for word in (category, severity))


def is_non_translation(category: str) -> bool:
    """Whether an error is that the text is no translation at all."""
    return category.lower().startswith(_NON_TRANSLATION)


def weight_of(category: str, severity: str) -> float | None:
    """The weight of an error; None: the severity is none that has one."""
    category, severity = category.lower(), severity.lower()
    if severity not in WEIGHTS:
        return None
    if is_non_translation(category):
        return NON_TRANSLATION_WEIGHT
    if _WEIGHTLESS.fullmatch(category):
        return 0.0
    if severity == "minor" and _PUNCTUATION.fullmatch(category):
        return MINOR_PUNCTUATION
    return WEIGHTS[severity]


def score_of(spans: Iterable[ErrorSpan]) -> float:
    """Minus the weights of a text's errors, those in the source too; ten of .1 are 1, in whatever order they stand."""
    return 0.0 - round(math.fsum(span.weight or 0.0 for span in spans), _DECIMALS)
