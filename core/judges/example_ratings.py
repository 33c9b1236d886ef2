"""What of people's ratings makes a text an example: the errors marked in it, or a score on a judge's dimension."""

from collections.abc import Iterable, Sequence

from core.datasets.mqm_weights import score_of, weight_of
from core.schema.scores import ErrorSpan, Rating
from core.schema.tasks import Dimension

_NEARLY = 1e-6


def merged_errors(ratings: Iterable[Rating]) -> list[ErrorSpan]:
    """The errors of several ratings of one text; of raters who marked the same, in the same way, it stands once.

    What one rater marked twice stays twice, as it counts twice in the score.
    """
    merged: list[ErrorSpan] = []
    for rating in ratings:
        known = {_what(span) for span in merged}
        merged += [span for span in rating.spans or () if _what(span) not in known]
    return merged


def quoted(text: str, spans: Iterable[ErrorSpan]) -> list[tuple[str, ErrorSpan]]:
    """The words that errors mark, as they come in the text; errors in the source are left out."""
    own = sorted((span for span in spans if not span.in_source), key=lambda span: (span.start, span.end))
    return [(text[span.start : span.end], span) for span in own]


def scores_on(dimension: Dimension, ratings: Sequence[Rating]) -> tuple[Rating, ...]:
    """The ratings that are scores of this dimension, on its scale.

    A score that is minus the weights of its own errors is on no scale that ends above 0: there its 0 would be the worst
    score, and it means that nothing is wrong.
    """
    return tuple(
        one
        for one in ratings
        if one.dimension == dimension.name
        and dimension.lowest <= one.score <= dimension.highest
        and not (dimension.highest > 0 and weighs_its_errors(one))
    )


def _what(span: ErrorSpan) -> tuple[int, int, str, str, bool]:
    return span.start, span.end, span.severity, span.category, span.in_source


def weighs_its_errors(rating: Rating) -> bool:
    """Whether the score is minus the MQM weights of the errors that were marked with it."""
    if rating.spans is None:
        return False
    weighed = (
        span
        if span.weight is not None
        else ErrorSpan(
            span.start,
            span.end,
            span.severity,
            span.category,
            weight_of(span.category, span.severity),
            span.in_source,
        )
        for span in rating.spans
    )
    return abs(rating.score - score_of(weighed)) < _NEARLY
