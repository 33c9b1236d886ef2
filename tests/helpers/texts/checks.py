"""Panels and checks of them, for tests of the verdict."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.analyses.check.filled import answer_of
from core.analyses.gaps import ANALYSIS as GAPS
from core.analyses.gaps import GapsOptions
from core.results.check.gaps import find_gaps, gap_list
from core.results.check.verdict import Check, JudgeCheck, check_panel
from core.schema.analysis import Answer
from core.schema.panel import Panel, TextBeside
from core.schema.result_table import ResultTable
from core.schema.scores import ScoredRow
from core.schema.uses import CheckOptions, Use
from core.tables.columns import ONLY_SYSTEM


def panel(
    ratings: Any,
    *judges: Any,
    items: Any = None,
    systems: Any = None,
    labels: Any = None,
    **other: Any,
) -> Panel:
    given = np.asarray(ratings, dtype=np.float64)
    n = len(given)
    items = np.arange(n) if items is None else np.asarray(items)
    systems = np.array([ONLY_SYSTEM] * n) if systems is None else np.asarray(systems)
    rows = tuple(
        ScoredRow(str(items[at]), str(systems[at]), None, "", {} if labels is None else labels[at])
        for at in range(n)
    )
    names = tuple(f"r{at}" for at in range(given.shape[1]))
    scores = np.column_stack([np.asarray(one, dtype=np.float64) for one in judges])
    return Panel(
        rows, items, systems, names, given, tuple(f"j{at}" for at in range(scores.shape[1])), scores, **other
    )


def checked(found: Panel, use: Use | None = None, **options: Any) -> JudgeCheck:
    return check_panel(found, CheckOptions(use=use, **options)).judges[0]


def rule(one: JudgeCheck, code: str) -> Any:
    return next(rule for rule in one.rules if rule.code == code)


def check_json(found: Check) -> dict[str, Any]:
    """The documented JSON of a check."""
    return answer_of(found).json


def check_tables(found: Check) -> dict[str, ResultTable]:
    """Its tables by name."""
    return answer_of(found).tables


def gaps_of(found: Panel, texts: Sequence[TextBeside] = (), *, most: int | None = None) -> ResultTable:
    """The list of its gaps as every door shows it."""
    (table,) = Answer(
        GAPS, GapsOptions(), gap_list(found, find_gaps(found), texts, most=most)
    ).tables.values()
    return table
