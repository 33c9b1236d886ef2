"""A judge of pairs without any vote: both orders, ties, win rates; and the studies that have its pairs."""

import streamlit as st

from core.plots import judges as plots
from core.results.judges.pairwise import PAIRS_TABLES, PairsReport, pairs_report
from core.schema.result_table import ResultTable
from core.schema.runs import Run
from core.schema.study import Study, StudyRecord
from core.store import Store
from core.store.studies import list_studies, outputs_of
from pages.widgets import chosen_judge, chosen_scores, menus, result_table
from pages.widgets.parts import nothing, part

SECTION = "pairs#beside-blind-votes"


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


def report(store: Store, run: Run, record: StudyRecord | None = None) -> PairsReport:
    """Return what the judge said of the pairs, computed once; beside the votes of a study where one is given."""
    output = chosen_judge.output_of(store, run)
    votes = None if record is None else (record.study, record.raters, record.answers)
    with st.spinner("Computing ..."):
        found: PairsReport = chosen_scores.once(
            ("pairs", *menus.key_of(store, run), hash(votes)), lambda: pairs_report(output, record)
        )
    return found


def render(found: PairsReport, tables: dict[str, ResultTable]) -> None:
    """Show what needs no votes."""
    part("Both orders", "Does the judge keep its verdict when the two answers change places?", SECTION)
    figure = plots.pair_orders(found)
    result_table.show(
        tables[PAIRS_TABLES[0]],
        figure=figure,
        alt="Pairs with the same verdict in both orders, and pairs whose verdict follows the place, by level",
        titled=False,
    )
    part("Ties", "Which answers does it give?", SECTION)
    result_table.show(tables[PAIRS_TABLES[1]], titled=False)
    part("Win rates", "Which system does this judge prefer?", SECTION)
    if found.systems_reason:
        nothing(found.systems_reason.rstrip("."))
    else:
        result_table.show(tables[PAIRS_TABLES[2]], titled=False)
