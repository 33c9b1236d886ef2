"""Metrics that run a model: BERTScore, COMET, BLEURT, NLI. They need the environment of `./run --with neural`."""

from core.metrics.neural.scorer import NeuralScorer, open_neural

__all__ = ["NeuralScorer", "open_neural"]
