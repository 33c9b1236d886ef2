"""`report bias`: what besides quality sways a judge, from its scores of a file of edited twins."""

import argparse

from core.cli.judge.verbs import check_reading, verb
from core.cli.shared.giving import give
from core.cli.shared.options import (
    Commands,
    add_columns_option,
    add_pair_option,
    check_columns,
    check_options,
)
from core.cli.shared.running import telling
from core.cli.shared.sources import reading_of, scores_given
from core.formats.panel.beside import texts_of_outputs
from core.results.judges.bias import (
    ALPHA,
    BIAS_TABLES,
    LIMIT,
    BiasAudit,
    BiasOptions,
    bias_audit,
    bias_json,
    bias_said,
    bias_table,
    changes_table,
    option_problems,
)
from core.schema.panel import TextBeside
from core.sources.judges import JUDGE_NAMES as JUDGES
from core.sources.judges import judge_if_any, texts_scored
from core.sources.named import NAMES, parse_source, parse_sources
from core.sources.panel import texts_of_output
from core.sources.texts import texts_of

_N_CHANGES = 10


def add_bias(verbs: Commands) -> None:
    """Register `bias`."""
    command = verb(
        verbs,
        "bias",
        "what besides quality sways a judge: edits of a text, and its place",
        _bias,
        *BIAS_TABLES,
    )
    command.add_argument(
        "scores",
        nargs="+",
        metavar="SCORES",
        help=f"scores of a file of edited twins (`judge twins`): {JUDGES}, or a table of scores",
    )
    command.add_argument(
        "--limit",
        type=float,
        default=LIMIT,
        metavar="SHARE",
        help="a probe is underpowered if the smallest change that it can show is larger than this share of the judge's scale "
        "(default %(default)s)",
    )
    command.add_argument(
        "--alpha",
        type=float,
        default=ALPHA,
        help="level of the tests, corrected over a judge's probes (default %(default)s)",
    )
    command.add_argument(
        "--changes",
        type=int,
        default=_N_CHANGES,
        metavar="N",
        help="number of texts to show, largest change first (default %(default)s)",
    )
    command.add_argument(
        "--texts", metavar=NAMES, help="the twins, to show the texts behind a table of scores"
    )
    command.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of intervals (default %(default)s)"
    )
    command.add_argument(
        "--seed", type=int, default=0, help="seed of the drawn sign flips (default %(default)s)"
    )
    add_pair_option(command)
    add_columns_option(command, several=True)


def _bias(options: argparse.Namespace) -> None:
    chosen = BiasOptions(options.limit, options.alpha, options.confidence, options.seed)
    wrong = [f"--{problem}" for problem in option_problems(chosen)]
    if options.changes < 0:
        wrong.append(f"--changes: {options.changes} is negative; 0 shows none")
    check_options(wrong)
    check_reading(options, [*options.scores, *([options.texts] if options.texts else [])])
    check_columns(options, options.scores)
    reading = reading_of(options)
    audits: list[BiasAudit] = []
    texts: list[TextBeside] = []
    with telling("reading the scores") as tell:
        tables = scores_given(options.scores, options)
        if options.texts is not None:
            texts += texts_of_outputs(texts_of(parse_source(options.texts), reading).outputs)
        for source, table in zip(parse_sources(options.scores), tables, strict=True):
            tell(f"comparing twins in {source.written}")
            output = judge_if_any(source, reading)
            audits.append(bias_audit(table, output, chosen))
            if output is not None:
                texts += texts_of_output(output)
            else:
                texts += [TextBeside(row, text=text) for row, text in texts_scored(source, reading)]
    changes = changes_table(audits, texts, most=options.changes) if options.changes else None
    shown = [] if changes is None else [changes]
    give(options, bias_json(audits, changes), [*bias_said(audits), "", bias_table(audits), *shown])
