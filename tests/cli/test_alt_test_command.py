"""`alt-test` from wide and long files, studies and runs to JSON, tables and sentences for mistakes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import run_to_the_end
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts, unblind
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import says, specialist

from core.cli import main
from core.stats.alt_test import TOO_FEW_RATERS, alt_test
from core.store import open_store

Run = Callable[..., str]
N = 60
NAMES = ("a", "b", "c", "x", "y")


def _labels() -> dict[str, list[str]]:
    """Three raters, one of them with gaps, a good judge x and a random judge y."""
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 5, N)

    def noisy(share: float) -> list[str]:
        given = np.where(rng.random(N) < share, rng.integers(1, 5, N), truth)
        return [str(value) for value in given]

    found = dict(zip(NAMES, map(noisy, (0.2, 0.3, 0.3, 0.15, 1.0)), strict=True))
    found["c"] = ["" if place % 7 == 0 else cell for place, cell in enumerate(found["c"])]
    return found


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path, labels = tmp_path / "wide.csv", _labels()
    rows = [f"q{place}," + ",".join(labels[name][place] for name in NAMES) for place in range(N)]
    path.write_text(f"item,{','.join(NAMES)}\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "long.csv"
    rows = [
        f"q{place},{name},{cell}" for name, cells in _labels().items() for place, cell in enumerate(cells)
    ]
    path.write_text("item,rater,score\n" + "\n".join(rows) + "\n")
    return path


def _json(run: Run, *arguments: str) -> Any:
    return json.loads(run("alt-test", *arguments, "--resamples", "100", "--json"))


def test_the_documented_json(run: Run, wide: Path) -> None:
    found = _json(
        run, str(wide), "--human", "a,b,c", "--judge", "x,y", "--epsilon", "0.2", "--alignment", "accuracy"
    )
    assert (found["epsilon"], found["n_items"], found["raters"]) == (0.2, N, ["a", "b", "c"])
    assert list(found["judges"]) == ["x", "y"]
    numbers = np.array([[float(cell or "nan") for cell in cells] for cells in _labels().values()]).T
    for place, name in ((3, "x"), (4, "y")):
        one, wanted = found["judges"][name], alt_test(numbers[:, place], numbers[:, :3], epsilon=0.2)
        assert one["winning_rate"] == wanted.winning_rate
        assert one["passed"] == wanted.passed
        bounds = [one[key] for key in ("advantage", "low", "high")]
        assert bounds == [wanted.advantage.estimate, wanted.advantage.low, wanted.advantage.high]
        assert [(each["rater"], each["n"], each["p"], each["rejected"]) for each in one["per_rater"]] == [
            (rater, each.n, each.p, each.rejected) for rater, each in zip("abc", wanted.raters, strict=True)
        ]
    assert (found["judges"]["x"]["passed"], found["judges"]["y"]["passed"]) == (True, False)
    ceiling = found["ceiling"]
    assert 0 <= ceiling["low"] <= ceiling["advantage"] <= ceiling["high"] <= 1
    assert [one["rater"] for one in ceiling["per_rater"]] == ["a", "b", "c"]
    assert ceiling["winning_rate"] == pytest.approx(
        np.mean([one["winning_rate"] for one in ceiling["per_rater"]])
    )


def test_a_long_table_a_file_apart_and_a_data_frame_give_the_same(
    run: Run, wide: Path, long: Path, tmp_path: Path
) -> None:
    named = ("--human", "a,b,c", "--judge", "x,y")
    first, second = _json(run, str(wide), *named), _json(run, str(long), *named)
    assert first["judges"] == second["judges"]
    assert first["ceiling"] == second["ceiling"]
    people, scores = tmp_path / "people.csv", tmp_path / "scores.csv"
    lines = wide.read_text().splitlines()
    people.write_text(
        "\n".join(line for line in long.read_text().splitlines() if line.split(",")[1] not in ("x", "y"))
    )
    scores.write_text("\n".join(",".join(line.split(",")[at] for at in (0, 4, 5)) for line in lines))
    apart = _json(run, str(people), str(scores))
    assert first["judges"] == apart["judges"]


def test_words_are_labels(run: Run, wide: Path) -> None:
    words = {"1": "Red", "2": "green", "3": "blue", "4": "dark red"}
    lines = [
        ",".join(words.get(cell, cell) for cell in line.split(",")) for line in wide.read_text().splitlines()
    ]
    words_of_check = {"check", "check_sentence"}  # numbers are ordered there, words without an order are not
    words_asked = (str(wide), "--human", "a,b,c", "--judge", "x", "--alignment", "accuracy")
    numbers = _json(run, *words_asked)["judges"]["x"]
    wide.write_text("\n".join(lines))
    found = _json(run, *words_asked)["judges"]["x"]
    assert {key: found[key] for key in found.keys() - words_of_check} == {
        key: numbers[key] for key in numbers.keys() - words_of_check
    }
    assert main(["alt-test", str(wide), "--human", "a,b", "--judge", "x", "--alignment", "rmse"]) == 2


@pytest.mark.parametrize(("n", "every", "why"), [(60, 2, "30 texts without a score"), (20, 1, "30 items")])
def test_the_reason_why_the_check_differs_is_that_of_these_texts(
    run: Run, wide: Path, n: int, every: int, why: str
) -> None:
    """`every`: one of so many texts has a score."""
    truth = [str(1 + at % 4) for at in range(n)]
    rows = [
        f"q{at},{one},{one},{one if at % 5 else '1'},{'' if at % every else one}"
        for at, one in enumerate(truth)
    ]
    wide.write_text("\n".join(["item,a,b,c,x", *rows]))
    words = (str(wide), "--human", "a,b,c", "--judge", "x")
    found = _json(run, *words)["judges"]["x"]
    assert found["passed"] is True
    assert found["check"] != "TRUSTED"
    (said,) = (line for line in run("alt-test", *words).splitlines() if line.startswith("Check of x"))
    assert why in said.rpartition("differ:")[2]


def test_one_item_may_pass_but_shows_nothing(run: Run, wide: Path) -> None:
    wide.write_text("item,a,b,x\nq1,1,1,1\n")
    assert _json(run, str(wide), "--human", "a,b", "--judge", "x")["judges"]["x"]["passed"] is True
    said = run("alt-test", str(wide), "--human", "a,b", "--judge", "x").splitlines()[0]
    assert said.startswith("x passes, but too few items show it")


def test_terminal_and_files_show_the_verdict_first(run: Run, wide: Path, tmp_path: Path) -> None:
    out = run("alt-test", str(wide), "--human", "a,b,c", "--judge", "x,y", "--resamples", "100").splitlines()
    assert out[0].startswith("x passes the Alt-test")
    assert out[1].startswith("y does not pass the Alt-test")
    path = tmp_path / "out.csv"
    named = ("--human", "a,b,c", "--judge", "x", "--resamples", "100", "--out", str(path))
    for name, rows in (
        ("alt-test", 1),
        ("alt-test-raters", 3),
        ("alt-test-ceiling", 6),
        ("alt-test-epsilons", 41),
    ):
        run("alt-test", str(wide), *named, "--table", name)
        assert len(path.read_text().splitlines()) == rows + 1


def test_a_judge_without_scores_gets_no_verdict(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    path.write_text("item,a,b,c,x\nq1,1,1,1,\nq2,2,2,1,\n")
    found = _json(run, str(path), "--human", "a,b,c", "--judge", "x")
    one = found["judges"]["x"]
    assert (one["passed"], one["winning_rate"], one["advantage"], one["n_left_out"]) == (None, None, None, 2)
    assert one["reason"]
    assert found["ceiling"]["advantage"] is not None


def test_two_raters_have_no_ceiling(run: Run, wide: Path) -> None:
    found = _json(run, str(wide), "--human", "a,b", "--judge", "x")
    assert found["judges"]["x"]["winning_rate"] is not None
    assert (found["ceiling"]["winning_rate"], found["ceiling"]["reason"]) == (None, TOO_FEW_RATERS)
    assert found["ceiling"]["per_rater"] == []
    assert found["judges"]["x"]["gap"]["reason"] == TOO_FEW_RATERS


def test_twelve_items_and_a_constant_judge(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    rows = [f"q{place},{place % 2},{(place + place // 5) % 2},1" for place in range(12)]
    path.write_text("item,a,b,x\n" + "\n".join(rows))
    found = _json(run, str(path), "--human", "a,b", "--judge", "x")
    assert found["judges"]["x"]["passed"] is False
    assert {one["test"] for one in found["judges"]["x"]["per_rater"]} == {"signed-rank"}
    assert any("every score is 1" in note for note in found["notes"])


def test_wins_on_few_texts_with_one_outcome_are_no_proof(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("item,a,b,x\nq1,1,1,1\nq2,2,2,2\n")
    words = ("alt-test", str(path), "--human", "a,b", "--judge", "x")
    assert json.loads(run(*words, "--json"))["judges"]["x"]["passed"]
    assert "passed, too few items" in run(*words)
    path.write_text("item,a,b,x\n" + "".join(f"q{at},1,1,1\n" for at in range(30)))
    assert "too few items" not in run(*words)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--human", "a", "--judge", "x"), "- --human: at least two raters"),
        (("--human", "a,b", "--judge", "nobody"), "nobody"),
        (("--human", "a,b,zz", "--judge", "x"), "zz"),
        (("--human", "a,b"), "- --judge: no judge"),
        (("--judge", "x"), "- --human: name the columns"),
        (("--human", "a,b", "--judge", "x", "--epsilon", "1.5"), "--epsilon"),
        (("--human", "a,b", "--judge", "x", "--items", "ten"), "--items"),
        (("--human", "a,b", "--judge", "x", "--advantage", "1"), "--advantage"),
        (("--human", "a,b", "--judge", "x", "--resamples", "0"), "--resamples"),
    ],
)
def test_mistakes_are_named(
    wide: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert main(["alt-test", str(wide), *arguments]) == 2
    found = capsys.readouterr().err
    assert said in found
    assert "Traceback" not in found


def test_a_study_and_its_judge(run: Run, tmp_path: Path) -> None:
    texts, raters = rating_texts(8), ("R1", "R2", "R3")
    scores = tmp_path / "judge.csv"
    rows = [f"{one.item_id},{one.system},{place % 3 * 10}" for place, one in enumerate(texts.outputs)]
    scores.write_text("item,system,gpt\n" + "\n".join(rows) + "\n")
    named = ("study:ratings", str(scores), "--dimension", "overall", "--alignment", "rmse")
    with open_store(tmp_path / "assay.db") as store:
        study = rating_study(store, texts, raters=raters)
        for rater in raters:
            rate_all(study.desk(rater))
        assert main(["alt-test", *named]) == 2  # not unblinded yet
        unblind(study)
    found = _json(run, *named)
    assert (found["raters"], found["n_items"], found["n_texts"]) == (list(raters), 8, 24)
    assert found["judges"]["gpt"]["advantage"] == 1  # raters give each system 0, 10 or 20, as the judge does
    assert any("several texts" in note for note in found["notes"])


def test_a_run_on_rated_texts_has_raters_and_judge(run: Run, tmp_path: Path) -> None:
    texts = rated_texts(3)
    path = tmp_path / "rated.jsonl"
    path.write_bytes(texts)
    with ScriptedServer(says) as server, open_store(tmp_path / "assay.db") as store:
        number = run_to_the_end(
            store, specialist("quality", server.url), texts, name="rated.jsonl"
        ).run.run_id
    alone, apart = (
        _json(run, *given, "--dimension", "LA", "--alignment", "rmse")
        for given in ((f"run:{number}",), (str(path), f"run:{number}"))
    )
    assert alone["judges"] == apart["judges"]
    assert len(alone["raters"]) > 1
