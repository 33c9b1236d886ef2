"""What a study of pairs answers: its rows, its JSON, and its tables."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.schema.analysis import Table, Verdict
from core.schema.result_table import Interval
from core.schema.rows import column, columns, entry, row

if TYPE_CHECKING:
    from core.results.study.results import StudyResults

CODES: Mapping[str, str] = {
    "better": "better",
    "not worse": "not-worse",
    "worse, within the margin": "worse-within-margin",
    "worse": "worse",
    "not shown": "not-shown",
    "not enough information": "undefined",
}
"""Value of the answer -> its code."""


@dataclass(frozen=True)
class Filled:
    """The rows of a table, and what is said below it."""

    rows: tuple[object, ...]
    notes: tuple[str, ...] = ()


@row
class SensitivityRow:
    """An alternative way of counting, and the answer that it gives."""

    counted: str = column("what counts", title="Counted", names_row=True)
    pairs: int = column("pairs that count then", title="Pairs")
    bound: float | None = column("the deciding lower bound; empty without a margin", title="Lower bound")
    verdict: str = column("the answer", title="Verdict")


@row
class AnswerRow:
    """Which system is better, with its numbers."""

    answer: str = column("the answer", title="Answer", names_row=True)
    mean: Interval = column("mean score of a pair, with its interval over questions", title="Mean")
    share_candidate: Interval = column(
        "share of pairs that the candidate wins", title="Candidate", percent=True, places=1
    )
    share_tie: Interval = column("share of pairs without a winner", title="Tie", percent=True, places=1)
    share_comparator: Interval = column(
        "share of pairs that the comparator wins", title="Comparator", percent=True, places=1
    )
    pairs: int = column("pairs that count", title="Pairs")
    questions: int = column("their questions", title="Questions")


@row
class RobustnessRow:
    """What would change the answer."""

    what_if: str = column(
        "another bound, one more question, or unanswered pairs", title="What if", names_row=True
    )
    answer: str = column("the answer then", title="Answer")


@row
class BoundRow:
    """A lower bound of the mean."""

    resampled: str = column("what is resampled", title="Resampled", names_row=True)
    units: int = column("how many there are", title="n")
    mean: float | None = column("mean score", title="Mean")
    bound: Interval = column("its lower bound, one-sided", title="Lower bound")
    margin: float | None = column("the lowest mean that is not worse", title="Margin", general=True)


@row
class RaterMeanRow:
    """A rater's mean vote, or that of all raters."""

    rater: str = column("the rater, or all of them in one of two senses", title="Rater", names_row=True)
    mean_vote: Interval = column("mean vote with its interval", title="Mean vote")
    lower_bound: float | None = column("only of raters as a sample", title="Lower bound")
    questions: int = column("questions with their votes", title="Questions")
    votes: int = column("votes", title="Votes")
    weight: float = column("share in the mean of all", title="Weight")


@row
class ComponentRow:
    """A variance component of a vote."""

    component: str = column("the component, with those that it contains", title="Component", names_row=True)
    meaning: str = column("what it is", title="What it is")
    variance: float = column("in one vote", title="Variance of one vote", places=4)
    share: Interval = column("share of the variance of one vote", title="Share", percent=True, places=0)
    variance_of_mean: float = column("in the mean of these votes", title="Variance of the mean", places=5)
    share_of_mean: Interval = column(
        "share of the variance of the mean", title="Share of the mean", percent=True, places=0
    )


@row
class ChoiceRow:
    """How a rater answered at a level."""

    rater: str = column("the rater", title="Rater", names_row=True)
    level: str = column("the level", title="Level", names_row=True)
    candidate: int = column("votes for the candidate", title="Candidate better")
    both_good: int = column("votes for both", title="both good")
    both_bad: int = column("votes for none", title="both bad")
    comparator: int = column("votes for the comparator", title="Comparator better")


