"""Judges on a server with a context of 8,192 tokens: ordinary texts fit, whatever room answers are given."""

import asyncio
import json
import re
from typing import Any

import pytest
from helpers.processes.scripted_server import Body, Said, ScriptedServer, error
from helpers.texts.judge_oracle import field
from helpers.texts.score_factories import unrated

from core.judges.claims import KIND as CLAIMS
from core.judges.claims import ClaimsRecord, ClaimsSettings
from core.judges.cross_examination import CefRecord, CefSettings, CrossExaminer
from core.judges.kind import Bench, Judge, Judged
from core.llm.asking import Model
from core.llm.client import Request
from core.llm.openai import OpenAIServer
from core.llm.prompts import find_prompt
from core.schema.scores import RatedText

CONTEXT = 8_192
HIGH = ClaimsSettings(atomicity="high", coverage="high")
SENTENCES = [f"The mill number {n} was built by Jan Vermeer in {1500 + n}." for n in range(150)]
TEXT = " ".join(SENTENCES)
"""1,500 words; each sentence is a claim."""


def tokens(text: str) -> int:
    """Four for three words, as tokenizers have it of English."""
    return -(-4 * len(text.split()) // 3)


def answer(body: Body) -> str:
    asked = str(body["messages"][-1]["content"])
    names = body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    if "claims" in names:
        return json.dumps({"claims": SENTENCES})
    if "verdicts" in names:
        numbers = re.findall(r"^(\d+): ", field(asked, "claims"), re.MULTILINE)
        return json.dumps({"verdicts": [{"claim": int(n), "why": "So.", "supported": True} for n in numbers]})
    if "questions" in names:
        return json.dumps({"questions": [f"Is it {n}?" for n in range(names["questions"]["maxItems"])]})
    if "answers" in names:
        n_asked = names["answers"]["maxItems"]
        return json.dumps({"answers": [{"question": n + 1, "answer": "YES"} for n in range(n_asked)]})
    return TEXT


def as_vllm(body: Body, n: int) -> Said | str:
    """Refuses what vLLM's server refuses: a prompt that leaves less than the tokens asked for."""
    prompt = sum(tokens(str(turn["content"])) for turn in body["messages"])
    if prompt + body["max_tokens"] > CONTEXT:
        return error(
            400,
            f"This model's maximum context length is {CONTEXT} tokens. However, you requested "
            f"{prompt + body['max_tokens']} tokens ({prompt} in the messages, {body['max_tokens']} in the completion).",
        )
    said = answer(body)
    return said if tokens(said) <= body["max_tokens"] else Said(said, finish_reason="length")


def judged(judge_of: Any, text: RatedText) -> tuple[Judged, list[Body]]:
    async def whole(url: str) -> Judged:
        client = OpenAIServer(url, "tiny", retries=0)
        await client.start()
        judge: Judge = judge_of(Model(client))
        try:
            return await judge.judge(text)
        finally:
            await client.close()

    with ScriptedServer(as_vllm) as server:
        return asyncio.run(whole(server.url)), server.bodies


def test_claims_of_1500_words_at_the_finest_granularity() -> None:
    prompts = {"decompose": find_prompt("decompose-high-high"), "verify": find_prompt("verify")}
    found, bodies = judged(CLAIMS.open(HIGH, Bench(prompts)), unrated(TEXT, TEXT))
    assert (found.failures, found.scores[0].value) == ((), 1)
    assert isinstance(found.record, ClaimsRecord)
    assert len(found.record.response or ()) == 150
    # Text and reference are one here, so equal requests are asked once: one decomposes, three verify.
    assert len(bodies) == 1 + 3
    assert max(body["max_tokens"] for body in bodies) == 4_096


@pytest.mark.parametrize("n_questions", [10, 100])
def test_a_round_trip_of_1500_words(n_questions: int) -> None:
    names = {"questions": "questions-yes", "answers": "answers", "translate": "translate-back"}
    prompts = {purpose: find_prompt(name) for purpose, name in names.items()}
    settings = CefSettings(mode="round-trip", n_questions=n_questions)
    found, _ = judged(
        lambda model: CrossExaminer(model, prompts, settings), unrated(TEXT, source=TEXT + " It burned.")
    )
    assert (found.failures, found.scores[-1].value) == ((), 1)
    assert isinstance(found.record, CefRecord)
    assert len(found.record.examinations[0].from_text or ()) == n_questions


def test_a_translation_is_never_given_more_than_8192_tokens() -> None:
    asked: list[Request] = []

    class Listening(OpenAIServer):
        async def complete(self, request: Request) -> Any:
            asked.append(request)
            return await super().complete(request)

    async def whole(url: str) -> Judged:
        client = Listening(url, "tiny", retries=0)
        prompts = {
            "questions": find_prompt("questions-yes"),
            "answers": find_prompt("answers"),
            "translate": find_prompt("translate-back"),
        }
        try:
            examiner = CrossExaminer(Model(client, attempts=1), prompts, CefSettings(mode="round-trip"))
            return await examiner.judge(unrated("word " * 20_000, source="word"))
        finally:
            await client.close()

    with ScriptedServer(as_vllm) as server:
        found = asyncio.run(whole(server.url))
    assert [request.max_tokens for request in asked] == [8_192]
    assert found.failures == (("translate back", "too long"),)
