"""BLEU of one text (Papineni et al. 2002), in two smoothings, from one count of word sequences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.schema.scores import Score
from core.scoring.metrics.lexical.ngrams import n_shared
from core.scoring.metrics.lexical.texts import ReadText

NO_WORDS = Score(None, "the text has no words")
NO_REFERENCE_WORDS = Score(None, "the reference has no words")


@dataclass(frozen=True)
class BleuSetting:
    """One configuration."""

    order: int
    smooth: Literal["add-1", "exp"]


@dataclass(frozen=True)
class BleuScores:
    """Scores of several configurations."""

    settings: Sequence[BleuSetting]

    def __call__(self, text: ReadText, reference: ReadText) -> list[Score]:
        """One score a configuration, in their order."""
        longest = max(setting.order for setting in self.settings)
        shared = _shared(text, reference, longest)
        length, reference_length = len(text.words), len(reference.words)
        scores = []
        for setting in self.settings:
            if setting.smooth == "exp":
                scores.append(Score(exponential(shared[: setting.order], length, reference_length)))
            elif not reference_length:
                scores.append(NO_REFERENCE_WORDS)
            elif not length:
                scores.append(NO_WORDS)
            else:
                scores.append(Score(add_one(shared[: setting.order], length, reference_length)))
        return scores


def add_one(shared: Sequence[int], length: int, reference_length: int) -> float:
    """Smoothed BLEU (Lin and Och 2004), with one added at every order: 0 to 1.

    shared: sequences of 1, 2, ... words that text and reference share; lengths in words, not 0. The geometric mean
    of (shared + 1) / (possible + 1), times exp(1 - reference length / length) where the text is not longer.
    Misleads on short texts: an order that the text is too short for counts as 1 of 1.
    """
    precisions = ((common + 1) / (max(length - order, 0) + 1) for order, common in enumerate(shared))
    mean = math.exp(sum(map(math.log, precisions)) / len(shared))
    return mean if length > reference_length else mean * math.exp(1 - reference_length / length)


def exponential(shared: Sequence[int], length: int, reference_length: int) -> float:
    """Sentence BLEU as sacrebleu has it: smoothing `exp` (NIST's), effective order; 0 to 100.

    The k-th order without a match counts as 1 / 2^k of a match; orders that the text is too short for are left out.
    0 where not one word is shared.
    """
    if not any(shared):
        return 0.0
    logs, halves = [], 1.0
    for order, common in enumerate(shared[:length]):
        if not common:
            halves *= 2
        possible = length - order
        logs.append(math.log(100 * common / possible if common else 100 / (halves * possible)))
    penalty = math.exp(1 - reference_length / length) if length < reference_length else 1.0
    return penalty * math.exp(sum(logs) / len(logs))


def _shared(text: ReadText, reference: ReadText, longest: int) -> list[int]:
    """Shared sequences of 1, 2, ... words; without one of a length there is none that is longer."""
    shared = [0] * longest
    for n in range(1, longest + 1):
        found = n_shared(text.ngrams("words", n), reference.ngrams("words", n))
        if not found:
            break
        shared[n - 1] = found
    return shared
