"""Raters at work in threads while servers die, and the database against what they pressed and what the page told them."""

import random
import sqlite3
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from helpers.processes.raw_rater import Gone, RawRater
from helpers.texts.factories import StudyAtHand

from core.schema.study import CHOICES
from core.store.answers import answers_of, assignments_of, history_of

Press = tuple[int, str]
"""Number of the pair on the rater's list, choice."""


@dataclass
class Voter:
    """One rater at work in a thread of their own, who comes back whenever the connection breaks."""

    rater_id: str
    rater: RawRater
    enough: threading.Event
    pressed: list[Press] = field(default_factory=list)
    acknowledged: list[Press] = field(default_factory=list)
    returns: int = 0
    problem: BaseException | None = None

    def work(self) -> None:
        """Vote until it is enough, or all is done; keep what was pressed before it is sent."""
        draw = random.Random(self.rater_id)
        try:
            while not self.enough.is_set():
                try:
                    if not self.rater.choices():
                        return
                    self._vote(draw.randrange(4))
                except (Gone, OSError):
                    self._come_back()
        except BaseException as problem:  # for the test to show
            self.problem = problem

    def _vote(self, which: int) -> None:
        press = self.rater.number(), CHOICES[which]
        self.pressed.append(press)
        if self.rater.choose(which):
            self.acknowledged.append(press)

    def _come_back(self) -> None:
        """As a browser does: the same address, until somebody answers. What is drawn there counts."""
        self.returns += 1
        last_try = time.monotonic() + 60
        while True:
            try:
                self.rater.connect()
                self.rater.go()
                return
            except Exception:
                if time.monotonic() > last_try:
                    raise
                time.sleep(0.2)


def until_more(voters: list[Voter], threads: list[threading.Thread], votes: int) -> None:
    """Wait until so many more votes are acknowledged, or nobody has any left to give."""
    wanted = sum(len(voter.acknowledged) for voter in voters) + votes
    while sum(len(voter.acknowledged) for voter in voters) < wanted:
        if not any(thread.is_alive() for thread in threads):
            return
        time.sleep(0.05)


def check(at_hand: StudyAtHand, voters: list[Voter]) -> None:
    """The database against what the raters pressed and what the page told them."""
    store, study_id = at_hand.store, at_hand.study_id
    with sqlite3.connect(store.path) as plain:
        assert plain.execute("pragma integrity_check").fetchall() == [("ok",)]
    history = history_of(store, study_id)
    for voter in voters:
        numbers = {a.key: a.position for a in assignments_of(store, study_id, voter.rater_id)}
        kept = {numbers[a.key]: a.choice for a in answers_of(store, study_id, voter.rater_id)}
        lines = Counter(
            (numbers[entry.answer.key], entry.answer.choice)
            for entry in history
            if entry.answer.rater_id == voter.rater_id
        )
        for press in voter.acknowledged:
            assert lines[press] >= 1, f"{voter.rater_id}: {press} was acknowledged and is not in the history"
        last = dict(voter.acknowledged)
        later = {number for number, choice in voter.pressed if last.get(number) != choice}
        for number, choice in last.items():
            assert number in later or kept[number] == choice, f"{voter.rater_id}: pair {number}"
        assert set(kept.items()) <= set(voter.pressed), f"{voter.rater_id} has an answer nobody pressed"
        assert set(lines) <= set(voter.pressed)
    silent = {a.rater_id for a in answers_of(store, study_id)} - {voter.rater_id for voter in voters}
    assert not silent, "somebody who never voted has an answer"
