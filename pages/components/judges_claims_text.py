"""What became of the claims of one text and of its reference."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.judges.claims.judge import KIND
from core.judges.claims.steps import Claim, ClaimsRecord
from pages.components.judges_names import MARKS
from pages.components.messages import plain
from pages.components.parts import nothing, part, table


def render(record: ClaimsRecord) -> None:
    """Two tables, and the steps that failed."""
    _side(
        "Claims of the text",
        "Verified against the reference: the share that is supported is the precision.",
        record.response,
    )
    _side(
        "Claims of the reference",
        "Verified against the text: the share that is supported is the recall.",
        record.reference,
    )
    for step, reason in record.reasons:
        st.warning(plain(f"{step}: {reason}"))


def _side(title: str, sentence: str, claims: Sequence[Claim] | None) -> None:
    part(title, sentence, KIND.section)
    if not claims:
        nothing("it could not be taken apart" if claims is None else "there is no claim in it")
        return
    counts = {mark: sum(claim.supported is verdict for claim in claims) for verdict, mark in MARKS.items()}
    st.markdown(
        f"{counts['✓']} supported (✓), {counts['✗']} not supported (✗), {counts['?']} without a verdict (?)."
    )
    table(
        pd.DataFrame(
            {
                "Mark": [MARKS[claim.supported] for claim in claims],
                "Claim": [claim.text for claim in claims],
                "Why": [claim.reason or claim.why for claim in claims],
            }
        )
    )
