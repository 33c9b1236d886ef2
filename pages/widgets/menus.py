"""Menus of texts, runs and studies, whose names may change while they are open; uploaded files; results read once a session."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import pandas as pd
import streamlit as st

from core.errors import InputError
from core.formats.registry import known_format
from core.plots.dressing import shortened
from core.runs.asked import asked_of
from core.runs.progress import state_of
from core.schema.runs import Run
from core.schema.study import Study, StudyKind
from core.store import Store
from core.store.runs import item_counts
from core.store.studies import list_studies
from core.tables.columns import VOCABULARY
from core.tables.mapping import ASIDE, FirstRows, class_words, first_rows, number_words, rename_keys
from core.tables.reading import sha256_of
from pages.widgets.messages import moment, plain
from pages.widgets.parts import places, told_apart

Option = TypeVar("Option")


def menu(
    label: str,
    options: Sequence[Option],
    place: str,
    name_of: Callable[[Option], str],
    *,
    help_text: str | None = None,
) -> Option:
    """Return the chosen option, stored in the session under `place`; until a choice is made, the first one."""
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
        # Streamlit identifies the menu by its names and its index. Without a rerun the next choice would be made
        # in a menu that no longer exists, and be lost.
        st.rerun()
    return chosen


def one_or_new(
    label: str,
    names: Mapping[Option, str],
    place: str,
    new: Option,
    button: str,
    *,
    further: Mapping[Option, str] | None = None,
    help_text: str | None = None,
) -> Option:
    """Return the chosen one of what exists, or `new`: a menu, with a button beside it that begins something new.

    The choice is stored in the session under `place`; until one is made it is the first name, or `new` without any.

    names: option -> name of what exists. further: other things to open, behind the names in the menu. button: label,
    such as `New run`.
    """
    offered = {**names, **(further or {})}
    if st.session_state.get(place) not in (new, *offered):
        st.session_state[place] = next(iter(names), new)
    before = st.session_state[place]
    if not offered:
        return new
    making = before == new
    left, right = (st.container(), None) if making else st.columns([5, 1], vertical_alignment="bottom")
    pressed = right is not None and right.button(
        button, key=f"{place}_new", icon=":material/add:", width="stretch"
    )
    options = list(offered)
    chosen: Option | None = left.selectbox(
        label,
        options,
        index=None if making else options.index(before),
        format_func=lambda option: offered.get(option, button),
        placeholder=f"{button}: fill in the form, or choose here",
        help=help_text,
    )
    after = new if pressed else before if chosen is None else chosen
    if after != before:
        st.session_state[place] = after
        st.rerun()  # as in `menu`
    return after


Row = TypeVar("Row")


def one_of(
    place: "st.delta_generator.DeltaGenerator | None",
    label: str,
    rows: Sequence[Row],
    name_of: Callable[[Row], str],
    key: str,
) -> Row:
    """Return the chosen row of at least one; until a choice is made, the first.

    The options are the names themselves, not positions: a browser keeps showing the name of a position after other rows
    have moved there. key: names the scores too, so that other scores begin at their first row.
    """
    named = dict(zip(told_apart(map(name_of, rows)), rows, strict=True))
    chosen: str = (st if place is None else place).selectbox(label, list(named), key=key)
    return named.get(chosen, rows[0])


Result = TypeVar("Result")


def once(
    slot: str, key: Hashable, make: Callable[[], Result], waiting: str = "Reading the texts ..."
) -> Result:
    """Make what `key` names once, not at every press of a widget. Each slot stores only the last result.

    slot: where this visitor's session stores it. waiting: shown meanwhile.
    """
    known = st.session_state.get(slot)
    if known is None or known[0] != key:
        with st.spinner(waiting):
            st.session_state[slot] = known = (key, make())
    made: Result = known[1]
    return made


_MOST_MB = 100
_ANY_FORMAT = "CSV, TSV, XLSX, Parquet, JSON, JSONL, or the file of another program. What is in it decides, not its name."
_AS_IT_IS = "-"


def given_file(
    key: str,
    label: str = "File",
    *,
    slot: str | None = None,
    help_text: str = _ANY_FORMAT,
    classes: bool = False,
) -> tuple[bytes, str] | None:
    """Return an uploaded file with its name; None without one.

    Below a table's first rows the visitor can choose what each column is read as. key: of the widget. slot: where this
    visitor's session stores the file; another page may put one there. classes: whether scores or ratings may be words,
    for which the visitor chooses numbers. Any ending will do, because the content tells the format.
    """
    upload = st.file_uploader(label, key=key, max_upload_size=_MOST_MB, help=help_text)
    given = None if upload is None else (upload.getvalue(), upload.name)
    if slot is not None and given is not None:
        st.session_state[slot] = given
    elif slot is not None and (given := st.session_state.get(slot)) is not None:
        st.markdown(f"Current file: {plain(given[1])}. Upload another to replace it.")
    return given and _choose_columns(*given, key, classes=classes)


def _choose_columns(data: bytes, file_name: str, key: str, *, classes: bool) -> tuple[bytes, str]:
    """Return the file with the columns that the visitor chose. What is not a table stays unchanged for its reader."""
    try:
        if not known_format(data, file_name).has_names:
            return data, file_name
        found = once(f"{key}_rows", (sha256_of(data), file_name), lambda: first_rows(data, file_name))
    except InputError:
        return data, file_name
    columns = [column for column in found.columns if column]
    if not found.rows or not columns or len(set(columns)) < len(found.columns):
        return data, file_name
    own_key = f"{key}_{sha256_of(data)[:8]}"
    with st.expander("Columns: how each is read"):
        st.dataframe(pd.DataFrame(found.rows, columns=list(found.columns)), hide_index=True)
        if names := _names_chosen(found, columns, own_key):
            asked = (sha256_of(data), file_name, tuple(names.items()))
            data = once(f"{key}_named", asked, lambda: rename_keys(data, file_name, names))
        if classes and (numbers := _numbers_chosen(data, file_name, own_key)):
            counted = partial(number_words, data, file_name, numbers)
            data = once(f"{key}_counted", (sha256_of(data), file_name, str(numbers)), counted)
    return data, file_name


def _names_chosen(found: FirstRows, columns: Sequence[str], key: str) -> dict[str, str]:
    """Return column -> new name, for columns that the visitor reads differently from their names."""
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
            help=f"{_AS_IT_IS}: not read; can be used for grouping",
        )
        if chosen != own:
            names[column] = ASIDE.format(column=column) if chosen == _AS_IT_IS else chosen
    # A column whose own name is now given to another column is set aside.
    taken = set(names.values())
    aside = [name for name, ours in found.read_as.items() if name not in names and ours in taken]
    return names | {column: ASIDE.format(column=column) for column in aside}


def _numbers_chosen(data: bytes, file_name: str, key: str) -> dict[str, dict[str, float]]:
    """Return column -> word -> number, where the visitor chose other numbers than the usual ones."""
    usual = once(f"{key}_classes", sha256_of(data), lambda: class_words(data, file_name))
    chosen: dict[str, dict[str, float]] = {}
    for column, words in usual.items():
        st.markdown(f"{plain(column)}: each word counts as this number.")
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
"""Stand for a new run and for a published report."""
_CHOSEN_RUN = "run_choice"
_LONGEST = 28
"""Letters of a file's or a model's name in a menu."""


def choose_run(runs: Sequence[Run]) -> int:
    """Return the number of the chosen run, NEW_RUN or REPORT."""
    names = {run.run_id: name_of(run) for run in runs}
    return run_or_new("Run", names, _CHOSEN_RUN, NEW_RUN, further={REPORT: "Inspect a published report ..."})


def run_or_new(
    label: str,
    names: Mapping[Option, str],
    place: str,
    new: Option,
    *,
    further: Mapping[Option, str] | None = None,
    also: str = "",
) -> Option:
    """Choose one of the runs or begin a new one, as `one_or_new`. also: what else the menu holds, for its help."""
    text = f"Newest first, including runs started by command{also}."
    return one_or_new(label, names, place, new, "New run", further=further, help_text=text)


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
    """Choose some of the runs."""
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
    """Make this the run that the page Generate shows."""
    st.session_state[_CHOSEN_RUN] = run_id


def identity(run: Run) -> tuple[int, str, str]:
    """Identify a run in a cache. A cache outlives a database, and another database may use the same number."""
    return run.run_id, run.data_sha256, run.created_utc


def key_of(store: Store, run: Run) -> tuple[object, ...]:
    """Identify a run's results so far in a cache: the key changes with the items.

    It includes when the run ended, because a resumed run may end with other results and the same counts.
    """
    states, _ = item_counts(store, run.run_id)
    return (*identity(run), *sorted(states.items()), run.finished_utc)


def name_of(run: Run) -> str:
    """Name a run in a menu. What distinguishes it comes first, because a menu cuts off the end."""
    part = "" if run.n_wanted == run.n_items else f", first {run.n_wanted:,} of {run.n_items:,}"
    file = shortened(run.data_file, _LONGEST)
    return f"Run {run.run_id} ({state_of(run)}), {moment(run.created_utc)} UTC: {what_of(run)}, {file}{part}"


def what_of(run: Run) -> str:
    """Return what a run does and with which model. Raises InputError for a run that a newer Assay saved."""
    asked = asked_of(run)
    if asked.kind.by_metrics:
        metrics = asked.settings.metrics
        return str(metrics[0]) if len(metrics) == 1 else f"{len(metrics)} metrics"
    who = shortened(asked.name or asked.model.short_name, _LONGEST)
    return f"{', '.join([asked.kind.title, *asked.unusual])} by {who}"


def unblinded(store: Store, key: str, kind: StudyKind | None = None) -> Study | None:
    """Choose an unblinded study, of one kind or of any; None without one. key: of the widget."""
    open_to_all = [
        one for one in list_studies(store) if one.state == "unblinded" and kind in (None, one.kind)
    ]
    return _study_among(open_to_all, lambda study: study.name, key)


def study_with_pairs(store: Store, key: str) -> Study | None:
    """Choose a study of pairs in any state, or any unblinded one; None without one. key: of the widget."""
    offered = [one for one in list_studies(store) if one.kind == "pairs" or one.state == "unblinded"]
    return _study_among(offered, lambda study: f"{study.name} ({study.state})", key)


def _study_among(offered: Sequence[Study], name_of: Callable[[Study], str], key: str) -> Study | None:
    studies = {study.study_id: study for study in offered}
    if not studies:
        return None
    chosen = st.selectbox(
        "Study",
        list(studies),
        format_func=lambda number: name_of(studies[number]),
        key=key,
        persist_state="session",
    )
    return studies[chosen]
