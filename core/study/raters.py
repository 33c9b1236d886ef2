"""The raters of a study: links, votes collected elsewhere, and progress."""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from core.errors import InputError, NotAllowed, Problems
from core.formats.trutheval import read_votes
from core.schema.study import Answer, Asks, Assignment, HistoryEntry, Preference, Rater, RatingAnswer, Study
from core.stats.multiplicity import corrected
from core.stats.votes import consistency, position_bias
from core.store import Store
from core.store.answers import (
    PAIRS,
    RATINGS,
    Entry,
    Given,
    answers_of,
    assignments_of,
    rating_assignments_of,
    ratings_of,
)
from core.store.raters import current_token, find_rater, insert_rater, issue_link, raters_of, update_rater
from core.store.studies import get_study, items_of, now_utc, set_state, sources_of, write_log
from core.study.analysis_set import fix_at_vote
from core.study.design import Pair, Workload, deal_again, planned_workload
from core.study.guidelines import named_sources
from core.study.shipped import guideline_languages
from core.study.times import first_seconds, known_seconds, rater_seconds, reading_seconds
from core.tables.reading import same_name, shown


@dataclass(frozen=True)
class Link:
    """A rater's personal link."""

    rater_id: str
    token: str

    def url(self, base: str) -> str:
        """The full address to send; `base` is the app's address."""
        return f"{base.rstrip('/')}/r/{self.token}"


def add_raters(
    store: Store,
    study: Study,
    rater_ids: Sequence[str],
    *,
    dry_run: bool = False,
    language: str | None = None,
) -> list[Link]:
    """Add raters and give each a personal link. Raises InputError for blank, duplicate or taken ids."""
    with store.writing():
        if not dry_run:
            _check_not_over(store, study)
        _check_language(store, study, language)
        rater_ids = _checked_ids(store, study, rater_ids)
        for rater_id in rater_ids:
            rater = Rater(rater_id, dry_run=dry_run, language=language, created_utc=now_utc())
            insert_rater(store, study.study_id, rater)
            action = "preview added" if dry_run else "rater added"
            write_log(store, study.study_id, action, rater_id=rater_id)
        links = [Link(rater_id, issue_link(store, study.study_id, rater_id)) for rater_id in rater_ids]
        deal_again(store, study)
    return links


def telling_ids(store: Store, study: Study, rater_ids: Sequence[str]) -> str | None:
    """A note if ids name a system of the study, else None. Not an error: a system may be called "a" or "one"."""
    sources = sources_of(store, study.study_id)
    telling = [
        f"{shown(rater_id)} ({', '.join(map(shown, named))})"
        for rater_id in rater_ids
        if (named := named_sources(rater_id, sources))
    ]
    if not telling:
        return None
    return f"Raters read their own id, and it names a system: {', '.join(telling)}."


def preview_link(store: Store, study: Study) -> Link:
    """Make a link that shows the study as a rater sees it; its answers are marked as a dry run."""
    used = {rater.rater_id for rater in raters_of(store, study.study_id)}
    number = next(n for n in range(1, len(used) + 2) if f"preview-{n}" not in used)
    return add_raters(store, study, [f"preview-{number}"], dry_run=True)[0]


def links(store: Store, study: Study) -> list[Link]:
    """All links that currently work."""
    tokens = [(r.rater_id, current_token(store, study.study_id, r)) for r in raters_of(store, study.study_id)]
    return [Link(rater_id, token) for rater_id, token in tokens if token is not None]


def revoke_link(store: Store, study: Study, rater_id: str) -> None:
    """Revoke a rater's link; the answers are kept."""
    with store.writing():
        rater = find_rater(store, study.study_id, rater_id)
        if rater.link_number == 0 or rater.revoked:
            raise NotAllowed(f"{rater_id!r} has no working link.")
        update_rater(store, study.study_id, rater_id, revoked=1, token_sha256=None)
        write_log(store, study.study_id, "link revoked", rater_id=rater_id)


