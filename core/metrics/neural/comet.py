"""COMET (Rei et al. 2020) by the unbabel-comet library: a regression from source and text, with or without reference."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.metrics.neural.model import (
    BOTH,
    SOURCE,
    ModelFiles,
    Needs,
    NeuralFamily,
    Opened,
    comet_settings,
    library,
    loaded,
)
from core.metrics.scorer import MetricSpec, ScoringPair
from core.schema.scores import Metric

WITHOUT_REFERENCE = "referenceless_regression_metric"
EITHER = ("unified_metric", "xcomet_metric")
"""Classes that work with and without a reference."""


def check_comet(checkpoint: Path, needs: frozenset[str], metric: str) -> None:
    """Raise InputError if the model needs other texts than the metric provides."""
    settings = comet_settings(checkpoint)
    kind = settings["class_identifier"]
    if kind in EITHER:
        if settings.get("input_segments") == ["mt", "ref"] and "reference" not in needs:
            raise InputError(f"{metric}: the model needs a reference, but the metric provides none")
    elif (kind == WITHOUT_REFERENCE) == ("reference" in needs):
        has, wants = ("no reference", "one") if kind == WITHOUT_REFERENCE else ("a reference", "none")
        raise InputError(f"{metric}: the model reads {has}, but the metric is for models that read {wants}")


class CometModel:
    """A COMET checkpoint in memory."""

    def __init__(
        self, checkpoint: Path, needs: frozenset[str], device: str, batch_size: int, metric: str
    ) -> None:
        """Load a checkpoint. needs: the texts that the metric provides."""
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
            warnings.simplefilter("ignore")  # warnings about workers, which would not help such small batches
            made = self._model.predict(
                samples, batch_size=self._batch_size, progress_bar=False, num_workers=0, **self._where
            )
        return [float(score) for score in made.scores]


def _comet(name: str, model: str, needs: Needs, label: str, about: str) -> MetricSpec:
    inputs = "+".join(part for part in ("source", "reference") if part in needs)
    return MetricSpec(
        Metric(name, f"COMET|model:{model}|inputs:{inputs}", "COMET"),
        "neural",
        {"model": model},
        needs,
        of_paper=True,
        aliases=(
            *(f"COMET {label}", label),
            *(form for one in (model, model.split("/")[-1]) for form in (one, f"comet(model_name={one})")),
        ),
        about=about,
    )


def _fitted(spec: MetricSpec, files: ModelFiles) -> Opened:
    check_comet(files.place, spec.needs, spec.metric.name)
    return Opened(spec, files)


FAMILY = NeuralFamily(
    name="COMET",
    module="comet",
    distribution="unbabel-comet",
    specs=(
        _comet(
            "comet-wmt20-da",
            "Unbabel/wmt20-comet-da",
            BOTH,
            "wmt20-da",
            "Trained on direct assessments of translations up to 2019; unbounded z-scores.",
        ),
        _comet(
            "comet-wmt20-qe-da",
            "Unbabel/wmt20-comet-qe-da",
            SOURCE,
            "wmt20-qe-da",
            "The same without a reference: text and source alone.",
        ),
        _comet(
            "comet-wmt22-da",
            "Unbabel/wmt22-comet-da",
            BOTH,
            "wmt22-da",
            "COMET's recommended model with a reference: about 0 to 1.",
        ),
        _comet(
            "comet-eamt22-cometinho-da",
            "Unbabel/eamt22-cometinho-da",
            BOTH,
            "cometinho-da",
            "A small COMET, distilled from a larger one.",
        ),
    ),
    load=lambda one, device, size: CometModel(one.place, one.spec.needs, device, size, one.name),
    fit=_fitted,
    form="comet",
)
