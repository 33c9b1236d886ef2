"""Metrics that compare words and characters with the reference: BLEU, chrF, ROUGE, METEOR, TER.

All configurations of a pair share their statistics: `scorer.LexicalScorer`. Names and settings: `specs`.
"""
