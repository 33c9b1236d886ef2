"""Designs: checks, workloads, and the list of pairs or texts for each rater.

Every random decision of a study comes from SHA-256 over (seed, rater, item, level) and a word for its purpose. Nothing
else matters: not the systems' names, not which is the candidate, not the file's hash. docs/design.md has a ten-line
script that recomputes the sides; a test runs it.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar, get_args

from core.errors import InputError
from core.rendering.code import lexer_named
from core.schema.designs import PairDesign, RatingDesign, StudyDesign
from core.schema.settings import Remark, fields_of, page_word, said
from core.schema.study import (
    Answer,
    Assignment,
    Design,
    Item,
    Output,
    RatingAnswer,
    RatingAssignment,
    RatingTask,
    Role,
    Study,
    StudyKind,
)
from core.store import Store
from core.store.answers import LISTS
from core.store.raters import raters_of
from core.store.studies import get_study, items_of, outputs_of
from core.study.analysis_set import analysis_set_problems

SECONDS_EACH: Mapping[StudyKind, int] = {"pairs": 45, "ratings": 60}
"""Seconds for a pair or a text, for the time estimate that raters and owners see before there are real times."""


_OF_THE_DATA = {"candidate", "comparator", "person", "main_levels"}
"""Fields whose possible values are those of a data set."""


def check_design(design: Design, sources: Sequence[str], levels: Sequence[str]) -> None:
    """Raise InputError with every invalid field; `sources` (systems) and `levels` are the data set's."""
    problems = []
    named = {"candidate": design.candidate, "comparator": design.comparator}
    unknown = {role: source for role, source in named.items() if source not in sources}
    for role, source in unknown.items():
        # A blank one could not be completed from the other, which is the mistake.
        if source or not any(unknown.values()):
            problems.append(f"{role}: the data set has no system {source!r}; it has {' and '.join(sources)}")
    if design.candidate == design.comparator:
        problems.append(f"candidate and comparator are both {design.candidate!r}; name two systems")
    if design.margin is None and design.early_looks:
        problems.append("early looks: declare a candidate and a margin, which the bound is compared with")
    if design.person not in get_args(Role):
        problems.append(f"person: {design.person!r} is neither candidate nor comparator")
    problems += _field_problems(PairDesign, design) + _shown_problems(design)
    problems += analysis_set_problems(design, levels)
    if problems:
        raise InputError("Invalid design:", problems)


def _field_problems(model: type[StudyDesign], design: Design) -> list[str]:
    """Problems of the fields whose possible values do not depend on data, all of them together."""
    fields = fields_of(model)
    values = {name: getattr(design, name) for name in fields if name not in _OF_THE_DATA}
    found: list[Remark] = []
    model.read(values, found)
    found += [one for one in model.model_construct(**values).conflicts() if one not in found]
    return [said(one, fields, page_word) for one in found]


def _shown_problems(design: Design) -> list[str]:
    language = design.code_language
    if not language or lexer_named(language) is not None:
        return []
    return [f"code language: there are no colours for {language[:40]!r}; use a name such as python or sql"]


def check_rating_design(design: Design, task: RatingTask) -> None:
    """Raise InputError with every invalid field; roles, margin and guesses are not used."""
    problems = _field_problems(RatingDesign, design) + _shown_problems(design)
    if task.spans is not None and not design.shown.as_written:
        problems.append(
            "rendering: choose plain; raters of this task mark errors in the text as it was written"
        )
    if design.candidate or design.comparator:
        problems.append("candidate and comparator: leave them out; texts are rated one by one, without roles")
    if design.early_looks:
        problems.append("early looks: only a study of pairs has a verdict that can be looked at early")
    if problems:
        raise InputError("Invalid design:", problems)


REPEAT_DISTANCE = 10
"""Minimum number of other pairs between a pair and its hidden repeat."""

_Key = TypeVar("_Key")
Pair = tuple[str, str]
"""(item_id, level)"""


