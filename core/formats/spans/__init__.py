"""Errors marked in texts, in each of their formats."""
