"""Trust or escalate: where the judge can be kept, a study of the other texts with one press, and the total that comes back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses.escalate import ANALYSIS, EscalateOptions
from core.errors import InputError, counted
from core.formats.panel.beside import columns_in, numbers_beside, read_texts_of, texts_beside
from core.installation import COMMAND
from core.plots.check import trust_thresholds
from core.report.card import command_said
from core.results.check.escalation import (
    FEWEST_AUDITED,
    Escalation,
    first_labels,
    sent_from,
    sent_texts,
)
from core.results.check.next_labels import add_labels, check_same_texts, draft_study, raters_wanted
from core.results.check.sureness import (
    COLUMN,
    CUT,
    JUDGES,
    MARGIN,
    REPEATS,
    Sureness,
    SurePanel,
    Way,
    answers_of,
    confidence_columns,
    sureness,
    ways_had,
)
from core.results.check.texts import classes_of
from core.results.check.verdict import Check
from core.runs.judging import judge_output
from core.runs.path import saved_run
from core.schema.analysis import Answer, PanelChoice
from core.schema.panel import Panel, only_judges
from core.schema.study import Study
from core.sources.named import RunSource, StudySource
from core.sources.panel import panel_of_source
from core.sources.reading import reading_in
from core.sources.texts import texts_of_study
from core.stats.resampling import Floats
from core.store import Store
from core.store.studies import list_studies
from pages.tabs.checked import choice
from pages.widgets import address, analysis, open_study
from pages.widgets.messages import code_markdown, mistakes_shown, plain, showable
from pages.widgets.parts import part

_SENT = "check_escalated"
_USUAL = EscalateOptions()
_AGREEMENTS = (0.8, 0.85, 0.9, 0.95)
_DELTAS = (0.05, 0.1, 0.2)


@dataclass(frozen=True)
class _Way:
    """One way to know how sure a judge is."""

    label: str
    named: str
    """The way, or the column."""
    cut: float | None = None

    @property
    def words(self) -> tuple[str, str]:
        """Of the command."""
        return ("--confidence", self.named) if self.cut is None else ("--cut", f"{self.cut:g}")


def offer(store: Store, source: choice.Given, check: Check) -> None:
    """Show where a judge can be kept, and offer the other texts as a study."""
    part(
        ANALYSIS.title,
        "From which confidence does the judge agree with people as often as promised? It decides there, and people decide about the rest.",
        ANALYSIS.section,
    )
    with mistakes_shown():
        _offer(store, source, check)


def _offer(store: Store, source: choice.Given, check: Check) -> None:
    place = f"check_trust_{source.place}"
    ways = _ways(store, source, check)
    if not ways:
        st.markdown(
            "The judge's confidence is not known. Add a column with it to the file, run the judge with repeats, or add several judges."
        )
        return
    several = bool((np.sum(~np.isnan(check.panel.ratings), axis=1) > 1).any())
    columns = st.columns([2, 1, 1, 1] if several else [2, 1, 1], vertical_alignment="bottom")
    named: str = columns[0].selectbox(
        "Confidence",
        list(ways),
        format_func=lambda one: ways[one].label,
        key=address.one("sure", f"{place}_way", list(ways), next(iter(ways)), partial(_code, list(ways))),
    )
    way = ways[named]
    chosen = _chosen(place, columns[1:])
    panel, new, labels = _add_labels(store, source, check.panel, place)
    alone = panel if named == JUDGES or len(panel.judges) == 1 else only_judges(panel, [_judge(check)])
    question = ("escalation", *source.key, named, _judge(check), way.label, chosen, labels)
    try:
        result = choice.once(
            question,
            lambda: (
                ANALYSIS.answer(
                    chosen, SurePanel(alone, _sureness(store, source, check, way, alone), new)
                ).result
            ),
        )
    except InputError as problem:  # nobody asked for a threshold here, so it is no mistake
        reasons = [one.split(": ", 1)[-1] for one in problem.problems]
        st.markdown(plain(f"No threshold here: {'; '.join(reasons) or problem.what}."))
        return
    _verdict(Answer(ANALYSIS, chosen, result))
    _send(store, source, result.escalation, place)
    st.code(
        command_said(_words(source, check, way, chosen, labels), COMMAND, names=True),
        language=None,
        wrap_lines=True,
    )


def _code(ways: Sequence[str], named: str) -> str:
    """What the address says for a way: its word, and for a column its place among the ways."""
    return named if named in get_args(Way) and named != COLUMN else f"{COLUMN}-{ways.index(named) + 1}"


def _judge(check: Check) -> str:
    """The judge that is asked about: the only one, or the one that was chosen."""
    judge: str = st.session_state.get("check_trust_judge", check.panel.judges[0])
    return judge if judge in check.panel.judges else check.panel.judges[0]


def _ways(store: Store, source: choice.Given, check: Check) -> Mapping[str, _Way]:
    """The ways that this input has, the default first, after the choice of one of several judges."""
    panel = check.panel
    if len(panel.judges) > 1:
        names = list(panel.judges)
        st.selectbox(
            "Judge",
            names,
            key=address.one("trust", "check_trust_judge", names, names[0], address.place_among(names)),
            help="Not used where the majority of judges decides.",
        )
    alone = only_judges(panel, [_judge(check)])
    at = panel.judges.index(alone.judges[0])
    columns, values = _columns(source, panel), len(np.unique(panel.ratings[~np.isnan(panel.ratings)]))
    has: dict[Way, Callable[[], object]] = {
        JUDGES: lambda: len(panel.judges) > 1,
        MARGIN: lambda: source.margins is not None,
        REPEATS: lambda: _answers(store, source, alone).shape[1] > 1,
        COLUMN: lambda: columns,
        CUT: lambda: not classes_of(panel, at) and 2 in (len(panel.scale.words), values),
    }
    labels = {
        JUDGES: f"share of {len(panel.judges)} judges with the majority's verdict",
        MARGIN: "distance of the pair's margin from where the vote changes",
        REPEATS: "share of equal answers over repeats",
    }
    ways: dict[str, _Way] = {}
    for way in ways_had(has):
        if way == COLUMN:
            ways |= {f"column {column}": _Way(f"column {column}", column) for column in columns}
        else:
            ways[way] = _cut(alone) if way == CUT else _Way(labels[way], way)
    return ways


def _sureness(store: Store, source: choice.Given, check: Check, way: _Way, alone: Panel) -> Sureness:
    """How sure the judge is, in the chosen way."""
    at = check.panel.judges.index(_judge(check))
    margins = source.margins
    return sureness(
        alone,
        way.named,
        cut=way.cut,
        margins=None if margins is None else lambda: margins()[:, at],
        answers=lambda: _answers(store, source, only_judges(check.panel, [_judge(check)])),
        numbers=lambda column: numbers_beside(*source.texts(), alone, column),
    )


def _cut(alone: Panel) -> _Way:
    known = alone.scores[~np.isnan(alone.scores)]
    usual = float(f"{(known.min() + known.max()) / 2:.3g}") if known.size else 0.5
    place = "check_trust_cut"
    cut = st.number_input(
        "Better class from the score",
        value=usual,
        key=place,
        help="Fix it before any label is known.",
        format="%g",
    )
    return _Way(f"distance of the score from {cut:g}", CUT, cut)


def _columns(source: choice.Given, panel: Panel) -> list[str]:
    """Columns of the main file whose names say confidence."""
    try:
        names = choice.once(("columns", *source.key), lambda: columns_in(*source.texts()))
    except InputError:
        return []
    return [name for name in confidence_columns(names) if name not in (*panel.judges, *panel.raters)]


def _answers(store: Store, source: choice.Given, alone: Panel) -> Floats:
    """Every answer of the judge's run, shape (n, answers); no answers without a run of a judge with repeats."""
    none: Floats = np.empty((len(alone.rows), 0))
    if not alone.sources or source.margins is not None:  # of pairs, margins count repeats
        return none
    table, metric, _ = alone.sources[0]
    run = next((one for one in source.runs if table == RunSource(one.run_id).written), None)
    if run is None:
        return none
    try:
        return choice.once(
            ("answers", *source.key, metric),
            lambda: answers_of(judge_output(saved_run(store, run)), alone, metric),
        )
    except InputError:  # a metric, or a judge without repeats
        return none


