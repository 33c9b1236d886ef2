"""What the verbs of `runs` share."""

import argparse

from core.cli.shared.options import Commands, add_database_option


def run_verb(verbs: Commands, name: str, text: str) -> argparse.ArgumentParser:
    """Register a verb for one run, with its number and `--db`."""
    command = verbs.add_parser(name, help=text)
    add_number(command)
    add_database_option(command)
    return command


def add_number(command: argparse.ArgumentParser) -> None:
    """Register the number of a run."""
    command.add_argument("number", type=int, metavar="RUN", help="number of the run")
