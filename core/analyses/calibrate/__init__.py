"""Evaluators against people, by language, task and dimension (Multilingual): agreement, kappas, bias, and where not to use them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from sys import maxsize
from typing import TYPE_CHECKING, Any, Literal

from core.analyses.calibrate.rows import (
    SHOWN_TESTS,
    STATISTICS,
    VIEWS,
    AgainstModel,
    Bin,
    Calibrated,
    ClassCount,
    Confusion,
    Group,
    Mapped,
    Mean,
    RaterErrors,
    Shuffled,
    Split,
    Temperature,
    Warned,
)
from core.schema.analysis import (
    Analysis,
    Table,
    Tell,
    Verdict,
    confidence_setting,
    resamples_setting,
    rng_setting,
)
from core.schema.figures import AnyFigure, Axis, Intervals
from core.schema.rows import json_of
from core.schema.settings import Settings, setting

if TYPE_CHECKING:
    from core.schema.rated import Rated

_IF_ANY = maxsize
"""Of a table that a terminal prints if it has rows."""
_MOST_ROWS = 30
"""Groups that a figure shows one by one; with more it shows means."""


class CalibrateOptions(Settings):
    """Options of comparing evaluators with people."""

    dimension: str | None = setting(
        None,
        "Dimension",
        "which dimension of the ratings to use (default: all)",
        metavar="D",
    )
    columns: dict[str, str] = setting(
        {},
        "Columns of scores",
        "which column of scores belongs to which dimension (default: by the end of its name, e.g. JUDGE-D)",
        listed=True,
        metavar="COLUMN=DIMENSION,...",
        folded=True,
    )
    by: tuple[str, ...] | None = setting(
        None,
        "Group by",
        "columns to group by (default: language, task, dimension); without dimension, all dimensions form one group",
        listed=True,
        metavar="COL,...",
        words={"": "language, task, dimension"},
    )
    averaged: Literal["macro", "pooled"] = setting(
        "macro",
        "Means over groups",
        "overall result: macro is the mean over groups, each with equal weight; pooled takes all texts together",
        words={"macro": "Each group counts once", "pooled": "Each text counts once"},
        apart={
            "macro": "overall result: the mean over groups, each with equal weight",
            "pooled": "overall result: all texts together, each with equal weight",
        },
    )
    majority: Literal["drop", "median", "middle"] = setting(
        "drop",
        "If no class has most votes",
        "how to resolve split votes: drop leaves the text out; median takes the middle vote, if the two middle votes "
        "agree; middle takes the middle class of the scale, if a rater chose it, as Multilingual does with three raters "
        "and three classes",
        words={
            "drop": "Leave the text out of the agreement with the majority",
            "median": "Use the median vote, unless the two middle votes differ",
            "middle": "Use the middle class of the scale, if a rater gave it",
        },
    )
    map: Literal["isotonic", "ordinal"] | None = setting(
        None,
        "Calibration map",
        "also fit a map from the evaluator's score to human scores, cross-validated by item",
        words={
            "": "None",
            "isotonic": "Isotonic: rises with the score, any shape",
            "ordinal": "Ordinal: a proportional-odds model",
        },
    )
    dawid_skene: bool = setting(
        False,
        "Raters by Dawid-Skene",
        "also estimate raters' errors and the texts' classes by Dawid and Skene's model; majorities do not change",
    )
    paper_kappa: bool = setting(
        False,
        "Undefined kappa counts as 0 in means",
        "count an undefined kappa as 0 in means over groups, as Multilingual does",
        folded=True,
    )
    n_resamples: int = resamples_setting(2_000)
    confidence_level: float = confidence_setting()
    rng: int = rng_setting()


def compute(options: CalibrateOptions, data: "Rated", *, tell: Tell) -> Calibrated:
    """Compare each evaluator with the raters, dimension by dimension and group by group.

    Raises InputError for unknown names, and if no rating matches a score.
    """
    from core.analyses.calibrate.filling import computed

    return computed(options, data, tell)


def _verdicts(found: Calibrated) -> tuple[Verdict, ...]:
    return tuple(
        Verdict(code, sentence, reason=sentence if code == "undefined" else "")
        for code, sentence in found.judgements
    )


def _json(found: Calibrated) -> Any:
    """A single evaluator is an object, several are a list; results over several runs are keys beside the list."""
    listed = [json_of(one) for one in found.evaluators]
    for one in listed:
        if one["dawid_skene"] is None:
            del one["dawid_skene"]
    whole = json_of(found)
    more = {name: whole[name] for name in ("temperatures", "shuffled_words") if whole[name] is not None}
    if len(listed) == 1:
        return {**listed[0], **more}
    return {"evaluators": listed, **more} if more else listed


def _numeric_groups(rows: Sequence[Group]) -> list[Group]:
    return [
        one for one in rows if not one.classes and any(cell.n is not None for cell in one.statistics.values())
    ]


def _view(view: str, rows: Sequence[Group]) -> list[Group] | None:
    """The groups in a table: those of classes have every group, that of numbers only groups without classes."""
    numbers = _numeric_groups(rows)
    if view == "numbers":
        rows = numbers
    elif len(numbers) == len(rows):
        rows = ()
    return [replace(one, n_used=one.used[view]) for one in rows] or None


def _unseen(view: str, rows: Sequence[Group]) -> set[str]:
    """Columns of groups that readers of a table need not see."""
    n_tests = {
        test: max((one.tests[test]["n_tests"] for one in rows if test in one.tests), default=0)
        for test in SHOWN_TESTS
    }
    seen = {
        test
        for test, (of_view, _) in SHOWN_TESTS.items()
        if n_tests[test] > 1 and (of_view == view or (test == "chance" and view == "numbers"))
    }
    return {*(STATISTICS.keys() - VIEWS[view][1]), *(f"{test}_p_bh" for test in SHOWN_TESTS.keys() - seen)}


def _alone(found: Calibrated) -> Mapping[str, Mapping[str, Any]]:
    """A single evaluator needs no column, and rows are not named by it."""
    names = {one.evaluator for one in found.evaluators}
    return {} if len(names) > 1 else {"evaluator": {"shown": False, "names_row": False}}


def _titled(view: str) -> Callable[[Calibrated], Mapping[str, Mapping[str, Any]]]:
    """Numbers have no kappa: their rule reads Spearman's correlation."""
    own = {
        "chance_p": {"title": "Spearman: p"},
        "chance_p_bh": {"title": "Spearman: Benjamini-Hochberg p"},
    }
    return lambda found: {**_alone(found), **(own if view == "numbers" else {})}


