"""The design of a study: declared before the first vote, then frozen; and the steps of its life."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.schema.study import Design, FlaggedPairs, LevelOrder, Role, Score, State, Study
from core.store import Store
from core.store.studies import items_of, outputs_of
from core.study import lifecycle
from core.study.analysis_set import MOST_VOTES, describe_analysis_set, main_levels, margin_note
from core.study.design import LARGEST_COUNT, LARGEST_GUESSES, LARGEST_SEED, describe_shortage
from core.study.raters import study_workload
from pages.widgets import parts as other_pages
from pages.widgets import rating_scales
from pages.widgets.messages import capital, mistakes_shown, moment, plain, tell
from pages.widgets.parts import counted_as

_STEPS: dict[State, list[tuple[State, str]]] = {
    "draft": [("open", "Open: let raters answer")],
    "open": [("closed", "Close: take no more answers")],
    "closed": [("open", "Open again"), ("unblinded", "Unblind and end the study")],
    "unblinded": [],
}
_MEANING: dict[State, str] = {
    "draft": "nobody but a preview can answer yet.",
    "open": "raters answer; results stay shut until it is unblinded.",
    "closed": "no more answers are taken; you can open it again, or unblind it for good and see its results.",
    "unblinded": "it has ended.",
}
_ORDERS = {"fixed": "best to worst, as in the paper", "shuffled": "shuffled for each rater and question"}


_SCORES: dict[Score, str] = {
    "composite": "Composite: sign of the sum of its votes",
    "net_preference": "Net preference: mean of its votes",
}
_FLAGGED: dict[FlaggedPairs, str] = {"keep": "Keep their votes", "leave_out": "Leave the pairs out"}


class Fields:
    """Widgets of a form that hold fields of a design, which begin as the design has them."""

    def __init__(self, design: Design, *, disabled: bool = False) -> None:
        self._design, self._disabled = design, disabled
        self._chosen: dict[str, Any] = {}
        self._seed = ""

    def number(
        self,
        place: DeltaGenerator,
        label: str,
        name: str,
        lowest: float,
        highest: float,
        said: str | None = None,
    ) -> None:
        """A number; of whole ones that may be None, 0 stands for it."""
        whole, before = isinstance(lowest, int), getattr(self._design, name)
        bounds: dict[str, Any] = {"min_value": lowest, "max_value": highest, "step": None if whole else 0.01}
        given = place.number_input(
            label, value=0 if before is None else before, **bounds, disabled=self._disabled, help=said
        )
        optional = getattr(Design, name, None) is None
        self._chosen[name] = (given or None if optional else given) if whole else round(given, 4)

    def choice(
        self,
        place: DeltaGenerator,
        label: str,
        name: str,
        options: Sequence[str],
        words: Mapping[Any, str] = MappingProxyType({}),
        said: str | None = None,
    ) -> None:
        """One of the words that a field may be."""
        self._chosen[name] = place.selectbox(
            label,
            options,
            options.index(getattr(self._design, name)),
            format_func=lambda word: words.get(word, word),
            disabled=self._disabled,
            help=said,
        )

    def margin(
        self, left: DeltaGenerator, right: DeltaGenerator, label: str, said: str | None = None
    ) -> None:
        """Margin and confidence level."""
        self.number(left, label, "margin", 0.01, 1.99, said)
        self.number(right, "Confidence level (one-sided)", "confidence_level", 0.51, 0.99)

    def ratings(self, left: DeltaGenerator, right: DeltaGenerator, said: str | None = None) -> None:
        """What is drawn of a rating study."""
        self.number(left, "Raters per source (0: all)", "votes_per_pair", 0, LARGEST_COUNT, said)
        self.repeats(right)

    def repeats(self, place: DeltaGenerator) -> None:
        """Which share of a rater's list comes twice."""
        self.number(place, "Hidden repeats (share)", "repeat_share", 0.0, 0.5)

    def seed(self, place: DeltaGenerator, *, new: bool = False) -> None:
        """The seed. new: of a study that is still to be made, where it may be left to Assay."""
        self._seed = place.text_input(
            "Seed (empty: a new one)" if new else "Seed",
            "" if new else str(self._design.seed),
            disabled=self._disabled,
            help=f"A whole number up to {LARGEST_SEED}." if new else None,
        )

    def analysis(self, levels: Sequence[str]) -> None:
        """What the verdict counts."""
        st.markdown(
            "**Main analysis**: what the verdict counts. It is frozen with the margin at the first vote."
        )
        left, right = st.columns(2)
        usual = main_levels(self._design, levels)
        chosen = left.multiselect(
            "Levels",
            levels,
            list(usual),
            format_func=plain,
            disabled=self._disabled,
            help="The first level is usually as good as the reference, so it says little about damage. Factual leaves it out.",
        )
        named = tuple(level for level in levels if level in chosen)
        # The default stays a default, so that it reads as one in the log.
        self._chosen["main_levels"] = self._design.main_levels if named == usual else named
        self.number(
            right,
            "Votes a pair needs (0: 2, or as many as it can get)",
            "votes_needed",
            0,
            MOST_VOTES,
            "Only votes of raters who are not excluded count. A rater who joins late never removes a pair.",
        )
        self.choice(
            left,
            "Score of a pair",
            "score",
            get_args(Score),
            _SCORES,
            "A vote is +1 for the candidate, -1 for the comparator, else 0. Factual uses the composite.",
        )
        self.choice(
            right,
            "Pairs that a rater flags as invalid",
            "flagged",
            get_args(FlaggedPairs),
            _FLAGGED,
            "Raters flag broken answers more often. Leaving such pairs out can hide a candidate's losses.",
        )

    def declared(self, **more: Any) -> Design:
        """The design as it was chosen, with what the page chose itself. Raises InputError for what is no seed."""
        return replace(self._design, seed=lifecycle.parse_seed(self._seed), **self._chosen, **more)


