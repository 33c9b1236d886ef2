"""`spans` and the looks at judges that mark errors, from files and runs to JSON, tables and sentences for mistakes."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.texts.rater_folder import EVERY, N_RATERS, N_SEGMENTS, SYSTEMS, folder_by_rater
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts, unblind
from helpers.texts.span_makers import rated, span

from core.cli import main
from core.formats.rated import write_rated
from core.schema.scores import Rating
from core.store import open_store

Run = Callable[..., str]
TEXTS = {
    ("1", "A"): "the quick brown fox",
    ("1", "B"): "the quick red fox",
    ("2", "A"): "it jumps over dogs",
    ("2", "B"): "it leaps over dogs",
}
ERRORS = {("1", "A"): ["quick"], ("1", "B"): ["quick"], ("2", "A"): ["jumps"], ("2", "B"): ["over"]}
"""The Parrot of A sees B's errors and the other way round: item 1 is met exactly, in item 2 it marks the other word."""
ROWS = """item_id,system,rater,start,end,severity,category
1,A,ann,4,9,major,fluency/grammar
1,B,ann,0,3,minor,fluency/grammar
2,A,ann,,,,
2,B,ann,,,,
1,A,ben,4,9,major,fluency/grammar
1,B,ben,4,9,major,fluency/grammar
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "rated.jsonl").write_bytes(write_rated(rated(TEXTS, ERRORS).texts))
    (tmp_path / "marks.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "A.seg.rating").write_text(
        'A\t{"errors": [{"start": 4, "end": 9, "category": "x", "severity": "major", "score": 5, '
        '"is_source_error": false}]}\nA\tNone\n',
        encoding="utf-8",
    )
    return tmp_path


def test_json_holds_the_four_numbers_and_more(files: Path, run: Run) -> None:
    """Item 1: 5 of 5 for A; B marks "the" (3) where "quick" (5) is the gold. Item 2: nothing predicted of 9."""
    found = json.loads(run("spans", "rated.jsonl", "marks.csv", "--json", "--resamples", "50"))
    # Two raters predicted item 1: ann has 5 + 0 of 8 right, ben 10 of 10; the gold marks 10 for each, and 9 of item 2.
    assert found["precision"] == pytest.approx(15 / 18)
    assert found["recall"] == pytest.approx(15 / 29)
    assert found["f1"] == pytest.approx(30 / 47)
    assert found["n_segments"] == 6
    assert found["characters"] == {"gold": 29, "predicted": 18, "credit": 15.0}
    assert found["left_out"] == {}


def test_the_same_file_is_met_exactly(files: Path, run: Run) -> None:
    found = json.loads(run("spans", "marks.csv", "marks.csv", "--json", "--by", "rater", "--resamples", "0"))
    assert (found["precision"], found["recall"], found["f1"]) == (1.0, 1.0, 1.0)
    assert {name: one["f1"] for name, one in found["by_rater"].items()} == {"ann": 1.0, "ben": 1.0}


def test_marks_beyond_the_end_of_a_rated_text_are_cut_there(files: Path, run: Run) -> None:
    (files / "long.csv").write_text("item_id,system,start,end,severity\n1,A,14,900,major\n", encoding="utf-8")
    found = json.loads(run("spans", "rated.jsonl", "long.csv", "--json", "--resamples", "0"))
    assert found["characters"]["predicted"] == len(TEXTS["1", "A"]) - 14
    assert found["notes"] == ["1 spans were cut at the end of their text"]


def test_one_system_of_mt_metrics_eval(files: Path, run: Run) -> None:
    said = run("spans", "rated.jsonl", "A.seg.rating", "--by", "system", "--resamples", "0")
    assert "1 segment of 1 item" in said
    assert "1.00 " in said
    assert "left out: 3: no prediction of this text" in said


@pytest.fixture
def parrots(files: Path, run: Run) -> Path:
    for name, options in {"parrot": [], "two": ["--repeats", "2"], "few": ["--n-examples", "1"]}.items():
        common = ["--backend", "rules", "--name", name, "--out", name]
        assert main(["judge", "automqm", "rated.jsonl", *common, *options]) == 0
    return files


def test_judges_stand_side_by_side_from_folders_and_runs(parrots: Path, run: Run) -> None:
    one = json.loads(run("spans", "rated.jsonl", "parrot", "--json", "--resamples", "20"))
    # "quick" twice right; of item 2 "over" (4) in A's text and "jumps" is not in B's: 10 of 14 marked, of 19.
    assert (one["precision"], one["recall"]) == (pytest.approx(10 / 14), pytest.approx(10 / 19))
    both = json.loads(run("spans", "rated.jsonl", "parrot", "run:2", "--json", "--resamples", "20"))
    assert [judge["name"] for judge in both["judges"]] == ["parrot", "run:2"]
    assert [judge["n_draws"] for judge in both["judges"]] == [1, 2]
    assert both["judges"][1]["sd"]["f1"] == 0.0
    (test,) = both["tests"]
    assert (test["difference"], test["p"]) == (0.0, 1.0)
    table = run("spans", "rated.jsonl", "parrot", "run:2", "--resamples", "20")
    assert "Mean F1" in table
    assert "paired permutation test over whole items" in table


def test_looks_at_what_judges_marked(parrots: Path, run: Run) -> None:
    copied = json.loads(
        run("reproduce", "specialist", "copying", "run:1", "run:2", "--json", "--resamples", "20")
    )
    first = copied["judges"][0]
    assert first["n_errors"] == 3
    assert first["of_people"]["estimate"] == pytest.approx(2 / 3)
    assert first["of_examples"]["estimate"] == 1.0
    assert first["located"] == {"exact": 3}
    assert [one["n_alone"] for one in copied["disjoint"]] == [0, 0]
    assert "In its examples" in run(
        "reproduce", "specialist", "copying", "parrot", "--rated", "rated.jsonl", "--resamples", "0"
    )
    curve = json.loads(
        run(
            "reproduce",
            "specialist",
            "examples-curve",
            "rated.jsonl",
            "few",
            "parrot",
            "--json",
            "--resamples",
            "20",
        )
    )
    assert [point["n_examples"] for point in curve["points"]] == [1, None]
    assert [point["mean_shown"] for point in curve["points"]] == [1.0, 1.0]
    assert "Mean shown" in run(
        "reproduce", "specialist", "examples-curve", "rated.jsonl", "few", "parrot", "--resamples", "0"
    )
    matrix = json.loads(run("report", "raters", "marks.csv", "--json", "--resamples", "0"))
    assert matrix["rows"] == matrix["columns"] == ["ann", "ben"]
    # ben against ann: 5 + 0 of 10 predicted and of 8 marked.
    assert matrix["cells"][1][0]["f1"] == pytest.approx(10 / 18)
    said = run("report", "raters", "marks.csv")
    assert ": a rater against themself" in said


@pytest.mark.shared
def test_a_folder_with_a_file_a_rater_gives_their_matrix(shared_data: Path, tmp_path: Path, run: Run) -> None:
    folder = folder_by_rater(shared_data / "wmt23", tmp_path / "set")
    found = json.loads(run("report", "raters", str(folder), "--json", "--resamples", "0"))
    names = [f"rater{n}" for n in range(1, N_RATERS + 1)]
    assert found["rows"] == found["columns"] == names
    common = len(SYSTEMS) * -(-N_SEGMENTS // EVERY)
    for row, line in enumerate(found["cells"]):
        for column, cell in enumerate(line):
            assert cell["n_segments"] == (0 if row == column else common)
            assert row == column or 0.5 < cell["f1"] <= 1
    # The first rater lacks an error wherever the last one, who lacks a text's eighth, has it.
    assert found["cells"][0][7]["recall"] < found["cells"][7][0]["recall"]
    assert any("it also has mqm.merged" in note for note in found["notes"])


def test_specialists_stand_in_the_matrix_for_the_rater_they_learned_from(files: Path, run: Run) -> None:
    """Item 1 alone has errors: ann's Parrot finds "quick" of A in B and "the" of B in A, ben's finds "quick" in both."""
    texts = rated(TEXTS, {})
    spans = {("ann", "A"): (4, 9), ("ann", "B"): (0, 3), ("ben", "A"): (4, 9), ("ben", "B"): (4, 9)}
    by_both = [
        replace(
            one,
            ratings=tuple(
                Rating(
                    one.output.item_id,
                    -5.0,
                    one.output.system,
                    rater=rater,
                    spans=(span(*spans[rater, one.output.system]),) if one.output.item_id == "1" else (),
                )
                for rater in ("ann", "ben")
            ),
        )
        for one in texts.texts
    ]
    (files / "both.jsonl").write_bytes(write_rated(by_both))
    for rater in ("ann", "ben"):
        options = ["--backend", "rules", "--rater", rater, "--out", rater]
        assert main(["judge", "automqm", "both.jsonl", *options]) == 0
    command = ["report", "raters", "both.jsonl", "run:1", "run:2"]
    matrix = json.loads(run(*command, "--json", "--resamples", "0"))
    assert matrix["rows"] == ["ann", "ben"]
    # ann's Parrot marks B's "quick" and A's "the": nothing that ann marked, and of ben 5 of the 8 it marks and 10 he does.
    assert matrix["mean_f1_same_name"] == pytest.approx((0 + 1) / 2)
    assert matrix["mean_f1_other_names"] == pytest.approx((10 / 18 + 10 / 18) / 2)
    assert "Mean F1 with the rater of the same name: 0.500" in run(*command, "--resamples", "0")
    again = [*command, "ann"]
    assert json.loads(run(*again, "--json", "--resamples", "0"))["mean_f1_same_name"] == pytest.approx(1 / 3)


def test_an_unblinded_study_of_ratings_is_gold_too(tmp_path: Path, run: Run) -> None:
    """Both raters mark the first four characters of the first system's texts, and nothing elsewhere."""
    with open_store(tmp_path / "assay.db") as store:
        at_hand = rating_study(store, rating_texts(2), repeat_share=0.0)
        for rater in ("R1", "R2"):
            rate_all(at_hand.desk(rater))
        unblind(at_hand)
    found = json.loads(run("spans", "study:ratings", "study:ratings", "--json", "--resamples", "0"))
    assert (found["f1"], found["n_items"], found["left_out"]) == (1.0, 2, {})
    matrix = json.loads(run("report", "raters", "study:ratings", "--json", "--resamples", "0"))
    assert matrix["rows"] == ["R1", "R2"]
    assert matrix["cells"][0][1]["f1"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["spans", "rated.jsonl", "absent.csv"], "absent.csv cannot be read"),
        (
            ["spans", "rated.jsonl", "marks.csv", "A.seg.rating", "--by", "system"],
            "--by: only for a single judge",
        ),
        (["spans", "rated.jsonl", "marks.csv", "marks.csv"], "is given twice"),
        (["spans", "rated.jsonl", "marks.csv", "--resamples", "-1"], "--resamples"),
        (["spans", "rated.jsonl", "marks.csv", "--by", "rater"], "do not name raters"),
        (["reproduce", "specialist", "copying", "run:1"], "There is no database"),
        (["report", "raters", "rated.jsonl"], "no named raters"),
    ],
)
def test_mistakes_are_told_in_a_sentence(
    arguments: list[str],
    said: str,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(files)
    monkeypatch.setenv("ASSAY_DB", str(files / "assay.db"))
    assert main(arguments) == 2
    assert said in capsys.readouterr().err
