"""Made levels checked by a noisy judge: right items called wrong, and faulty items found."""

import numpy as np

from core.judges.claims import Claim, ClaimsRecord
from core.results.judges.made_levels import MadeText, made_levels
from core.schema.scores import Metric, ScoredRow, ScoreTable
from core.stats.resampling import Floats
from scripts.simulations import Cell, Grid, Measures

LEVELS = ("A0", "A1", "A2", "A3", "A4")
_ITEMS = 20
_WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heath",
    "inlet",
    "jetty",
    "knoll",
    "ledge",
    "marsh",
    "north",
    "ocean",
    "plain",
    "ridge",
    "shore",
]


def _supported(claims: int, fault: str, rng: np.random.Generator) -> Floats:
    """Which claims of an item each level truly supports, shape (levels, claims); claim 0 is the core.

    The best level supports all. Each further level loses an equal share, in a random order, the worst level all but a fifth.
    """
    core_last = fault == "core kept"
    order = np.append(rng.permutation(np.arange(1, claims)), 0) if core_last else _core_early(claims, rng)
    lost = np.round(0.8 * claims * np.arange(len(LEVELS)) / (len(LEVELS) - 1)).astype(int)
    found = np.ones((len(LEVELS), claims), dtype=bool)
    for level, n in enumerate(lost):
        found[level, order[:n]] = False
    if fault == "levels swapped":
        found[[1, 3]] = found[[3, 1]]
    return found


def _core_early(claims: int, rng: np.random.Generator) -> np.ndarray:
    """A random order in which the core claim is among those that the worst level loses."""
    order = rng.permutation(np.arange(1, claims))
    return np.insert(order, rng.integers(0, round(0.8 * claims)), 0)


def made(cell: Cell, rng: np.random.Generator, *, items: int = _ITEMS) -> tuple[ScoreTable, list[MadeText]]:
    """One file: scores and texts with claims. Texts have equal length, no values, and differ between levels."""
    judge, claims, noise, fault = cell
    n = int(claims)
    rows, scores, texts = [], [], []
    wordings = tuple(f"the statement about {_WORDS[at]} {_WORDS[-1 - at]}" for at in range(n))
    for item in range(items):
        true = _supported(n, str(fault), rng)
        if judge == "claims":
            seen = true ^ (rng.random(true.shape) < float(noise))
            score = seen.mean(axis=1)
        else:
            seen = true
            step = 0.8 / (len(LEVELS) - 1)
            score = true.mean(axis=1) + rng.normal(0, float(noise) * step, len(LEVELS))
        for at, level in enumerate(LEVELS):
            record = ClaimsRecord(
                (), tuple(Claim(text, bool(yes)) for text, yes in zip(wordings, seen[at], strict=True))
            )
            text = " ".join(rng.permutation(_WORDS))
            texts.append(
                MadeText(text, f"reference {item}", wordings[0], "en", record if judge == "claims" else None)
            )
            rows.append(ScoredRow(f"item {item}", "made", level))
            scores.append(score[at])
    return ScoreTable(tuple(rows), (Metric("judge", "", "judge"),), np.array(scores)[:, None]), texts


def _run(cell: Cell, replicates: int, rng: np.random.Generator) -> Measures:
    outcomes: dict[str, list[bool]] = {"any": [], "scores": [], "core": []}
    seen = []
    for _ in range(replicates):
        found = made_levels(*made(cell, rng), n_resamples=0)
        if found.returns is not None:
            seen.append(found.returns.noise)
        for one in found.sets:
            checks = {fault.check for fault in one.faults}
            outcomes["any"].append(bool(checks))
            outcomes["scores"].append("scores" in checks)
            outcomes["core"].append("core" in checks)
    shares: dict[str, float] = {name: float(np.mean(given)) for name, given in outcomes.items()}
    core = shares["core"] if cell[0] == "claims" else None
    return {
        "called_wrong": shares["any"],
        "by_scores": shares["scores"],
        "by_core": core,
        "noise_seen": float(np.mean(seen)) if seen else None,
    }


_CLAIMS = tuple(
    ("claims", claims, noise, fault)
    for fault in ("none", "levels swapped", "core kept")
    for claims in (5, 10)
    for noise in (0.0, 0.02, 0.05, 0.1, 0.2)
)
_SCORES = tuple(
    ("score", 10, noise, fault)
    for fault in ("none", "levels swapped")
    for noise in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
)

GRID = Grid(
    name="made-levels",
    title="Are made levels what they claim?",
    about=f"""
Files of {_ITEMS} items with the levels A0 to A4, checked as `report levels` does with its usual tolerance. The best level supports
all claims of the reference, and each further level loses an equal number of them at random, the worst four fifths.

- `judge` claims: a claims judge. Each verdict on a claim is wrong with the probability `noise`. The score is the share of
  claims supported. `judge` score: any metric. Its score is the true share plus normal noise with a standard deviation of
  `noise` times the step between two levels.
- `fault`: none, the texts of A1 and A3 are swapped, or the worst level keeps the core claim.
- `called_wrong`: share of items with a level to remake. Without a fault it is the rate of false accusations, with one the
  share of faulty items found. `by_scores`, `by_core`: by the scores, and by the core claim.
- `noise_seen`: mean of the estimated share of wrong verdicts, from claims that return at a worse level.
""",
    factors=("judge", "claims", "noise", "fault"),
    measures=("called_wrong", "by_scores", "by_core", "noise_seen"),
    cells=(*_CLAIMS, *_SCORES),
    run=_run,
    replicates=50,
)
