"""`judge`: language models that score texts, and how far they can be trusted."""

from core.cli import judging
from core.cli.judge_looks import add_looks
from core.cli.judge_specialist_looks import add_specialist_looks
from core.cli.options import Commands


def add_to(nouns: Commands) -> None:
    """Register `judge` and its verbs."""
    noun = nouns.add_parser("judge", help="score texts with a language model as judge, and look at judges")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    judging.add_to(verbs)
    add_looks(verbs)
    add_specialist_looks(verbs)
