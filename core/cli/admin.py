"""`admin`: a one-time sign-in link for the admin, and the log of sign-ins."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from core import access
from core.cli.serve import add_url_option, address_of
from core.cli.shared.options import (
    Commands,
    add_database_option,
    add_reading_verb,
    existing_store,
    print_result,
)
from core.store.raters import Event, events


def add_to(nouns: Commands) -> None:
    """Register `admin` and its verbs."""
    noun = nouns.add_parser("admin")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    command = verbs.add_parser(
        "link", help="print a one-time link to set a (new) passphrase; it is valid for a day"
    )
    add_url_option(command)
    add_database_option(command)
    command.set_defaults(run=_link)
    add_reading_verb(verbs, "events", "list sign-ins and refused attempts", _events)


def _link(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        print(f"{address_of(store, options.url).rstrip('/')}/admin/{access.make_link(store)}")


def _events(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        found = events(store)
    print_result(options, [asdict(event) for event in found], _print_events, found)


def _print_events(found: Sequence[Event]) -> None:
    for event in found:
        print("\t".join((event.last_utc, event.kind, str(event.n), event.address or "-")))
