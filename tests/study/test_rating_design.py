"""Who rates which texts, in what order; what may become a rating study, and what it says while nobody may know."""

from collections import Counter
from dataclasses import replace

import pytest
from helpers.texts.factories import dataset, study_in
from helpers.texts.rating_studies import (
    HARM,
    OVERALL,
    SYSTEMS,
    TASK,
    rate,
    rate_all,
    rating_study,
    rating_texts,
)

from core.errors import InputError, NotAllowed
from core.schema.scores import ErrorSpan, OutputSet, ScorableOutput
from core.schema.study import Design, Output, RatingTask, TaskLabels
from core.store import Store
from core.study.audit import audit_study
from core.study.design import REPEAT_DISTANCE, assign_texts, check_rating_design, texts_by_item
from core.study.lifecycle import (
    describe_design,
    exclude_rater,
    import_rating_study,
    import_study,
    reminders,
    study_texts,
    withdraw_rater,
)
from core.study.raters import RaterProgress, add_raters, import_votes, list_progress, study_workload

DESIGN = Design("", "", seed=5, blinding_pairs=0, repeat_share=0.1)


def outputs(n_items: int, names: tuple[str, ...] = SYSTEMS) -> list[Output]:
    return [
        Output(f"i{item}", "", name, f"Text {item}, {number}.")
        for item in range(n_items)
        for number, name in enumerate(names)
    ]


# --- lists ---------------------------------------------------------------------------------------


def test_whole_items_and_repeats_at_the_end() -> None:
    texts = texts_by_item(outputs(10))
    listed = assign_texts(DESIGN, "R", texts, texts)
    main, again = [a for a in listed if not a.repeat], [a for a in listed if a.repeat]
    assert [a.position for a in listed] == list(range(1, 34))
    assert listed == main + again
    assert len(again) == 3, "a tenth of 30"
    by_item = [{a.item_id for a in main[first : first + 3]} for first in range(0, 30, 3)]
    assert all(len(items) == 1 for items in by_item), "the texts of an item stand together"
    assert {(a.item_id, a.source) for a in main} == {(o.item_id, o.source) for o in outputs(10)}
    first = {(a.item_id, a.source): a.position for a in main}
    assert all(a.position - first[a.item_id, a.source] > REPEAT_DISTANCE for a in again)


def test_a_short_list_has_no_repeats() -> None:
    texts = texts_by_item(outputs(3))
    assert not [a for a in assign_texts(replace(DESIGN, repeat_share=0.5), "R", texts, texts) if a.repeat]


def test_names_of_systems_change_no_draw() -> None:
    """What is drawn from is the texts: other names, even in another alphabetical order, give the same order."""
    order = []
    for names in (("a", "b", "c"), ("z", "y", "x")):
        given = outputs(8, names)
        texts = texts_by_item(given)
        said = {(o.item_id, o.source): o.text for o in given}
        order.append([said[a.item_id, a.source] for a in assign_texts(DESIGN, "R", texts, texts)])
    assert order[0] == order[1]


def test_every_system_stands_first_as_often() -> None:
    texts = texts_by_item(outputs(600))
    listed = assign_texts(replace(DESIGN, repeat_share=0.0), "R", texts, texts)
    firsts = Counter(a.source for a in listed[::3])
    assert sum((n - 200) ** 2 / 200 for n in firsts.values()) < 13.8, "chi-square, 2 df, p > .001"


def test_each_item_goes_to_so_many_raters_and_all_to_as_many_items(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(12), raters=("a", "b", "c"), votes_per_pair=2)
    held = {r: {a.item_id for a in at_hand.record.rating_assignments if a.rater_id == r} for r in "abc"}
    assert {len(items) for items in held.values()} == {8}
    assert set(Counter(item for items in held.values() for item in items).values()) == {2}
    plan = study_workload(store, at_hand.study)
    assert plan.questions == {"a": 8, "b": 8, "c": 8}
    assert set(plan.pairs.values()) == {24 + 1}
    assert plan.short == 0


