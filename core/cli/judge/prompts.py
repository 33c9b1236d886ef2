"""`judge prompts`: several prompts or models on the same texts, from the runs to one table."""

import argparse
import contextlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.cli.judge.running import GIVEN, Given, add_run, attached_file
from core.cli.judge.verbs import checked_intervals
from core.cli.shared.giving import Said, add_result_options, give
from core.cli.shared.options import (
    Commands,
    add_database_option,
    add_json_option,
    add_pair_option,
    existing_store,
    make_folder,
    named_numbers,
    print_notes,
)
from core.cli.shared.run_options import requested_run, running_given
from core.cli.shared.running import check_folder, exec_in_environment, run_or_delete, telling
from core.cli.shared.sources import HUMAN_NAMES, add_interval_options, check_database, reading_of
from core.errors import AssayError, InputError, Problems, counted, nearest_names
from core.installation import COMMAND
from core.joining.panel import panel_of
from core.judges.kind import JudgeKind
from core.report import file_of
from core.results.judges.prompts import (
    PROMPTS_TABLE,
    PromptsCompared,
    compare_prompts,
    prompts_json,
    prompts_table,
)
from core.runs.asked import Asked, environment_for
from core.runs.jobs import RunAtHand
from core.runs.judging.several import (
    Prices,
    Variant,
    create_together,
    forecast,
    is_whole,
    ratings_in,
    scores_levels,
    tried,
    unfinished_notes,
    variants,
    work_through,
)
from core.runs.kinds import KINDS, kinds_that
from core.runs.path import at_hand, find_same, written
from core.schema.analysis import PanelChoice
from core.schema.settings import Settings, as_option, said
from core.sources.named import RunSource, parse_source, parse_sources
from core.sources.panel import panel_beside
from core.sources.people import people_of
from core.store import Store, database_path, open_store
from core.tables.files import write_file
from core.tables.reading import shown

_N_RESAMPLES = 2_000
NO_RATINGS = "--dimension: there are no ratings. Name them with --human, or leave it out."
_NOT_IN_FOLDERS = re.compile(r"[^\w.+-]+")


def add_prompts(verbs: Commands) -> None:
    """Register `judge prompts`."""
    command = verbs.add_parser(
        PROMPTS_TABLE,
        help="compare prompts or models on the same texts: runs what is missing, then one table",
    )
    command.add_argument(
        "what",
        metavar="KIND|run:N",
        help=f"a kind of judge ({', '.join(kind.verb or kind.name for kind in _kinds().values())}), or a run to compare",
    )
    command.add_argument(
        "rest",
        nargs=argparse.REMAINDER,
        metavar="TEXTS --prompt A --prompt B --model X --out DIR ... | run:N ...",
        help="texts and options of the kind, where --prompt and --model may be repeated (see `prompts KIND --help`), or further runs",
    )
    command.set_defaults(run=_prompts, json=False)


def _kinds() -> Mapping[str, JudgeKind]:
    """Verb -> kind of judge."""
    return {kind.verb or kind.name: kind for kind in kinds_that("judging") if isinstance(kind, JudgeKind)}


def _prompts(options: argparse.Namespace) -> None:
    if isinstance(parse_source(options.what), RunSource):
        _of_runs([options.what, *options.rest])
        return
    kind = _kinds().get(options.what) or KINDS.get(options.what)
    if not isinstance(kind, JudgeKind):
        near = nearest_names(options.what, set(_kinds()))
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(
            f"{shown(options.what)} is neither run:N nor a kind of judge: {', '.join(_kinds())}.{meant}"
        )
    command = argparse.ArgumentParser(
        prog=f"{COMMAND} judge prompts {options.what}",
        description=f"Compare prompts or models: {kind.summary}",
    )
    add_run(command, kind, GIVEN[kind.reads], several=True)
    _add_comparing(command)
    if not any(one.dest == "json" for one in command._actions):
        add_json_option(command)
    _of_kind(command.parse_args(options.rest), kind, GIVEN[kind.reads])


