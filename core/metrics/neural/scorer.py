"""The scorer of metrics that run a model, with families in the order of Meta-Judge's tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.errors import InputError
from core.metrics.neural import bertscore, bleurt, comet, nli
from core.metrics.neural.model import (
    Model,
    NeuralFamily,
    Opened,
    chosen_device,
    find_models,
    library,
    release,
    scores_of,
)
from core.metrics.scorer import EMPTY_REFERENCE, NO_REFERENCE, NO_SOURCE, MetricSpec, ScoringPair
from core.schema.scores import Metric, Score

NEURAL_FAMILIES: dict[str, NeuralFamily] = {
    family.name: family for family in (bertscore.FAMILY, comet.FAMILY, bleurt.FAMILY, nli.FAMILY)
}


HALF_A_CHARACTER = "the texts contain half a character (a lone surrogate), which tokenizers reject"


def open_neural(
    specs: Sequence[MetricSpec],
    *,
    models: Mapping[str, str] | None = None,
    device: str = "auto",
    batch_size: int = 32,
) -> "NeuralScorer":
    """A scorer whose models are all on this machine; each is loaded when first used.

    models: metric -> a folder (for COMET also a checkpoint file), or another name on the hub.
    device: auto (a GPU if there is one), cpu, cuda, cuda:N.
    batch_size: pairs in a batch; it changes scores at most after the sixth decimal.
    Raises InputError if libraries, models or the device are missing.
    """
    if batch_size < 1:
        raise InputError(f"The batch size is {batch_size}, expected at least 1")
    for module in dict.fromkeys(_family(spec).module for spec in specs):
        library(module)
    place = chosen_device(device)
    files = find_models(specs, models or {}, lambda spec: _family(spec).form)
    opened = tuple(_family(spec).fit(spec, files[spec.metric.name]) for spec in specs)
    return NeuralScorer(opened, place, batch_size)


def _metric(one: Opened) -> Metric:
    """The metric with a signature that names the files and the libraries."""
    written, options = one.spec.metric.signature, one.spec.parameters
    written = written.replace(f"|model:{options['model']}|", f"|model:{one.files.name}|")
    if one.layer is not None:
        written = written.replace(f"|layer:{options['layer']}|", f"|layer:{one.layer}|")
    name = _family(one.spec).distribution
    libraries = f"{name}:{release(name)}|transformers:{release('transformers')}"
    return replace(one.spec.metric, signature=f"{written}|sha256:{one.files.sha256}|{libraries}")


def _family(spec: MetricSpec) -> NeuralFamily:
    return NEURAL_FAMILIES[spec.metric.family]


class NeuralScorer:
    """Metrics with their models; see Scorer. A model stays in memory until close()."""

    def __init__(self, opened: tuple[Opened, ...], device: str, batch_size: int) -> None:
        self._opened, self._device, self._batch_size = opened, device, batch_size
        self._models: dict[str, Model] = {}
        self._metrics = tuple(map(_metric, opened))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """See Scorer."""
        return self._metrics

    def score(self, pairs: Sequence[ScoringPair]) -> list[tuple[Score, ...]]:
        """See Scorer. Raises InputError if a model cannot be loaded or the machine fails, never because of a pair."""
        columns = [self._column(each, pairs) for each in self._opened]
        return [tuple(column[row] for column in columns) for row in range(len(pairs))]

    def close(self) -> None:
        """Free the memory; the next score() loads the models again."""
        self._models.clear()
        if self._device != "cpu":
            library("torch").cuda.empty_cache()

    def _column(self, opened: Opened, pairs: Sequence[ScoringPair]) -> list[Score]:
        """One metric's scores; pairs that lack a text it needs never reach its model."""
        reasons = [_unscored(pair, opened.spec) for pair in pairs]
        scored = [place for place, reason in enumerate(reasons) if reason is None]
        column = [Score(None, reason) for reason in reasons]
        if scored:
            name = opened.spec.metric.name
            if name not in self._models:
                self._models[name] = _family(opened.spec).load(opened, self._device, self._batch_size)
            made = scores_of(self._models[name], [pairs[place] for place in scored], name)
            for place, score in zip(scored, made, strict=True):
                column[place] = score
        return column


def _unscored(pair: ScoringPair, spec: MetricSpec) -> str | None:
    """Why a metric cannot score a pair; None if it can.

    Models that read the text together with the reference or the source can score an empty text.
    """
    if "reference" in spec.needs:
        if pair.reference is None:
            return NO_REFERENCE
        if not pair.reference.strip():
            return EMPTY_REFERENCE
    if "source" in spec.needs and not (pair.source or "").strip():
        return NO_SOURCE
    if (empty := _family(spec).empty_reason) is not None and not pair.text.strip():
        return empty
    used = [pair.text, *(text for need in spec.needs if (text := getattr(pair, need)) is not None)]
    return HALF_A_CHARACTER if any("\ud800" <= sign <= "\udfff" for text in used for sign in text) else None
