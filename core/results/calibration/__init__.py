"""Compare an evaluator with human ratings (Multilingual)."""
