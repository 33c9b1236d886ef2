"""The tab Design: the design of a study, frozen at the first vote, with its plan, texts, audit and log; the steps of its life."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import InputError, NotAllowed, counted
from core.schema.study import Design, FlaggedPairs, LevelOrder, Role, Score, State, Study
from core.store import Store
from core.store.raters import raters_of
from core.store.studies import items_of, outputs_of
from core.study import lifecycle
from core.study.analysis_set import MOST_VOTES, describe_analysis_set, main_levels, margin_note
from core.study.design import (
    LARGEST_COUNT,
    LARGEST_GUESSES,
    LARGEST_SEED,
    describe_shortage,
    drafts_lost,
    drafts_of,
)
from core.study.masking import without_systems
from core.study.raters import study_workload
from pages.studies import early, planning, texts
from pages.widgets import address, rating_scales
from pages.widgets.messages import capital, mistakes_shown, moment, plain, showable, tell
from pages.widgets.parts import HELP, percent

_STEPS: dict[State, list[tuple[State, str]]] = {
    "draft": [("open", "Open the study")],
    "open": [("closed", "Close the study")],
    "closed": [("open", "Open again"), ("unblinded", "Unblind the study")],
    "unblinded": [],
}
_MEANING: dict[State, str] = {
    "draft": "Only previews are possible. Open the study to let raters in.",
    "open": "Raters can answer. Results stay hidden until you unblind the study.",
    "closed": "Raters can no longer answer. Open the study again, or unblind it for good to see its results.",
    "unblinded": "The study has ended.",
}
_ORDERS = {"fixed": "Best to worst, as in Factual", "shuffled": "Shuffled for each rater and question"}


_SCORES: dict[Score, str] = {
    "composite": "Composite: sign of the sum of its votes",
    "net_preference": "Net preference: mean of its votes",
}
_FLAGGED: dict[FlaggedPairs, str] = {"keep": "Keep their votes", "leave_out": "Leave the pairs out"}


_LEVELS = (0.90, 0.95)
"""Confidence levels that are offered."""


class Fields:
    """Widgets for the fields of a design, with its values at first.

    systems: in a study of pairs, its two systems in the order of the file.
    """

    def __init__(self, design: Design, systems: Sequence[str] = (), *, disabled: bool = False) -> None:
        self._design, self._systems, self._disabled = design, tuple(systems), disabled
        self._chosen: dict[str, Any] = {}
        self._person: str | None = None
        self._seed = ""
        self.complete = True
        """Whether everything that the design needs is chosen: with a margin, a candidate."""

    def number(
        self,
        place: DeltaGenerator,
        label: str,
        name: str,
        lowest: float,
        highest: float,
        said: str | None = None,
    ) -> None:
        """A number. 0 stands for None in whole numbers that may be None."""
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
        """One of the words that a field may have."""
        self._chosen[name] = place.selectbox(
            label,
            options,
            options.index(getattr(self._design, name)),
            format_func=lambda word: words.get(word, word),
            disabled=self._disabled,
            help=said,
        )

    def wants_margin(self, key: str) -> bool:
        """Ask whether a margin is declared. It decides what `margin` asks, so it stands outside of a form."""
        return st.toggle(
            "Do you want to show that one system is not worse than the other by a margin?",
            self._design.margin is not None,
            key=key,
            disabled=self._disabled,
            help="If not, results treat both systems alike. You can declare a margin until the first vote.",
        )

    def margin(self, wanted: bool, candidate: str | None) -> None:
        """Candidate, margin, confidence level and early looks; nothing is asked unless wanted."""
        if not wanted:
            first, second = self._systems
            self._chosen |= {"candidate": first, "comparator": second, "margin": None, "early_looks": False}
            return
        left, middle, right = st.columns(3)
        chosen = left.radio(
            "Candidate: the system under test",
            self._systems,
            index=None if candidate is None else self._systems.index(candidate),
            format_func=plain,
            horizontal=True,
            disabled=self._disabled,
            help="The other system is the comparator. The verdict says whether the candidate is not worse.",
        )
        self.complete = chosen is not None
        if chosen is not None:
            (other,) = (system for system in self._systems if system != chosen)
            self._chosen |= {"candidate": chosen, "comparator": other}
        said = "How much worse the candidate may be, on the scale of the score, -1 to 1."
        # A study without a margin begins with the usual one.
        before = self._design.margin or Design.margin
        given = middle.number_input("Margin", 0.01, 1.99, before, 0.01, disabled=self._disabled, help=said)
        self._chosen["margin"] = given and round(given, 4)
        level = self._design.confidence_level
        levels = sorted({*_LEVELS, level})
        self._chosen["confidence_level"] = right.radio(
            "Confidence level (one-sided)",
            levels,
            levels.index(level),
            format_func=percent,
            horizontal=True,
            disabled=self._disabled,
            help="Factual uses 90 %. The usual level is 95 %, which is stricter.",
        )
        self._chosen["early_looks"] = st.checkbox(
            "Allow early looks",
            self._design.early_looks,
            disabled=self._disabled,
            help="While the study runs, you may see one lower bound, which is valid at every look. It needs more questions "
            "than the verdict at the end, and decides once you have looked. All raters get the questions in the same order.",
        )

    def ratings(self, left: DeltaGenerator, right: DeltaGenerator, said: str | None = None) -> None:
        """What is drawn in a rating study."""
        self.number(left, "Raters per source (0: all)", "votes_per_pair", 0, LARGEST_COUNT, said)
        self.repeats(right)

    def repeats(self, place: DeltaGenerator) -> None:
        """The share of a rater's list that comes twice."""
        self.number(place, "Hidden repeats (share)", "repeat_share", 0.0, 0.5)

    def draws(self, levels: Sequence[str]) -> None:
        """What raters get: order, repeats, caps and guesses."""
        st.markdown("**What raters get**")
        left, middle, right = st.columns(3)
        if len(levels) > 1:
            self.choice(left, "Levels within a question", "level_order", get_args(LevelOrder), _ORDERS)
        self.repeats(middle)
        self.number(right, "Maximum questions per rater (0: no limit)", "max_questions", 0, 100000)
        self.number(
            left,
            "Pairs to guess at the end (0: none)",
            "blinding_pairs",
            0,
            LARGEST_GUESSES,
            "After their last answer, raters see this many pairs again and say which answer a person wrote. "
            "This shows whether they could tell.",
        )
        self._person = middle.selectbox(
            "Written by people",
            self._systems,
            self._systems.index(self._design.person_system),
            format_func=showable,
            disabled=self._disabled,
            help="The system whose answers a person wrote. Used only if there are pairs to guess.",
        )

    def seed(self, place: DeltaGenerator, *, new: bool = False) -> None:
        """The seed. new: whether the study is still to be created, so that Assay may draw one."""
        self._seed = place.text_input(
            "Seed (empty: a new one)" if new else "Seed",
            "" if new else str(self._design.seed),
            disabled=self._disabled,
            help=f"A whole number up to {LARGEST_SEED}." if new else None,
        )

    def analysis(self, levels: Sequence[str]) -> None:
        """What the verdict counts."""
        st.markdown("**Main analysis**: what the verdict counts")
        left, right = st.columns(2)
        usual = main_levels(self._design, levels)
        chosen: Sequence[str] = usual
        if len(levels) > 1:
            chosen = left.multiselect(
                "Levels",
                levels,
                list(usual),
                format_func=showable,
                disabled=self._disabled,
                help="The first level is usually as good as the reference, so it says little about damage. "
                "Factual leaves it out.",
            )
        named = tuple(level for level in levels if level in chosen)
        # The default stays a default, so that it reads as one in the log.
        self._chosen["main_levels"] = self._design.main_levels if named == usual else named
        self.number(
            right,
            "Votes needed per pair (0: 2, or fewer if a pair cannot get 2)",
            "votes_needed",
            0,
            MOST_VOTES,
            "Votes of excluded raters do not count. A rater who joins late never removes a pair.",
        )
        self.choice(
            left,
            "Score of a pair",
            "score",
            get_args(Score),
            _SCORES,
            "A vote is +1 for the candidate (or the first system), -1 for the other, else 0. Factual uses the composite.",
        )
        self.choice(
            right,
            "Pairs that a rater flags as invalid",
            "flagged",
            get_args(FlaggedPairs),
            _FLAGGED,
            "Raters flag broken answers more often. Leaving such pairs out can hide a candidate's losses.",
        )

    def declared(self) -> Design:
        """The design as chosen. Raises InputError for a wrong seed."""
        design = replace(self._design, seed=lifecycle.parse_seed(self._seed), **self._chosen)
        if self._person is None:
            return design
        person: Role = "candidate" if self._person == design.candidate else "comparator"
        return replace(design, person=person)


