"""Texts with marks of injection: which, of what kind, and how a judge scores them beside the other texts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import counted
from core.llm.injections import MARKS, Mark, marks_in
from core.results.cells import decimal, interval
from core.results.check.gaps import find_text, texts_by_item
from core.schema.injections import MARKED_TABLES, Injections, KindCount, MarkedMean, MarkedText
from core.schema.panel import Panel, TextBeside
from core.schema.result_table import Interval, ResultTable
from core.schema.rows import json_of, table_of
from core.schema.scores import JudgeOutput, ScoredRow
from core.stats.resampling import Floats, cluster_estimate, cluster_sums, numbered, ratio, resamples_at_once
from core.tables.columns import ONLY_SYSTEM
from core.tables.reading import printable_text, shown

MADE_COLUMN = "marks of injection"
"""Groups texts by whether they have a mark."""
WITH, WITHOUT = "with", "without"
FEWEST_ON_A_SIDE = 5
"""Items with marked texts, and with others, from which a difference has an interval."""
PEOPLE = "people"
MOST_SAID = 5
"""Texts that a sentence names."""


@dataclass(frozen=True)
class Scored:
    """The scores of all texts by one judge, or their mean ratings by people."""

    name: str
    values: Floats
    """Shape (n,); NaN without a score."""
    reason: str = ""
    """Why means say nothing, such as labels without an order."""


def injections(
    rows: Sequence[ScoredRow],
    texts: Sequence[str | None],
    scored: Iterable[Scored] = (),
    *,
    excerpts: bool = True,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Injections:
    """Search texts for marks, and compare the scores of those with marks with the others'.

    texts: of each row; None where unknown, which is left out of everything. excerpts: whether the list quotes the texts. Misleads:
    texts with marks may be better or worse for other reasons. A difference is shown to be the marks' only if people do not see it.
    """
    found = {at: marks for at, text in enumerate(texts) if text and (marks := marks_in(text))}
    known = np.array([text is not None for text in texts], dtype=np.bool_)
    marked = np.zeros(len(rows), dtype=np.bool_)
    marked[list(found)] = True
    items = numbered([one.item_id for one in rows]) if rows else np.empty(0, dtype=np.intp)
    judges = list(scored)
    counts = Counter(mark.kind for marks in found.values() for mark in marks)
    return Injections(
        n=len(found),
        of=int(known.sum()),
        kinds=tuple(KindCount(kind, about, counts[kind]) for kind, about in MARKS.items()),
        means=tuple(_mean(one, marked, known, items, confidence_level, rng) for one in judges),
        texts=tuple(_text(rows[at], marks, at, judges, excerpts) for at, marks in found.items()),
        marked=frozenset(found),
    )


def _text(
    of: ScoredRow, marks: Sequence[Mark], at: int, judges: Sequence[Scored], excerpts: bool
) -> MarkedText:
    values = {one.name: float(one.values[at]) for one in judges}
    return MarkedText(
        of.item_id,
        of.system,
        None if of.level is None else str(of.level),
        of.language,
        ", ".join(mark.kind for mark in marks),
        " | ".join(mark.excerpt for mark in marks) if excerpts else "",
        {name: None if np.isnan(value) else value for name, value in values.items()},
    )


def _mean(
    one: Scored,
    marked: NDArray[np.bool_],
    known: NDArray[np.bool_],
    items: NDArray[np.intp],
    confidence_level: float,
    rng: int,
) -> MarkedMean:
    used = known & ~np.isnan(one.values)
    values, groups = one.values[used], marked[used]
    sides = [values[groups], values[~groups]]
    means = [float(side.mean()) if side.size and not one.reason else None for side in sides]
    if one.reason or None in means:
        why = one.reason or f"no text {'with' if means[0] is None else 'without'} marks has a score"
        difference = Interval(None, reason=why)
    else:
        sums = cluster_sums(
            np.column_stack([values * groups, groups, values * ~groups, ~groups]), items[used]
        )
        few = int(min((sums[:, 1] > 0).sum(), (sums[:, 3] > 0).sum()))

        def statistic(counts: Floats) -> Floats:
            drawn = counts.T @ sums
            apart: Floats = ratio(drawn[:, 0], drawn[:, 1]) - ratio(drawn[:, 2], drawn[:, 3])
            return apart

        difference = interval(
            cluster_estimate(
                float(sides[0].mean() - sides[1].mean()),
                statistic,
                len(sums),
                together=resamples_at_once(len(sums)),
                n=int(used.sum()),
                no_interval=None
                if few >= FEWEST_ON_A_SIDE
                else f"{counted(few, 'item')} on one side; at least {FEWEST_ON_A_SIDE} are needed",
                n_resamples=2_000,
                confidence_level=confidence_level,
                rng=rng,
            )
        )
    return MarkedMean(one.name, means[0], sides[0].size, means[1], sides[1].size, difference)


def injections_of_judge(output: JudgeOutput) -> Injections:
    """Marks in the texts that a judge has scored so far, and its mean scores with and without them."""
    values = [
        Scored(
            metric.name,
            np.array(
                [np.nan if (value := one.scores.get(metric.name)) is None else value for one in output.texts],
                dtype=np.float64,
            ),
        )
        for metric in output.metrics
    ]
    return injections([one.row for one in output.texts], [one.text for one in output.texts], values)


def mark_texts(panel: Panel, beside: Iterable[TextBeside]) -> tuple[Panel, Injections | None]:
    """The panel with a made column that groups its texts by marks, if any has one, and what was found; None without texts.

    beside: what files and runs hold about the texts. The list does not quote them.
    """
    known = texts_by_item(beside)
    texts = [
        None if (one := find_text(row, known.get(row.item_id, ()))) is None else one.text or None
        for row in panel.rows
    ]
    if not any(text is not None for text in texts):
        return panel, None
    why = "" if panel.scale.ordered else "labels without an order"
    rated = ~np.isnan(panel.ratings)
    n_raters = rated.sum(axis=1)
    people = np.where(
        n_raters > 0, np.where(rated, panel.ratings, 0.0).sum(axis=1) / np.maximum(n_raters, 1), np.nan
    )
    scored = [Scored(name, panel.scores[:, at], why) for at, name in enumerate(panel.judges)]
    found = injections(panel.rows, texts, [*scored, Scored(PEOPLE, people, why)], excerpts=False)
    if not found.n:
        return panel, found
    values = tuple(
        "" if text is None else WITH if at in found.marked else WITHOUT for at, text in enumerate(texts)
    )
    return replace(panel, made={**panel.made, MADE_COLUMN: values}), found


def injections_said(marked: Injections | None) -> list[str]:
    """How many texts have marks, of which kinds, and whether a judge's mean differs; empty if none has one."""
    if marked is None or not marked.n:
        return []
    kinds = ", ".join(f"{one.about} ({one.n:,})" for one in marked.kinds if one.n)
    said = [
        f"{marked.n:,} of {marked.of:,} texts {'has' if marked.n == 1 else 'have'} marks of injection. What they have: {kinds}. "
        "No text and no score was changed."
    ]
    for one in marked.means:
        if one.difference.value is None:
            said.append(f"{shown(one.judge)} with and without marks: {one.difference.reason}.")
            continue
        said.append(
            f"Mean of {shown(one.judge)}: {decimal(one.marked or 0.0)} with marks (n {one.n_marked:,}), "
            f"{decimal(one.unmarked or 0.0)} without (n {one.n_unmarked:,}). {_difference_said(one.difference)}"
        )
    return said


