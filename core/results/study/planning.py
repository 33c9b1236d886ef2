"""The size that a study needs, and what a running one has reached, from assumed components or those of votes.

One planner, `planned_sizes`, gives every number of questions: in the form of a new study, in Plan, in the progress and in the
results. They differ only in what they know: the components are assumed before the votes are unblinded, and the study's own after.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from itertools import product
from typing import Any

from core.errors import InputError
from core.errors import counted as with_noun
from core.results.cells import decimal
from core.results.study.counted import Counted, Filters, count, counts_at_all
from core.schema.result_table import Column, ResultTable
from core.schema.study import Answer, Design, Rater, Score, Study, StudyRecord
from core.stats.non_inferiority import FEWEST_QUESTIONS, MOST_QUESTIONS
from core.stats.planning import (
    FEW_RATERS,
    OUT_OF_REACH,
    RATER_FLOOR,
    SAMPLED,
    SCOPES,
    THESE,
    USUAL_RATERS,
    Plan,
    Scope,
    Size,
    check_components,
    plans,
    power_of,
    raters_needed,
    stated_components,
)
from core.stats.raters import COMPONENTS, FEWEST_RATERS, Components, variance_components
from core.stats.votes import preferences
from core.store import Store
from core.store.answers import answers_of
from core.store.raters import raters_of
from core.store.studies import find_study, items_of
from core.study.analysis_set import SCORE_NAMES, USUAL_VOTES, main_levels, released_record
from core.study.design import MARGIN_RANGE, estimated_minutes
from core.study.raters import check_asks
from core.tables.columns import delimiter_of, filled_rows
from core.tables.containers import decode
from core.tables.reading import number_in, reject, shown

PLAN_TABLES = ("plans", "power")
"""Names of the tables of a plan, the main one first."""
USUAL_POWER = 0.8
RESULT_POWERS = (0.8, 0.9)
"""Powers for which the results of a study state the size of a new one."""
USUAL_HALF_WIDTH = 0.1
"""Wanted half-width of the interval without a margin."""
SYMMETRIC_LEVEL = 0.95
"""Without a margin: the one-sided level of each end of the two-sided 90 % interval."""
FEW_TO_PLAN = f"fewer than {FEWEST_QUESTIONS} questions: the components of a vote are hardly known"


@dataclass(frozen=True)
class Assumption:
    """A number from which components of a vote are stated; the command's option and the page's field."""

    name: str
    """Parameter of `stats.planning.stated_components`."""
    default: float
    label: str
    help: str
    range: tuple[float, float] | None = None
    """Values between which it usually is, for a range of numbers of questions; None: it hardly changes them."""


ASSUMPTIONS = (
    Assumption(
        "decided",
        0.5,
        "Votes that choose a side",
        "share of votes that choose one of the two answers",
        (0.3, 0.8),
    ),
    Assumption(
        "question_correlation",
        0.3,
        "Alike within a question",
        "correlation of two raters' votes on two levels of a question: 0 if questions do not matter",
        (0.1, 0.5),
    ),
    Assumption(
        "agreement", 0.4, "Agreement on a pair", "correlation of two raters' votes on one pair", (0.2, 0.6)
    ),
    Assumption(
        "own_view",
        0.05,
        "A rater's own view of a question",
        "correlation that two votes of one rater on a question have beyond that",
    ),
    Assumption(
        "rater_sd",
        0.1,
        "Spread of raters",
        "standard deviation of raters' mean votes: 0.1 puts two thirds of raters within 0.1 of the mean",
    ),
)


@dataclass(frozen=True)
class Basis:
    """Variance components to plan with."""

    components: Components
    source: str
    """Where they come from, in words."""
    notes: tuple[str, ...] = ()
    levels: int | None = None
    """Levels in the main analysis of a pilot."""
    assumed: bool = False
    """Whether they come from assumptions alone."""


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What to plan for. Without power, half_width and questions, the wanted power is 0.8; without a margin, the half-width 0.1."""

    margin: float | None = 0.1
    """None: none is declared, so only a half-width can be planned for."""
    confidence_level: float | None = None
    """One-sided level of the bound; None: the usual one with this margin, or without one (`bound_level`)."""
    mean: float = 0.0
    """True mean vote."""
    power: float | None = None
    half_width: float | None = None
    questions: int | None = None
    raters: tuple[int, ...] = USUAL_RATERS
    votes: int | None = None
    """Votes a pair; None: those of all raters."""
    levels: int = 1
    score: Score = "composite"

    @property
    def bound_level(self) -> float:
        """The one-sided level of the lower bound, with its default; it follows the margin that is planned for."""
        if self.confidence_level is not None:
            return self.confidence_level
        return SYMMETRIC_LEVEL if self.margin is None else Design.confidence_level

    @property
    def wanted_power(self) -> float | None:
        """The wanted power, with its default."""
        return USUAL_POWER if self._nothing and self.margin is not None else self.power

    @property
    def wanted_half_width(self) -> float | None:
        """The wanted half-width, with its default."""
        return USUAL_HALF_WIDTH if self._nothing and self.margin is None else self.half_width

    @property
    def _nothing(self) -> bool:
        return self.power is self.half_width is self.questions is None


