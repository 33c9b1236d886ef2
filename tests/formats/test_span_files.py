"""Error spans in every form: offsets are ours after reading, and what is written is read again as it was."""

import json
from dataclasses import replace

import pytest

from core.errors import InputError
from core.formats.mt_metrics_eval import read_folder, read_seg_ratings, write_seg_rating, write_seg_score
from core.formats.rated import outputs_of, rated_of, ratings_of, write_rated
from core.formats.ratings import write_ratings_jsonl
from core.formats.registry import read_spans
from core.formats.spans.mqm import write_mqm
from core.formats.spans.rows import code_point, write_span_rows_csv, write_span_rows_jsonl
from core.formats.spans.wmt_qe import write_wmt_qe
from core.schema.scores import (
    ErrorSpan,
    OutputSet,
    RatedSet,
    RatedText,
    Rating,
    RatingSet,
    ScorableOutput,
    score_of,
)

COMBINING = "Cafe\u0301 ist schön"
EMOJI = "👩\u200d🚀 fliegt 😀 los"
ARABIC = "مرحبا بالعالم"
QUOTED = '"Ganz" in Zeichen'
MAJOR, MINOR = ("major", "accuracy/mistranslation", 5.0), ("minor", "fluency/grammar", 1.0)


def rated(*texts: tuple[str, tuple[ErrorSpan, ...]], rater: str | None = "r") -> RatedSet:
    found = []
    for number, (text, spans) in enumerate(texts, start=1):
        output = ScorableOutput(str(number), "A", text, source="The source.", language="und")
        one = Rating(str(number), score_of(spans), "A", rater=rater, spans=spans)
        found.append(RatedText(output, (one,)))
    return RatedSet(tuple(found), "", "made")


def marked(text: str, quote: str, of: tuple[str, str, float]) -> ErrorSpan:
    return ErrorSpan(text.index(quote), text.index(quote) + len(quote), *of)


CASES = rated(
    (COMBINING, (marked(COMBINING, "e\u0301", MINOR), ErrorSpan(0, 5, *MAJOR), ErrorSpan(2, 9, *MINOR))),
    (EMOJI, (marked(EMOJI, "😀", MAJOR), marked(EMOJI, "👩\u200d🚀", MINOR), ErrorSpan(15, 15, *MINOR))),
    (ARABIC, (marked(ARABIC, "العالم", MAJOR), ErrorSpan(4, 10, *MAJOR, in_source=True))),
    (QUOTED, (marked(QUOTED, '"Ganz"', MINOR),)),
    ("Kein Fehler", ()),
)
TEXTS = outputs_of(CASES)


def problems_of(data: bytes, name: str, texts: OutputSet | None = None, **options: str) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        read_spans(data, name, texts, **options)
    return tuple(caught.value.problems)


def keys(ratings: RatingSet) -> list[tuple]:
    return [(r.item_id, r.system, r.rater, r.score, r.spans) for r in ratings.ratings]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("x.jsonl", lambda rated: write_rated(rated.texts)),
        ("x.tsv", lambda rated: write_mqm(rated.texts)),
        ("x.csv", lambda rated: write_span_rows_csv(ratings_of(rated))),
        ("y.jsonl", lambda rated: write_span_rows_jsonl(ratings_of(rated))),
        ("z.jsonl", lambda rated: write_ratings_jsonl(ratings_of(rated))),
    ],
)
def test_forms_that_lose_nothing(name, write) -> None:
    found = read_spans(write(CASES), name, TEXTS)
    assert keys(found) == keys(ratings_of(CASES))
    assert found.notes == ()


def test_a_file_without_any_error_comes_back() -> None:
    clean = replace(
        ratings_of(CASES), ratings=tuple(replace(one, spans=()) for one in ratings_of(CASES).ratings)
    )
    for write, name in ((write_span_rows_csv, "x.csv"), (write_span_rows_jsonl, "x.jsonl")):
        assert keys(read_spans(write(clean), name)) == keys(clean)


