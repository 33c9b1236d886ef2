"""What every judge offers to whoever scores texts with it."""

from dataclasses import dataclass
from typing import Protocol

from core.schema.judges import Record
from core.schema.scores import Score
from core.scoring.metrics.scorer import ScoringPair

NO_REFERENCE, EMPTY_REFERENCE = "no reference", "the reference is empty"
NO_SOURCE, EMPTY_SOURCE = "no source", "the source is empty"
EMPTY_TEXT = "the text is empty"


@dataclass(frozen=True)
class Judged:
    """What a judge said of one text."""

    scores: tuple[Score, ...]
    """One for each of the judge's metrics, in their order."""
    record: Record | None
    """How it came to them; None: it was never asked, because the text lacks what it needs."""
    failures: tuple[tuple[str, str], ...] = ()
    """(step, reason) of everything that failed; what a text lacks is no failure."""
    temporary: bool = False
    """Whether a failure was the server's or the line's, so that another run may mend it."""


class Judge(Protocol):
    """A judge, ready. One bad text never raises: it has scores without a value, each with its reason."""

    async def judge(self, pair: ScoringPair) -> Judged:
        """Score one text; may be awaited many times at once."""
