"""`judge`: what its commands write, what they print, what they refuse, over a real server that follows a script."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import LEVELS, marked_texts, marks, rows_of, texts, two_models

from core.cli import main
from core.formats.registry import read_scores
from core.runs.kinds import kinds_that
from core.runs.records import read_judge_folder
from core.store import open_store
from core.store.runs import list_runs

N_ITEMS = 2
N_TEXTS = N_ITEMS * len(LEVELS)
Command = Callable[..., str]


@dataclass(frozen=True)
class Bench:
    """A folder in which every judge has been at work once."""

    folder: Path
    server: ScriptedServer

    def who(self, model: str = "tiny") -> list[str]:
        return ["--backend", "openai", "--model", model, "--base-url", self.server.url]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("judges")
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(two_models, models=("tiny", "nay")) as server:
        patch.chdir(folder)
        patch.setenv("ASSAY_DB", str(folder / "assay.db"))
        (folder / "mills.jsonl").write_bytes(texts(N_ITEMS))
        (folder / "marked.jsonl").write_text(marked_texts(), encoding="utf-8")
        (folder / "marks.tsv").write_text(marks(), encoding="utf-8")
        bench = Bench(folder, server)
        tiny, nay = bench.who(), bench.who("nay")
        by_ref = ["--questions", "3", "--mode", "reference", "--name", "by-ref"]
        some = ["--questions", "3", "--repeats", "2", "--reask"]
        for command in (
            ["rubric", "mills.jsonl", *tiny, "--order", "both", "--repeats", "2", "--out", "rubric"],
            ["claims", "mills.jsonl", *tiny, "--input-price", "1", "--output-price", "2", "--out", "claims"],
            ["claims", "mills.jsonl", "--backend", "rules", "--out", "rules"],
            ["cef", "mills.jsonl", *tiny, *some, "--out", "cef"],
            ["cef", "mills.jsonl", *tiny, *by_ref, "--out", "ref"],
            ["cef", "mills.jsonl", *nay, "--questions", "3", "--out", "cef-nay"],
            ["cef", "marked.jsonl", *tiny, "--out", "marked"],
            ["answers", "cef", "cef-nay", *tiny, "--out", "answers"],
            ["answers", "cef", "cef-nay", *nay, "--out", "answers-nay"],
        ):
            assert main(["judge", *command]) == 0
        yield bench


def words_before(verb: str) -> list[str]:
    """The words before a verb: judge, report, or reproduce and the paper."""
    if verb in {kind.verb or kind.name for kind in kinds_that("judging", "audit")}:
        return ["judge"]
    return ["reproduce", "cef"] if verb in ("reliability", "ablation", "reasked") else ["report"]


@pytest.fixture
def judge(bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command of a verb, which must succeed; what it prints."""
    monkeypatch.chdir(bench.folder)
    monkeypatch.setenv("ASSAY_DB", str(bench.folder / "assay.db"))

    def command(*arguments: str) -> str:
        capsys.readouterr()
        status = main([*words_before(arguments[0]), *arguments])
        said = capsys.readouterr()
        assert status == 0, said.err
        return said.out

    return command


