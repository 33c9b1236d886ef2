"""The agreement of a rating study's raters with each other, dimension by dimension, for every door that shows the study."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.analyses.agreement import ANALYSIS
from core.errors import InputError
from core.joining.choices import dimensions_of
from core.joining.panel import panel_of
from core.schema.analysis import Answer
from core.schema.panel import Panel
from core.schema.result_table import Column, ResultTable
from core.schema.settings import SettingsError, page_word, worded
from core.schema.study import StudyRecord
from core.study.ratings import rating_set_of

TABLES = tuple(f"{table.name}" for table in ANALYSIS.tables)
"""Names of the tables; each has a row for each dimension and what `agreement` shows there."""


@dataclass(frozen=True)
class RatersAgreement:
    """How far the raters of a study agree."""

    answers: Mapping[str, Answer]
    """Dimension -> what `agreement` answers."""
    problems: Mapping[str, str]
    """Dimension -> why raters cannot be compared there."""

    @property
    def said(self) -> list[str]:
        """A verdict for each dimension, after its name; what is the same for all dimensions once."""
        found = [
            f"{name}: {sentence}" for name, one in self.answers.items() for sentence in one.all_sentences
        ]
        reasons = set(self.problems.values())
        if not found and len(reasons) == 1:
            return [f"Agreement is undefined: {next(iter(reasons))}."]
        undefined = (f"{name}: agreement is undefined: {problem}." for name, problem in self.problems.items())
        return [*found, *undefined]

    @property
    def json(self) -> dict[str, Any]:
        """Dimension -> the JSON of `agreement`, or the reason why there is none."""
        return {
            **{name: one.json for name, one in self.answers.items()},
            **{name: {"verdict": "undefined", "reason": problem} for name, problem in self.problems.items()},
        }

    @property
    def tables(self) -> list[ResultTable]:
        """The tables of `agreement`, with the dimension as their first column."""
        found = []
        for name in TABLES:
            own = {
                dimension: one.tables[name] for dimension, one in self.answers.items() if name in one.tables
            }
            if own:
                found.append(_merged_dimensions(own))
        return found


def raters_agreement(record: StudyRecord) -> RatersAgreement:
    """Compare the raters of an unblinded rating study with each other, in each dimension, with the default options."""
    answers: dict[str, Answer] = {}
    problems: dict[str, str] = {}
    for dimension in dimensions_of(rating_set_of(record)):
        try:
            answers[dimension] = ANALYSIS.answer(ANALYSIS.Options(), raters_of(record, dimension))
        except SettingsError as problem:  # the reader of a study has no such settings
            problems[dimension] = "; ".join(
                worded(one.text, problem.fields, page_word, one.values) for one in problem.found_in
            )
        except InputError as problem:
            problems[dimension] = "; ".join(map(str, problem.problems)) or problem.what
    return RatersAgreement(answers, problems)


def raters_of(record: StudyRecord, dimension: str) -> Panel:
    """The ratings of a study in one dimension, rater by rater."""
    return panel_of(rating_set_of(record), dimension=dimension)


def _merged_dimensions(tables: Mapping[str, ResultTable]) -> ResultTable:
    """One table of several with the same columns. A column is shown if any dimension shows it."""
    first, *others = tables.values()
    columns = tuple(
        replace(column, shown=any(one.columns[place].shown for one in (first, *others)))
        for place, column in enumerate(first.columns)
    )
    rows = tuple((name, *row) for name, one in tables.items() for row in one.rows)
    notes = tuple(dict.fromkeys(note for one in tables.values() for note in one.notes))
    return ResultTable(first.name, (Column("dimension", names_row=True), *columns), rows, first.title, notes)
