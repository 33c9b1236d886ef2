"""Checking a design before it is kept, what a workload comes to, and the list of pairs or texts that it gives each rater."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import get_args

from core.errors import InputError
from core.schema.study import Assignment, Design, Item, Output, Role, Study
from core.schema.tasks import RatingAssignment, StudyKind
from core.store import Store
from core.store.answers import LISTS
from core.store.raters import raters_of
from core.store.studies import get_study, items_of, outputs_of
from core.study.analysis_set import analysis_set_problems
from core.study.draws import REPEAT_DISTANCE, assign, draw, first_source, share_out

LARGEST_SEED = 2**63 - 1
LARGEST_COUNT = 1_000_000
LARGEST_GUESSES = 100
SECONDS_EACH: Mapping[StudyKind, int] = {"pairs": 45, "ratings": 60}
"""Of a pair or a text, for the time estimate that raters and owners see before there are times of their own."""


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


Deal = Callable[[str, Sequence[str]], Sequence[Assignment] | Sequence[RatingAssignment]]
"""The list of a rater who gets these items."""


@dataclass(frozen=True)
class Workload:
    """What a design asks of its raters."""

    questions: dict[str, int]
    """Rater -> number of questions, or of items whose texts are rated."""
    pairs: dict[str, int]
    """Rater -> number of pairs or texts shown, hidden repeats among them."""
    short: int
    """Questions that get fewer votes than the design asks for."""
    minutes: dict[str, int]
    """Rater -> rough time, at SECONDS_EACH."""


def workload(
    design: Design, item_ids: Sequence[str], raters: Sequence[str], deal: Deal, kind: StudyKind = "pairs"
) -> Workload:
    """How the items would be shared out among `raters` if all started now."""
    shares = share_out(design, item_ids, raters)
    wanted = len(raters) if design.votes_per_pair is None else design.votes_per_pair
    votes = [sum(item in items for items in shares.values()) for item in item_ids]
    shown = {rater: len(deal(rater, items)) for rater, items in shares.items()}
    return Workload(
        questions={rater: len(items) for rater, items in shares.items()},
        pairs=shown,
        short=sum(count < wanted for count in votes),
        minutes={rater: estimated_minutes(count, kind) for rater, count in shown.items()},
    )


def estimated_minutes(entries: int, kind: StudyKind = "pairs") -> int:
    """Rough time for so many pairs or texts, in whole minutes, at least one."""
    return max(1, round(entries * SECONDS_EACH[kind] / 60))


def describe_shortage(plan: Workload) -> str | None:
    """A sentence where questions get fewer votes than the design asks for, else None."""
    if not plan.short:
        return None
    questions = "1 question gets" if plan.short == 1 else f"{plan.short} questions get"
    return f"{questions} fewer votes than the design asks for: add raters or raise the cap."


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


def deal_again(store: Store, study: Study) -> None:
    """Give a list to whoever is new or came back: in a draft all are dealt anew, later the lists stay."""
    study = get_study(store, study.study_id)
    distribute(store, study, keep_lists=study.state != "draft")


def distribute(store: Store, study: Study, *, keep_lists: bool) -> None:
    """Give every rater a list, derived from the design.

    Lists of raters who have answered stay as they are, and with `keep_lists` those of all raters. A note or a draft
    holds no list: the seed must derive every list that answers are given on.
    """
    number, design, lists = study.study_id, study.design, LISTS[study.kind]
    ids, deal, whole = _dealing(store, study, design)
    raters = [rater for rater in raters_of(store, number) if not rater.imported]
    answers = [answer for answer in lists.answers_of(store, number) if answer.answered]
    kept = {answer.rater_id for answer in answers}
    if keep_lists:
        kept |= {rater.rater_id for rater in raters}
    already: dict[str, set[str]] = {}
    for entry in lists.lists_of(store, number):
        if entry.rater_id in kept:
            already.setdefault(entry.rater_id, set()).add(entry.item_id)
    said: dict[str, dict[str, set[object]]] = {}
    for answer in answers:
        if not answer.repeat:
            # What follows rater and item in a key, up to the repeat, is the pair's level, or the text's level and source.
            said.setdefault(answer.rater_id, {}).setdefault(answer.item_id, set()).add(answer.key[2:-1])
    gone = {rater.rater_id for rater in raters if rater.revoked or rater.excluded is not None}
    held = {}
    for rater in raters:
        if rater.rater_id in gone:  # only what they have answered whole counts
            done = said.get(rater.rater_id, {})
            held[rater.rater_id] = {item for item, parts in done.items() if parts >= set(whole[item])}
        else:
            held[rater.rater_id] = already.get(rater.rater_id, set())
    real = [rater.rater_id for rater in raters if not rater.dry_run]
    shares = share_out(design, ids, real, held, closed=gone)
    for rater in raters:
        if rater.rater_id not in already:
            own = ids if rater.dry_run else shares[rater.rater_id]
            lists.replace_list(store, number, rater.rater_id, deal(rater.rater_id, own))


def planned_workload(store: Store, study: Study, design: Design, raters: Sequence[str]) -> Workload:
    """What a design asks of these raters, were they to start now."""
    ids, deal, _ = _dealing(store, study, design)
    return workload(design, ids, raters, deal, study.kind)


def _dealing(
    store: Store, study: Study, design: Design
) -> tuple[list[str], Deal, Mapping[str, Sequence[tuple[str, ...]]]]:
    """The study's items, and what `dealing` says of them."""
    items = items_of(store, study.study_id)
    deal, whole = dealing(study, design, items, outputs_of(store, study.study_id))
    return [item.item_id for item in items], deal, whole


def dealing(
    study: Study, design: Design, items: Sequence[Item], outputs: Iterable[Output]
) -> tuple[Deal, Mapping[str, Sequence[tuple[str, ...]]]]:
    """How the lists of a study are dealt, and item -> all that can be answered of it."""
    if study.kind == "ratings":
        texts = texts_by_item(outputs)
        return partial(assign_texts, design, texts=texts), texts
    first = first_source(items, study.levels, outputs)
    levels = [(level,) for level in study.levels]
    return (
        partial(assign, design, levels=study.levels, first=first),
        {item.item_id: levels for item in items},
    )