def reissue_link(store: Store, study: Study, rater_id: str) -> Link:
    """Give a rater a new link; the old one stops working. Raises NotAllowed for imported or withdrawn raters."""
    with store.writing():
        rater = find_rater(store, study.study_id, rater_id)
        if rater.imported:
            raise NotAllowed(
                f"The votes of {rater_id!r} were imported from a file, so this rater has no link."
            )
        if rater.withdrawn:
            raise NotAllowed(f"{rater_id!r} withdrew and cannot get a new link.")
        link = Link(rater_id, issue_link(store, study.study_id, rater_id))
        write_log(store, study.study_id, "link issued again", rater_id=rater_id)
        if rater.revoked:
            deal_again(store, study)
    return link


def import_votes_file(store: Store, study: Study, rater_id: str, data: bytes, file_name: str) -> int:
    """Import a file in Factual's votes JSON under a rater's name; return the number of votes."""
    check_asks(study, ["levels"], "votes file of Factual")
    items = items_of(store, study.study_id)
    pairs = {(item.item_id, level) for item in items for level in study.levels}
    return import_votes(store, study, rater_id, read_votes(data, file_name, pairs))


def import_votes(store: Store, study: Study, rater_id: str, votes: dict[Pair, Preference]) -> int:
    """Import preferences collected elsewhere under a rater's name; return how many.

    They have no side and no time, so position bias and times leave them out with a reason. If nobody rates by link,
    nobody has to stay blind: the first import of votes unblinds the study.
    """
    check_asks(study, ["levels", "preference"], "votes for one of two answers")
    if not votes:
        raise InputError("The file has no votes: every entry is empty.")
    with store.writing():
        if not _only_imported(store, study):
            _check_not_over(store, study)
        (rater_id,) = _checked_ids(store, study, [rater_id])
        rater = Rater(rater_id, imported=True, created_utc=now_utc())
        insert_rater(store, study.study_id, rater)
        for (item, level), vote in votes.items():
            PAIRS.save(store, study.study_id, Answer(rater_id, item, level, preference=vote))
        fix_at_vote(store, study.study_id, imported=True)
        write_log(
            store,
            study.study_id,
            "votes imported",
            f"{len(votes)} preferences, side and time unknown",
            rater_id=rater_id,
        )
        if _only_imported(store, study) and get_study(store, study.study_id).state != "unblinded":
            set_state(store, study.study_id, "unblinded")
            write_log(
                store, study.study_id, "unblinded", "every vote was imported, so nobody has to stay blind"
            )
    return len(votes)


_ASKED: Mapping[Asks, str] = {
    "levels": "compares answers at given levels",
    "preference": "compares pairs without levels",
    "ratings": "rates single texts",
}


def check_asks(study: Study, allowed: Collection[Asks], what: str) -> None:
    """Raise NotAllowed for a study that is not of an allowed kind; `what`: feature that only allowed kinds have."""
    if study.asks not in allowed:
        raise NotAllowed(f"Study {study.name!r} {_ASKED[study.asks]}, so it has no {what}.")


def rater_id_problem(rater_id: str) -> str | None:
    """Why a text cannot be a rater's id, or None."""
    if not rater_id or len(rater_id) > 80 or not rater_id.isprintable():
        return f"{rater_id[:80]!r}: an id must have 1 to 80 printable characters"
    return None


def _check_language(store: Store, study: Study, language: str | None) -> None:
    there = guideline_languages(store, get_study(store, study.study_id))
    if language is not None and language not in there and language.split("-")[0] not in there:
        raise InputError(
            f"No guidelines in {language!r}; available: {', '.join(there)}. Write them first on the page Studies, "
            "under Guidelines."
        )


def study_workload(store: Store, study: Study) -> Workload:
    """The workload that the design gives the study's raters (without previews and imported votes)."""
    real = [
        r.rater_id
        for r in raters_of(store, study.study_id)
        if not (r.dry_run or r.imported or r.revoked) and r.excluded is None
    ]
    return planned_workload(store, study, study.design, real)


