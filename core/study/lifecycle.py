"""The life of a study: imported, designed, opened, closed, unblinded; its raters and their links.

Page and command both call these functions; each writes one line to the study's log.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from core import __version__
from core.datasets.votes import read_votes
from core.errors import InputError, NotAllowed
from core.schema import Answer, Dataset, Design, Preference, Rater, State, Study, StudyRecord
from core.store import Store
from core.store.answers import answers_of, insert_answers
from core.store.raters import (
    assignments_of,
    current_token,
    find_rater,
    insert_rater,
    issue_link,
    raters_of,
    replace_assignments,
    update_rater,
)
from core.store.record import insert_record
from core.store.studies import (
    create_study,
    get_study,
    items_of,
    list_studies,
    now_utc,
    outputs_of,
    set_state,
    studies_of_file,
    update_study,
    write_guideline,
    write_log,
)
from core.study.blinding import freeze
from core.study.design import LARGEST_SEED, check_design
from core.study.draws import Pair, assign, first_source, share_out
from core.study.guidelines import check_guideline

PAPER_SOURCES = ("ai", "human")
"""Keys of the paper's file: candidate and comparator where nothing else is said."""

_NEXT_STATES: dict[State, tuple[State, ...]] = {
    "draft": ("open",),
    "open": ("closed",),
    "closed": ("open", "unblinded"),
    "unblinded": (),
}


@dataclass(frozen=True)
class Link:
    """A rater's personal link."""

    rater_id: str
    token: str

    def url(self, base: str) -> str:
        """The address to send, under the app's own address."""
        return f"{base.rstrip('/')}/?t={self.token}"


def new_seed() -> int:
    """A seed nobody chose."""
    return secrets.randbelow(LARGEST_SEED)


def parse_seed(text: str) -> int:
    """A seed as an owner wrote it; empty gives a new one. Raises InputError for anything but a number."""
    if not text.strip():
        return new_seed()
    if not text.strip().isdecimal():
        raise InputError(f"Seed: {text.strip()!r} is not a whole number from 0 to {LARGEST_SEED}.")
    return int(text)


def roles(dataset: Dataset, candidate: str | None, comparator: str | None) -> tuple[str, str]:
    """(candidate, comparator) as named, with what one name or the paper's keys imply filled in.

    Raises InputError when neither tells.
    """
    if candidate is None and comparator is None and set(dataset.sources) == set(PAPER_SOURCES):
        return PAPER_SOURCES
    one, other = dataset.sources
    opposite = {one: other, other: one}
    if candidate is None and comparator is None:
        raise InputError(
            f"Say which source is the candidate: the data set has {one!r} and {other!r}. "
            f"For example: --candidate {one} --comparator {other}."
        )
    return candidate or opposite.get(comparator or "", ""), comparator or opposite.get(candidate or "", "")


def import_study(store: Store, name: str, dataset: Dataset, design: Design, *, again: bool = False) -> Study:
    """Store a checked data set as a new study in draft.

    Raises InputError for a name that is taken or blank, a design that cannot be, or (unless `again`) a
    file that is already here.
    """
    name = check_name(store, name)
    check_design(design, dataset.sources)
    known = studies_of_file(store, dataset.sha256)
    if known and not again:
        raise InputError(
            f"{dataset.file_name} is already here: the same file (sha256 {dataset.sha256[:12]}) was imported as "
            f"{', '.join(known)}. Use that study, or say that you want a second one (--again)."
        )
    with store.writing():
        study = create_study(store, name, dataset, design, app_version=__version__)
        _log(store, study, "imported", f"{dataset.file_name}, sha256 {dataset.sha256}")
        _log(store, study, "declared", describe_design(design))
    return study


def restore_study(store: Store, record: StudyRecord, *, name: str | None = None) -> Study:
    """Write a study that a bundle holds, under its own name or another. Links have to be issued again."""
    name = check_name(store, record.study.name if name is None else name)
    with store.writing():
        study = insert_record(store, replace(record, study=replace(record.study, name=name)))
        _log(store, study, "restored", f"from a bundle of study {record.study.name}")
    return study


def check_name(store: Store, name: str) -> str:
    """The name without blanks around it. Raises InputError when it is empty, too long or taken."""
    name = name.strip()
    if not name or len(name) > 80 or not name.isprintable():
        raise InputError("A study needs a name of 1 to 80 printable characters.")
    if name in {study.name for study in list_studies(store)}:
        raise InputError(f"There is a study named {name!r} already. Choose another name.")
    return name


def change_design(store: Store, study: Study, design: Design) -> Study:
    """Replace the design before the first vote; what changed is logged. Raises NotAllowed afterwards."""
    with store.writing():
        study = get_study(store, study.study_id)
        if design == study.design:
            return study
        if study.first_vote_utc is not None:
            raise NotAllowed(
                f"The design is frozen since the first vote ({study.first_vote_utc}). "
                "Margin, confidence level, roles and draws can no longer change."
            )
        check_design(design, sorted({study.design.candidate, study.design.comparator}))
        changed = [
            f"{field.name}: {getattr(study.design, field.name)} -> {getattr(design, field.name)}"
            for field in fields(Design)
            if getattr(study.design, field.name) != getattr(design, field.name)
        ]
        update_study(store, study.study_id, **{f.name: getattr(design, f.name) for f in fields(Design)})
        study = get_study(store, study.study_id)
        _log(store, study, "design changed", "; ".join(changed))
        distribute(store, study, keep_lists=False)
    return study


