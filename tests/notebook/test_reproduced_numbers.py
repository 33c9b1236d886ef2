"""`assay.reproduce` gives what the command gives."""

import json

import pytest

import assay
from core.cli import main


def test_the_function_gives_the_commands_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    found = assay.reproduce("cef", "8")
    assert main(["reproduce", "cef", "8", "--json"]) == 0
    assert found.json == json.loads(capsys.readouterr().out)
    assert list(found.frame["value"]) == [one["value"] for one in found.json["numbers"]]
    assert len(found["reproduced-tables"].frame) == 1


def test_mistakes_name_parameters(tmp_path) -> None:
    with pytest.raises(assay.InputError, match="paper"):
        assay.reproduce("other")
    with pytest.raises(assay.InputError) as caught:
        assay.reproduce("cef", data=[tmp_path, tmp_path / "none"])
    assert caught.value.problems[0].startswith("data: ")
    with pytest.raises(assay.InputError) as caught:
        assay.reproduce("cef", resamples=0)
    assert "resamples" in str(caught.value)
