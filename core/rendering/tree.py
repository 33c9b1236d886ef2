"""A text as people read it: elements in reading order, whose leaves are its words; and marks of differences on these words."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from core.diff import Kind, Segment, diff_against

Tag = Literal[
    "document",
    "written",
    "paragraph",
    "heading",
    "list",
    "numbered_list",
    "item",
    "quotation",
    "table",
    "table_row",
    "heading_cell",
    "cell",
    "code_block",
    "formula_block",
    "rule",
    "emphasis",
    "strong",
    "code",
    "link",
    "image",
    "break",
]
"""written: a text that is shown as it was written, with its line breaks; break: the end of a line within a block, a leaf of `\\n`."""
_WITH_WORDS = frozenset[Tag](
    ("written", "paragraph", "heading", "heading_cell", "cell", "code_block", "formula_block")
)
"""Blocks that hold words, and no other block."""
INLINE = frozenset[Tag](("emphasis", "strong", "code", "link", "image", "break"))
_BETWEEN_BLOCKS, _BETWEEN_CELLS = "\n", "\t"


@dataclass(frozen=True)
class Formula:
    """An element of MathML: names and attributes from a closed list, text as text."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    children: tuple["Formula", ...] = ()


@dataclass(frozen=True)
class Leaf:
    """Words that stand together."""

    text: str
    """As read; of a formula, its LaTeX."""
    style: str = ""
    """What a piece of code is: one of `core.rendering.code.STYLES`; empty for all else."""
    formula: Formula | None = None
    kind: Kind = "same"


@dataclass(frozen=True)
class Element:
    """A part of a document."""

    tag: Tag
    children: tuple["Node", ...] = ()
    level: int = 0
    """Of a heading, 1 to 6; of a numbered list, the first number; of an item of it, its number."""
    note: str = ""
    """Of a cell its alignment (left, right, center); of a code block its language."""
    set_differently: bool = False
    """Whether it has words that the text it is compared with sets as another kind of block."""


Node: TypeAlias = Element | Leaf


@dataclass(frozen=True)
class Block:
    """A block with words, where it stands in the text as read."""

    start: int
    end: int
    kind: tuple[str, ...]
    """What it is and what it is in, from the outside: `("list", "item", "paragraph")`."""


@dataclass(frozen=True)
class Read:
    """A document as read: its words without marks, blocks on lines of their own, cells with tabs between them."""

    text: str
    starts: tuple[int, ...]
    """Of each leaf, in reading order."""
    blocks: tuple[Block, ...]


def plain_document(text: str) -> Element:
    """A text as it was written."""
    return Element("document", (Element("written", (Leaf(text),)),))


def leaves(node: Node) -> Iterator[Leaf]:
    """The leaves in reading order."""
    if isinstance(node, Leaf):
        yield node
    else:
        for child in node.children:
            yield from leaves(child)


def elements(node: Node) -> Iterator[Element]:
    """The elements, each before those inside it."""
    if isinstance(node, Element):
        yield node
        for child in node.children:
            yield from elements(child)


def read(document: Element) -> Read:
    """What a reader reads, with the places of leaves and blocks in it."""
    pieces: list[str] = []
    starts: list[int] = []
    blocks: list[Block] = []
    length = 0

    def add(text: str) -> None:
        nonlocal length
        pieces.append(text)
        length += len(text)

    def walk(node: Node, around: tuple[str, ...], separator: str) -> None:
        if isinstance(node, Leaf):
            starts.append(length)
            add(node.text)
            return
        with_words = node.tag in _WITH_WORDS
        if with_words and length:
            add(separator)
        start = length
        kind = around if node.tag in INLINE or node.tag == "document" else (*around, _kind(node))
        for at, child in enumerate(node.children):
            beside = node.tag == "table_row" and at > 0
            walk(child, kind, _BETWEEN_CELLS if beside else _BETWEEN_BLOCKS)
        if with_words:
            blocks.append(Block(start, length, kind))

    walk(document, (), _BETWEEN_BLOCKS)
    return Read("".join(pieces), tuple(starts), tuple(blocks))


def _kind(element: Element) -> str:
    return f"{element.tag} {element.level}" if element.tag == "heading" else element.tag


def marked(document: Element, segments: Sequence[Segment]) -> Element:
    """The document with marks on its words.

    segments: of `read(document).text`, as core.diff makes them. What was removed stands in the leaf where it was. A formula of which a
    part is new is marked as a whole.
    """
    there = list(leaves(document))
    if not there:
        lost = "".join(segment.text for segment in segments if segment.kind == "removed")
        block = (Element("written", (Leaf(lost, kind="removed"),)),) if lost else ()
        return replace(document, children=(*document.children, *block))
    cut = iter(_cut(there, read(document).starts, segments))

    def rebuilt(node: Node) -> tuple[Node, ...]:
        if isinstance(node, Leaf):
            return next(cut)
        return (replace(node, children=tuple(new for child in node.children for new in rebuilt(child))),)

    (whole,) = rebuilt(document)
    assert isinstance(whole, Element)
    return whole


