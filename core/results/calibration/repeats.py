"""An evaluator's classes by repeat, and its sensitivity to shuffled words (Multilingual, section 3.5)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from core.errors import InputError
from core.joining.choices import items_of
from core.judges import quality
from core.judges.direct import DirectRecord
from core.judges.quality import QualityRecord
from core.schema.scores import JudgedText, JudgeOutput, ScoredRow
from core.stats.resampling import Estimate, Floats, Resampling, mean_estimates
from core.tables.reading import shown

SCORE = "score"
"""Name of the scorer's only value."""
ALL = "all"
"""Stands for texts in any language."""
NOT_SHUFFLED = "words not shuffled"
NO_TWIN = "not in the other run"
UNSCORED = "not scored by both runs"
_SAME = 1e-9
"""Tolerance: means of equal classes differ in their last digits."""


def classes_by_repeat(texts: Sequence[JudgedText]) -> tuple[Floats, tuple[str, ...]]:
    """Classes of shape (texts, repeats, dimensions), NaN if missing, and the dimensions; the scorer has one, `score`."""
    given = [
        (row, dimension, repeat, score)
        for row, text in enumerate(texts)
        for dimension, repeat, score in _trials(text)
    ]
    dimensions = tuple(dict.fromkeys(dimension for _, dimension, _, _ in given))
    n_repeats = max((repeat + 1 for _, _, repeat, _ in given), default=0)
    values = np.full((len(texts), n_repeats, len(dimensions)), np.nan)
    place = {dimension: k for k, dimension in enumerate(dimensions)}
    for row, dimension, repeat, score in given:
        if score is not None:
            values[row, repeat, place[dimension]] = score
    return values, dimensions


def _trials(text: JudgedText) -> Iterable[tuple[str, int, float | None]]:
    match text.record:
        case QualityRecord(trials=trials):
            return [(one.dimension, one.repeat, one.verdict) for one in trials]
        case DirectRecord(trials=scores):
            return [(SCORE, one.repeat, one.verdict) for one in scores]
        case _:
            return []


@dataclass(frozen=True)
class Sensitivity:
    """Scores of plain and of shuffled texts on one dimension."""

    group: Mapping[str, str]
    """`dimension`, and `language` if there are several."""
    drops: Estimate
    """Share of texts that score lower with shuffled words; the interval resamples items."""
    stays: Estimate
    rises: Estimate
    left_out: Mapping[str, int]
    """Reason -> number of texts."""


def sensitivity(
    plain: JudgeOutput,
    shuffled: JudgeOutput,
    *,
    by_language: bool = True,
    **drawing: Unpack[Resampling],
) -> tuple[Sensitivity, ...]:
    """Test how often the score drops when words are shuffled, by dimension and, if there are several, by language.

    plain, shuffled: runs of one evaluator on the same texts, without and with `shuffled_words` (Multilingual shuffles a
    tenth of the words and reports linguistic acceptability). Scores are means over repeats. A good evaluator's
    acceptability drops. A score that stays the same shows that the text was not read closely, or had the lowest class
    already. Misleads at a temperature above 0, where a score may change by chance (compare with two runs on the plain
    texts), and if no text or every text drops: the interval then has width 0.
    Raises InputError for other runs.
    """
    _check_twins(plain, shuffled)
    twins = {text_key(text.row): text for text in shuffled.texts}
    scores, lost = _pairs(plain.texts, twins)
    dimensions = tuple(dict.fromkeys(dimension for _, dimension, _, _ in scores))
    languages = tuple(dict.fromkeys(text.row.language for text in plain.texts))
    named: list[tuple[str, str | None]] = [(dimension, None) for dimension in dimensions]
    if by_language and len(languages) > 1:
        named += [(dimension, language) for dimension in dimensions for language in languages]
    resampling: Resampling = {"n_resamples": 2_000, **drawing}
    return tuple(
        _group_sensitivity(dimension, language, scores, lost, len(languages) > 1 and by_language, resampling)
        for dimension, language in named
    )


def _check_twins(plain: JudgeOutput, shuffled: JudgeOutput) -> None:
    problems = [
        f"{shown(one.name)} is a {one.kind} judge, not a quality judge"
        for one in (plain, shuffled)
        if one.kind != quality.KIND.name
    ]
    if not problems and plain.settings.get("shuffled_words"):
        problems.append(
            f"the first run, {shown(plain.name)}, used shuffled words. Name the run on the plain texts first"
        )
    if not problems and not shuffled.settings.get("shuffled_words"):
        problems.append(
            f"the second run, {shown(shuffled.name)}, shuffled no words. Name a run with shuffled words"
        )
    if problems:
        raise InputError(
            "Sensitivity compares two runs of the quality judge, one plain and one with shuffled words",
            problems,
        )


def text_key(row: ScoredRow) -> tuple[object, ...]:
    """What names a text in two outputs of one judge."""
    return row.item_id, row.system, row.level, row.language, tuple(sorted(row.labels.items()))


_Pair = tuple[ScoredRow, str, float, float]
"""Row, dimension, score of the plain text, score of the shuffled text."""


def _pairs(
    texts: Sequence[JudgedText], twins: Mapping[tuple[object, ...], JudgedText]
) -> tuple[list[_Pair], Counter[tuple[str, str, str]]]:
    """Scores of both runs, and (language, dimension, reason) -> texts left out; an empty dimension means all."""
    pairs: list[_Pair] = []
    lost: Counter[tuple[str, str, str]] = Counter()
    for text in texts:
        twin = twins.get(text_key(text.row))
        language = text.row.language
        if twin is None:
            lost[language, "", NO_TWIN] += 1
        elif isinstance(twin.record, QualityRecord) and twin.record.judged is None:
            lost[language, "", NOT_SHUFFLED] += 1
        else:
            before, after = _means(text), _means(twin)
            for dimension in dict.fromkeys([*before, *after]):
                first, second = before.get(dimension), after.get(dimension)
                if first is None or second is None:
                    lost[language, dimension, UNSCORED] += 1
                else:
                    pairs.append((text.row, dimension, first, second))
            if not before and not after:
                lost[language, "", UNSCORED] += 1
    return pairs, lost


def _means(text: JudgedText) -> dict[str, float | None]:
    """Dimension -> mean over the repeats with a score; None if there are none."""
    given: dict[str, list[float]] = {}
    for dimension, _, score in _trials(text):
        own = given.setdefault(dimension, [])
        if score is not None:
            own.append(score)
    return {dimension: sum(own) / len(own) if own else None for dimension, own in given.items()}


def _group_sensitivity(
    dimension: str,
    language: str | None,
    pairs: Sequence[_Pair],
    lost: Mapping[tuple[str, str, str], int],
    several: bool,
    resampling: Resampling,
) -> Sensitivity:
    own = [
        (row, second - first)
        for row, what, first, second in pairs
        if what == dimension and language in (None, row.language)
    ]
    changes = np.array([change for _, change in own], dtype=np.float64)
    flags = np.column_stack([changes < -_SAME, np.abs(changes) <= _SAME, changes > _SAME])
    drops, stays, rises = (
        one if len(own) else replace(one, reason="no text was scored by both runs")
        for one in mean_estimates(flags, items_of([row for row, _ in own]), **resampling)
    )
    left: Counter[str] = Counter()
    for (where, what, reason), n in lost.items():
        if what in ("", dimension) and language in (None, where):
            left[reason] += n
    return Sensitivity(
        group={**({"language": language or ALL} if several else {}), "dimension": dimension},
        drops=drops,
        stays=stays,
        rises=rises,
        left_out=dict(left),
    )
