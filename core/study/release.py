"""The blind freeze: what a study says about its sources stays shut until an admin unblinds it."""

import shlex

from core.errors import NotAllowed
from core.schema.study import Study, StudyRecord
from core.store import Store
from core.store.record import load_record
from core.store.studies import get_study
from core.study.analysis_set import fix_when_shown


def released_record(store: Store, study: Study, *, seen: bool = True) -> StudyRecord:
    """Everything about a study, for results and exports. Raises NotAllowed before it is unblinded.

    seen: what was declared by default is fixed now, and the log says when imported votes were first used. False: the
    caller may still refuse to show anything, and calls fix_when_shown() itself once it does.
    """
    study = get_study(store, study.study_id)
    check_released(study)
    if seen:
        fix_when_shown(store, study.study_id)
    return load_record(store, get_study(store, study.study_id))


def check_released(study: Study) -> None:
    """Raise NotAllowed, saying what to do, while totals by source would unblind."""
    if study.state != "unblinded":
        name = shlex.quote(study.name)
        first = {"draft": "open and close it, then ", "open": "close it, then "}.get(study.state, "")
        raise NotAllowed(
            f"Study {study.name!r} is {study.state}: results and exports stay shut until it is unblinded, so that "
            f"nobody decides by them when to stop. To end it: {first}unblind it with a reason (page Studies, or "
            f"`python -m core study unblind {name} --reason TEXT`). Until then: `python -m core study progress {name}`."
        )