def draw(seed: int, rater: str, item: str, level: str, purpose: str) -> int:
    """A 256-bit integer: SHA-256 of the JSON list [seed, rater, item, level, purpose]."""
    message = json.dumps([seed, rater, item, level, purpose], ensure_ascii=False, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(message.encode()).digest(), "big")


def first_source(items: Sequence[Item], levels: Sequence[str], outputs: Iterable[Output]) -> str:
    """The system whose text sorts first (by code point) where the two first differ.

    This orders the two systems independently of their names and roles.
    """
    texts = {(o.source, o.item_id, o.level): o.text for o in outputs}
    sources = sorted({source for source, _, _ in texts})

    def all_texts(source: str) -> list[str]:
        return [texts[source, item.item_id, level] for item in items for level in levels]

    return min(sources, key=all_texts)


def every_other(keyed: Mapping[_Key, int]) -> set[_Key]:
    """A random half of the keys: every other one in the order of their draws; the parity of the first decides where to start.

    For an odd number of keys, the half is one larger or smaller than the rest, each with probability 1/2.
    """
    ranked = sorted(keyed, key=lambda key: keyed[key])
    offset = keyed[ranked[0]] % 2 if ranked else 0
    return {key for rank, key in enumerate(ranked) if (rank + offset) % 2 == 0}


def first_on_left(seed: int, rater: str, item_ids: Iterable[str], level: str) -> set[str]:
    """Items of one rater and level that show the first system on the left: half of them."""
    return every_other({item: draw(seed, rater, item, level, "side") for item in item_ids})


def entry_order(seed: int, item_ids: Iterable[str]) -> list[str]:
    """The order in which looks at a running study count questions, by their draw for `entry`."""
    return sorted(item_ids, key=lambda item: draw(seed, "", item, "", "entry"))


def main_sequence(design: Design, rater: str, item_ids: Collection[str], levels: Sequence[str]) -> list[Pair]:
    """The pairs of one rater in the order shown, without repeats: questions shuffled, all levels of a question together.

    If results may be looked at early, all raters have the order of entry, so that questions are completed in it.
    """
    seed = design.seed
    sequence: list[Pair] = []
    own = sorted(item_ids, key=lambda i: draw(seed, rater, i, "", "question"))
    for item in entry_order(seed, item_ids) if design.early_looks else own:
        order = list(levels)
        if design.level_order == "shuffled":
            order.sort(key=lambda level: draw(seed, rater, item, level, "level"))
        sequence += [(item, level) for level in order]
    return sequence


def n_repeats(design: Design, n_main: int) -> int:
    """Hidden repeats in a list of so many pairs or texts: the design's share, as far as REPEAT_DISTANCE leaves room."""
    return min(int(design.repeat_share * n_main + 0.5), max(n_main - REPEAT_DISTANCE, 0))


def add_repeats(
    design: Design, rater: str, main: Sequence[Pair], n_levels: int
) -> list[tuple[Pair, bool, bool]]:
    """The sequence with hidden repeats, as (pair, repeat, sides swapped).

    round(repeat_share * pairs) pairs return once, half of them with sides swapped, after the end of a question
    and with at least REPEAT_DISTANCE other pairs in between. Pairs too late for that are never drawn, so a very
    short study has no repeats.
    """
    seed = design.seed
    gaps = range(n_levels, len(main) + 1, n_levels)
    last = len(main) - REPEAT_DISTANCE
    early = sorted(main[: max(last, 0)], key=lambda pair: draw(seed, rater, pair[0], pair[1], "repeat"))
    chosen = early[: n_repeats(design, len(main))]
    swapped = every_other({pair: draw(seed, rater, pair[0], pair[1], "swap") for pair in chosen})
    after: dict[int, list[Pair]] = {}
    for pair in chosen:
        free = [gap for gap in gaps if gap >= main.index(pair) + 1 + REPEAT_DISTANCE]
        after.setdefault(free[draw(seed, rater, pair[0], pair[1], "place") % len(free)], []).append(pair)
    sequence: list[tuple[Pair, bool, bool]] = []
    for number, pair in enumerate(main, start=1):
        sequence.append((pair, False, False))
        sequence += [(again, True, again in swapped) for again in after.get(number, [])]
    return sequence


