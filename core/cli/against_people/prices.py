"""Prices of judges: what their runs cost, and what the user says about judges in files."""

import argparse
from pathlib import Path

from core.cli.shared.options import existing_store, named_numbers, run_number
from core.errors import InputError
from core.results.check.choosing import PER_TEXTS, UNKNOWN, facts_of_runs, stated_facts
from core.results.check.verdict import JudgeFacts
from core.results.judges.costs import JudgeCost
from core.results.panel import Panel
from core.runs.costs import cost_of_folder, cost_of_run
from core.runs.path import at_hand
from core.schema.runs import RUN_FILE


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
    command.add_argument(
        "--currency", default=UNKNOWN.currency, help="currency of all prices (default %(default)s)"
    )


def judge_facts(options: argparse.Namespace, panel: Panel) -> dict[str, JudgeFacts]:
    """Return model, price and time of each judge: from the runs among the inputs, and as `--price` and `--seconds` say.

    options: of `add_panel_options` and `add_price_options`. Raises InputError for values that are no numbers from 0 on
    and for names of no judge.
    """
    prices, seconds = named_numbers("--price", options.price), named_numbers("--seconds", options.seconds)
    costs = {
        given: cost
        for given in (options.file, *options.scores)
        if (cost := _cost(given, options.db)) is not None
    }
    return stated_facts(facts_of_runs(panel, costs), panel, prices, seconds, options.currency)


def _cost(given: str, database: str | None) -> JudgeCost | None:
    """Return what the run behind an input cost; None if no judge's run is behind it."""
    try:
        if (number := run_number(given)) is not None:
            with existing_store(database) as store:
                return cost_of_run(at_hand(store, number))
        if (Path(given) / RUN_FILE).is_file():
            return cost_of_folder(Path(given))
    except InputError:  # a run of metrics, or a folder without costs: the price is unknown
        return None
    return None
