"""Judges whose scores are not in the file of the labels: runs, stored tables of scores, and uploaded files."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.formats.panel.judge_files import judge_scores
from core.schema.runs import Run
from core.schema.scores import ScoreTable
from core.sources.named import FileSource, RunSource, Source
from core.sources.panel import Judge
from core.store import Store
from core.tables.reading import sha256_of
from pages.widgets import address, chosen_scores
from pages.widgets.chosen_scores import Chosen, Key, Scores
from pages.widgets.messages import plain

_FURTHER, _ROUND = "check_further", "check_round"
"""Where the session stores further judges' files, and the number of uploads so far, for each thing that is checked."""
_MOST_MB = 100


@dataclass(frozen=True)
class Judges:
    """Judges whose scores are not in the file of the labels."""

    tables: tuple[ScoreTable, ...] = ()
    """Of runs and stored files. The table of run 3 is named `run:3`, by which its cost is found."""
    runs: tuple[Run, ...] = ()
    words: tuple[str, ...] = ()
    """What a command calls them."""
    keys: tuple[Key, ...] = ()
    files: tuple[tuple[bytes, str, str], ...] = ()
    """Uploaded: contents, name and hash."""

    @property
    def key(self) -> Key:
        """Which judges, and which of their scores."""
        return (self.keys, tuple(sha for _, _, sha in self.files))

    @property
    def all_words(self) -> tuple[str, ...]:
        """What a command calls them, uploaded files by their names."""
        return (*self.words, *(name for _, name, _ in self.files))

    @property
    def names(self) -> list[str]:
        """Each metric and each judge in them, by name."""
        names = [metric.name for table in self.tables for metric in table.metrics]
        for data, name, sha in self.files:
            names += chosen_scores.once(("judges in", sha, name), partial(_names_in, data, name))
        return names

    @property
    def scores(self) -> list[Judge]:
        """What a panel reads beside its raters."""
        return [*self.tables, *(FileSource(name, data) for data, name, _ in self.files)]

    @property
    def sources(self) -> list[Source]:
        """Runs and uploaded files, which may say more of the texts than scores."""
        runs = (RunSource(run.run_id) for run in self.runs)
        return [*runs, *(FileSource(name, data) for data, name, _ in self.files)]


def _names_in(data: bytes, file_name: str) -> list[str]:
    return [metric.name for metric in judge_scores(data, file_name).metrics]


def stored(store: Store, place: str, judges: Mapping[Chosen, str], rated: Collection[str] = ()) -> Judges:
    """Choose runs and stored tables of scores as judges; with a study, at first the newest run on its texts.

    place: begins the key of the widget. judges: offered, with their names. rated: items that people rated in a study.
    """
    if not (judges or rated or "judge" in st.query_params):
        return Judges()
    key = _key(place)
    default = _newest_on(store, judges, rated) if rated and key not in st.session_state else []
    address.several("judge", key, [*judges], default, chosen_scores.code)
    chosen: list[Chosen] = st.multiselect(
        "Judges" if rated else "Further judges",
        [*judges],
        format_func=judges.__getitem__,
        key=key,
        placeholder="Runs of judges and stored scores",
        help="Runs of the pages Judges, Specialist and Metrics, and tables of scores that were uploaded there.",
    )
    return joined([chosen_scores.open_scores(store, one) for one in chosen if one in judges])


def choose(place: str, judges: Sequence[Chosen]) -> None:
    """Choose these stored judges; called before the page is drawn. place: as `stored` takes it."""
    st.session_state[_key(place)] = list(judges)


def _key(place: str) -> str:
    return f"check_judges_{place}"


def joined(opened: Sequence[Scores]) -> Judges:
    """Return opened scores as judges."""
    words = [one.table.file_name if one.run is None else f"run:{one.run.run_id}" for one in opened]
    return Judges(
        tuple(replace(one.table, file_name=word) for one, word in zip(opened, words, strict=True)),
        tuple(one.run for one in opened if one.run is not None),
        tuple(words),
        tuple(one.key for one in opened),
    )


def _newest_on(store: Store, judges: Mapping[Chosen, str], rated: Collection[str]) -> list[Chosen]:
    newest = chosen_scores.newest_on(store, [one for one in judges if one[0] == chosen_scores.RUN], rated)
    return [] if newest is None else [newest]


def added(row: DeltaGenerator, place: str, choose: Callable[[], Judges] = Judges) -> Judges:
    """Upload further judges' scores, and choose stored judges beside them. row: place of the controls.

    place: of what is checked, whose further judges these are. choose: of the stored ones.
    """
    own, uploads_so_far = f"{_FURTHER}_{place}", f"{_ROUND}_{place}"
    kept: tuple[tuple[bytes, str, str], ...] = st.session_state.setdefault(own, ())
    with row, st.popover("Add a judge", icon=":material/add:"):
        chosen = choose()
        uploads = st.file_uploader(
            "Scores of further judges for the same items",
            None,
            accept_multiple_files=True,
            key=f"check_more_{place}_{st.session_state.get(uploads_so_far, 0)}",
            max_upload_size=_MOST_MB,
        )
    if kept:
        row.markdown(", ".join(plain(name) for _, name, _ in kept), width="content")
        if row.button("Remove", key=f"check_remove_{place}", type="tertiary"):
            forget_added(place)
            st.rerun()
    if uploads:
        new = ((data, one.name, sha256_of(data)) for one in uploads if (data := one.getvalue()))
        st.session_state[own] = tuple(dict.fromkeys([*kept, *new]))
        st.session_state[uploads_so_far] = st.session_state.get(uploads_so_far, 0) + 1
        st.rerun()
    return replace(chosen, files=kept)


def forget_added(place: str) -> None:
    """Forget the further judges' files of what is checked."""
    st.session_state.pop(f"{_FURTHER}_{place}", None)
