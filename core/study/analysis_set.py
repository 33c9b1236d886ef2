"""The analysis set: what the main analysis counts, fixed before anybody can see its effect. Also the freeze until unblinding."""

import shlex
from collections.abc import Iterable, Sequence

from core.errors import NotAllowed, counted
from core.installation import COMMAND
from core.schema.designs import MOST_VOTES
from core.schema.study import (
    NO_LEVEL,
    AnalysisSet,
    Design,
    FlaggedPairs,
    Rater,
    Score,
    Study,
    StudyRecord,
)
from core.stats.votes import composite_of_mean_vote
from core.store import Store
from core.store.answers import answers_of, load_record
from core.store.raters import raters_of
from core.store.studies import get_study, now_utc, read_log, update_study, write_log
from core.study.shipped import copy_shipped
from core.tables.reading import shown

USUAL_VOTES = 2
"""Default number of votes a pair needs, where the design and the raters allow it."""
LARGEST_EXAMPLE = 0.5
"""Largest margin for which `margin_note` gives examples."""
RESULTS_SHOWN = "results shown"
"""Log action: the results of imported votes were shown, used or exported for the first time."""
SCORE_NAMES: dict[Score, str] = {"composite": "composite score", "net_preference": "net preference"}


def main_levels(design: Design, levels: Sequence[str]) -> tuple[str, ...]:
    """Levels of the main analysis: those declared, or all but the first, or the only one."""
    return design.main_levels or tuple(levels[1:] or levels)


def analysis_set(record: StudyRecord) -> AnalysisSet:
    """The analysis set of a study, with defaults for anything that was never fixed."""
    study, design = record.study, record.study.design
    needed = design.votes_needed
    if needed is None:
        voted = {answer.rater_id for answer in record.answers if answer.answered}
        needed = _default_votes(study, record.raters, voted)
    return AnalysisSet(
        levels=main_levels(design, study.levels),
        votes_needed=needed,
        score=design.score,
        flagged=design.flagged,
        declared=design.declared,
    )


def analysis_set_problems(design: Design, levels: Sequence[str]) -> list[str]:
    """Problems with the analysis set that a design declares; `levels` are the study's levels."""
    problems = []
    chosen = design.main_levels
    if chosen is not None:
        unknown = [level for level in chosen if level not in levels]
        problems += [
            f"levels of the main analysis: {shown(level)} is not one of {', '.join(levels)}"
            for level in unknown
        ]
        if not chosen or len(set(chosen)) < len(chosen):
            problems.append("levels of the main analysis: name at least one level, and each only once")
    needed, given = design.votes_needed, design.votes_per_pair
    if needed is not None and given is not None and given < needed <= MOST_VOTES:
        problems.append(f"votes needed: {needed} is more than the {counted(given, 'vote')} that a pair gets")
    return problems


def describe_analysis_set(design: Design, levels: Sequence[str]) -> str:
    """The declared analysis set in one line, for log and screen."""
    return rules_in_words(main_levels(design, levels), design.votes_needed, design.score, design.flagged)


def rules_in_words(
    levels: Sequence[str], votes_needed: int | None, score: Score, flagged: FlaggedPairs
) -> str:
    """The rules as a sentence without capital and full stop; `votes_needed` None: not fixed yet."""
    which = f"levels {', '.join(levels)}" if tuple(levels) != (NO_LEVEL,) else "all pairs"
    votes = "1 vote" if votes_needed == 1 else f"{votes_needed or USUAL_VOTES} votes"
    most = "" if votes_needed else ", or fewer if it cannot get as many"
    kept = "count" if flagged == "keep" else "do not count"
    return (
        f"main analysis: {which}; a pair needs {votes}{most}; {SCORE_NAMES[score]}; votes on flagged "
        f"pairs {kept}"
    )


def margin_note(margin: float) -> str:
    """How the number of raters affects a margin on the composite; shown wherever a margin is set."""
    note = "With the composite score, the same margin is harder to meet with more raters"
    if margin <= LARGEST_EXAMPLE:
        made = [f"{composite_of_mean_vote(-margin, n):.2f} with {n}" for n in (2, 3, 9)]
        note += f". A mean vote of {-margin:.2f} gives a composite of about {', '.join(made[:-1])} and {made[-1]} raters"
    return f"{note}. The net preference does not depend on the number of raters."


def fix_at_vote(store: Store, study_id: int, *, imported: bool = False) -> None:
    """Freeze the design, and what raters read, at the first vote that counts.

    The votes a pair needs are fixed at the first vote by link.
    """
    study = get_study(store, study_id)
    if study.first_vote_utc is None:
        update_study(store, study_id, first_vote_utc=now_utc())
        copy_shipped(store, study)
    if study.kind == "pairs" and study.design.votes_needed is None and not imported:
        needed = _votes_of_links(study, raters_of(store, study_id), _voted(store, study_id))
        update_study(store, study_id, votes_needed=needed)


def is_fixed(study: Study) -> bool:
    """Whether everything is frozen already that a vote by link would freeze."""
    needs_none = study.kind != "pairs" or study.design.votes_needed is not None
    return study.first_vote_utc is not None and needs_none


