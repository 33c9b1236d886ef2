"""Texts that are judged, made harmless: nothing in them can pass for the prompt's own marks."""
