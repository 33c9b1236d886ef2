"""The evaluator of Multilingual: a class on every dimension of a task, with a justification."""
