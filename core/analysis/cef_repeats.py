"""Scores of a cross-examination repeat by repeat, as consistency and the number of questions are told from them."""

from collections.abc import Sequence

import numpy as np

from core.judges.cross_examination.record import CefRecord
from core.judges.cross_examination.scores import CEF_COMPONENTS, examined_scores, scores_of
from core.schema.judging import JudgedText
from core.stats.resampling import Floats


def values_by_repeat(texts: Sequence[JudgedText], components: Sequence[str]) -> Floats:
    """Shape (texts, repeats, components), NaN where undefined: each examination scored as if it were the only one.

    components: of CEF_COMPONENTS. Examinations stand at the number of their repeat, so a text that lacks one is NaN
    there and at no other; repeats go up to the highest that any text has. A text without examinations is NaN
    throughout. Conciseness asks nothing and is the same in all repeats of a text; words are counted where it is wanted.
    """
    records = [text.record if isinstance(text.record, CefRecord) else CefRecord(()) for text in texts]
    n_repeats = max((one.repeat + 1 for record in records for one in record.examinations), default=0)
    values = np.full((len(texts), n_repeats, len(components)), np.nan)
    for row, (text, record) in enumerate(zip(texts, records, strict=True)):
        constant = {}
        if record.examinations and "conciseness" in components:
            whole = scores_of(record, text.document or "", text.text)
            constant["conciseness"] = whole[CEF_COMPONENTS.index("conciseness")]
        for one in record.examinations:
            alone = examined_scores((one,)) | constant
            given = [alone[component].value for component in components]
            values[row, one.repeat] = [np.nan if value is None else value for value in given]
    return values
