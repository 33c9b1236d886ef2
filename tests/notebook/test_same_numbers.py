"""Every function gives the numbers of its command: the same JSON, and the same table as the command's CSV."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.texts.big_tables import big_run, scored_table

import assay
from core.cli import main
from core.store import open_store

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "data" / "demo"
Told = Callable[..., Any]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Run a command with --json and return what it prints."""

    def run(*words: object) -> Any:
        capsys.readouterr()
        assert main([str(word) for word in (*words, "--json")]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture(scope="module")
def answers_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The beginnings of the answers to five of the demo's questions: TER takes long on long texts."""
    answers = pd.read_csv(DEMO / "answers.csv")
    for column in ("reference", "text"):
        answers[column] = answers[column].str.split().str[:20].str.join(" ")
    file = tmp_path_factory.mktemp("answers") / "answers.csv"
    answers[answers["item_id"] <= "d05"].to_csv(file, index=False)
    return file


@pytest.fixture(scope="module")
def scores_file(answers_file: Path) -> Path:
    """Scores of the demo answers, written by the command."""
    folder = answers_file.parent
    out = folder / "scores.csv"
    words = ["--metrics", "bleu-4,chrf-6-0,ter,rouge-l", "--out", out, "--db", folder / "assay.db"]
    assert main([str(word) for word in ("score", answers_file, *words)]) == 0
    return out


def in_json(found: object) -> Any:
    """A result as a file has it: tuples are lists."""
    return json.loads(json.dumps(found, allow_nan=False))


def test_score(answers_file: Path, scores_file: Path) -> None:
    texts = assay.read(answers_file)
    made = assay.score(texts, ["bleu-4", "chrf-6-0", "ter", "rouge-l"])
    written = assay.read(scores_file, "scores")
    pd.testing.assert_frame_equal(made, written)
    assert len(made) == 4 * 50
    assert made.groupby("metric")["direction"].first().to_dict() == {
        "bleu-4": "higher",
        "chrf-6-0": "higher",
        "rouge-l": "higher",
        "ter": "lower",
    }


def test_damage(tmp_path: Path) -> None:
    words = ["generate", "damage", DEMO / "questions.jsonl", "--seed", 7, "--levels", "0,3,5"]
    assert main([*map(str, words), "--out", str(tmp_path), "--db", str(tmp_path / "assay.db")]) == 0
    written = assay.read(tmp_path / "outputs.jsonl")
    assert assay.read(tmp_path)["text"].tolist() == written["text"].tolist(), "the folder of a run"
    with pytest.raises(assay.InputError, match="scores are needed"):
        assay.read(tmp_path, "scores")
    made = assay.damage(DEMO / "questions.jsonl", seed=7, levels=[0, 3, 5])
    pd.testing.assert_frame_equal(made, written)
    questions = pd.read_json(DEMO / "questions.jsonl", lines=True)
    pd.testing.assert_frame_equal(
        assay.damage(questions, seed=7, levels="0,3,5")["text"].to_frame(), written[["text"]]
    )


@pytest.mark.parametrize("as_frame", [False, True])
def test_correlate_with_levels(scores_file: Path, told: Told, as_frame: bool, tmp_path: Path) -> None:
    scores: Any = assay.read(scores_file, "scores") if as_frame else scores_file
    words = ["--group", "system", "--leave-out", "item=d03", "--resamples", 99, "--seed", 4]
    words += ["--methods", "spearman,pearson", "--resample", "items", "--confidence", 0.9]
    found = assay.correlate(
        scores,
        "level",
        group="system",
        leave_out={"item": ["d03"]},
        resamples=99,
        seed=4,
        methods=["spearman", "pearson"],
        resample="items",
        confidence=0.9,
    )
    assert in_json(found.json) == told("correlate", scores_file, "--with", "level", *words)
    out = tmp_path / "out.csv"
    assert main([*map(str, ["correlate", scores_file, "--with", "level", *words, "--out", out])]) == 0
    written = pd.read_csv(out)
    assert list(found.frame.columns) == list(written.columns)
    numbers = [name for name in written if pd.api.types.is_float_dtype(written[name])]
    assert len(numbers) > 20
    made = found.frame[numbers].replace("", float("nan")).astype(float)
    pd.testing.assert_frame_equal(made, written[numbers], check_exact=True)


@pytest.mark.parametrize("ending", [".csv", ".md", ".tex", ".json"])
def test_a_result_is_written_as_the_command_writes_it(scores_file: Path, tmp_path: Path, ending: str) -> None:
    out, own = tmp_path / f"out{ending}", tmp_path / f"own{ending}"
    words = ["correlate", scores_file, "--with", "level", "--rank", "spearman", "--resamples", 50]
    table = [] if ending == ".json" else ["--table", "comparisons"]
    assert main([*map(str, [*words, "--out", out, *table])]) == 0
    found = assay.rank(scores_file, method="spearman", resamples=50)
    if ending == ".json":
        found.write(own)
        assert json.loads(own.read_text("utf-8")) == json.loads(out.read_text("utf-8"))["ranking"]
    else:
        found["comparisons"].write(str(own))
        assert own.read_bytes() == out.read_bytes()


def test_a_result_is_written_whole(scores_file: Path, tmp_path: Path) -> None:
    words = ["correlate", scores_file, "--with", "level", "--resamples", 50, "--out"]
    found = assay.correlate(scores_file, resamples=50)
    for ending in (".csv", ".md", ".tex", ".json"):
        assert main([*map(str, [*words, tmp_path / f"out{ending}"])]) == 0
        found.write(tmp_path / f"own{ending}")
        assert (tmp_path / f"own{ending}").read_bytes() == (tmp_path / f"out{ending}").read_bytes()
    for wrong in (tmp_path / "own.xlsx", tmp_path / "none" / "own.csv", 3):
        with pytest.raises(assay.InputError):
            found.write(wrong)  # type: ignore[arg-type]


def test_correlate_until_intervals_settle(scores_file: Path, told: Told) -> None:
    found = assay.correlate(scores_file, raw_level=True, methods="kendall")
    words = ["--with", "level", "--raw-level", "--methods", "kendall"]
    assert in_json(found.json) == told("correlate", scores_file, *words)


@pytest.mark.parametrize("as_frame", [False, True])
def test_correlate_with_ratings(ratings_file: Path, judge_file: Path, told: Told, as_frame: bool) -> None:
    pair: Any = (judge_file, ratings_file)
    if as_frame:
        pair = (assay.read(judge_file, "scores"), assay.read(ratings_file, "ratings"))
    found = assay.correlate(
        *pair, dimension=["facts", "style"], z_normalise=True, leave_out={"language": "de"}, resamples=50
    )
    words = ["--with", "human", "--human", ratings_file, "--dimension", "facts,style", "--z-normalise"]
    words += ["--leave-out", "language=de", "--resamples", 50]
    assert in_json(found.json) == told("correlate", judge_file, *words)
    kept = assay.correlate(*pair, dimension="facts", raters="kept", system_scores="rated", resamples=0)
    words = ["--human", ratings_file, "--dimension", "facts", "--raters", "kept", "--system-scores", "rated"]
    assert in_json(kept.json) == told("correlate", judge_file, "--with", "human", *words, "--resamples", 0)


def test_low_ratings_may_be_better(ratings_file: Path, judge_file: Path, told: Told) -> None:
    people = assay.read(ratings_file, "ratings", lower_is_better=True)
    found = assay.correlate(
        judge_file, people, dimension="facts", direction={"first-facts": "lower"}, resamples=9
    )
    words = ["--human", ratings_file, "--dimension", "facts", "--lower-is-better", "--resamples", 9]
    words += ["--direction", "first-facts=lower"]
    assert in_json(found.json) == told("correlate", judge_file, "--with", "human", *words)


def test_compare(ratings_file: Path, judge_file: Path, told: Told, scores_file: Path) -> None:
    words = ["--compare", "chrf-6-0,ter", "--resamples", 100, "--confidence", 0.8]
    printed = told("correlate", scores_file, "--with", "level", *words, "--group", "system")["comparison"]
    found = assay.compare(scores_file, "chrf-6-0", "ter", group="system", resamples=100, confidence=0.8)
    assert in_json(found.json) == printed
    two = ("first-facts", "second-facts")
    found = assay.compare(judge_file, *two, ratings_file, dimension="facts", methods="kendall", resamples=50)
    words = ["--human", ratings_file, "--dimension", "facts", "--methods", "kendall", "--resamples", 50]
    printed = told("correlate", judge_file, "--with", "human", *words, "--compare", ",".join(two))
    assert in_json(found.json) == printed["comparison"]


def test_rank_levels_and_redundancy(scores_file: Path, told: Told) -> None:
    words = ["--rank", "spearman", "--levels", "--redundancy", "kendall", "--resamples", 200, "--seed", 2]
    printed = told("correlate", scores_file, "--with", "level", *words)
    ranked = assay.rank(scores_file, "level", method="spearman", resamples=200, seed=2)
    assert in_json(ranked.json) == printed["ranking"]
    assert in_json(assay.levels(scores_file, resamples=200, seed=2).json) == printed["levels"]
    assert in_json(assay.redundancy(scores_file, "kendall").json) == printed["redundancy"]


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_folder_as_in_wmt(wmt_folder: Path, told: Told, as_frame: bool) -> None:
    people = assay.read(wmt_folder, "ratings")
    scores: Any = assay.read(wmt_folder, "scores") if as_frame else wmt_folder
    found = assay.acc23(people, scores, test=True, resamples=50)
    assert in_json(found.json) == told("acc23", wmt_folder, wmt_folder, "--test", "--resamples", 50)
    assert found.names == ["accuracy", "accuracy-tests"]
    followed = assay.correlate(scores, people, leave_out={"system": "sysC"}, resamples=50)
    words = ["--with", "human", "--leave-out", "system=sysC", "--resamples", 50]
    assert in_json(followed.json) == told("correlate", wmt_folder, *words)
    texts = assay.read(wmt_folder)
    assert set(texts["system"]) == {"sysA", "sysB", "sysC"}
    assert len(texts) == 36


def test_acc23_of_a_fixed_epsilon(wmt_folder: Path, told: Told) -> None:
    found = assay.acc23(wmt_folder, [wmt_folder], epsilon=0.5, references=True, resamples=20, seed=3)
    words = ["--epsilon", 0.5, "--references", "--resamples", 20, "--seed", 3]
    assert in_json(found.json) == told("acc23", wmt_folder, wmt_folder, *words)


def test_meta_correlate(scores_file: Path, told: Told, tmp_path: Path) -> None:
    words = ["--with", "level", "--resamples", 50, "--out", tmp_path / "correlations"]
    words[-1] = tmp_path / "correlations.json"
    assert main([*map(str, ["correlate", scores_file, *words])]) == 0
    capsys_json = told("meta-correlate", "published:cus-qa-cs", tmp_path / "correlations.json", "--seed", 5)
    from_file = assay.meta_correlate("published:cus-qa-cs", tmp_path / "correlations.json", seed=5)
    assert in_json(from_file.json) == capsys_json
    followed = assay.correlate(scores_file, "level", resamples=50)
    found = in_json(assay.meta_correlate("published:cus-qa-cs", followed, seed=5).json)
    assert {**found, "synthetic": "", "dropped": ""} == {**capsys_json, "synthetic": "", "dropped": ""}
    verdict = assay.meta_correlate("published:cus-qa-cs", followed, seed=5).verdict
    assert found["differences"] == ["language"]
    assert verdict.index("Meta-correlation") > 0, "the difference comes before the number"


def test_meta_correlate_of_scores(wmt_folder: Path, scores_file: Path, told: Told) -> None:
    scores = assay.read(scores_file, "scores")
    people = scores[scores["metric"] == "ter"][["item", "system", "level"]].drop_duplicates()
    people = people.assign(score=range(len(people), 0, -1))
    file = scores_file.parent / "people.csv"
    people.to_csv(file, index=False)
    found = in_json(assay.meta_correlate(scores, scores, ratings=people, method="pearson", resamples=20).json)
    words = ["--human", file, "--method", "pearson", "--resamples", 20]
    printed = told("meta-correlate", scores_file, scores_file, *words)
    for name in ("human", "synthetic"):  # the command names the path, a frame the file alone
        assert Path(printed.pop(name)).name == found.pop(name)
    assert found == printed


@pytest.mark.parametrize("as_frame", [False, True])
def test_calibrate(ratings_file: Path, judge_file: Path, told: Told, as_frame: bool) -> None:
    pair: Any = (ratings_file, judge_file)
    if as_frame:
        pair = (assay.read(ratings_file, "ratings"), assay.read(judge_file, "scores"))
    found = assay.calibrate(
        *pair, by=["language", "dimension"], majority="median", map="isotonic", resamples=40
    )
    words = ["--by", "language,dimension", "--majority", "median", "--map", "isotonic", "--resamples", 40]
    assert in_json(found.json) == told("calibrate", ratings_file, judge_file, *words)
    assert [one["evaluator"] for one in found.json] == ["first", "second"]
    one = assay.calibrate(*pair, columns={"first-facts": "facts"}, averaged="pooled", resamples=40)
    words = ["--columns", "first-facts=facts", "--pooled", "--resamples", 40]
    assert in_json(one.json) == told("calibrate", ratings_file, judge_file, *words)


@pytest.mark.parametrize("as_frame", [False, True])
def test_alt_test(tmp_path: Path, told: Told, as_frame: bool) -> None:
    wide = pd.DataFrame(
        {
            "item": range(30),
            **{name: [(at * k) % 5 % 3 for at in range(30)] for k, name in enumerate("abcxy", 1)},
        }
    )
    file = tmp_path / "wide.csv"
    wide.to_csv(file, index=False)
    found = assay.alt_test(wide if as_frame else file, human=["a", "b", "c"], judge=["x", "y"], resamples=40)
    words = ["--human", "a,b,c", "--judge", "x,y", "--resamples", 40]
    assert in_json(found.json) == told("alt-test", file, *words)
    scores = wide[["item", "x"]]
    people = wide.melt("item", list("abc"), "rater", "score")
    apart = assay.alt_test(people, scores, epsilon=0.1, alignment="rmse", items=[20], resamples=40)
    words = ["--human", "a,b,c", "--judge", "x", "--epsilon", 0.1, "--alignment", "rmse", "--items", 20]
    assert in_json(apart.json)["judges"] == told("alt-test", file, *words, "--resamples", 40)["judges"]


@pytest.mark.parametrize("as_frame", [False, True])
def test_agreement_and_a_check_without_a_judge(
    tmp_path: Path, told: Told, capsys: pytest.CaptureFixture[str], as_frame: bool
) -> None:
    wide = pd.DataFrame({"item": range(40), "rater_1": [at % 5 for at in range(40)], "rater_2": [at * 3 % 7 % 5 for at in range(40)]})  # fmt: skip
    file = tmp_path / "wide.csv"
    wide.to_csv(file, index=False)
    source = wide if as_frame else file
    options = ["--scale", "0-4", "--resamples", 40, "--confidence", 0.9]
    found = assay.agreement(source, scale="0-4", little=0, resamples=40, confidence=0.9)
    words = ["agreement", str(file), *map(str, options), "--little", "0", "--json"]
    main(words)
    assert in_json(found.json) == json.loads(capsys.readouterr().out)
    checked = assay.check(source, scale="0-4")
    assert checked.json["verdict"] is None
    assert checked.names == ["agreement", "agreement-pairs", "agreement-raters"]
    main(["check", str(file), "--scale", "0-4", "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert in_json(checked.json)["agreement"] == printed["agreement"]
    for wants in ({"judge": "gpt"}, {"human": "rater_1"}):
        with pytest.raises(assay.InputError):
            assay.check(source, scale="0-4", **wants)


@pytest.mark.parametrize("as_frame", [False, True])
def test_repeated_ratings_and_a_use_that_needs_a_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_frame: bool
) -> None:
    rows = [(f"q{at}", rater, at % 2) for at in range(20) for rater in ("w1", "w2")]
    long = pd.DataFrame([*rows, ("q0", "w1", 1)], columns=["item", "rater", "score"])
    file = tmp_path / "twice.csv"
    long.to_csv(file, index=False)
    source = long if as_frame else file
    with pytest.raises(assay.InputError):
        assay.agreement(source)
    for policy in ("first", "last"):
        found = assay.agreement(source, repeated=policy)
        main(["agreement", str(file), "--repeated", policy, "--json"])
        assert in_json(found.json) == json.loads(capsys.readouterr().out)
        assert assay.check(source, repeated=policy).names == found.names
    with pytest.raises(assay.InputError, match="certify"):
        assay.check(source, repeated="first", use="certify")


@pytest.mark.parametrize("as_frame", [False, True])
def test_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str], as_frame: bool) -> None:
    wide = pd.DataFrame(
        {
            "item": [f"q{at}" for at in range(12)],
            "output": [f"Text {at}." for at in range(12)],
            **{name: [(at * k) % 5 % 3 for at in range(12)] for k, name in enumerate("abx", 1)},
            "x_reason": [f"Because {at}." for at in range(12)],
        }
    )
    file = tmp_path / "wide.csv"
    wide.to_csv(file, index=False)
    words = ["check", str(file), "--human", "a,b", "--judge", "x", "--gaps", "5", "--texts", "--json"]
    assert main(words) in (3, 4)
    printed = json.loads(capsys.readouterr().out)["gaps"]
    found = assay.gaps(wide if as_frame else file, human=["a", "b"], judge="x", most=5, texts=True)
    assert in_json(found.json) == printed
    assert len(printed) == 5
    assert printed[0]["reasons"].startswith("Because")


