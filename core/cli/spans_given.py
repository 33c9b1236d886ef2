"""Marked errors that a command is given: a file, an mt-metrics-eval folder, a judge's run or folder, a rating study."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from core.analysis.judged_spans import draws_of_judge
from core.analysis.span_agreement import SpanOptions
from core.cli.judges_given import judges_given
from core.cli.options import add_pair_option, existing_store, read_file, run_number
from core.cli.score_sources import add_interval_options, intervals
from core.cli.texts_given import STUDY, find_given_study
from core.datasets.folder_ratings import ratings_among
from core.datasets.mt_metrics_eval import read_folder
from core.datasets.rated import outputs_of, read_rated
from core.datasets.reading import shown
from core.datasets.span_files import holds_rated, read_span_file
from core.errors import InputError
from core.schema import RUN_FILE
from core.schema.judging import JudgeOutput
from core.schema.rated import RatedSet
from core.schema.scores import OutputSet, RatingSet, ScorableOutput
from core.study.rating_results import rated_texts_of, rating_set_of
from core.study.release import released_record

NAMES = "FILE|FOLDER|run:N|DIR|study:NAME"
"""What may be given, for the help of a command."""
MEANING = (
    "marked errors: MQM TSV, .seg.rating, WMT-QE, CSV or JSONL of spans, rated JSONL; an mt-metrics-eval folder; a run or "
    "folder of `judge automqm`; an unblinded study of ratings"
)

N_RESAMPLES = 2_000
"""Of intervals of F1, unless another number is chosen."""


@dataclass(frozen=True)
class Marked:
    """Errors as one side of a comparison gives them."""

    name: str
    """As it was given, without its folders."""
    draws: tuple[RatingSet, ...]
    """One; of a judge with repeats, one a repeat."""
    texts: OutputSet | None = None
    """The texts that were marked, where they came along."""
    judge: str | None = None
    """What the judge is called, where it is one."""
    rater: str = ""
    """Of a judge: whose ratings alone were its examples; empty: all raters', or nobody's."""


def add_mark_options(command: argparse.ArgumentParser) -> None:
    """What says how marked errors are read, paired and compared, the same for every command; --db is added elsewhere."""
    command.add_argument(
        "--raters",
        choices=["kept", "merged"],
        default="kept",
        help="each rater's marks of a text by themselves, or all raters' together (default %(default)s)",
    )
    command.add_argument(
        "--references", action="store_true", help="keep refA, refB, synthetic_ref among the systems"
    )
    command.add_argument(
        "--ratings",
        metavar="NAME",
        help="which ones of a folder that holds several, such as mqm or mqm.raters",
    )
    add_pair_option(command)
    add_interval_options(command, N_RESAMPLES)


def span_options(options: argparse.Namespace, also_wrong: Sequence[str] = ()) -> SpanOptions:
    """What they say of the comparison. Raises InputError with all problems, those of other options too."""
    return SpanOptions(raters=options.raters, references=options.references, **intervals(options, also_wrong))


def marked_given(given: Sequence[str], options: argparse.Namespace) -> list[Marked]:
    """What each argument names, in the order given. Raises InputError at the first that cannot be read."""
    return [marked(one, options) for one in given]


def single(side: Marked, why: str = "it can be no gold") -> RatingSet:
    """The marks of a side that may have no repeats. Raises InputError, which says why, where it has several."""
    if len(side.draws) > 1:
        raise InputError(
            f"{shown(side.name)} has {len(side.draws)} repeats, so {why}: judge without --repeats."
        )
    return side.draws[0]


def texts_among(sides: Sequence[Marked]) -> OutputSet | None:
    """The texts that the first side brings along that has any."""
    return next((side.texts for side in sides if side.texts is not None), None)


def names_apart(sides: Sequence[Marked], given: Sequence[str]) -> list[str]:
    """What to call each side: its short name, or as it was given where two share one. Raises InputError for twice."""
    if len(set(given)) < len(given):
        twice = sorted({one for one in given if list(given).count(one) > 1})
        raise InputError(
            f"{', '.join(map(shown, twice))} is named twice: a judge beside itself tells nothing."
        )
    names = [side.name for side in sides]
    return [name if names.count(name) == 1 else whole for name, whole in zip(names, given, strict=True)]


def marked(given: str, options: argparse.Namespace) -> Marked:
    """What one argument names. Raises InputError where it cannot be read.

    options: with db, ratings and language_pair, which say where it is and what of a folder is meant; by_rater: of a folder
    the ratings that tell raters apart, unless others are named.
    """
    path = Path(given)
    if given.startswith(STUDY):
        return _of_study(given, options)
    if run_number(given) is not None or (path / RUN_FILE).is_file():
        (output,) = judges_given([given], options.db)
        rater = str(output.settings.get("rater") or "")
        return Marked(short_name(given), draws_of_judge(output), _texts_of(output), output.name, rater)
    if path.is_dir():
        return _of_folder(path, options)
    data = read_file(path)
    texts = outputs_of(read_rated(data, path.name)) if holds_rated(data, path.name) else None
    return Marked(short_name(given), (read_span_file(data, path.name),), texts)


def _of_study(given: str, options: argparse.Namespace) -> Marked:
    with existing_store(options.db) as store:
        study = find_given_study(store, given)
        assert study is not None, "it begins as a study does"
        if study.kind != "ratings":
            raise InputError(f"Study {shown(study.name)} compares pairs: in it nobody marked errors.")
        record = released_record(store, study)
    texts = RatedSet(rated_texts_of(record), "", study.name)
    return Marked(given, (rating_set_of(record),), outputs_of(texts))


def _of_folder(path: Path, options: argparse.Namespace) -> Marked:
    folder = read_folder(path, language_pair=options.language_pair)
    by_rater = getattr(options, "by_rater", False)
    chosen = ratings_among(folder.ratings, options.ratings, "--ratings", by_rater=by_rater)
    return Marked(path.name, (chosen,), folder.outputs)


def _texts_of(output: JudgeOutput) -> OutputSet:
    outputs = tuple(
        ScorableOutput(
            text.row.item_id,
            text.row.system,
            text.text,
            level=text.row.level,
            language=text.row.language,
            labels=text.row.labels,
        )
        for text in output.texts
    )
    return OutputSet(outputs, "", output.name)


def short_name(given: str) -> str:
    """As it was given, without its folders."""
    return given if run_number(given) is not None else PurePath(given).name or given
