"""Bundles of version 1, said as version 2 says it; databases of that time are brought up by their migration."""

from dataclasses import replace

from core.schema import LogEntry, StudyRecord

ADDED_SINCE = {"wording.json": b"{}", "guesses.jsonl": b""}
"""Members that version 1 does not have, as they would stand there."""
_ABOUT_ONE = ("rater added", "preview added", "link revoked", "link issued again")


def brought_up(record: StudyRecord) -> StudyRecord:
    """The record with pseudonyms in a field of their own, and nothing asked that was not declared."""
    study = record.study
    if study.first_vote_utc is not None:  # a design is frozen at the first vote
        study = replace(study, design=replace(study.design, blinding_pairs=0))
    raters = {rater.rater_id for rater in record.raters}
    return replace(record, study=study, log=tuple(_entry(entry, raters) for entry in record.log))


def _entry(entry: LogEntry, raters: set[str]) -> LogEntry:
    if entry.action in _ABOUT_ONE:
        return replace(entry, rater_id=entry.detail, detail="")
    if entry.action == "votes imported":
        for rater in raters:
            if entry.detail.startswith(f"{rater}: "):
                return replace(entry, rater_id=rater, detail=entry.detail.removeprefix(f"{rater}: "))
    return entry
