"""Single score files of mt-metrics-eval, METRIC.seg.score: a system, a tab, its score of the next segment, or None.

A system's lines are its segments 1, 2, ... in order, which become the items. Higher is better. References stand among
the systems in files of metrics; they are read like them.
"""

import math
from collections.abc import Mapping

import numpy as np
import regex

from core.datasets.cells import is_undefined, number_in
from core.datasets.mt_human import NOT_RATED
from core.datasets.reading import decode, name_of, name_problem, printable_text, reject, sha256_of, shown
from core.datasets.score_columns import metric_made_elsewhere
from core.datasets.score_sheet import INFINITE, NO_SCORE
from core.errors import Problems
from core.schema.scores import Rating, RatingSet, ScoredRow, ScoreTable

ENDING = ".seg.score"
_LINE = regex.compile(r"(?P<system>\S(?:.*\S)?)[\t ]+(?P<score>\S+)[\t ]*")


def is_seg_score(file_name: str) -> bool:
    """Whether a file is one by its name."""
    return file_name.lower().endswith(ENDING)


def read_seg_scores(data: bytes, file_name: str) -> ScoreTable:
    """The scores as a table of one metric, named as the file is. Raises InputError, naming line and system."""
    by_system = _read(data, file_name)
    rows = tuple(
        ScoredRow(str(number), system)
        for system, scores in by_system.items()
        for number in range(1, len(scores) + 1)
    )
    given = [score for scores in by_system.values() for score in scores]
    values = np.array([math.nan if math.isinf(score) else score for score in given])[:, None]
    reasons = {
        (row, 0): INFINITE if math.isinf(score) else NO_SCORE
        for row, score in enumerate(given)
        if not math.isfinite(score)
    }
    metric = metric_made_elsewhere(metric_name(file_name), "higher")
    return ScoreTable(rows, (metric,), values, reasons, printable_text(file_name))


def read_seg_ratings(data: bytes, file_name: str) -> RatingSet:
    """The scores as people's, one rating a text; lines of None are counted as not rated. Raises InputError."""
    by_system = _read(data, file_name)
    ratings = []
    n_unrated = 0
    infinite = []
    for system, scores in by_system.items():
        for number, score in enumerate(scores, start=1):
            if math.isinf(score):
                infinite.append(f"system {shown(system)}, segment {number}: the score is infinite")
            elif math.isnan(score):
                n_unrated += 1
            else:
                ratings.append(Rating(str(number), score, system))
    if infinite:
        reject(file_name, infinite)
    if not ratings:
        reject(file_name, ["file: every line is None; at least one rating is needed"])
    left_out = {NOT_RATED: n_unrated} if n_unrated else {}
    return RatingSet(tuple(ratings), sha256_of(data), printable_text(file_name), (), left_out)


def metric_name(file_name: str) -> str:
    """The file's name without its ending: BLEU-refA."""
    name = printable_text(file_name)
    return (name[: -len(ENDING)] if is_seg_score(name) else name) or name


def _read(data: bytes, file_name: str) -> Mapping[str, list[float]]:
    """System -> a number a segment, NaN where the file says None; every system has as many."""
    found: dict[str, list[float]] = {}
    problems = Problems()
    for number, line in enumerate(decode(data, file_name).split("\n"), start=1):
        if not line.strip():
            continue
        parts = _LINE.fullmatch(line.removesuffix("\r"))
        if parts is None:
            problems.append(f"line {number}: expected a system, a tab, and its score or None")
            continue
        system, score = name_of(parts["system"]), number_in(parts["score"])
        if system is None:
            problems.append(f"line {number}: system {name_problem(parts['system'])}")
        elif score is None and not is_undefined(parts["score"]):
            problems.append(f'line {number}: "{shown(parts["score"])}" is neither a number nor None')
        else:
            found.setdefault(system, []).append(math.nan if score is None else score)
    lengths = {system: len(scores) for system, scores in found.items()}
    if not problems and len(set(lengths.values())) > 1:
        listed = ", ".join(f"{shown(system)} {n}" for system, n in lengths.items())
        problems.append(f"file: every system needs a line for each segment; there are {listed}")
    if problems:
        reject(file_name, problems)
    return found
