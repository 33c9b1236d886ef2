"""Raters of texts at work at once, and killed: what was said to be saved is there, whole, and its history with it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.processes.app_server import ROOT
from helpers.texts.rating_studies import RatingStudyAtHand, rate_all, rating_study, rating_texts, unblind
from killed_process import said_until_killed

from core.schema.scores import ErrorSpan
from core.store import Store, open_store
from core.store.backup import restore_backup, write_backup
from core.study.blinding import missing, open_rating_desk
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import exclude_rater, withdraw_rater
from core.study.ratings import EXCLUDED, counted

SCRIPT = Path(__file__).with_name("rating_process.py")
Said = tuple[int, float, int, int]
"""Number on the list, overall score, end of the only error, whether it is done."""


def rating_process(at_hand: RatingStudyAtHand, rater: str, rounds: int) -> "subprocess.Popen[str]":
    command = [sys.executable, str(SCRIPT), str(at_hand.store.path), at_hand.tokens[rater], str(rounds)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def acknowledged(printed: str) -> list[Said]:
    """In the order in which they were acknowledged; a line cut short was not."""
    whole = printed[: printed.rfind("\n") + 1]
    lines = (line.split() for line in whole.splitlines())
    return [(int(number), float(score), int(end), int(done)) for number, score, end, done in lines]


def saved(at_hand: RatingStudyAtHand, rater: str) -> list[Said]:
    """Every line of a rater's history."""
    record = at_hand.record
    numbers = {one.key: one.position for one in record.rating_assignments}
    return [
        (numbers[said.key], said.scores["overall"], said.spans[0].end if said.spans else 0, int(said.done))
        for said in (entry.answer for entry in record.rating_history)
        if said.rater_id == rater
    ]


def whole(at_hand: RatingStudyAtHand) -> bool:
    """One current answer a text, what its history ends with; nothing is done that lacks something."""
    record, task = at_hand.record, at_hand.study.task
    assert task is not None
    last = {entry.answer.key: entry.answer for entry in record.rating_history}
    current = {answer.key: answer for answer in record.rating_answers}
    assert len(current) == len(record.rating_answers)
    assert not [one for one in current.values() if one.done and missing(task, one)]
    assert at_hand.store.row("pragma integrity_check") == {"integrity_check": "ok"}
    return last == current


@pytest.mark.slow
def test_kill_9_loses_no_rating_that_was_acknowledged(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(8))
    current: dict[int, Said] = {}
    before = 0
    for turn in range(5):
        process = rating_process(at_hand, "R1", 1000)
        expected = []
        for said in acknowledged(said_until_killed(process, 11 + 29 * turn)):
            if current.get(said[0]) != said:  # the same again is no change
                expected.append(said)
                current[said[0]] = said
        history = saved(at_hand, "R1")
        new, before = history[before:], len(history)
        assert new[: len(expected)] == expected
        assert len(new) - len(expected) in (0, 1), "one may have been saved and not yet acknowledged"
        current |= {said[0]: said for said in new[len(expected) :]}
        assert whole(at_hand)
    assert before > 100
    assert read_bundle(write_bundle(at_hand.record), "b.zip") == at_hand.record


@pytest.mark.slow
def test_eight_raters_in_eight_processes(store: Store) -> None:
    raters = [f"R{number}" for number in range(8)]
    at_hand = rating_study(store, rating_texts(2), raters=raters, repeat_share=0.0)
    processes = {rater: rating_process(at_hand, rater, 2) for rater in raters}
    for rater, process in processes.items():
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        assert len(acknowledged(out)) == 2 * 3 * 6
        assert list(dict.fromkeys(saved(at_hand, rater))) == list(dict.fromkeys(acknowledged(out)))
    assert whole(at_hand)
    assert all(one.done for one in at_hand.record.rating_answers)


def test_two_raters_with_two_tabs_each(store: Store) -> None:
    """Scores, marks, notes and `done` from four threads: each is in the history, and no field undoes another."""
    at_hand = rating_study(store, rating_texts(1))
    tokens, problems = at_hand.tokens, []

    def tab(rater: str, first: int) -> None:
        try:
            for value in range(first, 20, 2):
                with open_store(store.path) as own:
                    desk = open_rating_desk(own, tokens[rater])
                    assert desk is not None
                    if first:
                        desk.save_scores(1, {"overall": value, "H": 1})
                    else:
                        desk.save_spans(1, [ErrorSpan(value, value + 1, "minor", "fluency/grammar")])
        except Exception as problem:  # for the test to show
            problems.append(problem)

    threads = [threading.Thread(target=tab, args=(rater, n)) for rater in ("R1", "R2") for n in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    record = at_hand.record
    assert len(record.rating_history) == 40
    assert [(a.scores["overall"], a.spans[0].start) for a in record.rating_answers] == [(19.0, 18)] * 2
    assert whole(at_hand)


def test_a_backup_holds_ratings(store: Store, tmp_path: Path) -> None:
    at_hand = rating_study(store)
    rate_all(at_hand.desk("R1"))
    at_hand.desk("R2").save_scores(1, {"overall": 3})
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "elsewhere" / "assay.db"
    restore_backup(write_backup(store), path)
    with open_store(path) as other:
        again = RatingStudyAtHand(other, at_hand.study_id)
        assert again.record == at_hand.record
        assert again.tokens == at_hand.tokens, "links of a backup still open"
        again.desk("R2").save_scores(1, {"overall": 4})


def test_who_withdraws_or_is_excluded_leaves_no_name_and_does_not_count(store: Store) -> None:
    at_hand = rating_study(store, raters=("zz-kept", "zz-gone", "zz-out", "R4"), repeat_share=0.0)
    for rater in ("zz-kept", "zz-gone", "zz-out", "R4"):
        at_hand.desk(rater).save_note(1, comment=f"{rater} was here")
        rate_all(at_hand.desk(rater))
    token = at_hand.tokens["zz-gone"]
    withdraw_rater(store, at_hand.study, "zz-kept", keep_votes=True)
    withdraw_rater(store, at_hand.study, "zz-gone", keep_votes=False)
    exclude_rater(store, at_hand.study, "zz-out", "asleep")
    assert open_rating_desk(store, token) is None
    with open_store(store.path):
        files = b"".join(path.read_bytes() for path in store.path.parent.glob("*.db*"))
    assert b"zz-kept" not in files
    assert b"zz-gone" not in files
    unblind(at_hand)
    record = at_hand.record
    found = counted(record)
    assert {answer.rater_id for answer in found.answers} == {"withdrawn-1", "R4"}
    assert found.left_out == {EXCLUDED: 24}
    assert {a.comment for a in record.rating_answers if a.rater_id not in ("R4", "zz-out")} == {""}
    assert read_bundle(write_bundle(record), "b.zip") == record
