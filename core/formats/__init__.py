"""File formats: one object for each, which recognises its files and reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from core.tables.columns import Rows

Gives = Literal[
    "study", "questions", "texts", "rated", "ratings", "scores", "spans", "with_texts", "evaluators"
]
"""What a door reads from a file. `with_texts`: ratings with their texts; `evaluators`: scores stored beside ratings."""
_OF_TABLES: tuple[Gives, ...] = ("study", "questions", "texts", "rated", "ratings", "scores", "spans")


@dataclass(frozen=True)
class Format:
    """A file format. core.formats.registry lists all of them."""

    name: str
    title: str
    """The content of such a file, as in "FILE contains ..."."""
    sniff: Callable[[bytes, str], bool]
    """Whether a file with these bytes and this name has the format; never raises."""
    read: Mapping[Gives, Callable[..., Any]] = field(default_factory=dict)
    """The format's own readers, called with the bytes, the file's name and the door's keywords.

    The `spans` reader takes the bytes, the findings and a count of what is left out. It returns ratings too.
    """
    rows: Rows | None = None
    """If the format is another form of a table: reads its rows, for everything without a reader above."""
    has_names: bool = True
    """Whether a file names its columns or fields, so that a page can ask what each is read as."""
    marks: str = ""
    """If its ratings mark errors in its own texts: the content of the file, as in "FILE contains ..."."""

    @property
    def gives(self) -> tuple[Gives, ...]:
        """Everything that can be read from such a file."""
        if self.rows is not None:
            return _OF_TABLES
        also: tuple[Gives, ...] = ("ratings", "spans") if self.marks or "spans" in self.read else ()
        return (*self.read, *also)
