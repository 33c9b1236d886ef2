"""Rating studies by command: from a file of texts to ratings that judges can take examples from."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.texts.factories import dataset, paper_json, tokens_in
from helpers.texts.rating_studies import SYSTEMS

from core.cli import main
from core.formats.registry import read_rated
from core.results.study.text_list import TEXTS_TABLE
from core.schema.scores import ErrorSpan
from core.store import open_store
from core.study.blinding import open_rating_desk

Run = Callable[..., str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Texts of three systems, one of them missing."""
    path = tmp_path / "texts.csv"
    with path.open("w", encoding="utf-8", newline="") as written:
        table = csv.writer(written)
        table.writerow(("item_id", "system", "source_text", "text"))
        rows = [(item, number, name) for item in range(3) for number, name in enumerate(SYSTEMS)]
        table.writerows(
            (f"i{item}", name, f"Quelle {item}", f"Text {item}.{number} يوم")
            for item, number, name in rows[:-1]
        )
    return path


def answer(tmp_path: Path, tokens: dict[str, str]) -> None:
    with open_store(tmp_path / "assay.db") as store:
        for token in tokens.values():
            desk = open_rating_desk(store, token)
            assert desk is not None
            while (number := desk.next_open()) is not None:
                place = desk.text(number).text[7]
                desk.save_scores(number, {"overall": 10 * int(place)})
                spans = [ErrorSpan(9, 12, "major", "accuracy/addition")] if place == "1" else []
                desk.save_spans(number, spans, no_errors=not spans)
                desk.complete(number, seconds=8.0)
            desk.finish()


def test_the_whole_way(run: Run, file: Path, tmp_path: Path) -> None:
    printed = run(
        "study", "import-ratings", str(file), "--task", "mqm-and-direct", "--name", "pilot", "--seed", "4"
    )
    assert printed == (
        "Note: 1 of 3 items lack a text of some system or level; raters see the texts they have\n"
        "Study 'pilot': 8 texts of 3 items, task mqm-and-direct (Translation errors and overall quality); draft.\n"
        "seed 4, ratings per item from all raters, hidden repeats 5%\n"
    )
    tokens = tokens_in(run("study", "links", "pilot", "--add", "R1,R2"))
    run("study", "open", "pilot")
    assert run("study", "list") == "pilot\topen\tratings: Translation errors and overall quality\n"
    answer(tmp_path, tokens)
    progress = run("study", "progress", "pilot")
    assert not [name for name in SYSTEMS if name in progress]
    lines = [line.split("\t") for line in progress.splitlines()]
    assert [line[:9] for line in lines[1:]] == [
        [rater, "rater", "8/8 locked", "0", "0", "8.0", "-", "3", "3"] for rater in ("R1", "R2")
    ]
    assert json.loads(run("study", "progress", "pilot", "--json"))[0]["errors"] == 3
    for verb in ("results", "export"):
        more = ("--format", "rated", "--out", str(tmp_path / "early")) if verb == "export" else ()
        assert main(["study", verb, "pilot", *more]) != 0, "hidden until you unblind it"
    run("study", "close", "pilot")
    run("study", "unblind", "pilot", "--reason", "done")
    printed = run("study", "results", "pilot", "--resamples", "50")
    rows = [line.split() for line in printed.splitlines() if line.startswith("zq-south")]
    by_dimension = rows[:2]
    assert [row[:3] for row in by_dimension] == [
        ["zq-south", "overall", "10.00"],
        ["zq-south", "mqm", "-5.00"],
    ]
    assert ["zq-south", "10.00"] in [row[:2] for row in rows[2:]], (
        "the table with a column for each dimension"
    )
    assert rows[1][3:] == ["[-5.00,", "-5.00]", "3", "0", "6", "1.00"]
    names = ["totals", "means-by-system", "raters", "repeats"]  # these texts have no levels
    for name in names:
        run("study", "results", "pilot", "--resamples", "50", "--table", name, "--out", f"{name}.csv")
    written = {name: list(csv.DictReader((tmp_path / f"{name}.csv").open())) for name in names}
    assert {name: len(rows) for name, rows in written.items()} == {
        "totals": len(SYSTEMS) * 2,
        "means-by-system": len(SYSTEMS),
        "raters": 2,
        "repeats": 4,
    }
    run("study", "results", "pilot", "--resamples", "50", "--table", TEXTS_TABLE, "--out", "texts.csv")
    assert len(list(csv.DictReader((tmp_path / "texts.csv").open()))) == 8
    found = json.loads(run("study", "results", "pilot", "--json", "--resamples", "50"))
    assert (found["n_answers"], found["left_out"], found["task"]) == (16, {}, "mqm-and-direct")
    rated = exported(run, tmp_path, "rated")
    texts = read_rated(rated, "r.jsonl").texts
    assert [len(text.ratings) for text in texts] == [4] * 8
    assert texts[1].ratings[1].spans == (ErrorSpan(9, 12, "major", "accuracy/addition", 5.0),)
    spans = list(csv.DictReader(io.StringIO(exported(run, tmp_path, "spans").decode())))
    assert {row["quote"] for row in spans} == {"يوم"}
    assert len(exported(run, tmp_path, "csv").splitlines()) == 17
    (tmp_path / "b.zip").write_bytes(exported(run, tmp_path, "bundle"))
    assert "Study 'again': 3 items; unblinded." in run("study", "import", "b.zip", "--name", "again")
    assert run("study", "results", "b.zip", "--resamples", "50") == run(
        "study", "results", "pilot", "--resamples", "50"
    )


def exported(run: Run, tmp_path: Path, what: str) -> bytes:
    run("study", "export", "pilot", "--format", what, "--out", str(tmp_path / f"out.{what}"))
    return (tmp_path / f"out.{what}").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("import-ratings", "texts.csv", "--task", "nothing"), "nothing"),
        (("import-ratings", "texts.csv", "--task", "mqm", "--repeats", "0.7"), "is not between 0 and 0.5"),
        (
            ("import-ratings", "texts.csv", "--task", "mqm", "--raters-per-item", "0"),
            "--raters-per-item: 0 is not between 1 and",
        ),
        (
            ("import-ratings", "texts.csv", "--task", "mqm", "--max-items", "2"),
            "too; a limit works only with it",
        ),
        (("import-ratings", "gone.csv", "--task", "mqm"), "gone.csv"),
        (("audit", "there"), "no leakage audit"),
        (("results", "there", "--levels", "A0"), "--levels: a study of ratings has no filters"),
        (
            ("export", "there", "--format", "paper", "--out", "x"),
            "Possible formats: csv, jsonl, spans, rated, mqm, ",
        ),
        (("export", "pairs", "--format", "rated", "--out", "x"), "Possible formats: csv, jsonl, guesses"),
    ],
)
def test_mistakes(
    run: Run, file: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    if arguments[1] in ("there", "pairs"):
        if arguments[1] == "there":
            run("study", "import-ratings", str(file), "--task", "direct", "--name", "there")
        else:
            Path("pairs.json").write_bytes(paper_json(dataset(1)))
            run("study", "import", "pairs.json", "--name", "pairs")
        for verb, *more in (("open",), ("close",), ("unblind", "--reason", "done")):
            run("study", verb, arguments[1], *more)
    assert main(["study", *arguments]) != 0
    assert said in capsys.readouterr().err
