"""ROUGE-N and ROUGE-L of one text (Lin 2004), as rouge-score computes them: F1, words in small letters."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from core.schema.scores import Score
from core.scoring.metrics.lexical.ngrams import n_shared
from core.scoring.metrics.lexical.texts import ReadText


@dataclass(frozen=True)
class RougeSetting:
    """One configuration."""

    n: int | None
    """Words in a sequence; None: the longest common subsequence."""
    words: str
    """Which list of words of a ReadText."""


@dataclass(frozen=True)
class RougeScores:
    """Scores of several configurations."""

    settings: Sequence[RougeSetting]

    def __call__(self, text: ReadText, reference: ReadText) -> list[Score]:
        """One score a configuration, in their order."""
        return [Score(_score(setting, text, reference)) for setting in self.settings]


def _score(setting: RougeSetting, text: ReadText, reference: ReadText) -> float:
    """F1, 0 to 1. 0 where either has no sequence to compare, as rouge-score has it."""
    kind, n = setting.words, setting.n or 1
    if setting.n is None:
        shared = _longest_common(text.of_kind(kind), reference.of_kind(kind))
    else:
        shared = n_shared(text.ngrams(kind, n), reference.ngrams(kind, n))
    if not shared:
        return 0.0
    precision = shared / (len(text.of_kind(kind)) - n + 1)
    recall = shared / (len(reference.of_kind(kind)) - n + 1)
    return 2 * precision * recall / (precision + recall)


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence. rapidfuzz compares hashes: numbered words cannot collide."""
    number = {word: place for place, word in enumerate(second)}
    ours = [number[word] for word in first if word in number]
    return int(LCSseq.similarity(ours, [number[word] for word in second])) if ours else 0
