"""Raters and judges side by side: who gave which text which label or score."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, Problems, counted
from core.formats.logs.ragas import has_rows_of_ragas, is_metric_of_ragas
from core.formats.ratings import UNUSED, read_ratings
from core.formats.registry import format_of
from core.formats.registry import read_evaluators as evaluators_in
from core.formats.registry import read_ratings as ratings_in
from core.formats.registry import read_scores as scores_in
from core.formats.scores import (
    INDEX_COLUMNS,
    LABELS,
    NO_FAMILY,
    SAID,
    family_of,
    metric_column,
    read_scores,
)
from core.results.calibration.cells import dimension_said
from core.results.choices import Dimension, check_names, chosen_ratings, items_of, keys_of, names_of
from core.results.joining import (
    check_join,
    check_two_files,
    equal_values_said,
    identifying_columns,
    merge_tables,
    row_number_notes,
    rows_met,
    unmatched,
)
from core.results.scales import Side, Words, check_cells, check_odd_words, common_scale, odd_word_notes
from core.schema.scale import (
    MOST_GUESSED,
    NOT_DECLARED,
    TO_GUESS,
    DeclaredScale,
    Scale,
    guessed_scale,
    scale_of_numbers,
)
from core.schema.scores import PROBABILITY, Metric, Rating, RatingSet, ScoredRow, ScoreTable
from core.schema.unit import FEWEST_VALUES, ID, ROW, UNCOUNTED, Unit
from core.stats.degeneracy import Constant, constant
from core.stats.resampling import Floats
from core.tables.columns import (
    LABEL_MARK,
    LABEL_PAIR,
    METRIC_MARK,
    MOST_REPEATED,
    ONLY_SYSTEM,
    VOCABULARY,
    Record,
    Table,
    known_at,
    level_in,
    named_columns,
    source_as_system,
)
from core.tables.containers import findings_of
from core.tables.mapping import plain_word, with_columns
from core.tables.problems import FileFindings, listed
from core.tables.reading import (
    is_nothing,
    is_undefined,
    label_of,
    number_in,
    reject,
    sha256_of,
    shown,
)
from core.tables.roles import (
    Roles,
    Undecided,
    check_decided,
    holds_texts,
    is_choice,
    is_price_or_time,
    judge_roles,
    roles_of,
    who_in,
    words_in,
)

OTHER_RATERS = "rating by a rater who was not chosen"
NO_VALUE = "rating undefined"
NAMED_MISSING = "named as missing: {}"
ROW_LABEL = "row"
"""Label that numbers the rows of a wide table in which nothing else tells texts of one item apart."""


@dataclass(frozen=True)
class Panel:
    """The ratings of each text by each rater and its scores by each judge. Arrays have one row for each text."""

    rows: tuple[ScoredRow, ...]
    """The texts: item, system, level, language and labels. Every text has a rating or a row of scores."""
    items: NDArray[np.int64]
    """Shape (n,): number of the text's item, the cluster to resample."""
    systems: NDArray[np.str_]
    """Shape (n,): the text's system; ONLY_SYSTEM if the file names none."""
    raters: tuple[str, ...]
    ratings: Floats
    """Shape (n, raters); NaN where the rater gave none."""
    judges: tuple[str, ...] = ()
    scores: Floats = field(default_factory=lambda: np.empty((0, 0)))
    """Shape (n, judges); NaN where the judge gave none. Not turned: on the scale of the file."""
    scale: Scale = TO_GUESS
    """What raters may give; a panel made without one guesses it from its ratings."""
    name: str = ""
    """The input, for messages."""
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of ratings that belong to no text here."""
    roles: Roles | None = None
    """The meaning of the file's columns, if they were found; None for a file that is no table."""
    sources: tuple[tuple[str, str, str], ...] = ()
    """For each judge the name of its table, and its metric's name there and signature; empty for a rater who counts as one."""
    pairs: bool = False
    """Whether each row is a pair of texts, and each value a preference: 1, -1, or 0 for a tie."""
    unit: Unit = UNCOUNTED
    """What an item is; counted here if it is not given."""

    def __post_init__(self) -> None:
        """Guess the scale and count the items, where they were not given."""
        if self.scale is TO_GUESS:
            object.__setattr__(self, "scale", guessed_scale(self.ratings))
        if self.unit is UNCOUNTED:
            object.__setattr__(self, "unit", Unit(n=int(np.unique(self.items).size)))

    def constant_scores(self, scores: Floats) -> Constant | None:
        """The score of all texts, if a judge gives only one; None if its scores differ, or it always prefers one side of pairs.

        A judge does not know which side a text is on: if it always prefers the candidate, it tells the texts apart. One that always
        ties does not.
        """
        always = constant(scores)
        if always is None or always.n_others or (self.pairs and always.value != 0):
            return None
        return always


def panel_of(
    ratings: RatingSet,
    tables: Sequence[ScoreTable] = (),
    *,
    raters: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
    dimension: Dimension = None,
    scale: Scale = TO_GUESS,
) -> Panel:
    """Put ratings and scores of the same texts side by side.

    raters: names; None for all that are not judges. judges: names of metrics in the tables, of judges whose metric is
    `JUDGE-DIMENSION`, or of raters that are to count as judges; None for all metrics of the tables that score the
    dimension. dimension: None for the only one. Texts match as in `core.results.joining`; every text of the tables stays,
    rated or not. Unnamed ratings of a text are numbered. Scores are never turned: a judge must use the raters' scale.

    Raises InputError for unknown names, for a rater who is also a judge, if several dimensions are rated and none is chosen,
    if no rating matches a score, and if a rater rated a text several times.
    """
    chosen = chosen_ratings(ratings, dimension, z_normalise=False, kept=True)
    given = _numbered(chosen.ratings)
    known = dict.fromkeys(one.rater or "" for one in given)
    columns = _metrics_of(tables, judges, chosen.ratings[0].dimension)
    own = [name for name in judges or () if name not in columns and name in known]
    if judges is not None:
        check_names(
            "judge",
            judges,
            [*dict.fromkeys([*(m.name for t in tables for m in t.metrics), *columns, *known])],
        )
    people = [name for name in known if name not in own]
    if raters is not None:
        check_names("rater", raters, list(known))
        people = list(dict.fromkeys(raters))
    both = [name for name in people if name in own or name in columns]
    if judges is None and raters is not None and len(both) < len(columns):
        columns = {name: metric for name, metric in columns.items() if name not in people}
        both = []
    if both:
        files = listed([shown(one.file_name) for one in tables]) if tables else shown(ratings.file_name)
        raise InputError(
            f"{listed(both)}: a rater in {shown(ratings.file_name)} and a judge in {files}. Nobody is both: name a file with "
            "other scores, or other raters and judges"
        )
    check_two_files(ratings, tables)
    row_number_notes(ratings, tables)
    used = [at for at, one in enumerate(given) if one.rater in {*people, *own}]
    table = merge_tables(tables) if tables else _table_of(ratings.file_name, [given[at] for at in used])
    met = rows_met(table, ratings, [given[at] for at in used])
    rows = _with_probabilities(table.rows, [(int(row), given[at]) for row, at in zip(met, used, strict=True)])
    values = _matrix(
        ratings.file_name,
        table,
        [*people, *own],
        [(int(row), given[at].rater or "", chosen.values[at]) for row, at in zip(met, used, strict=True)],
    )
    places = {metric.name: at for at, metric in enumerate(table.metrics)}
    named = list(dict.fromkeys(judges)) if judges is not None else list(columns)
    scores = [
        values[:, len(people) + own.index(name)] if name in own else table.values[:, places[columns[name]]]
        for name in named
    ]
    origins = [(one.file_name, metric.name, metric.signature) for one in tables for metric in one.metrics]
    left_out = Counter(unmatched(table, [given[at] for at in used], met))
    left_out[OTHER_RATERS] += len(given) - len(used)
    left_out[NO_VALUE] += int(np.isnan(chosen.values[used]).sum())
    found = Panel(
        rows,
        items_of(rows),
        names_of(rows, "system"),
        tuple(people),
        values[:, : len(people)],
        tuple(named),
        np.column_stack(scores) if scores else np.empty((len(table.rows), 0)),
        ratings.scales.get(chosen.ratings[0].dimension, scale) if scale is TO_GUESS else scale,
        ratings.file_name,
        tuple(dict.fromkeys((*ratings.notes, *chosen.notes, *(table.notes if tables else ())))),
        {why: n for why, n in (Counter(ratings.left_out) + left_out).items() if n},
        sources=tuple(("", "", "") if name in own else origins[places[columns[name]]] for name in named),
    )
    return replace(found, notes=(*equal_sides(found), *found.notes, *_scale_notes(found)))


