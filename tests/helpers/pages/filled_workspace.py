"""A workspace with something behind every tab: studies in every state, a run of every kind, kept files, raters on their way.

Everything is made by the product's own functions; models are a scripted server.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from helpers.models.model_answers import answer
from helpers.pages.generate_visit import DEMO
from helpers.pages.judges_visit import NOWHERE, PRICES, aligned
from helpers.pages.metrics_visit import lines
from helpers.processes.scripted_server import Body, Said, ScriptedServer
from helpers.texts.big_tables import big_run, scored_table
from helpers.texts.factories import dataset, guess_all, plain_pairs, prefers, study_in, unblind, vote
from helpers.texts.judge_runs import (
    COMPARING,
    ON_RATINGS,
    marked_texts,
    marks,
    pairs,
    run_to_the_end,
    settings,
    texts,
)
from helpers.texts.rating_studies import rate, rate_all, rating_study
from helpers.texts.rating_studies import unblind as unblind_ratings
from helpers.texts.slips import rated_texts
from helpers.texts.specialist_runs import parrot, says, specialist

from core.formats.registry import read_ratings, read_texts
from core.judges.answers import question_sets_of
from core.judges.twins import TWINS_FILE, plan_twins
from core.results.judges import cross_examination
from core.runs.asked import ask
from core.runs.judging import judge_output
from core.runs.kinds import kinds_that
from core.runs.path import create, written
from core.runs.records import write_pieces
from core.schema.runs import RunState
from core.schema.scores import ErrorSpan
from core.sources.texts import pairs_of_study, texts_of_study
from core.store import Store
from core.store.kept import keep_file
from core.store.runs import finish_run
from core.store.studies import find_study
from core.study.guidelines import CONSENT
from core.study.lifecycle import move, set_wording
from core.study.raters import preview_link

QUESTIONS = b"".join(DEMO.read_bytes().splitlines(keepends=True)[:3])
MORE: dict[str, dict[str, object]] = {
    "rubric": {"repeats": 2, "temperature": 0.7},
    "pairwise": {"repeats": 2, "temperature": 0.7},
    "cef": {"n_questions": 3, "reask": True},
    "automqm": {"repeats": 2, "temperature": 0.7},
}
"""Settings that fill more parts of a judge's tabs than the usual ones do."""
LANGUAGES = ("en", "de")
METRICS = ("bleu-1", "chrf-6-2", "rouge-l")
MODELS = ("org/1", "org/2")
WORDS = ("fail", "pass")


@dataclass(frozen=True)
class Rater:
    """A link, and where on their way its rater is."""

    name: str
    token: str


def fill(store: Store) -> tuple[Rater, ...]:
    """Fill an empty store; return raters at every place of their way."""
    raters = _studies(store)
    with ScriptedServer(_answers, models=None) as server:
        _runs(store, server.url)
    _unfinished_runs(store)
    big_run(store, scored_table(10))
    _kept_files(store)
    return raters


def _answers(body: Body, n: int) -> Said | str:
    """What a judge of rated texts and any other model says."""
    return says(body, n) if _RATED in str(body["messages"][-1]["content"]) else answer(body, n)


_RATED = "was built here."
"""In every text of `slips`, and in no other."""


# --- studies -----------------------------------------------------------------------------------------


def _studies(store: Store) -> tuple[Rater, ...]:
    ended = study_in(
        store, dataset(3, languages=LANGUAGES), name="pairs", raters=("R1", "R2", "R3"), blinding_pairs=3
    )
    for at, (rater, token) in enumerate(ended.tokens.items()):
        desk = vote(store, token, prefers(at % 2))
        guess_all(desk, comment=f"{rater} guesses.")
    unblind(ended)
    with plain_pairs():
        plain = study_in(store, dataset(1), name="plain pairs", raters=("R1", "R2"))
    for token in plain.tokens.values():
        vote(store, token, prefers(0))
    unblind(plain)
    study_in(store, dataset(1), name="draft", raters=(), state="draft")
    study_in(store, dataset(1), name="closed", state="closed")
    rated = rating_study(store, name="ratings")
    for rater in rated.tokens:
        rate_all(rated.desk(rater))
    unblind_ratings(rated)
    rating_study(store, name="draft of ratings", raters=(), state="draft")
    return (*_pair_raters(store), *_text_raters(store))


