"""Where people and judge differ most: a list of texts with people's labels, the judge's and its reasons, by gap."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.errors import InputError
from core.joining.tables import may_be_one
from core.judges.kind import JudgeKind
from core.results.check.texts import own_texts
from core.results.correlations.disagreement import rank_gaps
from core.schema.gaps import GapRow, Gaps
from core.schema.panel import Panel, TextBeside
from core.schema.result_table import Cell, Column
from core.schema.rows import row_fields
from core.schema.scores import JudgeOutput, ScoredRow
from core.stats.resampling import Floats
from core.tables.reading import shown

MOST_VALUES = 50
"""Most values of a column that can be chosen as a group; more name texts."""
GAP = Column("gap", places=2)
TEXT_COLUMNS = ("question", "text", "reasons")
"""Columns of the table that may be confidential."""
Measure = Literal["scale", "labels", "ranks"]
Direction = Literal["higher", "lower", ""]
"""Whether the judge stands above or below the people; empty for labels without an order, and where nothing differs."""
MEASURES: Mapping[Measure, str] = {
    "scale": "distance of the judge's score from the raters' mean, on their scale",
    "labels": "share of the text's raters who gave another label than the judge",
    "ranks": "distance between the ranks of the judge's score and of the raters' mean, as a share of the texts, because the "
    "judge uses another scale",
}


@dataclass(frozen=True)
class Gap:
    """A text that people and a judge both labelled."""

    row: int
    """Its place in the panel."""
    judge: str
    gap: float
    """0 or more; see MEASURES."""
    measure: Measure
    direction: Direction
    people: float
    """Mean rating."""
    score: float


def find_gaps(panel: Panel, judge: str | None = None) -> tuple[Gap, ...]:
    """The texts with a rating and a score, largest gap first; ties by item, system, level and judge.

    judge: one of the panel's judges; None for all. The gap is on the raters' scale where the judge uses it, the share of
    raters with another label for labels without an order, else a difference of mid-ranks (`rank_gaps`). Gaps of different
    measures cannot be compared, so a list of several judges is best read one by one. Misleads where few raters rated a text:
    the largest gaps are also those where a rater slipped. Deterministic. Raises InputError for an unknown judge.
    """
    if judge is not None and judge not in panel.judges:
        raise InputError(f"judge: {shown(judge)} is not one of {', '.join(map(shown, panel.judges))}")
    found: list[Gap] = []
    for at, name in enumerate(panel.judges):
        if judge in (None, name):
            found += _judge_gaps(panel, at)

    def order(one: Gap) -> tuple[object, ...]:
        row = panel.rows[one.row]
        return (-round(one.gap, 9), row.item_id, row.system, str(row.level or ""), one.judge, one.row)

    return tuple(sorted(found, key=order))


def _judge_gaps(panel: Panel, at: int) -> list[Gap]:
    scores = panel.scores[:, at]
    rows = np.flatnonzero(~np.isnan(scores) & ~np.isnan(panel.ratings).all(axis=1))
    if not rows.size:
        return []
    own, ratings = scores[rows], panel.ratings[rows]
    people = np.asarray(np.nanmean(ratings, axis=1), dtype=np.float64)
    measure, gaps = _measured(panel, at, own, ratings, people)
    signs = np.sign(own - people) if measure == "scale" else np.zeros(rows.size)
    if measure == "ranks":
        signs = np.sign(rank_gaps(own, people))
        gaps = np.abs(gaps)
    words: Mapping[float, Direction] = {1.0: "higher", -1.0: "lower", 0.0: ""}
    return [
        Gap(int(row), panel.judges[at], float(gap), measure, words[float(sign)], float(mean), float(score))
        for row, gap, sign, mean, score in zip(rows, gaps, signs, people, own, strict=True)
    ]


def _measured(panel: Panel, at: int, own: Floats, ratings: Floats, people: Floats) -> tuple[Measure, Floats]:
    if not panel.scale.ordered:
        given = ~np.isnan(ratings)
        return "labels", ((ratings != own[:, None]) & given).sum(axis=1) / given.sum(axis=1)
    if own_texts(panel, at).same_scale:
        return "scale", np.abs(own - people)
    return "ranks", rank_gaps(own, people)


def texts_of_judge(output: JudgeOutput, kind: JudgeKind) -> tuple[TextBeside, ...]:
    """The texts of a judge's run with its reasons: the feedback, justifications, claims or questions of its records."""
    found = []
    for one in output.texts:
        said = "\n".join(kind.words(one.record)) if one.record is not None else ""
        by_judge = {metric.name: said for metric in output.metrics} | {output.name: said}
        found.append(TextBeside(one.row, one.question or "", one.text, by_judge if said else {}))
    return tuple(found)


def reason_of(beside: TextBeside | None, judge: str) -> str:
    """The judge's reasons for a text: its own, else those that name no judge of the panel."""
    if beside is None:
        return ""
    if judge in beside.reasons:
        return beside.reasons[judge]
    plain = " ".join(re.split(r"[\W_]+", judge.casefold()))
    named = [text for whose, text in beside.reasons.items() if whose and whose.casefold() in plain]
    return named[0] if len(named) == 1 else beside.reasons.get("", "") if not named else "\n".join(named)


def find_text(row: ScoredRow, texts: Iterable[TextBeside]) -> TextBeside | None:
    """What is known about a text; None if nothing is, or different texts match."""
    fitting = [one for one in texts if may_be_one(row, one.row)]
    if len({(one.question, one.text) for one in fitting}) != 1:
        return None
    reasons = {judge: text for one in fitting for judge, text in one.reasons.items()}
    return TextBeside(row, fitting[0].question, fitting[0].text, reasons)


