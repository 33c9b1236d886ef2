"""What a judge's answers are called, where texts are put together by them."""

from core.schema.scale import Scale

NO_SCORE = "no score"


def answer_said(low: float | None, high: float | None, scale: Scale) -> str:
    """The name of an answer: its word or number, or the lowest and the highest score of a bin. None: no score."""
    if low is None or high is None:
        return NO_SCORE
    return scale.name(low) if low == high else f"{low:.4g} to {high:.4g}"