def _pair_raters(store: Store) -> tuple[Rater, ...]:
    """An open study with early looks, whose raters are everywhere between consent and the last screen."""
    names = ("fresh", "agreed", "began", "voted", "guessing", "done")
    running = study_in(
        store, dataset(1), name="open", raters=names, state="draft", early_looks=True, blinding_pairs=3
    )
    set_wording(store, running.study, "en", {CONSENT: "Your answers are stored."})
    move(store, running.study, "open")
    for name in names[1:]:
        running.desk(name).agree()
    for name in names[2:]:
        for step in range(1, 5):
            running.desk(name).finish_step(step)
    began = running.desk("began")
    began.save_choice(1, "left", seconds=2.5, diff_used="own_a0")
    began.save_note(1, comment="A comment.", invalid=True)
    for name in names[3:]:
        vote(store, running.tokens[name], prefers(0))
    running.desk("guessing").finish()
    guess_all(running.desk("done"))
    preview = preview_link(store, running.study)
    return (*(Rater(name, running.tokens[name]) for name in names), Rater("preview", preview.token))


def _text_raters(store: Store) -> tuple[Rater, ...]:
    """The same of an open rating study with marked errors."""
    names = ("fresh on texts", "began on texts", "rated", "done on texts")
    running = rating_study(store, name="open ratings", raters=names)
    for name in names[1:]:
        running.desk(name).finish_step(1)
    rate(running.desk("began on texts"), 1, spans=[ErrorSpan(0, 4, "major", "accuracy/omission")])
    for name in names[2:]:
        rate_all(running.desk(name))
    running.desk("done on texts").finish()
    return tuple(Rater(name, running.tokens[name]) for name in names)


# --- runs --------------------------------------------------------------------------------------------


def _runs(store: Store, url: str) -> None:
    """A finished run of every kind but a big table's."""
    for kind in kinds_that("generation"):
        run_to_the_end(store, ask(kind, {}, {}, {})[0], QUESTIONS, name=DEMO.name)
        run_to_the_end(store, settings(kind.name, url), QUESTIONS, 1, name=DEMO.name, running=PRICES)
    for kind in kinds_that("scores"):
        asked, _ = ask(kind, {"metrics": METRICS, "synonyms": "none"}, {}, {})
        run_to_the_end(store, asked, pairs(3))
        for name in ("ratings", "pairs"):  # the newest run has levels, votes and two systems
            data, file_name = texts_of_study(store, find_study(store, name))
            run_to_the_end(store, asked, data, name=file_name)
    for name in (name for name in COMPARING if name != "cef"):
        run_to_the_end(store, settings(name, url, **MORE.get(name, {})), texts(3), running=PRICES)
    for name in ON_PAIRS:
        asked = settings(name, url, **MORE.get(name, {}))
        for study in ("open", "pairs"):
            data, file_name = pairs_of_study(store, find_study(store, study))
            run_to_the_end(store, asked, data, name=file_name, running=PRICES)
    for name in ON_RATINGS:
        for model in MODELS:
            asked = specialist(name, url, model=model, **MORE.get(name, {}))
            run_to_the_end(store, asked, rated_texts(3), name="rated.jsonl", running=PRICES)
    run_to_the_end(store, parrot(), rated_texts(3), name="rated.jsonl")
    _audits(store, url)


ON_PAIRS = tuple(kind.name for kind in kinds_that("judging") if kind.reads == "pairs")


