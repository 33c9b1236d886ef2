"""The meaning of a panel's columns: what the user names, and the roles that are found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from core.formats.logs.ragas import has_rows_of_ragas, is_metric_of_ragas
from core.formats.ratings import UNUSED, blocks_of_ratings, unnested
from core.formats.registry import format_of
from core.formats.scores import NO_FAMILY, family_of
from core.joining.choices import Dimension
from core.schema.roles import Roles
from core.schema.unit import ROW
from core.tables.columns import LABEL_MARK, METRIC_MARK, Record, Table, known_at, named_columns
from core.tables.containers import findings_of
from core.tables.mapping import classes_of, rename_columns
from core.tables.problems import FileFindings
from core.tables.reading import JsonObject, is_nothing, label_of, labels_of
from core.tables.roles import check_decided, names_rating, roles_of, who_in


def found_roles(
    data: bytes,
    file_name: str,
    *,
    human: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    dimension: Dimension = None,
    system_column: str | None = None,
    item: str | None = None,
    judged_elsewhere: bool = False,
    people_alone: bool = False,
) -> Roles | None:
    """Find what the columns of a table mean, to show and change; `read_panel` takes the choices.

    Keywords as in `read_panel`. judged_elsewhere: whether other files have the judges' scores. None for a file that is no
    table: its format says who rated. Raises InputError for a file that cannot be read and for unknown names; what is merely
    undecided is in the result's `problems`.
    """
    data, own, unit = rename_named_columns(data, file_name, system_column, item)
    format_found = format_of("ratings", data, file_name)
    if format_found.rows is None:
        return None
    findings = findings_of(data, file_name)
    table = written_table(one_score_a_row(format_found.rows(data, known_at("ratings"), findings), findings))
    findings.refuse()
    given = (spelled(table, human or ()), spelled(table, judges or ()))
    found = roles_in(table, *given, dimension, judged_elsewhere, unit, people_alone=people_alone)
    return found.renamed(own)


def names_people(data: bytes, file_name: str, names: Sequence[str]) -> bool:
    """Whether a table has all these columns, or raters, so that `human` may name them there. Raises InputError."""
    read = format_of("ratings", data, file_name).rows
    if read is None:
        return False
    table = read(data, known_at("panel"), FileFindings(file_name, ""))
    raters = {label_of(record.cells.get("rater")) for record in table.records}
    plain = plain_names(table)
    return all(name in raters or name.strip().casefold() in plain for name in names)


def rename_named_columns(
    data: bytes, file_name: str, system_column: str | None, item: str | None
) -> tuple[bytes, dict[str, str], str | None]:
    """The file with the columns renamed that the user names, Assay's name -> the file's column, and the column of items.

    A column of items beside ids keeps its name, and ids go on naming texts, if each id has one item. Otherwise the column
    becomes the ids. Raises InputError for unknown columns.
    """
    named = {"system": system_column} if system_column else {}
    if item is None or item == ROW:
        return rename_columns(data, file_name, named), named, None
    as_ids = {**named, "item_id": item}
    renamed = rename_columns(data, file_name, as_ids)  # refuses a column that the file lacks
    read = format_of("ratings", data, file_name).rows
    if read is None:
        return renamed, as_ids, None
    table = written_table(read(data, known_at("ratings"), FileFindings(file_name, "")))
    (column,) = spelled(table, [item])
    ids = next(
        (key for key, name in named_columns(table.keys, known_at("panel")).items() if name == "item_id"), None
    )
    names = [] if ids is None else labels_of([record.cells.get(ids) for record in table.records])
    if ids in (None, column) or not any(names) or values_by_id(table, names, column) is None:
        return renamed, as_ids, None
    return rename_columns(data, file_name, named), named, column


def values_by_id(table: Table, ids: Sequence[str | None], column: str) -> dict[str, str] | None:
    """Id -> value of a column, with single spaces; None if rows of one id have different values."""
    found: dict[str, str] = {}
    cells = [record.cells.get(column) for record in table.records]
    for name, cell, label in zip(ids, cells, labels_of(cells), strict=True):
        value = " ".join(str(label or ("" if cell is None else cell)).split())
        if name is not None and found.setdefault(name, value) != value:
            return None
    return found


def one_score_a_row(table: Table, findings: FileFindings) -> Table:
    """The table with a row for each score of a row that names its rater and has all scores in a block, as `study export` writes."""
    known = table.columns.values()
    rater = [cell for record in table.records if not is_nothing(cell := record.cells.get("rater"))]
    if (
        "rater" not in known or "score" in known or classes_of(rater)
    ):  # a rater named pass is a column of labels
        return table
    blocks = [
        key
        for key in blocks_of_ratings(table.records, [*known_at("ratings"), *UNUSED])
        if who_in(key) != "judge"
    ]
    if not blocks:
        return table
    records = unnested(table.records, blocks, findings)
    there = [name for name in ("dimension", "score") if name not in known]
    keys = [key for key in table.keys if key not in (*blocks, "spans")]
    return table._replace(
        keys=[*keys, *there],
        columns={key: name for key, name in table.columns.items() if key in keys} | {k: k for k in there},
        records=records,
    )


def written_table(table: Table) -> Table:
    """The table with its records under the file's own column names, and verdicts in blocks such as `human` as columns."""
    table = _unnested(table)
    names = {name: key for key, name in table.columns.items()}
    if all(name == key for name, key in names.items()):
        return table
    records = [
        Record(record.where, {names.get(key, key): cell for key, cell in record.cells.items()}, record.line)
        for record in table.records
    ]
    return table._replace(records=records)


