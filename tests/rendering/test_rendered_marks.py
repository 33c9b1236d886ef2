"""Marks of differences on rendered text: on words as they are read, and frames around blocks of another kind."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.diff import READABLE, Segment, diff_against, diff_pair
from core.rendering import rendered, text_as_read
from core.rendering.tree import (
    Element,
    Leaf,
    Node,
    compare_blocks,
    count_differing,
    elements,
    leaves,
    marked,
    read,
)
from core.schema.rendering import Shown
from core.schema.study import NO_ANSWER

MARKDOWN, LATEX = Shown("markdown"), Shown("latex")
PIECES = [
    *(
        "one",
        "two",
        "three",
        "four",
        "five",
        " ",
        " ",
        " ",
        "\n",
        "\n\n",
        "# ",
        "- ",
        "1. ",
        "> ",
        "**",
        "*",
        "`",
        "```\n",
        "\n```\n",
    ),
    *(
        "|a|b|\n|-|-|\n|one|two|\n",
        "$x$",
        "$x + 1$",
        "\\(y\\)",
        "$$z$$",
        "[two](three)",
        "![one](two)",
        "  \n",
        "---\n",
        "\\",
        "日本",
    ),
]
texts = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


def changed(base: str, text: str, shown: Shown = MARKDOWN) -> Element:
    """The text with what it changes of its base, as a rater sees it."""
    document = compare_blocks(rendered(text, shown), rendered(base, shown))
    return marked(document, diff_against(text_as_read(base, shown), read(document).text, islands=READABLE))


def words(node: Node, *kinds: str) -> list[str]:
    return [leaf.text for leaf in leaves(node) if leaf.kind in kinds]


def skeleton(node: Node) -> object:
    """What a tree is without its words."""
    if isinstance(node, Leaf):
        return None
    return (
        node.tag,
        node.level,
        node.note,
        [skeleton(child) for child in node.children if isinstance(child, Element)],
    )


def framed(document: Element) -> list[str]:
    return ["".join(words(one, "same", "added")) for one in elements(document) if one.set_differently]


@settings(deadline=None, max_examples=400)
@given(texts, texts)
def test_marks_keep_every_word_and_the_tree(base: str, text: str) -> None:
    document = rendered(text, LATEX)
    before = text_as_read(base, LATEX)
    segments = diff_against(before, read(document).text, islands=READABLE)
    new = marked(compare_blocks(document, rendered(base, LATEX)), segments)
    # White space between blocks is in the text as read, and in no leaf; a formula that was changed comes whole.
    assert "".join(words(new, "same", "added")) == "".join(leaf.text for leaf in leaves(document))
    removed = "".join(segment.text for segment in segments if segment.kind == "removed")
    assert "".join(sorted("".join(words(new, "removed")))) == "".join(sorted(removed))
    if list(leaves(document)):
        assert skeleton(new) == skeleton(document)
    if not any(leaf.formula for leaf in leaves(new)):
        for kind in ("same", "added"):
            there = "".join(words(new, kind))
            assert there.split() == "".join(
                segment.text for segment in segments if segment.kind == kind
            ).split() or len(there) < len(read(document).text)


@settings(deadline=None, max_examples=200)
@given(texts, texts)
def test_left_and_right_are_marked_alike_after_a_swap(left: str, right: str) -> None:
    documents = [rendered(text, LATEX) for text in (left, right)]
    segments = diff_pair(*(read(document).text for document in documents), islands=READABLE)
    first = [marked(document, one) for document, one in zip(documents, segments, strict=True)]
    again = diff_pair(*(read(document).text for document in documents[::-1]), islands=READABLE)
    assert [marked(document, one) for document, one in zip(documents[::-1], again, strict=True)] == first[
        ::-1
    ]


@settings(deadline=None, max_examples=100)
@given(texts)
def test_a_text_differs_in_nothing_from_itself(text: str) -> None:
    new = changed(text, text, LATEX)
    assert not words(new, "added", "removed")
    assert not count_differing(new)
    assert new == rendered(text, LATEX)


@pytest.mark.parametrize(
    ("base", "text", "added", "removed"),
    [
        ("a **b** c", "a **d** c", ["d"], ["b"]),
        ("# One two", "# One three", ["three"], ["two"]),
        ("- one\n- two", "- one\n- three", ["three"], ["two"]),
        ("|a|b|\n|-|-|\n|1|2|", "|a|b|\n|-|-|\n|1|3|", ["3"], ["2"]),
        ("```python\nx = 1\n```", "```python\nx = 2\n```", ["2"], ["1"]),
        ("[a](http://b)", "[a](http://c)", ["c"], ["b"]),
        ("**a**", "a", [], []),
        ("a", "", [], ["a"]),
        ("a", "---", [], ["a"]),
        ("a", "#", [], ["a"]),
        ("", "a", ["a"], []),
        ("**", "a", ["a"], ["**"]),
        ("", "**", ["**"], []),
        ("a  \nb", "a  \nc  \nb", ["c", "\n"], []),
    ],
    ids=ascii,
)
def test_what_is_marked(base: str, text: str, added: list[str], removed: list[str]) -> None:
    new = changed(base, text)
    assert (words(new, "added"), words(new, "removed")) == (added, removed)


def test_what_the_end_of_a_block_lost_stands_there() -> None:
    new = changed("one two three\n\nfour", "one two\n\nfour")
    first, second = new.children
    assert words(first, "removed") == [" three"]
    assert words(second, "removed") == []


@pytest.mark.parametrize(
    ("base", "text", "shown"),
    [
        ("is $x$ now", "is $y$ now", [("x", "removed"), ("y", "added")]),
        ("is $x + 1$ now", "is $x + 2$ now", [("1", "removed"), ("x + 2", "added")]),
        ("is $x^2$ now", "is $x$ now", [("^2", "removed"), ("x", "added")]),
        ("is very $x$ now", "is $x$ now", [("very ", "removed"), ("x", "same")]),
        ("is $x$ just now", "is $x$ now", [("x", "same"), ("just ", "removed")]),
    ],
)
def test_a_formula_is_marked_as_a_whole(base: str, text: str, shown: list[tuple[str, str]]) -> None:
    found = [(leaf.text, leaf.kind) for leaf in leaves(changed(base, text, LATEX))]
    assert [one for one in found if one[1] != "same" or one[0] in ("x", "y", "x + 2")] == shown
    assert sum(leaf.formula is not None for leaf in leaves(changed(base, text, LATEX))) == 1


@pytest.mark.parametrize(
    ("base", "text", "frames"),
    [
        ("one two\n\nthree four", "- one two\n- three four", ["one two", "three four"]),
        ("one two\n\nthree four", "one two\n\n- three four", ["three four"]),
        ("one two", "# one two", ["one two"]),
        ("# one two", "## one two", ["one two"]),
        ("one two", "> one two", ["one two"]),
        ("one two", "```\none two\n```", ["one two"]),
        ("1. one two", "- one two", ["one two"]),
        ("- one two", "- **one** two", []),
        ("one two", "one\ntwo", []),
        ("one two", "- three four", []),
        ("one two\n\nthree", "zero\n\none two\n\nthree", []),
        ("- one two", "- zero\n- one two", []),
        ("", "- a", []),
        ("- a", "", []),
    ],
    ids=ascii,
)
def test_blocks_of_another_kind_are_framed(base: str, text: str, frames: list[str]) -> None:
    new = compare_blocks(rendered(text, MARKDOWN), rendered(base, MARKDOWN))
    assert framed(new) == frames
    assert count_differing(new) == len(frames)


def test_an_answer_that_is_missing_can_be_compared() -> None:
    for base, text in ((NO_ANSWER, "- a"), ("- a", NO_ANSWER), (NO_ANSWER, NO_ANSWER)):
        assert "".join(words(changed(base, text), "same", "added")) == "".join(
            leaf.text for leaf in leaves(rendered(text, MARKDOWN))
        )


def cut(text: str, draw: random.Random) -> Iterator[Segment]:
    """The text in random pieces, with removed words between them."""
    while text:
        size = draw.randrange(1, 9)
        yield Segment(text[:size], draw.choice(("same", "added")))
        if draw.random() < 0.3:
            yield Segment("gone", "removed")
        text = text[size:]


def test_segments_may_end_anywhere() -> None:
    draw = random.Random(5)
    text = "# a b\n\n- c **d** `e`\n- f\n\n|g|h|\n|-|-|\n|i|j|\n\nk  \nl $m$\n\n$$n$$"
    document = rendered(text, LATEX)
    for _ in range(300):
        segments = tuple(cut(read(document).text, draw))
        new = marked(document, segments)
        assert "".join(words(new, "same", "added")) == "".join(leaf.text for leaf in leaves(document))
        assert "".join(words(new, "removed")) == "gone" * sum(one.kind == "removed" for one in segments)
