"""The scores that exist of a study's texts: runs of metrics and judges, also those at work, and stored tables."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from core.errors import AssayError
from core.formats.rated import outputs_of
from core.joining.choices import columns_at
from core.joining.tables import text_key
from core.runs.path import runs_that, saved_run
from core.schema.runs import Run
from core.schema.scores import RatedSet, ScoreTable
from core.schema.study import Study, StudyRecord, TextKey
from core.store import Store
from core.store.kept import KeptFile, kept_files
from core.store.runs import item_position
from core.store.studies import items_of
from core.store.studies import outputs_of as texts_of
from core.study.masking import masks_of
from pages.widgets import address, chosen_scores, menus
from pages.widgets.chosen_scores import FILE, RUN, Chosen, Scores

_LOOKED_AT = 20
"""Items of a study that are looked up in a run, and texts of a stored table that are compared."""


def fitting(store: Store, study: Study) -> dict[Chosen, str]:
    """All scores of the study's texts, runs before stored tables and the newest first, with their names in menus.

    Before the study is unblinded no name holds anything but a number: a file may be named after a system.
    """
    found: dict[Chosen, str] = {}
    blind = study.state != "unblinded"
    for run in runs_that(store, "scores", "judging"):
        if _offer_run(store, study, run):
            found[RUN, run.run_id] = (
                f"Run {run.run_id}: {menus.what_of(run)}" if blind else menus.name_of(run)
            )
    for file in kept_files(store, "scores"):
        if n_texts(store, study, file):
            found[FILE, file.file_id] = f"File {file.file_id}" if blind else file.file_name
    return found


def chosen(study: Study, there: Collection[Chosen]) -> list[Chosen]:
    """Those that the visitor chose; all of them until then, and again where others were added since."""
    place = place_of(study)
    state = st.session_state
    if state.get(f"{place}_all") not in (None, list(there)) and state.get(place) == state[f"{place}_all"]:
        state[place] = list(there)
    state[f"{place}_all"] = list(there)
    address.several("scores", place, list(there), list(there), chosen_scores.code)
    return [one for one in there if one in state[place]]


def place_of(study: Study) -> str:
    """Where the session stores which scores of the study are chosen: the key of the menu."""
    return f"study_scores_{study.study_id}"


def opened(store: Store, study: Study, several: Sequence[Chosen]) -> list[Scores]:
    """The scores as they are now, each metric from the source that covers most of the study's texts, the newest among equals.

    A run at work counts with all texts that it will score. several: as `fitting` orders them.
    """
    texts = _texts((study.study_id, study.created_utc), store, study)
    everything = [chosen_scores.open_scores(store, one) for one in several]
    if len(everything) == 1:
        return everything
    best: dict[str, tuple[int, int]] = {}
    for number, scores in enumerate(everything):
        for metric, covered in _covered(store, scores, texts).items():
            if metric not in best or covered > best[metric][0]:
                best[metric] = covered, number
    found: list[Scores] = []
    for number, scores in enumerate(everything):
        names = [metric.name for metric in scores.table.metrics]
        own = [place for place, name in enumerate(names) if best[name][1] == number]
        if own:
            table = scores.table if len(own) == len(names) else columns_at(scores.table, own)
            found.append(replace(scores, table=table))
    return found


def _covered(store: Store, scores: Scores, texts: Mapping[TextKey, str]) -> dict[str, int]:
    """Metric -> how many of the study's texts have a score of it; of a run at work, how many will be asked about."""
    names = [metric.name for metric in scores.table.metrics]
    if scores.moving and scores.run is not None:
        asked = chosen_scores.outputs(store, scores.run).outputs
        n = sum((one.item_id, one.level or "", one.system or "") in texts for one in asked)
        return dict.fromkeys(names, n)
    rows = [place for place, row in enumerate(scores.table.rows) if text_key(row) in texts]
    counts = (~np.isnan(scores.table.values[rows])).sum(axis=0)
    return dict(zip(names, counts.tolist(), strict=True))


def tables(store: Store, study: Study, record: StudyRecord) -> list[ScoreTable]:
    """The scores of an unblinded study's texts that the visitor chose, or all; without any text of it: none.

    record: of the study, which is unblinded.
    """
    several = chosen(study, fitting(store, study))
    return [one.table for one in opened(store, study, several) if one.table.rows]


def n_texts(store: Store, study: Study, file: KeptFile) -> int:
    """How many of the study's texts a stored table has scores of; other texts under the same names do not count."""
    return _n_in_file((study.study_id, study.created_utc), chosen_scores.key_of(file), store, study, file)


@st.cache_data(show_spinner=False, max_entries=1_000)
def _n_in_file(
    of: tuple[int, str], key: chosen_scores.Key, _store: Store, _study: Study, _file: KeptFile
) -> int:
    try:
        scores = chosen_scores.open_scores(_store, (FILE, _file.file_id))
    except AssayError:
        return 0
    texts = _texts(of, _store, _study)
    there = [
        (place, texts[name])
        for place, row in enumerate(scores.table.rows)
        if (name := text_key(row)) in texts
    ]
    behind = chosen_scores.texts_behind(_store, scores)
    known = [(behind.at(place, None).text, text) for place, text in there[:_LOOKED_AT]]
    differ = [own != text for own, text in known if own is not None]
    return 0 if differ and all(differ) else len(there)


def _offer_run(store: Store, study: Study, run: Run) -> bool:
    of = study.study_id, study.created_utc
    items = _items(of, store, study)
    if run.state == "done" and not any(item_position(store, run.run_id, item) is not None for item in items):
        return False
    return _is_in_run(of, menus.identity(run), store, study, run)


@st.cache_data(show_spinner=False, max_entries=1_000)
def _is_in_run(of: tuple[int, str], key: chosen_scores.Key, _store: Store, _study: Study, _run: Run) -> bool:
    try:
        contents = saved_run(_store, _run).contents
    except AssayError:
        return False
    found = outputs_of(contents) if isinstance(contents, RatedSet) else contents
    texts = _texts(of, _store, _study)
    return any(
        texts.get((one.item_id, one.level or "", one.system or "")) == one.text for one in found.outputs
    )


@st.cache_data(show_spinner=False, max_entries=100)
def _items(of: tuple[int, str], _store: Store, _study: Study) -> list[str]:
    """Some of the study's items."""
    return [item.item_id for item in items_of(_store, _study.study_id)[:_LOOKED_AT]]


@st.cache_resource(show_spinner=False, max_entries=3)
def _texts(of: tuple[int, str], _store: Store, _study: Study) -> Mapping[TextKey, str]:
    """The study's texts, under the names of their systems and under their masks. They never change after the import."""
    outputs = texts_of(_store, _study.study_id)
    found = {(one.item_id, one.level, one.source): one.text for one in outputs}
    masks = masks_of(outputs) if _study.kind == "pairs" else {}
    return found | {
        (item, level, mask): found[item, level, source] for (item, level, source), mask in masks.items()
    }
