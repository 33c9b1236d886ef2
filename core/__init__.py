"""Assay: can this judge be trusted?"""

__version__ = "0.1.0"
