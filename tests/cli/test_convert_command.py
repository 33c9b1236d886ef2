"""`convert`: from one form of ratings into another, and what a form cannot say."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts, unblind
from helpers.texts.span_makers import rated as rated_texts

from core.cli import main
from core.formats.rated import ratings_of, write_rated
from core.formats.registry import read_rated, read_spans
from core.schema.scores import RatedText, Rating
from core.store import open_store

Run = Callable[..., str]
TEXTS = {
    ("1", "A"): "the quick brown fox",
    ("1", "B"): "the quick red fox",
    ("2", "A"): "it \U0001f600 jumps",
}
ERRORS = {("1", "A"): ["quick"], ("1", "B"): ["red", "fox"], ("2", "A"): ["jumps"]}


def rated() -> list[RatedText]:
    """Major errors with the weights of MQM, 5 each."""
    found = []
    for text in rated_texts(TEXTS, ERRORS).texts:
        (one,) = text.ratings
        spans = tuple(replace(span, weight=5.0) for span in one.spans or ())
        found.append(replace(text, ratings=(replace(one, score=-5.0 * len(spans), spans=spans),)))
    return found


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "rated.jsonl").write_bytes(write_rated(rated()))
    return tmp_path


def ratings(path: Path) -> dict[tuple[object, ...], Rating]:
    found = read_spans(path.read_bytes(), path.name)
    return {(one.item_id, one.system, one.rater): one for one in found.ratings}


@pytest.mark.parametrize(
    ("form", "name"),
    [("spans-csv", "s.csv"), ("spans-jsonl", "s.jsonl"), ("mqm", "s.tsv"), ("wmt-qe", "q.tsv")],
)
def test_there_and_back_gives_the_same_marks(given: Path, run: Run, form: str, name: str) -> None:
    run("convert", "rated.jsonl", "--to", form, "--out", name)
    texts = ["--texts", "texts.jsonl"]
    plain = [replace(one, ratings=()) for one in rated()]
    (given / "texts.jsonl").write_bytes(write_rated(plain))
    said = run("convert", name, "--to", "rated", "--out", "back.jsonl", *texts)
    assert "3 ratings of 3 of 3 texts" in said
    before, after = (read_rated((given / one).read_bytes(), one) for one in ("rated.jsonl", "back.jsonl"))
    assert [one.output for one in after.texts] == [one.output for one in before.texts]
    for was, now in zip(ratings_of(before).ratings, ratings_of(after).ratings, strict=True):
        assert now.score == was.score
        assert was.spans is not None
        assert now.spans is not None
        assert [(one.start, one.end, one.severity) for one in now.spans] == [
            (one.start, one.end, one.severity) for one in was.spans
        ]


def test_files_of_mt_metrics_eval(given: Path, run: Run) -> None:
    said = run("convert", "rated.jsonl", "--to", "seg-score", "--out", "human.seg.score")
    assert "not in this format: errors, texts, raters" in said
    assert (given / "human.seg.score").read_text() == "A\t-5.0\nA\t-5.0\nB\t-10.0\nB\tNone\n"
    run("convert", "rated.jsonl", "--to", "seg-rating", "--out", "human.seg.rating")
    assert [len(one.spans or ()) for one in ratings(given / "human.seg.rating").values()] == [1, 1, 2]
    run("convert", "human.seg.score", "--to", "rated", "--texts", "rated.jsonl", "--out", "scored.jsonl")
    scored = ratings_of(read_rated((given / "scored.jsonl").read_bytes(), "scored.jsonl"))
    assert [(one.score, one.spans) for one in scored.ratings] == [(-5.0, None), (-10.0, None), (-5.0, None)]


def test_offsets_that_count_otherwise(given: Path, run: Run) -> None:
    """JavaScript counts the emoji as two: "jumps" stands at 6 to 10, the last one's own place."""
    (given / "js.csv").write_text("item_id,system,start,end,severity\n2,A,6,10,major\n", encoding="utf-8")
    asked = ["--units", "utf-16", "--ends", "inclusive", "--texts", "rated.jsonl"]
    run("convert", "js.csv", "--to", "spans-jsonl", "--out", "ours.jsonl", *asked)
    row = json.loads((given / "ours.jsonl").read_text())
    assert TEXTS["2", "A"][row["start"] : row["end"]] == "jumps"


def test_metal_with_dimensions_turned(given: Path, run: Run) -> None:
    record = {"id": "7", "text": "t", "annotations": {"a1": {"LA": 2, "H": 1}, "a2": {"LA": 1, "H": 0}}}
    (given / "metal.json").write_text(json.dumps([record]))
    run("convert", "metal.json", "--to", "rated", "--flip", "H", "--out", "m.jsonl")
    found = ratings_of(read_rated((given / "m.jsonl").read_bytes(), "m.jsonl")).ratings
    assert {(one.rater, one.dimension): one.score for one in found} == {
        ("a1", "LA"): 2,
        ("a1", "H"): 0,
        ("a2", "LA"): 1,
        ("a2", "H"): 1,
    }


