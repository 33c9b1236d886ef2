"""Scoring runs over big tables: the same scores as an ordinary run, in chunks that survive whatever ends the process."""

import json
import random
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from helpers.processes.killed_run import kill_in_the_middle, run_to_the_end
from helpers.toys.scorer import BREAKS, open_toy

from core.cli import main
from core.errors import InputError, NotAllowed, StorageError
from core.formats.registry import read_scores
from core.metrics.kind import KIND, TABLE_KIND, ScoringRunning
from core.metrics.parts import ThreadPart
from core.runs.asked import ask
from core.runs.path import create
from core.runs.progress import progress_of
from core.runs.scoring import score_table
from core.runs.tables import big_table
from core.runs.tables.job import TableJob
from core.runs.tables.scored import table_scores, write_table
from core.runs.working.worker import work
from core.schema import big_tables
from core.schema.big_tables import ABOUT_COLUMNS, LABELS, REASONS, TEXTS_FILE, part_name
from core.schema.scores import mask_named
from core.scratch import PREFIX
from core.store import Store, open_store
from core.store.beside import PARTIAL, files_in, new_folder, run_folder
from core.store.places import folders_of
from core.store.runs import list_runs, run_data, run_items

WORDS = ["the", "old", "mill", "by", "a", "red", "house", "near", "the", "sea"]
N_TEXTS, CHUNK = 150, 40
N_CHUNKS = 4
SMALL = f"""
from core.metrics import kind
from core.schema import big_tables
big_tables.BIG_ROWS, big_tables.CHUNK_ROWS, kind.TEXTS_PER_WORKER = 100, {CHUNK}, 50
"""
"""For a process of its own."""
Run = Callable[..., str]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is big from 101 rows on."""
    monkeypatch.setattr(big_tables, "BIG_ROWS", 100)
    monkeypatch.setattr(big_tables, "CHUNK_ROWS", CHUNK)


def texts(folder: Path, n_texts: int = N_TEXTS) -> Path:
    """Three levels of each item: some without words, some without a reference, with a label whose values are numbers."""
    draw = random.Random(3)
    path = folder / "texts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for n in range(n_texts):
            row = {
                "item_id": f"q{n // 3}",
                "system": "=one",
                "level": f"A{n % 3}",
                "text": " ".join(draw.choices(WORDS, k=6)) if n % 7 else "",
                "dataset": draw.choice(["1", "b"]),
            }
            if n % 31:
                row["reference"] = " ".join(WORDS[n // 3 % 9 :])
            file.write(json.dumps(row) + "\n")
    return path


@pytest.fixture
def score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that must succeed on a database of its own; returns what it says."""

    def command(*arguments: str, db: str = "assay.db", status: int = 0) -> str:
        capsys.readouterr()
        assert main([*arguments, "--db", str(tmp_path / db)]) == status
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return said.out if status == 0 else said.err

    return command


def made(store: Store, file: Path, metrics: Sequence[str] = ("bleu-1", "chrf-6-2")) -> Any:
    """A new run over a big table."""
    table = big_table(file)
    assert table is not None
    asked, running = ask(KIND, {"metrics": tuple(metrics)}, {}, {})
    return create(store, table, file.name, asked, running)[0]


def worked(run: Any, job: TableJob | None = None) -> Any:
    """The run after its work."""
    work(run.store, run.run.run_id, lambda claimed: job or run.path.job(run.claimed(claimed)))
    return run.now()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("shape", ["long", "wide"])
