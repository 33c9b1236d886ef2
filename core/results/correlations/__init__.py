"""Correlate metrics with quality."""
