"""The bundle of a rating study: there and back, forgeries."""

import json

import pytest
from helpers.texts.factories import (
    changed_line,
    counts_of,
    dataset,
    edited,
    members_of,
    study_in,
    without_links,
    zipped,
)
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts, unblind

from core.errors import InputError
from core.schema.scores import ErrorSpan
from core.schema.study import StudyRecord
from core.store import Store, open_store
from core.store.answers import load_record
from core.study.bundle import read_bundle, write_bundle
from core.study.lifecycle import restore_study, set_guideline, withdraw_rater

ADDED = ("rating_assignments.jsonl", "rating_answers.jsonl", "rating_history.jsonl")


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> StudyRecord:
    with open_store(tmp_path_factory.mktemp("busy") / "assay.db") as store:
        at_hand = rating_study(store, rating_texts(3, levels=("A0", "A1")), raters=("R1", "R2", "gone"))
        desk = at_hand.desk("R1")
        desk.save_spans(
            2, [ErrorSpan(1, 3, "minor", "fluency/grammar"), ErrorSpan(0, 25, "major", "accuracy/omission")]
        )
        rate_all(desk)
        desk.finish()
        draft = at_hand.desk("R2")
        draft.save_scores(1, {"overall": 33.3})
        draft.save_note(1, comment="日本語\u2028x", invalid=True)
        draft.skip(2)
        rate_all(at_hand.desk("gone"))
        withdraw_rater(store, at_hand.study, "gone", keep_votes=True)
        set_guideline(store, at_hand.study, "de", "Lesen Sie in Ruhe.")
        unblind(at_hand)
        return at_hand.record


@pytest.fixture(scope="module")
def written(busy: StudyRecord) -> bytes:
    return write_bundle(busy)


def test_there_and_back(store: Store, busy: StudyRecord, written: bytes) -> None:
    assert read_bundle(written, "b.zip") == busy
    restored = load_record(store, restore_study(store, read_bundle(written, "b.zip"), name="again"))
    assert without_links(restored) == without_links(busy)
    assert len(restored.rating_history) > len(restored.rating_answers) > 20


FORGED = [
    ("study.json", {"task": None}, "a study of ratings has no task"),
    ("study.json", {"kind": "pairs"}, "cannot have a task or ratings"),
    ("study.json", {"kind": "other"}, "kind"),
    ("study.json", {"first_vote_utc": None}, "first_vote_utc must give the time"),
    ("items.jsonl", {"item_id": "other"}, "item 'other' has no text"),
    ("outputs.jsonl", {"text": " "}, "text is blank"),
    ("outputs.jsonl", {"source": "a\tb"}, "not a valid name"),
    ("study.json", {"levels": ["A0"]}, "the levels differ from those of the texts"),
    ("raters.jsonl", {"imported": True}, "cannot be imported"),
    ("rating_assignments.jsonl", {"position": 2}, "are not 1 to"),
    ("rating_assignments.jsonl", {"source": "x"}, "there is no such text"),
    ("rating_assignments.jsonl", {"rater_id": "x"}, "this text was never shown"),
    ("rating_answers.jsonl", {"scores": {"overall": 101}}, "101.0 is not a possible score"),
    ("rating_answers.jsonl", {"scores": {"overall": 1e300}}, "too large to store"),
    ("rating_answers.jsonl", {"scores": {}}, "it is done, but lacks"),
    ("rating_answers.jsonl", {"comment": "forged"}, "differs from the last entry in its history"),
    ("rating_answers.jsonl", {"source": "nobody"}, "there is no such rater or text"),
    ("guidelines.json", {"en": "zq-north is best"}, "names the system"),
]  # fmt: skip


@pytest.mark.parametrize(("member", "values", "said"), FORGED)
def test_forgeries(store: Store, written: bytes, member: str, values: dict[str, object], said: str) -> None:
    before = counts_of(store)
    if member == "guidelines.json":
        forged = edited(written, {member: json.dumps(values).encode()})
    else:
        forged = changed_line(written, member, **values)
    with pytest.raises(InputError) as raised:
        restore_study(store, read_bundle(forged, "b.zip"), name="restored")
    assert said in str(raised.value)
    assert counts_of(store) == before