def test_who_comes_late_changes_no_list(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(6), raters=("a", "b"), votes_per_pair=2, max_questions=4)
    before = at_hand.record.rating_assignments
    rate(at_hand.desk("a"), 1)
    add_raters(store, at_hand.study, ["late"])
    after = at_hand.record.rating_assignments
    assert [a for a in after if a.rater_id != "late"] == list(before)
    late = {a.item_id for a in after if a.rater_id == "late"}
    assert len(late) == 2, "four items have their two raters, two were left over by the cap"


# --- import --------------------------------------------------------------------------------------


def test_texts_are_kept_to_the_letter(store: Store) -> None:
    text = "  Two\r\nlines e\u0301 \u200f "
    texts = OutputSet((ScorableOutput("1", "s", text, source="S"),), "00", "f.csv")
    assert rating_study(store, texts).desk("R1").text(1).text == text


def test_what_an_owner_should_know(store: Store) -> None:
    full = rating_texts(3)
    some = replace(full, outputs=full.outputs[:-1], left_out={"no text": 2})
    _, notes = import_rating_study(store, "some", some, TASK, DESIGN)
    assert notes == (
        "1 of 3 items lack a text of some system or level; raters see the texts they have",
        "2 texts left out: no text",
    )
    for alone in (rating_texts(3, ["s"], levels=("A0", "A1")), rating_texts(3, ["S1", "s1"])):
        _, notes = import_rating_study(store, alone.sha256[:9], alone, TASK, DESIGN)
        assert [note[:32] for note in notes] == ["no item has texts of two systems"]


def one(item: str = "1", system: str = "s", text: str = "T.", **more: str) -> ScorableOutput:
    return ScorableOutput(item, system, text, **more)  # type: ignore[arg-type]  # fields, by name


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ((), "the file has no text"),
        ((one(text=" "),), "item 1, system s: the text is empty"),
        ((one(level="A0"), one(level="A0")), "item 1, system s, level A0: 2 texts"),
        ((one(source="a"), one(system="t", source="b")), "item 1: its texts have more than one source text"),
        ((one(language="en"), one(system="t", language="de")), "more than one language"),
    ],
)
def test_texts_that_cannot_be_rated(texts: tuple[ScorableOutput, ...], said: str) -> None:
    with pytest.raises(InputError, match=r"f\.csv cannot become a rating study") as raised:
        study_texts(OutputSet(texts, "00", "f.csv"))
    assert said in str(raised.value)


def test_tasks_and_designs_that_cannot_be(store: Store) -> None:
    nothing = RatingTask("n", "N", "002", "2", "none")
    twice = replace(TASK, dimensions=(HARM, HARM))
    clash = replace(TASK, dimensions=(replace(OVERALL, name="mqm"),))
    for task, said in (
        (nothing, "the task is empty"),
        (twice, "H is the name of several dimensions"),
        (clash, "cannot have a dimension 'mqm'"),
        (replace(TASK, dimensions=(replace(OVERALL, lowest=100),)), "  - dimensions, 1, highest: is 100"),
    ):
        with pytest.raises(InputError, match=said):
            import_rating_study(store, "x", rating_texts(), task, DESIGN)
    with pytest.raises(InputError) as raised:
        check_rating_design(Design("a", "", seed=-1, repeat_share=0.6, max_questions=3), TASK)
    assert len(raised.value.problems) == 4
    same = rating_texts()
    telling_note = "raters read the names of systems in the task: zq-west"
    telling = replace(TASK, dimensions=(replace(HARM, description="Is it as harmless as *ZQ-West*?"),))
    _, notes = import_rating_study(store, "x", same, telling, DESIGN)
    assert telling_note in notes
    labelled = replace(TASK, labels=TaskLabels(text="text of zq-west"))
    _, notes = import_rating_study(store, "labelled", rating_texts(), labelled, DESIGN)
    assert telling_note in notes
    with pytest.raises(InputError, match="was imported before"):
        import_rating_study(store, "y", same, TASK, DESIGN)
    import_rating_study(store, "y", same, TASK, DESIGN, again=True)
    pairs = replace(dataset(n_items=3), sha256=same.sha256)
    import_study(
        store, "p", pairs, Design("ai", "human", seed=1)
    )  # another kind of study of the file is none of this
    with pytest.raises(InputError, match=r" as p\. Use that study"):
        import_study(store, "q", pairs, Design("ai", "human", seed=1))
    assert describe_design(DESIGN) == "seed 5, ratings per item from all raters, hidden repeats 10%"


