"""What a run made as downloads: a button a file, and one for all of them."""

import io
import zipfile
from collections.abc import Mapping
from functools import partial

import streamlit as st

from pages.components import visitor

_TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}


def render(files: Mapping[str, bytes], whole: str, place: str) -> None:
    """whole: the name of the archive with all files; place: what the buttons' keys begin with."""
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
            st.download_button(
                name,
                partial(checked, partial(bytes, data)),
                name,
                _TYPES.get(name.rpartition(".")[2], "application/octet-stream"),
                key=f"{place}_file_{name}",
                on_click="ignore",
            )
    st.markdown(":small[The formats are described in `docs/formats.md`.]")


def _zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()
