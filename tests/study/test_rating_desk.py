"""A rater of texts at work: what reaches them, what is kept of what they say, and when nothing can be said."""

import dataclasses
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cached_property, partial
from typing import Any

import pytest
from helpers.texts.factories import dataset, study_in
from helpers.texts.rating_studies import OVERALL, SYSTEMS, TASK, rate, rate_all, rating_study, rating_texts

from core.errors import AssayError, InputError, NotAllowed
from core.schema.scores import ErrorSpan
from core.schema.study import Design, SpanTask, TaskLabels
from core.store import Store
from core.store.answers import ratings_of
from core.study.blinding import BlindText, RaterDesk, RatingDesk, open_any_desk, open_desk, open_rating_desk
from core.study.lifecycle import change_design, move, set_guideline
from core.study.raters import preview_link, revoke_link

STILL_OPEN = "Some texts are still open"
FAULT = ErrorSpan(0, 4, "minor", "fluency/grammar")
TELLING = (*SYSTEMS, "zq-item", "zq-file", "zq-level", "918273")


# --- blindness -----------------------------------------------------------------------------------


def refusal(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except AssayError as said:
        return str(said)


def handed_out(desk: RatingDesk) -> Iterator[Any]:
    """All that the public side of a desk returns, attribute by attribute, refusals among them."""
    calls: dict[str, Callable[[], Any]] = {
        "text": lambda: [desk.text(number) for number in range(1, desk.total + 1)],
        "missing": lambda: desk.missing(1),
        "statuses": desk.statuses,
        "next_open": lambda: [desk.next_open(after) for after in range(desk.total + 1)],
        "guidelines": desk.guidelines,
        "wording": desk.wording,
        "agree": desk.agree,
        "save_scores": lambda: desk.save_scores(1, {"overall": 1}),
        "save_spans": lambda: desk.save_spans(1, [FAULT]),
        "save_note": lambda: desk.save_note(2, comment="hm", invalid=True),
        "complete": lambda: desk.complete(3, seconds=1.0),
        "skip": lambda: desk.skip(3),
        "finish_step": lambda: desk.finish_step(1),
        "finish": desk.finish,
        "remember_keys": lambda: desk.remember_keys("off"),
    }
    public = {name for name in dir(desk) if not name.startswith("_")}
    properties = {
        name for name in public if isinstance(getattr(type(desk), name, None), (property, cached_property))
    }
    assert public == properties | set(calls), "a new public name: say here what it returns"
    for visit in range(3):
        if visit == 2:
            rate_all(desk)
            desk.finish()
        yield from (getattr(desk, name) for name in sorted(properties - {"token"}))
        yield from (refusal(call) for call in calls.values())
        wrong = [
            partial(desk.text, 0),
            partial(desk.save_scores, 1, {"x": 1}),
            partial(desk.save_spans, 99, []),
        ]
        yield from (refusal(call) for call in wrong)


def test_nothing_handed_out_names_a_system_a_level_an_item_a_seed_or_a_file(store: Store) -> None:
    texts = rating_texts(3, levels=("zq-level-1", "zq-level-2"))
    at_hand = rating_study(store, texts, seed=918273, repeat_share=0.3)
    values = list(handed_out(at_hand.desk("R1")))
    seen = repr(values) + "".join(repr(asdict(v)) for v in values if dataclasses.is_dataclass(v))
    assert "Source 2." in seen
    assert "Your answers are locked" in seen
    assert not [marker for marker in TELLING if marker in seen]
    pickled = b"".join(pickle.dumps(v) for v in values)
    assert not [marker for marker in TELLING if marker.encode() in pickled]
    assert {field.name for field in dataclasses.fields(BlindText)} & {"level", "item_id", "system"} == set()


def test_a_reference_is_shown_only_where_the_task_says_so(store: Store) -> None:
    assert rating_study(store).desk("R1").text(1).reference is None
    shown = dataclasses.replace(TASK, show_reference=True)
    text = rating_study(store, task=shown, name="other").desk("R1").text(1)
    assert text.reference == text.source_text.replace("Source", "Reference")


def test_a_task_that_was_stored_before_labels_and_meanings_is_read_as_before(store: Store) -> None:
    at_hand = rating_study(store)
    (row,) = store.rows("select task from study", {})
    stored = json.loads(row["task"])
    del stored["labels"], stored["spans"]["meanings"]
    with store.writing():
        store.table("study").update(at_hand.study_id, {"task": json.dumps(stored)})
    assert at_hand.study.task == TASK
    assert at_hand.desk("R1").task.labels.headings == TaskLabels(
        "Source", "Reference (correct and complete)", "Text"
    )


def test_links_open_the_desk_of_their_kind(store: Store) -> None:
    ratings, pairs = rating_study(store), study_in(store, dataset())
    token, other = ratings.tokens["R1"], pairs.tokens["R1"]
    kinds = [type(open_any_desk(store, link)) for link in (token, other, "nothing")]
    assert kinds == [RatingDesk, RaterDesk, type(None)]
    assert open_desk(store, token) is None
    assert open_rating_desk(store, other) is None


def test_guidelines_speak_of_texts_and_may_name_no_system(store: Store) -> None:
    at_hand = rating_study(store)
    assert "How to rate a text" in at_hand.desk("R1").guidelines()
    with pytest.raises(InputError, match="names the system 'zq-west'"):
        set_guideline(store, at_hand.study, "en", "ZQ-West writes well.")
    set_guideline(store, at_hand.study, "en", "Read in peace.")
    assert at_hand.desk("R1").guidelines() == "Read in peace."


def test_texts_of_a_source_know_each_other(store: Store) -> None:
    desk = rating_study(store).desk("R1")
    for number in range(1, 13):
        text, first = desk.text(number), (number - 1) // 3 * 3
        assert text.same_source == (first + 1, first + 2, first + 3)
        assert text.place_in_source == (number - first, 3)
        assert {desk.text(n).source_text for n in text.same_source} == {text.source_text}
    assert len({desk.text(number).mark for number in range(1, 13)}) == 12


# --- what is kept --------------------------------------------------------------------------------


def test_every_save_is_there_for_the_next_visit_and_in_the_history(store: Store) -> None:
    at_hand = rating_study(store)
    desk = at_hand.desk("R1")
    text = desk.text(1).text
    start = text.index("👩")
    spans = (
        ErrorSpan(start, start + 3, "major", "accuracy/omission"),
        ErrorSpan(start - 2, start + 1, "minor", "fluency/grammar"),
    )
    desk.save_scores(1, {"overall": 62.5})
    desk.save_scores(1, {"H": 1})
    desk.save_spans(1, spans)
    desk.save_note(1, comment="close\x00 call")
    assert at_hand.study.first_vote_utc is None, "a draft freezes nothing"
    desk.complete(1, seconds=31.234)
    kept = at_hand.desk("R1").text(1)
    assert kept.scores == {"overall": 62.5, "H": 1.0}
    assert kept.spans == spans
    assert text[kept.spans[0].start : kept.spans[0].end] == "👩‍🔬"
    assert (kept.comment, kept.done) == ("close\ufffd call", True)
    assert at_hand.study.first_vote_utc is not None
    record = at_hand.record
    assert [len(e.answer.scores) for e in record.rating_history] == [1, 2, 2, 2, 2]
    assert [e.answer.done for e in record.rating_history] == [False] * 4 + [True]
    assert record.rating_answers[0].seconds == 31.23
    desk.save_scores(1, {"overall": 62.5})
    desk.complete(1, seconds=9.0)
    assert len(at_hand.record.rating_history) == 5, "the same again is no change"


def test_done_only_when_nothing_is_missing(store: Store) -> None:
    desk = rating_study(store).desk("R1")
    with pytest.raises(NotAllowed) as said:
        desk.complete(1, seconds=1.0)
    for part in ("Overall quality", "Harmless", "the errors, or a tick that there are none"):
        assert part in str(said.value)
    rate(desk, 1)
    desk.save_scores(1, {"H": None})
    assert not desk.text(1).done, "open again"
    assert desk.missing(1) == ("a score for Harmless",)
    desk.save_scores(1, {"H": 0})
    desk.complete(1, seconds=1.0)
    (again,) = [one for one in ratings_of(store, desk._study.study_id) if one.done]
    assert again.seconds == 20.0, "the time of the first time stands"
    desk.save_spans(1, [], no_errors=False)
    assert not desk.text(1).done
    desk.save_note(2, invalid=True)
    desk.complete(2, seconds=1.0)
    desk.save_note(2, invalid=False)
    assert not desk.text(2).done, "of a text that is not broken after all everything is asked"


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"overall": 100.1}, "Overall quality: 100.1 is not a possible score"),
        ({"overall": float("nan")}, "nan is not a possible score"),
        ({"H": 0.5}, "Harmless: 0.5 is not a possible score"),
        ({"H": True}, "True is not a possible score"),
        ({"style": 1}, "style: not a dimension of this task"),
    ],
)
def test_scores_that_are_not_on_offer(store: Store, scores: dict[str, float], said: str) -> None:
    at_hand = rating_study(store)
    with pytest.raises(InputError, match="cannot be saved") as raised:
        at_hand.desk("R1").save_scores(1, scores)
    assert said in str(raised.value)
    assert not at_hand.record.rating_history


