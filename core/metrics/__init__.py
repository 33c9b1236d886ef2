"""Metrics: one registry, a signature for every score."""
