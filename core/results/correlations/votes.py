"""Metrics and votes: does a metric order the two answers of a pair as the raters did?"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import check_names, directions, items_of
from core.joining.tables import NO_SCORE, merge_tables
from core.judges import pairwise
from core.results.cells import corrected_column, corrected_note, interval, left_out_notes
from core.results.study.counted import Counted, Filters, count
from core.schema.panel import Panel
from core.schema.result_table import Column, ResultTable
from core.schema.scale import Scale
from core.schema.scores import Metric, ScoredRow, ScoreTable
from core.schema.study import NO_LEVEL, Study, StudyRecord, VoteMeaning
from core.stats.agreement import PairwiseAgreement, pairwise_agreement
from core.stats.correlation.intervals import correlate
from core.stats.degeneracy import tied
from core.stats.ideal_point import TOO_FEW_FITTING, ideal_point_margins
from core.stats.multiplicity import Correction, corrected
from core.stats.resampling import (
    NO_RESAMPLES,
    Estimate,
    Floats,
    Resampling,
    mean_estimates,
    mean_share,
    sign_flip_p,
)
from core.stats.tie_rate import FEW_ITEMS, NO_SPREAD, calibrated_votes, tie_thresholds
from core.stats.votes import (
    BOTH_GOOD,
    CANDIDATE,
    COMPARATOR,
    MISSING,
    composite_scores,
    merge_ties,
    preferences,
)
from core.study.analysis_set import check_released
from core.study.as_seen import rendering_notes
from core.study.masking import unmasked, unmasked_table
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import shown

CORRECTION: Correction = "benjamini-hochberg"
"""Of every metric against chance: many are screened."""
ONE_WINNER = "raters prefer the same system in every pair, so a metric that always prefers it agrees as often"
NO_WINNER, NO_ROW = "no winner", "one of the two answers of the pair has no score"
PREFERRED: dict[VoteMeaning | None, str] = {
    "fits_level": "the answer whose score is nearer to what raters found to fit the level in other questions",
    "better": "the answer that it scored higher",
}
"""The answer that a judge of single answers votes for."""


@dataclass(frozen=True)
class MetricVotes:
    """One metric compared with the raters of an unblinded study."""

    metric: str
    family: str
    agreement: Estimate
    """Share of pairs with a winner that the metric orders as the raters did; a tie of the metric counts half. The interval
    resamples questions; where all resamples are alike, as with a metric that is always right, it is Wilson's over questions. Chance
    gives 0.5."""
    p: float | None
    """Two-sided p of an agreement of 0.5, from flipping the signs of whole questions (`sign_flip_p`): it holds for few questions,
    where the percentile interval is too narrow. None without a pair with a winner, and if all have the same winner."""
    tau: Estimate
    """Kendall's tau-b of score difference and composite vote, over all pairs, including ties."""
    by_level: Mapping[str, Estimate]
    """Level -> agreement."""
    with_ties: PairwiseAgreement
    """How often the metric, which ties as often as raters do, gives a rater's answer (candidate, tie, comparator), beside how often
    another rater gives it: over all pairs, those without a winner included."""
    left_out: Mapping[str, int]
    """Reason -> pairs left out of the agreement: no winner, no vote of the metric, too few votes of raters."""
    differ: int = 0
    """Pairs with a winner of which it prefers the other answer."""


@dataclass(frozen=True)
class Preferences:
    """What metrics prefer in each counted pair. Arrays have the shape (pairs, metrics)."""

    table: ScoreTable
    counted: Counted
    sides: Sequence[NDArray[np.int64]]
    """Rows of the table for the candidate's and the comparator's answer of each pair; -1 for none."""
    margins: Floats
    """Above 0 for the candidate; NaN without both scores or a target, and for a metric whose margins are all 0."""
    thresholds: Floats
    """Margin up to which the pair is a tie; NaN without a margin, and with few questions."""
    prefers: NDArray[np.bool_]
    """Shape (metrics,): whether the metric prefers an answer in some pair."""

    @property
    def votes(self) -> Floats:
        """1 for the candidate, -1 for the comparator, 0 for a tie, NaN for no vote."""
        return calibrated_votes(self.margins, self.thresholds)

    def missing(self, metric: int, values: Floats) -> dict[str, int]:
        """Reason -> pairs without a value of this metric. values: its margins, or its votes."""
        return dict(Counter(self.why(metric, pair) for pair in np.flatnonzero(np.isnan(values)).tolist()))

    def why(self, metric: int, pair: int) -> str:
        """The reason why a pair has no margin or no vote of a metric."""
        for row in (int(side[pair]) for side in self.sides):
            if row < 0:
                return NO_ROW
            if np.isnan(self.table.values[row, metric]):
                return self.table.reasons.get((row, metric), NO_SCORE)
        if not self.prefers[metric]:
            return NO_SPREAD
        return TOO_FEW_FITTING if np.isnan(self.margins[pair, metric]) else FEW_ITEMS