STUDY_FACTS = ("questions", "raters", "votes", "levels")
"""Fields of PlanOptions of which a study has its own, whatever one plans for."""


@dataclass(frozen=True)
class StudyPlan:
    """Designs that reach what is wanted, or what a design reaches."""

    options: PlanOptions
    basis: Basis
    plans: tuple[Plan, ...]
    raters_needed: int | None
    """The fewest raters with which a bound over raters as a sample can reach it; None: more than 200, or nothing is wanted."""
    net_preference: int | None
    """Questions that the smallest design for these raters would need with the net preference as score; None: that is
    the score, or it makes no difference."""

    def fewest(self, scope: Scope) -> Plan | None:
        """The design with the fewest votes."""
        found = [one for one in self.plans if one.scope == scope and one.total_votes is not None]
        return min(found, key=lambda one: one.total_votes or 0, default=None)

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        asked = asdict(self.options)
        return {
            "source": self.basis.source,
            "components": asdict(self.basis.components),
            **{name: asked[name] for name in ("mean", "margin", "score", "levels")},
            "confidence_level": self.options.bound_level,
            "wanted": {
                "power": self.options.wanted_power,
                "half_width": self.options.wanted_half_width,
                "questions": self.options.questions,
            },
            "plans": [_plan_json(one) for one in self.plans],
            "raters_needed": self.raters_needed,
            "notes": list(self.basis.notes),
        }


def stated(**given: float) -> Basis:
    """Components from assumptions; see `stats.planning.stated_components`. Raises InputError."""
    own = {one.name: one.default for one in ASSUMPTIONS}
    with_mean = {**own, **given}
    try:
        components = stated_components(**with_mean)
    except ValueError as problem:
        raise InputError("Components of a vote", [_as_option(problem)]) from problem
    named = ", ".join(f"{one.label.lower()} {with_mean[one.name]:g}" for one in ASSUMPTIONS)
    return Basis(components, f"assumed ({named})", assumed=True)


def of_pilot(record: StudyRecord) -> Basis:
    """Components of a study's votes. Raises InputError if they are undefined."""
    check_asks(record.study, ["levels", "preference"], "variance components of votes")
    return of_votes(count(record, Filters()), f"study {shown(record.study.name)}")


def of_votes(counted: Counted, name: str) -> Basis:
    """Components of the votes that count in a study of this name. Raises InputError if they are undefined."""
    found = variance_components(preferences(counted.codes), counted.questions)
    if found.components is None:
        raise InputError(f"Pilot {name}: no variance components ({found.reason}). State them instead.")
    notes = [
        f"The pilot cannot separate {_words(one)} from {_words(into)}. Planning counts their sum as {_words(into)}."
        for one, into in found.merged.items()
    ]
    if found.n_raters < FEWEST_RATERS:
        notes.append(f"The pilot has {found.n_raters} raters, so the component of raters is hardly known.")
    said = f"{name} ({found.n_votes:,} votes of {found.n_raters} raters on {found.n_questions:,} questions)"
    return _possible(Basis(found.components, said, tuple(notes), len(counted.levels)))


def _possible(basis: Basis) -> Basis:
    """Components as large as those of votes can be: estimates of few raters or questions may exceed that."""
    total = sum(astuple(basis.components))
    if total <= 1:
        return basis
    scaled = Components(*(part / total for part in astuple(basis.components)))
    note = f"The components sum to {total:.2f}. A vote varies by at most 1, so they were scaled to that."
    return replace(basis, components=scaled, notes=(*basis.notes, note))


