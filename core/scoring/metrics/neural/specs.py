"""The configurations of metrics that run a model: the 12 of 000 (its appendix A), and entailment."""

from typing import Literal

from core.schema.scores import Metric
from core.scoring.metrics.scorer import MetricSpec

Needs = frozenset[Literal["reference", "source"]]
REFERENCE: Needs = frozenset({"reference"})
BOTH: Needs = frozenset({"reference", "source"})
SOURCE: Needs = frozenset({"source"})
ENGLISH, OTHERS = "roberta-large", "bert-base-multilingual-cased"
"""What bert-score 0.3.13 takes for English and for a language it has no model of its own for, such as Czech."""
DEFAULT_LAYERS = {ENGLISH: 17, OTHERS: 9}
"""bert-score's own choice, where nothing limits the layers: of 24 and of 12."""
LIMITED_LAYER = 5


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
        # The table of the first data set shortens the family's name with a full stop, the others without.
        aliases=(
            *(f"BERTSc. {label}", f"BERTSc {label}", f"BERTScore {label}"),
            f"bertscore({arguments})",
            f"bertscore({arguments}, model_type=None, rescale_with_baseline=False)",
        ),
        about=f"Similarity of words in context: embeddings {depth}, of {model}.",
    )


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


NLI_MODEL = "cross-encoder/nli-deberta-v3-large"
"""English. The entailment model of 003, section 5."""
ONE_WAY = "reference>text"
BOTH_WAYS = "reference>text,text>reference"


def _nli(name: str, directions: str, combined: str, about: str) -> MetricSpec:
    signature = f"NLI|model:{NLI_MODEL}|premise>hypothesis:{directions}{combined}|score:p(entailment)"
    return MetricSpec(
        Metric(name, signature, "NLI"),
        "neural",
        {"model": NLI_MODEL, "directions": directions},
        REFERENCE,
        about=about,
    )


NEURAL_METRICS: tuple[MetricSpec, ...] = (
    _bertscore("bertscore-cs", OTHERS, False, "cs"),
    _bertscore("bertscore-cs-l5", OTHERS, True, "cs"),
    _bertscore("bertscore-en", ENGLISH, False, "en"),
    _bertscore("bertscore-en-l5", ENGLISH, True, "en"),
    _comet(
        "comet-wmt20-da",
        "Unbabel/wmt20-comet-da",
        BOTH,
        "wmt20-da",
        "Trained on direct assessments of translations up to 2019; z-scores, without bounds.",
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
    _bleurt("bleurt-20-d12", "BLEURT-20-D12", 512, "20-D12", "Multilingual, 12 layers; about 0 to 1."),
    _bleurt("bleurt-base-512", "bleurt-base-512", 512, "base-512", "English BERT-base, up to 512 tokens."),
    _bleurt(
        "bleurt-large-512", "bleurt-large-512", 512, "large-512", "English BERT-large, up to 512 tokens."
    ),
    _bleurt("bleurt-tiny-128", "bleurt-tiny-128", 128, "tiny-128", "English, 2 layers, up to 128 tokens."),
    _nli("nli", ONE_WAY, "", "Probability that the reference entails the text: says nothing wrong."),
    _nli(
        "nli-both",
        BOTH_WAYS,
        "|combined:min",
        "The smaller of both directions of entailment: says nothing wrong and leaves nothing out.",
    ),
)
"""In the order of 000's tables; what is beyond the paper comes last."""
