"""`generate`: answers of known quality, A0-A4 or damage levels 0-5, and the replay of a published report."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from core.cli.model_options import add_how, add_who, model_given, prompts_given, running_given
from core.cli.options import Commands, level_list, read_file
from core.cli.run_here import check_folder, finish_in_folder, go_where_it_runs, work_or_forget
from core.datasets.factual_report import read_report
from core.errors import InputError
from core.generation.damage_steps import DAMAGE_LEVELS, DamageSettings
from core.generation.factual.replay import replay
from core.generation.factual.steps import FactualSettings
from core.generation.records import EditCalls, FilterOrder, QuestionFilter, Task
from core.runs.model_settings import running_of
from core.runs.plan import choose_prompts, create_run, find_same, named_prompts, prepare_again
from core.runs.settings import MOST_LEVELS, GenerationSettings
from core.schema import GenerationKind
from core.store import database_path, open_store

_FACTUAL = FactualSettings()


def add_to(nouns: Commands) -> None:
    """Register `generate` and its verbs."""
    noun = nouns.add_parser("generate", help="make answers of known quality")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    _add_factual(verbs)
    _add_damage(verbs)
    command = verbs.add_parser(
        "replay", help="check a published A0-A4 report against the steps it says it took"
    )
    command.add_argument("report", type=Path, help="report.json of a factual run, ours or the paper's")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_replay)


def _add_factual(verbs: Commands) -> None:
    command = verbs.add_parser(
        "factual", help="A0 (as good as the reference) to A4: more wrong facts at each level"
    )
    _add_common(command, "A0-A4, or the number of levels beyond A0 (default A0-A4)")
    command.add_argument(
        "--keep",
        type=float,
        default=_FACTUAL.keep,
        help="share of ranked spans that may be edited (%(default)s)",
    )
    command.add_argument(
        "--filter-order",
        choices=get_args(FilterOrder),
        default=_FACTUAL.filter_order,
        help="paper: drop what the question names, then keep; trutheval: the other way round (%(default)s)",
    )
    command.add_argument(
        "--question-filter",
        choices=get_args(QuestionFilter),
        default=_FACTUAL.question_filter,
        help="words: case and punctuation off on both sides; trutheval: as that code does it (%(default)s)",
    )
    command.add_argument(
        "--edit-calls",
        choices=get_args(EditCalls),
        default=_FACTUAL.edit_calls,
        help="each: one call a level, as the paper; shared: one for all levels (%(default)s)",
    )
    command.add_argument(
        "--parser", default=_FACTUAL.parser, help="auto, rules, or the name of a spaCy model (%(default)s)"
    )
    command.set_defaults(run=_factual)


def _add_damage(verbs: Commands) -> None:
    command = verbs.add_parser("damage", help="damage levels 0 (a paraphrase) to 5 (wrong throughout)")
    _add_common(command, "such as 0-5 or 0,3,5 (default 0-5)")
    command.add_argument(
        "--task", choices=get_args(Task), default="qa", help="what the texts are (%(default)s)"
    )
    command.set_defaults(run=_damage)


def _add_common(command: argparse.ArgumentParser, levels: str) -> None:
    command.add_argument("file", type=Path, help="questions and references: JSON, CSV or JSONL")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    add_who(command, "makes the answers", "rules")
    command.add_argument("--levels", help=levels)
    command.add_argument("--seed", type=int, default=0, help="of everything that is drawn (%(default)s)")
    command.add_argument(
        "--source", default="", help="name of these answers in files and studies (default: the model's)"
    )
    add_how(command)


def _factual(options: argparse.Namespace) -> None:
    factual = FactualSettings(
        n_levels=_levels_beyond_a0(options.levels),
        keep=options.keep,
        filter_order=options.filter_order,
        question_filter=options.question_filter,
        edit_calls=options.edit_calls,
        parser=options.parser,
        seed=options.seed,
    )
    _generate(options, "factual", factual=factual)


def _damage(options: argparse.Namespace) -> None:
    damage = DamageSettings(options.task, _damage_levels(options.levels), options.seed)
    _generate(options, "damage", damage=damage)


def _generate(options: argparse.Namespace, kind: GenerationKind, **scheme: Any) -> None:
    data = read_file(options.file)
    go_where_it_runs(options.backend)
    settings = GenerationSettings(
        kind=kind,
        source=options.source,
        prompts=_prompts(options, kind),
        **model_given(options),
        **scheme,
    )
    running = running_given(options)
    with open_store(database_path(options.db)) as store:
        if options.resume:
            found = find_same(store, data, settings)
            check_folder(options.out, found)
            run = prepare_again(store, found, running_given(options, running_of(found)), options.limit)
        else:
            check_folder(options.out, None, lambda: find_same(store, data, settings))
            run, materials = create_run(store, data, options.file.name, settings, running, options.limit)
            for note in materials.notes:
                print(f"Note: {note}")
        work_or_forget(store, run)
        finish_in_folder(store, run.run_id, options.out)


def _prompts(options: argparse.Namespace, kind: GenerationKind) -> dict[str, str]:
    chosen = prompts_given(options)
    if options.backend == "rules":
        return {}
    task: Task = options.task if kind == "damage" else "qa"
    calls: EditCalls = options.edit_calls if kind == "factual" else "each"
    return choose_prompts(kind, task, calls, named_prompts(chosen))


def _levels_beyond_a0(text: str | None) -> int:
    if text is None:
        return _FACTUAL.n_levels
    number = text.strip().upper().removeprefix("A0-A")
    if not number.isascii() or not number.isdigit():
        raise InputError(
            f"--levels: {text!r} is neither A0-A1 ... A0-A{MOST_LEVELS} nor a number of levels beyond A0."
        )
    return int(number)


def _damage_levels(text: str | None) -> tuple[int, ...]:
    if text is None:
        return DAMAGE_LEVELS
    names = [str(level) for level in DAMAGE_LEVELS]
    return tuple(int(level) for level in level_list(tuple(names), text) or ())


def _replay(options: argparse.Namespace) -> None:
    result = replay(read_report(read_file(options.report), options.report.name))
    if options.json:
        print(json.dumps(asdict(result), indent=2, ensure_ascii=False))
        return
    rows = (
        ("items", result.items),
        ("brackets of A0 are the spans", result.brackets_match),
        ("filter as the code orders it (keep, then drop)", result.filter_match_code_order),
        ("filter as the paper orders it (drop, then keep)", result.filter_match_paper_order),
        ("group sizes are the brackets removed", result.group_sizes_match),
    )
    for name, value in rows:
        print(f"{value:>4}  {name}")
    print(result.verdict)
