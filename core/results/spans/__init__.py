"""Marked errors against each other (Specialist)."""