def _check_not_over(store: Store, study: Study) -> None:
    if get_study(store, study.study_id).state == "unblinded":
        raise NotAllowed("The study is unblinded, so no raters or votes can be added.")


def _only_imported(store: Store, study: Study) -> bool:
    """Whether nobody rates this study by link or ever did."""
    people = [r for r in raters_of(store, study.study_id) if not (r.dry_run or r.imported)]
    answered = {answer.rater_id for answer in answers_of(store, study.study_id) if answer.answered}
    return not any(rater.rater_id in answered or not rater.revoked for rater in people)


def _checked_ids(store: Store, study: Study, rater_ids: Sequence[str]) -> list[str]:
    """Check ids and strip blanks. Raises InputError for invalid ids, and for ids that look like another one."""
    clean = [unicodedata.normalize("NFC", rater_id).strip() for rater_id in rater_ids]
    taken = {same_name(rater.rater_id) for rater in raters_of(store, study.study_id)}
    problems = Problems()
    new: set[str] = set()
    for rater_id in clean:
        if problem := rater_id_problem(rater_id):
            problems.append(problem)
        elif same_name(rater_id) in taken:
            problems.append(f"{rater_id!r} is already in this study")
        elif same_name(rater_id) in new:
            problems.append(f"{rater_id!r} occurs twice in the list")
        new.add(same_name(rater_id))
    if problems:
        raise InputError("These raters cannot be added:", problems)
    return clean


FAST_SECONDS = 5.0
"""Raters with a lower median are flagged: two answers and a reference take longer to read."""
ONE_SIDE_P = 0.05
"""Raters with a lower p-value for choosing both sides equally often are flagged."""
LEAST_CONSISTENT = 0.5
"""Raters whose 95 % interval of the share of consistent repeats lies below this are flagged."""
LEAST_ANSWERS = 10
"""Minimum number of answers for a flag."""


@dataclass(frozen=True, kw_only=True)
class ListProgress:
    """One line of the progress table: the columns shared by studies of pairs and of ratings."""

    rater_id: str
    kind: str
    """`rater`, `dry run` or `imported`."""
    done: int
    total: int
    """Entries on the rater's list, including hidden repeats; for imported votes, the number of votes."""
    skipped: int
    flagged: int
    median_seconds: float | None
    """Median over answers with a time; None without any."""
    median_seconds_first: float | None
    """Median until the first answer, over answers for which it is known."""
    median_seconds_visible: float | None
    """Median in a visible tab until the first answer, over answers for which browsers said it."""
    translated: int
    """Answers given on a page that the browser had translated."""
    repeats_same: int
    """Hidden repeats with the same answer as the first time."""
    repeats: int
    """Hidden repeats answered both times."""
    last_utc: str | None
    revoked: bool
    finished: bool
    """Whether the rater has locked their answers."""
    excluded: str | None
    """The owner's reason for excluding the rater; None: counted."""
    flags: tuple[str, ...]
    """Warnings in words: reasons to check this rater, not to exclude them."""


@dataclass(frozen=True, kw_only=True)
class RaterProgress(ListProgress):
    """Progress of a rater of pairs. A repeat is the same if the rater preferred the same text, or again chose both good
    or both bad.
    """

    left_rate: float | None
    """Share of left among choices of a side, without hidden repeats, as in the results; None without any."""
    both_good_rate: float | None
    """Share of both good among all answers without hidden repeats; None without any."""


@dataclass(frozen=True, kw_only=True)
class RatingProgress(ListProgress):
    """Progress of a rater of texts. A repeat is the same if all scores are equal, and errors were marked either both
    times or never.
    """

    with_errors: int | None
    """Texts with marked errors, without hidden repeats; None: the task has no marked errors."""
    errors: int | None
    """Number of errors marked in them."""