def metrics_against_votes(
    record: StudyRecord,
    table: ScoreTable,
    **drawing: Unpack[Resampling],
) -> tuple[MetricVotes, ...]:
    """Compare every metric of the table with the study's votes, whose meaning follows from what it asks (`pair_margins`).

    Agreement and tau: with the composite votes (Factual: the sign of the votes' sum). With ties: with each rater, beside how often
    raters agree with each other (`pairwise_agreement`).

    table: scores of the study's texts, joined by item, level and system = source; masks of a study that was blind
    stand for their systems. Votes count as in the study's results:
    without dry runs, excluded raters, hidden repeats and invalid pairs. Raises NotAllowed unless the study is unblinded,
    and InputError if no text of the study was scored or a text is listed twice.
    """
    check_released(record.study)
    preferred = preferences_of(record, table, count(record, Filters()))
    options: Resampling = {"n_resamples": 2_000, **drawing}
    return tuple(_metric_votes(preferred, metric, options) for metric in range(len(table.metrics)))


def votes_panel(
    record: StudyRecord,
    tables: ScoreTable | Sequence[ScoreTable],
    *,
    raters: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
) -> Panel:
    """The votes of a study of pairs beside the preferences of judges that scored both answers: each row is a pair.

    A rating is 1 if the rater preferred the candidate, -1 for the comparator, 0 for a tie of either kind. A judge votes by its
    margin (`pair_margins`): for the answer nearer to what raters found to fit the level, or for the one with the better score, by
    what the study asks. It ties as often as raters do in other questions (`tie_thresholds`). A judge that compares pairs keeps its
    own ties, and verdicts that contradict each other in its two orders are one. Items are the questions. tables: one or several,
    as in `metrics_against_votes`; those of several judges are merged. raters, judges: names of raters and of metrics; None for all.

    Raises NotAllowed unless the study is unblinded, and InputError for unknown names, if no text of the study was scored, and if
    no judge has a vote, with the reasons, unless all of them compare pairs.
    """
    check_released(record.study)
    given = [tables] if isinstance(tables, ScoreTable) else tables
    table = decoded(record, given)
    origins = [(one.file_name, metric.name, metric.signature) for one in given for metric in one.metrics]
    counted = count(record, Filters(raters=raters))
    check_names("judge", judges or (), [metric.name for metric in table.metrics])
    chosen = [at for at, metric in enumerate(table.metrics) if judges is None or metric.name in judges]
    preferred = preferences_of(record, table, counted)
    votes = preferred.votes
    missing = [(table.metrics[at].name, preferred.missing(at, votes[:, at])) for at in chosen]
    by_scores = [at for at in chosen if not compares_pairs(table.metrics[at])]
    if by_scores and counted.keys and np.isnan(votes[:, chosen]).all():
        raise InputError(
            f"No judge has a vote on a pair of study {shown(record.study.name)}.",
            left_out_notes(missing, "pairs"),
        )
    rows = tuple(
        ScoredRow(item, ONLY_SYSTEM, None if level == NO_LEVEL else level) for item, level in counted.keys
    )
    design = record.study.design
    return Panel(
        rows,
        items_of(rows),
        np.full(len(rows), ONLY_SYSTEM),
        counted.raters,
        preferences(counted.codes),
        tuple(table.metrics[at].name for at in chosen),
        votes[:, chosen],
        Scale(
            "ordered",
            (-1.0, 0.0, 1.0),
            {-1.0: design.comparator, 0.0: "tie", 1.0: design.candidate},
            (-1.0, 1.0),
            "file",
        ),
        f"study {record.study.name}",
        (
            *_vote_notes(record.study, [table.metrics[at] for at in chosen]),
            *rendering_notes(record.study),
            *left_out_notes([one for one in missing if one[1]], "pairs"),
            *table.notes,
        ),
        dict(counted.pairs_left_out),
        sources=tuple(origins[at] for at in chosen),
        pairs=True,
        silent={
            table.metrics[at].name: "; ".join(why)
            for at, (_, why) in zip(chosen, missing, strict=True)
            if np.isnan(votes[:, at]).all()
        },
    )


