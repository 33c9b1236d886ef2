"""`published`: what the papers print, and Table 1 recomputed."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.formats.correlations import read_table
from core.report import DASH

Run = Callable[..., str]
ROOT = Path(__file__).resolve().parents[2]


def lines_with(printed: str, *words: str) -> list[list[str]]:
    split = [line.split() for line in printed.splitlines()]
    return [line for line in split if set(words) <= set(line)]


def test_recomputed_cells_as_json(run: Run) -> None:
    found = json.loads(run("published", "--table", "1", "--recompute", "--json"))
    cells = found["cells"]
    assert len(cells) == 78
    assert set(cells[0]) == {"dataset", "generator", "shots", "published", "recomputed", "n", "dropped"}
    assert all(abs(cell["published"] - cell["recomputed"]) < 0.025 for cell in cells)
    assert found["largest_difference"] < 0.025
    ukrainian = [cell for cell in cells if cell["dataset"] == "cus-qa-uk"]
    assert [cell["n"] for cell in ukrainian] == [27] * 6
    assert all(list(cell["dropped"]) == ["rouge-4"] for cell in ukrainian)
    assert {cell["n"] for cell in cells if cell["dataset"] != "cus-qa-uk"} == {28}


def test_recomputed_cells_to_read(run: Run) -> None:
    printed = run("published", "--table", "1", "--recompute")
    [row] = lines_with(printed, "cus-qa-uk", "qwen-3-30b", "zero")
    assert row == ["cus-qa-uk", "qwen-3-30b", "zero", "0.821", "0.823", "0.002", "27"]
    [row] = lines_with(printed, "wmt24-en-is", "llama-3.3-70b", "zero")
    assert row[3:] == ["0.513", "0.535", "0.022", "28"]
    assert "-0.000" not in printed
    assert printed.count("Dropped: rouge-4: ") == 1
    assert "78 cells; the largest difference is 0.022" in printed


def test_the_list_names_tables_and_sides(run: Run) -> None:
    printed = run("published")
    assert len(lines_with(printed, "meta-judge")) == 7
    assert len(lines_with(printed, "factual-perturbation")) == 2
    assert len(lines_with(printed, "cross-examination")) == 11
    assert "published:DATASET:GENERATOR:SHOTS" in printed
    found = json.loads(run("published", "--json"))
    assert [(t["paper"], t["table"]) for t in found["tables"]] == [
        *(("meta-judge", n) for n in range(1, 8)),
        *(("factual-perturbation", n) for n in (1, 2)),
        *(("cross-examination", n) for n in range(1, 12)),
    ]
    assert len(found["sides"]) == 91
    assert "published:cus-qa-cs:qwen-3-30b:zero" in found["sides"]


def test_a_table_to_read_shows_figures_as_printed_and_errors_below(run: Run) -> None:
    printed = run("published", "--table", "2")
    [row] = lines_with(printed, "llama-4-scout", "few")
    assert row == ["llama-4-scout", "few", "0.905", "0.010", "0.756", "0.020"]
    printed = run("published", "--table", "7")
    [row] = lines_with(printed, "wmt24-en-cs", "bertscore-cs-l5")
    assert row[-1] == "0.238"
    notes = [line for line in printed.splitlines() if line.startswith("Note: An error of the paper for ")]
    first, _, third = read_table("meta-judge-7").errors
    about = [note for note in notes if "wmt24-en-cs bertscore-cs-l5" in note or " more: " in note]
    assert [note.partition(": ")[2].partition(": ")[2] for note in about] == [first, third]
    [row] = lines_with(run("published", "--table", "5"), "cus-qa-uk", "rouge-4")
    assert row.count(DASH) == 7


def test_a_table_as_json_keeps_undefined_apart_from_zero(run: Run) -> None:
    found = json.loads(run("published", "--table", "5", "--json"))
    [row] = [r for r in found["rows"] if (r["dataset"], r["metric"]) == ("cus-qa-uk", "rouge-4")]
    assert row["human"] is None
    assert "Cyrillic" in row["why_undefined"]
    assert len(found["rows"]) == 112
    assert len(found["errors"]) == 2


def test_the_other_paper(run: Run) -> None:
    printed = run("published", "--paper", "factual-perturbation", "--table", "2")
    [row] = lines_with(printed, "ragas")
    assert row == ["ragas", "gpt-4o-mini", "-0.87", "-0.90", "-0.85", "-0.95", "-0.97", "-0.93"]
    [row] = lines_with(run("published", "--paper", "factual-perturbation", "--table", "1"), "32")
    assert row == ["both_good", "7", "32", "0", "5"]


def test_prices_keep_all_their_places(run: Run) -> None:
    printed = run("published", "--paper", "cross-examination", "--table", "8")
    [row] = lines_with(printed, "CEF")
    assert row == ["CEF", "6,087,633", "1,399,454", "4.3208", "6957.29", "1599.38", "0.004938"]
    printed = run("published", "--paper", "cross-examination", "--table", "4")
    assert ["overall", "298", "449", "65.7"] in lines_with(printed, "overall")
    assert (
        f"Note: An error of the paper for overall: {read_table('cross-examination-4').errors[0]}" in printed
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--table", "9"), "meta-judge has no Table 9.\n  - meta-judge has 1, 2, 3, 4, 5, 6, 7\n"),
        (("--table", "3", "--paper", "factual-perturbation"), "factual-perturbation has 1, 2"),
        (("--table", "3", "--recompute"), "Kendall at both orders"),
        (("--table", "1", "--recompute", "--paper", "factual-perturbation"), "it counts votes"),
        (("--recompute",), "--recompute needs --table 1."),
    ],
)
def test_mistakes_get_a_sentence(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["published", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


@pytest.mark.slow
def test_it_runs_from_any_folder(tmp_path: Path) -> None:
    """The figures come with the program, not from where the user stands."""
    done = subprocess.run(
        [sys.executable, "-m", "core", "published", "--table", "1", "--recompute", "--json"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert len(json.loads(done.stdout)["cells"]) == 78