def equal_sides(panel: Panel) -> list[str]:
    """A sentence for each judge and rater with equal values on all texts that both rated: perhaps one column twice."""
    return [
        said
        for judge, scores in zip(panel.judges, panel.scores.T, strict=True)
        for rater, ratings in zip(panel.raters, panel.ratings.T, strict=True)
        if (said := equal_values_said(judge, scores, rater, ratings))
    ]


def _with_probabilities(
    rows: Sequence[ScoredRow], rated: Sequence[tuple[int, Rating]]
) -> tuple[ScoredRow, ...]:
    """The rows, with the probability of inclusion that stands beside their ratings only."""
    known = {row: one.labels[PROBABILITY] for row, one in rated if row >= 0 and one.labels.get(PROBABILITY)}
    return tuple(
        replace(row, labels={**row.labels, PROBABILITY: known[at]}) if at in known else row
        for at, row in enumerate(rows)
    )


def only_judges(panel: Panel, names: Collection[str]) -> Panel:
    """The panel with these of its judges, in their order there; rows, items and raters stay."""
    kept = [at for at, name in enumerate(panel.judges) if name in names]
    return replace(
        panel,
        judges=tuple(panel.judges[at] for at in kept),
        scores=panel.scores[:, kept],
        sources=tuple(panel.sources[at] for at in kept) if panel.sources else (),
    )


def unlabelled(panel: Panel, judges: Sequence[int] | None = None) -> NDArray[np.bool_]:
    """Which texts nobody rated although these judges, or all, scored them; shape (n,). judges: their columns."""
    scores = panel.scores if judges is None else panel.scores[:, list(judges)]
    found: NDArray[np.bool_] = np.all(np.isnan(panel.ratings), axis=1) & np.all(~np.isnan(scores), axis=1)
    return found


def inclusion_probabilities(rows: Sequence[ScoredRow]) -> Floats | None:
    """Probability of inclusion of each text, from its label; NaN without one, None if no text has one.

    Raises InputError with every text whose probability is not above 0 and at most 1.
    """
    if not any(row.labels.get(PROBABILITY) for row in rows):
        return None
    found = np.full(len(rows), np.nan)
    problems = []
    for at, row in enumerate(rows):
        written = row.labels.get(PROBABILITY, "")
        value = number_in(written)
        if value is not None and 0 < value <= 1:
            found[at] = value
        elif written:
            problems.append(
                f"item {shown(row.item_id)}: {PROBABILITY} is {shown(written)}, not above 0 and at most 1"
            )
    if problems:
        raise InputError("Labels cannot be weighted:", problems)
    return found


def _numbered(ratings: Sequence[Rating]) -> list[Rating]:
    """The ratings with a name for every rater: unnamed ratings of a text are numbered in their order."""
    if all(one.rater is not None for one in ratings):
        return list(ratings)
    seen: Counter[object] = Counter()
    named = []
    for one in ratings:
        if one.rater is None:
            text = (one.item_id, one.system, one.level, one.language, *sorted(one.labels.items()))
            seen[text] += 1
            one = replace(one, rater=f"rating {seen[text]}")
        named.append(one)
    return named


def _metrics_of(tables: Sequence[ScoreTable], judges: Sequence[str] | None, dimension: str) -> dict[str, str]:
    """Judge -> its metric. By default every metric, or those whose names end with the dimension if any does."""
    names = dict.fromkeys(metric.name for metric in merge_tables(tables).metrics) if tables else {}
    of_dimension = {name: said[0] or name for name in names if (said := dimension_said(name, (dimension,)))}
    if judges is None:
        return {judge: name for name, judge in of_dimension.items()} or {name: name for name in names}
    by_judge = {judge: name for name, judge in of_dimension.items()} | {name: name for name in names}
    return {judge: by_judge[judge] for judge in judges if judge in by_judge}


def _table_of(name: str, ratings: Sequence[Rating]) -> ScoreTable:
    """The rated texts as a table without metrics. Labels in which raters of a text differ do not describe it."""
    by_rater: dict[str | None, list[Rating]] = {}
    for one in ratings:
        by_rater.setdefault(one.rater, []).append(one)
    labels = {label: None for one in ratings for label in one.labels}
    columns = identifying_columns(list(by_rater.values()), ("system", "level"), ("language", *labels))
    texts: dict[object, list[Rating]] = {}
    for one, key in zip(ratings, keys_of(ratings, columns), strict=True):
        texts.setdefault(key, []).append(one)
    rows = []
    for same in texts.values():
        first = same[0]
        agreed = {
            label: value
            for label, value in first.labels.items()
            if all(one.labels.get(label) == value for one in same)
        }
        rows.append(
            ScoredRow(first.item_id, first.system or ONLY_SYSTEM, first.level, first.language, agreed)
        )
    return ScoreTable(tuple(rows), (), np.empty((len(rows), 0)), file_name=name)


