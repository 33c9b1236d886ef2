"""Texts for a judge that stands on ratings: a file that has both, two files, a folder, or an unblinded rating study."""

from collections.abc import Callable

import streamlit as st

from core.formats.mt_metrics_eval import USUAL_RATINGS, rating_names
from core.formats.rated import read_rated
from core.judges.kind import JudgeKind
from core.runs.texts import Texts as Texts
from core.runs.texts import rated_of_folder, rated_of_study, rated_of_texts, read_apart
from core.schema.judging import RatedSet
from core.schema.tasks import RatingTask
from core.store import Store
from core.store.studies import get_study
from core.tables.reading import sha256_of
from pages.components import metrics_folder, metrics_kept, study_choice
from pages.components.kept_once import once
from pages.components.messages import plain

_FILE, _RATINGS, _MADE, _READ = (
    "specialist_texts_file",
    "specialist_texts_ratings",
    "specialist_texts_made",
    "specialist_texts_read",
)
_STUDY = "specialist_texts_study"
_FROM = {
    "file": "A file of mine",
    "study": "An unblinded rating study",
    "folder": "A folder of translations",
}
_MOST_MB = 100


def take_file(data: bytes, name: str) -> None:
    """Fill the form with these rated texts, as if they had been given as a file."""
    st.session_state["specialist_texts_from"] = "file"
    st.session_state[_FILE] = (data, name)
    st.session_state.pop(_RATINGS, None)


def choose(store: Store, kind: JudgeKind) -> Texts | None:
    """The rated texts as a file, after saying what is in it; None: nothing is chosen yet. Raises InputError."""
    came = st.radio(
        "From",
        list(_FROM),
        format_func=_FROM.__getitem__,
        horizontal=True,
        key="specialist_texts_from",
        persist_state="session",
    )
    ways: dict[str, Callable[[], Texts | None]] = {
        "file": lambda: _of_file(kind),
        "study": lambda: _of_study(store),
        "folder": _of_folder,
    }
    texts = ways[came]()
    if texts is not None:
        _summary(read(texts))
    return texts


def _of_file(kind: JudgeKind) -> Texts | None:
    st.markdown(
        ":small[Accepted: rated texts (JSONL, one text per line with its `ratings`), or texts alone (CSV, TSV, JSONL with the "
        "columns item, text, system, source and, where there are, reference, level, language) and a file of ratings beside them.]"
    )
    left, right = st.columns(2)
    upload = left.file_uploader(
        "Texts",
        type=["json", "csv", "tsv", "jsonl", "ndjson"],
        key="specialist_texts_upload",
        max_upload_size=_MOST_MB,
    )
    apart = right.file_uploader(
        "Ratings, if in a separate file",
        key="specialist_ratings_upload",
        max_upload_size=_MOST_MB,
        help="MQM or Marot table (TSV), a row an error or a score (CSV, JSONL), mt-metrics-eval's *.seg.rating, rated texts.",
    )
    if upload is not None:
        st.session_state[_FILE] = (upload.getvalue(), upload.name)
        st.session_state[_RATINGS] = None
    if apart is not None:
        st.session_state[_RATINGS] = (apart.getvalue(), apart.name)
    kept: Texts | None = st.session_state.get(_FILE)
    if kept is None:
        return None
    if upload is None:
        st.markdown(f"The file is still {plain(kept[1])}; choose another to replace it.")
    ratings: Texts | None = st.session_state.get(_RATINGS)
    if ratings is None:
        return kept
    key = (sha256_of(kept[0]), kept[1], sha256_of(ratings[0]), ratings[1], kind.name)
    texts, notes = once(
        _MADE, key, lambda: rated_of_texts(*kept, lambda outputs: [read_apart(kind, *ratings, outputs)])
    )
    metrics_kept.read_notes(notes)
    return texts


def _of_study(store: Store) -> Texts | None:
    study = study_choice.unblinded(store, _STUDY, "ratings")
    if study is None:
        st.markdown(
            "No rating study is unblinded yet: make one on the page Studies, let people rate, and unblind it. Their "
            "ratings then become this judge's examples."
        )
        return None
    return rated_of_study(store, study)


def own_task(store: Store) -> RatingTask | None:
    """What the raters of the chosen study were asked; None where the texts are of none."""
    chosen = st.session_state.get(_STUDY)
    if st.session_state.get("specialist_texts_from") != "study" or chosen is None:
        return None
    return get_study(store, chosen).task


def _of_folder() -> Texts | None:
    given = metrics_folder.fields("specialist")
    if given is None:
        return None
    path, pair = given
    names = rating_names(path, language_pair=pair)
    chosen = list(names)
    if len(names) > 1:
        chosen = [
            st.selectbox(
                "Ratings",
                names,
                index=names.index(USUAL_RATINGS) if USUAL_RATINGS in names else 0,
                key=f"specialist_folder_ratings_{path}_{pair}",
                help="A name that ends in .raters has each rater's errors apart, as the tab Raters needs them.",
            )
        ]
    key = (path, pair, *chosen, metrics_folder.stamp(path))
    texts, notes = once(_MADE, key, lambda: rated_of_folder(path, pair, chosen))
    metrics_kept.read_notes(notes)
    return texts


def read(texts: Texts) -> RatedSet:
    """What is in the file, read once a file and not at every press of a widget."""
    return once(_READ, (sha256_of(texts[0]), texts[1]), lambda: read_rated(*texts))


def _summary(found: RatedSet) -> None:
    outputs = [text.output for text in found.texts]
    items, systems = len({one.item_id for one in outputs}), len({one.system for one in outputs})
    n_rated = sum(bool(text.ratings) for text in found.texts)
    raters = {one.rater for text in found.texts for one in text.ratings if one.rater}
    by = f" by {len(raters):,} {'rater' if len(raters) == 1 else 'raters'}" if raters else ""
    said = (
        f"{len(outputs):,} {'text' if len(outputs) == 1 else 'texts'} on {items:,} {'item' if items == 1 else 'items'} by "
        f"{systems:,} {'system' if systems == 1 else 'systems'}; {n_rated:,} of them rated{by}."
    )
    (st.success if n_rated else st.warning)(said)
    metrics_kept.read_notes(found.notes, found.left_out)
