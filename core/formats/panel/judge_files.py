"""Files with scores of judges alone."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np

from core.errors import InputError, Problems
from core.formats.panel.columns import metrics_in, spelled, written_table
from core.formats.panel.sheet import Missing, Sheet, fill_systems, number_of, sides_of
from core.formats.registry import format_of, read_evaluators
from core.formats.registry import read_scores as scores_in
from core.formats.scores import LABELS, metric_column, read_scores
from core.joining.tables import check_two_files
from core.schema.roles import Roles
from core.schema.scores import Metric, RatingSet, ScoreTable
from core.tables.columns import METRIC_MARK, Table, known_at
from core.tables.containers import findings_of
from core.tables.problems import question_id
from core.tables.reading import label_of, reject, sha256_of, shown
from core.tables.roles import Undecided, judge_roles
from core.tables.scales import Side, Words, common_scale


@dataclass(frozen=True)
class JudgeFile:
    """A file with scores of judges alone."""

    data: bytes
    name: str
    table: Table
    """Under the file's own names."""
    roles: Roles
    judges: Mapping[str, str]
    """Judge -> column; empty if the table is long."""
    cells: Mapping[str, Mapping[object, int]]
    """Judge -> its different filled cells, and how often each is there."""
    read: ScoreTable | None = None
    """The scores of a file that is no such table."""

    def without(self, judges: Collection[str]) -> "JudgeFile":
        """The file without these judges."""
        return replace(
            self,
            judges={name: column for name, column in self.judges.items() if name not in judges},
            cells={name: cells for name, cells in self.cells.items() if name not in judges},
        )

    @property
    def question(self) -> str | None:
        """The column of questions of a table without ids, by which it may be joined; None otherwise."""
        read_as = self.roles.read_as
        if self.read is not None or "item_id" in read_as.values():
            return None
        return next((key for key, name in read_as.items() if name == "question"), None)

    def scores(self, words: Words | None, *, by_question: bool = False) -> ScoreTable:
        """Its scores as numbers. by_question: whether questions are the ids. Raises InputError with the problems of the file."""
        if self.read is not None:
            return self.read
        about = known_at("texts")
        read_as = {key: name for key, name in self.roles.read_as.items() if name in about}
        labels = [key for key in (*self.roles.groups, *self.roles.others) if key.lower() in LABELS]
        named = read_as | {key: key for key in labels}
        rater, score = self.roles.rater, self.roles.score
        marks = {
            column: metric_column(Metric(judge, "", ""), False, frozenset())
            for judge, column in self.judges.items()
        }
        records = []
        rows = fill_systems(self.table.records, read_as)
        for number, record in enumerate(rows, start=1):
            cells = {named[key]: cell for key, cell in record.cells.items() if key in named}
            if "item_id" not in read_as.values():
                cells["item_id"] = (
                    question_id(str(record.cells.get(self.question or "") or ""))
                    if by_question
                    else str(number)
                )
            if rater and score:
                if label_of(record.cells.get(rater)) not in self.cells:
                    continue
                cells |= {
                    "metric": record.cells.get(rater),
                    "score": number_of(record.cells.get(score), words),
                }
            cells |= {mark: number_of(record.cells.get(key), words) for key, mark in marks.items()}
            records.append(replace(record, cells=cells))
        keys = list(dict.fromkeys(key for record in records for key in record.cells))
        known = {*about, *(("metric", "score") if rater else ())}
        columns = {key: key for key in keys if key in known}
        try:
            found = read_scores(self.data, self.name, rows=lambda *_: Table(keys, columns, records))
            numbered = not by_question and "item_id" not in read_as.values()
            return replace(found, row_numbers=len(self.table.records) if numbered else 0)
        except InputError as error:
            problems = error.found or Problems([error.what])
            reject(self.name, problems.each(lambda one: one.replace(METRIC_MARK, "column ")))


def called_by_file(files: Sequence[JudgeFile]) -> list[JudgeFile]:
    """The files, with a judge called by its file's name if several files call theirs the same, such as `score`."""
    counts = Counter(name for file in files for name in file.cells)
    stems = Counter(PurePath(file.name).stem for file in files)

    def named(file: JudgeFile, name: str) -> str:
        stem = PurePath(file.name).stem
        alone = counts[name] > 1 and len(file.cells) == 1 and stems[stem] == 1 and stem not in counts
        return stem if alone and file.read is None and not file.roles.long else name

    return [
        replace(
            file,
            judges={named(file, name): column for name, column in file.judges.items()},
            cells={named(file, name): cells for name, cells in file.cells.items()},
        )
        for file in files
    ]


def judge_scores(
    data: bytes, name: str, judges: Sequence[str] | None = None, people: Sequence[str] | None = None
) -> ScoreTable:
    """The scores in a judge's own table, whose columns are found (`core.tables.roles.judge_roles`).

    people: columns and raters that the user names as people. Words of a known scale are its classes. Raises InputError, and
    Undecided if no column is surely a judge's.
    """
    file = judge_file(data, name, judges or (), Missing(()), people or ())
    _, words = common_scale([Side(name, held) for name, held in file.cells.items()], ())
    return file.scores(words)


def judge_file(
    data: bytes, name: str, judges: Sequence[str], missing: Missing, people: Sequence[str] = ()
) -> JudgeFile:
    """A file with judges' scores. Raises InputError if no column is a judge's."""
    findings, format_found = findings_of(data, name), format_of("scores", data, name)
    empty = Table([], {}, [])
    if format_found.rows is None or "scores" in format_found.read:
        read = read_evaluators(data, name) or scores_in(data, name)
        cells: dict[str, Mapping[object, int]] = {
            metric.name: {} for metric in read.metrics if metric.name not in people
        }
        return JudgeFile(data, name, empty, Roles(), {}, cells, read)
    table = written_table(format_found.rows(data, known_at("scores"), findings))
    findings.refuse()
    named = spelled(table, judges)
    roles = judge_roles(table, judges=named, people=spelled(table, people), is_metric=metrics_in(table))
    if roles.problems:
        what = f"{shown(name)}: the columns do not tell which one is the judge's"
        raise Undecided(what, roles.problems, replace(roles, judges_alone=True))
    written = {column: judge for judge, column in zip(judges, named, strict=True)}
    own = {written.get(column, column): column for column in roles.judges}
    sheet = missing.out_of(Sheet(table, {}, own, data, roles))
    cells = {side.name: side.cells for side in sides_of(sheet) if side.name not in people}
    return JudgeFile(data, name, sheet.table, roles, own, cells)


def check_not_beside(data: bytes, file_name: str, beside: Sequence[tuple[bytes, str]]) -> None:
    """Raise InputError if a file with judges' scores is the file of the ratings."""
    tables = [
        ScoreTable((), (), np.empty((0, 0)), file_name=name, sha256=sha256_of(one)) for one, name in beside
    ]
    check_two_files(RatingSet((), sha256_of(data), file_name), tables)
