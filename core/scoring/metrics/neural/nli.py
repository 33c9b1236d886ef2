"""Entailment by a cross-encoder for natural language inference, with the sentence-transformers library."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.scoring.metrics.neural.libraries import library
from core.scoring.metrics.neural.model import loaded, window
from core.scoring.metrics.scorer import ScoringPair


class NliModel:
    """The probability that a premise entails a hypothesis, in one direction or the smaller of both."""

    def __init__(self, place: Path, both_ways: bool, device: str, batch_size: int, metric: str) -> None:
        """Load the folder's model; which of its labels is entailment, its own configuration says."""
        encoder = library("sentence_transformers").CrossEncoder
        self._model: Any = loaded(
            lambda: encoder(str(place), device=device, local_files_only=True), metric, place
        )
        config = self._model.model.config
        self._entailment = _entailment(config.id2label, metric, place)
        self._model.tokenizer.model_max_length = window(config, self._model.tokenizer)
        self._both_ways, self._batch_size = both_ways, batch_size

    def numbers(self, pairs: Sequence[ScoringPair]) -> list[float]:
        """See Model. The premise is the reference; both ways, each is the premise once."""
        forward = [(str(pair.reference), pair.text) for pair in pairs]
        if not self._both_ways:
            return self._probabilities(forward)
        backward = [(text, reference) for reference, text in forward]
        both = self._probabilities(forward + backward)
        return [min(ways) for ways in zip(both[: len(pairs)], both[len(pairs) :], strict=True)]

    def _probabilities(self, pairs: list[tuple[str, str]]) -> list[float]:
        shares = self._model.predict(
            pairs, batch_size=self._batch_size, apply_softmax=True, show_progress_bar=False
        )
        return [float(share) for share in shares[:, self._entailment]]


def _entailment(labels: dict[int, str], metric: str, place: Path) -> int:
    found = [number for number, label in labels.items() if label.lower().startswith("entail")]
    if len(labels) < 2 or len(found) != 1:
        named = ", ".join(labels.values())
        raise InputError(
            f"{metric}: the model in {place} does not tell entailment: one of its labels must be that ({named})"
        )
    return found[0]
