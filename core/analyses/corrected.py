"""A judge's mean or pass rate, corrected by labels from people: of all texts, by system, and between systems."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import field_validator

from core.schema.analysis import Analysis, Caution, Table, Tell, Verdict, confidence_setting
from core.schema.figures import AnyFigure, Axis, Intervals
from core.schema.result_table import Interval
from core.schema.rows import column, entry, row
from core.schema.settings import Remark, Settings, setting

if TYPE_CHECKING:
    from core.results.corrected import Labelled
    from core.schema.panel import Panel
    from core.stats.corrected import Answer, Asked, CorrectedMean, Texts
    from core.stats.prediction_powered import Corrected
    from core.stats.resampling import Estimate

ALL_ROWS = "all"
CORRECTION: Literal["holm"] = "holm"
_MOST_ROWS = 40


class CorrectedOptions(Settings):
    """Options of the correction. Choose them before you see the result."""

    passes: str | None = setting(
        None,
        "Rating that counts as a pass",
        "rating that counts as a pass; all others are fails",
        option="passes",
        metavar="VALUE",
        words={"": "the better of two words, or 1 of 0 and 1; other ratings are averaged"},
    )
    labels_chosen: Literal["at-random", "by-judge", "by-truth"] | None = setting(
        None,
        "Labels were chosen",
        "how the texts with labels were chosen: at-random: every text had the same chance; by-judge: by the judge's answer, and at "
        "random among texts with the same one; by-truth: by what people would say, such as more of the bad answers",
        words={
            "": "not said: at random or by the judge's answer",
            "at-random": "At random",
            "by-judge": "By the judge's answer",
            "by-truth": "By what people would say",
        },
    )
    method: Literal["by-class", "ppi++", "rogan-gladen", "labels-only"] | None = setting(
        None,
        "Method",
        "method that decides: by-class, by the judge's answers; ppi++ and labels-only need labels chosen at random; rogan-gladen "
        "needs {labels_chosen=by-truth}",
        words={
            "": "by how labels were chosen",
            "by-class": "By the judge's answers",
            "ppi++": "PPI++",
            "rogan-gladen": "Rogan-Gladen",
            "labels-only": "Labels alone",
        },
        folded=True,
    )
    population: Literal["like-these", "these"] = setting(
        "like-these",
        "Mean of",
        "whose mean is asked for: like-these: all texts of which those in the file are a sample; these: only those in the file",
        words={"like-these": "Texts like these", "these": "Only these texts"},
        folded=True,
    )
    confidence_level: float = confidence_setting()

    @field_validator("passes", mode="before")
    @classmethod
    def _as_written(cls, value: object) -> object:
        """A number as a file writes it: Python's users give one."""
        return f"{value:g}" if isinstance(value, int | float) else value


@row
class AnswerRow:
    """The texts to which the judge gave one answer."""

    system: str = column("the system, or all", key="", names_row=True)
    answer: str = column("the judge's answer, or the scores between two; no score", names_row=True)
    n: int = column("texts with this answer", title="texts")
    share: float = column("their share of all texts", percent=True)
    n_labelled: int = column("texts of them with a label", title="labelled")
    mean: Interval = column(
        "mean label of them, or their pass rate, with the interval that enters the corrected one",
        ends="beside",
    )


@row
class NumbersRow:
    """The numbers of one system, or of all texts."""

    system: str = column("the system, or all", key="", names_row=True)
    corrected: Interval = column(
        "what people would have said of all texts: mean rating or pass rate", key="estimate", ends="beside"
    )
    reason: str | None = entry("why it is undefined")
    decided_by: str = column("what decided, in words", name="method", title="Decided by", key="")
    method: str = entry("what decided: by-class, ppi++, rogan-gladen, exact or labels-only")
    why: str = column("why", shown=False)
    judge_only: Interval = column("the judge's own mean or pass rate", title="Judge alone", ends="object")
    labels_only: Interval = column("the mean of the labels", title="Labels alone", ends="object")
    weight: Interval = column(
        "weight of the judge in PPI++, within 0 and 1; 0 where labels alone decide",
        name="lambda",
        key="lambda",
        places=2,
    )
    n: int = column("texts", title="Texts")
    n_labelled: int = column("texts with a label", title="Labelled")
    n_unscored: int = column("texts without a score of the judge", title="No score")
    n_items: int = column("items", shown=False)
    n_labelled_items: int = column("items with a label", shown=False)
    open_share: float = column(
        "share of texts with an answer of which no text has a label", shown=False, percent=True
    )
    labels_saved: Interval = column(
        "how many further labels of randomly chosen texts labels alone would need to be as precise", places=0
    )
    share_saved: Interval = column("the same as a share of the labels", percent=True, places=2)
    labelled_shift_p: Interval = column(
        "p of labelled texts being like those that they stand for", shown=False, p_value=True
    )
    shift_in: str | None = entry("what differs most between them")
    ppi: Interval = entry("PPI++, where labels were chosen at random", ends="object")
    rogan_gladen: Interval = entry(
        "Rogan-Gladen, where labels were chosen by what people would say", ends="object"
    )
    sensitivity: Interval = entry("share of people's passes that the judge passes", ends="object")
    specificity: Interval = entry("share of people's fails that the judge fails", ends="object")
    answers: tuple[AnswerRow, ...] = entry("each answer of the judge, where they enter", rows=AnswerRow)
    mean: "CorrectedMean"


