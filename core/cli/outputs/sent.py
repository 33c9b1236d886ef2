"""`escalate --study NAME`: a study of the texts for people."""

import argparse
from collections.abc import Sequence
from typing import Any

from core.cli.outputs import Output
from core.cli.shared.labels import texts_given
from core.cli.shared.options import option_error
from core.errors import InputError
from core.results.check.escalation import Escalation, sent_from, sent_texts
from core.schema.analysis import Answer
from core.sources.named import StudySource
from core.store import database_path, open_store


def _add(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--study",
        metavar="NAME",
        help="make a rating study of the texts for people, in draft, on the raters' scale",
    )
    command.add_argument(
        "--send",
        type=int,
        metavar="N",
        help="with --study: only N of these texts, drawn at random (default: all)",
    )
    command.add_argument(
        "--audit",
        type=int,
        default=0,
        metavar="N",
        help="with --study: also N kept texts, drawn at random, whose labels correct the kept ones from 30 on (default %(default)s)",
    )
    command.add_argument(
        "--seed", type=int, default=0, help="seed of --send and of the texts' order (default %(default)s)"
    )


def _problems(options: argparse.Namespace) -> list[str]:
    found = []
    if options.send is not None and options.study is None:
        found.append("--send: needs a study, --study NAME")
    elif options.send is not None and options.send < 1:
        found.append(f"--send: must be at least 1, got {options.send}")
    if options.audit and options.study is None:
        found.append("--audit: needs a study, --study NAME")
    elif options.audit < 0:
        found.append(f"--audit: must be at least 0, got {options.audit}")
    return found


def _write(options: argparse.Namespace, answer: Answer, _data: Sequence[Any]) -> list[str]:
    found: Escalation = answer.result.escalation
    if options.study is None:
        hint = "The same command with `--study NAME` makes a study of the texts for people."
        return ["", hint] if found.sent and not options.labels else []
    from core.results.check.next_labels import draft_study  # imported lazily: loads studies

    try:
        sent = sent_texts(found, options.send, audit=options.audit, rng=options.seed)
    except InputError as problem:
        raise option_error(problem, ("send", "audit")) from problem
    texts, why = texts_given(found.panel, options)
    if why is not None and not any(texts):
        raise why
    with open_store(database_path(options.db)) as store:
        study, _ = draft_study(
            store,
            options.study,
            found.panel,
            sent,
            texts,
            use="certify",
            file_name=sent_from(found.panel.name),
        )
    return [
        "",
        f"Study {study.name!r} is a draft of {len(sent.rows):,} texts, with {study.design.votes_per_pair} raters a text. Add "
        f"raters and open it. Afterwards, the same command with `--labels {StudySource(study.name).written}` gives the total.",
    ]


OUTPUT = Output(_add, _problems, _write)
