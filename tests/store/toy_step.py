"""A second step, which stands for those of later versions: there is no real one before the first release."""

import time

from sqlite_utils import Database

from core.store.migrations import STEPS

NAME = "m002_toy"
COPY = f"assay.db.before-{NAME}"


def move(db: Database) -> None:
    """Move what the column of the toy holds, as slowly as a large database."""
    time.sleep(0.05)
    db.execute("UPDATE setting SET toy = value")


PARTS = ("ALTER TABLE setting ADD COLUMN toy TEXT", move, "CREATE TABLE toy (id INTEGER PRIMARY KEY) STRICT")


def register() -> None:
    """Add the step in a child process."""
    STEPS[NAME] = PARTS