@pytest.mark.parametrize("as_frame", [False, True])
def test_bias(tmp_path: Path, told: Told, as_frame: bool) -> None:
    cells = [
        {
            "item": f"q{at}",
            "level": level,
            "pair": pair,
            "edit": edit,
            "x": at % 3 + (edit == "padding") - at % 2 * (level == "A3"),
        }
        for at in range(20)
        for pair in ("none", "padding", "authority")
        for level, edit in (("A0", pair), ("A3", "none"))
    ]
    file, twins = tmp_path / "twins_scored.csv", tmp_path / "twins.csv"
    scored = pd.DataFrame(cells)
    scored.to_csv(file, index=False)
    texts = scored.drop(columns="x").assign(text=[f"Text {at}." for at in range(len(cells))], system="s")
    texts.to_csv(twins, index=False)
    words = ("report", "bias", file, "--limit", 0.2, "--changes", 3, "--texts", twins)
    found = assay.bias(assay.read(file, "scores") if as_frame else file, limit=0.2, changes=3, texts=twins)
    assert in_json(found.json) == told(*words)
    assert found.names == ["bias", "bias-changes"]
    assert found["bias-changes"].frame["edited"].str.startswith("Text").all()
    assert found.verdict.startswith("x is biased on 1 of 2 probes: padding")


