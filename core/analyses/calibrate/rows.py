"""Rows of a calibration: groups of texts, means over groups, classes, split raters, maps, raters by Dawid-Skene, runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.schema.result_table import Interval
from core.schema.rows import column, columns, entry, row

if TYPE_CHECKING:
    from core.results.calibration.raters import RaterClasses
    from core.results.calibration.results import Calibration
    from core.stats.calibration import CalibrationMap

Json = Mapping[str, Any]
"""JSON as it is written: of a number its estimate, the ends of its interval, the reason why one is missing, and n."""
NO_VERDICT = "no verdict"
"""Where agreement could not be computed."""
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "agreement": {
        "raters": "raters_agreement",
        "evaluator": "agreement",
        "raters_pairwise": "raters_pairwise",
        "evaluator_pairwise": "pairwise",
        "gap": "gap",
    },
    "weighted_f1": {"raters": "raters_f1", "evaluator": "f1"},
    "kappas": {
        "raters_fleiss": "raters_kappa",
        "evaluator_fleiss": "kappa",
        "raters_krippendorff": "raters_alpha",
        "evaluator_krippendorff": "alpha",
        "raters_ac1": "raters_ac1",
        "evaluator_ac1": "ac1",
    },
    "bias": {
        "all": "bias",
        "raters_agree": "bias_agreed",
        "raters_disagree": "bias_disagreed",
        "top_class_majority": "top_majority",
        "top_class_evaluator": "top_evaluator",
    },
    "numbers": {
        "pearson": "pearson",
        "spearman": "spearman",
        "kendall": "kendall",
        "shift": "shift",
        "mean_absolute_error": "error",
    },
}
"""Section of the JSON -> its keys -> names of statistics."""
STATISTICS: Mapping[str, tuple[str, str]] = {
    "raters_pairwise": ("two raters agree", "Two raters agree"),
    "pairwise": ("evaluator and a rater agree", "Evaluator and a rater agree"),
    "gap": ("the evaluator's agreement with a rater minus that of two raters", "Difference"),
    "raters_agreement": ("share of texts on which all raters agree", "All raters agree"),
    "raters_f1": ("weighted F1 of raters", "Weighted F1"),
    "raters_kappa": ("Fleiss' kappa of raters", "Fleiss' kappa"),
    "raters_alpha": ("Krippendorff's alpha of raters", "Raters: Krippendorff's alpha"),
    "raters_ac1": ("Gwet's AC1 of raters", "Gwet's AC1"),
    "agreement": ("majority and evaluator agree", "Agree"),
    "f1": ("weighted F1 of majority and evaluator", "Weighted F1"),
    "kappa": ("Fleiss' kappa of majority and evaluator", "Fleiss' kappa"),
    "alpha": ("Krippendorff's alpha of majority or mean rating and evaluator", "Krippendorff's alpha"),
    "ac1": ("Gwet's AC1 of majority and evaluator", "Gwet's AC1"),
    "top_majority": ("share of the top class by majority", "Majority"),
    "top_evaluator": ("share of the top class by evaluator", "Evaluator"),
    "bias": ("the evaluator's share of the top class minus the majority's", "Bias"),
    "bias_agreed": ("bias where raters agree", "Where raters agree"),
    "bias_disagreed": ("bias where raters disagree", "Where they disagree"),
    "pearson": ("Pearson's correlation with the mean rating", "Pearson"),
    "spearman": ("Spearman's correlation with the mean rating", "Spearman"),
    "kendall": ("Kendall's tau-b with the mean rating", "Kendall's tau-b"),
    "shift": ("evaluator minus mean rating", "Evaluator minus mean rating"),
    "error": ("mean absolute error", "Mean absolute error"),
}
"""Statistic, in the order of tables -> what it is, and its heading."""
VIEWS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "agreement": (
        "Raters and evaluator on the same measure",
        ("raters_pairwise", "pairwise", "gap", "spearman", "kendall", "shift"),
    ),
    "raters": (
        "Raters with each other",
        ("raters_agreement", "raters_f1", "raters_kappa", "raters_alpha", "raters_ac1"),
    ),
    "majority": ("Evaluator and majority", ("agreement", "f1", "kappa", "alpha", "ac1", "bias")),
    "bias": (
        "Bias towards the top class",
        ("top_majority", "top_evaluator", "bias", "bias_agreed", "bias_disagreed"),
    ),
    "numbers": (
        "Ratings and scores",
        ("raters_alpha", "alpha", "pearson", "spearman", "kendall", "shift", "error"),
    ),
}
"""Tables of groups: title, and the statistics that readers see; files have all of them. The last is for numbers."""
SHOWN_TESTS: Mapping[str, tuple[str, str]] = {
    "chance": ("majority", "Kappa"),
    "gap": ("agreement", "Difference"),
    "bias": ("bias", "Bias"),
}
"""Test of a group -> the view that shows its p, and the statistic's name in the heading."""


