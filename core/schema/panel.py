"""A panel: raters and judges side by side, who gave which text which label or score."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.schema.roles import Roles
from core.schema.scale import TO_GUESS, Scale, guessed_beside
from core.schema.scores import JudgeOutput, ScoredRow, ScoreTable
from core.schema.unit import ROW, UNCOUNTED, Unit

ROW_LABEL = "row"
"""Label that numbers the rows of a wide table in which nothing else tells texts of one item apart."""


@dataclass(frozen=True)
class Panel:
    """The ratings of each text by each rater and its scores by each judge. Arrays have one row for each text."""

    rows: tuple[ScoredRow, ...]
    """The texts: item, system, level, language and labels. Every text has a rating or a row of scores."""
    items: NDArray[np.int64]
    """Shape (n,): number of the text's item, the cluster to resample."""
    systems: NDArray[np.str_]
    """Shape (n,): the text's system; ONLY_SYSTEM if the file names none."""
    raters: tuple[str, ...]
    ratings: NDArray[np.float64]
    """Shape (n, raters); NaN where the rater gave none."""
    judges: tuple[str, ...] = ()
    scores: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    """Shape (n, judges); NaN where the judge gave none. Not turned: on the scale of the file."""
    scale: Scale = TO_GUESS
    """What raters may give; a panel made without one guesses it from its ratings."""
    name: str = ""
    """The input, for messages."""
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of ratings that belong to no text here."""
    roles: Roles | None = None
    """The meaning of the file's columns, if they were found; None for a file that is no table."""
    sources: tuple[tuple[str, str, str], ...] = ()
    """For each judge the name of its table, and its metric's name there and signature; empty for a rater who counts as one."""
    pairs: bool = False
    """Whether each row is a pair of texts, and each value a preference: 1, -1, or 0 for a tie."""
    silent: Mapping[str, str] = field(default_factory=dict)
    """Judge without any score -> why it has none, where that is known."""
    unit: Unit = UNCOUNTED
    """What an item is; counted here if it is not given."""
    made: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Column that no file has -> its value for each text, empty where unknown. It groups texts and names none."""

    def __post_init__(self) -> None:
        """Guess the scale and count the items, where they were not given."""
        if self.scale is TO_GUESS:
            object.__setattr__(self, "scale", guessed_beside(self.ratings, self.scores))
        if self.unit is UNCOUNTED:
            object.__setattr__(self, "unit", Unit(n=int(np.unique(self.items).size)))


def only_judges(panel: Panel, names: Collection[str]) -> Panel:
    """The panel with these of its judges, in their order there; rows, items and raters stay."""
    kept = [at for at, name in enumerate(panel.judges) if name in names]
    return replace(
        panel,
        judges=tuple(panel.judges[at] for at in kept),
        scores=panel.scores[:, kept],
        sources=tuple(panel.sources[at] for at in kept) if panel.sources else (),
    )


def unlabelled(panel: Panel, judges: Sequence[int] | None = None) -> NDArray[np.bool_]:
    """Which texts nobody rated although these judges, or all, scored them; shape (n,). judges: their columns."""
    scores = panel.scores if judges is None else panel.scores[:, list(judges)]
    found: NDArray[np.bool_] = np.all(np.isnan(panel.ratings), axis=1) & np.all(~np.isnan(scores), axis=1)
    return found


def panel_of_rows(panel: Panel) -> Panel:
    """The panel with each of its rows as an item."""
    n = len(panel.rows)
    unit = replace(panel.unit, name=ROW, origin="declared", n=n, undecided=None, n_values=0)
    return replace(panel, items=np.arange(n), unit=unit)


@dataclass(frozen=True)
class TextBeside:
    """What a file or a run holds about a text beside its labels."""

    row: ScoredRow
    question: str = ""
    text: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Judge -> its reasons; under "" those that name no judge."""


@dataclass(frozen=True)
class JudgedTables:
    """Tables of scores, with what the sources that gave them know beside."""

    tables: tuple[ScoreTable, ...]
    outputs: tuple[JudgeOutput | None, ...]
    """The records behind each table; None for scores that no judge's run gave."""
    texts: tuple[TextBeside, ...] = ()
    """Texts of all tables, with the judges' reasons, as far as they are known."""
    signs: Callable[[], tuple[str, ...]] = tuple
    """Finds signs that the judges' words say little, each a sentence; constant scores are seen in the tables."""
