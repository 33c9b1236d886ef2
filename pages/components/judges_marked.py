"""Errors that people marked, and whether a cross-examination's mismatches point to them."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.judges.alignment import KIND, MarkedError, MarkedText
from core.results.judges.alignment import AlignmentRow, alignment_table, marked_texts
from core.runs.judging import pieces_done
from core.runs.path import at_hand
from core.runs.records import write_pieces
from core.schema.runs import Run
from core.store import Store
from pages.components import (
    choices,
    generated_level_diff,
    judges_check,
    judges_runs,
    metrics_computed,
    metrics_figure,
    metrics_kept,
    metrics_tables,
    run_choice,
)
from pages.components.judges_names import MARKS
from pages.components.judges_numbers import in_percent, level_said
from pages.components.messages import mistakes_shown
from pages.components.parts import explained, nothing, part, table


def start(store: Store, run: Run) -> None:
    """Choose ratings with marked errors, and let rules or a model compare."""
    part(
        "Errors that people marked",
        "Does a mismatching question point to each error that a person marked in the text? Needs ratings with error "
        "spans of the same texts, such as MQM. What is flagged wrongly is not counted here.",
        "alignment-with-marked-errors",
    )
    with st.expander("Compare with marked errors"), mistakes_shown():
        file = metrics_kept.choose(store, "ratings", KIND.name, "Ratings")
        if file is None:
            return
        texts, notes = metrics_computed.once(
            ("marked", *run_choice.key_of(store, run), *metrics_kept.key_of(file)),
            lambda: marked_texts(judges_runs.output_of(store, run), metrics_kept.ratings_of(store, file)),
        )
        metrics_kept.read_notes(notes)
        wanted = judges_check.model(KIND)
        if st.button(
            f"Compare {sum(len(text.errors) for text in texts):,} marked errors",
            key="judges_alignment_start",
            type="primary",
            disabled=not texts or wanted.model.missing is not None,
        ):
            judges_check.start(store, write_pieces(texts), f"marked-errors-run-{run.run_id}.jsonl", wanted)
            st.rerun()


def result(store: Store, run: Run) -> None:
    """How many marked errors were found, by kind, and each of them."""
    part(
        "Marked errors that a mismatch points to",
        "Share of the errors with a verdict, with a 95 % interval that takes the errors of one text for "
        "independent. Many mismatches point to anything: read it beside the number of mismatches.",
        "alignment-with-marked-errors",
    )
    texts = metrics_computed.once(
        ("looked at", *run_choice.key_of(store, run)), lambda: pieces_done(at_hand(store, run))
    )
    if not any(text.errors for text in texts):
        nothing("no error is looked at yet")
        return
    found = alignment_table(texts)
    mismatches = sum(len(text.mismatches) for text in texts)
    by = (
        " Compared by rules: a stand-in, which reads no meaning."
        if at_hand(store, run).asked.by_rules
        else ""
    )
    st.markdown(f"Texts: {len(texts):,}; mismatching questions: {mismatches:,}.{by}")
    groups: dict[str, Sequence[AlignmentRow]] = {
        "all": [found.overall],
        "meaning": found.by_meaning,
        "category": found.by_category,
        "severity": found.by_severity,
    }
    for name, rows in groups.items():
        head = name.capitalize() if name == "all" else f"By {name}"
        table(pd.DataFrame([_row(head, row) for row in rows]))
    explained(":small[Intervals are Wilson's, for shares.]", "shares")
    metrics_kept.read_notes((), dict(found.reasons))
    metrics_figure.downloads(
        "judge-alignment", [_csv_row(name, row) for name, rows in groups.items() for row in rows]
    )
    _errors(texts, run.run_id)


def _row(head: str, row: AlignmentRow) -> dict[str, str]:
    return {
        head: row.name,
        "Found": f"{row.caught.count:,} of {row.total:,}",
        "Share, 95 % interval": in_percent(row.caught),
        "No verdict": f"{row.n_left_out:,}",
    }


def _csv_row(group: str, row: AlignmentRow) -> dict[str, object]:
    return {
        "by": group,
        "name": row.name,
        **metrics_tables.share("caught", row.caught),
        "no_verdict": row.n_left_out,
    }


def _errors(texts: Sequence[MarkedText], run_id: int) -> None:
    part("Text by text", "Texts with errors that were not found come first.", "alignment-with-marked-errors")
    order = sorted(texts, key=lambda text: -sum(error.found is False for error in text.errors))
    text = choices.one_of(None, "Text", order, _case, f"judges_marked_text_{run_id}")
    left, right = st.columns(2)
    with left:
        generated_level_diff.plain_card("Compared with", text.document or "", text.row.language)
    with right:
        generated_level_diff.plain_card("Text", text.text, text.row.language)
    table(pd.DataFrame([_error(error) for error in text.errors]))
    if not text.mismatches:
        nothing("no question of this text mismatches")
        return
    table(
        pd.DataFrame(
            {
                "Mismatching question": [one.question for one in text.mismatches],
                "Expected": [one.expected for one in text.mismatches],
                "Answer": [one.answer for one in text.mismatches],
            }
        )
    )


def _error(error: MarkedError) -> dict[str, str]:
    return {
        "Found": MARKS[error.found],
        "Marked": error.quote,
        "Category": error.category,
        "Severity": error.severity,
        "Why": error.reason or error.why,
    }


def _case(text: MarkedText) -> str:
    missed = sum(error.found is False for error in text.errors)
    return f"{text.row.item_id[:40]}, {text.row.system[:40]}{level_said(text.row)}: {missed} of {len(text.errors)} not found"