@row
class MethodsRow:
    """Other methods' answers for one system, for files."""

    system: str = column("the system, or all", names_row=True)
    ppi: Interval = column("PPI++, where labels were chosen at random", title="PPI++")
    rogan_gladen: Interval = column(
        "Rogan-Gladen, where labels were chosen by what people would say", title="Rogan-Gladen"
    )
    labels_only: Interval = column("the mean of the labels", title="Labels alone")
    sensitivity: Interval = column("share of people's passes that the judge passes")
    specificity: Interval = column("share of people's fails that the judge fails")
    labelled_shift_p: Interval = column(
        "p of labelled texts being like those that they stand for", p_value=True
    )


@row
class DifferenceRow:
    """The first system minus the second."""

    first: str = column("the first system", names_row=True)
    second: str = column("the second", names_row=True)
    difference: Interval = column("the first minus the second, corrected", key="estimate", ends="beside")
    decided_by: str = column("what decided, in words", name="method", title="Decided by", key="")
    method: str = entry("what decided, as of a system")
    p: Interval = column("two-sided p of no difference", p_value=True)
    p_corrected: float | None = column(
        "p corrected for all pairs of systems", name="p_holm", title="Holm p", key="p_holm", p_value=True
    )
    judge_only: Interval = column("the judge's own difference", title="Judge alone", ends="object")
    labels_only: Interval = column("the difference of the labels", title="Labels alone", ends="object")
    paired: bool | None = column("whether items that both systems share are paired", words=("by item", "no"))
    n_labelled: int = column("texts with a label", title="Labelled")
    n_without_partner: int = column(
        "texts left out, because the other system has none of the item", shown=False
    )


@row
class CorrectedNumbers(NumbersRow):
    """A judge's numbers, corrected."""

    systems: tuple[NumbersRow, ...] = entry(
        "each system by its name; empty if there is one", rows=NumbersRow, keyed_by="system"
    )
    differences: tuple[DifferenceRow, ...] = entry("every two systems", rows=DifferenceRow)
    correction: str = entry("how p is corrected over the pairs")
    judge: str = entry("the judge")
    raters: tuple[str, ...] = entry("names of the raters")
    passes: str | None = entry("what counts as a pass; null for a mean rating", key="pass")
    fails: tuple[str, ...] = entry("what counts as a fail", key="fail")
    labels_chosen: str | None = entry("how labels were chosen, as declared")
    population: str = entry("whose mean it is")
    confidence_level: float = entry("of the intervals")
    sentences: tuple[str, ...] = entry("what the result says")
    left_out: Mapping[str, int] = entry("reason -> ratings that were left out")
    notes: tuple[str, ...] = entry("what is assumed about the labels, first; what was read and left out")

    @property
    def everyone(self) -> tuple[NumbersRow, ...]:
        """All texts together, then each system."""
        return (self, *self.systems)

    @property
    def what(self) -> str:
        """What is estimated."""
        return "Mean rating" if self.passes is None else f"Pass rate ({self.passes})"


