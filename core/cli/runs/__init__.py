"""`runs`: list, show, cancel and resume runs, write their results, and delete them."""

from core.cli import Later, add_analyses
from core.cli.runs.batch import add_to as add_batch
from core.cli.runs.big_tables import add_to as add_big_tables
from core.cli.runs.disk import add_to as add_disk
from core.cli.runs.processing import add_to as add_processing
from core.cli.runs.processing import add_work, add_write
from core.cli.runs.showing import add_to as add_showing
from core.cli.shared.options import Commands


def add_to(nouns: Commands) -> None:
    """Register `runs` and its verbs."""
    noun = nouns.add_parser("runs")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB", action=Later)
    add_showing(verbs)
    add_processing(verbs)
    add_batch(verbs)
    add_write(verbs)
    add_analyses(verbs, "runs")
    add_big_tables(verbs)
    add_work(verbs)
    add_disk(verbs)