def assign(
    design: Design, rater: str, item_ids: Sequence[str], levels: Sequence[str], first: str
) -> list[Assignment]:
    """The list of one rater, in order: sides balanced within each level, hidden repeats included.

    `first` is the system that first_source() returns.
    """
    second = design.comparator if first == design.candidate else design.candidate
    on_left = {level: first_on_left(design.seed, rater, item_ids, level) for level in levels}
    main = main_sequence(design, rater, item_ids, levels)
    assignments = []
    for position, ((item, level), repeat, swap) in enumerate(
        add_repeats(design, rater, main, len(levels)), start=1
    ):
        left, right = (first, second) if (item in on_left[level]) != swap else (second, first)
        assignments.append(Assignment(rater, position, item, level, left, right, repeat))
    return assignments


def share_out(
    design: Design,
    item_ids: Sequence[str],
    raters: Sequence[str],
    already: Mapping[str, set[str]] | None = None,
    *,
    closed: Collection[str] = (),
) -> dict[str, list[str]]:
    """Share questions out among raters: rater -> item ids in the file's order.

    Without votes_per_pair, every rater gets all questions. Otherwise each question goes to votes_per_pair raters:
    first those with the fewest questions so far, ties by draw, and at most max_questions each. Raters keep the
    questions in `already`; raters in `closed` get no more.
    """
    if design.votes_per_pair is None:
        return {rater: list(item_ids) for rater in raters}
    held = {rater: set((already or {}).get(rater, set())) for rater in raters}
    cap = design.max_questions or len(item_ids)
    for item in sorted(item_ids, key=lambda i: draw(design.seed, "", i, "", "workload")):
        missing = design.votes_per_pair - sum(item in items for items in held.values())
        free = [r for r in raters if r not in closed and item not in held[r] and len(held[r]) < cap]
        free.sort(key=lambda r: (len(held[r]), draw(design.seed, r, item, "", "workload")))
        for rater in free[: max(missing, 0)]:
            held[rater].add(item)
    return {rater: [item for item in item_ids if item in held[rater]] for rater in raters}


Text = tuple[str, str]
"""(level, source) of one text of an item."""


def texts_by_item(outputs: Iterable[Output]) -> dict[str, list[Text]]:
    """Item -> its texts, sorted by the text itself, so that system names cannot change the order.

    Names decide only between identical texts, which look the same to a rater.
    """
    found: dict[str, list[tuple[str, str, str]]] = {}
    for output in outputs:
        found.setdefault(output.item_id, []).append((output.text, output.level, output.source))
    return {item: [(level, source) for _, level, source in sorted(texts)] for item, texts in found.items()}


def assign_texts(
    design: Design, rater: str, item_ids: Iterable[str], texts: Mapping[str, Sequence[Text]]
) -> list[RatingAssignment]:
    """The list of one rater, in order: items shuffled, the texts of an item together and shuffled, repeats at the end.

    texts: as `texts_by_item` returns them. round(repeat_share * texts) of them return at the end, again grouped by
    item, each with at least REPEAT_DISTANCE other texts in between.
    """
    seed = design.seed
    main: list[tuple[str, int]] = []
    for item in sorted(item_ids, key=lambda i: draw(seed, rater, i, "", "question")):
        ranks = range(len(texts[item]))
        main += [(item, k) for k in sorted(ranks, key=lambda k: draw(seed, rater, item, str(k), "text"))]
    early = main[: max(len(main) - REPEAT_DISTANCE, 0)]
    early.sort(key=lambda one: draw(seed, rater, one[0], str(one[1]), "repeat"))
    again = early[: n_repeats(design, len(main))]
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


