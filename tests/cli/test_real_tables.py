"""Tables as they are published: `correlate` and `meta-correlate` leave out, turn, and group."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main

Run = Callable[..., str]
DIMENSIONS = ("coherence", "empathy", "tone, and style")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stories of four systems, of which Human is the best by far; a distance; ratings a column a dimension, and nested."""
    monkeypatch.chdir(tmp_path)
    scores = ["item,system,level,BLEU,BaryScore-W"]
    human, nested = [f'item,system,worker_id,{DIMENSIONS[0]},{DIMENSIONS[1]},"{DIMENSIONS[2]}"'], []
    for i in range(8):
        for s, system in enumerate(("Human", "GPT", "BERT", "CTRL")):
            quality = 5 - s if s else 40
            scores.append(
                f"q{i},{system},{s},{quality + i * 0.7 % 2:.3f},{100 - quality - (i * 3) % 5 * 0.3:.3f}"
            )
            marks = [[quality + (i + k + d) % 3 for d in range(3)] for k in range(2)]
            human += [f"q{i},{system},w{k},{','.join(map(str, own))}" for k, own in enumerate(marks)]
            nested.append(
                {"id": f"q{i}", "system": system}
                | {
                    "expert_annotations": [
                        {"rater": f"w{k}", **dict(zip(DIMENSIONS, own, strict=True))}
                        for k, own in enumerate(marks)
                    ]
                }
            )
    (tmp_path / "scores.csv").write_text("\n".join(scores) + "\n")
    (tmp_path / "human.csv").write_text("\n".join(human) + "\n")
    (tmp_path / "nested.jsonl").write_text("".join(json.dumps(one) + "\n" for one in nested))
    return tmp_path


@pytest.fixture
def out(files: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*arguments: str, status: int = 0) -> str:
        capsys.readouterr()
        assert main(arguments) == status
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return said.err if status else said.out

    return command


COMMAND = ("correlate", "scores.csv", "--with", "human", "--resamples", "20", "--human")


def test_a_system_is_left_out_and_counted_everywhere(out: Run, files: Path) -> None:
    of = (*COMMAND, "human.csv", "--dimension", "coherence")
    every, without = (json.loads(out(*of, *more, "--json")) for more in ((), ("--leave-out", "system=Human")))
    assert (every[0]["n"], every[0]["left_out"]) == (32, {})
    assert (without[0]["n"], without[0]["n_left_out"]) == (24, 8)
    assert without[0]["left_out"] == {"on request: system Human": 8}
    assert every[0]["pearson"]["estimate"] > without[0]["pearson"]["estimate"] + 0.05
    printed = out(*of, "--leave-out", "system=Human", "--leave-out", "item=q3", "--out", "c.csv")
    assert "11 of 32 texts were left out on request (system Human: 8, item q3: 3)" in printed
    (row, _) = csv.DictReader(io.StringIO((files / "c.csv").read_text("utf-8")))
    assert (row["n"], row["n_left_out"]) == ("21", "11")
    assert "'Humn' is unknown; did you mean Human" in out(*of, "--leave-out", "system=Humn", status=2)
    assert "is not COLUMN=VALUE" in out(*of, "--leave-out", "Human", status=2)


def test_a_distance_is_declared(out: Run, files: Path) -> None:
    of = (*COMMAND, "human.csv", "--dimension", "coherence", "--rank", "pearson", "--redundancy", "pearson")
    before, after = (
        json.loads(out(*of, *more, "--json")) for more in ((), ("--direction", "BaryScore-W=lower"))
    )
    raw, turned = before["correlations"][1], after["correlations"][1]
    assert turned["pearson"]["estimate"] == pytest.approx(-raw["pearson"]["estimate"])
    assert (raw["direction"], turned["direction"]) == ("higher", "lower")
    assert {one["metric"]: one["direction"] for one in after["ranking"]["order"]}["BaryScore-W"] == "lower"
    assert after["redundancy"]["directions"] == ["higher", "lower"]
    assert after["redundancy"]["values"][0][1] == pytest.approx(-before["redundancy"]["values"][0][1])
    printed = out(*of, "--direction", "BaryScore-W=lower")
    assert len(re.findall(r"BaryScore-W +lower ", printed)) == 2  # of the correlations and of the ranking
    for wrong, said in (("Bary=lower", "did you mean BaryScore-W"), ("BLEU=less", "is not METRIC=lower")):
        assert said in out(*of, "--direction", wrong, status=2)
    both = ("--direction", "BLEU=lower", "--direction", "BLEU=higher")
    assert "as both lower and higher" in out(*of, *both, status=2)


def test_dimensions_count_each_and_together_in_both_forms(out: Run) -> None:
    found = [
        json.loads(out(*COMMAND, name, "--dimension", "coherence,empathy", "--json"))
        for name in ("human.csv", "nested.jsonl")
    ]
    assert found[0] == found[1]
    assert [row["group"]["dimension"] for row in found[0][::2]] == [
        "coherence",
        "empathy",
        "mean of 2 dimensions",
    ]
    (row, _) = json.loads(out(*COMMAND, "human.csv", "--dimension", DIMENSIONS[2], "--json"))
    assert "dimension" not in row["group"], "one dimension, whose name holds a comma"
    assert "did you mean empathy" in out(*COMMAND, "human.csv", "--dimension", "coherence,empaty", status=2)


def test_a_meta_correlation_leaves_out_and_turns_on_both_sides(out: Run, files: Path) -> None:
    of = ("meta-correlate", "scores.csv", "scores.csv", "--human", "human.csv", "--resamples", "0")
    of = (*of, "--dimension", "coherence,empathy", "--json")
    plain = json.loads(out(*of))
    chosen = json.loads(out(*of, "--leave-out", "system=Human", "--direction", "BaryScore-W=lower"))
    before, after = ({one["metric"]: one for one in made["points"]} for made in (plain, chosen))
    assert before["BaryScore-W"]["human"] < 0 < after["BaryScore-W"]["human"]
    assert before["BLEU"]["human"] != after["BLEU"]["human"]
    assert before["BLEU"]["synthetic"] != after["BLEU"]["synthetic"]
    assert sum("8 of 32 texts were left out on request" in note for note in chosen["notes"]) == 1
    by = ("--by", "system", "--leave-out", "system=Human")
    assert len(json.loads(out(*of, *by))["cells"]) == 3
    assert "did you mean Human" in out(*of, "--leave-out", "system=Humn", status=2)
