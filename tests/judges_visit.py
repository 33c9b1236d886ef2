"""The page Judges as a test opens it, and judges' runs to show on it, by rules and on a scripted server."""

from dataclasses import replace
from typing import Any

from core.datasets.judge_records import marked_file, question_file
from core.runs.judge_plan import choose_judge_prompts, create_check
from core.runs.model_settings import RunningSettings
from judge_runs import run_to_the_end
from metrics_visit import generated
from model_answers import answer
from scripted_server import Script, ScriptedServer
from streamlit.testing.v1 import AppTest

from core.judges.alignment import MarkedText
from core.judges.answers import question_sets_of
from core.judges.claims.settings import ClaimsSettings
from core.judges.cross_examination.judge import CefSettings
from core.judges.kind import JudgeSettings
from core.judges.rubric import RubricSettings
from core.judges.rubric_files import find_rubric
from core.runs.generation import texts_of_run
from core.runs.judging import judge_output
from core.runs.kinds import job_of
from core.runs.worker import work
from core.schema import Run
from core.store import Store

DEFAULTS = RunningSettings()
PRICES = RunningSettings(input_price=0.15, output_price=0.6)
RULES = JudgeSettings("claims", claims=ClaimsSettings(verifier="rules"))


def page() -> None:
    from pages import judges

    judges.render()


def visit(chosen: tuple[str, int] | None = None, part: str | None = None, slot: str = "judge") -> AppTest:
    """The page as it is first opened, or one part of a judge's run, a look at judges (`check`) or a `file`."""
    at = AppTest.from_function(page, default_timeout=60)
    if chosen is not None:
        at.session_state["judges_chosen"] = chosen
        if part is not None:
            at.session_state[f"judges_part_{slot}"] = part
    at.run()
    assert not at.exception
    return at


def texts(store: Store) -> tuple[bytes, str]:
    """The demo's questions at damage levels 0 to 5, by rules."""
    return texts_of_run(store, generated(store))


def judged(
    store: Store,
    given: tuple[bytes, str],
    settings: JudgeSettings = RULES,
    running: RunningSettings = DEFAULTS,
    limit: int | None = None,
) -> Run:
    """A judge's run that has been worked on in this process."""
    settings = replace(settings, prompts=choose_judge_prompts(settings))
    return run_to_the_end(store, settings, given[0], limit, name=given[1], running=running)


def by_model(
    store: Store, given: tuple[bytes, str], *several: JudgeSettings, script: Script = answer
) -> list[Run]:
    """Runs of judges whose model is a scripted server, with prices."""
    with ScriptedServer(script, models=None) as server:
        asked = [
            replace(one, backend="openai", model=one.model or "org/tiny", base_url=server.url)
            for one in several
        ]
        return [judged(store, given, one, PRICES) for one in asked]


def rubric(**settings: Any) -> JudgeSettings:
    """The shipped rubric's judge."""
    return JudgeSettings(
        "rubric", rubric_text=find_rubric("factual").dump(), rubric=RubricSettings(**settings)
    )


def cef(model: str = "org/tiny", **settings: Any) -> JudgeSettings:
    """A cross-examination against the reference."""
    return JudgeSettings(
        "cef", model=model, cef=CefSettings(**{"mode": "reference", "n_questions": 3, **settings})
    )


def answered(store: Store, runs: list[Run], model: str, script: Script = answer) -> Run:
    """A run in which a model answers the questions of cross-examinations."""
    sets = [one for run in runs for one in question_sets_of(judge_output(store, run))]
    return _checked(store, "answers", question_file(sets), model, script)


def aligned(store: Store, marked: tuple[MarkedText, ...]) -> Run:
    """A run in which rules compare marked errors with mismatches."""
    return _checked(store, "alignment", marked_file(marked), "", None)


def _checked(store: Store, kind: Any, data: bytes, model: str, script: Script | None) -> Run:
    def made(base_url: str) -> Run:
        backend: Any = "openai" if base_url else "rules"
        settings = JudgeSettings(kind, backend=backend, model=model, base_url=base_url)
        settings = replace(settings, prompts=choose_judge_prompts(settings))
        run, _ = create_check(store, data, f"{kind}.jsonl", settings, RunningSettings())
        return work(store, run.run_id, lambda claimed: job_of(store, claimed))

    if script is None:
        return made("")
    with ScriptedServer(script, models=None) as server:
        return made(server.url)
