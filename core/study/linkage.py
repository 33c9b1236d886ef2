"""Can the sides of one question be linked across its levels, by reading alone?

A1 to A4 are changed copies of their own A0 and carry its wording. Sides drawn anew at every level lower what
a rater gains from it, and cannot take it away.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from core.schema import FIRST_LEVEL, Output
from core.study.text_features import words_and_marks

MOSTLY = 0.6
"""From this share on, wording is said to link sides; half is chance."""


@dataclass(frozen=True)
class Linkage:
    """Can a text at a later level be traced to its own A0 by its wording?"""

    n_own_nearer: int
    """Texts that share more of their wording with their own A0 than with the other source's A0."""
    n_equal: int
    """Texts that share as much with both."""
    n_texts: int
    """Texts at later levels, of both sources."""
    reason: str | None
    """Why nothing was compared."""

    def sentence(self) -> str:
        """What it means, in words."""
        if self.reason is not None:
            return f"Sides were not linked across levels: {self.reason}."
        equal = f", {self.n_equal} share as much with both" if self.n_equal else ""
        if self.n_own_nearer + self.n_equal / 2 < MOSTLY * self.n_texts:
            return (
                f"Only {self.n_own_nearer} of {self.n_texts} texts at later levels share more with their own A0 than "
                f"with the other source's A0{equal}: wording hardly links the sides of one question across levels."
            )
        return (
            "Texts at later levels carry the wording of their own A0, so who reads closely can link the sides of one "
            f"question across levels: {self.n_own_nearer} of {self.n_texts} texts share more with their own A0 than "
            f"with the other source's A0{equal}. Sides that are drawn anew at every level do not hide this."
        )


def link_levels(levels: Sequence[str], outputs: Iterable[Output]) -> Linkage:
    """Compare every text at a later level with both A0 of its question.

    Nearer is the A0 with the longer common subsequence of words and marks, as a share of the longer text
    (rapidfuzz LCSseq.normalized_similarity). `outputs` holds two sources. Undefined without A0 or without later levels.
    """
    if FIRST_LEVEL not in levels or len(levels) < 2:
        return Linkage(0, 0, 0, f"the study has no {FIRST_LEVEL} with later levels")
    numbers: dict[str, int] = {}  # rapidfuzz compares hashes; numbers never collide
    firsts: dict[str, dict[str, list[int]]] = {}
    later: list[tuple[str, str, list[int]]] = []
    for output in outputs:
        code = [numbers.setdefault(token, len(numbers)) for token in words_and_marks(output.text)]
        if output.level == FIRST_LEVEL:
            firsts.setdefault(output.item_id, {})[output.source] = code
        elif output.level in levels:
            later.append((output.item_id, output.source, code))
    n_nearer = n_equal = 0
    for item, source, code in later:
        near = {name: LCSseq.normalized_similarity(code, first) for name, first in firsts[item].items()}
        own = near.pop(source)
        (other,) = near.values()
        n_nearer += own > other
        n_equal += own == other
    return Linkage(n_nearer, n_equal, len(later), None)