@pytest.mark.parametrize("as_frame", [False, True])
def test_next_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str], as_frame: bool) -> None:
    wide = pd.DataFrame(
        {
            "item": [f"q{at}" for at in range(60)],
            "a": [at * 7 % 5 % 2 if at < 35 else None for at in range(60)],
            "x": [at * 3 % 4 % 2 for at in range(60)],
        }
    )
    file = tmp_path / "wide.csv"
    wide.to_csv(file, index=False)
    words = ["check", str(file), "--human", "a", "--judge", "x", "--next", "8", "--next-seed", "3", "--json"]
    assert main(words) in (3, 4)
    printed = json.loads(capsys.readouterr().out)["next"]
    found = assay.next_labels(wide if as_frame else file, human="a", judge="x", n=8, seed=3)
    assert in_json(found.json) == printed
    assert len(printed["labels"]) == 8


@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize("given", [{}, {"confidence": "sure", "against": "majority", "agreement": 0.8}])
def test_escalate(tmp_path: Path, told: Told, as_frame: bool, given: dict[str, Any]) -> None:
    wide = pd.DataFrame(
        {
            "item": [f"q{at}" for at in range(200)],
            "a": [at % 3 % 2 if at < 80 else None for at in range(200)],
            "b": [at % 3 % 2 if at < 40 else None for at in range(200)],
            "x": [at % 3 % 2 if at % 4 else 1 - at % 3 % 2 for at in range(200)],
            "sure" if given else "x_confidence": [0.5 + at % 4 / 8 for at in range(200)],
        }
    )
    back = pd.DataFrame({"item": [f"q{at}" for at in range(80, 200, 4)], "rater": "c", "score": 0})
    file, labels = tmp_path / "wide.csv", tmp_path / "back.csv"
    wide.to_csv(file, index=False)
    back.to_csv(labels, index=False)
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    printed = told("escalate", file, "--human", "a,b", "--judge", "x", "--labels", labels, *words)
    sources: Any = (wide, back) if as_frame else (file, labels)
    found = assay.escalate(sources[0], human=["a", "b"], judge="x", labels=[sources[1]], **given)
    assert in_json(found.json) == printed
    assert printed["n_back"] == 30
    assert printed["chosen"]["threshold"] == 0.625
    here, there = wide.assign(text="It is so."), back.assign(text="It was so.")
    with pytest.raises(assay.InputError):
        assay.escalate(here, human=["a", "b"], judge="x", labels=[there], **given)
    alike = assay.escalate(
        here, human=["a", "b"], judge="x", labels=[back.assign(text="It is  so.")], **given
    )
    assert alike.json["total"] == found.json["total"]