def render(store: Store, study: Study) -> None:
    """The design and all that belongs to it: plan, words, leakage, early looks, log."""
    pairs = study.kind == "pairs"
    bodies: dict[str, Callable[[Store, Study], None]] = {
        "Design": form if pairs else ratings_form,
        **({"Plan": planning.render} if pairs and study.state != "unblinded" else {}),
        "What raters read": texts.render_words,
        **({"Leakage": texts.render_audit} if study.asks == "levels" else {}),
        **({"Early look": early.render} if study.design.early_looks else {}),
        "Log": texts.log_table,
    }
    names = list(bodies)
    part = st.segmented_control(
        "Part",
        names,
        required=True,
        label_visibility="collapsed",
        key=address.one("part", f"study_part_{study.study_id}", names, names[0], address.slug),
    )
    bodies[part or names[0]](store, study)


def say_missed(study: Study) -> None:
    """Say that a step was pressed on a page drawn before the study moved elsewhere: its button is gone, so nothing was done."""
    possible = {state for state, _ in _STEPS[study.state]}
    if any(st.session_state.get(f"state_{state}") for state in get_args(State) if state not in possible):
        st.warning(
            f"The study became {study.state} meanwhile, so your step was not taken and no reason was saved."
        )


def state_box(store: Store, study: Study) -> None:
    """The study's state and the steps that it allows."""
    with st.container(border=True):
        st.markdown(f"**{capital(study.state)}.** {_MEANING[study.state]}")
        if study.state == "unblinded":
            return
        plan = study_workload(store, study)
        if study.state == "draft" and not plan.questions:
            st.markdown(
                "Nobody could answer yet: add raters first, on the tab Raters. Each gets a personal link."
            )
        if (
            study.asks == "levels"
            and study.state == "draft"
            and texts.audited(store, study).severity == "warning"
        ):
            st.warning(
                "The texts give away which system wrote them. See Leakage on the tab Design before you open the study."
            )
        if shortage := describe_shortage(plan, study):
            st.warning(shortage)
        steps = _STEPS[study.state]
        reason = ""
        if any(state == "unblinded" for state, _ in steps):
            if study.kind == "pairs":
                st.markdown(f":small[{plain(capital(describe_analysis_set(study.design, study.levels)))}.]")
            reason = st.text_input(
                "Reason (required to unblind, saved in the log)",
                key=f"state_reason_{study.study_id}",
                persist_state="session",
            )
        ready = study.state != "draft" or bool(raters_of(store, study.study_id))
        with st.container(horizontal=True), mistakes_shown():
            for at, (state, label) in enumerate(steps):
                main = ready and study.state != "open" and at == len(steps) - 1
                if st.button(
                    label, key=f"state_{state}", type="primary" if main else "secondary", disabled=not ready
                ):
                    lifecycle.move(store, study, state, reason)
                    tell(f"The study is {state}.")


