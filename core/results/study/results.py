"""All results of a blind study, for its page, `study results` and a bundle: the verdict, its sensitivity to what
counts, agreement, and whether blinding held.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.results.cells import decimal
from core.results.study.answer import (
    StudyAnswer,
    decided_said,
    dissent_said,
    ending,
    evidence_said,
    robustness_said,
    study_answer,
)
from core.results.study.counted import (
    DECLARED,
    SIDE_UNKNOWN,
    Counted,
    Filters,
    Key,
    Variant,
    chosen_pairs,
    chosen_raters,
    count,
    filtered,
    pair_scores,
    why_left_out,
)
from core.results.study.early import EARLY_NAMES, EarlyResult, bound_and_margin, last_look
from core.results.study.planning import USUAL_POWER, OwnSize, own_size, range_said
from core.results.study.raters import RatersAsSample, raters_as_sample, raters_said
from core.results.study.words import NOT_SHOWN, answer_name, answer_of
from core.schema.study import (
    GUESSED_SIDES,
    NO_LEVEL,
    PREFERENCES,
    AnalysisSet,
    Answer,
    AnswerKey,
    Assignment,
    Guess,
    LogEntry,
    Rater,
    Score,
    StudyRecord,
)
from core.stats import agreement
from core.stats.blinding import LEFT, RIGHT, BlindingIndex, ShareRight, blinding_index
from core.stats.conclusion import (
    TOO_LITTLE,
    AnswerValue,
    Conclusion,
    claimed_against,
    conclude,
)
from core.stats.multiplicity import corrected
from core.stats.non_inferiority import (
    NonInferiority,
    Verdict,
    VerdictValue,
    non_inferiority,
    verdict,
)
from core.stats.planning import Power, power_non_inferiority
from core.stats.resampling import AgreementEstimate, Resampling
from core.stats.votes import (
    Consistency,
    PositionBias,
    Ties,
    composite_scores,
    consistency,
    contingency,
    net_preferences,
    position_bias,
    preferences,
    ties,
)
from core.study.analysis_set import analysis_set, main_levels, results_seen, rules_in_words
from core.study.as_seen import translated_notes
from core.study.lifecycle import VOTES_LEFT_OUT
from core.study.raters import progress_of
from core.study.times import RaterSeconds, seconds_per_rater

ORDER: tuple[str, ...] = GUESSED_SIDES
"""Order of the columns of every table of guesses; its rows are the first two."""
FEW = 30
"""Below this number, the reading warns that there are few guesses."""


@dataclass(frozen=True)
class Blinding:
    """Results on blinding, from the guesses."""

    person: str
    """The system whose answers a person wrote."""
    overall: BlindingIndex
    per_rater: dict[str, BlindingIndex]
    n_left_out: dict[str, int]
    """Reason -> number of guesses left out of `overall`."""
    comments: tuple[Guess, ...]
    """Guesses in `overall` with a comment; not in the JSON."""

    @property
    def p_holm(self) -> dict[str, float | None]:
        """Rater -> p of half of the guesses that name a side being right, corrected for the number of raters (Holm)."""
        return holm_of_raters({rater: one.share_right for rater, one in self.per_rater.items()})

    @property
    def reading(self) -> str:
        """The result over all raters in plain words."""
        return _reading(self.overall)

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        return {
            "person": self.person,
            "order": list(ORDER),
            "reading": self.reading,
            "overall": asdict(self.overall),
            "per_rater": {rater: asdict(found) for rater, found in self.per_rater.items()},
            "p_holm": self.p_holm,
            "n_left_out": self.n_left_out,
        }


def blinding(
    record: StudyRecord,
    filters: Filters | None = None,
    **drawing: Unpack[Resampling],
) -> Blinding:
    """Compare guesses with the sides that raters saw, for the raters and pairs that the filters select.

    A guess counts even if its pair is not in the main analysis, because it was flagged or has too few votes: guesses are
    about the texts and not about the votes.
    """
    filters = filters or Filters()
    levels, items = chosen_pairs(record, filters)
    chosen = chosen_raters(record, filters)
    wanted = {(item, level) for item in items for level in levels}
    design = record.study.design
    declared = main_levels(design, record.study.levels)
    raters = {rater.rater_id: rater for rater in record.raters}
    used: list[Guess] = []
    left_out: Counter[str] = Counter()
    for guess in record.guesses:
        reason = why_left_out((guess.item_id, guess.level), raters[guess.rater_id], chosen, wanted, declared)
        if reason is None:
            used.append(guess)
        else:
            left_out[reason] += 1
    shown = {a.key: a for a in record.assignments}
    person = design.candidate if design.person == "candidate" else design.comparator

    def index(guesses: Sequence[Guess]) -> BlindingIndex:
        return blinding_index(
            [_true_side(guess, shown.get(guess.key), person) for guess in guesses],
            [GUESSED_SIDES.index(guess.guess) for guess in guesses],
            [guess.item_id for guess in guesses],
            **drawing,
        )

    return Blinding(
        person=person,
        overall=index(used),
        per_rater={rater: index([guess for guess in used if guess.rater_id == rater]) for rater in chosen},
        n_left_out=dict(left_out),
        comments=tuple(guess for guess in used if guess.comment),
    )


def _true_side(guess: Guess, assignment: Assignment | None, person: str) -> int:
    if assignment is None:
        raise InputError(
            f"{guess.rater_id} guessed about {guess.item_id}, {guess.level} without an assignment."
        )
    return LEFT if assignment.left == person else RIGHT


def _reading(found: BlindingIndex) -> str:
    """The result in words. Claims something only if two intervals exclude chance: Bang's over questions, and that of the share.

    The first allows for dependent guesses about one question; the second has a width even if all guesses were right.
    """
    share, bang = found.share_right, found.bang_questions
    if not found.n:
        return "No rater has guessed yet which answer a person wrote."
    if share.low is None or share.high is None:
        return f'No sign that blinding failed. Raters answered "cannot tell" every time (n = {found.n}).{_few(found)}'
    counts = (
        f"Raters picked out the human answer correctly in {share.n_right} of {share.n} guesses "
        f'("cannot tell" in {found.n - share.n} more)'
    )
    if bang.low is None or bang.high is None:
        few = "all guesses are about one question" if bang.n_clusters < 2 else bang.interval_reason
        return f"No conclusion about blinding, because there is no interval ({few}). {counts}."
    by_index = _chance_sign(bang.low, bang.high, 0)
    by_share = _chance_sign(share.low, share.high, 0.5)
    if by_index == by_share == 1:
        return f"Blinding failed. {counts}, more often than by chance."
    if by_index == by_share == -1:
        return (
            f"Blinding failed. {counts}, less often than by chance: they could tell the answers apart, but took the "
            "wrong one for the human answer."
        )
    if by_share or (
        by_index and bang.low < bang.high
    ):  # an interval of width 0 shows only that nothing varied
        return (
            f"Blinding may have failed. {counts}. Only one of two intervals (Bang's index over questions, share right) "
            f"excludes chance.{_few(found)}"
        )
    return f"No sign that blinding failed, which does not prove that it worked. {counts}.{_few(found)}"


def _chance_sign(low: float, high: float, chance: float) -> int:
    """1 above chance, -1 below, 0 if the interval contains it."""
    return int(low > chance) - int(high < chance)


def _few(found: BlindingIndex) -> str:
    return f" With only {found.n} guesses, a moderate leak would go unnoticed." if found.n < FEW else ""


N_RESAMPLES = 10_000
"""Resamples behind every verdict, independent of other settings, so that nobody can choose a verdict by it."""
AS_DECLARED, FLAGGED_WORST, UNANSWERED = (
    "as declared",
    "flagged pairs at worst",
    "unanswered pairs at worst",
)
"""Names of sensitivity lines; those at worst also name the system that loses where both ways belong."""


@dataclass(frozen=True)
class SensitivityLine:
    """An alternative way of counting, and the verdict it gives."""

    name: str
    n_pairs: int
    bound: float | None
    """The bound that decides on non-inferiority; None without a margin."""
    value: VerdictValue | None
    """The verdict on non-inferiority; None without a margin."""
    answer: AnswerValue
    """Which system is better."""


@dataclass(frozen=True)
class AfterUnblinding:
    """Changes after results became visible, and the verdict before them."""

    since: str | None
    """Time of unblinding; for imported votes, when results were first shown, used or exported. None: not yet."""
    excluded: tuple[str, ...] = ()
    """Raters excluded since then."""
    included: tuple[str, ...] = ()
    """Raters counted again since then."""
    votes: int = 0
    """Votes added or changed since then."""
    flags: int = 0
    """Pairs flagged as invalid or unflagged since then."""
    verdict: Verdict | None = None
    """Verdict of the whole study at that time; None if nothing changed."""
    answer: AnswerValue | None = None
    """Answer of the whole study at that time; None if nothing changed."""

    @property
    def any(self) -> bool:
        """Whether anything changed."""
        return bool(self.excluded or self.included or self.votes or self.flags)


@dataclass(frozen=True)
class _Decision:
    """What the same pairs say: the verdict on non-inferiority, and which system is better."""

    verdict: Verdict
    answer: Conclusion


def _decide(
    record: StudyRecord,
    counted: Counted,
    score: Score,
    *,
    rng: int,
    moved: Collection[Key] = (),
    way: int = -1,
) -> _Decision:
    """Decide on the counted pairs.

    moved: pairs with the score `way` whatever their votes: -1 lost, +1 won by the first system.
    """
    scores, questions = pair_scores(counted, score), list(counted.questions)
    if moved:
        scores = np.where([key in moved for key in counted.keys], float(way), scores)
        unseen = sorted(set(moved) - set(counted.keys))
        scores = np.append(scores, [float(way)] * len(unseen))
        questions += [item for item, _ in unseen]
    design, clusters = record.study.design, np.array(questions, dtype=str)
    decided: Any = {
        "margin": design.margin,
        "confidence_level": design.confidence_level,
        "n_resamples": N_RESAMPLES,
        "rng": rng,
    }
    answer = conclude(scores, clusters, **decided, one_more=False)
    # Both have the same bound, which is resampled once.
    bound = None if answer.bounds is None else answer.bounds.bound
    return _Decision(verdict(scores, clusters, **decided, bound=bound), answer)


def verdict_and_sensitivity(
    record: StudyRecord, filters: Filters, *, rng: int
) -> tuple[Verdict, tuple[SensitivityLine, ...]]:
    """The declared verdict, and sensitivity lines: one as declared, then one for each changed rule of the analysis set."""
    declared, margin = record.study.design.score, record.study.design.margin
    left_out, kept = Variant(leave_out_flagged=True), Variant(leave_out_flagged=False)
    other = ("kept", kept) if record.study.design.flagged == "leave_out" else ("left out", left_out)
    counts: dict[Variant, Counted] = {}
    made: dict[tuple[Variant, Score], _Decision] = {}

    def counted(variant: Variant) -> Counted:
        if variant not in counts:
            counts[variant] = count(record, filters, variant)
        return counts[variant]

    def decision(variant: Variant, score: Score) -> _Decision:
        if (variant, score) not in made:  # the declared score also has its own line
            made[variant, score] = _decide(record, counted(variant), score, rng=rng)
        return made[variant, score]

    def line(name: str, found: _Decision) -> SensitivityLine:
        return SensitivityLine(
            name, found.answer.n_pairs, found.verdict.bound, found.verdict.value, found.answer.value
        )

    def at_worst(
        name: str, variant: Variant, pairs: Collection[Key], ways: tuple[int, ...]
    ) -> list[SensitivityLine]:
        design, ways = record.study.design, ways if pairs else ways[:1]
        return [
            line(
                name
                if len(ways) == 1
                else f"{name}, {' by '.join(ending(way, margin, design.candidate, design.comparator))}",
                _decide(record, counted(variant), declared, rng=rng, moved=pairs, way=way),
            )
            for way in ways
        ]

    first = decision(DECLARED, declared)
    against = claimed_against(first.answer.value, margin)
    table = [
        line(AS_DECLARED, first),
        line("all raters complete", decision(Variant(complete=True), declared)),
        line(f"flagged pairs {other[0]}", decision(other[1], declared)),
        # With a margin flagged pairs are lost whatever the answer: raters flag broken answers of the candidate.
        *at_worst(FLAGGED_WORST, kept, counted(kept).flagged, against if margin is None else (-1,)),
        line("excluded raters kept", decision(Variant(keep_excluded=True), declared)),
        *(
            [line("translated pages left out", decision(Variant(leave_out_translated=True), declared))]
            if counted(DECLARED).answers_translated
            else []
        ),
        line("composite", decision(DECLARED, "composite")),
        line("net preference", decision(DECLARED, "net_preference")),
        *at_worst(UNANSWERED, DECLARED, _unanswered(counted(DECLARED)), against),
    ]
    return first.verdict, tuple(table)


def _unanswered(counted: Counted) -> tuple[Key, ...]:
    """Pairs that lack votes; none in a study without an answered pair, which would get a verdict from nothing."""
    return counted.lacking if counted.keys else ()


def changes_since_unblinding(record: StudyRecord, *, rng: int) -> AfterUnblinding:
    """Exclusions, votes and flags since results became visible."""
    seen = results_seen(record)
    if seen is None:
        return AfterUnblinding(None)
    since, then = record.log[seen].at_utc, record_at(record, seen)
    now = {rater.rater_id: rater for rater in record.raters if not rater.dry_run}
    before = {rater.rater_id: rater for rater in then.raters if not rater.dry_run}
    earlier = {answer.key: answer for answer in then.answers}
    votes = flags = 0
    for answer in record.answers:
        if answer.rater_id not in now or answer.repeat:
            continue
        old = earlier.get(answer.key)
        said = None if old is None else (old.choice, old.preference)
        votes += answer.answered and (answer.choice, answer.preference) != said
        flags += answer.invalid != (old is not None and old.invalid)
    changed = AfterUnblinding(
        since=since, excluded=_moved(before, now), included=_moved(now, before), votes=votes, flags=flags
    )
    if not changed.any:
        return changed
    counted = count(then, Filters())
    found = _decide(then, counted, then.study.design.score, rng=rng)
    return replace(changed, verdict=found.verdict, answer=found.answer.value)


def record_at(record: StudyRecord, place: int) -> StudyRecord:
    """The study at a line of its log: raters, exclusions and answers of that time, with today's texts and lists."""
    utc, log, later = record.log[place].at_utc, record.log[: place + 1], record.log[place + 1 :]
    answers: dict[AnswerKey, Answer] = {}
    for entry in record.history:
        if entry.saved_utc <= utc:
            answers[entry.answer.key] = entry.answer
    voted = {answer.rater_id for answer in answers.values()}
    about = {entry.rater_id for entry in later}
    raters = [
        replace(rater, excluded=_excluded(log, rater)) if rater.rater_id in about else rater
        for rater in record.raters
        if rater.created_utc <= utc or rater.rater_id in voted
    ]
    return replace(record, raters=tuple(raters), answers=tuple(answers.values()))