def test_forms_without_raters_or_categories() -> None:
    nobody = rated(*((text.output.text, text.ratings[0].spans) for text in CASES.texts), rater=None)
    found = read_spans(write_seg_rating(ratings_of(nobody)), "en-de.mqm.seg.rating", TEXTS)
    assert keys(found) == keys(ratings_of(nobody))
    scores = read_seg_ratings(write_seg_score(ratings_of(nobody)), "mqm.seg.score")
    assert [one.score for one in scores.ratings] == [one.score for one in found.ratings]

    found = read_spans(write_wmt_qe(CASES.texts), "spans.tsv", TEXTS)
    assert [[(s.start, s.end, s.severity) for s in one.spans] for one in found.ratings] == [
        [(s.start, s.end, s.severity) for s in text.ratings[0].spans if not s.in_source]
        for text in CASES.texts
    ]
    assert {span.category for one in found.ratings for span in one.spans} == {"other"}


def test_line_ends_of_windows_do_not_move_spans() -> None:
    for name, data in (
        ("x.tsv", write_mqm(CASES.texts)),
        ("x.csv", write_span_rows_csv(ratings_of(CASES)).replace(b"\r\n", b"\n")),
        ("q.tsv", write_wmt_qe(CASES.texts)),
        ("x.seg.rating", write_seg_rating(ratings_of(CASES))),
    ):
        unix = read_spans(data, name, TEXTS)
        windows = read_spans(data.replace(b"\n", b"\r\n"), name, TEXTS)
        assert keys(windows) == keys(unix)


@pytest.mark.slow
@pytest.mark.shared
def test_the_whole_of_wmt23_comes_back(shared_data) -> None:
    folder = read_folder(shared_data / "wmt23")
    mqm = folder.ratings["mqm"]
    path = shared_data / "wmt23" / "human-scores" / "en-de.mqm.merged.seg.rating"
    by_text = {(r.item_id, r.system): r.spans for r in mqm.ratings}
    own = read_spans(path.read_bytes(), path.name, folder.outputs)
    assert {
        k: v for r in own.ratings if (k := (r.item_id, r.system)) in by_text for v in [r.spans]
    } == by_text
    assert len(by_text) == 12 * 460
    whole = rated_of(folder.outputs, mqm)
    for name, data in (
        ("x.seg.rating", write_seg_rating(mqm, n_segments=557)),
        ("x.tsv", write_mqm(whole.texts)),
        ("x.csv", write_span_rows_csv(mqm)),
        ("x.jsonl", write_rated(whole.texts)),
    ):
        again = read_spans(data, name, folder.outputs)
        assert {(r.item_id, r.system): r.spans for r in again.ratings} == by_text, name
        assert again.notes == (), name
    scores = read_seg_ratings(write_seg_score(mqm, n_segments=557), "mqm.seg.score")
    published = path.with_name("en-de.mqm.seg.score")
    theirs = read_seg_ratings(published.read_bytes(), published.name)
    of_theirs = {(r.item_id, r.system): r.score for r in theirs.ratings}
    assert {(r.item_id, r.system): r.score for r in scores.ratings} == {
        key: of_theirs[key] for key in by_text
    }


# --- offsets of other programs --------------------------------------------------------------------


def test_a_code_point_by_its_utf_16_offset() -> None:
    # 👩 is two units, U+200D one, 🚀 two: as JavaScript has it, "👩\u200d🚀".length is 5.
    assert [code_point(EMOJI, units) for units in (0, 1, 2, 3, 4, 5, 6)] == [0, None, 1, 2, None, 3, 4]
    assert code_point("ab", 5) == 5


def in_units(text: str, place: int) -> int:
    return len(text[:place].encode("utf-16-le")) // 2


def test_offsets_in_utf_16_units_end_at_the_same_characters() -> None:
    rows = ["item_id,system,rater,start,end,severity,category,weight,in_source"]
    for text in CASES.texts:
        for span in text.ratings[0].spans:
            side = text.output.source if span.in_source else text.output.text
            start, end = in_units(side, span.start), in_units(side, span.end)
            cells = (text.output.item_id, "A", "r", start, end, span.severity, span.category, span.weight)
            rows.append(",".join(map(str, (*cells, span.in_source))))
    data = "\n".join(rows).encode()
    found = read_spans(data, "js.csv", TEXTS, units="utf-16")
    assert keys(found) == keys(ratings_of(CASES))[:4]
    assert "need the text" in problems_of(data, "js.csv", units="utf-16")[0]
    inside = b"item_id,system,start,end,severity,category\n2,A,1,3,minor,x\n"
    assert problems_of(inside, "js.csv", TEXTS, units="utf-16") == (
        "line 2, system A, item 2: 1 to 3 in UTF-16 units begins or ends inside a character",
    )


