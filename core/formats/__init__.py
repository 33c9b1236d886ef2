"""Forms that files have: an object a format, which tells whether a file is of it, and reads what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from core.tables.columns import Rows

Gives = Literal[
    "study", "questions", "texts", "rated", "ratings", "scores", "spans", "with_texts", "evaluators"
]
"""What a door takes from a file. `with_texts`: of ratings, their texts; `evaluators`: scores beside people's."""
_OF_TABLES: tuple[Gives, ...] = ("study", "questions", "texts", "rated", "ratings", "scores", "spans")


@dataclass(frozen=True)
class Format:
    """A form of files. It is listed in core.formats.registry."""

    name: str
    title: str
    """What a file of it holds, as in "FILE holds ..."."""
    sniff: Callable[[bytes, str], bool]
    """Whether a file with these bytes and this name is of it; never raises."""
    read: Mapping[Gives, Callable[..., Any]] = field(default_factory=dict)
    """Readers of its own: of the bytes, the file's name, and what the door asks as keywords.

    That of `spans` takes the bytes, findings, and a count of what is left out; what it gives are ratings too.
    """
    rows: Rows | None = None
    """Where it is a table in another form: its rows. All that has no reader above is read from them."""
    marks: str = ""
    """Where its ratings mark errors in texts of its own: what it holds, as in "FILE holds ..."."""

    @property
    def gives(self) -> tuple[Gives, ...]:
        """What can be read from such a file."""
        if self.rows is not None:
            return _OF_TABLES
        also: tuple[Gives, ...] = ("ratings", "spans") if self.marks or "spans" in self.read else ()
        return (*self.read, *also)