def of_file(data: bytes, file_name: str) -> Basis:
    """Components from a CSV file: a column for each (one row), or columns `component` and `variance`.

    The second form is the table `variance-components` of `study results`. Missing components are 0. Raises InputError.
    """
    text = decode(data, file_name)
    rows = list(filled_rows(text, delimiter_of(text), file_name))
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if {"component", "variance"} <= set(header):
        at, value = header.index("component"), header.index("variance")
        cells = [(row[at], row[value]) for row in rows[1:] if len(row) == len(header)]
    elif len(rows) == 2 and len(rows[1]) == len(header):
        cells = list(zip(header, rows[1], strict=True))
    else:
        cells = []
    found: dict[str, float] = {}
    problems = []
    for name, cell in cells:
        component = re.sub(r"\s*\(.*|\s+x(?=\s)", "", name.strip().lower()).replace(" ", "_")
        if component not in COMPONENTS:
            continue
        number = number_in(cell)
        if number is None or not 0 <= number < math.inf:
            problems.append(f"{component}: {shown(cell)} is not a number of at least 0")
        else:
            found[component] = number
    if not found and not problems:
        problems.append(
            f"no variance components; expected the columns {', '.join(COMPONENTS)} with one row, or component and variance"
        )
    if problems:
        reject(file_name, problems)
    missing = [name for name in COMPONENTS if name not in found]
    note = f"{file_name} has no {', '.join(map(_words, missing))}: taken as 0."
    components = Components(**{name: found.get(name, 0.0) for name in COMPONENTS})
    return _possible(Basis(components, file_name, (note,) if missing else ()))


def _words(component: str) -> str:
    return component.replace("rater_question", "rater x question")


def panel_size(
    raters: Iterable[Rater], answers: Iterable[Answer], levels: Collection[str], *, ended: bool = False
) -> int:
    """How many raters a study has: those who count and have voted or, unless it has ended, still can.

    levels: of the main analysis.
    """
    voted = {one.rater_id for one in answers if one.answered and not one.repeat and one.level in levels}
    return sum(counts_at_all(one) and (one.rater_id in voted or not (ended or one.revoked)) for one in raters)


def design_options(design: Design, levels: Sequence[str], panel: int) -> PlanOptions:
    """What a design and its number of raters state: margin, level, score, raters and votes of each pair.

    levels: of the main analysis. panel: number of raters; 0: the usual numbers of raters are compared.
    """
    options = PlanOptions(
        margin=design.margin,
        confidence_level=None if design.margin is None else design.confidence_level,
        levels=len(levels),
        score=design.score,
    )
    if not panel:
        return options
    return replace(options, raters=(panel,), votes=min(design.votes_per_pair or panel, panel))


def study_options(store: Store, study: Study) -> PlanOptions:
    """What a study of pairs states for its plan: its design, and the raters that it has."""
    levels = main_levels(study.design, study.levels)
    answers = answers_of(store, study.study_id)
    panel = panel_size(raters_of(store, study.study_id), answers, levels, ended=study.state == "unblinded")
    return design_options(study.design, levels, panel)


def planned_sizes(components: Components, options: PlanOptions) -> tuple[Plan, ...]:
    """For each scope and number of raters, the fewest questions that reach what is wanted. Raises InputError.

    Every number of questions that Assay plans comes from here.
    """
    sizes = {"questions": options.questions, "votes": options.votes, "levels": options.levels}
    problems = [
        f"{name}: {value} is less than 1"
        for name, value in (*sizes.items(), *(("raters", one) for one in options.raters))
        if value is not None and value < 1
    ]
    if not options.raters:
        problems.append("raters: name at least one number")
    if not 0.5 < options.bound_level < 1:
        problems.append(f"confidence: {options.bound_level:g} is not between 0.5 and 1")
    if options.margin is not None and not 0 < options.margin < 2:
        problems.append(f"margin: {options.margin:g} is not {MARGIN_RANGE}")
    if options.questions is not None and not options.power is options.half_width is None:
        problems.append(
            "questions: a fixed number shows what it reaches; leave out the wanted power and half-width"
        )
    if problems:
        raise InputError("Invalid plan", problems)
    try:
        check_components(components, options.mean)
        return plans(
            components,
            raters=options.raters,
            composite=options.score == "composite",
            **_wanted(options),
            **sizes,  # type: ignore[arg-type]
        )
    except ValueError as problem:
        raise InputError("Invalid plan", [_as_option(problem)]) from problem


