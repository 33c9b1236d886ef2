"""Judges: metrics that compare a text with a reference, and models that are asked."""