def _add_comparing(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("comparison")
    group.add_argument(
        "--human",
        metavar="FILE|study:NAME",
        help=f"ratings or votes of people on these texts: {HUMAN_NAMES} (default: known levels alone)",
    )
    group.add_argument(
        "--dimension", metavar="D", help="which dimension of the ratings to use (default: the only one)"
    )
    group.add_argument(
        "--component",
        metavar="NAME",
        help="column to compare where a judge has several, such as f1 or coverage (default: its first)",
    )
    for side in ("input", "output"):
        group.add_argument(
            f"--{side}-price-of",
            action="append",
            default=[],
            metavar="MODEL=MONEY",
            help=f"price of a million {side} tokens of one model, in place of that of its run; may be repeated",
        )
    command.set_defaults(flip=None)


def _of_runs(given: Sequence[str]) -> None:
    command = argparse.ArgumentParser(
        prog=f"{COMMAND} judge prompts",
        description="Compare the prompts or models of runs on the same texts.",
    )
    command.add_argument("runs", nargs="+", metavar="run:N", help="runs of one kind of judge")
    _add_comparing(command)
    add_pair_option(command)
    add_interval_options(command, _N_RESAMPLES)
    add_result_options(command, PROMPTS_TABLE)
    add_database_option(command)
    options = command.parse_args(given)
    options.columns = None
    drawing = checked_intervals(options, [])
    sources = parse_sources(options.runs)
    if wrong := [one.written for one in sources if not isinstance(one, RunSource)]:
        raise InputError(
            f"{', '.join(map(shown, wrong))}: not run:N. Compare runs, or name a kind of judge first."
        )
    with existing_store(options.db) as store:
        runs = [at_hand(store, one.number) for one in sources if isinstance(one, RunSource)]
        found = _compared(runs, options, drawing)
    give(options, prompts_json(found), _said(found))


def _compared(
    runs: Sequence[RunAtHand], options: argparse.Namespace, drawing: Mapping[str, Any]
) -> PromptsCompared:
    with telling("reading the scores") as tell:
        judges, component, notes = tried(runs, options.component, _prices(options))
        tables = [one.table for one in judges]
        chosen = {"judges": [one.name for one in judges], "dimension": options.dimension}
        people = None
        if options.human is not None:
            choice = PanelChoice(judge=tuple(chosen["judges"]), dimension=options.dimension)
            people = panel_beside(parse_source(options.human), tables, choice, reading_of(options))
        elif (ratings := ratings_in(runs[0])) is not None:
            people = panel_of(ratings, tables, **chosen)
        elif options.dimension is not None:
            raise InputError(NO_RATINGS)
        tell("comparing prompts")
        more = [*notes, *unfinished_notes(runs)]
        return compare_prompts(
            judges, people, component=component, notes=more, with_levels=scores_levels(runs), **drawing
        )


def _prices(options: argparse.Namespace) -> Prices:
    """The prices of models that the user states. Raises InputError for values that are no numbers from 0 on."""
    given_in = named_numbers("--input-price-of", options.input_price_of)
    given_out = named_numbers("--output-price-of", options.output_price_of)
    return {
        model: (given_in.get(model), given_out.get(model)) for model in dict.fromkeys([*given_in, *given_out])
    }


def _said(found: PromptsCompared) -> Said:
    return [*found.sentences(), prompts_table(found)]


def _of_kind(options: argparse.Namespace, kind: JudgeKind, given: Given) -> None:
    options.judge_file = None
    attached = attached_file(options, kind)
    prices = _prices(options)
    plan = variants(_requested(options, kind, attached))
    known = {one.asked.model.short_name for one in plan}
    if unknown := [name for name in prices if name not in known]:
        raise InputError(
            f"{', '.join(map(shown, unknown))}: no such model here. Name prices of {', '.join(sorted(map(shown, known)))}."
        )
    plan = tuple(
        _priced(one, running_given(options), prices.get(one.asked.model.short_name, (None, None)))
        for one in plan
    )
    for one in options.inputs:
        check_database(one, options.db)
    if options.dimension is not None and options.human is None and kind.reads != "rated texts":
        raise InputError(NO_RATINGS)
    if options.human is not None:
        people_of(
            parse_source(options.human), reading_of(options)
        )  # reports now what would be refused after hours of work
    exec_in_environment(environment_for(plan[0].asked, plan[0].running))
    with contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext():
        found = _run_and_compare(options, kind, given, plan)
    give(
        argparse.Namespace(json=options.json, out=None, table=None),
        prompts_json(found),
        _said(found),
    )
    folder: Path = options.out
    for ending in (".csv", ".json", ".md"):
        write_file(
            folder / f"{PROMPTS_TABLE}{ending}",
            file_of(ending, prompts_json(found), _said(found), only=False),
        )
    if not options.json:
        print(f"Written to {folder}: {PROMPTS_TABLE}.csv, {PROMPTS_TABLE}.json, {PROMPTS_TABLE}.md.")


def _priced(one: Variant, given: Mapping[str, Any], prices: tuple[float | None, float | None]) -> Variant:
    own = dict(zip(("input_price", "output_price"), prices, strict=True))
    own = {name: price for name, price in own.items() if price is not None}
    return replace(one, running=one.running.but(**own), changed={**given, **own})


def _requested(options: argparse.Namespace, kind: JudgeKind, attached: str) -> list[tuple[Asked, Settings]]:
    """Return the request for each model and prompt. Raises InputError with the problems of all of them."""
    made: list[tuple[Asked, Settings]] = []
    problems = Problems()
    wrong: list[InputError] = []
    for model in options.models or [None]:
        for prompts in options.prompt or [""]:
            own = argparse.Namespace(**vars(options))
            own.prompt = [name.strip() for name in prompts.split(",") if name.strip()]
            if model is not None:
                own.model = model
            try:
                made.append(requested_run(own, kind, name=options.name, attached=attached))
            except InputError as problem:
                wrong.append(problem)
    if len(wrong) == 1 or len({str(one) for one in wrong}) == 1:
        raise wrong[0]
    for one in wrong:
        problems += one.under(one.what) if one.problems else [str(one)]
    if problems:
        raise InputError("Invalid prompts or models", problems)
    return made


def _folders(out: Path, plan: Sequence[Variant]) -> list[Path]:
    """The folder of each run: below --out, by the name of what it compares."""
    names = [_NOT_IN_FOLDERS.sub("-", one.name).strip("-.") or "judge" for one in plan]
    return [
        out / (name if names.count(name) == 1 else f"{name}-{at}") for at, name in enumerate(names, start=1)
    ]


def _run_and_compare(
    options: argparse.Namespace, kind: JudgeKind, given: Given, plan: Sequence[Variant]
) -> PromptsCompared:
    folders = _folders(options.out, plan)
    with open_store(database_path(options.db)) as store:
        # What was begun is resumed, and with it the masks of a study that was blind then.
        data, file_name = given.read(store, argparse.Namespace(**{**vars(options), "resume": True}), kind)
        for one, folder in zip(plan, folders, strict=True):
            check_folder(folder, _before(store, data, one))
        made = create_together(
            store,
            data,
            file_name,
            plan,
            options.limit,
            component=options.component,
            with_people=options.human is not None,
        )
        print_notes(
            dict.fromkeys(
                note if isinstance(note, str) else said(note, begun.run.fields, as_option)
                for begun in made
                for note in begun.notes
            )
        )
        for begun in made:
            state = "new" if begun.is_new else "done before" if begun.is_whole else "resumed"
            print(f"Run {begun.run.run.run_id} ({state}): {begun.variant.name}.", file=sys.stderr)
        runs = [begun.run for begun in made]
        progress, refused = work_through(runs, run_or_delete)
        for run, folder in zip(runs, folders, strict=True):
            if run.run.run_id not in refused:
                make_folder(folder)
                for name, content in written(run.now()).items():
                    write_file(folder / name, content)
        open_ones = [one for one in progress if not is_whole(one)]
        if refused or open_ones:
            problems = [f"Run {number}: {why}" for number, why in refused.items()]
            problems += [
                f"run {one.run.run_id} is {one.state}. {one.run.message}".strip() for one in open_ones
            ]
            problems.append("Finished items are saved. Continue with the same command.")
            raise AssayError("\n".join(["Not every prompt has judged the texts.", *problems]))
        _print_forecast(runs)
        drawing = {"n_resamples": _N_RESAMPLES, "confidence_level": 0.95, "rng": 0}
        return _compared(runs, options, drawing)


def _before(store: Store, data: bytes, one: Variant) -> Any:
    """The earlier run of this judge, whose folder may be written again; None if there is none."""
    try:
        return find_same(store, data, one.asked, named=False).run
    except InputError:
        return None


def _print_forecast(runs: Sequence[RunAtHand]) -> None:
    """Print what all items will cost after a preview of some."""
    if all(run.run.n_wanted >= run.run.n_items for run in runs):
        return
    found = forecast(runs)
    parts = ["calls unknown" if found.calls is None else f"about {counted(found.calls, 'call')}"]
    if found.input_tokens is not None and found.output_tokens is not None:
        parts.append(f"{found.input_tokens:,} tokens in, {found.output_tokens:,} out")
    parts.append("money unknown" if found.money is None else f"money {found.money:,.4f}")
    parts.append("time unknown" if found.time is None else f"time {found.time}")
    print(f"Estimate for all {runs[0].run.n_items:,} items with all {len(runs)}: {', '.join(parts)}.")
