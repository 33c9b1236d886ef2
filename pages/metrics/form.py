"""The form of a new scoring run: texts, metrics, and the button that starts it."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.metrics.kind import KIND, ScoringRunning, ScoringSettings
from core.metrics.registry import all_metrics
from core.metrics.scorer import MetricSpec
from core.runs.asked import ask
from core.runs.jobs import RunAtHand
from core.runs.path import create
from core.runs.working.environments import missing_for
from core.store import Store
from core.store.runs import run_data
from pages.metrics import big_texts
from pages.tabs import new_run
from pages.widgets import chosen_scores, run_panel, settings_form
from pages.widgets.messages import code_markdown, mistakes_shown
from pages.widgets.parts import places, table
from pages.widgets.settings_form import given

_FORM = "metrics_form"
_DEVICES = ("auto", "cpu", "cuda")


def form(store: Store) -> int | None:
    """Show the form; return the number of the run that its button started, or None."""
    st.write(
        "Score texts, then compare the scores with damage levels, human ratings or blind votes. Earlier scores of the "
        "same texts come from the cache."
    )
    started = None
    with mistakes_shown():
        st.header("Texts", anchor=False)
        texts = big_texts.choose(store)
        st.header("Metrics", anchor=False)
        specs = _metrics()
        models, missing = _models([spec for spec in specs if spec.group == "neural"])
        settings: dict[str, Any] = {"metrics": tuple(spec.metric.name for spec in specs), "models": models}
        # A run started by command may use a device that the menu does not list, such as cuda:1.
        devices = dict.fromkeys((*_DEVICES, st.session_state.get(f"{_FORM}_device", _DEVICES[0])))
        chosen = settings_form.render(
            ScoringSettings, _FORM, beside=settings, offered={"device": list(devices)}, backend="rules"
        )
        groups = {spec.group for spec in specs}
        used_by = {"batch_size": "neural", "workers": "lexical"}
        unused = [name for name, group in used_by.items() if group not in groups]
        if missing_for("ray") is not None:
            unused.append("engine")
        running = settings_form.render(ScoringRunning, _FORM, without=unused, backend="rules")
        if texts is None:
            st.markdown("Choose texts above to start a run.")
            return None
        count = "1 metric" if len(specs) == 1 else f"{len(specs)} metrics"
        pressed = st.button(
            f"Score with {count}",
            type="primary",
            disabled=missing is not None or not specs,
            key="metrics_start",
        )
        if pressed:
            with st.spinner("Reading the texts ..."), big_texts.opened(texts) as data:
                run, _ = create(store, data, texts[1], *ask(KIND, settings | chosen, {}, running))
            run_panel.start(run.run)
            started = run.run.run_id
    return started


def again_button(run: RunAtHand) -> None:
    """Show a button that opens this form with the texts, metrics and settings of a run."""
    if st.button(
        "Score with other settings",
        key="metrics_again",
        help="Opens the form of a new run with this run's texts, metrics and settings.",
    ):
        new_run.TEXTS.take_file(run_data(run.store, run.run.run_id), run.run.data_file)
        settings: ScoringSettings = run.request.settings
        for family, specs in _families().items():
            st.session_state[_key("family", family)] = [name for name in specs if name in settings.metrics]
        for name in settings.metrics:
            st.session_state[_key("model", name)] = settings.models.get(name, "")
        settings_form.put(settings, _FORM, without=("metrics", "models"))
        settings_form.put(run.running, _FORM)
        chosen_scores.remember((chosen_scores.NEW, 0))
        st.rerun()


def _key(what: str, name: str) -> str:
    return f"{_FORM}_{what}_{name}"


def _families() -> dict[str, dict[str, MetricSpec]]:
    """Family -> name -> metric, in the order of the registry."""
    families: dict[str, dict[str, MetricSpec]] = {}
    for spec in all_metrics():
        families.setdefault(spec.metric.family, {})[spec.metric.name] = spec
    return families


def _metrics() -> list[MetricSpec]:
    """Choose metrics family by family; preselected are the lexical metrics of Meta-Judge."""
    families = _families()
    chosen: list[MetricSpec] = []
    for (family, specs), place in zip(families.items(), places(), strict=False):
        needs_models = any(spec.group == "neural" for spec in specs.values())
        usual = [name for name, spec in specs.items() if spec.of_paper and spec.group == "lexical"]
        names = place.multiselect(
            f"{family} (runs a model)" if needs_models else family,
            list(specs),
            key=given(_key("family", family), usual),
            persist_state="session",
            placeholder="None",
            wrap=True,
        )
        chosen += [specs[name] for name in names]
    with st.expander("What these metrics are"):
        rows = [
            (
                spec.metric.name,
                spec.about,
                " and ".join(sorted(spec.needs)) or "the text alone",
                spec.metric.direction,
            )
            for one in families.values()
            for spec in one.values()
        ]
        table(pd.DataFrame(rows, columns=["Name", "About", "Needs", "Better"]))
        st.markdown(":small[More in `docs/metrics.md`.]")
    return chosen


def _models(neural: Sequence[MetricSpec]) -> tuple[dict[str, str], str | None]:
    """Models that replace a metric's own, by metric; and what this machine lacks to run models, or None."""
    if not neural:
        return {}, None
    missing = missing_for("neural")
    if missing:
        st.warning(code_markdown(missing))
    with st.expander("Models of metrics", expanded=True):
        st.markdown(
            "Leave empty to use the metric's own model, which its library downloads if needed. Or give a folder or "
            "checkpoint on this machine."
        )
        named = {
            spec.metric.name: st.text_input(
                spec.metric.name,
                key=given(_key("model", spec.metric.name), ""),
                placeholder=str(spec.parameters.get("model", "the metric's own model")),
                persist_state="session",
            ).strip()
            for spec in neural
        }
    return {name: model for name, model in named.items() if model}, missing