def _noted(name: str) -> Callable[[Calibrated], tuple[str, ...]]:
    return lambda found: found.table_notes.get(name, ())


def _group_table(
    view: str, prefix: str, rows: Callable[[Calibrated], Sequence[Group]], more: str
) -> Table[Calibrated]:
    return Table(
        f"{prefix}{view}",
        Group,
        lambda found: _view(view, rows(found)),
        f"{VIEWS[view][0]}{more}",
        notes=_noted(f"{prefix}{view}"),
        hidden=lambda found: _unseen(view, _view(view, rows(found)) or ()),
        shaped=_titled(view),
    )


def _mean_table(view: str) -> Table[Calibrated]:
    def rows(found: Calibrated) -> tuple[Mean, ...] | None:
        as_classes = any("pairwise" in one.applicable for one in found.means)
        return found.means if found.means and as_classes != (view == "numbers") else None

    def hidden(found: Calibrated) -> set[str]:
        known = {name for one in found.means for name in one.applicable}
        return {name for name in STATISTICS if name not in known or name not in VIEWS[view][1]}

    return Table(
        f"means-{view}",
        Mean,
        rows,
        f"{VIEWS[view][0]}: means over groups",
        notes=_noted(f"means-{view}"),
        hidden=hidden,
        shaped=_alone,
    )


def _repeated(found: Calibrated) -> tuple[str, ...]:
    """Columns of an evaluator with several answers to a text, for readers of one without."""
    several = any(one.most_answers > 1 for one in found.split)
    return () if several else ("distribution_distance", "follows")


def _figures(found: Calibrated) -> tuple[AnyFigure, ...]:
    made: list[AnyFigure] = []
    classed = [one for one in found.groups if one.classes]
    n = len(classed)
    if classed and (n <= _MOST_ROWS or not found.means):
        made.append(
            Intervals(
                table="agreement",
                alt=f"Share of equal pairs in {n} groups: two raters, and an evaluator and a rater",
                sides=("raters_pairwise", "pairwise"),
                names=("evaluator", "group"),
                axis=Axis("share of equal pairs, with intervals over items"),
            )
        )
    elif classed:
        made.append(
            Intervals(
                table="means-agreement",
                alt=f"Mean share of equal pairs over {n} groups: two raters, and an evaluator and a rater",
                sides=("raters_pairwise", "pairwise"),
                names=("evaluator", "group"),
                axis=Axis("mean share of equal pairs"),
            )
        )
    if classed:
        made.append(
            Intervals(
                table="bias",
                alt=f"Bias towards the top class in {n} groups, over all texts and where raters disagree, with intervals",
                sides=("bias_disagreed", "bias"),
                names=("evaluator", "group"),
                axis=Axis("share of the top class: evaluator minus majority"),
                across=0.0,
            )
        )
    if any(one.rater_agreement.value is not None for one in found.split):
        made.append(
            Intervals(
                table="split-raters",
                alt="How often a rater left out and the evaluator give the class of a random other rater",
                sides=("rater_agreement", "judge_agreement"),
                names=("evaluator", "dimension", "other_raters"),
                axis=Axis("probability of a random other rater's class"),
            )
        )
    if any(one.agreement.value is not None for one in found.sweep or ()):
        made.append(
            Intervals(
                table="temperatures",
                alt="Agreement with the majority by dimension and temperature, with intervals",
                sides=("agreement",),
                names=("evaluator", "dimension", "temperature"),
                axis=Axis("share equal to the majority"),
            )
        )
    return tuple(made)


