"""Requests to language models: one client protocol, its backends, prompts, checked answers. Uses no database."""