def list_progress(store: Store, study: Study) -> Sequence[ListProgress]:
    """Progress of each rater, in any kind of study, in the order in which raters were added."""
    raters = raters_of(store, study.study_id)
    if study.kind == "pairs":
        return progress_of(
            raters,
            assignments_of(store, study.study_id),
            answers_of(store, study.study_id),
            PAIRS.history_of(store, study.study_id),
        )
    shown, given = _entries_by_rater(
        rating_assignments_of(store, study.study_id), ratings_of(store, study.study_id)
    )
    spans = study.task is not None and study.task.spans is not None
    first = first_seconds(RATINGS.history_of(store, study.study_id))
    return [
        _rating_line(rater, given[rater.rater_id], len(shown[rater.rater_id]), spans, first)
        for rater in raters
    ]


def progress_of(
    raters: Sequence[Rater],
    assignments: Sequence[Assignment],
    submitted: Sequence[Answer],
    history: Sequence[HistoryEntry],
) -> list[RaterProgress]:
    """Progress of raters of pairs, from the lists, answers and history of a study's record."""
    first = first_seconds(history)
    shown, answers = _entries_by_rater(assignments, submitted)
    names = [rater.rater_id for rater in raters]
    sides = [_sides(answers[name]) for name in names]
    p_values = [position_bias(*side).p if sum(side) >= LEAST_ANSWERS else None for side in sides]
    n_tests = sum(p is not None for p in p_values)
    return [
        _line(rater, answers[rater.rater_id], shown[rater.rater_id], (p, n_tests), first)
        for rater, p in zip(raters, corrected(p_values), strict=True)
    ]


def _sides(answers: Sequence[Answer]) -> tuple[int, int]:
    """Choices of the left and of the right answer, without hidden repeats."""
    chosen = [answer.choice for answer in answers if answer.answered and not answer.repeat]
    return chosen.count("left"), chosen.count("right")


def _entries_by_rater(
    entries: Sequence[Entry], answers: Sequence[Given]
) -> tuple[Mapping[str, list[Entry]], Mapping[str, list[Given]]]:
    shown: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        shown[entry.rater_id].append(entry)
    given: dict[str, list[Given]] = defaultdict(list)
    for answer in answers:
        given[answer.rater_id].append(answer)
    return shown, given


def _shared(
    rater: Rater,
    answers: Sequence[Answer] | Sequence[RatingAnswer],
    total: int,
    same: tuple[int, int],
    first: Mapping[Hashable, float | None],
) -> dict[str, Any]:
    """The fields of ListProgress except the flags."""
    given = [answer for answer in answers if answer.answered]
    seconds, times = known_seconds(answer.seconds for answer in given), rater_seconds(answers, first)
    return {
        "rater_id": rater.rater_id,
        "kind": "imported" if rater.imported else "dry run" if rater.dry_run else "rater",
        "done": len(given),
        "total": len(given) if rater.imported else total,
        "skipped": sum(answer.skipped for answer in answers),
        "flagged": sum(answer.invalid for answer in answers),
        "median_seconds": median(seconds) if seconds else None,
        "median_seconds_first": times.median_seconds_first,
        "median_seconds_visible": times.median_seconds_visible,
        "translated": sum(bool(answer.translated) for answer in given),
        "repeats_same": same[0],
        "repeats": same[1],
        "last_utc": max((answer.answered_utc for answer in given if answer.answered_utc), default=None),
        "revoked": rater.revoked,
        "finished": rater.finished_utc is not None,
        "excluded": rater.excluded,
    }


def _fast(
    given: Sequence[Answer] | Sequence[RatingAnswer], first: Mapping[Hashable, float | None], what: str
) -> list[str]:
    seconds = known_seconds(reading_seconds(answer, first) for answer in given)
    if len(seconds) < LEAST_ANSWERS or median(seconds) >= FAST_SECONDS:
        return []
    return [f"fast: half of the {what} within {median(seconds):.1f} seconds"]


