"""Settings of a run in a file: `--settings FILE`, for the kind, the model, its calls and how it is worked on."""

import json
from pathlib import Path

import pytest
from helpers.processes.scripted_server import Said, ScriptedServer

from core.cli import main

TEXTS = "id,question,reference,level,system,output\n" + "".join(
    f"q{n},How many mills?,Three mills.,{level},s,Mills {n} and {level}.\n"
    for n in range(2)
    for level in (0, 3)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "a.db"))
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    return tmp_path


def judged(*options: str) -> int:
    return main(["judge", "rubric", "texts.csv", "--out", "out", "--settings", "model.yaml", *options])


def test_a_file_gives_what_options_do_not(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = json.dumps({"feedback": "As the reference says.", "verdict": 4})
    with ScriptedServer(lambda body, n: Said(verdict)) as server:
        (folder / "model.yaml").write_text(
            f"backend: openai\nmodel: tiny\nbase_url: {server.url}\nconcurrency: 2\nrepeats: 2\ntemperature: server\n"
            "top-p: 0.5\nstop: [END]\nreasoning_effort: low\nextra_body:\n  service_tier: flex\nheader:\n  X-Team: eval\n",
            encoding="utf-8",
        )
        assert judged("--top-p", "0.9") == 0
        body, headers = server.asked[0].body, server.asked[0].headers
    assert "temperature" not in body
    assert (body["top_p"], body["stop"], body["reasoning_effort"], body["service_tier"]) == (
        0.9,
        ["END"],
        "low",
        "flex",
    )
    assert headers["x-team"] == "eval"
    assert len(server.asked) == 8
    run = json.loads((folder / "out" / "run.json").read_text(encoding="utf-8"))
    kept = run["settings"]
    assert kept["rubric"]["temperature"] is None
    assert (kept["top_p"], kept["stop"], kept["extra_body"]) == (0.9, ["END"], {"service_tier": "flex"})
    assert "max_tokens" not in kept, (
        "what is as usual is not named, so that runs before there was a choice are found"
    )
    assert main(["runs", "show", "1", "--json"]) == 0
    signature = capsys.readouterr().out
    assert "|temperature:server|" in signature
    assert "|top-p:0.9|" in signature


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model: tiny\ntemprature: 1\n", ["line 2, temprature", "temperature"]),
        ("model: [tiny\n", ["line 2"]),
        ("backend: openai\nmodel: 4\ntop_p: 3\n", ["--model: 4", "--top-p: 3"]),
        ("backend: openai\nmodel: tiny\nheaders: {api-key: abc}\n", ["--header", "api-key", "env:"]),
        ("backend: openai\nmodel: tiny\nextra_body: {messages: []}\n", ["--extra-body", "messages"]),
        ("backend: openai\nmodel: tiny\nextra_body: {max_tokens: 5}\n", ["--extra-body", "max_tokens"]),
        ("backend: openai\nmodel: tiny\nextra_body: {a: {password: x}}\n", ["--extra-body", "password"]),
        ("model: tiny\n", ["--backend"]),
    ],
)
def test_what_a_file_has_wrong_is_told(
    text: str, told: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "model.yaml").write_text(text, encoding="utf-8")
    assert judged() == 2
    said = capsys.readouterr().err
    assert all(one in said for one in told), said
    assert "abc" not in said, "a secret is not repeated"


def test_options_of_named_values_are_read_as_json_or_text() -> None:
    from core.llm.call_settings import CallSettings
    from core.schema.settings import SettingsError, named_values

    given = ("a=1", "b=x y", 'c={"d": [true]}', 'e="1"')
    found = CallSettings.checked({"extra_body": given, "headers": ("n=1",)})
    assert found.extra_body == {"a": 1, "b": "x y", "c": {"d": [True]}, "e": "1"}
    assert found.headers == {"n": "1"}
    assert (
        CallSettings.checked({"extra_body": "\n".join(named_values(found.extra_body))}).extra_body
        == found.extra_body
    )
    with pytest.raises(SettingsError, match="nothing"):
        CallSettings.checked({"extra_body": ("nothing",)})
