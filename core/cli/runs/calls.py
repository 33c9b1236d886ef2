"""`runs show --item`: the prompts and replies of one item."""

import argparse
from collections.abc import Iterator, Mapping, Sequence

from core.cli.shared.options import Options, check_options
from core.errors import InputError, counted, nearest_names
from core.runs.calls import ItemCall, calls_of, item_report, texts_of
from core.runs.jobs import RunAtHand
from core.tables.files import json_text
from core.tables.problems import listed
from core.tables.reading import shown

_NARROWING = ("step", "system", "level")


def add_call_options(command: Options) -> None:
    """Register `--item` and the options that select its calls."""
    command.add_argument("--item", metavar="ID", help="show the calls of this item: prompts and replies")
    command.add_argument("--step", help="with --item: only calls of this step")
    command.add_argument("--system", help="with --item: only calls for texts of this system")
    command.add_argument("--level", help="with --item: only calls for texts at this level")


def show_calls(options: argparse.Namespace, run: RunAtHand) -> bool:
    """Print the calls of `--item`; return whether it was given. Raises InputError that lists the known names."""
    if options.item is None:
        without_item = [name for name in _NARROWING if getattr(options, name) is not None]
        check_options([f"--{name} needs --item" for name in without_item])
        return False
    if run.kind.by_metrics or run.request.by_rules:
        what = "computes metrics" if run.kind.by_metrics else "works by rules"
        raise InputError(f"--item: run {run.run.run_id} {what} and made no calls.")
    position = _position(options.item, run)
    calls = _chosen(options, run, position)
    if options.json:
        print(json_text(item_report(run, position, calls)))
    else:
        print("\n".join(_lines(run, position, calls)))
    return True


def _position(item_id: str, run: RunAtHand) -> int:
    names = list(run.items)
    if item_id in names:
        return names.index(item_id)
    near = nearest_names(item_id, names)
    there = f"Did you mean {' or '.join(map(shown, near))}?" if near else f"It has: {listed(names)}."
    raise InputError(f"--item: run {run.run.run_id} has no item {shown(item_id)}. {there}")


def _chosen(options: argparse.Namespace, run: RunAtHand, position: int) -> tuple[ItemCall, ...]:
    texts = texts_of(run, position)
    wanted = {name: value for name in ("system", "level") if (value := getattr(options, name)) is not None}
    numbers = [at for at, text in enumerate(texts) if wanted.items() <= text.items()]
    if not numbers:
        given = " ".join(f"--{name} {shown(value)}" for name, value in wanted.items())
        raise InputError(
            f"{given}: item {shown(options.item)} has no such text. It has: {listed(list(map(_named, texts)))}."
        )
    calls = calls_of(run.store, run.run.run_id, position, numbers if wanted else None)
    steps = list(dict.fromkeys(call.step for call in calls))
    if options.step is not None and options.step not in steps:
        there = f"The steps are: {listed(steps)}." if steps else "The item has no calls."
        raise InputError(f"--step: no call has the step {shown(options.step)}. {there}")
    return tuple(call for call in calls if options.step in (None, call.step))


def _lines(run: RunAtHand, position: int, calls: Sequence[ItemCall]) -> Iterator[str]:
    texts = texts_of(run, position)
    yield f"Run {run.run.run_id}, item {shown(list(run.items)[position])}: {counted(len(calls), 'call')}."
    for call in calls:
        asked_by = [_named(texts[number]) for number in call.texts or () if len(texts) > 1]
        yield ""
        yield f"== {', '.join([call.title, *asked_by])}: {call.became}"
        yield call.cost
        for title, text in call.parts:
            yield f"-- {title}"
            # Indented so that no reply can imitate the heading of a call.
            yield from (f"   {line}".rstrip() for line in text.splitlines())


def _named(text: Mapping[str, str | None]) -> str:
    return " ".join(shown(value) for value in text.values() if value)
