"""`judge`."""

from core.cli.judge.commands import add_to

__all__ = ["add_to"]
