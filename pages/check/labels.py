"""Where the labels come from: a file, whose columns are chosen, or a run on rated texts; and further judges of them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.joining.choices import dimension_said
from core.runs.asked import asked_of
from core.schema.analysis import PanelChoice
from core.schema.runs import Run
from core.schema.study import Study
from core.schema.uses import Use
from core.sources.named import FileSource, RunSource
from core.sources.panel import panel_of_source, texts_beside_panel
from core.sources.reading import reading_in
from core.sources.texts import texts_file
from core.store import Store
from core.store.runs import run_data
from core.store.studies import list_studies
from core.tables.reading import sha256_of
from pages.check import columns, example
from pages.tabs.checked.choice import Given, dimension_menu, facts_beside
from pages.tabs.checked.judges import Judges, added, forget_added, joined, stored
from pages.widgets import address, chosen_judge, chosen_scores, menus, open_study
from pages.widgets.messages import plain

_FILE = 0
"""Stands for a file among the numbers of runs."""
_FROM, _MAIN, _ROUND, _USE = "check_from", "check_file", "check_round", "check_example_use"
"""Where the session stores where labels come from, the uploaded file, the number of uploads so far, and the use that an
example begins with."""
_MOST_MB = 100


def given(store: Store) -> Given | None:
    """Choose what is checked; None, with the form on the page, while something is missing."""
    runs = chosen_judge.finished_runs(store, *chosen_judge.judges_of("rated texts"))
    judges = chosen_scores.named(store)
    source, right = _FILE, st.container()
    if runs or judges or "run" in st.query_params:
        left, right = right.columns(2, vertical_alignment="bottom")
        with left:
            source = _source(runs)
    _lead_to_studies([study for study in list_studies(store) if study.state == "unblinded"])
    if source in runs:
        run = runs[source]
        return _run_source(store, run, right, partial(stored, store, f"run_{run.run_id}", judges))
    return _file_source(store, right, partial(stored, store, "file", judges))


def _source(runs: dict[int, Run]) -> int:
    """Choose where the labels come from: _FILE, or the number of a run."""
    offered = [_FILE, *runs]
    address.one("run", _FROM, offered, _FILE, gone="This link leads to a run that is not here.")
    return menus.menu(
        "Labels from", offered, _FROM, lambda one: menus.name_of(runs[one]) if one else "A file"
    )


def _lead_to_studies(unblinded: list[Study]) -> None:
    """Lead to the studies whose votes and ratings are labels too."""
    if not unblinded:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(":small[Votes and ratings of a study: open it, tab Judges.]", width="content")
        for study in unblinded:
            if st.button(plain(study.name), key=f"check_study_{study.study_id}", type="tertiary"):
                open_study.open_study(study.study_id, "judges")


def _row(place: DeltaGenerator) -> DeltaGenerator:
    return place.container(horizontal=True, vertical_alignment="bottom")


def _run_source(store: Store, run: Run, place: DeltaGenerator, choose: Callable[[], Judges]) -> Given:
    own = joined([chosen_scores.open_scores(store, (chosen_scores.RUN, run.run_id))])
    row = _row(place)
    judges = added(row, f"run_{run.run_id}", choose)
    data, name = run_data(store, run.run_id), Path(run.data_file).name
    dimension: str | None = getattr(asked_of(run).settings, "dimension_scored", None)
    if dimension is None:
        rated = columns.dimensions_in(data, name)
        metrics = [metric.name for table in own.tables for metric in table.metrics]
        scored = [one for one in rated if any(dimension_said(metric, (one,)) for metric in metrics)]
        dimension = dimension_menu(row, scored or rated, f"check_dimension_run_{run.run_id}")
    scale = columns.choose_scale(row, f"check_run_{run.run_id}")
    source, reading = RunSource(run.run_id), reading_in(store)
    return Given(
        place=f"run_{run.run_id}",
        key=("run", own.key, judges.key, dimension, scale.declared, scale.repeated),
        read=lambda: panel_of_source(
            source,
            judges.scores,
            PanelChoice(dimension=dimension, repeated=scale.repeated),
            reading,
            find=True,
            declared=scale.declared,
        ),
        command=(
            *own.words,
            *judges.all_words,
            *(() if dimension is None else ("--dimension", dimension)),
            *scale.words,
        ),
        texts=lambda: (data, name),
        beside=lambda: texts_beside_panel(source, judges.sources, reading),
        facts=partial(facts_beside, reading, (source, *judges.sources), dimension),
        runs=(*own.runs, *judges.runs),
    )


def _file_source(store: Store, place: DeltaGenerator, choose: Callable[[], Judges]) -> Given | None:
    kept: tuple[bytes, str] | None = st.session_state.get(_MAIN)
    if kept is None:
        _upload_main()
        example.render(_take)
        return None
    data, file_name = kept
    row = place.container(horizontal=True, vertical_alignment="center")
    with row:
        st.markdown(f"**{plain(file_name)}**", width="content")
        if st.button("Another file", key="check_another", icon=":material/upload_file:"):
            _forget()
            st.rerun()
    judges = added(row, "file", choose)
    scale = columns.choose_scale(row, f"check_{sha256_of(data)[:12]}")
    read_as = columns.choose(data, file_name, judges.names)
    if read_as is None:
        return None
    source, reading = FileSource(file_name, read_as.applied(data, file_name)), reading_in(store)
    who = PanelChoice(
        human=tuple(read_as.human) or None,
        judge=tuple(read_as.judges) or None,
        dimension=read_as.dimension,
        item=read_as.item,
        repeated=scale.repeated,
    )
    return Given(
        place=f"file_{sha256_of(data)[:12]}",
        key=("file", sha256_of(data), file_name, judges.key, read_as, scale.declared, scale.repeated),
        read=lambda: panel_of_source(
            source,
            judges.scores,
            who,
            reading,
            find=True,
            people_alone=read_as.people_alone,
            declared=scale.declared,
        ),
        command=(file_name, *judges.all_words, *read_as.words(), *scale.words),
        texts=lambda: texts_file(source, reading)[0],
        beside=lambda: texts_beside_panel(source, judges.sources, reading),
        facts=partial(facts_beside, reading, judges.sources, read_as.dimension),
        runs=judges.runs,
        use=st.session_state.get(_USE),
        may_be_judges=read_as.candidates,
    )


def _upload_main() -> None:
    upload = st.file_uploader(
        "Labels, with the judge's scores if they are in the same file",
        None,
        key=f"check_upload_{st.session_state.get(_ROUND, 0)}",
        max_upload_size=_MOST_MB,
    )
    if upload is not None:
        _take(upload.getvalue(), upload.name)


def _take(data: bytes, file_name: str, use: Use | None = None) -> None:
    """Check this file from now on. It is kept in the visitor's session alone. use: the one to begin with."""
    st.session_state[_MAIN] = (data, file_name)
    st.session_state[_USE] = use
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.rerun()


def _forget() -> None:
    st.session_state.pop(_MAIN, None)
    forget_added("file")
