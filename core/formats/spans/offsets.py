"""Where offsets of error spans become ours: code points of the text, end exclusive. Every reader of spans ends here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from core.formats.ratings import TextFinder
from core.formats.spans.cells import Clipping, Units
from core.schema.scores import ErrorSpan, OutputSet, Rating, ScorableOutput
from core.tables.problems import FileFindings
from core.tables.reading import shown

Ends = Literal["exclusive", "inclusive"]
"""Whether an end is the place behind a span's last character, or that character's own."""
ENDS: tuple[Ends, ...] = ("exclusive", "inclusive")
LAST_OF_BMP = 0xFFFF


@dataclass(frozen=True)
class Offsets:
    """What a file's offsets count."""

    units: Units = "code-points"
    ends: Ends = "exclusive"

    @property
    def ours(self) -> bool:
        """Whether they are what Assay counts itself."""
        return self == Offsets()


@dataclass(frozen=True)
class ReadRating:
    """A rating as it stands in a file, its spans in the file's offsets."""

    rating: Rating
    where: str
    """For messages: `line 7`."""
    places: tuple[str, ...] = ()
    """Where each span stands, where that is not where the rating does."""
    text: str | None = None
    """The rated text as far as the file holds it."""
    source: str | None = None
    without_place: frozenset[int] = frozenset()
    """Numbers, from 0, of spans that the file gives no offsets: 0, 0 is the reader's, and is left so."""

    def place(self, number: int) -> str:
        """Of the span of that number, from 0."""
        return self.places[number] if self.places else f"{self.where}, span {number + 1}"


def at_border(
    read: Sequence[ReadRating], texts: OutputSet | None, offsets: Offsets, findings: FileFindings
) -> list[Rating]:
    """The ratings with spans in code points, ends exclusive, as far as known inside their texts.

    texts: what was rated; without, the texts that the file itself holds. A span that reaches beyond the end is cut
    there, which a note says; one that begins beyond the end, or inside a character, is a problem. Spans of a text that
    is nowhere are left as they are; with offsets in UTF-16 that is a problem.
    """
    finder = None if texts is None else TextFinder(texts.outputs, [one.rating for one in read])
    clipping, unknown, ratings = Clipping(), 0, []
    for one in read:
        output = _text_of(one, texts, finder)
        unknown += bool(one.rating.spans) and output is None and texts is not None
        spans = one.rating.spans
        if spans is not None:
            found = [
                span
                if number in one.without_place
                else _settled(
                    span, output, offsets, f"{one.place(number)}{_called(one.rating)}", clipping, findings
                )
                for number, span in enumerate(spans)
            ]
            spans = tuple(span for span in found if span is not None)
        ratings.append(replace(one.rating, spans=spans))
    findings.notes += clipping.notes()
    if unknown:
        findings.notes.append(
            f"{unknown} ratings are of texts that are not there: their spans are not checked"
        )
    return ratings


def code_point(text: str, units: int) -> int | None:
    """Which code point an offset in UTF-16 units is; beyond the end as far as it is beyond; None: inside a pair."""
    sizes = list(accumulate((1 + (ord(char) > LAST_OF_BMP) for char in text), initial=0))
    if units > sizes[-1]:
        return len(text) + units - sizes[-1]
    return {size: place for place, size in enumerate(sizes)}.get(units)


def _text_of(one: ReadRating, texts: OutputSet | None, finder: TextFinder | None) -> ScorableOutput | None:
    if finder is not None and texts is not None:
        places = finder.places(one.rating)
        return texts.outputs[places[0]] if len(places) == 1 else None
    if one.text is None:
        return None
    return ScorableOutput(one.rating.item_id, one.rating.system or "", one.text, source=one.source)


def _settled(
    span: ErrorSpan,
    output: ScorableOutput | None,
    offsets: Offsets,
    where: str,
    clipping: Clipping,
    findings: FileFindings,
) -> ErrorSpan | None:
    """The span as ours; None after its problem was reported."""
    if offsets.ends == "inclusive":
        span = replace(span, end=span.end + 1)
    text = None if output is None else output.source if span.in_source else output.text
    if offsets.units == "utf-16":
        if text is None:
            findings.problems.append(
                f"{where}: offsets in UTF-16 units cannot be counted without the text; give the texts beside the spans"
            )
            return None
        start, end = code_point(text, span.start), code_point(text, span.end)
        if start is None or end is None:
            findings.problems.append(
                f"{where}: {span.start} to {span.end} begins or ends inside a character, in UTF-16 units"
            )
            return None
        span = replace(span, start=start, end=end)
    known = findings.problems.n
    if output is not None:
        span = clipping.checked(span, output, where, findings.problems)
    return span if findings.problems.n == known else None


def _called(rating: Rating) -> str:
    system = "" if rating.system is None else f", system {shown(rating.system)}"
    return f"{system}, item {shown(rating.item_id)}"