def _difference_said(found: Interval) -> str:
    assert found.value is not None
    if found.low is None or found.high is None:
        return f"The difference has no interval: {found.interval_reason}."
    ends = f"{decimal(found.value)} [{decimal(found.low)}, {decimal(found.high)}]"
    if found.low > 0 or found.high < 0:
        return f"The difference is {ends}: read these texts."
    return f"The difference is {ends}, so none is shown."


def listed_lines(marked: Injections | None) -> list[str]:
    """The first texts with a mark, a line each, for a terminal."""
    if marked is None:
        return []
    lines = []
    for one in marked.texts[:MOST_SAID]:
        names = [
            one.item,
            *([one.system] if one.system != ONLY_SYSTEM else []),
            *([f"level {one.level}"] if one.level else []),
        ]
        quoted = f": {printable_text(one.excerpt)}" if one.excerpt else ""
        lines.append(f"  {', '.join(map(shown, names))} ({one.kinds}){quoted}")
    if (more := marked.n - len(lines)) > 0:
        lines.append(f"  ... and {more:,} more")
    return lines


def unneeded_columns(marked: Injections) -> set[str]:
    """The columns of the list of texts that readers need not see, because nothing differs there."""
    return {
        *(() if any(one.system != ONLY_SYSTEM for one in marked.texts) else ("system",)),
        *(() if any(one.level for one in marked.texts) else ("level",)),
        *(() if len({one.language for one in marked.texts}) > 1 else ("language",)),
        *(() if any(one.excerpt for one in marked.texts) else ("excerpt",)),
    }


def marked_tables(marked: Injections | None) -> dict[str, ResultTable]:
    """The texts with marks, and the mean scores with and without them, by name; empty if there are none."""
    if marked is None or not marked.n:
        return {}
    texts, means = MARKED_TABLES
    return {
        texts: table_of(
            texts,
            MarkedText,
            marked.texts,
            title="Texts with marks of injection",
            hidden=unneeded_columns(marked),
        ),
        means: table_of(
            means, MarkedMean, marked.means, title="Mean scores with and without marks of injection"
        ),
    }


def injections_json(marked: Injections | None) -> dict[str, Any] | None:
    """The marks as JSON values; None where no text is known."""
    return None if marked is None else json_of(marked)
