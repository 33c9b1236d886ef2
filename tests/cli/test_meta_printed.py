"""What `meta-correlate` prints: names of sides, what was dropped and why, and what looks wrong."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli import main
from core.formats.correlations import error_notes

Run = Callable[..., str]
METRICS = ("bleu", "rouge1", "comet", "bleurt", "ter")


def side(path: Path, values: dict[str, float]) -> str:
    path.write_text(json.dumps({name: {"spearman": value} for name, value in values.items()}))
    return path.name


def scores(path: Path) -> str:
    header = "item,level,dataset,prompt," + ",".join(f"m{k}" for k in range(5))
    rows = [
        ",".join(
            map(
                str,
                [item, level, data, prompt, *((item * k + level * (k - 2)) % 7 - level for k in range(5))],
            )
        )
        for data in ("d", "e")
        for prompt in ("one", "two")
        for item in range(4)
        for level in range(4)
    ]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path.name


def test_dropped_metrics_stand_in_one_line_a_reason(run: Run, tmp_path: Path) -> None:
    human = side(tmp_path / "h.json", {name: k / 10 for k, name in enumerate(METRICS)})
    synthetic = side(tmp_path / "c.json", {name: -k / 10 for k, name in enumerate(METRICS[:3], start=1)})
    printed = run("meta-correlate", human, synthetic, "--resamples", "0")
    assert "Human side: h.json; synthetic side: c.json" in printed.splitlines()
    assert [line for line in printed.splitlines() if line.startswith("Dropped")] == [
        "Dropped: 2 metrics (bleurt, ter): not in c.json"
    ]


def test_an_error_of_the_paper_is_told_where_it_matters(run: Run, tmp_path: Path) -> None:
    """The swapped rows of 000's Tables 4 to 7 are BERTScore's."""
    notes = error_notes("published:cus-qa-cs")
    lexical = side(tmp_path / "s.json", {"bleu-1": -0.1, "bleu-4": -0.3, "rouge-1": -0.2, "chrf-6-0": -0.4})
    printed = run("meta-correlate", "published:cus-qa-cs", lexical, "--resamples", "0")
    assert not [note for note in notes if note in printed]
    also = side(
        tmp_path / "t.json", {"bleu-1": -0.1, "bertscore-cs": -0.3, "rouge-1": -0.2, "chrf-6-0": -0.4}
    )
    printed = run("meta-correlate", "published:cus-qa-cs", also, "--resamples", "0")
    (told,) = [note for note in notes if note in printed]
    assert printed.count(told) == 1
    assert '"cs, Not Limited"' in told


def test_a_side_with_the_wrong_sign_is_pointed_out(run: Run, tmp_path: Path) -> None:
    good = side(tmp_path / "h.json", {name: 0.1 + k / 10 for k, name in enumerate(METRICS)})
    bad = side(tmp_path / "s.json", {name: 0.2 + k / 10 for k, name in enumerate(METRICS)})
    printed = run("meta-correlate", good, bad, "--resamples", "0")
    (note,) = [line for line in printed.splitlines() if "are the sides swapped?" in line]
    assert note.startswith("Note: 4 of 5 correlations of s.json are negative")


def test_a_matrix_says_what_it_is_made_of(run: Run, tmp_path: Path) -> None:
    human = side(tmp_path / "h.json", {**{f"m{k}": k / 10 for k in range(5)}, "m9": 0.1, "m8": 0.2})
    command = ("meta-correlate", human, scores(tmp_path / "s.csv"), "--by", "dataset", "--over", "prompt")
    printed = run(*command, "--method", "kendall", "--first-order", "spearman", "--resamples", "20")
    lines = printed.splitlines()
    assert [line for line in lines if line.startswith(("Human side", "Meta-correlation: "))] == [
        "Human side: h.json; synthetic side: s.csv, against the negative level",
        "Meta-correlation: Kendall of Spearman correlations; 95% intervals from resampling metrics",
    ]
    dropped = [line for line in lines if line.startswith("Note: Dropped: 2 metrics (m9, m8): not in")]
    assert dropped


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("d=h.json,e=h.json", "s.csv"),
            "names a side for each data set. Add --by dataset, or give one side",
        ),
        (("h.json", "s.csv", "--out", "m.xlsx"), "--out: m.xlsx does not end in one of"),
        (("h.json", "h.json", "--out", "h.json/m.json"), "cannot be written"),
    ],
)
def test_mistakes_are_told_before_any_work(
    arguments: tuple[str, ...], said: str, run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    side(tmp_path / "h.json", {"m1": 0.1})
    scores(tmp_path / "s.csv")
    capsys.readouterr()
    assert main(["meta-correlate", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True)


def test_a_missing_folder_of_the_output_is_made(run: Run, tmp_path: Path) -> None:
    human = side(tmp_path / "h.json", {name: k / 10 for k, name in enumerate(METRICS)})
    run("meta-correlate", human, human, "--resamples", "0", "--out", "new/deep/m.json", "--json")
    assert (tmp_path / "new" / "deep" / "m.json").exists()


def test_ratings_in_the_place_of_scores_are_named(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "people.csv").write_text("item,system,rater,score\n1,s,a,3\n2,s,a,4\n")
    (tmp_path / "scores.csv").write_text("item,system,bleu\n1,s,3\n2,s,4\n")
    assert main(["correlate", "people.csv", "--with", "human", "--human", "scores.csv"]) == 2
    assert "people.csv looks like human ratings" in capsys.readouterr().err
