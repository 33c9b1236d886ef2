"""A0-A4 of one item: which facts were found, which may be changed, in which groups, and what became of them."""

import pandas as pd
import streamlit as st

from core.generation.factual.pipeline import VERBATIM
from core.generation.factual.published import PUBLISHED
from core.generation.records import FactualTrace
from core.schema.study import Item
from pages.components import generated_level_diff as texts
from pages.components.messages import plain
from pages.components.parts import nothing, table

_ORIGINS = {
    "llm": "Written by the model.",
    "paraphrase": "Taken from the file's paraphrase.",
    "verbatim": "The reference word for word (`verbatim`): raters would see the reference itself, and every metric "
    "would call it perfect.",
}
_LEGEND = "; the colour and the small A1, A2 ... say at which level a fact is changed. A dashed line: held, never changed."
_STEPS = {
    "paraphrase": "writing A0",
    "spans": "finding facts",
    "rank": "ranking the facts",
    "question filter": "choosing facts that the question does not name",
    "edit": "changing facts",
    "internal": "a defect of Assay (the run's log has more)",
}


def render(trace: FactualTrace, item: Item) -> None:
    """Every step, in the order in which they were taken."""
    for note in trace.notes:
        if note != VERBATIM:  # said with the text itself
            st.markdown(f":small[{plain(note)}]")
    if not trace.levels:
        nothing("no level was made")
        return
    _facts(trace, item)
    _levels(trace, item)


def why_it_ended(trace: FactualTrace) -> str:
    """At which step an item failed and for what reason; plain text."""
    step = _STEPS.get(trace.failed_step or "", trace.failed_step or "no step that was kept")
    reason = trace.reason or "no reason was kept"
    return f"It ended at {step} ({reason}){': ' + trace.detail if trace.detail else '.'}"


def _facts(trace: FactualTrace, item: Item) -> None:
    st.subheader("A0 and its facts", anchor=False)
    if trace.a0_from == "verbatim":
        st.warning(_ORIGINS["verbatim"])
    found_by = f" Facts found by {plain(trace.spans_by)}." if trace.spans_by not in ("", PUBLISHED) else ""
    stop_words = f" Stop words: {plain(trace.stop_words)}." if trace.stop_words else ""
    origin = "" if trace.a0_from in (None, "verbatim") else _ORIGINS[str(trace.a0_from)]
    legend = (
        f" In brackets: the facts with their number{_LEGEND if trace.groups else '.'}" if trace.spans else ""
    )
    st.markdown(f"{origin}{found_by}{stop_words}{legend}")
    group_of = {span: at for at, group in enumerate(trace.groups, start=1) for span in group}
    texts.facts_card("A0", trace.levels[0].text, trace.spans, group_of, item.language)
    if not trace.spans:
        return
    with st.expander(f"The {len(trace.spans)} facts: ranking, groups, and why some are held"):
        st.markdown(
            "Facts are numbered from 0, as in prompts and records. Rank 1 is the most important; a fact that was dropped before the ranking has none."
        )
        table(_fact_table(trace, group_of))


def _fact_table(trace: FactualTrace, group_of: dict[int, int]) -> pd.DataFrame:
    dropped = {one.span: one for one in trace.dropped}
    ranks = {span: at for at, span in enumerate(trace.ranking, start=1)}
    rows = []
    for number, span in enumerate(trace.spans):
        if number in group_of:
            fate = f"changed at A{group_of[number]}"
        elif number in dropped:
            word = f" ({dropped[number].word})" if dropped[number].word else ""
            fate = f"held: {dropped[number].reason}{word}"
        else:
            fate = "held"
        rows.append((number, span.text, span.kind, str(ranks.get(number, "none")), fate))
    return pd.DataFrame(rows, columns=["Fact", "Text", "Kind", "Rank", "What became of it"])


def _levels(trace: FactualTrace, item: Item) -> None:
    st.subheader("Levels", anchor=False)
    against = texts.base_control("A0")
    before = item.reference
    for level in trace.levels:
        first = item.reference if level is trace.levels[0] else trace.levels[0].text
        texts.level_card(level.name, level.text, item, against, before=before, first=first)
        said = [plain(level.note)] if level.note else []
        if level.attempts:
            said.append(f"{level.attempts} {'answer' if level.attempts == 1 else 'answers'} of the model")
        if said:
            st.markdown(f":small[{'; '.join(said)}.]")
        if level.edits:
            table(
                pd.DataFrame(
                    [(edit.span, edit.old, edit.new, edit.how) for edit in level.edits],
                    columns=["Fact", "Was", "Is", "By"],
                )
            )
        before = level.text