def _cut(there: Sequence[Leaf], starts: Sequence[int], segments: Sequence[Segment]) -> list[tuple[Leaf, ...]]:
    """Each leaf in the pieces that are marked alike."""
    pieces: list[list[Leaf]] = [[] for _ in there]
    at, leaf = 0, 0  # the place in the text, and the leaf that ends behind it
    for segment in segments:
        if segment.kind == "removed":
            beside = leaf - 1 if _belongs_before(segment.text, at, leaf, there, starts) else leaf
            pieces[beside].append(Leaf(segment.text, kind="removed"))
            continue
        end = at + len(segment.text)
        while leaf < len(there) and at < end:
            start, until = starts[leaf], starts[leaf] + len(there[leaf].text)
            shared = there[leaf].text[max(at, start) - start : max(0, min(end, until) - start)]
            if shared:
                pieces[leaf].append(replace(there[leaf], text=shared, kind=segment.kind))
            if until > end:
                break
            at = max(at, until)
            leaf += 1
        at = end
    return [
        _whole_formula(one, parts) if one.formula else tuple(parts) if parts or one.text else (one,)
        for one, parts in zip(there, pieces, strict=True)
    ]


def _belongs_before(text: str, at: int, leaf: int, there: Sequence[Leaf], starts: Sequence[int]) -> bool:
    """Whether what was removed stood in the leaf that ends here: at the end of a block, and in a formula that goes on without a space."""
    if leaf == 0 or (leaf < len(there) and at > starts[leaf]):
        return False
    if leaf == len(there) or at < starts[leaf]:
        return True
    return there[leaf - 1].formula is not None and not text[0].isspace()


def _whole_formula(leaf: Leaf, parts: Sequence[Leaf]) -> tuple[Leaf, ...]:
    """A formula in one piece. Words that were removed beside it do not change it; a space tells them from a part of it."""
    shown = [at for at, part in enumerate(parts) if part.kind != "removed"]
    first, last = (shown[0], shown[-1]) if shown else (0, 0)
    before = "".join(part.text for part in parts[:first])
    within = "".join(part.text for part in parts[first:last] if part.kind == "removed")
    after = "".join(part.text for part in parts[last + 1 :])
    is_beside = (not before or before[-1].isspace()) and (not after or after[0].isspace())
    changed = bool(within) or not is_beside or any(parts[at].kind == "added" for at in shown)
    whole = replace(leaf, kind="added" if changed else "same")
    if is_beside:
        return (*_removed(before), *_removed(within), whole, *_removed(after))
    return (*_removed(before + within + after), whole)


def _removed(text: str) -> tuple[Leaf, ...]:
    return (Leaf(text, kind="removed"),) if text else ()


def compare_blocks(document: Element, base: Element) -> Element:
    """The document, in which blocks that say the same as `base` and are blocks of another kind are marked as set differently."""
    shown, before = read(document), read(base)
    differing = set(_differing(shown, before))
    if not differing:
        return document
    number = -1

    def rebuilt(node: Node) -> Node:
        nonlocal number
        if isinstance(node, Leaf):
            return node
        children = tuple(rebuilt(child) for child in node.children)
        if node.tag not in _WITH_WORDS:
            return replace(node, children=children)
        number += 1  # blocks with words hold no other block: they end in the order in which they begin
        return replace(node, children=children, set_differently=number in differing)

    whole = rebuilt(document)
    assert isinstance(whole, Element)
    return whole


def _differing(shown: Read, before: Read) -> Iterator[int]:
    """Numbers of blocks whose words stand in `before`, most of them in blocks of another kind."""
    origins: list[int | None] = []  # of each character, its place in `before`
    place = 0
    for segment in diff_against(before.text, shown.text):
        if segment.kind == "added":
            origins += [None] * len(segment.text)
            continue
        if segment.kind == "same":
            origins += range(place, place + len(segment.text))
        place += len(segment.text)
    kind_at: list[tuple[str, ...]] = [()] * len(before.text)
    for block in before.blocks:
        kind_at[block.start : block.end] = [block.kind] * (block.end - block.start)
    for number, block in enumerate(shown.blocks):
        kept = [origin for origin in origins[block.start : block.end] if origin is not None]
        others = sum(kind_at[origin] != block.kind for origin in kept)
        if 2 * len(kept) > block.end - block.start and 2 * others > len(kept):
            yield number


def count_differing(document: Element) -> int:
    """How many blocks are set differently."""
    return sum(element.set_differently for element in elements(document))


def holds(document: Element, tags: Collection[Tag]) -> bool:
    """Whether a document has such an element."""
    return any(element.tag in tags for element in elements(document))