def _section_names(name: str, of: str) -> str:
    return f"{of}: {', '.join(SECTIONS[name])}"


@row
class Sections:
    """The statistics of some texts, or their means over groups, as JSON has them."""

    agreement: Json = entry(_section_names("agreement", "how often classes are equal"))
    weighted_f1: Json = entry(_section_names("weighted_f1", "weighted F1"))
    kappas: Json = entry(_section_names("kappas", "agreement beyond chance"))
    bias: Json = entry(_section_names("bias", "share of the top class, evaluator minus majority"))
    numbers: Json = entry(
        _section_names("numbers", "the evaluator against the mean rating; of classes three of them")
    )


@row
class Distribution:
    """Texts by class, of one kind of agreement among raters."""

    raters_agree: str = entry("full, partial, none or one rating")
    majority: tuple[int, ...] = entry(
        "texts by class of the majority, over texts with a majority and a score"
    )
    evaluator: tuple[int, ...] = entry("the same texts by class of the evaluator")
    n_no_majority: int = entry("texts without a majority, in neither count")


@row
class Group(Sections):
    """Statistics over the texts of one group, of one dimension, or of all."""

    evaluator: str = column("the judge, or its column of scores", title="Evaluator", key="", names_row=True)
    group: Mapping[str, str] = columns("value of each column that makes the group", shown=False)
    called: str = column("all of these values", name="group", title="Group", key="", names_row=True)
    n: int = column("texts that people rated and the evaluator scored", name="n_texts", title="Texts")
    n_used: int | None = column("those that the statistics of this table use", title="Used", key="")
    n_items: int = column("their items", shown=False)
    n_raters: int = column("their raters", title="Raters")
    judged: str = column(
        "the first rule that objects, or that none does", name="verdict", key="", shown=False
    )
    n_off_scale: int = column("texts with a score off the scale", shown=False)
    listed: str = column("classes, worst first; empty for numbers", name="classes", key="", shown=False)
    left_out: Mapping[str, int] = column(
        "reason -> rated texts left out of some or all statistics", shown=False
    )
    statistics: Mapping[str, Interval] = columns(
        "its statistics",
        {name: column(about, title=title) for name, (about, title) in STATISTICS.items()},
        key="",
    )
    p: Mapping[str, float | None] = columns(
        "p of the tests behind the rules",
        {
            name: made
            for test, (_, title) in SHOWN_TESTS.items()
            for name, made in (
                (f"{test}_p", column(f"p of {test}", title=f"{title}: p", shown=False, p_value=True)),
                (
                    f"{test}_p_bh",
                    column(
                        "the same, corrected for all groups of the evaluator",
                        title=f"{title}: Benjamini-Hochberg p",
                        p_value=True,
                    ),
                ),
            )
        },
        key="",
    )
    scale: str = entry("classes or numbers")
    why_numbers: str | None = entry("why ratings and scores are not classes")
    classes: tuple[float, ...] = entry("classes, worst first")
    verdict: Json = entry(
        "value, the first rule that applies (null: agreement undefined), and reasons, one for each"
    )
    tests: Mapping[str, Json] = entry(
        "chance, gap, bias, order and shift, as far as they apply: p, p_bh (corrected for the groups) and n_tests"
    )
    constant: Json | None = entry("the score of all or nearly all texts: value, share, n and n_others")
    distributions: tuple[Distribution, ...] = entry(
        "texts by class and by agreement of raters", rows=Distribution
    )
    used: Mapping[str, int | None]
    """Table -> texts that its statistics use."""