def _excluded(log: Iterable[LogEntry], rater: Rater) -> str | None:
    """The reason for a rater's exclusion at the end of a log, or None."""
    reason = None
    for entry in log:
        if entry.rater_id != rater.rater_id:
            continue
        if entry.action == "rater excluded":
            reason = entry.detail
        elif entry.action == "rater included again":
            reason = None
        elif entry.action == "rater withdrew" and entry.detail.endswith(VOTES_LEFT_OUT):
            reason = rater.excluded
    return reason


def _moved(before: dict[str, Rater], now: dict[str, Rater]) -> tuple[str, ...]:
    """Raters who counted in `before` and are excluded in `now`."""
    return tuple(
        name
        for name, rater in now.items()
        if rater.excluded is not None and name in before and before[name].excluded is None
    )


INTERVAL_LEVEL = 0.95
NO_AGREEMENT, NO_TABLE = "agreement needs two raters with answers", "a table needs two raters"
FEW_QUESTIONS = 50
"""Below this number of questions the jackknife-t interval of agreement is shown first: percentile intervals are too narrow."""
PAPER_ALPHA = 0.05
FLAG_BELOW = 0.05
"""Raters with a lower p-value for position bias are flagged."""
COEFFICIENTS = ("raw_agreement", "cohen_kappa", "gwet_ac1", "fleiss_kappa", "krippendorff_alpha")


