"""Error spans in cells of files: read, write, and check them against their text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from core.errors import Problems
from core.formats.spans.mqm import weight_of
from core.schema.scores import ErrorSpan, ScorableOutput, score_of
from core.tables.reading import (
    JsonObject,
    is_nothing,
    is_undefined,
    label_of,
    name_of,
    name_problem,
    no_number,
    number_in,
    shown,
    type_name,
)

Units = Literal["code-points", "utf-16"]
"""The units of offsets: Unicode code points, as in Python, or UTF-16 code units, as in JavaScript."""
UNITS: tuple[Units, ...] = ("code-points", "utf-16")
SPAN_FIELDS = ("start", "end", "severity", "category", "weight", "in_source")
LARGEST_OFFSET = 10**9
"""Largest offset: no text is longer, and sums of larger numbers could overflow."""
MOST_NAMED = 20
"""Spans that a note names."""


@dataclass
class Clipping:
    """Checks that spans lie inside their text, and counts those that were cut."""

    clipped: list[str] = field(default_factory=list)
    """Places of the spans that were cut at the end of their text."""

    def checked(self, span: ErrorSpan, output: ScorableOutput, where: str, problems: Problems) -> ErrorSpan:
        """The span, cut at the end of its text. A span that begins beyond the end, or ends before it begins, is a problem.

        If the text has no source, spans in the source stay unchanged.
        """
        text = output.source if span.in_source else output.text
        side = "source" if span.in_source else "text"
        if not 0 <= span.start <= span.end:
            problems.append(
                f"{where}: starts at {span.start} and ends at {span.end}, expected 0 <= start <= end"
            )
        elif text is not None and span.start > len(text):
            problems.append(f"{where}: starts at {span.start}, but the {side} has {len(text)} characters")
        elif text is not None and span.end > len(text):
            self.clipped.append(where)
            return replace(span, end=len(text))
        return span

    def notes(self) -> tuple[str, ...]:
        """A note on the spans that were cut; empty if there are none."""
        if not self.clipped:
            return ()
        n = len(self.clipped)
        more = "" if n <= MOST_NAMED else f", and {n - MOST_NAMED} more"
        count = "1 span that reaches" if n == 1 else f"{n} spans that reach"
        return (f"cut {count} beyond the end of the text: {'; '.join(self.clipped[:MOST_NAMED])}{more}",)


def spans_in(value: object, where: str, problems: Problems) -> tuple[ErrorSpan, ...] | None:
    """The spans of a JSON list; None if there is none, or if the value is not a list, which becomes a problem."""
    if is_nothing(value):
        return None
    if not isinstance(value, list):
        problems.append(f"{where}: spans is {type_name(value)}, expected a list of objects")
        return None
    found = [span_in(one, f"{where}, span {number}", problems) for number, one in enumerate(value, start=1)]
    return tuple(span for span in found if span is not None)


def span_in(value: object, where: str, problems: Problems) -> ErrorSpan | None:
    """The span in a JSON object with Assay's field names; None if it has problems, which are added."""
    if not isinstance(value, JsonObject):
        problems.append(f"{where}: is {type_name(value)}, expected an object")
        return None
    if unknown := [shown(key) for key in value if key not in SPAN_FIELDS]:
        problems.append(f"{where}: {', '.join(unknown)} is unknown; expected {', '.join(SPAN_FIELDS)}")
    return span_of(value, where, problems)


