"""Forms that files have: an object a format, which tells whether a file is of it, and reads what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from core.tables.columns import Rows

Gives = Literal["study", "questions", "texts", "rated", "ratings", "scores"]
"""What a door takes from a file."""


@dataclass(frozen=True)
class Format:
    """A form of files. It is listed in core.formats.registry."""

    name: str
    title: str
    """What a file of it holds, as in "FILE holds ..."."""
    sniff: Callable[[bytes, str], bool]
    """Whether a file with these bytes and this name is of it; never raises."""
    read: Mapping[Gives, Callable[..., Any]] = field(default_factory=dict)
    """Readers of its own: of the bytes, the file's name, and what the door asks as keywords."""
    rows: Rows | None = None
    """Where it is a table in another form: its rows. All that has no reader above is read from them."""

    @property
    def gives(self) -> tuple[Gives, ...]:
        """What can be read from such a file."""
        return tuple(self.read) if self.rows is None else get_args(Gives)
