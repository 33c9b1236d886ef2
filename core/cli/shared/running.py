"""Processing a run from the command line: progress while it runs, then a summary and files."""

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from core.cli.shared.options import make_folder, print_notes
from core.disk import why_not_written
from core.errors import AssayError, InputError, NothingUsable, counted
from core.installation import COMMAND, command_line
from core.results.injection import injections_said, listed_lines
from core.results.judges.scores import score_summary
from core.runs.asked import Environment
from core.runs.costs import Estimate, estimate_all
from core.runs.generation import count_verbatim, spans_found_by, spans_warning
from core.runs.jobs import RunAtHand
from core.runs.judging import degeneracy_of, injections_in
from core.runs.path import identity_of, write_into
from core.runs.progress import (
    Answered,
    Progress,
    duration,
    money_of,
    not_sent_said,
    progress_of,
    seconds_since_start,
    spoken_range,
    starting,
    worked_said,
)
from core.runs.scoring import score_table, undefined_scores
from core.runs.tables.scored import table_scores
from core.runs.working.environments import python_for
from core.runs.working.worker import work
from core.schema.injections import Injections
from core.schema.runs import RUN_FILE, Run, StepCost, Work
from core.schema.scores import ScoreTable
from core.stats.degeneracy import constants_said
from core.store import database_path
from core.store.kept import parts_not_sent
from core.store.runs import delete_run, get_run, n_finished_since
from core.tables.reading import shown

LINE_SECONDS = 5.0
"""Between two progress lines if standard error is not a terminal."""
QUIET_SECONDS = 2.0
"""A shorter step prints no progress."""


