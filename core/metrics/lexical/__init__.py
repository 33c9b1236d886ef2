"""Metrics that compare a text's words and characters with the reference's: BLEU, chrF, ROUGE, METEOR, TER."""
