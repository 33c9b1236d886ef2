"""How many questions does a cross-examination need? 001, section 4.5: how much scores vary over repeats, by N."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.cef_repeats import values_by_repeat
from core.analysis.judge_consistency import temperature_note
from core.datasets.reading import shown
from core.errors import InputError
from core.judges.cross_examination import judge as cross_examination
from core.judges.cross_examination.scores import CEF_COMPONENTS
from core.schema.judging import JudgeOutput
from core.stats.resampling import Floats

ONE_REPEAT = "one examination a text: there is nothing to vary"
NO_TEXTS = "no text has a score in every repeat"
PERCENT_SQUARED = 100.0**2


@dataclass(frozen=True)
class AblationRow:
    """One component of one judge's scores over its repeats. Variances divide by one less than the repeats."""

    judge: str
    """Its name."""
    n_questions: int
    """Asked for from each of the two texts."""
    component: str
    """One of CEF_COMPONENTS."""
    mean: float | None
    """Over texts and repeats, from 0 to 1 (conciseness may be negative)."""
    variance_of_mean: float | None
    """Of the mean over texts, from repeat to repeat: how far the result of a whole run depends on chance. Falls with
    the number of texts."""
    variance_within: float | None
    """Of one text's score from repeat to repeat, averaged over texts: how far a text's score depends on chance."""
    n_texts: int
    """Texts with a score in every repeat."""
    n_repeats: int
    n_left_out: int
    """Texts that lack a score in a repeat: means over other texts could not be compared."""
    reason: str | None
    """Why there are no variances."""
    note: str | None = None
    """What repeats at temperature 0 show."""

    @property
    def percent_variance_of_mean(self) -> float | None:
        """In squared percent, as 001's Tables 2 and 11 print variances."""
        return None if self.variance_of_mean is None else self.variance_of_mean * PERCENT_SQUARED

    @property
    def percent_variance_within(self) -> float | None:
        """In squared percent."""
        return None if self.variance_within is None else self.variance_within * PERCENT_SQUARED


def ablation(outputs: Sequence[JudgeOutput]) -> tuple[AblationRow, ...]:
    """A row for each output and component, fewest questions first: outputs of one judge that differ in N.

    001 does not say over what its variances are; both readings are here. Outputs with one repeat have none. Misleads
    where the repeats are not different requests (temperature 0 with a server that ignores seeds: every variance is 0),
    and with few repeats: of 10, the 95 % interval of a variance reaches from half to 3.3 times of what was found.
    Raises InputError for outputs that are no cross-examination, and for one that is given twice.
    """
    problems = [
        f"{shown(one.name)} is a judge of the kind {one.kind}"
        if one.kind != cross_examination.KIND.name
        else f"{shown(one.name)} does not say how many questions were asked for"
        for one in outputs
        if one.kind != cross_examination.KIND.name or not isinstance(one.settings.get("n_questions"), int)
    ]
    if problems:
        raise InputError(
            "How much scores vary with the number of questions can be seen for cross-examinations alone, run here.",
            problems,
        )
    if twice := [shown(one.name) for n, one in enumerate(outputs) if one in outputs[:n]]:
        raise InputError(
            f"{', '.join(dict.fromkeys(twice))}: two of these hold the same answers, so that one shows nothing beside the "
            "other. Name each run once."
        )
    return tuple(row for one in sorted(outputs, key=_n_questions) for row in _rows(one))


def _n_questions(output: JudgeOutput) -> int:
    number = output.settings["n_questions"]
    assert isinstance(number, int)
    return number


def _rows(output: JudgeOutput) -> list[AblationRow]:
    values = values_by_repeat(output.texts, CEF_COMPONENTS)
    note = temperature_note(output, values, axis=1)
    return [
        _row(output, component, values[:, :, place], note) for place, component in enumerate(CEF_COMPONENTS)
    ]


def _row(output: JudgeOutput, component: str, values: Floats, note: str | None) -> AblationRow:
    """values: shape (texts, repeats)."""
    n_repeats = values.shape[1]
    whole = values[~np.isnan(values).any(axis=1) & (n_repeats > 0)]
    reason = ONE_REPEAT if n_repeats == 1 else NO_TEXTS if not len(whole) else None
    return AblationRow(
        judge=output.name,
        n_questions=_n_questions(output),
        component=component,
        mean=float(whole.mean()) if whole.size else None,
        variance_of_mean=None if reason else float(whole.mean(axis=0).var(ddof=1)),
        variance_within=None if reason else float(whole.var(axis=1, ddof=1).mean()),
        n_texts=len(whole),
        n_repeats=n_repeats,
        n_left_out=len(output.texts) - len(whole),
        reason=reason,
        note=note,
    )
