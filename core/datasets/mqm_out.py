"""Marked errors out, as `mqm` reads them: one row an error, the marked text between <v> and </v>.

The form has no place for levels, labels but the document, scores beside the errors', and weights other than MQM's. A
rating without a rater stands under MERGED. Reading it back gives the same spans; the document has its language pair
behind it, as published files have it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import regex

from core.datasets.mqm import MERGED, taken_for_quoted
from core.datasets.mqm_weights import weight_of
from core.datasets.open_tables import LABEL_PAIR
from core.datasets.reading import shown
from core.errors import InputError, Problems
from core.schema.rated import RatedText
from core.schema.scores import ErrorSpan, Rating

HEADER = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
NO_ERROR = ("No-error", "no-error")
NO_DOCUMENT = "document"
_BROKEN = regex.compile(r"[\t\r\n]|</?v>")


@dataclass
class _Rows:
    """The rows of a file while it is written."""

    rows: list[tuple[str, ...]] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    numbers: dict[str, dict[str, int]] = field(default_factory=dict)
    """Document -> item -> its number in the document."""


def write_mqm(texts: Iterable[RatedText]) -> bytes:
    """One row an error, one for a text without errors; ratings whose errors were not marked are left out.

    Raises InputError, naming item and system, where the form cannot say what the ratings do: texts with tabs, line
    breaks or <v> of their own, texts at several levels, errors in a source that is not known, weights of the owner's.
    """
    out = _Rows()
    texts = [text for text in texts if any(one.spans is not None for one in text.ratings)]
    out.problems += several_texts(texts, "MQM's TSV")
    for text in texts:
        for rating in text.ratings:
            if rating.spans is not None:
                _add(text, rating, rating.spans, out)
    if not out.rows and not out.problems:
        out.problems.append("no rating has its errors marked")
    if out.problems:
        raise InputError("The ratings cannot be written in the form of MQM", out.problems)
    table = [HEADER, *out.rows]
    if taken_for_quoted([(0, row) for row in table]):
        table = [tuple(_quoted(cell) for cell in row) for row in table]
    return "".join("\t".join(row) + "\n" for row in table).encode()


def several_texts(texts: Sequence[RatedText], form: str) -> list[str]:
    """One problem, if any, of a form that has no place for what tells the marked texts of an item and system apart.

    texts: those that are written. form: its name, for the message.
    """
    counts = Counter((one.output.item_id, one.output.system) for one in texts)
    several = [key for key, count in counts.items() if count > 1]
    if not several:
        return []
    item, system = several[0]
    more = f" (and {len(several) - 1:,} more)" if len(several) > 1 else ""
    return [
        f"item {shown(item)}, system {shown(system)}{more}: has several texts, which differ in level, language or labels; "
        f"{form} has no place for these: write the form `rated` instead"
    ]


def _add(text: RatedText, rating: Rating, spans: Sequence[ErrorSpan], out: _Rows) -> None:
    output = text.output
    where = f"item {shown(output.item_id)}, system {shown(output.system)}"
    source = output.source or ""
    cells = {"text": output.text, "source": source, "system": output.system, "item": output.item_id}
    cells |= {"rater": rating.rater or MERGED}
    if bad := [name for name, cell in cells.items() if _BROKEN.search(cell)]:
        out.problems.append(
            f"{where}: {', '.join(bad)} holds a tab, a line break or <v>, which the form uses itself"
        )
        return
    document, pair = output.labels.get("document", NO_DOCUMENT), output.labels.get(LABEL_PAIR, "")
    document += f":{pair}" if pair and not document.endswith(f":{pair}") else ""
    numbers = out.numbers.setdefault(document, {})
    number = numbers.setdefault(output.item_id, len(numbers) + 1)
    about = (output.system, document, str(number), output.item_id, rating.rater or MERGED)
    if not spans:
        out.rows.append((*about, source, output.text, *NO_ERROR))
    for error in _errors(spans):
        problem = _problem(error, text)
        if problem:
            out.problems.append(f"{where}: {problem}")
            continue
        marked_source = _marked(source, [span for span in error if span.in_source])
        marked_text = _marked(output.text, [span for span in error if not span.in_source])
        out.rows.append((*about, marked_source, marked_text, error[0].category, error[0].severity))


def _errors(spans: Sequence[ErrorSpan]) -> list[list[ErrorSpan]]:
    """Spans by error: one that weighs nothing although its like does goes on with the error before it."""
    errors: list[list[ErrorSpan]] = []
    for span in spans:
        like = errors[-1][0] if errors else None
        goes_on = (
            like is not None
            and span.weight == 0
            and (weight_of(span.category, span.severity) or 0) > 0
            and (span.severity, span.category) == (like.severity, like.category)
        )
        if goes_on:
            errors[-1].append(span)
        else:
            errors.append([span])
    return errors


def _problem(error: Sequence[ErrorSpan], text: RatedText) -> str:
    """Why an error cannot be written; empty: it can."""
    first = error[0]
    weight = weight_of(first.category, first.severity)
    if weight is None:
        return f'severity "{shown(first.severity)}" has no weight in MQM'
    if first.weight is not None and first.weight != weight:
        return f"an error weighs {first.weight:g}, in MQM {weight:g}; the form has no place for weights"
    if _BROKEN.search(first.category) or _BROKEN.search(first.severity):
        return f"category {shown(first.category)} holds a tab, a line break or <v>"
    if first.severity != first.severity.lower() or first.category != first.category.strip():
        return f"severity {shown(first.severity)} or category {shown(first.category)} would be read in another way"
    for span in error:
        marked = text.output.source if span.in_source else text.output.text
        if marked is None:
            return "an error is marked in the source, which is not known"
        if not 0 <= span.start <= span.end <= len(marked):
            return f"an error from {span.start} to {span.end} does not lie inside its text"
    for side in (False, True):
        own = [span for span in error if span.in_source == side]
        if any(after.start < before.end for before, after in pairwise(own)):
            return "the parts of an error overlap"
    return ""


def _marked(text: str, spans: Sequence[ErrorSpan]) -> str:
    """The text with marks around the spans, which follow each other."""
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], "<v>", text[span.start : span.end], "</v>"]
        at = span.end
    return "".join([*parts, text[at:]])


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if '"' in cell else cell
