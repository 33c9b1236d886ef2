"""LaTeX formulas as MathML, which every browser sets without a script of ours and without a font."""

from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING

from core.rendering.tree import Formula

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as XmlElement

LONGEST_FORMULA = 4_000
"""Characters; a longer formula is shown as its source."""
_DEEPEST = 60
_TAGS = frozenset(
    [
        "math",
        "menclose",
        "mfrac",
        "mi",
        "mmultiscripts",
        "mn",
        "mo",
        "mover",
        "mpadded",
        "mphantom",
        "mprescripts",
        "mroot",
        "mrow",
        "ms",
        "mspace",
        "msqrt",
        "mstyle",
        "msub",
        "msubsup",
        "msup",
        "mtable",
        "mtd",
        "mtext",
        "mtr",
        "munder",
        "munderover",
        "none",
    ]
)
_ATTRIBUTES = frozenset(
    [
        "accent",
        "accentunder",
        "columnalign",
        "columnlines",
        "columnspacing",
        "depth",
        "display",
        "displaystyle",
        "fence",
        "form",
        "height",
        "largeop",
        "linethickness",
        "lspace",
        "mathsize",
        "mathvariant",
        "maxsize",
        "minsize",
        "movablelimits",
        "notation",
        "rowlines",
        "rowspacing",
        "rspace",
        "scriptlevel",
        "separator",
        "stretchy",
        "symmetric",
        "voffset",
        "width",
    ]
)
"""Nothing that names an address, a style or a colour: colours would vanish on a dark page."""


@lru_cache(maxsize=2_048)
def formula(latex: str, *, display: bool) -> Formula | None:
    """The formula; None where it cannot be set, so that its source is shown. display: on a line of its own."""
    if not latex.strip() or len(latex) > LONGEST_FORMULA or _depth(latex) > _DEEPEST:
        return None
    from latex2mathml.converter import convert_to_element  # imported lazily: only texts with formulas need it

    try:
        found = _checked(convert_to_element(latex, display="block" if display else "inline"), 0)
    except Exception:  # whatever the converter raises for what is no formula
        return None
    return found


def _depth(latex: str) -> int:
    """How deep braces are nested; the converter calls itself for each."""
    deepest = depth = 0
    for character in latex:
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
    return deepest


def _checked(element: "XmlElement", depth: int) -> Formula | None:
    """The element if everything in it is known."""
    if element.tag not in _TAGS or depth > 4 * _DEEPEST:
        return None
    children = [_checked(child, depth + 1) for child in element]
    if any(child is None for child in children):
        return None
    attributes = tuple((name, value) for name, value in element.attrib.items() if name in _ATTRIBUTES)
    return Formula(
        element.tag, attributes, unescape(element.text or ""), tuple(child for child in children if child)
    )