def compute(options: CorrectedOptions, panel: "Panel", *, tell: Tell) -> CorrectedNumbers:
    """Correct the scores of the panel's only judge by the mean rating of each text's raters.

    Texts of one item depend on each other, so intervals go over items. Raises SettingsError with all problems: not one judge, no
    label, a `passes` that no rater gave, Rogan-Gladen without labels chosen by truth.
    """
    import dataclasses
    from itertools import combinations

    from core.errors import InputError
    from core.results.corrected import labelled_of
    from core.stats import corrected as stats
    from core.stats.multiplicity import corrected as corrected_p

    ANALYSIS.refuse(_problems(options, panel))
    tell("correcting the scores")
    try:
        labelled = labelled_of(panel, options.passes)
    except InputError as problem:
        ANALYSIS.refuse([Remark("passes", str(problem).removeprefix("pass: "))])
        raise
    asked = _asked(options, panel, labelled)
    ANALYSIS.refuse(_not_two_classes(asked, labelled))

    def numbers(system: str, texts: "Texts") -> NumbersRow:
        return _numbers_row(
            system, stats.corrected(texts, asked), panel, labelled, int((~texts.scored).sum())
        )

    names = list(dict.fromkeys(panel.systems.tolist()))
    places = {name: panel.systems == name for name in names} if len(names) > 1 else {}
    systems = {name: numbers(name, labelled.of(where)) for name, where in places.items()}
    gaps = []
    for first, second in combinations(systems, 2):
        sides = labelled.pair(places[first], places[second])
        of_sides = systems[first].mean, systems[second].mean
        gaps.append((first, second, stats.corrected_gap(*sides, *of_sides, asked)))
    paid = corrected_p([gap.p_value for _, _, gap in gaps], CORRECTION)
    overall = numbers(ALL_ROWS, labelled.texts)
    found = CorrectedNumbers(
        **{one.name: getattr(overall, one.name) for one in dataclasses.fields(overall)},
        systems=tuple(systems.values()),
        differences=tuple(
            _difference_row(first, second, gap, p) for (first, second, gap), p in zip(gaps, paid, strict=True)
        ),
        correction=CORRECTION,
        judge=panel.judges[0],
        raters=panel.raters,
        passes=labelled.scale.passes,
        fails=labelled.scale.fails,
        labels_chosen=options.labels_chosen,
        population=options.population,
        confidence_level=options.confidence_level,
        sentences=(),
        left_out=dict(panel.left_out),
        notes=_notes(options, panel, labelled, overall),
    )
    return dataclasses.replace(found, sentences=(_verdict(found).sentence, *_sentences(found)))


def _problems(options: CorrectedOptions, panel: "Panel") -> list[Remark]:
    import numpy as np

    from core.tables.problems import listed

    problems = []
    if len(panel.judges) != 1:
        found = f"found {len(panel.judges)}: {listed(panel.judges)}" if panel.judges else "found none"
        problems.append(
            Remark(
                "judge", "one judge is needed; {found}; name one column, rater or metric", {"found": found}
            )
        )
    elif np.isnan(panel.scores).all():
        problems.append(Remark("judge", "the judge has no score of any text"))
    if np.isnan(panel.ratings).all():
        problems.append(Remark("human", "no text has a rating: at least some need one"))
    by_truth = options.labels_chosen == "by-truth"
    if options.method == "rogan-gladen" and not by_truth:
        text = "Rogan-Gladen needs labels chosen by what people would say: say {labels_chosen=by-truth}"
        problems.append(Remark("method", text))
    elif by_truth and (options.method not in {None, "rogan-gladen"} or options.population == "these"):
        text = "with {labels_chosen=by-truth} only {method=rogan-gladen} is right, for texts like these"
        problems.append(Remark("method", text))
    return problems


def _asked(options: CorrectedOptions, panel: "Panel", labelled: "Labelled") -> "Asked":
    from core.stats.corrected import Asked

    return Asked(
        labelled.pass_rate,
        (0.0, 1.0) if labelled.pass_rate else panel.scale.ends,
        options.labels_chosen,
        options.method,
        options.population == "these",
        options.confidence_level,
    )


def _not_two_classes(request: "Asked", labelled: "Labelled") -> list[Remark]:
    import numpy as np

    if request.labels_chosen != "by-truth":
        return []
    if not request.pass_rate:
        return [
            Remark(
                "labels_chosen",
                "labels chosen by what people would say correct passes and fails alone: say which rating counts as a pass, {passes}",
            )
        ]
    known = labelled.texts.judge[labelled.texts.scored]
    if not np.isin(known, (0.0, 1.0)).all():
        text = "labels chosen by what people would say correct a judge that says pass or fail; this one gives other scores"
        return [Remark("labels_chosen", text)]
    return []


