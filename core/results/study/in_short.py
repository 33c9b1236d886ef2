"""An unblinded study in one line of a list: its verdict and how far its raters agree."""

from collections.abc import Callable
from dataclasses import dataclass

from core.results.cells import decimal
from core.results.study.results import StudyResults, agreement_of_raters, verdict_of
from core.results.study.tables import AGREEMENT
from core.schema.study import StudyRecord
from core.study.analysis_set import results_seen


@dataclass(frozen=True)
class StudyInShort:
    """What a list of studies shows of one."""

    verdict: str
    """The answer with its subject, without its full stop; empty in a rating study, which compares no two systems."""
    coefficient: str
    """Name of the coefficient of agreement; empty with fewer than two raters."""
    agreement: float | None
    """Its estimate; None where it is undefined."""
    reason: str
    """Why there is no agreement."""

    @property
    def agreement_said(self) -> str:
        """The coefficient with its number, or nothing."""
        return "" if self.agreement is None else f"{self.coefficient} {decimal(self.agreement, 2)}"


def short_summary(results: StudyResults, named: Callable[[str], str] = str) -> StudyInShort:
    """Return the verdict of the results, and the agreement that they state. named: shortens the name of a system."""
    verdict = verdict_of(results, named)
    n_raters = len(results.raters)
    if n_raters < 2 or not results.overall.n_pairs:
        return StudyInShort(verdict, "", None, "fewer than two raters voted")
    field, found = agreement_of_raters(results.overall, n_raters)
    return StudyInShort(verdict, AGREEMENT[field], found.estimate, found.reason or "")


def may_be_listed(record: StudyRecord) -> bool:
    """Whether a list may show the results of an unblinded study.

    The first look at imported votes fixes how many votes a pair needs, and votes that are imported later are marked. That look is the
    owner's to take, by opening the study.
    """
    return results_seen(record) is not None
