"""The families of metrics that run a model, in the order of Meta-Judge's tables; what is beyond the paper comes last."""

from core.scoring.metrics.neural import bertscore, bleurt, comet, nli
from core.scoring.metrics.neural.family import NeuralFamily

NEURAL_FAMILIES: dict[str, NeuralFamily] = {
    family.name: family for family in (bertscore.FAMILY, comet.FAMILY, bleurt.FAMILY, nli.FAMILY)
}