@row
class AgreementRow:
    """Agreement of all raters, at all levels or one."""

    level: str = column("the level, or all levels", title="Level", names_row=True)
    pairs: int = column("pairs that count", title="Pairs")
    raw_agreement: Interval = column("share of pairs with the same answer", title="Raw agreement")
    cohen_kappa: Interval = column("of two raters, beyond chance", title="Cohen's kappa")
    gwet_ac1: Interval = column("beyond chance, high also where one answer is popular", title="Gwet's AC1")
    fleiss_kappa: Interval = column("beyond chance, of any number of raters", title="Fleiss' kappa")
    krippendorff_alpha: Interval = column(
        "beyond chance, also with missing votes", title="Krippendorff's alpha"
    )


@row
class PairwiseRow:
    """Agreement of two raters."""

    raters: str = column("both raters", title="Raters", names_row=True)
    pairs: int = column("pairs that both answered", title="Pairs")
    raw_agreement: Interval = column("share of pairs with the same answer", title="Raw agreement")
    cohen_kappa: Interval = column("beyond chance", title="Cohen's kappa")
    gwet_ac1: Interval = column("beyond chance, high also where one answer is popular", title="Gwet's AC1")


@row
class ContingencyRow:
    """One rater's answer against the answers of another."""

    rows: str = column("the first rater", title="Rows", names_row=True)
    columns: str = column("the second rater", title="Columns", names_row=True)
    answer: str = column("an answer of the first", title="Answer", names_row=True)
    candidate: int = column("pairs on which the second votes for the candidate", title="Candidate better")
    both_good: int = column("for both", title="both good")
    both_bad: int = column("for none", title="both bad")
    comparator: int = column("for the comparator", title="Comparator better")


@row
class CompositeRow:
    """The composite score at all levels or one."""

    level: str = column("the level, or all levels", title="Level", names_row=True)
    pairs: int = column("pairs that count", title="Pairs")
    mean: float | None = column("mean of the composite score", title="Mean")
    comparator: int = column("pairs that the comparator wins", title="-1")
    neither: int = column("pairs without a winner", title="0 (neither)")
    candidate: int = column("pairs that the candidate wins", title="+1")
    net_preference: float | None = column("mean over pairs of the mean vote", title="Net preference")


@row
class TieRow:
    """A rule for "no difference"."""

    rule: str = column("the rule", title="Rule", names_row=True)
    counts_when: str = column("when a pair counts", title="A pair counts if")
    share: Interval = column("share of pairs", title="Share")
    pairs: int | None = column("pairs", title="Pairs")
    of: int = column("all pairs", title="Of")


@row
class SizeRow:
    """Questions that a new study with these raters needs."""

    aim: str = column("power or half-width", title="For", names_row=True)
    scope: str = column("these raters, or raters as a sample", title="Valid for")
    raters: int = column("number of raters", title="Raters")
    votes: int = column("votes a pair", title="Votes a pair")
    questions: int | None = column("fewest questions", title="Questions")
    pairs: int | None = column("their pairs", title="Pairs")
    reason: str = column("why no number is enough", title="Why not")


@row
class PowerRow:
    """A test at the observed mean."""

    test: str = column("the test", title="Test", names_row=True)
    alpha: float = column("its level", general=True)
    power: Interval = column("power at the observed mean", title="Power")
    pairs_for_80: Interval = column("pairs for a power of 80 %", title="Pairs for 80 %", places=0)
    pairs_for_90: Interval = column("pairs for a power of 90 %", title="Pairs for 90 %", places=0)
    pairs: int = column("pairs with a score", title="Pairs used")


@row
class PositionRow:
    """How often a rater, or all of them, chose the left side."""

    rater: str = column("the rater, or all raters", title="Rater", names_row=True)
    left: int = column("choices of the left side", title="Left")
    right: int = column("choices of the right side", title="Right")
    share_left: Interval = column("share of left", title="Share left")
    p: float | None = column("two-sided exact p of one half", p_value=True)
    p_holm: float | None = column("p corrected for the number of raters", title="Holm p", p_value=True)
    flagged: bool = column("whether the corrected p is below 0.05", words=(True, False), shown=False)


@row
class RepeatRow:
    """How often a rater gave the same answer to a hidden repeat."""

    rater: str = column("the rater", title="Rater", names_row=True)
    answered_twice: int = column("pairs answered twice", title="Answered twice")
    same: int = column("with the same answer", title="Same answer")
    share: Interval = column("their share", title="Share")


