"""`check --next N --study NAME`: a study of the texts to label next, and how to go on with an open verdict."""

import argparse
from collections.abc import Sequence
from typing import Any

from core.analyses.check.rows import Checked
from core.cli.outputs import Output
from core.schema.analysis import Answer
from core.schema.panel import unlabelled
from core.store import database_path, open_store


def _add(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--study",
        metavar="NAME",
        help="with --next: make a rating study of these texts, in draft, on the raters' scale",
    )


def _problems(options: argparse.Namespace) -> list[str]:
    lacks = options.study is not None and getattr(options, "next", None) is None
    return ["--study: needs the number of texts, --next N"] if lacks else []


def _write(options: argparse.Namespace, answer: Answer, data: Sequence[Any]) -> list[str]:
    found = answer.result
    if not isinstance(found, Checked):
        return []
    if found.next is None:
        return _hint(found)
    if options.study is None:
        return []
    from core.results.check.next_labels import draft_study  # imported lazily: loads studies and statsmodels

    panel = found.check.panel
    texts = data[0].texts(panel)
    if texts.why is not None and not any(texts.outputs):
        raise texts.why
    with open_store(database_path(options.db)) as store:
        study, _ = draft_study(store, options.study, panel, found.next.drawn, texts.outputs, use=found.use)
    return [
        "",
        f"Study {study.name!r} is a draft of these texts, with {study.design.votes_per_pair} raters a text. Add raters and open it.",
    ]


def _hint(found: Checked) -> list[str]:
    """How to choose the missing labels, if the verdict is open and the file has texts without labels."""
    needed = [one.labels_needed for one in found.judges if one.labels_needed is not None]
    n_free = int(unlabelled(found.check.panel).sum())
    if not needed or not n_free:
        return []
    n = min(max(needed), n_free)
    return [
        "",
        f"Next: the same command with `--next {n} --study NAME` makes a study of the unlabelled texts that tell most.",
    ]


OUTPUT = Output(_add, _problems, _write)
