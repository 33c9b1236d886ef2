"""Checking a design before it is kept, and what a workload comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from core.errors import InputError
from core.schema import Design, Role
from core.study.analysis_set import analysis_set_problems
from core.study.draws import main_sequence, share_out, with_repeats

LARGEST_SEED = 2**63 - 1
LARGEST_COUNT = 1_000_000
LARGEST_GUESSES = 100
SECONDS_PER_PAIR = 45
"""For the time estimate that raters and owners see before there are times of their own."""


def check_design(design: Design, sources: Sequence[str], levels: Sequence[str]) -> None:
    """Raise InputError with every field that cannot be; `sources` and `levels` are the data set's."""
    problems = []
    named = {"candidate": design.candidate, "comparator": design.comparator}
    for role, source in named.items():
        if source not in sources:
            problems.append(f"{role}: the data set has no source {source!r}; it has {' and '.join(sources)}")
    if design.candidate == design.comparator:
        problems.append(f"candidate and comparator are both {design.candidate!r}; name two sources")
    if not 0 < design.margin < 2:
        problems.append(f"margin: {design.margin:g} is not between 0 and 2 (the scale runs from -1 to 1)")
    if not 0.5 < design.confidence_level < 1:
        problems.append(
            f"confidence level: {design.confidence_level:g} is not between 0.5 and 1; 0.90 means 90 %"
        )
    if not 0 <= design.blinding_pairs <= LARGEST_GUESSES:
        problems.append(
            f"pairs to guess: {design.blinding_pairs} is not a number from 0 to {LARGEST_GUESSES}"
        )
    if design.person not in get_args(Role):
        problems.append(f"person: {design.person!r} is neither candidate nor comparator")
    problems += drawing_problems(design)
    problems += analysis_set_problems(design, levels)
    if problems:
        raise InputError("The design cannot be used:", problems)


def drawing_problems(
    design: Design, votes: str = "votes per pair", most: str = "most questions per rater"
) -> list[str]:
    """What is wrong with the fields from which lists are drawn, in a study of either kind.

    votes, most: what votes_per_pair and max_questions are called there.
    """
    problems = []
    if not 0 <= design.seed <= LARGEST_SEED:
        problems.append(f"seed: {design.seed} is not a whole number from 0 to {LARGEST_SEED}")
    if not 0 <= design.repeat_share <= 0.5:
        problems.append(f"hidden repeats: {design.repeat_share:g} is not between 0 and 0.5")
    if design.level_order not in ("fixed", "shuffled"):
        problems.append(f"level order: {design.level_order!r} is neither fixed nor shuffled")
    for what, count in (
        (votes, design.votes_per_pair),
        (most, design.max_questions),
    ):
        if count is not None and not 1 <= count <= LARGEST_COUNT:
            problems.append(f"{what}: {count} is not a whole number from 1 to {LARGEST_COUNT}")
    if design.max_questions is not None and design.votes_per_pair is None:
        problems.append(f"{most}: works with {votes} only; set that too")
    return problems


@dataclass(frozen=True)
class Workload:
    """What a design asks of its raters."""

    questions: dict[str, int]
    """Rater -> number of questions."""
    pairs: dict[str, int]
    """Rater -> number of pairs shown, hidden repeats among them."""
    short: int
    """Questions that get fewer votes than the design asks for."""
    minutes: dict[str, int]
    """Rater -> rough time, at SECONDS_PER_PAIR."""


def workload(
    design: Design, item_ids: Sequence[str], levels: Sequence[str], raters: Sequence[str]
) -> Workload:
    """How the questions would be shared out among `raters` if all started now."""
    shares = share_out(design, item_ids, raters)
    wanted = len(raters) if design.votes_per_pair is None else design.votes_per_pair
    votes = [sum(item in items for items in shares.values()) for item in item_ids]
    pairs = {
        rater: len(with_repeats(design, rater, main_sequence(design, rater, items, levels), len(levels)))
        for rater, items in shares.items()
    }
    return Workload(
        questions={rater: len(items) for rater, items in shares.items()},
        pairs=pairs,
        short=sum(count < wanted for count in votes),
        minutes={rater: estimated_minutes(count) for rater, count in pairs.items()},
    )


def estimated_minutes(pairs: int) -> int:
    """Rough time for so many pairs, in whole minutes, at least one."""
    return max(1, round(pairs * SECONDS_PER_PAIR / 60))


def describe_shortage(plan: Workload) -> str | None:
    """A sentence where questions get fewer votes than the design asks for, else None."""
    if not plan.short:
        return None
    questions = "1 question gets" if plan.short == 1 else f"{plan.short} questions get"
    return f"{questions} fewer votes than the design asks for: add raters or raise the cap."
