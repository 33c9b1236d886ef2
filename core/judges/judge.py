"""What every judge offers to whoever scores texts with it."""

from dataclasses import dataclass
from typing import Protocol

from core.judges.settings import Examined
from core.schema.judges import Record
from core.schema.rated import RatedText
from core.schema.scores import Score
from core.scoring.metrics.scorer import ScoringPair

NO_REFERENCE, EMPTY_REFERENCE = "no reference", "the reference is empty"
NO_SOURCE, EMPTY_SOURCE = "no source", "the source is empty"
EMPTY_TEXT = "the text is empty"
MOST_TOKENS = 4_096
"""That an answer may have: half of a context of 8,192, so that a text of 1,500 words and its prompt fit beside it."""


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


def lacking(pair: ScoringPair, needed: Examined) -> str | None:
    """What a judge cannot do without and this text does not have: what it is compared with, or words of its own."""
    other, absent, empty = {
        "reference": (pair.reference, NO_REFERENCE, EMPTY_REFERENCE),
        "source": (pair.source, NO_SOURCE, EMPTY_SOURCE),
    }[needed]
    if other is None:
        return absent
    if not other.strip():
        return empty
    return None if pair.text.strip() else EMPTY_TEXT


class Judge(Protocol):
    """A judge, ready. One bad text never raises: it has scores without a value, each with its reason."""

    async def judge(self, pair: ScoringPair) -> Judged:
        """Score one text; may be awaited many times at once."""


class RatedJudge(Protocol):
    """A judge that people's ratings may stand behind, ready. One bad text never raises, as of Judge.

    What people said of the text itself is for its filters alone: no judge is shown it.
    """

    async def judge_text(self, text: RatedText) -> Judged:
        """Score one text; may be awaited many times at once."""
