"""Calibration has the same numbers at every door: page, command and function, digit by digit; and every option is there."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.pages.tables_taken import as_csv, tables_taken
from streamlit.testing.v1 import AppTest

import assay
from core.analyses.calibrate import CalibrateOptions
from core.cli import main
from core.schema.settings import fields_of
from core.store import Store
from core.store.kept import keep_file

pytestmark = pytest.mark.usefixtures("cookies")
VOTES = ((2, 2, 2), (2, 2, 1), (2, 1, 1), (1, 1, 1), (1, 1, 2), (2, 2, 2)) * 3
SAID = (2, 2, 2, 1, 1, 2) * 3
TABS = (
    "Agreement",
    "Classes",
    "Bias",
    "Split raters",
    "Consistency",
    "Calibration map",
    "Where not to use it",
)
WIDGETS = ("number_input", "selectbox", "text_input", "checkbox", "multiselect")


def page() -> None:
    from pages import calibration

    calibration.render()


@pytest.fixture
def given(store: Store, tmp_path: Path) -> tuple[Path, Path, int]:
    """Ratings of two dimensions, one without classes, and an evaluator of both; as files and in the database."""
    people = [
        {"item": n, "rater": f"r{who}", "dimension": name, "score": score}
        for n, votes in enumerate(VOTES)
        for who, vote in enumerate(votes)
        for name, score in (("LA", vote), ("X", vote + n / 40))
    ]
    scores = [{"item": n, "gpt-LA": said, "gpt-X": said + n / 50} for n, said in enumerate(SAID)]
    files = []
    for name, rows in (("people.jsonl", people), ("judge.jsonl", scores)):
        files.append(tmp_path / name)
        files[-1].write_text("\n".join(map(json.dumps, rows)))
    keep_file(store, "ratings", "people.jsonl", files[0].read_bytes(), {})
    judge = keep_file(store, "scores", "judge.jsonl", files[1].read_bytes(), {}).file_id
    return files[0], files[1], judge


def visit(judge: int, part: str, **session: Any) -> AppTest:
    at = AppTest.from_function(page, default_timeout=60)
    at.session_state["calibration_judges"] = [("file", judge)]
    at.session_state["calibration_part"] = part
    for name, value in session.items():
        at.session_state[name] = value
    at.run()
    assert not at.exception
    assert not at.error
    return at


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{}, {"calibrate_map": "ordinal", "calibrate_dawid_skene": True}])
def test_page_command_and_function_agree(
    asked: dict[str, Any], given: tuple[Path, Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people, scores, judge = given
    taken = tables_taken(monkeypatch)
    for part in TABS:
        visit(judge, part, **asked)
    words = ("--map", "ordinal", "--dawid-skene") if asked else ()
    own = assay.calibrate(people, scores, **({"map": "ordinal", "dawid_skene": True} if asked else {}))
    commanded = {}
    for name in own.names:
        main(
            ["calibrate", str(people), str(scores), *words, "--table", name, "--out", str(tmp_path / "x.csv")]
        )
        own[name].write(tmp_path / "own.csv")
        commanded[name] = (tmp_path / "x.csv").read_bytes()
        assert (tmp_path / "own.csv").read_bytes() == commanded[name]
    assert as_csv(taken) == commanded


def test_every_option_is_on_the_page_with_the_default_of_the_command(given: tuple[Path, Path, int]) -> None:
    at = visit(given[2], "Agreement")
    shown = {one.key: one.value for kind in WIDGETS for one in at.get(kind)}
    for field in fields_of(CalibrateOptions).values():
        value = shown[f"calibrate_{field.name}"]
        assert (
            value in (field.default, [*(field.default or ())], field.typed(field.default))
            if field.shape == "list"
            else value == field.default
        )
    assert {
        "calibration_task",
        "calibration_scale",
        "calibration_classes",
        "calibration_missing",
    } <= shown.keys()


def test_the_declared_scale_is_that_of_the_command(
    given: tuple[Path, Path, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people, scores, judge = given
    taken = tables_taken(monkeypatch)
    visit(judge, "Agreement", calibration_scale="0-4", calibrate_n_resamples=50, calibrate_dimension="LA")
    words = ("--scale", "0-4", "--resamples", "50", "--dimension", "LA", "--table", "raters")
    main(["calibrate", str(people), str(scores), *words, "--out", str(tmp_path / "x.csv")])
    assert as_csv(taken)["raters"] == (tmp_path / "x.csv").read_bytes()
    assert b"0 1 2 3 4" in (tmp_path / "x.csv").read_bytes()
