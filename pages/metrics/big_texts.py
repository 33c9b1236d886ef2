"""The texts of a new scoring run, which may be a big table: an upload, or a file on the machine that runs Assay."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath

import streamlit as st

from core.errors import InputError
from core.judges.kind import JudgeKind
from core.runs.tables import big_table
from core.schema import big_tables
from core.scratch import scratch_folder
from core.store import Store
from core.tables.files import read_file
from core.tables.parquet import is_parquet
from core.tables.reading import sha256_of
from core.tables.streaming import TableFile
from pages.tabs import new_run
from pages.widgets.menus import once
from pages.widgets.messages import plain
from pages.widgets.parts import explained

Given = tuple[bytes | TableFile, str]
"""A file of texts, whole or as a big table, and its name."""


def choose(store: Store) -> Given | None:
    """Choose texts and summarise them; None before a choice. A big table is not read here. Raises InputError."""
    chosen = SOURCE.chosen(store)
    if chosen is None:
        return None
    data, name = chosen
    if isinstance(data, bytes):
        if not _is_big(data, name):
            SOURCE.summary(SOURCE.contents((data, name)))
            return data, name
        size = len(data)
    else:
        size = data.path.stat().st_size
    st.success(
        f"{plain(name)}: {size / 1e6:,.1f} MB, a big table of more than {big_tables.BIG_ROWS:,} texts."
    )
    explained(
        f"It is scored in blocks of {big_tables.CHUNK_ROWS:,} texts, and its scores lie in files beside the database. The file is "
        "checked when the run starts, which takes about a minute for a million texts. More in `docs/scale.md`."
    )
    return data, name


@contextmanager
def opened(file: Given) -> Iterator[bytes | TableFile]:
    """The chosen file as a new run takes it: an upload with very many rows as a big table, too."""
    data, name = file
    if not isinstance(data, bytes) or not _is_big(data, name):
        yield data
        return
    with scratch_folder() as folder:
        yield _write_table(data, name, folder) or data


def _is_big(data: bytes, name: str) -> bool:
    """Whether an upload is a big table; found out once."""
    if (
        data.count(b"\n") < big_tables.BIG_ROWS
        and data.count(b"\r") < big_tables.BIG_ROWS
        and not is_parquet(data, name)
    ):
        return False

    def found() -> bool:
        with scratch_folder() as folder:
            return _write_table(data, name, folder) is not None

    return once("metrics_texts_big", (sha256_of(data), name), found)


def _write_table(data: bytes, name: str, folder: Path) -> TableFile | None:
    path = folder / (PurePath(name).name or "texts")
    path.write_bytes(data)
    return big_table(path)


def _choose_path(_: Store, __: JudgeKind | None) -> Given | None:
    st.markdown(
        f"A file on the machine that runs Assay: CSV, JSONL or Parquet, of any size. Beyond {big_tables.BIG_ROWS:,} texts it is scored "
        "in blocks, as a big table."
    )
    named = st.text_input("File", key="metrics_texts_path", persist_state="session").strip()
    if not named:
        return None
    path = Path(named).expanduser()
    if not path.is_file():
        raise InputError("The machine that runs Assay has no such file. Enter the full path.")
    stat = path.stat()
    key = (str(path), stat.st_mtime_ns, stat.st_size)
    table = once("metrics_texts_table", key, lambda: big_table(path))
    return table or once("metrics_texts_whole", key, lambda: read_file(path)), path.name


SOURCE = replace(
    new_run.TEXTS, ways={**new_run.TEXTS.ways, "path": ("A large file on this machine", _choose_path)}
)
