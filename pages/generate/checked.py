"""Are the levels right? A judge verifies the claims of a run's texts before people read them."""

import streamlit as st

from core.judges.claims import KIND as CLAIMS
from core.judges.claims import STAND_IN
from core.runs.asked import ask
from core.runs.generation import has_texts, texts_of_run
from core.runs.jobs import RunAtHand
from core.runs.judging.levels import scored_by
from core.runs.path import create
from core.runs.progress import progress_of
from core.schema.runs import RULES
from core.sources.texts import Texts
from pages.tabs import made, new_run
from pages.tabs.phrases import NO_ITEM
from pages.widgets import chosen_judge, menus, run_panel
from pages.widgets.menus import name_of, once
from pages.widgets.messages import capital, mistakes_shown
from pages.widgets.parts import nothing, part

_TEXTS = "generated_levels_texts"


def render(run: RunAtHand) -> None:
    """Show the verdict of a run that scored these texts, and start the claims judge on them."""
    if not has_texts(run):
        nothing(NO_ITEM)
        return
    texts = once(_TEXTS, menus.key_of(run.store, run.run), lambda: texts_of_run(run))
    runs = {one.run_id: one for one in scored_by(run.store, run.run, texts[0])}
    if not runs:
        part(
            "Are the levels right?",
            "A judge splits the reference into claims and says which of them each level still supports. Then you see which "
            "items to remake, before you pay for a study.",
            "pairs#made-levels",
        )
        _start(run, texts)
        return
    key = f"levels_checked_by_{run.run.run_id}"
    chosen = runs[
        st.selectbox("Scores of these texts", list(runs), format_func=lambda n: name_of(runs[n]), key=key)
    ]
    progress = progress_of(run.store, chosen.run_id)
    if run_panel.is_moving(progress) or progress.state in ("waiting", "interrupted"):
        run_panel.render(run.store, chosen)
    made.render(run.store, chosen)
    if st.button("Open this judge's run", key="levels_open_run", icon=":material/arrow_forward:"):
        st.switch_page(chosen_judge.page_of(chosen))
    _start(run, texts, by_rules=not any(one.kind == CLAIMS.name for one in runs.values()))


def _start(run: RunAtHand, texts: Texts, *, by_rules: bool = True) -> None:
    """A button for the rules, which cost nothing, and the choice of a model."""
    with mistakes_shown():
        if by_rules and st.button(
            "Check by rules",
            key="levels_by_rules",
            type="primary",
            icon=":material/rule:",
            help=f"Costs nothing. {capital(STAND_IN)}.",
        ):
            asked, running = ask(CLAIMS, {}, {"backend": RULES}, {})
            _begin(run, create(run.store, *texts, asked, running)[0])
    with st.expander("Check with a model"), mistakes_shown():
        wanted = new_run.model(CLAIMS)
        n_items = run.run.n_items
        started = run_panel.start_buttons(
            run.store,
            "levels_by_model",
            wanted,
            *texts,
            n_items,
            does="Check",
            free=wanted.model.by_rules or None,
        )
        if started is not None:
            _show(run)


def _begin(run: RunAtHand, judge: RunAtHand) -> None:
    run_panel.start(judge.run)
    _show(run)


def _show(run: RunAtHand) -> None:
    """Show the newest claims judge, which has just been started."""
    st.session_state.pop(f"levels_checked_by_{run.run.run_id}", None)
    st.rerun()
