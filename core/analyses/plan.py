"""The size of a study: questions, raters and votes for a wanted power or half-width, and what a running study has reached."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from core.schema.analysis import Analysis, Table, Tell, Verdict
from core.schema.assumptions import VoteAssumptions, bound_level_setting, margin_setting
from core.schema.figures import AnyFigure, Axis, Lines
from core.schema.rows import column, entry, row
from core.schema.settings import Remark, setting

if TYPE_CHECKING:
    from core.results.study.planning import Aim, Basis, Standing
    from core.stats.planning import Plan

_SCOPES: Mapping[str, str] = {
    "these raters": "For these raters",
    "raters as a sample": "For raters as a sample",
}
"""What a statement is about (`stats.planning.SCOPES`) -> how its sentence begins."""
_POINTS = 24
"""Numbers of questions on a line of the figure."""


class PlanOptions(VoteAssumptions):
    """What to plan for. What is empty is as a study states it, or as usual."""

    margin: float | None = margin_setting(
        "non-inferiority margin; sensible values are 0.05 to 0.3 on the scale from -1 to 1",
        "0.1, or the study's",
    )
    confidence_level: float | None = bound_level_setting(
        "Confidence level",
        "level of the one-sided lower bound",
        "0.90; for a study without a margin 0.95, the two-sided 90 % interval",
        folded=True,
    )
    mean: float = setting(
        0.0,
        "True mean vote",
        "true mean vote; 0: equally good systems",
        within=(-1, 1),
        step=0.05,
        folded=True,
    )
    power: float | None = setting(
        None,
        "Wanted power",
        "wanted probability that the lower bound is above the margin",
        above=0,
        below=1,
        step=0.05,
        words={"": "0.8, without a half-width"},
    )
    half_width: float | None = setting(
        None,
        "Wanted half-width",
        "wanted distance of the mean from its lower bound",
        above=0,
        at_most=2,
        metavar="W",
        step=0.01,
        words={"": "none; 0.1 for a study without a margin"},
    )
    questions: int | None = setting(
        None,
        "Questions",
        "show what so many questions reach, instead of {power} and {half_width}",
        at_least=1,
        metavar="N",
        words={"": "as many as are needed"},
    )
    raters: tuple[int, ...] | None = setting(
        None,
        "Numbers of raters to compare",
        "numbers of raters to compare",
        at_least=1,
        listed=True,
        metavar="J,J",
        words={"": "2,3,5,8,12,20, or the study's"},
    )
    votes: int | None = setting(
        None,
        "Votes a pair",
        "votes a pair",
        at_least=1,
        metavar="K",
        words={"": "all raters, or as the study states"},
    )
    levels: int | None = setting(
        None,
        "Levels of a question",
        "levels of a question in the main analysis",
        at_least=1,
        metavar="L",
        words={"": "1, or those of the study or the pilot"},
    )
    score: Literal["composite", "net_preference"] | None = setting(
        None,
        "Score of a pair",
        "score of a pair",
        words={
            "": "composite, or the study's",
            "composite": "composite score",
            "net_preference": "net preference",
        },
    )


@row
class ComponentsRow:
    """Variance components of a vote."""

    rater: float = entry("between raters")
    question: float = entry("between questions")
    rater_question: float = entry("a rater's own view of a question")
    pair: float = entry("between levels of a question")
    residual: float = entry("all that is left")


@row
class WantedRow:
    """What was asked for."""

    power: float | None = entry("probability that the lower bound is above the margin")
    half_width: float | None = entry("distance of the mean from its lower bound")
    questions: int | None = entry("a fixed number of questions")


@row
class PlanRow:
    """What a number of raters needs, or why no number of questions is enough."""

    scope: str = column("these raters, or raters as a sample", title="Valid for", names_row=True)
    raters: int = column("number of raters", title="Raters")
    votes: int = column("votes a pair", title="Votes a pair")
    levels: int = column("pairs of a question in the main analysis", title="Levels")
    questions: int | None = column("fewest questions, or the fixed number", title="Questions")
    total_votes: int | None = column("votes of all raters, without hidden repeats", title="Votes in all")
    hours: float | None = column("of all raters, at 45 seconds a vote", title="Hours in all", places=1)
    minutes_each: int | None = column("of one rater", title="Minutes each")
    power: float | None = column("power that is reached", title="Power", places=2)
    half_width: float | None = column("half-width that is reached", title="Half-width")
    reason: str | None = column("why something is missing", title="Why not")


@row
class PowerRow:
    """The power of a number of questions."""

    scope: str = column("these raters, or raters as a sample", title="Valid for", names_row=True)
    raters: int = column("number of raters", title="Raters")
    votes: int = column("votes a pair", title="Votes a pair")
    questions: int = column("number of questions", title="Questions")
    power: float = column("probability that the lower bound is above the margin", title="Power")


@row
class SizeReached:
    """What a size of a study reaches."""

    questions: int | None = entry("number of questions")
    raters: int = entry("number of raters")
    votes: int = entry("votes a pair")
    power: float | None = entry("probability that the lower bound is above the margin")
    half_width: float | None = entry("distance of the mean from its lower bound")
    reason: str | None = entry("why something is missing")


@row
class ScopeReached:
    """What a study reaches in one sense."""

    scope: str = entry("these raters, or raters as a sample", key="")
    now: SizeReached | None = entry("with its complete questions; null without any", rows=SizeReached)
    whole: SizeReached = entry("with all its questions and raters", rows=SizeReached)
    questions_needed: int | None = entry("questions for what is wanted, with all its raters")
    questions_missing: int | None = entry("further complete questions; null if no number is enough")
    reason: str | None = entry("why no number is enough")


@row
class Reached:
    """What a running study has reached and will reach, from counts and assumed components."""

    complete_pairs: int = entry("pairs of the main analysis with the votes that they need")
    pairs: int = entry("pairs of the main analysis")
    complete_questions: int = entry("questions all of whose pairs are complete")
    questions: int = entry("questions of the study")
    raters: int = entry("raters with a vote that counts")
    votes: int = entry("votes of a complete pair, rounded mean")
    levels: int = entry("levels of the main analysis")
    score: str = entry("score of a pair")
    source: str = entry("where the components come from")
    questions_range: tuple[int | None, int | None] | None = entry(
        "fewest and most questions for these raters over the usual range of assumptions, each null above 10,000; null: the "
        "components come from votes, or a mean is assumed"
    )
    margin: float | None = entry("non-inferiority margin, of the options or else the study")
    assumed: bool = entry("whether no votes are behind the components")
    mean: float = entry("assumed true mean vote")
    wanted_power: float | None = entry("wanted power, of the options or as usual")
    wanted_half_width: float | None = entry("wanted half-width, of the options or as usual")
    scopes: tuple[ScopeReached, ...] = entry(
        "what is reached, by what it is valid for; empty without raters", rows=ScopeReached, keyed_by="scope"
    )


@row
class StudyPlan:
    """Designs that reach what is wanted, or what a design reaches."""

    source: str = entry("where the variance components of a vote come from")
    components: ComponentsRow = entry("their values", rows=ComponentsRow)
    mean: float = entry("assumed true mean vote")
    margin: float | None = entry("non-inferiority margin; null: none, so there is no power")
    score: str = entry("score of a pair: composite or net_preference")
    levels: int = entry("levels of a question in the main analysis")
    confidence_level: float = entry(
        "one-sided level of the lower bound; without a margin that of each end of the two-sided interval"
    )
    wanted: WantedRow = entry("what was asked for", rows=WantedRow)
    plans: tuple[PlanRow, ...] = entry("the rows of the table `plans`", rows=PlanRow)
    raters_needed: int | None = entry(
        "fewest raters with which raters as a sample can reach it; null: more than 200, or nothing is wanted"
    )
    notes: tuple[str, ...] = entry("remarks on a pilot or on the study's votes")
    reached: Reached | None = entry("with a study: what it has reached", rows=Reached)
    power: tuple[PowerRow, ...]
    net_preference: int | None
    """Questions that the smallest design for these raters would need with the net preference as score; None: that is the score, or it
    makes no difference."""
    study: str
    """Name of the study, with what is not its own; empty without one."""

    def fewest(self, scope: str) -> PlanRow | None:
        """The design with the fewest votes."""
        found = [one for one in self.plans if one.scope == scope and one.total_votes is not None]
        return min(found, key=lambda one: one.total_votes or 0, default=None)


def compute(
    options: PlanOptions, pilot: "Basis | None", study: "Standing | None", *, tell: Tell
) -> StudyPlan:
    """For each scope and number of raters, find the fewest questions that reach what is wanted.

    pilot: components that were observed; None: the study's own once it is unblinded, else those that are assumed. study: gives the
    defaults, and what it has reached is shown. Raises SettingsError with all problems.
    """
    from dataclasses import replace

    from core.errors import InputError
    from core.results.study.planning import STUDY_FACTS, stated
    from core.tables.reading import shown

    clash = "leave it out, the components come from {pilot}"
    ANALYSIS.refuse([Remark(name, clash) for name in (options.stated if pilot is not None else ())])
    tell("planning")
    asked = _asked(options)
    try:
        basis = pilot
        if basis is None and study is not None and study.own_basis is not None and not options.stated:
            basis = study.own_basis
        elif basis is None:
            notes = study.why_not if study is not None and not options.stated else ()
            basis = replace(stated(**options.stated, mean=options.mean), notes=notes)
        aim = _stated_aim(basis, study, asked)
        reached = None if study is None else reached_by(study, basis, asked)
        planned = _planned(basis, replace(aim, **asked), reached)
    except InputError as problem:
        ANALYSIS.refuse(_remarks(problem.problems))
        raise
    if study is None:
        return planned
    facts = [name for name in STUDY_FACTS if name in asked]
    own = f", with its own {' and '.join(facts)}" if facts else ""
    return replace(planned, study=f"Study {shown(study.study.name)}{own}:")


def _stated_aim(basis: "Basis | None", study: "Standing | None", asked: Mapping[str, Any]) -> "Aim":
    """What a study, or the components, state for the plan. asked: options that have a value."""
    from dataclasses import replace

    from core.results.study.planning import Aim

    if study is None:
        return Aim(levels=(None if basis is None else basis.levels) or 1)
    if "raters" in asked:  # other raters than the study's share its questions as its design says
        return replace(study.aim, votes=study.study.design.votes_per_pair)
    return study.aim


def _planned_values(
    given: Mapping[str, Any], pilot: "Basis | None", study: "Standing | None"
) -> dict[str, object]:
    """What is planned for where an option is empty: what the study states, or as usual."""
    from dataclasses import replace

    wanted = {name: given[name] for name in ("margin", "power", "half_width", "questions") if name in given}
    aim = replace(_stated_aim(pilot, study, given), **wanted)
    return {
        "margin": aim.margin,
        "confidence_level": aim.bound_level,
        "power": aim.wanted_power,
        "half_width": aim.wanted_half_width,
        "raters": aim.raters,
        "votes": aim.votes or "all raters",
        "levels": aim.levels,
        "score": aim.score,
    }


def _asked(options: PlanOptions) -> dict[str, Any]:
    """Field of Aim -> its value, of those that the options state."""
    names = (
        "margin",
        "confidence_level",
        "mean",
        "power",
        "half_width",
        "questions",
        "votes",
        "levels",
        "score",
    )
    asked = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.raters is not None:
        asked["raters"] = tuple(dict.fromkeys(options.raters))
    return asked


def _remarks(problems: Any) -> list[Remark]:
    """Problems of the planner as remarks: it names the field at their beginning, and the statistics other fields by their names."""
    fields = PlanOptions.model_fields
    found = []
    for one in map(str, problems):
        name, _, text = one.partition(": ")
        if name not in fields:
            name, text = "", one
        for other in fields:
            if "_" in other:
                text = text.replace(other, f"{{{other}}}")
        found.append(Remark(name, text))
    return found


def _planned(basis: "Basis", aim: "Aim", reached: Reached | None) -> StudyPlan:
    from dataclasses import asdict, replace

    from core.results.study.planning import planned_sizes
    from core.stats.planning import THESE, raters_needed

    found = planned_sizes(basis.components, aim)
    wanted = aim.wanted_power or aim.wanted_half_width
    made = StudyPlan(
        source=basis.source,
        components=ComponentsRow(**asdict(basis.components)),
        mean=aim.mean,
        margin=aim.margin,
        score=aim.score,
        levels=aim.levels,
        confidence_level=aim.bound_level,
        wanted=WantedRow(aim.wanted_power, aim.wanted_half_width, aim.questions),
        plans=tuple(map(_plan_row, found)),
        raters_needed=raters_needed(basis.components, **aim.wanted) if wanted else None,
        notes=basis.notes,
        reached=reached,
        power=_power_rows(basis, aim, found),
        net_preference=None,
        study="",
    )
    first = made.fewest(THESE)
    if aim.score != "composite" or aim.questions is not None or first is None or first.votes == 1:
        return made
    simpler = replace(aim, score="net_preference", raters=(first.raters,), votes=first.votes)
    other = planned_sizes(basis.components, simpler)[0].questions
    return replace(made, net_preference=None if other == first.questions else other)


def _plan_row(plan: "Plan") -> PlanRow:
    import math
    from dataclasses import asdict

    from core.study.design import estimated_minutes

    total = plan.total_votes
    return PlanRow(
        **asdict(plan),
        hours=None if total is None else _hours(total),
        minutes_each=None if total is None else estimated_minutes(math.ceil(total / plan.raters)),
    )


def _hours(votes: int) -> float:
    """Estimated hours for this many votes of all raters together."""
    from core.study.design import estimated_minutes

    return estimated_minutes(votes) / 60


def _power_rows(basis: "Basis", aim: "Aim", plans: "tuple[Plan, ...]") -> tuple[PowerRow, ...]:
    """Power against questions for each scope and number of raters; none without a margin."""
    from core.stats.non_inferiority import FEWEST_QUESTIONS
    from core.stats.planning import SAMPLED, Size, power_of
    from core.stats.raters import FEWEST_RATERS

    sizes = [one.questions for one in plans if one.questions is not None]
    most = max(4 * FEWEST_QUESTIONS, *(2 * n for n in sizes if n < 5_000), 0)
    step = (most / FEWEST_QUESTIONS) ** (1 / (_POINTS - 1))
    numbers = sorted({round(FEWEST_QUESTIONS * step**i) for i in range(_POINTS)})
    rows = []
    for one in plans:
        if aim.margin is None or (one.scope == SAMPLED and one.raters < FEWEST_RATERS):
            continue  # there is no power
        for n in numbers:
            power = power_of(
                basis.components,
                Size(n, one.raters, one.votes, one.levels),
                margin=aim.margin,
                mean=aim.mean,
                confidence_level=aim.bound_level,
                scope=one.scope,
                composite=aim.score == "composite",
                least=True,
            )
            rows.append(PowerRow(one.scope, one.raters, one.votes, n, power))
    return tuple(rows)


def reached_by(
    standing: "Standing", basis: "Basis | None" = None, changes: Mapping[str, Any] | None = None
) -> Reached:
    """What a study has reached, without unblinding it. basis: the usual assumptions by default.

    changes: fields of Aim instead of the design's; STUDY_FACTS stay those of the study.

    Blindness: nothing here depends on what raters chose. A standing counts which entries have an answer, never the choice and
    never the assignment of systems to sides, and the power rests on assumed components. So every number is the same if the two systems
    of any question change places, or if any vote is another one. Components estimated from the running study would not do: even
    those that ignore which system wins (mean squares of questions' scores) bound the distance of the mean from 0, and with few decided
    votes that gives the verdict away.
    """
    from dataclasses import replace

    from core.results.study.planning import STUDY_FACTS, planned_sizes, question_range, stated

    basis = basis or stated()
    wanted = {name: value for name, value in (changes or {}).items() if name not in STUDY_FACTS}
    aim = replace(standing.aim, **wanted)
    components, has_raters, n_complete = basis.components, aim.votes is not None, standing.complete_questions
    open_aim = replace(aim, power=None, half_width=None)
    as_voted = replace(open_aim, raters=(max(standing.voted, standing.votes),), votes=standing.votes)
    now = planned_sizes(components, replace(as_voted, questions=n_complete)) if n_complete else ()
    whole = planned_sizes(components, replace(open_aim, questions=standing.questions)) if has_raters else ()
    needed = planned_sizes(components, aim) if has_raters else ()
    return Reached(
        complete_pairs=standing.complete_pairs,
        pairs=standing.questions * len(standing.levels),
        complete_questions=n_complete,
        questions=standing.questions,
        raters=standing.voted,
        votes=standing.votes,
        levels=aim.levels,
        score=aim.score,
        source=basis.source,
        questions_range=question_range(aim) if basis.assumed and has_raters and not aim.mean else None,
        margin=aim.margin,
        assumed=basis.assumed,
        mean=aim.mean,
        wanted_power=aim.wanted_power,
        wanted_half_width=aim.wanted_half_width,
        scopes=tuple(
            ScopeReached(
                scope=one.scope,
                now=_size(now[at]) if now else None,
                whole=_size(whole[at]),
                questions_needed=one.questions,
                questions_missing=None if one.questions is None else max(0, one.questions - n_complete),
                reason=one.reason,
            )
            for at, one in enumerate(needed)
        ),
    )


def _size(plan: "Plan") -> SizeReached:
    return SizeReached(plan.questions, plan.raters, plan.votes, plan.power, plan.half_width, plan.reason)


def _verdicts(found: StudyPlan) -> tuple[Verdict, ...]:
    return tuple(_verdict(found, scope, name) for scope, name in _SCOPES.items())


def _verdict(found: StudyPlan, scope: str, name: str) -> Verdict:
    from core.errors import counted
    from core.stats.planning import FEW_RATERS, OUT_OF_REACH, RATER_FLOOR
    from core.stats.raters import FEWEST_RATERS

    first, fixed = found.fewest(scope), found.wanted.questions
    if fixed is not None and first is not None:
        size = f"{counted(fixed, 'question')} and {counted(first.raters, 'rater')}"
        return Verdict("reaches", f"{name}, {size} reach: {_numbers_said(first, 3)}.")
    if first is not None and first.questions is not None and first.total_votes is not None:
        aim = f"for {_aims(found.wanted.power, found.wanted.half_width)}"
        hours = _hours(first.total_votes)
        about = f"about {counted(round(hours), 'hour')}" if hours >= 1 else "less than an hour"
        return Verdict(
            "planned",
            f"{name}, the fewest votes {aim}: {counted(first.questions, 'question')} and {counted(first.raters, 'rater')} with "
            f"{counted(first.votes, 'vote')} a pair. {counted(first.total_votes, 'vote')}, {about} in all.",
        )
    reasons = [one.reason for one in found.plans if one.scope == scope]
    if set(reasons) == {FEW_RATERS}:
        said = f"{name}: no statement with fewer than {FEWEST_RATERS} raters."
        return Verdict("undefined", said, reason=FEW_RATERS)
    if RATER_FLOOR in reasons:
        more = found.raters_needed
        enough = "more than 200 raters" if more is None else f"at least {more} raters"
        said = f"{name}: out of reach with any number of questions, because raters are too few. It takes {enough}."
        return Verdict("out-of-reach", said)
    why = next((one for one in reasons if one not in (None, FEW_RATERS)), OUT_OF_REACH)
    return Verdict("out-of-reach", f"{name}: {why}.")


def _aims(power: float | None, half_width: float | None) -> str:
    """What is planned for, in words."""
    aims = [
        *([f"a power of {power:g}"] if power is not None else []),
        *([f"a half-width of {half_width:g}"] if half_width is not None else []),
    ]
    return " and ".join(aims)


def _numbers_said(size: PlanRow | SizeReached, places: int = 2) -> str:
    """The power and the half-width that a size reaches."""
    if size.power is None and size.reason is not None:
        return f"no power ({size.reason})"
    parts = [] if size.power is None else [f"power {size.power:.2f}"]
    parts += [] if size.half_width is None else [f"half-width {size.half_width:.{places}f}"]
    return ", ".join(parts) or "no half-width"


def _sentences(found: StudyPlan) -> tuple[str, ...]:
    """What the numbers rest on, then what the study has reached."""
    from core.errors import counted
    from core.results.cells import decimal
    from core.results.study.planning import component_words
    from core.schema.rows import json_of
    from core.stats.planning import THESE
    from core.study.analysis_set import SCORE_NAMES

    first = found.fewest(THESE)
    said = []
    if found.net_preference is not None and first is not None and first.questions is not None:
        said.append(
            f"The score is the composite. With the net preference as score, {counted(first.raters, 'rater')} would need "
            f"{counted(found.net_preference, 'question')} instead of {first.questions:,}."
        )
    aim = "both systems equally good" if found.mean == 0 else f"true mean vote {found.mean:g}"
    level = found.confidence_level
    margin = (
        f"No margin, two-sided {100 * (2 * level - 1):.4g} % interval"
        if found.margin is None
        else f"Margin {found.margin:g}, confidence level {level:g}"
    )
    score = SCORE_NAMES["composite" if found.score == "composite" else "net_preference"]
    said.append(
        f"{margin}, {score}, {aim}, levels of a question: {found.levels}. Components of a vote: {found.source}."
    )
    parts = (f"{component_words(name)} {decimal(value)}" for name, value in json_of(found.components).items())
    reached = [] if found.reached is None else ["", found.study, *reached_said(found.reached)]
    return (*said, f"Variance: {', '.join(parts)}.", *found.notes, *reached)


def reached_said(reached: Reached) -> list[str]:
    """What a study has reached, in sentences."""
    from core.results.study.planning import range_assumptions, range_said
    from core.stats.planning import FEW_RATERS

    counts = f"Complete: {reached.complete_questions:,} of {reached.questions:,} questions"
    if reached.levels > 1:
        counts += f" ({reached.complete_pairs:,} of {reached.pairs:,} pairs)"
    if not reached.scopes:
        return [f"{counts}."]
    equal = " if both systems are equally good" if reached.margin is not None else ""
    if reached.mean:
        equal = f" with a true mean vote of {reached.mean:g}"
    aims = _aims(reached.wanted_power, reached.wanted_half_width)
    aim, verb = f"{aims[0].upper()}{aims[1:]}", "need" if " and " in aims else "needs"
    said = [f"{counts}. Expected{equal}:"]
    for one in reached.scopes:
        if one.reason == FEW_RATERS:
            continue
        partly = one.now is not None and one.now != one.whole
        now = f"{_numbers_said(one.now)} now; " if one.now is not None and partly else ""
        whole = f"{_numbers_said(one.whole)} with all {reached.questions:,} questions"
        if one.questions_needed is None:
            more = f"{aim}: {one.reason}"
        else:
            more = f"{aim} {verb} {one.questions_needed:,} questions"
        said.append(f"{_SCOPES[one.scope]}: {now}{whole}. {more}.")
    if reached.questions_range is not None:
        said.append(
            f"Other assumptions: {range_said(reached.questions_range)} for these raters. {range_assumptions()}"
        )
    if reached.assumed:
        said.append("These numbers use counts and assumptions, never what raters chose.")
    return said


def reached_in_short(reached: Reached) -> str:
    """How uncertain the result will be, in a sentence; empty where that is unknown."""
    from core.errors import counted
    from core.stats.planning import THESE

    widths = [one.whole.half_width for one in reached.scopes if one.scope == THESE]
    if not widths or widths[0] is None:
        return ""
    return (
        f"With these {counted(reached.questions, 'question')} the result will be uncertain by about {widths[0]:.2f} on a scale "
        "from -1 to 1."
    )


def _notes(found: StudyPlan) -> tuple[str, ...]:
    composite = ("Raters as a sample: always the net preference (mean vote), as in the results.",)
    return (
        *(composite if found.score == "composite" else ()),
        "Power: probability that the lower bound is above the margin. Half-width: expected distance of the mean from its "
        "lower bound.",
        "Hours at 45 seconds a vote, without hidden repeats. Components from few votes are uncertain, and so is the plan.",
    )


def _hidden(found: StudyPlan) -> tuple[str, ...]:
    named = () if found.levels > 1 else ("levels",)
    return named if any(one.reason for one in found.plans) else (*named, "reason")


def _heading(found: StudyPlan) -> str:
    fixed = found.wanted.questions
    return "What each number of raters needs" if fixed is None else f"What {fixed:,} questions reach"


def _figures(found: StudyPlan) -> tuple[AnyFigure, ...]:
    if not found.power:
        return ()
    return (
        Lines(
            table="power",
            alt="Power against questions, one line for each number of raters",
            instead=True,
            x="questions",
            y="power",
            by="raters",
            x_axis=Axis("questions"),
            y_axis=Axis("power", 0, 1.02),
            across=found.wanted.power,
            panel="scope",
        ),
    )


ANALYSIS = Analysis(
    name="plan",
    title="Plan",
    question="How many questions, raters and votes does a study need?",
    Options=PlanOptions,
    Result=StudyPlan,
    takes=("pilot", "standing"),
    compute=compute,
    in_use=_planned_values,
    verdicts=_verdicts,
    codes={
        "planned": "a number of questions reaches what is wanted; the row with the fewest votes is named",
        "reaches": "what a fixed number of questions reaches",
        "out-of-reach": "no number of questions up to 10,000 reaches it, or the raters are too few for any",
        "undefined": "there is no statement about raters as a sample, because they are fewer than 5",
    },
    refuses="For assumptions that contradict each other, and a pilot without variance components.",
    sentences=_sentences,
    figures=_figures,
    section="inference#planner",
    misleads="Assumptions are not estimates, and components of a small pilot are uncertain.",
    example="""
>>> import assay
>>> found = assay.plan(power=0.8, raters=[3, 12], score="net_preference")
>>> int(found.frame.loc[0, "questions"])
137
""",
    tables=(
        Table(
            "plans",
            PlanRow,
            lambda found: found.plans,
            "What each number of raters needs",
            heading=_heading,
            notes=_notes,
            hidden=_hidden,
            marked=lambda found: () if found.wanted.questions else [found.fewest(scope) for scope in _SCOPES],
            mark="the fewest votes",
        ),
        Table(
            "power",
            PowerRow,
            lambda found: found.power,
            "Power against questions",
            "How does the power grow with the number of questions?",
            most_printed=0,
        ),
    ),
)