def _matrix(
    name: str, table: ScoreTable, raters: Sequence[str], given: Sequence[tuple[int, str, float]]
) -> Floats:
    """Ratings by text and rater. Raises InputError that names every rater with two ratings of one text."""
    column = {rater: at for at, rater in enumerate(raters)}
    values = np.full((len(table.rows), len(raters)), np.nan)
    seen: set[tuple[int, str]] = set()
    problems = Problems()
    for row, rater, value in given:
        if row < 0:
            continue
        if (row, rater) in seen:
            text = table.rows[row]
            level = "" if text.level is None else f", level {shown(text.level)}"
            system = "" if text.system == ONLY_SYSTEM else f", system {shown(text.system)}"
            problems.append(
                f"rater {shown(rater)} rated item {shown(text.item_id)}{system}{level} more than once"
            )
        seen.add((row, rater))
        values[row, column[rater]] = value
    if problems:
        raise InputError(
            f"{shown(name)}: a rater may rate a text only once. Leave out the repeated ratings, or add the column that tells "
            "the texts apart.",
            problems,
        )
    return values


def _scale_notes(panel: Panel) -> list[str]:
    """Notes on judges whose scores lie mostly outside the raters' scale; without its ends, outside the range of their ratings."""
    given = panel.ratings[~np.isnan(panel.ratings)]
    notes = []
    for name, scores in zip(panel.judges, panel.scores.T, strict=True):
        known = scores[~np.isnan(scores)]
        if not given.size or not known.size:
            continue
        low, high = panel.scale.ends or (given.min(), given.max())
        outside = int(((known < low) | (known > high)).sum())
        if 2 * outside > known.size:
            notes.append(
                f"{shown(name)}: {outside:,} of {known.size:,} scores lie outside the raters' scale of {low:g} to {high:g}. "
                "Compare only judges that use it"
            )
    return notes


def on_scale(panel: Panel, declared: DeclaredScale, *, codes: bool = False) -> Panel:
    """The panel of ratings that are numbers, with the scale that is declared, else guessed.

    Numbers that are declared missing become no rating and no score. codes: whether the ratings are codes of a choice, which
    have no order. Raises InputError for ratings that are not on the declared scale, with the number of each.
    """
    missing = {name: value for name in declared.missing if (value := number_in(name)) is not None}
    left_out = Counter(panel.left_out)
    for name, value in missing.items():
        n = int((panel.ratings == value).sum() + (panel.scores == value).sum())
        left_out.update({NAMED_MISSING.format(name): n} if n else {})
    gone = [*missing.values()]
    panel = replace(
        panel,
        ratings=np.where(np.isin(panel.ratings, gone), np.nan, panel.ratings),
        scores=np.where(np.isin(panel.scores, gone), np.nan, panel.scores),
        left_out=dict(left_out),
    )
    given = [values[~np.isnan(values)] for values in (panel.ratings, panel.scores)]
    codes = codes and all(np.array_equal(values, np.round(values)) for values in given)
    codes = codes and np.unique(given[0]).size <= MOST_GUESSED
    if panel.scale.origin == "file" and declared.leaves_all_open:
        return panel
    scale = scale_of_numbers(panel.ratings, declared, codes=codes)
    if declared.numbers or declared.ends is not None:
        _check_on_offer(panel, scale)
    notes = panel.notes
    if scale.kind == "unordered" and scale.origin == "guessed":
        notes = (
            *notes,
            f"{listed(panel.raters)}: named like a choice, so the numbers are codes without an order",
        )
    return replace(panel, scale=scale, notes=notes)


def _check_on_offer(panel: Panel, scale: Scale) -> None:
    """Raise InputError with the ratings that the declared scale does not have, one line a value of a rater."""
    problems = Problems()
    columns = [*zip(panel.raters, panel.ratings.T, strict=True)]
    if not scale.ordered:  # a judge's code that is no class means nothing; a graded score may
        columns += zip(panel.judges, panel.scores.T, strict=True)
    for name, values in columns:
        off, numbers = np.unique(values[~np.isnan(values) & ~scale.on_offer(values)], return_counts=True)
        for value, n in zip(off.tolist(), numbers.tolist(), strict=True):
            problems.append(f"{shown(name)}: {value:g} ({counted(n, 'cell')}) is not one of the {scale.said}")
    if problems:
        raise InputError(f"{shown(panel.name)}: some ratings are not on the declared scale", problems)


def named_people(ratings: RatingSet) -> list[str] | None:
    """The raters who are not named like a judge; None if nobody is."""
    names = [*dict.fromkeys(one.rater for one in ratings.ratings if one.rater is not None)]
    people = [name for name in names if who_in(name) != "judge"]
    return None if len(people) == len(names) else people


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
    data, own, unit = _named_columns(data, file_name, system_column, item)
    format_found = format_of("ratings", data, file_name)
    if format_found.rows is None:
        return None
    findings = findings_of(data, file_name)
    table = as_written(format_found.rows(data, known_at("ratings"), findings))
    findings.refuse()
    given = (_spelled(table, human or ()), _spelled(table, judges or ()))
    found = _roles(table, *given, dimension, judged_elsewhere, unit, people_alone=people_alone)
    return found.renamed(own)


def _named_columns(
    data: bytes, file_name: str, system_column: str | None, item: str | None
) -> tuple[bytes, dict[str, str], str | None]:
    """The file with the columns renamed that the user names, Assay's name -> the file's column, and the column of items.

    A column of items beside ids keeps its name, and ids go on naming texts, if each id has one item. Otherwise the column
    becomes the ids. Raises InputError for unknown columns.
    """
    named = {"system": system_column} if system_column else {}
    if item is None or item == ROW:
        return with_columns(data, file_name, named), named, None
    as_ids = {**named, "item_id": item}
    renamed = with_columns(data, file_name, as_ids)  # refuses a column that the file lacks
    read = format_of("ratings", data, file_name).rows
    if read is None:
        return renamed, as_ids, None
    table = as_written(read(data, known_at("ratings"), FileFindings(file_name, "")))
    (column,) = _spelled(table, [item])
    ids = next(
        (key for key, name in named_columns(table.keys, known_at("panel")).items() if name == "item_id"), None
    )
    names = [] if ids is None else [label_of(record.cells.get(ids)) for record in table.records]
    if ids in (None, column) or not any(names) or _by_id(table, names, column) is None:
        return renamed, as_ids, None
    return with_columns(data, file_name, named), named, column


def _by_id(table: Table, ids: Sequence[str | None], column: str) -> dict[str, str] | None:
    """Id -> value of a column, with single spaces; None if rows of one id have different values."""
    found: dict[str, str] = {}
    for name, record in zip(ids, table.records, strict=True):
        cell = record.cells.get(column)
        value = "" if is_nothing(cell) else " ".join(str(label_of(cell) or cell).split())
        if name is not None and found.setdefault(name, value) != value:
            return None
    return found