def _numbers_row(
    system: str, found: "CorrectedMean", panel: "Panel", labelled: "Labelled", n_unscored: int
) -> NumbersRow:
    from core.results.cells import interval
    from core.stats.prediction_powered import METHODS

    def or_none(estimate: "Estimate | None", why: str) -> Interval:
        return Interval(None, reason=why) if estimate is None else interval(estimate)

    random, truth = (
        "labels were not declared as chosen at random",
        "labels were not declared as chosen by what people would say",
    )
    by_truth, at_random = (
        found.method == "rogan-gladen",
        found.ppi is not None and found.method != "rogan-gladen",
    )
    return NumbersRow(
        system=system,
        corrected=interval(found.decided),
        reason=found.decided.reason,
        decided_by=METHODS[found.method],
        method=found.method,
        why=found.why,
        judge_only=interval(found.judge_only),
        labels_only=interval(found.labels_only),
        weight=_or_reason(found.weight, "PPI++ does not decide"),
        n=found.decided.n,
        n_labelled=found.n_labelled,
        n_unscored=n_unscored,
        n_items=found.decided.n_clusters,
        n_labelled_items=found.n_labelled_clusters,
        open_share=found.open_share,
        labels_saved=_or_reason(
            found.labels_saved, "without an estimate, or labels that vary, nothing can be compared"
        ),
        share_saved=_or_reason(
            found.share_saved, "without an estimate, or labels that vary, nothing can be compared"
        ),
        labelled_shift_p=_or_reason(found.labelled_shift_p, "labelled and other texts cannot be compared"),
        shift_in=found.selected_by or None,
        ppi=or_none(found.ppi if at_random else None, random),
        rogan_gladen=or_none(found.decided if by_truth else None, truth),
        sensitivity=or_none(found.sensitivity, "only of passes and fails by both sides"),
        specificity=or_none(found.specificity, "only of passes and fails by both sides"),
        answers=tuple(_answer_row(system, one, panel, labelled) for one in found.answers),
        mean=found,
    )


def _or_reason(value: float | None, why: str) -> Interval:
    return Interval(value, reason=why if value is None else "")


def _answer_row(system: str, answer: "Answer", panel: "Panel", labelled: "Labelled") -> AnswerRow:
    from core.results.cells import interval

    return AnswerRow(
        system,
        _answer_said(answer, panel, labelled),
        answer.n,
        answer.share,
        answer.n_labelled,
        interval(answer.mean),
    )


def _answer_said(answer: "Answer", panel: "Panel", labelled: "Labelled") -> str:
    from core.results.answers import answer_said

    return answer_said(answer.low, answer.high, panel.scale)


def _difference_row(first: str, second: str, gap: "Corrected", p: float | None) -> DifferenceRow:
    from core.results.cells import interval
    from core.stats.prediction_powered import METHODS

    return DifferenceRow(
        first,
        second,
        interval(gap.decided),
        METHODS[gap.method],
        gap.method,
        _or_reason(gap.p_value, "there is no interval"),
        p,
        interval(gap.judge_only),
        interval(gap.labels_only),
        gap.paired,
        gap.n_labelled,
        gap.n_left_out,
    )


# --- what is said ------------------------------------------------------------------------------

CODES = {
    "corrected": "there is a corrected number",
    "range": "texts with some answers of the judge have no label, so that only the ends of the number are known",
    "undefined": "there is none; the reason says why",
}


def _verdict(found: CorrectedNumbers) -> Verdict:
    value = found.corrected
    if value.value is not None:
        return Verdict("corrected", f"{found.what}: {_ends(value, found)}, by {found.decided_by}.")
    if value.low is not None and value.high is not None:
        places = _places(found)
        return Verdict(
            "range",
            f"{found.what}: between {value.low:.{places}f} and {value.high:.{places}f}. {_sentence(found.reason)} Label some of them.",
            reason=found.reason or "",
        )
    return Verdict(
        "undefined", f"{found.what}: undefined. {_sentence(found.reason)}", reason=found.reason or ""
    )