@pytest.mark.parametrize("as_frame", [False, True])
def test_corrected(tmp_path: Path, told: Told, as_frame: bool) -> None:
    rows = [
        {"item": f"q{n}", "system": s, "j": n % 5 + k, "people": float(n % 4 + k) if n < 30 else None}
        for n in range(80)
        for k, s in enumerate("AB")
    ]
    frame = pd.DataFrame(rows)
    file = tmp_path / "panel.csv"
    frame.to_csv(file, index=False)
    given: Any = frame if as_frame else file
    found = assay.corrected(given, judge="j", human="people")
    printed = told("corrected", file, "--judge", "j", "--human", "people")
    assert in_json(found.json) == printed
    assert found.names == ["corrected", "corrected-answers", "corrected-differences"]
    rate = assay.corrected(given, judge="j", human=["people"], passes=4, method="labels-only", confidence=0.9)
    words = ["--pass", 4, "--method", "labels-only", "--confidence", 0.9]
    assert in_json(rate.json) == told("corrected", file, "--judge", "j", "--human", "people", *words)
    assert rate.verdict == rate.sentences[0]


def test_study_results(demo_database: Path, told: Told, tmp_path: Path) -> None:
    words = ["study", "results", "demo", "--db", demo_database, "--resamples", 500]
    printed = told(*words)  # first: it records when results of imported votes were first shown
    found = assay.study_results("demo", db=demo_database, resamples=500)
    assert in_json(found.json) | {"after_unblinding": 0} == printed | {"after_unblinding": 0}
    assert found.json["verdict"]["value"] == "non-inferior"
    part = assay.study_results(
        "demo", db=demo_database, resamples=500, raters=["sim-1", "sim-2"], levels="A1"
    )
    narrow = told(*words, "--raters", "sim-1,sim-2", "--levels", "A1")
    assert in_json(part.json) | {"after_unblinding": 0} == narrow | {"after_unblinding": 0}
    bundle = tmp_path / "demo.zip"
    export = ["study", "export", "demo", "--format", "bundle", "--out", bundle, "--db", demo_database]
    assert main([*map(str, export)]) == 0
    assert in_json(assay.study_results(bundle, resamples=500).json)["verdict"] == found.json["verdict"]


