"""Which stretches of A0 may carry a fact: by dependency parse where a model is there, else by rule."""

from collections.abc import Sequence

import regex

from core.generation.factual.spans.by_rule import DEFAULT_WANTED, spans_by_rule
from core.generation.factual.spans.helper import Parsers
from core.generation.language import known_language
from core.generation.records import Span
from core.generation.rules.pool import on_boundaries

BY_RULES = "rules"


def by_rules_said(n: int, n_items: int, languages: Sequence[str] = (), *, parsed: bool = False) -> str:
    """The warning for items whose facts rules find.

    languages: of these items, where they are known. parsed: whether spaCy is there, for other languages.
    """
    items = f"all {n_items} items" if n == n_items > 1 else f"{n} of {n_items} items"
    of = f" (language: {', '.join(languages)})" if languages else ""
    advice = (
        "Install spaCy's pipeline of the language where spaCy is"
        if parsed
        else "`./run --with spacy` sets up spaCy with its English pipeline"
    )
    return f"Facts are found by rules in {items}{of}, not by a dependency parse as in Factual. {advice}."


def find_spans(
    text: str,
    language: str,
    parser: str = "auto",
    wanted: int = DEFAULT_WANTED,
    *,
    for_rules: bool = True,
    parsers: Parsers | None = None,
) -> tuple[tuple[Span, ...], str]:
    """The spans, sorted and without overlap, and what found them: `spacy MODEL VERSION` or `rules`.

    language: a BCP 47 tag; `und` is guessed from the text.
    parser: `auto` (a spaCy pipeline of the language that is set up, else rules), `rules`, or a pipeline's name or path;
        a name that cannot be loaded is an InputError.
    wanted: without a parser, content words are added until there are so many spans.
    for_rules: without a parser, only spans that rules have a fitting word for.
    parsers: where a parser is looked for; None: in this process.
    """
    known = known_language(language, text)
    found = None if parser == BY_RULES else (parsers or Parsers()).find(parser, known)
    if found is None:
        return spans_by_rule(text, known, wanted, for_rules=for_rules), BY_RULES
    return _clean(text, found.spans(text)), found.name


def _clean(text: str, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Spans without blanks and punctuation around them; what crosses a line or overlaps is left out."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span.start)):
        start, end = _inner(text, span.start, span.end)
        apart = all(end <= other.start or other.end <= start for other in kept)
        if start < end and apart and on_boundaries(text, start, end):
            kept.append(Span(start, end, text[start:end], span.kind))
    return tuple(sorted(kept, key=lambda span: span.start))


def _inner(text: str, start: int, end: int) -> tuple[int, int]:
    outside = r"[^\p{L}\p{M}\p{N}\p{S}%‰°′″]"
    while (
        start < end
        and regex.match(outside, text[start])
        and not regex.match(r"[-−]\p{N}", text[start : start + 2])
    ):
        start += 1
    while start < end and regex.match(outside, text[end - 1]):
        end -= 1
    return start, end