_QUESTIONS: Mapping[str, str] = {
    "agreement": "How often do two raters give a text the same class, and how often do evaluator and rater?",
    "raters": "How far do raters agree with each other?",
    "majority": "How often does the evaluator give the class of the majority? Do not compare this with agreement between raters: "
    "a majority is steadier than a single rater.",
    "bias": "Does the evaluator give the best class more often than people do? Above 0 it is too generous.",
    "numbers": "How does the evaluator's score follow the mean rating?",
}
ANALYSIS = Analysis(
    name="calibrate",
    title="Calibration",
    question="Does an evaluator agree with people, and where should you not use it?",
    Options=CalibrateOptions,
    Result=Calibrated,
    takes=("rated",),
    compute=compute,
    verdicts=_verdicts,
    codes={
        "no-objection": "no rule objects in any group",
        "says-nothing": "groups whose texts all, or nearly all, have the same score",
        "shifted": "groups whose texts it orders well, but with shifted scores",
        "agrees-less": "groups in which it agrees with a rater less often than another rater does",
        "not-to-use": "groups in which another rule objects",
        "undefined": "groups with too few texts, or where agreement is undefined",
    },
    all_sentences=lambda found: found.sentences,
    json=_json,
    figures=_figures,
    refuses="If scores and ratings share no text, or a column's dimension is unclear.",
    section="calibration#agreement-with-people",
    misleads="If one class is popular, percentage agreement is high for any evaluator, even one that always answers the same. "
    "Read kappa, the bias and the sentences first.",
    example="""
>>> import assay, pandas as pd
>>> people = pd.DataFrame({"item_id": [1, 2, 3, 4] * 2, "rater": ["a"] * 4 + ["b"] * 4, "score": [0, 1, 2, 2] * 2})
>>> judge = pd.DataFrame({"item_id": [1, 2, 3, 4], "judge": [0, 1, 2, 1]})
>>> frame = assay.calibrate(people, judge, resamples=0).frame
>>> float(frame["pairwise"][0])
0.75
""",
    tables=(
        *(
            replace(_group_table(view, "", lambda found: found.groups, ""), question=_QUESTIONS[view])
            for view in VIEWS
        ),
        *(
            _group_table(view, "pooled-", lambda found: found.overall, ": all texts")
            for view in VIEWS
            if view != "bias"
        ),
        *(_mean_table(view) for view in VIEWS if view != "bias"),
        Table(
            "split-raters",
            Split,
            lambda found: found.split,
            "Split raters: one rater left out, against the others",
            "Where the other raters of a text agree, and where they split: does the evaluator do what a rater does?",
            notes=_noted("split-raters"),
            hidden=_repeated,
            shaped=_alone,
            most_printed=_IF_ANY,
        ),
        Table(
            "map",
            Mapped,
            lambda found: found.mapped,
            "Map to the mean rating, tested on items left out of the fit",
            "Which mean rating does a score correspond to?",
            notes=_noted("map"),
            shaped=_alone,
        ),
        Table(
            "dawid-skene",
            RaterErrors,
            lambda found: found.raters,
            "Raters by Dawid-Skene",
            "Which raters err most, if classes are estimated from the ratings alone?",
            notes=_noted("dawid-skene"),
        ),
        Table(
            "confusion",
            Confusion,
            lambda found: found.confusion,
            "Confusion of each rater",
            notes=_noted("confusion"),
        ),
        Table(
            "dawid-skene-agreement",
            AgainstModel,
            lambda found: found.against_model,
            "Evaluator against Dawid-Skene's classes",
            notes=_noted("dawid-skene-agreement"),
            shaped=_alone,
        ),
        Table(
            "temperatures",
            Temperature,
            lambda found: found.sweep,
            "By temperature",
            "The same evaluator at several temperatures: does it agree with people, and with itself?",
            notes=_noted("temperatures"),
        ),
        Table(
            "shuffled-words",
            Shuffled,
            lambda found: found.twins,
            "With shuffled words",
            "Does the score drop when some words of each text are shuffled?",
            notes=_noted("shuffled-words"),
        ),
        Table(
            "classes",
            ClassCount,
            lambda found: found.classes,
            "Classes",
            "Where people agree, does the evaluator give the same classes? Where they disagree, does it still give the best one?",
            notes=_noted("classes"),
            shaped=_alone,
            most_printed=0,
        ),
        Table(
            "where-not-to-use",
            Warned,
            lambda found: found.warned,
            "Where not to use it",
            "In which groups does a rule object to the evaluator, or is no verdict possible?",
            shaped=_alone,
            most_printed=0,
        ),
        Table(
            "reliability",
            Bin,
            lambda found: found.bins,
            "Reliability",
            "What is the mean rating of texts with about the same score?",
            shaped=_alone,
            most_printed=0,
        ),
    ),
)