class ProgressLine:
    """A progress line: overwritten on a terminal, a new line every few seconds elsewhere."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self.terminal = self._stream.isatty()
        self._last = time.monotonic()
        self._shown = False

    @property
    def is_due(self) -> bool:
        """Whether it is time to show the next line."""
        return self.terminal or time.monotonic() - self._last >= LINE_SECONDS

    def show(self, line: str) -> None:
        """Write the line; on a terminal it replaces the last one."""
        self._last = time.monotonic()
        self._shown = True
        start, end = ("\r\x1b[K", "") if self.terminal else ("", "\n")
        print(f"{start}{line}", end=end, file=self._stream, flush=True)

    def end(self) -> None:
        """Clear the line on a terminal."""
        if self.terminal and self._shown:
            print("\r\x1b[K", end="", file=self._stream, flush=True)


@contextmanager
def telling(first: str) -> Iterator[Callable[[str], None]]:
    """Show the current step and the elapsed time while the block runs; nothing if it ends soon.

    Yields a function that names the next step. A thread prints, so that a long step does not look stuck.
    """
    said, over, begun = [first], threading.Event(), time.monotonic()
    line = ProgressLine()

    def show() -> None:
        wait = QUIET_SECONDS
        while not over.wait(wait):
            line.show(f"{said[-1]}, {duration(time.monotonic() - begun)}")
            wait = 1.0 if line.terminal else LINE_SECONDS

    def tell(what: str) -> None:
        said[:] = [what]

    shower = threading.Thread(target=show, daemon=True)
    shower.start()
    try:
        yield tell
    finally:
        over.set()
        shower.join()
        line.end()


MOST_LISTED = 40
"""How many pairs of metric and reason to list for undefined scores."""
_Missing = tuple[str, str, str]
"""One item, several items, and what is missing."""
_MISSING: Mapping[Work, _Missing] = {
    "generation": ("item lacks", "items lack", "some levels (partial results in outputs.csv)"),
    "audit": ("item lacks", "items lack", "an answer (the other answers are stored)"),
}
SCORED = ("item has", "items have", "texts on which a metric failed (the other texts have scores)")
JUDGED = ("item has", "items have", "texts for which a step of the judge failed (the other texts count)")


def summary(run: RunAtHand, progress: Progress, table: ScoreTable | None = None) -> list[str]:
    """Return the lines of `runs show`, which end every command that processes a run. table: its scores, if already read."""
    wanted = progress.run.n_wanted
    lines = [f"Run {progress.run.run_id} ({progress.state}): {progress.n_done} of {wanted} items complete."]
    lines += filter(None, [progress.nothing_usable])
    if (missing := _MISSING.get(run.kind.work)) is not None:
        return lines + _incomplete(progress, missing) + _asked(run, progress)
    if run.kind.work == "tables":
        found = table_scores(run)
        broken = f"{counted(found.n_broken, 'item')} without scores because of an internal error; see the run's log"
        of_table = [*([broken] if found.n_broken else []), *constants_said(found.most.items())]
        return lines + _scored(run, progress, (found.n_texts, len(found.metrics)), found.undefined, of_table)
    table = table or score_table(run)
    sizes = len(table.rows), len(table.metrics)
    signs: Iterable[str] = (
        [*(one.sentence for one in degeneracy_of(run)), *_marks(injections_in(run))]
        if run.kind.work == "judging"
        else constants_said((shown(one.metric), one.constant) for one in score_summary(table))
    )
    return lines + _scored(run, progress, sizes, undefined_scores(table), signs)


def _marks(marked: Injections) -> list[str]:
    """Return how many judged texts have marks of injection and the first of them; empty if none has one."""
    first, *others = injections_said(marked) or [""]
    return [first, *listed_lines(marked), *others] if first else []


def cost_notes(at: RunAtHand, progress: Progress) -> list[str]:
    """Estimate the time and cost of all items after a preview; empty if the run is not a preview or calls no model."""
    run = progress.run
    if at.kind.by_metrics or progress.state != "done" or run.n_wanted >= run.n_items:
        return []
    told = estimate_all(at, progress)
    time = "time unknown" if told.time is None else f"time {told.time}"
    if at.request.by_rules:
        parts = [time]
    elif told.calls is None:
        parts = ["calls unknown, because these items were cached or unfinished", time]
    else:
        known = [f"about {counted(told.calls, 'call')}", _tokens(told)]
        known += [] if told.money is None else [f"money {told.money:,.4f}"]
        known[-1] += "" if (told.spread or 0) < 0.01 else f" (± {told.spread:.0%})"
        parts = [*known, *(["money unknown"] if told.money is None else []), time]
    items = counted(told.n_seen, "item")
    rough = " One item is a rough basis; preview more." if told.n_seen == 1 else ""
    return [f"Estimate for all {run.n_items:,} items, from {items}: {', '.join(parts)}.{rough}"]


def _asked(run: RunAtHand, progress: Progress) -> list[str]:
    """Return the lines on settings that the server refused, and on the cost of the calls."""
    missing = parts_not_sent(run.store, progress.run.run_id)
    lines = [f"{not_sent_said(missing)}."] if missing else []
    for cost in progress.costs:
        tokens = _tokens(cost) if cost.calls else "no calls"
        unusable = f", {cost.unusable} not usable" if cost.unusable else ""
        waited = f"; total request time {cost.seconds:,.1f} s (requests overlap)" if cost.calls else ""
        lines.append(
            f"Cost of {cost.step}: {counted(cost.calls, 'call')} ({cost.cached:,} more from the cache{unusable}), {tokens}{waited}."
        )
    if (money := money_of(progress)) is not None:
        lines.append(f"Money: {money:,.4f}.")
    return [*lines, *filter(None, [worked_said(progress.run)])]


def _tokens(cost: StepCost | Estimate) -> str:
    if cost.input_tokens is None or cost.output_tokens is None:
        return "tokens not counted by the server"
    return f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out"


def _scored(
    run: RunAtHand,
    progress: Progress,
    sizes: tuple[int, int],
    undefined: Mapping[tuple[str, str], int],
    signs: Iterable[str],
) -> list[str]:
    """Return the lines of a run of scores.

    sizes: number of texts and of metrics; undefined: (metric, reason) -> number of texts; signs: warnings that scores measure
    little, shown before any number.
    """
    lines = [f"{counted(sizes[0], 'text')}, {counted(sizes[1], 'metric')}."]
    judged = run.kind.work == "judging"
    lines += signs
    lines += _incomplete(progress, JUDGED if judged else SCORED)
    if undefined:
        lines.append("Undefined scores, left out of all correlations:")
    listed = list(undefined.items())[:MOST_LISTED]
    lines += [f"  {count:>7,}  {metric}: {reason}" for (metric, reason), count in listed]
    if len(undefined) > MOST_LISTED:
        lines.append(f"  ... and {len(undefined) - MOST_LISTED} more metrics and reasons")
    if judged:
        return lines + _asked(run, progress)
    return (
        lines
        + [
            _scoring_cost(
                cost, "from the cache" if run.kind.work == "scores" else "equal to another of their item"
            )
            for cost in progress.costs
        ]
        + [*filter(None, [worked_said(progress.run)])]
    )


def _scoring_cost(cost: StepCost, same: str) -> str:
    computed = f"; {cost.seconds:,.1f} s of computing in all processes" if cost.calls else ""
    return (
        f"Cost of {cost.step} metrics: {cost.calls:,} different texts scored ({cost.cached:,} more {same})"
        f"{computed}."
    )


def _incomplete(progress: Progress, missing: _Missing) -> list[str]:
    one, several, what = missing
    count = progress.n_failed + progress.n_again
    lines = []
    if count:
        lines.append(f"{f'1 {one}' if count == 1 else f'{count} {several}'} {what}. Reasons:")
    return lines + [f"  {count:>5}  {step}: {reason}" for (step, reason), count in progress.failures.items()]


def exec_in_environment(environment: Environment) -> None:
    """Restart in the Python that the work needs, with the same arguments; return if this is the one."""
    python = python_for(environment)
    if python != Path(sys.executable):
        sys.stdout.flush()
        try:
            # The database is named, because the other environment may look for the default in another place.
            variables = {**os.environ, "ASSAY_DB": str(database_path())}
            os.execve(python, [*command_line(python), *sys.argv[1:]], variables)
        except OSError as problem:
            raise InputError(f"{python} could not be started ({problem}).") from problem


def check_folder(folder: Path, run: Run | None, same: Callable[[], Run] | None = None) -> None:
    """Raise InputError if results cannot be written to the folder, or would mix with those of another run.

    A run without finished items left nothing to mix with. run: owner of the results; None for a new run. same: finds
    the run that `--resume` would continue, or raises InputError.
    """
    _check_writable(folder)
    try:
        held = json.loads((folder / RUN_FILE).read_bytes())
    except (OSError, ValueError):
        return
    if not isinstance(held, dict):
        held = {}
    if (run is not None and _is_of(held, run)) or (held.get("done") == held.get("failed") == 0):
        return
    what = f"--out: {folder} contains the results of run {held.get('run', '?')}"
    if run is None and same is not None and _would_resume(held, same):
        raise InputError(
            f"{what}, with the same file and settings. Continue it with --resume, or name another folder to start again."
        )
    raise InputError(f"{what}. Name another folder.")


def _is_of(held: dict[str, object], run: Run) -> bool:
    return identity_of(run).items() <= held.items()


def _would_resume(held: dict[str, object], same: Callable[[], Run]) -> bool:
    """Whether the folder belongs to the run that `--resume` would continue."""
    try:
        return _is_of(held, same())
    except InputError:  # no such run
        return False


def _check_writable(folder: Path) -> None:
    """Raise InputError if no file can be written to the folder, before hours of work. Creates nothing."""
    there = next((one for one in (folder, *folder.absolute().parents) if os.path.exists(one)), folder)
    if not there.is_dir():
        raise InputError(f"--out: {there} is a file. Name a folder.")
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as problem:
        raise InputError(
            f"--out: {folder} cannot be written: {why_not_written(problem, folder)}."
        ) from problem


def run_or_delete(run: RunAtHand) -> None:
    """Process a new run; delete it if it is refused before it starts, so that no list shows it."""
    try:
        work_here(run)
    except InputError:
        delete_run(run.store, run.run.run_id)
        raise


def work_here(run: RunAtHand) -> None:
    """Process the run in this process, and show progress on standard error."""
    number = run.run.run_id
    if _is_whole(progress_of(run.store, number)):
        print(f"Run {number} is already done.", file=sys.stderr)
        return
    teller = _Teller(run)
    print(
        f"Run {number}: processing {run.run.n_wanted} of {run.run.n_items} items of {run.run.data_file}.",
        file=sys.stderr,
    )
    try:
        work(run.store, number, lambda claimed: run.path.job(run.claimed(claimed)), tell=teller.tell)
    finally:
        teller.end()


def _is_whole(progress: Progress) -> bool:
    return progress.state == "done" and not progress.n_again and progress.n_finished >= progress.run.n_wanted


def finish_in_folder(run: RunAtHand, folder: Path) -> None:
    """Write a run's results and print a summary. Raises AssayError if the run is not done."""
    progress = progress_of(run.now().store, run.run.run_id)
    if progress.state == "awaiting" and not progress.n_finished:
        print(progress.run.message)
        return
    make_folder(folder)
    files = write_into(run, folder)
    print("\n".join(summary(run, progress)))
    if run.kind.work == "generation" and (verbatim := count_verbatim(run)):
        print(
            f"Note: the first level of {verbatim} items is the reference word for word (verbatim), because there is no "
            "paraphrase. Metrics that use the reference then compare a text with itself."
        )
    if run.kind.work == "generation":
        _print_spans(spans_found_by(run))
    print("\n".join([*cost_notes(run, progress), f"Written to {folder}: {', '.join(files)}."]))
    check_done(progress)