@row
class SecondsRow:
    """How long a rater took."""

    rater: str = column("the rater", title="Rater", names_row=True)
    answers: int = column("answers of the rater", title="Answers")
    median_seconds_first: Interval = column(
        "median until the first answer", title="Median seconds to the first answer", places=1
    )
    median_seconds_visible: Interval = column(
        "median for which the pair was visible", title="Median seconds visible", places=1
    )


@row
class BlindingRow:
    """What the guesses of a rater, or of all raters, show."""

    rater: str = column("the rater, or all raters", title="Rater", names_row=True)
    guesses: int = column("guesses", title="Guesses")
    right: int = column("correct ones", title="Right")
    wrong: int = column("wrong ones", title="Wrong")
    cannot_tell: int = column("guesses that name no side", title="Cannot tell")
    share_right: Interval = column("correct ones among those that name a side", title="Share right")
    p: float | None = column("exact p of one half", p_value=True)
    p_holm: float | None = column("p corrected for the number of raters", title="Holm p", p_value=True)
    bang: Interval = column("Bang's index", title="Bang's index")
    james: Interval = column("James's index", title="James's index")


@row
class BlindingSideRow:
    """The guesses about answers of a person on one side."""

    rater: str = column("the rater, or all raters", title="Rater", names_row=True)
    side: str = column("side of the answer that a person wrote", title="Human answer", names_row=True)
    guessed_left: int = column("guesses of the left side", title="Guess: left")
    guessed_right: int = column("guesses of the right side", title="Guess: right")
    guessed_unsure: int = column("guesses of no side", title="Guess: cannot tell")
    bang: Interval = column("Bang's index of that side", title="Bang's index")


@row
class EarlyRow:
    """The always-valid bound after a question."""

    question: int = column("questions so far, in the order of entry", title="Question", names_row=True)
    bound: float | None = column("always-valid lower bound", title="Lower bound")
    margin: float = column("the lowest mean that is not worse", title="Margin", general=True)


@row
class ListedRow:
    """A row of a list of what raters saw."""

    cells: Mapping[str, Any] = columns("each column of the list, which the page shows in the same order")


