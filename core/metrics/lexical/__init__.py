"""Metrics that compare words and characters with the reference: BLEU, chrF, ROUGE, METEOR, TER."""