def _sentences(found: CorrectedNumbers) -> tuple[str, ...]:
    """The judge's error, the labels saved, and what to watch."""
    from core.results.cells import decimal, p_said
    from core.stats.strata import SELECTED
    from core.tables.reading import shown

    said = []
    judged, value = found.judge_only, found.corrected.value
    if judged.value is not None and value is not None:
        off, places = judged.value - value, _places(found)
        error = (
            f"{decimal(abs(off), places)} too {'high' if off > 0 else 'low'}"
            if float(decimal(off, places))
            else "the same"
        )
        said.append(f"{shown(found.judge)} alone: {_ends(judged, found)}, {error}.")
    if found.n_unscored:
        said.append(
            Caution(
                f"{found.n_unscored:,} of {found.n:,} texts have no score: they count as an answer of their own, and so do their "
                "labels."
            )
        )
    if value is not None and found.labels_saved.value is not None:
        said.append(_saved_said(found))
    p = found.labelled_shift_p.value
    if p is not None and p < SELECTED:
        like = "texts with the same answer" if found.method == "by-class" else "other texts"
        said.append(
            Caution(
                f"Check how texts were chosen for labels: labelled texts differ from {like} in {found.shift_in} ({p_said(p)})."
            )
        )
    return tuple(said)


def _saved_said(found: NumbersRow) -> str:
    """How many labels the judge saved, or that it saved none, and why."""
    from core.errors import counted

    saved, share = found.labels_saved.value, found.share_saved.value
    if saved is not None and share is not None and round(saved) >= 1:
        return (
            f"The judge saved {counted(round(saved), 'label')} ({100 * share:.0f} %): {found.n_labelled:,} labels with it are as precise as "
            f"{found.n_labelled + round(saved):,} without."
        )
    why = {
        "ppi++": "it follows people too weakly",
        "by-class": "its answers tell little about the labels, or the labels are unevenly spread over them",
        "rogan-gladen": "Rogan-Gladen pays for allowing labels that were chosen by what people would say",
    }.get(found.method, found.why)
    return f"The judge saved no labels: {why}."


def _places(found: CorrectedNumbers) -> int:
    return 3 if found.passes is not None else 2


def _ends(value: Interval, found: CorrectedNumbers) -> str:
    places = _places(found)
    if value.low is None or value.high is None:
        return f"{value.value:.{places}f} without an interval ({value.interval_reason})"
    return f"{value.value:.{places}f} [{value.low:.{places}f}, {value.high:.{places}f}]"


def _sentence(text: str | None) -> str:
    return f"{(text or '')[:1].upper()}{(text or '')[1:]}."


def _assumed(options: CorrectedOptions, overall: NumbersRow) -> str:
    """What is assumed about how labels were chosen."""
    if overall.method == "rogan-gladen":
        return (
            "Assumed, as declared: labels were chosen by what people would say. The judge then errs as often on labelled texts as on "
            "others, among those that people pass and among those that they fail. No data here can test it."
        )
    if (
        overall.mean.stratified is not None
        and overall.method != "by-class"
        and overall.n_labelled == overall.n
    ):
        return "Every text has a label: nothing is assumed about how they were chosen."
    if overall.method == "by-class":
        declared = "as declared" if options.labels_chosen else "as nothing was declared"
        return (
            f"Assumed, {declared}: among texts with the same answer of the judge, those with a label are like the others. That holds "
            "if labels were chosen at random or by the judge's answer, not if hard or bad texts were chosen."
        )
    if overall.mean.stratified is not None and options.labels_chosen != "at-random":
        return (
            "Assumed: texts with a label are like all others. There are too few labels to tell the judge's answers apart, or it gives "
            "one answer only."
        )
    declared = "Assumed, as declared" if options.labels_chosen == "at-random" else "Assumed"
    return f"{declared}: texts with a label were chosen at random, and are like all others."


def _notes(
    options: CorrectedOptions, panel: "Panel", labelled: "Labelled", overall: NumbersRow
) -> tuple[str, ...]:
    from core.results.cells import left_out_lines

    notes = [_assumed(options, overall)]
    if labelled.texts.weights is not None:
        notes.append("Texts were drawn with known probabilities: labels are weighted by them.")
    if panel.scale.ends is None and not labelled.pass_rate:
        notes.append(
            "The scale has no ends, so intervals rest on standard errors, which are too narrow where most labels are equal. Say its "
            "ends, such as 1-5."
        )
    if overall.open_share and overall.corrected.value is not None:
        notes.append(
            f"{overall.open_share:.1%} of the texts have an answer of which no text is labelled: the interval allows any label there."
        )
    notes += panel.notes
    if labelled.n_averaged:
        notes.append(
            f"{labelled.n_averaged:,} texts have several raters: their label is the mean of the ratings."
        )
    return (*notes, *left_out_lines(panel.left_out))


