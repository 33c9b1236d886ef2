"""What the main analysis counts, fixed before anybody can know what it would change; and the freeze until the study is unblinded."""

import shlex
from collections.abc import Iterable, Sequence

from core.errors import NotAllowed
from core.schema.study import (
    FLAGGED_PAIRS,
    NO_LEVEL,
    SCORES,
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
from core.tables.reading import shown

USUAL_VOTES = 2
"""Votes that a pair needs where the design and the raters allow it."""
MOST_VOTES = 1_000
"""That a pair can be declared to need."""
LARGEST_EXAMPLE = 0.5
"""Of the margins for which the composite of some panels is given."""
RESULTS_SHOWN = "results shown"
"""In the log: when the results of imported votes were first shown, used or exported."""
SCORE_NAMES: dict[Score, str] = {"composite": "composite score", "net_preference": "net preference"}


def main_levels(design: Design, levels: Sequence[str]) -> tuple[str, ...]:
    """Levels of the main analysis: as declared, else all but the first, else the only one."""
    return design.main_levels or tuple(levels[1:] or levels)


def analysis_set(record: StudyRecord) -> AnalysisSet:
    """The analysis set of a study, with defaults for what was never fixed."""
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
    """What is wrong with the analysis set that a design declares; `levels` are the study's."""
    problems = []
    chosen = design.main_levels
    if chosen is not None:
        unknown = [level for level in chosen if level not in levels]
        problems += [
            f"levels of the main analysis: there is no level {shown(level)}; the levels are {', '.join(levels)}"
            for level in unknown
        ]
        if not chosen or len(set(chosen)) < len(chosen):
            problems.append("levels of the main analysis: name at least one level, and each once")
    needed, given = design.votes_needed, design.votes_per_pair
    most = min(MOST_VOTES, given or MOST_VOTES)
    if needed is not None and not 1 <= needed <= most:
        gets = ", the votes a pair gets" if most == given else ""
        problems.append(f"votes needed: {needed} is not a whole number from 1 to {most}{gets}")
    if design.score not in SCORES:
        problems.append(f"score: {design.score!r} is not one of {', '.join(SCORES)}")
    if design.flagged not in FLAGGED_PAIRS:
        problems.append(f"flagged pairs: {design.flagged!r} is not one of {', '.join(FLAGGED_PAIRS)}")
    return problems


def describe_analysis_set(design: Design, levels: Sequence[str]) -> str:
    """The declared analysis set in one line, for log and screen."""
    return rules_in_words(main_levels(design, levels), design.votes_needed, design.score, design.flagged)


def rules_in_words(
    levels: Sequence[str], votes_needed: int | None, score: Score, flagged: FlaggedPairs
) -> str:
    """What counts, as a sentence without capital and full stop; `votes_needed` None: not fixed yet."""
    which = f"levels {', '.join(levels)}" if tuple(levels) != (NO_LEVEL,) else "all pairs"
    votes = "1 vote" if votes_needed == 1 else f"{votes_needed or USUAL_VOTES} votes"
    most = "" if votes_needed else ", or as many as it can get"
    kept = "kept" if flagged == "keep" else "left out"
    return (
        f"main analysis: {which}; a pair needs {votes}{most}; {SCORE_NAMES[score]}; votes on flagged "
        f"pairs are {kept}"
    )


def margin_note(margin: float) -> str:
    """What the number of raters makes of a margin on the composite, said wherever a margin is set."""
    note = "With the composite, more raters make the same margin harder to meet"
    if margin <= LARGEST_EXAMPLE:
        made = [f"{composite_of_mean_vote(-margin, n):.2f} with {n}" for n in (2, 3, 9)]
        note += f": where the mean vote is {-margin:.2f}, the composite is about {', '.join(made[:-1])} and {made[-1]} raters"
    return f"{note}. The net preference does not depend on the number of raters."


def fix_at_vote(store: Store, study_id: int, *, imported: bool = False) -> None:
    """Freeze the design at the first vote that counts, and the votes a pair needs at the first one by link."""
    study = get_study(store, study_id)
    if study.first_vote_utc is None:
        update_study(store, study_id, first_vote_utc=now_utc())
    if study.kind == "pairs" and study.design.votes_needed is None and not imported:
        needed = _votes_of_links(study, raters_of(store, study_id), _voted(store, study_id))
        update_study(store, study_id, votes_needed=needed)


def is_fixed(study: Study) -> bool:
    """Whether a vote by link would have nothing left to freeze."""
    needs_none = study.kind != "pairs" or study.design.votes_needed is not None
    return study.first_vote_utc is not None and needs_none


def fix_when_shown(store: Store, study_id: int) -> None:
    """Fix the votes a pair needs, and where every vote was imported log that results are seen from now on.

    By link they are fixed since the first vote, but in a study older than the analysis set.
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
            write_log(store, study_id, RESULTS_SHOWN, "the first time; what changes from now on is marked")


def results_seen(record: StudyRecord) -> int | None:
    """Where in the log the results could first be seen: unblinding, or for imported votes the first look.

    The place and not the time: two lines can have one time, and a clock can be set back. None: not yet.
    """
    voted = {answer.rater_id for answer in record.answers if answer.answered}
    looks = (RESULTS_SHOWN, "exported")
    wanted = ("unblinded",) if _voted_by_link(record.raters, voted) else looks
    return next((place for place, entry in enumerate(record.log) if entry.action in wanted), None)


def _voted(store: Store, study_id: int) -> set[str]:
    return {answer.rater_id for answer in answers_of(store, study_id) if answer.answered}


def _default_votes(study: Study, raters: Sequence[Rater], voted: set[str]) -> int:
    """Imported votes: 1 from one rater, else 2. By link: the smallest of 2, votes a pair gets, raters with links."""
    if _voted_by_link(raters, voted) or not _counting(raters, voted):
        return _votes_of_links(study, raters, voted)
    imported = [r for r in _counting(raters, voted) if r.excluded is None]
    return min(USUAL_VOTES, max(1, len(imported)))


def _votes_of_links(study: Study, raters: Iterable[Rater], voted: set[str]) -> int:
    """A rater who voted had a link, whatever became of it; one who is excluded before any vote gives none.

    In a study that had votes before there was an analysis set everybody had one: a bundle that is restored has to issue
    them again. Where nobody has one yet, two are expected to get theirs.
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
        # Nothing was written at the first vote, so raters who came later are left out here.
        first = [rater for rater in linked if rater.created_utc <= study.first_vote_utc]
    n_raters = len(first or linked) or USUAL_VOTES
    return min(USUAL_VOTES, study.design.votes_per_pair or USUAL_VOTES, n_raters)


def _counting(raters: Iterable[Rater], voted: set[str]) -> list[Rater]:
    return [rater for rater in raters if rater.rater_id in voted and not rater.dry_run]


def _voted_by_link(raters: Iterable[Rater], voted: set[str]) -> bool:
    return any(not rater.imported for rater in _counting(raters, voted))


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
