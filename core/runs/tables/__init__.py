"""Scoring runs over big tables: texts and scores lie as Parquet beside the database, and nothing is loaded whole."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from core.errors import InputError
from core.runs.asked import Asked
from core.runs.jobs import RunAtHand, WorkPath
from core.runs.scoring import Scoring


class Tables(WorkPath):
    """The path of scoring runs over big tables."""

    def read(self, asked: Asked, data: bytes, file_name: str) -> NoReturn:
        """Raise InputError: a big table is not read whole."""
        raise InputError(f"{file_name} is a big table, which is not read whole.")

    def items(self, asked: Asked, contents: Any) -> Mapping[str, Sequence[Any]]:
        """See WorkPath."""
        return {}

    planned = Scoring.planned
    maker = Scoring.maker

    def files(self, run: RunAtHand) -> dict[str, bytes]:
        """See WorkPath."""
        return {}