@row
class Mean(Sections):
    """Means over the groups with one value in one column, or over all."""

    evaluator: str = column("the judge, or its column of scores", title="Evaluator", key="", names_row=True)
    of_column: str = column("the column, or all", name="column", key="", shown=False)
    value: str = column("its value, or all", key="", shown=False)
    called: str = column("the value in words", name="group", title="Group", key="", names_row=True)
    n_groups: int = column("groups", title="Groups")
    n: int = column("texts", name="n_texts", shown=False)
    group: Mapping[str, str] = entry("column and value; empty for all")
    statistics: Mapping[str, Interval | float | None] = columns(
        "means of the statistics",
        {
            name: made
            for one, (about, title) in STATISTICS.items()
            for name, made in (
                (one, column(f"mean over groups: {about}", title=title)),
                (f"{one}_sd", column("its standard deviation over groups", shown=False)),
            )
        },
        key="",
    )
    applicable: tuple[str, ...]
    """Statistics that apply."""


@row
class Warned:
    """A group in which a rule objects to the evaluator, or in which no verdict is possible."""

    evaluator: str = column("the judge, or its column of scores", title="Evaluator", key="", names_row=True)
    group: Mapping[str, str] = columns("value of each column that makes the group", shown=False)
    called: str = column("all of these values", name="group", title="Group", key="", names_row=True)
    n: int = column("its texts", name="n_texts", title="Texts")
    judged: str = column("the first rule that applies", name="verdict", title="Verdict", key="")
    why: str = column("a reason for each rule that applies", name="reasons", title="Why", key="")
    verdict: str | None = entry("the first rule that applies; null: agreement could not be computed")
    reasons: tuple[str, ...] = entry("one for each rule that applies")


@row
class ClassCount:
    """Texts of one class, of one kind of agreement among raters."""

    evaluator: str = column("the judge, or its column of scores", title="Evaluator", names_row=True)
    group: Mapping[str, str] = columns("value of each column that makes the group", shown=False)
    called: str = column("all of these values", name="group", title="Group", names_row=True)
    raters_agree: str = column("full, partial, none or one rating", title="Raters agree", names_row=True)
    value: float = column("the class", name="class", title="Class", general=True)
    majority: int = column("texts of the class by the majority", title="By the majority")
    texts_by_evaluator: int = column("by the evaluator", title="By the evaluator")
    n_no_majority: int = column("texts of this kind without a majority", title="No majority")


@row
class Split:
    """An evaluator beside a rater left out, where the other raters of a text agree, or split."""

    evaluator: str = column("the judge, or its column of scores", title="Evaluator", key="", names_row=True)
    dimension: str = column("the dimension", title="Dimension", key="", names_row=True)
    called: str = column(
        "how the other raters of a text split",
        name="other_raters",
        title="Other raters",
        key="",
        names_row=True,
    )
    other_raters: str = entry(
        "all texts, or those on which the other raters agree in full, in part or not at all"
    )
    n: int = column("texts", name="n_texts", title="Texts")
    rater_agreement: Interval = column(
        "a rater gives a random other rater's class", title="Rater agrees", ends="counted"
    )
    judge_agreement: Interval = column("the evaluator does", title="Evaluator agrees", ends="counted")
    agreement_gap: Interval = column("evaluator minus rater", title="Difference", ends="counted")
    rater_distance: Interval = column(
        "Jensen-Shannon distance of a rater", title="Distance: rater", ends="counted"
    )
    judge_distance: Interval = column("of the evaluator", title="Distance: evaluator", ends="counted")
    distance_gap: Interval = column("evaluator minus rater", title="Difference of distances", ends="counted")
    distribution_distance: Interval = column(
        "distance of all its answers", title="Distance: all answers", ends="counted"
    )
    distribution_brier: Interval = column(
        "Brier score of all its answers", title="Brier score: all answers", shown=False, ends="counted"
    )
    rater_brier: Interval = column(
        "Brier score of a rater", title="Brier score: rater", shown=False, ends="counted"
    )
    follows: Interval | None = column(
        "whether its doubt follows the raters': Spearman's correlation",
        title="Its doubt follows theirs",
        key="",
    )
    raters_per_text: float | None = column(
        "mean number of raters", title="Raters a text", key="", places=1, shown=False
    )
    most_answers: int = column("answers of the evaluator, at most", key="", shown=False)


