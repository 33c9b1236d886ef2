"""How many questions does a cross-examination need? Variances of its scores over repeats (CEF, Tables 2 and 11)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from core.schema.analysis import Analysis, Table, Tell
from core.schema.rows import WHOLE, column, entry, row
from core.schema.settings import Settings

if TYPE_CHECKING:
    from core.schema.scores import JudgeOutput

ONE_EXAMINATION = "only one examination per text: no variance"
NO_TEXTS = "no text has a score in every repeat"
_PERCENT_SQUARED = 100.0**2


class AblationOptions(Settings):
    """None: variances are computed in one way, without intervals."""


@row
class AblationRow:
    """Variances of one component of a judge's scores over its repeats (n - 1 in the denominator)."""

    judge: str = column("the judge", title="Judge", names_row=True)
    n_questions: int = column("questions requested from each of the two texts", title="N")
    component: str = column(
        "coverage, conformity, consistency, consistency-code, conciseness or overall",
        title="Score",
        names_row=True,
    )
    mean: float | None = column(
        "mean over texts and repeats, from 0 to 1 (conciseness may be negative)",
        title="Mean",
        places=4,
        percent=True,
    )
    variance_of_mean: float | None = column(
        "variance over repeats of the mean over texts: how much the result of a whole run depends on chance. It decreases with "
        "the number of texts",
        shown=False,
    )
    variance_within: float | None = column(
        "variance over repeats of a text's score, averaged over texts: how much one score depends on chance",
        shown=False,
    )
    percent_variance_of_mean: float | None = column(
        "variance of the mean in squared percent, as in CEF's Tables 2 and 11", title="Variance of the mean"
    )
    percent_variance_within: float | None = column(
        "variance within texts in squared percent", title="Variance within texts"
    )
    n_repeats: int = column("repeats", title="Repeats")
    n_texts: int = column("texts with a score in every repeat", title="Texts")
    n_left_out: int = column(
        "texts without a score in some repeat, left out because means must cover the same texts",
        title="Left out",
    )
    reason: str | None = column("why there are no variances", title="Reason if undefined")
    note: str | None = entry("what repeats at temperature 0 show")


@row
class Ablation:
    """Variances by number of questions."""

    rows: tuple[AblationRow, ...] = entry(
        "one entry for each judge and component, fewest questions first", key=WHOLE, rows=AblationRow
    )


def compute(_options: AblationOptions, outputs: "Sequence[JudgeOutput]", *, tell: Tell) -> Ablation:
    """Compute variances for outputs of one judge with different numbers of questions, fewest questions first.

    CEF does not state what its variances are computed over, so both readings are given. Outputs with one repeat have none.
    Raises InputError for outputs of other judges, and for an output given twice.
    """
    from core.errors import InputError
    from core.judges import cross_examination
    from core.tables.reading import shown

    problems = [
        f"{shown(one.name)} is a {one.kind} judge"
        if one.kind != cross_examination.KIND.name
        else f"{shown(one.name)} does not state the number of questions requested"
        for one in outputs
        if one.kind != cross_examination.KIND.name or not isinstance(one.settings.get("n_questions"), int)
    ]
    if problems:
        raise InputError(
            "The number of questions can only be analysed for cross-examinations that were run here.",
            problems,
        )
    if twice := [shown(one.name) for n, one in enumerate(outputs) if one in outputs[:n]]:
        raise InputError(
            f"{', '.join(dict.fromkeys(twice))}: the same run is given twice. Name each run once."
        )
    tell("comparing the repeats")
    return Ablation(tuple(row for one in sorted(outputs, key=_n_questions) for row in _rows_of(one)))


def _n_questions(output: "JudgeOutput") -> int:
    number = output.settings["n_questions"]
    assert isinstance(number, int)
    return number


def _rows_of(output: "JudgeOutput") -> Iterator[AblationRow]:
    import numpy as np

    from core.judges.cross_examination import CEF_COMPONENTS
    from core.results.judges.consistency import temperature_note, values_by_repeat

    values = values_by_repeat(output.texts, CEF_COMPONENTS)
    note = temperature_note(output, values, axis=1)
    n_repeats = values.shape[1]
    for place, component in enumerate(CEF_COMPONENTS):
        own = values[:, :, place]
        whole = own[~np.isnan(own).any(axis=1) & (n_repeats > 0)]
        reason = ONE_EXAMINATION if n_repeats == 1 else NO_TEXTS if not len(whole) else None
        of_mean = None if reason else float(whole.mean(axis=0).var(ddof=1))
        within = None if reason else float(whole.var(axis=1, ddof=1).mean())
        yield AblationRow(
            judge=output.name,
            n_questions=_n_questions(output),
            component=component,
            mean=float(whole.mean()) if whole.size else None,
            variance_of_mean=of_mean,
            variance_within=within,
            percent_variance_of_mean=None if of_mean is None else of_mean * _PERCENT_SQUARED,
            percent_variance_within=None if within is None else within * _PERCENT_SQUARED,
            n_repeats=n_repeats,
            n_texts=len(whole),
            n_left_out=len(output.texts) - len(whole),
            reason=reason,
            note=note,
        )


def _notes(found: Ablation) -> tuple[str, ...]:
    return (
        "Variances over repeats, in squared percent: of the mean over texts, and of a text's score (averaged over texts).",
        *dict.fromkeys(f"{one.judge}: {one.note}" for one in found.rows if one.note),
    )


def _shaped(found: Ablation) -> dict[str, dict[str, Any]]:
    return {"reason": {"shown": any(one.reason for one in found.rows)}}


ANALYSIS = Analysis(
    name="ablation",
    title="How many questions are enough?",
    question="How much do the scores of a cross-examination vary over repeats, by the number of its questions?",
    Options=AblationOptions,
    Result=Ablation,
    takes=("judges",),
    compute=compute,
    verdicts=lambda _: (),
    refuses="For judges that ask no questions.",
    section="judges#number-of-questions",
    misleads="Repeats that are not independent requests, at temperature 0 or with a server that ignores seeds, have no variance. With "
    "10 repeats, the 95 % interval of a variance extends from half to 3.3 times the estimate.",
    example="""
>>> import assay
>>> found = assay.ablation(["run:3", "run:4"])  # doctest: +SKIP
""",
    tables=(
        Table(
            "judge-ablation",
            AblationRow,
            lambda found: found.rows,
            "By number of questions",
            notes=_notes,
            shaped=_shaped,
        ),
    ),
)