def test_a_span_beyond_its_text(written: bytes) -> None:
    answers = [json.loads(line) for line in members_of(written)["rating_answers.jsonl"].splitlines()]
    number = next(n for n, answer in enumerate(answers) if answer["spans"])
    spans = [{**answers[number]["spans"][0], "end": 10_000}]
    with pytest.raises(InputError, match="is outside the text"):
        read_bundle(changed_line(written, "rating_answers.jsonl", number, spans=spans), "b.zip")


def test_a_list_that_was_turned_round(written: bytes) -> None:
    first, second = (
        json.loads(line) for line in members_of(written)["rating_assignments.jsonl"].splitlines()[:2]
    )
    swapped = changed_line(
        written, "rating_assignments.jsonl", 0, **{**first, "position": second["position"]}
    )
    swapped = changed_line(
        swapped, "rating_assignments.jsonl", 1, **{**second, "position": first["position"]}
    )
    with pytest.raises(InputError, match="what the seed gives"):
        read_bundle(swapped, "b.zip")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"step": 1e-7}, "gives 1000000001 answers"),
        ({"lowest": 200}, "not above lowest"),
        ({"highest": 1e308}, "expected a number"),
        ({"name": "a b"}, "may contain only letters"),
    ],
)
def test_a_task_that_no_file_could_ask(written: bytes, values: dict[str, object], said: str) -> None:
    study = json.loads(members_of(written)["study.json"])
    study["task"]["dimensions"][0].update(values)
    with pytest.raises(InputError, match=said):
        read_bundle(edited(written, {"study.json": json.dumps(study).encode()}), "b.zip")


def test_a_weight_that_no_rater_gave(written: bytes) -> None:
    """It would count in the score in place of the one that the severity has."""
    changed = written
    for member, inner in (("rating_answers.jsonl", False), ("rating_history.jsonl", True)):
        for number, line in enumerate(members_of(written)[member].splitlines()):
            row = json.loads(line)
            answer = row["answer"] if inner else row
            answer["spans"] = [{**span, "weight": 1000.0} for span in answer["spans"]]
            if answer["spans"]:
                changed = changed_line(changed, member, number, **row)
    with pytest.raises(InputError, match="differ from what a save stores"):
        read_bundle(changed, "b.zip")


def test_an_answer_that_is_only_in_the_history(written: bytes) -> None:
    lines = members_of(written)["rating_answers.jsonl"].splitlines(keepends=True)
    with pytest.raises(InputError, match="is missing, but is in the history"):
        read_bundle(edited(written, {"rating_answers.jsonl": b"".join(lines[1:])}), "b.zip")


def test_ratings_in_the_bundle_of_pairs(store: Store, written: bytes) -> None:
    pairs = write_bundle(study_in(store, dataset()).record)
    history = members_of(written)["rating_history.jsonl"]
    with pytest.raises(InputError, match="cannot have a task or ratings"):
        read_bundle(edited(pairs, {"rating_history.jsonl": history}), "b.zip")


@pytest.mark.parametrize("member", ADDED)
def test_a_member_is_missing_or_cut(written: bytes, member: str) -> None:
    members = members_of(written)
    for changed in (
        {name: content for name, content in members.items() if name != member},
        {**members, member: members[member][:-5]},
        {**members, member: b""},
    ):
        with pytest.raises(InputError, match="cannot be restored") as raised:
            read_bundle(zipped(changed), "b.zip")
        assert [problem for problem in raised.value.problems if problem.startswith(member)]


def test_the_forger_changes_nothing_by_itself(busy: StudyRecord, written: bytes) -> None:
    assert read_bundle(changed_line(written, "rating_answers.jsonl"), "b.zip") == busy
