"""BLEURT (Sellam et al. 2020) by the bleurt-pytorch library, with its checkpoints converted from TensorFlow."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.metrics.neural.model import REFERENCE, NeuralFamily, Opened, library, loaded, window
from core.metrics.scorer import MetricSpec, ScoringPair
from core.schema.scores import Metric


class BleurtModel:
    """A regression model that reads reference and text together."""

    def __init__(self, place: Path, length: int, device: str, batch_size: int, metric: str) -> None:
        """Load the folder's model. length: most tokens of both texts together."""
        bleurt = library("bleurt_pytorch")
        config = loaded(lambda: bleurt.BleurtConfig.from_pretrained(place), metric, place)
        if config.num_labels != 1:
            raise InputError(
                f"{metric}: the model in {place} gives {config.num_labels} numbers, expected one"
            )
        self._tokenizer = loaded(lambda: bleurt.BleurtTokenizer.from_pretrained(place), metric, place)
        model = loaded(
            lambda: bleurt.BleurtForSequenceClassification.from_pretrained(place, config=config),
            metric,
            place,
        )
        self._model: Any = model.to(device).eval()
        self._length = min(length, window(config, self._tokenizer))
        self._device, self._batch_size = device, batch_size

    def numbers(self, pairs: Sequence[ScoringPair]) -> list[float]:
        """See Model. Batches texts of similar length, for less padding."""
        order = sorted(range(len(pairs)), key=lambda place: _letters(pairs[place]))
        numbers = [0.0] * len(pairs)
        for start in range(0, len(order), self._batch_size):
            places = order[start : start + self._batch_size]
            for place, number in zip(places, self._batch([pairs[each] for each in places]), strict=True):
                numbers[place] = number
        return numbers

    def _batch(self, pairs: Sequence[ScoringPair]) -> list[float]:
        inputs = self._tokenizer(
            [str(pair.reference) for pair in pairs],
            [pair.text for pair in pairs],
            padding="longest",
            truncation="longest_first",
            max_length=self._length,
            return_tensors="pt",
        )
        with library("torch").inference_mode():
            logits = self._model(**inputs.to(self._device)).logits
        return [float(number) for number in logits.flatten().tolist()]


def _letters(pair: ScoringPair) -> int:
    return len(pair.text) + len(pair.reference or "")


def _bleurt(name: str, checkpoint: str, length: int, label: str, about: str) -> MetricSpec:
    model = f"lucadiliello/{checkpoint}"
    return MetricSpec(
        Metric(name, f"BLEURT|model:{model}|length:{length}", "BLEURT"),
        "neural",
        {"model": model, "length": length},
        REFERENCE,
        of_paper=True,
        aliases=(f"BLEURT {label}", model, f"bleurt(checkpoint={checkpoint})"),
        about=about,
    )


def _load(one: Opened, device: str, batch_size: int) -> BleurtModel:
    return BleurtModel(one.place, int(str(one.spec.parameters["length"])), device, batch_size, one.name)


FAMILY = NeuralFamily(
    name="BLEURT",
    module="bleurt_pytorch",
    distribution="bleurt-pytorch",
    specs=(
        _bleurt("bleurt-20-d12", "BLEURT-20-D12", 512, "20-D12", "Multilingual, 12 layers; about 0 to 1."),
        _bleurt(
            "bleurt-base-512", "bleurt-base-512", 512, "base-512", "English BERT-base, up to 512 tokens."
        ),
        _bleurt(
            "bleurt-large-512", "bleurt-large-512", 512, "large-512", "English BERT-large, up to 512 tokens."
        ),
        _bleurt(
            "bleurt-tiny-128", "bleurt-tiny-128", 128, "tiny-128", "English, 2 layers, up to 128 tokens."
        ),
    ),
    load=_load,
)
