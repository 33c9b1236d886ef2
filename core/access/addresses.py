"""Whose address counts at the door, and which proxies may say whose request they pass on."""

import ipaddress
from collections.abc import Iterable

from core.errors import InputError

PROXIES = "FORWARDED_ALLOW_IPS"
"""The environment variable in which uvicorn reads whose X-Forwarded-For it takes; unset, it takes this machine's."""
UNKNOWN = "unknown"


def check_proxies(named: Iterable[str]) -> None:
    """Raise InputError unless each is an IP address or a network.

    Under any other name uvicorn finds no proxy, and with `*` it takes the address that a client invents.
    """
    problems = []
    for proxy in named:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as problem:
            problems.append(f"`{proxy}`: {problem}")
    if problems:
        raise InputError(
            f"Name the proxy by its IP address or network (--behind-proxy, {PROXIES}), e.g. 127.0.0.1.",
            problems,
        )


def known_address(host: str) -> str:
    """An IP address in its shortest form, or `unknown`: what a proxy forwards may be anything, and of any length."""
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        return UNKNOWN
    if isinstance(parsed, ipaddress.IPv6Address):
        # Made from its number, an address has no zone, which is free text.
        parsed = parsed.ipv4_mapped or ipaddress.IPv6Address(int(parsed))
    return str(parsed)
