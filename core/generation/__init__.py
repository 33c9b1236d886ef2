"""Make answers of known quality: A0-A4 (factual) and damage levels 0-5 (damage), by a model or by rules."""
