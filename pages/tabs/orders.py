"""A judge of pairs without any vote: both orders, ties, win rates; and the studies that have its pairs."""

import streamlit as st

from core.analyses.pairs import ANALYSIS
from core.plots import judges as plots
from core.schema.analysis import Answer
from core.schema.runs import Run
from core.schema.study import Study, StudyRecord
from core.store import Store
from core.store.studies import list_studies, outputs_of
from pages.widgets import analysis, chosen_judge, menus
from pages.widgets.messages import plain
from pages.widgets.parts import nothing, part

SECTION = ANALYSIS.section


def compared(store: Store, run: Run, study: Study) -> bool:
    """Whether the judge has compared pairs of the study."""
    texts = {text.text for text in chosen_judge.output_of(store, run).texts}
    return any(one.text in texts for one in outputs_of(store, study.study_id))


def studies_of(store: Store, run: Run) -> list[Study]:
    """Return the unblinded studies with the pairs that the judge compared."""
    return [
        study
        for study in list_studies(store)
        if study.state == "unblinded" and study.kind == "pairs" and compared(store, run, study)
    ]


def answer(store: Store, run: Run, record: StudyRecord | None = None) -> Answer:
    """Show the options and what is said of the judge, and return it; beside the votes of a study where one is given.

    Without votes the options are those of the command.
    """
    votes = None if record is None else (record.study, record.raters, record.answers)
    output = chosen_judge.output_of(store, run)
    data = (
        analysis.Data(menus.key_of(store, run), lambda: output),
        analysis.Data((hash(votes),), lambda: record, settles={"texts": False}),
    )
    options = ANALYSIS.Options() if record is None else analysis.form_of(ANALYSIS, *data)
    found = analysis.answer_of(ANALYSIS, options, *data)
    first, *others = found.all_sentences
    st.markdown("  \n".join([f"**{plain(first)}**", *map(plain, others)]))
    return found


def render(result: Answer) -> None:
    """Show what needs no votes."""
    orders, ties, systems, *_ = ANALYSIS.tables
    part(orders.title, orders.question, SECTION)
    figure = plots.pair_orders(result.result.report)
    alt = "Pairs with the same verdict in both orders, and pairs whose verdict follows the place, by level"
    names = [one.name for one in (orders, ties, systems)]
    analysis.show_tables(result, names, {orders.name: analysis.Drawn(figure, alt)})
    if result.result.systems_reason:
        part(systems.title, systems.question, SECTION)
        nothing(result.result.systems_reason.rstrip("."))
