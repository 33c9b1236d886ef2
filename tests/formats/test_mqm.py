"""Marked errors: weights, spans in the text without marks, raters, and the forms of several releases."""

import json

import pytest

from core.errors import InputError
from core.formats.spans.mqm import holds_mqm, read_mqm, weight_of
from core.schema.scores import ErrorSpan

HEADER = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
NEWER = (
    "system",
    "doc",
    "docSegId",
    "globalSegId",
    "rater",
    "source",
    "target",
    "category",
    "severity",
    "metadata",
)


def row(
    target: str,
    category: str = "Accuracy/Mistranslation",
    severity: str = "Major",
    *,
    system: str = "GPT",
    doc: str = "talk.1",
    in_doc: int = 1,
    segment: str = "1",
    rater: str = "rater1",
    source: str = "The red house.",
) -> tuple[str, ...]:
    return (system, doc, str(in_doc), segment, rater, source, target, category, severity)


def file_of(*rows: tuple[str, ...], header: tuple[str, ...] = HEADER) -> bytes:
    return "".join("\t".join(cells) + "\n" for cells in (header, *rows)).encode()


def test_one_rating_a_segment_system_and_rater() -> None:
    found = read_mqm(
        file_of(
            row("Das <v>blaue</v> Haus"),
            row("Das blaue Haus<v></v>", "Fluency/Punctuation", "Minor"),
            row("Das blaue Haus", "No-error", "No-error", rater="rater2"),
            row("Ein Haus.", "Style/Awkward", "Neutral", system="NLLB"),
        ),
        "mqm.tsv",
    )
    assert [(r.item_id, r.system, r.rater, r.score) for r in found.ratings] == [
        ("1", "GPT", "rater1", -5.1),
        ("1", "GPT", "rater2", 0.0),
        ("1", "NLLB", "rater1", 0.0),
    ]
    assert found.ratings[0].spans == (
        ErrorSpan(4, 9, "major", "Accuracy/Mistranslation", 5.0),
        ErrorSpan(14, 14, "minor", "Fluency/Punctuation", 0.1),
    )
    assert "Das blaue Haus"[4:9] == "blaue"
    assert found.ratings[1].spans == ()
    assert found.ratings[0].labels == {"document": "talk.1"}
    assert str(found.ratings[1].score) == "0.0"


@pytest.mark.parametrize(
    ("category", "severity", "weight"),
    [
        ("Accuracy/Mistranslation", "Major", 5),
        ("Accuracy/Mistranslation", "minor", 1),
        ("Fluency/Punctuation", "Minor", 0.1),
        ("fluency/punctuation", "Major", 5),
        ("Non-translation!", "Major", 25),
        ("non-translation", "minor", 25),
        ("Style/Awkward", "Neutral", 0),
        ("source issue", "major", 0),
        ("Accuracy/Creative Reinterpretation", "Minor", 0),
        ("Source error", "Major", 5),
        ("Other/Non-translation", "Major", 5),
        ("Other", "Critical", 25),
        ("Other", "Trivial", None),
    ],
)
def test_weights(category: str, severity: str, weight: float | None) -> None:
    assert weight_of(category, severity) == weight


def test_marks_in_the_source_and_several_of_one_error() -> None:
    found = read_mqm(
        file_of(
            row("Das Haus", "Accuracy/Omission", "Minor", source="The <v>red</v> house."),
            row("<v>Das</v> <v>Haus</v>", "Fluency/Grammar"),
        ),
        "mqm.tsv",
    )
    (one,) = found.ratings
    assert one.score == -6.0
    assert one.spans == (
        ErrorSpan(4, 7, "minor", "Accuracy/Omission", 1.0, in_source=True),
        ErrorSpan(0, 3, "major", "Fluency/Grammar", 5.0),
        ErrorSpan(4, 8, "major", "Fluency/Grammar", 0.0),
    )


def test_an_error_without_marks_counts_and_a_non_translation_is_the_whole_text() -> None:
    found = read_mqm(
        file_of(row("abc", "Other"), row("abcd", "Non-translation!", segment="2", in_doc=2)), "x.tsv"
    )
    assert [(r.score, r.spans) for r in found.ratings] == [
        (-5.0, (ErrorSpan(0, 0, "major", "Other", 5.0),)),
        (-25.0, (ErrorSpan(0, 4, "major", "Non-translation!", 25.0),)),
    ]
    assert found.notes == ("1 errors mark no text: they count in the scores, but their spans are empty",)


def test_only_what_weighs_as_a_non_translation_is_the_whole_text() -> None:
    (one,) = read_mqm(file_of(row("abcd", "Other/Non-translation")), "x.tsv").ratings
    assert one.spans == (ErrorSpan(0, 0, "major", "Other/Non-translation", 5.0),)


def test_marks_that_do_not_pair_are_noted() -> None:
    found = read_mqm(file_of(row("Das <v>Haus"), row("</v>Das <v>Haus</v>", rater="rater2")), "x.tsv")
    assert [[(s.start, s.end) for s in r.spans or ()] for r in found.ratings] == [[(4, 8)], [(4, 8)]]
    assert "2 marks do not pair (lines 2, 3)" in found.notes[0]


def test_rows_without_a_rater_and_tests_of_attention_are_left_out() -> None:
    found = read_mqm(
        file_of(row("x", "", "", rater=""), row("x", "Found", "HOTW-test"), row("x", "No-error", "no-error")),
        "x.tsv",
    )
    assert len(found.ratings) == 1
    assert found.left_out == {
        "row of metadata, without a rater": 1,
        "test of the rater's attention": 1,
    }


def test_the_newer_form_with_metadata_and_a_language_pair() -> None:
    metadata = json.dumps({"note": 'a "word"'})
    data = file_of(
        (*row('"Das <v>rote</v> Haus', doc="news:en-de", segment="7"), metadata),
        header=(*NEWER, "# Documentation"),
    )
    (one,) = read_mqm(data, "x.tsv").ratings
    assert (one.item_id, one.language) == ("7", "de")
    assert one.labels == {"document": "news:en-de", "language_pair": "en-de"}
    assert one.spans is not None
    assert '"Das rote Haus'[one.spans[0].start : one.spans[0].end] == "rote"
    assert holds_mqm(data)
    assert not holds_mqm(b"item\tsystem\tscore\n")


def test_quoted_cells_are_taken_out_of_their_quotes() -> None:
    data = file_of(
        row('"Er sagte ""<v>Ja</v>""."'), row("Nein", "No-error", "No-error", segment="2", in_doc=2)
    )
    (one, _) = read_mqm(data, "x.tsv").ratings
    assert one.spans is not None
    assert 'Er sagte "Ja".'[one.spans[0].start : one.spans[0].end] == "Ja"


def test_without_numbers_in_the_test_set_items_are_named_by_document() -> None:
    found = read_mqm(file_of(row("x", segment="0"), row("x", segment="0", doc="talk.2")), "x.tsv")
    assert [rating.item_id for rating in found.ratings] == ["talk.1:1", "talk.2:1"]
    assert any("DOCUMENT:NUMBER" in note for note in found.notes)


def test_all_problems_together() -> None:
    with pytest.raises(InputError) as caught:
        read_mqm(file_of(row("x", severity="bad"), ("GPT", "talk.1"), row("x", system="")), "x.tsv")
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["line 3", "line 4", "line 2"]
    with pytest.raises(InputError, match="column severity is missing"):
        read_mqm(b"system\tdoc\trater\tsource\ttarget\tcategory\n", "x.tsv")
    with pytest.raises(InputError, match="contains no rating"):
        read_mqm(file_of(), "x.tsv")
