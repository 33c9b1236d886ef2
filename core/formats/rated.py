"""Read and write rated texts: one JSON object a line, a text with its ratings. The examples of specialist judges."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from core.errors import Problems
from core.formats import Format
from core.formats.ratings import OVERALL, TextFinder, is_nested, rating_entries
from core.formats.scorable import output_row, outputs_in
from core.formats.spans.cells import Clipping, rating_fields, span_row, spans_in
from core.schema.scores import ErrorSpan, OutputSet, RatedSet, RatedText, Rating, RatingSet, ScorableOutput
from core.tables.columns import Rows, jsonl_bytes, objects_in
from core.tables.containers import findings_of, table_rows
from core.tables.reading import JsonObject, duplicate_problems, reject, sha256_of, shown, type_name

RATINGS = "ratings"
"""The column with people's ratings."""
NO_SUCH_TEXT = "ratings without a matching text"
OTHER_LANGUAGE = "ratings whose text exists only in another language or data set"


def read_rated(data: bytes, file_name: str, *, rows: Rows = table_rows) -> RatedSet:
    """Read the texts of a file with their ratings; without the column `ratings`, texts without ratings.

    Reads every format that `scorable.read_outputs` reads, but ratings only from JSON. Spans beyond the end of their text
    are cut there, with a note. InputError lists every problem.
    """
    findings = findings_of(data, file_name)
    left_out: Counter[str] = Counter()
    found = outputs_in(data, left_out, findings, rows, beside=(RATINGS,), as_written=True)
    clipping = Clipping()
    texts = []
    for output, record in found:
        where = f"{record.where}, item {shown(output.item_id)}"
        ratings = _ratings(record.cells.get(RATINGS), output, where, clipping, findings.problems)
        texts.append(RatedText(output, tuple(ratings)))
    sha256, name, notes = findings.settled()
    return RatedSet(tuple(texts), sha256, name, (*notes, *clipping.notes()), dict(left_out))


def write_rated(texts: Iterable[RatedText]) -> bytes:
    """The texts as JSONL, from which read_rated restores equal texts; each label is a column."""
    return jsonl_bytes(
        {**output_row(text.output, (RATINGS,)), RATINGS: [_rating_row(one) for one in text.ratings]}
        for text in texts
    )


def rated_of(outputs: OutputSet, *ratings: RatingSet) -> RatedSet:
    """Join texts with their ratings, in the order of the outputs; unrated texts stay.

    The join uses item, system and level, if texts and ratings name them, and language and labels if only these can
    decide (`ratings.TextFinder`). Ratings without a text are counted in `left_out`. Spans must count the characters of
    these texts. A span that ends beyond its text is cut there, with a note; one that begins beyond it is a problem.
    Raises InputError.
    """
    problems = Problems()
    left_out = Counter(outputs.left_out)
    clipping = Clipping()
    found: list[list[Rating]] = [[] for _ in outputs.outputs]
    for rating_set in ratings:
        finder = TextFinder(outputs.outputs, rating_set.ratings)
        for one in rating_set.ratings:
            places = finder.places(one)
            if len(places) > 1:
                problems.append(
                    f"{shown(rating_set.file_name)}: {_called(one)}: matches {len(places)} texts; add its "
                    f"{' or '.join(finder.differing(places))}"
                )
            elif not places:
                left_out[OTHER_LANGUAGE if finder.elsewhere(one) else NO_SUCH_TEXT] += 1
            else:
                (place,) = places
                where = f"{shown(rating_set.file_name)}: {_called(one)}"
                spans = _checked(one.spans, outputs.outputs[place], where, clipping, problems)
                found[place].append(complete_rating(replace(one, spans=spans), outputs.outputs[place]))
        left_out.update({f"ratings: {reason}": n for reason, n in rating_set.left_out.items()})
    texts = tuple(RatedText(one, tuple(own)) for one, own in zip(outputs.outputs, found, strict=True))
    problems += (
        f"item {shown(text.output.item_id)}, system {shown(text.output.system)}: {problem}"
        for text in texts
        for problem in repeated_ratings(text.ratings)
    )
    if problems:
        reject(outputs.file_name, problems)
    notes = [*outputs.notes, *(note for one in ratings for note in one.notes)]
    hashes = "\n".join([outputs.sha256, *(one.sha256 for one in ratings)])
    return RatedSet(
        texts,
        sha256_of(hashes.encode()),
        outputs.file_name,
        (*dict.fromkeys(notes), *clipping.notes()),
        {reason: n for reason, n in left_out.items() if n},
    )


