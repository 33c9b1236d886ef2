"""Files that were given to the page Metrics: kept, so that nobody has to give them again, and read once."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from core.datasets.correlation_files import read_correlations
from core.datasets.rating_files import read_rating_file
from core.datasets.reading import sha256_of
from core.datasets.score_tables import read_scores
from core.schema.scores import CorrelationSet, RatingSet, ScoreTable
from core.store import Store
from core.store.kept_files import KeptFile, KeptKind, delete_file, file_data, keep_file, kept_files
from pages.components.menu import menu
from pages.components.messages import mistakes_shown, moment, plain

UPLOAD = 0
"""Stands for a file that is still to be given."""
_MOST_MB = 100
_Key = tuple[KeptKind, str, str, bool]
"""Kind, hash and name of a file, and how it is read: lower ratings are better, or correlations are synthetic."""
_TYPES: dict[KeptKind, list[str]] = {
    "ratings": ["csv", "tsv", "jsonl", "ndjson"],
    "scores": ["csv", "tsv", "jsonl", "ndjson", "json", "parquet"],
    "correlations": ["json"],
}
_ACCEPTED: dict[KeptKind, str] = {
    "ratings": "Accepted: CSV, TSV or JSONL with the columns item, score and, where there are, system, level, rater, "
    "dimension, language; or an MQM table (TSV).",
    "scores": "Accepted: what `score` and this page write, or CSV, TSV, JSONL or Parquet with the columns item, "
    "system, level and one column a metric; JSONL with id, level and result; RAGAS' rows; answers of a "
    "cross-examination server.",
    "correlations": "Accepted: what `correlate --json` prints, or Meta-Judge's `{metric: {pearson, spearman, "
    "kendall}}`.",
}


def choose(store: Store, kind: KeptKind, slot: str, label: str) -> KeptFile | None:
    """A kept file, or one that is given now; `slot` tells apart the places that ask for a file."""
    files = {file.file_id: file for file in kept_files(store, kind)}
    place = f"metrics_kept_{slot}"
    chosen = menu(
        label,
        [*files, UPLOAD],
        place,
        lambda number: name_of(files[number]) if number else "Upload a file ...",
    )
    if chosen != UPLOAD:
        return files[chosen]
    given = choose_new(store, kind, slot)
    if given is not None:
        st.session_state[place] = given.file_id
        st.rerun()
    return None


def name_of(file: KeptFile) -> str:
    """A kept file in a menu."""
    return f"{file.file_name}, {moment(file.created_utc)} UTC"


def forget_button(store: Store, file: KeptFile, slot: str) -> None:
    """Delete the kept file; results that were computed from it go with it."""
    if st.button("Forget this file", key=f"metrics_forget_{slot}", type="tertiary"):
        delete_file(store, file.file_id)
        st.rerun()


def choose_new(store: Store, kind: KeptKind, slot: str) -> KeptFile | None:
    """A file that is given now; it is kept if it can be read."""
    st.markdown(f":small[{_ACCEPTED[kind]}]")
    options: dict[str, object] = {}
    if kind == "ratings":
        options["lower_is_better"] = st.checkbox(
            "In this file lower is better (such as MQM penalties)", key=f"metrics_lower_{slot}"
        )
    upload = st.file_uploader("File", type=_TYPES[kind], key=f"metrics_file_{slot}", max_upload_size=_MOST_MB)
    if upload is None:
        return None
    with mistakes_shown():
        data = upload.getvalue()
        _read((kind, sha256_of(data), upload.name, bool(options.get("lower_is_better"))), lambda: data)
        return keep_file(store, kind, upload.name, data, options)
    return None  # type: ignore[unreachable]  # what is wrong with it is on the page


def read_notes(notes: tuple[str, ...], left_out: Mapping[str, int] | None = None) -> None:
    """What was noticed in a file, small."""
    lines = [*notes, *(f"{n} left out: {reason}" for reason, n in (left_out or {}).items())]
    if lines:
        st.markdown("  \n".join(f":small[{plain(line)}]" for line in lines))


def ratings_of(store: Store, file: KeptFile) -> RatingSet:
    """The ratings that a kept file holds."""
    found: RatingSet = _read(key_of(file), _bytes(store, file))
    return found


def scores_of(store: Store, file: KeptFile) -> ScoreTable:
    """The scores that a kept file holds."""
    found: ScoreTable = _read(key_of(file), _bytes(store, file))
    return found


def correlations_of(store: Store, file: KeptFile, *, synthetic: bool) -> CorrelationSet:
    """The correlations that a kept file holds; synthetic: of Meta-Judge's files, those with the raw level."""
    found: CorrelationSet = _read((file.kind, file.sha256, file.file_name, synthetic), _bytes(store, file))
    return found


def key_of(file: KeptFile) -> _Key:
    """Names what is read from the file in a cache."""
    return file.kind, file.sha256, file.file_name, bool(file.options.get("lower_is_better"))


def _bytes(store: Store, file: KeptFile) -> Callable[[], bytes]:
    return partial(file_data, store, file.file_id)


# Resources, not data: large tables would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=12)
def _read(key: _Key, _data: Callable[[], bytes]) -> Any:
    kind, _, name, option = key
    return _READERS[kind](_data(), name, option)


_READERS: dict[KeptKind, Callable[[bytes, str, bool], object]] = {
    "ratings": lambda data, name, lower: read_rating_file(data, name, lower_is_better=lower),
    "scores": lambda data, name, _: read_scores(data, name),
    "correlations": lambda data, name, synthetic: read_correlations(data, name, synthetic=synthetic),
}
