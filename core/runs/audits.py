"""Runs that examine judges: a model answers other models' questions, or says which marked errors they point to."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.datasets.spreadsheet import csv_bytes
from core.errors import InputError
from core.judges.kind import AuditKind, Audits, Done
from core.llm.client import Cache
from core.runs.asked import Asked
from core.runs.at_hand import RunAtHand, WorkPath
from core.runs.jobs import AskingJob, Outcome, each_of, grouped, outcome_of
from core.runs.judging import results_of
from core.runs.records import (
    ABOUT,
    RECORDS_FILE,
    about,
    piece_of,
    printable_record,
    read_pieces,
    write_pieces,
)
from core.schema import RULES

Pieces = tuple[Any, ...]
"""Of the kind's Piece."""


class Auditing(WorkPath):
    """Of audits of judges."""

    def read(self, asked: Asked, data: bytes, file_name: str) -> Pieces:
        """The sets of questions, or the marked texts."""
        pieces = read_pieces(kind_of(asked), data, file_name)
        if why := kind_of(asked).nothing(pieces):
            raise InputError(f"{file_name} holds no {why}.")
        return pieces

    def items(self, asked: Asked, contents: Pieces) -> Mapping[str, Sequence[Any]]:
        """Of each its pieces."""
        return grouped(contents, lambda piece: piece.row.item_id)

    def named(self, thing: Any) -> tuple[str | None, str | None]:
        """Of the text that the piece is of."""
        return thing.row.system, thing.row.level

    def job(self, run: RunAtHand) -> "AuditJob":
        """See AuditJob."""
        return AuditJob(run)

    def files(self, run: RunAtHand) -> dict[str, bytes]:
        """records.jsonl, which can be read again, and a table with a row an answer."""
        kind, pieces = kind_of(run.asked), pieces_done(run)
        rows = (about(piece.row) | row for piece in pieces for row in kind.rows(piece))
        return {
            RECORDS_FILE: write_pieces(pieces),
            kind.table: csv_bytes((*ABOUT, *kind.columns), rows),
        }

    def maker(self, asked: Asked) -> str:
        """The model that takes it, as the user named it."""
        return asked.model.model or RULES


def kind_of(asked: Asked) -> AuditKind:
    """The audit's kind. Of another run there is none: asking for it is a defect."""
    assert isinstance(asked.kind, AuditKind), f"{asked.kind.name} examines no judge"
    return asked.kind


def pieces_done(run: RunAtHand) -> Pieces:
    """What was found so far, in the order of the file."""
    kind = kind_of(run.asked)
    return tuple(piece_of(kind, piece) for _, result in results_of(run) for piece in result.get("pieces", ()))


def answered(run: RunAtHand, kind: AuditKind) -> tuple[str, Pieces]:
    """The model, and its pieces so far. Raises InputError for a run of another kind."""
    if run.kind is not kind:
        raise InputError(
            f"Run {run.run.run_id} is of the kind {run.kind.name}; one of {kind.name} is needed."
        )
    return run.path.maker(run.asked), pieces_done(run)


class AuditJob(AskingJob):
    """core.runs.jobs' Job for audits: an item is all that there is of it in the file."""

    def __init__(self, run: RunAtHand) -> None:
        super().__init__(run.asked, run.running, run.items)
        self._audits: Audits = kind_of(run.asked).open(run.asked.chosen, run.asked.prompts_read)

    async def do(self, position: int, cache: Cache) -> Outcome:
        """Examine all that there is of one item."""
        model = self.model(cache)
        done = await each_of(
            list(enumerate(self.items[position])),
            lambda one: self._audits(model and model.of(one[0]))(one[1]),
            self._broken,
        )
        result: dict[str, object] = {"pieces": [printable_record(asdict(piece)) for piece, _, _ in done]}
        failures = tuple(failure for _, failed, _ in done for failure in failed)
        return outcome_of(result, failures, temporary=any(temporary for _, _, temporary in done))

    def _broken(self, numbered: tuple[int, Any], name: str) -> Done:
        broken = kind_of(self.asked).broken(numbered[1], f"looking at it broke ({name})")
        return broken, (("internal", name),), False
