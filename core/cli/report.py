"""`report`: report on the results of judges; no model is called."""

from core.cli import Later, add_analyses
from core.cli.shared.options import Commands


def add_to(nouns: Commands) -> None:
    """Register `report` and its verbs."""
    noun = nouns.add_parser("report")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB", action=Later)
    add_analyses(verbs, "report")
