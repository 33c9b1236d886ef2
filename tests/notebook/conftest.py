"""Inputs of the functions for notebooks: a demo study with simulated votes, scores, ratings, a folder as in WMT."""

import json
import random
from pathlib import Path

import pytest
from helpers.texts import judge_runs

from core.cli import main
from core.sources.texts import pairs_of_study
from core.store import open_store
from core.store.studies import find_study

ROOT = Path(__file__).resolve().parents[2]
_VOTES = {"AI": 35, "Expert": 15, "Both are good": 40, "Both are bad": 10}
"""Vote -> chance in percent."""


@pytest.fixture(scope="session")
def demo_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the study `demo`: random votes of three raters on the demo answers; and a judge of its pairs, run 1."""
    folder = tmp_path_factory.mktemp("demo")
    database = folder / "assay.db"
    answers = str(ROOT / "data" / "demo" / "answers.csv")
    roles = ["--candidate", "pipeline", "--comparator", "handwritten", "--seed", "1"]
    run("study", "import", answers, "--name", "demo", *roles, "--db", str(database))
    draw = random.Random(22)
    for rater in ("sim-1", "sim-2", "sim-3"):
        votes = {
            f"d{item:02}": {f"A{level}": draw.choices([*_VOTES], [*_VOTES.values()])[0] for level in range(5)}
            for item in range(1, 15)
        }
        (folder / f"{rater}.json").write_text(json.dumps(votes), "utf-8")
        run(
            "study",
            "votes",
            "demo",
            "--rater",
            rater,
            str(folder / f"{rater}.json"),
            "--db",
            str(database),
        )
    with judge_runs.judging_server() as server, open_store(database) as store:
        data, name = pairs_of_study(store, find_study(store, "demo"))
        judge_runs.run_to_the_end(store, judge_runs.settings("pairwise", server.url), data, name=name)
    return database


def run(*words: str) -> None:
    assert main(words) == 0


SYSTEMS = {"sysA": 0.1, "sysB": 0.4, "sysC": 0.8, "refA": 0.0}
"""System -> size of its errors."""


@pytest.fixture(scope="session")
def wmt_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in the layout of mt-metrics-eval: 12 segments, 3 systems and a reference, mqm, two metrics."""
    folder = tmp_path_factory.mktemp("wmt")
    draw = random.Random(3)
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    sources = [f"Satz {number}" for number in range(12)]
    texts = {name: [" ".join(draw.choices(words, k=8)) for _ in sources] for name in SYSTEMS}
    mqm = {
        name: [-round(size * 10 * draw.random(), 1) for _ in sources]
        for name, size in SYSTEMS.items()
        if name != "refA"
    }

    def write(name: str, lines: list[str]) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines), "utf-8")

    write("sources/en-de.txt", sources)
    write("documents/en-de.docs", ["news\tdoc"] * len(sources))
    write("references/en-de.refA.txt", texts["refA"])
    for name, lines in texts.items():
        write(f"system-outputs/en-de/{name}.txt", lines)
    write("human-scores/en-de.mqm.seg.score", [f"{name}\t{one}" for name, own in mqm.items() for one in own])
    for metric, noise in (("good", 1.0), ("poor", 6.0)):
        scores = [f"{name}\t{one + noise * draw.random()}" for name, own in mqm.items() for one in own]
        scores += [f"refA\t{draw.random()}" for _ in sources]
        write(f"metric-scores/en-de/{metric}-refA.seg.score", scores)
    return folder


@pytest.fixture
def ratings_file(tmp_path: Path) -> Path:
    """Ratings of 12 texts by three raters in two languages, on two dimensions, with a missing one."""
    draw = random.Random(5)
    lines = ["item_id,system,language,rater,dimension,score"]
    for item in range(12):
        quality = draw.choice([0, 1, 2])
        for rater in "abc":
            for dimension in ("facts", "style"):
                score = min(2, max(0, quality + draw.choice([0, 0, 0, 1, -1])))
                cell = "" if (item, rater, dimension) == (3, "b", "style") else score
                lines.append(f"{item:03},m,{'en' if item < 8 else 'de'},{rater},{dimension},{cell}")
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def judge_file(tmp_path: Path) -> Path:
    """Scores of two judges on these texts, wide; one is undefined."""
    draw = random.Random(6)
    lines = ["item_id,system,language,first-facts,first-style,second-facts,second-style"]
    for item in range(12):
        scores = [str(draw.choice([0, 1, 2])) for _ in range(4)]
        lines.append(
            f"{item:03},m,{'en' if item < 8 else 'de'},{','.join(scores if item else ['', *scores[1:]])}"
        )
    path = tmp_path / "judges.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path
