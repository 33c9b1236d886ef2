"""The answer of a study of pairs: which system is better, who disagrees, how firm it is, and the words for it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.errors import counted as with_noun
from core.results.cells import decimal
from core.results.study.counted import Counted, pair_scores
from core.results.study.words import answer_name, words_of
from core.schema.study import Design, Score, VoteMeaning
from core.stats.conclusion import (
    BETTER,
    CLAIMS,
    NOT_WORSE,
    OPEN,
    TOO_LITTLE,
    WITHIN_MARGIN,
    WORSE,
    AnswerValue,
    Conclusion,
    Unanswered,
    claimed_against,
    conclude,
    mean_bounds,
    unanswered_at_worst,
)
from core.stats.non_inferiority import is_above_margin
from core.stats.resampling import cluster_sums
from core.stats.votes import composite_scores, preferences
from core.study.analysis_set import SCORE_NAMES

DISSENT_LEVEL = 0.10
"""Chance that any rater is named wrongly, shared equally among the raters."""


@dataclass(frozen=True)
class Shares:
    """Shares of pairs by who wins them: the sign of the sum of a pair's votes, the same for both scores."""

    candidate: float | None
    tie: float | None
    comparator: float | None
    n: int
    """Pairs that count."""
    opposed: int
    """Tied pairs in which raters disagreed on the winner, so that their preferences cancel out; not every vote is a tie."""
    unit: str = "pairs"


@dataclass(frozen=True)
class RaterOfAnswer:
    """Mean vote of one rater, with the interval that says whether the rater dissents."""

    rater: str
    mean: float | None
    """None without votes."""
    low: float | None
    high: float | None
    dissents: bool


@dataclass(frozen=True)
class StudyAnswer:
    """Which of a study's two systems is better, on the pairs that count."""

    conclusion: Conclusion
    score: Score
    votes_mean: VoteMeaning | None
    """What a vote says, which decides the words; not in the JSON."""
    shares: Shares
    raters: tuple[RaterOfAnswer, ...]
    rater_level: float | None
    """Two-sided level of the raters' intervals; None without a rater."""
    unanswered: Unanswered

    @property
    def value(self) -> AnswerValue:
        """The answer."""
        return self.conclusion.value

    @property
    def gaffke_disagrees(self) -> bool:
        """Whether Gaffke's bounds would give another answer, and either of the two claims something."""
        by_gaffke = self.conclusion.gaffke
        return (
            by_gaffke is not None
            and by_gaffke.value != self.value
            and not {by_gaffke.value, self.value} <= {OPEN, TOO_LITTLE}
        )

    @property
    def dissenting(self) -> tuple[RaterOfAnswer, ...]:
        """Raters whose own votes contradict the answer."""
        return tuple(one for one in self.raters if one.dissents)

    def to_json(self) -> dict[str, Any]:
        """The documented form (docs/formats.md), ready for json.dumps."""
        found = asdict(self.conclusion)
        bounds, reason = found.pop("bounds") or {}, found.pop("reason")
        holds = found.pop("holds_with_one_more")
        return {
            **found,
            "reason": reason,
            "score": self.score,
            **{name: bounds.get(name) for name in _BOUNDS},
            "gaffke_disagrees": self.gaffke_disagrees,
            "shares": asdict(self.shares),
            "holds_with_one_more": holds,
            "unanswered": {
                "n": self.unanswered.n,
                **asdict(self.unanswered.worst),
                "tipping_share": self.unanswered.tipping_share,
                "cases": [asdict(one) for one in self.unanswered.cases],
            },
            "raters": {
                one.rater: {"mean": one.mean, "low": one.low, "high": one.high, "dissents": one.dissents}
                for one in self.raters
            },
            "rater_level": self.rater_level,
        }


_BOUNDS = ("bound", "low", "high", "low_method", "high_method", "low_reason", "high_reason")


