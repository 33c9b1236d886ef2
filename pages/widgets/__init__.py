"""Pieces that pages share; each owns its session-state keys and returns plain values."""