def test_a_text_that_is_the_reference_shown_is_warned_about(store: Store) -> None:
    outputs = (
        one(system="s", text="So  it is.", level="A0", reference="So it is."),
        one(system="t", text="So it was.", level="A0", reference="So it is."),
        one(item="2", system="s", text="No.", level="A0"),
    )

    def notes_with(task: RatingTask, name: str) -> list[str]:
        _, notes = import_rating_study(store, name, OutputSet(outputs, name, "f.csv"), task, DESIGN)
        return [note for note in notes if "reference" in note]

    assert notes_with(TASK, "hidden") == []
    assert notes_with(replace(TASK, show_reference=True), "shown") == [
        "1 of 2 items have no reference, although this task shows references",
        "raters will recognise texts that equal the reference word for word: s A0 in 1 of 2 items",
    ]


# --- while raters are at work --------------------------------------------------------------------


def test_progress_counts_and_tells_nothing_of_systems(store: Store) -> None:
    at_hand = rating_study(store)
    desk = at_hand.desk("R1")
    rate(
        desk,
        1,
        spans=[ErrorSpan(0, 4, "major", "accuracy/omission"), ErrorSpan(2, 5, "minor", "fluency/grammar")],
    )
    rate(desk, 2)
    desk.skip(3)
    desk.save_note(4, invalid=True)
    first, second = list_progress(store, at_hand.study)
    assert (first.done, first.total, first.skipped, first.flagged) == (2, 13, 1, 1)
    assert (first.median_seconds, first.with_errors, first.errors) == (20.0, 1, 2)
    assert (second.done, second.median_seconds, second.with_errors) == (0, None, 0)
    assert not [name for name in SYSTEMS if name in repr((first, second))]
    (reminder, _) = reminders(store, at_hand.study, "https://assay.example")
    assert reminder.text.startswith(
        "You have rated 2 texts so far, thank you. 11 texts are still open, about 11 min"
    )


def test_one_answer_for_everything_is_flagged_and_repeats_are_compared(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(5), repeat_share=0.2)
    desk = at_hand.desk("R1")
    while (number := desk.next_open()) is not None:
        rate(desk, number, 50.0 if number < 18 else 51.0)
    (line, _) = list_progress(store, at_hand.study)
    assert not isinstance(line, RaterProgress)
    assert line.flags == ("always the same: equal answers for all 15 texts",)
    assert (line.repeats_same, line.repeats) == (2, 3)


def test_leaving_out_and_letting_go(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(4), raters=("a", "b", "c"), votes_per_pair=1)
    desk = at_hand.desk("a")
    desk.save_note(1, comment="a remark")
    rate_all(desk)
    new = withdraw_rater(store, at_hand.study, "a", keep_votes=True)
    record = at_hand.record
    assert "a" not in {x.rater_id for x in (*record.rating_answers, *record.rating_assignments)}
    assert not {x.answer.comment for x in record.rating_history} - {""}
    assert new in {x.answer.rater_id for x in record.rating_history}
    exclude_rater(store, at_hand.study, "b", "slept")
    add_raters(store, at_hand.study, ["d"])
    items = {
        r: {x.item_id for x in at_hand.record.rating_assignments if x.rater_id == r} for r in (new, "b", "d")
    }
    assert items["d"] == items["b"], "what the one who is left out never finished"


def test_what_only_pairs_have_is_refused(store: Store) -> None:
    at_hand = rating_study(store)
    with pytest.raises(NotAllowed, match="rates single texts"):
        import_votes(store, at_hand.study, "old", {("q", "A0"): "candidate"})
    with pytest.raises(NotAllowed, match="no leakage audit"):
        audit_study(store, at_hand.study)
    assert audit_study(store, study_in(store, dataset()).study).levels
