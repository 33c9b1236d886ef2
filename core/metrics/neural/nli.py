"""Entailment by a cross-encoder for natural language inference, by the sentence-transformers library."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.metrics.neural.model import REFERENCE, NeuralFamily, Opened, library, loaded, window
from core.metrics.scorer import MetricSpec, ScoringPair
from core.schema.scores import Metric

NLI_MODEL = "cross-encoder/nli-deberta-v3-large"
"""English entailment model from CEF, section 5."""
ONE_WAY = "reference>text"
BOTH_WAYS = "reference>text,text>reference"


class EntailmentModel:
    """A cross-encoder in memory that gives the probability of each label for a premise and a hypothesis."""

    def __init__(self, place: Path, device: str, batch_size: int, user: str) -> None:
        """Load the folder's model; its configuration shows which label is entailment.

        user: the metric or judge that uses it, for messages.
        """
        encoder = library("sentence_transformers").CrossEncoder
        self._model: Any = loaded(
            lambda: encoder(str(place), device=device, local_files_only=True), user, place
        )
        config = self._model.model.config
        self.labels: tuple[str, ...] = tuple(config.id2label[number] for number in sorted(config.id2label))
        """Labels in the order of the probabilities."""
        self.entailment = _entailment(self.labels, user, place)
        """Position of the label for entailment."""
        self.window = window(config, self._model.tokenizer)
        """Most tokens of a pair; beyond it, the end of the longer text is not read."""
        self._model.tokenizer.model_max_length = self.window
        self._batch_size = batch_size

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """One row for each (premise, hypothesis), with one probability for each label; each row sums to 1."""
        if not pairs:
            return []
        shares = self._model.predict(
            list(pairs), batch_size=self._batch_size, apply_softmax=True, show_progress_bar=False
        )
        return [[float(share) for share in row] for row in shares]

    def is_cut(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """For each pair, whether it has more tokens than the model reads."""
        if not pairs:
            return []
        premises, hypotheses = map(list, zip(*pairs, strict=True))
        tokens = self._model.tokenizer(premises, hypotheses, truncation=False, padding=False)["input_ids"]
        return [len(each) > self.window for each in tokens]


class NliModel:
    """A model for the probability that a premise entails a hypothesis, in one direction or the smaller of both."""

    def __init__(self, place: Path, both_ways: bool, device: str, batch_size: int, metric: str) -> None:
        """Load the folder's model."""
        self._model = EntailmentModel(place, device, batch_size, metric)
        self._both_ways = both_ways

    def numbers(self, pairs: Sequence[ScoringPair]) -> list[float]:
        """See Model. The premise is the reference; for both ways, also the text."""
        forward = [(str(pair.reference), pair.text) for pair in pairs]
        if not self._both_ways:
            return self._probabilities(forward)
        backward = [(text, reference) for reference, text in forward]
        both = self._probabilities(forward + backward)
        return [min(ways) for ways in zip(both[: len(pairs)], both[len(pairs) :], strict=True)]

    def _probabilities(self, pairs: list[tuple[str, str]]) -> list[float]:
        return [shares[self._model.entailment] for shares in self._model.probabilities(pairs)]


def is_entailment(label: str) -> bool:
    """Whether a label in a model's configuration means entailment."""
    return label.lower().startswith("entail")


def _entailment(labels: Sequence[str], user: str, place: Path) -> int:
    found = [number for number, label in enumerate(labels) if is_entailment(label)]
    if len(labels) < 2 or len(found) != 1:
        named = ", ".join(labels)
        raise InputError(
            f"{user}: the model in {place} does not recognise entailment; its labels are {named}, expected one to be "
            "entailment"
        )
    return found[0]


def _nli(name: str, directions: str, combined: str, about: str) -> MetricSpec:
    signature = f"NLI|model:{NLI_MODEL}|premise>hypothesis:{directions}{combined}|score:p(entailment)"
    return MetricSpec(
        Metric(name, signature, "NLI"),
        "neural",
        {"model": NLI_MODEL, "directions": directions},
        REFERENCE,
        about=about,
    )


def _load(one: Opened, device: str, batch_size: int) -> NliModel:
    return NliModel(one.place, one.spec.parameters["directions"] == BOTH_WAYS, device, batch_size, one.name)


FAMILY = NeuralFamily(
    name="NLI",
    module="sentence_transformers",
    distribution="sentence-transformers",
    specs=(
        _nli(
            "nli",
            ONE_WAY,
            "",
            "Probability that the reference entails the text: the text adds nothing wrong.",
        ),
        _nli(
            "nli-both",
            BOTH_WAYS,
            "|combined:min",
            "The smaller of both directions of entailment: the text adds nothing wrong and leaves nothing out.",
        ),
    ),
    load=_load,
)
