"""The raters of a study: their links, their lists of pairs, and votes that were collected elsewhere."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import InputError, NotAllowed, Problems
from core.formats.trutheval import read_votes
from core.schema.study import Answer, Preference, Rater, Study
from core.schema.tasks import StudyKind
from core.store import Store
from core.store.answers import PAIRS, answers_of
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
    check_kind(study, "pairs", "votes for one of two answers")
    items = items_of(store, study.study_id)
    pairs = {(item.item_id, level) for item in items for level in study.levels}
    return import_votes(store, study, rater_id, read_votes(data, file_name, pairs))


def import_votes(store: Store, study: Study, rater_id: str, votes: dict[Pair, Preference]) -> int:
    """Keep preferences that were collected elsewhere under a rater's name; returns how many.

    They have no side and no time, so that position bias and times leave them out by reason. A study in which
    nobody rates by link has nobody to keep blind: it is unblinded from its first import of votes.
    """
    check_kind(study, "pairs", "votes for one of two answers")
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


def check_kind(study: Study, kind: StudyKind, what: str) -> None:
    """Raise NotAllowed where a study is of the other kind; `what` is what only studies of `kind` have."""
    if study.kind != kind:
        has = {"pairs": "pairs of answers are compared", "ratings": "texts are rated one by one"}[study.kind]
        raise NotAllowed(f"In study {study.name!r} {has}: there can be no {what}.")


def rater_id_problem(rater_id: str) -> str | None:
    """Why a text is no rater's id, or None."""
    if not rater_id or len(rater_id) > 80 or not rater_id.isprintable():
        return f"{rater_id[:80]!r}: a rater needs an id of 1 to 80 printable characters"
    return None


def _check_language(store: Store, study: Study, language: str | None) -> None:
    there = sorted({*shipped_languages(study.kind), *read_guidelines(store, study.study_id)})
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
