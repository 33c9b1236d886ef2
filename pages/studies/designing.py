"""The tab Design: the design of a study, frozen at the first vote, with its plan, texts, audit and log; the steps of its life."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import streamlit as st

from core.errors import InputError, NotAllowed, counted
from core.schema.designs import PairDesign, RatingDesign, StudyDesign
from core.schema.settings import fields_of
from core.schema.study import Design, State, Study
from core.store import Store
from core.store.raters import raters_of
from core.store.studies import items_of, outputs_of
from core.study import lifecycle
from core.study.analysis_set import describe_analysis_set, main_levels, margin_note
from core.study.design import describe_shortage, drafts_lost, drafts_of
from core.study.masking import mask_systems
from core.study.raters import study_workload
from pages.studies import early, planning, texts
from pages.widgets import address, rating_scales, settings_form
from pages.widgets.messages import capital, mistakes_shown, moment, plain, tell
from pages.widgets.parts import HELP

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
_WITH_MARGIN = ("candidate", "margin", "confidence_level", "early_looks")
"""Fields that only a design with a margin has."""
_COUNTED = ("main_levels", "votes_needed", "score", "flagged")
_DRAWN = (
    "rendering",
    "code_language",
    "level_order",
    "repeat_share",
    "max_questions",
    "blinding_pairs",
    "person",
    "seed",
)
_AS_USUAL: dict[str, Any] = dict.fromkeys(("votes_per_pair", "max_questions", "votes_needed"))
"""Fields of Design that are None unless they are declared."""


@dataclass(frozen=True)
class Fields:
    """The form of the design of a study of pairs: widgets of its options, which show what is used where they are empty."""

    prefix: str
    """Of the widgets' keys."""
    systems: Sequence[str]
    """The two, in the order of the file."""
    levels: Sequence[str]
    disabled: bool = False

    def wants_margin(self, usual: Design) -> bool:
        """Ask whether a margin is declared. It decides which fields there are, so it stands outside of a form."""
        return st.toggle(
            "Do you want to show that one system is not worse than the other by a margin?",
            usual.margin is not None,
            key=f"{self.prefix}_wanted",
            disabled=self.disabled,
            help="If not, results treat both systems alike. You can declare a margin until the first vote.",
        )

    def first(self, usual: Design, *, with_margin: bool) -> dict[str, Any]:
        """Draw what a study is for: votes, and what a margin needs. usual: the design that is used where a field is empty."""
        return self._drawn(("votes_per_pair", *(_WITH_MARGIN if with_margin else ())), usual)

    def rest(self, usual: Design) -> dict[str, Any]:
        """Draw what the verdict counts, and what raters get."""
        st.markdown("**Main analysis**: what the verdict counts")
        counted_in = self._drawn(_COUNTED, usual)
        st.markdown("**What raters get**")
        return counted_in | self._drawn(_DRAWN, usual)

    def take_levels(self, values: dict[str, Any], design: Design) -> tuple[str, ...] | None:
        """Take the levels of the main analysis out of what the form has.

        Those that the design has stay as they are, so that a default stays one and reads as one in the log.
        """
        chosen = values.pop("main_levels", None)
        if chosen is None:
            return design.main_levels
        named = tuple(level for level in self.levels if level in chosen)
        return design.main_levels if named == main_levels(design, self.levels) else named

    def _drawn(self, names: Sequence[str], usual: Design) -> dict[str, Any]:
        several = len(self.levels) > 1
        shown = [name for name in names if several or name not in ("main_levels", "level_order")]
        return settings_form.render(
            PairDesign,
            self.prefix,
            without=fields_of(PairDesign).keys() - set(shown),
            offered={"candidate": self.systems, "person": self.systems, "main_levels": self.levels},
            used=self._used(usual),
            # All of them are there to begin with: to take one away is less work than to name the others.
            begins={"main_levels": main_levels(usual, self.levels)},
            disabled=self.disabled,
        )

    def _used(self, usual: Design) -> dict[str, object]:
        """Field -> what is used where it is empty."""
        return {
            "candidate": "Choose one of the two" if usual.margin is None else usual.candidate,
            "margin": usual.margin or Design.margin,
            "confidence_level": usual.confidence_level,
            **{name: getattr(usual, name) for name in ("score", "flagged", "level_order", "repeat_share")},
            "rendering": usual.rendering,
            "code_language": usual.code_language or None,
            "blinding_pairs": usual.blinding_pairs,
            "person": usual.person_system,
        }


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
    systems = sorted({design.candidate, design.comparator})
    fields = Fields(_filled(study, _pair_options(study)), systems, study.levels, disabled=frozen)
    wanted = fields.wants_margin(design)
    with st.form("design"):
        given = fields.first(design, with_margin=wanted)
        if design.score == "composite" and design.margin is not None:
            st.markdown(f":small[{margin_note(design.margin)}]")
        given |= fields.rest(design)
        agreed = _drafts_may_go(drafts)
        submitted = st.form_submit_button("Save this design", disabled=frozen)
    if submitted:
        with mistakes_shown():
            levels = fields.take_levels(given, design)
            asked = PairDesign.checked(given, "Invalid design")
            new = replace(_changed(design, systems, asked, with_margin=wanted), main_levels=levels)
            _declare(store, study, new, agreed)
    n_items = len(items_of(store, study.study_id))
    _workload(
        store,
        study,
        f"{counted(n_items, 'question')}, {counted(n_items * len(study.levels), 'pair')}.",
        "Every side, order and repeat follows from the seed.",
        ("Questions", "Pairs"),
    )


