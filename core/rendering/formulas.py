"""LaTeX formulas as MathML, which every browser sets without a script of ours and without a font.

The converter is lenient: it shows unknown commands by their names, drops what it cannot place, and adds numbers of its own. So a formula is
set only where every letter, digit and sign of its source can be seen in it; else people see the source.
"""

from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import TYPE_CHECKING
from unicodedata import normalize

import regex

from core.rendering.tree import Formula

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as XmlElement

LONGEST_FORMULA = 4_000
"""Characters; a longer formula is shown as its source."""
_DEEPEST = 60
_TAG_NAMES = (
    "math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup msup "
    "mtable mtd mtext mtr munder munderover"
)
_ATTRIBUTE_NAMES = (
    "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence form height largeop "
    "linethickness lspace mathvariant maxsize minsize movablelimits rowlines rowspacing rspace scriptlevel separator "
    "stretchy symmetric voffset width"
)
"""Nothing that names an address, a style or a colour: a colour would vanish on a dark page."""
_TAGS, _ATTRIBUTES = frozenset(_TAG_NAMES.split()), frozenset(_ATTRIBUTE_NAMES.split())
_MOVES = frozenset(("depth", "height", "lspace", "rspace", "voffset", "width"))
_FARTHEST = 3.0
"""In the size of the formula's letters: what moves farther could cover words of the page, or leave it."""
_LENGTH = r"[+-]?(?:\d{1,4}(?:\.\d{1,4})?|\.\d{1,4})"
_MEASURE = regex.compile(rf"({_LENGTH})(em|ex|px|pt|mu|cm|mm|in)?")
_EM = {"em": 1, "ex": 0.5, "px": 1 / 16, "pt": 1 / 12, "mu": 1 / 18, "cm": 2.4, "mm": 0.24, "in": 6}
_CLASSES = {
    "box": "assay-box",
    "updiagonalstrike": "assay-strike-up",
    "downdiagonalstrike": "assay-strike-down",
    "updiagonalstrike downdiagonalstrike": "assay-strike-both",
}
"""Of `menclose`, which not every browser draws."""

_REFUSED = regex.compile(
    r"""
    \\(?: (?:re|provide)?newcommand | newenvironment | [egx]?def | let | DeclareMathOperator  # macros may grow without end
        | sideset                                                                            # doubles what it is given
        | href | url | class | style | cssId | html\w* | includegraphics | unicode | char    # says more than letters
        | [lrc]lap | math[lrc]lap | smash | verb )(?![a-zA-Z])                               # covers what is beside it
    | (?<!\\)(?:\\\\)*%                                                                      # a comment follows
    """,
    regex.VERBOSE,
)
_ENVIRONMENT = regex.compile(r"\\(begin|end)\s*\{([a-zA-Z]+\*?)\}(\s*\{\d+\})?")
_ENVIRONMENTS = {
    "align*": "align align* aligned alignat alignat* alignedat flalign flalign* eqnarray eqnarray*",
    "matrix": "matrix gather gather* gathered multline multline*",
    "": "equation equation* displaymath math",
    "cases": "cases dcases",
    **{
        name: name
        for name in ("array", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "split")
    },
}
_SET_AS = {name: set_as for set_as, names in _ENVIRONMENTS.items() for name in names.split()}
"""Environments and those by which the converter sets them: it numbers lines of `align`, and lays out nothing in `aligned`."""
_INSTEAD = (
    (regex.compile(rf"\\\\\s*\[\s*{_LENGTH}\s*[a-z]{{2}}\s*\]"), r"\\\\"),
    (regex.compile(r"\\(?:text)?color\s*\{[\w#!.,: -]{0,40}\}"), ""),
    (regex.compile(r"\\(?:nonumber|notag)(?![a-zA-Z])"), ""),
    (regex.compile(r"\\arg(?![a-zA-Z])"), r"\\operatorname{arg}"),
)
"""What the converter shows as letters, and what stands for it."""
_ESCAPED = regex.compile(r"\\([%$#&_{} ])")
_NO_WORDS = regex.compile(
    rf"""
    \\begin\{{array\}}\s*(?:\[[a-z]\])?\s*\{{[lcr|\s]*\}}
    | \\(?:begin|end)\{{[a-zA-Z]+\*?\}}
    | \\(?:hspace|hskip|kern|mkern|mskip|mspace|raise|lower)\*?\s*\{{?\s*{_LENGTH}\s*[a-z]{{2}}\s*\}}?
    | \\[a-zA-Z]+\*? | \\.
    """,
    regex.VERBOSE | regex.DOTALL,
)
_SEEN = regex.compile(r"[\p{L}\p{N}+=/!(),;:<>]")


