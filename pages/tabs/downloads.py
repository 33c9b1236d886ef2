"""Tab Files: download scores and the records of a judge's run; upload a judge's scores from elsewhere."""

import io
import zipfile
from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from core.formats.scores import write_scores_csv, write_scores_parquet
from core.runs.judging.in_one_file import judge_file, write_judge
from core.runs.kinds import KINDS
from core.runs.path import saved_run, written
from core.schema.runs import Run
from core.schema.scores import ScoreTable
from core.store import Store
from core.store.kept import get_file
from core.store.runs import item_states
from pages.tabs.phrases import NO_ITEM, NOT_SCORED
from pages.widgets import chosen_judge, chosen_scores, menus, visitor
from pages.widgets.chosen_scores import FILE, Scores
from pages.widgets.downloads import spreadsheet_file
from pages.widgets.menus import once
from pages.widgets.messages import mistakes_shown
from pages.widgets.parts import nothing, part

_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}


def buttons(files: Mapping[str, bytes], whole: str, place: str) -> None:
    """Show a download button for each file, and one for all. whole: name of the archive; place: prefix of the buttons' keys."""
    checked = visitor.admin_making()
    with st.container(horizontal=True):
        st.download_button(
            f"All files ({whole})",
            partial(checked, partial(_zipped, files)),
            whole,
            "application/zip",
            key=f"{place}_files_all",
            on_click="ignore",
            type="primary",
        )
        for name, data in files.items():
            button(name, data, place)
    st.markdown(":small[The formats are described in `docs/formats.md`.]")


def button(name: str, data: bytes, place: str) -> None:
    """Show the download button of one file. place: prefix of its key."""
    st.download_button(
        name,
        partial(visitor.admin_making(), spreadsheet_file(name, partial(bytes, data))),
        name,
        _TYPES.get(name.rpartition(".")[2], "application/octet-stream"),
        key=f"{place}_file_{name}",
        on_click="ignore",
    )


def _zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, spreadsheet_file(name, partial(bytes, data))())
    return packed.getvalue()


def scores_to_take(store: Store, scores: Scores) -> None:
    """Show how many scores there are, and a button for each file, which is made when the button is pressed."""
    table = scores.table
    part(
        "Scores",
        "One row per text and metric, with the metric's signature. Undefined scores have a reason.",
    )
    if not table.rows:
        nothing(NOT_SCORED)
        return
    undefined = int((table.values != table.values).sum())
    metrics = "1 metric" if len(table.metrics) == 1 else f"{len(table.metrics):,} metrics"
    st.markdown(
        f"{len(table.rows):,} texts, {metrics}, {undefined:,} of {table.values.size:,} scores undefined."
    )
    chosen_scores.read_notes(table.notes)
    checked = visitor.admin_making()
    writers: dict[str, tuple[str, Callable[[ScoreTable], bytes]]] = {
        "scores.csv": ("text/csv", lambda one: write_scores_csv(one, "long")),
        "scores-wide.csv": ("text/csv", lambda one: write_scores_csv(one, "wide")),
        "scores.parquet": ("application/vnd.apache.parquet", lambda one: write_scores_parquet(one, "long")),
    }
    with st.container(horizontal=True):
        for name, (kind, write) in writers.items():
            st.download_button(
                name,
                partial(checked, spreadsheet_file(name, partial(write, table))),
                f"assay-{name}",
                kind,
                key=f"metrics_file_{name}",
                on_click="ignore",
                icon=":material/download:",
            )
    if scores.origin[0] == FILE:
        chosen_scores.forget_button(store, get_file(store, scores.origin[1]), "scores")


_MADE = "judges_files_made"


def judge_to_take(store: Store, run: Run) -> None:
    """Show a download button for each file of a judge's run, and one for all."""
    states = item_states(store, run.run_id)
    done = sum(state == "done" for state in states.values())
    if not states:
        nothing(NO_ITEM)
        return
    part(
        "Downloads",
        f"{done:,} of {run.n_items:,} items are complete. The records contain everything the judge replied. "
        "Commands can read them again.",
    )
    files = once(
        _MADE,
        menus.key_of(store, run),
        lambda: written(saved_run(store, run)),
        "Making the files ...",
    )
    buttons(files, f"assay-judge-{run.run_id}.zip", "judges")
    if KINDS[run.kind].work == "judging":
        _judge_to_take(store, run)


def _judge_to_take(store: Store, run: Run) -> None:
    """Show a button that downloads the judge itself, to run it elsewhere or later."""
    part(
        "The judge in one file",
        "Settings, model, prompts and rubric, without any key. Load the file in the form of a new run, or run it with "
        "`judge use`.",
        "export-and-load-a-judge",
    )
    with mistakes_shown():
        data = write_judge(judge_file(saved_run(store, run).request))
        st.download_button(
            "Export this judge",
            partial(visitor.admin_making(), partial(bytes, data)),
            f"judge-{run.run_id}.yaml",
            "application/yaml",
            key="judges_file_judge",
            on_click="ignore",
            icon=":material/download:",
        )


def upload(store: Store) -> None:
    """Upload scores that a judge gave elsewhere, and show them."""
    part(
        "A judge's output",
        "Check scores that a judge gave elsewhere: results of Factual, REST answers of CEF, RAGAS rows or a long CSV. "
        "They are stored with all other scores.",
        "importing",
    )
    with mistakes_shown():
        given = chosen_scores.choose_new(store, "scores", "judges")
        if given is not None:
            chosen_judge.remember((FILE, given.file_id))
            st.rerun()
