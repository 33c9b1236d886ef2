"""How the labelled texts came about: chosen by the judge's answer or not, and with or without a score of the judge."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.results.check.rules import LEVEL, Rule, state_rule
from core.results.check.texts import OwnTexts
from core.schema.panel import Panel
from core.schema.uses import CheckOptions
from core.stats.resampling import Floats

MOST_ANSWERS = 10
"""Groups of equal size that scores without classes are cut into, to weight labels by the judge's answer."""
FEWEST_COVERED = 0.95
"""Smallest share of labelled texts with a score, where those without do not count."""


def _answers(scores: Floats, classes: tuple[float, ...]) -> NDArray[np.int64]:
    """Number of the judge's answer to each text; -1 for no score. Scores without classes are cut into MOST_ANSWERS groups."""
    known = ~np.isnan(scores)
    values = np.unique(scores[known])
    cuts = (
        values
        if classes or values.size <= MOST_ANSWERS
        else np.unique(np.quantile(scores[known], np.arange(MOST_ANSWERS) / MOST_ANSWERS))
    )
    found = np.full(scores.size, -1, dtype=np.int64)
    found[known] = np.searchsorted(cuts, scores[known], side="right") - 1
    return found


def weights_by_answer(panel: Panel, judge: int, texts: OwnTexts) -> Floats:
    """What each text of `texts` counts if labels were chosen by the judge's answer: all texts with that answer over those in `texts`.

    "No score" is an answer. Begg and Greenes (1983, Biometrics 39:207). judge: its column.
    """
    answers = _answers(panel.scores[:, judge], texts.classes)
    rows, back = np.unique(answers[texts.rows], return_inverse=True)
    labelled = np.bincount(back)
    there = np.array([(answers == answer).sum() for answer in rows])
    found = (there / labelled)[back]
    return np.asarray(found / found.mean())


def rules_of_labels(panel: Panel, judge: int, texts: OwnTexts, options: CheckOptions) -> list[Rule]:
    """Whether the labelled texts can stand for all, where the panel has others. texts: with the texts without a score."""
    others = np.setdiff1d(np.arange(len(panel.ratings)), texts.rows)
    wanted = "labelled texts that stand for all"
    if texts.weights is not None or not others.size or options.labels_chosen == "at-random":
        return []
    answers = _answers(panel.scores[:, judge], texts.classes)
    if options.labels_chosen == "by-judge":
        missing = np.setdiff1d(answers[others], answers[texts.rows])
        if not missing.size:
            return []
        n = int(np.isin(answers, missing).sum())
        why = f"{n:,} texts have an answer of the judge of which no text is labelled: label some of them"
        return [state_rule("labels-chosen", wanted, why, None)]
    p = _differ(answers[texts.rows], answers[others])
    if p is None or p > LEVEL:
        return []
    why = (
        f"the judge's answers differ between {texts.rows.size:,} labelled and {others.size:,} other texts (p {p:.2g}): "
        "say how the labelled ones were chosen, by-judge or at-random"
    )
    return [state_rule("labels-chosen", wanted, why, None)]


def rules_of_coverage(texts: OwnTexts, options: CheckOptions) -> list[Rule]:
    """Whether texts without a score may be left out. texts: with the texts without a score."""
    missing = np.isnan(texts.scores)
    if options.missing_judge != "leave-out" or not missing.any():
        return []
    covered = 1 - float(missing.mean())
    wanted = f"at least {FEWEST_COVERED:.0%} of the labelled texts have a score, whatever their label"
    means = np.round(texts.means, 6)
    p = _differ(
        np.searchsorted(np.unique(means), means)[missing], np.searchsorted(np.unique(means), means)[~missing]
    )
    why = f"{covered:.0%} of the labelled texts have a score"
    if p is not None and p <= LEVEL:
        why += f", and labels differ where it is missing (p {p:.2g})"
    return [
        state_rule(
            "coverage", wanted, why, bool(covered >= FEWEST_COVERED and (p is None or p > LEVEL)) or None
        )
    ]


def _differ(first: NDArray[np.int64], second: NDArray[np.int64]) -> float | None:
    """P of two samples of answers having the same shares: Fisher's exact test for two answers, else chi-square over all."""
    from scipy.stats import chi2_contingency, fisher_exact  # imported lazily: load slowly

    kinds = np.unique(np.concatenate([first, second]))
    if kinds.size < 2 or not first.size or not second.size:
        return None
    table: Any = np.array([[(side == kind).sum() for kind in kinds] for side in (first, second)])
    return float(fisher_exact(table).pvalue if kinds.size == 2 else chi2_contingency(table).pvalue)
