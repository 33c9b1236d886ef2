"""Prices of judges: what their runs cost, and what the user says about judges in files."""

import argparse

from core.cli.shared.options import named_numbers
from core.cli.shared.sources import facts_given
from core.results.check.choosing import PER_TEXTS, UNKNOWN, stated_facts
from core.results.check.verdict import JudgeFacts
from core.schema.panel import Panel


def add_price_options(command: argparse.ArgumentParser) -> None:
    """Register `--price`, `--seconds` and `--currency`, for judges whose cost no run has recorded."""
    command.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="JUDGE=MONEY",
        help=f"what {PER_TEXTS:,} texts cost with a judge (default: what its run cost); may be repeated",
    )
    command.add_argument(
        "--seconds",
        action="append",
        default=[],
        metavar="JUDGE=SECONDS",
        help=f"how long a judge takes for {PER_TEXTS:,} texts (default: as in its run); may be repeated",
    )
    command.add_argument("--currency", default=UNKNOWN.currency, help="currency of all prices, such as USD")


def judge_facts(options: argparse.Namespace, panel: Panel) -> dict[str, JudgeFacts]:
    """Return model, price and time of each judge: from the runs among the inputs, and as `--price` and `--seconds` say.

    options: of `add_panel_options` and `add_price_options`. Raises InputError for values that are no numbers from 0 on
    and for names of no judge.
    """
    prices, seconds = named_numbers("--price", options.price), named_numbers("--seconds", options.seconds)
    return stated_facts(facts_given(options, panel), panel, prices, seconds, options.currency)
