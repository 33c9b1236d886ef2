"""Models told alike by their names, and the warning wherever a judge reads texts by a model like itself."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers.texts.judge_runs import create_told, settings
from helpers.texts.score_factories import ladder, metric, table

from core.llm.families import alike_note, families_of, likeness, plain_model
from core.results.check.verdict import JudgeFacts, check_panel
from core.results.correlations.table import correlate_scores
from core.schema.panel import Panel
from core.schema.scores import ScoredRow
from core.store import Store

QWEN = "Rubric|score:verdict|model:Qwen/Qwen2.5-7B-Instruct|backend:openai"


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Qwen/Qwen2.5-0.5B-Instruct", "qwen2.5-0.5b-instruct"),
        ("unsloth/Qwen2.5-0.5B-Instruct-bnb-4bit", "qwen2.5-0.5b-instruct"),
        ("/models/qwen2.5-0.5b-instruct-q4_k_m.gguf", "qwen2.5-0.5b-instruct"),
        ("/hub/models--Qwen--Qwen2.5-0.5B-Instruct/snapshots/7ae557604adf67be", "qwen2.5-0.5b-instruct"),
        (r"C:\models\Qwen2.5-0.5B-Instruct-AWQ" + "\\", "qwen2.5-0.5b-instruct"),
        ("gemma3:12b-it-qat", "gemma3:12b-it"),
        ("llama3:latest", "llama3"),
        ("", ""),
    ],
)
def test_names_lose_what_is_not_the_model(name: str, plain: str) -> None:
    assert plain_model(name) == plain


@pytest.mark.parametrize(
    ("names", "family"),
    [
        ("gpt-4o GPT4 openai/gpt-4.1-mini o3-mini o1 chatgpt text-davinci-003 gpt-oss:20b", "GPT"),
        ("meta-llama/Llama-3.1-8B llama3.1:8b CodeLlama-7b-hf", "Llama"),
        ("Qwen3-30B-A3B qwq-32b", "Qwen"),
        ("mistralai/Mixtral-8x7B-v0.1 Ministral-8B mistral-large-latest codestral", "Mistral"),
        ("google/gemma-3-4b-it gemini-1.5-pro Gemini2.5", "Gemma and Gemini"),
        ("claude-3-5-sonnet-20241022 Claude4", "Claude"),
        ("deepseek-chat deepseek-r1:7b", "DeepSeek"),
        ("microsoft/Phi-3-mini-4k phi4", "Phi"),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM"),
        ("command-r-plus CommandR-plus c4ai-command-r-v01", "Command"),
    ],
)
def test_families_are_read_from_names(names: str, family: str) -> None:
    assert [families_of(name) for name in names.split()] == [frozenset({family})] * len(names.split())


@pytest.mark.parametrize(
    "name", ["handwritten", "candidate", "Human-A.0", "ONLINE-W", "refA", "astral", "prometheus-7b-v2.0", ""]
)
def test_unknown_names_make_no_claim(name: str) -> None:
    assert families_of(name) == frozenset()
    assert likeness(name, "gpt-4o") is None
    assert likeness("", "") is None


def test_a_distilled_model_is_of_both_families() -> None:
    assert likeness("DeepSeek-R1-Distill-Qwen-7B", "qwen2.5-7b") == "family"
    assert likeness("DeepSeek-R1-Distill-Qwen-7B", "deepseek-chat") == "family"
    assert likeness("Qwen/Qwen2.5-7B", "qwen2.5-7b-awq") == "model"


def test_the_warning_names_model_and_writers() -> None:
    rows = [ScoredRow("q1", name, labels={"generator": "llama3:8b"}) for name in ("qwen2.5-7b", "Qwen3-8B")]
    assert alike_note("Qwen2.5-7B", rows) == (
        "The judge's model Qwen2.5-7B is the model that wrote the texts of qwen2.5-7b and is of the same family as Qwen3-8B, "
        "which wrote texts: it may favour its own style. Compare with a judge of another family."
    )
    assert "llama3:8b" in str(alike_note("Llama-3-70B", rows)), "the label generator counts"
    assert [alike_note(model, rows) for model in (None, "", "rules", "gpt-4o", "tiny")] == [None] * 5


def test_it_stands_before_a_run(store: Store) -> None:
    lines = [
        {"item_id": "q1", "system": system, "text": "A mill.", "reference": "A mill.", "source": "A mill."}
        for system in ("SmolLM2-135M", "people")
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    for model, n in {"HuggingFaceTB/SmolLM2-360M-Instruct": 1, "gpt-4o": 0}.items():
        asked = settings("rubric", "http://127.0.0.1:9/v1", model=model)
        _, told = create_told(store, data, f"{model[:3]}.jsonl", asked)
        assert sum("SmolLM2-135M" in one for one in told) == n, model
    _, told = create_told(store, data, "rules.jsonl", settings("claims", "", backend="rules"))
    assert not any("own style" in one for one in told)


def test_it_stands_beside_a_check_and_a_correlation() -> None:
    rows = tuple(ScoredRow(str(at), ("qwen2.5-7b", "refA")[at % 2]) for at in range(40))
    values = np.arange(40.0)[:, None] % 5
    found = Panel(
        rows,
        np.arange(40),
        np.array([row.system for row in rows]),
        ("a", "b"),
        np.hstack([values, values]),
        ("j",),
        values,
    )
    facts = {"j": JudgeFacts(model="Qwen3-8B")}
    assert any("Qwen3-8B" in note for note in check_panel(found, facts=facts).notes)
    assert not any("Qwen3-8B" in note for note in check_panel(found).notes)
    signed = replace(metric("judge", family="Rubric"), signature=QWEN)
    scores = table(ladder({"q1": [1, 2], "q2": [2, 1]}, system="Qwen3-8B"), [signed])
    assert any("own style" in note for note in correlate_scores(scores).notes)
    assert not any(
        "own style" in note for note in correlate_scores(replace(scores, metrics=(metric("m"),))).notes
    )