def decoded(record: StudyRecord, tables: Sequence[ScoreTable]) -> ScoreTable:
    """One table, decoded before it is merged, because a judge that read masked texts shares no system with the others."""
    texts = {(one.item_id, one.level, one.source) for one in record.outputs}
    return merge_tables([unmasked_table(record, one) for one in tables], of=texts)


def _vote_notes(study: Study, metrics: Sequence[Metric]) -> tuple[str, ...]:
    """What a row is, and what a vote and a tie of these judges are."""
    comparing = [shown(one.name) for one in metrics if compares_pairs(one)]
    notes = ["each row is a pair of answers, on which raters voted"]
    if len(comparing) < len(metrics):
        notes.append(f"a judge votes for {PREFERRED[study.votes_mean]}, and ties as often as raters do")
    if comparing:
        whose = f"of {', '.join(comparing)} " if len(comparing) < len(metrics) else ""
        notes.append(f"a tie {whose}is its own, or its verdicts in the two orders contradict each other")
    return tuple(notes)


def compares_pairs(metric: Metric) -> bool:
    """Whether this is a judge that compares pairs itself."""
    return metric.family == pairwise.KIND.family


def preferences_of(record: StudyRecord, table: ScoreTable, counted: Counted) -> Preferences:
    """What each metric of the table prefers in the counted pairs of a study. Raises InputError as `metrics_against_votes`."""
    margins = pair_margins(record, table, counted)
    thresholds = np.where(np.isnan(margins), np.nan, 0.0)
    prefers = np.ones(len(table.metrics), dtype=np.bool_)
    signs = preferences(counted.codes)
    for at in (at for at, metric in enumerate(table.metrics) if not compares_pairs(metric)):
        prefers[at] = _prefers(margins[:, at])
        thresholds[:, at] = tie_thresholds(margins[:, at], signs, counted.questions)
    return Preferences(
        table,
        counted,
        _sides(record, table, counted),
        np.where(prefers, margins, np.nan),
        thresholds,
        prefers,
    )


def _prefers(margins: Floats) -> bool:
    """Whether a metric prefers an answer in some pair."""
    return not (margins == 0).any() or bool((np.abs(margins) > 0).any())


def agreement_so_far(
    record: StudyRecord, table: ScoreTable, counted: Counted
) -> tuple[tuple[Estimate, int], ...]:
    """For each metric its agreement with the votes, and the number of pairs on which they differ, without interval or p.

    The same numbers as in `metrics_against_votes`, in a tenth of the time: for scores that are others at the next look. counted:
    `count(record, Filters())`, which does not change with the scores. Raises as `metrics_against_votes`.
    """
    check_released(record.study)
    margins = pair_margins(record, table, counted)
    composite = composite_scores(preferences(counted.codes))
    found = []
    for own, metric in zip(margins.T, table.metrics, strict=True):
        agreed = _agreed(own, composite)
        n = int((~np.isnan(agreed)).sum())
        reason = None if n else NO_WINNER
        if not compares_pairs(metric) and not _prefers(own):
            n, reason = 0, NO_SPREAD
        value = None if reason else float(np.nanmean(agreed))
        share = Estimate(value, None, None, n, reason, 0, 0, 0.95, NO_RESAMPLES, n_left_out=len(own) - n)
        found.append((share, 0 if reason else int((agreed == 0).sum())))
    return tuple(found)


def _agreed(margins: Floats, composite: Floats) -> Floats:
    """1 for each pair on which the metric prefers the raters' winner, 1/2 for a tie of it, 0 if it prefers the other answer."""
    return np.where(~np.isnan(margins) & (composite != 0), (np.sign(margins) * composite + 1) / 2, np.nan)


def vote_margins(
    record: StudyRecord,
    tables: ScoreTable | Sequence[ScoreTable],
    *,
    raters: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
) -> Floats:
    """How far each judge's margin is from where its vote would change, by the rows and judges of `votes_panel`; 0 or more.

    For a judge that compares pairs, this is how far the scores of the two answers are apart.
    """
    check_released(record.study)
    table = decoded(record, [tables] if isinstance(tables, ScoreTable) else tables)
    counted = count(record, Filters(raters=raters))
    chosen = [at for at, metric in enumerate(table.metrics) if judges is None or metric.name in judges]
    preferred = preferences_of(record, table, counted)
    return np.asarray(np.abs(np.abs(preferred.margins) - preferred.thresholds)[:, chosen])


