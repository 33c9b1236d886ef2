"""The tab Bias of the page Judges: of a judge's run on twins, of a table of scores, and nowhere else."""

import csv
import io
from pathlib import Path

import pytest
from helpers.pages.generate_visit import field, html_of, said
from helpers.pages.judges_visit import RULES, judged, texts, visit
from helpers.pages.tables_taken import as_csv, tables_taken

import assay
from core.cli import main
from core.formats.registry import read_texts
from core.formats.scorable import write_outputs
from core.judges.twins import TwinSettings, plan_twins, twin_by_rules, twin_outputs
from core.schema.scores import EDIT, PAIR, ROLE
from core.store import Store
from core.store.kept import keep_file
from scripts.simulations.bias import rows_of_twins

pytestmark = pytest.mark.usefixtures("cookies")


def test_a_run_on_twins_has_effects_and_both_texts(store: Store) -> None:
    plan = plan_twins(read_texts(*texts(store)))
    twins = twin_outputs([twin_by_rules(one, TwinSettings()) for one in plan.twins])
    run = judged(store, (write_outputs(twins), "twins.jsonl"), RULES)
    at = visit(("run", run.run_id), "Bias")
    assert "Bias" in [tab.label for tab in at.tabs]
    at.number_input(key="bias_changes").set_value(200).run()
    probes = field(at, "Probe").options
    assert probes[0] == "All"
    assert "formatting" not in probes, "it moved no score"
    shown = "".join(html_of(at))
    assert "Unedited" in shown
    assert "Edited" in shown
    field(at, "Probe").select("authority").run()
    assert not at.exception
    assert "authority" in field(at, "Text, largest change first").options[0]


def test_a_table_of_scores_of_twins_has_the_tab(store: Store) -> None:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["item", "system", "level", PAIR, EDIT, ROLE, "x", "y"])
    for at, row in enumerate(rows_of_twins(12)):
        own = [row.labels[name] for name in (PAIR, EDIT, ROLE)]
        better = row.labels[ROLE] == "better"
        x = 2 + 2 * better + (row.labels[EDIT] == "padding") + at % 2 * 0.1
        writer.writerow([row.item_id, row.system, row.level, *own, x, better * 1.0])
    file = keep_file(store, "scores", "twins.csv", out.getvalue().encode(), {})
    at = visit(("file", file.file_id), "Bias", "file")
    assert "x is biased on 1 of 5 probes" in said(at)
    assert "y: no bias" in said(at)
    field(at, "Score").select("y").run()
    assert not at.exception
    assert "x is biased" not in said(at)
    assert "y: no bias is shown on 5 probes. Underpowered" in said(at)


def test_page_and_command_have_the_same_tables(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plan = plan_twins(read_texts(*texts(store)))
    twins = twin_outputs([twin_by_rules(one, TwinSettings()) for one in plan.twins])
    run = judged(store, (write_outputs(twins), "twins.jsonl"), RULES)
    taken = tables_taken(monkeypatch)
    visit(("run", run.run_id), "Bias")
    on_page = as_csv(taken)
    monkeypatch.setenv("ASSAY_DB", str(store.path))
    out = tmp_path / "out.csv"
    for name in ("bias", "bias-changes"):
        assert main(["report", "bias", f"run:{run.run_id}", "--table", name, "--out", str(out)]) == 0
        assert on_page[name] == out.read_bytes()
        assay.bias(f"run:{run.run_id}")[name].write(out)
        assert on_page[name] == out.read_bytes()


def test_other_scores_have_no_such_tab(store: Store) -> None:
    run = judged(store, texts(store), RULES, limit=2)
    at = visit(("run", run.run_id), "Scores")
    assert "Bias" not in [tab.label for tab in at.tabs]
