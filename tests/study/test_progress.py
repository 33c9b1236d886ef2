"""The progress table: how far, how fast, which side; never which source."""

from dataclasses import asdict, fields

import pytest
from factories import always, dataset, study_in, vote

from core.store import Store
from core.study.progress import RaterProgress, progress
from core.study.raters import import_votes, preview_link, revoke_link


def test_lines_by_hand(store: Store) -> None:
    at_hand = study_in(store, dataset(2, ("A0", "A1")), raters=("R1", "R2"))
    desk = at_hand.desk("R1")
    for number, (choice, seconds) in enumerate([("left", 2.0), ("both_good", 4.0), ("right", None)], 1):
        desk.save_choice(number, choice, seconds=seconds, diff_used="none")
    desk.skip(4)
    desk.save_note(1, comment="", invalid=True)
    vote(store, preview_link(store, at_hand.study).token, always("left"))
    import_votes(store, at_hand.study, "old", {("q00", "A0"): "both_good", ("q00", "A1"): "candidate"})
    revoke_link(store, at_hand.study, "R2")
    one, two, preview, old = progress(store, at_hand.study_id)
    assert (one.kind, one.done, one.total, one.skipped, one.flagged) == ("rater", 3, 4, 1, 1)
    assert (one.median_seconds, one.left_rate) == (3.0, 0.5)
    assert one.both_good_rate == pytest.approx(1 / 3)
    assert one.last_utc == max(
        a.answered_utc for a in at_hand.record.answers if a.rater_id == "R1" and a.choice
    )
    assert asdict(two) == {
        "rater_id": "R2",
        "kind": "rater",
        "done": 0,
        "total": 4,
        "skipped": 0,
        "flagged": 0,
        "median_seconds": None,
        "left_rate": None,
        "both_good_rate": None,
        "last_utc": None,
        "revoked": True,
    }
    assert (preview.kind, preview.left_rate) == ("dry run", 1.0)
    assert (old.kind, old.done, old.total, old.left_rate, old.both_good_rate) == ("imported", 2, 2, None, 0.5)


def test_no_total_by_source(store: Store) -> None:
    assert not [f.name for f in fields(RaterProgress) if "candidate" in f.name or "comparator" in f.name]
