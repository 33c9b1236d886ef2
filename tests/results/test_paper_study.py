"""Factual's study from its own files, by the commands of docs/studies.md: the published numbers come out."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.formats.scores import read_scores
from core.results.correlations.votes import NO_WINNER, metrics_against_votes
from core.store import open_store
from core.store.studies import find_study, items_of
from core.study.analysis_set import released_record
from core.study.raters import import_votes

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def database(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies of the same file, declared at 0.90 (as in the paper) and at 0.95."""
    path = tmp_path_factory.mktemp("paper") / "paper.db"
    data = str(shared_data / "assessment-dataset.json")
    for name, level in (("paper", "0.90"), ("stricter", "0.95")):
        arguments = [
            "study",
            "import",
            data,
            "--name",
            name,
            "--margin",
            "0.1",
            "--confidence",
            level,
            "--again",
        ]
        assert main([*arguments, "--db", str(path)]) == 0
        for rater in ("1", "2"):
            votes = str(shared_data / f"results-evaluator-{rater}.json")
            assert (
                main(["study", "votes", name, votes, "--rater", f"evaluator {rater}", "--db", str(path)]) == 0
            )
    return path


def results(database: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["study", "results", *arguments, "--json", "--db", str(database)]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_levels_a1_to_a4(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = results(database, capsys, "paper", "--levels", "A1-A4")
    assert (found["candidate"], found["comparator"]) == ("ai", "human")
    assert (found["n_pairs"], found["n_questions"], found["answers"]["n_used"]) == (80, 20, 160)
    assert found["cohen_kappa"]["estimate"] == pytest.approx(0.1134, abs=5e-5)
    assert found["composite"] == {"mean": 0.125, "counts": {"-1": 17, "0": 36, "1": 27}, "n": 80}
    assert found["ties"]["paper_rule"] == 0.825
    assert found["ties"]["both_tied"] == 0.425
    assert found["ties"]["composite_zero"] == 0.45
    assert found["ties"]["opposed"] == 0.025
    assert found["power"]["value"] == pytest.approx(0.771, abs=5e-4)
    assert sum(map(sum, found["contingency"]["table"])) == 80
    diagonal = sum(found["contingency"]["table"][k][k] for k in range(4))
    assert found["raw_agreement"]["estimate"] == diagonal / 80


def test_the_table_is_that_of_the_files(
    database: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counted from the two files without any of Assay's code."""
    one, two = (json.loads((shared_data / f"results-evaluator-{r}.json").read_text()) for r in (1, 2))
    words = ("AI", "Both are good", "Both are bad", "Expert")
    pairs = [(one[q][level], two[q][level]) for q in one for level in ("A1", "A2", "A3", "A4")]
    table = [[pairs.count((row, column)) for column in words] for row in words]
    found = results(database, capsys, "paper", "--levels", "A1-A4")["contingency"]
    assert found["table"] == table
    assert found["order"] == ["candidate", "both_good", "both_bad", "comparator"]


@pytest.mark.parametrize(
    ("name", "level", "over_pairs", "over_questions"),
    [("paper", 0.90, 0.025, 0.0), ("stricter", 0.95, -0.0125, -0.0375)],
)
def test_bounds(
    database: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    level: float,
    over_pairs: float,
    over_questions: float,
) -> None:
    """Over pairs exactly; over questions within one pair's weight, because questions are drawn."""
    bound = results(database, capsys, name, "--levels", "A1-A4")["non_inferiority"]
    assert (bound["mean"], bound["margin"], bound["confidence_level"]) == (0.125, 0.1, level)
    assert bound["bound_pairs"] == pytest.approx(over_pairs)
    assert bound["bound_questions"] == pytest.approx(over_questions, abs=1 / 80 + 1e-9)
    assert bound["non_inferior_pairs"]
    assert bound["non_inferior_questions"]


def test_all_levels(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = results(database, capsys, "paper", "--levels", "all")
    assert found["verdict"]["exploratory"], "A0 is not in the main analysis"
    assert (found["n_pairs"], found["ties"]["paper_rule"]) == (100, 0.85)
    assert found["cohen_kappa"]["estimate"] == pytest.approx(0.1469, abs=5e-5)
    assert found["raw_agreement"]["estimate"] == 0.58
    assert found["gwet_ac1"]["estimate"] == pytest.approx(0.499, abs=5e-4)
    first = found["per_level"]["A0"]
    assert (first["raw_agreement"]["estimate"], first["cohen_kappa"]["estimate"]) == (0.85, 0)
    assert first["ties"]["paper_rule"] == 0.95


def test_the_main_analysis_is_that_of_the_paper(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, named = (results(database, capsys, "paper", *levels) for levels in ((), ("--levels", "A1-A4")))
    assert found == named, "naming the declared levels is no filter"
    assert found["analysis_set"] == {
        "levels": ["A1", "A2", "A3", "A4"],
        "votes_needed": 2,
        "score": "composite",
        "flagged": "keep",
        "declared": True,
    }
    verdict = found["verdict"]
    assert (verdict["value"], verdict["method"], verdict["exploratory"]) == (
        "non-inferior",
        "questions",
        False,
    )
    assert verdict["bound"] == found["non_inferiority"]["bound_questions"]
    assert found["pairs_by_votes"] == {"2": 80}
    assert {line["value"] for line in found["sensitivity"]} == {"non-inferior"}
    part = results(database, capsys, "paper", "--levels", "A3")["verdict"]
    assert part["exploratory"]


def test_a_third_rater_with_three_votes_changes_no_pair(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once the study shrank to the three pairs that all had answered: agreement 1, "non-inferior"."""
    database = Path(shutil.copytree(database.parent, tmp_path / "copy")) / database.name
    before = results(database, capsys, "paper")
    with open_store(database) as store:
        study = find_study(store, "paper")
        items = [item.item_id for item in items_of(store, study.study_id)]
        import_votes(store, study, "late", {(item, "A1"): "comparator" for item in items[:3]})
    found = results(database, capsys, "paper")
    assert (found["n_pairs"], found["pairs_by_votes"]) == (80, {"2": 77, "3": 3})
    assert found["verdict"]["value"] == before["verdict"]["value"]
    assert (found["after_unblinding"]["votes"], before["after_unblinding"]["votes"]) == (3, 0)
    assert found["after_unblinding"]["verdict"]["bound"] == before["verdict"]["bound"]


def test_imported_votes_say_nothing_about_sides(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = results(database, capsys, "paper")
    position = found["position_bias"]
    assert position["overall"]["n"] == 0
    named = sum(c["candidate"] + c["comparator"] for c in found["choices"].values())
    assert position["n_left_out"] == {"side unknown (imported)": named}


def test_a_bundle_says_the_same(database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tmp_path / "paper.zip"
    arguments = [
        "study",
        "export",
        "paper",
        "--format",
        "bundle",
        "--out",
        str(bundle),
        "--db",
        str(database),
    ]
    assert main(arguments) == 0
    from_database = results(database, capsys, "paper", "--levels", "A1-A4")
    assert results(database, capsys, str(bundle), "--levels", "A1-A4") == from_database


def test_the_papers_files_come_back_out(
    database: Path, shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "study",
        "export",
        "paper",
        "--format",
        "paper",
        "--out",
        str(tmp_path),
        "--db",
        str(database),
    ]
    assert main(arguments) == 0
    for rater in ("1", "2"):
        out = json.loads((tmp_path / f"results-evaluator_{rater}.json").read_bytes())
        assert out == json.loads((shared_data / f"results-evaluator-{rater}.json").read_bytes())
    assert len(os.listdir(tmp_path)) == 2


def test_metrics_beside_the_raters_own_agreement(database: Path, tmp_path: Path) -> None:
    """Read as "fits the level", metrics order winners about as by chance, and vote, ties included, at most about as raters do."""
    scores = tmp_path / "scores.csv"
    some = ["--metrics", "bleu-4,chrf-6-2,rouge-l,meteor-a0.9-g0", "--synonyms", "none"]
    assert main(["score", "study:paper", "--out", str(scores), *some, "--db", str(database)]) == 0
    with open_store(database) as store:
        record = released_record(store, find_study(store, "paper"))
    table = read_scores(scores.read_bytes(), scores.name)
    found = {one.metric: one for one in metrics_against_votes(record, table, n_resamples=200)}
    assert {
        name: (
            *(round(one.estimate or 0, 3) for one in (each.agreement, each.with_ties.evaluator)),
            each.agreement.n,
            each.with_ties.evaluator.n,
        )
        for name, each in found.items()
    } == {
        "bleu-4": (0.432, 0.481, 44, 80),
        "chrf-6-2": (0.545, 0.494, 44, 80),
        "rouge-l": (0.523, 0.506, 44, 80),
        "meteor-a0.9-g0": (0.455, 0.537, 44, 80),
    }
    assert {each.with_ties.raters.estimate for each in found.values()} == {0.5375}
    assert all(each.left_out == {NO_WINNER: 36} for each in found.values())
