"""`admin`: a one-time link for whoever runs the app, and what happened at the door."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from core.access import admin
from core.cli.options import Commands, add_database_option, add_reading_verb, existing_store, print_result
from core.cli.serve import ADDRESS, DEFAULT_ADDRESS
from core.store.sign_in import Event, events
from core.store.studies import read_setting


def add_to(nouns: Commands) -> None:
    """Register `admin` and its verbs."""
    noun = nouns.add_parser("admin", help="the admin's sign-in")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    command = verbs.add_parser("link", help="print a link that sets a (new) passphrase once, within a day")
    command.add_argument("--url", help="address of the app (default: where it was last started)")
    add_database_option(command)
    command.set_defaults(run=_link)
    add_reading_verb(verbs, "events", "sign-ins, and attempts that opened nothing", _events)


def _link(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        base = options.url or read_setting(store, ADDRESS) or DEFAULT_ADDRESS
        print(f"{base.rstrip('/')}/admin/{admin.make_link(store)}")


def _events(options: argparse.Namespace) -> None:
    with existing_store(options.db) as store:
        found = events(store)
    print_result(options, [asdict(event) for event in found], _print_events, found)


def _print_events(found: Sequence[Event]) -> None:
    for event in found:
        print("\t".join((event.last_utc, event.kind, str(event.n), event.address or "-")))
