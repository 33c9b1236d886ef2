"""Markdown as a document: CommonMark and tables, with formulas where they are asked for. HTML in it stays text."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import regex

from core.rendering.code import code_block
from core.rendering.formulas import formula
from core.rendering.tree import Element, Leaf, Node, Tag, plain_document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_DEEPEST = 40
"""Levels of lists and quotations in each other."""
_TAGS: dict[str, Tag] = {
    "paragraph": "paragraph",
    "heading": "heading",
    "bullet_list": "list",
    "ordered_list": "numbered_list",
    "list_item": "item",
    "blockquote": "quotation",
    "table": "table",
    "tr": "table_row",
    "th": "heading_cell",
    "td": "cell",
    "em": "emphasis",
    "strong": "strong",
    "link": "link",
}
_WORDS = regex.compile(r"[\p{L}\p{N}]")


def markdown_document(text: str, *, formulas: bool) -> Element:
    """The text as a document. formulas: whether `$...$`, `\\(...\\)`, `$$...$$`, `\\[...\\]` and environments are formulas."""
    tokens = _parser(formulas).parse(text)
    if any(token.level >= 2 * _DEEPEST for token in tokens):
        return plain_document(text)
    children, end = _nodes(tokens, 0, formulas)
    assert end == len(tokens)
    return Element("document", children) if children else plain_document(text)


@cache
def _parser(formulas: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt  # imported lazily: plain studies need none of it

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 4 * _DEEPEST}).enable("table")
    if formulas:
        from mdit_py_plugins.amsmath import amsmath_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin

        parser.use(
            dollarmath_plugin, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True
        )
        parser.use(amsmath_plugin)
        parser.inline.ruler.before("escape", "bracket_formula", _bracket_formula)
        parser.block.ruler.before(
            "fence",
            "bracket_block",
            _bracket_block,
            {"alt": ["paragraph", "reference", "blockquote", "list"]},
        )
    return parser


def _bracket_formula(state: "StateInline", silent: bool) -> bool:
    """`\\(...\\)` and, within a line, `\\[...\\]`."""
    opened = state.src[state.pos : state.pos + 2]
    if opened not in ("\\(", "\\["):
        return False
    closing = "\\)" if opened == "\\(" else "\\]"
    end = state.src.find(closing, state.pos + 2, state.posMax)
    content = state.src[state.pos + 2 : end]
    if end < 0 or not content.strip():
        return False
    if not silent:
        token = state.push("math_inline" if opened == "\\(" else "math_inline_double", "math", 0)
        token.content = content
    state.pos = end + 2
    return True


def _bracket_block(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """`\\[` at the beginning of a line, up to the line that ends with `\\]`; also `$$` inside a paragraph's lines."""
    if state.is_code_block(first):
        return False
    at = state.bMarks[first] + state.tShift[first]
    opened = state.src[at : at + 2]
    if opened not in ("\\[", "$$"):
        return False
    closing = "\\]" if opened == "\\[" else "$$"
    for line in range(first, last):
        if line > first and state.sCount[line] < state.blkIndent:
            return False
        begin = at + 2 if line == first else state.bMarks[line] + state.tShift[line]
        found = state.src.find(closing, begin, state.eMarks[line])
        if found < 0:
            continue
        if state.src[found + 2 : state.eMarks[line]].strip():
            return False  # words follow it: it is a part of its paragraph
        content = state.getLines(first, line + 1, state.blkIndent, False).strip()[2:-2]
        if not content.strip():
            return False
        if not silent:
            token = state.push("math_block", "math", 0)
            token.content, token.block = content, True
            token.map = [first, line + 1]
            state.line = line + 1
        return True
    return False


def _nodes(tokens: Sequence["Token"], at: int, formulas: bool) -> tuple[tuple[Node, ...], int]:
    """The nodes from a token up to the end of what it is in, and where that is."""
    nodes: list[Node] = []
    while at < len(tokens):
        token = tokens[at]
        if token.nesting < 0:
            return tuple(nodes), at
        if token.nesting > 0:
            inside, at = _nodes(tokens, at + 1, formulas)
            nodes += _opened(token, inside)
        else:
            nodes += _single(token, formulas)
        at += 1
    return tuple(nodes), at


def _opened(token: "Token", inside: tuple[Node, ...]) -> tuple[Node, ...]:
    name = token.type.removesuffix("_open")
    if name in ("thead", "tbody"):
        return inside
    level, note = 0, ""
    if name == "heading":
        level = int(token.tag[1:])
    elif name == "ordered_list":
        level = int(token.attrs.get("start", 1))
    elif name in ("th", "td"):
        note = str(token.attrs.get("style", "")).removeprefix("text-align:")
    elif name == "link":
        inside += _address(str(token.attrs.get("href", "")), inside)
    return (Element(_TAGS[name], inside, level, note),)


def _address(address: str, inside: Sequence[Node]) -> tuple[Node, ...]:
    """The address of a link, as text behind its words: no link of an answer can be followed."""
    said = "".join(node.text for node in inside if isinstance(node, Leaf))
    return () if not address or said == address or f"mailto:{said}" == address else (Leaf(f" ({address})"),)


def _single(token: "Token", formulas: bool) -> tuple[Node, ...]:
    kind, content = token.type, token.content
    if kind == "inline":
        return _nodes(token.children or (), 0, formulas)[0]
    if kind == "text":
        return (Leaf(content),) if content else ()
    if kind in ("softbreak", "hardbreak"):
        return (Leaf(" " if kind == "softbreak" else "\n"),)
    if kind == "code_inline":
        return (Element("code", (Leaf(content),)),)
    if kind in ("fence", "code_block"):
        named = token.info.split()
        return (code_block(content.removesuffix("\n"), named[0].lower() if named else ""),)
    if kind == "hr":
        return (Element("rule"),)
    if kind == "image":
        address = str(token.attrs.get("src", ""))
        return (Element("image", (Leaf(f"{content} ({address})" if content else address),)),)
    if kind in ("math_inline", "math_inline_double"):
        return (_formula(content, display=kind == "math_inline_double"),)
    if kind in ("math_block", "amsmath"):
        return (Element("formula_block", (_formula(content, display=True),)),)
    return (Leaf(content),) if content else ()


def _formula(latex: str, *, display: bool) -> Node:
    """A formula, or its source as code where it cannot be set."""
    source = latex.strip()
    set_formula = formula(source, display=display)
    leaf = Leaf(source, formula=set_formula)
    return leaf if set_formula else Element("code", (leaf,))