def test_plan(demo_database: Path, told: Told) -> None:
    told("study", "results", "demo", "--db", demo_database)  # first: it records when results were first shown
    words = ["study", "plan", "--db", demo_database]
    found = assay.plan("study:demo", raters=[2, 6], levels=4, half_width=0.1, db=demo_database)
    assert in_json(found.json) == told(
        *words, "--pilot", "study:demo", "--raters", "2,6", "--levels", 4, "--half-width", 0.1
    )
    assumed = assay.plan(decided=0.4, rater_sd=0.05, mean=0.02, study="demo", questions=40, db=demo_database)
    options = ["--decided", 0.4, "--rater-sd", 0.05, "--mean", 0.02, "--study", "demo", "--questions", 40]
    assert in_json(assumed.json) == told(*words, *options)
    assert list(found["power"].frame) == ["scope", "raters", "votes", "questions", "power"]


def test_pairs(demo_database: Path, told: Told, tmp_path: Path) -> None:
    words = ["report", "pairs", "run:1", "--resamples", 300, "--db", demo_database]
    alone = assay.pairs("run:1", resamples=300, db=demo_database)
    assert in_json(alone.json) == told(*words)
    assert alone.json["votes"] is None
    assert alone.names == ["pairs", "pairs-ties", "pairs-systems"]
    found = assay.pairs("run:1", "demo", epsilon=0.1, most=3, texts=True, resamples=300, db=demo_database)
    words += ["--study", "demo", "--epsilon", 0.1]
    assert in_json(found.json) == told(*words)
    out = tmp_path / "gaps.csv"
    assert main([*map(str, [*words, "--gaps", 3, "--texts", "--table", "gaps", "--out", out])]) == 0
    written = pd.read_csv(out)
    assert found["gaps"].frame["text"].tolist() == written["text"].tolist()
    raters = assay.study_results("demo", resamples=300, db=demo_database).json
    block = found.json["votes"]["blocks"][0]
    assert block["agreement_raters"]["estimate"] == raters["raw_agreement"]["estimate"]
    assert block["agreement_raters"]["low_t"] == raters["raw_agreement"]["low_t"]


