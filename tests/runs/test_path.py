"""The way of every run, whatever its kind: created, found again, resumed; its file read once, its settings checked once."""

import json
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers.texts.judge_runs import create_told, pairs, settings, texts, worked
from helpers.texts.slips import rated_texts

from core.cli import main
from core.errors import InputError
from core.formats.registry import read_questions, read_rated, read_texts
from core.judges.alignment import MarkedError, MarkedText, Mismatch
from core.judges.answers import QuestionSet
from core.judges.questions import CrossQuestion
from core.judges.twins import plan_twins
from core.metrics import kind as metrics
from core.runs.asked import Asked, Running, ask, asked_of
from core.runs.jobs import RunAtHand
from core.runs.kinds import KINDS
from core.runs.path import PATHS, create, find_same, resume, run_report, saved_run
from core.runs.progress import progress_of
from core.runs.records import read_pieces, write_pieces
from core.schema.runs import Kind
from core.schema.scores import ScoredRow
from core.schema.settings import Settings, SettingsError
from core.store import Store
from core.store.runs import claim_run, list_runs, run_data

URL = "http://127.0.0.1:1/v1"
ROW = ScoredRow("1", "s", "A1", "en")
FILES: dict[str, bytes] = {
    "questions": b"item_id,question,reference\n1,Who?,Ann built 2 mills in 1901.\n2,Where?,In Delft in 1902.\n",
    "texts": texts(2),
    "pairs": pairs(2),
    "rated texts": rated_texts(2),
    "questions asked": write_pieces(
        QuestionSet(replace(ROW, item_id=item), "text", "a", "It burned.", (CrossQuestion("Did it burn?"),))
        for item in "12"
    ),
    "marked texts": write_pieces(
        MarkedText(
            replace(ROW, item_id=item),
            "In 1907.",
            "In 1906.",
            (Mismatch("text", "In 1907?", "YES", "NO"),),
            (MarkedError("1907", "major", "accuracy"),),
        )
        for item in "12"
    ),
    "pairs of levels": write_pieces(plan_twins(read_texts(texts(2), "t.jsonl")).twins),
}
NAMES = {"questions": "q.csv"}
# A big table is read from its own file, in chunks: see test_scoring_big_tables.
READ_WHOLE = [kind for kind in KINDS.values() if kind.work != "tables"]
ALL = pytest.mark.parametrize("kind", READ_WHOLE, ids=[kind.name for kind in READ_WHOLE])


def asked_for(kind: Kind) -> Asked:
    if kind is metrics.KIND:
        return ask(kind, {"metrics": ("bleu-4",)}, {}, {})[0]
    return settings(kind.name, URL)


def made(store: Store, kind: Kind, limit: int | None = None) -> RunAtHand:
    running = (kind.Running or Running)()
    return create(
        store, FILES[kind.reads], NAMES.get(kind.reads, "t.jsonl"), asked_for(kind), running, limit
    )[0]


@ALL
def test_a_run_waits_with_all_that_it_needs(kind: Kind, store: Store) -> None:
    run = made(store, kind, limit=9)
    saved = run.run
    assert (saved.kind, saved.state, saved.n_items, saved.limit) == (kind.name, "waiting", 2, 2)
    again = saved_run(store, saved.run_id)
    assert (again.run, again.kind, again.path) == (saved, kind, PATHS[kind.work])
    assert (again.request, again.running) == (run.request, run.running)
    assert len(again.items) == len(run.items) == 2
    assert again.contents == run.contents
    assert again.metrics == run.metrics
    assert bool(again.metrics) == (kind.work in ("scores", "judging"))
    assert again.path.job(again).item_ids == run.path.job(run).item_ids
    report = run_report(again, progress_of(store, saved.run_id))
    assert (report["kind"], report["items"], report["state"]) == (kind.name, 2, "waiting")
    json.dumps(report)


