"""The size that a study needs, from assumed components of a vote or those of votes.

One planner, `planned_sizes`, gives every number of questions: in the form of a new study, in Plan, in the progress and in the
results. They differ only in what they know: the components are assumed before the votes are unblinded, and the study's own after.
"""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from itertools import product
from typing import Any

from core.errors import InputError
from core.results.study.counted import Counted, Filters, count, counts_at_all
from core.schema.assumptions import ASSUMPTIONS
from core.schema.study import Answer, Design, Rater, Score, Study, StudyRecord
from core.stats.non_inferiority import FEWEST_QUESTIONS, MOST_QUESTIONS
from core.stats.planning import USUAL_RATERS, Plan, check_components, plans, stated_components
from core.stats.raters import COMPONENTS, FEWEST_RATERS, Components, variance_components
from core.stats.votes import preferences
from core.study.raters import check_asks
from core.tables.columns import delimiter_of, filled_rows
from core.tables.containers import decode
from core.tables.reading import number_in, reject, shown

USUAL_POWER = 0.8
RESULT_POWERS = (0.8, 0.9)
"""Powers for which the results of a study state the size of a new one."""
USUAL_HALF_WIDTH = 0.1
"""Wanted half-width of the interval without a margin."""
SYMMETRIC_LEVEL = 0.95
"""Without a margin: the one-sided level of each end of the two-sided 90 % interval."""
FEW_TO_PLAN = f"fewer than {FEWEST_QUESTIONS} questions: the components of a vote are hardly known"


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
class Aim:
    """What a plan is for, with what a study states filled in. Without power, half_width and questions, the wanted power is 0.8; without a margin, the half-width 0.1."""

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
    def wanted(self) -> dict[str, Any]:
        """What is wanted, as `stats.planning` calls it."""
        return {
            "margin": self.margin,
            "mean": self.mean,
            "confidence_level": self.bound_level,
            "power": self.wanted_power,
            "half_width": self.wanted_half_width,
        }

    @property
    def _nothing(self) -> bool:
        return self.power is self.half_width is self.questions is None


STUDY_FACTS = ("questions", "raters", "votes", "levels")
"""Fields of Aim of which a study has its own, whatever one plans for."""


@dataclass(frozen=True)
class Standing:
    """How far a study of pairs has come, from counts alone: nothing in it depends on what raters chose before it is unblinded."""

    study: Study
    levels: tuple[str, ...]
    """Of the main analysis."""
    panel: int
    """Raters that it has; see `panel_size`."""
    voted: int
    """Raters with a vote that counts."""
    complete_pairs: int
    """Pairs of the main analysis with the votes they need."""
    complete_questions: int
    """Questions all of whose pairs are complete."""
    questions: int
    votes: int
    """Votes of a complete pair, rounded mean."""
    own_basis: Basis | None = None
    """Components of its own votes, once it is unblinded and has enough of them."""
    why_not: tuple[str, ...] = ()
    """Why an unblinded study has none."""

    @property
    def aim(self) -> "Aim":
        """What the study states for its plan."""
        return design_options(self.study.design, self.levels, self.panel)


def stated(**assumptions: float) -> Basis:
    """Components from assumptions; see `stats.planning.stated_components`. Raises InputError."""
    own = {one.name: one.default for one in ASSUMPTIONS}
    with_mean = {**own, **assumptions}
    try:
        components = stated_components(**with_mean)
    except ValueError as problem:
        raise InputError("Components of a vote", [_field_problem(problem)]) from problem
    named = ", ".join(f"{one.label.lower()} {with_mean[one.name]:g}" for one in ASSUMPTIONS)
    return Basis(components, f"assumed ({named})", assumed=True)


def pilot_basis(record: StudyRecord) -> Basis:
    """Components of a study's votes. Raises InputError if they are undefined."""
    check_asks(record.study, ["levels", "preference"], "variance components of votes")
    return votes_basis(count(record, Filters()), f"study {shown(record.study.name)}")


def own_basis(record: StudyRecord) -> tuple[Basis | None, tuple[str, ...]]:
    """The components of an unblinded study's votes; None and why, where it has too few of them."""
    counted = count(record, Filters())
    if len(set(counted.questions)) < FEWEST_QUESTIONS:
        return None, (f"The study has {FEW_TO_PLAN}.",)
    try:
        return votes_basis(counted, f"study {shown(record.study.name)}"), ()
    except InputError as problem:
        return None, (problem.what,)


