"""`correlate` from files to JSON, tables and sentences for mistakes."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy import stats

from core.analyses import correlate
from core.cli import main
from core.cli.shared import running
from core.results.correlations.levels import ALL_EQUAL, EQUAL
from core.stats.resampling import NO_RESAMPLES, ONE_CLUSTER

Run = Callable[..., str]
TWO_MODELS = {
    "gpt": {"q1": [5, 4, 3, 2, 1], "q2": [5, 3, 4, 2, 1]},
    "llama": {"q1": [1, 1, 1, 1, 1], "q2": [2, 2, 1, 1, None]},
}
"""tau-b per question with the level: -1 and -0.8; undefined (all equal) and -4 / sqrt(4 * 6)."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The form of 003's published results: id, level, result, and the model that judged."""
    path = tmp_path / "results.jsonl"
    lines = [
        {"id": item, "level": f"A{level}", "model": model, "result": score}
        for model, items in TWO_MODELS.items()
        for item, scores in items.items()
        for level, score in enumerate(scores)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    rows = [
        f"{item},{system},{k + 2 * len(system)},{k * k},7"
        for k, item in enumerate("abcd")
        for system in ("x", "yy")
    ]
    path.write_text("item,system,good,square,flat\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture
def human(tmp_path: Path) -> Path:
    path = tmp_path / "human.csv"
    rows = [
        f"{item},{system},{rater},{k + bias + 2 * len(system)}"
        for k, item in enumerate("abcz")
        for system in ("x", "yy")
        for rater, bias in (("r1", 0), ("r2", 10))
    ]
    path.write_text("item,system,rater,score\n" + "\n".join(rows) + "\n")
    return path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command says that must be refused."""
    capsys.readouterr()
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err


def test_the_form_of_table_2(run: Run, results: Path) -> None:
    written = json.loads(
        run(
            "correlate",
            str(results),
            "--with",
            "level",
            "--raw-level",
            "--group",
            "model",
            "--resamples",
            "100",
            "--json",
        )
    )
    gpt, llama = written
    assert gpt["group"] == {"model": "gpt", "metric": "result"}
    assert (gpt["against"], gpt["n"], gpt["n_left_out"]) == ("level", 10, 0)
    assert gpt["kendall_per_item"]["estimate"] == pytest.approx((-1 - 0.8) / 2)
    assert gpt["kendall_per_item"]["n_items"] == 2
    pooled = stats.pearsonr([*range(5)] * 2, sum(TWO_MODELS["gpt"].values(), []))  # noqa: RUF017
    assert gpt["pearson"]["estimate"] == pytest.approx(pooled.statistic)
    assert gpt["pearson"]["low"] <= gpt["pearson"]["estimate"] <= gpt["pearson"]["high"]
    assert (llama["n"], llama["n_left_out"]) == (9, 1)
    assert sum(llama["left_out"].values()) == 1
    per_item = llama["kendall_per_item"]
    assert per_item["estimate"] == pytest.approx(-4 / (4 * 6) ** 0.5)
    assert (per_item["n_items"], per_item["n_items_left_out"]) == (1, 1)
    assert (per_item["low"], per_item["interval_reason"]) == (
        None,
        ONE_CLUSTER,
    )


def test_minus_the_level_is_the_other_way_round(run: Run, results: Path) -> None:
    minus, _ = json.loads(run("correlate", str(results), "--with", "level", "--group", "model", "--json"))
    assert (minus["against"], minus["kendall_per_item"]["estimate"]) == ("-level", pytest.approx(0.9))
    assert minus["pearson"]["resampled"] == "rows"
    assert minus["pearson"]["over_rows"]["low"] == minus["pearson"]["low"]


def test_intervals_over_items_by_choice(run: Run, results: Path) -> None:
    command = ("correlate", str(results), "--with", "level", "--group", "model", "--json", "--resample")
    rows, items = (json.loads(run(*command, unit))[0]["spearman"] for unit in ("rows", "items"))
    assert (items["resampled"], rows["estimate"]) == ("items", items["estimate"])
    assert (items["low"], items["high"]) == (rows["over_items"]["low"], rows["over_items"]["high"])
    assert (items["low"], items["high"]) != (rows["low"], rows["high"])
    assert rows["fisher"]["low"] < rows["estimate"] < rows["fisher"]["high"]


def test_ratings_averaged_or_kept_or_normalised(run: Run, scores: Path, human: Path) -> None:
    def good(*options: str) -> dict:
        command = (
            "correlate",
            str(scores),
            "--with",
            "human",
            "--human",
            str(human),
            "--resamples",
            "50",
            "--json",
        )
        return next(row for row in json.loads(run(*command, *options)) if row["group"] == {"metric": "good"})

    averaged = good()
    assert (averaged["against"], averaged["n"], averaged["n_left_out"]) == ("human", 6, 2)
    assert averaged["left_out"] == {"no rating": 2}
    assert averaged["pearson"]["estimate"] == pytest.approx(1)
    assert averaged["pearson_per_system"]["n_systems"] == 2
    assert (averaged["system_accuracy"]["estimate"], averaged["system_accuracy"]["n_pairs"]) == (1, 1)
    assert "only two systems" in averaged["pearson_per_system_corrected"]["reason"]
    assert averaged["spearman_per_system_corrected"]["estimate"] is None
    assert averaged["system_accuracy_bound"]["n_pairs"] == 1
    kept = good("--raters", "kept")
    assert kept["n"] == 12
    assert kept["pearson"]["estimate"] < 0.5
    assert good("--raters", "kept", "--z-normalise")["pearson"]["estimate"] == pytest.approx(1)


def test_undefined_is_null_with_a_reason(run: Run, scores: Path, human: Path) -> None:
    rows = json.loads(run("correlate", str(scores), "--with", "human", "--human", str(human), "--json"))
    flat = next(row for row in rows if row["group"]["metric"] == "flat")
    for key in ("pearson", "spearman", "kendall"):
        assert (flat[key]["estimate"], flat[key]["low"], flat[key]["reason"]) == (
            None,
            None,
            "all scores are equal",
        )
    assert flat["kendall_per_item"]["reason"] == "undefined within every item"
    assert flat["kendall_per_item"]["n_items"] == 0


def test_what_was_not_asked_for_says_so(run: Run, results: Path) -> None:
    row = json.loads(run("correlate", str(results), "--with", "level", "--methods", "kendall", "--json"))[0]
    assert (row["pearson"]["estimate"], row["pearson"]["reason"]) == (None, "not requested")
    assert row["kendall_per_system"]["reason"] == "needs human ratings"
    assert row["kendall_given_system"]["reason"] == "there is only one system"
    assert row["kendall"]["estimate"] is not None


def test_a_person_reads_what_it_is_against_and_what_is_left_out(run: Run, scores: Path, human: Path) -> None:
    printed = run("correlate", str(scores), "--with", "human", "--human", str(human), "--rank", "pearson")
    assert printed.startswith("Against human ratings (human.csv, 2 raters, averaged). Positive is good.\n")
    assert "Pearson, Spearman, Kendall: undefined for flat: all scores are equal" in printed
    assert "Left out: no rating: 2 rows" in printed
    assert "Note: 4 of 16 ratings matched no score: no score for this item" in printed
    assert "Not ranked: flat: all scores are equal" in printed


def whole_pearson() -> float:
    """Of all texts with minus the level, by scipy."""
    pairs = [
        (score, -level)
        for items in TWO_MODELS.values()
        for scores in items.values()
        for level, score in enumerate(scores)
        if score is not None
    ]
    return float(stats.pearsonr(*zip(*pairs, strict=True)).statistic)


def test_long_work_is_announced_and_told(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    monkeypatch.setattr(correlate, "LONG_WORK", 1)
    monkeypatch.setattr(running, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(running, "LINE_SECONDS", 0.001)
    assert main(["correlate", str(results), "--with", "level", "--group", "model"]) == 0
    out, err = capsys.readouterr()
    assert "20 texts, 1 metric, at most 10,000 resamples." in err.splitlines()
    assert "group 2 of 2, " in err
    assert "20 texts" not in out


def test_resampling_stops_by_itself_unless_a_number_is_given(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = [f"q{n},{n % 4},{(n * 7) % 11 - n % 4}" for n in range(40)]
    path.write_text("item,level,m\n" + "\n".join(rows) + "\n")
    command = ("correlate", str(path), "--with", "level", "--json")
    (stopped,), (exact,) = json.loads(run(*command)), json.loads(run(*command, "--resamples", "1100"))
    for method in ("pearson", "spearman", "kendall"):
        found = stopped[method]
        assert 512 <= found["n_resamples"] < 10_000
        assert 0 < found["monte_carlo_error"] < (found["high"] - found["low"]) / 20
        assert found["over_items"]["n_resamples"] == found["n_resamples"]
        assert exact[method]["n_resamples"] == 1_100
    printed = run(*command[:-1])
    assert "; Monte Carlo error of a bound at most " in printed


def test_further_tables_stand_beside_the_correlations(run: Run, results: Path) -> None:
    command = ("correlate", str(results), "--with", "level", "--group", "model", "--resamples", "50")
    further = ("--rank", "pearson", "--levels", "--redundancy", "kendall")
    whole = json.loads(run(*command, *further, "--json"))
    assert set(whole) == {"correlations", "ranking", "levels", "redundancy"}
    (only,) = whole["ranking"]["order"]
    assert (only["metric"], only["cluster"]) == ("result", 1)
    assert only["coefficient"] == pytest.approx(whole_pearson())
    monotonic = whole["levels"][0]["monotonic"]
    assert (monotonic["estimate"], monotonic["n"], monotonic["n_left_out"]) == (0.5, 2, 2)
    assert sorted(whole["levels"][0]["left_out"].values()) == [1, 1]
    assert whole["levels"][0]["levels"][0]["level"] == "A0"
    printed = run(*command, *further)
    assert "Mean score by level" in printed
    assert "(2 of 4 items)" in printed


def test_two_metrics_are_compared_in_every_group_and_view(
    run: Run, scores: Path, human: Path, tmp_path: Path
) -> None:
    command = ("correlate", str(scores), "--with", "human", "--human", str(human), "--group", "system")
    asked = ("--compare", "good,square", "--methods", "pearson,kendall", "--resamples", "100")
    found = json.loads(run(*command, *asked, "--json"))["comparison"]
    assert [(one["group"]["system"], one["view"], one["method"]) for one in found] == [
        (system, view, method)
        for system in ("x", "yy")
        for view in ("pooled", "per_item", "per_system")
        for method in ("pearson", "kendall")
    ]
    # The ratings of x are 7, 8, 9; "square" has 0, 1, 4.
    pooled = found[0]
    apart = 1 - stats.pearsonr([0, 1, 4], [7, 8, 9]).statistic
    assert pooled["difference"]["estimate"] == pytest.approx(apart)
    assert pooled["difference"]["low"] <= apart <= pooled["difference"]["high"]
    assert (pooled["n"], pooled["left_out"], pooled["n_swaps"]) == (3, {"no rating": 1}, 100)
    assert 0 < pooled["p"] <= 1
    assert found[1]["difference"]["estimate"] == 0
    assert found[2]["difference"]["reason"].endswith("undefined within every item")
    out = tmp_path / "two.csv"
    printed = run(*command, *asked, "--out", str(out), "--table", "comparison")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["difference_low"]) == pooled["difference"]["low"]
    assert float(rows[0]["first_coefficient"]) == pooled["first_coefficient"]["estimate"]
    assert "good compared with square, on the same texts" in printed


def test_a_judge_that_says_nothing_is_named_before_any_number(run: Run, tmp_path: Path) -> None:
    """36 texts that all score 1, beside a metric that falls."""
    path = tmp_path / "scores.csv"
    rows = [f"q{item},s,{level},1,{9 - level + item}" for item in range(6) for level in range(6)]
    path.write_text("\n".join(["item,system,level,bot,good", *rows]))
    command = ("correlate", str(path), "--with", "level", "--levels", "--resamples", "50")
    whole = json.loads(run(*command, "--json"))
    bot, good = whole["correlations"]
    assert bot["constant"] == {"value": 1, "share": 1, "n": 36, "n_others": 0}
    assert (good["constant"], whole["levels"][1]["constant"]) == (None, None)
    at_levels = whole["levels"][0]
    assert at_levels["constant"] == bot["constant"]
    shares = [at_levels["monotonic"], *at_levels["prefers_damaged"].values()]
    assert {(one["estimate"], one["low"], one["n"], one["reason"]) for one in shares} == {
        (None, None, 0, ALL_EQUAL)
    }
    assert at_levels["left_out"] == {EQUAL: 6}
    lines = run(*command).splitlines()
    assert lines[1].startswith("bot is constant: ")
    assert not [line for line in lines if line.startswith("good is")]
    out = tmp_path / "out.csv"
    run("correlate", str(path), "--with", "level", "--resamples", "0", "--out", str(out))
    with out.open(newline="") as file:
        cells = [(row["constant_value"], row["constant_share"]) for row in csv.DictReader(file)]
    assert [tuple(float(cell) if cell else None for cell in pair) for pair in cells] == [(1, 1), (None, None)]


def test_files_hold_what_is_printed(run: Run, results: Path, tmp_path: Path) -> None:
    command = ("correlate", str(results), "--with", "level", "--group", "model", "--json", "--out")
    printed = json.loads(run(*command, str(tmp_path / "out.json")))
    assert json.loads((tmp_path / "out.json").read_text()) == printed
    run(*command, str(tmp_path / "out.csv"))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert [(row["model"], row["metric"], int(row["n"])) for row in rows] == [
        ("gpt", "result", 10),
        ("llama", "result", 9),
    ]
    assert float(rows[0]["pearson"]) == printed[0]["pearson"]["estimate"]
    assert float(rows[0]["kendall_per_item_low"]) == printed[0]["kendall_per_item"]["low"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--with", "level", "--group", "modl"), "'modl' is unknown; did you mean model"),
        (("--with", "human"), "There are no ratings. Choose a file or a folder of ratings with --human"),
        (("--with", "level", "--human", "x.csv"), "--human: only with --with human"),
        (("--with", "human", "--human", "absent.csv"), "absent.csv cannot be read"),
        (("--with", "level", "--resamples", "-1"), "--resamples: -1 is not at least 0"),
        (("--with", "level", "--confidence", "95"), "--confidence: 95 is not above 0 and below 1"),
        (("--with", "level", "--methods", "tau"), "--methods: tau is not one of pearson, spearman, kendall"),
        (("--with", "level", "--out", "table.xlsx"), "--out: table.xlsx does not end in one of"),
        (("--with", "level", "--out", "t.csv", "--table", "ranking"), "--table: ranking needs --rank"),
        (
            ("--with", "level", "--out", "t.csv", "--table", "comparison"),
            "--table: comparison needs --compare",
        ),
        (("--with", "level", "--compare", "result"), "--compare: result does not name two metrics"),
        (("--with", "level", "--compare", "result,bleu"), "'bleu' is unknown"),
        (
            ("--with", "level", "--rank", "kendall", "--test", "williams"),
            "Choose the permutation test for Kendall",
        ),
    ],
)
def test_mistakes_get_a_sentence(
    options: tuple[str, ...], said: str, results: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capsys, "correlate", str(results), *options)


def test_the_level_itself_is_no_target_beside_people(
    scores: Path, human: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told with all other mistakes, before anything is read."""
    mistakes = ("--raw-level", "--size", "x=7", "--resamples", "-1")
    said = refused(
        capsys, "correlate", str(scores), "--with", "human", "--human", f"{human}.absent", *mistakes
    )
    for problem in ("--raw-level: only with --with level", "--size: only for several", "--resamples: -1 is"):
        assert problem in said
    assert "absent" not in said


def test_files_that_do_not_fit_get_a_sentence(
    scores: Path, human: Path, tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no damage levels" in refused(capsys, "correlate", str(scores), "--with", "level")
    assert "absent.csv cannot be read" in refused(capsys, "correlate", "absent.csv", "--with", "level")
    other = tmp_path / "other.csv"
    other.write_text("item,score\nnowhere,1\n")
    said = refused(capsys, "correlate", str(scores), "--with", "human", "--human", str(other))
    assert "No rating in other.csv matches a score in scores.csv" in said
    assert "first rating: item nowhere" in said
    twice = tmp_path / "twice.csv"
    twice.write_text("item,system,m\na,x,1\na,x,2\n")
    assert "line 3" in refused(capsys, "correlate", str(twice), "--with", "human", "--human", str(human))
    several = tmp_path / "several.csv"
    several.write_text("item,system,score,dimension\na,x,1,fluency\na,x,1,adequacy\n")
    said = refused(capsys, "correlate", str(scores), "--with", "human", "--human", str(several))
    assert "rates several dimensions (fluency, adequacy): choose one dimension" in said


def test_ratings_that_count_errors_are_turned(run: Run, scores: Path, human: Path) -> None:
    command = (
        "correlate",
        str(scores),
        "--with",
        "human",
        "--human",
        str(human),
        "--resamples",
        "0",
        "--json",
    )
    upright, turned = (json.loads(run(*command, *option)) for option in ((), ("--lower-is-better",)))
    assert turned[0]["pearson"]["estimate"] == pytest.approx(-upright[0]["pearson"]["estimate"])


def test_errors_that_raters_marked_are_ratings(run: Run, tmp_path: Path) -> None:
    """Item 1 of x: one major error, minus 5; of y: one minor error, minus 1; of z: none."""
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    rows = [
        f"{system}\td\t1\t1\tr1\ta source\ta <v>target</v>\t{category}\t{severity}".replace(
            "<v>", mark
        ).replace("</v>", end)
        for system, category, severity, mark, end in (
            ("x", "Accuracy/Mistranslation", "Major", "<v>", "</v>"),
            ("y", "Fluency/Grammar", "Minor", "<v>", "</v>"),
            ("z", "No-error", "No-error", "", ""),
        )
    ]
    (tmp_path / "mqm.tsv").write_text("\n".join([header, *rows]) + "\n")
    (tmp_path / "scores.csv").write_text("item,system,m\n1,x,2\n1,y,5\n1,z,7\n")
    command = (
        "correlate",
        "scores.csv",
        "--with",
        "human",
        "--human",
        "mqm.tsv",
        "--resamples",
        "0",
        "--json",
    )
    (row,) = json.loads(run(*command))
    assert row["pearson"]["estimate"] == pytest.approx(stats.pearsonr([2, 5, 7], [-5, -1, 0]).statistic)


def test_a_scoring_run_is_correlated_as_its_file(run: Run, tmp_path: Path) -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    lines = [
        {"item": str(item), "system": "rule", "level": level, "reference": " ".join(words[item:])}
        | {"text": " ".join([*words[item : len(words) - level], *["wrong"] * level])}
        for item in range(4)
        for level in range(4)
    ]
    (tmp_path / "outputs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["score", "outputs.jsonl", "--metrics", "bleu-1,ter", "--out", "scores.csv"]) == 0
    of_run, of_file = (
        json.loads(run("correlate", given, "--with", "level", "--resamples", "50", "--json"))
        for given in ("run:1", "scores.csv")
    )
    assert of_run == of_file
    assert [(row["group"]["metric"], row["direction"]) for row in of_run] == [
        ("bleu-1", "higher"),
        ("ter", "lower"),
    ]
    assert all(row["kendall_per_item"]["estimate"] > 0.9 for row in of_run)


def test_a_run_that_is_not_there_gets_a_sentence(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "There is no database" in refused(capsys, "correlate", "run:7", "--with", "level")


@pytest.mark.slow
@pytest.mark.shared
def test_a_folder_brings_its_scores_and_ratings(
    run: Run, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(shared_data / "wmt23")
    rows = json.loads(run("correlate", folder, "--with", "human", "--resamples", "0", "--json"))
    by_metric = {row["group"]["metric"]: row for row in rows}
    assert len(rows) == 9
    assert by_metric["XCOMET-Ensemble"]["pearson"]["estimate"] == pytest.approx(0.695, abs=5e-4)
    assert by_metric["XCOMET-Ensemble"]["pearson"]["interval_reason"] == NO_RESAMPLES
    assert "(da-sqm, mqm)" in refused(capsys, "correlate", folder, "--with", "human", "--human", "da")
