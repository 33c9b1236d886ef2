"""How often `check --against` claims a change of judge, systems or raters, without one and with a planted one."""

from dataclasses import replace
from functools import cache

import numpy as np

from core.analyses.check.drift import drift, rows_kept
from core.analyses.check.filled import answer_of
from core.analyses.check.rows import Drift
from core.results.check.verdict import Check, check_panel
from core.schema.panel import Panel
from core.schema.rows import json_of
from core.schema.scores import ScoredRow
from core.schema.uses import CheckOptions
from scripts.simulations import Cell, Grid, Measures

RATERS = 3
RIGHT = 0.9
"""Probability that a rater gives the true label."""
JUDGE = 0.85
CHANGED_JUDGE = 0.65
GOOD, CHANGED_GOOD = 0.6, 0.8
"""Share of good texts."""


def _checked(
    texts: np.ndarray, truth: np.ndarray, given: np.ndarray | None, judge: float, rng: np.random.Generator
) -> tuple[Panel, np.ndarray]:
    """A panel of binary labels; given: the labels of texts that were labelled before."""

    def labels(right: float, shape: tuple[int, ...]) -> np.ndarray:
        return np.where(rng.random(shape) < right, truth[:, None], 1 - truth[:, None])

    ratings = labels(RIGHT, (truth.size, RATERS)) if given is None else given
    scores = labels(judge, (truth.size, 1))
    rows = tuple(ScoredRow(f"q{text}", "a" if text % 2 else "b") for text in texts)
    panel = Panel(
        rows,
        texts.astype(np.int64),
        np.array([row.system for row in rows], dtype=str),
        tuple(f"r{at}" for at in range(RATERS)),
        ratings.astype(np.float64),
        ("judge",),
        scores.astype(np.float64),
    )
    return panel, ratings


def once(changed: str, texts: str, n: int, rng: np.random.Generator) -> Drift:
    """Two checks of n texts each, and what changed between them."""
    first = np.arange(n)
    truth = (rng.random(n) < GOOD).astype(int)
    before, given = _checked(first, truth, None, JUDGE, rng)
    judge = CHANGED_JUDGE if changed in {"judge", "both"} else JUDGE
    if texts == "same":
        after, _ = _checked(first, truth, given, judge, rng)
    else:
        good = CHANGED_GOOD if changed in {"systems", "both"} else GOOD
        new = (rng.random(n) < good).astype(int)
        after, _ = _checked(first + n, new, None, judge, rng)
    # Drift reads the rows alone, so the verdicts of one check serve for all.
    check = _template()
    kept, _ = rows_kept(replace(check, panel=before))
    earlier = answer_of(check).json | {"rows": json_of(kept)}
    return drift(replace(check, panel=after), earlier)


@cache
def _template() -> Check:
    rng = np.random.default_rng(0)
    truth = (rng.random(60) < GOOD).astype(int)
    return check_panel(_checked(np.arange(60), truth, None, JUDGE, rng)[0], CheckOptions(use="gate"))


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    changed, texts, n = cell
    results = [once(str(changed), str(texts), int(n), rng) for _ in range(replicates)]

    def share(claims: list[bool]) -> float:
        return sum(claims) / len(results)

    judge = [any(one.changed for one in result.judges) for result in results]
    systems = [any(one.shown for one in result.people) for result in results]
    raters = [result.raters is not None and result.raters.shown for result in results]
    wrong = {
        "nothing": [any(one) for one in zip(judge, systems, raters, strict=True)],
        "judge": [any(one) for one in zip(systems, raters, strict=True)],
        "systems": [any(one) for one in zip(judge, raters, strict=True)],
        "both": raters,
    }[str(changed)]
    agreement = [result.judges[0].changes[0].smallest or np.nan for result in results]
    return {
        "judge": share(judge),
        "systems": share(systems),
        "raters": share(raters),
        "wrong": share(wrong),
        "smallest": float(np.nanmean(agreement)),
    }


GRID = Grid(
    "drift",
    "Drift: which change is claimed",
    f"""Two checks of binary labels by {RATERS} raters who are right with probability {RIGHT}, and a judge that is right with
probability {JUDGE}. A changed judge is right with probability {CHANGED_JUDGE}; changed systems have {CHANGED_GOOD:.0%} good texts
instead of {GOOD:.0%}. The judge answers anew each time. `texts` is `same` where the later check holds the same texts with the same
labels, and `new` where it holds as many other texts, so that the systems can have changed. Columns: share of replicates in
which a change of the judge, of the systems or of the raters is claimed; `wrong`: any claim of a change that was not planted, which
Holm's correction keeps to 5 % where nothing changed; `smallest`: mean of the smallest change of agreement that would
have been seen.""",
    ("changed", "texts", "n"),
    ("judge", "systems", "raters", "wrong", "smallest"),
    tuple(
        (changed, texts, n)
        for changed in ("nothing", "judge", "systems", "both")
        for texts in ("same", "new")
        for n in (60, 200)
        if texts == "new" or changed in {"nothing", "judge"}
    ),
    _run,
    1000,
)
