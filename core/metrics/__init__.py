"""Metrics: scorers, and a registry with a signature for every score."""
