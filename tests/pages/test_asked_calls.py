"""What the model was asked, on the pages Judges, Specialist and Generate: the same as in the command."""

import json
from typing import Any

import pytest
from helpers.models.three_tries import UNREADABLE, ThreeTries
from helpers.pages import generate_visit
from helpers.pages.generate_visit import said
from helpers.pages.judges_visit import by_model, judged, rubric, visit
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts.judge_runs import run_to_the_end, settings
from helpers.texts.judge_runs import texts as mills
from streamlit.testing.v1 import AppTest

from core.runs.calls import calls_of
from core.schema.runs import Run
from core.store import Store
from core.tables.reading import printable_text
from pages.widgets import chosen_judge
from pages.widgets.chosen_judge import KEY, LABEL, QUESTION

pytestmark = pytest.mark.usefixtures("cookies")


@pytest.fixture
def run(store: Store) -> Run:
    """A run of the rubric judge with two unusable replies to each prompt; two texts of one item."""
    (run,) = by_model(store, (mills(1, ("A0", "A1")), "mills.jsonl"), rubric(), script=ThreeTries())
    return run


def opened(run: Run, number: int) -> AppTest:
    """The tab Texts at one of the two texts of the item, with the calls open."""
    at = visit(("run", run.run_id), "Texts")
    at.session_state[KEY] = True
    at.selectbox(key="judges_text_order").set_value("as in the file")
    at.run()
    next(one for one in at.selectbox if one.label == "Text").set_value(number)
    at.run()
    assert not at.exception
    return at


def test_nothing_is_read_before_it_is_opened(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []

    def counted(*asked: Any) -> Any:
        read.append(asked)
        return calls_of(*asked)

    monkeypatch.setattr(chosen_judge, "calls_of", counted)
    at = visit(("run", run.run_id), "Texts")
    assert LABEL in [one.label for one in at.expander]
    assert (read, len(at.code)) == ([], 0)
    at = opened(run, 1)
    assert 0 < len(read) <= 3, "once each time that the page is drawn"
    assert len(at.code) > 0


@pytest.mark.parametrize("number", [0, 1])
def test_a_text_shows_the_same_calls_as_the_command(store: Store, run: Run, number: int) -> None:
    at = opened(run, number)
    calls = calls_of(store, run.run_id, 0, [number])
    parts = [(title, text) for call in calls for title, text in call.parts]
    assert [one.value for one in at.code] == [text for _, text in parts if text]
    shown = said(at)
    assert [title for title, _ in parts if title not in shown and title != "Thinking"] == []
    assert [call.became for call in calls if f"{call.title}: {call.became}" not in shown] == []


def test_a_reply_is_shown_as_it_came_and_never_as_markdown(run: Run) -> None:
    at = opened(run, 0)
    assert printable_text(UNREADABLE) in [one.value for one in at.code]
    elsewhere = "\n".join(one.value for one in at.markdown)
    assert "<b>Good</b>" not in elsewhere
    assert "outside.invalid" not in elsewhere
    assert {one.language for one in at.code} == {"plaintext"}


def test_one_question_of_several_is_chosen(store: Store) -> None:
    (run,) = by_model(store, (mills(1, ("A0",)), "mills.jsonl"), rubric(repeats=2), script=ThreeTries())
    at = opened(run, 0)
    choice = next(one for one in at.selectbox if one.label == QUESTION)
    assert len(choice.options) == 2
    first = [one.value for one in at.code]
    choice.set_value(1)
    at.run()
    second = [one.value for one in at.code]
    assert len(first) == len(second)
    assert ("seed: 0" in first[0], "seed: 1" in second[0]) == (True, True)


def test_rules_have_no_calls_to_show(store: Store) -> None:
    run = judged(store, (mills(1, ("A0",)), "mills.jsonl"))
    assert LABEL not in [one.label for one in visit(("run", run.run_id), "Texts").expander]


def test_generation_shows_prompts_and_marks_rejected_replies(store: Store) -> None:
    rows = {
        "questions": [{"id": "a", "question": "When?", "ground_truth": "In 1900, said Anna Bell of York."}]
    }
    with ScriptedServer(ThreeTries()) as server:
        chosen = settings("factual", server.url)
        made = run_to_the_end(store, chosen, json.dumps(rows).encode(), name="q.json")
    at = generate_visit.visit(made, "Items")
    calls = calls_of(store, made.run.run_id, 0)
    replies = next(table.value for table in at.table if "Reply" in table.value.columns)["Reply"]
    assert len(replies) == len(calls)
    assert (
        sum(one.startswith("not usable") for one in replies)
        == sum(one.verdict != "usable" for one in calls)
        > 0
    )
    at.session_state[KEY] = True
    at.run()
    assert next(text for _, text in calls[0].parts if text) in [one.value for one in at.code]
