"""`study`: links, progress, reminders, leaving raters out, texts raters read, the log."""

import argparse
import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.cli.serve import add_url_option, address_of
from core.cli.shared.options import (
    Commands,
    add_database_option,
    add_json_option,
    existing_store,
    json_text,
    print_result,
    read_file,
)
from core.errors import InputError
from core.schema.study import LogEntry
from core.schema.tasks import StudyKind
from core.store.studies import find_study, read_log, read_wording
from core.study import lifecycle, raters
from core.study import lifecycle as conduct
from core.study.guidelines import wording
from core.study.progress import ListProgress, RaterProgress, RatingProgress, list_progress


def add_conduct(verbs: Commands) -> None:
    """Register the verbs."""
    _add_links(verbs)
    command = _add(verbs, "progress", _progress, "how far each rater is; nothing about sources")
    add_json_option(command)
    command = _add(verbs, "remind", _remind, "a message for each rater with open pairs, ready to send")
    add_url_option(command)
    command = _add(verbs, "exclude", _exclude, "leave a rater out of the analysis; their answers are kept")
    command.add_argument("rater")
    command.add_argument("--reason", required=True, help="kept in the log and the exports")
    command = _add(verbs, "include", _include, "count an excluded rater's answers again")
    command.add_argument("rater")
    command = _add(verbs, "withdraw", _withdraw, "delete a rater's comments and pseudonym, for good")
    command.add_argument("rater")
    command.add_argument("--votes", choices=["keep", "drop"], required=True, help="drop: out of the analysis")
    command = _add(verbs, "wording", _wording, "consent text and button labels in one language: print or set")
    command.add_argument("--language", default="en", help="BCP 47 (default %(default)s)")
    command.add_argument("--file", type=Path, help="JSON object of texts; {} goes back to what Assay says")
    command = _add(verbs, "log", _log, "everything an owner did to the study")
    add_json_option(command)


def _add(verbs: Commands, verb: str, run: Any, text: str) -> argparse.ArgumentParser:
    command = verbs.add_parser(verb, help=text)
    command.add_argument("name")
    add_database_option(command)
    command.set_defaults(run=run)
    return command


def _add_links(verbs: Commands) -> None:
    command = _add(verbs, "links", _links, "print, add, revoke or re-issue raters' personal links")
    command.add_argument("--add", metavar="R1,R2", help="add raters and print their links")
    command.add_argument("--language", help="of the guidelines for the raters added")
    command.add_argument("--revoke", metavar="R", help="make a rater's link worthless; answers are kept")
    command.add_argument("--reissue", metavar="R", help="give a rater a new link; the old one stops working")
    add_url_option(command)


def _links(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        with store.writing():  # one command, one step
            if options.revoke:
                raters.revoke_link(store, study, options.revoke)
            if options.reissue:
                raters.reissue_link(store, study, options.reissue)
            if options.add is not None:
                ids = [part.strip() for part in options.add.split(",")]
                raters.add_raters(store, study, ids, language=options.language)
        if options.revoke:
            print(f"The link of {options.revoke!r} no longer works.")
        for link in raters.links(store, study):
            print(f"{link.rater_id}\t{link.url(address_of(store, options.url))}")
        if study.state == "draft":
            print(
                f"The study is a draft: `python -m core study open {shlex.quote(study.name)}` lets raters answer."
            )


def _progress(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        lines = list_progress(store, study)
    print_result(options, [asdict(line) for line in lines], _print_progress, lines, study.kind)


def _print_progress(lines: Sequence[ListProgress], kind: StudyKind) -> None:
    """A line a rater; nothing about sources or systems."""
    own = ("left", "both good") if kind == "pairs" else ("with errors", "errors")
    print(
        *("rater", "kind", "done", "skipped", "flagged", "median s", *own, "repeats same", "last answer"),
        "to look at",
        sep="\t",
    )
    for line in lines:
        notes = [*line.flags, *([f"excluded: {line.excluded}"] if line.excluded else [])]
        print(
            line.rater_id,
            line.kind,
            f"{line.done}/{line.total}{' locked' if line.finished else ''}",
            line.skipped,
            line.flagged,
            "-" if line.median_seconds is None else f"{line.median_seconds:.1f}",
            *_own_cells(line),
            f"{line.repeats_same}/{line.repeats}" if line.repeats else "-",
            line.last_utc or "-",
            "; ".join(notes) or "-",
            sep="\t",
        )


def _own_cells(line: ListProgress) -> list[str]:
    if isinstance(line, RaterProgress):
        return ["-" if rate is None else f"{rate:.0%}" for rate in (line.left_rate, line.both_good_rate)]
    assert isinstance(line, RatingProgress)
    return ["-" if n is None else str(n) for n in (line.with_errors, line.errors)]


def _remind(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        found = conduct.reminders(store, find_study(store, options.name), address_of(store, options.url))
    for reminder in found:
        print(f"{reminder.rater_id}\t{reminder.text}")
    if not found:
        print("Nobody has anything left to do.")


def _exclude(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        conduct.exclude_rater(store, find_study(store, options.name), options.rater, options.reason)
    print(f"The answers of {options.rater!r} are kept and no longer counted.")


def _include(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        conduct.include_rater(store, find_study(store, options.name), options.rater)
    print(f"The answers of {options.rater!r} are counted again.")


def _withdraw(options: argparse.Namespace) -> None:
    keep = options.votes == "keep"
    with existing_store(options.db) as store:
        new = conduct.withdraw_rater(store, find_study(store, options.name), options.rater, keep_votes=keep)
    said = "are counted under" if keep else "stay, uncounted, under"
    print(f"Comments and pseudonym of {options.rater!r} are deleted; the votes {said} {new!r}.")
    print("Backups, copies and exports made before still hold them.")


def _wording(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        study = find_study(store, options.name)
        if options.file is not None:
            lifecycle.set_wording(store, study, options.language, _texts(options.file))
        own = read_wording(store, study.study_id)
    print(json_text(wording(own, options.language)))


def _texts(path: Path) -> dict[str, str]:
    try:
        texts = json.loads(read_file(path))
    except ValueError as problem:
        raise InputError(f"{path} is not valid JSON ({problem}).") from problem
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise InputError(f'{path}: one JSON object of texts is expected, such as {{"left": "Links"}}.')
    return texts


def _log(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        entries = read_log(store, find_study(store, options.name).study_id)
    print_result(options, [asdict(entry) for entry in entries], _print_log, entries)


def _print_log(entries: Sequence[LogEntry]) -> None:
    for entry in entries:
        print("\t".join((entry.at_utc, entry.action, entry.rater_id or "-", entry.detail or "-")))
