"""A new scoring run by page: which texts, by which metrics, and the button that starts it."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st
from core.runs.score_plan import create_scoring
from core.runs.score_settings import Synonyms, scoring_of, scoring_running_of

from core.errors import InputError
from core.runs.environments import missing_for
from core.schema import Run
from core.scoring.metrics.kind import TEXTS_PER_WORKER, ScoringRunning, ScoringSettings, cores
from core.scoring.metrics.registry import all_metrics
from core.scoring.metrics.scorer import MetricSpec
from core.store import Store
from core.store.runs import run_data
from pages.components import metrics_scores, metrics_texts, run_panel
from pages.components.generate_mistakes import as_on_page
from pages.components.messages import mistakes_shown, with_code
from pages.components.parts import table

_FIRST = "metrics_form_first"
_DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True)
class _First:
    """What the form begins with."""

    mark: int
    """In the widgets' keys: with another one they forget what was chosen before."""
    settings: ScoringSettings
    running: ScoringRunning


_AS_NEW = _First(
    0,
    ScoringSettings(
        tuple(spec.metric.name for spec in all_metrics() if spec.of_paper and spec.group == "lexical")
    ),
    ScoringRunning(),
)


def form(store: Store) -> int | None:
    """The number of a run that was made and started in this run of the page, or None."""
    st.write(
        "Metrics score texts whose quality is known: by damage levels, by human ratings, or by blind votes. What was "
        "scored before is taken from the cache."
    )
    started = None
    with mistakes_shown():
        st.subheader("Texts", anchor=False)
        texts = metrics_texts.choose(store)
        st.subheader("Metrics", anchor=False)
        first: _First = st.session_state.get(_FIRST, _AS_NEW)
        specs = _metrics(first)
        settings, running, missing = _settings(specs, first)
        if texts is None:
            st.markdown("Choose texts above; the button that starts the run then stands here.")
            return None
        count = "1 metric" if len(specs) == 1 else f"{len(specs)} metrics"
        pressed = st.button(
            f"Score with {count}",
            type="primary",
            disabled=missing is not None or not specs,
            key="metrics_start",
        )
        if pressed:
            started = _start(store, texts, settings, running)
    return started


def again_button(store: Store, run: Run) -> None:
    """Open this form filled with the texts, metrics and settings of a run."""
    if st.button(
        "Score with other settings",
        key="metrics_again",
        help="Opens the form of a new run, filled with this run's texts, metrics and settings.",
    ):
        metrics_texts.take_file(run_data(store, run.run_id), run.data_file)
        before = st.session_state.get(_FIRST, _AS_NEW)
        st.session_state[_FIRST] = _First(before.mark + 1, scoring_of(run), scoring_running_of(run))
        metrics_scores.remember((metrics_scores.NEW, 0))
        st.rerun()


def _families() -> dict[str, dict[str, MetricSpec]]:
    """Family -> name -> metric, in the order of the registry."""
    families: dict[str, dict[str, MetricSpec]] = {}
    for spec in all_metrics():
        families.setdefault(spec.metric.family, {})[spec.metric.name] = spec
    return families


def _start(
    store: Store, texts: metrics_texts.Texts, settings: ScoringSettings, running: ScoringRunning
) -> int:
    data, name = texts
    try:
        run, _ = create_scoring(store, data, name, settings, running)
    except InputError as problem:
        raise as_on_page(problem) from None
    run_panel.start(run)
    return run.run_id


def _metrics(first: _First) -> list[MetricSpec]:
    """Those chosen, family by family; at first the lexical ones of the paper."""
    families = _families()
    chosen: list[MetricSpec] = []
    columns = st.columns(2)
    for place, (family, specs) in enumerate(families.items()):
        needs_models = any(spec.group == "neural" for spec in specs.values())
        names = columns[place % 2].multiselect(
            f"{family} (runs a model)" if needs_models else family,
            list(specs),
            default=[name for name in specs if name in first.settings.metrics],
            key=f"metrics_family_{place}_{first.mark}",
            persist_state="session",
            placeholder="None",
            wrap=True,
        )
        chosen += [specs[name] for name in names]
    with st.expander("What these metrics are"):
        table(_described(families))
        st.markdown(":small[More in `docs/metrics.md`.]")
    return chosen


def _described(families: dict[str, dict[str, MetricSpec]]) -> pd.DataFrame:
    specs = [spec for one in families.values() for spec in one.values()]
    return pd.DataFrame(
        {
            "Name": [spec.metric.name for spec in specs],
            "About": [spec.about for spec in specs],
            "Needs": [" and ".join(sorted(spec.needs)) or "the text alone" for spec in specs],
            "Better": [spec.metric.direction for spec in specs],
        }
    )


def _settings(specs: list[MetricSpec], first: _First) -> tuple[ScoringSettings, ScoringRunning, str | None]:
    """What was chosen, and what this machine lacks for it."""
    neural = [spec for spec in specs if spec.group == "neural"]
    synonyms: Synonyms = "auto"
    models: dict[str, str] = {}
    workers, device, batch_size, missing = 1, "auto", first.running.batch_size, None
    if any(spec.metric.family == "METEOR" for spec in specs) and not st.checkbox(
        "METEOR with synonyms where WordNet's data is there",
        value=first.settings.synonyms == "auto",
        key=f"metrics_synonyms_{first.mark}",
        persist_state="session",
    ):
        synonyms = "none"
    if neural:
        missing = missing_for("neural")
        if missing:
            st.warning(with_code(missing))
        models, device, batch_size = _models(neural, first)
    if len(neural) < len(specs):
        workers = _workers(first)
    names = tuple(spec.metric.name for spec in specs)
    return (
        ScoringSettings(names, models, synonyms, device),
        ScoringRunning(batch_size, workers),
        missing,
    )


def _workers(first: _First) -> int:
    most = cores()
    return int(
        st.number_input(
            "Processes for metrics without a model",
            1,
            most,
            min(first.running.workers, most),
            key=f"metrics_workers_{first.mark}",
            persist_state="session",
            help=f"At most: one is started for each {TEXTS_PER_WORKER:,} texts.",
        )
    )


def _models(neural: list[MetricSpec], first: _First) -> tuple[dict[str, str], str, int]:
    """Where models are, and how they run."""
    models: dict[str, str] = {}
    with st.expander("Models of metrics", expanded=True):
        st.markdown(
            "Empty: the metric's own model, which its library fetches if it is not on this machine. Or a folder or "
            "checkpoint on this machine."
        )
        for place, spec in enumerate(neural):
            given = st.text_input(
                spec.metric.name,
                value=first.settings.models.get(spec.metric.name, ""),
                key=f"metrics_model_{place}_{len(neural)}_{first.mark}",
                placeholder=str(spec.parameters.get("model", "the metric's own")),
                persist_state="session",
            ).strip()
            if given:
                models[spec.metric.name] = given
        left, right = st.columns(2)
        device = left.selectbox(
            "Device",
            _DEVICES,
            index=_DEVICES.index(first.settings.device) if first.settings.device in _DEVICES else 0,
            key=f"metrics_device_{first.mark}",
            persist_state="session",
        )
        batch = right.number_input(
            "Texts at once",
            1,
            4096,
            first.running.batch_size,
            key=f"metrics_batch_{first.mark}",
            persist_state="session",
        )
    return models, device, int(batch)
