"""`runs show N --item ID`: what a model was asked about one item, what it replied, and why a reply was not used."""

import argparse
from collections.abc import Iterator, Mapping, Sequence

from core.cli.aligned import counted
from core.cli.options import Options, check_options, json_text
from core.datasets.nearest import listed
from core.datasets.reading import shown
from core.errors import InputError
from core.nearest import nearest_names
from core.runs.at_hand import RunAtHand
from core.runs.calls import ItemCall, calls_of, item_report, texts_of

_NARROWING = ("step", "system", "level")


def add_call_options(command: Options) -> None:
    """`--item`, and which of its calls."""
    command.add_argument(
        "--item", metavar="ID", help="show what the model was asked about this item, and what it replied"
    )
    command.add_argument("--step", help="with --item: only this step's calls")
    command.add_argument("--system", help="with --item: only calls for this system's texts")
    command.add_argument("--level", help="with --item: only calls for texts at this level")


def show_calls(options: argparse.Namespace, run: RunAtHand) -> bool:
    """Print the calls that `--item` asks for; returns whether it does. Raises InputError with what there is instead."""
    if options.item is None:
        useless = [name for name in _NARROWING if getattr(options, name) is not None]
        check_options([f"--{name} needs --item" for name in useless])
        return False
    if run.kind.work == "scores" or run.asked.by_rules:
        what = "computes metrics" if run.kind.work == "scores" else "works by rules"
        raise InputError(f"--item: run {run.run.run_id} {what}, so no model was asked.")
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
        there = f"These have: {listed(steps)}." if steps else "There are no calls."
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
            # Indented, so that no reply can look like the next call.
            yield from (f"   {line}".rstrip() for line in text.splitlines())


def _named(text: Mapping[str, str | None]) -> str:
    return " ".join(shown(value) for value in text.values() if value)
