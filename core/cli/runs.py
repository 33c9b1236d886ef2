"""`runs`: list, show, cancel and resume runs, and write their results. Pages start `runs work` as a child process."""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from core.cli.shared.giving import add_result_options, check_out_file, counted, give, out_problems
from core.cli.shared.options import (
    Commands,
    Options,
    add_database_option,
    add_reading_verb,
    check_options,
    existing_store,
    name_list,
    print_result,
)
from core.cli.shared.running import (
    check_folder,
    exec_in_environment,
    finish_in_folder,
    finish_without_files,
    summary,
    telling,
    work_here,
)
from core.errors import AssayError, InputError, nearest_names
from core.runs.asked import OPENAI_KEY, OPENAI_URL
from core.runs.calls import ItemCall, calls_of, item_report, texts_of
from core.runs.jobs import RunAtHand
from core.runs.path import at_hand, resume, run_report
from core.runs.progress import Progress, progress_of, state_of, why_not_now
from core.runs.working.batch_answers import opened, read_answers
from core.runs.working.worker import end_at_once, work
from core.schema.result_table import ResultTable
from core.schema.runs import Run
from core.store import Store
from core.store.beside import left_out_said
from core.store.runs import ask_to_stop, finish_run, get_run, list_runs
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
    if run.kind.by_metrics or run.asked.by_rules:
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


CANCEL_SECONDS = 10.0
"""How long `cancel` waits for the run's process to end."""
_AT_WORK = ("running", "cancelling")


def add_to(nouns: Commands) -> None:
    """Register `runs` and its verbs."""
    noun = nouns.add_parser("runs")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    add_reading_verb(verbs, "list", "all runs, newest first", _list)
    command = add_reading_verb(
        verbs,
        "show",
        "show progress, failures with reasons, and cost of a run; or the calls of one item",
        _show,
    )
    _add_number(command)
    add_call_options(command)
    _verb(verbs, "cancel", "stop a run; it can be resumed").set_defaults(run=_cancel)
    command = _verb(verbs, "resume", "resume a stopped run, and write its results")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    command.add_argument("--limit", type=int, metavar="N", help="only the first N items (default: all)")
    command.set_defaults(run=_resume)
    command = _verb(verbs, "answers", "read the answers to a run's batch files, and continue the run")
    command.add_argument(
        "files",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="answers, and failures if they are in another file",
    )
    command.add_argument("--out", type=Path, metavar="DIR", help="folder for the results")
    command.add_argument(
        "--ask-again",
        action="store_true",
        help="ask requests whose answers are missing again in the next round; without it they keep waiting",
    )
    command.set_defaults(run=_answers)
    command = _verb(
        verbs, "submit", "have a run's batch files answered by its server's batch service, round after round"
    )
    command.add_argument(
        "--key-variable",
        metavar="NAME",
        help=f"environment variable with the server's key (default for OpenAI's own server: {OPENAI_KEY})",
    )
    command.add_argument(
        "--every",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="seconds between two checks of the batches (default 60)",
    )
    command.add_argument("--out", type=Path, metavar="DIR", help="folder for the results")
    command.set_defaults(run=_submit)
    command = _verb(verbs, "write", "write the results of a run, complete or not")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    command.set_defaults(run=_write)
    _add_big_tables(verbs)
    command = verbs.add_parser("work", help="process queued runs one after the other (used by the app)")
    command.add_argument("numbers", type=int, nargs="+", metavar="RUN", help="numbers of the runs")
    add_database_option(command)
    command.add_argument(
        "--alone",
        action="store_true",
        help="end this process if the model is still open some seconds after the run was stopped",
    )
    command.set_defaults(run=_work)
    _add_delete(verbs)
    _add_disk(verbs)


def _add_delete(verbs: Commands) -> None:
    command = verbs.add_parser("delete", help="delete runs with their results, input files, folders and logs")
    command.add_argument(
        "numbers",
        type=int,
        nargs="*",
        metavar="RUN",
        help="numbers of the runs (default: all that the options choose)",
    )
    command.add_argument("--older-than", type=float, metavar="DAYS", help="only runs made more than DAYS ago")
    only = command.add_mutually_exclusive_group()
    only.add_argument("--previews", action="store_true", help="only previews of the prompt editor")
    only.add_argument(
        "--not-begun", action="store_true", help="only runs that stopped before their first item"
    )
    command.add_argument("--dry-run", action="store_true", help="only show what would be deleted")
    command.add_argument(
        "--force",
        action="store_true",
        help="also runs from which a study or another run was made; those keep their texts",
    )
    _add_compact(command)
    add_database_option(command)
    command.set_defaults(run=_delete)


