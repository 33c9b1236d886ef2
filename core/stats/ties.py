"""How often do the raters see no difference? Four answers that differ, kept apart by name."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.stats.composite import composite_scores, preferences
from core.stats.votes import BOTH_BAD, BOTH_GOOD, CANDIDATE, COMPARATOR, MISSING, check_votes


@dataclass(frozen=True)
class Ties:
    """Shares of pairs, each in [0, 1] and each over the same n pairs. They overlap and do not sum to 1."""

    n: int
    """Pairs with enough votes."""
    n_left_out: int
    """Pairs with fewer."""
    paper_rule: float | None
    """Somebody said both good and nobody both bad (003's "ties"; the other votes may name a source)."""
    both_tied: float | None
    """Every vote is both good or both bad."""
    composite_zero: float | None
    """The composite score is 0: all votes tied, or the preferences cancel out."""
    opposed: float | None
    """Somebody preferred the candidate and somebody the comparator."""
    reason: str | None
    """Why the shares are undefined."""


def ties(votes: ArrayLike, *, min_votes: int = 2) -> Ties:
    """Count ties in votes of shape (n_units, n_raters), codes as in `votes.py`, -1 for missing.

    A pair enters with at least `min_votes` votes; missing votes of a pair that enters are passed over. No such pair:
    undefined. `paper_rule` misleads: it calls a pair a tie on which one of two raters preferred a source, and grows
    with the number of raters; on 003's own votes it gives 82.5 %, where both raters tied on 42.5 %.
    """
    if min_votes < 1:
        raise ValueError(f"min_votes must be at least 1, got {min_votes}")
    codes = check_votes(votes)
    enough = (codes != MISSING).sum(axis=1) >= min_votes
    used = codes[enough]
    n, n_left_out = len(used), int((~enough).sum())
    if n == 0:
        reason = f"no pair has {min_votes} or more votes"
        return Ties(0, n_left_out, None, None, None, None, reason)

    def somebody(*choices: int) -> NDArray[np.bool_]:
        return np.asarray(np.isin(used, choices).any(axis=1))

    return Ties(
        n=n,
        n_left_out=n_left_out,
        paper_rule=float((somebody(BOTH_GOOD) & ~somebody(BOTH_BAD)).mean()),
        both_tied=float((~somebody(CANDIDATE, COMPARATOR)).mean()),
        composite_zero=float((composite_scores(preferences(used)) == 0).mean()),
        opposed=float((somebody(CANDIDATE) & somebody(COMPARATOR)).mean()),
        reason=None,
    )
