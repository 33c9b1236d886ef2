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
from core.results.cells import (
    corrected_column,
    corrected_note,
    each_for_itself,
    ends,
    interval,
    left_out_notes,
    p_said,
    plain,
)
from core.results.check.gaps import GAPS, gaps_of
from core.results.correlations.votes import votes_panel
from core.results.judges.consistency import (
    NOT_ASKED,
    ONE_ORDER,
    ORDER_MISSING,
    Consistency,
    consistency,
    repeats_table,
)
from core.results.study.counted import Counted, Filters, count
from core.results.study.tables import agreement_cell
from core.schema.panel import Panel, TextBeside
from core.schema.result_table import Cell, Column, Interval, ResultTable
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
from core.stats.agreement import BesideRaters, beside_raters, gwet_ac1, mean_of_pairs
from core.stats.alt_test import PASS_AT, AltTest, Ceiling, human_ceiling
from core.stats.alt_test import alt_test as run_alt_test
from core.stats.degeneracy import CONSTANT_SHARE
from core.stats.multiplicity import corrected
from core.stats.resampling import AgreementEstimate, Estimate, mean_share, with_agresti_min
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
    as_share,
    first_place,
    position_bias,
    preferences,
    without_kinds,
)
from core.study.masking import unmasked
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import shown

PAIRS_TABLES = (
    *("pairs", "pairs-ties", "pairs-systems", "judge-repeats"),
    *("pairs-agreement", "pairs-alt-test", GAPS),
)
"""Names of all tables, the main one first. The last three need the votes of a study."""
ALL = "all pairs"
EPSILON = 0.2
SYSTEMS_MASKED = (
    "The systems of these texts are masked, because their study was still blind when the judge read them. Once it is unblinded, "
    "name it, and each mask stands for its system."
)
CONTRADICTED = N_CHOICES
"""Code of a tie that no answer of a rater equals: the verdicts contradict each other, so it is of neither kind."""
NO_VERDICT = "no verdict of the judge"
Place = Literal["first", "second", "both_good", "both_bad", "tie"]
_SAME = 1e-9
FEWEST_ITEMS = 6
"""Items with a decision below which no p of a position is below .05, whatever the judge does: 2 / 2^5 = .0625."""


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

    one: JudgedText
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
        """The judge's answer, verdicts in both orders together, as a rater's code with `one` as the candidate.

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
        if pair.one is text:
            found.append((pair.called[1], pair.other))
        elif pair.other is text:
            found.append((pair.called[0], pair.one))
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
    epsilon: float = EPSILON,
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
        None if record is None else _beside_votes(output, record, pairs, {"epsilon": epsilon, **drawing}),
        _left_out(output, as_read),
        confidence_level,
    )


def win_rates(pairs: Sequence[JudgedPair], *, confidence_level: float = 0.95) -> tuple[SystemWins, ...]:
    """Win rate of each system over all pairs, then by level, in the order of the file.

    Interval: `resampling.with_agresti_min` of wins minus losses over items, mapped to [0, 1].

    Misleads where systems meet different opponents, or in other pairs. Raises NotAllowed for masked systems.
    """
    if any(mask_code(text.row.system) for pair in pairs for text in (pair.one, pair.other)):
        raise NotAllowed(SYSTEMS_MASKED)
    groups = list(dict.fromkeys(pair.group for pair in pairs))
    sides: dict[tuple[str, str], list[tuple[ScoredRow, float]]] = {}
    for level in ["", *(groups if len(groups) > 1 else ())]:
        for pair in pairs:
            if pair.value is None or level not in ("", pair.group):
                continue
            ahead = 2 * pair.value - 1
            for name, text, lead in zip(_names(pair), (pair.one, pair.other), (ahead, -ahead), strict=True):
                sides.setdefault((level, name), []).append((text.row, lead))
    found = []
    for (level, name), given in sides.items():
        leads = np.array([0.0 if abs(lead) <= _SAME else lead for _, lead in given])
        rate = with_agresti_min(leads, items_of([row for row, _ in given]), confidence_level=confidence_level)
        counts = [int((np.sign(leads) == sign).sum()) for sign in (1, 0, -1)]
        found.append(SystemWins(name, level, as_share(rate), *counts))
    return tuple(found)


def _names(pair: JudgedPair) -> tuple[str, str]:
    """What tells the two texts apart, by which win rates are counted."""
    one, other = pair.one.row, pair.other.row
    return (one.system, other.system) if one.system != other.system else pair.called


def _has_both(pair: JudgedPair) -> bool:
    return len({trial.own_first for trial in pair.trials}) == 2


def _block(pairs: Sequence[JudgedPair], level: str, confidence_level: float) -> PairsBlock:
    items = items_of([pair.one.row for pair in pairs])
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


def _explained(found: Estimate, pairs: Sequence[JudgedPair]) -> Estimate:
    if found.estimate is not None:
        return found
    return replace(found, reason=ONE_ORDER if pairs else NOT_ASKED)


def _left_out(output: JudgeOutput, pairs: Sequence[JudgedPair]) -> dict[str, int]:
    paired = {id(text) for pair in pairs for text in (pair.one, pair.other)}
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
    rows = unmasked(record, [text.row for pair in pairs for text in (pair.one, pair.other)])
    return tuple(
        replace(
            pair,
            one=replace(pair.one, row=one),
            other=replace(pair.other, row=other),
            called=(one.system, other.system) if mask_code(pair.one.row.system) else pair.called,
        )
        for pair, one, other in zip(pairs, rows[::2], rows[1::2], strict=True)
    )


def _beside_votes(
    output: JudgeOutput, record: StudyRecord, pairs: Sequence[JudgedPair], options: dict[str, Any]
) -> BesideVotes:
    panel = votes_panel(record, scores_of(output))
    counted = count(record, Filters())
    known = _of_study(record, pairs)
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
        for key, (pair, turned) in _of_study(record, judged_pairs(output)).items():
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


def _of_study(
    record: StudyRecord, pairs: Sequence[JudgedPair]
) -> dict[tuple[str, str], tuple[JudgedPair, bool]]:
    """(item, level) -> the judge's pair of a study's two systems, and whether its first text is the comparator's."""
    design = record.study.design
    found = {}
    for pair in _decoded(record, pairs):
        one, other = pair.one.row, pair.other.row
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
        votes, judge = (without_kinds(codes) for codes in (votes, judge))
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
        beside_raters(votes, judge, n_categories=n_judge, **asked),
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


