"""`escalate`: thresholds from every source of confidence, a study of the other texts, its labels, and what is refused."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.factories import always, dataset, study_in, vote
from helpers.texts.factories import unblind as unblind_pairs
from helpers.texts.judge_runs import texts, two_models
from helpers.texts.rating_studies import RatingStudyAtHand

from core.cli import main
from core.formats.registry import read_scores
from core.schema.scores import PROBABILITY
from core.schema.study import NO_LEVEL
from core.store import open_store
from core.store.studies import find_study, inclusion_of
from core.study.lifecycle import move
from core.study.raters import add_raters

NO_THRESHOLD, BAD = 4, 2
N, N_LABELLED = 300, 120


@pytest.fixture
def run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Run `escalate` in a folder with a table; status, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "assay.db"))
    rng = np.random.default_rng(4)
    lines = ["item_id,question,answer,human,judge,judge_2,judge_3,judge_confidence,p,y"]
    for at in range(N):
        sure = rng.random() < 2 / 3
        verdict = _truth(at) if sure or rng.random() < 0.5 else not _truth(at)
        others = (verdict, verdict if sure else not verdict)
        cells = [_word(one) for one in (verdict, *others)]
        distance = 0.4 if sure else 0.1
        score = 0.5 + distance if verdict else 0.5 - distance
        label = _word(_truth(at)) if at < N_LABELLED else ""
        lines.append(
            f"q{at},What is {at}?,It is {at}.,{label},{','.join(cells)},{1 if sure else 0.6},{score:.1f},{int(_truth(at)) if label else ''}"
        )
    Path("zq.csv").write_text("\n".join(lines) + "\n")

    def command(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["escalate", *words])
        out, err = capsys.readouterr()
        return status, out, err

    return command


ONE = ("zq.csv", "--human", "human", "--judge", "judge")


def _truth(at: int) -> bool:
    return at * 7 % 10 < 6


def _word(passes: bool) -> str:
    return "pass" if passes else "fail"


def _json(found: tuple[int, str, str]) -> dict[str, Any]:
    status, out, err = found
    assert status in (0, NO_THRESHOLD), err
    told: dict[str, Any] = json.loads(out)
    assert (told["chosen"] is None) is (status == NO_THRESHOLD)
    return told


def test_every_source_of_confidence_finds_the_same_texts(run: Callable[..., Any]) -> None:
    by_name = _json(run(*ONE, "--json"))
    assert by_name["chosen"]["threshold"] == 1
    assert by_name["n_sent"] + by_name["n_kept_unlabelled"] == N - N_LABELLED
    kept = {name: by_name[name] for name in ("n_sent", "n_kept_unlabelled", "total")}
    judges = _json(run("zq.csv", "--human", "human", "--judge", "judge,judge_2,judge_3", "--json"))
    assert judges["chosen"]["threshold"] == 1
    by_cut = _json(run("zq.csv", "--human", "y", "--judge", "p", "--cut", "0.5", "--json"))
    assert by_cut["chosen"]["threshold"] == pytest.approx(0.4)
    Path("conf.csv").write_text(
        "\n".join(
            ["item_id,sureness"]
            + [
                f"{row['item_id']},{row['judge_confidence']}"
                for row in csv.DictReader(Path("zq.csv").read_text().splitlines())
            ]
        )
    )
    assert by_name == _json(run(*ONE, "--confidence", "judge_confidence", "--json"))
    for found in (judges, by_cut):
        mine = {name: found[name] for name in kept}
        assert mine | {"total": mine["total"] | {"what": ""}} == kept | {
            "total": kept["total"] | {"what": ""}
        }


def test_no_threshold_has_its_own_status(run: Callable[..., Any]) -> None:
    found = run(*ONE, "--agreement", "0.999", "--json")
    assert found[0] == NO_THRESHOLD
    assert _json(found)["missing"]
    assert _json(run(*ONE, "--start", "119", "--json"))["chosen"] is None


def test_files_hold_every_table(run: Callable[..., Any]) -> None:
    status, _, _ = run(*ONE, "--out", "texts.csv", "--table", "escalate-texts")
    assert status == 0
    rows = list(csv.DictReader(Path("texts.csv").read_text("utf-8-sig").splitlines()))
    assert len(rows) == N
    assert {row["decided_by"] for row in rows} == {"judge", "people", "for people"}


def _rated(path: Path, name: str) -> None:
    """A rater rates every text of the study truly, and it is unblinded."""
    with open_store(path) as store:
        study = find_study(store, name)
        add_raters(store, study, ["A"])
        move(store, study, "open")
        desk = RatingStudyAtHand(store, study.study_id).desk("A")
        (label,) = desk.task.dimensions
        values = {word: value for value, word in label.anchors}
        for number in range(1, desk.total + 1):
            at = int(desk.text(number).text.removeprefix("It is ").rstrip("."))
            desk.save_scores(number, {label.name: values[_word(_truth(at))]})
            desk.complete(number, seconds=5)
        move(store, study, "closed")
        move(store, study, "unblinded", "done")


def test_the_loop_by_a_study(run: Callable[..., Any], tmp_path: Path) -> None:
    before = _json(run(*ONE, "--json"))
    status, out, _ = run(*ONE, "--study", "rest", "--send", "25", "--audit", "30")
    assert status == 0
    assert "study:rest" in out
    with open_store(tmp_path / "assay.db") as store:
        drawn = inclusion_of(store, find_study(store, "rest").study_id)
    assert sorted(round(one.probability, 6) for one in drawn) == sorted(
        [round(25 / before["n_sent"], 6)] * 25 + [round(30 / before["n_kept_unlabelled"], 6)] * 30
    )
    assert not any(int(one.item_id[1:]) < N_LABELLED for one in drawn)
    _rated(tmp_path / "assay.db", "rest")
    after = _json(run(*ONE, "--labels", "study:rest", "--json"))
    assert after["thresholds"] == before["thresholds"]
    assert (after["n_back"], after["n_audited"]) == (25, 30)
    assert after["total"]["n_kept_labelled"] == 30
    true = sum(map(_truth, range(N))) / N
    assert after["total"]["low"] <= true <= after["total"]["high"]
    main(["study", "export", "rest", "--format", "csv", "--out", "back.csv"])
    assert PROBABILITY in Path("back.csv").read_text("utf-8-sig").splitlines()[0]
    again = _json(run(*ONE, "--labels", "back.csv", "--json"))
    assert again["total"] == after["total"]


def test_second_labels_of_labelled_texts_move_nothing(run: Callable[..., Any]) -> None:
    before = _json(run(*ONE, "--json"))
    lines = [f"q{at},zoe,{_word(not _truth(at))}" for at in range(N_LABELLED)]
    Path("second.csv").write_text("\n".join(["item_id,rater,label", *lines]) + "\n")
    after = _json(run(*ONE, "--labels", "second.csv", "--json"))
    assert (after["thresholds"], after["total"]) == (before["thresholds"], before["total"])
    assert any(f"{N_LABELLED:,} texts are not used" in note for note in after["notes"])


def test_labels_of_changed_texts_are_refused(run: Callable[..., Any]) -> None:
    def back(text: str, column: str = "answer") -> tuple[int, str, str]:
        lines = [f"q{at},{text.format(at)},zoe,{_word(_truth(at))}" for at in range(N_LABELLED, N)]
        Path("back.csv").write_text("\n".join([f"item_id,{column},rater,label", *lines]) + "\n")
        return run(*ONE, "--labels", "back.csv", "--json")  # type: ignore[no-any-return]

    same = _json(back("It  is {}. "))
    status, out, err = back("It was {}.")
    assert (status, out) == (BAD, "")
    assert all(part in err for part in ("back.csv", "zq.csv", "q120", f"{N - N_LABELLED - 3} more"))
    assert _json(back("It was {}.", "remark"))["total"] == same["total"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--agreement", "1"), "--agreement"),
        (("--delta", "0.5"), "--delta"),
        (("--send", "5"), "--send"),
        (("--audit", "5"), "--audit"),
        (("--study", "x", "--send", "0"), "--send"),
        (("--cut", "1", "--confidence", "p"), "--cut"),
        (("--confidence", "nothing"), "--confidence"),
        (("--confidence", "repeats"), "--confidence"),
        (("--confidence", "margin"), "--confidence"),
        (("--confidence", "judges"), "--judge"),
        (("--confidence", "question"), "line 2"),
    ],
)
def test_what_is_refused(run: Callable[..., Any], words: tuple[str, ...], part: str) -> None:
    status, out, err = run(*ONE, *words)
    assert (status, out) == (BAD, "")
    assert part in err


def test_scores_that_are_no_classes_need_a_cut(run: Callable[..., Any]) -> None:
    status, _, err = run("zq.csv", "--human", "y", "--judge", "p", "--confidence", "judge_confidence")
    assert status == BAD
    assert "--cut" in err


def test_without_any_confidence_the_ways_are_named(run: Callable[..., Any]) -> None:
    Path("bare.csv").write_text("item,human,judge\nq1,1,1\nq2,0,0\n")
    status, _, err = run("bare.csv")
    assert status == BAD
    assert all(word in err for word in ("--confidence", "--judge", "--cut", "run:N"))


def test_repeats_of_a_run(run: Callable[..., Any], tmp_path: Path) -> None:
    Path("mills.jsonl").write_bytes(texts(5))
    with ScriptedServer(two_models) as server:
        model = ["--backend", "openai", "--model", "tiny", "--base-url", server.url]
        more = ["--repeats", "2", "--out", "rubric"]
        assert main(["judge", "rubric", "mills.jsonl", *model, *more]) == 0
    table = read_scores(Path("rubric/scores.csv").read_bytes(), "scores.csv")
    lines = [
        f"{row.item_id},{row.system},{row.level},R1,{score:g}"
        for row, (score,) in zip(table.rows, table.values.tolist(), strict=True)
    ]
    Path("people.csv").write_text("\n".join(["item_id,system,level,rater,score", *lines]) + "\n")
    for judge in ("run:1", "rubric"):
        found = _json(run("people.csv", judge, "--json"))
        assert found["confidence"] == "share of 2 equal answers"
        (step,) = found["thresholds"]
        assert (step["threshold"], step["agreement"], step["n"], step["n_items"]) == (1, 1, 25, 5)
        assert found["chosen"] is None  # 25 texts of 5 items are too few


def test_votes_on_pairs(run: Callable[..., Any], tmp_path: Path) -> None:
    data = dataset(30, (NO_LEVEL,))
    with open_store(tmp_path / "assay.db") as store:
        study = study_in(store, data, raters=("R1",))
        vote(store, study.tokens["R1"], always("left"))
        unblind_pairs(study)
    rows = [f"{one.item_id},{one.level},{one.source},{at % 5}" for at, one in enumerate(data.outputs)]
    Path("judge.csv").write_text("item_id,level,system,judge\n" + "\n".join(rows) + "\n")
    found = _json(run("study:study", "judge.csv", "--json"))
    assert found["confidence"] == "distance of the pair's margin from where the vote changes"
    assert found["n_labelled"] == 30
    scored: dict[str, list[int]] = {}
    for at, one in enumerate(data.outputs):
        scored.setdefault(one.item_id, []).append(at % 5)
    margins = [abs(one - another) for one, another in scored.values()]
    assert [(step["threshold"], step["n"]) for step in found["thresholds"]] == [
        (margin, sum(other >= margin for other in margins)) for margin in sorted(set(margins), reverse=True)
    ]
    assert run("study:study", "judge.csv", "--confidence", "repeats")[0] == BAD
