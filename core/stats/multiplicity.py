"""p-values of several tests in one table, corrected for their number."""

from collections.abc import Sequence
from typing import Literal

Correction = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli"]
CORRECTIONS: dict[Correction, str] = {
    "holm": "Holm",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "benjamini-yekutieli": "Benjamini-Yekutieli",
}
"""Corrections, and their names for readers."""
_METHODS = {"holm": "holm", "benjamini-hochberg": "fdr_bh", "benjamini-yekutieli": "fdr_by"}


def corrected(p_values: Sequence[float | None], correction: Correction = "holm") -> list[float | None]:
    """Correct p-values for the number of tests.

    p_values: in [0, 1], in any order. None is a test without a p: it stays None and does not count. correction: Holm
    (1979, Scandinavian Journal of Statistics 6:65) keeps the probability of any false positive at alpha, also for
    dependent tests. Benjamini and Hochberg (1995, JRSS-B 57:289) keep the expected share of false ones among the
    positive ones, for independent or positively dependent tests. Benjamini and Yekutieli (2001, Annals of Statistics
    29:1165) do so for any dependence. Returns as many, in the same order, in [0, 1]; by statsmodels.

    Misleads if only promising tests were passed: pass the p-values of all tests.
    """
    from statsmodels.stats.multitest import multipletests  # imported lazily: takes a second

    known = [p for p in p_values if p is not None]
    if not known:
        return list(p_values)
    paid = iter(multipletests(known, method=_METHODS[correction])[1].tolist())
    return [None if p is None else next(paid) for p in p_values]
