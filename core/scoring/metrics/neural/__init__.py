"""Metrics that run a model: BERTScore, COMET, BLEURT, NLI. They need the environment of `./run --with neural`."""

from core.scoring.metrics.neural.scorer import DEVICES, NeuralScorer, open_neural

__all__ = ["DEVICES", "NeuralScorer", "open_neural"]
