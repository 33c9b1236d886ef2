"""`serve`: prepare the database, print the links, and hand over to Streamlit."""

import argparse
import ipaddress
import os
import sys
from pathlib import Path

from core import access
from core.access import PROXIES, check_proxies
from core.cli.shared.options import Commands, add_database_option
from core.errors import InputError, NotFound
from core.store import Store, database_path, open_store
from core.store.studies import find_study, read_setting, write_setting
from core.study.lifecycle import DEMO_NAME, load_demo_once
from core.study.raters import links

_APP = Path(__file__).resolve().parents[2] / "app.py"
_DEFAULT_PORT = "8501"
_BASE_PATH, _BASE_ENV = "--server.baseUrlPath", "STREAMLIT_SERVER_BASE_URL_PATH"
_HOSTS, _HOSTS_ENV = "--server.allowedHosts", "STREAMLIT_SERVER_ALLOWED_HOSTS"
HERE = ("localhost", "127.0.0.1", "::1")
"""Names under which the app always answers; .streamlit/config.toml holds the same."""
_DEFAULT_ADDRESS = f"http://127.0.0.1:{_DEFAULT_PORT}"
_ADDRESS = "address"
"""Setting: where the app was last started."""


def add_to(nouns: Commands) -> None:
    """Register `serve`."""
    command = nouns.add_parser(
        "serve",
        description="Start the app. Further options go to Streamlit, such as --server.port 8600.",
    )
    add_database_option(command)
    command.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="host name by which browsers reach the app besides localhost; repeat for several",
    )
    command.add_argument(
        "--behind-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="IP address or network of a proxy whose X-Forwarded-For names the client; repeat for several",
    )
    command.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> None:
    if _given(options.further, _BASE_PATH, _BASE_ENV):
        raise InputError(
            f"Links and sign-in need an address of their own, such as a host name or a port: leave {_BASE_PATH} out."
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
    os.environ[PROXIES] = ",".join(proxies)  # even if empty: unset, uvicorn believes this machine's headers
    os.chdir(_APP.parent)  # Streamlit reads .streamlit/config.toml from the working directory
    command = [sys.executable, "-m", "streamlit", "run", str(_APP), *options.further, *hosts]
    os.execv(sys.executable, command)


def add_url_option(command: argparse.ArgumentParser) -> None:
    """`--url`, the same for every command that prints links."""
    command.add_argument("--url", help="address of the app (default: where it was last started)")


def address_of(store: Store, url: str | None) -> str:
    """Where links lead."""
    return url or read_setting(store, _ADDRESS) or _DEFAULT_ADDRESS


def _host_options(named: list[str], further: list[str]) -> list[str]:
    """What Streamlit is told of the names under which the app answers; nothing where its configuration holds."""
    problems = [f"`{name}`" for name in named if not _is_host(name)]
    if problems:
        raise InputError("--host takes a host name without scheme, port and path.", problems)
    bound = _given(further, "--server.address", "STREAMLIT_SERVER_ADDRESS")
    names = list(named)
    if not _given(further, _HOSTS, _HOSTS_ENV) and bound and bound not in HERE:
        if not _is_everywhere(bound):
            names.append(bound)
        elif not names:
            print("\nThe app answers to localhost alone. Name the host that browsers use: --host NAME")
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
            "\nAdmin (works once, for a day; you choose a passphrase there):\n"
            f"  {base}/admin/{access.make_link(store)}"
        )
    try:
        for link in links(store, find_study(store, DEMO_NAME)):
            print(f"Demo study as {link.rater_id}:\n  {link.url(base)}")
    except NotFound:  # the owner renamed or never had it
        pass
    print()


def _given(arguments: list[str], option: str, variable: str) -> str:
    """A value that Streamlit will read from its options or environment; empty where neither has one."""
    for index, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == option:
            return value or next(iter(arguments[index + 1 :]), "")
    return os.environ.get(variable, "")
