"""`judge reliability|ablation|consistency|reasked|compare|costs`: what the judges' own answers tell, for a person at a terminal."""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.cli.shared.asking import add_settings, settings_given
from core.cli.shared.options import (
    Commands,
    add_pair_option,
    add_reading_verb,
    existing_store,
    json_text,
    name_list,
    print_notes,
    print_result,
    run_number,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import (
    JUDGE_NAMES,
    add_interval_options,
    answers_given,
    costs_given,
    intervals,
    judges_given,
    scores_given,
)
from core.cli.shared.terminal import (
    counted,
    dashed,
    intervals_said,
    number,
    of_items,
    plain,
    print_aligned,
    print_dashes,
    print_end,
    with_interval,
)
from core.errors import InputError
from core.judges.kind import JudgeKind
from core.judges.questions import VERDICTS
from core.results.joining import text_of
from core.results.judges.agreement import Agreement, Disagreement, agreement, same_components
from core.results.judges.alignment import AlignmentTable
from core.results.judges.consistency import (
    AblationRow,
    Consistency,
    Reasked,
    ablation,
    confusion,
    consistency,
)
from core.results.judges.costs import CostRow, cost_notes, costs_side_by_side
from core.results.judges.reliability import ModelReliability, Reliability, reliability
from core.results.merging import SAME_NAME
from core.runs.asked import Running
from core.runs.judging import judged_among
from core.runs.path import at_hand
from core.runs.records import read_judge_folder
from core.schema.runs import RUN_FILE
from core.schema.scores import METHODS, ScoredRow, ScoreTable
from core.schema.settings import fields_of
from core.stats.resampling import Estimate, Share
from core.tables.reading import shown

Named = tuple[ScoredRow, str]


def texts_of(given: Sequence[str], database: str | None) -> list[Named]:
    """Texts with their rows, of judges' folders and of runs.

    Empty where only tables of scores are given, which hold no texts.
    """
    return [named for one in given for named in _texts(one, database)]


def _texts(given: str, database: str | None) -> Iterable[Named]:
    if (number := run_number(given)) is not None:
        return _of_run(number, database)
    folder = Path(given)
    if not (folder / RUN_FILE).is_file():
        return ()
    try:
        return [(one.row, one.text) for one in read_judge_folder(folder).texts]
    except InputError:  # what a metric wrote, which keeps no texts
        return ()


def _of_run(number: int, database: str | None) -> list[Named]:
    with existing_store(database) as store:
        run = at_hand(store, number)
        if isinstance(run.kind, JudgeKind):
            outputs = tuple(text.output for text in judged_among(run))
        else:
            outputs = run.contents.outputs if run.kind.work == "scores" else ()
    return [
        (ScoredRow(one.item_id, one.system, one.level, one.language, one.labels), one.text) for one in outputs
    ]


PER_ITEM = "Kendall per item"


def print_agreement(found: Sequence[Agreement], n_texts: int, texts: Sequence[tuple[ScoredRow, str]]) -> None:
    """Correlations and differences, what was left out; of a single pair also the texts that are furthest apart.

    A single pair is a column of its own, several are a line each. texts: what is known of the texts themselves.
    """
    if len(found) == 1:
        (one,) = found
        print(f"{shown(one.metric_a)} and {shown(one.metric_b)}: {counted(one.n, 'text')} scored by both.")
        print_aligned(["agreement", "estimate"], [[name, _cell(name, of)] for name, of in _estimates(one)])
        _print_apart(one, n_texts, texts)
    else:
        header = ["first", "second", "n", *(name for name, _ in _estimates(found[0]))]
        cells = [
            [one.metric_a, one.metric_b, one.n, *(_cell(name, of) for name, of in _estimates(one))]
            for one in found
        ]
        print_aligned(header, cells)
        print("--metrics NAME_A,NAME_B shows the texts on which two of them part.")
    scales = ", ".join(dict.fromkeys(one.scale for one in found))
    print(f"Differences: second minus first ({scales}).")
    print_end(
        (named for one in found for named in _estimates(one)),
        left_out=(lost for one in found for lost in one.left_out.items()),
        intervals=intervals_said(found[0].mean_difference.confidence_level),
        notes=(note for one in found for note in one.notes),
    )


def _estimates(one: Agreement) -> list[tuple[str, Estimate]]:
    return [
        *((method.capitalize(), one.pooled[method]) for method in METHODS),
        (PER_ITEM, one.per_item),
        ("Pearson per system", one.per_system["pearson"]),
        ("mean difference", one.mean_difference),
        ("SD of differences", one.sd_difference),
    ]


def _cell(name: str, estimate: Estimate) -> str:
    return of_items(estimate) if name == PER_ITEM and estimate.estimate is not None else dashed(estimate)


def _print_apart(one: Agreement, n_texts: int, texts: Sequence[tuple[ScoredRow, str]]) -> None:
    apart = [text for text in one.disagreements[:n_texts] if text.difference]
    if not apart:
        return
    beginnings = [text_of(text.row, texts) for text in apart]
    known = any(beginning is not None for beginning in beginnings)
    print(
        f"\nFurthest apart, by percentile among these texts (A: {shown(one.metric_a)}, B: {shown(one.metric_b)}):"
    )
    header = ["item", "system", "level", "A", "B", "percentile A", "percentile B", "B - A"]
    print_aligned(
        [*header, *(["text"] if known else [])],
        [
            [*_apart_cells(text), *([_beginning(beginning or "-")] if known else [])]
            for text, beginning in zip(apart, beginnings, strict=True)
        ],
    )


def _apart_cells(text: Disagreement) -> list[object]:
    row = text.row
    return [
        row.item_id,
        row.system or "-",
        row.level or "-",
        number(text.score_a),
        number(text.score_b),
        number(text.percentile_a, 2),
        number(text.percentile_b, 2),
        number(text.difference, 2),
    ]


def _beginning(text: str) -> str:
    """In one line, as long as a name may be."""
    return shown(" ".join(text.split()))


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


_N_RESAMPLES = 10_000
_N_TEXTS = 10
_PRICES = {"input_price", "output_price"}
_COUNTED = ("calls", "input_tokens", "output_tokens", "money")
"""What a cost is told of for one item and one text."""


def add_looks(verbs: Commands) -> None:
    """Register the verbs that ask no model."""
    command = add_reading_verb(
        verbs,
        "reliability",
        "how often models confirm each other's questions and answers: ADR and ADS",
        _reliability,
    )
    command.add_argument(
        "answers", nargs="+", metavar=JUDGE_NAMES, help="what `judge answers` wrote, one a model"
    )
    add_interval_options(command, _N_RESAMPLES)
    command = add_reading_verb(
        verbs, "ablation", "how much cross-examinations vary over repeats, by number of questions", _ablation
    )
    command.add_argument("judges", nargs="+", metavar=JUDGE_NAMES, help="cross-examinations with --repeats")
    command = add_reading_verb(
        verbs, "consistency", "does a judge say the same again, and in the other order?", _consistency
    )
    command.add_argument("judge", metavar=JUDGE_NAMES, help="a judge with --repeats or --order both")
    add_interval_options(command, _N_RESAMPLES)
    command = add_reading_verb(
        verbs, "reasked", "expected answers against those to the same question asked again", _reasked
    )
    command.add_argument("judge", metavar=JUDGE_NAMES, help="a cross-examination with --reask")
    command.add_argument("--confidence", type=float, default=0.95, help="of intervals (default %(default)s)")
    _add_compare(verbs)
    command = add_reading_verb(
        verbs, "costs", "judges side by side: calls, tokens and money by step and text", _costs
    )
    command.add_argument("judges", nargs="+", metavar=JUDGE_NAMES, help="what judges wrote")
    add_settings(command, Running, without=fields_of(Running).keys() - _PRICES)


def _add_compare(verbs: Commands) -> None:
    command = add_reading_verb(
        verbs, "compare", "two judges on the same texts: agreement, and where they part", _compare
    )
    command.add_argument("first", metavar="A", help=f"{JUDGE_NAMES}, or a table of scores")
    command.add_argument("second", metavar="B", help="the other one")
    command.add_argument(
        "--metrics",
        metavar="NAME_A,NAME_B",
        help="a column of each (default: those that say the same, such as both coverages, or an only one with all)",
    )
    command.add_argument(
        "--texts",
        type=int,
        default=_N_TEXTS,
        metavar="N",
        help="texts that are shown, furthest apart first (%(default)s)",
    )
    add_pair_option(command)
    add_interval_options(command, _N_RESAMPLES)


def _reliability(options: argparse.Namespace) -> None:
    made = intervals(options)
    with telling("reading the answers") as tell:
        sets = answers_given(options.answers, options.db)
        tell("comparing the answers")
        found = reliability(sets, **made)
    print_result(options, plain(found), print_reliability, found)


def _ablation(options: argparse.Namespace) -> None:
    rows = ablation(judges_given(options.judges, options.db))
    extra = ("percent_variance_of_mean", "percent_variance_within")
    print_result(options, [_with(row, extra) for row in rows], print_ablation, rows)


def _consistency(options: argparse.Namespace) -> None:
    made = intervals(options)
    (output,) = judges_given([options.judge], options.db)
    found = consistency(output, **made)
    if why := found.compares_nothing:
        raise InputError(
            f"{shown(output.name)} cannot be compared with itself: {why}. Judge with --repeats, or a rubric judge with "
            "--order both."
        )
    print_result(options, plain(found), print_consistency, found)


def _reasked(options: argparse.Namespace) -> None:
    if not 0 < options.confidence < 1:
        raise InputError(f"--confidence: {options.confidence} does not lie between 0 and 1.")
    (output,) = judges_given([options.judge], options.db)
    found = confusion(output, confidence_level=options.confidence)
    print_result(options, plain(found), print_reasked, found)


def _compare(options: argparse.Namespace) -> None:
    wrong = [f"--texts: {options.texts} is negative; 0 shows none"] if options.texts < 0 else []
    made = intervals(options, wrong)
    with telling("reading the scores") as tell:
        first, second = scores_given([options.first, options.second], options)
        found = []
        for a, b in _pairs(first, second, name_list(options.metrics)):
            tell(f"comparing {a} and {b}")
            found.append(agreement(first, a, second, b, **made))
    if options.json:
        print(json_text([_agreement_json(one, options.texts) for one in found]))
    else:
        alone = len(found) == 1 and options.texts
        print_agreement(
            found, options.texts, texts_of([options.first, options.second], options.db) if alone else ()
        )


def _pairs(first: ScoreTable, second: ScoreTable, asked: list[str] | None) -> list[tuple[str, str]]:
    """Which column of the first goes with which of the second. Raises InputError where nothing tells."""
    names = [[metric.name for metric in table.metrics] for table in (first, second)]
    if asked is not None:
        if len(asked) != 2:
            raise InputError(
                "--metrics: name a column of each with a comma between them, such as rubric-a,rubric-b."
            )
        return [(asked[0], _without_number(asked[1], names[1]))]
    if pairs := same_components(first, second):
        return list(pairs)
    if 1 in (len(names[0]), len(names[1])):  # one verdict against each of the other's scores
        return [(a, b) for a in names[0] for b in names[1]]
    if same := [(name, name) for name in names[0] if name in names[1]]:
        return same
    raise InputError(
        "Nothing tells which scores are to be compared: name a column of each with --metrics",
        [
            f"{shown(table.file_name)} has {', '.join(map(shown, own))}"
            for table, own in zip((first, second), names, strict=True)
        ],
    )


def _without_number(name: str, names: Sequence[str]) -> str:
    """A column of the second table under its own name: where both have one name it is printed with `#2`."""
    own = name.removesuffix(f"{SAME_NAME}2")
    return own if name not in names and own in names else name


def _agreement_json(one: Agreement, n_texts: int) -> Any:
    """Without the texts that were not asked for; each with the difference of its percentiles."""
    apart = [_with(text, ("difference",)) for text in one.disagreements[:n_texts]]
    return plain(replace(one, disagreements=())) | {"disagreements": apart}


def _costs(options: argparse.Namespace) -> None:
    prices = settings_given(options, Running)  # in the place of the run's own
    Running.checked(prices)
    entries = costs_given(options.judges, options.db)
    names = Counter(one.name for one in entries)
    # Of two judges of one name, each says where it is from.
    called = [
        f"{one.name} ({given})" if names[one.name] > 1 else one.name
        for given, one in zip(options.judges, entries, strict=True)
    ]
    rows = costs_side_by_side(
        [replace(one, name=name, **prices) for name, one in zip(called, entries, strict=True)]
    )
    each = [f"{what}_per_{of}" for what in _COUNTED for of in ("item", "text")]
    print_result(options, [_with(row, each) for row in rows], print_costs, rows)


def _with(value: Any, properties: Sequence[str]) -> Any:
    """A result with numbers that it works out itself."""
    return {**plain(value), **{name: plain(getattr(value, name)) for name in properties}}