def _main_notes(found: CorrectedNumbers) -> tuple[str, ...]:
    from core.tables.problems import listed
    from core.tables.reading import shown

    passes = (
        [f"Pass: {shown(found.passes)}. Fail: {listed(found.fails) if found.fails else 'nothing'}."]
        if found.passes is not None
        else []
    )
    return (
        found.notes[0],
        *passes,
        f"Intervals: {100 * found.confidence_level:g} %, over items.",
        *(["Lambda: weight of the judge in PPI++, kept within 0 and 1."] if found.method == "ppi++" else []),
        *found.notes[1:],
    )


def _hidden(found: CorrectedNumbers) -> tuple[str, ...]:
    """Columns that say nothing here."""
    return (
        *(() if found.method == "ppi++" else ("lambda",)),
        *(() if found.n_unscored else ("n_unscored",)),
    )


def _difference_notes(found: CorrectedNumbers) -> tuple[str, ...]:
    from core.results.cells import corrected_note

    partners = max((one.n_without_partner for one in found.differences), default=0)
    return (
        *corrected_note(CORRECTION, len(found.differences), "every two systems"),
        *([f"Up to {partners:,} texts without a partner are left out of a pair."] if partners else ()),
    )


def _answers_of(found: CorrectedNumbers) -> Sequence[AnswerRow] | None:
    return [one for each in found.everyone for one in each.answers] or None


def _methods_of(found: CorrectedNumbers) -> Sequence[MethodsRow] | None:
    """None where the judge's answers decide: no other method holds."""
    if found.ppi.value is None and found.sensitivity.value is None:
        return None
    return [
        MethodsRow(
            *(one.system, one.ppi, one.rogan_gladen, one.labels_only),
            *(one.sensitivity, one.specificity, one.labelled_shift_p),
        )
        for one in found.everyone
    ]


def _figures(found: CorrectedNumbers) -> tuple[AnyFigure, ...]:
    if len(found.everyone) > _MOST_ROWS:
        return ()
    return (
        Intervals(
            table="corrected",
            alt=f"{found.what} by system: the judge alone, labels alone, and corrected, with intervals",
            sides=("judge_only", "labels_only", "corrected"),
            names=("system",),
            axis=Axis(f"{found.what}, with {found.confidence_level:.0%} intervals"),
        ),
    )


ANALYSIS: Analysis[Any, Any] = Analysis(
    name="corrected",
    title="Corrected numbers",
    question="What would people have said of all texts, if their labels of some correct the judge's mean or pass rate?",
    Options=CorrectedOptions,
    Result=CorrectedNumbers,
    takes=("panel",),
    one_judge=True,
    compute=compute,
    verdicts=lambda found: (_verdict(found),),
    sentences=lambda found: found.sentences[1:],
    codes=CODES,
    refuses="Unless there is one judge, and a rating.",
    figures=_figures,
    section="inference#corrected-numbers",
    misleads="If labelled texts were not chosen as the first note assumes, the correction is that of other texts. Raters' own errors stay.",
    example="""
>>> import assay, pandas as pd
>>> frame = pd.DataFrame({"judge": [3, 4, 2, 5] * 50, "human": [2, 4, 1, 4] * 10 + [None] * 160})
>>> found = assay.corrected(frame, judge="judge", human="human")
>>> round(found.json["estimate"], 2), found.json["method"], found.json["n_labelled"]
(2.75, 'by-class', 40)
""",
    tables=(
        Table(
            "corrected",
            NumbersRow,
            lambda found: found.everyone,
            "Corrected numbers",
            notes=_main_notes,
            hidden=_hidden,
        ),
        Table(
            "corrected-answers",
            AnswerRow,
            _answers_of,
            "By the judge's answer",
            "What do people say of the texts to which the judge gave the same answer? Their shares add up to the corrected number.",
            most_printed=_MOST_ROWS,
        ),
        Table(
            "corrected-differences",
            DifferenceRow,
            lambda found: found.differences or None,
            "Differences of systems",
            "First minus second: do systems differ in what people would say?",
            _difference_notes,
        ),
        Table("corrected-methods", MethodsRow, _methods_of, "Other methods", most_printed=0),
    ),
)