def _wanted(options: PlanOptions) -> dict[str, Any]:
    return {
        "margin": options.margin,
        "mean": options.mean,
        "confidence_level": options.bound_level,
        "power": options.wanted_power,
        "half_width": options.wanted_half_width,
    }


def question_range(options: PlanOptions) -> tuple[int | None, int | None]:
    """Fewest and most questions for a statement about these raters, if the components of a vote are unknown.

    options: with one number of raters. Over the ends of the ranges in ASSUMPTIONS and the defaults, each share of votes that
    choose a side with little, usual and much agreement. None: more than 10,000.
    """
    ranges = {one.name: (one.range[0], one.default, one.range[1]) for one in ASSUMPTIONS if one.range}
    decided = ranges.pop("decided")
    needed = [
        planned_sizes(
            stated(decided=share, **{name: values[at] for name, values in ranges.items()}).components, options
        )[0].questions
        for share, at in product(decided, range(3))
    ]
    known = [one for one in needed if one is not None]
    return min(known, default=None), None if None in needed else max(known)


def range_said(found: tuple[int | None, int | None]) -> str:
    """A range of numbers of questions in words."""
    low, high = found
    if low is None:
        return f"more than {MOST_QUESTIONS:,} questions"
    if high is None:
        return f"{low:,} to more than {MOST_QUESTIONS:,} questions"
    return f"{low:,} questions" if low == high else f"{low:,} to {high:,} questions"


def range_assumptions() -> str:
    """The assumptions behind a range, as a sentence."""
    named = [(one.label.lower(), *one.range) for one in ASSUMPTIONS if one.range]
    return f"The range covers: {'; '.join(f'{label} {low:g} to {high:g}' for label, low, high in named)}."


def plan_study(basis: Basis, options: PlanOptions) -> StudyPlan:
    """For each scope and number of raters, the fewest questions that reach what is wanted. Raises InputError."""
    found = planned_sizes(basis.components, options)
    asked_for = options.wanted_power or options.wanted_half_width
    needed = raters_needed(basis.components, **_wanted(options)) if asked_for else None
    made = StudyPlan(options, basis, found, needed, None)
    first = made.fewest(THESE)
    if options.score != "composite" or options.questions is not None or first is None or first.votes == 1:
        return made
    simpler = replace(options, score="net_preference", raters=(first.raters,), votes=first.votes)
    other = planned_sizes(basis.components, simpler)[0].questions
    return replace(made, net_preference=None if other == first.questions else other)


@dataclass(frozen=True)
class OwnSize:
    """The size of a new study like this one, from the votes of this one."""

    options: PlanOptions
    """With this study's raters."""
    source: str
    """Where the components come from, in words."""
    sizes: tuple[tuple[float | None, Plan], ...]
    """(wanted power; None: the half-width, plan), for each scope; empty if the components are undefined."""
    reason: str | None
    """Why they are."""
    questions_range: tuple[int | None, int | None] | None = None
    """Then: questions for these raters, over the usual range of assumptions; None without raters."""

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        options = self.options
        return {
            "source": self.source,
            **{name: getattr(options, name) for name in ("margin", "score", "levels")},
            "confidence_level": options.bound_level,
            "sizes": [
                {
                    "wanted_power": power,
                    "wanted_half_width": None if power is not None else options.wanted_half_width,
                    **asdict(plan),
                }
                for power, plan in self.sizes
            ],
            "questions_range": self.questions_range,
            "reason": self.reason,
        }


def own_size(record: StudyRecord, counted: Counted) -> OwnSize:
    """The size of a new study with the raters of this one, from the components of its votes that count."""
    people = [one for one in record.raters if one.rater_id in counted.raters]
    levels, questions = counted.levels, set(counted.questions.tolist())
    answers = [one for one in record.answers if one.item_id in questions]
    panel = panel_size(people, answers, levels, ended=True)
    options = design_options(record.study.design, levels, panel)
    source = f"study {shown(record.study.name)}"

    def undefined(reason: str) -> OwnSize:
        return OwnSize(options, source, (), reason, question_range(options) if panel else None)

    if len(set(counted.questions)) < FEWEST_QUESTIONS:
        return undefined(FEW_TO_PLAN)
    try:
        basis = of_votes(counted, source)
        wanted: tuple[float | None, ...] = RESULT_POWERS if options.margin is not None else (None,)
        sizes = tuple(
            (power, plan)
            for power in wanted
            for plan in planned_sizes(basis.components, replace(options, power=power))
        )
    except InputError as problem:
        return undefined("; ".join(problem.problems) or problem.what)
    return OwnSize(options, basis.source, sizes, None)


