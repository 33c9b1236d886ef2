"""Which texts a rater is shown, in what order: whole items, each with all its texts together, drawn from the seed.

Raters agree better when one of them rates all texts of a source together (pseudo side-by-side, 002 section 3.1 with
Riley et al. 2024), so an item is never split. docs/design.md says how every draw is made.
"""

from collections.abc import Iterable, Mapping, Sequence

from core.errors import InputError
from core.schema import Design, Output
from core.schema.tasks import RatingAssignment
from core.study.design import Workload, drawing_problems
from core.study.draws import REPEAT_DISTANCE, draw, share_out

SECONDS_PER_TEXT = 60
"""For the time estimate that owners and raters see before there are times of their own."""

Text = tuple[str, str]
"""(level, source) of one text of an item."""


def check_rating_design(design: Design) -> None:
    """Raise InputError with every field that cannot be; roles, margin and guesses are not used."""
    problems = drawing_problems(design, "raters per item", "most items per rater")
    if design.candidate or design.comparator:
        problems.append("candidate and comparator: texts are rated one by one, so nobody has a role")
    if problems:
        raise InputError("The design cannot be used:", problems)


def texts_by_item(outputs: Iterable[Output]) -> dict[str, list[Text]]:
    """Item -> its texts, in an order that their sources' names cannot change: by the text itself.

    Among texts that are equal to the letter the names decide; which is which makes no difference to a rater.
    """
    found: dict[str, list[tuple[str, str, str]]] = {}
    for output in outputs:
        found.setdefault(output.item_id, []).append((output.text, output.level, output.source))
    return {item: [(level, source) for _, level, source in sorted(texts)] for item, texts in found.items()}


def assign_texts(
    design: Design, rater: str, item_ids: Iterable[str], texts: Mapping[str, Sequence[Text]]
) -> list[RatingAssignment]:
    """What one rater is shown, in order: items shuffled, the texts of each together and shuffled, repeats at the end.

    texts: as `texts_by_item` gives them. round(repeat_share * texts) of them come back after the last one, those of an
    item together again, each with at least REPEAT_DISTANCE other texts in between.
    """
    seed = design.seed
    main: list[tuple[str, int]] = []
    for item in sorted(item_ids, key=lambda i: draw(seed, rater, i, "", "question")):
        ranks = range(len(texts[item]))
        main += [(item, k) for k in sorted(ranks, key=lambda k: draw(seed, rater, item, str(k), "text"))]
    early = main[: max(len(main) - REPEAT_DISTANCE, 0)]
    early.sort(key=lambda one: draw(seed, rater, one[0], str(one[1]), "repeat"))
    again = early[: int(design.repeat_share * len(main) + 0.5)]
    again.sort(
        key=lambda one: (
            draw(seed, rater, one[0], "", "again"),
            draw(seed, rater, one[0], str(one[1]), "again"),
        )
    )
    listed = [(one, False) for one in main] + [(one, True) for one in again]
    return [
        RatingAssignment(rater, position, item, *texts[item][rank], repeat=repeat)
        for position, ((item, rank), repeat) in enumerate(listed, start=1)
    ]


def rating_workload(
    design: Design, item_ids: Sequence[str], texts: Mapping[str, Sequence[Text]], raters: Sequence[str]
) -> Workload:
    """How the items would be shared out among `raters` if all started now; `pairs` counts texts."""
    shares = share_out(design, item_ids, raters)
    wanted = len(raters) if design.votes_per_pair is None else design.votes_per_pair
    rated = [sum(item in items for items in shares.values()) for item in item_ids]
    shown = {rater: len(assign_texts(design, rater, items, texts)) for rater, items in shares.items()}
    return Workload(
        questions={rater: len(items) for rater, items in shares.items()},
        pairs=shown,
        short=sum(count < wanted for count in rated),
        minutes={rater: minutes_for_texts(count) for rater, count in shown.items()},
    )


def minutes_for_texts(texts: int) -> int:
    """Rough time for so many texts, in whole minutes, at least one."""
    return max(1, round(texts * SECONDS_PER_TEXT / 60))
