"""`serve`: prepare the database, print the links, and start Streamlit."""

import argparse
import ipaddress
import os
import re
import sys

from core import access
from core.access import PROXIES, check_proxies
from core.cli.shared.options import Commands, add_database_option
from core.errors import InputError, NotFound
from core.installation import HOUSE
from core.store import Store, database_path, open_store
from core.store.studies import find_study, read_setting, write_setting
from core.study.lifecycle import DEMO_NAME, load_demo_once
from core.study.raters import links

_APP = HOUSE / "app.py"
_DEFAULT_PORT = "8501"
_BASE_PATH, _BASE_ENV = "--server.baseUrlPath", "STREAMLIT_SERVER_BASE_URL_PATH"
_HOSTS, _HOSTS_ENV = "--server.allowedHosts", "STREAMLIT_SERVER_ALLOWED_HOSTS"
_FILES = ("--server.sslCertFile", "--server.sslKeyFile")
"""Options of Streamlit that name a file."""
HERE = ("localhost", "127.0.0.1", "::1")
"""Host names at which the app always answers, the same as in .streamlit/config.toml."""
_DEFAULT_ADDRESS = f"http://127.0.0.1:{_DEFAULT_PORT}"
_ADDRESS = "address"
"""Name of the setting with the address at which the app last started."""


def add_to(nouns: Commands) -> None:
    """Register `serve`."""
    command = nouns.add_parser(
        "serve",
        description="Start the app. Further options are passed to Streamlit, e.g. --server.port 8600.",
    )
    add_database_option(command)
    command.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="host name at which browsers reach the app, besides localhost; may be repeated",
    )
    command.add_argument(
        "--behind-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="IP address or network of a proxy whose X-Forwarded-For header names the client; may be repeated",
    )
    command.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> None:
    if _given(options.further, _BASE_PATH, _BASE_ENV):
        raise InputError(
            f"Assay needs its own host name or port for links and sign-in. Leave {_BASE_PATH} out."
        )
    proxies = options.behind_proxy or [p.strip() for p in os.environ.get(PROXIES, "").split(",") if p.strip()]
    check_proxies(proxies)
    hosts = _host_options(options.host, options.further)
    path = database_path(options.db)
    with open_store(path) as store:
        load_demo_once(store)
        port = _given(options.further, "--server.port", "STREAMLIT_SERVER_PORT") or _DEFAULT_PORT
        address = f"http://127.0.0.1:{port}"
        write_setting(store, _ADDRESS, address)
        _print_links(store, address)
    sys.stdout.flush()
    os.environ["ASSAY_DB"] = str(path.resolve())
    os.environ[PROXIES] = ",".join(
        proxies
    )  # set even if empty: otherwise uvicorn trusts headers from this machine
    further = _with_whole_paths(options.further)
    # Streamlit reads .streamlit/config.toml from the working directory, and imports what lies there.
    os.chdir(HOUSE)
    command = [sys.executable, "-m", "streamlit", "run", str(_APP), *further, *hosts]
    os.execv(sys.executable, command)


def _with_whole_paths(further: list[str]) -> list[str]:
    """Make the paths that the user gave absolute, in the environment and in Streamlit's options, which are returned."""
    for name, value in os.environ.items():
        if re.fullmatch(r"ASSAY_\w+_PYTHON", name) and value:
            os.environ[name] = os.path.abspath(value)
    whole = list(further)
    for index, argument in enumerate(further):
        name, equals, value = argument.partition("=")
        if name in _FILES and equals:
            whole[index] = f"{name}={os.path.abspath(value)}"
        elif name in _FILES and index + 1 < len(further):
            whole[index + 1] = os.path.abspath(further[index + 1])
    return whole


def add_url_option(command: argparse.ArgumentParser) -> None:
    """Register `--url`, the same for every command that prints links."""
    command.add_argument("--url", help="address of the app (default: where it last started)")


def address_of(store: Store, url: str | None) -> str:
    """Return the address of the app for links."""
    return url or read_setting(store, _ADDRESS) or _DEFAULT_ADDRESS


def _host_options(named: list[str], further: list[str]) -> list[str]:
    """Return Streamlit's options for the host names of the app; empty if its configuration suffices."""
    problems = [f"`{name}`" for name in named if not _is_host(name)]
    if problems:
        raise InputError("--host: give a host name without scheme, port or path.", problems)
    bound = _given(further, "--server.address", "STREAMLIT_SERVER_ADDRESS")
    names = list(named)
    if not _given(further, _HOSTS, _HOSTS_ENV) and bound and bound not in HERE:
        if not _is_everywhere(bound):
            names.append(bound)
        elif not names:
            print("\nThe app answers only at localhost. Name the host that browsers use: --host NAME")
    return [f"{_HOSTS}={name}" for name in (*HERE, *names)] if names else []


def _is_host(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return bool(name) and not set(name) & set("/:@?# ")


def _is_everywhere(bound: str) -> bool:
    try:
        return ipaddress.ip_address(bound).is_unspecified
    except ValueError:
        return False


def _print_links(store: Store, base: str) -> None:
    if access.has_passphrase(store):
        print(f"\nAdmin, with your passphrase:\n  {base}/sign-in")
    else:
        print(
            "\nAdmin (one-time link, valid for a day, to choose a passphrase):\n"
            f"  {base}/admin/{access.make_link(store)}"
        )
    try:
        for link in links(store, find_study(store, DEMO_NAME)):
            print(f"Demo study as {link.rater_id}:\n  {link.url(base)}")
    except NotFound:  # the owner renamed or deleted it
        pass
    print()


def _given(arguments: list[str], option: str, variable: str) -> str:
    """Return a value that Streamlit reads from its options or environment; empty if it is not set."""
    for index, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == option:
            return value or next(iter(arguments[index + 1 :]), "")
    return os.environ.get(variable, "")
