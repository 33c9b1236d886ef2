"""Markdown as a document: CommonMark and tables, with formulas where they are asked for.

HTML stays text, an address is words behind those of its link, and nothing that CommonMark drops is dropped: what a rater cannot see
cannot be rated. Only marks go: of formatting, labels by which links find their addresses, and the name of a code block's language.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import regex

from core.rendering.code import code_block, lexer_named
from core.rendering.formula_rules import BLOCK, INLINE, INLINE_DISPLAY, add_formulas
from core.rendering.formulas import formula
from core.rendering.tree import Element, Leaf, Node, Tag, leaves, plain_document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_DEEPEST = 40
"""Elements in each other, 20 levels of a list; the parser tries each bracket so many times."""
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
    """The text as a document; as written if it has more levels than people write, or if all its words are marks, as in `42.`.

    formulas: whether `$...$`, `\\(...\\)`, `$$...$$`, `\\[...\\]` and environments are formulas.
    """
    definitions: dict[str, dict[str, list[int]]] = {}
    tokens = _parser(formulas).parse(text, {"references": definitions})
    if _depth(tokens) > _DEEPEST:
        return plain_document(text)
    used = {token.meta.get("label") for token in _all(tokens) if token.type in ("link_open", "image")}
    unused = [
        token
        for token in tokens
        if token.type != "definition"
        or token.meta["id"] not in used
        or definitions[token.meta["id"]]["map"] != token.map
    ]
    children, end = _nodes(unused, 0)
    assert end == len(unused)
    document = Element("document", children)
    has_words = any(_WORDS.search(leaf.text) for leaf in leaves(document))
    return document if children and (has_words or not _WORDS.search(text)) else plain_document(text)


@cache
def _parser(formulas: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt  # imported lazily: plain studies need none of it

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST + 4})
    parser.options["store_labels"] = parser.options["inline_definitions"] = True
    # Addresses are words here: they stay as they are written.
    parser.normalizeLink = parser.normalizeLinkText = str  # type: ignore[method-assign, assignment]
    parser.enable("table")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    if formulas:
        add_formulas(parser)
    return parser


def _table(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """A table with all its cells: CommonMark's tables drop those beyond the columns of the heading."""
    from markdown_it.rules_block.table import table

    begin = len(state.tokens)
    if not table(state, first, last, silent):
        return False
    if not silent:
        state.tokens[begin:] = _fill_rows(state, state.tokens[begin:])
    return True


def _fill_rows(state: "StateBlock", tokens: Iterable["Token"]) -> Iterator["Token"]:
    from markdown_it.rules_block.table import escapedSplit, getLine
    from markdown_it.token import Token

    line, there = 0, 0
    for token in tokens:
        if token.type == "tr_open" and token.map:
            line, there = token.map[0], 0
        there += token.type in ("th_open", "td_open")
        if token.type == "tr_close":
            cells = escapedSplit(getLine(state, line).strip().removeprefix("|").removesuffix("|"))
            for content in cells[there:]:
                yield Token("td_open", "td", 1)
                yield Token("inline", "", 0, content=content.strip(), children=[])
                yield Token("td_close", "td", -1)
        yield token


def _all(tokens: Iterable["Token"]) -> Iterator["Token"]:
    """The tokens, each before those in it."""
    for token in tokens:
        yield token
        yield from _all(token.children or ())


def _depth(tokens: Iterable["Token"]) -> int:
    """How many elements are in each other."""
    deepest = depth = 0
    for token in tokens:
        depth += token.nesting
        deepest = max(deepest, depth + (_depth(token.children) if token.children else 0))
    return deepest


def _nodes(tokens: Sequence["Token"], at: int) -> tuple[tuple[Node, ...], int]:
    """The nodes from a token up to the end of what it is in, and where that is."""
    nodes: list[Node] = []
    while at < len(tokens):
        token = tokens[at]
        if token.nesting < 0:
            return tuple(nodes), at
        if token.nesting > 0:
            inside, at = _nodes(tokens, at + 1)
            nodes += _opened(token, inside)
        else:
            nodes += _single(token)
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
        inside = _numbered(inside)
    elif name == "list_item":
        level = int(token.info or 0)
    elif name in ("th", "td"):
        note = str(token.attrs.get("style", "")).removeprefix("text-align:")
    elif name == "link":
        inside += _address(token, "href", inside)
    return (Element(_TAGS[name], inside, level, note),)


def _numbered(items: tuple[Node, ...]) -> tuple[Node, ...]:
    """Items with their numbers as written, for a wrong number is to be seen; counted on where all have the same, as in `1. 1. 1.`."""
    numbers = [item.level for item in items if isinstance(item, Element)]
    if len(set(numbers)) > 1:
        return items
    return tuple(
        replace(item, level=first + at)
        for first in numbers[:1]
        for at, item in enumerate(items)
        if isinstance(item, Element)
    )


def _address(token: "Token", key: str, inside: Sequence[Node]) -> tuple[Node, ...]:
    """Address and title of a link or an image, as text behind its words: nothing of an answer can be followed, or loads."""
    words = "".join(leaf.text for node in inside for leaf in leaves(node))
    address, title = str(token.attrs.get(key, "")), str(token.attrs.get("title", ""))
    hidden = [part for part in (address, title) if part and part not in (words, f"mailto:{words}")]
    if not hidden:
        return ()
    return (Leaf(f" ({', '.join(hidden)})" if words else ", ".join(hidden)),)


def _single(token: "Token") -> tuple[Node, ...]:
    kind, content = token.type, token.content
    if kind == "inline":
        return _nodes(token.children or (), 0)[0]
    if kind == "softbreak":
        return (Leaf(" "),)
    if kind == "hardbreak":
        return (Element("break", (Leaf("\n"),)),)
    if kind == "code_inline":
        return (Element("code", (Leaf(content),)),)
    if kind in ("fence", "code_block"):
        return _code(content.removesuffix("\n"), token.info.strip())
    if kind == "hr":
        return (Element("rule"),)
    if kind == "image":
        words = _nodes(token.children or (), 0)[0]
        return (Element("image", (*words, *_address(token, "src", words))),)
    if kind in (INLINE, INLINE_DISPLAY):
        return (_formula(content, display=kind == INLINE_DISPLAY),)
    if kind == BLOCK:
        return (Element("formula_block", (_formula(content, display=True),)),)
    if kind == "definition":
        return (Element("paragraph", (Leaf(_definition(token)),)),)
    return (Leaf(content),) if content else ()


def _code(content: str, info: str) -> tuple[Node, ...]:
    """A block of code, below whatever its first line says besides the name of a language."""
    if not info or lexer_named(info.lower()):
        return (code_block(content, info.lower()),)
    return (Element("paragraph", (Leaf(info),)), code_block(content, info.split()[0].lower()))


def _definition(token: "Token") -> str:
    """The definition of an address that no link uses."""
    label, address, title = (str(token.meta[key]) for key in ("label", "url", "title"))
    return " ".join(filter(None, (f"[{label}]:", address, title)))


def _formula(latex: str, *, display: bool) -> Node:
    """A formula, or its source as code where it cannot be set."""
    source = latex.strip()
    set_formula = formula(source, display=display)
    leaf = Leaf(source, formula=set_formula)
    return leaf if set_formula else Element("code", (leaf,))