def fix_when_shown(store: Store, study_id: int) -> None:
    """Fix the votes a pair needs. If every vote was imported, log that results are visible from now on.

    For votes by link, the number was fixed at the first vote, except in studies older than the analysis set.
    """
    study = get_study(store, study_id)
    if study.kind != "pairs":
        return
    raters, voted = raters_of(store, study_id), _voted(store, study_id)
    if not _counting(raters, voted):
        return
    first_look = not _voted_by_link(raters, voted) and all(
        entry.action != RESULTS_SHOWN for entry in read_log(store, study_id)
    )
    if not first_look and study.design.votes_needed is not None:
        return
    with store.writing():
        if study.design.votes_needed is None:
            update_study(store, study_id, votes_needed=_default_votes(study, raters, voted))
        if first_look:
            write_log(store, study_id, RESULTS_SHOWN, "for the first time; later changes are marked")


def results_seen(record: StudyRecord) -> int | None:
    """Index of the log line from which results were visible: unblinding, or the first view of imported votes.

    An index and not a time, because two lines can have the same time and a clock can be set back. None: not yet.
    """
    voted = {answer.rater_id for answer in record.answers if answer.answered}
    looks = (RESULTS_SHOWN, "exported")
    wanted = ("unblinded",) if _voted_by_link(record.raters, voted) else looks
    return next((place for place, entry in enumerate(record.log) if entry.action in wanted), None)


def _voted(store: Store, study_id: int) -> set[str]:
    return {answer.rater_id for answer in answers_of(store, study_id) if answer.answered}


def _default_votes(study: Study, raters: Sequence[Rater], voted: set[str]) -> int:
    """Imported votes: 1 with one rater, else 2. By link: the smallest of 2, votes a pair gets, raters with links."""
    if _voted_by_link(raters, voted) or not _counting(raters, voted):
        return _votes_of_links(study, raters, voted)
    imported = [r for r in _counting(raters, voted) if r.excluded is None]
    return min(USUAL_VOTES, max(1, len(imported)))


def _votes_of_links(study: Study, raters: Iterable[Rater], voted: set[str]) -> int:
    """Default number of votes a pair needs when raters vote by link.

    Raters who voted had a link, even if it was revoked since. Raters excluded before any vote do not count. In a study
    older than the analysis set, every rater had a link: restoring its bundle resets the link numbers. If nobody has a
    link yet, two raters are expected.
    """
    older = not study.design.declared and study.first_vote_utc is not None
    linked = [
        rater
        for rater in raters
        if not (rater.dry_run or rater.imported)
        and (
            rater.rater_id in voted
            or ((rater.link_number > 0 or older) and not rater.revoked and rater.excluded is None)
        )
    ]
    first = linked
    if older and study.first_vote_utc is not None:
        # The number was not stored at the first vote, so raters added later are left out here.
        first = [rater for rater in linked if rater.created_utc <= study.first_vote_utc]
    n_raters = len(first or linked) or USUAL_VOTES
    return min(USUAL_VOTES, study.design.votes_per_pair or USUAL_VOTES, n_raters)


def _counting(raters: Iterable[Rater], voted: set[str]) -> list[Rater]:
    return [rater for rater in raters if rater.rater_id in voted and not rater.dry_run]


def _voted_by_link(raters: Iterable[Rater], voted: set[str]) -> bool:
    return any(not rater.imported for rater in _counting(raters, voted))


def released_record(store: Store, study: Study, *, seen: bool = True) -> StudyRecord:
    """The whole record of a study, for results and exports. Raises NotAllowed before the study is unblinded.

    seen: fix the defaults now, and log the first use of imported votes. Pass False if the caller may still refuse to
    show anything; it then calls fix_when_shown() itself.
    """
    study = get_study(store, study.study_id)
    check_released(study)
    if seen:
        fix_when_shown(store, study.study_id)
    return load_record(store, get_study(store, study.study_id))


LOOKED = "looked early"
"""Log action: somebody looked at the always-valid bound of a study that is not unblinded."""


def record_to_look(store: Store, study: Study) -> StudyRecord:
    """The record of a running study, for a look that its design declares: core/results/study/early.py shows one bound of it.

    Raises NotAllowed if the design does not allow early looks, nobody can have voted yet, or the study is unblinded.
    """
    study = get_study(store, study.study_id)
    name = shlex.quote(study.name)
    if study.state == "unblinded":
        raise NotAllowed(
            f"Study {study.name!r} is unblinded, so there is nothing left to look at early. The results begin "
            f"with the bound of the last look, if there was one: `{COMMAND} study results {name}`."
        )
    if not study.design.early_looks:
        declare = " They can be declared until the first vote (page Studies, Design)."
        raise NotAllowed(
            f"Early looks were not declared in the design of study {study.name!r}, so its results stay hidden until you "
            f"unblind it.{declare if study.is_changeable else ''}"
        )
    if study.state == "draft":
        raise NotAllowed(f"Study {study.name!r} is a draft: open it first.")
    return load_record(store, study)


def check_released(study: Study) -> None:
    """Raise NotAllowed, with the next step, while totals by system would unblind the study."""
    if study.state != "unblinded":
        name = shlex.quote(study.name)
        first = {"draft": "open and close it, then ", "open": "close it, then "}.get(study.state, "")
        declared = study.design.early_looks
        look = f" The design allows early looks: `{COMMAND} study look {name}`." if declared else ""
        raise NotAllowed(
            f"Study {study.name!r} is {study.state}: results and exports stay hidden until you unblind it, so that nobody "
            f"stops a study because of interim results. To end the study, {first}unblind it with a reason (page Studies, "
            f"or `{COMMAND} study unblind {name} --reason TEXT`). For progress: "
            f"`{COMMAND} study progress {name}`.{look}"
        )