@row
class SplitDimension:
    """The evaluator beside raters left out, on one dimension."""

    dimension: str = entry("the dimension", key="")
    reason: str | None = entry("why nothing was compared")
    raters_per_text: float | None = entry("mean number of raters")
    n: int = entry("texts")
    n_left_out: int = entry("texts left out")
    n_answers: int = entry("answers of the evaluator to a text, at most")
    follows: Interval | None = entry("whether its doubt follows the raters'", ends="counted")
    degrees: tuple[Split, ...] = entry("by how the other raters split", rows=Split)


@row
class Bin:
    """A bin of a reliability diagram."""

    evaluator: str = column("the judge, or its column of scores", title="Evaluator", key="", names_row=True)
    dimension: str = column("the dimension", title="Dimension", key="", names_row=True)
    scores: str = column("before or after mapping", title="Scores", key="", names_row=True)
    low: float = column("lowest score", title="From")
    high: float = column("highest score", title="To")
    mean_score: float = column("mean score", title="Mean score")
    human: Interval = column("mean rating", title="Mean rating", ends="object")


@row
class Mapped:
    """The benefit of mapping scores to people's scale, on one dimension. An estimate of the JSON has n, too."""

    evaluator: str = column("the judge, or its column of scores", title="Evaluator", key="", names_row=True)
    dimension: str = column("the dimension", title="Dimension", key="", names_row=True)
    method: str = column("isotonic or ordinal", title="Method")
    fallback: str | None = entry("why isotonic replaces ordinal")
    reason: str | None = entry("why nothing was mapped")
    n: int = column("texts", title="Texts")
    n_left_out: int = column("texts left out", shown=False)
    n_items: int = column("items", shown=False)
    n_folds: int = column("folds; each is predicted from the others", shown=False)
    error_before: Interval = column(
        "mean absolute error of scores", title="Error before mapping", ends="object"
    )
    error_after: Interval = column(
        "of mapped scores, out of fold", title="Error after mapping", ends="object"
    )
    error_of_mean: Interval = column("of the mean rating", title="Error of the mean rating", ends="object")
    gain: Interval = column(
        "how much smaller the error is than that of the mean rating",
        title="Gain over the mean rating",
        ends="object",
    )
    calibration_error_before: Interval = column(
        "calibration error of scores", title="Calibration error before mapping", ends="object"
    )
    calibration_error_after: Interval = column(
        "of mapped scores", title="Calibration error after mapping", ends="object"
    )
    written: str = column("the map: score:rating", name="knots", key="", shown=False)
    remarks: str = column("what was assumed", name="notes", key="", shown=False)
    knots: tuple[tuple[float, float], ...] = entry("the map: score and rating of each knot")
    bins_before: tuple[Bin, ...] = entry("bins of the scores", rows=Bin)
    bins_after: tuple[Bin, ...] = entry("bins of the mapped scores", rows=Bin)
    notes: tuple[str, ...] = entry("what was assumed")


