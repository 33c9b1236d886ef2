"""`study`."""

from core.cli.study.commands import add_to

__all__ = ["add_to"]