def _chosen(place: str, columns: Sequence[DeltaGenerator]) -> EscalateOptions:
    """Choose the promise. columns: for two widgets, and a third one where texts have several raters."""

    def share(one: float) -> str:
        return f"{one:g}"

    agreement: float = columns[0].selectbox(
        "Agreement promised",
        _AGREEMENTS,
        format_func=share,
        key=address.one("promise", f"{place}_agreement", _AGREEMENTS, _USUAL.agreement, share),
        help="With people, among the texts that the judge keeps",
    )
    delta: float = columns[1].selectbox(
        "Broken with probability",
        _DELTAS,
        format_func=lambda one: f"at most {one:g}",
        key=address.one("delta", f"{place}_delta", _DELTAS, _USUAL.delta, share),
        help="How often such a threshold may keep texts that agree less",
    )
    against: Literal["rater", "majority"] = "rater"
    if len(columns) > 2:
        options: list[Literal["rater", "majority"]] = ["rater", "majority"]
        against = columns[2].selectbox(
            "Agreement with",
            options,
            format_func=lambda one: {"rater": "a rater", "majority": "the majority"}[one],
            key=address.one("against", f"{place}_against", options, "rater"),
            help="A text agrees with the share of its raters who gave the verdict, or with their most frequent label.",
        )
    return EscalateOptions(agreement=agreement, delta=delta, against=against)


