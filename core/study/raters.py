"""The raters of a study: their links, votes that were collected elsewhere, and how far each is."""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from core.errors import InputError, NotAllowed, Problems
from core.formats.trutheval import read_votes
from core.schema.study import Answer, Asks, Assignment, Preference, Rater, RatingAnswer, Study
from core.stats.votes import consistency, position_bias
from core.store import Store
from core.store.answers import (
    PAIRS,
    Entry,
    Given,
    answers_of,
    assignments_of,
    rating_assignments_of,
    ratings_of,
)
from core.store.raters import current_token, find_rater, insert_rater, issue_link, raters_of, update_rater
from core.store.studies import get_study, items_of, now_utc, read_guidelines, set_state, write_log
from core.study.analysis_set import fix_at_vote
from core.study.design import Pair, Workload, deal_again, planned_workload
from core.study.guidelines import shipped_languages
from core.tables.reading import same_name


@dataclass(frozen=True)
class Link:
    """A rater's personal link."""

    rater_id: str
    token: str

    def url(self, base: str) -> str:
        """The address to send, under the app's own address."""
        return f"{base.rstrip('/')}/r/{self.token}"


def add_raters(
    store: Store,
    study: Study,
    rater_ids: Sequence[str],
    *,
    dry_run: bool = False,
    language: str | None = None,
) -> list[Link]:
    """Add raters and give each a personal link. Raises InputError for blank, doubled or taken ids."""
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


def preview_link(store: Store, study: Study) -> Link:
    """A link that shows the study as a rater sees it; its answers are marked as a dry run."""
    used = {rater.rater_id for rater in raters_of(store, study.study_id)}
    number = next(n for n in range(1, len(used) + 2) if f"preview-{n}" not in used)
    return add_raters(store, study, [f"preview-{number}"], dry_run=True)[0]


def links(store: Store, study: Study) -> list[Link]:
    """The links that work now."""
    tokens = [(r.rater_id, current_token(store, study.study_id, r)) for r in raters_of(store, study.study_id)]
    return [Link(rater_id, token) for rater_id, token in tokens if token is not None]


def revoke_link(store: Store, study: Study, rater_id: str) -> None:
    """Make a rater's link worthless; answers are kept."""
    with store.writing():
        rater = find_rater(store, study.study_id, rater_id)
        if rater.link_number == 0 or rater.revoked:
            raise NotAllowed(f"{rater_id!r} has no working link.")
        update_rater(store, study.study_id, rater_id, revoked=1, token_sha256=None)
        write_log(store, study.study_id, "link revoked", rater_id=rater_id)


def reissue_link(store: Store, study: Study, rater_id: str) -> Link:
    """Give a rater a new link; the old one stops working. Raises NotAllowed for one who withdrew."""
    with store.writing():
        rater = find_rater(store, study.study_id, rater_id)
        if rater.imported:
            raise NotAllowed(f"The votes of {rater_id!r} came from a file; this rater has no link.")
        if rater.withdrawn:
            raise NotAllowed(f"{rater_id!r} withdrew and gets no new link.")
        link = Link(rater_id, issue_link(store, study.study_id, rater_id))
        write_log(store, study.study_id, "link issued again", rater_id=rater_id)
        if rater.revoked:
            deal_again(store, study)
    return link


def import_votes_file(store: Store, study: Study, rater_id: str, data: bytes, file_name: str) -> int:
    """Read the paper's votes JSON and keep it under a rater's name; returns how many votes."""
    check_asks(study, ["levels"], "votes file of Factual")
    items = items_of(store, study.study_id)
    pairs = {(item.item_id, level) for item in items for level in study.levels}
    return import_votes(store, study, rater_id, read_votes(data, file_name, pairs))


def import_votes(store: Store, study: Study, rater_id: str, votes: dict[Pair, Preference]) -> int:
    """Keep preferences that were collected elsewhere under a rater's name; returns how many.

    They have no side and no time, so that position bias and times leave them out by reason. A study in which
    nobody rates by link has nobody to keep blind: it is unblinded from its first import of votes.
    """
    check_asks(study, ["levels", "preference"], "votes for one of two answers")
    if not votes:
        raise InputError("The file holds no vote: every entry is empty.")
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
                store, study.study_id, "unblinded", "every vote was imported: there is nobody to keep blind"
            )
    return len(votes)


_ASKED: Mapping[Asks, str] = {
    "levels": "compares answers at stated levels",
    "preference": "compares pairs without levels",
    "ratings": "rates single texts",
}


def check_asks(study: Study, allowed: Collection[Asks], what: str) -> None:
    """Raise NotAllowed for a study that asks something else; `what`: what only the allowed ones have."""
    if study.asks not in allowed:
        raise NotAllowed(f"Study {study.name!r} {_ASKED[study.asks]}, so it has no {what}.")


def rater_id_problem(rater_id: str) -> str | None:
    """Why a text is no rater's id, or None."""
    if not rater_id or len(rater_id) > 80 or not rater_id.isprintable():
        return f"{rater_id[:80]!r}: a rater needs an id of 1 to 80 printable characters"
    return None


