"""Runs among the judges that `calibrate` is given: what they said repeat by repeat, and what they were asked."""

from pathlib import Path

from core.cli.judges_given import judges_given
from core.cli.options import existing_store, run_number
from core.judges.kind import JudgeKind
from core.runs.asked import Asked, asked_from
from core.runs.kinds import KINDS
from core.runs.path import at_hand
from core.runs.records import read_report
from core.schema import RUN_FILE
from core.schema.judging import JudgeOutput
from core.schema.settings import SettingsError
from core.schema.tasks import RatingTask


def judge_asked(given: str, database: str | None) -> Asked | None:
    """What a run or folder was asked for of a judge that people's ratings may stand behind; None: it is of another."""
    number = run_number(given)
    if number is not None:
        with existing_store(database) as store:
            asked = at_hand(store, number).asked
        return asked if asked.kind.reads == "rated texts" else None
    if not (Path(given) / RUN_FILE).is_file():
        return None
    report = read_report(Path(given))
    kind = KINDS.get(report["kind"])
    if kind is None or kind.reads != "rated texts":
        return None
    try:
        return asked_from(kind, report["settings"])
    except SettingsError:  # reading its records says what is wrong
        return None


def said_again(asked: Asked | None, given: str, database: str | None) -> JudgeOutput | None:
    """All that a judge said that is asked for classes or a number; None: the name is of something else."""
    if asked is None or not isinstance(asked.kind, JudgeKind) or asked.kind.marks_errors:
        return None
    (output,) = judges_given([given], database)
    return output


def task_of(asked: Asked | None, given: str) -> RatingTask | None:
    """The task that a judge was given, with its classes; None: there is none. Raises InputError."""
    if asked is None or asked.kind.attachment is None or not asked.attached:
        return None
    task: RatingTask = asked.kind.attachment.read(asked.attached, given)
    return task
