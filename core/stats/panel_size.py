"""What a panel of raters makes of a mean vote: the composite score depends on how many raters vote.

The composite score is the sign of the sum of a pair's votes. More raters leave fewer pairs undecided, so that the same
preferences give a composite mean further from 0. A margin on the composite is another demand for each panel size.

Model: every vote is a latent normal value, cut into loss, tie and win; the values of two raters on one pair correlate by
`agreement` (equicorrelated normal values). Given the part that raters share, votes are independent; the result is
averaged over equally likely values of that part.
"""

import numpy as np
from scipy.stats import norm

_NODES = 2_000  # values of the shared part; exact to about 1e-4


def composite_of_mean_vote(
    mean_vote: float, n_raters: int, *, decided: float = 0.6, agreement: float = 0.3
) -> float:
    """Expected composite score of a pair when each rater's expected vote is `mean_vote`. In [-1, 1].

    mean_vote: in [-1, 1], the share of votes for the candidate minus the share for the comparator. n_raters: at least 1.
    decided: share of votes that prefer one of the two, between abs(mean_vote) and 1; the rest are ties. agreement: latent
    correlation of two raters' votes on one pair, in [0, 1); 0 is independent votes.

    Example: -0.11 becomes -0.14 with 2 raters, -0.16 with 3 and -0.20 with 9. The defaults are assumptions, not estimates.
    Misleads where raters agree far more than assumed (the composite then stays close to the mean vote) or use ties
    otherwise. Raises ValueError outside the ranges.
    """
    if not abs(mean_vote) <= decided <= 1:
        raise ValueError(f"decided must lie between abs(mean_vote) and 1, got {decided!r} for {mean_vote!r}")
    if n_raters < 1:
        raise ValueError(f"n_raters must be at least 1, got {n_raters}")
    if not 0 <= agreement < 1:
        raise ValueError(f"agreement must lie in [0, 1), got {agreement!r}")
    loss, win = (decided - mean_vote) / 2, (decided + mean_vote) / 2
    shared = norm.ppf((np.arange(_NODES) + 0.5) / _NODES)
    own = np.sqrt(1 - agreement)
    losses = norm.cdf((norm.ppf(loss) - np.sqrt(agreement) * shared) / own)
    wins = norm.sf((norm.isf(win) - np.sqrt(agreement) * shared) / own)
    sums = np.zeros((2 * n_raters + 1, _NODES))  # probability of each sum of votes, -n_raters first
    sums[n_raters] = 1
    for _ in range(n_raters):
        sums = (
            np.roll(sums, -1, axis=0) * losses + sums * (1 - losses - wins) + np.roll(sums, 1, axis=0) * wins
        )
    return float((sums[n_raters + 1 :].sum(axis=0) - sums[:n_raters].sum(axis=0)).mean())