def span_of(cells: Mapping[str, object], where: str, problems: Problems) -> ErrorSpan | None:
    """The span in named cells (SPAN_FIELDS); numbers may be text, as in CSV. None if it has problems, which are added."""
    known = problems.n
    start, end = (_offset(cells.get(name), name, where, problems) for name in ("start", "end"))
    if problems.n == known and start is not None and end is not None and end < start:
        problems.append(f"{where}: starts at {start} and ends at {end}, expected 0 <= start <= end")
    named = {name: name_of(cells.get(name)) for name in ("severity", "category")}
    problems += [
        f"{where}: {name} {'is missing' if is_nothing(cells.get(name)) else name_problem(cells.get(name))}"
        for name, found in named.items()
        if found is None
    ]
    weight = None if is_undefined(cells.get("weight")) else number_in(cells.get("weight"))
    if weight is None and not is_undefined(cells.get("weight")):
        problems.append(f"{where}: weight {no_number(cells.get('weight'))}")
    elif weight is not None and not (math.isfinite(weight) and weight >= 0):
        problems.append(f"{where}: weight is {weight:g}, expected a number from 0")
    in_source = truth_in(cells.get("in_source"))
    if in_source is None:
        problems.append(f"{where}: in_source is {shown(str(cells.get('in_source')))}, expected true or false")
    if problems.n > known or start is None or end is None:
        return None
    return ErrorSpan(start, end, named["severity"] or "", named["category"] or "", weight, in_source or False)


def truth_in(value: object) -> bool | None:
    """A cell as true or false, false if it is empty; None if it is neither."""
    if isinstance(value, bool) or is_nothing(value):
        return bool(value) and value is True
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    return words.get(str(value).strip().lower())


def span_row(span: ErrorSpan) -> dict[str, Any]:
    """The span as a JSON object, from which span_in restores an equal span."""
    row: dict[str, Any] = {
        "start": span.start,
        "end": span.end,
        "severity": span.severity,
        "category": span.category,
    }
    if span.weight is not None:
        row["weight"] = span.weight
    return row | ({"in_source": True} if span.in_source else {})


def weighted_span(span: ErrorSpan) -> ErrorSpan:
    """The span; if it has no weight, with the MQM weight of its severity and category, if there is one."""
    return span if span.weight is not None else replace(span, weight=weight_of(span.category, span.severity))


def rating_fields(
    value: Mapping[str, object], spans: Sequence[ErrorSpan] | None, where: str, problems: Problems
) -> tuple[str | None, str | None, float] | None:
    """(rater, dimension, score) of a rating; a missing score is minus the weights of its spans.

    None if it has problems, which are added.
    """
    known = problems.n
    if unknown := [shown(key) for key in value if key not in ("rater", "dimension", "score", "spans")]:
        problems.append(
            f"{where}: {', '.join(unknown)} is unknown; expected rater, dimension, score or spans"
        )
    names: dict[str, str | None] = {}
    for name in ("rater", "dimension"):
        cell = value.get(name)
        names[name] = None if is_nothing(cell) else label_of(cell)
        if names[name] is None and not is_nothing(cell):
            problems.append(f"{where}: {name} {name_problem(cell)}")
    score = score_in(value.get("score"), spans, where, problems)
    if score is None or problems.n > known:
        return None
    return names["rater"], names["dimension"], score


def score_in(
    value: object, spans: Sequence[ErrorSpan] | None, where: str, problems: Problems
) -> float | None:
    """The score in a cell, else minus the weights of the spans; None if it has a problem, which is added."""
    number = number_in(value)
    if number is not None and math.isfinite(number):
        return number
    if number is None and is_undefined(value) and spans is not None:
        weighed = [weighted_span(span) for span in spans]
        if lacking := [span for span in weighed if span.weight is None]:
            problems.append(
                f'{where}: severity "{shown(lacking[0].severity)}" has no weight; expected neutral, minor, major or '
                "critical, or a score"
            )
            return None
        return score_of(weighed)
    missing = "is missing, and no errors are marked"
    wrong = no_number(value) if number is None else "is infinite, expected a number"
    problems.append(f"{where}: score {missing if is_undefined(value) else wrong}")
    return None


def _offset(value: object, name: str, where: str, problems: Problems) -> int | None:
    number = number_in(value)
    if number is not None and 0 <= number <= LARGEST_OFFSET and number.is_integer():
        return int(number)
    wrong = f"is {shown(str(value))}, expected a whole number from 0"
    if number is not None and number > LARGEST_OFFSET:
        wrong += f" to {LARGEST_OFFSET:,}"
    problem = "is missing" if is_nothing(value) else wrong
    problems.append(f"{where}: {name} {problem}")
    return None
