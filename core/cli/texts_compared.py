"""The texts themselves of scores that are compared, where what is given holds them: to be shown beside their scores."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from core.cli.options import existing_database, run_number
from core.datasets.judge_records import read_judge_folder
from core.errors import InputError
from core.runs.report import RUN_FILE
from core.runs.scoring import output_set
from core.schema import SCORE_KINDS
from core.schema.scores import ScoredRow
from core.store import open_store
from core.store.runs import get_run

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
    with open_store(existing_database(database)) as store:
        run = get_run(store, number)
        outputs = output_set(store, run).outputs if run.kind in SCORE_KINDS else ()
    return [
        (ScoredRow(one.item_id, one.system, one.level, one.language, one.labels), one.text) for one in outputs
    ]