# --- tables ------------------------------------------------------------------------------------


def pairs_said(found: PairsReport) -> list[str]:
    """The findings in sentences, the most important first."""
    whole = found.blocks[0]
    if not whole.n_pairs:
        return [f"{shown(found.judge)}: no pair has a verdict yet."]
    said = _constant_said(found)
    if found.votes is not None:
        said += _votes_said(found, found.votes)
    if found.both_orders:
        n_first, n_second = whole.n_flips
        said.append(
            f"{shown(found.judge)} gives the same verdict in both orders on {_percent(whole.same.estimate)} of "
            f"{whole.n_pairs:,} pairs. On {_percent(whole.flips.estimate)} the verdict follows the place "
            f"({n_first:,} first, {n_second:,} second)."
        )
    else:
        said.append(
            f"{shown(found.judge)} read each of {whole.n_pairs:,} pairs in one order, so nothing shows how far the order decides."
        )
    said.append(_position_said(whole.position))
    if found.systems_reason:
        said.append(f"Nothing by system: {found.systems_reason}")
    return said


_ANSWER_WORDS = {"both_good": "both good", "both_bad": "both bad", "tie": "a tie"}


def _constant_said(found: PairsReport) -> list[str]:
    """A warning if all or nearly all pairs have one answer that prefers none of the two."""
    whole = found.blocks[0]
    for name, n in whole.answers.items():
        if name != "decided" and n > 1 and n >= CONSTANT_SHARE * whole.n_pairs:
            what = (
                f"the answer is {_ANSWER_WORDS[name]}"
                if name in _ANSWER_WORDS
                else "the two orders contradict each other"
            )
            return [
                f"{shown(found.judge)} is constant: on {n:,} of {whole.n_pairs:,} pairs {what}. Such a judge reports nothing about a pair: it agrees with raters as "
                "often as they give that answer, and may pass the Alt-test so."
            ]
    return []


def _percent(share: float | None) -> str:
    return "an unknown share" if share is None else f"{100 * share:.0f} %"


