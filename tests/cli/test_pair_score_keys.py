"""The JSON of `acc23`, `spans`, `report raters` and `meta-correlate` has these keys: programs read them, so none goes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.texts.json_keys import key_paths
from helpers.texts.slips import rated_texts

from core.cli import main

KEYS = Path(__file__).with_name("pair_score_keys.json")
QUICK = ("--resamples", "20", "--json")
ACC23 = ("acc23", "human.seg.score", "m.seg.score")
META = ("meta-correlate", "human.json", "damage.csv")
COMMANDS = {
    "acc23 of one": ACC23,
    "acc23 of several": (*ACC23, "n.seg.score", "--test"),
    "spans of one": ("spans", "rated.jsonl", "rated.jsonl"),
    "spans by group": ("spans", "rated.jsonl", "rated.jsonl", "--by", "severity", "--by", "system"),
    "spans of several": ("spans", "rated.jsonl", "rated.jsonl", "./rated.jsonl"),
    "spans of draws": ("spans", "rated.jsonl", "judge"),
    "raters": ("report", "raters", "rated.jsonl"),
    "meta of two sides": META,
    "meta of scores": ("meta-correlate", "people.csv", "damage.csv", "--human", "ratings.csv"),
    "meta by column": (*META, "--over", "prompt"),
}


@pytest.fixture
def files(tmp_path: Path) -> None:
    for name, apart in (("human", 3), ("m", 5), ("n", 7)):
        lines = [
            f"{system}\t{(place * apart + text) % 4}\n"
            for place, system in enumerate("ABC")
            for text in range(4)
        ]
        (tmp_path / f"{name}.seg.score").write_text("".join(lines), "utf-8")
    (tmp_path / "rated.jsonl").write_bytes(rated_texts(2))
    rows = [(item, level, prompt) for item in range(2) for level in range(5) for prompt in ("one", "two")]
    scores = [",".join(f"{-level + (level * k + item) % 3}" for k in range(1, 4)) for item, level, _ in rows]
    damage = [
        f"{item},{level},{prompt},{own}" for (item, level, prompt), own in zip(rows, scores, strict=True)
    ]
    (tmp_path / "damage.csv").write_text("\n".join(["item,level,prompt,m1,m2,m3", *damage]), "utf-8")
    people = [
        f"{item},s{level},{own}"
        for (item, level, prompt), own in zip(rows, scores, strict=True)
        if prompt == "one"
    ]
    (tmp_path / "people.csv").write_text("\n".join(["item,system,m1,m2,m3", *people]), "utf-8")
    ratings = [f"{item},s{level},{-level}" for item, level, prompt in rows if prompt == "one"]
    (tmp_path / "ratings.csv").write_text("\n".join(["item,system,score", *ratings]), "utf-8")
    correlations = {name: {"spearman": at / 10} for at, name in enumerate(("m1", "m2", "m3", "m4"), start=3)}
    (tmp_path / "human.json").write_text(json.dumps(correlations), "utf-8")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_key_is_where_it_was(name: str, run: Callable[..., str]) -> None:
    if name == "spans of draws":
        judge = ("judge", "automqm", "rated.jsonl", "--out", "judge", "--backend", "rules")
        assert main((*judge, "--repeats", "2", "--examples", "shuffled", "--n-examples", "1")) == 0
    found = json.loads(run(*COMMANDS[name], *QUICK))
    assert set(key_paths(found)) >= set(json.loads(KEYS.read_text("utf-8"))[name])