@row
class RaterErrors:
    """A rater by Dawid and Skene's model."""

    dimension: str = column("the dimension", title="Dimension", key="", names_row=True)
    rater: str = column("the rater", title="Rater", names_row=True)
    labels: int = column("answers", title="Answers", key="")
    accuracy: Interval = column(
        "expected share of answers with the estimated class", title="Accuracy", ends="counted"
    )
    difference: Interval = column(
        "accuracy minus the mean of the others", title="Minus the others", ends="counted"
    )
    p: float | None = column("p of no difference", shown=False, p_value=True)
    p_holm: float | None = column("p corrected for the number of raters", title="p (Holm)", p_value=True)
    below_others: bool = column(
        "whether the rater is less accurate", title="Below the others", words=("yes", "no")
    )
    expected: tuple[float | None, ...] = entry("answers expected on each class")
    matrix: tuple[tuple[float | None, ...], ...] = entry("probability of each answer, a row for each class")


@row
class Confusion:
    """What a rater answers where the model estimates a class."""

    dimension: str = column("the dimension", title="Dimension", names_row=True)
    rater: str = column("the rater", title="Rater", names_row=True)
    of_class: str = column(
        "the class that the model estimates", name="class", title="Estimated class", names_row=True
    )
    expected: float | None = column("answers expected on it", title="Answers expected", places=1)
    answers: Mapping[str, Interval | None] = columns("probability of each answer", places=2)


@row
class AgainstModel:
    """An evaluator against the majority and against the classes that the model estimates."""

    evaluator: str = column("the judge, or its column of scores", title="Evaluator", key="", names_row=True)
    dimension: str = column("the dimension", title="Dimension", key="", names_row=True)
    with_majority: Interval = column(
        "texts on which it gives the majority's class", title="Agrees with the majority", ends="object"
    )
    with_model: Interval = column(
        "texts on which it gives the model's class", title="Agrees with Dawid-Skene", ends="object"
    )
    n_changed: int = column("texts where these classes differ", title="Texts with another class")


@row
class Model(AgainstModel):
    """Raters' errors and classes as Dawid and Skene's model estimates them, on one dimension."""

    classes: tuple[str, ...] = entry("classes, in the order of rows and columns")
    class_shares: tuple[float | None, ...] = entry("estimated share of each class")
    raters: tuple[RaterErrors, ...] = entry("each rater", rows=RaterErrors)
    n_units: int = entry("texts with an answer")
    n_left_out: int = entry("texts without one")
    n_shared: int = entry("texts with answers of at least three raters")
    log_likelihood: float | None = entry("of the estimates")
    n_iterations: int = entry("iterations")
    converged: bool = entry("whether they ended by themselves")
    better_by: float = entry("log likelihood that the best of other starts gained")
    smoothing: float = entry("labels added to each row")
    reason: str | None = entry("why nothing is estimated")


@row
class Temperature:
    """A run on one dimension."""

    temperature: float = column("of the run", title="Temperature", general=True, names_row=True)
    evaluator: str = column("the judge", title="Evaluator", names_row=True)
    dimension: str = column("the dimension", title="Dimension", names_row=True)
    n_repeats: int = column("repeats", name="repeats", title="Repeats")
    agreement: Interval = column("share of texts equal to the majority", title="Agrees with the majority")
    kappa: Interval = column("Fleiss' kappa of majority and evaluator", title="Fleiss' kappa")
    repeats_equal: Interval = column(
        "texts on which all repeats are equal", title="All repeats equal", percent=True
    )


@row
class Shuffled:
    """Scores of plain texts and of texts with shuffled words."""

    group: Mapping[str, str] = columns("dimension, and language if there are several", shown=False)
    called: str = column("all of these values", name="group", title="Group", names_row=True)
    n: int = column("texts", title="Texts")
    drops: Interval = column("share that scores lower with shuffled words", title="Drops", percent=True)
    stays: Interval = column("share with the same score", title="Stays", percent=True)
    rises: Interval = column("share that scores higher", title="Rises", percent=True)
    left_out: Mapping[str, int] = column("reason -> texts left out", title="Left out")


