"""`judge`: language models that score texts, and how far they can be trusted."""

from core.cli.judge_checks import add_align, add_answers
from core.cli.judge_looks import add_looks
from core.cli.judge_run import add_cef, add_claims, add_rubric
from core.cli.judge_specialist import add_specialists
from core.cli.judge_specialist_looks import add_specialist_looks
from core.cli.options import Commands


def add_to(nouns: Commands) -> None:
    """Register `judge` and its verbs."""
    noun = nouns.add_parser("judge", help="score texts with a language model as judge, and look at judges")
    verbs = noun.add_subparsers(dest="verb", required=True, metavar="VERB")
    add_rubric(verbs)
    add_claims(verbs)
    add_cef(verbs)
    add_specialists(verbs)
    add_answers(verbs)
    add_align(verbs)
    add_looks(verbs)
    add_specialist_looks(verbs)
