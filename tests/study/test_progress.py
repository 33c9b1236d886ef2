"""The progress table: how far, how fast, which side; never which source."""

from dataclasses import asdict, fields

import pytest
from helpers.texts.factories import StudyAtHand, always, dataset, prefers, study_in, vote

from core.schema.study import CHOICES, Choice
from core.store import Store
from core.study.lifecycle import exclude_rater, include_rater, withdraw_rater
from core.study.raters import RaterProgress, import_votes, list_progress, preview_link, revoke_link

pytestmark = pytest.mark.usefixtures("each_pair_task")


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
    one, two, preview, old = list_progress(store, at_hand.study)
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
        "median_seconds_first": None,
        "median_seconds_visible": None,
        "left_rate": None,
        "both_good_rate": None,
        "repeats_same": 0,
        "repeats": 0,
        "translated": 0,
        "last_utc": None,
        "revoked": True,
        "finished": False,
        "excluded": None,
        "flags": (),
    }
    assert (preview.kind, preview.left_rate) == ("dry run", 1.0)
    assert (old.kind, old.done, old.total, old.left_rate, old.both_good_rate) == ("imported", 2, 2, None, 0.5)


def test_no_total_by_source(store: Store) -> None:
    assert not [f.name for f in fields(RaterProgress) if "candidate" in f.name or "comparator" in f.name]


def only_line(at_hand: StudyAtHand) -> RaterProgress:
    (line,) = list_progress(at_hand.store, at_hand.study)
    return line