def _as_option(problem: ValueError) -> str:
    """An error of the statistics as a problem of the option it begins with: `power must be ...` is `power: must be ...`."""
    name, _, rest = str(problem).partition(" ")
    known = (
        {one.name for one in ASSUMPTIONS} | {field.name for field in fields(PlanOptions)} | set(COMPONENTS)
    )
    return f"{name.replace('confidence_level', 'confidence')}: {rest}" if name in known else str(problem)


def hours(votes: int) -> float:
    """Estimated hours for this many votes of all raters together."""
    return estimated_minutes(votes) / 60


def _minutes_each(plan: Plan) -> int | None:
    return None if plan.total_votes is None else estimated_minutes(math.ceil(plan.total_votes / plan.raters))


def _plan_json(plan: Plan) -> dict[str, Any]:
    total = plan.total_votes
    own = asdict(plan)
    return {**own, "hours": None if total is None else hours(total), "minutes_each": _minutes_each(plan)}


def plan_said(plan: StudyPlan) -> list[str]:
    """The smallest design of each scope, then what the numbers rest on."""
    options = plan.options
    found = [_scope_said(plan, scope) for scope in SCOPES]
    first = plan.fewest(THESE)
    if plan.net_preference is not None and first is not None and first.questions is not None:
        found.append(
            f"The score is the composite. With the net preference as score, {with_noun(first.raters, 'rater')} would need "
            f"{with_noun(plan.net_preference, 'question')} instead of {first.questions:,}."
        )
    aim = "both systems equally good" if options.mean == 0 else f"true mean vote {options.mean:g}"
    level = options.bound_level
    margin = (
        f"No margin, two-sided {100 * (2 * level - 1):.4g} % interval"
        if options.margin is None
        else f"Margin {options.margin:g}, confidence level {level:g}"
    )
    found.append(
        f"{margin}, {SCORE_NAMES[options.score]}, {aim}, "
        f"levels of a question: {options.levels}. Components of a vote: {plan.basis.source}."
    )
    parts = ", ".join(
        f"{_words(name)} {decimal(value)}" for name, value in asdict(plan.basis.components).items()
    )
    return [*found, f"Variance: {parts}.", *plan.basis.notes]


def _aims(power: float | None, half_width: float | None) -> str:
    """What is planned for, in words."""
    aims = [
        *([f"a power of {power:g}"] if power is not None else []),
        *([f"a half-width of {half_width:g}"] if half_width is not None else []),
    ]
    return " and ".join(aims)


def _hours_said(votes: int) -> str:
    full = round(hours(votes))
    return f"about {with_noun(full, 'hour')}" if hours(votes) >= 1 else "less than an hour"


def _scope_said(plan: StudyPlan, scope: Scope) -> str:
    options, first = plan.options, plan.fewest(scope)
    name = "For these raters" if scope == THESE else "For raters as a sample"
    if options.questions is not None and first is not None:
        size = f"{with_noun(options.questions, 'question')} and {with_noun(first.raters, 'rater')}"
        return f"{name}, {size} reach: {_reached_said(first, 3)}."
    if first is not None and first.questions is not None and first.total_votes is not None:
        aim = f"for {_aims(options.wanted_power, options.wanted_half_width)}"
        return (
            f"{name}, the fewest votes {aim}: {with_noun(first.questions, 'question')} and {with_noun(first.raters, 'rater')} with "
            f"{with_noun(first.votes, 'vote')} a pair. {with_noun(first.total_votes, 'vote')}, {_hours_said(first.total_votes)} in all."
        )
    reasons = [one.reason for one in plan.plans if one.scope == scope]
    if set(reasons) == {FEW_RATERS}:
        return f"{name}: no statement with fewer than {FEWEST_RATERS} raters."
    if RATER_FLOOR in reasons:
        enough = (
            "more than 200 raters" if plan.raters_needed is None else f"at least {plan.raters_needed} raters"
        )
        return f"{name}: out of reach with any number of questions, because raters are too few. It takes {enough}."
    return f"{name}: {next((one for one in reasons if one not in (None, FEW_RATERS)), OUT_OF_REACH)}."


