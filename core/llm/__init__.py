"""Asking language models: one client protocol, its backends, prompts, checked answers. Knows no database."""