def study_answer(
    counted: Counted,
    design: Design,
    score: Score,
    votes_mean: VoteMeaning | None,
    *,
    n_resamples: int,
    rng: int,
) -> StudyAnswer:
    """The answer on the pairs that count. n_resamples, rng: of the verdicts."""
    scores, questions = pair_scores(counted, score), counted.questions
    found = conclude(
        scores,
        questions,
        margin=design.margin,
        confidence_level=design.confidence_level,
        n_resamples=n_resamples,
        rng=rng,
    )
    n_raters = len(counted.raters)
    return StudyAnswer(
        found,
        score,
        votes_mean,
        shares=_shares(counted),
        raters=_raters(counted, found, n_resamples, rng),
        rater_level=1 - DISSENT_LEVEL / n_raters if n_raters else None,
        unanswered=unanswered_at_worst(
            scores,
            questions,
            [item for item, _ in counted.lacking],
            found.value,
            margin=design.margin,
            confidence_level=design.confidence_level,
            n_resamples=n_resamples,
            rng=rng,
        ),
    )


def _shares(counted: Counted) -> Shares:
    votes = preferences(counted.codes)
    signs = composite_scores(votes)
    if not len(signs):
        return Shares(None, None, None, 0, 0)
    won, tied, lost = (float((signs == value).mean()) for value in (1, 0, -1))
    opposed = (signs == 0) & (np.nan_to_num(votes) != 0).any(axis=1)
    return Shares(won, tied, lost, len(signs), int(opposed.sum()))


def _raters(
    counted: Counted, conclusion: Conclusion, n_resamples: int, rng: int
) -> tuple[RaterOfAnswer, ...]:
    """Each rater's mean vote, with the bounds of the answer at a level that allows for the number of raters."""
    votes = preferences(counted.codes)
    rows = []
    for column, rater in enumerate(counted.raters):
        own = votes[:, column]
        voted = ~np.isnan(own)
        if not voted.any():
            rows.append(RaterOfAnswer(rater, None, None, None, dissents=False))
            continue
        sums = cluster_sums(
            np.column_stack([own[voted], np.ones(int(voted.sum()))]), counted.questions[voted]
        )
        bounds = mean_bounds(
            sums,
            conclusion.confidence_level,
            interval_level=1 - DISSENT_LEVEL / len(counted.raters),
            symmetric=conclusion.margin is None,
            n_resamples=n_resamples,
            rng=rng,
        )
        rows.append(
            RaterOfAnswer(
                rater,
                float(own[voted].mean()),
                bounds.low,
                bounds.high,
                dissents=_contradicts(bounds.low, bounds.high, conclusion),
            )
        )
    return tuple(rows)


def _contradicts(low: float, high: float, conclusion: Conclusion) -> bool:
    """Whether a rater's interval lies on the other side of 0 than the mean, or below a margin that the answer is above."""
    below, above = is_above_margin(-high, 0), is_above_margin(low, 0)
    if conclusion.mean is not None and ((below and conclusion.mean > 0) or (above and conclusion.mean < 0)):
        return True
    kept = conclusion.value in (BETTER, NOT_WORSE, WITHIN_MARGIN) and conclusion.margin is not None
    return kept and not is_above_margin(high, conclusion.margin or 0.0)


def decided_said(
    made: StudyAnswer, candidate: str, comparator: str, *, no_pair: str, before: str = ""
) -> tuple[str, str]:
    """The answer without its full stop, and the bounds that decide it. no_pair: what to say without a pair. before: such as
    `Exploratory`.
    """
    found = made.conclusion
    name = answer_name(made.value, found.margin, candidate, comparator, made.votes_mean)
    systems = found.margin is None and made.value in (BETTER, WORSE)
    first = f"{before}: {name if systems else name[0].lower() + name[1:]}" if before else name
    if found.bounds is None:
        return first, no_pair
    why = _symmetric_reason if found.margin is None else _margin_reason
    return first, " ".join([*why(made, candidate, comparator), *_method_said(made)])


