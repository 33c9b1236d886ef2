"""Studies that declare no margin: import, bundle, exports and results; a margin declared later, until the first vote."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.texts.factories import dataset

from core.cli import main
from core.errors import InputError, NotAllowed
from core.schema.study import Design
from core.stats.non_inferiority import NO_MARGIN
from core.store import database_path, open_store
from core.store.studies import find_study, read_log
from core.study.design import check_design
from core.study.lifecycle import change_design, person_role, usual_design

Run = Callable[..., str]


@pytest.fixture
def fail(run: Run, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that must be refused; returns what stderr said."""

    def command(*arguments: str) -> str:
        assert main(arguments) == 2
        return capsys.readouterr().err

    return command


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Plain pairs of two models, whose second is the better one in 9 of 16 votes."""
    winners = ["model_b"] * 9 + ["tie"] * 4 + ["model_a"] * 3
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["prompt", "model_a", "model_b", "response_a", "response_b", "winner"])
        for n, winner in enumerate(winners):
            rows.writerow([f"Question {n}?", "zeta", "alpha", f"Zeta {n}.", f"Alpha {n}.", winner])
    return path


def design_of(run: Run) -> dict[str, object]:
    design: dict[str, object] = json.loads(run("study", "list", "--json"))[0]["design"]
    return design


def test_both_systems_stand_in_the_order_of_the_file(run: Run, pairs: Path) -> None:
    printed = run("study", "import", str(pairs), "--name", "p")
    assert "systems zeta and alpha, no margin, seed" in printed
    design = design_of(run)
    assert (design["candidate"], design["comparator"], design["margin"]) == ("zeta", "alpha", None)
    assert (design["blinding_pairs"], design["early_looks"]) == (0, False)


def test_a_candidate_declares_the_usual_margin(run: Run, pairs: Path) -> None:
    run("study", "import", str(pairs), "--candidate", "alpha")
    design = design_of(run)
    assert (design["candidate"], design["comparator"], design["margin"]) == ("alpha", "zeta", 0.1)


@pytest.mark.parametrize("asked", [["--margin", "0.2"], ["--early-looks"]])
def test_a_margin_and_early_looks_need_a_candidate(
    fail: Run, run: Run, pairs: Path, asked: list[str]
) -> None:
    assert "candidate zeta, comparator alpha" in fail("study", "import", str(pairs), *asked)
    run("study", "import", str(pairs), "--comparator", "zeta", *asked)
    assert design_of(run)["margin"] == (0.2 if asked[0] == "--margin" else 0.1)


def test_early_looks_without_a_margin_are_no_design() -> None:
    with pytest.raises(InputError) as raised:
        check_design(Design("a", "b", margin=None, early_looks=True), ("a", "b"), ("A0",))
    assert [problem.split(":")[0] for problem in raised.value.problems] == ["early looks"]


def test_two_of_three_systems_without_a_candidate(run: Run, fail: Run, tmp_path: Path) -> None:
    rows = [f"q{n},Q{n}?,{system},{system} {n}." for n in range(3) for system in ("c", "b", "a")]
    path = tmp_path / "three.csv"
    path.write_text("\n".join(["item_id,question,system,text", *rows]), "utf-8")
    assert "--systems" in fail("study", "import", str(path), "--systems", "a")
    run("study", "import", str(path), "--systems", "a,c")
    design = design_of(run)
    assert (design["candidate"], design["comparator"], design["margin"]) == ("c", "a", None)


def test_the_system_written_by_people_is_named_without_a_candidate(run: Run, fail: Run, pairs: Path) -> None:
    imported = ("study", "import", str(pairs), "--guess-pairs", "4")
    assert "zeta or alpha" in fail(*imported)
    assert "zeta or alpha" in fail(*imported, "--person", "comparator")
    assert "guesses at the end 4 (a person wrote those of zeta)" in run(*imported, "--person", "zeta")
    assert (design_of(run)["person"], design_of(run)["margin"]) == ("candidate", None)


def test_with_levels_a_named_person_is_guessed() -> None:
    other = usual_design(dataset(sources=("one", "two")))
    assert (other.margin, other.blinding_pairs, person_role(other, "two")) == (None, 0, "comparator")
    factual = usual_design(dataset(sources=("human", "ai")))
    assert (factual.candidate, factual.margin, factual.blinding_pairs) == ("ai", 0.1, 10)


def test_results_and_bundle_without_a_margin(run: Run, fail: Run, pairs: Path, tmp_path: Path) -> None:
    run("study", "import", str(pairs), "--name", "p", "--vote", "winner", "--seed", "3")
    found = json.loads(run("study", "results", "p", "--json"))
    assert (found["verdict"]["value"], found["verdict"]["reason"]) == (None, NO_MARGIN)
    assert found["answer"]["value"] == "worse"
    assert found["non_inferiority"]["margin"] is None
    assert found["non_inferiority"]["non_inferior_questions"] is None
    assert found["non_inferiority"]["mean"] == pytest.approx(-6 / 16)
    assert found["verdict"]["questions_missing"] is None
    assert found["power_one_sided"]["n_for_80_if_equal"] is None
    run("study", "results", "p", "--out", str(tmp_path / "power.csv"), "--table", "power")
    rows = list(csv.DictReader((tmp_path / "power.csv").open(encoding="utf-8")))
    assert [float(row["alpha"]) for row in rows] == [0.05], "no margin, so no one-sided test"
    assert "the margin" not in run("study", "results", "p").split("\n\n")[0]
    for name in ("csv", "jsonl"):
        run("study", "export", "p", "--format", name, "--out", str(tmp_path / f"p.{name}"))
    (first, *_) = csv.DictReader(io.StringIO((tmp_path / "p.csv").read_text("utf-8-sig")))
    assert (first["candidate"], first["comparator"]) == ("zeta", "alpha")
    bundle = tmp_path / "p.zip"
    run("study", "export", "p", "--format", "bundle", "--out", str(bundle))
    assert json.loads(run("study", "results", str(bundle), "--json"))["verdict"] == found["verdict"]
    run("study", "import", str(bundle), "--name", "restored")
    assert design_of(run)["margin"] is None
    assert "--systems" in fail("study", "import", str(bundle), "--name", "again", "--systems", "zeta,alpha")


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (["--confidence", "0.99"], ["--confidence", "--margin"]),
        (["--systems", "zeta,foo"], ["--systems", "foo", "zeta and alpha"]),
        (
            ["--candidate", "zeta", "--comparator", "alpha", "--systems", "alpha,c"],
            ["--candidate", "--systems alpha,c"],
        ),
        (["--candidate", "foo"], ["- candidate: ", "'foo'"]),
        (["--comparator", "foo"], ["- comparator: ", "'foo'"]),
        (["--main-levels", "A1"], ["--main-levels", "no levels"]),
        (["--levels-order", "shuffled"], ["--levels-order", "no levels"]),
        (["--candidate", "zeta", "--margin", "0"], ["--margin: 0 ", "above 0 and below 2"]),
    ],
)
def test_contradicting_or_idle_options_are_refused(
    run: Run, fail: Run, pairs: Path, asked: list[str], named: list[str]
) -> None:
    with open_store(database_path(None)):
        pass  # a database that stays empty
    said = fail("study", "import", str(pairs), *asked)
    assert [one for one in named if one not in said] == []
    assert said.count("has no system") <= 1
    assert json.loads(run("study", "list", "--json")) == []


def test_a_margin_is_declared_until_the_first_vote(run: Run, pairs: Path) -> None:
    run("study", "import", str(pairs), "--name", "p", "--person", "zeta")
    with open_store(database_path(None)) as store:
        study = find_study(store, "p")
        declared = replace(
            study.design,
            candidate="alpha",
            comparator="zeta",
            person="comparator",
            margin=0.2,
            early_looks=True,
        )
        study = change_design(store, study, declared)
        assert (study.design.candidate, study.design.margin) == ("alpha", 0.2)
        assert "margin: None -> 0.2" in read_log(store, study.study_id)[-1].detail
        study = change_design(store, study, replace(study.design, margin=None, early_looks=False))
        assert (study.design.candidate, study.design.comparator) == ("zeta", "alpha"), "as in the file"
        assert study.design.person_system == "zeta"
    run("study", "import", str(pairs), "--name", "voted", "--vote", "winner", "--again")
    with open_store(database_path(None)) as store:
        study = find_study(store, "voted")
        with pytest.raises(NotAllowed):
            change_design(store, study, replace(study.design, margin=0.1))
