"""`study backup` and `study restore`: the whole database with the key of its links, out and back."""

import argparse
import os
from pathlib import Path

from core.cli.options import (
    Commands,
    add_database_option,
    check_not_the_database,
    existing_database,
    read_file,
    write_file,
)
from core.store import database_path, open_store
from core.store.backup import write_backup
from core.store.restore import restore_backup


def add_backup(verbs: Commands) -> None:
    """Register `study backup` and `study restore`."""
    command = verbs.add_parser("backup", help="all studies and the key of their links, as one zip")
    command.add_argument("--out", type=Path, required=True, help="the zip; keep it as safe as the database")
    add_database_option(command)
    command.set_defaults(run=_backup)
    command = verbs.add_parser("restore", help="put a backup back; works while the app runs")
    command.add_argument("file", type=Path, help="a zip that `study backup` wrote")
    command.add_argument(
        "--replace", action="store_true", help="where there is a database: keep a copy of it, and replace it"
    )
    add_database_option(command)
    command.set_defaults(run=_restore)


def _backup(options: argparse.Namespace) -> None:
    path = existing_database(options.db)
    check_not_the_database(options.out, path)
    with open_store(path) as store:
        data = write_backup(store)
    mask = os.umask(0o077)  # it opens every link: for its owner's eyes alone
    try:
        write_file(options.out, data)
    finally:
        os.umask(mask)
    print(f"{options.out}\nIt opens every personal link: keep it as safe as the database.")


def _restore(options: argparse.Namespace) -> None:
    path = database_path(options.db)
    restored = restore_backup(
        read_file(options.file), path, file_name=options.file.name, replace=options.replace
    )
    print(
        f"Restored {path} from the backup of {restored.created_utc} (Assay {restored.app_version}); "
        f"studies: {', '.join(restored.studies) or 'none'}.\n"
        "Everything stands as it stood then, personal links too."
    )
    if restored.kept is not None:
        print(f"What was there before is kept: {restored.kept}")