@pytest.fixture
def refused(judge: Command, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run `judge VERB` or `report VERB`, which must not work; what it says."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def command(*arguments: str) -> str:
        capsys.readouterr()
        assert main([*words_before(arguments[0]), *arguments]) == 2
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return said

    return command


@pytest.mark.parametrize(
    ("folder", "kind", "metrics"),
    [
        ("rubric", "rubric", ["rubric-tiny"]),
        ("claims", "claims", [f"claims-tiny-{end}" for end in ("f1", "precision", "recall", "f1-ragas")]),
        (
            "ref",
            "cef",
            [
                f"by-ref-{end}"
                for end in (
                    "coverage",
                    "conformity",
                    "consistency",
                    "consistency-code",
                    "conciseness",
                    "overall",
                )
            ],
        ),
    ],
)
def test_a_judge_writes_its_scores_and_how_it_came_to_them(
    bench: Bench, folder: str, kind: str, metrics: list[str]
) -> None:
    out = bench.folder / folder
    assert {path.name for path in out.iterdir()} >= {
        "scores.csv",
        "records.jsonl",
        "details.csv",
        "run.json",
    }
    output = read_judge_folder(out)
    assert (output.kind, output.model) == (kind, "tiny")
    assert [metric.name for metric in output.metrics] == metrics
    assert len(output.texts) == N_TEXTS
    table = read_scores((out / "scores.csv").read_bytes(), "scores.csv")
    assert table.values.shape == (N_TEXTS, len(metrics))
    best = table.values[[row.level == "A0" for row in table.rows], 0].mean()
    assert best > table.values[[row.level == "A4" for row in table.rows], 0].mean()
    assert json.loads((out / "run.json").read_bytes())["settings"]["name"] == output.name


def test_rules_say_that_they_are_a_stand_in(judge: Command) -> None:
    printed = judge("claims", "mills.jsonl", "--backend", "rules", "--limit", "1", "--out", "rules-1")
    assert "a stand-in for trying things out" in printed
    assert "5 texts, 4 metrics." in printed


def test_some_items_first_and_the_rest_with_resume_ask_nothing_twice(judge: Command, bench: Bench) -> None:
    asked = len(bench.server.asked)
    few = ["cef", "mills.jsonl", *bench.who(), "--seed", "77", "--out", "resumed"]
    assert "1 of 1 items complete" in judge(*few, "--limit", "1")
    first = len(bench.server.asked) - asked
    assert f"{N_ITEMS} of {N_ITEMS} items complete" in judge(*few, "--resume")
    assert len(bench.server.asked) - asked == N_ITEMS * first
    assert len(read_judge_folder(bench.folder / "resumed").texts) == N_TEXTS


def test_prices_and_repeated_calls_stand_in_the_summary(judge: Command, bench: Bench) -> None:
    """All calls are in the cache by now, so the run costs nothing."""
    prices = ["--input-price", "1", "--output-price", "2"]
    printed = judge("claims", "mills.jsonl", *bench.who(), *prices, "--out", "again")
    assert f"Cost of verify the response: 0 calls ({N_TEXTS} more from the cache)" in printed
    assert "Money: 0.0000." in printed


def test_reliability_of_two_models_that_never_agree(judge: Command) -> None:
    """`nay` says NO to everything, `tiny` says YES of its own text: each disagrees with the other everywhere.

    As the code counts, all that matters is who says YES: tiny confirms all of nay's questions, nay none of tiny's.
    """
    found = json.loads(judge("reliability", "answers", "answers-nay", "--resamples", "50", "--json"))
    assert found["models"] == ["tiny", "nay"]
    rates = {(row["variant"], row["side"], row["model"]): row for row in found["rows"]}
    for side in ("source", "text", "all"):
        assert rates["paper", side, "tiny"]["disagreement"]["estimate"] == 1
        assert rates["paper", side, "nay"]["disagreement"]["estimate"] == 1
        assert rates["cef-code", side, "tiny"]["disagreement"]["estimate"] == 1
        assert rates["cef-code", side, "nay"]["disagreement"]["estimate"] == 0
        assert rates["cef-code", side, "nay"]["disagreement_rank"] == 1
        assert rates["paper", side, "tiny"]["deviation"]["estimate"] is None
    printed = judge("reliability", "answers", "answers-nay", "--resamples", "50")
    assert "paper: as CEF defines it" in printed
    assert ": with two models there is no majority" in printed


def test_ablation_names_variances_or_why_there_are_none(judge: Command) -> None:
    """The scripted model repeats itself, so nothing varies; a judge asked once has no variance."""
    rows = json.loads(judge("ablation", "cef", "cef-nay", "--json"))
    assert {row["judge"] for row in rows} == {"cef-tiny", "cef-nay"}
    for row in rows:
        once = row["judge"] == "cef-nay"
        assert row["n_questions"] == 3
        assert row["percent_variance_within"] == (None if once else 0)
        assert bool(row["reason"]) == once
    assert "only one examination per text" in judge("ablation", "cef-nay")


def test_consistency_over_repeats_and_orders(judge: Command) -> None:
    found = json.loads(judge("consistency", "rubric", "--resamples", "50", "--json"))
    assert found["repeats"][0]["agreeing"] == {
        "estimate": 1,
        "low": 1,
        "high": 1,
        "reason": None,
        "interval_reason": None,
        "n": N_TEXTS,
        "n_left_out": 0,
    }
    assert found["order"]["difference"]["estimate"] == 0
    printed = judge("consistency", "rubric", "--resamples", "50")
    assert "rubric-tiny: 10 texts, 2 repeats, in the order reference-first and response-first." in printed
    assert "consistency-code" in judge("consistency", "cef", "--resamples", "50")


def test_reasked_counts_second_answers(judge: Command) -> None:
    found = json.loads(judge("reasked", "cef", "--json"))
    yes, no, _ = found["by_side"]["source"]
    n_asked = 2 * N_ITEMS * 3  # in both repeats, once an item
    assert (yes["expected"], yes["counts"]) == ("YES", {"YES": n_asked, "NO": 0, "IDK": 0})
    assert (no["unchanged"]["n"], no["unchanged"]["share"]) == (0, None)
    assert "Unchanged" in judge("reasked", "cef", "--confidence", "0.9")


def test_two_judges_are_compared_by_what_says_the_same(judge: Command) -> None:
    found = json.loads(judge("compare", "cef", "ref", "--resamples", "50", "--texts", "2", "--json"))
    assert [(one["metric_a"], one["metric_b"]) for one in found][:2] == [
        ("cef-tiny-coverage", "by-ref-coverage"),
        ("cef-tiny-conformity", "by-ref-conformity"),
    ]
    assert {one["n"] for one in found} == {N_TEXTS}
    assert all(len(one["disagreements"]) == 2 for one in found)
    printed = judge("compare", "cef", "ref", "--resamples", "50")
    assert "First" in printed
    assert "Percentile A" not in printed, "of several pairs no texts are shown"


def test_a_folder_its_table_and_its_run_are_the_same_judge(judge: Command, bench: Bench) -> None:
    with open_store(bench.folder / "assay.db") as store:
        number = min(run.run_id for run in list_runs(store, ("rubric",)))
    names = "rubric-tiny,claims-rules-recall"
    numbers = []
    for given in ("rubric", "rubric/scores.csv", f"run:{number}"):
        options = ["--metrics", names, "--resamples", "50", "--json"]
        (found,) = json.loads(judge("compare", given, "rules", *options))
        numbers.append((found["n"], found["pooled"], found["per_item"], found["disagreements"]))
    assert numbers[0] == numbers[1] == numbers[2]
    assert numbers[0][1]["kendall"]["estimate"] > 0.5


def test_an_only_verdict_is_compared_with_each_score_of_the_other(judge: Command) -> None:
    found = json.loads(judge("compare", "rubric", "rules", "--resamples", "20", "--json"))
    assert [one["metric_b"] for one in found] == [
        f"claims-rules-{end}" for end in ("f1", "precision", "recall", "f1-ragas")
    ]
    assert {one["metric_a"] for one in found} == {"rubric-tiny"}


def test_texts_on_which_two_judges_part_come_with_both_scores(judge: Command) -> None:
    printed = judge(
        "compare", "rubric", "rules", "--metrics", "rubric-tiny,claims-rules-recall", "--resamples", "50"
    )
    assert "rubric-tiny and claims-rules-recall: 10 texts scored by both." in printed
    assert "among these texts (A: rubric-tiny, B: claims-rules-recall)" in printed
    assert "Percentile A  Percentile B  B - A  Text" in printed
    assert "It burned down on" in printed
    assert "Kendall between systems: fewer than two systems" in printed


def test_costs_of_judges_side_by_side(judge: Command, bench: Bench) -> None:
    rows = json.loads(judge("costs", "rubric", "claims", "rules", "answers", "--json"))
    whole = {row["judge"]: row for row in rows if row["step"] == "all steps"}
    assert list(whole) == ["rubric-tiny", "claims-tiny", "claims-rules", "answers of tiny"]
    assert whole["rubric-tiny"]["calls"] == 4 * N_TEXTS
    assert whole["rubric-tiny"]["calls_per_text"] == 4
    assert whole["rubric-tiny"]["calls_per_item"] == 2 * N_TEXTS
    assert whole["claims-rules"]["calls"] == 0
    claims = whole["claims-tiny"]
    said = json.loads((bench.folder / "claims" / "run.json").read_bytes())
    assert claims["money"] == pytest.approx(said["money"])
    assert claims["money"] == pytest.approx((claims["input_tokens"] + 2 * claims["output_tokens"]) / 1e6)
    dearer = json.loads(judge("costs", "claims", "--input-price", "10", "--output-price", "20", "--json"))
    assert dearer[-1]["money"] == pytest.approx(10 * claims["money"])
    printed = judge("costs", "rubric", "cef", "marked")
    assert "cef-tiny (cef)" in printed
    assert "cef-tiny (marked)" in printed
    assert "Money, Money per text: unknown: no price is given" in printed


@pytest.mark.parametrize("backend", ["model", "rules"])
def test_mismatches_are_aligned_with_marked_errors(judge: Command, bench: Bench, backend: str) -> None:
    """Of two marks the wrong year is named by a mismatching question, the other is a word that says nothing.

    The scripted model takes any word that both share for a yes; the rules leave a word that says nothing undecided.
    """
    who = bench.who() if backend == "model" else ["--backend", "rules"]
    out = f"aligned-{backend}"
    found = json.loads(judge("align", "marked", "--ratings", "marks.tsv", *who, "--out", out, "--json"))
    by_category = {
        row["name"]: (row["caught"]["count"], row["caught"]["n"], row["n_left_out"])
        for row in found["by_category"]
    }
    style = (1, 1, 0) if backend == "model" else (0, 0, 1)
    assert by_category == {"Accuracy/Mistranslation": (1, 1, 0), "Style/Awkward": style}
    assert [row["name"] for row in found["by_meaning"]] == ["semantic", "non-semantic"]
    assert [row["category"] for row in rows_of(bench.folder / out / "alignment.csv")] == list(by_category)
    printed = judge("align", "marked", "--ratings", "marks.tsv", *who, "--out", out, "--resume")
    assert "Marked errors found by a mismatching question, in 1 text:" in printed


def test_verbs_say_what_they_take(judge: Command, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {
        "rubric": ["--rubric", "--order", "--repeats"],
        "claims": ["--atomicity", "--coverage", "--beta", "--verifier", "--nli", "--device"],
        "cef": ["--mode", "--answers", "--questions", "--kind-of-questions", "--reask", "--source-language"],
        "answers": ["--answers", "--prompt"],
        "align": ["--ratings", "--json"],
        "reliability": ["--json", "--resamples"],
        "ablation": ["--json"],
        "consistency": ["--json"],
        "reasked": ["--json"],
        "compare": ["--metrics", "--texts"],
        "costs": ["--input-price"],
    }
    for verb, options in asked.items():
        with pytest.raises(SystemExit) as ended:
            main([*words_before(verb), verb, "--help"])
        assert ended.value.code == 0
        said = capsys.readouterr().out
        assert [option for option in options if option not in said] == [], verb


SERVER = ["--backend", "openai", "--model", "tiny", "--base-url", "http://127.0.0.1:9/v1"]
MISTAKES: list[tuple[list[str], list[str]]] = [
    (
        [
            "rubric",
            "mills.jsonl",
            "--backend",
            "rules",
            "--model",
            "m",
            "--repeats",
            "0",
            "--temperature",
            "3",
        ],
        ["--model: has no effect", "this judge cannot work with rules", "--repeats: 0", "--temperature: 3"],
    ),
    (
        ["claims", "mills.jsonl", "--backend", "rules", "--verifier", "llm", "--beta", "0", "--name", "a b"],
        [
            "--verifier: llm needs a model",
            "--beta: 0 is not between 0.001 and 1000",
            "--name: a column's name",
        ],
    ),
    (["claims", "mills.jsonl", *SERVER, "--verifier", "llm", "--nli", "m"], ["--nli: ", "--verifier nli"]),
    (
        ["claims", "mills.jsonl", "--backend", "vllm", "--model", "m", "--nli", "m"],
        ["vllm and an entailment model cannot share an environment"],
    ),
    (["cef", "mills.jsonl", "--backend", "openai"], ["--model: is empty", "OPENAI_API_KEY"]),
    (
        [
            "cef",
            "mills.jsonl",
            *SERVER,
            "--repeats",
            "0",
            "--attempts",
            "0",
            "--timeout",
            "0",
            "--key-variable",
            "NO",
        ],
        [f"--{name}: " for name in ("repeats", "attempts", "timeout", "key-variable")],
    ),
    (["cef", "mills.jsonl", *SERVER, "--questions", "0"], ["--questions: 0 is not between 1 and 100"]),
    (["cef", "mills.jsonl", *SERVER], ["no server answers there"]),
    (["cef", "mills.jsonl", *SERVER, "--limit", "0"], ["--limit: 0 is too small"]),
    (["cef", "mills.jsonl", *SERVER, "--resume"], ["no run of this file with these settings"]),
    (["cef", "mills.jsonl", *SERVER, "--prompt", "rubric"], ["--prompt: rubric"]),
    (["claims", "mills.jsonl", "--backend", "rules", "--prompt", "verify"], ["rules use no prompt"]),
    (["cef", "mills.jsonl", *SERVER, "--engine", "x=1"], ["--engine: ", "--backend vllm"]),
    (
        ["cef", "mills.jsonl", *SERVER, "--language-pair", "en-de"],
        ["--language-pair: only for a folder, and mills.jsonl"],
    ),
    (["cef", "gone.jsonl", *SERVER], ["gone.jsonl cannot be read"]),
    (["rubric", "mills.jsonl", *SERVER, "--rubric", "nope"], ["nope"]),
    (["rubric", "marked.jsonl", *SERVER], ["has no reference for any text"]),
    (["answers", "rubric", "claims", *SERVER], ["rubric-tiny is from the judge rubric", "claims-tiny"]),
    (["answers", "cef", "--backend", "rules"], ["this judge cannot work with rules"]),
    (["align", "marked", "--ratings", "gone.tsv", "--backend", "rules"], ["gone.tsv cannot be read"]),
    (["align", "rubric", "--ratings", "marks.tsv", "--backend", "rules"], ["asks no questions"]),
]


@pytest.mark.parametrize(("arguments", "says"), MISTAKES, ids=lambda value: str(value[0])[:30])
def test_runs_are_refused_with_all_that_is_wrong(
    refused: Command, bench: Bench, arguments: list[str], says: list[str]
) -> None:
    said = refused(*arguments, "--out", "refused")
    assert [part for part in says if part not in said] == [], said
    assert not (bench.folder / "refused").exists()


LOOKS: list[tuple[list[str], list[str]]] = [
    (
        ["reliability", "gone", "rubric"],
        ["Some inputs cannot be read", "gone", "contains a run of the kind rubric"],
    ),
    (["reliability", "answers"], ["1 model: at least two must answer"]),
    (
        ["reliability", "answers", "--resamples", "-1", "--confidence", "2"],
        ["--resamples: -1", "--confidence: 2"],
    ),
    (["ablation", "rubric", "claims"], ["rubric-tiny is a rubric judge", "claims-tiny is a claims judge"]),
    (["consistency", "claims"], ["neither repeats nor orders"]),
    (["consistency", "cef-nay"], ["cef-nay cannot be compared with itself: each text was judged only once"]),
    (["ablation", "cef", "run:4"], ["cef-tiny: the same run is given twice"]),
    (["consistency", "run:999"], ["999"]),
    (["reasked", "cef-nay"], ["asked no question a second time"]),
    (["reasked", "cef", "--confidence", "1"], ["--confidence: 1"]),
    (
        ["compare", "cef", "rules"],
        ["--metrics: choose one column of each; cef has", "rules has claims-rules-f1"],
    ),
    (["costs", "rubric", "run:1"], ["rubric and run:1 are the same run"]),
    (["costs", "rules", "cef", "./rules"], ["rules and ./rules are the same run"]),
    (["compare", "rubric", "rules", "--metrics", "one"], ["name one column of each"]),
    (["compare", "rubric", "rules", "--metrics", "rubric-tiny,nope"], ["nope"]),
    (["compare", "rubric", "gone", "--texts", "-1"], ["--texts: -1 is not"]),
    (
        ["costs", "rubric", "--input-price", "-1", "--output-price", "inf"],
        ["--input-price", "--output-price"],
    ),
    (["costs", "gone", "also-gone"], ["gone/run.json cannot be read", "also-gone/run.json cannot be read"]),
]


@pytest.mark.parametrize(("arguments", "says"), LOOKS, ids=lambda value: " ".join(value)[:40])
def test_looks_are_refused_with_all_that_is_wrong(
    refused: Command, arguments: list[str], says: list[str]
) -> None:
    said = refused(*arguments)
    assert [part for part in says if part not in said] == [], said


@pytest.mark.parametrize(
    ("variable", "options", "says"),
    [
        ("ASSAY_VLLM_PYTHON", ["--backend", "vllm", "--model", "m"], "./run --with vllm"),
        ("ASSAY_NEURAL_PYTHON", ["--backend", "rules", "--nli", "m"], "./run --with neural"),
    ],
)
def test_where_libraries_are_missing_a_line_says_how_to_get_them(
    refused: Command, monkeypatch: pytest.MonkeyPatch, variable: str, options: list[str], says: str
) -> None:
    monkeypatch.setenv(variable, "gone/python")
    assert says in refused("claims", "mills.jsonl", *options, "--out", "refused")


def test_a_folder_holds_one_judge(refused: Command, bench: Bench) -> None:
    before = (bench.folder / "rubric" / "scores.csv").read_bytes()
    said = refused("claims", "mills.jsonl", "--backend", "rules", "--out", "rubric")
    assert "rubric contains the results of run 1" in said
    assert (bench.folder / "rubric" / "scores.csv").read_bytes() == before


def test_the_backend_has_to_be_named(judge: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """A judge by rules is a stand-in: nobody gets it without asking for it."""
    assert main(["judge", "claims", "mills.jsonl", "--out", "o"]) == 2
    assert "--backend" in capsys.readouterr().err


def test_scores_of_a_judge_go_into_correlations(
    bench: Bench, judge: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["correlate", "rubric/scores.csv", "--with", "level", "--resamples", "50", "--json"]
    assert main(arguments) == 0
    (row,) = json.loads(capsys.readouterr().out)
    found: dict[str, Any] = row["kendall_per_item"]
    assert (row["group"]["metric"], row["n"]) == ("rubric-tiny", N_TEXTS)
    assert found["estimate"] > 0.5


@pytest.mark.parametrize("verb", ["compare", "consistency", "costs", "bias", "reliability"])
def test_a_verb_that_moved_says_where_it_is(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["judge", verb, "rubric", "--json"])
    assert ended.value.code == 2
    told = capsys.readouterr().err.split("`")
    assert told[1] == f"judge {verb}"
    assert main(["judge", "prompts", "run:1", "run:2"]) == 2
    assert capsys.readouterr().err.split("`")[3].startswith("report prompts")
    with pytest.raises(SystemExit) as helped:
        main([*told[3].split(), "--help"])
    assert helped.value.code == 0
