"""Whole runs against servers that differ from OpenAI's first chat API as real ones do: every text scored, every item complete.

The servers are scripted from what the real ones document; no real one is asked.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import Body, Limited, Said, Script, ScriptedServer, error
from helpers.texts.judge_runs import LEVELS, in_folder, run_to_the_end, settings, texts

from core.cli.shared.running import summary
from core.runs.asked import Asked, Running, ask
from core.runs.judging import judge_output
from core.runs.kinds import KINDS
from core.runs.path import written
from core.runs.progress import progress_of
from core.runs.records import read_judge_folder
from core.store import Store

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo" / "questions.jsonl"
N_OPEN = 16
KEY, VARIABLE = "azure-key-0123456789", "AZURE_TEST_KEY"
THOUGHT = "The user wants an answer. " * 20
RUBRIC_SCHEMA = {"properties": {"feedback": {"type": "string"}, "verdict": {"enum": [1, 2, 3, 4, 5]}}}


def unsupported(name: str) -> Said:
    told = f"Unsupported parameter: '{name}' is not supported with this model."
    return error(400, told, "unsupported_parameter", name)


def fitting(body: Body) -> str:
    """The answer to a prompt, of which a schema is read in the prompt where the request has none."""
    form = body.get("response_format") or {}
    if "json_schema" not in form and "Reply with JSON" in str(body["messages"][0]["content"]):
        body = {**body, "response_format": {"json_schema": {"schema": RUBRIC_SCHEMA}}}
    return answer(body)


def plain(body: Body, n: int) -> Said:
    return Said(fitting(body))


def o_series(body: Body, n: int) -> Said:
    """Thinks 500 tokens that nobody sees, which the limit counts."""
    if "max_tokens" in body:
        told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        return error(400, told, "unsupported_parameter", "max_tokens")
    if body.get("temperature", 1) != 1:
        told = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."
        return error(400, told, "unsupported_value", "temperature")
    if "top_p" in body:
        return unsupported("top_p")
    said = fitting(body)
    n_words = len(said.split())
    if 500 + n_words > body["max_completion_tokens"]:
        return Said("", "length", usage=(50, body["max_completion_tokens"]), reasoning_tokens=500)
    return Said(said, usage=(50, 500 + n_words), reasoning_tokens=500)


def qwen(body: Body, n: int) -> Said:
    """Thinks aloud, some 100 words, before the answer."""
    whole = f"<think>\n{THOUGHT}\n</think>\n\n{fitting(body)}"
    words = whole.split(" ")
    if len(words) > body["max_tokens"]:
        cut = " ".join(words[: body["max_tokens"]])
        return Said(cut, "length")
    return Said(whole)


def deepseek(body: Body, n: int) -> Said:
    """Thinks in a field of its own, and knows JSON without a schema alone."""
    if body.get("response_format", {}).get("type") == "json_schema":
        return error(400, "This response_format type is unavailable now")
    said = fitting(body)
    thought = len(THOUGHT.split())
    if thought + len(said.split()) > body["max_tokens"]:
        usage = (50, body["max_tokens"])
        return Said(
            "", "length", usage=usage, beside={"reasoning_content": THOUGHT}, reasoning_tokens=usage[1]
        )
    return Said(said, beside={"reasoning_content": THOUGHT}, reasoning_tokens=thought)


def azure(query: str, headers: Mapping[str, str]) -> Said | None:
    if query != "api-version=2024-10-21":
        return error(404, "Resource not found", "404")
    if headers.get("api-key") != KEY:
        return error(401, "Access denied due to invalid subscription key or wrong API endpoint.", "401")
    return None


def schema_ignored(body: Body, n: int) -> Said:
    said = answer(body)
    return Said(f"Sure! Here you are:\n```json\n{said}\n```\nAnything else?" if said[:1] == "{" else said)


def keywords_refused(body: Body, n: int) -> Said:
    """Takes a schema, but not every keyword of it, and not strictly."""
    told = body.get("response_format", {}).get("json_schema", {})
    if "additionalProperties" in json.dumps(told):
        return error(
            400, 'Invalid JSON payload received. Unknown keyword "additionalProperties" in response_format.'
        )
    if "strict" in told:
        return Said(
            status=422,
            body={
                "detail": [
                    {
                        "loc": ["body", "response_format", "json_schema", "strict"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
        )
    return plain(body, n)


def schema_refused(body: Body, n: int) -> Said:
    return (
        error(400, "response_format is not supported by this model")
        if "response_format" in body
        else plain(body, n)
    )


def extras_refused(body: Body, n: int) -> Said:
    """As a server with a closed list of fields says it, all at once."""
    extra = sorted(body.keys() - {"model", "messages", "max_tokens", "temperature", "response_format"})
    mistakes = [
        {
            "type": "extra_forbidden",
            "loc": ["body", name],
            "msg": "Extra inputs are not permitted",
            "input": 1,
        }
        for name in extra
    ]
    return Said(status=422, body={"detail": mistakes}) if extra else plain(body, n)


@dataclass(frozen=True)
class Server:
    script: Callable[[], Script]
    judged: set[str] = field(default_factory=set)
    """Parts that a judge's requests go without."""
    generated: set[str] = field(default_factory=set)
    """Parts that a generation's go without: it asks for texts, without a schema."""
    models: Any = ("tiny",)
    chosen: Mapping[str, object] = field(default_factory=dict)
    gate: Callable[[str, Mapping[str, str]], Said | None] = lambda query, headers: None
    address: str = ""
    """After the base URL."""
    refusals: int = 10**9
    """Most of them, in a run."""


