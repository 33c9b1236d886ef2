"""COMET (Rei et al. 2020) by the unbabel-comet library: a regression from source, text and reference, or without it."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.scoring.metrics.neural.libraries import library
from core.scoring.metrics.neural.model import loaded
from core.scoring.metrics.neural.model_files import comet_settings
from core.scoring.metrics.scorer import ScoringPair

WITHOUT_REFERENCE = "referenceless_regression_metric"
EITHER = ("unified_metric", "xcomet_metric")
"""Classes that work with and without a reference."""


def check_comet(checkpoint: Path, needs: frozenset[str], metric: str) -> None:
    """Raise InputError where the model reads other texts than the metric offers it."""
    settings = comet_settings(checkpoint)
    kind = settings["class_identifier"]
    if kind in EITHER:
        if settings.get("input_segments") == ["mt", "ref"] and "reference" not in needs:
            raise InputError(f"{metric}: the model needs a reference, the metric has none")
    elif (kind == WITHOUT_REFERENCE) == ("reference" in needs):
        has, wants = ("no reference", "one") if kind == WITHOUT_REFERENCE else ("a reference", "none")
        raise InputError(f"{metric}: the model reads {has}, the metric is for models that read {wants}")


class CometModel:
    """A checkpoint of COMET's."""

    def __init__(
        self, checkpoint: Path, needs: frozenset[str], device: str, batch_size: int, metric: str
    ) -> None:
        """Load a checkpoint. needs: the texts that the metric passes on."""
        comet = library("comet")
        self._reference = "reference" in needs
        self._batch_size = batch_size
        self._model: Any = loaded(
            lambda: comet.load_from_checkpoint(str(checkpoint), local_files_only=True), metric, checkpoint
        )
        number = device.partition(":")[2]
        self._where: dict[str, Any] = (
            {"gpus": 0}
            if device == "cpu"
            else {"gpus": 1, "devices": [int(number or 0)], "accelerator": "gpu"}
        )

    def numbers(self, pairs: Sequence[ScoringPair]) -> list[float]:
        """See Model."""
        samples = [
            {"src": pair.source, "mt": pair.text} | ({"ref": pair.reference} if self._reference else {})
            for pair in pairs
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about workers that would not help batches this small
            made = self._model.predict(
                samples, batch_size=self._batch_size, progress_bar=False, num_workers=0, **self._where
            )
        return [float(score) for score in made.scores]
