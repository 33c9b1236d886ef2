"""The texts themselves of scores that are compared, where what is given holds them: to be shown beside their scores."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from core.cli.options import existing_store, run_number
from core.errors import InputError
from core.judges.kind import JudgeKind
from core.runs.judging import judged_among
from core.runs.path import at_hand
from core.runs.records import read_judge_folder
from core.schema import RUN_FILE
from core.schema.scores import ScoredRow

Named = tuple[ScoredRow, str]


def texts_of(given: Sequence[str], database: str | None) -> list[Named]:
    """Texts with their rows, of judges' folders and of runs.

    Empty where only tables of scores are given, which hold no texts.
    """
    return [named for one in given for named in _texts(one, database)]


def _texts(given: str, database: str | None) -> Iterable[Named]:
    if (number := run_number(given)) is not None:
        return _of_run(number, database)
    folder = Path(given)
    if not (folder / RUN_FILE).is_file():
        return ()
    try:
        return [(one.row, one.text) for one in read_judge_folder(folder).texts]
    except InputError:  # what a metric wrote, which keeps no texts
        return ()


def _of_run(number: int, database: str | None) -> list[Named]:
    with existing_store(database) as store:
        run = at_hand(store, number)
        if isinstance(run.kind, JudgeKind):
            outputs = tuple(text.output for text in judged_among(run))
        else:
            outputs = run.contents.outputs if run.kind.work == "scores" else ()
    return [
        (ScoredRow(one.item_id, one.system, one.level, one.language, one.labels), one.text) for one in outputs
    ]