def test_study_annotations(demo_database: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.csv"
    words = ["study", "export", "demo", "--format", "csv", "--out", out, "--db", demo_database]
    assert main([*map(str, words)]) == 0
    written = pd.read_csv(out)
    found = assay.study_annotations("demo", db=demo_database)
    assert len(found) == 3 * 14 * 5
    assert list(found.columns) == list(written.columns)
    assert found["choice_decoded"].tolist() == written["choice_decoded"].tolist()
    assert found["main_analysis"].tolist() == written["main_analysis"].tolist()


def test_texts_and_scores_of_runs(tmp_path: Path) -> None:
    database = tmp_path / "assay.db"
    made = assay.damage(DEMO / "questions.jsonl", levels=[0, 5], db=database)
    scores = assay.score(made, "chrf-6-0", db=database)
    again = assay.read("run:1", db=database)
    pd.testing.assert_frame_equal(again, made)
    pd.testing.assert_frame_equal(assay.read("run:2", "scores", db=database), scores)
    # The command finds the scores that the function stored.
    out = tmp_path / "scores.csv"
    words = ["score", "run:1", "--metrics", "chrf-6-0", "--out", out, "--db", database]
    assert main([*map(str, words)]) == 0
    assert assay.read(out, "scores")["score"].tolist() == scores["score"].tolist()


def test_a_rating_study(tmp_path: Path, told: Told) -> None:
    from core.store import open_store
    from scripts import rated_demo

    database = tmp_path / "assay.db"
    with open_store(database) as store:
        token = rated_demo.study_of_marks(store)
        rated_demo.mark(store, token, range(1, 7))
        rated_demo.end(store)
    found = assay.study_results("marks", db=database, resamples=100)
    assert in_json(found.json) == told("study", "results", "marks", "--db", database, "--resamples", 100)
    answers = assay.study_annotations("marks", db=database)
    assert len(answers) == 6
    people = assay.read("study:marks", "ratings", db=database)
    overall = people[people["dimension"] == "overall"]
    assert sorted(overall["score"]) == sorted(answers["score_overall"])
    assert assay.studies(database)["task"].tolist() == ["factual-errors"]
    with pytest.raises(assay.InputError, match="raters"):
        assay.study_results("marks", db=database, raters="rater-1")


@pytest.mark.parametrize("use", ["replace", "rank", "gate", "monitor", "certify"])
def test_check(tmp_path: Path, use: Any) -> None:
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 90)
    frame = pd.DataFrame(
        {name: np.where(rng.random(90) < 0.1, rng.integers(0, 3, 90), truth) for name in "abcx"}
    )
    frame.insert(0, "id", [f"q{at // 3}" for at in range(90)])
    frame.insert(1, "system", [f"s{at % 3}" for at in range(90)])
    path, out = tmp_path / "labels.csv", tmp_path / "out.json"
    frame.to_csv(path, index=False)
    words = ["--human", "a,b,c", "--judge", "x", "--use", use, "--price", "x=2", "--currency", "EUR"]
    limits = {"target": 0.6, "passes_from": 1} if use == "certify" else {"least_responsive": 0.5}
    words += [word for name, value in limits.items() for word in (f"--{name.replace('_', '-')}", f"{value}")]
    status = main(["check", str(path), *words, "--out", str(out)])
    for source in (path, frame):
        found = assay.check(
            source, human=["a", "b", "c"], judge="x", use=use, price={"x": 2}, currency="EUR", **limits
        )
        told = json.loads(out.read_text("utf-8"))
        assert in_json(found.json) == told
        assert (found.verdict, found.sentence) == (told["verdict"], told["sentence"])
        assert status == {"TRUSTED": 0, "NOT TRUSTED": 3, "INCONCLUSIVE": 4}[found.verdict]
        names = ["check", "check-rules", "check-groups"]
        assert found.names == (["check-systems", *names] if use == "certify" else [*names, "check-systems"])
    with pytest.raises(assay.InputError, match="margin"):
        assay.check(frame, human="a", judge="x", margin=2)