def as_written(table: Table) -> Table:
    """The table with its records under the file's own column names."""
    names = {name: key for key, name in table.columns.items()}
    if all(name == key for name, key in names.items()):
        return table
    records = [
        Record(record.where, {names.get(key, key): cell for key, cell in record.cells.items()}, record.line)
        for record in table.records
    ]
    return table._replace(records=records)


def _spelled(table: Table, names: Sequence[str]) -> list[str]:
    """The names, in the file's spelling where they are columns."""
    plain = _by_plain_name(table)
    return [name if name in table.keys else plain.get(name.strip().casefold(), name) for name in names]


def _by_plain_name(table: Table) -> dict[str, str]:
    """Name in lower case -> column; a metric or label needs no mark."""
    marked = {
        key.removeprefix(METRIC_MARK).removeprefix(LABEL_MARK).strip().casefold(): key for key in table.keys
    }
    return marked | {key.strip().casefold(): key for key in table.keys}


def _roles(
    table: Table,
    human: Sequence[str],
    judges: Sequence[str],
    dimension: Dimension,
    judged_elsewhere: bool,
    unit: str | None = None,
    *,
    people_alone: bool = False,
) -> Roles:
    return roles_of(
        table,
        human=human,
        judges=judges,
        dimension=dimension if isinstance(dimension, str) else None,
        judged_elsewhere=judged_elsewhere,
        unit=unit,
        is_metric=_metrics_in(table),
        people_alone=people_alone,
    )


