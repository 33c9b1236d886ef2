"""Metrics that run a model: BERTScore, COMET, BLEURT, NLI. They need the environment of `./run --with neural`."""
