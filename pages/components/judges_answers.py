"""Models that answer each other's questions: which judge's questions and answers do others confirm?"""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.judges.answers import KIND, AnswerSet, question_sets_of
from core.results.judges.reliability import ModelReliability, Reliability, reliability, verdicts_by_author
from core.runs.asked import asked_of
from core.runs.judging import answered
from core.runs.kinds import kinds_with
from core.runs.path import at_hand
from core.runs.records import write_pieces
from core.schema.runs import Run
from core.store import Store
from pages.components import (
    judges_check,
    judges_runs,
    metrics_computed,
    metrics_figure,
    metrics_kept,
    metrics_tables,
    run_choice,
)
from pages.components.judges_names import SIDES
from pages.components.judges_numbers import in_percent
from pages.components.messages import mistakes_shown, plain
from pages.components.parts import nothing, part, table

_VARIANTS = {"paper": "as the paper defines it", "cef-code": "as its programs count"}


def render(store: Store, run: Run) -> None:
    """ADR and ADS of the models whose answers are there, and a way to have another model answer."""
    part(
        "Questions of several models",
        "Models answer each other's questions from the text a question was made from. Disagreement rate (ADR): how "
        "often the others do not confirm a model's questions. Deviation (ADS): how often a model answers otherwise "
        "than most. Lower is more reliable; agreement does not make an answer right.",
        "judge-reliability",
    )
    runs = judges_runs.with_results(store, KIND)
    if runs:
        _rates(store, run_choice.several("Answers", runs, "judges_answers_chosen", _first_of_each(runs)))
    else:
        nothing("no model has answered questions yet; it takes the answers of two")
    with st.expander("Have a model answer questions"), mistakes_shown():
        _start(store, run)


def result(store: Store, run: Run) -> None:
    """What one model answered."""
    part(
        "Answers",
        "What this model says to the questions that judges made, from the text each was made from. Two models' answers "
        "to the same questions tell how reliable each is.",
        "judge-reliability",
    )
    counts = metrics_computed.once(
        ("verdicts", *run_choice.key_of(store, run)), lambda: verdicts_by_author(_answers(store, run).sets)
    )
    if not counts:
        nothing("no question is answered yet")
        return
    table(pd.DataFrame([{"Questions by": author, **said} for author, said in counts.items()]))
    render(store, run)


def _answers(store: Store, run: Run) -> AnswerSet:
    return AnswerSet(*answered(at_hand(store, run), KIND))


def _first_of_each(runs: dict[int, Run]) -> list[int]:
    """The newest run of each model: two of one model cannot be compared."""
    newest: dict[str, int] = {}
    for run_id, run in runs.items():
        newest.setdefault(asked_of(run).model.model, run_id)
    return list(newest.values())


def _rates(store: Store, runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        nothing("it takes the answers of two models")
        return
    with mistakes_shown():
        with st.spinner("Computing ..."):
            found = _reliability(store, runs)
        metrics_kept.read_notes(found.notes)
        left, right = st.columns(2)
        variant = left.selectbox(
            "Counted", list(_VARIANTS), format_func=_VARIANTS.__getitem__, key="judges_adr_variant"
        )
        sides = [side for side in SIDES if any(row.side == side for row in found.rows)]
        side = right.selectbox("Questions", sides, format_func=SIDES.__getitem__, key="judges_adr_side")
        rows = [row for row in found.rows if row.variant == variant and row.side == side]
        table(pd.DataFrame([_row(row) for row in rows]))
        st.markdown(
            f":small[With {100 * found.confidence_level:g} % intervals over {found.n_items:,} items; "
            "equal rates share the better rank.]"
        )
        metrics_figure.downloads("judge-reliability", [_csv_row(row) for row in found.rows])


def _reliability(store: Store, runs: Sequence[Run]) -> Reliability:
    key = ("reliability", *(run_choice.key_of(store, run) for run in runs))
    return metrics_computed.once(key, lambda: reliability([_answers(store, run) for run in runs]))


def _row(one: ModelReliability) -> dict[str, str]:
    return {
        "Model": one.model,
        "ADR": in_percent(one.disagreement),
        "ADR rank": str(one.disagreement_rank or ""),
        "Own questions": f"{one.disagreement.n:,}",
        "ADS": in_percent(one.deviation),
        "ADS rank": str(one.deviation_rank or ""),
        "All questions": f"{one.deviation.n:,}",
        "Left out": f"{one.disagreement.n_left_out:,} and {one.deviation.n_left_out:,}",
    }


def _csv_row(one: ModelReliability) -> dict[str, object]:
    return {
        "model": one.model,
        "side": one.side,
        "variant": one.variant,
        **metrics_tables.estimate("adr", one.disagreement),
        "adr_rank": one.disagreement_rank,
        **metrics_tables.estimate("ads", one.deviation),
        "ads_rank": one.deviation_rank,
    }


def _start(store: Store, run: Run) -> None:
    cefs = judges_runs.with_results(store, *kinds_with("answers"))
    if not cefs:
        nothing("no cross-examination has made questions yet")
        return
    chosen = run_choice.several(
        "Questions of",
        cefs,
        f"judges_answers_of_{run.run_id}",
        list(cefs)[:2] if run.run_id not in cefs else [run.run_id],
        help_text="Choose the runs of several models on the same texts; let each of these models answer all of them.",
    )
    if len({asked_of(one).model.model for one in chosen}) == 1:
        st.markdown(":small[Questions of one model: it takes several models' questions to compare models.]")
    wanted = judges_check.model(KIND)
    sets = [one for cef in chosen for one in question_sets_of(judges_runs.output_of(store, cef))]
    count = sum(len(one.questions) for one in sets)
    st.markdown(f"{count:,} questions from {len(sets):,} texts.")
    if st.button(
        f"Let {plain(wanted.called) or 'the model'} answer {count:,} questions",
        key="judges_answers_start",
        type="primary",
        disabled=not sets or wanted.model.missing is not None,
    ):
        name = f"questions-{'-'.join(map(str, sorted(one.run_id for one in chosen)))}.jsonl"
        judges_check.start(store, write_pieces(sets), name, wanted)
        st.rerun()
