"""A judge that compares pairs: does the order decide, which system wins, and does it vote as blind raters do?"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, NotAllowed
from core.joining.choices import items_of
from core.judges.pairwise import KIND, MIRRORED, PairwiseRecord, compared_groups, values_against
from core.judges.pairwise import PairVerdict as OwnVerdict
from core.results.correlations.votes import votes_panel
from core.results.judges.consistency import (
    NOT_ASKED,
    ONE_ORDER,
    ORDER_MISSING,
    Consistency,
    consistency,
)
from core.results.study.counted import Counted, Filters, count
from core.schema.panel import Panel, TextBeside
from core.schema.scores import (
    PAIR,
    JudgedText,
    JudgeOutput,
    ScorableOutput,
    ScoredRow,
    ScoreTable,
    mask_code,
)
from core.schema.study import NO_LEVEL, StudyRecord
from core.stats.agreement import BesideRaters, agreement_with_raters, gwet_ac1, mean_of_pairs
from core.stats.alt_test import AltTest, Ceiling, human_ceiling
from core.stats.alt_test import alt_test as run_alt_test
from core.stats.resampling import AgreementEstimate, Estimate, agresti_min_mean, mean_share
from core.stats.votes import (
    BOTH_BAD,
    BOTH_GOOD,
    CANDIDATE,
    COMPARATOR,
    MISSING,
    N_CHOICES,
    Codes,
    FirstPlace,
    PositionBias,
    difference_as_share,
    first_place,
    merge_ties,
    position_bias,
    preferences,
)
from core.study.as_seen import rendering_notes
from core.study.masking import unmasked
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import shown

ALL = "all pairs"
SYSTEMS_MASKED = (
    "The systems of these texts are masked, because their study was still blind when the judge read them. Once it is unblinded, "
    "name it, and each mask stands for its system."
)
CONTRADICTED = N_CHOICES
"""Code of a tie that no answer of a rater equals: the verdicts contradict each other, so it is of neither kind."""
NO_VERDICT = "no verdict of the judge"
Place = Literal["first", "second", "both_good", "both_bad", "tie"]
_SAME = 1e-9


@dataclass(frozen=True)
class _Trial:
    """One verdict on a pair."""

    own_first: bool
    """Whether the pair's first text was read first."""
    repeat: int
    verdict: OwnVerdict | None
    """From the side of the pair's first text."""
    feedback: str
    reason: str | None

    @property
    def place(self) -> Place | None:
        """The verdict by place instead of text."""
        if self.verdict == "own" or self.verdict == "other":
            return "first" if (self.verdict == "own") is self.own_first else "second"
        return self.verdict


@dataclass(frozen=True)
class JudgedPair:
    """Two texts that the judge compared."""

    judged: JudgedText
    other: JudgedText
    called: tuple[str, str]
    """What tells the two apart: their systems, else their levels, else their labels."""
    group: str
    """The level or label that both share; empty if there is none."""
    trials: tuple[_Trial, ...]
    value: float | None
    """How far `one` is preferred, 0 to 1, as in its score; None if an order has no verdict."""

    @property
    def answer(self) -> int | None:
        """The judge's answer, verdicts in both orders together, as a rater's code with `judged` as the candidate.

        A tie is of the kind that most verdicts name; CONTRADICTED if none does, or both kinds equally often. A plain tie
        has no kind either.
        """
        if self.value is None:
            return None
        if abs(self.value - 0.5) > _SAME:
            return CANDIDATE if self.value > 0.5 else COMPARATOR
        kinds = Counter(trial.verdict for trial in self.trials)
        good, bad = kinds["both_good"], kinds["both_bad"]
        return CONTRADICTED if good == bad else BOTH_GOOD if good > bad else BOTH_BAD