def test_inclusive_ends() -> None:
    data = b"item_id,system,start,end,severity,category\n5,A,0,3,minor,x\n"
    (one,) = read_spans(data, "x.csv", TEXTS, ends="inclusive").ratings
    assert [(span.start, span.end) for span in one.spans] == [(0, 4)]
    own = "Leave out units and ends"
    with pytest.raises(InputError, match=own):
        read_spans(write_rated(CASES.texts), "x.jsonl", TEXTS, ends="inclusive")
    with pytest.raises(InputError, match=own):
        read_spans(write_mqm(CASES.texts), "x.tsv", TEXTS, units="utf-16")
    of_qe = GOLD.replace("22\t23\tmajor", "22 missing\t23 missing\tmajor minor")
    (one, *_) = read_spans(of_qe.encode(), "gold.tsv", ends="inclusive").ratings
    assert [(span.start, span.end) for span in one.spans] == [(22, 24), (0, 0)]


@pytest.mark.parametrize(
    ("scores", "agree"),
    [(("-5", "-5.0"), True), (('""', '" "'), True), (("-5", "-4"), False), (("-5", '""'), False)],
)
def test_scores_of_one_text_are_compared_as_numbers(scores: tuple[str, str], agree: bool) -> None:
    rows = [f"5,A,{n},{n + 1},minor,x,{score}\n" for n, score in enumerate(scores)]
    data = ("item_id,system,start,end,severity,category,score\n" + "".join(rows)).encode()
    if agree:
        assert len(read_spans(data, "x.csv", TEXTS).ratings) == 1
    else:
        assert "different scores" in problems_of(data, "x.csv", TEXTS)[0]


def test_a_score_of_null_and_none_at_all_are_one() -> None:
    row = {"item_id": "5", "system": "A", "severity": "minor", "category": "x"}
    rows = [{**row, "start": 0, "end": 1, "score": None}, {**row, "start": 1, "end": 2}]
    rows.append({**row, "start": 2, "end": 3, "score": ""})
    (one,) = read_spans("\n".join(map(json.dumps, rows)).encode(), "x.jsonl", TEXTS).ratings
    assert one.score == -3


# --- WMT's quality estimation ---------------------------------------------------------------------

GOLD = (
    "lp\tgold\tsid\tmt\tstart_id\tend_id\terror\n"
    "en-de\tgold\t0\tAber nur du kannst das...\t22\t23\tmajor\n"
    "en-de\tgold\t1\tAuch [PERSON9] Ich habe einen Blick auf den\t40 0\t43 0\tmajor minor\n"
    "en-de\tgold\t2\tSo wie das\t-1\t-1\tno-error\n"
)


def test_gold_labels_and_submissions() -> None:
    gold = read_spans(GOLD.encode(), "gold.tsv")
    assert [(r.item_id, r.rater, r.language, r.score) for r in gold.ratings] == [
        ("0", "gold", "de", -5.0),
        ("1", "gold", "de", -6.0),
        ("2", "gold", "de", 0.0),
    ]
    assert [[(s.start, s.end, s.severity) for s in r.spans] for r in gold.ratings] == [
        [(22, 23, "major")],
        [(40, 43, "major"), (0, 0, "minor")],
        [],
    ]
    body = GOLD.split("\n", 1)[1].replace("\tgold\t", "\tmine\t").replace("error\n", "error\t\n")
    submitted = read_spans(f"2409244995\n2280000000\n3\n{body}".encode(), "predictions.txt")
    assert [r.spans for r in submitted.ratings] == [r.spans for r in gold.ratings]
    assert {r.rater for r in submitted.ratings} == {"mine"}