def test_which_judge(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 90)
    errors = {"a": 0.1, "b": 0.1, "big": 0.05, "small": 0.1}
    frame = pd.DataFrame(
        {
            name: np.where(rng.random(90) < error, rng.integers(0, 3, 90), truth)
            for name, error in errors.items()
        }
    )
    frame.insert(0, "id", [f"q{at}" for at in range(90)])
    path, out = tmp_path / "labels.csv", tmp_path / "out.json"
    frame.to_csv(path, index=False)
    words = [
        "--human",
        "a,b",
        "--judge",
        "big,small",
        "--price",
        "big=3",
        "--price",
        "small=0.5",
        "--margin",
        "0.1",
    ]
    main(["check", str(path), *words, "--out", str(out)])
    for source in (path, frame):
        found = assay.which_judge(
            source, human=["a", "b"], judge=["big", "small"], price={"big": 3, "small": 0.5}, margin=0.1
        )
        assert in_json(found.json) == json.loads(out.read_text("utf-8"))["which"]
        assert found.names == ["which-judge", "comparisons"]
    figure = assay.plot(found, "quality", against="price_per_1000")
    assert sorted(x for trace in figure.data for x in trace.x) == [0.5, 3]
    with pytest.raises(assay.InputError, match="price: big: -1 is not at least 0"):
        assay.which_judge(frame, human="a", judge=["big", "small"], price={"big": -1})