@dataclass(frozen=True)
class Contingency:
    """Cross table of two raters' votes."""

    order: tuple[str, ...]
    """Order of rows and columns."""
    table: list[list[int]] | None
    """Rows: the first rater; columns: the second. None unless there are two raters."""
    raters: tuple[str, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Composite:
    """Composite scores: the sign of the sum of a pair's votes."""

    mean: float | None
    counts: dict[str, int]
    """Number of pairs with score -1 (comparator), 0 and 1 (candidate)."""
    n: int


@dataclass(frozen=True)
class StudyVerdict(Verdict):
    """The verdict over questions, on the pairs that the filters select."""

    exploratory: bool
    """Whether filters depart from the declared analysis."""


@dataclass(frozen=True)
class Block:
    """Results computed both overall and for each level."""

    n_pairs: int
    n_questions: int
    n_left_out: dict[str, int]
    choices: dict[str, dict[str, int]]
    """Rater -> preference -> number of counted pairs."""
    contingency: Contingency
    raw_agreement: AgreementEstimate
    cohen_kappa: AgreementEstimate
    gwet_ac1: AgreementEstimate
    fleiss_kappa: AgreementEstimate
    krippendorff_alpha: AgreementEstimate
    composite: Composite
    net_preference: float | None
    """Mean over pairs of the mean vote."""
    ties: Ties


@dataclass(frozen=True)
class PairOfRaters:
    """Agreement of two raters on the pairs that both answered."""

    raters: tuple[str, str]
    contingency: Contingency
    raw_agreement: AgreementEstimate
    cohen_kappa: AgreementEstimate
    gwet_ac1: AgreementEstimate


@dataclass(frozen=True)
class StudyResults:
    """All results of a study, with numbers used and left out. Fractions, not percent."""

    study: str
    state: str
    candidate: str
    comparator: str
    dataset_sha256: str
    design_seed: int
    raters: tuple[str, ...]
    levels: tuple[str, ...]
    """Empty in plain pairs."""
    filtered: dict[str, tuple[str, ...]]
    """Filter -> chosen values, if they depart from the declared analysis."""
    analysis_set: AnalysisSet
    verdict: StudyVerdict
    """On non-inferiority alone; undefined without a margin."""
    answer: StudyAnswer
    """Which system is better: what every door says first."""
    raters_as_sample: RatersAsSample
    pairs_by_votes: dict[int, int]
    sensitivity: tuple[SensitivityLine, ...]
    after_unblinding: AfterUnblinding
    rater_warnings: dict[str, tuple[str, ...]]
    """Rater who counts -> what to check before trusting the verdict."""
    overall: Block
    per_level: dict[str, Block]
    pairwise: tuple[PairOfRaters, ...]
    """Every two of three or more raters."""
    non_inferiority: NonInferiority
    power: Power
    """Factual's variant: two-sided, alpha 0.05."""
    power_one_sided: Power
    """Power at the confidence level of the declared bound."""
    own_size: OwnSize
    """Questions that a study like this one needs, by the planner."""
    position_overall: PositionBias
    position_per_rater: dict[str, PositionBias]
    position_left_out: dict[str, int]
    repeats: dict[str, Consistency]
    rater_seconds: dict[str, RaterSeconds]
    """Rater -> how long they took, over all of their answers to the pairs that the filters select."""
    blinding: Blinding
    early: EarlyResult | None
    """The always-valid bound, which decides if somebody looked while the study ran; None if nobody did."""
    asks_guesses: bool
    """Whether raters are or were asked which answer a person wrote; not in the JSON."""
    answers_used: int
    answers_left_out: dict[str, int]
    n_resamples: int
    rng: int
    answers_translated: int = 0
    """Of the answers used, those given on a page that the browser had translated."""

    @property
    def deciding_look(self) -> EarlyResult | None:
        """The always-valid bound where it decides: about the whole study, if somebody looked early."""
        return None if self.filtered else self.early


def early_caution(results: StudyResults) -> str | None:
    """What to say where the always-valid bound lies above the mean of all questions; else None."""
    early, found = results.deciding_look, results.answer.conclusion
    if early is None or early.bound is None or found.mean is None:
        return None
    if early.bound <= found.mean:  # which lies below the upper end of its interval
        return None
    return (
        "Early and late questions differ. The bound was reached early; later questions score lower, which the bound assumes not to "
        f"happen: the mean of all is {decimal(found.mean)}."
    )


def study_results(
    record: StudyRecord, filters: Filters | None = None, *, n_resamples: int = 10_000, rng: int = 0
) -> StudyResults:
    """Analyse a study from the database or a bundle.

    Main analysis: answers of raters who are neither dry runs nor excluded, without hidden repeats, on pairs at the
    declared levels that have the votes they need. Any filter makes the verdict exploratory. Verdicts always use 10,000
    resamples, whatever `n_resamples`. `rng` seeds every resampling again, so that a number does not depend on which
    others are computed.
    """
    filters = filters or Filters()
    counted = count(record, filters)
    design, rules = record.study.design, analysis_set(record)
    scores = pair_scores(counted, rules.score)
    departs = filtered(record, filters)
    decided, sensitivity = verdict_and_sensitivity(record, filters, rng=rng)
    unknown = sum(counts[2] for counts in counted.sides.values())
    warnings = _rater_warnings(record, counted.raters)
    levels = tuple(level for level in counted.levels if level != NO_LEVEL)
    return StudyResults(
        study=record.study.name,
        state=record.study.state,
        candidate=design.candidate,
        comparator=design.comparator,
        dataset_sha256=record.study.dataset_sha256,
        design_seed=design.seed,
        raters=counted.raters,
        levels=levels,
        filtered=departs,
        analysis_set=rules,
        verdict=StudyVerdict(exploratory=bool(departs), **asdict(decided)),
        answer=study_answer(
            counted, design, rules.score, record.study.votes_mean, n_resamples=N_RESAMPLES, rng=rng
        ),
        raters_as_sample=raters_as_sample(counted, design, interval_level=INTERVAL_LEVEL),
        pairs_by_votes=counted.pairs_by_votes,
        sensitivity=sensitivity,
        after_unblinding=changes_since_unblinding(record, rng=rng),
        rater_warnings=warnings,
        overall=_block(counted, np.ones(len(counted.keys), dtype=bool), None, n_resamples, rng),
        per_level={lv: _block(counted, counted.at_level(lv), lv, n_resamples, rng) for lv in levels},
        pairwise=_pairwise(counted, n_resamples, rng) if len(counted.raters) > 2 else (),
        non_inferiority=non_inferiority(
            scores,
            counted.questions,
            margin=design.margin,
            confidence_level=design.confidence_level,
            n_resamples=n_resamples,
            rng=rng,
        ),
        power=power_non_inferiority(
            scores,
            clusters=counted.questions,
            margin=design.margin,
            alpha=PAPER_ALPHA,
            alternative="two-sided",
        ),
        power_one_sided=power_non_inferiority(
            scores,
            clusters=counted.questions,
            margin=design.margin,
            alpha=1 - design.confidence_level,
            alternative="larger",
        ),
        own_size=own_size(record, counted),
        position_overall=position_bias(
            sum(counts[0] for counts in counted.sides.values()),
            sum(counts[1] for counts in counted.sides.values()),
        ),
        position_per_rater={r: position_bias(left, right) for r, (left, right, _) in counted.sides.items()},
        position_left_out={SIDE_UNKNOWN: unknown} if unknown else {},
        repeats={r: consistency(same, n) for r, (same, n) in counted.repeats.items()},
        rater_seconds=seconds_per_rater(counted.raters, _pair_answers(record, filters), record.history),
        blinding=blinding(record, filters, n_resamples=n_resamples, confidence_level=INTERVAL_LEVEL, rng=rng),
        early=last_look(record if (seen := results_seen(record)) is None else record_at(record, seen)),
        asks_guesses=bool(record.guesses) or design.blinding_pairs > 0,
        answers_used=counted.answers_used,
        answers_left_out=counted.answers_left_out,
        n_resamples=n_resamples,
        rng=rng,
        answers_translated=counted.answers_translated,
    )


def _pair_answers(record: StudyRecord, filters: Filters) -> list[Answer]:
    """All answers to the pairs that the filters select, hidden repeats included."""
    levels, items = map(set, chosen_pairs(record, filters))
    return [one for one in record.answers if one.item_id in items and one.level in levels]


def _rater_warnings(record: StudyRecord, chosen: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The warnings of the study's progress (speed, one side, repeats), and unfinished lists."""
    found = {}
    for line in progress_of(record.raters, record.assignments, record.answers, record.history):
        if line.rater_id not in chosen:
            continue
        unfinished = line.done < line.total
        warnings = (
            *line.flags,
            *([f"unfinished: {line.done} of {line.total} pairs done"] if unfinished else []),
        )
        if warnings:
            found[line.rater_id] = warnings
    return found


def _block(counted: Counted, rows: NDArray[np.bool_], level: str | None, n_resamples: int, rng: int) -> Block:
    codes, questions = counted.codes[rows], counted.questions[rows]
    left_out = counted.pairs_left_out if level is None else counted.left_out_by_level[level]
    signs = preferences(codes)
    scores, means = composite_scores(signs), net_preferences(signs)
    values = {name: int((scores == value).sum()) for name, value in (("-1", -1), ("0", 0), ("1", 1))}
    choices: dict[str, dict[str, int]] = {
        rater: {str(p): int((codes[:, column] == code).sum()) for code, p in enumerate(PREFERENCES)}
        for column, rater in enumerate(counted.raters)
    }
    estimates = {
        name: _estimate(name, codes, questions, counted.raters, n_resamples, rng) for name in COEFFICIENTS
    }
    return Block(
        n_pairs=len(codes),
        n_questions=len(set(questions)),
        n_left_out=left_out,
        choices=choices,
        contingency=_contingency(codes, counted.raters),
        composite=Composite(float(scores.mean()) if len(scores) else None, values, len(scores)),
        net_preference=float(means.mean()) if len(means) else None,
        ties=ties(codes, min_votes=1),
        **estimates,
    )


def _estimate(
    name: str,
    codes: NDArray[np.int64],
    questions: NDArray[np.str_],
    raters: Sequence[str],
    n_resamples: int,
    rng: int,
) -> AgreementEstimate:
    if len(raters) < 2:
        return _undefined(NO_AGREEMENT, len(codes), n_resamples)
    if name == "cohen_kappa" and len(raters) > 2:
        reason = "Cohen's kappa is for two raters: see fleiss_kappa, krippendorff_alpha and pairwise"
        return _undefined(reason, len(codes), n_resamples)
    found: AgreementEstimate = getattr(agreement, name)(
        codes, clusters=questions, n_resamples=n_resamples, confidence_level=INTERVAL_LEVEL, rng=rng
    )
    return found


def _pairwise(counted: Counted, n_resamples: int, rng: int) -> tuple[PairOfRaters, ...]:
    pairs = []
    for index, first in enumerate(counted.raters):
        for second in counted.raters[index + 1 :]:
            columns = [counted.raters.index(first), counted.raters.index(second)]
            codes = counted.codes[:, columns]
            estimates = {
                name: _estimate(name, codes, counted.questions, (first, second), n_resamples, rng)
                for name in COEFFICIENTS[:3]
            }
            pairs.append(PairOfRaters((first, second), _contingency(codes, (first, second)), **estimates))
    return tuple(pairs)


def _contingency(codes: NDArray[np.int64], raters: Sequence[str]) -> Contingency:
    if len(raters) != 2:
        reason = NO_TABLE if len(raters) < 2 else "more than two raters: see pairwise"
        return Contingency(PREFERENCES, None, tuple(raters), reason)
    return Contingency(PREFERENCES, contingency(codes[:, 0], codes[:, 1]).tolist(), tuple(raters))


def _undefined(reason: str, n: int, n_resamples: int) -> AgreementEstimate:
    return AgreementEstimate(None, None, None, n, reason, 0, n_resamples, INTERVAL_LEVEL)


def jackknife_first(estimate: AgreementEstimate) -> bool:
    """Whether to show the jackknife-t interval first: with fewer than FEW_QUESTIONS questions, if it is defined."""
    return estimate.n_clusters < FEW_QUESTIONS and estimate.low_t is not None


def first_interval(estimate: AgreementEstimate) -> tuple[float, float] | None:
    """The interval to show first, jackknife-t or percentile; None if it is undefined.

    An interval without width is not shown: it means that nothing varied, not that the value is known exactly.
    """
    low, high = (
        (estimate.low_t, estimate.high_t) if jackknife_first(estimate) else (estimate.low, estimate.high)
    )
    return None if low is None or high is None or low == high else (low, high)


def holm_of_raters(tests: Mapping[str, PositionBias | ShareRight]) -> dict[str, float | None]:
    """Each rater's p, corrected for the number of raters (Holm)."""
    return dict(zip(tests, corrected([one.p for one in tests.values()]), strict=True))


def headline(results: StudyResults) -> list[str]:
    """The answer, the numbers behind it, then its limits, as lines of a few sentences. The first sentence is the answer alone."""
    return [*verdict_said(results), *evidence_lines(results), *limits_said(results)]


def verdict_said(results: StudyResults) -> list[str]:
    """The answer with the bound that decides, and what is missing for one. The first sentence is the answer alone."""
    first, *others = verdict_reasons(results)
    return [f"{_verdict_word(results)}. {first}", *others]


def verdict_reasons(results: StudyResults) -> list[str]:
    """The same lines without the answer that begins them."""
    word, why = _answer_said(results)
    early = _early_reasons(results)
    lines = [*early, f"{word}. {why}" if early else why, _questions_said(results)]
    return [line for line in lines if line]


def verdict_of(results: StudyResults, named: Callable[[str], str] = str) -> str:
    """The answer alone, for a card or a list: with its subject, without its full stop. named: shortens the name of a system."""
    made, early, name = results.answer, results.deciding_look, named(results.candidate)
    if early is not None:
        if not early.reached_after:
            return _verdict_word(results)
        return f"{name} is {EARLY_NAMES['non-inferior'].replace('Non-', 'non-')}"
    said = answer_of(made.value, made.conclusion.margin, name, named(results.comparator), made.votes_mean)
    return f"Exploratory: {said}" if results.verdict.exploratory else said


def _verdict_word(results: StudyResults) -> str:
    """The answer that begins the results, without its full stop."""
    early = results.deciding_look
    if early is None:
        return _answer_said(results)[0]
    return EARLY_NAMES["non-inferior"] if early.reached_after else f"{NOT_SHOWN} (always-valid bound)"


def evidence_lines(results: StudyResults) -> list[str]:
    """Shares of pairs, the mean with its interval, and how far raters agree."""
    agreed = _agreement_said(results)
    said = evidence_said(results.answer, results.candidate, results.comparator)
    return [*said, agreed] if agreed else said


def limits_said(results: StudyResults) -> list[str]:
    """What limits the answer: raters who contradict it, what would change it, changes since, raters to check."""
    made, systems = results.answer, (results.candidate, results.comparator)
    name = answer_name(made.value, made.conclusion.margin, *systems, made.votes_mean)
    lines = [
        _chance_said(results),
        *dissent_said(made, *systems),
        *robustness_said(made, *systems),
        raters_said(results.raters_as_sample, name),
        _exploratory(results),
        _undeclared(results),
        _disagreement(results),
        _change_said(results),
        *(
            f"Check rater {name}. {' '.join(map(_sentence, said))}"
            for name, said in results.rater_warnings.items()
        ),
    ]
    return [line for line in lines if line]


def results_said(results: StudyResults) -> list[str]:
    """The verdict and its limits, then the data behind the numbers."""
    block = results.overall
    return [
        f"Study {results.study!r} ({results.state}): {results.candidate} against {results.comparator}",
        "",
        *headline(results),
        "",
        described(results),
        f"Raters: {', '.join(results.raters) or 'none'}"
        + (f"; levels: {', '.join(results.levels)}" if results.levels else ""),
        f"Pairs: {block.n_pairs}; questions: {block.n_questions}; left out: {reasons(block.n_left_out)}",
        f"Answers: {results.answers_used}; left out: {reasons(results.answers_left_out)}",
        *translated_notes(results.answers_translated, results.answers_used, "votes"),
        votes_of_pairs(results),
        *(_blinding_said(results.blinding) if results.asks_guesses else []),
    ]


def _blinding_said(found: Blinding) -> list[str]:
    used = f"Guesses: {found.overall.n}; left out: {reasons(found.n_left_out)}"
    return [f"Blinding: {found.reading}", *([used] if found.n_left_out else [])]


def described(results: StudyResults) -> str:
    """The analysis set in one sentence."""
    rules = results.analysis_set
    return _sentence(rules_in_words(rules.levels, rules.votes_needed, rules.score, rules.flagged))


def votes_of_pairs(results: StudyResults) -> str:
    """The number of pairs by number of votes, as a sentence."""
    counts = [
        f"{pairs} with {votes} {'vote' if votes == 1 else 'votes'}"
        for votes, pairs in results.pairs_by_votes.items()
    ]
    return f"Pairs by number of votes: {', '.join(counts) or 'none'}."


def _answer_said(results: StudyResults) -> tuple[str, str]:
    """The declared answer, and its bounds."""
    left_out = results.overall.n_left_out
    early = "Declared analysis, for comparison" if results.deciding_look else ""
    return decided_said(
        results.answer,
        results.candidate,
        results.comparator,
        no_pair=f"No pair counts: {reasons(left_out)}." if left_out else "No pair counts.",
        before="Exploratory" if results.verdict.exploratory else early,
    )


def agreement_of_raters(block: Block, n_raters: int) -> tuple[str, AgreementEstimate]:
    """The name in `Block` of the coefficient for so many raters, and its value: Cohen's kappa of two, else Krippendorff's alpha."""
    name = "cohen_kappa" if n_raters == 2 else "krippendorff_alpha"
    found: AgreementEstimate = getattr(block, name)
    return name, found


def _agreement_said(results: StudyResults) -> str | None:
    """How far raters agree: the coefficient for their number, with its interval."""
    block = results.overall
    if not block.n_pairs:
        return None
    if len(results.raters) < 2:
        return "One rater voted, so agreement between raters is unknown."
    field, found = agreement_of_raters(block, len(results.raters))
    name = "Cohen's kappa" if field == "cohen_kappa" else "Krippendorff's alpha"
    if found.estimate is None:
        return f"{name} is undefined: {found.reason}."
    ends = first_interval(found)
    if ends is None:
        return f"{name} is {decimal(found.estimate)}, without an interval."
    low, high = map(decimal, ends)
    return (
        f"{name} is {decimal(found.estimate)} [{low}, {high}] ({100 * found.confidence_level:g} % interval)."
    )


def _chance_said(results: StudyResults) -> str | None:
    """That raters are not shown to agree more than by chance; None where they are, or where that is unknown."""
    n = len(results.raters)
    if n < 2 or not results.overall.n_pairs:
        return None
    field, found = agreement_of_raters(results.overall, n)
    ends = first_interval(found)
    if found.estimate is None or ends is None or ends[0] > 0:
        return None
    name = "kappa" if field == "cohen_kappa" else "alpha"
    who = "The two raters" if n == 2 else "The raters"
    said = (
        f"{who} agree less than by chance"
        if ends[1] < 0
        else f"{who} are not shown to agree more than by chance"
    )
    return f"{said} ({name} {decimal(found.estimate, 2)} [{decimal(ends[0], 2)}, {decimal(ends[1], 2)}])."


def _early_reasons(results: StudyResults) -> list[str]:
    """The bound of the early looks, and that it decides about the whole study; nothing about a part of it."""
    found = results.deciding_look
    if found is None:
        return []
    caution = early_caution(results)
    entered = f"{found.n_entered} of {found.n_questions} questions entered"
    first = f", the first {found.reached_after} were enough" if found.reached_after else ""
    times = "once" if found.looks == 1 else f"{found.looks} times"
    return [
        f"The lower {bound_and_margin(found)}. {entered}{first}.",
        *([caution] if caution else []),
        f"Results were seen early ({times}), so the always-valid bound decides. The declared analysis has its error rate "
        "only if nobody looks before the end.",
    ]


def size_said(size: OwnSize) -> str:
    """The size of a new study with these raters, for the lowest power, in a sentence."""
    if size.options.margin is None:
        aim = f"A half-width of {size.options.wanted_half_width:g}"
    else:
        aim = f"If both systems are equally good, a power of {USUAL_POWER:g}"
    if not size.sizes and size.questions_range is None:
        return f"The number of questions to plan is undefined: {size.reason}."
    if not size.sizes and size.questions_range is not None:
        return f"{aim} takes {range_said(size.questions_range)}, depending on assumptions ({size.reason})."
    plan = size.sizes[0][1]
    needs = f"takes {plan.questions:,} questions" if plan.questions is not None else f"is {plan.reason}"
    return f"{aim} {needs} with raters like these."


def reasons(left_out: Mapping[str, int]) -> str:
    """Reasons for leaving something out, each with its number, as a list in words; `none` if nothing is left out."""
    return "; ".join(f"{reason} ({n:,})" for reason, n in left_out.items()) or "none"


def _questions_said(results: StudyResults) -> str | None:
    found = results.verdict
    mean, margin = results.answer.conclusion.mean, results.answer.conclusion.margin
    if margin is None or found.bound is None:
        return None
    if results.answer.value != TOO_LITTLE:
        return None
    if found.questions_missing is None and mean is not None and mean <= -margin:
        return f"The observed mean, {decimal(mean)}, is not above the margin: more questions like these would not help."
    return size_said(results.own_size)


def _exploratory(results: StudyResults) -> str | None:
    if not results.filtered:
        return None
    chosen = "; ".join(
        f"{what.replace('_', ' ')} {', '.join(names)}" for what, names in results.filtered.items()
    )
    return f"This is not the declared main analysis. Filters: {chosen}."


def _undeclared(results: StudyResults) -> str | None:
    if results.analysis_set.declared:
        return None
    return "This main analysis was not declared before the votes, because an older version of Assay created the study. The defaults apply."


def _disagreement(results: StudyResults) -> str | None:
    margin, systems = results.answer.conclusion.margin, (results.candidate, results.comparator)
    others = [
        f"{line.name}: {answer_name(line.answer, margin, *systems, results.answer.votes_mean)}"
        for line in results.sensitivity
        # Unanswered pairs have their own sentence, with the tipping point.
        if line.name != AS_DECLARED
        and not line.name.startswith(UNANSWERED)
        and line.answer != results.answer.value
    ]
    return f"The answer depends on what counts. {_sentence('; '.join(others))}" if others else None


def _change_said(results: StudyResults) -> str | None:
    after = results.after_unblinding
    if not after.any or after.since is None:
        return None
    margin, systems = results.answer.conclusion.margin, (results.candidate, results.comparator)
    then = (
        "none"
        if after.answer is None
        else answer_name(after.answer, margin, *systems, results.answer.votes_mean)
    )
    if after.verdict is not None and after.verdict.bound is not None:
        then += f", lower bound {decimal(after.verdict.bound)}"
    changes = [
        *([f"excluded {', '.join(after.excluded)}"] if after.excluded else []),
        *([f"counted again {', '.join(after.included)}"] if after.included else []),
        *([f"{after.votes} votes added or changed"] if after.votes else []),
        *([f"{after.flags} flags added or removed"] if after.flags else []),
    ]
    return (
        f"Changed after results became visible ({after.since[:16].replace('T', ' ')} UTC): {'; '.join(changes)}. "
        f"Answer before these changes: {then}."
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."