def test_training_data_with_quoted_cells() -> None:
    text = 'Laut der "U.S." Drought Monitor, nur über 40'
    cell = '"' + text.replace('"', '""') + '"'
    at = text.index("nur")
    data = (
        "mt_system\tdoc_id\tseg_id\tannotator_id\tsource\ttarget\tstart_ids\tend_ids\terrors\n"
        f"S\td\t1\ta\tx\t{cell}\t{at}\t{len(text)}\tmajor\n"
        f"S\te\t1\ta\tx\t{cell}\tmissing\tmissing\tminor\n"
    )
    found = read_spans(data.encode(), "train.tsv")
    assert [r.item_id for r in found.ratings] == ["d:1", "e:1"]
    assert found.notes == ("items are DOCUMENT:NUMBER, because several texts have the same number",)
    assert [(s.start, s.end) for r in found.ratings for s in r.spans] == [(at, len(text)), (0, 0)]


# --- what is wrong with a file --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name", "problems"),
    [
        (b"a,b\n1,2\n", "x.csv", ["file: contains no error spans; expected MQM's TSV"]),
        (b'{"item_id": "1", "score": 1}\n', "x.jsonl", ["file: contains no error spans"]),
        (
            b'{"item_id": "1", "text": "a", "ratings": [{"score": 1}]}',
            "x.jsonl",
            ["file: contains ratings, but no"],
        ),
        (b"A\t{}\nB\tNone\n", "x.seg.rating", ['line 1: expected an object with a list "errors", or None']),
        (b"A None\n", "x.seg.rating", ["line 1: no tab found"]),
        (b"A\tNone\n", "x.seg.rating", ["file: contains no rated text"]),
        (
            b'A\t{"errors": []}\nA\tNone\nB\tNone\n',
            "x.seg.rating",
            ["file: system B has 1 lines, A has 2; expected the same number"],
        ),
        (
            b"item_id,start,end,severity\n1,3,2,minor\n1,,2,minor\n1,0,1,bad\n2,x,1,minor\n,0,1,minor\n",
            "x.csv",
            [
                "line 6: item_id is missing",
                "line 2: starts at 3 and ends at 2",
                "line 3: start is missing",
                "line 5: start is x, expected a whole number from 0",
            ],
        ),
        (
            b"item_id,rater,start,end,severity\n1,r,,,\n1,r,0,1,minor\n2,r,0,1,grave\n",
            "x.csv",
            [
                "line 2: marks no error, but line 3 marks one",
                'line 4: severity "grave" has no weight',
            ],
        ),
        (
            b"lp\tgold\tsid\tmt\tstart_id\tend_id\terror\nen-de\tg\t1\tabc\t1 2\t2\tminor\nen-de\tg\t2\tabc\t2\t1\tminor\n"
            b"en-de\tg\t3\tabc\t0\t1\tgrave\nen-de\tg\t4\tabc\t5\t6\tminor\nen-de\tg\t4\tabc\t-1\t-1\tno-error\nx\n",
            "gold.tsv",
            [
                "line 7: 1 cells, expected at least 7",
                "line 2: 2 starts, 1 ends and 1 errors; expected the same number",
                "line 3, span 1: starts at 2 and ends at 1",
                'line 4, span 1: severity "grave" is unknown',
                "line 6: the same text and rater as in line 5",
                "line 5, span 1, item 4: starts at 5, but the text has 3 characters",
            ],
        ),
    ],
)
def test_problems_name_their_place(data: bytes, name: str, problems: list[str]) -> None:
    found = problems_of(data, name)
    assert len(found) == len(problems), found
    for said, expected in zip(found, problems, strict=True):
        assert said.startswith(expected)