def ratings_of(rated: RatedSet) -> RatingSet:
    """All ratings of the texts, as if from a file of ratings alone."""
    return RatingSet(
        tuple(one for text in rated.texts for one in text.ratings),
        rated.sha256,
        rated.file_name,
        rated.notes,
        rated.left_out,
    )


def unrated(outputs: OutputSet) -> RatedSet:
    """Texts without ratings as rated texts."""
    texts = tuple(RatedText(output) for output in outputs.outputs)
    return RatedSet(texts, outputs.sha256, outputs.file_name, outputs.notes, outputs.left_out)


def outputs_of(rated: RatedSet) -> OutputSet:
    """The texts without their ratings."""
    outputs = tuple(text.output for text in rated.texts)
    return OutputSet(outputs, rated.sha256, rated.file_name, rated.notes)


def complete_rating(rating: Rating, output: ScorableOutput) -> Rating:
    """The rating with the item, system, level, language and labels of its text."""
    return replace(
        rating,
        item_id=output.item_id,
        system=output.system,
        level=output.level,
        language=output.language,
        labels=output.labels,
    )


def _rating_row(rating: Rating) -> dict[str, Any]:
    return {
        "rater": rating.rater,
        "dimension": rating.dimension,
        "score": rating.score,
        "spans": None if rating.spans is None else [span_row(span) for span in rating.spans],
    }


def _ratings(
    value: object, output: ScorableOutput, where: str, clipping: Clipping, problems: Problems
) -> list[Rating]:
    """The ratings of one text; adds to the problems."""
    value = rating_entries(value, where, problems)
    if value is None:
        return []
    if not isinstance(value, list):
        problems.append(f"{where}: ratings is {type_name(value)}, expected a list of objects")
        return []
    found = []
    for number, one in enumerate(value, start=1):
        place = f"{where}, rating {number}"
        if not isinstance(one, JsonObject):
            problems.append(f"{place}: is {type_name(one)}, expected an object")
            continue
        problems += duplicate_problems(place, one)
        spans = _checked(spans_in(one.get("spans"), place, problems), output, place, clipping, problems)
        fields = rating_fields(one, spans, place, problems)
        if fields is not None:
            rater, dimension, score = fields
            found.append(
                complete_rating(
                    Rating(output.item_id, score, rater=rater, dimension=dimension or OVERALL, spans=spans),
                    output,
                )
            )
    problems += [f"{where}: {problem}" for problem in repeated_ratings(found)]
    return found


def _checked(
    spans: Sequence[ErrorSpan] | None,
    output: ScorableOutput,
    where: str,
    clipping: Clipping,
    problems: Problems,
) -> tuple[ErrorSpan, ...] | None:
    if spans is None:
        return None
    return tuple(
        clipping.checked(span, output, f"{where}, span {number}", problems)
        for number, span in enumerate(spans, start=1)
    )


def repeated_ratings(ratings: Sequence[Rating]) -> list[str]:
    """A problem for each rater who rates a dimension of one text more than once."""
    counts = Counter((one.rater, one.dimension) for one in ratings if one.rater is not None)
    return [
        f"rater {shown(rater or '')} rates dimension {shown(dimension)} {count} times"
        for (rater, dimension), count in counts.items()
        if count > 1
    ]


def _called(rating: Rating) -> str:
    names = [("item", rating.item_id), ("system", rating.system), ("level", rating.level)]
    return ", ".join(f"{what} {shown(name)}" for what, name in names if name is not None)


def holds_rated(data: bytes, file_name: str) -> bool:
    """Whether a file contains rated texts: some object has a list `ratings`; unrated texts may lack it.

    Lists with a rater's scores by dimension are another format.
    """
    text = data.decode("utf-8-sig", "replace")
    if f'"{RATINGS}"' not in text:
        return False
    lists = [own for one in objects_in(text, file_name) if isinstance(own := one.get(RATINGS), list)]
    return bool(lists) and not any(is_nested(entry) for own in lists for entry in own)


def _ratings_alone(data: bytes, file_name: str) -> RatingSet:
    found = ratings_of(read_rated(data, file_name))
    if not found.ratings:
        reject(file_name, ["file: contains no rated text; at least one is needed"])
    return found


FORMAT = Format(
    "rated",
    "rated texts, in which higher is already better",
    holds_rated,
    {"ratings": _ratings_alone, "with_texts": read_rated},
    marks="rated texts",
)
