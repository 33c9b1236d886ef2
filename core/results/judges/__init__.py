"""Analyses of judges from their scores and run records."""