def groups_of(panel: Panel, gaps: Iterable[Gap]) -> dict[str, dict[str, set[int]]]:
    """Column -> value -> rows of the panel, for columns in which the texts differ: system, language, level and labels."""
    rows = {one.row: panel.rows[one.row] for one in gaps}
    columns: dict[str, dict[str, set[int]]] = {}
    for at, row in rows.items():
        about = {"system": row.system, "language": row.language, "level": str(row.level or "")} | dict(
            row.labels
        )
        about |= {name: values[at] for name, values in panel.made.items()}
        for name, value in about.items():
            if value:
                columns.setdefault(name, {}).setdefault(value, set()).add(at)
    return {name: values for name, values in columns.items() if 2 <= len(values) <= MOST_VALUES}


def texts_by_item(texts: Iterable[TextBeside]) -> Mapping[str, Sequence[TextBeside]]:
    """Item -> what is known about its texts."""
    found: dict[str, list[TextBeside]] = {}
    for one in texts:
        found.setdefault(one.row.item_id, []).append(one)
    return found


def gap_list(
    panel: Panel, gaps: Sequence[Gap], texts: Sequence[TextBeside] = (), *, most: int | None = None
) -> Gaps:
    """Some gaps of the panel as rows, in the given order: one for each text and judge.

    texts: what a file or run holds about the texts; with them a row has the question, the text and the judge's reasons,
    which may be confidential. most: rows at most; None for all.
    """
    listed = gaps if most is None else gaps[:most]
    places = [panel.rows[one.row] for one in listed]
    known = texts_by_item(texts)
    made = {name.replace(" ", "_"): values for name, values in panel.made.items()}
    fixed = {one.column.name for one in row_fields(GapRow) if one.column is not None and not one.by_name} | {
        *TEXT_COLUMNS,
        *made,
    }
    raters = [f"rater {name}" if name in fixed else name for name in panel.raters]

    def word(value: float) -> Cell:
        return None if np.isnan(value) else panel.scale.words.get(value, value)

    def words(one: Gap, row: ScoredRow) -> dict[str, str]:
        beside = find_text(row, known.get(row.item_id, ()))
        own = (beside.question, beside.text) if beside else ("", "")
        return dict(zip(TEXT_COLUMNS, (*own, reason_of(beside, one.judge)), strict=True)) if texts else {}

    rows = tuple(
        GapRow(
            item=row.item_id,
            system=row.system,
            language=row.language,
            level=None if row.level is None else str(row.level),
            ratings=dict(zip(raters, (word(float(value)) for value in panel.ratings[one.row]), strict=True)),
            judge=one.judge,
            score=word(one.score),  # type: ignore[arg-type]  # a word of the scale or a number
            people=one.people if panel.scale.ordered else None,
            gap=one.gap,
            direction=one.direction,
            measure=one.measure,
            made={name: values[one.row] for name, values in made.items()},
            texts=words(one, row),
        )
        for one, row in zip(listed, places, strict=True)
    )
    several = len({one.judge for one in gaps}) > 1
    return Gaps(
        rows,
        _notes(panel, gaps, listed),
        _hidden(panel, rows, several=several),
        {} if not rows else _shaped(rows[0], several=several),
    )


def _hidden(panel: Panel, rows: Sequence[GapRow], *, several: bool) -> tuple[str, ...]:
    """The columns in which nothing stands or differs."""
    needed = {
        "system": len({one.system for one in rows}) > 1,
        "language": len({one.language for one in rows}) > 1,
        "level": any(one.level is not None for one in rows),
        "judge": several,
        "people": panel.scale.ordered and len(panel.raters) > 1,
        "direction": any(one.direction for one in rows),
        "measure": len({one.measure for one in rows}) > 1,
        **{name: any(one.made[name] for one in rows) for name in (rows[0].made if rows else ())},
        **{name: any(one.texts[name] for one in rows) for name in (rows[0].texts if rows else ())},
    }
    return tuple(name for name, shown in needed.items() if not shown)


def _shaped(first: GapRow, *, several: bool) -> dict[str, dict[str, str]]:
    titles = {
        "score": "score" if several else "judge",
        **{name: name.replace("_", " ") for name in first.made},
        **({"reasons": "judge's reasons"} if first.texts else {}),
    }
    return {name: {"title": title} for name, title in titles.items()}


def _notes(panel: Panel, gaps: Sequence[Gap], listed: Sequence[Gap]) -> tuple[str, ...]:
    notes = []
    measures: dict[Measure, list[str]] = {}
    for one in gaps:
        if one.judge not in measures.setdefault(one.measure, []):
            measures[one.measure].append(one.judge)
    for measure, judges in measures.items():
        whose = "" if len(measures) == 1 else f" of {', '.join(map(shown, sorted(judges)))}"
        notes.append(f"Gap{whose}: {MEASURES[measure]}.")
    if len(listed) < len(gaps):
        notes.append(f"The {len(listed):,} largest of {len(gaps):,} gaps.")
    places = [panel.judges.index(name) for name in {one.judge for one in gaps}]
    unrated = np.isnan(panel.ratings).all(axis=1, keepdims=True)
    if left_out := int((unrated | np.isnan(panel.scores[:, places])).sum()):
        what = "text" if left_out == 1 else "texts"
        notes.append(f"Left out: {left_out:,} {what} without a rating or without a score.")
    return tuple(notes)
