"""Menus whose names may change or hold scores while they are open: of texts, runs and studies; and what was read once, kept."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import pandas as pd
import streamlit as st

from core.errors import InputError
from core.plots.dressing import shortened
from core.runs.asked import Asked, asked_of
from core.runs.progress import state_of
from core.schema.runs import Run
from core.schema.study import Study, StudyKind
from core.store import Store
from core.store.runs import item_counts
from core.store.studies import list_studies
from core.tables.columns import VOCABULARY
from core.tables.mapping import ASIDE, FirstRows, class_words, first_rows, with_names, with_numbers
from core.tables.reading import sha256_of
from pages.widgets.messages import moment, plain
from pages.widgets.parts import places

Option = TypeVar("Option")


def menu(
    label: str,
    options: Sequence[Option],
    place: str,
    name_of: Callable[[Option], str],
    *,
    help_text: str | None = None,
) -> Option:
    """The option chosen, kept in the session's state under `place`; the first one until somebody chooses."""
    before = st.session_state.get(place)
    chosen: Option = st.selectbox(
        label,
        options,
        index=options.index(before) if before in options else 0,
        format_func=name_of,
        help=help_text,
    )
    st.session_state[place] = chosen
    if before in options and chosen != before:
        # Streamlit knows the menu by its names and by where it stands: drawn again at once, or the next
        # choice would be made in a menu that is gone, and be lost.
        st.rerun()
    return chosen


Row = TypeVar("Row")


def one_of(
    place: "st.delta_generator.DeltaGenerator | None",
    label: str,
    rows: Sequence[Row],
    name_of: Callable[[Row], str],
    key: str,
) -> Row:
    """The row chosen of at least one, the first until somebody chooses.

    The options are the names themselves, never places in a list: a browser goes on showing the name that stood at a
    place when other rows come to stand there. key: names the scores too, so that other scores begin at their first row.
    """
    named: dict[str, Row] = {}
    for row in rows:
        name = again = name_of(row)
        number = 1
        while again in named:
            number += 1
            again = f"{name} ({number})"
        named[again] = row
    chosen: str = (st if place is None else place).selectbox(label, list(named), key=key)
    return named.get(chosen, rows[0])


Result = TypeVar("Result")


def once(
    slot: str, key: Hashable, make: Callable[[], Result], waiting: str = "Reading the texts ..."
) -> Result:
    """What `key` names, made once and not at every press of a widget; of each slot only the last is kept.

    slot: where it is kept in this visitor's session. waiting: what is said meanwhile.
    """
    known = st.session_state.get(slot)
    if known is None or known[0] != key:
        with st.spinner(waiting):
            st.session_state[slot] = known = (key, make())
    made: Result = known[1]
    return made


TABLES = ("json", "csv", "tsv", "jsonl", "ndjson")
"""Files of texts, of questions and of studies."""
_MOST_MB = 100
_AS_IT_IS = "-"


def given_file(
    key: str,
    types: Sequence[str] | None,
    label: str = "File",
    *,
    slot: str | None = None,
    help_text: str | None = None,
    classes: bool = False,
) -> tuple[bytes, str] | None:
    """A file that was uploaded, with its name; None: none was.

    A table is shown with its first rows, and comes with its columns under the names that the visitor chose there. key: of
    the widget. slot: where the file is kept in this visitor's session; another page may put one there. classes: whether
    scores or ratings may be words, which have the numbers that the visitor chose.
    """
    upload = st.file_uploader(label, types, key=key, max_upload_size=_MOST_MB, help=help_text)
    given = None if upload is None else (upload.getvalue(), upload.name)
    if slot is not None and given is not None:
        st.session_state[slot] = given
    elif slot is not None and (given := st.session_state.get(slot)) is not None:
        st.markdown(f"The file is still {plain(given[1])}; choose another to replace it.")
    return given and _with_columns_chosen(*given, key, classes=classes)


def _with_columns_chosen(data: bytes, file_name: str, key: str, *, classes: bool) -> tuple[bytes, str]:
    """The file as the visitor chose below its first rows; what is no table as it is: its reader says what it holds."""
    try:
        found = once(f"{key}_rows", (sha256_of(data), file_name), lambda: first_rows(data, file_name))
    except InputError:
        return data, file_name
    columns = [column for column in found.columns if column]
    if not found.rows or not columns or len(set(columns)) < len(found.columns):
        return data, file_name
    own_key = f"{key}_{sha256_of(data)[:8]}"
    with st.expander("Columns: what each is read as"):
        st.dataframe(pd.DataFrame(found.rows, columns=list(found.columns)), hide_index=True)
        if names := _names_chosen(found, columns, own_key):
            asked = (sha256_of(data), file_name, tuple(names.items()))
            data = once(f"{key}_named", asked, lambda: with_names(data, file_name, names))
        if classes and (numbers := _numbers_chosen(data, file_name, own_key)):
            counted = partial(with_numbers, data, file_name, numbers)
            data = once(f"{key}_counted", (sha256_of(data), file_name, str(numbers)), counted)
    return data, file_name


def _names_chosen(found: FirstRows, columns: Sequence[str], key: str) -> dict[str, str]:
    """Column of the file -> its new name, of those that are to be read as something else than their names say."""
    names: dict[str, str] = {}
    offered = [_AS_IT_IS, *VOCABULARY]
    for at, (column, place) in enumerate(zip(columns, places(min(4, len(columns))), strict=False)):
        own = found.read_as.get(column, _AS_IT_IS)
        chosen = place.selectbox(
            plain(column),
            offered,
            index=offered.index(own),
            key=f"{key}_{at}",
            persist_state="session",
            help=f"{_AS_IT_IS}: a label to group by, or not used",
        )
        if chosen != own:
            names[column] = ASIDE.format(column=column) if chosen == _AS_IT_IS else chosen
    # A column that bears a name which another one is given now steps aside.
    taken = set(names.values())
    aside = [name for name, ours in found.read_as.items() if name not in names and ours in taken]
    return names | {column: ASIDE.format(column=column) for column in aside}


