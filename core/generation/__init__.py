"""Answers of known quality: A0-A4 (factual), damage levels 0-5 (damage), and both without a model (rules)."""