def form(store: Store, study: Study) -> None:
    """Roles, margin, confidence level and draws: a form before the first vote, a declaration after it."""
    design = study.design
    frozen = _is_frozen(study, "vote")
    drafts = 0 if frozen else len(drafts_of(store, study))
    fields = Fields(design, sorted({design.candidate, design.comparator}), disabled=frozen)
    wanted = fields.wants_margin(f"design_margin_{study.study_id}")
    with st.form("design"):
        fields.margin(wanted, None if design.margin is None else design.candidate)
        fields.number(st.container(), "Votes per pair (0: all raters)", "votes_per_pair", 0, 1000)
        if design.score == "composite" and design.margin is not None:
            st.markdown(f":small[{margin_note(design.margin)}]")
        fields.analysis(study.levels)
        fields.draws(study.levels)
        fields.seed(st.container())
        agreed = _drafts_may_go(drafts)
        submitted = st.form_submit_button("Save this design", disabled=frozen)
    if submitted:
        _declare(store, study, fields, agreed)
    n_items = len(items_of(store, study.study_id))
    _workload(
        store,
        study,
        f"{counted(n_items, 'question')}, {counted(n_items * len(study.levels), 'pair')}.",
        "Every side, order and repeat follows from the seed.",
        ("Questions", "Pairs"),
    )