def test_the_files_are_those_of_an_ordinary_run(
    shape: str, tmp_path: Path, score: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = texts(tmp_path)
    for end in ("csv", "jsonl", "parquet"):
        arguments = ("score", str(file), "--shape", shape, "--metrics", "bleu-1,chrf-6-2,rouge-4")
        said = score(*arguments, "--out", str(tmp_path / f"big.{end}"))
        with monkeypatch.context() as ordinary:
            ordinary.setattr(big_tables, "BIG_ROWS", 100_000)
            before = score(*arguments, "--out", str(tmp_path / f"small.{end}"), db="ordinary.db")
        big, small = (tmp_path / f"{name}.{end}" for name in ("big", "small"))
        undefined = [line for line in said.splitlines() if line.startswith("  ")]
        assert undefined == [line for line in before.splitlines() if line.startswith("  ")]
        if end != "parquet":
            assert big.read_bytes() == small.read_bytes()
            continue
        found, expected = (read_scores(path.read_bytes(), path.name) for path in (big, small))
        assert (found.rows, found.metrics, found.reasons) == (
            expected.rows,
            expected.metrics,
            expected.reasons,
        )
        np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.usefixtures("small")
def test_the_folder_has_all_and_the_database_nothing(tmp_path: Path, store: Store) -> None:
    run = worked(made(store, texts(tmp_path)))
    assert (run.run.kind, run.run.state, run.run.n_items) == (TABLE_KIND.name, "done", N_CHUNKS)
    assert run_data(store, run.run.run_id) == b""
    folder = run_folder(store, run.run.run_id)
    items = list(run_items(store, run.run.run_id))
    assert sorted(path.name for path in folder.iterdir()) == [*map(part_name, range(N_CHUNKS)), TEXTS_FILE]
    assert [item.result["part"] for item in items] == [*map(part_name, range(N_CHUNKS))]
    assert [item.item_id for item in items] == ["rows 1-40", "rows 41-80", "rows 81-120", "rows 121-150"]
    assert {key for item in items for key in item.result} == {
        "part",
        "rows",
        "undefined",
        "range",
        "most",
        "steps",
    }
    written = pyarrow.parquet.read_table(folder / part_name(3))
    assert written.column_names == [*ABOUT_COLUMNS, LABELS, "bleu-1", "chrf-6-2", REASONS]
    assert written["row"].to_pylist() == list(range(120, 150))
    for name in ("bleu-1", "chrf-6-2"):
        counted = sum(items[3].result["undefined"].get(name, {}).values())
        assert written[name].null_count == counted > 0
        known = [value for value in written[name].to_pylist() if value is not None]
        assert items[3].result["range"][name] == [min(known), max(known)]
    reasons = [json.loads(one) if one else {} for one in written[REASONS].to_pylist()]
    assert [value is None for value in written["bleu-1"].to_pylist()] == ["bleu-1" in one for one in reasons]
    (cost,) = progress_of(store, run.run.run_id).costs
    assert (cost.step, cost.calls + cost.cached) == ("lexical", N_TEXTS)
    assert cost.cached > 0, "equal texts of a chunk are scored once"


@pytest.mark.usefixtures("small")
def test_a_run_goes_on_where_it_was(tmp_path: Path, score: Run) -> None:
    file = texts(tmp_path)
    arguments = ("score", str(file), "--metrics", "bleu-1", "--out", str(tmp_path / "big.csv"))
    assert "2 of 2 items complete" in score(*arguments, "--limit", "2")
    assert (tmp_path / "big.csv").read_bytes().count(b"\n") == 1 + 2 * CHUNK
    assert "4 of 4 items complete" in score(*arguments, "--resume")
    assert (tmp_path / "big.csv").read_bytes().count(b"\n") == 1 + N_TEXTS
    assert "4 of 4" in score("runs", "list")
    assert "150 texts, 1 metric." in score("runs", "show", "1")
    report = json.loads(score("runs", "show", "1", "--json"))
    assert (report["kind"], report["items"], report["done"]) == (TABLE_KIND.name, 4, 4)
    assert "run.json" in score("runs", "write", "1", "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "scores.csv").read_bytes() == (tmp_path / "big.csv").read_bytes()
    with open_store(tmp_path / "assay.db") as store:
        assert len(list_runs(store)) == 1


@pytest.mark.usefixtures("small")
def test_a_chunk_without_its_item_is_scored_again(tmp_path: Path, store: Store) -> None:
    run = worked(made(store, texts(tmp_path)))
    folder, out = run_folder(store, run.run.run_id), tmp_path / "big.csv"
    write_table(run, out)
    before = out.read_bytes()
    (folder / part_name(1)).write_bytes(b"the rest of a write")
    (folder / f"{part_name(2)}{PARTIAL}").write_bytes(b"the start of a write")
    assert folder / f"{part_name(2)}{PARTIAL}" not in files_in(folder), "a backup leaves it out"
    with store.writing():
        store.change("delete from run_item where position in (1, 2)", {})
    assert table_scores(run).n_texts == N_TEXTS - 2 * CHUNK
    write_table(worked(run), out)
    assert out.read_bytes() == before
    assert len(list(folder.iterdir())) == N_CHUNKS + 1


@pytest.mark.usefixtures("small")
def test_a_text_on_which_a_metric_fails_costs_that_text_alone(tmp_path: Path, store: Store) -> None:
    file = tmp_path / "texts.jsonl"
    rows = [
        {"item_id": f"q{n}", "text": BREAKS if n == 50 else f"text {n}", "reference": "text"}
        for n in range(110)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = made(store, file)
    part = ThreadPart("lexical", partial(open_toy, ("words", "shared")))
    folder = run_folder(store, run.run.run_id)
    job = TableJob(
        store, run.run.run_id, folder, [40, 40, 30], ("words", "shared"), [part], ScoringRunning(workers=1)
    )
    run = worked(run, job)
    progress = progress_of(store, run.run.run_id)
    assert (progress.n_done, progress.n_failed) == (2, 1)
    assert progress.failures == {("lexical", "ZeroDivisionError"): 1}
    found = table_scores(run)
    assert found.n_texts == 110
    assert set(found.undefined.values()) == {1}
    assert {metric for metric, _ in found.undefined} == {"words", "shared"}
    assert found.most["shared"].share == 1, "all others share one word with their reference"


@pytest.mark.usefixtures("small")
def test_a_refused_file_leaves_nothing(tmp_path: Path, store: Store) -> None:
    file = texts(tmp_path)
    file.write_text(file.read_text() * 2)
    with pytest.raises(InputError) as refused:
        made(store, file)
    (problem,) = refused.value.problems
    assert "149 more rows repeat an earlier one" in problem
    assert list_runs(store) == []
    assert list(folders_of(store.path).iterdir()) == []


@pytest.mark.usefixtures("small")
def test_masked_texts_of_a_blind_study_are_refused_wherever_they_stand(tmp_path: Path, store: Store) -> None:
    file = texts(tmp_path)
    row = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    masked = row | {"item_id": "last", "system": mask_named(1, "0123abcd")}
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(masked) + "\n")
    with pytest.raises(NotAllowed, match="masked texts of a blind study"):
        made(store, file)
    assert (list_runs(store), list(folders_of(store.path).iterdir())) == ([], [])


@pytest.mark.usefixtures("small")
def test_nothing_to_score_is_refused_before_the_run(tmp_path: Path, store: Store) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("item_id,text\n" + "".join(f"q{n},a\n" for n in range(101)))
    with pytest.raises(InputError, match="no reference for any text"):
        made(store, file)
    assert list_runs(store) == []


def test_what_a_killed_reader_left_is_deleted(store: Store) -> None:
    left = folders_of(store.path) / f"{PREFIX}0123456789ab"
    left.mkdir(mode=0o700, parents=True)
    with new_folder(store) as folder, new_folder(store) as other:
        assert not left.exists()
        assert folder.is_dir(), "its process lives"
        assert other.is_dir()
    assert not folder.exists()


@pytest.mark.usefixtures("small")
def test_what_cannot_read_a_big_table_says_so(tmp_path: Path, score: Run, store: Store) -> None:
    run = worked(made(store, texts(tmp_path)))
    with pytest.raises(InputError, match="big table"):
        score_table(run)
    with pytest.raises(InputError, match="big table"):
        _ = run.contents
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("item_id,system,score\nq1,one,1\n")
    assert "runs write 1" in score("correlate", "run:1", "--with", "level", status=2)
    (run_folder(store, 1) / TEXTS_FILE).unlink()
    assert "cannot be read" in score("runs", "resume", "1", "--out", str(tmp_path / "out"), status=2)


def test_a_file_of_a_hundred_thousand_rows_stays_an_ordinary_run(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    rows = ["item_id,text", *(f"{n},a" for n in range(big_tables.BIG_ROWS))]
    file.write_text("\n".join(rows))
    assert big_table(file) is None
    file.write_text("\n".join([*rows, "last,a"]))
    assert big_table(file) is not None


@pytest.mark.usefixtures("small")
def test_nothing_is_written_into_a_folder_that_replaced_the_runs_own(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(big_tables, "CHUNK_ROWS", N_TEXTS)  # one chunk, so that nothing else is being written
    run = made(store, texts(tmp_path))
    folder = run_folder(store, run.run.run_id)
    write = TableJob._write

    def after_a_restore(job: TableJob, position: int, chunk: Any) -> None:
        folder.rename(tmp_path / "old")
        shutil.copytree(tmp_path / "old", folder)
        (folder / part_name(0)).write_bytes(b"of another run")
        write(job, position, chunk)

    monkeypatch.setattr(TableJob, "_write", after_a_restore)
    with pytest.raises(StorageError, match="replaced"):
        worked(run)
    assert {path.name for path in folder.iterdir()} == {part_name(0), TEXTS_FILE}
    assert (folder / part_name(0)).read_bytes() == b"of another run"


@pytest.mark.usefixtures("small")
def test_a_part_of_another_run_is_one_clear_error(tmp_path: Path, store: Store) -> None:
    run = worked(made(store, texts(tmp_path)))
    part = run_folder(store, run.run.run_id) / part_name(1)
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(part).drop_columns(["bleu-1"]), part)
    with pytest.raises(InputError, match="no column bleu-1"):
        write_table(run, tmp_path / "scores.csv")
    assert not (tmp_path / "scores.csv").exists()


@pytest.mark.usefixtures("small")
def test_a_full_disk_stops_the_run(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(store, texts(tmp_path))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pyarrow.parquet, "write_table", full)
    with pytest.raises(StorageError, match="is full"):
        worked(run)
    progress = progress_of(store, run.run.run_id)
    assert (progress.state, progress.n_finished) == ("stopped", 0)
    monkeypatch.undo()
    assert worked(run).run.state == "done"


@pytest.mark.slow
def test_a_killed_run_is_resumed_and_its_table_is_that_of_an_undisturbed_one(
    tmp_path: Path, score: Run
) -> None:
    kept = 2
    file, database = texts(tmp_path), tmp_path / "killed.db"
    out = ("--workers", "2", "--metrics", "bleu-1,rouge-1", "--out")
    arguments = ["score", str(file), *out, str(tmp_path / "killed.csv"), "--db", str(database)]
    kill_in_the_middle(arguments, database, kept, N_CHUNKS, SMALL)
    assert not (tmp_path / "killed.csv").exists()
    with open_store(database) as store:
        n_parts = len(list(run_folder(store, 1).glob("scores-*.parquet")))
        assert n_parts > kept, "it was killed between a chunk's file and its item"
    run_to_the_end(["runs", "resume", "1", "--out", str(tmp_path / "killed"), "--db", str(database)])
    score("score", str(file), *out, str(tmp_path / "fresh.csv"), db="fresh.db")
    assert (tmp_path / "killed" / "scores.csv").read_bytes() == (tmp_path / "fresh.csv").read_bytes()
    with open_store(database) as store:
        (cost,) = progress_of(store, 1).costs
        assert cost.calls + cost.cached == N_TEXTS
