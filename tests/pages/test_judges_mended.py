"""The page Judges over time and next to commands: caches, settings copied to the form, and wording."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from helpers.pages.generate_visit import ROOT, html_of, press, said
from helpers.pages.judges_visit import CLAIMS, Judge, aligned, by_model, cef, judged, rubric, visit
from helpers.pages.judges_visit import waiting as unstarted
from helpers.pages.metrics_visit import lines
from helpers.pages.tables_taken import tables_taken

from core.formats.registry import read_ratings
from core.judges.claims import ClaimsSettings
from core.judges.rubric import find_rubric
from core.llm.prompts import find_prompt, parse_prompt
from core.report import flat_rows
from core.results.judges.cross_examination import marked_texts
from core.runs.judging import judge_output
from core.runs.path import saved_run
from core.schema.result_table import ResultTable
from core.schema.runs import Run
from core.schema.settings import fields_of
from core.sources.judges import costs_of
from core.sources.reading import SourceReader
from core.store import Store
from core.store.kept import record_call, step_costs
from core.store.runs import list_runs
from pages.tabs import judged as judged_tabs
from pages.widgets import chosen_scores

pytestmark = pytest.mark.usefixtures("cookies")
FACTS = "The tower was built in 1889. It is 330 metres tall."
OTHER = "The tower was built in 1889. Nobody knows more."


def given(*rows: Mapping[str, str]) -> tuple[bytes, str]:
    """A good text and a worse one, or the texts given."""
    whole = {"item": "1", "system": "s", "reference": FACTS, "source": "What of it?"}
    texts = rows or ({"level": "0", "text": FACTS}, {"level": "1", "text": OTHER})
    return lines(*({**whole, **row} for row in texts)), "texts.jsonl"


def waiting(store: Store, judge: Judge, *prompts: str) -> Run:
    """A run with these prompts that nobody has started."""
    chosen = [parse_prompt(text, "own.yaml") for text in prompts]
    return unstarted(store, given(), partial(judge, prompts=chosen))


@pytest.fixture
def again(store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[Run], Run]:
    """The run that the form makes when another run has filled it and nobody changes it."""
    monkeypatch.setattr("pages.widgets.run_panel.start", lambda run: None)

    def pressed(run: Run) -> Run:
        at = press(visit(("run", run.run_id), "Progress"), "Judge with other settings")
        press(at, "Judge the one item")
        newest = list_runs(store, (run.kind,))[0]
        assert newest.run_id != run.run_id
        return newest

    return pressed


# --- what another run was asked for ---------------------------------------------------------------


def test_settings_given_by_command_alone_are_copied_unchanged(
    store: Store, again: Callable[[Run], Run]
) -> None:
    fields = fields_of(ClaimsSettings)
    for beta in (fields["beta"].lowest, 20.0, fields["beta"].highest):
        asked = {"beta": beta, "temperature": 1.555, "seed": int(fields["seed"].highest or 0)}
        run = waiting(store, partial(CLAIMS, **asked, attempts=33))
        assert again(run).settings == run.settings


def test_uploaded_prompts_are_copied(store: Store, again: Callable[[Run], Run]) -> None:
    own = find_prompt("verify").dump().replace("name: verify", "name: my-own", 1)
    run = waiting(store, CLAIMS, own)
    assert again(run).settings == run.settings


def test_a_shipped_prompt_that_is_not_the_default_is_copied(
    store: Store, again: Callable[[Run], Run]
) -> None:
    run = waiting(store, rubric(), find_prompt("rubric-text").dump())
    assert list(run.settings["prompts"]) == ["rubric-text"]  # type: ignore[call-overload]
    assert again(run).settings == run.settings


def test_prompts_of_another_judge_are_not_offered(store: Store) -> None:
    own = find_prompt("verify").dump().replace("name: verify", "name: my-own", 1)
    run = waiting(store, CLAIMS, own)
    at = press(visit(("run", run.run_id), "Progress"), "Judge with other settings")
    offered = f"Use the prompts of run {run.run_id}: my\\-own".replace("\\", "")
    assert offered in [one.label.replace("\\", "") for one in at.checkbox]
    next(one for one in at.radio if one.label == "Kind").set_value("rubric")
    at.run()
    assert offered not in [one.label.replace("\\", "") for one in at.checkbox]
    assert not at.error


def test_the_settings_of_a_run_include_the_rubric(store: Store) -> None:
    at = visit(("run", waiting(store, rubric()).run_id), "Progress")
    text = said(at)
    assert (ROOT / "data" / "rubrics" / "factual.yaml").is_file()
    assert "factual. Hash" in text
    assert find_rubric("factual").dump().strip() in text


# --- scores that move -----------------------------------------------------------------------------


def test_scores_after_a_resume_are_the_new_ones_though_as_many_items_are_done(store: Store) -> None:
    run = judged(store, given())
    chosen = ("run", run.run_id)
    before = chosen_scores.open_scores(store, chosen).table.values[1, 0]
    with store.writing():
        row = store.row("select result from run_item where run_id = :id", {"id": run.run_id})
        assert row is not None
        result = json.loads(row["result"])
        result["outputs"][1]["scores"][0] = before / 2
        store.table("run_item").update((run.run_id, 0), {"result": json.dumps(result)})
        store.table("run").update(run.run_id, {"finished_utc": "2099-01-01T00:00:00+00:00"})
    assert chosen_scores.open_scores(store, chosen).table.values[1, 0] == before / 2


def test_no_resamples_while_one_of_two_runs_is_working(store: Store) -> None:
    run = judged(store, given())
    still = chosen_scores.open_scores(store, ("run", run.run_id))
    assert chosen_scores.resamples_for(still, still) == 10_000
    assert chosen_scores.resamples_for(still, replace(still, moving=True)) == 0


def test_a_disagreement_shows_the_text_of_the_same_language(store: Store) -> None:
    texts = [
        {"language": language, "level": level, "text": f"{text} ({language})"}
        for language in ("en", "de")
        for level, text in (("0", FACTS), ("1", OTHER))
    ]
    other = [{**row, "level": f"A{row['level']}"} for row in texts]
    first = judged(store, given(*texts))
    by_model(store, given(*other), rubric())
    at = visit(("run", first.run_id), "Judges")
    choice = next(one for one in at.selectbox if str(one.key).startswith("judges_disagreement_"))
    for option in choice.options:
        choice.set_value(option).run()
        cards = [card for card in html_of(at) if "(en)" in card or "(de)" in card]
        assert cards, option
        assert (
            len([one for one in at.expander if one.label.startswith(("This judge: ", "Other judge: "))]) == 2
        )
        languages = {language for language in ("en", "de") if f"({language})" in "".join(cards)}
        assert len(languages) == 1, option
        shown = next(card for card in cards)
        assert ("Nobody" in shown) == ("level 1" in option or "level A1" in option), option


# --- costs ----------------------------------------------------------------------------------------


def test_the_cost_of_an_item_equals_the_account(store: Store) -> None:
    run = waiting(store, rubric())
    call = {"run_id": run.run_id, "step": "rubric", "cached": 0, "seconds": 1.0}
    for position, key, reason, tokens in [(0, "a", None, 7), (0, "b", "timeout", None), (1, "c", None, 100)]:
        record_call(
            store,
            {**call, "position": position, "key": key, "reason": reason}
            | {"input_tokens": tokens, "output_tokens": tokens},
            None,
        )
    (cost,) = step_costs(store, run.run_id, position=0)
    # A call that never reached the model has no tokens to count: 7 is all of them.
    assert (cost.calls, cost.unusable, cost.input_tokens) == (2, 1, 7)
    assert step_costs(store, run.run_id)[0].input_tokens == 107
    assert step_costs(store, run.run_id, position=2) == []


def test_the_account_of_a_run_is_read_once_until_it_changes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Sequence[str]] = []

    def counted(written: Sequence[str], reading: SourceReader) -> Any:
        read.append(written)
        return costs_of(written, reading)

    monkeypatch.setattr(judged_tabs, "costs_of", counted)
    (run,) = by_model(store, given(), rubric())

    def calls() -> int:
        at = visit(("run", run.run_id), "Cost")
        (table,) = [one.value for one in at.dataframe if "Share of input" in one.value.columns]
        return int(table.set_index("Step")["Calls"]["all steps"])

    first = calls()
    assert calls() == first
    assert read == [[f"run:{run.run_id}"]]
    record_call(
        store,
        {"run_id": run.run_id, "position": 0, "key": "new", "step": "rubric", "reason": None, "cached": 0}
        | {"input_tokens": 1, "output_tokens": 1, "seconds": 1.0},
        None,
    )
    assert calls() == first + 1


# --- numbers in files -----------------------------------------------------------------------------


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> dict[str, ResultTable]:
    """Name of a file -> its table, of all that a page offers."""
    return tables_taken(monkeypatch)


def test_questions_asked_again_are_numbers_in_the_file(store: Store, taken: dict[str, ResultTable]) -> None:
    (run,) = by_model(store, given(), cef(reask=True))
    visit(("run", run.run_id), "Reliability")
    rows = flat_rows(taken["judge-reasked"])
    row = next(one for one in rows if (one["side"], one["expected"]) == ("all", "YES"))
    assert (row["YES"], row["unchanged"], row["unchanged_count"], row["no_answer"]) == (
        row["unchanged_n"],
        1.0,
        row["unchanged_n"],
        0,
    )
    assert row["unchanged_low"] < 1.0
    undefined = next(one for one in rows if one["expected"] == "IDK")
    assert undefined["unchanged"] is None
    assert undefined["unchanged_reason"]


def test_a_marked_error_is_a_share_in_the_file(store: Store, taken: dict[str, ResultTable]) -> None:
    (run,) = by_model(store, given({"text": OTHER}), cef())
    marks = "\n".join(
        [
            "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
            f"s\td\t1\tr\ts\t{OTHER.replace('Nobody', '<v>Nobody</v>')}\tAccuracy/Addition\tMajor",
        ]
    ).encode()
    found, _ = marked_texts(judge_output(saved_run(store, run)), read_ratings(marks, "marks.tsv"))
    visit(("run", aligned(store, found).run_id), "Result", "check")
    overall = flat_rows(taken["judge-alignment"])[0]
    assert (overall["by"], overall["caught_n"]) == ("all", 1)
    assert overall["caught"] == overall["caught_count"] / 1
