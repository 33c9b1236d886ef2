"""A run of a judge that stands on ratings, before it costs anything: whether the file and the task have what it needs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from core.datasets.mqm_weights import weight_of
from core.datasets.reading import shown
from core.errors import InputError
from core.judges.class_examples import HeldOut
from core.judges.example_ratings import weighs_its_errors
from core.judges.examples import ExamplePool
from core.judges.quality_rating import hold_out
from core.judges.settings import MERGED, AutoMqmSettings, DirectSettings, QualitySettings
from core.runs.judge_settings import JudgeSettings
from core.runs.judging import task_of
from core.runs.rated_judging import pool_of
from core.runs.rated_settings import shows_examples
from core.runs.rated_texts import judged_among, systems_wanted
from core.schema import RULES, RatedKind
from core.schema.rated import RatedSet, RatedText
from core.schema.tasks import Dimension, RatingTask

MOST_NAMED = 10
"""Systems, raters or dimensions that a message names."""
USUAL_TASKS: Mapping[RatedKind, str] = {"automqm": "mqm", "direct": "direct", "quality": "multilingual"}
"""Kind of judge -> the shipped task that it is asked unless another is chosen."""
_UNSHOWN = {
    False: "a severity that the task has not: no model is shown them",
    True: "a severity without an MQM weight: a text in which the Parrot repeats one gets no score",
}
"""Whether rules judge -> what is wrong with some errors, and what comes of it."""
_HOW = "give ratings with --ratings, or name a file that has them"


def suits(kind: RatedKind, task: RatingTask, dimension: str = "") -> bool:
    """Whether a judge of this kind can be asked for what the task asks of raters. dimension: that it is to score."""
    if kind == "automqm":
        return task.spans is not None
    names = [one.name for one in task.dimensions]
    if kind == "direct":
        return dimension in names if dimension else bool(names)
    return bool(names) and all(one.classes for one in task.dimensions)


def check_task(settings: JudgeSettings) -> None:
    """Raise InputError where the task does not ask for what this judge gives."""
    task, chosen = task_of(settings), settings.of_kind
    problems = []
    if isinstance(chosen, AutoMqmSettings) and task.spans is None:
        problems.append(f"--task: {task.name} marks no errors, which is what this judge does; choose mqm")
    if isinstance(chosen, DirectSettings):
        names = [one.name for one in task.dimensions]
        if not names:
            problems.append(f"--task: {task.name} has no dimension to score; choose direct")
        elif chosen.dimension not in names:
            there = _listed(names)
            problems.append(
                f"--dimension: {shown(chosen.dimension)} is none of the task {task.name}: {there}"
            )
    if isinstance(chosen, QualitySettings):
        if not task.dimensions:
            problems.append(f"--task: {task.name} has no dimension to score; choose multilingual")
        elif chosen.shots and not all(one.classes for one in task.dimensions):
            endless = [one.name for one in task.dimensions if not one.classes]
            problems.append(f"--shots: needs classes to show examples of, and {_listed(endless)} has none")
    if problems:
        raise InputError("The run cannot start", problems)


def check_rated(settings: JudgeSettings, rated: RatedSet) -> tuple[str, ...]:
    """What a user should know of a file of rated texts before it costs anything.

    Raises InputError, with everything that is missing in the file for what was asked, and how to give it.
    """
    pool = pool_of(settings, rated.texts) if shows_examples(settings.of_kind) else None
    problems = list(_systems_problems(settings, rated))
    held_out = None
    if isinstance(settings.of_kind, QualitySettings) and settings.of_kind.shots:
        held_out = hold_out(settings.of_kind, task_of(settings), rated.texts)
        problems += _shots_problems(held_out, settings, rated)
    bare: Sequence[RatedText] = ()
    if pool is not None and not (found := _pool_problems(settings, pool, rated)):
        bare = _without_examples(settings, pool, rated)
        if len(bare) == len(judged_among(settings, rated.texts)) and not problems:
            problems.append(
                "--examples: no text has a rated text of another system beside it, so that there is nothing to show; "
                f"{_HOW}, or choose --examples none"
            )
    elif pool is not None:
        problems += found
    if problems:
        raise InputError(f"{shown(rated.file_name)} does not fit what was asked", problems)
    notes = list(_notes(settings, rated, pool, len(bare)))
    if held_out is not None:
        notes += _held_out_notes(held_out, settings, rated)
    return tuple(notes)


def _systems_problems(settings: JudgeSettings, rated: RatedSet) -> Iterator[str]:
    systems = list(dict.fromkeys(text.output.system for text in rated.texts))
    for name in systems_wanted(settings):
        if name not in systems:
            yield f"--only: {shown(name)} has no text in the file; there are {_listed(systems)}"


def _shots_problems(held_out: HeldOut, settings: JudgeSettings, rated: RatedSet) -> Iterator[str]:
    there = _dimensions_in(rated)
    if lacking := [one.name for one in task_of(settings).dimensions if one.name not in there]:
        yield f"--shots: nobody rated {_listed(lacking)}{_instead(there)}: {_HOW}"
    elif not held_out.items:
        yield (
            "--shots: no task and language has two rated items, so that none can be held out for examples and another "
            "be judged; give more items, or no --shots"
        )


def _held_out_notes(held_out: HeldOut, settings: JudgeSettings, rated: RatedSet) -> Iterator[str]:
    """What is held out, and where that leaves too little: to be judged, or to be shown."""
    n_items = len({text.output.item_id for text in rated.texts})
    yield (
        f"{len(held_out.items):,} of {n_items:,} items are held out for examples: their texts get no score, with that reason"
    )
    judged = [text for text in rated.texts if text.output.item_id not in held_out.items]
    languages = dict.fromkeys(text.output.language for text in rated.texts)
    if gone := [one for one in languages if all(text.output.language != one for text in judged)]:
        # Items that are there in several languages are held out of all, and may be all that one of them has.
        yield f"every item of {_listed(gone)} is held out: no text of it gets a score"
    without: list[str] = []
    bare: set[int] = set()
    for dimension in task_of(settings).dimensions:
        examples = [held_out.shown(text, dimension) for text in judged]
        bare.update(n for n, own in enumerate(examples) if not own)
        there = {held_out.label(one, dimension)[0] for one in chain.from_iterable(examples)}
        if lacking := [f"{one:g}" for one in dimension.classes if one not in there]:
            without.append(f"{dimension.name} {', '.join(lacking)}")
    if bare:
        yield (
            f"{len(bare):,} of the {len(judged):,} texts to be judged get no examples, at least on some dimension: none of "
            "their language and task is held out"
        )
    if without:
        yield f"classes that no example has: {_listed(without, '; ')}"


def _pool_problems(settings: JudgeSettings, pool: ExamplePool, rated: RatedSet) -> list[str]:
    """Why the file's ratings cannot be this judge's examples."""
    chosen = settings.of_kind
    assert isinstance(chosen, AutoMqmSettings | DirectSettings)
    if not pool.n_texts():
        what = "marked errors in a text"
        if isinstance(chosen, DirectSettings):
            what = f"rated {_off_scale(task_of(settings).dimension(chosen.dimension), rated)}"
        return [f"--examples: nobody {what}: {_HOW}, or choose --examples none"]
    if chosen.rater != MERGED and chosen.rater not in pool.raters:
        there = (
            f"there are {_listed(pool.raters)}" if pool.raters else "its ratings name no rater; leave it out"
        )
        return [f"--rater: {shown(chosen.rater)} rated nothing of the kind in the file; {there}"]
    unknown = _unknown_severities(settings, pool)
    if unknown and unknown == pool.severities(chosen.rater):
        return [
            f"--task: all errors marked in the file ({_listed(list(unknown))}) have {_UNSHOWN[settings.backend == RULES]}; "
            "choose a task with these severities, or rename them in the file"
        ]
    return []


def _off_scale(dimension: Dimension, rated: RatedSet) -> str:
    """What nobody rated, and what was found in its place."""
    name = shown(dimension.name)
    what = f"{name} on the task's scale from {dimension.lowest:g} to {dimension.highest:g}"
    own = [one for text in rated.texts for one in text.ratings if one.dimension == dimension.name]
    if not own:
        return what + _instead(_dimensions_in(rated))
    scores = [one.score for one in own]
    found = f"the file's {len(own):,} ratings of {name} go from {min(scores):g} to {max(scores):g}"
    if all(map(weighs_its_errors, own)):
        found += " and are MQM scores, minus the weights of marked errors"
    return f"{what} ({found})"


def _unknown_severities(settings: JudgeSettings, pool: ExamplePool) -> dict[str, int]:
    """Severity -> errors marked in examples that no model is shown, as the task lacks it, or that the Parrot cannot weigh."""
    spans = task_of(settings).spans
    if not isinstance(settings.of_kind, AutoMqmSettings) or spans is None:
        return {}
    found = pool.severities(settings.of_kind.rater)
    if settings.backend == RULES:
        return {one: n for one, n in found.items() if weight_of("", one) is None}
    offered = {one.casefold() for one in spans.severities}
    return {one: n for one, n in found.items() if one.casefold() not in offered}


def _without_examples(settings: JudgeSettings, pool: ExamplePool, rated: RatedSet) -> list[RatedText]:
    """The judged texts beside which nobody rated a text of another system: every variant shows them nothing."""
    chosen = settings.of_kind
    assert isinstance(chosen, AutoMqmSettings | DirectSettings)
    judged = judged_among(settings, rated.texts)
    return [text for text in judged if not pool.examples_for(text, variant="specialist", rater=chosen.rater)]


def _notes(settings: JudgeSettings, rated: RatedSet, pool: ExamplePool | None, n_bare: int) -> Iterator[str]:
    judged, chosen = judged_among(settings, rated.texts), settings.of_kind
    assert isinstance(chosen, AutoMqmSettings | DirectSettings | QualitySettings)
    of = f"of the {len(judged):,} texts to be judged"
    if others := len(rated.texts) - len(judged):
        serve = "; those that are rated serve as examples" if pool is not None else ""
        yield f"{others:,} texts of other systems are not judged{serve}"
    if pool is not None and isinstance(chosen, AutoMqmSettings | DirectSettings):
        if n_rated := sum(bool(text.ratings) for text in judged):
            yield (
                f"{n_rated:,} {of} are rated themselves: whatever a system wrote is held out of the examples for its texts"
            )
        if n_bare:
            yield f"{n_bare:,} {of} have no rated text of another system beside them: they get no examples"
        yield from pool.notes(chosen.examples, rater=chosen.rater, seed=chosen.seed)
        if unknown := _unknown_severities(settings, pool):
            n_errors = sum(pool.severities(chosen.rater).values())
            yield (
                f"{sum(unknown.values()):,} of the {n_errors:,} errors marked in examples ({_listed(list(unknown))}) have "
                + _UNSHOWN[settings.backend == RULES]
            )
    if chosen.repeats > 1 and not _differs(settings):
        yield f"{chosen.repeats} repeats " + (
            "say the same by construction and show nothing: their examples are the same"
            if settings.backend == RULES
            else "at temperature 0 ask for the same answer again: choose a --temperature above 0"
        )


def _differs(settings: JudgeSettings) -> bool:
    """Whether a repeat may say something else than the first: examples are drawn anew, or answers by chance."""
    chosen = settings.of_kind
    assert isinstance(chosen, AutoMqmSettings | DirectSettings | QualitySettings)
    drawn = isinstance(chosen, AutoMqmSettings | DirectSettings) and (
        chosen.examples in ("shuffled", "fixed")
        or (chosen.examples == "specialist" and chosen.n_examples > 0)
    )
    return drawn or (settings.backend != RULES and chosen.temperature > 0)


def _dimensions_in(rated: RatedSet) -> list[str]:
    return list(dict.fromkeys(rating.dimension for text in rated.texts for rating in text.ratings))


def _instead(there: Sequence[str]) -> str:
    return f" (rated are {_listed(there)})" if there else ""


def _listed(names: Sequence[str], between: str = ", ") -> str:
    named = between.join(map(shown, names[:MOST_NAMED]))
    return f"{named} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else named
