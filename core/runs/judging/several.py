"""Several runs of one judge on the same texts, one for each prompt and model: planned, created and worked off together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.errors import InputError, Problems
from core.formats.rated import ratings_of
from core.judges.pairwise import tells_levels
from core.results.check.facts import facts_of
from core.results.judges.costs import costs_side_by_side
from core.results.judges.prompts import NOTHING_TO_COMPARE_WITH, Tried, one_column
from core.runs.asked import Asked
from core.runs.costs import Estimate, cost_alone, estimate_all
from core.runs.jobs import RunAtHand
from core.runs.judging import judge_output, judged_among, judging_run
from core.runs.path import check_limit, create, find_same, resume
from core.runs.progress import Progress, progress_of, spoken_range
from core.runs.scoring import score_table
from core.schema.runs import RULES
from core.schema.scores import RatingSet, mask_notes
from core.schema.settings import Remark, Settings, fields_of
from core.store import Store
from core.store.runs import delete_run
from core.tables.columns import level_number
from core.tables.problems import listed
from core.tables.reading import shown

_MOST_OF_NAME = 80
_NOT_IN_NAMES = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True)
class Variant:
    """One of the judges to compare: a prompt, or several for the steps of one judge, with a model."""

    name: str
    """Tells it from the others, such as `rubric with gpt-4o`."""
    request: Asked
    running: Settings
    changed: Mapping[str, object] = field(default_factory=dict)
    """Processing settings that an earlier run of it gets, such as prices."""


def variants(made: Sequence[tuple[Asked, Settings]]) -> tuple[Variant, ...]:
    """Name the judges to compare by their prompts and models, and check that no two are the same.

    Raises InputError for fewer than two, and for two with the same settings, model and prompts.
    """
    problems = Problems()
    names = names_of([asked for asked, _ in made])
    seen: dict[object, str] = {}
    for (asked, _), name in zip(made, names, strict=True):
        key = (asked.settings, asked.model, tuple(sorted(_hashes(asked).items())), asked.attached)
        if (before := seen.setdefault(repr(key), name)) is not name:
            problems.append(f"{shown(before)} and {shown(name)} send the same to the same model")
    if problems:
        raise InputError("Each prompt and model may be named only once", problems)
    if len(made) < 2:
        raise InputError("Name at least two prompts, or two models, to compare.")
    return tuple(
        Variant(name, _called(asked, name), how) for (asked, how), name in zip(made, names, strict=True)
    )


def _hashes(request: Asked) -> dict[str, str]:
    return {purpose: prompt.sha256 for purpose, prompt in request.prompts_read.items()}


def prompt_names(judges: Sequence[Asked]) -> list[str]:
    """The prompts of each judge in which the judges differ, or all if they differ in none, ` + ` between them."""
    read = [one.prompts_read for one in judges]
    purposes = dict.fromkeys(purpose for own in read for purpose in own)
    differing = [
        purpose
        for purpose in purposes
        if len({own[purpose].sha256 if purpose in own else "" for own in read}) > 1
    ]
    found = []
    for own in read:
        of_these = [own[purpose] for purpose in differing or purposes if purpose in own]
        found.append([(one.name, one.sha256) for one in of_these])
    names = [" + ".join(name for name, _ in one) or RULES for one in found]
    # A file that was edited under the same name is another prompt.
    hashes: dict[str, set[str]] = {}
    for name, one in zip(names, found, strict=True):
        hashes.setdefault(name, set()).add(repr(one))
    return [
        f"{name} ({one[0][1][:8]})" if len(hashes[name]) > 1 and one else name
        for name, one in zip(names, found, strict=True)
    ]


def names_of(judges: Sequence[Asked]) -> list[str]:
    """A name for each judge from its prompts and its model, whichever differ."""
    prompts, models = prompt_names(judges), [one.model.short_name for one in judges]
    if len(set(models)) == 1:
        return prompts
    if len(set(prompts)) == 1:
        return models
    return [f"{prompt} with {model}" for prompt, model in zip(prompts, models, strict=True)]


def names_of_runs(runs: Sequence[RunAtHand]) -> list[str]:
    """The names of the runs' judges, with the run's number where two have the same."""
    names = names_of([run.request for run in runs])
    return [
        f"{name} (run {run.run.run_id})" if names.count(name) > 1 else name
        for name, run in zip(names, runs, strict=True)
    ]


def _called(request: Asked, name: str) -> Asked:
    """The judge with a name for lists of runs that contains its prompt."""
    if request.name:
        return request
    prompt = _NOT_IN_NAMES.sub("-", name.partition(" with ")[0]).strip("-")
    called = request.called if prompt in request.called else f"{request.called}-{prompt}"
    return replace(request, name=called[:_MOST_OF_NAME])


@dataclass(frozen=True)
class Planned:
    """A judge to compare and its run."""

    variant: Variant
    run: RunAtHand
    is_new: bool
    notes: tuple[Remark | str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the run has an answer, or a final reason for none, for every wanted item."""
        return is_whole(progress_of(self.run.store, self.run.run.run_id))


