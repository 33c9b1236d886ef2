"""Answers out: what a spreadsheet, a script and the paper's own code get."""

import csv
import io
import json
import zipfile
from dataclasses import replace

import pytest
from helpers.texts.factories import LEVELS, always, dataset, guess_all, prefers, study_in, vote

from core.formats.trutheval import read_votes
from core.schema.study import Answer, StudyRecord
from core.store import Store
from core.store.answers import PAIRS
from core.study.export import (
    COLUMNS,
    GUESS_COLUMNS,
    TEXT_COLUMNS,
    answer_rows,
    answers_csv,
    answers_jsonl,
    guesses_csv,
    paper_files,
    paper_votes,
    paper_zip,
)
from core.study.lifecycle import exclude_rater
from core.study.raters import import_votes, preview_link

pytestmark = pytest.mark.usefixtures("each_pair_task")

COMMENTS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tindented",
    "\rreturned",
    "\nbroken",
    "one\ntwo",
    "one\rtwo",
    "one\r\ntwo",
    'say "yes", or ""',
    "a,b;c\td",
    "'quoted",
    "العربية עברית \u202eturned\u202c",
    "日本語、中文",
    "👩‍🔬 e\u0301",
    "a\u2028b\x85c\x1cd",
    " =1",
    "\\n \\",
]


def csv_rows(record: StudyRecord) -> list[dict[str, str]]:
    text = answers_csv(record).decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_one_row_an_answer_and_the_columns_as_documented(store: Store) -> None:
    at_hand = study_in(store, dataset(3), repeat_share=0.2)
    vote(store, at_hand.tokens["R1"], prefers(0))
    at_hand.desk("R2").skip(1)
    at_hand.desk("R2").save_note(2, comment="open", invalid=False)
    vote(store, preview_link(store, at_hand.study).token, always("both_bad"))
    import_votes(store, at_hand.study, "old", {("q00", "A0"): "comparator"})
    record, rows = at_hand.record, csv_rows(at_hand.record)
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == sum(answer.answered for answer in record.answers) == 18 + 18 + 1
    assert all(tuple(row) == COLUMNS for row in answer_rows(record))
    assert {(row["rater"], row["dry_run"], row["imported"]) for row in rows} == {
        ("R1", "false", "false"),
        ("preview-1", "true", "false"),
        ("old", "false", "true"),
    }
    assert sum(row["repeat"] == "true" for row in rows if row["rater"] == "R1") == 3


def test_both_texts_on_request(store: Store) -> None:
    data = dataset(2)
    outputs = tuple(
        replace(one, text="=1+1") if (one.item_id, one.source) == ("q00", "ai") else one
        for one in data.outputs
    )
    at_hand = study_in(store, replace(data, outputs=outputs))
    vote(store, at_hand.tokens["R1"], prefers(0))
    texts = {(one.item_id, one.level, one.source): one.text for one in outputs}
    written = [json.loads(line) for line in answers_jsonl(at_hand.record, texts=True).decode().splitlines()]
    table = csv.DictReader(io.StringIO(answers_csv(at_hand.record, texts=True).decode(), newline=""))
    for row, cells in zip(written, table, strict=True):
        pair = [texts[row["item_id"], row["level"], row[who]] for who in ("candidate", "comparator")]
        assert [row[name] for name in TEXT_COLUMNS] == pair
        assert [cells[name] for name in TEXT_COLUMNS] == [
            "'=1+1" if text == "=1+1" else text for text in pair
        ]
        assert tuple(row) == tuple(cells) == (*COLUMNS, *TEXT_COLUMNS)
    assert any(row["candidate_text"] == "=1+1" for row in written)


def test_a_row_by_hand(store: Store) -> None:
    data = dataset(2, languages=("ja",))
    at_hand = study_in(store, data)
    (assignment, *_) = (a for a in at_hand.record.assignments if a.rater_id == "R1" and a.position == 4)
    desk = at_hand.desk("R1")
    desk.save_choice(4, "right", seconds=1.5, diff_used="left_right")
    desk.save_choice(4, "left", seconds=2.345, diff_used="own_a0")
    desk.save_note(4, comment="hm", invalid=True)
    (row,) = csv_rows(at_hand.record)
    (answer,) = at_hand.record.answers
    left_role = "candidate" if assignment.left == "ai" else "comparator"
    assert row == {
        "study": "study",
        "rater": "R1",
        "position": "4",
        "item_id": assignment.item_id,
        "question": f"Question {assignment.item_id}?",
        "language": "ja",
        "level": assignment.level,
        "candidate": "ai",
        "comparator": "human",
        "candidate_side": "left" if left_role == "candidate" else "right",
        "comparator_side": "left" if left_role == "comparator" else "right",
        "choice_displayed": "left",
        "choice_decoded": left_role,
        "shown_utc": answer.shown_utc,
        "answered_utc": answer.answered_utc,
        "seconds": "2.35" if "2.35" in str(answer.seconds) else "2.34",
        "seconds_first": "1.5",
        "seconds_visible": "",
        "translated": "",
        "times_saved": "3",
        "diff_used": "own_a0",
        "comment": "hm",
        "invalid": "true",
        "repeat": "false",
        "dry_run": "false",
        "imported": "false",
        "excluded": "",
        "app_version": answer.app_version,
        "dataset_sha256": data.sha256,
        "design_seed": "7",
        "main_analysis": "true" if assignment.level != "A0" else "false",
        "votes_needed": "2",
        "score": "composite",
        "flagged_pairs": "keep",
        "analysis_declared": "true",
        "rendering": "plain",
        "code_language": "",
    }