def _pair_options(study: Study) -> PairDesign:
    """The design of a study as the options that declare it."""
    design = study.design
    same = {name: getattr(design, name) for name in fields_of(PairDesign)}
    candidate = None if design.margin is None else design.candidate
    language = design.code_language or None
    return PairDesign.model_construct(
        **{**same, "person": design.person_system, "candidate": candidate, "code_language": language}
    )


def _filled(study: Study, options: StudyDesign) -> str:
    """Fill the form with the design, once for each design, and return the prefix of its keys."""
    prefix = f"design_{study.study_id}_{hash(study.design)}"
    if f"{prefix}_seed" not in st.session_state:
        settings_form.put(options, prefix, without={"comparator", "main_levels"})
    return prefix


def _changed(design: Design, systems: Sequence[str], pair_design: PairDesign, *, with_margin: bool) -> Design:
    """The design with what is declared; an empty field leaves it, or is as usual where the usual is no value."""
    first, second = systems
    new = replace(design, **_AS_USUAL, code_language="")
    if not with_margin:
        new = replace(new, candidate=first, comparator=second, margin=None, early_looks=False)
    elif pair_design.candidate is None and design.margin is None:
        raise InputError("Choose the candidate.")
    else:
        candidate = pair_design.candidate or design.candidate
        other = second if candidate == first else first
        new = replace(
            new,
            candidate=candidate,
            comparator=other,
            margin=design.margin or Design.margin,
            early_looks=False,
        )
    declared = {name: value for name, value in pair_design.declared.items() if name != "candidate"}
    if pair_design.person is not None:
        declared["person"] = "candidate" if pair_design.person == new.candidate else "comparator"
    return replace(new, **declared)


def ratings_form(store: Store, study: Study) -> None:
    """Raters per source, hidden repeats and seed: a form before the first rating, a declaration after it."""
    frozen = _is_frozen(study, "rating")
    drafts = 0 if frozen else len(drafts_of(store, study))
    named = {name: getattr(study.design, name) or None for name in fields_of(RatingDesign)}
    prefix = _filled(study, RatingDesign.model_construct(**named))
    with st.form(f"design_ratings_{study.study_id}"):
        given = settings_form.render(RatingDesign, prefix, disabled=frozen)
        agreed = _drafts_may_go(drafts)
        submitted = st.form_submit_button("Save this design", disabled=frozen)
    if submitted:
        with mistakes_shown():
            asked = RatingDesign.checked(given, "Invalid design")
            kept = replace(study.design, votes_per_pair=None, max_questions=None, code_language="")
            _declare(store, study, replace(kept, **asked.declared), agreed)
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


def _declare(store: Store, study: Study, design: Design, agreed: bool) -> None:
    """Save the design. agreed: whether it may take drafts off their raters' lists. Raises InputError and NotAllowed."""
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
    file = mask_systems(study, study.dataset_file)
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