def _margin_reason(made: StudyAnswer, candidate: str, comparator: str) -> list[str]:
    found, bounds = made.conclusion, made.conclusion.bounds
    assert bounds is not None, "a mean has bounds"
    assert found.margin is not None, "declared"
    side = percent((1 + found.interval_level) / 2)
    said = []
    if made.value == BETTER:
        said.append(
            f"The lower {side} bound for {candidate} against {comparator} is {_away(bounds.low, 0)}, above 0."
        )
    if made.value in (WITHIN_MARGIN, WORSE):
        said.append(
            f"The upper {side} bound for {candidate} against {comparator} is {_away(bounds.high, 0)}, below 0."
        )
    if made.value != BETTER:
        above = "above" if is_above_margin(bounds.bound, found.margin) else "not above"
        whose = "" if said else f" for {candidate} against {comparator}"
        said.append(
            f"The lower {percent(found.confidence_level)} bound{whose} is {_away(bounds.bound, -found.margin)}, {above} "
            f"the margin of {_away(-found.margin, bounds.bound)}."
        )
    if made.value == OPEN:
        said.append(f"This does not show that {candidate} {words_of(made.votes_mean).worse}.")
    return said


def _symmetric_reason(made: StudyAnswer, candidate: str, comparator: str) -> list[str]:
    found, bounds = made.conclusion, made.conclusion.bounds
    assert bounds is not None, "a mean has bounds"
    assert found.mean is not None, "bounds need a mean"
    ahead = 1 if found.mean >= 0 else -1
    first, second = (candidate, comparator)[::ahead]
    low, high = sorted((ahead * bounds.low, ahead * bounds.high))
    width = (
        f"The lead of {first} over {second} is {_value_and_interval(ahead * found.mean, low, high)} "
        f"({SCORE_NAMES[made.score]}, two-sided {percent(found.interval_level)} interval)."
    )
    return [width]


def _method_said(made: StudyAnswer) -> list[str]:
    """That Gaffke's bounds are among those that the sentences above print, and why there is not enough information."""
    found, bounds = made.conclusion, made.conclusion.bounds
    assert bounds is not None, "a caller checked"
    sides = {"lower": bounds.low_reason, "upper": bounds.high_reason}
    if found.margin is not None and made.value not in (WITHIN_MARGIN, WORSE):
        del sides["upper"]  # it is not printed
    by_gaffke = {side: reason for side, reason in sides.items() if reason is not None}
    reasons = "; ".join(dict.fromkeys(by_gaffke.values()))
    if found.margin is not None:
        what = "This is Gaffke's bound" if len(sides) == 1 else "Both are Gaffke's bounds"
        if len(by_gaffke) < len(sides):
            what = f"The {' '.join(by_gaffke)} one is Gaffke's bound"
    elif len(by_gaffke) == 2:
        what = "The interval is Gaffke's"
    else:
        turned = found.mean is not None and found.mean < 0  # the interval above is that of the leader
        end = "upper" if ("upper" in by_gaffke) != turned else "lower"
        what = f"The {end} end of the interval is Gaffke's"
    said = (
        [f"{what}, because the bootstrap over questions is not reliable here ({reasons})."] if reasons else []
    )
    if found.reason is not None and found.reason not in by_gaffke.values():
        said.append(f"{_sentence_case(found.reason)}.")
    return said


def evidence_said(made: StudyAnswer, candidate: str, comparator: str) -> list[str]:
    """Shares of pairs, and the mean with its interval and the declared level."""
    found, shares, bounds = made.conclusion, made.shares, made.conclusion.bounds
    if shares.candidate is None or shares.tie is None or shares.comparator is None or found.mean is None:
        return []
    won, tied, lost = map(_one_place, (shares.candidate, shares.tie, shares.comparator))
    ties = "are ties" if not shares.opposed else "have no winner"
    words = words_of(made.votes_mean)
    who_wins = words.shares.format(candidate=candidate, comparator=comparator, won=won, lost=lost)
    said = [f"{who_wins}; {tied} {ties}."]
    if shares.opposed:
        n_tied = round(shares.tie * shares.n)
        which = "all" if shares.opposed == n_tied else f"{shares.opposed:,}"
        said.append(f"In {which} of these {with_noun(n_tied, 'pair')} raters disagreed on the winner.")
    said.append(f"This is from {with_noun(shares.n, 'pair')} on {with_noun(found.n_questions, 'question')}.")
    lines = [" ".join(said)]
    side = percent((1 + found.interval_level) / 2)
    if found.margin is None:
        lines.append(
            f"No margin was declared. Either system could be shown to {words.could_be}, each at one-sided {side}."
        )
        return lines
    assert bounds is not None, "with a mean there are bounds"
    lines.append(
        f"The mean {SCORE_NAMES[made.score]} is {_value_and_interval(found.mean, bounds.low, bounds.high)} (two-sided "
        f'{percent(found.interval_level)} interval). The declared one-sided level of "{words.with_margin[NOT_WORSE].lower()}" is '
        f'{percent(found.confidence_level)}; that of "{words.with_margin[BETTER].lower()}" and "{words.with_margin[WORSE].lower()}" is {side}.'
    )
    return lines