def plan_table(plan: StudyPlan) -> ResultTable:
    """One row for each scope and number of raters."""
    return ResultTable(
        "plans",
        (
            Column("scope", "Valid for", names_row=True),
            Column("raters", "Raters"),
            Column("votes", "Votes a pair"),
            Column("levels", "Levels", shown=plan.options.levels > 1),
            Column("questions", "Questions"),
            Column("total_votes", "Votes in all"),
            Column("hours", "Hours in all", places=1),
            Column("minutes_each", "Minutes each"),
            Column("power", "Power", places=2),
            Column("half_width", "Half-width"),
            Column("reason", "Why not", shown=any(one.reason for one in plan.plans)),
        ),
        tuple(
            (
                one.scope,
                one.raters,
                one.votes,
                one.levels,
                one.questions,
                one.total_votes,
                None if one.total_votes is None else hours(one.total_votes),
                _minutes_each(one),
                one.power,
                one.half_width,
                one.reason or "",
            )
            for one in plan.plans
        ),
        title="What each number of raters needs"
        if plan.options.questions is None
        else f"What {plan.options.questions:,} questions reach",
        notes=(
            *(
                ("Raters as a sample: always the net preference (mean vote), as in the results.",)
                if plan.options.score == "composite"
                else ()
            ),
            "Power: probability that the lower bound is above the margin. Half-width: expected distance of the mean from its "
            "lower bound.",
            "Hours at 45 seconds a vote, without hidden repeats. Components from few votes are uncertain, and so is the plan.",
        ),
    )


def planned(
    pilot: Basis | None,
    assumed: Mapping[str, float],
    asked: Mapping[str, Any],
    study: str | None,
    open_database: Callable[[], Store],
) -> tuple[list[str], dict[str, Any], tuple[ResultTable, ResultTable]]:
    """Plan from what a user gives to the command or in a notebook: sentences, JSON, and both tables.

    pilot: components that were observed; None: the assumed ones. assumed: parameters of `stated`. asked: fields of PlanOptions. study:
    name of a study whose design gives the defaults, and whose progress is shown.
    """
    basis = pilot
    if basis is None and (study is None or assumed):
        mean = {"mean": asked["mean"]} if "mean" in asked else {}
        basis = stated(**assumed, **mean)
    if study is None:
        assert basis is not None
        chosen, progress = PlanOptions(levels=basis.levels or 1), None
    else:
        with open_database() as store:
            found = find_study(store, study)
            check_asks(found, ["levels", "preference"], "plan")
            basis = basis or basis_of_study(store, found, asked.get("mean", 0.0))
            progress = reached_so_far(store, found, basis, asked)
            chosen = study_options(store, found)
            if "raters" in asked:
                chosen = replace(chosen, votes=found.design.votes_per_pair)
    plan = plan_study(basis, replace(chosen, **asked))
    said = plan_said(plan)
    if progress is not None:
        facts = [name for name in STUDY_FACTS if name in asked]
        own = f", with its own {' and '.join(facts)}" if facts else ""
        said = [*said, "", f"Study {shown(study or '')}{own}:", *reached_said(progress)]
    as_json = {**plan.to_json(), "reached": None if progress is None else progress.to_json()}
    return said, as_json, (plan_table(plan), power_table(plan))


def basis_of_study(store: Store, study: Study, mean: float = 0.0) -> Basis:
    """The components of a study's own votes once it is unblinded and has enough of them; assumptions otherwise.

    mean: true mean vote to assume.
    """
    if study.state == "unblinded":
        record = released_record(store, study)
        counted = count(record, Filters())
        if len(set(counted.questions)) >= FEWEST_QUESTIONS:
            try:
                return of_votes(counted, f"study {shown(study.name)}")
            except InputError as problem:
                return replace(stated(mean=mean), notes=(problem.what,))
        return replace(stated(mean=mean), notes=(f"The study has {FEW_TO_PLAN}.",))
    return stated(mean=mean)


_POINTS = 24