def formula(latex: str, *, display: bool) -> Formula | None:
    """The formula; None where it cannot be set whole, so that its source is shown. display: on a line of its own."""
    if not latex.strip() or len(latex) > LONGEST_FORMULA or not _is_balanced(latex) or _REFUSED.search(latex):
        return None
    source = _prepared(latex)
    if source is None:
        return None
    converted = _converted(source, display=display)
    if converted is not None and any("linebreak" in one.attrib for one in converted.iter()):
        converted = _converted(rf"\begin{{matrix}}{source}\end{{matrix}}", display=display)
    try:
        tree = None if converted is None else _checked(converted)
    except RecursionError:
        return None
    return tree if tree is not None and _is_whole(source, tree) else None


def _is_balanced(latex: str) -> bool:
    """Whether every brace is closed, and not more are open at once than people write: the converter calls itself for each."""
    depth = 0
    for mark in regex.findall(r"\\.|[{}]", latex, flags=regex.DOTALL):
        depth += (mark == "{") - (mark == "}")
        if not 0 <= depth <= _DEEPEST:
            return False
    return depth == 0


def _prepared(latex: str) -> str | None:
    """The source as the converter sets it right; None if it holds an environment that is unknown or not closed."""
    opened: list[str] = []
    pieces: list[str] = []
    at = 0
    for match in _ENVIRONMENT.finditer(latex):
        kind, name, columns = match.groups()
        if name not in _SET_AS or (kind == "end" and (not opened or opened.pop() != name)):
            return None
        if kind == "begin":
            opened.append(name)
        counts_columns = kind == "begin" and name.startswith("align") and "at" in name
        pieces += [
            latex[at : match.start()],
            rf"\{kind}{{{_SET_AS[name]}}}" if _SET_AS[name] else "",
            (columns or "") if not counts_columns else "",
        ]
        at = match.end()
    source = "".join([*pieces, latex[at:]])
    for pattern, instead in _INSTEAD:
        source = pattern.sub(instead, source)
    return None if opened else source


def _converted(latex: str, *, display: bool) -> "XmlElement | None":
    from latex2mathml.converter import convert_to_element  # imported lazily: only texts with formulas need it

    try:
        element: XmlElement = convert_to_element(latex, display="block" if display else "inline")
    except Exception:  # whatever the converter raises for what is no formula
        return None
    return element


_OPERATORS = ("±", "∓")
"""The converter takes them for names, which have no space around them."""


def _checked(element: "XmlElement") -> Formula | None:
    """The element if everything in it is known."""
    text = unescape(element.text or "")
    if element.tag == "mtext":
        text = _ESCAPED.sub(r"\1", text)
    if element.tag not in _TAGS or "linebreak" in element.attrib or regex.search(r"\\[a-zA-Z]", text):
        return None
    if not all(_is_near(value) for name, value in element.attrib.items() if name in _MOVES):
        return None
    children = [_checked(child) for child in element]
    if any(child is None for child in children):
        return None
    attributes = [(name, value) for name, value in element.attrib.items() if name in _ATTRIBUTES]
    tag = "mo" if text in _OPERATORS else element.tag
    if tag == "menclose":
        tag = "mrow"
        attributes.append(("class", _CLASSES.get(element.attrib.get("notation", ""), "assay-box")))
    return Formula(tag, tuple(attributes), text, tuple(child for child in children if child))


def _is_near(length: str) -> bool:
    """Whether a length is one that formulas need: in no unit, it is none or a name such as `thinmathspace`."""
    if length.isalpha():
        return True
    match = _MEASURE.fullmatch(length.replace(" ", ""))
    return match is not None and abs(float(match[1])) * _EM.get(match[2] or "em", 1) <= _FARTHEST


def _is_whole(source: str, tree: Formula) -> bool:
    """Whether all letters, digits and common signs of the source are seen, and no sign of its layout is."""
    expected = Counter(_SEEN.findall(normalize("NFKC", _NO_WORDS.sub(" ", source))))
    seen = "".join(_texts(tree))
    if "&" in seen and "&" not in "".join(regex.findall(r"\\&|\\text[a-z]*\{[^{}]*\}", source)):
        return False
    return not expected - Counter(_SEEN.findall(normalize("NFKC", seen)))


def _texts(tree: Formula) -> Iterator[str]:
    if tree.tag != "mphantom":
        yield tree.text
        for child in tree.children:
            yield from _texts(child)
