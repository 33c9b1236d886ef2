"""An evaluator against human ratings (Multilingual)."""