@row
class NotToUse:
    """Where not to use an evaluator."""

    sentence: str = entry("the verdict in words")
    constants: tuple[str, ...] = entry("sentences on nearly constant scores that no verdict names")
    rules: tuple[str, ...] = entry("the rules, in their order")
    groups: tuple[Warned, ...] = entry("groups in which a rule objects, or without a verdict", rows=Warned)


@row
class Evaluated(Sections):
    """One evaluator compared with people. The sections are those of all groups, as `averaged` says."""

    evaluator: str = entry("the judge, or its column of scores")
    ratings: str = entry("name of the ratings")
    averaged: str = entry("macro (each group counts once) or pooled (each text counts once), of the sections")
    majority: str = entry("rule for split raters: drop, median or middle")
    majority_of_split_raters: str = entry("the rule in words")
    undefined_kappa_as_zero: bool = entry("whether an undefined kappa counts as 0 in means")
    n_texts: int = entry("texts compared")
    n_groups: int = entry("groups")
    by_group: tuple[Group, ...] = entry("each group", rows=Group)
    by_dimension: tuple[Group, ...] = entry("all texts of each dimension", rows=Group)
    pooled: Group = entry("all texts of all dimensions", rows=Group)
    macro: tuple[Mean, ...] = entry(
        "means over all groups, then over those with one value; a mean has estimate, sd, n_groups, n_undefined, reason",
        rows=Mean,
    )
    not_to_use: NotToUse = entry("where not to use it", rows=NotToUse)
    split_raters: tuple[SplitDimension, ...] = entry(
        "each dimension, beside raters left out", rows=SplitDimension, keyed_by="dimension"
    )
    maps: tuple[Mapped, ...] | None = entry(
        "each dimension, if a map was asked for", rows=Mapped, keyed_by="dimension"
    )
    dawid_skene: tuple[Model, ...] | None = entry(
        "each dimension; only if the model was asked for", rows=Model, keyed_by="dimension"
    )
    left_out: Mapping[str, int] = entry("reason -> ratings that matched no text, or no column of scores")
    notes: tuple[str, ...] = entry("what was read, left out and assumed")


@dataclass(frozen=True)
class Computed:
    """What was computed of one evaluator, for figures."""

    calibration: "Calibration"
    maps: "Mapping[str, CalibrationMap] | None"
    raters: "Mapping[str, RaterClasses] | None"


@row
class Calibrated:
    """Evaluators compared with people."""

    evaluators: tuple[Evaluated, ...] = entry(
        "each evaluator. A single one is the JSON itself; several are a list, in an object of this key beside others",
        rows=Evaluated,
    )
    temperatures: Json | None = entry(
        "only with runs at several temperatures: points (temperature, evaluator, dimension, agreement, kappa, repeats_equal, "
        "n_repeats) and notes"
    )
    shuffled_words: tuple[Json, ...] | None = entry(
        "only with shuffled words: group, drops, stays, rises (shares of texts) and left_out, of each group"
    )
    groups: tuple[Group, ...]
    overall: tuple[Group, ...]
    """With pooled texts, those of each dimension and of all, of evaluators with several groups."""
    means: tuple[Mean, ...]
    warned: tuple[Warned, ...]
    classes: tuple[ClassCount, ...]
    split: tuple[Split, ...]
    mapped: tuple[Mapped, ...] | None
    bins: tuple[Bin, ...] | None
    raters: tuple[RaterErrors, ...] | None
    confusion: tuple[Confusion, ...] | None
    against_model: tuple[AgainstModel, ...] | None
    sweep: tuple[Temperature, ...] | None
    twins: tuple[Shuffled, ...] | None
    table_notes: Mapping[str, tuple[str, ...]]
    """Table -> its notes."""
    sentences: tuple[str, ...]
    judgements: tuple[tuple[str, str], ...]
    """Code and sentence on some groups of one evaluator."""
    computed: tuple[Computed, ...]