def power_table(plan: StudyPlan) -> ResultTable:
    """Power against questions for each scope and number of raters, for the figure."""
    options = plan.options
    margin = options.margin
    planned = [one.questions for one in plan.plans if one.questions is not None]
    most = max(4 * FEWEST_QUESTIONS, *(2 * n for n in planned if n < 5_000), 0)
    step = (most / FEWEST_QUESTIONS) ** (1 / (_POINTS - 1))
    numbers = sorted({round(FEWEST_QUESTIONS * step**i) for i in range(_POINTS)})
    rows = []
    for one in plan.plans:
        if margin is None or (one.scope == SAMPLED and one.raters < FEWEST_RATERS):
            continue  # there is no power
        for n in numbers:
            power = power_of(
                plan.basis.components,
                Size(n, one.raters, one.votes, one.levels),
                margin=margin,
                mean=options.mean,
                confidence_level=options.bound_level,
                scope=one.scope,
                composite=options.score == "composite",
                least=True,
            )
            rows.append((one.scope, one.raters, one.votes, n, power))
    return ResultTable(
        "power",
        (
            Column("scope", "Valid for", names_row=True),
            Column("raters", "Raters"),
            Column("votes", "Votes a pair"),
            Column("questions", "Questions"),
            Column("power", "Power"),
        ),
        tuple(rows),
        title="Power against questions",
    )


@dataclass(frozen=True)
class Reached:
    """What a running study has reached and will reach, from counts and assumed components."""

    complete_pairs: int
    """Pairs of the main analysis with the votes they need."""
    pairs: int
    complete_questions: int
    """Questions all of whose pairs are complete."""
    questions: int
    raters: int
    """Raters with a vote that counts."""
    votes: int
    """Votes of a complete pair, rounded mean."""
    levels: int
    score: Score
    source: str
    now: tuple[Plan, ...]
    """What the complete questions reach, for each scope; empty without any."""
    whole: tuple[Plan, ...]
    """What all questions reach with all raters of the study; empty without raters."""
    needed: tuple[Plan, ...]
    """Questions needed for the wanted power and half-width, with all raters of the study."""
    questions_range: tuple[int | None, int | None] | None
    """Questions for these raters over the usual range of assumptions with equally good systems; None: the components are those of
    votes, or the systems are not assumed to be equally good."""
    margin: float | None
    assumed: bool = True
    """Whether nothing rests on votes of this study or another."""
    mean: float = 0.0
    """Assumed true mean vote."""
    wanted_power: float | None = None
    wanted_half_width: float | None = None

    def missing(self, scope: Scope) -> int | None:
        """Further complete questions needed; None if no number is enough."""
        needed = next((one.questions for one in self.needed if one.scope == scope), None)
        return None if needed is None else max(0, needed - self.complete_questions)

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        now, whole, needed = own.pop("now"), own.pop("whole"), own.pop("needed")
        scopes = {}
        for at, scope in enumerate(SCOPES if needed else ()):
            scopes[scope] = {
                "now": _numbers(now[at]) if now else None,
                "whole": _numbers(whole[at]),
                "questions_needed": needed[at].questions,
                "questions_missing": self.missing(scope),
                "reason": needed[at].reason,
            }
        return {**own, "scopes": scopes}


def _numbers(plan: Plan) -> dict[str, Any]:
    return {
        name: getattr(plan, name)
        for name in ("questions", "raters", "votes", "power", "half_width", "reason")
    }