def _metrics_in(table: Table) -> Callable[[str], bool]:
    """Whether a name is that of a metric, in this table."""
    of_ragas = has_rows_of_ragas(table.keys)
    return lambda name: family_of(name) != NO_FAMILY or (of_ragas and is_metric_of_ragas(name))


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
) -> Panel:
    """Read raters and judges from one file, wide or long, with further judges in tables of scores.

    Without names the columns are found (`found_roles`), and the result's `roles` shows them.

    Wide: `human` and `judges` name columns, and each row is a text; without a column of items each row is an item. Long: a
    row for each item, rater and score; `human` names raters (None: all that are not judges), and `judges` raters or
    columns. Cells are numbers or words; words of a known scale (`core.tables.mapping.SCALES`) are ordered classes, others
    are labels. An empty cell is a missing rating. Other formats of ratings are read as everywhere.
    system_column: column with the system. item: what an item is, a column whose rows belong together if they have the same
    value, or ROW; None to guess it (`_unit_of`). Rows of a declared item may repeat it.
    find: find columns by the wider names of other programs too, and refuse what is ambiguous: repeated texts or ratings,
    and scores that match several texts. beside: contents and name of files with judges' scores, for `find` only. declared:
    what the user says about the raters' scale; the rest is guessed from their cells. people_alone: no judge is wanted, and
    what is named like a judge's is nobody's, unless `human` names it; goes with `find`, without judges and tables.

    Raises InputError with all problems of the file and their places, and as `panel_of`; Undecided if the columns do not
    tell people from judges.
    """
    data, own, unit_column = _named_columns(data, file_name, system_column, item)
    format_found = format_of("ratings", data, file_name)
    if format_found.rows is None:
        tables = [*tables, *(evaluators_in(one, name) or scores_in(one, name) for one, name in beside)]
        ratings = ratings_in(data, file_name, flip=flip)
        raters = {one.rater for one in ratings.ratings}
        metrics = {metric.name for table in tables for metric in table.metrics}
        beside_ratings = judges is None and find and not tables
        if people_alone:
            human = human if human is not None else named_people(ratings)
        elif (beside_ratings or not {*(judges or ())} <= {*raters, *metrics}) and (
            own_scores := evaluators_in(data, file_name, flip=flip)
        ):
            tables = [own_scores, *tables]
        found = panel_of(ratings, tables, raters=human, judges=judges, dimension=dimension)
        found = on_scale(found, declared)
        return of_rows(found) if item == ROW else found
    judges = None if judges is None else [name.removeprefix(METRIC_MARK) for name in judges]
    findings = findings_of(data, file_name)
    table = format_found.rows(data, known_at("ratings"), findings)
    if not table.records and not findings.problems:
        findings.problems.append("file: contains no row below its header")
    findings.refuse()
    written = as_written(table)
    roles = _roles_to_read(
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
    chosen = judges
    if roles is not None:
        read_as = {key: name for key, name in roles.read_as.items() if name in known_at("ratings")}
        written = written._replace(columns=read_as)
        human = human if human is not None else roles.human
        if judges is None and not tables and not beside:
            judges = [name.removeprefix(METRIC_MARK) for name in roles.judges]
        dimension = dimension if roles.long else None
        shown_roles = roles.renamed(own)
        findings.notes.append(f"columns found: {shown_roles.said}")
        findings.notes += [shown_roles.passed_over] if shown_roles.passed_over else []
    missing = _Missing(declared.missing)
    _check_not_beside(data, file_name, beside)
    files = _by_file([_judge_file(one, name, judges or (), missing, human or ()) for one, name in beside])
    elsewhere = {name for one in files for name in one.cells}
    elsewhere |= set(_metrics_of(tables, judges, "")) | {
        metric.name for one in tables for metric in one.metrics
    }
    sheet = missing.out_of(_sheet_of(data, written, human or (), judges or (), elsewhere, roles))
    words, unfit = _aligned(sheet, files, judges or (), chosen or (), declared, findings)
    sheet = replace(sheet, judges={k: v for k, v in sheet.judges.items() if k not in unfit})
    judges = None if judges is None else [name for name in judges if name not in unfit]
    files = [one.without(unfit) for one in files]
    tables = [*tables, *(one.scores(words) for one in files if one.cells)]
    ids = _ids(sheet, findings, by_number=item == ROW or any(one.row_numbers for one in tables))
    by_row = item is not None
    if sheet.human:
        ratings, scores = _read_wide(sheet, words, findings, ids, by_row=by_row)
    else:
        ratings, scores = _read_long(sheet, words, findings, by_row=by_row)
    joined = row_number_notes(ratings, tables)
    if roles is not None:
        of_file = {one.name: one for one in files}
        for one in tables:
            file = of_file.get(one.file_name)
            places = _places_in(file.table, file.roles) if file else _places_in(None, None)
            check_join(ratings, one, _places_in(sheet.table, roles), places)
    if human is None and dimension is None and not {"rater", "dimension"} & set(table.columns.values()):
        columns = {one.dimension for one in ratings.ratings if one.rater is None}
        if len(columns) > 1:
            raise InputError(
                f"{shown(file_name)} has no column rater",
                [f"human: name the columns with ratings by people; the file has {listed(sheet.others)}"],
            )
    found = panel_of(
        ratings,
        [*([scores] if scores else []), *tables],
        raters=human,
        judges=judges,
        dimension=dimension,
        scale=words.scale if words else TO_GUESS,
    )
    found = replace(
        found,
        roles=None if roles is None else roles.renamed(own),
        notes=tuple(dict.fromkeys((*joined, *found.notes))),
    )
    if words is None:
        found = on_scale(found, declared, codes=sheet.of_choices)
    found = _with_unit(found, sheet, ids, item, unit_column, joined_by_row=bool(joined))
    if found.unit.name not in (ID, ROW) or found.unit.undecided:
        found = replace(found, notes=(*found.notes, found.unit.said))
    left_out = found.left_out
    if sheet.human:
        # Every row of a wide table is a text: an empty cell is a missing rating, and no row is left out.
        left_out = {why: n for why, n in left_out.items() if why not in ratings.left_out}
    return replace(found, left_out={**left_out, **missing.left_out})


def _roles_to_read(
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
    """The roles that decide how a table is read; None where names that the user gave say everything."""
    long = "rater" in table.columns.values()
    lacking = (human is None and not long) or judges is None
    if not find and (elsewhere or not lacking):
        return None
    given = (_spelled(table, human or ()), _spelled(table, judges or ()))
    roles = _roles(table, *given, dimension, elsewhere, unit, people_alone=people_alone)
    if find:
        check_decided(roles, file_name)
    return None if roles.problems else roles


@dataclass(frozen=True)
class _Sheet:
    """A table with its columns of ratings and scores, or of scores alone."""

    table: Table
    """Its records have the file's own column names."""
    human: Mapping[str, str]
    """Rater -> column; empty if the table is long."""
    judges: Mapping[str, str]
    """Judge -> column."""
    data: bytes
    """The file, for readers that also read what stands beside its rows."""
    roles: Roles | None = None
    """The meaning of all columns; None to read them by the names of texts and ratings."""

    @property
    def others(self) -> list[str]:
        """The columns that hold neither ratings nor scores; of a table with roles, only those that are read."""
        used = {*self.human.values(), *self.judges.values()}
        if self.roles is not None:
            read = {*self.roles.read_as, *self.roles.groups}
            read |= {key for key in self.roles.others if key.lower() in LABELS or is_price_or_time(key)}
            return [key for key in self.table.keys if key in read and key not in used]
        return [key for key in self.table.keys if key not in used]

    def named(self, about: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Column -> Assay's name, for the columns that describe texts."""
        if self.roles is not None:
            return {key: name for key, name in self.roles.read_as.items() if name in about}
        return source_as_system(named_columns(self.others, about))

    @property
    def rater(self) -> str | None:
        """The column of a long table that names who rated."""
        return self._long("rater") if self.roles is None else self.roles.rater

    @property
    def score(self) -> str | None:
        """The column of a long table with the ratings."""
        return self._long("score") if self.roles is None else self.roles.score

    def _long(self, wanted: str) -> str | None:
        return next((key for key, name in self.table.columns.items() if name == wanted), None)

    @property
    def of_choices(self) -> bool:
        """Whether the ratings' columns are named like a choice, so that whole numbers there are codes without an order."""
        columns = [*self.human.values()] or [self.score or ""]
        return all(map(is_choice, columns))


def _sheet_of(
    data: bytes,
    table: Table,
    human: Sequence[str],
    judges: Sequence[str],
    elsewhere: Collection[str],
    roles: Roles | None = None,
) -> _Sheet:
    """Find the columns that the names mean. table: under the file's own names. elsewhere: judges with scores in other files.

    Raises InputError for names that are neither a column nor, in a long table, possibly a rater.
    """
    plain = _by_plain_name(table)
    columns = {
        name: name if name in table.keys else plain[name.strip().casefold()]
        for name in (*human, *judges)
        if name in table.keys or name.strip().casefold() in plain
    }
    long = "rater" in table.columns.values() if roles is None else roles.long
    wide = any(name in columns for name in human) and not (
        long and any(name not in columns for name in human)
    )
    unknown = [
        *(name for name in human if name not in columns and (wide or not long)),
        *(name for name in judges if name not in columns and name not in elsewhere and (wide or not long)),
    ]
    check_names("column", list(dict.fromkeys(unknown)), table.keys)
    named = [*dict.fromkeys((*human, *judges))]
    twice = [name for name in named if [*human, *judges].count(name) > 1]
    twice += [
        name for name in named if [columns.get(one) for one in named].count(columns.get(name, name)) > 1
    ]
    if twice:
        raise InputError(f"{listed(twice)}: named more than once. Name each rater and each judge once.")
    return _Sheet(
        table,
        {name: columns[name] for name in human} if wide else {},
        {name: columns[name] for name in judges if name in columns},
        data,
        roles,
    )


@dataclass
class _Missing:
    """Cells that are no rating and no score, by the user's word; `left_out` counts those found."""

    names: tuple[str, ...]
    left_out: Counter[str] = field(default_factory=Counter)

    def out_of(self, sheet: _Sheet) -> _Sheet:
        """The sheet with empty cells in their place."""
        columns = {*sheet.human.values(), *sheet.judges.values()}
        if not sheet.human and sheet.score:
            columns.add(sheet.score)
        plain = {plain_word(name) or name: name for name in self.names}  # of `-` nothing is left
        if not plain:
            return sheet
        records = []
        for record in sheet.table.records:
            held = {
                key: plain[word]
                for key in columns
                if (word := plain_word(cell := label_of(record.cells.get(key)) or "") or cell) in plain
            }
            self.left_out.update(map(NAMED_MISSING.format, held.values()))
            records.append(
                replace(record, cells={**record.cells, **dict.fromkeys(held, None)}) if held else record
            )
        return replace(sheet, table=sheet.table._replace(records=records))


def _sides_of(sheet: _Sheet) -> list[Side]:
    """What each rater and each judge of a sheet wrote."""
    cells: dict[str, Counter[object]] = {}
    by_column = {**sheet.human, **sheet.judges}
    rater, score = sheet.rater, sheet.score
    columns = dict(by_column)
    for record in sheet.table.records:
        for name, column in by_column.items():
            if not is_undefined(cell := record.cells.get(column)):
                cells.setdefault(name, Counter())[_hashable(cell)] += 1
        if score and not sheet.human:
            name = (label_of(record.cells.get(rater)) if rater else None) or ""
            columns.setdefault(name, score)
            if not is_undefined(cell := record.cells.get(score)):
                cells.setdefault(name, Counter())[_hashable(cell)] += 1
    return [Side(name, held, columns[name]) for name, held in cells.items()]


def _hashable(cell: object) -> object:
    return cell if isinstance(cell, str | bool | int | float) else str(cell)


def _aligned(
    sheet: _Sheet,
    files: Sequence["_JudgeFile"],
    judges: Sequence[str],
    chosen: Collection[str],
    declared: DeclaredScale,
    findings: FileFindings,
) -> tuple[Words | None, set[str]]:
    """The numbers of all words, and the judges that use another scale than the raters.

    Adds notes. Raises InputError if the raters use several scales, if no judge uses theirs, or one that was named does not,
    and with all cells that are no class of the scale.
    """
    roles = sheet.roles
    sides = _sides_of(sheet)
    if roles is None:
        people = [side for side in sides if side.name in sheet.human or side.name not in judges]
    else:
        people = [side for side in sides if side.name in roles.human or side.name in sheet.human]
    scored = [side for side in sides if side.name in judges and side not in people]
    for file in files:
        scored += [Side(name, held) for name, held in file.cells.items()]
    alike = scored if declared.classes else []
    fits, own = common_scale(people, alike, declared)
    if fits:
        check_cells(people, alike, own, declared, findings.file_name)
    else:
        raise InputError(
            f"{findings.file_name}: the raters use different scales. Choose raters who use the same one",
            [f"human: {side.said}" for side in people],
        )
    unfit = {side.name: side for side in scored if not common_scale(people, [side], declared)[0]}
    rest = [side for side in scored if side.name not in unfit]
    fits, words = common_scale(people, rest, declared)
    if (unfit and (not rest or {*chosen} & {*unfit})) or not fits:
        check_odd_words(people, findings.file_name)
        used = people[0].said if people else ""
        raise InputError(
            f"{shown(findings.file_name)}: a judge can only be compared on the raters' scale. Convert its scores, or choose "
            "other columns",
            [f"judge: {side.said}, but {used}" for side in unfit.values() or rest],
        )
    for side in unfit.values():
        findings.notes.append(
            f"judge {shown(side.name)} is left out, because it uses another scale: {side.said}"
        )
    check_cells(people, rest, words, declared, findings.file_name)
    if words is not None:
        findings.notes.append(words.said)
        if declared.leaves_all_open and not words.scale.ordered:
            findings.notes += odd_word_notes(people)
        if any(side.numbers for side in (*people, *rest)):
            as_numbers = [side.name for side in (*people, *rest) if side.numbers]
            findings.notes.append(
                f"words and numbers are the same classes: {listed(as_numbers)} has the numbers"
            )
    return words, set(unfit)


@dataclass(frozen=True)
class _JudgeFile:
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

    def without(self, judges: Collection[str]) -> "_JudgeFile":
        return replace(
            self,
            judges={name: column for name, column in self.judges.items() if name not in judges},
            cells={name: cells for name, cells in self.cells.items() if name not in judges},
        )

    def scores(self, words: Words | None) -> ScoreTable:
        """Its scores as numbers. Raises InputError with the problems of the file."""
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
        for number, record in enumerate(self.table.records, start=1):
            cells = {named[key]: cell for key, cell in record.cells.items() if key in named}
            if "item_id" not in read_as.values():
                cells["item_id"] = str(number)
            if rater and score:
                if label_of(record.cells.get(rater)) not in self.cells:
                    continue
                cells |= {"metric": record.cells.get(rater), "score": _number(record.cells.get(score), words)}
            cells |= {mark: _number(record.cells.get(key), words) for key, mark in marks.items()}
            records.append(replace(record, cells=cells))
        keys = list(dict.fromkeys(key for record in records for key in record.cells))
        known = {*about, *(("metric", "score") if rater else ())}
        columns = {key: key for key in keys if key in known}
        try:
            found = read_scores(self.data, self.name, rows=lambda *_: Table(keys, columns, records))
            return replace(found, row_numbers=0 if "item_id" in read_as.values() else len(self.table.records))
        except InputError as error:
            problems = error.found or Problems([error.what])
            reject(self.name, problems.each(lambda one: one.replace(METRIC_MARK, "column ")))


def _by_file(files: Sequence[_JudgeFile]) -> list[_JudgeFile]:
    """The files, with a judge called by its file's name if several files call theirs the same, such as `score`."""
    counts = Counter(name for file in files for name in file.cells)
    stems = Counter(PurePath(file.name).stem for file in files)

    def named(file: _JudgeFile, name: str) -> str:
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
    file = _judge_file(data, name, judges or (), _Missing(()), people or ())
    _, words = common_scale([Side(name, held) for name, held in file.cells.items()], ())
    return file.scores(words)


def _judge_file(
    data: bytes, name: str, judges: Sequence[str], missing: _Missing, people: Sequence[str] = ()
) -> _JudgeFile:
    """A file with judges' scores. Raises InputError if no column is a judge's."""
    findings, format_found = findings_of(data, name), format_of("scores", data, name)
    empty = Table([], {}, [])
    if format_found.rows is None or "scores" in format_found.read:
        read = evaluators_in(data, name) or scores_in(data, name)
        cells: dict[str, Mapping[object, int]] = {
            metric.name: {} for metric in read.metrics if metric.name not in people
        }
        return _JudgeFile(data, name, empty, Roles(), {}, cells, read)
    table = as_written(format_found.rows(data, known_at("scores"), findings))
    findings.refuse()
    named = _spelled(table, judges)
    roles = judge_roles(table, judges=named, people=_spelled(table, people), is_metric=_metrics_in(table))
    if roles.problems:
        raise Undecided(
            f"{shown(name)}: the columns do not tell which one is the judge's", roles.problems, roles
        )
    written = {column: judge for judge, column in zip(judges, named, strict=True)}
    own = {written.get(column, column): column for column in roles.judges}
    sheet = missing.out_of(_Sheet(table, {}, own, data, roles))
    cells = {side.name: side.cells for side in _sides_of(sheet) if side.name not in people}
    return _JudgeFile(data, name, sheet.table, roles, own, cells)


def names_people(data: bytes, file_name: str, names: Sequence[str]) -> bool:
    """Whether a table has all these columns, or raters, so that `human` may name them there. Raises InputError."""
    read = format_of("ratings", data, file_name).rows
    if read is None:
        return False
    table = read(data, known_at("panel"), FileFindings(file_name, ""))
    raters = {label_of(record.cells.get("rater")) for record in table.records}
    plain = _by_plain_name(table)
    return all(name in raters or name.strip().casefold() in plain for name in names)


def _check_not_beside(data: bytes, file_name: str, beside: Sequence[tuple[bytes, str]]) -> None:
    """Raise InputError if a file with judges' scores is the file of the ratings."""
    tables = [
        ScoreTable((), (), np.empty((0, 0)), file_name=name, sha256=sha256_of(one)) for one, name in beside
    ]
    check_two_files(RatingSet((), sha256_of(data), file_name), tables)


def _places_in(table: Table | None, roles: Roles | None) -> Callable[[str], list[str]]:
    """Item -> places of its rows in a table."""

    def places(item: str) -> list[str]:
        if table is None or roles is None or roles.item is None:
            return []
        key = roles.item
        return [record.where for record in table.records if label_of(record.cells.get(key)) == item]

    return places


class Repeated(InputError):
    """A table in which a rater rated a text more than once, or in which nothing tells the texts apart."""


def _check_repeated(
    records: Sequence[Record], whose: Callable[[Record], str], findings: FileFindings, *, by_text: bool
) -> None:
    """Raise Repeated for rows that repeat the item, system, level, language and rater of an earlier one.

    records: with Assay's names. whose: the raters of a row, for the message. by_text: whether rows that differ in their text
    are different texts of one item.
    """
    parts = ("item_id", "system", "level", "language", LABEL_PAIR, "dimension")
    labels = [
        name
        for name in dict.fromkeys(key for record in records for key in record.cells)
        if name.removeprefix(LABEL_MARK).lower() in LABELS
    ]
    first: dict[tuple[object, ...], str] = {}
    repeats: list[tuple[str, str, tuple[object, ...], str]] = []
    for record in records:
        own = [None if is_nothing(cell := record.cells.get(name)) else label_of(cell) for name in parts]
        rater = whose(record)
        further = [repr(record.cells.get(name)) for name in labels]
        if by_text and not is_nothing(text := record.cells.get("text")):
            further.append(repr(text))
        key: tuple[object, ...] = (*own, rater, *further)
        before = first.setdefault(key, record.where)
        if before != record.where:
            repeats.append((record.where, before, key, rater))
    problems = Problems()
    for where, before, key, rater in repeats[:MOST_REPEATED]:
        named = [f"item {shown(str(key[0]))}"]
        named += [
            f"{name} {shown(str(part))}"
            for name, part in zip(("system", "level"), key[1:3], strict=True)
            if part
        ]
        problems.append(f"{where}: {', '.join(named)}: {rater} rated it in {before} already")
    if len(repeats) > MOST_REPEATED:
        problems.append(f"file: {len(repeats) - MOST_REPEATED:,} more rows repeat an earlier rating")
    if repeats:
        raise Repeated(
            f"{shown(findings.file_name)}: a rater may rate a text only once. Leave out the repeated rows, or name the column "
            "that tells the texts apart",
            [*findings.problems, *problems],
        )


def _number(cell: object, words: Words | None) -> object:
    return words.numbers.get(plain_word(cell), cell) if words and isinstance(cell, str | bool) else cell


def _read_wide(
    sheet: _Sheet, words: Words | None, findings: FileFindings, ids: "_Ids", *, by_row: bool
) -> tuple[RatingSet, ScoreTable | None]:
    """Ratings and scores of a wide table, each by the reader of its kind."""
    about = known_at("texts")
    taken = {name for own in VOCABULARY.values() for name in own}
    read_as = sheet.named(about)
    labels = {
        key: key if key.startswith(LABEL_MARK) else f"{LABEL_MARK}{key}"
        for key in sheet.others
        if key not in read_as
        and key.strip().lower() not in taken
        and key not in (*UNUSED, *SAID)
        and key.lower() not in INDEX_COLUMNS
    }
    named = {**read_as, **labels}
    texts: list[Record] = []
    for at, record in enumerate(sheet.table.records):
        cells = {named[key]: cell for key, cell in record.cells.items() if key in named}
        if ids.column is None:
            cells["item_id"] = ids.names[at] or ""
        texts.append(replace(record, cells=cells))
    if sheet.roles is not None and not by_row:
        people = listed([*sheet.human])
        _check_repeated(texts, lambda _: people, findings, by_text=True)
        by_row = True
    texts = _told_apart(texts, list(sheet.human), findings, by_row=by_row)
    columns = {
        name: name for name in dict.fromkeys(key for text in texts for key in text.cells) if name in about
    }
    rated = [
        Record(
            f"{text.where}, column {shown(column)}",
            {**text.cells, "rater": rater, "score": _number(record.cells.get(column), words)},
        )
        for text, record in zip(texts, sheet.table.records, strict=True)
        for rater, column in sheet.human.items()
    ]
    marks = {
        column: metric_column(Metric(judge, "", ""), False, frozenset())
        for judge, column in sheet.judges.items()
    }
    scored = [
        replace(
            text,
            cells={
                **text.cells,
                **{mark: _number(record.cells.get(column), words) for column, mark in marks.items()},
            },
        )
        for text, record in zip(texts, sheet.table.records, strict=True)
    ]
    keys = list(dict.fromkeys(key for text in texts for key in text.cells))
    of_raters = Table([*keys, "rater", "score"], {**columns, "rater": "rater", "score": "score"}, rated)
    found, own = _read_both(
        sheet.data, of_raters, Table([*keys, *marks.values()], columns, scored) if marks else None, findings
    )
    numbers = 0 if ids.column is not None else len(texts)
    return replace(found, row_numbers=numbers), own and replace(own, row_numbers=numbers)


@dataclass(frozen=True)
class _Ids:
    """The ids of a table's rows."""

    names: Sequence[str | None]
    """For each row its id; without a column of ids, a number."""
    column: str | None
    """The column of ids; None if the table has none."""
    asked: str | None = None
    """Without ids: the column whose values are numbered; None if rows are."""


def _ids(sheet: _Sheet, findings: FileFindings, *, by_number: bool) -> _Ids:
    """The ids of a table; without a column of them, numbers of its questions or of its rows, with a note.

    by_number: whether rows are numbered even where questions repeat.
    """
    records = sheet.table.records
    read_as = sheet.named(known_at("texts"))
    column = next((key for key, name in read_as.items() if name == "item_id"), None)
    if column is not None:
        return _Ids([label_of(record.cells.get(column)) for record in records], column)
    question = next((key for key, name in read_as.items() if name == "question"), None)
    if question is not None and sheet.roles is not None and not by_number:
        asked = [" ".join(str(record.cells.get(question) or "").split()) for record in records]
        numbers = {text: str(number) for number, text in enumerate(dict.fromkeys(asked), start=1)}
        told_apart = [key for key, name in read_as.items() if name in ("system", "level", "text")]
        rows = {
            (text, *(repr(record.cells.get(key)) for key in told_apart))
            for text, record in zip(asked, records, strict=True)
        }
        if "" not in numbers and 1 < len(numbers) < len(records) == len(rows):
            findings.notes.append(
                f"no column names the item: {len(numbers):,} different questions are the items, numbered from 1"
            )
            return _Ids([numbers[text] for text in asked], None, question)
    if sheet.human:
        findings.notes.append("no column names the item: each row is an item, numbered from 1")
    return _Ids([str(number) for number in range(1, len(records) + 1)], None)


def of_rows(panel: Panel) -> Panel:
    """The panel with each of its rows as an item."""
    n = len(panel.rows)
    unit = replace(panel.unit, name=ROW, origin="declared", n=n, undecided=None, n_values=0)
    return replace(panel, items=np.arange(n), unit=unit)


def _with_unit(
    panel: Panel, sheet: _Sheet, ids: _Ids, item: str | None, column: str | None, *, joined_by_row: bool
) -> Panel:
    """The panel with its items: as declared, or guessed.

    Guessed, the item is the id. Where ids are unique to texts, or missing, and a question or source repeats, it is that
    column from FEWEST_VALUES different values on; with fewer the unit is undecided, and a constant column never counts.

    item: as declared. column: the declared column, where it is not that of the ids.
    """
    panel = replace(panel, unit=replace(panel.unit, joined_by_row=joined_by_row))
    if item == ROW:
        return of_rows(panel)
    if column is not None:
        return _of_column(panel, sheet, ids, column, "declared")
    if item is not None:
        return replace(panel, unit=replace(panel.unit, name=shown(item), origin="declared"))
    if ids.asked is not None:
        few = panel.unit.n < FEWEST_VALUES
        unit = replace(
            panel.unit,
            name=shown(ids.asked),
            undecided=shown(ids.asked) if few else None,
            n_values=panel.unit.n if few else 0,
        )
        return replace(panel, unit=unit)
    if ids.column is None:
        panel = replace(panel, unit=replace(panel.unit, name=ROW))
    if panel.unit.n < len(panel.rows):
        return panel
    for asked in _asked_columns(sheet):
        found = _of_column(panel, sheet, ids, asked, "guessed")
        if not 1 < found.unit.n < len(panel.rows):
            continue
        if found.unit.n >= FEWEST_VALUES:
            return found
        return replace(panel, unit=replace(panel.unit, undecided=shown(asked), n_values=found.unit.n))
    return panel


def _asked_columns(sheet: _Sheet) -> list[str]:
    """The columns of questions, prompts and sources, in this order, that a table shares between texts."""
    read_as = sheet.named(known_at("panel" if sheet.roles is not None else "texts"))
    usual = {name: {_plain_key(one) for one in names} for name, names in known_at("panel").items()}
    used = {*sheet.human.values(), *sheet.judges.values()}
    free = [
        key
        for key in sheet.table.keys
        if key not in used and read_as.get(key) in (None, "question", "source")
    ]
    questions = [
        key for key in free if read_as.get(key) == "question" or _plain_key(key) in usual["question"]
    ]
    # Short words in a column `source` may be systems or data sets, unless the systems have a column.
    sources = [
        key
        for key in free
        if read_as.get(key) == "source"
        and ("system" in read_as.values() or holds_texts(sheet.table.records, key))
    ]
    return [*questions, *sources]


def _plain_key(key: str) -> str:
    return "_".join(words_in(key))


def _of_column(
    panel: Panel, sheet: _Sheet, ids: _Ids, column: str, origin: Literal["declared", "guessed"]
) -> Panel:
    """The panel with the values of a column as its items; the same panel if an id has several values.

    A text that the table lacks, and one without a value, is an item of its own.
    """
    by_id = _by_id(sheet.table, ids.names, column)
    if by_id is None:
        return panel
    for whole, held in [*by_id.items()]:  # readers split ids such as ITEM_level2
        if split := level_in(whole):
            by_id.setdefault(split[0], held)
    values = [
        ("value", by_id[row.item_id]) if by_id.get(row.item_id) else ("id", row.item_id) for row in panel.rows
    ]
    numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
    unit = replace(panel.unit, name=shown(column), origin=origin, n=len(numbers), undecided=None, n_values=0)
    return replace(panel, items=np.array([numbers[value] for value in values], dtype=np.int64), unit=unit)


def _told_apart(
    texts: Sequence[Record], raters: Sequence[str], findings: FileFindings, *, by_row: bool
) -> list[Record]:
    """The rows with a number as a label where only their text, or nothing at all, tells them apart.

    Adds a problem for a row that repeats an earlier one, unless rows are texts by request (`by_row`).
    """
    parts = [
        name for name in dict.fromkeys(key for text in texts for key in text.cells) if name not in UNUSED
    ]
    keys = [repr([text.cells.get(name) for name in parts]) for text in texts]
    if len(set(keys)) == len(keys):
        return list(texts)
    first: dict[str, str] = {}
    for text in texts if not by_row else ():
        whole = repr(text.cells)
        before = first.setdefault(whole, text.where)
        if before != text.where:
            findings.problems.append(
                f"{text.where}: item {shown(str(text.cells.get('item_id')))}: the same text as in {before}, so "
                f"{listed(raters)} would have rated it twice; delete one of them"
            )
    return [
        replace(text, cells={**text.cells, f"{LABEL_MARK}{ROW_LABEL}": str(number)})
        for number, text in enumerate(texts, start=1)
    ]


def _read_long(
    sheet: _Sheet, words: Words | None, findings: FileFindings, *, by_row: bool
) -> tuple[RatingSet, ScoreTable | None]:
    """Ratings of a long table, and scores from columns beside them."""
    others = sheet.others
    read_as = {key: name for key, name in sheet.table.columns.items() if key in others}
    rated = [
        replace(
            record,
            cells={
                read_as.get(key, key): _number(cell, words) if read_as.get(key) == "score" else cell
                for key, cell in record.cells.items()
                if key in others
            },
        )
        for record in sheet.table.records
    ]
    if sheet.roles is not None and not by_row:
        _check_repeated(
            rated, lambda record: f"rater {shown(str(record.cells.get('rater')))}", findings, by_text=False
        )
    if not sheet.judges:
        return _read_both(sheet.data, sheet.table._replace(records=rated), None, findings)
    about = known_at("texts")
    marks = {
        column: metric_column(Metric(judge, "", ""), False, frozenset())
        for judge, column in sheet.judges.items()
    }
    named = {key: name for key, name in read_as.items() if name in about} | marks
    scored: dict[str, Record] = {}
    for record in sheet.table.records:  # the score of a text stands beside each of its ratings
        cells = {
            named[key]: _number(cell, words) if key in marks else cell
            for key, cell in record.cells.items()
            if key in named
        }
        if any(not is_nothing(cells.get(mark)) for mark in marks.values()):
            scored.setdefault(repr(cells), replace(record, cells=cells))
    columns = {name: name for name in named.values() if name in about}
    scores = Table([*named.values()], columns, list(scored.values()))
    return _read_both(sheet.data, Table(others, read_as, rated), scores, findings)


def _read_both(
    data: bytes, ratings: Table, scores: Table | None, findings: FileFindings
) -> tuple[RatingSet, ScoreTable | None]:
    """Read both tables with the readers of ratings and of scores. Raises InputError with the problems of both."""
    name, problems = findings.file_name, Problems()
    problems += findings.problems
    found: RatingSet | None = None
    scored: ScoreTable | None = None
    try:
        found = read_ratings(data, name, rows=lambda *_: ratings)
    except InputError as error:
        problems += error.found or [error.what]
    if scores is not None:
        try:
            # Its notes repeat those on the ratings, which stand in the same file.
            scored = replace(read_scores(data, name, rows=lambda *_: scores), notes=(), sha256="")
        except InputError as error:
            problems += (error.found or Problems([error.what])).each(
                lambda one: one.replace(METRIC_MARK, "column ")
            )
    if problems or found is None:
        reject(name, problems)
    return replace(found, notes=(*findings.notes, *found.notes)), scored
