"""The texts behind a row of scores: question or source, reference, the text, and a better text of the same item."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from core.joining.tables import may_be_one
from core.schema.scores import OutputSet, ScorableOutput, ScoredRow, ScoreTable
from core.tables.columns import level_number

NO_TEXTS = "the file of scores contains no texts: add a column text, or read its folder again"
NOT_AMONG = "the file with the texts does not contain this one"
SEVERAL = "several different texts match this row"
Better = Literal["undamaged", "best"]


@dataclass(frozen=True)
class RowTexts:
    """The texts behind one row of scores."""

    row: ScoredRow
    text: str | None
    """The scored text; None for `reason`."""
    source: str | None = None
    """The question, or the text that was translated or summarised; None: the file has none."""
    reference: str | None = None
    better: str | None = None
    """A text of the same item to compare with; None if there is none."""
    better_is: Better | None = None
    """`undamaged`: level 0 of the same system; `best`: the best other text of the item by rating or level."""
    better_row: ScoredRow | None = None
    """The row of `better`."""
    language: str = "und"
    reason: str = ""
    """Why there is no text."""


@dataclass(frozen=True)
class Texts:
    """The texts of a table of scores, found by item, system, level, language and shared labels."""

    table: ScoreTable
    outputs: OutputSet | None
    reason: str = ""
    """Why there are no texts at all."""

    def at(self, row: int, best: int | None = None) -> RowTexts:
        """Return the texts behind a row of the table. best: row to compare with if the text has no undamaged one.

        `Points.best_of` finds the best other text of an item.
        """
        about = self.table.rows[row]
        if self.outputs is None:
            return RowTexts(about, None, language=about.language, reason=self.reason or NO_TEXTS)
        found, reason = self._of(about)
        if found is None:
            return RowTexts(about, None, language=about.language, reason=reason)
        texts = RowTexts(about, found.text, found.source, found.reference, language=found.language)
        undamaged = self._undamaged(about)
        better = self.table.rows[best] if undamaged is None and best is not None else undamaged
        other = None if better is None else self._of(better)[0]
        if other is None:
            return texts
        is_what: Better = "best" if undamaged is None else "undamaged"
        return replace(texts, better=other.text, better_is=is_what, better_row=better)

    @cached_property
    def _by_item(self) -> Mapping[str, list[tuple[ScoredRow, ScorableOutput]]]:
        found: dict[str, list[tuple[ScoredRow, ScorableOutput]]] = {}
        for one in () if self.outputs is None else self.outputs.outputs:
            row = one.row
            found.setdefault(one.item_id, []).append((row, one))
        return found

    def _of(self, row: ScoredRow) -> tuple[ScorableOutput | None, str]:
        """The output of a row; None with the reason."""
        fitting = [one for other, one in self._by_item.get(row.item_id, []) if may_be_one(row, other)]
        if len({one.text for one in fitting}) > 1:
            return None, SEVERAL
        return (fitting[0], "") if fitting else (None, NOT_AMONG)

    def _undamaged(self, row: ScoredRow) -> ScoredRow | None:
        """Level 0 of the same item and system; None for a row that has no level, or is it."""
        if row.level is None or level_number(row.level) in (None, 0):
            return None
        there = replace(row, level="0")
        levels = [other.level for other, _ in self._by_item.get(row.item_id, []) if may_be_one(there, other)]
        return there if levels and None not in levels else None


def texts_of(table: ScoreTable, outputs: OutputSet | None, reason: str = "") -> Texts:
    """Return the texts behind the rows of a table, wherever its scores come from.

    outputs: texts of the run's data file (`core.runs`), or read from the file of scores itself
    (`core.formats.registry.read_scored_texts`); None if there are none, for `reason`.
    """
    return Texts(table, outputs, reason)
