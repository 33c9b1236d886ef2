"""`serve`: prepare the database, print the links, and hand over to Streamlit."""

import argparse
import os
import sys
from pathlib import Path

from core.access import admin
from core.cli.options import Commands, add_database_option
from core.errors import InputError, NotFound
from core.store import Store, database_path, open_store
from core.store.studies import find_study, write_setting
from core.study.demo import DEMO_NAME, load_demo_once
from core.study.raters import links

_APP = Path(__file__).resolve().parents[2] / "app.py"
_DEFAULT_PORT = "8501"
_BASE_PATH, _BASE_ENV = "--server.baseUrlPath", "STREAMLIT_SERVER_BASE_URL_PATH"
DEFAULT_ADDRESS = f"http://127.0.0.1:{_DEFAULT_PORT}"
ADDRESS = "address"
"""Setting: where the app was last started, for links that a command prints."""


def add_to(nouns: Commands) -> None:
    """Register `serve`."""
    command = nouns.add_parser(
        "serve",
        help="start the app (what ./run calls)",
        description="Start the app. Further options go to Streamlit, such as --server.port 8600.",
    )
    add_database_option(command)
    command.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> None:
    if _BASE_PATH in {argument.partition("=")[0] for argument in options.further} or os.environ.get(
        _BASE_ENV
    ):
        raise InputError(
            f"Links and sign-in need an address of their own, such as a host name or a port: leave {_BASE_PATH} out."
        )
    path = database_path(options.db)
    with open_store(path) as store:
        load_demo_once(store)
        address = f"http://127.0.0.1:{_port(options.further)}"
        write_setting(store, ADDRESS, address)
        _print_links(store, address)
    sys.stdout.flush()
    os.environ["ASSAY_DB"] = str(path.resolve())
    os.chdir(_APP.parent)  # Streamlit reads .streamlit/config.toml from the working directory
    command = [sys.executable, "-m", "streamlit", "run", str(_APP), *options.further]
    os.execv(sys.executable, command)


def _print_links(store: Store, base: str) -> None:
    if admin.has_passphrase(store):
        print(f"\nAdmin, with your passphrase:\n  {base}/sign-in")
    else:
        print(
            "\nAdmin (works once, for a day; you choose a passphrase there):\n"
            f"  {base}/admin/{admin.make_link(store)}"
        )
    try:
        for link in links(store, find_study(store, DEMO_NAME)):
            print(f"Demo study as {link.rater_id}:\n  {link.url(base)}")
    except NotFound:  # the owner renamed or never had it
        pass
    print()


def _port(arguments: list[str]) -> str:
    """The port Streamlit will listen on, as far as its options or environment say."""
    for index, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--server.port":
            return value or next(iter(arguments[index + 1 :]), _DEFAULT_PORT)
    return os.environ.get("STREAMLIT_SERVER_PORT", _DEFAULT_PORT)