def dissent_said(made: StudyAnswer, candidate: str, comparator: str) -> list[str]:
    """Raters whose own votes contradict the answer, or the mean if nothing is claimed, each in a sentence."""
    if made.rater_level is None:
        return []
    level, prefers = f"{100 * made.rater_level:.3g} %", words_of(made.votes_mean).prefers
    return [
        f"Rater {one.rater} {'disagrees' if made.value in CLAIMS else prefers.format(system=candidate if one.mean > 0 else comparator)}: "
        f"mean vote {_value_and_interval(one.mean, one.low, one.high)} ({level} interval, which allows for the number of raters)."
        for one in made.dissenting
        if one.mean is not None
    ]


def robustness_said(made: StudyAnswer, candidate: str, comparator: str) -> list[str]:
    """What would change the answer: Gaffke's bound, one more question, unanswered pairs. Only what is true here."""
    found, unanswered = made.conclusion, made.unanswered

    def name(value: AnswerValue) -> str:
        words = answer_name(value, found.margin, candidate, comparator, made.votes_mean)
        return words if found.margin is None else words[0].lower() + words[1:]

    def ends(way: int) -> tuple[str, str]:
        return ending(way, found.margin, candidate, comparator)

    lines = []
    if made.gaffke_disagrees and found.gaffke is not None:
        lines.append(
            "Gaffke's bounds, which assume nothing about the distribution of scores, give another answer: "
            f"{name(found.gaffke.value)}."
        )
    if found.holds_with_one_more is False:
        lost, whose = ends(claimed_against(made.value, found.margin)[0])
        lines.append(f"The answer would not hold if one more question were {lost} outright by {whose}.")
    lines.extend(_unanswered_said(unanswered, name, ends))
    return lines


def _unanswered_said(
    found: Unanswered, name: Callable[[AnswerValue], str], ends: Callable[[int], tuple[str, str]]
) -> list[str]:
    """How many pairs lack votes, and each way in which they would change the answer. ends: who loses or wins them."""
    ways = []
    for case in found.cases:
        if case.tipping is None:
            continue
        lost, whose = ends(case.against)
        which = "it" if found.n == 1 else "all of them"
        ways.append(f"If {whose} had {lost} {which}, the answer would be: {name(case.value_at_worst)}.")
        if case.tipping < found.n:
            few = (
                with_noun(case.tipping, "win") if lost == "won" else with_noun(case.tipping, "loss", "losses")
            )
            are = "is" if case.tipping == 1 else "are"
            ways.append(f"{few} {are} enough if the other pairs go like the answered ones.")
    lacks = f"{with_noun(found.n, 'pair')} lack{'s' if found.n == 1 else ''} votes."
    return [" ".join([lacks, *ways])] if ways else []


def ending(way: int, margin: float | None, candidate: str, comparator: str) -> tuple[str, str]:
    """How pairs end at worst, -1 or +1, and for whom; without a margin always who loses them, so that neither has a role."""
    if margin is None:
        return "lost", candidate if way < 0 else comparator
    return "won" if way > 0 else "lost", candidate


def _value_and_interval(value: float, low: float | None, high: float | None) -> str:
    ends = "" if low is None or high is None else f" [{decimal(low)}, {decimal(high)}]"
    return decimal(value) + ends


def _one_place(share: float) -> str:
    return f"{100 * share:.1f} %"


def percent(share: float) -> str:
    """A level in percent."""
    return f"{100 * share:.3g} %"


def _sentence_case(text: str) -> str:
    return text[0].upper() + text[1:]


def _away(value: float, threshold: float) -> str:
    """The number with as many decimals as it takes to differ from the threshold."""
    return decimal(value, 3 if decimal(value) != decimal(threshold) else 6)