def test_spans_that_cannot_be(store: Store) -> None:
    at_hand = rating_study(store)
    desk = at_hand.desk("R1")
    length = len(desk.text(1).text)
    desk.save_spans(1, [ErrorSpan(0, length, "major", "accuracy/omission", weight=99.0)])
    assert desk.text(1).spans[0].weight is None, "weights are not a rater's"
    wrong = [
        ErrorSpan(0, length + 1, "minor", "fluency/grammar"),
        ErrorSpan(-1, 2, "minor", "fluency/grammar"),
        ErrorSpan(2, 2, "minor", "fluency/grammar"),
        ErrorSpan(0, 1, "critical", "fluency/grammar"),
        ErrorSpan(0, 1, "minor", "style"),
        ErrorSpan(0, 1, "minor", "fluency/grammar", in_source=True),
        ErrorSpan(True, 2, "minor", "fluency/grammar"),
    ]
    with pytest.raises(InputError) as raised:
        desk.save_spans(1, [*wrong, FAULT])
    assert [p.split(":")[0] for p in raised.value.problems] == [f"error {n}" for n in range(1, 8)]
    with pytest.raises(InputError, match="Delete them before you tick that there are none"):
        desk.save_spans(1, [FAULT], no_errors=True)
    with pytest.raises(InputError, match="at most 500"):
        desk.save_spans(1, [FAULT] * 501)
    assert len(at_hand.record.rating_history) == 1


