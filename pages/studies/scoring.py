"""Scores for a study: one press scores its texts with metrics, more come from the form of a run or from a table."""

from collections.abc import Sequence

import streamlit as st

from core.errors import counted
from core.metrics.kind import KIND
from core.metrics.registry import find_metrics
from core.runs.asked import ask
from core.runs.path import create, saved_run
from core.runs.progress import progress_of, rate_said, spoken_range
from core.schema.study import Study
from core.sources.texts import pairs_of_study, texts_of_study
from core.store import Store
from core.store.studies import items_of, outputs_of
from pages.tabs import new_run, study_scores
from pages.widgets import chosen_scores, messages, run_panel
from pages.widgets.chosen_scores import Scores
from pages.widgets.messages import mistakes_shown, plain

_SECONDS = (0.001, 0.005)
"""What a text takes with all lexical metrics, at least and at most, besides the start of the run."""
_START = (2.0, 5.0)


def first(store: Store, study: Study) -> None:
    """Offer to score the study's texts with the lexical metrics, where nothing is scored yet."""
    if study.kind == "ratings" and study.state != "unblinded":
        st.markdown("The texts of a rating study can be scored once it is unblinded.")
        return
    if not any(item.reference for item in items_of(store, study.study_id)):
        st.markdown(
            "No metric can score these texts, because the study has no reference answers. Add a table of scores."
        )
        return
    metrics = tuple(spec.metric.name for spec in find_metrics(("lexical",)))
    n_texts = len(outputs_of(store, study.study_id))
    low, high = (start + one * n_texts for start, one in zip(_START, _SECONDS, strict=True))
    st.markdown(
        f"Nothing is scored yet. Scoring {counted(n_texts, 'text')} takes {spoken_range(round(low), round(high))}."
    )
    if st.button(
        f"Score the texts with {len(metrics)} lexical metrics",
        type="primary",
        key=f"study_score_{study.study_id}",
    ):
        with mistakes_shown():
            score(store, study, metrics)
            st.rerun()


def score(store: Store, study: Study, metrics: Sequence[str]) -> int:
    """Start a run of these metrics on the study's texts, under masks until the study is unblinded; return its number.

    Raises InputError where no metric can score a text, and NotAllowed for a rating study before it is unblinded.
    """
    data, name = (pairs_of_study if study.kind == "pairs" else texts_of_study)(store, study)
    asked, running = ask(KIND, {"metrics": tuple(metrics)}, {}, {})
    run, _ = create(store, data, name, asked, running)
    run_panel.start(run.run)
    return run.run.run_id


def progress(store: Store, several: Sequence[Scores]) -> None:
    """Show how far each run is that is at work, and which ended early; cancel or resume it."""
    for one in several:
        if one.run is None:
            continue
        now = progress_of(store, one.run.run_id)
        done = f"{now.n_finished:,} of {counted(now.run.n_wanted, 'question')}"
        if one.moving:
            rate = f", {rate_said(now.rate)}" if now.rate else ""
            st.progress(now.n_finished / max(now.run.n_wanted, 1), f"Run {now.run.run_id}: {done}{rate}")
        elif now.state != "done":
            why = f" ({plain(now.run.message)})" if now.run.message else ""
            st.warning(f"Run {now.run.run_id} is {now.state}{why}: {done} scored.")
        run_panel.cancel_or_resume(saved_run(store, one.run), now, f"study_run_{now.run.run_id}", first=False)
        if now.n_failed or now.n_again:
            st.markdown(
                f":small[Run {now.run.run_id}: {counted(now.n_failed + now.n_again, 'question')} without all scores.]"
            )


def more(store: Store, study: Study, names: dict[chosen_scores.Chosen, str]) -> None:
    """Choose which scores are shown, and add some."""
    if len(names) > 1:
        st.multiselect("Scores", list(names), format_func=names.__getitem__, key=study_scores.place_of(study))
    if study.state == "unblinded" and st.button(
        "Score with other metrics", key=f"study_score_more_{study.study_id}", icon=":material/arrow_forward:"
    ):
        new_run.open_with_study(study)
    with st.expander("Add a table of scores"):
        st.markdown(
            ":small[Its rows need the study's questions, levels and systems: columns item, level and system.]"
        )
        kept = chosen_scores.choose_new(store, "scores", f"study_{study.study_id}")
        if kept is not None:
            n, total = study_scores.n_texts(store, study, kept), len(outputs_of(store, study.study_id))
            messages.keep(
                f"{n:,} of the study's {counted(total, 'text')} have scores in the table."
                if n
                else "No row of the table is a text of this study, so it is not shown here."
            )
            st.rerun()
