"""Folders of the tool mt-metrics-eval: a test set with its systems' outputs, metric scores and human scores.

    sources/LP.txt                          one segment a line
    references/LP.refA.txt
    documents/LP.docs                       domain, tab, document (may be missing)
    system-outputs/LP/SYSTEM.txt
    metric-scores/LP/METRIC-refA.seg.score  system, tab, score; METRIC-src where no reference was used
    human-scores/LP.NAME.seg.score          system, tab, score or None
    human-scores/LP.NAME.*.seg.rating       system, tab, {"errors": [...]} or None

LP is a language pair such as en-de. Higher is better in all scores. Segments are items 1, 2, ... in the order of the
sources. References stand beside the systems in several files; they are no systems and are left out.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.datasets.findings import FileFindings
from core.datasets.mt_files import Folder, read_numbers
from core.datasets.mt_human import OF_REFERENCE, rating_set, read_ratings_of
from core.datasets.mt_pair import MtPair, pair_name, read_pair
from core.datasets.reading import name_of, name_problem, reject
from core.datasets.score_columns import family_of
from core.datasets.score_sheet import NO_SCORE
from core.schema.scores import (
    Metric,
    OutputSet,
    RatingSet,
    ScorableOutput,
    ScoredRow,
    ScoreTable,
)

_METRIC_FILE = ".seg.score"


@dataclass(frozen=True)
class MtFolder:
    """Everything that a folder has on one language pair."""

    language_pair: str
    outputs: OutputSet
    scores: ScoreTable
    """Of the metrics whose scores are in the folder; no metrics where there are none."""
    ratings: Mapping[str, RatingSet]
    """Name of a human score, such as mqm or da-sqm -> ratings."""
    notes: tuple[str, ...] = ()


def read_folder(path: Path, *, language_pair: str | None = None, human: str | None = None) -> MtFolder:
    """One language pair of a folder; InputError names every problem with its file and line.

    language_pair: needed where the folder has several. human: the one human score to read; None: all there are.
    """
    folder = Folder(path, FileFindings(path.name or "folder", ""))
    name = pair_name(folder, language_pair)
    pair = read_pair(folder, name)
    scores = _scores(folder, pair)
    ratings = read_ratings_of(folder, pair, human)
    if folder.findings.problems:
        reject(folder.findings.file_name, folder.findings.problems)
    notes, sha256 = tuple(dict.fromkeys(folder.findings.notes)), folder.sha256()
    outputs, left_out = [], Counter[str]()
    for system, texts in pair.texts.items():
        if pair.is_reference(system):
            left_out[OF_REFERENCE] += len(texts)
        else:
            outputs += [_output(pair, system, number, text) for number, text in enumerate(texts)]
    file_name = f"{folder.findings.file_name} {name}"
    return MtFolder(
        name,
        OutputSet(tuple(outputs), sha256, file_name, notes, dict(left_out)),
        _table(pair, scores, file_name, notes),
        {key: rating_set(pair, key, *one, sha256) for key, one in ratings.items()},
        notes,
    )


def _output(pair: MtPair, system: str, number: int, text: str) -> ScorableOutput:
    return ScorableOutput(
        str(number + 1),
        system,
        text,
        reference=None if pair.reference is None else pair.reference[number],
        source=pair.sources[number],
        language=pair.language,
        labels=pair.labels[number],
    )


# --- scores of metrics ----------------------------------------------------------------------------


def _scores(folder: Folder, pair: MtPair) -> dict[str, tuple[str, dict[str, list[float]]]]:
    """File's name without its end -> (metric, system -> scores)."""
    paths = folder.names(f"metric-scores/{pair.name}", f"*{_METRIC_FILE}")
    stems = [path.name.removesuffix(_METRIC_FILE) for path in paths]
    plain = Counter(stem.rpartition("-")[0] or stem for stem in stems)
    found = {}
    for stem, path in zip(stems, paths, strict=True):
        name = stem.rpartition("-")[0] or stem
        if name_of(stem) != stem:
            folder.report(path, [f"the metric {name_problem(stem)}"])
            continue
        found[stem] = (name if plain[name] == 1 else stem, read_numbers(folder, path, pair.expected))
    return found


def _table(
    pair: MtPair,
    scores: Mapping[str, tuple[str, dict[str, list[float]]]],
    file_name: str,
    notes: tuple[str, ...],
) -> ScoreTable:
    systems = [system for system in pair.texts if not pair.is_reference(system)]
    rows = tuple(
        ScoredRow(str(number + 1), system, None, pair.language, pair.labels[number])
        for system in systems
        for number in range(len(pair.sources))
    )
    unscored = [math.nan] * len(pair.sources)
    columns = [[x for s in systems for x in numbers.get(s, unscored)] for _, numbers in scores.values()]
    values = np.array(columns, dtype=np.float64).T.reshape(len(rows), len(columns))
    metrics = tuple(
        Metric(name, f"{stem}|from:{file_name}", family_of(name)) for stem, (name, _) in scores.items()
    )
    reasons = {(int(r), int(m)): NO_SCORE for r, m in zip(*np.nonzero(np.isnan(values)), strict=True)}
    return ScoreTable(rows, metrics, values, reasons, file_name, notes)
