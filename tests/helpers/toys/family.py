"""A family of metrics as somebody would add one: this file, and a line in core.metrics.lexical.scorer."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from core.metrics.lexical.family import CODE_VERSION, LexicalFamily, ReadText, spec
from core.schema.scores import Score

SIZES = (1, 2)


def _scores(configurations: Sequence[Mapping[str, Any]], text: ReadText, reference: ReadText) -> list[Score]:
    return [_score(text, reference, **parameters) for parameters in configurations]


def _score(text: ReadText, reference: ReadText, *, n: int) -> Score:
    counts = [len(one.ngrams("words", n).distinct) for one in (text, reference)]
    return Score(min(counts) / max(counts)) if any(counts) else Score(None, f"no sequence of {n} words")


FAMILY = LexicalFamily(
    name="Toy",
    specs=tuple(
        spec(
            f"toy-variety-{n}",
            f"Toy|nrefs:1|tok:13a|order:{n}|version:{CODE_VERSION}",
            {"n": n},
            f"Different sequences of {n} words, fewer over more (0-1).",
            (f"toy variety {n}",),
            of_paper=False,
        )
        for n in SIZES
    ),
    open=lambda configurations, _: partial(_scores, configurations),
    spaced=True,
)
