"""Small makers for tests of marked errors: ratings with spans, and judges that named errors."""

from collections.abc import Mapping, Sequence

from core.judges.automqm import AutoMqmRecord, ErrorTrial, FoundError
from core.judges.rated import ExampleUsed
from core.schema.scores import (
    ErrorSpan,
    JudgedText,
    JudgeOutput,
    Metric,
    RatedSet,
    RatedText,
    Rating,
    RatingSet,
    ScorableOutput,
    ScoredRow,
)

Span = tuple[int, int, str]
Text = tuple[str, str]
"""Item and system."""


def span(start: int, end: int, severity: str = "major", *, in_source: bool = False) -> ErrorSpan:
    return ErrorSpan(start, end, severity, "accuracy/mistranslation", 1.0, in_source)


def marked(
    item: str, system: str, *spans: Span, rater: str | None = None, level: str | None = None
) -> Rating:
    return Rating(item, 0.0, system, level, rater, spans=tuple(span(*one) for one in spans))


def rating_set(*ratings: Rating, name: str = "gold.tsv") -> RatingSet:
    return RatingSet(ratings, "", name)


def rated(texts: Mapping[Text, str], errors: Mapping[Text, Sequence[str]]) -> RatedSet:
    """Texts in which one rater marked the first occurrence of each of some words."""
    return RatedSet(
        tuple(
            RatedText(
                ScorableOutput(item, system, text),
                (
                    Rating(
                        item,
                        0.0,
                        system,
                        spans=tuple(
                            span(text.index(words), text.index(words) + len(words))
                            for words in errors.get((item, system), ())
                        ),
                    ),
                ),
            )
            for (item, system), text in texts.items()
        ),
        "",
        "rated.jsonl",
    )


def found(text: str, quote: str, severity: str = "major") -> FoundError:
    """An error as a judge names it, found where its words first stand."""
    start = text.find(quote) if quote else -1
    if start < 0:
        return FoundError(
            quote, severity, "fluency/grammar", located="not found" if quote else "nothing quoted"
        )
    return FoundError(quote, severity, "fluency/grammar", start, start + len(quote))


def trial(
    text: str,
    quotes: Sequence[str] | None,
    *,
    repeat: int = 0,
    examples: Sequence[Text] = (),
    reason: str | None = None,
) -> ErrorTrial:
    return ErrorTrial(
        repeat=repeat,
        verdict=None if quotes is None else tuple(found(text, quote) for quote in quotes),
        examples=tuple(ExampleUsed(item, system, None) for item, system in examples),
        reason=reason,
    )


def judge(
    texts: Mapping[Text, str],
    trials: Mapping[Text, Sequence[ErrorTrial]],
    *,
    name: str = "specialist",
    **settings: object,
) -> JudgeOutput:
    return JudgeOutput(
        name,
        "automqm",
        "tiny",
        settings,
        (Metric(name, "AutoMQM|tiny", "AutoMQM"),),
        tuple(
            JudgedText(
                ScoredRow(item, system),
                text,
                None,
                None,
                {name: 0.0},
                {},
                AutoMqmRecord(tuple(trials[item, system])) if (item, system) in trials else None,
            )
            for (item, system), text in texts.items()
        ),
    )
