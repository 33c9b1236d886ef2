"""`judge rubric|claims|cef`: a judge scores texts; its scores and how it came to them go into a folder."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from core.cli.model_options import add_how, add_who, model_given, prompts_given, running_given
from core.cli.options import Commands
from core.cli.run_here import check_folder, finish_in_folder, go_where_it_runs, work_or_forget
from core.cli.texts_given import MEANING, NAMES, check_given, print_notes, read_given
from core.judges.rubric_files import find_rubric
from core.judges.settings import (
    Answering,
    CefSettings,
    ClaimsSettings,
    Detail,
    Mode,
    Orders,
    Questions,
    RubricSettings,
    Verifier,
)
from core.runs.judge_plan import (
    choose_judge_prompts,
    create_judging,
    find_same_judging,
    prepare_judging,
)
from core.runs.judge_settings import JudgeSettings, check_judge, usual_verifier
from core.runs.model_settings import RunningSettings, running_of
from core.runs.plan import named_prompts
from core.runs.score_sources import Texts
from core.schema import JudgeKind, Run
from core.store import Store, database_path, open_store

_RUBRIC, _CLAIMS, _CEF = RubricSettings(), ClaimsSettings(), CefSettings()
_SHIPPED_RUBRIC = "factual"
Read = Callable[[Store], Texts]
"""Reads the file that a run is to work on, and its name."""


def add_rubric(verbs: Commands) -> None:
    """Register `judge rubric`."""
    command = verbs.add_parser(
        "rubric", help="a verdict on the rubric's scale, with feedback; needs references"
    )
    add_common(command)
    command.add_argument(
        "--rubric", default=_SHIPPED_RUBRIC, metavar="NAME|FILE", help="criterion and scale (%(default)s)"
    )
    command.add_argument(
        "--order",
        choices=get_args(Orders),
        default=_RUBRIC.order,
        help="which text it reads first; both: asked in each order, the score is the mean (%(default)s)",
    )
    add_repeats(command, _RUBRIC.repeats, "times that it is asked in each order; the score is the mean")
    add_sampling(command)
    add_how(command, same="these texts")
    command.set_defaults(run=_rubric)


def add_claims(verbs: Commands) -> None:
    """Register `judge claims`."""
    command = verbs.add_parser(
        "claims", help="claims of text and reference, each verified against the other; needs references"
    )
    add_common(command)
    command.add_argument(
        "--atomicity",
        choices=get_args(Detail),
        default=_CLAIMS.atomicity,
        help="low: a claim may hold several facts; high: one fact a claim (%(default)s)",
    )
    command.add_argument(
        "--coverage",
        choices=get_args(Detail),
        default=_CLAIMS.coverage,
        help="low: the main statements; high: everything that is said (%(default)s)",
    )
    command.add_argument(
        "--beta",
        type=float,
        default=_CLAIMS.beta,
        help="above 1 recall weighs more, below 1 precision (%(default)g)",
    )
    command.add_argument(
        "--verifier",
        choices=get_args(Verifier),
        help="who verifies claims (default: nli with --nli, rules with --backend rules, else llm)",
    )
    command.add_argument("--nli", default="", metavar="PATH", help="entailment model of --verifier nli")
    command.add_argument(
        "--device", default=_CLAIMS.device, help="of the entailment model: auto, cpu, cuda (%(default)s)"
    )
    add_sampling(command, "of the model's answers")
    add_how(command, same="these texts")
    command.set_defaults(run=_claims)


def add_cef(verbs: Commands) -> None:
    """Register `judge cef`."""
    command = verbs.add_parser(
        "cef", help="cross-examination: questions from each text, answered from the other"
    )
    add_common(command)
    command.add_argument(
        "--mode",
        choices=get_args(Mode),
        default=_CEF.mode,
        help="against the source, the reference, or the source after the text was translated back (%(default)s)",
    )
    command.add_argument(
        "--answers",
        choices=get_args(Answering),
        default=_CEF.answers,
        help="each: one call a question, as the paper; batch: all questions of a text in one (%(default)s)",
    )
    command.add_argument(
        "--questions",
        type=int,
        default=_CEF.n_questions,
        metavar="N",
        help="asked for from each of the two texts (%(default)s)",
    )
    command.add_argument(
        "--kind-of-questions",
        choices=get_args(Questions),
        default=_CEF.questions,
        help="yes: their own text answers all with YES; mixed: with YES, NO or IDK (%(default)s)",
    )
    command.add_argument(
        "--reask", action="store_true", help="also ask every question of its own text; scores do not change"
    )
    command.add_argument(
        "--source-language",
        default=_CEF.source_language,
        metavar="NAME",
        help="round-trip: into which language a text is translated back (%(default)s)",
    )
    add_repeats(command, _CEF.repeats, "whole examinations; the score is their mean")
    add_sampling(command)
    add_how(command, same="these texts")
    command.set_defaults(run=_cef)


def add_common(command: argparse.ArgumentParser, meaning: str = MEANING, does: str = "judges") -> None:
    """Texts, folder, backend and name. meaning: of the texts; does: what the backend does here."""
    command.add_argument("texts", metavar=NAMES, help=meaning)
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    add_who(command, does)
    command.add_argument(
        "--name", default="", help="what the judge's columns begin with (default: its kind, mode and model)"
    )
    command.add_argument("--language-pair", metavar="PAIR", help="of a folder with several, such as en-de")


def add_repeats(command: argparse.ArgumentParser, default: int, text: str) -> None:
    """`--repeats`."""
    command.add_argument("--repeats", type=int, default=default, help=f"{text} (%(default)s)")


def add_sampling(
    command: argparse.ArgumentParser, seed: str = "of the first repeat; each has the next"
) -> None:
    """`--temperature` and `--seed`. seed: what it is the seed of."""
    command.add_argument(
        "--temperature", type=float, default=_RUBRIC.temperature, help="of the model's answers (%(default)g)"
    )
    command.add_argument("--seed", type=int, default=_RUBRIC.seed, help=f"{seed} (%(default)s)")


def _rubric(options: argparse.Namespace) -> None:
    chosen = find_rubric(options.rubric)
    rubric = RubricSettings(options.order, options.repeats, options.temperature, options.seed)
    judge_texts(options, "rubric", rubric=rubric, rubric_text=chosen.dump())


def _claims(options: argparse.Namespace) -> None:
    claims = ClaimsSettings(
        atomicity=options.atomicity,
        coverage=options.coverage,
        verifier=options.verifier or usual_verifier(options.backend, options.nli),
        nli_model=options.nli,
        device=options.device,
        beta=options.beta,
        temperature=options.temperature,
        seed=options.seed,
    )
    judge_texts(options, "claims", claims=claims)


def _cef(options: argparse.Namespace) -> None:
    cef = CefSettings(
        mode=options.mode,
        answers=options.answers,
        n_questions=options.questions,
        questions=options.kind_of_questions,
        reask=options.reask,
        repeats=options.repeats,
        temperature=options.temperature,
        seed=options.seed,
        source_language=options.source_language,
    )
    judge_texts(options, "cef", cef=cef)


def judge_texts(
    options: argparse.Namespace, kind: JudgeKind, read: Read | None = None, **of_kind: Any
) -> None:
    """Judge what the command names, and write what came of it. read: the texts; None: any texts to be scored."""
    settings = JudgeSettings(kind=kind, name=options.name, **model_given(options), **of_kind)
    settings, running = with_prompts(options, settings)
    check_given(options.texts, options.db)
    go_where_it_runs("neural" if settings.needs_nli else settings.backend)
    with open_store(database_path(options.db)) as store:
        run = _run(store, options, settings, running, read)
        work_or_forget(store, run)
        finish_in_folder(store, run.run_id, options.out)


def with_prompts(
    options: argparse.Namespace, settings: JudgeSettings
) -> tuple[JudgeSettings, RunningSettings]:
    """The settings with their prompts, and how the run is worked on. Raises InputError with all problems of either."""
    running = running_given(options)
    chosen = named_prompts(prompts_given(options))
    check_judge(settings, running)
    return replace(settings, prompts=choose_judge_prompts(settings, chosen)), running


def found_again(store: Store, options: argparse.Namespace, found: Run) -> Run:
    """The run that `--resume` has found, set to go on as it did, but for what the command names."""
    check_folder(options.out, found)
    return prepare_judging(store, found, running_given(options, running_of(found)), options.limit)


def _run(
    store: Store,
    options: argparse.Namespace,
    settings: JudgeSettings,
    running: RunningSettings,
    read: Read | None,
) -> Run:
    """A run of these texts: the one to go on with, or a new one."""
    if read is None:
        data, file_name = read_given(store, options.texts, options.language_pair)
    else:
        data, file_name = read(store)
    if options.resume:
        return found_again(store, options, find_same_judging(store, data, settings))
    check_folder(options.out, None, lambda: find_same_judging(store, data, settings))
    run, outputs = create_judging(store, data, file_name, settings, running, options.limit)
    print_notes(outputs)
    return run