def _position_said(found: FirstPlace) -> str:
    if found.share_first.estimate is None:
        return "The judge decided for no answer, so it prefers no place."
    share = f"It prefers the answer that it reads first in {_percent(found.share_first.estimate)} of its decisions"
    if found.p is None:
        return f"{share}: {found.reason}."
    if found.p < 0.05:
        return f"Position bias. {share} ({p_said(found.p)})."
    if found.share_first.n_clusters < FEWEST_ITEMS:
        return f"Too few items to tell of a position bias. {share} ({p_said(found.p)})."
    return f"No sign of position bias. {share} ({p_said(found.p)})."


def _votes_said(found: PairsReport, votes: BesideVotes) -> list[str]:
    said = []
    for one in votes.blocks:
        if one.level:
            continue
        agreement, raters = one.agreement.judge, one.agreement.raters
        what = "a rater's answer" if one.answers == "four" else "a rater's answer, ties of both kinds as one,"
        if agreement.estimate is None:
            said.append(f"Agreement with raters is undefined: {agreement.reason}.")
            continue
        beside = (
            f"; another rater in {_percent(raters.estimate)}"
            if raters.estimate is not None
            else f"; agreement of raters is undefined: {raters.reason}"
        )
        said.append(
            f"{shown(found.judge)} gives {what} in {_percent(agreement.estimate)} of {one.n_pairs:,} pairs{beside}."
        )
    n_no_kind = found.blocks[0].answers["contradicted"]
    if n_no_kind:
        said.append(
            f"On {n_no_kind:,} of {found.blocks[0].n_pairs:,} pairs the judge contradicts itself, which counts as a tie. With three "
            "answers such a tie agrees with every rater who saw a tie, with four it agrees with nobody."
        )
    place = votes.raters_position
    if place.share_left is not None:
        said.append(
            f"Raters chose the left answer in {_percent(place.share_left)} of their decisions ({p_said(place.p or 0.0)})."
        )
    return said


def pairs_tables(
    found: PairsReport, *, texts: bool = False, most: int | None = None
) -> dict[str, ResultTable]:
    """All tables that the report has, by name. texts: with the texts of the largest gaps; most: gaps at most."""
    made = [orders_table(found), ties_table(found)]
    if found.systems:
        made.append(systems_table(found))
    if found.itself.n_repeats > 1:
        made.append(repeats_table(found.itself))
    if found.votes is not None:
        made += [
            agreement_table(found, found.votes),
            alt_test_table(found, found.votes),
            gaps_of(found.votes.panel, found.votes.texts if texts else (), most=most),
        ]
    return {table.name: table for table in made}


def _level(level: str) -> str:
    return level or ALL


def _level_column(found: PairsReport) -> Column:
    return Column("level", names_row=True, shown=len(found.blocks) > 1)


def orders_table(found: PairsReport) -> ResultTable:
    """One row for all pairs, then one for each level: what the order does."""
    p_levels = corrected([one.position.p for one in found.blocks[1:]])
    n_tests = sum(p is not None for p in p_levels)
    p_holm = [found.blocks[0].position.p, *p_levels]
    return ResultTable(
        PAIRS_TABLES[0],
        (
            _level_column(found),
            Column("pairs"),
            Column("items", shown=False),
            Column("same", "same in both orders", percent=True),
            Column("flips", "follows the place", percent=True),
            Column("n_flips_first", "first twice"),
            Column("n_flips_second", "second twice"),
            Column("first", "for the first"),
            Column("second", "for the second"),
            Column("share_first", "share first"),
            Column("p", p_value=True),
            corrected_column("holm", n_tests),
        ),
        tuple(
            (
                *(_level(one.level), one.n_pairs, one.n_items, interval(one.same), interval(one.flips)),
                *(one.n_flips if one.flips.estimate is not None else (None, None)),
                *(one.position.first, one.position.second, interval(one.position.share_first)),
                Interval(one.position.p, reason=one.position.reason or ""),
                p,
            )
            for one, p in zip(found.blocks, p_holm, strict=True)
        ),
        title="Both orders",
        notes=(
            "Follows the place: the first answer in both orders, or the second. Share first: of verdicts for an answer, those for "
            "the answer read first; each pair counts once.",
            "p: test that pairs which lean to a place lean to either equally often, over items. A pair with the same verdict in both "
            "orders leans to none.",
            f"Intervals: {found.confidence_level:.0%}, over items.",
            *corrected_note("holm", n_tests, "the levels; all pairs together are one test"),
            *left_out_notes([("", found.left_out)], ""),
            *(found.itself.notes if found.itself.n_repeats < 2 else ()),
        ),
    )


