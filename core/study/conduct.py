"""While raters are at work: leave one out, let one go, remind those with open pairs. Every step is logged."""

from dataclasses import dataclass

from core.datasets.reading import printable_text
from core.errors import InputError, NotAllowed
from core.schema import Rater, Study
from core.schema.tasks import StudyKind
from core.store import Store
from core.store.raters import find_rater, raters_of, rename_rater, update_rater
from core.store.studies import write_log
from core.study.blinding import open_desk
from core.study.dealing import deal_again
from core.study.design import estimated_minutes
from core.study.progress import ListProgress
from core.study.raters import links
from core.study.rating_design import minutes_for_texts
from core.study.rating_progress import list_progress

VOTES_LEFT_OUT = "votes left out"
"""Ends the log's line of a rater who withdrew with their votes."""


def exclude_rater(store: Store, study: Study, rater_id: str, reason: str) -> None:
    """Leave a rater's answers out of the analysis; they are kept. Raises InputError without a reason."""
    reason = printable_text(reason).strip()
    if not reason:
        raise InputError("Leaving a rater out needs a reason: it is kept with the study and its exports.")
    with store.writing():
        find_rater(store, study.study_id, rater_id)
        update_rater(store, study.study_id, rater_id, excluded=reason)
        write_log(store, study.study_id, "rater excluded", reason, rater_id=rater_id)


def include_rater(store: Store, study: Study, rater_id: str) -> None:
    """Count an excluded rater's answers again. Raises NotAllowed for one who is counted, or withdrew."""
    with store.writing():
        rater = find_rater(store, study.study_id, rater_id)
        if rater.excluded is None:
            raise NotAllowed(f"{rater_id!r} is not excluded.")
        if rater.withdrawn:
            raise NotAllowed(f"{rater_id!r} withdrew with their votes: these stay left out.")
        update_rater(store, study.study_id, rater_id, excluded=None)
        write_log(store, study.study_id, "rater included again", rater_id=rater_id)
        deal_again(store, study)


def withdraw_rater(store: Store, study: Study, rater_id: str, *, keep_votes: bool) -> str:
    """Delete a rater's comments and pseudonym everywhere in the study and close their link; returns the new name.

    The votes stay under the new name, or stay and are left out of the analysis. Copies made before (backups,
    exports) still hold the old name.
    """
    with store.writing():
        rater = find_rater(store, study.study_id, rater_id)
        if rater.withdrawn:
            raise NotAllowed(f"{rater_id!r} has withdrawn already.")
        taken = {other.rater_id for other in raters_of(store, study.study_id)}
        new = next(name for n in range(1, len(taken) + 2) if (name := f"withdrawn-{n}") not in taken)
        changes: dict[str, object] = {"withdrawn": 1, "revoked": 1, "token_sha256": None}
        if not keep_votes:
            changes["excluded"] = f"withdrew, {VOTES_LEFT_OUT}"
        update_rater(store, study.study_id, rater_id, **changes)
        rename_rater(store, study.study_id, rater_id, new)
        kept = "votes kept" if keep_votes else VOTES_LEFT_OUT
        write_log(
            store, study.study_id, "rater withdrew", f"comments and pseudonym deleted, {kept}", rater_id=new
        )
    store.forget()
    return new


@dataclass(frozen=True)
class Reminder:
    """A message for a rater with open pairs."""

    rater_id: str
    text: str


def reminders(store: Store, study: Study, base: str) -> list[Reminder]:
    """One message for each rater with something left to do, ready to send; `base` is the app's address.

    Left to do: open pairs, answers that are not locked, pairs to guess about.
    """
    if study.state != "open":
        raise NotAllowed(f"Study {study.name!r} is {study.state}: only an open study has work to remind of.")
    people = {rater.rater_id: rater for rater in raters_of(store, study.study_id)}
    urls = {link.rater_id: link.url(base) for link in links(store, study)}
    found = []
    for line in list_progress(store, study):
        if line.total and line.rater_id in urls and _asked(people[line.rater_id]):
            guesses = open_desk(store, urls[line.rater_id].rsplit("/", 1)[1])  # none where texts are rated
            left = guesses is not None and guesses.guessing().next_open() is not None
            if line.done < line.total or not line.finished or left:
                found.append(Reminder(line.rater_id, _message(line, study.kind, urls[line.rater_id])))
    return found


def _asked(rater: Rater) -> bool:
    return not (rater.dry_run or rater.imported) and rater.excluded is None


def _message(line: ListProgress, kind: StudyKind, url: str) -> str:
    still = line.total - line.done
    if not still:
        left = "Only a last short question is left" if line.finished else "Please lock them as the last step"
        return f"All your answers are saved, thank you. {left}. Your link: {url}"
    unit = "pair" if kind == "pairs" else "text"
    entries = f"1 {unit} is" if still == 1 else f"{still} {unit}s are"
    minutes = estimated_minutes(still) if kind == "pairs" else minutes_for_texts(still)
    time = f"about {minutes} {'minute' if minutes == 1 else 'minutes'}"
    if not line.done:
        return f"{entries[0].upper()}{entries[1:]} waiting for you, {time}; you can stop at any time. Your link: {url}"
    return (
        f"You have rated {line.done} {unit if line.done == 1 else unit + 's'} so far, thank you. "
        f"{entries[0].upper()}{entries[1:]} still open, {time}. Your link brings you back to where you were: {url}"
    )