def judged_pairs(output: JudgeOutput) -> tuple[JudgedPair, ...]:
    """The pairs of a pairwise judge's output, each once, in the order of the file.

    Raises InputError for another kind of judge.
    """
    if output.kind != KIND.name:
        raise InputError(
            f"{shown(output.name)} is a {output.kind} judge, which compares no pairs. Choose a run of `judge pairwise`."
        )
    outputs = [_output(text) for text in output.texts]
    texts = {id(made): text for made, text in zip(outputs, output.texts, strict=True)}
    return tuple(
        _pair(texts[id(one)], texts[id(other)], (name, its_name))
        for group in compared_groups(outputs, str(output.settings.get("between", "systems")))
        for (one, name), (other, its_name) in combinations(group, 2)
    )


def opponents_of(output: JudgeOutput, text: JudgedText) -> tuple[tuple[str, JudgedText], ...]:
    """The texts that the judge compared with a text, each with the name by which the text's record calls it."""
    of_item = tuple(one for one in output.texts if one.row.item_id == text.row.item_id)
    found: list[tuple[str, JudgedText]] = []
    for pair in judged_pairs(replace(output, texts=of_item)):
        if pair.judged is text:
            found.append((pair.called[1], pair.other))
        elif pair.other is text:
            found.append((pair.called[0], pair.judged))
    return tuple(found)


def _output(text: JudgedText) -> ScorableOutput:
    row = text.row
    return ScorableOutput(
        row.item_id, row.system, text.text, level=row.level, language=row.language, labels=row.labels
    )


def _pair(one: JudgedText, other: JudgedText, called: tuple[str, str]) -> JudgedPair:
    """A pair, from the record of its first text; where that has none, from the mirrored one of the second."""
    for text, opponent, mirrored in ((one, called[1], False), (other, called[0], True)):
        if not isinstance(text.record, PairwiseRecord):
            continue
        own = PairwiseRecord(tuple(trial for trial in text.record.trials if trial.against == opponent))
        if own.trials:
            value = values_against(own)[opponent]
            if mirrored and value is not None:
                value = 1 - value
            return JudgedPair(
                one, other, called, _group(one.row, other.row), tuple(_trials(own, mirrored)), value
            )
    return JudgedPair(one, other, called, _group(one.row, other.row), (), None)


def _trials(record: PairwiseRecord, mirrored: bool) -> Iterator[_Trial]:
    for trial in record.trials:
        verdict = MIRRORED.get(trial.verdict or "", trial.verdict) if mirrored else trial.verdict
        own_first = (trial.order == "own-first") is not mirrored
        yield _Trial(own_first, trial.repeat, verdict, trial.feedback, trial.reason)


def _group(one: ScoredRow, other: ScoredRow) -> str:
    if one.labels.get(PAIR) == other.labels.get(PAIR) is not None:
        return one.labels[PAIR]
    return one.level or "" if one.level == other.level else ""


# --- without votes -----------------------------------------------------------------------------


@dataclass(frozen=True)
class PairsBlock:
    """What the order does, over all pairs or those of one level. Shares are means over pairs, with intervals over items."""

    level: str
    """Empty: all pairs."""
    n_pairs: int
    n_items: int
    same: Estimate
    """Share with the same verdict in both orders, kinds of ties told apart; repeats averaged."""
    flips: Estimate
    """Share whose verdict follows the place: the first answer in both orders, or the second."""
    flips_first: float | None
    """The part of `flips` that follows the first place, 0 to 1; None as `flips`."""
    n_flips: tuple[int, int]
    """Pairs that ever flip: those that follow the first place in a repeat, and those that follow the second."""
    position: FirstPlace
    answers: Mapping[str, int]
    """Answer, both orders together -> pairs: decided, both_good, both_bad, tie, contradicted."""
    verdicts: Mapping[str, int]
    """Place or kind of tie -> single verdicts; `none` for those that failed."""


