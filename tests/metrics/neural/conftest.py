"""Fixtures of this package that stand in modules of their own."""

from helpers.models.neural_environment import neural_python as neural_python
from helpers.models.neural_environment import tiny_metric_models as tiny_metric_models