def ties_table(found: PairsReport) -> ResultTable:
    """One row for all pairs, then one for each level: answers with both orders together, and single verdicts."""
    titles = {
        "decided": "one preferred",
        "both_good": "both good",
        "both_bad": "both bad",
        "tie": "tie",
        "contradicted": "orders contradict",
    }
    places = {"both_good": "both good", "both_bad": "both bad", "tie": "tie", "none": "no verdict"}
    whole = found.blocks[0]
    return ResultTable(
        PAIRS_TABLES[1],
        (
            _level_column(found),
            Column("pairs"),
            *(Column(name, title, shown=bool(whole.answers[name])) for name, title in titles.items()),
            *(Column(f"verdicts_{name}", f"verdicts: {name}") for name in ("first", "second")),
            *(
                Column(f"verdicts_{name}", f"verdicts: {title}", shown=bool(whole.verdicts[name]))
                for name, title in places.items()
            ),
        ),
        tuple(
            (
                _level(one.level),
                one.n_pairs,
                *(one.answers[name] for name in titles),
                *(one.verdicts[name] for name in ("first", "second", *places)),
            )
            for one in found.blocks
        ),
        title="Ties",
        notes=(
            "Counts of pairs, both orders together, then of single verdicts. Orders contradict: preferences cancel out, or the two "
            "kinds of ties do. Such a pair counts as a tie of neither kind.",
        ),
    )


def systems_table(found: PairsReport) -> ResultTable:
    """One row for each system, over all pairs and by level."""
    several = len({one.level for one in found.systems}) > 1
    return ResultTable(
        PAIRS_TABLES[2],
        (
            Column("level", names_row=True, shown=several),
            Column("system", names_row=True),
            Column("win_rate", "win rate"),
            *(Column(name) for name in ("wins", "ties", "losses")),
        ),
        tuple(
            (_level(one.level), one.system, interval(one.win_rate), one.wins, one.ties, one.losses)
            for one in found.systems
        ),
        title="Win rates",
        notes=(
            "Win rate: mean over pairs of 1 (preferred), 0.5 (tie) and 0. It says what this judge prefers, not which system is "
            "better.",
            f"Intervals: {found.confidence_level:.0%}, over items.",
            *each_for_itself(len(found.systems)),
        ),
    )


def _votes_columns(votes: BesideVotes) -> tuple[Column, ...]:
    return (
        Column("level", names_row=True, shown=any(one.level for one in votes.blocks)),
        Column("answers", names_row=True, shown=len({one.answers for one in votes.blocks}) > 1),
        Column("pairs"),
        Column("items", "questions", shown=False),
    )


def _votes_cells(one: VotesBlock) -> tuple[Cell, ...]:
    return _level(one.level), one.answers, one.n_pairs, one.n_items


def agreement_table(found: PairsReport, votes: BesideVotes) -> ResultTable:
    """The judge with raters, beside raters among themselves: raw agreement, kappa and AC1."""

    def cells(one: VotesBlock) -> Iterator[Cell]:
        for estimate in (
            *(one.agreement.judge, one.agreement.raters, one.agreement.gap),
            *(one.kappa, one.kappa_raters, one.ac1, one.ac1_raters),
        ):
            yield agreement_cell(estimate, one.n_pairs)

    contradicted = (
        (
            "A tie whose orders contradict each other equals no answer of a rater, and is a fifth answer for AC1.",
        )
        if any(one.answers == "four" for one in votes.blocks) and found.blocks[0].answers["contradicted"]
        else ()
    )
    return ResultTable(
        PAIRS_TABLES[4],
        (
            *_votes_columns(votes),
            Column("agreement", "judge and rater"),
            Column("agreement_raters", "two raters"),
            Column("gap", "difference"),
            Column("kappa", "kappa, judge"),
            Column("kappa_raters", "kappa, raters"),
            Column("ac1", "AC1, judge"),
            Column("ac1_raters", "AC1, raters"),
        ),
        tuple((*_votes_cells(one), *cells(one)) for one in votes.blocks),
        title="Beside raters",
        notes=(
            f"Votes of study {shown(votes.study)}: {', '.join(map(shown, votes.raters))}. Of the judge: mean over raters. Of "
            "raters: as in the study's results.",
            "Four answers: candidate, both good, both bad, comparator. Three: a tie of either kind is one answer.",
            *contradicted,
            f"Intervals: {found.confidence_level:.0%}, over questions; below 50 questions jackknife-t, else percentile bootstrap.",
            *left_out_notes([("", votes.left_out)], "pairs"),
        ),
    )