def move(store: Store, study: Study, state: State, reason: str = "") -> Study:
    """Open, close, re-open or unblind a study. Raises NotAllowed for a step that is not on offer."""
    with store.writing():
        study = get_study(store, study.study_id)
        if state not in _NEXT_STATES[study.state]:
            steps = " or ".join(_NEXT_STATES[study.state]) or "nothing further"
            raise NotAllowed(f"A study that is {study.state} cannot become {state}; it can become {steps}.")
        if state == "unblinded" and not reason.strip():
            raise NotAllowed("Unblinding needs a reason: it is logged with the study.")
        set_state(store, study.study_id, state)
        study = get_study(store, study.study_id)
        _log(store, study, state, reason.strip())
    return study


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
        _check_rater_ids(store, study, rater_ids)
        for rater_id in rater_ids:
            rater = Rater(rater_id, dry_run=dry_run, language=language, created_utc=now_utc())
            insert_rater(store, study.study_id, rater)
            _log(store, study, "preview added" if dry_run else "rater added", rater_id)
        links = [Link(rater_id, issue_link(store, study.study_id, rater_id)) for rater_id in rater_ids]
        study = get_study(store, study.study_id)
        distribute(store, study, keep_lists=study.state != "draft")
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
        find_rater(store, study.study_id, rater_id)
        update_rater(store, study.study_id, rater_id, revoked=1, token_sha256=None)
        _log(store, study, "link revoked", rater_id)


def reissue_link(store: Store, study: Study, rater_id: str) -> Link:
    """Give a rater a new link; the old one stops working."""
    with store.writing():
        if find_rater(store, study.study_id, rater_id).imported:
            raise NotAllowed(f"The votes of {rater_id!r} came from a file; this rater has no link.")
        link = Link(rater_id, issue_link(store, study.study_id, rater_id))
        _log(store, study, "link issued again", rater_id)
    return link


def import_votes_file(store: Store, study: Study, rater_id: str, data: bytes, file_name: str) -> int:
    """Read the paper's votes JSON and keep it under a rater's name; returns how many votes."""
    items = items_of(store, study.study_id)
    pairs = {(item.item_id, level) for item in items for level in study.levels}
    return import_votes(store, study, rater_id, read_votes(data, file_name, pairs))


def import_votes(store: Store, study: Study, rater_id: str, votes: dict[Pair, Preference]) -> int:
    """Keep preferences that were collected elsewhere under a rater's name; returns how many.

    They have no side and no time, so that position bias and times leave them out by reason.
    """
    if not votes:
        raise InputError("The file holds no vote: every entry is empty.")
    with store.writing():
        _check_rater_ids(store, study, [rater_id])
        rater = Rater(rater_id, imported=True, created_utc=now_utc())
        insert_rater(store, study.study_id, rater)
        answers = [Answer(rater_id, item, level, preference=vote) for (item, level), vote in votes.items()]
        insert_answers(store, study.study_id, answers)
        freeze(store, study.study_id)
        _log(store, study, "votes imported", f"{rater_id}: {len(votes)} preferences, side and time unknown")
    return len(votes)


def set_guideline(store: Store, study: Study, language: str, text: str) -> None:
    """Give the study its own guidelines in one language. Raises InputError where they would unblind."""
    check_guideline(text, study)
    with store.writing():
        write_guideline(store, study.study_id, language, text)
        _log(store, study, "guidelines changed", language)


def distribute(store: Store, study: Study, *, keep_lists: bool) -> None:
    """Give every rater a list of pairs, derived from the design.

    Lists of raters who have answered stay as they are, and with `keep_lists` those of all raters.
    """
    number, design = study.study_id, study.design
    items = items_of(store, number)
    first = first_source(items, study.levels, outputs_of(store, number))
    raters = [rater for rater in raters_of(store, number) if not rater.imported]
    started = {answer.rater_id for answer in answers_of(store, number)}
    kept = started | {rater.rater_id for rater in raters} if keep_lists else started
    already: dict[str, set[str]] = {}
    for assignment in assignments_of(store, number):
        if assignment.rater_id in kept:
            already.setdefault(assignment.rater_id, set()).add(assignment.item_id)
    ids = [item.item_id for item in items]
    real = [rater.rater_id for rater in raters if not rater.dry_run]
    shares = share_out(design, ids, real, {rater: already.get(rater, set()) for rater in real})
    for rater in raters:
        if rater.rater_id not in already:
            own = ids if rater.dry_run else shares[rater.rater_id]
            plan = assign(design, rater.rater_id, own, study.levels, first)
            replace_assignments(store, number, rater.rater_id, plan)


def describe_design(design: Design) -> str:
    """The declaration in one line, for log and screen."""
    votes = "from all raters" if design.votes_per_pair is None else f"{design.votes_per_pair}"
    return (
        f"candidate {design.candidate}, comparator {design.comparator}, margin {design.margin:g}, "
        f"confidence level {design.confidence_level:g}, seed {design.seed}, votes per pair {votes}, "
        f"levels {design.level_order}, hidden repeats {design.repeat_share:.0%}"
    )


def with_roles(design: Design, candidate: str, comparator: str) -> Design:
    """The design with its two roles renamed."""
    return replace(design, candidate=candidate, comparator=comparator)


def _check_rater_ids(store: Store, study: Study, rater_ids: Sequence[str]) -> None:
    taken = {rater.rater_id for rater in raters_of(store, study.study_id)}
    problems = []
    for number, rater_id in enumerate(rater_ids):
        if not rater_id.strip() or len(rater_id) > 80 or not rater_id.isprintable():
            problems.append(f"{rater_id!r}: a rater needs an id of 1 to 80 printable characters")
        elif rater_id in taken or rater_id in rater_ids[:number]:
            problems.append(f"{rater_id!r} is in this study already")
    if problems:
        raise InputError("These raters cannot be added:", problems)


def _log(store: Store, study: Study, action: str, detail: str) -> None:
    write_log(store, study.study_id, action, detail)
