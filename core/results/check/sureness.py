"""How sure a judge is of its verdicts: from several judges, repeats, the scores themselves, or a column beside them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.joining.choices import dimension_said
from core.joining.tables import places_of
from core.results.judges.consistency import answers_again
from core.schema.panel import Panel
from core.schema.scores import JudgeOutput
from core.stats.resampling import Floats
from core.tables.problems import listed
from core.tables.reading import shown
from core.tables.roles import spaced

KNOWN_BY_NAME = frozenset({"confidence", "conf", "certainty", "probability", "prob"})
"""Last words of columns that hold a judge's confidence."""


@dataclass(frozen=True)
class Sureness:
    """A judge's verdict on each text of a panel, and how sure it is."""

    judge: str
    verdicts: Floats
    """Shape (n,): values of the raters' scale; NaN without a verdict."""
    confidence: Floats
    """Shape (n,), larger is surer; NaN: unknown, so the text goes to people."""
    meaning: str
    """What the confidence is."""


@dataclass(frozen=True)
class SurePanel:
    """Raters beside a judge whose confidence is known."""

    panel: Panel
    sure: Sureness
    returned: NDArray[np.bool_] | None = None
    """Shape (n,): texts whose labels came back after the threshold was chosen; None: see `escalation.escalate`."""


Way = Literal["judges", "margin", "repeats", "column", "cut"]
JUDGES: Way = "judges"
MARGIN: Way = "margin"
REPEATS: Way = "repeats"
COLUMN: Way = "column"
CUT: Way = "cut"
WAYS: tuple[Way, ...] = (JUDGES, MARGIN, REPEATS, COLUMN, CUT)
"""Ways to know how sure a judge is, in the order in which one is taken that nobody named."""


def ways_had(has: Mapping[Way, Callable[[], object]]) -> Iterator[Way]:
    """The ways that the inputs have, the default first.

    has: whether the inputs have a way, for each that can be offered. It is called only as far as the caller reads, because an answer
    may need a run or a file.
    """
    return (way for way in WAYS if way in has and has[way]())


def sureness(
    panel: Panel,
    named: str | None,
    *,
    cut: float | None = None,
    margins: Callable[[], Floats] | None = None,
    answers: Callable[[], Floats] | None = None,
    numbers: Callable[[str], Floats] | None = None,
) -> Sureness:
    """The verdicts and the confidence of the named way.

    named: a way, or the column with the confidence; ignored with a cut. margins, answers, numbers (of a column): how to find what
    a way needs besides the panel, see `sure_by_margin`, `sure_of_repeats` and `sure_by_numbers`; called only for that way, because
    each may read a run or a file. Raises InputError, also for a way that the inputs do not have.
    """
    if cut is not None:
        return sure_by_cut(panel, cut)
    if named == JUDGES:
        return sure_of_judges(panel)
    if named == MARGIN and margins is not None:
        return sure_by_margin(panel, margins())
    if named == REPEATS and answers is not None:
        return sure_of_repeats(panel, answers())
    if named is not None and numbers is not None:
        return sure_by_numbers(panel, numbers(named), named)
    raise InputError(f"{shown(panel.name)}: no confidence", [f"confidence: there is no {named}"])


def majority(answers: Floats) -> tuple[Floats, Floats]:
    """The most frequent answer to each text, and its share of all answers asked for.

    answers: shape (n, answers), NaN for a missing one, which counts as another answer. Of answers given equally often the one
    that was given first. Both shape (n,), NaN without an answer.
    """
    known = ~np.isnan(answers)
    same = (answers[:, :, None] == answers[:, None, :]).sum(axis=2)
    best = same.argmax(axis=1) if answers.shape[1] else np.zeros(len(answers), dtype=np.intp)
    if not answers.shape[1]:
        return np.full(len(answers), np.nan), np.full(len(answers), np.nan)
    rows = np.arange(len(answers))
    found = np.where(known.any(axis=1), answers[rows, best], np.nan)
    shares = np.where(known.any(axis=1), same[rows, best] / answers.shape[1], np.nan)
    return found, shares