def _check_language(store: Store, study: Study, language: str | None) -> None:
    there = sorted({*shipped_languages(study.asks), *read_guidelines(store, study.study_id)})
    if language is not None and language not in there and language.split("-")[0] not in there:
        raise InputError(
            f"There are no guidelines in {language!r}; there are some in {', '.join(there)}. Write them first, "
            "on the page Studies under Guidelines."
        )


def study_workload(store: Store, study: Study) -> Workload:
    """What the design asks of the study's raters (without previews and imported votes)."""
    real = [
        r.rater_id
        for r in raters_of(store, study.study_id)
        if not (r.dry_run or r.imported or r.revoked) and r.excluded is None
    ]
    return planned_workload(store, study, study.design, real)


def _check_not_over(store: Store, study: Study) -> None:
    if get_study(store, study.study_id).state == "unblinded":
        raise NotAllowed("The study is unblinded: raters and votes can no longer be added.")


def _only_imported(store: Store, study: Study) -> bool:
    """Whether nobody rates this study by link, nor ever did."""
    people = [r for r in raters_of(store, study.study_id) if not (r.dry_run or r.imported)]
    answered = {answer.rater_id for answer in answers_of(store, study.study_id) if answer.answered}
    return not any(rater.rater_id in answered or not rater.revoked for rater in people)


def _checked_ids(store: Store, study: Study, rater_ids: Sequence[str]) -> list[str]:
    """The ids without blanks around them. Raises InputError for ids that cannot be, or look like another's."""
    clean = [unicodedata.normalize("NFC", rater_id).strip() for rater_id in rater_ids]
    taken = {same_name(rater.rater_id) for rater in raters_of(store, study.study_id)}
    problems = Problems()
    new: set[str] = set()
    for rater_id in clean:
        if problem := rater_id_problem(rater_id):
            problems.append(problem)
        elif same_name(rater_id) in taken:
            problems.append(f"{rater_id!r} is in this study already")
        elif same_name(rater_id) in new:
            problems.append(f"{rater_id!r} stands twice in the list")
        new.add(same_name(rater_id))
    if problems:
        raise InputError("These raters cannot be added:", problems)
    return clean


FAST_SECONDS = 5.0
"""A rater whose median is below this is flagged: two answers and a reference take longer to read."""
ONE_SIDE_P = 0.05
"""A rater whose choices of a side are this unlikely without a preference for one is flagged."""
LEAST_CONSISTENT = 0.5
"""A rater whose 95 % interval of equal repeats lies below this share is flagged."""
LEAST_ANSWERS = 10
"""No flag before so many answers."""


@dataclass(frozen=True, kw_only=True)
class ListProgress:
    """One line of the progress table, as far as studies of pairs and of ratings share it."""

    rater_id: str
    kind: str
    """`rater`, `dry run` or `imported`."""
    done: int
    total: int
    """Entries of the rater's list, hidden repeats among them; for imported votes the number of votes."""
    skipped: int
    flagged: int
    median_seconds: float | None
    """Over answers with a time; None without any."""
    repeats_same: int
    """Hidden repeats answered as the first time."""
    repeats: int
    """Hidden repeats answered whose first time was answered too."""
    last_utc: str | None
    revoked: bool
    finished: bool
    """The rater has locked their answers."""
    excluded: str | None
    """The owner's reason for leaving them out; None: counted."""
    flags: tuple[str, ...]
    """What to look at, in words; nothing follows from it by itself."""


@dataclass(frozen=True, kw_only=True)
class RaterProgress(ListProgress):
    """How far a rater of pairs is. A repeat is the same where the same text is preferred, or the same of both good and
    both bad.
    """

    left_rate: float | None
    """Share of left among the choices of a side, hidden repeats left out as in the results; None without any."""
    both_good_rate: float | None
    """Share of both good among all answers but hidden repeats; None without any."""


@dataclass(frozen=True, kw_only=True)
class RatingProgress(ListProgress):
    """How far a rater of texts is. A repeat is the same where all scores are, and where errors are said to be or not
    to be as before.
    """

    with_errors: int | None
    """Texts in which errors were marked, hidden repeats left out; None: the task marks none."""
    errors: int | None
    """Errors marked in them."""


def list_progress(store: Store, study: Study) -> Sequence[ListProgress]:
    """How far each rater is, whatever the study asks, in the order in which they were added."""
    raters = raters_of(store, study.study_id)
    if study.kind == "pairs":
        return progress_of(raters, assignments_of(store, study.study_id), answers_of(store, study.study_id))
    shown, given = _by_rater(rating_assignments_of(store, study.study_id), ratings_of(store, study.study_id))
    spans = study.task is not None and study.task.spans is not None
    return [_rating_line(rater, given[rater.rater_id], len(shown[rater.rater_id]), spans) for rater in raters]


def progress_of(
    raters: Sequence[Rater], assignments: Sequence[Assignment], given: Sequence[Answer]
) -> list[RaterProgress]:
    """The same for raters of pairs, lists and answers as a study's record holds them."""
    shown, answers = _by_rater(assignments, given)
    return [_line(rater, answers[rater.rater_id], shown[rater.rater_id]) for rater in raters]


