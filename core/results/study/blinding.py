"""Did blinding hold? From the guesses which answer a person wrote to the blinding indices, per rater and overall."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from core.errors import InputError
from core.results.study.counted import Filters, chosen_pairs, chosen_raters, why_left_out
from core.schema.study import GUESSED_SIDES, Assignment, Guess, StudyRecord
from core.stats.blinding import LEFT, RIGHT, BlindingIndex, blinding_index
from core.stats.resampling import Resampling
from core.study.analysis_set import main_levels

ORDER: tuple[str, ...] = GUESSED_SIDES
"""Of the columns of every table of guesses; its rows are the first two."""
FEW = 30
"""Below this many guesses the reading says that they are few."""


@dataclass(frozen=True)
class GuessComment:
    """What a rater wrote beside a guess."""

    rater_id: str
    item_id: str
    level: str
    comment: str


@dataclass(frozen=True)
class Blinding:
    """What the guesses say about the blinding."""

    person: str
    """The source whose answers a person wrote."""
    overall: BlindingIndex
    per_rater: dict[str, BlindingIndex]
    n_left_out: dict[str, int]
    """Reason -> guesses that are in the study and not in `overall`."""
    comments: tuple[GuessComment, ...]
    """Of the guesses used; not in the JSON."""

    @property
    def reading(self) -> str:
        """The result over all raters in plain words."""
        return _reading(self.overall)

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        return {
            "person": self.person,
            "order": list(ORDER),
            "reading": self.reading,
            "overall": asdict(self.overall),
            "per_rater": {rater: asdict(found) for rater, found in self.per_rater.items()},
            "n_left_out": self.n_left_out,
        }


def blinding(
    record: StudyRecord,
    filters: Filters | None = None,
    **drawing: Unpack[Resampling],
) -> Blinding:
    """The guesses of the raters and pairs that the filters leave, against the sides that these raters saw.

    A guess counts also where the pair itself is left out of the main analysis, flagged or not answered by everybody:
    it is about the texts and not about the vote.
    """
    filters = filters or Filters()
    levels, items = chosen_pairs(record, filters)
    chosen = chosen_raters(record, filters)
    wanted = {(item, level) for item in items for level in levels}
    design = record.study.design
    declared = main_levels(design, record.study.levels)
    raters = {rater.rater_id: rater for rater in record.raters}
    used: list[Guess] = []
    left_out: Counter[str] = Counter()
    for guess in record.guesses:
        reason = why_left_out((guess.item_id, guess.level), raters[guess.rater_id], chosen, wanted, declared)
        if reason is None:
            used.append(guess)
        else:
            left_out[reason] += 1
    shown = {a.key: a for a in record.assignments}
    person = design.candidate if design.person == "candidate" else design.comparator

    def index(guesses: Sequence[Guess]) -> BlindingIndex:
        return blinding_index(
            [_true_side(guess, shown.get(guess.key), person) for guess in guesses],
            [GUESSED_SIDES.index(guess.guess) for guess in guesses],
            [guess.item_id for guess in guesses],
            **drawing,
        )

    return Blinding(
        person=person,
        overall=index(used),
        per_rater={rater: index([guess for guess in used if guess.rater_id == rater]) for rater in chosen},
        n_left_out=dict(left_out),
        comments=tuple(GuessComment(g.rater_id, g.item_id, g.level, g.comment) for g in used if g.comment),
    )


def _true_side(guess: Guess, assignment: Assignment | None, person: str) -> int:
    if assignment is None:
        raise InputError(
            f"{guess.rater_id} guessed about {guess.item_id}, {guess.level} without an assignment."
        )
    return LEFT if assignment.left == person else RIGHT


def _reading(found: BlindingIndex) -> str:
    """A claim only where Bang's interval over questions and the exact interval of the share both exclude chance.

    The first knows that guesses about one question hang together; the second has a width also when all were right.
    """
    share, bang = found.share_right, found.bang_questions
    if not found.n:
        return "There is no guess yet which answer the person wrote."
    if share.low is None or share.high is None:
        return f'Raters answered "cannot tell" {found.n} of {found.n} times: no sign that blinding failed.{_few(found)}'
    counts = (
        f"Raters named the person's answer rightly {share.n_right} of the {share.n} times they named one "
        f'("cannot tell" {found.n - share.n} times more)'
    )
    if bang.low is None or bang.high is None:
        few = "all about one question" if bang.n_clusters < 2 else bang.interval_reason
        return f"{counts}: without an interval ({few}) nothing follows for the blinding."
    by_index = _against_chance(bang.low, bang.high, 0)
    by_share = _against_chance(share.low, share.high, 0.5)
    if by_index == by_share == 1:
        return f"{counts}, more often than by guessing: blinding did not hold."
    if by_index == by_share == -1:
        return (
            f"{counts}, more often wrong than by guessing: they could tell the answers apart and took the other "
            "one for the person's."
        )
    if by_share or (by_index and bang.low < bang.high):  # of width 0: nothing varied, which says nothing
        return (
            f"{counts}: of two intervals (Bang's index over questions, share right) one excludes guessing and one "
            f"does not, so blinding may not have held.{_few(found)}"
        )
    return f"{counts}: no sign that blinding failed, which does not show that it held.{_few(found)}"


def _against_chance(low: float, high: float, chance: float) -> int:
    """1 above chance, -1 below, 0 when the interval holds it."""
    return int(low > chance) - int(high < chance)


def _few(found: BlindingIndex) -> str:
    return f" The guesses are few ({found.n}): a moderate leak would go unseen." if found.n < FEW else ""