def is_whole(progress: Progress) -> bool:
    """Whether a run is done and has nothing left to try again."""
    return progress.state == "done" and not progress.n_again and progress.n_finished >= progress.run.n_wanted


def create_together(
    store: Store,
    data: bytes,
    file_name: str,
    plan: Sequence[Variant],
    limit: int | None = None,
    *,
    component: str | None = None,
    with_people: bool = False,
) -> tuple[Planned, ...]:
    """Find or create the run of each judge on this file; none is created if one cannot be, or if they could not be compared.

    An earlier run with the same request is taken whatever its name, with the processing settings in `changed`. component: see
    `tried`. with_people: whether ratings or votes are given beside the file; otherwise the texts need levels, or ratings of their own.
    limit: number of items; a run that has finished more keeps them. Raises InputError, also while a process works on one.
    """
    check_limit(limit, 0)
    found: list[Planned] = []
    try:
        for one in plan:
            try:
                run = find_same(store, data, one.request, named=False)
            except InputError:
                run, notes = create(store, data, file_name, one.request, one.running, limit)
                found.append(Planned(one, run, True, notes))
                continue
            done = progress_of(store, run.run.run_id).n_finished
            wanted = None if limit is None else max(limit, done)
            found.append(Planned(one, resume(run, run.running.but(**one.changed), wanted), False))
        runs = [one.run for one in found]
        _component(runs, component)
        if (
            not with_people
            and ratings_in(runs[0]) is None
            and not (scores_levels(runs) and _has_levels(runs[0]))
        ):
            raise InputError(NOTHING_TO_COMPARE_WITH)
    except InputError:
        for made in found:
            if made.is_new:
                delete_run(store, made.run.run.run_id)
        raise
    return tuple(found)


def scores_levels(runs: Sequence[RunAtHand]) -> bool:
    """Whether scores of different levels can be compared. A judge that compares answers of one level cannot tell levels apart."""
    return all(
        run.kind.reads != "pairs"
        or tells_levels((text.output for text in judged_among(run)), run.request.settings.between)
        for run in runs
    )


def _has_levels(run: RunAtHand) -> bool:
    outputs = [text.output for text in judged_among(run)]
    known = {level_number(output.level or "") for output in outputs}
    return len(known - {None}) > 1 and not mask_notes(output.system for output in outputs)


def work_through(
    plan: Sequence[RunAtHand], work: Callable[[RunAtHand], object]
) -> tuple[list[Progress], dict[int, str]]:
    """Work off the runs one after the other; returns where each stands, and why some did not start.

    work: processes one run to its end. A cancelled run ends the plan: those after it keep what they have. A run that is refused or
    stops early does not, because the next one may ask another model.
    """
    refused: dict[int, str] = {}
    for run in plan:
        number = run.run.run_id
        if is_whole(progress_of(run.store, number)):
            continue
        try:
            work(run)
        except InputError as problem:
            refused[number] = str(problem)
            continue
        if progress_of(run.store, number).state == "cancelled":
            return _progress(plan, refused), refused
    return _progress(plan, refused), refused


def _progress(plan: Sequence[RunAtHand], refused: Mapping[int, str]) -> list[Progress]:
    return [progress_of(run.store, run.run.run_id) for run in plan if run.run.run_id not in refused]


@dataclass(frozen=True)
class Forecast:
    """What all runs of a plan will cost together."""

    each: tuple[Estimate, ...]
    """One for each run, in the order of the plan."""
    calls: int | None
    """None: unknown for one of the runs."""
    input_tokens: int | None
    output_tokens: int | None
    money: float | None
    seconds_low: float | None
    """Of all runs one after the other."""
    seconds_high: float | None
    spread: float | None
    """Calls, tokens and money can differ by this share. All runs judge the same items, so their errors do not cancel out."""

    @property
    def time(self) -> str | None:
        """The range of the time in words; None: unknown."""
        if self.seconds_low is None or self.seconds_high is None:
            return None
        return spoken_range(self.seconds_low, self.seconds_high)


def forecast(runs: Sequence[RunAtHand]) -> Forecast:
    """Add up what the runs will cost, each estimated from its finished items."""
    each = tuple(estimate_all(run, progress_of(run.store, run.run.run_id)) for run in runs)

    def total(field: str) -> Any:
        values = [getattr(one, field) for one in each]
        return None if not values or None in values else sum(values)

    calls = total("calls")
    spreads = [one.spread for one in each]
    spread = None
    if calls and None not in spreads:
        spread = sum((one.spread or 0.0) * (one.calls or 0) for one in each) / calls
    return Forecast(
        each,
        calls,
        total("input_tokens"),
        total("output_tokens"),
        total("money"),
        total("seconds_low"),
        total("seconds_high"),
        spread,
    )


