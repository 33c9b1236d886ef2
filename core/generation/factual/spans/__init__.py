"""Which stretches of A0 may carry a fact. Empty, so that the helper process starts where only spaCy is installed."""
