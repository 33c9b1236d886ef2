"""Read a panel, raters and judges side by side, from any file of ratings."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from core.errors import InputError
from core.formats.panel.columns import one_score_a_row, rename_named_columns, roles_to_read, written_table
from core.formats.panel.items import ids_of, numbered_by, questions_of, set_unit
from core.formats.panel.judge_files import JudgeFile, called_by_file, check_not_beside, judge_file
from core.formats.panel.repeats import check_in_table, check_rows_repeat_nothing
from core.formats.panel.rows import read_long, read_wide
from core.formats.panel.scale import aligned
from core.formats.panel.sheet import (
    Missing,
    Sheet,
    check_labelled,
    fill_systems,
    people_who_rated,
    places_in,
    sheet_of,
    texts_unused,
)
from core.formats.registry import format_of
from core.formats.registry import read_evaluators as evaluators_in
from core.formats.registry import read_ratings as ratings_in
from core.formats.registry import read_scores as scores_in
from core.joining.choices import Dimension
from core.joining.panel import apply_scale, metrics_of, named_people, panel_of, panel_of_table
from core.joining.tables import check_join, row_number_notes
from core.schema.analysis import REFUSE, RepeatedRatings
from core.schema.panel import Panel, panel_of_rows
from core.schema.roles import Roles
from core.schema.scale import NOT_DECLARED, TO_GUESS, DeclaredScale
from core.schema.scores import RatingSet, ScoreTable
from core.schema.unit import ID, ROW
from core.tables.columns import METRIC_MARK, Table, known_at
from core.tables.containers import findings_of
from core.tables.problems import listed
from core.tables.reading import shown
from core.tables.roles import check_decided, passed_over, roles_said


def read_panel(
    data: bytes,
    file_name: str,
    tables: Sequence[ScoreTable] = (),
    *,
    human: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    dimension: Dimension = None,
    system_column: str | None = None,
    item: str | None = None,
    flip: Collection[str] = (),
    find: bool = False,
    beside: Sequence[tuple[bytes, str]] = (),
    declared: DeclaredScale = NOT_DECLARED,
    people_alone: bool = False,
    repeated: RepeatedRatings = REFUSE,
) -> Panel:
    """Read raters and judges from one file, wide or long, with further judges in tables of scores.

    Without names the columns are found (`found_roles`), and the result's `roles` shows them.

    Wide: `human` and `judges` name columns, and each row is a text; without a column of items each row is an item. Long: a
    row for each item, rater and score; `human` names raters (None: all that are not judges), and `judges` raters or
    columns. Cells are numbers or words; words of a known scale (`core.tables.mapping.SCALES`) are ordered classes, others
    are labels. An empty cell is a missing rating. Other formats of ratings are read as everywhere.
    system_column: column with the system. item: what an item is, a column whose rows belong together if they have the same
    value, or ROW; None to guess it (`set_unit`). Rows of a declared item may repeat it.
    find: find columns by the wider names of other programs too, and refuse what is ambiguous: repeated texts or ratings,
    and scores that match several texts. beside: contents and name of files with judges' scores, for `find` only. declared:
    what the user says about the raters' scale; the rest is guessed from their cells. people_alone: no judge is wanted, and
    what is named like a judge's is nobody's, unless `human` names it; goes with `find`, without judges and tables.
    repeated: which of several ratings of a text by one rater counts, in a table.

    Raises InputError with all problems of the file and their places, and as `panel_of`; Undecided if the columns do not
    tell people from judges.
    """
    data, own, unit_column = rename_named_columns(data, file_name, system_column, item)
    format_found = format_of("ratings", data, file_name)
    if format_found.rows is None:
        check_in_table(repeated, file_name)
        tables = [*tables, *(evaluators_in(one, name) or scores_in(one, name) for one, name in beside)]
        ratings = ratings_in(data, file_name, flip=flip)
        if people_alone:
            human = human if human is not None else named_people(ratings)
        elif _may_have_evaluators(ratings, tables, judges, find=find):
            tables = [*filter(None, [evaluators_in(data, file_name, flip=flip)]), *tables]
        panel = panel_of(ratings, tables, raters=human, judges=judges, dimension=dimension)
        return _declared_items(apply_scale(panel, declared), item)
    judges = None if judges is None else [name.removeprefix(METRIC_MARK) for name in judges]
    findings = findings_of(data, file_name)
    table = one_score_a_row(format_found.rows(data, known_at("ratings"), findings), findings)
    if not table.records and not findings.problems:
        findings.problems.append("file: contains no row below its header")
    findings.refuse()
    written = written_table(table)
    guessed = roles_to_read(
        written,
        human,
        judges,
        dimension,
        find=find,
        elsewhere=bool(tables or beside),
        unit=unit_column,
        file_name=file_name,
        people_alone=people_alone,
    )
    roles = None if guessed is None or guessed.problems else guessed
    chosen = judges
    if roles is not None:
        read_as = {key: name for key, name in roles.read_as.items() if name in known_at("ratings")}
        written = written._replace(columns=read_as)
        human = human if human is not None else roles.human
        if judges is None and not tables and not beside:
            judges = [name.removeprefix(METRIC_MARK) for name in roles.judges]
        dimension = dimension if roles.long else None
        shown_roles = roles.renamed(own)
        findings.notes.append(f"columns found: {roles_said(shown_roles)}")
        findings.notes += filter(None, [passed_over(shown_roles)])
    missing = Missing(declared.missing)
    check_not_beside(data, file_name, beside)
    files = called_by_file(
        [judge_file(one, name, judges or (), missing, human or ()) for one, name in beside]
    )
    elsewhere = {name for one in files for name in one.cells}
    elsewhere |= set(metrics_of(tables, judges, "")) | {
        metric.name for one in tables for metric in one.metrics
    }
    sheet = missing.out_of(sheet_of(data, written, human or (), judges or (), elsewhere, roles))
    rows = fill_systems(sheet.table.records, sheet.named(known_at("texts")), findings)
    sheet = replace(sheet, table=sheet.table._replace(records=rows))
    words, unfit = aligned(sheet, files, judges or (), chosen or (), declared, findings)
    sheet = replace(sheet, judges={k: v for k, v in sheet.judges.items() if k not in unfit})
    judges = None if judges is None else [name for name in judges if name not in unfit]
    files = [one.without(unfit) for one in files]
    read = [one for one in files if one.cells]
    by_question = (
        bool(read) and all(one.question for one in read) and questions_of(sheet) is not None and item != ROW
    )
    tables = [*tables, *(one.scores(words, by_question=by_question) for one in read)]
    by_number = item == ROW or any(one.row_numbers for one in tables)
    ids = ids_of(sheet, findings, by_number=by_number, by_question=by_question)
    by_row = item is not None and (repeated == REFUSE or unit_column is None)
    if by_row:
        check_rows_repeat_nothing(repeated, file_name)
    check_labelled(sheet, file_name)
    unused = texts_unused(sheet)
    findings.notes += _unused_said(unused)
    if roles is not None and human == roles.human:
        human = people_who_rated(sheet, roles.human, findings)
    asked: dict[str, Any] = {
        "raters": human,
        "judges": judges,
        "dimension": dimension,
        "scale": words.scale if words else TO_GUESS,
    }
    wide = read_wide(sheet, words, findings, ids, by_row=by_row, repeated=repeated) if sheet.human else None
    joined: list[str] = []
    if wide is not None and not tables and dimension is None:
        found = panel_of_table(wide.table, wide.n_raters, judges=judges, scale=asked["scale"])
    else:
        # What is undecided about the columns says more than what a long table lacks.
        undecided = guessed if human is None and not sheet.score else None
        with _deciding_first(undecided, file_name):
            ratings, scores = (
                (wide.ratings, wide.scores)
                if wide is not None
                else read_long(numbered_by(sheet, ids), words, findings, by_row=by_row, repeated=repeated)
            )
        if human is None and dimension is None:
            _check_raters(ratings, sheet, table, file_name)
        joined = row_number_notes(ratings, tables)
        if roles is not None:
            _check_joins(sheet, ratings, tables, files)
        found = panel_of(ratings, [*([scores] if scores else []), *tables], **asked)
    found = replace(
        found,
        roles=None if roles is None else roles.renamed(own),
        notes=tuple(dict.fromkeys((*joined, *found.notes))),
    )
    if words is None:
        found = apply_scale(found, declared, codes=sheet.of_choices)
    found = set_unit(found, sheet, ids, item, unit_column, joined_by_row=bool(joined))
    found = _name_item_column(found, unused, unit_column, own)
    if found.unit.name not in (ID, ROW) or found.unit.undecided:
        found = replace(found, notes=(*found.notes, found.unit.said))
    return replace(found, left_out={**found.left_out, **missing.left_out})


def _unused_said(columns: Sequence[str]) -> list[str]:
    return [f"columns not used: {listed(columns)}"] if columns else []


@contextmanager
def _deciding_first(roles: Roles | None, file_name: str) -> Iterator[None]:
    """Raise Undecided for roles that are not decided, rather than an error of what is read by them."""
    try:
        yield
    except InputError:
        if roles is not None:
            check_decided(roles, file_name)
        raise


def _declared_items(panel: Panel, item: str | None) -> Panel:
    """The panel whose items are what the user declared."""
    return panel_of_rows(panel) if item == ROW else panel


def _may_have_evaluators(
    ratings: RatingSet, tables: Sequence[ScoreTable], judges: Sequence[str] | None, *, find: bool
) -> bool:
    """Whether the judges are to be looked for in the file of the ratings: some are not found elsewhere, or none is named."""
    if judges is None and find and not tables:
        return True
    known = {one.rater for one in ratings.ratings} | {
        metric.name for table in tables for metric in table.metrics
    }
    return not {*(judges or ())} <= known


def _name_item_column(
    panel: Panel, unused: Sequence[str], declared: str | None, names: Mapping[str, str]
) -> Panel:
    """The panel whose roles and notes name the column whose values are its items, if it is not that of the ids.

    unused: the columns that a note says are not used. declared: the column of items that the user names. names: Assay's name ->
    the file's column, as the user gave it.
    """
    columns = [*unused, *([declared] if declared else [])]
    item = next((key for key in columns if shown(names.get(key, key)) == panel.unit.name), None)
    roles = panel.roles
    if panel.unit.name in (ID, ROW) or item is None:
        return panel
    changed = {"".join(_unused_said(unused)): "".join(_unused_said([key for key in unused if key != item]))}
    if roles is not None:
        others = tuple(key for key in roles.others if key != item)
        own = replace(roles, item=names.get(item, item), others=others)
        changed[f"columns found: {roles_said(roles)}"] = f"columns found: {roles_said(own)}"
        changed[passed_over(roles)] = passed_over(own)
        roles = own
    notes = (changed.get(note, note) for note in panel.notes)
    return replace(panel, roles=roles, notes=tuple(filter(None, notes)))


def _check_joins(
    sheet: Sheet, ratings: RatingSet, tables: Sequence[ScoreTable], files: Sequence[JudgeFile]
) -> None:
    """Raise InputError if it is unclear which ratings the scores in other tables belong to."""
    of_file = {one.name: one for one in files}
    for one in tables:
        file = of_file.get(one.file_name)
        places = places_in(file.table, file.roles) if file else places_in(None, None)
        check_join(ratings, one, places_in(sheet.table, sheet.roles), places)


def _check_raters(ratings: RatingSet, sheet: Sheet, table: Table, file_name: str) -> None:
    """Raise InputError if columns of several raters were read as dimensions, because none was named."""
    if {"rater", "dimension"} & set(table.columns.values()):
        return
    if len({one.dimension for one in ratings.ratings if one.rater is None}) > 1:
        raise InputError(
            f"{shown(file_name)} has no column rater",
            [f"human: name the columns with ratings by people; the file has {listed(sheet.others)}"],
        )