def _by_rater(
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
    rater: Rater, answers: Sequence[Answer] | Sequence[RatingAnswer], total: int, same: tuple[int, int]
) -> dict[str, Any]:
    """Fields of ListProgress but the flags."""
    given = [answer for answer in answers if answer.answered]
    seconds = _times(answers)
    return {
        "rater_id": rater.rater_id,
        "kind": "imported" if rater.imported else "dry run" if rater.dry_run else "rater",
        "done": len(given),
        "total": len(given) if rater.imported else total,
        "skipped": sum(answer.skipped for answer in answers),
        "flagged": sum(answer.invalid for answer in answers),
        "median_seconds": median(seconds) if seconds else None,
        "repeats_same": same[0],
        "repeats": same[1],
        "last_utc": max((answer.answered_utc for answer in given if answer.answered_utc), default=None),
        "revoked": rater.revoked,
        "finished": rater.finished_utc is not None,
        "excluded": rater.excluded,
    }


def _times(answers: Sequence[Answer] | Sequence[RatingAnswer]) -> list[float]:
    return [answer.seconds for answer in answers if answer.answered and answer.seconds is not None]


def _fast(seconds: Sequence[float], what: str) -> list[str]:
    if len(seconds) < LEAST_ANSWERS or median(seconds) >= FAST_SECONDS:
        return []
    return [f"fast: half of the {what} within {median(seconds):.1f} seconds"]


def _line(rater: Rater, answers: Sequence[Answer], shown: Sequence[Assignment]) -> RaterProgress:
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    left, right = ([answer.choice for answer in main].count(side) for side in ("left", "right"))
    both_good = [answer for answer in main if "both_good" in (answer.choice, answer.preference)]
    same, repeats = _consistency(given, shown)
    return RaterProgress(
        **_shared(rater, answers, len(shown), (same, repeats)),
        left_rate=left / (left + right) if left + right else None,
        both_good_rate=len(both_good) / len(main) if main else None,
        flags=(*_fast(_times(answers), "answers"), *_side_flags(left, right), *_repeat_flags(same, repeats)),
    )


def _consistency(given: Sequence[Answer], shown: Sequence[Assignment]) -> tuple[int, int]:
    """(same, answered twice) over hidden repeats: sides may have been swapped, so what stood there is compared."""
    on_side = {a.key: {"left": a.left, "right": a.right} for a in shown}
    meant = {
        answer.key: on_side[answer.key].get(answer.choice, answer.choice)
        for answer in given
        if answer.choice and answer.key in on_side
    }
    twice = [(key, (*key[:3], False)) for key in meant if key[3] and (*key[:3], False) in meant]
    return sum(meant[again] == meant[first] for again, first in twice), len(twice)


def _side_flags(left: int, right: int) -> list[str]:
    side = position_bias(left, right)
    if left + right < LEAST_ANSWERS or side.p is None or side.p >= ONE_SIDE_P:
        return []
    more = "left" if left > right else "right"
    return [f"one side: {more} in {max(left, right)} of {left + right} ({_p(side.p)})"]


def _repeat_flags(same: int, repeats: int) -> list[str]:
    """A rater is flagged when the interval of the share of equal repeats lies below one half: 0 of 4, 2 of 10."""
    found = consistency(same, repeats)
    if found.high is None or found.high >= LEAST_CONSISTENT:
        return []
    return [f"repeats: the same answer to {same} of {repeats} repeated pairs"]


def _p(value: float) -> str:
    return "p below 0.001" if value < 0.001 else f"p {value:.3f}"


def _rating_line(rater: Rater, answers: Sequence[RatingAnswer], total: int, spans: bool) -> RatingProgress:
    given = [answer for answer in answers if answer.answered]
    main = [answer for answer in given if not answer.repeat]
    marked = [answer for answer in main if answer.spans]
    return RatingProgress(
        **_shared(rater, answers, total, _rating_consistency(given)),
        flags=(*_fast(_times(answers), "texts"), *_same_flags(main)),
        with_errors=len(marked) if spans else None,
        errors=sum(len(answer.spans) for answer in marked) if spans else None,
    )


def _rating_consistency(given: Sequence[RatingAnswer]) -> tuple[int, int]:
    """(same, answered twice) over hidden repeats; broken texts are left out."""
    said = {a.key: (dict(a.scores), bool(a.spans)) for a in given if not a.invalid}
    twice = [(key, (*key[:4], False)) for key in said if key[4] and (*key[:4], False) in said]
    return sum(said[again] == said[first] for again, first in twice), len(twice)


def _same_flags(main: Sequence[RatingAnswer]) -> list[str]:
    said = [(tuple(sorted(a.scores.items())), bool(a.spans)) for a in main if not a.invalid]
    if len(said) < LEAST_ANSWERS or len(set(said)) > 1:
        return []
    return [f"always the same: one answer for all {len(said)} texts"]
