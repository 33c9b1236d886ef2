"""Damage levels 0-5 of a reference."""