@row
class PairResults:
    """All results of a study of pairs."""

    app_version: str = entry("version of Assay that computed it")
    study: str = entry("name of the study")
    state: str = entry("draft, open, closed or unblinded")
    candidate: str = entry("the system whose votes count +1")
    comparator: str = entry("the other system")
    dataset_sha256: str = entry("hash of the study's file")
    design_seed: int = entry("seed of the study")
    levels: tuple[str, ...] = entry("levels of this result; without filters those of the main analysis")
    raters: tuple[str, ...] = entry("raters of this result")
    verdict: Mapping[str, Any] = entry("the verdict on non-inferiority alone, by what decides")
    answer: Mapping[str, Any] = entry("which system is better, by what decides")
    declared: Mapping[str, Any] | None = entry(
        "only after early looks, for the whole study: `verdict` and `answer` of the declared analysis, for comparison; those above "
        "then hold the always-valid bound",
        optional=True,
    )
    raters_as_sample: Mapping[str, Any] = entry("the mean vote, with its bound over raters and questions")
    variance_components: Mapping[str, Any] = entry("where votes differ: raters, questions, pairs, chance")
    analysis_set: Mapping[str, Any] = entry("what the main analysis counts")
    filtered: Mapping[str, Any] = entry(
        "filter -> the choice, where it differs from the main analysis; empty: no filter"
    )
    pairs_by_votes: Mapping[int, int] = entry(
        "number of votes -> pairs of these levels with that many, whether they count or not"
    )
    sensitivity: tuple[Mapping[str, Any], ...] = entry(
        "verdict and answer as declared, then with one rule at a time changed"
    )
    after_unblinding: Mapping[str, Any] = entry("what changed after the results became visible")
    rater_warnings: Mapping[str, Any] = entry("rater -> what to check before the verdict is used")
    early: Mapping[str, Any] | None = entry(
        "only if somebody looked early: the keys of `study look`; `bounds`, the bound after each question; `caution`, where the bound "
        "lies above the mean of all questions",
        optional=True,
    )
    n_pairs: int = entry("pairs that count")
    n_questions: int = entry("their questions")
    n_left_out: Mapping[str, int] = entry("reason -> pairs that do not count")
    choices: Mapping[str, Any] = entry("rater -> preference -> number of pairs")
    contingency: Mapping[str, Any] = entry("two raters' votes cross-tabulated")
    raw_agreement: Mapping[str, Any] = entry("an estimate of agreement")
    cohen_kappa: Mapping[str, Any] = entry("an estimate of agreement")
    gwet_ac1: Mapping[str, Any] = entry("an estimate of agreement")
    fleiss_kappa: Mapping[str, Any] = entry("an estimate of agreement")
    krippendorff_alpha: Mapping[str, Any] = entry("an estimate of agreement")
    composite: Mapping[str, Any] = entry("sign of the sum of a pair's votes")
    net_preference: float | None = entry("mean over pairs of the mean vote")
    ties: Mapping[str, Any] = entry("four rules for no difference")
    answers: Mapping[str, Any] = entry(
        "answers, not pairs: `n_used`; `n_translated`, those of them given on a page that the browser had translated; `n_left_out`, "
        "reason -> number"
    )
    interval: Mapping[str, Any] = entry("how the intervals of the coefficients were made")
    pairwise: tuple[Mapping[str, Any], ...] = entry("with three or more raters: every two of them")
    non_inferiority: Mapping[str, Any] = entry("both bounds, and their meaning")
    power: Mapping[str, Any] = entry("as in Factual: two-sided, alpha 0.05")
    power_one_sided: Mapping[str, Any] = entry("at the level of the declared bound")
    planned: Mapping[str, Any] = entry("the size of a new study with these raters, by the planner")
    position_bias: Mapping[str, Any] = entry("did raters prefer a side of the screen?")
    repeats: Mapping[str, Any] = entry("rater -> consistency on hidden repeats")
    rater_seconds: Mapping[str, Any] = entry("rater -> answers, and medians of their times")
    blinding: Mapping[str, Any] = entry("could raters tell which answer a person wrote?")
    per_level: Mapping[str, Any] = entry("level -> a block: the keys from `n_pairs` to `ties`")
    facts: "StudyResults"
    """What the page draws its first screen from."""
    sentences: tuple[str, ...]
    """What is compared, the answer and its limits, then the data behind the numbers."""
    filled: Mapping[str, Filled]
    """Table -> its rows and notes; without those that this study has not."""
    listed: Mapping[str, Mapping[str, Any]]
    """Column of the list of pairs -> how it is shown."""


def verdicts(results: PairResults) -> tuple[Verdict, ...]:
    """The answer, by what decides."""
    sentence, reason = results.sentences[2], results.answer["reason"] or ""
    code = CODES[results.answer["value"]]
    return (Verdict(code, sentence, reason=reason if code == "undefined" else ""),)


def filled_table(
    name: str, kind: type, title: str, most_printed: int | None = None, **more: Any
) -> Table[Any]:
    """A table whose rows and notes are those that the result has filled under its name. more: as of Table."""

    def rows(found: Any) -> Any:
        return found.filled[name].rows if name in found.filled else None

    return Table(
        name,
        kind,
        rows,
        title,
        notes=lambda found: found.filled[name].notes,
        most_printed=most_printed,
        **more,
    )


def _hide(*names: str, where: Callable[[PairResults], bool]) -> Callable[[PairResults], Collection[str]]:
    return lambda found: names if where(found) else ()


def _preferences(results: PairResults) -> dict[str, dict[str, str]]:
    from core.results.study.tables import preference_names

    names = preference_names(results.candidate, results.comparator, results.facts.answer.votes_mean)
    return {name: {"title": title} for name, title in names.items()}


def _answer_shape(results: PairResults) -> dict[str, dict[str, str]]:
    from core.results.study.words import words_of
    from core.study.analysis_set import SCORE_NAMES

    words = words_of(results.facts.answer.votes_mean)
    return {
        "mean": {"title": f"Mean {SCORE_NAMES[results.facts.answer.score]}"},
        "share_candidate": {"title": words.wins.format(system=results.candidate)},
        "share_comparator": {"title": words.wins.format(system=results.comparator)},
    }


