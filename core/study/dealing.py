"""Giving every rater a list, derived from the design: of pairs, or of texts."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from core.schema import Answer, Design, Study
from core.schema.tasks import RatingAnswer
from core.store import Store
from core.store.answers import answers_of
from core.store.raters import assignments_of, raters_of, replace_assignments
from core.store.ratings import rating_assignments_of, ratings_of, replace_rating_assignments
from core.store.studies import get_study, items_of, outputs_of
from core.study.design import Workload, workload
from core.study.draws import assign, first_source, share_out
from core.study.rating_design import assign_texts, rating_workload, texts_by_item

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
