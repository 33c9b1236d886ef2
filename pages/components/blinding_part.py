"""The part of the results page that asks whether blinding held: what the raters' guesses say, and what they wrote."""

import pandas as pd
import streamlit as st

from core.results.study.blinding import ORDER, Blinding
from core.results.study.results import StudyResults
from core.results.study.verdict_words import reasons
from core.stats.blinding import BlindingIndex
from pages.components.messages import plain
from pages.components.numbers import UNDEFINED, interval, number, percent
from pages.components.parts import nothing, part, table

NO_GUESS = "there is no guess which answer the person wrote"
_ANSWERS = {"left": "left", "right": "right", "unsure": "cannot tell"}


def show(results: StudyResults) -> None:
    """Reading, indices per rater and overall, the guesses by side, and the comments beside them."""
    found = results.blinding
    part(
        "Blinding",
        f"After their last answer raters see some pairs again and say which of the two a person wrote (here: "
        f"{plain(found.person)}). Bang's index is 0 when they guess, 1 when every guess is right and -1 when every "
        "guess is wrong.",
        "blinding-index",
    )
    if not found.overall.n:
        nothing(NO_GUESS)
    else:
        with st.container(border=True):
            st.markdown(f"**{plain(found.reading)}**")
        table(indices(found))
        level = percent(found.overall.bang.confidence_level)
        st.markdown(
            f":small[In brackets: {level} intervals, of the share exact, of the indices a percentile bootstrap over "
            "questions. Ten guesses of a rater say little; with many raters a few stand out by chance.]"
        )
        with st.expander("By the side on which the person's answer stood"):
            table(by_side(found))
            st.markdown(
                f":small[In brackets: {level} normal intervals. An index near 1 on one side and near -1 on the other "
                "means that a rater always named the same side.]"
            )
    if found.n_left_out:
        st.markdown(f"Guesses left out: {reasons(found.n_left_out)}.")
    if found.comments:
        with st.expander(f"Comments beside the guesses ({len(found.comments)})"):
            for said in found.comments:
                st.markdown(
                    f"{plain(said.rater_id)}, {plain(said.item_id)} at {plain(said.level)}: {plain(said.comment)}"
                )


def indices(found: Blinding) -> pd.DataFrame:
    """One line a rater, then all together."""
    return pd.DataFrame([_line(rater, index) for rater, index in _everybody(found).items()])


def by_side(found: Blinding) -> pd.DataFrame:
    """The counts behind the indices, a line for each rater and side, with Bang's index of that side alone."""
    return pd.DataFrame(
        [
            {"Rater": rater, "Person's answer": side}
            | {f"Guess: {_ANSWERS[guess]}": n for guess, n in zip(ORDER, row, strict=True)}
            | {"Bang's index": _with_ends(alone.estimate, alone.low, alone.high)}
            for rater, index in _everybody(found).items()
            if index.n
            for side, row, alone in zip(
                ("left", "right"), index.table, (index.bang_left, index.bang_right), strict=True
            )
        ]
    )


def _everybody(found: Blinding) -> dict[str, BlindingIndex]:
    name = "all raters"
    while name in found.per_rater:
        name += " together"
    return {**found.per_rater, name: found.overall}


def _line(rater: str, found: BlindingIndex) -> dict[str, str | int]:
    share = found.share_right
    indices = {"Bang's index": found.bang_questions, "James's index": found.james_questions}
    undefined_why = {"Share right": share.reason, **{name: each.reason for name, each in indices.items()}}
    undefined = "; ".join(f"{name}: {reason}" for name, reason in undefined_why.items() if reason)
    return {
        "Rater": rater,
        "Guesses": found.n,
        "Right": share.n_right,
        "Wrong": share.n - share.n_right,
        "Cannot tell": found.n - share.n,
        "Share right": _with_ends(share.share, share.low, share.high),
        **{name: _with_ends(each.estimate, each.low, each.high) for name, each in indices.items()},
        "Note": undefined if found.n else found.bang.reason or "",
    }


def _with_ends(value: float | None, low: float | None, high: float | None) -> str:
    return UNDEFINED if value is None else f"{number(value)} {interval(low, high)}"