def pair_margins(record: StudyRecord, table: ScoreTable, counted: Counted) -> Floats:
    """How strongly each metric prefers the candidate's answer of each counted pair: shape (pairs, metrics), above 0 for the candidate.

    What a preference is follows from what the study asks. If a vote says which answer is better, it is the difference of the
    scores. If it says which answer fits the level, it is how much nearer the candidate's score is to the level's target, learned
    from the votes on other questions (`ideal_point_margins`); a metric's direction then makes no difference. A vote "candidate" or
    "both good" says that the candidate's answer fits, each with the same weight. A judge that compares pairs itself was asked the
    raters' question, so its score difference is its own vote.

    NaN without both scores, and where too few answers fit the level in other questions. What differs by rounding alone is equal.
    """
    scores = np.stack([_turned(table)[rows] for rows in _sides(record, table, counted)], axis=1)
    margins, sizes = scores[:, 0] - scores[:, 1], np.abs(scores).max(axis=1)
    if record.study.votes_mean == "fits_level":
        levels = np.array([counted.levels.index(level) for _, level in counted.keys], dtype=np.int64)
        for at, metric in enumerate(table.metrics):
            if not compares_pairs(metric):
                margins[:, at], targets = ideal_point_margins(
                    scores[:, :, at], _fits(counted), levels, counted.questions
                )
                sizes[:, at] += np.abs(targets)
    return _settle_rounding(margins, sizes)


def _fits(counted: Counted) -> NDArray[np.int64]:
    """Votes that found the candidate's answer of each pair to fit its level, and the comparator's; shape (pairs, 2)."""
    return np.column_stack(
        [np.isin(counted.codes, (side, BOTH_GOOD)).sum(axis=1) for side in (CANDIDATE, COMPARATOR)]
    )


def _settle_rounding(margins: Floats, sizes: Floats) -> Floats:
    """Margins whose distances from 0 are equal if they differ by rounding alone. sizes: of the scores behind them."""
    distances = np.vstack([np.zeros((1, margins.shape[1])), np.abs(margins)])
    even = tied(distances.T, np.vstack([np.zeros((1, margins.shape[1])), sizes]).T).T[1:]
    return np.asarray(np.sign(margins) * even)


def _turned(table: ScoreTable) -> Floats:
    """The scores, higher is better, with a last row of NaN for texts without a row."""
    return np.vstack([table.values * directions(table), np.full(len(table.metrics), np.nan)])


def _sides(record: StudyRecord, table: ScoreTable, counted: Counted) -> list[NDArray[np.int64]]:
    """Rows of the table for the candidate and the comparator of each pair; -1 for none."""
    places, design = rows_of_texts(record, table), record.study.design
    return [
        np.array([places.get((item, level, source), -1) for item, level in counted.keys], dtype=np.int64)
        for source in (design.candidate, design.comparator)
    ]


def rows_of_texts(record: StudyRecord, table: ScoreTable) -> dict[tuple[str, str, str], int]:
    """(item, level, source) -> row of the table, for texts of the study. Raises InputError for a text with several rows, and if the
    table has no text of the study.
    """
    texts = {(output.item_id, output.level, output.source) for output in record.outputs}
    places: dict[tuple[str, str, str], int] = {}
    twice = []
    for index, row in enumerate(unmasked(record, table.rows)):
        key = (row.item_id, row.level or "", row.system)
        if key in texts and places.setdefault(key, index) != index:
            item, level, source = map(shown, key)
            twice.append(f"question {item}, level {level}, system {source} is listed more than once")
    if twice:
        raise InputError("A text of the study has several rows of scores. Leave out all but one.", twice)
    if not places:
        first = record.outputs[0]
        raise InputError(
            f"The scores contain no text of study {record.study.name!r}. Item, level and system must be the study's "
            f"question, level and system, such as {shown(first.item_id)}, {shown(first.level)}, {shown(first.source)}."
        )
    return places