def reached_so_far(
    store: Store, study: Study, basis: Basis | None = None, asked: Mapping[str, Any] | None = None
) -> Reached:
    """What a study has reached, without unblinding it. basis: default assumptions unless given.

    asked: fields of PlanOptions instead of the design's; STUDY_FACTS stay those of the study.

    Blindness: nothing here depends on what raters chose. The function reads which entries have an answer, never the choice
    and never the assignment of systems to sides, and the power rests on assumed components. So every number is the same
    if the two systems of any question change places, or if any vote is another one. Components estimated from the
    running study would not do: even those that ignore which system wins (mean squares of questions' scores) bound the
    distance of the mean from 0, and with few decided votes that gives the verdict away.
    """
    check_asks(study, ["levels", "preference"], "plan")
    basis = basis or stated()
    wanted = {name: value for name, value in (asked or {}).items() if name not in STUDY_FACTS}
    design, options = study.design, replace(study_options(store, study), **wanted)
    levels = main_levels(design, study.levels)
    people = [rater for rater in raters_of(store, study.study_id) if counts_at_all(rater)]
    counting = {rater.rater_id for rater in people}
    votes: Counter[tuple[str, str]] = Counter()
    flagged, voted = set(), set()
    for answer in answers_of(store, study.study_id):
        if answer.rater_id not in counting or answer.level not in levels:
            continue
        key = (answer.item_id, answer.level)
        if answer.invalid:
            flagged.add(key)
        if answer.answered and not answer.repeat:
            votes[key] += 1
            voted.add(answer.rater_id)
    enough = design.votes_needed or min(USUAL_VOTES, design.votes_per_pair or USUAL_VOTES)
    left_out = flagged if design.flagged == "leave_out" else set()
    complete = {key for key, n in votes.items() if n >= enough and key not in left_out}
    of_question = Counter(item for item, _ in complete)
    n_items = len(items_of(store, study.study_id))
    n_complete = sum(n == len(levels) for n in of_question.values())
    each = max(1, round(sum(votes[key] for key in complete) / len(complete))) if complete else enough
    as_wanted = replace(options, power=None, half_width=None)
    as_voted = replace(as_wanted, raters=(max(len(voted), each),), votes=each)
    components, has_raters = basis.components, options.votes is not None
    return Reached(
        len(complete),
        n_items * len(levels),
        n_complete,
        n_items,
        len(voted),
        each,
        options.levels,
        options.score,
        basis.source,
        planned_sizes(components, replace(as_voted, questions=n_complete)) if n_complete else (),
        planned_sizes(components, replace(as_wanted, questions=n_items)) if has_raters else (),
        planned_sizes(components, options) if has_raters else (),
        question_range(options) if basis.assumed and has_raters and not options.mean else None,
        options.margin,
        basis.assumed,
        options.mean,
        options.wanted_power,
        options.wanted_half_width,
    )


def reached_said(reached: Reached) -> list[str]:
    """What a study has reached, in sentences."""
    counts = f"Complete: {reached.complete_questions:,} of {reached.questions:,} questions"
    if reached.levels > 1:
        counts += f" ({reached.complete_pairs:,} of {reached.pairs:,} pairs)"
    if not reached.needed:
        return [f"{counts}."]
    equal = " if both systems are equally good" if reached.margin is not None else ""
    if reached.mean:
        equal = f" with a true mean vote of {reached.mean:g}"
    aims = _aims(reached.wanted_power, reached.wanted_half_width)
    aim, verb = f"{aims[0].upper()}{aims[1:]}", "need" if " and " in aims else "needs"
    said = [f"{counts}. Expected{equal}:"]
    for at, needed in enumerate(reached.needed):
        if needed.reason == FEW_RATERS:
            continue
        name = "For these raters" if needed.scope == THESE else "For raters as a sample"
        partly = reached.now and reached.now[at] != reached.whole[at]
        now = f"{_reached_said(reached.now[at])} now; " if partly else ""
        whole = f"{_reached_said(reached.whole[at])} with all {reached.questions:,} questions"
        if needed.questions is None:
            more = f"{aim}: {needed.reason}"
        else:
            more = f"{aim} {verb} {needed.questions:,} questions"
        said.append(f"{name}: {now}{whole}. {more}.")
    if reached.questions_range is not None:
        said.append(
            f"Other assumptions: {range_said(reached.questions_range)} for these raters. {range_assumptions()}"
        )
    if reached.assumed:
        said.append("These numbers use counts and assumptions, never what raters chose.")
    return said


def reached_in_short(reached: Reached) -> str:
    """How uncertain the result will be, in a sentence; empty where that is unknown."""
    widths = [
        plan.half_width for plan in reached.whole if plan.scope == THESE and plan.half_width is not None
    ]
    if not widths:
        return ""
    return (
        f"With these {with_noun(reached.questions, 'question')} the result will be uncertain by about {widths[0]:.2f} on a scale "
        "from -1 to 1."
    )


def _reached_said(plan: Plan, places: int = 2) -> str:
    """The power and the half-width that a size reaches."""
    if plan.power is None and plan.reason is not None:
        return f"no power ({plan.reason})"
    parts = [] if plan.power is None else [f"power {plan.power:.2f}"]
    parts += [] if plan.half_width is None else [f"half-width {plan.half_width:.{places}f}"]
    return ", ".join(parts) or "no half-width"
