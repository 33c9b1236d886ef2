"""`judge`: run judges and audits of judges, each with its folder of results."""

from core.cli.judge.in_one_file import add_file
from core.cli.judge.prompts import add_prompts
from core.cli.judge.running import GIVEN, add_run
from core.cli.shared.options import Commands
from core.runs.kinds import kinds_that


def add_to(nouns: Commands) -> None:
    """Register `judge`: a verb for every judge and audit."""
    noun = nouns.add_parser("judge")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    for kind in kinds_that("judging", "audit"):
        add_run(verbs.add_parser(kind.verb or kind.name, help=kind.summary), kind, GIVEN[kind.reads])
    add_file(verbs)
    add_prompts(verbs)
