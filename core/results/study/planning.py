"""The size that a study needs, and what a running one has reached, from assumed components or those of a pilot."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass, fields, replace
from typing import Any

from core.errors import InputError
from core.results.cells import decimal
from core.results.study.counted import Filters, count, counts_at_all
from core.schema.result_table import Column, ResultTable
from core.schema.study import Score, Study, StudyRecord
from core.stats.non_inferiority import FEWEST_QUESTIONS
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
from core.study.analysis_set import SCORE_NAMES, USUAL_VOTES, main_levels
from core.study.design import estimated_minutes
from core.study.raters import check_asks
from core.tables.columns import delimiter_of, filled_rows
from core.tables.containers import decode
from core.tables.reading import number_in, reject, shown

PLAN_TABLES = ("plans", "power")
"""Names of the tables of a plan, the main one first."""
USUAL_POWER = 0.8


@dataclass(frozen=True)
class Assumption:
    """A number from which components of a vote are stated; the command's option and the page's field."""

    name: str
    """Parameter of `stats.planning.stated_components`."""
    default: float
    label: str
    help: str


ASSUMPTIONS = (
    Assumption(
        "decided", 0.5, "Votes that choose a side", "share of votes that choose one of the two answers"
    ),
    Assumption(
        "question_correlation",
        0.3,
        "Alike within a question",
        "correlation of two raters' votes on two levels of a question: 0 if questions do not matter",
    ),
    Assumption("agreement", 0.4, "Agreement on a pair", "correlation of two raters' votes on one pair"),
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


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What to plan for. Without power, half_width and questions, the wanted power is 0.8."""

    margin: float = 0.1
    confidence_level: float = 0.90
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
    def wanted_power(self) -> float | None:
        """The wanted power, with its default."""
        nothing = self.half_width is None and self.questions is None
        return USUAL_POWER if self.power is None and nothing else self.power


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
            **{name: asked[name] for name in ("mean", "margin", "confidence_level", "score", "levels")},
            "wanted": {
                "power": self.options.wanted_power,
                "half_width": self.options.half_width,
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
    return Basis(components, f"assumed ({named})")


def of_pilot(record: StudyRecord) -> Basis:
    """Components of a study's votes. Raises InputError if they are undefined."""
    check_asks(record.study, ["levels", "preference"], "variance components of votes")
    counted = count(record, Filters())
    found = variance_components(preferences(counted.codes), counted.questions)
    name = f"study {shown(record.study.name)}"
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
    rows = list(filled_rows(text, delimiter_of(text)))
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


def design_options(study: Study) -> PlanOptions:
    """Margin, confidence level, levels and score of a study's design; the usual margin if it declares none."""
    design = study.design
    return PlanOptions(
        margin=PlanOptions.margin if design.margin is None else design.margin,
        confidence_level=design.confidence_level,
        levels=len(main_levels(design, study.levels)),
        score=design.score,
    )


def plan_study(basis: Basis, options: PlanOptions) -> StudyPlan:
    """For each scope and number of raters, the fewest questions that reach what is wanted. Raises InputError."""
    wanted = {
        "margin": options.margin,
        "mean": options.mean,
        "confidence_level": options.confidence_level,
        "power": options.wanted_power,
        "half_width": options.half_width,
    }
    sizes = {"questions": options.questions, "votes": options.votes, "levels": options.levels}
    problems = [
        f"{name}: {value} is less than 1"
        for name, value in (*sizes.items(), *(("raters", one) for one in options.raters))
        if value is not None and value < 1
    ]
    if not options.raters:
        problems.append("raters: name at least one number")
    if not 0.5 < options.confidence_level < 1:
        problems.append(f"confidence: {options.confidence_level:g} is not between 0.5 and 1")
    if not 0 < options.margin < 2:
        problems.append(f"margin: {options.margin:g} is not between 0 and 2")
    if problems:
        raise InputError("Invalid plan", problems)
    composite = options.score == "composite"
    try:
        check_components(basis.components, options.mean)
        found = plans(basis.components, raters=options.raters, composite=composite, **wanted, **sizes)  # type: ignore[arg-type]
        asked_for = options.wanted_power or options.half_width
        needed = raters_needed(basis.components, **wanted) if asked_for else None  # type: ignore[arg-type]
    except ValueError as problem:
        raise InputError("Invalid plan", [_as_option(problem)]) from problem
    made = StudyPlan(options, basis, found, needed, None)
    first = made.fewest(THESE)
    if not composite or options.questions is not None or first is None or first.votes == 1:
        return made
    (other, *_) = plans(basis.components, raters=(first.raters,), **wanted, **{**sizes, "votes": first.votes})  # type: ignore[arg-type]
    return replace(made, net_preference=other.questions)


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
    if plan.net_preference is not None and (first := plan.fewest(THESE)) is not None:
        found.append(
            f"The score is the composite. With the net preference as score, {first.raters} raters would need "
            f"{plan.net_preference:,} questions instead of {first.questions:,}."
        )
    aim = "both systems equally good" if options.mean == 0 else f"true mean vote {options.mean:g}"
    found.append(
        f"Margin {options.margin:g}, confidence level {options.confidence_level:g}, {SCORE_NAMES[options.score]}, {aim}, "
        f"levels of a question: {options.levels}. Components of a vote: {plan.basis.source}."
    )
    parts = ", ".join(
        f"{_words(name)} {decimal(value)}" for name, value in asdict(plan.basis.components).items()
    )
    return [*found, f"Variance: {parts}.", *plan.basis.notes]


def _scope_said(plan: StudyPlan, scope: Scope) -> str:
    options, first = plan.options, plan.fewest(scope)
    name = "For these raters" if scope == THESE else "For raters as a sample"
    if options.questions is not None and first is not None:
        power = f"no power ({first.reason})" if first.power is None else f"power {first.power:.2f}"
        width = "" if first.half_width is None else f", half-width {first.half_width:.3f}"
        return f"{name}, {options.questions:,} questions and {first.raters} raters reach: {power}{width}."
    if first is not None and first.questions is not None and first.total_votes is not None:
        aims = [
            *([f"a power of {options.wanted_power:g}"] if options.wanted_power is not None else []),
            *([f"a half-width of {options.half_width:g}"] if options.half_width is not None else []),
        ]
        aim = f"for {' and '.join(aims)}"
        return (
            f"{name}, the fewest votes {aim}: {first.questions:,} questions and {first.raters} raters with {first.votes} votes a "
            f"pair. {first.total_votes:,} votes, about {hours(first.total_votes):.0f} hours in all."
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
    if basis is None:
        mean = {"mean": asked["mean"]} if "mean" in asked else {}
        basis = stated(**assumed, **mean)
    chosen, progress = PlanOptions(levels=basis.levels or 1), None
    if study is not None:
        with open_database() as store:
            found = find_study(store, study)
            progress = reached_so_far(store, found, basis)
            chosen = design_options(found)
    plan = plan_study(basis, replace(chosen, **asked))
    said = plan_said(plan)
    if progress is not None:
        said = [*said, "", f"Study {shown(study or '')}:", *reached_said(progress)]
    as_json = {**plan.to_json(), "reached": None if progress is None else progress.to_json()}
    return said, as_json, (plan_table(plan), power_table(plan))


_POINTS = 24


def power_table(plan: StudyPlan) -> ResultTable:
    """Power against questions for each scope and number of raters, for the figure."""
    options = plan.options
    planned = [one.questions for one in plan.plans if one.questions is not None]
    most = max(4 * FEWEST_QUESTIONS, *(2 * n for n in planned if n < 5_000), 0)
    step = (most / FEWEST_QUESTIONS) ** (1 / (_POINTS - 1))
    numbers = sorted({round(FEWEST_QUESTIONS * step**i) for i in range(_POINTS)})
    rows = []
    for one in plan.plans:
        if one.scope == SAMPLED and one.raters < FEWEST_RATERS:
            continue
        for n in numbers:
            power = power_of(
                plan.basis.components,
                Size(n, one.raters, one.votes, one.levels),
                margin=options.margin,
                mean=options.mean,
                confidence_level=options.confidence_level,
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
    """Questions needed for a power of 0.8 with all raters of the study."""

    def missing(self, scope: Scope) -> int | None:
        """Further complete questions needed for a power of 0.8; None if no number is enough."""
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


def reached_so_far(store: Store, study: Study, basis: Basis | None = None) -> Reached:
    """What a study has reached, without unblinding it. basis: default assumptions unless given.

    Blindness: nothing here depends on what raters chose. The function reads which entries have an answer, never the choice
    and never the assignment of systems to sides, and the power rests on assumed components. So every number is the same
    if the two systems of any question change places, or if any vote is another one. Components estimated from the
    running study would not do: even those that ignore which system wins (mean squares of questions' scores) bound the
    distance of the mean from 0, and with few decided votes that gives the verdict away.
    """
    check_asks(study, ["levels", "preference"], "plan")
    basis = basis or stated()
    design, options = study.design, design_options(study)
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
    asked: dict[str, Any] = {
        "margin": options.margin,
        "confidence_level": options.confidence_level,
        "levels": options.levels,
        "composite": options.score == "composite",
    }
    panel = {rater.rater_id for rater in people if not rater.revoked} | voted
    given = min(design.votes_per_pair or len(panel), len(panel))
    as_designed = {**asked, "raters": (len(panel),), "votes": given}
    as_voted = {**asked, "raters": (max(len(voted), each),), "votes": each}
    components = basis.components
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
        plans(components, questions=n_complete, **as_voted) if n_complete else (),
        plans(components, questions=n_items, **as_designed) if panel else (),
        plans(components, power=USUAL_POWER, **as_designed) if panel else (),
    )


def reached_said(reached: Reached) -> list[str]:
    """What a study has reached, in sentences."""
    counts = f"Complete: {reached.complete_questions:,} of {reached.questions:,} questions"
    if reached.levels > 1:
        counts += f" ({reached.complete_pairs:,} of {reached.pairs:,} pairs)"
    if not reached.needed:
        return [f"{counts}."]
    said = [f"{counts}. Expected if both systems are equally good:"]
    for at, needed in enumerate(reached.needed):
        if needed.reason == FEW_RATERS:
            continue
        name = "For these raters" if needed.scope == THESE else "For raters as a sample"
        partly = reached.now and reached.now[at] != reached.whole[at]
        now = f"{_power_said(reached.now[at])} now; " if partly else ""
        whole = f"{_power_said(reached.whole[at])} with all {reached.questions:,} questions"
        if needed.questions is None:
            more = f"A power of {USUAL_POWER:g}: {needed.reason}"
        else:
            more = f"A power of {USUAL_POWER:g} needs {needed.questions:,} questions"
        said.append(f"{name}: {now}{whole}. {more}.")
    said.append("These numbers use counts and assumptions, never what raters chose.")
    return said


def _power_said(plan: Plan) -> str:
    power = f"no power ({plan.reason})" if plan.power is None else f"power {plan.power:.2f}"
    return (
        power
        if plan.half_width is None or plan.power is None
        else f"{power}, half-width {plan.half_width:.2f}"
    )
