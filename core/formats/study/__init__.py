"""Data sets of a study, read from tables and from JSON."""
