"""Caches of the page Metrics: nothing is read twice, and no result is mistaken for another."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.pages.generate_visit import field, press, said
from helpers.pages.metrics_visit import lines, scored, visit
from streamlit.testing.v1 import AppTest

from core.formats.mt_metrics_eval import read_folder
from core.store import Store, open_store
from core.store.kept import keep_file, kept_files
from pages.tabs import new_run
from pages.widgets import chosen_scores

pytestmark = pytest.mark.usefixtures("cookies")


def choose(at: AppTest, label: str, value: object) -> None:
    field(at, label).set_value(value)  # type: ignore[attr-defined]
    at.run()
    assert not at.exception


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[str]]:
    """A list that grows by each call of a module's function."""

    def count(module: Any, name: str) -> list[str]:
        calls: list[str] = []
        real = getattr(module, name)

        def called(*given: object, **options: object) -> object:
            calls.append(name)
            return real(*given, **options)

        monkeypatch.setattr(module, name, called)
        return calls

    return count


def test_run_1_of_another_database_is_another_run(store: Store, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.db") as other:
        for place, item in ((store, "here"), (other, "there")):
            row: dict[str, object] = {"item": item, "text": f"a mill {item}", "reference": "a mill"}
            run = scored(place, lines(row), metrics=["bleu-1"])
            assert run.run_id == 1
            scores = chosen_scores.open_scores(place, ("run", 1))
            assert scores.run == run
            assert [one.item_id for one in scores.table.rows] == [item]
            assert [one.item_id for one in chosen_scores.outputs(place, run).outputs] == [item]


def test_a_folder_is_read_again_only_when_it_changes(
    store: Store, tmp_path: Path, counted: Callable[[Any, str], list[str]]
) -> None:
    for name, text in {
        "sources/en-de.txt": "One.\n",
        "references/en-de.refA.txt": "Eins.\n",
        "system-outputs/en-de/A.txt": "Ein.\n",
    }.items():
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_text(text)
    calls = counted(new_run, "texts_of_folder")
    at = visit()
    choose(at, "From", "folder")
    choose(at, "Folder", str(tmp_path / "set"))
    assert "1 text on 1 item by A" in said(at)
    at.run()
    assert len(calls) == 1
    (tmp_path / "set" / "system-outputs" / "en-de" / "B.txt").write_text("Eine.\n")
    at.run()
    assert len(calls) == 2
    assert "2 texts on 1 item by 2 systems" in said(at)


def test_an_uploaded_file_is_read_once(store: Store, counted: Callable[[Any, str], list[str]]) -> None:
    scores = [{"item": str(n), "system": "s", "read once": n} for n in range(4)]
    file = keep_file(store, "scores", "read-once.jsonl", lines(*scores))
    calls = counted(chosen_scores, "source_ratings")
    at = visit(("file", file.file_id), "Correlations")
    at.file_uploader[0].upload("read-once.csv", b"item,system,score\n0,s,1\n1,s,2\n2,s,4\n3,s,3\n")
    at.run()
    press(at, "Keep this file")
    at.run()
    assert len(kept_files(store, "ratings")) == 1
    assert len(calls) == 1


def test_correlations_of_a_file_are_read_once(store: Store, counted: Callable[[Any, str], list[str]]) -> None:
    file = keep_file(store, "correlations", "read-once.json", b'{"a": {"spearman": 0.125}}')
    calls = counted(chosen_scores, "read_correlations")
    human = [chosen_scores.correlations_of(store, file, synthetic=False) for _ in range(2)]
    assert human[0] is human[1]
    chosen_scores.correlations_of(store, file, synthetic=True)
    assert len(calls) == 2, "the two sides read a file differently"


def test_texts_stand_behind_the_scores_of_a_run_a_file_and_a_folder(store: Store, tmp_path: Path) -> None:
    row: dict[str, object] = {"item": "1", "text": "a mill", "reference": "a mill"}
    run = scored(store, lines(row), metrics=["bleu-1"])
    scores = chosen_scores.open_scores(store, ("run", run.run_id))
    assert chosen_scores.texts_behind(store, scores).at(0).text == "a mill"

    with_texts = keep_file(store, "scores", "a.csv", b"item,system,text,bleu\n1,a,One,0.5\n")
    without = keep_file(store, "scores", "b.csv", b"item,system,bleu\n1,a,0.5\n")
    torn = keep_file(
        store, "scores", "c.csv", b"item,system,metric,score,text\n1,a,bleu,1,x\n1,a,chrf,2,y\n2,a,bleu,3,z\n"
    )
    found = [
        chosen_scores.texts_behind(store, chosen_scores.open_scores(store, ("file", file.file_id))).at(0)
        for file in (with_texts, without, torn)
    ]
    assert [(one.text, bool(one.reason)) for one in found] == [("One", False), (None, True), (None, True)]
    assert "line 3" in found[2].reason

    for name, text in {
        "sources/en-de.txt": "One.\nTwo.\n",
        "references/en-de.refA.txt": "Eins.\nZwei.\n",
        "system-outputs/en-de/A.txt": "Ein.\nZwo.\n",
        "metric-scores/en-de/BLEU-refA.seg.score": "A\t0.5\nA\t0.25\n",
    }.items():
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_text(text)
    kept = chosen_scores.keep(store, "set", read_folder(tmp_path / "set"))
    scores = chosen_scores.open_scores(store, ("file", kept.file_id))
    one = chosen_scores.texts_behind(store, scores).at(1)
    assert (one.source, one.reference, one.text, one.language) == ("Two.", "Zwei.", "Zwo.", "de")