def test_errors_in_the_source_where_the_task_has_them(store: Store) -> None:
    task = dataclasses.replace(TASK, spans=SpanTask(("minor",), ("style",), source_side=True))
    desk = rating_study(store, task=task).desk("R1")
    length = len(desk.text(1).source_text)
    desk.save_spans(1, [ErrorSpan(0, length, "minor", "style", in_source=True)])
    with pytest.raises(InputError, match=f"text of {length} characters"):
        desk.save_spans(1, [ErrorSpan(0, length + 1, "minor", "style", in_source=True)])


def test_errors_are_not_marked_where_nobody_asks(store: Store) -> None:
    desk = rating_study(store, task=dataclasses.replace(TASK, dimensions=(OVERALL,), spans=None)).desk("R1")
    with pytest.raises(InputError, match="do not mark errors in this study"):
        desk.save_spans(1, [FAULT])
    desk.save_scores(1, {"overall": 0})
    desk.complete(1, seconds=None)
    assert desk.next_open() == 2


# --- when nothing can be said --------------------------------------------------------------------


def test_what_was_put_off_comes_back(store: Store) -> None:
    desk = rating_study(store).desk("R1")
    desk.save_scores(2, {"H": 1})
    desk.skip(1)
    desk.skip(2)
    assert desk.next_open() == 3
    for number in range(3, desk.total + 1):
        rate(desk, number)
    assert desk.next_open() == 1
    with pytest.raises(NotAllowed, match=STILL_OPEN):
        desk.finish()
    rate_all(desk)
    assert not any(status.skipped for status in desk.statuses())
    desk.finish()
    with pytest.raises(NotAllowed, match="Your answers are locked"):
        desk.save_scores(1, {"overall": 3})


def test_nothing_open_is_locked_that_another_tab_took_back(store: Store) -> None:
    at_hand = rating_study(store, rating_texts(1))
    rate_all(at_hand.desk("R1"))
    stale, other = at_hand.desk("R1"), at_hand.desk("R1")
    other.save_scores(1, {"H": None})
    with pytest.raises(NotAllowed, match=STILL_OPEN):
        stale.finish()
    assert not at_hand.desk("R1").finished
    assert stale.next_open() == 1, "and it is shown where"


def test_a_link_that_is_gone_a_study_that_closed_a_list_drawn_again(store: Store) -> None:
    at_hand = rating_study(store, raters=("R1", "R2", "R3"))
    gone, drawn, closed = (at_hand.desk(rater) for rater in ("R1", "R2", "R3"))
    drawn.text(1)
    revoke_link(store, at_hand.study, "R1")
    with pytest.raises(NotAllowed, match="link no longer works"):
        gone.save_spans(1, [FAULT])
    change_design(store, at_hand.study, Design("", "", seed=99, blinding_pairs=0))
    with pytest.raises(NotAllowed, match="list of texts was drawn again"):
        drawn.save_scores(1, {"overall": 1})
    fresh = at_hand.desk("R2")
    move(store, at_hand.study, "closed")
    for desk in (fresh, closed):
        with pytest.raises(NotAllowed, match="This study is closed"):
            desk.save_note(1, comment="late")
    assert not at_hand.record.rating_history


def test_the_first_text_that_is_done_freezes_the_design(store: Store) -> None:
    at_hand = rating_study(store, state="draft")
    preview = open_rating_desk(store, preview_link(store, at_hand.study).token)
    assert preview is not None
    rate(preview, 1)
    assert at_hand.study.first_vote_utc is None, "previews never count"
    move(store, at_hand.study, "open")
    rate(at_hand.desk("R1"), 1)
    with pytest.raises(NotAllowed, match="design was frozen"):
        change_design(store, at_hand.study, Design("", "", seed=99, blinding_pairs=0))
