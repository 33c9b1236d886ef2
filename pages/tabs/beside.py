"""Which other scores can stand beside a judge's, and their columns side by side under names that say whose they are."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.errors import AssayError
from core.results.joining import merge_tables
from core.runs.path import runs_that
from core.schema.scores import ScoreTable
from core.store import Store
from core.store.runs import item_counts
from pages.widgets import chosen_scores
from pages.widgets.chosen_scores import FILE, RUN, Chosen, Scores

_LOOKED_INTO = 30
"""Tables that are opened to see whether they are about the same texts; older ones are offered unseen."""


def others(store: Store, scores: Scores) -> dict[Chosen, str]:
    """Other scores that share a text with these: those of the same file first, then the newest first.

    Runs without any score, and tables about other items, are left out.
    """
    names = chosen_scores.named(store)
    same = scores.run.data_sha256 if scores.run else ""
    runs = {(RUN, run.run_id): run for run in runs_that(store, "scores", "judging")}
    filled = [
        chosen
        for chosen in names
        if chosen != scores.chosen
        and (chosen not in runs or any(item_counts(store, runs[chosen].run_id)[0].values()))
    ]
    order = sorted(filled, key=lambda chosen: chosen not in runs or runs[chosen].data_sha256 != same)
    items = _items(scores)
    return {
        chosen: names[chosen]
        for at, chosen in enumerate(order)
        if at >= _LOOKED_INTO or items & _items_of(store, chosen)
    }


def _items_of(store: Store, chosen: Chosen) -> frozenset[str]:
    try:
        return _items(chosen_scores.open_scores(store, chosen))
    except AssayError:
        return frozenset()  # its own page says what is wrong with it


def _items(scores: Scores) -> frozenset[str]:
    """Items with a score."""

    def found() -> frozenset[str]:
        scored = np.flatnonzero((~np.isnan(scores.table.values)).any(axis=1))
        return frozenset(scores.table.rows[int(at)].item_id for at in scored)

    return chosen_scores.once(("scored items", *scores.key), found)


def called(scores: Scores) -> str:
    """A run or a file in a figure or a note, short enough to stand beside a column's name."""
    kind, number = scores.chosen
    return scores.name if kind == FILE else f"run {number}"


def table_of(scores: Scores) -> ScoreTable:
    """Its table, which notes and mistakes name as the menu does, not by a file that several runs may share."""
    return replace(scores.table, file_name=scores.name)


def merged(several: Sequence[Scores]) -> ScoreTable:
    """All columns side by side; where two have one name, each says whose it is.

    Raises InputError for tables that share no text, under the names of their runs.
    """
    table = merge_tables([table_of(one) for one in several])
    whose = [(metric, called(one)) for one in several for metric in one.table.metrics]
    often = Counter(metric.name for metric, _ in whose)
    metrics = tuple(
        replace(column, name=f"{own.name} ({name})") if often[own.name] > 1 else column
        for column, (own, name) in zip(table.metrics, whose, strict=True)
    )
    return replace(table, metrics=metrics, notes=notes_of(table.notes))


def notes_of(notes: Sequence[str]) -> tuple[str, ...]:
    """Notes of a merged table without those on its own names for columns, which the page does not use."""
    return tuple(
        note.replace("are in all 2 tables", "are in both")
        for note in notes
        if not (" is called " in note and note.endswith(" here"))
    )
