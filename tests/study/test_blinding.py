"""What a rater's desk gives away, and what becomes of a press."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, is_dataclass, replace
from functools import cached_property, partial
from typing import Any

import pytest
from helpers.texts.factories import LEVELS, always, dataset, study_in, vote

from core.errors import AssayError, NotAllowed
from core.schema.study import CHOICES, Assignment, Dataset, Design, Item, Output
from core.store import Store, open_store
from core.study.blinding import BlindPair, EntryStatus, RaterDesk, decode, open_desk
from core.study.export import answer_rows
from core.study.lifecycle import move
from core.study.raters import preview_link, reissue_link, revoke_link

pytestmark = pytest.mark.usefixtures("each_pair_task")

MARKERS = {
    "candidate": "zqcandidate",
    "comparator": "zqcomparator",
    "item": "zqitem",
    "file": "zqfile",
    "seed": "918273645546372819",
    "name": "zqstudy",
    "other rater": "zqother",
}


def marked() -> Dataset:
    plain = dataset(3, sources=(MARKERS["candidate"], MARKERS["comparator"]))
    return replace(
        plain,
        items=tuple(replace(item, item_id=MARKERS["item"] + item.item_id) for item in plain.items),
        outputs=tuple(replace(o, item_id=MARKERS["item"] + o.item_id) for o in plain.outputs),
        file_name=MARKERS["file"] + ".json",
    )


def marked_desk(store: Store) -> RaterDesk:
    at_hand = study_in(
        store,
        marked(),
        raters=("R1", MARKERS["other rater"]),
        name=MARKERS["name"],
        seed=int(MARKERS["seed"]),
        repeat_share=0.3,
    )
    vote(store, at_hand.tokens[MARKERS["other rater"]], always("left"))
    return at_hand.desk("R1")


def walk(value: Any) -> Iterator[str]:
    """Every text in a value: fields, keys, elements, and the value as it prints."""
    yield repr(value)
    if is_dataclass(value):
        for field in fields(value):
            yield field.name
            yield from walk(getattr(value, field.name))
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from walk(key)
            yield from walk(entry)
    elif isinstance(value, (list, tuple, set)):
        for entry in value:
            yield from walk(entry)


def guesses_handed_out(desk: RaterDesk) -> list[Any]:
    """All that the public side of a guess desk returns."""
    again = desk.guessing()
    public = {name for name in dir(again) if not name.startswith("_")}
    assert public == {"total", "next_open", "pair", "save"}, "a new public name: say here what it returns"
    numbers = range(again.total + 2)
    return [
        *(again.total, again.next_open()),
        *(refusal(lambda n=n: again.pair(n)) for n in numbers),
        *(refusal(lambda n=n: again.save(n, "unsure", comment="hm", seconds=1.0)) for n in numbers),
        again.next_open(),
    ]


def refusal(call: Callable[[], Any]) -> Any:
    """What a call returns, or the sentence with which it refuses."""
    try:
        return call()
    except AssayError as said:
        return str(said)


def finish(desk: RaterDesk) -> None:
    while (number := desk.next_open()) is not None:
        desk.save_choice(number, "both_good", seconds=1.0, diff_used="none")
    desk.finish()


def handed_out(desk: RaterDesk) -> Iterator[Any]:
    """All that the public side of a desk returns, attribute by attribute, refusals among them."""
    calls = {
        "pair": lambda: [desk.pair(number) for number in range(1, desk.total + 1)],
        "statuses": desk.statuses,
        "next_open": lambda: [desk.next_open(after) for after in range(desk.total + 1)],
        "guidelines": desk.guidelines,
        "wording": desk.wording,
        "practice": desk.practice,
        "agree": desk.agree,
        "save_choice": lambda: desk.save_choice(1, "left", seconds=1.0, diff_used="none"),
        "save_note": lambda: desk.save_note(2, comment="hm", invalid=True),
        "skip": lambda: desk.skip(3),
        "finish_step": lambda: desk.finish_step(1),
        "remember_diff": lambda: desk.remember_diff("none"),
        "remember_keys": lambda: desk.remember_keys("alt"),
        "finish": lambda: refusal(desk.finish),
        "guessing": lambda: guesses_handed_out(desk),
    }
    public = {name for name in dir(desk) if not name.startswith("_")}
    properties = {
        name for name in public if isinstance(getattr(type(desk), name, None), (property, cached_property))
    }
    assert public == properties | set(calls), "a new public name: say here what it returns"
    for visit in range(3):  # the second time with answers saved, the last time with all of them locked
        if visit == 2:
            finish(desk)
            calls = {name: partial(refusal, call) for name, call in calls.items()}
        yield from (getattr(desk, name) for name in sorted(properties))
        yield from (call() for call in calls.values())
    for number in (0, -1, desk.total + 1):
        yield refusal(partial(desk.pair, number))


def test_nothing_handed_out_names_a_source_an_item_a_seed_or_a_file(store: Store) -> None:
    desk = marked_desk(store)
    said = [text for value in handed_out(desk) for text in walk(value)]
    assert len(said) > 100
    texts = "\n".join(said).lower()
    # The factory's texts and questions carry the plain number of the item, as any text may; its id is marked.
    assert not [marker for marker in MARKERS.values() if marker in texts]
    assert "assignment" not in texts
    assert "answers are locked" in texts


def test_fields_of_what_is_handed_out() -> None:
    assert {field.name for field in fields(EntryStatus)} == {"number", "answered", "skipped", "invalid"}
    assert {field.name for field in fields(BlindPair)} == {
        *("number", "question", "reference", "language", "level", "left", "right"),
        *("left_base", "right_base", "base", "choice", "comment", "invalid", "turns"),
    }


def test_the_base_of_marked_differences_is_the_studys_and_not_a_sides(store: Store) -> None:
    def bases(levels: tuple[str, ...]) -> dict[str, set[str]]:
        desk = study_in(store, dataset(3, levels), name=" ".join(levels)).desk("R1")
        pairs = [desk.pair(number) for number in range(1, desk.total + 1)]
        assert all((p.left_base == p.right_base == p.reference) == (p.base == "reference") for p in pairs)
        return {level: {p.base for p in pairs if p.level == level} for level in levels}

    assert bases(("A0", "A1")) == {"A0": {"reference"}, "A1": {"own_a0"}}
    assert bases(("1", "2")) == {"1": {"reference"}, "2": {"reference"}}, "without A0 there is no own base"


def test_a_repeat_looks_like_any_other_pair(store: Store) -> None:
    at_hand = study_in(store, dataset(6), repeat_share=0.3)
    own = [a for a in at_hand.record.assignments if a.rater_id == "R1"]
    again = next(a for a in own if a.repeat)
    first = next(a for a in own if not a.repeat and (a.item_id, a.level) == (again.item_id, again.level))
    desk = at_hand.desk("R1")
    desk.save_choice(first.position, "left", seconds=1.0, diff_used="none")
    desk.save_note(first.position, comment="seen", invalid=True)
    pair = desk.pair(again.position)
    assert (pair.choice, pair.comment, pair.invalid) == (None, "", False), "not filled in from the first time"
    assert asdict(desk.statuses()[again.position - 1]) == {
        "number": again.position,
        "answered": False,
        "skipped": False,
        "invalid": False,
    }


def test_the_texts_stand_where_the_assignment_says(store: Store) -> None:
    at_hand = study_in(store, dataset(3, LEVELS))
    texts = {(o.item_id, o.level, o.source): o.text for o in at_hand.record.outputs}
    desk = at_hand.desk("R1")
    for a in at_hand.record.assignments:
        if a.rater_id == "R1":
            pair = desk.pair(a.position)
            assert (pair.left, pair.right) == tuple(texts[a.item_id, a.level, s] for s in (a.left, a.right))
            if a.level == "A0":
                assert pair.left_base == pair.right_base == pair.reference == f"Reference {a.item_id}."
            else:
                assert (pair.left_base, pair.right_base) == tuple(
                    texts[a.item_id, "A0", s] for s in (a.left, a.right)
                )


def test_without_an_a0_changes_are_shown_against_the_reference(store: Store) -> None:
    desk = study_in(store, dataset(2, ("1", "2"))).desk("R1")
    for number in range(1, desk.total + 1):
        pair = desk.pair(number)
        assert pair.left_base == pair.right_base == pair.reference


@pytest.mark.parametrize("candidate_left", [True, False])
def test_decoding(candidate_left: bool) -> None:
    design = Design("ai", "human")
    left, right = ("ai", "human") if candidate_left else ("human", "ai")
    assignment = Assignment("R1", 1, "q00", "A0", left, right)
    decoded = {choice: decode(choice, assignment, design) for choice in CHOICES}
    assert decoded == {
        "left": "candidate" if candidate_left else "comparator",
        "right": "comparator" if candidate_left else "candidate",
        "both_good": "both_good",
        "both_bad": "both_bad",
    }


def test_decoding_follows_the_roles() -> None:
    assignment = Assignment("R1", 1, "q00", "A0", "ai", "human")
    assert decode("left", assignment, Design("human", "ai")) == "comparator"


def test_the_whole_list_is_answered_once(store: Store) -> None:
    at_hand = study_in(store, dataset(3))
    desk = vote(store, at_hand.tokens["R1"], always("right"))
    assert desk.next_open() is None
    assert all(status.answered for status in desk.statuses())
    own = [a for a in at_hand.record.answers if a.rater_id == "R1"]
    assert len(own) == desk.total == len([h for h in at_hand.record.history if h.answer.rater_id == "R1"])
    assert {(a.choice, a.seconds, a.diff_used) for a in own} == {("right", 2.5, "own_a0")}
    assert all(a.shown_utc < a.answered_utc and a.app_version for a in own)


def test_another_visit_goes_on_where_the_last_stopped(store: Store) -> None:
    at_hand = study_in(store)
    token = at_hand.tokens["R1"]
    before = open_desk(store, token)
    for number in (1, 2, 3):
        before.save_choice(number, "both_bad", seconds=1.0, diff_used="none")
    before.finish_step(1)
    before.remember_diff("left_right")
    before.remember_keys("alt")
    pairs = [before.pair(number) for number in range(1, before.total + 1)]
    with open_store(store.path) as restarted:
        after = open_desk(restarted, token)
        assert after.next_open() == 4
        assert [after.pair(number) for number in range(1, after.total + 1)] == pairs
        assert (after.onboarding, after.diff_mode, after.key_scheme) == (1, "left_right", "alt")
        after.finish_step(0)
        assert after.onboarding == 1, "never back"


def test_what_was_skipped_comes_after_the_others(store: Store) -> None:
    desk = study_in(store, dataset(2, ("A0", "A1", "A2"))).desk("R1")
    desk.skip(1)
    desk.skip(3)
    order = []
    while (number := desk.next_open()) is not None:
        order.append(number)
        desk.save_choice(number, "left", seconds=1.0, diff_used="none")
    assert order == [2, 4, 5, 6, 1, 3]
    assert not any(status.skipped for status in desk.statuses())


def test_the_next_open_pair_goes_round(store: Store) -> None:
    desk = study_in(store, dataset(2, ("A0", "A1"))).desk("R1")
    desk.save_choice(3, "left", seconds=1.0, diff_used="none")
    assert [desk.next_open(after) for after in range(5)] == [1, 2, 4, 4, 1]
    desk.skip(4)
    assert [desk.next_open(after) for after in range(5)] == [1, 2, 1, 1, 1]


def test_skipping_an_answered_pair_keeps_the_answer(store: Store) -> None:
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    desk.save_choice(1, "left", seconds=1.0, diff_used="none")
    desk.skip(1)
    assert desk.pair(1).choice == "left"
    assert not desk.statuses()[0].skipped
    assert len(at_hand.record.history) == 1


def test_a_changed_answer_keeps_the_old_one_in_the_history(store: Store) -> None:
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    desk.save_choice(1, "left", seconds=3.0, diff_used="own_a0")
    desk.save_note(1, comment="unsure", invalid=False)
    desk.save_choice(1, "both_bad", seconds=None, diff_used="none")
    (answer,) = at_hand.record.answers
    assert (answer.choice, answer.comment, answer.seconds, answer.shown_utc) == (
        "both_bad",
        "unsure",
        None,
        None,
    )
    assert [(h.answer.choice, h.answer.comment) for h in at_hand.record.history] == [
        ("left", ""),
        ("left", "unsure"),
        ("both_bad", "unsure"),
    ]


def test_two_tabs(store: Store) -> None:
    """A note from a tab opened before the answer was given does not take the answer back."""
    at_hand = study_in(store)
    one, two = at_hand.desk("R1"), at_hand.desk("R1")
    one.save_choice(1, "left", seconds=1.0, diff_used="none")
    two.save_note(1, comment="from the other tab", invalid=False)
    two.save_choice(1, "left", seconds=5.0, diff_used="none")
    (answer,) = at_hand.record.answers
    assert (answer.choice, answer.comment, answer.seconds) == ("left", "from the other tab", 1.0)
    assert len(at_hand.record.history) == 2


def test_notes_and_flags(store: Store) -> None:
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    desk.save_note(2, comment="nul\x00 byte", invalid=True)
    pair = desk.pair(2)
    assert (pair.choice, pair.comment, pair.invalid) == (None, "nul\ufffd byte", True)
    status = desk.statuses()[1]
    assert (status.answered, status.invalid) == (False, True)
    assert desk.next_open() == 1
    assert desk.next_open(after=1) == 2, "a note is no answer"


@pytest.mark.parametrize("number", [0, -1, 21, 10**9])
def test_a_number_that_is_not_on_the_list(store: Store, number: int) -> None:
    desk = study_in(store, repeat_share=0.0).desk("R1")
    assert desk.total == 20
    for step in (
        lambda: desk.pair(number),
        lambda: desk.skip(number),
        lambda: desk.save_choice(number, "left", seconds=1.0, diff_used="none"),
    ):
        with pytest.raises(NotAllowed, match=f"There is no pair {number} on your list"):
            step()


def saves(desk: RaterDesk) -> list[Any]:
    return [
        lambda: desk.save_choice(1, "left", seconds=1.0, diff_used="none"),
        lambda: desk.save_note(1, comment="late", invalid=True),
        lambda: desk.skip(1),
    ]


def test_a_draft_takes_no_answer(store: Store) -> None:
    at_hand = study_in(store, state="draft")
    desk = at_hand.desk("R1")
    assert "has not started yet" in desk.closed_reason
    for save in saves(desk):
        with pytest.raises(NotAllowed, match=r"has not started yet"):
            save()
    assert at_hand.record.answers == at_hand.record.history == ()


@pytest.mark.parametrize("state", ["closed", "unblinded"])
def test_a_closed_study_takes_no_answer_not_even_from_a_preview(store: Store, state: str) -> None:
    at_hand = study_in(store, state=state)
    preview = open_desk(store, preview_link(store, at_hand.study).token)
    for desk in (at_hand.desk("R1"), preview):
        assert desk.closed_reason == "This study is closed."
        for save in saves(desk):
            with pytest.raises(NotAllowed, match="is closed"):
                save()
    assert at_hand.record.answers == ()


def test_closing_while_a_pair_is_on_the_screen(store: Store) -> None:
    """The desk was opened before: only a look inside the transaction can know."""
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    desk.save_choice(1, "left", seconds=1.0, diff_used="none")
    with open_store(store.path) as owner:
        move(owner, at_hand.study, "closed")
    assert desk.closed_reason is None, "the desk cannot know yet"
    with pytest.raises(NotAllowed, match=r"This study is closed"):
        desk.save_choice(2, "left", seconds=1.0, diff_used="none")
    assert len(at_hand.record.answers) == len(at_hand.record.history) == 1
    assert desk.pair(2).choice is None
    move(store, at_hand.study, "open")
    desk.save_choice(2, "left", seconds=1.0, diff_used="none")
    assert len(at_hand.record.answers) == 2


def test_a_link_withdrawn_while_a_pair_is_on_the_screen(store: Store) -> None:
    at_hand = study_in(store)
    desk = at_hand.desk("R1")
    revoke_link(store, at_hand.study, "R1")
    with pytest.raises(NotAllowed, match=r"link no longer works"):
        desk.save_choice(1, "left", seconds=1.0, diff_used="none")
    assert at_hand.record.answers == ()
    fresh = open_desk(store, reissue_link(store, at_hand.study, "R1").token)
    fresh.save_choice(1, "left", seconds=1.0, diff_used="none")


def test_an_answer_is_never_anothers(store: Store) -> None:
    at_hand = study_in(store)
    vote(store, at_hand.tokens["R1"], always("left"))
    other = at_hand.desk("R2")
    assert not any(status.answered for status in other.statuses())
    assert all(other.pair(number).choice is None for number in range(1, other.total + 1))


def test_choices_and_screen_agree_in_the_export(store: Store) -> None:
    """Whoever prefers the first source's text by reading it is decoded as the candidate every time."""
    at_hand = study_in(store, dataset(4), repeat_share=0.2)
    vote(store, at_hand.tokens["R1"], lambda p: "left" if p.left.startswith("Alpha") else "right")
    rows = answer_rows(at_hand.record)
    assert {row["choice_decoded"] for row in rows} == {"candidate"}
    assert {row["choice_displayed"] for row in rows} == {"left", "right"}
    assert all(row["candidate_side"] == row["choice_displayed"] for row in rows)


def test_markup_in_a_data_set_reaches_the_desk_untouched(store: Store) -> None:
    """Escaping is the page's part; the desk changes no text."""
    text = "<b>bold</b> $x$ `code` \u202e # heading\n\n  two  spaces"
    data = replace(
        dataset(1, ("A0",)),
        items=(Item("q", text, text),),
        outputs=(Output("q", "A0", "ai", text), Output("q", "A0", "human", text + "!")),
    )
    pair = study_in(store, data).desk("R1").pair(1)
    assert {pair.left, pair.right, pair.question} == {text, text + "!"}
