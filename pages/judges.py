"""Judges: language models that score texts. Their scores, their reasons, whether to believe them, what they cost."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from core.judges.alignment import MarkedText
from core.judges.answers import QuestionSet
from core.judges.kind import AuditKind
from core.runs.kinds import KINDS
from core.schema.runs import Run
from core.store import Store
from core.store.runs import get_run
from pages.components import (
    blind_pair,
    generate_style,
    generated_level_diff,
    judges_agreement,
    judges_answers,
    judges_cost,
    judges_files,
    judges_form,
    judges_marked,
    judges_reliability,
    judges_runs,
    judges_scores,
    judges_texts,
    messages,
    metrics_files,
    metrics_heat,
    metrics_scores,
    run_panel,
    visitor,
)
from pages.components.metrics_scores import FILE, NEW, RUN, UPLOAD, Chosen
from pages.components.parts import explained, tabs
from pages.components.run_words import PREVIEW_WORD


def render() -> None:
    """Choose a judge's run or make one, then look at it."""
    with visitor.admin_store() as store:
        st.title("Judges")
        blind_pair.style()
        generate_style.style()
        generated_level_diff.style()
        metrics_heat.style()
        messages.news()
        chosen = judges_runs.choose(store)
        if chosen[0] == NEW:
            explained(
                "A judge is a language model that scores texts and gives reasons. Start with texts of known quality: their "
                f"scores show whether you can trust the judge. Preview {PREVIEW_WORD} items first to see what all of them "
                "will cost.",
                "judges",
            )
            started = judges_form.form(store, "judges", judges_runs.judges_of("texts"))
            if started is not None:
                judges_runs.remember((RUN, started))
                st.rerun()
        elif chosen[0] == UPLOAD:
            judges_files.upload(store)
        elif chosen[0] == FILE:
            tabs(_of_scores(store, chosen), "judges_part_file")
        else:
            _run(store, get_run(store, chosen[1]))


def _of_scores(store: Store, chosen: Chosen) -> dict[str, Callable[[], None]]:
    """What can be shown of any scores."""
    looks = {
        "Scores": judges_scores.render,
        "Judges": judges_agreement.render,
        "Files": metrics_files.render,
    }
    return {name: partial(metrics_scores.live, store, chosen, look) for name, look in looks.items()}


def _run(store: Store, run: Run) -> None:
    judges = KINDS[run.kind].work == "judging"
    scores = _of_scores(store, (RUN, run.run_id))
    bodies: dict[str, Callable[[], None]] = {
        "Progress": partial(_progress, store, run),
        **(
            {
                "Scores": scores["Scores"],
                "Texts": partial(judges_texts.render, store, run),
                "Judges": scores["Judges"],
                "Reliability": partial(judges_reliability.render, store, run),
            }
            if judges
            else {"Result": partial(_result, store, run)}
        ),
        "Cost": partial(judges_cost.render, store, run),
        "Files": partial(judges_files.render, store, run),
    }
    tabs(bodies, f"judges_part_{'judge' if judges else 'check'}")


def _progress(store: Store, run: Run) -> None:
    run_panel.render(store, run)
    if KINDS[run.kind].work == "judging":
        judges_form.again_button(store, run, "judges", lambda: judges_runs.remember((NEW, 0)))


def _result(store: Store, run: Run) -> None:
    kind = KINDS[run.kind]
    assert isinstance(kind, AuditKind)
    _RESULTS.get(kind.Piece, judges_files.render)(store, run)


_RESULTS: Mapping[type, Callable[[Store, Run], None]] = {
    QuestionSet: judges_answers.result,
    MarkedText: judges_marked.result,
}
"""What an audit works on -> what shows its result; of any other there are its files."""
