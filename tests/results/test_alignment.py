"""Mismatches beside errors that people marked: who meets whom, what is left out, and CEF's Tables 3, 4 and 7."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cef_factories import examined, judged, output, question, record
from helpers.texts.score_factories import ratings

from core.analyses.caught_errors import ANALYSIS
from core.errors import InputError
from core.formats.correlations import read_table
from core.formats.mt_metrics_eval import read_folder, read_folder_outputs
from core.judges.alignment import MarkedError, MarkedText, Mismatch, align_by_words
from core.results.cells import plain
from core.results.judges.cross_examination import AlignmentRow, alignment_table, changes_meaning, marked_texts
from core.schema.scores import ErrorSpan, Rating, ScoredRow

TEXT = "Die Bank schloss 1998 wegen Regen."
SOURCE = "The bench was closed in 1989 because of snow."
EXAMINED = record(
    examined(
        [question("Is it about a bench?", "NO"), question("Was it closed?")], [question("In 1998?", None)]
    ),
    examined(
        [question("Is it about a bench?", "NO")], [question("In 1998?", "NO"), question("Rain?", "IDK")], 1
    ),
)


def text(item: str = "1", **fields: Any) -> Any:
    return judged(item, fields.pop("record", EXAMINED), **{"text": TEXT, "question": SOURCE, **fields})


def span(start: int, end: int, **fields: Any) -> ErrorSpan:
    return ErrorSpan(
        start,
        end,
        fields.pop("severity", "major"),
        fields.pop("category", "Accuracy/Mistranslation"),
        **fields,
    )


def rating(*spans: ErrorSpan, item: str = "1", **fields: Any) -> Rating:
    return Rating(item, 0.0, system="s", spans=spans, **fields)


def error(category: str = "Accuracy/Omission", found: bool | None = None, **fields: Any) -> MarkedError:
    return MarkedError(
        fields.pop("quote", "Bank"), fields.pop("severity", "major"), category, found, **fields
    )


def marked(*errors: MarkedError, mismatches: tuple[Mismatch, ...] = ()) -> MarkedText:
    return MarkedText(ScoredRow("1", "s"), TEXT, SOURCE, mismatches, errors)


def test_a_text_gets_its_mismatches_and_the_words_that_were_marked() -> None:
    found, notes = marked_texts(
        output(text()), ratings(rating(span(4, 8), span(17, 21, severity="minor"), rater="r1"))
    )
    assert len(found) == 1
    assert [(one.quote, one.severity) for one in found[0].errors] == [("Bank", "major"), ("1998", "minor")]
    # Of both repeats, each once; an answer that was not parsed is no mismatch.
    assert [(one.side, one.question, one.answer) for one in found[0].mismatches] == [
        ("source", "Is it about a bench?", "NO"),
        ("text", "In 1998?", "NO"),
        ("text", "Rain?", "IDK"),
    ]
    assert notes == ("marked errors: 2, texts: 1",)


def test_marks_in_the_source_are_quoted_from_it_or_left_out() -> None:
    in_source = rating(span(4, 9, in_source=True))
    found, _ = marked_texts(output(text()), ratings(in_source))
    assert found[0].errors[0].quote == "bench"
    found, notes = marked_texts(output(text(question=None)), ratings(in_source))
    assert found == ()
    assert "marked errors left out: 1: marked in an input text that is missing" in notes


def test_marks_in_a_source_that_was_not_examined_are_left_out() -> None:
    """Examined against its reference: no question is about the source, so none can point to what is marked there."""
    marks = ratings(rating(span(4, 9, in_source=True), span(4, 8)))
    found, notes = marked_texts(output(text(document="A reference."), settings={"mode": "reference"}), marks)
    assert [one.quote for one in found[0].errors] == ["Bank"]
    assert "marked errors left out: 1: marked in an input text that was not examined" in notes
    found, _ = marked_texts(output(text(), settings={"mode": "round-trip"}), marks)
    assert [one.quote for one in found[0].errors] == ["bench", "Bank"]


def test_every_mark_of_every_rater_is_an_error() -> None:
    found, notes = marked_texts(
        output(text()), ratings(rating(span(4, 8), rater="r1"), rating(span(4, 8), rater="r2"))
    )
    assert [one.quote for one in found[0].errors] == ["Bank", "Bank"]
    assert "texts with several raters: 1. The marks of each rater count" in notes


def test_what_cannot_be_looked_for_is_counted_with_its_reason() -> None:
    found, notes = marked_texts(
        output(
            text(),
            text("2", record=None),
            text("3", record=record(examined(None, None))),
            text("4"),
        ),
        ratings(
            rating(span(4, 8), span(5, 5), span(30, 99)),
            rating(span(4, 8), item="2"),
            rating(span(4, 8), span(0, 3), item="3"),
            rating(item="4"),
            rating(span(0, 3), item="5"),
            Rating("4", 1.0, system="s"),
        ),
    )
    assert [len(one.errors) for one in found] == [1]
    assert set(notes[1:]) == {
        "marked errors left out: 1: no words are marked",
        "marked errors left out: 1: marked beyond the end of the text",
        "marked errors left out: 3: their text has no examination",
        "marked errors left out: 1: their text was not examined",
        "rated texts without a usable marked error: 1",
    }


def test_systems_and_levels_tell_texts_apart() -> None:
    texts = (text(system="x", level="1"), text(system="y", level="2"))
    given = Rating("1", 0.0, system="y", level="2", spans=(span(4, 8),))
    found, _ = marked_texts(output(*texts), ratings(given))
    assert [one.row.system for one in found] == ["y"]


def test_what_cannot_meet_is_refused() -> None:
    with pytest.raises(InputError, match="is a rubric judge"):
        marked_texts(output(kind="rubric"), ratings(rating(span(0, 3))))
    with pytest.raises(InputError, match="no marked errors"):
        marked_texts(output(text()), ratings(Rating("1", 1.0)))
    with pytest.raises(InputError, match="matches a score"):
        marked_texts(output(text()), ratings(rating(span(0, 3), item="other")))


def test_the_table_counts_every_error_once_in_each_grouping() -> None:
    found = alignment_table(
        [
            marked(error("Accuracy/Omission", True), error("Style/Awkward", False, severity="minor")),
            marked(error("Accuracy/Omission", False), error("Style/Awkward", None, reason="cut off")),
        ]
    )
    assert [(row.name, row.caught.count, row.total, row.n_left_out) for row in found.by_category] == [
        ("Accuracy/Omission", 1, 2, 0),
        ("Style/Awkward", 0, 1, 1),
    ]
    assert [(row.name, row.caught.count, row.total) for row in found.by_severity] == [
        ("major", 1, 2),
        ("minor", 0, 1),
    ]
    assert [(row.name, row.caught.share) for row in found.by_meaning] == [
        ("semantic", 0.5),
        ("non-semantic", 0.0),
    ]
    assert (found.overall.caught.count, found.overall.total, found.overall.n_left_out) == (1, 3, 1)
    assert found.reasons == (("cut off", 1),)
    assert found.n_texts == 2


def test_the_declared_answer_is_json_of_the_same_numbers() -> None:
    texts = [marked(error("Accuracy/Omission", True), error("Style/Awkward", None, reason="cut off"))]
    for each in (texts, []):
        answer = ANALYSIS.answer(ANALYSIS.Options(), each)
        assert answer.json == plain(alignment_table(each))
    rows = ANALYSIS.answer(ANALYSIS.Options(), texts).tables["judge-alignment"].rows
    assert [row[:2] for row in rows] == [
        ("all", "overall"),
        ("meaning", "semantic"),
        ("meaning", "non-semantic"),
        ("category", "Accuracy/Omission"),
        ("category", "Style/Awkward"),
        ("severity", "major"),
    ]


def test_no_error_with_a_verdict_has_no_rate() -> None:
    for texts in ([], [marked(error())]):
        found = alignment_table(texts)
        assert (found.overall.caught.share, found.overall.caught.reason) == (None, "no error with a verdict")
    assert found.reasons == (("not asked", 1),)


@pytest.mark.parametrize(
    ("category", "semantic"),
    [
        ("Accuracy/Mistranslation", True),
        ("accuracy/addition", True),
        ("Accuracy/Untranslated text", True),
        ("accuracy/source language fragment", True),
        ("omission", True),
        ("Terminology/Inappropriate for context", True),
        ("Non-translation!", True),
        ("accuracy/creative reinterpretation", False),
        ("Fluency/Grammar", False),
        ("style/unnatural or awkward", False),
        ("other", False),
    ],
)
def test_which_categories_change_the_meaning(category: str, semantic: bool) -> None:
    assert changes_meaning(category) is semantic


def test_001_s_table_4_adds_up_to_295_of_449() -> None:
    """The paper prints 298 caught, and 65.7 %, which is 295 of 449."""
    *kinds, overall = read_table("cross-examination-4").rows
    found = alignment_table(
        [
            marked(
                *[error(str(kind["error_type"]), True)] * int(kind["caught"] or 0),
                *[error(str(kind["error_type"]), False)]
                * (int(kind["total"] or 0) - int(kind["caught"] or 0)),
            )
            for kind in kinds
        ]
    )
    assert (found.overall.caught.count, found.overall.total) == (295, 449)
    assert percent(found.overall, 1) == overall["percent"] == 65.7
    assert overall["caught"] == 298
    by_name = {row.name: row for row in found.by_category}
    assert [percent(by_name[str(kind["error_type"])], 1) for kind in kinds] == [k["percent"] for k in kinds]


def test_001_s_tables_3_and_7() -> None:
    """Table 3: 668 of 852 and 540 of 2,316 are 1,208 of 3,168. Table 7: 340 of 1,872, found at 18.17 %."""
    *split, overall = read_table("cross-examination-3").rows
    counts = [(int(row["aligned"] or 0), int(row["count"] or 0)) for row in split]
    categories = ("Accuracy/Omission", "Style/Awkward")
    found = alignment_table(
        [
            marked(*[error(name, True)] * caught, *[error(name, False)] * (total - caught))
            for name, (caught, total) in zip(categories, counts, strict=True)
        ]
    )
    assert [(row.name, row.caught.count, row.total) for row in found.by_meaning] == [
        ("semantic", *counts[0]),
        ("non-semantic", *counts[1]),
    ]
    assert (found.overall.caught.count, found.overall.total) == (overall["aligned"], overall["count"])
    assert percent(found.overall, 2) == overall["percent"]
    gemba = alignment_table([marked(*[error(found=True)] * 340, *[error(found=False)] * (1872 - 340))])
    assert percent(gemba.overall, 2) == 18.16  # the paper prints 18.17


def percent(row: AlignmentRow, digits: int) -> float:
    return round(100 * float(row.caught.share or 0), digits)


def test_shared_words_find_what_is_quoted_and_nothing_else() -> None:
    mismatches = (
        Mismatch("text", "Did the bank close in 1998?", "YES", "NO"),
        Mismatch("source", "Was it closed because of snow?", "YES", "IDK"),
    )
    found = align_by_words(
        marked(
            error(quote="closed 1998 down"),
            error(quote="umbrella of the gardener"),
            error(quote="of the"),
            error(quote=" "),
            mismatches=mismatches,
        )
    )
    assert [one.found for one in found.errors] == [True, False, None, None]
    assert found.errors[0].why == "2 of 3 content words are in: Did the bank close in 1998?"
    assert [one.reason for one in found.errors[2:]] == [
        "the marked words say too little to be found by words",
        "no words are marked",
    ]
    assert align_by_words(marked(error())).errors[0].found is False


def test_shared_words_in_a_script_without_spaces() -> None:
    mismatch = (Mismatch("text", "東京で雨が降りましたか。", "YES", "NO"),)
    found = align_by_words(marked(error(quote="東京で"), error(quote="大阪の"), mismatches=mismatch))
    assert [one.found for one in found.errors] == [True, False]


@pytest.mark.shared
def test_errors_marked_in_wmt23_meet_the_texts_they_were_marked_in(shared_data: Path) -> None:
    """English-German: the marked words, beside those cut out of the files line by line."""
    folder = shared_data / "wmt23"
    expected = words_marked_in(folder)
    texts = [
        judged(o.item_id, EXAMINED, system=o.system, text=o.text, question=o.source, language=o.language)
        for o in read_folder_outputs(folder).outputs
    ]
    found, notes = marked_texts(output(*texts), read_folder(folder).ratings["mqm"])
    quoted = Counter((one.row.system, error.quote) for one in found for error in one.errors)
    blank = sum(n for (_, quote), n in expected.items() if not quote)
    assert quoted == Counter({key: n for key, n in expected.items() if key[1]})
    assert (quoted.total(), blank) == (18_267, 476)
    assert "marked errors left out: 476: no words are marked" in notes
    table = alignment_table([align_by_words(one) for one in found])
    assert sum(row.total + row.n_left_out for row in table.by_category) == quoted.total()


def words_marked_in(folder: Path) -> Counter[tuple[str, str]]:
    """(system, marked words without blanks around them) -> how often."""
    lines = {
        path.stem: path.read_text("utf-8").split("\n") for path in (folder / "system-outputs/en-de").iterdir()
    }
    sources = (folder / "sources/en-de.txt").read_text("utf-8").split("\n")
    at, words = Counter[str](), Counter[tuple[str, str]]()
    for line in (folder / "human-scores/en-de.mqm.merged.seg.rating").read_text("utf-8").splitlines():
        system, said = line.split("\t")
        for one in [] if system == "refA" or said == "None" else json.loads(said)["errors"]:
            text = sources[at[system]] if one["is_source_error"] else lines[system][at[system]]
            words[system, text[one["start"] : one["end"]].strip()] += 1
        at[system] += 1
    return words
