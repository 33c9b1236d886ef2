"""Checking a design before it is kept, what a workload comes to, and the list of pairs or texts that it gives each rater."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, get_args

from core.errors import InputError
from core.schema.study import Answer, Design, Output, Role, Study
from core.schema.tasks import RatingAnswer, RatingAssignment
from core.store import Store
from core.store.answers import answers_of
from core.store.raters import assignments_of, raters_of, replace_assignments
from core.store.ratings import rating_assignments_of, ratings_of, replace_rating_assignments
from core.store.studies import get_study, items_of, outputs_of
from core.study.analysis_set import analysis_set_problems
from core.study.draws import (
    REPEAT_DISTANCE,
    assign,
    draw,
    first_source,
    main_sequence,
    share_out,
    with_repeats,
)

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


_Given = TypeVar("_Given", Answer, RatingAnswer)


@dataclass(frozen=True)
class _Work:
    """What differs between the kinds of study where lists are dealt."""

    listed: frozenset[tuple[str, str]]
    """(rater, item) as the lists stand now."""
    done: Mapping[tuple[str, str], Collection[object]]
    """(rater, item) -> what of it is answered, hidden repeats left out."""
    whole: Mapping[str, Collection[object]]
    """Item -> all that can be answered of it."""
    started: frozenset[str]
    """Raters who have answered anything: their lists stay."""
    deal: Callable[[str, Sequence[str]], None]
    """Writes a rater's list of these items."""


def deal_again(store: Store, study: Study) -> None:
    """Give a list to whoever is new or came back: in a draft all are dealt anew, later the lists stay."""
    study = get_study(store, study.study_id)
    distribute(store, study, keep_lists=study.state != "draft")


def distribute(store: Store, study: Study, *, keep_lists: bool) -> None:
    """Give every rater a list, derived from the design.

    Lists of raters who have answered stay as they are, and with `keep_lists` those of all raters. A note or a draft
    holds no list: the seed must derive every list that answers are given on.
    """
    ids = [item.item_id for item in items_of(store, study.study_id)]
    work = _pairs(store, study, ids) if study.kind == "pairs" else _texts(store, study)
    raters = [rater for rater in raters_of(store, study.study_id) if not rater.imported]
    kept = work.started | {rater.rater_id for rater in raters} if keep_lists else work.started
    already: dict[str, set[str]] = {}
    for rater_id, item_id in work.listed:
        if rater_id in kept:
            already.setdefault(rater_id, set()).add(item_id)
    real = [rater.rater_id for rater in raters if not rater.dry_run]
    gone = {rater.rater_id for rater in raters if rater.revoked or rater.excluded is not None}
    held = {one: _items_done(work, one) if one in gone else already.get(one, set()) for one in real}
    shares = share_out(study.design, ids, real, held, closed=gone)
    for rater in raters:
        if rater.rater_id not in already:
            work.deal(rater.rater_id, ids if rater.dry_run else shares[rater.rater_id])


def planned_workload(store: Store, study: Study, design: Design, raters: Sequence[str]) -> Workload:
    """What a design asks of these raters, were they to start now."""
    ids = [item.item_id for item in items_of(store, study.study_id)]
    if study.kind == "pairs":
        return workload(design, ids, study.levels, raters)
    return rating_workload(design, ids, texts_by_item(outputs_of(store, study.study_id)), raters)


def _items_done(work: _Work, rater_id: str) -> set[str]:
    """Items that a rater has answered whole: only these count for one who is gone."""
    given = {item: done for (rater, item), done in work.done.items() if rater == rater_id}
    return {item for item, done in given.items() if set(done) >= set(work.whole[item])}


def _pairs(store: Store, study: Study, ids: Sequence[str]) -> _Work:
    number, design, levels = study.study_id, study.design, study.levels
    first = first_source(items_of(store, number), levels, outputs_of(store, number))

    def deal(rater: str, items: Sequence[str]) -> None:
        replace_assignments(store, number, rater, assign(design, rater, items, levels, first))

    answers = [answer for answer in answers_of(store, number) if answer.answered]
    return _Work(
        listed=frozenset((one.rater_id, one.item_id) for one in assignments_of(store, number)),
        done=_by_item(answers, lambda answer: answer.level),
        whole=dict.fromkeys(ids, levels),
        started=frozenset(answer.rater_id for answer in answers),
        deal=deal,
    )


def _texts(store: Store, study: Study) -> _Work:
    number, design = study.study_id, study.design
    texts = texts_by_item(outputs_of(store, number))

    def deal(rater: str, items: Sequence[str]) -> None:
        replace_rating_assignments(store, number, rater, assign_texts(design, rater, items, texts))

    answers = [answer for answer in ratings_of(store, number) if answer.answered]
    return _Work(
        listed=frozenset((one.rater_id, one.item_id) for one in rating_assignments_of(store, number)),
        done=_by_item(answers, lambda answer: (answer.level, answer.source)),
        whole=texts,
        started=frozenset(answer.rater_id for answer in answers),
        deal=deal,
    )


def _by_item(
    answers: Sequence[_Given], part: Callable[[_Given], object]
) -> dict[tuple[str, str], set[object]]:
    found: dict[tuple[str, str], set[object]] = {}
    for answer in answers:
        if not answer.repeat:
            found.setdefault((answer.rater_id, answer.item_id), set()).add(part(answer))
    return found