def _composite_shape(results: PairResults) -> dict[str, dict[str, str]]:
    return {
        "comparator": {"title": f"-1 ({results.comparator})"},
        "candidate": {"title": f"+1 ({results.candidate})"},
    }


_UNLEVELLED = _hide("level", where=lambda found: not found.levels)
TABLES = (
    filled_table(
        "sensitivity",
        SensitivityRow,
        "Sensitivity",
        question="Would another way of counting change the answer? One rule changes per row.",
        section="statistics#sensitivity",
    ),
    filled_table(
        "answer",
        AnswerRow,
        "Answer",
        question="Which numbers does the declared analysis rest on?",
        shaped=_answer_shape,
    ),
    filled_table("robustness", RobustnessRow, "What would change the answer"),
    filled_table("bounds", BoundRow, "Lower bounds of the mean"),
    filled_table(
        "rater-means",
        RaterMeanRow,
        "Mean vote of each rater",
        question="Would other raters reach the same verdict? Here raters are a sample, too, and the score is the mean vote.",
        section="inference#raters-as-a-sample",
        hidden=_hide("weight", where=lambda found: found.raters_as_sample["method"] != "dealt"),
    ),
    filled_table(
        "variance-components",
        ComponentRow,
        "Variance components of a vote",
        question="Where do votes differ? More questions shrink every part of the mean's variance except the rater's. Only more raters "
        "shrink that.",
        section="inference#raters-as-a-sample",
    ),
    filled_table(
        "choices",
        ChoiceRow,
        "Choices",
        question="How did each rater answer? Sides are decoded to systems.",
        section="statistics#choices",
        hidden=_UNLEVELLED,
        shaped=_preferences,
    ),
    filled_table("agreement", AgreementRow, "Agreement", hidden=_UNLEVELLED),
    filled_table("pairwise", PairwiseRow, "Pairs of raters"),
    filled_table("contingency", ContingencyRow, "Two raters compared", shaped=_preferences),
    filled_table(
        "composite",
        CompositeRow,
        "Composite score",
        question="Which system do the votes of each pair favour? A pair without a favourite scores 0, and so do both good and both bad.",
        section="statistics#composite-score",
        hidden=_UNLEVELLED,
        shaped=_composite_shape,
    ),
    filled_table(
        "ties",
        TieRow,
        "Ties",
        question="How often did raters see no difference? The four rules overlap, so the shares do not sum to 1.",
        section="statistics#ties",
    ),
    filled_table(
        "plan",
        SizeRow,
        "Questions that a new study needs",
        question="How many questions does a new study with raters like these need? Plan computes the same numbers from the same "
        "components.",
        section="inference#planner",
        hidden=_hide("reason", where=lambda found: not any(one["reason"] for one in found.planned["sizes"])),
    ),
    filled_table("power", PowerRow, "Power at the observed mean"),
    filled_table(
        "position",
        PositionRow,
        "Position bias",
        hidden=_hide(
            "p_holm",
            where=lambda found: sum(one.p is not None for one in found.facts.position_per_rater.values()) < 2,
        ),
    ),
    filled_table("repeats", RepeatRow, "Repeats"),
    filled_table("seconds", SecondsRow, "Times"),
    filled_table(
        "blinding",
        BlindingRow,
        "Blinding",
        hidden=_hide(
            "p_holm",
            where=lambda found: (
                sum(one.share_right.p is not None for one in found.facts.blinding.per_rater.values()) < 2
            ),
        ),
    ),
    filled_table("blinding-sides", BlindingSideRow, "Guesses by side of the human answer"),
    filled_table(
        "early",
        EarlyRow,
        "Bound after each question",
        most_printed=0,
        question="How did the always-valid bound, which decides about the whole study, grow with each question?",
        section="inference#looking-early",
    ),
    filled_table(
        "pairs",
        ListedRow,
        "Pairs",
        most_printed=0,
        apart=True,
        shaped=lambda found: found.listed,
    ),
)
"""Every table of a study of pairs, the main one first."""
