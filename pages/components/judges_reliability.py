"""Tab Reliability: does a judge repeat itself, stand by its questions, agree with others and with people?"""

from collections.abc import Callable, Mapping

import pandas as pd
import streamlit as st

from core.judges.cross_examination.verdicts import VERDICTS
from core.results.judges.consistency import AblationRow, Reasked, ReaskedRow, ablation, confusion
from core.runs.asked import asked_of
from core.runs.kinds import KINDS, kinds_with
from core.schema.runs import Run
from core.store import Store
from pages.components import (
    judges_answers,
    judges_consistency,
    judges_marked,
    judges_names,
    judges_runs,
    metrics_computed,
    metrics_figure,
    metrics_kept,
    metrics_tables,
    run_choice,
)
from pages.components.judges_numbers import in_percent
from pages.components.messages import mistakes_shown
from pages.components.numbers import UNDEFINED, left_out, number, percent
from pages.components.parts import nothing, part, table


def render(store: Store, run: Run) -> None:
    """What can be told of this run, and what further runs would tell."""
    if not judges_runs.output_of(store, run).texts:
        nothing("nothing is judged yet")
        return
    with mistakes_shown():
        judges_consistency.render(store, run)
    for report, show in _PARTS.items():
        if report in KINDS[run.kind].reports:
            with mistakes_shown():
                show(store, run)


def _reasked(store: Store, run: Run) -> None:
    part(
        "Questions asked again",
        "Does the judge answer a question of its own text as it said it should be? Rows: the expected answer; columns: "
        "the second one.",
        "re-asked-questions",
    )
    if not asked_of(run).chosen.reask:
        nothing("this run asked no question of its own text; choose that with the settings of a new run")
        return
    found: Reasked = metrics_computed.once(
        ("reasked", run_choice.key_of(store, run)), lambda: confusion(judges_runs.output_of(store, run))
    )
    sides = judges_names.sides(judges_names.document_name(judges_runs.output_of(store, run)))
    side = st.segmented_control(
        "Questions",
        list(sides),
        default="all",
        format_func=sides.__getitem__,
        required=True,
        key="judges_reasked_side",
    )
    table(pd.DataFrame([_again(row) for row in found.by_side[side]]))
    if found.n_not_asked:
        metrics_kept.read_notes((f"{found.n_not_asked:,} questions were not asked again",))
    rows = [_again_csv(side, row) for side, own in found.by_side.items() for row in own]
    metrics_figure.downloads("judge-reasked", rows)


def _again(row: ReaskedRow) -> dict[str, object]:
    return {
        "Expected": row.expected,
        **{verdict: row.counts.get(verdict, 0) for verdict in VERDICTS},
        "No answer": left_out(row.without),
        "Unchanged, 95 % interval": in_percent(row.unchanged),
    }


def _again_csv(side: str, row: ReaskedRow) -> dict[str, object]:
    return {
        "side": side,
        "expected": row.expected,
        **{verdict: row.counts.get(verdict, 0) for verdict in VERDICTS},
        "no_answer": sum(row.without.values()),
        "no_answer_reasons": left_out(row.without),
        **metrics_tables.share("unchanged", row.unchanged),
    }


def _ablation(store: Store, run: Run) -> None:
    part(
        "How many questions does it take?",
        "How far scores vary over repeats, by the number of questions N: of the mean of all texts, and of one text. "
        "As in Table 2 of the Cross-Examination Framework, in squared percent. Choose runs that differ in N, each with repeats.",
        "number-of-questions",
    )
    runs = judges_runs.with_results(store, *kinds_with("ablation"))
    if run.run_id not in runs:
        nothing("no text is examined yet")
        return
    used = run_choice.several("Cross-examinations", runs, f"judges_ablation_{run.run_id}", [run.run_id])
    if not used:
        nothing("no run is chosen")
        return
    rows = metrics_computed.once(
        ("ablation", *(run_choice.key_of(store, one) for one in used)),
        lambda: ablation([judges_runs.output_of(store, one) for one in used]),
    )
    table(pd.DataFrame([_variance(row) for row in rows]))
    metrics_kept.read_notes(tuple(dict.fromkeys(f"{row.judge}: {row.note}" for row in rows if row.note)))
    metrics_figure.downloads("judge-ablation", [_csv_row(row) for row in rows])


def _variance(row: AblationRow) -> dict[str, str]:
    why = f"{UNDEFINED}: {row.reason}"
    return {
        "N": str(row.n_questions),
        "Judge": row.judge,
        "Score": row.component,
        "Mean": UNDEFINED if row.mean is None else percent(round(row.mean, 4)),
        "Variance of the mean": why if row.variance_of_mean is None else number(row.percent_variance_of_mean),
        "Variance of a text": "" if row.variance_within is None else number(row.percent_variance_within),
        "Repeats": str(row.n_repeats),
        "Texts": f"{row.n_texts:,}",
        "Left out": f"{row.n_left_out:,}",
    }


_COLUMNS = (
    "judge",
    "n_questions",
    "component",
    "mean",
    "variance_of_mean",
    "variance_within",
    "percent_variance_of_mean",
    "percent_variance_within",
    "n_repeats",
    "n_texts",
    "n_left_out",
)


def _csv_row(row: AblationRow) -> dict[str, object]:
    return {name: getattr(row, name) for name in _COLUMNS} | {"reason": row.reason or ""}


_PARTS: Mapping[str, Callable[[Store, Run], None]] = {
    "reasked": _reasked,
    "ablation": _ablation,
    "answers": judges_answers.render,
    "align": judges_marked.start,
}
"""Result table -> what shows it of a run."""
