"""Runs among the judges that `calibrate` is given: what they said repeat by repeat, and what they were asked."""

from pathlib import Path

from core.cli.options import existing_database, run_number
from core.datasets.judge_records import read_judge_folder, read_report
from core.datasets.task_files import parse_task
from core.judges.settings import AutoMqmSettings, DirectSettings
from core.runs.judge_results import judge_output
from core.runs.judge_settings import judge_of
from core.runs.rated_settings import dimension_said
from core.schema import RATED_KINDS, RUN_FILE
from core.schema.judges import JudgeOutput
from core.schema.tasks import RatingTask
from core.store import open_store
from core.store.runs import get_run

_AGAIN = ("quality", "direct")
_TASK = "task_text"


def asked_again(given: str, database: str | None) -> JudgeOutput | None:
    """All that a judge said that is asked for classes or a number; None: the name is of something else."""
    number = run_number(given)
    if number is not None:
        with open_store(existing_database(database)) as store:
            run = get_run(store, number)
            return judge_output(store, run) if run.kind in _AGAIN else None
    folder = Path(given)
    if not (folder / RUN_FILE).is_file() or read_report(folder).get("kind") not in _AGAIN:
        return None
    return read_judge_folder(folder)


def dimension_asked(given: str, database: str | None) -> str | None:
    """What the one column of a judge's run or folder is a score of; None: nothing tells, or it has one a dimension."""
    number = run_number(given)
    if number is not None:
        with open_store(existing_database(database)) as store:
            run = get_run(store, number)
            return dimension_said(judge_of(run).of_kind) if run.kind in RATED_KINDS else None
    folder = Path(given)
    if not (folder / RUN_FILE).is_file():
        return None
    report = read_report(folder)
    if report.get("kind") == "automqm":
        return dimension_said(AutoMqmSettings())
    settings = report["settings"].get("direct") if report.get("kind") == "direct" else None
    named = settings.get("dimension") if isinstance(settings, dict) else None
    return dimension_said(DirectSettings(named)) if isinstance(named, str) else None


def task_asked(given: str, database: str | None) -> RatingTask | None:
    """The task that a judge's run or folder was given, with its classes; None: there is none. Raises InputError."""
    number = run_number(given)
    if number is not None:
        with open_store(existing_database(database)) as store:
            run = get_run(store, number)
            text: object = judge_of(run).task_text if run.kind in RATED_KINDS else ""
    elif (Path(given) / RUN_FILE).is_file():
        text = read_report(Path(given))["settings"].get(_TASK, "")
    else:
        text = ""
    return parse_task(text, given) if isinstance(text, str) and text else None
