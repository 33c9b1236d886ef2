"""The five papers behind Assay: every number that shipped or public data allow, computed again. One module a paper.

A paper is a module that exports PAPER, and its line here. Modules are imported when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.papers.declared import Paper

PAPERS: dict[str, str] = {
    "meta-judge": "meta-correlations of 28 metrics, and correlations in the project's files",
    "factual": "the blind study of two evaluators, and judges against levels of damage",
    "specialist": "examples of specialist judges on WMT23, the Parrot, and means of printed tables",
    "cef": "ranks, shares and tokens of printed tables, and the example of the appendix",
    "multilingual": "sums of the table of its data",
}
"""Name -> what can be computed again, in the order in which doors list them."""


def paper(name: str) -> "Paper":
    """The paper of this name."""
    found: Paper = import_module(f"core.papers.{name.replace('-', '_')}").PAPER
    return found
