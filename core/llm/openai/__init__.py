"""Servers that speak OpenAI's chat API."""
