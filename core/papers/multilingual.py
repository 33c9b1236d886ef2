"""Multilingual: the sums in the table of its data (Table 1). Its ratings are not public, so no agreement can be computed."""

from collections.abc import Iterator

from core.papers.declared import (
    NumberRow,
    Paper,
    Part,
    ReproduceOptions,
    Sources,
    printed_numbers,
)

_ALL = "all"


def _table_1(_sources: Sources, _options: ReproduceOptions) -> Iterator[NumberRow]:
    """Each sum over tasks, and each over languages, from the printed counts."""
    cells = printed_numbers("multilingual", "1")
    counts = {place: int(printed or 0) for place, (printed, _) in cells.items()}
    for (language, measure), (printed, note) in cells.items():
        size = measure.rpartition(", ")[2]
        over_tasks = measure == f"{_ALL}, {size}"
        if language != _ALL and not over_tasks:
            continue
        parts = [
            n
            for (other, task), n in counts.items()
            if (
                other == language and task.endswith(size) and task != measure
                if over_tasks
                else other != _ALL and task == measure
            )
        ]
        yield _TABLE_1.number(language, measure, sum(parts), printed, note=note)


_NOT_PUBLIC = "the ratings behind it are not published"
_TABLE_1 = Part("1", "texts by language and task", "the counts of the same table as printed", _table_1)
PAPER = Paper(
    "multilingual",
    "Are Large Language Model-based Evaluators the Solution to Scaling Up Multilingual Evaluation?",
    (
        _TABLE_1,
        Part("2", "weighted F1 of raters and evaluator", where=_NOT_PUBLIC),
        Part("3", "Fleiss' kappa of raters and evaluator", where=_NOT_PUBLIC),
    ),
)
