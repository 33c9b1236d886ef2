"""`serve`: prepare the database, print the links, and start Streamlit, in one process or in several behind a proxy."""

import argparse
import ipaddress
import os
import re
import secrets
import shutil
import sys
from pathlib import Path

from core import access
from core.access import FRONT_PROXIES, FRONT_SECRET, PROXIES, check_proxies
from core.cli.serve.proxies import PROXY_NAMES, Door, configuration, start_command
from core.cli.shared.options import Commands, add_database_option
from core.errors import InputError, NotFound
from core.installation import COMMAND, HOUSE
from core.scratch import scratch_folder
from core.store import Store, database_path, open_store
from core.store.studies import find_study, read_setting, write_setting
from core.study.lifecycle import DEMO_NAME, load_demo_once
from core.study.raters import links

_APP = HOUSE / "app.py"
_DEFAULT_PORT, _LAST_PORT = "8501", 65_535
_NO_PROXY = "none"
_BASE_PATH, _BASE_ENV = "--server.baseUrlPath", "STREAMLIT_SERVER_BASE_URL_PATH"
_HOSTS, _HOSTS_ENV = "--server.allowedHosts", "STREAMLIT_SERVER_ALLOWED_HOSTS"
_PORT = ("--server.port", "STREAMLIT_SERVER_PORT")
_BOUND = ("--server.address", "STREAMLIT_SERVER_ADDRESS")
_COOKIE_SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"
_TLS = {
    "--server.sslCertFile": "STREAMLIT_SERVER_SSL_CERT_FILE",
    "--server.sslKeyFile": "STREAMLIT_SERVER_SSL_KEY_FILE",
}
_FILES = tuple(_TLS)
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
    command.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="number of app processes, on the ports after the proxy's (default %(default)s, without a proxy)",
    )
    command.add_argument(
        "--proxy",
        choices=(*PROXY_NAMES, _NO_PROXY),
        help=f"program that is started in front of the processes (default {PROXY_NAMES[0]}); {_NO_PROXY}: you run your own",
    )
    command.add_argument(
        "--print-proxy",
        choices=PROXY_NAMES,
        help="only print the proxy's configuration for these options",
    )
    command.set_defaults(run=_serve)


def _serve(options: argparse.Namespace) -> None:
    if _given(options.further, _BASE_PATH, _BASE_ENV):
        raise InputError(
            f"Assay needs its own host name or port for links and sign-in. Leave {_BASE_PATH} out."
        )
    proxies = options.behind_proxy or [p.strip() for p in os.environ.get(PROXIES, "").split(",") if p.strip()]
    check_proxies(proxies)
    _check_processes(options)
    if options.print_proxy:
        print(configuration(options.print_proxy, _door(options, proxies)), end="")
        return
    hosts = _host_options(options.host, options.further)
    path = database_path(options.db)
    if options.processes > 1 or options.proxy:
        _serve_together(options, proxies, hosts, path)
        return
    _prepare(path, _given(options.further, *_PORT) or _DEFAULT_PORT, proxies)
    further = _absolute_paths(options.further)
    # Streamlit reads .streamlit/config.toml from the working directory, and imports what lies there.
    os.chdir(HOUSE)
    os.execv(sys.executable, [*_streamlit(), *further, *hosts])


def _streamlit() -> list[str]:
    return [sys.executable, "-m", "streamlit", "run", str(_APP)]


def _prepare(path: Path, port: object, proxies: list[str]) -> None:
    """Update the database, print the links, and set what the app reads from its environment."""
    with open_store(path) as store:
        load_demo_once(store)
        address = f"http://127.0.0.1:{port}"
        write_setting(store, _ADDRESS, address)
        _print_links(store, address)
    sys.stdout.flush()
    os.environ["ASSAY_DB"] = str(path.resolve())
    # Set even if empty: otherwise uvicorn trusts headers from this machine.
    os.environ[PROXIES] = ",".join(proxies)


