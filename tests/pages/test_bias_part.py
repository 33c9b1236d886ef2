"""The tab Bias of the page Judges: of a judge's run on twins, of a table of scores, and nowhere else."""

import csv
import io

import pytest
from helpers.pages.generate_visit import field, html_of, said
from helpers.pages.judges_visit import RULES, judged, texts, visit

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
    field(at, "Score").select("y").run()
    assert not at.exception
    assert "y: no bias is shown on 5 probes. Underpowered" in said(at)


def test_other_scores_have_no_such_tab(store: Store) -> None:
    run = judged(store, texts(store), RULES, limit=2)
    at = visit(("run", run.run_id), "Scores")
    assert "Bias" not in [tab.label for tab in at.tabs]