def test_what_cannot_be_said_is_refused(given: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    levels = [
        replace(one, output=replace(one.output, level=level)) for one in rated() for level in ("A0", "A1")
    ]
    (given / "levels.jsonl").write_bytes(write_rated(levels))
    run("convert", "rated.jsonl", "--to", "spans-csv", "--out", "s.csv")
    (given / "scores.csv").write_text("item_id,system,rater,score\n1,A,r,3\n", encoding="utf-8")
    (given / "dimensions.csv").write_text(
        "item_id,system,dimension,score\n1,A,LA,2\n1,A,TQ,1\n", encoding="utf-8"
    )
    rows = "item_id,system,rater,start,end,severity\n1,A,ann,0,1,minor\n1,A,ben,,,\n"
    (given / "raters.csv").write_text(rows, encoding="utf-8")
    for arguments, sentence in {
        ("levels.jsonl", "--to", "mqm"): "system A (and 2 more): has several texts, which differ in level",
        ("levels.jsonl", "--to", "wmt-qe"): "WMT-QE cannot store these: write the format `rated`",
        ("levels.jsonl", "--to", "seg-score"): "several texts, which differ in level",
        ("s.csv", "--to", "mqm"): "--texts is missing: mqm needs the texts",
        ("scores.csv", "--to", "spans-csv"): "contains no error spans",
        ("rated.jsonl", "--to", "mqm", "--texts", "rated.jsonl"): "already contains the texts",
        ("rated.jsonl", "--to", "mqm", "--units", "utf-16"): "Leave out units and ends",
        ("rated.jsonl", "--to", "mqm", "--flip", "H"): "Leave out the dimensions to flip",
        ("rated.jsonl", "--to", "mqm", "--ratings", "mqm"): "--ratings: only for a folder",
        (
            "dimensions.csv",
            "--to",
            "seg-score",
        ): "--dimension is missing: the format takes one, the ratings have LA, TQ",
        ("raters.csv", "--to", "seg-rating"): "several marked item 1, system A",
        ("rated.jsonl", "--to", "mqm", "--rater", "nobody"): "Unknown rater",
    }.items():
        status = main(["convert", *arguments, "--out", "x.tsv"])
        said = capsys.readouterr().err
        assert (status, sentence in said) == (2, True), said
        assert not (given / "x.tsv").exists()


def test_no_input_is_replaced(given: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    before = (given / "rated.jsonl").read_bytes()
    for arguments in (
        ("rated.jsonl", "--to", "spans-jsonl", "--out", "rated.jsonl"),
        ("s.csv", "--to", "rated", "--texts", "rated.jsonl", "--out", "./rated.jsonl"),
        (".", "--to", "rated", "--out", "rated.jsonl"),
    ):
        assert main(["convert", *arguments]) == 2
        assert "would be replaced" in capsys.readouterr().err
    assert (given / "rated.jsonl").read_bytes() == before


def test_a_study_with_levels(given: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says that MQM cannot hold levels, whether a study is exported or converted; a row a span can."""
    with open_store(given / "assay.db") as store:
        at_hand = rating_study(store, rating_texts(2, levels=("A0", "A3")), repeat_share=0.0, raters=["R1"])
        rate_all(at_hand.desk("R1"))
        unblind(at_hand)
    for command in (
        ["study", "export", "ratings", "--format", "mqm"],
        ["convert", "study:ratings", "--to", "mqm"],
    ):
        assert main([*command, "--out", "x.tsv"]) == 2
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 2
        assert said[1].endswith(
            "system zq-north (and 5 more): has several texts, which differ in level, language or labels; MQM's TSV "
            "cannot store these: write the format `rated` instead"
        )
    said = run("convert", "study:ratings", "--to", "spans-csv", "--out", "s.csv")
    assert "left out, ratings without marked errors: 24" in said  # 2 items, 3 systems, 2 levels, 2 dimensions
    assert (given / "s.csv").read_text("utf-8-sig").count("A3") == 6
    assert main(["convert", "study:ratings", "--to", "rated", "--texts", "rated.jsonl", "--out", "y"]) == 2
    assert "already contains the texts" in capsys.readouterr().err


def test_what_a_judge_marked(given: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """The Parrot of B sees "quick" in A's text and finds no other word; with repeats there is not one set of marks."""
    (given / "own.jsonl").write_bytes(write_rated(rated()))
    for name, more in {"parrot": [], "two": ["--repeats", "2"]}.items():
        assert main(["judge", "automqm", "own.jsonl", "--backend", "rules", "--out", name, *more]) == 0
    said = run("convert", "parrot", "--to", "rated", "--out", "marks.jsonl")
    assert "2 ratings of 2 of 3 texts" in said
    assert "left out, ratings: no examples: 1" in said
    assert main(["convert", "two", "--to", "rated", "--out", "y"]) == 2
    assert "has 2 repeats, so one file cannot contain them" in capsys.readouterr().err