def _translated(given: Sequence[Answer] | Sequence[RatingAnswer], what: str) -> list[str]:
    n = sum(bool(answer.translated) for answer in given)
    return [f"translated: {n} of {len(given)} {what} on a page that the browser had translated"] if n else []


def _line(
    rater: Rater,
    answers: Sequence[Answer],
    shown: Sequence[Assignment],
    one_side: tuple[float | None, int],
    first: Mapping[Hashable, float | None],
) -> RaterProgress:
    """one_side: p of the rater's share of left, corrected by Holm (None: too few choices), and the number of raters tested."""
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    left, right = _sides(answers)
    both_good = [answer for answer in main if "both_good" in (answer.choice, answer.preference)]
    same, repeats = _consistency(given, shown)
    return RaterProgress(
        **_shared(rater, answers, len(shown), (same, repeats), first),
        left_rate=left / (left + right) if left + right else None,
        both_good_rate=len(both_good) / len(main) if main else None,
        flags=(
            *_fast(given, first, "answers"),
            *_side_flags(left, right, *one_side),
            *_repeat_flags(same, repeats),
            *_translated(given, "answers"),
        ),
    )


def _consistency(submitted: Sequence[Answer], shown: Sequence[Assignment]) -> tuple[int, int]:
    """(same, answered twice) over hidden repeats. Compares the chosen systems, because sides may have been swapped."""
    on_side = {a.key: {"left": a.left, "right": a.right} for a in shown}
    meant = {
        answer.key: on_side[answer.key].get(answer.choice, answer.choice)
        for answer in submitted
        if answer.choice and answer.key in on_side
    }
    twice = [(key, (*key[:3], False)) for key in meant if key[3] and (*key[:3], False) in meant]
    return sum(meant[again] == meant[first] for again, first in twice), len(twice)


def _side_flags(left: int, right: int, p: float | None, n_tests: int) -> list[str]:
    if p is None or p >= ONE_SIDE_P:
        return []
    more = "left" if left > right else "right"
    paid = f", corrected for {n_tests} raters" if n_tests > 1 else ""
    return [f"one side: {more} in {max(left, right)} of {left + right} choices ({_p(p)}{paid})"]


def _repeat_flags(same: int, repeats: int) -> list[str]:
    """Flag a rater if the interval of the share of consistent repeats lies below one half, as for 0 of 4 or 2 of 10."""
    found = consistency(same, repeats)
    if found.high is None or found.high >= LEAST_CONSISTENT:
        return []
    return [f"repeats: same answer to only {same} of {repeats} repeated pairs"]


def _p(value: float) -> str:
    return "p below 0.001" if value < 0.001 else f"p {value:.3f}"


def _rating_line(
    rater: Rater,
    answers: Sequence[RatingAnswer],
    total: int,
    spans: bool,
    first: Mapping[Hashable, float | None],
) -> RatingProgress:
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    marked = [answer for answer in main if answer.spans]
    return RatingProgress(
        **_shared(rater, answers, total, _rating_consistency(given), first),
        flags=(*_fast(given, first, "texts"), *_same_flags(main), *_translated(given, "texts")),
        with_errors=len(marked) if spans else None,
        errors=sum(len(answer.spans) for answer in marked) if spans else None,
    )


def _rating_consistency(given: Sequence[RatingAnswer]) -> tuple[int, int]:
    """(same, answered twice) over hidden repeats, without texts reported as broken."""
    said = {a.key: (dict(a.scores), bool(a.spans)) for a in given if not a.invalid}
    twice = [(key, (*key[:4], False)) for key in said if key[4] and (*key[:4], False) in said]
    return sum(said[again] == said[first] for again, first in twice), len(twice)


def _same_flags(main: Sequence[RatingAnswer]) -> list[str]:
    said = [(tuple(sorted(a.scores.items())), bool(a.spans)) for a in main if not a.invalid]
    if len(said) < LEAST_ANSWERS or len(set(said)) > 1:
        return []
    return [f"always the same: equal answers for all {len(said)} texts"]
