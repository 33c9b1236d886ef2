"""`serve --processes`: whose word counts about a client's address, at the front and past it at an app process."""

from collections.abc import Iterator

import pytest
from helpers.processes.raw_rater import ask
from helpers.processes.several_apps import SeveralApps, needs, several_running

from core import access
from core.cli.serve.proxies import PROXY_NAMES
from core.store import Store, open_store
from core.store.raters import events

pytestmark = pytest.mark.slow

PASSPHRASE = "correct horse battery staple"


@pytest.fixture(scope="module", params=PROXY_NAMES)
def apps(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeveralApps]:
    needs(request.param)
    database = tmp_path_factory.mktemp(request.param) / "assay.db"
    with open_store(database) as store:
        access.choose_passphrase(store, access.make_link(store), PASSPHRASE, PASSPHRASE)
    with several_running(database, 2, request.param) as running:
        yield running


def looked_at(url: str, address: str, header: str, n: int = 10) -> int:
    """How many of n wrong passphrases are checked, each sent with a client's address of its own."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    said = [
        ask(
            url,
            "/sign-in",
            method="POST",
            body=b"passphrase=wrong",
            headers={**form, header: f"198.51.100.{number}"},
            address=address,
        ).body
        for number in range(n)
    ]
    assert all(b"Wrong passphrase" in body or b"Too many" in body for body in said)
    return sum(b"Wrong passphrase" in body for body in said)


def test_a_client_of_this_machine_does_not_choose_its_address(apps: SeveralApps) -> None:
    """Thirty passphrases, each with an address of its own, at the front and past it: five are looked at."""
    tried = [looked_at(apps.url_of(number), "127.0.0.1", "X-Forwarded-For") for number in range(3)]
    assert tried == [access.MOST_FAILURES, 0, 0]
    with open_store(apps.database) as store:
        assert counted(store, access.WRONG_PASSPHRASE, "127.0.0.1") == access.MOST_FAILURES
        assert not [event for event in events(store) if event.address.startswith("198.51.100")]


def counted(store: Store, kind: str, address: str) -> int:
    return sum(event.n for event in events(store) if (event.kind, event.address) == (kind, address))
