"""How many edited twins were made, and why the others were left out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from core.generation.language import count_words
from core.generation.twins import PROBES
from core.judges.twins import Twin
from core.schema.result_table import Column, ResultTable


@dataclass(frozen=True)
class ProbeMade:
    """The twins of one probe."""

    probe: str
    edited: str
    """`better` or `worse`: the text of a pair that is edited."""
    n: int
    """Pairs."""
    n_made: int
    words_added: float | None
    """Mean over twins of the words added, as a share of the text's words; None: no twin, or no text has words."""
    left_out: Mapping[str, int]
    """Reason -> number of twins that were not made."""


def twins_made(twins: Sequence[Twin]) -> tuple[ProbeMade, ...]:
    """Count the twins by probe, in the order of the probes."""
    return tuple(
        _made(name, of_probe) for name in PROBES if (of_probe := [one for one in twins if one.probe == name])
    )


def _made(name: str, twins: Sequence[Twin]) -> ProbeMade:
    words = [(count_words(one.text), count_words(one.edited)) for one in twins if one.edited is not None]
    added = [after / before - 1 for before, after in words if before]
    return ProbeMade(
        name,
        PROBES[name].role,
        len(twins),
        len(words),
        fmean(added) if added else None,
        Counter(one.reason or "not processed" for one in twins if one.edited is None),
    )


def twins_table(probes: Sequence[ProbeMade]) -> ResultTable:
    """One row per probe: twins made, and those left out with their reasons."""
    return ResultTable(
        "twins",
        (
            Column("probe", "Probe", names_row=True),
            Column("edited", "Edited text"),
            Column("n", "Pairs"),
            Column("n_made", "Twins made"),
            Column("words_added", "Words added, %", places=0, percent=True),
            Column("left_out", "Left out"),
        ),
        tuple(
            (one.probe, one.edited, one.n, one.n_made, one.words_added, one.left_out or None)
            for one in probes
        ),
        notes=(
            "Words added: mean over twins, as a share of the text's words; a short text grows by more, because one sentence "
            "is the least addition.",
        ),
    )
