"""Several runs planned together: found or created, worked off in turn, resumed after a kill, with prices as if alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.models.model_answers import answer
from helpers.processes.scripted_server import ScriptedServer
from helpers.texts import judge_runs
from helpers.texts.judge_runs import RUNNING, settings, worked
from helpers.texts.prompts_tried import prompt_file, texts, verdict

from core.errors import InputError
from core.llm.prompts import find_prompt, load_prompt
from core.results.judges.prompts import compare_prompts
from core.runs.jobs import RunAtHand
from core.runs.judging.several import (
    Variant,
    components_of,
    create_together,
    forecast,
    is_whole,
    prompt_names,
    ratings_in,
    scores_levels,
    tried,
    variants,
    work_through,
)
from core.runs.kinds import KINDS
from core.store import Store
from core.store.kept import step_costs
from core.store.runs import ask_to_stop, list_runs

RUBRIC = KINDS["rubric"]


def judges(folder: Path, url: str, *words: str, models: tuple[str, ...] = ("tiny",)) -> tuple[Variant, ...]:
    prompts = [load_prompt(prompt_file(folder, word)) for word in words]
    return variants(
        [
            (
                settings("rubric", url, prompts=[one], model=model),
                RUNNING.but(input_price=1.0, output_price=2.0),
            )
            for model in models
            for one in prompts
        ]
    )


def work(run: RunAtHand) -> None:
    worked(run)


def test_a_plan_is_worked_off_and_a_second_time_asks_nothing(store: Store, tmp_path: Path) -> None:
    with ScriptedServer(verdict, models=("tiny", "other")) as server:
        plan = judges(tmp_path, server.url, "SHARP", "DULL", models=("tiny", "other"))
        assert [one.name for one in plan] == [
            f"{word} with {model}" for model in ("tiny", "other") for word in ("sharp", "dull")
        ]
        made = create_together(store, texts(2), "t.jsonl", plan)
        progress, refused = work_through([one.run for one in made], work)
        assert [one.state for one in progress] == ["done"] * 4
        assert not refused
        assert len(server.asked) == 40
        again = create_together(store, texts(2), "t.jsonl", plan)
        assert [one.run.run.run_id for one in again] == [one.run.run.run_id for one in made]
        assert all(one.is_whole and not one.is_new for one in again)
        work_through([one.run for one in again], work)
        assert len(server.asked) == 40
    names = [run.settings["name"] for run in list_runs(store)]
    assert len(set(names)) == 4


def test_an_earlier_single_run_is_taken_whatever_its_name(store: Store, tmp_path: Path) -> None:
    with ScriptedServer(verdict) as server:
        single = settings("rubric", server.url)
        run = judge_runs.run_to_the_end(store, single, texts(2), name="t.jsonl")
        plan = variants(
            [
                (single, RUNNING),
                (
                    settings("rubric", server.url, prompts=[load_prompt(prompt_file(tmp_path, "DULL"))]),
                    RUNNING,
                ),
            ]
        )
        made = create_together(store, texts(2), "t.jsonl", plan)
    assert made[0].run.run.run_id == run.run.run_id
    assert [one.is_new for one in made] == [False, True]


def test_a_cancelled_run_ends_the_plan_and_the_rest_is_done_later(store: Store, tmp_path: Path) -> None:
    with ScriptedServer(verdict) as server:
        plan = judges(tmp_path, server.url, "SHARP", "DULL", "EQUAL")
        made = [one.run for one in create_together(store, texts(3), "t.jsonl", plan)]
        ask_to_stop(store, made[1].run.run_id)
        progress, _ = work_through(made, work)
        assert [one.state for one in progress] == ["done", "cancelled", "waiting"]
        again = create_together(store, texts(3), "t.jsonl", plan)
        progress, _ = work_through([one.run for one in again], work)
        assert all(map(is_whole, progress))
        assert len(server.asked) == 45


def test_a_model_that_is_refused_keeps_none_of_the_others_from_their_work(
    store: Store, tmp_path: Path
) -> None:
    with ScriptedServer(verdict, models=("tiny",)) as server:
        plan = judges(tmp_path, server.url, "SHARP", models=("gone", "tiny"))
        made = [one.run for one in create_together(store, texts(2), "t.jsonl", plan)]
        progress, refused = work_through(made, work)
    assert list(refused) == [made[0].run.run_id]
    assert "gone" in refused[made[0].run.run_id]
    assert [one.state for one in progress] == ["done"]


def test_forecasts_add_up(store: Store, tmp_path: Path) -> None:
    with ScriptedServer(verdict) as server:
        plan = judges(tmp_path, server.url, "SHARP", "DULL")
        made = [one.run for one in create_together(store, texts(6), "t.jsonl", plan, limit=2)]
        work_through(made, work)
        found = forecast([run.now() for run in made])
        assert found.calls == sum(one.calls or 0 for one in found.each) == 60
        assert found.money == pytest.approx(sum(one.money or 0 for one in found.each))
        assert found.seconds_low == pytest.approx(sum(one.seconds_low or 0 for one in found.each))
        assert found.time is not None
        rest = create_together(store, texts(6), "t.jsonl", plan)
        work_through([one.run for one in rest], work)
    spent = sum(
        (cost.input_tokens or 0) * 1e-6 + (cost.output_tokens or 0) * 2e-6
        for run in made
        for cost in step_costs(store, run.run.run_id)
    )
    assert found.money == pytest.approx(spent, rel=0.1)


def test_a_forecast_is_unknown_where_one_of_its_parts_is(store: Store, tmp_path: Path) -> None:
    with ScriptedServer(verdict) as server:
        plan = judges(tmp_path, server.url, "SHARP", "DULL")
        made = [one.run for one in create_together(store, texts(6), "t.jsonl", plan, limit=1)]
        worked(made[0])
    found = forecast([run.now() for run in made])
    assert (found.calls, found.money, found.time) == (None, None, None)
    assert found.each[0].calls == 30


def test_prompts_share_equal_steps_and_each_costs_what_it_would_alone(store: Store) -> None:
    """Both judges find claims by the same prompt: the second takes them from the cache, and its price counts them."""
    verify = find_prompt("verify")
    path = Path(store.path).with_name("verify-again.yaml")
    path.write_text(
        "name: verify-again\ntitle: Again\nbased_on: verify\nsystem: Be strict. Texts are material.\n",
        "utf-8",
    )
    again = load_prompt(path)
    assert again.sha256 != verify.sha256
    with ScriptedServer(lambda body, n: answer(body, n)) as server:
        how = RUNNING.but(input_price=1.0, output_price=2.0)
        plan = variants([(settings("claims", server.url, prompts=[one]), how) for one in (verify, again)])
        assert [one.name for one in plan] == ["verify", "verify-again"]
        made = [one.run for one in create_together(store, judge_runs.texts(3), "mills.jsonl", plan)]
        work_through(made, work)
    paid = [{one.step: one for one in step_costs(store, run.run.run_id)} for run in made]
    alone = [{one.step: one for one in step_costs(store, run.run.run_id, alone=True)} for run in made]
    shared = [step for step, one in paid[1].items() if not one.calls]
    assert shared
    for step in shared:
        assert alone[1][step].input_tokens == paid[0][step].input_tokens == alone[0][step].input_tokens
        assert alone[1][step].calls == paid[0][step].calls
        assert alone[1][step].seconds == pytest.approx(paid[0][step].seconds)
    judged, component, notes = tried([run.now() for run in made])
    assert component == "f1"
    assert "precision" in " ".join(notes)
    assert components_of(made) == ("f1", "precision", "recall", "f1-ragas")
    by_hand = sum(
        ((one.input_tokens or 0) * 1 + (one.output_tokens or 0) * 2) / 1e6 for one in alone[1].values()
    )
    assert judged[1].facts.cost == pytest.approx(1_000 * by_hand / 15)
    dear, _, _ = tried([run.now() for run in made], "precision", {"tiny": (10.0, 20.0)})
    assert dear[1].facts.cost == pytest.approx(10 * 1_000 * by_hand / 15)
    found = compare_prompts(judged, component=component, n_resamples=50)
    assert found.main.n == 15


def test_names_tell_prompts_apart_by_hash_where_a_file_was_edited(tmp_path: Path) -> None:
    first = load_prompt(prompt_file(tmp_path, "SHARP"))
    second = load_prompt(prompt_file(tmp_path, "SHARP", "edited"))
    url = "http://127.0.0.1:9/v1"
    asked = [settings("rubric", url, prompts=[one]) for one in (first, second)]
    names = prompt_names(asked)
    assert names == [f"sharp ({one.sha256[:8]})" for one in (first, second)]


def test_judges_to_compare_are_named_by_what_differs_and_must_be_two() -> None:
    def of(*models: str) -> list[str]:
        made = [(settings("rubric", "http://127.0.0.1:9/v1", model=one), RUNNING) for one in models]
        return [one.name for one in variants(made)]

    assert of("a", "b") == ["a", "b"]
    with pytest.raises(InputError):
        of("a", "a")
    with pytest.raises(InputError):
        of("a")


def test_runs_of_several_kinds_other_files_and_settings(store: Store, tmp_path: Path) -> None:
    with ScriptedServer(lambda body, n: answer(body, n)) as server:
        by = [
            settings("rubric", server.url),
            settings("rubric", server.url, repeats=2),
            settings("claims", server.url),
        ]
        runs = [judge_runs.run_to_the_end(store, one, judge_runs.texts(2)) for one in by]
        other = judge_runs.run_to_the_end(store, by[0], judge_runs.texts(3))
    with pytest.raises(InputError, match="rubric"):
        tried([runs[0], runs[2]])
    with pytest.raises(InputError, match=f"run:{runs[0].run.run_id}"):
        tried([runs[0], runs[0]])
    with pytest.raises(InputError, match="nothing"):
        tried(runs[:2], "nothing")
    _, _, notes = tried(runs[:2])
    assert len(notes) == 1, "the number of requests differs"
    named, _, notes = tried([runs[0], other])
    assert [one.name for one in named] == [f"rubric (run {run.run.run_id})" for run in (runs[0], other)]
    assert len(notes) == 1
    assert ratings_in(runs[0]) is None


def test_the_text_of_an_unusable_answer_has_no_score_and_counts(store: Store, tmp_path: Path) -> None:
    def half(body: Any, n: int) -> Any:
        said = verdict(body, n)
        return (
            "no JSON"
            if "DULL" in str(body["messages"][0]["content"]) and '"verdict": 3' in str(said)
            else said
        )

    with ScriptedServer(half) as server:
        plan = judges(tmp_path, server.url, "SHARP", "DULL")
        made = [one.run for one in create_together(store, texts(10), "t.jsonl", plan)]
        work_through(made, work)
        judged, _, _ = tried([run.now() for run in made])
        found = compare_prompts(judged, n_resamples=50)
    dull = next(one for one in found.tried if one.name == "dull")
    assert dull.cost is not None
    assert 0 < dull.cost.unusable < dull.cost.calls
    assert found.main.n + found.main.n_left_out == 50
    assert found.main.n_left_out > 0


def test_a_judge_of_pairs_within_a_level_has_no_quality_by_level(store: Store) -> None:
    """Its scores say which of two answers is better, not how good either is: without people nothing is asked."""
    rows = [
        {
            "item_id": f"q{item}",
            "system": system,
            "level": level,
            "text": f"{system} {level}",
            "source": "What?",
        }
        for item in range(3)
        for system in ("one", "other")
        for level in ("A0", "A3")
    ]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    url = "http://127.0.0.1:9/v1"
    plan = {
        between: variants(
            [(settings("pairwise", url, between=between, model=model), RUNNING) for model in ("a", "b")]
        )
        for between in ("systems", "levels")
    }
    with pytest.raises(InputError, match="people"):
        create_together(store, data, "pairs.jsonl", plan["systems"])
    assert not list_runs(store)
    assert not scores_levels(
        [one.run for one in create_together(store, data, "pairs.jsonl", plan["systems"], with_people=True)]
    )
    assert scores_levels([one.run for one in create_together(store, data, "pairs.jsonl", plan["levels"])])
