"""What is known about judges, for a person at a terminal."""

from collections.abc import Sequence

from core.analysis.alignment import AlignmentTable
from core.analysis.judge_consistency import Consistency
from core.analysis.judge_costs import CostRow, cost_notes
from core.analysis.judge_reliability import ModelReliability, Reliability
from core.analysis.question_ablation import AblationRow
from core.analysis.reasked import Reasked
from core.cli.aligned import (
    counted,
    dashed,
    intervals_said,
    number,
    print_aligned,
    print_dashes,
    with_interval,
)
from core.cli.options import print_notes
from core.datasets.reading import shown
from core.judges.cross_examination.verdicts import VERDICTS
from core.stats.shares import Share

_VARIANTS = {"paper": "as the paper defines it", "cef-code": "as its published code counts"}

_COSTS = {
    "calls": ("calls", 0),
    "cached": ("cached", 0),
    "tokens in": ("input_tokens", 0),
    "tokens out": ("output_tokens", 0),
    "share in": ("input_share", 3),
    "money": ("money", 4),
    "calls/text": ("calls_per_text", 1),
    "in/text": ("input_tokens_per_text", 1),
    "out/text": ("output_tokens_per_text", 1),
    "money/text": ("money_per_text", 6),
}
"""Column of costs -> its field and decimals."""


def share_with_interval(share: Share) -> str:
    """Such as `0.657 [0.612, 0.699]`; an undefined one has its reason."""
    if share.share is None:
        return f"undefined: {share.reason}"
    return f"{number(share.share)} [{number(share.low)}, {number(share.high)}]"


def print_reliability(found: Reliability) -> None:
    """A table a variant: a line a side and model, then questions without a verdict."""
    print(
        f"{len(found.models)} models, {counted(found.n_items, 'item')}. ADR: how often the others do not confirm a "
        "model's questions; ADS: how often it answers otherwise than most. Both 0 to 1, lower is better."
    )
    print_notes(found.notes)
    for variant, meaning in _VARIANTS.items():
        rows = [row for row in found.rows if row.variant == variant]
        print(f"\n{variant} ({meaning}):")
        header = ["side", "model", "ADR", "rank", "n", "left out", "ADS", "rank", "n", "left out"]
        print_aligned(header, [_reliability_cells(row) for row in rows])
    print()
    both = [("ADR", row.disagreement) for row in found.rows] + [("ADS", row.deviation) for row in found.rows]
    print_dashes((name, one.reason) for name, one in both if one.reason)
    print(intervals_said(found.confidence_level))


def _reliability_cells(row: ModelReliability) -> list[object]:
    cells: list[object] = [row.side, row.model]
    for estimate, rank in ((row.disagreement, row.disagreement_rank), (row.deviation, row.deviation_rank)):
        cells += [dashed(estimate), "-" if rank is None else rank, estimate.n, estimate.n_left_out]
    return cells


def print_ablation(rows: Sequence[AblationRow]) -> None:
    """A line a judge and component; variances in squared percent, as 001 prints them."""
    print("Variance over repeats, in squared percent: of the mean over texts, and of one text's score.")
    print_aligned(
        [
            "judge",
            "questions",
            "component",
            "mean",
            "of the mean",
            "of a text",
            "texts",
            "repeats",
            "left out",
        ],
        [
            [
                row.judge,
                row.n_questions,
                row.component,
                number(row.mean),
                number(row.percent_variance_of_mean, 2) if row.reason is None else f"undefined: {row.reason}",
                "-" if row.reason is not None else number(row.percent_variance_within, 2),
                row.n_texts,
                row.n_repeats,
                row.n_left_out,
            ]
            for row in rows
        ],
    )
    print_notes(dict.fromkeys(f"{shown(row.judge)}: {row.note}" for row in rows if row.note))