def ratings_form(store: Store, study: Study) -> None:
    """Raters per source, hidden repeats and seed: a form before the first rating, a declaration after it."""
    frozen = _is_frozen(study, "rating")
    drafts = 0 if frozen else len(drafts_of(store, study))
    fields = Fields(study.design, disabled=frozen)
    with st.form(f"design_ratings_{study.study_id}"):
        left, middle, right = st.columns(3)
        fields.ratings(left, middle)
        fields.seed(right)
        agreed = _drafts_may_go(drafts)
        submitted = st.form_submit_button("Save this design", disabled=frozen)
    if submitted:
        _declare(store, study, fields, agreed)
    n_items = counted(len(items_of(store, study.study_id)), "source")
    _workload(
        store,
        study,
        f"{n_items}, {counted(len(outputs_of(store, study.study_id)), 'text')}.",
        "Who rates what, and in which order, follows from the seed. Raters see neither system nor level, "
        "and rate all texts of a source together.",
        ("Sources", "Texts"),
    )
    if study.task is not None:
        with st.expander(f"Task: {plain(study.task.title)}"):
            rating_scales.explained(study.task)


def _is_frozen(study: Study, unit: str) -> bool:
    """Whether the design can no longer change; says so. unit: what freezes it when the first one is saved."""
    if study.is_changeable:
        st.write(f"You can change the design until the first {unit}. Every change is logged.")
        return False
    if study.first_vote_utc is not None:
        st.info(f"Frozen since the first {unit} ({moment(study.first_vote_utc)} UTC).")
    else:
        st.info(f"The study is {study.state}, so its design cannot change.")
    return True


def _drafts_may_go(drafts: int) -> bool:
    """Whether a change may take drafts off their raters' lists; asked only where raters have begun some."""
    return bool(drafts) and st.checkbox(
        f"Save even if drafts fall off their raters' lists ({counted(drafts, 'draft')} so far)",
        key="design_drafts",
    )


def _declare(store: Store, study: Study, fields: Fields, agreed: bool) -> None:
    """Save the design. agreed: whether it may take drafts off their raters' lists."""
    with mistakes_shown():
        if not fields.complete:
            raise InputError("Choose the candidate.")
        design = fields.declared()
        lost = drafts_lost(store, study, design)
        if lost and not agreed:
            raise NotAllowed(
                f"This design takes {counted(lost, 'draft')} off {'its' if lost == 1 else 'their'} raters' lists. Tick the box "
                "above the button to save it anyway."
            )
        lifecycle.change_design(store, study, design)
        tell("The design is saved." + (f" {counted(lost, 'draft')} fell off raters' lists." if lost else ""))


def _workload(store: Store, study: Study, counts: str, drawn: str, units: tuple[str, str]) -> None:
    """What the study contains and what the design asks of each rater. units: what a rater gets whole, and its parts."""
    file = without_systems(study, study.dataset_file)
    st.markdown(
        f":small[{counts} File: {plain(file)}, sha256 {study.dataset_sha256[:16]}. {drawn} "
        f"[How a study is drawn]({HELP}?document=design)]"
    )
    plan = study_workload(store, study)
    if not plan.questions:
        people = raters_of(store, study.study_id)
        st.markdown(
            f":small[{'All votes were imported.' if people else 'No raters.'}]"
            if study.state == "unblinded"
            else ":small[No raters yet: add them under Raters.]"
        )
        return
    st.dataframe(
        {
            "Rater": list(plan.questions),
            units[0]: list(plan.questions.values()),
            f"{units[1]} (with hidden repeats)": list(plan.pairs.values()),
            "Minutes (about)": list(plan.minutes.values()),
        },
        hide_index=True,
    )
    if shortage := describe_shortage(plan, study):
        st.warning(shortage)