@dataclass(frozen=True)
class SystemWins:
    """How often one side of the pairs wins."""

    system: str
    """A system; a level or a label where these are compared."""
    level: str
    """Empty: all pairs."""
    win_rate: Estimate
    """Mean over pairs of 1 (preferred), 1/2 (tie) and 0; verdicts that contradict each other are ties."""
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class VotesBlock:
    """A judge and raters on the same pairs, over all pairs or those of one level."""

    level: str
    """Empty: all pairs."""
    answers: Literal["four", "three"]
    """four: as raters give them; three: a tie of either kind is one answer."""
    n_pairs: int
    n_items: int
    agreement: BesideRaters
    kappa: AgreementEstimate
    """Cohen's, of the judge with each rater, averaged over raters."""
    kappa_raters: AgreementEstimate
    """The same of every two raters."""
    ac1: AgreementEstimate
    ac1_raters: AgreementEstimate
    """Gwet's AC1 of all raters, as in the study's results."""
    alt_test: AltTest | None
    ceiling: Ceiling | None
    """A rater's numbers in the place of the judge."""
    reason: str = ""
    """Why there is no Alt-test."""


@dataclass(frozen=True)
class BesideVotes:
    """A judge's verdicts beside the votes of an unblinded study."""

    study: str
    raters: tuple[str, ...]
    blocks: tuple[VotesBlock, ...]
    """All pairs, then each level; four answers first."""
    raters_position: PositionBias
    """Of all raters together."""
    left_out: Mapping[str, int]
    """Reason -> pairs without a verdict or without the votes they need."""
    panel: Panel
    texts: tuple[TextBeside, ...]
    """Both texts of each pair with the judge's reasons."""
    notes: tuple[str, ...] = ()
    """What raters saw and the judge did not."""


@dataclass(frozen=True)
class PairsReport:
    """Everything about one pairwise judge."""

    judge: str
    both_orders: bool
    blocks: tuple[PairsBlock, ...]
    """All pairs, then each level, if there are several."""
    systems: tuple[SystemWins, ...]
    systems_reason: str
    """Why there is nothing by system."""
    itself: Consistency
    """Agreement of the judge with itself, text by text."""
    votes: BesideVotes | None
    left_out: Mapping[str, int]
    """Reason -> pairs left out of everything above, and texts that were compared with no other."""
    confidence_level: float