def state_buttons(store: Store, study: Study) -> None:
    """What can be done with the study next."""
    st.write(f"This study is **{study.state}**: {_MEANING[study.state]}")
    if study.state == "unblinded":
        st.page_link(other_pages.results(), label="Its results are open")
    if study.state in ("draft", "open") and (shortage := describe_shortage(study_workload(store, study))):
        st.warning(shortage)
    steps = _STEPS[study.state]
    reason = ""
    if any(state == "unblinded" for state, _ in steps):
        if study.kind == "pairs":
            st.markdown(f":small[{plain(capital(describe_analysis_set(study.design, study.levels)))}.]")
        reason = st.text_input("Reason (needed for unblinding, kept in the log)", key="state_reason")
    with st.container(horizontal=True), mistakes_shown():
        for state, label in steps:
            if st.button(label, key=f"state_{state}"):
                lifecycle.move(store, study, state, reason)
                tell(f"The study is {state}.")


def form(store: Store, study: Study) -> None:
    """Roles, margin, confidence level and draws: a form before the first vote, a declaration after it."""
    design = study.design
    frozen = _is_frozen(study, "vote")
    fields = Fields(design, disabled=frozen)
    sources = sorted({design.candidate, design.comparator})
    with st.form("design"):
        candidate = st.radio(
            "Candidate (the other source is the comparator)",
            sources,
            index=sources.index(design.candidate),
            format_func=plain,
            horizontal=True,
            disabled=frozen,
        )
        left, middle, right = st.columns(3)
        fields.margin(left, middle, "Margin")
        fields.seed(right)
        st.markdown(f":small[{margin_note(design.margin)}]")
        fields.analysis(study.levels)
        st.markdown("**What raters are given**")
        left, middle, right = st.columns(3)
        fields.choice(left, "Levels within a question", "level_order", get_args(LevelOrder), _ORDERS)
        fields.repeats(middle)
        fields.number(right, "Votes per pair (0: all raters)", "votes_per_pair", 0, 1000)
        fields.number(right, "Most questions per rater (0: no cap)", "max_questions", 0, 100000)
        fields.number(
            left,
            "Pairs to guess at the end (0: none)",
            "blinding_pairs",
            0,
            LARGEST_GUESSES,
            "After a rater's answers are locked, so many of them come back with the question which of the two "
            "a person wrote: it shows whether raters could tell.",
        )
        fields.choice(middle, "A person wrote the answers of the", "person", get_args(Role))
        submitted = st.form_submit_button("Declare this design", disabled=frozen)
    if submitted:
        comparator = next(source for source in sources if source != candidate)
        _declare(store, study, fields, candidate=candidate, comparator=comparator)
    n_items = len(items_of(store, study.study_id))
    _workload(
        store,
        study,
        f"{n_items} questions, {n_items * len(study.levels)} pairs.",
        "Every side, order and repeat follows from the seed: docs/design.md.",
        ("Questions", "Pairs"),
    )


def ratings_form(store: Store, study: Study) -> None:
    """Raters per source, hidden repeats and seed: a form before the first rating, a declaration after it."""
    frozen = _is_frozen(study, "rating")
    fields = Fields(study.design, disabled=frozen)
    with st.form(f"design_ratings_{study.study_id}"):
        left, middle, right = st.columns(3)
        fields.ratings(left, middle)
        fields.seed(right)
        submitted = st.form_submit_button("Declare this design", disabled=frozen)
    if submitted:
        _declare(store, study, fields)
    n_items = counted_as(len(items_of(store, study.study_id)), "source")
    _workload(
        store,
        study,
        f"{n_items}, {counted_as(len(outputs_of(store, study.study_id)), 'text')}.",
        "Who rates what, in which order, follows from the seed: docs/design.md. A rater is shown neither system nor level, "
        "and rates all texts of a source together.",
        ("Sources", "Texts"),
    )
    if study.task is not None:
        with st.expander(f"What is asked: {plain(study.task.title)}"):
            rating_scales.explained(study.task)


def _is_frozen(study: Study, unit: str) -> bool:
    """Whether the design can be changed no more; says so. unit: of which the first one freezes it."""
    if study.first_vote_utc is None:
        st.write(f"Declared before the first {unit}, then frozen; every change is logged.")
        return False
    st.info(f"Frozen since the first {unit} ({moment(study.first_vote_utc)} UTC).")
    return True


def _declare(store: Store, study: Study, fields: Fields, **more: str) -> None:
    with mistakes_shown():
        lifecycle.change_design(store, study, fields.declared(**more))
        tell("The design is declared.")


def _workload(store: Store, study: Study, counts: str, drawn: str, units: tuple[str, str]) -> None:
    """What the study holds, and what the design asks of each rater. units: what goes to a rater whole, and its parts."""
    st.markdown(
        f":small[{counts} Data set {plain(study.dataset_file)}, sha256 {study.dataset_sha256[:16]}. {drawn}]"
    )
    plan = study_workload(store, study)
    if not plan.questions:
        st.markdown(":small[No raters yet: add them under Raters.]")
        return
    st.dataframe(
        {
            "Rater": list(plan.questions),
            units[0]: list(plan.questions.values()),
            f"{units[1]} (with hidden repeats)": list(plan.pairs.values()),
            "About minutes": list(plan.minutes.values()),
        },
        hide_index=True,
    )
    if shortage := describe_shortage(plan):
        st.warning(shortage)