def test_consistency_on_repeats_by_hand(store: Store) -> None:
    """Every pair of choices on a pair and its hidden repeat, with the sides as they were and swapped.

    The same text preferred counts as the same, so with swapped sides it takes the other button.
    """
    at_hand = study_in(store, dataset(8), raters=("R1",), repeat_share=0.4)
    own = at_hand.record.assignments
    first = {(a.item_id, a.level): a for a in own if not a.repeat}
    again = [a for a in own if a.repeat]
    swapped = {a.position: a.left != first[a.item_id, a.level].left for a in again}
    assert (len(again), sum(swapped.values())) == (16, 8)
    opposite: dict[Choice, Choice] = {"left": "right", "right": "left"}
    desk, same, n = at_hand.desk("R1"), 0, 0
    for number, repeat in enumerate(again):
        one, other = CHOICES[number // 4], CHOICES[number % 4]
        desk.save_choice(first[repeat.item_id, repeat.level].position, one, seconds=9.0, diff_used="none")
        line = only_line(at_hand)
        assert (line.repeats_same, line.repeats) == (same, n), "answered once says nothing yet"
        desk.save_choice(repeat.position, other, seconds=9.0, diff_used="none")
        meant = opposite.get(one, one) if swapped[repeat.position] else one
        same, n = same + (other == meant), n + 1
        line = only_line(at_hand)
        assert (line.repeats_same, line.repeats) == (same, n)
    assert 0 < same < 16


def test_a_reader_is_consistent_and_a_side_presser_half_of_the_time(store: Store) -> None:
    at_hand = study_in(store, dataset(20), raters=("reader", "presser", "tied"), repeat_share=0.1)
    for rater, policy in (("reader", prefers(0)), ("presser", always("left")), ("tied", always("both_bad"))):
        vote(store, at_hand.tokens[rater], policy)
    lines = list_progress(store, at_hand.study)
    assert [(line.repeats_same, line.repeats) for line in lines] == [(10, 10), (5, 10), (10, 10)]


def test_a_repeat_without_its_pair_says_nothing(store: Store) -> None:
    at_hand = study_in(store, dataset(8), raters=("R1",), repeat_share=0.4)
    desk = at_hand.desk("R1")
    for a in at_hand.record.assignments:
        if a.repeat:
            desk.save_choice(a.position, "left", seconds=1.0, diff_used="none")
    line = only_line(at_hand)
    assert (line.done, line.repeats, line.left_rate, line.both_good_rate) == (16, 0, None, None)


@pytest.mark.parametrize(
    ("times", "flag"),
    [
        ([1.0] * 9, None),
        ([1.0] * 10, "fast: half of the answers within 1.0 seconds"),
        ([5.0] * 10, None),
        ([4.9] * 10, "fast: half of the answers within 4.9 seconds"),
        ([1.0] * 4 + [60.0] * 6, None),
        ([1.0] * 6 + [60.0] * 4, "fast: half of the answers within 1.0 seconds"),
        ([1.0] * 9 + [None] * 9, None),
        ([1.0] * 10 + [None] * 9, "fast: half of the answers within 1.0 seconds"),
    ],
    ids=str,
)
def test_fast_raters_are_flagged_from_ten_times_on(
    store: Store, times: list[float | None], flag: str | None
) -> None:
    at_hand = study_in(store, raters=("R1",), repeat_share=0.0)
    desk = at_hand.desk("R1")
    for number, seconds in enumerate(times, start=1):
        desk.save_choice(number, "both_good", seconds=seconds, diff_used="none")
    assert only_line(at_hand).flags == (() if flag is None else (flag,))


@pytest.mark.parametrize(
    ("left", "right", "ties", "flag"),
    [
        (9, 0, 0, None),
        (9, 0, 9, None),
        # two-sided exact binomial test of one half: 2 (1 + 10) / 1024 = 0.021, 2 (1 + 10 + 45) / 1024 = 0.109
        (9, 1, 0, "one side: left in 9 of 10 choices (p 0.021)"),
        (1, 9, 5, "one side: right in 9 of 10 choices (p 0.021)"),
        (8, 2, 0, None),
        (10, 0, 0, "one side: left in 10 of 10 choices (p 0.002)"),
        (10, 10, 0, None),
    ],
    ids=str,
)
def test_one_sided_raters_are_flagged(
    store: Store, left: int, right: int, ties: int, flag: str | None
) -> None:
    at_hand = study_in(store, raters=("R1",), repeat_share=0.0)
    desk = at_hand.desk("R1")
    for number, choice in enumerate(["left"] * left + ["right"] * right + ["both_bad"] * ties, start=1):
        desk.save_choice(number, choice, seconds=30.0, diff_used="none")
    assert only_line(at_hand).flags == (() if flag is None else (flag,))


@pytest.mark.parametrize(("raters", "flagged"), [(2, True), (3, False)])
def test_a_flag_pays_for_the_number_of_raters(store: Store, raters: int, flagged: bool) -> None:
    """9 of 10 on one side is p = .0215: .043 among two raters, .064 among three."""
    names = tuple(f"R{n}" for n in range(1, raters + 1))
    at_hand = study_in(store, raters=names, repeat_share=0.0)
    for name in names:
        desk = at_hand.desk(name)
        left = 9 if name == "R1" else 5
        for number in range(1, 11):
            choice = "left" if number <= left else "right"
            desk.save_choice(number, choice, seconds=30.0, diff_used="none")
    first, *others = (line.flags for line in list_progress(store, at_hand.study))
    said = "one side: left in 9 of 10 choices (p 0.043, corrected for 2 raters)"
    assert first == ((said,) if flagged else ())
    assert not any(others)


def test_both_flags_and_repeats_left_out_of_sides(store: Store) -> None:
    at_hand = study_in(store, dataset(4), raters=("R1",), repeat_share=0.5)
    vote(store, at_hand.tokens["R1"], always("left"))
    line = only_line(at_hand)
    assert (line.done, line.total) == (30, 30)
    assert line.flags == (
        "fast: half of the answers within 2.5 seconds",
        "one side: left in 20 of 20 choices (p below 0.001)",
    )


def test_locked_excluded_withdrawn(store: Store) -> None:
    at_hand = study_in(store, raters=("R1", "R2"))
    desk = vote(store, at_hand.tokens["R1"], always("both_good"))
    assert [line.finished for line in list_progress(store, at_hand.study)] == [False, False]
    desk.finish()
    exclude_rater(store, at_hand.study, "R2", "ill")
    one, two = list_progress(store, at_hand.study)
    assert (one.finished, one.excluded, two.finished, two.excluded) == (True, None, False, "ill")
    include_rater(store, at_hand.study, "R2")
    new = withdraw_rater(store, at_hand.study, "R1", keep_votes=False)
    one, two = list_progress(store, at_hand.study)
    assert (one.rater_id, one.done, one.revoked, one.excluded) == (
        new,
        one.total,
        True,
        "withdrew, votes left out",
    )
    assert two.excluded is None