def _numbers_chosen(data: bytes, file_name: str, key: str) -> dict[str, dict[str, float]]:
    """Column -> word -> the number that it is read as, where the visitor chose another one than is usual."""
    usual = once(f"{key}_classes", sha256_of(data), lambda: class_words(data, file_name))
    chosen: dict[str, dict[str, float]] = {}
    for column, words in usual.items():
        st.markdown(f"{plain(column)}: words are read as classes, each as this number.")
        ranked = sorted(words, key=lambda word: (words[word], word))
        chosen[column] = {
            word: place.number_input(
                plain(word),
                value=float(words[word]),
                step=1.0,
                format="%g",
                key=f"{key}_{sha256_of(f'{column} {word}'.encode())[:12]}",
                persist_state="session",
            )
            for word, place in zip(ranked, places(min(5, len(ranked))), strict=False)
        }
    return {} if chosen == usual else chosen


NEW_RUN, REPORT = 0, -1
"""Stand for a run that is still to be made, and for a report that was published."""
_CHOSEN_RUN = "run_choice"
_LONGEST = 28
"""Letters of a file's or a model's name in a menu."""


def choose_run(runs: Sequence[Run]) -> int:
    """The number of the run chosen, NEW or REPORT."""
    names = {NEW_RUN: "Make new answers ...", REPORT: "Inspect a published report ..."}
    names |= {run.run_id: name_of(run) for run in runs}
    return one_run("Run", names, _CHOSEN_RUN)


def one_run(label: str, names: Mapping[Option, str], place: str, also: str = "") -> Option:
    """What is chosen of runs and what stands beside them. names: of each; also: what else is there, for the help."""
    text = f"Newest first; runs that were started by command are here too{also}."
    return menu(label, list(names), place, names.__getitem__, help_text=text)


def several(
    label: str,
    runs: Mapping[int, Run],
    key: str,
    default: Sequence[int] = (),
    *,
    place: "st.delta_generator.DeltaGenerator | None" = None,
    placeholder: str | None = None,
    help_text: str | None = None,
) -> list[Run]:
    """Some of the runs, by their numbers."""
    chosen = (st if place is None else place).multiselect(
        label,
        list(runs),
        default=list(default),
        format_func=lambda number: name_of(runs[number]),
        key=key,
        placeholder=placeholder,
        help=help_text,
    )
    return [runs[number] for number in chosen if number in runs]


def remember_run(run_id: int) -> None:
    """Make this the run that the page shows."""
    st.session_state[_CHOSEN_RUN] = run_id


def identity(run: Run) -> tuple[int, str, str]:
    """Names a run in a cache, which outlives a database: in another one its number is another run's."""
    return run.run_id, run.data_sha256, run.created_utc


def key_of(store: Store, run: Run) -> tuple[object, ...]:
    """Names what a run has made so far in a cache: another one as soon as it has more or other items.

    A run that was resumed may end with other results and the same counts, so that its last end is part of it.
    """
    states, _ = item_counts(store, run.run_id)
    return (*identity(run), *sorted(states.items()), run.finished_utc)


def name_of(run: Run) -> str:
    """A run in a menu: what tells it from others comes before what may be cut off."""
    part = "" if run.n_wanted == run.n_items else f", first {run.n_wanted:,} of {run.n_items:,}"
    file = shortened(run.data_file, _LONGEST)
    return f"Run {run.run_id} ({state_of(run)}), {moment(run.created_utc)} UTC: {_what(asked_of(run))}, {file}{part}"


def _what(asked: Asked) -> str:
    if asked.kind.work == "scores":
        metrics = asked.chosen.metrics
        return str(metrics[0]) if len(metrics) == 1 else f"{len(metrics)} metrics"
    who = shortened(asked.name or asked.model.short_name, _LONGEST)
    return f"{', '.join([asked.kind.title, *asked.unusual])} by {who}"


NEW_STUDY = 0
"""Stands for a study that is still to be imported."""
_CHOSEN_STUDY = "study_choice"


def choose_study(studies: Sequence[Study], *, offer_new: bool = False) -> int | None:
    """The number of the study chosen, NEW, or None when there is nothing to choose."""
    names = {study.study_id: f"{study.name} ({study.state})" for study in studies}
    options = [*([NEW_STUDY] if offer_new else []), *names]
    if not options:
        return None
    if st.session_state.get(_CHOSEN_STUDY) not in options:
        remember_study(next(iter(names), NEW_STUDY))
    return menu("Study", options, _CHOSEN_STUDY, lambda number: names.get(number, "Import a new study ..."))


def unblinded(store: Store, key: str, kind: StudyKind | None = None) -> Study | None:
    """One of the studies whose answers are open, of that kind or of any, kept under `key`; None: there is none yet."""
    studies = {
        study.study_id: study
        for study in list_studies(store)
        if study.state == "unblinded" and kind in (None, study.kind)
    }
    if not studies:
        return None
    chosen = st.selectbox(
        "Study",
        list(studies),
        format_func=lambda number: studies[number].name,
        key=key,
        persist_state="session",
    )
    return studies[chosen]


def remember_study(study_id: int) -> None:
    """Make this the study that all pages show."""
    st.session_state[_CHOSEN_STUDY] = study_id
