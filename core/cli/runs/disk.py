"""`runs delete` and `runs disk`: what runs take on the disk, and how to free it."""

import argparse

from core.cli.shared.giving import add_result_options, check_out_file, give, output_problems
from core.cli.shared.options import Commands, Options, add_database_option, check_options, existing_store
from core.cli.shared.running import telling
from core.errors import InputError, counted
from core.schema.result_table import ResultTable
from core.store import Store


def add_to(verbs: Commands) -> None:
    """Register `delete` and `disk`."""
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
    from core.store.upkeep import byte_size, compact

    if options.compact:
        with telling("compacting the database"):
            freed = compact(store)
        print(f"Compacted {store.path.name}: {byte_size(freed)} given back to the disk.")


def _disk(options: argparse.Namespace) -> None:
    from core.runs.overview.deleting import sweep
    from core.runs.overview.listing import run_sizes, size_json, size_table
    from core.runs.overview.space import house_json, house_of, memory_table, space_table

    wrong = [] if options.most >= 1 else ["--most: at least 1"]
    check_options([*wrong, *output_problems(options)])
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
