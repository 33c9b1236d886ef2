"""The page Judges: language models that score texts. Their scores, reasons, reliability and cost."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from core.judges.alignment import MarkedText
from core.judges.answers import QuestionSet
from core.judges.kind import AuditKind
from core.judges.twins import Twin
from core.runs.kinds import KINDS
from core.schema.runs import Run
from core.store import Store
from core.store.runs import get_run
from pages.judges import agreement, bias, pairs, prompts, reliability, twins
from pages.tabs import downloads, judged, made, new_run, texts
from pages.widgets import (
    blind_pair,
    chosen_judge,
    chosen_scores,
    level_diff,
    messages,
    parts,
    result_table,
    run_panel,
    visitor,
)
from pages.widgets.chosen_scores import FILE, NEW, RUN, UPLOAD_SCORES, Chosen
from pages.widgets.parts import explained, tabs
from pages.widgets.run_panel import PREVIEW_WORD


def render() -> None:
    """Show the chosen run or scores, or the form of a new run."""
    with visitor.admin_store() as store:
        parts.page("Judges", "Which language model judges quality well, and at what cost?", "judges")
        blind_pair.style()
        parts.style()
        level_diff.style()
        result_table.style()
        messages.news()
        prompts.open_link()
        chosen = chosen_judge.choose(store)
        if chosen[0] == chosen_judge.COMPARE:
            prompts.render(store)
            return
        prompts.leave_link()
        if chosen[0] == NEW:
            explained(
                "A judge is a language model that scores texts and gives reasons. Start with texts of known quality: their "
                f"scores show whether you can trust the judge. Preview {PREVIEW_WORD} items first to see what the whole run "
                "will cost.",
                "judges",
            )
            if st.button("Compare prompts or models", key="judges_compare", icon=":material/compare_arrows:"):
                chosen_judge.remember((chosen_judge.COMPARE, 0))
                st.rerun()
            started = new_run.form(store, "judges", chosen_judge.judges_of("texts", "pairs"), twins.start)
            if started is not None:
                chosen_judge.remember((RUN, started))
                st.rerun()
        elif chosen[0] == UPLOAD_SCORES:
            downloads.upload(store)
        elif chosen[0] == FILE:
            tabs(_score_tabs(store, chosen), "judges_part_file")
        else:
            _run(store, get_run(store, chosen[1]))


def _score_tabs(store: Store, choice: Chosen) -> dict[str, Callable[[], None]]:
    """Tabs for any scores."""
    looks = {
        "Scores": judged.render_scores,
        "Judges": agreement.render,
        **({"Bias": bias.render} if bias.fits(store, choice) else {}),
        "Files": downloads.scores_to_take,
    }
    return {name: partial(chosen_scores.live, store, choice, look) for name, look in looks.items()}


def _run(store: Store, run: Run) -> None:
    judges = KINDS[run.kind].work == "judging"
    scores = _score_tabs(store, (RUN, run.run_id))
    bodies: dict[str, Callable[[], None]] = {
        "Progress": partial(_progress, store, run),
        **(
            {
                "Scores": scores["Scores"],
                **(
                    {chosen_judge.PAIRS_TAB: partial(pairs.render, store, run)}
                    if "pairs" in KINDS[run.kind].reports
                    else {}
                ),
                "Texts": partial(texts.render, store, run),
                "Judges": scores["Judges"],
                **({"Bias": scores["Bias"]} if "Bias" in scores else {}),
                "Reliability": partial(reliability.render, store, run),
                "Levels": partial(made.render, store, run),
            }
            if judges
            else {"Result": partial(_result, store, run)}
        ),
        "Cost": partial(judged.render_costs, store, run),
        "Files": partial(downloads.judge_to_take, store, run),
    }
    tabs(bodies, f"judges_part_{'judge' if judges else 'check'}")


def _progress(store: Store, run: Run) -> None:
    run_panel.render(store, run)
    if KINDS[run.kind].work == "judging":
        new_run.again_button(store, run, "judges", lambda: chosen_judge.remember((NEW, 0)))


def _result(store: Store, run: Run) -> None:
    kind = KINDS[run.kind]
    assert isinstance(kind, AuditKind)
    _RESULTS.get(kind.Piece, downloads.judge_to_take)(store, run)


_RESULTS: Mapping[type, Callable[[Store, Run], None]] = {
    QuestionSet: reliability.result_of_answers,
    MarkedText: reliability.result_of_marked,
    Twin: twins.result,
}
"""What an audit works on -> the function that shows its result; other audits only have files."""
