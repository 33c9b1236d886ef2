"""Raters and judges side by side, from ratings and tables of scores."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.errors import InputError, Problems, counted
from core.joining.choices import (
    Dimension,
    check_names,
    chosen_ratings,
    dimension_said,
    items_of,
    keys_of,
    names_of,
)
from core.joining.tables import (
    check_two_files,
    equal_values_said,
    identifying_columns,
    merge_tables,
    row_number_notes,
    rows_met,
    unmatched,
)
from core.schema.panel import Panel
from core.schema.scale import MOST_GUESSED, TO_GUESS, DeclaredScale, Scale, guessed_scale, scale_of_numbers
from core.schema.scores import PROBABILITY, Rating, RatingSet, ScoredRow, ScoreTable
from core.stats.resampling import Floats
from core.tables.columns import ONLY_SYSTEM
from core.tables.problems import listed
from core.tables.reading import number_in, shown
from core.tables.roles import who_in

OTHER_RATERS = "rating by a rater who was not chosen"
NO_VALUE = "rating undefined"
NO_NAME = "no name"
"""System of the texts that name none, beside texts that do."""
NAMED_MISSING = "named as missing: {}"


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
    dimension. dimension: None for the only one. Texts match as in `core.joining.tables`; every text of the tables stays,
    rated or not. Unnamed ratings of a text are numbered. Scores are never turned: a judge must use the raters' scale.

    Raises InputError for unknown names, for a rater who is also a judge, if several dimensions are rated and none is chosen,
    if no rating matches a score, and if a rater rated a text several times.
    """
    chosen = chosen_ratings(ratings, dimension, z_normalise=False, kept=True)
    given = _numbered(chosen.ratings)
    known = dict.fromkeys(one.rater or "" for one in given)
    columns = metrics_of(tables, judges, chosen.ratings[0].dimension)
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
    rows = _add_probabilities(table.rows, [(int(row), given[at]) for row, at in zip(met, used, strict=True)])
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
    return settled(found)


def settled(panel: Panel) -> Panel:
    """The panel with a system for texts that name none, and notes on equal sides and on judges beyond the raters' scale."""
    panel = _name_unnamed_system(panel)
    return replace(panel, notes=(*equal_sides(panel), *panel.notes, *_scale_notes(panel)))


def panel_of_table(
    table: ScoreTable, n_raters: int, *, judges: Sequence[str] | None = None, scale: Scale = TO_GUESS
) -> Panel:
    """The panel of one table whose first `n_raters` metrics are raters and whose others are judges.

    judges: those to keep; None for all. Without judges the texts are those that somebody rated.
    """
    ratings = table.values[:, :n_raters]
    places = [
        at
        for at, metric in enumerate(table.metrics)
        if at >= n_raters and (judges is None or metric.name in judges)
    ]
    rows, scores = tuple(table.rows), table.values[:, places]
    if len(table.metrics) == n_raters:
        kept = np.flatnonzero(~np.isnan(ratings).all(axis=1))
        rows, ratings, scores = tuple(rows[int(at)] for at in kept), ratings[kept], scores[kept]
    named = [table.metrics[at] for at in places]
    return settled(
        Panel(
            rows,
            items_of(rows),
            names_of(rows, "system"),
            tuple(metric.name for metric in table.metrics[:n_raters]),
            ratings,
            tuple(metric.name for metric in named),
            scores,
            scale,
            table.file_name,
            tuple(dict.fromkeys(table.notes)),
            sources=tuple((table.file_name, metric.name, metric.signature) for metric in named),
        )
    )


def _name_unnamed_system(panel: Panel) -> Panel:
    """The panel with the texts that name no system as one system of their own, if others name theirs; with a note."""
    unnamed = panel.systems == ONLY_SYSTEM
    n = int(unnamed.sum())
    if not 0 < n < len(panel.rows):
        return panel
    note = f"{n:,} of {len(panel.rows):,} texts name no system: they are one system here, called {NO_NAME}"
    rows = tuple(
        replace(row, system=NO_NAME) if blank else row
        for row, blank in zip(panel.rows, unnamed.tolist(), strict=True)
    )
    return replace(panel, rows=rows, systems=names_of(rows, "system"), notes=(note, *panel.notes))


def equal_sides(panel: Panel) -> list[str]:
    """A sentence for each judge and rater with equal values on all texts that both rated: perhaps one column twice."""
    return [
        said
        for judge, scores in zip(panel.judges, panel.scores.T, strict=True)
        for rater, ratings in zip(panel.raters, panel.ratings.T, strict=True)
        if (said := equal_values_said(judge, scores, rater, ratings))
    ]


def _add_probabilities(
    rows: Sequence[ScoredRow], rated: Sequence[tuple[int, Rating]]
) -> tuple[ScoredRow, ...]:
    """The rows, with the probability of inclusion that stands beside their ratings only."""
    known = {row: one.labels[PROBABILITY] for row, one in rated if row >= 0 and one.labels.get(PROBABILITY)}
    return tuple(
        replace(row, labels={**row.labels, PROBABILITY: known[at]}) if at in known else row
        for at, row in enumerate(rows)
    )


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


def metrics_of(tables: Sequence[ScoreTable], judges: Sequence[str] | None, dimension: str) -> dict[str, str]:
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
        if low == high:
            continue
        outside = int(((known < low) | (known > high)).sum())
        if 2 * outside > known.size:
            notes.append(
                f"{shown(name)}: {outside:,} of {known.size:,} scores lie outside the raters' scale of {low:g} to {high:g}. "
                "Compare only judges that use it"
            )
    return notes


def apply_scale(panel: Panel, declared: DeclaredScale, *, codes: bool = False) -> Panel:
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
    scale = scale_of_numbers(panel.ratings, declared, codes=codes, beside=panel.scores)
    if declared.numbers or declared.ends is not None:
        _check_on_offer(panel, scale)
    notes = panel.notes
    if declared.leaves_all_open and scale.classes != guessed_scale(panel.ratings).classes and scale.ordered:
        notes = (*notes, _guessed_together(panel, scale))
    if scale.kind == "unordered" and scale.origin == "guessed":
        notes = (
            *notes,
            f"{listed(panel.raters)}: named like a choice, so the numbers are codes without an order",
        )
    return replace(panel, scale=scale, notes=notes)


def _guessed_together(panel: Panel, scale: Scale) -> str:
    """A note on a scale that was guessed from equal ratings and the judges' scores."""
    value = f"{panel.ratings[~np.isnan(panel.ratings)][0]:g}"
    if not scale.classes:
        return f"every rating is {value}, and the judges' scores lie on another scale: the raters' scale is undecided; declare it"
    return f"every rating is {value}: the scale is guessed from the judges' scores, too"


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
