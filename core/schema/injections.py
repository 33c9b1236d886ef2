"""Texts with marks of injection and their mean scores, as the rows that every door shows."""

from collections.abc import Mapping

from core.schema.result_table import Interval
from core.schema.rows import column, entry, row

MARKED_TEXTS = "marked-texts"
MARKED_TABLES = (MARKED_TEXTS, "marked-means")
"""Names of the tables, the list of texts first."""


@row
class KindCount:
    """How many texts have one kind of mark."""

    kind: str = entry("the kind of mark", key="")
    about: str = entry("what such a text has, in words")
    n: int = entry("texts with such a mark")


@row
class MarkedText:
    """A text with a mark."""

    item: str = column("its item", names_row=True)
    system: str = column("its system, or the name under which a blind study shows it", names_row=True)
    level: str | None = column("its level, if it has one", names_row=True)
    language: str = column("its language")
    kinds: str = column("the kinds of marks in it, separated by commas")
    excerpt: str = column(
        "the first mark of each kind with some characters around it; empty where texts are not shown"
    )
    scores: Mapping[str, float | None] = entry("its scores by judge; null where there is none")


@row
class MarkedMean:
    """Mean scores of the texts with marks and of the others, by one judge."""

    judge: str = column("the judge's score, or people for the raters' mean", title="Mean of", names_row=True)
    marked: float | None = column("mean of the texts with marks", title="With marks")
    n_marked: int = column("texts with marks and a score", title="n")
    unmarked: float | None = column("mean of the other texts", title="Without")
    n_unmarked: int = column("other texts with a score", title="n without")
    difference: Interval = column(
        "mean with marks minus mean without, with an interval over items", ends="object", key="difference"
    )


@row
class Injections:
    """Marks of injection in a set of texts, and how they are scored."""

    n: int = entry("texts with a mark")
    of: int = entry("texts that were searched")
    kinds: tuple[KindCount, ...] = entry("texts by kind of mark", rows=KindCount, keyed_by="kind")
    means: tuple[MarkedMean, ...] = entry("mean scores with and without marks, by judge", rows=MarkedMean)
    texts: tuple[MarkedText, ...] = entry("the texts with a mark, in the order of the input", rows=MarkedText)
    marked: frozenset[int] = frozenset()
    """Places of the texts with a mark."""
