"""A folder in the form of mt-metrics-eval: its metrics' scores and its human ratings, kept like files that were given."""

from pathlib import Path

import streamlit as st

from core.errors import InputError
from core.formats.human_ratings import write_ratings_jsonl
from core.formats.mt_metrics_eval import MtFolder, read_folder
from core.formats.scores import write_scores_jsonl
from core.store import Store
from core.store.kept_files import KeptFile, keep_file

_PARTS = ("sources", "references", "documents", "system-outputs", "metric-scores", "human-scores")
"""What the form names; nothing else of the folder is read."""


def fields(slot: str) -> tuple[Path, str | None] | None:
    """Where the folder is and which language pair of it; None: nothing is named yet. Raises InputError."""
    st.markdown(
        "A folder of the machine that runs Assay, with sources, references, system-outputs and so on."
    )
    left, right = st.columns([3, 1])
    folder = left.text_input("Folder", key=f"metrics_folder_{slot}", persist_state="session").strip()
    pair = right.text_input("Language pair", key=f"metrics_pair_{slot}", persist_state="session").strip()
    if not folder:
        return None
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise InputError("There is no such folder on the machine that runs Assay. Give its whole path.")
    return path, pair or None


def stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Another one as soon as a file of the folder is another."""
    files = [file for name in _PARTS for file in (path / name).glob("**/*") if file.is_file()]
    stats = [(str(file), file.stat()) for file in sorted(files)]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


def take(store: Store) -> KeptFile | None:
    """Keep the folder's scores and all its ratings once a button is pressed; returns the scores."""
    given = fields("scores")
    if given is None or not st.button("Take scores and ratings", type="primary", key="metrics_folder_take"):
        return None
    path, pair = given
    with st.spinner("Reading ..."):
        found = read_folder(path, language_pair=pair)
    return keep(store, path.resolve().name, found)


def keep(store: Store, name: str, found: MtFolder) -> KeptFile:
    """Keep what the folder holds. Raises InputError where it holds no metric's scores."""
    if not found.scores.metrics:
        raise InputError(
            "This folder holds no scores of metrics: score its texts (Score texts ..., a folder)."
        )
    stem = f"{name}-{found.language_pair}"
    for kind, ratings in found.ratings.items():
        keep_file(store, "ratings", f"{stem}-{kind}.jsonl", write_ratings_jsonl(ratings))
    return keep_file(store, "scores", f"{stem}-scores.jsonl", write_scores_jsonl(found.scores, "long"))
