"""What judges copy, learn from examples and share with raters, for a person at a terminal."""

from collections.abc import Sequence

from core.analysis.error_copying import Copying, Disjoint
from core.analysis.example_curve import ExampleCurve
from core.analysis.judged_spans import Locating
from core.analysis.rater_matrix import RaterMatrix, mean_f1
from core.cli.aligned import counted, dashed, number, or_dash, print_aligned, print_left_out
from core.cli.options import print_notes
from core.cli.spans_printed import RULE
from core.datasets.reading import shown


def print_copying(found: Sequence[Copying], alone: Sequence[Disjoint], located: Sequence[Locating]) -> None:
    """A line a judge; of two judges also what each marks alone."""
    header = [
        "judge",
        "texts",
        "errors",
        "people's own",
        "of its examples",
        "or part of one",
        "of the same source",
    ]
    print_aligned(
        header,
        [
            [
                one.judge,
                f"{one.n_texts:,}",
                f"{one.n_errors:,}",
                *map(dashed, (one.of_people, one.of_examples, one.of_examples_or_parts, one.of_same_source)),
            ]
            for one in found
        ],
    )
    print(
        "Shares of errors whose words are the same, character by character; or part of one: inside it or around it."
    )
    if alone:
        print()
        print_aligned(
            ["judge", "errors", "alone", "of these, of the same source", "share"],
            [
                [
                    one.judge,
                    f"{one.n_errors:,}",
                    f"{one.n_alone:,}",
                    f"{one.n_alone_of_same_source:,}",
                    dashed(one.share),
                ]
                for one in alone
            ],
        )
        print("alone: errors whose words the other judge does not name in the same text.")
    for one, where in zip(found, located, strict=True):
        said = ", ".join(f"{how} {n:,}" for how, n in where.located.items())
        print(f"{shown(one.judge)}: quotes found in the text: {said or 'none were named'}.")
        if one.n_without_words:
            print(
                f"{shown(one.judge)}: {counted(one.n_without_words, 'error')} without words, not in the shares."
            )
        print_left_out(one.left_out.items(), one.judge)


def print_curve(found: ExampleCurve) -> None:
    """A line a run, fewest examples first."""
    print(
        f"F1 against {shown(found.gold)}, on {counted(found.n_segments, 'segment')} of "
        f"{counted(found.n_items, 'item')} that all runs marked."
    )
    print_aligned(
        ["run", "examples", "asked for", "shown of a text", "F1", "draws", "mean F1", "SD"],
        [
            [
                point.name,
                point.variant or "-",
                "all" if point.n_examples is None else point.n_examples,
                number(point.mean_shown, 2),
                dashed(point.judge.overall.f1),
                point.judge.n_draws,
                number(point.judge.f1.mean),
                or_dash(point.judge.f1.sd, 4),
            ]
            for point in found.points
        ],
    )
    print(RULE)
    print("Intervals: percentile bootstrap over items; SD: over draws of the examples, ddof 1.")
    print_notes(found.notes)


def print_matrix(found: RaterMatrix) -> None:
    """F1 of every row against every column, then why cells are empty."""
    print("F1: rows predict, columns are the gold; in brackets the texts that both marked.")
    print_aligned(
        ["", *found.columns],
        [
            [
                name,
                *(
                    "-"
                    if cell.agreement is None
                    else f"{or_dash(cell.agreement.f1.estimate)} ({cell.n_segments:,})"
                    for cell in line
                ),
            ]
            for name, line in zip(found.rows, found.cells, strict=True)
        ],
    )
    for said, same in (("with the row's own rater", True), ("with other raters", False)):
        if (mean := mean_f1(found, same=same)) is not None:
            print(f"Mean of cells {said}: {number(mean)}")
    for why in dict.fromkeys(cell.reason for line in found.cells for cell in line if cell.reason):
        print(f"Where - stands: {why}.")
    print(RULE)
    print_notes(found.notes)
