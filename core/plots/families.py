"""How a family of metrics looks in every figure: a colour and a symbol, so that neither alone has to tell."""

from collections.abc import Iterable

from core.plots.dressing import BLUE, DARK, OCHRE, VIOLET, label

Mark = tuple[str, str]
"""Colour and plotly symbol."""

LOOKS: tuple[Mark, ...] = (
    (BLUE, "circle"),
    (OCHRE, "square"),
    ("#009e73", "diamond"),
    ("#cc79a7", "triangle-up"),
    (VIOLET, "cross"),
    ("#56b4e9", "triangle-down"),
    ("#d55e00", "star"),
    (DARK, "x"),
)
"""Colours of Okabe and Ito's set and of the house, told apart by people who do not see red or green."""
_FAMILIES = ("BLEU", "chrF", "ROUGE", "METEOR", "BERTScore", "COMET", "BLEURT", "NLI")
_MARKS: dict[str, Mark] = dict(zip(_FAMILIES, LOOKS, strict=True))
_FURTHER: tuple[Mark, ...] = (
    (DARK, "hexagon"),
    (BLUE, "star-diamond"),
    (OCHRE, "pentagon"),
    (VIOLET, "bowtie"),
    ("#009e73", "hourglass"),
    ("#d55e00", "hexagram"),
)
"""For families of metrics that were computed elsewhere, in the order in which they come."""


def shortened(name: str, longest: int) -> str:
    """A long name without its middle: how it begins and how it ends both tell it from others."""
    if len(name) <= longest:
        return name
    tail = longest // 3
    return f"{name[: longest - tail - 1]}…{name[-tail:]}"


def metric_label(name: str, longest: int) -> str:
    """A metric's name, which may be a user's, for a plotly label: no HTML, not too long."""
    return label(shortened(name, longest), longest=longest)


def marks(families: Iterable[str]) -> dict[str, Mark]:
    """A mark for each family: always the same for those that Assay knows."""
    found: dict[str, Mark] = {}
    for family in dict.fromkeys(families):
        others = sum(name not in _MARKS for name in found)
        found[family] = _MARKS.get(family, _FURTHER[others % len(_FURTHER)])
    return found