def votes_basis(counted: Counted, name: str) -> Basis:
    """Components of the votes that count in a study of this name. Raises InputError if they are undefined."""
    found = variance_components(preferences(counted.codes), counted.questions)
    if found.components is None:
        raise InputError(f"Pilot {name}: no variance components ({found.reason}). State them instead.")
    notes = [
        f"The pilot cannot separate {component_words(one)} from {component_words(into)}. Planning counts their sum as {component_words(into)}."
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


def file_basis(data: bytes, file_name: str) -> Basis:
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
    note = f"{file_name} has no {', '.join(map(component_words, missing))}: taken as 0."
    components = Components(**{name: found.get(name, 0.0) for name in COMPONENTS})
    return _possible(Basis(components, file_name, (note,) if missing else ()))


def panel_size(
    raters: Iterable[Rater], answers: Iterable[Answer], levels: Collection[str], *, ended: bool = False
) -> int:
    """How many raters a study has: those who count and have voted or, unless it has ended, still can.

    levels: of the main analysis.
    """
    voted = {one.rater_id for one in answers if one.answered and not one.repeat and one.level in levels}
    return sum(counts_at_all(one) and (one.rater_id in voted or not (ended or one.revoked)) for one in raters)


def design_options(design: Design, levels: Sequence[str], panel: int) -> Aim:
    """What a design and its number of raters state: margin, level, score, raters and votes of each pair.

    levels: of the main analysis. panel: number of raters; 0: the usual numbers of raters are compared.
    """
    options = Aim(
        margin=design.margin,
        confidence_level=None if design.margin is None else design.confidence_level,
        levels=len(levels),
        score=design.score,
    )
    if not panel:
        return options
    return replace(options, raters=(panel,), votes=min(design.votes_per_pair or panel, panel))


def planned_sizes(components: Components, options: Aim) -> tuple[Plan, ...]:
    """For each scope and number of raters, the fewest questions that reach what is wanted. Raises InputError.

    Every number of questions that Assay plans comes from here.
    """
    if options.questions is not None and not options.power is options.half_width is None:
        fixed = "questions: a fixed number shows what it reaches; leave out the wanted power and half-width"
        raise InputError("Invalid plan", [fixed])
    try:
        check_components(components, options.mean)
        return plans(
            components,
            raters=options.raters,
            questions=options.questions,
            votes=options.votes,
            levels=options.levels,
            composite=options.score == "composite",
            **options.wanted,
        )
    except ValueError as problem:
        raise InputError("Invalid plan", [_field_problem(problem)]) from problem


def question_range(options: Aim) -> tuple[int | None, int | None]:
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


def range_said(ends: tuple[int | None, int | None]) -> str:
    """A range of numbers of questions in words."""
    low, high = ends
    if low is None:
        return f"more than {MOST_QUESTIONS:,} questions"
    if high is None:
        return f"{low:,} to more than {MOST_QUESTIONS:,} questions"
    return f"{low:,} questions" if low == high else f"{low:,} to {high:,} questions"


def range_assumptions() -> str:
    """The assumptions behind a range, as a sentence."""
    named = [(one.label.lower(), *one.range) for one in ASSUMPTIONS if one.range]
    return f"The range covers: {'; '.join(f'{label} {low:g} to {high:g}' for label, low, high in named)}."


@dataclass(frozen=True)
class OwnSize:
    """The size of a new study like this one, from the votes of this one."""

    options: Aim
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
        basis = votes_basis(counted, source)
        wanted: tuple[float | None, ...] = RESULT_POWERS if options.margin is not None else (None,)
        sizes = tuple(
            (power, plan)
            for power in wanted
            for plan in planned_sizes(basis.components, replace(options, power=power))
        )
    except InputError as problem:
        return undefined("; ".join(problem.problems) or problem.what)
    return OwnSize(options, basis.source, sizes, None)


def _field_problem(problem: ValueError) -> str:
    """An error of the statistics as a problem of the field it begins with: `power must be ...` is `power: must be ...`."""
    name, _, rest = str(problem).partition(" ")
    known = {one.name for one in ASSUMPTIONS} | {field.name for field in fields(Aim)} | set(COMPONENTS)
    return f"{name}: {rest}" if name in known else str(problem)


def component_words(component: str) -> str:
    """A component in words."""
    return component.replace("rater_question", "rater x question")
