"""A table that the page Metrics offers as CSV is, byte for byte, what the command writes with the same options."""

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.pages.generate_visit import field
from helpers.pages.metrics_visit import visit

from core.cli import main
from core.report import csv_of
from core.schema.result_table import ResultTable
from core.store import Store
from core.store.kept import KeptKind, keep_file
from pages.widgets import result_table

SCORES = "item,system,level,prompt,good,fair,ter\n" + "".join(
    f"q{item},s{system},{level},p{system},{9 - level + item % 3},{(7 * item + level * system) % 11 - level},{level + item % 2}\n"
    for item in range(6)
    for system in (1, 2)
    for level in range(4)
)
PEOPLE = "item,system,level,score\n" + "".join(
    f"q{item},s{system},{level},{8 - 2 * level + (item * system) % 3}\n"
    for item in range(6)
    for system in (1, 2)
    for level in range(4)
)
SIDE = '{"good": {"spearman": 0.9}, "fair": {"spearman": 0.5}, "ter": {"spearman": -0.7}, "other": {"spearman": 0.1}}'
Written = Callable[..., bytes]
pytestmark = pytest.mark.usefixtures("cookies")


@pytest.fixture
def given(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Store the files for the page and in the command's folder; return the number of the scores."""
    monkeypatch.chdir(tmp_path)
    kinds: dict[str, tuple[KeptKind, str]] = {
        "people.csv": ("ratings", PEOPLE),
        "side.json": ("correlations", SIDE),
        "scores.csv": ("scores", SCORES),
    }
    for name, (kind, text) in kinds.items():
        Path(name).write_text(text, "utf-8")
        number = keep_file(store, kind, name, text.encode(), {}).file_id
    return number


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Name of a table -> the CSV that the page offers."""
    found: dict[str, bytes] = {}
    real = result_table.downloads

    def kept(table: ResultTable, figure: object = None) -> None:
        found[table.name] = csv_of(table)
        real(table, figure)  # type: ignore[arg-type]

    monkeypatch.setattr(result_table, "downloads", kept)
    return found


def written(*words: str) -> bytes:
    assert main([*words, "--out", "out.csv", "--db", "none.db"]) == 0
    return Path("out.csv").read_bytes()


def test_correlations(given: int, offered: dict[str, bytes]) -> None:
    visit(("file", given), "Correlations")
    level = ("correlate", "scores.csv", "--with", "level")
    assert offered["correlations"] == written(*level, "--resample", "items")
    assert offered["correlations"] != written(*level, "--resample", "rows")


def test_correlations_with_people_whose_rows_are_filtered(given: int, offered: dict[str, bytes]) -> None:
    at = visit(("file", given), "Correlations")
    at.segmented_control(key="metrics_against_main").set_value("human").run()
    field(at, "Group by").set_value(["system"])  # type: ignore[attr-defined]
    field(at, "Show").set_value("rows")  # type: ignore[attr-defined]
    at.run()
    field(at, "Filter by system").set_value(["s1"])  # type: ignore[attr-defined]
    at.run()
    assert not at.exception
    human = ("correlate", "scores.csv", "--with", "human", "--human", "people.csv", "--group", "system")
    assert offered["correlations"] == written(*human)


def test_ranking_and_redundancy(given: int, offered: dict[str, bytes]) -> None:
    at = visit(("file", given), "Correlations")
    for look in ("Ranking", "Redundancy"):
        at.session_state["metrics_look"] = look
        at.run()
    level = ("correlate", "scores.csv", "--with", "level", "--rank", "pearson", "--redundancy", "spearman")
    for name in ("ranking", "comparisons", "redundancy"):
        assert offered[name] == written(*level, "--table", name), name


def test_levels(given: int, offered: dict[str, bytes]) -> None:
    visit(("file", given), "Levels")
    level = ("correlate", "scores.csv", "--with", "level", "--levels")
    for name in ("levels", "monotonic", "prefers-damaged"):
        assert offered[name] == written(*level, "--table", name), name


def test_meta_correlation(given: int, offered: dict[str, bytes]) -> None:
    at = visit(("file", given), "Meta-correlation")
    next(radio for radio in at.radio if radio.label == "From").set_value("file").run()
    field(at, "Correlations of the human side").set_value(
        field(at, "Correlations of the human side").options[0]
    )  # type: ignore[attr-defined]
    at.run()
    sides = ("meta-correlate", "side.json", "scores.csv")
    for name in ("meta-correlation", "without-family"):
        assert offered[name] == written(*sides, "--table", name), name
    field(at, "Group by").set_value(["prompt"])  # type: ignore[attr-defined]
    field(at, "Mean and SD over").set_value("system")  # type: ignore[attr-defined]
    at.run()
    assert not at.exception
    for name in ("meta-matrix", "meta-summaries"):
        assert offered[name] == written(*sides, "--by", "prompt", "--over", "system", "--table", name), name


def test_published_tables(offered: dict[str, bytes], store: Store, tmp_path: Path) -> None:
    visit(("published", 0))
    out = str(tmp_path / "out.csv")
    for name, more in (("published-meta-judge-1", ()), ("published-recomputed", ("--recompute",))):
        assert main(["published", "--table", "1", *more, "--out", out]) == 0
        assert offered[name] == Path(out).read_bytes()
