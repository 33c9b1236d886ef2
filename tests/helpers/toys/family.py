"""A family of metrics as somebody would add one: this file, and a line in core.metrics.lexical.scorer."""

from core.metrics.lexical.family import LexicalFamily, ReadText, spec
from core.schema.scores import Score


def _scores(text: ReadText, reference: ReadText) -> list[Score]:
    longer = max(len(text.words), len(reference.words))
    return [Score(min(len(text.words), len(reference.words)) / longer if longer else None, "no words")]


FAMILY = LexicalFamily(
    name="Toy",
    specs=(
        spec(
            "toy-length",
            "Toy|version:1",
            {},
            "Shorter over longer, in words (0-1).",
            ("toy length",),
            of_paper=False,
        ),
    ),
    open=lambda *_: _scores,
)