def _metric_votes(preferred: Preferences, metric: int, options: Resampling) -> MetricVotes:
    counted, margins = preferred.counted, preferred.margins[:, metric]
    composite = composite_scores(preferences(counted.codes))
    there = ~np.isnan(margins)
    agreed = _agreed(margins, composite)
    levels = np.array([level for _, level in counted.keys], dtype=str)
    by_level = [np.where(levels == level, agreed, np.nan) for level in counted.levels]
    shares = [
        _widen(share, values, counted.questions)
        for share, values in zip(
            mean_estimates(np.column_stack([agreed, *by_level]), counted.questions, **options),
            [agreed, *by_level],
            strict=True,
        )
    ]
    at_level = [
        replace(share, n_left_out=int((levels == level).sum()) - share.n)
        for level, share in zip(counted.levels, shares[1:], strict=True)
    ]
    used = ~np.isnan(agreed)
    tested = len(set(composite[used].tolist())) > 1
    no_margin = Counter(preferred.missing(metric, margins))
    left_out = Counter(counted.pairs_left_out) + no_margin
    left_out[NO_WINNER] += int((there & (composite == 0)).sum())
    votes = preferred.votes[:, metric]
    unvoted = Counter(counted.pairs_left_out) + Counter(preferred.missing(metric, votes))
    own = np.where(np.isnan(votes), MISSING, 1 - votes).astype(np.int64)
    beside = pairwise_agreement(
        merge_ties(counted.codes), own, clusters=counted.questions, n_categories=3, **options
    )
    tau = correlate(margins, composite, "kendall", clusters=counted.questions, **options)
    return MetricVotes(
        metric=preferred.table.metrics[metric].name,
        family=preferred.table.metrics[metric].family,
        agreement=_explained(
            shares[0] if tested or not used.any() else replace(shares[0], interval_reason=ONE_WINNER),
            left_out,
        ),
        p=sign_flip_p(agreed[used] - 0.5, counted.questions[used], rng=options.get("rng", 0))
        if tested
        else None,
        tau=tau if there.any() else _explained(tau, no_margin),
        by_level={
            level: share for level, share in zip(counted.levels, at_level, strict=True) if level != NO_LEVEL
        },
        with_ties=replace(beside, evaluator=_explained(beside.evaluator, unvoted)),
        left_out={reason: n for reason, n in left_out.items() if n},
        differ=int((agreed == 0).sum()),
    )


def _widen(share: Estimate, values: Floats, questions: NDArray[np.str_]) -> Estimate:
    """The share, with Wilson's interval over questions if no resample differs from another."""
    if share.low is None or share.low != share.high:
        return share
    wilson = mean_share(values, questions, confidence_level=share.confidence_level)
    return replace(share, low=wilson.low, high=wilson.high, interval_reason=wilson.interval_reason)


def _explained(share: Estimate, left_out: Counter[str]) -> Estimate:
    """The share; if it is undefined, with the commonest reason why pairs were left out."""
    if share.estimate is not None or not left_out:
        return share
    return replace(share, reason=left_out.most_common(1)[0][0])


def vote_table(metrics: Sequence[MetricVotes]) -> ResultTable:
    """One row for each metric; p tests its agreement against chance, 0.5."""
    p_values = [one.p for one in metrics]
    n_tests = sum(p is not None for p in p_values)
    levels = list(dict.fromkeys(level for one in metrics for level in one.by_level))
    return ResultTable(
        "votes",
        (
            Column("metric", names_row=True),
            Column("family"),
            Column("pairs"),
            Column("n_left_out", "left out"),
            Column("agreement", "agreement", heat="share"),
            Column("p", "p of 0.5", p_value=True),
            corrected_column(CORRECTION, n_tests),
            Column("tau", "Kendall", heat="coefficient"),
            Column("with_ties", "metric and rater", heat="share"),
            Column("people", "two raters", heat="share"),
            *(Column(f"agreement_{level}", f"agreement, {level}", heat="share") for level in levels),
            Column("left_out", shown=False),
        ),
        tuple(
            (
                *(one.metric, one.family, one.agreement.n, sum(one.left_out.values())),
                *(interval(one.agreement), p, p_bh, interval(one.tau)),
                *(interval(one.with_ties.evaluator), interval(one.with_ties.raters)),
                *(interval(one.by_level.get(level)) for level in levels),
                one.left_out,
            )
            for one, p, p_bh in zip(metrics, p_values, corrected(p_values, CORRECTION), strict=True)
        ),
        notes=(
            *corrected_note(CORRECTION, n_tests, "the metrics' agreement over all levels"),
            *(
                [f"No p: {ONE_WINNER}."]
                if any(one.agreement.interval_reason == ONE_WINNER for one in metrics)
                else []
            ),
            *left_out_notes([(one.metric, one.left_out) for one in metrics], "pairs"),
        ),
    )
