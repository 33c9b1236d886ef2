"""Documents as HTML that we write element by element: nothing of a text is ever a tag, an address that loads, or a link."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape

from core.diff import Kind
from core.rendering.tree import Element, Formula, Leaf, Node, Tag, leaves
from core.schema.rendering import Shown
from pages.widgets import own

_HIGHEST_HEADING = 3
"""The rank of an answer's highest heading: the page's title and the answer's name stand above it."""
_SHORT_CELL = 20
"""Characters; the column of a longer cell of a table is never as narrow as one word."""
_TAB, _STEP, _DEEPEST_LINE = 4, 2, 40
"""Characters: how wide a tab is; from how many on a line of code counts as begun further right; and where no line does any more."""
STYLE = """
/* Only a formula in a line can be wider than its column: all else wraps, or scrolls for itself. */
.assay-rendered { white-space: normal; min-width: 0; overflow-x: auto; overflow-y: hidden; }
.assay-rendered .assay-written { white-space: pre-wrap; }
.assay-rendered :is(p, ul, ol, li, blockquote, table) { font: inherit; line-height: inherit; }
.assay-rendered :is(p, ul, ol, blockquote, pre, table) { margin: 0 0 .7em; padding: 0; }
.assay-rendered li { margin: 0; padding: 0; }
.assay-rendered li > :is(p, ul, ol) { margin-bottom: .2em; }
.assay-rendered :is(ul, ol) { padding-inline-start: 1.6em; }
.assay-rendered :is(h3, h4, h5, h6) { margin: .9em 0 .35em; padding: 0; line-height: 1.3; font-weight: 650; font-size: 1.05em; }
.assay-rendered .assay-rank-1 { font-size: 1.35em; }
.assay-rendered .assay-rank-2 { font-size: 1.2em; }
.assay-rendered > :first-child { margin-top: 0; }
.assay-rendered > :last-child { margin-bottom: 0; }
.assay-rendered blockquote { border-inline-start: .25rem solid color-mix(in srgb, currentColor 30%, transparent); padding-inline-start: .75rem; }
.assay-rendered blockquote > :last-child { margin-bottom: 0; }
.assay-rendered pre { white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; padding: .6rem .75rem; border-radius: .35rem;
  background: color-mix(in srgb, currentColor 6%, transparent); }
.assay-rendered :is(pre, code) { font-family: ui-monospace, "Source Code Pro", monospace; font-size: .92em; color: inherit; }
.assay-rendered pre code { font-size: 1em; background: none; padding: 0; }
.assay-rendered .assay-line { display: block; padding-inline-start: var(--in); text-indent: calc(-1 * var(--in)); }
.assay-rendered :not(pre) > code { background: color-mix(in srgb, currentColor 8%, transparent); border-radius: .2rem; padding: 0 .2em; }
.assay-rendered .assay-scroll { overflow-x: auto; margin-bottom: .7em; }
.assay-rendered table { border-collapse: collapse; margin: 0; }
/* No column is narrower than its longest word. */
.assay-rendered :is(th, td) { border: 1px solid color-mix(in srgb, currentColor 30%, transparent); padding: .2rem .55rem;
  text-align: start; overflow-wrap: break-word; }
.assay-rendered .assay-sentence { min-width: 10rem; }
.assay-rendered .assay-right { text-align: right; }
.assay-rendered .assay-center { text-align: center; }
.assay-rendered .assay-formula { margin: 0 0 .7em; text-align: center; }
.assay-rendered .assay-math:has(> math[display=block]) { display: block; overflow-x: auto; overflow-y: hidden; padding-block: .15em; }
.assay-rendered ins:has(> .assay-math) { text-decoration: none; border-bottom: 2px solid; display: inline-block; max-width: 100%; }
.assay-rendered ins:has(> .assay-math > math[display=block]) { display: block; width: fit-content; margin-inline: auto; }
.assay-math .assay-box { border: 1px solid currentColor; padding: .15em .3em; }
.assay-math :is(.assay-strike-up, .assay-strike-down, .assay-strike-both) { forced-color-adjust: none;
  --up: linear-gradient(to right bottom, transparent calc(50% - .04em), currentColor 50%, transparent calc(50% + .04em));
  --down: linear-gradient(to right top, transparent calc(50% - .04em), currentColor 50%, transparent calc(50% + .04em)); }
.assay-math .assay-strike-up { background: var(--up); }
.assay-math .assay-strike-down { background: var(--down); }
.assay-math .assay-strike-both { background: var(--up), var(--down); }
.assay-math mtd[columnalign="left"] { text-align: left; }
.assay-math mtd[columnalign="right"] { text-align: right; }
.assay-math [mathvariant^="bold"] { font-weight: bold; }
.assay-math [mathvariant$="italic"] { font-style: italic; }
.assay-math [mathvariant="monospace"] { font-family: ui-monospace, monospace; }
.assay-rendered .assay-link { text-decoration: underline dotted; }
.assay-rendered .assay-image { border: 1px dashed currentColor; border-radius: .2rem; padding: 0 .3em; }
.assay-rendered .assay-set-differently { outline: 2px dashed light-dark(#8a6100, #e0a92e); outline-offset: -2px; }
.assay-rendered .assay-set-differently:not(pre, td, th) { padding: .15em .5em; }
.assay-rendered del { white-space: pre-wrap; }
.assay-question .assay-rendered strong { font-weight: 800; }
.assay-keyword { color: light-dark(#7a2a9c, #d7a5f0); font-weight: 600; }
.assay-string { color: light-dark(#1b6b2f, #93d6a2); }
.assay-number { color: light-dark(#8a3b00, #f0b37e); }
.assay-comment { color: light-dark(#5a5f66, #a9b0b8); font-style: italic; }
.assay-name { color: light-dark(#0b4fa3, #94c2f7); }
""" + "\n".join(
    f".assay-in-{begins} {{ --in: {_STEP * begins + _TAB}ch; }}"
    for begins in range(_DEEPEST_LINE // _STEP + 1)
)
_MARK: Mapping[Kind, str] = {"same": "span", "added": "ins", "removed": "del"}


def document_html(document: Element) -> str:
    """A document as HTML, with the marks on its words."""
    return f'<div class="assay-rendered">{_children(_ranked(document, []))}</div>'


def _ranked(element: Element, above: list[int]) -> Element:
    """Headings with their rank among those above them as a note: whoever moves by headings finds none skipped."""
    if element.tag == "heading":
        while above and above[-1] >= element.level:
            above.pop()
        above.append(element.level)
        return replace(element, note=str(len(above)))
    children = (child if isinstance(child, Leaf) else _ranked(child, above) for child in element.children)
    return replace(element, children=tuple(children))


def _children(element: Element) -> str:
    return "".join(map(_node, element.children))


def _node(node: Node) -> str:
    return _leaf(node) if isinstance(node, Leaf) else _WRITERS[node.tag](node)


def marked_words(text: str, kind: Kind) -> str:
    """Words as an element that says how they differ; white space at the ends of a mark is not underlined."""
    tag, words = _MARK[kind], text.strip()
    if kind != "added" or not words:
        return f"<{tag}>{escape(text)}</{tag}>"
    before, _, after = text.partition(words)
    return f"{before}<{tag}>{escape(words)}</{tag}>{after}"


def _leaf(leaf: Leaf) -> str:
    if leaf.formula is not None:
        tree = escape(json.dumps(_sent(leaf.formula), ensure_ascii=False, separators=(",", ":")), quote=True)
        html = f'<span class="assay-math" data-math="{tree}">{escape(leaf.text)}</span>'
        return f"<ins>{html}</ins>" if leaf.kind == "added" else html
    html = escape(leaf.text) if leaf.kind == "same" else marked_words(leaf.text, leaf.kind)
    return f'<span class="assay-{leaf.style}">{html}</span>' if leaf.style else html


def _sent(formula: Formula) -> list[object]:
    return [formula.tag, dict(formula.attributes), formula.text, [_sent(child) for child in formula.children]]


def _block(tag: str, attributes: str = "", classes: str = "") -> Callable[[Element], str]:
    def written(element: Element) -> str:
        return f"<{tag}{_classes(element, classes)}{attributes}>{_children(element)}</{tag}>"

    return written


def _classes(element: Element, named: str = "") -> str:
    classes = " ".join([*named.split(), *(["assay-set-differently"] if element.set_differently else [])])
    return f' class="{classes}"' if classes else ""


def _heading(element: Element) -> str:
    tag = f"h{min(6, int(element.note) + _HIGHEST_HEADING - 1)}"
    return f'<{tag}{_classes(element, f"assay-rank-{element.level}")} dir="auto">{_children(element)}</{tag}>'


def _numbered(element: Element) -> str:
    return f'<ol start="{element.level}"{_classes(element)}>{_children(element)}</ol>'


def _item(element: Element) -> str:
    number = f' value="{element.level}"' if element.level else ""
    return f"<li{_classes(element)}{number}>{_children(element)}</li>"


def _table(element: Element) -> str:
    # A table may be wider than its column: it scrolls for itself, also by keyboard.
    return f'<div class="assay-scroll" tabindex="0" role="group" aria-label="Table"><table>{_children(element)}</table></div>'


def _cell(element: Element) -> str:
    tag = "td" if element.tag == "cell" else "th"
    side = f"assay-{element.note}" if element.note in ("right", "center") else ""
    if sum(len(leaf.text) for leaf in leaves(element)) > _SHORT_CELL:
        side += " assay-sentence"
    scope = ' scope="col"' if tag == "th" else ""
    return f'<{tag}{_classes(element, side)}{scope} dir="auto">{_children(element)}</{tag}>'


def _code_block(element: Element) -> str:
    lines = "".join(map(_code_line, _lines(leaves(element))))
    return f'<pre{_classes(element)} dir="ltr"><code>{lines}</code></pre>'


def _lines(pieces: Iterable[Leaf]) -> Iterator[list[Leaf]]:
    """The leaves of each line, which ends with its line break."""
    line: list[Leaf] = []
    for leaf in pieces:
        for text in re.findall(r"[^\n]*\n|[^\n]+", leaf.text):
            line.append(replace(leaf, text=text))
            if text.endswith("\n"):
                yield line
                line = []
    if line:
        yield line


def _code_line(line: Sequence[Leaf]) -> str:
    """A line that is longer than its column goes on further right than it began: nobody takes its parts for lines of their own."""
    text = "".join(leaf.text for leaf in line if leaf.kind != "removed").expandtabs(_TAB)
    begins = min(len(text) - len(text.lstrip(" ")), _DEEPEST_LINE) // _STEP
    return f'<span class="assay-line assay-in-{begins}">{"".join(map(_code_words, line))}</span>'


def _code_words(leaf: Leaf) -> str:
    """Words of code; the end of a new line is not underlined."""
    if leaf.kind == "removed" or not leaf.text.endswith("\n"):
        return _leaf(leaf)
    words = leaf.text.removesuffix("\n")
    return f"{_leaf(replace(leaf, text=words)) if words else ''}\n"


def _image(element: Element) -> str:
    return f'<span class="assay-image">Image: {_children(element)}</span>'


def _break(element: Element) -> str:
    """The end of a line, also a new one; beside it may stand words that were removed there."""
    return "".join(
        _leaf(child) if isinstance(child, Leaf) and child.kind == "removed" else "<br>\n"
        for child in element.children
    )


_WRITERS: Mapping[Tag, Callable[[Element], str]] = {
    "document": _children,
    "written": _block("div", ' dir="auto"', "assay-written"),
    "paragraph": _block("p", ' dir="auto"'),
    "heading": _heading,
    "list": _block("ul", ' dir="auto"'),
    "numbered_list": _numbered,
    "item": _item,
    "quotation": _block("blockquote", ' dir="auto"'),
    "table": _table,
    "table_row": _block("tr"),
    "heading_cell": _cell,
    "cell": _cell,
    "code_block": _code_block,
    "formula_block": _block("div", "", "assay-formula"),
    "rule": lambda _: "<hr>",
    "emphasis": _block("em"),
    "strong": _block("strong"),
    "code": _block("code"),
    "link": _block("span", "", "assay-link"),
    "image": _image,
    "break": _break,
}


def set_formulas(shown: Shown) -> None:
    """Let the page set the formulas of documents that are shown so; call it once a page, also before there are any."""
    if shown.rendering == "latex":
        own.own_component("formulas")(key="formulas")