Deal = Callable[[str, Sequence[str]], Sequence[Assignment] | Sequence[RatingAssignment]]
"""Function that returns the list of a rater who gets these items."""


@dataclass(frozen=True)
class Workload:
    """The workload that a design gives its raters."""

    questions: dict[str, int]
    """Rater -> number of questions, or of items whose texts are rated."""
    pairs: dict[str, int]
    """Rater -> number of pairs or texts shown, including hidden repeats."""
    short: int
    """Questions that get fewer votes than the design requires."""
    minutes: dict[str, int]
    """Rater -> estimated time, at SECONDS_EACH."""


def workload(
    design: Design, item_ids: Sequence[str], raters: Sequence[str], deal: Deal, kind: StudyKind = "pairs"
) -> Workload:
    """The workload if the items were shared out among `raters` now."""
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


@dataclass(frozen=True)
class Consequences:
    """Expected workload of a design, before there are any raters."""

    votes: int
    """Votes of all raters together, including hidden repeats."""
    votes_each: int
    """Votes of the rater with the longest list."""
    minutes_each: int
    """Estimated time of that rater, at SECONDS_EACH."""
    hours: float
    """Estimated time of all raters together."""
    short: int
    """Questions that get fewer votes than the design requires."""
    questions: int


def consequences(
    design: Design, n_questions: int, entries: int, n_raters: int, kind: StudyKind
) -> Consequences:
    """Expected workload with n_raters >= 1 raters. entries: pairs or texts per question."""
    given = min(design.votes_per_pair or n_raters, n_raters)
    cap = design.max_questions or n_questions
    shared = min(given * n_questions, n_raters * cap)
    votes = [
        main + n_repeats(design, main)
        for main in (entries * (shared // n_raters + (at < shared % n_raters)) for at in range(n_raters))
    ]
    return Consequences(
        votes=sum(votes),
        votes_each=max(votes),
        minutes_each=estimated_minutes(max(votes), kind),
        hours=sum(votes) * SECONDS_EACH[kind] / 3600,
        short=n_questions if given < (design.votes_per_pair or 0) else n_questions - shared // given,
        questions=n_questions,
    )


def estimated_minutes(entries: int, kind: StudyKind = "pairs") -> int:
    """Estimated time for this many pairs or texts, in whole minutes, at least one."""
    return max(1, round(entries * SECONDS_EACH[kind] / 60))


def describe_shortage(plan: Workload, study: Study) -> str | None:
    """A sentence if questions get fewer votes than the design requires while raters can still be added, else None."""
    if not plan.short or study.has_ended:
        return None
    questions = "1 question gets" if plan.short == 1 else f"{plan.short} questions get"
    limit = "" if study.first_vote_utc is not None else " or raise the limit of questions per rater"
    return f"{questions} fewer votes than the design requires. Add raters{limit}."


def deal_again(store: Store, study: Study) -> None:
    """Give new and returning raters a list. In a draft all lists are drawn again; later, existing lists stay."""
    study = get_study(store, study.study_id)
    distribute(store, study, keep_lists=study.state != "draft")


def distribute(store: Store, study: Study, *, keep_lists: bool) -> None:
    """Give every rater a list, derived from the design."""
    for rater_id, entries in _new_lists(store, study, keep_lists=keep_lists).items():
        LISTS[study.kind].replace_list(store, study.study_id, rater_id, entries)


def drafts_of(store: Store, study: Study) -> list[Answer | RatingAnswer]:
    """What raters who count have begun on open pairs or texts: comments, reports, skips, scores, marks."""
    counting = {
        rater.rater_id
        for rater in raters_of(store, study.study_id)
        if not rater.dry_run and rater.excluded is None
    }
    return [
        answer
        for answer in LISTS[study.kind].answers_of(store, study.study_id)
        if not answer.answered and answer.rater_id in counting and not _is_blank(answer)
    ]


def drafts_lost(store: Store, study: Study, design: Design) -> int:
    """How many drafts another design would take off their raters' lists."""
    begun = drafts_of(store, study)
    if not begun:
        return 0
    new = _new_lists(store, replace(study, design=design), keep_lists=False)
    return sum(all(entry.key != one.key for entry in new.get(one.rater_id, ())) for one in begun)


def lists_drawn_otherwise(store: Store, study: Study, design: Design) -> list[str]:
    """Raters whose list stays, because they have answered, although the design would draw it otherwise."""
    lists, number = LISTS[study.kind], study.study_id
    ids, deal, _ = _dealing(store, study, design)
    answered = {answer.rater_id for answer in lists.answers_of(store, number) if answer.answered}
    found = []
    for rater in raters_of(store, number):
        if rater.rater_id in answered and not (rater.dry_run or rater.imported or rater.withdrawn):
            listed = lists.lists_of(store, number, rater.rater_id)
            items = {entry.item_id for entry in listed}
            if tuple(deal(rater.rater_id, [item for item in ids if item in items])) != listed:
                found.append(rater.rater_id)
    return found


def _is_blank(answer: Answer | RatingAnswer) -> bool:
    """Whether a rater has begun nothing, or taken it back."""
    rated = isinstance(answer, RatingAnswer) and bool(answer.scores or answer.spans or answer.no_errors)
    return not (answer.comment or answer.invalid or answer.skipped or rated)


def _new_lists(
    store: Store, study: Study, *, keep_lists: bool
) -> dict[str, Sequence[Assignment] | Sequence[RatingAssignment]]:
    """Rater -> new list, for every rater whose list does not stay.

    Lists of raters who have answered stay as they are; with `keep_lists`, those of all raters do. A note or a draft
    answer does not fix a list. The seed must give every list that has answers.
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
            # Between rater and item and the repeat flag, a key has the pair's level, or the text's level and system.
            said.setdefault(answer.rater_id, {}).setdefault(answer.item_id, set()).add(answer.key[2:-1])
    gone = {rater.rater_id for rater in raters if rater.revoked or rater.excluded is not None}
    held = {}
    for rater in raters:
        if rater.rater_id in gone:  # only items they have answered completely count
            done = said.get(rater.rater_id, {})
            held[rater.rater_id] = {item for item, parts in done.items() if parts >= set(whole[item])}
        else:
            held[rater.rater_id] = already.get(rater.rater_id, set())
    real = [rater.rater_id for rater in raters if not rater.dry_run]
    shares = share_out(design, ids, real, held, closed=gone)
    return {
        rater.rater_id: deal(rater.rater_id, ids if rater.dry_run else shares[rater.rater_id])
        for rater in raters
        if rater.rater_id not in already
    }


def planned_workload(store: Store, study: Study, design: Design, raters: Sequence[str]) -> Workload:
    """The workload of these raters under a design, if they started now."""
    ids, deal, _ = _dealing(store, study, design)
    return workload(design, ids, raters, deal, study.kind)


def _dealing(
    store: Store, study: Study, design: Design
) -> tuple[list[str], Deal, Mapping[str, Sequence[tuple[str, ...]]]]:
    """(ids of the study's items, the two values that `dealing` returns)."""
    items = items_of(store, study.study_id)
    deal, whole = dealing(study, design, items, outputs_of(store, study.study_id))
    return [item.item_id for item in items], deal, whole


def dealing(
    study: Study, design: Design, items: Sequence[Item], outputs: Iterable[Output]
) -> tuple[Deal, Mapping[str, Sequence[tuple[str, ...]]]]:
    """(function that makes a rater's list, item -> all levels or texts that can be answered)."""
    if study.kind == "ratings":
        texts = texts_by_item(outputs)
        return partial(assign_texts, design, texts=texts), texts
    first = first_source(items, study.levels, outputs)
    levels = [(level,) for level in study.levels]
    return (
        partial(assign, design, levels=study.levels, first=first),
        {item.item_id: levels for item in items},
    )
