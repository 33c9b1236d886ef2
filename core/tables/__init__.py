"""Rows in and out, whatever their format: all problems at once."""