def test_sides_and_decoding_for_every_row(store: Store) -> None:
    at_hand = study_in(store, dataset(4), repeat_share=0.2, candidate="human", comparator="ai")
    choices = iter(["left", "right", "both_good", "both_bad"] * 20)
    vote(store, at_hand.tokens["R1"], lambda _: next(choices))
    shown = {(a.item_id, a.level, a.repeat): a for a in at_hand.record.assignments if a.rater_id == "R1"}
    for row in csv_rows(at_hand.record):
        a = shown[row["item_id"], row["level"], row["repeat"] == "true"]
        assert row["candidate_side"] == ("left" if a.left == "human" else "right")
        assert {row["candidate_side"], row["comparator_side"]} == {"left", "right"}
        if row["choice_displayed"] in ("left", "right"):
            assert row[row["choice_decoded"] + "_side"] == row["choice_displayed"]
        else:
            assert row["choice_decoded"] == row["choice_displayed"]


def test_imported_votes_have_no_side_and_no_time(store: Store) -> None:
    at_hand = study_in(store, raters=())
    import_votes(store, at_hand.study, "old", {("q00", "A0"): "comparator"})
    (row,) = csv_rows(at_hand.record)
    empty = [name for name in COLUMNS if row[name] == ""]
    assert empty == [
        *("position", "candidate_side", "comparator_side", "choice_displayed"),
        *("shown_utc", "answered_utc", "seconds", "seconds_first", "seconds_visible"),
        *("translated", "diff_used", "comment", "excluded", "app_version", "code_language"),
    ]
    assert row["choice_decoded"] == "comparator"


def commented(store: Store, comments: list[str]) -> StudyRecord:
    at_hand = study_in(store, dataset(len(comments), ("A0",)), repeat_share=0.0)
    for number, comment in enumerate(comments):
        PAIRS.save(
            store, at_hand.study_id, Answer("R1", f"q{number:02d}", "A0", choice="left", comment=comment)
        )
    return at_hand.record


@pytest.mark.parametrize("comment", COMMENTS, ids=ascii)
def test_comments_survive_reading_the_csv(store: Store, comment: str) -> None:
    rows = csv_rows(commented(store, ["before", comment, "after"]))
    assert [row["comment"].removeprefix("'") for row in rows] == [
        "before",
        comment.removeprefix("'"),
        "after",
    ]


def test_formulas_are_neutralised_in_every_text_column(store: Store) -> None:
    data = dataset(1, ("=A0",), ("+ai", "-human"))
    data = replace(data, items=(replace(data.items[0], question="@question"),))
    at_hand = study_in(store, data, raters=("=R1",), name="=study")
    at_hand.desk("=R1").save_choice(1, "left", seconds=1.0, diff_used="none")
    at_hand.desk("=R1").save_note(1, comment="=cmd|' /C calc'!A0", invalid=False)
    (row,) = csv_rows(at_hand.record)
    guarded = {name for name, value in row.items() if value.startswith("'")}
    assert guarded == {"study", "rater", "question", "level", "candidate", "comparator", "comment"}
    assert not [value for value in row.values() if value.startswith(tuple("=+-@\t\r\n"))]
    (raw,) = (json.loads(line) for line in answers_jsonl(at_hand.record).decode().splitlines())
    assert (raw["comment"], raw["rater"], raw["study"]) == ("=cmd|' /C calc'!A0", "=R1", "=study")


def test_jsonl_has_texts_as_written_and_open_notes(store: Store) -> None:
    at_hand = study_in(store, dataset(20, ("A0",)), repeat_share=0.0)
    desk = at_hand.desk("R1")
    for number, comment in enumerate(COMMENTS, start=1):
        desk.save_note(number, comment=comment, invalid=False)
    desk.save_choice(1, "left", seconds=1.0, diff_used="none")
    content = answers_jsonl(at_hand.record)
    rows = [json.loads(line) for line in content.decode("utf-8").split("\n") if line]
    kept = [comment.replace("\x85", "\ufffd").replace("\x1c", "\ufffd") for comment in COMMENTS]
    assert [row["comment"] for row in rows] == kept, "as written, but for what no page can show"
    assert [row["choice_displayed"] for row in rows] == ["left"] + [None] * (len(COMMENTS) - 1)
    assert all(tuple(row) == COLUMNS for row in rows)
    assert (rows[0]["invalid"], rows[0]["position"], rows[0]["seconds"]) == (False, 1, 1.0)
    assert len(csv_rows(at_hand.record)) == 1


