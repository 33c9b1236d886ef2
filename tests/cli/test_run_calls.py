"""`runs show N --item ID`: what a model was asked about an item, as text and as JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.models.three_tries import THOUGHT, UNREADABLE, ThreeTries
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import LEVELS, run_to_the_end, settings, texts

from core.cli import main
from core.runs.calls import calls_of
from core.store import open_store
from core.tables.reading import printable_text

Show = Callable[..., tuple[int, str, str]]


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Show:
    """`runs show 1` with these words, on a rubric judge's run of two items with two texts each."""
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    with open_store(tmp_path / "assay.db") as store, ScriptedServer(ThreeTries()) as server:
        run_to_the_end(store, settings("rubric", server.url), texts(2, LEVELS[:2]))

    def shown(*words: str, number: str = "1") -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["runs", "show", number, *words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return shown


def report(show: Show, *words: str) -> dict[str, Any]:
    status, out, _ = show("--json", *words)
    assert status == 0
    found: dict[str, Any] = json.loads(out)
    return found


def test_an_items_calls_are_printed_whole(show: Show, tmp_path: Path) -> None:
    status, out, _ = show("--item", "q1", "--level", "A1")
    assert status == 0
    heads = [line for line in out.splitlines() if line.startswith("== ")]
    assert [head.split(":")[0] for head in heads] == [f"== rubric, attempt {n}, mills A1" for n in (1, 2, 2)]
    assert heads[1].endswith("not usable: cut off")
    lines = [line.strip() for line in out.splitlines()]
    for line in printable_text(UNREADABLE).splitlines():
        assert line.strip() in lines
    assert "\x1b" not in out
    assert THOUGHT in out
    with open_store(tmp_path / "assay.db") as store:
        for call in calls_of(store, 1, 1, [1]):
            assert call.cost in lines
            for title, text in call.parts:
                assert f"-- {title}" in lines
                assert {line.strip() for line in text.splitlines()} <= {*lines, ""}


def test_the_json_has_the_calls_of_the_texts_asked_for(show: Show) -> None:
    every = report(show, "--item", "q0")
    assert (every["run"], every["item"], every["model"], len(every["calls"])) == (1, "q0", "tiny", 6)
    some = report(show, "--item", "q0", "--system", "mills", "--level", "A0", "--step", "rubric")
    assert some["calls"] == [call for call in every["calls"] if call["texts"][0]["level"] == "A0"]
    assert [(call["attempt"], call["verdict"], call["reason"]) for call in some["calls"]] == [
        (1, "not usable", None),
        (2, "not usable", "cut off"),
        (2, "usable", None),
    ]
    assert set(every["calls"][0]) == {
        *(
            "step",
            "question",
            "attempt",
            "texts",
            "messages",
            "settings",
            "schema",
            "not_sent",
            "reply",
            "thinking",
        ),
        *(
            "verdict",
            "reason",
            "detail",
            "rejected",
            "cached",
            "input_tokens",
            "output_tokens",
            "thinking_tokens",
        ),
        "seconds",
    }


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--item", "Q-1"], ["--item", "Q-1", "q1"]),
        (["--item", "zebra"], ["--item", "zebra", "q0, q1"]),
        (["--item", "q0", "--level", "A7"], ["--level A7", "mills A0, mills A1"]),
        (["--item", "q0", "--step", "verify"], ["--step", "verify", "rubric"]),
        (["--system", "mills"], ["--system", "--item"]),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(show: Show, words: list[str], named: list[str]) -> None:
    status, out, err = show(*words)
    assert (status, out) == (2, "")
    assert [name for name in named if name not in err] == []


def test_runs_without_a_model_are_refused(show: Show, tmp_path: Path) -> None:
    with open_store(tmp_path / "assay.db") as store:
        run_to_the_end(store, settings("claims", "", backend="rules"), texts(1, LEVELS[:1]))
    (tmp_path / "texts.jsonl").write_bytes(texts(1, LEVELS[:1]))
    assert (
        main(["score", str(tmp_path / "texts.jsonl"), "--metrics", "chrf", "--out", str(tmp_path / "s.csv")])
        == 0
    )
    for number in ("2", "3"):
        status, out, err = show("--item", "q0", number=number)
        assert (status, out) == (2, "")
        assert f"run {number}" in err


def test_the_summary_counts_rejected_replies(show: Show) -> None:
    assert "8 not usable" in show()[1]
    (cost,) = report(show)["costs"]
    assert (cost["calls"], cost["unusable"]) == (12, 8)