def _check_processes(options: argparse.Namespace) -> None:
    problems = []
    if options.processes < 1:
        problems.append(f"--processes is {options.processes}; at least 1 is needed")
    port = _given(options.further, *_PORT) or _DEFAULT_PORT
    if options.processes > 1 or options.proxy or options.print_proxy:
        if not port.isdecimal() or not 0 < int(port) <= _LAST_PORT - max(options.processes, 1):
            problems.append(
                f"--server.port is {port}; it and the ports of the processes are 1 to {_LAST_PORT}"
            )
        problems += [
            f"{name}: leave it out, because the proxy ends TLS"
            for name, variable in _TLS.items()
            if _given(options.further, name, variable)
        ]
    if problems:
        raise InputError("The app cannot start with these options.", problems)


def _door(options: argparse.Namespace, proxies: list[str], secret: str = "") -> Door:
    port = int(_given(options.further, *_PORT) or _DEFAULT_PORT)
    address = _given(options.further, *_BOUND) or HERE[1]
    return Door(address, port, range(port + 1, port + 1 + options.processes), proxies, secret)


def _serve_together(options: argparse.Namespace, proxies: list[str], hosts: list[str], path: Path) -> None:
    """Run the proxy and the app processes until Ctrl-C or SIGTERM, and start again what dies."""
    from core.cli.serve.together import Part, check_free, keep_running

    proxy = options.proxy or PROXY_NAMES[0]
    program = None if proxy == _NO_PROXY else _program(proxy)
    secret = secrets.token_hex() if program else ""
    door = _door(options, proxies, secret)
    check_free(door.address, door.port if program else None, door.processes)
    # By its address uvicorn would believe every program of this machine: the proxy started here is known by its secret.
    _prepare(path, door.port, [] if program else proxies)
    if not program and not proxies:
        print(
            "No proxy is named, so all clients count as one address, and pages opened by https are refused. "
            "Name your proxy: --behind-proxy ADDRESS"
        )
    front = {FRONT_SECRET: secret, FRONT_PROXIES: ",".join(proxies)} if program else {}
    environment = {_COOKIE_SECRET: secrets.token_hex(), **os.environ, **front}
    # Options of the user come first: of an option that is given twice, Streamlit takes the last.
    command = [*_streamlit(), *_absolute_paths(options.further), *hosts, "--logger.hideWelcomeMessage=true"]
    apps = [
        Part(
            f"app process {number} (port {port})",
            [*command, f"--server.address={HERE[1]}", f"--server.port={port}"],
            port,
            environment,
            HOUSE,
        )
        for number, port in enumerate(door.processes, 1)
    ]

    def ready() -> None:
        where = f"behind {proxy} at {door.bound}" if program else "and wait for your proxy"
        said = f"{len(apps)} app processes answer on ports {door.processes[0]} to {door.processes[-1]}"
        print(f"{said}, {where}. Ctrl-C ends them.", flush=True)

    with scratch_folder() as folder:
        before = None
        if program:
            file = folder / f"{proxy}.conf"
            file.write_text(configuration(proxy, door), "utf-8")
            before = Part(f"proxy {proxy} (port {door.port})", start_command(proxy, program, file), door.port)
        keep_running(apps, before, lambda line: print(line, flush=True), ready)


def _program(proxy: str) -> str:
    """Return the path of an installed proxy. Debian installs both where only root's PATH leads."""
    found = shutil.which(proxy) or shutil.which(
        proxy, path="/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin"
    )
    if not found:
        raise InputError(
            f"{proxy} is not installed. Install it (on Debian: apt install {proxy}), or choose another by --proxy. "
            f"`{COMMAND} serve --print-proxy {proxy}` writes the configuration for a proxy elsewhere."
        )
    return found


def _absolute_paths(further: list[str]) -> list[str]:
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
    bound = _given(further, *_BOUND)
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