def _unnested(table: Table) -> Table:
    """The table with a column `human.label` for each field of a block `human` or `judge` that holds a rating."""
    blocks = {
        key: list(dict.fromkeys(name for one in held for name in one))
        for key in table.keys
        if who_in(key) in ("person", "settled", "judge")
        and (cells := [cell for record in table.records if (cell := record.cells.get(key)) is not None])
        and (held := [cell for cell in cells if isinstance(cell, JsonObject)])
        and len(held) == len(cells)
        and all(map(names_rating, held))
    }
    if not blocks:
        return table

    def plain(cells: Mapping[str, object]) -> dict[str, object]:
        found = {key: cell for key, cell in cells.items() if key not in blocks}
        for key, names in blocks.items():
            block = cells.get(key)
            found |= {
                f"{key}.{name}": block.get(name) if isinstance(block, JsonObject) else None for name in names
            }
        return found

    keys = [
        name
        for key in table.keys
        for name in ([f"{key}.{inner}" for inner in blocks[key]] if key in blocks else [key])
    ]
    records = [replace(record, cells=plain(record.cells)) for record in table.records]
    return table._replace(keys=keys, records=records)


def spelled(table: Table, names: Sequence[str]) -> list[str]:
    """The names, in the file's spelling where they are columns."""
    plain = plain_names(table)
    return [name if name in table.keys else plain.get(name.strip().casefold(), name) for name in names]


def plain_names(table: Table) -> dict[str, str]:
    """Name in lower case -> column; a metric or label needs no mark."""
    marked = {
        key.removeprefix(METRIC_MARK).removeprefix(LABEL_MARK).strip().casefold(): key for key in table.keys
    }
    return marked | {key.strip().casefold(): key for key in table.keys}


def roles_in(
    table: Table,
    human: Sequence[str],
    judges: Sequence[str],
    dimension: Dimension,
    judged_elsewhere: bool,
    unit: str | None = None,
    *,
    people_alone: bool = False,
) -> Roles:
    """The roles of a table's columns, with metrics known by name."""
    return roles_of(
        table,
        human=human,
        judges=judges,
        dimension=dimension if isinstance(dimension, str) else None,
        judged_elsewhere=judged_elsewhere,
        unit=unit,
        is_metric=metrics_in(table),
        people_alone=people_alone,
    )


def metrics_in(table: Table) -> Callable[[str], bool]:
    """Whether a name is that of a metric, in this table."""
    of_ragas = has_rows_of_ragas(table.keys)
    return lambda name: family_of(name) != NO_FAMILY or (of_ragas and is_metric_of_ragas(name))


def roles_to_read(
    table: Table,
    human: Sequence[str] | None,
    judges: Sequence[str] | None,
    dimension: Dimension,
    *,
    find: bool,
    elsewhere: bool,
    unit: str | None,
    file_name: str,
    people_alone: bool,
) -> Roles | None:
    """The roles that decide how a table is read, if they have no problems; None where names that the user gave say everything."""
    long = "rater" in table.columns.values()
    lacking = (human is None and not long) or judges is None
    if not find and (elsewhere or not lacking):
        return None
    given = (spelled(table, human or ()), spelled(table, judges or ()))
    roles = roles_in(table, *given, dimension, elsewhere, unit, people_alone=people_alone)
    if find:
        check_decided(roles, file_name)
    return roles
