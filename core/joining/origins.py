"""What rows of scores say about their texts: data set, task, language and systems."""

from collections.abc import Sequence

from core.schema.row_columns import ScoredRows
from core.schema.scores import ScoredRow, TextOrigin, mask_code
from core.tables.columns import DATASET_LABELS, LABEL_PAIR, ONLY_SYSTEM

TRANSLATION = "translation"
_TASK_LABEL = "task"
_UNKNOWN_LANGUAGE = "und"


def origin_of(rows: Sequence[ScoredRow], pair_of: tuple[str, ...] = ()) -> TextOrigin:
    """What the rows say. A language pair makes texts translations; a blank cell says nothing, nor
    does the mask of a system.

    pair_of: the two systems, if the rows are pairs of their answers.
    """
    columns = ScoredRows.of(rows)
    labels = columns.labels.distinct()

    def named(*columns: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(own[name] for own in labels for name in columns if own.get(name)))

    pairs = named(LABEL_PAIR)
    languages = tuple(one for one in columns.language.distinct() if one != _UNKNOWN_LANGUAGE)
    systems = [one for one in columns.system.distinct() if one and one != ONLY_SYSTEM and not mask_code(one)]
    return TextOrigin(
        datasets=named(*DATASET_LABELS),
        tasks=named(_TASK_LABEL) or ((TRANSLATION,) if pairs else ()),
        languages=pairs or languages,
        systems=pair_of or tuple(systems),
    )
