"""Batch files: requests written for a batch service, and its answers read."""
