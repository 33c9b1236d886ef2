"""Scores beside the quality of their texts, which people rated or a level states: of one file, or of several."""

from dataclasses import dataclass, replace
from functools import cached_property

from core.errors import InputError
from core.joining.choices import AS_GIVEN, TableChoice, chosen_people
from core.joining.tables import AS_USUAL, LISTED_AS, merge_tables
from core.schema.analysis import UseOfRatings
from core.schema.scores import RatingSet, ScoreTable


@dataclass(frozen=True)
class OfFile:
    """The scores of one file or run, and the ratings that belong to them."""

    name: str
    table: ScoreTable
    ratings: RatingSet | None = None
    """None: quality is what the level states."""


@dataclass(frozen=True)
class Quality:
    """Scores of one file or several, and how the ratings beside them are used."""

    files: tuple[OfFile, ...]
    use: UseOfRatings = AS_USUAL
    choice: TableChoice = AS_GIVEN
    """Applied to the files already."""
    same_ratings: bool = True
    """Whether all files have the same ratings, so that their metrics can be compared."""

    @cached_property
    def whole(self) -> ScoreTable:
        """The metrics of all files on the same texts."""
        return (
            self.files[0].table if len(self.files) == 1 else merge_tables([one.table for one in self.files])
        )

    @cached_property
    def merged(self) -> OfFile:
        """The same beside their ratings. Raises InputError if files have ratings of their own."""
        first = self.files[0]
        if len(self.files) == 1:
            return first
        if not self.same_ratings:
            raise InputError(
                "Each file has ratings of its own, and metrics can be compared on one set alone. Name one set for all files."
            )
        people = first.ratings and chosen_people(first.ratings, self.choice, self.whole)
        return replace(first, table=self.whole, ratings=people)


def renamed_said(table: ScoreTable) -> tuple[str, ...]:
    """A sentence for each metric of a merged table that has another name there."""
    return tuple(f"{note}." for note in table.notes if LISTED_AS in note)
