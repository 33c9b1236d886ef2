"""The life of a study: imported, designed, opened, closed, unblinded.

Page and command both call these functions; each writes one line to the study's log.
"""

import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from core import __version__
from core.datasets.reading import is_language_tag, printable_text, same_name
from core.errors import InputError, NotAllowed
from core.schema import Dataset, Design, State, Study, StudyRecord
from core.store import Store
from core.store.record import insert_record
from core.store.studies import (
    create_study,
    get_study,
    list_studies,
    set_state,
    sources_of,
    studies_of_file,
    write_design,
    write_guideline,
    write_log,
    write_wording,
)
from core.study.analysis_set import describe_analysis_set
from core.study.dealing import distribute
from core.study.design import LARGEST_SEED, check_design
from core.study.guidelines import check_guideline
from core.study.rating_design import check_rating_design
from core.study.wording import check_wording

PAPER_SOURCES = ("ai", "human")
"""Keys of the paper's file: candidate and comparator where nothing else is said."""

_NEXT_STATES: dict[State, tuple[State, ...]] = {
    "draft": ("open",),
    "open": ("closed",),
    "closed": ("open", "unblinded"),
    "unblinded": (),
}


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
    check_design(design, dataset.sources, dataset.levels)
    known = studies_of_file(store, dataset.sha256, "pairs")
    if known and not again:
        raise InputError(
            f"{dataset.file_name} is already here: the same file (sha256 {dataset.sha256[:12]}) was imported as "
            f"{', '.join(known)}. Use that study, or say that you want a second one (--again)."
        )
    with store.writing():
        study = create_study(store, name, dataset, design, app_version=__version__)
        write_log(store, study.study_id, "imported", f"{dataset.file_name}, sha256 {dataset.sha256}")
        write_log(store, study.study_id, "declared", describe_design(design, dataset.levels))
    return study


def restore_study(store: Store, record: StudyRecord, *, name: str | None = None) -> Study:
    """Write a study that a bundle holds, under its own name or another. Links have to be issued again."""
    name = check_name(store, record.study.name if name is None else name)
    with store.writing():
        study = insert_record(store, replace(record, study=replace(record.study, name=name)))
        write_log(store, study.study_id, "restored", f"from a bundle of study {record.study.name}")
    return study


def check_name(store: Store, name: str) -> str:
    """The name without blanks around it. Raises InputError when it is empty, too long or taken."""
    name = unicodedata.normalize("NFC", name).strip()
    if not name or len(name) > 80 or not name.isprintable():
        raise InputError("A study needs a name of 1 to 80 printable characters.")
    if same_name(name) in {same_name(study.name) for study in list_studies(store)}:
        raise InputError(f"There is a study named {name!r} already. Choose another name (--name).")
    return name


def change_design(store: Store, study: Study, design: Design) -> Study:
    """Replace the design before the first vote; what changed is logged. Raises NotAllowed afterwards."""
    with store.writing():
        study = get_study(store, study.study_id)
        design = replace(design, declared=True)
        if design == study.design:
            return study
        if study.first_vote_utc is not None:
            raise NotAllowed(
                f"The design is frozen since the first vote ({study.first_vote_utc}). "
                "Margin, confidence level, analysis set, roles and draws can no longer change."
            )
        if study.kind == "ratings":
            check_rating_design(design)
        else:
            check_design(design, sorted({study.design.candidate, study.design.comparator}), study.levels)
        changed = [
            f"{field.name}: {getattr(study.design, field.name)} -> {getattr(design, field.name)}"
            for field in fields(Design)
            if getattr(study.design, field.name) != getattr(design, field.name)
        ]
        write_design(store, study.study_id, design)
        study = get_study(store, study.study_id)
        write_log(store, study.study_id, "design changed", "; ".join(changed))
        distribute(store, study, keep_lists=False)
    return study


def move(store: Store, study: Study, state: State, reason: str = "") -> Study:
    """Open, close, re-open or unblind a study. Raises NotAllowed for a step that is not on offer."""
    with store.writing():
        study = get_study(store, study.study_id)
        if state not in _NEXT_STATES[study.state]:
            steps = " or ".join(_NEXT_STATES[study.state]) or "nothing further"
            raise NotAllowed(f"A study that is {study.state} cannot become {state}; it can become {steps}.")
        reason = printable_text(reason).strip()
        if state == "unblinded" and not reason:
            raise NotAllowed("Unblinding needs a reason: it is logged with the study.")
        set_state(store, study.study_id, state)
        study = get_study(store, study.study_id)
        write_log(store, study.study_id, state, reason)
    return study


def set_guideline(store: Store, study: Study, language: str, text: str) -> None:
    """Give the study its own guidelines in one language. Raises InputError where they would unblind."""
    text = printable_text(text)
    check_guideline(text, sources_of(store, study.study_id))
    _check_language_tag(language)
    with store.writing():
        write_guideline(store, study.study_id, language, text)
        write_log(store, study.study_id, "guidelines changed", language)


def set_wording(store: Store, study: Study, language: str, texts: Mapping[str, str]) -> None:
    """Give the study its own consent text and labels in one language; what is left out is as Assay says it.

    Raises InputError where a text cannot be used.
    """
    kept = {key: printable_text(text).strip() for key, text in texts.items()}
    _check_language_tag(language)
    check_wording(kept, sources_of(store, study.study_id), language)
    with store.writing():
        write_wording(store, study.study_id, language, kept)
        write_log(store, study.study_id, "wording changed", f"{language}: {', '.join(kept) or 'as shipped'}")


def _check_language_tag(language: str) -> None:
    if not is_language_tag(language):
        raise InputError(f"{language[:40]!r} is no language tag such as en, pt-BR or zh-Hant.")


def describe_design(design: Design, levels: Sequence[str] = ()) -> str:
    """The declaration in one line, for log and screen; `levels`: of a study of pairs."""
    votes = "from all raters" if design.votes_per_pair is None else f"{design.votes_per_pair}"
    if not design.candidate:  # texts are rated one by one
        return f"seed {design.seed}, ratings per item {votes}, hidden repeats {design.repeat_share:.0%}"
    return (
        f"candidate {design.candidate}, comparator {design.comparator}, margin {design.margin:g}, "
        f"confidence level {design.confidence_level:g}, seed {design.seed}, votes per pair {votes}, "
        f"levels {design.level_order}, hidden repeats {design.repeat_share:.0%}, "
        f"guesses at the end {_guesses(design)}; {describe_analysis_set(design, levels)}"
    )


def _guesses(design: Design) -> str:
    return (
        f"{design.blinding_pairs} (a person wrote the {design.person}'s)" if design.blinding_pairs else "none"
    )
