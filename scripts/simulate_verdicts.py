"""Simulate type I error and power of the verdicts, and write the tables to docs/statistics.md.

python scripts/simulate_verdicts.py        takes about a minute; --check prints the tables without writing them

A cell has n questions of 1 or 4 pairs. Each pair has a latent normal value, and values of one question have correlation
rho. The lowest values are losses, the highest are wins. "Before" is the ordinary bound alone, "after" is the verdict.

All replicates of a cell are decided together. The ordinary bound is computed exactly: with the same number of pairs in
every question, the sum over a resample has the n-th convolution power of the observed distribution of question sums
(by fast Fourier transform). tests/stats/test_margin_verdicts.py compares these decisions with `core.stats.non_inferiority.verdict`.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from scipy.stats import norm

from core.stats.non_inferiority import FEWEST_QUESTIONS, WON_TO_LOST, chance_not_above

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "statistics.md"
HEADING = "### Simulated verdicts"

MARGIN, LEVEL = 0.1, 0.90
REPLICATES, SEED = 4_000, 0
RHOS = (0.0, 0.3, 0.6)
LEVELS = (1, 4)
AT_THE_MARGIN = ((0.10, 0.00), (0.15, 0.05), (0.35, 0.25))
"""Losses and wins, as shares of pairs; the true mean is -0.1."""
ABOVE = ((0.10, 0.10), (0.20, 0.20), (0.35, 0.35), (0.21, 0.34), (0.05, 0.05), (0.00, 0.10))
"""Losses and wins where the candidate is non-inferior."""
QUESTIONS = {AT_THE_MARGIN: (5, 10, 20, 50), ABOVE: (20, 50)}


@dataclass(frozen=True)
class Cell:
    loss: float
    win: float
    levels: int
    rho: float
    questions: int

    def seed(self) -> list[int]:
        """Return a seed for this cell, so that it gives the same numbers alone and in the grid."""
        shares = (round(100 * share) for share in (self.loss, self.win, self.rho))
        return [SEED, *shares, self.levels, self.questions]


def pair_scores(cell: Cell, replicates: int = REPLICATES) -> np.ndarray:
    """Draw scores of -1, 0 and 1, shape (replicates, questions, levels)."""
    rng = np.random.default_rng(cell.seed())
    shared = rng.standard_normal((replicates, cell.questions, 1))
    own = rng.standard_normal((replicates, cell.questions, cell.levels))
    latent = np.sqrt(cell.rho) * shared + np.sqrt(1 - cell.rho) * own
    return (latent > norm.isf(cell.win)).astype(int) - (latent < norm.ppf(cell.loss))


def question_sums(cell: Cell, replicates: int = REPLICATES) -> np.ndarray:
    """Return the sum of scores of each question, shape (replicates, questions), integers from -levels to levels."""
    return pair_scores(cell, replicates).sum(axis=2)


def share_not_above(sums: np.ndarray, levels: int, margin: float = MARGIN) -> np.ndarray:
    """Return the bootstrap probability that the resampled mean is at most -margin, shape (replicates,)."""
    n = sums.shape[1]
    values = np.arange(-levels, levels + 1)
    shares = (sums[:, :, None] == values).mean(axis=1)
    size = 2 * levels * n + 1
    powers = np.fft.irfft(np.fft.rfft(shares, size, axis=1) ** n, size, axis=1)
    not_above = np.arange(-levels * n, levels * n + 1) <= -margin * levels * n + 1e-9
    return powers[:, not_above].sum(axis=1)


def by_ordinary_bound(
    sums: np.ndarray, levels: int, margin: float = MARGIN, level: float = LEVEL
) -> np.ndarray:
    """Return whether the ordinary bound alone gives "non-inferior", shape (replicates,)."""
    return share_not_above(sums, levels, margin) < 1 - level - 1e-12


def by_verdict(sums: np.ndarray, levels: int, margin: float = MARGIN, level: float = LEVEL) -> np.ndarray:
    """Return whether the verdict is "non-inferior", shape (replicates,)."""
    worst, won = -sums.min(axis=1), np.maximum(sums, 0).sum(axis=1)
    may_decide = (sums.shape[1] >= FEWEST_QUESTIONS) & (worst > 0) & (won > 0) & (won >= WON_TO_LOST * worst)
    values = np.arange(-levels, levels + 1)
    counts = (sums[:, :, None] == values).sum(axis=1)
    different, which = np.unique(counts, axis=0, return_inverse=True)
    not_above = chance_not_above(values / levels, different, -margin)[which.ravel()]
    return np.where(may_decide, by_ordinary_bound(sums, levels, margin, level), not_above < 1 - level - 1e-12)


def found(cell: Cell, replicates: int = REPLICATES) -> tuple[float, float]:
    """Return the share of "non-inferior" before and after."""
    sums = question_sums(cell, replicates)
    return float(by_ordinary_bound(sums, cell.levels).mean()), float(by_verdict(sums, cell.levels).mean())


def cells(
    cases: tuple[tuple[float, float], ...], levels: int, case: tuple[float, float], rho: float
) -> list[Cell]:
    return [Cell(*case, levels, rho, n) for n in QUESTIONS[cases]]


def table(cases: tuple[tuple[float, float], ...]) -> str:
    """Return a Markdown table: rows by losses, wins, levels and rho; columns by number of questions, with before and after."""
    numbers = QUESTIONS[cases]
    lines = [
        "| losses / wins | levels | rho | " + " | ".join(f"{n} questions" for n in numbers) + " |",
        "|---|---|---|" + "---|" * len(numbers),
    ]
    for case in cases:
        for levels in LEVELS:
            for rho in RHOS:
                shares = [found(cell) for cell in cells(cases, levels, case, rho)]
                entries = [f"{before:.3f}, {after:.3f}" for before, after in shares]
                start = [f"{case[0]:.2f} / {case[1]:.2f}", str(levels), f"{rho:.1f}"]
                lines.append("| " + " | ".join([*start, *entries]) + " |")
    return "\n".join(lines)


def stored(text: str) -> dict[Cell, tuple[float, float]]:
    """Read the tables of a document: cell -> share before and after."""
    read = {}
    numbers: list[int] = []
    for line in text.partition(HEADING)[2].partition("\n## ")[0].splitlines():
        if line.startswith("| losses"):
            numbers = [int(n) for n in re.findall(r"(\d+) questions", line)]
        elif row := re.match(r"\| (\S+) / (\S+) \| (\d) \| (\S+) \| (.*) \|$", line):
            loss, win, levels, rho, rest = row.groups()
            for n, entry in zip(numbers, rest.split(" | "), strict=True):
                before, after = map(float, entry.split(", "))
                read[Cell(float(loss), float(win), int(levels), float(rho), n)] = (before, after)
    return read


def every_cell() -> Iterable[Cell]:
    for cases in (AT_THE_MARGIN, ABOVE):
        for case in cases:
            for levels in LEVELS:
                for rho in RHOS:
                    yield from cells(cases, levels, case, rho)


def section() -> str:
    """Return the generated section of the document."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    type_one, power = table(AT_THE_MARGIN), table(ABOVE)
    worst = max(after for _, after in stored(f"{HEADING}\n{type_one}").values())
    return f"""{HEADING}

`python scripts/simulate_verdicts.py`, commit {commit}, seed {SEED}, {REPLICATES:,} replicates a cell (standard error at most 0.008).
Margin {MARGIN:g}, one-sided level {LEVEL:.2f}. Each entry is the share of studies called non-inferior: by the ordinary bound alone, then by
the verdict. Losses and wins are shares of pairs, rho the latent correlation of the pairs of a question.

Type I error, true mean on the margin (0.10 is nominal). The verdict's is at most {worst:.3f}:

{type_one}

Power, true mean above the margin. The verdict loses power where few pairs are lost or few are won, because a study of
some 20 questions then often has no lost or no won question:

{power}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="print the section without writing it")
    check = parser.parse_args().check
    text = DOCUMENT.read_text("utf-8")
    if not check and HEADING not in text:
        sys.exit(f'{DOCUMENT.name} has no heading "{HEADING}"')
    made = section()
    print(made)
    if not check:
        before, _, rest = text.partition(HEADING)
        DOCUMENT.write_text(before + made + "\n## " + rest.partition("\n## ")[2], "utf-8")


if __name__ == "__main__":
    main()