def components_of(runs: Sequence[RunAtHand]) -> tuple[str, ...]:
    """The columns that all judges have, in the order of the first one; a judge with a single column has the component ``."""
    per_run = [components_in(run) for run in runs]
    return tuple(one for one in per_run[0] if all(one in own for own in per_run))


def _component(runs: Sequence[RunAtHand], asked: str | None) -> str:
    """The column to compare. Raises InputError if it, or any, is not a column of all judges."""
    shared = components_of(runs)
    if asked is not None and asked not in shared:
        raise InputError(
            f"There is no column {shown(asked)} that all these judges have. Choose from "
            f"{listed([one or 'score' for one in shared])}."
        )
    if not shared:
        raise InputError("These judges have no column in common.")
    return shared[0] if asked is None else asked


def components_in(run: RunAtHand) -> dict[str, str]:
    """Component -> its metric's name: what follows the judge's name there."""
    called = run.request.called
    return {metric.name.removeprefix(called).lstrip("-"): metric.name for metric in run.metrics}


Prices = Mapping[str, tuple[float | None, float | None]]
"""Model -> price of a million input tokens and of a million output tokens; None: as its run states."""


def tried(
    runs: Sequence[RunAtHand], component: str | None = None, prices: Prices | None = None
) -> tuple[tuple[Tried, ...], str, tuple[str, ...]]:
    """The runs as `core.results.judges.prompts.compare_prompts` takes them, the compared component, and notes.

    component: None for the first that all have. prices: used in place of those that the runs state. Raises InputError for runs that judge no texts or are of different kinds, for a run
    named twice, and for an unknown component.
    """
    numbers = [run.run.run_id for run in runs]
    if len(set(numbers)) < len(numbers):
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        raise InputError(f"{listed([f'run:{number}' for number in twice])}: named twice. Name each run once.")
    kinds = list(dict.fromkeys(judging_run(run).kind.name for run in runs))
    if len(kinds) > 1:
        raise InputError(
            f"These runs are of several kinds: {listed(kinds)}. Compare judges of different kinds with `check` or `which`."
        )
    shared, chosen = components_of(runs), _component(runs, component)
    asked = [run.request for run in runs]
    names, prompts = names_of_runs(runs), prompt_names(asked)
    found = tuple(
        _tried(run, name, prompt, components_in(run)[chosen], prices or {})
        for run, name, prompt in zip(runs, names, prompts, strict=True)
    )
    notes = [*_setting_notes(asked), *_file_notes(runs)]
    others = [one for one in shared if one != chosen]
    if others and component is None:
        notes.append(f"Compared: {chosen}. These judges also have {listed(others)}.")
    return found, chosen, tuple(notes)


def _tried(run: RunAtHand, name: str, prompt: str, metric: str, prices: Prices) -> Tried:
    cost = cost_alone(run)
    model = run.request.model.short_name
    asked_in, asked_out = prices.get(model, (None, None))
    cost = replace(
        cost,
        input_price=cost.input_price if asked_in is None else asked_in,
        output_price=cost.output_price if asked_out is None else asked_out,
    )
    row = costs_side_by_side([cost])[-1]
    facts = facts_of([metric], cost, judge_output(run), is_free=run.request.by_rules)
    return Tried(
        name,
        prompt,
        model,
        one_column(score_table(run), metric, name),
        facts[metric],
        row,
        run.run.run_id,
    )


def ratings_in(run: RunAtHand) -> RatingSet | None:
    """The ratings of people in the run's own file; None if it has none, or if the judge reads texts without ratings."""
    if run.kind.reads != "rated texts" or not any(text.ratings for text in run.contents.texts):
        return None
    return ratings_of(run.contents)


def _setting_notes(judges: Sequence[Asked]) -> list[str]:
    """Settings other than prompts and model in which the judges differ: they change scores, too."""
    differing = [
        one.about.label
        for of in ("settings", "model")
        for name, one in fields_of(type(getattr(judges[0], of))).items()
        if name not in ("model", "backend", "base_url")
        and one.about.scored
        and len({repr(getattr(getattr(judge, of), name)) for judge in judges}) > 1
    ]
    if len({judge.attached for judge in judges}) > 1:
        file = judges[0].kind.attachment
        differing.append(file.label if file else "file")
    return [f"These judges also differ in {listed(differing)}."] if differing else []


def _file_notes(runs: Sequence[RunAtHand]) -> list[str]:
    if len({run.run.data_sha256 for run in runs}) == 1:
        return []
    return ["These runs judged different files; only the texts that all of them scored are compared."]


def unfinished_notes(runs: Sequence[RunAtHand]) -> list[str]:
    """A sentence for each run that is not done."""
    found = [progress_of(run.store, run.run.run_id) for run in runs]
    return [
        f"Run {one.run.run_id} is {one.state}: {one.n_done + one.n_failed:,} of {one.run.n_wanted:,} items are finished."
        for one in found
        if not is_whole(one)
    ]
