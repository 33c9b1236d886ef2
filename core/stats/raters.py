"""Raters as a sample: how much of a mean vote is due to these raters, these questions, and chance."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of a single vote (-1 comparator, 0 tie, +1 candidate), each at least 0.

    vote = mean + rater + question + rater x question + pair (a level of a question) + residual. The mean vote of J
    raters on n questions of L pairs, with k of the raters a pair (whole questions are dealt), has the variance
    rater / J + question / n + rater_question / (n k) + pair / (n L) + residual / (n L k).
    """

    rater: float
    question: float
    rater_question: float
    pair: float
    residual: float