def alt_test_table(found: PairsReport, votes: BesideVotes) -> ResultTable:
    """The Alt-test over all pairs and by level."""

    def cells(one: VotesBlock) -> tuple[Interval | str, ...]:
        tested, ceiling = one.alt_test, one.ceiling
        if tested is None or ceiling is None:
            nothing = Interval(None, reason=one.reason)
            return nothing, nothing, nothing, nothing, "no verdict"
        passed = {None: "no verdict", True: "passed", False: "not passed"}[tested.passed]
        return (
            interval(tested.advantage),
            interval(ceiling.advantage),
            Interval(tested.winning_rate, reason=tested.reason or ""),
            Interval(ceiling.winning_rate, reason=ceiling.reason or ""),
            "passed, too few items" if tested.passed_unseen else passed,
        )

    epsilon = next((one.alt_test.epsilon for one in votes.blocks if one.alt_test is not None), EPSILON)
    return ResultTable(
        PAIRS_TABLES[5],
        (
            *_votes_columns(votes),
            Column("advantage"),
            Column("ceiling", "human ceiling"),
            Column("winning_rate", "winning rate", percent=True),
            Column("ceiling_rate", "ceiling's rate", percent=True),
            Column("verdict"),
        ),
        tuple((*_votes_cells(one), *cells(one)) for one in votes.blocks),
        title="Alt-test",
        notes=(
            f"May the judge replace a rater? Winning rate: share of raters against whom it wins at epsilon {epsilon:g}; passed "
            f"from {PASS_AT:.0%}. Advantage: share of pairs on which it is at least as close to the other raters.",
            *(
                ("With two raters, each is compared with the other alone: there is no consensus.",)
                if len(votes.raters) == 2
                else ()
            ),
            f"Intervals: {found.confidence_level:.0%}, over questions.",
        ),
    )


def pairs_json(found: PairsReport) -> dict[str, Any]:
    """The documented JSON: orders, systems and, with a study, agreement beside its votes."""
    votes = found.votes
    return {
        "judge": found.judge,
        "both_orders": found.both_orders,
        "n_repeats": found.itself.n_repeats,
        "confidence_level": found.confidence_level,
        "orders": plain(found.blocks),
        "systems": plain(found.systems),
        "systems_reason": found.systems_reason,
        "repeats": plain(found.itself.repeats) if found.itself.n_repeats > 1 else [],
        "left_out": dict(found.left_out),
        "notes": list(found.itself.notes),
        "votes": None
        if votes is None
        else {
            "study": votes.study,
            "raters": list(votes.raters),
            "blocks": [_votes_json(one) for one in votes.blocks],
            "raters_position": plain(votes.raters_position),
            "left_out": dict(votes.left_out),
        },
        "said": pairs_said(found),
    }


def _votes_json(one: VotesBlock) -> dict[str, Any]:
    tested, ceiling = one.alt_test, one.ceiling
    return {
        "level": one.level,
        "answers": one.answers,
        "n_pairs": one.n_pairs,
        "n_questions": one.n_items,
        "agreement": _both_intervals(one.agreement.judge),
        "agreement_raters": _both_intervals(one.agreement.raters),
        "gap": _both_intervals(one.agreement.gap),
        "kappa": _both_intervals(one.kappa),
        "kappa_raters": _both_intervals(one.kappa_raters),
        "ac1": _both_intervals(one.ac1),
        "ac1_raters": _both_intervals(one.ac1_raters),
        "alt_test": None
        if tested is None or ceiling is None
        else {
            "epsilon": tested.epsilon,
            "winning_rate": tested.winning_rate,
            "passed": tested.passed,
            "advantage": plain(tested.advantage),
            "ceiling": ends(ceiling.advantage),
            "ceiling_winning_rate": ceiling.winning_rate,
            "ceiling_reason": ceiling.reason,
        },
        "reason": one.reason,
    }


def _both_intervals(found: AgreementEstimate) -> dict[str, Any]:
    own: dict[str, Any] = plain(found)
    return {
        **own,
        "low_t": found.low_t,
        "high_t": found.high_t,
        "interval_t_reason": found.interval_t_reason,
        "n_clusters": found.n_clusters,
    }