def finish_without_files(run: RunAtHand) -> None:
    """Print a summary of a run whose results are not written yet. Raises AssayError if it is neither done nor waiting."""
    progress = progress_of(run.now().store, run.run.run_id)
    if progress.state != "awaiting":
        number = run.run.run_id
        print(
            "\n".join(
                [
                    *summary(run, progress),
                    f"Write the results with `{COMMAND} runs write {number} --out DIR`.",
                ]
            )
        )
    check_done(progress)


def _print_spans(counts: Mapping[str, int]) -> None:
    """Print the methods that found the facts, with a warning if they include no parser."""
    if counts:
        print(
            "Facts found by: "
            + ", ".join(f"{name} ({counted(n, 'item')})" for name, n in counts.items())
            + "."
        )
    if (warning := spans_warning(counts)) is not None:
        print_notes([warning])


def check_done(progress: Progress) -> None:
    """Raise AssayError that explains how to continue if a run is not done, and NothingUsable if no answer could be used.

    A run that waits for answers has done its part.
    """
    run = progress.run
    if progress.state == "awaiting":
        print(run.message)
    elif progress.state != "done":
        lines = [f"Run {run.run_id} is {progress.state}.", run.message, "Continue it with --resume."]
        raise AssayError("\n".join(line for line in lines if line))
    elif progress.nothing_usable:
        raise NothingUsable(
            f"Run {run.run_id} is done without a result. {progress.nothing_usable} Read the answers for one item with "
            f"`{COMMAND} runs show {run.run_id} --item ITEM`. Then choose another model or prompt."
        )


class _Teller:
    """Shows the progress of a run in one line."""

    def __init__(self, run: RunAtHand) -> None:
        self._store, self._number, self._model = run.store, run.run.run_id, run.request.model
        self._line = ProgressLine()
        self._answered: Answered | None = None

    def tell(self) -> None:
        """Show the progress if it is time to. Reads only new answers, twice a second on a terminal."""
        if not self._line.is_due:
            return
        run = get_run(self._store, self._number)
        passed = seconds_since_start(run)
        n = n_finished_since(self._store, self._number)
        said = f"{n} of {run.n_wanted} items"
        if run.start_seconds is None:
            self._line.show(f"{said}, {starting(self._model)} ({duration(passed)})")
            return
        if self._answered is None:
            self._answered = Answered(run)
        if self._answered.look(self._store).n:
            said += f", {self._answered}"
        if run.message:
            said += f". {run.message.rstrip('.')}"
        left = None if run.message else self._answered.left_between(self._store, run)
        self._line.show(said if left is None else f"{said}, {spoken_range(*left)} left")

    def end(self) -> None:
        """Clear the line on a terminal."""
        self._line.end()
