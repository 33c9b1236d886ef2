"""What stands beside a judge's scores: signs that they measure little."""

from collections.abc import Iterator

import numpy as np

from core.datasets.reading import shown
from core.judges.kind import JudgeKind
from core.schema.judging import JudgeOutput
from core.stats.constant import constant
from core.stats.degeneracy import Degeneracy, duplicates


def degeneracy(kind: JudgeKind, output: JudgeOutput) -> tuple[Degeneracy, ...]:
    """The signs in what a judge said so far: constant columns, words repeated for different texts, and what the kind adds.

    kind: of the output. Empty where there is none. See core.stats.constant and core.stats.degeneracy for their shares.
    """
    return (*_constants(output), *_said(kind, output))


def _constants(output: JudgeOutput) -> Iterator[Degeneracy]:
    for metric in output.metrics:
        values = [text.scores.get(metric.name) for text in output.texts]
        found = constant(np.array([np.nan if value is None else value for value in values]))
        if found is not None:
            yield Degeneracy("constant", found.n - found.n_others, found.n, found.said(shown(metric.name)))


def _said(kind: JudgeKind, output: JudgeOutput) -> Iterator[Degeneracy]:
    records = [text.record for text in output.texts if text.record is not None]
    said = (
        ((text.text, text.document), kind.words(text.record))
        for text in output.texts
        if text.record is not None
    )
    repeated = duplicates(said, kind.words_called)
    if repeated is not None:
        yield repeated
    yield from kind.shortfalls(records, output.settings)
