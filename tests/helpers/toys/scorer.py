"""A small scorer whose numbers can be told by eye, that breaks where a test wants it to; picklable for processes."""

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import InputError
from core.metrics.scorer import ScoringPair
from core.schema.scores import Metric, Score

BREAKS, DIES, NO_NUMBER, NO_MODEL = "breaks", "dies", "no number", "no model"
"""Texts that raise, end the process, give NaN, and meet a model that is not there."""


@dataclass
class ToyScorer:
    """`words`: how many the text has; `shared`: how many different ones the reference has too."""

    names: tuple[str, ...] = ("words", "shared")
    version: str = "1"
    seconds: float = 0.0
    """For one text."""
    batches: list[int] = field(default_factory=list)
    """How many texts each call was given."""

    @property
    def metrics(self) -> tuple[Metric, ...]:
        return tuple(Metric(name, f"{name}|version:{self.version}", "TOY") for name in self.names)

    def score(self, pairs: Sequence[ScoringPair]) -> list[tuple[Score, ...]]:
        self.batches.append(len(pairs))
        time.sleep(self.seconds * len(pairs))
        return [tuple(self._score(name, pair) for name in self.names) for pair in pairs]

    def _score(self, name: str, pair: ScoringPair) -> Score:
        if pair.text == BREAKS:
            raise ZeroDivisionError("by nothing")
        if pair.text == DIES:
            os._exit(1)
        if pair.text == NO_MODEL:
            raise InputError("There is no such model: tiny.")
        if pair.text == NO_NUMBER:
            return Score(math.nan)
        if name == "words":
            return Score(float(len(pair.text.split())))
        if pair.reference is None:
            return Score(None, "no reference")
        return Score(float(len(set(pair.text.split()) & set(pair.reference.split()))))


def open_toy(
    names: tuple[str, ...] = ("words", "shared"), version: str = "1", seconds: float = 0.0
) -> ToyScorer:
    """As a worker process opens it."""
    return ToyScorer(names, version, seconds)
