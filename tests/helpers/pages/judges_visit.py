"""The page Judges as a test opens it, and judges' runs to show on it, by rules and on a scripted server."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from helpers.models.model_answers import answer
from helpers.pages.metrics_visit import generated
from helpers.processes.scripted_server import Script, ScriptedServer
from helpers.texts.judge_runs import run_to_the_end, settings
from streamlit.testing.v1 import AppTest

from core.judges.alignment import MarkedText
from core.judges.answers import question_sets_of
from core.runs.asked import Asked, Running
from core.runs.generation import texts_of_run
from core.runs.judging import judge_output
from core.runs.path import create, saved_run
from core.runs.records import write_pieces
from core.schema.runs import Run
from core.store import Store

Judge = Callable[..., Asked]
"""Makes what is asked of a judge on the server at `url`; further settings may be given with it."""
DEFAULTS = Running()
PRICES = Running(input_price=0.15, output_price=0.6)
NOWHERE = "http://127.0.0.1:1/v1"
RULES: Judge = partial(settings, "claims", backend="rules")
CLAIMS: Judge = partial(settings, "claims")


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
    return texts_of_run(generated(store))


def judged(
    store: Store,
    given: tuple[bytes, str],
    judge: Judge = RULES,
    running: Running = DEFAULTS,
    limit: int | None = None,
    *,
    url: str = "",
) -> Run:
    """A judge's run that has been worked on in this process."""
    return run_to_the_end(store, judge(url=url), given[0], limit, name=given[1], running=running).run


def by_model(store: Store, given: tuple[bytes, str], *several: Judge, script: Script = answer) -> list[Run]:
    """Runs of judges whose model is a scripted server, with prices."""
    with ScriptedServer(script, models=None) as server:
        return [judged(store, given, one, PRICES, url=server.url) for one in several]


def waiting(store: Store, given: tuple[bytes, str], judge: Judge) -> Run:
    """A run that asks a server, and that nobody has started."""
    run, _ = create(store, *given, judge(url=NOWHERE), DEFAULTS)
    return run.run


def rubric(**given: Any) -> Judge:
    """The shipped rubric's judge."""
    return partial(settings, "rubric", **{"model": "org/tiny", **given})


def cef(model: str = "org/tiny", **given: Any) -> Judge:
    """A cross-examination against the reference."""
    return partial(settings, "cef", **{"mode": "reference", "n_questions": 3, "model": model, **given})


def answered(store: Store, runs: list[Run], model: str, script: Script = answer) -> Run:
    """A run in which a model answers the questions of cross-examinations."""
    sets = [one for run in runs for one in question_sets_of(judge_output(saved_run(store, run)))]
    with ScriptedServer(script, models=None) as server:
        return _audited(store, settings("answers", server.url, model=model), sets)


def aligned(store: Store, marked: Iterable[MarkedText]) -> Run:
    """A run in which rules compare marked errors with mismatches."""
    return _audited(store, settings("alignment", "", backend="rules"), marked)


def _audited(store: Store, asked: Asked, pieces: Iterable[Any]) -> Run:
    return run_to_the_end(
        store, asked, write_pieces(pieces), name=f"{asked.kind.name}.jsonl", running=DEFAULTS
    ).run
