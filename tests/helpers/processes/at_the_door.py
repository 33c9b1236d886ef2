"""The app with a study whose names are markers, people who come to it, and what none of them may be sent."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from helpers.processes.app_server import ROOT, AppServer, running
from helpers.processes.raw_rater import RawRater, RawVisitor
from helpers.texts.factories import StudyAtHand, dataset, study_in

from core.access import sign_out
from core.schema.study import Answer
from core.store import Store, open_store
from core.store.answers import answers_of, history_of
from core.store.raters import cookie_suffix, count_since, insert_session, update_rater
from core.store.studies import get_study
from core.study.lifecycle import move
from core.study.raters import Link, add_raters

ONE, TWO, STUDY, FILE = "MARKEROFONE", "MARKEROFTWO", "STUDYMARKER", "FILEMARKER.json"
SECRETS = (
    ONE,
    TWO,
    STUDY,
    "FILEMARKER",
    "candidate",
    "comparator",
    "New study",
    "What do you want to know",
    "Operation",
    "Traceback",
    "assay.db",
    "site-packages",
    str(ROOT),
)
NO_LINK = "Open the personal link you were sent."
"""What somebody reads who has no link."""
PAST_PRACTICE = 9
"""Step of the onboarding: guidelines are read, and the practice pairs are answered."""
ADMIN = "0123456789-the-session-of-the-admin"


@dataclass
class Door:
    """The app, its database, and people who come."""

    app: AppServer
    at_hand: StudyAtHand
    _numbers: Iterator[int]

    @property
    def store(self) -> Store:
        return self.at_hand.store

    @property
    def url(self) -> str:
        return self.app.url

    def link(self, name: str = "") -> Link:
        """A new rater's link; the name is a marker that nobody else may read."""
        study = get_study(self.store, self.at_hand.study_id)
        return add_raters(self.store, study, [name or f"PSEUDONYM{next(self._numbers):04d}"])[0]

    def rater(self, link: Link | None = None) -> RawRater:
        """A rater before the first pair."""
        link = link or self.link()
        update_rater(self.store, self.at_hand.study_id, link.rater_id, onboarding=PAST_PRACTICE)
        rater = RawRater.of_link(link.url(self.url))
        rater.rater_id = link.rater_id
        return rater

    def answers(self, link: Link) -> tuple[Answer, ...]:
        return answers_of(self.store, self.at_hand.study_id, link.rater_id)

    def choices(self, link: Link) -> list[str | None]:
        return [answer.choice for answer in self.answers(link)]

    def lines(self, link: Link) -> int:
        """Lines of history of a rater."""
        entries = history_of(self.store, self.at_hand.study_id)
        return len([entry for entry in entries if entry.answer.rater_id == link.rater_id])

    def counted(self, kind: str, address: str) -> int:
        return count_since(self.store, kind, 3600, address)

    def admin(self, token: str = ADMIN, seconds: float = 3600) -> str:
        """The cookie of a signed-in admin."""
        sign_out(self.store, token)
        insert_session(self.store, token, seconds)
        return self.cookie("admin", token)

    def cookie(self, holder: str, token: str) -> str:
        return f"assay_{holder}_{cookie_suffix(self.store)}={token}"


@contextmanager
def open_door(database: Path) -> Iterator[Door]:
    """Start the app on a study that is open."""
    with open_store(database) as store:
        data = dataset(3, sources=(ONE, TWO), file_name=FILE)
        at_hand = study_in(store, data, raters=[], name=STUDY, state="draft", repeat_share=0)
        add_raters(store, at_hand.study, ["PSEUDONYM0000"])
        move(store, at_hand.study, "open")
        with running(database) as app:
            yield Door(app, at_hand, count(1))


def nothing_leaked(*visitors: RawVisitor, but: tuple[str, ...] = ()) -> None:
    """No byte that came names a source, the study, another rater, a path of the machine, or a page of the admin."""
    for visitor in visitors:
        haystack = visitor.everything()
        for secret in {*SECRETS} - {*but}:
            assert secret.encode() not in haystack, f"{secret} was sent to a visitor"
        # A rater reads their own pseudonym. Where a test does not say which it is, it is the only one.
        named = {*re.findall(rb"PSEUDONYM\w*", haystack)} - {name.encode() for name in but}
        own = {visitor.rater_id.encode()} if visitor.rater_id else named if visitor.cookie else set()
        assert named <= own, f"{named} were sent to a visitor"
        assert len(named) <= 1, f"{named} were sent to a visitor"
