"""Links that open nothing: counted where they came from, and answered more shortly when there are many."""

from core.store import Store
from core.store.sign_in import count_event, count_since

UNKNOWN_TOKEN = "unknown link"
NO_ENTRY = "refused without sign-in"
MOST, WINDOW_SECONDS = 30, 15 * 60
"""After so many from one address within the window nothing more is written about it."""


def knocked(store: Store, kind: str, address: str) -> bool:
    """Count an attempt that opened nothing; returns whether there were too many from this address.

    A link that does open is let in even then: its 128 bits cannot be guessed, and raters may share an
    address with whoever is trying.
    """
    if count_since(store, kind, WINDOW_SECONDS, address) >= MOST:
        return True
    count_event(store, kind, address, window_seconds=WINDOW_SECONDS)
    return False
