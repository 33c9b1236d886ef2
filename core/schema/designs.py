"""Options of a study's design, declared once for the command that makes it, the pages that make and change it, and its checks.

What is left out is as usual for the data, so that no field has a default of its own; `core.schema.study.Design` is the design that results.
"""

from collections.abc import Iterable
from typing import Any

from core.schema.assumptions import bound_level_setting, margin_setting
from core.schema.rendering import Rendering
from core.schema.settings import Remark, Settings, setting
from core.schema.study import FlaggedPairs, LevelOrder, Score

LARGEST_SEED = 2**63 - 1
LARGEST_COUNT = 1_000_000
MOST_VOTES = 1_000


class StudyDesign(Settings):
    """What is declared of the design of a study. None: as usual."""

    @property
    def declared(self) -> dict[str, Any]:
        """Field of Design -> its value, of those that are declared."""
        return {name: value for name, value in self if value is not None and value is not False}


def _count(label: str, help: str, usual: str, **how: Any) -> Any:
    return setting(None, label, help, within=(1, LARGEST_COUNT), words={"": usual}, **how)


def _seed() -> Any:
    return setting(None, "Seed", "seed of every draw", within=(0, LARGEST_SEED), words={"": "a new seed"})


def _repeats() -> Any:
    return setting(
        None,
        "Hidden repeats (share)",
        "share of a rater's list that comes twice",
        within=(0, 0.5),
        option="repeats",
        step=0.01,
        words={"": "0.05"},
    )


def _rendering() -> Any:
    return setting(
        None,
        "Texts are shown",
        "how raters see answers and references, the same for both sides; markdown: CommonMark with tables; latex: the same with formulas; "
        "code: fixed width, highlighted. Questions are shown so, too, except beside code",
        words={
            "": "guessed from the texts",
            "plain": "As written",
            "markdown": "Markdown",
            "latex": "Markdown with LaTeX formulas",
            "code": "Code",
        },
    )


def _code_language() -> Any:
    return setting(
        None,
        "Language of the code",
        "for colours, such as python or sql; needs {rendering} code",
        metavar="NAME",
        words={"": "guessed, or no colours"},
    )


def _unused_language(rendering: Rendering | None, language: str | None) -> Iterable[Remark]:
    if language and rendering != "code":
        yield Remark("code_language", "set {rendering} to code too; only code has a language")


class PairDesign(StudyDesign):
    """The design of a study in which raters choose one of two answers."""

    candidate: str | None = setting(
        None,
        "Candidate",
        "system under test, to show not worse than the other by a margin",
        metavar="SYSTEM",
        words={"": "none, so both systems are treated alike"},
    )
    comparator: str | None = setting(
        None, "Comparator", "system to compare the candidate with", metavar="SYSTEM"
    )
    margin: float | None = margin_setting(
        "how much worse the candidate may be, on the scale of the score from -1 to 1; sensible values are 0.05 to 0.3; needs {candidate}",
        "0.1 with a candidate, else none",
    )
    confidence_level: float | None = bound_level_setting(
        "Confidence level (one-sided)",
        "level of the one-sided bound against the margin, above 0.5 and below 1, such as 0.90; needs {candidate}. Factual uses 0.90. The "
        "usual level is 0.95, which is stricter",
        "0.90",
    )
    early_looks: bool = setting(
        False,
        "Allow early looks",
        "while the study runs, you may see one lower bound, which is valid at every look (`study look`). It needs more questions than the "
        "verdict at the end, and decides once you have looked. All raters get the questions in the same order; needs {candidate}",
    )
    votes_per_pair: int | None = _count(
        "Votes per pair", "raters who get each question", "all raters rate all questions", metavar="N"
    )
    main_levels: tuple[str, ...] | None = setting(
        None,
        "Levels",
        "levels of the main analysis, e.g. A1-A4 or all. The first level is usually as good as the reference, so it says little about "
        "damage, and Factual leaves it out",
        listed=True,
        metavar="A1-A4",
        words={"": "all but the first"},
    )
    votes_needed: int | None = setting(
        None,
        "Votes needed per pair",
        "votes that a pair needs to count. Votes of excluded raters do not count. A rater who joins late never removes a pair",
        within=(1, MOST_VOTES),
        metavar="N",
        words={"": "2, or fewer if a pair cannot get 2"},
    )
    score: Score | None = setting(
        None,
        "Score of a pair",
        "a vote is +1 for the candidate (or the first system), -1 for the other, else 0; composite: the sign of their sum, as in Factual; "
        "net_preference: their mean",
        words={
            "": "composite; net_preference for pairs without levels",
            "composite": "Composite: sign of the sum of its votes",
            "net_preference": "Net preference: mean of its votes",
        },
    )
    flagged: FlaggedPairs | None = setting(
        None,
        "Pairs that a rater flags as invalid",
        "what to do with their votes. Raters flag broken answers more often, so leaving such pairs out can hide a candidate's losses",
        words={"": "keep", "keep": "Keep their votes", "leave_out": "Leave the pairs out"},
    )
    level_order: LevelOrder | None = setting(
        None,
        "Levels within a question",
        "order of levels within a question: best to worst, or shuffled for each rater and question",
        option="levels-order",
        words={
            "": "fixed",
            "fixed": "Best to worst, as in Factual",
            "shuffled": "Shuffled for each rater and question",
        },
    )
    repeat_share: float | None = _repeats()
    max_questions: int | None = _count(
        "Most questions per rater", "largest number of questions for one rater", "no limit", metavar="N"
    )
    blinding_pairs: int | None = setting(
        None,
        "Pairs to guess at the end",
        "rated pairs that a rater sees again after the last answer, to say which answer a person wrote: whether raters could tell",
        within=(0, 100),
        option="guess-pairs",
        metavar="N",
        words={"": "10 with levels and {candidate} or {person}, else 0"},
    )
    person: str | None = setting(
        None,
        "Written by people",
        "the system whose answers a person wrote: its name, candidate or comparator; used if there are pairs to guess",
        metavar="SYSTEM",
        words={"": "comparator"},
    )
    rendering: Rendering | None = _rendering()
    code_language: str | None = _code_language()
    seed: int | None = _seed()

    def conflicts(self) -> Iterable[Remark]:
        """A limit for each rater works only where not all raters rate all questions; only code has a language."""
        yield from _limit(self.max_questions, self.votes_per_pair)
        yield from _unused_language(self.rendering, self.code_language)


class RatingDesign(StudyDesign):
    """The design of a study in which raters rate texts one by one."""

    votes_per_pair: int | None = _count(
        "Raters per source",
        "raters per item (source), who rate all its texts, one after the other",
        "all raters rate all items",
        option="raters-per-item",
        metavar="N",
    )
    max_questions: int | None = _count(
        "Most sources per rater",
        "largest number of items (sources) for one rater",
        "no limit",
        option="max-items",
        metavar="N",
    )
    repeat_share: float | None = _repeats()
    rendering: Rendering | None = _rendering()
    code_language: str | None = _code_language()
    seed: int | None = _seed()

    def conflicts(self) -> Iterable[Remark]:
        """A limit for each rater works only where not all raters rate all items; only code has a language."""
        yield from _limit(self.max_questions, self.votes_per_pair)
        yield from _unused_language(self.rendering, self.code_language)


def _limit(most: int | None, votes: int | None) -> Iterable[Remark]:
    if most is not None and votes is None:
        yield Remark("max_questions", "set {votes_per_pair} too; a limit works only with it")