def _add_disk(verbs: Commands) -> None:
    command = verbs.add_parser("disk", help="show what the database, its files and each run take on the disk")
    command.add_argument(
        "--most", type=int, default=20, metavar="N", help="runs to list (default %(default)s)"
    )
    _add_compact(command)
    add_result_options(command, "runs", "space", "memory")
    add_database_option(command)
    command.set_defaults(run=_disk)


def _add_compact(command: Options) -> None:
    command.add_argument(
        "--compact",
        action="store_true",
        help="then shrink the database file; needs twice its used space free, and that no rater votes",
    )


def _verb(verbs: Commands, name: str, text: str) -> argparse.ArgumentParser:
    command = verbs.add_parser(name, help=text)
    _add_number(command)
    add_database_option(command)
    return command


def _add_number(command: argparse.ArgumentParser) -> None:
    command.add_argument("number", type=int, metavar="RUN", help="number of the run")


def _list(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        found = [progress_of(store, run.run_id) for run in list_runs(store)]
        rows = [
            {"run": p.run.run_id, "kind": p.run.kind, "state": p.state, "file": p.run.data_file}
            for p in found
        ]
        print_result(options, rows, _print_list, store, found)


def _print_list(store: Store, found: Sequence[Progress]) -> None:
    if not found:
        print("No runs yet. Start one with `generate factual`, `generate damage`, `score` or `judge`.")
        return
    print("run\tcreated (UTC)\tkind\tstate\tcomplete\tsystem, metrics or judge\tseed\tfile")
    for progress in found:
        run = progress.run
        created = run.created_utc[:16].replace("T", " ")
        cells = (run.run_id, created, run.kind, progress.state, f"{progress.n_done} of {run.n_wanted}")
        print(*cells, *_maker_and_seed(store, run), shown(run.data_file), sep="\t")


def _maker_and_seed(store: Store, run: Run) -> tuple[str, str]:
    """Return the maker of texts or scores, and the seed. A run saved by a newer Assay must not hide the others."""
    try:
        at = at_hand(store, run)
        return shown(at.path.maker(at.asked)), "-" if at.asked.seed is None else str(at.asked.seed)
    except InputError:
        return f"unreadable: see `runs show {run.run_id}`", "-"


def _show(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        at = at_hand(store, options.number)
        if show_calls(options, at):
            return
        progress = progress_of(store, options.number)
        if options.json:
            print(json_text(run_report(at, progress)))
        else:
            further = (progress.run.message, left_out_said(store, options.number))
            print("\n".join([*summary(at, progress), *filter(None, further)]))


def _cancel(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        number, state = options.number, state_of(get_run(store, options.number))
        if state == "waiting":
            ask_to_stop(store, number)
            print(f"Run {number} is cancelled. It had not started.")
            return
        if state == "awaiting":
            finish_run(store, number, "cancelled")
            print(f"Run {number} is cancelled. Answers to its batch files can still be read: `runs answers`.")
            return
        if state not in _AT_WORK:
            print(f"Run {number} is {state}, so there is nothing to cancel.")
            return
        ask_to_stop(store, number)
        until = time.monotonic() + CANCEL_SECONDS
        with telling(f"cancelling run {number}"):
            while state in _AT_WORK and time.monotonic() < until:
                time.sleep(0.1)
                state = state_of(get_run(store, number))
        progress = progress_of(store, number)
        if progress.state in _AT_WORK:
            print(f"Run {number} is still running. {why_not_now(progress.run) or ''}".rstrip())
        else:
            saved = f"{progress.n_finished} of {progress.run.n_wanted} items are finished and saved"
            print(f"Run {number} is {progress.state}: {saved}.")


def _resume(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        run = at_hand(store, options.number)
        check_folder(options.out, run.run)
        exec_in_environment(run.environment)
        work_here(resume(run, None, options.limit))
        finish_in_folder(run, options.out)


def _answers(options: argparse.Namespace) -> None:
    check_options(
        [] if options.files or options.ask_again else ["name a file of answers, or use --ask-again"]
    )
    with existing_store(options.db) as store, ExitStack() as files:
        run = at_hand(store, options.number)
        if options.out is not None:
            check_folder(options.out, run.run)
        exec_in_environment(run.asked.environment)
        answers = opened(options.files)
        for _, file in answers:
            files.enter_context(file)
        print("\n".join(read_answers(store, options.number, answers, give_up=options.ask_again).said))
        work_here(resume(run, None, run.run.limit))
        _finish(run, options.out)


def _finish(run: RunAtHand, folder: Path | None) -> None:
    if folder is not None:
        finish_in_folder(run, folder)
    else:
        finish_without_files(run)


def _submit(options: argparse.Namespace) -> None:
    from core.runs.working.submitting import answers_of_service, service_of  # imported lazily: rarely needed

    check_options([] if options.every > 0 else [f"--every is {options.every}, expected more than 0"])
    with existing_store(options.db) as store:
        number = options.number
        run = at_hand(store, number)
        if options.out is not None:
            check_folder(options.out, run.run)
        if run.asked.model.backend != "batch":
            raise InputError(f"Run {number} does not use batch files.")
        exec_in_environment(run.asked.environment)
        usual = OPENAI_KEY if run.asked.model.base_url == OPENAI_URL else None
        service = service_of(store, number, options.key_variable or usual)
        while run.now().run.state != "done":
            if run.run.state == "awaiting":
                with telling(f"run {number}: submitting") as tell:
                    read = answers_of_service(store, number, service, every=options.every, tell=tell)
                print("\n".join(read.said), flush=True)
                if not read.n_answered and not read.n_changed:
                    raise AssayError(
                        f"No request of this round was answered. Try again with `runs submit {number}`."
                    )
            work_here(resume(run, None, run.run.limit))
            if run.now().run.state not in ("done", "awaiting"):
                break
        _finish(run, options.out)


def _write(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        run = at_hand(store, options.number)
        check_folder(options.out, run.run)
        finish_in_folder(run, options.out)


def _work(options: argparse.Namespace) -> None:
    from core.runs.judging.several import work_through  # imported lazily: loads what compares judges

    with existing_store(options.db) as store:
        progress, refused = work_through(
            [at_hand(store, number) for number in options.numbers],
            lambda run: work(
                store,
                run.run.run_id,
                lambda claimed: run.path.job(run.claimed(claimed)),
                alone=options.alone,
            ),
        )
        if refused:
            raise InputError("\n".join(refused.values()))
        if options.alone and any(one.state != "done" for one in progress):
            end_at_once()  # otherwise work that cannot be interrupted, such as loading a model, would continue


DEFAULT_BY, DEFAULT_RESAMPLES, MOST_TEXTS = "level,system", 1_000, 20_000
"""Columns to group a big table by; resamples of `--intervals`; most texts of one command."""


def _delete(options: argparse.Namespace) -> None:
    # Imported lazily: most verbs need neither.
    from core.runs.overview.deleting import KEEPS_TEXTS, NOT_BEGUN, PREVIEWS, chosen, delete, deletion_of

    age = options.older_than
    narrowed = age is not None or options.previews or options.not_begun
    problems = []
    if not narrowed and not options.numbers:
        problems.append("name runs, or choose them with --older-than, --previews or --not-begun")
    if age is not None and not 0 <= age <= 36_500:
        problems.append("--older-than: needs days from 0 to 36,500")
    check_options(problems)
    with existing_store(options.db) as store:
        numbers = options.numbers
        if narrowed:
            only = PREVIEWS if options.previews else NOT_BEGUN if options.not_begun else None
            found = [run.run_id for run in chosen(store, older_than_days=age, only=only)]
            numbers = [number for number in found if number in numbers or not numbers]
        going = deletion_of(store, numbers, force=options.force)
        more = f"{KEEPS_TEXTS} --force deletes the run all the same." if going.needed else ""
        # What was chosen by a rule is deleted as far as possible; what was named is deleted completely or not at all.
        if going.refused and options.numbers and not options.dry_run:
            raise InputError("Nothing was deleted.", [*going.refused, *filter(None, [more])])
        if not options.dry_run:
            with telling("deleting runs"):
                gone = delete(store, [run.run_id for run in going.runs], force=options.force)
        print(f"{'Would delete' if options.dry_run else 'Deleted'} {going.said}")
        left = [*going.refused, *([] if options.dry_run else map(_begun, gone.begun)), *filter(None, [more])]
        for line in left:
            print(f"Not deleted: {line}" if line is not more else line)
        if not options.dry_run:
            _compact(store, options)


def _begun(number: int) -> str:
    return f"A process has begun to work on run {number}."


def _compact(store: Store, options: argparse.Namespace) -> None:
    from core.store.upkeep import compact, in_bytes

    if options.compact:
        with telling("compacting the database"):
            freed = compact(store)
        print(f"Compacted {store.path.name}: {in_bytes(freed)} given back to the disk.")


def _disk(options: argparse.Namespace) -> None:
    from core.runs.overview.deleting import sweep
    from core.runs.overview.listing import run_sizes, size_json, size_table
    from core.runs.overview.space import house_json, house_of, memory_table, space_table

    wrong = [] if options.most >= 1 else ["--most: at least 1"]
    check_options([*wrong, *out_problems(options)])
    check_out_file(options, [])
    with existing_store(options.db) as store:
        sweep(store)
        if not options.json:
            _compact(store, options)
        elif options.compact:
            raise InputError("--compact: leave out --json.")
        house, sizes = house_of(store), run_sizes(store)
    table = size_table(sizes[: options.most])
    more = len(sizes) - options.most
    rest = [f"And {counted(more, 'smaller run')}. All: --most {len(sizes)}"] if more > 0 else []
    said: list[str | ResultTable] = [table, *rest, space_table(house), memory_table(house)]
    give(options, house_json(house) | {"runs": size_json(sizes[: options.most])}, said)


DEFAULT_BY, DEFAULT_RESAMPLES, MOST_SHOWN = "level,system", 1_000, 1_000
"""Columns to group a big table by; resamples of `--intervals`; most texts that one command prints."""


def _add_big_tables(verbs: Commands) -> None:
    """Register the verbs for runs over big tables."""
    command = _verb(
        verbs,
        "table",
        "estimates of a run over a big table: which metric follows quality, and means by group",
    )
    command.add_argument(
        "--by",
        metavar="COL,...",
        default=DEFAULT_BY,
        help="columns to group means by: item, system, level, language or a label (default %(default)s)",
    )
    command.add_argument("--metrics", metavar="NAME,...", help="only these metrics (default: all)")
    command.add_argument(
        "--intervals",
        action="store_true",
        help="also compute intervals by resampling items, which takes about a minute",
    )
    command.add_argument(
        "--resamples",
        type=int,
        help=f"number of bootstrap resamples (default {DEFAULT_RESAMPLES:,} with --intervals, else none)",
    )
    command.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of intervals (default %(default)s)"
    )
    command.add_argument("--seed", type=int, default=0, help="seed of all resampling (default %(default)s)")
    add_result_options(command, "correlations", "means")
    command.set_defaults(run=_table)
    command = _verb(verbs, "texts", "texts of a run over a big table with their scores, page by page")
    command.add_argument(
        "--where",
        metavar="COL=VALUE",
        action="append",
        default=[],
        help="only texts with this value: item, system, level, language or a label; may be repeated",
    )
    command.add_argument("--metrics", metavar="NAME,...", help="metrics to show (default: all)")
    command.add_argument(
        "--sort", metavar="METRIC", help="lowest scores of this metric first (default: order of the file)"
    )
    command.add_argument("--descending", action="store_true", help="with --sort: highest scores first")
    command.add_argument(
        "--from",
        dest="first",
        type=int,
        default=1,
        metavar="N",
        help="first text to show (default %(default)s)",
    )
    command.add_argument(
        "--limit",
        type=int,
        default=20,
        metavar="N",
        help=f"number of texts, at most {MOST_TEXTS:,} (default %(default)s)",
    )
    add_result_options(command)
    command.set_defaults(run=_texts)


def _table(options: argparse.Namespace) -> None:
    # Imported lazily, here and below: other verbs of runs compute no statistic.
    from core.results.big_tables.estimates import (
        big_said,
        estimates,
        estimates_json,
        followed_table,
        means_table,
    )
    from core.results.choices import interval_problems
    from core.runs.tables.opened import big_table

    resamples = options.resamples
    if resamples is None:
        resamples = DEFAULT_RESAMPLES if options.intervals else 0
    wrong = [f"--{one}" for one in interval_problems(resamples, options.confidence, options.seed)]
    check_options([*wrong, *out_problems(options)])
    check_out_file(options, [])
    with existing_store(options.db) as store, telling("reading the table") as tell:
        found = estimates(
            big_table(at_hand(store, options.number)),
            by=name_list(options.by) or [],
            metrics=name_list(options.metrics) or [],
            n_resamples=resamples,
            confidence_level=options.confidence,
            rng=options.seed,
            tell=tell,
        )
    give(options, estimates_json(found), [*big_said(found), followed_table(found), means_table(found)])


def _texts(options: argparse.Namespace) -> None:
    from core.results.big_tables.scored import TextQuery, texts_json, texts_page, texts_table
    from core.runs.tables.opened import big_table

    where = dict(one.split("=", 1) for one in options.where if "=" in one)
    problems = [
        f"--where: {shown(one)} is not COLUMN=VALUE, e.g. level=A3" for one in options.where if "=" not in one
    ]
    if options.descending and options.sort is None:
        problems.append("--descending: needs --sort")
    if options.first < 1:
        problems.append(f"--from: {options.first} is below 1")
    if not 1 <= options.limit <= MOST_TEXTS:
        problems.append(f"--limit: {options.limit} is not between 1 and {MOST_TEXTS:,}")
    check_options([*problems, *out_problems(options)])
    check_out_file(options, [])
    query = TextQuery(where, options.sort, options.descending, options.first - 1, options.limit)
    with existing_store(options.db) as store:
        table = big_table(at_hand(store, options.number))
        metrics = table.metric_named(name_list(options.metrics) or [])
        found, total = texts_page(table, query)
    give(options, texts_json(found, total, query), [*table.notes, texts_table(found, metrics, total, query)])