def test_table(tmp_path: Path, told: Told) -> None:
    database = tmp_path / "assay.db"
    with open_store(database) as store:
        run = big_run(store, scored_table(12)).run_id
    found = assay.table(
        run, by=["domain", "level"], metrics=["ter", "rouge-l"], resamples=30, seed=3, db=database
    )
    words = [
        "--by",
        "domain,level",
        "--metrics",
        "ter,rouge-l",
        "--intervals",
        "--resamples",
        30,
        "--seed",
        3,
    ]
    assert in_json(found.json) == told("runs", "table", run, *words, "--db", database)
    assert found.names == ["correlations", "means"]
    assert found.verdict.startswith("rouge-l")
    assert assay.table(f"run:{run}", db=database).frame["pearson_low"].isna().all()
    for wrong in ("judge.csv", None):
        with pytest.raises(assay.InputError):
            assay.table(wrong, db=database)  # type: ignore[arg-type]
    with pytest.raises(assay.AssayError, match="There is no run 30"):
        assay.table("30", db=database)


def test_no_value_is_the_default() -> None:
    """A parameter that has a default takes None for it, whatever its type."""
    assert assay.plan(mean=None).json == assay.plan().json  # type: ignore[arg-type]
    frame = pd.read_csv(DEMO / "labels.csv")
    one, other = (
        assay.check(frame, item="row", use="gate", resamples=0, critical=critical)  # type: ignore[arg-type]
        for critical in (None, ())
    )
    assert one.json == other.json
