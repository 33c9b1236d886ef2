"""Every pair of an unblinded study with its votes, and which of them are asked for."""

from dataclasses import dataclass

from core.schema.study import Preference


@dataclass(frozen=True)
class PairFilter:
    """Which pairs are asked for; all that is set must hold. Without anything set: every pair."""

    disagree: bool = False
    """Raters gave different answers."""
    lost: bool = False
    """The votes favour the comparator (without a margin: the system that the study names second)."""
    flagged: bool = False
    """A rater flagged the pair as invalid."""
    levels: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    rater: str = ""
    """Pairs with a vote of this rater."""
    votes: tuple[tuple[str, Preference], ...] = ()
    """Raters with the answer that each gave, such as a cell of two raters' table."""
    judge: str = ""
    """Pairs on which this judge or metric and the raters prefer different answers."""