def test_nothing_yet(store: Store) -> None:
    record = study_in(store, dataset(4, LEVELS)).record
    assert list(csv.reader(io.StringIO(answers_csv(record).decode()))) == [list(COLUMNS)]
    assert answers_jsonl(record) == b""
    assert paper_votes(record) == {}


def test_the_papers_json_comes_round_as_imported_votes(store: Store) -> None:
    at_hand = study_in(store, dataset(3, LEVELS), repeat_share=0.2)
    choices = iter(["left", "right", "both_good", "both_bad"] * 20)
    vote(store, at_hand.tokens["R1"], lambda _: next(choices))
    vote(store, preview_link(store, at_hand.study).token, always("left"))
    record = at_hand.record
    assert list(paper_votes(record)) == ["R1"], "no preview"
    pairs = {(item.item_id, level) for item in record.items for level in LEVELS}
    votes = read_votes(paper_votes(record)["R1"], "r.json", pairs)
    main = {
        (row["item_id"], row["level"]): row["choice_decoded"]
        for row in answer_rows(record)
        if row["rater"] == "R1" and not row["repeat"]
    }
    assert votes == main
    assert len(votes) == 15
    other = study_in(store, dataset(4, LEVELS), raters=(), name="other")
    import_votes(store, other.study, "again", {k: v for k, v in votes.items() if k[0] != "none"})
    assert paper_votes(other.record)["again"] == paper_votes(record)["R1"]


def test_the_papers_json_leaves_out_who_is_excluded(store: Store) -> None:
    """It has no mark for them: whoever reads it would count their votes."""
    at_hand = study_in(store, dataset(4, LEVELS))
    for token in at_hand.tokens.values():
        vote(store, token, always("both_good"))
    exclude_rater(store, at_hand.study, "R1", "did not read")
    assert list(paper_votes(at_hand.record)) == ["R2"]
    rows = csv_rows(at_hand.record)
    assert {(row["rater"], row["excluded"]) for row in rows} == {("R1", "did not read"), ("R2", "")}


def test_guesses_by_hand(store: Store) -> None:
    at_hand = study_in(store, dataset(2, ("A0",)), raters=("R1", "=R2"), blinding_pairs=2, person="candidate")
    for token in at_hand.tokens.values():
        guess_all(vote(store, token, always("left")), comment="\u200b=1+1")
    exclude_rater(store, at_hand.study, "=R2", "-")
    shown = {(a.rater_id, a.item_id): a for a in at_hand.record.assignments}
    rows = list(csv.DictReader(io.StringIO(guesses_csv(at_hand.record).decode(), newline=""), strict=True))
    assert [row["rater"] for row in rows] == ["R1", "R1", "'=R2", "'=R2"]
    for row, guess in zip(rows, at_hand.record.guesses, strict=True):
        left = shown[guess.rater_id, guess.item_id].left
        side = "left" if left == "ai" else "right"
        assert tuple(row) == GUESS_COLUMNS
        assert row == {
            "study": "study",
            "rater": "'=R2" if guess.rater_id == "=R2" else "R1",
            "item_id": guess.item_id,
            "level": "A0",
            "person": "ai",
            "person_side": side,
            "guess": guess.guess,
            "right": "" if guess.guess == "unsure" else str(guess.guess == side).lower(),
            "comment": "'\u200b=1+1",
            "answered_utc": guess.answered_utc,
            "seconds": "1.5",
            "seconds_first": "1.5",
            "seconds_visible": "",
            "translated": "",
            "dry_run": "false",
            "excluded": "'-" if guess.rater_id == "=R2" else "",
            "app_version": guess.app_version,
        }


@pytest.mark.parametrize(
    "hidden", [" ", "\u00a0", "\u3000", "\ufeff", "\u200b", "\u2060", "\u3164", "\ufe0f", "\u2800"]
)
def test_formulas_behind_what_nobody_sees(store: Store, hidden: str) -> None:
    comments = [f"{hidden}=1+1", f"{hidden * 3}\n@x", f"{hidden}1=1", f"x{hidden}=1"]
    rows = csv_rows(commented(store, comments))
    assert [row["comment"].startswith("'") for row in rows] == [True, True, False, False]


def test_files_of_raters_whose_names_look_alike(store: Store) -> None:
    at_hand = study_in(store, dataset(4, LEVELS), raters=("a/b", "a\\b", "a_b", "../x", "日本"))
    for token in at_hand.tokens.values():
        vote(store, token, always("both_good"))
    files = paper_files(at_hand.record)
    assert list(files) == [
        *("results-a_b.json", "results-a_b-2.json", "results-a_b-3.json"),
        *("results-.._x.json", "results-日本.json"),
    ]
    with zipfile.ZipFile(io.BytesIO(paper_zip(at_hand.record))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