def _add_labels(
    store: Store, given: choice.Given, panel: Panel, place: str
) -> tuple[Panel, np.ndarray | None, tuple[str, ...]]:
    """The panel with the labels of studies of texts that were sent, which labels came back (None: no study), and their names."""
    known: dict[int, Study] = {
        one.study_id: one
        for one in list_studies(store)
        if one.dataset_file == sent_from(panel.name) and one.kind == "ratings" and one.state == "unblinded"
    }
    if not known:
        return panel, None, ()
    numbers = list(known)
    chosen: list[int] = st.multiselect(
        "Labels that came back",
        numbers,
        format_func=lambda number: showable(known[number].name),
        key=address.several("back", f"{place}_back", numbers, numbers),
        help="Unblinded studies of texts that were sent from here. They do not move the threshold.",
    )
    before = panel
    for number in chosen:
        source = StudySource(known[number].name)
        labels = panel_of_source(source, [], PanelChoice(), reading_in(store))
        question = ("same texts", *given.key, number)
        choice.once(question, partial(_check_texts, store, given, known[number], before, labels))
        panel = add_labels(panel, labels)
    panel, new = first_labels(before, panel)
    return panel, new if chosen else None, tuple(known[number].name for number in chosen)


def _check_texts(store: Store, source: choice.Given, study: Study, panel: Panel, new: Panel) -> None:
    """Refuse the study's labels if the input's texts were changed since."""
    try:
        own = source.texts()
    except InputError:  # scores without texts
        return
    there = texts_beside(panel, new, *texts_of_study(store, study))
    check_same_texts(panel, new, texts_beside(panel, panel, *own), there)


def _verdict(answer: Answer) -> None:
    """Show the sentences, the thresholds with their figure, and the total."""
    first, *others = map(plain, answer.all_sentences)
    st.markdown("  \n".join([f"**{first}**", *others]))
    figure = trust_thresholds(answer.result.escalation)
    alt = "Agreement of the kept texts with its lower bound by threshold, the promise, and the share kept"
    total = () if answer.result.chosen is None else ("escalate-total",)
    names = ("escalate-thresholds", *total)
    analysis.show_tables(answer, names, {"escalate-thresholds": analysis.Drawn(figure, alt)})
    with st.expander("Numbers"):
        analysis.show_tables(answer, ("escalate",))


def _send(store: Store, source: choice.Given, escalation: Escalation, place: str) -> None:
    """Offer a study of the texts for people."""
    if not escalation.sent:
        return
    if source.study is not None and source.study.kind == "pairs":
        st.markdown("Pairs cannot be added to this study. Plan a new one of the texts for people.")
        return
    key = f"{place}_{len(escalation.sent)}"
    left, audits, middle, right = st.columns([1, 1, 2, 1], vertical_alignment="bottom")
    n: int = left.number_input(
        "Texts for people",
        1,
        len(escalation.sent),
        len(escalation.sent),
        key=f"{key}_n",
        help="Fewer are drawn at random.",
    )
    audit: int = audits.number_input(
        "Kept texts to audit",
        0,
        len(escalation.auditable),
        0,
        key=f"{key}_audit",
        disabled=not escalation.auditable,
        help=f"Drawn at random. From {FEWEST_AUDITED} on, their labels alone correct the kept texts.",
    )
    stem = escalation.panel.name.removeprefix("study ").rsplit(".", 1)[0]
    name = middle.text_input("Name of the study", f"{stem}: for people"[:80], key=f"{key}_name")
    if right.button("Make a study", key=f"{key}_make", icon=":material/how_to_vote:", width="stretch"):
        study, _ = draft_study(
            store,
            name,
            escalation.panel,
            sent_texts(escalation, n, audit=audit),
            read_texts_of(*source.texts(), escalation.panel),
            use="certify",
            file_name=sent_from(escalation.panel.name),
        )
        st.session_state[_SENT] = (key, study.name, study.study_id)
    if st.session_state.get(_SENT, ("",))[0] == key:
        st.success(code_markdown(f"{st.session_state[_SENT][1]} is a draft. Add raters, then open it."))
        open_study.button(st.session_state[_SENT][2], "raters")
    raters = raters_wanted(escalation.panel, "certify")
    st.markdown(
        f":small[Each text goes to {counted(raters, 'rater')}. They see neither the verdict nor the confidence, nor why a text is there. "
        "Once the study is unblinded, its labels correct the total here.]"
    )


def _words(
    source: choice.Given, check: Check, way: _Way, chosen: EscalateOptions, labels: tuple[str, ...]
) -> list[str]:
    """The words of the command that gives the same result."""
    words = [ANALYSIS.name, *source.command]
    if len(check.panel.judges) > 1 and way.words[-1] != JUDGES and "--judge" not in words:
        words += ["--judge", _judge(check)]
    words += [*way.words, *chosen.option_words]
    for label in labels:
        words += ["--labels", f"study:{label}"]
    return words
