"""Folders of the tool mt-metrics-eval: a test set with its systems' outputs, metric scores and human scores.

    sources/LP.txt                          one segment a line
    references/LP.refA.txt
    documents/LP.docs                       domain, tab, document (may be missing)
    system-outputs/LP/SYSTEM.txt
    metric-scores/LP/METRIC-refA.seg.score  system, tab, score; METRIC-src where no reference was used
    human-scores/LP.NAME.seg.score          system, tab, score or None
    human-scores/LP.NAME.*.seg.rating       system, tab, {"errors": [...]} or None, and who marked them (tab, name) or not
    human-scores/LP.NAME.raterN.seg.rating  the same of one rater; all raters' are the ratings NAME.raters

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
from core.datasets.mt_human import rating_set, read_ratings_of, sources_of
from core.datasets.mt_pair import OF_REFERENCE, MtPair, pair_name, read_pair
from core.datasets.reading import name_of, name_problem, reject
from core.datasets.score_columns import family_of, signature_from_folder
from core.datasets.score_sheet import INFINITE, NO_SCORE
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


def read_folder_outputs(path: Path, *, language_pair: str | None = None) -> OutputSet:
    """The systems' outputs of one language pair, whatever is the matter with their scores. Raises InputError."""
    folder, pair = _opened(path, language_pair)
    return _output_set(folder, pair)


def read_folder(path: Path, *, language_pair: str | None = None) -> MtFolder:
    """One language pair of a folder; InputError names every problem with its file and line.

    language_pair: needed where the folder has several.
    """
    folder, pair = _opened(path, language_pair)
    scores = _scores(folder, pair)
    ratings = read_ratings_of(folder, pair)
    outputs = _output_set(folder, pair)
    return MtFolder(
        pair.name,
        outputs,
        _table(pair, scores, outputs.file_name, outputs.notes),
        {key: rating_set(pair, key, one, outputs.sha256) for key, one in ratings.items()},
        outputs.notes,
    )


def rating_names(path: Path, *, language_pair: str | None = None) -> tuple[str, ...]:
    """The names of a folder's human scores, without reading them. Raises InputError where the pair cannot be told."""
    folder = Folder(path, FileFindings(path.name or "folder", ""))
    return tuple(sources_of(folder, pair_name(folder, language_pair)))


def _opened(path: Path, language_pair: str | None) -> tuple[Folder, MtPair]:
    folder = Folder(path, FileFindings(path.name or "folder", ""))
    return folder, read_pair(folder, pair_name(folder, language_pair))


def _output_set(folder: Folder, pair: MtPair) -> OutputSet:
    """The outputs, with the notes on all that was read of the folder; its problems are raised."""
    if folder.findings.problems:
        reject(folder.findings.file_name, folder.findings.problems)
    outputs, left_out = [], Counter[str]()
    for system, texts in pair.texts.items():
        if pair.is_reference(system):
            left_out[OF_REFERENCE] += len(texts)
        else:
            outputs += [_output(pair, system, number, text) for number, text in enumerate(texts)]
    return OutputSet(
        tuple(outputs),
        folder.sha256(),
        f"{folder.findings.file_name} {pair.name}",
        tuple(dict.fromkeys(folder.findings.notes)),
        dict(left_out),
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
        Metric(name, signature_from_folder(stem, file_name), family_of(name))
        for stem, (name, _) in scores.items()
    )
    infinite = np.isinf(values)
    values[infinite] = np.nan
    reasons = {
        (int(r), int(m)): INFINITE if infinite[r, m] else NO_SCORE
        for r, m in zip(*np.nonzero(np.isnan(values)), strict=True)
    }
    return ScoreTable(rows, metrics, values, reasons, file_name, notes)
