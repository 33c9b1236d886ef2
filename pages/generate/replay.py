"""A published A0-A4 report: whether it took the steps it says, and every item of it to look at."""

import pandas as pd
import streamlit as st

from core.formats.trutheval import FactualReport, read_report
from core.generation.factual.published import Replay, replay, to_traces
from core.schema.study import Item
from core.tables.reading import sha256_of
from pages.generate import one_item
from pages.widgets.menus import once
from pages.widgets.messages import mistakes_shown, one_line, plain
from pages.widgets.parts import part, table

_REPLAYED = "report_replay_done"


def render() -> None:
    """Upload a report, see the counts, look at an item."""
    st.write(
        "A report keeps every step of a run that made A0-A4: the paper's `report.json`, or the one among the files of "
        "a run here. Assay takes the steps that need no model again and compares."
    )
    # Any file is taken: one that the browser refused would leave the result of the one before it on the screen.
    upload = st.file_uploader("Report (JSON)", key="generate_report", max_upload_size=100)
    if upload is None:
        return
    data, name = upload.getvalue(), upload.name

    def replayed() -> tuple[FactualReport, Replay]:
        report = read_report(data, name)
        return report, replay(report)

    with mistakes_shown():
        report, found = once(_REPLAYED, (sha256_of(data), name), replayed)
        _counts(found)
        _item(report, found)


def _counts(found: Replay) -> None:
    part("Replay", "In how many items the report shows what its steps give when taken again.")
    if found.verdict:
        st.markdown(f"**{plain(found.verdict)}**")
    spelled = "as they are written" if found.case == "kept" else "in lower case"
    rows = [
        (
            "Items",
            found.items,
            f"All that the report lists; {found.compared:,} of them were made and are compared."
            if found.failed
            else "All that the report lists.",
        ),
        (
            "Brackets",
            found.brackets_match,
            "A0 without its brackets is the answer, and they hold the listed facts.",
        ),
        (
            "Filter, order of the code",
            found.filter_match_code_order,
            f"First keep the most important {found.keep:.0%}, then drop what the question names; facts compared {spelled}.",
        ),
        (
            "Filter, order of the paper",
            found.filter_match_paper_order,
            f"First drop what the question names, then keep the most important {found.keep:.0%}.",
        ),
        (
            "Sizes of the groups",
            found.group_sizes_match,
            "As many brackets go from level to level as the groups have facts.",
        ),
    ]
    table(
        pd.DataFrame(
            [(name, f"{count:,}", said) for name, count, said in rows],
            columns=["Step", "Items that match", "Note"],
        )
    )
    st.markdown(
        ":small[The two orders are alternatives: a run takes one of them. What a model did (paraphrase, ranking, edits) "
        "cannot be replayed.]"
    )


def _item(report: FactualReport, found: Replay) -> None:
    def label(at: int) -> str:
        one = found.per_item[at]
        state = "not made" if one.failed is not None else "does not match" if one.reasons else "matches"
        return f"{one.item + 1} ({state}): {one_line(one.question)}"

    traces = to_traces(report)
    order = sorted(range(found.items), key=lambda at: (not found.per_item[at].reasons, at))
    chosen = st.selectbox(
        "Item",
        order,
        format_func=label,
        key="generate_report_item",
        help="Those that do not match come first.",
    )
    for reason in found.per_item[chosen].reasons:
        st.warning(plain(reason))
    question = report.questions[chosen]
    item = Item(traces[chosen].item_id, question.question, question.ground_truth)
    if traces[chosen].failed_step is not None:
        st.warning(plain(one_item.why_it_ended(traces[chosen])))
    one_item.heading(item)
    one_item.factual_steps(traces[chosen], item)
