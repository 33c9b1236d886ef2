"""The page Operation: what runs and what it cost, what takes space, deleting runs, backup and sign-ins."""

import os
from pathlib import Path

import pytest
from helpers.models.model_answers import answer
from helpers.pages.generate_visit import press, said
from helpers.pages.judges_visit import CLAIMS, PRICES, RULES, judged, texts, waiting
from helpers.processes.scripted_server import Said, ScriptedServer
from streamlit.testing.v1 import AppTest

from core.schema.runs import RunItem
from core.store import Store
from core.store.beside import make_run_folder
from core.store.kept import record_call
from core.store.runs import claim_run, finish_run, get_run, list_runs, note_start, save_items
from pages.widgets.visitor import FOR_THE_ADMIN

pytestmark = pytest.mark.usefixtures("cookies")


def page() -> None:
    from pages import operation

    operation.render()


def visit(tab: str = "What runs") -> AppTest:
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["operation_tab"] = tab
    at.run()
    assert not at.exception, at.exception
    return at


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def tables(at: AppTest) -> list[list[dict[str, str]]]:
    return [one.value.to_dict("records") for one in at.table]


def test_without_runs_each_part_says_so(store: Store) -> None:
    assert "no run is in progress" in said(visit())
    disk = visit("Disk and memory")
    for at in (visit("Cost and failures"), disk):
        assert "there is no run yet" in said(at)
    assert {"assay.db", "free on the disk"} <= {row["what"] for row in tables(disk)[0]}
    for tab in ("Backup", "Sign-ins"):
        at = visit(tab)
        assert {"Backup", "Sign-ins and attempts", "Sign out"} <= {one.value for one in at.header}


def test_what_runs_and_stopped_has_place_speed_and_buttons(store: Store) -> None:
    given = texts(store)
    busy, stopped, new = (waiting(store, given, CLAIMS) for _ in range(3))
    owner = claim_run(store, busy.run_id, os.getpid())
    note_start(store, busy.run_id, 0.0, owner)
    save_items(store, busy.run_id, [RunItem(0, "q0", "failed", {}, (("extract", "cut off"),))], owner)
    call = {
        "run_id": busy.run_id,
        "position": 0,
        "key": "k",
        "step": "extract",
        "reason": None,
        "seconds": 1.0,
    }
    record_call(store, call | {"cached": 0}, None)
    finish_run(store, stopped.run_id, "stopped", "The *server* is gone.\n- Start it.\n- Resume.")
    at = visit()
    assert any(
        one.value.split("\n")[1:] == ["- :small[Start it.]", "- :small[Resume.]"] for one in at.markdown
    )
    assert [one.value for one in at.header][:3] == ["Working now", "Stopped or interrupted", "Not started"]
    shown = said(at)
    assert f"Process {os.getpid()}, environment base, model: this machine" in shown
    assert "1 failure: cut off." in shown
    assert "The *server* is gone." in shown
    assert labels(at) == ["Cancel", "Open", "Resume", "Open", "Start", "Open"]
    (row,) = tables(at)[0]
    assert (row["run"], row["finished"], row["failures"]) == (str(busy.run_id), "1", "1 cut off")
    at.button(key=f"operation_{busy.run_id}_cancel").click().run()
    assert get_run(store, busy.run_id).cancel
    assert get_run(store, new.run_id).state == "waiting"


def test_costs_are_summed_by_model_and_failures_by_reason(store: Store) -> None:
    given = texts(store)
    for script in (answer, lambda body, n: Said("nonsense")):
        with ScriptedServer(script, models=None) as server:
            judged(store, given, CLAIMS, PRICES, limit=1, url=server.url)
    judged(store, given, RULES, limit=2)
    at = visit("Cost and failures")
    models, failures, runs = tables(at)
    paid = next(row for row in models if row["model"] not in ("rules", "metrics"))
    assert paid["runs"] == "2"
    assert float(paid["money"]) == pytest.approx(
        sum(float(row["money"]) for row in runs if row["model"] == paid["model"]), abs=1e-3
    )
    assert PRICES.input_price
    assert int(failures[0]["times"].replace(",", "")) > 0
    assert [row["run"] for row in runs] == [str(run.run_id) for run in list_runs(store)]
    at.multiselect(key="operation_kinds").select("damage").run()
    assert [row["model"] for row in tables(at)[-1]] == ["rules"]
    assert "nothing failed in these runs" in said(at)


def test_chosen_runs_are_shown_then_deleted(store: Store) -> None:
    given = texts(store)
    preview = judged(store, given, lambda **more: RULES(name="preview-x", **more), limit=1)
    kept = judged(store, given, RULES, limit=1)
    (make_run_folder(store, preview.run_id) / "answers.jsonl").write_bytes(b"x" * 2_000)
    at = visit("Disk and memory")
    at.selectbox(key="operation_only").select("Previews of the prompt editor").run()
    at.checkbox(key="operation_every").check().run()
    at = press(at, "Show what would go")
    assert "This would delete 1 run: 1 item" in said(at)
    assert "folders and logs (2.0 kB)" in said(at)
    at.button(key="operation_delete").click().run()
    assert not at.exception
    assert at.success[0].value.startswith("Deleted 1 run,")
    assert preview.run_id not in [run.run_id for run in list_runs(store)]
    source = list_runs(store)[-1].run_id
    at = visit("Disk and memory")
    at.multiselect(key="operation_numbers").select(source).run()
    at = press(at, "Show what would go")
    assert f"Not deleted: Run {kept.run_id} was made from run {source}" in said(at)
    assert "none of these runs can be deleted" in said(at)
    at.checkbox(key="operation_force").check().run()
    at = press(at, "Show what would go")
    at.button(key="operation_delete").click().run()
    assert [run.run_id for run in list_runs(store)] == [kept.run_id]


def test_a_backup_offers_tables_where_there_are_some(store: Store) -> None:
    assert not visit("Backup").checkbox
    run = waiting(store, texts(store), CLAIMS)
    (make_run_folder(store, run.run_id) / "texts.parquet").write_bytes(b"x" * 5_000)
    (box,) = visit("Backup").checkbox
    assert box.label == "With the tables of 1 run (5.0 kB)"


def test_nobody_else_sees_it(store: Store, cookies: dict[str, str], tmp_path: Path) -> None:
    waiting(store, texts(store), CLAIMS)
    cookies.clear()
    at = visit()
    assert [title.value for title in at.title] == [FOR_THE_ADMIN]
    assert not at.button
    assert not at.table
