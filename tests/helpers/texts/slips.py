"""Rated texts with slips in them, for tests of judges that people's ratings stand behind.

A text of system A has the slip `slipA1` in item 1, and so on; three raters marked every slip, one of them as minor.
"""

import re
from collections.abc import Sequence
from typing import Any

from core.formats.rated import write_rated
from core.schema.scores import ErrorSpan, RatedText, Rating, ScorableOutput

SYSTEMS = ("A", "B", "C", "D")
RATERS = ("r1", "r2", "r3")
SLIP = re.compile(r"\bslip\w+")


def text_of(item: int, system: str) -> str:
    """The text that a system made of an item: A makes as many slips as the item's number says, modulo 3."""
    slips = [f"slip{system}{item}x{n}" for n in range((item + SYSTEMS.index(system)) % 3)]
    return " ".join([f"The mill number {item} was built here.", *slips, f"ünd 𝄞 so on, {system}."])


def rated(item: int, system: str, raters: Sequence[str | None] = RATERS) -> RatedText:
    """The text with everybody's ratings: its slips, one number, and a class on each of five dimensions."""
    output = ScorableOutput(
        str(item), system, text_of(item, system), source=f"Über die Mühle {item}.", language="en"
    )
    slips = list(SLIP.finditer(output.text))
    ratings = []
    for rater in raters:
        severity = "minor" if rater == RATERS[-1] else "major"
        spans = tuple(ErrorSpan(one.start(), one.end(), severity, "style/awkward") for one in slips)
        score = 0.0 - len(slips) * (1 if severity == "minor" else 5)

        def of(dimension: str, score: float, spans: Any = None, rater: str | None = rater) -> Rating:
            return Rating(
                output.item_id, score, system, rater=rater, dimension=dimension, language="en", spans=spans
            )

        ratings += [of("mqm", score, spans), of("overall", 100.0 - 10 * len(slips))]
        ratings += [of(name, float(2 - len(slips))) for name in ("LA", "OCQ", "TQ")]
        ratings += [of(name, float(not slips)) for name in ("PC", "H")]
    return RatedText(output, tuple(ratings))


def rated_texts(n_items: int, raters: Sequence[str | None] = RATERS) -> bytes:
    """A file of rated texts."""
    return write_rated(rated(item, system, raters) for item in range(n_items) for system in SYSTEMS)