def test_spans_beyond_their_text() -> None:
    errors = [{"start": 9, "end": 40, "severity": "minor", "category": "x", "score": 1}]
    data = f"A\tNone\nA\tNone\nA\tNone\nA\tNone\nA\t{json.dumps({'errors': errors})}\n".encode()
    found = read_spans(data, "x.seg.rating", TEXTS)
    assert found.ratings[0].spans[0].end == len("Kein Fehler")
    assert found.notes == (
        "cut 1 span that reaches beyond the end of the text: line 5, span 1, system A, item 5",
    )
    assert found.left_out == {"nobody rated it": 4}
    assert problems_of(data.replace(b'"start": 9', b'"start": 12'), "x.seg.rating", TEXTS) == (
        "line 5, span 1, system A, item 5: starts at 12, but the text has 11 characters",
    )
    (note,) = read_spans(data.replace(b"A\t", b"B\t"), "x.seg.rating", TEXTS).notes
    assert note == "1 ratings have no matching text: their spans are not checked"


# --- what a form cannot say -----------------------------------------------------------------------


def refused(write, *texts: RatedText) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        write(texts)
    return tuple(caught.value.problems)


def test_mqm_refuses_what_it_cannot_say() -> None:
    def one(text: str, *spans: ErrorSpan, source: str | None = "s", level: str | None = None) -> RatedText:
        output = ScorableOutput("1", "A", text, source=source, level=level)
        return RatedText(output, (Rating("1", 0.0, "A", rater="r", spans=spans),))

    assert "text contains a tab" in refused(write_mqm, one("a\tb"))[0]
    assert "text contains a tab, a line break or <v>" in refused(write_mqm, one("a <v> b"))[0]
    assert (
        "has weight 3, in MQM 5" in refused(write_mqm, one("abc", ErrorSpan(0, 1, "major", "other", 3.0)))[0]
    )
    assert (
        "the source is unknown"
        in refused(write_mqm, one("abc", ErrorSpan(0, 1, "major", "other", 5.0, True), source=None))[0]
    )
    assert "has several texts" in refused(write_mqm, one("a", level="0"), one("b", level="1"))[0]
    assert refused(write_mqm, RatedText(ScorableOutput("1", "A", "x"))) == ("no rating has marked errors",)
    assert "contains a tab or a line break" in refused(write_wmt_qe, one("a\nb"))[0]


def test_an_error_of_several_parts_stays_one() -> None:
    parts = (ErrorSpan(0, 4, *MAJOR), ErrorSpan(5, 8, "major", MAJOR[1], 0.0))
    text = rated(("Kein Fehler", parts))
    again = read_spans(write_mqm(text.texts), "x.tsv")
    assert again.ratings[0].spans == parts
    assert again.ratings[0].score == -5.0


def test_texts_in_quotation_marks_stay_in_them() -> None:
    text = rated(('"Alles"', (ErrorSpan(1, 6, *MINOR),)), ('"So" und "so"', ()))
    found = read_spans(write_mqm(text.texts[:1]), "x.tsv", outputs_of(text))
    assert found.ratings[0].spans == (ErrorSpan(1, 6, *MINOR),)
    quoted = rated(('"Alles"', ()))
    assert b'\t"""Alles"""\t' in write_mqm(quoted.texts)
    assert read_spans(write_mqm(quoted.texts), "x.tsv").ratings[0].spans == ()


def test_mt_metrics_eval_refuses_what_it_cannot_say() -> None:
    one = ratings_of(CASES).ratings[0]
    for found, problem in (
        ((replace(one, item_id="doc:1"),), "item doc:1: is not a segment number"),
        ((one, replace(one, rater="s")), "item 1, system A: 2 raters marked errors"),
        ((one, replace(one, level="2")), "item 1, system A: has several texts"),
        ((replace(one, spans=None),), "there is no rating to write"),
        ((replace(one, spans=(ErrorSpan(0, 1, "grave", "x"),)),), "an error has no weight"),
    ):
        with pytest.raises(InputError) as caught:
            write_seg_rating(RatingSet(found, "", ""))
        assert any(problem in said for said in caught.value.problems), problem
    both = RatingSet((one, replace(one, rater="s", score=-2.0)), "", "")
    assert write_seg_score(both, n_segments=2) == b"A\t-4.5\nA\tNone\n"
    assert b"None" not in write_seg_rating(both, rater="s")
    with pytest.raises(InputError, match="cannot be written"):
        write_seg_score(RatingSet((one, replace(one, dimension="LA")), "", ""))
