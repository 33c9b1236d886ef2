"""What a run asked about an item: prompt, reply, thinking and reason of each attempt, told apart by text."""

import json
from collections import Counter
from pathlib import Path

import pytest
from helpers.models.model_answers import answer
from helpers.models.three_tries import BEGUN, THOUGHT, UNREADABLE, ThreeTries
from helpers.processes.scripted_server import Body, Said, ScriptedServer, error
from helpers.texts.judge_runs import LEVELS, run_to_the_end, settings, texts, worked

from core.judges.answers import question_sets_of
from core.llm.client import Call, Message, Reply, Request
from core.runs.calls import ItemCall, became, calls_of, item_report
from core.runs.jobs import RunAtHand
from core.runs.judging import judge_output
from core.runs.records import write_pieces
from core.runs.working.worker import ItemCache
from core.store import Store, open_store
from core.store.kept import item_costs, parts_not_sent, step_costs
from core.tables.reading import printable_text

ANSWER_LENGTH = 1000
"""The limit that the rubric's judge sets."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "assay.db")


def judged(
    store: Store, script: object, kind: str = "rubric", n_items: int = 1, **given: object
) -> RunAtHand:
    with ScriptedServer(script) as server:  # type: ignore[arg-type]  # a script
        return run_to_the_end(store, settings(kind, server.url, **given), texts(n_items, LEVELS[:2]))


def seen(run: RunAtHand, *numbers: int, position: int = 0) -> tuple[ItemCall, ...]:
    return calls_of(run.store, run.run.run_id, position, numbers or None)


def forget_prompts(store: Store) -> None:
    """As a database is in which an older Assay ran."""
    with store.writing():
        store.change("delete from request", {})


def test_every_attempt_has_its_prompt_its_reply_and_why_it_was_not_used(store: Store) -> None:
    run = judged(store, ThreeTries())
    calls = seen(run, 1)
    assert [call.attempt for call in calls] == [1, 2, 2]
    assert [call.verdict for call in calls] == ["not usable", "not usable", "usable"]
    assert [call.reason for call in calls] == [None, "cut off", None]
    assert [bool(call.rejected) for call in calls] == [True, False, False]
    assert calls[0].reply == printable_text(UNREADABLE) != UNREADABLE
    assert (calls[1].reply or "").endswith(BEGUN)
    assert (calls[2].reply or "").endswith("}")
    assert [THOUGHT in f"{call.thinking}{call.reply}" for call in calls] == [False, True, True]
    limits = [call.settings and call.settings["max_tokens"] for call in calls]
    assert limits == [ANSWER_LENGTH, ANSWER_LENGTH, 4 * ANSWER_LENGTH]
    first, again, larger = (call.messages or () for call in calls)
    assert again == larger == (*first, *again[len(first) :])
    assert [message.role for message in again[len(first) :]] == ["assistant", "user"]
    assert (calls[0].rejected or "?") in again[-1].content
    assert [call.begins for call in calls] == [0, len(first), len(first)]
    assert all(call.schema and "verdict" in str(call.schema) for call in calls)
    said = [dict(call.parts).get("Schema") for call in calls]
    assert said == [json.dumps(calls[0].schema), None, None], "further attempts have the first one's"


def test_calls_belong_to_the_text_they_were_made_for(store: Store) -> None:
    run = judged(store, ThreeTries(), n_items=2)
    for position in (0, 1):
        for number, text in enumerate(run.items[f"q{position}"]):
            calls = seen(run, number, position=position)
            assert len(calls) == 3
            assert all(call.texts == (number,) for call in calls)
            assert all(
                f"<response>\n{text.output.text}" in call.messages[1].content
                for call in calls
                if call.messages
            )
    assert len(seen(run)) == 6
    assert [call.texts for call in seen(run)].count((0,)) == 3


def test_what_texts_share_is_one_call_of_each_and_counted_as_before(store: Store) -> None:
    run = judged(store, answer, "claims")
    shared = [call for call in seen(run) if call.texts == (0, 1)]
    assert {call.step for call in shared} == {"claims of the reference"}
    assert shared[0] in seen(run, 0)
    assert shared[0] in seen(run, 1)
    alone = {call.step for call in seen(run, 1)} - {"claims of the reference"}
    assert alone == {"claims of the response", "verify the response", "verify the reference"}
    costs = {cost.step: (cost.calls, cost.cached) for cost in step_costs(store, run.run.run_id)}
    assert costs["claims of the reference"] == (1, 0)
    steps = [call.step for call in seen(run)]
    assert steps == sorted(steps, key=steps.index), "all calls of a step stand together"


def test_questions_of_one_step_are_told_apart(store: Store) -> None:
    run = judged(store, answer, "cef", mode="reference", n_questions=3, answers="each")
    asked = [(call.question, call.attempt) for call in seen(run, 0) if call.step == "answers from text"]
    assert asked == [(1, 1), (2, 1), (3, 1)]
    repeated = judged(store, answer, repeats=2)
    asked_twice = seen(repeated, 0)
    assert [(call.question, call.attempt) for call in asked_twice] == [(1, 1), (2, 1)]
    assert [call.title.partition(", ")[0] for call in asked_twice] == [
        f"{asked_twice[0].step} {number} of 2" for number in (1, 2)
    ]
    (once,) = seen(judged(store, answer), 0)
    assert once.title == f"{once.step}, attempt 1"


def test_a_rejected_reply_counts_as_not_usable(store: Store) -> None:
    run = judged(store, ThreeTries())
    (cost,) = step_costs(store, run.run.run_id)
    assert (cost.calls, cost.unusable) == (6, 4)
    told = [became(call) for call in item_costs(store, run.run.run_id, 0)]
    assert Counter(one.split(":")[0] for one in told) == {"not usable": 4, "usable": 2}
    assert told.count("not usable: cut off") == 2


def test_a_call_without_an_answer_says_why_and_shows_no_later_reply(store: Store) -> None:
    down = [True]

    def script(body: Body, n: int) -> Said | str:
        return error(503, "the mill stands still") if down[0] else answer(body, n)

    with ScriptedServer(script) as server:
        run = run_to_the_end(store, settings("rubric", server.url), texts(1, LEVELS[:1]))
        (call,) = seen(run)
        assert (call.verdict, call.reason, call.reply, call.attempt) == ("no answer", "server error", None, 1)
        assert "the mill stands still" in call.detail
        down[0] = False
        first, then = seen(worked(run))
    assert (first.reply, first.verdict, first.attempt) == (None, "no answer", 1)
    assert (then.verdict, then.attempt, then.begins) == ("usable", 1, len(then.messages or ()))
    assert then.reply


def test_a_reply_found_in_the_cache_is_shown_with_its_prompt(store: Store) -> None:
    with ScriptedServer(ThreeTries()) as server:
        chosen = settings("rubric", server.url)
        first = run_to_the_end(store, chosen, texts(1, LEVELS[:1]))
        forget_prompts(store)
        second = run_to_the_end(store, chosen, texts(1, LEVELS[:1]))
        asked = len(server.asked)
    assert asked == 3
    assert [call.cached for call in seen(second)] == [True] * 3
    assert [call.verdict for call in seen(second)] == ["not usable", "not usable", "usable"]
    assert [call.reply for call in seen(second)] == [call.reply for call in seen(first)]
    assert all(call.messages for call in seen(second))


def test_calls_of_an_older_assay_say_what_is_not_there(store: Store) -> None:
    run = judged(store, ThreeTries())
    forget_prompts(store)
    with store.writing():
        store.change("update run_call set texts = null, rejected = null", {})
    calls = seen(run, 0)
    assert len(calls) == 6, "nobody noted which text they are for"
    assert {(call.messages, call.settings, call.attempt, call.texts) for call in calls} == {
        (None, None, None, None)
    }
    assert {call.verdict for call in calls} == {"complete", "not usable"}
    assert all(call.reply for call in calls)
    assert {call.parts[0][1] for call in calls} == {""}, "its title alone says that the prompt is not stored"


def test_thinking_and_what_was_not_sent_are_kept(store: Store) -> None:
    run = judged(store, answer)
    reply = Reply("Yes.", thinking="Is it?\x00 It is.", thinking_tokens=5, not_sent=("seed", "top_p"))
    request = Request("look", (Message("user", "Is it?"),))
    ItemCache(store, run.run.run_id, 1).record(Call("key", "look", reply, cached=False, request=request))
    assert parts_not_sent(store, run.run.run_id) == {"seed": 1, "top_p": 1}
    ItemCache(store, run.run.run_id, 2).record(Call("key", "look", reply, cached=True, request=request))
    assert parts_not_sent(store, run.run.run_id) == {"seed": 1, "top_p": 1}, "no request, as in the costs"
    assert parts_not_sent(store, run.run.run_id, of_cache=True) == {"seed": 2, "top_p": 2}
    (call,) = seen(run, position=1)
    assert (call.thinking, call.thinking_tokens) == ("Is it?\ufffd It is.", 5)
    assert call.not_sent == ("seed", "top_p")
    assert call.texts == ()
    assert ("Thinking", call.thinking) in call.parts


def test_the_report_is_the_calls_as_json(store: Store) -> None:
    run = judged(store, ThreeTries())
    calls = seen(run, 1)
    report = json.loads(json.dumps(item_report(run, 0, calls)))
    assert (report["run"], report["item"], report["model"]) == (run.run.run_id, "q0", "tiny")
    assert [call["texts"] for call in report["calls"]] == [[{"system": "mills", "level": "A1"}]] * 3
    for found, call in zip(report["calls"], calls, strict=True):
        assert found["messages"] == [
            {"role": one.role, "content": one.content} for one in call.messages or ()
        ]
        assert (found["reply"], found["verdict"], found["rejected"]) == (
            call.reply,
            call.verdict,
            call.rejected,
        )


def test_texts_of_a_generator_are_one_item(store: Store) -> None:
    rows = {"questions": [{"id": "a", "question": "When?", "ground_truth": "In 1900, said Anna Bell."}]}
    with ScriptedServer(answer) as server:
        chosen = settings("damage", server.url, levels=(0, 1))
        made = run_to_the_end(store, chosen, json.dumps(rows).encode(), name="q.json")
    calls = seen(made)
    assert {call.texts for call in calls} == {()}
    assert [len(call.messages or ()) > 0 for call in calls] == [True, True]


def test_pieces_of_an_audit_are_texts_of_their_item(store: Store) -> None:
    run = judged(store, answer, "cef", mode="reference", n_questions=3)
    pieces = question_sets_of(judge_output(run))
    with ScriptedServer(answer) as server:
        chosen = settings("answers", server.url)
        audit = run_to_the_end(store, chosen, write_pieces(pieces), name="questions.jsonl")
    assert len(pieces) == 3, "of the reference once, of two texts"
    for number, piece in enumerate(pieces):
        (call,) = seen(audit, number)
        assert piece.document in "".join(message.content for message in call.messages or ())
        (told,) = item_report(audit, 0, [call])["calls"]  # type: ignore[misc]  # a list
        assert {"system": piece.row.system, "level": piece.row.level} in told["texts"]
