"""Files that were given to the page Metrics: kept, so that nobody has to give them again, and read once."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from core.formats.correlations import read_correlations
from core.schema.scores import CorrelationSet, RatingSet, ScoreTable
from core.store import Store
from core.store.kept_files import KeptFile, KeptKind, delete_file, file_data, keep_file, kept_files
from core.tables.reading import sha256_of
from pages.components import metrics_metal
from pages.components.menu import menu
from pages.components.messages import mistakes_shown, moment, plain

_WITH_METAL = ("calibration",)
"""The places where a file may be METAL's JSON with dimensions to turn."""
UPLOAD = 0
"""Stands for a file that is still to be given."""
_MOST_MB = 100
_Key = tuple[KeptKind, str, str, bool, metrics_metal.Flip]
"""Kind, hash and name of a file, and how it is read: lower ratings are better, scores are those of METAL's
evaluators, or correlations are synthetic; and the dimensions of METAL's JSON in which 1 is bad."""
_TYPES: dict[KeptKind, list[str]] = {
    "ratings": ["csv", "tsv", "jsonl", "ndjson"],
    "scores": ["csv", "tsv", "jsonl", "ndjson", "json", "parquet"],
    "correlations": ["json"],
}
_ACCEPTED: dict[KeptKind, str] = {
    "ratings": "Accepted: CSV, TSV or JSONL with the columns item, score and, where there are, system, level, rater, "
    "dimension, language; with a column of numbers a dimension; JSONL with nested ratings; rated texts (JSONL); or an "
    "MQM table (TSV).",
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
    with_metal = slot in _WITH_METAL
    st.markdown(f":small[{_ACCEPTED[kind]}{' Also METAL JSON.' if with_metal else ''}]")
    options: dict[str, object] = {}
    if kind == "ratings":
        options["lower_is_better"] = st.checkbox(
            "In this file lower is better (such as MQM penalties)", key=f"metrics_lower_{slot}"
        )
    if with_metal:
        options |= metrics_metal.asked(kind, slot)
    types = dict.fromkeys([*_TYPES[kind], *(["json"] if with_metal else [])])
    upload = st.file_uploader("File", type=list(types), key=f"metrics_file_{slot}", max_upload_size=_MOST_MB)
    if upload is None:
        return None
    with mistakes_shown():
        data = upload.getvalue()
        _read(_key(kind, sha256_of(data), upload.name, options), lambda: data)
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
    found: CorrelationSet = _read(
        (file.kind, file.sha256, file.file_name, synthetic, ()), _bytes(store, file)
    )
    return found


def key_of(file: KeptFile) -> _Key:
    """Names what is read from the file in a cache."""
    return _key(file.kind, file.sha256, file.file_name, file.options)


def _key(kind: KeptKind, sha256: str, file_name: str, options: Mapping[str, object]) -> _Key:
    option = bool(options.get("lower_is_better")) or metrics_metal.wants_evaluators(options)
    return kind, sha256, file_name, option, metrics_metal.flip_of(options)


def _bytes(store: Store, file: KeptFile) -> Callable[[], bytes]:
    return partial(file_data, store, file.file_id)


# Resources, not data: large tables would be copied at every press of a widget. Nobody changes them: they are frozen.
@st.cache_resource(show_spinner=False, max_entries=12)
def _read(key: _Key, _data: Callable[[], bytes]) -> Any:
    kind, _, name, option, flip = key
    return _READERS[kind](_data(), name, option, flip)


_READERS: dict[KeptKind, Callable[[bytes, str, bool, metrics_metal.Flip], object]] = {
    "ratings": lambda data, name, lower, flip: metrics_metal.read_people(
        data, name, flip, lower_is_better=lower
    ),
    "scores": lambda data, name, own, flip: metrics_metal.read_judge(data, name, flip, evaluators=own),
    "correlations": lambda data, name, synthetic, _: read_correlations(data, name, synthetic=synthetic),
}