def _audits(store: Store, url: str) -> None:
    """Models that answer a judge's questions, marked errors beside its mismatches, and twins with a judge of them."""
    asked = [settings("cef", url, model=model, **MORE["cef"]) for model in MODELS]
    data = marked_texts().encode()
    marked = [run_to_the_end(store, one, data, name="marked.jsonl", running=PRICES) for one in asked]
    sets = [one for run in marked for one in question_sets_of(judge_output(run))]
    for model in MODELS:
        run_to_the_end(
            store, settings("answers", url, model=model), write_pieces(sets), name="questions.jsonl"
        )
    of_people = read_ratings(marks().encode(), "marks.tsv")
    aligned(store, cross_examination.marked_texts(judge_output(marked[0]), of_people)[0])
    twins = plan_twins(read_texts(texts(2), "mills.jsonl")).twins
    by_rules = settings("twins", "", backend="rules")
    made = run_to_the_end(store, by_rules, write_pieces(twins), name="twins-mills.jsonl")
    run_to_the_end(store, settings("rubric", url), written(made)[TWINS_FILE], name=TWINS_FILE, running=PRICES)


def _unfinished_runs(store: Store) -> None:
    """Runs that wait, were stopped, or have texts without an answer."""
    states: tuple[RunState, ...] = ("waiting", "stopped")
    for state in states:
        run, _ = create(store, texts(2), f"{state}.jsonl", settings("claims", NOWHERE), PRICES)
        if state != "waiting":
            finish_run(store, run.run.run_id, state, f"The run is {state}.")
    with ScriptedServer(lambda body, n: answer(body, n) if n % 3 else "no answer", models=None) as server:
        run_to_the_end(store, settings("rubric", server.url), texts(2), name="gaps.jsonl", running=PRICES)


# --- files -------------------------------------------------------------------------------------------


def _kept_files(store: Store) -> None:
    """Ratings and scores of two dimensions, correlations."""
    drawn = np.random.default_rng(3)
    items = [{"item": n, "system": "AB"[n % 2], "language": LANGUAGES[n % 3 == 0]} for n in range(40)]
    quality = drawn.integers(0, 3, len(items))

    def near() -> list[int]:
        return [int(np.clip(one + drawn.integers(-1, 2), 0, 2)) for one in quality]

    people = [
        {**item, "rater": rater, "dimension": dimension, "score": score}
        for rater in ("r1", "r2", "r3")
        for dimension in ("LA", "H")
        for item, score in zip(items, near(), strict=True)
    ]
    judged = [{**item, "gpt-LA": a, "gpt-H": b} for item, a, b in zip(items, near(), near(), strict=True)]
    keep_file(store, "ratings", "people.jsonl", lines(*people), {})
    keep_file(store, "ratings", "marks.tsv", marks().encode(), {})
    keep_file(store, "scores", "judge.jsonl", lines(*judged), {})
    by_metric = {
        name: {"spearman": at / 10, "pearson": at / 9, "kendall": at / 12} for at, name in enumerate(METRICS)
    }
    keep_file(store, "ratings", "rated.jsonl", rated_texts(3), {})
    keep_file(store, "correlations", "correlations.json", json.dumps(by_metric).encode(), {})


def labels() -> tuple[bytes, str]:
    """A file for the page Check: three raters, two judges that say how sure they are, groups, texts, some labels missing."""
    drawn = np.random.default_rng(5)
    good = drawn.random(120) < 0.5

    def right(share: float) -> Any:
        return np.where(drawn.random(good.size) < share, good, ~good)

    raters, judges = [right(0.9) for _ in range(3)], {"judge": right(0.85), "cheap": right(0.7)}
    rows = [
        {
            "id": f"q{at}",
            "system": f"s{at % 2}",
            "language": LANGUAGES[at % 2],
            "question": f"What is {at}?",
            "answer": f"It is {at}.",
            **{
                f"rater_{n + 1}": WORDS[int(rater[at])] if at < 90 else None for n, rater in enumerate(raters)
            },
            **{name: WORDS[int(judge[at])] for name, judge in judges.items()},
            "confidence": (at % 10) / 10,
        }
        for at in range(good.size)
    ]
    return lines(*rows), "labels.jsonl"
