"""Words of a study's answer by what its votes mean: which answer is better, or which fits its level better."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.schema.study import VoteMeaning
from core.stats.conclusion import BETTER, NOT_WORSE, OPEN, TOO_LITTLE, WITHIN_MARGIN, WORSE, AnswerValue

NOT_SHOWN = "Non-inferiority not shown"


@dataclass(frozen=True)
class AnswerWords:
    """Words for one meaning of votes. In braces: names of systems, or shares."""

    with_margin: Mapping[AnswerValue, str]
    """Answers about the candidate."""
    asks: str
    """The question of a study without a margin."""
    asks_margin: str
    """The question of a study with a margin."""
    ahead: str
    neither: str
    about: Mapping[AnswerValue, str]
    """With a margin, the answers that have a subject: it stands before them."""
    wins: str
    """Heading of the share of pairs that a system wins."""
    shares: str
    worse: str
    """What an open answer does not show."""
    could_be: str
    won_by: str
    """What winning a pair means."""
    prefers: str
    """What a rater does whose votes favour a system."""
    choice: str
    """A vote for a system, as a heading."""


def _margin_words(better: str, not_worse: str, worse: str) -> Mapping[AnswerValue, str]:
    return {
        BETTER: better,
        NOT_WORSE: not_worse,
        WITHIN_MARGIN: f"{worse}, within the margin",
        WORSE: worse,
        TOO_LITTLE: "Not enough information",
        OPEN: NOT_SHOWN,
    }


def _plain_words(better: str, not_worse: str, worse: str) -> Mapping[AnswerValue, str]:
    return {BETTER: better, NOT_WORSE: not_worse, WITHIN_MARGIN: f"{worse}, within the margin", WORSE: worse}


_BETTER = AnswerWords(
    _margin_words("Better", "Not worse", "Worse"),
    asks="Is {candidate} or {comparator} better",
    asks_margin="Is {candidate} better than {comparator}, or not worse by more than the margin of {margin:g},",
    ahead="{first} is preferred to {second}",
    neither="Neither is shown to be better",
    about=_plain_words("is better", "is not worse", "is worse"),
    wins="{system} wins",
    shares="{candidate} wins {won} of pairs and {comparator} {lost}",
    worse="is worse",
    could_be="be better",
    won_by="A pair is won by the system that most of its votes prefer.",
    prefers="prefers {system}",
    choice="{system} better",
)
_FITS = AnswerWords(
    _margin_words("Fits better", "Fits no worse", "Fits worse"),
    asks="Does {candidate} or {comparator} fit the levels better",
    asks_margin="Does {candidate} fit the levels better than {comparator}, or worse by no more than the margin of {margin:g},",
    ahead="{first} fits the levels better than {second}",
    neither="Neither is shown to fit the levels better",
    about=_plain_words("fits better", "fits no worse", "fits worse"),
    wins="{system} fits better",
    shares="{candidate} fits better in {won} of pairs and {comparator} in {lost}",
    worse="fits worse",
    could_be="fit the levels better",
    won_by="A pair is won by the system whose answer most of its votes find to fit the level better.",
    prefers="finds that {system} fits better",
    choice="{system} fits better",
)


def words_of(votes_mean: VoteMeaning | None) -> AnswerWords:
    """The words for votes of this meaning."""
    return _FITS if votes_mean == "fits_level" else _BETTER


def answer_name(
    value: AnswerValue,
    margin: float | None,
    candidate: str,
    comparator: str,
    votes_mean: VoteMeaning | None,
) -> str:
    """An answer as a short sentence without its full stop. Without a margin it names both systems and neither has a role."""
    words = words_of(votes_mean)
    if margin is None and value in (BETTER, WORSE):
        first, second = (candidate, comparator) if value == BETTER else (comparator, candidate)
        return words.ahead.format(first=first, second=second)
    return words.neither if margin is None and value == OPEN else words.with_margin[value]


def answer_of(
    value: AnswerValue,
    margin: float | None,
    candidate: str,
    comparator: str,
    votes_mean: VoteMeaning | None,
) -> str:
    """The same answer where no sentence stands beside it that names the systems: with its subject, where it has one."""
    about = words_of(votes_mean).about
    if margin is not None and value in about:
        return f"{candidate} {about[value]}"
    return answer_name(value, margin, candidate, comparator, votes_mean)
