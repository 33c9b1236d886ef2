"""Sides of a meta-correlation: correlations that a file or a paper has, or scores to correlate."""

from collections.abc import Callable

from core.errors import InputError
from core.formats.correlations import published_side, read_correlations
from core.results.correlations.paired import People
from core.results.meta_correlation import LiveSide, Side
from core.schema.analysis import UseOfRatings
from core.sources.named import FileSource, PublishedSource, Source
from core.sources.reading import SourceReader
from core.sources.scores import Scores, scores_and_ratings
from core.tables.columns import is_json
from core.tables.containers import decode
from core.tables.parquet import is_parquet
from core.tables.streaming import head_of

RatedSide = Callable[[Scores], tuple[People, UseOfRatings]]
"""Returns the ratings or votes beside scores, and how they are used. Raises InputError if there are none."""


def holds_correlations(source: Source, *, rated: bool) -> bool:
    """Whether a side contains correlations, not scores. rated: whether ratings of its texts are given apart."""
    return isinstance(source, PublishedSource) or (
        isinstance(source, FileSource) and not rated and _holds_json(source)
    )


def _holds_json(source: FileSource) -> bool:
    """Whether a file is one JSON value; a file that cannot be read is what its name says."""
    try:
        data = head_of(source.path) if source.data is None else source.data
        return not is_parquet(data) and is_json(decode(data, source.name), source.name)
    except InputError:
        return source.path.suffix.lower() == ".json"


def side_of(source: Source, reading: SourceReader, *, human: bool, rated: bool, ratings: RatedSide) -> Side:
    """Return one side of a meta-correlation.

    human: the side of people, whose scores are correlated with ratings or votes; those of the other side with the negative level.
    rated: whether ratings or votes on its texts are given apart. Raises InputError, and NotAllowed for a blinded study.
    """
    if isinstance(source, PublishedSource):
        return published_side(source.written)
    if isinstance(source, FileSource) and holds_correlations(source, rated=rated):
        return read_correlations(reading.table(source), source.name, synthetic=not human)
    scores = scores_and_ratings(source, reading)
    if not human:
        return LiveSide(source.written, scores.table)
    return LiveSide(source.written, scores.table, *ratings(scores))