def limited(told: Any) -> Callable[[], Script]:
    return lambda: Limited(plain, 10, 0.2, told)


SERVERS = {
    "o-series": Server(
        lambda: o_series, {"temperature", "top_p"}, {"temperature", "top_p"}, chosen={"top_p": 0.9}
    ),
    "thinks aloud": Server(lambda: qwen),
    "thinks in a field": Server(lambda: deepseek, {"response_format.json_schema"}),
    "Azure": Server(
        lambda: plain, models=error(404, "Resource not found"), gate=azure, address="?api-version=2024-10-21"
    ),
    "/models 401": Server(lambda: plain, models=error(401, "no key for this")),
    "/models 403": Server(lambda: plain, models=error(403, "not for you")),
    "/models 404": Server(lambda: plain, models=None),
    "schema ignored": Server(lambda: schema_ignored),
    "schema partly refused": Server(
        lambda: keywords_refused, {"response_format.additionalProperties", "response_format.strict"}
    ),
    "schema refused": Server(lambda: schema_refused, {"response_format"}),
    "closed list of fields": Server(
        lambda: extras_refused,
        {"seed", "stop", "top_k", "reasoning_effort", "thinking_token_budget", "chat_template_kwargs"},
        {"seed", "stop", "top_k", "reasoning_effort", "thinking_token_budget", "chat_template_kwargs"},
        chosen={
            "stop": ("###",),
            "extra_body": {"top_k": 20},
            "reasoning_effort": "low",
            "reasoning_budget": 10,
            "chat_template": {"enable_thinking": False},
        },
    ),
    "limits in headers": Server(limited("headers"), refusals=N_OPEN - 10),
    "moments alone": Server(limited("retry-after"), refusals=N_OPEN),
}


def ran(
    store: Store, server: Server, kind: str, key: str | None
) -> tuple[dict[str, Any], str, ScriptedServer]:
    """A whole run: its run.json, its summary, the server as it was asked."""
    script = server.script()
    with ScriptedServer(script, server.models, gate=server.gate) as scripted:
        url = scripted.url + server.address
        running = Running(concurrency=N_OPEN, retries=0, key_variable=key)
        if kind == "rubric":
            run = run_to_the_end(
                store, settings(kind, url, **server.chosen), texts(12, LEVELS[:4]), running=running
            )
        else:
            model = {"backend": "openai", "model": "tiny", "base_url": url, **server.chosen}
            asked, _ = ask(KINDS["damage"], {"task": "qa"}, model, {})
            run = run_to_the_end(store, asked, DEMO.read_bytes(), 8, name=DEMO.name, running=running)
    if isinstance(script, Limited):
        assert len(script.refused) <= server.refusals
    told = "\n".join(summary(run, progress_of(store, run.run.run_id)))
    return json.loads(written(run)["run.json"]), told, scripted


@pytest.mark.parametrize("kind", ["rubric", "damage"])
@pytest.mark.parametrize("name", SERVERS)
def test_a_whole_run(store: Store, name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    server = SERVERS[name]
    key = VARIABLE if name == "Azure" else None
    monkeypatch.setenv(VARIABLE, KEY)
    report, told, scripted = ran(store, server, kind, key)
    assert report["state"] == "done"
    n = 12 if kind == "rubric" else 8
    assert (report["items"], report["done"], report["failed"], report["again"]) == (n, n, 0, 0)
    (cost,) = report["costs"]
    assert cost["calls"] >= 48
    missing = server.judged if kind == "rubric" else server.generated
    assert set(report.get("not_sent", {})) == missing
    assert all(count <= cost["calls"] for count in report.get("not_sent", {}).values())
    assert all(part in told for part in missing)
    if missing:
        # What is sent in the end is what the server takes; before, each open request learns for itself.
        assert len(scripted.bodies) <= cost["calls"] + 1 + len(missing | {"max_tokens"}) * N_OPEN


def test_every_text_has_a_score(store: Store) -> None:
    """Of the servers that think first, whose limit would not hold the answer too."""
    for name in ("o-series", "thinks aloud", "thinks in a field"):
        with ScriptedServer(SERVERS[name].script()) as server:
            run = run_to_the_end(
                store, settings("rubric", server.url, name=name.replace(" ", "-")), texts(12, LEVELS[:4])
            )
        scores = [row for row in written(run)["scores.csv"].decode().splitlines()[1:] if row]
        assert len(scores) == 48
        assert json.loads(written(run)["run.json"])["failures"] == []


def test_a_temperature_that_was_not_sent_is_none_of_the_judge(store: Store, tmp_path: Path) -> None:
    for name, temperature in (("o-series", None), ("schema ignored", 0.0)):
        with ScriptedServer(SERVERS[name].script()) as server:
            run = run_to_the_end(store, settings("rubric", server.url, name=name.replace(" ", "-")), texts(1))
        output = judge_output(run)
        assert (output.settings["temperature"], output.temperature) == (0.0, temperature)
        assert read_judge_folder(in_folder(run, tmp_path / name)) == output


def test_the_api_version_is_part_of_who_is_asked() -> None:
    def asked_at(url: str, **given: object) -> Asked:
        return settings("rubric", url, **given)

    version = "2024-10-21"
    url = "https://somewhere.example/openai/deployments/tiny"
    asked = asked_at(f"{url}?api-version={version}")
    assert (asked.model.base_url, asked.model.api_version) == (url, version)
    assert asked == asked_at(url, api_version=version)
    assert asked_at(f"{url}?api-version={version}", api_version=version) == asked
    assert replace(asked, model=asked.model.but(api_version="")) == asked_at(url)
