"""Texts together with what people said of them: what a specialist judge takes its examples from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.schema.scores import Rating, ScorableOutput


@dataclass(frozen=True)
class RatedText:
    """A text and its ratings: several where several raters, or dimensions, are there; none where nobody rated it."""

    output: ScorableOutput
    ratings: tuple[Rating, ...] = ()


@dataclass(frozen=True)
class RatedSet:
    """A checked file of rated texts."""

    texts: tuple[RatedText, ...]
    """In the order of the file; (item, system, level) with the labels is unique."""
    sha256: str
    file_name: str
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> ratings of texts that are not there, references' outputs and the like."""
