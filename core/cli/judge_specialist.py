"""`judge automqm|direct|quality`: judges that people's ratings may stand behind, as examples of what to say."""

import argparse
from functools import partial
from typing import Any, get_args

from core.cli.judge_run import add_common, add_repeats, add_sampling, judge_texts
from core.cli.model_options import add_how
from core.cli.options import Commands
from core.cli.rated_given import add_ratings, rated_given, task_given
from core.datasets.task_files import dump_task
from core.judges.settings import (
    AutoMqmSettings,
    DirectSettings,
    ExamplesFrom,
    Majority,
    Occurrences,
    Prompting,
    QualitySettings,
)
from core.runs.rated_plan import USUAL_TASKS
from core.schema import RatedKind

_AUTOMQM, _DIRECT, _QUALITY = AutoMqmSettings(), DirectSettings(), QualitySettings()
_MEANING = (
    "texts, with ratings or without: rated JSONL, CSV, JSONL or JSON, an mt-metrics-eval folder, what run N generated, an "
    "unblinded study"
)
_TEXTS = "these texts and ratings"


def add_specialists(verbs: Commands) -> None:
    """Register the three verbs."""
    _add_automqm(verbs)
    _add_direct(verbs)
    _add_quality(verbs)


def _add_automqm(verbs: Commands) -> None:
    command = verbs.add_parser(
        "automqm",
        help="errors marked in each text, with severity and category; examples are other systems' rated texts",
    )
    add_common(command, _MEANING, "marks errors; rules: the Parrot, which repeats its examples' errors")
    add_ratings(command, of_errors=True)
    _add_task(command, "automqm", "severities and categories")
    _add_examples(command)
    command.add_argument(
        "--filtered",
        action="store_true",
        help="no examples equal to the judged text, and none of the errors that people marked in it",
    )
    command.add_argument(
        "--occurrences",
        choices=get_args(Occurrences),
        default=_AUTOMQM.occurrences,
        help="of words that stand in a text several times, what the Parrot marks (%(default)s)",
    )
    add_repeats(command, _AUTOMQM.repeats, "draws of examples; the score is the mean")
    add_sampling(command, "of draws and answers: of the first repeat; each has the next")
    add_how(command, same=_TEXTS)
    command.set_defaults(run=_automqm)


def _add_direct(verbs: Commands) -> None:
    command = verbs.add_parser(
        "direct", help="one number for each text, such as 0 to 100; examples are other systems' rated texts"
    )
    add_common(command, _MEANING)
    add_ratings(command)
    _add_task(command, "direct", "the dimension and its scale")
    command.add_argument(
        "--dimension", default=_DIRECT.dimension, help="of the task and of the ratings (%(default)s)"
    )
    _add_examples(command)
    add_repeats(command, _DIRECT.repeats, "draws of examples; the score is the mean")
    add_sampling(command, "of draws and answers: of the first repeat; each has the next")
    add_how(command, same=_TEXTS)
    command.set_defaults(run=_direct)


def _add_quality(verbs: Commands) -> None:
    command = verbs.add_parser(
        "quality", help="a class on every dimension of a task, with a justification, in any language"
    )
    add_common(command, _MEANING)
    add_ratings(command)
    _add_task(command, "quality", "the dimensions and their classes")
    command.add_argument(
        "--prompting",
        choices=get_args(Prompting),
        default=_QUALITY.prompting,
        help="single: a call a dimension; compound: all in one; detailed: a call each, longer instructions (%(default)s)",
    )
    command.add_argument(
        "--shots",
        type=int,
        default=_QUALITY.shots,
        metavar="N",
        help="examples of each class, from items that are held out and not judged (%(default)s)",
    )
    command.add_argument(
        "--held-out",
        type=float,
        default=_QUALITY.held_out,
        metavar="SHARE",
        help="of the rated items, with --shots (%(default)g)",
    )
    command.add_argument(
        "--majority",
        choices=get_args(Majority),
        default=_QUALITY.majority,
        help="an example's class where raters are split; middle: only where a rater gave it (%(default)s)",
    )
    command.add_argument(
        "--shuffled-words",
        type=float,
        default=_QUALITY.shuffled_words,
        metavar="SHARE",
        help="of the words change places before a text is read: does the evaluator notice? (%(default)g)",
    )
    command.add_argument(
        "--language", default=_QUALITY.language, help="that texts are said to be in (default: their own tags)"
    )
    add_repeats(command, _QUALITY.repeats, "times that it is asked; the score is the mean")
    add_sampling(command, "of what is held out, and of answers: of the first repeat; each has the next")
    add_how(command, same=_TEXTS)
    command.set_defaults(run=_quality)


def _add_task(command: argparse.ArgumentParser, kind: RatedKind, what: str) -> None:
    command.add_argument(
        "--task",
        metavar="NAME|FILE",
        help=f"{what} (default: what the raters of a study were asked where it fits, else {USUAL_TASKS[kind]})",
    )


def _add_examples(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--examples",
        choices=get_args(ExamplesFrom),
        default=_AUTOMQM.examples,
        help="rated texts of other systems: of the same source; of the whole file, shuffled; of one other source; none "
        "(%(default)s)",
    )
    command.add_argument(
        "--n-examples",
        type=int,
        default=_AUTOMQM.n_examples,
        metavar="K",
        help="at most so many; smaller sets lie in larger ones (default: all)",
    )
    command.add_argument(
        "--rater",
        default=_AUTOMQM.rater,
        metavar="NAME",
        help="whose ratings are shown (default: all raters')",
    )
    command.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="SYSTEM",
        help="system whose texts are judged; may be repeated (default: all)",
    )


def _automqm(options: argparse.Namespace) -> None:
    automqm = AutoMqmSettings(
        filtered=options.filtered, occurrences=options.occurrences, **_with_examples(options)
    )
    _judge(options, "automqm", automqm=automqm)


def _direct(options: argparse.Namespace) -> None:
    _judge(options, "direct", direct=DirectSettings(dimension=options.dimension, **_with_examples(options)))


def _quality(options: argparse.Namespace) -> None:
    quality = QualitySettings(
        prompting=options.prompting,
        shots=options.shots,
        held_out=options.held_out,
        majority=options.majority,
        language=options.language,
        shuffled_words=options.shuffled_words,
        repeats=options.repeats,
        temperature=options.temperature,
        seed=options.seed,
    )
    _judge(options, "quality", quality=quality)


def _with_examples(options: argparse.Namespace) -> dict[str, Any]:
    """Settings of both judges that are shown other systems' texts."""
    return {
        "examples": options.examples,
        "n_examples": options.n_examples,
        "rater": options.rater,
        "only": tuple(dict.fromkeys(options.only)),
        "repeats": options.repeats,
        "temperature": options.temperature,
        "seed": options.seed,
    }


def _judge(options: argparse.Namespace, kind: RatedKind, **of_kind: Any) -> None:
    task_text = dump_task(task_given(options, kind))
    judge_texts(
        options, kind, partial(rated_given, options=options, kind=kind), task_text=task_text, **of_kind
    )