def pairs_report(
    output: JudgeOutput,
    record: StudyRecord | None = None,
    *,
    epsilon: float = 0.2,
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> PairsReport:
    """Report on a pairwise judge: orders, ties, win rates, repeats; with a study also agreement beside its votes.

    record: the unblinded study of pairs whose texts the judge compared. Votes count as in its results: at the declared levels,
    without dry runs, excluded raters, hidden repeats and invalid pairs. A pair counts if every order that was asked has
    a verdict. epsilon: of the Alt-test.

    Misleads: in one drawn order nothing shows how far the order decides, and verdicts that the place decided count as
    preferences. Equal verdicts in both orders do not show that a judge is right: one that always answers "both good" has them.
    Four answers and three measure different things, as with raters.

    Raises InputError for another kind of judge and if no text of the study was judged, NotAllowed before it is unblinded.
    """
    as_read = judged_pairs(output)
    pairs = as_read if record is None else _decoded(record, as_read)
    used = [pair for pair in pairs if pair.value is not None]
    levels = list(dict.fromkeys(pair.group for pair in used))
    wanted = ["", *(levels if len(levels) > 1 else ())]
    drawing: dict[str, Any] = {
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
        "rng": rng,
    }
    systems: tuple[SystemWins, ...] = ()
    reason = ""
    try:
        systems = win_rates(pairs, confidence_level=confidence_level)
    except NotAllowed as problem:
        reason = str(problem)
    return PairsReport(
        output.name,
        any(_has_both(pair) for pair in pairs),
        tuple(
            _block([pair for pair in used if level in ("", pair.group)], level, confidence_level)
            for level in wanted
        ),
        systems,
        reason,
        consistency(output, **drawing),
        None if record is None else _votes_comparison(output, record, pairs, {"epsilon": epsilon, **drawing}),
        _left_out(output, as_read),
        confidence_level,
    )


def win_rates(pairs: Sequence[JudgedPair], *, confidence_level: float = 0.95) -> tuple[SystemWins, ...]:
    """Win rate of each system over all pairs, then by level, in the order of the file.

    Interval: `resampling.agresti_min_mean` of wins minus losses over items, mapped to [0, 1].

    Misleads where systems meet different opponents, or in other pairs. Raises NotAllowed for masked systems.
    """
    if any(mask_code(text.row.system) for pair in pairs for text in (pair.judged, pair.other)):
        raise NotAllowed(SYSTEMS_MASKED)
    groups = list(dict.fromkeys(pair.group for pair in pairs))
    sides: dict[tuple[str, str], list[tuple[ScoredRow, float]]] = {}
    for level in ["", *(groups if len(groups) > 1 else ())]:
        for pair in pairs:
            if pair.value is None or level not in ("", pair.group):
                continue
            ahead = 2 * pair.value - 1
            for name, text, lead in zip(
                _names(pair), (pair.judged, pair.other), (ahead, -ahead), strict=True
            ):
                sides.setdefault((level, name), []).append((text.row, lead))
    found = []
    for (level, name), given in sides.items():
        leads = np.array([0.0 if abs(lead) <= _SAME else lead for _, lead in given])
        rate = agresti_min_mean(leads, items_of([row for row, _ in given]), confidence_level=confidence_level)
        counts = [int((np.sign(leads) == sign).sum()) for sign in (1, 0, -1)]
        found.append(SystemWins(name, level, difference_as_share(rate), *counts))
    return tuple(found)


def _names(pair: JudgedPair) -> tuple[str, str]:
    """What tells the two texts apart, by which win rates are counted."""
    one, other = pair.judged.row, pair.other.row
    return (one.system, other.system) if one.system != other.system else pair.called


def _has_both(pair: JudgedPair) -> bool:
    return len({trial.own_first for trial in pair.trials}) == 2


def _block(pairs: Sequence[JudgedPair], level: str, confidence_level: float) -> PairsBlock:
    items = items_of([pair.judged.row for pair in pairs])
    orders = np.array([orders_compared(pair) for pair in pairs]).reshape(len(pairs), 3)
    places = [Counter(trial.place for trial in pair.trials) for pair in pairs]
    same, flips = (
        _explained(mean_share(values, items, confidence_level=confidence_level), pairs)
        for values in (orders[:, 0], orders[:, 1] + orders[:, 2])
    )
    verdicts = sum(places, Counter[Place | None]())
    answers = Counter(_answer_named(pair) for pair in pairs)
    return PairsBlock(
        level,
        len(pairs),
        len(set(items.tolist())),
        same,
        flips,
        None if flips.estimate is None else float(np.nanmean(orders[:, 1])),
        (int((orders[:, 1] > 0).sum()), int((orders[:, 2] > 0).sum())),
        first_place(
            [one["first"] for one in places],
            [one["second"] for one in places],
            items,
            confidence_level=confidence_level,
        ),
        {name: answers[name] for name in _ANSWERS},
        {"none" if name is None else name: verdicts[name] for name in _PLACES},
    )


_ANSWERS = ("decided", "both_good", "both_bad", "tie", "contradicted")
_PLACES: tuple[Place | None, ...] = ("first", "second", "both_good", "both_bad", "tie", None)


def _answer_named(pair: JudgedPair) -> str:
    answer = pair.answer
    if answer in (CANDIDATE, COMPARATOR):
        return "decided"
    if answer == CONTRADICTED:
        return "tie" if all(trial.verdict == "tie" for trial in pair.trials) else "contradicted"
    return "both_good" if answer == BOTH_GOOD else "both_bad"


def orders_compared(pair: JudgedPair) -> tuple[float, float, float]:
    """Shares of repeats with equal verdicts in both orders, with the first place twice, and with the second twice.

    Over repeats with a verdict in both orders; NaN without one.
    """
    by_repeat: dict[int, dict[bool, _Trial]] = {}
    for trial in pair.trials:
        if trial.verdict is not None:
            by_repeat.setdefault(trial.repeat, {})[trial.own_first] = trial
    whole = [orders for orders in by_repeat.values() if len(orders) == 2]
    if not whole:
        return np.nan, np.nan, np.nan
    same = sum(one[True].verdict == one[False].verdict for one in whole)
    flips = [
        sum(one[True].place == one[False].place == place for one in whole) for place in ("first", "second")
    ]
    return same / len(whole), flips[0] / len(whole), flips[1] / len(whole)


def _explained(estimate: Estimate, pairs: Sequence[JudgedPair]) -> Estimate:
    if estimate.estimate is not None:
        return estimate
    return replace(estimate, reason=ONE_ORDER if pairs else NOT_ASKED)


def _left_out(output: JudgeOutput, pairs: Sequence[JudgedPair]) -> dict[str, int]:
    paired = {id(text) for pair in pairs for text in (pair.judged, pair.other)}
    alone = Counter(
        next(iter(text.reasons.values()), NOT_ASKED) for text in output.texts if id(text) not in paired
    )
    failed = Counter(
        next((trial.reason for trial in pair.trials if trial.reason), ORDER_MISSING)
        if pair.trials
        else NOT_ASKED
        for pair in pairs
        if pair.value is None
    )
    return {
        **{f"texts, {why}": n for why, n in alone.items()},
        **{f"pairs, {why}": n for why, n in failed.items()},
    }


# --- beside votes ------------------------------------------------------------------------------


def _decoded(record: StudyRecord, pairs: Sequence[JudgedPair]) -> tuple[JudgedPair, ...]:
    """The pairs with the systems that masks stand for."""
    rows = unmasked(record, [text.row for pair in pairs for text in (pair.judged, pair.other)])
    return tuple(
        replace(
            pair,
            judged=replace(pair.judged, row=one),
            other=replace(pair.other, row=other),
            called=(one.system, other.system) if mask_code(pair.judged.row.system) else pair.called,
        )
        for pair, one, other in zip(pairs, rows[::2], rows[1::2], strict=True)
    )


def _votes_comparison(
    output: JudgeOutput, record: StudyRecord, pairs: Sequence[JudgedPair], options: dict[str, Any]
) -> BesideVotes:
    panel = votes_panel(record, scores_of(output))
    counted = count(record, Filters())
    known = _study_pairs(record, pairs)
    answers = np.array(
        [_code(*known[key]) if key in known else MISSING for key in counted.keys], dtype=np.int64
    )
    signs = preferences(np.where(answers == CONTRADICTED, BOTH_GOOD, answers)[:, None])
    panel = replace(panel, judges=(output.name,), scores=signs)
    levels = [level for level in counted.levels if level != NO_LEVEL]
    four = output.settings.get("ties") == "good-or-bad"
    blocks = [
        _votes_block(counted, answers, level, kind, options)
        for kind in (("four", "three") if four else ("three",))
        for level in ("", *(levels if len(levels) > 1 else ()))
    ]
    left_out = Counter(counted.pairs_left_out)
    left_out[NO_VERDICT] += int((answers == MISSING).sum())
    sides = np.array(list(counted.sides.values()), dtype=np.int64).reshape(-1, 3).sum(axis=0).tolist()
    return BesideVotes(
        record.study.name,
        counted.raters,
        tuple(blocks),
        position_bias(sides[0], sides[1]),
        {why: n for why, n in left_out.items() if n},
        panel,
        pair_texts(record, [output]),
        rendering_notes(record.study),
    )


def scores_of(output: JudgeOutput) -> ScoreTable:
    """The judge's scores as a table."""
    values = [[text.scores.get(metric.name) for metric in output.metrics] for text in output.texts]
    return ScoreTable(
        tuple(text.row for text in output.texts),
        output.metrics,
        np.array(
            [[np.nan if one is None else one for one in row] for row in values], dtype=np.float64
        ).reshape(len(output.texts), len(output.metrics)),
        file_name=output.name,
    )


def _code(pair: JudgedPair, turned: bool) -> int:
    """The judge's answer with the study's candidate as the candidate; MISSING without a verdict."""
    answer = pair.answer
    if answer is None:
        return MISSING
    return {CANDIDATE: COMPARATOR, COMPARATOR: CANDIDATE}.get(answer, answer) if turned else answer


def pair_texts(record: StudyRecord, outputs: Sequence[JudgeOutput]) -> tuple[TextBeside, ...]:
    """Both texts of each pair of a study, one after the other, with the reasons of the judges that compared them.

    outputs: judges' outputs; those of other kinds count for nothing.
    """
    design = record.study.design
    reasons: dict[tuple[str, str], dict[str, str]] = {}
    for output in outputs:
        if output.kind != KIND.name:
            continue
        for key, (pair, turned) in _study_pairs(record, judged_pairs(output)).items():
            said = [
                f"{'candidate' if trial.own_first is not turned else 'comparator'} read first: {trial.feedback}"
                for trial in pair.trials
                if trial.feedback
            ]
            reasons.setdefault(key, {})[output.name] = "\n".join(said)
    questions = {item.item_id: item.question for item in record.items}
    texts: dict[tuple[str, str], dict[str, str]] = {}
    for one in record.outputs:
        texts.setdefault((one.item_id, one.level), {})[one.source] = one.text
    return tuple(
        TextBeside(
            ScoredRow(item, ONLY_SYSTEM, None if level == NO_LEVEL else level),
            questions.get(item, ""),
            "\n\n".join(
                f"{role}, {system}: {of_system.get(system, '')}"
                for role, system in (("Candidate", design.candidate), ("Comparator", design.comparator))
            ),
            reasons.get((item, level), {}),
        )
        for (item, level), of_system in texts.items()
    )


def _study_pairs(
    record: StudyRecord, pairs: Sequence[JudgedPair]
) -> dict[tuple[str, str], tuple[JudgedPair, bool]]:
    """(item, level) -> the judge's pair of a study's two systems, and whether its first text is the comparator's."""
    design = record.study.design
    found = {}
    for pair in _decoded(record, pairs):
        one, other = pair.judged.row, pair.other.row
        if one.level == other.level and {one.system, other.system} == {design.candidate, design.comparator}:
            found[one.item_id, one.level or NO_LEVEL] = pair, one.system == design.comparator
    return found


def _votes_block(
    counted: Counted,
    answers: Codes,
    level: str,
    kind: Literal["four", "three"],
    options: dict[str, Any],
) -> VotesBlock:
    rows = (answers != MISSING) & (counted.at_level(level) if level else True)
    votes, judge, questions = counted.codes[rows], answers[rows], counted.questions[rows]
    n_raters = N_CHOICES
    if kind == "three":
        votes, judge = (merge_ties(codes) for codes in (votes, judge))
        n_raters = 3
    # A tie without a kind is an answer that raters do not have.
    n_judge = n_raters + int(kind == "four" and (judge == CONTRADICTED).any())
    drawing = {name: options[name] for name in ("n_resamples", "confidence_level", "rng")}
    asked: dict[str, Any] = {"clusters": questions, **drawing}
    mine = [np.column_stack([votes[:, rater], judge]) for rater in range(votes.shape[1])]
    theirs = [votes[:, [first, second]] for first, second in combinations(range(votes.shape[1]), 2)]
    tested, ceiling, why = _alt_tested(votes, judge, questions, options)
    return VotesBlock(
        level,
        kind,
        len(votes),
        len(set(questions.tolist())),
        agreement_with_raters(votes, judge, n_categories=n_judge, **asked),
        mean_of_pairs("cohen_kappa", mine, n_categories=n_judge, **asked),
        mean_of_pairs("cohen_kappa", theirs, n_categories=n_raters, **asked),
        mean_of_pairs("gwet_ac1", mine, n_categories=n_judge, **asked),
        gwet_ac1(votes, n_categories=n_raters, **asked),
        tested,
        ceiling,
        why,
    )


def _alt_tested(
    votes: Codes, judge: Codes, questions: NDArray[np.str_], options: dict[str, Any]
) -> tuple[AltTest | None, Ceiling | None, str]:
    if votes.shape[1] < 2:
        return None, None, "it needs two raters"
    ratings = np.where(votes == MISSING, np.nan, votes.astype(np.float64))
    asked: dict[str, Any] = {
        "epsilon": options["epsilon"],
        "clusters": questions,
        "confidence_level": options["confidence_level"],
    }
    return (
        run_alt_test(judge.astype(np.float64), ratings, **asked),
        human_ceiling(ratings, **asked),
        "",
    )
