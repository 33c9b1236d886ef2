"""`judge prompts`: several prompts or models on the same texts, from the runs to one table."""

import argparse
import contextlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.analyses.prompts import ANALYSIS as PROMPTS
from core.cli import moved
from core.cli.judge.running import GIVEN, Given, add_run, attached_file
from core.cli.shared.giving import Said, give
from core.cli.shared.options import Commands, add_json_option, make_folder, print_notes
from core.cli.shared.run_options import requested_run, running_given
from core.cli.shared.running import check_folder, exec_in_environment, run_or_delete, telling
from core.cli.shared.sources import add_tried_options, check_database, reading_of, tried_choice
from core.errors import AssayError, InputError, Problems, counted, nearest_names
from core.installation import COMMAND
from core.judges.kind import JudgeKind
from core.report import file_of
from core.runs.asked import Asked, environment_for
from core.runs.jobs import RunAtHand
from core.runs.judging.several import (
    Variant,
    create_together,
    forecast,
    is_whole,
    variants,
    work_through,
)
from core.runs.kinds import KINDS, kinds_that
from core.runs.path import find_same, written
from core.schema.analysis import Answer, TriedChoice
from core.schema.settings import Settings, option_word, said
from core.sources.named import RunSource, parse_source
from core.sources.people import people_of
from core.sources.prompts import check_dimension, tried_beside
from core.store import Store, database_path, open_store
from core.tables.files import write_file
from core.tables.reading import shown

_NOT_IN_FOLDERS = re.compile(r"[^\w.+-]+")


def add_prompts(verbs: Commands) -> None:
    """Register `judge prompts`."""
    command = verbs.add_parser(
        PROMPTS.name,
        help="compare prompts or models on the same texts: runs what is missing, then one table",
    )
    command.add_argument(
        "what",
        metavar="KIND",
        help=f"a kind of judge: {', '.join(kind.verb or kind.name for kind in _kinds().values())}",
    )
    command.add_argument(
        "rest",
        nargs=argparse.REMAINDER,
        metavar="TEXTS --prompt A --prompt B --model X --out DIR ...",
        help="texts and options of the kind, where --prompt and --model may be repeated (see `prompts KIND --help`)",
    )
    command.set_defaults(run=_prompts, json=False)


def _kinds() -> Mapping[str, JudgeKind]:
    """Verb -> kind of judge."""
    return {kind.verb or kind.name: kind for kind in kinds_that("judging") if isinstance(kind, JudgeKind)}


def _prompts(options: argparse.Namespace) -> None:
    if isinstance(parse_source(options.what), RunSource):
        raise InputError(moved("judge prompts run:N", "report prompts run:N"))
    kind = _kinds().get(options.what) or KINDS.get(options.what)
    if not isinstance(kind, JudgeKind):
        near = nearest_names(options.what, set(_kinds()))
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(
            f"{shown(options.what)} is no kind of judge. There are {', '.join(_kinds())}.{meant}"
        )
    command = argparse.ArgumentParser(
        prog=f"{COMMAND} judge prompts {options.what}",
        description=f"Compare prompts or models: {kind.summary}",
    )
    add_run(command, kind, GIVEN[kind.reads], several=True)
    add_tried_options(command.add_argument_group("comparison"))
    if not any(one.dest == "json" for one in command._actions):
        add_json_option(command)
    _compare_kind(command.parse_args(options.rest), kind, GIVEN[kind.reads])


def _compare_kind(options: argparse.Namespace, kind: JudgeKind, reading: Given) -> None:
    options.judge_file = None
    attached = attached_file(options, kind)
    choice = tried_choice(options)
    prices = choice.prices
    plan = variants(_requested(options, kind, attached))
    known = {one.request.model.short_name for one in plan}
    if unknown := [name for name in prices if name not in known]:
        raise InputError(
            f"{', '.join(map(shown, unknown))}: no such model here. Name prices of {', '.join(sorted(map(shown, known)))}."
        )
    plan = tuple(
        _priced(one, running_given(options), prices.get(one.request.model.short_name, (None, None)))
        for one in plan
    )
    for one in options.inputs:
        check_database(one, options.db)
    check_dimension(choice, rated=options.human is not None or kind.reads == "rated texts")
    if options.human is not None:
        people_of(
            parse_source(options.human), reading_of(options)
        )  # reports now what would be refused after hours of work
    exec_in_environment(environment_for(plan[0].request, plan[0].running))
    with contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext():
        answer = _run_and_compare(options, kind, reading, plan, choice)
    lines: Said = [*answer.all_sentences, *answer.printed]
    give(argparse.Namespace(json=options.json, out=None, table=None), answer.json, lines)
    folder: Path = options.out
    for ending in (".csv", ".json", ".md"):
        data = file_of(ending, answer.json, lines, only=False)
        write_file(folder / f"{PROMPTS.name}{ending}", data)
    if not options.json:
        print(
            f"Written to {folder}: {', '.join(PROMPTS.name + ending for ending in ('.csv', '.json', '.md'))}."
        )


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
    options: argparse.Namespace,
    kind: JudgeKind,
    reading: Given,
    plan: Sequence[Variant],
    choice: TriedChoice,
) -> Answer:
    folders = _folders(options.out, plan)
    with open_store(database_path(options.db)) as store:
        # What was begun is resumed, and with it the masks of a study that was blind then.
        data, file_name = reading.read(store, argparse.Namespace(**{**vars(options), "resume": True}), kind)
        for one, folder in zip(plan, folders, strict=True):
            check_folder(folder, _earlier_run(store, data, one))
        made = create_together(
            store,
            data,
            file_name,
            plan,
            options.limit,
            component=choice.component,
            with_people=options.human is not None,
        )
        print_notes(
            dict.fromkeys(
                note if isinstance(note, str) else said(note, begun.run.fields, option_word)
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
        human = None if options.human is None else parse_source(options.human)
        with telling("reading the scores") as tell:
            compared = tried_beside(runs, human, choice, reading_of(options))
            return PROMPTS.answer(PROMPTS.Options(), compared, tell=tell)


def _earlier_run(store: Store, data: bytes, one: Variant) -> Any:
    """The earlier run of this judge, whose folder may be written again; None if there is none."""
    try:
        return find_same(store, data, one.request, named=False).run
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
