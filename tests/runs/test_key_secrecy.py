"""The key of a server is sent with requests and found nowhere else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.models.model_answers import Body, answer
from helpers.processes.scripted_server import Said, ScriptedServer, error

from core.cli import main
from core.generation import damage
from core.runs.asked import ask
from core.schema.settings import SettingsError

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "data" / "demo" / "questions.jsonl"
KEY = "sk_live_51HwVerySecretIndeed9876543210"
VARIABLE = "MODEL_SERVER_KEY"


def run(folder: Path, url: str, *more: str, key: str | None = KEY) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "core", "generate", "damage", str(DEMO), "--out", str(folder / "out")]
    command += ["--db", str(folder / "assay.db"), "--backend", "openai", "--model", "tiny", "--base-url", url]
    environment = {**os.environ, **({VARIABLE: key} if key else {}), "OPENAI_LOG": "debug"}
    return subprocess.run(
        [*command, "--limit", "3", "--retries", "0", *more],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def nothing_holds(folder: Path, *texts: str) -> None:
    """No file and no text has the key, or a piece of it that would help."""
    written = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    written |= {f"text {number}": text.encode() for number, text in enumerate(texts)}
    assert any(name.startswith("assay.db") for name in written)
    for name, data in written.items():
        for piece in (KEY, KEY[:12], KEY[-12:]):
            assert piece.encode() not in data, name


def test_a_run_that_used_the_key_keeps_no_trace_of_it(tmp_path: Path) -> None:
    with ScriptedServer(lambda body, n: answer(body), key=KEY) as server:
        ended = run(tmp_path, server.url, "--key-variable", VARIABLE)
        assert len(server.bodies) == 18
    assert ended.returncode == 0, ended.stderr
    nothing_holds(tmp_path, ended.stdout, ended.stderr)


def _echoing(body: Body, n: int) -> Said | str:
    """A server that names the key in its errors."""
    if n % 3 == 0:
        return error(500, f"upstream said: Authorization: Bearer {KEY}")
    return error(400, f"bad request by {KEY}") if n % 3 == 1 else answer(body)


@pytest.mark.slow
def test_a_server_that_repeats_the_key_in_its_errors_gets_it_nowhere(tmp_path: Path) -> None:
    with ScriptedServer(_echoing, key=KEY) as server:
        ended = run(tmp_path, server.url, "--key-variable", VARIABLE)
    assert "0 of 3 items complete" in ended.stdout
    nothing_holds(tmp_path, ended.stdout, ended.stderr)


@pytest.mark.slow
def test_a_refused_key_is_not_repeated(tmp_path: Path) -> None:
    with ScriptedServer(lambda body, n: answer(body), key="another") as server:
        ended = run(tmp_path, server.url, "--key-variable", VARIABLE)
    assert ended.returncode == 2
    assert VARIABLE in ended.stderr
    nothing_holds(tmp_path, ended.stdout, ended.stderr)


@pytest.mark.parametrize("given", [KEY, "sk-live-with-hyphens-9876"])
def test_a_key_in_the_place_of_its_variable_is_refused_and_not_repeated(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--out", str(tmp_path / "out"), "--db", str(tmp_path / "assay.db")]
    server = ["--backend", "openai", "--model", "tiny", "--base-url", "http://127.0.0.1:9/v1"]
    status = main(["generate", "damage", str(DEMO), *where, *server, "--key-variable", given])
    said = capsys.readouterr()
    assert status == 2
    assert "--key-variable" in said.err
    assert given not in said.out + said.err
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or given.encode() not in path.read_bytes()


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1?api_key={}", "http://user:{}@127.0.0.1:9/v1", "{}"])
def test_a_secret_in_the_address_is_refused_and_not_repeated(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--out", str(tmp_path / "out"), "--db", str(tmp_path / "assay.db")]
    server = ["--backend", "openai", "--model", "tiny", "--base-url", url.format(KEY)]
    assert main(["generate", "damage", str(DEMO), *where, *server]) == 2
    said = capsys.readouterr()
    assert "--base-url" in said.err
    assert not list(tmp_path.iterdir()), "it is refused before anything is kept"
    assert all(piece not in said.out + said.err for piece in (KEY, KEY[:12], KEY[-12:]))


def test_a_secret_among_the_engines_options_is_refused() -> None:
    model = {"backend": "vllm", "model": "m"}
    with pytest.raises(SettingsError) as refused:
        ask(damage.KIND, {}, model | {"engine": {"hf_token": KEY, "a": {"api_key": KEY}}}, {})
    assert [one.name for one in refused.value.found_in] == ["engine", "engine"]
    assert KEY not in str(refused.value)
    ask(damage.KIND, {}, model | {"engine": {"tokenizer": "x"}}, {})


@pytest.mark.parametrize(
    "name",
    [
        "prompt_cache_key",
        "safety_identifier",
        "extra_key",
        "max_token",
        "min_token",
        "bad_words_token",
        "eos_token",
    ],
)
def test_a_field_that_only_ends_like_a_secret_is_sent(name: str) -> None:
    model = {"backend": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    for place in ("extra_body", "chat_template"):
        asked, _ = ask(damage.KIND, {}, model | {place: {name: "a", "more": [{name: "b"}]}}, {})
        assert getattr(asked.model, place)[name] == "a"


@pytest.mark.parametrize(
    "name",
    [
        *("key", "api_key", "apikey", "API-Key", "x-api-key", "my_api_key", "Ocp-Apim-Subscription-Key"),
        *(
            "secret_key",
            "access_key",
            "cache_api_key",
            "prompt-cache-key",
            "token",
            "access_token",
            "hf_token",
        ),
        *("session_token", "max_access_token", "password", "client_secret", "Authorization", "cookie"),
    ],
)
def test_a_secret_is_refused_in_a_body_and_in_a_header(name: str) -> None:
    model = {"backend": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    for place in ("extra_body", "chat_template", "headers"):
        with pytest.raises(SettingsError) as refused:
            ask(damage.KIND, {}, model | {place: {name: KEY}}, {})
        assert [one.name for one in refused.value.found_in] == [place]
        assert KEY not in str(refused.value)


@pytest.mark.parametrize("name", ["prompt_cache_key", "max_token", "x-gateway-key"])
def test_every_key_in_a_header_is_a_secret(name: str) -> None:
    model = {"backend": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(SettingsError):
        ask(damage.KIND, {}, model | {"headers": {name: KEY}}, {})
    ask(damage.KIND, {}, model | {"headers": {name: "env:GATEWAY_KEY"}}, {})