@ALL
def test_nothing_is_read_before_it_is_needed_and_nothing_twice(
    kind: Kind, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made(store, kind)
    calls: Counter[str] = Counter()
    counted(monkeypatch, calls, run_data, asked_of)
    again = saved_run(store, run.run.run_id)
    assert calls == {}
    assert [again.kind, again.kind, again.request.kind] == [kind] * 3
    assert again.fields
    assert calls == {"asked_of": 1}
    assert again.contents is again.contents
    assert calls == {"asked_of": 1, "run_data": 1}


@ALL
def test_nothing_is_kept_where_something_is_wrong(kind: Kind, store: Store) -> None:
    with pytest.raises(InputError):
        create(store, b'{"x": 1}\n', "t.jsonl", asked_for(kind), (kind.Running or Running)())
    with pytest.raises(SettingsError) as refused:
        made(store, kind, limit=0)
    assert [one.name for one in refused.value.found_in] == ["limit"]
    assert list_runs(store) == []


def test_a_limit_is_refused_before_a_long_file_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("read")

    monkeypatch.setattr(type(PATHS["judging"]), "read", never)
    with pytest.raises(SettingsError):
        create(store, texts(1), "t.jsonl", settings("rubric", URL), Running(), 0)


def test_a_run_kept_before_a_field_was_there_is_found_again(store: Store) -> None:
    kind = KINDS["factual"]
    run = made(store, kind).run
    older = {name: value for name, value in run.settings["factual"].items() if name != "planning"}  # type: ignore[attr-defined]
    settings_then = json.dumps(run.settings | {"factual": older})
    with sqlite3.connect(store.path) as database:
        assert database.execute("UPDATE run SET settings = ?", [settings_then]).rowcount == 1
    assert find_same(store, FILES[kind.reads], asked_for(kind)).run.run_id == run.run_id


@ALL
def test_the_newest_run_of_the_same_is_found(kind: Kind, store: Store) -> None:
    made(store, kind)
    newest = made(store, kind, limit=1)
    data, asked = FILES[kind.reads], asked_for(kind)
    assert find_same(store, data, asked).run == newest.run
    others = [(data + b"\n", asked)]
    if kind.work != "scores":  # their columns have names of their own
        others.append((data, replace(asked, name="another")))
        if not asked.by_rules:
            others.append((data, replace(asked, model=asked.model.but(attempts=9))))
    for other_data, other in others:
        with pytest.raises(InputError, match="no run of this file with these settings"):
            find_same(store, other_data, other)


def test_prompts_and_files_are_part_of_what_was_asked_for(store: Store) -> None:
    asked = settings("rubric", URL)
    create(store, texts(1), "t.jsonl", asked, Running())
    longer = {name: text.replace("user:", "user:  ", 1) + "\n" for name, text in asked.prompts.items()}
    for other in (replace(asked, prompts=longer), replace(asked, attached=f"{asked.attached}\n")):
        with pytest.raises(InputError, match="no run of this file"):
            find_same(store, texts(1), other)
    other_way = create(store, texts(1), "t.jsonl", asked, Running(concurrency=1))[0]
    assert find_same(store, texts(1), asked).run == other_way.run, "how a run is worked on changes no answer"


def test_a_run_goes_on_otherwise_and_further(store: Store) -> None:
    run, _ = create_told(store, texts(4), "t.jsonl", settings("claims", "", backend="rules"), limit=2)
    assert progress_of(store, worked(run).run.run_id).n_done == 2
    with pytest.raises(SettingsError) as refused:
        resume(run, None, 1)
    (problem,) = refused.value.found_in
    assert (problem.name, problem.values["n"]) == ("limit", 1)
    assert "already processed 2 items" in str(refused.value)
    running = Running(concurrency=3, input_price=1.5)
    assert resume(run, running, 3) is run
    assert (run.running, run.run.limit) == (running, 3)
    assert resume(run, None, 99).run.limit == 4
    assert run.running == running, "as it was, unless something else is said"
    assert resume(run, None, None).run.limit is None
    assert progress_of(store, worked(run).run.run_id).n_done == 4
    claim_run(store, run.run.run_id, os.getppid())
    with pytest.raises(InputError, match=f"Process {os.getppid()} is working on run"):
        resume(run.now(), None, None)


def counted(monkeypatch: pytest.MonkeyPatch, calls: Counter[str], *functions: Callable[..., Any]) -> None:
    """Count calls of functions, in every module that has them."""

    def counting(name: str, function: Callable[..., Any], *given: Any, **more: Any) -> Any:
        calls[name] += 1
        return function(*given, **more)

    for module in [one for name, one in sys.modules.items() if name.startswith("core.")]:
        for name, value in [*vars(module).items()]:
            if any(value is function for function in functions):
                monkeypatch.setattr(module, name, partial(counting, name, value))


ALONE = [kind for kind in READ_WHOLE if kind.Settings.MODEL_FREE and kind.work != "audit"]
"""Those that neither ask a model nor read what another judge wrote."""


@pytest.mark.parametrize("kind", ALONE, ids=[kind.name for kind in ALONE])
def test_a_command_reads_its_file_once_and_checks_its_settings_once(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: Counter[str] = Counter()
    counted(monkeypatch, calls, read_texts, read_rated, read_questions, read_pieces)
    whole = Settings.model_validate.__func__  # type: ignore[attr-defined]  # of the class method

    def validate(model: type[Settings], *given: Any, **more: Any) -> Any:
        calls[model.__name__] += 1
        return whole(model, *given, **more)

    monkeypatch.setattr(Settings, "model_validate", classmethod(validate))
    path = tmp_path / NAMES.get(kind.reads, "t.jsonl")
    path.write_bytes(FILES[kind.reads])
    noun = {"generation": ["generate", kind.verb or kind.name], "scores": ["score"]}.get(
        kind.work, ["judge", kind.verb or kind.name]
    )
    more = [] if kind.work == "scores" else ["--backend", "rules"]
    out = tmp_path / ("scores.csv" if kind.work == "scores" else "out")
    where = ["--out", str(out), "--db", str(tmp_path / "assay.db")]
    assert main([*noun, str(path), *more, *where]) == 0
    assert calls[kind.Settings.__name__] == 1
    read = {name: n for name, n in calls.items() if name.startswith("read_")}
    assert list(read.values()) == [1], read
    calls.clear()
    assert main(["runs", "write", "1", "--out", str(tmp_path / "again"), *where[2:]]) == 0
    assert calls[kind.Settings.__name__] == 1
    read = {name: n for name, n in calls.items() if name.startswith("read_")}
    assert set(read.values()) <= {1}, read
