"""BERTScore's F1 (Zhang et al. 2020) by the bert-score library, without idf weights and without rescaling."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.metrics.neural.model import REFERENCE, ModelFiles, NeuralFamily, Opened, library, loaded, window
from core.metrics.scorer import MetricSpec, ScoringPair
from core.schema.scores import Metric

ENGLISH, OTHERS = "roberta-large", "bert-base-multilingual-cased"
"""Models of bert-score 0.3.13 for English and for languages without a model of their own, such as Czech."""
DEFAULT_LAYERS = {ENGLISH: 17, OTHERS: 9}
"""bert-score's default layers, of 24 and of 12."""
LIMITED_LAYER = 5


def chosen_layer(spec: MetricSpec, files: ModelFiles) -> int:
    """The layer to compare: the metric's, or bert-score's default for another model, at most the last.

    bert-score has defaults by names on the hub. A local folder uses the metric's layer, or its last one if it has fewer.
    Raises InputError if the metric needs the fifth layer and the model has fewer.
    """
    name, asked = spec.metric.name, int(str(spec.parameters["layer"]))
    try:
        layers = int(json.loads((files.place / "config.json").read_text("utf-8"))["num_hidden_layers"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(f"{name}: config.json in {files.place} lacks num_hidden_layers") from problem
    if asked == LIMITED_LAYER:
        if layers < asked:
            raise InputError(
                f"{name}: the model in {files.place} has {layers} layers, but the metric compares the fifth"
            )
        return asked
    chosen: dict[str, int] = library("bert_score.utils").model2layers
    return min(chosen.get(files.name, asked), layers)


class BertScoreModel:
    """A model cut after one of its layers."""

    def __init__(self, place: Path, layer: int, device: str, batch_size: int, metric: str) -> None:
        """Load the folder's model and keep its first `layer` layers."""
        if "t5" in str(place) and not _is_t5(place):
            # The library recognises a T5 model by these letters anywhere in the path.
            raise InputError(
                f"{metric}: bert-score mistakes a model for a T5 if its path contains `t5`; move {place}"
            )
        scorer = library("bert_score").BERTScorer
        self._batch_size = batch_size
        self._scorer: Any = loaded(
            lambda: scorer(model_type=str(place), num_layers=layer, device=device, batch_size=batch_size),
            metric,
            place,
        )
        tokenizer = self._scorer._tokenizer
        tokenizer.model_max_length = window(self._scorer._model.config, tokenizer)

    def numbers(self, pairs: Sequence[ScoringPair]) -> list[float]:
        """See Model. The library returns 0 if a text or reference has no words; here the score is undefined."""
        texts = [pair.text for pair in pairs]
        references = [str(pair.reference) for pair in pairs]
        with library("torch").inference_mode():
            precision, recall, f1 = self._scorer.score(texts, references, batch_size=self._batch_size)
        nothing = ((precision == 0) & (recall == 0)).tolist()
        return [math.nan if none else value for none, value in zip(nothing, f1.tolist(), strict=True)]


def _is_t5(place: Path) -> bool:
    return "t5" in str(library("transformers").AutoConfig.from_pretrained(place).model_type)


def _bertscore(name: str, model: str, limited: bool, language: str) -> MetricSpec:
    layer = LIMITED_LAYER if limited else DEFAULT_LAYERS[model]
    label = f"{language}, {'Limited (L5)' if limited else 'Not Limited'}"
    arguments = f"lang={language}, num_layers={LIMITED_LAYER if limited else None}"
    depth = "of the fifth layer" if limited else f"of layer {layer}, bert-score's default"
    return MetricSpec(
        Metric(name, f"BERTScore|model:{model}|layer:{layer}|score:F1|idf:no|rescaled:no", "BERTScore"),
        "neural",
        {"model": model, "layer": layer},
        REFERENCE,
        of_paper=True,
        # Meta-Judge's first table abbreviates the family's name with a full stop, the others without.
        aliases=(
            *(f"BERTSc. {label}", f"BERTSc {label}", f"BERTScore {label}"),
            f"bertscore({arguments})",
            f"bertscore({arguments}, model_type=None, rescale_with_baseline=False)",
        ),
        about=f"Similarity of words in context, by embeddings {depth}, from {model}.",
    )


FAMILY = NeuralFamily(
    name="BERTScore",
    module="bert_score",
    distribution="bert-score",
    specs=(
        _bertscore("bertscore-cs", OTHERS, False, "cs"),
        _bertscore("bertscore-cs-l5", OTHERS, True, "cs"),
        _bertscore("bertscore-en", ENGLISH, False, "en"),
        _bertscore("bertscore-en-l5", ENGLISH, True, "en"),
    ),
    load=lambda one, device, size: BertScoreModel(one.place, one.layer or 0, device, size, one.name),
    fit=lambda spec, files: Opened(spec, files, chosen_layer(spec, files)),
    # An empty text has no words to compare, and the library's 0 would be arbitrary.
    empty_reason="the text is empty",
)
