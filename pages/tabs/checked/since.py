"""What changed since an earlier check, whose JSON the visitor uploads."""

from dataclasses import replace

import streamlit as st

from core.analyses.check.drift import drift, read_earlier
from core.analyses.check.rows import Drift
from core.results.check.verdict import Check
from core.schema.analysis import Answer
from pages.widgets import analysis
from pages.widgets.messages import mistakes_shown, plain
from pages.widgets.parts import part

_MOST_MB = 100


def compare_earlier(check: Check, answer: Answer) -> tuple[Drift, str] | None:
    """Compare with an earlier check; return what changed and the name of the file. None without a file or for another kind.

    answer: that of the check.
    """
    part("Since an earlier check", "Did the judge change, the systems, or the raters?", "check#drift")
    upload = st.file_uploader(
        "JSON of an earlier check", "json", key="check_against", max_upload_size=_MOST_MB
    )
    if upload is None:
        return None
    changed = None
    with mistakes_shown():
        changed = drift(check, read_earlier(upload.getvalue(), upload.name))
        first, *others = map(plain, changed.sentences)
        st.markdown("  \n".join([f"**{first}**", *others]))
        beside = replace(answer, result=replace(answer.result, drift=changed))
        analysis.show_tables(beside, ("check-drift",))
    return None if changed is None else (changed, upload.name)
