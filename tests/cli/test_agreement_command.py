"""`agreement`, and `check` without a judge: who counts as a person, whatever else is in the file, and what the exit status says."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.factories import always, dataset, study_in, vote
from helpers.texts.factories import unblind as unblind_pairs
from helpers.texts.judge_runs import run_to_the_end
from helpers.texts.rating_studies import rate_all, rating_study, rating_texts, unblind
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import says, specialist

from core.cli import main
from core.store import open_store

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(1, 6, 60)
FIRST, SECOND = (np.where(RNG.random(60) < 0.3, RNG.integers(1, 6, 60), TRUTH) for _ in range(2))
DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "labels.csv"


def write(name: str, **columns: Any) -> str:
    """A table with a row for each text."""
    rows = [",".join(map(str, cells)) for cells in zip(*columns.values(), strict=True)]
    Path(name).write_text("\n".join([",".join(columns), *rows]) + "\n")
    return name


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def run(*words: str, status: int = 0) -> Any:
        capsys.readouterr()
        assert main([*words, "--json", "--db", "assay.db"]) == status, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*words: str) -> str:
        assert main([*words, "--db", "assay.db"]) == 2
        return capsys.readouterr().err

    return run


def test_judges_and_metrics_in_the_file_are_nobodys(told: Callable[..., Any]) -> None:
    people = {"id": range(60), "human_1": FIRST, "human_2": SECOND}
    alone = told("agreement", write("alone.csv", **people))
    beside = write("beside.csv", **people, **{"gpt-4o": TRUTH, "llm_score": TRUTH, "BLEU": TRUTH / 7, "quality": TRUTH})  # fmt: skip
    found = told("agreement", beside)
    assert [*found["raters"]] == ["human_1", "human_2"]
    assert found["measures"] == alone["measures"]
    named = told("agreement", beside, "--human", "human_1,gpt-4o,quality")
    assert [*named["raters"]] == ["human_1", "gpt-4o", "quality"]


def test_judges_in_a_column_of_raters_are_nobodys(told: Callable[..., Any]) -> None:
    columns = {
        "item": [at for at in range(60) for _ in range(3)],
        "rater": ["anna", "gpt-4o", "bob"] * 60,
        "score": [one for each in zip(FIRST, TRUTH, SECOND, strict=True) for one in each],
    }
    found = told("agreement", write("long.csv", **columns))
    assert [*found["raters"]] == ["anna", "bob"]
    named = told("agreement", "long.csv", "--human", "anna,gpt-4o")
    assert [*named["raters"]] == ["anna", "gpt-4o"]


def test_dimensions_are_chosen_in_wide_and_long_tables(
    told: Callable[..., Any], refused: Callable[..., str]
) -> None:
    wide = write("wide.csv", id=range(60), expert1_fluency=FIRST, expert2_fluency=SECOND, expert1_style=TRUTH, expert2_style=TRUTH)  # fmt: skip
    assert "--dimension" in refused("agreement", wide)
    found = told("agreement", wide, "--dimension", "fluency")
    assert [*found["raters"]] == ["expert1_fluency", "expert2_fluency"]
    rows = [
        (at, who, what, score)
        for what, sides in (("fluency", (FIRST, SECOND)), ("style", (TRUTH, TRUTH)))
        for who, scores in zip(("anna", "bob"), sides, strict=True)
        for at, score in enumerate(scores)
    ]
    names = ("item", "rater", "dimension", "score")
    long = write("long.csv", **{name: [row[at] for row in rows] for at, name in enumerate(names)})
    assert "dimension" in refused("agreement", long)
    assert told("agreement", long, "--dimension", "fluency")["measures"] == found["measures"]


def test_two_people_by_their_names_are_no_dimensions(told: Callable[..., Any]) -> None:
    found = told("agreement", write("names.csv", id=range(60), rater_anna=FIRST, rater_bob=SECOND))
    assert [*found["raters"]] == ["rater_anna", "rater_bob"]


@pytest.mark.parametrize(
    ("columns", "option"),
    [
        ({"human": FIRST, "llm": SECOND}, "--human"),  # one rater
        ({"anna": FIRST, "bob": SECOND}, "--human"),  # nobody is surely a person
        ({"r1": [*FIRST[:30], *[""] * 30], "r2": [*[""] * 30, *FIRST[:30]]}, "--human"),  # no text has two
    ],
)
def test_nothing_to_compare_is_refused(refused: Callable[..., str], columns: Any, option: str) -> None:
    assert option in refused("agreement", write("one.csv", id=range(60), **columns))


def test_a_check_without_a_judge_gives_the_agreement_and_is_no_success(
    told: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    people = {"id": range(60), "human_1": FIRST, "human_2": SECOND}
    file = write("people.csv", **people)
    found = told("check", file, status=4)
    assert (found["verdict"], found["judges"]) == (None, [])
    assert found["agreement"] == told("agreement", file)
    assert "--judge" in found["sentence"]
    main(["check", file, "--table", "agreement-raters", "--out", "raters.csv"])
    assert Path("raters.csv").read_text().count("human_") == 2
    capsys.readouterr()
    assert main(["check", file]) == 4
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [found["sentence"], found["agreement"]["sentence"]]
    may_be = write("may_be.csv", **people, first=TRUTH, second=TRUTH)
    assert "first, second" in told("check", may_be, status=4)["sentence"]


def test_a_judge_that_is_there_is_checked(told: Callable[..., Any]) -> None:
    shutil.copy(DEMO, "labels.csv")
    assert told("check", "labels.csv", "--item", "row")["verdict"] == "TRUSTED"


@pytest.mark.parametrize(
    "wants",
    [("--judge", "gpt"), ("--card", "card.html"), ("--next", "5"), ("--gaps",), ("--price", "gpt=2")],
)
def test_what_needs_a_judge_is_refused_without_one(
    refused: Callable[..., str], wants: tuple[str, ...]
) -> None:
    file = write("people.csv", id=range(60), human_1=FIRST, human_2=SECOND)
    said = refused("check", file, *wants)
    assert "--judge" in said or "gpt" in said
    assert "judge" in refused("check", write("one.csv", id=range(60), human=FIRST))


def test_a_rating_study_and_one_of_pairs(
    told: Callable[..., Any], refused: Callable[..., str], tmp_path: Path
) -> None:
    raters = ("R1", "R2", "R3")
    with open_store(tmp_path / "assay.db") as store:
        study = rating_study(store, rating_texts(12), raters=raters)
        for rater in raters:
            rate_all(study.desk(rater))
        refused("agreement", "study:ratings", "--dimension", "overall")  # not unblinded yet
        unblind(study)
        pairs = study_in(store, dataset(6, ("A0", "A1")), raters=("R1", "R2"), name="pairs")
        for rater in ("R1", "R2"):
            vote(store, pairs.tokens[rater], always("left"))
        unblind_pairs(pairs)
    found = told("agreement", "study:ratings", "--dimension", "overall")
    assert ([*found["raters"]], found["verdict"], found["n_items"]) == ([*raters], "agree", 12)
    assert "dimension" in refused("agreement", "study:ratings")
    of_study = told("study", "results", "ratings", "--resamples", "20")["agreement"]
    assert of_study["overall"] == found
    assert of_study["H"]["verdict"] == "undefined", "everybody gave all texts the same"
    main(["study", "results", "ratings", "--table", "agreement", "--out", "a.csv", "--db", "assay.db", "--resamples", "20"])  # fmt: skip
    lines = Path("a.csv").read_text().splitlines()
    assert lines[0].startswith("dimension,measure,")
    assert {line.split(",")[0] for line in lines[1:]} == {"overall", "H", "mqm"}
    assert "study results" in refused("agreement", "study:pairs")


def test_the_people_behind_a_run(tmp_path: Path) -> None:
    """The judge's scores of the run are nobody's."""
    texts = rated_texts(12)
    Path("rated.jsonl").write_bytes(texts)
    with ScriptedServer(says) as server, open_store(tmp_path / "assay.db") as store:
        run_to_the_end(store, specialist("quality", server.url), texts, name="rated.jsonl")
    main(["agreement", "rated.jsonl", "--dimension", "LA", "--out", "file.json"])
    main(["agreement", "run:1", "--dimension", "LA", "--out", "run.json", "--db", "assay.db"])
    of_file, of_run = (json.loads(Path(name).read_text()) for name in ("file.json", "run.json"))
    assert of_run["raters"] == of_file["raters"]
    assert len(of_run["raters"]) > 1


def test_texts_that_only_the_icc_leaves_out_have_a_reason(told: Callable[..., Any]) -> None:
    """Of 20 texts, c rated 15 and b 19: alpha leaves out the one with one rating, the ICC the 4 with two ratings too."""
    rows = [
        f"i{n},{n * 7 % 100}.5,{'' if n == 0 else n * 7 % 100 + n % 3},{'' if n < 5 else n * 6 % 100 + 0.25}"
        for n in range(20)
    ]
    Path("r.csv").write_text("\n".join(["item_id,a,b,c", *rows]), "utf-8")
    found = told("agreement", "r.csv", "--human", "a,b,c")
    assert {code: one["n_left_out"] for code, one in found["measures"].items()} == {"alpha": 1, "icc": 5}
    assert [one for one in found["notes"] if "ICC(2,1)" in one and " 4 " in one] != []
