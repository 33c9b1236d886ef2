"""A check has the same numbers at every door: page, command and notebook, digit by digit; and the same options."""

import inspect
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.pages.tables_taken import as_csv, tables_taken
from streamlit.testing.v1 import AppTest

import assay
from core.analyses import analysis
from core.cli import main
from core.report import ENDINGS, csv_of
from core.schema.settings import fields_of, parameter_word
from core.schema.uses import LIMITS, CheckOptions, Use

RATERS = ("rater_1", "rater_2", "rater_3")
JUDGES = ("gpt4_judge", "llama_judge")
OF_CHECK = ("check", "which-judge", "gaps", "next-labels")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three raters and two judges of 120 texts by two systems; 20 more that nobody labelled."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, 140)
    frame = pd.DataFrame(
        {
            "id": [f"q{at // 2}" for at in range(140)],
            "system": [f"s{at % 2}" for at in range(140)],
            **{
                name: np.where(rng.random(140) < share, rng.integers(1, 6, 140), truth)
                for name, share in zip((*RATERS, *JUDGES), (0.2, 0.2, 0.2, 0.2, 0.6), strict=True)
            },
        }
    )
    frame.loc[np.arange(140) >= 120, list(RATERS)] = np.nan
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)
    return path


def page() -> None:
    from pages import check

    check.render()


def on_the_page(path: Path, **address: str) -> AppTest:
    at = AppTest.from_function(page, default_timeout=60)
    for name, value in address.items():
        at.query_params[name] = value
    at.run()
    at.file_uploader[0].upload(path.name, path.read_bytes())
    at.run()
    at.run()
    assert not at.exception
    return at


def commanded(path: Path, table: str, *words: str) -> bytes:
    out = path.parent / "out.csv"
    out.unlink(missing_ok=True)
    main(["check", path.name, *words, "--table", table, "--out", str(out)])
    return out.read_bytes()


@pytest.mark.parametrize("use", ["gate", "rank", "monitor"])
@pytest.mark.usefixtures("store", "cookies")
def test_the_tables_of_the_page_are_those_of_the_command(
    file: Path, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tables_taken(monkeypatch)
    at = on_the_page(file, use=use)
    shown = as_csv(taken)
    assert {"check", "check-rules", "which-judge", "comparisons", "gaps"} <= shown.keys()
    for name, csv in shown.items():
        one = ("--judge", JUDGES[0]) if name == "gaps" else ()  # the page lists one judge's at a time
        if name.startswith(("check", "which", "comparisons", "gaps")):
            assert csv == commanded(file, name, "--use", use, *one), name
    found = assay.check(file, use=use)
    for name in ("check", "check-rules", "check-groups", "which-judge", "comparisons"):
        assert name not in shown or csv_of(found[name].tables[0]) == shown[name]
    texts = "\n".join(one.value for one in at.markdown)
    assert found.sentence in texts.replace("\\", "")


def test_every_option_is_at_every_door(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in OF_CHECK:
        found = analysis(name)
        with pytest.raises(SystemExit):
            main(["check" if name == "check" else "report", *([] if name == "check" else [name]), "--help"])
        told = capsys.readouterr().out
        parameters = inspect.signature(getattr(assay, found.function)).parameters
        for field in fields_of(found.Options).values():
            assert f" {field.option} " in told
            assert parameters[parameter_word(field, None)].default == (
                field.default or None if isinstance(field.default, dict) else field.default
            )


@pytest.mark.parametrize("use", ["gate", "rank", "monitor", "replace"])
@pytest.mark.usefixtures("store", "cookies")
def test_every_limit_of_a_use_is_on_the_page_with_the_default_of_the_command(file: Path, use: Use) -> None:
    at = on_the_page(file, use=use)
    shown = {
        one.key: one.value for kind in ("number_input", "selectbox", "text_input") for one in at.get(kind)
    }
    for name in (*LIMITS[use], "confidence_level", "n_resamples", "rng"):
        field = fields_of(CheckOptions)[name]
        wanted = field.typed(field.default) if field.shape == "list" else field.default
        keys = [key for key in shown if key == f"check_{name}"]
        assert [shown[key] for key in keys] == [wanted], name


@pytest.mark.parametrize("name", ["which-judge", "gaps", "next-labels"])
def test_a_part_of_the_check_is_an_analysis_of_its_own(
    file: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same tables and JSON as `check` gives with the option that asks for it."""
    asked = {"which-judge": [], "gaps": ["--gaps", "500"], "next-labels": ["--next", "20"]}[name]
    key = {"which-judge": "which", "gaps": "gaps", "next-labels": "next"}[name]
    found = analysis(name)
    for table in found.tables:
        out = file.parent / "own.csv"
        main(["report", name, file.name, "--table", table.name, "--out", str(out)])
        assert out.read_bytes() == commanded(file, table.name, *asked)
    capsys.readouterr()
    main(["check", file.name, *asked, "--json"])
    whole = json.loads(capsys.readouterr().out)[key]
    assert main(["report", name, file.name, "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone == whole
    own = getattr(assay, found.function)(file)
    assert json.loads(json.dumps(own.json)) == alone


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_holds_the_verdict(file: Path, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = file.parent / f"out{ending}"
    status = main(["check", file.name, "--out", str(out)])
    said = capsys.readouterr().out.splitlines()
    assert status == 4
    text = out.read_text("utf-8").replace("\\", "")
    assert all(name in text for name in JUDGES)
    assert said[0] == assay.check(file).sentence