def sure_of_judges(panel: Panel) -> Sureness:
    """The majority of the panel's judges, as sure as the share of judges who agree with it.

    Judges may be several models, prompts or simulated annotators, or repeats of one in columns of their own. Raises InputError
    for fewer than two.
    """
    if len(panel.judges) < 2:
        raise InputError(
            f"{shown(panel.name)}: no confidence",
            [f"judge: a share of judges needs at least two, found {listed(panel.judges) or 'none'}"],
        )
    verdicts, shares = majority(panel.scores)
    name = f"majority of {len(panel.judges)} judges"
    return Sureness(
        name, verdicts, shares, f"share of {len(panel.judges)} judges with the majority's verdict"
    )


def sure_of_repeats(panel: Panel, answers: Floats) -> Sureness:
    """The judge's most frequent answer, as sure as its share. answers: shape (n, answers), as in `majority`.

    Raises InputError if each text has one answer.
    """
    _one_judge(panel)
    if answers.shape[1] < 2:
        raise InputError(
            f"{shown(panel.name)}: no confidence",
            [f"judge: {shown(panel.judges[0])} answered once for each text; run it with repeats"],
        )
    verdicts, shares = majority(answers)
    return Sureness(panel.judges[0], verdicts, shares, f"share of {answers.shape[1]} equal answers")


def sure_by_numbers(panel: Panel, confidence: Floats, column: str) -> Sureness:
    """The only judge's scores, with a confidence that stands beside them. confidence: shape (n,)."""
    _one_judge(panel)
    return Sureness(panel.judges[0], panel.scores[:, 0], confidence, f"column {column}")


def sure_by_margin(panel: Panel, margins: Floats) -> Sureness:
    """The only judge's preferences in pairs, as sure as they are far from another vote. margins: shape (n,), 0 or more.

    Of a judge that compares pairs, this is how far its two scores are apart. Its score is the share of comparisons that it won,
    so its margin rises with the share of equal verdicts over orders and repeats.
    """
    _one_judge(panel)
    return Sureness(
        panel.judges[0],
        panel.scores[:, 0],
        margins,
        "distance of the pair's margin from where the vote changes",
    )


def sure_by_cut(panel: Panel, cut: float) -> Sureness:
    """Verdicts from the only judge's scores: the larger of the raters' two classes from `cut` on, as sure as the distance from it.

    The cut must be fixed before labels are seen. Raises InputError unless raters use two classes.
    """
    _one_judge(panel)
    values = sorted(panel.scale.words) or np.unique(panel.ratings[~np.isnan(panel.ratings)]).tolist()
    if len(values) != 2:
        raise InputError(
            f"{shown(panel.name)}: no verdicts",
            [f"cut: a cut needs raters with two classes, found {len(values)}"],
        )
    scores = panel.scores[:, 0]
    verdicts = np.where(np.isnan(scores), np.nan, np.where(scores >= cut, values[1], values[0]))
    return Sureness(panel.judges[0], verdicts, np.abs(scores - cut), f"distance from {cut:g}")


def _one_judge(panel: Panel) -> None:
    if len(panel.judges) != 1:
        found = f"found {len(panel.judges)}: {listed(panel.judges)}" if panel.judges else "found none"
        raise InputError(
            f"{shown(panel.name)}: no confidence", [f"judge: {found}; name one column, rater or metric"]
        )


def confidence_column(columns: Sequence[str]) -> str | None:
    """The only column whose name ends like a confidence; None if there is none, or several."""
    found = confidence_columns(columns)
    return found[0] if len(found) == 1 else None


def confidence_columns(columns: Sequence[str]) -> list[str]:
    """The columns whose names end like a confidence."""
    return [name for name in columns if spaced(name).rsplit(" ", 1)[-1] in KNOWN_BY_NAME]


def answers_of(output: JudgeOutput, panel: Panel, metric: str) -> Floats:
    """Every answer that the run of the panel's judge gave to each text, shape (n, answers); NaN for a missing one.

    metric: the judge's metric in the run, which names the dimension where it has several. Raises InputError for a kind of judge
    without repeats, and if the metric names no dimension.
    """
    values, components = answers_again(output)
    if len(components) > 1:
        _, component = dimension_said(metric, components) or ("", None)
        if component is None:
            raise InputError(
                f"{shown(output.name)}: no confidence",
                [f"confidence: {shown(metric)} joins {listed(list(components))}; choose one dimension"],
            )
        values = values[:, :, [components.index(component)]]
    found = np.full((len(panel.rows), values.shape[1]), np.nan)
    for at, place in enumerate(places_of(panel.rows, [text.row for text in output.texts])):
        if place is not None:
            found[at] = values[place, :, 0]
    return found
