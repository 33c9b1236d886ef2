"""Metrics that run a model: BERTScore, COMET, BLEURT, NLI. They need the environment of `./run --with neural`."""

from core.scoring.metrics.neural.scorer import DEVICES, NeuralScorer, open_neural
from core.scoring.metrics.neural.specs import NEURAL_METRICS

__all__ = ["DEVICES", "NEURAL_METRICS", "NeuralScorer", "open_neural"]