def print_consistency(found: Consistency) -> None:
    """A line a component over repeats; of the rubric judge also the two orders."""
    asked = f", in the order {' and '.join(found.orders)}" if found.orders else ""
    print(
        f"{shown(found.judge)}: {counted(found.n_texts, 'text')}, {counted(found.n_repeats, 'repeat')}{asked}."
    )
    for sentence in found.constants:
        print(sentence)
    print_aligned(
        ["over repeats", "all equal", "mean SD", "n", "left out"],
        [
            [
                one.component,
                with_interval(one.agreeing),
                with_interval(one.spread),
                one.agreeing.n,
                one.agreeing.n_left_out,
            ]
            for one in found.repeats
        ],
    )
    reasons = {reason: count for one in found.repeats for reason, count in one.left_out.items()}
    if (order := found.order) is not None:
        print_aligned(
            ["response first against reference first", "estimate", "n", "left out"],
            [
                [name, with_interval(one), one.n, one.n_left_out]
                for name, one in (
                    ("texts with equal verdicts", order.equal),
                    ("mean difference", order.difference),
                    ("mean absolute difference", order.distance),
                )
            ],
        )
        reasons |= order.left_out
    for reason, count in reasons.items():
        print(f"Left out: up to {count:,}: {shown(reason)}")
    print(intervals_said(found.confidence_level))
    print_notes(found.notes)


def print_reasked(found: Reasked) -> None:
    """The confusion matrix of each side: expected answers in rows, second answers in columns."""
    print(f"{shown(found.judge)}: expected answers (rows) against those to the same question asked again.")
    header = ["side", "expected", *VERDICTS, "no answer", "unchanged"]
    rows = [
        [
            side,
            row.expected,
            *(row.counts[verdict] for verdict in VERDICTS),
            sum(row.without.values()),
            "-" if row.unchanged.share is None else share_with_interval(row.unchanged),
        ]
        for side, own in found.by_side.items()
        for row in own
    ]
    print_aligned(header, rows)
    reasons = {reason: None for own in found.by_side.values() for row in own for reason in row.without}
    if reasons:
        print(f"No answer: {', '.join(map(shown, reasons))}.")
    undefined = {row.unchanged.reason: None for own in found.by_side.values() for row in own}
    for reason in filter(None, undefined):
        print(f"Where - stands: {reason}.")
    if found.n_not_asked:
        print(f"{counted(found.n_not_asked, 'question')} not asked again.")


def print_alignment(table: AlignmentTable) -> None:
    """Errors that a mismatching question points to, by category, by severity, by meaning, overall."""
    print(f"Marked errors in {counted(table.n_texts, 'text')} that a mismatching question points to:")
    groups = (
        ("category", table.by_category),
        ("severity", table.by_severity),
        ("meaning", table.by_meaning),
        ("", (table.overall,)),
    )
    print_aligned(
        ["by", "errors", "caught", "of", "share", "no verdict"],
        [
            [name, row.name, row.caught.count, row.total, share_with_interval(row.caught), row.n_left_out]
            for name, rows in groups
            for row in rows
        ],
    )
    for reason, count in table.reasons:
        print(f"No verdict: {shown(reason)}: {count:,}")


def print_costs(rows: Sequence[CostRow]) -> None:
    """A line a judge and step; the last line of each judge is all of its steps."""
    print_aligned(
        ["judge", "step", *_COSTS],
        [
            [
                row.judge,
                row.step,
                *(_with_thousands(getattr(row, field), places) for field, places in _COSTS.values()),
            ]
            for row in rows
        ],
    )
    reasons: dict[str, dict[str, None]] = {}
    for row in rows:
        for field, why in row.reasons:
            reasons.setdefault(field.replace("_", " "), {})[why] = None
    for field, whys in reasons.items():
        print(f"Where - stands, {field} is not known: {'; '.join(whys)}.")
    print_notes(f"{note}." for note in cost_notes(rows))


def _with_thousands(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:,.{places}f}"
